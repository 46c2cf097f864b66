/* 10-v5-k-tile: V5, whole rows of K staged in shared memory and rotated there
 *
 * Follows: 09-v4-frequencies, at most 76 % of its story new
 * Architecture: 75, without v5-113k v5-80k v5-all-113k
 * Profile: kernels=attention warm --case D2048
 *
 * Idea     A block copies a tile of whole keys into shared memory, with all its threads and
 *          coalesced loads. Then a thread takes a key of the tile and rotates it in registers
 *          while it adds up the dot product. How many keys fit depends on the budget: 40 KB in E1.
 * Predict  D = 2048: 3 keys fit, so 22 tiles of 1024 pairs come one after the other: slower than
 *          separate. 12 keys fit in 113 KB, and still two blocks on a multiprocessor: faster. 26
 *          fit in all memory, but then 256 blocks run in two waves: level with 113 KB. Idle
 *          threads should be nearly all of the loss. D = 128: level.
 * Outcome  As predicted in 40 KB and in 113 KB. In all memory V5 is slower than in 113 KB: each
 *          wave repeats what is outside of the loop over pairs. With all threads on the same 3
 *          keys V5 beats separate. At D = 128 it wins, which was not predicted: the loads of K in
 *          separate have bank conflicts.
 */
#include "cuda/fp32_angles.cuh"
#include "cuda/refused.cuh"
#include "cuda/rope_ladder.cuh"

enum {
    WARPS = THREADS / 32,
    LOADS = 8, // in flight per thread
    BLOCKS = 2 // per multiprocessor: 256 on 132
};

struct tile_plan {
    int rows, stride;
    size_t bytes; // of dynamic shared memory in all
};

// Functions that the kernel calls, in this order. Their definitions, below, explain them.
static __device__ __forceinline__ void rotate_query(attention_args a, block_rows own,
                                                    const float *frequency, float *query);
static __device__ __forceinline__ float score_keys(attention_args a, block_rows own, tile_plan plan,
                                                   const float *query, const float *frequency,
                                                   float *score, float *tile);

// snippet: kernel
// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D] -> o [H][Sq][D]
// grid (Sq, H), THREADS threads, dynamic shared memory as plan_tile says
// cost: 4 D Sk flops per block and 3 R Sk for the rotations; reads k and v once per block;
// ceil(Sk / rows) tiles
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    attention_v5(attention_args a, tile_plan plan)
{
    extern __shared__ float shared[];
    __shared__ float scratch[THREADS];
    float *query = shared;
    float *frequency = query + a.D;
    float *score = frequency + a.R / 2;
    float *tile = score + a.Sk;
    const block_rows own = rows_of_block(a);

    precompute_frequencies(frequency, a.R / 2, a.R);
    __syncthreads();
    rotate_query(a, own, frequency, query);
    const float row_max = score_keys(a, own, plan, query, frequency, score, tile);
    softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
}
// end snippet: kernel

// q [D] of the block's query, frequency [R/2] -> query [D] in shared memory, rotated
// cost: one rotation per block
static __device__ __forceinline__ void rotate_query(attention_args a, block_rows own,
                                                    const float *frequency, float *query)
{
    const int half = a.R / 2;
    const float position = (float)(a.pos0 + own.position);
    COUNT("Q rotations", threadIdx.x == 0 && a.R > 0);
    for (int t = threadIdx.x; t < a.D - half; t += blockDim.x) {
        if (t < half) {
            rotate_pair(own.q[t], own.q[t + half], position * frequency[t], &query[t],
                        &query[t + half]);
        } else {
            query[t + half] = own.q[t + half];
        }
    }
}

