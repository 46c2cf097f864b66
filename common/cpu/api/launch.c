/* Launches: the limits of a launch, and the attributes of kernels. */
#include "api/api.h"
#include "base/plural.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Attributes of a kernel, found by the address of its function. */
struct function {
    const void *f;
    size_t dynamic_limit, static_shared;
    struct cpu_prototype prototype; /* pack is NULL until it is known */
    struct function *next;
};

/* Recursive: a kernel's children run before its launch is done. */
static pthread_mutex_t one_launch; /* guards launches */
static uint64_t launches;
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER; /* guards functions */
static struct function *functions;

static struct function *find_function(const void *f)
{
    struct function *p = functions;
    while (p && p->f != f)
        p = p->next;
    if (!p) {
        p = need_memory(calloc(1, sizeof *p), "the attributes of a kernel");
        p->f = f;
        p->next = functions;
        functions = p;
    }
    return p;
}

/* Overflow test (CUDACPU_LARGE_INDEX): indices are largest in the last block, so only the first and
 * the last run. Grids of up to 8192 blocks are skipped: each of their blocks loops over a share
 * of the whole problem and would not finish. */
static uint64_t blocks_to_run(uint64_t blocks)
{
    enum { LARGE = 8192 };
    if (!large_index_only())
        return blocks;
    return blocks > LARGE ? 2 : 0;
}

static void __attribute__((constructor)) make_lock(void)
{
    pthread_mutexattr_t a;
    if (pthread_mutexattr_init(&a) || pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE) ||
        pthread_mutex_init(&one_launch, &a))
        give_up(1, "no lock for launches");
}

/* Runs a launch that has been checked, and then its children. The arguments stay, as a graph may
 * run it again. */
static cudaError_t run_kernel(void *state)
{
    struct cpu_kernel *k = state;
    struct launch l = {.kernel = k, .blocks = (uint64_t)k->grid.x * k->grid.y * k->grid.z};
    pthread_mutex_lock(&one_launch);
    fault_catch_signals();
    pthread_mutex_lock(&table);
    struct function *f = find_function(k->function);
    l.shared_limit = f->dynamic_limit ? (size_t)capability().shared_a_block : SHARED_DEFAULT;
    l.static_before = k->function ? f->static_shared : 0; /* those without one have one entry */
    pthread_mutex_unlock(&table);
    l.run = blocks_to_run(l.blocks);
    l.multiprocessors = worker_count();
    l.id = ++launches;
    choose_order(&l);
    TRACE_CHECK(launch(&l));
    watchdog_begin(&l);
    run_blocks(&l);
    watchdog_end();
    TRACE(launch_end(&l));
    pthread_mutex_lock(&table);
    if (l.static_shared > f->static_shared)
        f->static_shared = l.static_shared;
    pthread_mutex_unlock(&table);
    children_run(&l);
    pthread_mutex_unlock(&one_launch);
    cudaError_t error = (cudaError_t)l.error;
    if (error != cudaSuccess && error != cudaErrorInvalidValue)
        set_sticky_error(error); /* a kernel that asked for too much has changed nothing */
    return error;
}

static void drop_kernel(void *state)
{
    struct cpu_kernel *k = state;
    k->drop(k->arguments);
    free(k);
}

/* Reports a launch that will not run. */
static void __attribute__((format(printf, 2, 3)))
refuse(const struct cpu_kernel *k, const char *format, ...)
{
    char why[300], text[1000];
    va_list list;
    va_start(list, format);
    vsnprintf(why, sizeof why, format, list);
    va_end(list);
    snprintf(text, sizeof text, "kernel %s (launched at %s:%d): %s",
             TRACE_CHECK_OR(kernel_name(k), k->name), k->file, k->line, why);
    complain("%s", text);
    TRACE_CHECK(launch_refused(k, text));
}

/* All blocks of a cooperative launch must be resident at once. */
static cudaError_t check_together(const struct cpu_kernel *k)
{
    const uint64_t blocks = (uint64_t)k->grid.x * k->grid.y * k->grid.z;
    const int each = capability_blocks((uint64_t)k->block.x * k->block.y * k->block.z, k->shared);
    const uint64_t most = (uint64_t)each * (uint64_t)worker_count();
    if (blocks <= most)
        return cudaSuccess;
    refuse(k,
           "a cooperative launch of %llu blocks; at most %llu %s there at once: %d on each of %d "
           "multiprocessor%s%s",
           (unsigned long long)blocks, (unsigned long long)most, most == 1 ? "is" : "are", each,
           worker_count(), plural(worker_count()), CPU_TRACE == 2 ? "" : " (CUDACPU_WORKERS)");
    return cudaErrorCooperativeLaunchTooLarge;
}

static cudaError_t check(const struct cpu_kernel *k)
{
    uint3 g = k->grid, b = k->block;
    if (!g.x || !g.y || !g.z || g.x > 0x7fffffff || g.y > 65535 || g.z > 65535) {
        refuse(k, "a grid of (%u,%u,%u) blocks; from 1 to (2147483647,65535,65535) are possible",
               g.x, g.y, g.z);
        return cudaErrorInvalidConfiguration;
    }
    if (!b.x || !b.y || !b.z || b.x > MAX_THREADS || b.y > MAX_THREADS || b.z > 64 ||
        (uint64_t)b.x * b.y * b.z > MAX_THREADS) {
        refuse(k, "a block of (%u,%u,%u) threads; from 1 to (%d,%d,64) are possible, and %d in all",
               b.x, b.y, b.z, MAX_THREADS, MAX_THREADS, MAX_THREADS);
        return cudaErrorInvalidConfiguration;
    }
    pthread_mutex_lock(&table);
    const struct function *f = find_function(k->function);
    size_t limit = f->dynamic_limit ? f->dynamic_limit : SHARED_DEFAULT;
    pthread_mutex_unlock(&table);
    if (k->shared <= limit)
        return k->together ? check_together(k) : cudaSuccess;
    refuse(k, "%zu bytes of dynamic shared memory; at most %zu%s", k->shared, limit,
           limit == SHARED_DEFAULT ? " without cudaFuncSetAttribute" : "");
    return cudaErrorInvalidValue;
}

