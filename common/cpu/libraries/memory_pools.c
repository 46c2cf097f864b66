/* Memory pools. There is one, the device's. */
#include "api/api.h"

#include <string.h>

/* The device's pool. It keeps no freed memory, whatever its threshold. */
static struct CUmemPoolHandle_st {
    int reuse[3];
    uint64_t threshold, used_high;
} the_pool = {{1, 1, 1}, 0, 0};

static void note_pool(void)
{
    const uint64_t now = memory_used();
    if (now > the_pool.used_high)
        the_pool.used_high = now;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    if (!pool || device != 0)
        return result(pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    *pool = &the_pool;
    return result(cudaSuccess);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    return cudaDeviceGetDefaultMemPool(pool, device);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    if (device != 0)
        return result(cudaErrorInvalidDevice);
    return result(pool == &the_pool ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    if (pool != &the_pool || !value)
        return result(cudaErrorInvalidValue);
    uint64_t number;
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        memcpy(&the_pool.reuse[attribute - 1], value, sizeof(int));
        return result(cudaSuccess);
    case cudaMemPoolAttrReleaseThreshold:
        memcpy(&the_pool.threshold, value, sizeof the_pool.threshold);
        return result(cudaSuccess);
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
        memcpy(&number, value, sizeof number);
        the_pool.used_high = 0; /* to the current value: no other number may be set */
        return result(number ? cudaErrorInvalidValue : cudaSuccess);
    default:
        return result(cudaErrorInvalidValue);
    }
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    if (pool != &the_pool || !value || (int)attribute < 1 || attribute > cudaMemPoolAttrUsedMemHigh)
        return result(cudaErrorInvalidValue);
    note_pool();
    const uint64_t current = memory_used(), high = the_pool.used_high;
    const int reserved = attribute == cudaMemPoolAttrReservedMemCurrent;
    if (attribute < cudaMemPoolAttrReleaseThreshold)
        memcpy(value, &the_pool.reuse[attribute - 1], sizeof(int));
    else if (attribute == cudaMemPoolAttrReleaseThreshold)
        memcpy(value, &the_pool.threshold, sizeof the_pool.threshold);
    else
        memcpy(value, reserved || attribute == cudaMemPoolAttrUsedMemCurrent ? &current : &high,
               sizeof current);
    return result(cudaSuccess);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
    return result(pool == &the_pool ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMallocFromPoolAsync(void **p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    if (pool != &the_pool)
        return result(cudaErrorInvalidValue);
    return memory_allocate_async(p, bytes, stream, __builtin_return_address(0));
}
