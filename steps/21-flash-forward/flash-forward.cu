/* 21-flash-forward: attention in one pass over the keys, and no S x S matrix
 *
 * Follows: 01-naive-attention
 * Architecture: 75, without flash no-max no-rescale two-passes
 * Profile: --case D64-S2048 --case D128-S2048 --variant flash
 *
 * Idea     A block takes 64 queries and goes through the keys in tiles of 64, which it keeps in
 *          shared memory. A softmax needs the largest score first; this one starts with the largest
 *          so far, and if a tile has a larger one, the sums so far are scaled down. fp16 in and
 *          out, fp32 and plain threads in between, each with 8 x 4 scores in registers.
 * Predict  No matrix: memory grows with S; at 32 heads of S = 4096 that saves 2 GiB, and 28 bytes
 *          of traffic per score. For 128 multiply-adds a thread loads 12 times 16 bytes from shared
 *          memory: 128 cycles of the fp32 units per block, and 128 wavefronts. With the stores that
 *          is 62 times as fast as naive, whose loads of keys have bank conflicts; 33 times if
 *          loads and multiply-adds take turns. `two-passes` computes scores twice: 1.5 times the
 *          time. `no-rescale` is wrong where a maximum rises after the first tile, `no-max` where
 *          exp overflows.
 * Outcome  Memory, wavefronts and both mistakes are as predicted, the mistakes to the row. At
 *          D = 64 and long S, time is a little better than in turns. Naive takes a little more.
 */
#include "tiles.cuh"
#include "other_ways.cuh"
#include "cuda/refused.cuh"
#include "problems/flash_cases.h"

#include <float.h>
#include <stdio.h>

