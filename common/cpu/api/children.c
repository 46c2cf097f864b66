/* Children: the kernels that a kernel launches, and its copies and memsets. They run after their
 * grid has ended, in the order of the calls, block after block, tail launches last. A GPU may
 * choose that order too, as a kernel cannot wait for its children; within a stream it is the
 * only one. A grid is complete when its children are: they run before the next work of the
 * grid's stream. */
#include "api/api.h"

#include <pthread.h>
#include <stdlib.h>

struct child {
    struct work work;
    uint64_t block; /* its index in the order of blocks */
    size_t number;  /* counts all children */
    uint32_t when;  /* for check */
    int tail;
};

/* A stream that a kernel makes is only a name, as all children run in order. */
static char made_by_kernels;
#define DEVICE_STREAM ((cudaStream_t)(void *)&made_by_kernels)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the lists of launches */

static int depth; /* nesting of the running kernel: 0 if the host launched it */

cudaError_t children_allow(const struct cpu_kernel *k, cudaStream_t stream)
{
    enum { DEEPEST = 24 };
    if (k->together)
        return cudaErrorNotPermitted;
    if (depth < DEEPEST || stream == cudaStreamTailLaunch)
        return cudaSuccess;
    if (!atomic_exchange(&cpu_worker->launch->told_depth, 1))
        complain("kernel %s (launched at %s:%d) does not run: %d launches by kernels below one by "
                 "the host are the most that may follow on each other",
                 k->name, k->file, k->line, DEEPEST);
    return cudaErrorLaunchMaxDepthExceeded;
}

int children_stream_made(cudaStream_t stream)
{
    return stream == DEVICE_STREAM;
}

cudaError_t children_make_stream(cudaStream_t *stream, unsigned flags)
{
    if (!stream || flags != cudaStreamNonBlocking)
        return cudaErrorInvalidValue;
    *stream = DEVICE_STREAM;
    return cudaSuccess;
}

/* Blocks come in the order of threads (CUDACPU_ORDER). */
static uint64_t block_key(const struct launch *l, uint64_t place)
{
    if (l->order == ORDER_FORWARD)
        return place;
    return l->order == ORDER_REVERSE ? ~place : (place ^ l->seed) * 0x9e3779b97f4a7c15u;
}

cudaError_t children_add(cudaStream_t stream, struct work work)
{
    struct launch *l = cpu_worker->launch;
    if (stream && stream != cudaStreamLegacy && stream != cudaStreamPerThread &&
        stream != cudaStreamFireAndForget && stream != cudaStreamTailLaunch &&
        stream != DEVICE_STREAM) {
        work.drop(work.state);
        return cudaErrorInvalidResourceHandle; /* a stream of the host */
    }
    struct child c = {.work = work,
                      .block = block_key(l, cpu_worker->place),
                      .when = TRACE_CHECK_OR(child_time(), 0),
                      .tail = stream == cudaStreamTailLaunch};
    pthread_mutex_lock(&lock);
    c.number = l->n_children;
    if ((l->n_children & (l->n_children - 1)) == 0)
        l->children =
            need_memory(realloc(l->children, (l->n_children ? 2 * l->n_children : 1) * sizeof c),
                        "what kernels launch");
    l->children[l->n_children++] = c;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

static int by_order(const void *a, const void *b)
{
    const struct child *x = a, *y = b;
    if (x->tail != y->tail)
        return x->tail - y->tail;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

void children_run(struct launch *l)
{
    if (!l->n_children)
        return;
    const uint32_t end = TRACE_CHECK_OR(child_time(), 0);
    (void)end;
    qsort(l->children, l->n_children, sizeof *l->children, by_order);
    for (size_t i = 0; i < l->n_children; i++) {
        const struct child *c = &l->children[i];
        cudaError_t error = (cudaError_t)l->error;
        if (error == cudaSuccess) {
            TRACE_CHECK(child_begins(c->tail ? end : c->when, end));
            depth += !c->tail;
            error = c->work.run(c->work.state);
            depth -= !c->tail;
            TRACE_CHECK(child_ended());
        }
        if (error != cudaSuccess && !l->error)
            l->error = (int)error;
        c->work.drop(c->work.state);
    }
    free(l->children);
}
