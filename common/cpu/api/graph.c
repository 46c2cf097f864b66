/* Graphs: lists of work. A graph that is captured, or to which nodes are added, may still
 * change. An executable graph is a copy whose nodes stand in an order that respects every
 * dependency, so running it is running the list. Copies of a node share its work, which never
 * changes: new parameters are new work. */
#include "api/stream.h"

#include <stdlib.h>
#include <string.h>

struct shared_work {
    atomic_int users;
    struct work work; /* run is NULL for an empty node */
};

struct CUgraphNode_st {
    struct shared_work *shared;
    struct CUgraph_st *graph;
    const struct CUgraphNode_st
        *original;                 /* the node that this one was copied from; for comparison only */
    struct CUgraphNode_st **after; /* nodes that it depends on */
    size_t n_after;
    struct CUgraphNode_st *copy; /* its copy, while the graph is copied; UNDER_WAY */
};

struct CUgraph_st {
    atomic_int users;
    size_t count;
    struct CUgraphNode_st **nodes;
    size_t n_conditions;
    struct condition **conditions; /* conditions that were made for this graph */
    int frees_first; /* for an executable graph: memory that is still allocated is freed before a
                        run */
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

static void release_work(struct shared_work *shared)
{
    if (--shared->users > 0)
        return;
    if (shared->work.drop)
        shared->work.drop(shared->work.state);
    free(shared);
}

static struct shared_work *share_work(struct shared_work *shared)
{
    shared->users++;
    return shared;
}

static struct shared_work *new_work(struct work work)
{
    struct shared_work *shared = need_memory(malloc(sizeof *shared), "a node of a graph");
    shared->users = 1;
    shared->work = work;
    return shared;
}

static struct CUgraphNode_st *append(struct CUgraph_st *g, struct shared_work *shared)
{
    struct CUgraphNode_st *node = need_memory(calloc(1, sizeof *node), "a node of a graph");
    g->nodes = need_memory(realloc(g->nodes, (g->count + 1) * sizeof(struct CUgraphNode_st *)),
                           "the nodes of a graph");
    node->shared = shared;
    node->graph = g;
    g->nodes[g->count++] = node;
    return node;
}

void graph_add(struct CUgraph_st *g, struct work work)
{
    append(g, new_work(work));
}

void condition_release(struct condition *c)
{
    if (--c->users == 0)
        free(c);
}

static void own(struct CUgraph_st *g, struct condition *c)
{
    g->conditions = need_memory(realloc(g->conditions, (g->n_conditions + 1) * sizeof(void *)),
                                "the conditions of a graph");
    g->conditions[g->n_conditions++] = c;
    c->users++;
}

/* A handle is the address of the condition, valid as long as a graph has it. */
struct condition *condition_of(struct CUgraph_st *g, cudaGraphConditionalHandle handle)
{
    for (size_t i = 0; i < g->n_conditions; i++)
        if ((uintptr_t)g->conditions[i] == handle)
            return g->conditions[i];
    return NULL;
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph,
                                             unsigned value, unsigned flags)
{
    if (!handle || !graph || flags > cudaGraphCondAssignDefault)
        return result(cudaErrorInvalidValue);
    struct condition *c = calloc(1, sizeof *c);
    if (!c)
        return result(cudaErrorMemoryAllocation);
    c->initial = value;
    c->assigned = flags == cudaGraphCondAssignDefault;
    own(graph, c);
    *handle = (uintptr_t)c;
    return result(cudaSuccess);
}

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value)
{
    ((struct condition *)(uintptr_t)handle)->value = value;
}

static void depend(struct CUgraphNode_st *node, struct CUgraphNode_st *on)
{
    node->after =
        need_memory(realloc(node->after, (node->n_after + 1) * sizeof(struct CUgraphNode_st *)),
                    "the dependencies of a graph");
    node->after[node->n_after++] = on;
}

cudaError_t graph_add_after(cudaGraphNode_t *node, cudaGraph_t g, const cudaGraphNode_t *after,
                            size_t count, struct work work)
{
    int fits = node && g && (after || !count);
    for (size_t i = 0; fits && i < count; i++)
        fits = after[i] && after[i]->graph == g;
    if (!fits) {
        if (work.drop)
            work.drop(work.state);
        return cudaErrorInvalidValue;
    }
    *node = append(g, new_work(work));
    for (size_t i = 0; i < count; i++)
        depend(*node, after[i]);
    return cudaSuccess;
}

static void free_node(struct CUgraphNode_st *node)
{
    release_work(node->shared);
    free(node->after);
    free(node);
}

void graph_release(void *graph)
{
    struct CUgraph_st *g = graph;
    if (--g->users > 0)
        return;
    for (size_t i = 0; i < g->count; i++)
        free_node(g->nodes[i]);
    for (size_t i = 0; i < g->n_conditions; i++)
        condition_release(g->conditions[i]);
    free(g->conditions);
    free(g->nodes);
    free(g);
}

