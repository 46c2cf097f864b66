/* Bulk copies that are in flight: their tile is read or overwritten before they are done, or the
 * block ends. Who has waited knows of the end, and who comes after him. Where a tile could be read
 * too early it holds 0 before. */
#include "bulk.cuh"

/* One thread asks for the tile, and every thread waits for it. */
template <bool fault>
__global__ void one_warp_waits_for_tile(const int *x, int *y)
{
    __shared__ alignas(16) int tile[TILE];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    for (int i = t; i < TILE; i += THREADS)
        tile[i] = 0;
    fence_async();
    make(&full, 1);
    if (t == 0) {
        expect(&full, BYTES);
        load(tile, x, BYTES, &full); // seen here: one_warp_waits_for_tile
    }
    if (!fault || t < 32) // fault here: one_warp_waits_for_tile
        wait(&full, 0);
    y[t] = sum_of(tile); // seen here: one_warp_waits_for_tile
}

RUN(one_warp_waits_for_tile, 1, THREADS, numbers(TILE), sums(in, 1));

/* Two stages. A consumer gives a stage back when it has read it, not before. */
template <bool fault>
__global__ void given_back_early(const int *x, int *y, int tiles)
{
    __shared__ alignas(16) int stage[2][TILE];
    __shared__ uint64_t full[2], empty[2];
    const int t = threadIdx.x;
    if (t == 0)
        for (int i = 0; i < 2; i++) {
            init(&full[i], 1);
            init(&empty[i], THREADS);
        }
    fence_init();
    __syncthreads();
    if (t == THREADS) { // the producer
        for (int k = 0; k < tiles; k++) {
            wait(&empty[k % 2], 1 ^ (k / 2 & 1));
            expect(&full[k % 2], BYTES);
            load(stage[k % 2], x + TILE * k, BYTES, &full[k % 2]); // seen here: given_back_early
        }
    } else if (t < THREADS) {
        const bool early = fault; // fault here: given_back_early
        int sum = 0;
        for (int k = 0; k < tiles; k++) {
            wait(&full[k % 2], k / 2 & 1);
            if (early)
                arrive(&empty[k % 2]);
            sum += (k + 1) * sum_of(stage[k % 2]); // seen here: given_back_early
            if (!early)
                arrive(&empty[k % 2]);
        }
        y[t] = sum;
    }
}

RUN(given_back_early, 1, THREADS + 32, numbers(5 * TILE), sums(in, 5), 5);

/* A tile that is stored is written again when the store has read it. */
template <bool fault>
__global__ void stored_and_overwritten(int *y, int tiles)
{
    __shared__ alignas(16) int tile[TILE];
    const int t = threadIdx.x;
    for (int k = 0; k < tiles; k++) {
        for (int i = t; i < TILE; i += THREADS)
            tile[i] = 10 * i + k; // seen here: stored_and_overwritten
        fence_async();
        __syncthreads();
        if (t == 0) {
            store(y + TILE * k, tile, BYTES); // seen here: stored_and_overwritten
            if (!fault || k + 1 == tiles)     // fault here: stored_and_overwritten
                stored_read<0>();
        }
        __syncthreads();
    }
    if (t == 0)
        stored<0>();
}

static std::vector<int> written(int tiles)
{
    std::vector<int> want(tiles * TILE);
    for (int k = 0; k < tiles; k++)
        for (int i = 0; i < TILE; i++)
            want[k * TILE + i] = 10 * i + k;
    return want;
}

RUN_OUT(stored_and_overwritten, 1, THREADS, written(3), 3);

/* Only the thread that stores can wait for it: the others wait for that thread. */
template <bool fault>
__global__ void only_one_knows(int *y, int tiles)
{
    __shared__ alignas(16) int tile[TILE];
    const int t = threadIdx.x;
    for (int k = 0; k < tiles; k++) {
        for (int i = t; i < TILE; i += THREADS)
            tile[i] = 10 * i + k; // seen here: only_one_knows
        fence_async();
        __syncthreads();
        if (t == 0) {
            store(y + TILE * k, tile, BYTES); // seen here: only_one_knows
            stored_read<0>();
        }
        if (!fault || k + 2 != tiles) // fault here: only_one_knows
            __syncthreads();
    }
    if (t == 0)
        stored<0>();
}