// snippet: stage
// k [n][D] -> tile [n][stride] in shared memory. A warp copies up to 32 LOADS neighbours at a time.
// cost: 4 n D bytes
static __device__ __forceinline__ void stage_keys(const float *k, float *tile, int n, int D,
                                                  int stride)
{
    const int lane = threadIdx.x % 32;
    const int segments = (D + 32 * LOADS - 1) / (32 * LOADS);
    float kept[LOADS];
    for (int item = threadIdx.x / 32; item < n * segments; item += WARPS) {
        const int r = item / segments;
        const int d = item % segments * 32 * LOADS + lane;
        // All loads first. A thread that stored each element at once would wait for each load.
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            kept[i] = d + 32 * i < D ? k[(int64_t)r * D + d + 32 * i] : 0.0f;
        }
        // Without this line nvcc puts stores between the loads. A store waits for its value.
        __syncwarp();
        // solution: stage -- store `kept` into row r of the tile
        // hint: The loop above has loaded up to LOADS elements of row r, 32 apart. Which element
        //     of the row is in `kept[i]`, and for which i is there no such element?
        // hint: `kept[i]` is element d + 32 * i of the row, if that is below D. If it is not,
        //     `kept[i]` is no element of the row, and has no place in the tile.
        // hint: Row r of the tile begins at element r * stride, and stride may be more than D. The
        //     loop is the one above, with `#pragma unroll`, so that kept stays in registers. In it
        //     stands one assignment, under the condition of the load.
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            if (d + 32 * i < D) {
                tile[r * stride + d + 32 * i] = kept[i];
            }
        }
        // end solution: stage
    }
}
// end snippet: stage

// snippet: score-keys
// query [D] rotated, frequency [R/2], k [Sk][D] not rotated -> score [visible], one key per thread,
// which reads it from tile [rows][stride] and rotates it in registers. Returns the thread's
// row_max. cost: a block rotates Sk keys, a head Sq Sk; R/2 sincos per key; two barriers per tile
static __device__ __forceinline__ float score_keys(attention_args a, block_rows own, tile_plan plan,
                                                   const float *query, const float *frequency,
                                                   float *score, float *tile)
{
    const int half = a.R / 2;
    float row_max = -INFINITY;
    for (int first = 0; first < own.visible; first += plan.rows) {
        const int n = min(plan.rows, own.visible - first);
        stage_keys(own.k + (int64_t)first * a.D, tile, n, a.D, plan.stride);
        __syncthreads();
        // Of 256 threads, n have something to do.
        for (int r = threadIdx.x; r < n; r += blockDim.x) {
            const int j = first + r;
            const float *key = tile + r * plan.stride;
            const float position = (float)(a.pos0 + j);
            float dot = 0.0f;
            COUNT("K rotations", a.R > 0);
            for (int i = 0; i < half; i++) {
                float s, c;
                __sincosf(position * frequency[i], &s, &c);
                COUNT("element rotations", 2);
                dot += query[i] * (key[i] * c - key[i + half] * s);
                dot += query[i + half] * (key[i + half] * c + key[i] * s);
            }
            for (int d = a.R; d < a.D; d++) {
                dot += query[d] * key[d];
            }
            score[j] = dot * a.scale;
            row_max = fmaxf(row_max, score[j]);
        }
        __syncthreads(); // the tile is free again: the next one takes its place
    }
    return row_max;
}
// end snippet: score-keys

enum { KB = 1024, LOG_BUDGET = 40 * KB };

// snippet: plan
// The query, the frequencies and the scores, in floats.
static int beside_tile(attention_args a)
{
    return a.D + a.R / 2 + a.Sk;
}

// The number of rows of `stride` floats that fit in a budget of bytes, together with the scratch of
// the reductions and with `beside` other floats.
static tile_plan plan_tile(attention_args a, int budget, int beside, int stride)
{
    const int fit = (budget / (int)sizeof(float) - THREADS - beside) / stride;
    const int rows = fit < a.Sk ? fit : a.Sk;
    return {rows, stride, (beside + rows * stride) * sizeof(float)};
}
// end snippet: plan

static void launch_v5(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_to_rotate(run);
    const tile_plan plan = plan_tile(a, LOG_BUDGET, beside_tile(a), a.D + 1);
    attention_v5<<<dim3(a.Sq, run->shape.H), THREADS, plan.bytes, stream>>>(a, plan);
    CUDA_CHECK_LAUNCH();
}

// --- Variants that explain -----------------------------------------------------------------------

