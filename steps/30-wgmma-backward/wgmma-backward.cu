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
 *          come. One change per rung, a to d.
 * Predict  a: twice as fast as step 26. b: the TMA adds up dq: a tenth. c: a producer: a twentieth.
 *          d: warpgroups no longer meet, because dq comes a tile late: a tenth or more; order is
 *          worth another tenth under a mask, and beginning early nothing at these lengths.
 * Outcome  Wgmma (a) gains a third at D = 64, over half at D = 128. Adding by TMA (b) loses a
 *          twentieth at D = 64: it is waited for, red is not. The producer (c) gains a thirtieth,
 *          late dq (d) a tenth. It passes cuDNN everywhere. Order and early starts bring little.
 */
#include "a-red.cuh"
#include "b-bulk.cuh"
#include "c-producer.cuh"
#include "cuda/flash_forward.cuh"
#include "d-late.cuh"
#include "cuda/wgmma_launch.cuh"
#include "problems/flash_backward_cases.h"

// The arguments of a launch, from a run.
typedef struct job {
    backward_args a;
    float *lse2, *minus_delta, *sums; // [BH][padded], [BH][padded][D]
    CUtensorMap q, k, v, dout, dk, dv;
    int heads, blocks; // blocks of keys per head
    cudaStream_t stream;
} job;

template <int D>
static job job_of(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    job j;
    j.a = backward_arguments(run);
    j.lse2 = kf_f32(run, "lse2");
    j.minus_delta = kf_f32(run, "minus_delta");
    j.sums = kf_f32(run, "sums");
    j.q = map_of(run, "q", tile_queries<D>());
    j.dout = map_of(run, "dout", tile_queries<D>());
    j.k = map_of(run, "k", 64);
    j.v = map_of(run, "v", 64);
    j.dk = map_of(run, "dk", 64);
    j.dv = map_of(run, "dv", 64);
    j.heads = s.B * s.H;
    j.blocks = (s.Sk + BLOCK_KEYS - 1) / BLOCK_KEYS;
    j.stream = stream;
    return j;
}

template <int D>
static void launch_before(const job *j)
{
    const dim3 grid((unsigned)(padded_rows(j->a.Sq) * D / 2048), j->heads);
    before<D><<<grid, 256, 0, j->stream>>>(j->a.o, j->a.dout, j->a.lse, j->lse2, j->minus_delta,
                                           j->sums, j->a.Sq);
    CUDA_CHECK_LAUNCH();
}

template <int D>
static dim3 grid_after(const job *j)
{
    return dim3((unsigned)(padded_rows(j->a.Sq) / 128 * (D / 64)), j->heads);
}

typedef void backward_kernel(CUtensorMap q, CUtensorMap k, CUtensorMap v, CUtensorMap dout,
                             CUtensorMap dk, CUtensorMap dv, const float *lse2,
                             const float *minus_delta, float *sums, backward_args a);

template <int D, backward_kernel kernel, int threads, int bytes>
static void launch_for(const kf_run *run, cudaStream_t stream)
{
    const job j = job_of<D>(run, stream);
    const dim3 grid = j.a.causal ? dim3(j.heads, j.blocks) : dim3(j.blocks, j.heads);
    allow_shared(kernel, bytes);
    launch_before<D>(&j);
    kernel<<<grid, threads, bytes, stream>>>(j.q, j.k, j.v, j.dout, j.dk, j.dv, j.lse2,
                                             j.minus_delta, j.sums, j.a);
    CUDA_CHECK_LAUNCH();
    after<D><<<grid_after<D>(&j), 256, 0, stream>>>(j.sums, j.a.dq, j.a.Sq);
    CUDA_CHECK_LAUNCH();
}

// Heads in flight together: as many as have q, dout and their sums of dq in 32 MB of the L2 cache.
// Without a mask all blocks have equally much work, and it is one head.
static int heads_at_once(const job *j, int D)
{
    const int64_t room = kf_on_cpu() ? 140000 : 32 << 20; // on a CPU small, as its cases are
    const int64_t head = (int64_t)j->a.Sq * D * 8;
    const int64_t fit = room / head;
    return !j->a.causal || fit < 1 ? 1 : (int)fit;
}

template <int D, bool EARLY>
static void launch_late(const kf_run *run, cudaStream_t stream)
{
    const job j = job_of<D>(run, stream);
    const int bytes = wgmma_late::bytes_of_block<D>();
    allow_shared(wgmma_late::backward<D>, bytes);
    launch_before<D>(&j);
    const cudaLaunchConfig_t main_pass =
        launch_config(EARLY, dim3(j.blocks * j.heads), 384, bytes, stream);
    CUDA_CHECK(cudaLaunchKernelEx(&main_pass, wgmma_late::backward<D>, j.q, j.k, j.v, j.dout, j.dk,
                                  j.dv, (const float *)j.lse2, (const float *)j.minus_delta, j.sums,
                                  j.heads, heads_at_once(&j, D), j.a));
    const cudaLaunchConfig_t last_pass = launch_config(EARLY, grid_after<D>(&j), 256, 0, stream);
    CUDA_CHECK(cudaLaunchKernelEx(&last_pass, after<D>, (const float *)j.sums, j.a.dq, j.a.Sq));
}

// --- Tables --------------------------------------------------------------------------------------

static void setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t rows[4] = {s.B, s.H, padded_rows(s.Sq), 1};
    const int64_t sums[4] = {s.B, s.H, padded_rows(s.Sq), s.D};
    kf_flash_backward_setup(run, flash_forward::launch);
    kf_scratch(run, "lse2", "BHSD", KF_F32, rows);
    kf_scratch(run, "minus_delta", "BHSD", KF_F32, rows);
    kf_scratch(run, "sums", "BHSD", KF_F32, sums);
}

static const kf_case cases[] = {KF_FLASH_TIMED_WITH(0, KF_ALONE), KF_FLASH_BACKWARD_ODD,
                                // Blocks of two heads together, then of one.
                                KF_FLASH_ONE("uneven-heads", 3, 131, 150, 64, true, 0),
                                // The first query that sees a block of keys is not a tile's first.
                                KF_FLASH_ONE("mask-within-tiles", 1, 200, 150, 64, true, 0),
                                // A stage that is filled three times.
                                KF_FLASH_ONE("many-tiles", 1, 641, 5, 64, false, 0),
                                KF_FLASH_ONE("many-tiles-D128", 1, 321, 5, 128, false, 0)};

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

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "30-wgmma-backward",
        .title = "five products on Hopper's own tensor core instructions, in rungs",
        .architecture = "90a",
        .cases = cases,
        .n_cases = KF_COUNT_OF(cases),
        .variants = variants,
        .n_variants = KF_COUNT_OF(variants),
        .setup = setup,
        .reference = kf_flash_backward_reference,
        .cost = kf_flash_backward_cost,
        .timings = timings,
        .n_timings = KF_COUNT_OF(timings),
    };
    return kf_main(&program, argc, argv);
}
