/* Accesses at an address that is no multiple of their size. All stay inside their memory. */
#include "../async-faults/bulk.cuh"
#include "../async-faults/ptx.cuh"

template <bool fault>
__global__ void vector_at_one(const float *x, float *y)
{
    const int t = threadIdx.x;
    const float *from = x + 4 * t + (fault ? 1 : 4);          // fault here: vector_at_one
    const float4 v = *reinterpret_cast<const float4 *>(from); // seen here: vector_at_one
    y[t] = v.x + v.y + v.z + v.w;
}

template <bool fault>
static bool run_vector_at_one()
{
    const auto in = numbers<float>(136);
    array<float> x(in), y(32);
    vector_at_one<fault><<<1, 32>>>(x, y);
    std::vector<float> want(32);
    for (int i = 0; i < 128; i++)
        want[i / 4] += in[4 + i];
    return came_out<fault>(y.p, want);
}

template <bool fault>
__global__ void word_in_bytes(const unsigned char *bytes, int *y)
{
    const int t = threadIdx.x;
    const unsigned char *word = bytes + 4 * t + (fault ? 2 : 4); // fault here: word_in_bytes
    y[t] = *reinterpret_cast<const int *>(word);                 // seen here: word_in_bytes
}

template <bool fault>
static bool run_word_in_bytes()
{
    const auto in = numbers<unsigned char>(136);
    array<unsigned char> x(in);
    array<int> y(32);
    word_in_bytes<fault><<<1, 32>>>(x, y);
    std::vector<int> want(32);
    memcpy(want.data(), in.data() + 4, 128);
    return came_out<fault>(y.p, want);
}

/* Rows of 28 floats that are used, one row a block. */
template <bool fault>
__global__ void odd_rows(const float *x, float *y)
{
    const int t = threadIdx.x;
    const float *row = x + blockIdx.x * (fault ? 30 : 32);           // fault here: odd_rows
    const float4 v = *reinterpret_cast<const float4 *>(row + 4 * t); // seen here: odd_rows
    y[blockIdx.x * blockDim.x + t] = v.x + v.y + v.z + v.w;
}

template <bool fault>
static bool run_odd_rows()
{
    const auto in = numbers<float>(4 * 32);
    array<float> x(in), y(4 * 7);
    odd_rows<fault><<<4, 7>>>(x, y);
    std::vector<float> want(4 * 7);
    for (int row = 0; row < 4; row++)
        for (int i = 0; i < 28; i++)
            want[row * 7 + i / 4] += in[row * 32 + i];
    return came_out<fault>(y.p, want);
}

/* Shared memory holds n integers, then n doubles. */
template <bool fault>
__global__ void after_odd_header(const int *x, double *y, int n)
{
    extern __shared__ double room[];
    int *key = reinterpret_cast<int *>(room);
    const int bytes = fault ? 4 * n : (4 * n + 7) / 8 * 8; // fault here: after_odd_header
    double *value = reinterpret_cast<double *>(reinterpret_cast<char *>(room) + bytes);
    const int t = threadIdx.x;
    key[t] = x[t];
    value[t] = 0.5 * x[t]; // seen here: after_odd_header
    __syncthreads();
    y[t] = key[n - 1 - t] + value[n - 1 - t]; // seen here: after_odd_header
}

template <bool fault>
static bool run_after_odd_header()
{
    const auto in = numbers(16);
    array<int> x(in);
    array<double> y(16);
    bool fine = true;
    for (int n : {16, 15}) {
        after_odd_header<fault><<<1, n, 16 * 12>>>(x, y, n);
        std::vector<double> want(n);
        for (int t = 0; t < n; t++)
            want[t] = 1.5 * in[n - 1 - t];
        fine &= came_out<fault>(y.p, want);
    }
    return fine;
}

/* 31 pairs a block; what is left between the blocks' parts stays as it was. */
template <bool fault>
__global__ void pairs_of_odd_blocks(const float *x, float *y)
{
    const int t = threadIdx.x;
    float *part = y + blockIdx.x * (fault ? 63 : 64); // fault here: pairs_of_odd_blocks
    const float2 pair = make_float2(x[2 * t], x[2 * t + 1]);
    reinterpret_cast<float2 *>(part)[t] = pair; // seen here: pairs_of_odd_blocks
}

template <bool fault>
static bool run_pairs_of_odd_blocks()
{
    const auto in = numbers<float>(62);
    std::vector<float> want(4 * 64);
    array<float> x(in), y(want);
    pairs_of_odd_blocks<fault><<<4, 31>>>(x, y);
    for (int i = 0; i < 4 * 64; i++)
        want[i] = i % 64 < 62 ? in[i % 64] : 0;
    return came_out<fault>(y.p, want);
}

/* Padding against bank conflicts: 33 floats a row are the habit, float4 needs a multiple of 4. */
template <bool fault>
__global__ void padded_tile(const float *x, float *y)
{
    constexpr int pitch = fault ? 33 : 36; // fault here: padded_tile
    __shared__ float4 tile[8 * 36 / 4];
    float *cell = reinterpret_cast<float *>(tile);
    const int t = threadIdx.x;
    for (int i = t; i < 8 * 32; i += 64)
        cell[i / 32 * pitch + i % 32] = x[i];
    __syncthreads();
    const float *from = cell + t % 8 * pitch + t / 8 * 4;
    const float4 v = *reinterpret_cast<const float4 *>(from); // seen here: padded_tile
    y[t] = v.x + v.y + v.z + v.w;
}

