/* 08-v3-multi-query: V3, several queries a block share the rotation of every key
 *
 * Grows from: 07-v2-sincos
 *
 * Idea     A block owns four queries in place of one. It stages all four, and a thread that has
 *          turned a pair of its key uses the pair four times. So a head rotates its keys S/4 times
 *          in place of S times, with a quarter of the calls of powf and __sincosf. The log's V3
 *          reads a float a load, so this one does as well; V2 of step 07 reads float4 and is here
 *          both ways, as v2 and v2-scalar, and so is V3.
 * Predict  Counts: a quarter of V2's K rotations, powf and sincos. Time: the log claims 22 to 27 %
 *          over V2. Four heads of 64 queries are 64 blocks of four, and an H200 has 132
 *          multiprocessors. The work that is saved was done elsewhere at the same time, so a block
 *          takes as long as before over its keys, and then finishes four rows one after the other.
 *          Here V3 should gain nothing at D = 512 and 2048, and lose about a fifth at D = 128. With
 *          64 heads, where V2 has 4096 blocks and fills the device, it should be 2 to 3 times as
 *          fast, for then saved rotations are saved time.
 * Outcome  Times as predicted, reason wrong. V3 loses a fifth at D = 128 and a tenth at 512 and
 *          2048; with 64 heads it is 2.6 times as fast. But separate-4, which rotates nothing in
 *          its loop, gains as much there: what counts is that four queries share the load of a key.
 */
#include "cuda/rope_ladder.cuh"

// snippet: turn
// The cosine and sine by which a pair is turned: frequency base^(-2i/R), as in step 07.
static __device__ __forceinline__ void turn_of(int position, int pair, int R, float *c, float *s)
{
    __sincosf((float)position * powf(10000.0f, -2.0f * (float)pair / (float)R), s, c);
}
// end snippet: turn

