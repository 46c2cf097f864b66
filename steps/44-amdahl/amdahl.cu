/* 44-amdahl: where a token's time goes, and what a faster add can give
 *
 * Follows: 43-neox-order
 * Architecture: 75
 * Libraries: cublasLt
 * Tests: no kernel of its own
 *
 * Idea     One decode step of the model, taken apart by kind of operation, in two ways that must
 *          agree: each kind alone, on the real operands, and the decode step without a kind. Then
 *          the add of step 38, put into the model; and the same with a slow host, as in the log.
 * Predict  At Pythia's size products read all weights and take nine tenths of the time; the adds,
 *          64 dependent launches, take 3%: a decode step without adds gains 1.03, a better add
 *          nothing. In the small model a kind's share of time is its share of launches. If the host
 *          is busy 39 us per launch and 18 us more per add, the add loses on the call clock only.
 * Outcome  The two ways agree, with a cold L2. The products' share is smaller than predicted, for
 *          all others take longer than their launches, attention most. In the small model launches
 *          are not alike: the adds take half of their share. Adds and slow host are as predicted.
 */
#include "neox/calls.cuh"
#include "neox/layers.cuh"
#include "harness/problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void plain_add(const half *a, const half *b, half *c, int64_t n, cudaStream_t stream)
{
    add_plain<<<add_blocks(n), ADD_THREADS, 0, stream>>>(a, b, c, n);
    CUDA_CHECK_LAUNCH();
}

// snippet: kinds
enum kind { PRODUCT = 1, ATTENTION = 2, NORM = 4, GELU = 8, ADD = 16, REST = 32, EVERY = 63 };

typedef void adder(const half *a, const half *b, half *c, int64_t n, cudaStream_t stream);

/* Which operations of a decode step are launched, and with which add; how long the host is busy
 * before each launch, and how much longer before each add. */
typedef struct way {
    unsigned kinds = EVERY;
    adder *add = plain_add;
    double launch_us = 0.0;
    double add_us = 0.0;
} way;
// end snippet: kinds

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

static void keep_busy(double us)
{
    for (const double end = now_us() + us; us > 0.0 && now_us() < end;) {
    }
}

// snippet: step
static bool takes(const way *w, enum kind kind)
{
    if (w->kinds & kind) {
        keep_busy(w->launch_us + (kind == ADD ? w->add_us : 0.0));
    }
    return w->kinds & kind;
}

/* x times one of a layer's matrices, and its bias. */
static void launch_linear(const neox_net *net, int layer, int part, const half *x, half *y,
                          cudaStream_t stream)
{
    const int rows = (int)neox_rows(&net->c, (enum neox_part)part);
    const int columns = (int)neox_columns(&net->c, (enum neox_part)part);
    launch_product(net, x, neox_weight(net, layer, (enum neox_part)part),
                   neox_weight(net, layer, (enum neox_part)(part + 1)), y, rows, columns, stream);
}

// One layer, x -> y: each operation if its kind is wanted.
static void launch_layer(const neox_net *net, const way *w, int layer, const half *x, half *y,
                         cudaStream_t stream)
{
    const int64_t n = (int64_t)net->T * net->c.hidden;
    if (takes(w, NORM)) {
        launch_norm(net, layer, NEOX_NORM1_GAIN, x, net->normed1, stream);
    }
    if (takes(w, PRODUCT)) {
        launch_linear(net, layer, NEOX_QKV, net->normed1, net->qkv, stream);
    }
    if (takes(w, ATTENTION)) {
        launch_rotate_and_append(net, layer, stream);
    }
    if (takes(w, ATTENTION)) {
        launch_cached_attention(net, layer, stream);
    }
    if (takes(w, PRODUCT)) {
        launch_linear(net, layer, NEOX_DENSE, net->context, net->attention, stream);
    }
    if (takes(w, NORM)) {
        launch_norm(net, layer, NEOX_NORM2_GAIN, x, net->normed2, stream);
    }
    if (takes(w, PRODUCT)) {
        launch_linear(net, layer, NEOX_UP, net->normed2, net->up, stream);
    }
    if (takes(w, GELU)) {
        launch_gelu(net, stream);
    }
    if (takes(w, PRODUCT)) {
        launch_linear(net, layer, NEOX_DOWN, net->up, net->mlp, stream);
    }
    if (takes(w, ADD)) {
        w->add(net->mlp, net->attention, net->sum, n, stream);
    }
    if (takes(w, ADD)) {
        w->add(net->sum, x, y, n, stream);
    }
}
// end snippet: step

