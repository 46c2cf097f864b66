/* probe.cu: is there a device that runs what we compile? Prints "NAME", or the reason why not. */
#include <cstdio>

__global__ void answer(int *out)
{
    *out = 42;
}

static int no(const char *what, cudaError_t error)
{
    printf("%s: %s\n", what, cudaGetErrorString(error));
    return 77;
}

int main()
{
    int devices = 0;
    cudaError_t error = cudaGetDeviceCount(&devices);
    int driver = 0;
    cudaDriverGetVersion(&driver);
    if (driver == 0 || error == cudaErrorNoDevice) {
        printf("no CUDA device\n");
        return 77;
    }
    if (error != cudaSuccess)
        return no("no usable CUDA device", error);
    cudaDeviceProp device;
    error = cudaGetDeviceProperties(&device, 0);
    if (error != cudaSuccess)
        return no("device 0 does not answer", error);
    int *out = nullptr, seen = 0;
    error = cudaMalloc(&out, sizeof *out);
    if (error == cudaSuccess) {
        answer<<<1, 1>>>(out);
        error = cudaMemcpy(&seen, out, sizeof seen, cudaMemcpyDeviceToHost);
    }
    if (error != cudaSuccess || seen != 42) {
        printf("%s, compute capability %d.%d, runs no kernel compiled for it here: %s\n",
               device.name, device.major, device.minor, cudaGetErrorString(error));
        return 77;
    }
    printf("%s\n", device.name);
    return 0;
}
