/* 01-naive-attention: attention as three kernels, with the S x S matrix in memory
 *
 * Grows from: nothing
 * Architecture: 75
 * Profile: kernels=scores --case S4096-B2
 *
 * Idea     Write down the definition. One kernel for the scores q k^T / sqrt(D), one for the
 *          softmax of each row, one for the weighted sum of v, each a few plain loops. A matrix of
 *          Sq x Sk elements lies between them in device memory.
 * Predict  The matrix has 32 S^2 bytes for 8 heads: that says at which S the device runs out. At
 *          D = 64 rows of k are 256 bytes apart, so the 32 words of a load of k lie in one bank: 32
 *          wavefronts, and one more for q. With the 2 cycles of the weighted sum that is 35 cycles
 *          for what could take half of a cycle: at most 1.5 % of the limit. Rows of 65 floats
 *          (naive-padded) take 10 cycles in place of 33. A causal mask halves the work of `scores`.
 * Outcome  Memory is as predicted, to the byte. At S = 16384 the time is a little above the
 *          prediction, and the mask and naive-padded show that the bank conflict of the score
 *          kernel takes most of it. The other two kernels take longer than predicted. See chapter
 *          1.
 */
#include "problems/attention.h"
#include "cuda/warp_reduce.cuh"

#include <math.h>

enum { THREADS = 256, ROWS_PER_BLOCK = THREADS / 32 };

// snippet: scores
// q [BH][Sq][D], k [BH][Sk][D] -> s [BH][Sq][Sk], one thread per score
// cost: 2 D flops per score; writes 4 bytes and reads 8 D bytes per score, nearly all from cache
__global__ void scores(const float *q, const float *k, float *s, int Sq, int Sk, int D, bool causal)
{
    const int64_t i = blockIdx.x;
    const int j = blockIdx.y * blockDim.x + threadIdx.x;
    const int64_t head = blockIdx.z;
    if (j >= Sk) {
        return;
    }
    // solution: mask -- store the scaled product, or -INFINITY if query i does not see the key
    // hint: The last query and the last key are the same token, also where there are fewer queries
    //     than keys. Which token is query i then, and which is the last key that it sees?
    // hint: Query i is token `Sk - Sq + i`. With a mask it sees the keys up to this token and the
    //     token itself, without a mask all keys. With more queries than keys this number is
    //     negative for the first queries: they see no key.
    // hint: Query i of the head begins at `q + (head * Sq + i) * D`, key j at
    //     `k + (head * Sk + j) * D`. The score is the sum of their D products divided by
    //     `sqrtf((float)D)`, or -INFINITY if the query does not see the key: its exponential is 0.
    //     Both kinds are stored, in `s[(head * Sq + i) * Sk + j]`, because the next kernel reads
    //     them all.
    float score = -INFINITY;
    if (!causal || j <= Sk - Sq + i) {
        const float *query = q + (head * Sq + i) * D;
        const float *key = k + (head * Sk + j) * D;
        float dot = 0.0f;
        for (int d = 0; d < D; d++) {
            dot += query[d] * key[d];
        }
        score = dot / sqrtf((float)D);
    }
    s[(head * Sq + i) * Sk + j] = score;
    // end solution: mask
}
// end snippet: scores

// snippet: softmax
// s [rows][Sk] -> s, each row exp(s - max) / sum, one warp per row
// cost: reads the matrix three times and writes it twice, 20 bytes per score
__global__ void softmax(float *s, int64_t rows, int Sk)
{
    const int lane = threadIdx.x % 32;
    const int64_t row = (int64_t)blockIdx.x * ROWS_PER_BLOCK + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    s += row * Sk;

    float row_max = -INFINITY;
    for (int j = lane; j < Sk; j += 32) {
        row_max = fmaxf(row_max, s[j]);
    }
    row_max = warp_max(row_max);

    // solution: softmax -- store exp(s - row_max) / its sum over the row; 0 if no key is seen
    // hint: A lane has the scores lane, lane + 32, ... of the row, as in the loop above. The lane
    //     cannot divide before the sum is known. What can it keep in s until then, so that one
    //     exponential per score is enough?
    // hint: Two loops over the scores of a lane are needed, with a call of warp_sum between them.
    //     The first loop replaces each score by its exponential and adds up these exponentials;
    //     the second loop divides them by the sum over the warp. A lane reads only what it has
    //     stored itself, so no barrier is needed.
    // hint: The exponential of score j is `expf(s[j] - row_max)`. If the query sees no key,
    //     row_max is still -INFINITY, and the exponential is NaN. The second loop has to store 0
    //     for all keys of such a row.
    float row_sum = 0.0f;
    for (int j = lane; j < Sk; j += 32) {
        s[j] = expf(s[j] - row_max);
        row_sum += s[j];
    }
    row_sum = warp_sum(row_sum);

    // A query that sees no key (under a mask, with more queries than keys) has probabilities of 0.
    for (int j = lane; j < Sk; j += 32) {
        s[j] = row_max > -INFINITY ? s[j] / row_sum : 0.0f;
    }
    // end solution: softmax
}
// end snippet: softmax

