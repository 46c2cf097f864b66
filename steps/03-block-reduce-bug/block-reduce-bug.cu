/* 03-block-reduce-bug: a block reduction whose result reaches one warp of eight
 *
 * Follows: 02-separate-rope
 * Architecture: 75
 * Data: --case D128 --map step-03-map.tsv
 * Tests: no kernel of its own
 *
 * Idea     Step 02 pays 10 barriers for each of its two reductions. A warp can reduce its 32 values
 *          with shuffles and no barrier at all; then one warp reduces the 8 results of the warps.
 *          Two barriers are left. Nothing else changes: RoPE is left out to see only this.
 * Predict  Fewer barriers, less time.
 * Outcome  No faster, and wrong. The result is right in warp 0 only; each other warp goes on with
 *          its own maximum or its own sum. Threads of warp 1 divide by a sum over half of the keys,
 *          so their columns are about twice too large. Warps 2 to 7 hold no key (64 keys, one per
 *          thread). Their sum is 0, and a value over 0 is infinite (bug-sum). Their maximum is
 *          minus infinity, so all exponentials are infinite, and infinite terms of both signs add
 *          up to NaN (bug-max, bug-both). A check that computes `diff > tolerance` counts infinite
 *          elements but no NaN. This step passes if exactly these errors show.
 */
#include "problems/attention.h"
#include "cuda/block_reduce.cuh"
#include "cuda/one_query_attention.cuh"
#include "cuda/tree_reduce.cuh"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// snippet: bug
// One value per thread -> the result over the block, in warp 0 only. partial: 32 shared floats.
// cost: 2 barriers, 10 shuffles in warp 0 and 5 in the others
template <typename Join>
__device__ float reduce_into_warp_0(float v, float *partial)
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
    }
    __syncthreads(); // partial is free again
    return v;        // the bug: seven warps return their own value
}
// end snippet: bug

// snippet: variants
typedef reduction<block_tree<false>, block_tree<true>> tree;
typedef reduction<block_tree<false>, reduce_into_warp_0<join_sum>> bug_in_sum;
typedef reduction<reduce_into_warp_0<join_max>, block_tree<true>> bug_in_max;
typedef reduction<reduce_into_warp_0<join_max>, reduce_into_warp_0<join_sum>> bug_in_both;
// end snippet: variants

// snippet: predict
// Predicts column d of the output before the kernel runs. Thread d % 256 writes the column.
enum column { RIGHT, TOO_LARGE, NOT_FINITE };

static enum column expect_column(int64_t d, int Sk)
{
    const int warp = (int)(d % ONE_QUERY_THREADS) / 32;
    enum column expected = RIGHT;
    // solution: predict -- which warps divide by a sum over some keys only, and which over none?
    // hint: After the reduction, which warp has the sum over all keys in v, and the sum over which
    //     keys does each other warp have there?
    // hint: Thread t has the keys t, t + 256, ..., as far as there are any. So which is the first
    //     key of warp number warp, and for which Sk does it exist?
    // hint: The first key of a warp is key warp * 32. A warp that has it divides by a sum over its
    //     own keys only, which is too small. A warp that does not have it has the sum 0 and the
    //     maximum -INFINITY. expected is RIGHT already, so nothing is to be done for warp 0.
    if (warp > 0) {
        expected = warp * 32 < Sk ? TOO_LARGE : NOT_FINITE;
    }
    // end solution: predict
    return expected;
}
// end snippet: predict

// Numbers of elements: NaN, infinite, and counted as wrong by the check of the log.
typedef struct tally {
    int64_t nan, inf, counted;
} tally;

static tally tally_output(const kf_run *run)
{
    const float tolerance = 0.05f;
    const kf_tensor *o = kf_find(run, "o");
    float *got = (float *)kf_alloc(o->count, sizeof *got);
    CUDA_CHECK(cudaMemcpy(got, o->device, o->count * sizeof *got, cudaMemcpyDeviceToHost));
    tally seen = {0, 0, 0};
    for (int64_t i = 0; i < o->count; i++) {
        seen.nan += isnan(got[i]);
        seen.inf += isinf(got[i]);
        // snippet: old-check
        if (fabsf(got[i] - (float)o->want[i]) > tolerance) { // false for NaN
            seen.counted++;
        }
        // end snippet: old-check
    }
    free(got);
    return seen;
}

