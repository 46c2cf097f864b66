/* internal.h: what the files of the harness share. A step includes harness.h, a problem problem.h.
 */
#ifndef KF_INTERNAL_H
#define KF_INTERNAL_H

#include "problem.h"
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- backend.c (beside kf_on_cpu and kf_thread_order) ----------------------------------------- */
double kf_host_us(void);
void kf_host_sleep_us(double us);

/* --- rates.c ---------------------------------------------------------------------------------- */
typedef struct kf_rates {
    double mhz, watts; /* of the multiprocessors; of the board */
    bool capped;       /* the driver holds the clock rate down because of the power */
} kf_rates;
bool kf_rates_read(kf_rates *now, char *why, size_t size); /* false: it cannot be told, and why */

/* --- message.c: one line for every trouble ---------------------------------------------------- */
void kf_set_program(const char *name); /* what every line begins with */
void kf_quiet(bool quiet);             /* kf_say of harness.h prints nothing: --json */
void kf_catch_interrupts(void);
void kf_hold_interrupts(bool hold); /* around a write that must be whole */

/* --- dtype.c ---------------------------------------------------------------------------------- */
const char *kf_dtype_name(enum kf_dtype dtype);
size_t kf_dtype_size(enum kf_dtype dtype);
void kf_pack(enum kf_dtype dtype, const float *from, void *to, int64_t count);
/* Of the type's values in order, which one this is, 0 at zero: neighbours are 1 apart. NaN has no
 * place among them. */
int64_t kf_ordinal(enum kf_dtype dtype, const void *from, int64_t index);
/* Poison is a signalling NaN with a payload of our own. A copy keeps it, arithmetic on it turns it
 * into another NaN: so what still carries it was never written. */
void kf_poison_pattern(enum kf_dtype dtype, void *to, int64_t count);
bool kf_is_poison(enum kf_dtype dtype, const void *from, int64_t index);
bool kf_is_from_poison(enum kf_dtype dtype, const void *from, int64_t index);

/* --- random.c --------------------------------------------------------------------------------- */
void kf_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
void kf_fill_random(float *to, const char *name, int64_t count, int64_t columns,
                    enum kf_dtype dtype, uint64_t seed);
/* order: a permutation of 0 .. n - 1, each as likely as any other; another one each round. */
void kf_shuffle(int *order, int n, uint64_t seed, int round);
uint64_t kf_fresh_seed(void);

/* --- tensors.c -------------------------------------------------------------------------------- */
enum { KF_MAX_TENSORS = 32 };
/* Bytes of poison before and after an output on the device: what a launch changes there, it had no
 * business to write. None where a checker looks for that, which wants the exact extents. */
enum { KF_GUARD = 1 << 16 };
enum kf_role { KF_INPUT, KF_OUTPUT, KF_SCRATCH };

/* A tensor, and what only the engine knows of it. */
typedef struct kf_slot {
    kf_tensor t;
    enum kf_role role;
    char *base; /* what was allocated on the device; t.device is in there */
    void *kept; /* input: the same on the device, out of the variants' sight; NULL without room */
    void (*make)(const kf_run *run, void *device); /* input made on the device, else NULL */
    bool made;                                     /* it has been, in this memory */
    bool may_write;                                /* input: by variants */
    double *other_want, *other_bound; /* for state->other_error, NULL if there are none yet */
    void *raw; /* output: room for what comes back from the device, NULL before the first time */
} kf_slot;

/* What of a run is the engine's. */
typedef struct kf_state {
    const kf_program *program;
    kf_slot slot[KF_MAX_TENSORS];
    int n;              /* slots */
    bool bare;          /* no guards: kf_renew's memory */
    double other_error; /* the extra error of the slots' other_want and other_bound */
} kf_state;

