/* Cooperative groups: each operation against its expected value, in whatever order threads run. */
#include "check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstring>
#include <vector>

namespace cg = cooperative_groups;

/* What a kernel has put there; n numbers of each of `threads`. */
template <class T>
struct Numbers {
    T *p;
    int n;
    Numbers(int threads, int n) : n(n)
    {
        CHECK_ERROR(cudaMallocManaged(&p, sizeof(T) * (size_t)(threads * n)), cudaSuccess);
        memset(p, 0, sizeof(T) * (size_t)(threads * n));
    }
    ~Numbers()
    {
        cudaFree(p);
    }
    const T *of(int thread)
    {
        return p + thread * n;
    }
};
static void wait()
{
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
}

struct wide {
    double a, b;
    int c;
};

/* Blocks of three dimensions: 5 x 7 x 2 threads, the last warp of which has 6. */
__global__ void blocks(unsigned *out)
{
    cg::thread_block b = cg::this_thread_block();
    cg::grid_group g = cg::this_grid();
    unsigned *o = out + g.thread_rank() * 15;
    o[0] = b.thread_rank();
    o[1] = b.size() * 1000 + b.num_threads();
    o[2] = b.group_index().z * 1000 + b.group_index().x * 100 + b.group_index().y * 10 +
           b.thread_index().y;
    o[3] = b.dim_threads().x * 100 + b.group_dim().y;
    o[4] = (unsigned)g.size();
    o[5] = (unsigned)(g.num_blocks() * 100 + g.block_rank());
    o[6] = g.dim_blocks().y * 10 + g.group_dim().x;
    o[7] = (unsigned)(cg::thread_rank(b) + cg::group_size(g));
    cg::thread_group part = cg::tiled_partition(b, 16);
    o[8] = (unsigned)(part.size() * 100 + part.thread_rank());
    auto tile = cg::tiled_partition<4>(b);
    o[9] = tile.meta_group_rank() * 100 + tile.meta_group_size();
    o[10] = g.is_valid();
    auto half = cg::tiled_partition<2>(tile);
    o[12] = half.meta_group_rank() * 100 + half.meta_group_size() * 10 + half.thread_rank();
    cg::sync(b);
    part.sync();
    b.sync();
    cg::thread_group any = b;
    any.sync();
    o[11] = (unsigned)any.size();
    const dim3 all = g.dim_threads(), here = g.thread_index();
    o[13] = all.x * 10000 + all.y * 100 + all.z;
    o[14] = here.x * 10000 + here.y * 100 + here.z;
}

void test_blocks()
{
    const int threads = 70, grid = 12;
    Numbers<unsigned> out(threads * grid, 15);
    blocks<<<dim3(2, 3, 2), dim3(5, 7, 2)>>>(out.p);
    wait();
    for (int i = 0; i < threads * grid; i++) {
        const unsigned *o = out.of(i), block = (unsigned)i / threads, t = (unsigned)i % threads;
        CHECK(o[0] == t && o[1] == 70070 && o[3] == 507 && o[4] == 840);
        const unsigned x = block % 2, y = block / 2 % 3, z = block / 6;
        CHECK(o[2] == z * 1000 + x * 100 + y * 10 + t / 5 % 7 && o[13] == 102104);
        CHECK(o[14] == (x * 5 + t % 5) * 10000 + (y * 7 + t / 5 % 7) * 100 + z * 2 + t / 35);
        CHECK(o[5] == 1200 + block && o[6] == 32 && o[7] == t + 840);
        CHECK(o[8] == (t < 64 ? 1600 : 600) + t % 16);
        CHECK(o[9] == t / 4 * 100 + 18 && o[10] == 0 && o[11] == 70);
        CHECK(o[12] == t / 2 % 2 * 100 + 20 + t % 2);
    }
}

