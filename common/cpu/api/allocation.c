/* Allocations. Device memory is host memory that is kept in a list. So a copy in the wrong
 * direction, or past an allocation's end, can be refused as CUDA refuses it (copies.c). */
#include "api/api.h"
#include "base/plural.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 256, PITCH = 512 };

struct allocation {
    char *p, *base; /* base: start of the mapping; NULL for registered host memory */
    size_t bytes, mapped;
    enum cudaMemoryType type;
    struct allocation *next;
    struct graph_memory *of_graph; /* the graph node that allocates it, or NULL */
    int pooled;                    /* by cudaMallocAsync: cudaFree does not wait */
};

/* Memory that a graph allocates exists from the start, at a fixed address. While it is not live
 * it belongs to its graph, or to nobody. */
struct graph_memory {
    char *p;
    size_t bytes;
    int live, users; /* users: graph nodes that allocate it */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation *allocations;
static struct cudaArray *arrays;
static size_t used;
/* Bytes that are live, bytes that graphs hold (live or not) until cudaDeviceGraphMemTrim, and
 * the most of those. */
static struct {
    uint64_t live, held, high;
} of_graphs;

static size_t physical_memory(void)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Bytes that can be filled before the machine swaps or runs out of memory. */
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

struct memory_range memory_at(const void *p)
{
    pthread_mutex_lock(&lock);
    const struct allocation *a = find(p);
    const struct memory_range r = a ? (struct memory_range){a->p, a->bytes, a->type}
                                    : (struct memory_range){.type = cudaMemoryTypeUnregistered};
    pthread_mutex_unlock(&lock);
    return r;
}

static int is_set(const char *name, int *known)
{
    if (*known < 0) {
        const char *value = getenv(name);
        *known = value && *value == '1';
    }
    return *known;
}

/* Reserve-only memory (CUDACPU_RESERVE_ONLY): addresses without contents, possibly more than the
 * machine has. It is for launches that are captured and never run, or of which only the first
 * and the last block run. 16 GiB in front of it are inaccessible, to catch a 32-bit index that
 * wraps. */
static int reserved(void)
{
    static int known = -1;
    return is_set("CUDACPU_RESERVE_ONLY", &known);
}

int large_index_only(void)
{
    static int known = -1;
    return is_set("CUDACPU_LARGE_INDEX", &known);
}

/* Inaccessible pages begin right behind the data (up to their alignment). A kernel that runs
 * past an array then stops with an illegal address, as on a GPU, and damages no other array.
 * There are 64 MB of them, because an index may be far off and several blocks may run past the
 * end before the first is stopped. --check needs one page only, as it sees each access. */
static char *map(size_t bytes, char **base, size_t *mapped)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), front = reserved() ? (size_t)1 << 34 : 0;
    const size_t behind = CPU_TRACE == 2 ? page : (size_t)1 << 26;
    const size_t data = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    const size_t pages = (data + page - 1) / page * page;
    *mapped = front + pages + behind;
    *base = TRACE_CHECK_OR(
        map(*mapped), mmap(NULL, *mapped, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | (reserved() ? MAP_NORESERVE : 0), -1, 0));
    if (*base == MAP_FAILED)
        return NULL;
    char *guard = *base + front + pages;
    if (mprotect(*base + front, pages, PROT_READ | PROT_WRITE) != 0 ||
        mprotect(guard, behind, PROT_NONE) != 0) {
        munmap(*base, *mapped);
        return NULL;
    }
    return reserved() ? guard - data : fill_unwritten(guard - data, data);
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
    if (a && (reserved() || bytes < available_memory()))
        block = map(bytes, &base, &mapped);
    if (block) {
        *a = (struct allocation){block, base, bytes, mapped, type, allocations, NULL, 0};
        allocations = a;
        used += bytes;
        *p = block;
        TRACE_CHECK(allocated(block, bytes, type));
        if (type != cudaMemoryTypeDevice && !reserved())
            TRACE_CHECK(host_memory(block, bytes));
        error = cudaSuccess;
    } else {
        free(a);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static cudaError_t release(void *p, int host);

/* Called with the lock held: the memory is live no longer. Returns true if no graph has it
 * either. */
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
    fill_unwritten(m->p, m->bytes);
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

/* Memory that a stream or a graph allocates or frees, and the program's call. */
struct stream_memory {
    void *p;
    const void *site;
};

static cudaError_t run_free(void *state)
{
    const struct stream_memory *m = state;
    const struct memory_range r = memory_at(m->p);
    TRACE_CHECK(work(m->site));
    if (r.p && r.p == m->p)
        TRACE_CHECK(work_touches(TRACE_FREES, (struct trace_rows){r.p, r.bytes, 1, r.bytes}));
    return release(m->p, 0);
}

/* The allocation exists already: --check learns who may use it. */
static cudaError_t run_stream_allocation(void *state)
{
    const struct stream_memory *m = state;
    const struct memory_range r = memory_at(m->p);
    TRACE_CHECK(work(m->site));
    TRACE_CHECK(work_touches(TRACE_ALLOCATES, (struct trace_rows){r.p, r.bytes, 1, r.bytes}));
    (void)r;
    return cudaSuccess;
}

static struct work memory_work(enum cudaGraphNodeType type, void *p, const void *site)
{
    struct stream_memory *m = need_memory(malloc(sizeof *m), "work of a stream");
    *m = (struct stream_memory){p, site};
    return (struct work){type, type == cudaGraphNodeTypeMemFree ? run_free : run_stream_allocation,
                         free, m};
}

cudaError_t memory_graph_free(void *p, const void *site, struct work *work)
{
    pthread_mutex_lock(&lock);
    const struct allocation *a = find(p);
    const int known = a && a->p == p;
    pthread_mutex_unlock(&lock);
    if (known)
        *work = memory_work(cudaGraphNodeTypeMemFree, p, site);
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

/* Memory that graphs hold without using it is given back. */
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
        if (!TRACE_CHECK_OR(freed(a->p), 0))
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
    TRACE_CHECK(reset());
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

cudaError_t memory_allocate(void **p, size_t bytes, enum cudaMemoryType type)
{
    cudaError_t error = stream_check_unsafe(0);
    if (error != cudaSuccess && p)
        *p = NULL;
    return result(error == cudaSuccess ? allocate(p, bytes, type) : error);
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    TRACE_CHECK(site(__builtin_return_address(0)));
    return memory_allocate(p, bytes, cudaMemoryTypeDevice);
}

cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    TRACE_CHECK(site(__builtin_return_address(0)));
    return memory_allocate(p, bytes, cudaMemoryTypeHost);
}

cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags)
{
    TRACE_CHECK(site(__builtin_return_address(0)));
    return memory_allocate(p, bytes, cudaMemoryTypeHost);
}

cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
    TRACE_CHECK(site(__builtin_return_address(0)));
    if (!pitch)
        return result(cudaErrorInvalidValue);
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return cudaMalloc(p, *pitch * height);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *p, struct cudaExtent e)
{
    TRACE_CHECK(site(__builtin_return_address(0)));
    if (!p)
        return result(cudaErrorInvalidValue);
    *p = (struct cudaPitchedPtr){NULL, 0, e.width, e.height};
    return cudaMallocPitch(&p->ptr, &p->pitch, e.width, e.height * e.depth);
}

/* Of memory from a pool, cudaFree takes all accesses to be over, and does not wait. */
static void wait_to_free(const void *p, const void *site)
{
    pthread_mutex_lock(&lock);
    const struct allocation *a = p ? find(p) : NULL;
    const int pooled = a && a->pooled;
    const size_t bytes = a ? a->bytes : 0;
    pthread_mutex_unlock(&lock);
    if (pooled)
        TRACE_CHECK(host_frees(p, bytes, site));
    if (p && !pooled)
        TRACE_CHECK(host_waits_all());
    (void)bytes;
}

cudaError_t cudaFree(void *p)
{
    cudaError_t error = stream_check_unsafe(0);
    wait_to_free(p, __builtin_return_address(0));
    return result(error == cudaSuccess ? release(p, 0) : error);
}

cudaError_t cudaFreeHost(void *p)
{
    cudaError_t error = stream_check_unsafe(0);
    wait_to_free(p, __builtin_return_address(0));
    return result(error == cudaSuccess ? release(p, 1) : error);
}

/* While a stream is captured, these calls add nodes to its graph. */
static int is_captured(cudaStream_t stream, cudaError_t *error)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    *error = cudaStreamIsCapturing(stream, &status);
    return *error == cudaSuccess && status != cudaStreamCaptureStatusNone;
}

