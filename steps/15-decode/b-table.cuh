/* b-table: keys are not rotated yet. A lane rotates them when it has loaded them, by cosines and
 * sines from the table. */
#pragma once

#include "partial_results.cuh"
#include "queries_and_keys.cuh"

namespace table
{

// snippet: load
// Loads KEYS keys and values, and rotates the keys. All loads are in flight at the same time.
template <int D, int KEYS>
static __device__ __forceinline__ void load_keys(const decode_args &a, const block_share &own,
                                                 const lane_layout<D> &lane, int first,
                                                 chunks<D> (&key)[KEYS], chunks<D> (&value)[KEYS])
{
    float c[KEYS][row_layout<D>::WIDTH];
    float s[KEYS][row_layout<D>::WIDTH];
#pragma unroll
    for (int m = 0; m < KEYS; m++) {
        if (lane.rotates) {
            load_angles(a, lane, min(first + m * row_layout<D>::GROUPS, a.Sk - 1), c[m], s[m]);
        }
    }
    load_rows(a, own, lane, first, key, value);
#pragma unroll
    for (int m = 0; m < KEYS; m++) {
        COUNT("K rotations", lane.index == 0);
        if (lane.rotates) {
            rotate(key[m].at[0], key[m].at[1], c[m], s[m]);
        }
    }
}
// end snippet: load

// snippet: attend
// q [H][Sq][D], k and v [H][Sk][D], cosine and sine [Sk][R/2]
// -> part [H][splits][Sq][D], stat [H][splits][Sq]
// grid (Sq / QUERIES, splits, H), THREADS threads
// cost: reads k, v and the tables once for QUERIES queries; one K rotation per key
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
        load_keys(a, own, lane, first, key, value);
#pragma unroll
        for (int i = 0; i < QUERIES; i++) {
            float score[KEYS];
            score_keys(a, own, i, first, query[i], key, score);
            add_values(score, value, &so_far[i]);
        }
    }
    join_groups(a, own, lane, group, so_far);
}
// end snippet: attend

} // namespace table
