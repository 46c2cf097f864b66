/* 00-memory-access: one copy, many ways for a warp to reach the same bytes
 *
 * Grows from: nothing
 * Architecture: 75
 * Profile: warm --case large
 * Tests: fixed shapes; case n63 is counted in all orders; also on aarch64
 *
 * Idea     y is a copy of x. In every variant each element is loaded once and stored once. What
 *          changes is which lane of a warp takes which element, and on which path. A warp asks for
 *          its 32 elements in one request. Global memory answers in sectors of 32 bytes, shared
 *          memory in wavefronts of at most one word from each of 32 banks.
 * Predict  Sectors per request: 4 when 32 lanes ask for 32 neighbours, 5 when these are shifted by
 *          one, 8 with every second element, 32 with every 32nd or down a column, 16 for a float4
 *          per lane, 1 when all ask for the same element. Wavefronts: the stride in words, and 1
 *          with rows padded by a word. Time on large arrays: all bytes come from device memory
 *          once, so only 32 sectors per request and 32-way conflicts show. float4 changes nothing.
 * Outcome  The counts come out, and the GPU's are equal except one. Both of the slow ways do show.
 *          But float4 is much faster: one load of 4 bytes per thread, in blocks of 1024, keeps too
 *          few bytes in flight. Four such loads do as well as one of 16 bytes (four-loads).
 */
#include "harness/harness.h"

enum { TILE = 1024 }; // elements per block, one per thread (float4: four per thread, 256 threads)

// snippet: coalesced
// x [n] -> y [n], thread t of a block takes element t of the block's 1024
// cost: 8 bytes per element, no flops; a warp loads 4 sectors and stores 4
__global__ void coalesced(const float *x, float *y, int n)
{
    const int e = blockIdx.x * TILE + threadIdx.x;
    if (e < n) {
        y[e] = x[e];
    }
}
// end snippet: coalesced

// snippet: spread
// Permutes 0..1023: neighbouring t get places that are `stride` apart, each t its own.
template <int stride>
__device__ int spread(int t)
{
    return t % (TILE / stride) * stride + t / (TILE / stride);
}
// end snippet: spread

// snippet: strided
// x [n] -> y [n], the same 1024 elements per block, each copied by another thread
// cost: 8 bytes per element, no flops; a warp loads and stores 4 x stride sectors, at most 32 each
template <int stride>
__global__ void strided(const float *x, float *y, int n)
{
    const int e = blockIdx.x * TILE + spread<stride>(threadIdx.x);
    if (e < n) {
        y[e] = x[e];
    }
}
// end snippet: strided

// snippet: float4
// x [n] -> y [n], thread i copies elements 4 i to 4 i + 3; the other n % 4 one by one
// cost: 8 bytes per element, no flops; a warp loads 16 sectors and stores 16, for 128 elements
__global__ void float4_copy(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int fours = n / 4;
    if (i < fours) {
        ((float4 *)y)[i] = ((const float4 *)x)[i];
    } else if (i < fours + n % 4) {
        const int e = 4 * fours + (i - fours);
        y[e] = x[e];
    }
}
// end snippet: float4

// snippet: four-loads
// x [n] -> y [n], in blocks of 256 threads; thread t copies elements t, t + 256, t + 512, t + 768
// of the block's 1024. All four loads are in flight before the first store.
// cost: 8 bytes per element, no flops; a warp loads 4 times 4 sectors and stores 4 times 4
__global__ void four_loads(const float *x, float *y, int n)
{
    const int e = blockIdx.x * TILE + threadIdx.x;
    const float a = e < n ? x[e] : 0.0f;
    const float b = e + 256 < n ? x[e + 256] : 0.0f;
    const float c = e + 512 < n ? x[e + 512] : 0.0f;
    const float d = e + 768 < n ? x[e + 768] : 0.0f;
    if (e < n) {
        y[e] = a;
    }
    if (e + 256 < n) {
        y[e + 256] = b;
    }
    if (e + 512 < n) {
        y[e + 512] = c;
    }
    if (e + 768 < n) {
        y[e + 768] = d;
    }
}
// end snippet: four-loads

// snippet: one-by-one
// x [n] -> y [n], blocks and elements as in four_loads, but each load waits for the store in front
// of it: x and y might overlap, so the compiler keeps their order.
// cost: 8 bytes per element, no flops; a warp loads 4 times 4 sectors and stores 4 times 4
__global__ void one_by_one(const float *x, float *y, int n)
{
    const int first = blockIdx.x * TILE + threadIdx.x;
    for (int e = first; e < first + TILE && e < n; e += 256) {
        y[e] = x[e];
    }
}
// end snippet: one-by-one

