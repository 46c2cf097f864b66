// Graphs that a program builds itself, launches by pointers, memory of several kinds, and what a
// device says of itself. nvcc compiles it as well.
#include "check.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>
#include <vector>

__global__ void add(int *p, int n, int v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += v;
}

template <class T>
__global__ void scale(T *p, int n, T v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= v;
}

__managed__ int shared_by_both = 3;

__global__ void count_up()
{
    atomicAdd_system(&shared_by_both, 1);
}

static void note(void *data)
{
    ++*static_cast<int *>(data);
}

static void CUDART_CB called_back(cudaStream_t, cudaError_t error, void *data)
{
    *static_cast<int *>(data) += error == cudaSuccess ? 10 : 1000;
}

static cudaKernelNodeParams kernel_node(void *f, int n, void **arguments)
{
    cudaKernelNodeParams p = {};
    p.func = f;
    p.gridDim = dim3((n + 63) / 64);
    p.blockDim = dim3(64);
    p.kernelParams = arguments;
    return p;
}

static void test_launches()
{
    int *p, n = 100, v = 5;
    cudaMallocManaged(&p, n * sizeof *p);
    memset(p, 0, n * sizeof *p);
    void *arguments[] = {&p, &n, &v}, *f = (void *)scale<int>;
    CHECK_ERROR(cudaLaunchKernel((void *)add, dim3(2), dim3(64), arguments), cudaSuccess);
    CHECK_ERROR(cudaLaunchKernel(f, dim3(2), dim3(64), arguments, 0, nullptr), cudaSuccess);
    cudaLaunchConfig_t c = {};
    c.gridDim = dim3(2);
    c.blockDim = dim3(64);
    CHECK_ERROR(cudaLaunchKernelExC(&c, reinterpret_cast<const void *>(&add), arguments),
                cudaSuccess);
    v = 1000; // too late for those
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(p[0] == 30 && p[99] == 30);
    const cudaError_t error = cudaLaunchKernel(f, dim3(0), dim3(64), arguments);
    CHECK(error != cudaSuccess && cudaGetLastError() == error);
#ifdef CUDA_CPU_BACKEND // of nvcc 13.0 it is cudaErrorInvalidValue
    CHECK_ERROR(error, cudaErrorInvalidConfiguration);
#endif
    cudaFree(p);
}

