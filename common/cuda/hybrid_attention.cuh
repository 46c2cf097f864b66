/* hybrid_attention.cuh: attention for one query a block, with its parts left open.
 *
 * Keys come rotated. The query may come rotated, or be rotated while it is staged, which is V7 of
 * step 13. Open as well: how a block computes its scores and how it finishes its row. Steps 13 and
 * 14 hand in functions for that; the baseline's fit too.
 */
#pragma once

#include "cuda/rope_ladder.cuh"

// query [D] in shared memory, k [Sk][D] -> score [visible]. Returns the thread's largest score.
typedef float score_function(const float *query, const float *k, float *score, int visible, int D,
                             float scale);

// score [visible], each thread's largest, v [Sk][D] -> o [D]; scratch: LADDER_THREADS floats
typedef void finish_function(float *score, float largest, const float *v, float *o, int visible,
                             int D, float *scratch);

static __device__ __forceinline__ void finish_as_baseline(float *score, float largest,
                                                          const float *v, float *o, int visible,
                                                          int D, float *scratch)
{
    finish_row<block_reduction>(score, largest, v, o, visible, D, scratch);
}

enum { STAGED, ROTATED };

// snippet: kernel
// q [H][Sq][D], as it came or rotated, k [H][Sk][D] rotated, v [H][Sk][D], cosine and sine [P][R/2]
// -> o [H][Sq][D]; grid (Sq, H), LADDER_THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: 4 D Sk flops a block; reads k and v of one head once a block; ROTATED: one Q rotation
template <int QUERY, score_function scores, finish_function finish, int BLOCKS>
static __global__ void __launch_bounds__(LADDER_THREADS, BLOCKS)
    hybrid_attention(const float *q, const float *k, const float *v, const float *cosine,
                     const float *sine, float *o, int Sq, int Sk, int D, int R, bool causal,
                     float scale)
{
    extern __shared__ float shared[];
    __shared__ float scratch[LADDER_THREADS];
    float *query = shared;
    float *score = shared + D;
    const int row = blockIdx.x;
    const int64_t head = blockIdx.y;
    const int visible = causal ? Sk - Sq + row + 1 : Sk;
    const int64_t angles = (int64_t)(Sk - Sq + row) * (R / 2);
    q += (head * Sq + row) * D;
    o += (head * Sq + row) * D;
    k += head * Sk * D;
    v += head * Sk * D;

    if (QUERY == ROTATED) {
        COUNT("Q rotations", threadIdx.x == 0);
        rotate_row(q, cosine + angles, sine + angles, query, D, R);
    } else {
        for (int d = threadIdx.x; d < D; d += blockDim.x) {
            query[d] = q[d];
        }
    }
    __syncthreads();
    const float largest = scores(query, k, score, visible, D, scale);
    finish(score, largest, v, o, visible, D, scratch);
}
// end snippet: kernel

// snippet: launch
template <int QUERY, score_function scores, finish_function finish = finish_as_baseline,
          int BLOCKS = 0>
static void launch_hybrid(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const size_t shared = (s.D + s.Sk) * sizeof(float);
    if (QUERY != ROTATED) {
        launch_rope_q(run, stream);
    }
    launch_rope_k(run, stream);
    hybrid_attention<QUERY, scores, finish, BLOCKS>
        <<<dim3(s.Sq, s.H), LADDER_THREADS, shared, stream>>>(
            kf_f32(run, QUERY == ROTATED ? "q" : "q_turned"), kf_f32(run, "k_turned"),
            kf_f32(run, "v"), kf_f32(run, "cos"), kf_f32(run, "sin"), kf_f32(run, "o"), s.Sq, s.Sk,
            s.D, s.R, s.causal, 1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}
// end snippet: launch

static inline bool by_four(const kf_case *c)
{
    return c->shape.D % 4 == 0;
}

/* For variants that only explain a time: they are verified where they are timed, at the dimensions
 * of the log, and on a CPU at some queries. */
static inline bool hybrid_explains(const kf_case *c)
{
    return by_four(c) && c->shape.D >= 128 && (!kf_on_cpu() || c->shape.Sq < 64);
}

/* The same, and counted: on a CPU at one head as well. */
static inline bool hybrid_counted(const kf_case *c)
{
    return hybrid_explains(c) || (by_four(c) && c->shape.H == 1);
}
