/* wgmma.fence: before a warp's first product, and between each access to the registers of sums or
 * of A and the product that takes them. A GPU's compiler puts a missing one in, and says so
 * (C7519). */
#include "wgmma.cuh"

template <bool fault>
__global__ void __launch_bounds__(GROUP) no_wgmma_fence(const int *a, const int *b, float *y)
{
    __shared__ alignas(1024) char as[TILE], bs[TILE];
    float c[32];
    store_tiles(as, a, bs, b);
    if (!fault) // fault here: no_wgmma_fence
        wgmma_fence();
    for (int i = 0; i < 4; i++)
        multiply(c, at_k(as, i), at_k(bs, i), i); // seen here: no_wgmma_fence
    wgmma_commit();
    wgmma_wait<0>();
    store_sums(y, c);
}

RUN_PRODUCT(no_wgmma_fence, 1, 1);

/* There is a fence, and then the sums are set to 0. */
template <bool fault>
__global__ void __launch_bounds__(GROUP) zeros_later(const int *a, const int *b, float *y)
{
    __shared__ alignas(1024) char as[TILE], bs[TILE];
    float c[32];
    store_tiles(as, a, bs, b);
    wgmma_fence();
    for (int i = 0; i < 32; i++)
        c[i] = 0.0f; // seen here: zeros_later
    if (!fault)      // fault here: zeros_later
        wgmma_fence();
    multiply_tiles(c, tile(as), tile(bs)); // seen here: zeros_later
    wgmma_commit();
    wgmma_wait<0>();
    store_sums(y, c);
}

RUN_PRODUCT(zeros_later, 1, 1);

/* Between two products, sums are scaled: the fence before the first is not enough. */
template <bool fault>
__global__ void __launch_bounds__(GROUP)
    scaled_between(const int *a, const int *b, float *y, int tiles)
{
    __shared__ alignas(1024) char as[TILE], bs[TILE];
    float c[32] = {};
    store_tiles(as, a, bs, b);
    for (int k = 0; k < tiles; k++) {
        if (!fault || k == 0) // fault here: scaled_between
            wgmma_fence();
        multiply_tiles(c, tile(as), tile(bs)); // seen here: scaled_between
        wgmma_commit();
        wgmma_wait<0>();
        for (int i = 0; i < 32; i++)
            c[i] *= 0.5f; // seen here: scaled_between
    }
    store_sums(y, c);
}

RUN_PRODUCT(scaled_between, 1, 0.75f, 2);

/* A is packed into registers after the fence. */
template <bool fault>
__global__ void __launch_bounds__(GROUP) packed_later(const int *a, const int *b, float *y)
{
    __shared__ alignas(1024) char bs[TILE];
    float c[32] = {};
    uint32_t part[4][4];
    store_tile(bs, b, threadIdx.x);
    proxy_fence();
    __syncthreads();
    wgmma_fence();
    for (int k = 0; k < 4; k++)
        load_part(part[k], a, k * 16); // seen here: packed_later
    if (!fault)                        // fault here: packed_later
        wgmma_fence();
    for (int k = 0; k < 4; k++)
        multiply(c, part[k], at_k(bs, k)); // seen here: packed_later
    wgmma_commit();
    wgmma_wait<0>();
    store_sums(y, c);
}

RUN_PRODUCT(packed_later, 1, 1);

/* Sums are read in each round, and the next product begins with 0 and overwrites them. */
template <bool fault>
__global__ void __launch_bounds__(GROUP)
    read_between(const int *a, const int *b, float *y, int tiles)
{
    __shared__ alignas(1024) char as[TILE], bs[TILE];
    float c[32], total[32] = {};
    store_tiles(as, a, bs, b);
    wgmma_fence();
    for (int k = 0; k < tiles; k++) {
        if (!fault) // fault here: read_between
            wgmma_fence();
        multiply_tiles(c, tile(as), tile(bs), 0); // seen here: read_between
        wgmma_commit();
        wgmma_wait<0>();
        for (int i = 0; i < 32; i++)
            total[i] += c[i]; // seen here: read_between
    }
    store_sums(y, total);
}

RUN_PRODUCT(read_between, 1, 2, 2);

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(no_wgmma_fence, "there is none at all"),
        SUBTLE(zeros_later, "sums are set to 0 between the fence and the product"),
        SUBTLE(scaled_between,
               "sums are scaled between two products, with a fence before the first"),
        SUBTLE(packed_later, "A is packed into registers between the fence and the products"),
        SUBTLE(read_between, "sums are read before a product overwrites them"),
    };
    return suite("wgmma fence", list, argc, argv);
}
