/* Products of wgmma that have been issued and not waited for: somebody touches their sums, changes
 * the registers of A, or overwrites a tile that they may still read; or nobody waits at all. */
#include "wgmma.cuh"

template <bool fault>
__global__ void __launch_bounds__(GROUP) sums_read(const int *a, const int *b, float *y)
{
    __shared__ alignas(1024) char as[TILE], bs[TILE];
    float c[32];
    store_tiles(as, a, bs, b);
    wgmma_fence();
    multiply_tiles(c, tile(as), tile(bs), 0); // seen here: sums_read
    wgmma_commit();
    if (!fault) // fault here: sums_read
        wgmma_wait<0>();
    const float first = c[0]; // seen here: sums_read
    wgmma_wait<0>();
    store_sums(y, c);
    if (threadIdx.x == 0)
        y[0] = first;
}

RUN_PRODUCT(sums_read, 1, 1);

/* Tile k of b is in flight while tile k + 1 is stored; of each, products go to other sums. */
template <bool fault>
__global__ void __launch_bounds__(GROUP) last_wait(const int *a, const int *b, float *y, int tiles)
{
    __shared__ alignas(1024) char as[TILE], bs[2][TILE];
    float c[32], total[32] = {};
    store_tile(as, a, threadIdx.x);
    for (int k = 0; k < tiles; k++) {
        store_tile(bs[k % 2], b + k * SIDE * SIDE, threadIdx.x);
        proxy_fence();
        __syncthreads();
        wgmma_fence();
        multiply_tiles(c, tile(as), tile(bs[k % 2]), 0); // seen here: last_wait
        wgmma_commit();
        if (fault && k == tiles - 1) // fault here: last_wait
            wgmma_wait<1>();
        else
            wgmma_wait<0>();
        for (int i = 0; i < 32; i++)
            total[i] += c[i]; // seen here: last_wait
    }
    wgmma_wait<0>();
    store_sums(y, total);
}

RUN_PRODUCT(last_wait, 3, 1, 3);

/* The sums of the tile before are scaled while the next product is on its way. */
template <bool fault>
__global__ void __launch_bounds__(GROUP) sums_scaled(const int *a, const int *b, float *y)
{
    __shared__ alignas(1024) char as[TILE], bs[TILE];
    float c[32];
    store_tiles(as, a, bs, b);
    wgmma_fence();
    multiply_tiles(c, tile(as), tile(bs), 0); // seen here: sums_scaled
    wgmma_commit();
    if (!fault) // fault here: sums_scaled
        wgmma_wait<0>();
    for (int i = 0; i < 32; i++)
        c[i] *= 2.0f; // seen here: sums_scaled
    wgmma_wait<0>();
    store_sums(y, c);
}

RUN_PRODUCT(sums_scaled, 1, 2);

/* The registers of A are filled for the next 16 of k. */
template <bool fault>
__global__ void __launch_bounds__(GROUP) part_reused(const int *a, const int *b, float *y)
{
    __shared__ alignas(1024) char bs[TILE];
    float c[32];
    uint32_t part[4];
    store_tile(bs, b, threadIdx.x);
    proxy_fence();
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        load_part(part, a, k * 16); // seen here: part_reused
        wgmma_fence();
        multiply(c, part, at_k(bs, k), k); // seen here: part_reused
        wgmma_commit();
        if (!fault) // fault here: part_reused
            wgmma_wait<0>();
    }
    wgmma_wait<0>();
    store_sums(y, c);
}

RUN_PRODUCT(part_reused, 1, 1);

/* One stage: the next tile is stored where products may still read. */
template <bool fault>
__global__ void __launch_bounds__(GROUP)
    tile_stored(const int *a, const int *b, float *y, int tiles)
{
    __shared__ alignas(1024) char as[TILE], bs[TILE];
    float c[32] = {};
    store_tile(as, a, threadIdx.x);
    for (int k = 0; k < tiles; k++) {
        store_tile(bs, b + k * SIDE * SIDE, threadIdx.x); // seen here: tile_stored
        proxy_fence();
        __syncthreads();
        wgmma_fence();
        for (int i = 0; i < 4; i++)
            multiply(c, at_k(as, i), at_k(bs, i)); // seen here: tile_stored
        wgmma_commit();
        if (!fault) // fault here: tile_stored
            wgmma_wait<0>();
        __syncthreads();
    }
    wgmma_wait<0>();
    store_sums(y, c);
}

