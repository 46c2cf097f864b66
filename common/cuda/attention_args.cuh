/* attention_args.cuh: what a kernel of attention is given, and where a block of it works.
 */
#pragma once

#include "harness/harness.h"

#include <math.h>

enum { THREADS = 256 }; // a block

// snippet: arguments
struct attention_args {
    const float *q, *k, *v;     // [H][Sq][D], [H][Sk][D], [H][Sk][D]
    const float *cosine, *sine; // [Sk][R/2]
    float *o;                   // [H][Sq][D]
    int Sq, Sk, D, R, pos0;
    bool causal;
    float scale; // of a score: 1 / sqrt(D)
};

// A block has one query of one head, or a few neighbours.
struct block_rows {
    int first, rows;        // the block's queries: rows first, first + 1, ... of Sq
    int position;           // the row of the tables, and of k, in which query `first` stands
    int visible;            // how many keys it sees; under a mask each further one sees a key more
    const float *q, *k, *v; // from the block's first query on; the head's keys and values
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

/* The arguments for a run, with q and k from these tensors, of which R dimensions are to rotate. */
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

/* As they came, for a version that rotates both itself; and rotated, by launch_rope_q and _k. */
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
