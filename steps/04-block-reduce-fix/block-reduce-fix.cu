/* 04-block-reduce-fix: the fix, the second bug that it hides, and the right version
 *
 * Follows: 03-block-reduce-bug
 * Architecture: 75
 * Tests: no kernel of its own; case D64-S16 is counted in all orders; also on aarch64
 * Tests: fix races on scratch: wrong forward, right in reverse
 *
 * Idea     Warp 0 writes the result to partial[0], and after the barrier every thread reads it.
 * Predict  Every element right, for one store and one load more: the barrier was there already.
 * Outcome  Right in every recorded run on a GPU, and wrong all the same. The last barrier used to
 *          say "partial is free again". Now every warp reads partial[0] after it, and nothing stops
 *          warp 0 from starting the next reduction and overwriting partial[0] before a slow warp
 *          has read it. Let warp 0 run ahead, which the CPU's forward order does, and the sum has
 *          taken the place of the maximum. In random order some warp is overtaken in every draw
 *          that we tried. In reverse order warp 0 comes last, and nothing shows.
 *          The right version has one barrier more. It is timed beside a version that needs only two
 *          because no warp is special. The first measurement said that all are slower than the
 *          tree. It had measured the schedule of a loop after the reduction, not the reduction: the
 *          variants called inlined keep it.
 */
#include "problems/attention.h"
#include "cuda/block_reduce.cuh"
#include "cuda/one_query_attention.cuh"
#include "cuda/tree_reduce.cuh"

#include <math.h>
#include <stdio.h>
#include <string.h>

// snippet: fix
// One value per thread -> the result over the block. partial: 32 floats of shared memory.
// cost: 2 barriers, 10 shuffles in warp 0 and 5 in the others
template <typename Join>
__device__ float reduce_and_broadcast(float v, float *partial)
{
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int warps = blockDim.x / 32;

    v = Join::warp(v);
    if (lane == 0) {
        partial[warp] = v;
    }
    __syncthreads();
    if (warp == 0) {
        v = Join::warp(lane < warps ? partial[lane] : Join::absent());
        if (lane == 0) {
            partial[0] = v;
        }
    }
    __syncthreads();
    v = partial[0]; // the second bug: is the result still there?
    return v;
}
// end snippet: fix

// snippet: right
// One value per thread -> the result over the block. partial: 32 floats of shared memory.
// cost: 3 barriers, 10 shuffles in warp 0 and 5 in the others
template <typename Join>
__device__ float reduce_without_race(float v, float *partial)
{
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int warps = blockDim.x / 32;

    v = Join::warp(v);
    // solution: three-barriers -- as in the fix, but without its race
    // hint: reduce_and_broadcast is right up to its last read. That line reads `partial[0]`. Which
    //     thread writes to this element in the next call, and what makes that write wait for the
    //     last reader?
    // hint: First, lane 0 of each warp stores the value of its warp. After a barrier, warp 0
    //     reduces these values, and its lane 0 stores the result in `partial[0]`. After another
    //     barrier, every thread reads `partial[0]`. A barrier must lie between these reads and the
    //     next write to `partial[0]`. Where does it stand?
    // hint: In warp 0 the reduction is
    //     `v = Join::warp(lane < warps ? partial[lane] : Join::absent());`. The third barrier is
    //     the last line, after the read of `partial[0]`. All threads must reach each barrier, so
    //     no barrier stands inside an `if`.
    if (lane == 0) {
        partial[warp] = v;
    }
    __syncthreads();
    if (warp == 0) {
        v = Join::warp(lane < warps ? partial[lane] : Join::absent());
        if (lane == 0) {
            partial[0] = v;
        }
    }
    __syncthreads();
    v = partial[0];
    __syncthreads(); // partial is free again: all have read it
    // end solution: three-barriers
    return v;
}
// end snippet: right

// snippet: every-warp
// One value per thread -> the result over the block. partial: 32 floats of shared memory.
// cost: 2 barriers, 10 shuffles in every warp
template <typename Join>
__device__ float reduce_in_every_warp(float v, float *partial)
{
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int warps = blockDim.x / 32;

    v = Join::warp(v);
    // solution: every-warp -- two barriers, no broadcast: every warp reduces all the partials
    // hint: The difference from reduce_without_race: no warp is special, so each warp computes the
    //     result for itself, and no warp has to pass it on. Which lines are not needed then, and
    //     which line loses its condition?
    // hint: The first barrier stands between the stores of the partial values, one per warp, and
    //     the loads, which every warp makes. The next call stores into the same elements. What
    //     must stand between the loads and these stores?
    // hint: Between the two barriers there is one line. All 32 lanes call Join::warp. Lane number
    //     lane passes `partial[lane]` if there is a warp of that number, and `Join::absent()` if
    //     not.
    if (lane == 0) {
        partial[warp] = v;
    }
    __syncthreads();
    v = Join::warp(lane < warps ? partial[lane] : Join::absent());
    __syncthreads(); // partial is free again
    // end solution: every-warp
    return v;
}
// end snippet: every-warp

