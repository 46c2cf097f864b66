/* Events: times on the host's clock, and the places where a capture forks and joins. */
#include "api/stream.h"

#include <stdlib.h>
#include <time.h>

struct CUevent_st {
    unsigned flags;
    int recorded;
    struct timespec time;
    uint64_t capture; /* the capture that it was last recorded in, or 0 */
    struct CUstream_st *source;
    uint64_t position;
    uint32_t clock[TRACE_STREAMS]; /* vector clock over streams, for --check */
};

static cudaError_t create(cudaEvent_t *event, unsigned flags, const void *site)
{
    if (!event)
        return result(cudaErrorInvalidValue);
    *event = calloc(1, sizeof **event);
    if (!*event)
        return result(cudaErrorMemoryAllocation);
    (*event)->flags = flags;
    TRACE_CHECK(handle_made("an event", *event, site));
    return result(cudaSuccess);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    return create(event, flags, __builtin_return_address(0));
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return create(event, cudaEventDefault, __builtin_return_address(0));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    if (!event)
        return result(cudaErrorInvalidResourceHandle);
    TRACE_CHECK(handle_destroyed(event));
    free(event);
    return result(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    pthread_mutex_lock(&stream_lock);
    struct CUstream_st *s = stream_find(stream);
    if (!s || !event)
        return stream_unlock(result(cudaErrorInvalidResourceHandle));
    if (s->capture && s->capture->invalid)
        return stream_unlock(result(cudaErrorStreamCaptureInvalidated));
    if (capture_breaks_legacy(s))
        return stream_unlock(result(cudaErrorStreamCaptureImplicit));
    event->recorded = 1;
    event->capture = s->capture ? s->capture->id : 0;
    event->source = s;
    event->position = s->position;
    clock_gettime(CLOCK_MONOTONIC, &event->time);
    if (!s->capture)
        TRACE_CHECK(stream_record(event->clock, s->number, !(s->flags & cudaStreamNonBlocking)));
    return stream_unlock(result(cudaSuccess));
}

cudaError_t event_record_here(cudaEvent_t event)
{
    event->recorded = 1;
    event->capture = 0;
    clock_gettime(CLOCK_MONOTONIC, &event->time);
    TRACE_CHECK(stream_record_here(event->clock));
    return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    if (flags > cudaEventRecordExternal)
        return result(cudaErrorInvalidValue);
    return cudaEventRecord(event, stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&stream_lock);
    struct CUstream_st *s = stream_find(stream);
    if (!s || !event)
        return stream_unlock(result(cudaErrorInvalidResourceHandle));
    if (capture_breaks_legacy(s))
        return stream_unlock(result(cudaErrorStreamCaptureImplicit));
    if (!event->capture) {
        if (s->capture && event->recorded) { /* a graph cannot wait for an event outside of it */
            s->capture->invalid = 1;
            error = cudaErrorStreamCaptureIsolation;
        } else {
            TRACE_CHECK(stream_wait(s->number, event->clock));
        }
        return stream_unlock(result(error));
    }
    struct CUstream_st *from = stream_find(event->source);
    if (!from || !from->capture || from->capture->id != event->capture)
        return stream_unlock(result(cudaErrorInvalidValue)); /* the capture has ended */
    if (s->capture && s->capture != from->capture) {
        s->capture->invalid = from->capture->invalid = 1;
        return stream_unlock(result(cudaErrorStreamCaptureMerge));
    }
    if (stream_is_legacy(s)) {
        from->capture->invalid = 1;
        return stream_unlock(result(cudaErrorStreamCaptureImplicit));
    }
    s->capture = from->capture; /* fork: this stream is captured from here on */
    s->position++;
    s->unjoined = s != s->capture->origin;
    if (event->position == from->position && s != from)
        from->unjoined = 0;
    return stream_unlock(result(cudaSuccess));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    if (!event)
        return result(cudaErrorInvalidResourceHandle);
    if (event->capture)
        return result(cudaErrorCapturedEvent);
    TRACE_CHECK(grids_done());
    TRACE_CHECK(host_waits_event(event->clock));
    return result(stream_check_unsafe(0));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return cudaEventSynchronize(event);
}

static int reported; /* a time */

static void __attribute__((destructor)) mark_times(void)
{
    if (reported)
        complain("times between events are this CPU's, not a GPU's");
}

/* The time between two events is never 0, as programs divide by it. */
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    if (!start || !end || !start->recorded || !end->recorded ||
        ((start->flags | end->flags) & cudaEventDisableTiming))
        return result(cudaErrorInvalidResourceHandle);
    if (start->capture || end->capture)
        return result(cudaErrorCapturedEvent);
    if (!ms)
        return result(cudaErrorInvalidValue);
    TRACE_CHECK(host_waits_event(start->clock)); /* a program that gets a time knows it */
    TRACE_CHECK(host_waits_event(end->clock));
    *ms = (float)((double)(end->time.tv_sec - start->time.tv_sec) * 1e3 +
                  (double)(end->time.tv_nsec - start->time.tv_nsec) * 1e-6);
    if (*ms == 0 && start != end)
        *ms = 1e-6f;
    reported = 1;
    return result(cudaSuccess);
}
