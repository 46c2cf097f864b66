/* busy.cuh: V7 with all threads at work on the scores.
 *
 * A warp has KEYS_AT_ONCE keys. At each load its lanes read neighbouring parts of one key. So every
 * loaded sector is used whole and at once, and no warp is idle. D is a multiple of 4.
 */
#pragma once

#include "cuda/float4.cuh"
#include "cuda/rope_ladder.cuh"

enum { BUSY_WARPS = THREADS / 32, KEYS_AT_ONCE = 8 };

static __device__ __forceinline__ void add_weighted(float4 *sum, float w, float4 x)
{
    sum->x += w * x.x;
    sum->y += w * x.y;
    sum->z += w * x.z;
    sum->w += w * x.w;
}

// query [QUERIES][D] in shared memory, k [Sk][D] rotated -> score [QUERIES][Sk]
// cost: KEYS_AT_ONCE keys are in flight together, so that a warp waits once for all of them
template <int QUERIES>
static __device__ __forceinline__ void score_keys_by_warp(const float *query, const float *k,
                                                          float *score, int Sk, int D, float scale)
{
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    for (int first = warp * KEYS_AT_ONCE; first < Sk; first += BUSY_WARPS * KEYS_AT_ONCE) {
        float dot[QUERIES][KEYS_AT_ONCE] = {};
        const float *row[KEYS_AT_ONCE];
#pragma unroll
        for (int i = 0; i < KEYS_AT_ONCE; i++) {
            row[i] = k + (int64_t)min(first + i, Sk - 1) * D;
        }
        for (int d = 4 * lane; d < D; d += 4 * 32) {
            float4 key[KEYS_AT_ONCE];
#pragma unroll
            for (int i = 0; i < KEYS_AT_ONCE; i++) {
                key[i] = load_four(row[i] + d);
            }
#pragma unroll
            for (int m = 0; m < QUERIES; m++) {
                const float4 a = load_four(query + m * D + d);
#pragma unroll
                for (int i = 0; i < KEYS_AT_ONCE; i++) {
                    dot[m][i] += dot_four(a, key[i]);
                }
            }
        }
        for (int m = 0; m < QUERIES; m++) {
            for (int i = 0; i < KEYS_AT_ONCE; i += 4) {
                const float sum = warp_sum_of_four(dot[m] + i);
                const int j = first + i + lane / 8;
                if (lane % 8 == 0 && j < Sk) {
                    score[m * Sk + j] = sum * scale;
                }
            }
        }
    }
}

// score [Sk] -> probabilities, in place; called by one warp. Masked keys have probability 0.
static __device__ __forceinline__ void softmax_by_warp(float *score, int visible, int Sk)
{
    const int lane = threadIdx.x % 32;
    float row_max = -INFINITY;
    for (int j = lane; j < visible; j += 32) {
        row_max = fmaxf(row_max, score[j]);
    }
    row_max = warp_max(row_max);
    float row_sum = 0.0f;
    for (int j = lane; j < visible; j += 32) {
        score[j] = expf(score[j] - row_max);
        row_sum += score[j];
    }
    row_sum = warp_sum(row_sum);
    for (int j = lane; j < Sk; j += 32) {
        score[j] = j < visible ? score[j] / row_sum : 0.0f;
    }
}

// probability [QUERIES][Sk], v [Sk][D] -> o [queries][D]; or partial [QUERIES][groups][D] if groups
// of threads share the keys, because there are fewer columns of 4 than threads
// cost: each value is loaded once for all queries
template <int QUERIES>
static __device__ __forceinline__ void
probabilities_times_v_by_groups(const float *probability, const float *v, float *o, float *partial,
                                int groups, int queries, int Sk, int D)
{
    const int width = D / 4;
    const int group = threadIdx.x / width;
    for (int column = groups > 1 ? threadIdx.x % width : threadIdx.x; column < width;
         column += THREADS) {
        float4 out[QUERIES] = {};
        if (groups == 1 || group < groups) {
#pragma unroll 8
            for (int j = groups > 1 ? group : 0; j < Sk; j += groups) {
                const float4 x = load_four(v + (int64_t)j * D + 4 * column);
                for (int m = 0; m < QUERIES; m++) {
                    add_weighted(&out[m], probability[m * Sk + j], x);
                }
            }
        }
        if (groups == 1) {
            for (int m = 0; m < queries; m++) {
                store_four(o + m * D + 4 * column, out[m]);
            }
        } else if (group < groups) {
            for (int m = 0; m < QUERIES; m++) {
                store_four(partial + ((m * groups + group) * width + column) * 4, out[m]);
            }
        }
    }
}

// partial [QUERIES][groups][D] -> o [queries][D]
static __device__ __forceinline__ void add_groups(const float *partial, float *o, int groups,
                                                  int queries, int D)
{
    for (int e = threadIdx.x; e < queries * D; e += THREADS) {
        const int m = e / D;
        const float *p = partial + (int64_t)m * groups * D + e % D;
        float out = 0.0f;
        for (int g = 0; g < groups; g++) {
            out += p[g * D];
        }
        o[e] = out;
    }
}

// q [H][Sq][D] not rotated, k [H][Sk][D] rotated, v [H][Sk][D], cosine and sine -> o [H][Sq][D]
// grid (Sq / QUERIES, H), THREADS threads; dynamic shared memory: QUERIES (D + Sk) floats, and 4
// QUERIES per thread if groups of threads share the keys
// cost: reads k and v of one head once for QUERIES queries; an exponential per query and key
template <int QUERIES>
static __global__ void __launch_bounds__(THREADS, 2) attention_busy(attention_args a)
{
    extern __shared__ float shared[];
    float *query = shared;
    float *score = shared + QUERIES * a.D;
    const block_rows own = rows_of_block(a, QUERIES);

    for (int m = 0; m < QUERIES; m++) {
        const int present = min(m, own.rows - 1);
        const int64_t angles = (int64_t)(own.position + present) * (a.R / 2);
        COUNT("Q rotations", threadIdx.x == 0 && m < own.rows);
        rotate_row(own.q + present * a.D, a.cosine + angles, a.sine + angles, query + m * a.D, a.D,
                   a.R);
    }
    __syncthreads();
    score_keys_by_warp<QUERIES>(query, own.k, score, a.Sk, a.D, a.scale);
    __syncthreads();
    for (int m = threadIdx.x / 32; m < QUERIES; m += BUSY_WARPS) {
        const int visible = a.causal ? own.visible + min(m, own.rows - 1) : a.Sk;
        softmax_by_warp(score + m * a.Sk, visible, a.Sk);
    }
    __syncthreads();
    const int width = a.D / 4;
    const int groups = width < THREADS ? THREADS / width : 1;
    float *partial = shared + (QUERIES * (a.D + a.Sk) + 3) / 4 * 4;
    probabilities_times_v_by_groups<QUERIES>(score, own.v, own.o, partial, groups, own.rows, a.Sk,
                                             a.D);
    if (groups > 1) {
        __syncthreads();
        add_groups(partial, own.o, groups, own.rows, a.D);
    }
}

template <int QUERIES>
static void launch_busy(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments(run, "q", "k_rotated", run->shape.R);
    const size_t sums = a.D / 4 < THREADS ? QUERIES * THREADS * 4 : 0;
    const size_t shared = query_and_scores(a, QUERIES) + (4 + sums) * sizeof(float);
    launch_rope_k(run, stream);
    attention_busy<QUERIES>
        <<<dim3((a.Sq + QUERIES - 1) / QUERIES, run->shape.H), THREADS, shared, stream>>>(a);
    CUDA_CHECK_LAUNCH();
}
