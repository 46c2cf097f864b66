/* rows.cuh: what rungs b to f share: a row of weights times a vector, read by one warp or by
 * several, and the norms behind a layer.
 */
#pragma once

#include "cuda/dependent_launch.cuh"
#include "cuda/half_add.cuh"
#include "neox/norms.cuh"

// A weight is read once per decode step, so it need not stay in the L1 cache.
static __device__ __forceinline__ struct eight load_once(const half *from)
{
    const uint4 words = __ldcs((const uint4 *)from);
    struct eight x;
    memcpy((void *)&x, &words, sizeof x);
    return x;
}

// snippet: dot
// This lane's share of a row: w, x [columns], eight at a time, every `stride` from `first`.
static __device__ __forceinline__ float partial_dot(const half *w, const half *x, int columns,
                                                    int first, int stride)
{
    float sum = 0.0f;
    for (int i = first; i < columns; i += stride) {
        float a[8];
        float b[8];
        to_floats(load_once(w + i), a);
        to_floats(load_eight(x + i), b);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            sum += a[k] * b[k];
        }
    }
    return sum;
}
// end snippet: dot

enum {
    ROW_THREADS = 256,
    ROW_WARPS = ROW_THREADS / 32,
    WARPS_A_ROW = 4,
    ROWS_OF_FOUR = ROW_WARPS / WARPS_A_ROW
};

/* Blocks of ROW_THREADS whose threads fit on an SM: it has 2048 threads with compute capability 9
 * and 10, 1024 with 7.5, and at least 1536 otherwise. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
enum { ROW_BLOCKS_AN_SM = 1024 / ROW_THREADS };
#elif defined __CUDA_ARCH__ && (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1200)
enum { ROW_BLOCKS_AN_SM = 1536 / ROW_THREADS };
#else
enum { ROW_BLOCKS_AN_SM = 2048 / ROW_THREADS };
#endif

// The product of a row and x, by four warps; every thread of the block calls. in_rows: such a row
// exists. The first lane of the four warps gets the sum. partial: ROW_WARPS floats of the caller's
// shared memory, for this call alone
static __device__ __forceinline__ float dot_by_four(const half *w, const half *x, int columns,
                                                    bool in_rows, float *partial)
{
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int first = (warp % WARPS_A_ROW * 32 + lane) * 8;
    float sum = 0.0f;
    if (in_rows) {
        sum = warp_sum(partial_dot(w, x, columns, first, WARPS_A_ROW * 32 * 8));
    }
    if (lane == 0) {
        partial[warp] = sum;
    }
    __syncthreads();
    if (lane == 0 && warp % WARPS_A_ROW == 0) {
        for (int other = warp + 1; other < warp + WARPS_A_ROW; other++) {
            sum += partial[other];
        }
    }
    return sum;
}

/* A matrix and its bias, which is NULL if there is none. */
typedef struct matrix {
    const half *w, *bias;
    int rows, columns;
} matrix;

/* w: NEOX_QKV, NEOX_DENSE, NEOX_UP or NEOX_DOWN; the bias is the part after it. */
static inline matrix part(const neox_net *net, int layer, enum neox_part w)
{
    return matrix{neox_weight(net, layer, w), neox_weight(net, layer, (enum neox_part)(w + 1)),
                  (int)neox_rows(&net->c, w), (int)neox_columns(&net->c, w)};
}

/* When a kernel that calls wait_for_previous() may begin: after the kernel in front of it in the
 * stream has ended, or before. */
enum start { SERIAL, EARLY };

/* The norms behind layer `layer`: both norms of the next layer, or the final norm. */
static void norms_after(const neox_net *net, int layer, norm_of *first, norm_of *second)
{
    const int next = layer + 1;
    const bool last = next == net->c.layers;
    *first = last ? norm_to(net, 0, NEOX_FINAL_GAIN, net->normed1)
                  : norm_to(net, next, NEOX_NORM1_GAIN, net->normed1);
    *second = last ? no_norm : norm_to(net, next, NEOX_NORM2_GAIN, net->normed2);
}