template <bool fault>
static bool run_padded_tile()
{
    const auto in = numbers<float>(8 * 32);
    array<float> x(in), y(64);
    padded_tile<fault><<<1, 64>>>(x, y);
    std::vector<float> want(64);
    for (int t = 0; t < 64; t++)
        for (int k = 0; k < 4; k++)
            want[t] += in[t % 8 * 32 + t / 8 * 4 + k];
    return came_out<fault>(y.p, want);
}

template <bool fault>
__global__ void wide_counter(const int *x, unsigned *words)
{
    unsigned *at = words + (fault ? 3 : 4); // fault here: wide_counter
    if (x[threadIdx.x] > 4)
        atomicAdd(reinterpret_cast<unsigned long long *>(at), 1ull); // seen here: wide_counter
}

template <bool fault>
static bool run_wide_counter()
{
    const auto in = numbers(64);
    std::vector<unsigned> want(8);
    array<int> x(in);
    array<unsigned> words(want);
    wide_counter<fault><<<1, 64>>>(x, words);
    for (int v : in)
        want[4] += v > 4;
    return came_out<fault>(words.p, want);
}

/* Every row of a matrix begins at a multiple of 16 bytes, whatever the pitch. */
template <bool fault>
__global__ void pitch_of_rows(const int *x, float *y)
{
    constexpr int pitch = fault ? 20 : 24; // fault here: pitch_of_rows
    __shared__ __align__(16) __half tile[16 * 24];
    const int t = threadIdx.x;
    unsigned r[4];
    for (int i = t; i < 256; i += 32)
        tile[i / 16 * pitch + i % 16] = __int2half_rn(x[i]);
    __syncwarp();
    ldmatrix_x4(r, tile + t % 16 * pitch + t / 16 * 8); // seen here: pitch_of_rows
    store_pairs(y, r);
}

RUN(pitch_of_rows, 1, 32, numbers(256), pairs_of(in));

/* Rows of 62 floats, copied 16 bytes at a time: right in even rows. */
template <bool fault>
__global__ void copied_rows(const float *x, float *y)
{
    constexpr int pitch = fault ? 62 : 64; // fault here: copied_rows
    __shared__ float4 row[16];
    const int t = threadIdx.x;
    copy_16(&row[t], x + blockIdx.x * pitch + 4 * t); // seen here: copied_rows
    asm volatile("cp.async.wait_all;" ::: "memory");
    y[blockIdx.x * 16 + t] = row[t].x + row[t].w;
}

RUN(copied_rows, 3, 16, numbers<float>(3 * 64),
    each<float>(3 * 16, [&](int i) { return in[4 * i] + in[4 * i + 3]; }));

/* Four sums at a time, into rows that are as far apart as they have numbers, or padded. */
template <bool fault>
__global__ void sums_of_four(float *y)
{
    const int pitch = fault ? 10 : 12; // fault here: sums_of_four
    for (int i = 0; i < 2; i++)
        add_to_4(y + threadIdx.x * pitch + 4 * i, 1.0f); // seen here: sums_of_four
}

template <bool fault>
static bool run_sums_of_four()
{
    array<float> y(std::vector<float>(8 * 12));
    sums_of_four<fault><<<3, 8>>>(y);
    return came_out<fault>(y.p, 8 * 12, [&](int i) { return i % 12 < 8 ? 3.0f : 0.0f; });
}

/* A bulk copy moves multiples of 16 bytes, from and to multiples of 16. */
template <bool fault>
__global__ void fetched_rows(const int *x, int *y, int rows)
{
    __shared__ alignas(16) int tile[64];
    __shared__ uint64_t full;
    const int t = threadIdx.x, pitch = fault ? 66 : 64; // fault here: fetched_rows
    make(&full, 1);
    int sum = 0;
    for (int row = 0; row < rows; row++) {
        if (t == 0) {
            expect(&full, sizeof tile);
            load(tile, x + row * pitch, sizeof tile, &full); // seen here: fetched_rows
        }
        wait(&full, row & 1);
        sum += tile[t];
        __syncthreads();
    }
    y[t] = sum;
}

template <bool fault>
static bool run_fetched_rows()
{
    const auto in = numbers(66 * 4);
    array<int> x(in), y(64);
    fetched_rows<fault><<<1, 64>>>(x, y, 4);
    std::vector<int> want(64);
    for (int i = 0; i < 4 * 64; i++)
        want[i % 64] += in[i];
    return came_out<fault>(y.p, want);
}

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(vector_at_one, "a float4 load that begins at the second float"),
        PLAIN(word_in_bytes, "an int taken from bytes at an offset of 2"),
        SUBTLE(odd_rows, "rows of 30 floats: their float4 loads are misaligned in odd rows only"),
        SUBTLE(after_odd_header, "doubles after an odd number of ints in shared memory"),
        SUBTLE(pairs_of_odd_blocks, "float2 stores at an odd pitch, wrong in odd blocks only"),
        SUBTLE(padded_tile, "a float4 load from a shared tile with rows of 33 floats"),
        SUBTLE(wide_counter, "a 64-bit atomic on an odd 32-bit word"),
        SUBTLE(pitch_of_rows, "ldmatrix of rows 40 bytes apart: every second one is misaligned"),
        SUBTLE(copied_rows, "asynchronous copies of 16 bytes from rows of 62 floats"),
        SUBTLE(fetched_rows, "bulk copies of rows of 66 ints: every second row is misaligned"),
        SUBTLE(sums_of_four, "red of four floats into rows of 10: every second row is misaligned"),
    };
    return suite("misaligned", list, argc, argv);
}
