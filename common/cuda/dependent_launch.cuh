/* dependent_launch.cuh: a kernel that begins before the kernel in front of it in the stream has
 * ended (programmatic dependent launch, compute capability 9.0): steps 29 to 31, 37 and 45.
 */
#pragma once

#include "harness/harness.h"

// snippet: dependent
// A kernel that may begin early reads what no kernel writes, and waits before it touches anything
// else. On devices older than 9.0 both functions do nothing, and the order of the stream is enough.

// Waits until the results of the previous kernel in the stream may be read. If this kernel was not
// launched to begin early, it does not wait.
static __device__ __forceinline__ void wait_for_previous()
{
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

// Allows the next kernel in the stream to begin.
static __device__ __forceinline__ void let_next_begin()
{
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
// end snippet: dependent

// The launch configuration of a kernel that calls wait_for_previous. early: the kernel may begin
// before the previous one in the stream has ended. bytes: of dynamic shared memory.
static inline cudaLaunchConfig_t launch_config(bool early, dim3 grid, int threads, size_t bytes,
                                               cudaStream_t stream)
{
    static cudaLaunchAttribute attribute; // the result points to it
    int device = 0, major = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    return {.gridDim = grid,
            .blockDim = dim3(threads),
            .dynamicSmemBytes = bytes,
            .stream = stream,
            .attrs = &attribute,
            .numAttrs = early && major >= 9};
}