static void launch_step(const neox_net *net, const way *w, cudaStream_t stream)
{
    const neox_config *c = &net->c;
    if (takes(w, REST)) {
        launch_embed(net, stream);
    }
    for (int i = 0; i < c->layers; i++) {
        launch_layer(net, w, i, neox_x(net, i), neox_x(net, i + 1), stream);
    }
    if (takes(w, NORM)) {
        launch_norm(net, 0, NEOX_FINAL_GAIN, neox_x(net, c->layers), net->normed1, stream);
    }
    if (takes(w, PRODUCT)) {
        launch_logits(net, stream);
    }
    if (takes(w, REST)) {
        launch_arg_max(net, stream);
    }
}

static void launch_way(const kf_run *run, way w, cudaStream_t stream)
{
    const neox_net net = neox_open(run);
    launch_step(&net, &w, stream);
}

template <unsigned kinds>
static void launch_kinds(const kf_run *run, cudaStream_t stream)
{
    launch_way(run, way{.kinds = kinds}, stream);
}

// --- The log's figures, and what they give -------------------------------------------------------

/* From the log: a decode step with the framework's add and with its own, the time of each add, and
 * the adds per decode step. */
static const double LOG_PLAIN_US = 13726.0, LOG_OWN_US = 14907.0;
static const double LOG_PLAIN_ADD_US = 2.3, LOG_OWN_ADD_US = 7.1;
enum { LOG_ADDS = 64, LOG_LAYERS = 32 };

// snippet: amdahl
/* How many times as fast the whole becomes if one part becomes `times` as fast (Amdahl 1967).
 * share: this part's share of the time before. If times is INFINITY, the part costs nothing. */
static double gain(double share, double times)
{
    double whole = NAN;
    // solution: gain -- how many times as fast the whole is
    // hint: Let the whole take the time 1 before. Which part of that time stays as it is, and how
    //     long does the other part take afterwards?
    // hint: What stays takes 1 - share, and the part takes share / times. If times is INFINITY,
    //     that quotient is 0, so it needs no case of its own.
    // hint: Afterwards the whole takes `1.0 - share + share / times`; the gain is the time before,
    //     divided by the time afterwards.
    whole = 1.0 / (1.0 - share + share / times);
    // end solution: gain
    return whole;
}
// end snippet: amdahl

/* One launch per operation: 11 per layer, and four around the layers. */
static int operations(int layers)
{
    return 11 * layers + 4;
}

// snippet: host
/* The host's time per operation in the log's framework, if the step waited for the host; and how
 * much longer a call of the hand-written add takes. */
static double framework_us(void)
{
    return LOG_PLAIN_US / operations(LOG_LAYERS);
}

static double call_path_us(void)
{
    return (LOG_OWN_US - LOG_PLAIN_US) / LOG_ADDS;
}
// end snippet: host

static void say(const char *what, const char *how, const char *gives, const char *log)
{
    kf_say("    %-33s %-36s %9s %9s\n", what, how, gives, log);
}

static void say_number(const char *what, const char *how, const char *format, double value,
                       const char *log)
{
    char gives[32];
    snprintf(gives, sizeof gives, format, value);
    say(what, how, gives, log);
}

