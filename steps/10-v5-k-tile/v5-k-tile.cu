/* 10-v5-k-tile: V5, whole rows of K staged in shared memory and rotated there
 *
 * Grows from: 09-v4-frequencies
 *
 * Idea     A block copies a tile of whole keys [rows x D] into shared memory, with all its
 *          threads and coalesced loads, and rotates a key in registers while it takes its dot
 *          product, one key a thread. How many rows fit is a matter of budget: the log allowed 40
 *          KB.
 * Predict  At D = 2048 the query and the frequencies leave room for 3 rows in 40 KB, so 64 keys
 *          are 22 tiles with two barriers each, and 3 of 256 threads do all the dot products, one
 *          tile after the other. At some 40 cycles a pair, 22 x 1024 pairs in a row are half a
 *          millisecond, where separate takes 0.2 in all: slower by about 3. At D = 128 all keys
 *          fit in one tile: about level. With all the shared memory of an H200 26 rows fit, in 3
 *          tiles. But then a multiprocessor holds one block, and 256 blocks on 132 of them take
 *          two turns: 2 x 3 tiles. Half of it, 113 KB, gives 12 rows in 6 tiles and one turn. So
 *          these two should come out level with each other and near separate. Of the three
 *          suspects (idle threads, barriers, one block a multiprocessor) idle threads should be
 *          nearly all of it: with every thread busy on the same 22 tiles V5 should win, for all
 *          its 4096 K rotations a head.
 * Outcome  At D = 2048 as predicted but for one point. In 40 KB V5 loses, in 80 KB it is level
 *          and in 113 KB it wins, so the log's verdict was one about 40 KB. All the memory of the
 *          device is worse than half of it, not level: the second turn repeats not only the tiles
 *          but all that is around them. Barriers cost next to nothing. Idle threads are nearly
 *          all: with every thread busy on the same 3 rows V5 takes half of separate's time. At D
 *          = 128 and 512 V5 wins, which was not predicted.
 *          The first version was far slower: it divided e by D for each element that it staged,
 *          and the compiler, which reckoned with eight blocks on a multiprocessor, gave a thread
 *          too few registers to begin a pair before the last one was finished.
 */
#include "cuda/fp32_angles.cuh"
#include "cuda/rope_ladder.cuh"
#include "problems/attention.h"

enum {
    WARPS = LADDER_THREADS / 32,
    LOADS = 8, // of a thread, on their way at the same time
    BLOCKS = 2 // that share a multiprocessor: 256 on 132
};

// q [D], frequency [R/2] -> query [D] in shared memory, rotated
// cost: one rotation a block
static __device__ void rotate_query(const float *q, const float *frequency, float position,
                                    float *query, int D, int R)
{
    const int half = R / 2;
    COUNT("Q rotations", threadIdx.x == 0);
    for (int t = threadIdx.x; t < D - half; t += blockDim.x) {
        if (t < half) {
            turn_pair(q[t], q[t + half], position * frequency[t], &query[t], &query[t + half]);
        } else {
            query[t + half] = q[t + half];
        }
    }
}

