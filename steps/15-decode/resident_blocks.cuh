/* resident_blocks.cuh: how many blocks of a kernel the device holds at a time.
 *
 * It depends on the registers and the shared memory of the kernel. A grid of as many blocks has
 * none that waits for another to end. */
#pragma once

#include "harness/harness.h"

/* Dynamic shared memory in bytes. A CPU has no such number: there it is `on_a_cpu`, so that counts
 * are those of any CPU. */
template <class kernel>
static inline int resident_blocks(kernel of, int threads, size_t shared, int on_a_cpu)
{
    int device, processors, on_each;
    if (kf_on_cpu()) {
        return on_a_cpu;
    }
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, of, threads, shared));
    return processors * on_each;
}
