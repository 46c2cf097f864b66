/* refused.cuh: whether a variant, or a candidate of a tuner, is one on this device.
 */
#pragma once

#include "harness/harness.h"

#include <stdio.h>

// A block has `bytes` of shared memory, dynamic and static, and this device does not let it.
// Returns the status of its rows and leaves the reason in why, or NULL.
static inline const char *lacks_room(int bytes, char *why, size_t size)
{
    int room = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    if (bytes <= room) {
        return NULL;
    }
    snprintf(why, size, "%d bytes of shared memory a block, and there are %d", bytes, room);
    return "refused-room";
}

// snippet: refuse
// A candidate that this device does not run as it is meant: its tiles are more than a block may
// have of shared memory, or its fragments more than a thread may have of registers. What the
// compiler has no register for lies in local memory, and is read from there in the loop. A CPU has
// as many registers as it wants. bytes: of dynamic shared memory. Returns the status of its rows
// and leaves the reason in why, or NULL.
static inline const char *refused_here(const void *kernel, int bytes, char *why, size_t size)
{
    cudaFuncAttributes made;
    CUDA_CHECK(cudaFuncGetAttributes(&made, kernel));
    const int spilled = (int)made.localSizeBytes;
    const char *status = lacks_room(bytes, why, size);
    if (!status && spilled > 0) {
        snprintf(why, size, "%d registers a thread, and %d bytes spilled", made.numRegs, spilled);
        status = "refused-spills";
    }
    return status;
}
// end snippet: refuse

// On a CPU candidates leave out cases that are large, or mostly padding.
static inline bool takes_part_here(const kf_case *c)
{
    const kf_shape s = c->shape;
    return !kf_on_cpu() || (s.Sq >= 64 && (int64_t)s.B * s.H * s.Sq * s.Sk <= 1 << 15);
}
