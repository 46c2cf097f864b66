/* d-async: the next tile is in flight while this one is used.
 *
 * cp.async copies from device memory into shared memory without a register in between and without
 * waiting. Two stages: one is read while the other is filled. */
#pragma once

#include "cuda/flash_rows.cuh"

namespace async
{

enum { ROWS = 64, KEYS = 64, THREADS = ROWS / 16 * 32 }; // 16 queries a warp

// Rows first to first + KEYS of from [Sk][D] -> the tile [KEYS][D] at this address of shared
// memory, swizzled; rows past the end are zeros. The rows are there after a wait and a barrier.
template <int D>
static __device__ __forceinline__ void load_tile(uint32_t tile, const __half *from, int first,
                                                 int Sk)
{
    constexpr int CHUNKS = D / 8;             // of 16 bytes, a row
    constexpr int AT_ONCE = THREADS / CHUNKS; // rows, a multiple of 8
    const int row = threadIdx.x / CHUNKS;
    const int chunk = threadIdx.x % CHUNKS;
    from += (int64_t)(first + row) * D + chunk * 8;
    tile += (row * D + (chunk ^ row % 8) * 8) * 2;
#pragma unroll
    for (int i = 0; i < KEYS; i += AT_ONCE) {
        copy_async(tile + i * D * 2, from + i * D, first + row + i < Sk ? 16 : 0);
    }
}

// q [BH][Sq][D], k, v [BH][Sk][D] -> o [BH][Sq][D], lse [BH][Sq]
// cost: as c-swizzle, and twice the shared memory; K and V are copied asynchronously
template <int D>
__global__ void __launch_bounds__(THREADS, 3)
    flash(const __half *q, const __half *k, const __half *v, __half *o, float *lse, int Sq, int Sk,
          bool causal)
{
    extern __shared__ __align__(16) __half tiles[]; // k [2][KEYS][D], v [2][KEYS][D]
    __shared__ __align__(16) __half all_probabilities[THREADS / 32][16][KEYS];
    const int lane = threadIdx.x % 32;
    const int g = lane / 4;
    const int t = lane % 4;
    const int64_t head = blockIdx.y;
    const int block_row = (gridDim.x - 1 - blockIdx.x) * ROWS;    // the longest rows first
    const int row = block_row + threadIdx.x / 32 * 16 + lane / 4; // of this lane, and row + 8
    q += head * Sq * D;
    k += head * Sk * D;
    v += head * Sk * D;
    const uint32_t k_tiles = shared_address(tiles);
    const uint32_t v_tiles = k_tiles + 2 * KEYS * D * 2;
    __half(*probabilities)[KEYS] = all_probabilities[threadIdx.x / 32];
    // The offsets that this lane gives to ldmatrix, as in c-swizzle.
    const uint32_t k_lane = (lane / 16 * 8 + lane % 8) * D * 2 + (lane / 8 % 2 ^ lane % 8) * 16;
    const uint32_t v_lane = lane % 16 * D * 2 + (lane / 16 ^ lane % 8) * 16;
    const float scale = LOG2E / sqrtf((float)D); // to exponents of 2

    uint32_t query[D / 16][4];
    load_query<D>(query, q, row, Sq);
    float out[D / 8][4] = {};
    float row_max[2] = {-INFINITY, -INFINITY}; // of row and of row + 8
    float row_sum[2] = {0.0f, 0.0f};           // of the keys of this lane

    const int visible = causal ? min(Sk, Sk - Sq + block_row + ROWS) : Sk; // to the last row
    if (visible > 0) {
        load_tile<D>(k_tiles, k, 0, Sk);
        load_tile<D>(v_tiles, v, 0, Sk);
        copy_async_commit();
    }
    for (int first = 0; first < visible; first += KEYS) {
        // snippet: stages
        const uint32_t stage = first / KEYS % 2 * KEYS * D * 2;
        const uint32_t other = KEYS * D * 2 - stage;
        const uint32_t k_now = k_tiles + stage;
        const uint32_t v_now = v_tiles + stage;
        copy_async_wait<0>();
        __syncthreads(); // this tile is there for all, and nobody reads the one before
        if (first + KEYS < visible) {
            load_tile<D>(k_tiles + other, k, first + KEYS, Sk);
            load_tile<D>(v_tiles + other, v, first + KEYS, Sk);
            copy_async_commit();
        }
        // end snippet: stages

        float s[KEYS / 8][4] = {};
#pragma unroll
        for (int d = 0; d < D / 16; d++) {
#pragma unroll
            for (int n = 0; n < KEYS / 16; n++) {
                uint32_t b[4]; // two operands: keys 16n to 16n+7 and the next 8
                warp_load_matrices(b, k_now + n * 16 * D * 2 + (k_lane ^ d * 32));
                warp_mma(s[2 * n], query[d], b);
                warp_mma(s[2 * n + 1], query[d], b + 2);
            }
        }

        if (first + KEYS > Sk || (causal && first + KEYS - 1 > Sk - Sq + block_row)) {
            mask_scores<KEYS>(s, row, first, Sq, Sk, causal);
        }
        online_softmax<D, KEYS>(s, out, row_max, row_sum, scale);

        __syncwarp(); // the warp has read the previous P
#pragma unroll
        for (int n = 0; n < KEYS / 8; n++) {
            const int at = (n ^ g) * 8 + 2 * t;
            *(uint32_t *)&probabilities[g][at] = pack_halves(s[n][0], s[n][1]);
            *(uint32_t *)&probabilities[g + 8][at] = pack_halves(s[n][2], s[n][3]);
        }
        __syncwarp();
#pragma unroll
        for (int n = 0; n < KEYS / 16; n++) {
            uint32_t p[4]; // 16 rows, keys 16n to 16n+15
            const int p_chunk = (n * 2 + lane / 16) ^ lane % 8;
            warp_load_matrices(p, shared_address(&probabilities[lane % 16][p_chunk * 8]));
#pragma unroll
            for (int d = 0; d < D / 16; d++) {
                uint32_t b[4]; // two operands: dimensions 16d to 16d+7 and the next 8
                warp_load_transposed(b, v_now + n * 16 * D * 2 + (v_lane ^ d * 32));
                warp_mma(out[2 * d], p, b);
                warp_mma(out[2 * d + 1], p, b + 2);
            }
        }
    }
    store_rows<D>(o + head * Sq * D, lse + head * Sq, out, row_max, row_sum, scale, row, Sq);
}

} // namespace async
