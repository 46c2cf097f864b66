/* 45-what-pays: fusions that remove launches, and how far they come
 *
 * Follows: 44-amdahl
 * Architecture: 75
 * Libraries: cublasLt
 * Data: --case pythia --variant plain --variant together --out step-45-alone.tsv
 *
 * Idea     A faster add changes a share of a few hundredths. Remove launches instead: one add of
 *          three terms for two adds; the next layer's norms in the same kernel; the products in
 *          pairs, as the layer is parallel; down beside attention, on two streams or in one kernel;
 *          kernels that begin before the one in front has ended; all of it as one CUDA graph.
 * Predict  A layer is 11 launches: 10 with an add of three, 8 with the norms in it, 4 with pairs.
 *          Each launch is 2 to 3 us in which the device waits. The graph saves nothing on the
 *          device, and on a small model nearly all of the host's time. All together take at most
 *          1.4 times as long as reading the weights.
 * Outcome  As predicted in order, and below the goal. But the pairs save more, as our products of a
 *          row are faster than the library's; the graph saves on the device as well; and the one
 *          kernel saves less, but leaves a layer in one stream, where every kernel may begin early.
 */
#include "cuda/half_add.cuh"
#include "neox/calls.cuh"
#include "neox/layers.cuh"
#include "harness/problem.h"
#include "rows.cuh"

// snippet: add-three
// mlp, attention, x [count] -> y = (mlp + attention) + x, rounded after each sum, as by two kernels
// eight elements per thread; cost: 8 bytes per element, where two adds take 12
static __global__ void add_three(const half *mlp, const half *attention, const half *x, half *y,
                                 int64_t count)
{
    const int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    // solution: add-three -- both sums, each rounded to fp16, with one store
    if (i < count) {
        const struct eight branches = sum_of(load_eight(mlp + i), load_eight(attention + i));
        store_eight(y + i, sum_of(branches, load_eight(x + i)));
    }
    // end solution: add-three
}
// end snippet: add-three

static void add_three_layer(const neox_net *net, int layer, const half *x, half *y,
                            cudaStream_t stream)
{
    const int64_t count = (int64_t)net->T * net->c.hidden;
    launch_norm(net, layer, NEOX_NORM1_GAIN, x, net->normed1, stream);
    launch_attention(net, layer, net->normed1, stream);
    launch_norm(net, layer, NEOX_NORM2_GAIN, x, net->normed2, stream);
    launch_mlp(net, layer, net->normed2, stream);
    add_three<<<add_blocks(count / 8), ADD_THREADS, 0, stream>>>(net->mlp, net->attention, x, y,
                                                                 count);
    CUDA_CHECK_LAUNCH();
}

static void launch_add_three(const kf_run *run, cudaStream_t stream)
{
    launch_case(run, add_three_layer, stream);
}

// --- The add and the norms that read it ---------------------------------------------------------

// snippet: add-and-norm
// mlp, attention, x [T][hidden] -> y = (mlp + attention) + x, and the norms that read y
// one block per row, eight elements per thread; cost: 12 bytes per element, and gains and biases
static __global__ void add_and_norm(const half *mlp, const half *attention, const half *x, half *y,
                                    norm_of first, norm_of second, int hidden)
{
    const int column = threadIdx.x * 8;
    const int64_t at = (int64_t)blockIdx.x * hidden + column;
    float v[8];
    if (column < hidden) {
        const struct eight branches = sum_of(load_eight(mlp + at), load_eight(attention + at));
        const struct eight sum = sum_of(branches, load_eight(x + at));
        store_eight(y + at, sum);
        to_floats(sum, v);
    }
    norm_row(v, column < hidden, first, second, at, column, hidden);
}
// end snippet: add-and-norm

