/* ordered: blocks that add to the same numbers in a fixed order. A block draws its number from a
 * ticket, waits at each row's counter until the blocks before it have added, adds, and counts on.
 * So the sums have the same bits in every order of blocks and threads. */
#include "check.h"
#include <cuda_runtime.h>

enum { BLOCKS = 24, ROWS = 4, WIDTH = 64 };

static __device__ unsigned load_acquire(const unsigned *p)
{
    unsigned v;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

static __device__ void add_release(unsigned *p)
{
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(p) : "memory");
}

static __device__ void add_4(float *p, float v)
{
    asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(p), "f"(v) : "memory");
}

static __device__ void add_1(float *p, float v)
{
    asm volatile("red.global.add.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory");
}

// Rounding makes the order of these count.
static __host__ __device__ float part(int number, int row)
{
    return 1.0f / (float)(3 + number * 7 + row) * (number % 3 ? 1.0f : 1000.0f);
}

enum how { PLAINLY, BY_ATOMIC_ADD, BY_RED, BY_RED_V4 };

// y [ROWS][WIDTH], 4 numbers a lane of 16
template <how by>
static __device__ void add(float *y, float v)
{
    const int t = threadIdx.x;
    if (by == PLAINLY && t < WIDTH)
        y[t] += v;
    if (by == BY_ATOMIC_ADD && t < WIDTH)
        atomicAdd(y + t, v);
    if (by == BY_RED && t < WIDTH)
        add_1(y + t, v);
    if (by == BY_RED_V4 && t < WIDTH / 4)
        add_4(y + 4 * t, v);
}

// With acquire and release, or with fences and atomics of C++.
template <how by, bool ptx>
__global__ void in_order(float *y, unsigned *ticket, unsigned *done)
{
    __shared__ unsigned mine;
    if (threadIdx.x == 0)
        mine = atomicAdd(ticket, 1u);
    __syncthreads();
    const unsigned number = mine;
    for (int row = 0; row < ROWS; row++) {
        if (threadIdx.x == 0 && ptx)
            while (load_acquire(done + row) != number)
                __nanosleep(20);
        if (threadIdx.x == 0 && !ptx) {
            while (atomicAdd(done + row, 0u) != number)
                __nanosleep(20);
            __threadfence();
        }
        __syncthreads();
        add<by>(y + row * WIDTH, part((int)number, row));
        __syncthreads();
        if (threadIdx.x == 0 && ptx)
            add_release(done + row);
        if (threadIdx.x == 0 && !ptx) {
            __threadfence();
            atomicAdd(done + row, 1u);
        }
    }
}

// A wait in inline PTX, and a store that releases: only the block after may follow.
__global__ void in_a_chain(float *y, unsigned *ticket, unsigned *done)
{
    __shared__ unsigned mine;
    if (threadIdx.x == 0) {
        mine = atomicAdd(ticket, 1u);
        asm volatile("{ .reg .pred p; .reg .u32 v;\n"
                     "again: ld.acquire.gpu.global.u32 v, [%0];\n"
                     "setp.ne.u32 p, v, %1;\n"
                     "@p bra again; }" ::"l"(done),
                     "r"(mine)
                     : "memory");
    }
    __syncthreads();
    add<PLAINLY>(y, part((int)mine, 0));
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(done), "r"(mine + 1) : "memory");
}

// A warp alone: its lanes are put in order by __syncwarp.
__global__ void in_a_warp(float *y, unsigned *ticket, unsigned *done)
{
    if (threadIdx.x >= 32)
        return;
    unsigned number = 0;
    if (threadIdx.x == 0) {
        number = atomicAdd(ticket, 1u);
        while (load_acquire(done) != number)
            __nanosleep(20);
    }
    number = __shfl_sync(0xffffffff, number, 0);
    for (int i = threadIdx.x; i < WIDTH; i += 32)
        y[i] += part((int)number, 0);
    __syncwarp();
    if (threadIdx.x == 0)
        add_release(done);
}

static void run(void (*kernel)(float *, unsigned *, unsigned *), int rows)
{
    float *y, got[ROWS * WIDTH];
    unsigned *counters;
    cudaMalloc(&counters, (1 + ROWS) * sizeof *counters);
    cudaMalloc(&y, sizeof got);
    cudaMemset(y, 0, sizeof got);
    cudaMemset(counters, 0, (1 + ROWS) * sizeof *counters);
    kernel<<<BLOCKS, 128>>>(y, counters + ROWS, counters);
    CHECK_ERROR(cudaMemcpy(got, y, sizeof got, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int row = 0; row < rows; row++) {
        float want = 0;
        for (int number = 0; number < BLOCKS; number++)
            want += part(number, row);
        for (int i = 0; i < WIDTH; i++)
            CHECK(__float_as_uint(got[row * WIDTH + i]) == __float_as_uint(want));
    }
    cudaFree(counters);
    cudaFree(y);
}

// With an argument: only waits by ld.acquire, whose counts do not depend on how long they take.
int main(int argc, char **)
{
    run(in_order<PLAINLY, true>, ROWS);
    if (argc == 1)
        run(in_order<PLAINLY, false>, ROWS);
    run(in_order<BY_ATOMIC_ADD, true>, ROWS);
    run(in_order<BY_RED, true>, ROWS);
    run(in_order<BY_RED_V4, true>, ROWS);
    run(in_a_chain, 1);
    run(in_a_warp, 1);
    return check_result();
}