// snippet: flash
// q [BH][Sq][D], k and v [BH][Sk][D] -> o [BH][Sq][D], lse [BH][Sq]
// grid (Sq / TILE, BH), THREADS threads
// cost: 4 D flops and 1.25 exponentials per visible pair; reads k and v once per TILE queries
template <int D>
__global__ void flash(const flash_args a)
{
    extern __shared__ float4 memory[];
    tiles<D> &t = *(tiles<D> *)memory;
    const int64_t head = blockIdx.y;
    const int first_query = blockIdx.x * TILE;
    const int row = threadIdx.x / LANES * ROWS; // the first query of this thread, in the tile
    const int lane = threadIdx.x % LANES;
    const int end = a.causal ? min(a.Sk, a.Sk - a.Sq + first_query + TILE) : a.Sk;
    float row_max[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        row_max[i] = -INFINITY;
    }
    float row_sum[ROWS] = {}; // of this thread's keys
    float out[ROWS][D / LANES] = {};

    load_tile<D>(a.q + head * a.Sq * D, first_query, a.Sq, t.q);
    for (int first_key = 0; first_key < end; first_key += TILE) {
        __syncthreads(); // all have finished with the previous values
        load_tile<D>(a.k + head * a.Sk * D, first_key, a.Sk, t.kv);
        __syncthreads();
        float p[ROWS][KEYS] = {};
        score_tile<D>(t, row, lane, p);
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            // solution: mask -- scale the scores; -Inf for keys that the query does not see
            // hint: Under a causal mask the last query sees all a.Sk keys, and each query before it
            //     one key fewer. How many does query number first_query + row + i see, and how many
            //     without a mask?
            // hint: Declare query, the number first_query + row + i, and seen: a.Sk without a mask,
            //     and `a.Sk - a.Sq + query + 1` with one. p[i][j] is the inner product with key
            //     first_key + lane + j * LANES. If that key is below seen, the score is this
            //     product times a.scale; if not, it is -INFINITY.
            // hint: The condition is `first_key + lane + j * LANES < seen`, for each j < KEYS. The
            //     next blank wants the largest of these scores: declare `float most = -INFINITY;`
            //     in front of the loop.
            const int query = first_query + row + i;
            const int seen = a.causal ? min(a.Sk, a.Sk - a.Sq + query + 1) : a.Sk;
            float most = -INFINITY;
#pragma unroll
            for (int j = 0; j < KEYS; j++) {
                const bool sees = first_key + lane + j * LANES < seen;
                p[i][j] = sees ? p[i][j] * a.scale : -INFINITY;
                most = fmaxf(most, p[i][j]);
            }
            // end solution: mask
            // solution: online -- the new maximum; the exponentials; rescale the sums so far
            // hint: A thread has the scores of KEYS keys only, and 16 threads share the query.
            //     Which function of tiles.cuh finds the maximum of all 16, and with what has this
            //     maximum to be compared?
            // hint: Keep the old row_max[i] before you replace it. The factor exp(old - new) scales
            //     row_sum[i] and the D / LANES elements of out[i]. Each score becomes exp(score -
            //     new), which is added to row_sum[i] and stored in t.p[row + i][lane + j * LANES],
            //     where add_values reads it.
            // hint: A query that has seen no key has the maximum -INFINITY, and -INFINITY -
            //     -INFINITY is NaN. Declare
            //     `const float base = row_max[i] > -INFINITY ? row_max[i] : 0.0f;` and subtract
            //     base from the old maximum and from the scores.
            const float was = row_max[i];
            row_max[i] = fmaxf(was, max_of_row(most));
            const float base = row_max[i] > -INFINITY ? row_max[i] : 0.0f; // no key so far
            const float keep = expf(was - base);
            row_sum[i] *= keep;
#pragma unroll
            for (int j = 0; j < KEYS; j++) {
                p[i][j] = expf(p[i][j] - base);
                row_sum[i] += p[i][j];
                t.p[row + i][lane + j * LANES] = p[i][j];
            }
#pragma unroll
            for (int c = 0; c < D / LANES; c++) {
                out[i][c] *= keep;
            }
            // end solution: online
        }
        __syncthreads(); // all are done with the keys
        load_tile<D>(a.v + head * a.Sk * D, first_key, a.Sk, t.kv);
        __syncthreads();
        add_values<D>(t, row, lane, out);
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int query = first_query + row + i;
        const float all = sum_of_row(row_sum[i]);
        if (query < a.Sq) {
            // solution: end -- store o and lse; a query without keys gets 0 and -Inf
            // hint: out[i] still has to be divided by `all`, the sum of the exponentials. What is
            //     `all` where the query has seen no key, and what has to be stored there?
            // hint: The row is number head * a.Sq + query, in o and in lse. store_row of tiles.cuh
            //     stores this thread's columns of it times a factor: 1 / all, or 0 where all is 0.
            //     The 16 threads of a query have the same maximum and the same sum, so only lane 0
            //     stores lse.
            // hint: lse is `row_max[i] + logf(all)`, which is -INFINITY by itself where there was
            //     no key. The arguments of `store_row<D>` are the address of the row in a.o, lane,
            //     out[i] and the factor.
            const int64_t at = head * a.Sq + query;
            store_row<D>(a.o + at * D, lane, out[i], all > 0.0f ? 1.0f / all : 0.0f);
            if (lane == 0) {
                a.lse[at] = row_max[i] + logf(all);
            }
            // end solution: end
        }
    }
}
// end snippet: flash

typedef void flash_kernel(flash_args a);

