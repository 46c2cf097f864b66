/* refused.cuh: whether a variant, or a candidate of a tuner, can run on this device.
 */
#pragma once

#include "harness/harness.h"

#include <stdio.h>

// A variant whose blocks have more shared memory than this device allows. bytes: dynamic and
// static, per block. Returns the status of its rows and leaves the reason in why; NULL if it can
// run.
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

// A candidate that does not run as intended on this device: its tiles need more shared memory than
// a block may have, or its fragments more registers than a thread may have. The compiler spills
// such registers to local memory, and the loop reads them from there. A CPU has no such limit of
// registers. bytes: of dynamic shared memory. Returns the status of its rows and leaves the reason
// in why; NULL if it can run.
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

// On a CPU, candidates skip cases that are large or mostly padding.
static inline bool takes_part_here(const kf_case *c)
{
    const kf_shape s = c->shape;
    return !kf_on_cpu() || (s.Sq >= 64 && (int64_t)s.B * s.H * s.Sq * s.Sk <= 1 << 15);
}