static bool predicted(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size,
                      bool max_is_right)
{
    const int64_t rows = seen->total / seen->columns;
    int64_t not_finite = 0;
    int64_t other = -1; // the first column that contradicts the prediction
    for (int64_t d = 0; d < seen->columns; d++) {
        const enum column expected = expect_column(d, run->shape.Sk);
        const int64_t wrong = seen->wrong_in_column[d];
        const int64_t lost = expected == NOT_FINITE ? rows : 0;
        not_finite += lost;
        bool as_expected = seen->nonfinite_in_column[d] == lost;
        // A row is right, too, if all of its largest probabilities belong to the warp's own keys.
        as_expected = as_expected && (expected != TOO_LARGE || wrong > 0);
        // If the maximum is right, the sum in warp 0 is right as well.
        as_expected = as_expected && (expected != RIGHT || !max_is_right || wrong == 0);
        other = other < 0 && !as_expected ? d : other;
    }
    // With a right maximum a value over a sum of 0, else a sum of infinite terms of both signs. Not
    // always: 0 over 0 is NaN, and all values of a column may have one sign.
    const tally found = tally_output(run);
    const bool kind_is_right = 10 * (max_is_right ? found.inf : found.nan) >= 9 * not_finite;
    int length = snprintf(
        why, size,
        "predicted %lld %s, in the columns of warps that hold no key%s; seen %lld Inf and %lld "
        "NaN; a check of |got - want| > 0.05 counts %lld wrong",
        (long long)not_finite, max_is_right ? "Inf" : "NaN",
        max_is_right ? ", and none wrong in columns predicted right" : "", (long long)found.inf,
        (long long)found.nan, (long long)found.counted);
    if (other >= 0 && length < (int)size) {
        static const char *const names[] = {"right", "too large", "not finite"};
        snprintf(why + length, size - length,
                 "; column %lld predicted %s: of its %lld rows %lld are wrong, %lld NaN or Inf",
                 (long long)other, names[expect_column(other, run->shape.Sk)], (long long)rows,
                 (long long)seen->wrong_in_column[other],
                 (long long)seen->nonfinite_in_column[other]);
    }
    return other < 0 && kind_is_right;
}

static bool predicted_sum(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    return predicted(run, seen, why, size, true);
}

static bool predicted_max(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    return predicted(run, seen, why, size, false);
}

// --- Tables --------------------------------------------------------------------------------------

static const kf_case cases[] = {
    KF_CASE("D128", KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = 128),
    KF_CASE("D64", KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = 64),
    KF_CASE("D512", KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = 512),
    KF_CASE("D2048", KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = 2048),
    // 16 keys: warp 0 has all of them, and half of the output is not finite.
    KF_CASE("D64-S16", KF_VERIFY_ONLY, .H = 4, .Sq = 16, .Sk = 16, .D = 64),
    KF_CASE("odd", KF_VERIFY_ONLY, .H = 3, .Sq = 37, .Sk = 77, .D = 80),
    // S33: one key belongs to warp 1. Then more keys than threads, so that every warp has some.
    KF_CASE("S33", KF_VERIFY_ONLY, .H = 2, .Sq = 5, .Sk = 33, .D = 64),
    KF_CASE("S300", KF_VERIFY_ONLY, .H = 2, .Sq = 5, .Sk = 300, .D = 256),
};

static const kf_variant variants[] = {
    {.name = "tree",
     .about = "the reduction of step 02",
     .launch = launch_one_query_attention<tree>},
    {.name = "bug-sum",
     .about = "only warp 0 gets the sum",
     .launch = launch_one_query_attention<bug_in_sum>,
     .predicted = predicted_sum},
    {.name = "bug-max",
     .about = "only warp 0 gets the maximum",
     .launch = launch_one_query_attention<bug_in_max>,
     .predicted = predicted_max},
    {.name = "bug-both",
     .about = "only warp 0 gets either",
     .launch = launch_one_query_attention<bug_in_both>,
     .predicted = predicted_max},
};

static const kf_question questions[] = {
    {.text = "With 64 keys and 256 threads per block, how many of the 32768 elements of bug-sum "
             "are NaN or infinite at D = 128?",
     .figure = "nan",
     .case_name = "D128",
     .variant = "bug-sum"},
    {.text = "With 16 keys and 256 threads per block, how many of the 4096 elements of bug-both "
             "are NaN or infinite at D = 64?",
     .figure = "nan",
     .case_name = "D64-S16",
     .variant = "bug-both"},
    {.text = "At D = 128, how many times as fast is bug-both (5 barriers per block) as tree (21 "
             "barriers)?",
     .figure = "median_us",
     .case_name = "D128",
     .variant = "tree",
     .over = "bug-both"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "03-block-reduce-bug",
        .title = "a block reduction whose result reaches one warp of eight",
        KF_TABLES(cases, variants),
        .block = ONE_QUERY_THREADS,
        .setup = kf_attention_setup,
        .reference = kf_attention_reference,
        .cost = kf_attention_cost,
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
