/* 36-dispatch-by-length: a remedy: fused up to some length, op by op beyond
 *
 * Follows: 32-fused-rope-flash
 * Architecture: 80
 * Record: --tuned tuned-dispatch.tsv
 * Tests: no kernel of its own
 *
 * Idea     The log's first remedy, in the forward pass: where fusing loses, do not fuse. Both ways
 *          are candidates of step 23's tuner, which finds the faster one on this device at each
 *          length; a call looks its length up. One rival is the log's own rule, fused up to 4096.
 *          The other needs no rule: one good RoPE kernel in front of attention.
 * Predict  The log: as fast as the faster of the two everywhere, by a crossover of 4096. Ours: so
 *          it is, but the crossover depends on the device and on the cost of both ways: one that is
 *          off by a factor of two loses a quarter of the time in between. And one kernel in front
 *          is as fast as either way at most lengths, without a crossover that may be wrong.
 * Outcome  The two cross between 8192 and 12288 at D = 128, later than in the log, and at D = 64
 *          not at all up to 8192. Between 4096 and that crossing the log's rule takes the slower
 *          way. But one kernel is faster than both at every length but 512, where it is level: a
 *          dispatch cannot be faster than its faster way.
 */
#include "cuda/fused_attention.cuh"
#include "cuda/rope_then_attention.cuh"
#include "harness/problem.h"
#include "harness/tuned.h"
#include "problems/rope_flash_cases.h"

#include <string.h>

static void launch_fused(const kf_run *run, cudaStream_t stream)
{
    fused_attention::launch<128, 64, 4, 2>(run, stream);
}

// snippet: dispatch
typedef struct way {
    const char *name;
    kf_launch *launch;
    double (*extra_error)(const kf_case *c); // NULL if there is none
} way;

static const way fused_way = {"fused", launch_fused, NULL};
static const way op_by_op_way = {"op-by-op", launch_op_by_op, rope_angle_error};

// The choice by the log's crossover, which is that of its own device and its own two ways.
static way log_way(const kf_shape *s)
{
    return s->Sk <= 4096 ? fused_way : op_by_op_way;
}

// The faster way on this device, at the nearest length that was timed. Without a table it is the
// log's choice.
static way tuned_way(const kf_shape *s)
{
    way chosen = log_way(s);
    // solution: choose -- the faster way by the table of step 23's tuner
    // hint: What does kf_tuned return where it finds a row, and where it finds none? Its comment is
    //     in harness/tuned.h. Without a row chosen keeps the log's choice.
    // hint: Declare `char name[32];` and call kf_tuned as say_choices does further below. The name
    //     comes back without its "way:"; strcmp compares it with fused_way.name and
    //     op_by_op_way.name.
    // hint: Assign to chosen only if kf_tuned returns true. A name that is neither of the two ends
    //     the program: `kf_die(1, ...)` with a format that says what was found and what would be
    //     right.
    char name[32];
    if (kf_tuned("dispatch", s, "way", name, sizeof name)) {
        chosen = strcmp(name, fused_way.name) == 0 ? fused_way : op_by_op_way;
        if (strcmp(name, chosen.name) != 0) {
            kf_die(1, "tuned-dispatch.tsv: there is no way:%s; way:%s or way:%s is right", name,
                   fused_way.name, op_by_op_way.name);
        }
    }
    // end solution: choose
    return chosen;
}
// end snippet: dispatch

static way of_table, of_log; // for this case

static void launch_tuned(const kf_run *run, cudaStream_t stream)
{
    // solution: dispatch -- launch the way that was chosen for this case
    // hint: The choice for this case was made in setup, before any launch. Which of the two
    //     variables above has it?
    // hint: A way has a member `launch`, which takes run and stream. launch_log, the next function,
    //     does the same with the log's choice.
    of_table.launch(run, stream);
    // end solution: dispatch
}

static void launch_log(const kf_run *run, cudaStream_t stream)
{
    of_log.launch(run, stream);
}

// --- Variants that explain -----------------------------------------------------------------------

static void launch_one_kernel(const kf_run *run, cudaStream_t stream)
{
    one_kernel::launch(run, stream);
    tiled::launch(run, "q_rotated", "k_rotated", stream);
}

// --- Tables --------------------------------------------------------------------------------------

static void say_choices(const kf_shape *s)
{
    char name[32];
    if (!kf_tuned("dispatch", s, "way", name, sizeof name)) {
        kf_say("  no tuned-dispatch.tsv of this device has D = %d: dispatch is to do as "
               "dispatch-reference-log\n",
               s->D);
    }
    kf_say("  dispatch: %s; dispatch-reference-log: %s\n", of_table.name, of_log.name);
}

static void setup(kf_run *run)
{
    setup_op_by_op(run);
    of_table = tuned_way(&run->shape);
    of_log = log_way(&run->shape);
    say_choices(&run->shape);
}

// Called after setup.
static double tuned_error(const kf_case *c)
{
    return of_table.extra_error ? of_table.extra_error(c) : 0.0;
}

static double log_error(const kf_case *c)
{
    return of_log.extra_error ? of_log.extra_error(c) : 0.0;
}

static const char forward[] = "the pass that cases are of";

