/* 12-v6-partial-rotary: V6 that rotates only the first R dimensions
 *
 * Grows from: 11-v6-dimension-tiles, at most 40 % of its story new
 * Architecture: 75
 * Profile: kernels=attention warm --case D2048
 *
 * Idea     Step 11 rotated the dimensions beyond R as well, by an angle of 0. A second loop takes
 *          them, as a plain product. At (D, R) = (2048, 128) a sixteenth of the rotations is left.
 * Predict  E1 saw no gain (0.567 against 0.583 ms) and concluded that rotations dominate. If they
 *          did, a sixteenth of them would show. A pair that does not rotate should save most of
 *          its cycles: a quarter of the time with one key per thread, a tenth with all threads.
 *          With the same tiles separate should be ahead at R = 2048, and behind at R = 128.
 * Outcome  A gain, smaller than predicted; with all threads next to none. Without any rotation
 *          the gain is as predicted with one key per thread: rotations do not dominate. The tiles
 *          make V6 faster than separate: with the same tiles, loops and threads separate is level
 *          at R = 2048, and behind at R = 128. At R = 0 V6 is slower than without any rotation,
 *          with the same arithmetic: nvcc compiles it differently.
 */
#include "cuda/fp32_angles.cuh"
#include "cuda/rope_ladder.cuh"

#include <stdio.h>

enum {
    WARPS = THREADS / 32,
    KEYS = 32,              // per chunk
    PAIRS = 128,            // per key of a chunk
    STRIDE = 2 * PAIRS + 1, // of a key's row in the tile
    BLOCKS = 2              // per multiprocessor
};

// Functions that the kernel calls, in this order. Their definitions, below, explain them.
static __device__ __forceinline__ void rotate_query(attention_args a, block_rows own,
                                                    const float *frequency, float *query);
static __device__ __forceinline__ float score_keys(attention_args a, block_rows own,
                                                   const float *query, const float *frequency,
                                                   float *score, float *tile);

// same as step 11
// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D] -> o [H][Sq][D]
// grid (Sq, H), THREADS threads, (3/2 D + Sk + KEYS STRIDE) floats of dynamic shared memory
// cost: 4 D Sk flops per block, and the rotations; reads k and v once per block;
// ceil(Sk / KEYS) ceil(D / (2 PAIRS)) chunks
static __global__ void __launch_bounds__(THREADS, BLOCKS) attention_v6(attention_args a)
{
    extern __shared__ float shared[];
    __shared__ float scratch[THREADS];
    float *query = shared;
    float *frequency = query + a.D;
    float *score = frequency + a.D / 2;
    float *tile = score + a.Sk;
    const block_rows own = rows_of_block(a);

    precompute_frequencies(frequency, a.D / 2, a.R);
    __syncthreads();
    rotate_query(a, own, frequency, query);
    const float row_max = score_keys(a, own, query, frequency, score, tile);
    softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
}

// same as step 11
// Pair p and a member, 0 or 1 -> the dimension of this member. Pairs below R/2 rotate: they are
// (p, p + R/2). The D - R others form pairs, too: member 0 in their first half, 1 in their second.
static __device__ __forceinline__ int dimension_of(int p, int member, int D, int R)
{
    const int half = R / 2;
    int d = 0;
    if (p < half) {
        d = p + member * half;
    } else {
        d = p + half + member * (D - R) / 2;
    }
    return d;
}

// q [D] of the block's query, frequency [D/2] -> query [2][D/2] in shared memory, its first R/2
// pairs rotated: first members, then second members
// cost: one rotation per block
static __device__ __forceinline__ void rotate_query(attention_args a, block_rows own,
                                                    const float *frequency, float *query)
{
    const float position = (float)(a.pos0 + own.position);
    COUNT("Q rotations", threadIdx.x == 0 && a.R > 0);
    for (int p = threadIdx.x; p < a.D / 2; p += blockDim.x) {
        const float x = own.q[dimension_of(p, 0, a.D, a.R)];
        const float y = own.q[dimension_of(p, 1, a.D, a.R)];
        if (p < a.R / 2) {
            rotate_pair(x, y, position * frequency[p], &query[p], &query[a.D / 2 + p]);
        } else {
            query[p] = x;
            query[a.D / 2 + p] = y;
        }
    }
}