template <int N>
__global__ void tiles(int *out)
{
    auto whole = cg::this_thread_block();
    auto tile = cg::tiled_partition<N>(whole);
    cg::thread_block_tile<N> same = tile;
    const int t = (int)cg::this_thread_block().thread_rank();
    int *o = out + t * 24, all = 0;
    wide v = {t + 0.5, t * 2.0, t};
    o[0] = tile.shfl(t, 1);
    o[1] = tile.shfl_up(t, 1);
    o[2] = tile.shfl_down(t, 2);
    o[3] = tile.shfl_xor(t, N / 2);
    o[4] = tile.any(t % 32 == 3);
    o[5] = tile.all(t % 32 < 16);
    o[6] = (int)tile.ballot(t % 2);
    o[7] = (int)tile.match_any(t % 2);
    o[8] = (int)tile.match_all(t / 8, all) + (all << 20);
    o[9] = (int)(tile.meta_group_rank() * 100 + tile.meta_group_size());
    o[10] = (int)(tile.thread_rank() * 100 + tile.size());
    wide r = tile.shfl(v, N - 1);
    o[11] = r.a == r.c + 0.5 && r.b == r.c * 2.0 ? r.c : -1;
    o[12] = cg::reduce(tile, t, cg::plus<int>());
    o[13] = cg::reduce(tile, t - 40, cg::less<int>());
    o[14] = (int)cg::reduce(tile, (unsigned)t, cg::greater<unsigned>());
    o[15] = (int)cg::reduce(tile, t + 0.25f, cg::plus<float>());
    o[16] = cg::inclusive_scan(tile, t);
    o[17] = cg::exclusive_scan(tile, t, [](int a, int b) { return a > b ? a : b; });
    o[18] = cg::reduce(tile, t, [](int a, int b) { return a | b; });
    o[19] = (int)(same.meta_group_rank() + same.size()) + cg::exclusive_scan(same, 1);
    // Of numbers on both sides of 2^31, and of floats whose sum does not tell what was added.
    const unsigned large = t % 2 ? (unsigned)t : 0x80000000u + (unsigned)t;
    o[20] = (int)cg::reduce(tile, large, cg::less<unsigned>());
    o[21] = (int)cg::reduce(tile, large, cg::greater<unsigned>());
    const int rank = (int)tile.thread_rank();
    const float before = cg::exclusive_scan(tile, rank == 3 ? INFINITY : 1.0f);
    o[22] = before == (rank > 3 ? INFINITY : (float)rank);
    __syncwarp();
    o[23] = cg::coalesced_threads().shfl(t, t % 32 + 1); // of a warp the last has the first's
    tile.sync();
}

template <int N>
void test_tiles()
{
    Numbers<int> out(64, 24);
    tiles<N><<<1, 64>>>(out.p);
    wait();
    for (int t = 0; t < 64; t++) {
        const int *o = out.of(t), lane = t % 32, first = t / N * N, rank = t - first;
        const int last = first + N - 1, ones = N == 32 ? -1 : (1 << N) - 1;
        CHECK(o[0] == first + 1 % N && o[1] == (rank ? t - 1 : t));
        CHECK(o[2] == (rank + 2 < N ? t + 2 : t) && o[3] == (t ^ N / 2));
        CHECK(o[4] == (lane / N == 3 / N) && o[5] == (first % 32 + N <= 16));
        const int odd = (N == 1 ? t % 2 : (int)(0xaaaaaaaau & (unsigned)ones));
        CHECK(o[6] == odd && o[7] == (t % 2 ? odd : N == 1 ? 1 : odd >> 1 & ones & 0x55555555));
        CHECK(o[8] == (N <= 8 ? ones + (1 << 20) : 0));
        CHECK(o[9] == t / N * 100 + 64 / N && o[10] == rank * 100 + N && o[11] == last);
        int sum = 0, bits = 0;
        for (int i = first; i <= last; i++)
            sum += i, bits |= i;
        CHECK(o[12] == sum && o[13] == first - 40 && o[14] == last && o[18] == bits);
        CHECK(o[15] == (int)(sum + 0.25f * N));
        CHECK(o[16] == (first + t) * (rank + 1) / 2 && o[17] == (rank ? t - 1 : 0));
        CHECK(o[19] == t / N + N + rank);
        const int most = (int)(0x80000000u + (unsigned)(last - last % 2));
        CHECK(o[20] == (N > 1   ? first + 1
                        : t % 2 ? t
                                : most) &&
              o[21] == (N > 1 || t % 2 == 0 ? most : t));
        CHECK(o[22] == 1 && o[23] == t / 32 * 32 + (t + 1) % 32);
    }
}

