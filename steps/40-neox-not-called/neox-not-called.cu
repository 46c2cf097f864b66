/* 40-neox-not-called: an integration that never calls the new kernel
 *
 * Follows: 39-add-decode
 * Architecture: 75
 * Libraries: cublasLt
 * Tests: no kernel of its own; also on aarch64
 *
 * Idea     A small GPT-NeoX decodes a token. Each layer ends with two plain adds, which the add of
 *          step 38 is to replace. Three integrations try that. not-called: the layer was copied in
 *          order to be changed, and its two adds were not. miscounted: the layer calls a wrapper,
 *          which counts its calls and gives small tensors to the plain add. called: both adds are
 *          the new kernel. A test counts each kernel's launches in a CUDA graph of one call.
 * Predict  All outputs are right, so no check of outputs finds anything. The test finds 0 launches
 *          of the new kernel in not-called, and 2 per layer in called, where no plain add is left.
 *          In miscounted the wrapper says 2 per layer; the graph says 0 for one token, and 2
 *          per layer for a prompt of 48. All take the time of plain, called within 2%: for one row
 *          either add is mostly launch overhead.
 * Outcome  As predicted, in the medians on each clock. Of outputs, times and launches, only the
 *          launches tell the three apart.
 */
#include "neox/calls.cuh"
#include "neox/layers.cuh"

#include <stdio.h>
#include <string.h>

// The layer, copied to be changed: the new add should do the two sums at its end.
static void copied_layer(const neox_net *net, int layer, const half *x, half *y,
                         cudaStream_t stream)
{
    launch_branches(net, layer, x, stream);
    launch_add(net, net->mlp, net->attention, net->sum, stream);
    launch_add(net, net->sum, x, y, stream);
}

// snippet: miscounted
// From this many elements on, eight per thread were faster in the benchmark.
enum { WORTH_IT = 4096 };

static int fast_adds; // meant as the proof that the new add is used

static void fast_add(const neox_net *net, const half *a, const half *b, half *c,
                     cudaStream_t stream)
{
    const int64_t n = (int64_t)net->T * net->c.hidden;
    fast_adds++;
    if (n >= WORTH_IT) {
        add_halves(a, b, c, n, stream);
    } else {
        launch_add(net, a, b, c, stream);
    }
}
// end snippet: miscounted

static void miscounted_layer(const neox_net *net, int layer, const half *x, half *y,
                             cudaStream_t stream)
{
    launch_branches(net, layer, x, stream);
    fast_add(net, net->mlp, net->attention, net->sum, stream);
    fast_add(net, net->sum, x, y, stream);
}

// snippet: called
static void called_layer(const neox_net *net, int layer, const half *x, half *y,
                         cudaStream_t stream)
{
    const int64_t n = (int64_t)net->T * net->c.hidden;
    launch_branches(net, layer, x, stream);
    // solution: called -- both sums of the layer, in the order of copied_layer, by add_halves
    // hint: Each sum is rounded to fp16, so only the same order gives the same bits. Which two
    //     tensors does copied_layer add first, and where does it leave the sum?
    // hint: add_halves takes two terms, the sum, the number of elements and the stream. The terms
    //     of the first call are net->mlp and net->attention, and n is the number of elements.
    // hint: The second call is `add_halves(net->sum, x, y, n, stream);`.
    add_halves(net->mlp, net->attention, net->sum, n, stream);
    add_halves(net->sum, x, y, n, stream);
    // end solution: called
}
// end snippet: called

// --- The test -----------------------------------------------------------------------------------

// snippet: predict
// The test that every integration of a kernel must pass: the new kernel is launched `due` times,
// the plain one for the other adds; no launch was added or has vanished; a replay omits nothing.
static bool launches(const kf_run *run, kf_launch *changed, int due, char *why, size_t size)
{
    kf_launch *const before = launch_case<parallel_layer>;
    const int adds = 2 * neox_config_of(run->c).layers;
    const int calls = neox_count_calls(run, changed, (const void *)add_eight);
    const int plain = neox_count_calls(run, changed, (const void *)add_plain);
    const int plain_adds = neox_count_calls(run, before, (const void *)add_plain);
    const int more = neox_count_calls(run, changed, NULL) - neox_count_calls(run, before, NULL);
    const int64_t unwritten = neox_unwritten_by_replay(run, changed);
    snprintf(why, size,
             "predicted %d launches of the new kernel and %d plain adds; seen %d and %d (plain has "
             "%d; launches in all %+d; left out by a replay: %lld)",
             due, adds - due, calls, plain, plain_adds, more, (long long)unwritten);
    if (plain_adds != adds) {
        const size_t length = strlen(why);
        snprintf(why + length, size - length,
                 "; plain is at fault, not this variant: %d plain adds are right in it", adds);
    }
    return calls == due && plain == adds - due && plain_adds == adds && more == 0 && unwritten == 0;
}
// end snippet: predict

