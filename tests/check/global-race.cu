/* Races on global memory, between blocks but for the last two. */
#include "../async-faults/ptx.cuh"

#include <cooperative_groups.h>

template <bool fault>
__global__ void count_without_atomic(const int *x, int *bins)
{
    const int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    fault ? bins[v]++ : atomicAdd(&bins[v], 1); // fault here: count_without_atomic
}

template <bool fault>
static bool run_count_without_atomic()
{
    const auto in = numbers(256);
    std::vector<int> want(8);
    array<int> x(in), bins(want);
    count_without_atomic<fault><<<4, 64>>>(x, bins);
    for (int v : in)
        want[v]++;
    return came_out<fault>(bins.p, want);
}

template <bool fault>
__global__ void maximum_by_hand(const int *x, int *best)
{
    const int v = x[blockIdx.x];
    fault ? *best = max(*best, v) : atomicMax(best, v); // fault here: maximum_by_hand
}

template <bool fault>
static bool run_maximum_by_hand()
{
    const auto in = numbers(20);
    array<int> x(in), best(std::vector<int>(1));
    maximum_by_hand<fault><<<20, 1>>>(x, best);
    return came_out<fault>(best.p, std::vector<int>(1, 7));
}

/* Every block leaves its sum in partial; the one that comes last adds them up. */
template <bool fault>
__global__ void last_block(const int *x, int *partial, unsigned *arrived, int *y)
{
    __shared__ int cell[64];
    __shared__ bool last;
    const int t = threadIdx.x, blocks = gridDim.x;
    cell[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half)
            cell[t] += cell[t + half];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = cell[0]; // seen here: last_block
        if (!fault)                    // fault here: last_block
            __threadfence();
        last = atomicAdd(arrived, 1u) == gridDim.x - 1;
        if (last)
            __threadfence();
    }
    __syncthreads();
    if (last && t == 0) {
        int sum = 0;
        for (int b = 0; b < blocks; b++)
            sum += partial[b]; // seen here: last_block
        *y = sum;
    }
}

template <bool fault>
static bool run_last_block()
{
    const auto in = numbers(6 * 64);
    array<int> x(in), partial(6), y(1);
    array<unsigned> arrived(std::vector<unsigned>(1));
    last_block<fault><<<6, 64>>>(x, partial, arrived, y);
    std::vector<int> want(1);
    for (int v : in)
        want[0] += v;
    return came_out<fault>(y.p, want);
}

/* The fence stands before what it is to publish. */
template <bool fault>
__global__ void fence_too_early(const int *x, int *partial, unsigned *arrived, int *y)
{
    __threadfence();
    partial[blockIdx.x] = x[blockIdx.x]; // seen here: fence_too_early
    if (!fault)                          // fault here: fence_too_early
        __threadfence();
    __syncwarp();
    if (atomicAdd(arrived, 1u) == gridDim.x - 1) {
        __threadfence();
        int sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            sum += partial[b]; // seen here: fence_too_early
        *y = sum;
    }
}

template <bool fault>
static bool run_fence_too_early()
{
    const auto in = numbers(6);
    array<int> x(in), partial(6), y(1);
    array<unsigned> arrived(std::vector<unsigned>(1));
    fence_too_early<fault><<<6, 1>>>(x, partial, arrived, y);
    return came_out<fault>(y.p, std::vector<int>(1, 1 + 2 + 3 + 4 + 5 + 6));
}

/* Block 0 hands a value over, block 1 looks for it for a while. */
template <bool fault>
__global__ void flag_read_plainly(int *value, int *flag, int *y)
{
    if (blockIdx.x == 0) {
        *value = 42;
        __threadfence();
        atomicExch(flag, 1); // seen here: flag_read_plainly
        return;
    }
    int seen = 0;
    for (int k = 0; k < 1000 && !seen; k++)
        seen = fault ? *flag : atomicAdd(flag, 0); // fault here: flag_read_plainly
    __threadfence();
    *y = seen ? *value : 42;
}

