/* Graphs. A graph is the list of captured calls, with their arguments copied; the order of capture
 * respects every dependency between them, so replay runs the list. */
#include "stream.h"

#include <stdlib.h>

struct CUgraphNode_st {
    struct work work;
};

/* An executable graph is a user of the graph: capture is over, so that never changes. */
struct CUgraph_st {
    atomic_int users;
    size_t count;
    struct CUgraphNode_st **nodes;
};
struct CUgraphExec_st {
    struct CUgraph_st *graph;
};

struct CUgraph_st *graph_new(void)
{
    struct CUgraph_st *g = calloc(1, sizeof *g);
    if (g)
        g->users = 1;
    return g;
}

void graph_add(struct CUgraph_st *g, struct work work)
{
    struct CUgraphNode_st **nodes =
        realloc(g->nodes, (g->count + 1) * sizeof(struct CUgraphNode_st *));
    struct CUgraphNode_st *node = malloc(sizeof *node);
    if (!nodes || !node)
        give_up(1, "no memory for node %zu of a graph", g->count);
    node->work = work;
    g->nodes = nodes;
    g->nodes[g->count++] = node;
}

void graph_release(void *graph)
{
    struct CUgraph_st *g = graph;
    if (--g->users > 0)
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
    g->users++;
    return g;
}

static cudaError_t run_graph(void *state)
{
    const struct CUgraph_st *g = state;
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < g->count && error == cudaSuccess; i++)
        error = g->nodes[i]->work.run(g->nodes[i]->work.state);
    return error;
}

struct work graph_work(cudaGraphExec_t exec)
{
    return (struct work){cudaGraphNodeTypeGraph, run_graph, graph_release, share(exec->graph)};
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    (void)flags;
    if (!exec || !graph)
        return result(cudaErrorInvalidValue);
    *exec = malloc(sizeof **exec);
    if (!*exec)
        return result(cudaErrorMemoryAllocation);
    (*exec)->graph = share(graph);
    TRACE_CHECK(handle_made("an executable graph", *exec, __builtin_return_address(0)), (void)0);
    return result(cudaSuccess);
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
    TRACE_CHECK(handle_destroyed(exec), (void)0);
    graph_release(exec->graph);
    free(exec);
    return result(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    if (!graph)
        return result(cudaErrorInvalidValue);
    TRACE_CHECK(handle_destroyed(graph), (void)0);
    graph_release(graph);
    return result(cudaSuccess);
}
