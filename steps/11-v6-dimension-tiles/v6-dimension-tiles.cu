/* 11-v6-dimension-tiles: V6, tiles of 32 keys by 256 dimensions
 *
 * Grows from: 10-v5-k-tile
 *
 * Idea     Cut the tile across the other axis as well. 32 keys by 256 dimensions take the same 33
 *          KB at every D, so 32 threads have a key where V5 had 3. A dot product runs over
 *          several chunks, its partial sum stays in a register. Dimension i turns together with i
 *          + R/2, so a chunk of consecutive dimensions would hold halves of pairs: chunks are
 *          made of pairs.
 * Predict  At D = 2048: 2 tiles of keys x 8 chunks, 32 barriers instead of 44. In a row come 2 x
 *          1024 pairs, not 22 x 1024: at some 40 cycles a pair that is 45 us in place of half a
 *          millisecond. Beside it stand staging and the sum over the values, about 100 us. So V6
 *          should be 3 to 4 times as fast as V5, as the log has it, and no longer far from
 *          separate. At D = 128 it has two tiles where V5 has one, and half the threads: slower.
 *          64 keys by 128 dimensions are as many bytes and put 64 threads to work: faster at all
 *          D. With all threads busy V6 should beat separate at 512 and 2048.
 * Outcome  V6 is four times as fast as V5 at D = 2048 and a little slower at 128, as predicted;
 *          64 by 128 is better at every D. Not predicted: V6 beats separate from D = 32 on, by
 *          two at 2048, although it rotates 64 times as many keys. The reason is not fusion. It
 *          stages rows of K, and separate reads them across. Step 12 gives separate the same
 *          tiles.
 */
#include "cuda/fp32_angles.cuh"
#include "cuda/rope_ladder.cuh"
#include "problems/attention.h"

enum { WARPS = LADDER_THREADS / 32, BLOCKS = 2 }; // so many blocks share a multiprocessor

// snippet: pairs
// D/2 pairs in all: first those that turn, (p, p + R/2), then the rest of the dimensions, halves
// again, which turn by nothing. member 0 or 1 -> the dimension
static __device__ int dimension_of(int p, int member, int D, int R)
{
    const int half = R / 2;
    int d = p;
    // solution: pairs -- d becomes the dimension of either member of pair p
    d = p < half ? p + member * half : p + half + member * (D - R) / 2;
    // end solution: pairs
    return d;
}

// q [D], frequency [D/2] -> query [2][D/2] in shared memory, rotated: first members, then second
// cost: one rotation a block
static __device__ void rotate_query(const float *q, const float *frequency, float position,
                                    float *query, int D, int R)
{
    COUNT("Q rotations", threadIdx.x == 0);
    for (int p = threadIdx.x; p < D / 2; p += blockDim.x) {
        const float x = q[dimension_of(p, 0, D, R)];
        const float y = q[dimension_of(p, 1, D, R)];
        turn_pair(x, y, position * frequency[p], &query[p], &query[D / 2 + p]);
    }
}
// end snippet: pairs

// snippet: stage
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
// end snippet: stage

// snippet: copy
// The same, one value at a time: each is stored before the next is asked for.
static __device__ void copy_chunk(const float *k, float *chunk, int n, int p0, int width,
                                  int stride, int D, int R)
{
    for (int r = threadIdx.x / 32; r < n; r += WARPS) {
#pragma unroll 1
        for (int c = threadIdx.x % 32; c < 2 * width; c += 32) {
            const int member = c >= width;
            const int d = dimension_of(p0 + c - member * width, member, D, R);
            chunk[r * stride + c] = k[(int64_t)r * D + d];
        }
    }
}
// end snippet: copy

// snippet: product
// query [2][D/2], key [2][width], frequency [width] -> the share of their product in the pairs
// first, first + step, ... of the chunk
static __device__ float rotated_product(const float *query, const float *key,
                                        const float *frequency, float position, int D, int width,
                                        int first, int step)
{
    float dot = 0.0f;
    for (int i = first; i < width; i += step) {
        float s, c;
        __sincosf(position * frequency[i], &s, &c);
        COUNT("element rotations", 2);
        dot += query[i] * (key[i] * c - key[i + width] * s);
        dot += query[i + D / 2] * (key[i + width] * c + key[i] * s);
    }
    return dot;
}
// end snippet: product