static bool never(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    return launches(run, launch_case<copied_layer>, 0, why, size) && kf_wrong(run, seen) == 0;
}

// The new add rounds as the old one does: in the same order it gives the same bits.
static bool always(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    const int due = 2 * neox_config_of(run->c).layers;
    const bool as_expected = launches(run, launch_case<called_layer>, due, why, size);
    const int64_t other = neox_other_bits(run, launch_case<parallel_layer>);
    const size_t length = strlen(why);
    if (other > 0 && kf_wrong(run, seen) == 0) {
        // The copied layer adds in plain's order: if called has its bits, plain has others.
        const bool is_plain = neox_other_bits(run, launch_case<copied_layer>) == 0;
        snprintf(why + length, size - length,
                 "; right, but %lld elements of x have other bits than plain's: %s adds in another "
                 "order",
                 (long long)other, is_plain ? "plain is at fault, not this variant, and" : "it");
    }
    return as_expected && other == 0 && kf_wrong(run, seen) == 0;
}

// The wrapper's own count is 2 per layer, whichever kernel it launched.
static bool says_always(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    const neox_config c = neox_config_of(run->c);
    const bool large = run->shape.Sq * c.hidden >= WORTH_IT;
    char seen_in_graph[384];
    fast_adds = 0;
    CUDA_CHECK(cudaGraphDestroy(neox_captured(run, launch_case<miscounted_layer>)));
    const int said = fast_adds;
    const bool as_expected = launches(run, launch_case<miscounted_layer>, large ? 2 * c.layers : 0,
                                      seen_in_graph, sizeof seen_in_graph);
    snprintf(why, size, "the wrapper counted %d; %s", said, seen_in_graph);
    return as_expected && said == 2 * c.layers && kf_wrong(run, seen) == 0;
}

// --- Tables -------------------------------------------------------------------------------------

static const kf_case cases[] = {
    NEOX_TINY("tiny", 5, 5, KF_VERIFY_ONLY),
    NEOX_TINY("tiny-decode", 1, 7, KF_VERIFY_ONLY),
    NEOX_TIED("tied", 3, 9, KF_VERIFY_ONLY),
    // More keys than a block has threads, and more tokens than it takes at once
    NEOX_LONG("long", 1, 300, KF_VERIFY_ONLY),
    NEOX_TIES("ties", 1, 3, KF_VERIFY_ONLY),
    NEOX_FAR("far", 2, 3, KF_VERIFY_ONLY),
    NEOX_MADE("made", 1, 3, KF_VERIFY_ONLY),
    NEOX_OPTICKS("prompt", 48, 48, KF_VERIFY_ONLY | KF_LARGE),
    NEOX_OPTICKS("decode", 1, 128, 0),
    NEOX_PYTHIA("pythia", 1, 128, KF_LARGE),
};

static const kf_variant variants[] = {
    {.name = "plain",
     .about = "every operation is a kernel",
     .launch = launch_case<parallel_layer>},
    {.name = "not-called",
     .about = "a copy of the layer, whose adds were never changed",
     .launch = launch_case<copied_layer>,
     .predicted = never},
    {.name = "miscounted",
     .about = "a wrapper that counts its calls, and launches the plain add",
     .launch = launch_case<miscounted_layer>,
     .predicted = says_always},
    {.name = "called",
     .about = "both adds by the new kernel",
     .launch = launch_case<called_layer>,
     .predicted = always},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}, {KF_STREAM, KF_WARM}, {KF_CALL, KF_WARM}};

static const kf_question questions[] = {
    {.text = "In case decode (one token, 6 layers), how many times does the variant miscounted "
             "launch add_plain?",
     .figure = "launches",
     .case_name = "decode",
     .variant = "miscounted",
     .kernel = "add_plain"},
    {.text =
         "In case decode, how many of the compared outputs are wrong in the variant not-called?",
     .figure = "wrong",
     .case_name = "decode",
     .variant = "not-called"},
    {.text =
         "In case pythia, on the graph clock, how many times as fast as the variant plain is the "
         "variant called?",
     .figure = "ratio",
     .case_name = "pythia",
     .variant = "called"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "40-neox-not-called",
        .title = "an integration that never calls the new kernel",
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
