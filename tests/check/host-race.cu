/* The host reads, writes or frees memory that a kernel or a copy may still use. */
#include "../async-faults/suite.cuh"

#include <cstring>

enum { N = 256 };
const size_t BYTES = N * sizeof(int);

static std::vector<int> times(int factor)
{
    return each(N, [&](int i) { return factor * (i % 7 + 1); });
}

// y = 2 x
static __global__ void doubled(const int *x, int *y)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    y[i] = 2 * x[i]; // seen here: mapped_result
}

/* The sum of what lies in page-locked or managed memory. */
static int sum(const int *p)
{
    int s = 0;
    for (int i = 0; i < N; i++)
        s += p[i];
    // event_too_early, taken_for_a_wait
    return s;
}

static int right_sum(int factor)
{
    int s = 0;
    for (int v : times(factor))
        s += v;
    return s;
}

template <bool fault>
static bool run_read_before_the_copy()
{
    array<int> x(numbers(N)), y(N);
    pinned<int> h(N);
    stream a;
    doubled<<<2, 128, 0, a>>>(x, y);
    cudaMemcpyAsync(h, y, BYTES, cudaMemcpyDeviceToHost, a); // seen here: read_before_the_copy
    if (!fault)                                              // fault here: read_before_the_copy
        cudaStreamSynchronize(a);
    return came_to<fault>(sum(h), right_sum(2));
}

template <bool fault>
static bool run_mapped_result()
{
    array<int> x(numbers(N));
    pinned<int> h(N);
    doubled<<<2, 128>>>(x, h);
    if (!fault) // fault here: mapped_result
        cudaDeviceSynchronize();
    return came_to<fault>(sum(h), right_sum(2));
}

template <bool fault>
static bool run_another_stream()
{
    array<int> x(numbers(N)), y(N);
    pinned<int> h(N), g(N);
    stream a, b;
    cudaMemcpyAsync(h, x, BYTES, cudaMemcpyDeviceToHost, a);
    doubled<<<2, 128, 0, b>>>(x, y);
    cudaMemcpyAsync(g, y, BYTES, cudaMemcpyDeviceToHost, b); // seen here: another_stream
    cudaStreamSynchronize(fault ? a : b);                    // fault here: another_stream
    return came_to<fault>(sum(g), right_sum(2));
}

/* An event stands for what was in its stream when it was recorded. */
template <bool fault>
static bool run_event_too_early()
{
    array<int> x(numbers(N)), y(N);
    pinned<int> h(N);
    stream a;
    event computed, copied;
    doubled<<<2, 128, 0, a>>>(x, y);
    cudaEventRecord(computed, a);
    cudaMemcpyAsync(h, y, BYTES, cudaMemcpyDeviceToHost, a); // seen here: event_too_early
    cudaEventRecord(copied, a);
    cudaEventSynchronize(fault ? computed : copied); // fault here: event_too_early
    return came_to<fault>(sum(h), right_sum(2));
}

/* A blocking copy waits for the default stream and for those that the default stream waits for. */
template <bool fault>
static bool run_taken_for_a_wait()
{
    const unsigned flags =
        fault ? cudaStreamNonBlocking : cudaStreamDefault; // fault here: taken_for_a_wait
    array<int> x(numbers(N)), y(N);
    pinned<int> h(N);
    std::vector<int> other(N);
    stream a(flags);
    doubled<<<2, 128, 0, a>>>(x, y);
    cudaMemcpyAsync(h, y, BYTES, cudaMemcpyDeviceToHost, a); // seen here: taken_for_a_wait
    cudaMemcpy(other.data(), x, BYTES, cudaMemcpyDeviceToHost);
    return came_to<fault>(sum(h), right_sum(2));
}

/* Two buffers in turn: one is filled while the other is copied. */
template <bool fault>
static bool run_refilled_too_early()
{
    array<int> x(4 * N), y(4 * N);
    pinned<int> h0(N), h1(N);
    int *const h[2] = {h0, h1};
    stream a;
    event copied[4];
    for (int round = 0; round < 4; round++) {
        const int i = round % 2;
        if (round >= 2)
            cudaEventSynchronize(copied[fault ? 0 : round - 2]); // fault here: refilled_too_early
        for (int k = 0; k < N; k++)
            h[i][k] = round; // seen here: refilled_too_early
        cudaMemcpyAsync(x + round * N, h[i], BYTES, cudaMemcpyHostToDevice, a);
        cudaEventRecord(copied[round], a);
    }
    doubled<<<8, 128, 0, a>>>(x, y);
    return came_out<fault>(y.p, 4 * N, [](int i) { return 2 * (i / N); });
}

