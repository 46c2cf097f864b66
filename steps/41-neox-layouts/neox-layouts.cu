/* 41-neox-layouts: what a raw pointer does not say: strides, type, stream
 *
 * Follows: 40-neox-not-called
 * Architecture: 75
 * Libraries: cublasLt
 * Tests: case odd-length also with --once
 *
 * Idea     A kernel that gets an address and a length takes the rest for granted: elements one
 *          after the other, of its own type, a multiple of eight, at a multiple of 16 bytes, and a
 *          stream on which somebody waits. A raw add meets tensors for which one of these does not
 *          hold. Beside it stand the framework's way, which follows strides, and an add that is
 *          given all of it and checks. Then all three in the model.
 * Predict  raw is right where elements lie one after the other. Elsewhere it is wrong by a rule
 *          that gives each value: 1 + 1 = 256 in bf16, and of an odd length the rest unwritten. Two
 *          bytes off, it breaks a rule that ends a program on a GPU. The checked add is right
 *          everywhere. In the model raw is right too. An add on another stream than its caller's is
 *          right in an eager program and absent from a graph, which is faster without it.
 * Outcome  As predicted. The graph without its adds gains a little, with a narrow spread, as one
 *          hopes of a better add. So our harness now poisons the outputs before a replay.
 */
#include "cuda/exact_half.cuh"
#include "neox/calls.cuh"
#include "neox/layers.cuh"

#include <cuda_bf16.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 256 };

// snippet: raw
// a, b [n] -> c [n]: addresses that are multiples of 16 bytes, n a multiple of 8, all halves
// cost: 6 n bytes, n additions
static __global__ void add_raw(const half *a, const half *b, half *c, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 8) {
        store_eight(c + 8 * i, sum_of(load_eight(a + 8 * i), load_eight(b + 8 * i)));
    }
}

static void raw_add(const void *a, const void *b, void *c, int64_t n, cudaStream_t stream)
{
    add_raw<<<blocks_for(n / 8, THREADS), THREADS, 0, stream>>>((const half *)a, (const half *)b,
                                                                (half *)c, n);
    CUDA_CHECK_LAUNCH();
}
// end snippet: raw

// --- The framework's way, and an add that looks -------------------------------------------------

// snippet: view
/* A tensor as a framework knows it. Strides are in elements. */
typedef struct view {
    void *data;
    enum kf_dtype dtype;
    int64_t rows, columns;
    int64_t row_stride, column_stride;
} view;
// end snippet: view

static view contiguous(const void *data, enum kf_dtype dtype, int64_t rows, int64_t columns)
{
    const view v = {(void *)data, dtype, rows, columns, columns, 1};
    return v;
}

// snippet: strided
static __device__ __forceinline__ half sum(half x, half y)
{
    return __hadd(x, y);
}

static __device__ __forceinline__ __nv_bfloat16 sum(__nv_bfloat16 x, __nv_bfloat16 y)
{
    return __hadd(x, y);
}

// a, b [rows][columns] -> c, each with its own strides; grid (columns, rows), a thread per element
// cost: 6 bytes per element, and more sectors than that if neighbours lie apart
template <typename T>
static __global__ void add_strided(view a, view b, view c)
{
    const int64_t i = blockIdx.y;
    const int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (j < c.columns) {
        ((T *)c.data)[i * c.row_stride + j * c.column_stride] =
            sum(((const T *)a.data)[i * a.row_stride + j * a.column_stride],
                ((const T *)b.data)[i * b.row_stride + j * b.column_stride]);
    }
}
// end snippet: strided

/* Any strides. The extents are the same in all three, and so is the type, f16 or bf16. */
static void strided_add(const view *a, const view *b, const view *c, cudaStream_t stream)
{
    const dim3 grid(blocks_for(c->columns, THREADS), (unsigned)c->rows);
    if (c->dtype == KF_F16) {
        add_strided<half><<<grid, THREADS, 0, stream>>>(*a, *b, *c);
    } else {
        add_strided<__nv_bfloat16><<<grid, THREADS, 0, stream>>>(*a, *b, *c);
    }
    CUDA_CHECK_LAUNCH();
}

