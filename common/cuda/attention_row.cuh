/* attention_row.cuh: what every attention kernel of Part II is given, and the half of it that no
 * step changes.
 *
 * A kernel stages its query, scores the keys, and then weighs the values. The first two are what
 * the steps change. The last is here, the same in all of them, so that a ratio of two kernels says
 * something about what differs. The function that scores is not inlined, in none of them: inlined,
 * nvcc schedules its loads anew with whatever surrounds it, and a comparison measures that. Step 04
 * has more on it.
 */
#pragma once

#include "cuda/block_reduce.cuh"
#include "cuda/count.cuh"
#include "harness/harness.h"

#include <math.h>

enum { THREADS = 256 }; // a block

// --- What a kernel is given, and where a block works ---------------------------------------------

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

/* The arguments for a run, with q and k from these tensors, of which R dimensions are to turn. */
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

/* As they came, for a version that turns both itself; and turned, by launch_rope_q and _k. */
static inline attention_args arguments_to_turn(const kf_run *run)
{
    return arguments(run, "q", "k", run->shape.R);
}

static inline attention_args arguments_turned(const kf_run *run)
{
    return arguments(run, "q_turned", "k_turned", 0);
}

/* Bytes of shared memory for `queries` queries and their scores. */
static inline size_t query_and_scores(attention_args a, int queries = 1)
{
    return queries * (a.D + a.Sk) * sizeof(float);
}

// --- The second half of attention ----------------------------------------------------------------

// snippet: weigh-values
// score [visible] in shared memory and each thread's largest, v [Sk][D] -> o [D], softmax and the
// weighted sum of the values, one column a thread. Every thread of the block must call it. Eight
// loads in a row, written down before the first is used: left to nvcc, one, two or four are under
// way, whatever the registers of the kernel allow, and a comparison of kernels measures that.
// cost: Sk exponentials a column, 2 Sk flops a column; reads v once
static __device__ __forceinline__ void weigh_values(const float *score, float largest,
                                                    const float *v, float *o, int visible, int D,
                                                    float *scratch)
{
    enum { BATCH = 8 };
    largest = block_max(largest, scratch);

    float sum = 0.0f;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        sum += expf(score[j] - largest);
    }
    sum = block_sum(sum, scratch);

    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        float out = 0.0f;
        int j = 0;
        for (; j + BATCH <= visible; j += BATCH) {
            float value[BATCH];
#pragma unroll
            for (int i = 0; i < BATCH; i++) {
                value[i] = v[(int64_t)(j + i) * D + d];
            }
#pragma unroll
            for (int i = 0; i < BATCH; i++) {
                out += expf(score[j + i] - largest) * value[i];
            }
        }
        for (; j < visible; j++) {
            out += expf(score[j] - largest) * v[(int64_t)j * D + d];
        }
        o[d] = out / sum;
    }
}
// end snippet: weigh-values
