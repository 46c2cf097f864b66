/* run.c: the order of events.
 *
 * For each chosen case: declare tensors, predict whether they fit, allocate, compute the reference.
 * Then one variant after the other: fresh inputs, poisoned outputs, one launch, comparison;
 * again launched back to back, again in a graph, and on a CPU with each array in other memory once.
 * Then, on a GPU, all right variants are timed round by round, and each is verified again; with
 * --repeats they are launched again and again instead. Then rows and a table. */
#define _DEFAULT_SOURCE
#include "harness/run/run.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static kf_row *new_row(kf_session *s, const kf_run *run, int variant, const kf_outcome *out)
{
    s->rows = realloc(s->rows, (size_t)(s->n_rows + 1) * sizeof *s->rows);
    if (!s->rows)
        kf_die(KF_CANNOT_RUN, "no host memory for a row");
    kf_row *row = &s->rows[s->n_rows++];
    *row = out->counts;
    row->step = s->step;
    row->variant = s->program->variants[variant].name;
    row->case_name = run->c->name;
    row->status = out->status ? out->status : "skipped";
    row->shape = run->shape;
    row->cost = s->program->cost(run->c);
    row->device_bytes = kf_run_bytes(run);
    for (int i = run->state->n - 1; i >= 0; i--)
        if (run->state->slot[i].role == KF_OUTPUT)
            row->dtype = run->state->slot[i].t.dtype;
    return row;
}

/* --- One case -------------------------------------------------------------------------------- */

static bool applies(const kf_session *s, const kf_case *c, int v)
{
    return kf_takes(&s->program->variants[v], c);
}

static const char NO_VARIANT[] = "no variant chosen takes it";

static bool any_applies(const kf_session *s, const kf_case *c)
{
    bool any = false;
    for (int v = 0; v < s->program->n_variants; v++)
        any |= s->options.variant_chosen[v] && applies(s, c, v);
    return any;
}

/* Refuses a case that the command names and no chosen variant takes. */
static void check_named(const kf_session *s)
{
    for (int i = 0; i < s->program->n_cases; i++) {
        const kf_case *c = &s->program->cases[i];
        char others[256] = "";
        if (!s->options.case_named[i] || any_applies(s, c))
            continue;
        for (int v = 0; v < s->program->n_variants; v++) {
            size_t n = strlen(others);
            if (applies(s, c, v))
                snprintf(others + n, sizeof others - n, "%s%s", n ? ", " : "",
                         s->program->variants[v].name);
        }
        if (others[0])
            kf_die(KF_USAGE, "--case %s: no variant chosen takes this case; it is taken by %s",
                   c->name, others);
        kf_die(KF_USAGE, "--case %s: no variant of this program takes this case; leave it out",
               c->name);
    }
}

/* A time that the device cannot reach is not that of the work. A variant that is wrong as predicted
 * may do less. */
static bool is_too_fast(kf_session *s, const kf_row *row)
{
    double least = kf_impossible_us(&s->ceilings, &row->cost, row->timing, s->device->l2_bytes);
    if (row->stat.median >= least)
        return false;
    kf_complain("variant %s, case %s, clock %s %s: impossible: %.3g us, and this device needs "
                "%.3g us at least for the bytes and flops of the case",
                row->variant, row->case_name, kf_clock_name(row->timing->clock),
                kf_l2_name(row->timing->l2), row->stat.median, least);
    s->wrong = true;
    return true;
}

static void rows_of_variant(kf_session *s, const kf_run *run, int v, const kf_outcome *out,
                            const kf_outcome *baseline)
{
    int rows = out->stat ? 1 + s->n_timings : 1;
    for (int i = 0; i < rows; i++) {
        if (i > 0 && out->stat[i - 1].n == 0)
            continue;
        kf_row *row = new_row(s, run, v, out);
        if (i == 0)
            continue;
        row->timing = &s->timings[i - 1];
        row->stat = out->stat[i - 1];
        row->has_ratio = baseline->stat != NULL;
        row->limit = kf_least_time(&s->ceilings, &row->cost, row->timing->clock);
        if (row->stat.noisy && kf_may_be_timed(out))
            row->status = "noisy";
        if (out->status && !strcmp(out->status, "ok") && is_too_fast(s, row))
            row->status = KF_IMPOSSIBLE;
    }
}

