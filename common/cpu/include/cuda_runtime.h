/* CUDA C++ as kernels see it: built-in variables, barriers, warp operations, atomics, launches and
 * the C++ forms of the runtime API. Device math is in cpu/numbers/math.h. cudacc includes this
 * first. */
#pragma once

#include "cuda_runtime_api.h"
#define __CUDA_RUNTIME_H__
#ifndef __CUDACC__ /* a file with host code only, which the rewriter does not see */
#define __host__
#define __device__
#define __global__
#define __constant__
#define __managed__
#define __shared__
#define __launch_bounds__(...)
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))

#ifdef __cplusplus
#include "cpu/runtime.h"
#ifdef CPU_TRACE
#include "cpu/trace.h"
#endif
#include "cpu/numbers/math.h"
/* The standard headers that nvcc includes before a file. No others: in a file with `using
 * namespace std`, more of std could clash with the file's own names. */
#include <cassert>
#include <cctype>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>
#ifdef __CUDACC_EXTENDED_LAMBDA__
#include <functional>
#endif
#if __cplusplus >= 201703L && __has_include(<bits/stl_algobase.h>)
#include <bits/stl_algobase.h> /* std::max, std::copy: cpu/numbers/math.h's guard hides them in <cmath> */
#endif

constexpr int warpSize = 32;

/* The place of a call, for reports. Our other headers take it from here. */
#define CPU_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()

template <class T>
struct cpu_same {
    typedef T type;
};
template <class T>
using cpu_same_t = typename cpu_same<T>::type; /* not deduced from its argument */

