/* The runtime API: errors and which of them stick, memory, limits, streams, capture, graphs. */
#include "check.h"

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <thread>

__global__ void add(int *p, int v)
{
    atomicAdd(p, v);
}
__global__ void write_at(int *p, int v)
{
    *p = v;
}
__global__ void divide(int *p)
{
    *p = 7777 / p[1];
}
__global__ void check_value(int v)
{
    assert(v == 1);
}
__global__ void trap()
{
    __trap();
}
__device__ int deep(int n)
{
    volatile int a[1000];
    a[n % 1000] = n;
    return n > 0 ? deep(n - 1) + a[n % 1000] : 0;
}
__global__ void overflow(int *p)
{
    *p = deep(100000000);
}
__global__ void dynamic(int *p)
{
    extern __shared__ int s[];
    s[threadIdx.x] = 1;
    *p = s[threadIdx.x];
}
/* As nvcc for sm_90a: 227 KB. */
template <int N>
__global__ void much_static(int *p)
{
    __shared__ int a[N];
    __shared__ int b[N];
    a[0] = b[N - 1] = 1;
    *p = a[0] + b[N - 1];
}

static int value(const int *p)
{
    int v = 0;
    CHECK_ERROR(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost), cudaSuccess);
    return v;
}

static void test_device()
{
    int n = -1, v;
    cudaDeviceProp prop;
    CHECK_ERROR(cudaGetDeviceCount(&n), cudaSuccess);
    CHECK(n == 1);
    CHECK_ERROR(cudaSetDevice(1), cudaErrorInvalidDevice);
    CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidDevice);
    CHECK_ERROR(cudaGetLastError(), cudaSuccess);
    CHECK_ERROR(cudaGetDeviceProperties(&prop, 0), cudaSuccess);
    CHECK(strcmp(prop.name, "CPU backend") == 0 && prop.warpSize == 32);
    CHECK(prop.maxThreadsPerBlock == 1024 && prop.sharedMemPerBlock == 49152);
    CHECK(prop.sharedMemPerBlockOptin == 232448 && prop.multiProcessorCount >= 1);
    CHECK_ERROR(cudaDeviceGetAttribute(&v, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0),
                cudaSuccess);
    CHECK(v == 232448);
    CHECK(strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    CHECK_ERROR(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, add, 256, 0), cudaSuccess);
    CHECK(v == 8);
}

