/* Launches of two streams that meet in an array, and nothing makes the one wait for the other: no
 * event, no wait of the host, no default stream. */
#include "../async-faults/suite.cuh"

enum { N = 256 };

/* A stream that does not wait for the default one, nor that for it. */
struct stream {
    cudaStream_t s;
    explicit stream(unsigned flags = cudaStreamNonBlocking)
    {
        cudaStreamCreateWithFlags(&s, flags);
    }
    stream(const stream &) = delete;
    stream &operator=(const stream &) = delete;
    ~stream()
    {
        cudaStreamDestroy(s);
    }
    operator cudaStream_t() const
    {
        return s;
    }
};

struct event {
    cudaEvent_t e;
    event()
    {
        cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    }
    event(const event &) = delete;
    event &operator=(const event &) = delete;
    ~event()
    {
        cudaEventDestroy(e);
    }
    operator cudaEvent_t() const
    {
        return e;
    }
};

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

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(not_waited_for, "another stream reads what this one writes, and waits for nothing"),
        SUBTLE(waits_for_the_fork, "a join waits for the event that parted the streams"),
        SUBTLE(not_blocking, "a stream that does not wait for the default one"),
        SUBTLE(host_waits_for_another, "the host waits for the wrong stream"),
        SUBTLE(overwritten_while_read, "the event is recorded in the stream that waits for it"),
    };
    return suite("stream race", list, argc, argv);
}
