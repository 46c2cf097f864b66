/* Descriptors of matrices in shared memory that cannot be meant: two elements at one address, a
 * start within the pattern of the swizzle, a matrix that leaves the block's shared memory. */
#include "wgmma.cuh"

/* The descriptor with another stride, from 8 rows to the next 8. */
static __device__ uint64_t with_stride(uint64_t descriptor, int bytes)
{
    return (descriptor & ~(0x3fffull << 32)) | (uint64_t)(bytes >> 4) << 32;
}

/* Eight rows of 128 bytes are 1024 bytes. */
template <bool fault>
__global__ void __launch_bounds__(GROUP) stride(const int *a, const int *b, float *y)
{
    __shared__ alignas(1024) char as[TILE], bs[TILE];
    float c[32];
    store_tiles(as, a, bs, b);
    wgmma_fence();
    const uint64_t rows = with_stride(tile(bs), fault ? 512 : 1024); // fault here: stride
    for (int k = 0; k < 4; k++)
        multiply(c, at_k(as, k), further(rows, k * 32), k); // seen here: stride
    wgmma_commit();
    wgmma_wait<0>();
    store_sums(y, c);
}

RUN_PRODUCT(stride, 1, 1);

/* Tiles one after the other in dynamic shared memory, behind a row of 64 numbers. */
template <bool fault>
__global__ void __launch_bounds__(GROUP) behind_row(const int *a, const int *b, float *y)
{
    extern __shared__ __align__(1024) char shared[];
    char *as = shared + (fault ? 128 : 1024), *bs = as + TILE; // fault here: behind_row
    float c[32];
    store_tiles(as, a, bs, b);
    wgmma_fence();
    for (int k = 0; k < 4; k++)
        multiply(c, at_k(as, k), at_k(bs, k), k); // seen here: behind_row
    wgmma_commit();
    wgmma_wait<0>();
    store_sums(y, c);
}

template <bool fault>
static bool run_behind_row()
{
    operands o;
    behind_row<fault><<<1, GROUP, 1024 + 2 * TILE>>>(o.a, o.b, o.y);
    return came_out<fault>(o.y.p, o.product());
}

/* a [64][64] b [64][128], b with its rows along k: two tiles of 64 columns, one behind the other.
 */
template <bool fault>
__global__ void __launch_bounds__(GROUP) next_columns(const int *a, const int *b, float *y)
{
    __shared__ alignas(1024) char as[TILE], bs[2 * TILE];
    float c[64];
    store_tile(as, a, threadIdx.x);
    store_tile(bs, b, threadIdx.x, GROUP, 2 * SIDE);
    proxy_fence();
    __syncthreads();
    wgmma_fence();
    const uint64_t rows = tile(bs, fault ? SIDE : TILE); // fault here: next_columns
    for (int k = 0; k < 4; k++)
        multiply<1>(c, at_k(as, k), further(rows, k * 2048), k); // seen here: next_columns
    wgmma_commit();
    wgmma_wait<0>();
    store_sums(y, c);
}

template <bool fault>
static bool run_next_columns()
{
    const auto a = numbers(SIDE * SIDE), b = numbers(2 * SIDE * SIDE);
    array<int> da(a), db(b);
    array<float> y(2 * SIDE * SIDE);
    next_columns<fault><<<1, GROUP>>>(da, db, y);
    std::vector<float> want(2 * SIDE * SIDE);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < 2 * SIDE; j++)
            for (int k = 0; k < SIDE; k++)
                want[(size_t)(i * 2 * SIDE + j)] +=
                    (float)(a[(size_t)(i * SIDE + k)] *
                            b[(size_t)(j / SIDE * SIDE * SIDE + k * SIDE + j % SIDE)]);
    return came_out<fault>(y.p, want);
}

/* 16 numbers are 32 bytes. */
template <bool fault>
__global__ void __launch_bounds__(GROUP) step_along_k(const int *a, const int *b, float *y)
{
    __shared__ alignas(1024) char as[TILE], bs[TILE];
    float c[32];
    store_tiles(as, a, bs, b);
    wgmma_fence();
    const int step = fault ? 48 : 32; // fault here: step_along_k
    const uint64_t x = tile(as), z = tile(bs);
    for (int k = 0; k < 4; k++) {
        const int at = k * step;
        multiply(c, further(x, at), further(z, at), k); // seen here: step_along_k
    }                                                   // seen here: step_along_k
    wgmma_commit();
    wgmma_wait<0>();
    store_sums(y, c);
}

RUN_PRODUCT(step_along_k, 1, 1);

/* The tiles of the last round end where shared memory does. */
template <bool fault>
__global__ void __launch_bounds__(GROUP) last_stage(const int *a, const int *b, float *y, int tiles)
{
    extern __shared__ __align__(1024) char shared[];
    char *stages = shared + TILE;
    float c[32] = {};
    store_tile(shared, a, threadIdx.x);
    for (int k = 0; k < tiles; k++)
        store_tile(stages + k * TILE, b + k * SIDE * SIDE, threadIdx.x);
    proxy_fence();
    __syncthreads();
    wgmma_fence();
    for (int k = 0; k < tiles; k++) {
        const uint64_t stage = tile(stages + (k + fault) * TILE); // fault here: last_stage
        for (int i = 0; i < 4; i++)
            multiply(c, at_k(shared, i), further(stage, i * 32)); // seen here: last_stage
    }
    wgmma_commit();
    wgmma_wait<0>();
    store_sums(y, c);
}

template <bool fault>
static bool run_last_stage()
{
    operands o(3);
    last_stage<fault><<<1, GROUP, 4 * TILE>>>(o.a, o.b, o.y, 3);
    return came_out<fault>(o.y.p, o.product());
}

/* All four warps give the same descriptors: which 16 rows of A are a warp's own is the hardware's
 * business. */
template <bool fault>
__global__ void __launch_bounds__(GROUP) of_warp(const int *a, const int *b, float *y)
{
    __shared__ alignas(1024) char as[TILE], bs[TILE];
    float c[32];
    store_tiles(as, a, bs, b);
    wgmma_fence();
    const int rows = fault ? threadIdx.x / 32 * 16 : 0; // fault here: of_warp
    for (int k = 0; k < 4; k++)
        multiply(c, further(tile(as), rows * 128 + k * 32), at_k(bs, k), k); // seen here: of_warp
    wgmma_commit();
    wgmma_wait<0>();
    store_sums(y, c);
}

RUN_PRODUCT(of_warp, 1, 1);

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(stride, "rows that lie 64 bytes apart, and have 128"),
        SUBTLE(behind_row, "tiles behind 128 bytes, where the swizzle's pattern is 1024"),
        SUBTLE(next_columns, "the next 64 columns 64 bytes on instead of a tile"),
        SUBTLE(step_along_k, "48 bytes for 16 numbers: the third step leaves the row"),
        SUBTLE(last_stage, "the last tile is behind the end of shared memory"),
        SUBTLE(of_warp, "each warp names its own rows"),
    };
    return suite("descriptor", list, argc, argv);
}
