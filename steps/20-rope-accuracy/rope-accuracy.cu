/* 20-rope-accuracy: how far off cosines and sines are, and what accuracy costs
 *
 * Follows: 19-rope-float4
 * Architecture: 75
 * Profile: --case bare-near --case bare-far --case rope-near --case rope-far
 *
 * Idea     Cosine and sine have two errors: the angle is rounded before the function sees it, and
 *          the function is inexact. Measure both, apart and together, against fp64, up to position
 *          131071. Then remove them: count the angle in revolutions, drop the whole ones first, and
 *          round last; as two fp32 words, or as a 64-bit integer (rope_angle.cuh).
 * Predict  At position 131071 fp32 is off by at most 0.0078 and fp32-fast by 0.025; integer by
 *          1.5e-7, two-word by 2.5e-7, integer-fast by 7.5e-7. Alone, fp32 and integer take 12 us
 *          by their 42 instructions per pair, fp32-fast and integer-fast 5.3 us by the special
 *          function unit. Within RoPE memory hides every path that computes.
 * Outcome  Errors as predicted. Alone, integer and integer-fast take longer than predicted. Within
 *          RoPE everything near is hidden, and the table is the slowest. Refuted at far positions:
 *          there sincosf takes a loop, a warp takes the loop when one lane must, and memory does
 *          not hide it.
 */
#include "cuda/count.cuh"
#include "cuda/rope_angle.cuh"
#include "problems/rope.h"

#include <cuda_bf16.h>
#include <math.h>

/* The inputs of all paths. Tables are [P][half], row p for position pos0 + p. The others are
 * [half], computed in fp64 and rounded once: radians per position in fp32, revolutions in two
 * words of fp32, and in units of 2^-64. */
struct angles {
    const float *cosine, *sine;
    const __nv_bfloat16 *cosine16, *sine16;
    const float *radians;
    const float2 *revolutions;
    const rope_frequency *frequency;
    int pos0, half;
};

enum path { TABLE, TABLE_BF16, POWF_FAST, FP32_FAST, FP32, TWO_WORDS, INTEGER, INTEGER_FAST };

static __device__ __forceinline__ void cos_sin(path way, const angles &a, int row, int i,
                                               float *cosine, float *sine);
static __device__ __forceinline__ void four_cos_sin(path way, const angles &a, int row, int i,
                                                    float *cosine, float *sine);
static __device__ __forceinline__ void rotate_four(float4 *p, float4 *q, float4 c, float4 t);

// snippet: bare
// angles -> cosine and sine [rows][half]. Each output is the sum of the cosines, or sines, of
// `each` positions: row, row + rows, row + 2 rows, ... So there is little to write.
// block (half, some rows); cost: `each` pairs per thread
template <path PATH>
__global__ void bare(angles a, float *cosine, float *sine, int rows, int each)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) {
        return;
    }
    float c_sum = 0.0f;
    float s_sum = 0.0f;
    for (int j = 0; j < each; j++) {
        float c;
        float s;
        cos_sin(PATH, a, row + j * rows, threadIdx.x, &c, &s);
        COUNT("table loads", PATH == TABLE || PATH == TABLE_BF16 ? 2 : 0);
        c_sum += c;
        s_sum += s;
    }
    cosine[(int64_t)row * a.half + threadIdx.x] = c_sum;
    sine[(int64_t)row * a.half + threadIdx.x] = s_sum;
}
// end snippet: bare

// snippet: rope
// x [B][S][D/4] -> y [B][S][D/4], all of float4; a pair has an element of each half
// grid (blocks for S rows, B), block (D/8, height)
// cost: 2 N, and the cosines and sines of S B D / 2 pairs
template <path PATH>
__global__ void rope(angles a, const float4 *x, float4 *y, int S)
{
    const int half = a.half / 4; // of a row, in float4
    const int s = blockIdx.x * blockDim.y + threadIdx.y;
    if (s >= S) {
        return;
    }
    const int64_t at = ((int64_t)blockIdx.y * S + s) * 2 * half + threadIdx.x;
    float4 p = x[at];
    float4 q = x[at + half];
    float c[4];
    float t[4];
    four_cos_sin(PATH, a, s, 4 * threadIdx.x, c, t);
    COUNT("table loads", PATH == TABLE || PATH == TABLE_BF16 ? 8 : 0);
    rotate_four(&p, &q, make_float4(c[0], c[1], c[2], c[3]), make_float4(t[0], t[1], t[2], t[3]));
    y[at] = p;
    y[at + half] = q;
}
// end snippet: rope

