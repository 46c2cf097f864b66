/* toy.c: a small step for tests of the command line, rows and timing. Its kernels are C functions
 * on the fake runtime: attention over memory that is really the host's. TOY_BUG plants a bug in
 * "right", TOY_FIXED makes the bug that "bug" predicts disappear, TOY_FADES after one call. With
 * TOY_ANGLES the variants are others: off by so much that only some bounds allow it. With TOY_TUNES
 * it is a program that tunes, and refuses "bug"; with TOY_PARTS its variants are candidates of two
 * parts. With TOY_REPEATS it has a second output, "half", and variants whose bits are the same in
 * each launch, or not. With TOY_ALONE there is a case that is timed on sustained and cool too; with
 * TOY_COLD it would be on a cold L2, which is no clock. With TOY_TIMELINE some variants record what
 * they do. */
#include "fake.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void compute(const kf_run *run)
{
    const kf_shape *s = &run->shape;
    const float *q = kf_f32(run, "q"), *k = kf_f32(run, "k"), *v = kf_f32(run, "v");
    float *o = kf_f32(run, "o"), *p = malloc(sizeof *p * (size_t)s->Sk);
    for (int h = 0; h < s->B * s->H; h++)
        for (int i = 0; i < s->Sq; i++) {
            float sum = 0.0f;
            for (int j = 0; j < s->Sk; j++) {
                float dot = 0.0f;
                for (int d = 0; d < s->D; d++)
                    dot += q[(h * s->Sq + i) * s->D + d] * k[(h * s->Sk + j) * s->D + d];
                p[j] = s->causal && j > s->Sk - s->Sq + i ? 0.0f : expf(dot / sqrtf((float)s->D));
                sum += p[j];
            }
            for (int d = 0; d < s->D; d++) {
                float dot = 0.0f;
                for (int j = 0; j < s->Sk; j++)
                    dot += p[j] * v[(h * s->Sk + j) * s->D + d];
                o[(h * s->Sq + i) * s->D + d] = dot / sum;
            }
        }
    free(p);
}

/* The clocks call it hundreds of times on the same inputs: what came out last is kept. */
static void attention(const kf_run *run)
{
    static const char *const name[] = {"q", "k", "v", "o"};
    static float kept[4][64 * 64];
    static kf_shape shape;
    size_t bytes[4];
    bool same = memcmp(&shape, &run->shape, sizeof shape) == 0;
    for (int i = 0; i < 4; i++) {
        bytes[i] = (size_t)kf_tensor_bytes(kf_find(run, name[i]));
        same = same && (i == 3 || memcmp(kept[i], kf_f32(run, name[i]), bytes[i]) == 0);
    }
    if (same) {
        memcpy(kf_f32(run, "o"), kept[3], bytes[3]);
        return;
    }
    compute(run);
    shape = run->shape;
    for (int i = 0; i < 4; i++)
        memcpy(kept[i], kf_f32(run, name[i]), bytes[i]);
}

/* Whether TOY_BUG is idle and this is not the first call, or idle-later and it is none of the seven
 * before timing: then nothing is written, and what the call before left is still right. */
static bool is_idle(void)
{
    static int calls;
    const char *bug = getenv("TOY_BUG");
    int call = calls++ - 1; /* the first is on other inputs */
    return bug && ((!strcmp(bug, "idle") && call > 0) || (!strcmp(bug, "idle-later") && call > 6));
}

