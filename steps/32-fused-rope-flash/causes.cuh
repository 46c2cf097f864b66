/* The causes of the cost of rotating tiles, one more with each kernel. Each kernel is the attention
 * of tiled_attention.cuh on rows that are rotated already, and does to each tile of k a part of
 * what step 32's kernel does. Kernels that rotate do so by cosine 1 and sine 0, so that results
 * stay right. */
#pragma once

#include "cuda/tiled_attention.cuh"
#include "harness/problem.h"
#include "cuda/rotate_tile.cuh"

namespace causes
{

using namespace tiled;

// Each but the first copies the tile and rotates it. They differ in where angles are read.
enum cause {
    COPIED,       // the tile: shared memory to registers and back; and the second barrier
    REGISTERS,    // rotated by angles that are in registers
    STAGED_TABLE, // rotated by angles that are read from shared memory
    TINY_TABLE,   // rotated by a table of one tile, which stays in the L1 cache
    WHOLE_TABLE   // rotated by a table of all positions
};

// Rows of the table in shared memory. A whole tile of rows would leave shared memory for only one
// block per multiprocessor, which would be another cause. The rows that a thread rotates have a row
// each in the table, and so have the rows that a warp rotates at a time.
enum { STAGED = 16 };

template <int D>
static __device__ __forceinline__ void stage_table(float *staged, const float *cosine,
                                                   const float *sine, int S)
{
#pragma unroll 1 // unrolled, ptxas runs out of registers at the scores
    for (int i = threadIdx.x; i < STAGED * D / 2; i += THREADS) {
        const int64_t at = (int64_t)min(i / (D / 2), S - 1) * (D / 2) + i % (D / 2);
        staged[i] = cosine[at];
        staged[STAGED * D / 2 + i] = sine[at];
    }
}

// This thread's part of the tile, as in rotate_tile: rows STEP apart, from these on.
template <int D>
struct share {
    enum { FOURS = D / 8, STEP = THREADS / FOURS, EACH = KEYS / STEP };
    int row, four;
    __half *low, *high;
};

template <int D>
static __device__ __forceinline__ share<D> share_of(__half *tile)
{
    share<D> s;
    s.four = threadIdx.x % s.FOURS;
    const int place = threadIdx.x / s.FOURS;
    s.row = D == 64 ? place / 8 * 8 + place % 2 * 4 + place % 8 / 2 : place;
    const int chunk = s.four / 2 ^ s.row % 8;
    s.low = tile + s.row * D + chunk * 8 + s.four % 2 * 4;
    s.high = tile + s.row * D + (chunk ^ D / 16) * 8 + s.four % 2 * 4;
    return s;
}

// zero: 0, which the compiler does not know, so that there is something to store
template <int D>
static __device__ __forceinline__ void copy_tile(__half *tile, unsigned zero)
{
    const share<D> s = share_of<D>(tile);
#pragma unroll 1 // all rows at once, ptxas runs out of registers at the scores
    for (int i = 0; i < s.EACH; i += 4) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            uint2 *x = (uint2 *)(s.low + (i + j) * s.STEP * D);
            uint2 *y = (uint2 *)(s.high + (i + j) * s.STEP * D);
            const uint2 a = *x, b = *y;
            *x = make_uint2(a.x | zero, a.y | zero);
            *y = make_uint2(b.x | zero, b.y | zero);
        }
    }
}