// snippet: two-word
// position < 2^24; frequency = x + y revolutions per position -> revolutions, about [-1/2, 1/2]
// cost: 7 instructions
static __device__ float two_word_revolutions(int position, float2 frequency)
{
    float in_revolutions = 0.0f;
    // solution: reduce -- position * (x + y) minus its whole revolutions, rounded at the end
    // hint: A product of two floats has up to 48 bits, and a float keeps 24 of them. Which
    //     instruction finds exactly what the rounding of the product has lost?
    // hint: The order is: the position as a float; its rounded product with frequency.x; the
    //     rounding error of this product; the product less its nearest whole number (rintf); at the
    //     end the small parts, which are the rounding error and the product of the position and
    //     frequency.y.
    // hint: Declare p and product. `__fmul_rn(p, frequency.x)` is a product that the compiler does
    //     not fuse with the subtraction behind it; its rounding error is
    //     `fmaf(p, frequency.x, -product)`. Another fmaf adds the product of p and frequency.y to
    //     this error, and the last addition adds the result to product less `rintf(product)`.
    const float p = (float)position;
    // A product that the compiler must not fuse with the subtraction behind it.
    const float product = __fmul_rn(p, frequency.x);
    const float rest = fmaf(p, frequency.x, -product);
    const float part = product - rintf(product);
    in_revolutions = part + fmaf(p, frequency.y, rest);
    // end solution: reduce
    COUNT("revolutions past a half",
          fabsf(in_revolutions) > 0.51f); // 1/2, and a little more
    return in_revolutions;
}
// end snippet: two-word

// snippet: paths
// Cosine and sine of pair i in a row, which stands at position pos0 + row.
static __device__ __forceinline__ void cos_sin(path way, const angles &a, int row, int i,
                                               float *cosine, float *sine)
{
    const int position = a.pos0 + row;
    const int64_t at = (int64_t)row * a.half + i;
    switch (way) {
    case TABLE:
        *cosine = a.cosine[at];
        *sine = a.sine[at];
        break;
    case TABLE_BF16:
        *cosine = __bfloat162float(a.cosine16[at]);
        *sine = __bfloat162float(a.sine16[at]);
        break;
    case POWF_FAST:
        __sincosf(position * powf(10000.0f, -2.0f * i / (2.0f * a.half)), sine, cosine);
        break;
    case FP32_FAST:
        __sincosf(position * a.radians[i], sine, cosine);
        break;
    case FP32:
        sincosf(position * a.radians[i], sine, cosine);
        break;
    case TWO_WORDS: {
        const float2 frequency = a.revolutions[i];
        sincospif(2.0f * two_word_revolutions(position, frequency), sine, cosine);
        break;
    }
    case INTEGER:
        rope_cos_sin(position, a.frequency[i], cosine, sine);
        break;
    case INTEGER_FAST:
        rope_cos_sin_fast(position, a.frequency[i], cosine, sine);
        break;
    }
}
// end snippet: paths

// Loads four elements of a table at once. `from` must be a multiple of their size.
template <typename T>
static __device__ __forceinline__ void load_four(const T *from, T *to)
{
    struct alignas(4 * sizeof(T)) pack {
        T value[4];
    };
    const pack p = *(const pack *)from;
    for (int e = 0; e < 4; e++) {
        to[e] = p.value[e];
    }
}

// Cosines and sines of four pairs of a row from i on; those in tables take one load each.
static __device__ __forceinline__ void four_cos_sin(path way, const angles &a, int row, int i,
                                                    float *cosine, float *sine)
{
    const int64_t first = (int64_t)row * a.half + i;
    if (way == TABLE) {
        load_four(a.cosine + first, cosine);
        load_four(a.sine + first, sine);
    } else if (way == TABLE_BF16) {
        __nv_bfloat16 c[4], s[4];
        load_four(a.cosine16 + first, c);
        load_four(a.sine16 + first, s);
        for (int e = 0; e < 4; e++) {
            cosine[e] = __bfloat162float(c[e]);
            sine[e] = __bfloat162float(s[e]);
        }
    } else {
        for (int e = 0; e < 4; e++) {
            cos_sin(way, a, row, i + e, &cosine[e], &sine[e]);
        }
    }
}

