/* 26-one-pass-backward: five products in one kernel, and who adds up dq
 *
 * Follows: 25-delta-cache
 * Architecture: 80
 * Record: --tuned tuned-one-pass.tsv
 * Data: --case D64-S2048 --case D128-S2048 --case D64-S2048-causal --repeats step-26-repeats.tsv
 * Profile: kernels=backward|convert each --case D64-S2048 --case D128-S2048
 * Tests: c-ordered d-ordered-vector add in turn
 *
 * Idea     One kernel that owns keys has dS of every tile, and dS times k is what that tile adds
 *          to dq: five products. But all blocks add to all rows of dq. Four kernels: a-scalar
 *          adds one float atomically; b-vector adds four; c-ordered adds by plain loads and
 *          stores, in a fixed order; d-ordered-vector adds four floats atomically in that order.
 * Predict  1.4 times as fast as seven products, if products are the limit. By the wavefronts of
 *          shared memory 1.2 times. The additions cost wavefronts too: four floats per lane take
 *          a quarter of the requests of one. A fixed order makes blocks wait.
 * Outcome  Without a mask a-scalar is slower than two kernels; b-vector is faster, about as its
 *          wavefronts say, and faster than FlashAttention-2 at long S. A fixed order gives the
 *          same bits; it and its draw of heads cost about a sixth or more, plain additions more.
 */
#include "a-scalar.cuh"
#include "b-vector.cuh"
#include "c-ordered.cuh"
#include "cuda/flash_two_kernels.cuh"
#include "cuda/refused.cuh"
#include "cuda/tiled_attention.cuh"
#include "d-ordered-vector.cuh"
#include "problems/flash_backward_cases.h"

enum way { SCALAR, VECTOR, ORDERED, ORDERED_VECTOR };

// The arguments of a launch, from a run.
typedef struct job {
    backward_args a;
    float *delta, *sums; // [BH][Sq], [BH][padded][D]
    int *counters;       // one, and one per tile of queries
    int heads;
    size_t bytes_of_sums, bytes_of_counters;
    cudaStream_t stream;
} job;

static int64_t counters_of(const kf_shape *s) // for tiles of 64 queries
{
    return 1 + (int64_t)s->B * s->H * ((s->Sq + 63) / 64);
}

static job job_of(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    job j;
    j.a = backward_arguments(run);
    j.delta = kf_f32(run, "delta");
    j.sums = kf_f32(run, "sums");
    j.counters = (int *)kf_memory(run, "counters", KF_I32);
    j.heads = s.B * s.H;
    j.bytes_of_sums = j.heads * padded_rows(s.Sq) * s.D * sizeof(float);
    j.bytes_of_counters = counters_of(&s) * sizeof(int);
    j.stream = stream;
    return j;
}

template <int D, int KEYS, int ROWS>
static constexpr int bytes_of_block()
{
    return ((2 * KEYS + 4 * ROWS) * D + KEYS * ROWS) * (int)sizeof(__half) +
           4 * ROWS * (int)sizeof(float);
}

