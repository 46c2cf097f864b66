/* Kernels that stop themselves, or that the device stops, for reasons that no other rule has. */
#include "../async-faults/suite.cuh"

#include <cassert>
#include <cooperative_groups.h>

template <bool fault>
__global__ void asks_for_even(const int *x, int *y, int n)
{
    assert(n % 2 == 0); // seen here: asks_for_even
    const int t = threadIdx.x;
    y[t] = x[t] + x[t + n / 2];
}

template <bool fault>
static bool run_asks_for_even()
{
    const auto in = numbers(64);
    array<int> x(in), y(32);
    const int n = fault ? 63 : 64; // fault here: asks_for_even
    asks_for_even<fault><<<1, 32>>>(x, y, n);
    return came_out<fault>(y.p, 32, [&](int i) { return in[i] + in[i + 32]; });
}

/* Each thread looks for its element's successor, and the last one has none. */
template <bool fault>
__global__ void next_greater(const int *x, int *y, int n)
{
    const int t = threadIdx.x;
    int k = t + 1;
    while (k < n && x[k] <= x[t])
        k++;
    const bool none = fault ? k == n : k > n; // fault here: next_greater
    if (none)
        __trap(); // seen here: next_greater
    y[t] = k;
}

template <bool fault>
static bool run_next_greater()
{
    const auto in = each(32, [](int i) { return i; });
    array<int> x(in), y(32);
    next_greater<fault><<<1, 32>>>(x, y, 32);
    return came_out<fault>(y.p, 32, [](int i) { return i + 1; });
}

typedef int (*operation)(int);
static __device__ int twice(int x)
{
    return 2 * x;
}
static __device__ int square(int x)
{
    return x * x;
}
static __device__ operation operations[3] = {twice, square};

/* The table has an entry that nothing has set. */
template <bool fault>
__global__ void by_table(const int *x, int *y)
{
    const int t = threadIdx.x;
    const operation f = operations[t % 32 == 31 && fault ? 2 : t % 2]; // fault here: by_table
    y[t] = f(x[t]);                                                    // seen here: by_table
}

RUN(by_table, 1, 64, numbers(64), each(64, [](int i) {
        const int x = i % 7 + 1;
        return i % 2 ? x * x : 2 * x;
    }))

/* A sum over a list, which has a circle if its last element leads back to the first. */
struct element {
    int value, next;
};
static __device__ __noinline__ int sum_from(const element *list, int i)
{
    volatile int value = list[i].value;                                   // seen here: circle
    return value + (list[i].next < 0 ? 0 : sum_from(list, list[i].next)); // seen here: circle
}

template <bool fault>
__global__ void circle(const element *list, int *y)
{
    y[threadIdx.x] = sum_from(list, threadIdx.x);
}

template <bool fault>
static bool run_circle()
{
    std::vector<element> in(16);
    for (int i = 0; i < 16; i++)
        in[i] = {1, i + 1};
    in[15].next = fault ? 0 : -1; // fault here: circle
    array<element> list(in);
    array<int> y(16);
    circle<fault><<<1, 16>>>(list, y);
    return came_out<fault>(y.p, 16, [](int i) { return 16 - i; });
}

template <bool fault>
__global__ void over_the_grid(int *x, int *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    x[i] = i;
    cooperative_groups::this_grid().sync(); // seen here: over_the_grid
    y[i] = x[n - 1 - i];
}

template <bool fault>
static bool run_over_the_grid()
{
    array<int> x(64), y(64);
    void *arguments[] = {&x.p, &y.p};
    if (fault) // fault here: over_the_grid
        over_the_grid<fault><<<2, 32>>>(x, y);
    else
        cudaLaunchCooperativeKernel((const void *)over_the_grid<false>, 2, 32, arguments, 0, 0);
    return came_out<fault>(y.p, 64, [](int i) { return 63 - i; });
}

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(asks_for_even, "an assert does not hold"),
        SUBTLE(next_greater, "the last thread comes to a __trap"),
        SUBTLE(by_table, "one lane calls a function by a pointer that nothing has set"),
        SUBTLE(circle, "a list leads back to its first element, and a recursion does not end"),
        PLAIN(over_the_grid, "grid.sync in a launch that is not cooperative"),
    };
    return suite("stopped kernel", list, argc, argv);
}