void kf_open(kf_run *run, const kf_program *program, const kf_case *c, uint64_t seed);
void kf_close(kf_run *run);
int64_t kf_tensor_bytes(const kf_tensor *tensor);
int64_t kf_run_bytes(const kf_run *run);
int64_t kf_guard(const kf_run *run, const kf_slot *slot); /* bytes on each side of a tensor */
/* What the tensors take on the device, in whole units of so many bytes. */
int64_t kf_device_need(const kf_run *run, int64_t unit);
int64_t kf_device_free(void);
/* From here on launches are looked at, and none runs, so no value is worked out. */
void kf_capture_only(void);
bool kf_captures(void);
bool kf_allocate(kf_run *run); /* device memory of every tensor; false: it did not fit */
/* The same, but where there is not as much free as they take, nothing is asked for. */
bool kf_allocate_if_free(kf_run *run);
/* Other memory for one tensor alone, with nothing in it; false: there is none, all stays. */
bool kf_move(kf_run *run, int slot);
void kf_prepare(kf_run *run); /* uploads the inputs, poisons everything else and the guards */
/* Uploads another run's inputs, of the same declarations, until kf_prepare. */
void kf_lend_inputs(kf_run *run, const kf_run *other);
int64_t kf_changed(const kf_slot *slot); /* elements of an input that are not what was uploaded */
bool kf_renew(kf_run *run); /* new memory, inputs in it, nothing else written; or false */
void kf_fetch(const kf_tensor *tensor, void *raw);

/* --- verify.c, diagnosis.c -------------------------------------------------------------------- */
typedef struct kf_details {
    int64_t from_unwritten;        /* of the nonfinite: computed from poison, where NaNs keep their
                                      bits (CPUs) */
    double first_got, first_want;  /* its value, and the reference */
    double median_ratio;           /* got/want over wrong finite elements, NaN if there are none */
    bool same_ratio;               /* and it hardly varies: 90% of them lie within 1% of it */
    double max_err, max_err_bound; /* largest finite |got - want|, and the bound there */
    double max_ratio;              /* largest finite |got - want| / bound; right means <= 1 */
    double square_ratio;           /* the sum of the squares of these */
    int64_t ratios;                /* how many there are, those that are 0 too */
    /* Where the first element before the output that was written would be, and after it. */
    int64_t first_before[KF_MAX_AXES], first_after[KF_MAX_AXES];
} kf_details;
void kf_compare(const kf_tensor *tensor, const void *raw, kf_diagnosis *seen);
/* Adds what was written into the guards around an output since kf_prepare. */
void kf_look_beyond(const kf_run *run, const kf_slot *slot, kf_diagnosis *seen);
void kf_diagnosis_free(kf_diagnosis *seen);
void kf_diagnosis_print(FILE *to, const kf_diagnosis *seen, int block);
/* "0-3, 7 and 9-12"; more than a few ranges become a count. */
void kf_ranges(const int64_t *marks, int64_t n, char *text, size_t size);
/* A row an index of the first axis: how far that part is off, and how large it is. */
extern const char kf_error_columns[];
void kf_errors_write(FILE *to, const char *variant, const char *case_name, const kf_tensor *tensor,
                     const void *raw);
/* "variant case tensor dtype extents", each after a blank, a newline, then the tensor's memory. */
void kf_dump_write(FILE *to, const char *variant, const char *case_name, const kf_tensor *tensor,
                   const void *raw);
/* Of the last head, one digit an element. */
void kf_map_write(FILE *to, const char *variant, const kf_tensor *tensor, const void *raw);

/* --- exactness.c ------------------------------------------------------------------------------ */
typedef struct kf_exactness kf_exactness;
kf_exactness *kf_exactness_find(const char *step); /* "03" */
void kf_exactness_free(kf_exactness *known);
/* Whether an output that is within its bounds is as exact as it was seen to be; if not, why. What
 * nothing is known of is. */
bool kf_is_exact(const kf_exactness *known, const char *variant, const char *case_name,
                 const kf_diagnosis *diagnosis, char *why, size_t size);
extern const char kf_exactness_columns[];
void kf_exactness_write(FILE *to, const char *variant, const char *case_name,
                        const kf_diagnosis *diagnosis);

