/* fused_attention.cuh: the fused kernel that improved kernels are compared with: attention that
 * rotates its own tiles of q and k. The tile's size is a parameter.
 */
#pragma once

#include "cuda/rotate_tile.cuh"
#include "cuda/tiled_attention.cuh"

namespace fused_attention
{

// same as step 33
// q [BH][Sq][D], k, v [BH][Sk][D], cosine and sine [Sk][D/2] -> o [BH][Sq][D], lse [BH][Sq]
// grid (Sq / ROWS, BH)
// cost: 4 D flops per score; and a key is rotated once for every ROWS queries that see it: 3 D
// flops, 4 D bytes of tables
template <int D, int ROWS, int KEYS, int WARPS, int STAGES>
__global__ void __launch_bounds__(WARPS * 32, 8 / WARPS)
    fused(const __half *q, const __half *k, const __half *v, const float *cosine, const float *sine,
          __half *o, float *lse, int Sq, int Sk, bool causal)
{
    constexpr int THREADS = WARPS * 32;
    constexpr int STRIPS = ROWS / WARPS / 16;       // of 16 queries, per warp
    constexpr int TILE = KEYS * D * 2;              // bytes
    constexpr int AHEAD = STAGES - 1;               // tiles in flight before the loop
    extern __shared__ __align__(16) __half tiles[]; // q [ROWS][D], k and v [STAGES][KEYS][D]
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
    const uint32_t v_tiles = k_tiles + STAGES * TILE;
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
    copy_async_commit();
    // Each tile has a group of copies, which may be empty at the end, so that a wait can count
    // groups.
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
        if (i * KEYS < visible) {
            load_tile<D, KEYS, THREADS>(k_tiles + i * TILE, k, i * KEYS, Sk);
            load_tile<D, KEYS, THREADS>(v_tiles + i * TILE, v, i * KEYS, Sk);
        }
        copy_async_commit();
    }
    copy_async_wait<AHEAD>();
    __syncthreads(); // the tile of q is complete for all threads
    // Query i has the position of key Sk - Sq + i.
    const int64_t first_angle = (int64_t)(Sk - Sq) * (D / 2);
    rotate_tile<D, ROWS, THREADS>(tiles, cosine + first_angle, sine + first_angle, block_row, Sq);
    COUNT("Q rotations", threadIdx.x == 0 ? min(ROWS, Sq - block_row) : 0);
    for (int first = 0; first < visible; first += KEYS) {
        const int next = first + AHEAD * KEYS;
        uint32_t stage = 0;
        uint32_t next_stage = 0;
        stage = first / KEYS % STAGES * TILE;
        next_stage = next / KEYS % STAGES * TILE;
        copy_async_wait<AHEAD - 1>();
        __syncthreads(); // this tile is complete, and no thread still reads the one before
        if (next < visible) {
            load_tile<D, KEYS, THREADS>(k_tiles + next_stage, k, next, Sk);
            load_tile<D, KEYS, THREADS>(v_tiles + next_stage, v, next, Sk);
        }
        copy_async_commit();
        rotate_tile<D, KEYS, THREADS>(tiles + ROWS * D + stage / 2, cosine, sine, first, Sk);
        COUNT("K rotations", threadIdx.x == 0 ? min(KEYS, Sk - first) : 0);
        __syncthreads(); // all threads have rotated their part

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

template <int D, int ROWS, int KEYS, int WARPS, int STAGES>
static void launch_for(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int bytes = (ROWS + 2 * STAGES * KEYS) * D * (int)sizeof(__half);
    CUDA_CHECK(cudaFuncSetAttribute(fused<D, ROWS, KEYS, WARPS, STAGES>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const dim3 grid((s.Sq + ROWS - 1) / ROWS, s.B * s.H);
    fused<D, ROWS, KEYS, WARPS, STAGES><<<grid, WARPS * 32, bytes, stream>>>(
        (const __half *)kf_memory(run, "q", KF_F16), (const __half *)kf_memory(run, "k", KF_F16),
        (const __half *)kf_memory(run, "v", KF_F16), kf_f32(run, "cos"), kf_f32(run, "sin"),
        (__half *)kf_memory(run, "o", KF_F16), kf_f32(run, "lse"), s.Sq, s.Sk, s.causal);
    CUDA_CHECK_LAUNCH();
}

// D is 64 or 128. The kernel of step 32 has 128 queries, 64 keys, 4 warps and 2 stages.
template <int ROWS, int KEYS, int WARPS, int STAGES>
static void launch(const kf_run *run, cudaStream_t stream)
{
    (run->shape.D == 64 ? launch_for<64, ROWS, KEYS, WARPS, STAGES>
                        : launch_for<128, ROWS, KEYS, WARPS, STAGES>)(run, stream);
}

} // namespace fused_attention
