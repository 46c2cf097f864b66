/* 12-v6-partial-rotary: V6 that turns only the first R dimensions
 *
 * Grows from: 11-v6-dimension-tiles
 *
 * Idea     Step 11 turned the dimensions beyond R as well, by nothing. Stop the rotating loop at
 *          R and let the rest be a plain product. At (D, R) = (2048, 128) that leaves a sixteenth
 *          of the rotations: 524,288 elements of K a head instead of 8,388,608 (separate: 16,384
 *          of q and k).
 * Predict  The log saw no gain (0.567 against 0.583 ms) and concluded that the recomputation
 *          dominates. The two do not go together: if recomputation dominated, a sixteenth of it
 *          would show. A pair costs a sincos and some 20 instructions when it turns, and 6 when
 *          it does not. With one busy warp nothing hides them, so the dot products should take a
 *          third of the time they took, and the whole a quarter less. With all threads busy the
 *          gain should be small. Without any rotation (wrong results) it should hardly be faster
 *          than with R = 128.
 * Outcome  A gain at last, half of the predicted one; with all threads busy it is small, as
 *          predicted. All rotations of K together take a fifth of V6's time: they do not
 *          dominate. What V6 has over separate is its tiles. With the same tiles and all threads
 *          busy the two are level at R = 2048, and V6 is ahead at R = 128: at 64 queries 4096
 *          rotations a head cost about what two launches and a round trip through memory do. Not
 *          predicted: without any rotation it is clearly faster than with R = 128, and than with
 *          R = 0. A loop in two parts costs that.
 *          The first v6-direct read the query before it was there, at R = 0 only: without a chunk
 *          there was no barrier either.
 */
#include "cuda/fp32_angles.cuh"
#include "cuda/rope_ladder.cuh"
#include "problems/attention.h"

#include <stdio.h>

enum { WARPS = LADDER_THREADS / 32, BLOCKS = 2, KEYS = 32, PAIRS = 128 };

// Which pairs of K turn: every one, as in step 11, the first R/2, or none, which is wrong and shows
// what all the turning costs.
enum turning { ALL_PAIRS, FIRST_PAIRS, NO_PAIRS };

// D/2 pairs in all: first those that turn, (p, p + R/2), then the rest of the dimensions, halves
// again, which turn by nothing. member 0 or 1 -> the dimension
static __device__ int dimension_of(int p, int member, int D, int R)
{
    const int half = R / 2;
    return p < half ? p + member * half : p + half + member * (D - R) / 2;
}

// q [D], frequency [D/2] -> query [2][D/2] in shared memory, its first turned pairs rotated: first
// members, then second
// cost: one rotation a block
static __device__ void rotate_query(const float *q, const float *frequency, float position,
                                    float *query, int turned, int D, int R)
{
    COUNT("Q rotations", R > 0 && threadIdx.x == 0);
    for (int p = threadIdx.x; p < D / 2; p += blockDim.x) {
        const float x = q[dimension_of(p, 0, D, R)];
        const float y = q[dimension_of(p, 1, D, R)];
        if (p < turned) {
            turn_pair(x, y, position * frequency[p], &query[p], &query[D / 2 + p]);
        } else {
            query[p] = x;
            query[D / 2 + p] = y;
        }
    }
}

// k [n][D] -> chunk [n][stride] in shared memory: pairs p0 ... p0 + width - 1 of n keys, in each
// row the first members, then the second; a warp copies a row, all its loads before the first store
// cost: 8 n width bytes
template <int pairs>
static __device__ void stage_chunk(const float *k, float *chunk, int n, int p0, int width,
                                   int stride, int D, int R)
{
    const int lane = threadIdx.x % 32;
    float kept[2 * pairs / 32];
    for (int r = threadIdx.x / 32; r < n; r += WARPS) {
#pragma unroll
        for (int i = 0; i < 2 * pairs / 32; i++) {
            const int c = lane + 32 * i;
            const int member = c >= width;
            const int d = dimension_of(p0 + c - member * width, member, D, R);
            kept[i] = c < 2 * width ? k[(int64_t)r * D + d] : 0.0f;
        }
        __syncwarp(); // keeps the compiler from moving a store, which waits, between the loads
#pragma unroll
        for (int i = 0; i < 2 * pairs / 32; i++) {
            chunk[r * stride + lane + 32 * i] = kept[i]; // what is not in the chunk is never read
        }
    }
}