template <class T>
inline uint64_t cpu_bits(T v)
{
    static_assert(sizeof(T) <= 8, "warp operations take values of at most 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &v, sizeof v);
    return bits;
}
template <class T>
inline T cpu_value(uint64_t bits)
{
    T v;
    memcpy(static_cast<void *>(&v), &bits, sizeof v);
    return v;
}

/* Barriers. */
inline void __syncthreads(CPU_PLACE)
{
    cpu_block_barrier(CPU_SYNCTHREADS, 0, file, line);
}
inline int __syncthreads_count(int predicate, CPU_PLACE)
{
    return cpu_block_barrier(CPU_SYNCTHREADS_COUNT, predicate, file, line);
}
inline int __syncthreads_and(int predicate, CPU_PLACE)
{
    return cpu_block_barrier(CPU_SYNCTHREADS_AND, predicate, file, line);
}
inline int __syncthreads_or(int predicate, CPU_PLACE)
{
    return cpu_block_barrier(CPU_SYNCTHREADS_OR, predicate, file, line);
}
inline void __cpu_named_barrier(int id, int threads, CPU_PLACE)
{
    cpu_named_barrier(id, threads, 1, file, line);
}
inline void __cpu_named_arrive(int id, int threads, CPU_PLACE)
{
    cpu_named_barrier(id, threads, 0, file, line);
}
inline void __syncwarp(unsigned mask = 0xffffffff, CPU_PLACE)
{
    cpu_warp(CPU_SYNCWARP, mask, 0, file, line);
}

inline void __barrier_sync_count(unsigned id, unsigned threads, CPU_PLACE)
{
    if (id == 0 && threads == blockDim.x * blockDim.y * blockDim.z)
        cpu_block_barrier(CPU_SYNCTHREADS, 0, file, line);
    else
        cpu_named_barrier((int)id, (int)threads, 1, file, line);
}
inline void __barrier_sync(unsigned id, CPU_PLACE)
{
    __barrier_sync_count(id, blockDim.x * blockDim.y * blockDim.z, file, line);
}

/* Votes, matches, reductions. */
inline unsigned __activemask(CPU_PLACE)
{
    return (unsigned)cpu_warp(CPU_ACTIVEMASK, 0, 0, file, line);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, CPU_PLACE)
{
    return (unsigned)cpu_warp(CPU_BALLOT, mask, predicate != 0, file, line);
}
inline int __any_sync(unsigned mask, int predicate, CPU_PLACE)
{
    return (int)cpu_warp(CPU_ANY, mask, predicate != 0, file, line);
}
inline int __all_sync(unsigned mask, int predicate, CPU_PLACE)
{
    return (int)cpu_warp(CPU_ALL, mask, predicate != 0, file, line);
}
template <class T>
inline unsigned __match_any_sync(unsigned mask, T v, CPU_PLACE)
{
    return (unsigned)cpu_warp(CPU_MATCH_ANY, mask, cpu_bits(v), file, line);
}
template <class T>
inline unsigned __match_all_sync(unsigned mask, T v, int *all, CPU_PLACE)
{
    unsigned lanes = (unsigned)cpu_warp(CPU_MATCH_ALL, mask, cpu_bits(v), file, line);
    *all = lanes != 0;
    return lanes;
}
inline int __uni_sync(unsigned mask, int predicate, CPU_PLACE)
{
    int same;
    __match_all_sync(mask, predicate != 0, &same, file, line);
    return same;
}
#define CPU_REDUCE(name, T, wide, op)                                                              \
    inline T name(unsigned mask, T v, CPU_PLACE)                                                   \
    {                                                                                              \
        return (T)cpu_warp(op, mask, (uint64_t)(wide)v, file, line);                               \
    }
CPU_REDUCE(__reduce_add_sync, int, int64_t, CPU_REDUCE_ADD)
CPU_REDUCE(__reduce_add_sync, unsigned, uint64_t, CPU_REDUCE_ADD)
CPU_REDUCE(__reduce_min_sync, int, int64_t, CPU_REDUCE_MIN_SIGNED)
CPU_REDUCE(__reduce_min_sync, unsigned, uint64_t, CPU_REDUCE_MIN)
CPU_REDUCE(__reduce_max_sync, int, int64_t, CPU_REDUCE_MAX_SIGNED)
CPU_REDUCE(__reduce_max_sync, unsigned, uint64_t, CPU_REDUCE_MAX)
CPU_REDUCE(__reduce_and_sync, unsigned, uint64_t, CPU_REDUCE_AND)
CPU_REDUCE(__reduce_or_sync, unsigned, uint64_t, CPU_REDUCE_OR)
CPU_REDUCE(__reduce_xor_sync, unsigned, uint64_t, CPU_REDUCE_XOR)
#undef CPU_REDUCE

/* Shuffles. */
template <class T>
inline T __shfl_sync(unsigned mask, T v, int lane, int width = 32, CPU_PLACE)
{
    return cpu_value<T>(cpu_shuffle(CPU_SHFL, mask, cpu_bits(v), lane, width, file, line));
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32, CPU_PLACE)
{
    return cpu_value<T>(cpu_shuffle(CPU_SHFL_UP, mask, cpu_bits(v), (int)delta, width, file, line));
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32, CPU_PLACE)
{
    return cpu_value<T>(
        cpu_shuffle(CPU_SHFL_DOWN, mask, cpu_bits(v), (int)delta, width, file, line));
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T v, int lanes, int width = 32, CPU_PLACE)
{
    return cpu_value<T>(cpu_shuffle(CPU_SHFL_XOR, mask, cpu_bits(v), lanes, width, file, line));
}

/* Whether sums of T are rounded, and so depend on their order. float16.h has more such types. */
template <class T>
struct cpu_rounds : std::is_floating_point<T> {
};

/* Fences, time, loads with a cache hint. */
#ifdef CPU_TRACE
#define CPU_FENCE(scope) cpu_trace_fence(scope)
#define CPU_REPORT_ATOMIC(p, scope)                                                                \
    do {                                                                                           \
        if (cpu_rounds<T>::value)                                                                  \
            cpu_trace_sum(p, sizeof *(p));                                                         \
        cpu_trace_atomic(p, sizeof *(p), scope);                                                   \
    } while (0)
#define CPU_REPORT_COMPARE(p, v) cpu_trace_compare(p, cpu_bits(v), sizeof *(p))
#else
#define CPU_FENCE(scope) __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define CPU_REPORT_ATOMIC(p, scope) ((void)(scope))
#define CPU_REPORT_COMPARE(p, v) ((void)0)
#endif
#if defined CPU_TRACE && CPU_TRACE == 2 /* only for check: loads cannot move across the call */
#define CPU_REPORT_CACHED(p) cpu_trace_cached(p, sizeof *(p))
#else
#define CPU_REPORT_CACHED(p) ((void)0)
#endif
inline void __threadfence()
{
    CPU_FENCE(CPU_SCOPE_DEVICE);
}
inline void __threadfence_block()
{
    CPU_FENCE(CPU_SCOPE_BLOCK);
}
inline void __threadfence_system()
{
    CPU_FENCE(CPU_SCOPE_SYSTEM);
}
inline long long clock64() /* counts its own calls: there is no GPU clock to read */
{
    return cpu_clock();
}
inline clock_t cpu_device_clock() /* the rewriter's replacement for clock() */
{
    return cpu_in_kernel() ? (clock_t)cpu_clock() : clock();
}
inline void __nanosleep(unsigned, CPU_PLACE)
{
    cpu_sleep(file, line);
}
inline void __trap(CPU_PLACE)
{
    cpu_trap(cudaErrorLaunchFailure, "__trap()", file, line);
}
inline void __brkpt(CPU_PLACE)
{
    cpu_trap(cudaErrorLaunchFailure, "__brkpt()", file, line);
}
template <class T>
inline T __ldg(const T *p)
{
    CPU_REPORT_CACHED(p);
    return *p;
}
#define CPU_HINTED(load, store)                                                                    \
    template <class T>                                                                             \
    inline T load(const T *p)                                                                      \
    {                                                                                              \
        CPU_SPECIAL(CPU_CACHE_HINTS);                                                              \
        return *p;                                                                                 \
    }                                                                                              \
    template <class T>                                                                             \
    inline void store(T *p, cpu_same_t<T> v)                                                       \
    {                                                                                              \
        CPU_SPECIAL(CPU_CACHE_HINTS);                                                              \
        *p = v;                                                                                    \
    }
CPU_HINTED(__ldcg, __stcg)
CPU_HINTED(__ldcs, __stcs)
#undef CPU_HINTED
template <class T>
inline T __ldca(const T *p) /* like a plain load */
{
    return *p;
}
template <class T>
inline T __ldlu(const T *p) /* the last use of this line, which here changes nothing */
{
    return *p;
}
template <class T>
inline T __ldcv(const T *p)
{
    return *const_cast<const volatile T *>(p);
}
template <class T>
inline void __stwb(T *p, cpu_same_t<T> v)
{
    *p = v;
}
template <class T>
inline void __stwt(T *p, cpu_same_t<T> v)
{
    *p = v;
}
inline void __prof_trigger(int)
{
}
inline size_t __cvta_generic_to_shared(const void *p)
{
    return cpu_shared_offset(p);
}
inline void *__cvta_shared_to_generic(size_t offset)
{
    return reinterpret_cast<void *>(offset - cpu_shared_offset(nullptr));
}
inline size_t __cvta_generic_to_global(const void *p) /* the same address */
{
    return reinterpret_cast<size_t>(p);
}
inline void *__cvta_global_to_generic(size_t address)
{
    return reinterpret_cast<void *>(address);
}
/* As isspacep: what is not shared passes for global. */
inline unsigned __isShared(const void *p)
{
    return cpu_is_shared(p);
}
inline unsigned __isGlobal(const void *p)
{
    return !cpu_is_shared(p);
}

/* Atomics: each one is a compare-and-swap loop on the bits of the value. */
template <size_t bytes>
struct cpu_word;
template <>
struct cpu_word<1> {
    typedef uint8_t type;
};
template <>
struct cpu_word<2> {
    typedef uint16_t type;
};
template <>
struct cpu_word<4> {
    typedef uint32_t type;
};
template <>
struct cpu_word<8> {
    typedef uint64_t type;
};
/* Replaces the value at p by change(value), and returns it. No instrument sees the accesses.
 * `waits`: a loop of such atomics may wait for a change by another thread. */
template <class T, class F>
inline T cpu_exchanged(T *p, F change, bool waits = false)
{
    typedef typename cpu_word<sizeof(T)>::type word;
#ifdef CPU_TRACE
    word old = (word)cpu_compare_and_swap(p, sizeof(T), 0, 0);
#else
    word *q = reinterpret_cast<word *>(p), old = __atomic_load_n(q, __ATOMIC_RELAXED);
#endif
    for (;;) {
        T before = cpu_value<T>(old);
        const word after = (word)cpu_bits<T>(change(before));
#ifdef CPU_TRACE
        word found = (word)cpu_compare_and_swap(p, sizeof(T), old, after);
#else
        word found = __sync_val_compare_and_swap(q, old, after);
#endif
        if (found == old) {
            if (waits && after == old)
                cpu_found(p, old);
            return before;
        }
        old = found;
    }
}
template <class T, class F>
inline T cpu_atomic(T *p, F change, cpu_scope scope = CPU_SCOPE_DEVICE, bool waits = false)
{
    CPU_REPORT_ATOMIC(p, scope);
    return cpu_exchanged(p, change, waits);
}
/* Whether adding v, and the like, leaves each value as it is. */
template <class T>
inline bool cpu_is_zero(T v)
{
    return cpu_bits(v) == 0;
}
/* T is not deduced from v, so that atomicAdd(&counter, 1) works for an unsigned counter. */
#define CPU_ATOMIC(name, expression, waits)                                                        \
    template <class T>                                                                             \
    inline T name(T *p, cpu_same_t<T> v)                                                           \
    {                                                                                              \
        return cpu_atomic(                                                                         \
            p, [v](T old) { return (T)(expression); }, CPU_SCOPE_DEVICE, waits);                   \
    }                                                                                              \
    template <class T>                                                                             \
    inline T name##_block(T *p, cpu_same_t<T> v)                                                   \
    {                                                                                              \
        return cpu_atomic(                                                                         \
            p, [v](T old) { return (T)(expression); }, CPU_SCOPE_BLOCK, waits);                    \
    }                                                                                              \
    template <class T>                                                                             \
    inline T name##_system(T *p, cpu_same_t<T> v)                                                  \
    {                                                                                              \
        return name(p, v);                                                                         \
    }
CPU_ATOMIC(atomicAdd, old + v, cpu_is_zero(v))
CPU_ATOMIC(atomicSub, old - v, cpu_is_zero(v))
CPU_ATOMIC(atomicExch, ((void)old, v), true)
CPU_ATOMIC(atomicMin, v < old ? v : old, false)
CPU_ATOMIC(atomicMax, old < v ? v : old, false)
CPU_ATOMIC(atomicAnd, old &v, false)
CPU_ATOMIC(atomicOr, old | v, cpu_is_zero(v))
CPU_ATOMIC(atomicXor, old ^ v, cpu_is_zero(v))
CPU_ATOMIC(atomicInc, old >= v ? 0 : old + 1, false)
CPU_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1, false)
#undef CPU_ATOMIC
template <class T>
inline T cpu_compare(T *p, cpu_same_t<T> expected, cpu_same_t<T> v, cpu_scope scope)
{
    CPU_REPORT_COMPARE(p, expected);
    return cpu_atomic(
        p, [=](T old) { return cpu_bits(old) == cpu_bits(expected) ? v : old; }, scope, true);
}
template <class T>
inline T atomicCAS(T *p, cpu_same_t<T> expected, cpu_same_t<T> v)
{
    return cpu_compare(p, expected, v, CPU_SCOPE_DEVICE);
}
template <class T>
inline T atomicCAS_block(T *p, cpu_same_t<T> expected, cpu_same_t<T> v)
{
    return cpu_compare(p, expected, v, CPU_SCOPE_BLOCK);
}
template <class T>
inline T atomicCAS_system(T *p, cpu_same_t<T> expected, cpu_same_t<T> v)
{
    return atomicCAS(p, expected, v);
}