RUN_OUT(only_one_knows, 1, THREADS, written(3), 3);

/* Two tiles, so one store may still read while the other tile is written: one, not two. */
template <bool fault>
__global__ void two_stores_read(int *y, int tiles)
{
    __shared__ alignas(16) int tile[2][TILE];
    const int t = threadIdx.x;
    for (int k = 0; k < tiles; k++) {
        if (t == 0)
            stored_read<fault ? 2 : 1>(); // fault here: two_stores_read
        __syncthreads();
        for (int i = t; i < TILE; i += THREADS)
            tile[k % 2][i] = 10 * i + k; // seen here: two_stores_read
        fence_async();
        __syncthreads();
        if (t == 0)
            store(y + TILE * k, tile[k % 2], BYTES); // seen here: two_stores_read
    }
    if (t == 0)
        stored<0>();
}

RUN_OUT(two_stores_read, 1, THREADS, written(5), 5);

/* A tile that is fetched for a round that does not come is still on its way when the block ends. */
template <bool fault>
__global__ void fetched_for_nobody(const int *x, int *y, int tiles)
{
    __shared__ alignas(16) int stage[2][TILE];
    __shared__ uint64_t full[2];
    const int t = threadIdx.x;
    if (t == 0) {
        init(&full[0], 1);
        init(&full[1], 1);
        fence_init();
        expect(&full[0], BYTES);
        load(stage[0], x, BYTES, &full[0]);
    }
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < tiles; k++) {
        const int next = k + 1, i = next % 2;
        if (t == 0 && (fault || next < tiles)) { // fault here: fetched_for_nobody
            expect(&full[i], BYTES);
            load(stage[i], x + TILE * next, BYTES, &full[i]); // seen here: fetched_for_nobody
        }
        wait(&full[k % 2], k / 2 & 1);
        sum += (k + 1) * sum_of(stage[k % 2]);
        __syncthreads();
    }
    y[t] = sum;
}

RUN(fetched_for_nobody, 1, THREADS, numbers(5 * TILE), sums(in, 4), 4);

/* A block that ends takes its tiles with it, so a store has to have read them. */
template <bool fault>
__global__ void ends_while_stored(int *y)
{
    __shared__ alignas(16) int tile[TILE];
    const int t = threadIdx.x;
    for (int i = t; i < TILE; i += THREADS)
        tile[i] = 10 * i;
    fence_async();
    __syncthreads();
    if (t == 0) {
        store(y, tile, BYTES); // seen here: ends_while_stored
        if (!fault)            // fault here: ends_while_stored
            stored_read<0>();
    }
}

RUN_OUT(ends_while_stored, 1, THREADS, written(1));

/* That a store has read its tile says nothing of the array. */
template <bool fault>
__global__ void read_back(int *y, int *z)
{
    __shared__ alignas(16) int tile[TILE];
    const int t = threadIdx.x;
    for (int i = t; i < TILE; i += THREADS)
        tile[i] = 10 * i;
    fence_async();
    __syncthreads();
    if (t == 0) {
        store(y, tile, BYTES); // seen here: read_back
        stored_read<0>();
        if (!fault) // fault here: read_back
            stored<0>();
    }
    __syncthreads();
    z[t] = y[t]; // seen here: read_back
}

template <bool fault>
static bool run_read_back()
{
    array<int> y(std::vector<int>(TILE, 0)), z(THREADS);
    read_back<fault><<<1, THREADS>>>(y, z);
    auto want = written(1);
    want.resize(THREADS);
    return came_out<fault>(z.p, want);
}

int main(int argc, char **argv)
{
    static const planted list[] = {
        SUBTLE(one_warp_waits_for_tile,
               "the second warp reads a tile that the first has waited for"),
        SUBTLE(given_back_early, "a stage is given back before it is read, and fetched again"),
        PLAIN(stored_and_overwritten, "a tile is written again while a store reads it"),
        SUBTLE(only_one_knows, "other threads do not come after the wait for the store"),
        SUBTLE(two_stores_read, "one store too many may still read its tile"),
        SUBTLE(fetched_for_nobody, "the block ends while a tile comes that nobody wants"),
        PLAIN(ends_while_stored, "the block ends while a store reads its tile"),
        SUBTLE(read_back, "the array is read when the store has read its tile only"),
    };
    return suite("pending copy", list, argc, argv);
}