// snippet: weighted-sum
// p [BH][Sq][Sk], v [BH][Sk][D] -> o [BH][Sq][D], one thread per element of o
// cost: 2 Sk flops per element; reads the matrix once, v from cache
__global__ void weighted_sum(const float *p, const float *v, float *o, int Sq, int Sk, int D)
{
    const int d = blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t i = blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t head = blockIdx.z;
    if (d >= D || i >= Sq) {
        return;
    }
    p += (head * Sq + i) * Sk;
    v += head * Sk * D;
    float sum = 0.0f;
    for (int j = 0; j < Sk; j++) {
        sum += p[j] * v[(int64_t)j * D + d];
    }
    o[(head * Sq + i) * D + d] = sum;
}
// end snippet: weighted-sum

static int blocks(int64_t items, int per_block)
{
    return (int)((items + per_block - 1) / per_block);
}

// snippet: launch
static void launch_softmax_and_sum(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int heads = s.B * s.H;
    const int64_t rows = (int64_t)heads * s.Sq;
    float *matrix = kf_f32(run, "s");

    softmax<<<blocks(rows, ROWS_PER_BLOCK), THREADS, 0, stream>>>(matrix, rows, s.Sk);
    CUDA_CHECK_LAUNCH();
    const dim3 tile(64, 4);
    const dim3 a_thread_an_element(blocks(s.D, tile.x), blocks(s.Sq, tile.y), heads);
    weighted_sum<<<a_thread_an_element, tile, 0, stream>>>(matrix, kf_f32(run, "v"),
                                                           kf_f32(run, "o"), s.Sq, s.Sk, s.D);
    CUDA_CHECK_LAUNCH();
}

static void launch_naive(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int heads = s.B * s.H;
    float *matrix = kf_f32(run, "s");

    const dim3 a_thread_a_score(s.Sq, blocks(s.Sk, THREADS), heads);
    scores<<<a_thread_a_score, THREADS, 0, stream>>>(kf_f32(run, "q"), kf_f32(run, "k"), matrix,
                                                     s.Sq, s.Sk, s.D, s.causal);
    CUDA_CHECK_LAUNCH();
    launch_softmax_and_sum(run, stream);
}
// end snippet: launch

// --- Variants that explain -----------------------------------------------------------------------

#include "scores_padded.cuh"

// Rows of naive say how much memory naive allocates. So there is no copy of k in the cases of 8
// heads, but in those of two sequences of 4 heads, which are the same work.
static bool has_copy(const kf_case *c)
{
    return c->shape.H != 8;
}

// naive, but rows of k are one float further apart.
static void launch_naive_padded(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const dim3 grid(s.Sq, blocks(s.Sk, THREADS), s.B * s.H);
    scores_padded<<<grid, THREADS, 0, stream>>>(kf_f32(run, "q"), kf_f32(run, "k_padded"),
                                                kf_f32(run, "s"), s.Sq, s.Sk, s.D, s.causal);
    CUDA_CHECK_LAUNCH();
    launch_softmax_and_sum(run, stream);
}

// --- Tables --------------------------------------------------------------------------------------

// k [BH][Sk][D] -> k_padded [BH][Sk][D + 1]; the last column is never read.
static void copy_with_longer_rows(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t longer[] = {s.B, s.H, s.Sk, s.D + 1};
    kf_tensor *copy = kf_input(run, "k_padded", "BHSD", KF_F32, longer);
    const float *k = kf_find(run, "k")->host;
    // Launches on larger tensors are only captured, or run on zeros: there are no values on the
    // host.
    for (int64_t row = 0; row < copy->rows && copy->count <= INT32_MAX; row++) {
        for (int d = 0; d < s.D; d++) {
            copy->host[row * (s.D + 1) + d] = k[row * s.D + d];
        }
    }
}

static void setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t matrix[] = {s.B, s.H, s.Sq, s.Sk};
    kf_attention_setup(run);
    kf_scratch(run, "s", "BHSK", KF_F32, matrix);
    if (has_copy(run->c)) {
        copy_with_longer_rows(run);
    }
}

