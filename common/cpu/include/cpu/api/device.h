/* The properties of a device, with those that only CUDA 12 has, since programs for CUDA 12 print
 * them; and its attributes. A feature that the device lacks is 0. Part of cuda_runtime_api.h. */
#pragma once

/* Name, number, and the value in terms of the properties p. */
#define CPU_ATTRIBUTES(X)                                                                          \
    X(cudaDevAttrMaxThreadsPerBlock, 1, p->maxThreadsPerBlock)                                     \
    X(cudaDevAttrMaxBlockDimX, 2, p->maxThreadsDim[0])                                             \
    X(cudaDevAttrMaxBlockDimY, 3, p->maxThreadsDim[1])                                             \
    X(cudaDevAttrMaxBlockDimZ, 4, p->maxThreadsDim[2])                                             \
    X(cudaDevAttrMaxGridDimX, 5, p->maxGridSize[0])                                                \
    X(cudaDevAttrMaxGridDimY, 6, p->maxGridSize[1])                                                \
    X(cudaDevAttrMaxGridDimZ, 7, p->maxGridSize[2])                                                \
    X(cudaDevAttrMaxSharedMemoryPerBlock, 8, p->sharedMemPerBlock)                                 \
    X(cudaDevAttrTotalConstantMemory, 9, p->totalConstMem)                                         \
    X(cudaDevAttrWarpSize, 10, p->warpSize)                                                        \
    X(cudaDevAttrMaxPitch, 11, p->memPitch)                                                        \
    X(cudaDevAttrMaxRegistersPerBlock, 12, p->regsPerBlock)                                        \
    X(cudaDevAttrClockRate, 13, p->clockRate)                                                      \
    X(cudaDevAttrTextureAlignment, 14, p->textureAlignment)                                        \
    X(cudaDevAttrGpuOverlap, 15, p->deviceOverlap)                                                 \
    X(cudaDevAttrMultiProcessorCount, 16, p->multiProcessorCount)                                  \
    X(cudaDevAttrKernelExecTimeout, 17, p->kernelExecTimeoutEnabled)                               \
    X(cudaDevAttrIntegrated, 18, p->integrated)                                                    \
    X(cudaDevAttrCanMapHostMemory, 19, p->canMapHostMemory)                                        \
    X(cudaDevAttrComputeMode, 20, p->computeMode)                                                  \
    X(cudaDevAttrMaxTexture1DWidth, 21, p->maxTexture1D)                                           \
    X(cudaDevAttrMaxTexture2DWidth, 22, p->maxTexture2D[0])                                        \
    X(cudaDevAttrMaxTexture2DHeight, 23, p->maxTexture2D[1])                                       \
    X(cudaDevAttrMaxTexture3DWidth, 24, p->maxTexture3D[0])                                        \
    X(cudaDevAttrMaxTexture3DHeight, 25, p->maxTexture3D[1])                                       \
    X(cudaDevAttrMaxTexture3DDepth, 26, p->maxTexture3D[2])                                        \
    X(cudaDevAttrMaxTexture2DLayeredWidth, 27, p->maxTexture2DLayered[0])                          \
    X(cudaDevAttrMaxTexture2DLayeredHeight, 28, p->maxTexture2DLayered[1])                         \
    X(cudaDevAttrMaxTexture2DLayeredLayers, 29, p->maxTexture2DLayered[2])                         \
    X(cudaDevAttrSurfaceAlignment, 30, p->surfaceAlignment)                                        \
    X(cudaDevAttrConcurrentKernels, 31, p->concurrentKernels)                                      \
    X(cudaDevAttrEccEnabled, 32, p->ECCEnabled)                                                    \
    X(cudaDevAttrPciBusId, 33, p->pciBusID)                                                        \
    X(cudaDevAttrPciDeviceId, 34, p->pciDeviceID)                                                  \
    X(cudaDevAttrTccDriver, 35, p->tccDriver)                                                      \
    X(cudaDevAttrMemoryClockRate, 36, p->memoryClockRate)                                          \
    X(cudaDevAttrGlobalMemoryBusWidth, 37, p->memoryBusWidth)                                      \
    X(cudaDevAttrL2CacheSize, 38, p->l2CacheSize)                                                  \
    X(cudaDevAttrMaxThreadsPerMultiProcessor, 39, p->maxThreadsPerMultiProcessor)                  \
    X(cudaDevAttrAsyncEngineCount, 40, p->asyncEngineCount)                                        \
    X(cudaDevAttrUnifiedAddressing, 41, p->unifiedAddressing)                                      \
    X(cudaDevAttrMaxTexture1DLayeredWidth, 42, p->maxTexture1DLayered[0])                          \
    X(cudaDevAttrMaxTexture1DLayeredLayers, 43, p->maxTexture1DLayered[1])                         \
    X(cudaDevAttrMaxTexture2DGatherWidth, 45, p->maxTexture2DGather[0])                            \
    X(cudaDevAttrMaxTexture2DGatherHeight, 46, p->maxTexture2DGather[1])                           \
    X(cudaDevAttrMaxTexture3DWidthAlt, 47, p->maxTexture3DAlt[0])                                  \
    X(cudaDevAttrMaxTexture3DHeightAlt, 48, p->maxTexture3DAlt[1])                                 \
    X(cudaDevAttrMaxTexture3DDepthAlt, 49, p->maxTexture3DAlt[2])                                  \
    X(cudaDevAttrPciDomainId, 50, p->pciDomainID)                                                  \
    X(cudaDevAttrTexturePitchAlignment, 51, p->texturePitchAlignment)                              \
    X(cudaDevAttrMaxTextureCubemapWidth, 52, p->maxTextureCubemap)                                 \
    X(cudaDevAttrMaxTextureCubemapLayeredWidth, 53, p->maxTextureCubemapLayered[0])                \
    X(cudaDevAttrMaxTextureCubemapLayeredLayers, 54, p->maxTextureCubemapLayered[1])               \
    X(cudaDevAttrMaxSurface1DWidth, 55, p->maxSurface1D)                                           \
    X(cudaDevAttrMaxSurface2DWidth, 56, p->maxSurface2D[0])                                        \
    X(cudaDevAttrMaxSurface2DHeight, 57, p->maxSurface2D[1])                                       \
    X(cudaDevAttrMaxSurface3DWidth, 58, p->maxSurface3D[0])                                        \
    X(cudaDevAttrMaxSurface3DHeight, 59, p->maxSurface3D[1])                                       \
    X(cudaDevAttrMaxSurface3DDepth, 60, p->maxSurface3D[2])                                        \
    X(cudaDevAttrMaxSurface1DLayeredWidth, 61, p->maxSurface1DLayered[0])                          \
    X(cudaDevAttrMaxSurface1DLayeredLayers, 62, p->maxSurface1DLayered[1])                         \
    X(cudaDevAttrMaxSurface2DLayeredWidth, 63, p->maxSurface2DLayered[0])                          \
    X(cudaDevAttrMaxSurface2DLayeredHeight, 64, p->maxSurface2DLayered[1])                         \
    X(cudaDevAttrMaxSurface2DLayeredLayers, 65, p->maxSurface2DLayered[2])                         \
    X(cudaDevAttrMaxSurfaceCubemapWidth, 66, p->maxSurfaceCubemap)                                 \
    X(cudaDevAttrMaxSurfaceCubemapLayeredWidth, 67, p->maxSurfaceCubemapLayered[0])                \
    X(cudaDevAttrMaxSurfaceCubemapLayeredLayers, 68, p->maxSurfaceCubemapLayered[1])               \
    X(cudaDevAttrMaxTexture1DLinearWidth, 69, p->maxTexture1DLinear)                               \
    X(cudaDevAttrMaxTexture2DLinearWidth, 70, p->maxTexture2DLinear[0])                            \
    X(cudaDevAttrMaxTexture2DLinearHeight, 71, p->maxTexture2DLinear[1])                           \
    X(cudaDevAttrMaxTexture2DLinearPitch, 72, p->maxTexture2DLinear[2])                            \
    X(cudaDevAttrMaxTexture2DMipmappedWidth, 73, 0)                                                \
    X(cudaDevAttrMaxTexture2DMipmappedHeight, 74, 0)                                               \
    X(cudaDevAttrComputeCapabilityMajor, 75, p->major)                                             \
    X(cudaDevAttrComputeCapabilityMinor, 76, p->minor)                                             \
    X(cudaDevAttrMaxTexture1DMipmappedWidth, 77, 0)                                                \
    X(cudaDevAttrStreamPrioritiesSupported, 78, p->streamPrioritiesSupported)                      \
    X(cudaDevAttrGlobalL1CacheSupported, 79, p->globalL1CacheSupported)                            \
    X(cudaDevAttrLocalL1CacheSupported, 80, p->localL1CacheSupported)                              \
    X(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81, p->sharedMemPerMultiprocessor)              \
    X(cudaDevAttrMaxRegistersPerMultiprocessor, 82, p->regsPerMultiprocessor)                      \
    X(cudaDevAttrManagedMemory, 83, p->managedMemory)                                              \
    X(cudaDevAttrIsMultiGpuBoard, 84, p->isMultiGpuBoard)                                          \
    X(cudaDevAttrMultiGpuBoardGroupID, 85, p->multiGpuBoardGroupID)                                \
    X(cudaDevAttrHostNativeAtomicSupported, 86, p->hostNativeAtomicSupported)                      \
    X(cudaDevAttrSingleToDoublePrecisionPerfRatio, 87, p->singleToDoublePrecisionPerfRatio)        \
    X(cudaDevAttrPageableMemoryAccess, 88, p->pageableMemoryAccess)                                \
    X(cudaDevAttrConcurrentManagedAccess, 89, p->concurrentManagedAccess)                          \
    X(cudaDevAttrComputePreemptionSupported, 90, p->computePreemptionSupported)                    \
    X(cudaDevAttrCanUseHostPointerForRegisteredMem, 91, p->canUseHostPointerForRegisteredMem)      \
    X(cudaDevAttrCooperativeLaunch, 95, p->cooperativeLaunch)                                      \
    X(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, p->sharedMemPerBlockOptin)                      \
    X(cudaDevAttrCanFlushRemoteWrites, 98, 0)                                                      \
    X(cudaDevAttrHostRegisterSupported, 99, p->hostRegisterSupported)                              \
    X(cudaDevAttrPageableMemoryAccessUsesHostPageTables, 100,                                      \
      p->pageableMemoryAccessUsesHostPageTables)                                                   \
    X(cudaDevAttrDirectManagedMemAccessFromHost, 101, p->directManagedMemAccessFromHost)           \
    X(cudaDevAttrMaxBlocksPerMultiprocessor, 106, p->maxBlocksPerMultiProcessor)                   \
    X(cudaDevAttrMaxPersistingL2CacheSize, 108, p->persistingL2CacheMaxSize)                       \
    X(cudaDevAttrMaxAccessPolicyWindowSize, 109, p->accessPolicyMaxWindowSize)                     \
    X(cudaDevAttrReservedSharedMemoryPerBlock, 111, p->reservedSharedMemPerBlock)                  \
    X(cudaDevAttrSparseCudaArraySupported, 112, p->sparseCudaArraySupported)                       \
    X(cudaDevAttrHostRegisterReadOnlySupported, 113, p->hostRegisterReadOnlySupported)             \
    X(cudaDevAttrTimelineSemaphoreInteropSupported, 114, p->timelineSemaphoreInteropSupported)     \
    X(cudaDevAttrMemoryPoolsSupported, 115, p->memoryPoolsSupported)                               \
    X(cudaDevAttrGPUDirectRDMASupported, 116, p->gpuDirectRDMASupported)                           \
    X(cudaDevAttrGPUDirectRDMAFlushWritesOptions, 117, 0)                                          \
    X(cudaDevAttrGPUDirectRDMAWritesOrdering, 118, 0)                                              \
    X(cudaDevAttrMemoryPoolSupportedHandleTypes, 119, p->memoryPoolSupportedHandleTypes)           \
    X(cudaDevAttrClusterLaunch, 120, p->clusterLaunch)                                             \
    X(cudaDevAttrDeferredMappingCudaArraySupported, 121, p->deferredMappingCudaArraySupported)     \
    X(cudaDevAttrIpcEventSupport, 125, p->ipcEventSupported)                                       \
    X(cudaDevAttrMemSyncDomainCount, 126, 0)                                                       \
    X(cudaDevAttrNumaConfig, 130, 0)                                                               \
    X(cudaDevAttrNumaId, 131, 0)                                                                   \
    X(cudaDevAttrMpsEnabled, 133, p->mpsEnabled)                                                   \
    X(cudaDevAttrHostNumaId, 134, 0)                                                               \
    X(cudaDevAttrD3D12CigSupported, 135, 0)                                                        \
    X(cudaDevAttrVulkanCigSupported, 138, 0)                                                       \
    X(cudaDevAttrGpuPciDeviceId, 139, 0)                                                           \
    X(cudaDevAttrGpuPciSubsystemId, 140, 0)                                                        \
    X(cudaDevAttrHostNumaMemoryPoolsSupported, 142, 0)                                             \
    X(cudaDevAttrHostNumaMultinodeIpcSupported, 143, 0)                                            \
    X(cudaDevAttrHostMemoryPoolsSupported, 144, 0)                                                 \
    X(cudaDevAttrOnlyPartialHostNativeAtomicSupported, 147, 0)