// snippet: shifted
// x [n] -> y [n], every thread copies the element after its own, the last thread copies the first
// cost: 8 bytes per element, no flops; a warp loads 5 sectors and stores 5
__global__ void shifted(const float *x, float *y, int n)
{
    const int i = blockIdx.x * TILE + threadIdx.x;
    const int e = i + 1 == n ? 0 : i + 1;
    if (i < n) {
        y[e] = x[e];
    }
}
// end snippet: shifted

// snippet: column-walk
// x [S][D] -> y [S][D], neighbouring threads copy elements of neighbouring rows
// cost: 8 bytes per element, no flops; a warp loads 32 sectors and stores 32 (S >= 32, D >= 8)
__global__ void column_walk(const float *x, float *y, int S, int D)
{
    const int i = blockIdx.x * TILE + threadIdx.x;
    if (i < S * D) {
        const int e = i % S * D + i / S;
        y[e] = x[e];
    }
}
// end snippet: column-walk

// snippet: broadcast
// x [n], scale [n / 32] -> y [n], x times scale; the lanes of a warp share one element of scale
// cost: 8 bytes and 1 flop per element, 4 bytes per scale; a warp loads 4 + 1 sectors, stores 4
__global__ void broadcast(const float *x, const float *scale, float *y, int n)
{
    const int e = blockIdx.x * TILE + threadIdx.x;
    if (e < n) {
        y[e] = x[e] * scale[e / 32];
    }
}
// end snippet: broadcast

// --- Through shared memory ----------------------------------------------------------------------

// snippet: staged
// x [n] -> y [n] through shared memory, neighbours `ways` words apart
// cost: 8 bytes per element, no flops, 1 barrier; a warp stores and loads in `ways` wavefronts each
template <int ways>
__global__ void staged(const float *x, float *y, int n)
{
    __shared__ float tile[TILE];
    const int first = blockIdx.x * TILE;
    const int mine = threadIdx.x;
    const int other = threadIdx.x ^ 32; // of the neighbouring warp
    if (first + mine < n) {
        tile[spread<ways>(mine)] = x[first + mine];
    }
    __syncthreads();
    if (first + other < n) {
        y[first + other] = tile[spread<ways>(other)];
    }
}
// end snippet: staged

// snippet: padded
// x [n] -> y [n] as staged<32>, a warp's elements in one column of the tile
// cost: 8 bytes per element, no flops, 1 barrier; a warp stores and loads in 1 wavefront each
__global__ void padded(const float *x, float *y, int n)
{
    const int first = blockIdx.x * TILE;
    const int mine = threadIdx.x;
    const int other = threadIdx.x ^ 32;
    // solution: pad -- stage and load back as staged<32> does, but without a conflict
    // hint: Word i of shared memory is in bank i % 32, and the lanes of a warp store into one
    //     column of a tile of 32 rows. In which bank is that column's element of row r, if a row
    //     is 32 words long?
    // hint: Element e of the block belongs to lane e % 32 of warp e / 32, so its row of the tile
    //     is e % 32 and its column is e / 32. That is so for mine, which is stored, and for other,
    //     which is loaded. Between the store and the load stands a barrier that every thread of
    //     the block reaches.
    // hint: The name of the variant says which length of a row puts the 32 elements of a column
    //     into 32 banks: `__shared__ float tile[32][32 + 1];`. The store and the load have the
    //     conditions that they have in staged: `first + mine < n` and `first + other < n`.
    __shared__ float tile[32][32 + 1];
    if (first + mine < n) {
        tile[mine % 32][mine / 32] = x[first + mine];
    }
    __syncthreads();
    if (first + other < n) {
        y[first + other] = tile[other % 32][other / 32];
    }
    // end solution: pad
}
// end snippet: padded

// snippet: shared-broadcast
// x [n], scale [n / 32] -> y [n], x times scale; a block's 32 scales go through shared memory
// cost: 8 bytes and 1 flop per element, 4 bytes per scale, 1 barrier; 1 wavefront per warp
__global__ void shared_broadcast(const float *x, const float *scale, float *y, int n)
{
    __shared__ float factor[32];
    const int first = blockIdx.x * TILE;
    const int t = threadIdx.x;
    if (t < 32 && first + 32 * t < n) {
        factor[t] = scale[first / 32 + t];
    }
    __syncthreads();
    if (first + t < n) {
        y[first + t] = x[first + t] * factor[t / 32];
    }
}
// end snippet: shared-broadcast