#define SQUARE(S, more) KF_CASE("S" #S, more, .H = 8, .Sq = S, .Sk = S, .D = 64)
#define CAUSAL(S, more)                                                                            \
    KF_CASE("S" #S "-causal", more, .H = 8, .Sq = S, .Sk = S, .D = 64, .causal = true)

// 8 heads in all, as above: these cases have the copy of k.
#define COPIED(S, more) KF_CASE("S" #S "-B2", more, .B = 2, .H = 4, .Sq = S, .Sk = S, .D = 64)

static const kf_case cases[] = {
    SQUARE(64, KF_TIMED),
    SQUARE(128, KF_TIMED),
    SQUARE(256, KF_TIMED),
    SQUARE(512, KF_TIMED),
    SQUARE(1024, KF_LARGE),
    SQUARE(2048, KF_LARGE),
    SQUARE(4096, KF_LARGE),
    SQUARE(8192, KF_LARGE),
    SQUARE(16384, KF_LARGE),
    SQUARE(32768, KF_LARGE | KF_MAY_NOT_FIT | KF_VERIFY_ONLY),
    SQUARE(65536, KF_LARGE | KF_MAY_NOT_FIT | KF_VERIFY_ONLY),
    SQUARE(131072, KF_LARGE | KF_MAY_NOT_FIT | KF_VERIFY_ONLY),
    CAUSAL(64, KF_TIMED),
    CAUSAL(256, KF_TIMED),
    CAUSAL(1024, KF_LARGE),
    CAUSAL(4096, KF_LARGE),
    CAUSAL(16384, KF_LARGE),
    COPIED(128, KF_TIMED),
    COPIED(1024, KF_LARGE),
    COPIED(4096, KF_LARGE),
    COPIED(16384, KF_LARGE),
    // Odd shapes: no extent divides a block; fewer queries than keys; more queries than keys.
    KF_CASE("odd", KF_VERIFY_ONLY, .B = 2, .H = 3, .Sq = 33, .Sk = 77, .D = 80),
    KF_CASE("odd-causal", KF_VERIFY_ONLY, .B = 2, .H = 3, .Sq = 33, .Sk = 77, .D = 80,
            .causal = true),
    KF_CASE("one-query", KF_VERIFY_ONLY, .H = 2, .Sk = 301, .D = 64, .causal = true),
    KF_CASE("more-queries", KF_VERIFY_ONLY, .H = 2, .Sq = 45, .Sk = 19, .D = 40),
    // The first 26 queries of a head see no key.
    KF_CASE("no-key", KF_VERIFY_ONLY, .H = 2, .Sq = 45, .Sk = 19, .D = 40, .causal = true),
    KF_CASE("steep", KF_VERIFY_ONLY | KF_STEEP, .H = 4, .Sq = 33, .Sk = 33, .D = 64,
            .causal = true),
    // More keys than a block has threads.
    KF_CASE("long-D128", KF_VERIFY_ONLY, .H = 2, .Sq = 3, .Sk = 300, .D = 128, .causal = true),
    KF_CASE("steep-D134", KF_VERIFY_ONLY | KF_STEEP, .H = 2, .Sq = 7, .Sk = 33, .D = 134,
            .causal = true),
    // More queries than a grid has blocks in y.
    KF_CASE("tall", KF_VERIFY_ONLY, .Sq = 65536, .D = 2),
    KF_CASE("one-key", KF_VERIFY_ONLY, .Sq = 5, .D = 8),
};

static const kf_variant variants[] = {
    {.name = "naive",
     .about = "scores, softmax and weighted sum as three kernels",
     .launch = launch_naive},
    {.name = "naive-padded",
     .about = "naive, a row of k is one float longer",
     .launch = launch_naive_padded,
     .applies = has_copy},
};

static const kf_question questions[] = {
    {.text = "How many sectors of 32 bytes does a load of a warp in the kernel scores touch at D = "
             "64, averaged over its loads of q and of k?",
     .figure = "global_ld_sectors/global_ld_requests",
     .case_name = "S128",
     .variant = "naive",
     .kernel = "scores"},
    {.text = "With 8 heads of 16384 queries and keys, D = 64, how many per cent of the limit does "
             "naive reach?",
     .figure = "limit_pct",
     .case_name = "S16384",
     .variant = "naive"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "01-naive-attention",
        .title = "attention as three kernels, with the S x S matrix in memory",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = kf_attention_reference,
        .cost = kf_attention_cost,
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
