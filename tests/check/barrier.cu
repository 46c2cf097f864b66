/* Barriers that some threads never reach, or reach elsewhere. A GPU must not hang in them: whole
 * warps part at __syncthreads, which counts those that come to any and those that have ended; and a
 * lane that is missing in a warp has ended. */
#include "../async-faults/ptx.cuh"

template <bool fault>
__global__ void half_the_block(const int *x, int *y)
{
    __shared__ int cell[64];
    const int t = threadIdx.x;
    cell[t] = x[t];
    if (!fault || t < 32) // fault here: half_the_block
        __syncthreads();  // seen here: half_the_block
    if (x[t] > 4)
        cell[t] = 0;
    __syncthreads(); // seen here: half_the_block
    y[t] = cell[63 - t];
}

static std::vector<int> small_reversed(const std::vector<int> &in)
{
    auto want = in;
    for (size_t i = 0; i < in.size(); i++) {
        const int v = in[i / 64 * 64 + 63 - i % 64];
        want[i] = v > 4 ? 0 : v;
    }
    return want;
}

RUN(half_the_block, 1, 64, numbers(64), small_reversed(in));

/* Tiles of 64 elements. The last one is half full, and the other half must come along. */
template <bool fault>
__global__ void trips_differ(const int *x, int *y, int n)
{
    __shared__ int tile[64];
    const int t = threadIdx.x;
    int sum = 0;
    for (int k = 0; 64 * k + (fault ? t : 0) < n; k++) { // fault here: trips_differ
        const int i = 64 * k + t;
        tile[t] = i < n ? x[i] : 0;
        __syncthreads(); // seen here: trips_differ
        sum += tile[63 - t];
        __syncthreads(); // seen here: trips_differ
    }
    tile[t] = sum;
    __syncthreads(); // seen here: trips_differ
    y[t] = tile[63 - t];
}

RUN(trips_differ, 1, 64, numbers(96), sums_by(64, in, [](int i) { return i % 64; }), 96);

/* Most blocks have nothing to do here; in those that have, all threads must. */
template <bool fault>
__global__ void rare_case(const int *x, int *y)
{
    __shared__ int cell[64];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    cell[t] = x[i];
    const bool rare = x[i] < 0;
    if (fault ? __any_sync(ALL, rare) : __syncthreads_or(rare)) { // fault here: rare_case
        cell[t] = 0;
        __syncthreads(); // seen here: rare_case
    }
    cell[t] += 1;
    __syncthreads(); // seen here: rare_case
    y[i] = cell[63 - t];
}

template <bool fault>
static bool run_rare_case()
{
    auto in = numbers(3 * 64);
    in[100] = -5;
    array<int> x(in), y(3 * 64);
    rare_case<fault><<<3, 64>>>(x, y);
    return came_out<fault>(
        y.p, 3 * 64, [&](int i) { return i / 64 == 1 ? 1 : in[i / 64 * 64 + 63 - i % 64] + 1; });
}

/* Halves its values until the largest is at most 1: all threads leave in the same round. */
template <bool fault>
__global__ void leaves_early(const int *x, int *y)
{
    __shared__ int cell[64];
    const int t = threadIdx.x;
    int v = x[t], rounds = 0;
    for (;;) {
        const bool ready = v <= 1;
        if (fault ? __all_sync(ALL, ready) : __syncthreads_and(ready)) // fault here: leaves_early
            break;
        v /= 2;
        rounds++;
        __syncthreads(); // seen here: leaves_early
    }
    cell[t] = rounds;
    __syncthreads(); // seen here: leaves_early
    y[t] = cell[63 - t];
}

template <bool fault>
static bool run_leaves_early()
{
    auto in = numbers(64);
    in[40] = 30;
    array<int> x(in), y(64);
    leaves_early<fault><<<1, 64>>>(x, y);
    return came_out<fault>(y.p, std::vector<int>(64, 4));
}

