/* The common part of <cuda/barrier> and <cuda/pipeline>: mbarriers and cp.async copies as
 * statements of inline PTX, so that they are executed and checked like other PTX. Not for
 * programs. */
#pragma once

#include <cuda_runtime.h>

#if __has_include(<cuda/std/__atomic/scopes.h>) /* the toolkit's, for its cuda::atomic */
#include <cuda/std/__atomic/scopes.h>
#else
namespace cuda
{
enum thread_scope {
    thread_scope_system,
    thread_scope_device,
    thread_scope_block,
    thread_scope_thread
};
} // namespace cuda
#endif

/* Statements in the form that the rewriter gives to asm: the rewriter changes asm in kernels
 * only. */
#define CPU_SITE(text, constraints, registers)                                                     \
    static cpu_asm_site site = {text, constraints, registers, __FILE__, __LINE__, nullptr};        \
    uint64_t reg[registers + 1];

namespace cpu_async
{
/* mbarriers, given by address. An arrival returns the state that its thread may wait for. */
inline void init(uint64_t *at, unsigned arrivals, CPU_PLACE)
{
    CPU_SITE("mbarrier.init.b64 [%0], %1;", "lr", 2)
    cpu_asm_in<'l'>(&reg[0], at);
    cpu_asm_in<'r'>(&reg[1], arrivals);
    cpu_asm_at(&site, reg, file, line);
}
inline void inval(uint64_t *at, CPU_PLACE)
{
    CPU_SITE("mbarrier.inval.b64 [%0];", "l", 1)
    cpu_asm_in<'l'>(&reg[0], at);
    cpu_asm_at(&site, reg, file, line);
}
inline uint64_t arrive(uint64_t *at, unsigned arrivals, CPU_PLACE)
{
    CPU_SITE("mbarrier.arrive.b64 %0, [%1], %2;", "llr", 3)
    uint64_t state;
    cpu_asm_in<'l'>(&reg[1], at);
    cpu_asm_in<'r'>(&reg[2], arrivals);
    cpu_asm_at(&site, reg, file, line);
    cpu_asm_out<'l'>(&reg[0], state);
    return state;
}
inline uint64_t arrive_and_drop(uint64_t *at, CPU_PLACE)
{
    CPU_SITE("mbarrier.arrive_drop.b64 %0, [%1];", "ll", 2)
    uint64_t state;
    cpu_asm_in<'l'>(&reg[1], at);
    cpu_asm_at(&site, reg, file, line);
    cpu_asm_out<'l'>(&reg[0], state);
    return state;
}
inline void expect(uint64_t *at, unsigned bytes, CPU_PLACE)
{
    CPU_SITE("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;", "rr", 2)
    cpu_asm_in<'r'>(&reg[0], (unsigned)__cvta_generic_to_shared(at));
    cpu_asm_in<'r'>(&reg[1], bytes);
    cpu_asm_at(&site, reg, file, line);
}
/* Executes a statement that answers a question about an address and, if `kind` is not 0, an
 * operand. The answer, 1 or 0, is in the statement's first register. */
template <char kind = 0, class T = int>
inline bool answer(cpu_asm_site &site, const void *at, const char *file, int line, T operand = 0)
{
    uint64_t reg[5];
    unsigned yes;
    cpu_asm_in<'l'>(&reg[1], at);
    if constexpr (kind != 0)
        cpu_asm_in<kind>(&reg[2], operand);
    cpu_asm_at(&site, reg, file, line);
    cpu_asm_out<'r'>(&reg[0], yes);
    return yes;
}
#define CPU_QUESTION(text, constraints, registers)                                                 \
    static cpu_asm_site site = {"{\n.reg .pred p;\n" text "\nselp.u32 %0, 1, 0, p;\n}",            \
                                constraints,                                                       \
                                registers,                                                         \
                                __FILE__,                                                          \
                                __LINE__,                                                          \
                                nullptr};
inline bool test_wait(uint64_t *at, uint64_t state, CPU_PLACE)
{
    CPU_QUESTION("mbarrier.test_wait.b64 p, [%1], %2;", "rll", 4)
    return answer<'l'>(site, at, file, line, state);
}
inline bool test_wait_parity(uint64_t *at, bool parity, CPU_PLACE)
{
    CPU_QUESTION("mbarrier.test_wait.parity.b64 p, [%1], %2;", "rlr", 4)
    return answer<'r'>(site, at, file, line, (unsigned)parity);
}
/* Returns false after a while, as on a GPU. */
inline bool try_wait(uint64_t *at, uint64_t state, CPU_PLACE)
{
    CPU_QUESTION("mbarrier.try_wait.b64 p, [%1], %2;", "rll", 4)
    return answer<'l'>(site, at, file, line, state);
}
inline bool try_wait_parity(uint64_t *at, bool parity, CPU_PLACE)
{
    CPU_QUESTION("mbarrier.try_wait.parity.b64 p, [%1], %2;", "rlr", 4)
    return answer<'r'>(site, at, file, line, (unsigned)parity);
}
/* The phase stays open until the thread's cp.async copies are done. */
inline void copies_arrive(uint64_t *at, CPU_PLACE)
{
    CPU_SITE("cp.async.mbarrier.arrive.b64 [%0];", "l", 1)
    cpu_asm_in<'l'>(&reg[0], at);
    cpu_asm_at(&site, reg, file, line);
}
/* A bulk copy whose bytes the mbarrier counts. */
inline void bulk_load(void *to, const void *from, unsigned bytes, uint64_t *at, CPU_PLACE)
{
    CPU_SITE("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
             "[%3];",
             "rlrr", 4)
    cpu_asm_in<'r'>(&reg[0], (unsigned)__cvta_generic_to_shared(to));
    cpu_asm_in<'l'>(&reg[1], from);
    cpu_asm_in<'r'>(&reg[2], bytes);
    cpu_asm_in<'r'>(&reg[3], (unsigned)__cvta_generic_to_shared(at));
    cpu_asm_at(&site, reg, file, line);
}

/* Makes earlier writes to shared memory visible to bulk copies. */
inline void fence_proxy(CPU_PLACE)
{
    CPU_SITE("fence.proxy.async.shared::cta;", nullptr, 0)
    cpu_asm_at(&site, reg, file, line);
}

inline bool is_shared(const void *p, CPU_PLACE)
{
    CPU_QUESTION("isspacep.shared p, %1;", "rl", 3)
    return answer(site, p, file, line);
}
inline bool is_global(const void *p, CPU_PLACE)
{
    CPU_QUESTION("isspacep.global p, %1;", "rl", 3)
    return answer(site, p, file, line);
}

/* Copies 4, 8 or 16 bytes. The last `zeros` of them are not read and become 0. */
template <unsigned bytes>
inline void copy_piece(void *to, const void *from, unsigned zeros, CPU_PLACE)
{
    static const char *const text = bytes == 16 ? "cp.async.cg.shared.global [%0], [%1], %2, %3;"
                                                : "cp.async.ca.shared.global [%0], [%1], %2, %3;";
    static cpu_asm_site site = {text, "rlnr", 4, __FILE__, __LINE__, nullptr};
    uint64_t reg[4];
    cpu_asm_in<'r'>(&reg[0], (unsigned)__cvta_generic_to_shared(to));
    cpu_asm_in<'l'>(&reg[1], from);
    cpu_asm_in<'n'>(&reg[2], bytes);
    cpu_asm_in<'r'>(&reg[3], bytes - zeros);
    cpu_asm_at(&site, reg, file, line);
}
inline void commit(CPU_PLACE)
{
    CPU_SITE("cp.async.commit_group;", nullptr, 0)
    cpu_asm_at(&site, reg, file, line);
}
template <unsigned pending>
inline void wait_group(CPU_PLACE)
{
    CPU_SITE("cp.async.wait_group %0;", "n", 1)
    cpu_asm_in<'n'>(&reg[0], pending);
    cpu_asm_at(&site, reg, file, line);
}
/* The number of pending groups is part of the instruction. A number above 7 counts as 7. */
inline void wait_prior(size_t pending, CPU_PLACE)
{
    switch (pending) {
    case 0:
        return wait_group<0>(file, line);
    case 1:
        return wait_group<1>(file, line);
    case 2:
        return wait_group<2>(file, line);
    case 3:
        return wait_group<3>(file, line);
    case 4:
        return wait_group<4>(file, line);
    case 5:
        return wait_group<5>(file, line);
    case 6:
        return wait_group<6>(file, line);
    default:
        return wait_group<7>(file, line);
    }
}

/* A group of one thread. */
struct alone {
    static constexpr unsigned thread_rank()
    {
        return 0;
    }
    static constexpr unsigned size()
    {
        return 1;
    }
};

/* Copies the thread's share of a group's copy, in pieces as wide as the alignment known for both
 * sides. Returns true if the copy is in flight, false if it is done: cp.async copies only from
 * global to shared memory. */
template <size_t aligned, class G>
inline bool copy(const G &g, void *to, const void *from, size_t bytes, const char *file, int line)
{
    constexpr size_t piece = aligned >= 16 ? 16 : aligned;
    struct alignas(piece) unit {
        char c[piece];
    };
    char *a = static_cast<char *>(to);
    const char *b = static_cast<const char *>(from);
    bool in_flight = false;
    if constexpr (piece >= 4)
        in_flight = is_shared(to, file, line) && is_global(from, file, line);
    size_t i = g.thread_rank() * piece;
    for (const size_t step = g.size() * piece; i < bytes; i += step) {
        if (i + piece > bytes)
            for (size_t k = i; k < bytes; k++)
                a[k] = b[k];
        else if (in_flight)
            copy_piece<piece >= 4 ? piece : 4>(a + i, b + i, 0, file, line);
        else
            *reinterpret_cast<unit *>(a + i) = *reinterpret_cast<const unit *>(b + i);
    }
    return in_flight;
}
} // namespace cpu_async

