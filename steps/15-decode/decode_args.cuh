/* decode_args.cuh: the arguments of the rungs' kernels, and the share of each block. */
#pragma once

#include "cuda/rope_angle.cuh"
#include "problems/attention.h"
#include "row_chunks.cuh"

#include <math.h>

enum {
    BATCH = 4,          // keys and values in flight per thread
    MOST_SPLITS = 64,   // shares of the keys of a head
    BLOCKS_ON_A_CPU = 8 // a constant, so that counts are the same on any CPU
};

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
    float scale;                       // of scores, in powers of 2
    const rope_frequency *frequencies; // [R/2]
    int pos0;
};

typedef void attend_kernel(decode_args a);

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
    a.frequencies = rope_frequencies(run);
    a.pos0 = s.pos0;
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

// snippet: splits
// The number of blocks of the kernel that the device holds at a time. It depends on the kernel's
// registers and shared memory. The GPU is asked anew for each launch; in a graph this is not part
// of the time.
static int resident_blocks(attend_kernel *of)
{
    int device, processors, on_each;
    if (kf_on_cpu()) {
        return BLOCKS_ON_A_CPU;
    }
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, of, THREADS, 0));
    return processors * on_each;
}

// As many blocks as the device holds at a time, so that none waits for another to end; and equal
// shares in whole iterations of the kernel's loop, so that none ends early. If a->share is given,
// a share has about a->share keys. Returns the grid, with `queries` per block.
static dim3 share_keys(const kf_run *run, decode_args *a, int blocks, int queries, int step)
{
    const kf_shape s = run->shape;
    const int passes = s.Sq / queries;
    int splits = a->share > 0 ? s.Sk / a->share : blocks / (s.H * passes);
    splits = splits < 1 ? 1 : splits > MOST_SPLITS ? MOST_SPLITS : splits;
    a->share = ((s.Sk + splits - 1) / splits + step - 1) / step * step;
    a->splits = (s.Sk + a->share - 1) / a->share;
    return dim3(passes, a->splits, s.H);
}
// end snippet: splits
