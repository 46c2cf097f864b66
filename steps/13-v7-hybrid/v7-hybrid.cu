/* 13-v7-hybrid: V7, keys rotated once by their own kernel, queries where used
 *
 * Grows from: 05-v1-table, at most 40 % of its story new
 * Architecture: 75
 * Profile: kernels=attention --case D2048-R128 --case D2048-R128-H12
 *
 * Idea     A query is used by one block, a key by all the blocks of its head. So the query is
 *          rotated inside attention, while it is staged, and the keys by a kernel of their own,
 *          before. The dot product loads 16 bytes at a time, 64 keys at a time. Two launches.
 * Predict  Fusion saves a launch and one round trip of q: 1.3 us at D = 128, 2.3 at 2048. Loads of
 *          16 bytes are worth as much as in step 06: 2.5 times as fast at D = 2048. So V7 wins at
 *          every D, and nearly all of its gain is the width of the loads.
 * Outcome  If both kernels are compiled with __launch_bounds__(256, 2), fusion and loads of 16
 *          bytes save what was predicted. Without it nvcc keeps few loads in flight: V7 gains
 *          less, loses to v7-unfused at D = 2048, and to separate at D = 8 and 16. E1's
 *          program loses on an H200 at D = 2048. v7-serial, with one load of v in flight, has its
 *          times.
 */
#include "cuda/float4.cuh"
#include "cuda/rope_ladder.cuh"

// Functions that the kernel calls, in this order. Their definitions, below, explain them.
static __device__ __forceinline__ void rotate_query(attention_args a, block_rows own, float *query);
template <int KEYS>
static __device__ __forceinline__ float score_keys(attention_args a, block_rows own,
                                                   const float *query, float *score);

// snippet: kernel
// q [H][Sq][D] not rotated, k [H][Sk][D] rotated, v [H][Sk][D], cosine and sine [Sk][R/2] -> o
// [H][Sq][D]; grid (Sq, H), THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: 4 D Sk flops per block; reads k and v of one head once per block; one Q rotation
static __global__ void __launch_bounds__(THREADS) attention_v7(attention_args a)
{
    extern __shared__ float shared[];
    __shared__ float scratch[THREADS];
    float *query = shared;
    float *score = shared + a.D;
    const block_rows own = rows_of_block(a);

    rotate_query(a, own, query);
    __syncthreads();
    const float row_max = score_keys<64>(a, own, query, score);
    softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
}
// end snippet: kernel

// same as step 05
// q [D] of the block's query -> query [D] in shared memory, rotated
// cost: one rotation per block
static __device__ __forceinline__ void rotate_query(attention_args a, block_rows own, float *query)
{
    const int half = a.R / 2;
    const float *cosine = a.cosine + (int64_t)own.position * half;
    const float *sine = a.sine + (int64_t)own.position * half;
    COUNT("Q rotations", threadIdx.x == 0 && a.R > 0);
    for (int t = threadIdx.x; t < a.D - half; t += blockDim.x) {
        if (t < half) {
            const float c = cosine[t];
            const float s = sine[t];
            COUNT("table loads", 2);
            COUNT("element rotations", 2);
            query[t] = own.q[t] * c - own.q[t + half] * s;
            query[t + half] = own.q[t + half] * c + own.q[t] * s;
        } else {
            query[t + half] = own.q[t + half];
        }
    }
}

