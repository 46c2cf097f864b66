/* 38-add-micro: a residual add in fp16, and which two kernels differ by 1.25
 *
 * Follows: 19-rope-float4
 * Architecture: 75
 * Profile: --case add --case add-norm
 *
 * Idea     c = a + b at the log's size, [1024, 2560] in fp16: one, two or eight elements per
 *          thread. And the log's other kernel, which adds and norms the sum, against an add and
 *          then a norm.
 * Predict  Warm L2. By bytes and launches each add takes 3.0 us, an add and then a norm 5.5 us, and
 *          both in one kernel 3.6 us. By bytes alone the last two differ by 5/4 = 1.25: an add
 *          reads two tensors and writes one, a norm reads one and writes one, and the one kernel
 *          does not read the sum again.
 * Outcome  The prediction for eight elements holds, all others take longer. With one and two
 *          elements the number of threads and of their loads decides, and hardly the bytes. The
 *          one kernel gains as much as predicted, though both times are longer. PyTorch's add ties
 *          with eight.
 */
#include "cuda/block_reduce.cuh"
#include "cuda/exact_half.cuh"
#include "harness/problem.h"

#include <cuda_fp16.h>
#include <string.h>

enum { THREADS = 256 };

#define EPSILON 1e-5f // added to the variance in the norm

// snippet: plain
// a, b [n] -> c [n], one element per thread
// cost: 6 n bytes, n additions
__global__ void add_plain(const __half *a, const __half *b, __half *c, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = __hadd(a[i], b[i]);
    }
}
// end snippet: plain

// snippet: half2
// a, b [n] -> c [n], at multiples of 4 bytes; one pair per thread, and one more thread for an odd n
// cost: 6 n bytes, n additions
__global__ void add_pairs(const __half *a, const __half *b, __half *c, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) {
        const __half2 x = ((const __half2 *)a)[i];
        const __half2 y = ((const __half2 *)b)[i];
        ((__half2 *)c)[i] = __hadd2(x, y);
    } else if (i == n / 2 && n % 2 == 1) {
        c[n - 1] = __hadd(a[n - 1], b[n - 1]);
    }
}
// end snippet: half2

// snippet: wide
// Eight halves, in pairs, as they are added. In memory 16 bytes, loaded and stored at once.
struct eight {
    __half2 pair[4];
};

static __device__ __forceinline__ struct eight load_eight(const __half *from)
{
    const uint4 words = *(const uint4 *)from;
    struct eight x;
    memcpy((void *)&x, &words, sizeof x);
    return x;
}

static __device__ __forceinline__ void store_eight(__half *to, struct eight x)
{
    uint4 words;
    memcpy(&words, (const void *)&x, sizeof words);
    *(uint4 *)to = words;
}

static __device__ __forceinline__ struct eight sum_of(struct eight x, struct eight y)
{
#pragma unroll
    for (int k = 0; k < 4; k++) {
        x.pair[k] = __hadd2(x.pair[k], y.pair[k]);
    }
    return x;
}
// end snippet: wide

// snippet: eight
// a, b [n] -> c [n]. The first `before` elements and the last `after`
// elements are added one by one. Between them each thread adds eight
// elements, from addresses that are multiples of 16. Threads 0 to
// `before + after - 1` also add one single element each.
// cost: 6 n bytes, n additions
__global__ void add_eight(const __half *a, const __half *b, __half *c, int64_t n, int before)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t eights = (n - before) / 8;
    const int after = (n - before) % 8;
    // solution: eight -- the eight elements of this thread, and a single element
    // hint: A thread has up to two tasks: eight elements from the first multiple of 16 bytes on,
    //     and one of the elements before or after. Can one thread have both? In case 7x293 every
    //     thread of the block has eight elements to add, and single ones are left.
    // hint: Thread i < eights adds eight from element before + 8 * i on, by load_eight, sum_of and
    //     store_eight. Thread i < before + after adds a single one, by __hadd.
    // hint: The single element of thread i is `i < before ? i : n - after + (i - before)`: first
    //     those before, then the last ones of the array.
    if (i < eights) {
        const int64_t at = before + 8 * i;
        store_eight(c + at, sum_of(load_eight(a + at), load_eight(b + at)));
    }
    if (i < before + after) {
        const int64_t at = i < before ? i : n - after + (i - before);
        c[at] = __hadd(a[at], b[at]);
    }
    // end solution: eight
}
// end snippet: eight

