/* Texture and surface objects, and the reads and writes of kernels through them, as the appendix
 * on texture fetching of the programming guide describes them. */
#include "libraries/array.h"
#include "base/plural.h"

#include "cpu/trace.h"
#include "base/formats.h"
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OBJECTS = 1 << 16,
    ALIGNMENT = 512, /* of memory that a texture reads, from the start of its allocation */
    PITCH = 32,
    FACES = 6,
    LINEAR_MEMORY = CPU_CUBEMAP_LAYERED + 1 /* a shape besides those of enum cpu_view */
};

struct object {
    int surface, shape;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc how;
    struct cudaChannelFormatDesc desc;
    char *p;
    size_t width, height, depth, pitch,
        slice; /* depth: slices, layers or faces; 1 if there are none */
    unsigned element, parts;
    int real; /* a fetch converts its parts to floats */
};

static const char *const fetches[] = {"tex1D",
                                      "tex2D",
                                      "tex3D",
                                      "tex1DLayered",
                                      "tex2DLayered",
                                      "texCubemap",
                                      "texCubemapLayered",
                                      "tex1Dfetch"};
static const char *const surfaces[] = {"surf1D",
                                       "surf2D",
                                       "surf3D",
                                       "surf1DLayered",
                                       "surf2DLayered",
                                       "surfCubemap",
                                       "surfCubemapLayered"};
static const char *const shapes[] = {"a 1D array",         "a 2D array",         "a 3D array",
                                     "a layered 1D array", "a layered 2D array", "a cubemap",
                                     "a layered cubemap",  "linear memory"};

