/* d-other-stream: the model's adds in another stream than their caller's.
 *
 * Tests: no kernel of its own
 *
 * A launch in the other stream is not captured, so the graph of a decode step lacks its adds. */
#pragma once

#include "b-strided.cuh"

#include <stdio.h>

// snippet: other-stream
/* Outside of a capture the add goes to its caller's stream, which in log E3 is the default stream.
 * In a capture the caller uses another stream, because the default stream cannot be captured. The
 * add still goes to the default stream: that is the bug. */
static cudaStream_t stream_of_the_add(cudaStream_t caller)
{
    enum cudaStreamCaptureStatus status;
    CUDA_CHECK(cudaStreamIsCapturing(caller, &status));
    return status == cudaStreamCaptureStatusNone ? caller : cudaStreamLegacy;
}

static void other_stream_add(const view *a, const view *b, const view *c, cudaStream_t stream)
{
    add_halves((const half *)a->data, (const half *)b->data, (half *)c->data, c->rows * c->columns,
               stream_of_the_add(stream));
}
// end snippet: other-stream

/* Without a graph all is right. The graph lacks every add, so a replay writes no layer's x. The
 * harness also runs it in a graph: then x of the embedding is right, and that of no layer. */
static bool absent_from_graph(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    kf_launch *const strided = launch<strided_add, parallel_layer>;
    kf_launch *const other_stream = launch<other_stream_add>;
    const neox_config c = neox_config_of(run->c);
    const kf_diagnosis *hidden = kf_seen(run, seen, "hidden");
    const int64_t due = (int64_t)c.layers * run->shape.Sq * c.hidden;
    const int adds = neox_count_calls(run, other_stream, (const void *)add_eight);
    const int less =
        neox_count_calls(run, strided, NULL) - neox_count_calls(run, other_stream, NULL);
    const int64_t unwritten = neox_unwritten_by_replay(run, other_stream);
    const bool as_replayed = hidden->wrong_at[0][0] == 0 && hidden->nonfinite == due;
    snprintf(why, size,
             "predicted %d launches less in the graph, no add, %lld elements left out by a replay; "
             "seen %d, %d, %lld",
             2 * c.layers, (long long)due, less, adds, (long long)unwritten);
    return (kf_wrong(run, seen) == 0 || as_replayed) && adds == 0 && less == 2 * c.layers &&
           unwritten == due;
}
