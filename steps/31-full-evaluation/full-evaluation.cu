/* 31-full-evaluation: both passes, alone and in one call, at every length, and cuDNN
 *
 * Follows: 30-wgmma-backward
 * Architecture: 90a
 * Record: --repetitions 1 --rates step-31-rates.tsv
 * Check: without racecheck
 * Data: --case both-D64-S2048 --case both-D128-S2048-causal --repeats step-31-repeats.tsv
 * Profile: kernels=flash|backward --case forward-D64-S8192 --case forward-D128-S8192
 * Profile: --case backward-D64-S8192 --case backward-D128-S8192
 * Tests: no kernel of its own
 *
 * Idea     The best passes of steps 29 and 30, at every length and width, with a mask and without;
 *          and both in one call, where each kernel begins while the one in front ends.
 * Predict  forward: ahead of cuDNN by a tenth at S = 8192 and beyond, by a twentieth in between,
 *          and at D = 64, S = 1024 by 3 %. backward: ahead by a fifth at D = 128, by a quarter at
 *          D = 64, by half at S = 1024 under a mask, and nowhere behind. both: the sum of the two,
 *          less what a launch costs; that is a twentieth at S = 512, and nothing from 4096 on.
 * Outcome  Ahead everywhere, by more than predicted under a mask, most at S = 1024. At D = 128
 *          without a mask by less. both: the sum, also at S = 512, where no launch is saved.
 */
#include "cuda/tiled_attention.cuh"
#include "cuda/wgmma_backward.cuh"
#include "cuda/wgmma_forward.cuh"
#include "problems/flash_backward_cases.h"

// --- The forward pass ----------------------------------------------------------------------------

static void launch_forward(const kf_run *run, cudaStream_t stream)
{
    launch_cut(run, stream, best_cut(&run->shape), true, "q", "k");
}

// --- The backward pass ---------------------------------------------------------------------------

template <int D, bool BOTH>
static void launch_gradient(const kf_run *run, cudaStream_t stream)
{
    // solution: chain -- a job, and its launches; with BOTH also what they are to read
    // hint: Which kernel writes what the next one reads? The kernel `before` computes delta and
    //     clears the sums, the main kernel multiplies and adds to the sums, the kernel `after`
    //     computes dq from them. With BOTH, o and lse are results of this call too.
    // hint: `job_of<D>(run, stream, "q", "k")` is the call's job. launch_before and launch_after of
    //     backward_job.cuh and backward_pass::launch_main take a pointer to it; launch_forward
    //     above takes run and stream.
    // hint: `early` says whether a kernel may begin before the one in front of it has ended, and
    //     the comment of launch_before says when this is so for `before`. The last line is
    //     `launch_after<D>(&j, true);`.
    const job j = job_of<D>(run, stream, "q", "k");
    if (BOTH) {
        launch_forward(run, stream);
    }
    launch_before<D>(&j, BOTH);
    backward_pass::launch_main<D>(&j);
    launch_after<D>(&j, true);
    // end solution: chain
}

template <bool BOTH>
static void launch_backward(const kf_run *run, cudaStream_t stream)
{
    if (run->shape.D == 64) {
        launch_gradient<64, BOTH>(run, stream);
    } else {
        launch_gradient<128, BOTH>(run, stream);
    }
}

// --- Tables --------------------------------------------------------------------------------------

// The pass that a case runs.
typedef struct pass {
    void (*setup)(kf_run *run), (*reference)(kf_run *run);
    kf_cost (*cost)(const kf_case *c);
    bool gradient;
} pass;

static void setup_backward(kf_run *run)
{
    kf_flash_backward_setup(run, tiled::launch_forward);
}

static void reference_both(kf_run *run)
{
    kf_flash_both_reference(run, launch_forward);
}

static const pass forward = {kf_flash_setup, kf_flash_reference, kf_flash_cost, false};
static const pass backward = {setup_backward, kf_flash_backward_reference, kf_flash_backward_cost,
                              true};
static const pass both = {kf_flash_both_setup, reference_both, kf_flash_both_cost, true};

static const pass *pass_of(const kf_case *c)
{
    return (const pass *)c->data;
}

static bool is_forward(const kf_case *c)
{
    return pass_of(c) == &forward;
}

static bool is_backward(const kf_case *c)
{
    return pass_of(c) == &backward;
}

static bool is_both(const kf_case *c)
{
    return pass_of(c) == &both;
}

static void setup(kf_run *run)
{
    pass_of(run->c)->setup(run);
    if (pass_of(run->c)->gradient) {
        job_setup(run);
    }
}

