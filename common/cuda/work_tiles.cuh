/* work_tiles.cuh: cuts attention into work tiles, which are rows of one head each. A launch has at
 * most one block per multiprocessor, and each block takes one work tile after the other. The host
 * code of steps 29, 31 and 37 chooses the cut. In the counts of these kernels,
 * clang++ counts other requests than g++.
 */
#pragma once

#include "cuda/tma.cuh"
#include "harness/harness.h"

#include <math.h>

namespace work_tiles
{

enum { SMALL = 128 }; // rows of a small work tile

// Large work tiles of a head, of large_rows rows each, behind small_tiles small ones.
static __host__ __device__ __forceinline__ int large_tiles(int Sq, int small_tiles, int large_rows)
{
    return (Sq - small_tiles * SMALL + large_rows - 1) / large_rows;
}

} // namespace work_tiles

// How many heads run at a time: as many as have their keys and values in 16 MB of the L2 cache.
// Without a mask all rows are equally long, and it is one.
static inline int heads_at_once(const kf_shape *s)
{
    const int64_t room = kf_on_cpu() ? 40000 : 16 << 20; // small on a CPU, as its cases are
    const int64_t head = (int64_t)s->Sk * s->D * 2 * (int)sizeof(__half);
    const int64_t fit = room / head;
    return !s->causal || fit < 1 ? 1 : fit < s->B * s->H ? (int)fit : s->B * s->H;
}

static int multiprocessors()
{
    int n = 2; // on a CPU any number will do, if it is always the same
    if (!kf_on_cpu()) {
        CUDA_CHECK(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0));
    }
    return n;
}

// The cut of a head: large work tiles of `warpgroups` times 64 rows, and `small` small ones for the
// first rows.
typedef struct cut {
    int warpgroups, small;
} cut;

// The time at which the last multiprocessor ends, if each takes a new work tile as soon as it is
// free. The unit is the time of a work tile of 192 rows. One of 128 rows takes 0.77 and not 2/3:
// two warpgroups keep the tensor cores less busy than three.
static double ends_after(const kf_shape *s, cut c)
{
    const int blocks = multiprocessors(), heads = s->B * s->H;
    const int large = work_tiles::large_tiles(s->Sq, c.small, c.warpgroups * 64) * heads;
    const double takes = c.warpgroups == 3 ? 1.0 : 0.77;
    // The large work tiles leave two kinds of blocks: [0] with one work tile less, [1] with one
    // more. How many blocks are of a kind, and when they are free.
    int blocks_free[2] = {blocks - large % blocks, large % blocks};
    double free_at[2] = {large / blocks * takes, (large / blocks + 1) * takes};
    double end = blocks_free[1] > 0 ? free_at[1] : free_at[0];
    for (int left = c.small * heads; left > 0;) {
        const int i = blocks_free[1] > 0 && free_at[1] < free_at[0];
        free_at[i] += 0.77;
        end = fmax(end, free_at[i]);
        left -= blocks_free[i];
    }
    return end;
}

// The cut that ends first; of equal ones that with more small work tiles.
static inline cut best_cut(const kf_shape *s)
{
    cut best = {2, 0};
    for (int small = 0; s->D == 64 && small <= 8 && small * work_tiles::SMALL <= s->Sq; small++) {
        const cut c = {3, small};
        const double gain = ends_after(s, best) - ends_after(s, c);
        if (gain > 0.0 || (gain == 0.0 && best.warpgroups == 3)) {
            best = c;
        }
    }
    return best;
}
