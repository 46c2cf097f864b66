/* Streams and events. All work is done in the order of the calls, at once, so a stream matters only
 * for what it forbids and for capture (graph.c). */
#include "stream.h"

#include <stdlib.h>
#include <time.h>

struct CUevent_st {
    unsigned flags;
    int recorded;
    struct timespec time;
    uint64_t capture; /* the capture it was last recorded in, or 0 */
    struct CUstream_st *source;
    uint64_t position;
};

static struct CUstream_st legacy, per_thread = {.next = &legacy};
struct CUstream_st *streams = &per_thread;
pthread_mutex_t stream_lock;

static void __attribute__((constructor)) make_lock(void)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&stream_lock, &a);
}

static cudaError_t unlock(cudaError_t error)
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

cudaError_t stream_submit(cudaStream_t stream, struct work work)
{
    cudaError_t error = cudaSuccess;
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
        return unlock(cudaSuccess);
    }
    pthread_mutex_unlock(&stream_lock);
    if (error == cudaSuccess)
        error = work.run(work.state);
    work.drop(work.state);
    return error;
}

static cudaError_t create(cudaStream_t *stream, unsigned flags)
{
    if (!stream || flags > cudaStreamNonBlocking)
        return result(cudaErrorInvalidValue);
    struct CUstream_st *s = calloc(1, sizeof *s);
    if (!s)
        return result(cudaErrorMemoryAllocation);
    pthread_mutex_lock(&stream_lock);
    s->flags = flags;
    s->next = streams;
    streams = s;
    *stream = s;
    return unlock(result(cudaSuccess));
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return create(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return create(stream, flags);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    (void)priority;
    return create(stream, flags);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return result(cudaSuccess);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    pthread_mutex_lock(&stream_lock);
    struct CUstream_st **at = &streams;
    while (*at && *at != stream)
        at = &(*at)->next;
    if (!*at || *at == &legacy || *at == &per_thread)
        return unlock(result(cudaErrorInvalidResourceHandle));
    if (stream->capture)
        return unlock(result(cudaErrorStreamCaptureUnsupported));
    *at = stream->next;
    free(stream);
    return unlock(result(cudaSuccess));
}

/* Waiting for, or asking about, a stream is refused while it captures, and spoils the capture. */
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
    return unlock(result(error));
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
    c->f(c->data);
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t f, void *data)
{
    struct host_call *c = f ? malloc(sizeof *c) : NULL;
    if (!c)
        return result(f ? cudaErrorMemoryAllocation : cudaErrorInvalidValue);
    *c = (struct host_call){f, data};
    return result(
        stream_submit(stream, (struct work){cudaGraphNodeTypeHost, run_host_call, free, c}));
}

/* Events. */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    if (!event)
        return result(cudaErrorInvalidValue);
    *event = calloc(1, sizeof **event);
    if (!*event)
        return result(cudaErrorMemoryAllocation);
    (*event)->flags = flags;
    return result(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    if (!event)
        return result(cudaErrorInvalidResourceHandle);
    free(event);
    return result(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    pthread_mutex_lock(&stream_lock);
    struct CUstream_st *s = stream_find(stream);
    if (!s || !event)
        return unlock(result(cudaErrorInvalidResourceHandle));
    if (s->capture && s->capture->invalid)
        return unlock(result(cudaErrorStreamCaptureInvalidated));
    if (capture_breaks_legacy(s))
        return unlock(result(cudaErrorStreamCaptureImplicit));
    event->recorded = 1;
    event->capture = s->capture ? s->capture->id : 0;
    event->source = s;
    event->position = s->position;
    clock_gettime(CLOCK_MONOTONIC, &event->time);
    return unlock(result(cudaSuccess));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&stream_lock);
    struct CUstream_st *s = stream_find(stream);
    if (!s || !event)
        return unlock(result(cudaErrorInvalidResourceHandle));
    if (capture_breaks_legacy(s))
        return unlock(result(cudaErrorStreamCaptureImplicit));
    if (!event->capture) {
        if (s->capture && event->recorded) { /* a graph cannot wait for what is outside it */
            s->capture->invalid = 1;
            error = cudaErrorStreamCaptureIsolation;
        }
        return unlock(result(error));
    }
    struct CUstream_st *from = stream_find(event->source);
    if (!from || !from->capture || from->capture->id != event->capture)
        return unlock(result(cudaErrorInvalidValue)); /* that capture is over */
    if (s->capture && s->capture != from->capture) {
        s->capture->invalid = from->capture->invalid = 1;
        return unlock(result(cudaErrorStreamCaptureMerge));
    }
    if (stream_is_legacy(s)) {
        from->capture->invalid = 1;
        return unlock(result(cudaErrorStreamCaptureImplicit));
    }
    s->capture = from->capture; /* fork: from here on this stream captures too */
    s->position++;
    s->unjoined = s != s->capture->origin;
    if (event->position == from->position && s != from)
        from->unjoined = 0;
    return unlock(result(cudaSuccess));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    if (!event)
        return result(cudaErrorInvalidResourceHandle);
    if (event->capture)
        return result(cudaErrorCapturedEvent);
    return result(stream_check_unsafe(0));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return cudaEventSynchronize(event);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    if (!start || !end || !start->recorded || !end->recorded ||
        ((start->flags | end->flags) & cudaEventDisableTiming))
        return result(cudaErrorInvalidResourceHandle);
    if (start->capture || end->capture)
        return result(cudaErrorCapturedEvent);
    if (!ms)
        return result(cudaErrorInvalidValue);
    *ms = (float)((double)(end->time.tv_sec - start->time.tv_sec) * 1e3 +
                  (double)(end->time.tv_nsec - start->time.tv_nsec) * 1e-6);
    return result(cudaSuccess);
}
