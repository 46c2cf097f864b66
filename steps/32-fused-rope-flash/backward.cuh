/* The backward pass of step 32: attention_backward.cuh's kernels, in which tiles are rotated, and
 * gradients rotated back. y = R x is a rotated row, so the gradient by x is R^T times the gradient
 * by y: it is rotated by minus the angle. */
#pragma once

#include "attention_backward.cuh"
#include "cuda/rotate_tile.cuh"

struct angle_table {
    const float *cosine, *sine; // [Sk][D/2]
};

// Turns a pair of a gradient by a rotated row into a pair of the gradient by the row itself.
static __device__ __forceinline__ void rotate_back(float *x, float *y, float cosine, float sine)
{
    const float rotated = *x * cosine + *y * sine;
    *y = *y * cosine - *x * sine;
    *x = rotated;
}

// c [STRIPS * 16][D]: rows first to first + STRIPS * 16 of a gradient by [S][D]. A lane has both
// column d and column d + D/2 of its rows. cost: 4 D bytes of tables per row
template <int D, int STRIPS>
static __device__ __forceinline__ void warp_rotate_back(float (*c)[D / 8][4], angle_table angles,
                                                        int first, int S)
{
    const int g = threadIdx.x % 32 / 4;
    const int t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int row = first + i * 16 + half * 8 + g;
            if (row >= S) {
                continue;
            }
            COUNT("dK rotations", t == 0);
            const int64_t angle = (int64_t)row * (D / 2) + 2 * t;
#pragma unroll
            for (int d = 0; d < D / 16; d++) {
                const float2 cosine = *(const float2 *)(angles.cosine + angle + d * 8);
                const float2 sine = *(const float2 *)(angles.sine + angle + d * 8);
                float *x = &c[i][d][2 * half];
                float *y = &c[i][d + D / 16][2 * half];
                rotate_back(x, y, cosine.x, sine.x);
                rotate_back(x + 1, y + 1, cosine.y, sine.y);
                COUNT("table loads", 4);
                COUNT("element rotations", 4);
            }
        }
    }
}