template <bool fault>
static bool run_flag_read_plainly()
{
    array<int> value(1), flag(std::vector<int>(1)), y(1);
    flag_read_plainly<fault><<<2, 1>>>(value, flag, y);
    return came_out<fault>(y.p, std::vector<int>(1, 42));
}

/* x [n] -> y [n], a tile a block. */
template <bool fault>
__global__ void tiles_overlap(const int *x, int *y, int n)
{
    const int tile = 64, begin = blockIdx.x * tile;
    const int end = min(n, begin + (fault ? tile + 1 : tile)); // fault here: tiles_overlap
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x)
        y[i] = x[i] + blockIdx.x; // seen here: tiles_overlap
}

RUN(tiles_overlap, 4, 32, numbers(250), each(250, [&](int i) { return in[i] + i / 64; }), 250);

static __constant__ int weight[3] = {1, 2, 1};

/* Within a block the barrier keeps reads before writes; the neighbour's edge it does not. */
template <bool fault>
__global__ void stencil_in_place(int *x, int *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int *to = fault ? x : y; // fault here: stencil_in_place
    int sum = 0;
    for (int k = -1; k <= 1; k++)
        if (i + k >= 0 && i + k < n)
            sum += weight[k + 1] * x[i + k]; // seen here: stencil_in_place
    __syncthreads();
    if (i < n)
        to[i] = sum; // seen here: stencil_in_place
}

RUN(stencil_in_place, 4, 64, numbers(200),
    each(200,
         [&](int i) {
             return (i > 0 ? in[i - 1] : 0) + 2 * in[i] + (i + 1 < 200 ? in[i + 1] : 0);
         }),
    200);

/* Each block fills a part of y in each of two rounds. */
template <bool fault>
__global__ void second_round_slot(int *y)
{
    for (int round = 0; round < 2; round++) {
        const int step = fault ? 1 : gridDim.x; // fault here: second_round_slot
        const int part = blockIdx.x + round * step;
        y[part * blockDim.x + threadIdx.x] = 10 * part + round; // seen here: second_round_slot
    }
}

template <bool fault>
static bool run_second_round_slot()
{
    array<int> y(8 * 32);
    second_round_slot<fault><<<4, 32>>>(y);
    return came_out<fault>(y.p, 8 * 32, [&](int i) { return 10 * (i / 32) + i / 128; });
}

static __device__ int limit = 4;

template <bool fault>
__global__ void reset_in_flight(const int *x, int *count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (fault && i == 0) // fault here: reset_in_flight
        *count = 0;      // seen here: reset_in_flight
    if (x[i] > limit)
        atomicAdd(count, 1); // seen here: reset_in_flight
}

template <bool fault>
static bool run_reset_in_flight()
{
    const auto in = numbers(256);
    std::vector<int> want(1);
    array<int> x(in), count(want);
    reset_in_flight<fault><<<4, 64>>>(x, count);
    for (int v : in)
        want[0] += v > 4;
    return came_out<fault>(count.p, want);
}

/* The last element that is 7. */
template <bool fault>
__global__ void last_found(const int *x, int *last)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] == 7)
        fault ? *last = i : atomicMax(last, i); // fault here: last_found
}

template <bool fault>
static bool run_last_found()
{
    const auto in = numbers(128);
    array<int> x(in), last(std::vector<int>(1));
    last_found<fault><<<4, 32>>>(x, last);
    return came_out<fault>(last.p, std::vector<int>(1, 125));
}

/* A byte of a word, set by way of the word: the bytes beside it are written back as they were. */
static __device__ void set_in_word(unsigned char *bytes, int i, unsigned v)
{
    unsigned *word = reinterpret_cast<unsigned *>(bytes) + i / 4;
    const int shift = i % 4 * 8;
    *word = (*word & ~(0xffu << shift)) | v << shift; // seen here: byte_of_a_word
}

static __device__ void set_byte(unsigned char *bytes, int i, unsigned v)
{
    bytes[i] = (unsigned char)v;
}

