/* stream.c: the stream that everything is launched on, what a call launches, and which launches a
 * profiler looks at. */
#include "harness/device/device.h"
#include <stdatomic.h>
#include <stdlib.h>
#ifndef CUDA_CPU_BACKEND
#include <cuda_profiler_api.h>
#endif

/* One for a program, as it has one device. It is not handed round: kf_reference_from, which a step
 * calls, launches on the same stream and knows of no session. */
static cudaStream_t ours;

cudaStream_t kf_stream(void)
{
    if (!ours)
        CUDA_CHECK(cudaStreamCreateWithFlags(&ours, cudaStreamNonBlocking));
    return ours;
}

void kf_stream_end(void)
{
    CUDA_CHECK(cudaStreamDestroy(ours));
    ours = NULL;
}

cudaGraph_t kf_capture(const kf_run *run, kf_launch *launch, cudaStream_t stream)
{
    cudaGraph_t graph;
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch(run, stream);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    return graph;
}

void kf_profile(bool on)
{
#ifdef CUDA_CPU_BACKEND
    (void)on;
#else
    /* With no profiler attached both may say that there is none: that is no trouble. */
    (void)(on ? cudaProfilerStart() : cudaProfilerStop());
    (void)cudaGetLastError();
#endif
}

void kf_profile_end(void)
{
#ifndef CUDA_CPU_BACKEND
    CUDA_CHECK(cudaDeviceReset()); /* without it compute-sanitizer looks for no leaks */
#endif
}

/* The nodes of a graph that are of a type. The caller frees them. */
static cudaGraphNode_t *nodes_of(cudaGraph_t graph, enum cudaGraphNodeType wanted, int *n_wanted)
{
    size_t n = 0;
    *n_wanted = 0;
    CUDA_CHECK(cudaGraphGetNodes(graph, NULL, &n));
    cudaGraphNode_t *node = kf_alloc((int64_t)n, sizeof(cudaGraphNode_t));
    CUDA_CHECK(cudaGraphGetNodes(graph, node, &n));
    for (size_t i = 0; i < n; i++) {
        enum cudaGraphNodeType type;
        CUDA_CHECK(cudaGraphNodeGetType(node[i], &type));
        if (type == wanted)
            node[(*n_wanted)++] = node[i];
    }
    return node;
}

bool kf_has_host_work(cudaGraph_t graph)
{
    int n;
    free(nodes_of(graph, cudaGraphNodeTypeHost, &n));
    return n > 0;
}

/* The kernels of one call: nodes of its graph, which never runs. The caller frees them, and
 * destroys the graph. */
static cudaGraphNode_t *kernels_of(const kf_run *view, const kf_variant *variant,
                                   cudaGraph_t *graph, int *n_kernels)
{
    *graph = kf_capture(view, variant->launch, kf_stream());
    return nodes_of(*graph, cudaGraphNodeTypeKernel, n_kernels);
}

/* Scripts use it to tell which of the launches that a profiler lists belong to which variant. */
int kf_count_launches(const kf_run *view, const kf_variant *variant)
{
    cudaGraph_t graph;
    int launches;
    free(kernels_of(view, variant, &graph, &launches));
    CUDA_CHECK(cudaGraphDestroy(graph));
    return launches;
}

typedef struct blocks {
    unsigned threads, shared;
    int fit, launches;
} blocks;

void kf_blocks_write(FILE *to, const kf_run *view, const kf_variant *variant)
{
    cudaGraph_t graph;
    int n, kinds = 0;
    cudaGraphNode_t *node = kernels_of(view, variant, &graph, &n);
    blocks *kind = kf_alloc(n, sizeof *kind);
    for (int i = 0; i < n; i++) {
        struct cudaKernelNodeParams p;
        CUDA_CHECK(cudaGraphKernelNodeGetParams(node[i], &p));
        /* On a CPU a launch through a pointer names no kernel, and any will do. */
        const void *f = p.func ? p.func : (const void *)&kinds;
        blocks own = {p.blockDim.x * p.blockDim.y * p.blockDim.z, p.sharedMemBytes, 0, 1};
        CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&own.fit, f, (int)own.threads,
                                                                 own.shared));
        int k = 0;
        while (k < kinds && (kind[k].threads != own.threads || kind[k].shared != own.shared ||
                             kind[k].fit != own.fit))
            k++;
        if (k < kinds)
            kind[k].launches++;
        else
            kind[kinds++] = own;
    }
    for (int k = 0; k < kinds; k++)
        fprintf(to, "%s\t%s\t%d\t%u\t%u\t%d\n", variant->name, view->c->name, kind[k].launches,
                kind[k].threads, kind[k].shared, kind[k].fit);
    CUDA_CHECK(cudaGraphDestroy(graph));
    free(kind);
    free(node);
}

uint64_t kf_hash(const void *device, int64_t bytes, cudaStream_t stream)
{
    static unsigned long long *sum; /* on the device */
    unsigned long long found = 0;
    if (!sum)
        CUDA_CHECK(cudaMalloc((void **)&sum, sizeof *sum));
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof *sum, stream));
    kf_probe_hash(device, bytes, sum, stream);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpyAsync(&found, sum, sizeof found, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return found;
}

static const double HELD_MOST_US = 5e4;
static atomic_bool let_go, ran_out;

/* The driver calls it when the stream gets there, and the stream goes on when it returns. */
static void wait_for_release(void *unused)
{
    double end = kf_host_us() + HELD_MOST_US;
    (void)unused;
    while (!let_go && !ran_out)
        ran_out = kf_host_us() > end;
}

void kf_stream_hold(void)
{
    let_go = ran_out = false;
    CUDA_CHECK(cudaLaunchHostFunc(kf_stream(), wait_for_release, NULL));
}

bool kf_stream_let_go(void)
{
    let_go = true;
    return !ran_out;
}
