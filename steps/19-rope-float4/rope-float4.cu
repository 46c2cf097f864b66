/* 19-rope-float4: RoPE alone with float4, and the table read once for many sequences
 *
 * Follows: 18-rope-one-kernel
 * Architecture: 75
 * Profile: --case large --case large-interleaved
 *
 * Idea     float4: a thread has four pairs, with 16-byte loads and stores. reuse: it also keeps its
 *          cosines and sines in registers for four sequences, which all have the same positions.
 *          And the other layout, in which a pair is two neighbours.
 * Predict  If table of step 18 lacks bytes in flight, float4 and scalar-two (two pairs per thread,
 *          float by float) reach 98 % of the limit. reuse loads less of the table from the L2,
 *          which is not the limit: no gain. computed (reuse without a table): 98 %, too. With
 *          float4 the layouts cost the same.
 * Outcome  scalar-two and float4 gain alike, and nearly as much. reuse loses a little to float4,
 *          we think because it reads the table from memory more often. computed: as predicted.
 *          streaming reads the table from memory once, but gains only with a warm L2.
 */
#include "cuda/count.cuh"
#include "cuda/rope_alone.cuh"
#include "problems/rope.h"

#include <stdio.h>

// A block is as wide as a row has groups of four pairs, so that no loop over them is needed, and as
// many rows high as fit. SEQUENCES: the number of sequences for which a thread of rope_reuse keeps
// its cosines and sines.
enum { THREADS4 = 128, MOST_THREADS = 1024, SEQUENCES = 4 };

