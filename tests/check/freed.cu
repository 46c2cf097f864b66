/* Accesses to memory that was freed before the launch. */
#include "../async-faults/suite.cuh"

#include <utility>

template <bool fault>
__global__ void read_after_free(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x] + 1; // seen here: read_after_free
}

template <bool fault>
static bool run_read_after_free()
{
    const auto in = numbers(64);
    array<int> held(in), y(64);
    const int *x = held;
    if (fault) // fault here: read_after_free
        held.free();
    read_after_free<fault><<<1, 64>>>(x, y);
    return came_out<fault>(y.p, 64, [&](int i) { return in[i] + 1; });
}

/* Each block has its own array, by a table of addresses. */
template <bool fault>
__global__ void one_of_a_table(int *const *table, int *y)
{
    const int t = threadIdx.x;
    y[blockIdx.x * blockDim.x + t] = table[blockIdx.x][t]; // seen here: one_of_a_table
}

template <bool fault>
static bool run_one_of_a_table()
{
    const auto in = numbers(32);
    array<int> part[4] = {array<int>(in), array<int>(in), array<int>(in), array<int>(in)}, y(128);
    array<int *> table(std::vector<int *>{part[0], part[1], part[2], part[3]});
    if (fault) // fault here: one_of_a_table
        part[2].free();
    one_of_a_table<fault><<<4, 32>>>(table, y);
    return came_out<fault>(y.p, 128, [&](int i) { return in[i % 32]; });
}

template <bool fault>
__global__ void second_round(const int *x, int *scratch, int *y)
{
    const int t = threadIdx.x;
    scratch[t] = x[t] * x[t]; // seen here: second_round
    __syncthreads();
    y[t] = scratch[63 - t]; // seen here: second_round
}

template <bool fault>
static bool run_second_round()
{
    const auto in = numbers(64);
    array<int> x(in), held(64), y(64);
    int *scratch = held;
    for (int round = 0; round < 2; round++) {
        second_round<fault><<<1, 64>>>(x, scratch, y);
        cudaDeviceSynchronize();
        if (fault || round == 1) // fault here: second_round
            held.free();
    }
    return came_out<fault>(y.p, 64, [&](int t) { return in[63 - t] * in[63 - t]; });
}

/* An array has grown: what was taken from the old one has moved. */
template <bool fault>
__global__ void stale_view(const int *view, int *y)
{
    y[threadIdx.x] = 3 * view[threadIdx.x]; // seen here: stale_view
}

template <bool fault>
static bool run_stale_view()
{
    const auto in = numbers(64);
    array<int> old(in), grown(128), y(32);
    cudaMemcpy(grown, old, 64 * sizeof(int), cudaMemcpyDeviceToDevice);
    const int *view = (fault ? old : grown).p + 32; // fault here: stale_view
    old.free();
    stale_view<fault><<<1, 32>>>(view, y);
    return came_out<fault>(y.p, 32, [&](int t) { return 3 * in[32 + t]; });
}

template <bool fault>
__global__ void freed_in_stream(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x] - 1; // seen here: freed_in_stream
}

/* In a stream's order the memory may go only after the kernel. */
template <bool fault>
static bool run_freed_in_stream()
{
    const auto in = numbers(64);
    array<int> y(64);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    int *x;
    cudaMallocAsync(&x, 64 * sizeof(int), stream);
    cudaMemcpyAsync(x, in.data(), 64 * sizeof(int), cudaMemcpyHostToDevice, stream);
    for (int step = 0; step < 2; step++)
        if (step == (fault ? 0 : 1)) // fault here: freed_in_stream
            cudaFreeAsync(x, stream);
        else
            freed_in_stream<fault><<<1, 64, 0, stream>>>(x, y);
    auto want = in;
    for (int &v : want)
        v--;
    const bool fine = came_out<fault>(y.p, want);
    cudaStreamDestroy(stream);
    return fine;
}

template <bool fault>
__global__ void wrong_half_freed(const int *from, int *to)
{
    to[threadIdx.x] = from[threadIdx.x] + 1; // seen here: wrong_half_freed
}

/* Two arrays take turns. After the first turn the input is not needed any more. */
template <bool fault>
static bool run_wrong_half_freed()
{
    const auto in = numbers(64);
    array<int> a(in), b(64), c(64);
    int *from = a, *to = b;
    wrong_half_freed<fault><<<1, 64>>>(from, to);
    std::swap(from, to);
    cudaDeviceSynchronize();
    (fault ? b : a).free(); // fault here: wrong_half_freed
    wrong_half_freed<fault><<<1, 64>>>(from, c);
    return came_out<fault>(c.p, 64, [&](int i) { return in[i] + 2; });
}

/* Of two arrays the one that a surface reads is freed. */
__global__ void write_surface(cudaSurfaceObject_t s)
{
    surf1Dwrite((int)threadIdx.x, s, 4 * (int)threadIdx.x);
}
__global__ void read_surface(cudaSurfaceObject_t s, int *y)
{
    y[threadIdx.x] = surf1Dread<int>(s, 4 * (int)threadIdx.x); // seen here: array_of_surface
}

template <bool fault>
static bool run_array_of_surface()
{
    cudaArray_t a[2];
    const cudaChannelFormatDesc c = cudaCreateChannelDesc<int>();
    for (cudaArray_t &one : a)
        cudaMallocArray(&one, &c, 32, 0, cudaArraySurfaceLoadStore);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a[0];
    cudaSurfaceObject_t s;
    cudaCreateSurfaceObject(&s, &r);
    array<int> y(32);
    write_surface<<<1, 32>>>(s);
    const int freed = fault ? 0 : 1; // fault here: array_of_surface
    cudaFreeArray(a[freed]);
    read_surface<<<1, 32>>>(s, y);
    std::vector<int> want(32);
    for (int i = 0; i < 32; i++)
        want[i] = i;
    const bool fine = came_out<fault>(y.p, want);
    cudaDestroySurfaceObject(s);
    cudaFreeArray(a[1 - freed]);
    return fine;
}

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(read_after_free, "the input is freed just before the launch"),
        SUBTLE(one_of_a_table, "one of the arrays in a table of addresses is freed"),
        SUBTLE(second_round, "scratch memory is freed after the first of two launches"),
        SUBTLE(stale_view, "an address into an array that has since grown elsewhere"),
        SUBTLE(freed_in_stream, "cudaFreeAsync comes before the kernel in the stream's order"),
        SUBTLE(array_of_surface, "of two arrays the one that a surface reads is freed"),
        SUBTLE(wrong_half_freed, "of two arrays that take turns the one still needed is freed"),
    };
    return suite("freed memory", list, argc, argv);
}
