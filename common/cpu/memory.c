/* Memory: device memory is host memory, but remembered, so that copies in the wrong direction or
 * past an allocation's end are refused as CUDA refuses them. */
#include "runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 256, PITCH = 512 };

struct allocation {
    char *p, *base; /* base: where the pages begin */
    size_t bytes, mapped;
    enum cudaMemoryType type;
    struct allocation *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation *allocations;
static size_t used;

static size_t physical_memory(void)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

/* What may still be filled without driving the machine into swapping or out of memory. */
static size_t available_memory(void)
{
    size_t total = physical_memory(), kib = 0;
    FILE *f = fopen("/proc/meminfo", "r");
    char line[128];
    while (f && fgets(line, sizeof line, f) && sscanf(line, "MemAvailable: %zu kB", &kib) != 1)
        ;
    if (f)
        fclose(f);
    return kib ? kib * 1024 : total > used ? total - used : 0;
}

/* The allocation that holds p, or NULL. */
static struct allocation *find(const void *p)
{
    struct allocation *a = allocations;
    while (a && !((const char *)p >= a->p && (const char *)p < a->p + a->bytes))
        a = a->next;
    return a;
}

static int is_set(const char *name, int *known)
{
    if (*known < 0) {
        const char *value = getenv(name);
        *known = value && *value == '1';
    }
    return *known;
}

/* Promised memory is not filled, and there may be more of it than the machine has: it is for
 * launches that are captured and never run, or of which only the blocks at the corners run. In
 * front of it nothing lies that an index of 32 bits could reach by wrapping around. */
static int promised(void)
{
    static int known = -1;
    return is_set("CUDACPU_PROMISE", &known);
}

int corners_only(void)
{
    static int known = -1;
    return is_set("CUDACPU_CORNERS", &known);
}

/* The data end, but for their alignment, where a page begins that nobody may touch: a kernel that
 * runs past an array is stopped as on a GPU, with an illegal address, and harms nothing else. */
static char *map(size_t bytes, char **base, size_t *mapped)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), front = promised() ? (size_t)1 << 34 : 0;
    size_t data = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    *mapped = front + (data + page - 1) / page * page + page;
    *base = TRACE_CHECK(
        map(*mapped), mmap(NULL, *mapped, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | (promised() ? MAP_NORESERVE : 0), -1, 0));
    if (*base == MAP_FAILED)
        return NULL;
    char *guard = *base + *mapped - page;
    if (mprotect(guard, page, PROT_NONE) != 0 ||
        (front && mprotect(*base, front, PROT_NONE) != 0)) {
        munmap(*base, *mapped);
        return NULL;
    }
    return promised() ? guard - data
                      : memset(guard - data, 0xff, data); /* NaN: reading it unwritten shows */
}

static cudaError_t allocate(void **p, size_t bytes, enum cudaMemoryType type)
{
    if (!p)
        return cudaErrorInvalidValue;
    *p = NULL;
    if (bytes == 0)
        return cudaSuccess;
    pthread_mutex_lock(&lock);
    cudaError_t error = cudaErrorMemoryAllocation;
    struct allocation *a = malloc(sizeof *a);
    size_t mapped = 0;
    char *base = NULL, *block = NULL;
    if (a && (promised() || bytes < available_memory()))
        block = map(bytes, &base, &mapped);
    if (block) {
        *a = (struct allocation){block, base, bytes, mapped, type, allocations};
        allocations = a;
        used += bytes;
        *p = block;
        TRACE_CHECK(allocated(block, bytes, type), (void)0);
        error = cudaSuccess;
    } else {
        free(a);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static cudaError_t release(void *p, int host)
{
    cudaError_t error = p ? cudaErrorInvalidValue : cudaSuccess;
    pthread_mutex_lock(&lock);
    for (struct allocation **at = &allocations; p && *at; at = &(*at)->next) {
        struct allocation *a = *at;
        if (a->p != p || (a->type == cudaMemoryTypeHost) != host)
            continue;
        used -= a->bytes;
        *at = a->next;
        if (!TRACE_CHECK(freed(a->p), 0))
            munmap(a->base, a->mapped);
        free(a);
        error = cudaSuccess;
        break;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

void memory_reset(void)
{
    TRACE_CHECK(reset(), (void)0);
    while (allocations)
        release(allocations->p, allocations->type == cudaMemoryTypeHost);
}

static cudaError_t allocate_checked(void **p, size_t bytes, enum cudaMemoryType type)
{
    cudaError_t error = stream_check_unsafe(0);
    return result(error == cudaSuccess ? allocate(p, bytes, type) : error);
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    TRACE_CHECK(site(__builtin_return_address(0)), (void)0);
    return allocate_checked(p, bytes, cudaMemoryTypeDevice);
}

cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned flags)
{
    TRACE_CHECK(site(__builtin_return_address(0)), (void)0);
    (void)flags;
    return allocate_checked(p, bytes, cudaMemoryTypeManaged);
}

cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    TRACE_CHECK(site(__builtin_return_address(0)), (void)0);
    return allocate_checked(p, bytes, cudaMemoryTypeHost);
}

cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags)
{
    TRACE_CHECK(site(__builtin_return_address(0)), (void)0);
    (void)flags;
    return allocate_checked(p, bytes, cudaMemoryTypeHost);
}

cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
    TRACE_CHECK(site(__builtin_return_address(0)), (void)0);
    if (!pitch)
        return result(cudaErrorInvalidValue);
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return cudaMalloc(p, *pitch * height);
}