/* --- stats.c ---------------------------------------------------------------------------------- */
double kf_percentile(const double *sorted, int n, double percent);
void kf_sort(double *values, int64_t n);
bool kf_median_interval(int n, int *low, int *high); /* ranks, 0-based; false: n is too small */
typedef struct kf_stat {
    double median, p5, p95, ratio, ratio_p5, ratio_p95;
    double half[2]; /* the medians of the first and of the second half of the rounds */
    int n;
    bool noisy;
} kf_stat;
enum kf_verdict { KF_GO_ON, KF_STABLE, KF_ENOUGH };
/* samples [variants][stride]: what to do after n rounds that took so many seconds. */
enum kf_verdict kf_decide(const double *samples, int variants, int stride, int n, int max_rounds,
                          double seconds, double budget);
void kf_summarise(const double *samples, int variants, int stride, int n, bool stable,
                  kf_stat *stat);

/* --- timing.c --------------------------------------------------------------------------------- */
typedef struct kf_work {
    void (*enqueue)(void *context, cudaStream_t stream);
    void *context;
} kf_work;
void kf_timing_begin(const kf_timing *timings, int n); /* before cases: it takes some memory */
void kf_timing_end(void);
cudaStream_t kf_stream(void);
/* Times all works in paired rounds, whose orders the seed decides; stat [n]. Ratios are to work 0.
 */
void kf_time(const kf_work *works, int n, kf_timing how, int max_rounds, uint64_t seed,
             kf_stat *stat);
enum { KF_CLOCKS = KF_COOL + 1 };
const kf_timing *kf_timings_of(const kf_program *program, int *n); /* or the usual ones */
const char *kf_clock_name(enum kf_clock clock);
bool kf_is_alone(enum kf_clock clock); /* alone.c times it */
const char *kf_l2_name(enum kf_l2 l2);

/* --- alone.c: the clocks KF_SUSTAINED and KF_COOL --------------------------------------------- */
typedef struct kf_spread {
    double median, p5, p95;
} kf_spread;
/* One place in the run: one work, timed once. */
typedef struct kf_place {
    int work, turn, samples, readings; /* turn: which of the work's own places, from 1 on */
    kf_spread us, mhz, watts;          /* the last two of as many readings as there are */
    double capped;                     /* share of the readings */
} kf_place;
int kf_places(int works, int turns);
double kf_alone_seconds(enum kf_clock clock, int works, int turns); /* about, without long calls */
/* Each work has as many turns, work 0 one more; stat [n], places [kf_places(n, turns)]. */
void kf_time_alone(const kf_work *works, int n, enum kf_clock clock, int turns, uint64_t seed,
                   kf_stat *stat, kf_place *places);
extern const char kf_rates_columns[];
void kf_rates_write(FILE *to, const char *variant, const kf_case *c, enum kf_clock clock, int place,
                    const kf_place *p);

/* --- lock.c: one program times, none disturbs it ---------------------------------------------- */
enum kf_lock { KF_UNLOCKED, KF_SHARED, KF_EXCLUSIVE };
void kf_device_lock(enum kf_lock how);

/* --- device.c --------------------------------------------------------------------------------- */
typedef struct kf_device {
    char name[256], slug[256], compute[16], bus[32], driver[16], toolkit[16];
    int64_t l2_bytes;
} kf_device;
const kf_device *kf_open_device(void);                /* none that we can use: a line, exit 77 */
void kf_need_architecture(const kf_program *program); /* the device has less: the same */
void kf_doing(const char *variant, const char *case_name); /* for kf_check to name; or NULL */
int kf_error_exit_code(cudaError_t error);
const char *kf_error_advice(cudaError_t error);

/* --- probes.cu -------------------------------------------------------------------------------- */
void kf_probe_empty(cudaStream_t stream);
void kf_probe_wait(cudaStream_t stream); /* some 50 us of one thread, while more is enqueued */
/* Reads count floats (a multiple of 4): what the L2 held before is gone, and nothing is dirty. */
void kf_probe_read(const float *from, float *never_written, int64_t count, cudaStream_t stream);

/* --- limits.c --------------------------------------------------------------------------------- */
typedef struct kf_ceilings {
    bool known;
    double copy_tbps, fp32_tflops, tensor_f16_tflops, launch_us[3];
} kf_ceilings;
bool kf_ceilings_read(const char *path, kf_ceilings *ceilings);
void kf_ceilings_find(const char *slug, kf_ceilings *ceilings);
typedef struct kf_limit {
    double us;      /* 0: not known */
    const char *by; /* bytes, flops, launch */
} kf_limit;
kf_limit kf_least_time(const kf_ceilings *ceilings, const kf_cost *cost, enum kf_clock clock);

