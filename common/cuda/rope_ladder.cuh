/* rope_ladder.cuh: the baseline and the cases of Part II's versions.
 *
 * The baseline "separate" is step 02's: RoPE on q, RoPE on k, then attention, with the reduction of
 * step 04 and the second half that all versions share. So a ratio to this baseline compares kernels
 * of the same structure, the same staging and the same synchronisation.
 *
 * The cases are one head dimension after the other at 64 keys, whole and partial rotation, and odd
 * shapes. A step may add its own cases.
 */
#pragma once

#include "cuda/attention_row.cuh"
#include "problems/attention.h"
#include "problems/rope.h"

// --- The baseline --------------------------------------------------------------------------------

// x [D] at one position, cosine and sine [R/2] there -> y [D], in global or shared memory. One
// thread per pair, and one per dimension that is not rotated.
// cost: a load and a store per element, 2 table loads and 6 flops per pair
static __device__ __forceinline__ void rotate_row(const float *x, const float *cosine,
                                                  const float *sine, float *y, int D, int R)
{
    const int half = R / 2;
    for (int t = threadIdx.x; t < D - half; t += blockDim.x) {
        if (t < half) {
            const float c = cosine[t];
            const float s = sine[t];
            COUNT("table loads", 2);
            COUNT("element rotations", 2);
            y[t] = x[t] * c - x[t + half] * s;
            y[t + half] = x[t + half] * c + x[t] * s;
        } else {
            y[t + half] = x[t + half];
        }
    }
}

// x [H][S][D], cosine and sine [P][R/2] -> y [H][S][D]. Row i of x is rotated by
// row first + i of the tables.
// grid (S, H): step 02's kernel
// cost: that of rotate_row, once per row
static __global__ void rope_q(const float *x, const float *cosine, const float *sine, float *y,
                              int S, int D, int R, int first)
{
    const int64_t row = ((int64_t)blockIdx.y * S + blockIdx.x) * D;
    const int64_t angles = (int64_t)(first + blockIdx.x) * (R / 2);
    COUNT("Q rotations", threadIdx.x == 0);
    rotate_row(x + row, cosine + angles, sine + angles, y + row, D, R);
}

// The same for keys, whose table rows begin at 0. Two kernels, so that their names distinguish
// them.
static __global__ void rope_k(const float *x, const float *cosine, const float *sine, float *y,
                              int S, int D, int R)
{
    const int64_t row = ((int64_t)blockIdx.y * S + blockIdx.x) * D;
    const int64_t angles = (int64_t)blockIdx.x * (R / 2);
    COUNT("K rotations", threadIdx.x == 0);
    rotate_row(x + row, cosine + angles, sine + angles, y + row, D, R);
}

/* Enqueues the rotation of all queries into the scratch tensor q_rotated. */
static inline void launch_rope_q(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    rope_q<<<dim3(s.Sq, s.H), THREADS, 0, stream>>>(kf_f32(run, "q"), kf_f32(run, "cos"),
                                                    kf_f32(run, "sin"), kf_f32(run, "q_rotated"),
                                                    s.Sq, s.D, s.R, s.Sk - s.Sq);
    CUDA_CHECK_LAUNCH();
}

/* The same for all keys, into k_rotated. */
static inline void launch_rope_k(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    rope_k<<<dim3(s.Sk, s.H), THREADS, 0, stream>>>(kf_f32(run, "k"), kf_f32(run, "cos"),
                                                    kf_f32(run, "sin"), kf_f32(run, "k_rotated"),
                                                    s.Sk, s.D, s.R);
    CUDA_CHECK_LAUNCH();
}

// query [D] and k [Sk][D], both rotated -> score [visible], one key per thread. Returns the
// thread's row_max.
static __device__ __noinline__ float score_rotated_keys(attention_args a, block_rows own,
                                                        const float *query, float *score)
{
    float row_max = -INFINITY;
    for (int j = threadIdx.x; j < own.visible; j += blockDim.x) {
        const float *key = own.k + (int64_t)j * a.D;
        float dot = 0.0f;
        for (int d = 0; d < a.D; d++) {
            dot += query[d] * key[d];
        }
        score[j] = dot * a.scale;
        row_max = fmaxf(row_max, score[j]);
    }
    return row_max;
}

