/* run.h: the command line, and the order of events. */
#pragma once

#include "harness/report/report.h"
#include "harness/timeline.h"

/* --- options.c, help.c ------------------------------------------------------------------------ */
enum { KF_MAX_CHOICES = 160, KF_MAX_REPS = 100000, KF_REPETITIONS = 2, KF_MAX_REPETITIONS = 9 };
/* The files that a program may write, one an option. */
enum kf_sink {
    KF_OUT,
    KF_MAP,
    KF_ERRORS,
    KF_DUMP,
    KF_EXACTNESS,
    KF_TUNED,
    KF_REPEATS,
    KF_RATES,
    KF_TIMELINE,
    KF_LAUNCHES,
    KF_BLOCKS,
    KF_SINKS
};
typedef struct kf_options {
    /* yes or no, as getopt_long sets them; verbose is also set where cases or variants are chosen
     */
    int list, questions, json, by_line, once, verbose;
    bool has_seed;
    uint64_t seed;
    int reps;                           /* most timing rounds */
    int repetitions;                    /* of a variant on the clocks on which it is alone */
    const char *path[KF_SINKS], *model; /* NULL: not asked for */
    bool case_chosen[KF_MAX_CHOICES], case_named[KF_MAX_CHOICES];
    bool variant_chosen[KF_MAX_CHOICES];
    bool clock_chosen[KF_CLOCKS];
} kf_options;
void kf_options_read(const kf_program *program, int argc, char **argv, kf_options *options);
void kf_help_print(const kf_program *program);
void kf_list_print(const kf_program *program, const kf_options *options); /* those chosen */
void kf_questions_print(const kf_program *program);                       /* questions.c */

/* --- run.c, trial.c --------------------------------------------------------------------------- */
typedef struct kf_session {
    const kf_program *program;
    kf_options options;
    const kf_device *device;
    kf_ceilings ceilings;
    const kf_timing *timings;
    int n_timings;
    kf_exactness *exact; /* recorded exactness of this step */
    char step[16];
    kf_row *rows; /* of all cases so far, for --json */
    int n_rows;
    const char *passed_over[KF_MAX_CHOICES]; /* why a case was not run, or NULL */
    bool moved[KF_MAX_CHOICES];              /* the variant ran with each tensor in other memory */
    bool wrong, could_not_run;
    bool explained; /* a prediction that came out; for other cases it is not printed again */
    bool said_how;  /* the option that prints it again has been named */
    bool in_table;  /* the last case was rows of the table of cases with nothing else to say */
} kf_session;

/* The result of one variant in a case. */
typedef struct kf_outcome {
    const char *status;
    kf_row counts; /* only verified, wrong, nonfinite, total and errors */
    kf_stat *stat; /* [n_timings], NULL when not timed; n is 0 on a clock that was left out */
} kf_outcome;

/* Runs variant v as it is first run, on one of the clocks, again after timing, or to see whether
 * its bits are the same, and compares. */
enum kf_trial {
    KF_FIRST,
    KF_ON_STREAM,
    KF_ON_GRAPH,
    KF_AGAIN,
    KF_REPEATED,
    KF_MOVED,
    KF_ON_OTHERS
};
void kf_launch_on_others(const kf_session *s, kf_run *run, int v);
void kf_verify(kf_session *s, kf_run *run, int v, enum kf_trial trial, kf_outcome *out);
bool kf_may_be_timed(const kf_outcome *out);
/* Launches v behind a gate, and looks whether it writes all the same. */
void kf_run_ahead(kf_session *s, kf_run *run, int v, kf_outcome *out);
/* other: the case on other inputs, for works to meet while they are timed; or NULL. */
void kf_time_variants(kf_session *s, kf_run *run, kf_run *other, kf_outcome *out);

/* --- findings.c: --check ---------------------------------------------------------------------- */
/* Whether this launch broke the rule that the variant predicts, or none, and no other. */
bool kf_judge_findings(kf_session *s, const kf_run *run, int v, int64_t wrong);
void kf_findings_end(const kf_session *s); /* the last line: how many, of which rules */

/* --- sinks.c ---------------------------------------------------------------------------------- */
const char *kf_sink_option(enum kf_sink sink); /* "map" */
void kf_sinks_help(void);
/* A file that this program has no rows for: a line, exit 2. */
void kf_sinks_check(const kf_program *program, const char *const path[KF_SINKS]);
void kf_sinks_open(const kf_session *s); /* all but KF_OUT */
FILE *kf_sink(enum kf_sink sink);        /* where rows go, or NULL: not asked for */
void kf_sinks_close(const kf_session *s);

/* --- repeat.c: --repeats ---------------------------------------------------------------------- */
/* Launches a right variant again and again, says which outputs differ in a bit, and writes a row an
 * output. It may turn out wrong. */
void kf_repeat(kf_session *s, kf_run *run, int v, kf_outcome *out);

/* --- timeline.c: --timeline ------------------------------------------------------------------- */
/* Launches a right variant again and writes what it recorded, if it does. It may turn out wrong. */
void kf_timeline_write(kf_session *s, kf_run *run, int v, kf_outcome *out);

/* --- large_index.c ---------------------------------------------------------------------------- */
bool kf_large_index(void); /* KF_LARGE_INDEX=1, on a CPU */
/* Every variant on more than 2^31 elements of each tensor; an illegal access ends the program. */
void kf_run_large_index(const kf_session *s);
