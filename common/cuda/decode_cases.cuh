/* decode_cases.cuh: the shapes that decode is measured on, one to four queries over 1k to 128k
 * keys.
 *
 * Three shapes of a head: 128 dimensions, all turned or half of them, and 80 of which 20 are
 * turned. Cases are named after keys and queries, and after the shape where it is not the first.
 * Those of one length stand together. "count" is one head whose shares have no rest. The others are
 * odd: shares with a rest, the last position of a 131072-token context, a last share with fewer
 * keys than queries, so that a query sees none of them, and no mask. Shares of "steep" have two
 * rounds on a CPU: the maximum of the second changes what the first has summed up.
 */
#pragma once

#include "harness/harness.h"

static const kf_case decode_cases[] = {
    {"1k", {1, 32, 1, 1024, 128, 128, true, 0}, KF_LARGE},
    {"1k-q2", {1, 32, 2, 1024, 128, 128, true, 0}, KF_LARGE},
    {"1k-q4", {1, 32, 4, 1024, 128, 128, true, 0}, KF_LARGE},
    {"1k-R64", {1, 32, 1, 1024, 128, 64, true, 0}, KF_LARGE},
    {"1k-D80", {1, 32, 1, 1024, 80, 20, true, 0}, KF_LARGE},
    {"8k", {1, 32, 1, 8192, 128, 128, true, 0}, KF_LARGE},
    {"8k-q2", {1, 32, 2, 8192, 128, 128, true, 0}, KF_LARGE},
    {"8k-q4", {1, 32, 4, 8192, 128, 128, true, 0}, KF_LARGE},
    {"8k-R64", {1, 32, 1, 8192, 128, 64, true, 0}, KF_LARGE},
    {"8k-R64-q4", {1, 32, 4, 8192, 128, 64, true, 0}, KF_LARGE},
    {"8k-D80", {1, 32, 1, 8192, 80, 20, true, 0}, KF_LARGE},
    {"8k-D80-q4", {1, 32, 4, 8192, 80, 20, true, 0}, KF_LARGE},
    {"32k", {1, 32, 1, 32768, 128, 128, true, 0}, KF_LARGE},
    {"32k-q2", {1, 32, 2, 32768, 128, 128, true, 0}, KF_LARGE},
    {"32k-q4", {1, 32, 4, 32768, 128, 128, true, 0}, KF_LARGE},
    {"32k-R64", {1, 32, 1, 32768, 128, 64, true, 0}, KF_LARGE},
    {"32k-D80", {1, 32, 1, 32768, 80, 20, true, 0}, KF_LARGE},
    {"128k", {1, 32, 1, 131072, 128, 128, true, 0}, KF_LARGE | KF_MAY_NOT_FIT},
    {"128k-q2", {1, 32, 2, 131072, 128, 128, true, 0}, KF_LARGE | KF_MAY_NOT_FIT},
    {"128k-q4", {1, 32, 4, 131072, 128, 128, true, 0}, KF_LARGE | KF_MAY_NOT_FIT},
    {"128k-R64", {1, 32, 1, 131072, 128, 64, true, 0}, KF_LARGE | KF_MAY_NOT_FIT},
    {"128k-D80", {1, 32, 1, 131072, 80, 20, true, 0}, KF_LARGE | KF_MAY_NOT_FIT},
    {"count", {1, 1, 1, 2048, 128, 128, true, 0}, KF_VERIFY_ONLY},
    {"count-q4", {1, 1, 4, 2048, 128, 128, true, 0}, KF_VERIFY_ONLY},
    {"count-R64", {1, 1, 1, 2048, 128, 64, true, 0}, KF_VERIFY_ONLY},
    {"count-D80", {1, 1, 1, 2048, 80, 20, true, 0}, KF_VERIFY_ONLY},
    {"odd", {1, 2, 1, 333, 128, 128, true, 0}, KF_VERIFY_ONLY},
    {"far", {1, 2, 2, 257, 128, 64, true, 130815}, KF_VERIFY_ONLY},
    {"far-D80", {1, 2, 4, 515, 80, 20, true, 130557}, KF_VERIFY_ONLY},
    {"tail", {1, 2, 4, 130, 128, 128, true, 0}, KF_VERIFY_ONLY},
    {"one", {1, 1, 1, 1, 80, 20, true, 0}, KF_VERIFY_ONLY},
    {"four", {1, 3, 4, 4, 128, 128, true, 131068}, KF_VERIFY_ONLY},
    {"unmasked", {1, 2, 2, 77, 80, 20, false, 0}, KF_VERIFY_ONLY},
    {"steep", {1, 2, 1, 457, 128, 128, true, 0}, KF_VERIFY_ONLY | KF_STEEP},
};
