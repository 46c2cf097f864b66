/* CUB: collectives of warps and blocks, and algorithms of the device. Prints "N checks, 0 failed".
 * On a GPU too. */
#include "check.h"

#include <cub/cub.cuh>

enum { THREADS = 96, ITEMS = 3, N = THREADS * ITEMS };

struct wide { /* more than a shuffle moves at once */
    int low, high;
    long long sum;
};
struct add_wide {
    __host__ __device__ wide operator()(const wide &a, const wide &b) const
    {
        return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high, a.sum + b.sum};
    }
};
struct larger {
    __host__ __device__ int operator()(int a, int b) const
    {
        return a > b ? a : b;
    }
};
struct smaller_first {
    __host__ __device__ bool operator()(int a, int b) const
    {
        return a < b;
    }
};
struct is_odd {
    __host__ __device__ bool operator()(int a) const
    {
        return a % 2 != 0;
    }
};
struct running {
    int total;
    __device__ int operator()(int all)
    {
        const int before = total;
        total += all;
        return before;
    }
};

__global__ void warps(int *out)
{
    typedef cub::WarpReduce<int> Reduce;
    typedef cub::WarpScan<int> Scan;
    typedef cub::WarpReduce<int, 8> Eight;
    __shared__ typename Reduce::TempStorage reduce[THREADS / 32];
    __shared__ typename Scan::TempStorage scan[THREADS / 32];
    __shared__ typename Eight::TempStorage eight[THREADS / 8];
    const int t = threadIdx.x, warp = t / 32, lane = t % 32;
    const int sum = Reduce(reduce[warp]).Sum(t);
    __syncwarp();
    const int some = Reduce(reduce[warp]).Sum(t, 5);
    __syncwarp();
    const int most = Reduce(reduce[warp]).Reduce(t, larger());
    const int part = Eight(eight[t / 8]).Sum(1);
    int inclusive, exclusive, all;
    Scan(scan[warp]).InclusiveSum(1, inclusive);
    __syncwarp();
    Scan(scan[warp]).ExclusiveSum(2, exclusive, all);
    if (lane == 0) {
        out[6 * warp] = sum;
        out[6 * warp + 1] = some;
        out[6 * warp + 2] = most;
        out[6 * warp + 3] = part;
    }
    if (lane == 31) {
        out[6 * warp + 4] = inclusive;
        out[6 * warp + 5] = exclusive + all;
    }
}

struct minus_int {
    __host__ __device__ int operator()(int a, int b) const
    {
        return a - b;
    }
};

/* Each thread has 2 of the squares of 0, 1, 2 and so on. */
__global__ void differences(int *out)
{
    typedef cub::BlockAdjacentDifference<int, THREADS> Difference;
    __shared__ typename Difference::TempStorage storage;
    const int t = threadIdx.x;
    int item[2] = {4 * t * t, (2 * t + 1) * (2 * t + 1)}, left[2], right[2];
    Difference(storage).SubtractLeft(item, left, minus_int());
    __syncthreads();
    Difference(storage).SubtractRight(item, right, minus_int(), 7);
    for (int i = 0; i < 2; i++) {
        out[2 * t + i] = left[i];
        out[2 * (THREADS + t) + i] = right[i];
    }
}

__global__ void blocks(const int *in, int *out, wide *w)
{
    typedef cub::BlockReduce<int, THREADS> Reduce;
    typedef cub::BlockReduce<wide, THREADS> Wide;
    typedef cub::BlockScan<int, THREADS> Scan;
    typedef cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE> Load;
    typedef cub::BlockStore<int, THREADS, ITEMS, cub::BLOCK_STORE_TRANSPOSE> Store;
    typedef cub::BlockRadixSort<int, THREADS, ITEMS, int> Sort;
    __shared__ union {
        typename Reduce::TempStorage reduce;
        typename Wide::TempStorage wide;
        typename Scan::TempStorage scan;
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Sort::TempStorage sort;
    } s;
    const int t = threadIdx.x;
    int item[ITEMS], scanned[ITEMS], order[ITEMS], all;
    Load(s.load).Load(in, item);
    __syncthreads();
    const int sum = Reduce(s.reduce).Sum(item);
    __syncthreads();
    const int some = Reduce(s.reduce).Reduce(t, larger(), 40);
    __syncthreads();
    const wide one = {t, t, t};
    const wide both = Wide(s.wide).Reduce(one, add_wide());
    __syncthreads();
    Scan(s.scan).ExclusiveSum(item, scanned, all);
    __syncthreads();
    running before = {100};
    int mine;
    Scan(s.scan).ExclusiveSum(1, mine, before);
    __syncthreads();
    int inclusive;
    Scan(s.scan).InclusiveScan(t, inclusive, larger());
    __syncthreads();
    Store(s.store).Store(out, scanned);
    __syncthreads();
    for (int i = 0; i < ITEMS; i++)
        order[i] = t * ITEMS + i;
    Sort(s.sort).SortDescending(item, order);
    __syncthreads();
    Store(s.store).Store(out + N, item);
    __syncthreads();
    Store(s.store).Store(out + 2 * N, order);
    if (t == 0) {
        out[3 * N] = sum;
        out[3 * N + 1] = some;
        *w = both;
    }
    if (t == THREADS - 1) {
        out[3 * N + 2] = mine;
        out[3 * N + 3] = inclusive;
        out[3 * N + 4] = all;
    }
}