/* The norms behind layer `layer`: both norms of the next layer, or the final norm. */
static void norms_after(const neox_net *net, int layer, norm_of *first, norm_of *second)
{
    const int next = layer + 1;
    const bool last = next == net->c.layers;
    *first = last ? norm_to(net, 0, NEOX_FINAL_GAIN, net->normed1)
                  : norm_to(net, next, NEOX_NORM1_GAIN, net->normed1);
    *second = last ? no_norm : norm_to(net, next, NEOX_NORM2_GAIN, net->normed2);
}

// x of layer `layer` + 1 -> the norms that read it
static void launch_norms_after(const neox_net *net, int layer, cudaStream_t stream)
{
    norm_of first, second;
    norms_after(net, layer, &first, &second);
    norms<<<net->T, row_threads(net), 0, stream>>>(neox_x(net, layer + 1), first, second,
                                                   net->c.hidden);
    CUDA_CHECK_LAUNCH();
}

static void launch_add_and_norm(const neox_net *net, int layer, cudaStream_t stream)
{
    norm_of first, second;
    norms_after(net, layer, &first, &second);
    add_and_norm<<<net->T, row_threads(net), 0, stream>>>(
        net->mlp, net->attention, neox_x(net, layer), neox_x(net, layer + 1), first, second,
        net->c.hidden);
    CUDA_CHECK_LAUNCH();
}

// snippet: chained
// Each layer begins with its norms computed and ends with those of the next.
static void launch_normed(const kf_run *run, cudaStream_t stream)
{
    const neox_net net = neox_open(run);
    launch_embed(&net, stream);
    launch_norms_after(&net, -1, stream);
    for (int layer = 0; layer < net.c.layers; layer++) {
        launch_attention(&net, layer, net.normed1, stream);
        launch_mlp(&net, layer, net.normed2, stream);
        launch_add_and_norm(&net, layer, stream);
    }
    launch_logits(&net, stream);
    launch_arg_max(&net, stream);
}
// end snippet: chained

// --- Products in pairs --------------------------------------------------------------------------

// snippet: first-pair
// normed1, normed2 [hidden] -> qkv [3 hidden], gelu(up) [mlp], rounded as by kernels of their own
// one warp per row of either matrix; cost: 2 hidden (3 hidden + mlp) bytes
static __global__ void first_pair(const half *normed1, const half *normed2, matrix qkv, matrix up,
                                  half *qkv_out, half *up_out)
{
    const int row = blockIdx.x * ROW_WARPS + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= qkv.rows + up.rows) {
        return;
    }
    const bool of_up = row >= qkv.rows;
    const matrix m = of_up ? up : qkv;
    const int r = of_up ? row - qkv.rows : row;
    const half *w = m.w + (int64_t)r * m.columns;
    const half *x = of_up ? normed2 : normed1;
    const float bias = __half2float(m.bias[r]);
    let_next_start();
    wait_for_previous();
    const float sum = warp_sum(partial_dot(w, x, m.columns, lane * 8, 32 * 8));
    if (lane == 0) {
        const half rounded = __float2half_rn(sum + bias);
        if (of_up) {
            up_out[r] = gelu_of(rounded);
        } else {
            qkv_out[r] = rounded;
        }
    }
}
// end snippet: first-pair

// snippet: rotate-and-attend
/* Attention of the one new token: qkv [heads][3][D], tables [positions][R/2], caches
 * [heads][positions][D], context [heads][D]. */
typedef struct attention_of {
    half *qkv;
    const int *past;
    const float *cosine, *sine;
    half *keys, *values, *context;
    int heads, positions, D, R;
    float scale;
} attention_of;

// One head, by a block, which reads its new key back
static __device__ __forceinline__ void attend_head(attention_of a, int head)
{
    const int position = *a.past;
    const int64_t cache = (int64_t)head * a.positions * a.D;
    const int64_t at = cache + (int64_t)position * a.D;
    const int64_t angles = (int64_t)position * (a.R / 2);
    half *q = a.qkv + (int64_t)head * 3 * a.D;
    if ((int)threadIdx.x < a.D) {
        rotate_one(q, a.keys + at, a.values + at, a.cosine + angles, a.sine + angles, threadIdx.x,
                   a.D, a.R);
    }
    __syncthreads();
    attend(q, a.keys + cache, a.values + cache, a.context + (int64_t)head * a.D, position + 1, a.D,
           a.scale);
}

