/* Loads by ld.global.nc, __ldg or a texture of memory that their launch writes. They go through a
 * cache that is not told of stores, so they may find what was there before the launch, whatever is
 * in order.
 */
#include "../async-faults/bulk.cuh"
#include "../async-faults/ptx.cuh"

/* Each thread stores its number, and loads its neighbour's behind a barrier. */
template <bool fault>
__global__ void neighbour_behind_a_barrier(int *x, int *y)
{
    const int i = threadIdx.x;
    x[i] += 1; // seen here: neighbour_behind_a_barrier
    __syncthreads();
    const int *next = x + (i + 1) % 64;
    y[i] = fault ? __ldg(next) : *next; // fault here: neighbour_behind_a_barrier
}

RUN(neighbour_behind_a_barrier, 1, 64, numbers(64),
    each(64, [&](int i) { return in[(i + 1) % 64] + 1; }));

/* Blocks add to a sum in turn, and each is sure to come after the one before it. */
template <bool fault>
__global__ void sum_in_turn(const int *x, int *sum, unsigned *counters)
{
    if (threadIdx.x == 0) {
        const unsigned number = atomicAdd(counters, 1u);
        while (load_acquire(counters + 1) != number)
            __nanosleep(20);
        const int was = fault ? __ldg(sum) : *sum; // fault here: sum_in_turn
        *sum = was + x[number];                    // seen here: sum_in_turn
        add_release(counters + 1);
    }
}

template <bool fault>
static bool run_sum_in_turn()
{
    array<int> x(numbers(6)), sum(std::vector<int>(1));
    array<unsigned> counters(std::vector<unsigned>(2));
    sum_in_turn<fault><<<6, 32>>>(x, sum, counters);
    return came_out<fault>(sum.p, std::vector<int>(1, 21));
}

/* Four numbers at a time, in place: all are loaded before any is stored. */
template <bool fault>
__global__ void turned_in_place(int4 *x)
{
    const int i = threadIdx.x;
    const int4 v = fault ? __ldg(x + 63 - i) : x[63 - i]; // fault here: turned_in_place
    __syncthreads();
    x[i] = make_int4(v.w, v.z, v.y, v.x); // seen here: turned_in_place
}

template <bool fault>
static bool run_turned_in_place()
{
    const auto in = numbers(256);
    array<int> x(in);
    turned_in_place<fault><<<1, 64>>>((int4 *)x.p);
    return came_out<fault>(x.p, std::vector<int>(in.rbegin(), in.rend()));
}

static __device__ __forceinline__ int load_nc(const int *p)
{
    int v;
    asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}

/* The second round loads what the first has counted; in the first all is as it was. */
template <bool fault>
__global__ void second_round_counted(int *bins, int *y)
{
    const int i = threadIdx.x;
    for (int round = 0; round < 2; round++) {
        int v;
        if (fault && round == 1)   // fault here: second_round_counted
            v = load_nc(bins + i); // seen here: second_round_counted
        else
            v = atomicAdd(bins + i, 0);
        y[i] = v;
        __syncthreads();
        atomicAdd(bins + (i + 1) % 64, 1); // seen here: second_round_counted
        __syncthreads();
    }
}

template <bool fault>
static bool run_second_round_counted()
{
    array<int> bins(std::vector<int>(64)), y(64);
    second_round_counted<fault><<<1, 64>>>(bins, y);
    return came_out<fault>(y.p, std::vector<int>(64, 1));
}

/* A byte of the word that another byte of is stored; the fixed version loads the one beside it. */
template <bool fault>
__global__ void byte_that_is_stored(unsigned char *x, unsigned char *y)
{
    const int i = threadIdx.x;
    y[i] = __ldg(x + 4 * i + (fault ? 2 : 1)); // fault here: byte_that_is_stored
    __syncthreads();
    x[4 * i + 2] = (unsigned char)i; // seen here: byte_that_is_stored
}

