/* other_ways.cuh: variants that explain step 21: the softmax with a pass of its own for the largest
 * score, and the two mistakes that one pass invites.
 */
#pragma once

#include "tiles.cuh"

static __device__ __forceinline__ int keys_seen(const flash_args &a, int query)
{
    return a.causal ? min(a.Sk, a.Sk - a.Sq + query + 1) : a.Sk;
}

// Scores of one query of the thread: scaled, and -Inf for keys that the query does not see. Returns
// the largest score.
static __device__ __forceinline__ float mask_row(const flash_args &a, int query, int first_key,
                                                 int lane, float *p)
{
    const int seen = keys_seen(a, query);
    float most = -INFINITY;
#pragma unroll
    for (int j = 0; j < KEYS; j++) {
        p[j] = first_key + lane + j * LANES < seen ? p[j] * a.scale : -INFINITY;
        most = fmaxf(most, p[j]);
    }
    return most;
}

// Turns the scores p into exponentials, writes them to shared memory too, and returns their sum.
template <int D>
static __device__ __forceinline__ float softmax_row(tiles<D> &t, int row, int lane, float base,
                                                    float *p)
{
    float row_sum = 0.0f;
#pragma unroll
    for (int j = 0; j < KEYS; j++) {
        p[j] = expf(p[j] - base);
        row_sum += p[j];
        t.p[row][lane + j * LANES] = p[j];
    }
    return row_sum;
}

template <int D>
static __device__ __forceinline__ void
store_queries(const flash_args &a, int64_t head, int first_query, int lane, const float *row_max,
              const float *row_sum, float (&out)[ROWS][D / LANES])
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const float all = sum_of_row(row_sum[i]);
        const int64_t at = head * a.Sq + first_query + i;
        if (first_query + i < a.Sq) {
            store_row<D>(a.o + at * D, lane, out[i], all > 0.0f ? 1.0f / all : 0.0f);
            if (lane == 0) {
                a.lse[at] = row_max[i] + logf(all);
            }
        }
    }
}

// q [BH][Sq][D], k and v [BH][Sk][D] -> o [BH][Sq][D], lse [BH][Sq]; the first pass over the keys
// finds each query's largest score, the second multiplies by V: nothing is ever rescaled
// cost: 6 D flops and one exponential per pair; reads k twice and v once per TILE queries
template <int D>
__global__ void two_passes(const flash_args a)
{
    extern __shared__ float4 memory[];
    tiles<D> &t = *(tiles<D> *)memory;
    const int64_t head = blockIdx.y;
    const int first_query = blockIdx.x * TILE;
    const int row = threadIdx.x / LANES * ROWS;
    const int lane = threadIdx.x % LANES;
    const int end = keys_seen(a, first_query + TILE - 1);
    float row_max[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        row_max[i] = -INFINITY;
    }
    float row_sum[ROWS] = {};
    float out[ROWS][D / LANES] = {};

    load_tile<D>(a.q + head * a.Sq * D, first_query, a.Sq, t.q);
    for (int pass = 0; pass < 2; pass++) {
        for (int first_key = 0; first_key < end; first_key += TILE) {
            __syncthreads();
            load_tile<D>(a.k + head * a.Sk * D, first_key, a.Sk, t.kv);
            __syncthreads();
            float p[ROWS][KEYS] = {};
            score_tile<D>(t, row, lane, p);
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                const float most = mask_row(a, first_query + row + i, first_key, lane, p[i]);
                if (pass == 0) {
                    row_max[i] = fmaxf(row_max[i], max_of_row(most));
                } else {
                    const float base = row_max[i] > -INFINITY ? row_max[i] : 0.0f;
                    row_sum[i] += softmax_row<D>(t, row + i, lane, base, p[i]);
                }
            }
            if (pass == 0) {
                continue;
            }
            __syncthreads();
            load_tile<D>(a.v + head * a.Sk * D, first_key, a.Sk, t.kv);
            __syncthreads();
            add_values<D>(t, row, lane, out);
        }
    }
    store_queries<D>(a, head, first_query + row, lane, row_max, row_sum, out);
}

// One pass that goes wrong: either the sums keep the maximum that they were computed with, or no
// maximum is subtracted at all.
enum mistake { NO_RESCALE, NO_MAX };

template <int D, enum mistake MISTAKE>
__global__ void wrong(const flash_args a)
{
    extern __shared__ float4 memory[];
    tiles<D> &t = *(tiles<D> *)memory;
    const int64_t head = blockIdx.y;
    const int first_query = blockIdx.x * TILE;
    const int row = threadIdx.x / LANES * ROWS;
    const int lane = threadIdx.x % LANES;
    float row_max[ROWS] = {};
    float row_sum[ROWS] = {};
    float out[ROWS][D / LANES] = {};

    load_tile<D>(a.q + head * a.Sq * D, first_query, a.Sq, t.q);
    for (int first_key = 0; first_key < keys_seen(a, first_query + TILE - 1); first_key += TILE) {
        __syncthreads();
        load_tile<D>(a.k + head * a.Sk * D, first_key, a.Sk, t.kv);
        __syncthreads();
        float p[ROWS][KEYS] = {};
        score_tile<D>(t, row, lane, p);
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const float most =
                max_of_row(mask_row(a, first_query + row + i, first_key, lane, p[i]));
            if (MISTAKE == NO_RESCALE) {
                row_max[i] = first_key == 0 ? most : fmaxf(row_max[i], most);
            }
            row_sum[i] += softmax_row<D>(t, row + i, lane, row_max[i], p[i]);
        }
        __syncthreads();
        load_tile<D>(a.v + head * a.Sk * D, first_key, a.Sk, t.kv);
        __syncthreads();
        add_values<D>(t, row, lane, out);
    }
    store_queries<D>(a, head, first_query + row, lane, row_max, row_sum, out);
}