/* A case of which nothing has been said goes on with the table of such cases. */
static void print_table(kf_session *s, const kf_row *rows, int n)
{
    if (!kf_heading_waits()) {
        kf_table_print(rows, n);
        s->in_table = false;
        return;
    }
    kf_heading("");
    if (!s->in_table)
        kf_say(s->explained && !s->said_how
                   ? "\nfurther cases, as predicted in the same way; --verbose "
                     "explains each, --case NAME one\n"
                   : "\n");
    s->said_how |= s->explained;
    kf_table_go_on(s->program, rows, n, !s->in_table);
    s->in_table = true;
}

static void finish_case(kf_session *s, const kf_run *run, kf_outcome *out)
{
    int first = s->n_rows;
    for (int v = 0; v < s->program->n_variants; v++)
        if (s->options.variant_chosen[v])
            rows_of_variant(s, run, v, &out[v], &out[0]);
    if (run->state->n > 0) /* else the whole case was skipped */
        print_table(s, s->rows + first, s->n_rows - first);
    if (s->options.path[KF_OUT] && kf_instrument() != KF_COUNT) {
        char *text = kf_rows_text(s->rows + first, s->n_rows - first);
        kf_record_append(text, s->n_rows - first);
        free(text);
    }
    for (int v = 0; v < s->program->n_variants; v++)
        free(out[v].stat);
}

/* Allocators hand out whole pages of 2 MiB. */
static bool predict_fit(const kf_run *run)
{
    const int64_t need = kf_device_need(run, 2 << 20), available = kf_device_free();
    bool fits = need <= available;
    kf_say("  predicted: S=%d needs %.2f GB, %.2f GB free: will %sfit\n", run->shape.Sk,
           (double)need / 1e9, (double)available / 1e9, fits ? "" : "not ");
    return fits;
}

/* Returns whether the case's tensors are on the device; if not, says so and sets the outcomes. A
 * case with KF_MAY_NOT_FIT tries to allocate even when memory is predicted not to suffice. */
static bool allocate(kf_session *s, kf_run *run, kf_outcome *out)
{
    bool may_fail = run->c->flags & KF_MAY_NOT_FIT;
    bool predicted = may_fail && predict_fit(run);
    bool fits = may_fail ? kf_allocate(run) : kf_allocate_if_free(run);
    if (may_fail && predicted != fits) {
        kf_complain("case %s: the prediction was wrong: it %s", run->c->name,
                    fits ? "fits" : "does not fit");
        s->wrong = true;
    } else if (may_fail && !fits) {
        kf_say("  attempted: out of device memory, as predicted\n");
    } else if (!fits) {
        kf_complain("case %s: out of device memory (%.2f GB needed, %.2f GB free); choose a "
                    "smaller --case",
                    run->c->name, (double)kf_device_need(run, 1) / 1e9,
                    (double)kf_device_free() / 1e9);
        s->could_not_run = true;
    }
    for (int v = 0; v < s->program->n_variants && !fits; v++)
        out[v].status = applies(s, run->c, v) ? "oom" : NULL;
    return fits;
}

/* Why a case is left out unless it is named, or NULL. --check skips large cases: size by itself
 * adds no new behaviour, and checking is slow. --count skips larger ones, and so does --launches,
 * whose rows are compared with those of --count. */
