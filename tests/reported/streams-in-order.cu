// check: 0
// prints: 63 126 126 7 9 3 6 1 63 128
// Work of several streams, and the host, that is in order: what the order is made of, each way
// once.
#include <cstdio>
#include <vector>
__global__ void fill(int *d)
{
    d[threadIdx.x] = threadIdx.x;
}
__global__ void twice(int *d)
{
    d[threadIdx.x] *= 2;
}
__global__ void answer(int *result, volatile int *flag)
{
    *result = 7;
    __threadfence_system();
    *flag = 1;
}
__device__ int variable[64];
__managed__ int managed[64];
__global__ void sum(int *d)
{
    d[threadIdx.x] += variable[threadIdx.x];
}
struct padded {
    double value;
    int count;
};
struct inner {
    int count;
    double value;
};
__global__ void structures(padded *p, inner *q)
{
    p[threadIdx.x].value = q[threadIdx.x].value = 1;
    p[threadIdx.x].count = q[threadIdx.x].count = threadIdx.x;
}
static void CUDART_CB add_two(void *p)
{
    *(int *)p += 2;
}
int main()
{
    int *d, *e, *h, *f, v[64] = {};
    cudaStream_t s, t, own;
    cudaEvent_t event, chunk[4];
    cudaStreamCreate(&s), cudaStreamCreate(&t),
        cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaEventCreate(&event);
    cudaMalloc(&d, 256), cudaMalloc(&e, 256), cudaMallocHost(&h, 256), cudaMallocHost(&f, 4);

    // The default stream waits for streams of the usual kind, and a blocking copy for it.
    fill<<<1, 64, 0, s>>>(d);
    cudaMemcpyAsync(h, d, 256, cudaMemcpyDeviceToHost, s);
    cudaMemcpy(v, d, 256, cudaMemcpyDeviceToHost);
    printf("%d ", h[63]);

    // An event, and a copy whose call waits as it is from page-locked memory.
    cudaMemcpy(d, h, 256, cudaMemcpyHostToDevice);
    twice<<<1, 64, 0, own>>>(d);
    cudaEventRecord(event, own);
    cudaStreamWaitEvent(t, event, 0);
    cudaMemcpyAsync(h, d, 256, cudaMemcpyDeviceToHost, t);
    while (cudaStreamQuery(t) == cudaErrorNotReady)
        ;
    printf("%d ", h[63]);

    // Copies of pieces, each of which is waited for while the later ones may still be under way.
    for (int i = 0; i < 4; i++) {
        cudaEventCreate(&chunk[i]);
        cudaMemcpyAsync(e + 16 * i, h + 16 * i, 64, cudaMemcpyHostToDevice, own);
        cudaEventRecord(chunk[i], own);
    }
    for (int i = 0; i < 4; i++) {
        cudaStreamWaitEvent(t, chunk[i], 0);
        twice<<<1, 16, 0, t>>>(e + 16 * i);
    }
    cudaStreamSynchronize(t);
    printf("%d ", h[63]);
    cudaMemcpy(v, e, 256, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 4; i++)
        cudaEventDestroy(chunk[i]);

    // A flag of the kernel; a host function; managed memory after a wait, and that no kernel uses.
    *f = 0;
    answer<<<1, 1, 0, own>>>(h, f);
    while (!*(volatile int *)f)
        ;
    printf("%d ", h[0]);
    cudaLaunchHostFunc(own, add_two, h);
    cudaStreamSynchronize(own);
    printf("%d ", h[0]);
    fill<<<1, 32>>>(managed);
    managed[40] = 3;
    printf("%d ", managed[40]);
    cudaDeviceSynchronize();

    // Variables of the device by their symbols, and by an address that was asked for.
    void *p;
    for (int &x : v)
        x = 3;
    cudaMemcpyToSymbol(variable, v, 256);
    sum<<<1, 64, 0, s>>>(d);
    cudaGetSymbolAddress(&p, variable);
    cudaMemcpy(p, d, 256, cudaMemcpyDeviceToDevice);
    cudaMemcpy(managed, p, 256, cudaMemcpyDefault);
    cudaMemcpy(v, managed, 256, cudaMemcpyDeviceToHost);
    printf("%d ", v[0] + 3);

    // Padding that nobody has written, and rows with gaps.
    padded *a, b[64];
    inner *c, g[64];
    cudaMalloc(&a, sizeof b), cudaMalloc(&c, sizeof g);
    structures<<<1, 64>>>(a, c);
    cudaMemcpy(b, a, sizeof b, cudaMemcpyDeviceToHost);
    cudaMemcpy(g, c, sizeof g, cudaMemcpyDeviceToHost);
    printf("%d %d ", (int)b[63].value, g[63].count);
    char *rows, row[800];
    size_t pitch;
    cudaMallocPitch(&rows, &pitch, 100, 8);
    cudaMemset2D(rows, pitch, 128, 100, 8);
    cudaMemcpy2D(row, 100, rows, pitch, 100, 8, cudaMemcpyDeviceToHost);
    printf("%d\n", (unsigned char)row[799]);

    // Memory of a pool that goes from stream to stream.
    int *q;
    cudaMallocAsync(&q, 256, s);
    cudaEventRecord(event, s);
    cudaStreamWaitEvent(own, event, 0);
    fill<<<1, 64, 0, own>>>(q);
    cudaFreeAsync(q, own);

    // Registered memory, and a graph whose event another stream waits for.
    std::vector<int> registered(64);
    cudaHostRegister(registered.data(), 256, cudaHostRegisterDefault);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t copied, recorded;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemcpyNode1D(&copied, graph, NULL, 0, registered.data(), d, 256,
                             cudaMemcpyDeviceToHost);
    cudaGraphAddEventRecordNode(&recorded, graph, &copied, 1, event);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, own);
    cudaEventSynchronize(event);
    registered[3] = registered[4];
    cudaStreamWaitEvent(t, event, 0);
    twice<<<1, 64, 0, t>>>(d);
    cudaDeviceSynchronize();
    cudaHostUnregister(registered.data());
    cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
    cudaFree(a), cudaFree(c), cudaFree(d), cudaFree(e), cudaFree(rows), cudaFreeHost(h),
        cudaFreeHost(f);
    cudaStreamDestroy(s), cudaStreamDestroy(t), cudaStreamDestroy(own), cudaEventDestroy(event);
}