// snippet: four-pairs
// Rotates four pairs by cosines c and sines t. p: their first elements. q: their second elements.
static __device__ __forceinline__ void rotate_four(float4 *p, float4 *q, float4 c, float4 t)
{
    const float4 a = *p;
    const float4 b = *q;
    COUNT("element rotations", 8);
    // solution: four-pairs -- all four pairs, in *p and *q
    // hint: The pairs are (a.x, b.x) to (a.w, b.w). Which cosine and which sine has (a.x, b.x)?
    // hint: A pair (a, b) becomes (a cos - b sin, b cos + a sin): the first goes to *p, the second
    //     to *q, in eight lines of any order.
    // hint: The first line is `p->x = a.x * c.x - b.x * t.x;`.
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

// snippet: float4
// x [B][S][D/4], cosine and sine [S][D/8] -> y [B][S][D/4], all of float4
// a pair has an element of each half of a row; grid (blocks for S rows, B), block (D/8, height)
// cost: 2 N, and N of the table
__global__ void rope_float4(const float4 *x, const float4 *cosine, const float4 *sine, float4 *y,
                            int S, int D)
{
    const int half = D / 8; // of a row, in float4
    const int i = threadIdx.x;
    const int s = blockIdx.x * blockDim.y + threadIdx.y;
    const int64_t at = ((int64_t)blockIdx.y * S + s) * 2 * half + i;
    if (s >= S) {
        return;
    }
    float4 p = x[at];
    float4 q = x[at + half];
    COUNT("table loads", 8);
    rotate_four(&p, &q, cosine[(int64_t)s * half + i], sine[(int64_t)s * half + i]);
    y[at] = p;
    y[at + half] = q;
}
// end snippet: float4

// snippet: reuse
// As rope_float4, for SEQUENCES sequences. A thread rotates the same four pairs of every sequence,
// and loads all of them before its first store. The last group may have fewer sequences.
// grid (blocks for S rows, groups of sequences)
// cost: 2 N, and the table once per group
__global__ void rope_reuse(const float4 *x, const float4 *cosine, const float4 *sine, float4 *y,
                           int B, int S, int D)
{
    const int half = D / 8;
    const int i = threadIdx.x;
    const int s = blockIdx.x * blockDim.y + threadIdx.y;
    const int first = blockIdx.y * SEQUENCES;
    const int64_t sequence = (int64_t)S * 2 * half;
    const int64_t at = first * sequence + (int64_t)s * 2 * half + i;
    if (s >= S) {
        return;
    }
    float4 p[SEQUENCES], q[SEQUENCES];
#pragma unroll
    for (int k = 0; k < SEQUENCES; k++) {
        if (k == 0 || first + k < B) {
            p[k] = x[at + k * sequence];
            q[k] = x[at + k * sequence + half];
        }
    }
    COUNT("table loads", 8);
    const float4 c = cosine[(int64_t)s * half + i];
    const float4 t = sine[(int64_t)s * half + i];
#pragma unroll
    for (int k = 0; k < SEQUENCES; k++) {
        if (k == 0 || first + k < B) {
            rotate_four(&p[k], &q[k], c, t);
            y[at + k * sequence] = p[k];
            y[at + k * sequence + half] = q[k];
        }
    }
}
// end snippet: reuse

static int groups(int n, int size)
{
    return (n + size - 1) / size;
}

static float4 *fours(const kf_run *run, const char *name)
{
    return (float4 *)kf_f32(run, name);
}

static void launch_blocks(const kf_run *run, int threads, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const dim3 block(s.D / 8, threads / (s.D / 8));
    rope_float4<<<dim3(groups(s.Sq, block.y), s.B), block, 0, stream>>>(
        fours(run, "x"), fours(run, "cos"), fours(run, "sin"), fours(run, "y"), s.Sq, s.D);
    CUDA_CHECK_LAUNCH();
}

static void launch_float4(const kf_run *run, cudaStream_t stream)
{
    launch_blocks(run, THREADS4, stream);
}

static void launch_reuse(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const dim3 block(s.D / 8, THREADS4 / (s.D / 8));
    rope_reuse<<<dim3(groups(s.Sq, block.y), groups(s.B, SEQUENCES)), block, 0, stream>>>(
        fours(run, "x"), fours(run, "cos"), fours(run, "sin"), fours(run, "y"), s.B, s.Sq, s.D);
    CUDA_CHECK_LAUNCH();
}

// --- Variants that explain -----------------------------------------------------------------------

static void launch_large_blocks(const kf_run *run, cudaStream_t stream)
{
    launch_blocks(run, MOST_THREADS, stream);
}

// snippet: stream
// rope_float4 with streaming loads and stores: x and y are used once, so caches evict them first
// and keep the table.
__global__ void rope_streaming(const float4 *x, const float4 *cosine, const float4 *sine, float4 *y,
                               int S, int D)
{
    const int half = D / 8;
    const int i = threadIdx.x;
    const int s = blockIdx.x * blockDim.y + threadIdx.y;
    const int64_t at = ((int64_t)blockIdx.y * S + s) * 2 * half + i;
    if (s >= S) {
        return;
    }
    float4 p = __ldcs(&x[at]);
    float4 q = __ldcs(&x[at + half]);
    COUNT("table loads", 8);
    rotate_four(&p, &q, cosine[(int64_t)s * half + i], sine[(int64_t)s * half + i]);
    __stcs(&y[at], p);
    __stcs(&y[at + half], q);
}
// end snippet: stream

static void launch_streaming(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const dim3 block(s.D / 8, THREADS4 / (s.D / 8));
    rope_streaming<<<dim3(groups(s.Sq, block.y), s.B), block, 0, stream>>>(
        fours(run, "x"), fours(run, "cos"), fours(run, "sin"), fours(run, "y"), s.Sq, s.D);
    CUDA_CHECK_LAUNCH();
}

// Cosines and sines of the n pairs from i on, at a position, computed in fp32 throughout.
static __device__ void compute_angles(int position, int i, int n, int D, float *c, float *t)
{
    for (int k = 0; k < n; k++) {
        sincosf((float)position * powf(10000.0f, -2.0f * (i + k) / D), &t[k], &c[k]);
    }
}

// rope_reuse, with computed cosines and sines.
__global__ void rope_computed(const float4 *x, float4 *y, int B, int S, int D, int pos0)
{
    const int half = D / 8;
    const int i = threadIdx.x;
    const int s = blockIdx.x * blockDim.y + threadIdx.y;
    const int first = blockIdx.y * SEQUENCES;
    const int64_t sequence = (int64_t)S * 2 * half;
    const int64_t at = first * sequence + (int64_t)s * 2 * half + i;
    if (s >= S) {
        return;
    }
    float4 p[SEQUENCES], q[SEQUENCES];
#pragma unroll
    for (int k = 0; k < SEQUENCES; k++) {
        if (k == 0 || first + k < B) {
            p[k] = x[at + k * sequence];
            q[k] = x[at + k * sequence + half];
        }
    }
    float c[4], t[4];
    compute_angles(pos0 + s, 4 * i, 4, D, c, t);
#pragma unroll
    for (int k = 0; k < SEQUENCES; k++) {
        if (k == 0 || first + k < B) {
            rotate_four(&p[k], &q[k], make_float4(c[0], c[1], c[2], c[3]),
                        make_float4(t[0], t[1], t[2], t[3]));
            y[at + k * sequence] = p[k];
            y[at + k * sequence + half] = q[k];
        }
    }
}

static void launch_computed(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const dim3 block(s.D / 8, THREADS4 / (s.D / 8));
    rope_computed<<<dim3(groups(s.Sq, block.y), groups(s.B, SEQUENCES)), block, 0, stream>>>(
        fours(run, "x"), fours(run, "y"), s.B, s.Sq, s.D, s.pos0);
    CUDA_CHECK_LAUNCH();
}

// --- The other layout ----------------------------------------------------------------------------

// snippet: neighbours
// Two pairs of neighbours (v.x, v.y) and (v.z, v.w).
static __device__ __forceinline__ float4 rotate_neighbours(float4 v, float2 c, float2 t)
{
    float4 rotated = v;
    COUNT("element rotations", 4);
    // solution: neighbours -- both pairs
    // hint: The rotation is that of rotate_four; what differs is where the pairs are. Which two
    //     elements of v are a pair, and how many angles are there?
    // hint: The pair (v.x, v.y) has the cosine c.x and the sine t.x, the pair (v.z, v.w) has c.y
    //     and t.y. Each result has the place in rotated that its element has in v.
    // hint: The line for the third element is `rotated.z = v.z * c.y - v.w * t.y;`.
    rotated.x = v.x * c.x - v.y * t.x;
    rotated.y = v.y * c.x + v.x * t.x;
    rotated.z = v.z * c.y - v.w * t.y;
    rotated.w = v.w * c.y + v.z * t.y;
    // end solution: neighbours
    return rotated;
}
// end snippet: neighbours

enum kind { TABLE, STREAMING, COMPUTED };

// The kernels above for neighbours, with this number of sequences. cosine and sine [S][D/4] of
// float2, block (D/4, height)
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
            const float4 *from = &x[at + k * sequence];
            v[k] = kind == STREAMING ? __ldcs(from) : *from;
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
            const float4 rotated = rotate_neighbours(v[k], c, t);
            if (kind == STREAMING) {
                __stcs(&y[at + k * sequence], rotated);
            } else {
                y[at + k * sequence] = rotated;
            }
        }
    }
}