// snippet: shared-early
// x [n], scale [n / 32] -> y [n] as shared_broadcast, but x is loaded before the barrier
// cost: 8 bytes and 1 flop per element, 4 bytes per scale, 1 barrier; 1 wavefront per warp
__global__ void shared_early(const float *x, const float *scale, float *y, int n)
{
    __shared__ float scales[32];
    const int first = blockIdx.x * TILE;
    const int i = threadIdx.x;
    const float element = first + i < n ? x[first + i] : 0.0f;
    if (i < 32 && first + 32 * i < n) {
        scales[i] = scale[first / 32 + i];
    }
    __syncthreads();
    if (first + i < n) {
        y[first + i] = element * scales[i / 32];
    }
}
// end snippet: shared-early

// --- Launches -----------------------------------------------------------------------------------

struct arrays {
    const float *x, *part, *scale;
    float *y;
    int S, D, n, blocks;
};

static arrays arrays_of(const kf_run *run)
{
    arrays a;
    a.x = kf_f32(run, "x");
    a.part = kf_f32(run, "part");
    a.scale = kf_f32(run, "scale");
    a.y = kf_f32(run, "y");
    a.S = run->shape.Sq;
    a.D = run->shape.D;
    a.n = a.S * a.D;
    a.blocks = (a.n + TILE - 1) / TILE;
    return a;
}

static void launch_coalesced(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    coalesced<<<a.blocks, TILE, 0, stream>>>(a.x, a.y, a.n);
    CUDA_CHECK_LAUNCH();
}

static void launch_shifted(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    shifted<<<a.blocks, TILE, 0, stream>>>(a.x, a.y, a.n);
    CUDA_CHECK_LAUNCH();
}

template <int stride>
static void launch_strided(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    strided<stride><<<a.blocks, TILE, 0, stream>>>(a.x, a.y, a.n);
    CUDA_CHECK_LAUNCH();
}

static void launch_column_walk(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    column_walk<<<a.blocks, TILE, 0, stream>>>(a.x, a.y, a.S, a.D);
    CUDA_CHECK_LAUNCH();
}

static void launch_four(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    const int threads = a.n / 4 + a.n % 4;
    float4_copy<<<(threads + 255) / 256, 256, 0, stream>>>(a.x, a.y, a.n);
    CUDA_CHECK_LAUNCH();
}

static void launch_four_loads(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    four_loads<<<a.blocks, TILE / 4, 0, stream>>>(a.x, a.y, a.n);
    CUDA_CHECK_LAUNCH();
}

static void launch_one_by_one(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    one_by_one<<<a.blocks, TILE / 4, 0, stream>>>(a.x, a.y, a.n);
    CUDA_CHECK_LAUNCH();
}

static void launch_broadcast(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    broadcast<<<a.blocks, TILE, 0, stream>>>(a.part, a.scale, a.y, a.n);
    CUDA_CHECK_LAUNCH();
}

template <int ways>
static void launch_staged(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    staged<ways><<<a.blocks, TILE, 0, stream>>>(a.x, a.y, a.n);
    CUDA_CHECK_LAUNCH();
}

static void launch_padded(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    padded<<<a.blocks, TILE, 0, stream>>>(a.x, a.y, a.n);
    CUDA_CHECK_LAUNCH();
}

static void launch_shared_broadcast(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    shared_broadcast<<<a.blocks, TILE, 0, stream>>>(a.part, a.scale, a.y, a.n);
    CUDA_CHECK_LAUNCH();
}

static void launch_shared_early(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    shared_early<<<a.blocks, TILE, 0, stream>>>(a.part, a.scale, a.y, a.n);
    CUDA_CHECK_LAUNCH();
}

// --- Tables -------------------------------------------------------------------------------------

static void setup(kf_run *run)
{
    const int64_t matrix[] = {run->shape.Sq, run->shape.D};
    const int64_t groups[] = {((int64_t)run->shape.Sq * run->shape.D + 31) / 32};
    const kf_tensor *x = kf_input(run, "x", "SD", KF_F32, matrix);
    kf_tensor *scale = kf_input(run, "scale", "G", KF_F32, groups);
    kf_tensor *part = kf_input(run, "part", "SD", KF_F32, matrix);
    // Powers of two: the quotient and its product with scale are exact, so y is a copy of x.
    for (int64_t i = 0; i < scale->count; i++) {
        scale->host[i] = (float)(1 << i % 7);
    }
    for (int64_t i = 0; i < part->count; i++) {
        part->host[i] = x->host[i] / scale->host[i / 32];
    }
    kf_output(run, "y", "SD", KF_F32, matrix);
}

// Nothing is rounded here, so every element must be exact: its bound is 0.
static void reference(kf_run *run)
{
    const kf_tensor *x = kf_find(run, "x");
    const kf_tensor *y = kf_find(run, "y");
    for (int64_t i = 0; i < y->count; i++) {
        y->want[i] = x->host[i];
        y->bound[i] = 0.0;
    }
    for (int64_t row = 0; row < y->rows; row++) {
        y->checked[row] = true;
    }
}

