/* ceilings.cu: what this device has, and what it can do at best, measured once: the self-benchmark
 * of the harness.
 *
 * Work of known cost goes through the same clocks as every step: an empty kernel, a copy of known
 * bytes, a read of as many, fused multiply-adds, a large matrix product. So the table shows two
 * things at once: what the device reaches, and what each clock adds to it. Latencies are counted in
 * cycles, by loads that each wait for the one before; rates per cycle by one block that has a
 * multiprocessor to itself. Writes build/data/<device>/ceilings.tsv. */
#include "cuda/tensor_cores.cuh"
#include "harness/problem.h"
extern "C" { /* between the files of the harness, which are C */
#include "harness/run/run.h"
}
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_ROWS = 48, BLOCK = 256, SEED = 0 };

/* --- Copies ---------------------------------------------------------------------------------- */

// from [count] -> to [count]; 32 bytes an element. Each thread keeps UNROLL loads in flight.
template <int UNROLL>
__global__ void copy_kernel(const float4 *from, float4 *to, long long count)
{
    long long first = (long long)blockIdx.x * blockDim.x * UNROLL + threadIdx.x;
    float4 x[UNROLL];
    for (int u = 0; u < UNROLL; u++)
        if (first + (long long)u * blockDim.x < count)
            x[u] = from[first + (long long)u * blockDim.x];
    for (int u = 0; u < UNROLL; u++)
        if (first + (long long)u * blockDim.x < count)
            to[first + (long long)u * blockDim.x] = x[u];
}

struct copy {
    float4 *from, *to;
    long long count;
};

template <int UNROLL>
static void copy_by_kernel(void *context, cudaStream_t stream)
{
    const copy *c = (const copy *)context;
    long long tile = (long long)BLOCK * UNROLL;
    copy_kernel<UNROLL>
        <<<(unsigned)((c->count + tile - 1) / tile), BLOCK, 0, stream>>>(c->from, c->to, c->count);
    CUDA_CHECK_LAUNCH();
}

static void copy_by_runtime(void *context, cudaStream_t stream)
{
    const copy *c = (const copy *)context;
    size_t bytes = (size_t)c->count * sizeof(float4);
    CUDA_CHECK(cudaMemcpyAsync(c->to, c->from, bytes, cudaMemcpyDeviceToDevice, stream));
}

/* --- Reads ----------------------------------------------------------------------------------- */

// from [count], zeros; 16 bytes an element. Each thread keeps UNROLL loads in flight; the store
// never happens.
template <int UNROLL>
__global__ void read_only_kernel(const float4 *from, float *never_written, long long count)
{
    long long first = (long long)blockIdx.x * blockDim.x * UNROLL + threadIdx.x;
    float sum = 0.0f;
    for (int u = 0; u < UNROLL; u++)
        if (first + (long long)u * blockDim.x < count) {
            float4 x = from[first + (long long)u * blockDim.x];
            sum += x.x + x.y + x.z + x.w;
        }
    if (sum != 0.0f)
        *never_written = sum;
}

template <int UNROLL>
static void read_by_kernel(void *context, cudaStream_t stream)
{
    const copy *c = (const copy *)context;
    long long tile = (long long)BLOCK * UNROLL;
    read_only_kernel<UNROLL><<<(unsigned)((c->count + tile - 1) / tile), BLOCK, 0, stream>>>(
        c->from, (float *)c->to, c->count);
    CUDA_CHECK_LAUNCH();
}

/* --- Within the L2 --------------------------------------------------------------------------- */

/* More than all L1 caches together have, and less than half of the L2. */
enum { L2_BYTES = 24 << 20, L2_LOOPS = 256, L2_BLOCKS = 8 };

struct l2_job {
    float *data; // zeros, L2_BYTES of them
    int blocks;
};

// The element after `at` for a thread of a grid that takes `count` elements again and again; both
// are multiples of 32, so the lanes of a warp stay neighbours.
static __device__ __forceinline__ unsigned next_of(unsigned at, unsigned count)
{
    at += gridDim.x * blockDim.x;
    return at < count ? at : at - count;
}

// from [count], zeros; past the L1. Each thread keeps UNROLL loads in flight; the store never
// happens.
template <int UNROLL>
__global__ void read_l2_kernel(const float4 *from, float *never_written, unsigned count)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    float4 x[UNROLL];
    float sum = 0.0f;
    for (int i = 0; i < L2_LOOPS / UNROLL; i++) {
        for (int u = 0; u < UNROLL; u++) {
            x[u] = __ldcg(from + at);
            at = next_of(at, count);
        }
        for (int u = 0; u < UNROLL; u++)
            sum += x[u].x + x[u].y + x[u].z + x[u].w;
    }
    if (sum != 0.0f)
        *never_written = sum;
}

// Adds 1 to WIDTH neighbours of to [count][WIDTH] at a time: no two threads to the same one at a
// time, and the lanes of a warp to neighbours.
template <int WIDTH>
__global__ void add_kernel(float *to, unsigned count)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < L2_LOOPS; i++) {
        if (WIDTH == 1)
            asm volatile("red.global.add.f32 [%0], %1;" : : "l"(to + at), "f"(1.0f) : "memory");
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
        else
            asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};"
                         :
                         : "l"(to + (size_t)at * WIDTH), "f"(1.0f)
                         : "memory");