template <bool fault>
__global__ void byte_of_a_word(const int *x, unsigned char *bytes)
{
    const int i = blockIdx.x;
    fault ? set_in_word(bytes, i, x[i]) : set_byte(bytes, i, x[i]); // fault here: byte_of_a_word
}

template <bool fault>
static bool run_byte_of_a_word()
{
    const auto in = numbers(16);
    array<int> x(in);
    array<unsigned char> bytes(std::vector<unsigned char>(16));
    byte_of_a_word<fault><<<16, 1>>>(x, bytes);
    return came_out<fault>(bytes.p, numbers<unsigned char>(16));
}

/* Two or three elements a thread. With a stride one too short, the first thread of all comes to the
 * element where the last one began. */
template <bool fault>
__global__ void stride_one_short(int *x, int n)
{
    const int stride = gridDim.x * blockDim.x - (fault ? 1 : 0); // fault here: stride_one_short
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        x[i] *= 2; // seen here: stride_one_short
}

template <bool fault>
static bool run_stride_one_short()
{
    auto want = numbers(500);
    array<int> x(want);
    stride_one_short<fault><<<4, 64>>>(x, 500);
    for (int &v : want)
        v *= 2;
    return came_out<fault>(x.p, want);
}

/* Sums of segments of 24 elements, 64 elements a block of one thread. A segment that another block
 * has a part of needs an atomic. */
template <bool fault>
__global__ void segment_begins_before(const int *x, int *sums, int n)
{
    const int begin = blockIdx.x * 64, end = min(n, begin + 64);
    int sum = 0;
    for (int i = begin; i < end; i++) {
        sum += x[i];
        const bool ends = i % 24 == 23;
        if (!ends && i + 1 < end)
            continue;
        const bool whole = ends && (fault || i - 23 >= begin); // fault here: segment_begins_before
        if (whole)
            sums[i / 24] += sum; // seen here: segment_begins_before
        else
            atomicAdd(&sums[i / 24], sum); // seen here: segment_begins_before
        sum = 0;
    }
}

template <bool fault>
static bool run_segment_begins_before()
{
    const int n = 240;
    const auto in = numbers(n);
    std::vector<int> want(n / 24);
    array<int> x(in), sums(want);
    segment_begins_before<fault><<<4, 1>>>(x, sums, n);
    for (int i = 0; i < n; i++)
        want[i / 24] += in[i];
    return came_out<fault>(sums.p, want);
}

/* Two warps of one block exchange through global memory. */
template <bool fault>
__global__ void scratch_of_a_block(const int *x, int *scratch, int *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    scratch[i] = x[i]; // seen here: scratch_of_a_block
    if (!fault)        // fault here: scratch_of_a_block
        __syncthreads();
    y[i] = scratch[i ^ 32]; // seen here: scratch_of_a_block
}

template <bool fault>
static bool run_scratch_of_a_block()
{
    const auto in = numbers(128);
    array<int> x(in), scratch(std::vector<int>(128)), y(128);
    scratch_of_a_block<fault><<<2, 64>>>(x, scratch, y);
    return came_out<fault>(y.p, 128, [&](int i) { return in[i ^ 32]; });
}

/* A warp copies what the other one overwrites. A copy may read until it has been waited for. */
template <bool fault>
__global__ void copied_then_set(int *x)
{
    __shared__ int cell[32];
    const int t = threadIdx.x;
    if (t < 32)
        copy_4(&cell[t], x + t); // seen here: copied_then_set
    commit();
    if (!fault) // fault here: copied_then_set
        wait_group<0>();
    __syncthreads();
    if (t >= 32)
        x[t - 32] = 100; // seen here: copied_then_set
    wait_group<0>();
    __syncthreads();
    if (t < 32)
        x[31 - t] += cell[t];
}

template <bool fault>
static bool run_copied_then_set()
{
    const auto in = numbers(32);
    array<int> x(in);
    copied_then_set<fault><<<1, 64>>>(x);
    std::vector<int> want(in.rbegin(), in.rend());
    for (int &v : want)
        v += 100;
    return came_out<fault>(x.p, want);
}

