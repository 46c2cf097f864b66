/* Races on shared memory between two barriers. Where a cell could be read too early it holds 0
 * before, so that the read is a race and not of memory that nobody has written. */
#include "../async-faults/ptx.cuh"

#include <cooperative_groups.h>

static __device__ int warp_sum(int v)
{
    for (int bit = 16; bit > 0; bit /= 2)
        v += __shfl_xor_sync(ALL, v, bit);
    return v;
}

template <bool fault>
__global__ void neighbour(const int *x, int *y)
{
    __shared__ int cell[64];
    const int t = threadIdx.x;
    cell[t] = 0;
    __syncthreads();
    cell[t] = x[t]; // seen here: neighbour
    if (!fault)     // fault here: neighbour
        __syncthreads();
    y[t] = cell[63 - t]; // seen here: neighbour
}

RUN(neighbour, 1, 64, numbers(64), std::vector<int>(in.rbegin(), in.rend()));

template <bool fault>
__global__ void bins_without_atomic(const int *x, int *y, int n)
{
    __shared__ int bins[8];
    const int t = threadIdx.x;
    if (t < 8)
        bins[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x)
        fault ? bins[x[i]]++ : atomicAdd(&bins[x[i]], 1); // fault here: bins_without_atomic
    __syncthreads();
    if (t < 8)
        y[t] = bins[t];
}

template <bool fault>
static bool run_bins_without_atomic()
{
    const int n = 200;
    const auto in = numbers(n);
    array<int> x(in), y(8);
    bins_without_atomic<fault><<<1, 64>>>(x, y, n);
    std::vector<int> want(8);
    for (int v : in)
        want[v]++;
    return came_out<fault>(y.p, want);
}

/* The sum over the block, in every thread; partial is used again by the next call. */
template <bool fault>
static __device__ int block_sum(int v, int *partial)
{
    const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    v = warp_sum(v);
    if (lane == 0)
        partial[threadIdx.x / 32] = v; // seen here: reused_partials
    __syncthreads();
    if (threadIdx.x < 32) {
        v = warp_sum(lane < warps ? partial[lane] : 0);
        if (lane == 0)
            partial[0] = v;
    }
    __syncthreads();
    v = partial[0]; // seen here: reused_partials
    if (!fault)     // fault here: reused_partials
        __syncthreads();
    return v;
}

template <bool fault>
__global__ void reused_partials(const int *x, int *y)
{
    __shared__ int partial[32];
    const int t = threadIdx.x;
    const int sum = block_sum<fault>(x[t], partial);
    const int squares = block_sum<fault>(x[t] * x[t], partial);
    y[t] = 1000 * sum + squares;
}

template <bool fault>
static bool run_reused_partials()
{
    const auto in = numbers(128);
    array<int> x(in), y(128);
    reused_partials<fault><<<1, 128>>>(x, y);
    int sum = 0;
    for (int v : in)
        sum += 1000 * v + v * v;
    return came_out<fault>(y.p, std::vector<int>(128, sum));
}

template <bool fault>
__global__ void lane_to_lane(const int *x, int *y)
{
    __shared__ int cell[64];
    const int t = threadIdx.x;
    cell[t] = 0;
    __syncwarp();
    cell[t] = x[t]; // seen here: lane_to_lane
    if (!fault)     // fault here: lane_to_lane
        __syncwarp();
    y[t] = cell[t ^ 1]; // seen here: lane_to_lane
}

RUN(lane_to_lane, 1, 64, numbers(64), each(64, [&](int t) { return in[t ^ 1]; }));

/* Lanes exchange within 16; each group synchronises on its own. */
template <bool fault>
__global__ void groups_of_eight(const int *x, int *y)
{
    __shared__ int cell[32];
    const int lane = threadIdx.x;
    cell[lane] = 0;
    __syncwarp();
    cell[lane] = x[lane];             // seen here: groups_of_eight
    const int group = fault ? 8 : 16; // fault here: groups_of_eight
    __syncwarp(((1u << group) - 1) << lane / group * group);
    y[lane] = cell[lane ^ 8]; // seen here: groups_of_eight
}

RUN(groups_of_eight, 1, 32, numbers(32), each(32, [&](int t) { return in[t ^ 8]; }));