/* Copies a node after the nodes that it depends on. False: it depends on itself. */
static int copy_node(struct CUgraph_st *to, struct CUgraphNode_st *node)
{
    static struct CUgraphNode_st in_flight;
    if (node->copy)
        return node->copy != &in_flight;
    node->copy = &in_flight;
    for (size_t i = 0; i < node->n_after; i++)
        if (!copy_node(to, node->after[i]))
            return 0;
    node->copy = append(to, share_work(node->shared));
    node->copy->original = node;
    for (size_t i = 0; i < node->n_after; i++)
        depend(node->copy, node->after[i]->copy);
    return 1;
}

struct CUgraph_st *graph_copy(struct CUgraph_st *g)
{
    struct CUgraph_st *copy = need_memory(graph_new(), "a graph");
    int done = 1;
    for (size_t i = 0; i < g->count; i++)
        g->nodes[i]->copy = NULL;
    for (size_t i = 0; done && i < g->count; i++)
        done = copy_node(copy, g->nodes[i]);
    for (size_t i = 0; i < g->n_conditions; i++)
        own(copy, g->conditions[i]);
    if (!done)
        graph_release(copy);
    return done ? copy : NULL;
}

static __thread int frees_first;
int graph_frees_first(void)
{
    return frees_first;
}

const cudaGraphNode_t *graph_last(const struct CUgraph_st *g)
{
    return g->count ? &g->nodes[g->count - 1] : NULL;
}

static cudaError_t run_graph(void *state)
{
    const struct CUgraph_st *g = state;
    cudaError_t error = cudaSuccess;
    frees_first |= g->frees_first;
    for (size_t i = 0; i < g->n_conditions; i++)
        if (g->conditions[i]->assigned)
            g->conditions[i]->value = g->conditions[i]->initial;
    for (size_t i = 0; i < g->count && error == cudaSuccess; i++) {
        const struct work *work = &g->nodes[i]->shared->work;
        error = work->run ? work->run(work->state) : cudaSuccess;
    }
    if (g->frees_first)
        frees_first = 0;
    return error;
}

struct work graph_work(struct CUgraph_st *g)
{
    g->users++;
    return (struct work){cudaGraphNodeTypeGraph, run_graph, graph_release, g};
}

struct CUgraph_st *graph_of(cudaGraphExec_t exec)
{
    return exec->graph;
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
    if (!graph || flags)
        return result(cudaErrorInvalidValue);
    *graph = graph_new();
    if (!*graph)
        return result(cudaErrorMemoryAllocation);
    TRACE_CHECK(handle_made("a graph", *graph, __builtin_return_address(0)));
    return result(cudaSuccess);
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    if (!clone || !graph)
        return result(cudaErrorInvalidValue);
    *clone = graph_copy(graph);
    if (!*clone)
        return result(cudaErrorInvalidValue);
    TRACE_CHECK(handle_made("a graph", *clone, __builtin_return_address(0)));
    return result(cudaSuccess);
}

