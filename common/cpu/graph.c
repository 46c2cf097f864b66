/* Stream capture and graphs. A graph is the list of captured calls, with their arguments copied;
 * the order of capture respects every dependency between them, so replay runs the list. */
#include "stream.h"

#include <stdlib.h>

struct CUgraphNode_st {
    struct work work;
};

/* An executable graph is the same object, counted: capture is over, so it never changes. */
struct CUgraph_st {
    int users;
    size_t count;
    struct CUgraphNode_st **nodes;
};
struct CUgraphExec_st {
    struct CUgraph_st graph;
};

static uint64_t captures;

void graph_add(struct CUgraph_st *g, struct work work)
{
    struct CUgraphNode_st **nodes =
        realloc(g->nodes, (g->count + 1) * sizeof(struct CUgraphNode_st *));
    struct CUgraphNode_st *node = malloc(sizeof *node);
    if (!nodes || !node) {
        complain("no memory for node %zu of a graph", g->count);
        exit(1);
    }
    node->work = work;
    g->nodes = nodes;
    g->nodes[g->count++] = node;
}

static void release(void *graph)
{
    struct CUgraph_st *g = graph;
    pthread_mutex_lock(&stream_lock);
    int last = --g->users == 0;
    pthread_mutex_unlock(&stream_lock);
    if (!last)
        return;
    for (size_t i = 0; i < g->count; i++) {
        g->nodes[i]->work.drop(g->nodes[i]->work.state);
        free(g->nodes[i]);
    }
    free(g->nodes);
    free(g);
}

static struct CUgraph_st *share(struct CUgraph_st *g)
{
    pthread_mutex_lock(&stream_lock);
    g->users++;
    pthread_mutex_unlock(&stream_lock);
    return g;
}

/* Captures. */

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

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&stream_lock);
    struct CUstream_st *s = stream_find(stream);
    struct capture *c = calloc(1, sizeof *c);
    struct CUgraph_st *g = calloc(1, sizeof *g);
    if (!c || !g)
        error = cudaErrorMemoryAllocation;
    else if (!s)
        error = cudaErrorInvalidResourceHandle;
    else if (stream_is_legacy(s))
        error = cudaErrorStreamCaptureUnsupported;
    else if (s->capture)
        error = cudaErrorIllegalState;
    if (error == cudaSuccess) {
        g->users = 1;
        *c = (struct capture){g, s, mode, pthread_self(), 0, ++captures};
        s->capture = c;
        s->position = 0;
        s->unjoined = 0;
    } else {
        free(c);
        free(g);
    }
    pthread_mutex_unlock(&stream_lock);
    return result(error);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&stream_lock);
    struct CUstream_st *s = stream_find(stream);
    struct capture *c = s ? s->capture : NULL;
    if (!graph || !s)
        error = graph ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
    else if (!c)
        error = cudaErrorIllegalState;
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
            release(c->graph);
            *graph = NULL;
        } else {
            *graph = c->graph;
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

/* Graphs. */

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    (void)flags;
    if (!exec || !graph)
        return result(cudaErrorInvalidValue);
    *exec = (cudaGraphExec_t)share(graph);
    return result(cudaSuccess);
}

static cudaError_t run_graph(void *state)
{
    const struct CUgraph_st *g = state;
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < g->count && error == cudaSuccess; i++)
        error = g->nodes[i]->work.run(g->nodes[i]->work.state);
    return error;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    if (!exec)
        return result(cudaErrorInvalidValue);
    if (sticky_error() != cudaSuccess)
        return result(cudaSuccess);
    return result(stream_submit(
        stream, (struct work){cudaGraphNodeTypeGraph, run_graph, release, share(&exec->graph)}));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    (void)stream;
    return result(exec ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    if (!graph || !count)
        return result(cudaErrorInvalidValue);
    for (size_t i = 0; nodes && i < *count; i++)
        nodes[i] = i < graph->count ? graph->nodes[i] : NULL;
    if (!nodes || *count > graph->count)
        *count = graph->count;
    return result(cudaSuccess);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    if (!node || !type)
        return result(cudaErrorInvalidValue);
    *type = node->work.type;
    return result(cudaSuccess);
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params)
{
    if (!node || !params || node->work.type != cudaGraphNodeTypeKernel)
        return result(cudaErrorInvalidValue);
    const struct cpu_kernel *k = node->work.state;
    *params = (struct cudaKernelNodeParams){
        .func = (void *)k->function,
        .gridDim = {k->grid.x, k->grid.y, k->grid.z},
        .blockDim = {k->block.x, k->block.y, k->block.z},
        .sharedMemBytes = (unsigned)k->shared,
    };
    return result(cudaSuccess);
}

/* It stays the node's: not to be destroyed. */
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph)
{
    if (!node || !graph || node->work.type != cudaGraphNodeTypeGraph)
        return result(cudaErrorInvalidValue);
    *graph = node->work.state;
    return result(cudaSuccess);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    if (!exec)
        return result(cudaErrorInvalidValue);
    release(&exec->graph);
    return result(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    if (!graph)
        return result(cudaErrorInvalidValue);
    release(graph);
    return result(cudaSuccess);
}
