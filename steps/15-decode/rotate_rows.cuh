/* rotate_rows.cuh: RoPE in a separate kernel, with one thread per chunk of a row.
 *
 * The baseline of attention over a long cache. Step 02's kernel has a block per row, with threads
 * that have no pair. Here other heads find a row of the table in the L2, if they come soon enough.
 */
#pragma once

#include "problems/attention.h"
#include "problems/rope.h"
#include "row_chunks.cuh"

// x [H][S][D] -> y, rows begin to S - 1, rotated. Row r of x is rotated by
// row first + r of the tables.
struct rotation {
    const float *x, *cosine, *sine;
    float *y;
    int S, begin, first, D, R;
    bool of_keys; // for COUNT: rows are keys, not queries
};

// Thread t of a head has two chunks that are pairs, or one chunk that is not rotated.
template <int WIDTH>
static __device__ __forceinline__ void rotate_chunk(const rotation &r, int64_t head, int t)
{
    const int pairs = r.R / 2 / WIDTH;
    const int in_row = r.D / WIDTH - pairs;
    const int row = r.begin + t / in_row;
    const int chunk = t % in_row;
    if (row >= r.S) {
        return;
    }
    COUNT("K rotations", r.of_keys && chunk == 0);
    COUNT("Q rotations", !r.of_keys && chunk == 0);
    const int64_t at = (head * r.S + row) * r.D;
    float a[WIDTH];
    float b[WIDTH];
    load(r.x + at + (pairs + chunk) * WIDTH, b);
    if (chunk < pairs) {
        const int64_t entry = (int64_t)(r.first + row) * (r.R / 2) + chunk * WIDTH;
        float c[WIDTH];
        float s[WIDTH];
        load(r.x + at + chunk * WIDTH, a);
        load(r.cosine + entry, c);
        load(r.sine + entry, s);
        COUNT("table loads", 2 * WIDTH);
        rotate(a, b, c, s);
        store(a, r.y + at + chunk * WIDTH);
    }
    store(b, r.y + at + (pairs + chunk) * WIDTH);
}

// grid (H, any), THREADS threads: all heads of some rows, then the next rows
// cost: 8 bytes per element, and the table, which other heads find in the L2
template <int WIDTH>
__global__ void rotate_rows(const rotation r)
{
    rotate_chunk<WIDTH>(r, blockIdx.x, blockIdx.y * blockDim.x + threadIdx.x);
}

// grid (any, H), THREADS threads: all rows of a head, then the next head
template <int WIDTH>
__global__ void rotate_rows_by_head(const rotation r)
{
    rotate_chunk<WIDTH>(r, blockIdx.y, blockIdx.x * blockDim.x + threadIdx.x);
}

// All S rows of the tensor `from`, into the tensor `to`.
static rotation rotation_of(const kf_run *run, const char *from, const char *to, int S)
{
    rotation r = {};
    r.x = kf_f32(run, from);
    r.y = kf_f32(run, to);
    r.cosine = kf_f32(run, "cos");
    r.sine = kf_f32(run, "sin");
    r.S = S;
    r.D = run->shape.D;
    r.R = run->shape.R;
    return r;
}

enum grid_order { ROWS_FIRST, HEAD_BY_HEAD };

template <int WIDTH>
static void launch_chunks(const rotation &r, int H, grid_order order, cudaStream_t stream)
{
    const int64_t work = (int64_t)(r.S - r.begin) * (r.D / WIDTH - r.R / 2 / WIDTH);
    const int blocks = (int)((work + THREADS - 1) / THREADS);
    if (order == HEAD_BY_HEAD) {
        rotate_rows_by_head<WIDTH><<<dim3(blocks, H), THREADS, 0, stream>>>(r);
    } else {
        rotate_rows<WIDTH><<<dim3(H, blocks), THREADS, 0, stream>>>(r);
    }
    CUDA_CHECK_LAUNCH();
}

static void launch_rotation(const rotation &r, int H, grid_order order, cudaStream_t stream)
{
    const bool wide = r.D % 4 == 0 && r.R / 2 % 4 == 0;
    (wide ? launch_chunks<4> : launch_chunks<2>)(r, H, order, stream);
}

/* q -> q_rotated */
static void launch_rotate_q(const kf_run *run, grid_order order, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    rotation r = rotation_of(run, "q", "q_rotated", s.Sq);
    r.first = s.Sk - s.Sq;
    launch_rotation(r, s.H, order, stream);
}

/* Rows begin to Sk - 1 of k -> the same rows of `to` */
static void launch_rotate_k(const kf_run *run, const char *to, int begin, grid_order order,
                            cudaStream_t stream)
{
    rotation r = rotation_of(run, "k", to, run->shape.Sk);
    r.begin = begin;
    r.of_keys = true;
    launch_rotation(r, run->shape.H, order, stream);
}

/* Tensors: inputs q, k, v, cos and sin, output o, scratch q_rotated and k_rotated. */
static inline void rotation_setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t q[] = {s.B, s.H, s.Sq, s.D};
    const int64_t k[] = {s.B, s.H, s.Sk, s.D};
    kf_attention_setup(run);
    kf_rope_tables(run);
    kf_scratch(run, "q_rotated", "BHSD", KF_F32, q);
    kf_scratch(run, "k_rotated", "BHSD", KF_F32, k);
}