/* dq [rows][16] of attention's gradient: a block has a tile of keys, and a part of every row. What
 * its queries have from it is put in whole numbers, so that the order of sums does not show. */
static __device__ float part_of_row(int block, int i)
{
    return (float)(block + 1 + i % 3);
}

static std::vector<float> sums_of_rows(int blocks, int n)
{
    std::vector<float> want(n);
    for (int i = 0; i < n; i++)
        for (int block = 0; block < blocks; block++)
            want[i] += (float)(block + 1 + i % 3);
    return want;
}

template <bool fault>
__global__ void dq_without_atomics(float *dq, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const float part = part_of_row(blockIdx.x, i);
        fault ? dq[i] += part : atomicAdd(dq + i, part); // fault here: dq_without_atomics
    }
}

template <bool fault>
static bool run_dq_without_atomics()
{
    const int n = 4 * 16;
    array<float> dq(std::vector<float>(n, 0.0f));
    dq_without_atomics<fault><<<3, 32>>>(dq, n);
    return came_out<fault>(dq.p, sums_of_rows(3, n));
}

/* The first block stores its part, so that nobody need clear dq; in the fixed version it has dq to
 * itself, and the others add to a second buffer. */
template <bool fault>
__global__ void first_tile_stores(float *dq, int n)
{
    float *sums = fault ? dq : dq + n; // fault here: first_tile_stores
    for (int i = 4 * threadIdx.x; i < n; i += 4 * blockDim.x)
        if (blockIdx.x == 0)
            *(float4 *)(dq + i) = make_float4(1, 2, 3, 4); // seen here: first_tile_stores
        else
            add_to_4(sums + i, 1.0f); // seen here: first_tile_stores
}

template <bool fault>
static bool run_first_tile_stores()
{
    const int n = 4 * 16;
    array<float> dq(std::vector<float>(2 * n, 0.0f));
    first_tile_stores<fault><<<3, 8>>>(dq, n);
    std::vector<float> want(2 * n, 2.0f);
    for (int i = 0; i < n; i++)
        want[i] = (float)(i % 4 + 1);
    return came_out<fault>(dq.p, want);
}

/* Blocks add in the order in which they have begun: each row has a counter of those that are done.
 */
static __device__ unsigned drawn(unsigned *ticket)
{
    __shared__ unsigned number;
    if (threadIdx.x == 0)
        number = atomicAdd(ticket, 1u);
    __syncthreads();
    return number;
}

static __device__ void wait_for(const unsigned *done, unsigned number)
{
    if (threadIdx.x == 0)
        while (load_acquire(done) != number)
            __nanosleep(20);
    __syncthreads();
}

static __device__ void add_plainly(float *row, unsigned number, int i)
{
    row[i] += part_of_row(number, i); // seen here: dq_not_waited_for
}

template <bool fault>
__global__ void dq_not_waited_for(float *dq, unsigned *counters, int rows)
{
    const unsigned number = drawn(counters);
    for (int row = 0; row < rows; row++) {
        unsigned *done = counters + 1 + row;
        const int waits = fault ? 1 : rows; // fault here: dq_not_waited_for
        if (row < waits)
            wait_for(done, number);
        add_plainly(dq + row * 32, number, threadIdx.x);
        __syncthreads();
        if (threadIdx.x == 0)
            add_release(done);
    }
}

static std::vector<float> rows_of_32(int blocks, int rows)
{
    std::vector<float> want;
    const auto row = sums_of_rows(blocks, 32);
    for (int i = 0; i < rows; i++)
        want.insert(want.end(), row.begin(), row.end());
    return want;
}

template <bool fault>
static bool run_dq_not_waited_for()
{
    array<float> dq(std::vector<float>(3 * 32));
    array<unsigned> counters(std::vector<unsigned>(1 + 3));
    dq_not_waited_for<fault><<<4, 32>>>(dq, counters, 3);
    return came_out<fault>(dq.p, rows_of_32(4, 3));
}

