/* Reads of memory that nobody has written, global or shared. */
#include "../async-faults/ptx.cuh"

static __device__ int warp_sum(int v)
{
    for (int bit = 16; bit > 0; bit /= 2)
        v += __shfl_xor_sync(ALL, v, bit);
    return v;
}

template <bool fault>
__global__ void half_copied(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x] + 1; // seen here: half_copied
}

template <bool fault>
static bool run_half_copied()
{
    const auto in = numbers(64);
    array<int> x(64), y(64);
    const int n = fault ? 32 : 64; // fault here: half_copied
    cudaMemcpy(x, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    half_copied<fault><<<1, 64>>>(x, y);
    return came_out<fault>(y.p, 64, [&](int i) { return in[i] + 1; });
}

template <bool fault>
__global__ void adds_to_nothing(const int *x, int *y)
{
    const int t = threadIdx.x;
    y[t] = (fault ? y[t] : 0) + x[t]; // fault here: adds_to_nothing
}

RUN(adds_to_nothing, 1, 64, numbers(64), in);

/* Two elements a thread. */
template <bool fault>
__global__ void odd_size(const int *x, int *middle, int n)
{
    const int t = threadIdx.x;
    if (t < (fault ? n / 2 : (n + 1) / 2)) { // fault here: odd_size
        middle[2 * t] = 2 * x[2 * t];
        if (2 * t + 1 < n)
            middle[2 * t + 1] = 2 * x[2 * t + 1];
    }
}

static __global__ void odd_size_reader(const int *middle, int *y, int n)
{
    const int i = threadIdx.x;
    if (i < n)
        y[i] = middle[i]; // seen here: odd_size
}

template <bool fault>
static bool run_odd_size()
{
    const auto in = numbers(100);
    array<int> x(in), y(100);
    bool fine = true;
    for (int n : {100, 99}) {
        array<int> middle(n);
        odd_size<fault><<<1, 64>>>(x, middle, n);
        odd_size_reader<<<1, 128>>>(middle, y, n);
        std::vector<int> want(n);
        for (int i = 0; i < n; i++)
            want[i] = 2 * in[i];
        fine &= came_out<fault>(y.p, want);
    }
    return fine;
}

/* A tile with one more cell on each side. Beyond the ends of x the cells hold 0. */
template <bool fault>
__global__ void halo_of_last_block(const int *x, int *y, int n)
{
    __shared__ int cell[66];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    cell[t + 1] = x[i];
    if (t == 0)
        cell[0] = i > 0 ? x[i - 1] : 0;
    if (t == 63 && (!fault || i + 1 < n)) // fault here: halo_of_last_block
        cell[65] = i + 1 < n ? x[i + 1] : 0;
    __syncthreads();
    y[i] = cell[t] + cell[t + 1] + cell[t + 2]; // seen here: halo_of_last_block
}

RUN(halo_of_last_block, 4, 64, numbers(256),
    each(256,
         [&](int i) { return (i > 0 ? in[i - 1] : 0) + in[i] + (i + 1 < 256 ? in[i + 1] : 0); }),
    256);

template <bool fault>
__global__ void tail_not_padded(const int *x, int *y, int n)
{
    __shared__ int tile[64];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (!fault || i < n) // fault here: tail_not_padded
        tile[t] = i < n ? x[i] : 0;
    __syncthreads();
    if (t < 32) {
        const int sum = warp_sum(tile[t] + tile[t + 32]); // seen here: tail_not_padded
        if (t == 0)
            y[blockIdx.x] = sum;
    }
}

RUN(tail_not_padded, 2, 64, numbers(100), sums_by(2, in, [](int i) { return i / 64; }), 100);

template <bool fault>
__global__ void absent_warps(const int *x, int *y)
{
    __shared__ int partial[32];
    const int t = threadIdx.x, lane = t % 32, warps = blockDim.x / 32;
    const int sum = warp_sum(x[t]);
    if (lane == 0)
        partial[t / 32] = sum;
    __syncthreads();
    if (t < 32) {
        const int v = lane < (fault ? 32 : warps) ? partial[lane] : 0; // fault here: absent_warps
        const int all = warp_sum(v);
        if (t == 0)
            *y = all;
    }
}

RUN(absent_warps, 1, 128, numbers(128), sums_by(1, in, [](int) { return 0; }));

struct item {
    int value, large;
};

template <bool fault>
__global__ void field_left_out(const int *x, item *items)
{
    const int t = threadIdx.x;
    items[t].value = x[t];
    if (!fault || x[t] > 4) // fault here: field_left_out
        items[t].large = x[t] > 4;
}

static __global__ void field_left_out_reader(const item *items, int *y)
{
    const int t = threadIdx.x;
    y[t] = items[t].large; // seen here: field_left_out
}

template <bool fault>
static bool run_field_left_out()
{
    const auto in = numbers(64);
    array<int> x(in), y(64);
    array<item> items(64);
    field_left_out<fault><<<1, 64>>>(x, items);
    field_left_out_reader<<<1, 64>>>(items, y);
    return came_out<fault>(y.p, 64, [&](int t) { return in[t] > 4; });
}

template <bool fault>
__global__ void counter_not_set(const int *x, int *count)
{
    if (x[threadIdx.x] > 4)
        atomicAdd(count, 1); // seen here: counter_not_set
}

template <bool fault>
static bool run_counter_not_set()
{
    const auto in = numbers(64);
    array<int> x(in), count(1);
    if (!fault) // fault here: counter_not_set
        cudaMemset(count, 0, sizeof(int));
    counter_not_set<fault><<<1, 64>>>(x, count);
    std::vector<int> want(1);
    for (int v : in)
        want[0] += v > 4;
    return came_out<fault>(count.p, want);
}

template <bool fault>
__global__ void flags_of_the_host(const signed char *flag, const int *x, const double *d, int *y)
{
    const int t = threadIdx.x;
    y[t] = flag[t] + x[t] + (int)d[t]; // seen here: flags_of_the_host
}

/* Memory that the host writes as well, and does so without a call. */
template <bool fault>
static bool run_flags_of_the_host()
{
    enum { N = 61 };
    signed char *flag;
    int *x;
    double *d;
    array<int> y(N);
    cudaMallocManaged(&flag, N);
    cudaMallocManaged(&x, N * sizeof(int));
    cudaMallocHost(&d, N * sizeof(double));
    std::vector<int> want(N);
    for (int i = 0; i < N; i++) {
        flag[i] = (signed char)-(i % 3);
        if (!fault || i % 4 != 1) // fault here: flags_of_the_host
            x[i] = -1;
        d[i] = i % 2;
        want[i] = -(i % 3) - 1 + i % 2;
    }
    flags_of_the_host<fault><<<1, N>>>(flag, x, d, y);
    const bool fine = came_out<fault>(y.p, want);
    cudaFree(flag);
    cudaFree(x);
    cudaFreeHost(d);
    return fine;
}

template <bool fault>
__global__ void elements_not_bytes(const int *x, int *y)
{
    y[threadIdx.x] += x[threadIdx.x]; // seen here: elements_not_bytes
}

template <bool fault>
static bool run_elements_not_bytes()
{
    const auto in = numbers(64);
    array<int> x(in), y(64);
    cudaMemset(y, 0, fault ? 64 : 64 * sizeof(int)); // fault here: elements_not_bytes
    elements_not_bytes<fault><<<1, 64>>>(x, y);
    return came_out<fault>(y.p, in);
}

/* A lower triangle, the diagonal included. */
template <bool fault>
__global__ void diagonal_left_out(int *m, int n)
{
    const int row = threadIdx.y, col = threadIdx.x;
    if (fault ? col < row : col <= row) // fault here: diagonal_left_out
        m[row * n + col] = row + col;
}

static __global__ void diagonal_left_out_reader(const int *m, int *y, int n)
{
    const int row = threadIdx.x;
    int sum = 0;
    for (int col = 0; col <= row; col++)
        sum += m[row * n + col]; // seen here: diagonal_left_out
    y[row] = sum;
}

template <bool fault>
static bool run_diagonal_left_out()
{
    const int n = 16;
    array<int> m(n * n), y(n);
    diagonal_left_out<fault><<<1, dim3(n, n)>>>(m, n);
    diagonal_left_out_reader<<<1, n>>>(m, y, n);
    std::vector<int> want(n);
    for (int row = 0; row < n; row++)
        for (int col = 0; col <= row; col++)
            want[row] += row + col;
    return came_out<fault>(y.p, want);
}

/* Tiles of 16 rows of 16 halves. A row past the end is filled with zeros, by copies of no byte. */
template <bool fault>
__global__ void tail_not_filled(const __half *x, float *y, int rows)
{
    __shared__ __align__(16) __half tile[16][16];
    const int t = threadIdx.x, row = 16 * blockIdx.x + t / 2;
    unsigned r[4];
    if (!fault || row < rows) // fault here: tail_not_filled
        copy_16(&tile[t / 2][t % 2 * 8], row < rows ? x + 16 * row + t % 2 * 8 : x,
                row < rows ? 16 : 0);
    commit();
    wait_group<0>();
    __syncwarp();
    ldmatrix_x4(r, &tile[t % 16][t / 16 * 8]); // seen here: tail_not_filled
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        const float2 v = halves(r[i]);
        sum += v.x + 2 * v.y;
    }
    y[32 * blockIdx.x + t] = sum;
}

