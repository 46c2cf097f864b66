/* Nodes that a program adds to a graph itself, and their parameters. */
#include "api/stream.h"

#include <stdlib.h>

static const struct work nothing = {.type = cudaGraphNodeTypeEmpty};

/* The work of each kind of node. */

static cudaError_t kernel_work(const struct cudaKernelNodeParams *p, struct work *work)
{
    return p ? launch_work(p, "a node of a graph", 0, 0, NULL, work) : cudaErrorInvalidValue;
}

static cudaError_t set_work(const struct cudaMemsetParams *p, const void *site, struct work *work)
{
    return p ? memory_set(p, site, work) : cudaErrorInvalidValue;
}

static cudaError_t copy_work(const struct cudaMemcpy3DParms *p, const void *site, struct work *work)
{
    return p ? memory_copy_box(p, site, work) : cudaErrorInvalidValue;
}

static cudaError_t host_work(const struct cudaHostNodeParams *p, struct work *work)
{
    return p ? stream_host_work(p->fn, p->userData, work) : cudaErrorInvalidValue;
}

static cudaError_t record(void *state)
{
    return event_record_here(state);
}

static cudaError_t add(cudaError_t error, cudaGraphNode_t *node, cudaGraph_t graph,
                       const cudaGraphNode_t *after, size_t count, struct work work)
{
    return result(error == cudaSuccess ? graph_add_after(node, graph, after, count, work) : error);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaKernelNodeParams *params)
{
    struct work work = nothing;
    cudaError_t error = kernel_work(params, &work);
    return add(error, node, graph, after, count, work);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemcpy3DParms *params)
{
    struct work work = nothing;
    cudaError_t error = copy_work(params, __builtin_return_address(0), &work);
    return add(error, node, graph, after, count, work);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *after, size_t count, void *to,
                                     const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    struct work work = nothing;
    cudaError_t error = memory_copy_row(to, from, bytes, kind, __builtin_return_address(0), &work);
    return add(error, node, graph, after, count, work);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemsetParams *params)
{
    struct work work = nothing;
    cudaError_t error = set_work(params, __builtin_return_address(0), &work);
    return add(error, node, graph, after, count, work);
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *after, size_t count,
                                 const struct cudaHostNodeParams *params)
{
    struct work work = nothing;
    cudaError_t error = host_work(params, &work);
    return add(error, node, graph, after, count, work);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *after, size_t count,
                                       cudaGraph_t child)
{
    struct CUgraph_st *copy = child && child != graph ? graph_copy(child) : NULL;
    if (!copy)
        return result(cudaErrorInvalidValue);
    const struct work work = graph_work(copy);
    graph_release(copy); /* the work is a user of the graph */
    return add(cudaSuccess, node, graph, after, count, work);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                  const cudaGraphNode_t *after, size_t count)
{
    return add(cudaSuccess, node, graph, after, count, nothing);
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                        const cudaGraphNode_t *after, size_t count,
                                        cudaEvent_t event)
{
    const struct work work = {cudaGraphNodeTypeEventRecord, record, NULL, event};
    return add(event ? cudaSuccess : cudaErrorInvalidValue, node, graph, after, count, work);
}

/* A conditional node has graphs of its own. The program fills them after it has added the node,
 * so their nodes are put in order when they run. */
struct conditional {
    struct condition *condition;
    enum cudaGraphConditionalNodeType type;
    unsigned size;
    struct CUgraph_st *body[];
};

static cudaError_t run_body(struct CUgraph_st *body)
{
    struct CUgraph_st *ordered = graph_copy(body);
    if (!ordered)
        return cudaErrorInvalidValue;
    const struct work work = graph_work(ordered);
    cudaError_t error = work.run(work.state);
    work.drop(work.state);
    graph_release(ordered);
    return error;
}

static cudaError_t run_conditional(void *state)
{
    const struct conditional *c = state;
    const struct condition *condition = c->condition;
    cudaError_t error = cudaSuccess;
    if (c->type == cudaGraphCondTypeWhile) {
        while (error == cudaSuccess && condition->value)
            error = run_body(c->body[0]);
        return error;
    }
    const unsigned chosen = c->type == cudaGraphCondTypeIf ? !condition->value : condition->value;
    return chosen < c->size ? run_body(c->body[chosen]) : cudaSuccess;
}

static void drop_conditional(void *state)
{
    struct conditional *c = state;
    for (unsigned i = 0; i < c->size; i++)
        graph_release(c->body[i]);
    c->condition->has_node = 0;
    condition_release(c->condition);
    free(c);
}