static const char *left_out(const kf_session *s, const kf_case *c)
{
    static const double MOST_CHECKED = 5e6, MOST_COUNTED = 1e8; /* flops: seconds on two cores */
    double flops = s->program->cost(c).flops;
    if (c->flags & KF_LARGE && (kf_on_cpu() || s->options.once))
        return kf_on_cpu() ? "large for a CPU" : "large for a profiler";
    if (kf_instrument() == KF_CHECK && flops > MOST_CHECKED && !(c->flags & KF_CHECKED))
        return "large for a check";
    if (s->options.path[KF_EXACTNESS] && flops > MOST_CHECKED)
        return "large for many seeds";
    if ((kf_instrument() == KF_COUNT || s->options.path[KF_LAUNCHES]) && flops > MOST_COUNTED)
        return "large for a count";
    return NULL;
}

/* A variant may cache something that depends on an address (a graph, a tensor map). So on small
 * cases each tensor in turn moves to other memory, and the variant is verified again. CPU only:
 * freed GPU memory may still hold the old contents and hide the bug. */
static void verify_moved(kf_session *s, kf_run *run, int v, kf_outcome *out)
{
    if (s->moved[v] || !kf_on_cpu())
        return;
    s->moved[v] = true;
    for (int i = 0; i < run->state->n && kf_may_be_timed(out); i++)
        if (kf_move(run, i))
            kf_verify(s, run, v, KF_MOVED, out);
}

/* The same case on inputs of another seed, made when it is first needed. None where it does not fit
 * into memory, or where inputs and reference take longer than MOST_SETUP_US: there the first
 * inputs have to do. */
typedef struct others {
    kf_run memory, *run; /* run: &memory, or NULL */
    bool tried;
    double setup_us; /* how long the first inputs and their reference took */
} others;
static const double MOST_SETUP_US = 3e6;

static kf_run *others_of(others *o, const kf_run *run)
{
    if (!o->tried && o->setup_us <= MOST_SETUP_US && kf_others_open(&o->memory, run))
        o->run = &o->memory;
    o->tried = true;
    return o->run;
}

/* --repeats counts launches, and --timeline wants what the last one recorded. */
static bool launches_once_more(const kf_session *s)
{
    return !s->options.path[KF_REPEATS] && !s->options.path[KF_TIMELINE];
}

/* Verifies a call that follows a call on other inputs; then two launched back to back; then two
 * from a captured graph; then on inputs that nobody could know; stops at the first failure. It
 * verifies one call only
 *   - on a CPU, except in small odd cases;
 *   - with --once, with --exactness and under instruments;
 *   - with large tensors, which take long to upload;
 *   - with KF_ONE_LAUNCH=1, for further orders of threads: what a call leaves behind does not
 *     depend on the order. */
static void verify(kf_session *s, kf_run *run, others *others, int v, kf_outcome *out)
{
    static const int64_t MOST_BYTES = 1 << 28;
    static const double MOST_FLOPS_ON_CPU = 1e6;
    const char *one = getenv("KF_ONE_LAUNCH");
    bool one_launch =
        s->options.once || s->options.path[KF_EXACTNESS] || kf_instrument() != KF_PLAIN ||
        (one && *one == '1') || kf_run_bytes(run) > MOST_BYTES ||
        (kf_on_cpu() &&
         (!(run->c->flags & KF_VERIFY_ONLY) || s->program->cost(run->c).flops > MOST_FLOPS_ON_CPU));
    if (!one_launch)
        kf_launch_on_others(s, run, v);
    kf_verify(s, run, v, KF_FIRST, out);
    for (int trial = KF_ON_STREAM; trial <= KF_ON_GRAPH && !one_launch && kf_may_be_timed(out);
         trial++)
        kf_verify(s, run, v, (enum kf_trial)trial, out);
    if (!kf_on_cpu() && !s->options.once && launches_once_more(s) && kf_may_be_timed(out))
        kf_run_ahead(s, run, v, out);
    if (one_launch)
        return;
    verify_moved(s, run, v, out);
    if (kf_may_be_timed(out) && !s->program->variants[v].predicted && launches_once_more(s) &&
        others_of(others, run))
        kf_verify(s, others->run, v, KF_ON_OTHERS, out);
}

