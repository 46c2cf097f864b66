/* Launches, copies, memsets and frees of two streams that meet in an array, and nothing makes the
 * one wait for the other: no event, no wait of the host, no default stream. */
#include "../async-faults/suite.cuh"

enum { N = 256 };

static std::vector<int> times(int factor)
{
    auto v = numbers(N);
    for (int &x : v)
        x *= factor;
    return v;
}

// y = 2 x
static __global__ void doubled(const int *x, int *y)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    y[i] = 2 * x[i];
}

static __global__ void read_without_wait(const int *x, int *y)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    y[i] = 3 * x[i]; // seen here: not_waited_for
}

template <bool fault>
static bool run_not_waited_for()
{
    array<int> x(numbers(N)), y(N), z(N);
    stream a, b;
    event done;
    doubled<<<2, 128, 0, a>>>(x, y);
    cudaEventRecord(done, a);
    if (!fault) // fault here: not_waited_for
        cudaStreamWaitEvent(b, done, 0);
    read_without_wait<<<2, 128, 0, b>>>(y, z);
    return came_out<fault>(z.p, times(6));
}

static __global__ void join(const int *x, int *y)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    y[i] = 3 * x[i]; // seen here: waits_for_the_fork
}

/* A fork and a join: what waits for the event that parted the streams does not join them. */
template <bool fault>
static bool run_waits_for_the_fork()
{
    array<int> x(numbers(N)), y(N), z(N);
    stream a, b;
    event begin, end;
    cudaEventRecord(begin, a);
    cudaStreamWaitEvent(b, begin, 0);
    doubled<<<2, 128, 0, b>>>(x, y);
    cudaEventRecord(end, b);
    cudaStreamWaitEvent(a, fault ? begin : end, 0); // fault here: waits_for_the_fork
    join<<<2, 128, 0, a>>>(y, z);
    return came_out<fault>(z.p, times(6));
}

static __global__ void beside_default(const int *x, int *y)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    y[i] = 3 * x[i]; // seen here: not_blocking
}

/* A stream waits for the default one, if it was not made to do without. */
template <bool fault>
static bool run_not_blocking()
{
    array<int> x(numbers(N)), y(N), z(N);
    stream b(fault ? cudaStreamNonBlocking : cudaStreamDefault); // fault here: not_blocking
    doubled<<<2, 128>>>(x, y);
    beside_default<<<2, 128, 0, b>>>(y, z);
    return came_out<fault>(z.p, times(6));
}

static __global__ void third(const int *x, int *y)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    y[i] = 3 * x[i]; // seen here: host_waits_for_another
}

/* The host waits for a stream, and what it launches then comes after that one alone. */
template <bool fault>
static bool run_host_waits_for_another()
{
    array<int> x(numbers(N)), y(N), z(N);
    stream a, b, c;
    event done;
    doubled<<<2, 128, 0, a>>>(x, y);
    doubled<<<2, 128, 0, b>>>(x, z);
    cudaStreamSynchronize(fault ? b : a); // fault here: host_waits_for_another
    cudaEventRecord(done, b);
    cudaStreamWaitEvent(c, done, 0);
    third<<<2, 128, 0, c>>>(y, z);
    return came_out<fault>(z.p, times(6));
}

static __global__ void next_turn(int *x)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    x[i] = 0; // seen here: overwritten_while_read
}

/* What a side stream still reads, the main stream sets to 0 for its next turn. */
template <bool fault>
static bool run_overwritten_while_read()
{
    array<int> x(numbers(N)), y(N);
    stream a, b;
    event read;
    doubled<<<2, 128, 0, b>>>(x, y);
    cudaEventRecord(read, fault ? a : b); // fault here: overwritten_while_read
    cudaStreamWaitEvent(a, read, 0);
    next_turn<<<2, 128, 0, a>>>(x);
    return came_out<fault>(y.p, times(2));
}

// --- Copies, memsets, allocations and frees -----------------------------------------------------

const size_t BYTES = N * sizeof(int);

static __global__ void twice(int *x)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    x[i] *= 2; // seen here: copied_in_another_stream
}

