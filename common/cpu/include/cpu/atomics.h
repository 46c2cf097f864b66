/* Atomics that atomicAdd and its like in cuda_runtime.h do not cover: those of vectors, and those
 * with an order and a scope, __nv_atomic_load and its like. cuda_runtime.h includes this. */
#pragma once

/* atomicAdd of float2 and float4, as the instruction that it is on a GPU: each element is added by
 * itself, and the address is one of global memory, aligned to the whole vector. */
#define CPU_VECTOR_ATOMIC(name, scope)                                                             \
    inline float2 name(float2 *p, float2 v, CPU_PLACE)                                             \
    {                                                                                              \
        static cpu_asm_site site = {"atom.relaxed" scope                                           \
                                    ".global.add.v2.f32 {%0, %1}, [%2], {%3, %4};",                \
                                    "fflff",                                                       \
                                    5,                                                             \
                                    __FILE__,                                                      \
                                    __LINE__,                                                      \
                                    nullptr};                                                      \
        uint64_t reg[6];                                                                           \
        cpu_asm_in<'l'>(&reg[2], p);                                                               \
        cpu_asm_in<'f'>(&reg[3], v.x);                                                             \
        cpu_asm_in<'f'>(&reg[4], v.y);                                                             \
        cpu_asm_at(&site, reg, file, line);                                                        \
        cpu_asm_out<'f'>(&reg[0], v.x);                                                            \
        cpu_asm_out<'f'>(&reg[1], v.y);                                                            \
        return v;                                                                                  \
    }                                                                                              \
    inline float4 name(float4 *p, float4 v, CPU_PLACE)                                             \
    {                                                                                              \
        static cpu_asm_site site = {"atom.relaxed" scope ".global.add.v4.f32 "                     \
                                    "{%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};",                   \
                                    "fffflffff",                                                   \
                                    9,                                                             \
                                    __FILE__,                                                      \
                                    __LINE__,                                                      \
                                    nullptr};                                                      \
        uint64_t reg[10];                                                                          \
        cpu_asm_in<'l'>(&reg[4], p);                                                               \
        cpu_asm_in<'f'>(&reg[5], v.x);                                                             \
        cpu_asm_in<'f'>(&reg[6], v.y);                                                             \
        cpu_asm_in<'f'>(&reg[7], v.z);                                                             \
        cpu_asm_in<'f'>(&reg[8], v.w);                                                             \
        cpu_asm_at(&site, reg, file, line);                                                        \
        cpu_asm_out<'f'>(&reg[0], v.x);                                                            \
        cpu_asm_out<'f'>(&reg[1], v.y);                                                            \
        cpu_asm_out<'f'>(&reg[2], v.z);                                                            \
        cpu_asm_out<'f'>(&reg[3], v.w);                                                            \
        return v;                                                                                  \
    }
CPU_VECTOR_ATOMIC(atomicAdd, ".gpu")
CPU_VECTOR_ATOMIC(atomicAdd_block, ".cta")
CPU_VECTOR_ATOMIC(atomicAdd_system, ".sys")
#undef CPU_VECTOR_ATOMIC

/* The orders are numbered as C numbers its own: __ATOMIC_RELAXED is 0. */
enum {
    __NV_ATOMIC_RELAXED,
    __NV_ATOMIC_CONSUME,
    __NV_ATOMIC_ACQUIRE,
    __NV_ATOMIC_RELEASE,
    __NV_ATOMIC_ACQ_REL,
    __NV_ATOMIC_SEQ_CST
};
enum {
    __NV_THREAD_SCOPE_THREAD,
    __NV_THREAD_SCOPE_BLOCK,
    __NV_THREAD_SCOPE_CLUSTER,
    __NV_THREAD_SCOPE_DEVICE,
    __NV_THREAD_SCOPE_SYSTEM
};

/* The four operations of which all others are made, each with the order and scope that the program
 * gives it. In an instrumented program no instrument sees their own accesses: they report them,
 * with order and scope. A thread that loads the same value over and over sleeps. */
template <class T>
inline T cpu_ordered_load(const T *p, int order, int scope)
{
    typedef typename cpu_word<sizeof(T)>::type word;
#ifdef CPU_TRACE
    const word bits = (word)cpu_trace_ordered_load(p, sizeof(T), order, scope);
#else
    (void)order, (void)scope;
    const word bits = __atomic_load_n(reinterpret_cast<const word *>(p), __ATOMIC_SEQ_CST);
#endif
    const T v = cpu_value<T>(bits);
    cpu_polled(p, &v, sizeof(T));
    return v;
}
template <class T>
inline void cpu_ordered_store(T *p, T v, int order, int scope)
{
    typedef typename cpu_word<sizeof(T)>::type word;
#ifdef CPU_TRACE
    cpu_trace_ordered_store(p, cpu_bits(v), sizeof(T), order, scope);
#else
    (void)order, (void)scope;
    __atomic_store_n(reinterpret_cast<word *>(p), (word)cpu_bits(v), __ATOMIC_SEQ_CST);
#endif
}
/* Returns the value before. */
template <class T, class F>
inline T cpu_ordered_change(T *p, int order, int scope, F change)
{
#ifdef CPU_TRACE
    if (std::is_floating_point<T>::value)
        cpu_trace_sum(p, sizeof(T));
    cpu_trace_ordered_change(p, sizeof(T), order, scope);
#else
    (void)order, (void)scope;
#endif
    return cpu_exchanged(p, change, true);
}
inline void cpu_ordered_fence(int order, int scope)
{
    __sync_synchronize();
    if (order != __NV_ATOMIC_RELAXED && scope != __NV_THREAD_SCOPE_THREAD)
        CPU_FENCE(scope > __NV_THREAD_SCOPE_DEVICE    ? CPU_SCOPE_SYSTEM
                  : scope > __NV_THREAD_SCOPE_CLUSTER ? CPU_SCOPE_DEVICE
                                                      : CPU_SCOPE_BLOCK);
}

