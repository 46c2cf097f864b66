/* refused.cuh: whether a candidate of a tuner is one on this device.
 */
#pragma once

#include "harness/harness.h"

#include <stdio.h>

// snippet: refuse
// A candidate that this device does not run as it is meant: its tiles are more than a block may
// have of shared memory, or its fragments more than a thread may have of registers. What the
// compiler has no register for lies in local memory, and is read from there in the loop. A CPU has
// as many registers as it wants. bytes: of dynamic shared memory. Returns the status of its rows
// and leaves the reason in why, or NULL.
static inline const char *refused_here(const void *kernel, int bytes, char *why, size_t size)
{
    int room = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    cudaFuncAttributes made;
    CUDA_CHECK(cudaFuncGetAttributes(&made, kernel));
    const int spilled = (int)made.localSizeBytes;
    if (bytes > room) {
        snprintf(why, size, "%d bytes of shared memory a block, and there are %d", bytes, room);
        return "refused-room";
    }
    if (spilled > 0) {
        snprintf(why, size, "%d registers a thread, and %d bytes spilled", made.numRegs, spilled);
        return "refused-spills";
    }
    return NULL;
}
// end snippet: refuse

// On a CPU candidates leave out cases that are large, or mostly padding.
static inline bool takes_part_here(const kf_case *c)
{
    const kf_shape s = c->shape;
    return !kf_on_cpu() || (s.Sq >= 64 && (int64_t)s.B * s.H * s.Sq * s.Sk <= 1 << 15);
}