enum { EVERYTHING = 0 }; // a budget: as much as the device allows per block

static int bytes_of(int budget)
{
    int device, bytes = budget;
    if (budget == EVERYTHING) {
        CUDA_CHECK(cudaGetDevice(&device));
        CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    }
    return bytes;
}

// A kernel must ask for more than 48 KB.
typedef void tiled_kernel(attention_args a, tile_plan plan);
static void ask_for_all(tiled_kernel *kernel)
{
    const int scratch = THREADS * (int)sizeof(float);
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    bytes_of(EVERYTHING) - scratch));
}

static void enqueue(const kf_run *run, attention_args a, tile_plan plan, cudaStream_t stream)
{
    ask_for_all(attention_v5);
    attention_v5<<<dim3(a.Sq, run->shape.H), THREADS, plan.bytes, stream>>>(a, plan);
    CUDA_CHECK_LAUNCH();
}

template <int budget>
static void launch_within(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_to_rotate(run);
    enqueue(run, a, plan_tile(a, bytes_of(budget), beside_tile(a), a.D + 1), stream);
}

// The block asks for all shared memory, unused, so that a multiprocessor holds one block.
static void launch_alone(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_to_rotate(run);
    tile_plan plan = plan_tile(a, LOG_BUDGET, beside_tile(a), a.D + 1);
    plan.bytes = bytes_of(EVERYTHING) - THREADS * sizeof(float);
    enqueue(run, a, plan, stream);
}

static void launch_unpadded(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_to_rotate(run);
    enqueue(run, a, plan_tile(a, LOG_BUDGET, beside_tile(a), a.D), stream);
}

// The difference from V5: every barrier of the tiles is doubled, or all threads have work.
enum difference { TWICE_THE_BARRIERS, ALL_THREADS };

// query [D] rotated, key [D] not rotated, frequency [R/2], all in shared memory -> the part of
// their product from the pairs and dimensions first, first + step, ...
static __device__ __forceinline__ float rotated_share(attention_args a, const float *query,
                                                      const float *key, const float *frequency,
                                                      float position, int first, int step)
{
    const int half = a.R / 2;
    float dot = 0.0f;
    for (int i = first; i < half; i += step) {
        float s, c;
        __sincosf(position * frequency[i], &s, &c);
        COUNT("element rotations", 2);
        dot += query[i] * (key[i] * c - key[i + half] * s);
        dot += query[i + half] * (key[i + half] * c + key[i] * s);
    }
    for (int d = a.R + first; d < a.D; d += step) {
        dot += query[d] * key[d];
    }
    return dot;
}

// A key is cut into as many chunks as there are warps for them; see score_chunks.
static __host__ __device__ int chunks_of(int D)
{
    const int chunks = D / 64;
    return chunks < 1 ? 1 : chunks < WARPS ? chunks : WARPS;
}

// snippet: all-threads
// query [D], tile [n][stride], frequency [R/2] -> n columns of partial [chunks][Sk], from column
// `first` on. A warp has one chunk of a key, so all threads have work even on a single row.
static __device__ __forceinline__ void score_chunks(attention_args a, int first, int n, int stride,
                                                    const float *query, const float *frequency,
                                                    float *partial, const float *tile)
{
    const int lane = threadIdx.x % 32;
    const int chunks = chunks_of(a.D);
    for (int item = threadIdx.x / 32; item < n * chunks; item += WARPS) {
        const int r = item / chunks;
        const int chunk = item % chunks;
        COUNT("K rotations", chunk == 0 && lane == 0 && a.R > 0);
        const float dot =
            warp_sum(rotated_share(a, query, tile + r * stride, frequency,
                                   (float)(a.pos0 + first + r), chunk * 32 + lane, chunks * 32));
        if (lane == 0) {
            partial[chunk * a.Sk + first + r] = dot;
        }
    }
}
// end snippet: all-threads

