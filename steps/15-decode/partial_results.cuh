/* partial_results.cuh: softmax over keys that come in parts. A group of lanes sums up its keys, the
 * groups of a block are merged, and then the blocks of a head.
 */
#pragma once

#include "decode_args.cuh"

// The partial result of a group of lanes for one query.
template <int D>
struct partial_result {
    float row_max = -INFINITY; // of the scores
    float row_sum = 0.0f;      // of the exponentials, with row_max subtracted
    chunks<D> out = {};
};

// snippet: merge
// 2^(x - row_max). If x is the score of a key, the result is the exponential of this key. If x is
// the maximum of a partial result, the sums of this partial result must be multiplied by it.
// Without keys x and row_max are -INFINITY, and the result is 0.
static __device__ __forceinline__ float exp_difference(float x, float row_max)
{
    return exp2f(x - (row_max == -INFINITY ? 0.0f : row_max));
}

// Joins n partial results. rows: the number of queries.
// stat [n][rows] has row_max and row_sum, part [n][rows][D] has the sums of values.
// Both pointers point at this thread's element of the first partial result.
// -> returns the sum of values of that element, and sets *whole to row_max and row_sum of all parts
// cost: an exponential, 3 loads and 4 flops per part
static __device__ __forceinline__ float merge(const float2 *stat, const float *part, int n,
                                              int rows, int D, float2 *whole)
{
    float row_max = -INFINITY;
    float row_sum = 0.0f;
    float out = 0.0f;
    // solution: merge -- join the n parts: each had another maximum subtracted
    // hint: The sums of part p were made with that part's maximum subtracted. Which factor makes
    //     them what they would be with the largest maximum of all parts, and which function above
    //     returns it?
    // hint: `stat[p * rows]` has the maximum of part p in .x and its sum of exponentials in .y;
    //     `part[p * rows * D]` has its sum of values for this element. A first loop over p finds
    //     row_max, and a second one adds up row_sum and out.
    // hint: In the second loop load the float2 once: `const float2 of_part = stat[p * rows];`. The
    //     factor is `exp_difference(of_part.x, row_max)`, and it multiplies what is added to
    //     row_sum and what is added to out.
    for (int p = 0; p < n; p++) {
        row_max = fmaxf(row_max, stat[p * rows].x);
    }
    for (int p = 0; p < n; p++) {
        const float2 of_part = stat[p * rows];
        const float correction = exp_difference(of_part.x, row_max);
        row_sum += correction * of_part.y;
        out += correction * part[p * rows * D];
    }
    // end solution: merge
    *whole = make_float2(row_max, row_sum);
    return out;
}
// end snippet: merge

// snippet: add
// N keys, with their scores and values, are added to the partial result q.
// cost: an exponential per key, and one more
template <int D, int N>
static __device__ __forceinline__ void add_values(const float (&score)[N],
                                                  const chunks<D> (&value)[N], partial_result<D> *q)
{
    float row_max = q->row_max;
#pragma unroll
    for (int m = 0; m < N; m++) {
        row_max = fmaxf(row_max, score[m]);
    }
    // solution: rescale -- rescale what is summed up so far to the new maximum, and keep that
    // hint: The sums in *q were made with q->row_max subtracted, and from the scores below row_max
    //     is subtracted. merge scales the sums of n parts; here only those of *q are scaled: by
    //     which factor, and which sums are they?
    // hint: The factor comes from both maxima, so compute it before you store row_max in
    //     q->row_max. Nothing below stores it there.
    // hint: With `const float correction = exp_difference(q->row_max, row_max);` three things are
    //     left: q->row_max becomes row_max, and q->row_sum and each `q->out.at[n][e]` are
    //     multiplied by correction. The loops over n and e are those below.
    const float correction = exp_difference(q->row_max, row_max);
    q->row_max = row_max;
    q->row_sum *= correction;
    for (int n = 0; n < row_layout<D>::SLOTS; n++) {
        for (int e = 0; e < row_layout<D>::WIDTH; e++) {
            q->out.at[n][e] *= correction;
        }
    }
    // end solution: rescale
#pragma unroll
    for (int m = 0; m < N; m++) {
        const float exponential = exp_difference(score[m], row_max);
        q->row_sum += exponential;
        for (int n = 0; n < row_layout<D>::SLOTS; n++) {
            for (int e = 0; e < row_layout<D>::WIDTH; e++) {
                q->out.at[n][e] += exponential * value[m].at[n][e];
            }
        }
    }
}
// end snippet: add

// so_far [QUERIES] of each group -> the block's part and stat
template <int D, int QUERIES>
static __device__ __forceinline__ void join_groups(const decode_args &a, const block_share &own,
                                                   const lane_layout<D> &lane, int group,
                                                   const partial_result<D> (&so_far)[QUERIES])
{
    constexpr int GROUPS = row_layout<D>::GROUPS;
    __shared__ float part[GROUPS][QUERIES][D];
    __shared__ float2 stat[GROUPS][QUERIES];
#pragma unroll
    for (int i = 0; i < QUERIES; i++) {
        store_row(so_far[i].out, lane, part[group][i]);
        if (lane.index == 0) {
            stat[group][i] = make_float2(so_far[i].row_max, so_far[i].row_sum);
        }
    }
    __syncthreads();
    const int64_t to = (own.head * a.splits + blockIdx.y) * a.Sq + own.first_query;
    for (int t = threadIdx.x; t < QUERIES * D; t += THREADS) {
        const int i = t / D;
        const int d = t % D;
        float2 whole;
        a.part[to * D + t] = merge(&stat[0][i], &part[0][i][d], GROUPS, QUERIES, D, &whole);
        if (d == 0) {
            a.stat[to + i] = whole;
        }
    }
}

// snippet: join
// part [H][splits][Sq][D], stat [H][splits][Sq] -> o [H][Sq][D]; grid (Sq, H), D threads
// cost: reads part once, and stat once per thread
__global__ void join_shares(const float *part, const float2 *stat, float *o, int splits, int Sq,
                            int D)
{
    const int64_t at = (int64_t)blockIdx.y * splits * Sq + blockIdx.x;
    float2 whole;
    const float out = merge(stat + at, part + at * D + threadIdx.x, splits, Sq, D, &whole);
    o[((int64_t)blockIdx.y * Sq + blockIdx.x) * D + threadIdx.x] = out / whole.y;
}
// end snippet: join
