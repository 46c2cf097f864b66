/* Managed memory: host and kernels share it anyway, so advice and prefetches are checked and
 * have no effect. */
#include "api/api.h"

cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned flags)
{
    TRACE_CHECK(site(__builtin_return_address(0)));
    return memory_allocate(p, bytes, cudaMemoryTypeManaged);
}

/* An error unless [p, p+bytes) is managed memory and the location exists. */
static cudaError_t check_managed(const void *p, size_t bytes, struct cudaMemLocation location)
{
    const struct memory_range r = memory_at(p);
    const int fits = r.p && r.type == cudaMemoryTypeManaged &&
                     bytes <= (size_t)(r.p + r.bytes - (const char *)p);
    if (location.type == cudaMemLocationTypeDevice && location.id != 0)
        return cudaErrorInvalidDevice;
    return fits && bytes ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaMemPrefetchAsync(const void *p, size_t bytes, struct cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream)
{
    return result(flags ? cudaErrorInvalidValue : check_managed(p, bytes, location));
}

cudaError_t cudaMemAdvise(const void *p, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
        return result(cudaErrorInvalidValue);
    if (advice <= cudaMemAdviseUnsetReadMostly || advice == cudaMemAdviseUnsetPreferredLocation)
        location = (struct cudaMemLocation){cudaMemLocationTypeHost,
                                            0}; /* such advice ignores its location */
    return result(check_managed(p, bytes, location));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *p, size_t bytes, unsigned flags)
{
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
        return result(cudaErrorInvalidValue);
    if (!stream && flags == cudaMemAttachSingle)
        return result(cudaErrorInvalidValue); /* the default stream is not a single stream */
    return result(check_managed(p, 1, (struct cudaMemLocation){cudaMemLocationTypeHost, 0}));
}