static void say_arithmetic(void)
{
    const double slower = LOG_OWN_ADD_US - LOG_PLAIN_ADD_US;
    say("the log's figures", "put into", "give", "the log's");
    say_number("an add that costs nothing", "1 / (1 - 0.046)", "%.3f", gain(0.046, INFINITY),
               "1.048");
    say_number("attention that costs nothing", "1 / (1 - 0.352)", "%.2f", gain(0.352, INFINITY),
               "-");
    say_number("products that cost nothing", "1 / (1 - 0.45)", "%.2f", gain(0.45, INFINITY),
               "1.82");
    say_number("products twice as fast", "1 / (1 - 0.45 + 0.45 / 2)", "%.2f", gain(0.45, 2.0),
               "1.82");
    say_number("the add at 4.9 where it took 4.5", "1 / (1 - 0.046 + 0.046 * 4.9 / 4.5)", "%.3f",
               gain(0.046, 4.5 / 4.9), "0.92");
    say_number("slower by that", "1 / 0.996 - 1", "%.1f %%", 100.0 / gain(0.046, 4.5 / 4.9) - 100.0,
               "8.6 %");
    say_number("slower as measured", "14.907 / 13.726 - 1", "%.1f %%",
               100.0 * LOG_OWN_US / LOG_PLAIN_US - 100.0, "8.6 %");
    say_number("lost per decode step", "14.907 ms - 13.726 ms", "%.2f ms",
               (LOG_OWN_US - LOG_PLAIN_US) * 1e-3, "-");
    say_number("of it in 64 adds, as timed alone", "64 * (7.1 us - 2.3 us)", "%.2f ms",
               LOG_ADDS * slower * 1e-3, "-");
    say_number("lost per add", "(14.907 ms - 13.726 ms) / 64", "%.1f us", call_path_us(), "-");
    say_number("slower in its second round", "15.15 / 13.45 - 1", "%.1f %%",
               100.0 * 15.15 / 13.45 - 100.0, "12.6 %");
    say_number("its two baselines apart", "13.726 / 13.45 - 1", "%.1f %%",
               100.0 * 13.726 / 13.45 - 100.0, "-");
    say_number("per operation of its framework", "13.726 ms / (11 * 32 + 4)", "%.1f us",
               framework_us(), "-");
}

/* Share, times and gain: examples whose answer needs no formula. */
static const double known_gains[][3] = {
    {0.0, 2.0, 1.0},       {1.0, 2.0, 2.0},  {0.5, INFINITY, 2.0},
    {0.5, 0.5, 2.0 / 3.0}, {0.25, 1.0, 1.0}, {0.75, 3.0, 2.0},
};
enum { KNOWN = sizeof known_gains / sizeof *known_gains };

/* The first example that gain() gets wrong; KNOWN if there is none. */
static int first_wrong_gain(void)
{
    int i = 0;
    while (i < KNOWN &&
           fabs(gain(known_gains[i][0], known_gains[i][1]) - known_gains[i][2]) < 1e-12) {
        i++;
    }
    return i;
}

// --- The add of eight, and hosts that are slow ---------------------------------------------------

static void launch_eight(const kf_run *run, cudaStream_t stream)
{
    launch_way(run, way{.add = add_halves}, stream);
}

// snippet: called
static void launch_eight_called(const kf_run *run, cudaStream_t stream)
{
    launch_way(run, way{.add = add_halves, .add_us = call_path_us()}, stream);
}

static void launch_framework(const kf_run *run, cudaStream_t stream)
{
    launch_way(run, way{.launch_us = framework_us()}, stream);
}

static void launch_framework_called(const kf_run *run, cudaStream_t stream)
{
    launch_way(run, way{.add = add_halves, .launch_us = framework_us(), .add_us = call_path_us()},
               stream);
}
// end snippet: called

// --- What each way must leave --------------------------------------------------------------------

/* Operations of these kinds in a decode step: one kernel each, but cuBLAS may use more for a
 * product. */
static int operations_of(const neox_config *c, unsigned kinds)
{
    return (kinds & PRODUCT ? 4 * c->layers + 1 : 0) + (kinds & ATTENTION ? 2 * c->layers : 0) +
           (kinds & NORM ? 2 * c->layers + 1 : 0) + (kinds & GELU ? c->layers : 0) +
           (kinds & ADD ? 2 * c->layers : 0) + (kinds & REST ? 2 : 0);
}

/* Which kinds write an array; of the scratch, only arrays that are used here. */
static const struct {
    const char *name;
    unsigned kinds;
} written[] = {
    {"hidden", REST | ADD}, {"logits", PRODUCT}, {"next", REST},         {"normed1", NORM},
    {"normed2", NORM},      {"qkv", PRODUCT},    {"context", ATTENTION}, {"attention", PRODUCT},
    {"up", PRODUCT | GELU}, {"mlp", PRODUCT},    {"sum", ADD},
};

/* The number of elements of an array that must still be unwritten after these kinds. The first x is
 * the embedding, and every other x is written by an add. Attention alone writes, of qkv, the
 * dimensions of q that it rotates. */