// As score_keys. partial [chunks][Sk] is used if all threads have work.
template <difference by>
static __device__ __forceinline__ float
score_keys_by(attention_args a, block_rows own, tile_plan plan, const float *query,
              const float *frequency, float *score, float *partial, float *tile)
{
    float row_max = -INFINITY;
    for (int first = 0; first < own.visible; first += plan.rows) {
        const int n = min(plan.rows, own.visible - first);
        stage_keys(own.k + (int64_t)first * a.D, tile, n, a.D, plan.stride);
        __syncthreads();
        if (by == TWICE_THE_BARRIERS) {
            __syncthreads();
        }
        if (by == ALL_THREADS) {
            score_chunks(a, first, n, plan.stride, query, frequency, partial, tile);
        } else {
            for (int r = threadIdx.x; r < n; r += blockDim.x) {
                COUNT("K rotations", a.R > 0);
                const float dot = rotated_share(a, query, tile + r * plan.stride, frequency,
                                                (float)(a.pos0 + first + r), 0, 1);
                score[first + r] = dot * a.scale;
                row_max = fmaxf(row_max, score[first + r]);
            }
        }
        __syncthreads();
        if (by == TWICE_THE_BARRIERS) {
            __syncthreads();
        }
    }
    for (int j = threadIdx.x; by == ALL_THREADS && j < own.visible; j += blockDim.x) {
        float dot = 0.0f;
        for (int chunk = 0; chunk < chunks_of(a.D); chunk++) {
            dot += partial[chunk * a.Sk + j];
        }
        score[j] = dot * a.scale;
        row_max = fmaxf(row_max, score[j]);
    }
    return row_max;
}

template <difference by>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    attention_v5_by(attention_args a, tile_plan plan)
{
    extern __shared__ float shared[];
    __shared__ float scratch[THREADS];
    float *query = shared;
    float *frequency = query + a.D;
    float *score = frequency + a.R / 2;
    float *partial = score + a.Sk;
    float *tile = partial + (by == ALL_THREADS ? chunks_of(a.D) * a.Sk : 0);
    const block_rows own = rows_of_block(a);

    precompute_frequencies(frequency, a.R / 2, a.R);
    __syncthreads();
    rotate_query(a, own, frequency, query);
    const float row_max = score_keys_by<by>(a, own, plan, query, frequency, score, partial, tile);
    softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
}

template <difference by>
static void enqueue_by(const kf_run *run, attention_args a, tile_plan plan, cudaStream_t stream)
{
    ask_for_all(attention_v5_by<by>);
    attention_v5_by<by><<<dim3(a.Sq, run->shape.H), THREADS, plan.bytes, stream>>>(a, plan);
    CUDA_CHECK_LAUNCH();
}

static void launch_barriers(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_to_rotate(run);
    const tile_plan plan = plan_tile(a, LOG_BUDGET, beside_tile(a), a.D + 1);
    enqueue_by<TWICE_THE_BARRIERS>(run, a, plan, stream);
}

template <int budget>
static void launch_all_within(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_to_rotate(run);
    const int beside = beside_tile(a) + chunks_of(a.D) * a.Sk;
    enqueue_by<ALL_THREADS>(run, a, plan_tile(a, bytes_of(budget), beside, a.D + 1), stream);
}

// --- Tables --------------------------------------------------------------------------------------

// Counting these takes a CPU long, so a CPU skips shapes that differ from others only in size.
static bool shown(const kf_case *c)
{
    return c->shape.Sq < 64 || c->shape.R == 128 || !kf_on_cpu();
}

static bool near(const kf_case *c)
{
    return ladder_near(c) && shown(c);
}

// Cases in which a larger budget may matter: 40 KB do not hold all keys. Few queries are cheap to
// verify.
static bool large(const kf_case *c)
{
    return c->shape.D >= 512 || c->shape.Sq < 4;
}

// The same for variants that are timed: not "head", which is only counted. A CPU runs few queries.
static bool timed(const kf_case *c)
{
    return (c->shape.D >= 512 && c->shape.H > 1) || (kf_on_cpu() && c->shape.Sq < 10);
}