template <bool fault>
static bool run_tail_not_filled()
{
    const int rows = 2 * 16 + 11;
    std::vector<__half> in(16 * rows);
    for (int i = 0; i < 16 * rows; i++)
        in[i] = __int2half_rn(i % 7);
    array<__half> x(in);
    array<float> y(3 * 32);
    tail_not_filled<fault><<<3, 32>>>(x, y, rows);
    std::vector<float> want(3 * 32);
    for (int i = 0; i < 16 * rows; i++)
        want[i / 256 * 32 + i / 16 % 8 * 4 + i % 8 / 2] += (float)((i % 2 + 1) * (i % 7));
    return came_out<fault>(y.p, want);
}

/* A 16 x 8 operand, transposed on its way. Its second matrix is the rows from 8 on. */
template <bool fault>
__global__ void half_of_the_rows(const int *x, float *y)
{
    constexpr int rows = fault ? 8 : 16; // fault here: half_of_the_rows
    __shared__ __align__(16) __half tile[16][8];
    const int t = threadIdx.x;
    unsigned r[2];
    for (int i = t; i < 8 * rows; i += 32)
        tile[i / 8][i % 8] = __int2half_rn(x[i]);
    __syncwarp();
    ldmatrix_x2_trans(r, tile[t % 16]); // seen here: half_of_the_rows
    const float2 a = halves(r[0]), b = halves(r[1]);
    y[t] = a.x + 2 * a.y + 3 * b.x + 4 * b.y;
}

