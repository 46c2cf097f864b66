/* chain.cuh: the variants between E1's baseline and V7, one change at a time, and from V7 to
 * fewer exponentials. Step 14 times the chain.
 */
#pragma once

#include "cuda/float4.cuh"
#include "cuda/rope_ladder.cuh"

// --- From E1's separate to ours ------------------------------------------------------------------

// query [D], k [Sk][D], both rotated -> score [visible], one key per thread, 16 bytes per load.
// Returns the thread's row_max.
static __device__ __forceinline__ float score_keys_float4(attention_args a, block_rows own,
                                                          const float *query, float *score)
{
    float row_max = -INFINITY;
    for (int j = threadIdx.x; j < own.visible; j += blockDim.x) {
        const float4 *query4 = (const float4 *)query;
        const float4 *key4 = (const float4 *)(own.k + (int64_t)j * a.D);
        float dot = 0.0f;
        for (int d = 0; d < a.D / 4; d++) {
            dot += dot_four(query4[d], key4[d]);
        }
        score[j] = dot * a.scale;
        row_max = fmaxf(row_max, score[j]);
    }
    return row_max;
}

// q [H][Sq][D], k [H][Sk][D], both rotated, v [H][Sk][D] -> o [H][Sq][D]; q stays in global memory
// grid (Sq, H), THREADS threads, Sk floats of dynamic shared memory
// cost: the baseline's, and D loads of q per key instead of one copy of q per block
static __global__ void attention_unstaged(attention_args a)
{
    extern __shared__ float score[];
    __shared__ float scratch[THREADS];
    const block_rows own = rows_of_block(a);

    const float row_max = score_rotated_keys(a, own, own.q, score);
    softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
}

// The same, 16 bytes per load in the dot product
static __global__ void attention_unstaged_float4(attention_args a)
{
    extern __shared__ float score[];
    __shared__ float scratch[THREADS];
    const block_rows own = rows_of_block(a);

    const float row_max = score_keys_float4(a, own, own.q, score);
    softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
}

// E1's wait between its kernels. In a graph no host can wait.
static void synchronise(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status;
    CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
    if (status == cudaStreamCaptureStatusNone) {
        CUDA_CHECK(cudaStreamSynchronize(stream));
    }
}

static void launch_log_separate(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_rotated(run);
    launch_rope_q(run, stream);
    synchronise(stream);
    launch_rope_k(run, stream);
    synchronise(stream);
    attention_unstaged<<<dim3(a.Sq, run->shape.H), THREADS, a.Sk * sizeof(float), stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

static void launch_log_separate_float4(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_rotated(run);
    launch_rope_q(run, stream);
    synchronise(stream);
    launch_rope_k(run, stream);
    synchronise(stream);
    attention_unstaged_float4<<<dim3(a.Sq, run->shape.H), THREADS, a.Sk * sizeof(float), stream>>>(
        a);
    CUDA_CHECK_LAUNCH();
}

static void launch_unstaged(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_rotated(run);
    launch_rope_q(run, stream);
    launch_rope_k(run, stream);
    attention_unstaged<<<dim3(a.Sq, run->shape.H), THREADS, a.Sk * sizeof(float), stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

// --- One launch less -----------------------------------------------------------------------------

// q [H][Sq][D], k [H][Sk][D] -> q_rotated, k_rotated; grid (Sq + Sk, H), blocks for q first
// cost: that of the two kernels that it replaces
static __global__ void rope_both(const float *q, const float *k, const float *cosine,
                                 const float *sine, float *q_rotated, float *k_rotated, int Sq,
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
               (is_query ? q_rotated : k_rotated) + row, D, R);
}

/* Separate with two launches instead of three. */
static void launch_joined(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const attention_args a = arguments_rotated(run);
    rope_both<<<dim3(s.Sq + s.Sk, s.H), THREADS, 0, stream>>>(
        kf_f32(run, "q"), kf_f32(run, "k"), kf_f32(run, "cos"), kf_f32(run, "sin"),
        kf_f32(run, "q_rotated"), kf_f32(run, "k_rotated"), s.Sq, s.Sk, s.D, s.R, s.Sk - s.Sq);
    CUDA_CHECK_LAUNCH();
    attention<<<dim3(s.Sq, s.H), THREADS, query_and_scores(a), stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

// --- To V7, and on -------------------------------------------------------------------------------

// same as step 05
// q [D] of the block's query -> query [D] in shared memory, rotated
// cost: one rotation per block
static __device__ __forceinline__ void rotate_query(attention_args a, block_rows own, float *query)
{
    const int half = a.R / 2;
    const float *cosine = a.cosine + (int64_t)own.position * half;
    const float *sine = a.sine + (int64_t)own.position * half;
    COUNT("Q rotations", threadIdx.x == 0 && a.R > 0);
    for (int t = threadIdx.x; t < a.D - half; t += blockDim.x) {
        if (t < half) {
            const float c = cosine[t];
            const float s = sine[t];
            COUNT("table loads", 2);
            COUNT("element rotations", 2);
            query[t] = own.q[t] * c - own.q[t + half] * s;
            query[t + half] = own.q[t + half] * c + own.q[t] * s;
        } else {
            query[t + half] = own.q[t + half];
        }
    }
}

// probability [visible] in shared memory, v [Sk][D] -> o [D], one column per thread:
// softmax_times_v of the other versions, without its exponentials
static __device__ __forceinline__ void add_values(const float *probability, const float *v,
                                                  float *o, int visible, int D)
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
                out += probability[j + i] * value[i];
            }
        }
        for (; j < visible; j++) {
            out += probability[j] * v[(int64_t)j * D + d];
        }
        o[d] = out;
    }
}

