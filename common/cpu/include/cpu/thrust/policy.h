/* The tag of Thrust's device system, and what its policies derive from. Not for programs. */
#pragma once

#include <cuda_runtime.h>

#include <thrust/system/detail/sequential/execution_policy.h>

/* The toolkit's device system includes these, and programs rely on that. */
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <tuple>

THRUST_NAMESPACE_BEGIN
namespace system
{
namespace cuda
{
namespace detail
{
namespace sequential = thrust::system::detail::sequential;

struct tag;
template <class>
struct execution_policy;
template <>
struct execution_policy<tag> : sequential::execution_policy<tag> {
};
struct tag : execution_policy<tag> {
};
template <class Derived>
struct execution_policy : sequential::execution_policy<Derived> {
    typedef tag tag_type;
    operator tag() const
    {
        return tag();
    }
};
} // namespace detail
using detail::execution_policy;
using detail::tag;
} // namespace cuda
} // namespace system
namespace cuda
{
using thrust::system::cuda::execution_policy;
using thrust::system::cuda::tag;
} // namespace cuda
THRUST_NAMESPACE_END