// snippet: refusal
/* True if the elements lie one after the other, row by row. */
static bool is_contiguous(const view *v)
{
    bool contiguous = false;
    // solution: contiguous -- a stride over an extent of 1 is never used, and may be anything
    contiguous =
        (v->columns == 1 || v->column_stride == 1) && (v->rows == 1 || v->row_stride == v->columns);
    // end solution: contiguous
    return contiguous;
}

/* NULL if add_halves may have these views. Otherwise one line that says what is wrong and what
 * would be right, valid until the next call. */
static const char *refusal(const view *a, const view *b, const view *c)
{
    static char line[160];
    const view *all[] = {a, b, c};
    const long long rows = c->rows;
    const long long columns = c->columns;
    for (int k = 0; k < 3; k++) {
        const view v = *all[k];
        if (v.rows != rows || v.columns != columns) {
            snprintf(line, sizeof line, "%c is [%lld][%lld]; [%lld][%lld] is right", "abc"[k],
                     (long long)v.rows, (long long)v.columns, rows, columns);
            return line;
        }
        if (v.dtype != KF_F16) {
            snprintf(line, sizeof line, "%c is %s; f16 is right", "abc"[k],
                     v.dtype == KF_BF16 ? "bf16" : "of 32 bits");
            return line;
        }
        if (!is_contiguous(&v)) {
            snprintf(line, sizeof line, "%c has strides %lld, %lld; %lld, 1 is right", "abc"[k],
                     (long long)v.row_stride, (long long)v.column_stride, columns);
            return line;
        }
    }
    return NULL;
}

/* add_halves itself handles any alignment and any length. Views that it may not have are added the
 * framework's way. */
static void checked_add(const view *a, const view *b, const view *c, cudaStream_t stream)
{
    if (refusal(a, b, c) == NULL) {
        add_halves((const half *)a->data, (const half *)b->data, (half *)c->data,
                   c->rows * c->columns, stream);
    } else {
        strided_add(a, b, c, stream);
    }
}
// end snippet: refusal

// --- In the model -------------------------------------------------------------------------------

/* Both halves of a layer; its two sums remain to be done. */
static void launch_halves(const neox_net *net, int layer, const half *x, cudaStream_t stream)
{
    launch_norm(net, layer, NEOX_NORM1_GAIN, x, net->normed1, stream);
    launch_attention(net, layer, net->normed1, stream);
    launch_norm(net, layer, NEOX_NORM2_GAIN, x, net->normed2, stream);
    launch_mlp(net, layer, net->normed2, stream);
}

typedef void adder(const view *a, const view *b, const view *c, cudaStream_t stream);

/* Ignores the strides and types of the views. */
static void raw_add_of(const view *a, const view *b, const view *c, cudaStream_t stream)
{
    raw_add(a->data, b->data, c->data, c->rows * c->columns, stream);
}

// snippet: layer-with
static view activation(const neox_net *net, const half *data)
{
    return contiguous(data, KF_F16, net->T, net->c.hidden);
}

template <adder *add>
static void layer_with(const neox_net *net, int layer, const half *x, half *y, cudaStream_t stream)
{
    const view mlp = activation(net, net->mlp);
    const view attention = activation(net, net->attention);
    const view sum = activation(net, net->sum);
    const view from = activation(net, x);
    const view to = activation(net, y);
    launch_halves(net, layer, x, stream);
    add(&mlp, &attention, &sum, stream);
    add(&sum, &from, &to, stream);
}
// end snippet: layer-with

// snippet: other-stream
/* The log's add went to the default stream, whichever stream its caller used. That is not noticed
 * while all work goes to the default stream: here the caller's stream stands for it as long as it
 * is not captured. The default stream itself cannot be captured, so a program that captures uses
 * another stream. */
static cudaStream_t stream_of_the_add(cudaStream_t caller)
{
    enum cudaStreamCaptureStatus status;
    CUDA_CHECK(cudaStreamIsCapturing(caller, &status));
    return status == cudaStreamCaptureStatusNone ? caller : cudaStreamLegacy;
}

