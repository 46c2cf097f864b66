/* rotate_rows.cuh: RoPE in a kernel of its own, a thread for each piece of a row.
 *
 * The baseline of attention over a long cache. Step 02's kernel gives a block to a row; this one
 * has no idle threads, and goes through the table once for all heads.
 */
#pragma once

#include "cuda/row_pieces.cuh"
#include "problems/attention.h"
#include "problems/rope.h"

enum { ROTATE_THREADS = 256 };

// snippet: rotate-rows
// x [H][S][D], row r of which stands in row first + r of the tables -> y, rows begin to S - 1
// grid (H, any), or (any, H) if by_head; a thread a pair of pieces, or a piece that is not turned
// cost: 8 bytes an element, and the table, which other heads find in the L2
template <int WIDTH, bool is_key>
__global__ void rotate_rows(const float *x, const float *cosine, const float *sine, float *y, int S,
                            int begin, int first, int D, int R, bool by_head)
{
    const int pairs = R / 2 / WIDTH;
    const int pieces = D / WIDTH - pairs;
    const int64_t head = by_head ? blockIdx.y : blockIdx.x;
    const int t = (by_head ? blockIdx.x : blockIdx.y) * blockDim.x + threadIdx.x;
    const int row = begin + t / pieces;
    const int piece = t % pieces;
    if (row >= S) {
        return;
    }
    COUNT("K rotations", is_key && piece == 0);
    COUNT("Q rotations", !is_key && piece == 0);
    const int64_t at = (head * S + row) * D;
    float a[WIDTH];
    float b[WIDTH];
    load(x + at + (pairs + piece) * WIDTH, b);
    if (piece < pairs) {
        const int64_t angles = (int64_t)(first + row) * (R / 2) + piece * WIDTH;
        float c[WIDTH];
        float s[WIDTH];
        load(x + at + piece * WIDTH, a);
        load(cosine + angles, c);
        load(sine + angles, s);
        COUNT("table loads", 2 * WIDTH);
        turn(a, b, c, s);
        store(a, y + at + piece * WIDTH);
    }
    store(b, y + at + (pairs + piece) * WIDTH);
}
// end snippet: rotate-rows

template <int WIDTH, bool is_key>
static void launch_rotate_rows(const kf_run *run, const char *x, const char *y, int S, int begin,
                               int first, bool by_head, cudaStream_t stream)
{
    const int D = run->shape.D;
    const int R = run->shape.R;
    const int H = run->shape.H;
    const int64_t work = (int64_t)(S - begin) * (D / WIDTH - R / 2 / WIDTH);
    const int blocks = (int)((work + ROTATE_THREADS - 1) / ROTATE_THREADS);
    rotate_rows<WIDTH, is_key>
        <<<by_head ? dim3(blocks, H) : dim3(H, blocks), ROTATE_THREADS, 0, stream>>>(
            kf_f32(run, x), kf_f32(run, "cos"), kf_f32(run, "sin"), kf_f32(run, y), S, begin, first,
            D, R, by_head);
    CUDA_CHECK_LAUNCH();
}

/* Enqueues the rotation of rows begin to S - 1 of each head of x into y: all heads of a row, then
 * the next row, or one head after the other. Row r stands in row first + r of the tables. */
template <bool is_key>
static void launch_rotation(const kf_run *run, const char *x, const char *y, int S, int begin,
                            int first, bool by_head, cudaStream_t stream)
{
    const bool wide = run->shape.D % 4 == 0 && run->shape.R / 2 % 4 == 0;
    (wide ? launch_rotate_rows<4, is_key> : launch_rotate_rows<2, is_key>)(run, x, y, S, begin,
                                                                           first, by_head, stream);
}

/* Tensors: inputs q, k, v, cos and sin, output o, scratch q_turned and k_turned. */
static inline void rotation_setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t q[] = {s.B, s.H, s.Sq, s.D};
    const int64_t k[] = {s.B, s.H, s.Sk, s.D};
    kf_attention_setup(run);
    kf_rope_tables(run);
    kf_scratch(run, "q_turned", "BHSD", KF_F32, q);
    kf_scratch(run, "k_turned", "BHSD", KF_F32, k);
}
