/* 19-rope-float4: RoPE alone with float4, and with the table read once for many sequences
 *
 * Grows from: 18-rope-one-kernel
 *
 * Idea     Two changes to the kernel that reads the table, apart and together. float4: a thread
 *          takes four pairs with 16-byte loads and stores. Reuse: a thread keeps its cosines and
 *          sines in registers and goes through several sequences of the batch, for all of them
 *          stand at the same positions. And the other layout, in which a pair is two neighbours.
 * Predict  float4 moves the same sectors with a quarter of the requests, and with less than half
 *          of the instructions, because most of a thread's instructions are not about its pair: but
 *          device memory is the limit, so a few per cent of the time at most. Reuse takes the table
 *          out of the L2's traffic, 3 N there become 2 N: a few per cent more. Then computing costs
 *          next to nothing either, for the trigonometry is shared by 16 sequences. Together at
 * least 93% of the copy bandwidth. Interleaved: scalar loads of every second float touch each
 *          sector twice, which the L1 hides in part; with float4 the layouts should cost the same.
 * Outcome  To be recorded.
 */
#include "cuda/count.cuh"
#include "cuda/rope_alone.cuh"

#include <stdio.h>
#include <string.h>

// Blocks are LANES x ROWS threads and have ROWS rows of one or more sequences.
enum { THREADS = 256, LANES = 64, ROWS = THREADS / LANES };
enum { LANES4 = 16, ROWS4 = THREADS / LANES4 };
enum { SEQUENCES = 16, AT_ONCE = 4 };

