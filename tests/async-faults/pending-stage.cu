/* Copies of cuda::barrier and cuda::pipeline that are in flight: read before the wait that is for
 * them. Arriving is no waiting, and a wait is for one stage. */
#include "suite.cuh"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#ifndef __CUDACPU__
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif

typedef cuda::barrier<cuda::thread_scope_block> block_barrier;
const int THREADS = 64, TILES = 5;

static std::vector<int> tile_sums(const std::vector<int> &in)
{
    std::vector<int> want(THREADS);
    for (size_t i = 0; i < in.size(); i++)
        want[THREADS - 1 - i % THREADS] += (int)(i / THREADS + 1) * in[i];
    return want;
}

template <bool fault>
__global__ void arrived(const int *x, int *y)
{
    __shared__ int cell[THREADS];
    __shared__ block_barrier full;
    const int t = threadIdx.x;
    cell[t] = 0;
    if (t == 0)
        init(&full, THREADS);
    __syncthreads();
    cuda::memcpy_async(&cell[t], x + t, sizeof(int), full); // seen here: arrived
    block_barrier::arrival_token token = full.arrive();
    int early = 0;
    if (fault)           // fault here: arrived
        early = cell[t]; // seen here: arrived
    full.wait(std::move(token));
    y[t] = early + cell[THREADS - 1 - t];
}

RUN(arrived, 1, THREADS, numbers(THREADS), tile_sums(in));

/* Tile k is read while tile k + 1 is fetched, and each stage has a barrier. */
template <bool fault>
__global__ void other_barrier(const int *x, int *y)
{
    __shared__ int stage[2][THREADS];
    __shared__ block_barrier full[2];
    const int t = threadIdx.x;
    stage[0][t] = stage[1][t] = 0;
    if (t < 2)
        init(&full[t], THREADS);
    __syncthreads();
    cuda::memcpy_async(&stage[0][t], x + t, sizeof(int), full[0]); // seen here: other_barrier
    int sum = 0;
    for (int k = 0; k < TILES; k++) {
        if (k + 1 < TILES)
            cuda::memcpy_async(&stage[(k + 1) % 2][t], // seen here: other_barrier
                               x + (k + 1) * THREADS + t, sizeof(int), full[(k + 1) % 2]);
        full[(fault ? k / 2 : k) % 2].arrive_and_wait(); // fault here: other_barrier
        sum += (k + 1) * stage[k % 2][THREADS - 1 - t];  // seen here: other_barrier
        __syncthreads();
    }
    y[t] = sum;
}

RUN(other_barrier, 1, THREADS, numbers(TILES *THREADS), tile_sums(in));

template <bool fault>
__global__ void pipeline_not_waited(const int *x, int *y)
{
    __shared__ int stage[2][THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const auto block = cooperative_groups::this_thread_block();
    const int t = threadIdx.x;
    stage[0][t] = stage[1][t] = 0;
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int k = 0, next = 0; k < TILES; k++) {
        for (; next < TILES && next < k + 2; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[next % 2][t], // seen here: pipeline_not_waited
                               x + next * THREADS + t, sizeof(int), pipe);
            pipe.producer_commit();
        }
        if (!fault || k + 1 < TILES) // fault here: pipeline_not_waited
            pipe.consumer_wait();
        __syncthreads();
        sum += (k + 1) * stage[k % 2][THREADS - 1 - t]; // seen here: pipeline_not_waited
        pipe.consumer_release();
    }
    y[t] = sum;
}

RUN(pipeline_not_waited, 1, THREADS, numbers(TILES *THREADS), tile_sums(in));

/* A copy that a barrier tells of belongs to a group of its thread, too, which may wait for that. */
template <bool fault>
__global__ void group_of_barrier(const int *x, int *y)
{
    __shared__ int cell[2][THREADS];
    __shared__ block_barrier full;
    const int t = threadIdx.x;
    cell[0][t] = cell[1][t] = 0;
    if (t == 0)
        init(&full, THREADS);
    __syncthreads();
    auto pipe = cuda::make_pipeline();
    for (int k = 0; k < 2; k++) {
        cuda::memcpy_async(&cell[k][t], x + k * THREADS + t, // seen here: group_of_barrier
                           sizeof(int), full);
        pipe.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<fault ? 1 : 0>(pipe); // fault here: group_of_barrier
    y[THREADS - 1 - t] = cell[0][t] + 2 * cell[1][t];        // seen here: group_of_barrier
    full.arrive_and_wait();
}

RUN(group_of_barrier, 1, THREADS, numbers(2 * THREADS), tile_sums(in));

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(arrived, "a copy is read between the arrival and the wait"),
        SUBTLE(other_barrier, "from the second tile on the wait is on the other stage's barrier"),
        SUBTLE(pipeline_not_waited, "for the last stage of a pipeline nobody waits"),
        SUBTLE(group_of_barrier, "the thread waits for all groups but the last, and reads that"),
    };
    return suite("pending copy", list, argc, argv);
}
