/* rope_passes.cuh: RoPE over rows of halves as a separate pass, before attention and after its
 * gradients: op by op, as a framework without a compiler runs it, and as one kernel.
 *
 * op_by_op is step 16's chain for q and for k. Halves become floats at the first product, and
 * halves again at the end. A thread has four neighbours, so that each kernel is nearly as fast as a
 * copy. Angles are in revolutions (rope_angle.cuh), because angles in fp32 are wrong at far
 * positions.
 */
#pragma once

#include "cuda/count.cuh"
#include "cuda/rope_angle.cuh"
#include "cuda/rotate_halves.cuh"
#include "harness/harness.h"

namespace op_by_op
{

enum { THREADS = 256 };

// Four neighbours in memory. D is a multiple of 8. Kernels on rows have the grid (blocks per head,
// BH), so that an index within a head has 32 bits and an offset 64. N is the bytes of x in fp16.
struct __align__(8) four_halves
{
    __half2 pair[2];
};

// -> position [S], from first on
static __global__ void make_positions(int *position, int S, int first)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < S) {
        position[i] = first + i;
    }
}

// position [S], frequency [half] -> revolutions [S][half], in revolutions
static __global__ void make_revolutions(const int *position, const rope_frequency *frequency,
                                        float *revolutions, int S, int half)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < S * half) {
        revolutions[i] = rope_revolutions(position[i / half], frequency[i % half]);
    }
}

// revolutions [n][4] -> y [n][4]
static __global__ void cosine_of(const float4 *revolutions, float4 *y, int n)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) {
        const float4 t = revolutions[i];
        y[i] = make_float4(cospif(2.0f * t.x), cospif(2.0f * t.y), cospif(2.0f * t.z),
                           cospif(2.0f * t.w));
    }
}

static __global__ void sine_of(const float4 *revolutions, float4 *y, int n)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) {
        const float4 t = revolutions[i];
        y[i] = make_float4(sinpif(2.0f * t.x), sinpif(2.0f * t.y), sinpif(2.0f * t.z),
                           sinpif(2.0f * t.w));
    }
}

// a [BH][S][half] in rows of a_pitch, b likewise -> y, each row of a followed by that of b. half
// and pitches are in units of four elements, here and below.
// cost: reads N, writes N
template <typename four>
__global__ void join_halves(const four *a, int a_pitch, const four *b, int b_pitch, four *y, int S,
                            int half)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    const int64_t row = (int64_t)blockIdx.y * S + i / (2 * half);
    const int column = i % (2 * half);
    if (i < S * 2 * half) {
        y[row * 2 * half + column] =
            column < half ? a[row * a_pitch + column] : b[row * b_pitch + column - half];
    }
}

// Half of each row of x [BH][S][2 half] -> y [BH][S][half], negated. x: the first element of that
// half
// cost: reads N/2, writes N/2
static __global__ void negate_half(const four_halves *x, four_halves *y, int S, int half)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    const int64_t head = (int64_t)blockIdx.y * S;
    if (i < S * half) {
        four_halves v = x[(head + i / half) * 2 * half + i % half];
        v.pair[0] = __hneg2(v.pair[0]);
        v.pair[1] = __hneg2(v.pair[1]);
        y[head * half + i] = v;
    }
}

// x [BH][S][width], table [S][table_width] -> y in fp32; a narrower table is repeated
// cost: reads N and the table, writes 2 N
static __global__ void multiply(const four_halves *x, const float4 *table, int table_width,
                                float4 *y, int S, int width)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < S * width) {
        const int64_t at = (int64_t)blockIdx.y * S * width + i;
        const float4 t = table[i / width * table_width + i % width % table_width];
        const four_halves v = x[at];
        const float2 a = __half22float2(v.pair[0]);
        const float2 b = __half22float2(v.pair[1]);
        COUNT("table loads", 4);
        y[at] = make_float4(a.x * t.x, a.y * t.y, b.x * t.z, b.y * t.w);
    }
}

// a, b [n] -> y [n]
// cost: reads 4 N, writes 2 N
static __global__ void add(const float4 *a, const float4 *b, float4 *y, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) {
        const float4 p = a[i];
        const float4 q = b[i];
        COUNT("element rotations", 4);
        y[i] = make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w);
    }
}