/* Lanes that are no tile: 1, 2, 4, 5, 7, 8, ... of each warp. */
__global__ void some_lanes(int *out)
{
    const int t = (int)threadIdx.x, lane = t % 32;
    int *o = out + t * 22, all = 0;
    if (lane % 3 == 0)
        return;
    auto g = cg::coalesced_threads();
    o[0] = (int)(g.size() * 100 + g.thread_rank());
    o[1] = g.shfl(t, 3);
    o[2] = g.shfl_up(t, 2);
    o[3] = g.shfl_down(t, 2);
    o[4] = (int)g.ballot(lane < 8);
    o[5] = g.any(lane == 30) * 10 + g.all(lane != 31);
    o[6] = (int)g.match_any(lane < 8);
    o[7] = (int)g.match_all(t / 32, all) + all;
    o[8] = cg::reduce(g, t, cg::plus<int>());
    o[9] = (int)cg::reduce(g, 1.0, cg::plus<double>());
    o[10] = cg::inclusive_scan(g, 2);
    o[11] = cg::exclusive_scan(g, lane, cg::greater<int>());
    auto part = cg::tiled_partition(g, 4);
    o[12] = (int)(part.meta_group_rank() * 100 + part.meta_group_size());
    o[13] = part.shfl(lane, 0) * 100 + (int)part.size();
    auto half = cg::binary_partition(g, lane < 10);
    o[14] = (int)(half.size() * 100 + half.meta_group_rank() * 10 + half.meta_group_size());
    auto same = cg::labeled_partition(g, 7 - lane / 8);
    o[15] = (int)(same.size() * 100 + same.meta_group_rank() * 10 + same.meta_group_size());
    o[16] = cg::invoke_one_broadcast(
        g, [](int v) { return v; }, t / 32 + 5);
    cg::thread_group base = g;
    base.sync();
    o[17] = (int)(base.size() * 100 + base.thread_rank());
    if (lane < 10) {
        auto inner = cg::coalesced_threads();
        o[18] = (int)inner.size();
    }
    o[19] = 1;
    cg::invoke_one(g, [&] { o[19] = 2; });
    // A half without the warp's last lane, and a half that is all.
    o[20] = (int)(2 * cg::reduce(half, 1.5, cg::plus<double>()));
    auto whole = cg::binary_partition(g, lane < 32), none = cg::binary_partition(g, lane == 32);
    o[21] = (int)(whole.size() * 1000 + whole.meta_group_rank() * 100 +
                  whole.meta_group_size() * 10 + none.meta_group_rank() + none.meta_group_size());
    g.sync();
}

void test_some_lanes()
{
    Numbers<int> out(64, 22);
    some_lanes<<<1, 64>>>(out.p);
    wait();
    std::vector<int> lanes;
    for (int i = 0; i < 32; i++)
        if (i % 3)
            lanes.push_back(i);
    const int n = (int)lanes.size();
    for (int t = 0; t < 64; t++) {
        const int *o = out.of(t), lane = t % 32, w = t - lane;
        if (lane % 3 == 0)
            continue;
        int rank = 0, sum = 0, same = 0;
        while (lanes[(size_t)rank] != lane)
            rank++;
        for (int l : lanes)
            sum += w + l, same += l / 8 == lane / 8;
        CHECK(o[0] == n * 100 + rank && o[1] == w + lanes[3]);
        CHECK(o[2] == (rank >= 2 ? w + lanes[(size_t)rank - 2] : t));
        CHECK(o[3] == (rank + 2 < n ? w + lanes[(size_t)rank + 2] : t));
        CHECK(o[4] == 0x1f && o[5] == 0);
        CHECK(o[6] == (lane < 8 ? 0x1f : ((1 << n) - 1) & ~0x1f) && o[7] == (1 << n));
        CHECK(o[8] == sum && o[9] == n && o[10] == 2 * (rank + 1));
        CHECK(o[11] == (rank ? lanes[(size_t)rank - 1] : 0));
        CHECK(o[12] == rank / 4 * 100 + (n + 3) / 4);
        CHECK(o[13] == lanes[(size_t)(rank / 4 * 4)] * 100 + (rank / 4 < n / 4 ? 4 : n % 4));
        CHECK(o[14] == (lane < 10 ? 612 : (n - 6) * 100 + 2));
        CHECK(o[15] == same * 100 + lane / 8 * 10 + 4 && o[16] == t / 32 + 5);
        CHECK(o[17] == o[0] && o[18] == (lane < 10 ? 6 : 0) && o[19] == (rank ? 1 : 2));
        CHECK(o[20] == 3 * (lane < 10 ? 6 : n - 6) && o[21] == n * 1000 + 11);
    }
}

