/* 17-rope-table: the op chain with its cosines and sines kept in a table
 *
 * Grows from: 16-rope-op-chain
 * Profile: --case large --variant cached
 *
 * Idea     Cosines and sines depend on the position alone, so they are computed once and kept. Five
 *          launches and all trigonometry leave the call. The chain stays as it is.
 * Predict  The large tensor: no gain worth the name. The five kernels that go moved a few MiB
 *          beside 5 GiB, and the chain reads its tables as before: 10 N either way, so less than 3%
 *          of the time. A cold L2 changes nothing, for the tables are read 128 times in each call.
 *          A single sequence: here the tables are as large as x, and of ten launches five go, so
 *          nearly half of the time on every clock.
 * Outcome  As predicted: less than 1% on the large tensor, warm or cold, and nearly half of the
 *          time on a single sequence.
 */
#include "cuda/rope_alone.cuh"
#include "cuda/rope_chain.cuh"
#include "problems/rope.h"

static void launch_rebuild(const kf_run *run, cudaStream_t stream)
{
    launch_tables(run, rope_last_position(run), stream);
    launch_chain<1>(run, kf_f32(run, "cosine"), kf_f32(run, "sine"), stream);
}

// snippet: cached
// x [B][S][D], cos_rows and sin_rows [S][D], kept -> y [B][S][D]
// cost: 10 N and the tables, as before; no trigonometry
static void launch_cached(const kf_run *run, cudaStream_t stream)
{
    // solution: cached -- the chain alone, on the tables that are kept
    launch_chain<1>(run, kf_f32(run, "cos_rows"), kf_f32(run, "sin_rows"), stream);
    // end solution: cached
}
// end snippet: cached

static void setup(kf_run *run)
{
    kf_rope_setup(run);
    kf_rope_tables(run);
    tables_setup(run);
    chain_setup(run);
    cached_rows(run);
}

static const kf_variant variants[] = {
    {.name = "rebuild",
     .about = "ten launches: tables and chain",
     .launch = launch_rebuild,
     .extra_error = rope_alone_angle_error},
    {.name = "cached",
     .about = "five launches: the chain, on tables that are kept",
     .launch = launch_cached},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "17-rope-table",
        .title = "the op chain with its cosines and sines kept in a table",
        .cases = rope_alone_cases,
        .n_cases = KF_COUNT_OF(rope_alone_cases),
        .variants = variants,
        .n_variants = KF_COUNT_OF(variants),
        .setup = setup,
        .reference = kf_rope_reference,
        .cost = kf_rope_cost,
        .timings = rope_alone_timings,
        .n_timings = KF_COUNT_OF(rope_alone_timings),
    };
    return kf_main(&program, argc, argv);
}
