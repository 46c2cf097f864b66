/* Streams. Work runs in the order of the calls, at once. So a stream matters only for captures
 * and for calls that it forbids. */
#include "api/stream.h"

#include <stdlib.h>

static struct CUstream_st legacy, per_thread = {.number = 1, .id = 1, .next = &legacy};
static struct CUstream_st *streams = &per_thread; /* all, the legacy default stream last */
pthread_mutex_t stream_lock;
static uint64_t captures;

static void __attribute__((constructor)) make_lock(void)
{
    pthread_mutexattr_t a;
    if (pthread_mutexattr_init(&a) || pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE) ||
        pthread_mutex_init(&stream_lock, &a))
        give_up(1, "no lock for streams");
}

cudaError_t stream_unlock(cudaError_t error)
{
    pthread_mutex_unlock(&stream_lock);
    return error;
}

struct CUstream_st *stream_find(cudaStream_t stream)
{
    if (!stream || stream == cudaStreamLegacy)
        return &legacy;
    if (stream == cudaStreamPerThread)
        return &per_thread;
    struct CUstream_st *s = streams;
    while (s && s != stream)
        s = s->next;
    return s;
}

int stream_is_legacy(const struct CUstream_st *s)
{
    return s == &legacy;
}

int capture_breaks_legacy(const struct CUstream_st *s)
{
    int broken = 0;
    if (!stream_is_legacy(s))
        return 0;
    for (const struct CUstream_st *t = streams; t; t = t->next)
        if (t->capture && !(t->flags & cudaStreamNonBlocking))
            broken = t->capture->invalid = 1;
    return broken;
}

cudaError_t stream_check_unsafe(int waits)
{
    cudaError_t error = sticky_error();
    pthread_mutex_lock(&stream_lock);
    for (const struct CUstream_st *t = streams; t; t = t->next) {
        struct capture *c = t->capture;
        if (c && (waits || c->mode == cudaStreamCaptureModeGlobal ||
                  (c->mode == cudaStreamCaptureModeThreadLocal &&
                   pthread_equal(c->thread, pthread_self())))) {
            c->invalid = 1;
            error = cudaErrorStreamCaptureUnsupported;
        }
    }
    pthread_mutex_unlock(&stream_lock);
    return error;
}

cudaError_t stream_submit(cudaStream_t stream, struct work work)
{
    cudaError_t error = cudaSuccess;
    if (cpu_in_kernel())
        return children_add(stream, work);
    if (sticky_error() != cudaSuccess) {
        work.drop(work.state);
        return sticky_error();
    }
    pthread_mutex_lock(&stream_lock);
    struct CUstream_st *s = stream_find(stream);
    if (!s)
        error = cudaErrorInvalidResourceHandle;
    else if (s->capture && s->capture->invalid)
        error = cudaErrorStreamCaptureInvalidated;
    else if (capture_breaks_legacy(s))
        error = cudaErrorStreamCaptureImplicit;
    else if (s->capture) {
        graph_add(s->capture->graph, work);
        s->position++;
        s->unjoined = s != s->capture->origin;
        return stream_unlock(cudaSuccess);
    }
    if (error == cudaSuccess)
        TRACE_CHECK(stream_work(s->number, !(s->flags & cudaStreamNonBlocking)));
    pthread_mutex_unlock(&stream_lock);
    if (error == cudaSuccess)
        error = work.run(work.state);
    work.drop(work.state);
    return error;
}

void stream_host_waits(cudaStream_t stream)
{
    pthread_mutex_lock(&stream_lock);
    const struct CUstream_st *s = cpu_in_kernel() ? NULL : stream_find(stream);
    if (s && !s->capture)
        TRACE_CHECK(host_waits(s->number, !(s->flags & cudaStreamNonBlocking)));
    pthread_mutex_unlock(&stream_lock);
}

/* The numbers of streams that are there: 0 and 1 are the default streams'. The last number is for
 * all streams that get no other. A number is used again as late as may be, as the work of both
 * streams passes for that of one. */
static uint64_t numbers = 3;

static int new_number(void)
{
    static int last = 1;
    for (int i = 1; i < TRACE_STREAMS; i++) {
        const int n = (last + i) % (TRACE_STREAMS - 1);
        if (!(numbers >> n & 1)) {
            numbers |= (uint64_t)1 << n;
            return last = n;
        }
    }
    return TRACE_STREAMS - 1;
}

enum { GREATEST = -5 }; /* the highest priority; the lowest is 0 */

static cudaError_t create(cudaStream_t *stream, unsigned flags, int priority, const void *site)
{
    if (cpu_in_kernel())
        return result(children_make_stream(stream, flags));
    if (!stream || flags > cudaStreamNonBlocking)
        return result(cudaErrorInvalidValue);
    struct CUstream_st *s = calloc(1, sizeof *s);
    if (!s)
        return result(cudaErrorMemoryAllocation);
    pthread_mutex_lock(&stream_lock);
    static unsigned long long last_id = 1;
    s->id = ++last_id;
    s->flags = flags;
    s->priority = priority > 0 ? 0 : priority < GREATEST ? GREATEST : priority;
    s->number = new_number();
    s->next = streams;
    streams = s;
    *stream = s;
    TRACE_CHECK(handle_list(&streams));
    TRACE_CHECK(handle_made("a stream", s, site));
    return stream_unlock(result(cudaSuccess));
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return create(stream, cudaStreamDefault, 0, __builtin_return_address(0));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return create(stream, flags, 0, __builtin_return_address(0));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    return create(stream, flags, priority, __builtin_return_address(0));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = GREATEST;
    return result(cudaSuccess);
}

