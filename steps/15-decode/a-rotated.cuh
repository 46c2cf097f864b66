/* a-rotated: attention of a few queries over a share of the keys, which are rotated already.
 * Queries are rotated as they are loaded, unless R is 0.
 *
 * A group of lanes takes every GROUPS-th key of its block's share, KEYS of them at a time, and sums
 * up for each query. In the end the groups of the block are joined. */
#pragma once

#include "partial_results.cuh"
#include "queries_and_keys.cuh"

namespace rotated
{

// q [H][Sq][D], k and v [H][Sk][D], cosine and sine [Sk][R/2]
// -> part [H][splits][Sq][D], stat [H][splits][Sq]
// grid (Sq / QUERIES, splits, H), THREADS threads
// cost: reads k and v once for QUERIES queries, and the tables for its queries
template <int D, int QUERIES, int KEYS = BATCH>
__global__ void attend_share(const decode_args a)
{
    const block_share own = share_of_block(a, QUERIES);
    const lane_layout<D> lane = this_lane<D>(a.R);
    const int group = threadIdx.x / row_layout<D>::LANES;
    chunks<D> query[QUERIES];
    partial_result<D> so_far[QUERIES];

    load_queries(a, own, lane, query);
    for (int first = own.begin + group; first - group < own.end;
         first += row_layout<D>::GROUPS * KEYS) {
        chunks<D> key[KEYS];
        chunks<D> value[KEYS];
        load_rows(a, own, lane, first, key, value);
#pragma unroll
        for (int i = 0; i < QUERIES; i++) {
            float score[KEYS];
            score_keys(a, own, i, first, query[i], key, score);
            add_values(score, value, &so_far[i]);
        }
    }
    join_groups(a, own, lane, group, so_far);
}

} // namespace rotated
