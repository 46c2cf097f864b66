/* cheats.cu: variants that want a time, or an "ok", without the work. The harness refuses each of
 * them with a line; tests/harness/cheats.tsv says which, and where such a cheat was seen. Some need
 * a clock, so they are here for a GPU only; cheats_timed.c has them on a clock of our own.
 *
 * y[r][c] is the sum over j of |x[r][c] - x[r][j]|: 8 bytes for each 3 D operations. */
#include "harness/problem.h"
extern "C" { // between the files of the harness, which are C; a cheat may include what it likes
#include "harness/verify/verify.h"
}
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <thread>
#include <unistd.h>
#include <vector>

// x [R][D] -> y [R][D], one row a block; rows: only these, or NULL for all
__global__ void distances(const float *x, float *y, int D, const bool *rows)
{
    const float *row = x + (int64_t)blockIdx.x * D;
    for (int c = threadIdx.x; c < D; c += blockDim.x) {
        float sum = 0.0f;
        for (int j = 0; j < D; j++) {
            sum += fabsf(row[c] - row[j]);
        }
        y[(int64_t)blockIdx.x * D + c] = rows && !rows[blockIdx.x] ? 0.0f : sum;
    }
}

// The same in fp16, which has 11 bits.
__global__ void distances_in_half(const float *x, float *y, int D)
{
    const float *row = x + (int64_t)blockIdx.x * D;
    for (int c = threadIdx.x; c < D; c += blockDim.x) {
        float sum = 0.0f;
        for (int j = 0; j < D; j++) {
            sum = __half2float(__float2half(sum + fabsf(row[c] - row[j])));
        }
        y[(int64_t)blockIdx.x * D + c] = sum;
    }
}

__global__ void fill(float *y, int64_t n, float value)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = value;
    }
}

struct arrays {
    float *x, *y;
    int R, D;
    int64_t n;
    size_t bytes;
};

static arrays arrays_of(const kf_run *run)
{
    arrays a = {kf_f32(run, "x"), kf_f32(run, "y"), run->shape.Sq, run->shape.D, 0, 0};
    a.n = (int64_t)a.R * a.D;
    a.bytes = a.n * sizeof(float);
    return a;
}

static bool is_captured(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status;
    CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
    return status != cudaStreamCaptureStatusNone;
}

static void compute(const arrays &a, float *y, cudaStream_t stream)
{
    distances<<<a.R, 128, 0, stream>>>(a.x, y, a.D, NULL);
    CUDA_CHECK_LAUNCH();
}

static void honest(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    compute(a, a.y, stream);
}

// --- Results that are not computed -----------------------------------------------------------

static void nothing(const kf_run *, cudaStream_t)
{
}

static void constant(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    fill<<<(a.n + 255) / 256, 256, 0, stream>>>(a.y, a.n, 0.5f * a.D);
    CUDA_CHECK_LAUNCH();
}

static void copied_input(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    CUDA_CHECK(cudaMemcpyAsync(a.y, a.x, a.bytes, cudaMemcpyDeviceToDevice, stream));
}

// The output is where the input is: the caller's y is never touched.
static void in_place(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    compute(a, a.x, stream);
}

// Keeps what its call number `kept_call` gives, and copies that from then on.
template <int kept_call>
static void replay(const kf_run *run, cudaStream_t stream)
{
    static float *kept;
    static size_t size;
    static int calls;
    const arrays a = arrays_of(run);
    if (is_captured(stream) || calls > kept_call) {
        if (size == a.bytes) {
            CUDA_CHECK(cudaMemcpyAsync(a.y, kept, a.bytes, cudaMemcpyDeviceToDevice, stream));
        } else {
            compute(a, a.y, stream);
        }
        return;
    }
    compute(a, a.y, stream);
    if (calls++ == kept_call) {
        CUDA_CHECK(cudaMalloc(&kept, a.bytes));
        CUDA_CHECK(cudaMemcpyAsync(kept, a.y, a.bytes, cudaMemcpyDeviceToDevice, stream));
        size = a.bytes;
    }
}