template <bool fault>
static bool run_half_of_the_rows()
{
    const auto in = numbers(128);
    array<int> x(in);
    array<float> y(32);
    half_of_the_rows<fault><<<1, 32>>>(x, y);
    std::vector<float> want(32);
    for (int t = 0; t < 32; t++)
        for (int i = 0; i < 4; i++)
            want[t] += (float)((i + 1) * in[(i / 2 * 8 + t % 4 * 2 + i % 2) * 8 + t / 4]);
    return came_out<fault>(y.p, want);
}

/* A linear filter between the rows of an array, of which one may be missing. */
__global__ void between_rows(cudaTextureObject_t t, float *y)
{
    const int i = threadIdx.x;
    y[i] = tex2D<float>(t, (float)(i % 8) + 0.5f, (float)(i / 8) + 1); // seen here: row_not_copied
}

template <bool fault>
static bool run_row_not_copied()
{
    const int rows = fault ? 4 : 5; // fault here: row_not_copied
    const auto in = numbers<float>(40);
    array<float> y(32);
    cudaArray_t a;
    const cudaChannelFormatDesc c = cudaCreateChannelDesc<float>();
    cudaMallocArray(&a, &c, 8, 5);
    cudaMemcpy2DToArray(a, 0, 0, in.data(), 32, 32, rows, cudaMemcpyHostToDevice);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaTextureDesc d = {};
    d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
    d.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t t;
    cudaCreateTextureObject(&t, &r, &d, NULL);
    between_rows<<<1, 32>>>(t, y);
    std::vector<float> want(32);
    for (int i = 0; i < 32; i++)
        want[i] = (in[i] + in[i + 8]) / 2;
    const bool fine = came_out<fault>(y.p, want);
    cudaDestroyTextureObject(t);
    cudaFreeArray(a);
    return fine;
}

/* What the host copies from the device has to be written. */
static __global__ void squares(int *y, int n)
{
    const int i = threadIdx.x;
    if (i < n)
        y[i] = i * i;
}

template <bool fault>
static bool run_last_not_computed()
{
    array<int> y(64);
    int got[64];
    squares<<<1, 64>>>(y, fault ? 63 : 64);                 // fault here: last_not_computed
    cudaMemcpy(got, y, sizeof got, cudaMemcpyDeviceToHost); // seen here: last_not_computed
    return came_to<fault>(got[63], 63 * 63);
}

/* Rows of 40 elements, 64 apart: the others are nobody's. */
static __global__ void rows_of_40(int *y)
{
    y[64 * blockIdx.x + threadIdx.x] = threadIdx.x;
}

template <bool fault>
static bool run_wider_than_a_row()
{
    const size_t row = 40 * sizeof(int), pitch = 64 * sizeof(int);
    const auto kind = cudaMemcpyDeviceToHost;
    array<int> y(8 * 64);
    std::vector<int> got(8 * 64);
    rows_of_40<<<8, 40>>>(y);
    const size_t width = fault ? pitch : row;                  // fault here: wider_than_a_row
    cudaMemcpy2D(got.data(), pitch, y, pitch, width, 8, kind); // seen here: wider_than_a_row
    return came_to<fault>(got[7 * 64 + 39], 39);
}

