/* The device as the runtime API describes it, and errors. */
#include "runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Atomic cudaError_t sticky;
static __thread cudaError_t last;

void complain(const char *format, ...)
{
    char line[2600];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(line, sizeof line - 1, format, list);
    va_end(list);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof line - 1 ? (size_t)n : sizeof line - 2;
    line[length++] = '\n';
    fflush(stdout); /* what the kernel printed comes first */
    if (write(2, line, length) < 0)
        return; /* nobody to tell */
}

cudaError_t sticky_error(void)
{
    return sticky;
}

void set_sticky_error(cudaError_t error)
{
    sticky = error;
}

cudaError_t result(cudaError_t error)
{
    if (error == cudaSuccess)
        error = sticky;
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last = error;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return sticky != cudaSuccess ? sticky : last;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = cudaPeekAtLastError();
    last = cudaSuccess;
    return error;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
#define CPU_ENTRY(name, number, text) {name, #name, text},
    CPU_ERRORS(CPU_ENTRY)
#undef CPU_ENTRY
};

const char *cudaGetErrorName(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error)
            return errors[i].name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error)
            return errors[i].text;
    return "unrecognized error code";
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
        .major = 9, /* what a kernel may ask for here is what compute capability 9.0 has */
        .minor = 0,
        .multiProcessorCount = worker_count(),
        .maxThreadsPerMultiProcessor = 2048,
        .maxBlocksPerMultiProcessor = 32,
        .l2CacheSize = 32 << 20,
        .memoryBusWidth = 64,
        .integrated = 1,
        .canMapHostMemory = 1,
        .unifiedAddressing = 1,
        .managedMemory = 1,
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
        *value = p.regsPerBlock;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = p.major;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = p.minor;
        break;
    case cudaDevAttrManagedMemory:
        *value = 1;
        break;
    case cudaDevAttrClockRate: /* no clock that means anything */
    case cudaDevAttrMemoryClockRate:
    case cudaDevAttrCooperativeLaunch:
        *value = 0;
        break;
    default:
        return result(cudaErrorInvalidValue);
    }
    return error;
}

cudaError_t cudaDeviceSynchronize(void)
{
    return result(stream_check_unsafe(1));
}

cudaError_t cudaDeviceReset(void)
{
    sticky = last = cudaSuccess;
    memory_reset();
    return cudaSuccess;
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
