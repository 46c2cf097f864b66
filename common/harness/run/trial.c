/* trial.c: one variant verified, all variants of a case timed. */
#define _DEFAULT_SOURCE /* readlink */
#include "harness/run/run.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- One variant, verified ------------------------------------------------------------------- */

static const char *const when[] = {"",
                                   " back to back",
                                   " in a graph",
                                   " after timing",
                                   " launched again",
                                   " with an array in other memory",
                                   " on other inputs"};

/* As the clocks launch it: twice, for a second call must not disturb the first. A graph is
 * captured, the outputs are poisoned, and the graph is replayed: what the variant launched on a
 * stream that is not captured ran too early, and the poison shows that the replay lacks it. */
static void launch_as(kf_run *run, const kf_variant *variant, enum kf_trial trial,
                      cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    const kf_run *view = kf_view(run);
    if (trial == KF_ON_GRAPH)
        CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    variant->launch(view, stream);
    if (trial == KF_ON_STREAM || trial == KF_ON_GRAPH)
        variant->launch(view, stream);
    if (trial != KF_ON_GRAPH)
        return;
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaDeviceSynchronize());
    if (kf_has_host_work(graph))
        kf_die(KF_WRONG,
               "variant %s, case %s: it works on the host, by cudaLaunchHostFunc: need kernels",
               variant->name, run->c->name);
    kf_prepare(run);
    CUDA_CHECK(cudaGraphInstantiate(&replay, graph, 0));
    CUDA_CHECK(cudaGraphLaunch(replay, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(cudaGraphExecDestroy(replay));
    CUDA_CHECK(cudaGraphDestroy(graph));
}

static void launch_once(const kf_session *s, kf_run *run, const kf_variant *variant,
                        enum kf_trial trial)
{
    cudaStream_t stream = kf_stream();
    if (kf_sink(KF_LAUNCHES))
        fprintf(kf_sink(KF_LAUNCHES), "%s\t%s\t%d\n", variant->name, run->c->name,
                kf_count_launches(kf_view(run), variant));
    kf_counts_begin();
    if (s->options.once)
        kf_profile(true);
    const int64_t size = kf_record_size();
    kf_divert_output(true);
    kf_doing(variant->name, run->c->name);
    launch_as(run, variant, trial, stream);
    kf_record_compare(size, s->step);
    kf_doing(NULL, NULL);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    kf_divert_output(false);
    if (s->options.once)
        kf_profile(false);
    if (error != cudaSuccess)
        kf_die(kf_error_exit_code(error), "variant %s, case %s: the kernel failed: %s (%s)",
               variant->name, run->c->name, cudaGetErrorString(error), cudaGetErrorName(error));
}

/* Runs once with different inputs, so that any result cached across calls shows up as wrong. */
void kf_launch_on_others(const kf_session *s, kf_run *run, int v)
{
    kf_run other;
    kf_open(&other, s->program, run->c, run->seed + 1);
    s->program->setup(&other);
    kf_device_lock(KF_SHARED);
    kf_prepare(run);
    kf_lend_inputs(run, &other);
    launch_once(s, run, &s->program->variants[v], KF_FIRST);
    kf_device_lock(KF_UNLOCKED);
    kf_close(&other);
}

static void add_counts(kf_row *counts, const kf_diagnosis *seen)
{
    double was = counts->err_bound > 0.0 ? counts->max_err / counts->err_bound : counts->max_err;
    double is = seen->details->max_err_bound > 0.0
                    ? seen->details->max_err / seen->details->max_err_bound
                    : seen->details->max_err;
    bool first = !counts->verified;
    counts->verified = true;
    counts->wrong += seen->wrong;
    counts->nonfinite += seen->nonfinite;
    counts->total += seen->total;
    counts->max_ratio = fmax(counts->max_ratio, seen->details->max_ratio);
    if (first || is > was) {
        counts->max_err = seen->details->max_err;
        counts->err_bound = seen->details->max_err_bound;
    }
}

static void complain_of_input(const char *variant, const kf_run *run, const char *moment,
                              const char *input, int64_t changed)
{
    char how_many[64] = "";
    if (changed > 0)
        snprintf(how_many, sizeof how_many, "%lld element%s of ", (long long)changed,
                 changed == 1 ? "" : "s");
    kf_complain("variant %s, case %s%s: %sthe input %s %s written; a kernel may write to its "
                "outputs only",
                variant, run->c->name, moment, how_many, input, changed > 1 ? "were" : "was");
}

/* Whether inputs are unchanged: a variant that writes to one gives another result when called
 * again. */
static bool inputs_kept(const kf_run *run, const kf_variant *variant, enum kf_trial trial)
{
    bool all = true;
    for (int i = 0; i < run->state->n; i++) {
        const kf_slot *slot = &run->state->slot[i];
        int64_t changed;
        bool kept = kf_input_kept(run, slot, slot->t.device, &changed);
        if (!kept)
            complain_of_input(variant->name, run, when[trial], slot->t.name, changed);
        all = all && kept;
    }
    return all;
}

/* For a mistake, in so many wrong results: each takes as long as some references. */
enum { MOST_LOOKS = 2 };
static int looks;

/* Which mistake makes the outputs, or else the first wrong one, what they are. Where the first
 * output is right, the other is asked first: the first may be right with many mistakes, as o is
 * where all v are the same, and what is wrong is made in the other alone. */
static void find_mistake(const kf_run *run, const kf_diagnosis *seen, char *text, size_t size)
{
    const bool first_is_right = run->find_mistake && seen->wrong == 0;
    text[0] = '\0';
    if (!first_is_right)
        kf_find_mistakes(run, text, size);
    for (int i = 0; i < run->state->n && !text[0] && run->find_mistake; i++) {
        const kf_slot *slot = &run->state->slot[i];
        const kf_tensor *t = &slot->t;
        if (slot->role != KF_OUTPUT)
            continue;
        const kf_diagnosis *of = seen++;
        if (of->wrong == 0)
            continue;
        int64_t first = 0;
        for (int axis = 0; axis < t->n_axes; axis++)
            first = first * t->dim[axis] + of->first[axis];
        run->find_mistake(run, t, slot->raw, first, text, size);
    }
    if (first_is_right && !text[0])
        kf_find_mistakes(run, text, size);
}

/* Predictions that have been printed in full, without their numbers: another case or variant with
 * the same one is a line or a row. And the variants that have been named so far. */
static char *explained[KF_MAX_CHOICES];
static int n_explained;
static bool named[KF_MAX_CHOICES];

static bool was_explained(const char *why, bool wrong)
{
    char *kind = kf_text("%d%s", wrong, why);
    char *to = kind;
    for (const char *from = kind; *from; from++)
        if (!isdigit((unsigned char)*from) || to == kind)
            *to++ = *from;
        else if (to[-1] != '0')
            *to++ = '0';
    *to = '\0';
    for (int i = 0; i < n_explained; i++)
        if (strcmp(explained[i], kind) == 0) {
            free(kind);
            return true;
        }
    if (n_explained < KF_MAX_CHOICES)
        explained[n_explained++] = kind;
    else
        free(kind);
    return false;
}

/* Of a prediction that came out: false if it has to be printed in full, as it is the first of its
 * kind or a case or a variant is chosen. A variant is named at least once. */
static bool is_short(kf_session *s, int v, const char *why, bool wrong)
{
    const char *name = s->program->variants[v].name;
    bool of_variant = named[v], known = was_explained(why[0] ? why : name, wrong);
    named[v] = true;
    s->explained = true;
    if (s->options.verbose || !known)
        return false;
    if (!of_variant)
        kf_say("  variant %s: %s, as predicted: %s\n", name, wrong ? "wrong" : "nothing wrong",
               why);
    return true;
}

/* Whether a program of its own, which launches nothing but this variant in this case, finds it
 * right. It is asked once, as it takes as long as such a run. */
static bool is_right_alone(const kf_session *s, const kf_run *run, const kf_variant *variant)
{
    static bool asked;
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (asked || length < 0 || !kf_on_cpu() || s->options.model || getenv("KF_ALONE"))
        return false;
    asked = true;
    self[length] = '\0';
    char *command = kf_text("KF_ALONE=1 timeout 60 '%s' --seed %llu --case '%s' --variant '%s' "
                            ">/dev/null 2>&1",
                            self, (unsigned long long)run->seed, run->c->name, variant->name);
    fflush(stdout);
    bool right = system(command) == 0;
    free(command);
    return right;
}

/* Names what a reader may do next, where the values alone do not say what is wrong. */
static void say_what_finds(const kf_session *s, const kf_run *run, const kf_variant *variant,
                           const kf_diagnosis *seen, int n)
{
    const char *step = s->program->step;
    bool computed = false; /* of a reader's own program, which is no step, there is no check */
    for (int i = 0; i < n && isdigit((unsigned char)*step); i++)
        computed |= seen[i].nonfinite > seen[i].unwritten;
    if (computed)
        kf_say("    a NaN may come from memory that nobody wrote: make step-%.*s check BACKEND=cpu "
               "names the line that reads it\n",
               (int)strcspn(step, "-"), step);
    if (is_right_alone(s, run, variant))
        kf_say("    right by itself (--case %s --variant %s): an earlier launch matters, such as "
               "one that leaves a counter or memory that the next finds\n",
               run->c->name, variant->name);
}

static const char *judge(kf_session *s, const kf_run *run, int v, const kf_diagnosis *seen, int n,
                         enum kf_trial trial)
{
    const kf_variant *variant = &s->program->variants[v];
    bool first = trial == KF_FIRST, kept = !run->poisoned || inputs_kept(run, variant, trial);
    char why[512] = "";
    int64_t wrong = kf_wrong(run, seen), beyond = 0, unwritten = 0;
    for (int i = 0; i < n; i++) {
        beyond += seen[i].before + seen[i].after;
        unwritten += seen[i].unwritten;
    }
    bool right = variant->predicted ? variant->predicted(run, seen, why, sizeof why) : wrong == 0;
    if (wrong > 0 && !variant->predicted && trial == KF_ON_GRAPH && unwritten > 0)
        snprintf(why, sizeof why,
                 "a graph lacks what was not launched on the stream that the variant is given");
    if (wrong > 0 && !variant->predicted && trial == KF_ON_OTHERS)
        snprintf(why, sizeof why, "--seed %llu has these inputs%s", (unsigned long long)run->seed,
                 unwritten > 0 ? "" : "; is it a result that was kept from others?");
    char inexact[256] = "";
    for (int i = 0; i < n && right && !variant->predicted && !inexact[0]; i++)
        kf_is_exact(s->exact, variant->name, run->c->name, &seen[i], inexact, sizeof inexact);
    right = right && beyond == 0 && kept && !inexact[0];
    if (right && !(first && variant->predicted))
        return variant->predicted ? "predicted" : "ok";
    if (right && is_short(s, v, why, wrong > 0))
        return "predicted";
    kf_say("  variant %s%s: %s\n", variant->name, when[trial],
           !right && variant->predicted ? "NOT as predicted"
           : !right                     ? "WRONG"
           : wrong > 0                  ? "wrong, as predicted"
                                        : "nothing wrong, as predicted");
    for (int i = 0; i < n && wrong + beyond > 0 && !s->options.json; i++)
        kf_diagnosis_print(stdout, &seen[i], variant->block ? variant->block : s->program->block);
    if (!right && kf_instrument() != KF_CHECK && !s->options.json)
        say_what_finds(s, run, variant, seen, n);
    char mistakes[512] = "";
    if (first && !right && !variant->predicted && beyond == 0 && kept &&
        !(run->c->flags & KF_LARGE) && looks++ < MOST_LOOKS)
        find_mistake(run, seen, mistakes, sizeof mistakes);
    if (mistakes[0])
        kf_say("    these are the results if %s\n", mistakes);
    if (why[0] && variant->predicted)
        kf_say("    prediction: %s\n", why);
    if (inexact[0])
        kf_say("    %s\n", inexact);
    if (kept && !right && beyond > 0)
        kf_complain("variant %s, case %s%s: %lld element%s beside the outputs %s written; a kernel "
                    "may write to its outputs only",
                    variant->name, run->c->name, when[trial], (long long)beyond,
                    beyond == 1 ? "" : "s", beyond == 1 ? "was" : "were");
    else if (kept && inexact[0])
        kf_complain("variant %s, case %s%s: %s", variant->name, run->c->name, when[trial], inexact);
    else if (kept && !right)
        kf_complain("variant %s, case %s%s: %s%lld wrong element%s%s%s", variant->name,
                    run->c->name, when[trial], variant->predicted ? "not as predicted, " : "",
                    (long long)wrong, wrong == 1 ? "" : "s", why[0] ? ": " : "", why);
    return right ? "predicted" : "wrong";
}

/* Of inputs, and of scratch memory that it wrote, what the launch never read. */
static void say_unread(const kf_run *run)
{
    for (int i = 0; i < run->state->n; i++) {
        const kf_slot *slot = &run->state->slot[i];
        if (slot->role == KF_OUTPUT || slot->made || slot->t.count == 0)
            continue;
        bool *marks = kf_alloc(slot->t.count, sizeof *marks);
        if (kf_unread(&slot->t, slot->role == KF_SCRATCH, marks)) {
            kf_heading_print();
            kf_unread_print(stdout, slot, marks);
        }
        free(marks);
    }
}

/* Says why a time of the variant is not believed, and returns its status. */
static const char *doubted(kf_session *s, const kf_run *run, int v, const kf_suspicion *found,
                           const char *moment)
{
    char text[256];
    kf_doubt_text(found, text, sizeof text);
    kf_complain("variant %s, case %s%s: impossible: %s", s->program->variants[v].name, run->c->name,
                moment, text);
    s->wrong = true;
    return KF_IMPOSSIBLE;
}

void kf_run_ahead(kf_session *s, kf_run *run, int v, kf_outcome *out)
{
    const kf_variant *variant = &s->program->variants[v];
    if (variant->predicted)
        return;
    kf_device_lock(KF_SHARED);
    kf_doing(variant->name, run->c->name);
    bool ahead = kf_runs_ahead(run, variant);
    kf_doing(NULL, NULL);
    kf_device_lock(KF_UNLOCKED);
    if (!ahead)
        return;
    kf_complain("variant %s, case %s: an output was written before the stream that the variant is "
                "given got there: work on another stream is not timed",
                variant->name, run->c->name);
    out->status = "wrong";
    s->wrong = true;
}

void kf_verify(kf_session *s, kf_run *run, int v, enum kf_trial trial, kf_outcome *out)
{
    const kf_variant *variant = &s->program->variants[v];
    kf_diagnosis seen[KF_MAX_TENSORS];
    int n = 0;
    bool first = trial == KF_FIRST;
    kf_refer(run, variant);
    kf_device_lock(KF_SHARED);
    run->poisoned = !s->options.once;
    if (run->poisoned)
        kf_prepare(run);
    else if (!kf_renew(run))
        kf_die(KF_CANNOT_RUN, "case %s: its memory is gone; is the device shared?", run->c->name);
    kf_sums_in_order(variant->in_order);
    launch_once(s, run, variant, trial);
    kf_counts_take(run, variant->name, !s->options.json, s->options.by_line);
    kf_row before = out->counts;
    memset(&out->counts, 0, sizeof out->counts);
    for (int i = 0; i < run->state->n; i++) {
        kf_slot *slot = &run->state->slot[i];
        const kf_tensor *t = &slot->t;
        if (slot->role != KF_OUTPUT)
            continue;
        if (!slot->raw)
            slot->raw = kf_alloc(t->count, kf_dtype_size(t->dtype));
        kf_fetch(t, slot->raw);
        kf_compare(t, slot->raw, &seen[n]);
        kf_look_beyond(run, slot, &seen[n]);
        add_counts(&out->counts, &seen[n]);
        if (n == 0 && first && kf_sink(KF_MAP)) {
            fprintf(kf_sink(KF_MAP), "# case %s\n", run->c->name);
            kf_map_write(kf_sink(KF_MAP), variant->name, t, slot->raw);
        }
        if (first && kf_sink(KF_DUMP))
            kf_dump_write(kf_sink(KF_DUMP), variant->name, run->c->name, t, slot->raw);
        if (first && kf_sink(KF_ERRORS))
            kf_errors_write(kf_sink(KF_ERRORS), variant->name, run->c->name, t, slot->raw);
        if (first && kf_sink(KF_EXACTNESS) && !variant->predicted && seen[n].wrong == 0)
            kf_exactness_write(kf_sink(KF_EXACTNESS), variant->name, run->c->name, &seen[n]);
        n++;
    }
    const char *status = judge(s, run, v, seen, n, trial);
    if (kf_persists() && !variant->predicted)
        status = doubted(s, run, v, &(kf_suspicion){.doubt = KF_PERSISTS}, when[trial]);
    kf_counts_begin(); /* launches by a prediction are no part of the variant */
    kf_device_lock(KF_UNLOCKED);
    if (first && !variant->predicted)
        say_unread(run);
    if (kf_instrument() == KF_CHECK && !kf_judge_findings(s, run, v, out->counts.wrong))
        status = "wrong";
    bool good = strcmp(status, "wrong") != 0 && strcmp(status, KF_IMPOSSIBLE) != 0;
    if (first || !good)
        out->status = status;
    else
        out->counts = before; /* rows tell of the first launch; a bug may show otherwise later */
    s->wrong |= strcmp(status, "wrong") == 0;
    for (int i = 0; i < n; i++)
        kf_diagnosis_free(&seen[i]);
}

/* --- All variants, timed --------------------------------------------------------------------- */

typedef struct call {
    const kf_run *view; /* the run as a launcher sees it */
    const kf_variant *variant;
} call;

static void enqueue(void *context, cudaStream_t stream)
{
    const call *c = context;
    c->variant->launch(c->view, stream);
    CUDA_CHECK_LAUNCH();
}

bool kf_may_be_timed(const kf_outcome *out)
{
    return out->status && (!strcmp(out->status, "ok") || !strcmp(out->status, "predicted"));
}

/* No power on the clock cool: kf_rates_write says why. */
static void say_rates(const char *variant, enum kf_clock clock, const kf_place *p)
{
    if (p->readings == 0)
        return;
    kf_say("  %-28.28s %-9s %5.0f MHz", variant, kf_clock_name(clock), p->mhz.median);
    if (clock == KF_SUSTAINED)
        kf_say(" %4.0f W", p->watts.median);
    kf_say(", %.0f%% of the time held down by power\n", 100.0 * p->capped);
}

static void time_alone(kf_session *s, const kf_run *run, const kf_work *works, int n,
                       enum kf_clock clock, kf_stat *stat)
{
    int repetitions = s->options.repetitions, places = kf_places(n, repetitions);
    kf_place *place = kf_alloc(places, sizeof *place);
    kf_say("  clock %s: %d place%s in the run, about %.0f s\n", kf_clock_name(clock), places,
           places == 1 ? "" : "s", kf_alone_seconds(clock, n, repetitions));
    kf_time_alone(works, n, clock, repetitions, run->seed, stat, place);
    for (int i = 0; i < places; i++) {
        const char *variant = ((const call *)works[place[i].work].context)->variant->name;
        say_rates(variant, clock, &place[i]);
        if (kf_sink(KF_RATES))
            kf_rates_write(kf_sink(KF_RATES), variant, run->c, clock, i + 1, &place[i]);
    }
    free(place);
}

/* Says what was seen of a variant while it was timed, once its inputs had been exchanged, and why
 * its time is not believed. */
static void judge_timed(kf_session *s, const kf_run *run, int v, const kf_timing *timing,
                        const kf_exchanged *seen, const kf_suspicion *found, uint64_t seed,
                        kf_outcome *out)
{
    const char *name = s->program->variants[v].name;
    char *moment = kf_text(", clock %s %s", kf_clock_name(timing->clock), kf_l2_name(timing->l2));
    if (seen->wrong > 0)
        kf_complain("variant %s, case %s%s: %lld of %lld elements wrong when the inputs were "
                    "exchanged while it was timed; %s; --seed %llu has these inputs",
                    name, run->c->name, moment, (long long)seen->wrong, (long long)seen->total,
                    seen->unwritten > 0 ? "some were not written"
                                        : "is it a result that was kept from others?",
                    (unsigned long long)seed);
    else if (seen->input_written)
        kf_complain("variant %s, case %s%s: an input was written while it was timed; a kernel may "
                    "write to its outputs only",
                    name, run->c->name, moment);
    if (seen->wrong > 0 || seen->input_written)
        out->status = "wrong";
    else if (found->doubt != KF_TRUSTED)
        out->status = doubted(s, run, v, found, moment);
    s->wrong |= !kf_may_be_timed(out);
    free(moment);
}

/* Bytes of tensors: of larger ones one clock is looked at, and of smaller ones each. A comparison
 * takes as long as many samples. */
static const int64_t MOST_LOOKED_AT = 1 << 28;

void kf_time_variants(kf_session *s, kf_run *run, kf_run *other, kf_outcome *out)
{
    int n = 0, chosen[KF_MAX_CHOICES];
    call calls[KF_MAX_CHOICES];
    kf_work works[KF_MAX_CHOICES];
    kf_stat stat[KF_MAX_CHOICES];
    kf_suspicion found[KF_MAX_CHOICES];
    kf_exchanged seen[KF_MAX_CHOICES];
    const kf_variant *variants[KF_MAX_CHOICES];
    kf_auditor auditor = {run, other, variants, seen, 0};
    kf_audit audit = {.context = &auditor};
    if (other)
        audit = (kf_audit){&auditor, kf_audit_lend, kf_audit_look, kf_audit_renew, false};
    for (int v = 0; v < s->program->n_variants; v++) {
        if (!kf_may_be_timed(&out[v]))
            continue;
        calls[n] = (call){kf_view(run), &s->program->variants[v]};
        works[n] = (kf_work){enqueue, &calls[n]};
        variants[n] = &s->program->variants[v];
        out[v].stat = kf_alloc(s->n_timings, sizeof *out[v].stat);
        chosen[n++] = v;
    }
    for (int t = 0; t < s->n_timings && n > 0; t++) {
        enum kf_clock clock = s->timings[t].clock;
        bool alone = kf_is_alone(clock);
        if (!s->options.clock_chosen[clock] || (alone && !(run->c->flags & KF_ALONE)))
            continue;
        const int64_t size = kf_record_size();
        memset(found, 0, sizeof found);
        memset(seen, 0, sizeof seen);
        if (alone)
            time_alone(s, run, works, n, clock, stat);
        else
            kf_time_audited(works, n, s->timings[t], s->options.reps, run->seed, &audit, found,
                            stat);
        kf_record_compare(size, s->step);
        if (other)
            kf_prepare(run);
        audit.brief |= !alone;
        if (!alone && kf_run_bytes(run) > MOST_LOOKED_AT)
            audit.lend = NULL;
        for (int i = 0; i < n; i++) {
            kf_outcome *o = &out[chosen[i]];
            o->stat[t] = stat[i];
            if (!variants[i]->predicted && kf_may_be_timed(o))
                judge_timed(s, run, chosen[i], &s->timings[t], &seen[i], &found[i],
                            other ? other->seed : 0, o);
            if (stat[i].noisy)
                kf_complain(
                    "variant %s, case %s, clock %s %s: too noisy to trust, 90%% of %d samples "
                    "spread over %.0f%% of the median; is the device shared?",
                    s->program->variants[chosen[i]].name, run->c->name,
                    kf_clock_name(s->timings[t].clock), kf_l2_name(s->timings[t].l2), stat[i].n,
                    100.0 * (stat[i].p95 - stat[i].p5) / stat[i].median);
        }
    }
}
