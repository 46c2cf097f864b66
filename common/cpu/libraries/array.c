/* CUDA arrays: device memory without gaps, and a description of its elements. texture.c has the
 * reads and writes of kernels. */
#include "libraries/array.h"

#include <stdlib.h>

unsigned array_element(const struct cudaChannelFormatDesc *desc)
{
    const int part = desc->x, four = desc->z != 0;
    if ((part != 8 && part != 16 && part != 32) || (desc->y && desc->y != part) ||
        desc->z != (four ? part : 0) || desc->w != (four ? part : 0) || (four && !desc->y))
        return 0;
    if (desc->f != cudaChannelFormatKindSigned && desc->f != cudaChannelFormatKindUnsigned &&
        (desc->f != cudaChannelFormatKindFloat || part == 8))
        return 0;
    return (unsigned)part / 8 * (four ? 4 : desc->y ? 2 : 1);
}

int array_given(const struct cudaArray *a)
{
    return a && sticky_error() == cudaSuccess;
}

/* The limits of a GPU of compute capability 9.0. */
static int fits(struct cudaExtent e, unsigned flags)
{
    if (!e.width)
        return 0;
    if (flags & cudaArrayCubemap)
        return e.width == e.height && e.width <= 32768 &&
               (flags & cudaArrayLayered ? e.depth && e.depth % 6 == 0 && e.depth / 6 <= 2046
                                         : e.depth == 6);
    if (flags & cudaArrayLayered)
        return e.depth && e.depth <= 2048 && e.width <= 32768 && e.height <= 32768;
    if (e.depth)
        return e.height && e.width <= 16384 && e.height <= 16384 && e.depth <= 16384;
    return e.width <= 131072 && e.height <= 65536;
}

/* site: the program's call, for --check. */
static cudaError_t make(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                        struct cudaExtent extent, unsigned flags, const void *site)
{
    const unsigned all =
        cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
    if (!array || !desc)
        return result(cudaErrorInvalidValue);
    if (flags & ~all)
        return result(cudaErrorNotSupported);
    const unsigned element = array_element(desc);
    if (!element)
        return result(cudaErrorInvalidChannelDescriptor);
    if (!fits(extent, flags))
        return result(cudaErrorInvalidValue);
    struct cudaArray *a = malloc(sizeof *a);
    if (!a)
        return result(cudaErrorMemoryAllocation);
    void *p;
    TRACE_CHECK(site(site));
    cudaError_t error = cudaMalloc(&p, extent.width * (extent.height ? extent.height : 1) *
                                           (extent.depth ? extent.depth : 1) * element);
    if (error != cudaSuccess) {
        free(a);
        return error;
    }
    *a = (struct cudaArray){p, *desc, extent, flags, element, NULL};
    memory_add_array(a);
    *array = a;
    return error;
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                              struct cudaExtent extent, unsigned flags)
{
    return make(array, desc, extent, flags, __builtin_return_address(0));
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                            size_t width, size_t height, unsigned flags)
{
    if (flags & (cudaArrayLayered | cudaArrayCubemap))
        return result(cudaErrorInvalidValue);
    return make(array, desc, (struct cudaExtent){width, height, 0}, flags,
                __builtin_return_address(0));
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
    if (!array)
        return result(cudaSuccess);
    if (!memory_has_array(array))
        return result(cudaErrorInvalidValue);
    cudaError_t error = cudaFree(array->p);
    if (error == cudaSuccess) {
        memory_remove_array(array);
        free(array);
    }
    return error;
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    if (!desc || !array_given(array))
        return result(cudaErrorInvalidValue);
    *desc = array->desc;
    return result(cudaSuccess);
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                             unsigned *flags, cudaArray_t array)
{
    if (!array_given(array))
        return result(cudaErrorInvalidValue);
    if (desc)
        *desc = array->desc;
    if (extent)
        *extent = array->extent;
    if (flags)
        *flags = array->flags;
    return result(cudaSuccess);
}

/* --- Copies ----------------------------------------------------------------------------------- */

#define CALL(stream, waits) ((struct cpu_copy_call){__builtin_return_address(0), stream, waits})

/* One side of a copy: rows of memory, or of an array from (x bytes, y) on. */
struct rows {
    struct cudaArray *array;
    void *p;
    size_t pitch, x, y;
};