/* For functions with the name __nv_atomic_load and its like: a default scope follows the order. */
#define CPU_ORDER int order, int scope = __NV_THREAD_SCOPE_SYSTEM
#define CPU_NEEDS(condition, text) static_assert(condition, text)

inline void __nv_atomic_thread_fence(CPU_ORDER)
{
    cpu_ordered_fence(order, scope);
}
template <class T>
inline void __nv_atomic_load(const T *p, T *to, CPU_ORDER)
{
    *to = cpu_ordered_load(p, order, scope);
}
template <class T>
inline T __nv_atomic_load_n(const T *p, CPU_ORDER)
{
    CPU_NEEDS(std::is_integral<T>::value, "__nv_atomic_load_n loads integers");
    return cpu_ordered_load(p, order, scope);
}
template <class T>
inline void __nv_atomic_store(T *p, T *from, CPU_ORDER)
{
    cpu_ordered_store(p, *from, order, scope);
}
template <class T>
inline void __nv_atomic_store_n(T *p, cpu_same_t<T> v, CPU_ORDER)
{
    CPU_NEEDS(std::is_integral<T>::value, "__nv_atomic_store_n stores integers");
    cpu_ordered_store(p, v, order, scope);
}
template <class T>
inline void __nv_atomic_exchange(T *p, T *from, T *to, CPU_ORDER)
{
    const T v = *from;
    *to = cpu_ordered_change(p, order, scope, [v](T) { return v; });
}
template <class T>
inline T __nv_atomic_exchange_n(T *p, cpu_same_t<T> v, CPU_ORDER)
{
    CPU_NEEDS(std::is_integral<T>::value, "__nv_atomic_exchange_n exchanges integers");
    return cpu_ordered_change(p, order, scope, [v](T) { return v; });
}
/* Where it fails it still has the order `order`, which is stronger than what it then needs. It
 * never fails without a reason, so `weak` makes no difference. */
template <class T>
inline bool __nv_atomic_compare_exchange_n(T *p, T *expected, cpu_same_t<T> v, bool weak, int order,
                                           int failed, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    (void)weak, (void)failed;
    const T before = *expected;
#ifdef CPU_TRACE
    cpu_trace_compare(p, cpu_bits(before), sizeof(T));
#endif
    const T found = cpu_ordered_change(
        p, order, scope, [=](T old) { return cpu_bits(old) == cpu_bits(before) ? v : old; });
    if (cpu_bits(found) == cpu_bits(before))
        return true;
    *expected = found;
    return false;
}
template <class T>
inline bool __nv_atomic_compare_exchange(T *p, T *expected, T *v, bool weak, int order, int failed,
                                         int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    return __nv_atomic_compare_exchange_n(p, expected, *v, weak, order, failed, scope);
}
#define CPU_ORDERED(name, types, expression)                                                       \
    template <class T>                                                                             \
    inline T __nv_atomic_fetch_##name(T *p, cpu_same_t<T> v, CPU_ORDER)                            \
    {                                                                                              \
        CPU_NEEDS(types<T>::value && (sizeof(T) == 4 || sizeof(T) == 8),                           \
                  "__nv_atomic_fetch_" #name " takes numbers of 4 or 8 bytes; floating-point "     \
                  "ones can only be added and subtracted");                                        \
        return cpu_ordered_change(p, order, scope, [v](T old) { return (T)(expression); });        \
    }                                                                                              \
    template <class T>                                                                             \
    inline void __nv_atomic_##name(T *p, cpu_same_t<T> v, CPU_ORDER)                               \
    {                                                                                              \
        __nv_atomic_fetch_##name(p, v, order, scope);                                              \
    }
CPU_ORDERED(add, std::is_arithmetic, old + v)
CPU_ORDERED(sub, std::is_arithmetic, old - v)
CPU_ORDERED(and, std::is_integral, old &v)
CPU_ORDERED(or, std::is_integral, old | v)
CPU_ORDERED(xor, std::is_integral, old ^ v)
CPU_ORDERED(min, std::is_integral, v < old ? v : old)
CPU_ORDERED(max, std::is_integral, old < v ? v : old)
#undef CPU_ORDERED
#undef CPU_NEEDS
#undef CPU_ORDER