// snippet: product
// query [2][D/2], key [2][width], frequency [width] -> the share of their product in the pairs
// first, first + step, ... of the chunk, of which those from turned on do not turn
static __device__ float partly_rotated_product(const float *query, const float *key,
                                               const float *frequency, float position, int D,
                                               int width, int turned, int first, int step)
{
    float dot = 0.0f;
    int i = first;
    // solution: split -- the pairs that turn, then those that do not
    for (; i < turned; i += step) {
        float s, c;
        __sincosf(position * frequency[i], &s, &c);
        COUNT("element rotations", 2);
        dot += query[i] * (key[i] * c - key[i + width] * s);
        dot += query[i + D / 2] * (key[i + width] * c + key[i] * s);
    }
    for (; i < width; i += step) {
        dot += query[i] * key[i] + query[i + D / 2] * key[i + width];
    }
    // end solution: split
    return dot;
}
// end snippet: product

// snippet: direct
// query [2][D/2], key [D] in global memory -> the share of their product in the pairs beyond R,
// from R/2 + first on
static __device__ float direct_product(const float *query, const float *key, int D, int R,
                                       int first, int step)
{
    float dot = 0.0f;
    for (int p = R / 2 + first; p < D / 2; p += step) {
        dot += query[p] * key[dimension_of(p, 0, D, R)];
        dot += query[p + D / 2] * key[dimension_of(p, 1, D, R)];
    }
    return dot;
}
// end snippet: direct

// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D] -> o [H][Sq][D]
// grid (Sq, H), LADDER_THREADS threads, dynamic shared memory: (3/2 D + Sk + KEYS (2 PAIRS + 1))
// floats
// cost: 4 D Sk flops a block and 3 R Sk for the rotations; Sk K rotations a block; Sk R/2 sincos;
// reads k and v once a block; two barriers a chunk, ceil(Sk / KEYS) ceil(D / (2 PAIRS)) chunks
template <turning turns, bool staged, bool all_threads>
__global__ void __launch_bounds__(LADDER_THREADS, BLOCKS)
    attention_v6_partial(const float *q, const float *k, const float *v, float *o, int Sq, int Sk,
                         int D, int R, int pos0, bool causal, float scale)
{
    extern __shared__ float shared[];
    __shared__ float scratch[LADDER_THREADS];
    __shared__ float partial[WARPS][KEYS];
    const int stride = 2 * PAIRS + 1;
    float *query = shared;
    float *frequency = query + D;
    float *score = frequency + D / 2;
    float *chunk = score + Sk;
    const int row = blockIdx.x;
    const int64_t head = blockIdx.y;
    const int visible = causal ? Sk - Sq + row + 1 : Sk;
    const int chunked = staged ? D / 2 : R / 2;
    // One key a thread, or a key a lane and every eighth pair a warp.
    const int own = all_threads ? threadIdx.x % 32 : threadIdx.x;
    const int part = all_threads ? threadIdx.x / 32 : 0;
    const int parts = all_threads ? WARPS : 1;
    float largest = -INFINITY;
    q += (head * Sq + row) * D;
    o += (head * Sq + row) * D;
    k += head * Sk * D;
    v += head * Sk * D;

    stage_frequencies(frequency, D / 2, R);
    __syncthreads();
    rotate_query(q, frequency, (float)(pos0 + Sk - Sq + row), query,
                 turns == ALL_PAIRS ? D / 2 : R / 2, D, R);
    if (!staged) {
        __syncthreads(); // with R = 0 there is no chunk, so no other barrier before query is read
    }

    for (int first = 0; first < visible; first += KEYS) {
        const int n = min(KEYS, visible - first);
        const float position = (float)(pos0 + first + own);
        float dot = 0.0f;
        COUNT("K rotations", turns != NO_PAIRS && R > 0 && part == 0 && own < n);
        for (int p0 = 0; p0 < chunked; p0 += PAIRS) {
            const int width = min(PAIRS, chunked - p0);
            stage_chunk<PAIRS>(k + (int64_t)first * D, chunk, n, p0, width, stride, D, R);
            __syncthreads();
            if (own < n) {
                const int turned = turns == ALL_PAIRS     ? width
                                   : turns == FIRST_PAIRS ? max(0, min(width, R / 2 - p0))
                                                          : 0;
                dot += partly_rotated_product(query + p0, chunk + own * stride, frequency + p0,
                                              position, D, width, turned, part, parts);
            }
            __syncthreads(); // the chunk is free again: the next one takes its place
        }
        if (!staged && own < n) {
            dot += direct_product(query, k + (int64_t)(first + own) * D, D, R, part, parts);
        }
        if (all_threads) {
            partial[part][own] = dot;
            __syncthreads();
            for (int w = 1; w < WARPS && part == 0; w++) {
                dot += partial[w][own];
            }
        }
        if (part == 0 && own < n) {
            score[first + own] = dot * scale;
            largest = fmaxf(largest, dot * scale);
        }
    }
    finish_row<block_reduction>(score, largest, v, o, visible, D, scratch);
}