// snippet: stage
// k [n][D] -> tile [n][stride] in shared memory; a warp copies up to 32 LOADS neighbours of a row
// cost: 4 n D bytes
static __device__ void stage_rows(const float *k, float *tile, int n, int D, int stride)
{
    const int lane = threadIdx.x % 32;
    const int segments = (D + 32 * LOADS - 1) / (32 * LOADS);
    float kept[LOADS];
    for (int item = threadIdx.x / 32; item < n * segments; item += WARPS) {
        const int r = item / segments;
        const int d = item % segments * 32 * LOADS + lane;
        // All the loads first. Copied one by one, each would wait for memory before the next.
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            kept[i] = d + 32 * i < D ? k[(int64_t)r * D + d + 32 * i] : 0.0f;
        }
        __syncwarp(); // keeps the compiler from moving a store, which waits, between the loads
                      // solution: stage -- put what is kept in row r of the tile
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

// snippet: product
// query [D] rotated, key [D] as it came, frequency [R/2], all in shared memory -> the share of
// their product that lies in the pairs and dimensions first, first + step, ...
static __device__ float rotated_product(const float *query, const float *key,
                                        const float *frequency, float position, int D, int R,
                                        int first, int step)
{
    const int half = R / 2;
    float dot = 0.0f;
    for (int i = first; i < half; i += step) {
        float s, c;
        __sincosf(position * frequency[i], &s, &c);
        COUNT("element rotations", 2);
        dot += query[i] * (key[i] * c - key[i + half] * s);
        dot += query[i + half] * (key[i + half] * c + key[i] * s);
    }
    for (int d = R + first; d < D; d += step) {
        dot += query[d] * key[d];
    }
    return dot;
}
// end snippet: product

// Every key is cut in as many pieces as there are warps to take one; see score_pieces.
static __host__ __device__ int pieces_of(int D)
{
    const int pieces = D / 64;
    return pieces < 1 ? 1 : pieces < WARPS ? pieces : WARPS;
}

// snippet: all-threads
// query [D], tile [n][stride], frequency [R/2] -> partial [pieces][Sk], columns first ...
// first + n - 1: a warp takes a piece of a key, so all threads work even on a single row
static __device__ void score_pieces(const float *query, const float *tile, const float *frequency,
                                    float *partial, int n, int stride, int Sk, int D, int R,
                                    int first, int pos0)
{
    const int lane = threadIdx.x % 32;
    const int pieces = pieces_of(D);
    for (int item = threadIdx.x / 32; item < n * pieces; item += WARPS) {
        const int r = item / pieces;
        const int piece = item % pieces;
        COUNT("K rotations", piece == 0 && lane == 0);
        const float dot =
            warp_sum(rotated_product(query, tile + r * stride, frequency, (float)(pos0 + first + r),
                                     D, R, piece * 32 + lane, pieces * 32));
        if (lane == 0) {
            partial[piece * Sk + first + r] = dot;
        }
    }
}
// end snippet: all-threads

static __device__ void meet(int times)
{
    for (int i = 0; i < times; i++) {
        __syncthreads();
    }
}

// snippet: kernel
// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D] -> o [H][Sq][D]
// grid (Sq, H), LADDER_THREADS threads, dynamic shared memory as plan_tile says
// cost: 4 D Sk flops a block and 3 R Sk for the rotations; Sk K rotations a block; Sk R/2 sincos;
// reads k and v once a block; two barriers a tile, ceil(Sk / rows) tiles
template <bool all_threads, int barriers>
__global__ void __launch_bounds__(LADDER_THREADS, BLOCKS)
    attention_v5(const float *q, const float *k, const float *v, float *o, int Sq, int Sk, int D,
                 int R, int rows, int stride, int pos0, bool causal, float scale)
{
    extern __shared__ float shared[];
    __shared__ float scratch[LADDER_THREADS];
    const int pieces = all_threads ? pieces_of(D) : 0;
    float *query = shared;
    float *frequency = query + D;
    float *score = frequency + R / 2;
    float *partial = score + Sk;
    float *tile = partial + pieces * Sk;
    const int row = blockIdx.x;
    const int64_t head = blockIdx.y;
    const int visible = causal ? Sk - Sq + row + 1 : Sk;
    float largest = -INFINITY;
    q += (head * Sq + row) * D;
    o += (head * Sq + row) * D;
    k += head * Sk * D;
    v += head * Sk * D;

    stage_frequencies(frequency, R / 2, R);
    __syncthreads();
    rotate_query(q, frequency, (float)(pos0 + Sk - Sq + row), query, D, R);

    for (int first = 0; first < visible; first += rows) {
        const int n = min(rows, visible - first);
        stage_rows(k + (int64_t)first * D, tile, n, D, stride);
        meet(barriers);
        if (all_threads) {
            score_pieces(query, tile, frequency, partial, n, stride, Sk, D, R, first, pos0);
        } else {
            // One key a thread: of 256 threads, n have something to do.
            for (int r = threadIdx.x; r < n; r += blockDim.x) {
                COUNT("K rotations", 1);
                const float dot = rotated_product(query, tile + r * stride, frequency,
                                                  (float)(pos0 + first + r), D, R, 0, 1);
                score[first + r] = dot * scale;
                largest = fmaxf(largest, score[first + r]);
            }
        }
        meet(barriers); // the tile is free again: the next one takes its place
    }
    if (all_threads) {
        for (int j = threadIdx.x; j < visible; j += blockDim.x) {
            float dot = 0.0f;
            for (int piece = 0; piece < pieces; piece++) {
                dot += partial[piece * Sk + j];
            }
            score[j] = dot * scale;
            largest = fmaxf(largest, score[j]);
        }
    }
    finish_row<block_reduction>(score, largest, v, o, visible, D, scratch);
}
// end snippet: kernel

enum { KB = 1024, LOG_BUDGET = 40 * KB, EVERYTHING = 0 };

static int shared_memory_of_device(void)
{
    int device, bytes;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    return bytes;
}

// snippet: plan
typedef struct tile_plan {
    int rows, stride;
    size_t bytes; // of dynamic shared memory
} tile_plan;

// How many rows fit in the budget beside the query, the frequencies, the scores, the partial sums
// and the scratch of the reductions. budget: bytes, or EVERYTHING that the device lets a block
// have.
static tile_plan plan_tile(const kf_shape *s, int budget, int pieces, int padding)
{
    const int floats = (budget == EVERYTHING ? shared_memory_of_device() : budget) / 4;
    const int rest = s->D + s->R / 2 + s->Sk + pieces * s->Sk;
    const int stride = s->D + padding;
    const int fit = (floats - LADDER_THREADS - rest) / stride;
    const int rows = fit < s->Sk ? fit : s->Sk;
    return {rows, stride, (rest + rows * stride) * sizeof(float)};
}
// end snippet: plan

// budget: what the tile may use. alone: the block asks for all that the device has, used or not, so
// that a multiprocessor holds a single block.
template <int budget, bool all_threads, int barriers, int padding, bool alone>
static void launch(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int room = shared_memory_of_device() - LADDER_THREADS * (int)sizeof(float);
    tile_plan plan = plan_tile(&s, budget, all_threads ? pieces_of(s.D) : 0, padding);
    if (alone) {
        plan.bytes = room;
    }
    CUDA_CHECK(cudaFuncSetAttribute(attention_v5<all_threads, barriers>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, room));
    attention_v5<all_threads, barriers><<<dim3(s.Sq, s.H), LADDER_THREADS, plan.bytes, stream>>>(
        kf_f32(run, "q"), kf_f32(run, "k"), kf_f32(run, "v"), kf_f32(run, "o"), s.Sq, s.Sk, s.D,
        s.R, plan.rows, plan.stride, s.pos0, s.causal, 1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}

// Counting these takes a CPU long. It leaves out shapes that differ from others in size alone.
static bool shown(const kf_case *c)
{
    return c->shape.Sq < 64 || c->shape.R == 128 || !kf_on_cpu();
}

static bool near(const kf_case *c)
{
    return ladder_near(c) && shown(c);
}

// Where 40 KB hold all keys, a larger budget changes nothing. Few queries cost nothing to verify.
static bool large(const kf_case *c)
{
    return c->shape.D >= 512 || c->shape.Sq < 4;
}

// The same, where there is time to measure: "head" is counted only.
static bool timed(const kf_case *c)
{
    return c->shape.D >= 512 && c->shape.H > 1;
}

// One tile of 64 rows is where neighbouring threads meet in a bank.
static bool full_tile(const kf_case *c)
{
    return ladder_near(c) && ((c->shape.R == 128 && c->shape.D == 128) || c->shape.Sq < 4);
}

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate,
     .applies = shown,
     .block = LADDER_THREADS},
    {.name = "v5",
     .about = "tiles of whole keys in 40 KB, one key a thread",
     .launch = launch<LOG_BUDGET, false, 1, 1, false>,
     .applies = near,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v5-48k",
     .about = "v5 in 48 KB, what a block may have unasked",
     .launch = launch<48 * KB, false, 1, 1, false>,
     .applies = timed,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v5-80k",
     .about = "v5 in 80 KB",
     .launch = launch<80 * KB, false, 1, 1, false>,
     .applies = timed,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v5-113k",
     .about = "v5 in 113 KB: two blocks still share a multiprocessor",
     .launch = launch<113 * KB, false, 1, 1, false>,
     .applies = timed,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v5-opt-in",
     .about = "v5 in all that the device lets a block have",
     .launch = launch<EVERYTHING, false, 1, 1, false>,
     .applies = large,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v5-alone",
     .about = "v5's tile of 40 KB, but one block a multiprocessor",
     .launch = launch<LOG_BUDGET, false, 1, 1, true>,
     .applies = timed,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v5-barriers",
     .about = "v5 with every barrier of the tiles twice",
     .launch = launch<LOG_BUDGET, false, 2, 1, false>,
     .applies = timed,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v5-unpadded",
     .about = "v5 with rows D apart, not D + 1",
     .launch = launch<LOG_BUDGET, false, 1, 0, false>,
     .applies = full_tile,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v5-all",
     .about = "v5's tile of 40 KB, all threads on it: a warp a piece of a key",
     .launch = launch<LOG_BUDGET, true, 1, 1, false>,
     .applies = near,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v5-all-113k",
     .about = "v5-all in 113 KB",
     .launch = launch<113 * KB, true, 1, 1, false>,
     .applies = timed,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v5-all-opt-in",
     .about = "v5-all in all that the device lets a block have",
     .launch = launch<EVERYTHING, true, 1, 1, false>,
     .applies = timed,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "10-v5-k-tile",
        .title = "V5, whole rows of K staged in shared memory and rotated there",
        .cases = ladder_cases,
        .n_cases = KF_COUNT_OF(ladder_cases),
        .variants = variants,
        .n_variants = KF_COUNT_OF(variants),
        .setup = ladder_setup,
        .reference = kf_attention_reference,
        .cost = kf_attention_cost,
        .timings = ladder_timings,
        .n_timings = KF_COUNT_OF(ladder_timings),
    };
    return kf_main(&program, argc, argv);
}
