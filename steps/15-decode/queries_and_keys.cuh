/* queries_and_keys.cuh: rows of q, k, v and the tables, and scores. Rung d loads
 * its queries in its own way, and no table. */
#pragma once

#include "decode_args.cuh"

// Cosines and sines of a lane's pairs in a row, from the table.
template <int D, int WIDTH>
static __device__ __forceinline__ void load_angles(const decode_args &a, const lane_layout<D> &lane,
                                                   int row, float (&c)[WIDTH], float (&s)[WIDTH])
{
    const int64_t at = (int64_t)row * (a.R / 2) + lane.index * WIDTH;
    COUNT("table loads", 2 * WIDTH);
    load(a.cosine + at, c);
    load(a.sine + at, s);
}

// q [H][Sq][D] -> query [QUERIES], rotated
template <int D, int QUERIES>
static __device__ __forceinline__ void load_queries(const decode_args &a, const block_share &own,
                                                    const lane_layout<D> &lane,
                                                    chunks<D> (&query)[QUERIES])
{
#pragma unroll
    for (int i = 0; i < QUERIES; i++) {
        load_row(a.q + (own.head * a.Sq + own.first_query + i) * D, lane, &query[i]);
        COUNT("Q rotations", a.R > 0 && threadIdx.x == 0);
        if (lane.rotates) {
            float c[row_layout<D>::WIDTH];
            float s[row_layout<D>::WIDTH];
            load_angles(a, lane, a.Sk - a.Sq + own.first_query + i, c, s);
            rotate(query[i].at[0], query[i].at[1], c, s);
        }
    }
}

// k and v [H][Sk][D] -> key and value [KEYS], of rows first, first + GROUPS and so on. Past the end
// the last row is loaded again; it is masked for all queries.
template <int D, int KEYS>
static __device__ __forceinline__ void load_rows(const decode_args &a, const block_share &own,
                                                 const lane_layout<D> &lane, int first,
                                                 chunks<D> (&key)[KEYS], chunks<D> (&value)[KEYS])
{
    const float *k = a.k + own.head * a.Sk * D;
    const float *v = a.v + own.head * a.Sk * D;
#pragma unroll
    for (int m = 0; m < KEYS; m++) {
        const int64_t at = (int64_t)min(first + m * row_layout<D>::GROUPS, a.Sk - 1) * D;
        load_row(k + at, lane, &key[m]);
        load_row(v + at, lane, &value[m]);
    }
}

// query, key [KEYS] of rows first, first + GROUPS and so on -> score [KEYS] of the block's query i
template <int D, int KEYS>
static __device__ __forceinline__ void
score_keys(const decode_args &a, const block_share &own, int i, int first, const chunks<D> &query,
           const chunks<D> (&key)[KEYS], float (&score)[KEYS])
{
    const int visible = a.causal ? a.Sk - a.Sq + own.first_query + i + 1 : a.Sk;
#pragma unroll
    for (int m = 0; m < KEYS; m++) {
        const float dot = dot_of_rows(query, key[m]);
        const int row = first + m * row_layout<D>::GROUPS;
        score[m] = row < visible ? dot * a.scale : -INFINITY;
    }
}