/* The handle of an object is the address of its slot here. */
static struct object *_Atomic objects[OBJECTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct object *_Atomic *place_of(unsigned long long handle)
{
    const unsigned long long at = handle - (uintptr_t)objects;
    return at < sizeof objects && at % sizeof *objects == 0 ? &objects[at / sizeof *objects] : NULL;
}

static struct object *find(unsigned long long handle, int surface)
{
    struct object *_Atomic *at = place_of(handle);
    struct object *o = at ? *at : NULL;
    return o && o->surface == surface ? o : NULL;
}

/* --- Making and destroying -------------------------------------------------------------------- */

static void describe_array(struct object *o, const struct cudaArray *a)
{
    const unsigned layered = a->flags & cudaArrayLayered;
    o->p = a->p;
    o->desc = a->desc;
    o->width = a->extent.width;
    o->height = a->extent.height ? a->extent.height : 1;
    o->depth = a->extent.depth ? a->extent.depth : 1;
    o->pitch = o->width * a->element;
    o->shape = a->flags & cudaArrayCubemap ? layered ? CPU_CUBEMAP_LAYERED : CPU_CUBEMAP
               : layered                   ? a->extent.height ? CPU_2D_LAYERED : CPU_1D_LAYERED
               : a->extent.depth           ? CPU_3D
               : a->extent.height          ? CPU_2D
                                           : CPU_1D;
}

static cudaError_t describe(struct object *o)
{
    const struct cudaResourceDesc *r = &o->resource;
    o->height = o->depth = 1;
    switch (r->resType) {
    case cudaResourceTypeArray:
        if (!array_given(r->res.array.array))
            return cudaErrorInvalidValue;
        describe_array(o, r->res.array.array);
        break;
    case cudaResourceTypeLinear:
        o->shape = LINEAR_MEMORY;
        o->p = r->res.linear.devPtr;
        o->desc = r->res.linear.desc;
        break;
    case cudaResourceTypePitch2D:
        o->shape = CPU_2D;
        o->p = r->res.pitch2D.devPtr;
        o->desc = r->res.pitch2D.desc;
        o->width = r->res.pitch2D.width;
        o->height = r->res.pitch2D.height;
        o->pitch = r->res.pitch2D.pitchInBytes;
        break;
    case cudaResourceTypeMipmappedArray:
        return cudaErrorNotSupported;
    default:
        return cudaErrorInvalidValue;
    }
    o->element = array_element(&o->desc);
    if (!o->element)
        return cudaErrorInvalidChannelDescriptor;
    if (o->shape == LINEAR_MEMORY) {
        o->width = r->res.linear.sizeInBytes / o->element;
        if (o->width > 1 << 28)
            return cudaErrorInvalidValue;
    }
    if (r->resType == cudaResourceTypePitch2D &&
        (o->width > 131072 || o->height > 65000 || o->pitch > 2097120 || o->pitch % PITCH ||
         o->pitch < o->width * o->element))
        return cudaErrorInvalidValue;
    o->parts = o->element * 8 / (unsigned)o->desc.x;
    o->slice = o->pitch * o->height;
    const struct memory_range home = memory_at(o->p);
    return o->p && o->width && o->height && (!home.p || (o->p - home.p) % ALIGNMENT == 0)
               ? cudaSuccess
               : cudaErrorInvalidValue;
}

/* Translates the texture descriptor into how the object is read. */
static cudaError_t describe_reads(struct object *o)
{
    struct cudaTextureDesc *how = &o->how;
    const int is_float = o->desc.f == cudaChannelFormatKindFloat, wide = o->desc.x == 32;
    const int normalized = how->readMode == cudaReadModeNormalizedFloat;
    if (how->sRGB || how->seamlessCubemap)
        return cudaErrorNotSupported;
    if ((unsigned)how->filterMode > cudaFilterModeLinear ||
        (unsigned)how->readMode > cudaReadModeNormalizedFloat)
        return cudaErrorInvalidValue;
    o->real = is_float || normalized;
    if (how->filterMode == cudaFilterModeLinear && !is_float && (!normalized || wide))
        return cudaErrorInvalidFilterSetting;
    if (normalized && (wide || is_float))
        return cudaErrorInvalidNormSetting;
    for (int i = 0; i < 3; i++)
        if ((unsigned)how->addressMode[i] > cudaAddressModeBorder)
            return cudaErrorInvalidValue;
    return cudaSuccess;
}

static void destroy_all(void)
{
    for (int i = 0; i < OBJECTS; i++)
        if (objects[i]) {
            TRACE_CHECK(handle_destroyed((const void *)&objects[i]));
            free(objects[i]);
            objects[i] = NULL;
        }
}

/* Gives the object a handle. A slot that was freed lately is not used, so that a use of its old
 * handle is found. */
static cudaError_t enter(const struct object *o, const char *kind, const void *site,
                         unsigned long long *handle)
{
    static unsigned next;
    static int is_registered;
    struct object *mine = malloc(sizeof *mine);
    if (!mine)
        return cudaErrorMemoryAllocation;
    *mine = *o;
    pthread_mutex_lock(&lock);
    if (!is_registered) {
        device_at_reset(destroy_all);
        is_registered = 1;
    }
    unsigned tried = 0;
    while (tried < OBJECTS && objects[next % OBJECTS])
        next++, tried++;
    if (tried < OBJECTS) {
        *handle = (uintptr_t)&objects[next % OBJECTS];
        objects[next++ % OBJECTS] = mine;
    }
    pthread_mutex_unlock(&lock);
    if (tried == OBJECTS) {
        free(mine);
        return cudaErrorMemoryAllocation;
    }
    TRACE_CHECK(handle_made(kind, (const void *)(uintptr_t)*handle, site));
    return cudaSuccess;
}

static cudaError_t destroy(unsigned long long handle, int surface)
{
    pthread_mutex_lock(&lock);
    struct object *o = find(handle, surface);
    if (o) {
        TRACE_CHECK(handle_destroyed((const void *)(uintptr_t)handle));
        *place_of(handle) = NULL;
        free(o);
    }
    pthread_mutex_unlock(&lock);
    return o || !handle ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture,
                                    const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *how,
                                    const struct cudaResourceViewDesc *view)
{
    if (!texture || !resource || !how)
        return result(cudaErrorInvalidValue);
    if (view)
        return result(cudaErrorNotSupported);
    struct object o = {.resource = *resource, .how = *how};
    cudaError_t error = describe(&o);
    if (error == cudaSuccess)
        error = describe_reads(&o);
    if (error == cudaSuccess)
        error = enter(&o, "a texture object", __builtin_return_address(0), texture);
    return result(error);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface,
                                    const struct cudaResourceDesc *resource)
{
    if (!surface || !resource || resource->resType != cudaResourceTypeArray ||
        !array_given(resource->res.array.array))
        return result(
            cudaErrorInvalidValue); /* as on a GPU, it works without cudaArraySurfaceLoadStore */
    struct object o = {.resource = *resource, .surface = 1};
    cudaError_t error = describe(&o);
    if (error == cudaSuccess)
        error = enter(&o, "a surface object", __builtin_return_address(0), surface);
    return result(error);
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture)
{
    return result(destroy(texture, 0));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface)
{
    return result(destroy(surface, 1));
}

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource,
                                             cudaTextureObject_t texture)
{
    const struct object *o = find(texture, 0);
    if (!o || !resource)
        return result(cudaErrorInvalidValue);
    *resource = o->resource;
    return result(cudaSuccess);
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *how,
                                            cudaTextureObject_t texture)
{
    const struct object *o = find(texture, 0);
    if (!o || !how)
        return result(cudaErrorInvalidValue);
    *how = o->how;
    return result(cudaSuccess);
}

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource,
                                             cudaSurfaceObject_t surface)
{
    const struct object *o = find(surface, 1);
    if (!o || !resource)
        return result(cudaErrorInvalidValue);
    *resource = o->resource;
    return result(cudaSuccess);
}