/* run_NAME for a kernel NAME(dq, counters): three blocks of 64 threads add rows to dq. */
#define RUN_IN_TURN(name)                                                                          \
    template <bool fault>                                                                          \
    static bool run_##name()                                                                       \
    {                                                                                              \
        array<float> dq(std::vector<float>(64));                                                   \
        array<unsigned> counters(std::vector<unsigned>(2));                                        \
        name<fault><<<3, 64>>>(dq, counters);                                                      \
        return came_out<fault>(dq.p, sums_of_rows(3, 64));                                         \
    }

/* A block waits until all before it have added but one. */
template <bool fault>
__global__ void dq_waits_for_too_few(float *dq, unsigned *counters)
{
    const unsigned number = drawn(counters);
    const unsigned before = number - (fault && number > 0); // fault here: dq_waits_for_too_few
    if (threadIdx.x == 0)
        while (load_acquire(counters + 1) < before)
            __nanosleep(20);
    __syncthreads();
    const int i = threadIdx.x;
    dq[i] += part_of_row(number, i); // seen here: dq_waits_for_too_few
    __syncthreads();
    if (i == 0)
        add_release(counters + 1);
}

RUN_IN_TURN(dq_waits_for_too_few);

/* It waits for all before it, and there is no fence between that and what they have added. */
template <bool fault>
__global__ void dq_not_acquired(float *dq, unsigned *counters)
{
    const unsigned number = drawn(counters);
    if (threadIdx.x == 0) {
        while (load_relaxed(counters + 1) < number)
            __nanosleep(20);
        if (!fault) // fault here: dq_not_acquired
            __threadfence();
    }
    __syncthreads();
    const int i = threadIdx.x;
    dq[i] += part_of_row(number, i); // seen here: dq_not_acquired
    __syncthreads();
    if (i == 0)
        add_release(counters + 1);
}

RUN_IN_TURN(dq_not_acquired);

static __device__ void add_one(unsigned *counter, bool relaxed)
{
    relaxed ? add_relaxed(counter) : add_release(counter);
}

/* The counter goes up, and what was added before is not there yet for who sees it. */
template <bool fault>
__global__ void dq_not_released(float *dq, unsigned *counters)
{
    const unsigned number = drawn(counters);
    wait_for(counters + 1, number);
    const int i = threadIdx.x;
    dq[i] += part_of_row(number, i); // seen here: dq_not_released
    __syncthreads();
    if (i == 0)
        add_one(counters + 1, fault); // fault here: dq_not_released
}

RUN_IN_TURN(dq_not_released);

/* A block counts its part as done while some of its warps have still to add theirs. */
template <bool fault>
__global__ void dq_counted_too_early(float *dq, unsigned *counters)
{
    const unsigned number = drawn(counters);
    wait_for(counters + 1, number);
    const int i = threadIdx.x;
    dq[i] += part_of_row(number, i); // seen here: dq_counted_too_early
    if (!fault)                      // fault here: dq_counted_too_early
        __syncthreads();
    if (i == 0)
        add_release(counters + 1);
}

RUN_IN_TURN(dq_counted_too_early);

/* Each block needs what all have written, twice. */
template <bool fault>
__global__ void grid_not_waited_for(const int *x, int *sums, int *y)
{
    auto grid = cooperative_groups::this_grid();
    sums[blockIdx.x] = x[blockIdx.x];
    grid.sync();
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; b++)
        sum += sums[b]; // seen here: grid_not_waited_for
    if (!fault)         // fault here: grid_not_waited_for
        grid.sync();
    sums[blockIdx.x] = sum; // seen here: grid_not_waited_for
    grid.sync();
    y[blockIdx.x] = sums[gridDim.x - 1 - blockIdx.x];
}

template <bool fault>
static bool run_grid_not_waited_for()
{
    array<int> x(numbers(4)), sums(4), y(4);
    void *arguments[] = {&x.p, &sums.p, &y.p};
    cudaLaunchCooperativeKernel(grid_not_waited_for<fault>, dim3(4), dim3(1), arguments);
    return came_out<fault>(y.p, std::vector<int>(4, 1 + 2 + 3 + 4));
}