static void test_graph()
{
    const int n = 100;
    int *p, host[n], size = n, one = 1, three = 3, calls = 0;
    cudaGraph_t graph, child, clone;
    cudaGraphExec_t exec;
    cudaGraphNode_t set, first, second, copy, call, empty, inner, found, nodes[8];
    cudaMalloc(&p, n * sizeof *p);
    CHECK_ERROR(cudaGraphCreate(&graph, 0), cudaSuccess);
    CHECK_ERROR(cudaGraphCreate(&child, 0), cudaSuccess);

    void *add_one[] = {&p, &size, &one}, *times_three[] = {&p, &size, &three};
    cudaKernelNodeParams params = kernel_node((void *)scale<int>, n, times_three);
    CHECK_ERROR(cudaGraphAddKernelNode(&inner, child, nullptr, 0, &params), cudaSuccess);

    // The order in which they are added is not the order of their dependencies.
    CHECK_ERROR(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, host, p, sizeof host,
                                         cudaMemcpyDeviceToHost),
                cudaSuccess);
    CHECK_ERROR(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0), cudaSuccess);
    params = kernel_node((void *)add, n, add_one);
    CHECK_ERROR(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &params), cudaSuccess);
    CHECK_ERROR(cudaGraphAddChildGraphNode(&second, graph, &first, 1, child), cudaSuccess);
    params = kernel_node((void *)add, n, add_one); // a copy is in the graph
    CHECK_ERROR(cudaGraphKernelNodeSetParams(inner, &params), cudaSuccess);
    CHECK_ERROR(cudaGraphDestroy(child), cudaSuccess);
    cudaMemsetParams zero = {};
    zero.dst = p;
    zero.value = 2;
    zero.elementSize = 4;
    zero.width = n;
    zero.height = 1;
    CHECK_ERROR(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &zero), cudaSuccess);
    cudaHostNodeParams hosts = {};
    hosts.fn = note;
    hosts.userData = &calls;
    CHECK_ERROR(cudaGraphAddHostNode(&call, graph, &copy, 1, &hosts), cudaSuccess);
    cudaGraphNode_t from[] = {set, second, empty}, to[] = {first, copy, call};
    CHECK_ERROR(cudaGraphAddDependencies(graph, from, to, nullptr, 3), cudaSuccess);

    size_t count = 8;
    CHECK_ERROR(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
    CHECK(count == 6);
    count = 8;
    CHECK_ERROR(cudaGraphGetRootNodes(graph, nodes, &count), cudaSuccess);
    CHECK(count == 2 && nodes[1] && !nodes[2] && !nodes[7]); // the room that is left
    cudaGraphNodeType type;
    CHECK_ERROR(cudaGraphNodeGetType(empty, &type), cudaSuccess);
    CHECK(type == cudaGraphNodeTypeEmpty);

    CHECK_ERROR(cudaGraphClone(&clone, graph), cudaSuccess);
    CHECK_ERROR(cudaGraphNodeFindInClone(&found, first, clone), cudaSuccess);
    CHECK_ERROR(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    CHECK_ERROR(cudaGraphLaunch(exec, nullptr), cudaSuccess);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(host[0] == 9 && host[99] == 9 && calls == 1);

    nvtxEventAttributes_t event = {};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = "no profiler looks";
    CHECK(event.size == 48 && nvtxRangePushEx(&event) == NVTX_NO_PUSH_POP_TRACKING);
    CHECK(nvtxRangePush("a range") == NVTX_NO_PUSH_POP_TRACKING);
    CHECK(nvtxRangePop() == NVTX_NO_PUSH_POP_TRACKING);
    nvtxRangeEnd(nvtxRangeStart("another"));
    nvtxMark("now");

    // Other parameters: in what is executable, in the graph, and in a clone of it.
    params = kernel_node((void *)add, n, add_one);
    one = 5;
    CHECK_ERROR(cudaGraphExecKernelNodeSetParams(exec, first, &params), cudaSuccess);
    CHECK_ERROR(cudaGraphLaunch(exec, nullptr), cudaSuccess);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(host[0] == 21 && calls == 2);
    one = 7;
    CHECK_ERROR(cudaGraphKernelNodeSetParams(found, &params), cudaSuccess);
    cudaGraphExecUpdateResultInfo info;
    CHECK_ERROR(cudaGraphExecUpdate(exec, clone, &info), cudaSuccess);
    CHECK(info.result == cudaGraphExecUpdateSuccess);
    CHECK_ERROR(cudaGraphLaunch(exec, nullptr), cudaSuccess);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(host[0] == 27 && calls == 3);
    CHECK_ERROR(cudaGraphDestroyNode(call), cudaSuccess);
    CHECK_ERROR(cudaGraphExecUpdate(exec, graph, &info), cudaErrorGraphExecUpdateFailure);
    CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    cudaGetLastError();
    CHECK_ERROR(cudaGraphAddDependencies(graph, &copy, &set, nullptr, 1), cudaSuccess);
    cudaGraphExec_t circle;
    CHECK_ERROR(cudaGraphInstantiate(&circle, graph, 0), cudaErrorInvalidValue);
    cudaGetLastError();
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaGraphDestroy(clone);
    cudaFree(p);
}

/* Edges that come and go. */
static void test_edges()
{
    int *p, one = 1, size = 64;
    cudaGraph_t graph, other, clone, second;
    cudaGraphExec_t exec;
    cudaGraphNode_t a, b, c, d, e, f, there, again, depends[2];
    cudaMalloc(&p, 64 * sizeof *p);
    cudaMemset(p, 0, 64 * sizeof *p);
    void *add_one[] = {&p, &size, &one};
    cudaKernelNodeParams params = kernel_node((void *)add, 64, add_one), kept = {};
    params.sharedMemBytes = 640;
    CHECK_ERROR(cudaGraphCreate(&graph, 0), cudaSuccess);
    CHECK_ERROR(cudaGraphCreate(&other, 0), cudaSuccess);
    CHECK_ERROR(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &params), cudaSuccess);
    CHECK_ERROR(cudaGraphAddKernelNode(&b, graph, &a, 1, &params), cudaSuccess);
    CHECK_ERROR(cudaGraphAddKernelNode(&c, graph, &b, 1, &params), cudaSuccess);
    CHECK_ERROR(cudaGraphAddKernelNode(&d, other, nullptr, 0, &params), cudaSuccess);
    CHECK_ERROR(cudaGraphAddKernelNode(&e, other, &d, 1, &params), cudaSuccess);
    CHECK_ERROR(cudaGraphAddKernelNode(&f, other, nullptr, 0, &params), cudaSuccess);
    CHECK_ERROR(cudaGraphKernelNodeGetParams(c, &kept), cudaSuccess);
    CHECK(kept.sharedMemBytes == 640 && kept.blockDim.x == 64);

    // As many nodes of the same kind, and an edge less.
    cudaGraphExecUpdateResultInfo info;
    CHECK_ERROR(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    CHECK_ERROR(cudaGraphExecUpdate(exec, other, &info), cudaErrorGraphExecUpdateFailure);
    CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    cudaHostNodeParams hosts = {};
    hosts.fn = note;
    CHECK(cudaGraphExecHostNodeSetParams(exec, a, &hosts) != cudaSuccess); // it is a kernel
    cudaGetLastError();
    CHECK_ERROR(cudaGraphExecDestroy(exec), cudaSuccess);

    // A clone of a clone knows the nodes of the one that it is made of.
    CHECK_ERROR(cudaGraphClone(&clone, graph), cudaSuccess);
    CHECK_ERROR(cudaGraphNodeFindInClone(&there, c, clone), cudaSuccess);
    CHECK_ERROR(cudaGraphClone(&second, clone), cudaSuccess);
    CHECK_ERROR(cudaGraphNodeFindInClone(&again, there, second), cudaSuccess);
    CHECK(again != there && there != c);

    // With a node its edges go.
    size_t count = 2;
    CHECK_ERROR(cudaGraphDestroyNode(b), cudaSuccess);
    CHECK_ERROR(cudaGraphNodeGetDependencies(c, depends, nullptr, &count), cudaSuccess);
    CHECK(count == 0);
    CHECK_ERROR(cudaGraphAddDependencies(graph, &a, &c, nullptr, 1), cudaSuccess);
    CHECK_ERROR(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    CHECK_ERROR(cudaGraphLaunch(exec, nullptr), cudaSuccess);
    int sum = 0;
    CHECK_ERROR(cudaMemcpy(&sum, p, sizeof sum, cudaMemcpyDeviceToHost), cudaSuccess);
    CHECK(sum == 2);
    cudaGraphExecDestroy(exec);
    for (cudaGraph_t g : {graph, other, clone, second})
        cudaGraphDestroy(g);
    cudaFree(p);
}

static void test_memory()
{
    // Memory of malloc, given to kernels.
    const int n = 64;
    int *h = static_cast<int *>(malloc(n * sizeof *h)), *d;
    memset(h, 0, n * sizeof *h);
    CHECK_ERROR(cudaHostUnregister(h), cudaErrorHostMemoryNotRegistered);
    CHECK_ERROR(cudaHostRegister(h, n * sizeof *h, cudaHostRegisterMapped), cudaSuccess);
    CHECK_ERROR(cudaHostRegister(h, n, 0), cudaErrorHostMemoryAlreadyRegistered);
    CHECK_ERROR(cudaHostGetDevicePointer(&d, h, 0), cudaSuccess);
    add<<<1, n>>>(d, n, 4);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(h[0] == 4 && h[n - 1] == 4);
    CHECK_ERROR(cudaHostUnregister(h), cudaSuccess);
    CHECK_ERROR(cudaHostRegister(h, n, 0), cudaSuccess);
    CHECK(cudaFreeHost(h) != cudaSuccess); // it is malloc's
    CHECK_ERROR(cudaHostUnregister(h), cudaSuccess);
    free(h);
    char *pinned, *pages = static_cast<char *>(aligned_alloc(4096, 8192));
    CHECK_ERROR(cudaHostRegister(pages + 4096, 4096, 0), cudaSuccess);
    CHECK_ERROR(cudaHostRegister(pages, 4096, 0), cudaSuccess); // side by side
    CHECK_ERROR(cudaHostUnregister(pages + 4096), cudaSuccess);
    CHECK_ERROR(cudaHostUnregister(pages), cudaSuccess);
    free(pages);
    CHECK_ERROR(cudaMallocHost(&pinned, 64), cudaSuccess);
    CHECK(cudaHostUnregister(pinned) != cudaSuccess);
    CHECK_ERROR(cudaFreeHost(pinned), cudaSuccess);
    cudaGetLastError();

    // Managed: advice by location.
    int *m;
    cudaMallocManaged(&m, n * sizeof *m);
    cudaMemLocation device = {};
    device.type = cudaMemLocationTypeDevice;
    CHECK_ERROR(cudaMemPrefetchAsync(m, n * sizeof *m, device, 0, 0), cudaSuccess);
    CHECK_ERROR(cudaMemAdvise(m, n * sizeof *m, cudaMemAdviseSetReadMostly, device), cudaSuccess);
    device.id = 9;
    CHECK_ERROR(cudaMemPrefetchAsync(m, n * sizeof *m, device, 0, 0), cudaErrorInvalidDevice);
#ifdef CUDA_CPU_BACKEND // a GPU may reach memory that is not managed
    CHECK_ERROR(cudaMemAdvise(m, n * sizeof *m, cudaMemAdviseUnsetPreferredLocation, device),
                cudaSuccess); // it does not matter where
    device.id = 0;
    CHECK_ERROR(cudaMemPrefetchAsync(m + 1, n * sizeof *m, device, 0, 0), cudaErrorInvalidValue);
#endif
    cudaFree(m);
    cudaGetLastError();
    count_up<<<2, 3>>>();
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(shared_by_both == 9);

    // A box out of a larger one.
    const int w = 5, rows = 4, slices = 3;
    std::vector<float> all(w * rows * slices), part(2 * 2 * 2);
    for (size_t i = 0; i < all.size(); i++)
        all[i] = float(i);
    cudaExtent extent = make_cudaExtent(w * sizeof(float), rows, slices);
    cudaPitchedPtr box;
    CHECK_ERROR(cudaMalloc3D(&box, extent), cudaSuccess);
    CHECK(box.pitch >= w * sizeof(float) && box.ysize == rows);
    CHECK_ERROR(cudaMemset3D(box, 0, extent), cudaSuccess);
    cudaMemcpy3DParms c = {};
    c.srcPtr = make_cudaPitchedPtr(all.data(), w * sizeof(float), w, rows);
    c.dstPtr = box;
    c.extent = extent;
    c.kind = cudaMemcpyHostToDevice;
    CHECK_ERROR(cudaMemcpy3D(&c), cudaSuccess);
    c = cudaMemcpy3DParms();
    c.srcPtr = box;
    c.srcPos = make_cudaPos(sizeof(float), 2, 1);
    c.dstPtr = make_cudaPitchedPtr(part.data(), 2 * sizeof(float), 2, 2);
    c.extent = make_cudaExtent(2 * sizeof(float), 2, 2);
    c.kind = cudaMemcpyDeviceToHost;
    CHECK_ERROR(cudaMemcpy3D(&c), cudaSuccess);
    CHECK(part[0] == 31 && part[1] == 32 && part[2] == 36 && part[7] == 57);
    cudaPitchedPtr low = make_cudaPitchedPtr(part.data(), 2 * sizeof(float), 2, 1);
    c.dstPtr = low; // the second row would be the next slice's
    CHECK_ERROR(cudaMemcpy3D(&c), cudaErrorInvalidPitchValue);
    c.srcPtr = low, c.srcPos = make_cudaPos(0, 0, 0);
    c.dstPtr = box, c.kind = cudaMemcpyHostToDevice;
    CHECK_ERROR(cudaMemcpy3D(&c), cudaErrorInvalidPitchValue);

    // Two rows of each slice: what is below them stays.
    std::vector<float> after(all.size());
    CHECK_ERROR(cudaMemset3D(box, 0, make_cudaExtent(w * sizeof(float), 2, slices)), cudaSuccess);
    c = cudaMemcpy3DParms();
    c.srcPtr = box;
    c.dstPtr = make_cudaPitchedPtr(after.data(), w * sizeof(float), w, rows);
    c.extent = extent;
    c.kind = cudaMemcpyDeviceToHost;
    CHECK_ERROR(cudaMemcpy3D(&c), cudaSuccess);
    for (size_t i = 0; i < all.size(); i++)
        CHECK(after[i] == (i / w % rows < 2 ? 0 : all[i]));
#ifdef CUDA_CPU_BACKEND // what a GPU stops at depends on what else lies there
    c.extent.depth = slices + 1;
    CHECK_ERROR(cudaMemcpy3D(&c), cudaErrorInvalidValue);
#endif
    cudaGetLastError();
    cudaFree(box.ptr);

    // What is to be the device's is no memory at all, or not any more.
    char bytes[16] = {}, *gone = (char *)16;
    CHECK_ERROR(cudaMemcpy(gone, bytes, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemcpy(bytes, gone, 16, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemset(gone, 0, 16), cudaErrorInvalidValue);
#ifdef CUDA_CPU_BACKEND // on a GPU other memory may be there
    CHECK_ERROR(cudaMalloc(&gone, 1000), cudaSuccess);
    CHECK_ERROR(cudaMemcpy(gone - 8, bytes, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_ERROR(cudaFree(gone), cudaSuccess);
    CHECK_ERROR(cudaMalloc(&gone, 8000), cudaSuccess);
    CHECK_ERROR(cudaMemcpy(gone + 8000, bytes, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemcpy(gone + 8192, bytes, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemset2D(gone, 4000, 0, 8, 2), cudaSuccess);
    CHECK_ERROR(cudaMemset2D(gone, 4000, 0, 8, 3), cudaErrorInvalidValue);
    // The kind may be for the call to find out.
    CHECK_ERROR(cudaMemcpy(gone + 7985, bytes, 16, cudaMemcpyDefault), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemcpy(bytes, gone + 7985, 16, cudaMemcpyDefault), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemcpy(gone + 7984, bytes, 16, cudaMemcpyDefault), cudaSuccess);
    CHECK_ERROR(cudaFree(gone), cudaSuccess);
    CHECK_ERROR(cudaMemcpy(gone, bytes, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemcpy(gone, bytes, 16, cudaMemcpyDefault), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemcpy(bytes, gone, 16, cudaMemcpyDefault), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemcpy(&gone, bytes, 1, cudaMemcpyHostToDevice), cudaSuccess); // the host's
#endif
    cudaGetLastError();

    // The device's pool.
    cudaMemPool_t pool;
    unsigned long long threshold = 1 << 20, kept = 0;
    CHECK_ERROR(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
    CHECK_ERROR(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
                cudaSuccess);
    CHECK_ERROR(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept), cudaSuccess);
    CHECK(kept == threshold);
    CHECK_ERROR(cudaMallocFromPoolAsync(&d, 256, pool, 0), cudaSuccess);
    unsigned long long zero = 0, high = 0, now = 0;
    CHECK_ERROR(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high), cudaSuccess);
    CHECK(high >= 256);
    CHECK_ERROR(cudaFreeAsync(d, 0), cudaSuccess);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK_ERROR(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero), cudaSuccess);
    CHECK_ERROR(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high), cudaSuccess);
    CHECK_ERROR(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &now), cudaSuccess);
    CHECK(high == now);
}

static void test_device()
{
    int value, least, greatest;
    char id[20];
    cudaDeviceProp p;
    cudaStream_t s;
    CHECK_ERROR(cudaSetDeviceFlags(cudaDeviceMapHost | cudaDeviceScheduleSpin), cudaSuccess);
    unsigned flags = 0;
    CHECK_ERROR(cudaGetDeviceFlags(&flags), cudaSuccess);
    CHECK((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleSpin);
    CHECK_ERROR(cudaSetDeviceFlags(cudaDeviceScheduleYield), cudaSuccess);
    CHECK_ERROR(cudaGetDeviceFlags(&flags), cudaSuccess);
    CHECK(flags & cudaDeviceMapHost); // which is always so
    size_t limit = 0;
    CHECK_ERROR(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20), cudaSuccess);
    CHECK_ERROR(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize), cudaSuccess);
    CHECK(limit >= 16 << 20);
    CHECK_ERROR(cudaGetDeviceProperties(&p, 0), cudaSuccess);
    CHECK_ERROR(cudaDeviceGetAttribute(&value, cudaDevAttrMaxBlockDimZ, 0), cudaSuccess);
    CHECK(value == 64 && p.maxThreadsDim[2] == 64);
    CHECK_ERROR(cudaDeviceGetAttribute(&value, cudaDevAttrComputeMode, 0), cudaSuccess);
    CHECK(value == cudaComputeModeDefault);
    CHECK_ERROR(cudaDeviceGetPCIBusId(id, sizeof id, 0), cudaSuccess);
    CHECK_ERROR(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
    CHECK_ERROR(cudaDeviceEnablePeerAccess(7, 0), cudaErrorInvalidDevice);
#ifdef CUDA_CPU_BACKEND // flags that there are not come first
    CHECK_ERROR(cudaDeviceEnablePeerAccess(0, 1), cudaErrorInvalidValue);
#endif
    CHECK_ERROR(cudaDeviceCanAccessPeer(&value, 0, 7), cudaErrorInvalidDevice);
    CHECK_ERROR(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
    CHECK_ERROR(cudaDeviceDisablePeerAccess(7), cudaErrorInvalidDevice);
    cudaGetLastError();
#ifdef CUDA_CPU_BACKEND // elsewhere it takes a library of the driver's
    CHECK_ERROR(cudaDeviceGetPCIBusId(id, (int)strlen(id), 0), cudaErrorInvalidValue);
    CHECK_ERROR(cudaSetValidDevices(&value, -1), cudaErrorInvalidValue);
    cudaGetLastError();
    CUdevice device = 7;
    char name[64];
    CHECK(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS);
    CHECK(cuDeviceGetName(name, sizeof name, device) == CUDA_SUCCESS && strcmp(name, p.name) == 0);
    CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device) == CUDA_SUCCESS &&
          value == 32);
    CHECK(cuDeviceGet(&device, 1) == CUDA_ERROR_INVALID_DEVICE);
    CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_PITCH, 0) == CUDA_SUCCESS &&
          value == (int)p.memPitch);
    CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 0) ==
              CUDA_SUCCESS &&
          value == p.maxTexture3D[2]);
    CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, 0) == CUDA_SUCCESS &&
          value == CU_COMPUTEMODE_DEFAULT);
    CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH, 0) ==
              CUDA_SUCCESS &&
          value == 0);
    CHECK(cuDeviceCanAccessPeer(&value, 0, 0) == CUDA_SUCCESS && value == 0);
    CHECK(cuDeviceCanAccessPeer(&value, 0, 1) == CUDA_ERROR_INVALID_DEVICE);
    const char *said = NULL;
    CHECK(cuGetErrorName(CUDA_ERROR_NOT_FOUND, &said) == CUDA_SUCCESS);
    CHECK(said && strcmp(said, "CUDA_ERROR_NOT_FOUND") == 0);
    CHECK(cuGetErrorName((CUresult)-1, &said) == CUDA_ERROR_INVALID_VALUE && !said);
    cudaGetLastError();