// As softmax_times_v, but score becomes the probabilities first.
// cost: one exponential per key; the baseline has one per key and column
static __device__ __forceinline__ void softmax_times_v_once(float *score, float row_max,
                                                            const float *v, float *o, int visible,
                                                            int D, float *scratch)
{
    row_max = block_max(row_max, scratch);
    float row_sum = 0.0f;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        score[j] = expf(score[j] - row_max);
        row_sum += score[j];
    }
    row_sum = block_sum(row_sum, scratch);
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        score[j] /= row_sum;
    }
    __syncthreads();
    add_values(score, v, o, visible, D);
}

// V7's differences from separate, one after the other.
struct hybrid {
    static const int BLOCKS = 0; // that it is compiled for, per multiprocessor; 0: unspecified
    static const bool FLOAT4 = false;
    static const bool ONCE = false;
};

struct v7 : hybrid {
    static const bool FLOAT4 = true;
};

struct once : v7 {
    static const bool ONCE = true;
};

struct two_blocks : once {
    static const int BLOCKS = 2;
};

// q [H][Sq][D] not rotated, k [H][Sk][D] rotated, v [H][Sk][D], cosine and sine [Sk][R/2] -> o
// [H][Sq][D]; grid (Sq, H), THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: that of step 13
template <typename way>
static __global__ void __launch_bounds__(THREADS, way::BLOCKS) attention_by(attention_args a)
{
    extern __shared__ float shared[];
    __shared__ float scratch[THREADS];
    float *query = shared;
    float *score = shared + a.D;
    const block_rows own = rows_of_block(a);

    rotate_query(a, own, query);
    __syncthreads();
    const float row_max = way::FLOAT4 ? score_keys_float4(a, own, query, score)
                                      : score_rotated_keys(a, own, query, score);
    if (way::ONCE) {
        softmax_times_v_once(score, row_max, own.v, own.o, own.visible, a.D, scratch);
    } else {
        softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
    }
}

template <typename way>
static void launch_by(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments(run, "q", "k_rotated", run->shape.R);
    launch_rope_k(run, stream);
    attention_by<way><<<dim3(a.Sq, run->shape.H), THREADS, query_and_scores(a), stream>>>(a);
    CUDA_CHECK_LAUNCH();
}
