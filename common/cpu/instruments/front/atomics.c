/* -fsanitize=thread also turns the __atomic builtins into calls: those of cuda::atomic. They
 * count like inline PTX of the same meaning. atomicAdd and the like do not use them: each
 * reports itself, in cuda_runtime.h, as one operation. */
#include "device/device.h"

static int lane_of(const struct worker *w)
{
    return (int)w->now % WARP;
}

/* Begins an atomic: notes its place in the code. Returns the kernel's worker, or NULL outside of
 * kernels. */
static struct worker *kernel(const void *from, const void *frame)
{
    struct worker *w = cpu_worker;
    if (!w || !w->running)
        return NULL;
    trace_asm(w, from, frame);
    return w;
}

/* The hook's flags of an order. The scope of a cuda::atomic is not known, and taken to be the
 * device's: libcu++ does not tell a host's compiler. */
static int ordering(int order)
{
    return (order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE ? TRACE_ACQUIRE : 0) |
           (order >= __ATOMIC_RELEASE ? TRACE_RELEASE : 0);
}

static void changed(struct worker *w, const volatile void *p, unsigned bytes, int flags)
{
    if (!w) {
        TRACE_CHECK(host_atomic((uintptr_t)p, 1));
        return;
    }
    TRACE_CHECK_OR(ordering(w, flags), (void)flags);
    trace_lane_atomic(w, lane_of(w), (uintptr_t)p, bytes, 1);
}

static void stored(struct worker *w, const volatile void *p, unsigned bytes, int flags)
{
    if (!w)
        return;
    TRACE_CHECK(ordering(w, flags));
    trace_lane_publish(w, lane_of(w), (uintptr_t)p, bytes);
}

/* The address from which the load at `from` gets its value. */
static const volatile void *loaded(struct worker *w, const volatile void *p, unsigned bytes,
                                   int flags, const void *from)
{
    const int acquires = (flags & TRACE_ACQUIRE) != 0;
    if (!w) {
        TRACE_CHECK(host_atomic((uintptr_t)p, 1));
        return p;
    }
    TRACE_CHECK(ordering(w, flags));
    return trace_lane_poll(w, lane_of(w), (uintptr_t)p, bytes, acquires, from);
}

#define KERNEL kernel(__builtin_return_address(0), __builtin_frame_address(0))
#pragma GCC visibility push(default)
#define OP(n, T, name, builtin)                                                                    \
    T __tsan_atomic##n##_##name(volatile T *p, T v, int order)                                     \
    {                                                                                              \
        changed(KERNEL, p, n / 8, ordering(order));                                                \
        return builtin(p, v, __ATOMIC_SEQ_CST);                                                    \
    }
#define CAS(n, T, name)                                                                            \
    int __tsan_atomic##n##_##name(volatile T *p, T *old, T v, int yes, int no)                     \
    {                                                                                              \
        (void)no;                                                                                  \
        cpu_trace_compare(p, *old, n / 8);                                                         \
        changed(KERNEL, p, n / 8, ordering(yes));                                                  \
        const T wanted = *old;                                                                     \
        const int same = *p == wanted && v == wanted;                                              \
        const int done =                                                                           \
            __atomic_compare_exchange_n(p, old, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);         \
        if (!done || same)                                                                         \
            cpu_polled(p, old, n / 8);                                                             \
        return done;                                                                               \
    }
#define ATOMICS(n, T)                                                                              \
    T __tsan_atomic##n##_load(const volatile T *p, int order)                                      \
    {                                                                                              \
        const void *from = __builtin_return_address(0);                                            \
        return __atomic_load_n(                                                                    \
            (const volatile T *)loaded(KERNEL, p, n / 8, ordering(order), from),                   \
            __ATOMIC_SEQ_CST);                                                                     \
    }                                                                                              \
    void __tsan_atomic##n##_store(volatile T *p, T v, int order)                                   \
    {                                                                                              \
        stored(KERNEL, p, n / 8, ordering(order));                                                 \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                  \
    }                                                                                              \
    T __tsan_atomic##n##_compare_exchange_val(volatile T *p, T old, T v, int yes, int no)          \
    {                                                                                              \
        return (void)yes, (void)no, __sync_val_compare_and_swap(p, old, v);                        \
    }                                                                                              \
    CAS(n, T, compare_exchange_strong)                                                             \
    CAS(n, T, compare_exchange_weak)                                                               \
    OP(n, T, exchange, __atomic_exchange_n)                                                        \
    OP(n, T, fetch_add, __atomic_fetch_add)                                                        \
    OP(n, T, fetch_sub, __atomic_fetch_sub)                                                        \
    OP(n, T, fetch_and, __atomic_fetch_and)                                                        \
    OP(n, T, fetch_or, __atomic_fetch_or)                                                          \
    OP(n, T, fetch_xor, __atomic_fetch_xor)                                                        \
    OP(n, T, fetch_nand, __atomic_fetch_nand)
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

/* __nv_atomic_load and its like. The orders have the numbers of C's; scopes below the device's are
 * the block's here, as no launch has clusters. */
static int scoped(int order, int scope)
{
    enum { DEVICE = 3 }; /* __NV_THREAD_SCOPE_DEVICE */
    return ordering(order) | (scope < DEVICE    ? TRACE_BLOCK_SCOPE
                              : scope == DEVICE ? TRACE_DEVICE_SCOPE
                                                : 0);
}

uint64_t cpu_trace_ordered_load(const volatile void *p, unsigned bytes, int order, int scope)
{
    const void *from = __builtin_return_address(0);
    const volatile void *at = loaded(KERNEL, p, bytes, scoped(order, scope), from);
    switch (bytes) {
    case 1:
        return __atomic_load_n((const volatile uint8_t *)at, __ATOMIC_SEQ_CST);
    case 2:
        return __atomic_load_n((const volatile uint16_t *)at, __ATOMIC_SEQ_CST);
    case 4:
        return __atomic_load_n((const volatile uint32_t *)at, __ATOMIC_SEQ_CST);
    default:
        return __atomic_load_n((const volatile uint64_t *)at, __ATOMIC_SEQ_CST);
    }
}

void cpu_trace_ordered_store(volatile void *p, uint64_t v, unsigned bytes, int order, int scope)
{
    stored(KERNEL, p, bytes, scoped(order, scope));
    switch (bytes) {
    case 1:
        __atomic_store_n((volatile uint8_t *)p, (uint8_t)v, __ATOMIC_SEQ_CST);
        return;
    case 2:
        __atomic_store_n((volatile uint16_t *)p, (uint16_t)v, __ATOMIC_SEQ_CST);
        return;
    case 4:
        __atomic_store_n((volatile uint32_t *)p, (uint32_t)v, __ATOMIC_SEQ_CST);
        return;
    default:
        __atomic_store_n((volatile uint64_t *)p, v, __ATOMIC_SEQ_CST);
    }
}

void cpu_trace_ordered_change(volatile void *p, unsigned bytes, int order, int scope)
{
    changed(KERNEL, p, bytes, scoped(order, scope));
}

void __tsan_atomic_thread_fence(int order)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int order)
{
}
void __tsan_init(void)
{
}
#pragma GCC visibility pop