// snippet: rotate-queries
// q [rows][D], position: that of the first row -> query [queries][D] in shared memory. Rows that
// do not exist (the last block of a head may have fewer) are zero.
// cost: one rotation a query
template <int queries>
static __device__ void rotate_queries(const float *q, float *query, int rows, int position, int D,
                                      int R)
{
    const int half = R / 2;
    COUNT("Q rotations", R > 0 && threadIdx.x == 0 ? rows : 0);
    for (int t = threadIdx.x; t < D - half; t += blockDim.x) {
        for (int n = 0; n < queries; n++) {
            const float *from = q + (int64_t)n * D;
            float *to = query + n * D;
            if (t >= half) {
                to[t + half] = n < rows ? from[t + half] : 0.0f;
            } else if (n < rows) {
                float c, s;
                turn_of(position + n, t, R, &c, &s);
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

// Up to four neighbours, in one instruction of 16 bytes if there are four.
template <int width>
static __device__ __forceinline__ void load(float to[4], const float *from)
{
    if (width == 4) {
        const float4 four = *(const float4 *)from;
        to[0] = four.x;
        to[1] = four.y;
        to[2] = four.z;
        to[3] = four.w;
    } else {
        to[0] = from[0];
    }
}

// snippet: score
// query [queries][D] rotated, k [Sk][D] as it came -> score [queries][Sk], one key a thread, its
// first `visible` keys. Each key is rotated once and multiplied with every query. width: how many
// pairs are loaded at once, 1 or 4.
// cost: Sk K rotations a block, S Sk / queries a head
template <int queries, int width>
static __device__ __noinline__ void score_for_queries(const float *query, const float *k,
                                                      float *score, int visible, int Sk, int pos0,
                                                      int D, int R, float scale)
{
    const int half = R / 2;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        const float *key = k + (int64_t)j * D;
        float dot[queries] = {};
        COUNT("K rotations", R > 0);
        // solution: share -- turn each pair of the key once, and use it for all the queries
        for (int i = 0; i < half; i += width) {
            float x[4], y[4];
            load<width>(x, key + i);
            load<width>(y, key + i + half);
#pragma unroll
            for (int w = 0; w < width; w++) {
                float c, s;
                turn_of(pos0 + j, i + w, R, &c, &s);
                COUNT("element rotations", 2);
                const float lower = x[w] * c - y[w] * s;
                y[w] = y[w] * c + x[w] * s;
                x[w] = lower;
            }
#pragma unroll
            for (int n = 0; n < queries; n++) {
                float lower[4], upper[4];
                load<width>(lower, query + n * D + i);
                load<width>(upper, query + n * D + i + half);
#pragma unroll
                for (int w = 0; w < width; w++) {
                    dot[n] += lower[w] * x[w];
                    dot[n] += upper[w] * y[w];
                }
            }
        }
        // end solution: share
        for (int d = R; d < D; d += width) {
            float x[4];
            load<width>(x, key + d);
#pragma unroll
            for (int n = 0; n < queries; n++) {
                float q[4];
                load<width>(q, query + n * D + d);
#pragma unroll
                for (int w = 0; w < width; w++) {
                    dot[n] += q[w] * x[w];
                }
            }
        }
#pragma unroll
        for (int n = 0; n < queries; n++) {
            score[n * Sk + j] = dot[n] * scale;
        }
    }
}
// end snippet: score

// snippet: kernel
// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D] -> o [H][Sq][D]
// grid (Sq / queries rounded up, H), LADDER_THREADS threads,
// queries x (D + Sk) floats of dynamic shared memory
// cost: 4 D Sk flops a query; Sk K rotations a block; reads k once a block, and v once a query
template <int queries, int width>
__global__ void __launch_bounds__(LADDER_THREADS)
    attention_v3(const float *q, const float *k, const float *v, float *o, int Sq, int Sk, int D,
                 int R, bool causal, int pos0, float scale)
{
    extern __shared__ __align__(16) float shared[];
    __shared__ float scratch[LADDER_THREADS];
    float *query = shared;
    float *score = shared + queries * D;
    const int first = blockIdx.x * queries;
    const int rows = min(queries, Sq - first);
    const int64_t head = blockIdx.y;
    const int visible = causal ? Sk - Sq + first + 1 : Sk; // of the first row
    q += (head * Sq + first) * D;
    o += (head * Sq + first) * D;
    k += head * Sk * D;
    v += head * Sk * D;

    rotate_queries<queries>(q, query, rows, pos0 + Sk - Sq + first, D, R);
    __syncthreads();

    score_for_queries<queries, width>(query, k, score, causal ? visible + rows - 1 : Sk, Sk, pos0,
                                      D, R, scale);
    finish_rows<block_reduction>(score, v, o, rows, visible, causal, Sk, D, scratch);
}
// end snippet: kernel

// snippet: launch
// Beyond 48 KB of shared memory a block gets only what was asked for: eight queries at D = 2048
// need 66 KB.
template <int queries, int width>
static void enqueue(const kf_run *run, const float *q, const float *k, int R, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int shared = queries * (s.D + s.Sk) * (int)sizeof(float);
    CUDA_CHECK(cudaFuncSetAttribute(attention_v3<queries, width>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    attention_v3<queries, width>
        <<<dim3((s.Sq + queries - 1) / queries, s.H), LADDER_THREADS, shared, stream>>>(
            q, k, kf_f32(run, "v"), kf_f32(run, "o"), s.Sq, s.Sk, s.D, R, s.causal, s.pos0,
            1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}
// end snippet: launch

template <int queries>
static void launch_v3(const kf_run *run, cudaStream_t stream)
{
    enqueue<queries, 1>(run, kf_f32(run, "q"), kf_f32(run, "k"), run->shape.R, stream);
}

// float4 wants rows, and halves of rows, that begin at a multiple of 16 bytes.
template <int queries>
static void launch_wide(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    if (s.D % 4 == 0 && s.R % 8 == 0) {
        enqueue<queries, 4>(run, kf_f32(run, "q"), kf_f32(run, "k"), s.R, stream);
    } else {
        launch_v3<queries>(run, stream);
    }
}

// Four queries a block over keys that two launches have turned before: nothing to turn.
static void launch_separate_four(const kf_run *run, cudaStream_t stream)
{
    launch_rope_q(run, stream);
    launch_rope_k(run, stream);
    enqueue<4, 1>(run, kf_f32(run, "q_turned"), kf_f32(run, "k_turned"), 0, stream);
}

// A CPU takes its time over barriers: there, the other numbers of queries are tried where they
// could go wrong in a way of their own, and V3 everywhere.
static bool worth_a_try(const kf_case *c)
{
    return ladder_near(c) && (!kf_on_cpu() || c->shape.D == 128 || c->shape.Sq < 40);
}

// More heads: more blocks, until one query a block fills the device too.
// And positions that do not begin at 0, as near as fp32 angles can be compared.
static const kf_case more_heads[] = {
    {.name = "D512-H8",
     .shape = {.H = 8, .Sq = 64, .Sk = 64, .D = 512, .R = 512},
     .flags = KF_LARGE},
    {.name = "D512-H16",
     .shape = {.H = 16, .Sq = 64, .Sk = 64, .D = 512, .R = 512},
     .flags = KF_LARGE},
    {.name = "D512-H32",
     .shape = {.H = 32, .Sq = 64, .Sk = 64, .D = 512, .R = 512},
     .flags = KF_LARGE},
    {.name = "D512-H64",
     .shape = {.H = 64, .Sq = 64, .Sk = 64, .D = 512, .R = 512},
     .flags = KF_LARGE},
    {.name = "D128-H64",
     .shape = {.H = 64, .Sq = 64, .Sk = 64, .D = 128, .R = 128},
     .flags = KF_LARGE},
    {.name = "from-500",
     .shape = {.H = 2, .Sq = 19, .Sk = 45, .D = 64, .R = 64, .pos0 = 500},
     .flags = KF_VERIFY_ONLY},
};

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate,
     .block = LADDER_THREADS},
    {.name = "v2",
     .about = "step 07: one query a block, float4",
     .launch = launch_wide<1>,
     .applies = worth_a_try,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v2-scalar",
     .about = "the same, a float a load",
     .launch = launch_v3<1>,
     .applies = worth_a_try,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "queries-2",
     .about = "two queries a block share each rotated key",
     .launch = launch_v3<2>,
     .applies = worth_a_try,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v3",
     .about = "four queries a block",
     .launch = launch_v3<4>,
     .applies = ladder_near,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "queries-8",
     .about = "eight queries a block",
     .launch = launch_v3<8>,
     .applies = worth_a_try,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v3-float4",
     .about = "four queries a block, float4",
     .launch = launch_wide<4>,
     .applies = worth_a_try,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "separate-4",
     .about = "RoPE on q, RoPE on k, then four queries a block",
     .launch = launch_separate_four,
     .applies = worth_a_try,
     .block = LADDER_THREADS},
};

int main(int argc, char **argv)
{
    return ladder_main("08-v3-multi-query",
                       "V3, several queries a block share the rotation of every key", ladder_setup,
                       variants, KF_COUNT_OF(variants), more_heads, KF_COUNT_OF(more_heads), argc,
                       argv);
}