template <int sequences, enum kind kind, int threads = THREADS4>
static void launch_neighbours(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const dim3 block(s.D / 4, threads / (s.D / 4));
    const dim3 grid(groups(s.Sq, block.y), groups(s.B, sequences));
    rope_neighbours<sequences, kind><<<grid, block, 0, stream>>>(
        fours(run, "x"), (const float2 *)kf_f32(run, "cos"), (const float2 *)kf_f32(run, "sin"),
        fours(run, "y"), s.B, s.Sq, s.D, s.pos0);
    CUDA_CHECK_LAUNCH();
}

// A case's data is its layout: which elements of a row are a pair. So variants have times in both.
enum layout { HALVES, NEIGHBOURS };
static const enum layout halves = HALVES;
static const enum layout neighbours = NEIGHBOURS;

static enum layout layout_of(const kf_case *c)
{
    return *(const enum layout *)c->data;
}

template <kf_launch *of_halves, kf_launch *of_neighbours>
static void by_layout(const kf_run *run, cudaStream_t stream)
{
    (layout_of(run->c) == HALVES ? of_halves : of_neighbours)(run, stream);
}

// snippet: wrong-layout
static void other_reference(kf_run *run)
{
    (layout_of(run->c) == HALVES ? kf_rope_reference_interleaved : kf_rope_reference)(run);
}

