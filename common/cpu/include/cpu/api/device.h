/* The properties of a device, with those that only CUDA 12 has, since programs for CUDA 12 print
 * them; and its attributes. A feature that the device lacks is 0. Part of cuda_runtime_api.h. */
#pragma once

/* The rest of cudaDevAttr*, the rest of CU_DEVICE_ATTRIBUTE_* (cuda.h), the number, and the value
 * in terms of the properties p. */
#define CPU_ATTRIBUTES(X)                                                                          \
    X(MaxThreadsPerBlock, MAX_THREADS_PER_BLOCK, 1, p->maxThreadsPerBlock)                         \
    X(MaxBlockDimX, MAX_BLOCK_DIM_X, 2, p->maxThreadsDim[0])                                       \
    X(MaxBlockDimY, MAX_BLOCK_DIM_Y, 3, p->maxThreadsDim[1])                                       \
    X(MaxBlockDimZ, MAX_BLOCK_DIM_Z, 4, p->maxThreadsDim[2])                                       \
    X(MaxGridDimX, MAX_GRID_DIM_X, 5, p->maxGridSize[0])                                           \
    X(MaxGridDimY, MAX_GRID_DIM_Y, 6, p->maxGridSize[1])                                           \
    X(MaxGridDimZ, MAX_GRID_DIM_Z, 7, p->maxGridSize[2])                                           \
    X(MaxSharedMemoryPerBlock, MAX_SHARED_MEMORY_PER_BLOCK, 8, p->sharedMemPerBlock)               \
    X(TotalConstantMemory, TOTAL_CONSTANT_MEMORY, 9, p->totalConstMem)                             \
    X(WarpSize, WARP_SIZE, 10, p->warpSize)                                                        \
    X(MaxPitch, MAX_PITCH, 11, p->memPitch)                                                        \
    X(MaxRegistersPerBlock, MAX_REGISTERS_PER_BLOCK, 12, p->regsPerBlock)                          \
    X(ClockRate, CLOCK_RATE, 13, p->clockRate)                                                     \
    X(TextureAlignment, TEXTURE_ALIGNMENT, 14, p->textureAlignment)                                \
    X(GpuOverlap, GPU_OVERLAP, 15, p->deviceOverlap)                                               \
    X(MultiProcessorCount, MULTIPROCESSOR_COUNT, 16, p->multiProcessorCount)                       \
    X(KernelExecTimeout, KERNEL_EXEC_TIMEOUT, 17, p->kernelExecTimeoutEnabled)                     \
    X(Integrated, INTEGRATED, 18, p->integrated)                                                   \
    X(CanMapHostMemory, CAN_MAP_HOST_MEMORY, 19, p->canMapHostMemory)                              \
    X(ComputeMode, COMPUTE_MODE, 20, p->computeMode)                                               \
    X(MaxTexture1DWidth, MAXIMUM_TEXTURE1D_WIDTH, 21, p->maxTexture1D)                             \
    X(MaxTexture2DWidth, MAXIMUM_TEXTURE2D_WIDTH, 22, p->maxTexture2D[0])                          \
    X(MaxTexture2DHeight, MAXIMUM_TEXTURE2D_HEIGHT, 23, p->maxTexture2D[1])                        \
    X(MaxTexture3DWidth, MAXIMUM_TEXTURE3D_WIDTH, 24, p->maxTexture3D[0])                          \
    X(MaxTexture3DHeight, MAXIMUM_TEXTURE3D_HEIGHT, 25, p->maxTexture3D[1])                        \
    X(MaxTexture3DDepth, MAXIMUM_TEXTURE3D_DEPTH, 26, p->maxTexture3D[2])                          \
    X(MaxTexture2DLayeredWidth, MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 27, p->maxTexture2DLayered[0])    \
    X(MaxTexture2DLayeredHeight, MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 28, p->maxTexture2DLayered[1])  \
    X(MaxTexture2DLayeredLayers, MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 29, p->maxTexture2DLayered[2])  \
    X(SurfaceAlignment, SURFACE_ALIGNMENT, 30, p->surfaceAlignment)                                \
    X(ConcurrentKernels, CONCURRENT_KERNELS, 31, p->concurrentKernels)                             \
    X(EccEnabled, ECC_ENABLED, 32, p->ECCEnabled)                                                  \
    X(PciBusId, PCI_BUS_ID, 33, p->pciBusID)                                                       \
    X(PciDeviceId, PCI_DEVICE_ID, 34, p->pciDeviceID)                                              \
    X(TccDriver, TCC_DRIVER, 35, p->tccDriver)                                                     \
    X(MemoryClockRate, MEMORY_CLOCK_RATE, 36, p->memoryClockRate)                                  \
    X(GlobalMemoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH, 37, p->memoryBusWidth)                        \
    X(L2CacheSize, L2_CACHE_SIZE, 38, p->l2CacheSize)                                              \
    X(MaxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR, 39,                             \
      p->maxThreadsPerMultiProcessor)                                                              \
    X(AsyncEngineCount, ASYNC_ENGINE_COUNT, 40, p->asyncEngineCount)                               \
    X(UnifiedAddressing, UNIFIED_ADDRESSING, 41, p->unifiedAddressing)                             \
    X(MaxTexture1DLayeredWidth, MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 42, p->maxTexture1DLayered[0])    \
    X(MaxTexture1DLayeredLayers, MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 43, p->maxTexture1DLayered[1])  \
    X(MaxTexture2DGatherWidth, MAXIMUM_TEXTURE2D_GATHER_WIDTH, 45, p->maxTexture2DGather[0])       \
    X(MaxTexture2DGatherHeight, MAXIMUM_TEXTURE2D_GATHER_HEIGHT, 46, p->maxTexture2DGather[1])     \
    X(MaxTexture3DWidthAlt, MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE, 47, p->maxTexture3DAlt[0])          \
    X(MaxTexture3DHeightAlt, MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE, 48, p->maxTexture3DAlt[1])        \
    X(MaxTexture3DDepthAlt, MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE, 49, p->maxTexture3DAlt[2])          \
    X(PciDomainId, PCI_DOMAIN_ID, 50, p->pciDomainID)                                              \
    X(TexturePitchAlignment, TEXTURE_PITCH_ALIGNMENT, 51, p->texturePitchAlignment)                \
    X(MaxTextureCubemapWidth, MAXIMUM_TEXTURECUBEMAP_WIDTH, 52, p->maxTextureCubemap)              \
    X(MaxTextureCubemapLayeredWidth, MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, 53,                     \
      p->maxTextureCubemapLayered[0])                                                              \
    X(MaxTextureCubemapLayeredLayers, MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, 54,                   \
      p->maxTextureCubemapLayered[1])                                                              \
    X(MaxSurface1DWidth, MAXIMUM_SURFACE1D_WIDTH, 55, p->maxSurface1D)                             \
    X(MaxSurface2DWidth, MAXIMUM_SURFACE2D_WIDTH, 56, p->maxSurface2D[0])                          \
    X(MaxSurface2DHeight, MAXIMUM_SURFACE2D_HEIGHT, 57, p->maxSurface2D[1])                        \
    X(MaxSurface3DWidth, MAXIMUM_SURFACE3D_WIDTH, 58, p->maxSurface3D[0])                          \
    X(MaxSurface3DHeight, MAXIMUM_SURFACE3D_HEIGHT, 59, p->maxSurface3D[1])                        \
    X(MaxSurface3DDepth, MAXIMUM_SURFACE3D_DEPTH, 60, p->maxSurface3D[2])                          \
    X(MaxSurface1DLayeredWidth, MAXIMUM_SURFACE1D_LAYERED_WIDTH, 61, p->maxSurface1DLayered[0])    \
    X(MaxSurface1DLayeredLayers, MAXIMUM_SURFACE1D_LAYERED_LAYERS, 62, p->maxSurface1DLayered[1])  \
    X(MaxSurface2DLayeredWidth, MAXIMUM_SURFACE2D_LAYERED_WIDTH, 63, p->maxSurface2DLayered[0])    \
    X(MaxSurface2DLayeredHeight, MAXIMUM_SURFACE2D_LAYERED_HEIGHT, 64, p->maxSurface2DLayered[1])  \
    X(MaxSurface2DLayeredLayers, MAXIMUM_SURFACE2D_LAYERED_LAYERS, 65, p->maxSurface2DLayered[2])  \
    X(MaxSurfaceCubemapWidth, MAXIMUM_SURFACECUBEMAP_WIDTH, 66, p->maxSurfaceCubemap)              \
    X(MaxSurfaceCubemapLayeredWidth, MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, 67,                     \
      p->maxSurfaceCubemapLayered[0])                                                              \
    X(MaxSurfaceCubemapLayeredLayers, MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS, 68,                   \
      p->maxSurfaceCubemapLayered[1])                                                              \
    X(MaxTexture1DLinearWidth, MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 69, p->maxTexture1DLinear)          \
    X(MaxTexture2DLinearWidth, MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 70, p->maxTexture2DLinear[0])       \
    X(MaxTexture2DLinearHeight, MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 71, p->maxTexture2DLinear[1])     \
    X(MaxTexture2DLinearPitch, MAXIMUM_TEXTURE2D_LINEAR_PITCH, 72, p->maxTexture2DLinear[2])       \
    X(MaxTexture2DMipmappedWidth, MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, 73, 0)                        \
    X(MaxTexture2DMipmappedHeight, MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, 74, 0)                      \
    X(ComputeCapabilityMajor, COMPUTE_CAPABILITY_MAJOR, 75, p->major)                              \
    X(ComputeCapabilityMinor, COMPUTE_CAPABILITY_MINOR, 76, p->minor)                              \
    X(MaxTexture1DMipmappedWidth, MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, 77, 0)                        \
    X(StreamPrioritiesSupported, STREAM_PRIORITIES_SUPPORTED, 78, p->streamPrioritiesSupported)    \
    X(GlobalL1CacheSupported, GLOBAL_L1_CACHE_SUPPORTED, 79, p->globalL1CacheSupported)            \
    X(LocalL1CacheSupported, LOCAL_L1_CACHE_SUPPORTED, 80, p->localL1CacheSupported)               \
    X(MaxSharedMemoryPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81,                  \
      p->sharedMemPerMultiprocessor)                                                               \
    X(MaxRegistersPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR, 82,                         \
      p->regsPerMultiprocessor)                                                                    \
    X(ManagedMemory, MANAGED_MEMORY, 83, p->managedMemory)                                         \
    X(IsMultiGpuBoard, MULTI_GPU_BOARD, 84, p->isMultiGpuBoard)                                    \
    X(MultiGpuBoardGroupID, MULTI_GPU_BOARD_GROUP_ID, 85, p->multiGpuBoardGroupID)                 \
    X(HostNativeAtomicSupported, HOST_NATIVE_ATOMIC_SUPPORTED, 86, p->hostNativeAtomicSupported)   \
    X(SingleToDoublePrecisionPerfRatio, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 87,                 \
      p->singleToDoublePrecisionPerfRatio)                                                         \
    X(PageableMemoryAccess, PAGEABLE_MEMORY_ACCESS, 88, p->pageableMemoryAccess)                   \
    X(ConcurrentManagedAccess, CONCURRENT_MANAGED_ACCESS, 89, p->concurrentManagedAccess)          \
    X(ComputePreemptionSupported, COMPUTE_PREEMPTION_SUPPORTED, 90, p->computePreemptionSupported) \
    X(CanUseHostPointerForRegisteredMem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 91,              \
      p->canUseHostPointerForRegisteredMem)                                                        \
    X(CooperativeLaunch, COOPERATIVE_LAUNCH, 95, p->cooperativeLaunch)                             \
    X(MaxSharedMemoryPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97,                         \
      p->sharedMemPerBlockOptin)                                                                   \
    X(CanFlushRemoteWrites, CAN_FLUSH_REMOTE_WRITES, 98, 0)                                        \
    X(HostRegisterSupported, HOST_REGISTER_SUPPORTED, 99, p->hostRegisterSupported)                \
    X(PageableMemoryAccessUsesHostPageTables, PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 100,   \
      p->pageableMemoryAccessUsesHostPageTables)                                                   \
    X(DirectManagedMemAccessFromHost, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, 101,                    \
      p->directManagedMemAccessFromHost)                                                           \
    X(MaxBlocksPerMultiprocessor, MAX_BLOCKS_PER_MULTIPROCESSOR, 106,                              \
      p->maxBlocksPerMultiProcessor)                                                               \
    X(MaxPersistingL2CacheSize, MAX_PERSISTING_L2_CACHE_SIZE, 108, p->persistingL2CacheMaxSize)    \
    X(MaxAccessPolicyWindowSize, MAX_ACCESS_POLICY_WINDOW_SIZE, 109, p->accessPolicyMaxWindowSize) \
    X(ReservedSharedMemoryPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK, 111,                         \
      p->reservedSharedMemPerBlock)                                                                \
    X(SparseCudaArraySupported, SPARSE_CUDA_ARRAY_SUPPORTED, 112, p->sparseCudaArraySupported)     \
    X(HostRegisterReadOnlySupported, READ_ONLY_HOST_REGISTER_SUPPORTED, 113,                       \
      p->hostRegisterReadOnlySupported)                                                            \
    X(TimelineSemaphoreInteropSupported, TIMELINE_SEMAPHORE_INTEROP_SUPPORTED, 114,                \
      p->timelineSemaphoreInteropSupported)                                                        \
    X(MemoryPoolsSupported, MEMORY_POOLS_SUPPORTED, 115, p->memoryPoolsSupported)                  \
    X(GPUDirectRDMASupported, GPU_DIRECT_RDMA_SUPPORTED, 116, p->gpuDirectRDMASupported)           \
    X(GPUDirectRDMAFlushWritesOptions, GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, 117, 0)               \
    X(GPUDirectRDMAWritesOrdering, GPU_DIRECT_RDMA_WRITES_ORDERING, 118, 0)                        \
    X(MemoryPoolSupportedHandleTypes, MEMPOOL_SUPPORTED_HANDLE_TYPES, 119,                         \
      p->memoryPoolSupportedHandleTypes)                                                           \
    X(ClusterLaunch, CLUSTER_LAUNCH, 120, p->clusterLaunch)                                        \
    X(DeferredMappingCudaArraySupported, DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED, 121,               \
      p->deferredMappingCudaArraySupported)                                                        \
    X(IpcEventSupport, IPC_EVENT_SUPPORTED, 125, p->ipcEventSupported)                             \
    X(MemSyncDomainCount, MEM_SYNC_DOMAIN_COUNT, 126, 0)                                           \
    X(NumaConfig, NUMA_CONFIG, 130, 0)                                                             \
    X(NumaId, NUMA_ID, 131, 0)                                                                     \
    X(MpsEnabled, MPS_ENABLED, 133, p->mpsEnabled)                                                 \
    X(HostNumaId, HOST_NUMA_ID, 134, 0)                                                            \
    X(D3D12CigSupported, D3D12_CIG_SUPPORTED, 135, 0)                                              \
    X(VulkanCigSupported, VULKAN_CIG_SUPPORTED, 138, 0)                                            \
    X(GpuPciDeviceId, GPU_PCI_DEVICE_ID, 139, 0)                                                   \
    X(GpuPciSubsystemId, GPU_PCI_SUBSYSTEM_ID, 140, 0)                                             \
    X(HostNumaMemoryPoolsSupported, HOST_NUMA_MEMORY_POOLS_SUPPORTED, 142, 0)                      \
    X(HostNumaMultinodeIpcSupported, HOST_NUMA_MULTINODE_IPC_SUPPORTED, 143, 0)                    \
    X(HostMemoryPoolsSupported, HOST_MEMORY_POOLS_SUPPORTED, 144, 0)                               \
    X(OnlyPartialHostNativeAtomicSupported, ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED, 147, 0)

#define CPU_ENUMERATOR(name, driver_name, number, value) cudaDevAttr##name = number,
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