static void compute_right(const kf_run *run)
{
    const char *bug = getenv("TOY_BUG");
    if (is_idle())
        return;
    attention(run);
    if (bug && !strcmp(bug, "one"))
        kf_f32(run, "o")[5] += 1.0f;
    if (bug && !strcmp(bug, "beside"))
        kf_f32(run, "o")[-1] = 1.0f;
    if (bug && !strcmp(bug, "behind"))
        kf_f32(run, "o")[kf_find(run, "o")->count] = 1.0f;
    if (bug && !strcmp(bug, "input"))
        kf_f32(run, "q")[5] += 1.0f;
    if (bug && !strcmp(bug, "fault"))
        fake_fault(cudaErrorIllegalAddress);
    if (bug && !strcmp(bug, "sleep"))
        sleep(10);
    /* After a call on other inputs one is verified, then two back to back, then two in a graph,
     * then one on a stream that is held, then one on other inputs again. */
    static int calls;
    int call = calls++ - 1;
    static float kept[64 * 64];
    size_t bytes = (size_t)kf_tensor_bytes(kf_find(run, "o"));
    if (bug && !strcmp(bug, "kept"))
        memcpy(call < 0 ? kept : kf_f32(run, "o"), call < 0 ? kf_f32(run, "o") : kept, bytes);
    if (bug && ((!strcmp(bug, "again") && call > 0) || (!strcmp(bug, "graph") && call > 2) ||
                (!strcmp(bug, "later") && call > 6)))
        kf_f32(run, "o")[7] = NAN;
    if (bug && !strcmp(bug, "input-again") && call > 0)
        kf_f32(run, "q")[5] += 1.0f;
}

/* TOY_BUG=elsewhere: at once, whatever is being captured, as on a stream of its own. */
static void right(const kf_run *run, cudaStream_t stream)
{
    const char *bug = getenv("TOY_BUG");
    if (bug && !strcmp(bug, "elsewhere"))
        compute_right(run);
    else
        fake_kernel(stream, 20.0, 5.0, compute_right, run);
}

/* TOY_BUG=idle-slow: it leaves what the variant before it wrote. */
static void compute_slow(const kf_run *run)
{
    const char *bug = getenv("TOY_BUG");
    if (!bug || strcmp(bug, "idle-slow") != 0)
        attention(run);
}

static void slow(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, 40.0, 0.0, compute_slow, run);
}

static void compute_bug(const kf_run *run)
{
    static int calls;
    attention(run);
    if (!getenv("TOY_FIXED") && (!getenv("TOY_FADES") || calls++ < 2))
        for (int64_t i = 0; i < kf_find(run, "o")->count; i += 2)
            kf_f32(run, "o")[i] = NAN;
}

static void bug(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, 10.0, 0.0, compute_bug, run);
}

static bool bug_shows(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    (void)run;
    snprintf(why, size, "half of the outputs are NaN: %lld of %lld", (long long)seen->nonfinite,
             (long long)seen->total);
    return getenv("TOY_FADES") ||
           (seen->nonfinite * 2 == seen->total && seen->wrong == seen->nonfinite);
}

/* --- TOY_ANGLES: a bound of 1e-5 and the angle error, and variants that are off. */
static void allow(kf_run *run)
{
    kf_attention_reference(run);
    for (int64_t i = 0; i < kf_find(run, "o")->count; i++)
        kf_find(run, "o")->bound[i] = 1e-5 + run->extra_error;
}

static double small(const kf_case *c)
{
    (void)c;
    return 1e-3;
}

static double large(const kf_case *c)
{
    (void)c;
    return 1e-1;
}

static void off_by(const kf_run *run, float error)
{
    attention(run);
    for (int64_t i = 0; i < kf_find(run, "o")->count; i++)
        kf_f32(run, "o")[i] += error;
}

static void compute_a_little_off(const kf_run *run)
{
    off_by(run, 9e-4f);
}

static void compute_just_too_far(const kf_run *run)
{
    off_by(run, 1.1e-3f);
}

static void compute_a_lot_off(const kf_run *run)
{
    off_by(run, 5e-2f);
}

static void off_a_little(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, 40.0, 0.0, compute_a_little_off, run);
}

static void off_just_too_far(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, 40.0, 0.0, compute_just_too_far, run);
}

static void off_a_lot(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, 40.0, 0.0, compute_a_lot_off, run);
}

