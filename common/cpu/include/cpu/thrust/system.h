/* The device system of Thrust. An algorithm is a kernel of one thread, in which Thrust's own
 * sequential code runs: it touches the device's memory as a kernel does, in the order of its
 * stream. cudacc puts this in the place of the toolkit's thrust/system/cuda/detail, and the rest of
 * Thrust is the toolkit's (compiler/driver/thrust.sh). Not for programs. */
#pragma once

#include "cpu/thrust/policy.h"

#include <thrust/detail/allocator_aware_execution_policy.h>
#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/iterator/iterator_traits.h>
#include <thrust/system/cpp/detail/execution_policy.h>
#include <thrust/type_traits/is_contiguous_iterator.h>

#include <new>
#include <stdexcept>
#include <string>

THRUST_NAMESPACE_BEGIN
namespace system
{
namespace cuda
{
namespace detail
{
/* thrust::cuda::par and par.on(stream). */
struct on_t : execution_policy<on_t>,
              thrust::detail::allocator_aware_execution_policy<execution_policy> {
    cudaStream_t stream;
    explicit on_t(cudaStream_t stream) : stream(stream)
    {
    }
};
struct par_t : execution_policy<par_t>,
               thrust::detail::allocator_aware_execution_policy<execution_policy> {
    constexpr par_t() : execution_policy<par_t>()
    {
    }
    on_t on(cudaStream_t stream) const
    {
        return on_t(stream);
    }
};
template <class Policy>
inline cudaStream_t stream_of(const Policy &)
{
    return nullptr;
}
inline cudaStream_t stream_of(const on_t &on)
{
    return on.stream;
}

inline void expect(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

/* Memory of the device for one value, or for several. */
struct scratch {
    void *p = nullptr;
    explicit scratch(size_t bytes)
    {
        if (bytes == 0)
            return;
        expect(cudaMalloc(&p, bytes), "thrust");
        expect(cudaMemset(p, 0, bytes), "thrust"); /* padding counts as written */
    }
    scratch(const scratch &) = delete;
    ~scratch()
    {
        cudaFree(p);
    }
};

/* Runs `call` as a kernel, and returns what it returns, through the device's memory. */
template <class Call>
inline auto run(const char *name, cudaStream_t stream, Call call)
{
    typedef decltype(call()) result;
    if constexpr (std::is_void<result>::value) {
        if (cpu_in_kernel())
            return call();
        expect(cpu_launch_call(cpu_config(1, 1, 0, stream), name, nullptr, call), name);
        expect(cudaStreamSynchronize(stream), name);
    } else {
        if (cpu_in_kernel())
            return call();
        const scratch place(sizeof(result));
        result *to = static_cast<result *>(place.p);
        expect(cpu_launch_call(cpu_config(1, 1, 0, stream), name, nullptr,
                               [=]() mutable {
                                   const result r = call();
                                   new (to) result(r);
                               }),
               name);
        expect(cudaStreamSynchronize(stream), name);
        alignas(result) char bytes[sizeof(result)];
        expect(cudaMemcpy(bytes, to, sizeof bytes, cudaMemcpyDeviceToHost), name);
        return result(*reinterpret_cast<result *>(bytes));
    }
}

/* Functions of the sequential system; all else is made of these. A call with the policy
 * sequential::tag is one of that system, found by the type of its first argument. */
#define CPU_THRUST(name)                                                                           \
    template <class Derived, class... A>                                                           \
    inline auto name(execution_policy<Derived> &exec, A... a)                                      \
    {                                                                                              \
        return run("thrust::" #name, stream_of(thrust::detail::derived_cast(exec)),                \
                   [=]() mutable {                                                                 \
                       sequential::tag one;                                                        \
                       return name(one, a...);                                                     \
                   });                                                                             \
    }
CPU_THRUST(adjacent_difference)
CPU_THRUST(binary_search)
CPU_THRUST(copy)
CPU_THRUST(copy_if)
CPU_THRUST(copy_n)
CPU_THRUST(exclusive_scan)
CPU_THRUST(exclusive_scan_by_key)
CPU_THRUST(find_if)
CPU_THRUST(for_each)
CPU_THRUST(for_each_n)
CPU_THRUST(inclusive_scan)
CPU_THRUST(inclusive_scan_by_key)
CPU_THRUST(lower_bound)
CPU_THRUST(max_element)
CPU_THRUST(merge)
CPU_THRUST(merge_by_key)
CPU_THRUST(min_element)
CPU_THRUST(minmax_element)
CPU_THRUST(partition)
CPU_THRUST(partition_copy)
CPU_THRUST(reduce)
CPU_THRUST(reduce_by_key)
CPU_THRUST(remove_copy_if)
CPU_THRUST(remove_if)
CPU_THRUST(set_difference)
CPU_THRUST(set_intersection)
CPU_THRUST(set_symmetric_difference)
CPU_THRUST(set_union)
CPU_THRUST(stable_partition)
CPU_THRUST(stable_partition_copy)
CPU_THRUST(stable_sort)
CPU_THRUST(stable_sort_by_key)
CPU_THRUST(unique)
CPU_THRUST(unique_by_key)
CPU_THRUST(unique_by_key_copy)
CPU_THRUST(unique_copy)
CPU_THRUST(unique_count)
CPU_THRUST(upper_bound)
#undef CPU_THRUST

template <class Derived>
inline void *malloc(execution_policy<Derived> &, std::size_t bytes)
{
    void *p = nullptr;
    if (cpu_in_kernel())
        p = std::malloc(bytes);
    else
        cudaMalloc(&p, bytes);
    return p;
}
template <class Derived, class Pointer>
inline void free(execution_policy<Derived> &, Pointer p)
{
    void *raw = const_cast<void *>(static_cast<const void *>(thrust::raw_pointer_cast(p)));
    if (cpu_in_kernel())
        std::free(raw);
    else
        cudaFree(raw);
}

/* Single elements, which the host reads and writes through references: copies of the runtime. */
template <class T, class From>
inline void move_one(T *to, const From *from)
{
    if (cpu_in_kernel()) {
        *to = *from;
    } else if constexpr (std::is_same<T, From>::value) {
        expect(cudaMemcpy(static_cast<void *>(to), from, sizeof(T), cudaMemcpyDefault), "thrust");
    } else {
        alignas(From) char bytes[sizeof(From)];
        expect(cudaMemcpy(bytes, from, sizeof bytes, cudaMemcpyDefault), "thrust");
        const T v(*reinterpret_cast<From *>(bytes));
        expect(cudaMemcpy(static_cast<void *>(to), &v, sizeof(T), cudaMemcpyDefault), "thrust");
    }
}
template <class Derived, class Pointer>
inline auto get_value(execution_policy<Derived> &, Pointer p)
{
    typedef thrust::detail::it_value_t<Pointer> T;
    const T *from = thrust::raw_pointer_cast(p);
    if (cpu_in_kernel())
        return T(*from);
    alignas(T) char bytes[sizeof(T)];
    expect(cudaMemcpy(bytes, from, sizeof bytes, cudaMemcpyDefault), "thrust");
    return T(*reinterpret_cast<T *>(bytes));
}
template <class Derived, class To, class From>
inline void assign_value(execution_policy<Derived> &, To to, From from)
{
    move_one(thrust::raw_pointer_cast(to), thrust::raw_pointer_cast(from));
}
template <class Derived, class A, class B>
inline void iter_swap(execution_policy<Derived> &exec, A a, B b)
{
    const auto x = get_value(exec, a), y = get_value(exec, b);
    move_one(thrust::raw_pointer_cast(a), &y);
    move_one(thrust::raw_pointer_cast(b), &x);
}

/* Copies between the host's system and the device's. */
template <bool to_device>
struct between : sequential::execution_policy<between<to_device>> {
};
template <class D, class H>
inline between<false> select_system(execution_policy<D> &, cpp::detail::execution_policy<H> &)
{
    return {};
}
template <class H, class D>
inline between<true> select_system(cpp::detail::execution_policy<H> &, execution_policy<D> &)
{
    return {};
}
template <bool to_device, class To, class From>
inline void assign_value(between<to_device> &, To to, From from)
{
    move_one(thrust::raw_pointer_cast(to), thrust::raw_pointer_cast(from));
}
template <class Iterator>
inline auto *address_of(Iterator at)
{
    return thrust::raw_pointer_cast(&*at);
}
/* A range that does not lie in one piece passes through scratch memory that does. */
template <bool to_device, class From, class N, class To>
inline To copy_n(between<to_device> &, From from, N n, To to)
{
    typedef thrust::detail::it_value_t<From> T;
    typedef thrust::detail::it_value_t<To> U;
    constexpr bool straight = thrust::is_contiguous_iterator_v<From>;
    constexpr bool onward = thrust::is_contiguous_iterator_v<To> && std::is_same<T, U>::value;
    if (n <= 0)
        return to;
    const size_t bytes = (size_t)n * sizeof(T);
    const scratch device(straight && onward ? 0 : bytes);
    T *host = nullptr, *middle = static_cast<T *>(device.p);
    if (!(straight && onward) && !(host = static_cast<T *>(std::malloc(bytes))))
        throw std::bad_alloc();
    const T *source;
    if constexpr (straight) {
        source = address_of(from);
    } else if (to_device) {
        for (N i = 0; i < n; i++)
            new (host + i) T(from[i]);
        source = host;
    } else {
        run("thrust::copy", nullptr, [=]() mutable {
            for (N i = 0; i < n; i++)
                middle[i] = from[i];
        });
        source = middle;
    }
    if constexpr (onward) {
        expect(cudaMemcpy(static_cast<void *>(address_of(to)), source, bytes, cudaMemcpyDefault),
               "thrust::copy");
    } else if (to_device) {
        expect(cudaMemcpy(static_cast<void *>(middle), source, bytes, cudaMemcpyDefault),
               "thrust::copy");
        run("thrust::copy", nullptr, [=]() mutable {
            for (N i = 0; i < n; i++)
                to[i] = middle[i];
        });
    } else {
        if (source != host)
            expect(cudaMemcpy(static_cast<void *>(host), source, bytes, cudaMemcpyDefault),
                   "thrust::copy");
        To at = to;
        for (N i = 0; i < n; i++, ++at)
            *at = host[i];
        std::free(host);
        return at;
    }
    std::free(host);
    return to + n;
}
template <bool to_device, class From, class To>
inline To copy(between<to_device> &b, From from, From end, To to)
{
    return copy_n(b, from, end - from, to);
}
} // namespace detail
using detail::par_t;
_CCCL_GLOBAL_CONSTANT detail::par_t par;
_CCCL_GLOBAL_CONSTANT detail::par_t par_nosync;
} // namespace cuda
} // namespace system
namespace cuda
{
using thrust::system::cuda::par;
using thrust::system::cuda::par_nosync;
} // namespace cuda
THRUST_NAMESPACE_END
