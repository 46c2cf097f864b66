/* 09-v4-frequencies: V4, frequencies in shared memory, and all threads at one key
 *
 * Grows from: 08-v3-multi-query, at most 47 % of its story new
 * Architecture: 75
 * Profile: kernels=attention warm --case D2048
 *
 * Idea     Two changes, timed apart and together. The frequencies are the same for every key: a
 *          block computes them once, into shared memory, and powf leaves the inner loop. And all
 *          256 threads rotate pairs of one key, where V3 gave a thread a key of its own and left
 *          192 threads idle; then they have to add up what each has found, at every key.
 * Predict  Without powf a thread's loop should take two thirds of its time at every D. A key that
 *          all threads share takes as long at D = 512 as at D = 8, for a load, the shuffles and the
 *          barrier: slower than V3 up to D = 128, faster from 512 on. A warp per key needs no
 *          barrier and has eight keys in flight: it should be the fastest at every D.
 * Outcome  Precomputed frequencies gain at every D = R. A key that all threads share: slower than
 *          V3 up to D = 128 and faster from 512 on, as predicted. We think that it loses
 *          because 64 keys are added up one after the other. A barrier itself costs little
 *          (v4-barriers). A warp per key as the fastest is refuted: at D = 8, 16, 32 and 80 a
 *          thread per key is faster.
 */
#include "cuda/attention_rows.cuh"
#include "cuda/rope_ladder.cuh"

enum { QUERIES = 4, WARPS = THREADS / 32 }; // per block

// Functions that the kernel calls, in this order. Their definitions, below, explain them.
static __device__ __forceinline__ void precompute_frequencies(float *frequency, int R);
static __device__ __forceinline__ void rotate_queries(attention_args a, block_rows own,
                                                      const float *frequency, float *query);
static __device__ __noinline__ void score_keys(attention_args a, block_rows own, const float *query,
                                               const float *frequency, float *partial,
                                               float *score);

// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D] -> o [H][Sq][D]
// grid (Sq / QUERIES rounded up, H), THREADS threads,
// QUERIES x (D + Sk) + R/2 floats of dynamic shared memory
// cost: 4 D Sk flops per query; a block rotates Sk keys, R/2 calls of powf; reads k once per
// block, and v once per query
static __global__ void __launch_bounds__(THREADS) attention_v4(attention_args a)
{
    extern __shared__ float shared[];
    __shared__ float scratch[THREADS];
    float *query = shared;
    float *score = shared + QUERIES * a.D;
    float *frequency = score + QUERIES * a.Sk;
    const block_rows own = rows_of_block(a, QUERIES);

    precompute_frequencies(frequency, a.R);
    rotate_queries(a, own, frequency, query);
    __syncthreads();
    score_keys(a, own, query, frequency, scratch, score);
    __syncthreads(); // from here on a thread reads what other threads wrote
    softmax_times_v_of_rows(score, own.v, own.o, own.rows, own.visible, a.causal, a.Sk, a.D,
                            scratch);
}

// snippet: frequency
// -> frequency [R/2] in shared memory: the angle of pair i is position * frequency[i]. A thread may
// read its own elements at once, those of others after a barrier.
// cost: R/2 calls of powf per block
static __device__ __forceinline__ void precompute_frequencies(float *frequency, int R)
{
    for (int i = threadIdx.x; i < R / 2; i += blockDim.x) {
        frequency[i] = powf(10000.0f, -2.0f * (float)i / (float)R);
    }
}
// end snippet: frequency

// q [rows][D] of the block's queries -> query [QUERIES][D] in shared memory, rotated. Missing rows
// are zero: the last block of a head may have fewer. frequency [R/2]: a thread reads only elements
// that it has written itself.
// cost: one rotation per query
static __device__ __forceinline__ void rotate_queries(attention_args a, block_rows own,
                                                      const float *frequency, float *query)
{
    const int half = a.R / 2;
    COUNT("Q rotations", threadIdx.x == 0 && a.R > 0 ? own.rows : 0);
    for (int t = threadIdx.x; t < a.D - half; t += blockDim.x) {
        for (int n = 0; n < QUERIES; n++) {
            const float *from = own.q + (int64_t)n * a.D;
            float *to = query + n * a.D;
            if (t >= half) {
                to[t + half] = n < own.rows ? from[t + half] : 0.0f;
            } else if (n < own.rows) {
                float c, s;
                __sincosf((float)(a.pos0 + own.position + n) * frequency[t], &s, &c);
                COUNT("element rotations", 2);
                to[t] = from[t] * c - from[t + half] * s;
                to[t + half] = from[t + half] * c + from[t] * s;
            } else {
                to[t] = 0.0f;
                to[t + half] = 0.0f;
            }
        }
    }
}