// x [n] -> y [n] in fp16
// cost: reads 2 N, writes N
static __global__ void round_to_halves(const float4 *x, four_halves *y, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) {
        const float4 v = x[i];
        const uint32_t words[2] = {pack_halves(v.x, v.y), pack_halves(v.z, v.w)};
        four_halves both;
        memcpy((void *)&both, words, sizeof words);
        y[i] = both;
    }
}

// The intermediate tensors of the chain: all that launch_back needs.
static inline void setup_back(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t half[] = {s.B, s.H, s.Sk, s.D / 2}, rows[] = {s.B, s.H, s.Sk, s.D};
    kf_scratch(run, "negated", "BHSD", KF_F16, half);
    kf_scratch(run, "joined", "BHSD", KF_F16, rows);
    kf_scratch(run, "x_cosine", "BHSD", KF_F32, rows);
    kf_scratch(run, "joined_sine", "BHSD", KF_F32, rows);
    kf_scratch(run, "added", "BHSD", KF_F32, rows);
}

// The same for launch, with the input frequency and the tensors between it and the tables.
static inline void setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t position[] = {s.Sk}, half[] = {s.Sk, s.D / 2}, whole[] = {s.Sk, s.D};
    setup_back(run);
    rope_frequency_table(run);
    kf_scratch(run, "position", "P", KF_I32, position);
    kf_scratch(run, "revolutions", "PR", KF_F32, half);
    kf_scratch(run, "both_revolutions", "PR", KF_F32, whole);
    kf_scratch(run, "cosine", "PR", KF_F32, whole);
    kf_scratch(run, "sine", "PR", KF_F32, whole);
}

static inline unsigned blocks_for(int64_t n)
{
    return (unsigned)((n + THREADS - 1) / THREADS);
}

// Five launches: frequency -> cosine and sine [Sk][D]; a row has its angles twice, once for each
// half of x.
static inline void launch_tables(const kf_run *run, cudaStream_t stream)
{
    const int S = run->shape.Sk, D = run->shape.D;
    const int n = S * D;
    int *position = (int *)kf_memory(run, "position", KF_I32);
    float *revolutions = kf_f32(run, "revolutions");
    float4 *both_revolutions = (float4 *)kf_f32(run, "both_revolutions");
    make_positions<<<blocks_for(S), THREADS, 0, stream>>>(position, S, run->shape.pos0);
    CUDA_CHECK_LAUNCH();
    make_revolutions<<<blocks_for(n / 2), THREADS, 0, stream>>>(position, rope_frequencies(run),
                                                                revolutions, S, D / 2);
    CUDA_CHECK_LAUNCH();
    join_halves<<<blocks_for(n / 4), THREADS, 0, stream>>>((const float4 *)revolutions, D / 8,
                                                           (const float4 *)revolutions, D / 8,
                                                           both_revolutions, S, D / 8);
    CUDA_CHECK_LAUNCH();
    cosine_of<<<blocks_for(n / 4), THREADS, 0, stream>>>(both_revolutions,
                                                         (float4 *)kf_f32(run, "cosine"), n / 4);
    CUDA_CHECK_LAUNCH();
    sine_of<<<blocks_for(n / 4), THREADS, 0, stream>>>(both_revolutions,
                                                       (float4 *)kf_f32(run, "sine"), n / 4);
    CUDA_CHECK_LAUNCH();
}

// Rows to rotate, and the tables [S][width] for them, from the first row on.
typedef struct rows {
    const __half *from; // [BH][S][D]
    __half *to;         // may be `from`
    const float *cosine, *sine;
    int S, width; // width: D or D/2
} rows;