static void reference(kf_run *run)
{
    pass_of(run->c)->reference(run);
}

static kf_cost cost(const kf_case *c)
{
    return pass_of(c)->cost(c);
}

#define TIMED(pass, d, s, suffix, mask)                                                            \
    {                                                                                              \
        .name = #pass "-D" #d "-S" #s suffix,                                                      \
        .shape = {.B = 4, .H = 8, .Sq = s, .Sk = s, .D = d, .causal = mask},                       \
        .flags = KF_LARGE | (s >= 2048 ? KF_ALONE : 0), .data = &pass                              \
    }
#define LENGTHS(pass, d, suffix, mask)                                                             \
    TIMED(pass, d, 512, suffix, mask), TIMED(pass, d, 1024, suffix, mask),                         \
        TIMED(pass, d, 2048, suffix, mask), TIMED(pass, d, 4096, suffix, mask),                    \
        TIMED(pass, d, 8192, suffix, mask), TIMED(pass, d, 16384, suffix, mask)
#define FIELD(pass)                                                                                \
    LENGTHS(pass, 64, "", false), LENGTHS(pass, 64, "-causal", true),                              \
        LENGTHS(pass, 128, "", false), LENGTHS(pass, 128, "-causal", true)

// An odd shape of one batch. flash_cases.h, flash_backward_cases.h and the cases of steps 29 and 30
// say what it is for.
#define ODD(pass, case_name, heads, queries, keys, d, mask, more)                                  \
    {                                                                                              \
        .name = #pass "-" case_name,                                                               \
        .shape = {.B = 1, .H = heads, .Sq = queries, .Sk = keys, .D = d, .causal = mask},          \
        .flags = KF_VERIFY_ONLY | (more), .data = &pass                                            \
    }

