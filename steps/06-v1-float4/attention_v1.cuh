/* attention_v1.cuh: step 05's V1, for comparison with later versions, and for rows that cannot be
 * loaded with 16 bytes at a time.
 */
#pragma once

#include "cuda/attention_row.cuh"

namespace step_05
{

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

// same as step 05
// query [D] rotated, k [Sk][D] not rotated -> score [visible], one key per thread, which rotates it
// in registers. Returns the thread's row_max.
// cost: a block rotates Sk keys, a head Sq Sk; 2 table loads per pair, R per key
static __device__ __noinline__ float score_keys(attention_args a, block_rows own,
                                                const float *query, float *score)
{
    const int half = a.R / 2;
    float row_max = -INFINITY;
    for (int j = threadIdx.x; j < own.visible; j += blockDim.x) {
        const float *key = own.k + (int64_t)j * a.D;
        const float *cosine = a.cosine + (int64_t)j * half;
        const float *sine = a.sine + (int64_t)j * half;
        float dot = 0.0f;
        COUNT("K rotations", a.R > 0);
        for (int i = 0; i < half; i++) {
            const float c = cosine[i];
            const float s = sine[i];
            COUNT("table loads", 2);
            COUNT("element rotations", 2);
            dot += query[i] * (key[i] * c - key[i + half] * s);
            dot += query[i + half] * (key[i + half] * c + key[i] * s);
        }
        for (int d = a.R; d < a.D; d++) {
            dot += query[d] * key[d];
        }
        score[j] = dot * a.scale;
        row_max = fmaxf(row_max, score[j]);
    }
    return row_max;
}

// same as step 05
// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D], cosine and sine [Sk][R/2] -> o [H][Sq][D]
// grid (Sq, H), THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: per block 4 D Sk flops, 3 R Sk for the rotations, and one read of k, v and the tables
static __global__ void attention_v1(attention_args a)
{
    extern __shared__ float shared[];
    __shared__ float scratch[THREADS];
    float *query = shared;
    float *score = shared + a.D;
    const block_rows own = rows_of_block(a);

    rotate_query(a, own, query);
    __syncthreads();
    const float row_max = score_keys(a, own, query, score);
    softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
}

} // namespace step_05
