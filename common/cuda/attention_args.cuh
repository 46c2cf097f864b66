/* attention_args.cuh: the arguments of an attention kernel, and the share of each block.
 */
#pragma once

#include "harness/harness.h"

#include <math.h>

enum { THREADS = 256 }; // per block

// snippet: arguments
struct attention_args {
    const float *q, *k, *v;     // [H][Sq][D], [H][Sk][D], [H][Sk][D]
    const float *cosine, *sine; // [Sk][R/2]
    float *o;                   // [H][Sq][D]
    int Sq, Sk, D, R, pos0;
    bool causal;
    float scale; // of a score: 1 / sqrt(D)
};

// A block has one query of one head, or a few neighbouring queries.
struct block_rows {
    int first, rows;        // the block's queries: rows first, first + 1, ... of Sq
    int position;           // query `first` stands in this row of k and of the tables
    int visible;            // keys that query `first` sees; causal: each next query sees 1 more
    const float *q, *k, *v; // q from the block's first query on; k and v of the head
    float *o;
};
// end snippet: arguments

// grid (Sq / queries, rounded up, H)
static __device__ __forceinline__ block_rows rows_of_block(attention_args a, int queries = 1)
{
    const int64_t head = blockIdx.y;
    block_rows own;
    own.first = blockIdx.x * queries;
    own.rows = min(queries, a.Sq - own.first);
    own.position = a.Sk - a.Sq + own.first;
    own.visible = a.causal ? own.position + 1 : a.Sk;
    own.q = a.q + (head * a.Sq + own.first) * a.D;
    own.o = a.o + (head * a.Sq + own.first) * a.D;
    own.k = a.k + head * a.Sk * a.D;
    own.v = a.v + head * a.Sk * a.D;
    return own;
}

/* The arguments for a run, with q and k from these two tensors. R dimensions are still to be
 * rotated. */
static inline attention_args arguments(const kf_run *run, const char *q, const char *k, int R)
{
    const kf_shape s = run->shape;
    attention_args a;
    a.q = kf_f32(run, q);
    a.k = kf_f32(run, k);
    a.v = kf_f32(run, "v");
    a.cosine = kf_f32(run, "cos");
    a.sine = kf_f32(run, "sin");
    a.o = kf_f32(run, "o");
    a.Sq = s.Sq;
    a.Sk = s.Sk;
    a.D = s.D;
    a.R = R;
    a.pos0 = s.pos0;
    a.causal = s.causal;
    a.scale = 1.0f / sqrtf((float)s.D);
    return a;
}

/* arguments_to_rotate: q and k as they came, for a kernel that rotates both itself.
 * arguments_rotated: q and k as launch_rope_q and launch_rope_k have rotated them. */
static inline attention_args arguments_to_rotate(const kf_run *run)
{
    return arguments(run, "q", "k", run->shape.R);
}

static inline attention_args arguments_rotated(const kf_run *run)
{
    return arguments(run, "q_rotated", "k_rotated", 0);
}

/* Bytes of shared memory for `queries` queries and their scores. */
static inline size_t query_and_scores(attention_args a, int queries = 1)
{
    return queries * (a.D + a.Sk) * sizeof(float);
}
