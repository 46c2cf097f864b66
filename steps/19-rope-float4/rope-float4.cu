/* 19-rope-float4: RoPE alone with float4, and the table read once for many sequences
 *
 * Grows from: 18-rope-one-kernel
 * Profile: --case large --case large-interleaved
 *
 * Idea     Two changes to the kernel that reads the table, apart and together. float4: a thread
 *          takes four pairs with 16-byte loads and stores. Reuse: a thread keeps its cosines and
 *          sines in registers and goes through several sequences of the batch, for all of them
 *          stand at the same positions. And the other layout, in which a pair is two neighbours.
 * Predict  float4 moves the same sectors with a quarter of the requests, and with less than half
 *          of the instructions, because most of a thread's instructions are not about its pair: but
 *          device memory is the limit, so a few per cent of the time at most. Reuse takes the table
 *          out of the L2's traffic, 3 N there become 2 N: a few per cent more. Then computing costs
 *          next to nothing either, for several sequences share the trigonometry. Together at least
 *          93% of the copy bandwidth. Interleaved: scalar loads of every second float touch each
 *          sector twice, which the L1 hides in part; with float4 the layouts should cost the same.
 * Outcome  float4 gains more than a few per cent, and not by its width: two pairs a thread, float
 *          by float, gain as much (scalar-two). Reuse loses: four sequences pass through the L2
 *          between two uses of a row of the table, not one, so the table is read from memory more
 *          often. Its twin that computes and reads no table gains. Without reuse, too, x and y push
 *          the table out now and then; told that they are used once, the caches keep it, and that
 *          is the fastest version (streaming). The layouts cost the same with float4.
 */
#include "cuda/count.cuh"
#include "cuda/rope_alone.cuh"
#include "problems/rope.h"

#include <stdio.h>
#include <string.h>

// A block is as wide as a row has pairs (or fours of pairs), so there is no loop over them, and as
// many rows high as fit. SEQUENCES: for how many a thread keeps its cosines and sines.
enum { THREADS = 256, THREADS4 = 128, MOST_THREADS = 1024, SEQUENCES = 4 };

// snippet: scalar
// x [B][S][D], cosine and sine [S][D/2] -> y [B][S][D], pair i is x[next i] and x[next i + other]
// grid (blocks for S rows, B), block (D/2, height); a thread has so many rows, a height apart, and
// loads all of them before it stores the first
// cost: 2 N, and as much of the table as of x
template <int rows>
__global__ void rope_scalar(const float *x, const float *cosine, const float *sine, float *y, int S,
                            int D, int next, int other)
{
    const int i = threadIdx.x;
    const int height = blockDim.y;
    const int s = blockIdx.x * height * rows + threadIdx.y;
    const int64_t at = ((int64_t)blockIdx.y * S + s) * D + next * i;
    float p[rows], q[rows], c[rows], t[rows];
#pragma unroll
    for (int k = 0; k < rows; k++) {
        if (s + k * height < S) {
            COUNT("table loads", 2);
            p[k] = x[at + k * height * D];
            q[k] = x[at + k * height * D + other];
            c[k] = cosine[(int64_t)(s + k * height) * (D / 2) + i];
            t[k] = sine[(int64_t)(s + k * height) * (D / 2) + i];
        }
    }
#pragma unroll
    for (int k = 0; k < rows; k++) {
        if (s + k * height < S) {
            COUNT("element rotations", 2);
            y[at + k * height * D] = p[k] * c[k] - q[k] * t[k];
            y[at + k * height * D + other] = q[k] * c[k] + p[k] * t[k];
        }
    }
}
// end snippet: scalar

// snippet: four-pairs
// Four pairs: their first elements p and second elements q, turned by cosines c and sines t.
static __device__ __forceinline__ void turn_four(float4 *p, float4 *q, float4 c, float4 t)
{
    const float4 a = *p;
    const float4 b = *q;
    COUNT("element rotations", 8);
    // solution: four-pairs -- all four pairs, in *p and *q
    p->x = a.x * c.x - b.x * t.x;
    p->y = a.y * c.y - b.y * t.y;
    p->z = a.z * c.z - b.z * t.z;
    p->w = a.w * c.w - b.w * t.w;
    q->x = b.x * c.x + a.x * t.x;
    q->y = b.y * c.y + a.y * t.y;
    q->z = b.z * c.z + a.z * t.z;
    q->w = b.w * c.w + a.w * t.w;
    // end solution: four-pairs
}
// end snippet: four-pairs

