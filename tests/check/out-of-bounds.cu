/* Accesses outside an allocation or outside a shared variable, by a few elements. */
#include "../async-faults/bulk.cuh"
#include "../async-faults/ptx.cuh"

template <bool fault>
__global__ void end_included(const int *x, int *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (fault ? i <= n : i < n) // fault here: end_included
        y[i] = 2 * x[i];        // seen here: end_included
}

RUN(end_included, 4, 256, numbers(1000), each(1000, [&](int i) { return 2 * in[i]; }), 1000);

template <bool fault>
__global__ void before_the_first(const int *x, int *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int before = fault || i > 0 ? x[i - 1] : 0; // fault here: before_the_first
    y[i] = x[i] - before;
}

template <bool fault>
static bool run_before_the_first()
{
    const int n = 200;
    const auto in = numbers(n);
    array<int> x(in), y(n);
    before_the_first<fault><<<2, 128>>>(x, y, n);
    auto want = in;
    for (int i = 1; i < n; i++)
        want[i] = in[i] - in[i - 1];
    return came_out<fault>(y.p, want);
}

template <bool fault>
__global__ void next_in_tail(const int *x, int *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (fault ? n : n - 1)) // fault here: next_in_tail
        y[i] = x[i + 1] - x[i];  // seen here: next_in_tail
}

template <bool fault>
static bool run_next_in_tail()
{
    const int n = 1000;
    const auto in = numbers(n);
    array<int> x(in), y(n);
    next_in_tail<fault><<<4, 256>>>(x, y, n);
    std::vector<int> want(n - 1);
    for (int i = 0; i + 1 < n; i++)
        want[i] = in[i + 1] - in[i];
    return came_out<fault>(y.p, want);
}

/* The last thread reads the first element of the array that happens to follow. */
template <bool fault>
__global__ void into_the_next_array(const int *x, int *y)
{
    __shared__ int low[64], high[64];
    const int t = threadIdx.x;
    low[t] = x[t];
    high[t] = x[64 + t];
    __syncthreads();
    const int next = low[fault ? t + 1 : (t + 1) % 64]; // fault here: into_the_next_array
    y[t] = next + high[t];
}

RUN(into_the_next_array, 1, 64, numbers(128),
    each(64, [&](int t) { return in[(t + 1) % 64] + in[64 + t]; }));

/* One cell a thread, and one more on the left. */
template <bool fault>
__global__ void dynamic_too_small(const int *x, int *y)
{
    extern __shared__ int cell[];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0)
        cell[0] = i > 0 ? x[i - 1] : 0;
    cell[t + 1] = x[i]; // seen here: dynamic_too_small
    __syncthreads();
    y[i] = cell[t + 1] - cell[t]; // seen here: dynamic_too_small
}

template <bool fault>
static bool run_dynamic_too_small()
{
    const int n = 128, cells = fault ? 64 : 65; // fault here: dynamic_too_small
    const auto in = numbers(n);
    array<int> x(in), y(n);
    dynamic_too_small<fault><<<2, 64, cells * sizeof(int)>>>(x, y);
    auto want = in;
    for (int i = 1; i < n; i++)
        want[i] = in[i] - in[i - 1];
    return came_out<fault>(y.p, want);
}

/* Four elements a thread. The last ones, when n is no multiple of four, come one by one. */
template <bool fault>
__global__ void vector_tail(const float *x, float *y, int n)
{
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (fault ? i < n : i + 3 < n) {                               // fault here: vector_tail
        const float4 v = *reinterpret_cast<const float4 *>(x + i); // seen here: vector_tail
        y[i / 4] = v.x + v.y + v.z + v.w;
    } else if (i < n) {
        float sum = 0;
        for (int k = i; k < n; k++)
            sum += x[k];
        y[i / 4] = sum;
    }
}

template <bool fault>
static bool run_vector_tail()
{
    const int n = 1001;
    const auto in = numbers<float>(n);
    array<float> x(in), y((n + 3) / 4);
    vector_tail<fault><<<2, 128>>>(x, y, n);
    std::vector<float> want((n + 3) / 4);
    for (int i = 0; i < n; i++)
        want[i / 4] += in[i];
    return came_out<fault>(y.p, want);
}