// q, dout [BH][Sq][D], k, v [BH][Sk][D], lse, delta [BH][Sq]
//     -> dk, dv [BH][Sk][D]; dq, by the rotated q and without its scale, is added to sums
//     [BH][padded][D], in tiles of 16 x 8
// grid (BH, Sk / KEYS) under a mask, else (Sk / KEYS, BH); WARPS * 32 threads, one warp per 16
// STRIPS keys. cost: that of tiled_backward::backward, and a query is rotated once per KEYS keys
// that it sees: 3 D flops, 4 D bytes of tables
template <int D, int KEYS, int ROWS, int WARPS>
__global__ void __launch_bounds__(WARPS * 32, 8 / WARPS)
    fused_backward(backward_args all, angle_table angles, const float *delta_of, float *sums_of)
{
    constexpr int THREADS = WARPS * 32;
    constexpr int STRIPS = KEYS / WARPS / 16;
    constexpr int PART = STRIPS > 1 ? 32 : ROWS; // queries at a time, to limit registers
    constexpr int TILE = ROWS * D * 2;           // bytes
    // The warps share the dq of a tile: ACROSS of them side by side, each with 16 STRIPES queries
    // and WIDTH dimensions.
    constexpr int ACROSS = WARPS == 8 ? D / 32 : 2;
    constexpr int STRIPES = ROWS / (WARPS / ACROSS) / 16;
    constexpr int WIDTH = D / ACROSS;
    // k, v [KEYS][D], q, dout [2][ROWS][D], dS^T [KEYS][ROWS]; floats: lse, delta [2][ROWS]
    extern __shared__ __align__(16) __half tiles[];
    // Under a mask the first keys have the most queries: the first keys of all heads come first.
    const int head = all.causal ? blockIdx.x : blockIdx.y;
    const int block_key = (all.causal ? blockIdx.y : blockIdx.x) * KEYS;
    const backward_args a = of_head<D>(all, head);
    const float *delta = delta_of + (int64_t)head * a.Sq;
    float *sums = sums_of + head * padded_rows(a.Sq) * D;
    const int warp = threadIdx.x / 32;
    const int warp_key = warp * STRIPS * 16;
    const int dq_row = warp / ACROSS * STRIPES * 16; // of the warp's share of dq
    const int dq_column = warp % ACROSS * WIDTH;
    const uint32_t k_tile = shared_address(tiles);
    const uint32_t v_tile = k_tile + KEYS * D * 2;
    query_stages queries;
    queries.q = v_tile + KEYS * D * 2;
    queries.dout = queries.q + 2 * TILE;
    const uint32_t ds_tile = queries.dout + 2 * TILE;
    queries.lse = ds_tile + KEYS * ROWS * 2;
    queries.delta = queries.lse + 2 * ROWS * 4;
    __half *ds_rows = tiles + 2 * KEYS * D + 4 * ROWS * D;
    const float *lse_rows = (const float *)(ds_rows + KEYS * ROWS);
    const float *delta_rows = lse_rows + 2 * ROWS;
    const float scale = LOG2E / sqrtf((float)D); // to exponents of 2
    // The tile of the first query that sees a key of this block.
    const int start = a.causal ? max(0, block_key - (a.Sk - a.Sq)) / ROWS * ROWS : 0;

    load_tile<D, KEYS, THREADS>(k_tile, a.k, block_key, a.Sk);
    load_tile<D, KEYS, THREADS>(v_tile, a.v, block_key, a.Sk);
    copy_async_commit();
    if (start < a.Sq) {
        load_query_stage<D, ROWS, THREADS>(queries, 0, a, delta, start);
    }
    copy_async_commit();
    copy_async_wait<1>();
    __syncthreads(); // the tile of k is there for all
    rotate_tile<D, KEYS, THREADS>(tiles, angles.cosine, angles.sine, block_key, a.Sk);
    COUNT("K rotations", threadIdx.x == 0 ? min(KEYS, a.Sk - block_key) : 0);
    // Query i stands where key Sk - Sq + i stands.
    const int64_t first_angle = (int64_t)(a.Sk - a.Sq) * (D / 2);
    float dk[STRIPS][D / 8][4] = {};
    float dv[STRIPS][D / 8][4] = {};
    for (int first = start; first < a.Sq; first += ROWS) {
        const int stage = (first - start) / ROWS % 2;
        const int next = first + ROWS;
        const uint32_t q_tile = queries.q + stage * TILE;
        const uint32_t dout_tile = queries.dout + stage * TILE;
        copy_async_wait<0>();
        __syncthreads(); // this tile is there for all, and nobody reads the one before
        if (next < a.Sq) {
            load_query_stage<D, ROWS, THREADS>(queries, 1 - stage, a, delta, next);
        }
        copy_async_commit();
        rotate_tile<D, ROWS, THREADS>(tiles + 2 * KEYS * D + stage * ROWS * D,
                                      angles.cosine + first_angle, angles.sine + first_angle, first,
                                      a.Sq);
        COUNT("Q rotations", threadIdx.x == 0 ? min(ROWS, a.Sq - first) : 0);
        __syncthreads(); // q is rotated, and k
        uint32_t ds_operand[ROWS / PART][STRIPS][PART / 16][4];
#pragma unroll
        for (int m = 0; m < ROWS; m += PART) {
            float p[STRIPS][PART / 8][4] = {}; // scores, then probabilities
            float ds[STRIPS][PART / 8][4];     // dP - delta, then dS
            uint32_t operand[STRIPS][PART / 16][4];
            warp_add_scores<D, STRIPS, PART>(p, k_tile + warp_key * D * 2, q_tile + m * D * 2);
            minus_by_column<STRIPS, PART>(ds, delta_rows + stage * ROWS + m);
            warp_add_scores<D, STRIPS, PART>(ds, v_tile + warp_key * D * 2, dout_tile + m * D * 2);
            probabilities_by_column<STRIPS, PART>(p, lse_rows + stage * ROWS + m, scale);
            if (block_key + KEYS > a.Sk ||
                (a.causal && block_key + KEYS - 1 > a.Sk - a.Sq + first)) {
                hide<true, STRIPS, PART>(p, a, first + m, block_key + warp_key);
            }
            multiply<STRIPS, PART>(ds, p);
            pack<STRIPS, PART>(operand, p);
            pack<STRIPS, PART>(ds_operand[m / PART], ds);
            warp_store_operand<ROWS, STRIPS, PART>(ds_rows + warp_key * ROWS, ds_operand[m / PART],
                                                   m);
            warp_add_rows<D, STRIPS, PART>(dv, operand, dout_tile + m * D * 2);
        }
        __syncthreads(); // dS of all keys is there
        float dq[STRIPES][WIDTH / 8][4] = {};
        warp_add_transposed<D, KEYS, ROWS, STRIPES, WIDTH>(dq, ds_tile, dq_row, k_tile, dq_column);
#pragma unroll
        for (int i = 0; i < STRIPES; i++) {
#pragma unroll
            for (int d = 0; d < WIDTH / 8; d++) {
                const int64_t tile = ((first + dq_row) / 16 + i) * (D / 8) + dq_column / 8 + d;
                tiled_backward::add_four(sums + (tile * 32 + threadIdx.x % 32) * 4, dq[i][d]);
            }
        }
#pragma unroll
        for (int m = 0; m < ROWS; m += PART) {
            warp_add_rows<D, STRIPS, PART>(dk, ds_operand[m / PART], q_tile + m * D * 2);
        }
    }
    // solution: rotate-back -- dk of the rotated k becomes that of k
    // hint: dk is now the gradient by the rotated keys. Which function of this file rotates the
    //     fragments of a warp back?
    // hint: warp_rotate_back takes the fragments, the tables, the warp's first row and the number
    //     of rows. Key j has position j, so the tables need no offset.
    // hint: The warp's first key is `block_key + warp_key`, and a.Sk keys exist; the function
    //     itself leaves out rows past the end.
    warp_rotate_back<D, STRIPS>(dk, angles, block_key + warp_key, a.Sk);
    // end solution: rotate-back
    warp_store_rows<D, STRIPS>(a.dk + (int64_t)head * a.Sk * D, dk, 1.0f / sqrtf((float)D),
                               block_key + warp_key, a.Sk);
    warp_store_rows<D, STRIPS>(a.dv + (int64_t)head * a.Sk * D, dv, 1.0f, block_key + warp_key,
                               a.Sk);
}