/* One atomic for the lanes that have something to keep. */
__global__ void filter(const int *from, int n, int *to, int *count)
{
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n;
         i += (int)(gridDim.x * blockDim.x))
        if (from[i] % 3 == 1) {
            auto g = cg::coalesced_threads();
            int at = 0;
            if (g.thread_rank() == 0)
                at = atomicAdd(count, (int)g.size());
            to[g.shfl(at, 0) + (int)g.thread_rank()] = from[i];
        }
}

void test_filter()
{
    const int n = 1000;
    Numbers<int> from(n, 1), to(n, 1), count(1, 1);
    long long sum = 0, wanted = 0;
    int kept = 0;
    for (int i = 0; i < n; i++) {
        from.p[i] = i * 7 % 1000;
        if (from.p[i] % 3 == 1)
            kept++, wanted += from.p[i];
    }
    filter<<<3, 96>>>(from.p, n, to.p, count.p);
    wait();
    for (int i = 0; i < kept; i++)
        sum += to.p[i] % 3 == 1 ? to.p[i] : -1;
    CHECK(count.p[0] == kept && sum == wanted);
}

/* 100 numbers from an address that only 4 divides, then 64 that 16 divides. */
__global__ void copies(const int *from, int *out)
{
    __shared__ __align__(16) int a[104], b[64];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    cg::memcpy_async(block, a + 1, from + 1, sizeof(int) * 100);
    if (warp.meta_group_rank() == 0)
        cg::memcpy_async(warp, b, 70, from + 128, 64);
    else
        cg::memcpy_async(warp, a, from, sizeof(int));
    cg::wait_prior<1>(block);
    int sum = a[1 + block.thread_rank()];
    cg::wait(block);
    out[block.thread_rank()] = sum + b[block.thread_rank()] + a[0];
}

void test_copies()
{
    Numbers<int> from(192, 1), out(64, 1);
    for (int i = 0; i < 192; i++)
        from.p[i] = i * i;
    copies<<<1, 64>>>(from.p, out.p);
    wait();
    for (int i = 0; i < 64; i++)
        CHECK(out.p[i] == (i + 1) * (i + 1) + (i + 128) * (i + 128));
}

/* Bytes that no word divides, and more elements than there is room for. */
__global__ void tails(const char *from, const int *numbers, char *out, int *kept)
{
    __shared__ __align__(16) char bytes[64];
    __shared__ __align__(16) int some[16];
    auto block = cg::this_thread_block();
    const unsigned t = block.thread_rank();
    bytes[t] = 1;
    if (t < 16)
        some[t] = -1;
    block.sync();
    cg::memcpy_async(block, bytes, from, 45);
    cg::memcpy_async(block, some, 10, numbers, 14);
    cg::wait(block);
    out[t] = bytes[t];
    if (t < 16)
        kept[t] = some[t];
}

void test_tails()
{
    Numbers<char> from(64, 1), out(64, 1);
    Numbers<int> numbers(16, 1), kept(16, 1);
    for (int i = 0; i < 64; i++)
        from.p[i] = (char)(i + 2), numbers.p[i % 16] = i % 16;
    tails<<<1, 64>>>(from.p, numbers.p, out.p, kept.p);
    wait();
    for (int i = 0; i < 64; i++)
        CHECK(out.p[i] == (i < 45 ? i + 2 : 1) && kept.p[i % 16] == (i % 16 < 10 ? i % 16 : -1));
}