// snippet: add-up
// dot [QUERIES] of each thread, summed over the block -> score [QUERIES][Sk] of key j. partial
// [2][WARPS][QUERIES] in shared memory: key j uses partial[j % 2]. busy: the number of threads that
// have a pair.
// cost: 6 shuffles in every warp that is busy, and a barrier
static __device__ __forceinline__ void add_up(attention_args a, const float *dot, int j, int busy,
                                              float *partial, float *score)
{
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int warps = min(WARPS, (busy + 31) / 32);
    // solution: barrier -- sum over the warps -> score: one barrier, two halves of partial
    // hint: A sum over the block is a sum over each warp, which needs no barrier, and then a sum
    //     over the warps. What does each warp leave in partial, and which threads add that up for
    //     the QUERIES scores?
    // hint: Key j uses the half of partial that begins at element `j % 2 * QUERIES * WARPS`.
    //     `warp_sum_of_four(dot)` returns the sum of query lane / 8 to each lane, so one lane of
    //     every eight stores it, as the element of this warp and this query. Only warps whose
    //     number is below warps have anything to add.
    // hint: The barrier stands between these stores and the loads, outside any condition. After it
    //     each of the first QUERIES threads adds up the elements of its query,
    //     `partial[w * QUERIES + threadIdx.x]` for each w < warps, and stores the sum times
    //     a.scale in `score[threadIdx.x * a.Sk + j]`.
    // Key j + 2 writes here again. The barrier of key j + 1 stands between.
    partial += j % 2 * QUERIES * WARPS;
    if (warp < warps) {
        const float sum = warp_sum_of_four(dot);
        if (lane % 8 == 0) {
            partial[warp * QUERIES + lane / 8] = sum;
        }
    }
    __syncthreads();
    if (threadIdx.x < QUERIES) {
        float sum = 0.0f;
        for (int w = 0; w < warps; w++) {
            sum += partial[w * QUERIES + threadIdx.x];
        }
        score[threadIdx.x * a.Sk + j] = sum * a.scale;
    }
    // end solution: barrier
}
// end snippet: add-up

// snippet: score-keys
// query [QUERIES][D] rotated, k [Sk][D] not rotated, frequency [R/2] -> score [QUERIES][Sk], one
// key after the other, for all keys that the block's last query sees. A thread has every 256th
// pair.
// cost: a block rotates Sk keys, a head Sq Sk / QUERIES; a barrier per key
static __device__ __noinline__ void score_keys(attention_args a, block_rows own, const float *query,
                                               const float *frequency, float *partial, float *score)
{
    const int half = a.R / 2;
    const int visible = a.causal ? own.visible + own.rows - 1 : a.Sk;
    for (int j = 0; j < visible; j++) {
        const float *key = own.k + (int64_t)j * a.D;
        float dot[QUERIES] = {};
        COUNT("K rotations", threadIdx.x == 0 && a.R > 0);
        for (int i = threadIdx.x; i < half; i += THREADS) {
            const float x = key[i];
            const float y = key[i + half];
            float c, s;
            __sincosf((float)(a.pos0 + j) * frequency[i], &s, &c);
            COUNT("element rotations", 2);
            const float lower = x * c - y * s;
            const float upper = y * c + x * s;
#pragma unroll
            for (int n = 0; n < QUERIES; n++) {
                dot[n] += query[n * a.D + i] * lower;
                dot[n] += query[n * a.D + i + half] * upper;
            }
        }
        for (int d = a.R + threadIdx.x; d < a.D; d += THREADS) {
            const float x = key[d];
#pragma unroll
            for (int n = 0; n < QUERIES; n++) {
                dot[n] += query[n * a.D + d] * x;
            }
        }
        add_up(a, dot, j, max(half, a.D - a.R), partial, score);
    }
}
// end snippet: score-keys

