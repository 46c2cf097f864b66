/* 11-v6-dimension-tiles: V6, tiles of 32 keys by 256 dimensions
 *
 * Follows: 10-v5-k-tile, at most 55 % of its story new
 * Architecture: 75
 * Profile: kernels=attention warm --case D2048
 *
 * Idea     Cut the tile along the dimensions as well. A chunk of 32 keys by 256 dimensions takes
 *          32,896 bytes at every D, so 32 threads have a key where V5 had 3. The sum of a dot
 *          product stays in a register from one chunk to the next. Dimension i rotates together
 *          with i + R/2, so chunks are made of pairs.
 * Predict  D = 2048: 2 x 1024 pairs one after the other, not 22 x 1024. So V6 should be over four
 *          times as fast as V5 and twice as fast as separate, and faster still with 64 keys by 128
 *          dimensions or with all threads. D = 128: two tiles, V5 has one: a little slower.
 * Outcome  The order is as predicted, the times are longer. V6 beats separate from D = 32 on,
 *          although each query rotates every key again. The reason is not fusion: V6 copies rows
 *          of K, separate reads across them. Step 12 gives separate the same tiles.
 */
#include "cuda/fp32_angles.cuh"
#include "cuda/rope_ladder.cuh"

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

// snippet: pairs
// Pair p and a member, 0 or 1 -> the dimension of this member. Pairs below R/2 rotate: they are
// (p, p + R/2). The D - R others form pairs, too: member 0 in their first half, 1 in their second.
static __device__ __forceinline__ int dimension_of(int p, int member, int D, int R)
{
    const int half = R / 2;
    int d = 0;
    // solution: pairs -- d becomes the dimension of `member` of pair p
    // hint: If p < half, pair p is made of dimensions p and p + R/2. The D - R dimensions from R
    //     on make the other pairs, which begin with p = half. How far apart are the two members of
    //     one of those?
    // hint: Each dimension of the first half of these D - R is paired with one of the second half,
    //     so the members are `(D - R) / 2` apart. The first member of pair half is dimension R, the
    //     first member of pair half + 1 is R + 1. What has to be added to p?
    // hint: For p < half it is one line, `d = p + member * half;`. For the others the first member
    //     is p - half + R, which is p + half, and the second one is `(D - R) / 2` further.
    if (p < half) {
        d = p + member * half;
    } else {
        d = p + half + member * (D - R) / 2;
    }
    // end solution: pairs
    return d;
}

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
// end snippet: pairs

// snippet: stage
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
// end snippet: stage

// snippet: score-keys
// query [2][D/2] rotated, frequency [D/2], k [Sk][D] -> score [visible], one key per thread, which
// rotates it from tile [KEYS][STRIDE] into registers. Returns the thread's row_max.
// cost: a block rotates Sk keys, a head Sq Sk; per key D/2 sincos and 3 D flops; two barriers
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
            // solution: carry -- add this chunk's share to the dot product of the thread's key
            // hint: The chunk has the pairs p0 to p0 + width - 1. Where in the thread's row of the
            //     tile, which is key, are the two members of its pair i, and where in query and
            //     frequency is the pair?
            // hint: The members are `key[i]` and `key[i + width]`: the second members begin at
            //     width, which is less than PAIRS in a shorter last chunk. With `p = p0 + i`, the
            //     query has `query[p]` and `query[p + a.D / 2]`, and the angle is
            //     `position * frequency[p]`. Beyond R the frequency is 0, so all pairs are treated
            //     alike.
            // hint: Only threads with r < n have a key, but all must reach the barrier below. A
            //     pair takes a `__sincosf(position * frequency[p], &s, &c)` and two additions to
            //     dot, one of which is `dot += query[p] * (key[i] * c - key[i + width] * s);`. dot
            //     is not set to 0 here, because it comes from the chunk before.
            if (r < n) {
                for (int i = 0; i < width; i++) {
                    const int p = p0 + i;
                    float s, c;
                    __sincosf(position * frequency[p], &s, &c);
                    COUNT("element rotations", 2);
                    dot += query[p] * (key[i] * c - key[i + width] * s);
                    dot += query[p + a.D / 2] * (key[i + width] * c + key[i] * s);
                }
            }
            // end solution: carry
            __syncthreads(); // the tile is free again: the next one takes its place
        }
        if (r < n) {
            score[j] = dot * a.scale;
            row_max = fmaxf(row_max, dot * a.scale);
        }
    }
    return row_max;
}
// end snippet: score-keys

static size_t shared_memory(attention_args a)
{
    return (a.D + a.D / 2 + a.Sk + KEYS * STRIDE) * sizeof(float);
}

