/* sinks.c: the files that a program writes. A new one is a line of the table, a name in enum
 * kf_sink, and a function that writes rows to kf_sink() where they come up. */
#include "harness/run/run.h"
#include <stdlib.h>
#include <string.h>

static bool tunes(const kf_program *p)
{
    return p->tunes;
}

static bool has_timeline(const kf_program *p)
{
    return p->timeline;
}

static bool times_alone(const kf_program *p)
{
    bool any = false;
    for (int i = 0; i < p->n_timings; i++)
        any |= kf_is_alone(p->timings[i].clock);
    return any;
}

static const struct sink {
    const char *option, *help;
    const char *columns; /* NULL: it is no table, and says itself what is in it */
    bool is_bare;        /* without the lines that say where it comes from */
    bool timed;          /* on a GPU only */
    /* Which programs have such rows; NULL: all. Else what the others do. */
    bool (*fits)(const kf_program *p);
    const char *else_program;
    /* Why there may be no row: the file is not written then. Such a file is no device. */
    const char *empty;
} sinks[KF_SINKS] = {
    [KF_OUT] = {"out", "append rows (tab-separated) to FILE"}, /* record.c opens and writes it */
    [KF_MAP] = {"map", "what is wrong in the last head: 0 right, 1 wrong, 2 NaN or infinite"},
    [KF_ERRORS] = {"errors", "largest error of each index of an output's first axis",
                   "variant\tcase\ttensor\tindex\tmax_err\tmax_want\twrong"},
    [KF_DUMP] = {"dump", "the outputs themselves: a line of text each, then raw bytes",
                 .is_bare = true},
    [KF_EXACTNESS] = {"exactness", "how much of its bounds each output uses, of the small cases",
                      kf_exactness_columns},
    [KF_TUNED] = {"tuned", "the fastest variant of each shape, where the program tunes",
                  kf_choice_columns, .timed = true, .fits = tunes, .else_program = "tunes nothing",
                  .empty = "no variant was right and timed"},
    [KF_REPEATS] =
        {"repeats", "each again, up to 100 times: which outputs differ in a bit",
         KF_CASE_COLUMNS
         "\ttensor\telements\truns\truns_differing\telements_differing\tmax_diff\tmax_ulp",
         .empty = "no variant was right and launched again"},
    [KF_RATES] = {"rates", "clock rate and power per repetition on sustained and cool",
                  KF_CASE_COLUMNS
                  "\tclock\tplace\trepetition\tmedian_us\tp5_us\tp95_us\tn\treadings"
                  "\tmhz\tmhz_p5\tmhz_p95\twatts\twatts_p5\twatts_p95\tcapped_pct",
                  .timed = true, .fits = times_alone,
                  .else_program = "times on neither sustained nor cool",
                  .empty = "nothing was timed on sustained or cool"},
    [KF_TIMELINE] = {"timeline", "when the warps of a block did what, where the program records",
                     KF_CASE_COLUMNS "\trole\tevent\ttile\tstart\tend", .timed = true,
                     .fits = has_timeline, .else_program = "records none",
                     .empty = "no variant that is right records"},
    [KF_LAUNCHES] = {"launches", "--once, and how many launches each was to FILE", .is_bare = true},
    [KF_BLOCKS] = {"blocks", "with KF_CAPTURE=1: shared memory of blocks, and how many fit",
                   "variant\tcase\tlaunches\tthreads\tshared_bytes\tblocks_an_sm", .is_bare = true,
                   .empty = "nothing was captured: KF_CAPTURE=1 on a CPU is missing"},
};
static FILE *file[KF_SINKS];
static long top[KF_SINKS]; /* where rows begin */

const char *kf_sink_option(enum kf_sink sink)
{
    return sinks[sink].option;
}

void kf_sinks_help(void)
{
    for (int i = 0; i < KF_SINKS; i++)
        printf("  --%s FILE%*s%s\n", sinks[i].option, 19 - (int)strlen(sinks[i].option), "",
               sinks[i].help);
}

void kf_sinks_check(const kf_program *p, const char *const path[KF_SINKS])
{
    for (int i = 0; i < KF_SINKS; i++)
        if (path[i] && sinks[i].fits && !sinks[i].fits(p))
            kf_die(KF_USAGE, "--%s %s: this program %s; leave it out", sinks[i].option, path[i],
                   sinks[i].else_program);
}

void kf_sinks_open(const kf_session *s)
{
    for (int i = 0; i < KF_SINKS; i++) {
        const struct sink *sink = &sinks[i];
        const char *path = s->options.path[i];
        if (!path || i == KF_OUT)
            continue;
        if (sink->timed && kf_on_cpu())
            kf_die(KF_CANNOT_RUN, "--%s %s: a CPU has no times; a GPU is needed", sink->option,
                   path);
        char *header =
            sink->is_bare ? NULL : kf_record_header(s->device, s->program->step, s->options.seed);
        file[i] = kf_table_open(sink->option, path, header, sink->columns, !sink->empty);
        top[i] = ftell(file[i]);
        free(header);
    }
}

FILE *kf_sink(enum kf_sink sink)
{
    return file[sink];
}

void kf_sinks_close(const kf_session *s)
{
    for (int i = 0; i < KF_SINKS; i++) {
        const struct sink *sink = &sinks[i];
        const char *path = s->options.path[i];
        if (!file[i])
            continue;
        if (sink->empty && ftell(file[i]) == top[i]) {
            kf_complain("--%s %s: not written, for %s", sink->option, path, sink->empty);
            kf_table_drop(path, file[i]);
        } else {
            kf_table_close(sink->option, path, file[i]);
        }
        file[i] = NULL;
    }
}