/* Managed memory is the host's as soon as the kernel has ended. */
template <bool fault>
static bool run_next_input()
{
    int *x;
    array<int> y(N);
    cudaMallocManaged(&x, BYTES);
    for (int i = 0; i < N; i++)
        x[i] = i % 7 + 1;
    doubled<<<2, 128>>>(x, y);
    if (!fault) // fault here: next_input
        cudaDeviceSynchronize();
    for (int i = 0; i < N; i++)
        x[i] = 0; // seen here: next_input
    const bool fine = came_out<fault>(y.p, times(2));
    cudaFree(x);
    return fine;
}

/* cudaFree waits, but not with memory of cudaMallocAsync. */
template <bool fault>
static bool run_freed_without_wait()
{
    array<int> x(numbers(N));
    int *y;
    stream a;
    cudaMallocAsync(&y, BYTES, a);
    doubled<<<2, 128, 0, a>>>(x, y);
    if (!fault) // fault here: freed_without_wait
        cudaStreamSynchronize(a);
    cudaFree(y); // seen here: freed_without_wait
    return true;
}

/* Memory of the host itself, page-locked for the copies. */
template <bool fault>
static bool run_registered()
{
    array<int> x(numbers(N)), y(N);
    std::vector<int> v(N);
    stream a;
    cudaHostRegister(v.data(), BYTES, cudaHostRegisterDefault);
    doubled<<<2, 128, 0, a>>>(x, y);
    cudaMemcpyAsync(v.data(), y, BYTES, cudaMemcpyDeviceToHost, a); // seen here: registered
    if (!fault)                                                     // fault here: registered
        cudaStreamSynchronize(a);
    const int s = sum(v.data());
    cudaStreamSynchronize(a);
    cudaHostUnregister(v.data());
    return came_to<fault>(s, right_sum(2));
}

/* What comes before a flag is there when the flag is, if a fence of the system lies between. */
template <bool fault>
static __global__ void result_and_flag(int *result, volatile int *flag)
{
    *result = 42;
    if (!fault) // fault here: flag_without_fence
        __threadfence_system();
    *flag = 1;
}

template <bool fault>
static bool run_flag_without_fence()
{
    pinned<int> result(1), flag(std::vector<int>{0});
    result_and_flag<fault><<<1, 1>>>(result, flag);
    while (!*(volatile int *)flag.p)
        ;
    const int got = *result.p; // seen here: flag_without_fence
    return came_to<fault>(got, 42);
}

/* The results of all threads and one flag: the fence is that of the thread that sets the flag,
 * behind the barrier. */
template <bool fault>
static __global__ void results_and_flag(int *y, volatile int *flag)
{
    y[threadIdx.x] = 2 * threadIdx.x; // seen here: flag_behind_barrier
    __syncthreads();
    if (threadIdx.x == 0) {
        if (!fault) // fault here: flag_behind_barrier
            __threadfence_system();
        *flag = 1;
    }
}

static int sum_behind(const int *y, volatile int *flag)
{
    while (!*flag)
        ;
    int s = 0;
    for (int i = 0; i < N; i++)
        s += y[i];
    // flag_behind_barrier, fence_of_the_device, fence_of_one_warp, counted_without_fence
    return s;
}

template <bool fault>
static bool run_flag_behind_barrier()
{
    pinned<int> y(N), flag(std::vector<int>{0});
    results_and_flag<fault><<<1, N>>>(y, flag);
    return came_to<fault>(sum_behind(y, flag), N * (N - 1));
}

/* Fences of all threads in front of a barrier. That of the device does not reach the host. */
template <bool fault>
static __global__ void all_fence(int *y, int *flag)
{
    y[threadIdx.x] = 2 * threadIdx.x; // seen here: fence_of_the_device
    if (fault)                        // fault here: fence_of_the_device
        __threadfence();
    else
        __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
        atomicExch_system(flag, 1);
}