static void launch_v6(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_to_rotate(run);
    attention_v6<<<dim3(a.Sq, run->shape.H), THREADS, shared_memory(a), stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

// --- Variants that explain -----------------------------------------------------------------------

// The difference from V6: only the size of a chunk; or how it is staged; or all threads have work.
enum difference { SIZE, ONE_LOAD, ALL_THREADS };

// As stage_keys, but one element at a time: each is stored before the next is loaded.
static __device__ __forceinline__ void copy_keys(attention_args a, const float *k, float *tile,
                                                 int n, int p0, int width, int stride)
{
    for (int r = threadIdx.x / 32; r < n; r += WARPS) {
#pragma unroll 1
        for (int c = threadIdx.x % 32; c < 2 * width; c += 32) {
            const int member = c >= width;
            const int d = dimension_of(p0 + c - member * width, member, a.D, a.R);
            tile[r * stride + c] = k[(int64_t)r * a.D + d];
        }
    }
}

// As score_keys. If all threads have work, a lane has a key and a warp has every eighth pair of it.
template <int keys, int pairs, difference by>
static __device__ __forceinline__ float
score_keys_by(attention_args a, block_rows own, const float *query, const float *frequency,
              float *score, float *tile, float (*partial)[keys])
{
    const int stride = 2 * pairs + 1;
    const int r = by == ALL_THREADS ? threadIdx.x % 32 : threadIdx.x;
    const int part = by == ALL_THREADS ? threadIdx.x / 32 : 0;
    const int parts = by == ALL_THREADS ? WARPS : 1;
    const float *key = tile + r * stride;
    float row_max = -INFINITY;
    for (int first = 0; first < own.visible; first += keys) {
        const int n = min(keys, own.visible - first);
        const int j = first + r;
        const float *k = own.k + (int64_t)first * a.D;
        const float position = (float)(a.pos0 + j);
        float dot = 0.0f;
        COUNT("K rotations", part == 0 && r < n && a.R > 0);
        for (int p0 = 0; p0 < a.D / 2; p0 += pairs) {
            const int width = min(pairs, a.D / 2 - p0);
            if (by == ONE_LOAD) {
                copy_keys(a, k, tile, n, p0, width, stride);
            } else {
                stage_keys<pairs>(a, k, tile, n, p0, width);
            }
            __syncthreads();
            // solution: carry-part -- the same, for the pairs part, part + parts, ... of the chunk
            // hint: The difference from carry: with ALL_THREADS each of the warps, whose number is
            //     part, takes some pairs of the chunk. If part is 0 and parts is 1, the loop is
            //     that of carry. With which i does it begin, and by how much does i grow?
            // hint: The loop is `for (int i = part; i < width; i += parts)`; its body and the
            //     condition r < n are those of carry. Each part adds to its own dot, and the code
            //     below adds up the parts.
            if (r < n) {
                for (int i = part; i < width; i += parts) {
                    const int p = p0 + i;
                    float s, c;
                    __sincosf(position * frequency[p], &s, &c);
                    COUNT("element rotations", 2);
                    dot += query[p] * (key[i] * c - key[i + width] * s);
                    dot += query[p + a.D / 2] * (key[i + width] * c + key[i] * s);
                }
            }
            // end solution: carry-part
            __syncthreads();
        }
        if (by == ALL_THREADS) {
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

template <int keys, int pairs, difference by>
static __global__ void __launch_bounds__(THREADS, BLOCKS) attention_v6_by(attention_args a)
{
    extern __shared__ float shared[];
    __shared__ float scratch[THREADS];
    __shared__ float partial[WARPS][keys];
    float *query = shared;
    float *frequency = query + a.D;
    float *score = frequency + a.D / 2;
    float *tile = score + a.Sk;
    const block_rows own = rows_of_block(a);

    precompute_frequencies(frequency, a.D / 2, a.R);
    __syncthreads();
    rotate_query(a, own, frequency, query);
    const float row_max =
        score_keys_by<keys, pairs, by>(a, own, query, frequency, score, tile, partial);
    softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
}

template <int keys, int pairs, difference by>
static void launch_by(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_to_rotate(run);
    const size_t shared = (a.D + a.D / 2 + a.Sk + keys * (2 * pairs + 1)) * sizeof(float);
    attention_v6_by<keys, pairs, by><<<dim3(a.Sq, run->shape.H), THREADS, shared, stream>>>(a);
    CUDA_CHECK_LAUNCH();
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

static bool large(const kf_case *c)
{
    return near(c) && c->shape.H > 1 && (c->shape.D >= 128 || c->shape.Sq < 4);
}

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate,
     .applies = shown},
    {.name = "v6",
     .about = "chunks of 32 keys by 256 dimensions, one key per thread",
     .launch = launch_v6,
     .applies = near,
     .extra_error = ladder_angle_error},
    {.name = "v6-64x128",
     .about = "v6 with chunks of 64 keys by 128 dimensions",
     .launch = launch_by<64, 64, SIZE>,
     .applies = near,
     .extra_error = ladder_angle_error},
    {.name = "v6-one-load",
     .about = "v6, each element stored before the next is loaded",
     .launch = launch_by<KEYS, PAIRS, ONE_LOAD>,
     .applies = large,
     .extra_error = ladder_angle_error},
    {.name = "v6-all",
     .about = "v6, all threads on the chunk: a key per lane, an eighth of the pairs per warp",
     .launch = launch_by<KEYS, PAIRS, ALL_THREADS>,
     .applies = near,
     .extra_error = ladder_angle_error},
};

static const kf_question questions[] = {
    {.text = "A block of v6 has 7 barriers and two per chunk of 32 keys by 256 dimensions: how "
             "many is that for 64 keys of D = 2048?",
     .figure = "barriers/blocks",
     .case_name = "head",
     .variant = "v6"},
    {.text = "At D = 2048, how many times as fast is v6 (rotates each key in all 64 blocks of a "
             "head) as separate?",
     .figure = "median_us",
     .case_name = "D2048",
     .variant = "separate",
     .over = "v6"},
    {.text = "At D = 2048, how many times as fast is v6 as v6-one-load (a thread stores each value"
             " before it loads the next)?",
     .figure = "median_us",
     .case_name = "D2048",
     .variant = "v6-one-load",
     .over = "v6"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "11-v6-dimension-tiles",
        .title = "V6, tiles of 32 keys by 256 dimensions",
        KF_TABLE(variants, variants),
        KF_TABLE(questions, questions),
    };
    return ladder_main(&program, argc, argv);
}