/* Tile k is read while tile k + 1 is fetched. Both sums use every element of every tile. */
template <bool fault>
__global__ void wrong_buffer(const int *x, int *y, int tiles)
{
    __shared__ int buffer[2][64];
    const int t = threadIdx.x;
    buffer[0][t] = x[t];
    buffer[1][t] = 0;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < tiles; k++) {
        const int next = fault ? k % 2 : (k + 1) % 2; // fault here: wrong_buffer
        if (k + 1 < tiles)
            buffer[next][t] = x[(k + 1) * 64 + t]; // seen here: wrong_buffer
        sum += (k + 1) * buffer[k % 2][63 - t];    // seen here: wrong_buffer
        __syncthreads();
    }
    y[t] = sum;
}

static std::vector<int> reversed_sums(const std::vector<int> &in)
{
    std::vector<int> want(64);
    for (size_t i = 0; i < in.size(); i++)
        want[63 - i % 64] += (int)(i / 64 + 1) * in[i];
    return want;
}

RUN(wrong_buffer, 1, 64, numbers(5 * 64), reversed_sums(in), 5);

/* Two tiles are fetched ahead: that takes three buffers. */
template <bool fault>
__global__ void ring_of_two(const int *x, int *y, int tiles)
{
    constexpr int ring = fault ? 2 : 3; // fault here: ring_of_two
    __shared__ int buffer[3][64];
    const int t = threadIdx.x;
    buffer[0][t] = x[t];
    buffer[1][t] = x[64 + t];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < tiles; k++) {
        if (k + 2 < tiles)
            buffer[(k + 2) % ring][t] = x[(k + 2) * 64 + t]; // seen here: ring_of_two
        sum += (k + 1) * buffer[k % ring][63 - t];           // seen here: ring_of_two
        __syncthreads();
    }
    y[t] = sum;
}

RUN(ring_of_two, 1, 64, numbers(5 * 64), reversed_sums(in), 5);

/* The first tile is read only after the barrier, so it is fine. */
template <bool fault>
__global__ void second_tile(const int *x, int *y, int tiles)
{
    __shared__ int tile[64];
    const int t = threadIdx.x;
    int sum = 0;
    for (int k = 0; k < tiles; k++) {
        tile[t] = x[k * 64 + t]; // seen here: second_tile
        __syncthreads();
        sum += (k + 1) * tile[63 - t]; // seen here: second_tile
        if (!fault)                    // fault here: second_tile
            __syncthreads();
    }
    y[t] = sum;
}

RUN(second_tile, 1, 64, numbers(2 * 64), reversed_sums(in), 2);

/* The last steps of a tree, in one warp. volatile keeps the compiler from holding values back, and
 * orders no lanes. */
template <bool fault>
__global__ void volatile_tail(const int *x, int *y)
{
    __shared__ int cell[64];
    const int t = threadIdx.x;
    cell[t] = x[t];
    __syncthreads();
    if (t >= 32)
        return;
    volatile int *v = cell;
    for (int half = 32; half > 0; half /= 2) {
        const int sum = v[t] + v[t + half]; // seen here: volatile_tail
        __syncwarp();
        v[t] = sum; // seen here: volatile_tail
        if (!fault) // fault here: volatile_tail
            __syncwarp();
    }
    if (t == 0)
        *y = v[0];
}

RUN(volatile_tail, 1, 64, numbers(64), sums_by(1, in, [](int) { return 0; }));

/* The last element that is 7. (If all wrote the same value, that would be a warning.) */
template <bool fault>
__global__ void several_write(const int *x, int *y)
{
    __shared__ int found;
    const int t = threadIdx.x;
    if (t == 0)
        found = 0;
    __syncthreads();
    if (x[t] == 7)
        fault ? found = t : atomicMax(&found, t); // fault here: several_write
    __syncthreads();
    y[t] = found;
}

RUN(several_write, 1, 64, numbers(64), std::vector<int>(64, 62));

/* A running sum over tiles: each tile adds to what the tiles before left in carry. */
template <bool fault>
__global__ void carry_too_early(const int *x, int *y, int tiles)
{
    __shared__ int carry;
    const int t = threadIdx.x;
    if (t == 0)
        carry = 0;
    __syncthreads();
    for (int k = 0; k < tiles; k++) {
        const int v = x[k * 64 + t];
        y[k * 64 + t] = carry + v; // seen here: carry_too_early
        if (!fault)                // fault here: carry_too_early
            __syncthreads();
        if (t == 63)
            carry += v; // seen here: carry_too_early
        __syncthreads();
    }
}

