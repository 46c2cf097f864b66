/* Memory: device memory is host memory, but remembered, so that copies in the wrong direction or
 * past an allocation's end are refused as CUDA refuses them. */
#include "api/api.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 256, PITCH = 512 };

struct allocation {
    char *p, *base; /* base: where the pages begin; NULL: they are the host's, registered */
    size_t bytes, mapped;
    enum cudaMemoryType type;
    struct allocation *next;
    struct graph_memory *of_graph; /* that allocates it when it runs, or NULL */
};

/* Memory of graphs is there from the start, and is theirs or nobody's while it is not live. */
struct graph_memory {
    char *p;
    size_t bytes;
    int live, users; /* users: nodes that allocate it */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation *allocations;
static struct cudaArray *arrays;
static size_t used;
/* Memory of graphs: what is live, and what belongs to graphs, live or not, until it is trimmed. */
static struct {
    uint64_t live, held, high;
} of_graphs;

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

size_t memory_offset(const void *p)
{
    pthread_mutex_lock(&lock);
    const struct allocation *a = find(p);
    const size_t offset = a ? (size_t)((const char *)p - a->p) : 0;
    pthread_mutex_unlock(&lock);
    return offset;
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

/* The data end, but for their alignment, where pages begin that nobody may touch: a kernel that
 * runs past an array is stopped as on a GPU, with an illegal address, and harms nothing else. They
 * are many, as an index may be far off, and blocks that run at the same time are all past the end
 * before the first is stopped. A check needs one: it looks at each access. */
static char *map(size_t bytes, char **base, size_t *mapped)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), front = promised() ? (size_t)1 << 34 : 0;
    const size_t behind = CPU_TRACE == 2 ? page : (size_t)1 << 26;
    const size_t data = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    const size_t pages = (data + page - 1) / page * page;
    *mapped = front + pages + behind;
    *base = TRACE_CHECK(
        map(*mapped), mmap(NULL, *mapped, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | (promised() ? MAP_NORESERVE : 0), -1, 0));
    if (*base == MAP_FAILED)
        return NULL;
    char *guard = *base + front + pages;
    if (mprotect(*base + front, pages, PROT_READ | PROT_WRITE) != 0 ||
        mprotect(guard, behind, PROT_NONE) != 0) {
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
        *a = (struct allocation){block, base, bytes, mapped, type, allocations, NULL};
        allocations = a;
        used += bytes;
        *p = block;
        TRACE_CHECK(allocated(block, bytes, type), (void)0);
        if (type != cudaMemoryTypeDevice && !promised())
            TRACE_CHECK(host_memory(block, bytes), (void)0);
        error = cudaSuccess;
    } else {
        free(a);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static cudaError_t release(void *p, int host);

/* Under the lock: it is not live any more. True: and is nobody's. */
static int end_life(struct graph_memory *m)
{
    m->live = 0;
    of_graphs.live -= m->bytes;
    return m->users == 0;
}

static cudaError_t run_allocation(void *state)
{
    struct graph_memory *m = state;
    pthread_mutex_lock(&lock);
    if (m->live && graph_frees_first())
        end_life(m);
    const int live = m->live;
    m->live = 1;
    of_graphs.live += live ? 0 : m->bytes;
    if (of_graphs.live > of_graphs.held)
        of_graphs.held = of_graphs.live;
    if (of_graphs.held > of_graphs.high)
        of_graphs.high = of_graphs.held;
    pthread_mutex_unlock(&lock);
    if (live)
        return cudaErrorInvalidValue; /* the last run's has not been freed */
    memset(m->p, 0xff, m->bytes);
    return cudaSuccess;
}

static void drop_allocation(void *state)
{
    struct graph_memory *m = state;
    pthread_mutex_lock(&lock);
    const int gone = --m->users == 0 && !m->live;
    struct allocation *a = gone ? find(m->p) : NULL;
    if (a)
        a->of_graph = NULL;
    pthread_mutex_unlock(&lock);
    if (!gone)
        return;
    release(m->p, 0);
    free(m);
}

cudaError_t memory_graph_allocate(void **p, size_t bytes, struct work *work)
{
    struct graph_memory *m = bytes ? calloc(1, sizeof *m) : NULL;
    cudaError_t error = m ? allocate(p, bytes, cudaMemoryTypeDevice) : cudaErrorInvalidValue;
    if (error != cudaSuccess) {
        free(m);
        return error;
    }
    *m = (struct graph_memory){*p, bytes, 0, 1};
    pthread_mutex_lock(&lock);
    find(*p)->of_graph = m;
    pthread_mutex_unlock(&lock);
    *work = (struct work){cudaGraphNodeTypeMemAlloc, run_allocation, drop_allocation, m};
    return cudaSuccess;
}

static cudaError_t run_free(void *state)
{
    return release(state, 0);
}

static void drop_nothing(void *state)
{
    (void)state;
}

cudaError_t memory_graph_free(void *p, struct work *work)
{
    pthread_mutex_lock(&lock);
    const struct allocation *a = find(p);
    const int known = a && a->p == p;
    pthread_mutex_unlock(&lock);
    *work = (struct work){cudaGraphNodeTypeMemFree, run_free, drop_nothing, p};
    return known ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
                                           void *value)
{
    if (device != 0 || !value || attribute > cudaGraphMemAttrReservedMemHigh)
        return result(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    const int high =
        attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    memcpy(value, high ? &of_graphs.high : &of_graphs.held, sizeof(uint64_t));
    return result(cudaSuccess);
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
                                           void *value)
{
    if (device != 0 || !value ||
        (attribute != cudaGraphMemAttrUsedMemHigh && attribute != cudaGraphMemAttrReservedMemHigh))
        return result(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    of_graphs.high = of_graphs.held;
    return result(cudaSuccess);
}

/* What graphs hold and do not use goes back. */
cudaError_t cudaDeviceGraphMemTrim(int device)
{
    of_graphs.held = of_graphs.live;
    return result(device ? cudaErrorInvalidDevice : cudaSuccess);
}

static cudaError_t release(void *p, int host)
{
    cudaError_t error = p ? cudaErrorInvalidValue : cudaSuccess;
    pthread_mutex_lock(&lock);
    for (struct allocation **at = &allocations; p && *at; at = &(*at)->next) {
        struct allocation *a = *at;
        if (a->p != p || !a->base || (a->type == cudaMemoryTypeHost) != host)
            continue;
        if (a->of_graph) {
            struct graph_memory *m = a->of_graph;
            if (!m->live)
                break; /* freed already, or not allocated yet */
            error = cudaSuccess;
            if (!end_life(m))
                break;
            free(m);
        }
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

void memory_add_array(struct cudaArray *array)
{
    pthread_mutex_lock(&lock);
    array->next = arrays;
    arrays = array;
    pthread_mutex_unlock(&lock);
}

int memory_has_array(const void *p)
{
    pthread_mutex_lock(&lock);
    const struct cudaArray *a = arrays;
    while (a && a != p)
        a = a->next;
    pthread_mutex_unlock(&lock);
    return a != NULL;
}

void memory_remove_array(const struct cudaArray *array)
{
    pthread_mutex_lock(&lock);
    struct cudaArray **at = &arrays;
    while (*at && *at != array)
        at = &(*at)->next;
    if (*at)
        *at = array->next;
    pthread_mutex_unlock(&lock);
}

void memory_reset(void)
{
    TRACE_CHECK(reset(), (void)0);
    while (arrays) {
        struct cudaArray *a = arrays;
        arrays = a->next;
        free(a);
    }
    while (allocations)
        if (allocations->base)
            release(allocations->p, allocations->type == cudaMemoryTypeHost);
        else
            cudaHostUnregister(allocations->p);
}

static cudaError_t allocate_checked(void **p, size_t bytes, enum cudaMemoryType type)
{
    cudaError_t error = stream_check_unsafe(0);
    if (error != cudaSuccess && p)
        *p = NULL;
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

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *p, struct cudaExtent e)
{
    TRACE_CHECK(site(__builtin_return_address(0)), (void)0);
    if (!p)
        return result(cudaErrorInvalidValue);
    *p = (struct cudaPitchedPtr){NULL, 0, e.width, e.height};
    return cudaMallocPitch(&p->ptr, &p->pitch, e.width, e.height * e.depth);
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

/* Of a stream in capture these are nodes of the graph. */
static int is_captured(cudaStream_t stream, cudaError_t *error)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    *error = cudaStreamIsCapturing(stream, &status);
    return *error == cudaSuccess && status != cudaStreamCaptureStatusNone;
}

cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream)
{
    TRACE_CHECK(site(__builtin_return_address(0)), (void)0);
    cudaError_t error;
    struct work work;
    if (is_captured(stream, &error)) {
        error = p ? memory_graph_allocate(p, bytes, &work) : cudaErrorInvalidValue;
        return result(error == cudaSuccess ? stream_submit(stream, work) : error);
    }
    return result(error == cudaSuccess ? allocate(p, bytes, cudaMemoryTypeDevice) : error);
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    cudaError_t error;
    struct work work;
    if (is_captured(stream, &error)) {
        error = memory_graph_free(p, &work);
        return result(error == cudaSuccess ? stream_submit(stream, work) : error);
    }
    return result(error == cudaSuccess ? release(p, 0) : error);
}

/* Ranges that overlap are one too many, as in CUDA. */
cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
    if (!p || !bytes || flags > 15)
        return result(cudaErrorInvalidValue);
    struct allocation *a = malloc(sizeof *a);
    if (!a)
        return result(cudaErrorMemoryAllocation);
    pthread_mutex_lock(&lock);
    const struct allocation *b = allocations;
    while (b && !((char *)p < b->p + b->bytes && b->p < (char *)p + bytes))
        b = b->next;
    if (!b) {
        *a = (struct allocation){p, NULL, bytes, 0, cudaMemoryTypeHost, allocations, NULL};
        allocations = a;
        TRACE_CHECK(registered(p, bytes), (void)0);
    } else {
        free(a);
    }
    pthread_mutex_unlock(&lock);
    return result(b ? cudaErrorHostMemoryAlreadyRegistered : cudaSuccess);
}

cudaError_t cudaHostUnregister(void *p)
{
    cudaError_t error = p ? cudaErrorHostMemoryNotRegistered : cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    struct allocation **at = &allocations, *a;
    while (*at && ((*at)->p != p || (*at)->base))
        at = &(*at)->next;
    if ((a = *at)) {
        *at = a->next;
        TRACE_CHECK(unregistered(p), (void)0);
        free(a);
        error = cudaSuccess;
    }
    pthread_mutex_unlock(&lock);
    return result(error);
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    pthread_mutex_lock(&lock);
    const struct allocation *a = find(host);
    pthread_mutex_unlock(&lock);
    if (!flags || !a || a->type != cudaMemoryTypeHost)
        return result(cudaErrorInvalidValue);
    *flags = cudaHostAllocMapped;
    return result(cudaSuccess);
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

/* Whether it is managed memory, and a place that there is. */
static cudaError_t check_managed(const void *p, size_t bytes, struct cudaMemLocation location)
{
    pthread_mutex_lock(&lock);
    const struct allocation *a = find(p);
    int fits = a && a->type == cudaMemoryTypeManaged &&
               bytes <= (size_t)(a->p + a->bytes - (const char *)p);
    pthread_mutex_unlock(&lock);
    if (location.type == cudaMemLocationTypeDevice && location.id != 0)
        return cudaErrorInvalidDevice;
    return fits && bytes ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaMemPrefetchAsync(const void *p, size_t bytes, struct cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream)
{
    (void)stream;
    return result(flags ? cudaErrorInvalidValue : check_managed(p, bytes, location));
}

cudaError_t cudaMemAdvise(const void *p, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
        return result(cudaErrorInvalidValue);
    if (advice <= cudaMemAdviseUnsetReadMostly || advice == cudaMemAdviseUnsetPreferredLocation)
        location = (struct cudaMemLocation){cudaMemLocationTypeHost, 0}; /* it is not looked at */
    return result(check_managed(p, bytes, location));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *p, size_t bytes, unsigned flags)
{
    (void)bytes;
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
        return result(cudaErrorInvalidValue);
    if (!stream && flags == cudaMemAttachSingle)
        return result(cudaErrorInvalidValue); /* the default stream is no single one */
    return result(check_managed(p, 1, (struct cudaMemLocation){cudaMemLocationTypeHost, 0}));
}

/* Copies. One form does all: `depth` slices of `height` rows of `width` bytes, slices and rows so
 * many bytes apart. */
struct copy {
    char *to;
    const char *from; /* NULL: a memset to `value`, of numbers of `element` bytes */
    size_t to_pitch, from_pitch, width, height, depth, to_slice, from_slice;
    unsigned value, element;
    int inside; /* all of it is the device's memory */
};

/* So many bytes, from the first of a box to the last. */
static size_t extent(const struct copy *c, size_t pitch, size_t slice)
{
    return (c->depth - 1) * slice + (c->height - 1) * pitch + c->width;
}

static void set_row(char *to, const struct copy *c)
{
    if (c->element == 1)
        memset(to, (int)c->value, c->width);
    for (size_t x = 0; c->element > 1 && x < c->width; x += c->element)
        memcpy(to + x, &c->value, c->element); /* least significant bytes first */
}

static cudaError_t run_copy(void *state)
{
    const struct copy *c = state;
    if (corners_only())
        return cudaSuccess; /* as much as the machine has may be moved, and nothing is in it */
    for (size_t i = 0; i < c->depth * c->height; i++) {
        size_t y = i % c->height, z = i / c->height;
        char *to = c->to + z * c->to_slice + y * c->to_pitch;
        if (c->from)
            memmove(to, c->from + z * c->from_slice + y * c->from_pitch, c->width);
        else
            set_row(to, c);
        TRACE_CHECK(written(to, c->width), (void)0);
    }
    if (c->inside)
        TRACE_COUNT(moved(c->from != NULL, c->width, c->height * c->depth), (void)0);
    return cudaSuccess;
}

/* Of a place in no allocation: whether no memory is there, or only what keeps two of them apart. */
static int is_nowhere(const char *p)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (const struct allocation *a = allocations; a; a = a->next)
        if (p >= a->base && p < a->base + a->mapped)
            return 1;
    return TRACE_CHECK(is_freed(p), 0) ||
           msync((void *)((uintptr_t)p / page * page), 1, MS_ASYNC) != 0;
}

/* Whether [p, p+bytes) is known not to be memory on that side; a side below 0 may be either, as is
 * unknown memory: the host's, or a __device__ variable. What the host has page-locked the device
 * may use as well. */
static int wrong_side(const void *p, size_t bytes, int device)
{
    pthread_mutex_lock(&lock);
    const struct allocation *a = find(p);
    int wrong = a ? (size_t)(a->p + a->bytes - (const char *)p) < bytes ||
                        (!device && a->type == cudaMemoryTypeDevice)
                  : device && is_nowhere(p);
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

/* Makes the work of a copy; of nothing it is none, and run is NULL. */
static cudaError_t prepare(struct copy c, int from_device, int to_device, struct work *work)
{
    *work = (struct work){.run = NULL};
    if (c.width == 0 || c.height == 0 || c.depth == 0)
        return cudaSuccess;
    if (!c.to || (c.to_pitch < c.width && c.height > 1) ||
        (c.from && c.from_pitch < c.width && c.height > 1))
        return cudaErrorInvalidValue;
    if (memory_has_array(c.to) || (c.from && memory_has_array(c.from)))
        return cudaErrorInvalidValue; /* a handle is not what the array holds */
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

/* One side of a box. An array has positions and widths in elements, other memory in bytes. */
struct side {
    char *p;
    size_t pitch, slice;
};

/* False: the array has no such box. */
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
        TRACE_CHECK(host_waits(0, 1), (void)0); /* most of these copies return when all is done */
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
    cudaError_t error = sticky_error(); /* after one an array's handle need not be one */
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

/* The device's pool. Nothing is kept of what is freed, whatever the threshold. */
static struct CUmemPoolHandle_st {
    int reuse[3];
    uint64_t threshold, used_high;
} the_pool = {{1, 1, 1}, 0, 0};

static void note_pool(void)
{
    pthread_mutex_lock(&lock);
    if (used > the_pool.used_high)
        the_pool.used_high = used;
    pthread_mutex_unlock(&lock);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    if (!pool || device != 0)
        return result(pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    *pool = &the_pool;
    return result(cudaSuccess);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    return cudaDeviceGetDefaultMemPool(pool, device);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    if (device != 0)
        return result(cudaErrorInvalidDevice);
    return result(pool == &the_pool ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    if (pool != &the_pool || !value)
        return result(cudaErrorInvalidValue);
    uint64_t number;
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        memcpy(&the_pool.reuse[attribute - 1], value, sizeof(int));
        return result(cudaSuccess);
    case cudaMemPoolAttrReleaseThreshold:
        memcpy(&the_pool.threshold, value, sizeof the_pool.threshold);
        return result(cudaSuccess);
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
        memcpy(&number, value, sizeof number);
        the_pool.used_high = 0; /* to the current value; no other number is allowed */
        return result(number ? cudaErrorInvalidValue : cudaSuccess);
    default:
        return result(cudaErrorInvalidValue);
    }
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    if (pool != &the_pool || !value || (int)attribute < 1 || attribute > cudaMemPoolAttrUsedMemHigh)
        return result(cudaErrorInvalidValue);
    note_pool();
    const uint64_t current = used, high = the_pool.used_high;
    const int reserved = attribute == cudaMemPoolAttrReservedMemCurrent;
    if (attribute < cudaMemPoolAttrReleaseThreshold)
        memcpy(value, &the_pool.reuse[attribute - 1], sizeof(int));
    else if (attribute == cudaMemPoolAttrReleaseThreshold)
        memcpy(value, &the_pool.threshold, sizeof the_pool.threshold);
    else
        memcpy(value, reserved || attribute == cudaMemPoolAttrUsedMemCurrent ? &current : &high,
               sizeof current);
    return result(cudaSuccess);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
    (void)bytes;
    return result(pool == &the_pool ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMallocFromPoolAsync(void **p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    TRACE_CHECK(site(__builtin_return_address(0)), (void)0);
    if (pool != &the_pool)
        return result(cudaErrorInvalidValue);
    return cudaMallocAsync(p, bytes, stream);
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
