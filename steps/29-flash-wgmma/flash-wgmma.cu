/* 29-flash-wgmma: FlashAttention forward on Hopper's wgmma, in six kernels
 *
 * Follows: 28-flash-tma
 * Architecture: 90a
 * Record: --repetitions 1 --rates step-29-rates.tsv
 * Check: without racecheck
 * Data: --case recorded --variant c-recorded --variant d-recorded --timeline step-29-timeline.tsv
 * Data: --case D64-S2048-causal --case D128-S2048-causal --repeats step-29-repeats.tsv
 * Profile: --case D64-S8192 --case D64-S8192-causal --case D128-S8192 --case D128-S8192-causal
 *
 * Idea     A warpgroup multiplies straight from the tiles that TMA brings (wgmma). Six kernels (a
 *          to e, g) each try a means against idle tensor cores, polynomial.cuh (f) one more.
 * Predict  One-role: 1.5 times as fast as step 23. Producer at D = 64 and ping-pong at D = 128: a
 *          tenth. Overlap, polynomial, and persistent under a mask: a twentieth. Work-tiles at D
 *          = 64, for two sizes and for tiles left out: a fiftieth; at D = 128 a hundredth.
 * Outcome  In cycles one-role is half as fast again as step 23 at D = 128, a tenth at D = 64.
 *          Producer gains at D = 64, ping-pong nothing, overlap at D = 128, persistent under a
 *          mask, where short work tiles end it, work-tiles with few of them. Polynomial loses.
 */
#include "a-one-role.cuh"
#include "b-producer.cuh"
#include "c-ping-pong.cuh"
#include "d-overlap.cuh"
#include "e-persistent.cuh"
#include "polynomial.cuh"
#include "g-work-tiles.cuh"
#include "cuda/work_tiles_launch.cuh"
#include "problems/flash_cases.h"

enum { KEYS = 128 }; // per tile, in every kernel

typedef void flash_kernel(CUtensorMap q, CUtensorMap k, CUtensorMap v, CUtensorMap o, float *lse,
                          int Sq, int Sk, bool causal);

// One block per tile of rows of a head.
static dim3 grid_of(const kf_shape *s, int warpgroups)
{
    return dim3((s->Sq + warpgroups * 64 - 1) / (warpgroups * 64), s->B * s->H);
}

// warpgroups: consumers. Two at D = 128; three at D = 64, where a thread needs fewer registers.
template <flash_kernel kernel, int warpgroups, int threads, int bytes>
static void launch_tiles(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    kernel<<<grid_of(&s, warpgroups), threads, bytes, stream>>>(
        map_of(run, "q", 64), map_of(run, "k", KEYS), map_of(run, "v", KEYS), map_of(run, "o", 64),
        kf_f32(run, "lse"), s.Sq, s.Sk, s.causal);
    CUDA_CHECK_LAUNCH();
}

// The ping-pong and the overlap kernel take a trace, which is recorder or no_recorder, and are
// launched as the producer kernel.
template <typename trace_type>
using traced_kernel = void(CUtensorMap q, CUtensorMap k, CUtensorMap v, CUtensorMap o, float *lse,
                           int Sq, int Sk, bool causal, trace_type trace);

template <typename trace_type, traced_kernel<trace_type> kernel, int D, int warpgroups>
static void launch_traced(const kf_run *run, cudaStream_t stream, trace_type trace)
{
    const kf_shape s = run->shape;
    const int bytes = producer::bytes_of_block<D, warpgroups>();
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    kernel<<<grid_of(&s, warpgroups), warpgroups * 128 + 128, bytes, stream>>>(
        map_of(run, "q", 64), map_of(run, "k", KEYS), map_of(run, "v", KEYS), map_of(run, "o", 64),
        kf_f32(run, "lse"), s.Sq, s.Sk, s.causal, trace);
    CUDA_CHECK_LAUNCH();
}

template <traced_kernel<no_recorder> for_64, traced_kernel<no_recorder> for_128>
static void launch_turns(const kf_run *run, cudaStream_t stream)
{
    if (run->shape.D == 64) {
        launch_traced<no_recorder, for_64, 64, 3>(run, stream, no_recorder());
    } else {
        launch_traced<no_recorder, for_128, 128, 2>(run, stream, no_recorder());
    }
}

typedef void work_tile_kernel(CUtensorMap q, CUtensorMap k, CUtensorMap v, CUtensorMap o,
                              float *lse, int heads, int at_once, int Sq, int Sk, bool causal);

static int work_tiles_of(const kf_shape *s, int warpgroups)
{
    return (s->Sq + warpgroups * 64 - 1) / (warpgroups * 64) * s->B * s->H;
}

