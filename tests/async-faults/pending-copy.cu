/* Copies to shared memory that have been issued and not waited for: what they write is read or
 * overwritten, or what they read is. A wait is for the thread that makes it, and names groups, not
 * data; others know after the next barrier. Where a cell could be read too early it holds 0 before.
 */
#include "ptx.cuh"

template <bool fault>
__global__ void no_wait(const int *x, int *y)
{
    __shared__ int4 cell[64];
    const int t = threadIdx.x;
    copy_16(&cell[t], x + 4 * t); // seen here: no_wait
    commit();
    if (!fault) // fault here: no_wait
        wait_group<0>();
    y[t] = cell[t].x + cell[t].w; // seen here: no_wait
}

RUN(no_wait, 1, 64, numbers(256), each(64, [&](int t) { return in[4 * t] + in[4 * t + 3]; }));

/* Tile k of 256 is read while tile k + 1 is fetched. What came[t] reads was copied by another warp.
 */
static __device__ int tile_sum(const int4 (&tile)[64], int k)
{
    const int4 v = tile[63 - threadIdx.x];
    return (k + 1) * (v.x + v.y + v.z + v.w);
}

static std::vector<int> tile_sums(const std::vector<int> &in)
{
    std::vector<int> want(64);
    for (size_t i = 0; i < in.size(); i++)
        want[63 - i % 256 / 4] += (int)(i / 256 + 1) * in[i];
    return want;
}

/* When no tile is left to be fetched, the latest group is the one that is due. */
template <bool fault>
__global__ void last_group(const int *x, int *y, int tiles)
{
    __shared__ int4 stage[2][64];
    const int t = threadIdx.x;
    copy_16(&stage[0][t], x + 4 * t);
    commit();
    int sum = 0;
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles) {
            copy_16(&stage[(k + 1) % 2][t], x + 256 * (k + 1) + 4 * t); // seen here: last_group
            commit();
        }
        if (fault || k + 1 < tiles) // fault here: last_group
            wait_group<1>();
        else
            wait_group<0>();
        __syncthreads();
        sum += tile_sum(stage[k % 2], k); // seen here: last_group
        __syncthreads();
    }
    y[t] = sum;
}

RUN(last_group, 1, 64, numbers(5 * 256), tile_sums(in), 5);

/* A group for every round, an empty one when nothing is left: then the wait is always for all but
 * the latest. Without the first commit the first two tiles are one group, and the latest. */
template <bool fault>
__global__ void first_commit(const int *x, int *y, int tiles)
{
    __shared__ int4 stage[2][64];
    const int t = threadIdx.x;
    copy_16(&stage[0][t], x + 4 * t); // seen here: first_commit
    if (!fault)                       // fault here: first_commit
        commit();
    int sum = 0;
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles)
            copy_16(&stage[(k + 1) % 2][t], x + 256 * (k + 1) + 4 * t);
        commit();
        wait_group<1>();
        __syncthreads();
        sum += tile_sum(stage[k % 2], k); // seen here: first_commit
        __syncthreads();
    }
    y[t] = sum;
}

RUN(first_commit, 1, 64, numbers(4 * 256), tile_sums(in), 4);

/* Each thread has copies of its own: that one warp has waited says nothing of the other's. */
template <bool fault>
__global__ void one_warp_waits(const int *x, int *y)
{
    __shared__ int4 cell[64];
    const int t = threadIdx.x;
    copy_16(&cell[t], x + 4 * t); // seen here: one_warp_waits
    commit();
    if (!fault || t < 32) // fault here: one_warp_waits
        wait_group<0>();
    __syncthreads();
    y[t] = tile_sum(cell, 0); // seen here: one_warp_waits
}

RUN(one_warp_waits, 1, 64, numbers(256), tile_sums(in));

/* Keys and values in a group each: the values may come later, but not later than they are read. */
template <bool fault>
__global__ void values_not_waited(const int *keys, const int *values, int *y)
{
    __shared__ int4 k[64], v[64];
    const int t = threadIdx.x;
    copy_16(&k[t], keys + 4 * t);
    commit();
    copy_16(&v[t], values + 4 * t); // seen here: values_not_waited
    commit();
    wait_group<1>();
    __syncthreads();
    const int score = tile_sum(k, 0);
    if (!fault) // fault here: values_not_waited
        wait_group<0>();
    __syncthreads();
    y[t] = score * tile_sum(v, 0); // seen here: values_not_waited
}

