/* calls.cuh: the launches that one call of the model makes.
 *
 * A counter beside a launch counts how often a line of the host's code is passed, but another
 * kernel may run there. A captured graph has the launches themselves, each with its kernel, and
 * nothing else; and a replay does only what is in the graph. */
#pragma once

#include <stdlib.h>

#include "neox/net.cuh"

// snippet: capture
/* Captures the launches of `launch` on the stream that it gets, as a graph that the caller
 * destroys. None of these launches runs. Launches on other streams do run, and are not in the
 * graph: the stream does not wait for the default stream, so that a launch there is no error. */
static inline cudaGraph_t neox_captured(const kf_run *run, kf_launch *launch)
{
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const cudaGraph_t graph = kf_capture(run, launch, stream);
    CUDA_CHECK(cudaStreamDestroy(stream));
    return graph;
}
// end snippet: capture

/* Kernels of a library, such as cuBLAS, are unknown to the runtime that this program is linked
 * with. It returns an error for them, so they are not ours. */
static inline bool neox_is_kernel(cudaGraphNode_t node, const void *kernel)
{
    struct cudaKernelNodeParams params;
    if (kernel == NULL) {
        return true;
    }
    const cudaError_t error = cudaGraphKernelNodeGetParams(node, &params);
    if (error == cudaErrorInvalidDeviceFunction) {
        cudaGetLastError();
        return false;
    }
    CUDA_CHECK(error);
    return params.func == kernel;
}

// snippet: count-nodes
/* Counts the launches of a kernel in a graph, and in the graphs that are its nodes. NULL: of any
 * kernel. */
static inline int neox_count_nodes(cudaGraph_t graph, const void *kernel)
{
    size_t n = 0;
    int found = 0;
    CUDA_CHECK(cudaGraphGetNodes(graph, NULL, &n));
    cudaGraphNode_t *nodes = (cudaGraphNode_t *)kf_alloc((int64_t)n, sizeof *nodes);
    CUDA_CHECK(cudaGraphGetNodes(graph, nodes, &n));
    for (size_t i = 0; i < n; i++) {
        enum cudaGraphNodeType type;
        cudaGraph_t inner;
        CUDA_CHECK(cudaGraphNodeGetType(nodes[i], &type));
        if (type == cudaGraphNodeTypeKernel) {
            found += neox_is_kernel(nodes[i], kernel);
        } else if (type == cudaGraphNodeTypeGraph) {
            CUDA_CHECK(cudaGraphChildGraphNodeGetGraph(nodes[i], &inner));
            found += neox_count_nodes(inner, kernel);
        }
    }
    free(nodes);
    return found;
}

/* Counts how often one call launches that kernel. The call must have run before, since the setup
 * of a library in its first call cannot be captured. */
static inline int neox_count_calls(const kf_run *run, kf_launch *launch, const void *kernel)
{
    cudaGraph_t graph = neox_captured(run, launch);
    const int found = neox_count_nodes(graph, kernel);
    CUDA_CHECK(cudaGraphDestroy(graph));
    return found;
}
// end snippet: count-nodes

/* Counts the elements of hidden whose bits differ between the last call and `other`: 0 if both
 * add in the same order. The result of `other` remains. */
static inline int64_t neox_other_bits(const kf_run *run, kf_launch *other)
{
    const kf_tensor *hidden = kf_find(run, "hidden");
    const size_t bytes = (size_t)hidden->count * sizeof(half);
    uint16_t *mine = (uint16_t *)kf_alloc(2 * hidden->count, sizeof *mine);
    uint16_t *others = mine + hidden->count;
    int64_t differ = 0;
    CUDA_CHECK(cudaMemcpy(mine, hidden->device, bytes, cudaMemcpyDeviceToHost));
    other(run, cudaStreamPerThread);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(others, hidden->device, bytes, cudaMemcpyDeviceToHost));
    for (int64_t i = 0; i < hidden->count; i++) {
        differ += mine[i] != others[i];
    }
    free(mine);
    return differ;
}

// snippet: unwritten
/* Counts the elements of hidden (x of all layers) that a replay does not write. hidden is poisoned
 * after the capture. A stray launch has run by then, so its writes do not count. At the end the
 * call is made once more, so that the next measurement does not meet the poison. */
static inline int64_t neox_unwritten_by_replay(const kf_run *run, kf_launch *launch)
{
    const kf_tensor *hidden = kf_find(run, "hidden");
    const size_t bytes = (size_t)hidden->count * sizeof(half);
    uint16_t *bits = (uint16_t *)kf_alloc(hidden->count, sizeof *bits);
    cudaGraph_t graph = neox_captured(run, launch);
    cudaGraphExec_t replay;
    int64_t unwritten = 0;
    CUDA_CHECK(cudaGraphInstantiate(&replay, graph, 0));
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemset(hidden->device, 0xff, bytes));
    CUDA_CHECK(cudaGraphLaunch(replay, cudaStreamPerThread));
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(bits, hidden->device, bytes, cudaMemcpyDeviceToHost));
    for (int64_t i = 0; i < hidden->count; i++) {
        unwritten += bits[i] == 0xffff;
    }
    launch(run, cudaStreamPerThread);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaGraphExecDestroy(replay));
    CUDA_CHECK(cudaGraphDestroy(graph));
    free(bits);
    return unwritten;
}
// end snippet: unwritten
