/* -fsanitize=thread also turns the __atomic builtins into calls. They do what they say and
 * report nothing: a kernel's atomic reports itself, in cuda_runtime.h, as the one operation that it
 * is. */
#include <stdint.h>

#pragma GCC visibility push(default)
#define OP(n, T, name, builtin)                                                                    \
    T __tsan_atomic##n##_##name(volatile T *p, T v, int order)                                     \
    {                                                                                              \
        return (void)order, builtin(p, v, __ATOMIC_SEQ_CST);                                       \
    }
#define CAS(n, T, name)                                                                            \
    int __tsan_atomic##n##_##name(volatile T *p, T *old, T v, int yes, int no)                     \
    {                                                                                              \
        (void)yes, (void)no;                                                                       \
        return __atomic_compare_exchange_n(p, old, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);      \
    }
#define ATOMICS(n, T)                                                                              \
    T __tsan_atomic##n##_load(const volatile T *p, int order)                                      \
    {                                                                                              \
        return (void)order, __atomic_load_n(p, __ATOMIC_SEQ_CST);                                  \
    }                                                                                              \
    void __tsan_atomic##n##_store(volatile T *p, T v, int order)                                   \
    {                                                                                              \
        (void)order, __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                     \
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

void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
void __tsan_init(void)
{
}
#pragma GCC visibility pop