// still: cosine 1 and sine 0, which the compiler does not know either
template <int D, cause CAUSE>
static __device__ __forceinline__ void rotate_tile_by(__half *tile, const float *cosine,
                                                      const float *sine, const float *staged,
                                                      float2 still, int first, int S)
{
    const share<D> s = share_of<D>(tile);
    four_angles by[s.EACH];
#pragma unroll
    for (int j = 0; j < s.EACH; j++) {
        if (CAUSE == STAGED_TABLE) {
            const float *at = staged + (s.row % 8 + j) * (D / 2) + s.four * 4;
            by[j] = load_angles(at, at + STAGED * D / 2);
        } else if (CAUSE == TINY_TABLE || CAUSE == WHOLE_TABLE) {
            const int row = j * s.STEP + s.row + (CAUSE == TINY_TABLE ? 0 : first);
            const int64_t angle = (int64_t)min(row, S - 1) * (D / 2) + s.four * 4;
            by[j] = load_angles(cosine + angle, sine + angle);
            COUNT("table loads", 8);
        } else {
            by[j].cosine = make_float4(still.x, still.x, still.x, still.x);
            by[j].sine = make_float4(still.y, still.y, still.y, still.y);
        }
    }
#pragma unroll
    for (int j = 0; j < s.EACH; j++) {
        rotate_four<false>((uint2 *)(s.low + j * s.STEP * D), (uint2 *)(s.high + j * s.STEP * D),
                           by[j]);
    }
}

// q [BH][Sq][D], k, v [BH][Sk][D], q and k rotated already, cosine and sine [Sk][D/2], all 1 and
// all 0 -> o [BH][Sq][D], lse [BH][Sq]
// grid (Sq / ROWS, BH). cost: that of tiled::attention, and that of the cause
template <int D, cause CAUSE>
__global__ void __launch_bounds__(THREADS, 2)
    flash(const __half *q, const __half *k, const __half *v, const float *cosine, const float *sine,
          float2 still, __half *o, float *lse, int Sq, int Sk, bool causal)
{
    constexpr int TILE = KEYS * D * 2; // bytes
    // q [ROWS][D], k and v [2][KEYS][D], of fp32 cosines and sines [STAGED][D/2]
    extern __shared__ __align__(16) __half tiles[];
    float *staged = (float *)(tiles + (ROWS + 4 * KEYS) * D);
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
    // The offsets that this lane gives to ldmatrix, as in step 22: of k, and of q and v.
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
    if (CAUSE == STAGED_TABLE) {
        stage_table<D>(staged, cosine, sine, Sk);
    }
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
        __half *tile = tiles + (ROWS + first / KEYS % 2 * KEYS) * D;
        if (CAUSE == COPIED) {
            copy_tile<D>(tile, __float_as_uint(still.y));
        } else {
            rotate_tile_by<D, CAUSE>(tile, cosine, sine, staged, still, first, Sk);
        }
        __syncthreads(); // all of it is touched

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

template <int D, cause CAUSE>
static void launch_for(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int staged = CAUSE == STAGED_TABLE ? STAGED * D * (int)sizeof(float) : 0;
    const int bytes = bytes_of_block(D) + staged;
    CUDA_CHECK(
        cudaFuncSetAttribute(flash<D, CAUSE>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const dim3 grid((s.Sq + ROWS - 1) / ROWS, s.B * s.H);
    flash<D, CAUSE><<<grid, THREADS, bytes, stream>>>(
        (const __half *)kf_memory(run, "q_prerotated", KF_F16),
        (const __half *)kf_memory(run, "k_prerotated", KF_F16),
        (const __half *)kf_memory(run, "v", KF_F16), kf_f32(run, "still_cos"),
        kf_f32(run, "still_sin"), make_float2(1.0f, 0.0f), (__half *)kf_memory(run, "o", KF_F16),
        kf_f32(run, "lse"), s.Sq, s.Sk, s.causal);
    CUDA_CHECK_LAUNCH();
}

template <cause CAUSE>
static void launch(const kf_run *run, cudaStream_t stream)
{
    (run->shape.D == 64 ? launch_for<64, CAUSE> : launch_for<128, CAUSE>)(run, stream);
}

// Inputs still_cos and still_sin [Sk][D/2]: a table that rotates nothing.
static inline void setup(kf_run *run)
{
    const int64_t dim[] = {run->shape.Sk, run->shape.D / 2};
    kf_tensor *cosine = kf_zero_input(run, "still_cos", "PR", KF_F32, dim);
    kf_zero_input(run, "still_sin", "PR", KF_F32, dim);
    for (int64_t i = 0; i < cosine->count; i++) {
        cosine->host[i] = 1.0f;
    }
}

} // namespace causes