/* --- row.c, record.c, table.c ----------------------------------------------------------------- */
typedef struct kf_row {
    const char *step, *variant, *case_name, *status;
    kf_shape shape;
    enum kf_dtype dtype;
    const kf_timing *how; /* NULL: verification only */
    kf_stat stat;
    bool has_ratio;
    kf_cost cost;
    int64_t device_bytes;
    kf_limit limit;
    bool verified; /* the counts below mean something */
    int64_t wrong, nonfinite, total;
    double max_err, err_bound, max_ratio;
} kf_row;
enum { KF_COLUMNS = 33, KF_CELL = 64 };
extern const char *const kf_column_name[KF_COLUMNS];
void kf_row_cells(const kf_row *row, char cell[KF_COLUMNS][KF_CELL]);
char *kf_row_columns(void); /* the names, with tabs between */
char *kf_rows_text(const kf_row *rows, int n);
/* The header lines every recorded file begins with, each ending in a newline. */
char *kf_record_header(const kf_device *device, const char *program, uint64_t seed);
/* Opens --out. The header becomes the record's own. */
void kf_record_open(const char *path, char *header);
/* To be called before rows are appended. Refuses a file with other columns or another origin
 * (exit 2). */
void kf_record_columns(const char *names);
/* n rows, a line each: all or none; a full disk: a line, exit 1. */
void kf_record_append(const char *text, int n);
void kf_record_close(void);
/* A table that would be read without a word when half of it is there: it is PATH.new, and gets its
 * name when it is closed. Takes the header. */
FILE *kf_table_open(const char *option, const char *path, char *header, const char *columns);
void kf_table_close(const char *option, const char *path, FILE *to);
void kf_table_drop(const char *path, FILE *to); /* no table: what has the name stays */
bool kf_cell_is_text(int column);
void kf_json_print(const kf_row *rows, int n);
void kf_table_print(const kf_row *rows, int n);

/* --- tune.c ----------------------------------------------------------------------------------- */
typedef struct kf_choice {
    const kf_row *rows; /* those of the case */
    int n;
    const kf_row *best;
    const kf_row *second,
        *first; /* first: its part's first variant. NULL if there is none, or it may not win */
    const kf_row *half, *again; /* what the first and the second half of the rounds choose */
    const kf_row *far;          /* of those that win at other lengths the slowest here, or NULL */
    int far_Sk;                 /* where it wins */
    int candidates, refused;
} kf_choice;
/* From the rows of all cases, those of a case together; what is wrong in one becomes wrong in all.
 * choices [n]; returns how many there are: one a case and part that has a variant that may win. */
int kf_choose(kf_row *rows, int n, const kf_program *program, const kf_timing *how,
              kf_choice *choices);
void kf_choices_print(const kf_choice *choices, int n);
void kf_choices_write(FILE *to, const kf_choice *choices, int n);
bool kf_tuned_read(const char *path, const char *device, const kf_shape *shape, const char *part,
                   char *variant, size_t size);

/* --- options.c, help.c ------------------------------------------------------------------------ */
enum { KF_MAX_CHOICES = 160, KF_MAX_REPS = 100000, KF_TURNS = 2, KF_MAX_TURNS = 9 };
typedef struct kf_options {
    bool list, json, has_seed, by_line, once;
    uint64_t seed;
    int reps;  /* most timing rounds */
    int turns; /* of a variant on the clocks on which it is alone */
    const char *out, *map, *errors, *dump, *launches, *tuned, *repeats, *rates, *timeline,
        *exactness, *model;
    bool case_chosen[KF_MAX_CHOICES], case_named[KF_MAX_CHOICES];
    bool variant_chosen[KF_MAX_CHOICES];
    bool clock_chosen[KF_CLOCKS];
} kf_options;
void kf_options_read(const kf_program *program, int argc, char **argv, kf_options *options);
void kf_help_print(const kf_program *program);
void kf_list_print(const kf_program *program, const kf_options *options); /* those chosen */
void kf_shape_text(const kf_shape *shape, char *text, size_t size);