// same as step 19
// Four pairs: their first elements p and second elements q, rotated by cosines c and sines t.
static __device__ __forceinline__ void rotate_four(float4 *p, float4 *q, float4 c, float4 t)
{
    const float4 a = *p;
    const float4 b = *q;
    COUNT("element rotations", 8);
    p->x = a.x * c.x - b.x * t.x;
    p->y = a.y * c.y - b.y * t.y;
    p->z = a.z * c.z - b.z * t.z;
    p->w = a.w * c.w - b.w * t.w;
    q->x = b.x * c.x + a.x * t.x;
    q->y = b.y * c.y + a.y * t.y;
    q->z = b.z * c.z + a.z * t.z;
    q->w = b.w * c.w + a.w * t.w;
}

// The data of a case that applies RoPE to x. Others have none: they output cosines and sines.
static const bool rope_of_x = true;

static bool is_rope(const kf_case *c)
{
    return c->data == &rope_of_x;
}

enum { THREADS = 256 };

// same as step 19
static int groups(int n, int size)
{
    return (n + size - 1) / size;
}

// same as step 19
static float4 *fours(const kf_run *run, const char *name)
{
    return (float4 *)kf_f32(run, name);
}

template <path PATH>
static void launch(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const angles a = {.cosine = kf_f32(run, "cos"),
                      .sine = kf_f32(run, "sin"),
                      .cosine16 = (const __nv_bfloat16 *)kf_memory(run, "cos16", KF_BF16),
                      .sine16 = (const __nv_bfloat16 *)kf_memory(run, "sin16", KF_BF16),
                      .radians = kf_f32(run, "radians"),
                      .revolutions = (const float2 *)kf_f32(run, "revolutions"),
                      .frequency = rope_frequencies(run),
                      .pos0 = s.pos0,
                      .half = s.R / 2};
    if (is_rope(run->c)) {
        const dim3 block(s.D / 8, THREADS / (s.D / 8));
        rope<PATH><<<dim3(groups(s.Sq, block.y), s.B), block, 0, stream>>>(a, fours(run, "x"),
                                                                           fours(run, "y"), s.Sq);
    } else {
        const dim3 block(a.half, THREADS / a.half);
        bare<PATH><<<groups(s.Sq, block.y), block, 0, stream>>>(
            a, kf_f32(run, "cosine"), kf_f32(run, "sine"), s.Sq, s.Sk / s.Sq);
    }
    CUDA_CHECK_LAUNCH();
}

// --- Errors, each derived ------------------------------------------------------------------------

static const double U = 0x1p-24;
static const double TWO_PI = 6.283185307179586477;

static double last_position(const kf_shape *s)
{
    return s->pos0 + s->Sk - 1.0;
}

/* A number below 1 is rounded to fp32, then to bf16: by half a unit in its last place at most. */
static double bf16_error(const kf_case *)
{
    return 0.5 * kf_unit_roundoff(KF_BF16) + 0.5 * U;
}

// snippet: bounds
/* The roundings of the frequency and the product. Pair 0 has frequency 1: both exact below 2^24. */
static double fp32_angle(const kf_case *c)
{
    return c->shape.R == 2 ? 0.0 : 2.0 * U * last_position(&c->shape);
}

/* The error of sincosf is 2 units in the last place of a result below 1. */
static double fp32_error(const kf_case *c)
{
    return fp32_angle(c) + 4.0 * U;
}

/* The error of __sincosf is 2^-21.19 within [-pi, pi]. Beyond, it reduces the angle with a
 * rounded 1 / 2 pi, and cuts the product: U + 2U. */
static double fp32_fast_error(const kf_case *c)
{
    return fp32_angle(c) + 3.0 * U * last_position(&c->shape) + exp2(-21.19);
}