// Six launches: rows -> x * cosine + rotate_half(x) * sine; if `back`, - rotate_half(x) * sine.
static inline void launch_chain(const kf_run *run, rows r, bool back, cudaStream_t stream)
{
    const int half = run->shape.D / 8, heads = run->shape.B * run->shape.H; // half: in fours
    const int head = r.S * 2 * half;
    const int64_t all = (int64_t)head * heads;
    const four_halves *x = (const four_halves *)r.from;
    four_halves *negated = (four_halves *)kf_memory(run, "negated", KF_F16);
    four_halves *joined = (four_halves *)kf_memory(run, "joined", KF_F16);
    float4 *x_cosine = (float4 *)kf_f32(run, "x_cosine");
    float4 *joined_sine = (float4 *)kf_f32(run, "joined_sine");
    float4 *added = (float4 *)kf_f32(run, "added");
    const dim3 blocks(blocks_for(head), heads);
    negate_half<<<dim3(blocks_for(head / 2), heads), THREADS, 0, stream>>>(back ? x : x + half,
                                                                           negated, r.S, half);
    CUDA_CHECK_LAUNCH();
    if (back) {
        join_halves<<<blocks, THREADS, 0, stream>>>(
            x + half, 2 * half, (const four_halves *)negated, half, joined, r.S, half);
    } else {
        join_halves<<<blocks, THREADS, 0, stream>>>((const four_halves *)negated, half, x, 2 * half,
                                                    joined, r.S, half);
    }
    CUDA_CHECK_LAUNCH();
    multiply<<<blocks, THREADS, 0, stream>>>(x, (const float4 *)r.cosine, r.width / 4, x_cosine,
                                             r.S, 2 * half);
    CUDA_CHECK_LAUNCH();
    multiply<<<blocks, THREADS, 0, stream>>>(joined, (const float4 *)r.sine, r.width / 4,
                                             joined_sine, r.S, 2 * half);
    CUDA_CHECK_LAUNCH();
    add<<<blocks_for(all), THREADS, 0, stream>>>(x_cosine, joined_sine, added, all);
    CUDA_CHECK_LAUNCH();
    round_to_halves<<<blocks_for(all), THREADS, 0, stream>>>(added, (four_halves *)r.to, all);
    CUDA_CHECK_LAUNCH();
}

// q -> q_rotated, k -> k_rotated: 17 launches, tables included.
static inline void launch(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const float *cosine = kf_f32(run, "cosine"), *sine = kf_f32(run, "sine");
    const int64_t first = (int64_t)(s.Sk - s.Sq) * s.D; // that of the first query
    const rows q = {(const __half *)kf_memory(run, "q", KF_F16),
                    (__half *)kf_memory(run, "q_rotated", KF_F16),
                    cosine + first,
                    sine + first,
                    s.Sq,
                    s.D};
    const rows k = {(const __half *)kf_memory(run, "k", KF_F16),
                    (__half *)kf_memory(run, "k_rotated", KF_F16),
                    cosine,
                    sine,
                    s.Sk,
                    s.D};
    launch_tables(run, stream);
    launch_chain(run, q, false, stream);
    launch_chain(run, k, false, stream);
}

// Rotates dq and dk, the gradients of rotated q and k, back in place: 12 launches, with the tables
// of the run, as if the forward pass had kept them.
static inline void launch_back(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const float *cosine = kf_f32(run, "cos"), *sine = kf_f32(run, "sin");
    const int64_t first = (int64_t)(s.Sk - s.Sq) * (s.D / 2);
    __half *dq = (__half *)kf_memory(run, "dq", KF_F16);
    __half *dk = (__half *)kf_memory(run, "dk", KF_F16);
    const rows q = {dq, dq, cosine + first, sine + first, s.Sq, s.D / 2};
    const rows k = {dk, dk, cosine, sine, s.Sk, s.D / 2};
    launch_chain(run, q, true, stream);
    launch_chain(run, k, true, stream);
}

} // namespace op_by_op