/* --- Reading elements ------------------------------------------------------------------------- */

/* A call in a kernel, for messages about it. */
struct call {
    const char *name, *way; /* "surf2D", "read" */
    const char *file;
    int line;
};

static void __attribute__((noreturn, format(printf, 3, 4)))
stop(const struct call *c, cudaError_t error, const char *format, ...)
{
    char text[200], what[300];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    snprintf(what, sizeof what, "%s%s%s", c->name, c->way, text);
    cpu_trap(error, what, c->file, c->line);
}

/* The object behind a handle that a kernel uses. Stops the kernel if there is none, or its shape
 * is not the call's. */
static const struct object *called(const struct call *c, int surface, int view,
                                   unsigned long long handle)
{
    if (!cpu_worker || !cpu_worker->running)
        stop(c, cudaErrorLaunchFailure, " is called outside a kernel");
    const struct object *o = find(handle, surface);
    if (!o)
        stop(c, cudaErrorIllegalAddress, ": there is no %s object 0x%llx",
             surface ? "surface" : "texture", handle);
    const int faces = surface && view == CPU_2D_LAYERED &&
                      (o->shape == CPU_CUBEMAP || o->shape == CPU_CUBEMAP_LAYERED);
    const int one_row = view == CPU_1D && o->shape == CPU_2D && o->height == 1;
    if (o->shape != view && !faces && !one_row)
        stop(c, cudaErrorLaunchFailure, " of an object of %s: need %s%s", shapes[o->shape],
             (surface ? surfaces : fetches)[o->shape], c->way);
    return o;
}

/* Reports an access of the running thread to the instrument. */
static void tell(const char *p, unsigned bytes, int writes)
{
#if CPU_TRACE == 2
    struct worker *w = cpu_worker;
    if (writes) {
        trace_lane_write(w, (int)(w->now % WARP), (uintptr_t)p, bytes);
        return;
    }
    cpu_trace_cached(p, bytes); /* such a load may miss stores of the same launch */
    trace_lane_read(w, (int)(w->now % WARP), (uintptr_t)p, bytes);
#endif
}