template <work_tile_kernel kernel, int WARPGROUPS>
static void launch_work_tiles(const kf_run *run, cudaStream_t stream, int bytes, int blocks)
{
    const kf_shape s = run->shape;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    kernel<<<blocks, WARPGROUPS * 128 + 128, bytes, stream>>>(
        map_of(run, "q", 64), map_of(run, "k", KEYS), map_of(run, "v", KEYS), map_of(run, "o", 64),
        kf_f32(run, "lse"), s.B * s.H, heads_at_once(&s), s.Sq, s.Sk, s.causal);
    CUDA_CHECK_LAUNCH();
}

template <work_tile_kernel kernel, int D, int WARPGROUPS>
static void launch_persistent(const kf_run *run, cudaStream_t stream)
{
    const int work_tiles = work_tiles_of(&run->shape, WARPGROUPS), most = multiprocessors();
    launch_work_tiles<kernel, WARPGROUPS>(run, stream, persistent::bytes_of_block<D, WARPGROUPS>(),
                                          work_tiles < most ? work_tiles : most);
}

template <bool NEXT_EARLY>
static void launch_e(const kf_run *run, cudaStream_t stream)
{
    if (run->shape.D == 64) {
        launch_persistent<persistent::flash<64, 3, NEXT_EARLY, softmax_step<KEYS>>, 64, 3>(run,
                                                                                           stream);
    } else {
        launch_persistent<persistent::flash<128, 2, NEXT_EARLY, softmax_step<KEYS>>, 128, 2>(
            run, stream);
    }
}

// EARLY: the kernel may begin before the one in front of it in the stream has ended.
template <bool EARLY>
static void launch_g(const kf_run *run, cudaStream_t stream)
{
    launch_cut(run, stream, best_cut(&run->shape), EARLY, "q", "k");
}

// --- Variants that explain -----------------------------------------------------------------------

static bool of_64(const kf_case *c)
{
    return c->shape.D == 64;
}

static bool odd_of_64(const kf_case *c)
{
    return c->flags & KF_VERIFY_ONLY && of_64(c);
}

// One block per work tile. Each block finds the counter too high when it asks for another tile.
static void launch_order(const kf_run *run, cudaStream_t stream)
{
    if (run->shape.D == 64) {
        launch_work_tiles<persistent::flash<64, 3, false, softmax_step<KEYS>>, 3>(
            run, stream, persistent::bytes_of_block<64, 3>(), work_tiles_of(&run->shape, 3));
    } else {
        launch_work_tiles<persistent::flash<128, 2, false, softmax_step<KEYS>>, 2>(
            run, stream, persistent::bytes_of_block<128, 2>(), work_tiles_of(&run->shape, 2));
    }
}

template <int WARPGROUPS>
static void launch_one_size(const kf_run *run, cudaStream_t stream)
{
    const cut c = {WARPGROUPS, 0};
    launch_cut(run, stream, c, true, "q", "k");
}

// Work tiles of two sizes if there are rows enough. The first launch must leave its counters right
// for the second.
static void launch_twice(const kf_run *run, cudaStream_t stream)
{
    const cut c = {3, run->shape.Sq >= work_tiles::SMALL};
    launch_cut(run, stream, c, true, "q", "k");
    launch_cut(run, stream, c, true, "q", "k");
}

static void launch_polynomial(const kf_run *run, cudaStream_t stream)
{
    launch_persistent<persistent::flash<64, 3, false, softmax_step_shared<KEYS, 8>>, 64, 3>(run,
                                                                                            stream);
}

// Only whole tiles at D = 128 are recorded, which is enough for a picture; they are not timed.
static bool drawn(const kf_case *c)
{
    return c->flags & KF_VERIFY_ONLY && c->shape.D == 128 && c->shape.Sq % 128 == 0;
}

template <traced_kernel<recorder> kernel>
static void launch_recorded(const kf_run *run, cudaStream_t stream)
{
    const recorder trace = {(int *)kf_memory(run, timeline.tensor, KF_I32), MOST_ROWS, 0, 0};
    launch_traced<recorder, kernel, 128, 2>(run, stream, trace);
}

// --- Tables --------------------------------------------------------------------------------------

static void setup(kf_run *run)
{
    kf_flash_setup(run);
    const int64_t rows[3] = {ROLES, MOST_ROWS, 4};
    kf_scratch(run, timeline.tensor, "RNC", KF_I32, rows);
}

static const kf_case cases[] = {
    KF_FLASH_TIMED_WITH(0, KF_ALONE),
    KF_FLASH_CASE("recorded", 32, 2048, 2048, 128, false, KF_LARGE),
    KF_FLASH_ODD,
    // Work tiles of two heads, then of one. Tiles that are seen whole by one warpgroup and not by
    // the next. A stage that is filled three times.
    KF_FLASH_CASE("uneven-heads", 3, 200, 70, 64, true, 0),
    KF_FLASH_CASE("whole-edge", 1, 130, 192, 64, true, 0),
    KF_FLASH_CASE("many-tiles", 1, 130, 641, 64, false, 0),
    KF_FLASH_CASE("many-tiles-D128", 1, 5, 641, 128, false, 0),
    KF_FLASH_CASE("midway", 1, 64, 255, 64, false, KF_MIDWAY),
    // Several tiles, some masked, for the kernels that record.
    KF_FLASH_CASE("recorded-causal", 1, 128, 300, 128, true, KF_CHECKED),
    KF_FLASH_CASE("recorded-few", 1, 128, 135, 128, true, 0),
};