static void other_stream_layer(const neox_net *net, int layer, const half *x, half *y,
                               cudaStream_t stream)
{
    const int64_t n = (int64_t)net->T * net->c.hidden;
    launch_halves(net, layer, x, stream);
    add_halves(net->mlp, net->attention, net->sum, n, stream_of_the_add(stream));
    add_halves(net->sum, x, y, n, stream_of_the_add(stream));
}
// end snippet: other-stream

// --- Launches -----------------------------------------------------------------------------------

/* How the tensors named in `of` lie in their memory, and what follows from it. The other tensors
 * are contiguous; c has no gaps. A layout is the data of a case; a case without data is the
 * model. */
typedef struct layout {
    const char *of = "a";
    enum kf_dtype dtype = KF_F16;
    bool transposed = false;
    int64_t gap = 0;            // elements between the end of a row and the next
    int64_t offset = 0;         // elements before the first
    const void *kernel = NULL;  // that the checked add must launch
    const char *refused = NULL; // why add_halves may not have it; NULL if it may
} layout;

static const layout *layout_of(const kf_case *c)
{
    return (const layout *)c->data;
}

static bool is_model(const kf_case *c)
{
    return neox_names_model(c);
}

static view whole(const kf_run *run, const char *name)
{
    const kf_tensor *t = kf_find(run, name);
    return contiguous(t->device, t->dtype, run->shape.Sq, run->shape.D);
}

static view view_of(const kf_run *run, const char *name)
{
    const layout *l = layout_of(run->c);
    view v = whole(run, name);
    if (strstr(l->of, name) != NULL) {
        v.data = (uint16_t *)v.data + l->offset;
        v.row_stride = l->transposed ? 1 : v.columns + l->gap;
        v.column_stride = l->transposed ? v.rows : 1;
    }
    return v;
}

/* One add of a case, or all adds in the model. */
template <adder *add, neox_layer layer>
static void launch(const kf_run *run, cudaStream_t stream)
{
    if (is_model(run->c)) {
        const neox_net net = neox_open(run);
        launch_model(&net, layer, stream);
    } else {
        const view a = view_of(run, "a");
        const view b = view_of(run, "b");
        const view c = view_of(run, "c");
        add(&a, &b, &c, stream);
    }
}

static kf_launch *const launch_strided = launch<strided_add, parallel_layer>;
static kf_launch *const launch_raw = launch<raw_add_of, layer_with<raw_add_of>>;
static kf_launch *const launch_checked = launch<checked_add, layer_with<checked_add>>;
static kf_launch *const launch_other_stream = launch<checked_add, other_stream_layer>;

/* True if raw accesses would be misaligned: they would fault on a GPU, and on a CPU only a program
 * under --check goes on after one. */
static bool is_misaligned(const kf_case *c)
{
    return !is_model(c) && layout_of(c)->offset % 8 != 0;
}

/* With fewer than eight elements raw would launch no block, which is an error. */
static bool may_be_raw(const kf_case *c)
{
    return !is_misaligned(c) && (is_model(c) || c->shape.Sq * c->shape.D >= 8);
}

static bool may_fault(const kf_case *c)
{
#ifdef CPU_TRACE
    return is_misaligned(c) && cpu_instrument()->mode == CPU_CHECK;
#else
    (void)c;
    return false;
#endif
}

// --- Predictions --------------------------------------------------------------------------------

/* The sum, rounded once. A float has more than twice the digits of a bf16, so that rounding to it
 * first changes nothing (Figueroa 1995). */
static double rounded_sum(enum kf_dtype dtype, float x, float y)
{
    return dtype == KF_F16 ? nearest_half((double)x + (double)y) : kf_round_to(KF_BF16, x + y);
}

// snippet: bf16
/* The same 16 bits, read as the other type. */
static float read_as_half(__nv_bfloat16 x)
{
    return kf_unpack(KF_F16, &x, 0);
}

static float read_as_bf16(half x)
{
    return kf_unpack(KF_BF16, &x, 0);
}

/* The result of an add of halves on two bf16 numbers, read as bf16 again. */
static float sum_of_misread(float x, float y)
{
    const float sum = read_as_half(__float2bfloat16_rn(x)) + read_as_half(__float2bfloat16_rn(y));
    return read_as_bf16(__float2half_rn(sum));
}
// end snippet: bf16