static void collectives()
{
    int *in, *out, h[N], got[3 * N + 5];
    wide *w, both;
    cudaMalloc(&in, sizeof h);
    cudaMalloc(&out, sizeof got);
    cudaMalloc(&w, sizeof both);
    warps<<<1, THREADS>>>(out);
    cudaMemcpy(got, out, 18 * sizeof(int), cudaMemcpyDeviceToHost);
    CHECK(got[0] == 496 && got[6] == 1520 && got[1] == 10 && got[7] == 170);
    CHECK(got[2] == 31 && got[14] == 95 && got[3] == 8 && got[4] == 32 && got[5] == 62 + 64);
    differences<<<1, THREADS>>>(out);
    cudaMemcpy(got, out, 4 * THREADS * sizeof(int), cudaMemcpyDeviceToHost);
    int odd = got[0] == 0;
    for (int i = 1; i < 2 * THREADS; i++)
        odd += got[i] == 2 * i - 1 && got[2 * THREADS + i - 1] == 1 - 2 * i;
    const int last = 2 * THREADS - 1;
    CHECK(odd == 2 * THREADS && got[4 * THREADS - 1] == last * last - 7);
    for (int i = 0; i < N; i++)
        h[i] = i * 7 % 50 - 20;
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    blocks<<<1, THREADS>>>(in, out, w);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    cudaMemcpy(&both, w, sizeof both, cudaMemcpyDeviceToHost);
    int sum = 0, right = 1, sorted = 1;
    for (int i = 0; i < N; i++) {
        right &= got[i] == sum;
        sum += h[i];
        const int at = got[2 * N + i];
        sorted &= got[N + i] == h[at];
        if (i) /* descending, and equal keys in their order */
            sorted &= got[N + i] < got[N + i - 1] ||
                      (got[N + i] == got[N + i - 1] && at > got[2 * N + i - 1]);
    }
    CHECK(right && sorted);
    CHECK(got[3 * N] == sum && got[3 * N + 1] == 39 && got[3 * N + 4] == sum);
    CHECK(got[3 * N + 2] == 100 + THREADS - 1 && got[3 * N + 3] == THREADS - 1);
    CHECK(both.low == 0 && both.high == THREADS - 1 && both.sum == THREADS * (THREADS - 1) / 2);
    cudaFree(in);
    cudaFree(out);
    cudaFree(w);
}

/* Calls an algorithm twice, as CUB wants: for the size of its storage, and to run. */
#define TWICE(call)                                                                                \
    do {                                                                                           \
        void *storage = nullptr;                                                                   \
        size_t bytes = 0;                                                                          \
        CHECK_ERROR(call, cudaSuccess);                                                            \
        cudaMalloc(&storage, bytes);                                                               \
        CHECK_ERROR(call, cudaSuccess);                                                            \
        cudaFree(storage);                                                                         \
    } while (0)