cudaError_t memory_allocate_async(void **p, size_t bytes, cudaStream_t stream, const void *site)
{
    TRACE_CHECK(site(site));
    cudaError_t error;
    struct work work;
    if (is_captured(stream, &error)) {
        error = p ? memory_graph_allocate(p, bytes, &work) : cudaErrorInvalidValue;
        return result(error == cudaSuccess ? stream_submit(stream, work) : error);
    }
    if (error == cudaSuccess)
        error = allocate(p, bytes, cudaMemoryTypeDevice);
    if (error == cudaSuccess && *p) {
        pthread_mutex_lock(&lock);
        find(*p)->pooled = 1;
        pthread_mutex_unlock(&lock);
        if (CPU_TRACE == 2)
            stream_submit(stream, memory_work(cudaGraphNodeTypeMemAlloc, *p, site));
    }
    return result(error);
}

cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream)
{
    return memory_allocate_async(p, bytes, stream, __builtin_return_address(0));
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    const void *site = __builtin_return_address(0);
    cudaError_t error;
    struct work work;
    if (is_captured(stream, &error)) {
        error = memory_graph_free(p, site, &work);
        return result(error == cudaSuccess ? stream_submit(stream, work) : error);
    }
    if (error == cudaSuccess && p)
        error = stream_submit(stream, memory_work(cudaGraphNodeTypeMemFree, p, site));
    return result(error);
}

/* As in CUDA, a range that overlaps a registered one is refused. */
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
        *a = (struct allocation){p, NULL, bytes, 0, cudaMemoryTypeHost, allocations, NULL, 0};
        allocations = a;
        TRACE_CHECK(registered(p, bytes));
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
        TRACE_CHECK(unregistered(p));
        free(a);
        error = cudaSuccess;
    }
    pthread_mutex_unlock(&lock);
    return result(error);
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    if (!flags || memory_at(host).type != cudaMemoryTypeHost)
        return result(cudaErrorInvalidValue);
    *flags = cudaHostAllocMapped;
    return result(cudaSuccess);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    if (!device || flags || memory_at(host).type != cudaMemoryTypeHost)
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
    const struct memory_range r = memory_at(p);
    attributes->type = r.type;
    attributes->device = r.p ? 0 : cudaInvalidDeviceId;
    attributes->devicePointer = r.p ? (void *)(uintptr_t)p : NULL;
    attributes->hostPointer = r.type == cudaMemoryTypeDevice ? NULL : (void *)(uintptr_t)p;
    return result(cudaSuccess);
}

/* For an address in no allocation: true if nothing is mapped there, or only guard pages. */
int memory_is_nowhere(const char *p)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    pthread_mutex_lock(&lock);
    const struct allocation *a = allocations;
    while (a && !(p >= a->base && p < a->base + a->mapped))
        a = a->next;
    pthread_mutex_unlock(&lock);
    return a || TRACE_CHECK_OR(is_freed(p), 0) ||
           msync((void *)((uintptr_t)p / page * page), 1, MS_ASYNC) != 0;
}

size_t memory_used(void)
{
    pthread_mutex_lock(&lock);
    const size_t bytes = used;
    pthread_mutex_unlock(&lock);
    return bytes;
}

cudaError_t cpu_library_access(const struct cpu_access *a)
{
    const size_t bytes = a->height ? (a->height - 1) * a->pitch + a->width : 0;
    if (!bytes || sticky_error() != cudaSuccess)
        return sticky_error();
    const struct memory_range home = memory_at(a->p);
    const size_t behind = home.p ? (size_t)(home.p + home.bytes - (const char *)a->p) : bytes;
    int wrong = TRACE_CHECK_OR(library(a), 0);
    if (!wrong && (behind < bytes || (uintptr_t)a->p < 65536)) {
        wrong = 1;
        if (home.p)
            complain(
                "%s: %s has %zu byte%s, of which %zu lie past the end of its allocation of %zu "
                "byte%s",
                a->call, a->what, bytes, plural((long long)bytes), bytes - behind, home.bytes,
                plural((long long)home.bytes));
        else
            complain("%s: %s has %zu byte%s at %p, where no device memory is", a->call, a->what,
                     bytes, plural((long long)bytes), a->p);
    }
    if (wrong) {
        set_sticky_error(cudaErrorIllegalAddress);
    } else if (a->access) {
        TRACE_CHECK(work(a->site));
        TRACE_CHECK(
            work_touches(a->access & CPU_ACCESS_WRITE ? TRACE_LIBRARY_WRITES : TRACE_LIBRARY_READS,
                         (struct trace_rows){a->p, a->width, a->height, a->pitch}));
    }
    return sticky_error();
}