typedef reduction<block_tree<false>, block_tree<true>> tree;
typedef reduction<reduce_and_broadcast<join_max>, reduce_and_broadcast<join_sum>> fix;
typedef reduction<reduce_without_race<join_max>, reduce_without_race<join_sum>> right;
typedef reduction<reduce_in_every_warp<join_max>, reduce_in_every_warp<join_sum>> every_warp;
typedef reduction<block_max, block_sum> block_reduction;

// The race shows if warp 0 runs ahead of the others: in forward order always, in reverse order
// never. In random order and on hardware it may or may not show; the race explains both outcomes.
static bool race_as_predicted(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    const char *order = kf_thread_order();
    const bool forward = strcmp(order, "forward") == 0;
    const bool reverse = strcmp(order, "reverse") == 0;
    (void)run;
    snprintf(why, size, "in %s order predicted %s, and no NaN; seen %lld wrong, %lld NaN or Inf",
             order,
             forward   ? "wrong elements"
             : reverse ? "none wrong"
                       : "either, it is a race",
             (long long)seen->wrong, (long long)seen->nonfinite);
    return seen->nonfinite == 0 && (!forward || seen->wrong > 0) && (!reverse || seen->wrong == 0);
}

// In steep cases scores are far apart, and a sum in place of the maximum makes NaN as well.
static bool not_steep(const kf_case *c)
{
    return !(c->flags & KF_STEEP);
}

// --- Tables --------------------------------------------------------------------------------------

static const kf_case cases[] = {
    KF_CASE("D8", KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = 8),
    KF_CASE("D64", KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = 64),
    KF_CASE("D128", KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = 128),
    KF_CASE("D512", KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = 512),
    KF_CASE("D2048", KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = 2048),
    KF_CASE("D64-S16", KF_VERIFY_ONLY, .H = 4, .Sq = 16, .Sk = 16, .D = 64),
    KF_CASE("odd", KF_VERIFY_ONLY, .H = 3, .Sq = 37, .Sk = 77, .D = 80),
    // The first four queries of a head see no key.
    KF_CASE("no-key", KF_VERIFY_ONLY, .H = 2, .Sq = 49, .Sk = 45, .D = 40, .causal = true),
    KF_CASE("long", KF_VERIFY_ONLY, .H = 2, .Sq = 5, .Sk = 613, .D = 64, .causal = true),
    KF_CASE("long-D128", KF_VERIFY_ONLY, .H = 2, .Sq = 3, .Sk = 300, .D = 128, .causal = true),
    KF_CASE("steep-D134", KF_VERIFY_ONLY | KF_STEEP, .H = 2, .Sq = 7, .Sk = 33, .D = 134,
            .causal = true),
    // One key, so that many largest scores are far below 0.
    KF_CASE("steep", KF_VERIFY_ONLY | KF_STEEP, .H = 2, .Sq = 16, .Sk = 1, .D = 64),
};

static const kf_variant variants[] = {
    {.name = "tree",
     .about = "the reduction of step 02: 10 barriers",
     .launch = launch_one_query_attention<tree>},
    {.name = "fix",
     .about = "broadcast through partial[0]: 2 barriers, and a race",
     .launch = launch_one_query_attention<fix>,
     .applies = not_steep,
     .predicted = race_as_predicted,
     .finding = "shared race"},
    {.name = "right",
     .about = "a third barrier: partial[0] stays until all have read it",
     .launch = launch_one_query_attention<right>},
    {.name = "tree-inlined",
     .about = "tree, the loops around it inlined",
     .launch = launch_one_query_attention<tree, LOOPS_INLINED>},
    {.name = "right-inlined",
     .about = "common/cuda/block_reduce.cuh, which is right's; the loops around it inlined",
     .launch = launch_one_query_attention<block_reduction, LOOPS_INLINED>},
    {.name = "every-warp",
     .about = "every warp reduces the partials: 2 barriers",
     .launch = launch_one_query_attention<every_warp>},
};

static const kf_question questions[] = {
    {.text = "A block of fix has 5 barriers, two of them per reduction: how many has a block of "
             "right, which keeps partial[0] until all warps have read it?",
     .figure = "barriers/blocks",
     .case_name = "D128",
     .variant = "right"},
    {.text = "At D = 8, how many times as fast is every-warp (2 barriers per reduction) as tree "
             "(10 barriers)?",
     .figure = "median_us",
     .case_name = "D8",
     .variant = "tree",
     .over = "every-warp"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "04-block-reduce-fix",
        .title = "the fix, the second bug that it hides, and the right version",
        KF_TABLES(cases, variants),
        .block = ONE_QUERY_THREADS,
        .setup = kf_attention_setup,
        .reference = kf_attention_reference,
        .cost = kf_attention_cost,
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