// qkv -> caches appended to, context; one block per head; cost: 4 D bytes per key and head
static __global__ void rotate_and_attend(attention_of a)
{
    attend_head(a, blockIdx.x);
}
// end snippet: rotate-and-attend

// snippet: second-pair
// context [hidden], up [mlp], x [hidden] -> y [hidden] = (down + dense) + x, rounded as before
// four warps per row, which share both products
// cost: 2 hidden (hidden + mlp) bytes
static __global__ void second_pair(const half *context, const half *up, const half *x, matrix dense,
                                   matrix down, half *y)
{
    __shared__ float partial[2][ROW_WARPS];
    const int warp = threadIdx.x / 32;
    const int row = blockIdx.x * ROWS_OF_FOUR + warp / WARPS_A_ROW;
    const bool in_rows = row < down.rows;
    const float b =
        dot_by_four(down.w + (int64_t)row * down.columns, up, down.columns, in_rows, partial[0]);
    const float a = dot_by_four(dense.w + (int64_t)row * dense.columns, context, dense.columns,
                                in_rows, partial[1]);
    if (in_rows && threadIdx.x % (WARPS_A_ROW * 32) == 0) {
        const half attention = __float2half_rn(a + __half2float(dense.bias[row]));
        const half mlp = __float2half_rn(b + __half2float(down.bias[row]));
        y[row] = __hadd(__hadd(mlp, attention), x[row]);
    }
}
// end snippet: second-pair

static void launch_first_pair(const neox_net *net, int layer, enum start start, cudaStream_t stream)
{
    const matrix qkv = part(net, layer, NEOX_QKV);
    const matrix up = part(net, layer, NEOX_UP);
    const int blocks = blocks_for(qkv.rows + up.rows, ROW_WARPS);
    rows_launch l;
    CUDA_CHECK(cudaLaunchKernelEx(rows_config(&l, start, blocks, ROW_THREADS, 0, stream),
                                  first_pair, net->normed1, net->normed2, qkv, up, net->qkv,
                                  net->up));
}

static attention_of attention(const neox_net *net, int layer)
{
    const neox_config *c = &net->c;
    return attention_of{net->qkv,
                        net->past,
                        net->cosine,
                        net->sine,
                        neox_cache(net, net->k_cache, layer),
                        neox_cache(net, net->v_cache, layer),
                        net->context,
                        c->heads,
                        c->positions,
                        net->D,
                        c->rotary,
                        1.0f / sqrtf((float)net->D)};
}

static void launch_rotate_and_attend(const neox_net *net, int layer, cudaStream_t stream)
{
    rotate_and_attend<<<net->c.heads, NEOX_THREADS, attention_memory(net), stream>>>(
        attention(net, layer));
    CUDA_CHECK_LAUNCH();
}

static void launch_second_pair(const neox_net *net, int layer, cudaStream_t stream)
{
    const matrix dense = part(net, layer, NEOX_DENSE);
    const matrix down = part(net, layer, NEOX_DOWN);
    second_pair<<<blocks_for(down.rows, ROWS_OF_FOUR), ROW_THREADS, 0, stream>>>(
        net->context, net->up, neox_x(net, layer), dense, down, neox_x(net, layer + 1));
    CUDA_CHECK_LAUNCH();
}

/* The part of a layer between its first pair and the norms of the next layer. */
typedef void second_half(const neox_net *net, int layer, enum start start, cudaStream_t stream);

static void one_after_the_other(const neox_net *net, int layer, enum start start,
                                cudaStream_t stream)
{
    (void)start;
    launch_rotate_and_attend(net, layer, stream);
    launch_second_pair(net, layer, stream);
}