/* The rewriter's replacements for __shared__ declarations. */
template <class T>
inline T &cpu_place(cpu_slot &slot, size_t align, CPU_PLACE)
{
    size_t natural = alignof(std::remove_all_extents_t<T>);
    return *static_cast<T *>(const_cast<void *>(static_cast<const volatile void *>(
        cpu_shared(&slot, sizeof(T), align > natural ? align : natural, file, line))));
}
template <class T>
inline T &cpu_place_dynamic(size_t align, int has_static, CPU_PLACE)
{
    size_t natural = alignof(std::remove_all_extents_t<T>);
    return *reinterpret_cast<T *>(
        cpu_dynamic_shared(align > natural ? align : natural, has_static, file, line));
}

/* The rewriter's replacement for launches. Arguments become the kernel's parameters at the launch,
 * whose statement destroys them at its end, as nvcc's stub does. The launch keeps their bytes, and
 * each thread gets a copy of these: nothing of the device calls a constructor or a destructor of a
 * parameter. Of a reference only the address is copied: as on a GPU, the kernel must be able to
 * access the object behind it. */
struct cpu_config {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    const char *file;
    int line, early = 0, together = 0;
    cpu_config(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr, CPU_PLACE)
        : grid(grid), block(block), shared(shared), stream(stream), file(file), line(line)
    {
    }
};
/* Whether functions get a T by reference to the caller's copy, as the C++ ABI has it for a class
 * with a copy constructor, a move constructor or a destructor of its own. */