#endif
    CHECK_ERROR(cudaProfilerStart(), cudaSuccess);
    CHECK_ERROR(cudaProfilerStop(), cudaSuccess);

    int calls = 0;
    CHECK_ERROR(cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
    CHECK_ERROR(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, greatest), cudaSuccess);
    CHECK_ERROR(cudaStreamGetPriority(s, &value), cudaSuccess);
    CHECK(value == greatest);
    CHECK_ERROR(cudaStreamAddCallback(s, called_back, &calls, 0), cudaSuccess);
    CHECK_ERROR(cudaLaunchHostFunc(s, note, &calls), cudaSuccess);
    CHECK_ERROR(cudaStreamSynchronize(s), cudaSuccess);
    CHECK(calls == 11);
    CHECK_ERROR(cudaStreamDestroy(s), cudaSuccess);

    int grid, block;
    CHECK_ERROR(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add, 0, 1 << 20), cudaSuccess);
    CHECK(block >= 32 && block <= 1024 && grid >= p.multiProcessorCount);
    CHECK(strcmp(cudaGetErrorString(cudaErrorPeerAccessNotEnabled),
                 "peer access has not been enabled") == 0);

    // A time is never 0, as programs divide by it.
    cudaEvent_t start, stop;
    float ms = 0;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    CHECK_ERROR(cudaEventElapsedTime(&ms, start, stop), cudaSuccess);
    CHECK(ms > 0);
    CHECK_ERROR(cudaEventElapsedTime(&ms, start, start), cudaSuccess);
    CHECK(ms == 0);
    cudaEvent_t untimed;
    cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
    cudaEventRecord(untimed);
    cudaEventSynchronize(untimed);
    CHECK_ERROR(cudaEventElapsedTime(&ms, start, untimed), cudaErrorInvalidResourceHandle);
    CHECK_ERROR(cudaEventElapsedTime(&ms, untimed, stop), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    cudaEventDestroy(untimed);
}