static unsigned bits_of(const void *sixteen)
{
    uint16_t bits;
    memcpy(&bits, sixteen, sizeof bits);
    return bits;
}

/* Once: a prediction is made again after each way in which a variant is launched. */
static void show_bits(float x)
{
    static bool shown;
    const __nv_bfloat16 stored = __float2bfloat16_rn(x);
    const float read = read_as_half(stored);
    const half sum = __float2half_rn(read + read);
    if (!shown) {
        kf_say("    %g in bf16 is 0x%04x; read as f16 that is %g\n", x, bits_of(&stored), read);
        kf_say("    %g + %g is %g, in f16 0x%04x; read as bf16 that is %g\n", read, read,
               read + read, bits_of(&sum), sum_of_misread(x, x));
    }
    shown = true;
}

/* The first element on the host. */
static const float *first_of(const kf_run *run, const char *name)
{
    const kf_tensor *t = kf_find(run, name);
    const int64_t before = (uint16_t *)view_of(run, name).data - (uint16_t *)t->device;
    return t->host + before;
}

// snippet: predict-raw
/* Predicts that raw adds element k of the memory of a and b to give element k of c, in whole groups
 * of eight. */
static bool raw_as_predicted(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    const layout *l = layout_of(run->c);
    const float *a = first_of(run, "a");
    const float *b = first_of(run, "b");
    const kf_tensor *c = kf_find(run, "c");
    const int64_t unwritten = c->count % 8;
    int64_t wrong = unwritten;
    for (int64_t k = 0; k < c->count - unwritten; k++) {
        const double got =
            l->dtype == KF_F16 ? rounded_sum(KF_F16, a[k], b[k]) : sum_of_misread(a[k], b[k]);
        wrong += got != c->want[k];
    }
    if (l->dtype == KF_BF16) {
        show_bits(1.0f);
    }
    snprintf(why, size, "predicted %lld wrong, of them %lld unwritten; seen %lld and %lld",
             (long long)wrong, (long long)unwritten, (long long)seen->wrong,
             (long long)seen->unwritten);
    return seen->wrong == wrong && (seen->unwritten == unwritten || !run->poisoned);
}
// end snippet: predict-raw

/* The integration's test of step 40: both adds of each layer by that kernel, and in the graph. */
static bool all_adds_by(const kf_run *run, const kf_diagnosis *seen, kf_launch *launch,
                        const void *kernel, char *why, size_t size)
{
    const int due = 2 * neox_config_of(run->c).layers;
    const int calls = neox_count_calls(run, launch, kernel);
    const int64_t unwritten = neox_unwritten_by_replay(run, launch);
    snprintf(why, size,
             "predicted right, %d adds, a replay writes all; seen %d adds, %lld unwritten", due,
             calls, (long long)unwritten);
    return kf_wrong(run, seen) == 0 && calls == due && unwritten == 0;
}

static bool predict_raw(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    return is_model(run->c) ? all_adds_by(run, seen, launch_raw, (const void *)add_raw, why, size)
                            : raw_as_predicted(run, seen, why, size);
}

/* On a CPU that reports the misalignment and goes on, the values are right. */
static bool right_all_the_same(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    snprintf(why, size, "predicted right values by misaligned accesses");
    return kf_wrong(run, seen) == 0;
}

/* The number of the three places in which `other` is refused beside good views. */
static int refusals(const view *good, const view *other)
{
    return (refusal(other, good, good) != NULL) + (refusal(good, other, good) != NULL) +
           (refusal(good, good, other) != NULL);
}

/* Refusals that no case covers: other extents, 32 bits and other strides are refused in each place,
 * but a stride over an extent of 1 never is. NULL if that is so, else what is not. */
