/* rope_alone.cuh: the shapes that RoPE alone is measured on, in Part III.
 *
 * "large" is a tensor of 512 MiB, ten times what an L2 holds. "one" is a single sequence of it:
 * 4 MiB, which an L2 holds ten times over. "small" is there to be counted. The others are odd:
 * heads that fill no warp, that float4 cannot take, that are wider than a block; one row, many
 * rows, far positions.
 */
#pragma once

#include "harness/harness.h"

static const kf_case rope_alone_cases[] = {
    {"large", {128, 1, 8192, 8192, 128, 128, false, 0}, KF_LARGE},
    {"one", {1, 1, 8192, 8192, 128, 128, false, 0}, KF_LARGE},
    {"small", {4, 1, 256, 256, 128, 128, false, 0}, KF_VERIFY_ONLY},
    {"D80", {3, 1, 77, 77, 80, 80, false, 0}, KF_VERIFY_ONLY},
    {"D20", {2, 1, 9, 9, 20, 20, false, 3}, KF_VERIFY_ONLY},
    {"D256", {3, 1, 5, 5, 256, 256, false, 7}, KF_VERIFY_ONLY},
    {"S1", {5, 1, 1, 1, 8, 8, false, 1}, KF_VERIFY_ONLY},
    {"thin", {1, 1, 16384, 16384, 32, 32, false, 0}, KF_VERIFY_ONLY},
    {"far", {2, 1, 45, 45, 128, 128, false, 131027}, KF_VERIFY_ONLY},
};

static const kf_timing rope_alone_timings[] = {
    {KF_GRAPH, KF_WARM}, {KF_GRAPH, KF_COLD}, {KF_STREAM, KF_WARM}};

/* kf_variant's angle_error for kernels whose angles are products in fp32. */
static inline double rope_alone_angle_error(const kf_shape *shape)
{
    return kf_fp32_angle_error(shape, false);
}
