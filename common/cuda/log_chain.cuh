/* log_chain.cuh: what leads from the log's baseline to V7, one change at a time, and on to V7 with
 * fewer exponentials. Step 14 times the chain.
 */
#pragma once

#include "cuda/float4.cuh"
#include "cuda/hybrid_attention.cuh"

// query [D], k [Sk][D] rotated -> score [visible], one key a thread, 16 bytes a load. Returns the
// thread's largest score.
static __device__ __forceinline__ float
score_keys_float4(const float *query, const float *k, float *score, int visible, int D, float scale)
{
    float largest = -INFINITY;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        const float4 *query4 = (const float4 *)query;
        const float4 *key4 = (const float4 *)(k + (int64_t)j * D);
        float dot = 0.0f;
        for (int d = 0; d < D / 4; d++) {
            dot += dot_four(query4[d], key4[d]);
        }
        score[j] = dot * scale;
        largest = fmaxf(largest, score[j]);
    }
    return largest;
}

// q [H][Sq][D], k [H][Sk][D], both rotated, v [H][Sk][D] -> o [H][Sq][D]; q stays in global memory
// grid (Sq, H), LADDER_THREADS threads, Sk floats of dynamic shared memory
// cost: one_query_attention's, and D loads of q a key instead of one copy of q a block
template <score_function scores>
static __global__ void attention_unstaged(const float *q, const float *k, const float *v, float *o,
                                          int Sq, int Sk, int D, bool causal, float scale)
{
    extern __shared__ float shared[];
    __shared__ float scratch[LADDER_THREADS];
    float *score = shared;
    const int row = blockIdx.x;
    const int64_t head = blockIdx.y;
    const int visible = causal ? Sk - Sq + row + 1 : Sk;
    q += (head * Sq + row) * D;
    o += (head * Sq + row) * D;
    k += head * Sk * D;
    v += head * Sk * D;

    const float largest = scores(q, k, score, visible, D, scale);
    finish_row<block_reduction>(score, largest, v, o, visible, D, scratch);
}

// snippet: synchronise
// What the log did between its kernels. In a graph there is no host that could wait.
static void synchronise(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status;
    CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
    if (status == cudaStreamCaptureStatusNone) {
        CUDA_CHECK(cudaStreamSynchronize(stream));
    }
}
// end snippet: synchronise

/* Separate as the log had it, its waits or not. */
template <score_function scores, bool waits>
static void launch_unstaged(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    launch_rope_q(run, stream);
    if (waits) {
        synchronise(stream);
    }
    launch_rope_k(run, stream);
    if (waits) {
        synchronise(stream);
    }
    attention_unstaged<scores><<<dim3(s.Sq, s.H), LADDER_THREADS, s.Sk * sizeof(float), stream>>>(
        kf_f32(run, "q_turned"), kf_f32(run, "k_turned"), kf_f32(run, "v"), kf_f32(run, "o"), s.Sq,
        s.Sk, s.D, s.causal, 1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}

// q [H][Sq][D], k [H][Sk][D] -> q_turned, k_turned; grid (Sq + Sk, H): the first Sq blocks turn q
// cost: that of both kernels which it joins
static __global__ void rope_both(const float *q, const float *k, const float *cosine,
                                 const float *sine, float *q_turned, float *k_turned, int Sq,
                                 int Sk, int D, int R, int first)
{
    const bool is_query = (int)blockIdx.x < Sq;
    const int S = is_query ? Sq : Sk;
    const int i = is_query ? blockIdx.x : blockIdx.x - Sq;
    const int64_t row = ((int64_t)blockIdx.y * S + i) * D;
    const int64_t angles = (int64_t)(is_query ? first + i : i) * (R / 2);
    COUNT("Q rotations", is_query && threadIdx.x == 0);
    COUNT("K rotations", !is_query && threadIdx.x == 0);
    rotate_row((is_query ? q : k) + row, cosine + angles, sine + angles,
               (is_query ? q_turned : k_turned) + row, D, R);
}

/* Separate, two launches of three. */
static void launch_joined(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const size_t shared = (s.D + s.Sk) * sizeof(float);
    rope_both<<<dim3(s.Sq + s.Sk, s.H), LADDER_THREADS, 0, stream>>>(
        kf_f32(run, "q"), kf_f32(run, "k"), kf_f32(run, "cos"), kf_f32(run, "sin"),
        kf_f32(run, "q_turned"), kf_f32(run, "k_turned"), s.Sq, s.Sk, s.D, s.R, s.Sk - s.Sq);
    CUDA_CHECK_LAUNCH();
    one_query_attention<block_reduction, LOOPS_BATCHED>
        <<<dim3(s.Sq, s.H), LADDER_THREADS, shared, stream>>>(
            kf_f32(run, "q_turned"), kf_f32(run, "k_turned"), kf_f32(run, "v"), kf_f32(run, "o"),
            s.Sq, s.Sk, s.D, s.causal, 1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}

// weight [visible] in shared memory, v [Sk][D] -> o [D], one column a thread: weigh_values_batched
// of the other versions, its exponentials taken out
static __device__ __forceinline__ void add_values(const float *weight, const float *v, float *o,
                                                  int visible, int D)
{
    enum { BATCH = 8 };
    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        float out = 0.0f;
        int j = 0;
        for (; j + BATCH <= visible; j += BATCH) {
            float value[BATCH];
#pragma unroll
            for (int i = 0; i < BATCH; i++) {
                value[i] = v[(int64_t)(j + i) * D + d];
            }
#pragma unroll
            for (int i = 0; i < BATCH; i++) {
                out += weight[j + i] * value[i];
            }
        }
        for (; j < visible; j++) {
            out += weight[j] * v[(int64_t)j * D + d];
        }
        o[d] = out;
    }
}

// score [visible], each thread's largest, v [Sk][D] -> o [D]
// cost: one exponential a key, where the baseline has one a key and column
static __device__ __forceinline__ void finish_once(float *score, float largest, const float *v,
                                                   float *o, int visible, int D, float *scratch)
{
    largest = block_max(largest, scratch);
    float sum = 0.0f;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        score[j] = expf(score[j] - largest);
        sum += score[j];
    }
    sum = block_sum(sum, scratch);
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        score[j] /= sum;
    }
    __syncthreads();
    add_values(score, v, o, visible, D);
}