/* A lock of blocks. The fences make what is done under it visible to whoever takes it next. */
enum which { NO_FENCE, FENCE_OF_BLOCK, FENCE_OF_DEVICE };

template <which fence>
static __device__ void make_fence()
{
    if (fence == FENCE_OF_BLOCK)
        __threadfence_block();
    if (fence == FENCE_OF_DEVICE)
        __threadfence();
}

template <bool fault>
__global__ void lock_without_fence(int *lock, int *sum)
{
    const which fence = fault ? NO_FENCE : FENCE_OF_DEVICE; // fault here: lock_without_fence
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    make_fence<FENCE_OF_DEVICE>();
    *sum += blockIdx.x + 1; // seen here: lock_without_fence
    make_fence<fence>();
    atomicExch(lock, 0);
}

template <bool fault>
__global__ void lock_taken_early(int *lock, int *sum)
{
    const which fence = fault ? NO_FENCE : FENCE_OF_DEVICE; // fault here: lock_taken_early
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    make_fence<fence>();
    *sum += blockIdx.x + 1; // seen here: lock_taken_early
    make_fence<FENCE_OF_DEVICE>();
    atomicExch(lock, 0);
}

template <bool fault>
__global__ void lock_of_a_block(int *lock, int *sum)
{
    const which fence = fault ? FENCE_OF_BLOCK : FENCE_OF_DEVICE; // fault here: lock_of_a_block
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    make_fence<fence>();
    *sum += blockIdx.x + 1; // seen here: lock_of_a_block
    make_fence<FENCE_OF_DEVICE>();
    atomicExch(lock, 0);
}

#define RUN_LOCKED(name)                                                                           \
    template <bool fault>                                                                          \
    static bool run_##name()                                                                       \
    {                                                                                              \
        array<int> lock(std::vector<int>(1)), sum(std::vector<int>(1));                            \
        name<fault><<<4, 1>>>(lock, sum);                                                          \
        return came_out<fault>(sum.p, std::vector<int>(1, 1 + 2 + 3 + 4));                         \
    }
RUN_LOCKED(lock_without_fence);
RUN_LOCKED(lock_taken_early);
RUN_LOCKED(lock_of_a_block);

/* Two blocks add with an atomic of which each says that only its own block takes part. */
template <bool fault>
__global__ void atomics_of_a_block(int *, int *sum)
{
    if (fault && blockIdx.x == 0)             // fault here: atomics_of_a_block
        atomicAdd_block(sum, blockIdx.x + 1); // seen here: atomics_of_a_block
    else
        atomicAdd(sum, blockIdx.x + 1); // seen here: atomics_of_a_block
}

RUN_LOCKED(atomics_of_a_block);

/* The low half of a counter of 64 bits is raised by an atomic of 32. */
template <bool fault>
__global__ void half_of_a_counter(const int *x, unsigned long long *count)
{
    unsigned *low = reinterpret_cast<unsigned *>(count);
    if (fault && blockIdx.x == 0)       // fault here: half_of_a_counter
        atomicAdd(low, (unsigned)x[0]); // seen here: half_of_a_counter
    else
        atomicAdd(count, (unsigned long long)x[blockIdx.x]); // seen here: half_of_a_counter
}

template <bool fault>
static bool run_half_of_a_counter()
{
    array<int> x(numbers(4));
    array<unsigned long long> count(std::vector<unsigned long long>(1));
    half_of_a_counter<fault><<<4, 1>>>(x, count);
    return came_out<fault>(count.p, std::vector<unsigned long long>(1, 1 + 2 + 3 + 4));
}

/* Block 0 sends a value, and the last block waits for its flag: a volatile one. */
template <bool fault>
__global__ void message_not_fenced(const int *x, int *box, volatile int *flag, int *y)
{
    if (blockIdx.x == 0) {
        *box = x[0]; // seen here: message_not_fenced
        if (!fault)  // fault here: message_not_fenced
            __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0)
            ;
        __threadfence();
        *y = *box; // seen here: message_not_fenced
    }
}