template <bool fault>
static bool run_byte_that_is_stored()
{
    const auto in = numbers<unsigned char>(256);
    array<unsigned char> x(in), y(64);
    byte_that_is_stored<fault><<<1, 64>>>(x, y);
    std::vector<unsigned char> want(64);
    for (int i = 0; i < 64; i++)
        want[i] = in[4 * i + 1];
    return came_out<fault>(y.p, want);
}

/* The array that a launch has made may be loaded so by the next, and by none that writes it. */
template <bool fault>
__global__ void doubled(int *x, int *y)
{
    const int i = 64 * blockIdx.x + threadIdx.x;
    y[i] = 2 * __ldg(x + i); // seen here: ends_where_it_began
    if (fault && i == 127)   // fault here: ends_where_it_began
        x[i] = y[i];         // seen here: ends_where_it_began
}

template <bool fault>
static bool run_ends_where_it_began()
{
    const auto in = numbers(128);
    array<int> x(in), y(128), z(128);
    doubled<false><<<2, 64>>>(x, y);
    doubled<fault><<<2, 64>>>(y, z);
    doubled<false><<<2, 64>>>(z, y);
    return came_out<fault>(y.p, 128, [&](int i) { return 8 * in[i]; });
}

/* A tile is turned round in place, and a bulk copy takes it back. */
template <bool fault>
__global__ void stored_in_bulk(int *x)
{
    __shared__ __align__(16) int tile[TILE];
    const int t = threadIdx.x;
    for (int i = t; i < TILE; i += THREADS)
        tile[i] = fault ? __ldg(x + TILE - 1 - i) : x[TILE - 1 - i]; // fault here: stored_in_bulk
    fence_async();
    fence_async_global();
    __syncthreads();
    if (t == 0) {
        store(x, tile, BYTES); // seen here: stored_in_bulk
        stored<0>();
    }
}

template <bool fault>
static bool run_stored_in_bulk()
{
    const auto in = numbers(TILE);
    array<int> x(in);
    stored_in_bulk<fault><<<1, THREADS>>>(x);
    return came_out<fault>(x.p, std::vector<int>(in.rbegin(), in.rend()));
}

/* A texture of memory that the launch stores to; the fixed version reads that memory itself. */
template <bool fault>
__global__ void halved_in_place(cudaTextureObject_t t, float *x)
{
    const int i = threadIdx.x;
    const float next =
        fault ? tex1Dfetch<float>(t, 63 - i) : x[63 - i]; // fault here: halved_in_place
    __syncthreads();
    x[i] = next / 2; // seen here: halved_in_place
}

template <bool fault>
static bool run_halved_in_place()
{
    const auto in = numbers<float>(64);
    array<float> x(in);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = x.p;
    r.res.linear.desc = cudaCreateChannelDesc<float>();
    r.res.linear.sizeInBytes = 64 * sizeof(float);
    const cudaTextureDesc d = {};
    cudaTextureObject_t t;
    cudaCreateTextureObject(&t, &r, &d, NULL);
    halved_in_place<fault><<<1, 64>>>(t, x);
    std::vector<float> want(64);
    for (int i = 0; i < 64; i++)
        want[i] = in[63 - i] / 2;
    const bool fine = came_out<fault>(x.p, want);
    cudaDestroyTextureObject(t);
    return fine;
}

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(neighbour_behind_a_barrier, "what a neighbour has stored before a barrier"),
        SUBTLE(sum_in_turn, "blocks add to a sum in turn, and load it by __ldg"),
        SUBTLE(turned_in_place, "four numbers at a time, loaded before any is stored"),
        SUBTLE(second_round_counted, "what atomics have counted, by ld.global.nc"),
        SUBTLE(byte_that_is_stored, "the one byte of a word that is stored later"),
        SUBTLE(ends_where_it_began, "one element is stored in the array that is loaded"),
        SUBTLE(halved_in_place, "a texture of memory that is stored to"),
        SUBTLE(stored_in_bulk, "a tile that a bulk copy takes back to where it was loaded"),
    };
    return suite("stale load", list, argc, argv);
}
