/* 39-add-decode: the same add on one row, where the launch takes the time
 *
 * Follows: 38-add-micro
 * Architecture: 75
 * Tests: no kernel of its own
 *
 * Idea     A model that writes one token at a time adds one row, [1, 1, 2560], not 1024. Step 38's
 *          kernels at that size and at every power of two up to 4096 rows, on the three clocks. And
 *          64 adds in a row, two for each of 32 layers, each on the sum before it: launched one by
 *          one, and as a CUDA graph, which the host launches once.
 * Predict  A row is 15 KB of traffic, 4 ns at the copy bandwidth: only launches count. Graph:
 *          0.7 to 1.3 us, and for many rows 1.3 us and the bytes. Stream: 3.4 us, which the host
 *          needs, or what the device needs, whichever is longer. Call: 8.0 us and the time on the
 *          graph clock. 64 adds on the stream clock: 220 us one by one, 47 to 82 us as a graph.
 * Outcome  The predictions hold for one row and for 64 adds. On the stream clock 512 rows take
 *          longer than predicted, but not as a graph of one kernel. For 64 adds a graph saves most
 *          of a token's time. One row costs about the same however it is added.
 */
#include "cuda/exact_half.cuh"
#include "cuda/half_add.cuh"
#include "harness/problem.h"

typedef void adder(const __half *a, const __half *b, __half *c, int64_t n, cudaStream_t stream);

static void plain(const __half *a, const __half *b, __half *c, int64_t n, cudaStream_t stream)
{
    add_plain<<<add_blocks(n), ADD_THREADS, 0, stream>>>(a, b, c, n);
    CUDA_CHECK_LAUNCH();
}

// snippet: chain
// c = a + b[0] + b[1] + ..., with `adds` additions of n elements each
typedef struct chain {
    const __half *a, *b;
    __half *c;
    int64_t n, adds;
} chain;

// a [n], b [adds][n] -> c [n]; every add but the first adds to c, in place
// cost: adds launches, 6 n bytes each
template <adder *add>
static void enqueue(chain x, cudaStream_t stream)
{
    add(x.a, x.b, x.c, x.n, stream);
    for (int64_t k = 1; k < x.adds; k++) {
        add(x.c, x.b + k * x.n, x.c, x.n, stream);
    }
}
// end snippet: chain

static chain chain_of(const kf_run *run)
{
    const chain x = {
        .a = (const __half *)kf_memory(run, "a", KF_F16),
        .b = (const __half *)kf_memory(run, "b", KF_F16),
        .c = (__half *)kf_memory(run, "c", KF_F16),
        .n = (int64_t)run->shape.Sq * run->shape.D,
        .adds = run->shape.B,
    };
    return x;
}

template <adder *add>
static void launch(const kf_run *run, cudaStream_t stream)
{
    enqueue<add>(chain_of(run), stream);
}

// snippet: graph
// Records the launches of a chain as one graph. One launch of the graph runs all its kernels.
static cudaGraphExec_t recorded(chain x, cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t replay = NULL;
    // solution: graph -- capture the chain on the stream, and make an executable graph of it
    // hint: Launches on a stream that is being captured are recorded and do not run. Which calls of
    //     the CUDA runtime begin a capture, end it with a graph, and make an executable graph of
    //     that one?
    // hint: Between beginning and end stands `enqueue<add_halves>(x, stream);`. The end of the
    //     capture gives graph, and the last call makes replay of it. CUDA_CHECK surrounds each call
    //     of the runtime.
    // hint: The first line is
    //     `CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));`. The
    //     other two calls are cudaStreamEndCapture and cudaGraphInstantiate, with flags 0.
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    enqueue<add_halves>(x, stream);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(&replay, graph, 0));
    // end solution: graph
    CUDA_CHECK(cudaGraphDestroy(graph));
    return replay;
}

// The static variables keep the graph from call to call. A graph contains
// the addresses of its arrays, so it is recorded again if the arrays have
// other memory. On the clock `graph` the harness records this
// function. A launch of a graph cannot be recorded, so on that clock the
// kernels are launched one by one.
static void launch_graph(const kf_run *run, cudaStream_t stream)
{
    static cudaGraphExec_t kept;
    static uint64_t kept_for; // run->memory
    const chain x = chain_of(run);
    enum cudaStreamCaptureStatus status;
    CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
    if (status != cudaStreamCaptureStatusNone) {
        enqueue<add_halves>(x, stream);
        return;
    }
    if (kept == NULL || kept_for != run->memory) {
        if (kept != NULL) {
            CUDA_CHECK(cudaGraphExecDestroy(kept));
        }
        kept = recorded(x, stream);
        kept_for = run->memory;
    }
    CUDA_CHECK(cudaGraphLaunch(kept, stream));
}
// end snippet: graph

// --- Tables -------------------------------------------------------------------------------------

enum { NEAR_LARGEST = KF_OF_PROBLEM }; // flag of a case: sums come near the largest number

