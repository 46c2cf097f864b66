/* Launches: checks, the pool of OS threads that runs the blocks, and faults inside kernels. */
#include "runtime.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Attributes of a kernel, by the address of its function. */
struct function {
    const void *f;
    size_t dynamic_limit, static_shared;
    struct function *next;
};

static pthread_mutex_t one_launch = PTHREAD_MUTEX_INITIALIZER; /* guards functions, launches */
static struct function *functions;
static uint64_t launches;

static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static struct launch *offered; /* to the helpers; NULL when no more may join */
static int helpers, busy;

/* Faults. */

static void report(const struct worker *w, const char *text)
{
    const struct cpu_kernel *k = w->launch->kernel;
    complain("kernel %s (launched at %s:%d), block (%u,%u,%u): %s", k->name, k->file, k->line,
             blockIdx.x, blockIdx.y, blockIdx.z, text);
}

void block_fail(struct worker *w, cudaError_t error, const char *format, ...)
{
    char text[2200];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    TRACE_CHECK(fault(w, text), (void)0);
    int none = 0;
    if (atomic_compare_exchange_strong(&w->launch->error, &none, (int)error))
        report(w, text);
    siglongjmp(w->escape, 1);
}

static void fail_thread(struct worker *w, cudaError_t error, const char *what)
{
    block_fail(w, error, "thread (%u,%u,%u): %s", threadIdx.x, threadIdx.y, threadIdx.z, what);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    struct worker *w = cpu_worker;
    if (!w || !w->running) {
        signal(number, SIG_DFL); /* not ours: let it happen again */
        return;
    }
    if (number == SIGSEGV && TRACE_CHECK(goes_on(context), 0))
        return;
    char what[100];
    if (number == SIGFPE)
        fail_thread(w, cudaErrorLaunchFailure, "integer division by zero");
    if (number == SIGILL)
        fail_thread(w, cudaErrorLaunchFailure, "illegal instruction");
    if (fiber_is_guard(w->stacks, MAX_THREADS, info->si_addr))
        fail_thread(w, cudaErrorIllegalAddress, "stack overflow");
    if (number == SIGBUS && info->si_code == BUS_ADRALN)
        fail_thread(w, cudaErrorMisalignedAddress, "misaligned address");
    snprintf(what, sizeof what, "illegal access at address %p", info->si_addr);
    fail_thread(w, cudaErrorIllegalAddress, what);
}

void cpu_trap(cudaError_t error, const char *what, const char *file, int line)
{
    struct worker *w = cpu_worker;
    if (!w || !w->running) {
        complain("%s:%d: %s", file, line, what);
        abort();
    }
    block_fail(w, error, "thread (%u,%u,%u): %s (%s:%d)", threadIdx.x, threadIdx.y, threadIdx.z,
               what, file, line);
}

/* assert() ends here, in the C library's place, so that <assert.h> needs no stand-in. */
#ifdef __APPLE__
void __assert_rtn(const char *function, const char *file, int line, const char *condition)
#else
void __assert_fail(const char *condition, const char *file, unsigned line, const char *function)
    __attribute__((noreturn));
void __assert_fail(const char *condition, const char *file, unsigned line, const char *function)
#endif
{
    char what[300];
    snprintf(what, sizeof what, "%s: assertion `%s' failed", function, condition);
    cpu_trap(cudaErrorAssert, what, file, (int)line);
}

long long cpu_clock(void)
{
    static __thread long long ticks;
    return ++ticks;
}

/* Workers. */

static struct worker *new_worker(void)
{
    struct worker *w = calloc(1, sizeof *w);
    void *signals = malloc(64 * 1024), *arena = NULL;
    if (!w || !signals || posix_memalign(&arena, 1024, ARENA) ||
        !(w->stacks = fiber_area(MAX_THREADS))) {
        complain("no memory for the stacks of %d threads", MAX_THREADS);
        exit(1);
    }
    w->arena = arena;
    sigaltstack(&(stack_t){.ss_sp = signals, .ss_size = 64 * 1024}, NULL);
    return cpu_worker = w;
}

