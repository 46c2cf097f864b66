/* Copies and memsets: run at once, made nodes of a graph, or put into a stream. All of them are
 * one operation on a box. */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

/* `depth` slices of `height` rows of `width` bytes. Pitches are bytes between rows, slices bytes
 * between slices. */
struct copy {
    char *to;
    const char *from; /* NULL: a memset to `value`, whose elements have `element` bytes */
    size_t to_pitch, from_pitch, width, height, depth, to_slice, from_slice;
    unsigned value, element;
    int inside; /* both sides are device memory */
};

/* Bytes from the first of a box to its last. */
static size_t extent(const struct copy *c, size_t pitch, size_t slice)
{
    return (c->depth - 1) * slice + (c->height - 1) * pitch + c->width;
}

static void set_row(char *to, const struct copy *c)
{
    if (c->element == 1)
        memset(to, (int)c->value, c->width);
    for (size_t x = 0; c->element > 1 && x < c->width; x += c->element)
        memcpy(to + x, &c->value, c->element); /* the low bytes: a CPU here is little-endian */
}

static cudaError_t run_copy(void *state)
{
    const struct copy *c = state;
    if (large_index_only())
        return cudaSuccess; /* reserve-only memory has no contents */
    for (size_t i = 0; i < c->depth * c->height; i++) {
        size_t y = i % c->height, z = i / c->height;
        char *to = c->to + z * c->to_slice + y * c->to_pitch;
        if (c->from)
            memmove(to, c->from + z * c->from_slice + y * c->from_pitch, c->width);
        else
            set_row(to, c);
        TRACE_CHECK(written(to, c->width));
    }
    if (c->inside)
        TRACE_COUNT(moved(c->from != NULL, c->width, c->height * c->depth));
    return cudaSuccess;
}

/* True if [p, p+bytes) is certainly not memory of that side. device: 1, 0, or -1 for either.
 * Unknown memory counts as either, as it may be the host's or a __device__ variable. Page-locked
 * host memory counts as both. */
static int wrong_side(const void *p, size_t bytes, int device)
{
    const struct memory_range r = memory_at(p);
    return r.p ? (size_t)(r.p + r.bytes - (const char *)p) < bytes ||
                     (!device && r.type == cudaMemoryTypeDevice)
               : device && memory_is_nowhere(p);
}

/* True if p is device memory. `said`: the direction that the caller gave, -1 for none. */
static int on_device(const void *p, int said)
{
    const struct memory_range r = said < 0 ? memory_at(p) : (struct memory_range){.p = NULL};
    return r.p ? r.type == cudaMemoryTypeDevice : said == 1;
}

/* Makes the work of a copy. For zero bytes there is none, and run is NULL. */
static cudaError_t prepare(struct copy c, int from_device, int to_device, struct work *work)
{
    *work = (struct work){.run = NULL};
    if (c.width == 0 || c.height == 0 || c.depth == 0)
        return cudaSuccess;
    if (!c.to || (c.to_pitch < c.width && c.height > 1) ||
        (c.from && c.from_pitch < c.width && c.height > 1))
        return cudaErrorInvalidValue;
    if (memory_has_array(c.to) || (c.from && memory_has_array(c.from)))
        return cudaErrorInvalidValue; /* p is the handle of an array, not its elements */
    if (wrong_side(c.to, extent(&c, c.to_pitch, c.to_slice), to_device) ||
        (c.from && wrong_side(c.from, extent(&c, c.from_pitch, c.from_slice), from_device)))
        return cudaErrorInvalidValue;
    struct copy *state = malloc(sizeof *state);
    if (!state)
        return cudaErrorMemoryAllocation;
    *state = c;
    state->inside = on_device(c.to, to_device) && (!c.from || on_device(c.from, from_device));
    *work = (struct work){c.from ? cudaGraphNodeTypeMemcpy : cudaGraphNodeTypeMemset, run_copy,
                          free, state};
    return cudaSuccess;
}

static cudaError_t prepare_set(struct copy c, struct work *work)
{
    return prepare(c, -1, 1, work);
}

static cudaError_t prepare_copy(struct copy c, enum cudaMemcpyKind kind, struct work *work)
{
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (!c.from && c.width && c.height && c.depth)
        return cudaErrorInvalidValue;
    int known = kind != cudaMemcpyDefault;
    int from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    int to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    return prepare(c, known ? from_device : -1, known ? to_device : -1, work);
}

/* One side of a copy of a box. Positions and widths are in elements for an array, in bytes for
 * other memory. */
struct side {
    char *p;
    size_t pitch, slice;
};

/* False: the box does not fit into the array. */
static int find_side(const struct cudaArray *a, const struct cudaPitchedPtr *p,
                     const struct cudaPos *at, const struct cudaExtent *e, struct side *side)
{
    *side = (struct side){p->ptr, p->pitch, p->pitch * p->ysize};
    if (a) {
        const size_t height = a->extent.height ? a->extent.height : 1;
        const size_t depth = a->extent.depth ? a->extent.depth : 1, width = a->extent.width;
        if (at->x > width || e->width > width - at->x || at->y > height ||
            e->height > height - at->y || at->z > depth || e->depth > depth - at->z)
            return 0;
        *side = (struct side){a->p, width * a->element, height * width * a->element};
    }
    if (side->p)
        side->p += at->z * side->slice + at->y * side->pitch + at->x * (a ? a->element : 1);
    return 1;
}