static kf_cost cost(const kf_case *c)
{
    return {.bytes = 8.0 * c->shape.Sq * c->shape.D, .flops = 0.0, .tensor_cores = false};
}

#define MATRIX(rows, columns)                                                                      \
    {                                                                                              \
        .Sq = rows, .Sk = rows, .D = columns                                                       \
    }

static const kf_case cases[] = {
    {.name = "exact",
     .shape = MATRIX(64, 1024),
     .flags = KF_VERIFY_ONLY}, // whole tiles: the counts are round numbers
    {.name = "tile", .shape = MATRIX(1, 1024), .flags = KF_VERIFY_ONLY},
    {.name = "n63", .shape = MATRIX(9, 7), .flags = KF_VERIFY_ONLY},
    {.name = "n1000", .shape = MATRIX(8, 125), .flags = KF_VERIFY_ONLY},
    // Four per lane: 255 threads for groups of four and three more, in two blocks of 256.
    {.name = "n1023", .shape = MATRIX(33, 31), .flags = KF_VERIFY_ONLY},
    {.name = "n1025", .shape = MATRIX(25, 41), .flags = KF_VERIFY_ONLY},
    // four-loads: in the last block no thread's third load (n1312), or fourth (n1632), is inside.
    {.name = "n1312", .shape = MATRIX(32, 41), .flags = KF_VERIFY_ONLY},
    {.name = "n1632", .shape = MATRIX(32, 51), .flags = KF_VERIFY_ONLY},
    {.name = "n10007", .shape = MATRIX(10007, 1), .flags = KF_VERIFY_ONLY},
    {.name = "in-L2", .shape = MATRIX(4096, 1024), .flags = KF_LARGE},  // x and y: 32 MiB
    {.name = "large", .shape = MATRIX(65536, 1024), .flags = KF_LARGE}, // x and y: 512 MiB
};

static const kf_variant variants[] = {
    {.name = "coalesced",
     .about = "neighbouring lanes, neighbouring elements",
     .launch = launch_coalesced},
    {.name = "shifted", .about = "the same, one element further on", .launch = launch_shifted},
    {.name = "stride-2", .about = "every second element", .launch = launch_strided<2>},
    {.name = "stride-32",
     .about = "every 32nd element, within 4 KiB per block",
     .launch = launch_strided<32>},
    {.name = "column-walk",
     .about = "neighbouring lanes a row apart",
     .launch = launch_column_walk},
    {.name = "float4", .about = "four elements per lane", .launch = launch_four},
    {.name = "four-loads",
     .about = "four elements per lane, four loads and then four stores",
     .launch = launch_four_loads},
    {.name = "one-by-one",
     .about = "four elements per lane, each stored before the next is loaded",
     .launch = launch_one_by_one},
    {.name = "broadcast",
     .about = "coalesced, times a scale that a warp shares",
     .launch = launch_broadcast},
    {.name = "shared-1", .about = "through shared memory, no conflict", .launch = launch_staged<1>},
    {.name = "shared-2",
     .about = "through shared memory, 2-way conflicts",
     .launch = launch_staged<2>},
    {.name = "shared-4",
     .about = "through shared memory, 4-way conflicts",
     .launch = launch_staged<4>},
    {.name = "shared-32",
     .about = "through shared memory, 32-way conflicts",
     .launch = launch_staged<32>},
    {.name = "shared-padded", .about = "shared-32 with rows of 33 words", .launch = launch_padded},
    {.name = "shared-broadcast",
     .about = "the scales through shared memory",
     .launch = launch_shared_broadcast},
    {.name = "shared-early",
     .about = "shared-broadcast, x loaded before the barrier",
     .launch = launch_shared_early},
};

static const kf_question questions[] = {
    {.text = "How many sectors of 32 bytes does a load request of shifted touch: 32 neighbouring "
             "floats that begin 4 bytes past a multiple of 128?",
     .figure = "global_ld_sectors/global_ld_requests",
     .case_name = "exact",
     .variant = "shifted"},
    {.text = "On 65536 x 1024 floats, how many times as fast is float4 (16 bytes per lane) as "
             "coalesced (4 bytes)?",
     .figure = "median_us",
     .case_name = "large",
     .variant = "coalesced",
     .over = "float4"},
    {.text = "On 65536 x 1024 floats, how many times as fast is shared-1 (no bank conflict) as "
             "shared-4 (4-way conflicts)?",
     .figure = "median_us",
     .case_name = "large",
     .variant = "shared-4",
     .over = "shared-1"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "00-memory-access",
        .title = "one copy, many ways for a warp to reach the same bytes",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = reference,
        .cost = cost,
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