static const char *not_refused_right(const view *good)
{
    view taller = *good, wider = *good, of_32_bits = *good;
    taller.rows++;
    wider.columns++;
    wider.row_stride++;
    of_32_bits.dtype = KF_F32;
    if (refusals(good, good) != 0) {
        return "elements that follow each other are refused in another place";
    }
    if (refusals(good, &taller) != 3 || refusals(good, &wider) != 3) {
        return "other extents are not refused";
    }
    if (refusals(good, &of_32_bits) != 3) {
        return "32 bits are not refused";
    }
    // Rows with a gap, the same row again and again, and rows backwards.
    const int64_t rows[] = {good->columns + 1, 0, -good->columns};
    const int64_t columns[] = {2, 0, -1};
    for (int k = 0; k < KF_COUNT_OF(rows); k++) {
        view other_rows = *good, other_columns = *good;
        other_rows.row_stride = rows[k];
        other_columns.column_stride = columns[k];
        if (refusals(good, &other_rows) != (good->rows > 1 ? 3 : 0)) {
            return good->rows > 1 ? "rows that leave a gap, overlap or go back are not all refused"
                                  : "a stride over one row is refused, and is never used";
        }
        if (refusals(good, &other_columns) != (good->columns > 1 ? 3 : 0)) {
            return good->columns > 1
                       ? "columns that leave a gap, repeat or go back are not all refused"
                       : "a stride over one column is refused, and is never used";
        }
    }
    return NULL;
}

/* NULL if `said`, the refusal of a case, is the right one; else what would be right. */
static const char *not_as_due(const layout *l, const char *said, const view *good)
{
    if (l->refused != NULL) {
        return said != NULL && strcmp(said, l->refused) == 0 ? NULL : l->refused;
    }
    if (said != NULL) {
        return good->rows > 1 && good->columns > 1 ? "its elements follow each other"
                                                   : "its elements follow each other, and a stride "
                                                     "over an extent of 1 is never used";
    }
    return not_refused_right(good);
}

static bool predict_checked(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    if (is_model(run->c)) {
        return all_adds_by(run, seen, launch_checked, (const void *)add_eight, why, size);
    }
    const layout *l = layout_of(run->c);
    const view a = view_of(run, "a");
    const view b = view_of(run, "b");
    const view c = view_of(run, "c");
    const char *said = refusal(&a, &b, &c);
    const int calls = neox_count_calls(run, launch_checked, l->kernel);
    const view good = whole(run, "c");
    const char *due = not_as_due(l, said, &good);
    snprintf(why, size, "%s, %s%s%s%s; launches of the kernel that is due: %d",
             due ? "not as it should be" : "as it should be", said ? "refused: " : "not refused",
             said ? said : "", due ? ", but " : "", due ? due : "", calls);
    return kf_wrong(run, seen) == 0 && due == NULL && calls == 1 &&
           neox_count_calls(run, launch_checked, NULL) == 1;
}

// snippet: predict-other-stream
/* Eager, all is right. The graph lacks every add, so a replay writes no layer's x. The harness also
 * runs it in a graph: then x of the embedding is right, and that of no layer. */
static bool absent_from_graph(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    const neox_config c = neox_config_of(run->c);
    const kf_diagnosis *hidden = kf_seen(run, seen, "hidden");
    const int64_t due = (int64_t)c.layers * run->shape.Sq * c.hidden;
    const int adds = neox_count_calls(run, launch_other_stream, (const void *)add_eight);
    const int less = neox_count_calls(run, launch_strided, NULL) -
                     neox_count_calls(run, launch_other_stream, NULL);
    const int64_t unwritten = neox_unwritten_by_replay(run, launch_other_stream);
    const bool as_replayed = hidden->wrong_at[0][0] == 0 && hidden->nonfinite == due;
    snprintf(why, size,
             "predicted %d launches less in the graph, no add, %lld elements left out by a replay; "
             "seen %d, %d, %lld",
             2 * c.layers, (long long)due, less, adds, (long long)unwritten);
    return (kf_wrong(run, seen) == 0 || as_replayed) && adds == 0 && less == 2 * c.layers &&
           unwritten == due;
}
// end snippet: predict-other-stream

// --- Tables -------------------------------------------------------------------------------------

static void setup_add(kf_run *run)
{
    const layout *l = layout_of(run->c);
    const int64_t dim[] = {run->shape.Sq, run->shape.D};
    const int64_t count = dim[0] * dim[1];
    const int64_t laid_out = l->offset + dim[0] * (dim[1] + l->gap);
    const char *const inputs[] = {"a", "b"};
    for (const char *name : inputs) {
        kf_input(run, name, "D", l->dtype, strstr(l->of, name) != NULL ? &laid_out : &count);
    }
    kf_output(run, "c", "SD", l->dtype, dim);
}