static const kf_case cases[] = {
    FIELD(forward),
    FIELD(backward),
    FIELD(both),
    ODD(forward, "small", 2, 128, 128, 64, false, 0),
    ODD(forward, "small-D128", 2, 128, 128, 128, false, 0),
    ODD(forward, "odd", 6, 77, 77, 64, false, 0),
    ODD(forward, "odd-causal", 6, 77, 77, 64, true, 0),
    ODD(forward, "odd-D128", 1, 129, 129, 128, true, 0),
    ODD(forward, "odd-1000", 8, 1000, 1000, 64, false, KF_LARGE),
    ODD(forward, "odd-1000-D128", 8, 1000, 1000, 128, true, KF_LARGE),
    ODD(forward, "two-blocks-D128", 1, 275, 84, 128, true, 0),
    ODD(forward, "long-D128", 1, 5, 448, 128, true, 0), /* each stage is filled twice */
    ODD(forward, "rising", 1, 70, 300, 64, false, KF_RISING),
    ODD(forward, "falling", 1, 70, 300, 64, false, KF_FALLING),
    ODD(forward, "uneven-heads", 3, 450, 70, 64, true, 0),
    {.name = "forward-batches",
     .shape = {.B = 2, .H = 2, .Sq = 7, .Sk = 40, .D = 64, .causal = true},
     .flags = KF_VERIFY_ONLY,
     .data = &forward},
    ODD(forward, "hidden-tile", 6, 70, 130, 64, true,
        0),                                              /* from one warpgroup, in each work tile */
    ODD(forward, "two-sizes", 2, 300, 70, 64, false, 0), /* of work tiles */
    ODD(forward, "whole-edge", 1, 130, 192, 64, true, 0),
    ODD(forward, "long-tiles", 2, 330, 192, 64, true, 0), /* all of 192 rows */
    ODD(forward, "one-hot-long", 8, 4099, 8192, 64, true, KF_ONE_HOT | KF_LARGE),
    ODD(forward, "integers-long", 8, 8191, 8191, 128, true, KF_INTEGERS | KF_LARGE),
    ODD(backward, "small", 2, 128, 128, 64, false, 0),
    ODD(backward, "small-D128", 1, 128, 128, 128, false, 0),
    ODD(backward, "odd", 6, 77, 77, 64, false, 0),
    ODD(backward, "odd-D128", 1, 129, 129, 128, true, 0),
    ODD(backward, "odd-1000", 8, 1000, 1000, 64, false, KF_LARGE),
    ODD(backward, "odd-1000-D128", 8, 1000, 1000, 128, true, KF_LARGE),
    ODD(backward, "mask-edge", 1, 66, 448, 64, true, 0),
    ODD(backward, "two-blocks", 1, 275, 84, 64, true, 0),
    /* The first key is seen from query 127 on, the last one of a tile. */
    ODD(backward, "first-seen", 1, 130, 3, 64, true, 0),
    ODD(backward, "negative-tail-63", 1, 20, 127, 64, false, KF_NEGATIVE),
    ODD(backward, "uneven-heads", 3, 131, 150, 64, true, 0),
    ODD(backward, "many-tiles", 1, 641, 5, 64, false, 0),
    ODD(backward, "integers-long", 8, 8191, 8191, 64, true, KF_FLASH_EXACT_SUMS | KF_LARGE),
    ODD(backward, "integers-long-D128", 8, 4099, 8191, 128, false, KF_FLASH_EXACT_SUMS | KF_LARGE),
    ODD(both, "small", 2, 128, 128, 64, false, 0),
    ODD(both, "small-D128", 1, 128, 128, 128, false, 0),
    ODD(both, "odd", 6, 77, 77, 64, false, 0),
    ODD(both, "odd-causal", 2, 77, 77, 64, true, 0),
    ODD(both, "odd-D128", 1, 129, 129, 128, true, 0),
    ODD(both, "odd-1000", 8, 1000, 1000, 64, true, KF_LARGE),
    ODD(both, "odd-1000-D128", 8, 1000, 1000, 128, false, KF_LARGE),
    ODD(both, "few-queries", 2, 33, 200, 64, true, 0),
    ODD(both, "more-queries", 1, 150, 70, 64, false, 0),
    ODD(both, "no-key", 2, 150, 70, 64, true, 0), /* 80 queries of a head see none */
    ODD(both, "no-key-D128", 1, 45, 19, 128, true, 0),
    ODD(both, "one-query", 2, 1, 301, 64, true, 0),
    ODD(both, "two-blocks", 1, 275, 84, 64, true, 0),
    ODD(both, "two-blocks-D128", 1, 84, 275, 128, false, 0),
    ODD(both, "uneven-heads", 3, 131, 150, 64, true, 0),
    {.name = "both-batches",
     .shape = {.B = 2, .H = 2, .Sq = 7, .Sk = 40, .D = 64, .causal = true},
     .flags = KF_VERIFY_ONLY,
     .data = &both},
    ODD(both, "whole-edge", 1, 130, 192, 64, true, 0),
    ODD(both, "many-tiles", 1, 321, 300, 64, false, 0),
    ODD(both, "steep", 2, 129, 129, 64, true, KF_STEEP),
    ODD(both, "steep-D128", 1, 33, 70, 128, true, KF_STEEP),
    ODD(both, "negative", 1, 70, 130, 64, true, KF_NEGATIVE),
    ODD(both, "outliers", 1, 200, 200, 64, true, KF_OUTLIERS),
    ODD(both, "ones", 1, 200, 40, 64, false, KF_ONES),
    ODD(both, "one-hot", 2, 100, 256, 64, false, KF_FLASH_EXACT_HOT),
    ODD(both, "one-hot-D128", 1, 150, 130, 128, true, KF_FLASH_EXACT_HOT),
    ODD(both, "integers-causal", 1, 255, 150, 64, true, KF_FLASH_EXACT_SUMS),
    ODD(both, "integers-D128", 1, 131, 150, 128, true, KF_FLASH_EXACT_SUMS),
    ODD(both, "integers-long", 8, 8191, 8191, 64, true, KF_FLASH_EXACT_SUMS | KF_LARGE)};

static const kf_variant variants[] = {
    {.name = "forward",
     .about = "step 29's best, g: work from a counter, in work tiles of two sizes",
     .launch = launch_forward,
     .applies = is_forward},
    {.name = "backward",
     .about = "step 30's best, d: dq one tile late",
     .launch = launch_backward<false>,
     .applies = is_backward},
    {.name = "both",
     .about = "one after the other, each kernel begins while the one in front ends",
     .launch = launch_backward<true>,
     .applies = is_both},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}, {KF_SUSTAINED, KF_WARM}};

static const kf_question questions[] = {
    {.text = "At D = 128, S = 8192, without a mask, on the sustained clock, how many microseconds "
             "does a call of both take: step 29's g-work-tiles, then step 30's d-late?",
     .figure = "median_us",
     .case_name = "both-D128-S8192",
     .variant = "both",
     .timing = &timings[1],
     .unit = "us"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "31-full-evaluation",
        .title = "both passes, alone and in one call, at every length, and cuDNN",
        .architecture = "90a",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = reference,
        .cost = cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
