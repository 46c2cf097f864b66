/* 13-v7-hybrid: V7, keys rotated once by their own kernel, queries where used
 *
 * Grows from: 12-v6-partial-rotary
 *
 * Idea     A query is used by one block, a key by all the blocks of its head. So the query is
 *          rotated inside attention, while it is staged, and the keys by a kernel of their own,
 *          before. The dot product loads 16 bytes at a time, 64 keys at a time. Two launches.
 * Predict  K rotations fall from 64 x 64 a head to 64. Against the baseline, which has as few,
 *          one launch is saved and one round trip of q: about 1 us, so 1.05x at D = 128 and
 *          nothing at 2048. The loads of 16 bytes are a quarter as many: if half of the time
 *          goes into scores, and they get twice as fast, that gives 1.3x, at 512 and 2048 too.
 *          So V7 wins everywhere, and what wins is the width of a load.
 * Outcome  V7 wins everywhere, by 1.5x to 2x. Fusion gives 1.07x, 1.03x and 1.02x of it, wide
 *          loads the rest: the same sectors come from L2, in a third of the passes through L1.
 *          At first V7 looked 1.2x better than separate with wide loads too; compiled alike, for
 *          two blocks a multiprocessor, it is 1.1x to 1.05x. The log's program loses on an H200
 *          at D = 2048. Its times are those of v7-serial, which has one load of v under way,
 *          against step 14's log-separate-float4. With 12 heads in place of 4 there are six
 *          blocks a multiprocessor to hide the waiting, and v7-serial wins. See chapter 7.
 */
#include "cuda/rope_ladder.cuh"

#include <string.h>

static __device__ float dot4(float4 a, float4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// snippet: rotate-query
// q [D], cosine and sine [R/2] at the query's position -> query [D] in shared memory
// cost: one rotation a block, and no store or load of q that the baseline has not
static __device__ void rotate_query(const float *q, const float *cosine, const float *sine,
                                    float *query, int D, int R)
{
    const int half = R / 2;
    COUNT("Q rotations", threadIdx.x == 0);
    for (int t = threadIdx.x; t < D - half; t += blockDim.x) {
        if (t < half) {
            COUNT("table loads", 2);
            COUNT("element rotations", 2);
            const float c = cosine[t];
            const float s = sine[t];
            query[t] = q[t] * c - q[t + half] * s;
            query[t + half] = q[t + half] * c + q[t] * s;
        } else {
            query[t + half] = q[t + half];
        }
    }
}
// end snippet: rotate-query

// snippet: score-float4
// query [D] in shared memory, k [Sk][D], both rotated -> score [visible]; BLOCK_K keys at a time,
// one a thread. D is a multiple of 4. Returns the thread's largest score.
// cost: D / 4 loads of 16 bytes a key; each load of a warp touches 32 rows
template <int BLOCK_K>
static __device__ __forceinline__ float
score_keys_float4(const float *query, const float *k, float *score, int visible, int D, float scale)
{
    float largest = -INFINITY;
    for (int first = 0; first < visible; first += BLOCK_K) {
        const int j = first + threadIdx.x;
        if (threadIdx.x >= BLOCK_K || j >= visible) {
            continue;
        }
        const float4 *query4 = (const float4 *)query;
        const float4 *key4 = (const float4 *)(k + (int64_t)j * D);
        float dot = 0.0f;
        // solution: dot -- the dot product of query and key j, 16 bytes a load
        for (int d = 0; d < D / 4; d++) {
            dot += dot4(query4[d], key4[d]);
        }
        // end solution: dot
        score[j] = dot * scale;
        largest = fmaxf(largest, score[j]);
    }
    return largest;
}
// end snippet: score-float4

// snippet: serial
// weigh_values, one load of v under way at a time
static __device__ __forceinline__ void weigh_values_serial(const float *score, const float *v,
                                                           float *o, int visible, int D,
                                                           float largest, float sum)
{
    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        float out = 0.0f;
#pragma unroll 1
        for (int j = 0; j < visible; j++) {
            out += expf(score[j] - largest) * v[(int64_t)j * D + d];
        }
        o[d] = out / sum;
    }
}
// end snippet: serial

// How a block gets its query and its scores; the rest is the baseline's.
enum { STAGED, ROTATED };
enum { SCALAR_DOT, FLOAT4_DOT, FLOAT4_DOT_32 };