// snippet: score-keys
// query [D] in shared memory, k [Sk][D], both rotated -> score [visible]; KEYS keys at a time, one
// per thread. D is a multiple of 4. Returns the thread's row_max.
// cost: D / 4 loads of 16 bytes per key; each load of a warp takes 32 wavefronts if D is a multiple
// of 32
template <int KEYS>
static __device__ __forceinline__ float score_keys(attention_args a, block_rows own,
                                                   const float *query, float *score)
{
    float row_max = -INFINITY;
    for (int first = 0; first < own.visible; first += KEYS) {
        const int j = first + threadIdx.x;
        if (threadIdx.x >= KEYS || j >= own.visible) {
            continue;
        }
        const float4 *query4 = (const float4 *)query;
        const float4 *key4 = (const float4 *)(own.k + (int64_t)j * a.D);
        float dot = 0.0f;
        // solution: dot -- the dot product of query and key j, 16 bytes per load
        // hint: query4 and key4 point to the query and to key j as elements of type float4. How
        //     many such elements has a row of D floats, if D is a multiple of 4?
        // hint: A loop over the a.D / 4 elements takes one float4 of the query and one of the key
        //     at a time, and adds the sum of their four products to dot. The query, in shared
        //     memory, is read 16 bytes at a time as well.
        // hint: `dot_four(x, y)` of cuda/float4.cuh returns the sum of the four products of two
        //     values of type float4. With `query4[d]` and `key4[d]` as its arguments one line is
        //     left in the loop.
        for (int d = 0; d < a.D / 4; d++) {
            dot += dot_four(query4[d], key4[d]);
        }
        // end solution: dot
        score[j] = dot * a.scale;
        row_max = fmaxf(row_max, score[j]);
    }
    return row_max;
}
// end snippet: score-keys

static void launch_v7(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments(run, "q", "k_rotated", run->shape.R);
    launch_rope_k(run, stream);
    attention_v7<<<dim3(a.Sq, run->shape.H), THREADS, query_and_scores(a), stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

// --- Variants that explain -----------------------------------------------------------------------

// snippet: serial
// As softmax_times_v, but with one load of v in flight at a time.
static __device__ __forceinline__ void softmax_times_v_serially(const float *score, float row_max,
                                                                const float *v, float *o,
                                                                int visible, int D, float *scratch)
{
    row_max = block_max(row_max, scratch);

    float row_sum = 0.0f;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        row_sum += expf(score[j] - row_max);
    }
    row_sum = block_sum(row_sum, scratch);

    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        float out = 0.0f;
#pragma unroll 1
        for (int j = 0; j < visible; j++) {
            out += expf(score[j] - row_max) * v[(int64_t)j * D + d];
        }
        o[d] = out / row_sum;
    }
}
// end snippet: serial

// V7. A variant overrides what it does in another way.
struct v7 {
    static const bool ROTATES_QUERY = true;
    static const int BLOCKS = 0; // that it is compiled for, per multiprocessor; 0: unspecified
    static const bool SERIAL = false;
    static __device__ __forceinline__ float score(attention_args a, block_rows own,
                                                  const float *query, float *score)
    {
        return score_keys<64>(a, own, query, score);
    }
};

struct v7_scalar : v7 {
    static __device__ __forceinline__ float score(attention_args a, block_rows own,
                                                  const float *query, float *score)
    {
        return score_rotated_keys(a, own, query, score);
    }
};

struct v7_32 : v7 {
    static __device__ __forceinline__ float score(attention_args a, block_rows own,
                                                  const float *query, float *score)
    {
        return score_keys<32>(a, own, query, score);
    }
};

struct v7_two_blocks : v7 {
    static const int BLOCKS = 2;
};

struct v7_serial : v7 {
    static const bool SERIAL = true;
};

struct v7_unfused : v7 {
    static const bool ROTATES_QUERY = false;
};

struct v7_unfused_two_blocks : v7_unfused {
    static const int BLOCKS = 2;
};

template <typename way>
static __global__ void __launch_bounds__(THREADS, way::BLOCKS) attention_by(attention_args a)
{
    extern __shared__ float shared[];
    __shared__ float scratch[THREADS];
    float *query = shared;
    float *score = shared + a.D;
    const block_rows own = rows_of_block(a);

    if (way::ROTATES_QUERY) {
        rotate_query(a, own, query);
    } else {
        for (int d = threadIdx.x; d < a.D; d += blockDim.x) {
            query[d] = own.q[d];
        }
    }
    __syncthreads();
    const float row_max = way::score(a, own, query, score);
    if (way::SERIAL) {
        softmax_times_v_serially(score, row_max, own.v, own.o, own.visible, a.D, scratch);
    } else {
        softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
    }
}