RUN_PRODUCT(tile_stored, 2, 1, 2);

/* A fifth warp stores the tiles. The others tell it by barrier 3 that a stage is free, which is so
 * when they have waited for the product before the latest. */
template <bool fault>
__global__ void __launch_bounds__(GROUP + 32)
    stage_freed(const int *a, const int *b, float *y, int tiles)
{
    __shared__ alignas(1024) char as[TILE], bs[2][TILE];
    const int all = GROUP + 32;
    if (threadIdx.x >= GROUP) {
        for (int k = 0; k < tiles; k++) {
            if (k > 1)
                named_sync(3, all);
            const int *next = b + k * SIDE * SIDE;
            store_tile(bs[k % 2], next, threadIdx.x % 32, 32); // seen here: stage_freed
            proxy_fence();
            named_arrive(1 + k % 2, all);
        }
        return;
    }
    float c[32] = {};
    store_tile(as, a, threadIdx.x);
    proxy_fence();
    for (int k = 0; k < tiles; k++) {
        named_sync(1 + k % 2, all);
        wgmma_fence();
        for (int i = 0; i < 4; i++)
            multiply(c, at_k(as, i), at_k(bs[k % 2], i)); // seen here: stage_freed
        wgmma_commit();
        wgmma_wait<fault ? 2 : 1>(); // fault here: stage_freed
        if (k > 0 && k + 1 < tiles)
            named_arrive(3, all);
    }
    wgmma_wait<0>();
    store_sums(y, c);
}

template <bool fault>
static bool run_stage_freed()
{
    operands o(5);
    stage_freed<fault><<<1, GROUP + 32>>>(o.a, o.b, o.y, 5);
    return came_out<fault>(o.y.p, o.product());
}

/* The last product is in no group, and a wait is for groups. */
template <bool fault>
__global__ void __launch_bounds__(GROUP) no_commit(const int *a, const int *b, float *y)
{
    __shared__ alignas(1024) char as[TILE], bs[TILE];
    float c[32];
    store_tiles(as, a, bs, b);
    wgmma_fence();
    for (int k = 0; k < 4; k++) {
        multiply(c, at_k(as, k), at_k(bs, k), k); // seen here: no_commit
        if (!fault || k < 3)                      // fault here: no_commit
            wgmma_commit();
    }
    wgmma_wait<0>();
    store_sums(y, c);
}

RUN_PRODUCT(no_commit, 1, 1);

/* A product is issued ahead in each round, also when there is no next round. */
template <bool fault>
__global__ void __launch_bounds__(GROUP) one_ahead(const int *a, const int *b, float *y, int tiles)
{
    __shared__ alignas(1024) char as[TILE], bs[TILE];
    float c[32], total[32] = {};
    store_tiles(as, a, bs, b);
    wgmma_fence();
    multiply_tiles(c, tile(as), tile(bs), 0);
    wgmma_commit();
    for (int k = 0; k < tiles; k++) {
        wgmma_wait<0>();
        for (int i = 0; i < 32; i++)
            total[i] += c[i];
        wgmma_fence();
        if (fault || k + 1 < tiles) // fault here: one_ahead
            for (int i = 0; i < 4; i++)
                multiply(c, at_k(as, i), at_k(bs, i), i); // seen here: one_ahead
        wgmma_commit();
    }
    store_sums(y, total);
}

RUN_PRODUCT(one_ahead, 1, 3, 3);

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(sums_read, "a sum is read, and nobody has waited for the product"),
        SUBTLE(last_wait, "in the last round a group may be left, and its sums are added up"),
        SUBTLE(sums_scaled, "sums are scaled while the product is on its way"),
        SUBTLE(part_reused, "registers of A are filled again for the next product"),
        SUBTLE(tile_stored, "the next tile is stored over the one that is being read"),
        SUBTLE(stage_freed, "a stage is given back one product too early"),
        SUBTLE(no_commit, "the last of four products is in no group when it is waited for"),
        SUBTLE(one_ahead, "a product ahead of the last round is never waited for"),
    };
    return suite("pending wgmma", list, argc, argv);
}
