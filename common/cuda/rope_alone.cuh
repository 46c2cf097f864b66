/* rope_alone.cuh: the shapes of Part III's measurements of RoPE alone, and the intermediate tensors
 * of its operations.
 *
 * "large" is a tensor of 512 MiB, ten times the size of an L2 cache. "one" is a single sequence of
 * it: 4 MiB, a tenth of an L2 cache. "small" is for counting. The others are odd: heads that do not
 * fill a warp, that are not a multiple of a float4, or that are wider than a block; one row, many
 * rows, far positions.
 */
#pragma once

#include "problems/rope.h"

#include <math.h>

static const kf_case rope_alone_cases[] = {
    {.name = "large",
     .shape = {.B = 128, .Sq = 8192, .Sk = 8192, .D = 128, .R = 128},
     .flags = KF_LARGE},
    {.name = "one", .shape = {.Sq = 8192, .Sk = 8192, .D = 128, .R = 128}, .flags = KF_LARGE},
    {.name = "small",
     .shape = {.B = 4, .Sq = 256, .Sk = 256, .D = 128, .R = 128},
     .flags = KF_VERIFY_ONLY},
    {.name = "D80",
     .shape = {.B = 3, .Sq = 77, .Sk = 77, .D = 80, .R = 80},
     .flags = KF_VERIFY_ONLY},
    {.name = "D50",
     .shape = {.B = 2, .Sq = 41, .Sk = 41, .D = 50, .R = 50},
     .flags = KF_VERIFY_ONLY},
    {.name = "D20",
     .shape = {.B = 2, .Sq = 9, .Sk = 9, .D = 20, .R = 20, .pos0 = 3},
     .flags = KF_VERIFY_ONLY},
    {.name = "D256",
     .shape = {.B = 3, .Sq = 5, .Sk = 5, .D = 256, .R = 256, .pos0 = 7},
     .flags = KF_VERIFY_ONLY},
    {.name = "S1", .shape = {.B = 5, .D = 8, .R = 8, .pos0 = 1}, .flags = KF_VERIFY_ONLY},
    {.name = "thin",
     .shape = {.Sq = 16384, .Sk = 16384, .D = 32, .R = 32},
     .flags = KF_VERIFY_ONLY},
    {.name = "far",
     .shape = {.B = 2, .Sq = 45, .Sk = 45, .D = 128, .R = 128, .pos0 = 131027},
     .flags = KF_VERIFY_ONLY},
    {.name = "million",
     .shape = {.B = 2, .Sq = 9, .Sk = 9, .D = 128, .R = 128, .pos0 = (1 << 20) - 4},
     .flags = KF_VERIFY_ONLY},
};

static const kf_timing rope_alone_timings[] = {
    {KF_GRAPH, KF_WARM}, {KF_GRAPH, KF_COLD}, {KF_STREAM, KF_WARM}};

/* kf_variant's extra_error for kernels whose angles are products in fp32. */
static inline double rope_alone_angle_error(const kf_case *c)
{
    return kf_fp32_angle_error(&c->shape, false);
}

/* Tensors of variants that compute their tables in each call: input frequency [D/2], scratch
 * cosine and sine [S][D] and the results in between. */
static inline void tables_setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t whole[] = {s.Sq, s.D};
    const int64_t half[] = {s.Sq, s.D / 2};
    kf_tensor *frequency = kf_input(run, "frequency", "R", KF_F32, half + 1);
    for (int i = 0; i < s.D / 2; i++) {
        frequency->host[i] = (float)pow(10000.0, -2.0 * i / s.D);
    }
    kf_scratch(run, "position", "S", KF_F32, whole);
    kf_scratch(run, "angle", "SR", KF_F32, half);
    kf_scratch(run, "angles", "SD", KF_F32, whole);
    kf_scratch(run, "cosine", "SD", KF_F32, whole);
    kf_scratch(run, "sine", "SD", KF_F32, whole);
}

/* Tensors of the op chain: the results that one operation passes to the next. */
static inline void chain_setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t whole[] = {s.B, s.Sq, s.D};
    const int64_t half[] = {s.B, s.Sq, s.D / 2};
    kf_scratch(run, "negated", "BSR", KF_F32, half);
    kf_scratch(run, "rotated", "BSD", KF_F32, whole);
    kf_scratch(run, "x_cosine", "BSD", KF_F32, whole);
    kf_scratch(run, "rotated_sine", "BSD", KF_F32, whole);
}

/* A framework's cached tables, as inputs cos_rows and sin_rows [S][D]: those of kf_rope_tables,
 * declared before, with the angles of a row twice, once for each half of x. */
static inline void cached_rows(kf_run *run)
{
    const int64_t S = run->shape.Sq;
    const int64_t D = run->shape.D;
    const int64_t dim[] = {S, D};
    const char *const names[2][2] = {{"cos", "cos_rows"}, {"sin", "sin_rows"}};
    for (int t = 0; t < 2; t++) {
        const float *from = kf_find(run, names[t][0])->host;
        float *to = kf_input(run, names[t][1], "SD", KF_F32, dim)->host;
        for (int64_t i = 0; i < S * D; i++) {
            to[i] = from[i / D * (D / 2) + i % D % (D / 2)];
        }
    }
}