// sums [BH][padded][D] in tiles of 16 x 8, by rotated q -> dq [BH][Sq][D], by q, times 1 / sqrt(D)
// grid (Sq * D / 4 / 256, BH), a thread computes two pairs. cost: 8 bytes per element
template <int D>
__global__ void fused_convert(const float *sums, __half *dq, angle_table angles, int Sq, int Sk)
{
    const int64_t head = blockIdx.y;
    const int row = (blockIdx.x * 256 + threadIdx.x) / (D / 4);
    const int column = (blockIdx.x * 256 + threadIdx.x) % (D / 4) * 2;
    if (row >= Sq) {
        return;
    }
    const int tile = row / 16 * (D / 8) + column / 8;
    const int lane = row % 8 * 4 + column % 8 / 2;
    const int64_t at = ((int64_t)tile * 32 + lane) * 4 + row % 16 / 8 * 2;
    const float *from = sums + head * padded_rows(Sq) * D + at;
    float2 x = *(const float2 *)from;
    float2 y = *(const float2 *)(from + D / 16 * 128); // D/16 tiles further
    const int64_t angle = (int64_t)(Sk - Sq + row) * (D / 2) + column;
    const float2 cosine = *(const float2 *)(angles.cosine + angle);
    const float2 sine = *(const float2 *)(angles.sine + angle);
    rotate_back(&x.x, &y.x, cosine.x, sine.x);
    rotate_back(&x.y, &y.y, cosine.y, sine.y);
    COUNT("table loads", 4);
    COUNT("element rotations", 4);
    COUNT("dQ rotations", column == 0);
    const float scale = 1.0f / sqrtf((float)D);
    __half *to = dq + (head * Sq + row) * D + column;
    *(uint32_t *)to = pack_halves(x.x * scale, x.y * scale);
    *(uint32_t *)(to + D / 2) = pack_halves(y.x * scale, y.y * scale);
}

template <int D, int KEYS, int ROWS, int WARPS>
static void launch_fused_backward_of(const kf_run *run, cudaStream_t stream)
{
    const tiled_backward::job j = tiled_backward::job_of(run, "q", "k", stream);
    const angle_table angles = {kf_f32(run, "cos"), kf_f32(run, "sin")};
    const int bytes = tiled_backward::bytes_of_block<D, KEYS, ROWS>();
    tiled_backward::launch_before<D>(j);
    allow_shared(fused_backward<D, KEYS, ROWS, WARPS>, bytes);
    fused_backward<D, KEYS, ROWS, WARPS>
        <<<tiled_backward::grid_of(j, KEYS), WARPS * 32, bytes, stream>>>(j.a, angles, j.delta,
                                                                          j.sums);
    CUDA_CHECK_LAUNCH();
    const dim3 pairs((j.a.Sq * (D / 4) + 255) / 256, j.heads);
    fused_convert<D><<<pairs, 256, 0, stream>>>(j.sums, j.a.dq, angles, j.a.Sq, j.a.Sk);
    CUDA_CHECK_LAUNCH();
}

static inline void launch_fused_backward(const kf_run *run, cudaStream_t stream)
{
    if (run->shape.D == 64) {
        launch_fused_backward_of<64, 128, 64, 4>(run, stream);
    } else {
        launch_fused_backward_of<128, 128, 64, 8>(run, stream);
    }
}