static double powf_fast_error(const kf_case *c)
{
    return kf_fp32_angle_error(&c->shape, true) + U * last_position(&c->shape);
}

/* In revolutions. The frequency in two words has a relative error of U^2. Together the small parts
 * are at most 2 U of the product. Their sum is rounded: 2 U^2 of the product. The result is about
 * 1/2 at most, and is rounded: U / 2. The error of sincospif is 1 unit in the last place. */
static double two_word_error(const kf_case *c)
{
    return TWO_PI * (0.5 * U + 0.16 * last_position(&c->shape) * 3.0 * U * U) + 2.0 * U;
}
// end snippet: bounds

// --- Tables --------------------------------------------------------------------------------------

static double frequency_fp64(int i, int R)
{
    return pow(10000.0, -2.0 * i / R);
}

static void declare_frequencies(kf_run *run)
{
    const int R = run->shape.R;
    const int64_t one[] = {R / 2};
    const int64_t two[] = {R / 2, 2};
    float *radians = kf_input(run, "radians", "R", KF_F32, one)->host;
    float *revolutions = kf_input(run, "revolutions", "RW", KF_F32, two)->host;
    for (int i = 0; i < R / 2; i++) {
        const double in_revolutions = frequency_fp64(i, R) / TWO_PI;
        radians[i] = (float)frequency_fp64(i, R);
        revolutions[2 * i] = (float)in_revolutions;
        revolutions[2 * i + 1] = (float)(in_revolutions - revolutions[2 * i]);
    }
    rope_frequency_table(run);
}

static void declare_bf16(kf_run *run, const char *name, const char *from)
{
    const kf_tensor table = *kf_find(run, from);
    kf_tensor *rounded = kf_input(run, name, "PR", KF_BF16, table.dim);
    for (int64_t i = 0; i < table.count; i++) {
        rounded->host[i] = table.host[i]; // the harness rounds when it uploads the tensor
    }
}

static void setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t out[] = {s.Sq, s.R / 2};
    kf_rope_tables(run);
    declare_bf16(run, "cos16", "cos");
    declare_bf16(run, "sin16", "sin");
    declare_frequencies(run);
    if (is_rope(run->c)) {
        kf_rope_setup(run);
    } else {
        kf_output(run, "cosine", "SR", KF_F32, out);
        kf_output(run, "sine", "SR", KF_F32, out);
    }
}

/* Sums of many positions are checked only in every 64th row and in the last one. */
static void reference(kf_run *run)
{
    const kf_shape s = run->shape;
    const int half = s.R / 2;
    const int each = s.Sk / s.Sq;
    if (is_rope(run->c)) {
        kf_rope_reference(run);
        return;
    }
    kf_tensor *out[] = {kf_find(run, "cosine"), kf_find(run, "sine")};
    for (int row = 0; row < s.Sq; row++) {
        const bool checked = each == 1 || row % 64 == 0 || row == s.Sq - 1;
        out[0]->checked[row] = checked;
        out[1]->checked[row] = checked;
        for (int i = 0; i < half && checked; i++) {
            const double frequency = frequency_fp64(i, s.R);
            double sum[2] = {0.0, 0.0};
            double absolute[2] = {0.0, 0.0};
            for (int j = 0; j < each; j++) {
                const double angle = (double)(s.pos0 + row + j * s.Sq) * frequency;
                const double value[2] = {cos(angle), sin(angle)};
                for (int k = 0; k < 2; k++) {
                    sum[k] += value[k];
                    absolute[k] += fabs(value[k]);
                }
            }
            for (int k = 0; k < 2; k++) {
                const double adding = each > 1 ? kf_gamma(each, U) : 0.0;
                out[k]->want[row * half + i] = sum[k];
                out[k]->bound[row * half + i] =
                    each * run->extra_error + (U + adding) * absolute[k];
            }
        }
    }
}

/* Without RoPE: reads the frequencies, writes the sums, one product per pair. */
static kf_cost cost(const kf_case *c)
{
    if (is_rope(c)) {
        return kf_rope_cost(c);
    }
    const double pairs = c->shape.R / 2;
    const kf_cost bare = {.bytes = 8.0 * c->shape.Sq * pairs + 8.0 * pairs,
                          .flops = c->shape.Sk * pairs,
                          .tensor_cores = false};
    return bare;
}