static void test_memory()
{
    char *d, *h, *pitched;
    size_t available, total, pitch;
    cudaPointerAttributes a;
    CHECK_ERROR(cudaMemGetInfo(&available, &total), cudaSuccess);
    CHECK_ERROR(cudaMalloc(&d, total * 2), cudaErrorMemoryAllocation);
    CHECK_ERROR(cudaGetLastError(), cudaErrorMemoryAllocation);
    CHECK_ERROR(cudaMalloc(&d, 100), cudaSuccess);
    CHECK((size_t)d % 256 == 0);
    CHECK_ERROR(cudaMallocHost(&h, 100), cudaSuccess);
    memset(h, 1, 100);
    CHECK_ERROR(cudaMemcpy(d, h, 100, cudaMemcpyHostToDevice), cudaSuccess);
    CHECK_ERROR(cudaMemcpy(d, h, 101, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemcpy(d + 50, h, 51, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemcpy(h, d, 100, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemcpy(h, d, 100, cudaMemcpyDefault), cudaSuccess);
    CHECK_ERROR(cudaMemset(d, 0, 101), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemset2D(d, 10, 2, 5, 10), cudaSuccess);
    memset(h, 0, 100);
    CHECK_ERROR(cudaMemcpy2D(h, 5, d, 10, 5, 10, cudaMemcpyDeviceToHost), cudaSuccess);
    CHECK(h[0] == 2 && h[49] == 2 && h[50] == 0 && d[5] == 1); /* d[5]: the CPU's device memory */
    CHECK_ERROR(cudaPointerGetAttributes(&a, d + 3), cudaSuccess);
    CHECK(a.type == cudaMemoryTypeDevice && a.device == 0);
    CHECK_ERROR(cudaPointerGetAttributes(&a, &a), cudaSuccess);
    CHECK(a.type == cudaMemoryTypeUnregistered);
    CHECK_ERROR(cudaMallocPitch(&pitched, &pitch, 100, 3), cudaSuccess);
    CHECK(pitch >= 100 && pitch % 32 == 0);
    CHECK_ERROR(cudaFree(pitched), cudaSuccess);
    CHECK_ERROR(cudaFree(d), cudaSuccess);
    CHECK_ERROR(cudaFree(d), cudaErrorInvalidValue);
    CHECK_ERROR(cudaFree(h), cudaErrorInvalidValue);
    CHECK_ERROR(cudaFree(NULL), cudaSuccess);
    CHECK_ERROR(cudaFreeHost(h), cudaSuccess);
    cudaGetLastError();
}

static void test_configurations(int *p)
{
    const dim3 bad_grids[] = {dim3(0), dim3(1, 65536), dim3(1, 1, 65536), dim3(0x80000000u)};
    const dim3 bad_blocks[] = {dim3(0), dim3(1025), dim3(32, 33), dim3(1, 1, 65)};
    for (int i = 0; i < 4; i++) {
        add<<<bad_grids[i], 1>>>(p, 1);
        CHECK_ERROR(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
        CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidConfiguration);
        add<<<1, bad_blocks[i]>>>(p, 1);
        CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidConfiguration);
        CHECK_ERROR(cudaGetLastError(), cudaSuccess);
    }
    CHECK(value(p) == 0);
    dynamic<<<1, 32, 49152>>>(p);
    CHECK_ERROR(cudaGetLastError(), cudaSuccess);
    dynamic<<<1, 32, 49153>>>(p);
    CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK_ERROR(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449),
                cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK_ERROR(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448),
                cudaSuccess);
    dynamic<<<1, 32, 232448>>>(p);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    much_static<10000><<<1, 1>>>(p);
    CHECK_ERROR(cudaGetLastError(), cudaSuccess);
    much_static<10000><<<1, 1, 4>>>(p); // together more than 48 KB
    CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
    much_static<30000><<<1, 1>>>(p);
    CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    cudaMemset(p, 0, sizeof *p);
}

/* After a fault every call says so, until the device is reset. */
template <class Launch>
static void test_fault(Launch launch, cudaError_t wanted)
{
    int *p;
    launch();
    CHECK_ERROR(cudaDeviceSynchronize(), wanted);
    CHECK_ERROR(cudaGetLastError(), wanted);
    CHECK_ERROR(cudaGetLastError(), wanted);
    CHECK_ERROR(cudaMalloc(&p, 4), wanted);
    CHECK_ERROR(cudaDeviceReset(), cudaSuccess);
    CHECK_ERROR(cudaGetLastError(), cudaSuccess);
    CHECK_ERROR(cudaMalloc(&p, 8), cudaSuccess);
    cudaMemset(p, 0, 8);
    add<<<7, 64>>>(p, 1); /* and the backend still works */
    CHECK(value(p) == 448);
    CHECK_ERROR(cudaFree(p), cudaSuccess);
}

static void on_host(void *data)
{
    ++*(int *)data;
}

static void test_streams(int *p)
{
    cudaStream_t s, t;
    cudaEvent_t a, b;
    float ms = -1;
    int calls = 0;
    CHECK_ERROR(cudaStreamCreate(&s), cudaSuccess);
    CHECK_ERROR(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking), cudaSuccess);
    unsigned long long ids[3];
    int device = -1;
    CHECK_ERROR(cudaStreamGetId(s, &ids[0]), cudaSuccess);
    CHECK_ERROR(cudaStreamGetId(t, &ids[1]), cudaSuccess);
    CHECK_ERROR(cudaStreamGetId(nullptr, &ids[2]), cudaSuccess);
    CHECK(ids[0] != ids[1] && ids[0] != ids[2] && ids[1] != ids[2]);
    CHECK_ERROR(cudaStreamGetDevice(s, &device), cudaSuccess);
    CHECK(device == 0);
    CHECK_ERROR(cudaStreamGetId(s, nullptr), cudaErrorInvalidValue);
    CHECK_ERROR(cudaStreamGetDevice(s, nullptr), cudaErrorInvalidValue);
    CHECK_ERROR(cudaEventCreate(&a), cudaSuccess);
    CHECK_ERROR(cudaEventCreateWithFlags(&b, cudaEventDefault), cudaSuccess);
    CHECK_ERROR(cudaEventElapsedTime(&ms, a, b), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    CHECK_ERROR(cudaEventRecord(a, s), cudaSuccess);
    add<<<2, 32, 0, s>>>(p, 1);
    CHECK_ERROR(cudaEventRecord(b, s), cudaSuccess);
    CHECK_ERROR(cudaStreamWaitEvent(t, b, 0), cudaSuccess);
    CHECK_ERROR(cudaLaunchHostFunc(t, on_host, &calls), cudaSuccess);
    CHECK_ERROR(cudaStreamSynchronize(t), cudaSuccess);
    CHECK_ERROR(cudaStreamQuery(s), cudaSuccess);
    CHECK_ERROR(cudaEventSynchronize(b), cudaSuccess);
    CHECK_ERROR(cudaEventElapsedTime(&ms, a, b), cudaSuccess);
    CHECK(ms >= 0 && calls == 1 && value(p) == 64);
    CHECK_ERROR(cudaEventDestroy(a), cudaSuccess);
    CHECK_ERROR(cudaEventDestroy(b), cudaSuccess);
    CHECK_ERROR(cudaStreamDestroy(s), cudaSuccess);
    CHECK_ERROR(cudaStreamDestroy(t), cudaSuccess);
    add<<<1, 1, 0, s>>>(p, 1);
    CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidResourceHandle);
}

