/* 08-v3-multi-query: V3, several queries per block share the rotation of every key
 *
 * Follows: 07-v2-sincos, at most 68 % of its story new
 * Architecture: 75, without queries-8
 * Profile: kernels=attention warm --case D2048
 *
 * Idea     A block owns four queries in place of one. It stages all four, and a thread that has
 *          rotated a pair of its key uses the pair four times. So a head rotates its keys S/4 times
 *          in place of S times, with a quarter of the calls of powf and __sincosf. The log's V3
 *          reads one float per load, so this one does as well; V2 and V3 are here both ways.
 * Predict  Counts: a quarter of V2's. Time: four heads of 64 queries are 64 blocks of four, too few
 *          for 132 multiprocessors, and the work that is saved was done elsewhere at the same time.
 *          V3 should gain nothing at D = 512 and 2048, and lose at D = 128, where it finishes four
 *          rows one after the other. With 64 heads, where V2 fills the device, it should be 2 to 3
 *          times as fast, for then saved rotations are saved time.
 * Outcome  V3 gains nothing with 4 heads. It wins with 64 at D = 512, by as much as is predicted
 *          here (the chapter predicts more, from wavefronts alone). The reason is refuted:
 *          separate-4, which rotates nothing in its loop, gains as much. What counts is that four
 *          queries share the loads of a key.
 */
#include "cuda/attention_rows.cuh"
#include "cuda/float4.cuh"
#include "cuda/refused.cuh"
#include "cuda/rope_ladder.cuh"

enum { QUERIES = 4 }; // per block

// Functions that the kernel calls, in this order. Their definitions, below, explain them.
static __device__ __forceinline__ void rotate_queries(attention_args a, block_rows own, int queries,
                                                      float *query);
static __device__ __noinline__ void score_keys(attention_args a, block_rows own, const float *query,
                                               float *score);

// snippet: kernel
// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D] -> o [H][Sq][D]
// grid (Sq / QUERIES rounded up, H), THREADS threads,
// QUERIES x (D + Sk) floats of dynamic shared memory
// cost: 4 D Sk flops per query; a block rotates Sk keys; reads k once per block, v once per query
static __global__ void __launch_bounds__(THREADS) attention_v3(attention_args a)
{
    extern __shared__ float shared[];
    __shared__ float scratch[THREADS];
    float *query = shared;
    float *score = shared + QUERIES * a.D;
    const block_rows own = rows_of_block(a, QUERIES);

    rotate_queries(a, own, QUERIES, query);
    __syncthreads();
    score_keys(a, own, query, score);
    softmax_times_v_of_rows(score, own.v, own.o, own.rows, own.visible, a.causal, a.Sk, a.D,
                            scratch);
}
// end snippet: kernel

// same as step 07
// The cosine and sine of pair i at a position -> *c, *s
// cost: a division, a powf, a sine and a cosine
static __device__ __forceinline__ void angle(int position, int i, int R, float *c, float *s)
{
    const float frequency = powf(10000.0f, -2.0f * (float)i / (float)R);
    __sincosf((float)position * frequency, s, c);
}