static const kf_variant variants[] = {
    {.name = "a-one-role",
     .about = "wgmma from tiles by TMA; all warps do the same",
     .launch = launch_by_width<
         launch_tiles<one_role::flash<64, 3>, 3, 384, one_role::bytes_of_block<64, 3>()>,
         launch_tiles<one_role::flash<128, 2>, 2, 256, one_role::bytes_of_block<128, 2>()>>},
    {.name = "b-producer",
     .about = "a warpgroup brings the tiles, and gives up its registers",
     .launch = launch_by_width<
         launch_tiles<producer::flash<64, 3>, 3, 512, producer::bytes_of_block<64, 3>()>,
         launch_tiles<producer::flash<128, 2>, 2, 384, producer::bytes_of_block<128, 2>()>>},
    {.name = "c-ping-pong",
     .about = "consumers take turns at the tensor cores",
     .launch =
         launch_turns<ping_pong::flash<64, 3, no_recorder>, ping_pong::flash<128, 2, no_recorder>>},
    {.name = "d-overlap",
     .about = "a consumer's next scores in flight during its softmax",
     .launch =
         launch_turns<overlap::flash<64, 3, no_recorder>, overlap::flash<128, 2, no_recorder>>},
    {.name = "e-persistent",
     .about = "blocks take work from a counter, the longest rows first",
     .launch = launch_e<false>},
    {.name = "e-early",
     .about = "the same, but the next work tile is asked for when one begins",
     .launch = launch_e<true>},
    {.name = "e-order",
     .about = "the same order, but a block for each work tile",
     .launch = launch_order},
    {.name = "f-polynomial",
     .about = "e-persistent, and one exponential in eight by FMA units, D = 64",
     .launch = launch_polynomial,
     .applies = of_64},
    {.name = "g-work-tiles",
     .about = "two sizes of work tiles, no empty tile, queries in registers",
     .launch = launch_g<true>},
    {.name = "g-no-pdl",
     .about = "the same, begun when the kernel in front has ended",
     .launch = launch_g<false>},
    {.name = "g-192-rows",
     .about = "g-work-tiles, all of 192 rows, D = 64",
     .launch = launch_one_size<3>,
     .applies = of_64},
    {.name = "g-128-rows",
     .about = "g-work-tiles, all of 128 rows, D = 64",
     .launch = launch_one_size<2>,
     .applies = of_64},
    {.name = "g-twice",
     .about = "g-work-tiles behind itself, with a small work tile in each head, D = 64",
     .launch = launch_twice,
     .applies = odd_of_64},
    {.name = "c-recorded",
     .about = "c-ping-pong, and when it did what: --timeline",
     .launch = launch_recorded<ping_pong::flash<128, 2, recorder>>,
     .applies = drawn},
    {.name = "d-recorded",
     .about = "d-overlap, the same",
     .launch = launch_recorded<overlap::flash<128, 2, recorder>>,
     .applies = drawn},
};

static const kf_timing timings[] = {
    {KF_GRAPH, KF_WARM}, {KF_SUSTAINED, KF_WARM}, {KF_COOL, KF_WARM}};

static const kf_question questions[] = {
    {.text =
         "In case small-D128 (2 heads of 128 queries and keys, D = 128): how many wgmma "
         "instructions does the one-role kernel (a-one-role) start, counted once per warpgroup?",
     .figure = "wgmma",
     .case_name = "small-D128",
     .variant = "a-one-role"},
    {.text = "At D = 64, S = 8192, under a causal mask, in single calls after a rest (cool): the "
             "persistent kernel (e-persistent) is how many times as fast as the overlap kernel "
             "(d-overlap)?",
     .figure = "median_us",
     .case_name = "D64-S8192-causal",
     .variant = "d-overlap",
     .over = "e-persistent",
     .timing = &timings[2]},
    {.text = "At D = 64, S = 1024, without a mask, in graphs: the work-tiles kernel (g-work-tiles) "
             "is how many times as fast as the large-only kernel (g-192-rows)?",
     .figure = "median_us",
     .case_name = "D64-S1024",
     .variant = "g-192-rows",
     .over = "g-work-tiles",
     .timing = &timings[0]},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "29-flash-wgmma",
        .title = "FlashAttention forward on Hopper's wgmma, in six kernels",
        .architecture = "90a",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = kf_flash_reference,
        .cost = kf_flash_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
        .timeline = &timeline,
    };
    return kf_main(&program, argc, argv);
}