// --- Down beside attention, on two streams ------------------------------------------------------

// snippet: beside
// Block `block` of down_rows' grid: up [mlp] -> mlp [hidden] = down
static __device__ __forceinline__ void down_of(const half *up, matrix down, half *mlp, int block)
{
    __shared__ float partial[ROW_WARPS];
    const int row = block * ROWS_OF_FOUR + threadIdx.x / (WARPS_A_ROW * 32);
    const bool in_rows = row < down.rows;
    const float bias = in_rows ? __half2float(down.bias[row]) : 0.0f;
    const float sum =
        dot_by_four(down.w + (int64_t)row * down.columns, up, down.columns, in_rows, partial);
    if (in_rows && threadIdx.x % (WARPS_A_ROW * 32) == 0) {
        mlp[row] = __float2half_rn(sum + bias);
    }
}

// up [mlp] -> mlp [hidden] = down; four warps per row; cost: 2 hidden mlp bytes
static __global__ void down_rows(const half *up, matrix down, half *mlp)
{
    down_of(up, down, mlp, blockIdx.x);
}

// context, mlp, x [hidden] -> y [hidden] = (mlp + dense) + x; four warps per row
// cost: 2 hidden^2 bytes
static __global__ void dense_and_sum(const half *context, const half *mlp, const half *x,
                                     matrix dense, half *y)
{
    __shared__ float partial[ROW_WARPS];
    const int row = blockIdx.x * ROWS_OF_FOUR + threadIdx.x / (WARPS_A_ROW * 32);
    const bool in_rows = row < dense.rows;
    const float bias = in_rows ? __half2float(dense.bias[row]) : 0.0f;
    let_next_start();
    wait_for_previous();
    const float sum = dot_by_four(dense.w + (int64_t)row * dense.columns, context, dense.columns,
                                  in_rows, partial);
    if (in_rows && threadIdx.x % (WARPS_A_ROW * 32) == 0) {
        const half attention = __float2half_rn(sum + bias);
        y[row] = __hadd(__hadd(mlp[row], attention), x[row]);
    }
}
// end snippet: beside

static void launch_dense_and_sum(const neox_net *net, int layer, enum start start,
                                 cudaStream_t stream)
{
    const matrix dense = part(net, layer, NEOX_DENSE);
    const int blocks = blocks_for(dense.rows, ROWS_OF_FOUR);
    rows_launch l;
    CUDA_CHECK(cudaLaunchKernelEx(rows_config(&l, start, blocks, ROW_THREADS, 0, stream),
                                  dense_and_sum, net->context, net->mlp, neox_x(net, layer), dense,
                                  neox_x(net, layer + 1)));
}

// snippet: fork
/* A second stream, whose blocks have priority, and the events that fork it from the first stream
 * and join it again. */
typedef struct fork {
    cudaStream_t side;
    cudaEvent_t begin, end;
} fork;

// Static: made by the first launch and used by all later ones.
static const fork *the_fork(void)
{
    static fork f;
    int least, greatest;
    if (!f.side) {
        CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
        CUDA_CHECK(cudaStreamCreateWithPriority(&f.side, cudaStreamNonBlocking, greatest));
        CUDA_CHECK(cudaEventCreateWithFlags(&f.begin, cudaEventDisableTiming));
        CUDA_CHECK(cudaEventCreateWithFlags(&f.end, cudaEventDisableTiming));
    }
    return &f;
}