// snippet: kernel
// q [H][Sq][D], as it came or rotated, k [H][Sk][D] rotated, v [H][Sk][D], cosine and sine [P][R/2]
// -> o [H][Sq][D]; grid (Sq, H), LADDER_THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: 4 D Sk flops a block; reads k and v of one head once a block; ROTATED: one Q rotation
template <int QUERY, int DOT, bool serial, int BLOCKS>
__global__ void __launch_bounds__(LADDER_THREADS, BLOCKS)
    attention_v7(const float *q, const float *k, const float *v, const float *cosine,
                 const float *sine, float *o, int Sq, int Sk, int D, int R, bool causal,
                 float scale)
{
    extern __shared__ float shared[];
    __shared__ float scratch[LADDER_THREADS];
    float *query = shared;
    float *score = shared + D;
    const int row = blockIdx.x;
    const int64_t head = blockIdx.y;
    const int visible = causal ? Sk - Sq + row + 1 : Sk;
    const int64_t angles = (int64_t)(Sk - Sq + row) * (R / 2);
    q += (head * Sq + row) * D;
    o += (head * Sq + row) * D;
    k += head * Sk * D;
    v += head * Sk * D;

    if (QUERY == ROTATED) {
        rotate_query(q, cosine + angles, sine + angles, query, D, R);
    } else {
        for (int d = threadIdx.x; d < D; d += blockDim.x) {
            query[d] = q[d];
        }
    }
    __syncthreads();
    float largest = DOT == SCALAR_DOT   ? score_keys_apart(query, k, score, visible, D, scale)
                    : DOT == FLOAT4_DOT ? score_keys_float4<64>(query, k, score, visible, D, scale)
                                        : score_keys_float4<32>(query, k, score, visible, D, scale);
    if (!serial) {
        finish_row<block_reduction>(score, largest, v, o, visible, D, scratch);
        return;
    }
    largest = block_max(largest, scratch);
    float sum = 0.0f;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        sum += expf(score[j] - largest);
    }
    sum = block_sum(sum, scratch);
    weigh_values_serial(score, v, o, visible, D, largest, sum);
}
// end snippet: kernel

// snippet: launch
template <int QUERY, int DOT, bool serial = false, int BLOCKS = 0>
static void launch(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const size_t shared = (s.D + s.Sk) * sizeof(float);
    if (QUERY != ROTATED) {
        launch_rope_q(run, stream);
    }
    launch_rope_k(run, stream);
    attention_v7<QUERY, DOT, serial, BLOCKS><<<dim3(s.Sq, s.H), LADDER_THREADS, shared, stream>>>(
        kf_f32(run, QUERY == ROTATED ? "q" : "q_turned"), kf_f32(run, "k_turned"), kf_f32(run, "v"),
        kf_f32(run, "cos"), kf_f32(run, "sin"), kf_f32(run, "o"), s.Sq, s.Sk, s.D, s.R, s.causal,
        1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}
// end snippet: launch

static bool by_four(const kf_shape *shape)
{
    return shape->D % 4 == 0;
}

// What V7 is compared with beside the baseline, at the dimensions of the log. On a
// CPU, which takes its time, in one large case and one odd one.
static bool on_the_way(const kf_shape *shape)
{
    const bool chosen = shape->H == 1 || shape->Sq < 64;
    return by_four(shape) && shape->D >= 128 && (chosen || !kf_on_cpu());
}

// The grid of the ladder is 256 blocks. On 132 multiprocessors that is two on each at the most;
// with 12 heads it is six.
static const kf_case more_heads[] = {
    {"D2048-R128-H12", {1, 12, 64, 64, 2048, 128, false, 0}, KF_LARGE},
};
static kf_case
    cases[sizeof ladder_cases / sizeof *ladder_cases + sizeof more_heads / sizeof *more_heads];

// snippet: variants
static const kf_variant variants[] = {
    {"separate", "RoPE on q, RoPE on k, attention: three launches", launch_separate, NULL,
     LADDER_THREADS, NULL},
    {"v7", "k rotated by its own kernel, q while it is staged, 16 bytes a load",
     launch<ROTATED, FLOAT4_DOT>, by_four, LADDER_THREADS, NULL},
    {"v7-scalar", "v7, 4 bytes a load: what is left is fusion", launch<ROTATED, SCALAR_DOT>,
     on_the_way, LADDER_THREADS, NULL},
    {"separate-float4", "separate, 16 bytes a load: no fusion", launch<STAGED, FLOAT4_DOT>, by_four,
     LADDER_THREADS, NULL},
    {"v7-two-blocks", "v7, compiled for two blocks an SM", launch<ROTATED, FLOAT4_DOT, false, 2>,
     on_the_way, LADDER_THREADS, NULL},
    {"separate-two-blocks", "separate-float4, compiled for two blocks an SM",
     launch<STAGED, FLOAT4_DOT, false, 2>, on_the_way, LADDER_THREADS, NULL},
    {"v7-serial", "v7, one load of v under way at a time", launch<ROTATED, FLOAT4_DOT, true>,
     on_the_way, LADDER_THREADS, NULL},
    {"v7-32", "v7, 32 keys at a time", launch<ROTATED, FLOAT4_DOT_32>, on_the_way, LADDER_THREADS,
     NULL},
};
// end snippet: variants

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}, {KF_STREAM, KF_WARM}, {KF_CALL, KF_WARM}};

int main(int argc, char **argv)
{
    memcpy(cases, ladder_cases, sizeof ladder_cases);
    memcpy(cases + sizeof ladder_cases / sizeof *ladder_cases, more_heads, sizeof more_heads);
    const kf_program program = {
        "13-v7-hybrid",    "V7, keys rotated once by their own kernel, queries where used",
        KF_LIST(cases),    KF_LIST(variants),
        ladder_setup,      kf_attention_reference,
        kf_attention_cost, KF_LIST(timings)};
    return kf_main(&program, argc, argv);
}