static const kf_case cases[] = {
    KF_ROPE_FLASH_TIMED(forward, 0),
    // Lengths in between, where the two ways may cross.
    KF_ROPE_FLASH_SQUARE(forward, 2, 8, 3072, 64, 0),
    KF_ROPE_FLASH_SQUARE(forward, 1, 8, 6144, 64, 0),
    KF_ROPE_FLASH_SQUARE(forward, 2, 32, 3072, 128, 0),
    KF_ROPE_FLASH_SQUARE(forward, 1, 32, 6144, 128, 0),
    KF_ROPE_FLASH_SQUARE(forward, 1, 32, 12288, 128, 0),
    KF_ROPE_FLASH_SQUARE(forward, 1, 16, 24576, 128, 0),
    KF_ROPE_FLASH_ODD(forward),
    KF_ROPE_FLASH_EXACT(forward),
};

// --- Is it the way of the table? ----------------------------------------------------------------

static int launches_of(const kf_run *run, kf_launch *launch)
{
    cudaStream_t stream;
    size_t launches;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const cudaGraph_t graph = kf_capture(run, launch, stream);
    CUDA_CHECK(cudaGraphGetNodes(graph, NULL, &launches));
    CUDA_CHECK(cudaGraphDestroy(graph));
    CUDA_CHECK(cudaStreamDestroy(stream));
    return (int)launches;
}

// The log's choices on both sides of its crossover. They stand here once more: log_way cannot show
// that it is itself wrong, nor does any case have 4097 positions.
static void check_log(void)
{
    static const struct {
        int S;
        const way *taken;
    } due[] = {{1, &fused_way},        {512, &fused_way},     {4095, &fused_way},
               {4096, &fused_way},     {4097, &op_by_op_way}, {8192, &op_by_op_way},
               {131072, &op_by_op_way}};
    for (int i = 0; i < KF_COUNT_OF(due); i++) {
        kf_shape s = cases[0].shape;
        s.Sq = s.Sk = due[i].S;
        if (strcmp(log_way(&s).name, due[i].taken->name) != 0) {
            kf_die(1, "dispatch-reference-log, NOT as predicted: at S = %d it is %s; %s is right",
                   due[i].S, log_way(&s).name, due[i].taken->name);
        }
    }
}

// Both ways are right, so no result shows a wrong choice. Instead a wrong choice, for the case that
// runs or for any other, ends the program.
static void check_choices(void)
{
    for (int i = 0; i < KF_COUNT_OF(cases); i++) {
        char due[32];
        const kf_shape *s = &cases[i].shape;
        const bool in_table = kf_tuned("dispatch", s, "way", due, sizeof due);
        const char *right = in_table ? due : log_way(s).name;
        const char *chosen = tuned_way(s).name;
        if (strcmp(chosen, right) != 0) {
            kf_die(1, "dispatch, NOT as predicted: in case %s it chooses %s; %s %s is right",
                   cases[i].name, chosen, in_table ? "the table's" : "without a table the log's",
                   right);
        }
    }
}

// So does a launch of another way than the one that is chosen, in a case where either is. Which it
// is may be kept from setup, or asked for again at the launch. Nothing runs, so tensors of the case
// that runs will do.
static void check_dispatch(const kf_run *run)
{
    const way chosen = of_table;
    const way ways[] = {fused_way, op_by_op_way};
    for (int i = 0; i < KF_COUNT_OF(ways); i++) {
        int k = 0;
        while (k < KF_COUNT_OF(cases) &&
               strcmp(tuned_way(&cases[k].shape).name, ways[i].name) != 0) {
            k++;
        }
        if (k == KF_COUNT_OF(cases)) {
            continue; // the table never takes it
        }
        kf_run other = *run;
        other.c = &cases[k];
        other.shape = cases[k].shape;
        of_table = ways[i];
        const int launches = launches_of(&other, launch_tuned);
        const int due = launches_of(&other, ways[i].launch);
        if (launches != due) {
            kf_die(1, "dispatch, NOT as predicted: where %s is chosen, launches: %d; %d is right",
                   ways[i].name, launches, due);
        }
    }
    of_table = chosen;
}

static void reference(kf_run *run)
{
    check_log();
    check_choices();
    check_dispatch(run);
    kf_rope_flash_reference(run);
}

static const kf_variant variants[] = {
    {.name = "way:op-by-op",
     .about = "RoPE op by op in front of attention",
     .launch = launch_op_by_op,
     .extra_error = rope_angle_error},
    {.name = "way:fused",
     .about = "attention rotates its tiles itself, as in step 32",
     .launch = launch_fused},
    {.name = "one-kernel",
     .about = "RoPE by one kernel in front of attention",
     .launch = launch_one_kernel},
    {.name = "dispatch",
     .about = "of the two ways the one that tuned-dispatch.tsv names",
     .launch = launch_tuned,
     .extra_error = tuned_error},
    {.name = "dispatch-reference-log",
     .about = "fused up to 4096, op by op beyond",
     .launch = launch_log,
     .extra_error = log_error},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}};

static const kf_question questions[] = {
    {.text = "At D = 128, S = 6144, how many times as fast as dispatch-reference-log is dispatch?",
     .figure = "median_us",
     .case_name = "forward-D128-S6144",
     .variant = "dispatch-reference-log",
     .over = "dispatch"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "36-dispatch-by-length",
        .title = "a remedy: fused up to some length, op by op beyond",
        .architecture = "80",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = reference,
        .cost = kf_rope_flash_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
        .tunes = true,
    };
    return kf_main(&program, argc, argv);
}