template <turning turns, bool staged, bool all_threads>
static void launch_on(const kf_run *run, const float *q, const float *k, int R, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const size_t shared = (s.D + s.D / 2 + s.Sk + KEYS * (2 * PAIRS + 1)) * sizeof(float);
    attention_v6_partial<turns, staged, all_threads>
        <<<dim3(s.Sq, s.H), LADDER_THREADS, shared, stream>>>(
            q, k, kf_f32(run, "v"), kf_f32(run, "o"), s.Sq, s.Sk, s.D, R, s.pos0, s.causal,
            1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}

template <turning turns, bool staged, bool all_threads>
static void launch(const kf_run *run, cudaStream_t stream)
{
    launch_on<turns, staged, all_threads>(run, kf_f32(run, "q"), kf_f32(run, "k"), run->shape.R,
                                          stream);
}

// snippet: tiled
// Separate with V6's tiles: rotated by kernels of their own, q and k have nothing left to turn.
template <bool all_threads>
static void launch_separate_tiled(const kf_run *run, cudaStream_t stream)
{
    launch_rope_q(run, stream);
    launch_rope_k(run, stream);
    launch_on<FIRST_PAIRS, true, all_threads>(run, kf_f32(run, "q_turned"), kf_f32(run, "k_turned"),
                                              0, stream);
}
// end snippet: tiled

// snippet: predict
// Keys that do not turn give other scores, finite ones. With nothing to turn, or with a single key,
// whose weight is 1 whatever its score, all is right.
static bool unturned_as_predicted(const kf_run *run, const kf_diagnosis *seen, char *why,
                                  size_t size)
{
    const kf_shape s = run->shape;
    const bool shows = s.R > 0 && s.Sk > 1;
    snprintf(why, size, "predicted %s, and no NaN; seen %lld wrong, %lld NaN or Inf",
             shows ? "wrong elements" : "none wrong", (long long)seen->wrong,
             (long long)seen->nonfinite);
    return seen->nonfinite == 0 && shows == (seen->wrong > 0);
}
// end snippet: predict

// "head" is there to compare two counts, and many queries are much work for a CPU.
static bool explains(const kf_case *c)
{
    return ladder_near(c) && (c->shape.D < 2048 || c->shape.H > 1) && c->shape.Sq < 65;
}

// Nothing beyond R: nothing to leave unstaged.
static bool beyond(const kf_case *c)
{
    return c->shape.R < c->shape.D && explains(c);
}

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate,
     .block = LADDER_THREADS},
    {.name = "v6",
     .about = "step 11: turns all pairs, those beyond R by nothing",
     .launch = launch<ALL_PAIRS, true, false>,
     .applies = ladder_near,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v6-partial",
     .about = "turns the first R/2 pairs",
     .launch = launch<FIRST_PAIRS, true, false>,
     .applies = ladder_near,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v6-direct",
     .about = "v6-partial, what lies beyond R read past shared memory",
     .launch = launch<FIRST_PAIRS, false, false>,
     .applies = beyond,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v6-none",
     .about = "v6 without turning any key, which is wrong",
     .launch = launch<NO_PAIRS, true, false>,
     .applies = explains,
     .block = LADDER_THREADS,
     .predicted = unturned_as_predicted,
     .extra_error = ladder_angle_error},
    {.name = "v6-all",
     .about = "v6 with all threads on the chunk",
     .launch = launch<ALL_PAIRS, true, true>,
     .applies = explains,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v6-partial-all",
     .about = "v6-partial with all threads on the chunk",
     .launch = launch<FIRST_PAIRS, true, true>,
     .applies = explains,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v6-none-all",
     .about = "v6-none with all threads on the chunk",
     .launch = launch<NO_PAIRS, true, true>,
     .applies = explains,
     .block = LADDER_THREADS,
     .predicted = unturned_as_predicted,
     .extra_error = ladder_angle_error},
    {.name = "separate-tiled",
     .about = "separate, its attention with v6's tiles",
     .launch = launch_separate_tiled<false>,
     .applies = explains,
     .block = LADDER_THREADS},
    {.name = "separate-tiled-all",
     .about = "the same with all threads on the chunk",
     .launch = launch_separate_tiled<true>,
     .applies = explains,
     .block = LADDER_THREADS},
};

