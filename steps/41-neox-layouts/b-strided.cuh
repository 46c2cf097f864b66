/* b-strided: finds each element by its strides, as a framework does.
 *
 * Right for any layout and for both types, one element per thread. In the model these are the plain
 * adds. */
#pragma once

#include "views.cuh"

#include <cuda_bf16.h>
#include <stdio.h>

// snippet: strided
static __device__ __forceinline__ half sum(half x, half y)
{
    return __hadd(x, y);
}

static __device__ __forceinline__ __nv_bfloat16 sum(__nv_bfloat16 x, __nv_bfloat16 y)
{
    return __hadd(x, y);
}

// a, b [rows][columns] -> c, each with its own strides; grid (columns, rows), a thread per element
// cost: 6 bytes per element, and more sectors than that if neighbours lie apart
template <typename T>
static __global__ void add_strided(view a, view b, view c)
{
    const int64_t i = blockIdx.y;
    const int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (j < c.columns) {
        ((T *)c.data)[i * c.row_stride + j * c.column_stride] =
            sum(((const T *)a.data)[i * a.row_stride + j * a.column_stride],
                ((const T *)b.data)[i * b.row_stride + j * b.column_stride]);
    }
}
// end snippet: strided

/* Any strides. The extents are the same in all three, and so is the type, f16 or bf16. At most
 * 65535 rows, the blocks of a grid in y. */
static void strided_add(const view *a, const view *b, const view *c, cudaStream_t stream)
{
    const dim3 grid(blocks_for(c->columns, THREADS), (unsigned)c->rows);
    if (c->dtype == KF_F16) {
        add_strided<half><<<grid, THREADS, 0, stream>>>(*a, *b, *c);
    } else {
        add_strided<__nv_bfloat16><<<grid, THREADS, 0, stream>>>(*a, *b, *c);
    }
    CUDA_CHECK_LAUNCH();
}

static const char *too_many_rows(const kf_case *c, char *why, size_t size)
{
    snprintf(why, size, "%d rows; 65535 at most, the blocks of a grid in y", c->shape.Sq);
    return neox_names_model(c) || c->shape.Sq <= 65535 ? NULL : "refused";
}