// Attention reads little and waits a lot, down reads much: on two streams each uses what the other
// leaves free. A serial layer could not do this, for its MLP waits for attention.
static void side_by_side(const neox_net *net, int layer, enum start start, cudaStream_t stream)
{
    const fork *f = the_fork();
    const matrix down = part(net, layer, NEOX_DOWN);
    CUDA_CHECK(cudaEventRecord(f->begin, stream));
    CUDA_CHECK(cudaStreamWaitEvent(f->side, f->begin, 0));
    launch_rotate_and_attend(net, layer, f->side);
    CUDA_CHECK(cudaEventRecord(f->end, f->side));
    down_rows<<<blocks_for(down.rows, ROWS_OF_FOUR), ROW_THREADS, 0, stream>>>(net->up, down,
                                                                               net->mlp);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaStreamWaitEvent(stream, f->end, 0));
    launch_dense_and_sum(net, layer, start, stream);
}
// end snippet: fork

// --- Both in one kernel -------------------------------------------------------------------------

static_assert((int)NEOX_THREADS == (int)ROW_THREADS, "heads and rows are blocks of one launch");

// snippet: horizontal
// rotate_and_attend and down_rows in one launch: the first blocks take a head each, the others rows
// cost: 4 D bytes per key and head, 2 hidden mlp bytes. All blocks of a kernel have as many
// registers as its most demanding branch, which is attention. The launch bound limits them, so that
// as many blocks fit as the threads of an SM allow.
static __global__ void __launch_bounds__(ROW_THREADS, ROW_BLOCKS_AN_SM)
    attend_and_down(attention_of a, const half *up, matrix down, half *mlp)
{
    let_next_start();
    wait_for_previous();
    if ((int)blockIdx.x < a.heads) {
        attend_head(a, blockIdx.x);
    } else {
        down_of(up, down, mlp, (int)blockIdx.x - a.heads);
    }
}
// end snippet: horizontal

static void in_one_kernel(const neox_net *net, int layer, enum start start, cudaStream_t stream)
{
    const matrix down = part(net, layer, NEOX_DOWN);
    const int blocks = net->c.heads + blocks_for(down.rows, ROWS_OF_FOUR);
    const size_t shared = attention_memory(net);
    rows_launch l;
    CUDA_CHECK(cudaLaunchKernelEx(rows_config(&l, start, blocks, ROW_THREADS, shared, stream),
                                  attend_and_down, attention(net, layer), net->up, down, net->mlp));
    launch_dense_and_sum(net, layer, start, stream);
}

// --- A step of the model by these kernels -------------------------------------------------------

// x [hidden] -> its norms, as norms() computes them; one block, eight elements per thread
static __global__ void norms_early(const half *x, norm_of first, norm_of second, int hidden)
{
    const int column = threadIdx.x * 8;
    float v[8];
    let_next_start();
    wait_for_previous();
    if (column < hidden) {
        to_floats(load_eight(x + column), v);
    }
    norm_row(v, column < hidden, first, second, column, column, hidden);
}

static void launch_norms_early(const neox_net *net, int layer, enum start start,
                               cudaStream_t stream)
{
    norm_of first, second;
    norms_after(net, layer, &first, &second);
    rows_launch l;
    CUDA_CHECK(cudaLaunchKernelEx(rows_config(&l, start, 1, row_threads(net), 0, stream),
                                  norms_early, neox_x(net, layer + 1), first, second,
                                  net->c.hidden));
}

// x [columns] -> logits [rows], one warp per row; cost: 2 rows columns bytes
static __global__ void logit_rows(const half *x, const half *w, float *logits, int rows,
                                  int columns)
{
    const int row = blockIdx.x * ROW_WARPS + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows) {
        return;
    }
    wait_for_previous();
    const float sum =
        warp_sum(partial_dot(w + (int64_t)row * columns, x, columns, lane * 8, 32 * 8));
    if (lane == 0) {
        logits[row] = sum;
    }
}

static void launch_logit_rows(const neox_net *net, enum start start, cudaStream_t stream)
{
    const neox_config *c = &net->c;
    const int blocks = blocks_for(c->vocab, ROW_WARPS);
    const half *w = neox_weight(net, 0, c->tied ? NEOX_EMBEDDING : NEOX_OUTPUT);
    rows_launch l;
    CUDA_CHECK(cudaLaunchKernelEx(rows_config(&l, start, blocks, ROW_THREADS, 0, stream),
                                  logit_rows, net->normed1, w, net->logits, c->vocab, c->hidden));
}