static bool all_wrong(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    (void)run;
    snprintf(why, size, "beyond the bound: %lld of %lld", (long long)seen->wrong,
             (long long)seen->total);
    return seen->wrong == seen->total;
}

/* --- TOY_REPEATS: what is launched counts ----------------------------------------------------- */

/* In a GPU's run of one case five calls come before the first that is compared with others: one
 * alone, two back to back, two in a graph. */
static void setup_two(kf_run *run)
{
    const int64_t dim[] = {4};
    kf_attention_setup(run);
    kf_may_write(run, "q"); /* spoils does */
    kf_output(run, "half", "D", KF_F16, dim);
}

static void reference_two(kf_run *run)
{
    kf_tensor *half = kf_find(run, "half");
    kf_attention_reference(run);
    for (int64_t i = 0; i < kf_find(run, "o")->count; i++)
        kf_find(run, "o")->want[i] = (float)kf_find(run, "o")->want[i];
    for (int i = 0; i < 4; i++) {
        half->want[i] = 0.5;
        half->bound[i] = 0.01;
    }
    half->checked[0] = true;
}

enum { HALF = 0x3800 }; /* 0.5 in fp16; the next value is 2^-11 more */

/* TOY_BUG=half-off: of its bound "half" has a half, and o a hundredth. TOY_BUG=no-error: o is what
 * it should be, to the last bit, and so is half. */
static void compute_two(const kf_run *run)
{
    const char *bug = getenv("TOY_BUG");
    uint16_t *half = kf_memory(run, "half", KF_F16);
    attention(run);
    for (int i = 0; i < 4; i++)
        half[i] = HALF + (bug && !strcmp(bug, "half-off") ? 10 : 0);
    if (!bug || strcmp(bug, "no-error") != 0)
        return;
    kf_run same; /* a launch gets no reference: here is one of the inputs as they are now */
    const kf_program none = {.step = "same"};
    static const char *const inputs[] = {"q", "k", "v"};
    kf_open(&same, &none, run->c, 1);
    kf_attention_setup(&same);
    for (int i = 0; i < 3; i++)
        memcpy(kf_find(&same, inputs[i])->host, kf_f32(run, inputs[i]),
               (size_t)kf_tensor_bytes(kf_find(run, inputs[i])));
    kf_attention_reference(&same);
    for (int64_t i = 0; i < kf_find(run, "o")->count; i++)
        kf_f32(run, "o")[i] = (float)kf_find(&same, "o")->want[i];
    kf_close(&same);
}

/* Of four calls each is another: the first n elements of o are n steps from zero too far. */
static void compute_drift(const kf_run *run)
{
    static uint32_t calls;
    const uint32_t n = calls++ % 4;
    uint32_t *o = kf_memory(run, "o", KF_F32);
    compute_two(run);
    for (uint32_t i = 0; i < n; i++)
        o[i] += n;
    if (n == 3)
        ((uint16_t *)kf_memory(run, "half", KF_F16))[2]++;
}

static void compute_rare(const kf_run *run)
{
    static int calls;
    compute_two(run);
    if (calls++ == 5 + 3)
        kf_f32(run, "o")[5] += 1.0f;
}

/* As compute_bug, and each time another NaN. */
static void compute_nan(const kf_run *run)
{
    static uint32_t calls;
    uint32_t *o = kf_memory(run, "o", KF_F32);
    compute_two(run);
    calls++;
    for (int64_t i = 0; !getenv("TOY_FIXED") && i < kf_find(run, "o")->count; i += 2)
        o[i] = 0x7fc00000 + calls;
}

/* Right where nobody has written to q and o before. */
static void compute_spoils(const kf_run *run)
{
    float *o = kf_f32(run, "o");
    const bool fresh = isnan(o[5]);
    compute_two(run);
    o[5] += fresh ? 0.0f : 1.0f;
    kf_f32(run, "q")[5] += 1.0f;
}