/* A copy on the device hands on what was never written. */
template <bool fault>
static bool run_handed_on()
{
    array<int> x(64), y(64);
    int got[64];
    squares<<<1, 64>>>(x, 64);
    const int n = fault ? 60 : 64; // fault here: handed_on
    cudaMemcpy(y + 64 - n, x, n * sizeof(int), cudaMemcpyDeviceToDevice);
    cudaMemcpy(x, y, sizeof got, cudaMemcpyDeviceToDevice);
    cudaMemcpy(got, x, sizeof got, cudaMemcpyDeviceToHost); // seen here: handed_on
    return came_to<fault>(got[63], 63 * 63);
}

/* Nobody writes the padding of a structure, and that is right. */
struct measured {
    double value;
    int count;
};

static __global__ void measure(measured *m, int n)
{
    const int i = threadIdx.x;
    m[i].value = i;
    if (i < n)
        m[i].count = 1;
}

template <bool fault>
static bool run_count_left_out()
{
    array<measured> m(64);
    measured got[64];
    measure<<<1, 64>>>(m, fault ? 32 : 64);                 // fault here: count_left_out
    cudaMemcpy(got, m, sizeof got, cudaMemcpyDeviceToHost); // seen here: count_left_out
    return came_to<fault>(got[63].count, 1);
}

/* An array of each thread, which only looks like one of the block. */
template <bool fault>
__global__ void own_tile(const int *x, int *y)
{
    int tile[64];
    const int t = threadIdx.x;
    tile[t] = x[t];
    __syncthreads();
    y[t] = tile[fault ? t ^ 1 : t]; // fault here: own_tile
}

RUN(own_tile, 1, 64, numbers(64), in);

/* How often each thread's first value is among its four. */
template <bool fault>
__global__ void own_bins(const int *x, int *y)
{
    int bins[8];
    const int first = 4 * threadIdx.x;
    for (int i = fault; i < 8; i++) // fault here: own_bins
        bins[i] = 0;
    for (int i = first; i < first + 4; i++)
        bins[x[i] - 1]++; // seen here: own_bins
    y[threadIdx.x] = bins[x[first] - 1];
}

RUN(own_bins, 1, 16, numbers(64), std::vector<int>(16, 1));

/* Differences to the round before. What the first round copies is not written, and must not be
 * used. */
template <bool fault>
__global__ void own_round(const int *x, int *y)
{
    int now[4], before[4];
    const int t = threadIdx.x;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++)
            before[i] = now[i];
        int sum = 0;
        for (int i = t; i < t + 4; i++) {
            now[i % 4] = x[64 * round + i % 64];
            if (fault || round > 0)                // fault here: own_round
                sum += now[i % 4] - before[i % 4]; // seen here: own_round
        }
        y[t] = sum;
    }
}

RUN(own_round, 1, 64, numbers(192), each(64, [&](int t) {
        int sum = 0;
        for (int i = t; i < t + 4; i++)
            sum += in[128 + i % 64] - in[64 + i % 64];
        return sum;
    }));

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(half_copied, "only half of the input is copied to the device"),
        PLAIN(adds_to_nothing, "+= to an output that nobody has set"),
        SUBTLE(odd_size, "a kernel for pairs leaves out the last element of odd sizes"),
        SUBTLE(halo_of_last_block, "a shared halo cell that the last block does not write"),
        SUBTLE(tail_not_padded, "the shared tile is not filled up in the tail block"),
        SUBTLE(absent_warps, "the partial sums of warps that the block does not have"),
        SUBTLE(field_left_out, "one field of a struct is written only for some elements"),
        SUBTLE(counter_not_set, "atomicAdd to a counter that was never set to 0"),
        SUBTLE(flags_of_the_host, "the host leaves out some elements of managed memory"),
        SUBTLE(elements_not_bytes, "cudaMemset is given elements where it takes bytes"),
        SUBTLE(diagonal_left_out, "a triangle is written without its diagonal, and read with it"),
        SUBTLE(tail_not_filled, "rows past the end are not copied where zeros are due"),
        SUBTLE(row_not_copied, "the last row of an array, which a linear filter reads"),
        SUBTLE(last_not_computed, "the host copies one element more than was computed"),
        SUBTLE(wider_than_a_row, "a copy of rows takes what lies between them"),
        SUBTLE(handed_on, "a copy on the device leaves out some elements"),
        SUBTLE(count_left_out, "a member of half of the structures, beside their padding"),
        PLAIN(own_tile, "a tile without __shared__: each thread has one of its own"),
        SUBTLE(own_bins, "one of the bins that a thread counts in is not set to 0"),
        SUBTLE(own_round, "the first round uses what only a later one has"),
        SUBTLE(half_of_the_rows, "ldmatrix reads 16 rows of which 8 are written"),
    };
    return suite("uninitialised read", list, argc, argv);
}