// snippet: scalar
// x [B][S][D], cosine and sine [S][D/2] -> y [B][S][D], pair i is x[next i] and x[next i + other]
// grid (blocks for S rows, groups of so many sequences)
// cost: 2 N, and the table once a group
__global__ void rope_scalar(const float *x, const float *cosine, const float *sine, float *y, int B,
                            int S, int D, int next, int other, int sequences)
{
    const int half = D / 2;
    const int s = blockIdx.x * ROWS + threadIdx.y;
    const int first = blockIdx.y * sequences;
    const int end = min(first + sequences, B);
    if (s >= S) {
        return;
    }
    for (int i = threadIdx.x; i < half; i += LANES) {
        const float c = cosine[(int64_t)s * half + i];
        const float t = sine[(int64_t)s * half + i];
        COUNT("table loads", 2);
        for (int b = first; b < end; b++) {
            const int64_t at = ((int64_t)b * S + s) * D + next * i;
            const float p = x[at];
            const float q = x[at + other];
            COUNT("element rotations", 2);
            y[at] = p * c - q * t;
            y[at + other] = q * c + p * t;
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

// Cosines and sines of the pairs from i on, at a position, in fp32 throughout.
static __device__ void compute_angles(int position, int i, int n, int D, float *c, float *t)
{
    for (int k = 0; k < n; k++) {
        sincosf((float)position * powf(10000.0f, -2.0f * (i + k) / D), &t[k], &c[k]);
    }
}

// snippet: float4
// x [B][S][D/4], cosine and sine [S][D/8] -> y [B][S][D/4], all of float4; pairs are halves
// grid (blocks for S rows, groups of so many sequences); at_once sequences are loaded before the
// first is stored
// cost: 2 N, and the table, or the trigonometry, once a group
template <int at_once, bool computed>
__global__ void rope_float4(const float4 *x, const float4 *cosine, const float4 *sine, float4 *y,
                            int B, int S, int D, int pos0, int sequences)
{
    const int quarters = D / 8; // float4s in half a row
    const int s = blockIdx.x * ROWS4 + threadIdx.y;
    const int first = blockIdx.y * sequences;
    const int end = min(first + sequences, B);
    const int64_t sequence = (int64_t)S * D / 4;
    if (s >= S) {
        return;
    }
    for (int i = threadIdx.x; i < quarters; i += LANES4) {
        float4 c, t;
        if (computed) {
            compute_angles(pos0 + s, 4 * i, 4, D, &c.x, &t.x);
        } else {
            COUNT("table loads", 8);
            c = cosine[(int64_t)s * quarters + i];
            t = sine[(int64_t)s * quarters + i];
        }
        for (int b = first; b < end; b += at_once) {
            const int64_t at = b * sequence + (int64_t)s * 2 * quarters + i;
            float4 p[at_once], q[at_once];
#pragma unroll
            for (int k = 0; k < at_once; k++) {
                if (b + k < end) {
                    p[k] = x[at + k * sequence];
                    q[k] = x[at + k * sequence + quarters];
                }
            }
#pragma unroll
            for (int k = 0; k < at_once; k++) {
                if (b + k < end) {
                    turn_four(&p[k], &q[k], c, t);
                    y[at + k * sequence] = p[k];
                    y[at + k * sequence + quarters] = q[k];
                }
            }
        }
    }
}
// end snippet: float4

// snippet: neighbours
// The same with neighbours for pairs: two pairs in each float4, cosine and sine [S][D/4] of float2
template <int at_once, bool computed>
__global__ void rope_neighbours(const float4 *x, const float2 *cosine, const float2 *sine,
                                float4 *y, int B, int S, int D, int pos0, int sequences)
{
    const int quarters = D / 4; // float4s in a row
    const int s = blockIdx.x * ROWS4 + threadIdx.y;
    const int first = blockIdx.y * sequences;
    const int end = min(first + sequences, B);
    const int64_t sequence = (int64_t)S * quarters;
    if (s >= S) {
        return;
    }
    for (int i = threadIdx.x; i < quarters; i += LANES4) {
        float2 c, t;
        if (computed) {
            compute_angles(pos0 + s, 2 * i, 2, D, &c.x, &t.x);
        } else {
            COUNT("table loads", 4);
            c = cosine[(int64_t)s * quarters + i];
            t = sine[(int64_t)s * quarters + i];
        }
        for (int b = first; b < end; b += at_once) {
            const int64_t at = b * sequence + (int64_t)s * quarters + i;
            float4 p[at_once];
#pragma unroll
            for (int k = 0; k < at_once; k++) {
                if (b + k < end) {
                    p[k] = x[at + k * sequence];
                }
            }
#pragma unroll
            for (int k = 0; k < at_once; k++) {
                if (b + k < end) {
                    const float4 a = p[k];
                    COUNT("element rotations", 4);
                    // solution: neighbours -- turn (a.x, a.y) and (a.z, a.w)
                    y[at + k * sequence] =
                        make_float4(a.x * c.x - a.y * t.x, a.y * c.x + a.x * t.x,
                                    a.z * c.y - a.w * t.y, a.w * c.y + a.z * t.y);
                    // end solution: neighbours
                }
            }
        }
    }
}
// end snippet: neighbours

// The layout is the case's, so that each way to compute has a time in both.
static bool is_interleaved(const kf_run *run)
{
    return strstr(run->c->name, "interleaved") != NULL;
}

static int groups(int n, int size)
{
    return (n + size - 1) / size;
}

template <int sequences>
static void launch_scalar(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const bool interleaved = is_interleaved(run);
    rope_scalar<<<dim3(groups(s.Sq, ROWS), groups(s.B, sequences)), dim3(LANES, ROWS), 0, stream>>>(
        kf_f32(run, "x"), kf_f32(run, "cos"), kf_f32(run, "sin"), kf_f32(run, "y"), s.B, s.Sq, s.D,
        interleaved ? 2 : 1, interleaved ? 1 : s.D / 2, sequences);
    CUDA_CHECK_LAUNCH();
}

template <int sequences, int at_once, bool computed>
static void launch_vectors(const kf_run *run, bool interleaved, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const dim3 grid(groups(s.Sq, ROWS4), groups(s.B, sequences));
    const dim3 block(LANES4, ROWS4);
    const float *cosine = kf_f32(run, "cos");
    const float *sine = kf_f32(run, "sin");
    const float4 *x = (const float4 *)kf_f32(run, "x");
    float4 *y = (float4 *)kf_f32(run, "y");
    if (interleaved) {
        rope_neighbours<at_once, computed><<<grid, block, 0, stream>>>(
            x, (const float2 *)cosine, (const float2 *)sine, y, s.B, s.Sq, s.D, s.pos0, sequences);
    } else {
        rope_float4<at_once, computed><<<grid, block, 0, stream>>>(
            x, (const float4 *)cosine, (const float4 *)sine, y, s.B, s.Sq, s.D, s.pos0, sequences);
    }
    CUDA_CHECK_LAUNCH();
}

template <int sequences, int at_once, bool computed>
static void launch_float4(const kf_run *run, cudaStream_t stream)
{
    launch_vectors<sequences, at_once, computed>(run, is_interleaved(run), stream);
}

static void launch_wrong_layout(const kf_run *run, cudaStream_t stream)
{
    launch_vectors<1, 1, false>(run, !is_interleaved(run), stream);
}

static bool fits_float4(const kf_shape *shape)
{
    return shape->D % 8 == 0;
}

static bool fits_float4_and_small(const kf_shape *shape)
{
    return fits_float4(shape) && shape->B * shape->Sq < 10000;
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

static double angle_error(const kf_shape *shape)
{
    return kf_fp32_angle_error(shape, false);
}

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
    {"large", {128, 1, 8192, 8192, 128, 128, false, 0}, KF_LARGE},
    {"large-interleaved", {128, 1, 8192, 8192, 128, 128, false, 0}, KF_LARGE},
    {"small", {4, 1, 256, 256, 128, 128, false, 0}, 0},
    {"small-interleaved", {4, 1, 256, 256, 128, 128, false, 0}, 0},
    {"D80", {19, 1, 77, 77, 80, 80, false, 0}, KF_VERIFY_ONLY},
    {"D80-interleaved", {19, 1, 77, 77, 80, 80, false, 0}, KF_VERIFY_ONLY},
    {"D20", {2, 1, 9, 9, 20, 20, false, 3}, KF_VERIFY_ONLY},
    {"D20-interleaved", {2, 1, 9, 9, 20, 20, false, 3}, KF_VERIFY_ONLY},
    {"D256", {3, 1, 5, 5, 256, 256, false, 7}, KF_VERIFY_ONLY},
    {"D256-interleaved", {3, 1, 5, 5, 256, 256, false, 7}, KF_VERIFY_ONLY},
    {"S1", {5, 1, 1, 1, 8, 8, false, 1}, KF_VERIFY_ONLY},
    {"S1-interleaved", {5, 1, 1, 1, 8, 8, false, 1}, KF_VERIFY_ONLY},
    {"far", {2, 1, 45, 45, 128, 128, false, 131027}, KF_VERIFY_ONLY},
};

static const kf_variant variants[] = {
    {"scalar", "one pair a thread: step 18's table", launch_scalar<1>, NULL, 0, NULL},
    {"scalar-reuse", "one pair a thread, of 16 sequences", launch_scalar<SEQUENCES>, NULL, 0, NULL},
    {"float4", "four pairs a thread", launch_float4<1, 1, false>, fits_float4, 0, NULL},
    {"float4-reuse", "four pairs a thread, of 16 sequences",
     launch_float4<SEQUENCES, AT_ONCE, false>, fits_float4, 0, NULL},
    {"wrong-layout", "float4, for the other layout", launch_wrong_layout, fits_float4_and_small, 0,
     all_but_position_0},
    {"computed-reuse", "powf and sincosf in place of the table, once for 16 sequences",
     launch_float4<SEQUENCES, AT_ONCE, true>, fits_float4, 0, NULL, NULL, angle_error},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        "19-rope-float4",
        "RoPE alone with float4, and with the table read once for many sequences",
        KF_LIST(cases),
        KF_LIST(variants),
        setup,
        reference,
        kf_rope_cost,
        KF_LIST(rope_alone_timings)};
    return kf_main(&program, argc, argv);
}
