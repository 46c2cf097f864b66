// Kernels that launch kernels: what children find, in which order they come, what launches are
// refused. nvcc -rdc=true compiles it as well.
#include "check.h"

#include <cstring>

enum { N = 64, DEEPEST = 24 };

__managed__ int notes[256], noted; // in the order in which they are made
__managed__ int errors[8];

__device__ void note(int what)
{
    notes[atomicAdd(&noted, 1)] = what;
}

__global__ void child(int what)
{
    note(what);
}

template <class T>
__global__ void scale(T *p, T factor)
{
    extern __shared__ int room[]; // as large as the launch says
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    room[threadIdx.x] = i;
    __syncthreads();
    p[room[threadIdx.x]] *= factor;
}

// Children find what their launching thread wrote, and change it.
__global__ void launches(int *p)
{
    const int i = threadIdx.x;
    p[i] = i;
    __syncthreads();
    if (i == 0)
        scale<int><<<2, N / 2, N / 2 * sizeof(int)>>>(p, 3);
}

// Two in one stream, in streams of its own, and last of all two tail launches.
__global__ void in_order()
{
    cudaStream_t s;
    child<<<1, 1, 0, cudaStreamTailLaunch>>>(8);
    child<<<1, 1, 0, cudaStreamTailLaunch>>>(9);
    child<<<1, 1>>>(1);
    child<<<1, 1>>>(2);
    errors[0] = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    child<<<1, 1, 0, s>>>(3);
    errors[1] = cudaStreamDestroy(s);
    child<<<1, 1, 0, cudaStreamFireAndForget>>>(3);
    note(0);
}

__global__ void grandparent()
{
    launches<<<1, N>>>(notes);
    child<<<1, 1, 0, cudaStreamTailLaunch>>>(0);
}

__global__ void deeper(int depth)
{
    noted = depth;
    notes[DEEPEST] = -1;
    deeper<<<1, 1>>>(depth + 1);
    errors[0] = cudaGetLastError();
    errors[1] = cudaGetLastError();
    if (depth == DEEPEST) {
        child<<<1, 1, 0, cudaStreamTailLaunch>>>(0); // is no deeper
        errors[2] = cudaGetLastError();
    }
}

// Launches itself when it is done, more often than kernels may be nested.
__global__ void again(int left)
{
    noted++;
    if (left)
        again<<<1, 1, 0, cudaStreamTailLaunch>>>(left - 1);
}

// Each block has errors of its own.
__global__ void own_errors()
{
    errors[blockIdx.x] = cudaGetLastError();
    child<<<0, 1>>>(1);
}

__global__ void refused(cudaStream_t hosts)
{
    child<<<0, 1>>>(1);
    errors[0] = cudaPeekAtLastError();
    errors[1] = cudaGetLastError();
    errors[2] = cudaGetLastError();
    child<<<1, 2048>>>(1);
    errors[3] = cudaGetLastError();
    cudaStream_t s;
    errors[4] = cudaStreamCreateWithFlags(&s, cudaStreamDefault);
#ifdef __CUDACPU__ // undefined
    errors[5] = cudaStreamDestroy(hosts);
    child<<<1, 1, 0, hosts>>>(1);
    errors[6] = cudaGetLastError();
    int what = 1;
    void *arguments[] = {&what};
    errors[7] = cudaLaunchCooperativeKernel((void *)child, 1, 1, arguments, 0, nullptr);
#endif
}

__global__ void memory(int *to, const int *from, int n)
{
    int *own;
    cudaMemcpyAsync(to, from, n * sizeof *to, cudaMemcpyDeviceToDevice, 0);
    cudaMemsetAsync(to + n, 0xff, n * sizeof *to, 0);
    errors[0] = cudaMalloc(&own, sizeof *own);
    *own = 7;
    errors[1] = *own;
    errors[2] = cudaFree(own);
}

// Each thread launches: its own place comes back.
__global__ void mark(int *p, int i, int v)
{
    p[i] = v;
}
__global__ void many(int *p)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    mark<<<1, 1>>>(p, i, i + 1);
    __syncthreads();
    mark<<<1, 1>>>(p, i, p[i] + 2 * i + 1); // not yet: the child above has not been waited for
}

// A tail launch comes after what its parent does later.
__global__ void before_tail(int *p)
{
    p[1] = 3;
    scale<<<1, 1, sizeof(int), cudaStreamTailLaunch>>>(p, p[1]);
    p[0] = 5;
}

// What the first child launches does not run, nor does the second child.
__global__ void breaks(int depth)
{
    breaks<<<1, 1>>>(depth + 1);
    if (depth)
        __trap();
    breaks<<<1, 1>>>(depth + 1);
}

__global__ void of_each_block()
{
    child<<<1, 1>>>(blockIdx.x);
}