static void steady(const kf_run *run, cudaStream_t stream)
{
    const char *us = getenv("TOY_US");
    fake_kernel(stream, us ? atof(us) : 20.0, 0.0, compute_two, run);
}

static void drift(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, 20.0, 0.0, compute_drift, run);
}

static void rare(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, 20.0, 0.0, compute_rare, run);
}

static void spoils(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, 20.0, 0.0, compute_spoils, run);
}

static void nan_each_time(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, 20.0, 0.0, compute_nan, run);
}

/* --- TOY_TIMELINE: who records, who does not, and who records what has no name ---------------- */

enum { ROLES = 2, MOST = 3, CELLS = 4 };

static void setup_line(kf_run *run)
{
    const int64_t dim[] = {ROLES, MOST, CELLS};
    kf_attention_setup(run);
    kf_scratch(run, "line", "RNC", KF_I32, dim);
}

/* The counter of a multiprocessor wraps round. */
static void compute_recording(const kf_run *run)
{
    static const uint32_t rows[ROLES][MOST][CELLS] = {
        {{0, 0, 5, 25}, {1, 0, 25, 0x1000}, {0, 1, 0x1000, 0x1005}},
        {{1, 7, 0xfffffffb, 30}},
    };
    int32_t *line = kf_memory(run, "line", KF_I32);
    attention(run);
    memcpy(line, rows[0], sizeof rows[0]);
    memcpy(line + sizeof rows[0] / sizeof *line, rows[1][0], sizeof rows[1][0]);
}

static void compute_nameless(const kf_run *run)
{
    compute_recording(run);
    ((int32_t *)kf_memory(run, "line", KF_I32))[0] = 2;
}

static void recording(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, 20.0, 0.0, compute_recording, run);
}

static void nameless(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, 20.0, 0.0, compute_nameless, run);
}

static const char *const line_roles[] = {"producer", "consumer"}, *const line_events[] = {"wait",
                                                                                          "work"};
static const kf_timeline line = {"line", line_roles, line_events, 2, 2};

static bool even(const kf_case *c)
{
    return c->shape.D % 2 == 0;
}

static const char *unwanted(const kf_case *c, char *why, size_t size)
{
    (void)c;
    snprintf(why, size, "this toy has no room for it");
    return getenv("TOY_TUNES") ? "refused-room" : NULL;
}

