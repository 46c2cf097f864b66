/* Where the vectors of Thrust's device system lie: in the place of mr::new_delete_resource, with
 * which the host's vectors are made. Not for programs. */
#pragma once

#include <cuda_runtime.h>

#include <thrust/mr/memory_resource.h>

#include <new>

THRUST_NAMESPACE_BEGIN
namespace mr
{
template <bool managed>
class cpu_resource final : public memory_resource<>
{
  public:
    void *do_allocate(std::size_t bytes, std::size_t) override
    {
        void *p = nullptr;
        if ((managed ? cudaMallocManaged(&p, bytes) : cudaMalloc(&p, bytes)) != cudaSuccess)
            throw std::bad_alloc();
        return p;
    }
    void do_deallocate(void *p, std::size_t, std::size_t) override
    {
        cudaFree(p);
    }
};
} // namespace mr
THRUST_NAMESPACE_END