template <class T>
constexpr bool cpu_by_reference =
    !std::is_trivially_destructible<T>::value ||
    (std::is_copy_constructible<T>::value && !std::is_trivially_copy_constructible<T>::value) ||
    (std::is_move_constructible<T>::value && !std::is_trivially_move_constructible<T>::value) ||
    !(std::is_copy_constructible<T>::value || std::is_move_constructible<T>::value);
template <class T, bool by_reference = cpu_by_reference<T>>
struct cpu_kept {
    typedef std::conditional_t<std::is_copy_constructible<T>::value, T &, T &&> copied;
    T value;
    explicit cpu_kept(T &a) : value(static_cast<copied>(a))
    {
    }
    typedef T passed;
    struct own { /* the argument that one thread passes on */
        T &value;
        __forceinline__ own(cpu_kept &kept) : value(kept.value)
        {
        }
        __forceinline__ copied get()
        {
            return static_cast<copied>(value);
        }
    };
};
template <class T>
struct cpu_kept<T, true> {
    alignas(T) unsigned char bytes[sizeof(T)];
    explicit cpu_kept(T &a)
    {
        cpu_keep(bytes, __builtin_addressof(a), sizeof bytes);
    }
    typedef T &passed; /* to the compiler the same as a T */
    struct own {
        alignas(T) unsigned char bytes[sizeof(T)];
        __forceinline__ own(cpu_kept &kept)
        {
            cpu_keep(bytes, kept.bytes, sizeof bytes);
        }
        __forceinline__ T &get()
        {
            return *reinterpret_cast<T *>(bytes);
        }
    };
};
template <class T>
struct cpu_kept<T &, false> {
    T *at;
    explicit cpu_kept(T &a) : at(__builtin_addressof(a))
    {
    }
    typedef T &passed;
    struct own {
        T *at;
        __forceinline__ own(cpu_kept &kept) : at(kept.at)
        {
        }
        __forceinline__ T &get()
        {
            return *at;
        }
    };
};
/* The kernel as a function that gets each parameter as a cpu_kept passes it. */
template <class... P>
__forceinline__ auto cpu_entry(void (*f)(P...))
{
    return reinterpret_cast<void (*)(typename cpu_kept<P>::passed...)>(f);
}
template <class F>
__forceinline__ F cpu_entry(F f) /* the call of a kernel whose type is not known */
{
    return f;
}
/* A call of f for later, by any number of threads. It is a lambda because g++ takes longer to
 * compile a std::tuple. Its loads of arguments are none of the device's memory, and no instrument
 * sees them. Those of f are seen: such a function is not inlined here. The lambda could be
 * mutable, but g++ wants the attribute behind that word, and clang++ in front of it. */
