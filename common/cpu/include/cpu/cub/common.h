/* CUB, the collectives of warps, blocks and the device: what common programs use of it, made of the
 * operations that a kernel has. This file: operators, iterators, and small functions. */
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <iterator>

#define CubDebug(e) (e)
#define CubDebugExit(e)                                                                            \
    do {                                                                                           \
        if ((e) != cudaSuccess)                                                                    \
            exit(1);                                                                               \
    } while (0)

namespace cub
{
struct NullType {
};
struct Sum {
    template <class A, class B>
    constexpr auto operator()(const A &a, const B &b) const
    {
        return a + b;
    }
};
struct Max {
    template <class T>
    constexpr T operator()(const T &a, const T &b) const
    {
        return a < b ? b : a;
    }
};
struct Min {
    template <class T>
    constexpr T operator()(const T &a, const T &b) const
    {
        return b < a ? b : a;
    }
};
struct Equality {
    template <class A, class B>
    constexpr bool operator()(const A &a, const B &b) const
    {
        return a == b;
    }
};
template <class Key, class Value>
struct KeyValuePair {
    typedef Key Key_;
    typedef Value Value_;
    Key key;
    Value value;
    KeyValuePair() = default;
    KeyValuePair(const Key &key, const Value &value) : key(key), value(value)
    {
    }
    bool operator!=(const KeyValuePair &b) const
    {
        return value != b.value || key != b.key;
    }
};
/* Of two with the same value, the one with the lower key. */
struct ArgMax {
    template <class K, class V>
    KeyValuePair<K, V> operator()(const KeyValuePair<K, V> &a, const KeyValuePair<K, V> &b) const
    {
        return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <class K, class V>
    KeyValuePair<K, V> operator()(const KeyValuePair<K, V> &a, const KeyValuePair<K, V> &b) const
    {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};

template <class T>
struct DoubleBuffer {
    T *d_buffers[2];
    int selector = 0;
    DoubleBuffer() : d_buffers{nullptr, nullptr}
    {
    }
    DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate}
    {
    }
    T *Current()
    {
        return d_buffers[selector];
    }
    T *Alternate()
    {
        return d_buffers[selector ^ 1];
    }
};

/* Unsigned integers in the order of T's values. */
template <class T>
struct Traits {
    typedef typename cpu_word<sizeof(T)>::type UnsignedBits;
    static UnsignedBits TwiddleIn(UnsignedBits bits)
    {
        const UnsignedBits top = (UnsignedBits)((UnsignedBits)1 << (8 * sizeof(T) - 1));
        if (std::is_unsigned<T>::value)
            return bits;
        return std::is_integral<T>::value || !(bits & top) ? bits ^ top : (UnsignedBits)~bits;
    }
    static UnsignedBits TwiddleOut(UnsignedBits bits)
    {
        const UnsignedBits top = (UnsignedBits)((UnsignedBits)1 << (8 * sizeof(T) - 1));
        if (std::is_unsigned<T>::value)
            return bits;
        return std::is_integral<T>::value || bits & top ? bits ^ top : (UnsignedBits)~bits;
    }
};

/* Iterators. i[n] is all that the device's algorithms need of one. */
template <class Self, class T>
struct cpu_iterator {
    typedef std::random_access_iterator_tag iterator_category;
    typedef T value_type;
    typedef ptrdiff_t difference_type;
    typedef T *pointer;
    typedef T reference;
    ptrdiff_t at = 0;
    Self operator+(ptrdiff_t n) const
    {
        Self moved = static_cast<const Self &>(*this);
        moved.at += n;
        return moved;
    }
    Self &operator+=(ptrdiff_t n)
    {
        at += n;
        return static_cast<Self &>(*this);
    }
    Self &operator++()
    {
        return *this += 1;
    }
    T operator*() const
    {
        return static_cast<const Self &>(*this)[0];
    }
    ptrdiff_t operator-(const Self &b) const
    {
        return at - b.at;
    }
    bool operator==(const Self &b) const
    {
        return at == b.at;
    }
    bool operator!=(const Self &b) const
    {
        return at != b.at;
    }
};
template <class T, class Offset = ptrdiff_t>
struct CountingInputIterator : cpu_iterator<CountingInputIterator<T, Offset>, T> {
    T first;
    explicit CountingInputIterator(T first) : first(first)
    {
    }
    template <class N>
    T operator[](N n) const
    {
        return (T)(first + (T)(this->at + (ptrdiff_t)n));
    }
};
template <class T, class Offset = ptrdiff_t>
struct ConstantInputIterator : cpu_iterator<ConstantInputIterator<T, Offset>, T> {
    T value;
    explicit ConstantInputIterator(T value, Offset = 0) : value(value)
    {
    }
    template <class N>
    T operator[](N) const
    {
        return value;
    }
};
template <class T, class F, class From, class Offset = ptrdiff_t>
struct TransformInputIterator : cpu_iterator<TransformInputIterator<T, F, From, Offset>, T> {
    From from;
    F f;
    TransformInputIterator(From from, F f) : from(from), f(f)
    {
    }
    template <class N>
    T operator[](N n) const
    {
        return f(from[this->at + (ptrdiff_t)n]);
    }
};

enum CacheLoadModifier {
    LOAD_DEFAULT,
    LOAD_CA,
    LOAD_CG,
    LOAD_CS,
    LOAD_CV,
    LOAD_LDG,
    LOAD_VOLATILE
};
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };
template <CacheLoadModifier modifier, class T>
__forceinline__ T ThreadLoad(T *p)
{
    if constexpr (modifier == LOAD_LDG)
        return __ldg(p);
    return *p;
}
template <CacheStoreModifier, class T, class V>
__forceinline__ void ThreadStore(T *p, V v)
{
    *p = v;
}

inline unsigned LaneId()
{
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}
inline unsigned WarpId()
{
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32;
}
inline int RowMajorTid(int x, int y, int)
{
    return (int)threadIdx.x + x * ((int)threadIdx.y + y * (int)threadIdx.z);
}
template <class A, class B>
constexpr A DivideAndRoundUp(A a, B b)
{
    return (A)(a / b + (a % b != 0));
}

/* Allocates and frees at once: nothing is kept for later. */
struct CachingDeviceAllocator {
    CachingDeviceAllocator(unsigned = 8, unsigned = 3, unsigned = 7, size_t = 0, bool = false,
                           bool = false)
    {
    }
    cudaError_t DeviceAllocate(void **p, size_t bytes, cudaStream_t = nullptr)
    {
        return cudaMalloc(p, bytes);
    }
    cudaError_t DeviceFree(void *p)
    {
        return cudaFree(p);
    }
    cudaError_t FreeAllCached()
    {
        return cudaSuccess;
    }
};
} // namespace cub
