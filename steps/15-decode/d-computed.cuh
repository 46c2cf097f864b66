/* d-computed: angles are computed, and no table is loaded.
 *
 * A lane keeps the frequencies of its pairs in registers. */
#pragma once

#include "cuda/rope_angle.cuh"
#include "partial_results.cuh"
#include "queries_and_keys.cuh"

namespace computed
{

// Cosines and sines of a lane's pairs in a row.
template <int WIDTH>
static __device__ __forceinline__ void compute_angles(const decode_args &a,
                                                      const rope_frequency (&frequency)[WIDTH],
                                                      int row, float (&c)[WIDTH], float (&s)[WIDTH])
{
    for (int e = 0; e < WIDTH; e++) {
        rope_cos_sin(a.pos0 + row, frequency[e], &c[e], &s[e]);
    }
}

// As load_rows, with rotated keys.
template <int D, int KEYS, int WIDTH>
static __device__ __forceinline__ void
load_keys(const decode_args &a, const block_share &own, const lane_layout<D> &lane,
          const rope_frequency (&frequency)[WIDTH], int first, chunks<D> (&key)[KEYS],
          chunks<D> (&value)[KEYS])
{
    load_rows(a, own, lane, first, key, value);
#pragma unroll
    for (int m = 0; m < KEYS; m++) {
        const int row = min(first + m * row_layout<D>::GROUPS, a.Sk - 1);
        COUNT("K rotations", lane.index == 0);
        if (lane.rotates) {
            float c[WIDTH];
            float s[WIDTH];
            compute_angles(a, frequency, row, c, s);
            rotate(key[m].at[0], key[m].at[1], c, s);
        }
    }
}

// q [H][Sq][D] -> query [QUERIES], rotated
template <int D, int QUERIES, int WIDTH>
static __device__ __forceinline__ void
load_queries(const decode_args &a, const block_share &own, const lane_layout<D> &lane,
             const rope_frequency (&frequency)[WIDTH], chunks<D> (&query)[QUERIES])
{
#pragma unroll
    for (int i = 0; i < QUERIES; i++) {
        load_row(a.q + (own.head * a.Sq + own.first_query + i) * D, lane, &query[i]);
        COUNT("Q rotations", a.R > 0 && threadIdx.x == 0);
        if (lane.rotates) {
            float c[WIDTH];
            float s[WIDTH];
            compute_angles(a, frequency, a.Sk - a.Sq + own.first_query + i, c, s);
            rotate(query[i].at[0], query[i].at[1], c, s);
        }
    }
}

// q [H][Sq][D], k and v [H][Sk][D], frequencies [R/2]
// -> part [H][splits][Sq][D], stat [H][splits][Sq]
// grid (Sq / QUERIES, splits, H), THREADS threads
// cost: reads k and v once for QUERIES queries; R/2 angles per key
template <int D, int QUERIES, int KEYS = BATCH>
__global__ void attend_share(const decode_args a)
{
    const block_share own = share_of_block(a, QUERIES);
    const lane_layout<D> lane = this_lane<D>(a.R);
    const int group = threadIdx.x / row_layout<D>::LANES;
    chunks<D> query[QUERIES];
    partial_result<D> so_far[QUERIES];
    rope_frequency frequency[row_layout<D>::WIDTH];

    if (lane.rotates) {
        for (int e = 0; e < row_layout<D>::WIDTH; e++) {
            frequency[e] = a.frequencies[lane.index * row_layout<D>::WIDTH + e];
        }
    }
    load_queries(a, own, lane, frequency, query);
    for (int first = own.begin + group; first - group < own.end;
         first += row_layout<D>::GROUPS * KEYS) {
        chunks<D> key[KEYS];
        chunks<D> value[KEYS];
        load_keys(a, own, lane, frequency, first, key, value);
#pragma unroll
        for (int i = 0; i < QUERIES; i++) {
            float score[KEYS];
            score_keys(a, own, i, first, query[i], key, score);
            add_values(score, value, &so_far[i]);
        }
    }
    join_groups(a, own, lane, group, so_far);
}

} // namespace computed