static struct rows rows_of(cudaArray_const_t array, size_t x, size_t y)
{
    struct cudaArray *a = array_given(array) ? (struct cudaArray *)(uintptr_t)array : NULL;
    return (struct rows){.array = a, .x = x, .y = y};
}

/* Replaces an array's rows by the memory that holds them. False: the array has no such rows. */
static int find_rows(struct rows *r, size_t width, size_t height)
{
    const struct cudaArray *a = r->array;
    if (!a)
        return r->p != NULL;
    const size_t row = a->extent.width * a->element, rows = a->extent.height ? a->extent.height : 1;
    if (r->x > row || width > row - r->x || r->y > rows || height > rows - r->y)
        return 0;
    r->p = a->p + r->y * row + r->x;
    r->pitch = row;
    return 1;
}

static cudaError_t copy(struct rows to, struct rows from, size_t width, size_t height,
                        enum cudaMemcpyKind kind, struct cpu_copy_call call)
{
    if ((!to.array && to.p && to.pitch < width) || (!from.array && from.p && from.pitch < width))
        return work_result(cudaErrorInvalidPitchValue);
    if ((to.array && from.array && to.array->element != from.array->element) ||
        !find_rows(&to, width, height) || !find_rows(&from, width, height))
        return work_result(cudaErrorInvalidValue);
    return memory_copy_rows(to.p, to.pitch, from.p, from.pitch, width, height, kind, call);
}

/* Copies bytes that follow each other in an array: the rest of its first row, whole rows, the
 * start of a last one. */
static cudaError_t copy_bytes(struct rows array, char *p, size_t bytes, int to_array,
                              enum cudaMemcpyKind kind, struct cpu_copy_call call)
{
    if (!array.array || (!p && bytes))
        return work_result(cudaErrorInvalidValue);
    const size_t row = array.array->extent.width * array.array->element;
    const size_t rows = array.array->extent.height ? array.array->extent.height : 1;
    if (array.x >= row || array.y >= rows || bytes > (rows - array.y) * row - array.x)
        return work_result(bytes ? cudaErrorInvalidValue : cudaSuccess);
    cudaError_t error = cudaSuccess;
    while (bytes && error == cudaSuccess) {
        const size_t whole = array.x ? 0 : bytes / row, left = row - array.x;
        const size_t width = whole ? row : left < bytes ? left : bytes, height = whole ? whole : 1;
        const struct rows memory = {.p = p, .pitch = width};
        error = to_array ? copy(array, memory, width, height, kind, call)
                         : copy(memory, array, width, height, kind, call);
        p += width * height;
        bytes -= width * height;
        array.y += height;
        array.x = 0;
    }
    return error;
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                     size_t pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const struct rows memory = {.p = (void *)(uintptr_t)from, .pitch = pitch};
    return copy(rows_of(to, x, y), memory, width, height, kind, CALL(stream, 0));
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind)
{
    const struct rows memory = {.p = (void *)(uintptr_t)from, .pitch = pitch};
    return copy(rows_of(to, x, y), memory, width, height, kind, CALL(NULL, 1));
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x,
                                       size_t y, size_t width, size_t height,
                                       enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const struct rows memory = {.p = to, .pitch = pitch};
    return copy(memory, rows_of(from, x, y), width, height, kind, CALL(stream, 0));
}

cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x,
                                  size_t y, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    const struct rows memory = {.p = to, .pitch = pitch};
    return copy(memory, rows_of(from, x, y), width, height, kind, CALL(NULL, 1));
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                     cudaArray_const_t from, size_t from_x, size_t from_y,
                                     size_t width, size_t height, enum cudaMemcpyKind kind)
{
    if (!to || !from)
        return work_result(cudaErrorInvalidValue);
    return copy(rows_of(to, to_x, to_y), rows_of(from, from_x, from_y), width, height, kind,
                CALL(NULL, 1));
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                   size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_bytes(rows_of(to, x, y), (char *)(uintptr_t)from, bytes, 1, kind, CALL(stream, 0));
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind)
{
    return copy_bytes(rows_of(to, x, y), (char *)(uintptr_t)from, bytes, 1, kind, CALL(NULL, 1));
}

cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y,
                                     size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_bytes(rows_of(from, x, y), to, bytes, 0, kind, CALL(stream, 0));
}

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                enum cudaMemcpyKind kind)
{
    return copy_bytes(rows_of(from, x, y), to, bytes, 0, kind, CALL(NULL, 1));
}