static void setup(kf_run *run)
{
    const int64_t dim[3] = {run->shape.B, run->shape.Sq, run->shape.D};
    kf_tensor *a = kf_input(run, "a", "SD", KF_F16, dim + 1);
    kf_tensor *b = kf_input(run, "b", "BSD", KF_F16, dim);
    kf_output(run, "c", "SD", KF_F16, dim + 1);
    if (run->c->flags & NEAR_LARGEST) {
        fill_near_largest(a->host, b->host, a->count);
    }
}

// Each add rounds, and the next add begins with the rounded sum.
static void reference(kf_run *run)
{
    const float *a = kf_find(run, "a")->host;
    const float *b = kf_find(run, "b")->host;
    const kf_tensor *c = kf_find(run, "c");
    for (int64_t i = 0; i < c->count; i++) {
        double sum = a[i];
        for (int64_t k = 0; k < run->shape.B; k++) {
            sum = nearest_half(sum + (double)b[k * c->count + i]);
        }
        c->want[i] = sum;
        c->bound[i] = 0.0;
    }
    for (int64_t row = 0; row < c->rows; row++) {
        c->checked[row] = true;
    }
}

// The cost of adds one by one: in a model other work stands between them.
static kf_cost cost(const kf_case *c)
{
    const double n = (double)c->shape.B * c->shape.Sq * c->shape.D;
    return {.bytes = 6.0 * n, .flops = n, .tensor_cores = false};
}

// S rows, B adds. 64 are two for each of 32 layers.
static const kf_case cases[] = {
    {.name = "rows-1", .shape = {.D = 2560}},
    {.name = "rows-2", .shape = {.Sq = 2, .Sk = 2, .D = 2560}},
    {.name = "rows-4", .shape = {.Sq = 4, .Sk = 4, .D = 2560}},
    {.name = "rows-8", .shape = {.Sq = 8, .Sk = 8, .D = 2560}},
    {.name = "rows-16", .shape = {.Sq = 16, .Sk = 16, .D = 2560}},
    {.name = "rows-32", .shape = {.Sq = 32, .Sk = 32, .D = 2560}},
    {.name = "rows-64", .shape = {.Sq = 64, .Sk = 64, .D = 2560}},
    {.name = "rows-128", .shape = {.Sq = 128, .Sk = 128, .D = 2560}},
    {.name = "rows-256", .shape = {.Sq = 256, .Sk = 256, .D = 2560}},
    {.name = "rows-512", .shape = {.Sq = 512, .Sk = 512, .D = 2560}, .flags = KF_LARGE},
    {.name = "rows-1024", .shape = {.Sq = 1024, .Sk = 1024, .D = 2560}, .flags = KF_LARGE},
    {.name = "rows-2048", .shape = {.Sq = 2048, .Sk = 2048, .D = 2560}, .flags = KF_LARGE},
    {.name = "rows-4096", .shape = {.Sq = 4096, .Sk = 4096, .D = 2560}, .flags = KF_LARGE},
    {.name = "token", .shape = {.B = 64, .D = 2560}},
    {.name = "odd-token", .shape = {.B = 5, .D = 2557}, .flags = KF_VERIFY_ONLY},
    {.name = "one", .shape = {}, .flags = KF_VERIFY_ONLY},
    {.name = "near-65504", .shape = {.D = 77}, .flags = KF_VERIFY_ONLY | NEAR_LARGEST},
    {.name = "three-of-three", .shape = {.B = 3, .D = 3}, .flags = KF_VERIFY_ONLY},
};

static const kf_variant variants[] = {
    {.name = "plain", .about = "one element per thread", .launch = launch<plain>},
    {.name = "eight", .about = "eight elements per thread", .launch = launch<add_halves>},
    {.name = "graphed",
     .about = "eight elements per thread, all of the call one graph",
     .launch = launch_graph},
};

static const kf_timing timings[] = {
    {KF_GRAPH, KF_WARM},
    {KF_GRAPH, KF_COLD},
    {KF_STREAM, KF_WARM},
    {KF_CALL, KF_WARM},
};

static const kf_question questions[] = {
    {.text = "Case token (64 adds of one row): how many kernels run in one call of graphed?",
     .figure = "launches",
     .case_name = "token",
     .variant = "graphed"},
    {.text =
         "Case rows-1 (one row of 2560 columns), graph clock, warm L2: how many microseconds does "
         "eight take?",
     .figure = "median_us",
     .case_name = "rows-1",
     .variant = "eight",
     .unit = "us"},
    {.text = "Case token (64 adds of one row), call clock: how many times as fast is graphed as "
             "eight?",
     .figure = "median_us",
     .case_name = "token",
     .variant = "eight",
     .over = "graphed",
     .timing = &timings[3]},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "39-add-decode",
        .title = "the same add on one row, where the launch takes the time",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = reference,
        .cost = cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