// snippet: stream
// With streaming, the caches are told that x and y are used once: they are the first to go, and the
// table stays.
template <bool streaming>
static __device__ __forceinline__ float4 load(const float4 *from)
{
    return streaming ? __ldcs(from) : *from;
}

template <bool streaming>
static __device__ __forceinline__ void store(float4 *to, float4 v)
{
    if (streaming) {
        __stcs(to, v);
    } else {
        *to = v;
    }
}
// end snippet: stream

// Cosines and sines of the n pairs from i on, at a position, in fp32 throughout.
static __device__ void compute_angles(int position, int i, int n, int D, float *c, float *t)
{
    for (int k = 0; k < n; k++) {
        sincosf((float)position * powf(10000.0f, -2.0f * (i + k) / D), &t[k], &c[k]);
    }
}

enum kind { TABLE, STREAMING, COMPUTED };

// snippet: float4
// x [B][S][D/4], cosine and sine [S][D/8] -> y [B][S][D/4], all of float4; pairs are halves
// grid (blocks for S rows, groups of so many sequences), block (D/8, height); a thread turns the
// same pairs of each sequence
// cost: 2 N, and the table, or the trigonometry, once a group
template <int sequences, enum kind kind>
__global__ void rope_float4(const float4 *x, const float4 *cosine, const float4 *sine, float4 *y,
                            int B, int S, int D, int pos0)
{
    const int half = D / 8; // a row, in float4
    const int i = threadIdx.x;
    const int s = blockIdx.x * blockDim.y + threadIdx.y;
    const int first = blockIdx.y * sequences;
    const int64_t sequence = (int64_t)S * 2 * half;
    const int64_t at = first * sequence + (int64_t)s * 2 * half + i;
    float4 p[sequences], q[sequences], c, t;
    if (s >= S) {
        return;
    }
#pragma unroll
    for (int k = 0; k < sequences; k++) {
        if (k == 0 || first + k < B) {
            p[k] = load<kind == STREAMING>(&x[at + k * sequence]);
            q[k] = load<kind == STREAMING>(&x[at + k * sequence + half]);
        }
    }
    if (kind == COMPUTED) {
        float cosines[4], sines[4];
        compute_angles(pos0 + s, 4 * i, 4, D, cosines, sines);
        c = make_float4(cosines[0], cosines[1], cosines[2], cosines[3]);
        t = make_float4(sines[0], sines[1], sines[2], sines[3]);
    } else {
        COUNT("table loads", 8);
        c = cosine[(int64_t)s * half + i];
        t = sine[(int64_t)s * half + i];
    }
#pragma unroll
    for (int k = 0; k < sequences; k++) {
        if (k == 0 || first + k < B) {
            turn_four(&p[k], &q[k], c, t);
            store<kind == STREAMING>(&y[at + k * sequence], p[k]);
            store<kind == STREAMING>(&y[at + k * sequence + half], q[k]);
        }
    }
}
// end snippet: float4

// snippet: neighbours
// Two pairs of neighbours (v.x, v.y) and (v.z, v.w).
static __device__ __forceinline__ float4 turn_neighbours(float4 v, float2 c, float2 t)
{
    float4 turned = v;
    COUNT("element rotations", 4);
    // solution: neighbours -- both pairs
    turned.x = v.x * c.x - v.y * t.x;
    turned.y = v.y * c.x + v.x * t.x;
    turned.z = v.z * c.y - v.w * t.y;
    turned.w = v.w * c.y + v.z * t.y;
    // end solution: neighbours
    return turned;
}
// end snippet: neighbours

// The same with neighbours for pairs: cosine and sine [S][D/4] of float2, block (D/4, height)
template <int sequences, enum kind kind>
__global__ void rope_neighbours(const float4 *x, const float2 *cosine, const float2 *sine,
                                float4 *y, int B, int S, int D, int pos0)
{
    const int row = D / 4; // in float4
    const int i = threadIdx.x;
    const int s = blockIdx.x * blockDim.y + threadIdx.y;
    const int first = blockIdx.y * sequences;
    const int64_t sequence = (int64_t)S * row;
    const int64_t at = first * sequence + (int64_t)s * row + i;
    float4 v[sequences];
    float2 c, t;
    if (s >= S) {
        return;
    }
#pragma unroll
    for (int k = 0; k < sequences; k++) {
        if (k == 0 || first + k < B) {
            v[k] = load<kind == STREAMING>(&x[at + k * sequence]);
        }
    }
    if (kind == COMPUTED) {
        float cosines[2], sines[2];
        compute_angles(pos0 + s, 2 * i, 2, D, cosines, sines);
        c = make_float2(cosines[0], cosines[1]);
        t = make_float2(sines[0], sines[1]);
    } else {
        COUNT("table loads", 4);
        c = cosine[(int64_t)s * row + i];
        t = sine[(int64_t)s * row + i];
    }
#pragma unroll
    for (int k = 0; k < sequences; k++) {
        if (k == 0 || first + k < B) {
            store<kind == STREAMING>(&y[at + k * sequence], turn_neighbours(v[k], c, t));
        }
    }
}