/* Whether the device allows it; if not, says why not. */
static bool allowed(const kf_case *c, const kf_variant *variant, kf_outcome *out)
{
    char why[256] = "";
    out->status = variant->refused ? variant->refused(c, why, sizeof why) : NULL;
    if (out->status)
        kf_say("  variant %s: refused: %s\n", variant->name, why);
    if (out->status && kf_sink(KF_LAUNCHES))
        fprintf(kf_sink(KF_LAUNCHES), "%s\t%s\t0\n", variant->name, c->name);
    return !out->status;
}

static bool times(const kf_session *s)
{
    return !kf_on_cpu() && !s->options.once && !s->options.path[KF_REPEATS] &&
           !s->options.path[KF_TIMELINE] && !s->options.path[KF_EXACTNESS];
}

/* KF_CAPTURE=1: captures every launch of every variant and runs none, so that large cases, which no
 * CPU finishes, are tried too. The runtime refuses what a GPU would, such as too large a grid. */
static void capture(const kf_session *s, kf_run *run)
{
    char why[256];
    if (!kf_allocate(run))
        kf_die(KF_CANNOT_RUN, "case %s: no addresses for its memory", run->c->name);
    for (int v = 0; v < s->program->n_variants; v++) {
        const kf_variant *variant = &s->program->variants[v];
        if (!s->options.variant_chosen[v] || !applies(s, run->c, v) ||
            (variant->refused && variant->refused(run->c, why, sizeof why)))
            continue;
        kf_doing(variant->name, run->c->name);
        int n = kf_count_launches(kf_view(run), variant);
        kf_check(cudaGetLastError(), "a launch", __FILE__, __LINE__);
        kf_say("  variant %s: %d launch%s\n", variant->name, n, n == 1 ? "" : "es");
        if (kf_sink(KF_BLOCKS))
            kf_blocks_write(kf_sink(KF_BLOCKS), kf_view(run), variant);
        kf_doing(NULL, NULL);
    }
}

static void run_case(kf_session *s, int index)
{
    const kf_program *p = s->program;
    const kf_case *c = &p->cases[index];
    kf_run run;
    kf_open(&run, p, c, s->options.seed);
    run.model = s->options.model;
    kf_outcome out[KF_MAX_CHOICES];
    char shape[128], heading[256];
    memset(out, 0, sizeof out);
    s->passed_over[index] = s->options.case_named[index] || kf_captures() ? NULL : left_out(s, c);
    if (!s->passed_over[index] && !any_applies(s, c))
        s->passed_over[index] = NO_VARIANT;
    if (s->passed_over[index]) {
        finish_case(s, &run, out);
        kf_close(&run);
        return;
    }
    kf_shape_text(&c->shape, shape, sizeof shape);
    snprintf(heading, sizeof heading, "\ncase %s: %s\n", c->name, shape);
    kf_heading(heading);
    if (s->options.verbose || (times(s) && !(c->flags & KF_VERIFY_ONLY)))
        kf_heading_print();
    others others = {.run = NULL};
    const double start = kf_host_us();
    p->setup(&run);
    others.setup_us = kf_host_us() - start;
    if (kf_captures()) {
        capture(s, &run);
        kf_close(&run);
        return;
    }
    if (allocate(s, &run, out)) {
        const double before = kf_host_us();
        p->reference(&run);
        kf_need_bounds(&run);
        others.setup_us += kf_host_us() - before;
        for (int v = 0; v < p->n_variants; v++)
            if (s->options.variant_chosen[v] && applies(s, c, v) &&
                allowed(c, &p->variants[v], &out[v]))
                verify(s, &run, &others, v, &out[v]);
        for (int v = 0; v < p->n_variants && s->options.path[KF_REPEATS]; v++)
            if (kf_may_be_timed(&out[v]))
                kf_repeat(s, &run, v, &out[v]);
        for (int v = 0; v < p->n_variants && s->options.path[KF_TIMELINE]; v++)
            if (kf_may_be_timed(&out[v]))
                kf_timeline_write(s, &run, v, &out[v]);
        if (times(s) && !(c->flags & KF_VERIFY_ONLY)) {
            kf_time_variants(s, &run, others_of(&others, &run), out);
            for (int v = p->n_variants - 1; v >= 0; v--) /* the last reference is still there */
                if (kf_may_be_timed(&out[v]))
                    kf_verify(s, &run, v, KF_AGAIN, &out[v]);
        }
    }
    finish_case(s, &run, out);
    if (others.run)
        kf_close(others.run);
    kf_close(&run);
}

