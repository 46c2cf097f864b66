/* softmax_parts.cuh: the parts of step 14's second kernel, which gets scores in chunks.
 *
 * A block has SOFTMAX_ROWS queries and some of the columns. It adds up the chunks, in SHARES sums
 * side by side so that all its threads have work, computes the softmax, and multiplies P by V. In
 * that product groups of threads share the keys; a thread has 4 columns and all queries. Arrays are
 * passed by reference: behind a pointer they would count as memory on a CPU.
 */
#pragma once

#include "busy.cuh"

enum { SOFTMAX_ROWS = 8, SHARES = 2 };

// partial [chunks][rows][pitch], chunks a stride apart -> score [SHARES][SOFTMAX_ROWS][pitch], each
// the sum of every SHARES-th chunk; rows beyond `rows` are zero
// cost: BATCH loads of 16 bytes are in flight together
template <int BATCH>
static __device__ __forceinline__ void add_chunks(const float *partial, float *score, int chunks,
                                                  int64_t stride, int rows, int pitch)
{
    const int quads = SOFTMAX_ROWS * pitch / 4;
    for (int e = threadIdx.x; e < SHARES * quads; e += THREADS) {
        const int quad = e % quads;
        float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (quad * 4 < rows * pitch) {
            for (int c = e / quads; c < chunks; c += SHARES * BATCH) {
                float4 a[BATCH];
#pragma unroll
                for (int i = 0; i < BATCH; i++) {
                    const int64_t chunk = min(c + i * SHARES, chunks - 1);
                    a[i] = load_four(partial + chunk * stride + quad * 4);
                }
#pragma unroll
                for (int i = 0; i < BATCH; i++) {
                    const bool inside = c + i * SHARES < chunks;
                    sum.x += inside ? a[i].x : 0.0f;
                    sum.y += inside ? a[i].y : 0.0f;
                    sum.z += inside ? a[i].z : 0.0f;
                    sum.w += inside ? a[i].w : 0.0f;
                }
            }
        }
        store_four(score + 4 * e, sum);
    }
}

// score [SHARES][SOFTMAX_ROWS][pitch] -> column m of probability [keys][SOFTMAX_ROWS]; called by
// one warp. Masked and missing keys have probability 0.
static __device__ void softmax_of_shares(float *score, float *probability, int m, int visible,
                                         int keys, int pitch, float scale)
{
    const int lane = threadIdx.x % 32;
    float row_max = -INFINITY;
    for (int j = lane; j < visible; j += 32) {
        float sum = 0.0f;
        for (int i = 0; i < SHARES; i++) {
            sum += score[(i * SOFTMAX_ROWS + m) * pitch + j];
        }
        score[m * pitch + j] = sum * scale;
        row_max = fmaxf(row_max, sum * scale);
    }
    row_max = warp_max(row_max);
    float row_sum = 0.0f;
    for (int j = lane; j < visible; j += 32) {
        score[m * pitch + j] = expf(score[m * pitch + j] - row_max);
        row_sum += score[m * pitch + j];
    }
    const float share = 1.0f / warp_sum(row_sum);
    for (int j = lane; j < keys; j += 32) {
        probability[j * SOFTMAX_ROWS + m] = j < visible ? score[m * pitch + j] * share : 0.0f;
    }
}

// v [Sk][D] from the thread's 4 columns on -> x [EARLY], those columns of keys j, j + GROUPS, ...
template <int EARLY, int GROUPS>
static __device__ __forceinline__ void load_values(const float *v, float4 (&x)[EARLY], int j,
                                                   int Sk, int D)
{
#pragma unroll
    for (int i = 0; i < EARLY; i++) {
        x[i] = load_four(v + (int64_t)min(j + i * GROUPS, Sk - 1) * D);
    }
}

// probability [keys][SOFTMAX_ROWS]; v as above, and x [EARLY], its elements loaded from key j on ->
// out [SOFTMAX_ROWS], the sums over keys j, j + GROUPS, ...
// cost: the next EARLY values are in flight while the thread multiplies
template <int EARLY, int GROUPS>
static __device__ __forceinline__ void
probabilities_times_v(const float *probability, const float *v, float4 (&x)[EARLY],
                      float4 (&out)[SOFTMAX_ROWS], int j, int Sk, int D)
{
    for (; j < Sk; j += EARLY * GROUPS) {
        float4 y[EARLY];
#pragma unroll
        for (int i = 0; i < EARLY; i++) {
            y[i] = x[i];
        }
        load_values<EARLY, GROUPS>(v, x, j + EARLY * GROUPS, Sk, D);
#pragma unroll
        for (int i = 0; i < EARLY; i++) {
            const float *of_key = probability + (j + i * GROUPS) * SOFTMAX_ROWS;
            const float4 low = load_four(of_key);
            const float4 high = load_four(of_key + 4);
            const float w[] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
            for (int m = 0; m < SOFTMAX_ROWS; m++) {
                add_weighted(&out[m], w[m], y[i]);
            }
        }
    }
}

// out [SOFTMAX_ROWS], 4 columns of each thread -> o [rows][D] from column `first` on. The sums of
// the groups are added in shared [GROUPS][SOFTMAX_ROWS][COLUMNS].
template <int COLUMNS, int GROUPS>
static __device__ __forceinline__ void join_groups(const float4 (&out)[SOFTMAX_ROWS], float *shared,
                                                   float *o, int first, int rows, int D)
{
    const int group = threadIdx.x / (COLUMNS / 4);
    const int column = threadIdx.x % (COLUMNS / 4) * 4;
    for (int m = 0; m < SOFTMAX_ROWS; m++) {
        store_four(shared + (group * SOFTMAX_ROWS + m) * COLUMNS + column, out[m]);
    }
    __syncthreads();
    for (int e = threadIdx.x; e < rows * COLUMNS; e += THREADS) {
        const int d = first + e % COLUMNS;
        float sum = 0.0f;
#pragma unroll
        for (int g = 0; g < GROUPS; g++) {
            sum += shared[g * SOFTMAX_ROWS * COLUMNS + e];
        }
        if (d < D) {
            o[(int64_t)(e / COLUMNS) * D + d] = sum;
        }
    }
}