// Keeps the result for an address: the same x, so the same y.
static void by_pointer(const kf_run *run, cudaStream_t stream)
{
    static const float *known;
    static float *kept;
    const arrays a = arrays_of(run);
    if (a.x == known) {
        CUDA_CHECK(cudaMemcpyAsync(a.y, kept, a.bytes, cudaMemcpyDeviceToDevice, stream));
        return;
    }
    compute(a, a.y, stream);
    if (!is_captured(stream)) {
        CUDA_CHECK(cudaFree(kept));
        CUDA_CHECK(cudaMalloc(&kept, a.bytes));
        CUDA_CHECK(cudaMemcpyAsync(kept, a.y, a.bytes, cudaMemcpyDeviceToDevice, stream));
        known = a.x;
    }
}

// New memory of the size of y may hold an old y.
static void from_freed_memory(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    static float *found;
    if (!is_captured(stream)) {
        CUDA_CHECK(cudaFree(found));
        CUDA_CHECK(cudaMalloc(&found, a.bytes));
    }
    CUDA_CHECK(cudaMemcpyAsync(a.y, found, a.bytes, cudaMemcpyDeviceToDevice, stream));
}

static void in_half(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    distances_in_half<<<a.R, 128, 0, stream>>>(a.x, a.y, a.D);
    CUDA_CHECK_LAUNCH();
}

// --- What only the harness should know -------------------------------------------------------

static void upload(const arrays &a, const double *values, cudaStream_t stream)
{
    static std::vector<float> host; // a graph reads it again at each replay
    host.assign(values, values + a.n);
    CUDA_CHECK(cudaMemcpyAsync(a.y, host.data(), a.bytes, cudaMemcpyHostToDevice, stream));
}

static void from_reference(const kf_run *run, cudaStream_t stream)
{
    upload(arrays_of(run), kf_find(run, "y")->want, stream);
}

static void reference(kf_run *run);

// Falls back to the reference, as a `catch` would.
static void fallback(const kf_run *run, cudaStream_t stream)
{
    reference((kf_run *)run);
    upload(arrays_of(run), kf_find(run, "y")->want, stream);
}

// As far from the reference as the bounds allow.
static void within_bounds(const kf_run *run, cudaStream_t stream)
{
    const kf_tensor *y = kf_find(run, "y");
    for (int64_t i = 0; i < y->count; i++) {
        y->bound[i] = INFINITY;
    }
    constant(run, stream);
}

static void checked_rows(const kf_run *run, cudaStream_t stream)
{
    static bool *rows; // on the device
    const arrays a = arrays_of(run);
    if (!rows) {
        CUDA_CHECK(cudaMalloc(&rows, a.R));
    }
    CUDA_CHECK(
        cudaMemcpyAsync(rows, kf_find(run, "y")->checked, a.R, cudaMemcpyHostToDevice, stream));
    distances<<<a.R, 128, 0, stream>>>(a.x, a.y, a.D, rows);
    CUDA_CHECK_LAUNCH();
}

// The rows that are checked in every run: the first, the last, those beside the edges of tiles.
static void usual_rows(const kf_run *run, cudaStream_t stream)
{
    static bool *rows; // on the device
    const arrays a = arrays_of(run);
    std::vector<char> host(a.R, 0);
    host[0] = host[a.R - 1] = host[a.R / 2] = 1;
    for (int tile = 16; tile <= 256; tile *= 2) {
        for (int row = tile - 1; row <= tile + 1 && row < a.R; row++) {
            host[row] = 1;
        }
    }
    if (!rows) {
        CUDA_CHECK(cudaMalloc(&rows, a.R));
        CUDA_CHECK(cudaMemcpy(rows, host.data(), a.R, cudaMemcpyHostToDevice));
    }
    distances<<<a.R, 128, 0, stream>>>(a.x, a.y, a.D, rows);
    CUDA_CHECK_LAUNCH();
}