static void reference_of_add(kf_run *run)
{
    const kf_tensor *c = kf_find(run, "c");
    const view of_a = view_of(run, "a");
    const view of_b = view_of(run, "b");
    const view of_c = view_of(run, "c");
    const float *a = first_of(run, "a");
    const float *b = first_of(run, "b");
    for (int64_t k = 0; k < c->count; k++) {
        const int64_t i = k / of_c.columns;
        const int64_t j = k % of_c.columns;
        const float x = a[i * of_a.row_stride + j * of_a.column_stride];
        const float y = b[i * of_b.row_stride + j * of_b.column_stride];
        const int64_t to = i * of_c.row_stride + j * of_c.column_stride;
        c->want[to] = rounded_sum(of_c.dtype, x, y);
        c->bound[to] = 0.0;
    }
    memset(c->checked, true, (size_t)c->rows * sizeof *c->checked);
}

static void setup(kf_run *run)
{
    if (is_model(run->c)) {
        neox_step_setup(run);
    } else {
        setup_add(run);
    }
}

static void reference(kf_run *run)
{
    if (is_model(run->c)) {
        neox_reference(run);
    } else {
        reference_of_add(run);
    }
}

static kf_cost cost(const kf_case *c)
{
    const double n = (double)c->shape.Sq * c->shape.D;
    const kf_cost add = {.bytes = 6.0 * n, .flops = n, .tensor_cores = false};
    return is_model(c) ? neox_cost(c) : add;
}

static const layout in_order = {.kernel = (const void *)add_eight};
static const layout permuted = {.transposed = true,
                                .kernel = (const void *)add_strided<half>,
                                .refused = "a has strides 1, 64; 160, 1 is right"};
static const layout sliced = {.gap = 32,
                              .kernel = (const void *)add_strided<half>,
                              .refused = "a has strides 192, 1; 160, 1 is right"};
static const layout permuted_b = {.of = "b",
                                  .transposed = true,
                                  .kernel = (const void *)add_strided<half>,
                                  .refused = "b has strides 1, 24; 40, 1 is right"};
static const layout permuted_c = {.of = "c",
                                  .transposed = true,
                                  .kernel = (const void *)add_strided<half>,
                                  .refused = "c has strides 1, 24; 40, 1 is right"};
static const layout permuted_all = {.of = "abc",
                                    .transposed = true,
                                    .kernel = (const void *)add_strided<half>,
                                    .refused = "a has strides 1, 24; 40, 1 is right"};
static const layout sliced_b = {.of = "b",
                                .gap = 32,
                                .kernel = (const void *)add_strided<half>,
                                .refused = "b has strides 72, 1; 40, 1 is right"};
static const layout sliced_both = {.of = "ab",
                                   .gap = 32,
                                   .kernel = (const void *)add_strided<half>,
                                   .refused = "a has strides 72, 1; 40, 1 is right"};
static const layout one_row = {.gap = 32, .kernel = (const void *)add_eight};
static const layout one_column = {.transposed = true, .kernel = (const void *)add_eight};
static const layout misaligned = {.offset = 1, .kernel = (const void *)add_plain};
static const layout by_eight = {.offset = 4, .kernel = (const void *)add_plain}; // bytes
static const layout bf16 = {.dtype = KF_BF16,
                            .kernel = (const void *)add_strided<__nv_bfloat16>,
                            .refused = "a is bf16; f16 is right"};

#define MATRIX(rows, columns)                                                                      \
    {                                                                                              \
        .Sq = rows, .Sk = rows, .D = columns                                                       \
    }