static void test_graphs(int *p)
{
    cudaStream_t s, t;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    size_t count = 0;
    int n = 3, calls = 0;
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    cudaMemset(p, 0, sizeof *p);

    CHECK_ERROR(cudaStreamEndCapture(s, &graph), cudaErrorIllegalState);
    CHECK_ERROR(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal),
                cudaErrorStreamCaptureUnsupported);
    CHECK_ERROR(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
    CHECK_ERROR(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
    cudaGetLastError();
    add<<<1, 2, 0, s>>>(p, n);
    n = 1000; /* a graph keeps the arguments of its capture */
    CHECK_ERROR(cudaEventRecord(fork, s), cudaSuccess);
    CHECK_ERROR(cudaStreamWaitEvent(t, fork, 0), cudaSuccess);
    add<<<1, 1, 0, t>>>(p, 100);
    CHECK_ERROR(cudaLaunchHostFunc(t, on_host, &calls), cudaSuccess);
    CHECK_ERROR(cudaEventRecord(join, t), cudaSuccess);
    CHECK_ERROR(cudaStreamWaitEvent(s, join, 0), cudaSuccess);
    CHECK_ERROR(cudaStreamIsCapturing(t, &status), cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusActive);
    CHECK_ERROR(cudaStreamEndCapture(t, &graph), cudaErrorStreamCaptureUnmatched);
    CHECK_ERROR(cudaStreamEndCapture(s, &graph), cudaSuccess);
    CHECK_ERROR(cudaEventSynchronize(join), cudaErrorCapturedEvent);
    cudaGetLastError();
    CHECK(value(p) == 0 && calls == 0); /* nothing ran */
    CHECK_ERROR(cudaGraphGetNodes(graph, NULL, &count), cudaSuccess);
    CHECK(count == 3);
    cudaGraphNode_t nodes[3];
    cudaGraphNodeType type;
    CHECK_ERROR(cudaGraphGetNodes(graph, nodes, &count), cudaSuccess);
    CHECK_ERROR(cudaGraphNodeGetType(nodes[2], &type), cudaSuccess);
    CHECK(type == cudaGraphNodeTypeHost);
    cudaKernelNodeParams params;
    CHECK_ERROR(cudaGraphKernelNodeGetParams(nodes[0], &params), cudaSuccess);
    CHECK(params.func == (void *)add && params.gridDim.x == 1 && params.blockDim.x == 2);
    CHECK_ERROR(cudaGraphKernelNodeGetParams(nodes[2], &params), cudaErrorInvalidValue);
    CHECK_ERROR(cudaGraphKernelNodeGetParams(nodes[0], NULL), cudaErrorInvalidValue);
    CHECK_ERROR(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);

    /* A graph launched under capture is a node of its own, which holds that graph. */
    cudaGraph_t outer, inner;
    CHECK_ERROR(cudaGraphChildGraphNodeGetGraph(nodes[0], &inner), cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK_ERROR(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
    CHECK_ERROR(cudaGraphLaunch(exec, s), cudaSuccess);
    CHECK_ERROR(cudaStreamEndCapture(s, &outer), cudaSuccess);
    count = 1;
    CHECK_ERROR(cudaGraphGetNodes(outer, nodes, &count), cudaSuccess);
    CHECK_ERROR(cudaGraphNodeGetType(nodes[0], &type), cudaSuccess);
    CHECK(count == 1 && type == cudaGraphNodeTypeGraph);
    CHECK_ERROR(cudaGraphChildGraphNodeGetGraph(nodes[0], &inner), cudaSuccess);
    CHECK_ERROR(cudaGraphGetNodes(inner, NULL, &count), cudaSuccess);
    CHECK(count == 3);
    CHECK_ERROR(cudaGraphDestroy(outer), cudaSuccess);
    CHECK_ERROR(cudaGraphDestroy(graph), cudaSuccess);
    for (int i = 0; i < 5; i++)
        CHECK_ERROR(cudaGraphLaunch(exec, s), cudaSuccess);
    CHECK(value(p) == 5 * 106 && calls == 5);
    CHECK_ERROR(cudaGraphExecDestroy(exec), cudaSuccess);
    CHECK_ERROR(cudaEventRecord(join, t), cudaSuccess); /* which the capture has no longer */
    CHECK_ERROR(cudaEventSynchronize(join), cudaSuccess);

    /* The other stream's work is not joined, or not all of it. */
    cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);
    cudaEventRecord(fork, s);
    cudaStreamWaitEvent(t, fork, 0);
    add<<<1, 1, 0, t>>>(p, 1);
    cudaEventRecord(join, t);
    add<<<1, 1, 0, t>>>(p, 1);
    cudaStreamWaitEvent(s, join, 0);
    CHECK_ERROR(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureUnjoined);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);
    cudaEventRecord(fork, s);
    cudaStreamWaitEvent(t, fork, 0);
    add<<<1, 1, 0, t>>>(p, 1);
    CHECK_ERROR(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureUnjoined);

    /* What a capture forbids, and that the capture is then void. */
    void *q;
    for (int i = 0; i < 8; i++) {
        cudaStreamCaptureMode mode =
            i == 5 ? cudaStreamCaptureModeRelaxed : cudaStreamCaptureModeGlobal;
        cudaGetLastError();
        CHECK_ERROR(cudaStreamBeginCapture(s, mode), cudaSuccess);
        int spoils = 1;
        if (i == 0) {
            add<<<1, 1>>>(p, 1);
            CHECK_ERROR(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
        } else if (i == 1) {
            CHECK_ERROR(cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
        } else if (i == 2) {
            CHECK_ERROR(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
        } else if (i == 3) {
            CHECK_ERROR(cudaMemcpy(&n, p, 4, cudaMemcpyDeviceToHost),
                        cudaErrorStreamCaptureImplicit);
        } else if (i == 4) {
            CHECK_ERROR(cudaMalloc(&q, 4), cudaErrorStreamCaptureUnsupported);
        } else if (i == 5) {
            CHECK_ERROR(cudaMalloc(&q, 4), cudaSuccess); /* relaxed */
            CHECK_ERROR(cudaFree(q), cudaSuccess);
            spoils = 0;
        } else if (i == 6) {
            CHECK_ERROR(cudaStreamQuery(s), cudaErrorStreamCaptureUnsupported);
            add<<<1, 1, 0, s>>>(p, 1);
            CHECK_ERROR(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
        } else {
            add<<<1, 0, 0, s>>>(p, 1); /* a bad launch is refused, the capture goes on */
            CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidConfiguration);
            add<<<1, 1, 0, t>>>(p, 0); /* as does work in other streams */
            CHECK_ERROR(cudaGetLastError(), cudaSuccess);
            spoils = 0;
        }
        graph = NULL;
        CHECK_ERROR(cudaStreamEndCapture(s, &graph),
                    spoils ? cudaErrorStreamCaptureInvalidated : cudaSuccess);
        CHECK(spoils == (graph == NULL));
        if (graph)
            cudaGraphDestroy(graph);
    }
    /* A stream that does not block the default stream leaves it free. */
    cudaStream_t free_stream;
    cudaGetLastError();
    cudaStreamCreateWithFlags(&free_stream, cudaStreamNonBlocking);
    cudaStreamBeginCapture(free_stream, cudaStreamCaptureModeGlobal);
    add<<<1, 1>>>(p, 1);
    CHECK_ERROR(cudaGetLastError(), cudaSuccess);
    CHECK_ERROR(cudaStreamEndCapture(free_stream, &graph), cudaSuccess);
    cudaGraphDestroy(graph);
}

/* Which calls a capture forbids to which OS thread. It is void then, and others are not. */
static void test_capture_modes()
{
    const cudaStreamCaptureMode global = cudaStreamCaptureModeGlobal,
                                own = cudaStreamCaptureModeThreadLocal,
                                relaxed = cudaStreamCaptureModeRelaxed;
    const struct {
        cudaStreamCaptureMode mode;
        bool other, waits, forbidden; /* other: another thread calls */
    } cases[] = {
        {global, false, false, true},  {global, true, false, true},  {own, false, false, true},
        {own, true, false, false},     {own, true, true, true},      {relaxed, false, false, false},
        {relaxed, true, false, false}, {relaxed, false, true, true}, {relaxed, true, true, true},
    };
    cudaStream_t s, t;
    cudaGraph_t graph;
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    for (const auto &c : cases) {
        CHECK_ERROR(cudaStreamBeginCapture(s, c.mode), cudaSuccess);
        CHECK_ERROR(cudaStreamBeginCapture(t, relaxed), cudaSuccess);
        auto call = [&] {
            void *q = NULL;
            CHECK_ERROR(c.waits ? cudaDeviceSynchronize() : cudaMalloc(&q, 4),
                        c.forbidden ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
            if (q)
                CHECK_ERROR(cudaFree(q), cudaSuccess);
        };
        if (c.other)
            std::thread(call).join();
        else
            call();
        CHECK_ERROR(cudaStreamEndCapture(s, &graph),
                    c.forbidden ? cudaErrorStreamCaptureInvalidated : cudaSuccess);
        if (graph)
            cudaGraphDestroy(graph);
        CHECK_ERROR(cudaStreamEndCapture(t, &graph),
                    c.waits ? cudaErrorStreamCaptureInvalidated : cudaSuccess);
        if (graph)
            cudaGraphDestroy(graph);
    }
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
    cudaGetLastError();
}

int main()
{
    int *p;
    CHECK_ERROR(cudaMalloc(&p, 8), cudaSuccess);
    cudaMemset(p, 0, 8);
    test_device();
    test_memory();
    test_configurations(p);
    test_streams(p);
    test_graphs(p);
    test_capture_modes();
    test_fault([=] { write_at<<<2, 32>>>((int *)(size_t)64, 1); }, cudaErrorIllegalAddress);
    test_fault([=] { check_value<<<3, 40>>>(0); }, cudaErrorAssert);
    test_fault([=] { trap<<<1, 1>>>(); }, cudaErrorLaunchFailure);
    test_fault([] { overflow<<<1, 1>>>(NULL); }, cudaErrorIllegalAddress);
#ifdef __x86_64__
    CHECK_ERROR(cudaMalloc(&p, 8), cudaSuccess);
    cudaMemset(p, 0, 8);
    test_fault([=] { divide<<<1, 1>>>(p); }, cudaErrorLaunchFailure);
#endif
    return check_result();
}