__global__ void halve(int *p, cudaGraphConditionalHandle handle, cudaGraphConditionalHandle too)
{
    if (threadIdx.x == 0) {
        *p /= 2;
        cudaGraphSetConditional(handle, (unsigned)*p);
        cudaGraphSetConditional(too, (unsigned)*p);
    }
}

__global__ void put(int *p, int v)
{
    *p = v;
}

static cudaGraphNode_t add_put(cudaGraph_t graph, const cudaGraphNode_t *after, int *p, int v)
{
    cudaGraphNode_t node;
    void *arguments[] = {&p, &v};
    cudaGraphNodeParams k = {};
    k.type = cudaGraphNodeTypeKernel;
    k.kernel.func = (void *)put;
    k.kernel.gridDim.x = k.kernel.gridDim.y = k.kernel.gridDim.z = 1;
    k.kernel.blockDim.x = k.kernel.blockDim.y = k.kernel.blockDim.z = 1;
    k.kernel.kernelParams = arguments;
    CHECK_ERROR(cudaGraphAddNode(&node, graph, after, nullptr, after != nullptr, &k), cudaSuccess);
    return node;
}

static cudaGraph_t *add_conditional(cudaGraphNode_t *node, cudaGraph_t graph,
                                    const cudaGraphNode_t *after, cudaGraphConditionalHandle handle,
                                    cudaGraphConditionalNodeType type, unsigned size)
{
    cudaGraphNodeParams c = {};
    c.type = cudaGraphNodeTypeConditional;
    c.conditional.handle = handle;
    c.conditional.type = type;
    c.conditional.size = size;
    CHECK_ERROR(cudaGraphAddNode(node, graph, after, nullptr, after != nullptr, &c), cudaSuccess);
    return c.conditional.phGraph_out;
}

