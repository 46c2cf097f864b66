/* 30-wgmma-backward: five products on Hopper's own tensor core instructions, in rungs
 *
 * Follows: 29-flash-wgmma
 * Architecture: 90a
 * Record: --repetitions 1 --rates step-30-rates.tsv
 * Check: without racecheck
 * Data: --case D64-S2048-causal --case D128-S2048-causal --repeats step-30-repeats.tsv
 * Profile: kernels=backward --case D64-S8192 --case D64-S8192-causal --case D128-S8192
 * Profile: --case D128-S8192-causal
 *
 * Idea     Step 26's kernel with the means of step 29: TMA brings tiles, warpgroups multiply
 *          straight from them, and scores are transposed so that P and dS are operands as they
 *          come. One change per kernel: red, bulk, producer, late.
 * Predict  red: twice as fast as step 26. bulk, where the TMA adds up dq: a tenth. producer: a
 *          twentieth. late, where warpgroups no longer meet: a tenth or more; order is worth
 *          another tenth under a mask, and beginning early nothing at these lengths.
 * Outcome  red gains less, for its warps wait. bulk gains next to nothing, and loses at D = 64.
 *          producer gains less than in step 29. late gains a tenth at D = 64, less at D = 128. It
 *          passes cuDNN everywhere. The order brings nothing, early starts in few short calls only.
 */
#include "a-red.cuh"
#include "b-bulk.cuh"
#include "c-producer.cuh"
#include "d-late.cuh"
#include "cuda/backward_job.cuh"
#include "cuda/tiled_attention.cuh"
#include "problems/flash_backward_cases.h"

typedef void backward_kernel(CUtensorMap q, CUtensorMap k, CUtensorMap v, CUtensorMap dout,
                             CUtensorMap dk, CUtensorMap dv, const float *lse2,
                             const float *minus_delta, float *sums, backward_args a);

template <int D, backward_kernel kernel, int threads, int bytes>
static void launch_for(const kf_run *run, cudaStream_t stream)
{
    const job j = job_of<D>(run, stream, "q", "k");
    const dim3 grid = j.a.causal ? dim3(j.heads, j.blocks) : dim3(j.blocks, j.heads);
    allow_shared(kernel, bytes);
    launch_before<D>(&j, false);
    kernel<<<grid, threads, bytes, stream>>>(j.q, j.k, j.v, j.dout, j.dk, j.dv, j.lse2,
                                             j.minus_delta, j.sums, j.a);
    CUDA_CHECK_LAUNCH();
    launch_after<D>(&j, false);
}

template <int D, bool EARLY>
static void launch_late(const kf_run *run, cudaStream_t stream)
{
    const job j = job_of<D>(run, stream, "q", "k");
    const int bytes = wgmma_late::bytes_of_block<D>();
    allow_shared(wgmma_late::backward<D>, bytes);
    launch_before<D>(&j, false);
    const cudaLaunchConfig_t c = launch_config(EARLY, dim3(j.blocks * j.heads), 384, bytes, stream);
    CUDA_CHECK(cudaLaunchKernelEx(&c, wgmma_late::backward<D>, j.q, j.k, j.v, j.dout, j.dk, j.dv,
                                  (const float *)j.lse2, (const float *)j.minus_delta, j.sums,
                                  j.heads, job_heads_at_once(&j, D), j.a));
    launch_after<D>(&j, EARLY);
}

// --- Tables --------------------------------------------------------------------------------------

static void setup(kf_run *run)
{
    kf_flash_backward_setup(run, tiled::launch_forward);
    job_setup(run);
}

static const kf_case cases[] = {KF_FLASH_TIMED_WITH(0, KF_ALONE), KF_FLASH_BACKWARD_ODD,
                                // Blocks of two heads together, then of one.
                                KF_FLASH_CASE("uneven-heads", 3, 131, 150, 64, true, 0),
                                // The first query that sees a block of keys is not a tile's first.
                                KF_FLASH_CASE("mask-within-tiles", 1, 200, 150, 64, true, 0),
                                // A stage that is filled three times.
                                KF_FLASH_CASE("many-tiles", 1, 641, 5, 64, false, 0),
                                KF_FLASH_CASE("many-tiles-D128", 1, 321, 5, 128, false, 0)};

static const kf_variant variants[] = {
    {.name = "a-red",
     .about = "wgmma from tiles by TMA; dq by atomic additions",
     .launch = launch_by_width<
         launch_for<64, wgmma_red::backward<64>, 256, wgmma_red::bytes_of_block<64>()>,
         launch_for<128, wgmma_red::backward<128>, 256, wgmma_red::bytes_of_block<128>()>>},
    {.name = "b-bulk",
     .about = "dq added by the copy engine",
     .launch = launch_by_width<
         launch_for<64, wgmma_bulk::backward<64>, 256, wgmma_bulk::bytes_of_block<64>()>,
         launch_for<128, wgmma_bulk::backward<128>, 256, wgmma_bulk::bytes_of_block<128>()>>},
    {.name = "c-producer",
     .about = "a warpgroup brings the tiles, and gives up its registers",
     .launch = launch_by_width<
         launch_for<64, wgmma_producer::backward<64>, 384, wgmma_producer::bytes_of_block<64>()>,
         launch_for<128, wgmma_producer::backward<128>, 384,
                    wgmma_producer::bytes_of_block<128>()>>},
    {.name = "d-late",
     .about = "dq of a tile one tile later; masks apart, longest work first",
     .launch = launch_by_width<launch_late<64, true>, launch_late<128, true>>},
    {.name = "d-no-pdl",
     .about = "the same, each kernel when the one in front has ended",
     .launch = launch_by_width<launch_late<64, false>, launch_late<128, false>>},
};

static const kf_timing timings[] = {
    {KF_GRAPH, KF_WARM}, {KF_SUSTAINED, KF_WARM}, {KF_COOL, KF_WARM}};

static const kf_question questions[] = {
    {.text =
         "In case small (2 heads of 128 queries and keys, D = 64), how many times does a call of "
         "b-bulk ask TMA to add to dq's sums?",
     .figure = "bulk_reduce_requests",
     .case_name = "small",
     .variant = "b-bulk"},
    {.text =
         "At D = 128, S = 8192, without a mask, on the sustained clock, how many times as fast as "
         "a-red is b-bulk?",
     .figure = "ratio",
     .case_name = "D128-S8192",
     .variant = "b-bulk",
     .timing = &timings[1]},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "30-wgmma-backward",
        .title = "five products on Hopper's own tensor core instructions, in rungs",
        .architecture = "90a",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = kf_flash_backward_reference,
        .cost = kf_flash_backward_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
