/* 09-v4-frequencies: V4, frequencies in shared memory, and all threads at one key
 *
 * Grows from: 08-v3-multi-query
 *
 * Idea     Two changes, timed apart and together. The frequencies are the same for every key: a
 *          block computes them once, into shared memory, and powf leaves the inner loop. And all
 *          256 threads turn pairs of one key, where V3 gave a thread a key of its own and left 192
 *          threads idle; then they have to add up what each has found, at every key.
 * Predict  The log: 0.058 / 0.097 / 0.273 ms at D = 128, 512 and 2048, after V3's 0.035 / 0.091 /
 *          0.313, because shared memory and barriers cost more than powf at small D. Here: without
 *          powf a thread's loop should take two thirds of its time at every D. A key that all
 *          threads share takes as long at D = 512 as at D = 8, some 0.3 us for a load, the shuffles
 *          and the barrier, 20 us in all: slower than V3 up to D = 128, twice as fast at D = 512,
 *          four times at D = 2048. A warp a key needs no barrier and has eight keys under way: it
 *          should be the fastest at every D. Each barrier should cost about 20 ns.
 * Outcome  Listing gains at every D, some 15 to 20 % of V3's time, so it is no overhead where D is
 *          small. Sharing a key among all threads loses by a factor of 2.2 at D = 128, ties at 512
 *          and wins at 2048, by less than predicted. The barriers are not why: they cost 13 ns
 *          each, not a microsecond in all. One key at a time is: a third of the time is waiting
 *          for its loads, as v4-four-keys shows. A warp a key beats the three launches from
 *          D = 128 on, and is not the fastest where D is small.
 */
#include "cuda/rope_ladder.cuh"

enum { QUERIES = 4 };

// snippet: frequency
// The angle of a pair grows with the position at this rate: base^(-2i/R).
static __device__ __forceinline__ float frequency_of(int pair, int R)
{
    return powf(10000.0f, -2.0f * (float)pair / (float)R);
}

// -> frequency [R/2] in shared memory. A thread may read its own at once, the others' behind a
// barrier.
// cost: R/2 calls of powf a block
static __device__ void list_frequencies(float *frequency, int R)
{
    for (int i = threadIdx.x; i < R / 2; i += blockDim.x) {
        frequency[i] = frequency_of(i, R);
    }
}
// end snippet: frequency

