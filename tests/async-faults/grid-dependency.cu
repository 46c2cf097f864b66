/* Kernels that may begin before the one in front of them in the stream has ended: what that one
 * writes they may read, and what it reads they may write, only behind griddepcontrol.wait. It takes
 * sm_90. */
#include "ptx.cuh"

static __device__ __forceinline__ void let_next_begin()
{
    asm volatile("griddepcontrol.launch_dependents;");
}

static __device__ __forceinline__ void wait_for_front()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

/* y = 2 x */
static __global__ void doubled(const int *x, int *y)
{
    const int i = 128 * blockIdx.x + threadIdx.x;
    let_next_begin();
    y[i] = 2 * x[i];
}

/* The kernel may begin early. */
template <class... P>
static void launch_early(void (*kernel)(P...), int blocks, P... arguments)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3(128);
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, kernel, arguments...);
}

/* z = y + 1, where the kernel in front makes y. */
template <bool fault>
__global__ void no_wait_at_all(const int *y, int *z)
{
    const int i = 128 * blockIdx.x + threadIdx.x;
    if (!fault) // fault here: no_wait_at_all
        wait_for_front();
    z[i] = y[i] + 1; // seen here: no_wait_at_all
}

template <bool fault>
static bool run_no_wait_at_all()
{
    const auto in = numbers(256);
    array<int> x(in), y(256), z(256);
    doubled<<<2, 128>>>(x, y);
    launch_early<const int *, int *>(no_wait_at_all<fault>, 2, y, z);
    return came_out<fault>(z.p, 256, [&](int i) { return 2 * in[i] + 1; });
}

/* A row of weights may be read before, the other row is what the kernel in front makes. */
template <bool fault>
__global__ void loads_first(const int *weights, const int *y, int *z)
{
    const int i = 128 * blockIdx.x + threadIdx.x;
    const int w = weights[i];
    int v = 0;
    if (fault)    // fault here: loads_first
        v = y[i]; // seen here: loads_first
    wait_for_front();
    if (v == 0)
        v = y[i];
    z[i] = w * v;
}

template <bool fault>
static bool run_loads_first()
{
    const auto in = numbers(256);
    array<int> x(in), w(in), y(256), z(256);
    doubled<<<2, 128>>>(x, y);
    launch_early<const int *, const int *, int *>(loads_first<fault>, 2, w, y, z);
    return came_out<fault>(z.p, 256, [&](int i) { return in[i] * 2 * in[i]; });
}

/* One thread waits, and a barrier tells the others. */
template <bool fault>
__global__ void one_thread_waits(const int *y, int *z)
{
    const int i = 128 * blockIdx.x + threadIdx.x;
    if (threadIdx.x == 0)
        wait_for_front();
    if (!fault) // fault here: one_thread_waits
        __syncthreads();
    z[i] = y[i] + 1; // seen here: one_thread_waits
}

template <bool fault>
static bool run_one_thread_waits()
{
    const auto in = numbers(256);
    array<int> x(in), y(256), z(256);
    doubled<<<2, 128>>>(x, y);
    launch_early<const int *, int *>(one_thread_waits<fault>, 2, y, z);
    return came_out<fault>(z.p, 256, [&](int i) { return 2 * in[i] + 1; });
}

/* Sums are set to 0 for the kernel behind, where the one in front may still read the old ones. */
template <bool fault>
__global__ void cleared_early(int *x)
{
    const int i = 128 * blockIdx.x + threadIdx.x;
    if (!fault) // fault here: cleared_early
        wait_for_front();
    x[i] = 0; // seen here: cleared_early
}

template <bool fault>
static bool run_cleared_early()
{
    const auto in = numbers(256);
    array<int> x(in), y(256);
    doubled<<<2, 128>>>(x, y);
    launch_early<int *>(cleared_early<fault>, 2, x);
    return came_out<fault>(y.p, 256, [&](int i) { return 2 * in[i]; });
}

/* A kernel between the two that has nothing to do with y. If it does not wait, it may end before
 * the first has, and then the third waits for the second only. */
template <bool fault>
__global__ void between()
{
    let_next_begin();
    if (!fault) // fault here: third_of_three
        wait_for_front();
}

static __global__ void third(const int *y, int *z)
{
    const int i = 128 * blockIdx.x + threadIdx.x;
    wait_for_front();
    z[i] = y[i] + 1; // seen here: third_of_three
}

template <bool fault>
static bool run_third_of_three()
{
    const auto in = numbers(256);
    array<int> x(in), y(256), z(256);
    doubled<<<2, 128>>>(x, y);
    launch_early<>(between<fault>, 1);
    launch_early<const int *, int *>(third, 2, y, z);
    return came_out<fault>(z.p, 256, [&](int i) { return 2 * in[i] + 1; });
}

/* The one between lets the third begin before it has waited itself, and the third reads y before it
 * waits: it has been made if the one between had waited first. */
template <bool fault>
__global__ void lets_go(int *other)
{
    if (fault) // fault here: let_go_before_the_wait
        let_next_begin();
    wait_for_front();
    let_next_begin();
    other[128 * blockIdx.x + threadIdx.x] = 5;
}

static __global__ void reads_at_once(const int *y, int *z)
{
    const int i = 128 * blockIdx.x + threadIdx.x;
    const int v = y[i]; // seen here: let_go_before_the_wait, let_go_by_another_thread
    wait_for_front();
    z[i] = v + 1;
}

template <bool fault>
static bool run_let_go_before_the_wait()
{
    const auto in = numbers(256);
    array<int> x(in), y(256), z(256), other(256);
    doubled<<<2, 128>>>(x, y);
    launch_early<int *>(lets_go<fault>, 2, other);
    launch_early<const int *, int *>(reads_at_once, 2, y, z);
    return came_out<fault>(z.p, 256, [&](int i) { return 2 * in[i] + 1; });
}

/* One thread waits; another one lets the third begin, and may come first. */
template <bool fault>
__global__ void another_lets_go(int *other)
{
    if (threadIdx.x == 0)
        wait_for_front();
    if (!fault) // fault here: let_go_by_another_thread
        __syncthreads();
    if (threadIdx.x == 64)
        let_next_begin();
    wait_for_front();
    other[threadIdx.x] = 5;
}

template <bool fault>
static bool run_let_go_by_another_thread()
{
    const auto in = numbers(256);
    array<int> x(in), y(256), z(256), other(128);
    doubled<<<2, 128>>>(x, y);
    launch_early<int *>(another_lets_go<fault>, 1, other);
    launch_early<const int *, int *>(reads_at_once, 2, y, z);
    return came_out<fault>(z.p, 256, [&](int i) { return 2 * in[i] + 1; });
}

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(no_wait_at_all, "a kernel that may begin early never waits"),
        SUBTLE(loads_first, "what the kernel in front makes is loaded with the weights"),
        SUBTLE(one_thread_waits, "one thread waits, and the others do not wait for it"),
        SUBTLE(cleared_early, "memory is cleared that the kernel in front may still read"),
        SUBTLE(third_of_three, "the kernel in front has not waited for the one before it"),
        SUBTLE(let_go_before_the_wait,
               "the kernel in front let this one begin before it had waited"),
        SUBTLE(let_go_by_another_thread,
               "the kernel in front has one thread that waits, and one that "
               "lets this one begin"),
    };
    return suite("grid dependency", list, argc, argv);
}
