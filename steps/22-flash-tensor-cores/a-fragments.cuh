/* a-fragments: tensor cores, and every operand straight from device memory.
 *
 * Each lane loads the halves that mma takes from that lane. P goes through shared memory, as a
 * matrix that is written and read again. (Each lane reads only what it has written itself, which
 * leads to the registers kernel.) */
#pragma once

#include "cuda/flash_rows.cuh"

namespace fragments
{

enum { ROWS = 64, KEYS = 64, THREADS = ROWS / 16 * 32 }; // 16 queries a warp

// Rows key and key + 1 of column d of v [Sk][D], in one register; rows past the end are zeros.
template <int D>
static __device__ __forceinline__ uint32_t two_rows(const __half *v, int key, int d, int Sk)
{
    const __half zero = __float2half(0.0f);
    const __half2 both = __halves2half2(key < Sk ? v[(int64_t)key * D + d] : zero,
                                        key + 1 < Sk ? v[(int64_t)(key + 1) * D + d] : zero);
    uint32_t bits;
    memcpy(&bits, (const void *)&both, sizeof bits);
    return bits;
}

// q [BH][Sq][D], k, v [BH][Sk][D] -> o [BH][Sq][D], lse [BH][Sq]
// cost: 4 D flops per pair of query and key; each warp loads all of K and V, 4 D bytes per key, in
// loads of 4 bytes (K) and 2 bytes (V) per lane
// Three blocks per multiprocessor, in every kernel of this step: threads have 168 registers each.
// Without this bound the swizzle, async and registers kernels take more at D = 128: two blocks.
template <int D>
__global__ void __launch_bounds__(THREADS, 3)
    flash(const __half *q, const __half *k, const __half *v, __half *o, float *lse, int Sq, int Sk,
          bool causal)
{
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
    __half(*probabilities)[KEYS] = all_probabilities[threadIdx.x / 32];
    const float scale = LOG2E / sqrtf((float)D); // to exponents of 2

    uint32_t query[D / 16][4];
    load_query<D>(query, q, row, Sq);
    float out[D / 8][4] = {};
    float row_max[2] = {-INFINITY, -INFINITY}; // of row and of row + 8
    float row_sum[2] = {0.0f, 0.0f};           // of the keys of this lane

    const int visible = causal ? min(Sk, Sk - Sq + block_row + ROWS) : Sk; // to the last row
    for (int first = 0; first < visible; first += KEYS) {
        float s[KEYS / 8][4] = {};
#pragma unroll
        for (int n = 0; n < KEYS / 8; n++) {
            const int key = first + n * 8 + g;
            const __half *row_of_k = k + (int64_t)key * D + 2 * t;
#pragma unroll
            for (int d = 0; d < D / 16; d++) {
                uint32_t b[2] = {0, 0};
                if (key < Sk) {
                    b[0] = *(const uint32_t *)(row_of_k + d * 16);
                    b[1] = *(const uint32_t *)(row_of_k + d * 16 + 8);
                }
                warp_mma(s[n], query[d], b);
            }
        }

        if (first + KEYS > Sk || (causal && first + KEYS - 1 > Sk - Sq + block_row)) {
            mask_scores<KEYS>(s, row, first, Sq, Sk, causal);
        }
        online_softmax<D, KEYS>(s, out, row_max, row_sum, scale);

#pragma unroll
        for (int n = 0; n < KEYS / 8; n++) {
            *(uint32_t *)&probabilities[g][n * 8 + 2 * t] = pack_halves(s[n][0], s[n][1]);
            *(uint32_t *)&probabilities[g + 8][n * 8 + 2 * t] = pack_halves(s[n][2], s[n][3]);
        }
#pragma unroll
        for (int n = 0; n < KEYS / 16; n++) {
            uint32_t p[4]; // 16 rows, keys 16n to 16n+15
            p[0] = *(const uint32_t *)&probabilities[g][n * 16 + 2 * t];
            p[1] = *(const uint32_t *)&probabilities[g + 8][n * 16 + 2 * t];
            p[2] = *(const uint32_t *)&probabilities[g][n * 16 + 2 * t + 8];
            p[3] = *(const uint32_t *)&probabilities[g + 8][n * 16 + 2 * t + 8];
            const int key = first + n * 16 + 2 * t;
#pragma unroll
            for (int d = 0; d < D / 8; d++) {
                uint32_t b[2];
                b[0] = two_rows<D>(v, key, d * 8 + g, Sk);
                b[1] = two_rows<D>(v, key + 8, d * 8 + g, Sk);
                warp_mma(out[d], p, b);
            }
        }
    }
    store_rows<D>(o + head * Sq * D, lse + head * Sq, out, row_max, row_sum, scale, row, Sq);
}

} // namespace fragments
