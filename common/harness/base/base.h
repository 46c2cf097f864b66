/* base.h: what knows of no device: messages, types, random numbers, statistics. */
#pragma once

#include "harness/problem.h"
#include <stdio.h>

/* --- message.c: one line for every trouble ---------------------------------------------------- */
void kf_set_program(const char *name); /* every line begins with this name */
const char *kf_program_name(void);
/* Output of a launcher comes on stderr: on stdout are the harness's rows, and no others. */
void kf_divert_output(bool divert);
bool kf_dies(void);        /* kf_die has been called */
void kf_quiet(bool quiet); /* kf_say of harness.h prints nothing: --json */
/* text is printed before what is said or complained of next, if anything is; "" takes it back. */
void kf_heading(const char *text);
void kf_heading_print(void); /* now, for what is printed in another way */
bool kf_heading_waits(void); /* nothing has been said since */
void kf_catch_interrupts(void);
void kf_hold_interrupts(bool hold); /* around a write that must be whole */

/* --- case.c: names and sizes ------------------------------------------------------------------ */
enum { KF_CELL = 64 }; /* names of cases and variants, and cells of rows, are shorter */
bool kf_takes(const kf_variant *variant, const kf_case *c);
/* The cells that begin a row of a variant and a case, and the names of their columns. */
#define KF_CASE_COLUMNS "variant\tcase\tB\tH\tSq\tSk\tD\tR\tcausal\tpos0"
void kf_put_case(FILE *to, const char *variant, const kf_case *c);
void kf_shape_text(const kf_shape *shape, char *text, size_t size); /* "B=1 H=8 S=512 D=64" */
int64_t kf_tensor_bytes(const kf_tensor *tensor);
enum { KF_CLOCKS = KF_COOL + 1 };
const kf_timing *kf_timings_of(const kf_program *program, int *n); /* or the usual ones */
const char *kf_clock_name(enum kf_clock clock);
bool kf_is_alone(enum kf_clock clock); /* alone.c times it */
const char *kf_l2_name(enum kf_l2 l2);

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
bool kf_is_from_poison(enum kf_dtype dtype, const void *from, int64_t index);

/* --- random.c --------------------------------------------------------------------------------- */
void kf_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
void kf_fill_random(float *to, const char *name, int64_t count, int64_t columns,
                    enum kf_dtype dtype, uint64_t seed);
/* order: a permutation of 0 .. n - 1, each as likely as any other; another one each round. */
void kf_shuffle(int *order, int n, uint64_t seed, int round);
uint64_t kf_fresh_seed(void);

/* --- parallel.c ------------------------------------------------------------------------------- */
/* From here on launches are looked at, and none runs, so no value is worked out. */
void kf_capture_only(void);
bool kf_captures(void);

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