/* One part of an element, as a fetch returns it in a register. */
static uint32_t part_of(const struct object *o, uint32_t bits)
{
    const int width = o->desc.x;
    const int value = width == 8 ? (int8_t)bits : width == 16 ? (int16_t)bits : (int)bits;
    if (o->desc.f == cudaChannelFormatKindFloat)
        return width == 16 ? ptx_float_bits((float)ptx_decode(PTX_F16, bits)) : bits;
    if (!o->real)
        return o->desc.f == cudaChannelFormatKindSigned ? (uint32_t)value : bits;
    if (o->desc.f == cudaChannelFormatKindUnsigned)
        return ptx_float_bits((float)bits / (float)((1 << width) - 1));
    const float least = -1, v = (float)value / (float)((1 << (width - 1)) - 1);
    return ptx_float_bits(v < least ? least : v); /* -128 and -127 are both -1 */
}

/* The element at a place; outside, where a coordinate is negative, the border's colour. */
static struct cpu_texel element_at(const struct object *o, int64_t x, int64_t y, int64_t z)
{
    struct cpu_texel v = {{0}};
    if (x < 0 || y < 0) {
        for (unsigned i = 0; i < o->parts; i++)
            v.part[i] = ptx_float_bits(o->how.borderColor[i]);
        return v;
    }
    const char *p = o->p + (size_t)z * o->slice + (size_t)y * o->pitch + (size_t)x * o->element;
    tell(p, o->element, 0);
    for (unsigned i = 0, bytes = (unsigned)o->desc.x / 8; i < o->parts; i++) {
        uint32_t bits = 0;
        memcpy(&bits, p + i * bytes, bytes); /* the low bytes: a CPU here is little-endian */
        v.part[i] = part_of(o, bits);
    }
    return v;
}

/* --- Coordinates and filters ------------------------------------------------------------------ */

/* The elements to the left and right of a coordinate, negative for the border, and the weight of
 * the second one: a fraction of 8 bits, as in the hardware. */
struct taps {
    int64_t at[2];
    float weight;
};

static int64_t address(int64_t i, int64_t n, enum cudaTextureAddressMode mode)
{
    if (i >= 0 && i < n)
        return i;
    switch (mode) {
    case cudaAddressModeWrap:
        return (i % n + n) % n;
    case cudaAddressModeMirror:
        i = (i % (2 * n) + 2 * n) % (2 * n);
        return i < n ? i : 2 * n - 1 - i;
    case cudaAddressModeBorder:
        return -1;
    default:
        return i < 0 ? 0 : n - 1;
    }
}

/* floor(x), for results that fit an integer. */
static int64_t whole(double x)
{
    const int64_t i = (int64_t)x;
    return i - (x < (double)i);
}

/* between: the filter is linear, and an element's value lies in its middle. */
static struct taps taps_of(double x, size_t elements, enum cudaTextureAddressMode mode,
                           int normalized, int between)
{
    const double n = (double)elements, far = 1e12;
    if (normalized)
        x *= n;
    else if (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror)
        mode = cudaAddressModeClamp; /* the other modes need normalized coordinates */
    if (!(x > -far && x < far)) {
        if (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror)
            x = fmod(x, 2 * n);
        x = isnan(x) ? 0 : x < -far ? -far : x > far ? far : x;
    }
    if (!between)
        return (struct taps){{address(whole(x), (int64_t)elements, mode), 0}, 0};
    const int64_t fixed = whole((x - 0.5) * 256 + 0.5), i = (fixed - (fixed & 255)) / 256;
    const int64_t right = address(i + 1, (int64_t)elements, mode);
    return (struct taps){{address(i, (int64_t)elements, mode), right}, (float)(fixed & 255) / 256};
}