template <bool fault>
static bool run_values_not_waited()
{
    const auto in = numbers(256);
    auto other = in;
    for (int &v : other)
        v = 8 - v;
    array<int> keys(in), values(other), y(64);
    values_not_waited<fault><<<1, 64>>>(keys, values, y);
    auto want = tile_sums(in);
    const auto sums = tile_sums(other);
    for (int t = 0; t < 64; t++)
        want[t] *= sums[t];
    return came_out<fault>(y.p, want);
}

/* The result takes the place of the input while the input may still be on its way. */
template <bool fault>
__global__ void in_place(int *x)
{
    __shared__ int cell[64];
    const int t = threadIdx.x;
    int *mine = x + blockIdx.x * 64 + t;
    cell[t] = 0;
    copy_4(&cell[t], mine); // seen here: in_place
    commit();
    if (!fault) // fault here: in_place
        wait_group<0>();
    *mine = (int)blockIdx.x; // seen here: in_place
    wait_group<0>();
    __syncthreads();
    x[blockIdx.x * 64 + t] += cell[63 - t];
}

template <bool fault>
static bool run_in_place()
{
    const auto in = numbers(128);
    array<int> x(in);
    in_place<fault><<<2, 64>>>(x);
    return came_out<fault>(x.p, 128, [&](int i) { return i / 64 + in[i / 64 * 64 + 63 - i % 64]; });
}

/* Rows that the last tile does not have are cleared: none of those that are being copied. */
template <bool fault>
__global__ void cleared_row(const int *x, int *y, int n)
{
    __shared__ int4 tile[64];
    const int t = threadIdx.x;
    int sum = 0;
    for (int k = 0; 64 * k < n; k++) {
        const int rows = min(64, n - 64 * k);
        if (t < rows)
            copy_16(&tile[t], x + 256 * k + 4 * t); // seen here: cleared_row
        commit();
        if (t >= rows - (fault ? 1 : 0) && rows < 64) // fault here: cleared_row
            tile[t] = make_int4(0, 0, 0, 0);          // seen here: cleared_row
        wait_group<0>();
        __syncthreads();
        sum += tile_sum(tile, k);
        __syncthreads();
    }
    y[t] = sum;
}

RUN(cleared_row, 1, 64, numbers(4 * (2 * 64 + 37)), tile_sums(in), 2 * 64 + 37);

/* Two tiles are fetched ahead, the second to the stage of the first. */
template <bool fault>
__global__ void same_stage(const int *x, int *y, int tiles)
{
    __shared__ int4 stage[3][64];
    const int t = threadIdx.x;
    for (int s = 0; s < 3; s++)
        stage[s][t] = make_int4(0, 0, 0, 0);
    __syncthreads();
    copy_16(&stage[0][t], x + 4 * t); // seen here: same_stage
    commit();
    const int second = fault ? 0 : 1;            // fault here: same_stage
    copy_16(&stage[second][t], x + 256 + 4 * t); // seen here: same_stage
    commit();
    int sum = 0;
    for (int k = 0; k < tiles; k++) {
        wait_group<1>();
        __syncthreads();
        if (k + 2 < tiles)
            copy_16(&stage[(k + 2) % 3][t], x + 256 * (k + 2) + 4 * t);
        commit();
        sum += tile_sum(stage[k % 3], k); // seen here: same_stage
        __syncthreads();
    }
    y[t] = sum;
}

RUN(same_stage, 1, 64, numbers(6 * 256), tile_sums(in), 6);

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(no_wait, "a thread reads what it has copied, and has not waited"),
        SUBTLE(last_group, "all but the latest group are waited for when the latest is due"),
        SUBTLE(first_commit, "the first tile has no group of its own"),
        SUBTLE(one_warp_waits, "one of two warps waits, then a barrier"),
        SUBTLE(values_not_waited, "keys and values are copied, the wait is for the keys"),
        SUBTLE(in_place, "the source is overwritten before the copy is done"),
        SUBTLE(cleared_row, "in the last tile a row is cleared that is being copied"),
        SUBTLE(same_stage, "the second tile is copied to the stage of the first"),
    };
    return suite("pending copy", list, argc, argv);
}