static cudaError_t conditional_work(struct cudaConditionalNodeParams *p, struct CUgraph_st *graph,
                                    struct work *work)
{
    struct condition *condition = graph ? condition_of(graph, p->handle) : NULL;
    const unsigned most = p->type == cudaGraphCondTypeWhile ? 1
                          : p->type == cudaGraphCondTypeIf  ? 2
                                                            : 1 << 16;
    if (!condition || condition->has_node || p->type > cudaGraphCondTypeSwitch || p->size < 1 ||
        p->size > most)
        return cudaErrorInvalidValue;
    struct conditional *c =
        need_memory(malloc(sizeof *c + p->size * sizeof(cudaGraph_t)), "a conditional node");
    *c = (struct conditional){condition, p->type, p->size};
    condition->users++;
    condition->has_node = 1;
    for (unsigned i = 0; i < p->size; i++)
        c->body[i] = need_memory(graph_new(), "a graph");
    p->phGraph_out = c->body;
    *work = (struct work){cudaGraphNodeTypeConditional, run_conditional, drop_conditional, c};
    return cudaSuccess;
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                             const cudaGraphEdgeData *edges, size_t count,
                             struct cudaGraphNodeParams *p)
{
    if (!p)
        return result(cudaErrorInvalidValue);
    struct work work = nothing;
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        return cudaGraphAddKernelNode(node, graph, after, count, &p->kernel);
    case cudaGraphNodeTypeMemcpy: {
        cudaError_t error = copy_work(&p->memcpy.copyParams, __builtin_return_address(0), &work);
        return add(error, node, graph, after, count, work);
    }
    case cudaGraphNodeTypeMemset: {
        cudaError_t error = set_work(&p->memset, __builtin_return_address(0), &work);
        return add(error, node, graph, after, count, work);
    }
    case cudaGraphNodeTypeHost:
        return cudaGraphAddHostNode(node, graph, after, count, &p->host);
    case cudaGraphNodeTypeGraph:
        return cudaGraphAddChildGraphNode(node, graph, after, count, p->graph.graph);
    case cudaGraphNodeTypeEmpty:
        return cudaGraphAddEmptyNode(node, graph, after, count);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphAddEventRecordNode(node, graph, after, count, p->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc:
        return cudaGraphAddMemAllocNode(node, graph, after, count, &p->alloc);
    case cudaGraphNodeTypeMemFree:
        return cudaGraphAddMemFreeNode(node, graph, after, count, p->free.dptr);
    case cudaGraphNodeTypeConditional: {
        cudaError_t error = conditional_work(&p->conditional, graph, &work);
        return add(error, node, graph, after, count, work);
    }
    default:
        return result(cudaErrorNotSupported);
    }
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *after, size_t count,
                                     struct cudaMemAllocNodeParams *params)
{
    struct work work = nothing;
    TRACE_CHECK(site(__builtin_return_address(0)));
    cudaError_t error = params ? memory_graph_allocate(&params->dptr, params->bytesize, &work)
                               : cudaErrorInvalidValue;
    return add(error, node, graph, after, count, work);
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                    const cudaGraphNode_t *after, size_t count, void *p)
{
    struct work work = nothing;
    cudaError_t error = memory_graph_free(p, __builtin_return_address(0), &work);
    return add(error, node, graph, after, count, work);
}

/* New parameters, of a node of the executable graph, or of the node itself if exec is NULL. */

static cudaError_t change(cudaError_t error, cudaGraphExec_t exec, cudaGraphNode_t node,
                          struct work work)
{
    return result(error == cudaSuccess ? graph_set_work(exec, node, work) : error);
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaKernelNodeParams *params)
{
    struct work work = nothing;
    cudaError_t error = kernel_work(params, &work);
    return change(error, NULL, node, work);
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *params)
{
    struct work work = nothing;
    cudaError_t error = exec ? kernel_work(params, &work) : cudaErrorInvalidValue;
    return change(error, exec, node, work);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                               const void *from, size_t bytes,
                                               enum cudaMemcpyKind kind)
{
    struct work work = nothing;
    cudaError_t error =
        exec ? memory_copy_row(to, from, bytes, kind, __builtin_return_address(0), &work)
             : cudaErrorInvalidValue;
    return change(error, exec, node, work);
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *params)
{
    struct work work = nothing;
    cudaError_t error =
        exec ? set_work(params, __builtin_return_address(0), &work) : cudaErrorInvalidValue;
    return change(error, exec, node, work);
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const struct cudaHostNodeParams *params)
{
    struct work work = nothing;
    cudaError_t error = exec ? host_work(params, &work) : cudaErrorInvalidValue;
    return change(error, exec, node, work);
}