static void *helper(void *unused)
{
    (void)unused;
    struct worker *w = new_worker();
    pthread_mutex_lock(&pool);
    for (uint64_t last = 0;;) {
        while (!offered || offered->id == last)
            pthread_cond_wait(&wake, &pool);
        w->launch = offered;
        last = offered->id;
        busy++;
        pthread_mutex_unlock(&pool);
        block_run_all(w);
        pthread_mutex_lock(&pool);
        if (--busy == 0)
            pthread_cond_signal(&done);
    }
    return NULL;
}

/* A number from the environment; anything else there ends the program with a line. */
static uint64_t number(const char *name, uint64_t least, uint64_t most, uint64_t otherwise)
{
    const char *s = getenv(name);
    if (!s || !*s)
        return otherwise;
    char *end;
    errno = 0;
    uint64_t n = strtoull(s, &end, 10);
    if (*s < '0' || *s > '9' || *end || errno || n < least || n > most) {
        complain("%s=%s: need a number from %llu to %llu", name, s, (unsigned long long)least,
                 (unsigned long long)most);
        exit(2);
    }
    return n;
}

int worker_count(void)
{
    static int count;
    if (!count) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        count = (int)number("CUDACPU_WORKERS", 1, 1024, cores < 1 ? 1 : (uint64_t)cores);
        if (CPU_TRACE == 2)
            count = 1; /* what is found does not depend on luck */
    }
    return count;
}

static void run(struct launch *l)
{
    int wanted = l->blocks < (uint64_t)worker_count() ? (int)l->blocks : worker_count();
    if (wanted > 1) {
        pthread_mutex_lock(&pool);
        for (pthread_t t; helpers < wanted - 1; helpers++) {
            if (pthread_create(&t, NULL, helper, NULL) != 0)
                break; /* fewer helpers are slower, not wrong */
            pthread_detach(t);
        }
        offered = l;
        pthread_cond_broadcast(&wake);
        pthread_mutex_unlock(&pool);
    }
    struct worker *w = cpu_worker ? cpu_worker : new_worker();
    w->launch = l;
    block_run_all(w);
    if (wanted > 1) {
        pthread_mutex_lock(&pool);
        offered = NULL;
        while (busy)
            pthread_cond_wait(&done, &pool);
        pthread_mutex_unlock(&pool);
    }
}

static void read_order(struct launch *l)
{
    const char *order = getenv("CUDACPU_ORDER");
    l->seed = number("CUDACPU_SEED", 0, UINT64_MAX, 1);
    if (!order || !*order || strcmp(order, "forward") == 0) {
        l->order = ORDER_FORWARD;
    } else if (strcmp(order, "reverse") == 0) {
        l->order = ORDER_REVERSE;
    } else if (strcmp(order, "random") == 0) {
        l->order = ORDER_RANDOM;
    } else {
        complain("CUDACPU_ORDER is \"%s\": need forward, reverse or random", order);
        exit(2);
    }
}

static struct function *find_function(const void *f)
{
    struct function *p = functions;
    while (p && p->f != f)
        p = p->next;
    if (!p && f && (p = calloc(1, sizeof *p))) {
        p->f = f;
        p->next = functions;
        functions = p;
    }
    return p;
}