// Cases with one tile of 64 rows, where neighbouring threads have bank conflicts.
static bool full_tile(const kf_case *c)
{
    return ladder_near(c) && ((c->shape.R == 128 && c->shape.D == 128) || c->shape.Sq < 4);
}

// Refuses a budget that is more than this device allows per block.
template <int budget>
static const char *budget_refused(const kf_case *, char *why, size_t size)
{
    return lacks_room(budget, why, size);
}

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate,
     .applies = shown},
    {.name = "v5",
     .about = "tiles of whole keys in 40 KB, one key per thread",
     .launch = launch_v5,
     .applies = near,
     .extra_error = ladder_angle_error},
    {.name = "v5-48k",
     .about = "v5 in 48 KB, what a block may have unasked",
     .launch = launch_within<48 * KB>,
     .applies = timed,
     .extra_error = ladder_angle_error},
    {.name = "v5-80k",
     .about = "v5 in 80 KB",
     .launch = launch_within<80 * KB>,
     .applies = timed,
     .refused = budget_refused<80 * KB>,
     .extra_error = ladder_angle_error},
    {.name = "v5-113k",
     .about = "v5 in 113 KB: two blocks still share a multiprocessor",
     .launch = launch_within<113 * KB>,
     .applies = timed,
     .refused = budget_refused<113 * KB>,
     .extra_error = ladder_angle_error},
    {.name = "v5-opt-in",
     .about = "v5 in all that the device lets a block have",
     .launch = launch_within<EVERYTHING>,
     .applies = large,
     .extra_error = ladder_angle_error},
    {.name = "v5-alone",
     .about = "v5's tile of 40 KB, but one block per multiprocessor",
     .launch = launch_alone,
     .applies = timed,
     .extra_error = ladder_angle_error},
    {.name = "v5-barriers",
     .about = "v5 with every barrier of the tiles twice",
     .launch = launch_barriers,
     .applies = timed,
     .extra_error = ladder_angle_error},
    {.name = "v5-unpadded",
     .about = "v5 with rows D apart, not D + 1",
     .launch = launch_unpadded,
     .applies = full_tile,
     .extra_error = ladder_angle_error},
    {.name = "v5-all",
     .about = "v5's tile of 40 KB, all threads on it: a chunk of a key per warp",
     .launch = launch_all_within<LOG_BUDGET>,
     .applies = near,
     .extra_error = ladder_angle_error},
    {.name = "v5-all-113k",
     .about = "v5-all in 113 KB",
     .launch = launch_all_within<113 * KB>,
     .applies = timed,
     .refused = budget_refused<113 * KB>,
     .extra_error = ladder_angle_error},
    {.name = "v5-all-opt-in",
     .about = "v5-all in all that the device lets a block have",
     .launch = launch_all_within<EVERYTHING>,
     .applies = timed,
     .extra_error = ladder_angle_error},
};

// More keys than fit in any budget, so that each tile has its largest size.
static const kf_case own_cases[] = {
    KF_CASE("past-opt-in", KF_VERIFY_ONLY, .Sk = 500, .D = 128, .R = 128, .causal = true),
};

static const kf_question questions[] = {
    {.text = "At D = 128, a call of separate loads more sectors than v5, which copies whole rows "
             "of K. How many times as many?",
     .figure = "global_ld_sectors",
     .case_name = "D128",
     .variant = "separate",
     .over = "v5"},
    {.text = "At D = 2048, how many times as fast is v5-all (all 256 threads share 3 keys) as v5 "
             "(3 threads have a key)?",
     .figure = "median_us",
     .case_name = "D2048",
     .variant = "v5",
     .over = "v5-all"},
    {.text = "Which is the fastest at D = 2048: separate, v5 with tiles of 40 KB, or v5-113k with "
             "half of a multiprocessor's shared memory?",
     .figure = "median_us",
     .case_name = "D2048",
     .among = "separate v5 v5-113k"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "10-v5-k-tile",
        .title = "V5, whole rows of K staged in shared memory and rotated there",
        KF_TABLES(own_cases, variants),
        KF_TABLE(questions, questions),
    };
    return ladder_main(&program, argc, argv);
}