static cudaError_t look_up(cudaStream_t stream, struct CUstream_st *found)
{
    pthread_mutex_lock(&stream_lock);
    const struct CUstream_st *s = stream_find(stream);
    if (s)
        *found = *s;
    return stream_unlock(s ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    struct CUstream_st s;
    cudaError_t error = flags ? look_up(stream, &s) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *flags = s.flags;
    return result(error);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    struct CUstream_st s;
    cudaError_t error = priority ? look_up(stream, &s) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *priority = s.priority;
    return result(error);
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    struct CUstream_st s;
    cudaError_t error = id ? look_up(stream, &s) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *id = s.id;
    return result(error);
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    struct CUstream_st s;
    cudaError_t error = device ? look_up(stream, &s) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *device = 0;
    return result(error);
}

/* Access policies and synchronisation policies have no effect here. */
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue *value)
{
    struct CUstream_st s;
    if (!value || (attribute != cudaLaunchAttributeAccessPolicyWindow &&
                   attribute != cudaLaunchAttributeSynchronizationPolicy &&
                   attribute != cudaLaunchAttributePriority))
        return result(cudaErrorInvalidValue);
    return result(look_up(stream, &s));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if (cpu_in_kernel())
        return result(children_stream_made(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
    pthread_mutex_lock(&stream_lock);
    struct CUstream_st **at = &streams;
    while (*at && *at != stream)
        at = &(*at)->next;
    if (!*at || *at == &legacy || *at == &per_thread)
        return stream_unlock(result(cudaErrorInvalidResourceHandle));
    if (stream->capture && stream->capture->origin == stream)
        return stream_unlock(result(cudaErrorStreamCaptureUnsupported));
    if (stream->capture && stream->unjoined)
        stream->capture->invalid = 1;
    *at = stream->next;
    if (stream->number < TRACE_STREAMS - 1)
        numbers &= ~((uint64_t)1 << stream->number);
    TRACE_CHECK(handle_destroyed(stream));
    free(stream);
    return stream_unlock(result(cudaSuccess));
}

/* To wait for a stream that is captured, or to query it, is refused and invalidates the capture. */
cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&stream_lock);
    struct CUstream_st *s = stream_find(stream);
    if (!s)
        error = cudaErrorInvalidResourceHandle;
    else if (s->capture) {
        s->capture->invalid = 1;
        error = cudaErrorStreamCaptureUnsupported;
    } else if (capture_breaks_legacy(s))
        error = cudaErrorStreamCaptureImplicit;
    else {
        TRACE_CHECK(grids_done());
        TRACE_CHECK(host_waits(s->number, !(s->flags & cudaStreamNonBlocking)));
    }
    return stream_unlock(result(error));
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return cudaStreamSynchronize(stream);
}

struct host_call {
    cudaHostFn_t f;
    void *data;
};

static cudaError_t run_host_call(void *state)
{
    const struct host_call *c = state;
    TRACE_CHECK(host_function(1));
    c->f(c->data);
    TRACE_CHECK(host_function(0));
    return cudaSuccess;
}

cudaError_t stream_host_work(cudaHostFn_t f, void *data, struct work *work)
{
    struct host_call *c = f ? malloc(sizeof *c) : NULL;
    if (!c)
        return f ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
    *c = (struct host_call){f, data};
    *work = (struct work){cudaGraphNodeTypeHost, run_host_call, free, c};
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t f, void *data)
{
    struct work work;
    cudaError_t error = stream_host_work(f, data, &work);
    return result(error == cudaSuccess ? stream_submit(stream, work) : error);
}

struct callback {
    cudaStream_t stream;
    cudaStreamCallback_t f;
    void *data;
};

static cudaError_t run_callback(void *state)
{
    const struct callback *c = state;
    TRACE_CHECK(host_function(1));
    c->f(c->stream, sticky_error(), c->data);
    TRACE_CHECK(host_function(0));
    return cudaSuccess;
}

/* A callback, unlike a host function, cannot be a node of a graph. */
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t f, void *data,
                                  unsigned flags)
{
    struct CUstream_st s;
    cudaError_t error = f && !flags ? look_up(stream, &s) : cudaErrorInvalidValue;
    if (error == cudaSuccess && s.capture)
        error = cudaErrorStreamCaptureUnsupported;
    struct callback *c = error == cudaSuccess ? malloc(sizeof *c) : NULL;
    if (!c)
        return result(error == cudaSuccess ? cudaErrorMemoryAllocation : error);
    *c = (struct callback){stream, f, data};
    return result(
        stream_submit(stream, (struct work){cudaGraphNodeTypeHost, run_callback, free, c}));
}