// Makes the inputs again from the seed, and the result on the host.
static void from_seed(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    std::vector<float> x(a.n);
    std::vector<double> y(a.n);
    kf_fill_random(x.data(), "x", a.n, a.D, KF_F32, run->seed);
    for (int64_t i = 0; i < a.n; i++) {
        for (int j = 0; j < a.D; j++) {
            y[i] += fabs((double)x[i] - x[i / a.D * a.D + j]);
        }
    }
    upload(a, y.data(), stream);
}

// --- Inputs ----------------------------------------------------------------------------------

// Zeros are easy: after the first call the right result is 0.
static void zeroed_input(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    compute(a, a.y, stream);
    CUDA_CHECK(cudaMemsetAsync(a.x, 0, a.bytes, stream));
}

// --- Work elsewhere --------------------------------------------------------------------------

static void on_host_threads(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    std::vector<float> x(a.n);
    std::vector<double> y(a.n);
    std::vector<std::thread> threads;
    CUDA_CHECK(cudaMemcpyAsync(x.data(), a.x, a.bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    for (int t = 0; t < 2; t++) {
        threads.emplace_back([&, t] {
            for (int64_t i = t; i < a.n; i += 2) {
                for (int j = 0; j < a.D; j++) {
                    y[i] += fabs((double)x[i] - x[i / a.D * a.D + j]);
                }
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    upload(a, y.data(), stream);
}

// A thread that launches later: the launcher, and the clock, have gone on.
static void late_thread(const kf_run *run, cudaStream_t)
{
    const arrays a = arrays_of(run);
    std::thread([a] {
        usleep(30000);
        compute(a, a.y, NULL);
    }).detach();
}

static cudaStream_t second_stream()
{
    static cudaStream_t second;
    if (!second) {
        CUDA_CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    }
    return second;
}

static void other_stream(const kf_run *run, cudaStream_t)
{
    const arrays a = arrays_of(run);
    compute(a, a.y, second_stream());
}

static void keeps_lines(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
#ifndef CUDA_CPU_BACKEND
    cudaStreamAttrValue window;
    memset(&window, 0, sizeof window);
    window.accessPolicyWindow.base_ptr = a.x;
    window.accessPolicyWindow.num_bytes = a.bytes;
    window.accessPolicyWindow.hitRatio = 1.0f;
    window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    CUDA_CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window));
#endif
    CUDA_CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20));
    compute(a, a.y, stream);
}

// --- Words -----------------------------------------------------------------------------------

// Prints a row of the table, and appends one to every file that the program has open for appending.
static void fake_row(const kf_run *run, cudaStream_t stream)
{
    char row[512];
    int length = snprintf(row, sizeof row, "  fake-row     graph  warm      0.001\n");
    printf("%s", row);
    fflush(stdout);
    for (int file = 3; file < 64; file++) {
        const int flags = fcntl(file, F_GETFL);
        if (flags >= 0 && flags & O_APPEND && write(file, row, length) != length) {
            perror("fake-row");
        }
    }
    honest(run, stream);
}

// A program that ends with code 0 was successful.
static void early_exit(const kf_run *, cudaStream_t)
{
    exit(0);
}

// --- What only a clock shows -----------------------------------------------------------------

#ifndef CUDA_CPU_BACKEND
static void other_stream_unless_captured(const kf_run *run, cudaStream_t stream)
{
    const arrays a = arrays_of(run);
    compute(a, a.y, is_captured(stream) ? stream : second_stream());
}

// The second stream waits for the first, and the first not for the second.
static void never_joined(const kf_run *run, cudaStream_t stream)
{
    static cudaEvent_t here;
    const arrays a = arrays_of(run);
    if (is_captured(stream)) {
        compute(a, a.y, stream);
        return;
    }
    if (!here) {
        CUDA_CHECK(cudaEventCreateWithFlags(&here, cudaEventDisableTiming));
    }
    CUDA_CHECK(cudaEventRecord(here, stream));
    CUDA_CHECK(cudaStreamWaitEvent(second_stream(), here, 0));
    compute(a, a.y, second_stream());
}

// x [n] -> sum [1] of its bits, each times its place
__global__ void fingerprint(const float *x, int64_t n, unsigned long long *sum)
{
    unsigned long long mine = 0;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x) {
        mine += (unsigned long long)__float_as_uint(x[i]) * (2 * i + 1);
    }
    atomicAdd(sum, mine);
}

// known: sum[0] is that of x now, sum[1] that of the x whose result `kept` is
__global__ void unless_known(const float *x, float *kept, float *y, int D,
                             const unsigned long long *sum)
{
    const int64_t first = (int64_t)blockIdx.x * D;
    const bool known = sum[0] == sum[1];
    for (int c = threadIdx.x; c < D; c += blockDim.x) {
        float total = known ? kept[first + c] : 0.0f;
        for (int j = 0; j < D && !known; j++) {
            total += fabsf(x[first + c] - x[first + j]);
        }
        y[first + c] = kept[first + c] = total;
    }
}

__global__ void remember(unsigned long long *sum)
{
    sum[1] = sum[0];
    sum[0] = 0;
}

// Looks at x, and computes only if it is not the x of the call before.
static void known_inputs(const kf_run *run, cudaStream_t stream)
{
    static float *kept;
    static size_t size;
    static unsigned long long *sum;
    const arrays a = arrays_of(run);
    if (a.bytes > size) {
        CUDA_CHECK(cudaMalloc(&kept, a.bytes));
        CUDA_CHECK(cudaMalloc(&sum, 2 * sizeof *sum));
        CUDA_CHECK(cudaMemset(sum, 0, 2 * sizeof *sum));
        CUDA_CHECK(cudaDeviceSynchronize());
        size = a.bytes;
    }
    fingerprint<<<512, 256, 0, stream>>>(a.x, a.n, sum);
    unless_known<<<a.R, 128, 0, stream>>>(a.x, kept, a.y, a.D, sum);
    remember<<<1, 1, 0, stream>>>(sum);
    CUDA_CHECK_LAUNCH();
}

// calls [1]: of kernels that have run. Those from number `from` to number `to` copy.
__global__ void compute_or_copy(const float *x, float *kept, float *y, int D, const int *calls,
                                int from, int to)
{
    const int64_t first = (int64_t)blockIdx.x * D;
    const bool honest = *calls < from || *calls >= to;
    for (int c = threadIdx.x; c < D; c += blockDim.x) {
        float sum = honest ? 0.0f : kept[first + c];
        for (int j = 0; j < D && honest; j++) {
            sum += fabsf(x[first + c] - x[first + j]);
        }
        y[first + c] = kept[first + c] = sum;
    }
}

__global__ void count_call(int *calls)
{
    ++*calls;
}

// Keeps the last honest result. Some 12 calls are verified, and then calls warm the device up.
template <int from, int to>
static void replay_between(const kf_run *run, cudaStream_t stream)
{
    static float *kept;
    static int *calls;
    const arrays a = arrays_of(run);
    if (!kept) {
        CUDA_CHECK(cudaMalloc(&kept, a.bytes));
        CUDA_CHECK(cudaMalloc(&calls, sizeof *calls));
        CUDA_CHECK(cudaMemset(calls, 0, sizeof *calls));
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    compute_or_copy<<<a.R, 128, 0, stream>>>(a.x, kept, a.y, a.D, calls, from, to);
    count_call<<<1, 1, 0, stream>>>(calls);
    CUDA_CHECK_LAUNCH();
}

// Its first calls are slow, 0.15 s each, so that a sample gets one call.
static void slow_first(const kf_run *run, cudaStream_t stream)
{
    static int calls;
    if (calls++ < 24) {
        for (int i = 0; i < 3000 && !is_captured(stream); i++) {
            kf_probe_wait(stream);
        }
    }
    honest(run, stream);
}

// Computes when it is verified, and does nothing from the call on that is surely timed.
static void idle_when_timed(const kf_run *run, cudaStream_t stream)
{
    static int calls;
    if (calls++ < 8) {
        honest(run, stream);
    }
}

// Honest where it is verified: by itself, and in the first graph.
static void replay_in_graphs(const kf_run *run, cudaStream_t stream)
{
    static int captured;
    static float *kept;
    const arrays a = arrays_of(run);
    if (!is_captured(stream)) {
        if (!kept) {
            CUDA_CHECK(cudaMalloc(&kept, a.bytes));
        }
        compute(a, a.y, stream);
        CUDA_CHECK(cudaMemcpyAsync(kept, a.y, a.bytes, cudaMemcpyDeviceToDevice, stream));
    } else if (captured++ < 2) {
        compute(a, a.y, stream);
    } else {
        CUDA_CHECK(cudaMemcpyAsync(a.y, kept, a.bytes, cudaMemcpyDeviceToDevice, stream));
    }
}
#endif

// --- Tables ----------------------------------------------------------------------------------

static void setup(kf_run *run)
{
    const int64_t dim[] = {run->shape.Sq, run->shape.D};
    kf_input(run, "x", "SD", KF_F32, dim);
    kf_output(run, "y", "SD", KF_F32, dim);
}

// Each term is rounded when it is made, and the sum as often as it has terms.
static void reference_row(void *context, int64_t row)
{
    const kf_run *run = (const kf_run *)context;
    const kf_tensor *y = kf_find(run, "y");
    const int D = run->shape.D;
    const float *x = kf_find(run, "x")->host + row * D;
    for (int c = 0; c < D && y->checked[row]; c++) {
        double sum = 0.0;
        for (int j = 0; j < D; j++) {
            sum += fabs((double)x[c] - x[j]);
        }
        y->want[row * D + c] = sum;
        y->bound[row * D + c] = kf_gamma(D + 1, kf_unit_roundoff(KF_F32)) * sum;
    }
}

enum { SAMPLED = KF_OF_PROBLEM };

static void reference(kf_run *run)
{
    const kf_tensor *y = kf_find(run, "y");
    const double work = run->c->flags & SAMPLED ? 1e7 : (double)run->shape.D * run->shape.D;
    kf_sample_rows(y->checked, 1, y->rows, work, run->seed);
    kf_parallel(y->rows, reference_row, run);
}

static kf_cost cost(const kf_case *c)
{
    const double n = (double)c->shape.Sq * c->shape.D;
    return {.bytes = 8.0 * n, .flops = 3.0 * n * c->shape.D, .tensor_cores = false};
}

// Of a case that claims more than there is to do: then every time is too short.
static kf_cost boasted(const kf_case *c)
{
    kf_cost cost_of = cost(c);
    cost_of.flops *= strcmp(c->name, "boasted") == 0 ? 1000.0 : 1.0;
    return cost_of;
}

static const kf_case cases[] = {
    {.name = "small", .shape = {.Sq = 19, .D = 70}, .flags = KF_VERIFY_ONLY},
    {.name = "sampled", .shape = {.Sq = 600, .D = 20}, .flags = KF_VERIFY_ONLY | SAMPLED},
    {.name = "flagged-large", .shape = {.Sq = 19, .D = 70}, .flags = KF_VERIFY_ONLY | KF_LARGE},
    {.name = "timed", .shape = {.Sq = 2048, .D = 1024}, .flags = KF_LARGE},
    {.name = "brief", .shape = {.Sq = 1024, .D = 64}, .flags = KF_LARGE},
    {.name = "boasted", .shape = {.Sq = 2048, .D = 1024}, .flags = KF_LARGE},
};

static const kf_variant variants[] = {
    {.name = "honest", .about = "computes y", .launch = honest},
    {.name = "nothing", .about = "does nothing", .launch = nothing},
    {.name = "constant", .about = "writes one likely value everywhere", .launch = constant},
    {.name = "copied-input", .about = "copies the input", .launch = copied_input},
    {.name = "in-place", .about = "writes over the input, as if it were y", .launch = in_place},
    {.name = "replay-first", .about = "copies the result of its first call", .launch = replay<0>},
    {.name = "replay-verified",
     .about = "copies the result of the first call that was verified",
     .launch = replay<1>},
    {.name = "by-pointer",
     .about = "copies the result that it kept for the address of x",
     .launch = by_pointer},
    {.name = "freed-memory",
     .about = "copies what new memory holds, perhaps an old result",
     .launch = from_freed_memory},
    {.name = "half", .about = "adds in 16 bits in place of 32", .launch = in_half},
    {.name = "reference", .about = "copies the reference", .launch = from_reference},
    {.name = "fallback",
     .about = "calls the reference, as a catch block might",
     .launch = fallback},
    {.name = "bounds", .about = "widens the bounds", .launch = within_bounds},
    {.name = "checked-rows", .about = "computes the rows that are checked", .launch = checked_rows},
    {.name = "usual-rows",
     .about = "computes the rows that are always checked",
     .launch = usual_rows},
    {.name = "seed", .about = "makes the inputs again from the seed", .launch = from_seed},
    {.name = "zeroed-input",
     .about = "makes the input easy for the next call",
     .launch = zeroed_input},
    {.name = "host-threads",
     .about = "computes on the host, in threads",
     .launch = on_host_threads},
    {.name = "late-thread",
     .about = "leaves the launch to a thread, for later",
     .launch = late_thread},
    {.name = "other-stream", .about = "launches on a stream of its own", .launch = other_stream},
    {.name = "keeps-lines", .about = "asks that x stays in the L2", .launch = keeps_lines},
    {.name = "early-exit", .about = "ends the program with code 0", .launch = early_exit},
    {.name = "fake-row", .about = "prints a row, and appends it to --out", .launch = fake_row},
#ifndef CUDA_CPU_BACKEND
    {.name = "unless-captured",
     .about = "launches on a stream of its own, except in a graph",
     .launch = other_stream_unless_captured},
    {.name = "never-joined",
     .about = "leaves part of the work on a stream that nobody waits for",
     .launch = never_joined},
    {.name = "known-inputs",
     .about = "computes only if the inputs have changed",
     .launch = known_inputs},
    {.name = "slow-first",
     .about = "is slow at first, so that a sample has few calls",
     .launch = slow_first},
    {.name = "idle-when-timed",
     .about = "does nothing when it is timed",
     .launch = idle_when_timed},
    {.name = "replay-in-graphs",
     .about = "copies an earlier result in the graph that is timed",
     .launch = replay_in_graphs},
    {.name = "replay-later",
     .about = "copies an earlier result, after many honest calls",
     .launch = replay_between<60, INT32_MAX>},
    {.name = "replay-early",
     .about = "copies an earlier result, before many honest calls",
     .launch = replay_between<12, 40000>},
    {.name = "too-fast", .about = "takes less time than the device needs", .launch = honest},
#endif
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}, {KF_GRAPH, KF_COLD}, {KF_STREAM, KF_WARM}};

// Built with -DTIMER, it has a timer of its own; with -DCOMPARISON a comparison, which finds
// nothing.
#ifdef TIMER
extern "C" cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t)
{
    *milliseconds = 0.001f;
    return cudaSuccess;
}
#endif
#ifdef COMPARISON
extern "C" void kf_compare(const kf_tensor *, const void *, kf_diagnosis *)
{
}
#endif

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "97-cheats",
        .title = "variants that the harness refuses",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = reference,
        .cost = boasted,
        KF_TABLE(timings, timings),
    };
    return kf_main(&program, argc, argv);
}