namespace cuda
{
/* A number of bytes, and the alignment of both sides of the copy. */
template <size_t alignment>
struct aligned_size_t {
    static_assert(alignment && (alignment & (alignment - 1)) == 0,
                  "an alignment is a power of two");
    static constexpr size_t align = alignment;
    size_t value;
    explicit constexpr aligned_size_t(size_t bytes) : value(bytes)
    {
    }
    constexpr operator size_t() const
    {
        return value;
    }
};
enum class async_contract_fulfillment { none, async };
} // namespace cuda

namespace cpu_async
{
template <class T, class S>
struct alignment_of {
    static constexpr size_t value = alignof(T);
};
template <class S>
struct alignment_of<void, S> {
    static constexpr size_t value = 1;
};
template <class T, size_t a>
struct alignment_of<T, ::cuda::aligned_size_t<a>> {
    static constexpr size_t value = a > alignof(T) ? a : alignof(T);
};
template <size_t a>
struct alignment_of<void, ::cuda::aligned_size_t<a>> {
    static constexpr size_t value = a;
};

/* The mbarrier at which the copies for a barrier or a pipeline arrive, or NULL: the pipeline of a
 * thread waits for cp.async groups. */
template <class Sync>
struct counted_by;

template <class T, class G, class S, class Sync>
inline ::cuda::async_contract_fulfillment copy_for(const G &g, T *to, const T *from, const S &bytes,
                                                   Sync &sync, const char *file, int line)
{
    if (!copy<alignment_of<T, S>::value>(g, to, from, (size_t)bytes, file, line))
        return ::cuda::async_contract_fulfillment::none;
    if (uint64_t *place = counted_by<Sync>::place(sync))
        copies_arrive(place, file, line);
    return ::cuda::async_contract_fulfillment::async;
}
} // namespace cpu_async

