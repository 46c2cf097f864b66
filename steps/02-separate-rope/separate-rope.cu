/* 02-separate-rope: the baseline of Part II, RoPE on Q, RoPE on K, then attention
 *
 * Follows: 01-naive-attention
 * Architecture: 75
 * Tests: case neox is counted in all orders; clang++ counts other requests
 *
 * Idea     Rotate q and k with one small kernel each, then run attention on the rotated copies.
 *          Attention is one kernel now: a block of 256 threads owns one query, and its row of
 *          scores never leaves shared memory. Every fused version has to beat this one.
 * Predict  One launch less saves 0.7 to 1.3 us when a graph replays the launches, and 1.6 us from a
 *          stream. When the host waits for every call, nothing hides its time for a launch: 3.4 us.
 *          At D = 2048 q, k, v and o have 2 MiB each, and the two RoPE kernels take about 3.5 us.
 * Outcome  Right, within a fifth. See chapter 1.
 */
#include "cuda/attention_args.cuh"
#include "cuda/count.cuh"
#include "problems/attention.h"
#include "problems/rope.h"

// snippet: rope
// x [D], cosine and sine [R/2] -> y [D]. One thread per pair, and per dimension not rotated.
// cost: 8 bytes per element, 8 per pair of the table; 6 flops per pair. x is loaded again for
// y[t + half], from the L1: the compiler must assume that the store to y[t] changed it
__device__ void rope_row(const float *x, const float *cosine, const float *sine, float *y, int D,
                         int R)
{
    const int half = R / 2;
    COUNT("row rotations", threadIdx.x == 0);
    for (int t = threadIdx.x; t < D - half; t += blockDim.x) {
        // solution: rotate -- load cosine, sine once, rotate (x[t], x[t + half]); copy x from R on
        // hint: t counts the half = R / 2 pairs first, and then the D - R dimensions that are not
        //     rotated. Which element of x does a t of half or more stand for?
        // hint: A pair (a, b) whose angle has the cosine c and the sine s becomes
        //     `(a c - b s, b c + a s)`. Pair t has the cosine `cosine[t]` and the sine `sine[t]`.
        //     A t of half or more stands for element t + half, so that t = half is element R.
        // hint: Declare c and s: the compiler must assume that a store to y changes the table, and
        //     would load `sine[t]` again after it. `y[t] = x[t] * c - x[t + half] * s;` is the
        //     first of the two lines of a rotated pair. The other case is one assignment.
        if (t < half) {
            const float c = cosine[t];
            const float s = sine[t];
            y[t] = x[t] * c - x[t + half] * s;
            y[t + half] = x[t + half] * c + x[t] * s;
        } else {
            y[t + half] = x[t + half];
        }
        // end solution: rotate
    }
}

// x, y [H][S][D], grid (S, H). Row i of x is rotated by row first + i of cosine and sine [P][R/2].
__global__ void rope(const float *x, const float *cosine, const float *sine, float *y, int S, int D,
                     int R, int first)
{
    const int64_t row = ((int64_t)blockIdx.y * S + blockIdx.x) * D;
    const int64_t angles = (int64_t)(first + blockIdx.x) * (R / 2);
    rope_row(x + row, cosine + angles, sine + angles, y + row, D, R);
}
// end snippet: rope

// snippet: tree
// One value per thread -> the maximum (or the sum) over the block, for every thread. values
// [THREADS] is shared memory, free before and after the call. In the first round 128 threads
// combine their values with the values of 128 more threads. The next round needs 64 threads, and so
// on.
// cost: 10 barriers for 256 threads
template <bool is_sum>
__device__ float block_tree(float v, float *values)
{
    const int t = threadIdx.x;
    values[t] = v;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            const float other = values[t + half];
            values[t] = is_sum ? values[t] + other : fmaxf(values[t], other);
        }
    }
    __syncthreads();
    v = values[0];
    __syncthreads(); // values is free again: all have read it
    return v;
}
// end snippet: tree

// snippet: attention
// Functions that the kernel calls, in this order. Their definitions, below, explain them.
static __device__ __forceinline__ float score_keys(attention_args a, block_rows own,
                                                   const float *query, float *score);
static __device__ __forceinline__ void softmax_times_v(const float *score, float row_max,
                                                       const float *v, float *o, int visible, int D,
                                                       float *scratch);

// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D] -> o [H][Sq][D]
// grid (Sq, H), THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: per block 4 D Sk flops and one read of a head's k and v; Sk exponentials per column
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
    const float row_max = score_keys(a, own, query, score);
    softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
}

// query [D], k [Sk][D] -> score [visible], one key per thread: with 64 keys, 192 of the 256 threads
// are idle here. Returns the thread's row_max.
// cost: 2 D flops per key
static __device__ __forceinline__ float score_keys(attention_args a, block_rows own,
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

// score [visible] and each thread's row_max, v [Sk][D] -> o [D]: softmax and the weighted sum of
// the values, one column per thread. Each thread computes the probabilities with its own copy of
// row_max and row_sum. The result of a query that sees no key is 0.
// cost: Sk exponentials and 2 Sk flops per column
static __device__ __forceinline__ void softmax_times_v(const float *score, float row_max,
                                                       const float *v, float *o, int visible, int D,
                                                       float *scratch)
{
    row_max = block_tree<false>(row_max, scratch);

    float row_sum = 0.0f;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        row_sum += expf(score[j] - row_max);
    }
    row_sum = block_tree<true>(row_sum, scratch);

    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        float out = 0.0f;
        for (int j = 0; j < visible; j++) {
            out += expf(score[j] - row_max) * v[(int64_t)j * D + d];
        }
        o[d] = visible > 0 ? out / row_sum : 0.0f;
    }
}
// end snippet: attention

static void launch_attention(const kf_run *run, attention_args a, cudaStream_t stream)
{
    attention<<<dim3(a.Sq, run->shape.H), THREADS, query_and_scores(a), stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

// snippet: separate
static void launch_separate(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const float *cosine = kf_f32(run, "cos");
    const float *sine = kf_f32(run, "sin");
    rope<<<dim3(s.Sq, s.H), THREADS, 0, stream>>>(
        kf_f32(run, "q"), cosine, sine, kf_f32(run, "q_rotated"), s.Sq, s.D, s.R, s.Sk - s.Sq);
    CUDA_CHECK_LAUNCH();
    rope<<<dim3(s.Sk, s.H), THREADS, 0, stream>>>(kf_f32(run, "k"), cosine, sine,
                                                  kf_f32(run, "k_rotated"), s.Sk, s.D, s.R, 0);
    CUDA_CHECK_LAUNCH();
    launch_attention(run, arguments_rotated(run), stream);
}
// end snippet: separate

// --- Variants that explain -----------------------------------------------------------------------

// Both rotations in one launch: grid (Sq + Sk, H). The first Sq blocks of a head rotate q.
__global__ void rope_both(const float *q, const float *k, const float *cosine, const float *sine,
                          float *q_rotated, float *k_rotated, int Sq, int Sk, int D, int R,
                          int first)
{
    const bool is_query = (int)blockIdx.x < Sq;
    const int S = is_query ? Sq : Sk;
    const int i = is_query ? blockIdx.x : blockIdx.x - Sq;
    const int64_t row = ((int64_t)blockIdx.y * S + i) * D;
    const int64_t angles = (int64_t)(is_query ? first + i : i) * (R / 2);
    rope_row((is_query ? q : k) + row, cosine + angles, sine + angles,
             (is_query ? q_rotated : k_rotated) + row, D, R);
}

static void launch_two(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    rope_both<<<dim3(s.Sq + s.Sk, s.H), THREADS, 0, stream>>>(
        kf_f32(run, "q"), kf_f32(run, "k"), kf_f32(run, "cos"), kf_f32(run, "sin"),
        kf_f32(run, "q_rotated"), kf_f32(run, "k_rotated"), s.Sq, s.Sk, s.D, s.R, s.Sk - s.Sq);
    CUDA_CHECK_LAUNCH();
    launch_attention(run, arguments_rotated(run), stream);
}

// Attention alone, at R = 0, to see what the two rotations cost in addition.
static void launch_alone(const kf_run *run, cudaStream_t stream)
{
    launch_attention(run, arguments_to_rotate(run), stream);
}

// --- Tables --------------------------------------------------------------------------------------

static bool without_rope(const kf_case *c)
{
    return c->shape.R == 0;
}

static void setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t q[] = {s.B, s.H, s.Sq, s.D};
    const int64_t k[] = {s.B, s.H, s.Sk, s.D};
    kf_attention_setup(run);
    kf_rope_tables(run);
    kf_scratch(run, "q_rotated", "BHSD", KF_F32, q);
    kf_scratch(run, "k_rotated", "BHSD", KF_F32, k);
}