// --- The norm that follows ----------------------------------------------------------------------

// Up to eight columns of a row: those that the row has. Rows begin at multiples of 16 bytes only if
// their length is a multiple of eight.
static __device__ __forceinline__ struct eight load_columns(const __half *from, int columns,
                                                            bool aligned)
{
    if (aligned && columns > 0) {
        return load_eight(from);
    }
    struct eight x;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const __half none = __float2half_rn(0.0f);
        x.pair[k].x = 2 * k < columns ? from[2 * k] : none;
        x.pair[k].y = 2 * k + 1 < columns ? from[2 * k + 1] : none;
    }
    return x;
}

static __device__ __forceinline__ void store_columns(__half *to, struct eight x, int columns,
                                                     bool aligned)
{
    if (aligned && columns > 0) {
        store_eight(to, x);
        return;
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (2 * k < columns) {
            to[2 * k] = x.pair[k].x;
        }
        if (2 * k + 1 < columns) {
            to[2 * k + 1] = x.pair[k].y;
        }
    }
}

// The columns as floats; columns that the row does not have are 0.
static __device__ __forceinline__ void to_floats(struct eight x, float *v)
{
#pragma unroll
    for (int k = 0; k < 4; k++) {
        v[2 * k] = __low2float(x.pair[k]);
        v[2 * k + 1] = __high2float(x.pair[k]);
    }
}

// snippet: norm
// Eight columns of this block's row, in registers -> y = (x - mean) / deviation * gain + bias
static __device__ __forceinline__ void norm_row(struct eight x, const __half *gain,
                                                const __half *bias, __half *y, int D)
{
    __shared__ float partial[32];
    const int column = 8 * threadIdx.x;
    const int columns = D - column; // left in the row, from this thread's first on
    const int64_t at = (int64_t)blockIdx.x * D + column;
    const bool aligned = D % 8 == 0;
    float v[8], g[8], h[8], sum = 0.0f, squares = 0.0f;
    to_floats(x, v);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        sum += v[k];
    }
    const float mean = block_sum(sum, partial) / D;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        v[k] = k < columns ? v[k] - mean : 0.0f;
        squares += v[k] * v[k];
    }
    const float scale = rsqrtf(block_sum(squares, partial) / D + EPSILON);
    to_floats(load_columns(gain + column, columns, aligned), g);
    to_floats(load_columns(bias + column, columns, aligned), h);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        x.pair[k] = __floats2half2_rn(v[2 * k] * scale * g[2 * k] + h[2 * k],
                                      v[2 * k + 1] * scale * g[2 * k + 1] + h[2 * k + 1]);
    }
    store_columns(y + at, x, columns, aligned);
}

// c [rows][D], gain and bias [D] -> y [rows][D], the norm of c
// grid (rows), block (D / 8, in whole warps); a thread has eight columns; D is at most 8192
// cost: 4 n bytes, and gain and bias
__global__ void norm_rows(const __half *c, const __half *gain, const __half *bias, __half *y, int D)
{
    const int column = 8 * threadIdx.x;
    const int64_t at = (int64_t)blockIdx.x * D + column;
    norm_row(load_columns(c + at, D - column, D % 8 == 0), gain, bias, y, D);
}

