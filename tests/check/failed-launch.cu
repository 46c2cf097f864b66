/* Launches that are refused, and nobody asks for the error. */
#include "suite.cuh"

static __global__ void shifted(const int *x, int *y, int n)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] + 1;
}

template <bool fault>
static bool run_too_wide()
{
    const auto in = numbers(1024);
    array<int> x(in), y(1024);
    const int threads = fault ? 2048 : 1024; // fault here: too_wide
    shifted<<<1, threads>>>(x, y, 1024);     // seen here: too_wide
    return came_out<fault>(y.p, 1024, [&](int i) { return in[i] + 1; });
}

/* For fewer elements than a block has threads there is no block. */
template <bool fault>
static bool run_rounded_down()
{
    const int n = 200;
    const auto in = numbers(n);
    array<int> x(in), y(n);
    const int blocks = (n + (fault ? 0 : 255)) / 256; // fault here: rounded_down
    shifted<<<blocks, 256>>>(x, y, n);                // seen here: rounded_down
    return came_out<fault>(y.p, n, [&](int i) { return in[i] + 1; });
}

template <bool fault>
__global__ void turned(const int *x, int *y)
{
    extern __shared__ int s[];
    const int t = threadIdx.x, n = blockDim.x;
    for (int row = 0; row < 16; row++)
        s[row * n + t] = x[t] + row;
    __syncthreads();
    y[t] = s[15 * n + n - 1 - t];
}

/* 64 KB of dynamic shared memory, which a kernel has to ask for. */
template <bool fault>
static bool run_not_asked_for()
{
    const auto in = numbers(1024);
    array<int> x(in), y(1024);
    if (!fault) // fault here: not_asked_for
        cudaFuncSetAttribute(turned<fault>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    turned<fault><<<1, 1024, 65536>>>(x, y); // seen here: not_asked_for
    return came_out<fault>(y.p, 1024, [&](int i) { return in[1023 - i] + 15; });
}

static __global__ void by_depth(int *y)
{
    y[threadIdx.z * blockDim.x + threadIdx.x] = threadIdx.z;
}

/* A block has at most 64 threads along z, though it may have 1024. */
template <bool fault>
static bool run_too_deep()
{
    array<int> y(512);
    const dim3 block = fault ? dim3(4, 1, 128) : dim3(8, 1, 64); // fault here: too_deep
    by_depth<<<1, block>>>(y);                                   // seen here: too_deep
    return came_out<fault>(y.p, 512, [](int i) { return i / 8; });
}

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(too_wide, "a block of more than 1024 threads"),
        SUBTLE(rounded_down, "the number of blocks is rounded down, to none"),
        PLAIN(not_asked_for, "64 KB of shared memory, without cudaFuncSetAttribute"),
        SUBTLE(too_deep, "a block of 512 threads, but more than 64 of them along z"),
    };
    return suite("failed launch", list, argc, argv);
}