#endif
        at = next_of(at, count);
    }
}

template <int UNROLL>
static void read_l2(void *context, cudaStream_t stream)
{
    const l2_job *job = (const l2_job *)context;
    read_l2_kernel<UNROLL><<<job->blocks, BLOCK, 0, stream>>>((const float4 *)job->data, job->data,
                                                              L2_BYTES / sizeof(float4));
    CUDA_CHECK_LAUNCH();
}

template <int WIDTH>
static void add_atomically(void *context, cudaStream_t stream)
{
    const l2_job *job = (const l2_job *)context;
    add_kernel<WIDTH>
        <<<job->blocks, BLOCK, 0, stream>>>(job->data, L2_BYTES / sizeof(float) / WIDTH);
    CUDA_CHECK_LAUNCH();
}

/* --- A chain of kernels ---------------------------------------------------------------------- */

struct chain_job {
    float *words; // [2]
    int blocks, threads, links;
    int busy; // cycles that a kernel before the links takes; 0: there is none
};

// Every thread waits for the word that the kernel before has written, and one writes it on.
__global__ void link_kernel(const float *from, float *to)
{
    float x = *from;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *to = x + 1.0f;
    if (x < 0.0f) // never: without it the other threads would not read
        *to = x;
}

// Takes `cycles`, and so hides what the host does meanwhile.
__global__ void busy_kernel(int cycles)
{
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

// An even number of links, so that the words have changed sides.
static void run_links(void *context, cudaStream_t stream)
{
    const chain_job *job = (const chain_job *)context;
    if (job->busy) {
        busy_kernel<<<1, 1, 0, stream>>>(job->busy);
        CUDA_CHECK_LAUNCH();
    }
    for (int i = 0; i < job->links; i++) {
        const int from = i % 2;
        link_kernel<<<job->blocks, job->threads, 0, stream>>>(job->words + from,
                                                              job->words + 1 - from);
        CUDA_CHECK_LAUNCH();
    }
}

/* --- Latency --------------------------------------------------------------------------------- */

enum { HOPS = 2048, SHARED_HOPS = 512 };

// Walks a chain of pointers for HOPS loads, then for HOPS more -> cycles of one load of these. A
// kernel begins with an empty L1. ONLY_L2: past it.
template <bool ONLY_L2>
__global__ void chase_kernel(void *const *at, float *cycles, void **end)
{
    long long start = 0;
    for (int i = -HOPS; i < HOPS; i++) {
        if (i == 0)
            start = clock64();
        at =
            (void *const *)(ONLY_L2 ? __ldcg((const long long *)at) : __ldg((const long long *)at));
    }
    *cycles = (float)(clock64() - start) / HOPS;
    *end = (void *)at;
}

// The same in shared memory: each word holds where the next one lies.
__global__ void chase_shared_kernel(float *cycles, int *never_used)
{
    __shared__ int next[SHARED_HOPS];
    for (int i = 0; i < SHARED_HOPS; i++)
        next[i] = (i + 33) % SHARED_HOPS * (int)sizeof(int);
    int at = 0;
    long long start = clock64();
    for (int i = 0; i < HOPS; i++)
        at = *(const int *)((const char *)next + at);
    *cycles = (float)(clock64() - start) / HOPS;
    *never_used = at;
}

/* --- Arithmetic ------------------------------------------------------------------------------ */

enum { CHAINS = 16, FMA_STEPS = 4096 };

// 2 * CHAINS * FMA_STEPS flops a thread, no memory traffic: the store never happens.
__global__ void fma_kernel(float *never_written, float factor)
{
    float x[CHAINS];
    for (int c = 0; c < CHAINS; c++)
        x[c] = threadIdx.x + c;
    for (int i = 0; i < FMA_STEPS; i++)
        for (int c = 0; c < CHAINS; c++)
            x[c] = fmaf(x[c], factor, 0.5f);
    float sum = 0.0f;
    for (int c = 0; c < CHAINS; c++)
        sum += x[c];
    if (sum == 1.0f)
        *never_written = sum;
}

struct fma_job {
    float *never_written;
    int blocks;
};

static void run_fma(void *context, cudaStream_t stream)
{
    const fma_job *job = (const fma_job *)context;
    fma_kernel<<<job->blocks, BLOCK, 0, stream>>>(job->never_written, 0.999f);
    CUDA_CHECK_LAUNCH();
}

/* The next ones are run by one block, whose first thread counts the cycles from
 * where all begin to where all are done. */
enum { MOST_THREADS = 1024, SHARED_FLOAT4 = 2048, STEPS = 1024, PRODUCTS = 8, MMA_FLOPS = 4096 };

static __device__ __forceinline__ long long cycle_of_all()
{
    __syncthreads();
    return clock64();
}

// STEPS exponentials per thread, each of the one before.
__global__ void exp_kernel(float *cycles, float *never_written)
{
    float x = threadIdx.x / 1024.0f;
    const long long start = cycle_of_all();
    for (int i = 0; i < STEPS; i++)
        x = exp2_approx(-x);
    const long long end = cycle_of_all();
    if (threadIdx.x == 0)
        *cycles = (float)(end - start);
    if (x == 2.0f)
        *never_written = x;
}

// STEPS loads of 16 bytes per thread from shared memory, without bank conflicts: eight neighbouring
// lanes read 128 bytes in a row. apart: a multiple of 32 that the compiler does not know.
__global__ void shared_kernel(float *cycles, float *never_written, unsigned apart)
{
    __shared__ float4 tile[SHARED_FLOAT4];
    for (int i = threadIdx.x; i < SHARED_FLOAT4; i += blockDim.x)
        tile[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    unsigned at = threadIdx.x;
    const long long start = cycle_of_all();
#pragma unroll 8
    for (int i = 0; i < STEPS; i++) {
        const float4 x = tile[at];
        sum.x += x.x;
        sum.y += x.y;
        sum.z += x.z;
        sum.w += x.w;
        at = (at + apart) % SHARED_FLOAT4;
    }
    const long long end = cycle_of_all();
    if (threadIdx.x == 0)
        *cycles = (float)(end - start);
    if (sum.x + sum.y + sum.z + sum.w != 0.0f)
        *never_written = sum.x;
}

// STEPS loads of 4 bytes per thread from the L1: lane l reads from row l of from [32][pitch], all
// lanes the same column. The word w of the L1 lies in bank w modulo 32, so with a pitch of 32 all
// lanes want words of one bank, with 33 each of another one. step: a column that the compiler does
// not know.
__global__ void l1_kernel(const float *from, float *cycles, float *never_written, int pitch,
                          unsigned step)
{
    const float *row = from + threadIdx.x % 32 * pitch;
    float sum = 0.0f;
    unsigned column = threadIdx.x / 32;
    for (int i = 0; i < 32; i++) // fills the L1
        sum += __ldca(row + i);
    const long long start = cycle_of_all();
#pragma unroll 8
    for (int i = 0; i < STEPS; i++) {
        sum += __ldca(row + column);
        column = (column + step) % 32;
    }
    const long long end = cycle_of_all();
    if (threadIdx.x == 0)
        *cycles = (float)(end - start);
    if (sum != 0.0f)
        *never_written = sum;
}

// STEPS shuffles per thread; each of CHAINED waits for the one before, or else for none.
template <bool CHAINED>
__global__ void shuffle_kernel(float *cycles, float *never_written)
{
    float x[PRODUCTS];
    for (int p = 0; p < PRODUCTS; p++)
        x[p] = threadIdx.x + p;
    const long long start = cycle_of_all();
    for (int i = 0; i < STEPS / PRODUCTS; i++)
        for (int p = 0; p < PRODUCTS; p++)
            x[CHAINED ? 0 : p] = __shfl_xor_sync(0xffffffffu, x[CHAINED ? 0 : p], 1 + p);
    const long long end = cycle_of_all();
    float sum = 0.0f;
    for (int p = 0; p < PRODUCTS; p++)
        sum += x[p];
    if (threadIdx.x == 0)
        *cycles = (float)(end - start);
    if (sum == 0.5f)
        *never_written = sum;
}

// STEPS barriers of the block.
__global__ void barrier_kernel(float *cycles)
{
    const long long start = cycle_of_all();
#pragma unroll 8
    for (int i = 0; i < STEPS; i++)
        __syncthreads();
    const long long end = cycle_of_all();
    if (threadIdx.x == 0)
        *cycles = (float)(end - start);
}

// STEPS times PRODUCTS products of 16 x 8 x 16 per warp, of operands in registers; none of the
// PRODUCTS waits for another one. Random halves from 1 to 2 of either sign: with zeros the clock
// would be higher.
__global__ void mma_kernel(float *cycles, float *never_written)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    uint32_t a[4], b[PRODUCTS][2], random = threadIdx.x + 1;
    float c[PRODUCTS][4] = {};
    for (int i = 0; i < 4 + 2 * PRODUCTS; i++) {
        random = random * 1664525u + 1013904223u;
        const uint32_t halves = 0x3c003c00u | ((random >> 4 ^ random >> 17) & 0x83ff83ffu);
        if (i < 4)
            a[i] = halves;
        else
            b[(i - 4) / 2][i % 2] = halves;
    }
    const long long start = cycle_of_all();
    for (int i = 0; i < STEPS; i++)
        for (int p = 0; p < PRODUCTS; p++)
            warp_mma(c[p], a, b[p]);
    const long long end = cycle_of_all();
    float sum = 0.0f;
    for (int p = 0; p < PRODUCTS; p++)
        sum += c[p][0] + c[p][1] + c[p][2] + c[p][3];
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *cycles = (float)(end - start);
    if (sum == 0.5f)
        *never_written = sum;
#endif
}

struct mma_job {
    float *cycles;
    int blocks;
};

static void run_mma(void *context, cudaStream_t stream)
{
    const mma_job *job = (const mma_job *)context;
    mma_kernel<<<job->blocks, BLOCK, 0, stream>>>(job->cycles, job->cycles + 1);
    CUDA_CHECK_LAUNCH();
}

/* The tensor rate is what NVIDIA's own library reaches. It is looked for at run time, so that
 * neither building nor running needs it. */
enum { GEMM_N = 8192, OP_N = 0, R_16F = 2, COMPUTE_32F = 68 };
typedef int (*gemm_function)(void *, int, int, int, int, int, const void *, const void *, int, int,
                             const void *, int, int, const void *, void *, int, int, int, int);

struct gemm_job {
    gemm_function gemm;
    void *handle;
    void *a, *b, *c;
};

static void run_gemm(void *context, cudaStream_t stream)
{
    const gemm_job *job = (const gemm_job *)context;
    const float one = 1.0f, zero = 0.0f;
    (void)stream; /* the handle holds it */
    int error =
        job->gemm(job->handle, OP_N, OP_N, GEMM_N, GEMM_N, GEMM_N, &one, job->a, R_16F, GEMM_N,
                  job->b, R_16F, GEMM_N, &zero, job->c, R_16F, GEMM_N, COMPUTE_32F, -1);
    if (error != 0)
        kf_die(KF_WRONG, "cublasGemmEx failed with status %d", error);
}

static bool open_cublas(gemm_job *job)
{
    static const char *const names[] = {"libcublas.so", "libcublas.so.13", "libcublas.so.12",
                                        "/usr/local/cuda/lib64/libcublas.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW);
    if (!library)
        return false;
    int (*create)(void **) = (int (*)(void **))dlsym(library, "cublasCreate_v2");
    int (*set)(void *, cudaStream_t) =
        (int (*)(void *, cudaStream_t))dlsym(library, "cublasSetStream_v2");
    job->gemm = (gemm_function)dlsym(library, "cublasGemmEx");
    return create && set && job->gemm && create(&job->handle) == 0 &&
           set(job->handle, kf_stream()) == 0;
}

/* Random data: with zeros the chip would draw less power and clock higher than any real work. */
static void *random_matrix(void)
{
    const int64_t count = (int64_t)GEMM_N * GEMM_N, block = 1 << 20;
    float *values = (float *)kf_alloc(block, sizeof *values);
    void *packed = kf_alloc(block, 2), *device = NULL;
    kf_fill_random(values, "gemm", block, 1024, KF_F16, 1);
    kf_pack(KF_F16, values, packed, block);
    CUDA_CHECK(cudaMalloc(&device, (size_t)count * 2));
    for (int64_t i = 0; i < count; i += block)
        CUDA_CHECK(
            cudaMemcpy((char *)device + i * 2, packed, (size_t)block * 2, cudaMemcpyHostToDevice));
    free(values);
    free(packed);
    return device;
}

/* --- Results --------------------------------------------------------------------------------- */

struct result {
    const char *name, *unit;
    double value, p5, p95;
    int n;
};
static struct result results[MOST_ROWS];
static int n_results;

/* amount: per call, in units of 1e6 a second; 0: the time itself is the result. */
static void add_result(const char *name, const char *unit, const kf_stat *s, double amount)
{
    struct result r = {name, unit, s->median, s->p5, s->p95, s->n};
    if (amount > 0.0) {
        r.value = amount / s->median / 1e6;
        r.p5 = amount / s->p95 / 1e6; /* the slow end of the times is the low end of the rates */
        r.p95 = amount / s->p5 / 1e6;
    }
    results[n_results++] = r;
}

static void add_fact(const char *name, const char *unit, double value)
{
    results[n_results++] = (struct result){name, unit, value, value, value, 1};
}

static int attribute(enum cudaDeviceAttr which)
{
    int value = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

/* The device's properties; clock_mhz is the highest clock rate. */
static void state_device(void)
{
    static const struct {
        const char *name, *unit;
        enum cudaDeviceAttr attribute;
        double scale;
    } facts[] = {
        {"sms", "multiprocessors", cudaDevAttrMultiProcessorCount, 1.0},
        {"clock_mhz", "MHz", cudaDevAttrClockRate, 1e-3},
        {"warps_per_sm", "warps", cudaDevAttrMaxThreadsPerMultiProcessor, 1.0 / 32},
        {"registers_per_sm", "registers", cudaDevAttrMaxRegistersPerMultiprocessor, 1.0},
        {"shared_per_sm_kb", "KB", cudaDevAttrMaxSharedMemoryPerMultiprocessor, 1.0 / 1024},
        {"l2_mb", "MB", cudaDevAttrL2CacheSize, 1.0 / (1 << 20)},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        int value = attribute(facts[i].attribute);
        add_fact(facts[i].name, facts[i].unit, value * facts[i].scale);
        kf_say("  %-18s %8g %s\n", facts[i].name, value * facts[i].scale, facts[i].unit);
    }
}

/* A chain through `bytes` bytes, a pointer every `apart` bytes, in an order that no prefetcher
 * guesses: an odd step of more than half of them visits all, once each, as their number is a power
 * of two. */
static void **make_chain(size_t bytes, size_t apart)
{
    const size_t n = bytes / apart, words = apart / sizeof(void *);
    const size_t step = (size_t)((double)n * 0.6180339887) | 1;
    void **host = (void **)kf_alloc((int64_t)(n * words), sizeof *host), **device = NULL;
    CUDA_CHECK(cudaMalloc((void **)&device, bytes));
    for (size_t i = 0; i < n; i++)
        host[i * words] = device + (i + step) % n * words;
    CUDA_CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    free(host);
    return device;
}

/* A walk counts after one that has filled L1 and L2 with what fits in them; of memory no line is
 * met twice, nor lies in L2 from when it was written. */
static void measure_latencies(void)
{
    static const struct {
        const char *name;
        size_t bytes, apart;
        bool only_l2;
    } levels[] = {
        {"latency_l1_cycles", 8 << 10, 32, false},
        {"latency_l2_cycles", 2 << 20, 1024, true},
        {"latency_memory_cycles", 512 << 20, 64 << 10, true},
    };
    float *cycles = NULL, seen = 0.0f;
    void **end = NULL, *other = NULL;
    const size_t more_than_l2 = 512 << 20;
    CUDA_CHECK(cudaMalloc((void **)&cycles, sizeof *cycles));
    CUDA_CHECK(cudaMalloc((void **)&end, sizeof *end));
    CUDA_CHECK(cudaMalloc(&other, more_than_l2));
    kf_say("\na load that waits for the one before\n");
    for (int level = -1; level < 3; level++) {
        const char *name = level < 0 ? "latency_shared_cycles" : levels[level].name;
        void **chain = level < 0 ? NULL : make_chain(levels[level].bytes, levels[level].apart);
        CUDA_CHECK(cudaMemset(other, 0, more_than_l2));
        if (level < 0)
            chase_shared_kernel<<<1, 1, 0, kf_stream()>>>(cycles, (int *)end);
        else if (levels[level].only_l2)
            chase_kernel<true><<<1, 1, 0, kf_stream()>>>(chain, cycles, end);
        else
            chase_kernel<false><<<1, 1, 0, kf_stream()>>>(chain, cycles, end);
        CUDA_CHECK_LAUNCH();
        CUDA_CHECK(cudaStreamSynchronize(kf_stream()));
        CUDA_CHECK(cudaMemcpy(&seen, cycles, sizeof seen, cudaMemcpyDeviceToHost));
        add_fact(name, "cycles", seen);
        kf_say("  %-22s %7.1f cycles\n", name, seen);
        CUDA_CHECK(cudaFree(chain));
    }
    CUDA_CHECK(cudaFree(cycles));
    CUDA_CHECK(cudaFree(end));
    CUDA_CHECK(cudaFree(other));
}

static kf_stat time_one(kf_work work, enum kf_clock clock)
{
    kf_timing timing = {clock, KF_WARM};
    kf_stat stat;
    kf_time(&work, 1, timing, KF_MAX_REPS, SEED, &stat);
    if (stat.noisy)
        kf_complain("%s clock: too noisy to trust; is the device shared?", kf_clock_name(clock));
    return stat;
}

static void enqueue_empty(void *context, cudaStream_t stream)
{
    (void)context;
    kf_probe_empty(stream);
    CUDA_CHECK_LAUNCH();
}

static void measure_launches(void)
{
    static const char *const names[] = {"launch_graph_us", "launch_stream_us", "launch_call_us"};
    kf_say("\nempty kernel\n");
    for (int clock = KF_GRAPH; clock <= KF_CALL; clock++) {
        kf_stat s = time_one((kf_work){enqueue_empty, NULL}, (enum kf_clock)clock);
        kf_say("  %-6s %8.3f us  (p5 %.3f, p95 %.3f, n %d)\n", kf_clock_name((enum kf_clock)clock),
               s.median, s.p5, s.p95, s.n);
        add_result(names[clock], "us", &s, 0.0);
    }
}

/* Two links are one call. */
static void add_links(const char *name, const kf_stat *two)
{
    results[n_results++] =
        (struct result){name, "us", two->median / 2.0, two->p5 / 2.0, two->p95 / 2.0, two->n};
}

/* One launch more in a stream, behind a kernel that takes longer than the host needs for all
 * launches of the call: the device's part of it. */
static void measure_hidden(chain_job two)
{
    two.busy = 100000;
    chain_job four = two;
    four.links = 4;
    const kf_stat few = time_one((kf_work){run_links, &two}, KF_STREAM);
    const kf_stat more = time_one((kf_work){run_links, &four}, KF_STREAM);
    add_fact("launch_hidden_us", "us", (more.median - few.median) / 2.0);
    kf_say("one launch more in a stream, behind a long kernel %8.3f us\n",
           results[n_results - 1].value);
}

/* Kernels in a graph, one behind the other, as those of launch_graph_us are: the time from one to
 * the next. What is new is that each waits for a word that the one before has written: a single
 * thread, and as many as the device holds. */
static void measure_chains(int processors, int threads)
{
    chain_job one = {NULL, 1, 1, 2, 0}, full = {NULL, processors * (threads / BLOCK), BLOCK, 2, 0};
    CUDA_CHECK(cudaMalloc((void **)&one.words, 2 * sizeof(float)));
    CUDA_CHECK(cudaMemset(one.words, 0, 2 * sizeof(float)));
    full.words = one.words;
    kf_stat s = time_one((kf_work){run_links, &one}, KF_GRAPH);
    add_links("launch_dependent_us", &s);
    s = time_one((kf_work){run_links, &full}, KF_GRAPH);
    add_links("launch_full_us", &s);
    kf_say("\na kernel that needs the one before, in a graph\n  of one thread %8.3f us\n"
           "  of %d x %d threads %8.3f us\n",
           results[n_results - 2].value, full.blocks, BLOCK, results[n_results - 1].value);
    measure_hidden(one);
    CUDA_CHECK(cudaFree(one.words));
}

static void measure_l2(int processors, bool adds_four)
{
    l2_job job = {NULL, processors * L2_BLOCKS};
    const double calls = (double)job.blocks * BLOCK * L2_LOOPS;
    CUDA_CHECK(cudaMalloc((void **)&job.data, L2_BYTES));
    CUDA_CHECK(cudaMemset(job.data, 0, L2_BYTES));
    kf_work reads[3] = {{read_l2<2>, &job}, {read_l2<4>, &job}, {read_l2<8>, &job}};
    kf_stat stat[3];
    const kf_timing timing = {KF_GRAPH, KF_WARM};
    kf_time(reads, 3, timing, KF_MAX_REPS, SEED, stat);
    int best = 0;
    for (int i = 0; i < 3; i++)
        best = stat[i].median < stat[best].median ? i : best;
    add_result("l2_read_tbps", "TB/s", &stat[best], calls * sizeof(float4));
    kf_say("\nwithin the L2, %d MB\n  read                 %6.3f TB/s\n", L2_BYTES >> 20,
           results[n_results - 1].value);
    kf_stat s = time_one((kf_work){add_atomically<1>, &job}, KF_GRAPH);
    add_result("atomic_add_tbps", "TB/s", &s, calls * sizeof(float));
    kf_say("  atomic adds          %6.3f TB/s of floats\n", results[n_results - 1].value);
    if (adds_four) {
        s = time_one((kf_work){add_atomically<4>, &job}, KF_GRAPH);
        add_result("atomic_add4_tbps", "TB/s", &s, calls * sizeof(float4));
        kf_say("  atomic adds of four  %6.3f TB/s of floats\n", results[n_results - 1].value);
    }
    CUDA_CHECK(cudaFree(job.data));
}

static void measure_copies(void)
{
    size_t available = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&available, &total));
    long long bytes =
        (long long)(available / 4) < 2147483648LL ? (long long)(available / 4) : 2147483648LL;
    copy c = {NULL, NULL, bytes / (long long)sizeof(float4)};
    bytes = c.count * (long long)sizeof(float4);
    CUDA_CHECK(cudaMalloc((void **)&c.from, (size_t)bytes));
    CUDA_CHECK(cudaMalloc((void **)&c.to, (size_t)bytes));
    CUDA_CHECK(cudaMemset(c.from, 1, (size_t)bytes));
    static const char *const names[] = {"float4 kernel", "float4 kernel, 2 loads in flight",
                                        "float4 kernel, 4 loads in flight",
                                        "cudaMemcpyAsync, device to device"};
    kf_work works[4] = {{copy_by_kernel<1>, &c},
                        {copy_by_kernel<2>, &c},
                        {copy_by_kernel<4>, &c},
                        {copy_by_runtime, &c}};
    kf_stat stat[4];
    const kf_timing timing = {KF_GRAPH, KF_WARM};
    kf_time(works, 4, timing, KF_MAX_REPS, SEED, stat);
    double moved = 2.0 * (double)bytes;
    int best = 0;
    kf_say("\ncopy of %.2f GB, counted as %.2f GB read and written, graph clock\n", bytes / 1e9,
           moved / 1e9);
    for (int i = 0; i < 4; i++) {
        best = stat[i].median < stat[best].median ? i : best;
        kf_say("  %-34s %9.1f us  %6.3f TB/s\n", names[i], stat[i].median,
               moved / stat[i].median / 1e6);
    }
    add_result("copy_tbps", "TB/s", &stat[best], moved);
    add_fact("memory_gb", "GB", total / 1e9);
    CUDA_CHECK(cudaMemset(c.from, 0, (size_t)bytes));
    kf_work reads[3] = {{read_by_kernel<1>, &c}, {read_by_kernel<4>, &c}, {read_by_kernel<8>, &c}};
    kf_stat read[3];
    kf_time(reads, 3, timing, KF_MAX_REPS, SEED, read);
    int quickest = 0;
    for (int i = 0; i < 3; i++)
        quickest = read[i].median < read[quickest].median ? i : quickest;
    add_result("read_tbps", "TB/s", &read[quickest], (double)bytes);
    kf_say("read of %.2f GB, no write: %.3f TB/s\n", bytes / 1e9, results[n_results - 1].value);
    kf_say("the best of them on each clock, beside the ceiling\n");
    for (int clock = KF_GRAPH; clock <= KF_CALL; clock++) {
        kf_stat s = time_one(works[best], (enum kf_clock)clock);
        kf_say("  %-6s %9.1f us  %6.3f TB/s  %5.1f%% of limit\n",
               kf_clock_name((enum kf_clock)clock), s.median, moved / s.median / 1e6,
               100.0 * stat[best].median / s.median);
    }
    CUDA_CHECK(cudaFree(c.from));
    CUDA_CHECK(cudaFree(c.to));
}

/* The work of one multiprocessor per cycle. The first run of a kernel loads its code, and does not
 * count. */
static void measure_cycles(bool has_mma)
{
    float *cycles = NULL, seen = 0.0f;
    static const struct {
        const char *name, *unit;
        double amount; /* of the whole block */
    } rates[] = {
        {"exp_per_cycle", "exponentials", (double)STEPS * MOST_THREADS},
        {"shared_bytes_per_cycle", "bytes", 16.0 * STEPS * MOST_THREADS},
        {"mma_f16_per_cycle", "multiply-adds", MMA_FLOPS / 2.0 * STEPS * PRODUCTS * BLOCK / 32.0},
    };
    CUDA_CHECK(cudaMalloc((void **)&cycles, 2 * sizeof *cycles));
    kf_say("\na multiprocessor in a cycle\n");
    for (int rate = 0; rate < (has_mma ? 3 : 2); rate++) {
        for (int i = 0; i < 2; i++) {
            if (rate == 0)
                exp_kernel<<<1, MOST_THREADS, 0, kf_stream()>>>(cycles, cycles + 1);
            else if (rate == 1)
                shared_kernel<<<1, MOST_THREADS, 0, kf_stream()>>>(cycles, cycles + 1, 33 * 32);
            else
                mma_kernel<<<1, BLOCK, 0, kf_stream()>>>(cycles, cycles + 1);
            CUDA_CHECK_LAUNCH();
            CUDA_CHECK(cudaStreamSynchronize(kf_stream()));
        }
        CUDA_CHECK(cudaMemcpy(&seen, cycles, sizeof seen, cudaMemcpyDeviceToHost));
        add_fact(rates[rate].name, rates[rate].unit, rates[rate].amount / seen);
        kf_say("  %7.1f %s\n", rates[rate].amount / seen, rates[rate].unit);
    }
    CUDA_CHECK(cudaFree(cycles));
}

/* The cycles of one instruction of a warp: loads from the L1 with and without bank conflicts, a
 * shuffle and an exponential by themselves, shuffles of many warps, a barrier of BLOCK threads. */
static void measure_instructions(void)
{
    enum { SAME_BANK, OTHER_BANKS, SHUFFLE, SHUFFLES, EXPONENTIAL, BARRIER, N };
    static const struct {
        const char *name;
        int threads, per_warp;
    } rows[N] = {
        {"l1_same_bank_cycles", MOST_THREADS, MOST_THREADS / 32},
        {"l1_other_banks_cycles", MOST_THREADS, MOST_THREADS / 32},
        {"shuffle_cycles", 32, 1},
        {"shuffle_issue_cycles", MOST_THREADS, MOST_THREADS / 32},
        {"exp_cycles", 32, 1},
        {"barrier_cycles", BLOCK, 1},
    };
    float *zeros = NULL, *cycles = NULL, seen = 0.0f;
    CUDA_CHECK(cudaMalloc((void **)&zeros, 32 * 33 * sizeof *zeros));
    CUDA_CHECK(cudaMemset(zeros, 0, 32 * 33 * sizeof *zeros));
    CUDA_CHECK(cudaMalloc((void **)&cycles, 2 * sizeof *cycles));
    kf_say("\none instruction of a warp\n");
    for (int row = 0; row < N; row++) {
        const int threads = rows[row].threads;
        for (int i = 0; i < 2; i++) { /* the first run of a kernel loads its code */
            if (row == SAME_BANK || row == OTHER_BANKS)
                l1_kernel<<<1, threads, 0, kf_stream()>>>(zeros, cycles, cycles + 1,
                                                          row == SAME_BANK ? 32 : 33, 5);
            else if (row == SHUFFLE)
                shuffle_kernel<true><<<1, threads, 0, kf_stream()>>>(cycles, cycles + 1);
            else if (row == SHUFFLES)
                shuffle_kernel<false><<<1, threads, 0, kf_stream()>>>(cycles, cycles + 1);
            else if (row == EXPONENTIAL)
                exp_kernel<<<1, threads, 0, kf_stream()>>>(cycles, cycles + 1);
            else
                barrier_kernel<<<1, threads, 0, kf_stream()>>>(cycles);
            CUDA_CHECK_LAUNCH();
            CUDA_CHECK(cudaStreamSynchronize(kf_stream()));
        }
        CUDA_CHECK(cudaMemcpy(&seen, cycles, sizeof seen, cudaMemcpyDeviceToHost));
        const double each = seen / STEPS / rows[row].per_warp;
        add_fact(rows[row].name, "cycles", each);
        kf_say("  %-22s %7.2f cycles\n", rows[row].name, each);
    }
    CUDA_CHECK(cudaFree(zeros));
    CUDA_CHECK(cudaFree(cycles));
}

static void measure_rates(int processors, bool has_mma)
{
    fma_job fma = {NULL, 0};
    CUDA_CHECK(cudaMalloc((void **)&fma.never_written, sizeof(float)));
    fma.blocks = processors * 32;
    kf_stat s = time_one((kf_work){run_fma, &fma}, KF_GRAPH);
    add_result("fp32_tflops", "TFLOP/s", &s, 2.0 * CHAINS * FMA_STEPS * BLOCK * (double)fma.blocks);
    kf_say("\nfp32 multiply-adds  %8.1f TFLOP/s\n", results[n_results - 1].value);
    CUDA_CHECK(cudaFree(fma.never_written));
    if (has_mma) {
        mma_job mma = {NULL, processors * L2_BLOCKS};
        CUDA_CHECK(cudaMalloc((void **)&mma.cycles, 2 * sizeof(float)));
        s = time_one((kf_work){run_mma, &mma}, KF_GRAPH);
        add_result("mma_f16_tflops", "TFLOP/s", &s,
                   MMA_FLOPS * STEPS * PRODUCTS * (BLOCK / 32.0) * (double)mma.blocks);
        kf_say("fp16 mma.sync       %8.1f TFLOP/s\n", results[n_results - 1].value);
        CUDA_CHECK(cudaFree(mma.cycles));
    }

    gemm_job gemm = {NULL, NULL, NULL, NULL, NULL};
    if (!open_cublas(&gemm)) {
        kf_say("fp16 tensor cores   no cuBLAS found: no row for them\n");
        return;
    }
    gemm.a = random_matrix();
    gemm.b = random_matrix();
    gemm.c = random_matrix();
    s = time_one((kf_work){run_gemm, &gemm}, KF_STREAM);
    add_result("tensor_f16_tflops", "TFLOP/s", &s, 2.0 * GEMM_N * (double)GEMM_N * GEMM_N);
    kf_say("fp16 tensor cores   %8.1f TFLOP/s (cuBLAS, %d x %d x %d)\n",
           results[n_results - 1].value, GEMM_N, GEMM_N, GEMM_N);
    CUDA_CHECK(cudaFree(gemm.a));
    CUDA_CHECK(cudaFree(gemm.b));
    CUDA_CHECK(cudaFree(gemm.c));
}

/* --- The file -------------------------------------------------------------------------------- */

static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
}

