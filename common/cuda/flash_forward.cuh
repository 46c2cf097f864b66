/* flash_forward.cuh: the forward pass before the gradients: o and lse of large cases.
 *
 * A copy of step 22's last rung, e-registers, which explains and verifies it. No step that
 * includes this file times it or changes it: kf_flash_backward_setup launches it once per case. */
#pragma once

#include "cuda/flash_rows.cuh"
#include "cuda/flash_tiles.cuh"
#include "harness/harness.h"

namespace flash_forward
{

enum { ROWS = 64, KEYS = 64, THREADS = ROWS / 16 * 32 }; // 16 queries per warp

// q [BH][Sq][D], k, v [BH][Sk][D] -> o [BH][Sq][D], lse [BH][Sq]
// cost: 4 D flops per pair of query and key; 4 D bytes of K and V per key and block
template <int D>
__global__ void __launch_bounds__(THREADS, 3)
    flash(const __half *q, const __half *k, const __half *v, __half *o, float *lse, int Sq, int Sk,
          bool causal)
{
    extern __shared__ __align__(16) __half tiles[]; // k [2][KEYS][D], v [2][KEYS][D]
    const int lane = threadIdx.x % 32;
    const int64_t head = blockIdx.y;
    const int block_row = (gridDim.x - 1 - blockIdx.x) * ROWS;    // the longest rows first
    const int row = block_row + threadIdx.x / 32 * 16 + lane / 4; // of this lane, and row + 8
    q += head * Sq * D;
    k += head * Sk * D;
    v += head * Sk * D;
    const uint32_t k_tiles = shared_address(tiles);
    const uint32_t v_tiles = k_tiles + 2 * KEYS * D * 2;
    // The address that this lane passes to ldmatrix, as in c-swizzle of step 22.
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
        load_tile<D, KEYS, THREADS>(k_tiles, k, 0, Sk);
        load_tile<D, KEYS, THREADS>(v_tiles, v, 0, Sk);
        copy_async_commit();
    }
    for (int first = 0; first < visible; first += KEYS) {
        const uint32_t stage = first / KEYS % 2 * KEYS * D * 2;
        const uint32_t other = KEYS * D * 2 - stage;
        const uint32_t k_now = k_tiles + stage;
        const uint32_t v_now = v_tiles + stage;
        copy_async_wait<0>();
        __syncthreads(); // this tile is there for all, and nobody reads the one before
        if (first + KEYS < visible) {
            load_tile<D, KEYS, THREADS>(k_tiles + other, k, first + KEYS, Sk);
            load_tile<D, KEYS, THREADS>(v_tiles + other, v, first + KEYS, Sk);
            copy_async_commit();
        }

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

#pragma unroll
        for (int n = 0; n < KEYS / 16; n++) {
            uint32_t p[4]; // 16 rows, keys 16n to 16n+15
            p[0] = pack_halves(s[2 * n][0], s[2 * n][1]);
            p[1] = pack_halves(s[2 * n][2], s[2 * n][3]);
            p[2] = pack_halves(s[2 * n + 1][0], s[2 * n + 1][1]);
            p[3] = pack_halves(s[2 * n + 1][2], s[2 * n + 1][3]);
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

template <int D>
static void launch_for(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int bytes = 4 * KEYS * D * (int)sizeof(__half);
    CUDA_CHECK(cudaFuncSetAttribute(flash<D>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const dim3 grid((s.Sq + ROWS - 1) / ROWS, s.B * s.H);
    flash<D><<<grid, THREADS, bytes, stream>>>(
        (const __half *)kf_memory(run, "q", KF_F16), (const __half *)kf_memory(run, "k", KF_F16),
        (const __half *)kf_memory(run, "v", KF_F16), (__half *)kf_memory(run, "o", KF_F16),
        kf_f32(run, "lse"), s.Sq, s.Sk, s.causal);
    CUDA_CHECK_LAUNCH();
}

// q, k and v of the run -> its o and lse; D is 64 or 128.
static inline void launch(const kf_run *run, cudaStream_t stream)
{
    (run->shape.D == 64 ? launch_for<64> : launch_for<128>)(run, stream);
}

} // namespace flash_forward