cudaError_t cpu_library_call(cudaStream_t stream, cudaError_t (*run)(void *state),
                             void (*drop)(void *state), void *state)
{
    return result(stream_submit(stream, (struct work){cudaGraphNodeTypeHost, run, drop, state}));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    if (!exec)
        return result(cudaErrorInvalidValue);
    if (sticky_error() != cudaSuccess)
        return result(cudaSuccess);
    return result(stream_submit(stream, graph_work(graph_of(exec))));
}

/* --- Captures --------------------------------------------------------------------------------- */

/* Captures into g, or into a new graph if g is NULL. */
static cudaError_t begin_capture(cudaStream_t stream, struct CUgraph_st *g,
                                 enum cudaStreamCaptureMode mode)
{
    const int given = g != NULL;
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&stream_lock);
    struct CUstream_st *s = stream_find(stream);
    struct capture *c = calloc(1, sizeof *c);
    if (!given)
        g = graph_new();
    if (!c || !g)
        error = cudaErrorMemoryAllocation;
    else if (!s)
        error = cudaErrorInvalidResourceHandle;
    else if (stream_is_legacy(s))
        error = cudaErrorStreamCaptureUnsupported;
    else if (s->capture)
        error = cudaErrorIllegalState;
    if (error == cudaSuccess) {
        *c = (struct capture){g, s, mode, pthread_self(), 0, given, ++captures};
        s->capture = c;
        s->position = 0;
        s->unjoined = 0;
    } else {
        free(c);
        if (g && !given)
            graph_release(g);
    }
    pthread_mutex_unlock(&stream_lock);
    return result(error);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    return begin_capture(stream, NULL, mode);
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t *after,
                                          const cudaGraphEdgeData *edges, size_t count,
                                          enum cudaStreamCaptureMode mode)
{
    if (!graph || (count && !after))
        return result(cudaErrorInvalidValue);
    return begin_capture(stream, graph, mode);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **after, const cudaGraphEdgeData **edges,
                                     size_t *count)
{
    cudaError_t error = cudaStreamIsCapturing(stream, status);
    if (error != cudaSuccess)
        return error;
    pthread_mutex_lock(&stream_lock);
    const struct CUstream_st *s = stream_find(stream);
    const struct capture *c = s ? s->capture : NULL;
    const cudaGraphNode_t *last = c ? graph_last(c->graph) : NULL;
    if (id)
        *id = c ? c->id : 0;
    if (graph)
        *graph = c ? c->graph : NULL;
    if (after)
        *after = last;
    if (edges)
        *edges = NULL;
    if (count)
        *count = last != NULL;
    return stream_unlock(cudaSuccess);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *after,
                                                const cudaGraphEdgeData *edges, size_t count,
                                                unsigned flags)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (flags > cudaStreamSetCaptureDependencies || (count && !after))
        return result(cudaErrorInvalidValue);
    cudaError_t error = cudaStreamIsCapturing(stream, &status);
    return result(error == cudaSuccess && status != cudaStreamCaptureStatusActive
                      ? cudaErrorIllegalState
                      : error);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&stream_lock);
    struct CUstream_st *s = stream_find(stream);
    struct capture *c = s ? s->capture : NULL;
    if (!s)
        error = cudaErrorInvalidResourceHandle;
    else if (!c)
        error = graph ? cudaErrorIllegalState : cudaErrorInvalidValue;
    else if (!graph && !c->given)
        error = cudaErrorInvalidValue;
    else if (c->origin != s)
        error = cudaErrorStreamCaptureUnmatched;
    else if (c->mode != cudaStreamCaptureModeRelaxed && !pthread_equal(c->thread, pthread_self()))
        error = cudaErrorStreamCaptureWrongThread;
    if (error == cudaSuccess) {
        int unjoined = 0;
        for (struct CUstream_st *t = streams; t; t = t->next)
            if (t->capture == c) {
                unjoined |= t->unjoined;
                t->capture = NULL;
            }
        if (c->invalid || unjoined) {
            error = c->invalid ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnjoined;
            if (!c->given)
                graph_release(c->graph);
            if (graph)
                *graph = NULL;
        } else if (c->given) {
            if (graph)
                *graph = c->graph;
        } else {
            *graph = c->graph;
            TRACE_CHECK(handle_made("a graph", c->graph, __builtin_return_address(0)));
        }
        free(c);
    }
    pthread_mutex_unlock(&stream_lock);
    return result(error);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    pthread_mutex_lock(&stream_lock);
    const struct CUstream_st *s = stream_find(stream);
    cudaError_t error = !status                    ? cudaErrorInvalidValue
                        : !s                       ? cudaErrorInvalidResourceHandle
                        : capture_breaks_legacy(s) ? cudaErrorStreamCaptureImplicit
                                                   : cudaSuccess;
    if (error == cudaSuccess)
        *status = !s->capture           ? cudaStreamCaptureStatusNone
                  : s->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
    pthread_mutex_unlock(&stream_lock);
    return result(error);
}