static int down(float x) // a function of the host, of the name of a kernel that launches itself
{
    return (int)x;
}

__global__ void down(int *p, int n)
{
    *p += n;
    if (n)
        down<<<1, 1>>>(p, n - 1);
}

int main(int argc, char **argv)
{
    int *p;
    cudaMallocManaged(&p, 4 * N * sizeof *p);
    if (argc > 1 && strcmp(argv[1], "breaks") == 0) {
        breaks<<<1, 1>>>(0);
        CHECK_ERROR(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
        return check_result();
    }
    if (argc > 1 && strcmp(argv[1], "blocks") == 0) {
        of_each_block<<<4, 1>>>();
        CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
        printf("%d%d%d%d\n", notes[0], notes[1], notes[2], notes[3]);
        return check_result();
    }

    *p = down(2.5f);
    down<<<1, 1>>>(p, 3);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(*p == 8);

    launches<<<1, N>>>(p);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < N; i++)
        CHECK(p[i] == 3 * i);

    in_order<<<1, 1>>>();
    scale<int><<<1, 1, sizeof(int)>>>(&noted, 10); // after all children
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(noted == 70);
    CHECK(errors[0] == cudaSuccess && errors[1] == cudaSuccess);
    int where[10] = {};
    for (int i = 0; i < 7; i++)
        where[notes[i] % 10] = i;
    CHECK(where[1] < where[2] && where[8] == 5 && where[9] == 6);

    noted = 0;
    grandparent<<<1, 1>>>();
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(noted == 1 && notes[0] == 0 && notes[N - 1] == 3 * (N - 1));

    deeper<<<1, 1>>>(0);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
#ifdef __CUDACPU__ // the number is this backend's
    CHECK(noted == DEEPEST + 1 && errors[2] == cudaSuccess && notes[DEEPEST] == 0);
#endif
    CHECK(errors[1] == cudaSuccess);

    noted = 0;
    again<<<1, 1>>>(2 * DEEPEST);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(noted == 2 * DEEPEST + 1);

    own_errors<<<6, 1>>>();
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < 6; i++)
        CHECK(errors[i] == cudaSuccess);

    noted = 0;
    cudaStream_t s;
    cudaStreamCreate(&s);
    refused<<<1, 1>>>(s);
    CHECK_ERROR(cudaGetLastError(), cudaSuccess); // the device's errors are not the host's
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(noted == 0);
    CHECK(errors[0] != cudaSuccess && errors[1] == errors[0] && errors[2] == cudaSuccess);
    CHECK(errors[3] != cudaSuccess);
#ifdef __CUDACPU__ // the guide asks for cudaStreamNonBlocking, and says no more
    CHECK(errors[4] == cudaErrorInvalidValue);
    CHECK(errors[5] == cudaErrorInvalidResourceHandle);
    CHECK(errors[6] == cudaErrorInvalidResourceHandle);
    CHECK(errors[7] == cudaErrorNotPermitted);
#endif

    for (int i = 0; i < 4 * N; i++)
        p[i] = i;
    memory<<<1, 1>>>(p, p + 2 * N, N);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(p[0] == 2 * N && p[N - 1] == 3 * N - 1);
#ifdef __CUDACPU__ // an H200 sets zeros
    CHECK(p[N] == -1 && p[2 * N - 1] == -1);
#endif
    CHECK(errors[0] == cudaSuccess && errors[1] == 7 && errors[2] == cudaSuccess);

    memset(p, 0, 4 * N * sizeof *p);
    many<<<4, N>>>(p);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    int wrong = 0;
    for (int i = 0; i < 4 * N; i++)
        wrong += p[i] != 2 * i + 1;
#ifdef __CUDACPU__ // a GPU may have run the first child by then
    CHECK(wrong == 0);
#endif

    int *device, product = 0;
    cudaMalloc(&device, 2 * sizeof *device);
    before_tail<<<1, 1>>>(device);
    CHECK_ERROR(cudaMemcpy(&product, device, sizeof product, cudaMemcpyDeviceToHost), cudaSuccess);
    CHECK(product == 15);
    cudaFree(device);

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    noted = 0;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    in_order<<<1, 1, 0, s>>>();
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    for (int i = 0; i < 2; i++)
        cudaGraphLaunch(exec, s);
    CHECK_ERROR(cudaStreamSynchronize(s), cudaSuccess);
#ifdef __CUDACPU__ // tail launches in a graph are none of what an H200 waits for
    CHECK(noted == 14);
#endif
#ifdef CUDA_CPU_BACKEND // a GPU's driver crashes
    child<<<1, 1, 0, cudaStreamTailLaunch>>>(0);
    CHECK(cudaGetLastError() != cudaSuccess); // the host has no such stream
#endif
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(s);
    cudaFree(p);
    return check_result();
}