template <class F, class... T>
inline auto cpu_bind(F f, cpu_kept<T>... a)
{
    return [ f, a... ]() __attribute__((no_sanitize("thread")))
    {
        cpu_entry(f)(typename cpu_kept<T>::own(const_cast<cpu_kept<T> &>(a)).get()...);
    };
}
template <class F, class... T>
using cpu_bound = decltype(cpu_bind(std::declval<F>(), std::declval<cpu_kept<T>>()...));
template <class Call>
__attribute__((no_sanitize("thread"))) inline void cpu_enter(void *p)
{
    (*static_cast<Call *>(p))();
}
template <class Call>
inline void cpu_drop(void *p)
{
    delete static_cast<Call *>(p);
}
#ifdef CPU_TRACE
/* The rewriter's replacements for memcpy and the like. A copy of 1, 2, 4, 8 or 16 bytes is a load
 * and a store. The size of any other copy, and of each memset, is hidden from g++, which would
 * otherwise generate code that no instrument sees. */
#ifdef __clang__
#define CPU_COPIED(n) (n)
#define CPU_SET(n) (n)
#else
#define CPU_SET(n) cpu_any_size(n)
#define CPU_COPIED(n)                                                                              \
    (__builtin_constant_p(n) && (n == 1 || n == 2 || n == 4 || n == 8 || n == 16)                  \
         ? n                                                                                       \
         : cpu_any_size(n))
#endif
__attribute__((always_inline)) inline void *cpu_memcpy(void *to, const void *from, size_t n)
{
    return __builtin_memcpy(to, from, CPU_COPIED(n));
}
__attribute__((always_inline)) inline void *cpu_memmove(void *to, const void *from, size_t n)
{
    return __builtin_memmove(to, from, CPU_COPIED(n));
}
__attribute__((always_inline)) inline void *cpu_memset(void *p, int byte, size_t n)
{
    return __builtin_memset(p, byte, CPU_SET(n));
}
#undef CPU_COPIED
#undef CPU_SET
#endif
/* Hides the work of launching a kernel from a kernel from the instruments. */
struct cpu_launch_apart {
#ifdef CPU_TRACE
    cpu_launch_apart()
    {
        cpu_launching(1);
    }
    ~cpu_launch_apart()
    {
        cpu_launching(0);
    }
#endif
};
template <class Call>
inline cudaError_t cpu_launch_call(const cpu_config &c, const char *name, const void *function,
                                   Call call)
{
    cpu_kernel k = {name,
                    c.file,
                    c.line,
                    function,
                    cpu_enter<Call>,
                    cpu_drop<Call>,
                    new Call(std::move(call)),
                    sizeof(Call),
                    c.grid,
                    c.block,
                    c.shared,
                    c.early,
                    c.together,
                    c.stream};
    return cpu_launch_kernel(&k, c.stream);
}
template <class... P>
inline void cpu_launch(const char *name, void (*f)(P...), const cpu_config &c, cpu_same_t<P>... a)
{
    [[maybe_unused]] const cpu_launch_apart apart;
    cpu_launch_call(c, name, reinterpret_cast<const void *>(f), cpu_bind(f, cpu_kept<P>(a)...));
}
/* A kernel whose instance the compiler deduces from the arguments: f is a lambda that calls it. If
 * its parameters have the types of the arguments, `find` returns a pointer to it. Otherwise each
 * thread calls it with copies of the arguments, in the way of C++. */
template <class F, class Find, class... A>
inline void cpu_launch_deduced(const char *name, F f, Find find, const cpu_config &c, A... a)
{
    [[maybe_unused]] const cpu_launch_apart apart;
    typedef void (*exact)(A...);
    if constexpr ((cpu_by_reference<A> || ...) && std::is_invocable<Find, exact>::value)
        cpu_launch_call(c, name, nullptr, cpu_bind(find(exact()), cpu_kept<A>(a)...));
    else
        cpu_launch_call(c, name, nullptr, cpu_bind(f, cpu_kept<A>(a)...));
}
template <class... P, size_t... i>
inline auto cpu_bind_packed(void (*f)(P...), void **arguments, std::index_sequence<i...>)
{
    return cpu_bind(f, cpu_kept<P>(*static_cast<P *>(arguments[i]))...);
}
template <class... P>
inline cudaError_t cudaLaunchKernel(void (*f)(P...), dim3 grid, dim3 block, void **arguments,
                                    size_t shared = 0, cudaStream_t stream = nullptr, CPU_PLACE)
{
    return cpu_launch_call(cpu_config(grid, block, shared, stream, file, line), "cudaLaunchKernel",
                           reinterpret_cast<const void *>(f),
                           cpu_bind_packed(f, arguments, std::index_sequence_for<P...>()));
}
template <class... P>
inline void *cpu_pack(const void *f, void **arguments)
{
    typedef void (*function)(P...);
    return new cpu_bound<function, P...>(
        cpu_bind_packed(reinterpret_cast<function>(reinterpret_cast<uintptr_t>(f)), arguments,
                        std::index_sequence_for<P...>()));
}
/* The rewriter's replacement for (void *)kernel: returns the same pointer, and records the
 * kernel's type. */