// a, b [rows][D], gain and bias [D] -> c = a + b, and y, the norm of c. c stays in registers
// cost: 8 n bytes, where an add and a norm cost 6 n and 4 n; and gain and bias
__global__ void add_norm_rows(const __half *a, const __half *b, __half *c, const __half *gain,
                              const __half *bias, __half *y, int D)
{
    const int column = 8 * threadIdx.x;
    const int64_t at = (int64_t)blockIdx.x * D + column;
    const bool aligned = D % 8 == 0;
    struct eight x = load_columns(a + at, D - column, aligned);
    // solution: fused -- add b, and leave the sum in c and in x
    // hint: norm_row norms what x is when it is called, and that has to be the sum as it is stored
    //     in c. Which function adds eight columns to eight and rounds each sum to fp16?
    // hint: Load the columns of b as those of a are loaded, with D - column and aligned: a row may
    //     have fewer than eight columns left for this thread, or none.
    // hint: The second of two lines is `store_columns(c + at, x, D - column, aligned);`, after x
    //     has become the sum.
    x = sum_of(x, load_columns(b + at, D - column, aligned));
    store_columns(c + at, x, D - column, aligned);
    // end solution: fused
    norm_row(x, gain, bias, y, D);
}
// end snippet: norm

// --- Launches -----------------------------------------------------------------------------------

static unsigned blocks_for(int64_t threads)
{
    return (unsigned)((threads + THREADS - 1) / THREADS);
}

typedef void adder(const __half *a, const __half *b, __half *c, int64_t n, cudaStream_t stream);

static void plain(const __half *a, const __half *b, __half *c, int64_t n, cudaStream_t stream)
{
    add_plain<<<blocks_for(n), THREADS, 0, stream>>>(a, b, c, n);
    CUDA_CHECK_LAUNCH();
}

// snippet: aligned
static int beyond(const void *address, int multiple)
{
    return (int)((uintptr_t)address % multiple);
}

// A load of 16 bytes from an address that is no multiple of 16 ends the program: the host checks.
static void eight(const __half *a, const __half *b, __half *c, int64_t n, cudaStream_t stream)
{
    const int off = beyond(c, 16);
    if (beyond(a, 16) != off || beyond(b, 16) != off) {
        plain(a, b, c, n, stream);
        return;
    }
    const int64_t to_next = (16 - off) % 16 / (int)sizeof(__half);
    const int before = (int)(to_next < n ? to_next : n);
    const int64_t eights = (n - before) / 8;
    add_eight<<<blocks_for(eights > 0 ? eights : 1), THREADS, 0, stream>>>(a, b, c, n, before);
    CUDA_CHECK_LAUNCH();
}
// end snippet: aligned

static void pairs(const __half *a, const __half *b, __half *c, int64_t n, cudaStream_t stream)
{
    if (beyond(a, 4) != 0 || beyond(b, 4) != 0 || beyond(c, 4) != 0) {
        plain(a, b, c, n, stream);
        return;
    }
    add_pairs<<<blocks_for((n + 1) / 2), THREADS, 0, stream>>>(a, b, c, n);
    CUDA_CHECK_LAUNCH();
}

// A case has, beside its shape: whether the sum is normed as well, over all columns; at which rows
// of taller arrays a and b begin, which for rows of an odd length is an address of any alignment;
// and which numbers a and b hold: any, far from zero, close to it, or with sums around the largest
// number.
enum numbers { ANY, FAR_FROM_ZERO, NEAR_ZERO, NEAR_LARGEST };

typedef struct task {
    bool norm;
    int a_row, b_row;
    enum numbers numbers = ANY;
} task;

static const task *task_of(const kf_case *c)
{
    return (const task *)c->data;
}

static bool has_norm(const kf_case *c)
{
    return task_of(c)->norm;
}

static __half *halves(const kf_run *run, const char *name)
{
    return (__half *)kf_memory(run, name, KF_F16);
}

static const __half *left(const kf_run *run)
{
    return halves(run, "a") + (int64_t)task_of(run->c)->a_row * run->shape.D;
}

static const __half *right(const kf_run *run)
{
    return halves(run, "b") + (int64_t)task_of(run->c)->b_row * run->shape.D;
}

static int row_threads(const kf_run *run)
{
    return (run->shape.D + 255) / 256 * 32;
}

// B parts, one call each. A part with an odd number of elements ends right where the next begins.
template <adder *add>
static void launch(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int64_t n = (int64_t)s.Sq * s.D;
    __half *c = halves(run, "c");
    for (int64_t part = 0; part < s.B; part++) {
        add(left(run) + part * n, right(run) + part * n, c + part * n, n, stream);
    }
    if (has_norm(run->c)) {
        norm_rows<<<s.B * s.Sq, row_threads(run), 0, stream>>>(
            c, halves(run, "gain"), halves(run, "bias"), halves(run, "y"), s.D);
        CUDA_CHECK_LAUNCH();
    }
}