// The layout is the case's, so that each way to compute has a time in both.
static bool is_interleaved(const kf_run *run)
{
    return strstr(run->c->name, "interleaved") != NULL;
}

static int groups(int n, int size)
{
    return (n + size - 1) / size;
}

template <int rows>
static void launch_scalar(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const bool interleaved = is_interleaved(run);
    const dim3 block(s.D / 2, THREADS / (s.D / 2));
    rope_scalar<rows><<<dim3(groups(s.Sq, block.y * rows), s.B), block, 0, stream>>>(
        kf_f32(run, "x"), kf_f32(run, "cos"), kf_f32(run, "sin"), kf_f32(run, "y"), s.Sq, s.D,
        interleaved ? 2 : 1, interleaved ? 1 : s.D / 2);
    CUDA_CHECK_LAUNCH();
}

template <int sequences, enum kind kind>
static void launch_vectors(const kf_run *run, bool interleaved, int threads, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int width = interleaved ? s.D / 4 : s.D / 8;
    const dim3 block(width, threads / width);
    const dim3 grid(groups(s.Sq, block.y), groups(s.B, sequences));
    const float *cosine = kf_f32(run, "cos");
    const float *sine = kf_f32(run, "sin");
    const float4 *x = (const float4 *)kf_f32(run, "x");
    float4 *y = (float4 *)kf_f32(run, "y");
    if (interleaved) {
        rope_neighbours<sequences, kind><<<grid, block, 0, stream>>>(
            x, (const float2 *)cosine, (const float2 *)sine, y, s.B, s.Sq, s.D, s.pos0);
    } else {
        rope_float4<sequences, kind><<<grid, block, 0, stream>>>(
            x, (const float4 *)cosine, (const float4 *)sine, y, s.B, s.Sq, s.D, s.pos0);
    }
    CUDA_CHECK_LAUNCH();
}

template <int sequences, enum kind kind, int threads>
static void launch_float4(const kf_run *run, cudaStream_t stream)
{
    launch_vectors<sequences, kind>(run, is_interleaved(run), threads, stream);
}

static void launch_wrong_layout(const kf_run *run, cudaStream_t stream)
{
    launch_vectors<1, TABLE>(run, !is_interleaved(run), THREADS4, stream);
}

static bool fits_float4(const kf_case *c)
{
    return c->shape.D % 8 == 0;
}

// How many sequences the large tensor has in either layout.
enum { HALVES = 128, INTERLEAVED = 64 };

// Time is explained in one layout; in the other, what is to be compared with it is timed.
static bool explains(const kf_case *c)
{
    return c->shape.B != INTERLEAVED;
}

static bool float4_explains(const kf_case *c)
{
    return fits_float4(c) && explains(c);
}

static bool fits_float4_and_small(const kf_case *c)
{
    return fits_float4(c) && c->shape.B < INTERLEAVED;
}

// snippet: wrong-layout
// At position 0 nothing is turned, so it does not matter which elements are a pair. Everywhere else
// nothing but chance makes an element right.
static bool all_but_position_0(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    const kf_shape s = run->shape;
    const int64_t turned = (int64_t)s.B * s.D * (s.pos0 == 0 ? s.Sq - 1 : s.Sq);
    const bool origin_right = s.pos0 > 0 || seen->wrong_at[1][0] == 0;
    snprintf(why, size,
             "predicted wrong: 99%% or more of %lld elements that are turned, and no "
             "others; seen %lld",
             (long long)turned, (long long)seen->wrong);
    return origin_right && seen->nonfinite == 0 && seen->wrong > 0.99 * turned;
}
// end snippet: wrong-layout

static void setup(kf_run *run)
{
    kf_rope_setup(run);
    kf_rope_tables(run);
}