static void launch_v4(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_to_rotate(run);
    const dim3 grid((a.Sq + QUERIES - 1) / QUERIES, run->shape.H);
    const size_t shared = query_and_scores(a, QUERIES) + a.R / 2 * sizeof(float);
    attention_v4<<<grid, THREADS, shared, stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

// --- Variants that explain -----------------------------------------------------------------------

// The number of threads that share a key, and the source of the angles.
enum crew_size { ONE_THREAD = 1, ONE_WARP = 32, ALL_THREADS = THREADS };
enum powers { POWF, PRECOMPUTED };

static __device__ __forceinline__ float frequency_of(int i, int R)
{
    return powf(10000.0f, -2.0f * (float)i / (float)R);
}

// As rotate_queries, but with a powf for every pair of every query.
static __device__ __forceinline__ void rotate_queries_by_powf(attention_args a, block_rows own,
                                                              float *query)
{
    const int half = a.R / 2;
    COUNT("Q rotations", threadIdx.x == 0 && a.R > 0 ? own.rows : 0);
    for (int t = threadIdx.x; t < a.D - half; t += blockDim.x) {
        for (int n = 0; n < QUERIES; n++) {
            const float *from = own.q + (int64_t)n * a.D;
            float *to = query + n * a.D;
            if (t >= half) {
                to[t + half] = n < own.rows ? from[t + half] : 0.0f;
            } else if (n < own.rows) {
                float c, s;
                __sincosf((float)(a.pos0 + own.position + n) * frequency_of(t, a.R), &s, &c);
                COUNT("element rotations", 2);
                to[t] = from[t] * c - from[t + half] * s;
                to[t + half] = from[t + half] * c + from[t] * s;
            } else {
                to[t] = 0.0f;
                to[t + half] = 0.0f;
            }
        }
    }
}

// As add_up, but over the threads that share key j.
// cost: ONE_THREAD: nothing; ONE_WARP: 6 shuffles; ALL_THREADS: as add_up
template <crew_size crew>
static __device__ __forceinline__ void add_up_by(attention_args a, const float *dot, int j,
                                                 int busy, float *partial, float *score)
{
    if (crew == ALL_THREADS) {
        add_up(a, dot, j, busy, partial, score);
    } else if (crew == ONE_WARP) {
        const int lane = threadIdx.x % 32;
        const float sum = warp_sum_of_four(dot);
        if (lane % 8 == 0) {
            score[lane / 8 * a.Sk + j] = sum * a.scale;
        }
    } else {
#pragma unroll
        for (int n = 0; n < QUERIES; n++) {
            score[n * a.Sk + j] = dot[n] * a.scale;
        }
    }
}

// As score_keys. The threads that share a key are a crew. A crew has `keys` keys in flight, with
// their loads. Past the last key it rotates the last one again, and stores nothing. idle: barriers
// per key that nothing needs.
template <crew_size crew, powers from, int keys, int idle>
static __device__ __noinline__ void score_keys_by(attention_args a, block_rows own,
                                                  const float *query, const float *frequency,
                                                  float *partial, float *score)
{
    const int half = a.R / 2;
    const int visible = a.causal ? own.visible + own.rows - 1 : a.Sk;
    const int lane = threadIdx.x % crew;
    const int crews = THREADS / crew;
    for (int first = threadIdx.x / crew; first < visible; first += keys * crews) {
        float dot[keys][QUERIES] = {};
        int at[keys];
#pragma unroll
        for (int m = 0; m < keys; m++) {
            at[m] = keys == 1 ? first : min(first + m * crews, visible - 1);
            COUNT("K rotations", lane == 0 && a.R > 0);
        }
        for (int i = lane; i < half; i += crew) {
            float x[keys], y[keys];
#pragma unroll
            for (int m = 0; m < keys; m++) {
                x[m] = own.k[(int64_t)at[m] * a.D + i];
                y[m] = own.k[(int64_t)at[m] * a.D + i + half];
            }
            const float rate = from == PRECOMPUTED ? frequency[i] : frequency_of(i, a.R);
#pragma unroll
            for (int m = 0; m < keys; m++) {
                float c, s;
                __sincosf((float)(a.pos0 + at[m]) * rate, &s, &c);
                COUNT("element rotations", 2);
                const float lower = x[m] * c - y[m] * s;
                const float upper = y[m] * c + x[m] * s;
#pragma unroll
                for (int n = 0; n < QUERIES; n++) {
                    dot[m][n] += query[n * a.D + i] * lower;
                    dot[m][n] += query[n * a.D + i + half] * upper;
                }
            }
        }
        for (int d = a.R + lane; d < a.D; d += crew) {
#pragma unroll
            for (int m = 0; m < keys; m++) {
                const float x = own.k[(int64_t)at[m] * a.D + d];
#pragma unroll
                for (int n = 0; n < QUERIES; n++) {
                    dot[m][n] += query[n * a.D + d] * x;
                }
            }
        }
#pragma unroll
        for (int m = 0; m < keys; m++) {
            const int j = first + m * crews;
            if (keys == 1 || j < visible) { // the condition is the same for all threads of a crew
                add_up_by<crew>(a, dot[m], j, max(half, a.D - a.R), partial, score);
                for (int n = 0; n < idle; n++) {
                    __syncthreads();
                }
            }
        }
    }
}

template <crew_size crew, powers from, int keys, int idle>
static __global__ void __launch_bounds__(THREADS) attention_v4_by(attention_args a)
{
    extern __shared__ float shared[];
    __shared__ float scratch[THREADS];
    float *query = shared;
    float *score = shared + QUERIES * a.D;
    float *frequency = score + QUERIES * a.Sk;
    const block_rows own = rows_of_block(a, QUERIES);

    if (from == PRECOMPUTED) {
        precompute_frequencies(frequency, a.R);
        rotate_queries(a, own, frequency, query);
    } else {
        rotate_queries_by_powf(a, own, query);
    }
    __syncthreads();
    score_keys_by<crew, from, keys, idle>(a, own, query, frequency, scratch, score);
    if (crew > ONE_THREAD) {
        __syncthreads();
    }
    softmax_times_v_of_rows(score, own.v, own.o, own.rows, own.visible, a.causal, a.Sk, a.D,
                            scratch);
}

template <crew_size crew, powers from, int keys = 1, int idle = 0>
static void launch_by(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_to_rotate(run);
    const dim3 grid((a.Sq + QUERIES - 1) / QUERIES, run->shape.H);
    const size_t shared = query_and_scores(a, QUERIES) + a.R / 2 * sizeof(float);
    attention_v4_by<crew, from, keys, idle><<<grid, THREADS, shared, stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

static void launch_barriers(const kf_run *run, cudaStream_t stream)
{
    enum { IDLE_BARRIERS = 11 };
    launch_by<ALL_THREADS, PRECOMPUTED, 1, IDLE_BARRIERS>(run, stream);
}

static void launch_four_keys(const kf_run *run, cudaStream_t stream)
{
    enum { KEYS = 4 };
    launch_by<ALL_THREADS, PRECOMPUTED, KEYS>(run, stream);
}

// --- Tables --------------------------------------------------------------------------------------

// A CPU is slow at barriers. So on a CPU the other variants run only the cases that could show an
// error of their own. V4 runs everywhere.
static bool worth_a_try(const kf_case *c)
{
    return ladder_near(c) && (!kf_on_cpu() || c->shape.D == 128 || c->shape.Sq < 40);
}

static bool few_barriers(const kf_case *c)
{
    return ladder_near(c) && (!kf_on_cpu() || c->shape.Sq < 20);
}

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate},
    {.name = "v3",
     .about = "four queries per block, a thread per key, powf in the loop",
     .launch = launch_by<ONE_THREAD, POWF>,
     .applies = worth_a_try,
     .extra_error = ladder_angle_error},
    {.name = "v3-precomputed",
     .about = "the same, frequencies in shared memory",
     .launch = launch_by<ONE_THREAD, PRECOMPUTED>,
     .applies = worth_a_try,
     .extra_error = ladder_angle_error},
    {.name = "block-powf",
     .about = "all threads share a key, powf in the loop",
     .launch = launch_by<ALL_THREADS, POWF>,
     .applies = worth_a_try,
     .extra_error = ladder_angle_error},
    {.name = "v4",
     .about = "all threads share a key, frequencies in shared memory",
     .launch = launch_v4,
     .applies = ladder_near,
     .extra_error = ladder_angle_error},
    {.name = "v4-barriers",
     .about = "v4, and eleven more barriers per key",
     .launch = launch_barriers,
     .applies = few_barriers,
     .extra_error = ladder_angle_error},
    {.name = "v4-four-keys",
     .about = "v4, loads and rotations of four keys in flight at once",
     .launch = launch_four_keys,
     .applies = worth_a_try,
     .extra_error = ladder_angle_error},
    {.name = "warp-powf",
     .about = "a warp shares a key, powf in the loop",
     .launch = launch_by<ONE_WARP, POWF>,
     .applies = worth_a_try,
     .extra_error = ladder_angle_error},
    {.name = "warp-precomputed",
     .about = "a warp shares a key, frequencies in shared memory",
     .launch = launch_by<ONE_WARP, PRECOMPUTED>,
     .applies = worth_a_try,
     .extra_error = ladder_angle_error},
};

static const kf_question questions[] = {
    {.text = "A block of v3 has 25 barriers at D = 128: how many has a block of v4, whose threads "
             "add up what they found at each of 64 keys?",
     .figure = "barriers/blocks",
     .case_name = "D128",
     .variant = "v4"},
    {.text = "At D = 8, how many times as fast is v3 as v4 (no powf in the loop, and all 256 "
             "threads at one key)?",
     .figure = "median_us",
     .case_name = "D8",
     .variant = "v4",
     .over = "v3"},
    {.text = "At D = 8, how many times as fast is v4 as v4-barriers (eleven more barriers at each "
             "of 64 keys)?",
     .figure = "median_us",
     .case_name = "D8",
     .variant = "v4-barriers",
     .over = "v4"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "09-v4-frequencies",
        .title = "V4, frequencies in shared memory, and all threads at one key",
        KF_TABLE(variants, variants),
        KF_TABLE(questions, questions),
    };
    return ladder_main(&program, argc, argv);
}