template <bool fault>
static bool run_copied_in_another_stream()
{
    pinned<int> h(numbers(N));
    array<int> x(N);
    stream a, b;
    cudaMemcpyAsync(x, h, BYTES, cudaMemcpyHostToDevice,
                    fault ? b : a); // fault here: copied_in_another_stream
    twice<<<2, 128, 0, a>>>(x);
    return came_out<fault>(x.p, times(2));
}

/* The default stream waits for a stream, if that was not made to do without. */
template <bool fault>
static bool run_copied_too_early()
{
    const unsigned flags =
        fault ? cudaStreamNonBlocking : cudaStreamDefault; // fault here: copied_too_early
    array<int> x(numbers(N)), y(N);
    stream b(flags);
    std::vector<int> got(N);
    doubled<<<2, 128, 0, b>>>(x, y);
    cudaMemcpy(got.data(), y, BYTES, cudaMemcpyDeviceToHost); // seen here: copied_too_early
    return came_to<fault>(got, times(2));
}

/* cudaMemset returns before the memory is set. */
static __global__ void count(int *n)
{
    atomicAdd(n, 1); // seen here: memset_returns_early
}

template <bool fault>
static bool run_memset_returns_early()
{
    array<int> n(1);
    stream a;
    cudaMemset(n, 0, sizeof(int));
    if (!fault) // fault here: memset_returns_early
        cudaDeviceSynchronize();
    count<<<1, 64, 0, a>>>(n);
    return came_out<fault>(n.p, std::vector<int>{64});
}

static __global__ void staged(int *x)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    x[i] *= 2; // seen here: pageable
}

/* cudaMemcpy waits for a copy from page-locked memory. From other memory it returns when the bytes
 * lie in a buffer of the driver. */
template <bool fault>
static bool run_pageable()
{
    const auto v = numbers(N);
    pinned<int> h(v);
    array<int> x(N);
    stream a;
    cudaMemcpy(x, fault ? v.data() : h.p, BYTES, cudaMemcpyHostToDevice); // fault here: pageable
    staged<<<2, 128, 0, a>>>(x);
    return came_out<fault>(x.p, times(2));
}

/* Two streams fill an array of 16 rows: the left half and the right half of each. */
template <bool fault>
static bool run_halves_overlap()
{
    const int width = 16, pitch = width * sizeof(int), half = pitch / 2, rows = N / width;
    const auto to = cudaMemcpyHostToDevice;
    pinned<int> h(numbers(N));
    array<int> x(N), y(N);
    stream a, b;
    const int left = half + (fault ? 4 : 0); // fault here: halves_overlap
    cudaMemcpy2DAsync(x, pitch, h, pitch, left, rows, to, a);
    cudaMemcpy2DAsync(x + 8, pitch, h + 8, pitch, half, rows, to, b); // seen here: halves_overlap
    cudaDeviceSynchronize();
    doubled<<<2, 128, 0, a>>>(x, y);
    return came_out<fault>(y.p, times(2));
}

/* What one stream still reads, another one gives back. */
template <bool fault>
static bool run_freed_while_read()
{
    array<int> y(N);
    stream a, b;
    event read;
    pinned<int> h(numbers(N));
    int *x;
    cudaMallocAsync(&x, BYTES, a);
    cudaMemcpyAsync(x, h, BYTES, cudaMemcpyHostToDevice, a);
    cudaStreamSynchronize(a);
    doubled<<<2, 128, 0, b>>>(x, y);
    cudaEventRecord(read, fault ? a : b); // fault here: freed_while_read
    cudaStreamWaitEvent(a, read, 0);
    cudaFreeAsync(x, a); // seen here: freed_while_read
    return came_out<fault>(y.p, times(2));
}

static __global__ void sets(int *x, int value)
{
    x[threadIdx.x] = value; // seen here: not_allocated_yet
}