// same as step 11
// k [n][D] -> tile [n][2 pairs + 1] in shared memory: pairs p0 to p0 + width - 1 of n keys. A row
// has the first members, then the second. A warp copies a row.
// cost: 8 n width bytes
template <int pairs>
static __device__ __forceinline__ void stage_keys(attention_args a, const float *k, float *tile,
                                                  int n, int p0, int width)
{
    const int lane = threadIdx.x % 32;
    const int stride = 2 * pairs + 1;
    const int loads = 2 * pairs / 32; // in flight per thread
    float kept[loads];
    for (int r = threadIdx.x / 32; r < n; r += WARPS) {
        // All loads first. A thread that stored each element at once would wait for each load.
#pragma unroll
        for (int i = 0; i < loads; i++) {
            const int c = lane + 32 * i;
            const int member = c >= width;
            const int d = dimension_of(p0 + c - member * width, member, a.D, a.R);
            kept[i] = c < 2 * width ? k[(int64_t)r * a.D + d] : 0.0f;
        }
        // Without this line nvcc puts stores between the loads. A store waits for its value.
        __syncwarp();
#pragma unroll
        for (int i = 0; i < loads; i++) {
            tile[r * stride + lane + 32 * i] = kept[i]; // elements beyond the chunk are never read
        }
    }
}

// query [2][D/2], of which R dimensions are rotated, frequency [D/2], k [Sk][D] not rotated ->
// score [visible], one key per thread, which reads it from tile [KEYS][STRIDE] and rotates it in
// registers. Returns the thread's row_max.
// cost: a block rotates Sk keys, a head Sq Sk; per key R/2 sincos and 3 R flops; two barriers
// per chunk
static __device__ __forceinline__ float score_keys(attention_args a, block_rows own,
                                                   const float *query, const float *frequency,
                                                   float *score, float *tile)
{
    const int r = threadIdx.x;
    const float *key = tile + r * STRIDE;
    float row_max = -INFINITY;
    for (int first = 0; first < own.visible; first += KEYS) {
        const int n = min(KEYS, own.visible - first);
        const int j = first + r;
        const float position = (float)(a.pos0 + j);
        float dot = 0.0f;
        COUNT("K rotations", r < n && a.R > 0);
        for (int p0 = 0; p0 < a.D / 2; p0 += PAIRS) {
            const int width = min(PAIRS, a.D / 2 - p0);
            stage_keys<PAIRS>(a, own.k + (int64_t)first * a.D, tile, n, p0, width);
            __syncthreads();
            if (r < n) {
                // snippet: split
                const int rotated = max(0, min(width, a.R / 2 - p0)); // pairs of this chunk
                int i = 0;
                // solution: split -- the pairs that rotate, then those that do not
                // hint: i has been declared and is 0. A first loop takes the pairs that rotate and
                //     a second one the rest, with the same i. Where does each of them end, and
                //     what does a pair that does not rotate add to dot?
                // hint: The first loop runs while i < rotated. Its body is that of step 11:
                //     `p = p0 + i`, an angle of `position * frequency[p]`, the members `key[i]`
                //     and `key[i + width]`, the query's elements `query[p]` and
                //     `query[p + a.D / 2]`. rotated may be 0 or width, and then one of the loops
                //     has nothing to do.
                // hint: The second loop is `for (; i < width; i++)`. That loop needs no angle: dot
                //     grows by the product of the two first members and by that of the two second
                //     members.
                for (; i < rotated; i++) {
                    const int p = p0 + i;
                    float s, c;
                    __sincosf(position * frequency[p], &s, &c);
                    COUNT("element rotations", 2);
                    dot += query[p] * (key[i] * c - key[i + width] * s);
                    dot += query[p + a.D / 2] * (key[i + width] * c + key[i] * s);
                }
                for (; i < width; i++) {
                    const int p = p0 + i;
                    dot += query[p] * key[i] + query[p + a.D / 2] * key[i + width];
                }
                // end solution: split
                // end snippet: split
            }
            __syncthreads(); // the tile is free again: the next one takes its place
        }
        if (r < n) {
            score[j] = dot * a.scale;
            row_max = fmaxf(row_max, dot * a.scale);
        }
    }
    return row_max;
}

// same as step 11
static size_t shared_memory(attention_args a)
{
    return (a.D + a.D / 2 + a.Sk + KEYS * STRIDE) * sizeof(float);
}