template <bool fault>
static bool run_carry_too_early()
{
    const auto in = numbers(3 * 64);
    array<int> x(in), y(3 * 64);
    carry_too_early<fault><<<1, 64>>>(x, y, 3);
    auto want = in;
    int carry = 0;
    for (size_t i = 0; i < want.size(); i++) {
        want[i] += carry;
        if (i % 64 == 63)
            carry += in[i];
    }
    return came_out<fault>(y.p, want);
}

template <bool fault>
__global__ void scan_in_place(const int *x, int *y)
{
    __shared__ int cell[64];
    const int t = threadIdx.x;
    cell[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        const int add = t >= d ? cell[t - d] : 0; // seen here: scan_in_place
        if (!fault)                               // fault here: scan_in_place
            __syncthreads();
        cell[t] += add; // seen here: scan_in_place
        __syncthreads();
    }
    y[t] = cell[t];
}

template <bool fault>
static bool run_scan_in_place()
{
    const auto in = numbers(64);
    array<int> x(in), y(64);
    scan_in_place<fault><<<1, 64>>>(x, y);
    auto want = in;
    for (int i = 1; i < 64; i++)
        want[i] += want[i - 1];
    return came_out<fault>(y.p, want);
}

/* x [4][32] -> y [32][4]. A row of the tile is a warp's, a column is not. */
template <bool fault>
__global__ void transposed_tile(const int *x, int *y)
{
    __shared__ int tile[4][33];
    const int tx = threadIdx.x, ty = threadIdx.y, i = ty * 32 + tx;
    tile[ty][tx] = 0;
    __syncthreads();
    tile[ty][tx] = x[i];                    // seen here: transposed_tile
    fault ? __syncwarp() : __syncthreads(); // fault here: transposed_tile
    y[i] = tile[i % 4][i / 4];              // seen here: transposed_tile
}

RUN(transposed_tile, 1, dim3(32, 4), numbers(128),
    each(128, [&](int i) { return in[i % 4 * 32 + i / 4]; }));

template <bool fault>
__global__ void bits_of_a_word(const int *x, unsigned *y)
{
    __shared__ unsigned word;
    const int lane = threadIdx.x;
    if (lane == 0)
        word = 0;
    __syncwarp();
    if (x[lane] > 4)
        fault ? word |= 1u << lane : atomicOr(&word, 1u << lane); // fault here: bits_of_a_word
    __syncwarp();
    y[lane] = word >> lane & 1;
}

RUN(bits_of_a_word, 1, 32, numbers(32), each<unsigned>(32, [&](int i) { return in[i] > 4; }));

template <bool fault>
__global__ void count_before_all(const int *x, int *y)
{
    __shared__ int count;
    const int t = threadIdx.x;
    if (t == 0)
        count = 0;
    __syncthreads();
    if (x[t] > 4)
        atomicAdd(&count, 1); // seen here: count_before_all
    if (!fault)               // fault here: count_before_all
        __syncthreads();
    y[t] = count; // seen here: count_before_all
}

template <bool fault>
static bool run_count_before_all()
{
    const auto in = numbers(64);
    array<int> x(in), y(64);
    count_before_all<fault><<<1, 64>>>(x, y);
    int count = 0;
    for (int v : in)
        count += v > 4;
    return came_out<fault>(y.p, std::vector<int>(64, count));
}

/* Two arrays of n in one piece of dynamic shared memory. */
template <bool fault>
__global__ void overlapping_carve(const int *x, int *y, int n)
{
    extern __shared__ int words[];
    int *low = words, *high = words + (fault ? n - 1 : n); // fault here: overlapping_carve
    const int t = threadIdx.x;
    low[t] = x[t];      // seen here: overlapping_carve
    high[t] = x[n + t]; // seen here: overlapping_carve
    __syncthreads();
    y[t] = low[t] - high[n - 1 - t];
}

template <bool fault>
static bool run_overlapping_carve()
{
    const auto in = numbers(128);
    array<int> x(in), y(64);
    overlapping_carve<fault><<<1, 64, 128 * sizeof(int)>>>(x, y, 64);
    return came_out<fault>(y.p, 64, [&](int t) { return in[t] - in[127 - t]; });
}

/* Lane 0 overwrites what lane 1 reads. What it writes comes by shuffles from the values that all
 * lanes have read, lane 1 too: so the read is over. */
template <bool fault>
__global__ void without_the_shuffles(const int *x, int *y)
{
    __shared__ int cell[32];
    const int lane = threadIdx.x;
    cell[lane] = x[lane];
    __syncwarp();
    const int mine = cell[lane ^ 1];                    // seen here: without_the_shuffles
    const int sum = fault ? 32 * mine : warp_sum(mine); // fault here: without_the_shuffles
    if (lane == 0)
        cell[0] = sum; // seen here: without_the_shuffles
    __syncwarp();
    y[lane] = cell[0] - mine;
}