template <class... P>
inline void *cpu_known(const char *name, void (*f)(P...))
{
    typedef cpu_bound<void (*)(P...), P...> call;
    const cpu_prototype prototype = {reinterpret_cast<const void *>(f),
                                     name,
                                     cpu_pack<P...>,
                                     cpu_enter<call>,
                                     cpu_drop<call>,
                                     sizeof(call),
                                     sizeof...(P)};
    cpu_know_kernel(&prototype);
    return reinterpret_cast<void *>(f);
}
template <class T>
inline void *cpu_known(const char *, T *p) /* not a kernel, but something else of that name */
{
    return const_cast<void *>(static_cast<const void *>(p));
}
inline cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **arguments,
                                    size_t shared = 0, cudaStream_t stream = nullptr, CPU_PLACE)
{
    const cudaKernelNodeParams params = {const_cast<void *>(f), grid,      block,
                                         (unsigned)shared,      arguments, nullptr};
    return cpu_launch_known(&params, 0, stream, file, line);
}
/* Launches by pointer support no launch attributes. */
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *f, void **arguments,
                                       CPU_PLACE)
{
    if (c->numAttrs)
        return cudaErrorNotSupported;
    return cudaLaunchKernel(f, c->gridDim, c->blockDim, arguments, c->dynamicSmemBytes, c->stream,
                            file, line);
}

template <class... P>
inline cudaError_t cudaLaunchCooperativeKernel(void (*f)(P...), dim3 grid, dim3 block,
                                               void **arguments, size_t shared = 0,
                                               cudaStream_t stream = nullptr, CPU_PLACE)
{
    cpu_config config(grid, block, shared, stream, file, line);
    config.together = 1;
    return cpu_launch_call(config, "cudaLaunchCooperativeKernel", reinterpret_cast<const void *>(f),
                           cpu_bind_packed(f, arguments, std::index_sequence_for<P...>()));
}

inline cudaError_t cudaLaunchCooperativeKernel(const void *f, dim3 grid, dim3 block,
                                               void **arguments, size_t shared = 0,
                                               cudaStream_t stream = nullptr, CPU_PLACE)
{
    const cudaKernelNodeParams params = {const_cast<void *>(f), grid,      block,
                                         (unsigned)shared,      arguments, nullptr};
    return cpu_launch_known(&params, 1, stream, file, line);
}

/* An extended launch. One of its attributes makes it cooperative, another permits the kernel to
 * begin early. The kernel begins in stream order all the same, and check restricts what it may
 * do before griddepcontrol.wait. The rewriter adds the name, and a configuration that holds the
 * place of the call. */
template <class... P>
inline cudaError_t cudaLaunchKernelEx(const char *name, const cpu_config &place,
                                      const cudaLaunchConfig_t *c, void (*f)(P...),
                                      cpu_same_t<P>... a)
{
    [[maybe_unused]] const cpu_launch_apart apart;
    cpu_config config(c->gridDim, c->blockDim, c->dynamicSmemBytes, c->stream, place.file,
                      place.line);
    for (unsigned i = 0; i < c->numAttrs; i++) {
        config.early |= c->attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization &&
                        c->attrs[i].val.programmaticStreamSerializationAllowed;
        config.together |=
            c->attrs[i].id == cudaLaunchAttributeCooperative && c->attrs[i].val.cooperative != 0;
    }
    return cpu_launch_call(config, name, reinterpret_cast<const void *>(f),
                           cpu_bind(f, cpu_kept<P>(a)...));
}
inline void cudaGridDependencySynchronize()
{
    cpu_grid_wait();
}
inline void cudaTriggerProgrammaticLaunchCompletion()
{
    CPU_SPECIAL(CPU_LAUNCH_DEPENDENTS);
    cpu_grid_trigger();
}

/* The rewriter's replacements for the operands of an asm statement: constraint c, and the
 * register of the operand. The operand's own address is not passed on, so the operand may stay
 * in a register. */
template <char c, class T>
struct cpu_asm_fits {
    static_assert(c == 'n' || sizeof(T) == (c == 'h'               ? 2
                                            : c == 'r' || c == 'f' ? 4
                                                                   : 8),
                  "the operand of an asm statement is not as wide as its constraint: h is 16 bits, "
                  "r and f 32, l and d 64");
    static_assert(
        c == 'f' || c == 'd' ? std::is_floating_point<T>::value
                             : std::is_integral<T>::value || std::is_enum<T>::value ||
                                   (c == 'l' && std::is_pointer<T>::value),
        "an asm statement takes f or d for floating-point numbers, h, r or l for integers");
};
#ifndef CPU_TRACE
__forceinline__ void cpu_asm_put(uint64_t *reg, uint64_t bits)
{
    *reg = bits;
}
__forceinline__ uint64_t cpu_asm_get(const uint64_t *reg)
{
    return *reg;
}
#endif
template <char c, class T>
__forceinline__ void cpu_asm_in(uint64_t *reg, T v)
{
    (void)cpu_asm_fits<c, T>();
    uint64_t bits;
    if constexpr (c == 'n')
        bits = (uint64_t)(int64_t)v;
    else
        bits = cpu_bits(v);
    cpu_asm_put(reg, bits);
}
template <char c, class T>
__forceinline__ void cpu_asm_out(const uint64_t *reg, T &v)
{
    typedef std::remove_volatile_t<T> value;
    (void)cpu_asm_fits<c, value>();
    v = cpu_value<value>(cpu_asm_get(reg));
}