static void reference(kf_run *run)
{
    if (is_interleaved(run)) {
        kf_rope_reference_interleaved(run);
    } else {
        kf_rope_reference(run);
    }
}

// Those of rope_alone.cuh, and the same in the other layout.
static const kf_case cases[] = {
    {.name = "large",
     .shape = {.B = HALVES, .Sq = 8192, .Sk = 8192, .D = 128, .R = 128},
     .flags = KF_LARGE},
    {.name = "large-interleaved",
     .shape = {.B = INTERLEAVED, .Sq = 8192, .Sk = 8192, .D = 128, .R = 128},
     .flags = KF_LARGE},
    {.name = "small",
     .shape = {.B = 4, .Sq = 256, .Sk = 256, .D = 128, .R = 128},
     .flags = KF_VERIFY_ONLY},
    {.name = "small-interleaved",
     .shape = {.B = 4, .Sq = 256, .Sk = 256, .D = 128, .R = 128},
     .flags = KF_VERIFY_ONLY},
    {.name = "D80",
     .shape = {.B = 19, .Sq = 77, .Sk = 77, .D = 80, .R = 80},
     .flags = KF_VERIFY_ONLY},
    {.name = "D80-interleaved",
     .shape = {.B = 19, .Sq = 77, .Sk = 77, .D = 80, .R = 80},
     .flags = KF_VERIFY_ONLY},
    {.name = "D20",
     .shape = {.B = 2, .Sq = 9, .Sk = 9, .D = 20, .R = 20, .pos0 = 3},
     .flags = KF_VERIFY_ONLY},
    {.name = "D20-interleaved",
     .shape = {.B = 2, .Sq = 9, .Sk = 9, .D = 20, .R = 20, .pos0 = 3},
     .flags = KF_VERIFY_ONLY},
    {.name = "D256",
     .shape = {.B = 3, .Sq = 5, .Sk = 5, .D = 256, .R = 256, .pos0 = 7},
     .flags = KF_VERIFY_ONLY},
    {.name = "D256-interleaved",
     .shape = {.B = 3, .Sq = 5, .Sk = 5, .D = 256, .R = 256, .pos0 = 7},
     .flags = KF_VERIFY_ONLY},
    {.name = "S1", .shape = {.B = 5, .D = 8, .R = 8, .pos0 = 1}, .flags = KF_VERIFY_ONLY},
    {.name = "S1-interleaved",
     .shape = {.B = 5, .D = 8, .R = 8, .pos0 = 1},
     .flags = KF_VERIFY_ONLY},
    {.name = "far",
     .shape = {.B = 2, .Sq = 45, .Sk = 45, .D = 128, .R = 128, .pos0 = 131027},
     .flags = KF_VERIFY_ONLY},
};

static const kf_variant variants[] = {
    {.name = "scalar", .about = "one pair a thread: step 18's table", .launch = launch_scalar<1>},
    {.name = "scalar-two",
     .about = "a pair of two rows a thread, float by float",
     .launch = launch_scalar<2>,
     .applies = explains},
    {.name = "float4",
     .about = "four pairs a thread",
     .launch = launch_float4<1, TABLE, THREADS4>,
     .applies = fits_float4},
    {.name = "large-blocks",
     .about = "float4, 1024 threads a block",
     .launch = launch_float4<1, TABLE, MOST_THREADS>,
     .applies = float4_explains},
    {.name = "reuse",
     .about = "float4, the table once for four sequences",
     .launch = launch_float4<SEQUENCES, TABLE, THREADS4>,
     .applies = float4_explains},
    {.name = "streaming",
     .about = "float4, x and y marked as used once",
     .launch = launch_float4<1, STREAMING, THREADS4>,
     .applies = fits_float4},
    {.name = "wrong-layout",
     .about = "float4, for the other layout",
     .launch = launch_wrong_layout,
     .applies = fits_float4_and_small,
     .predicted = all_but_position_0},
    {.name = "computed",
     .about = "reuse, with powf and sincosf in place of the table",
     .launch = launch_float4<SEQUENCES, COMPUTED, THREADS4>,
     .applies = float4_explains,
     .extra_error = rope_alone_angle_error},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "19-rope-float4",
        .title = "RoPE alone with float4, and the table read once for many sequences",
        .cases = cases,
        .n_cases = KF_COUNT_OF(cases),
        .variants = variants,
        .n_variants = KF_COUNT_OF(variants),
        .setup = setup,
        .reference = reference,
        .cost = kf_rope_cost,
    };
    return kf_main(&program, argc, argv);
}