/* Sums of neighbours, again and again: what a block reads another has written. What lies in shared
 * memory and in variables stays. */
__global__ void neighbours(int *a, int *b, int times)
{
    __shared__ int kept[64];
    cg::grid_group grid = cg::this_grid();
    const int n = (int)grid.size(), i = (int)grid.thread_rank();
    kept[threadIdx.x] = i;
    int *from = a, *to = b;
    for (int time = 0; time < times; time++) {
        if (time == 1) {
            __shared__ int late[64];
            late[threadIdx.x] = i;
            __syncthreads();
            kept[threadIdx.x] +=
                late[63 - threadIdx.x] + late[threadIdx.x] - i - late[63 - threadIdx.x];
        }
        to[i] = from[(i + 65) % n] + from[(i + n - 1) % n];
        grid.sync();
        int *other = from;
        from = to, to = other;
    }
    if (kept[threadIdx.x] != i || !grid.is_valid())
        atomicExch(&from[0], -1);
}

void test_grid(bool extended)
{
    const int blocks = 6, n = blocks * 64;
    int times = 7;
    Numbers<int> a(n, 1), b(n, 1);
    std::vector<int> x((size_t)n), y((size_t)n);
    for (int i = 0; i < n; i++)
        a.p[i] = x[(size_t)i] = i % 5;
    for (int time = 0; time < times; time++, x = y)
        for (int i = 0; i < n; i++)
            y[(size_t)i] = x[(size_t)((i + 65) % n)] + x[(size_t)((i + n - 1) % n)];
    if (extended) {
        cudaLaunchAttribute attribute;
        attribute.id = cudaLaunchAttributeCooperative;
        attribute.val.cooperative = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(blocks);
        config.blockDim = dim3(64);
        config.attrs = &attribute;
        config.numAttrs = 1;
        CHECK_ERROR(cudaLaunchKernelEx(&config, neighbours, a.p, b.p, times), cudaSuccess);
    } else {
        void *arguments[] = {&a.p, &b.p, &times};
        CHECK_ERROR(
            cudaLaunchCooperativeKernel((void *)neighbours, dim3(2, 3), dim3(64), arguments, 0, 0),
            cudaSuccess);
    }
    wait();
    for (int i = 0; i < n; i++)
        CHECK(b.p[i] == x[(size_t)i]);
}

/* Tiles of several warps: they pass values, and wait for nobody else. */
template <unsigned N>
__global__ void wide_tiles(int *out, int *other)
{
    __shared__ cg::block_tile_memory<256> room;
    __shared__ int turned[256], half_sums[256];
    const cg::thread_block block = cg::this_thread_block(room);
    const auto tile = cg::tiled_partition<N>(block);
    const auto half = cg::tiled_partition<N / 2>(tile);
    const auto warp = cg::tiled_partition<32>(tile);
    const int i = (int)block.thread_rank(), rank = (int)tile.thread_rank(), n = (int)N;
    int right = tile.num_threads() == N && rank == i % n && tile.meta_group_rank() == i / N &&
                tile.meta_group_size() == 256 / N && warp.meta_group_rank() == rank / 32u;
    const cg::thread_block_tile<N> plain = tile;
    right &= plain.meta_group_rank() == i / N && plain.meta_group_size() == 256 / N;
    // Each tile waits a number of times of its own, which no other need match.
    for (int k = 0; k < 8; k++) {
        if (k < i / n)
            tile.sync();
        if ((i / (n / 2)) % 2)
            half.sync();
    }
    const int first = i - rank;
    turned[first + (rank + 37) % n] = i;
    tile.sync();
    right &= turned[i] == first + (rank + n - 37) % n;
    right &= cg::reduce(tile, i, cg::plus<int>()) == n * first + n * (n - 1) / 2;
    right &= cg::reduce(tile, (float)rank, cg::greater<float>()) == (float)(n - 1);
    right &= cg::reduce(tile, (double)i, cg::plus<double>()) == n * first + n * (n - 1) / 2.0;
    right &= tile.shfl(i, n - 2) == first + n - 2;
    right &=
        tile.any(rank == n - 1) && !tile.any(rank == n) && tile.all(rank >= 0) && !tile.all(rank);
    right &= cg::inclusive_scan(tile, rank) == rank * (rank + 1) / 2;
    // An operator has what comes later first.
    right &= cg::inclusive_scan(tile, i, [](int, int b) { return b; }) == first;
    right &= cg::inclusive_scan(warp, i, [](int, int b) { return b; }) == i - i % 32;
    right &= cg::exclusive_scan(tile, rank, cg::plus<int>()) == rank * (rank - 1) / 2;
    right &= cg::exclusive_scan(tile, rank, cg::greater<int>()) == (rank ? rank - 1 : 0);
    half_sums[i] = cg::reduce(half, 1, cg::plus<int>());
    tile.sync();
    right &= half_sums[first] == n / 2;
    cg::invoke_one(tile, [&] { other[i / n] = n; });
    right &= cg::invoke_one_broadcast(tile, [&] { return i + 5; }) == first + 5;
    out[i] = right;
}