static int64_t left_of(const kf_run *run, const kf_tensor *t, unsigned writers, unsigned kinds)
{
    const int64_t first = t->count / t->dim[0];
    const int64_t rotated = (int64_t)run->shape.Sq * run->shape.H * run->shape.R;
    if (strcmp(t->name, "hidden") == 0) {
        return (kinds & REST ? 0 : first) + (kinds & ADD ? 0 : t->count - first);
    }
    if (kinds & writers) {
        return 0;
    }
    return t->count - (strcmp(t->name, "qkv") == 0 && kinds & ATTENTION ? rotated : 0);
}

/* The same, counted. Arrays between operations hold a signalling NaN until they are written, and
 * arithmetic never gives one. */
static int64_t signalling(const kf_tensor *t)
{
    uint16_t *bits = (uint16_t *)kf_alloc(t->count, sizeof *bits);
    int64_t n = 0;
    CUDA_CHECK(cudaMemcpy(bits, t->device, t->count * sizeof *bits, cudaMemcpyDeviceToHost));
    for (int64_t i = 0; i < t->count; i++) {
        n += (bits[i] & 0x7e00) == 0x7c00 && bits[i] & 0x01ff;
    }
    free(bits);
    return n;
}

/* If nothing has computed the logits, they are NaNs; a token is chosen all the same, and one that
 * can be embedded. */
static bool chooses_a_token(const kf_run *run, const neox_config *c, unsigned kinds)
{
    int next;
    CUDA_CHECK(cudaMemcpy(&next, i32(run, "next"), sizeof next, cudaMemcpyDeviceToHost));
    return !(kinds & REST) || (next >= 0 && next < c->vocab);
}

/* A way without some kinds cannot be right. It is recognised by the arrays that it does not write,
 * and by how many kernels it launches. */
template <unsigned kinds>
static bool leaves_the_rest(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    const neox_config c = neox_config_of(run->c);
    const int due = operations_of(&c, kinds);
    const int launched = neox_count_calls(run, launch_kinds<kinds>, NULL);
    int64_t predicted = 0;
    int64_t found = 0;
    bool as_predicted = kinds & PRODUCT && !kf_on_cpu() ? launched >= due : launched == due;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        const kf_tensor *t = kf_find(run, written[i].name);
        const int64_t due_left = left_of(run, t, written[i].kinds, kinds);
        const int64_t left = t->want ? kf_seen(run, seen, t->name)->unwritten : signalling(t);
        as_predicted = as_predicted && (left == due_left || !run->poisoned);
        predicted += due_left;
        found += left;
    }
    snprintf(why, size,
             "predicted %lld elements left unwritten by %d operations; seen %lld, and %d kernels",
             (long long)predicted, due, (long long)found, launched);
    return as_predicted && chooses_a_token(run, &c, kinds) && kf_wrong(run, seen) > 0;
}

/* The whole decode step is right, and every kernel of it is of one kind. */
static bool is_whole(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    static bool said; // predicted after each launch, printed once
    static const struct {
        const char *name;
        kf_launch *launch;
    } parts[] = {{"products", launch_kinds<PRODUCT>}, {"attention", launch_kinds<ATTENTION>},
                 {"norms", launch_kinds<NORM>},       {"gelus", launch_kinds<GELU>},
                 {"adds", launch_kinds<ADD>},         {"rest", launch_kinds<REST>}};
    const neox_config c = neox_config_of(run->c);
    const int launched = neox_count_calls(run, launch_kinds<EVERY>, NULL);
    const int64_t wrong = kf_wrong(run, seen);
    const int other = first_wrong_gain();
    const double *known = known_gains[other < KNOWN ? other : 0];
    int sum = 0, length = 0;
    char list[160] = "";
    for (int k = 0; k < (int)(sizeof parts / sizeof *parts); k++) {
        const int n = neox_count_calls(run, parts[k].launch, NULL);
        sum += n;
        length += snprintf(list + length, sizeof list - length, "%s%d %s", k ? ", " : "", n,
                           parts[k].name);
    }
    if (!said) {
        say_arithmetic();
        said = true;
    }
    length =
        snprintf(why, size, "predicted 0 wrong, %d operations; seen %lld wrong, %d kernels (%s); ",
                 operations(c.layers), (long long)wrong, launched, list);
    if (other == KNOWN) {
        snprintf(why + length, size - length, "gains right in all %d shares that are known", KNOWN);
    } else {
        snprintf(why + length, size - length,
                 "a share of %g that becomes %g times as fast gains %g, and gain() says %g",
                 known[0], known[1], known[2], gain(known[0], known[1]));
    }
    return wrong == 0 && sum == launched && launched >= operations(c.layers) &&
           operations_of(&c, EVERY) == operations(c.layers) && other == KNOWN;
}