/* --- run.c, trial.c --------------------------------------------------------------------------- */
typedef struct kf_session {
    const kf_program *program;
    kf_options options;
    const kf_device *device;
    kf_ceilings ceilings;
    const kf_timing *timings;
    int n_timings;
    FILE *map, *errors, *dump, *launches, *tuned, *repeats, *rates, *timeline, *exactness;
    kf_exactness *exact; /* what was seen of this step's variants */
    int n_repeated;      /* variants and cases in repeats */
    int n_rated;         /* rows in rates */
    int n_stamps;        /* and in timeline */
    char step[16];
    kf_row *rows; /* of all cases so far, for --json */
    int n_rows;
    struct kf_counted *counted; /* what kernels did so far, in a program that counts */
    int n_counted;
    const char *passed_over[KF_MAX_CHOICES]; /* why a case was not run, or NULL */
    bool moved[KF_MAX_CHOICES];              /* the variant ran with each tensor in other memory */
    bool wrong, could_not_run;
} kf_session;

/* --- corners.c -------------------------------------------------------------------------------- */
bool kf_corners(void); /* KF_CORNERS=1, on a CPU */
/* Every variant on more than 2^31 elements of each tensor; an illegal access ends the program. */
void kf_run_corners(const kf_session *s);

bool kf_takes(const kf_variant *variant, const kf_case *c);

/* What became of one variant of a case. */
typedef struct kf_outcome {
    const char *status;
    kf_row counts; /* wrong, nonfinite, total and errors */
    kf_stat *stat; /* [n_timings], NULL when not timed; n is 0 on a clock that was left out */
} kf_outcome;

/* Runs variant v as it is first run, on one of the clocks, again after timing, or to see whether
 * its bits are the same, and compares. */
enum kf_how { KF_FIRST, KF_ON_STREAM, KF_ON_GRAPH, KF_AGAIN, KF_REPEATED, KF_MOVED };
void kf_launch_on_others(const kf_session *s, kf_run *run, int v);
void kf_verify(kf_session *s, kf_run *run, int v, enum kf_how how, kf_outcome *out);
bool kf_may_be_timed(const kf_outcome *out);
void kf_time_variants(kf_session *s, kf_run *run, kf_outcome *out);

/* --- repeat.c: --repeats ---------------------------------------------------------------------- */
extern const char kf_repeat_columns[];
/* Launches a right variant again and again, says which outputs differ in a bit, and writes a row an
 * output. It may turn out wrong. */
void kf_repeat(kf_session *s, kf_run *run, int v, kf_outcome *out);

/* --- timeline.c: --timeline ------------------------------------------------------------------- */
extern const char kf_timeline_columns[];
/* Launches a right variant again and writes what it recorded, if it does. It may turn out wrong. */
void kf_timeline_write(kf_session *s, kf_run *run, int v, kf_outcome *out);

/* --- instrument.c: programs that cudacc --count or --check linked ----------------------------- */

enum kf_instrument { KF_PLAIN, KF_COUNT, KF_CHECK };
enum kf_instrument kf_instrument(void);
/* Round each launch of a variant. In a program that does not count they do nothing. */
void kf_counts_begin(void);
void kf_counts_take(kf_session *s, const kf_run *run, const char *variant);
char *kf_counts_header(const kf_device *device, const char *program, uint64_t seed);
void kf_counts_finish(kf_session *s); /* writes the rows */
/* In a program that does not check they do nothing. */
void kf_name_memory(const kf_tensor *tensor);    /* what findings call it */
void kf_mark_unwritten(const kf_tensor *tensor); /* poison counts as never written */
void kf_sums_in_order(bool asked);               /* findings, where additions come in no order */
typedef struct kf_findings {
    int all, of_class;
    char *text; /* one a line; free it */
} kf_findings;
kf_findings kf_take_findings(const char *class_name); /* since the last call */
/* For profilers: the launches between on and off are the ones to look at. */
void kf_profile(bool on);
int kf_count_launches(const kf_run *run, const kf_variant *variant);
void kf_profile_end(void); /* after all memory is freed: what is left now is a leak */

#ifdef __cplusplus
}
#endif
#endif