template <int D, int KEYS, int ROWS, int WARPS, enum way WAY>
static void launch_one_pass(job j)
{
    const int bytes = bytes_of_block<D, KEYS, ROWS>(), threads = WARPS * 32;
    const int blocks = (j.a.Sk + KEYS - 1) / KEYS;
    const dim3 grid = j.a.causal ? dim3(j.heads, blocks) : dim3(blocks, j.heads);
    const dim3 pairs((j.a.Sq * (D / 2) + 255) / 256, j.heads);
    launch_delta<D>(j.a, j.heads, j.delta, j.stream);
    CUDA_CHECK(cudaMemsetAsync(j.sums, 0, j.bytes_of_sums, j.stream));
    if (WAY == SCALAR) {
        allow_shared(scalar::backward<D, KEYS, ROWS, WARPS>, bytes);
        scalar::backward<D, KEYS, ROWS, WARPS>
            <<<grid, threads, bytes, j.stream>>>(j.a, j.delta, j.sums);
        CUDA_CHECK_LAUNCH();
        scalar::convert<D><<<pairs, 256, 0, j.stream>>>(j.sums, j.a.dq, j.a.Sq);
    } else if (WAY == VECTOR) {
        allow_shared(vector::backward<D, KEYS, ROWS, WARPS>, bytes);
        vector::backward<D, KEYS, ROWS, WARPS>
            <<<grid, threads, bytes, j.stream>>>(j.a, j.delta, j.sums);
        CUDA_CHECK_LAUNCH();
        vector::convert<D><<<pairs, 256, 0, j.stream>>>(j.sums, j.a.dq, j.a.Sq);
    } else if (WAY == ORDERED) {
        CUDA_CHECK(cudaMemsetAsync(j.counters, 0, j.bytes_of_counters, j.stream));
        allow_shared(ordered::backward<D, KEYS, ROWS, WARPS>, bytes);
        ordered::backward<D, KEYS, ROWS, WARPS>
            <<<grid, threads, bytes, j.stream>>>(j.a, j.delta, j.sums, j.counters);
        CUDA_CHECK_LAUNCH();
        ordered::convert<D><<<pairs, 256, 0, j.stream>>>(j.sums, j.a.dq, j.a.Sq);
    } else {
        CUDA_CHECK(cudaMemsetAsync(j.counters, 0, j.bytes_of_counters, j.stream));
        allow_shared(ordered_vector::backward<D, KEYS, ROWS, WARPS>, bytes);
        ordered_vector::backward<D, KEYS, ROWS, WARPS>
            <<<grid, threads, bytes, j.stream>>>(j.a, j.delta, j.sums, j.counters);
        CUDA_CHECK_LAUNCH();
        ordered_vector::convert<D><<<pairs, 256, 0, j.stream>>>(j.sums, j.a.dq, j.a.Sq);
    }
    CUDA_CHECK_LAUNCH();
}

template <enum way WAY>
static void launch(const kf_run *run, cudaStream_t stream)
{
    if (run->shape.D == 64) {
        launch_one_pass<64, 128, 64, 4, WAY>(job_of(run, stream));
    } else {
        launch_one_pass<128, 128, 64, 8, WAY>(job_of(run, stream));
    }
}

// --- Variants that explain -----------------------------------------------------------------------

template <int D, int ROWS, int KEYS, int WARPS>
static void launch_dq(job j)
{
    const int bytes = (2 * ROWS + 4 * KEYS) * D * (int)sizeof(__half);
    const dim3 grid((j.a.Sq + ROWS - 1) / ROWS, j.heads);
    allow_shared(backward_dq<D, ROWS, KEYS, WARPS>, bytes);
    backward_dq<D, ROWS, KEYS, WARPS><<<grid, WARPS * 32, bytes, j.stream>>>(j.a, j.delta);
    CUDA_CHECK_LAUNCH();
}

template <int D, int KEYS, int ROWS, int WARPS>
static void launch_dkv(job j)
{
    const int bytes =
        (2 * KEYS + 4 * ROWS) * D * (int)sizeof(__half) + 4 * ROWS * (int)sizeof(float);
    const dim3 grid((j.a.Sk + KEYS - 1) / KEYS, j.heads);
    allow_shared(backward_dkv<D, KEYS, ROWS, WARPS>, bytes);
    backward_dkv<D, KEYS, ROWS, WARPS><<<grid, WARPS * 32, bytes, j.stream>>>(j.a, j.delta);
    CUDA_CHECK_LAUNCH();
}

static void launch_two_kernels(const kf_run *run, cudaStream_t stream)
{
    const job j = job_of(run, stream);
    if (run->shape.D == 64) {
        launch_delta<64>(j.a, j.heads, j.delta, j.stream);
        launch_dq<64, 128, 64, 4>(j);
        launch_dkv<64, 128, 64, 4>(j);
    } else {
        launch_delta<128>(j.a, j.heads, j.delta, j.stream);
        launch_dq<128, 128, 32, 4>(j);
        launch_dkv<128, 64, 64, 4>(j);
    }
}

template <int KEYS, int ROWS, int WARPS>
static void launch_candidate(const kf_run *run, cudaStream_t stream)
{
    if (run->shape.D == 64) {
        launch_one_pass<64, KEYS, ROWS, WARPS, VECTOR>(job_of(run, stream));
    } else {
        launch_one_pass<128, KEYS, ROWS, WARPS, VECTOR>(job_of(run, stream));
    }
}