/* The weighted sum of up to 8 elements. An element of weight 0 is not read. */
static struct cpu_texel filtered(const struct object *o, const struct taps *x, const struct taps *y,
                                 const struct taps *z)
{
    if (o->how.filterMode == cudaFilterModePoint || !(x->weight || y->weight || z->weight))
        return z->at[0] < 0 ? element_at(o, -1, 0, 0) : element_at(o, x->at[0], y->at[0], z->at[0]);
    struct cpu_texel sum = {{0}};
    for (int i = 0; i < 8; i++) {
        const int r = i & 1, b = i >> 1 & 1, d = i >> 2;
        const float weight = (r ? x->weight : 1 - x->weight) * (b ? y->weight : 1 - y->weight) *
                             (d ? z->weight : 1 - z->weight);
        if (!weight)
            continue;
        const struct cpu_texel v = element_at(o, z->at[d] < 0 ? -1 : x->at[r], y->at[b], z->at[d]);
        for (unsigned k = 0; k < o->parts; k++)
            sum.part[k] = ptx_float_bits(ptx_float(sum.part[k]) + weight * ptx_float(v.part[k]));
    }
    return sum;
}

/* The face of a cube that a direction meets, and two coordinates from 0 to 1 on that face. */
static int face_of(float x, float y, float z, double *s, double *t)
{
    const double ax = fabs(x), ay = fabs(y), az = fabs(z);
    double m = az, across = z < 0 ? -x : x, down = -y;
    int face = z < 0 ? 5 : 4;
    if (ax > ay && ax > az) {
        m = ax;
        face = x < 0 ? 1 : 0;
        across = x < 0 ? z : -z;
    } else if (ay > az) {
        m = ay;
        face = y < 0 ? 3 : 2;
        across = x;
        down = y < 0 ? -z : z;
    }
    *s = (across / m + 1) / 2;
    *t = (down / m + 1) / 2;
    return face;
}

/* An index beyond the end reads the last layer; a negative one counts as very large. */
static struct taps only(int64_t i, int64_t n)
{
    return (struct taps){{i >= 0 && i < n ? i : n - 1, 0}, 0};
}

/* --- What kernels call ------------------------------------------------------------------------ */

static void begin(const void *from, const void *frame, int counter)
{
    TRACE_CHECK(asm(cpu_worker, from, frame));
    ptx_counted(counter);
}
#define BEGIN(counter) begin(__builtin_return_address(0), __builtin_frame_address(0), counter)

struct cpu_texel cpu_texture(enum cpu_view view, cudaTextureObject_t t, float x, float y, float z,
                             int layer, const char *file, int line)
{
    const struct call c = {fetches[view], "", file, line};
    const struct object *o = called(&c, 0, (int)view, t);
    const enum cudaTextureAddressMode *mode = o->how.addressMode;
    const int normalized = o->how.normalizedCoords, between = o->how.filterMode;
    struct taps at[3] = {only(0, 1), only(0, 1), only(0, 1)};
    BEGIN(CPU_TEXTURE_FETCHES);
    if (view == CPU_CUBEMAP || view == CPU_CUBEMAP_LAYERED) {
        double s, down;
        const int face = face_of(x, y, z, &s, &down);
        at[0] = taps_of(s, o->width, cudaAddressModeClamp, 1, between);
        at[1] = taps_of(down, o->height, cudaAddressModeClamp, 1, between);
        at[2] =
            only(only(layer, (int64_t)o->depth / FACES).at[0] * FACES + face, (int64_t)o->depth);
        return filtered(o, &at[0], &at[1], &at[2]);
    }
    at[0] = taps_of(x, o->width, mode[0], normalized, between);
    if (view == CPU_1D && between && mode[1] == cudaAddressModeBorder)
        at[1] = taps_of(0, 1, mode[1], 0, 1); /* an H200 treats it as a row bounded by y = 0 */
    if (view != CPU_1D && view != CPU_1D_LAYERED)
        at[1] = taps_of(y, o->height, mode[1], normalized, between);
    if (view == CPU_3D)
        at[2] = taps_of(z, o->depth, mode[2], normalized, between);
    else
        at[2] = only(layer, (int64_t)o->depth);
    return filtered(o, &at[0], &at[1], &at[2]);
}

/* Linear memory has neither filters nor address modes: outside it a fetch returns 0. */
struct cpu_texel cpu_texture_fetch(cudaTextureObject_t t, int x, const char *file, int line)
{
    const struct call c = {"tex1Dfetch", "", file, line};
    const struct object *o = called(&c, 0, LINEAR_MEMORY, t);
    BEGIN(CPU_TEXTURE_FETCHES);
    if (x < 0 || (size_t)x >= o->width)
        return (struct cpu_texel){{0}};
    return element_at(o, x, 0, 0);
}