#define FULL(n) KF_CASE("D" #n, KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = n, .R = n)
#define PARTIAL(n, r) KF_CASE("D" #n "-R" #r, KF_TIMED, .H = 4, .Sq = 64, .Sk = 64, .D = n, .R = r)

static const kf_case cases[] = {
    FULL(8),
    FULL(16),
    FULL(32),
    FULL(64),
    FULL(128),
    FULL(256),
    FULL(512),
    FULL(1024),
    FULL(2048),
    PARTIAL(128, 64),
    PARTIAL(512, 128),
    PARTIAL(2048, 128),
    PARTIAL(128, 0),
    PARTIAL(512, 0),
    PARTIAL(2048, 0),
    // Odd shapes: D = 80 with a quarter rotated as in GPT-NeoX; few queries over many keys; a mask;
    // and the last position of a 131072-token context.
    KF_CASE("neox", KF_VERIFY_ONLY, .H = 3, .Sq = 37, .Sk = 37, .D = 80, .R = 20, .causal = true),
    KF_CASE("decode", KF_VERIFY_ONLY, .H = 2, .Sq = 3, .Sk = 333, .D = 64, .R = 64, .causal = true),
    KF_CASE("far", KF_VERIFY_ONLY, .H = 2, .Sq = 19, .Sk = 45, .D = 128, .R = 128, .pos0 = 131027),
    // More keys than a block has threads.
    KF_CASE("long-D128", KF_VERIFY_ONLY, .H = 2, .Sq = 3, .Sk = 300, .D = 128, .R = 128,
            .causal = true),
    KF_CASE("steep-D134", KF_VERIFY_ONLY | KF_STEEP, .H = 2, .Sq = 7, .Sk = 33, .D = 134, .R = 134,
            .causal = true),
    KF_CASE("steep", KF_VERIFY_ONLY | KF_STEEP, .H = 4, .Sq = 33, .Sk = 33, .D = 64, .R = 64,
            .causal = true),
    // The first four queries of a head see no key.
    KF_CASE("no-key", KF_VERIFY_ONLY, .H = 2, .Sq = 9, .Sk = 5, .D = 40, .causal = true),
    KF_CASE("one", KF_VERIFY_ONLY, .D = 8, .R = 8, .pos0 = 5),
};

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate},
    {.name = "two-launches",
     .about = "both rotations in one launch, then attention",
     .launch = launch_two},
    {.name = "attention-alone",
     .about = "one launch, where there is nothing to rotate (R = 0)",
     .launch = launch_alone,
     .applies = without_rope},
};

static const kf_timing timings[] = {
    {KF_GRAPH, KF_WARM}, {KF_GRAPH, KF_COLD}, {KF_STREAM, KF_WARM}, {KF_CALL, KF_WARM}};

static const kf_question questions[] = {
    {.text = "How many barriers does a block of the kernel attention need in separate: one behind "
             "the load of its query, and two trees over 256 threads?",
     .figure = "barriers/blocks",
     .case_name = "D128",
     .variant = "separate",
     .kernel = "attention"},
    {.text = "With 4 heads of 64 queries and keys, D = 2048, how many times as fast is "
             "attention-alone (without the two kernels of RoPE) as separate?",
     .figure = "median_us",
     .case_name = "D2048-R0",
     .variant = "separate",
     .over = "attention-alone"},
    {.text = "At D = 8, on the clock call, how many times as fast is two-launches as separate "
             "(three launches)?",
     .figure = "median_us",
     .case_name = "D8",
     .variant = "separate",
     .over = "two-launches",
     .timing = &timings[3]},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "02-separate-rope",
        .title = "the baseline of Part II, RoPE on Q, RoPE on K, then attention",
        KF_TABLES(cases, variants),
        .block = THREADS,
        .setup = setup,
        .reference = kf_attention_reference,
        .cost = kf_attention_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