/* A kernel sets what decides: a loop, one of two graphs, one of several. Captured, and not. */
static void test_conditions()
{
    int *p;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node, last;
    cudaGraphConditionalHandle handle, second;
    cudaStream_t s;
    cudaMallocManaged(&p, 4 * sizeof *p);
    cudaStreamCreate(&s);
    CHECK_ERROR(cudaGraphCreate(&graph, 0), cudaSuccess);
    CHECK_ERROR(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault),
                cudaSuccess);
    CHECK_ERROR(cudaGraphConditionalHandleCreate(&second, graph, 1, cudaGraphCondAssignDefault),
                cudaSuccess);
    cudaGraph_t *body = add_conditional(&node, graph, nullptr, handle, cudaGraphCondTypeWhile, 1);
    CHECK_ERROR(
        cudaStreamBeginCaptureToGraph(s, body[0], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal),
        cudaSuccess);
    halve<<<1, 32, 0, s>>>(p, handle, second);
    add<<<1, 32, 0, s>>>(p + 1, 1, 1);
    CHECK_ERROR(cudaStreamEndCapture(s, nullptr), cudaSuccess);
    cudaGraphNodeParams again = {}; // a handle is one node's
    again.type = cudaGraphNodeTypeConditional;
    again.conditional.handle = handle;
    again.conditional.type = cudaGraphCondTypeIf;
    again.conditional.size = 1;
    CHECK_ERROR(cudaGraphAddNode(&last, graph, &node, nullptr, 1, &again), cudaErrorInvalidValue);