// snippet: kernel
// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D] -> o [H][Sq][D]
// grid (Sq, H), LADDER_THREADS threads, dynamic shared memory: (3/2 D + Sk + keys (2 pairs + 1))
// floats
// cost: 4 D Sk flops a block and 3 D Sk for the rotations; Sk K rotations a block; Sk D/2 sincos;
// reads k and v once a block; two barriers a chunk, ceil(Sk / keys) ceil(D / (2 pairs)) chunks
template <int keys, int pairs, bool all_threads, bool at_once = true>
__global__ void __launch_bounds__(LADDER_THREADS, BLOCKS)
    attention_v6(const float *q, const float *k, const float *v, float *o, int Sq, int Sk, int D,
                 int R, int pos0, bool causal, float scale)
{
    extern __shared__ float shared[];
    __shared__ float scratch[LADDER_THREADS];
    __shared__ float partial[WARPS][keys];
    const int stride = 2 * pairs + 1;
    float *query = shared;
    float *frequency = query + D;
    float *score = frequency + D / 2;
    float *chunk = score + Sk;
    const int row = blockIdx.x;
    const int64_t head = blockIdx.y;
    const int visible = causal ? Sk - Sq + row + 1 : Sk;
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
    rotate_query(q, frequency, (float)(pos0 + Sk - Sq + row), query, D, R);

    for (int first = 0; first < visible; first += keys) {
        const int n = min(keys, visible - first);
        const float position = (float)(pos0 + first + own);
        float dot = 0.0f;
        COUNT("K rotations", part == 0 && own < n);
        for (int p0 = 0; p0 < D / 2; p0 += pairs) {
            const int width = min(pairs, D / 2 - p0);
            if (at_once) {
                stage_chunk<pairs>(k + (int64_t)first * D, chunk, n, p0, width, stride, D, R);
            } else {
                copy_chunk(k + (int64_t)first * D, chunk, n, p0, width, stride, D, R);
            }
            __syncthreads();
            // solution: carry -- add this chunk's share to the dot product of the thread's key
            if (own < n) {
                dot += rotated_product(query + p0, chunk + own * stride, frequency + p0, position,
                                       D, width, part, parts);
            }
            // end solution: carry
            __syncthreads(); // the chunk is free again: the next one takes its place
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
// end snippet: kernel

template <int keys, int pairs, bool all_threads, bool at_once = true>
static void launch(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const size_t shared = (s.D + s.D / 2 + s.Sk + keys * (2 * pairs + 1)) * sizeof(float);
    attention_v6<keys, pairs, all_threads, at_once>
        <<<dim3(s.Sq, s.H), LADDER_THREADS, shared, stream>>>(
            kf_f32(run, "q"), kf_f32(run, "k"), kf_f32(run, "v"), kf_f32(run, "o"), s.Sq, s.Sk, s.D,
            s.R, s.pos0, s.causal, 1.0f / sqrtf((float)s.D));
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

static bool large(const kf_case *c)
{
    return near(c) && c->shape.H > 1 && (c->shape.D >= 128 || c->shape.Sq < 4);
}

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate,
     .applies = shown,
     .block = LADDER_THREADS},
    {.name = "v6",
     .about = "chunks of 32 keys by 256 dimensions, one key a thread",
     .launch = launch<32, 128, false>,
     .applies = near,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v6-64x128",
     .about = "v6 with chunks of 64 keys by 128 dimensions",
     .launch = launch<64, 64, false>,
     .applies = near,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v6-one-load",
     .about = "v6, each value stored before the next is asked for",
     .launch = launch<32, 128, false, false>,
     .applies = large,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v6-all",
     .about = "v6 with all threads on the chunk: a key a lane, an eighth of the pairs a warp",
     .launch = launch<32, 128, true>,
     .applies = near,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "11-v6-dimension-tiles",
        .title = "V6, tiles of 32 keys by 256 dimensions",
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
