/* What threads have written and a bulk copy is to see: between the two lie a fence.proxy.async, of
 * the right memory, and a barrier. The copy engine has a way of its own to memory, and sees without
 * them what was there before. */
#include "bulk.cuh"

static std::vector<int> tens(int n)
{
    std::vector<int> want(n);
    for (int i = 0; i < n; i++)
        want[i] = 10 * i;
    return want;
}

template <bool fault>
__global__ void tile_unfenced(int *y)
{
    __shared__ alignas(16) int tile[TILE];
    const int t = threadIdx.x;
    for (int i = t; i < TILE; i += THREADS)
        tile[i] = 10 * i; // seen here: tile_unfenced
    if (!fault)           // fault here: tile_unfenced
        fence_async();
    __syncthreads();
    if (t == 0) {
        store(y, tile, BYTES); // seen here: tile_unfenced
        stored<0>();
    }
}

RUN_OUT(tile_unfenced, 1, THREADS, tens(TILE));

/* A fence is for what comes before it. */
template <bool fault>
__global__ void fence_first(int *y)
{
    __shared__ alignas(16) int tile[TILE];
    const int t = threadIdx.x;
    const int first = fault ? 0 : TILE / 2; // fault here: fence_first
    for (int i = t; i < TILE / 2; i += THREADS)
        tile[i] = 10 * i;
    for (int i = TILE / 2 + t; i < TILE / 2 + first; i += THREADS)
        tile[i] = 10 * i;
    fence_async();
    for (int i = TILE / 2 + first + t; i < TILE; i += THREADS)
        tile[i] = 10 * i; // seen here: fence_first
    __syncthreads();
    if (t == 0) {
        store(y, tile, BYTES); // seen here: fence_first
        stored<0>();
    }
}

RUN_OUT(fence_first, 1, THREADS, tens(TILE));

/* Each thread fences what it has written: a fence of the first warp knows nothing of the second. */
template <bool fault>
__global__ void one_warp_fences(int *y)
{
    __shared__ alignas(16) int tile[TILE];
    const int t = threadIdx.x;
    for (int i = t; i < TILE; i += THREADS)
        tile[i] = 10 * i; // seen here: one_warp_fences
    if (!fault || t < 32) // fault here: one_warp_fences
        fence_async();
    __syncthreads();
    if (t == 0) {
        store(y, tile, BYTES); // seen here: one_warp_fences
        stored<0>();
    }
}

RUN_OUT(one_warp_fences, 1, THREADS, tens(TILE));

template <bool fault>
__global__ void other_memory(int *y)
{
    __shared__ alignas(16) int tile[TILE];
    const int t = threadIdx.x;
    for (int i = t; i < TILE; i += THREADS)
        tile[i] = 10 * i; // seen here: other_memory
    if (fault)            // fault here: other_memory
        fence_async_global();
    else
        fence_async();
    __syncthreads();
    if (t == 0) {
        store(y, tile, BYTES); // seen here: other_memory
        stored<0>();
    }
}

RUN_OUT(other_memory, 1, THREADS, tens(TILE));

/* A tile is cleared, and a copy comes over it: the zeros may come last. */
template <bool fault>
__global__ void cleared_and_fetched(const int *x, int *y)
{
    __shared__ alignas(16) int tile[TILE];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    for (int i = t; i < TILE; i += THREADS)
        tile[i] = 0; // seen here: cleared_and_fetched
    if (!fault)      // fault here: cleared_and_fetched
        fence_async();
    make(&full, 1);
    if (t == 0) {
        expect(&full, BYTES);
        load(tile, x, BYTES, &full); // seen here: cleared_and_fetched
    }
    wait(&full, 0);
    y[t] = sum_of(tile);
}

RUN(cleared_and_fetched, 1, THREADS, numbers(TILE), sums(in, 1));

/* The same of global memory, where the kernel itself has written what it fetches. */
template <bool fault>
__global__ void written_and_fetched(int *x, int *y)
{
    __shared__ alignas(16) int tile[TILE];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    for (int i = t; i < TILE; i += THREADS)
        x[i] = i % 7 + 1; // seen here: written_and_fetched
    if (!fault)           // fault here: written_and_fetched
        fence_async_global();
    make(&full, 1);
    if (t == 0) {
        expect(&full, BYTES);
        load(tile, x, BYTES, &full); // seen here: written_and_fetched
    }
    wait(&full, 0);
    y[t] = sum_of(tile);
}

template <bool fault>
static bool run_written_and_fetched()
{
    array<int> x(TILE), y(THREADS);
    written_and_fetched<fault><<<1, THREADS>>>(x, y);
    return came_out<fault>(y.p, sums(numbers(TILE), 1));
}

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(tile_unfenced, "a tile is stored that no fence.proxy.async lies behind"),
        SUBTLE(fence_first, "half of the tile is written after the fence"),
        SUBTLE(one_warp_fences, "the second warp does not fence what it has written"),
        SUBTLE(other_memory, "the fence is for global memory, the tile is in shared memory"),
        SUBTLE(cleared_and_fetched, "zeros are written to a tile that a copy comes to"),
        SUBTLE(written_and_fetched, "a copy reads global memory that the kernel has written"),
    };
    return suite("proxy fence", list, argc, argv);
}
