/* 13-v7-hybrid: V7, keys rotated once by their own kernel, queries where used
 *
 * Grows from: 12-v6-partial-rotary
 * Profile: kernels=attention --case D2048-R128 --case D2048-R128-H12
 *
 * Idea     A query is used by one block, a key by all the blocks of its head. So the query is
 *          rotated inside attention, while it is staged, and the keys by a kernel of their own,
 *          before. The dot product loads 16 bytes at a time, 64 keys at a time. Two launches.
 * Predict  K rotations fall from 64 x 64 a head to 64. Against the baseline, which has as few,
 *          one launch is saved and one round trip of q: about 1 us, so 1.05x at D = 128 and
 *          nothing at 2048. The loads of 16 bytes are a quarter as many: if half of the time
 *          goes into scores, and they get twice as fast, that gives 1.3x, at 512 and 2048 too.
 *          So V7 wins everywhere, and what wins is the width of a load.
 * Outcome  V7 wins everywhere, by 1.5x to 2x. Fusion gives 1.07x, 1.03x and 1.02x of it, wide
 *          loads the rest: the same sectors come from L2, in a third of the passes through L1.
 *          At first V7 looked 1.2x better than separate with wide loads too; compiled alike, for
 *          two blocks a multiprocessor, it is 1.1x to 1.05x. The log's program loses on an H200
 *          at D = 2048. Its times are those of v7-serial, which has one load of v under way,
 *          against step 14's log-separate-float4. With 12 heads in place of 4 there are six
 *          blocks a multiprocessor to hide the waiting, and v7-serial wins. See chapter 7.
 */
#include "cuda/float4.cuh"
#include "cuda/hybrid_attention.cuh"
#include "problems/attention.h"

#include <string.h>

// The kernel is in hybrid_attention.cuh. What follows is what the variants hand in to it.

// snippet: score-float4
// query [D] in shared memory, k [Sk][D], both rotated -> score [visible]; BLOCK_K keys at a time,
// one a thread. D is a multiple of 4. Returns the thread's largest score.
// cost: D / 4 loads of 16 bytes a key; each load of a warp touches 32 rows
template <int BLOCK_K>
static __device__ __forceinline__ float
score_keys_float4(const float *query, const float *k, float *score, int visible, int D, float scale)
{
    float largest = -INFINITY;
    for (int first = 0; first < visible; first += BLOCK_K) {
        const int j = first + threadIdx.x;
        if (threadIdx.x >= BLOCK_K || j >= visible) {
            continue;
        }
        const float4 *query4 = (const float4 *)query;
        const float4 *key4 = (const float4 *)(k + (int64_t)j * D);
        float dot = 0.0f;
        // solution: dot -- the dot product of query and key j, 16 bytes a load
        for (int d = 0; d < D / 4; d++) {
            dot += dot_four(query4[d], key4[d]);
        }
        // end solution: dot
        score[j] = dot * scale;
        largest = fmaxf(largest, score[j]);
    }
    return largest;
}
// end snippet: score-float4

// snippet: serial
// weigh_values, one load of v under way at a time
static __device__ __forceinline__ void weigh_values_serial(const float *score, const float *v,
                                                           float *o, int visible, int D,
                                                           float largest, float sum)
{
    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        float out = 0.0f;
#pragma unroll 1
        for (int j = 0; j < visible; j++) {
            out += expf(score[j] - largest) * v[(int64_t)j * D + d];
        }
        o[d] = out / sum;
    }
}
// end snippet: serial

// score [visible], each thread's largest, v [Sk][D] -> o [D]
static __device__ __forceinline__ void finish_serial(float *score, float largest, const float *v,
                                                     float *o, int visible, int D, float *scratch)
{
    largest = block_max(largest, scratch);
    float sum = 0.0f;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        sum += expf(score[j] - largest);
    }
    sum = block_sum(sum, scratch);
    weigh_values_serial(score, v, o, visible, D, largest, sum);
}

// snippet: variants
static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate,
     .block = LADDER_THREADS},
    {.name = "v7",
     .about = "k rotated by its own kernel, q while it is staged, 16 bytes a load",
     .launch = launch_hybrid<ROTATED, score_keys_float4<64>>,
     .applies = by_four,
     .block = LADDER_THREADS},
    {.name = "v7-scalar",
     .about = "v7, 4 bytes a load: what is left is fusion",
     .launch = launch_hybrid<ROTATED, score_keys_apart>,
     .applies = hybrid_counted,
     .block = LADDER_THREADS},
    {.name = "separate-float4",
     .about = "separate, 16 bytes a load: no fusion",
     .launch = launch_hybrid<STAGED, score_keys_float4<64>>,
     .applies = hybrid_counted,
     .block = LADDER_THREADS},
    {.name = "v7-two-blocks",
     .about = "v7, compiled for two blocks an SM",
     .launch = launch_hybrid<ROTATED, score_keys_float4<64>, finish_as_baseline, 2>,
     .applies = hybrid_explains,
     .block = LADDER_THREADS},
    {.name = "separate-two-blocks",
     .about = "separate-float4, compiled for two blocks an SM",
     .launch = launch_hybrid<STAGED, score_keys_float4<64>, finish_as_baseline, 2>,
     .applies = hybrid_explains,
     .block = LADDER_THREADS},
    {.name = "v7-serial",
     .about = "v7, one load of v under way at a time",
     .launch = launch_hybrid<ROTATED, score_keys_float4<64>, finish_serial>,
     .applies = hybrid_explains,
     .block = LADDER_THREADS},
    {.name = "v7-32",
     .about = "v7, 32 keys at a time",
     .launch = launch_hybrid<ROTATED, score_keys_float4<32>>,
     .applies = hybrid_explains,
     .block = LADDER_THREADS},
};
// end snippet: variants

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}, {KF_STREAM, KF_WARM}, {KF_CALL, KF_WARM}};

// The grid of the ladder is 256 blocks. On 132 multiprocessors that is two on each at the most;
// with 12 heads it is six.
static const kf_case more_heads = {.name = "D2048-R128-H12",
                                   .shape = {.H = 12, .Sq = 64, .Sk = 64, .D = 2048, .R = 128},
                                   .flags = KF_LARGE};

static kf_case cases[LADDER_CASES + 1]; // the ladder's and that one

int main(int argc, char **argv)
{
    memcpy(cases, ladder_cases, sizeof ladder_cases);
    cases[LADDER_CASES] = more_heads;
    const kf_program program = {
        .step = "13-v7-hybrid",
        .title = "V7, keys rotated once by their own kernel, queries where used",
        .cases = cases,
        .n_cases = KF_COUNT_OF(cases),
        .variants = variants,
        .n_variants = KF_COUNT_OF(variants),
        .setup = ladder_setup,
        .reference = kf_attention_reference,
        .cost = kf_attention_cost,
        .timings = timings,
        .n_timings = KF_COUNT_OF(timings),
    };
    return kf_main(&program, argc, argv);
}