static const kf_case cases[] = {
    {.name = "contiguous", .shape = MATRIX(64, 160), .flags = KF_VERIFY_ONLY, .data = &in_order},
    {.name = "view", .shape = MATRIX(160, 64), .flags = KF_VERIFY_ONLY, .data = &in_order},
    {.name = "permuted", .shape = MATRIX(64, 160), .flags = KF_VERIFY_ONLY, .data = &permuted},
    {.name = "sliced", .shape = MATRIX(64, 160), .flags = KF_VERIFY_ONLY, .data = &sliced},
    {.name = "permuted-b", .shape = MATRIX(24, 40), .flags = KF_VERIFY_ONLY, .data = &permuted_b},
    {.name = "permuted-c", .shape = MATRIX(24, 40), .flags = KF_VERIFY_ONLY, .data = &permuted_c},
    {.name = "permuted-all",
     .shape = MATRIX(24, 40),
     .flags = KF_VERIFY_ONLY,
     .data = &permuted_all},
    {.name = "sliced-b", .shape = MATRIX(24, 40), .flags = KF_VERIFY_ONLY, .data = &sliced_b},
    {.name = "sliced-both", .shape = MATRIX(24, 40), .flags = KF_VERIFY_ONLY, .data = &sliced_both},
    {.name = "one-row", .shape = MATRIX(1, 160), .flags = KF_VERIFY_ONLY, .data = &one_row},
    {.name = "one-column", .shape = MATRIX(160, 1), .flags = KF_VERIFY_ONLY, .data = &one_column},
    {.name = "one-element", .shape = MATRIX(1, 1), .flags = KF_VERIFY_ONLY, .data = &one_row},
    {.name = "odd-length", .shape = MATRIX(37, 77), .flags = KF_VERIFY_ONLY, .data = &in_order},
    {.name = "rest-of-four", .shape = MATRIX(5, 4), .flags = KF_VERIFY_ONLY, .data = &in_order},
    {.name = "misaligned", .shape = MATRIX(64, 160), .flags = KF_VERIFY_ONLY, .data = &misaligned},
    {.name = "misaligned-8", .shape = MATRIX(24, 40), .flags = KF_VERIFY_ONLY, .data = &by_eight},
    {.name = "bf16", .shape = MATRIX(64, 160), .flags = KF_VERIFY_ONLY, .data = &bf16},
    {.name = "tiny",
     .shape = {.H = 3, .Sq = 5, .Sk = 5, .D = 8, .R = 2, .causal = true},
     .flags = KF_VERIFY_ONLY,
     .data = &neox_tiny},
    {.name = "tied",
     .shape = {.H = 2, .Sq = 3, .Sk = 9, .D = 36, .R = 10, .causal = true},
     .flags = KF_VERIFY_ONLY,
     .data = &neox_tied},
    {.name = "decode",
     .shape = {.H = 5, .Sk = 128, .D = 32, .R = 8, .causal = true},
     .data = &neox_opticks},
    {.name = "pythia",
     .shape = {.H = 32, .Sk = 128, .D = 80, .R = 20, .causal = true},
     .flags = KF_LARGE,
     .data = &neox_pythia},
};

static const kf_variant variants[] = {
    {.name = "strided",
     .about = "the framework's way: an element a thread, by strides",
     .launch = launch_strided},
    {.name = "raw",
     .about = "addresses and a length, eight a thread",
     .launch = launch_raw,
     .applies = may_be_raw,
     .predicted = predict_raw},
    {.name = "raw-misaligned",
     .about = "the same, from an address it may not load from",
     .launch = launch_raw,
     .applies = may_fault,
     .predicted = right_all_the_same,
     .finding = "misaligned"},
    {.name = "checked",
     .about = "told strides and type; refuses or handles",
     .launch = launch_checked,
     .predicted = predict_checked},
    {.name = "other-stream",
     .about = "the adds on the default stream",
     .launch = launch_other_stream,
     .applies = is_model,
     .predicted = absent_from_graph},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}, {KF_STREAM, KF_WARM}};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "41-neox-layouts",
        .title = "what a raw pointer does not say: strides, type, stream",
        .cases = cases,
        .n_cases = KF_COUNT_OF(cases),
        .variants = variants,
        .n_variants = KF_COUNT_OF(variants),
        .setup = setup,
        .reference = reference,
        .cost = cost,
        .timings = timings,
        .n_timings = KF_COUNT_OF(timings),
        .reads_model = neox_reads_file,
    };
    return kf_main(&program, argc, argv);
}