template <bool fault>
static bool run_without_the_shuffles()
{
    const auto in = numbers(32);
    array<int> x(in), y(32);
    without_the_shuffles<fault><<<1, 32>>>(x, y);
    int sum = 0;
    for (int v : in)
        sum += v;
    return came_out<fault>(y.p, 32, [&](int i) { return sum - in[i ^ 1]; });
}

/* Each warp turns 32 elements around in a row of its own. */
template <bool fault>
__global__ void warps_share_a_row(const int *x, int *y)
{
    __shared__ int row[4][32];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int *mine = row[fault ? warp / 2 : warp]; // fault here: warps_share_a_row
    mine[lane] = x[t];                        // seen here: warps_share_a_row
    __syncwarp();
    y[t] = mine[31 - lane]; // seen here: warps_share_a_row
}

RUN(warps_share_a_row, 1, 128, numbers(128),
    each(128, [&](int i) { return in[i / 32 * 32 + 31 - i % 32]; }));

/* A block of one warp needs no block barrier; a larger one does. */
template <bool fault>
__global__ void only_two_warps(const int *x, int *y, int n)
{
    __shared__ int cell[96];
    const int t = threadIdx.x;
    cell[t] = 0;
    __syncthreads();
    cell[t] = x[t]; // seen here: only_two_warps
    __syncwarp();
    if (n > (fault ? 64 : 32)) // fault here: only_two_warps
        __syncthreads();
    y[t] = cell[n - 1 - t]; // seen here: only_two_warps
}

template <bool fault>
static bool run_only_two_warps()
{
    bool fine = true;
    for (int n : {32, 64, 96}) {
        const auto in = numbers(n);
        array<int> x(in), y(n);
        only_two_warps<fault><<<1, n>>>(x, y, n);
        fine &= came_out<fault>(y.p, std::vector<int>(in.rbegin(), in.rend()));
    }
    return fine;
}

/* What a thread has waited for, the others have not: that takes a barrier. */
template <bool fault>
__global__ void waited_alone(const int *x, int *y)
{
    __shared__ int cell[64];
    const int t = threadIdx.x;
    cell[t] = 0;
    __syncthreads();
    copy_4(&cell[t], x + t); // seen here: waited_alone
    commit();
    wait_group<0>();
    if (!fault) // fault here: waited_alone
        __syncthreads();
    y[t] = cell[63 - t]; // seen here: waited_alone
}

RUN(waited_alone, 1, 64, numbers(64), std::vector<int>(in.rbegin(), in.rend()));

/* A warp copies, and the other one reads. The barrier has to come after the wait: of what follows
 * it, nobody else is told. */
template <bool fault>
__global__ void barrier_then_wait(const int *x, int *y)
{
    __shared__ int cell[32];
    const int t = threadIdx.x;
    if (t < 32)
        copy_4(&cell[t], x + t); // seen here: barrier_then_wait
    commit();
    if (!fault) // fault here: barrier_then_wait
        wait_group<0>();
    __syncthreads();
    wait_group<0>();
    if (t >= 32)
        y[t - 32] = cell[t - 32]; // seen here: barrier_then_wait
}

RUN(barrier_then_wait, 1, 64, numbers(32), in);

/* Two tiles are fetched ahead, to the stage that has just been read. */
template <bool fault>
__global__ void copied_over(const int *x, int *y, int tiles)
{
    __shared__ int stage[2][64];
    const int t = threadIdx.x;
    stage[0][t] = stage[1][t] = 0;
    __syncthreads();
    for (int k = 0; k < 2; k++) {
        copy_4(&stage[k][t], x + 64 * k + t);
        commit();
    }
    int sum = 0;
    for (int k = 0; k < tiles; k++) {
        wait_group<1>();
        __syncthreads();
        sum += (k + 1) * stage[k % 2][63 - t]; // seen here: copied_over
        if (!fault)                            // fault here: copied_over
            __syncthreads();
        if (k + 2 < tiles)
            copy_4(&stage[k % 2][t], x + 64 * (k + 2) + t); // seen here: copied_over
        commit();
    }
    y[t] = sum;
}

RUN(copied_over, 1, 64, numbers(5 * 64), reversed_sums(in), 5);

