// What --count tells of the device's own moves, and of launches that may begin early.
#include "cpu/trace.h"
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

__device__ float variable[16];

__global__ void one(float *x)
{
    cudaGridDependencySynchronize();
    x[0] = variable[0];
}

static void show(const char *what)
{
    const struct cpu_kernel_counts *list;
    cudaDeviceSynchronize();
    int n = cpu_instrument()->counts(&list);
    printf("%s:", what);
    for (int i = 0; i < n; i++) {
        const uint64_t *v = list[i].value;
        printf(" %s %d", list[i].kernel, (int)v[CPU_LAUNCHES]);
        if (v[CPU_EARLY_LAUNCHES])
            printf(", %d early", (int)v[CPU_EARLY_LAUNCHES]);
        else
            printf(", %d sectors %d bytes in, %d and %d out", (int)v[CPU_GLOBAL_LD_SECTORS],
                   (int)v[CPU_GLOBAL_LD_BYTES], (int)v[CPU_GLOBAL_ST_SECTORS],
                   (int)v[CPU_GLOBAL_ST_BYTES]);
    }
    printf("\n");
    cpu_instrument()->counts_reset();
}

static void launch(float *x, int early)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = early;
    config.gridDim = config.blockDim = dim3(1);
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, one, x);
}

int main()
{
    char *x, *y, *pinned, *host = (char *)malloc(4096);
    void *address;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc((void **)&x, 4096);
    cudaMalloc((void **)&y, 4096);
    cudaMallocHost((void **)&pinned, 4096);
    cudaMemset(x, 0, 4096);
    cudaMemsetAsync(y, 0, 33, stream);
    show("set");
    cudaMemset2D(x, 128, 0, 40, 3);
    show("three rows");
    cudaMemcpy(y, x, 100, cudaMemcpyDeviceToDevice);
    cudaMemcpyAsync(y, x, 32, cudaMemcpyDefault, stream);
    show("copied");
    cudaMemcpy2D(y, 64, x, 128, 8, 4, cudaMemcpyDeviceToDevice);
    show("four rows");
    cudaGetSymbolAddress(&address, variable);
    cudaMemcpy(address, x, 64, cudaMemcpyDeviceToDevice);
    show("to a variable");
    // What the host takes part in, and what is nothing.
    cudaMemcpy(host, x, 4096, cudaMemcpyDeviceToHost);
    cudaMemcpy(x, host, 4096, cudaMemcpyHostToDevice);
    cudaMemcpy(x, pinned, 4096, cudaMemcpyDefault);
    cudaMemcpy(pinned, x, 4096, cudaMemcpyDefault);
    cudaMemset(x, 0, 0);
    show("the host's");
    // A graph moves when it runs.
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemsetAsync(x, 0, 64, stream);
    cudaStreamEndCapture(stream, &graph);
    show("captured");
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream);
    cudaGraphLaunch(exec, stream);
    show("replayed");
    launch((float *)x, 0);
    show("in turn");
    launch((float *)x, 1);
    launch((float *)x, 0);
    launch((float *)x, 1);
    show("early");
    cudaMemset(x, 0, 4096); // alone it makes no table at the end
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(x);
    cudaFree(y);
    cudaFreeHost(pinned);
    free(host);
    return 0;
}
