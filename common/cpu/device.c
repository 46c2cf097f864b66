/* The device as the runtime API describes it. */
#include "runtime.h"

static int arch = 900; /* what a kernel may ask for here is what compute capability 9.0 has */

int cpu_compiled_for(int number)
{
    return arch = number;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count)
        return result(cudaErrorInvalidValue);
    *count = 1;
    return result(cudaSuccess);
}

cudaError_t cudaGetDevice(int *device)
{
    if (!device)
        return result(cudaErrorInvalidValue);
    *device = 0;
    return result(cudaSuccess);
}

cudaError_t cudaSetDevice(int device)
{
    return result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    if (device != 0 || !prop)
        return result(prop ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    size_t available, total;
    cudaError_t error = cudaMemGetInfo(&available, &total);
    *prop = (struct cudaDeviceProp){
        .name = "CPU backend",
        .totalGlobalMem = total,
        .sharedMemPerBlock = SHARED_DEFAULT,
        .sharedMemPerBlockOptin = SHARED_OPTIN,
        .sharedMemPerMultiprocessor = SHARED_OPTIN + 1024,
        .reservedSharedMemPerBlock = 1024,
        .totalConstMem = 65536,
        .regsPerBlock = 65536,
        .regsPerMultiprocessor = 65536,
        .warpSize = WARP,
        .maxThreadsPerBlock = MAX_THREADS,
        .maxThreadsDim = {MAX_THREADS, MAX_THREADS, 64},
        .maxGridSize = {0x7fffffff, 65535, 65535},
        .major = arch / 100,
        .minor = arch % 100 / 10,
        .multiProcessorCount = worker_count(),
        .maxThreadsPerMultiProcessor = 2048,
        .maxBlocksPerMultiProcessor = 32,
        .l2CacheSize = 32 << 20,
        .memoryBusWidth = 64,
        .integrated = 1,
        .canMapHostMemory = 1,
        .unifiedAddressing = 1,
        .managedMemory = 1,
        .cooperativeLaunch = 1,
    };
    return error;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    struct cudaDeviceProp p;
    if (!value || device != 0)
        return result(value ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
        *value = p.maxThreadsPerBlock;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        *value = (int)p.sharedMemPerBlock;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = (int)p.sharedMemPerBlockOptin;
        break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = (int)p.sharedMemPerMultiprocessor;
        break;
    case cudaDevAttrWarpSize:
        *value = p.warpSize;
        break;
    case cudaDevAttrMultiProcessorCount:
        *value = p.multiProcessorCount;
        break;
    case cudaDevAttrGlobalMemoryBusWidth:
        *value = p.memoryBusWidth;
        break;
    case cudaDevAttrL2CacheSize:
        *value = p.l2CacheSize;
        break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = p.maxThreadsPerMultiProcessor;
        break;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
        *value = p.regsPerBlock;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = p.major;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = p.minor;
        break;
    case cudaDevAttrManagedMemory:
    case cudaDevAttrCooperativeLaunch:
        *value = 1;
        break;
    case cudaDevAttrClockRate: /* no clock that means anything */
    case cudaDevAttrMemoryClockRate:
        *value = 0;
        break;
    default:
        return result(cudaErrorInvalidValue);
    }
    return error;
}

cudaError_t cudaDeviceSynchronize(void)
{
    TRACE_CHECK(grids_done(), (void)0);
    TRACE_CHECK(host_waits_all(), (void)0);
    return result(stream_check_unsafe(1));
}

cudaError_t cudaDeviceReset(void)
{
    TRACE_CHECK(host_waits_all(), (void)0);
    forget_errors();
    memory_reset();
    return cudaSuccess;
}

static size_t limits[] = {FIBER_STACK / 2, 1 << 20, 8 << 20};

/* What a kernel may take of the stack, of memory and of printf's buffer is more than a GPU gives.
 */
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    if ((size_t)limit >= sizeof limits / sizeof *limits)
        return result(cudaErrorInvalidValue);
    limits[limit] = value;
    return result(cudaSuccess);
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    if (!value || (size_t)limit >= sizeof limits / sizeof *limits)
        return result(cudaErrorInvalidValue);
    *value = limits[limit];
    return result(cudaSuccess);
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    (void)config;
    return result(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    return cudaRuntimeGetVersion(version);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return result(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return result(cudaSuccess);
}
