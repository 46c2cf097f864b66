/* The device as the runtime API describes it. */
#include "api/api.h"

#include <string.h>

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
    const struct capability c = capability();
    size_t available, total;
    cudaError_t error = cudaMemGetInfo(&available, &total);
    *prop = (struct cudaDeviceProp){
        .name = "CPU backend",
        .totalGlobalMem = total,
        .sharedMemPerBlock = SHARED_DEFAULT,
        .sharedMemPerBlockOptin = (size_t)c.shared_a_block,
        .sharedMemPerMultiprocessor = (size_t)c.shared_an_sm,
        .reservedSharedMemPerBlock = (size_t)(c.shared_an_sm - c.shared_a_block),
        .totalConstMem = 65536,
        .regsPerBlock = 65536,
        .regsPerMultiprocessor = 65536,
        .warpSize = WARP,
        .maxThreadsPerBlock = MAX_THREADS,
        .maxThreadsDim = {MAX_THREADS, MAX_THREADS, 64},
        .maxGridSize = {0x7fffffff, 65535, 65535},
        .major = c.arch / 100,
        .minor = c.arch % 100 / 10,
        .multiProcessorCount = worker_count(),
        .maxThreadsPerMultiProcessor = c.threads_an_sm,
        .maxBlocksPerMultiProcessor = c.blocks_an_sm,
        .l2CacheSize = 32 << 20,
        .memoryBusWidth = 64,
        .integrated = 1,
        .canMapHostMemory = 1,
        .unifiedAddressing = 1,
        .managedMemory = 1,
        .memPitch = 0x7fffffff,
        .textureAlignment = 512,
        .texturePitchAlignment = 32,
        .surfaceAlignment = 512,
        .maxTexture1D = 131072,
        .maxTexture1DLinear = 1 << 28,
        .maxTexture2D = {131072, 65536},
        .maxTexture2DLinear = {131072, 65000, 2097120},
        .maxTexture2DGather = {32768, 32768},
        .maxTexture3D = {16384, 16384, 16384},
        .maxTexture3DAlt = {8192, 8192, 32768},
        .maxTextureCubemap = 32768,
        .maxTexture1DLayered = {32768, 2048},
        .maxTexture2DLayered = {32768, 32768, 2048},
        .maxTextureCubemapLayered = {32768, 2046},
        .maxSurface1D = 32768,
        .maxSurface2D = {131072, 65536},
        .maxSurface3D = {16384, 16384, 16384},
        .maxSurface1DLayered = {32768, 2048},
        .maxSurface2DLayered = {32768, 32768, 2048},
        .maxSurfaceCubemap = 32768,
        .maxSurfaceCubemapLayered = {32768, 2046},
        .concurrentKernels = 1,
        .asyncEngineCount = 2,
        .deviceOverlap = 1,
        .streamPrioritiesSupported = 1,
        .hostNativeAtomicSupported = 1,
        .concurrentManagedAccess = 1,
        .directManagedMemAccessFromHost = 1,
        .computePreemptionSupported = 1,
        .canUseHostPointerForRegisteredMem = 1,
        .hostRegisterSupported = 1,
        .memoryPoolsSupported = 1,
        .singleToDoublePrecisionPerfRatio = 2,
        .cooperativeLaunch = 1,
    };
    return error;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    struct cudaDeviceProp properties, *p = &properties;
    if (!value || device != 0)
        return result(value ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    cudaError_t error = cudaGetDeviceProperties(p, device);
#define CPU_ROW(name, driver_name, number, v) {cudaDevAttr##name, (int)(v)},
    const struct {
        enum cudaDeviceAttr attribute;
        int value;
    } rows[] = {CPU_ATTRIBUTES(CPU_ROW)};
#undef CPU_ROW
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].attribute == attribute) {
            *value = rows[i].value;
            return error;
        }
    return result(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceSynchronize(void)
{
    TRACE_CHECK(grids_done());
    TRACE_CHECK(host_waits_all());
    return result(stream_check_unsafe(1));
}

static void (*forgets[4])(void);
static int n_forgets;

void device_at_reset(void (*forget)(void))
{
    forgets[n_forgets++] = forget;
}

cudaError_t cudaDeviceReset(void)
{
    TRACE_CHECK(host_waits_all());
    forget_errors();
    for (int i = 0; i < n_forgets; i++)
        forgets[i]();
    memory_reset();
    return cudaSuccess;
}

static unsigned device_flags = cudaDeviceMapHost;

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    if (flags & ~(unsigned)cudaDeviceMask)
        return result(cudaErrorInvalidValue);
    device_flags = flags | cudaDeviceMapHost;
    return result(cudaSuccess);
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    if (!flags)
        return result(cudaErrorInvalidValue);
    *flags = device_flags;
    return result(cudaSuccess);
}

cudaError_t cudaInitDevice(int device, unsigned deviceFlags, unsigned flags)
{
    return cudaSetDevice(device);
}

cudaError_t cudaSetValidDevices(int *devices, int count)
{
    for (int i = 0; i < count; i++)
        if (!devices || devices[i] != 0)
            return result(devices ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    return result(count < 0 ? cudaErrorInvalidValue : cudaSuccess);
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    if (!device || !prop)
        return result(cudaErrorInvalidValue);
    *device = 0;
    return result(cudaSuccess);
}

static const char bus_id[] = "0000:00:00.0";

cudaError_t cudaDeviceGetPCIBusId(char *id, int size, int device)
{
    if (device != 0)
        return result(cudaErrorInvalidDevice);
    if (!id || size < (int)sizeof bus_id)
        return result(cudaErrorInvalidValue);
    memcpy(id, bus_id, sizeof bus_id);
    return result(cudaSuccess);
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    if (!device || !id || strcmp(id, bus_id) != 0)
        return result(device && id ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    *device = 0;
    return result(cudaSuccess);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (!can || device != 0 || peer != 0)
        return result(can ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    *can = 0;
    return result(cudaSuccess);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    return result(flags       ? cudaErrorInvalidValue
                  : peer == 0 ? cudaErrorPeerAccessUnsupported
                              : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    return result(peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
                                      int to)
{
    return result(value ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
}

static size_t limits[] = {FIBER_STACK / 2, 1 << 20, 8 << 20, 2, 2048, 64, 0};

/* A GPU gives a kernel less stack, heap and printf buffer than this CPU, so any limit is
 * granted. */
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    if ((size_t)limit >= sizeof limits / sizeof *limits)
        return result(cudaErrorUnsupportedLimit);
    limits[limit] = value;
    return result(cudaSuccess);
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    if (!value || (size_t)limit >= sizeof limits / sizeof *limits)
        return result(value ? cudaErrorUnsupportedLimit : cudaErrorInvalidValue);
    *value = limits[limit];
    return result(cudaSuccess);
}

static enum cudaFuncCache cache_config;

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    cache_config = config;
    return result(cudaSuccess);
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    if (!config)
        return result(cudaErrorInvalidValue);
    *config = cache_config;
    return result(cudaSuccess);
}

/* As on all GPUs since Maxwell, banks are four bytes wide whatever the setting. */
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    return result(cudaSuccess);
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    if (!config)
        return result(cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
    return result(cudaSuccess);
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
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