// snippet: rotate-queries
// q [rows][D] of the block's queries -> query [queries][D] in shared memory, rotated. Missing rows
// are zero: the last block of a head may have fewer.
// cost: one rotation per query
static __device__ __forceinline__ void rotate_queries(attention_args a, block_rows own, int queries,
                                                      float *query)
{
    const int half = a.R / 2;
    COUNT("Q rotations", threadIdx.x == 0 && a.R > 0 ? own.rows : 0);
    for (int t = threadIdx.x; t < a.D - half; t += blockDim.x) {
        for (int n = 0; n < queries; n++) {
            const float *from = own.q + (int64_t)n * a.D;
            float *to = query + n * a.D;
            if (t >= half) {
                to[t + half] = n < own.rows ? from[t + half] : 0.0f;
            } else if (n < own.rows) {
                float c, s;
                angle(a.pos0 + own.position + n, t, a.R, &c, &s);
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
// end snippet: rotate-queries

// snippet: score-keys
// query [QUERIES][D] rotated, k [Sk][D] not rotated -> score [QUERIES][Sk], one key per thread, for
// all keys that the block's last query sees. A key is rotated once, and multiplied by all queries.
// cost: a block rotates Sk keys, a head Sq Sk / QUERIES; R / 2 angles per key
static __device__ __noinline__ void score_keys(attention_args a, block_rows own, const float *query,
                                               float *score)
{
    const int half = a.R / 2;
    const int visible = a.causal ? own.visible + own.rows - 1 : a.Sk;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        const float *key = own.k + (int64_t)j * a.D;
        float dot[QUERIES] = {};
        COUNT("K rotations", a.R > 0);
        // solution: share -- rotate each pair of the key once, and use it for all the queries
        // hint: A pair takes two loads, a call of angle and a rotation. Which of these depend on
        //     the query? What does not depend on it belongs outside the loop over the queries.
        // hint: For each pair i < half: load `key[i]` and `key[i + half]`, then call angle at
        //     position a.pos0 + j, then compute the two rotated elements. Inside the loop over
        //     pairs, a loop over the QUERIES queries adds two products to `dot[n]`. Query n begins
        //     at `query + n * a.D`.
        // hint: angle stores through two addresses: `angle(a.pos0 + j, i, a.R, &c, &s);`. If lower
        //     is the first rotated element, the loop over n has
        //     `dot[n] += query[n * a.D + i] * lower;` and a second line. Put `#pragma unroll` in
        //     front of it, as below, so that dot stays in registers.
        for (int i = 0; i < half; i++) {
            const float x = key[i];
            const float y = key[i + half];
            float c, s;
            angle(a.pos0 + j, i, a.R, &c, &s);
            COUNT("element rotations", 2);
            const float lower = x * c - y * s;
            const float upper = y * c + x * s;
#pragma unroll
            for (int n = 0; n < QUERIES; n++) {
                dot[n] += query[n * a.D + i] * lower;
                dot[n] += query[n * a.D + i + half] * upper;
            }
        }
        // end solution: share
        for (int d = a.R; d < a.D; d++) {
            const float x = key[d];
#pragma unroll
            for (int n = 0; n < QUERIES; n++) {
                dot[n] += query[n * a.D + d] * x;
            }
        }
#pragma unroll
        for (int n = 0; n < QUERIES; n++) {
            score[n * a.Sk + j] = dot[n] * a.scale;
        }
    }
}
// end snippet: score-keys

static void launch_v3(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_to_rotate(run);
    const dim3 grid((a.Sq + QUERIES - 1) / QUERIES, run->shape.H);
    attention_v3<<<grid, THREADS, query_and_scores(a, QUERIES), stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

// --- Variants that explain -----------------------------------------------------------------------

// V3 at R = 0, after the two kernels that rotate.
static void launch_separate_four(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_rotated(run);
    const dim3 grid((a.Sq + QUERIES - 1) / QUERIES, run->shape.H);
    launch_rope_q(run, stream);
    launch_rope_k(run, stream);
    attention_v3<<<grid, THREADS, query_and_scores(a, QUERIES), stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

// As angle, for pairs i to i + 3
static __device__ __forceinline__ void angle(int position, int i, int R, float4 *c, float4 *s)
{
    angle(position, i, R, &c->x, &s->x);
    angle(position, i + 1, R, &c->y, &s->y);
    angle(position, i + 2, R, &c->z, &s->z);
    angle(position, i + 3, R, &c->w, &s->w);
}

// As score_keys. floats: the type of a load, float or float4.
template <int queries, typename floats>
static __device__ __noinline__ void score_keys_by(attention_args a, block_rows own,
                                                  const float *query, float *score)
{
    const int half = a.R / 2, width = sizeof(floats) / sizeof(float);
    const int visible = a.causal ? own.visible + own.rows - 1 : a.Sk;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        const float *key = own.k + (int64_t)j * a.D;
        float dot[queries] = {};
        COUNT("K rotations", a.R > 0);
        // solution: share-by -- the same, by load<floats>, rotate_lower, ... of cuda/float4.cuh
        // hint: The difference from share: x, y, c and s are of type floats, which is float or
        //     float4, so an iteration takes width pairs, and the number of queries is the template
        //     parameter queries. By how much does i grow?
        // hint: `load<floats>(address)` takes the place of every single load, of the key and of
        //     the query. angle accepts addresses of either type. rotate_lower and rotate_upper,
        //     both of (x, y, c, s), return the two rotated halves.
        // hint: If lower is the rotated lower half, the loop over n < queries has
        //     `dot[n] = add_products(dot[n], load<floats>(query + n * a.D + i), lower);`.
        //     add_products returns the new sum and leaves its argument as it is. The upper half
        //     meets the query's elements from i + half on.
        for (int i = 0; i < half; i += width) {
            const floats x = load<floats>(key + i);
            const floats y = load<floats>(key + i + half);
            floats c, s;
            angle(a.pos0 + j, i, a.R, &c, &s);
            COUNT("element rotations", 2 * width);
            const floats lower = rotate_lower(x, y, c, s);
            const floats upper = rotate_upper(x, y, c, s);
#pragma unroll
            for (int n = 0; n < queries; n++) {
                const float *of = query + n * a.D + i;
                dot[n] = add_products(dot[n], load<floats>(of), lower);
                dot[n] = add_products(dot[n], load<floats>(of + half), upper);
            }
        }
        // end solution: share-by
        for (int d = a.R; d < a.D; d += width) {
            const floats x = load<floats>(key + d);
#pragma unroll
            for (int n = 0; n < queries; n++) {
                dot[n] = add_products(dot[n], load<floats>(query + n * a.D + d), x);
            }
        }
#pragma unroll
        for (int n = 0; n < queries; n++) {
            score[n * a.Sk + j] = dot[n] * a.scale;
        }
    }
}

template <int queries, typename floats>
static __global__ void __launch_bounds__(THREADS) attention_v3_by(attention_args a)
{
    extern __shared__ __align__(16) float staged[];
    __shared__ float scratch[THREADS];
    float *query = staged;
    float *score = staged + queries * a.D;
    const block_rows own = rows_of_block(a, queries);

    rotate_queries(a, own, queries, query);
    __syncthreads();
    score_keys_by<queries, floats>(a, own, query, score);
    softmax_times_v_of_rows(score, own.v, own.o, own.rows, own.visible, a.causal, a.Sk, a.D,
                            scratch);
}

// snippet: launch
// A kernel must ask for more than 48 KB of shared memory: eight queries at D = 2048 need 66 KB.
template <int queries, typename floats>
static void launch_by(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_to_rotate(run);
    const dim3 grid((a.Sq + queries - 1) / queries, run->shape.H);
    const size_t shared = query_and_scores(a, queries);
    CUDA_CHECK(cudaFuncSetAttribute(attention_v3_by<queries, floats>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    attention_v3_by<queries, floats><<<grid, THREADS, shared, stream>>>(a);
    CUDA_CHECK_LAUNCH();
}
// end snippet: launch

// Loads of float4 need rows, and halves of rows, that begin at multiples of 16 bytes.
template <int queries>
static void launch_wide(const kf_run *run, cudaStream_t stream)
{
    if (run->shape.D % 4 == 0 && run->shape.R % 8 == 0) {
        launch_by<queries, float4>(run, stream);
    } else {
        launch_by<queries, float>(run, stream);
    }
}

// --- Tables --------------------------------------------------------------------------------------

// A CPU is slow at barriers. So on a CPU the other numbers of queries run only the cases that could
// show an error of their own. V3 runs everywhere.
static bool worth_a_try(const kf_case *c)
{
    return ladder_near(c) && (!kf_on_cpu() || c->shape.D == 128 || c->shape.Sq < 40);
}

// More heads: more blocks, until blocks of one query fill the device, too. Also positions that do
// not begin at 0, as far out as fp32 angles can be compared. D44: rows begin at multiples of 16
// bytes, and their halves do not.
static const kf_case more_heads[] = {
    KF_CASE("D512-H8", KF_LARGE, .H = 8, .Sq = 64, .Sk = 64, .D = 512, .R = 512),
    KF_CASE("D512-H16", KF_LARGE, .H = 16, .Sq = 64, .Sk = 64, .D = 512, .R = 512),
    KF_CASE("D512-H32", KF_LARGE, .H = 32, .Sq = 64, .Sk = 64, .D = 512, .R = 512),
    KF_CASE("D512-H64", KF_LARGE, .H = 64, .Sq = 64, .Sk = 64, .D = 512, .R = 512),
    KF_CASE("D128-H64", KF_LARGE, .H = 64, .Sq = 64, .Sk = 64, .D = 128, .R = 128),
    KF_CASE("D44", KF_VERIFY_ONLY, .H = 2, .Sq = 3, .Sk = 41, .D = 44, .R = 20),
    KF_CASE("from-500", KF_VERIFY_ONLY, .H = 2, .Sq = 19, .Sk = 45, .D = 64, .R = 64, .pos0 = 500),
};

// Eight queries at this width need more than 64 KB, the limit per block of compute capability 7.5.
static const char *eight_refused(const kf_case *c, char *why, size_t size)
{
    attention_args a = {};
    a.Sk = c->shape.Sk;
    a.D = c->shape.D;
    const int scratch = THREADS * (int)sizeof(float);
    return lacks_room((int)query_and_scores(a, 8) + scratch, why, size);
}

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate},
    {.name = "v2",
     .about = "step 07: one query per block, float4",
     .launch = launch_wide<1>,
     .applies = worth_a_try,
     .extra_error = ladder_angle_error},
    {.name = "v2-scalar",
     .about = "the same, one float per load",
     .launch = launch_by<1, float>,
     .applies = worth_a_try,
     .extra_error = ladder_angle_error},
    {.name = "queries-2",
     .about = "two queries per block share each rotated key",
     .launch = launch_by<2, float>,
     .applies = worth_a_try,
     .extra_error = ladder_angle_error},
    {.name = "v3",
     .about = "four queries per block",
     .launch = launch_v3,
     .applies = ladder_near,
     .extra_error = ladder_angle_error},
    {.name = "queries-8",
     .about = "eight queries per block",
     .launch = launch_by<8, float>,
     .applies = worth_a_try,
     .refused = eight_refused,
     .extra_error = ladder_angle_error},
    {.name = "v3-float4",
     .about = "four queries per block, float4",
     .launch = launch_wide<4>,
     .applies = worth_a_try,
     .extra_error = ladder_angle_error},
    {.name = "separate-4",
     .about = "RoPE on q, RoPE on k, then four queries per block",
     .launch = launch_separate_four,
     .applies = worth_a_try},
};

static const kf_question questions[] = {
    {.text = "At D = 128, how many times as many sectors does v2-scalar (one query per block) load"
             " as v3 (four queries)?",
     .figure = "global_ld_sectors",
     .case_name = "D128",
     .variant = "v2-scalar",
     .over = "v3"},
    {.text = "With 4 heads of 64 queries, D = 512, how many times as fast is v3 (four queries per "
             "block) as v2-scalar (one query)?",
     .figure = "median_us",
     .case_name = "D512",
     .variant = "v2-scalar",
     .over = "v3"},
    {.text = "With 64 heads of D = 512, how many times as fast is separate-4 (four queries per "
             "block, all keys rotated before) as v3?",
     .figure = "median_us",
     .case_name = "D512-H64",
     .variant = "v3",
     .over = "separate-4"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "08-v3-multi-query",
        .title = "V3, several queries per block share the rotation of every key",
        KF_TABLES(more_heads, variants),
        KF_TABLE(questions, questions),
    };
    return ladder_main(&program, argc, argv);
}