// q [rows][D], position: that of the first row -> query [QUERIES][D] in shared memory. Rows that do
// not exist are zero. frequency [R/2] if listed: a thread reads what it has written itself.
// cost: one rotation a query
template <bool listed>
static __device__ void rotate_queries(const float *q, const float *frequency, float *query,
                                      int rows, int position, int D, int R)
{
    const int half = R / 2;
    COUNT("Q rotations", threadIdx.x == 0 ? rows : 0);
    for (int t = threadIdx.x; t < D - half; t += blockDim.x) {
        for (int n = 0; n < QUERIES; n++) {
            const float *from = q + (int64_t)n * D;
            float *to = query + n * D;
            if (t >= half) {
                to[t + half] = n < rows ? from[t + half] : 0.0f;
            } else if (n < rows) {
                const float rate = listed ? frequency[t] : frequency_of(t, R);
                float c, s;
                __sincosf((float)(position + n) * rate, &s, &c);
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
// dot [QUERIES] of each thread, summed over the threads that share key j, -> score [QUERIES][Sk].
// crew: how many threads share it, 1, 32 (a warp) or LADDER_THREADS. partial: shared memory, two
// halves of QUERIES floats a warp, which keys take in turn. busy: how many threads have a pair.
// cost: nothing; 6 shuffles; 6 shuffles in every busy warp, and a barrier
template <int crew, int idle_barriers>
static __device__ __forceinline__ void add_up(const float *dot, float *score, float *partial, int j,
                                              int Sk, int busy, float scale)
{
    if (crew == 1) {
#pragma unroll
        for (int n = 0; n < QUERIES; n++) {
            score[n * Sk + j] = dot[n] * scale;
        }
        return;
    }
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    if (crew == 32) {
        const float sum = warp_sum_of_four(dot);
        if (lane % 8 == 0) {
            score[lane / 8 * Sk + j] = sum * scale;
        }
        return;
    }
    const int warps = min(crew / 32, (busy + 31) / 32);
    // solution: barrier -- sum over the warps -> score: one barrier, two halves of partial
    // A half is written again only behind the barrier of the next key: by then all have read it.
    partial += j % 2 * QUERIES * (LADDER_THREADS / 32);
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
        score[threadIdx.x * Sk + j] = sum * scale;
    }
    // end solution: barrier
    for (int n = 0; n < idle_barriers; n++) {
        __syncthreads();
    }
}
// end snippet: add-up

// snippet: score
// query [QUERIES][D] rotated, k [Sk][D] as it came -> score [QUERIES][Sk], `visible` keys of it.
// `crew` threads share a key: each takes every crew-th pair. A crew has `keys` keys under way, and
// their loads; beyond the last key it turns the last one again, and stores nothing.
// cost: Sk K rotations a block
template <int crew, bool listed, int keys, int idle_barriers>
static __device__ __noinline__ void
score_by_crews(const float *query, const float *frequency, const float *k, float *score,
               float *partial, int visible, int Sk, int pos0, int D, int R, float scale)
{
    const int half = R / 2;
    const int lane = threadIdx.x % crew;
    const int crews = LADDER_THREADS / crew;
    for (int first = threadIdx.x / crew; first < visible; first += keys * crews) {
        float dot[keys][QUERIES] = {};
        int at[keys];
#pragma unroll
        for (int m = 0; m < keys; m++) {
            at[m] = keys == 1 ? first : min(first + m * crews, visible - 1);
            COUNT("K rotations", lane == 0);
        }
        for (int i = lane; i < half; i += crew) {
            float x[keys], y[keys];
#pragma unroll
            for (int m = 0; m < keys; m++) {
                x[m] = k[(int64_t)at[m] * D + i];
                y[m] = k[(int64_t)at[m] * D + i + half];
            }
            const float rate = listed ? frequency[i] : frequency_of(i, R);
#pragma unroll
            for (int m = 0; m < keys; m++) {
                float c, s;
                __sincosf((float)(pos0 + at[m]) * rate, &s, &c);
                COUNT("element rotations", 2);
                const float lower = x[m] * c - y[m] * s;
                const float upper = y[m] * c + x[m] * s;
#pragma unroll
                for (int n = 0; n < QUERIES; n++) {
                    dot[m][n] += query[n * D + i] * lower;
                    dot[m][n] += query[n * D + i + half] * upper;
                }
            }
        }
        for (int d = R + lane; d < D; d += crew) {
#pragma unroll
            for (int m = 0; m < keys; m++) {
                const float element = k[(int64_t)at[m] * D + d];
#pragma unroll
                for (int n = 0; n < QUERIES; n++) {
                    dot[m][n] += query[n * D + d] * element;
                }
            }
        }
#pragma unroll
        for (int m = 0; m < keys; m++) {
            const int j = first + m * crews;
            if (keys == 1 || j < visible) { // the same for a whole crew
                add_up<crew, idle_barriers>(dot[m], score, partial, j, Sk, max(half, D - R), scale);
            }
        }
    }
}
// end snippet: score

// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D] -> o [H][Sq][D]
// grid (Sq / QUERIES rounded up, H), LADDER_THREADS threads,
// QUERIES x (D + Sk) + R/2 floats of dynamic shared memory
// cost: 4 D Sk flops a query; Sk K rotations a block; listed: R/2 calls of powf a block, otherwise
// R/2 a key and a query
template <int crew, bool listed, int keys, int idle_barriers>
__global__ void __launch_bounds__(LADDER_THREADS)
    attention_v4(const float *q, const float *k, const float *v, float *o, int Sq, int Sk, int D,
                 int R, bool causal, int pos0, float scale)
{
    extern __shared__ float shared[];
    __shared__ float scratch[LADDER_THREADS];
    float *query = shared;
    float *score = query + QUERIES * D;
    float *frequency = score + QUERIES * Sk;
    const int first = blockIdx.x * QUERIES;
    const int rows = min(QUERIES, Sq - first);
    const int64_t head = blockIdx.y;
    const int visible = causal ? Sk - Sq + first + 1 : Sk; // of the first row
    q += (head * Sq + first) * D;
    o += (head * Sq + first) * D;
    k += head * Sk * D;
    v += head * Sk * D;

    if (listed) {
        list_frequencies(frequency, R);
    }
    rotate_queries<listed>(q, frequency, query, rows, pos0 + Sk - Sq + first, D, R);
    __syncthreads();

    score_by_crews<crew, listed, keys, idle_barriers>(query, frequency, k, score, scratch,
                                                      causal ? visible + rows - 1 : Sk, Sk, pos0, D,
                                                      R, scale);
    if (crew > 1) {
        __syncthreads(); // from here on a thread reads what others wrote
    }
    finish_rows<block_reduction>(score, v, o, rows, visible, causal, Sk, D, scratch);
}

template <int crew, bool listed, int keys = 1, int idle_barriers = 0>
static void launch_v4(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const size_t shared = (QUERIES * (s.D + s.Sk) + s.R / 2) * sizeof(float);
    attention_v4<crew, listed, keys, idle_barriers>
        <<<dim3((s.Sq + QUERIES - 1) / QUERIES, s.H), LADDER_THREADS, shared, stream>>>(
            kf_f32(run, "q"), kf_f32(run, "k"), kf_f32(run, "v"), kf_f32(run, "o"), s.Sq, s.Sk, s.D,
            s.R, s.causal, s.pos0, 1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}

// A CPU takes its time over barriers: there, the other variants are tried where they
// could go wrong in a way of their own, and V4 everywhere.
static bool worth_a_try(const kf_case *c)
{
    return ladder_near(c) && (!kf_on_cpu() || c->shape.D == 128 || c->shape.Sq < 40);
}

static bool few_barriers(const kf_case *c)
{
    return ladder_near(c) && (!kf_on_cpu() || c->shape.Sq < 20);
}

// snippet: variants
static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate,
     .block = LADDER_THREADS},
    {.name = "v3",
     .about = "four queries a block, a thread a key, powf in the loop",
     .launch = launch_v4<1, false>,
     .applies = worth_a_try,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v3-listed",
     .about = "the same, frequencies in shared memory",
     .launch = launch_v4<1, true>,
     .applies = worth_a_try,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "block-powf",
     .about = "all threads share a key, powf in the loop",
     .launch = launch_v4<LADDER_THREADS, false>,
     .applies = worth_a_try,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v4",
     .about = "all threads share a key, frequencies in shared memory",
     .launch = launch_v4<LADDER_THREADS, true>,
     .applies = ladder_near,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v4-barriers",
     .about = "v4, and eleven barriers more at every key",
     .launch = launch_v4<LADDER_THREADS, true, 1, 11>,
     .applies = few_barriers,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v4-four-keys",
     .about = "v4, the loads of four keys under way at once",
     .launch = launch_v4<LADDER_THREADS, true, 4>,
     .applies = worth_a_try,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "warp-powf",
     .about = "a warp shares a key, powf in the loop",
     .launch = launch_v4<32, false>,
     .applies = worth_a_try,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "warp-listed",
     .about = "a warp shares a key, frequencies in shared memory",
     .launch = launch_v4<32, true>,
     .applies = worth_a_try,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
};
// end snippet: variants

int main(int argc, char **argv)
{
    return ladder_main("09-v4-frequencies",
                       "V4, frequencies in shared memory, and all threads at one key", ladder_setup,
                       variants, KF_COUNT_OF(variants), NULL, 0, argc, argv);
}