/* Memory of cudaMallocAsync is there when its stream comes to that, and not before. */
template <bool fault>
static bool run_not_allocated_yet()
{
    stream a, b;
    event there;
    int *x;
    cudaMallocAsync(&x, 64 * sizeof(int), a);
    cudaEventRecord(there, a);
    if (!fault) // fault here: not_allocated_yet
        cudaStreamWaitEvent(b, there, 0);
    sets<<<1, 64, 0, b>>>(x, 3);
    const bool fine = came_out<fault>(x, std::vector<int>(64, 3));
    cudaFreeAsync(x, b);
    return fine;
}

struct sum_of {
    const int *p;
    int sum;
};

static void CUDART_CB add_up(void *state)
{
    sum_of *s = (sum_of *)state;
    for (int i = 0; i < N; i++)
        s->sum += s->p[i]; // seen here: host_function
}

/* A host function comes after the work of its own stream. */
template <bool fault>
static bool run_host_function()
{
    array<int> x(numbers(N));
    pinned<int> h(N);
    stream a, b;
    sum_of s = {h, 0};
    int want = 0;
    for (int v : times(2))
        want += v;
    doubled<<<2, 128, 0, a>>>(x, h);
    cudaLaunchHostFunc(fault ? b : a, add_up, &s); // fault here: host_function
    return came_out<fault>(h.p, times(2)) && came_to<fault>(s.sum, want);
}

/* A graph's copy is work of the stream that the graph is launched in. */
template <bool fault>
static bool run_copy_of_a_graph()
{
    array<int> x(numbers(N)), y(N), z(N);
    stream a, b;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(z, y, BYTES, cudaMemcpyDeviceToDevice, a); // seen here: copy_of_a_graph
    cudaStreamEndCapture(a, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    doubled<<<2, 128, 0, b>>>(x, y);
    cudaGraphLaunch(exec, fault ? a : b); // fault here: copy_of_a_graph
    const bool fine = came_out<fault>(z.p, times(2));
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    return fine;
}

static __constant__ int factors[64];

static __global__ void scaled(const int *x, int *y)
{
    y[threadIdx.x] = factors[threadIdx.x] * x[threadIdx.x]; // seen here: constants_too_late
}

/* The next constants are copied while a kernel of another stream reads the last ones. */
template <bool fault>
static bool run_constants_too_late()
{
    array<int> x(numbers(64)), y(64);
    pinned<int> h(std::vector<int>(64, 2));
    stream a, b;
    event there;
    cudaMemcpyToSymbolAsync(factors, h, sizeof factors, 0, cudaMemcpyHostToDevice, a);
    cudaEventRecord(there, a);
    cudaStreamWaitEvent(fault ? a : b, there, 0); // fault here: constants_too_late
    scaled<<<1, 64, 0, b>>>(x, y);
    return came_out<fault>(y.p, 64, [](int i) { return 2 * (i % 7 + 1); });
}

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(not_waited_for, "another stream reads what this one writes, and waits for nothing"),
        SUBTLE(waits_for_the_fork, "a join waits for the event that parted the streams"),
        SUBTLE(not_blocking, "a stream that does not wait for the default one"),
        SUBTLE(host_waits_for_another, "the host waits for the wrong stream"),
        SUBTLE(overwritten_while_read, "the event is recorded in the stream that waits for it"),
        PLAIN(copied_in_another_stream, "the input is copied in one stream and used in another"),
        SUBTLE(copied_too_early, "cudaMemcpy does not wait for a stream of its own"),
        SUBTLE(memset_returns_early, "cudaMemset is taken for a call that waits"),
        SUBTLE(pageable, "cudaMemcpy from pageable memory is taken for a call that waits"),
        SUBTLE(halves_overlap, "two copies of columns share one column"),
        SUBTLE(freed_while_read, "cudaFreeAsync waits for an event of its own stream"),
        SUBTLE(not_allocated_yet, "a stream uses what another one has only begun to allocate"),
        PLAIN(host_function, "a host function is put into another stream than what it reads"),
        SUBTLE(copy_of_a_graph, "a graph is launched in another stream than what it copies"),
        SUBTLE(constants_too_late, "cudaMemcpyToSymbolAsync, and a kernel of another stream"),
    };
    return suite("stream race", list, argc, argv);
}