static void algorithms()
{
    const int n = 1000;
    static int h[n], got[n];
    int *in, *out, *other, *values, count[2];
    for (int i = 0; i < n; i++)
        h[i] = i * 37 % 101 - 50;
    for (int **p : {&in, &out, &other, &values})
        cudaMalloc(p, sizeof h);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    int sum = 0, odd = 0, at_most = 0;
    for (int i = 0; i < n; i++) {
        sum += h[i];
        odd += h[i] % 2 != 0;
        at_most += h[i] == 50;
    }
    TWICE(cub::DeviceReduce::Sum(storage, bytes, in, out, n));
    cudaMemcpy(got, out, 4, cudaMemcpyDeviceToHost);
    CHECK(got[0] == sum);
    TWICE(cub::DeviceReduce::Max(storage, bytes, in, out, n));
    cudaMemcpy(got, out, 4, cudaMemcpyDeviceToHost);
    CHECK(got[0] == 50);
    TWICE(cub::DeviceReduce::Min(storage, bytes, in, out, n));
    cudaMemcpy(got, out, 4, cudaMemcpyDeviceToHost);
    CHECK(got[0] == -50);
    TWICE(cub::DeviceReduce::Reduce(storage, bytes, in, out, n, larger(), 77));
    cudaMemcpy(got, out, 4, cudaMemcpyDeviceToHost);
    CHECK(got[0] == 77);
    TWICE(cub::DeviceScan::ExclusiveSum(storage, bytes, in, out, n));
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    CHECK(got[0] == 0 && got[1] == -50 && got[n - 1] + h[n - 1] == sum);
    TWICE(cub::DeviceScan::InclusiveSum(storage, bytes, in, out, n));
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    CHECK(got[0] == -50 && got[n - 1] == sum);
    TWICE(cub::DeviceScan::ExclusiveScan(storage, bytes, in, out, larger(), -9, n));
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    CHECK(got[0] == -9 && got[n - 1] == 50);
    TWICE(cub::DeviceSelect::If(storage, bytes, in, out, other, n, is_odd()));
    cudaMemcpy(count, other, 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    CHECK(count[0] == odd && got[0] == -13);
    TWICE(cub::DeviceRadixSort::SortKeys(storage, bytes, in, out, n));
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    int sorted = 1;
    for (int i = 1; i < n; i++)
        sorted &= got[i - 1] <= got[i];
    CHECK(sorted && got[0] == -50);
    TWICE(cub::DeviceSelect::Unique(storage, bytes, out, other, values, n));
    cudaMemcpy(count, values, 4, cudaMemcpyDeviceToHost);
    CHECK(count[0] == 101);
    TWICE(cub::DeviceRunLengthEncode::Encode(storage, bytes, out, other, values, in, n));
    cudaMemcpy(count, in, 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(got, values, 101 * sizeof *got, cudaMemcpyDeviceToHost);
    CHECK(count[0] == 101 && got[0] == 10 && got[100] == at_most);
    for (int i = 0; i < n; i++)
        h[i] = i;
    cudaMemcpy(values, h, sizeof h, cudaMemcpyHostToDevice);
    for (int i = 0; i < n; i++)
        h[i] = i * 37 % 101 - 50;
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    TWICE(cub::DeviceRadixSort::SortPairsDescending(storage, bytes, in, out, values, other, n));
    cudaMemcpy(got, other, sizeof got, cudaMemcpyDeviceToHost);
    int stable = 1;
    for (int i = 1; i < n; i++)
        stable &= h[got[i]] < h[got[i - 1]] || (h[got[i]] == h[got[i - 1]] && got[i] > got[i - 1]);
    CHECK(stable);
    cub::DoubleBuffer<int> keys(in, out);
    TWICE(cub::DeviceRadixSort::SortKeys(storage, bytes, keys, n));
    cudaMemcpy(got, keys.Current(), sizeof got, cudaMemcpyDeviceToHost);
    CHECK(got[0] == -50 && got[n - 1] == 50);
    TWICE(cub::DeviceMergeSort::SortKeys(storage, bytes, values, n, smaller_first()));
    TWICE(cub::DeviceHistogram::HistogramEven(storage, bytes, keys.Current(), out, 5, -50, 50, n));
    cudaMemcpy(got, out, 4 * sizeof(int), cudaMemcpyDeviceToHost);
    CHECK(got[0] + got[1] + got[2] + got[3] == n - at_most);
    int edges[3] = {0, 400, n};
    cudaMemcpy(other, edges, sizeof edges, cudaMemcpyHostToDevice);
    TWICE(cub::DeviceSegmentedReduce::Sum(storage, bytes, values, out, 2, other, other + 1));
    cudaMemcpy(got, out, 8, cudaMemcpyDeviceToHost);
    CHECK(got[0] == 400 * 399 / 2 && got[0] + got[1] == n * (n - 1) / 2);
    for (int *p : {in, out, other, values})
        cudaFree(p);
}

int main()
{
    collectives();
    algorithms();
    return check_result();
}
