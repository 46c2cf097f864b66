/* 29-flash-wgmma: the forward pass on Hopper's own tensor core instructions, in rungs
 *
 * Grows from: 28-flash-tma
 * Architecture: 90a
 * Profile: --case D64-S8192 --case D128-S8192 --case D64-S8192-causal --case D128-S8192-causal
 *
 * Idea     Let a warpgroup multiply straight from the tiles that TMA brings (wgmma), and take away,
 *          one a rung, what keeps the tensor cores waiting. A rung is a file, a to e.
 * Predict  a: no operand passes through a register any more: half as fast again as step 23. b: no
 *          barrier for all in each tile: a tenth at D = 64, less at D = 128. c: weights of one
 *          group while another multiplies: a tenth at D = 128. d: a group's own products under its
 *          weights, which does the same as c by other means: a twentieth on top. e: nothing for
 *          long full rows; under a mask the tail of uneven rows: a twentieth.
 * Outcome
 */
#include "a-one-role.cuh"
#include "b-producer.cuh"
#include "c-ping-pong.cuh"
#include "d-overlap.cuh"
#include "e-persistent.cuh"
#include "problems/flash_cases.h"

enum { KEYS = 128 }; // of a tile, in every rung

// snippet: map
// q, k, v or o [BH][S][D] -> a map whose boxes are tiles of so many rows: the columns are split, as
// a swizzled box has 64 at most.
static CUtensorMap map_of(const kf_run *run, const char *name, int rows)
{
    const kf_shape s = run->shape;
    const uint64_t S = name[0] == 'q' || name[0] == 'o' ? s.Sq : s.Sk;
    const tensor_layout layout = {.rank = 4,
                                  .extent = {64, S, s.D / 64u, (uint64_t)s.B * s.H},
                                  .stride = {s.D * 2u, 64 * 2, S * s.D * 2},
                                  .box = {64, (cuuint32_t)rows, s.D / 64u, 1}};
    return tensor_map(kf_memory(run, name, KF_F16), CU_TENSOR_MAP_DATA_TYPE_FLOAT16, &layout,
                      CU_TENSOR_MAP_SWIZZLE_128B);
}
// end snippet: map

typedef void flash_kernel(CUtensorMap q, CUtensorMap k, CUtensorMap v, CUtensorMap o, float *lse,
                          int Sq, int Sk, bool causal);

template <flash_kernel kernel, int groups, int threads>
static void launch_tiles(const kf_run *run, cudaStream_t stream, int bytes)
{
    const kf_shape s = run->shape;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const dim3 grid((s.Sq + groups * 64 - 1) / (groups * 64), s.B * s.H);
    kernel<<<grid, threads, bytes, stream>>>(map_of(run, "q", 64), map_of(run, "k", KEYS),
                                             map_of(run, "v", KEYS), map_of(run, "o", 64),
                                             kf_f32(run, "lse"), s.Sq, s.Sk, s.causal);
    CUDA_CHECK_LAUNCH();
}

// Three consumers at D = 64, whose registers are few enough, two at D = 128.
static void launch_one_role(const kf_run *run, cudaStream_t stream)
{
    if (run->shape.D == 64) {
        launch_tiles<one_role::flash<64, 3>, 3, 384>(run, stream,
                                                     one_role::bytes_of_block<64, 3>());
    } else {
        launch_tiles<one_role::flash<128, 2>, 2, 256>(run, stream,
                                                      one_role::bytes_of_block<128, 2>());
    }
}

// The rungs b to d have a warpgroup more, the producer, and the same tiles.
template <flash_kernel for_64, flash_kernel for_128>
static void launch_roles(const kf_run *run, cudaStream_t stream)
{
    if (run->shape.D == 64) {
        launch_tiles<for_64, 3, 512>(run, stream, producer::bytes_of_block<64, 3>());
    } else {
        launch_tiles<for_128, 2, 384>(run, stream, producer::bytes_of_block<128, 2>());
    }
}

// snippet: at-once
// How many heads are worked on at a time: as many as have their keys and values in half of the L2
// cache; without a mask all rows are equally long, and it is one.
static int heads_at_once(const kf_shape *s)
{
    const int64_t room = 16 << 20, head = (int64_t)s->Sk * s->D * 2 * (int)sizeof(__half);
    const int64_t fit = room / head;
    return !s->causal || fit < 1 ? 1 : fit < s->B * s->H ? (int)fit : s->B * s->H;
}
// end snippet: at-once

static int multiprocessors()
{
    int n = 2; // on a CPU any number will do: the same on each
    if (!kf_on_cpu()) {
        CUDA_CHECK(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0));
    }
    return n;
}

template <int D, int GROUPS>
static void launch_persistent(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int bytes = persistent::bytes_of_block<D, GROUPS>();
    const int pieces = (s.Sq + GROUPS * 64 - 1) / (GROUPS * 64) * s.B * s.H;
    const int blocks = pieces < multiprocessors() ? pieces : multiprocessors();
    CUDA_CHECK(cudaFuncSetAttribute(persistent::flash<D, GROUPS>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    persistent::flash<D, GROUPS><<<blocks, GROUPS * 128 + 128, bytes, stream>>>(
        map_of(run, "q", 64), map_of(run, "k", KEYS), map_of(run, "v", KEYS), map_of(run, "o", 64),
        kf_f32(run, "lse"), s.B * s.H, heads_at_once(&s), s.Sq, s.Sk, s.causal);
    CUDA_CHECK_LAUNCH();
}

static void launch_e(const kf_run *run, cudaStream_t stream)
{
    if (run->shape.D == 64) {
        launch_persistent<64, 3>(run, stream);
    } else {
        launch_persistent<128, 2>(run, stream);
    }
}

static void launch_e_of_128(const kf_run *run, cudaStream_t stream)
{
    launch_persistent<64, 2>(run, stream);
}

static bool of_64(const kf_case *c)
{
    return c->shape.D == 64;
}

// --- Tables --------------------------------------------------------------------------------------

static void setup(kf_run *run)
{
    need_tma();
    kf_flash_setup(run);
}

static const kf_case cases[] = {KF_FLASH_TIMED, KF_FLASH_ODD};

static const kf_variant variants[] = {
    {.name = "a-one-role",
     .about = "wgmma from tiles by TMA; all warps do the same",
     .launch = launch_one_role},
    {.name = "b-producer",
     .about = "a warpgroup brings the tiles, and gives up its registers",
     .launch = launch_roles<producer::flash<64, 3>, producer::flash<128, 2>>},
    {.name = "c-ping-pong",
     .about = "consumers take turns at the tensor cores",
     .launch = launch_roles<ping_pong::flash<64, 3>, ping_pong::flash<128, 2>>},
    {.name = "d-overlap",
     .about = "a consumer's next scores under its weights",
     .launch = launch_roles<overlap::flash<64, 3>, overlap::flash<128, 2>>},
    {.name = "e-persistent",
     .about = "blocks take work from a counter, the longest rows first",
     .launch = launch_e},
    {.name = "e-128-rows",
     .about = "the same with 128 queries a block instead of 192, D = 64",
     .launch = launch_e_of_128,
     .applies = of_64},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "29-flash-wgmma",
        .title = "the forward pass on Hopper's own tensor core instructions, in rungs",
        .cases = cases,
        .n_cases = KF_COUNT_OF(cases),
        .variants = variants,
        .n_variants = KF_COUNT_OF(variants),
        .setup = setup,
        .reference = kf_flash_reference,
        .cost = kf_flash_cost,
        .timings = timings,
        .n_timings = KF_COUNT_OF(timings),
    };
    return kf_main(&program, argc, argv);
}
