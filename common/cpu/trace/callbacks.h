/* What g++ -fsanitize=thread calls at each load and store. The file that includes this defines
 * seen(). */
#include "../runtime.h"
#include "symbols.h"

#include <string.h>

/* The running thread reads (writes = 0) or writes memory. `from` is the return address in the
 * kernel; `frame` tells how deep its stack is. */
static inline void seen(struct worker *w, uintptr_t p, unsigned bytes, int writes, const void *from,
                        const void *frame);

/* The four built-in variables are memory too, and registers on a GPU. */
static inline int is_builtin_variable(uintptr_t p)
{
    const uintptr_t a[] = {(uintptr_t)&threadIdx, (uintptr_t)&blockIdx, (uintptr_t)&blockDim,
                           (uintptr_t)&gridDim};
    for (int i = 0; i < 4; i++)
        if (p - a[i] < sizeof(uint3))
            return 1;
    return 0;
}

#define REPORT(p, bytes, writes)                                                                   \
    do {                                                                                           \
        struct worker *w_ = cpu_worker;                                                            \
        if (w_ && w_->running)                                                                     \
            seen(w_, (uintptr_t)(p), (unsigned)(bytes), writes, __builtin_return_address(0),       \
                 __builtin_frame_address(0));                                                      \
    } while (0)

/* An object of any size, in the pieces a GPU would move: up to 16 bytes, as aligned as they are. */
static void pieces(struct worker *w, uintptr_t p, size_t bytes, int writes, const void *from,
                   const void *frame)
{
    while (w && w->running && bytes) {
        unsigned n = 16;
        while (n > bytes || p % n || bytes % n)
            n /= 2;
        seen(w, p, n, writes, from, frame);
        p += n;
        bytes -= n;
    }
}
#define REPORT_PIECES(p, bytes, writes)                                                            \
    pieces(cpu_worker, (uintptr_t)(p), bytes, writes, __builtin_return_address(0),                 \
           __builtin_frame_address(0))

#define SIZES(X) X(1) X(2) X(4) X(8) X(16)
#define CALLBACKS(n)                                                                               \
    void __tsan_read##n(void *p);                                                                  \
    void __tsan_write##n(void *p);                                                                 \
    void __tsan_unaligned_read##n(void *p);                                                        \
    void __tsan_unaligned_write##n(void *p);                                                       \
    void __tsan_read##n(void *p)                                                                   \
    {                                                                                              \
        REPORT(p, n, 0);                                                                           \
    }                                                                                              \
    void __tsan_write##n(void *p)                                                                  \
    {                                                                                              \
        REPORT(p, n, 1);                                                                           \
    }                                                                                              \
    void __tsan_unaligned_read##n(void *p)                                                         \
    {                                                                                              \
        REPORT_PIECES(p, n, 0);                                                                    \
    }                                                                                              \
    void __tsan_unaligned_write##n(void *p)                                                        \
    {                                                                                              \
        REPORT_PIECES(p, n, 1);                                                                    \
    }
SIZES(CALLBACKS)

void __tsan_read_range(void *p, size_t bytes);
void __tsan_write_range(void *p, size_t bytes);
void __tsan_vptr_update(void **p, void *value);
void __tsan_vptr_read(void **p);
void __tsan_init(void);
void __tsan_read_range(void *p, size_t bytes)
{
    REPORT_PIECES(p, bytes, 0);
}
void __tsan_write_range(void *p, size_t bytes)
{
    REPORT_PIECES(p, bytes, 1);
}
void __tsan_vptr_update(void **p, void *value)
{
    (void)p, (void)value;
}
void __tsan_vptr_read(void **p)
{
    (void)p;
}
void __tsan_init(void)
{
}

/* Calls of the C library in a kernel come here: cudacc renames them in the object. */
void *cpu_trace_memcpy(void *to, const void *from, size_t bytes);
void *cpu_trace_memmove(void *to, const void *from, size_t bytes);
void *cpu_trace_memset(void *to, int value, size_t bytes);
void *cpu_trace_memcpy(void *to, const void *from, size_t bytes)
{
    REPORT_PIECES(from, bytes, 0);
    REPORT_PIECES(to, bytes, 1);
    return memcpy(to, from, bytes);
}
void *cpu_trace_memmove(void *to, const void *from, size_t bytes)
{
    REPORT_PIECES(from, bytes, 0);
    REPORT_PIECES(to, bytes, 1);
    return memmove(to, from, bytes);
}
void *cpu_trace_memset(void *to, int value, size_t bytes)
{
    REPORT_PIECES(to, bytes, 1);
    return memset(to, value, bytes);
}

/* g++ turns the __atomic builtins into calls as well. They do what they say and report nothing: a
 * kernel's atomic reports itself, in cuda_runtime.h, as the one operation that it is. */
#define ATOMIC_OP(n, T, name, builtin)                                                             \
    T __tsan_atomic##n##_##name(volatile T *p, T v, int order);                                    \
    T __tsan_atomic##n##_##name(volatile T *p, T v, int order)                                     \
    {                                                                                              \
        (void)order;                                                                               \
        return builtin(p, v, __ATOMIC_SEQ_CST);                                                    \
    }
#define ATOMIC_CAS(n, T, name)                                                                     \
    int __tsan_atomic##n##_##name(volatile T *p, T *old, T v, int yes, int no);                    \
    int __tsan_atomic##n##_##name(volatile T *p, T *old, T v, int yes, int no)                     \
    {                                                                                              \
        (void)yes, (void)no;                                                                       \
        return __atomic_compare_exchange_n(p, old, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);      \
    }
#define ATOMICS(n, T)                                                                              \
    T __tsan_atomic##n##_load(const volatile T *p, int order);                                     \
    T __tsan_atomic##n##_load(const volatile T *p, int order)                                      \
    {                                                                                              \
        (void)order;                                                                               \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                               \
    }                                                                                              \
    void __tsan_atomic##n##_store(volatile T *p, T v, int order);                                  \
    void __tsan_atomic##n##_store(volatile T *p, T v, int order)                                   \
    {                                                                                              \
        (void)order;                                                                               \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                  \
    }                                                                                              \
    ATOMIC_OP(n, T, exchange, __atomic_exchange_n)                                                 \
    ATOMIC_OP(n, T, fetch_add, __atomic_fetch_add)                                                 \
    ATOMIC_OP(n, T, fetch_sub, __atomic_fetch_sub)                                                 \
    ATOMIC_OP(n, T, fetch_and, __atomic_fetch_and)                                                 \
    ATOMIC_OP(n, T, fetch_or, __atomic_fetch_or)                                                   \
    ATOMIC_OP(n, T, fetch_xor, __atomic_fetch_xor)                                                 \
    ATOMIC_OP(n, T, fetch_nand, __atomic_fetch_nand)                                               \
    ATOMIC_CAS(n, T, compare_exchange_strong)                                                      \
    ATOMIC_CAS(n, T, compare_exchange_weak)                                                        \
    T __tsan_atomic##n##_compare_exchange_val(volatile T *p, T old, T v, int yes, int no);         \
    T __tsan_atomic##n##_compare_exchange_val(volatile T *p, T old, T v, int yes, int no)          \
    {                                                                                              \
        (void)yes, (void)no;                                                                       \
        return __sync_val_compare_and_swap(p, old, v);                                             \
    }
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