template <bool fault>
__global__ void row_unchecked(const int *x, int *y, int w, int h)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < w && (fault || row < h))        // fault here: row_unchecked
        y[row * w + col] = -x[row * w + col]; // seen here: row_unchecked
}

template <bool fault>
static bool run_row_unchecked()
{
    const int w = 5, h = 35;
    const auto in = numbers(w * h);
    array<int> x(in), y(w * h);
    row_unchecked<fault><<<dim3(1, 9), dim3(8, 4)>>>(x, y, w, h);
    auto want = in;
    for (int &v : want)
        v = -v;
    return came_out<fault>(y.p, want);
}

/* Sixteen bins for the values 0 to 16: the last bin is for 15 and what is above. */
template <bool fault>
__global__ void one_bin_too_few(const int *x, int *y, int n)
{
    __shared__ int bins[16];
    const int t = threadIdx.x;
    if (t < 16)
        bins[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) {
        const int v = x[i];
        atomicAdd(&bins[fault ? v : min(v, 15)], 1); // fault here: one_bin_too_few
    }
    __syncthreads();
    if (t < 16)
        y[t] = bins[t];
}

template <bool fault>
static bool run_one_bin_too_few()
{
    const int n = 300;
    auto in = numbers(n);
    in[222] = 16;
    array<int> x(in), y(16);
    one_bin_too_few<fault><<<1, 64>>>(x, y, n);
    std::vector<int> want(16);
    for (int v : in)
        want[v < 15 ? v : 15]++;
    return came_out<fault>(y.p, want);
}

template <bool fault>
__global__ void unrolled_twice(const int *x, int *y, int n)
{
    const int t = threadIdx.x, step = blockDim.x;
    int sum = 0;
    for (int i = t; i < n; i += 2 * step) {
        sum += x[i];
        sum += fault || i + step < n ? x[i + step] : 0; // fault here: unrolled_twice
    }
    y[t] = sum;
}

RUN(unrolled_twice, 1, 64, numbers(253), sums_by(64, in, [](int i) { return i % 64; }), 253);

/* x [n + taps - 1] -> y [n] */
template <bool fault>
__global__ void one_tap_more(const int *x, int *y, int n, int taps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int sum = 0;
    for (int k = 0; k < (fault ? taps + 1 : taps); k++) // fault here: one_tap_more
        sum += x[i + k];                                // seen here: one_tap_more
    y[i] = sum;
}

template <bool fault>
static bool run_one_tap_more()
{
    const int n = 150, taps = 5;
    const auto in = numbers(n + taps - 1);
    array<int> x(in), y(n);
    one_tap_more<fault><<<3, 64>>>(x, y, n, taps);
    std::vector<int> want(n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < taps; k++)
            want[i] += in[i + k];
    return came_out<fault>(y.p, want);
}

/* A tile of 16 rows: lanes 16 to 31 have the same rows as lanes 0 to 15, and the right half. */
template <bool fault>
__global__ void rows_of_x4(const int *x, float *y)
{
    __shared__ __align__(16) __half tile[16][16];
    const int t = threadIdx.x;
    unsigned r[4];
    for (int i = t; i < 256; i += 32)
        tile[i / 16][i % 16] = __int2half_rn(x[i]);
    __syncwarp();
    const int row = fault ? t : t % 16;                  // fault here: rows_of_x4
    ldmatrix_x4(r, &tile[0][0] + 16 * row + t / 16 * 8); // seen here: rows_of_x4
    store_pairs(y, r);
}

RUN(rows_of_x4, 1, 32, numbers(256), pairs_of(in));

/* The last copy has fewer than four numbers left. What it does not read becomes 0. */
template <bool fault>
__global__ void copies_of_four(const int *x, int *y, int n)
{
    __shared__ int4 tile[64];
    const int t = threadIdx.x, i = 256 * blockIdx.x + 4 * t;
    const int have = max(0, min(4, n - i));
    const int read = fault && have > 0 ? 16 : 4 * have; // fault here: copies_of_four
    copy_16(&tile[t], have > 0 ? x + i : x, read);      // seen here: copies_of_four
    commit();
    wait_group<0>();
    const int4 v = tile[t];
    y[64 * blockIdx.x + t] = v.x + 2 * v.y + 3 * v.z + 4 * v.w;
}

