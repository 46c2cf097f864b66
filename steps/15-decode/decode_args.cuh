/* decode_args.cuh: the arguments of this step's kernels, and the share of each block. */
#pragma once

#include "problems/attention.h"
#include "row_chunks.cuh"

#include <math.h>

// Shapes as in kf_shape; row j of the tables is position pos0 + j.
struct decode_args {
    const float *q, *k, *v, *cosine, *sine;
    float *part;  // [H][splits][Sq][D] weighted sums of values, not divided yet
    float2 *stat; // [H][splits][Sq] the largest score and the sum of probabilities
    int Sq, Sk, R;
    // The keys of a head are split into `splits` shares of `share` keys, one per block. Before a
    // launch `share` is the wanted number of keys, or 0 for a number that suits the device.
    int splits, share;
    bool causal;
    float scale; // of scores, in powers of 2
};

static inline decode_args arguments(const kf_run *run)
{
    const kf_shape s = run->shape;
    decode_args a = {};
    a.q = kf_f32(run, "q");
    a.k = kf_f32(run, "k");
    a.v = kf_f32(run, "v");
    a.cosine = kf_f32(run, "cos");
    a.sine = kf_f32(run, "sin");
    a.part = kf_f32(run, "part");
    a.stat = reinterpret_cast<float2 *>(kf_f32(run, "stat"));
    a.Sq = s.Sq;
    a.Sk = s.Sk;
    a.R = s.R;
    a.causal = s.causal;
    a.scale = 1.4426950408889634f / sqrtf((float)s.D);
    return a;
}

// A block's head, its queries, and its share of the keys.
struct block_share {
    int64_t head;
    int first_query, begin, end;
};

// grid (Sq / queries, splits, H)
static __device__ __forceinline__ block_share share_of_block(const decode_args &a, int queries)
{
    const int begin = blockIdx.y * a.share;
    return {blockIdx.z, (int)blockIdx.x * queries, begin, min(begin + a.share, a.Sk)};
}