static void launch_fused(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    add_norm_rows<<<s.B * s.Sq, row_threads(run), 0, stream>>>(
        left(run), right(run), halves(run, "c"), halves(run, "gain"), halves(run, "bias"),
        halves(run, "y"), s.D);
    CUDA_CHECK_LAUNCH();
}

// --- Tables -------------------------------------------------------------------------------------

// Gives a row a mean of more than a thousand deviations: E[x^2] - E[x]^2 has hardly a digit left.
static void move_far(kf_tensor *t)
{
    for (int64_t i = 0; i < t->count; i++) {
        t->host[i] = kf_round_to(KF_F16, t->host[i] + 1900.0f);
    }
}

// Gives sums a variance near EPSILON: these rows show that EPSILON is added. For rows of any other
// variance a floor of that size would do as well.
static void move_near(kf_tensor *t)
{
    for (int64_t i = 0; i < t->count; i++) {
        t->host[i] = kf_round_to(KF_F16, t->host[i] / 512.0f);
    }
}

static void setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t columns = s.D;
    const int64_t rows[2] = {(int64_t)s.B * s.Sq, columns};
    const int64_t from_a[2] = {rows[0] + task_of(run->c)->a_row, columns};
    const int64_t from_b[2] = {rows[0] + task_of(run->c)->b_row, columns};
    kf_tensor *a = kf_input(run, "a", "SD", KF_F16, from_a);
    kf_tensor *b = kf_input(run, "b", "SD", KF_F16, from_b);
    kf_output(run, "c", "SD", KF_F16, rows);
    if (has_norm(run->c)) {
        kf_input(run, "gain", "D", KF_F16, &columns);
        kf_input(run, "bias", "D", KF_F16, &columns);
        kf_output(run, "y", "SD", KF_F16, rows);
    }
    if (task_of(run->c)->numbers == NEAR_LARGEST) {
        fill_near_largest(a->host, b->host, a->count);
    } else if (task_of(run->c)->numbers == FAR_FROM_ZERO) {
        move_far(a);
    } else if (task_of(run->c)->numbers == NEAR_ZERO) {
        move_near(a);
        move_near(b);
    }
}

// The norm of a row of fp16 numbers, and the largest error that fp32 and one rounding to fp16 can
// give it. With u of fp32, gamma for sums of D (tolerance.c), A the mean of |x|, d = x - mean,
// V = variance + epsilon:
//   the mean is off by at most m = (gamma + u) A, a difference d by m + u (|d| + m);
//   the variance by (gamma + 4 u) of itself and by m^2, for the sum of all d is 0, epsilon by u;
//   so 1/sqrt(V) by half of r = gamma + 5 u + m^2/V of itself, and 2 units in the last place: 4 u;
//   two products and the sum round three times. Then comes half a step of fp16.
static void reference_of_row(const kf_run *run, int64_t row)
{
    const int D = run->shape.D;
    const kf_tensor *y = kf_find(run, "y");
    const double *x = kf_find(run, "c")->want + row * D;
    const float *gain = kf_find(run, "gain")->host;
    const float *bias = kf_find(run, "bias")->host;
    const double u = kf_unit_roundoff(KF_F32);
    const double gamma = kf_gamma(D, u);
    double sum = 0.0, magnitude = 0.0, squares = 0.0;
    for (int d = 0; d < D; d++) {
        sum += x[d];
        magnitude += fabs(x[d]);
    }
    const double mean = sum / D;
    for (int d = 0; d < D; d++) {
        squares += (x[d] - mean) * (x[d] - mean);
    }
    const double V = squares / D + 1e-5; // its own number: a mistake in EPSILON shows
    const double scale = 1.0 / sqrt(V);
    const double m = (gamma + u) * magnitude / D;
    const double off = 0.5 * (gamma + 5.0 * u + m * m / V) + 4.0 * u;
    for (int d = 0; d < D; d++) {
        const double product = (x[d] - mean) * scale * gain[d];
        const double want = product + bias[d];
        const double in_fp32 =
            fabs(gain[d]) * scale * (1.0 + off) * (m + u * (fabs(x[d] - mean) + m)) +
            fabs(product) * (off + 3.0 * u) + u * fabs(want);
        int exponent;
        frexp(fabs(want) + in_fp32, &exponent);
        y->want[row * D + d] = want;
        y->bound[row * D + d] = in_fp32 + ldexp(0.5, exponent > -13 ? exponent - 11 : -24);
    }
    y->checked[row] = true;
}