template <bool fault>
__global__ void message_not_acquired(const int *x, int *box, volatile int *flag, int *y)
{
    if (blockIdx.x == 0) {
        *box = x[0]; // seen here: message_not_acquired
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0)
            ;
        if (!fault) // fault here: message_not_acquired
            __threadfence();
        *y = *box; // seen here: message_not_acquired
    }
}

template <bool fault>
__global__ void message_of_a_block(const int *x, int *box, volatile int *flag, int *y)
{
    if (blockIdx.x == 0) {
        *box = x[0];                                            // seen here: message_of_a_block
        make_fence<fault ? FENCE_OF_BLOCK : FENCE_OF_DEVICE>(); // fault here: message_of_a_block
        *flag = 1;
    } else {
        while (*flag == 0)
            ;
        __threadfence();
        *y = *box; // seen here: message_of_a_block
    }
}

/* A second block raises the flag once more, and only then the third one looks at it. An atomic adds
 * to what is released there, a store ends it. */
template <bool fault>
__global__ void flag_overwritten(const int *x, int *box, int *flag, int *y)
{
    if (blockIdx.x == 0) {
        *box = x[0]; // seen here: flag_overwritten
        __threadfence();
        atomicExch(flag, 1);
    } else if (blockIdx.x == 1) {
        while (atomicAdd(flag, 0) == 0)
            ;
        if (fault) // fault here: flag_overwritten
            asm volatile("st.relaxed.gpu.global.b32 [%0], 2;" ::"l"(flag) : "memory");
        else
            atomicAdd(flag, 1);
        *(volatile int *)(flag + 1) = 1;
    } else {
        while (*(volatile int *)(flag + 1) == 0)
            ;
        while (atomicAdd(flag, 0) != 2)
            ;
        __threadfence();
        *y = *box; // seen here: flag_overwritten
    }
}

/* The value itself is volatile, which does not order it. */
template <bool fault>
__global__ void message_all_volatile(const int *x, volatile int *box, volatile int *flag, int *y)
{
    if (blockIdx.x == 0) {
        *box = x[0]; // seen here: message_all_volatile
        if (!fault)  // fault here: message_all_volatile
            __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0)
            ;
        __threadfence();
        *y = *box; // seen here: message_all_volatile
    }
}

/* A third block passes it on, with a flag of its own. */
template <bool fault>
__global__ void message_by_a_third(const int *x, int *box, volatile int *flags, int *y)
{
    if (blockIdx.x == 0) {
        *box = x[0]; // seen here: message_by_a_third
        __threadfence();
        flags[0] = 1;
    } else if (blockIdx.x == 1) {
        while (flags[0] == 0)
            ;
        make_fence<fault ? FENCE_OF_BLOCK : FENCE_OF_DEVICE>(); // fault here: message_by_a_third
        flags[1] = 1;
    } else {
        while (flags[1] == 0)
            ;
        __threadfence();
        *y = *box; // seen here: message_by_a_third
    }
}

#define RUN_SENT(name, blocks)                                                                     \
    template <bool fault>                                                                          \
    static bool run_##name()                                                                       \
    {                                                                                              \
        array<int> x(numbers(1)), box(std::vector<int>(1)), flags(std::vector<int>(2)), y(1);      \
        name<fault><<<blocks, 1>>>(x, box, flags, y);                                              \
        return came_out<fault>(y.p, std::vector<int>(1, 1));                                       \
    }
RUN_SENT(message_not_fenced, 2);
RUN_SENT(message_not_acquired, 2);
RUN_SENT(message_all_volatile, 2);
RUN_SENT(message_of_a_block, 2);
RUN_SENT(flag_overwritten, 3);
RUN_SENT(message_by_a_third, 3);

/* A barrier of the grid that is used again: its counter is reset before the gate opens. By the time
 * the resetting block has come again, the last write there is an atomic. */