// The ladder's partial cases, and R swept at one D. What is verified only is odd, or small.
static const kf_case cases[] = {
    {.name = "D80-R20", .shape = {.H = 4, .Sq = 64, .Sk = 64, .D = 80, .R = 20}, .flags = KF_LARGE},
    {.name = "D128-R64",
     .shape = {.H = 4, .Sq = 64, .Sk = 64, .D = 128, .R = 64},
     .flags = KF_LARGE},
    {.name = "D128", .shape = {.H = 4, .Sq = 64, .Sk = 64, .D = 128, .R = 128}, .flags = KF_LARGE},
    {.name = "D512-R128",
     .shape = {.H = 4, .Sq = 64, .Sk = 64, .D = 512, .R = 128},
     .flags = KF_LARGE},
    {.name = "D512", .shape = {.H = 4, .Sq = 64, .Sk = 64, .D = 512, .R = 512}, .flags = KF_LARGE},
    {.name = "D2048-R0", .shape = {.H = 4, .Sq = 64, .Sk = 64, .D = 2048}, .flags = KF_LARGE},
    {.name = "D2048-R32",
     .shape = {.H = 4, .Sq = 64, .Sk = 64, .D = 2048, .R = 32},
     .flags = KF_LARGE},
    {.name = "D2048-R64",
     .shape = {.H = 4, .Sq = 64, .Sk = 64, .D = 2048, .R = 64},
     .flags = KF_LARGE},
    {.name = "D2048-R128",
     .shape = {.H = 4, .Sq = 64, .Sk = 64, .D = 2048, .R = 128},
     .flags = KF_LARGE},
    {.name = "D2048-R512",
     .shape = {.H = 4, .Sq = 64, .Sk = 64, .D = 2048, .R = 512},
     .flags = KF_LARGE},
    {.name = "D2048",
     .shape = {.H = 4, .Sq = 64, .Sk = 64, .D = 2048, .R = 2048},
     .flags = KF_LARGE},
    {.name = "head", .shape = {.Sq = 64, .Sk = 64, .D = 2048, .R = 128}, .flags = KF_VERIFY_ONLY},
    {.name = "S1", .shape = {.H = 4, .D = 64, .R = 64}, .flags = KF_VERIFY_ONLY},
    {.name = "S63", .shape = {.Sq = 63, .Sk = 63, .D = 80, .R = 20}, .flags = KF_VERIFY_ONLY},
    {.name = "S65",
     .shape = {.Sq = 65, .Sk = 65, .D = 32, .R = 8, .causal = true},
     .flags = KF_VERIFY_ONLY},
    {.name = "S200",
     .shape = {.Sq = 200, .Sk = 200, .D = 80, .R = 20, .causal = true},
     .flags = KF_VERIFY_ONLY},
    {.name = "D8", .shape = {.Sq = 15, .Sk = 64, .D = 8, .R = 4}, .flags = KF_VERIFY_ONLY},
    {.name = "D16", .shape = {.Sq = 16, .Sk = 64, .D = 16, .R = 8}, .flags = KF_VERIFY_ONLY},
    {.name = "D32", .shape = {.Sq = 16, .Sk = 64, .D = 32, .R = 32}, .flags = KF_VERIFY_ONLY},
    {.name = "D64", .shape = {.Sq = 16, .Sk = 64, .D = 64, .R = 32}, .flags = KF_VERIFY_ONLY},
    {.name = "D128-R0", .shape = {.Sq = 19, .Sk = 64, .D = 128}, .flags = KF_VERIFY_ONLY},
    {.name = "chunks",
     .shape = {.H = 2, .Sq = 5, .Sk = 41, .D = 640, .R = 386},
     .flags = KF_VERIFY_ONLY},
    {.name = "few",
     .shape = {.H = 2, .Sq = 3, .Sk = 333, .D = 64, .R = 16, .causal = true},
     .flags = KF_VERIFY_ONLY},
    {.name = "far",
     .shape = {.H = 2, .Sq = 19, .Sk = 45, .D = 128, .R = 64, .pos0 = 131027},
     .flags = KF_VERIFY_ONLY},
    {.name = "steep",
     .shape = {.Sq = 33, .Sk = 33, .D = 64, .R = 32, .causal = true},
     .flags = KF_VERIFY_ONLY | KF_STEEP},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "12-v6-partial-rotary",
        .title = "V6 that turns only the first R dimensions",
        .cases = cases,
        .n_cases = KF_COUNT_OF(cases),
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