// The result is that of the other layout. At position 0 nothing is rotated, so the layout does not
// matter. Everywhere else an element is right only by chance.
static bool all_but_position_0(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    const kf_shape s = run->shape;
    const int64_t rotated = (int64_t)s.B * s.D * (s.pos0 == 0 ? s.Sq - 1 : s.Sq);
    const bool origin_right = s.pos0 > 0 || seen->wrong_at[1][0] == 0;
    const int64_t others = kf_wrong_by(run, "y", other_reference);
    snprintf(why, size,
             "predicted wrong: 99%% or more of %lld elements that are rotated, and no others, all "
             "as the other layout has them; seen %lld wrong, and %lld unlike the other layout",
             (long long)rotated, (long long)seen->wrong, (long long)others);
    return origin_right && others == 0 && seen->wrong > 0.99 * rotated;
}
// end snippet: wrong-layout

// --- One pair per thread -------------------------------------------------------------------------

enum { THREADS = 256 };

// snippet: scalar
// The table kernel of step 18, in either layout and without its loop.
// x [B][S][D], cosine and sine [S][D/2] -> y [B][S][D], pair i: x[next * i], x[next * i + other]
// grid (blocks for S rows, B), block (D/2, height). A thread has `rows` rows, `height` apart, and
// loads all of them before it stores the first.
// cost: 2 N, and N of the table
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

template <int rows>
static void launch_scalar(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const bool apart = layout_of(run->c) == HALVES;
    const dim3 block(s.D / 2, THREADS / (s.D / 2));
    rope_scalar<rows><<<dim3(groups(s.Sq, block.y * rows), s.B), block, 0, stream>>>(
        kf_f32(run, "x"), kf_f32(run, "cos"), kf_f32(run, "sin"), kf_f32(run, "y"), s.Sq, s.D,
        apart ? 1 : 2, apart ? s.D / 2 : 1);
    CUDA_CHECK_LAUNCH();
}

// --- Tables --------------------------------------------------------------------------------------

static bool fits_float4(const kf_case *c)
{
    return c->shape.D % 8 == 0;
}

// Variants that explain a time are timed in one layout only.
static bool explains(const kf_case *c)
{
    return layout_of(c) == HALVES || !(c->flags & KF_LARGE);
}

static bool float4_explains(const kf_case *c)
{
    return fits_float4(c) && explains(c);
}

static bool fits_float4_and_small(const kf_case *c)
{
    return fits_float4(c) && !(c->flags & KF_LARGE);
}

static void setup(kf_run *run)
{
    kf_rope_setup(run);
    kf_rope_tables(run);
}

static void reference(kf_run *run)
{
    (layout_of(run->c) == HALVES ? kf_rope_reference : kf_rope_reference_interleaved)(run);
}

// The cases of rope_alone.cuh, and the same in the other layout.
static const kf_shape large = {.B = 128, .Sq = 8192, .Sk = 8192, .D = 128, .R = 128};
static const kf_shape half_of_large = {.B = 64, .Sq = 8192, .Sk = 8192, .D = 128, .R = 128};
static const kf_shape small = {.B = 4, .Sq = 256, .Sk = 256, .D = 128, .R = 128};
static const kf_shape D80 = {.B = 19, .Sq = 77, .Sk = 77, .D = 80, .R = 80};
static const kf_shape D20 = {.B = 2, .Sq = 9, .Sk = 9, .D = 20, .R = 20, .pos0 = 3};
static const kf_shape D256 = {.B = 3, .Sq = 5, .Sk = 5, .D = 256, .R = 256, .pos0 = 7};
static const kf_shape S1 = {.B = 5, .D = 8, .R = 8, .pos0 = 1};
static const kf_shape far = {.B = 2, .Sq = 45, .Sk = 45, .D = 128, .R = 128, .pos0 = 131027};