cudaError_t cudaFree(void *p)
{
    cudaError_t error = stream_check_unsafe(0);
    TRACE_CHECK(host_waits_all(), (void)0);
    return result(error == cudaSuccess ? release(p, 0) : error);
}

cudaError_t cudaFreeHost(void *p)
{
    cudaError_t error = stream_check_unsafe(0);
    return result(error == cudaSuccess ? release(p, 1) : error);
}

/* A stream in capture cannot hold these: the graph would own memory. */
static cudaError_t not_in_capture(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status;
    cudaError_t error = cudaStreamIsCapturing(stream, &status);
    return error != cudaSuccess || status == cudaStreamCaptureStatusNone ? error
                                                                         : cudaErrorNotSupported;
}

cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream)
{
    TRACE_CHECK(site(__builtin_return_address(0)), (void)0);
    cudaError_t error = not_in_capture(stream);
    return result(error == cudaSuccess ? allocate(p, bytes, cudaMemoryTypeDevice) : error);
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    cudaError_t error = not_in_capture(stream);
    return result(error == cudaSuccess ? release(p, 0) : error);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    pthread_mutex_lock(&lock);
    const struct allocation *a = find(host);
    pthread_mutex_unlock(&lock);
    if (!device || flags || !a || a->type != cudaMemoryTypeHost)
        return result(cudaErrorInvalidValue);
    *device = host;
    return result(cudaSuccess);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    if (!available || !total)
        return result(cudaErrorInvalidValue);
    *total = physical_memory();
    *available = available_memory();
    return result(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *p)
{
    if (!attributes)
        return result(cudaErrorInvalidValue);
    pthread_mutex_lock(&lock);
    const struct allocation *a = find(p);
    attributes->type = a ? a->type : cudaMemoryTypeUnregistered;
    pthread_mutex_unlock(&lock);
    attributes->device = a ? 0 : cudaInvalidDeviceId;
    attributes->devicePointer = a ? (void *)(uintptr_t)p : NULL;
    attributes->hostPointer =
        a && attributes->type == cudaMemoryTypeDevice ? NULL : (void *)(uintptr_t)p;
    return result(cudaSuccess);
}

cudaError_t cudaMemPrefetchAsync(const void *p, size_t bytes, int device, cudaStream_t stream)
{
    (void)p, (void)bytes, (void)device, (void)stream;
    return result(cudaSuccess);
}

/* Copies. One form does all: rows of `width` bytes, `pitch` bytes apart. */
struct copy {
    char *to;
    const char *from; /* NULL: a memset to `value` */
    size_t to_pitch, from_pitch, width, height;
    int value;
    int inside; /* all of it is the device's memory */
};

static cudaError_t run_copy(void *state)
{
    const struct copy *c = state;
    if (corners_only())
        return cudaSuccess; /* as much as the machine has may be moved, and nothing is in it */
    for (size_t y = 0; y < c->height; y++)
        if (c->from)
            memmove(c->to + y * c->to_pitch, c->from + y * c->from_pitch, c->width);
        else
            memset(c->to + y * c->to_pitch, c->value, c->width);
    if (c->inside)
        TRACE_COUNT(moved(c->from != NULL, c->width, c->height), (void)0);
    for (size_t y = 0; y < c->height; y++)
        TRACE_CHECK(written(c->to + y * c->to_pitch, c->width), (void)0);
    return cudaSuccess;
}

/* Whether [p, p+bytes) is known not to be memory on that side. Unknown memory may be either: the
 * host's, or a __device__ variable. */
static int wrong_side(const void *p, size_t bytes, int device)
{
    pthread_mutex_lock(&lock);
    const struct allocation *a = find(p);
    int wrong = a && ((size_t)(a->p + a->bytes - (const char *)p) < bytes ||
                      a->type == (device ? cudaMemoryTypeHost : cudaMemoryTypeDevice));
    pthread_mutex_unlock(&lock);
    return wrong;
}

/* Whether it is the device's memory; `said` is what the caller says, -1 if nothing. */
static int on_device(const void *p, int said)
{
    pthread_mutex_lock(&lock);
    const struct allocation *a = said < 0 ? find(p) : NULL;
    said = a ? a->type == cudaMemoryTypeDevice : said == 1;
    pthread_mutex_unlock(&lock);
    return said;
}

static cudaError_t submit(struct copy c, int from_device, int to_device, cudaStream_t stream)
{
    if (c.width == 0 || c.height == 0)
        return cudaSuccess;
    if (!c.to || c.to_pitch < c.width || (c.from && c.from_pitch < c.width))
        return cudaErrorInvalidValue;
    if ((to_device >= 0 && wrong_side(c.to, (c.height - 1) * c.to_pitch + c.width, to_device)) ||
        (c.from && from_device >= 0 &&
         wrong_side(c.from, (c.height - 1) * c.from_pitch + c.width, from_device)))
        return cudaErrorInvalidValue;
    struct copy *state = malloc(sizeof *state);
    if (!state)
        return cudaErrorMemoryAllocation;
    *state = c;
    state->inside = on_device(c.to, to_device) && (!c.from || on_device(c.from, from_device));
    return stream_submit(stream,
                         (struct work){c.from ? cudaGraphNodeTypeMemcpy : cudaGraphNodeTypeMemset,
                                       run_copy, free, state});
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    if ((unsigned)kind > cudaMemcpyDefault)
        return result(cudaErrorInvalidMemcpyDirection);
    if (!from && width && height)
        return result(cudaErrorInvalidValue);
    int any = kind == cudaMemcpyDefault ? -1 : 0;
    int from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    int to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const cudaError_t error =
        submit((struct copy){to, from, to_pitch, from_pitch, width, height, 0, 0},
               any ? any : from_device, any ? any : to_device, stream);
    if (!stream)
        TRACE_CHECK(host_waits(0, 1), (void)0); /* most of these copies return when all is done */
    return result(error);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return cudaMemcpyAsync(to, from, bytes, kind, NULL);
}

cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height)
{
    return result(submit((struct copy){p, NULL, pitch, 0, width, height, value, 0}, -1, 1, NULL));
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    return result(submit((struct copy){p, NULL, bytes, 0, bytes, 1, value, 0}, -1, 1, stream));
}

cudaError_t cudaMemset(void *p, int value, size_t bytes)
{
    return cudaMemsetAsync(p, value, bytes, NULL);
}

cudaError_t cpu_library_access(const struct cpu_access *a)
{
    const size_t bytes = a->height ? (a->height - 1) * a->pitch + a->width : 0;
    if (!bytes || sticky_error() != cudaSuccess)
        return sticky_error();
    pthread_mutex_lock(&lock);
    const struct allocation *home = find(a->p);
    const size_t behind = home ? (size_t)(home->p + home->bytes - (const char *)a->p) : bytes;
    const size_t all = home ? home->bytes : 0;
    pthread_mutex_unlock(&lock);
    int wrong = TRACE_CHECK(library(a), 0);
    if (!wrong && (behind < bytes || (uintptr_t)a->p < 65536)) {
        wrong = 1;
        if (home)
            complain("%s: %s has %zu bytes, of which %zu lie past the end of its allocation of %zu "
                     "bytes",
                     a->call, a->what, bytes, bytes - behind, all);
        else
            complain("%s: %s has %zu bytes at %p, where no device memory is", a->call, a->what,
                     bytes, a->p);
    }
    if (wrong)
        set_sticky_error(cudaErrorIllegalAddress);
    return sticky_error();
}