static void write_results(FILE *to)
{
    for (int i = 0; i < n_results; i++)
        fprintf(to, "%s\t%.6g\t%.6g\t%.6g\t%d\t%s\n", results[i].name, results[i].value,
                results[i].p5, results[i].p95, results[i].n, results[i].unit);
}

static const char *out_option(int argc, char **argv)
{
    const char *out = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            printf("ceilings [--out FILE]: measures copy bandwidth, rates and launch times\n");
            exit(KF_OK);
        } else if (strncmp(argv[i], "--out=", 6) == 0) {
            out = argv[i] + 6;
        } else if (strcmp(argv[i], "--out") == 0 && i + 1 < argc &&
                   strncmp(argv[i + 1], "--", 2) != 0) {
            out = argv[++i];
        } else {
            kf_die(KF_USAGE, "%s: not an option or without its value; --out FILE is right",
                   argv[i]);
        }
    }
    return out;
}

int main(int argc, char **argv)
{
    kf_set_program("ceilings");
    kf_catch_interrupts();
    const char *out = out_option(argc, argv);
    if (kf_on_cpu())
        kf_die(KF_CANNOT_RUN,
               "the CPU backend measures nothing: a GPU and the CUDA build are needed");
    const kf_device *device = kf_open_device();
    char *path = out ? kf_text("%s", out) : kf_text("build/data/%s/ceilings.tsv", device->slug);
    make_folders(path);
    char *header = kf_record_header(device, "ceilings", SEED);
    FILE *to = kf_table_open("out", path, header, "name\tvalue\tp5\tp95\tn\tunit", false);
    free(header);
    kf_say("%s, compute %s, driver %s, toolkit %s\n", device->name, device->compute, device->driver,
           device->toolkit);
    kf_timing_begin(NULL, 0);
    state_device();
    const int processors = attribute(cudaDevAttrMultiProcessorCount);
    const int major = attribute(cudaDevAttrComputeCapabilityMajor);
    measure_launches();
    measure_chains(processors, attribute(cudaDevAttrMaxThreadsPerMultiProcessor));
    measure_copies();
    measure_l2(processors, major >= 9);
    measure_latencies();
    measure_cycles(major >= 8);
    measure_instructions();
    measure_rates(processors, major >= 8);
    write_results(to);
    kf_table_close("out", path, to);
    kf_say("\nwritten to %s\n", path);
    free(path);
    kf_timing_end();
    return KF_OK;
}
