/* tiled_attention.cuh: attention alone, which the fused kernels of step 32 and later are compared
 * with. Before gradients it computes o and lse of large cases, untimed.
 *
 * Step 23's kernel with one of its tiles: 128 queries and 64 keys, four warps, two stages, and q in
 * shared memory. Fused kernels differ from it only in what they do to tiles of q and k. Offsets
 * have 64 bits.
 */
#pragma once

#include "cuda/flash_products.cuh"
#include "cuda/flash_rows.cuh"
#include "cuda/flash_tiles.cuh"
#include "harness/harness.h"

namespace tiled
{

enum {
    ROWS = 128, // queries of a block
    KEYS = 64,  // of a tile
    WARPS = 4,
    THREADS = WARPS * 32,
    STRIPS = ROWS / WARPS / 16, // of 16 queries, per warp
};

// q [BH][Sq][D], k, v [BH][Sk][D] -> o [BH][Sq][D], lse [BH][Sq]
// grid (Sq / ROWS, BH). cost: 4 D flops per score. For each key a warp reads 4 D bytes of shared
// memory, for all its queries
template <int D>
__global__ void __launch_bounds__(THREADS, 2)
    attention(const __half *q, const __half *k, const __half *v, __half *o, float *lse, int Sq,
              int Sk, bool causal)
{
    constexpr int TILE = KEYS * D * 2;              // bytes
    extern __shared__ __align__(16) __half tiles[]; // q [ROWS][D], k and v [2][KEYS][D]
    const int lane = threadIdx.x % 32;
    const int64_t head = blockIdx.y;
    const int block_row = (gridDim.x - 1 - blockIdx.x) * ROWS; // the longest rows first
    const int warp_row = threadIdx.x / 32 * STRIPS * 16;
    const int row =
        block_row + warp_row + lane / 4; // of this lane, in its first strip; and row + 8
    q += head * Sq * D;
    k += head * Sk * D;
    v += head * Sk * D;
    const uint32_t q_tile = shared_address(tiles);
    const uint32_t k_tiles = q_tile + ROWS * D * 2;
    const uint32_t v_tiles = k_tiles + 2 * TILE;
    // The offsets that this lane passes to ldmatrix, as in step 22: for k, and for q and v.
    const uint32_t k_lane = (lane / 16 * 8 + lane % 8) * D * 2 + (lane / 8 % 2 ^ lane % 8) * 16;
    const uint32_t qv_lane = lane % 16 * D * 2 + (lane / 16 ^ lane % 8) * 16;
    const float scale = LOG2E / sqrtf((float)D);                           // to exponents of 2
    const int visible = min(Sk, causal ? Sk - Sq + block_row + ROWS : Sk); // to the last row

    float out[STRIPS][D / 8][4] = {};
    float row_max[STRIPS][2],
        row_sum[STRIPS][2]; // of row and row + 8; row_sum: of the keys of this lane
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
        row_max[i][0] = row_max[i][1] = -INFINITY;
        row_sum[i][0] = row_sum[i][1] = 0.0f;
    }
    load_tile<D, ROWS, THREADS>(q_tile, q, block_row, Sq);
    load_tile<D, KEYS, THREADS>(k_tiles, k, 0, Sk);
    load_tile<D, KEYS, THREADS>(v_tiles, v, 0, Sk);
    copy_async_commit();
    for (int first = 0; first < visible; first += KEYS) {
        const int next = first + KEYS;
        const uint32_t stage = first / KEYS % 2 * TILE;
        copy_async_wait<0>();
        __syncthreads(); // this tile is there for all, and nobody reads the one before
        if (next < visible) {
            load_tile<D, KEYS, THREADS>(k_tiles + TILE - stage, k, next, Sk);
            load_tile<D, KEYS, THREADS>(v_tiles + TILE - stage, v, next, Sk);
        }
        copy_async_commit();

        float s[STRIPS][KEYS / 8][4] = {};
        warp_add_qk<D, KEYS, STRIPS>(s, q_tile, warp_row, k_tiles + stage, qv_lane, k_lane);
        if (first + KEYS > Sk || (causal && first + KEYS - 1 > Sk - Sq + block_row)) {
#pragma unroll
            for (int i = 0; i < STRIPS; i++) {
                mask_scores<KEYS>(s[i], row + i * 16, first, Sq, Sk, causal);
            }
        }
#pragma unroll
        for (int i = 0; i < STRIPS; i++) {
            online_softmax<D, KEYS>(s[i], out[i], row_max[i], row_sum[i], scale);
        }
        warp_add_pv<D, KEYS, STRIPS>(out, s, v_tiles + stage, qv_lane);
    }
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
        store_rows<D>(o + head * Sq * D, lse + head * Sq, out[i], row_max[i], row_sum[i], scale,
                      row + i * 16, Sq);
    }
}

// Of shared memory, per block.
static inline int bytes_of_block(int D)
{
    return (ROWS + 4 * KEYS) * D * (int)sizeof(__half);
}

template <int D>
static void launch_for(const kf_run *run, const __half *q, const __half *k, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int bytes = bytes_of_block(D);
    CUDA_CHECK(
        cudaFuncSetAttribute(attention<D>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const dim3 grid((s.Sq + ROWS - 1) / ROWS, s.B * s.H);
    attention<D><<<grid, THREADS, bytes, stream>>>(
        q, k, (const __half *)kf_memory(run, "v", KF_F16), (__half *)kf_memory(run, "o", KF_F16),
        kf_f32(run, "lse"), s.Sq, s.Sk, s.causal);
    CUDA_CHECK_LAUNCH();
}

// Input: the tensors of the run named q and k, and its v. Output: its o and lse. D is 64 or 128.
static inline void launch(const kf_run *run, const char *q, const char *k, cudaStream_t stream)
{
    (run->shape.D == 64 ? launch_for<64>
                        : launch_for<128>)(run, (const __half *)kf_memory(run, q, KF_F16),
                                           (const __half *)kf_memory(run, k, KF_F16), stream);
}

// The run's q and k as they are, for kf_flash_backward_setup and kf_flash_dq_setup.
static inline void launch_forward(const kf_run *run, cudaStream_t stream)
{
    launch(run, "q", "k", stream);
}

} // namespace tiled