template <bool fault>
static bool run_fence_of_the_device()
{
    pinned<int> y(N), flag(std::vector<int>{0});
    all_fence<fault><<<1, N>>>(y, flag);
    return came_to<fault>(sum_behind(y, flag), N * (N - 1));
}

/* A fence covers what its own warp has written, if no barrier of the block comes before. */
template <bool fault>
static __global__ void warps_count(int *y, int *flag)
{
    __shared__ int warps;
    if (threadIdx.x == 0)
        warps = 0;
    __syncthreads();
    y[threadIdx.x] = 2 * threadIdx.x; // seen here: fence_of_one_warp
    if (fault)                        // fault here: fence_of_one_warp
        __syncwarp();
    else
        __syncthreads();
    if (threadIdx.x % 32 == 0 && atomicAdd_block(&warps, 1) == N / 32 - 1) {
        __threadfence_system();
        atomicExch_system(flag, 1);
    }
}

template <bool fault>
static bool run_fence_of_one_warp()
{
    pinned<int> y(N), flag(std::vector<int>{0});
    warps_count<fault><<<1, N>>>(y, flag);
    return came_to<fault>(sum_behind(y, flag), N * (N - 1));
}

/* The last of two blocks sets the flag. */
static __device__ int blocks_done;
template <bool fault>
static __global__ void last_tells(int *y, int *flag)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    y[i] = 2 * i; // seen here: counted_without_fence
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    if (!fault) // fault here: counted_without_fence
        __threadfence();
    if (atomicAdd(&blocks_done, 1) % 2) {
        __threadfence_system();
        atomicExch_system(flag, 1);
    }
}

template <bool fault>
static bool run_counted_without_fence()
{
    pinned<int> y(N), flag(std::vector<int>{0});
    last_tells<fault><<<2, N / 2>>>(y, flag);
    return came_to<fault>(sum_behind(y, flag), N * (N - 1));
}

/* g++ knows these sizes, and would make moves of the two calls. */
template <bool fault>
static bool run_cleared_too_early()
{
    pinned<int> x(numbers(N));
    array<int> y(N);
    doubled<<<2, 128>>>(x, y);
    if (!fault) // fault here: cleared_too_early
        cudaDeviceSynchronize();
    memset(x.p + 32, 0, 16); // seen here: cleared_too_early
    return came_out<fault>(y.p, times(2));
}

template <bool fault>
static bool run_three_values()
{
    array<int> x(numbers(N));
    pinned<int> y(N);
    int first[3];
    doubled<<<2, 128>>>(x, y);
    if (!fault) // fault here: three_values
        cudaDeviceSynchronize();
    std::memcpy(first, y.p, sizeof first); // seen here: three_values
    return came_to<fault>(first[0] + first[1] + first[2], 12);
}

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(read_before_the_copy, "the host reads where an asynchronous copy still writes"),
        PLAIN(mapped_result, "the host reads the result of a kernel that may still run"),
        SUBTLE(another_stream, "the host waits for the wrong stream"),
        SUBTLE(event_too_early, "the event is recorded before the copy"),
        SUBTLE(taken_for_a_wait, "a copy of other memory, in a stream that does not wait"),
        SUBTLE(refilled_too_early, "each round waits for the copy of the first"),
        PLAIN(next_input, "the host writes the next input while the kernel reads the last"),
        SUBTLE(freed_without_wait, "cudaFree does not wait for memory of cudaMallocAsync"),
        PLAIN(registered, "registered memory is read where a copy still writes"),
        SUBTLE(flag_without_fence, "a flag tells the host of a result, without a fence"),
        SUBTLE(flag_behind_barrier, "a barrier stands in front of the flag, and no fence"),
        SUBTLE(fence_of_the_device, "the fences in front of the flag do not reach the host"),
        SUBTLE(fence_of_one_warp, "one thread's fence for what other warps have written"),
        SUBTLE(cleared_too_early, "a memset of 16 bytes that a kernel may still read"),
        PLAIN(three_values, "a memcpy of 12 bytes that a kernel may still write"),
        SUBTLE(counted_without_fence, "a block counts itself as done without a fence"),
    };
    return suite("host race", list, argc, argv);
}