namespace cuda
{
/* Copies through cp.async. A barrier's phase completes only when they are done too; a pipeline's
 * belong to the stage that it has open. */
template <class T, class S, class Sync>
inline async_contract_fulfillment memcpy_async(T *to, const T *from, const S &bytes, Sync &sync,
                                               CPU_PLACE)
{
    return cpu_async::copy_for<T>(cpu_async::alone(), to, from, bytes, sync, file, line);
}
template <class G, class T, class S, class Sync>
inline async_contract_fulfillment memcpy_async(const G &g, T *to, const T *from, const S &bytes,
                                               Sync &sync, CPU_PLACE)
{
    return cpu_async::copy_for<T>(g, to, from, bytes, sync, file, line);
}
template <class S, class Sync>
inline async_contract_fulfillment memcpy_async(void *to, const void *from, const S &bytes,
                                               Sync &sync, CPU_PLACE)
{
    return cpu_async::copy_for<void>(cpu_async::alone(), to, from, bytes, sync, file, line);
}
template <class G, class S, class Sync>
inline async_contract_fulfillment memcpy_async(const G &g, void *to, const void *from,
                                               const S &bytes, Sync &sync, CPU_PLACE)
{
    return cpu_async::copy_for<void>(g, to, from, bytes, sync, file, line);
}
} // namespace cuda

#undef CPU_QUESTION
#undef CPU_SITE
