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
    int to_device, from_device, inside; /* these sides are device memory; both */
    int staged;                         /* --check: the host's call may return before it is done */
    const void *site;
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

/* Tells --check what a copy or a memset is about to do, and what it has done. */
static void trace_copy(const struct copy *c, int done)
{
    for (size_t z = 0; CPU_TRACE == 2 && z < c->depth; z++) {
        const struct trace_rows to = {c->to + z * c->to_slice, c->width, c->height, c->to_pitch};
        struct trace_rows from = to;
        if (c->from)
            from = (struct trace_rows){c->from + z * c->from_slice, c->width, c->height,
                                       c->from_pitch};
        if (done && c->from) {
            TRACE_CHECK(work_copied(to, from, c->site));
        } else if (done) {
            for (size_t y = 0; y < c->height; y++)
                TRACE_CHECK(written((char *)(uintptr_t)to.p + y * to.pitch, c->width));
        } else {
            if (c->from)
                TRACE_CHECK(work_touches(TRACE_READS, from));
            TRACE_CHECK(work_touches(c->from ? (c->staged ? TRACE_STAGED : TRACE_WRITES)
                                             : (c->staged ? TRACE_SETS_STAGED : TRACE_SETS),
                                     to));
        }
        (void)from;
    }
}

static cudaError_t run_copy(void *state)
{
    const struct copy *c = state;
    if (large_index_only())
        return cudaSuccess; /* reserve-only memory has no contents */
    TRACE_CHECK(work(c->site));
    trace_copy(c, 0);
    for (size_t i = 0; i < c->depth * c->height; i++) {
        size_t y = i % c->height, z = i / c->height;
        char *to = c->to + z * c->to_slice + y * c->to_pitch;
        if (c->from)
            memmove(to, c->from + z * c->from_slice + y * c->from_pitch, c->width);
        else
            set_row(to, c);
    }
    trace_copy(c, 1);
    if (c->inside)
        TRACE_COUNT(moved(c->from != NULL, c->width, c->height * c->depth));
    return cudaSuccess;
}

/* --- Variables of the device ------------------------------------------------------------------ */

/* On a GPU a __device__ variable has an address there, and the host has a variable of its own with
 * that name. Here the two are one. So its address is taken for the host's, unless the program has
 * asked for the device's. */
static struct device_variable {
    char *p;
    size_t bytes;
    const char *name;
    int kind, asked; /* asked: by cudaGetSymbolAddress */
    struct device_variable *next;
} * variables;
enum { MANAGED = 2 }; /* a kind: as in trace_variable */

void cpu_know_variable(void *p, size_t bytes, const char *name, int kind)
{
    struct device_variable *v = need_memory(malloc(sizeof *v), "the variables of the device");
    *v = (struct device_variable){p, bytes, name, kind, 0, variables};
    variables = v;
    TRACE(variable(p, bytes, name, kind));
}

static struct device_variable *variable_at(const void *p)
{
    struct device_variable *v = variables;
    while (v && (size_t)((const char *)p - v->p) >= v->bytes)
        v = v->next;
    return v;
}

void cpu_ask_symbol(const void *symbol)
{
    struct device_variable *v = variable_at(symbol);
    if (v)
        v->asked = 1;
}

/* Whether p is the host's variable of that name. In a kernel the name is the device's variable. */
static const struct device_variable *hosts_variable(const void *p)
{
    const struct device_variable *v = cpu_in_kernel() ? NULL : variable_at(p);
    return v && v->kind != MANAGED && !v->asked ? v : NULL;
}

/* --- What to copy ----------------------------------------------------------------------------- */

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

/* A side of a copy names a variable of the device as the host does. True: nothing is to be copied;
 * *error is what the call returns. device: what the caller says of that side, or -1. */
static int misses_variable(const struct copy *c, int is_target, int device, cudaError_t *error)
{
    const void *p = is_target ? c->to : c->from;
    const struct device_variable *v = p ? hosts_variable(p) : NULL;
    if (!v || (!is_target && device != 1))
        return 0;
    *error = device == 1 ? cudaErrorInvalidValue : cudaSuccess;
    if (*error == cudaSuccess)
        TRACE_CHECK(host_variable(p, c->width, is_target, c->site));
    complain(
        "%s %s: this is the address of the host's variable, which kernels do not see: need %s, or "
        "cudaGetSymbolAddress",
        !c->from    ? "a memset of"
        : is_target ? "a copy to"
                    : "a copy from",
        v->name, is_target ? "cudaMemcpyToSymbol" : "cudaMemcpyFromSymbol");
    return 1;
}

/* Makes the work of a copy. For zero bytes there is none, and run is NULL. by_symbol: a variable of
 * the device is named as such. */
