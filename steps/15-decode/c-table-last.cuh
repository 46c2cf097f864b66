/* c-table-last: the table is loaded after the keys, for one key after the other.
 *
 * The loads of b-table. But a lane waits for its keys, and then once more for the angles of each
 * key. */
#pragma once

#include "partial_results.cuh"
#include "queries_and_keys.cuh"

namespace table_last
{

// snippet: load
// As load_rows, with rotated keys.
template <int D, int KEYS>
static __device__ __forceinline__ void load_keys(const decode_args &a, const block_share &own,
                                                 const lane_layout<D> &lane, int first,
                                                 chunks<D> (&key)[KEYS], chunks<D> (&value)[KEYS])
{
    load_rows(a, own, lane, first, key, value);
#pragma unroll
    for (int m = 0; m < KEYS; m++) {
        // If row were computed inside the branch, nvcc would merge the branches of all keys, and
        // all loads of the table would come first.
        const int row = min(first + m * row_layout<D>::GROUPS, a.Sk - 1);
        COUNT("K rotations", lane.index == 0);
        if (lane.rotates) {
            float c[row_layout<D>::WIDTH];
            float s[row_layout<D>::WIDTH];
            load_angles(a, lane, row, c, s);
            rotate(key[m].at[0], key[m].at[1], c, s);
        }
    }
}
// end snippet: load

// same as b-table.cuh
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

} // namespace table_last