// Step 02's attention on rotated q and k, or at R = 0: grid (Sq, H), THREADS threads, (D + Sk)
// floats of dynamic shared memory
// cost: 4 D Sk flops per block; reads k and v of one head once per block
static __global__ void attention(attention_args a)
{
    extern __shared__ float shared[];
    __shared__ float scratch[THREADS];
    float *query = shared;
    float *score = shared + a.D;
    const block_rows own = rows_of_block(a);

    for (int d = threadIdx.x; d < a.D; d += blockDim.x) {
        query[d] = own.q[d];
    }
    __syncthreads();

    const float row_max = score_rotated_keys(a, own, query, score);
    softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
}

/* The baseline: three launches. */
static inline void launch_separate(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_rotated(run);
    launch_rope_q(run, stream);
    launch_rope_k(run, stream);
    attention<<<dim3(a.Sq, run->shape.H), THREADS, query_and_scores(a), stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

/* Tensors: inputs q, k, v, cos and sin, output o, scratch q_rotated and k_rotated. */
static inline void ladder_setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t q[] = {s.B, s.H, s.Sq, s.D};
    const int64_t k[] = {s.B, s.H, s.Sk, s.D};
    kf_attention_setup(run);
    kf_rope_tables(run);
    kf_scratch(run, "q_rotated", "BHSD", KF_F32, q);
    kf_scratch(run, "k_rotated", "BHSD", KF_F32, k);
}

/* For variants that compute their angles in fp32. They do not apply to positions so far out that
 * the bound of a score's error exceeds the score: there a comparison says nothing. Step 20 has
 * the accurate way. */
static inline bool ladder_near(const kf_case *c)
{
    return c->shape.R == 0 || kf_fp32_angle_error(&c->shape, true) < 1e-3;
}

/* kf_variant's extra_error for these variants; it also holds where frequencies are an input. */
static inline double ladder_angle_error(const kf_case *c)
{
    return kf_fp32_angle_error(&c->shape, true);
}

/* For variants that only explain a time. They are verified on the cases where they are timed (on
 * a CPU on some of these) and on cases with few queries. */
static inline bool ladder_explains(const kf_case *c)
{
    const bool timed = c->shape.Sq == 64 && c->shape.H >= 4;
    const bool chosen = c->shape.D == 8 || c->shape.D == 128 || c->shape.R == 20;
    return c->shape.Sq < 20 || (timed && (!kf_on_cpu() || chosen));
}

/* For variants with loads of 16 bytes. */
static inline bool ladder_wide_loads(const kf_case *c)
{
    return c->shape.D % 4 == 0;
}

/* Those that only explain a time. They are verified on the cases where they are timed, at the
 * dimensions of the log. A CPU runs those with few queries. */
static inline bool ladder_explains_wide_loads(const kf_case *c)
{
    return ladder_wide_loads(c) && c->shape.D >= 128 && (!kf_on_cpu() || c->shape.Sq < 64);
}

/* The same for variants that are counted: a CPU also runs cases with one head. */
static inline bool ladder_counts_wide_loads(const kf_case *c)
{
    return ladder_explains_wide_loads(c) || (ladder_wide_loads(c) && c->shape.H == 1);
}

/* A case is named after D, and after R if only a part is rotated. An odd shape is named after
 * what is odd. Cases that a CPU skips are large. "head" is one head of the largest partial case,
 * for counting. */
