/* 45-what-pays: fusions that remove launches, and how far they come
 *
 * Follows: 44-amdahl
 * Architecture: 75
 * Libraries: cublasLt
 * Data: --case pythia --variant plain --variant together --out step-45-alone.tsv
 *
 * Idea     A faster add changes a share of a few hundredths. Remove launches instead, in rungs a
 *          to f: one add of three terms; the next layer's norms in the same kernel; the products in
 *          pairs, for a parallel layer; down beside attention on two streams; both in one kernel;
 *          kernels that begin before the one in front has ended. And each as a CUDA graph.
 * Predict  A layer is 11 kernels, without cuBLAS's second one for a product: 10 with an add of
 *          three, 8 with the norms in it, 4 with pairs. By the rows of the ceilings a launch less
 *          is 0.74 us in a graph, and a graph saves 0.86 us per kernel. The goal for all together:
 *          at most 1.4 times the limit, weights and cache at the rate of a copy.
 * Outcome  The goal is met, and the graph saves as the rows say. An add or a norm less saves more:
 *          each takes longer than a kernel of one thread, we think. The pairs save most, we think
 *          because our products of a row are faster than the library's.
 *          The one kernel leaves a layer in one stream, where every kernel may begin early.
 */
#include "a-add-three.cuh"
#include "b-add-and-norm.cuh"
#include "c-pairs.cuh"
#include "d-beside.cuh"
#include "e-one-kernel.cuh"
#include "one_token.cuh"
#include "harness/problem.h"
#include "neox/calls.cuh"

// snippet: replay
/* `launch` as one graph. The graph holds addresses, so it is captured at the first call with this
 * memory, and replayed from then on. If the stream itself is being captured, it gets the kernels: a
 * graph cannot be launched into another. Both variables are static because a launcher has no
 * other place to keep something from one call to the next. */
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
        const cudaGraph_t graph = neox_captured(run, launch);
        CUDA_CHECK(replay ? cudaGraphExecDestroy(replay) : cudaSuccess);
        CUDA_CHECK(cudaGraphInstantiate(&replay, graph, 0));
        CUDA_CHECK(cudaGraphDestroy(graph));
        memory = run->memory;
    }
    CUDA_CHECK(cudaGraphLaunch(replay, stream));
}
// end snippet: replay

// --- Tables -------------------------------------------------------------------------------------

// snippet: same-bits
/* Right, and x of every layer is bit for bit what the plain path leaves. */
static bool same_bits(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    const int64_t differ = neox_other_bits(run, launch_case<parallel_layer>);
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
    NEOX_TINY("tiny", 5, 5, KF_VERIFY_ONLY), // new tokens, positions
    NEOX_TINY("tiny-decode", 1, 7, KF_VERIFY_ONLY),
    NEOX_TIED("tied", 1, 9, KF_VERIFY_ONLY),
    // more keys than a block has threads, more tokens than it takes at once
    NEOX_LONG("long", 1, 300, KF_VERIFY_ONLY),
    NEOX_TIES("ties", 1, 3, KF_VERIFY_ONLY),
    NEOX_FAR("far", 1, 3, KF_VERIFY_ONLY),
    // more columns than a block has threads, and than four warps take at once
    NEOX_WIDE("wide", 1, 4, KF_VERIFY_ONLY),
    NEOX_OPTICKS("prompt", 48, 48, KF_VERIFY_ONLY | KF_LARGE),
    NEOX_OPTICKS("decode", 1, 128, 0),
    NEOX_PYTHIA("pythia", 1, 128, KF_LARGE),
};

// add3 is rung a, add3-norm b, pairs c, beside d, horizontal e, early f, which is e begun early and
// has no file of its own; together is f as a graph.
static const kf_variant variants[] = {
    {.name = "plain",
     .about = "one kernel per operation, launched one by one",
     .launch = launch_case<parallel_layer>},
    {.name = "add3",
     .about = "one add of three for two of two",
     .launch = launch_case<add_three_layer>,
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
     .about = "beside in one kernel: one block per head, the others rows of down",
     .launch = launch_paired<in_one_kernel, SERIAL>,
     .applies = one_token},
    {.name = "early",
     .about = "horizontal, and kernels begin before the one in front has ended",
     .launch = launch_paired<in_one_kernel, EARLY>,
     .applies = one_token},
    {.name = "graph",
     .about = "plain as one CUDA graph",
     .launch = as_graph<launch_case<parallel_layer>>,
     .predicted = same_bits},
    {.name = "graph-add3",
     .about = "add3 as one CUDA graph",
     .launch = as_graph<launch_case<add_three_layer>>,
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

static const kf_question questions[] = {
    {.text = "In case decode (one token, 6 layers), how many kernels does pairs launch in all?",
     .figure = "launches",
     .case_name = "decode",
     .variant = "pairs"},
    {.text = "In case pythia, on the call clock, how many times as fast as plain is graph?",
     .figure = "ratio",
     .case_name = "pythia",
     .variant = "graph"},
    {.text =
         "In case pythia, on the call clock, how many times the limit, the time to read weights "
         "and cache once, does a decode step of together take?",
     .figure = "median_us/limit_us",
     .case_name = "pythia",
     .variant = "together"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "45-what-pays",
        .title = "fusions that remove launches, and how far they come",
        KF_TABLES(cases, variants),
        .setup = neox_step_setup,
        .reference = neox_reference,
        .cost = neox_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
        .reads_model = neox_reads_file,
    };
    return kf_main(&program, argc, argv);
}