static void reference(kf_run *run)
{
    const int64_t D = run->shape.D;
    const kf_tensor *c = kf_find(run, "c");
    const float *a = kf_find(run, "a")->host + task_of(run->c)->a_row * D;
    const float *b = kf_find(run, "b")->host + task_of(run->c)->b_row * D;
    for (int64_t i = 0; i < c->count; i++) {
        c->want[i] = nearest_half((double)a[i] + (double)b[i]);
        c->bound[i] = 0.0;
    }
    for (int64_t row = 0; row < c->rows; row++) {
        c->checked[row] = true;
        if (has_norm(run->c)) {
            reference_of_row(run, row);
        }
    }
}

// With a norm: a, b, gain and bias are read, c and y written. An add is 1 flop per element, a norm
// 7: the mean 1, the variance 3, the result 3.
static kf_cost cost(const kf_case *c)
{
    const double n = (double)c->shape.B * c->shape.Sq * c->shape.D;
    const kf_cost add = {.bytes = 6.0 * n, .flops = n, .tensor_cores = false};
    const kf_cost with_norm = {
        .bytes = 8.0 * n + 4.0 * c->shape.D, .flops = 8.0 * n, .tensor_cores = false};
    return has_norm(c) ? with_norm : add;
}

enum { NUMBERS = KF_OF_PROBLEM }; // flag of a case whose numbers setup changes

static const task add = {.norm = false, .a_row = 0, .b_row = 0};
static const task add_and_norm = {.norm = true, .a_row = 0, .b_row = 0};
static const task elsewhere = {.norm = false, .a_row = 1, .b_row = 2};
static const task only_a_elsewhere = {.norm = false, .a_row = 1, .b_row = 0};
static const task only_b_elsewhere = {.norm = false, .a_row = 0, .b_row = 1};
static const task both_elsewhere = {.norm = false, .a_row = 1, .b_row = 1};
static const task near_largest = {.norm = false, .a_row = 0, .b_row = 0, .numbers = NEAR_LARGEST};
static const task far_and_norm = {.norm = true, .a_row = 0, .b_row = 0, .numbers = FAR_FROM_ZERO};
static const task near_and_norm = {.norm = true, .a_row = 0, .b_row = 0, .numbers = NEAR_ZERO};
static const task elsewhere_and_norm = {.norm = true, .a_row = 1, .b_row = 2};

#define MATRIX(rows, columns)                                                                      \
    {                                                                                              \
        .Sq = rows, .Sk = rows, .D = columns                                                       \
    }