template <second_half *rest, enum start start>
static void launch_paired(const kf_run *run, cudaStream_t stream)
{
    const neox_net net = neox_open(run);
    const neox_config *c = &net.c;
    launch_embed(&net, stream);
    launch_norms_early(&net, -1, SERIAL, stream);
    for (int layer = 0; layer < c->layers; layer++) {
        launch_first_pair(&net, layer, start, stream);
        rest(&net, layer, start, stream);
        launch_norms_early(&net, layer, start, stream);
    }
    launch_logit_rows(&net, start, stream);
    launch_arg_max(&net, stream);
}

// --- The same as graphs -------------------------------------------------------------------------

// snippet: replay
/* `launch` as one graph: captured at the first call with this memory, whose addresses the graph
 * holds, and replayed from then on. A stream that is being captured itself gets the kernels: a
 * graph cannot be launched into another. Static, for a launcher is given no other state that lasts
 * from one call to the next. */
template <kf_launch *launch>
static void as_graph(const kf_run *run, cudaStream_t stream)
{
    static cudaGraphExec_t replay;
    static uint64_t memory; // that the graph was captured with
    enum cudaStreamCaptureStatus status;
    CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
    if (status == cudaStreamCaptureStatusActive) {
        launch(run, stream);
        return;
    }
    if (memory != run->memory) {
        cudaStream_t side;
        CUDA_CHECK(replay ? cudaGraphExecDestroy(replay) : cudaSuccess);
        CUDA_CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
        cudaGraph_t graph = kf_capture(run, launch, side);
        CUDA_CHECK(cudaGraphInstantiate(&replay, graph, 0));
        CUDA_CHECK(cudaGraphDestroy(graph));
        CUDA_CHECK(cudaStreamDestroy(side));
        memory = run->memory;
    }
    CUDA_CHECK(cudaGraphLaunch(replay, stream));
}
// end snippet: replay

// --- Tables -------------------------------------------------------------------------------------

static void launch_plain(const kf_run *run, cudaStream_t stream)
{
    launch_case(run, parallel_layer, stream);
}

// snippet: same-bits
/* Right, and x of every layer is bit for bit what the plain path leaves. */
static bool same_bits(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    const int64_t differ = neox_other_bits(run, launch_plain);
    snprintf(why, size,
             "predicted the bits of the plain path; seen %lld of %lld elements that differ",
             (long long)differ, (long long)kf_find(run, "hidden")->count);
    return differ == 0 && kf_wrong(run, seen) == 0;
}
// end snippet: same-bits

static bool one_token(const kf_case *c)
{
    return c->shape.Sq == 1;
}

static const kf_case cases[] = {
    {.name = "tiny",
     .shape = {.H = 3, .Sq = 5, .Sk = 5, .D = 8, .R = 2, .causal = true},
     .flags = KF_VERIFY_ONLY,
     .data = &neox_tiny},
    {.name = "tiny-decode",
     .shape = {.H = 3, .Sk = 7, .D = 8, .R = 2, .causal = true},
     .flags = KF_VERIFY_ONLY,
     .data = &neox_tiny},
    {.name = "tied",
     .shape = {.H = 2, .Sk = 9, .D = 36, .R = 10, .causal = true},
     .flags = KF_VERIFY_ONLY,
     .data = &neox_tied},
    {.name = "long", // more keys than a block has threads, more tokens than it takes at once
     .shape = {.H = 2, .Sk = 300, .D = 20, .R = 4, .causal = true},
     .flags = KF_VERIFY_ONLY,
     .data = &neox_long},
    {.name = "ties",
     .shape = {.H = 3, .Sk = 3, .D = 8, .R = 2, .causal = true},
     .flags = KF_VERIFY_ONLY,
     .data = &neox_ties},
    {.name = "far",
     .shape = {.H = 3, .Sk = 3, .D = 8, .R = 2, .causal = true},
     .flags = KF_VERIFY_ONLY,
     .data = &neox_far},
    {.name = "prompt",
     .shape = {.H = 5, .Sq = 48, .Sk = 48, .D = 32, .R = 8, .causal = true},
     .flags = KF_VERIFY_ONLY | KF_LARGE,
     .data = &neox_opticks},
    {.name = "decode",
     .shape = {.H = 5, .Sk = 128, .D = 32, .R = 8, .causal = true},
     .data = &neox_opticks},
    {.name = "pythia",
     .shape = {.H = 32, .Sk = 128, .D = 80, .R = 20, .causal = true},
     .flags = KF_LARGE,
     .data = &neox_pythia},
};