template <bool fault>
static bool run_copies_of_four()
{
    const int n = 2 * 256 + 70;
    const auto in = numbers(n);
    array<int> x(in), y(3 * 64);
    copies_of_four<fault><<<3, 64>>>(x, y, n);
    std::vector<int> want(3 * 64);
    for (int i = 0; i < n; i++)
        want[i / 4] += (i % 4 + 1) * in[i];
    return came_out<fault>(y.p, want);
}

/* The last tile is shorter than the others, and fetched no longer than it is. */
template <bool fault>
__global__ void whole_tiles(const int *x, int *y, int n)
{
    __shared__ alignas(16) int tile[TILE];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    make(&full, 1);
    int sum = 0;
    for (int k = 0; k * TILE < n; k++) {
        const int left = n - k * TILE < TILE ? n - k * TILE : TILE;
        const int bytes = 4 * (fault ? TILE : left); // fault here: whole_tiles
        if (t == 0) {
            expect(&full, bytes);
            load(tile, x + k * TILE, bytes, &full); // seen here: whole_tiles
        }
        wait(&full, k & 1);
        for (int i = t; i < left; i += THREADS)
            sum += tile[i];
        __syncthreads();
    }
    y[t] = sum;
}

RUN(whole_tiles, 1, THREADS, numbers(2 * TILE + 64),
    sums_by(THREADS, in, [](int i) { return i % TILE % THREADS; }), 2 * TILE + 64);

/* What each thread has read is kept in an array of its own, which is in no memory. */
template <bool fault>
__global__ void own_array(const int *x, int *y, int n)
{
    int kept[3] = {x[threadIdx.x], x[threadIdx.x + 1], x[threadIdx.x + 2]}, sum = 0;
    for (int i = 0; fault ? i <= n : i < n; i++) // fault here: own_array
        sum += kept[i];                          // seen here: own_array
    y[threadIdx.x] = sum;
}

RUN(own_array, 1, 64, numbers(66), each(64, [&](int i) { return in[i] + in[i + 1] + in[i + 2]; }),
    3);

/* The right neighbour of the last column: what is read is the first one of the next row. */
template <bool fault>
__global__ void into_the_next_row(const int *x, int *y)
{
    __shared__ int tile[4][32];
    const int row = threadIdx.x / 32, column = threadIdx.x % 32;
    tile[row][column] = x[threadIdx.x];
    __syncthreads();
    if (row < 3)
        y[threadIdx.x] =
            tile[row][fault ? column + 1 : (column + 1) % 32]; // fault here: into_the_next_row
}

RUN(into_the_next_row, 1, 128, numbers(128),
    each(96, [&](int i) { return in[i / 32 * 32 + (i + 1) % 32]; }));

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(end_included, "the bound is tested with <= where < is meant"),
        PLAIN(before_the_first, "the first thread reads its left neighbour"),
        SUBTLE(next_in_tail, "the right neighbour of the last element, in the tail block only"),
        SUBTLE(into_the_next_array, "one past a __shared__ array, where the next one begins"),
        SUBTLE(dynamic_too_small, "the launch gives one element of shared memory too little"),
        SUBTLE(vector_tail, "a float4 load whose last elements lie past the end"),
        SUBTLE(row_unchecked,
               "columns are checked, rows are not, and only the last block has more"),
        SUBTLE(own_array, "a loop that is one too long, over an array of the thread"),
        SUBTLE(into_the_next_row,
               "one past a row of a __shared__ array, where the next one begins"),
        SUBTLE(one_bin_too_few, "an atomic on a shared bin that only one value asks for"),
        SUBTLE(unrolled_twice, "the second access of an unrolled loop, in its last iteration"),
        SUBTLE(one_tap_more, "a loop that is one too long, seen at the last element only"),
        SUBTLE(rows_of_x4,
               "the upper lanes of ldmatrix.x4 point to rows that a tile does not have"),
        SUBTLE(whole_tiles, "the last bulk copy is as long as the others"),
        SUBTLE(copies_of_four, "the last asynchronous copy reads past the end, and should fill up"),
    };
    return suite("out of bounds", list, argc, argv);
}
