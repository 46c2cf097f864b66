/* turns: how blocks add to a tile of dq one after the other, in c-ordered and d-ordered-vector: a
 * wait for the block before, a post for the next one, and keys that are drawn in this order. */
#pragma once

#include "harness/harness.h"

// All threads of the block call these. Whatever was added before a post is visible after the wait
// for that post.
static __device__ __forceinline__ void wait_for(const int *counter, int place)
{
    if (threadIdx.x == 0) {
        int now;
        do {
            asm volatile("ld.acquire.gpu.global.s32 %0, [%1];"
                         : "=r"(now)
                         : "l"(counter)
                         : "memory");
            if (now != place) {
                __nanosleep(100);
            }
        } while (now != place);
    }
    __syncthreads();
}

static __device__ __forceinline__ void post(int *counter)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("red.release.gpu.global.add.s32 [%0], 1;" : : "l"(counter) : "memory");
    }
}

// A tile of keys: its head, and its number there.
struct drawn_keys {
    int head, block;
};

// Draws one from the first counter. All threads of the block call this.
static __device__ __forceinline__ drawn_keys draw_keys(int *counters, bool causal)
{
    __shared__ int drawn;
    if (threadIdx.x == 0) {
        drawn = atomicAdd(counters, 1);
    }
    __syncthreads();
    // Consecutive draws go to different heads. Under a mask the last keys come first, for they have
    // the fewest queries.
    const int heads = causal ? gridDim.x : gridDim.y;
    const int blocks = causal ? gridDim.y : gridDim.x; // per head
    return {drawn % heads, causal ? blocks - 1 - drawn / heads : drawn / heads};
}