static const kf_variant variants[] = {
    {.name = "plain",
     .about = "every operation a kernel, launched one by one",
     .launch = launch_plain},
    {.name = "add3",
     .about = "one add of three for two of two",
     .launch = launch_add_three,
     .predicted = same_bits},
    {.name = "add3-norm",
     .about = "the same kernel also computes the next layer's norms",
     .launch = launch_normed,
     .predicted = same_bits},
    {.name = "pairs",
     .about = "QKV with up, dense with down and the sum: two kernels",
     .launch = launch_paired<one_after_the_other, SERIAL>,
     .applies = one_token},
    {.name = "beside",
     .about = "pairs, but down runs beside attention on a second stream",
     .launch = launch_paired<side_by_side, SERIAL>,
     .applies = one_token},
    {.name = "horizontal",
     .about = "beside in one kernel: a block a head, the others rows of down",
     .launch = launch_paired<in_one_kernel, SERIAL>,
     .applies = one_token},
    {.name = "early",
     .about = "horizontal, and kernels begin before the one in front has ended",
     .launch = launch_paired<in_one_kernel, EARLY>,
     .applies = one_token},
    {.name = "graph",
     .about = "plain as one CUDA graph",
     .launch = as_graph<launch_plain>,
     .predicted = same_bits},
    {.name = "graph-add3",
     .about = "add3 as one CUDA graph",
     .launch = as_graph<launch_add_three>,
     .predicted = same_bits},
    {.name = "graph-norm",
     .about = "add3-norm as one CUDA graph",
     .launch = as_graph<launch_normed>,
     .predicted = same_bits},
    {.name = "graph-pairs",
     .about = "pairs as one CUDA graph",
     .launch = as_graph<launch_paired<one_after_the_other, SERIAL>>,
     .applies = one_token},
    {.name = "graph-beside",
     .about = "beside as one CUDA graph",
     .launch = as_graph<launch_paired<side_by_side, SERIAL>>,
     .applies = one_token},
    {.name = "graph-horizontal",
     .about = "horizontal as one CUDA graph",
     .launch = as_graph<launch_paired<in_one_kernel, SERIAL>>,
     .applies = one_token},
    {.name = "together",
     .about = "early as one CUDA graph",
     .launch = as_graph<launch_paired<in_one_kernel, EARLY>>,
     .applies = one_token},
};

static const kf_timing timings[] = {{KF_CALL, KF_WARM}, {KF_GRAPH, KF_WARM}, {KF_STREAM, KF_WARM}};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "45-what-pays",
        .title = "fusions that remove launches, and how far they come",
        .cases = cases,
        .n_cases = KF_COUNT_OF(cases),
        .variants = variants,
        .n_variants = KF_COUNT_OF(variants),
        .setup = neox_step_setup,
        .reference = neox_reference,
        .cost = neox_cost,
        .timings = timings,
        .n_timings = KF_COUNT_OF(timings),
        .reads_model = neox_reads_file,
    };
    return kf_main(&program, argc, argv);
}