static const kf_case ladder_cases[] = {
    KF_CASE("D8", KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = 8, .R = 8),
    KF_CASE("D16", KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = 16, .R = 16),
    KF_CASE("D32", KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = 32, .R = 32),
    KF_CASE("D64", KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = 64, .R = 64),
    KF_CASE("D80", KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = 80, .R = 80),
    KF_CASE("D128", KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = 128, .R = 128),
    KF_CASE("D512", KF_LARGE, .H = 4, .Sq = 64, .Sk = 64, .D = 512, .R = 512),
    KF_CASE("D2048", KF_LARGE, .H = 4, .Sq = 64, .Sk = 64, .D = 2048, .R = 2048),
    KF_CASE("D80-R20", KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = 80, .R = 20),
    KF_CASE("D128-R64", KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = 128, .R = 64),
    KF_CASE("D512-R128", KF_LARGE, .H = 4, .Sq = 64, .Sk = 64, .D = 512, .R = 128),
    KF_CASE("D2048-R128", KF_LARGE, .H = 4, .Sq = 64, .Sk = 64, .D = 2048, .R = 128),
    KF_CASE("head", KF_VERIFY_ONLY, .Sq = 64, .Sk = 64, .D = 2048, .R = 128),
    KF_CASE("S1", KF_VERIFY_ONLY, .H = 4, .D = 64, .R = 64),
    KF_CASE("S63", KF_VERIFY_ONLY, .H = 4, .Sq = 63, .Sk = 63, .D = 80, .R = 20),
    KF_CASE("S65", KF_VERIFY_ONLY, .H = 4, .Sq = 65, .Sk = 65, .D = 64, .R = 64),
    KF_CASE("S200", KF_VERIFY_ONLY, .H = 2, .Sq = 200, .Sk = 200, .D = 80, .R = 80, .causal = true),
    KF_CASE("few", KF_VERIFY_ONLY, .H = 2, .Sq = 3, .Sk = 333, .D = 64, .R = 16, .causal = true),
    // More keys than a block has threads.
    KF_CASE("long-D128", KF_VERIFY_ONLY, .H = 2, .Sq = 3, .Sk = 300, .D = 128, .R = 128,
            .causal = true),
    KF_CASE("far", KF_VERIFY_ONLY, .H = 2, .Sq = 19, .Sk = 45, .D = 128, .R = 128, .pos0 = 131027),
    KF_CASE("steep", KF_VERIFY_ONLY | KF_STEEP, .H = 4, .Sq = 33, .Sk = 33, .D = 64, .R = 64,
            .causal = true),
    // The largest score of a thread is not its last one.
    KF_CASE("steep-D128", KF_VERIFY_ONLY | KF_STEEP, .H = 2, .Sq = 7, .Sk = 600, .D = 128, .R = 128,
            .causal = true),
    KF_CASE("steep-1", KF_VERIFY_ONLY | KF_STEEP, .H = 64, .D = 64, .R = 64),
    KF_CASE("tails", KF_VERIFY_ONLY, .H = 2, .Sq = 3, .Sk = 41, .D = 272, .R = 264, .causal = true,
            .pos0 = 500),
    // More pairs, and more groups of four pairs, than a block has threads.
    KF_CASE("wide", KF_VERIFY_ONLY, .Sq = 3, .Sk = 11, .D = 2064, .R = 2056, .causal = true),
    KF_CASE("D70", KF_VERIFY_ONLY, .H = 2, .Sq = 3, .Sk = 41, .D = 70, .R = 32),
};

static const kf_timing ladder_timings[] = {{KF_GRAPH, KF_WARM}, {KF_STREAM, KF_WARM}};

/* Eight times as many heads: each multiprocessor then has as much work as the ladder's cases
 * give to each one of a GPU with an eighth of the multiprocessors. And positions on both sides
 * of 2^20: attention does not change when all positions are shifted alike. */
static const kf_case ladder_more_heads[] = {
    KF_CASE("D128-H32", KF_LARGE, .H = 32, .Sq = 64, .Sk = 64, .D = 128, .R = 128),
    KF_CASE("D512-H32", KF_LARGE, .H = 32, .Sq = 64, .Sk = 64, .D = 512, .R = 512),
    KF_CASE("D2048-H32", KF_LARGE, .H = 32, .Sq = 64, .Sk = 64, .D = 2048, .R = 2048),
    KF_CASE("million", KF_VERIFY_ONLY, .H = 2, .Sq = 3, .Sk = 21, .D = 128, .R = 128,
            .pos0 = (1 << 20) - 9),
};

/* Preferred share of shared memory, in percent, of variants with a small L1 cache. Such variants
 * show the effect of the L1 cache where many blocks share it. */
enum { ALL_TO_SHARED_MEMORY = 100 };

static inline bool ladder_many_heads(const kf_case *c)
{
    return c->shape.H >= 32;
}

enum { LADDER_CASES = sizeof ladder_cases / sizeof *ladder_cases, OWN_CASES = 8 };

/* The main function of a step. The program's cases follow those of the ladder, OWN_CASES at
 * most. Fields that the program leaves out come from the ladder. */
static inline int ladder_main(const kf_program *program, int argc, char **argv)
{
    kf_case cases[LADDER_CASES + OWN_CASES];
    kf_program whole = *program;
    for (int i = 0; i < LADDER_CASES + program->n_cases; i++) {
        cases[i] = i < LADDER_CASES ? ladder_cases[i] : program->cases[i - LADDER_CASES];
    }
    whole.cases = cases;
    whole.n_cases = LADDER_CASES + program->n_cases;
    whole.block = THREADS;
    whole.setup = program->setup ? program->setup : ladder_setup;
    whole.reference = kf_attention_reference;
    whole.cost = kf_attention_cost;
    whole.timings = program->timings ? program->timings : ladder_timings;
    whole.n_timings = program->timings ? program->n_timings : KF_COUNT_OF(ladder_timings);
    return kf_main(&whole, argc, argv);
}