void cpu_keep(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

void cpu_know_kernel(const struct cpu_prototype *prototype)
{
    pthread_mutex_lock(&table);
    find_function(prototype->function)->prototype = *prototype;
    pthread_mutex_unlock(&table);
}

cudaError_t launch_work(const struct cudaKernelNodeParams *p, const char *file, int line,
                        int together, cudaStream_t stream, struct work *work)
{
    if (!p->func)
        return cudaErrorInvalidDeviceFunction;
    pthread_mutex_lock(&table);
    const struct cpu_prototype known = find_function(p->func)->prototype;
    pthread_mutex_unlock(&table);
    if (!known.pack) {
        complain("%s:%d: what arguments the kernel at %p has is not known: cast its name, as in "
                 "(void *)kernel, and not a pointer to it",
                 file, line, p->func);
        return cudaErrorInvalidDeviceFunction;
    }
    if (known.parameters && !p->kernelParams)
        return cudaErrorInvalidValue;
    struct cpu_kernel *k = malloc(sizeof *k);
    if (!k)
        return cudaErrorMemoryAllocation;
    *k = (struct cpu_kernel){.name = known.name,
                             .file = file,
                             .line = line,
                             .function = p->func,
                             .entry = known.enter,
                             .drop = known.drop,
                             .size = known.size,
                             .grid = {p->gridDim.x, p->gridDim.y, p->gridDim.z},
                             .block = {p->blockDim.x, p->blockDim.y, p->blockDim.z},
                             .shared = p->sharedMemBytes,
                             .together = together,
                             .stream = stream};
    cudaError_t error = check(k);
    if (error != cudaSuccess) {
        free(k);
        return error;
    }
    k->arguments = known.pack(p->func, p->kernelParams);
    *work = (struct work){cudaGraphNodeTypeKernel, run_kernel, drop_kernel, k};
    return cudaSuccess;
}

cudaError_t cpu_launch_known(const struct cudaKernelNodeParams *params, int together,
                             cudaStream_t stream, const char *file, int line)
{
    struct work work;
    cudaError_t error = sticky_error();
    if (error == cudaSuccess)
        error = launch_work(params, file, line, together, stream, &work);
    return work_result(error == cudaSuccess ? stream_submit(stream, work) : error);
}

cudaError_t cpu_launch_kernel(const struct cpu_kernel *kernel, cudaStream_t stream)
{
    cudaError_t error = sticky_error();
    if (error == cudaSuccess && cpu_in_kernel())
        error = children_allow(kernel, stream);
    if (error == cudaSuccess)
        error = check(kernel);
    struct cpu_kernel *k = error == cudaSuccess ? malloc(sizeof *k) : NULL;
    if (!k) {
        kernel->drop(kernel->arguments);
        return work_result(error != cudaSuccess ? error : cudaErrorMemoryAllocation);
    }
    *k = *kernel;
    return work_result(
        stream_submit(stream, (struct work){cudaGraphNodeTypeKernel, run_kernel, drop_kernel, k}));
}

/* --- Kernels as objects ----------------------------------------------------------------------- */

cudaError_t cudaFuncSetAttribute(const void *f, enum cudaFuncAttribute attribute, int value)
{
    if (!f)
        return result(cudaErrorInvalidDeviceFunction);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return result(cudaSuccess);
    pthread_mutex_lock(&table);
    struct function *p = find_function(f);
    int fits =
        value >= 0 && (size_t)value + p->static_shared <= (size_t)capability().shared_a_block;
    if (fits)
        p->dynamic_limit = (size_t)value;
    /* A launch through pointers does not name its kernel: it gets the largest limit of any. */
    struct function *any = find_function(NULL);
    if (fits && (size_t)value > any->dynamic_limit)
        any->dynamic_limit = (size_t)value;
    pthread_mutex_unlock(&table);
    return result(fits ? cudaSuccess : cudaErrorInvalidValue);
}

/* Static shared memory is known after the kernel has run once. */
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *f)
{
    if (!f || !attributes)
        return result(f ? cudaErrorInvalidValue : cudaErrorInvalidDeviceFunction);
    pthread_mutex_lock(&table);
    const struct function *p = find_function(f);
    *attributes = (struct cudaFuncAttributes){
        .sharedSizeBytes = p->static_shared,
        .maxThreadsPerBlock = MAX_THREADS,
        .numRegs = 32,
        .maxDynamicSharedSizeBytes = p->dynamic_limit ? (int)p->dynamic_limit : SHARED_DEFAULT};
    pthread_mutex_unlock(&table);
    return result(cudaSuccess);
}

cudaError_t cudaFuncSetCacheConfig(const void *f, enum cudaFuncCache config)
{
    return result(f ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaFuncSetSharedMemConfig(const void *f, enum cudaSharedMemConfig config)
{
    return result(f ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *f, int threads,
                                                          size_t shared)
{
    if (!blocks || !f || threads < 1 || threads > MAX_THREADS)
        return result(cudaErrorInvalidValue);
    *blocks = capability_blocks((uint64_t)threads, shared);
    return result(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *f,
                                                                   int threads, size_t shared,
                                                                   unsigned flags)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, shared);
}