template <unsigned N>
void test_wide()
{
    Numbers<int> out(256, 1), other(256 / N, 1);
    wide_tiles<N><<<1, 256>>>(out.p, other.p);
    wait();
    int right = 0;
    for (int i = 0; i < 256; i++)
        right += out.p[i];
    CHECK(right == 256);
    CHECK(other.p[256 / N - 1] == (int)N);
}

/* Blocks of which only some have much to do between barriers, and threads that leave early. */
__global__ void uneven(int *sums)
{
    auto grid = cg::this_grid();
    if (threadIdx.x == 63)
        return;
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < (blockIdx.x + round) % 4; i++)
            __syncthreads();
        atomicAdd(&sums[round], 1);
        if (round % 2)
            grid.sync();
        else
            grid.barrier_wait(grid.barrier_arrive());
        if (sums[round] != (int)gridDim.x * 63)
            atomicAdd(&sums[5], 1);
    }
}

__global__ void ordinary()
{
}

void test_limits()
{
    int each = 0, yes = 0, device = 0, processors = 0;
    cudaDeviceProp p;
    CHECK_ERROR(cudaGetDeviceProperties(&p, device), cudaSuccess);
    CHECK(p.cooperativeLaunch == 1);
    CHECK_ERROR(cudaDeviceGetAttribute(&yes, cudaDevAttrCooperativeLaunch, device), cudaSuccess);
    CHECK_ERROR(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
                cudaSuccess);
    CHECK(yes == 1);
    CHECK_ERROR(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, uneven, 64, 0), cudaSuccess);
    Numbers<int> sums(6, 1);
    void *arguments[] = {&sums.p};
    const int most = each * processors;
    CHECK_ERROR(cudaLaunchCooperativeKernel(uneven, dim3((unsigned)most + 1), dim3(64), arguments),
                cudaErrorCooperativeLaunchTooLarge);
    CHECK_ERROR(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
    CHECK_ERROR(cudaLaunchCooperativeKernel(uneven, dim3((unsigned)most), dim3(64), arguments),
                cudaSuccess);
    wait();
    for (int round = 0; round < 5; round++)
        CHECK(sums.p[round] == most * 63);
    CHECK(sums.p[5] == 0);
    ordinary<<<100, 32>>>(); /* and then a launch that is not cooperative */
    wait();
}

int main()
{
    test_blocks();
    test_tiles<1>();
    test_tiles<2>();
    test_tiles<4>();
    test_tiles<8>();
    test_tiles<16>();
    test_tiles<32>();
    test_wide<64>();
    test_wide<128>();
    test_wide<256>();
    test_some_lanes();
    test_filter();
    test_copies();
    test_tails();
    test_grid(false);
    test_grid(true);
    test_limits();
    return check_result();
}