static const kf_case cases[] = {
    {.name = "D8", .shape = {.H = 2, .Sq = 5, .Sk = 5, .D = 8}}, /* B is left out: 1 */
    {.name = "odd", .shape = {1, 1, 3, 7, 5, 0, true, 0}, .flags = KF_VERIFY_ONLY | KF_CHECKED},
    {.name = "big", .shape = {1, 1, 64, 64, 64, 0, false, 0}, .flags = KF_LARGE | KF_MAY_NOT_FIT},
};
static const kf_case alone_cases[] = {
    {.name = "D8", .shape = {1, 2, 5, 5, 8, 0, false, 0}},
    {.name = "D16", .shape = {1, 2, 5, 5, 16, 0, true, 0}, .flags = KF_ALONE},
};
static const kf_variant variants[] = {
    {.name = "right", .about = "as it should be", .launch = right, .block = 32},
    {.name = "slow", .about = "twice the time", .launch = slow, .applies = even, .block = 32},
    {.name = "bug",
     .about = "half of the outputs NaN",
     .launch = bug,
     .applies = even,
     .refused = unwanted,
     .block = 32,
     .predicted = bug_shows,
     .finding = "shared race"},
};
static const kf_variant part_variants[] = {
    {.name = "whole", .about = "of no part", .launch = slow},
    {.name = "dq:m2-n2", .about = "twice the time", .launch = slow},
    {.name = "dq:m4-n2", .about = "as it should be", .launch = right},
    {.name = "dkv:m2-n2", .about = "twice the time", .launch = slow},
    {.name = "dkv:m128-n128-w8-s3", .about = "no room", .launch = bug, .refused = unwanted},
};
static const kf_variant repeat_variants[] = {
    {.name = "steady", .about = "the same bits", .launch = steady},
    {.name = "drift", .about = "right, and other bits", .launch = drift},
    {.name = "rare", .about = "wrong in one launch", .launch = rare},
    {.name = "spoils", .about = "writes its input", .launch = spoils},
    {.name = "nan", .about = "another NaN", .launch = nan_each_time, .predicted = bug_shows},
};
static const kf_variant line_variants[] = {
    {.name = "plain", .about = "does not record", .launch = slow},
    {.name = "recording", .about = "records", .launch = recording},
    {.name = "nameless", .about = "records a third event", .launch = nameless},
};
static const kf_variant angle_variants[] = {
    {.name = "exact", .about = "no error allowed", .launch = slow},
    {.name = "little",
     .about = "off, and allowed to be",
     .launch = off_a_little,
     .extra_error = small},
    {.name = "lot",
     .about = "off by more, and allowed to be",
     .launch = off_a_lot,
     .extra_error = large},
    {.name = "too-much",
     .about = "off by more than allowed",
     .launch = off_a_lot,
     .predicted = all_wrong,
     .extra_error = small},
    {.name = "just-too-far",
     .about = "off by a tenth more than allowed",
     .launch = off_just_too_far,
     .predicted = all_wrong,
     .extra_error = small},
    {.name = "any",
     .about = "off, and not allowed to be",
     .launch = off_a_little,
     .predicted = all_wrong},
};
static const kf_timing timings[] = {{KF_GRAPH, KF_WARM},     {KF_GRAPH, KF_COLD},
                                    {KF_STREAM, KF_WARM},    {KF_CALL, KF_WARM},
                                    {KF_SUSTAINED, KF_WARM}, {KF_COOL, KF_WARM}};
static const kf_timing cold_timings[] = {{KF_COOL, KF_COLD}};

/* TOY_FLOPS: of every case. */
static kf_cost cost(const kf_case *c)
{
    kf_cost cost = kf_attention_cost(c);
    const char *flops = getenv("TOY_FLOPS");
    if (flops)
        cost.flops = atof(flops);
    return cost;
}

int main(int argc, char **argv)
{
    bool cold = getenv("TOY_COLD") != NULL;
    kf_program program = {.step = "99-toy",
                          .title = "a step for tests",
                          .architecture = getenv("TOY_ARCHITECTURE"),
                          KF_TABLES(cases, variants),
                          .setup = kf_attention_setup,
                          .reference = kf_attention_reference,
                          .cost = cost,
                          .timings = cold ? cold_timings : timings,
                          .n_timings = cold ? 1 : 4,
                          .tunes = getenv("TOY_TUNES") != NULL};
    if (getenv("TOY_ANGLES")) {
        program.variants = angle_variants;
        program.n_variants = KF_COUNT_OF(angle_variants);
        program.reference = allow;
    } else if (getenv("TOY_PARTS")) {
        program.variants = part_variants;
        program.n_variants = KF_COUNT_OF(part_variants);
    } else if (getenv("TOY_REPEATS")) {
        program.variants = repeat_variants;
        program.n_variants = KF_COUNT_OF(repeat_variants);
        program.setup = setup_two;
        program.reference = reference_two;
    } else if (getenv("TOY_TIMELINE")) {
        program.variants = line_variants;
        program.n_variants = KF_COUNT_OF(line_variants);
        program.setup = setup_line;
        program.timeline = &line;
    } else if (getenv("TOY_ALONE")) {
        program.cases = alone_cases;
        program.n_cases = KF_COUNT_OF(alone_cases);
        program.n_timings = KF_COUNT_OF(timings);
    }
    return kf_main(&program, argc, argv);
}
