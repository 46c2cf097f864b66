/* b-shared: tiles of K and V in shared memory, rows as they are in device memory.
 *
 * Four warps read tiles that their block has loaded once, in loads of 16 bytes. But the rows of a
 * tile are 2 D bytes apart, a multiple of all 32 banks: eight lanes that read the same column of
 * eight rows need the same banks. */
#pragma once

#include "cuda/flash_rows.cuh"

namespace shared
{

enum { ROWS = 64, KEYS = 64, THREADS = ROWS / 16 * 32 }; // 16 queries a warp

// Rows first to first + KEYS of from [Sk][D] -> tile [KEYS][D]; rows past the end are zeros.
template <int D>
static __device__ __forceinline__ void load_tile(__half *tile, const __half *from, int first,
                                                 int Sk)
{
    constexpr int CHUNKS = D / 8;             // of 16 bytes, a row
    constexpr int AT_ONCE = THREADS / CHUNKS; // rows, a multiple of 8
    const int row = threadIdx.x / CHUNKS;
    const int chunk = threadIdx.x % CHUNKS;
    from += (int64_t)(first + row) * D + chunk * 8;
    tile += row * D + chunk * 8;
#pragma unroll
    for (int i = 0; i < KEYS; i += AT_ONCE) {
        uint4 values = {0, 0, 0, 0};
        if (first + row + i < Sk) {
            values = *(const uint4 *)(from + i * D);
        }
        *(uint4 *)(tile + i * D) = values;
    }
}

// Rows key and key + 1 of column d of a tile, in one register.
template <int D>
static __device__ __forceinline__ uint32_t two_rows(const __half *tile, int key, int d)
{
    const __half2 both = __halves2half2(tile[key * D + d], tile[(key + 1) * D + d]);
    uint32_t bits;
    memcpy(&bits, (const void *)&both, sizeof bits);
    return bits;
}

// q [BH][Sq][D], k, v [BH][Sk][D] -> o [BH][Sq][D], lse [BH][Sq]
// cost: 4 D flops per pair of query and key; a block loads 4 D bytes of K and V per key; each warp
// reads as many from shared memory, K with 8-way bank conflicts, V with 4-way ones
template <int D>
__global__ void __launch_bounds__(THREADS, 3)
    flash(const __half *q, const __half *k, const __half *v, __half *o, float *lse, int Sq, int Sk,
          bool causal)
{
    extern __shared__ __align__(16) __half tiles[]; // k [KEYS][D], v [KEYS][D]
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
    __half *k_tile = tiles;
    __half *v_tile = tiles + KEYS * D;
    __half(*probabilities)[KEYS] = all_probabilities[threadIdx.x / 32];
    const float scale = LOG2E / sqrtf((float)D); // to exponents of 2

    uint32_t query[D / 16][4];
    load_query<D>(query, q, row, Sq);
    float out[D / 8][4] = {};
    float row_max[2] = {-INFINITY, -INFINITY}; // of row and of row + 8
    float row_sum[2] = {0.0f, 0.0f};           // of the keys of this lane

    const int visible = causal ? min(Sk, Sk - Sq + block_row + ROWS) : Sk; // to the last row
    for (int first = 0; first < visible; first += KEYS) {
        __syncthreads(); // nobody reads the tiles before
        load_tile<D>(k_tile, k, first, Sk);
        load_tile<D>(v_tile, v, first, Sk);
        __syncthreads();

        float s[KEYS / 8][4] = {};
#pragma unroll
        for (int n = 0; n < KEYS / 8; n++) {
            const __half *row_of_k = k_tile + (n * 8 + g) * D + 2 * t;
#pragma unroll
            for (int d = 0; d < D / 16; d++) {
                uint32_t b[2];
                b[0] = *(const uint32_t *)(row_of_k + d * 16);
                b[1] = *(const uint32_t *)(row_of_k + d * 16 + 8);
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
            const int key = n * 16 + 2 * t;
#pragma unroll
            for (int d = 0; d < D / 8; d++) {
                uint32_t b[2];
                b[0] = two_rows<D>(v_tile, key, d * 8 + g);
                b[1] = two_rows<D>(v_tile, key + 8, d * 8 + g);
                warp_mma(out[d], p, b);
            }
        }
    }
    store_rows<D>(o + head * Sq * D, lse + head * Sq, out, row_max, row_sum, scale, row, Sq);
}

} // namespace shared