static struct CUgraphNode_st *find_copy(const struct CUgraph_st *g, cudaGraphNode_t original)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->nodes[i]->original == original)
            return g->nodes[i];
    return NULL;
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *node, cudaGraphNode_t original,
                                     cudaGraph_t clone)
{
    if (!node || !original || !clone)
        return result(cudaErrorInvalidValue);
    *node = find_copy(clone, original);
    return result(*node ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
                                     size_t count)
{
    int fits = graph && ((from && to) || !count);
    for (size_t i = 0; fits && i < count; i++)
        fits = from[i] && to[i] && from[i]->graph == graph && to[i]->graph == graph;
    for (size_t i = 0; fits && i < count; i++)
        depend(to[i], from[i]);
    return result(fits ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    if (!node)
        return result(cudaErrorInvalidValue);
    struct CUgraph_st *g = node->graph;
    for (size_t i = 0, kept = 0, count = g->count; i < count; i++) {
        struct CUgraphNode_st *other = g->nodes[i];
        size_t left = 0;
        for (size_t k = 0; k < other->n_after; k++)
            if (other->after[k] != node)
                other->after[left++] = other->after[k];
        other->n_after = left;
        if (other != node)
            g->nodes[kept++] = other;
        g->count = kept;
    }
    free_node(node);
    return result(cudaSuccess);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    if (!exec || !graph)
        return result(cudaErrorInvalidValue);
    for (size_t i = 0; i < graph->n_conditions; i++)
        if (!graph->conditions[i]->has_node) /* a handle that no conditional node uses */
            return result(cudaErrorInvalidValue);
    *exec = malloc(sizeof **exec);
    if (!*exec)
        return result(cudaErrorMemoryAllocation);
    (*exec)->graph = graph_copy(graph);
    if (!(*exec)->graph) {
        free(*exec);
        *exec = NULL;
        return result(cudaErrorInvalidValue);
    }
    (*exec)->graph->frees_first = flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
    TRACE_CHECK(handle_made("an executable graph", *exec, __builtin_return_address(0)));
    return result(cudaSuccess);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                          unsigned long long flags)
{
    return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    return result(exec ? cudaSuccess : cudaErrorInvalidValue);
}

static void set_work(struct CUgraphNode_st *node, struct shared_work *shared)
{
    release_work(node->shared);
    node->shared = shared;
}

cudaError_t graph_set_work(cudaGraphExec_t exec, cudaGraphNode_t node, struct work work)
{
    if (node && exec)
        node = find_copy(exec->graph, node);
    if (!node || node->shared->work.type != work.type) {
        if (work.drop)
            work.drop(work.state);
        return cudaErrorInvalidValue;
    }
    set_work(node, new_work(work));
    return cudaSuccess;
}

/* Compares a graph with an executable one: cudaGraphExecUpdateSuccess if only parameters differ. */
static cudaGraphExecUpdateResultInfo compare(const struct CUgraph_st *exec,
                                             const struct CUgraph_st *g)
{
    cudaGraphExecUpdateResultInfo info = {cudaGraphExecUpdateSuccess, NULL, NULL};
    if (exec->count != g->count)
        info.result = cudaGraphExecUpdateErrorTopologyChanged;
    for (size_t i = 0; i < g->count && info.result == cudaGraphExecUpdateSuccess; i++) {
        if (exec->nodes[i]->n_after != g->nodes[i]->n_after)
            info.result = cudaGraphExecUpdateErrorTopologyChanged;
        else if (exec->nodes[i]->shared->work.type != g->nodes[i]->shared->work.type)
            info.result = cudaGraphExecUpdateErrorNodeTypeChanged;
        else
            continue;
        info.errorNode = (cudaGraphNode_t)(uintptr_t)g->nodes[i]->original;
    }
    return info;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info)
{
    struct CUgraph_st *g = exec && graph ? graph_copy(graph) : NULL;
    if (!g)
        return result(cudaErrorInvalidValue);
    const cudaGraphExecUpdateResultInfo found = compare(exec->graph, g);
    const int same = found.result == cudaGraphExecUpdateSuccess;
    if (info)
        *info = found;
    for (size_t i = 0; same && i < g->count; i++)
        set_work(exec->graph->nodes[i], share_work(g->nodes[i]->shared));
    graph_release(g);
    return result(same ? cudaSuccess : cudaErrorGraphExecUpdateFailure);
}

/* Writes the wanted nodes, as many as there is room for; the rest of the array becomes NULL. */
static cudaError_t list(struct CUgraphNode_st **from, size_t n, int only_roots,
                        cudaGraphNode_t *nodes, size_t *count)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (!only_roots || !from[i]->n_after) {
            if (nodes && found < *count)
                nodes[found] = from[i];
            found++;
        }
    for (size_t i = found; nodes && i < *count; i++)
        nodes[i] = NULL;
    if (!nodes || *count > found)
        *count = found;
    return result(cudaSuccess);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    if (!graph || !count)
        return result(cudaErrorInvalidValue);
    return list(graph->nodes, graph->count, 0, nodes, count);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    if (!graph || !count)
        return result(cudaErrorInvalidValue);
    return list(graph->nodes, graph->count, 1, nodes, count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                         cudaGraphEdgeData *edges, size_t *count)
{
    if (!node || !count)
        return result(cudaErrorInvalidValue);
    if (edges && nodes)
        memset(edges, 0, *count * sizeof *edges);
    return list(node->after, node->n_after, 0, nodes, count);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    if (!node || !type)
        return result(cudaErrorInvalidValue);
    *type = node->shared->work.type;
    return result(cudaSuccess);
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params)
{
    if (!node || !params || node->shared->work.type != cudaGraphNodeTypeKernel)
        return result(cudaErrorInvalidValue);
    const struct cpu_kernel *k = node->shared->work.state;
    *params = (struct cudaKernelNodeParams){
        .func = (void *)k->function,
        .gridDim = {k->grid.x, k->grid.y, k->grid.z},
        .blockDim = {k->block.x, k->block.y, k->block.z},
        .sharedMemBytes = (unsigned)k->shared,
    };
    return result(cudaSuccess);
}

/* The graph stays the node's and must not be destroyed. */
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph)
{
    if (!node || !graph || node->shared->work.type != cudaGraphNodeTypeGraph)
        return result(cudaErrorInvalidValue);
    *graph = node->shared->work.state;
    return result(cudaSuccess);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    if (!exec)
        return result(cudaErrorInvalidValue);
    TRACE_CHECK(handle_destroyed(exec));
    graph_release(exec->graph);
    free(exec);
    return result(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    if (!graph)
        return result(cudaErrorInvalidValue);
    TRACE_CHECK(handle_destroyed(graph));
    graph_release(graph);
    return result(cudaSuccess);
}