/* The rewriter puts __launch_bounds__(threads, blocks) at the start of the kernel as this call. The
 * third argument, blocks per cluster, is taken and not used. */
inline void cpu_bounds(int threads, int blocks = 0, int = 0)
{
    cpu_launch_bounds(threads, blocks);
}

/* An operand whose variable is used after the statement: its address is passed as well. */
template <char c, class T>
__forceinline__ void cpu_asm_hold(uint64_t *reg, uint64_t *held, T &&v)
{
    typedef std::remove_cv_t<std::remove_reference_t<T>> value;
    (void)cpu_asm_fits<c, value>();
    uint64_t at = 0;
    if constexpr (std::is_lvalue_reference<T>::value)
        at = (uint64_t)(uintptr_t)&v;
    else
        cpu_asm_in<c>(reg, (value)v);
    cpu_asm_put(held, at);
}
inline void cpu_asm_string(uint64_t *reg, const char *s)
{
    cpu_asm_put(reg, (uintptr_t)s);
}

/* The C++ forms of the API. Pointers to const and to any type are accepted. */
template <class T>
inline void **cpu_pointer(T **p)
{
    return static_cast<void **>(static_cast<void *>(p));
}
template <class T>
inline cudaError_t cudaMalloc(T **p, size_t bytes)
{
    return cudaMalloc(cpu_pointer(p), bytes);
}
template <class T>
inline cudaError_t cudaMallocAsync(T **p, size_t bytes, cudaStream_t stream)
{
    return cudaMallocAsync(cpu_pointer(p), bytes, stream);
}
template <class T>
inline cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t w, size_t h)
{
    return cudaMallocPitch(cpu_pointer(p), pitch, w, h);
}
template <class T>
inline cudaError_t cudaMallocManaged(T **p, size_t bytes, unsigned flags = 1)
{
    return cudaMallocManaged(cpu_pointer(p), bytes, flags);
}
template <class T>
inline cudaError_t cudaMallocHost(T **p, size_t bytes, unsigned = 0)
{
    return cudaMallocHost(cpu_pointer(p), bytes);
}
template <class T>
inline cudaError_t cudaHostAlloc(T **p, size_t bytes, unsigned flags = 0)
{
    return cudaHostAlloc(cpu_pointer(p), bytes, flags);
}
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned flags = 0)
{
    return cudaHostGetDevicePointer(cpu_pointer(device), host, flags);
}
inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags)
{
    return cudaEventCreateWithFlags(event, flags);
}
template <class T>
inline cudaError_t cudaGetSymbolAddress(void **p, const T &symbol)
{
    *p = const_cast<void *>(static_cast<const volatile void *>(&symbol));
    cpu_ask_symbol(*p);
    return cudaSuccess;
}
template <class T>
inline cudaError_t cudaGetSymbolSize(size_t *bytes, const T &)
{
    *bytes = sizeof(T);
    return cudaSuccess;
}
/* These four are always inlined, as the place that they are called at is that of the copy. */
#define CPU_INLINE inline __attribute__((always_inline))
template <class T>
CPU_INLINE cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes,
                                               size_t offset, cudaMemcpyKind kind,
                                               cudaStream_t stream = nullptr)
{
    const cpu_symbol_copy copy = {(const void *)&symbol, sizeof(T), offset, nullptr, from};
    return cpu_copy_symbol(&copy, bytes, kind, stream, 0);
}
template <class T>
CPU_INLINE cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes,
                                          size_t offset = 0,
                                          cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    const cpu_symbol_copy copy = {(const void *)&symbol, sizeof(T), offset, nullptr, from};
    return cpu_copy_symbol(&copy, bytes, kind, nullptr, 1);
}
template <class T>
CPU_INLINE cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes,
                                                 size_t offset, cudaMemcpyKind kind,
                                                 cudaStream_t stream = nullptr)
{
    const cpu_symbol_copy copy = {(const void *)&symbol, sizeof(T), offset, to, nullptr};
    return cpu_copy_symbol(&copy, bytes, kind, stream, 0);
}
template <class T>
CPU_INLINE cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes,
                                            size_t offset = 0,
                                            cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    const cpu_symbol_copy copy = {(const void *)&symbol, sizeof(T), offset, to, nullptr};
    return cpu_copy_symbol(&copy, bytes, kind, nullptr, 1);
}
#undef CPU_INLINE
template <class... P>
inline cudaError_t cudaFuncSetAttribute(void (*f)(P...), cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute(reinterpret_cast<const void *>(f), attribute, value);
}
template <class... P>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, void (*f)(P...))
{
    return cudaFuncGetAttributes(attributes, reinterpret_cast<const void *>(f));
}
template <class... P>
inline cudaError_t cudaFuncSetCacheConfig(void (*f)(P...), cudaFuncCache config)
{
    return cudaFuncSetCacheConfig(reinterpret_cast<const void *>(f), config);
}
template <class F>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F *f, int threads,
                                                                 size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)f, threads, shared);
}
/* The largest of the block sizes that fill a multiprocessor best, and as many blocks as fill all
 * multiprocessors. */