#ifdef CUDA_CPU_BACKEND // a node that is refused does not keep it
    again.conditional.handle = second;
    CHECK_ERROR(cudaGraphAddNode(nullptr, graph, &node, nullptr, 1, &again), cudaErrorInvalidValue);
    again.conditional.size = 3; // of an if
    CHECK_ERROR(cudaGraphAddNode(&last, graph, &node, nullptr, 1, &again), cudaErrorInvalidValue);
#endif
    cudaGetLastError();
    body = add_conditional(&last, graph, &node, second, cudaGraphCondTypeIf, 2);
    add_put(body[0], nullptr, p + 2, 10);
    const cudaGraphNode_t later = add_put(body[1], nullptr, p + 2, 11);
    const cudaGraphNode_t earlier = add_put(body[1], nullptr, p + 2, 12);
    CHECK_ERROR(cudaGraphAddDependencies(body[1], &earlier, &later, nullptr, 1), cudaSuccess);
    cudaGraphNodeType type;
    CHECK_ERROR(cudaGraphNodeGetType(last, &type), cudaSuccess);
    CHECK(type == cudaGraphNodeTypeConditional);
    CHECK_ERROR(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    CHECK_ERROR(cudaGraphDestroy(graph), cudaSuccess);
    for (int round = 1; round < 3; round++) {
        p[0] = 20; // 10, 5, 2, 1, 0: five times
        p[1] = p[2] = 0;
        CHECK_ERROR(cudaGraphLaunch(exec, s), cudaSuccess);
        CHECK_ERROR(cudaStreamSynchronize(s), cudaSuccess);
        CHECK(p[0] == 0 && p[1] == 5 && p[2] == 11);
    }
    CHECK_ERROR(cudaGraphExecDestroy(exec), cudaSuccess);

    CHECK_ERROR(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *after;
    size_t count = 9;
    CHECK_ERROR(cudaStreamGetCaptureInfo(s, &status, nullptr, &graph, &after, nullptr, &count),
                cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusActive && count == 0);
    CHECK_ERROR(cudaGraphConditionalHandleCreate(&handle, graph), cudaSuccess);
    halve<<<1, 32, 0, s>>>(p, handle, handle);
    CHECK_ERROR(cudaStreamGetCaptureInfo(s, &status, nullptr, &graph, &after, nullptr, &count),
                cudaSuccess);
    CHECK(count == 1);
    body = add_conditional(&node, graph, after, handle, cudaGraphCondTypeSwitch, 3);
    CHECK_ERROR(
        cudaStreamUpdateCaptureDependencies(s, &node, nullptr, 1, cudaStreamSetCaptureDependencies),
        cudaSuccess);
    add<<<1, 32, 0, s>>>(p + 1, 1, 1);
    CHECK_ERROR(cudaStreamEndCapture(s, &graph), cudaSuccess);
    for (int i = 0; i < 3; i++)
        add_put(body[i], nullptr, p + 1, 100 * i);
    CHECK_ERROR(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    for (int i = 0; i < 4; i++) {
        p[0] = 2 * i;
        p[1] = -1;
        CHECK_ERROR(cudaGraphLaunch(exec, s), cudaSuccess);
        CHECK_ERROR(cudaStreamSynchronize(s), cudaSuccess);
        CHECK(p[1] == (i < 3 ? 100 * i + 1 : 0));
    }
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);

    // A handle that no node has is in the way.
    CHECK_ERROR(cudaGraphCreate(&graph, 0), cudaSuccess);
    CHECK_ERROR(cudaGraphConditionalHandleCreate(&handle, graph), cudaSuccess);
    CHECK_ERROR(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);
    cudaGetLastError();
    cudaGraphDestroy(graph);
    cudaStreamDestroy(s);
    cudaFree(p);
}

static uint64_t graph_memory(cudaGraphMemAttributeType what)
{
    uint64_t bytes = 0;
    CHECK_ERROR(cudaDeviceGetGraphMemAttribute(0, what, &bytes), cudaSuccess);
    return bytes;
}

/* Memory that a graph allocates, freed by the graph, by another one, or by a call. */
static void test_graph_memory()
{
    const int n = 1 << 20;
    int *out, first = -1, *got;
    cudaGraph_t graph;
    cudaGraphExec_t exec, frees;
    cudaGraphNode_t a, b, c;
    cudaMallocManaged(&out, sizeof *out);
    cudaMemAllocNodeParams m = {};
    m.poolProps.allocType = cudaMemAllocationTypePinned;
    m.poolProps.location.type = cudaMemLocationTypeDevice;
    m.bytesize = n * sizeof *got;
    CHECK_ERROR(cudaGraphCreate(&graph, 0), cudaSuccess);
    CHECK_ERROR(cudaGraphAddMemAllocNode(&a, graph, nullptr, 0, &m), cudaSuccess);
    CHECK(m.dptr != nullptr);
    int *p = static_cast<int *>(m.dptr);
    b = add_put(graph, &a, p + n - 1, 5);
    CHECK_ERROR(
        cudaGraphAddMemcpyNode1D(&c, graph, &b, 1, out, p + n - 1, sizeof *out, cudaMemcpyDefault),
        cudaSuccess);
    CHECK_ERROR(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    CHECK_ERROR(cudaGraphDestroy(graph), cudaSuccess);
    CHECK(graph_memory(cudaGraphMemAttrUsedMemCurrent) == 0);
    for (int i = 0; i < 2; i++) {
        *out = 0;
        CHECK_ERROR(cudaGraphLaunch(exec, nullptr), cudaSuccess);
        CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
        CHECK(*out == 5);
        CHECK_ERROR(cudaDeviceGraphMemTrim(0), cudaSuccess); // what is in use stays
        CHECK(graph_memory(cudaGraphMemAttrUsedMemCurrent) >= n * sizeof *got);
        CHECK(graph_memory(cudaGraphMemAttrReservedMemCurrent) >= n * sizeof *got);
#ifdef CUDA_CPU_BACKEND // the last run's is gone
        CHECK_ERROR(cudaMemcpy(&first, p, sizeof first, cudaMemcpyDefault), cudaSuccess);
        CHECK(first == -1);
        add<<<1, 32>>>(p, 1, 1);
#endif
        add<<<1, 32>>>(p + n - 1, 1, 2); // it outlives the graph's run
        CHECK_ERROR(cudaMemcpy(&first, p + n - 1, sizeof first, cudaMemcpyDefault), cudaSuccess);
        CHECK(first == 7);
        CHECK_ERROR(i ? cudaFree(p) : cudaFreeAsync(p, nullptr), cudaSuccess);
        CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
        CHECK(cudaFree(p) != cudaSuccess);
        cudaGetLastError();
    }
    CHECK_ERROR(cudaGraphCreate(&graph, 0), cudaSuccess);
    CHECK(cudaGraphAddMemFreeNode(&a, graph, nullptr, 0, p + 1) != cudaSuccess);
    cudaGetLastError();
    CHECK_ERROR(cudaGraphAddMemFreeNode(&a, graph, nullptr, 0, p), cudaSuccess);
    CHECK_ERROR(cudaGraphInstantiate(&frees, graph, 0), cudaSuccess);
    CHECK_ERROR(cudaGraphDestroy(graph), cudaSuccess);
    CHECK_ERROR(cudaGraphLaunch(exec, nullptr), cudaSuccess);
    CHECK(cudaGraphLaunch(exec, nullptr) == cudaErrorInvalidValue); // is not freed
    cudaGetLastError();
    CHECK_ERROR(cudaGraphLaunch(frees, nullptr), cudaSuccess);
    CHECK_ERROR(cudaGraphLaunch(exec, nullptr), cudaSuccess);
    CHECK_ERROR(cudaGraphExecDestroy(exec), cudaSuccess);
    CHECK_ERROR(cudaGraphLaunch(frees, nullptr), cudaSuccess); // it outlives the graph
    CHECK_ERROR(cudaGraphExecDestroy(frees), cudaSuccess);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(graph_memory(cudaGraphMemAttrReservedMemHigh) >= n * sizeof *got);
    uint64_t reset = 0;
    CHECK_ERROR(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &reset),
                cudaSuccess);
    CHECK(graph_memory(cudaGraphMemAttrReservedMemHigh) >=
          graph_memory(cudaGraphMemAttrReservedMemCurrent));
    CHECK_ERROR(cudaDeviceGraphMemTrim(0), cudaSuccess);
    CHECK(graph_memory(cudaGraphMemAttrUsedMemCurrent) == 0);
    CHECK(graph_memory(cudaGraphMemAttrReservedMemCurrent) == 0);

    cudaStream_t s, t;
    cudaEvent_t e;
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    CHECK_ERROR(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
    CHECK_ERROR(cudaMallocAsync(&got, n * sizeof *got, s), cudaSuccess);
    put<<<1, 1, 0, s>>>(got, 9);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(t, e, 0);
    CHECK_ERROR(cudaMemcpyAsync(out, got, sizeof *out, cudaMemcpyDefault, t), cudaSuccess);
    CHECK_ERROR(cudaFreeAsync(got, t), cudaSuccess);
    cudaEventRecord(e, t);
    cudaStreamWaitEvent(s, e, 0);
    CHECK_ERROR(cudaStreamDestroy(t), cudaSuccess); // which has been joined
    CHECK_ERROR(cudaStreamEndCapture(s, &graph), cudaSuccess);
    CHECK_ERROR(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch),
                cudaSuccess);
    for (int i = 0; i < 2; i++) {
        *out = 0;
        CHECK_ERROR(cudaGraphLaunch(exec, s), cudaSuccess);
        CHECK_ERROR(cudaStreamSynchronize(s), cudaSuccess);
        CHECK(*out == 9);
    }
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);

    // A stream that is gone before it is joined makes the capture invalid.
    CHECK_ERROR(cudaGraphCreate(&graph, 0), cudaSuccess);
    cudaStreamCreate(&t);
    CHECK_ERROR(
        cudaStreamBeginCaptureToGraph(s, graph, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal),
        cudaSuccess);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(t, e, 0);
    put<<<1, 1, 0, t>>>(out, 1);
    cudaStreamDestroy(t);
    CHECK(cudaStreamEndCapture(s, nullptr) != cudaSuccess);
    cudaGetLastError();
#ifdef CUDA_CPU_BACKEND // an H100's graph is invalid as well
    add_put(graph, nullptr, out, 2);
    CHECK_ERROR(cudaGraphDestroy(graph), cudaSuccess);
#endif
    cudaStreamDestroy(s);
    cudaEventDestroy(e);
    cudaFree(out);

    // What nobody frees is freed when it is allocated again, where that is asked for.
    CHECK_ERROR(cudaGraphCreate(&graph, 0), cudaSuccess);
    CHECK_ERROR(cudaGraphAddMemAllocNode(&a, graph, nullptr, 0, &m), cudaSuccess);
    for (unsigned flags : {(unsigned)cudaGraphInstantiateFlagAutoFreeOnLaunch, 0u}) {
        CHECK_ERROR(cudaGraphInstantiate(&exec, graph, flags), cudaSuccess);
        CHECK_ERROR(cudaGraphLaunch(exec, nullptr), cudaSuccess);
        CHECK(cudaGraphLaunch(exec, nullptr) == (flags ? cudaSuccess : cudaErrorInvalidValue));
        cudaGetLastError();
        CHECK_ERROR(cudaFree(m.dptr), cudaSuccess);
        CHECK_ERROR(cudaGraphExecDestroy(exec), cudaSuccess);
    }
    cudaGraphDestroy(graph);
}