static cudaError_t prepare(struct copy c, int from_device, int to_device, int by_symbol,
                           struct work *work)
{
    cudaError_t error;
    *work = (struct work){.run = NULL};
    if (c.width == 0 || c.height == 0 || c.depth == 0)
        return cudaSuccess;
    if (!c.to || (c.to_pitch < c.width && c.height > 1) ||
        (c.from && c.from_pitch < c.width && c.height > 1))
        return cudaErrorInvalidValue;
    if (memory_has_array(c.to) || (c.from && memory_has_array(c.from)))
        return cudaErrorInvalidValue; /* p is the handle of an array, not its elements */
    if (!by_symbol &&
        (misses_variable(&c, 1, to_device, &error) || misses_variable(&c, 0, from_device, &error)))
        return error;
    if (wrong_side(c.to, extent(&c, c.to_pitch, c.to_slice), to_device) ||
        (c.from && wrong_side(c.from, extent(&c, c.from_pitch, c.from_slice), from_device)))
        return cudaErrorInvalidValue;
    struct copy *state = malloc(sizeof *state);
    if (!state)
        return cudaErrorMemoryAllocation;
    *state = c;
    state->to_device = on_device(c.to, to_device);
    state->from_device = c.from && on_device(c.from, from_device);
    state->inside = state->to_device && (!c.from || state->from_device);
    *work = (struct work){c.from ? cudaGraphNodeTypeMemcpy : cudaGraphNodeTypeMemset, run_copy,
                          free, state};
    return cudaSuccess;
}

static cudaError_t prepare_set(struct copy c, struct work *work)
{
    return prepare(c, -1, 1, 0, work);
}

static cudaError_t prepare_named(struct copy c, enum cudaMemcpyKind kind, int by_symbol,
                                 struct work *work)
{
    *work = (struct work){.run = NULL};
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (!c.from && c.width && c.height && c.depth)
        return cudaErrorInvalidValue;
    int known = kind != cudaMemcpyDefault;
    int from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    int to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    return prepare(c, known ? from_device : -1, known ? to_device : -1, by_symbol, work);
}

static cudaError_t prepare_copy(struct copy c, enum cudaMemcpyKind kind, struct work *work)
{
    return prepare_named(c, kind, 0, work);
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

cudaError_t memory_copy_box(const struct cudaMemcpy3DParms *p, const void *site, struct work *work)
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
                           .depth = p->extent.depth,
                           .site = site};
    if (c.depth > 1 &&
        (c.to_slice < c.height * c.to_pitch || c.from_slice < c.height * c.from_pitch))
        return cudaErrorInvalidPitchValue;
    return prepare_copy(c, p->kind, work);
}

static struct copy row_of(void *to, const void *from, size_t bytes, const void *site)
{
    return (struct copy){.to = to,
                         .from = from,
                         .to_pitch = bytes,
                         .from_pitch = bytes,
                         .width = bytes,
                         .height = 1,
                         .depth = 1,
                         .site = site};
}

cudaError_t memory_copy_row(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            const void *site, struct work *work)
{
    return prepare_copy(row_of(to, from, bytes, site), kind, work);
}

cudaError_t memory_set(const struct cudaMemsetParams *p, const void *site, struct work *work)
{
    if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)
        return cudaErrorInvalidValue;
    return prepare_set((struct copy){.to = p->dst,
                                     .to_pitch = p->pitch,
                                     .width = p->width * p->elementSize,
                                     .height = p->height,
                                     .depth = 1,
                                     .value = p->value,
                                     .element = p->elementSize,
                                     .site = site},
                       work);
}

/* --- The calls -------------------------------------------------------------------------------- */

/* For what a call waits, by "API synchronization behavior" in NVIDIA's reference. */
enum waits {
    WAITS_NOT,
    WAITS_BEFORE, /* for what is in the stream; the copy may go on when the call returns */
    WAITS_AFTER   /* until the copy is done */
};

static enum waits waits_of(const struct copy *c, struct cpu_copy_call call)
{
    const enum cudaMemoryType to = memory_at(c->to).type;
    if (!c->from)
        return call.waits && (to == cudaMemoryTypeHost || to == cudaMemoryTypeManaged) ? WAITS_AFTER
                                                                                       : WAITS_NOT;
    const enum cudaMemoryType from = memory_at(c->from).type;
    const int to_host = !c->to_device && to != cudaMemoryTypeManaged;
    const int from_host = !c->from_device && from != cudaMemoryTypeManaged;
    if (c->inside)
        return WAITS_NOT;
    if (!call.waits)
        return to_host && from_host ? WAITS_AFTER : WAITS_NOT;
    return c->to_device && from == cudaMemoryTypeUnregistered && from_host ? WAITS_BEFORE
                                                                           : WAITS_AFTER;
}

/* Puts work into its stream, if there is some and nothing was wrong with it. */
static cudaError_t submit(cudaError_t error, struct work work, struct cpu_copy_call call)
{
    if (error == cudaSuccess && work.run) {
        struct copy *c = work.state;
        const enum waits waits = cpu_in_kernel() ? WAITS_NOT : waits_of(c, call);
        c->staged = call.waits && waits != WAITS_AFTER;
        if (waits == WAITS_BEFORE)
            stream_host_waits(call.stream);
        error = stream_submit(call.stream, work);
        if (waits == WAITS_AFTER && error == cudaSuccess)
            stream_host_waits(call.stream);
    }
    return work_result(error);
}