static const kf_case cases[] = {
    {.name = "add", .shape = MATRIX(1024, 2560), .data = &add},
    {.name = "add-norm", .shape = MATRIX(1024, 2560), .data = &add_and_norm},
    {.name = "one", .shape = MATRIX(1, 1), .flags = KF_VERIFY_ONLY, .data = &add},
    {.name = "3x7", .shape = MATRIX(3, 7), .flags = KF_VERIFY_ONLY, .data = &add},
    {.name = "5x2563", .shape = MATRIX(5, 2563), .flags = KF_VERIFY_ONLY, .data = &add},
    // 256 times eight and three more: no thread of the one block is left over for those.
    {.name = "7x293", .shape = MATRIX(7, 293), .flags = KF_VERIFY_ONLY, .data = &add},
    {.name = "1023x2559", .shape = MATRIX(1023, 2559), .flags = KF_VERIFY_ONLY, .data = &add},
    {.name = "parts",
     .shape = {.B = 4, .Sq = 3, .Sk = 3, .D = 77},
     .flags = KF_VERIFY_ONLY,
     .data = &add},
    {.name = "small-parts", .shape = {.B = 9, .D = 3}, .flags = KF_VERIFY_ONLY, .data = &add},
    {.name = "elsewhere", .shape = MATRIX(5, 2563), .flags = KF_VERIFY_ONLY, .data = &elsewhere},
    {.name = "a-elsewhere",
     .shape = MATRIX(5, 2563),
     .flags = KF_VERIFY_ONLY,
     .data = &only_a_elsewhere},
    {.name = "b-elsewhere",
     .shape = MATRIX(5, 2563),
     .flags = KF_VERIFY_ONLY,
     .data = &only_b_elsewhere},
    // In every second part a and b begin at a multiple of 4 bytes, and c at none.
    {.name = "parts-elsewhere",
     .shape = {.B = 4, .Sq = 3, .Sk = 3, .D = 77},
     .flags = KF_VERIFY_ONLY,
     .data = &both_elsewhere},
    {.name = "near-65504",
     .shape = MATRIX(3, 37),
     .flags = KF_VERIFY_ONLY | NUMBERS,
     .data = &near_largest},
    {.name = "one-norm", .shape = MATRIX(1, 1), .flags = KF_VERIFY_ONLY, .data = &add_and_norm},
    {.name = "3x7-norm", .shape = MATRIX(3, 7), .flags = KF_VERIFY_ONLY, .data = &add_and_norm},
    {.name = "5x2563-norm",
     .shape = MATRIX(5, 2563),
     .flags = KF_VERIFY_ONLY,
     .data = &add_and_norm},
    // Rows begin at multiples of 8 bytes, and every second one at none of 16.
    {.name = "5x2564-norm",
     .shape = MATRIX(5, 2564),
     .flags = KF_VERIFY_ONLY,
     .data = &add_and_norm},
    {.name = "elsewhere-norm",
     .shape = MATRIX(5, 2563),
     .flags = KF_VERIFY_ONLY,
     .data = &elsewhere_and_norm},
    {.name = "mean-1900-norm",
     .shape = MATRIX(7, 61),
     .flags = KF_VERIFY_ONLY | NUMBERS,
     .data = &far_and_norm},
    {.name = "near-epsilon-norm",
     .shape = MATRIX(7, 61),
     .flags = KF_VERIFY_ONLY | NUMBERS,
     .data = &near_and_norm},
    {.name = "3x4096-norm",
     .shape = MATRIX(3, 4096),
     .flags = KF_VERIFY_ONLY,
     .data = &add_and_norm},
};

static const kf_variant variants[] = {
    {.name = "plain", .about = "one element per thread", .launch = launch<plain>},
    {.name = "half2", .about = "two elements per thread", .launch = launch<pairs>},
    {.name = "eight", .about = "eight elements per thread, in 16 bytes", .launch = launch<eight>},
    {.name = "fused",
     .about = "add and norm in one kernel",
     .launch = launch_fused,
     .applies = has_norm},
};

// The log timed this many calls in a row: the clock stream.
static const kf_timing timings[] = {
    {KF_GRAPH, KF_WARM},
    {KF_GRAPH, KF_COLD},
    {KF_STREAM, KF_WARM},
};

static const kf_question questions[] = {
    {.text =
         "Case add (1024 rows of 2560 columns): how many sectors does variant plain load, divided "
         "by the sectors that variant eight loads?",
     .figure = "global_ld_sectors",
     .case_name = "add",
     .variant = "plain",
     .over = "eight"},
    {.text = "Case add, graph clock, warm L2: how many times as fast is eight as plain?",
     .figure = "ratio",
     .case_name = "add",
     .variant = "eight"},
    {.text = "Case add-norm, graph clock, warm L2: how many times as fast is fused (one kernel) as "
             "eight (two kernels)?",
     .figure = "median_us",
     .case_name = "add-norm",
     .variant = "eight",
     .over = "fused"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "38-add-micro",
        .title = "a residual add in fp16, and which two kernels differ by 1.25",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = reference,
        .cost = cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
