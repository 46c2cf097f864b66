/* Launches, copies and memsets that CUDA refuses, in programs that do not ask. */
#include "../async-faults/suite.cuh"

enum { N = 256 };
const size_t BYTES = N * sizeof(int);

static std::vector<int> zeros()
{
    return std::vector<int>(N);
}

static __constant__ int factors[64];

static __global__ void scaled(const int *x, int *y)
{
    y[threadIdx.x] = factors[threadIdx.x] * x[threadIdx.x];
}

/* The name of a variable of the device is, for the host, a variable of its own. */
template <bool fault>
static bool run_symbol_by_address()
{
    const std::vector<int> twos(64, 2);
    array<int> x(numbers(64)), y(64);
    void *p = &factors;
    if (!fault) // fault here: symbol_by_address
        cudaGetSymbolAddress(&p, factors);
    const size_t bytes = sizeof factors;
    cudaMemcpy(p, twos.data(), bytes, cudaMemcpyHostToDevice); // seen here: symbol_by_address
    scaled<<<1, 64>>>(x, y);
    return came_out<fault>(y.p, 64, [](int i) { return 2 * (i % 7 + 1); });
}

static __device__ int counter;

static __global__ void count()
{
    atomicAdd(&counter, 1);
}

template <bool fault>
static bool run_counter_by_address()
{
    void *p = &counter;
    if (!fault) // fault here: counter_by_address
        cudaGetSymbolAddress(&p, counter);
    cudaMemset(p, 0, sizeof counter); // seen here: counter_by_address
    count<<<1, 64>>>();
    int got = 0;
    cudaMemcpyFromSymbol(&got, counter, sizeof got);
    return came_to<fault>(got, 64);
}

static __global__ void reversed(int *x)
{
    extern __shared__ int s[];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

template <bool fault>
static bool run_too_much_shared()
{
    const int bytes = 64 << 10;
    array<int> x(numbers(N));
    if (!fault) // fault here: too_much_shared
        cudaFuncSetAttribute(reversed, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    reversed<<<1, N, bytes>>>(x); // seen here: too_much_shared
    return came_out<fault>(x.p, N, [](int i) { return (N - 1 - i) % 7 + 1; });
}

static __global__ void filled(int *x, int n)
{
    const int i = blockDim.x * (blockDim.y * blockIdx.x + threadIdx.y) + threadIdx.x;
    if (i < n)
        x[i] = 1;
}

/* For a small n, a division that is not rounded up gives no block. */
template <bool fault>
static bool run_no_block()
{
    const int n = 100;
    array<int> x(std::vector<int>(n, 0));
    const int blocks = fault ? n / 128 : (n + 127) / 128; // fault here: no_block
    filled<<<blocks, 128>>>(x, n);                        // seen here: no_block
    return came_out<fault>(x.p, std::vector<int>(n, 1));
}

template <bool fault>
static bool run_too_many_threads()
{
    array<int> x(zeros());
    const dim3 block(64, fault ? 32 : 16); // fault here: too_many_threads
    filled<<<1, block>>>(x, 64);           // seen here: too_many_threads
    return came_out<fault>(x.p, N, [](int i) { return i < 64; });
}

// y = 2 x
static __global__ void doubled(const int *x, int *y)
{
    y[threadIdx.x] = 2 * x[threadIdx.x];
}

static std::vector<int> twice()
{
    return each(N, [](int i) { return 2 * (i % 7 + 1); });
}

/* Elements for bytes, the other way round: the copy would run past the array. */
template <bool fault>
static bool run_past_the_end()
{
    const auto v = numbers(4 * N);
    array<int> x(zeros()), y(N);
    const size_t bytes = fault ? BYTES * sizeof(int) : BYTES; // fault here: past_the_end
    cudaMemcpy(x, v.data(), bytes, cudaMemcpyHostToDevice);   // seen here: past_the_end
    doubled<<<1, N>>>(x, y);
    return came_out<fault>(y.p, twice());
}

/* A pitch is in bytes. */
template <bool fault>
static bool run_pitch_of_elements()
{
    const auto v = numbers(N);
    array<int> x(zeros()), y(N);
    const int *from = v.data();
    const size_t row = 16 * sizeof(int), pitch = fault ? 16 : row; // fault here: pitch_of_elements
    const auto kind = cudaMemcpyHostToDevice;
    cudaMemcpy2D(x, pitch, from, row, row, 16, kind); // seen here: pitch_of_elements
    doubled<<<1, N>>>(x, y);
    return came_out<fault>(y.p, twice());
}

template <bool fault>
static bool run_wrong_direction()
{
    const auto to = cudaMemcpyHostToDevice, back = cudaMemcpyDeviceToHost;
    array<int> x(numbers(N)), y(N);
    std::vector<int> got(N);
    doubled<<<1, N>>>(x, y);
    cudaMemcpy(got.data(), y, BYTES, fault ? to : back); // fault here: wrong_direction
    return came_to<fault>(got, twice());
}

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(symbol_by_address, "cudaMemcpy to a __constant__ variable"),
        SUBTLE(counter_by_address, "cudaMemset of a __device__ variable"),
        SUBTLE(too_much_shared, "64 KiB of shared memory without cudaFuncSetAttribute"),
        SUBTLE(no_block, "a small size makes a grid of no block"),
        SUBTLE(too_many_threads, "a block of 64 by 32 threads"),
        SUBTLE(past_the_end, "the size of a copy is multiplied by that of an element twice"),
        SUBTLE(pitch_of_elements, "a pitch in elements where bytes are due"),
        PLAIN(wrong_direction, "a copy from the device is said to go there"),
    };
    return suite("failed work", list, argc, argv);
}