static const kf_case cases[] = {
    {.name = "large", .shape = large, .flags = KF_LARGE, .data = &halves},
    {.name = "large-interleaved", .shape = half_of_large, .flags = KF_LARGE, .data = &neighbours},
    {.name = "small", .shape = small, .flags = KF_VERIFY_ONLY, .data = &halves},
    {.name = "small-interleaved", .shape = small, .flags = KF_VERIFY_ONLY, .data = &neighbours},
    {.name = "D80", .shape = D80, .flags = KF_VERIFY_ONLY, .data = &halves},
    {.name = "D80-interleaved", .shape = D80, .flags = KF_VERIFY_ONLY, .data = &neighbours},
    {.name = "D20", .shape = D20, .flags = KF_VERIFY_ONLY, .data = &halves},
    {.name = "D20-interleaved", .shape = D20, .flags = KF_VERIFY_ONLY, .data = &neighbours},
    {.name = "D256", .shape = D256, .flags = KF_VERIFY_ONLY, .data = &halves},
    {.name = "D256-interleaved", .shape = D256, .flags = KF_VERIFY_ONLY, .data = &neighbours},
    {.name = "S1", .shape = S1, .flags = KF_VERIFY_ONLY, .data = &halves},
    {.name = "S1-interleaved", .shape = S1, .flags = KF_VERIFY_ONLY, .data = &neighbours},
    {.name = "far", .shape = far, .flags = KF_VERIFY_ONLY, .data = &halves},
};

static const kf_variant variants[] = {
    {.name = "scalar", .about = "one pair per thread: step 18's table", .launch = launch_scalar<1>},
    {.name = "scalar-two",
     .about = "one pair in each of two rows per thread, float by float",
     .launch = launch_scalar<2>,
     .applies = explains},
    {.name = "float4",
     .about = "four pairs per thread",
     .launch = by_layout<launch_float4, launch_neighbours<1, TABLE>>,
     .applies = fits_float4},
    {.name = "large-blocks",
     .about = "float4, 1024 threads per block",
     .launch = by_layout<launch_large_blocks, launch_neighbours<1, TABLE, MOST_THREADS>>,
     .applies = float4_explains},
    {.name = "reuse",
     .about = "float4, the table once for four sequences",
     .launch = by_layout<launch_reuse, launch_neighbours<SEQUENCES, TABLE>>,
     .applies = float4_explains},
    {.name = "streaming",
     .about = "float4, x and y marked as used once",
     .launch = by_layout<launch_streaming, launch_neighbours<1, STREAMING>>,
     .applies = fits_float4},
    {.name = "wrong-layout",
     .about = "float4, for the other layout",
     .launch = by_layout<launch_neighbours<1, TABLE>, launch_float4>,
     .applies = fits_float4_and_small,
     .predicted = all_but_position_0},
    {.name = "computed",
     .about = "reuse, with powf and sincosf in place of the table",
     .launch = by_layout<launch_computed, launch_neighbours<SEQUENCES, COMPUTED>>,
     .applies = float4_explains,
     .extra_error = rope_alone_angle_error},
};

static const kf_question questions[] = {
    {.text = "For 4 sequences of 256 rows, float4 loads the table four times, and reuse once: how "
             "many times as many sectors, of x and the table, does float4 load as reuse?",
     .figure = "global_ld_sectors",
     .case_name = "small",
     .variant = "float4",
     .over = "reuse"},
    {.text = "On 128 sequences of 8192 rows, D = 128, how many times as fast is float4 (four "
             "pairs per thread) as scalar (one pair)?",
     .figure = "median_us",
     .case_name = "large",
     .variant = "scalar",
     .over = "float4"},
    {.text =
         "On 128 sequences of 8192 rows, reuse loads the table once for four sequences: how many "
         "times as fast as float4 is it?",
     .figure = "median_us",
     .case_name = "large",
     .variant = "float4",
     .over = "reuse"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "19-rope-float4",
        .title = "RoPE alone with float4, and the table read once for many sequences",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = reference,
        .cost = kf_rope_cost,
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