#define CALL(stream, waits) ((struct cpu_copy_call){__builtin_return_address(0), stream, waits})

cudaError_t memory_copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                             size_t width, size_t height, enum cudaMemcpyKind kind,
                             struct cpu_copy_call call)
{
    struct work work = {.run = NULL};
    if (width && height && (to_pitch < width || from_pitch < width))
        return work_result(cudaErrorInvalidPitchValue);
    cudaError_t error = prepare_copy((struct copy){.to = to,
                                                   .from = from,
                                                   .to_pitch = to_pitch,
                                                   .from_pitch = from_pitch,
                                                   .width = width,
                                                   .height = height,
                                                   .depth = 1,
                                                   .site = call.site},
                                     kind, &work);
    return submit(error, work, call);
}

cudaError_t cpu_library_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                             size_t width, size_t height, enum cudaMemcpyKind kind,
                             struct cpu_copy_call call)
{
    return memory_copy_rows(to, to_pitch, from, from_pitch, width, height, kind, call);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    return memory_copy_rows(to, to_pitch, from, from_pitch, width, height, kind, CALL(stream, 0));
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return memory_copy_rows(to, to_pitch, from, from_pitch, width, height, kind, CALL(NULL, 1));
}

static cudaError_t copy_box(const struct cudaMemcpy3DParms *p, struct cpu_copy_call call)
{
    struct work work = {.run = NULL};
    cudaError_t error = sticky_error(); /* after a sticky error an array's handle may be invalid */
    if (error == cudaSuccess)
        error = p ? memory_copy_box(p, call.site, &work) : cudaErrorInvalidValue;
    return submit(error, work, call);
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return copy_box(p, CALL(stream, 0));
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return copy_box(p, CALL(NULL, 1));
}

static cudaError_t copy_row(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            struct cpu_copy_call call)
{
    struct work work = {.run = NULL};
    cudaError_t error = memory_copy_row(to, from, bytes, kind, call.site, &work);
    return submit(error, work, call);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return copy_row(to, from, bytes, kind, CALL(stream, 0));
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy_row(to, from, bytes, kind, CALL(NULL, 1));
}

static cudaError_t copy_peer(void *to, int to_device, const void *from, int from_device,
                             size_t bytes, struct cpu_copy_call call)
{
    if (to_device != 0 || from_device != 0)
        return work_result(cudaErrorInvalidDevice);
    return copy_row(to, from, bytes, cudaMemcpyDeviceToDevice, call);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream)
{
    return copy_peer(to, to_device, from, from_device, bytes, CALL(stream, 0));
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    return copy_peer(to, to_device, from, from_device, bytes, CALL(NULL, 1));
}

cudaError_t cpu_copy_symbol(const struct cpu_symbol_copy *s, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream, int waits)
{
    struct work work = {.run = NULL};
    char *symbol = (char *)(uintptr_t)s->symbol + s->offset;
    if (s->offset > s->size || bytes > s->size - s->offset)
        return work_result(cudaErrorInvalidValue);
    const struct cpu_copy_call call = CALL(stream, waits);
    cudaError_t error = prepare_named(s->to ? row_of(s->to, symbol, bytes, call.site)
                                            : row_of(symbol, s->from, bytes, call.site),
                                      kind, 1, &work);
    return submit(error, work, call);
}

static cudaError_t set_box(struct cudaPitchedPtr p, int value, struct cudaExtent e,
                           struct cpu_copy_call call)
{
    struct work work = {.run = NULL};
    cudaError_t error = prepare_set((struct copy){.to = p.ptr,
                                                  .to_pitch = p.pitch,
                                                  .to_slice = p.pitch * p.ysize,
                                                  .width = e.width,
                                                  .height = e.height,
                                                  .depth = e.depth,
                                                  .value = (unsigned)value,
                                                  .element = 1,
                                                  .site = call.site},
                                    &work);
    return submit(error, work, call);
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int value, struct cudaExtent e,
                              cudaStream_t stream)
{
    return set_box(p, value, e, CALL(stream, 0));
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent e)
{
    return set_box(p, value, e, CALL(NULL, 1));
}

static cudaError_t set_rows(void *p, size_t pitch, int value, size_t width, size_t height,
                            struct cpu_copy_call call)
{
    return set_box((struct cudaPitchedPtr){p, pitch, width, height}, value,
                   (struct cudaExtent){width, height, 1}, call);
}

cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    return set_rows(p, pitch, value, width, height, CALL(stream, 0));
}

cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height)
{
    return set_rows(p, pitch, value, width, height, CALL(NULL, 1));
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    return set_rows(p, bytes, value, bytes, 1, CALL(stream, 0));
}

cudaError_t cudaMemset(void *p, int value, size_t bytes)
{
    return set_rows(p, bytes, value, bytes, 1, CALL(NULL, 1));
}