#define CPU_ENUMERATOR(name, number, value) name = number,
enum cudaDeviceAttr { CPU_ATTRIBUTES(CPU_ENUMERATOR) };
#undef CPU_ENUMERATOR
enum cudaDeviceP2PAttr {
    cudaDevP2PAttrPerformanceRank = 1,
    cudaDevP2PAttrAccessSupported,
    cudaDevP2PAttrNativeAtomicSupported,
    cudaDevP2PAttrCudaArrayAccessSupported,
    cudaDevP2PAttrOnlyPartialNativeAtomicSupported
};
enum cudaComputeMode {
    cudaComputeModeDefault,
    cudaComputeModeExclusive,
    cudaComputeModeProhibited,
    cudaComputeModeExclusiveProcess
};
typedef struct CUuuid_st {
    char bytes[16];
} cudaUUID_t;

struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    char luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int multiProcessorCount, integrated, canMapHostMemory, maxTexture1D, maxTexture1DMipmap,
        maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2],
        maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2],
        maxTexture2DLayered[3], maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2],
        maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap,
        maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver,
        asyncEngineCount, unifiedAddressing, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize,
        maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported,
        localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID,
        hostNativeAtomicSupported, pageableMemoryAccess, concurrentManagedAccess,
        computePreemptionSupported, canUseHostPointerForRegisteredMem, cooperativeLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost,
        maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported,
        timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
    unsigned gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch,
        unifiedFunctionPointers, deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId;
    unsigned gpuPciDeviceID, gpuPciSubsystemID;
    int hostNumaMultinodeIpcSupported;
    /* only in CUDA 12 */
    int clockRate, memoryClockRate, deviceOverlap, kernelExecTimeoutEnabled, computeMode;
    int singleToDoublePrecisionPerfRatio, cooperativeMultiDeviceLaunch, maxTexture1DLinear;
};