static void enqueue(const kf_run *run, attention_args a, cudaStream_t stream)
{
    attention_v6<<<dim3(a.Sq, run->shape.H), THREADS, shared_memory(a), stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

static void launch_v6_partial(const kf_run *run, cudaStream_t stream)
{
    enqueue(run, arguments_to_rotate(run), stream);
}

// Separate with V6's tiles: separate kernels rotate q and k, so the attention kernel runs at R = 0.
static void launch_separate_tiled(const kf_run *run, cudaStream_t stream)
{
    launch_rope_q(run, stream);
    launch_rope_k(run, stream);
    enqueue(run, arguments_rotated(run), stream);
}

// --- Variants that explain -----------------------------------------------------------------------

// The differences from this step's V6, which can be combined.
enum differences {
    ALL_PAIRS = 1,  // all pairs rotate, those beyond R by an angle of 0, as in step 11
    NO_PAIRS = 2,   // no pair of a key rotates: wrong results, to see the cost of all rotations
    DIRECT = 4,     // the pairs beyond R are not staged
    ALL_THREADS = 8 // all threads have work: a lane has a key, a warp every eighth pair of it
};

namespace step_11
{

// same as step 11
// q [D] of the block's query, frequency [D/2] -> query [2][D/2] in shared memory, rotated: first
// members, then second members
// cost: one rotation per block
static __device__ __forceinline__ void rotate_query(attention_args a, block_rows own,
                                                    const float *frequency, float *query)
{
    const float position = (float)(a.pos0 + own.position);
    COUNT("Q rotations", threadIdx.x == 0 && a.R > 0);
    for (int p = threadIdx.x; p < a.D / 2; p += blockDim.x) {
        const float x = own.q[dimension_of(p, 0, a.D, a.R)];
        const float y = own.q[dimension_of(p, 1, a.D, a.R)];
        rotate_pair(x, y, position * frequency[p], &query[p], &query[a.D / 2 + p]);
    }
}

} // namespace step_11

// snippet: direct
// query [2][D/2], key [D] in global memory -> the part of their product from the pairs beyond R
static __device__ __forceinline__ float direct_product(const float *query, const float *key, int D,
                                                       int R)
{
    float dot = 0.0f;
    for (int p = R / 2; p < D / 2; p++) {
        dot += query[p] * key[dimension_of(p, 0, D, R)];
        dot += query[p + D / 2] * key[dimension_of(p, 1, D, R)];
    }
    return dot;
}
// end snippet: direct

// As score_keys, with these differences.
template <int by>
static __device__ __forceinline__ float
score_keys_by(attention_args a, block_rows own, const float *query, const float *frequency,
              float *score, float *tile, float (*partial)[KEYS])
{
    const int r = by & ALL_THREADS ? threadIdx.x % 32 : threadIdx.x;
    const int part = by & ALL_THREADS ? threadIdx.x / 32 : 0;
    const int parts = by & ALL_THREADS ? WARPS : 1;
    const int chunked = by & DIRECT ? a.R / 2 : a.D / 2;
    const float *key = tile + r * STRIDE;
    float row_max = -INFINITY;
    for (int first = 0; first < own.visible; first += KEYS) {
        const int n = min(KEYS, own.visible - first);
        const int j = first + r;
        const float position = (float)(a.pos0 + j);
        float dot = 0.0f;
        COUNT("K rotations", !(by & NO_PAIRS) && part == 0 && r < n && a.R > 0);
        for (int p0 = 0; p0 < chunked; p0 += PAIRS) {
            const int width = min(PAIRS, chunked - p0);
            stage_keys<PAIRS>(a, own.k + (int64_t)first * a.D, tile, n, p0, width);
            __syncthreads();
            if (r < n) {
                const int rotated = by & ALL_PAIRS  ? width
                                    : by & NO_PAIRS ? 0
                                                    : max(0, min(width, a.R / 2 - p0));
                int i = part;
                // solution: split-part -- the same for every parts-th pair, from i on
                // hint: The difference from split: i has been declared and is part, and the pairs
                //     of a key are divided among as many threads as parts says. By how much does i
                //     grow in the first loop, and with which i does the second one go on?
                // hint: Both loops grow i by parts. The second one goes on with the i at which the
                //     first one has ended: it is the next pair of this part. If part is not below
                //     rotated, the first loop does nothing. rotated says already what ALL_PAIRS
                //     and NO_PAIRS want, so the bodies are those of split.
                for (; i < rotated; i += parts) {
                    const int p = p0 + i;
                    float s, c;
                    __sincosf(position * frequency[p], &s, &c);
                    COUNT("element rotations", 2);
                    dot += query[p] * (key[i] * c - key[i + width] * s);
                    dot += query[p + a.D / 2] * (key[i + width] * c + key[i] * s);
                }
                for (; i < width; i += parts) {
                    const int p = p0 + i;
                    dot += query[p] * key[i] + query[p + a.D / 2] * key[i + width];
                }
                // end solution: split-part
            }
            __syncthreads();
        }
        if (by & DIRECT && r < n) {
            dot += direct_product(query, own.k + (int64_t)j * a.D, a.D, a.R);
        }
        if (by & ALL_THREADS) {
            partial[part][r] = dot;
            __syncthreads();
            for (int w = 1; w < WARPS && part == 0; w++) {
                dot += partial[w][r];
            }
        }
        if (part == 0 && r < n) {
            score[j] = dot * a.scale;
            row_max = fmaxf(row_max, dot * a.scale);
        }
    }
    return row_max;
}

template <int by>
static __global__ void __launch_bounds__(THREADS, BLOCKS) attention_v6_by(attention_args a)
{
    extern __shared__ float shared[];
    __shared__ float scratch[THREADS];
    __shared__ float partial[WARPS][KEYS];
    float *query = shared;
    float *frequency = query + a.D;
    float *score = frequency + a.D / 2;
    float *tile = score + a.Sk;
    const block_rows own = rows_of_block(a);

    precompute_frequencies(frequency, a.D / 2, a.R);
    __syncthreads();
    if (by & ALL_PAIRS) {
        step_11::rotate_query(a, own, frequency, query);
    } else {
        rotate_query(a, own, frequency, query);
    }
    if (by & DIRECT) {
        __syncthreads(); // at R = 0 there is no chunk, so no other barrier before query is read
    }
    const float row_max = score_keys_by<by>(a, own, query, frequency, score, tile, partial);
    softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
}

template <int by>
static void enqueue_by(const kf_run *run, attention_args a, cudaStream_t stream)
{
    attention_v6_by<by><<<dim3(a.Sq, run->shape.H), THREADS, shared_memory(a), stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

template <int by>
static void launch_by(const kf_run *run, cudaStream_t stream)
{
    enqueue_by<by>(run, arguments_to_rotate(run), stream);
}

static void launch_separate_tiled_all(const kf_run *run, cudaStream_t stream)
{
    launch_rope_q(run, stream);
    launch_rope_k(run, stream);
    enqueue_by<ALL_THREADS>(run, arguments_rotated(run), stream);
}

// --- Tables --------------------------------------------------------------------------------------

// Attention over unrotated keys. The reference rotates keys, so they are rotated back before.
static void unrotated_reference(kf_run *run)
{
    const kf_shape s = run->shape;
    const int half = s.R / 2;
    kf_tensor *k = kf_find(run, "k");
    float *const as_it_came = k->host;
    double *cosine = (double *)kf_alloc((int64_t)s.Sk * half, sizeof *cosine);
    double *sine = (double *)kf_alloc((int64_t)s.Sk * half, sizeof *sine);
    double *key = (double *)kf_alloc(s.D, sizeof *key);
    kf_rope_fp64(s.pos0, s.Sk, s.R, cosine, sine);
    for (int i = 0; i < s.Sk * half; i++) {
        sine[i] = -sine[i];
    }
    k->host = (float *)kf_alloc(k->count, sizeof *k->host);
    for (int64_t row = 0; row < k->rows; row++) {
        const int64_t angles = row % s.Sk * half;
        for (int d = 0; d < s.D; d++) {
            key[d] = as_it_came[row * s.D + d];
        }
        kf_rotate(true, key, s.R, cosine + angles, sine + angles);
        for (int d = 0; d < s.D; d++) {
            k->host[row * s.D + d] = (float)key[d];
        }
    }
    kf_attention_reference(run);
    free(k->host);
    k->host = as_it_came;
    free(cosine);
    free(sine);
    free(key);
}

// Unrotated keys give other scores. The result is right only if nothing rotates (R = 0), or for a
// single key: its probability is 1 for any score.
static bool unrotated_as_predicted(const kf_run *run, const kf_diagnosis *seen, char *why,
                                   size_t size)
{
    const kf_shape s = run->shape;
    const bool shows = s.R > 0 && s.Sk > 1;
    const int64_t others = kf_wrong_by(run, "o", unrotated_reference);
    snprintf(
        why, size,
        "predicted %s, and attention over keys that are not rotated; seen %lld wrong, and %lld "
        "that this is not",
        shows ? "wrong elements" : "none wrong", (long long)seen->wrong, (long long)others);
    return others == 0 && shows == (seen->wrong > 0);
}

// "head" is for comparing two counts, and many queries take a CPU long: both are left out.
static bool explains(const kf_case *c)
{
    return ladder_near(c) && (c->shape.D < 2048 || c->shape.H > 1) && c->shape.Sq < 65;
}

// Cases with dimensions beyond R, which can be left unstaged.
static bool beyond(const kf_case *c)
{
    return c->shape.R < c->shape.D && explains(c);
}

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate},
    {.name = "v6",
     .about = "step 11: rotates all pairs, those beyond R by an angle of 0",
     .launch = launch_by<ALL_PAIRS>,
     .applies = ladder_near,
     .extra_error = ladder_angle_error},
    {.name = "v6-partial",
     .about = "rotates the first R/2 pairs",
     .launch = launch_v6_partial,
     .applies = ladder_near,
     .extra_error = ladder_angle_error},
    {.name = "v6-direct",
     .about = "v6-partial, dimensions beyond R read from global memory",
     .launch = launch_by<DIRECT>,
     .applies = beyond,
     .extra_error = ladder_angle_error},
    {.name = "v6-none",
     .about = "v6 without rotating any key, which is wrong",
     .launch = launch_by<NO_PAIRS>,
     .applies = explains,
     .predicted = unrotated_as_predicted,
     .extra_error = ladder_angle_error},
    {.name = "v6-all",
     .about = "v6 with all threads on the chunk",
     .launch = launch_by<ALL_PAIRS | ALL_THREADS>,
     .applies = explains,
     .extra_error = ladder_angle_error},
    {.name = "v6-partial-all",
     .about = "v6-partial with all threads on the chunk",
     .launch = launch_by<ALL_THREADS>,
     .applies = explains,
     .extra_error = ladder_angle_error},
    {.name = "v6-none-all",
     .about = "v6-none with all threads on the chunk",
     .launch = launch_by<NO_PAIRS | ALL_THREADS>,
     .applies = explains,
     .predicted = unrotated_as_predicted,
     .extra_error = ladder_angle_error},
    {.name = "separate-tiled",
     .about = "separate, its attention with v6's tiles",
     .launch = launch_separate_tiled,
     .applies = explains},
    {.name = "separate-tiled-all",
     .about = "the same with all threads on the chunk",
     .launch = launch_separate_tiled_all,
     .applies = explains},
};