template <typename way>
static void launch_by(const kf_run *run, cudaStream_t stream)
{
    attention_args a = arguments_rotated(run);
    if (way::ROTATES_QUERY) {
        a = arguments(run, "q", "k_rotated", run->shape.R);
    } else {
        launch_rope_q(run, stream);
    }
    launch_rope_k(run, stream);
    attention_by<way><<<dim3(a.Sq, run->shape.H), THREADS, query_and_scores(a), stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

// --- Tables --------------------------------------------------------------------------------------

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate},
    {.name = "v7",
     .about = "k rotated by its own kernel, q while it is staged, 16 bytes per load",
     .launch = launch_v7,
     .applies = ladder_wide_loads},
    {.name = "v7-scalar",
     .about = "v7, 4 bytes per load: what is left is fusion",
     .launch = launch_by<v7_scalar>,
     .applies = ladder_counts_wide_loads},
    {.name = "v7-unfused",
     .about = "v7 with q rotated by its own kernel: no fusion",
     .launch = launch_by<v7_unfused>,
     .applies = ladder_counts_wide_loads},
    {.name = "v7-two-blocks",
     .about = "v7 with __launch_bounds__(256, 2)",
     .launch = launch_by<v7_two_blocks>,
     .applies = ladder_explains_wide_loads},
    {.name = "v7-unfused-two-blocks",
     .about = "v7-unfused with __launch_bounds__(256, 2)",
     .launch = launch_by<v7_unfused_two_blocks>,
     .applies = ladder_explains_wide_loads},
    {.name = "v7-serial",
     .about = "v7, one load of v in flight at a time",
     .launch = launch_by<v7_serial>,
     .applies = ladder_explains_wide_loads},
    {.name = "v7-32",
     .about = "v7, 32 keys at a time",
     .launch = launch_by<v7_32>,
     .applies = ladder_explains_wide_loads},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}, {KF_STREAM, KF_WARM}, {KF_CALL, KF_WARM}};

// The grid of the ladder is 256 blocks: at most two on each of 132 multiprocessors. With 12 heads
// it is six. D44: a multiple of 4 and not of 8.
static const kf_case own_cases[] = {
    KF_CASE("D2048-R128-H12", KF_LARGE, .H = 12, .Sq = 64, .Sk = 64, .D = 2048, .R = 128),
    KF_CASE("D44", KF_VERIFY_ONLY, .H = 2, .Sq = 3, .Sk = 41, .D = 44, .R = 20),
};

static const kf_question questions[] = {
    {.text = "For one head of 64 queries and keys, D = 2048, how many times as many sectors does "
             "separate load as v7 (16-byte loads of k)?",
     .figure = "global_ld_sectors",
     .case_name = "head",
     .variant = "separate",
     .over = "v7"},
    {.text = "At D = 2048 and R = 128, v7-scalar rotates q inside attention and keeps loads of 4 "
             "bytes. How many times as fast is v7-scalar as separate?",
     .figure = "median_us",
     .case_name = "D2048-R128",
     .variant = "separate",
     .over = "v7-scalar"},
    {.text = "At D = 128 and R = 64, v7-unfused has three launches, v7 has two, and both load 16 "
             "bytes of k. How many times as fast is v7 as v7-unfused?",
     .figure = "median_us",
     .case_name = "D128-R64",
     .variant = "v7-unfused",
     .over = "v7"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "13-v7-hybrid",
        .title = "V7, keys rotated once by their own kernel, queries where used",
        KF_TABLES(own_cases, variants),
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
    };
    return ladder_main(&program, argc, argv);
}