template <int KEYS, int ROWS, int WARPS>
static const char *refused(const kf_case *c, char *why, size_t size)
{
    return c->shape.D == 64 ? refused_here((const void *)vector::backward<64, KEYS, ROWS, WARPS>,
                                           bytes_of_block<64, KEYS, ROWS>(), why, size)
                            : refused_here((const void *)vector::backward<128, KEYS, ROWS, WARPS>,
                                           bytes_of_block<128, KEYS, ROWS>(), why, size);
}

// --- Tables --------------------------------------------------------------------------------------

static void setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t rows[4] = {s.B, s.H, s.Sq, 1};
    const int64_t sums[4] = {s.B, s.H, padded_rows(s.Sq), s.D};
    const int64_t counters[1] = {counters_of(&s)};
    kf_flash_backward_setup(run, tiled::launch_forward);
    kf_scratch(run, "delta", "BHSD", KF_F32, rows);
    kf_scratch(run, "sums", "BHSD", KF_F32, sums);
    kf_scratch(run, "counters", "N", KF_I32, counters);
}

#define LENGTHS(shape, d) shape(d, 512), shape(d, 2048), shape(d, 8192), shape(d, 16384)

static const kf_case cases[] = {
    LENGTHS(KF_FLASH_SQUARE, 64),  LENGTHS(KF_FLASH_CAUSAL, 64), LENGTHS(KF_FLASH_SQUARE, 128),
    LENGTHS(KF_FLASH_CAUSAL, 128), KF_FLASH_BACKWARD_ODD,
};

#define TILE(keys, rows, warps)                                                                    \
    {                                                                                              \
        .name = "tile:n" #keys "-m" #rows "-w" #warps,                                             \
        .about = "b-vector with " #keys " keys, " #rows " queries, " #warps " warps",              \
        .launch = launch_candidate<keys, rows, warps>, .applies = takes_part_here,                 \
        .refused = refused<keys, rows, warps>                                                      \
    }

static const kf_variant variants[] = {
    {.name = "two-kernels",
     .about = "step 25: dq's kernel and that of dk and dv",
     .launch = launch_two_kernels},
    {.name = "a-scalar",
     .about = "one pass, dq by atomic additions of a float",
     .launch = launch<SCALAR>},
    {.name = "b-vector", .about = "four floats at a time", .launch = launch<VECTOR>},
    {.name = "c-ordered",
     .about = "in the same order in every run, by plain additions",
     .launch = launch<ORDERED>,
     .in_order = true},
    {.name = "d-ordered-vector",
     .about = "in the same order, by atomic additions of four floats",
     .launch = launch<ORDERED_VECTOR>,
     .in_order = true},
    TILE(128, 64, 4),
    TILE(64, 64, 4),
    TILE(64, 128, 4),
    TILE(128, 64, 8),
    TILE(128, 128, 8),
    TILE(256, 64, 8),
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}};

static const kf_question questions[] = {
    {.text =
         "In case small (2 heads of 128 queries and keys, D = 64): sectors of a-scalar's atomic "
         "additions (one float), divided by those of b-vector's (four floats): which ratio?",
     .figure = "global_atomic_sectors",
     .case_name = "small",
     .variant = "a-scalar",
     .over = "b-vector"},
    {.text =
         "At D = 128, S = 8192, without a mask: a-scalar (five products, one float per addition) "
         "is how many times as fast as two-kernels?",
     .figure = "ratio",
     .case_name = "D128-S8192",
     .variant = "a-scalar"},
    {.text = "At D = 128, S = 8192, without a mask: c-ordered (plain loads and stores) is how many "
             "times as fast as d-ordered-vector (atomic additions)?",
     .figure = "median_us",
     .case_name = "D128-S8192",
     .variant = "d-ordered-vector",
     .over = "c-ordered"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "26-one-pass-backward",
        .title = "five products in one kernel, and who adds up dq",
        .architecture = "80",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = kf_flash_backward_reference,
        .cost = kf_flash_backward_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
        .tunes = true,
    };
    return kf_main(&program, argc, argv);
}