/* The sum of each warp's elements. The last warp has fewer, and must shuffle as a whole. */
template <bool fault>
__global__ void shuffle_in_tail(const int *x, int *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (fault && i >= n) // fault here: shuffle_in_tail
        return;
    int v = i < n ? x[i] : 0;
    for (int bit = 16; bit > 0; bit /= 2)
        v += __shfl_xor_sync(ALL, v, bit); // seen here: shuffle_in_tail
    if (i < n && i % 32 == 0)
        y[i / 32] = v;
}

RUN(shuffle_in_tail, 2, 64, numbers(100), sums_by(4, in, [](int i) { return i / 32; }), 100);

/* 31 lanes take the element of the next. The last lane has none and has left, which is allowed,
 * unless another reads what it would have had. */
template <bool fault>
__global__ void absent_lane(const int *x, int *y)
{
    const int lane = threadIdx.x;
    if (lane == 31)
        return;
    const int next = fault ? lane + 1 : (lane + 1) % 31; // fault here: absent_lane
    y[lane] = __shfl_sync(ALL, x[lane], next);           // seen here: absent_lane
}

RUN(absent_lane, 1, 32, numbers(31), each(31, [&](int i) { return in[(i + 1) % 31]; }));

/* c = a b with ones: each element is 16. Half of the lanes have nothing to store. */
template <bool fault>
__global__ void product_in_half(float *y)
{
    const int lane = threadIdx.x;
    const unsigned one = 0x3c003c00, a[4] = {one, one, one, one}, b[2] = {one, one};
    float c[4] = {0, 0, 0, 0};
    if (!fault || lane < 16) // fault here: product_in_half
        mma(c, a, b);        // seen here: product_in_half
    if (lane < 16)
        y[lane] = c[0] + c[3];
}

RUN_OUT(product_in_half, 1, 32, std::vector<float>(16, 32));

/* Row r of the result needs tiles as long as 8 k <= r: lanes of other rows must come along. */
template <bool fault>
__global__ void tiles_of_a_row(const int *x, float *y, int tiles)
{
    __shared__ __align__(16) __half tile[16][16];
    const int lane = threadIdx.x;
    float sum = 0;
    for (int i = lane; i < 256; i += 32)
        tile[i / 16][i % 16] = __int2half_rn(x[i]);
    __syncwarp();
    for (int k = 0; k < (fault ? 1 + lane / 16 : tiles); k++) { // fault here: tiles_of_a_row
        unsigned r[4];
        ldmatrix_x4(r, &tile[lane % 16][lane / 16 * 8]); // seen here: tiles_of_a_row
        if (k <= lane / 16)
            sum += halves(r[k]).x;
    }
    y[lane] = sum;
}

template <bool fault>
static bool run_tiles_of_a_row()
{
    const auto in = numbers(256);
    array<int> x(in);
    array<float> y(32);
    tiles_of_a_row<fault><<<1, 32>>>(x, y, 2);
    std::vector<float> want(32);
    for (int lane = 0; lane < 32; lane++)
        for (int k = 0; k <= lane / 16; k++)
            want[lane] += (float)in[16 * (8 * k + lane / 4) + lane % 4 * 2];
    return came_out<fault>(y.p, want);
}

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(half_the_block, "__syncthreads in a branch that one of two warps takes"),
        SUBTLE(trips_differ, "a loop with barriers runs longer in some threads, for the tail only"),
        SUBTLE(rare_case, "the warp votes where the block must: a barrier for a rare case"),
        SUBTLE(leaves_early, "a warp leaves a loop with a barrier when it is ready itself"),
        SUBTLE(shuffle_in_tail, "lanes past the end return before a shuffle of all lanes"),
        SUBTLE(absent_lane, "__shfl_sync reads a lane that has ended"),
        PLAIN(product_in_half, "an mma in a branch that half of the warp takes"),
        SUBTLE(tiles_of_a_row, "a loop with ldmatrix runs longer in the upper lanes"),
    };
    return suite("barrier divergence", list, argc, argv);
}