/* The same with the copy first and three stages: with two it is to the stage that is read. */
template <bool fault>
__global__ void stages_of_two(const int *x, int *y, int tiles)
{
    constexpr int stages = fault ? 2 : 3; // fault here: stages_of_two
    __shared__ int stage[3][64];
    const int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        copy_4(&stage[k][t], x + 64 * k + t);
        commit();
    }
    int sum = 0;
    for (int k = 0; k < tiles; k++) {
        wait_group<1>();
        __syncthreads();
        if (k + 2 < tiles)
            copy_4(&stage[(k + 2) % stages][t], x + 64 * (k + 2) + t); // seen here: stages_of_two
        commit();
        sum += (k + 1) * stage[k % stages][63 - t]; // seen here: stages_of_two
    }
    y[t] = sum;
}

RUN(stages_of_two, 1, 64, numbers(5 * 64), reversed_sums(in), 5);

/* A warp's own tile, 16 x 16 halves. All lanes come to ldmatrix, but it orders no stores before it.
 */
template <bool fault>
__global__ void rows_of_lanes(const int *x, float *y)
{
    __shared__ __align__(16) __half tile[16][16];
    const int t = threadIdx.x;
    unsigned r[4];
    for (int i = 0; i < 8; i++)
        tile[t / 2][t % 2 * 8 + i] = __int2half_rn(x[8 * t + i]); // seen here: rows_of_lanes
    if (!fault)                                                   // fault here: rows_of_lanes
        __syncwarp();
    ldmatrix_x4(r, &tile[t % 16][t / 16 * 8]); // seen here: rows_of_lanes
    store_pairs(y, r);
}

RUN(rows_of_lanes, 1, 32, numbers(256), pairs_of(in));

/* A warp that only arrives goes on: those who wait know what it did before, not what it does then.
 */
template <bool fault>
__global__ void arrived_and_went_on(const int *x, int *y)
{
    __shared__ int cell[32];
    const int t = threadIdx.x;
    if (t < 32) {
        cell[t] = x[t];
        named_arrive(1, 64);
        __syncwarp();
        if (fault)          // fault here: arrived_and_went_on
            cell[t] = x[t]; // seen here: arrived_and_went_on
        __syncwarp();
    } else {
        named_sync(1, 64);
        y[t - 32] = cell[63 - t]; // seen here: arrived_and_went_on
    }
}

RUN(arrived_and_went_on, 1, 64, numbers(32), std::vector<int>(in.rbegin(), in.rend()));

/* Tiles of 8 lanes turn their numbers round in shared memory. */
template <bool fault>
__global__ void tile_not_waited_for(const int *x, int *y)
{
    __shared__ int cell[64];
    const int t = threadIdx.x;
    auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
    cell[t] = 0;
    __syncthreads();
    cell[t] = x[t]; // seen here: tile_not_waited_for
    if (!fault)     // fault here: tile_not_waited_for
        tile.sync();
    y[t] = cell[t ^ 7]; // seen here: tile_not_waited_for
}

RUN(tile_not_waited_for, 1, 64, numbers(64), each(64, [&](int i) { return in[i ^ 7]; }));

/* Within a block, by fences and atomics: warps take a lock in turn. */
template <bool fault>
__global__ void lock_of_warps(const int *x, int *y)
{
    __shared__ int lock, sum;
    if (threadIdx.x == 0)
        lock = sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0)
            ;
        __threadfence_block();
        sum += x[threadIdx.x / 32]; // seen here: lock_of_warps
        if (!fault)                 // fault here: lock_of_warps
            __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        y[0] = sum;
}

RUN(lock_of_warps, 1, 128, numbers(4), std::vector<int>(1, 1 + 2 + 3 + 4));

/* The warp that arrives last adds what all warps have left. */
template <bool fault>
__global__ void last_warp(const int *x, int *y)
{
    __shared__ int part[4];
    __shared__ unsigned count;
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    if (threadIdx.x % 32 != 0)
        return;
    part[warp] = x[warp]; // seen here: last_warp
    if (!fault)           // fault here: last_warp
        __threadfence_block();
    if (atomicAdd(&count, 1u) != 3)
        return;
    __threadfence_block();
    y[0] = part[0] + part[1] + part[2] + part[3]; // seen here: last_warp
}

RUN(last_warp, 1, 128, numbers(4), std::vector<int>(1, 1 + 2 + 3 + 4));

static __device__ int load_flag(const int *p, bool acquires)
{
    int v;
    if (acquires)
        asm volatile("ld.acquire.cta.shared.b32 %0, [%1];"
                     : "=r"(v)
                     : "r"(shared_address(p))
                     : "memory");
    else
        asm volatile("ld.relaxed.cta.shared.b32 %0, [%1];"
                     : "=r"(v)
                     : "r"(shared_address(p))
                     : "memory");
    return v;
}