/* One part of each of the four elements that a linear filter would use. */
struct cpu_texel cpu_texture_gather(cudaTextureObject_t t, float x, float y, int component,
                                    const char *file, int line)
{
    const struct call c = {"tex2Dgather", "", file, line};
    const struct object *o = called(&c, 0, CPU_2D, t);
    if (component < 0 || component > 3)
        stop(&c, cudaErrorLaunchFailure, " of component %d: need 0 to 3", component);
    const int normalized = o->how.normalizedCoords;
    const struct taps h = taps_of(x, o->width, o->how.addressMode[0], normalized, 1);
    const struct taps v = taps_of(y, o->height, o->how.addressMode[1], normalized, 1);
    static const int right[] = {0, 1, 1, 0}, below[] = {1, 1, 0, 0};
    struct cpu_texel four;
    BEGIN(CPU_TEXTURE_FETCHES);
    for (int i = 0; i < 4; i++)
        four.part[i] = element_at(o, h.at[right[i]], v.at[below[i]], 0).part[component];
    return four;
}

/* The place of these bytes on the surface; NULL if the access has no effect. */
static char *surface_at(const struct call *c, const struct object *o, int64_t x, int64_t y,
                        int64_t z, unsigned bytes, enum cudaSurfaceBoundaryMode mode)
{
    const int64_t width = (int64_t)(o->width * o->element), height = (int64_t)o->height;
    const int64_t depth = (int64_t)o->depth, last = width - bytes;
    if (x % bytes)
        stop(c, cudaErrorMisalignedAddress,
             " of %u bytes at byte %d of a row: need a multiple of %u", bytes, (int)x, bytes);
    if (x < 0 || x > last || y < 0 || y >= height || z < 0 || z >= depth) {
        if (mode == cudaBoundaryModeZero)
            return NULL;
        if (mode == cudaBoundaryModeTrap)
            stop(c, cudaErrorLaunchFailure,
                 " of %u byte%s at (%d, %d, %d), outside a surface of %zu x %zu x %zu elements of "
                 "%u byte%s: x is in bytes",
                 bytes, plural(bytes), (int)x, (int)y, (int)z, o->width, o->height, o->depth,
                 o->element, plural(o->element));
        x = x > last ? last : x;
        x = x < 0 ? 0 : x;
        y = y < 0 ? 0 : y < height ? y : height - 1;
        z = z < 0 ? 0 : z < depth ? z : depth - 1;
    }
    return o->p + z * (int64_t)o->slice + y * (int64_t)o->pitch + x;
}

struct cpu_texel cpu_surface_read(enum cpu_view view, cudaSurfaceObject_t s, int x, int y, int z,
                                  unsigned bytes, enum cudaSurfaceBoundaryMode mode,
                                  const char *file, int line)
{
    const struct call c = {surfaces[view], "read", file, line};
    const struct object *o = called(&c, 1, (int)view, s);
    const char *p = surface_at(&c, o, x, y, z, bytes, mode);
    struct cpu_texel v = {{0}};
    BEGIN(CPU_SURFACE_READS);
    if (p) {
        tell(p, bytes, 0);
        memcpy(&v, p, bytes);
    }
    return v;
}

void cpu_surface_write(enum cpu_view view, struct cpu_texel v, cudaSurfaceObject_t s, int x, int y,
                       int z, unsigned bytes, enum cudaSurfaceBoundaryMode mode, const char *file,
                       int line)
{
    const struct call c = {surfaces[view], "write", file, line};
    const struct object *o = called(&c, 1, (int)view, s);
    char *p = surface_at(&c, o, x, y, z, bytes, mode);
    BEGIN(CPU_SURFACE_WRITES);
    if (p) {
        tell(p, bytes, 1);
        memcpy(p, &v, bytes);
    }
}