/* at-N: positions from N on, every pair of R = 128. whole-N: R = 2, where the angle is the
 * position itself, exact in fp32, so that all of the error is that of the function. only-N: one
 * position. Without RoPE, Sk positions are added up in Sq rows. */
static const kf_case cases[] = {
    KF_CASE("at-1", KF_VERIFY_ONLY, .Sq = 8, .Sk = 8, .D = 128, .R = 128, .pos0 = 1),
    KF_CASE("at-10", KF_VERIFY_ONLY, .Sq = 16, .Sk = 16, .D = 128, .R = 128, .pos0 = 10),
    KF_CASE("at-40", KF_VERIFY_ONLY, .Sq = 32, .Sk = 32, .D = 128, .R = 128, .pos0 = 40),
    KF_CASE("at-100", KF_VERIFY_ONLY, .Sq = 64, .Sk = 64, .D = 128, .R = 128, .pos0 = 100),
    KF_CASE("at-1000", KF_VERIFY_ONLY, .Sq = 64, .Sk = 64, .D = 128, .R = 128, .pos0 = 1000),
    KF_CASE("at-4096", KF_VERIFY_ONLY, .Sq = 64, .Sk = 64, .D = 128, .R = 128, .pos0 = 4096),
    KF_CASE("at-16384", KF_VERIFY_ONLY, .Sq = 64, .Sk = 64, .D = 128, .R = 128, .pos0 = 16384),
    KF_CASE("at-65536", KF_VERIFY_ONLY, .Sq = 64, .Sk = 64, .D = 128, .R = 128, .pos0 = 65536),
    KF_CASE("at-131008", KF_VERIFY_ONLY, .Sq = 64, .Sk = 64, .D = 128, .R = 128, .pos0 = 131008),
    KF_CASE("whole-1", KF_VERIFY_ONLY, .Sq = 8, .Sk = 8, .D = 2, .R = 2, .pos0 = 1),
    KF_CASE("whole-10", KF_VERIFY_ONLY, .Sq = 16, .Sk = 16, .D = 2, .R = 2, .pos0 = 10),
    KF_CASE("whole-40", KF_VERIFY_ONLY, .Sq = 32, .Sk = 32, .D = 2, .R = 2, .pos0 = 40),
    KF_CASE("whole-100", KF_VERIFY_ONLY, .Sq = 64, .Sk = 64, .D = 2, .R = 2, .pos0 = 100),
    KF_CASE("whole-1000", KF_VERIFY_ONLY, .Sq = 64, .Sk = 64, .D = 2, .R = 2, .pos0 = 1000),
    KF_CASE("whole-4096", KF_VERIFY_ONLY, .Sq = 64, .Sk = 64, .D = 2, .R = 2, .pos0 = 4096),
    KF_CASE("whole-16384", KF_VERIFY_ONLY, .Sq = 64, .Sk = 64, .D = 2, .R = 2, .pos0 = 16384),
    KF_CASE("whole-65536", KF_VERIFY_ONLY, .Sq = 64, .Sk = 64, .D = 2, .R = 2, .pos0 = 65536),
    KF_CASE("whole-131008", KF_VERIFY_ONLY, .Sq = 64, .Sk = 64, .D = 2, .R = 2, .pos0 = 131008),
    // Single positions, as the log has them.
    KF_CASE("only-40", KF_VERIFY_ONLY, .D = 128, .R = 128, .pos0 = 40),
    KF_CASE("only-16384", KF_VERIFY_ONLY, .D = 128, .R = 128, .pos0 = 16384),
    KF_CASE("only-131071", KF_VERIFY_ONLY, .D = 128, .R = 128, .pos0 = 131071),
    // Positions beyond those of the chapter. All bounds hold there, too.
    KF_CASE("million", KF_VERIFY_ONLY, .Sq = 40, .Sk = 40, .D = 128, .R = 128,
            .pos0 = (1 << 20) - 13),
    KF_CASE("whole-million", KF_VERIFY_ONLY, .Sq = 40, .Sk = 40, .D = 2, .R = 2,
            .pos0 = (1 << 20) - 13),
    // Odd shapes: pairs of a partial rotation, sums, a batch; the last one is beyond 2^17.
    KF_CASE("neox", KF_VERIFY_ONLY, .Sq = 37, .Sk = 37, .D = 20, .R = 20, .pos0 = 131035),
    KF_CASE("sums", KF_VERIFY_ONLY, .Sq = 19, .Sk = 133, .D = 80, .R = 80, .pos0 = 130939),
    {.name = "batch",
     .shape = {.B = 3, .Sq = 37, .Sk = 37, .D = 80, .R = 80, .pos0 = 131035},
     .flags = KF_VERIFY_ONLY,
     .data = &rope_of_x},
    {.name = "one",
     .shape = {.B = 2, .D = 8, .R = 8, .pos0 = 200000},
     .flags = KF_VERIFY_ONLY,
     .data = &rope_of_x},
    // All 131072 positions, one by one; then the timed cases, near, and far, where sincosf is slow.
    KF_CASE("every", KF_LARGE | KF_VERIFY_ONLY, .Sq = 131072, .Sk = 131072, .D = 20, .R = 20),
    KF_CASE("bare-near", KF_LARGE, .Sq = 4096, .Sk = 65536, .D = 256, .R = 256),
    KF_CASE("bare-far", KF_LARGE, .Sq = 4096, .Sk = 65536, .D = 256, .R = 256, .pos0 = 131072),
    {.name = "rope-near",
     .shape = {.B = 32, .Sq = 8192, .Sk = 8192, .D = 128, .R = 128},
     .flags = KF_LARGE,
     .data = &rope_of_x},
    {.name = "rope-far",
     .shape = {.B = 32, .Sq = 8192, .Sk = 8192, .D = 128, .R = 128, .pos0 = 122880},
     .flags = KF_LARGE,
     .data = &rope_of_x},
};

