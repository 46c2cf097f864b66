/* cheats_timed.c: variants that want a time without the work, where only a clock shows it. The
 * fake runtime has one, so a CPU tells what a GPU would. cheats.cu has the same ones for a GPU. */
#include "fake.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HONEST_US = 20, MOST = 64 * 64 };

static void compute(const kf_run *run)
{
    const kf_shape *s = &run->shape;
    const float *q = kf_f32(run, "q"), *k = kf_f32(run, "k"), *v = kf_f32(run, "v");
    float *o = kf_f32(run, "o"), p[64];
    for (int h = 0; h < s->H; h++)
        for (int i = 0; i < s->Sq; i++) {
            float sum = 0.0f;
            for (int j = 0; j < s->Sk; j++) {
                float dot = 0.0f;
                for (int d = 0; d < s->D; d++)
                    dot += q[(h * s->Sq + i) * s->D + d] * k[(h * s->Sk + j) * s->D + d];
                sum += p[j] = expf(dot / sqrtf((float)s->D));
            }
            for (int d = 0; d < s->D; d++) {
                float dot = 0.0f;
                for (int j = 0; j < s->Sk; j++)
                    dot += p[j] * v[(h * s->Sk + j) * s->D + d];
                o[(h * s->Sq + i) * s->D + d] = dot / sum;
            }
        }
}

static void honest(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, HONEST_US, 0.0, compute, run);
}

static void unless_captured(const kf_run *run, cudaStream_t stream)
{
    if (fake_capturing())
        honest(run, stream);
    else
        fake_aside(HONEST_US, compute, run);
}

static void nothing(const kf_run *run)
{
    (void)run;
}

/* What it computes is there in time, and the other stream is busy for much longer. */
static void never_joined(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, fake_capturing() ? HONEST_US : 4.0, 0.0, compute, run);
    if (!fake_capturing())
        fake_aside(HONEST_US, nothing, run);
}

static float kept[MOST];

static size_t output_bytes(const kf_run *run)
{
    return (size_t)kf_find(run, "o")->count * sizeof(float);
}

static void compute_if_new(const kf_run *run)
{
    static float known[3][MOST];
    static const char *const name[] = {"q", "k", "v"};
    bool same = true;
    for (int i = 0; i < 3; i++) {
        size_t bytes = (size_t)kf_find(run, name[i])->count * sizeof(float);
        same = same && memcmp(known[i], kf_f32(run, name[i]), bytes) == 0;
        memcpy(known[i], kf_f32(run, name[i]), bytes);
    }
    if (same) {
        memcpy(kf_f32(run, "o"), kept, output_bytes(run));
        return;
    }
    compute(run);
    memcpy(kept, kf_f32(run, "o"), output_bytes(run));
    fake_take(HONEST_US);
}

static void known_inputs(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, 3.0, 0.0, compute_if_new, run);
}

static void slow_first(const kf_run *run, cudaStream_t stream)
{
    static int calls;
    fake_kernel(stream, calls++ < 20 ? 2e5 : HONEST_US, 0.0, compute, run);
}

static void idle_when_timed(const kf_run *run, cudaStream_t stream)
{
    static int calls;
    if (calls++ < 12)
        honest(run, stream);
}

static void copy_kept(const kf_run *run)
{
    memcpy(kf_f32(run, "o"), kept, output_bytes(run));
}

static void compute_and_keep(const kf_run *run)
{
    compute(run);
    memcpy(kept, kf_f32(run, "o"), output_bytes(run));
}

/* Honest where it is verified: by itself, and in the first graph. */
static void replay_in_graphs(const kf_run *run, cudaStream_t stream)
{
    static int captured;
    captured += fake_capturing();
    if (captured > 2 && fake_capturing())
        fake_kernel(stream, 2.0, 0.0, copy_kept, run);
    else
        fake_kernel(stream, HONEST_US, 0.0, compute_and_keep, run);
}

/* Calls of which most warm the device up; then a clock's first five rounds end. */
enum { VERIFIED = 12, FIVE_ROUNDS = 8400 };

static void compute_at_first(const kf_run *run)
{
    static int calls;
    (calls++ < FIVE_ROUNDS ? compute_and_keep : copy_kept)(run);
}

static void replay_later(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, HONEST_US, 0.0, compute_at_first, run);
}

static void compute_at_last(const kf_run *run)
{
    static int calls;
    bool is_honest = calls < VERIFIED || calls >= FIVE_ROUNDS;
    calls++;
    (is_honest ? compute_and_keep : copy_kept)(run);
}

static void replay_early(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, HONEST_US, 0.0, compute_at_last, run);
}

static void keeps_lines(const kf_run *run, cudaStream_t stream)
{
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20);
    honest(run, stream);
}

/* Right, and in a time that the test's ceilings do not allow. */
static void too_fast(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, 1.0, 0.0, compute, run);
}

static const kf_case cases[] = {{.name = "D8", .shape = {.H = 2, .Sq = 5, .Sk = 5, .D = 8}}};
static const kf_variant variants[] = {
    {.name = "honest", .about = "computes o", .launch = honest},
    {.name = "unless-captured",
     .about = "launches on a stream of its own, except in a graph",
     .launch = unless_captured},
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
     .launch = replay_later},
    {.name = "replay-early",
     .about = "copies an earlier result, before many honest calls",
     .launch = replay_early},
    {.name = "keeps-lines", .about = "asks that lines stay in the L2", .launch = keeps_lines},
    {.name = "too-fast", .about = "takes less time than the device needs", .launch = too_fast},
};
static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}, {KF_GRAPH, KF_COLD}, {KF_STREAM, KF_WARM}};

int main(int argc, char **argv)
{
    const kf_program program = {.step = "97-cheats",
                                .title = "variants that the harness refuses, on a clock of our own",
                                KF_TABLES(cases, variants),
                                .setup = kf_attention_setup,
                                .reference = kf_attention_reference,
                                .cost = kf_attention_cost,
                                KF_TABLE(timings, timings)};
    return kf_main(&program, argc, argv);
}