cudaError_t memory_copy_box(const struct cudaMemcpy3DParms *p, struct work *work)
{
    struct side to, from;
    const struct cudaArray *a = p->dstArray, *b = p->srcArray;
    if ((a && p->dstPtr.ptr) || (b && p->srcPtr.ptr) || (a && b && a->element != b->element) ||
        !find_side(a, &p->dstPtr, &p->dstPos, &p->extent, &to) ||
        !find_side(b, &p->srcPtr, &p->srcPos, &p->extent, &from))
        return cudaErrorInvalidValue;
    const struct copy c = {.to = to.p,
                           .from = from.p,
                           .to_pitch = to.pitch,
                           .from_pitch = from.pitch,
                           .to_slice = to.slice,
                           .from_slice = from.slice,
                           .width = p->extent.width * (a   ? a->element
                                                       : b ? b->element
                                                           : 1),
                           .height = p->extent.height,
                           .depth = p->extent.depth};
    if (c.depth > 1 &&
        (c.to_slice < c.height * c.to_pitch || c.from_slice < c.height * c.from_pitch))
        return cudaErrorInvalidPitchValue;
    return prepare_copy(c, p->kind, work);
}

cudaError_t memory_copy_row(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            struct work *work)
{
    return prepare_copy((struct copy){.to = to,
                                      .from = from,
                                      .to_pitch = bytes,
                                      .from_pitch = bytes,
                                      .width = bytes,
                                      .height = 1,
                                      .depth = 1},
                        kind, work);
}

cudaError_t memory_set(const struct cudaMemsetParams *p, struct work *work)
{
    if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)
        return cudaErrorInvalidValue;
    return prepare_set((struct copy){.to = p->dst,
                                     .to_pitch = p->pitch,
                                     .width = p->width * p->elementSize,
                                     .height = p->height,
                                     .depth = 1,
                                     .value = p->value,
                                     .element = p->elementSize},
                       work);
}

static cudaError_t submit(cudaError_t error, struct work work, cudaStream_t stream)
{
    if (error == cudaSuccess && work.run)
        error = stream_submit(stream, work);
    return error;
}

static cudaError_t submit_copy(cudaError_t error, struct work work, cudaStream_t stream)
{
    error = submit(error, work, stream);
    if (!stream)
        TRACE_CHECK(host_waits(0, 1)); /* most copies without a stream return when they are done */
    return result(error);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    struct work work = {.run = NULL};
    if (width && height && (to_pitch < width || from_pitch < width))
        return result(cudaErrorInvalidPitchValue);
    cudaError_t error = prepare_copy((struct copy){.to = to,
                                                   .from = from,
                                                   .to_pitch = to_pitch,
                                                   .from_pitch = from_pitch,
                                                   .width = width,
                                                   .height = height,
                                                   .depth = 1},
                                     kind, &work);
    return submit_copy(error, work, stream);
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    struct work work = {.run = NULL};
    cudaError_t error = sticky_error(); /* after a sticky error an array's handle may be invalid */
    if (error == cudaSuccess)
        error = p ? memory_copy_box(p, &work) : cudaErrorInvalidValue;
    return submit_copy(error, work, stream);
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return cudaMemcpy3DAsync(p, NULL);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream)
{
    if (to_device != 0 || from_device != 0)
        return result(cudaErrorInvalidDevice);
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, NULL);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    struct work work = {.run = NULL};
    cudaError_t error = memory_copy_row(to, from, bytes, kind, &work);
    return submit_copy(error, work, stream);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return cudaMemcpyAsync(to, from, bytes, kind, NULL);
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int value, struct cudaExtent e,
                              cudaStream_t stream)
{
    struct work work = {.run = NULL};
    cudaError_t error = prepare_set((struct copy){.to = p.ptr,
                                                  .to_pitch = p.pitch,
                                                  .to_slice = p.pitch * p.ysize,
                                                  .width = e.width,
                                                  .height = e.height,
                                                  .depth = e.depth,
                                                  .value = (unsigned)value,
                                                  .element = 1},
                                    &work);
    return result(submit(error, work, stream));
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent e)
{
    return cudaMemset3DAsync(p, value, e, NULL);
}

cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    return cudaMemset3DAsync((struct cudaPitchedPtr){p, pitch, width, height}, value,
                             (struct cudaExtent){width, height, 1}, stream);
}

cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height)
{
    return cudaMemset2DAsync(p, pitch, value, width, height, NULL);
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    return cudaMemset2DAsync(p, bytes, value, bytes, 1, stream);
}

cudaError_t cudaMemset(void *p, int value, size_t bytes)
{
    return cudaMemsetAsync(p, value, bytes, NULL);
}