static const kf_variant variants[] = {
    {.name = "table", .about = "a table in fp32", .launch = launch<TABLE>},
    {.name = "table-bf16",
     .about = "a table in bf16",
     .launch = launch<TABLE_BF16>,
     .extra_error = bf16_error},
    {.name = "powf-fast",
     .about = "powf in the kernel, angle in fp32, __sincosf",
     .launch = launch<POWF_FAST>,
     .extra_error = powf_fast_error},
    {.name = "fp32-fast",
     .about = "angle in fp32, __sincosf",
     .launch = launch<FP32_FAST>,
     .extra_error = fp32_fast_error},
    {.name = "fp32",
     .about = "angle in fp32, sincosf",
     .launch = launch<FP32>,
     .extra_error = fp32_error},
    {.name = "two-word",
     .about = "revolutions in two words, reduced, sincospif",
     .launch = launch<TWO_WORDS>,
     .extra_error = two_word_error},
    {.name = "integer",
     .about = "revolutions in 64 bits, reduced, sincospif",
     .launch = launch<INTEGER>,
     .extra_error = rope_angle_error},
    {.name = "integer-fast",
     .about = "revolutions in 64 bits, reduced, __sincosf",
     .launch = launch<INTEGER_FAST>,
     .extra_error = rope_fast_angle_error},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}, {KF_GRAPH, KF_COLD}};

static const kf_question questions[] = {
    {.text = "How large is the largest error of a cosine or sine in the variant fp32, at positions "
             "131008 to 131071 and R = 128?",
     .figure = "max_err",
     .case_name = "at-131008",
     .variant = "fp32"},
    {.text = "How many times as fast is the variant fp32-fast as the variant integer-fast, in the "
             "kernel bare and near position 0?",
     .figure = "median_us",
     .case_name = "bare-near",
     .variant = "integer-fast",
     .over = "fp32-fast"},
    {.text = "How many times as fast is the variant integer as the variant fp32, in the kernel "
             "rope and from position 122880 on?",
     .figure = "median_us",
     .case_name = "rope-far",
     .variant = "fp32",
     .over = "integer"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "20-rope-accuracy",
        .title = "how far off cosines and sines are, and what accuracy costs",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = reference,
        .cost = cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