/* Cases that were not run, a line for each reason. Returns whether any other was chosen. */
static bool say_passed_over(const kf_session *s)
{
    enum { MOST_NAMES = 4 };
    bool said[KF_MAX_CHOICES] = {false}, ran = false;
    int lines = 0;
    for (int i = 0; i < s->program->n_cases; i++) {
        const char *reason = s->passed_over[i];
        char names[MOST_NAMES * KF_CELL] = "";
        int n = 0;
        ran |= s->options.case_chosen[i] && !reason;
        if (!reason || said[i])
            continue;
        for (int j = i; j < s->program->n_cases; j++) {
            if (!s->passed_over[j] || strcmp(s->passed_over[j], reason) != 0)
                continue;
            said[j] = true;
            size_t length = strlen(names);
            if (n++ < MOST_NAMES)
                snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "",
                         s->program->cases[j].name);
        }
        kf_say("%sskipped, %s: %s", lines++ ? "" : "\n", reason, names);
        if (n > MOST_NAMES)
            kf_say(" and %d more", n - MOST_NAMES);
        kf_say(reason == NO_VARIANT ? "\n"
               : n > 1              ? "; --case NAME runs one\n"
                                    : "; --case %s runs it\n",
               s->program->cases[i].name);
    }
    return ran;
}

/* --- The program ----------------------------------------------------------------------------- */

static void announce(const kf_session *s)
{
    kf_say("%s: %s\n", s->program->step, s->program->title);
    const char *doing[] = {"verified", "verified and counted", "verified and checked"};
    if (kf_on_cpu())
        kf_say("CPU backend, thread order %s: %s, not timed", kf_thread_order(),
               doing[kf_instrument()]);
    else
        kf_say("%s, compute %s, driver %s, toolkit %s", s->device->name, s->device->compute,
               s->device->driver, s->device->toolkit);
    kf_say("; --seed %llu repeats it\n", (unsigned long long)s->options.seed);
    if (times(s) && !s->ceilings.known)
        kf_say("no ceilings.tsv for this device, so no %% of limit: the program ceilings measures "
               "them\n");
}

/* Chooses the fastest variant of each shape, from the rows of all cases. On a GPU only. */
static void tune(const kf_session *s)
{
    if (kf_instrument() != KF_PLAIN || s->options.once)
        return;
    if (kf_on_cpu()) {
        kf_say("\nno choice: a CPU verifies the candidates, and only a GPU times them\n");
        return;
    }
    kf_choice *choices = kf_alloc(s->n_rows, sizeof *choices);
    kf_row *rows = kf_alloc(s->n_rows, sizeof *rows); /* to be judged; --json prints the others */
    memcpy(rows, s->rows, (size_t)s->n_rows * sizeof *rows);
    int n = kf_choose(rows, s->n_rows, s->program, &s->timings[0], choices);
    if (n > 0)
        kf_choices_print(choices, n);
    if (kf_sink(KF_TUNED))
        kf_choices_write(kf_sink(KF_TUNED), choices, n);
    free(choices);
    free(rows);
}

static void open_record(const kf_session *s)
{
    bool counts = kf_instrument() == KF_COUNT;
    if (!s->options.path[KF_OUT])
        return;
    kf_record_open(s->options.path[KF_OUT], (counts ? kf_counts_header : kf_record_header)(
                                                s->device, s->program->step, s->options.seed));
    if (counts)
        return; /* which columns there are is known at the end */
    char *names = kf_row_columns();
    kf_record_columns(names);
    free(names);
}

