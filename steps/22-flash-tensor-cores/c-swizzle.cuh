/* c-swizzle: the same tiles, swizzled, and fragments by ldmatrix.
 *
 * Chunk c of row r, 16 bytes, is stored as chunk c ^ (r % 8): eight rows of one column use all 32
 * banks. ldmatrix then reads four matrices of 8 x 8 in one instruction, transposed where V needs
 * it. */
#pragma once

#include "cuda/flash_rows.cuh"

namespace swizzle
{

enum { ROWS = 64, KEYS = 64, THREADS = ROWS / 16 * 32 }; // 16 queries a warp

// Rows first to first + KEYS of from [Sk][D] -> tile [KEYS][D], swizzled; rows past the end are
// zeros.
template <int D>
static __device__ __forceinline__ void load_tile(__half *tile, const __half *from, int first,
                                                 int Sk)
{
    constexpr int CHUNKS = D / 8;             // of 16 bytes, a row
    constexpr int AT_ONCE = THREADS / CHUNKS; // rows, a multiple of 8
    const int row = threadIdx.x / CHUNKS;
    const int chunk = threadIdx.x % CHUNKS;
    // snippet: swizzle
    from += (int64_t)(first + row) * D + chunk * 8;
    tile += row * D + (chunk ^ row % 8) * 8;
    // end snippet: swizzle
#pragma unroll
    for (int i = 0; i < KEYS; i += AT_ONCE) {
        uint4 values = {0, 0, 0, 0};
        if (first + row + i < Sk) {
            values = *(const uint4 *)(from + i * D);
        }
        *(uint4 *)(tile + i * D) = values;
    }
}

// q [BH][Sq][D], k, v [BH][Sk][D] -> o [BH][Sq][D], lse [BH][Sq]
// cost: 4 D flops per pair of query and key; a block loads 4 D bytes of K and V per key; each warp
// reads as many from shared memory, without conflicts, four matrices per request
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
    const uint32_t k_now = shared_address(tiles);
    const uint32_t v_now = k_now + KEYS * D * 2;
    __half(*probabilities)[KEYS] = all_probabilities[threadIdx.x / 32];
    // snippet: lanes
    // Each lane gives ldmatrix the address of one row of 16 bytes: its offset in a tile, in bytes.
    // The chunk that is 2d chunks further on is at this offset ^ 32d. K: lanes 0-7 give keys 0-7,
    // lanes 8-15 the next chunk of these keys, lanes 16-31 the same for keys 8-15. V: lanes 0-15
    // give keys 0-15, lanes 16-31 the next chunk of these keys.
    const uint32_t k_lane = (lane / 16 * 8 + lane % 8) * D * 2 + (lane / 8 % 2 ^ lane % 8) * 16;
    const uint32_t v_lane = lane % 16 * D * 2 + (lane / 16 ^ lane % 8) * 16;
    // end snippet: lanes
    const float scale = LOG2E / sqrtf((float)D); // to exponents of 2

    uint32_t query[D / 16][4];
    load_query<D>(query, q, row, Sq);
    float out[D / 8][4] = {};
    float row_max[2] = {-INFINITY, -INFINITY}; // of row and of row + 8
    float row_sum[2] = {0.0f, 0.0f};           // of the keys of this lane

    const int visible = causal ? min(Sk, Sk - Sq + block_row + ROWS) : Sk; // to the last row
    for (int first = 0; first < visible; first += KEYS) {
        __syncthreads(); // nobody reads the tiles before
        load_tile<D>(tiles, k, first, Sk);
        load_tile<D>(tiles + KEYS * D, v, first, Sk);
        __syncthreads();

        // snippet: scores
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
        // end snippet: scores

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

} // namespace swizzle