template <bool fault>
__global__ void counter_reset_late(unsigned *counter, volatile unsigned *gate, int *y)
{
    for (unsigned round = 1; round <= 3; round++) {
        y[blockIdx.x] += round;
        __threadfence();
        if (atomicAdd(counter, 1u) == gridDim.x - 1) { // seen here: counter_reset_late
            const bool late = fault;                   // fault here: counter_reset_late
            if (!late)
                *counter = 0;
            __threadfence();
            *gate = round;
            if (late)
                *counter = 0; // seen here: counter_reset_late
        } else {
            while (*gate < round)
                ;
        }
        __threadfence();
    }
}

template <bool fault>
static bool run_counter_reset_late()
{
    array<unsigned> counter(std::vector<unsigned>(1)), gate(std::vector<unsigned>(1));
    array<int> y(std::vector<int>(4));
    counter_reset_late<fault><<<4, 1>>>(counter, gate, y);
    return came_out<fault>(y.p, std::vector<int>(4, 6));
}

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(count_without_atomic, "blocks count in the same bins without atomics"),
        PLAIN(maximum_by_hand, "blocks compare and store a maximum without an atomic"),
        SUBTLE(last_block, "the last block reads partial sums that no __threadfence has published"),
        SUBTLE(fence_too_early, "a __threadfence stands before the store that it is to publish"),
        SUBTLE(flag_read_plainly, "a flag is set by an atomic and read by a plain load"),
        SUBTLE(tiles_overlap, "neighbouring blocks write one element twice"),
        SUBTLE(stencil_in_place, "a block overwrites the edge that its neighbour reads"),
        SUBTLE(second_round_slot, "in its second round a block writes its neighbour's part"),
        SUBTLE(reset_in_flight, "a counter is set to 0 in the launch that counts"),
        SUBTLE(counter_reset_late, "a barrier of atomics opens before its counter is reset"),
        SUBTLE(last_found, "blocks set the same variable without an atomic"),
        SUBTLE(byte_of_a_word, "a byte is set by reading and writing the word that holds it"),
        SUBTLE(stride_one_short, "a stride one too short: two threads meet in the second round"),
        SUBTLE(segment_begins_before, "a segment that began in the block before, added plainly"),
        SUBTLE(scratch_of_a_block, "warps exchange through global memory without a barrier"),
        SUBTLE(copied_then_set, "the source of a copy is overwritten before its thread has waited"),
        PLAIN(dq_without_atomics, "blocks add to the same rows of a gradient without atomics"),
        SUBTLE(first_tile_stores, "the first block stores what the others add to by red.v4"),
        SUBTLE(dq_not_waited_for, "blocks add in a fixed order, and wait for the first row only"),
        SUBTLE(dq_waits_for_too_few, "a block waits for all blocks before it but the last"),
        SUBTLE(dq_not_acquired, "the counter is waited for by a relaxed load without a fence"),
        SUBTLE(dq_not_released, "the counter of those who have added is relaxed, not released"),
        SUBTLE(dq_counted_too_early, "a block counts as done while a warp of it still adds"),
        SUBTLE(grid_not_waited_for,
               "a block writes what others read since the grid's last barrier"),
        PLAIN(lock_without_fence, "a lock of blocks is freed without a fence before"),
        SUBTLE(lock_taken_early, "a lock of blocks is taken without a fence behind"),
        SUBTLE(lock_of_a_block, "the fence behind the taking of a lock of blocks is of the block"),
        SUBTLE(atomics_of_a_block, "blocks add to one variable by atomicAdd_block"),
        SUBTLE(half_of_a_counter, "an atomic of 32 bits adds to a counter of 64"),
        PLAIN(message_not_fenced, "a flag is set without a fence behind the message"),
        SUBTLE(message_not_acquired, "a message is read without a fence behind the flag"),
        SUBTLE(message_all_volatile, "a volatile message, and no fence before its flag"),
        SUBTLE(message_of_a_block, "the fence of a message to another block is of the block"),
        SUBTLE(flag_overwritten, "a relaxed store ends what was released at a flag"),
        SUBTLE(message_by_a_third, "the block that passes a message on has a fence of its block"),
    };
    return suite("global race", list, argc, argv);
}