template <class S, class F>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, F *f,
                                                                  S shared, int limit = 0)
{
    int best = 0, multiprocessors = 0;
    *grid = *block = 0;
    for (int threads = limit > 0 && limit < 1024 ? limit : 1024; threads > 0;
         threads = (threads - 1) / warpSize * warpSize) {
        int blocks = 0;
        cudaError_t error =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, threads, shared(threads));
        if (error != cudaSuccess)
            return error;
        if (blocks * threads > best) {
            best = blocks * threads;
            *block = threads;
        }
    }
    cudaError_t error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    *grid = best ? best / *block * multiprocessors : 0;
    return error;
}
template <class F>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, F *f,
                                                      size_t shared = 0, int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        grid, block, f, [=](int) { return shared; }, limit);
}
template <class F>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, F *f,
                                                               size_t shared = 0, int limit = 0,
                                                               unsigned = 0)
{
    return cudaOccupancyMaxPotentialBlockSize(grid, block, f, shared, limit);
}
template <class F>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, F *f,
                                                                          int threads,
                                                                          size_t shared, unsigned)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, shared);
}
template <class... P>
inline cudaError_t cudaFuncSetSharedMemConfig(void (*f)(P...), cudaSharedMemConfig config)
{
    return cudaFuncSetSharedMemConfig(reinterpret_cast<const void *>(f), config);
}
template <class T>
inline cudaError_t cudaMallocFromPoolAsync(T **p, size_t bytes, cudaMemPool_t pool,
                                           cudaStream_t stream)
{
    return cudaMallocFromPoolAsync(cpu_pointer(p), bytes, pool, stream);
}
inline cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    return cudaMallocFromPoolAsync(p, bytes, pool, stream);
}
template <class T>
inline cudaError_t cudaMallocAsync(T **p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    return cudaMallocFromPoolAsync(p, bytes, pool, stream);
}
#include "cpu/atomics.h"
#include "cpu/texture.h"
#undef CPU_FENCE
#undef CPU_REPORT_ATOMIC
#undef CPU_REPORT_COMPARE
#undef CPU_REPORT_CACHED

#ifdef CPU_TRACE
/* count: the rewriter writes `a / b` as `a / cpu_divide() / b`. Its first half is an of<A>, whose
 * own operator counts a division of floating-point numbers and divides. For `a /= b` it writes
 * `a /= cpu_divide() = b`: the assignment makes a by<B>. A division of two constants that the
 * compiler knows is not counted. */
struct cpu_divide {
    template <class B>
    struct by {
        B b;
    };
    template <class A>
    struct of {
        A a;
        template <class B>
        constexpr __attribute__((always_inline)) auto operator/(B b) const
        {
            if (!std::is_integral<decltype(a / b)>::value && !__builtin_is_constant_evaluated() &&
                !(__builtin_constant_p(a) && __builtin_constant_p(b)))
                cpu_trace_special(CPU_DIV);
            return a / b;
        }
    };
    template <class B>
    constexpr __attribute__((always_inline)) by<B> operator=(B b) const
    {
        return {b};
    }
};
template <class A>
constexpr __attribute__((always_inline)) cpu_divide::of<A> operator/(A a, cpu_divide)
{
    return {a};
}
template <class A, class B>
constexpr __attribute__((always_inline)) A &operator/=(A &a, cpu_divide::by<B> b)
{
    return a = (A)(a / cpu_divide() / b.b);
}
#if CPU_TRACE == 2
/* check: the rewriter puts one behind an array of a thread that has no initialiser. Elements of
 * more than one part, as float4, are not judged: to copy one whole is no use of what it lacks. */
template <class T>
constexpr bool cpu_is_judged = std::is_arithmetic<T>::value || std::is_enum<T>::value ||
                               std::is_pointer<T>::value || sizeof(T) <= 2;
template <class A, bool judged = cpu_is_judged<std::remove_all_extents_t<A>>>
struct cpu_local_array {
    cpu_local l;
    cpu_local_array(A &a, const char *name)
    {
        cpu_trace_local(&l, reinterpret_cast<uintptr_t>(&a), sizeof a, name);
    }
    ~cpu_local_array()
    {
        cpu_trace_local_ends(&l);
    }
};
template <class A>
struct cpu_local_array<A, false> {
    cpu_local_array(A &, const char *)
    {
    }
};
#endif
#endif
/* The rewriter puts one beside a __device__ variable: it tells the runtime the address. */
struct cpu_variable {
    template <class T>
    cpu_variable(T &v, const char *name, int kind)
    {
        cpu_know_variable((void *)&v, sizeof v, name, kind);
    }
};
#endif