// --- Tables --------------------------------------------------------------------------------------

/* Bit for bit the result of step 40's model, which is compared with fp64 there. */
static void reference(kf_run *run)
{
    kf_reference_from(run, launch_case<parallel_layer>);
}

/* True for a case of one token at a time, which is taken apart. */
static bool decodes(const kf_case *c)
{
    return c->shape.Sq == 1;
}

static const kf_case cases[] = {
    NEOX_TINY("tiny", 5, 5, KF_VERIFY_ONLY), // new tokens, positions
    NEOX_TINY("tiny-decode", 1, 7, KF_VERIFY_ONLY),
    NEOX_TIED("tied", 3, 9, KF_VERIFY_ONLY),
    NEOX_OPTICKS("decode", 1, 128, 0),
    NEOX_PYTHIA("pythia", 1, 128, KF_LARGE),
};

#define ALONE(its_name, what, kinds)                                                               \
    {                                                                                              \
        .name = its_name, .about = what, .launch = launch_kinds<kinds>, .applies = decodes,        \
        .predicted = leaves_the_rest<kinds>, .finding = "uninitialised read"                       \
    }

static const kf_variant variants[] = {
    {.name = "whole",
     .about = "a decode step, one kernel per operation",
     .launch = launch_kinds<EVERY>,
     .predicted = is_whole},
    ALONE("products", "only the products", PRODUCT),
    ALONE("attention", "only rotation, cache and attention", ATTENTION),
    ALONE("norms", "only the layer norms", NORM),
    ALONE("gelus", "only the GELUs", GELU),
    ALONE("adds", "only the adds", ADD),
    ALONE("rest", "only the embedding and the choice of the token", REST),
    ALONE("no-products", "the decode step without the products", EVERY - PRODUCT),
    ALONE("no-attention", "without rotation, cache and attention", EVERY - ATTENTION),
    ALONE("no-norms", "without the layer norms", EVERY - NORM),
    {.name = "no-gelus",
     .about = "without the GELUs, which work in place",
     .launch = launch_kinds<EVERY - GELU>,
     .applies = decodes,
     .predicted = leaves_the_rest<EVERY - GELU>},
    ALONE("no-adds", "without the adds", EVERY - ADD),
    ALONE("no-rest", "without embedding and choice", EVERY - REST),
    {.name = "eight", .about = "whole, with the add of eight a thread", .launch = launch_eight},
    {.name = "eight-called",
     .about = "eight, and the host is busy 18 us before each add",
     .launch = launch_eight_called},
    {.name = "framework",
     .about = "whole, and the host is busy 39 us before each launch",
     .launch = launch_framework},
    {.name = "framework-called",
     .about = "both: a slow host, and slower still before each add",
     .launch = launch_framework_called},
};

static const kf_timing timings[] = {
    {KF_GRAPH, KF_WARM}, {KF_GRAPH, KF_COLD}, {KF_STREAM, KF_WARM}, {KF_CALL, KF_WARM}};

static const kf_question questions[] = {
    {.text = "In case decode (one token, 6 layers), what share of the launches of whole are adds?",
     .figure = "launches",
     .case_name = "decode",
     .variant = "adds",
     .over = "whole"},
    {.text = "In case pythia, on the graph clock with a cold L2, what share of whole's time do the "
             "products alone take?",
     .figure = "median_us",
     .case_name = "pythia",
     .variant = "products",
     .over = "whole",
     .timing = &timings[1]},
    {.text =
         "In case pythia, on the graph clock with a cold L2, how many times as fast as whole is "
         "no-adds, a decode step without its 64 adds?",
     .figure = "ratio",
     .case_name = "pythia",
     .variant = "no-adds",
     .timing = &timings[1]},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "44-amdahl",
        .title = "where a token's time goes, and what a faster add can give",
        KF_TABLES(cases, variants),
        .setup = neox_step_setup,
        .reference = reference,
        .cost = neox_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
        .reads_model = neox_reads_file,
    };
    return kf_main(&program, argc, argv);
}