namespace one_kernel
{

enum { THREADS = 256, HEADS = 4 }; // HEADS: heads per thread

// q [BH][Sq][D], k [BH][Sk][D], cosine and sine [Sk][D/2] -> q_to, k_to: rotated, or rotated BACK;
// q_to and k_to may be q and k
// grid (blocks for Sk rows, BH / HEADS, 2): q, then k. A thread has 8 neighbours of one position
// and their partners, in HEADS heads, and loads their angles once.
// cost: reads and writes q and k
template <int D, bool BACK>
__global__ void __launch_bounds__(THREADS)
    rotate_rows(const __half *q, __half *q_to, const __half *k, __half *k_to, const float *cosine,
                const float *sine, int heads, int Sq, int Sk)
{
    constexpr int CHUNKS = D / 16; // of 8 pairs, per row
    const bool keys = blockIdx.z == 1;
    const int S = keys ? Sk : Sq;
    const int chunk = threadIdx.x % CHUNKS;
    const int row = blockIdx.x * (THREADS / CHUNKS) + threadIdx.x / CHUNKS;
    const int head = blockIdx.y * HEADS;
    if (row >= S) {
        return;
    }
    const int64_t angle = (int64_t)(Sk - S + row) * (D / 2) + chunk * 8;
    const four_angles by[2] = {load_angles(cosine + angle, sine + angle),
                               load_angles(cosine + angle + 4, sine + angle + 4)};
    COUNT("table loads", 16);
    const int64_t at = ((int64_t)head * S + row) * D + chunk * 8;
    const __half *from = (keys ? k : q) + at;
    __half *to = (keys ? k_to : q_to) + at;
    uint4 low[HEADS], high[HEADS];
#pragma unroll
    for (int i = 0; i < HEADS; i++) { // all loads first
        if (head + i < heads) {
            low[i] = *(const uint4 *)(from + (int64_t)i * S * D);
            high[i] = *(const uint4 *)(from + (int64_t)i * S * D + D / 2);
        }
    }
#pragma unroll
    for (int i = 0; i < HEADS; i++) {
        if (head + i < heads) {
            uint2 x[2] = {make_uint2(low[i].x, low[i].y), make_uint2(low[i].z, low[i].w)};
            uint2 y[2] = {make_uint2(high[i].x, high[i].y), make_uint2(high[i].z, high[i].w)};
            rotate_four<BACK>(&x[0], &y[0], by[0]);
            rotate_four<BACK>(&x[1], &y[1], by[1]);
            COUNT("element rotations", 16);
            COUNT(BACK ? "dK rotations" : "K rotations", keys && chunk == 0);
            COUNT(BACK ? "dQ rotations" : "Q rotations", !keys && chunk == 0);
            *(uint4 *)(to + (int64_t)i * S * D) = make_uint4(x[0].x, x[0].y, x[1].x, x[1].y);
            *(uint4 *)(to + (int64_t)i * S * D + D / 2) =
                make_uint4(y[0].x, y[0].y, y[1].x, y[1].y);
        }
    }
}

template <int D, bool BACK>
static void launch_for(const kf_run *run, const __half *q, __half *q_to, const __half *k,
                       __half *k_to, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int rows = THREADS / (D / 16), heads = s.B * s.H;
    const dim3 grid((s.Sk + rows - 1) / rows, (heads + HEADS - 1) / HEADS, 2);
    rotate_rows<D, BACK><<<grid, THREADS, 0, stream>>>(q, q_to, k, k_to, kf_f32(run, "cos"),
                                                       kf_f32(run, "sin"), heads, s.Sq, s.Sk);
    CUDA_CHECK_LAUNCH();
}

// q -> q_rotated, k -> k_rotated; D is 64 or 128.
static inline void launch(const kf_run *run, cudaStream_t stream)
{
    (run->shape.D == 64 ? launch_for<64, false>
                        : launch_for<128, false>)(run, (const __half *)kf_memory(run, "q", KF_F16),
                                                  (__half *)kf_memory(run, "q_rotated", KF_F16),
                                                  (const __half *)kf_memory(run, "k", KF_F16),
                                                  (__half *)kf_memory(run, "k_rotated", KF_F16),
                                                  stream);
}

// Rotates dq and dk, the gradients of rotated q and k, back in place.
static inline void launch_back(const kf_run *run, cudaStream_t stream)
{
    __half *dq = (__half *)kf_memory(run, "dq", KF_F16);
    __half *dk = (__half *)kf_memory(run, "dk", KF_F16);
    (run->shape.D == 64 ? launch_for<64, true> : launch_for<128, true>)(run, dq, dq, dk, dk,
                                                                        stream);
}

} // namespace one_kernel
