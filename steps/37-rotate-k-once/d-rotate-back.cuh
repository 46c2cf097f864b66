/* d-rotate-back: step 30's d-late over rotated queries and keys, with dk rotated back before it
 * leaves the registers; and the kernels before and after, which also rotate q and rotate dq
 * back. */
#pragma once

#include "cuda/wgmma_backward.cuh"
#include "rotate_fragments.cuh"

namespace rotating_backward
{

using namespace backward_pass;

// snippet: rotate-back
// Gradients by rotated rows become gradients by the rows before rotation: c has fragments of 8
// columns each.
template <int D>
static __device__ __forceinline__ void rotate_back(float (&c)[D / 8][4], const angles<D> &a)
{
#pragma unroll
    for (int i = 0; i < D / 4; i++) {
        const int half = i / 2 % 2, n = i / 4; // row g or g + 8; columns 8n + 2t and the next
        const float x = c[n][i % 4], y = c[n + D / 16][i % 4];
        const float2 cosines = a.cosines[half][n], sines = a.sines[half][n];
        const float cosine = i % 2 ? cosines.y : cosines.x, sine = i % 2 ? sines.y : sines.x;
        // solution: back -- rotate the pair by minus its angle
        // hint: A rotation by an angle makes (x cos - y sin, y cos + x sin) of a pair (x, y). What
        //     becomes of the cosine and of the sine if the angle changes its sign?
        // hint: The element in the first half of the row is `c[n][i % 4]`, its partner is
        //     `c[n + D / 16][i % 4]`. x and y are copies of the two, so either may be assigned
        //     first.
        // hint: One of the two lines is `c[n][i % 4] = x * cosine + y * sine;`.
        c[n][i % 4] = x * cosine + y * sine;
        c[n + D / 16][i % 4] = y * cosine - x * sine;
        // end solution: back
    }
}
// end snippet: rotate-back

// As step 30's, and q [BH][Sq][D] -> q_rotated, likewise.
// grid (padded D / 2048, BH), 256 threads, D / 8 per row. cost: 12 bytes per element, and D floats
// of the tables per row
template <int D>
__global__ void before(const __half *q, const __half *o, const __half *dout, const float *lse,
                       rope_tables tables, __half *q_rotated, float *lse2, float *minus_delta,
                       float *sums, int Sq, int Sk)
{
    constexpr int LANES = D / 8;
    let_next_begin();
    wait_for_previous();
    const int64_t head = blockIdx.y, padded = padded_rows(Sq);
    const int row = blockIdx.x * (256 / LANES) + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int64_t at = (head * Sq + row) * D + lane * 8;
    const bool is_low = lane < LANES / 2; // in the first half of a row
    float row_sum = 0.0f;
    uint32_t mine[4] = {};
    float2 c[4] = {}, s[4] = {};
    if (row < Sq) {
        const uint4 a = *(const uint4 *)(o + at);
        const uint4 b = *(const uint4 *)(dout + at);
        const uint4 words = *(const uint4 *)(q + at);
        const int64_t angle = (int64_t)(Sk - Sq + row) * (D / 2) + lane % (LANES / 2) * 8;
        const __half2 *x = (const __half2 *)&a;
        const __half2 *y = (const __half2 *)&b;
        memcpy(mine, &words, sizeof mine);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float2 x2 = __half22float2(x[i]);
            const float2 y2 = __half22float2(y[i]);
            row_sum += x2.x * y2.x + x2.y * y2.y;
            c[i] = *(const float2 *)(tables.cosines + angle + 2 * i);
            s[i] = *(const float2 *)(tables.sines + angle + 2 * i);
        }
        COUNT("table loads", 16);
        COUNT("element rotations", 8);
        if (lane == 0) {
            COUNT("Q rotations", 1);
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++) { // with the lane that has the other half
        const uint32_t partner = __shfl_xor_sync(0xffffffffu, mine[i], LANES / 2);
        uint32_t low = is_low ? mine[i] : partner;
        uint32_t high = is_low ? partner : mine[i];
        rotate_two<false>(&low, &high, c[i], s[i]);
        mine[i] = is_low ? low : high;
    }
    if (row < Sq) {
        *(uint4 *)(q_rotated + at) = make_uint4(mine[0], mine[1], mine[2], mine[3]);
    }
#pragma unroll
    for (int other = LANES / 2; other > 0; other /= 2) {
        row_sum += __shfl_xor_sync(0xffffffffu, row_sum, other);
    }
    if (lane == 0) {
        const float l = row < Sq ? lse[head * Sq + row] : INFINITY;
        lse2[head * padded + row] = l * LOG2E;
        minus_delta[head * padded + row] = -row_sum;
    }
    float4 *const zeros = (float4 *)(sums + (head * padded + row) * D);
    zeros[lane] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    zeros[lane + LANES] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

// As step 30's, but dq is rotated back, so a warp has all columns of its 16 rows.
// grid (padded / 128, BH), 256 threads. cost: 6 bytes per element, and D floats of the tables per
// row
template <int D>
__global__ void after(const float *sums, rope_tables tables, __half *dq, int Sq, int Sk)
{
    constexpr int LANES = D / 8;                              // that write a row
    __shared__ __align__(16) uint32_t rows[8][16][D / 2 + 4]; // pairs, 4 against bank conflicts
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int64_t head = blockIdx.y;
    const int strip = blockIdx.x * 8 + warp; // of 16 rows
    const int row = strip * 16;
    const float scale = 1.0f / sqrtf((float)D);
    angles<D> rotation; // not computed by a kernel: loaded while the kernel in front ends
    load_angles(rotation, tables, Sk - Sq + row + lane / 4, Sk - 1);
    wait_for_previous();
    const float4 *from = (const float4 *)(sums + (head * padded_rows(Sq) + row) * D) + lane;
    float c[D / 8][4];
#pragma unroll
    for (int n = 0; n < D / 8; n++) {
        const float4 four = from[n * 32];
        c[n][0] = four.x;
        c[n][1] = four.y;
        c[n][2] = four.z;
        c[n][3] = four.w;
    }
    rotate_back<D>(c, rotation);
    const int rotated = (row + lane / 4 < Sq) + (row + lane / 4 + 8 < Sq);
    (void)rotated; // used only where operations are counted
    if (lane % 4 == 0) {
        COUNT("Q rotations", rotated);
    }
    COUNT("element rotations", D / 4 * rotated);
#pragma unroll
    for (int n = 0; n < D / 8; n++) {
        rows[warp][lane / 4][n * 4 + lane % 4] = pack_halves(c[n][0] * scale, c[n][1] * scale);
        rows[warp][lane / 4 + 8][n * 4 + lane % 4] = pack_halves(c[n][2] * scale, c[n][3] * scale);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 16; i += 32 / LANES) {
        const int mine = i + lane / LANES;
        if (row + mine < Sq) {
            *(uint4 *)(dq + (head * Sq + row + mine) * D + lane % LANES * 8) =
                *(const uint4 *)&rows[warp][mine][lane % LANES * 4];
        }
    }
}

// Maps of q, dout [BH][Sq][D] in boxes of a tile's queries, k, v [BH][Sk][D] in boxes of 64 keys, q
// and k rotated; lse2, minus_delta [BH][padded]
//     -> dk, dv [BH][Sk][D], maps in boxes of 64; dq of the rotated q is added to sums
//     [BH][padded][D]
// grid (Sk / 128 BH); at_once: heads in flight together; under a mask the first keys, which have
// the most queries, come first
// cost: as step 30's; a row of dk is rotated back once, with D floats of the tables
template <int D>
__global__ void __launch_bounds__(384, 1)
    backward(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
             const __grid_constant__ CUtensorMap v_map,
             const __grid_constant__ CUtensorMap dout_map,
             const __grid_constant__ CUtensorMap dk_map, const __grid_constant__ CUtensorMap dv_map,
             const float *lse2, const float *minus_delta, float *sums, rope_tables tables,
             int heads, int at_once, backward_args a)
{
    extern __shared__ __align__(1024) char memory[];
    const block_tiles t = tiles_at<D, STAGES, STAGES, true>(shared_address(memory));
    const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // the same for the warp
    const block_place b = place_of_block<D>(heads, at_once, a);
    const int64_t row = b.head * padded_rows(a.Sq);
    const query_source from = {&q_map, &dout_map, lse2 + row, minus_delta + row, b.head};
    const block_barriers m = init_barriers(t.end);
    if (warpgroup == 2) { // the producer
        setmaxnreg_dec<24>();
        if (threadIdx.x % 128 == 0) {
            load_block_keys<D>(t, b, &k_map, &v_map, m.kv_full);
            // Consumers need no wait of their own: they touch results of earlier kernels only
            // after tiles have come, which are requested behind this wait.
            wait_for_previous();
            load_tiles<D>(t, from, m, b);
            let_next_begin();
        }
        return;
    }

    setmaxnreg_inc<240>();
    const int lane = threadIdx.x % 32;
    const warp_share w = share_of_warp<D>(memory, t, b, a, sums);
    float dk[D / 8][4] = {};
    float dv[D / 8][4] = {};
    fence_registers(dk);
    fence_registers(dv);
    clear_last_slopes<D>(memory, t);
    barrier_wait(m.kv_full, 0);
    add_tiles<D>(dk, dv, w, m);
    // solution: dk-angles -- load the angles of the rows of dk, while the last dq is made
    // hint: At which positions are the rows of dk that this lane has as fragments?
    //     rotate_fragments.cuh has a type for a lane's angles, and a function that loads them.
    // hint: Declare `angles<D> rotation;`. load_angles fills it; its other arguments are the
    //     tables, the row of the tables for the lane's row g, and the last row that may be read.
    // hint: Key j has row j of the tables. The warp's keys begin at w.key, g is lane / 4, and the
    //     last row is `a.Sk - 1`.
    angles<D> rotation;
    load_angles(rotation, tables, w.key + lane / 4, a.Sk - 1);
    // end solution: dk-angles
    add_last_dq<D>(w, m);

    // solution: dk -- rotate back the gradient of the rotated keys
    // hint: The kernel `after` does the same with dq. Which function of this file does it call
    //     between its loads and its stores?
    // hint: rotate_back takes fragments and angles: those of dk, and those that you have loaded in
    //     front of add_last_dq. Rows past the last key need no condition, as they are not stored.
    rotate_back<D>(dk, rotation);
    // end solution: dk
    const int rotated = (w.key + lane / 4 < a.Sk) + (w.key + lane / 4 + 8 < a.Sk);
    (void)rotated; // used only where operations are counted
    if (lane % 4 == 0) {
        COUNT("K rotations", rotated);
    }
    COUNT("element rotations", D / 4 * rotated);
    named_sync(1, 256); // both have read all keys: dk and dv go there
    store_gradients<D>(t, b, dk, dv, &dk_map, &dv_map, warpgroup);
    if (lane == 0) {
        bulk_wait<0>();
    }
}

} // namespace rotating_backward