/* Runs a launch that has been checked, and drops nothing: a graph may run it again. */
static cudaError_t run_kernel(void *state)
{
    struct cpu_kernel *k = state;
    struct launch l = {.kernel = k, .blocks = (uint64_t)k->grid.x * k->grid.y * k->grid.z};
    static int installed;
    pthread_mutex_lock(&one_launch);
    if (!installed) {
        struct sigaction action = {.sa_sigaction = on_signal,
                                   .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
        const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
        for (int i = 0; i < 4; i++)
            sigaction(numbers[i], &action, NULL);
        installed = 1;
    }
    struct function *f = find_function(k->function);
    l.shared_limit = f && f->dynamic_limit ? SHARED_OPTIN : SHARED_DEFAULT;
    l.id = ++launches;
    read_order(&l);
    TRACE_CHECK(launch(&l), (void)0);
    run(&l);
    TRACE_COUNT(launch_end(&l), (void)0);
    if (f && l.static_shared > f->static_shared)
        f->static_shared = l.static_shared;
    pthread_mutex_unlock(&one_launch);
    cudaError_t error = (cudaError_t)l.error;
    if (error != cudaSuccess && error != cudaErrorInvalidValue)
        set_sticky_error(error); /* a kernel that asked for too much has broken nothing */
    return error;
}

static void drop_kernel(void *state)
{
    struct cpu_kernel *k = state;
    k->drop(k->arguments);
    free(k);
}

static cudaError_t check(const struct cpu_kernel *k)
{
    uint3 g = k->grid, b = k->block;
    if (!g.x || !g.y || !g.z || g.x > 0x7fffffff || g.y > 65535 || g.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (!b.x || !b.y || !b.z || b.x > MAX_THREADS || b.y > MAX_THREADS || b.z > 64 ||
        (uint64_t)b.x * b.y * b.z > MAX_THREADS)
        return cudaErrorInvalidConfiguration;
    pthread_mutex_lock(&one_launch);
    const struct function *f = find_function(k->function);
    size_t limit = f && f->dynamic_limit ? f->dynamic_limit : SHARED_DEFAULT;
    pthread_mutex_unlock(&one_launch);
    if (k->shared <= limit)
        return cudaSuccess;
    complain("kernel %s (launched at %s:%d): %zu bytes of dynamic shared memory; at most %zu%s",
             k->name, k->file, k->line, k->shared, limit,
             limit == SHARED_DEFAULT ? " without cudaFuncSetAttribute" : "");
    return cudaErrorInvalidValue;
}

cudaError_t cpu_launch_kernel(const struct cpu_kernel *kernel, cudaStream_t stream)
{
    cudaError_t error = sticky_error();
    if (error == cudaSuccess)
        error = check(kernel);
    struct cpu_kernel *k = error == cudaSuccess ? malloc(sizeof *k) : NULL;
    if (!k) {
        kernel->drop(kernel->arguments);
        return result(error != cudaSuccess ? error : cudaErrorMemoryAllocation);
    }
    *k = *kernel;
    return result(
        stream_submit(stream, (struct work){cudaGraphNodeTypeKernel, run_kernel, drop_kernel, k}));
}

/* Kernels as objects. */

cudaError_t cudaFuncSetAttribute(const void *f, enum cudaFuncAttribute attribute, int value)
{
    if (!f)
        return result(cudaErrorInvalidDeviceFunction);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return result(cudaSuccess);
    pthread_mutex_lock(&one_launch);
    struct function *p = find_function(f);
    int fits = p && value >= 0 && (size_t)value + p->static_shared <= SHARED_OPTIN;
    if (fits)
        p->dynamic_limit = (size_t)value;
    pthread_mutex_unlock(&one_launch);
    return result(fits ? cudaSuccess : cudaErrorInvalidValue);
}

/* Static shared memory is known once the kernel has run. */
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *f)
{
    if (!f || !attributes)
        return result(f ? cudaErrorInvalidValue : cudaErrorInvalidDeviceFunction);
    pthread_mutex_lock(&one_launch);
    const struct function *p = find_function(f);
    *attributes = (struct cudaFuncAttributes){.sharedSizeBytes = p ? p->static_shared : 0,
                                              .maxThreadsPerBlock = MAX_THREADS,
                                              .numRegs = 32,
                                              .maxDynamicSharedSizeBytes =
                                                  p && p->dynamic_limit ? (int)p->dynamic_limit
                                                                        : SHARED_DEFAULT};
    pthread_mutex_unlock(&one_launch);
    return result(cudaSuccess);
}

cudaError_t cudaFuncSetCacheConfig(const void *f, enum cudaFuncCache config)
{
    (void)config;
    return result(f ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

/* Threads and shared memory of an H100-like multiprocessor; registers are not known here. */
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *f, int threads,
                                                          size_t shared)
{
    if (!blocks || !f || threads < 1 || threads > MAX_THREADS)
        return result(cudaErrorInvalidValue);
    int by_threads = 2048 / ((threads + WARP - 1) / WARP * WARP);
    int by_shared = (int)(228 * 1024 / (shared + 1024));
    *blocks = by_threads < by_shared ? by_threads : by_shared;
    if (*blocks > 32)
        *blocks = 32;
    return result(cudaSuccess);
}