// The ladder's partial cases, and a sweep of R at one D. Verify-only cases are odd, or small.
static const kf_case cases[] = {
    KF_CASE("D80-R20", KF_LARGE, .H = 4, .Sq = 64, .Sk = 64, .D = 80, .R = 20),
    KF_CASE("D128-R64", KF_LARGE, .H = 4, .Sq = 64, .Sk = 64, .D = 128, .R = 64),
    KF_CASE("D128", KF_LARGE, .H = 4, .Sq = 64, .Sk = 64, .D = 128, .R = 128),
    KF_CASE("D512-R128", KF_LARGE, .H = 4, .Sq = 64, .Sk = 64, .D = 512, .R = 128),
    KF_CASE("D512", KF_LARGE, .H = 4, .Sq = 64, .Sk = 64, .D = 512, .R = 512),
    KF_CASE("D2048-R0", KF_LARGE, .H = 4, .Sq = 64, .Sk = 64, .D = 2048),
    KF_CASE("D2048-R32", KF_LARGE, .H = 4, .Sq = 64, .Sk = 64, .D = 2048, .R = 32),
    KF_CASE("D2048-R64", KF_LARGE, .H = 4, .Sq = 64, .Sk = 64, .D = 2048, .R = 64),
    KF_CASE("D2048-R128", KF_LARGE, .H = 4, .Sq = 64, .Sk = 64, .D = 2048, .R = 128),
    KF_CASE("D2048-R512", KF_LARGE, .H = 4, .Sq = 64, .Sk = 64, .D = 2048, .R = 512),
    KF_CASE("D2048", KF_LARGE, .H = 4, .Sq = 64, .Sk = 64, .D = 2048, .R = 2048),
    KF_CASE("head", KF_VERIFY_ONLY, .Sq = 64, .Sk = 64, .D = 2048, .R = 128),
    KF_CASE("S1", KF_VERIFY_ONLY, .H = 4, .D = 64, .R = 64),
    KF_CASE("S63", KF_VERIFY_ONLY, .Sq = 63, .Sk = 63, .D = 80, .R = 20),
    KF_CASE("S65", KF_VERIFY_ONLY, .Sq = 65, .Sk = 65, .D = 32, .R = 8, .causal = true),
    KF_CASE("S200", KF_VERIFY_ONLY, .Sq = 200, .Sk = 200, .D = 80, .R = 20, .causal = true),
    KF_CASE("D8", KF_VERIFY_ONLY, .Sq = 15, .Sk = 64, .D = 8, .R = 4),
    KF_CASE("D16", KF_VERIFY_ONLY, .Sq = 16, .Sk = 64, .D = 16, .R = 8),
    KF_CASE("D32", KF_VERIFY_ONLY, .Sq = 16, .Sk = 64, .D = 32, .R = 32),
    KF_CASE("D64", KF_VERIFY_ONLY, .Sq = 16, .Sk = 64, .D = 64, .R = 32),
    KF_CASE("D128-R0", KF_VERIFY_ONLY, .Sq = 19, .Sk = 64, .D = 128),
    KF_CASE("D70", KF_VERIFY_ONLY, .H = 2, .Sq = 3, .Sk = 41, .D = 70, .R = 34),
    KF_CASE("chunks", KF_VERIFY_ONLY, .H = 2, .Sq = 5, .Sk = 41, .D = 640, .R = 386),
    KF_CASE("tails", KF_VERIFY_ONLY, .H = 2, .Sq = 3, .Sk = 41, .D = 272, .R = 264, .causal = true,
            .pos0 = 500),
    KF_CASE("few", KF_VERIFY_ONLY, .H = 2, .Sq = 3, .Sk = 333, .D = 64, .R = 16, .causal = true),
    KF_CASE("far", KF_VERIFY_ONLY, .H = 2, .Sq = 19, .Sk = 45, .D = 128, .R = 64, .pos0 = 131027),
    // More keys than a block has threads.
    KF_CASE("long-D128", KF_VERIFY_ONLY, .H = 2, .Sq = 3, .Sk = 300, .D = 128, .R = 64,
            .causal = true),
    KF_CASE("steep-D128", KF_VERIFY_ONLY | KF_STEEP, .H = 2, .Sq = 7, .Sk = 600, .D = 128, .R = 64,
            .causal = true),
    KF_CASE("steep", KF_VERIFY_ONLY | KF_STEEP, .Sq = 33, .Sk = 33, .D = 64, .R = 32,
            .causal = true),
};

static const kf_question questions[] = {
    {.text = "v6-none rotates no key: how many of its 256 elements are wrong in the case S1, 4 "
             "heads of one query and one key, D = 64?",
     .figure = "wrong",
     .case_name = "S1",
     .variant = "v6-none"},
    {.text = "At D = 2048, how many times as fast is v6-partial (rotates 128 dimensions) as v6 "
             "(rotates all dimensions)?",
     .figure = "median_us",
     .case_name = "D2048-R128",
     .variant = "v6",
     .over = "v6-partial"},
    {.text = "At D = R = 2048, separate-tiled-all rotates each key once. In v6-partial-all, with "
             "the same tiles, 64 blocks rotate each key. How many times as fast as "
             "separate-tiled-all is v6-partial-all?",
     .figure = "median_us",
     .case_name = "D2048",
     .variant = "separate-tiled-all",
     .over = "v6-partial-all"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "12-v6-partial-rotary",
        .title = "V6 that rotates only the first R dimensions",
        KF_TABLES(cases, variants),
        .block = THREADS,
        .setup = ladder_setup,
        .reference = kf_attention_reference,
        .cost = kf_attention_cost,
        KF_TABLE(timings, ladder_timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