static void enqueue(flash_kernel *kernel, size_t bytes, const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    flash_args a = {};
    a.q = kf_half(run, "q");
    a.k = kf_half(run, "k");
    a.v = kf_half(run, "v");
    a.o = kf_half(run, "o");
    a.lse = kf_f32(run, "lse");
    a.Sq = s.Sq;
    a.Sk = s.Sk;
    a.causal = s.causal;
    a.scale = 1.0f / sqrtf((float)s.D);
    // More than 48 KB have to be asked for.
    CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    kernel<<<dim3((s.Sq + TILE - 1) / TILE, s.B * s.H), THREADS, bytes, stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

// For a kernel whose head width is a compile-time constant.
template <flash_kernel *narrow, flash_kernel *wide>
static void launch(const kf_run *run, cudaStream_t stream)
{
    if (run->shape.D == 64) {
        enqueue(narrow, sizeof(tiles<64>), run, stream);
    } else {
        enqueue(wide, sizeof(tiles<128>), run, stream);
    }
}

// --- Variants that explain ----------------------------------------------------------------------

// Four keys' scores and values, in tiles of two: prints what a query has accumulated after each
// tile, and what it would have accumulated had it known the largest score from the start.
static void say_four_numbers(void)
{
    const float score[4] = {1.0f, 3.0f, 2.0f, 5.0f};
    const float value[4] = {1.0f, 2.0f, 3.0f, 4.0f};
    float row_max = -INFINITY, row_sum = 0.0f, out = 0.0f, true_sum = 0.0f, true_out = 0.0f;
    kf_say("  scores %g %g %g %g, values %g %g %g %g, tiles of two\n", score[0], score[1], score[2],
           score[3], value[0], value[1], value[2], value[3]);
    for (int tile = 0; tile < 4; tile += 2) {
        const float was = row_max;
        row_max = fmaxf(was, fmaxf(score[tile], score[tile + 1]));
        const float keep = expf(was - row_max);
        const float a = expf(score[tile] - row_max);
        const float b = expf(score[tile + 1] - row_max);
        row_sum = row_sum * keep + a + b;
        out = out * keep + a * value[tile] + b * value[tile + 1];
        kf_say(
            "  maximum %g: times %.5f, then exponentials %.5f %.5f; sum %.5f, weighted sum %.5f\n",
            row_max, keep, a, b, row_sum, out);
    }
    for (int i = 0; i < 4; i++) {
        true_sum += expf(score[i] - row_max);
        true_out += expf(score[i] - row_max) * value[i];
    }
    kf_say("  all four at once: sum %.5f, weighted sum %.5f\n", true_sum, true_out);
    kf_say("  o = %.5f and %.5f, lse = %.5f\n", out / row_sum, true_out / true_sum,
           row_max + logf(row_sum));
}

// The number of rows, of all heads, whose largest score comes after the first tile and exceeds the
// largest score of that tile by more than `by`.
static int64_t rows_that_rise(const kf_run *run, double by)
{
    const kf_shape s = run->shape;
    const float *q = kf_find(run, "q")->host;
    const float *k = kf_find(run, "k")->host;
    int64_t rows = 0;
    for (int64_t row = 0; row < (int64_t)s.B * s.H * s.Sq; row++) {
        double most[2] = {-INFINITY, -INFINITY};
        for (int64_t j = 0; j < kf_visible_keys(&s, row % s.Sq); j++) {
            double dot = 0.0;
            for (int d = 0; d < s.D; d++) {
                dot += (double)q[row * s.D + d] * k[(row / s.Sq * s.Sk + j) * s.D + d];
            }
            most[j >= TILE] = fmax(most[j >= TILE], dot / sqrt(s.D));
        }
        rows += most[1] > most[0] + by;
    }
    return rows;
}

// lse alone shows the mistake: a sum of exponentials with different maxima is too large.
static bool rises_show(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    const kf_diagnosis *lse = kf_seen(run, seen, "lse");
    const int64_t most = rows_that_rise(run, 0.0);
    const int64_t least = rows_that_rise(run, 1e-3);
    const int64_t by_far = rows_that_rise(run, 1.0);
    const int64_t wrong = kf_seen(run, seen, "o")->wrong;
    snprintf(why, size,
             "predicted lse wrong in the %lld to %lld rows whose maximum rises after the first "
             "tile, none NaN or Inf; seen %lld",
             (long long)least, (long long)most, (long long)lse->wrong);
    return lse->wrong >= least && lse->wrong <= most && seen->nonfinite + lse->nonfinite == 0 &&
           (wrong > 0 ? most > 0 : by_far == 0);
}

// Where lse exceeds the logarithm of the largest float, the sum overflows. Where lse is below the
// logarithm of the smallest normal float, the sum has lost some or all of its digits.
static bool overflow_shows(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    const kf_tensor *want = kf_find(run, "lse");
    const kf_diagnosis *lse = kf_seen(run, seen, "lse");
    const double highest = log(FLT_MAX);
    const double lowest = log(FLT_MIN);
    int64_t least = 0;
    int64_t most = 0;
    int64_t low = 0;
    for (int64_t i = 0; i < want->count; i++) {
        least += want->want[i] > highest + 0.01;
        most += want->want[i] > highest - 0.01;
        low += want->want[i] < lowest + 0.01;
    }
    snprintf(why, size,
             "predicted Inf in the %lld to %lld rows whose lse is above %.1f, %lld below %.1f may "
             "be wrong, the others right; seen %lld and %lld more wrong",
             (long long)least, (long long)most, highest, (long long)low, lowest,
             (long long)lse->nonfinite, (long long)(lse->wrong - lse->nonfinite));
    return lse->nonfinite >= least && lse->nonfinite <= most + low && lse->wrong <= most + low &&
           (least == 0 || kf_seen(run, seen, "o")->wrong > 0);
}

// --- Tables --------------------------------------------------------------------------------------

static const char four_numbers[] = "four numbers";

static void setup(kf_run *run)
{
    kf_flash_setup(run);
    naive_matrix(run);
    static bool said;
    if (run->c->data == four_numbers && !said) { // once, and setup is called for each variant
        said = true;
        say_four_numbers();
    }
}

static bool fits(const kf_case *c)
{
    return !(c->flags & KF_MAY_NOT_FIT);
}

// True for a case in which the mistakes show, or in which they are predicted not to show.
static bool is_telling(const kf_case *c)
{
    return c->flags & (KF_STEEP | KF_RISING | KF_FALLING) && !(c->flags & KF_FLAT);
}

// At D = 128 the tiles need more than the 64 KB that a block can have on compute capability 7.5.
static const char *tiles_refused(const kf_case *c, char *why, size_t size)
{
    const size_t bytes = c->shape.D == 64 ? sizeof(tiles<64>) : sizeof(tiles<128>);
    return lacks_room((int)bytes, why, size);
}

#define MATRIX(S)                                                                                  \
    {                                                                                              \
        .name = "matrix-S" #S, .shape = {.B = 4, .H = 8, .Sq = S, .Sk = S, .D = 64},               \
        .flags = KF_LARGE | KF_MAY_NOT_FIT | KF_VERIFY_ONLY                                        \
    }

static const kf_case cases[] = {
    {.name = "four", .shape = {.Sk = 4, .D = 64}, .flags = KF_VERIFY_ONLY, .data = four_numbers},
    KF_FLASH_ODD,
    KF_FLASH_TIMED,
    // At some of these lengths the matrix no longer fits; one pass always fits.
    MATRIX(16384),
    MATRIX(32768),
    MATRIX(65536),
    KF_CASE("D64-S65536", KF_LARGE | KF_VERIFY_ONLY, .B = 4, .H = 8, .Sq = 65536, .Sk = 65536,
            .D = 64),
};

static const kf_variant variants[] = {
    {.name = "naive",
     .about = "step 01's three kernels, for fp16",
     .launch = launch_naive,
     .applies = naive_takes_part},
    {.name = "flash",
     .about = "one pass over the keys, no matrix",
     .launch = launch<flash<64>, flash<128>>,
     .applies = fits,
     .refused = tiles_refused},
    {.name = "two-passes",
     .about = "the largest score first, in a pass of its own",
     .launch = launch<two_passes<64>, two_passes<128>>,
     .applies = fits,
     .refused = tiles_refused},
    {.name = "no-rescale",
     .about = "what is summed up keeps its old maximum",
     .launch = launch<wrong<64, NO_RESCALE>, wrong<128, NO_RESCALE>>,
     .applies = is_telling,
     .refused = tiles_refused,
     .predicted = rises_show},
    {.name = "no-max",
     .about = "no maximum is subtracted",
     .launch = launch<wrong<64, NO_MAX>, wrong<128, NO_MAX>>,
     .applies = is_telling,
     .refused = tiles_refused,
     .predicted = overflow_shows},
};

// Attention takes so long here that the former contents of the L2 cache make no difference.
static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}};

static const kf_question questions[] = {
    {.text = "How many bytes does a call of flash load for 2 heads of 128 queries and keys, D = 64 "
             "in fp16, with 64 queries per block?",
     .figure = "global_ld_bytes",
     .case_name = "small",
     .variant = "flash"},
    {.text = "no-rescale never rescales its sums: how many of its 4550 elements are wrong in the "
             "case falling, where scores fall from key to key?",
     .figure = "wrong",
     .case_name = "falling",
     .variant = "no-rescale"},
    {.text = "With 32 heads of 4096 queries and keys, D = 64, how many times as fast as naive is "
             "flash?",
     .figure = "median_us",
     .case_name = "D64-S4096",
     .variant = "naive",
     .over = "flash"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "21-flash-forward",
        .title = "attention in one pass over the keys, and no S x S matrix",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = kf_flash_reference,
        .cost = kf_flash_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