/* A warp hands a row to the next one: st.release and ld.acquire. */
template <bool fault>
__global__ void row_not_acquired(const int *x, int *y)
{
    __shared__ int row[32], flag;
    const int t = threadIdx.x;
    if (t == 0)
        flag = 0;
    __syncthreads();
    if (t < 32) {
        row[t] = x[t]; // seen here: row_not_acquired
        __syncwarp();
        if (t == 0)
            asm volatile("st.release.cta.shared.b32 [%0], 1;" ::"r"(shared_address(&flag))
                         : "memory");
        return;
    }
    while (load_flag(&flag, !fault) == 0) // fault here: row_not_acquired
        ;
    y[t - 32] = row[63 - t]; // seen here: row_not_acquired
}

RUN(row_not_acquired, 1, 64, numbers(32), each(32, [&](int i) { return in[31 - i]; }));

/* Lanes of one warp, each of which waits for the lane before it. */
template <bool fault>
__global__ void lane_after_lane(const int *x, int *y)
{
    __shared__ int sum;
    __shared__ volatile int turn;
    const int t = threadIdx.x;
    if (t == 0)
        sum = turn = 0;
    __syncwarp();
    while (turn != t)
        ;
    __threadfence_block();
    sum += x[t]; // seen here: lane_after_lane
    if (!fault)  // fault here: lane_after_lane
        __threadfence_block();
    turn = t + 1;
    __syncwarp();
    if (t == 0)
        y[0] = sum;
}

RUN(lane_after_lane, 1, 8, numbers(8), std::vector<int>(1, 29));

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(neighbour, "no barrier between writing and reading what another thread wrote"),
        PLAIN(bins_without_atomic, "threads count in the same bins without atomics"),
        SUBTLE(reused_partials, "two block sums in a row share their buffer, one barrier short"),
        SUBTLE(lane_to_lane, "no __syncwarp between a write and another lane's read"),
        SUBTLE(groups_of_eight, "__syncwarp of 8 lanes, where 16 exchange"),
        SUBTLE(wrong_buffer, "the next tile goes into the buffer that is being read"),
        SUBTLE(ring_of_two, "two tiles ahead in a ring of two buffers"),
        SUBTLE(second_tile, "no barrier at the end of a loop: a race from the second tile on"),
        SUBTLE(volatile_tail, "the last steps of a tree trust volatile to order the lanes"),
        SUBTLE(several_write, "several threads write one variable without an atomic"),
        SUBTLE(carry_too_early, "the carry is updated while slower warps still read it"),
        SUBTLE(scan_in_place, "a scan in place without the barrier between reading and writing"),
        SUBTLE(transposed_tile, "__syncwarp where a column of the tile comes from four warps"),
        SUBTLE(bits_of_a_word, "lanes set bits of one word without an atomic"),
        SUBTLE(count_before_all, "a counter is read while other threads still add to it"),
        SUBTLE(overlapping_carve, "two arrays cut from dynamic shared memory share one element"),
        SUBTLE(without_the_shuffles, "lane 0 overwrites a cell without waiting for lane 1's read"),
        SUBTLE(warps_share_a_row, "two warps use the same row, each synchronised for itself"),
        SUBTLE(only_two_warps, "the barrier is left out for blocks of exactly two warps"),
        SUBTLE(waited_alone, "each thread waits for its own copies, and no barrier follows"),
        SUBTLE(barrier_then_wait, "the barrier comes before the wait for the copies"),
        SUBTLE(copied_over, "a tile is copied over the one that others still read"),
        SUBTLE(stages_of_two, "a ring of two stages where two tiles are copied ahead"),
        SUBTLE(rows_of_lanes, "ldmatrix reads rows that other lanes have just stored"),
        SUBTLE(arrived_and_went_on, "a warp writes again after it arrived where others wait"),
        SUBTLE(tile_not_waited_for, "lanes of a tile exchange without tile.sync"),
        PLAIN(lock_of_warps, "a lock of warps is freed without a fence before"),
        SUBTLE(last_warp, "the last warp adds partial sums that no fence has released"),
        SUBTLE(row_not_acquired, "a flag is waited for by a relaxed load without a fence"),
        SUBTLE(lane_after_lane, "lanes take turns, and the turn is passed on without a fence"),
    };
    return suite("shared race", list, argc, argv);
}