/* After a kernel has failed no call does anything, whatever it is given: all return its error. */
static void test_after_error()
{
    const cudaError_t stuck = cudaErrorIllegalAddress;
    int n = 0, numbers[4] = {1, 2, 3, 4}, *p = (int *)16, *there;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStream_t s;
    CHECK_ERROR(cudaMallocManaged(&there, sizeof numbers), cudaSuccess);
    *there = 7;
    CHECK_ERROR(cudaStreamCreate(&s), cudaSuccess);
    CHECK_ERROR(cudaGraphCreate(&graph, 0), cudaSuccess);
    add_put(graph, nullptr, there, 8);
    CHECK_ERROR(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    put<<<1, 1>>>(nullptr, 1);
    CHECK_ERROR(cudaDeviceSynchronize(), stuck);
    CHECK_ERROR(cudaMalloc(&p, 1024), stuck);
    CHECK(!p); // whatever it was before
    p = (int *)16;
    for (int *to : {p, (int *)nullptr}) {
        CHECK_ERROR(cudaMemcpy(to, numbers, 16, cudaMemcpyHostToDevice), stuck);
        CHECK_ERROR(cudaMemcpy(numbers, to, 16, cudaMemcpyDeviceToHost), stuck);
        CHECK_ERROR(cudaMemcpyAsync(to, numbers, 16, cudaMemcpyHostToDevice, s), stuck);
        CHECK_ERROR(cudaMemcpy2D(to, 8, numbers, 8, 8, 2, cudaMemcpyHostToDevice), stuck);
        CHECK_ERROR(cudaMemset(to, 0, 16), stuck);
        CHECK_ERROR(cudaMemsetAsync(to, 0, 16, s), stuck);
    }
    CHECK_ERROR(cudaMemcpy(there, numbers, 4, cudaMemcpyDefault), stuck);
    CHECK_ERROR(cudaMemset(there, 0, 4), stuck);
    CHECK_ERROR(cudaMemsetAsync(there, 0, 4, s), stuck);
    CHECK_ERROR(cudaMemcpyToSymbol(shared_by_both, numbers, 4), stuck);
    CHECK_ERROR(cudaLaunchHostFunc(s, note, &n), stuck);
    CHECK_ERROR(cudaGraphLaunch(exec, s), stuck);
    put<<<1, 1>>>(there, 9);
    CHECK_ERROR(cudaGetLastError(), stuck);
    CHECK(n == 0 && numbers[0] == 1 && numbers[3] == 4);
#ifdef CUDA_CPU_BACKEND // there the host cannot be sure of managed memory any more
    // cpu.t sees that nothing is said of these two.
    put<<<0, 1>>>(there, 9);
    CHECK_ERROR(cudaGetLastError(), stuck);
    void *arguments[] = {&there, &n}, *kernel = (void *)put;
    CHECK_ERROR(cudaLaunchKernel(kernel, 0, 1, arguments, 0, s), stuck);
    CHECK_ERROR(cudaFree(there), stuck);
    CHECK(*there == 7);
    cudaArray_t array = (cudaArray_t)p;
    cudaChannelFormatDesc d = cudaCreateChannelDesc<int>();
    CHECK_ERROR(cudaMallocArray(&array, &d, 4), stuck);
    CHECK(array == (cudaArray_t)p);
    CHECK_ERROR(cudaMemcpy2DToArray(array, 0, 0, numbers, 16, 16, 1, cudaMemcpyHostToDevice),
                stuck);
    CHECK_ERROR(cudaGetChannelDesc(&d, array), stuck);
    CHECK_ERROR(cudaArrayGetInfo(&d, nullptr, nullptr, array), stuck);
    cudaMemcpy3DParms c = {};
    c.dstArray = array;
    c.srcPtr = make_cudaPitchedPtr(numbers, 16, 16, 1);
    c.extent = make_cudaExtent(4, 1, 1);
    c.kind = cudaMemcpyHostToDevice;
    CHECK_ERROR(cudaMemcpy3D(&c), stuck);
    cudaResourceDesc r = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t t;
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    CHECK_ERROR(cudaCreateTextureObject(&t, &r, &how, nullptr), stuck);
    CHECK_ERROR(cudaCreateSurfaceObject(&t, &r), stuck);
    CHECK_ERROR(cudaFreeArray(array), stuck);
#endif
}

int main()
{
    test_launches();
    test_graph();
    test_edges();
    test_memory();
    test_device();
    test_conditions();
    test_graph_memory();
    test_after_error();
    return check_result();
}