/* Gives the CPU backend the seed for CUDACPU_ORDER=random, unless it has one; and lets it reserve
 * addresses without memory where launches are only captured. */
static void tell_backend(uint64_t seed)
{
    char text[32];
    const char *capture = getenv("KF_CAPTURE");
    bool large_index = kf_large_index();
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    setenv("CUDACPU_SEED", text, 0);
    if (kf_on_cpu() && (large_index || (capture && *capture == '1'))) {
        kf_capture_only();
        setenv("CUDACPU_RESERVE_ONLY", "1", 1);
        setenv("CUDACPU_LARGE_INDEX", large_index ? "1" : "0", 1);
    }
}

/* An extent that the table leaves out is 1. Too many cases are refused later. */
static void complete(const kf_program *p, kf_case cases[KF_MAX_CHOICES])
{
    for (int i = 0; i < p->n_cases && i < KF_MAX_CHOICES; i++) {
        cases[i] = p->cases[i];
        int *const extent[] = {&cases[i].shape.B, &cases[i].shape.H, &cases[i].shape.Sq,
                               &cases[i].shape.Sk, &cases[i].shape.D};
        for (int e = 0; e < KF_COUNT_OF(extent); e++)
            *extent[e] = *extent[e] ? *extent[e] : 1;
    }
}

int kf_main(const kf_program *given, int argc, char **argv)
{
    kf_case cases[KF_MAX_CHOICES];
    kf_program whole = *given;
    const kf_program *program = &whole;
    kf_session s = {.program = program};
    complete(given, cases);
    whole.cases = cases;
    setvbuf(stdout, NULL, _IOLBF, 0);
    kf_set_program(program->step);
    kf_catch_interrupts();
    kf_watch_exit();
    kf_options_read(program, argc, argv, &s.options);
    kf_quiet(s.options.json);
    if (s.options.list) {
        kf_list_print(program, &s.options);
        return KF_OK;
    }
    if (s.options.questions) {
        kf_questions_print(program);
        return KF_OK;
    }
    check_named(&s);
    tell_backend(s.options.seed);
    snprintf(s.step, sizeof s.step, "%.*s", (int)strcspn(program->step, "-"), program->step);
    s.timings = kf_timings_of(program, &s.n_timings);
    kf_need_architecture(program);
    s.device = kf_open_device();
    if (kf_large_index()) {
        kf_run_large_index(&s);
        return KF_OK;
    }
    kf_ceilings_find(s.device->slug, &s.ceilings);
    open_record(&s);
    kf_sinks_open(&s);
    if (!kf_sink(KF_EXACTNESS) && kf_on_cpu()) /* a GPU's functions round otherwise */
        s.exact = kf_exactness_find(s.step);
    announce(&s);
    kf_none_persist();
    if (!kf_captures())
        kf_forbid();
    if (times(&s))
        kf_timing_begin(s.timings, s.n_timings);
    for (int i = 0; i < program->n_cases; i++)
        if (s.options.case_chosen[i])
            run_case(&s, i);
    bool ran = say_passed_over(&s);
    if (program->tunes)
        tune(&s);
    kf_sinks_close(&s);
    if (kf_instrument() == KF_COUNT)
        kf_counts_finish(s.step, s.options.json);
    else if (s.options.json)
        kf_json_print(s.rows, s.n_rows);
    kf_record_close();
    if (times(&s))
        kf_timing_end();
    if (s.options.once)
        kf_profile_end();
    free(s.rows);
    kf_exactness_free(s.exact);
    if (kf_instrument() == KF_CHECK && ran)
        kf_findings_end(&s);
    if (fflush(stdout) != 0 || ferror(stdout))
        kf_die(KF_WRONG, "standard output: %s", strerror(errno));
    if (!ran)
        kf_die(KF_USAGE, "nothing ran: every case chosen is skipped; --list shows them all");
    return s.wrong ? KF_WRONG : s.could_not_run ? KF_CANNOT_RUN : KF_OK;
}
