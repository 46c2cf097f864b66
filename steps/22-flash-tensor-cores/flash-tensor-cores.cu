/* 22-flash-tensor-cores: the same pass on tensor cores, in five rungs
 *
 * Follows: 21-flash-forward
 * Architecture: 80
 * Profile: --case D64-S2048 --case D128-S2048
 * Tests: also on aarch64
 *
 * Idea     Give both products to the tensor cores (mma.sync, 16 x 8 x 16 at a time), and remove,
 *          one per rung, the causes of their waiting: operands from device memory, bank conflicts,
 *          loads that are waited for, P's way through shared memory. A rung is a file, a to e.
 * Predict  The accesses to shared memory and L1 cache, in wavefronts, set the pace: per tile of 64
 *          keys at D = 64 they are 5120 in a, 5376 in b, 896 in c, 640 in d and 512 in e. So b
 *          gains nothing: its warps read as many wavefronts as in a, and copies are added.
 *          c is 6 times as fast as b, d 1.4 times as fast as c, e 1.25 times as fast as d.
 * Outcome  a and b as predicted. From c on each rung gains less than predicted at D = 64. The
 *          swizzle (c) gains most. Copies in flight (d) lessen the wavefronts and the wait for
 *          memory, P in registers (e) the wavefronts and the wait for shared memory. At D = 128 e
 *          gains more than predicted, though it lacks two registers there. The last rung is level
 *          with FlashAttention-2, and far from Hopper's own instructions.
 */
#include "a-fragments.cuh"
#include "b-shared.cuh"
#include "c-swizzle.cuh"
#include "d-async.cuh"
#include "e-registers.cuh"
#include "problems/flash_cases.h"

#include <string.h>

typedef void flash_kernel(const __half *q, const __half *k, const __half *v, __half *o, float *lse,
                          int Sq, int Sk, bool causal);

// tiles: the number of tiles, of KEYS rows each, in dynamic shared memory
template <flash_kernel for_64, flash_kernel for_128, int tiles>
static void launch(const kf_run *run, cudaStream_t stream)
{
    const int ROWS = 64, KEYS = 64, THREADS = 128; // as in every rung
    const kf_shape s = run->shape;
    flash_kernel *kernel = s.D == 64 ? for_64 : for_128;
    const int bytes = tiles * KEYS * s.D * (int)sizeof(__half);
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const dim3 grid((s.Sq + ROWS - 1) / ROWS, s.B * s.H);
    kernel<<<grid, THREADS, bytes, stream>>>(
        (const __half *)kf_memory(run, "q", KF_F16), (const __half *)kf_memory(run, "k", KF_F16),
        (const __half *)kf_memory(run, "v", KF_F16), (__half *)kf_memory(run, "o", KF_F16),
        kf_f32(run, "lse"), s.Sq, s.Sk, s.causal);
    CUDA_CHECK_LAUNCH();
}

// --- Tables --------------------------------------------------------------------------------------

static void setup(kf_run *run)
{
    kf_flash_setup(run);
    if (kf_on_cpu() && strcmp(run->c->name, "small") == 0) {
        kf_say("  what a rung changes is counted: make step-22 count ARGS=\"--case small\"\n");
    }
}

static const kf_case cases[] = {KF_FLASH_TIMED, KF_FLASH_ODD};

static const kf_variant variants[] = {
    {.name = "a-fragments",
     .about = "operands straight from device memory",
     .launch = launch<fragments::flash<64>, fragments::flash<128>, 0>},
    {.name = "b-shared",
     .about = "tiles of K and V in shared memory, rows one after the other",
     .launch = launch<shared::flash<64>, shared::flash<128>, 2>},
    {.name = "c-swizzle",
     .about = "tiles swizzled, operands by ldmatrix",
     .launch = launch<swizzle::flash<64>, swizzle::flash<128>, 2>},
    {.name = "d-async",
     .about = "the next tile comes by cp.async meanwhile: two stages",
     .launch = launch<async::flash<64>, async::flash<128>, 4>},
    {.name = "e-registers",
     .about = "P stays in registers",
     .launch = launch<registers::flash<64>, registers::flash<128>, 4>},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}};

static const kf_question questions[] = {
    {.text = "With 2 heads of 128 queries and keys, D = 64, how many times as many wavefronts do "
             "loads from shared memory take in b-shared as in c-swizzle?",
     .figure = "shared_ld_wavefronts",
     .case_name = "small",
     .variant = "b-shared",
     .over = "c-swizzle"},
    {.text = "With 8192 queries and keys, D = 64, how many times as fast as b-shared is "
             "c-swizzle?",
     .figure = "median_us",
     .case_name = "D64-S8192",
     .variant = "b-shared",
     .over = "c-swizzle"},
    {.text = "With 8192 queries and keys, D = 64, how many times as fast as d-async is "
             "e-registers?",
     .figure = "median_us",
     .case_name = "D64-S8192",
     .variant = "d-async",
     .over = "e-registers"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "22-flash-tensor-cores",
        .title = "the same pass on tensor cores, in five rungs",
        .architecture = "80",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = kf_flash_reference,
        .cost = kf_flash_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
