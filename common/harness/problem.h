/* problem.h: what the setup and the reference of a problem may call, beside harness.h. */
#pragma once

#include "harness.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KF_NORETURN __attribute__((noreturn))
#define KF_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* --- Trouble: one line, after the program's name ---------------------------------------------- */

enum { KF_OK = 0, KF_WRONG = 1, KF_USAGE = 2, KF_CANNOT_RUN = 77 }; /* exit codes */
void kf_complain(const char *format, ...) KF_PRINTF(1, 2);
void kf_die(int code, const char *format, ...) KF_NORETURN KF_PRINTF(2, 3);

/* printf into memory that the caller frees, however long it gets: paths have no longest. */
char *kf_text(const char *format, ...) KF_PRINTF(1, 2);
const char *kf_root(void); /* the folder of the workbook: KF_ROOT, or the current one */

/* --- Memory and processors of the host -------------------------------------------------------- */

void *kf_alloc(int64_t count, size_t size); /* zeroed; no memory ends the program with a line */
/* body(context, i) for every i < n, spread over the processors. */
void kf_parallel(int64_t n, void (*body)(void *context, int64_t i), void *context);

/* --- Cases and tensors ------------------------------------------------------------------------ */

enum { KF_OF_PROBLEM = 32 }; /* of a case's flags, from here on they are a problem's own */
/* An input of zeros, for setup to fill. */
kf_tensor *kf_zero_input(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                         const int64_t *dim);
/* An input that is too large for the host: make fills it on the device, once, with the same values
 * each time it is called. It has no values on the host, and nothing restores it: no variant may
 * write to it. */
kf_tensor *kf_device_input(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                           const int64_t *dim, void (*make)(const kf_run *run, void *device));
/* The tensors of another problem as inputs of this one, its outputs too: setup declares them and
 * reference says what is right. The outputs have the values that launch gives them, once, in memory
 * of its own; a wrong one ends the program with a line. launch NULL: those of the reference,
 * rounded to the type; every row must have one. */
void kf_inputs_from(kf_run *run, void (*setup)(kf_run *run), void (*reference)(kf_run *run),
                    kf_launch *launch);
/* A whole number below bound, the same for the same seed and index. */
uint32_t kf_random_below(uint64_t seed, uint64_t index, uint32_t bound);

/* --- Types ------------------------------------------------------------------------------------ */

float kf_round_to(enum kf_dtype dtype, float value);
float kf_unpack(enum kf_dtype dtype, const void *from, int64_t index);
bool kf_is_poison(enum kf_dtype dtype, const void *from, int64_t index); /* was never written */

/* --- References ------------------------------------------------------------------------------- */

/* Mistakes that are often made. A reference is computed with kf_mistake, as far as its problem
 * knows it: if the outputs of a variant that is wrong agree with that, the mistake has been found.
 */
enum kf_mistake {
    KF_NO_MISTAKE,
    /* Of how a pair is rotated: of queries, of keys, or of both. */
    KF_EXCHANGED,
    KF_OTHER_WAY,
    KF_PLUS,
    KF_MINUS,
    KF_OWN_HALF,
    KF_EACH_OTHER,
    KF_TWICE,
    KF_NOT_ROTATED,
    KF_PAIR_MISTAKES,
    KF_NEIGHBOURS = KF_PAIR_MISTAKES,
    KF_QUERIES_FROM_FIRST,
    KF_KEYS_IN_TILE_32,
    KF_KEYS_IN_TILE_64,
    KF_KEYS_IN_TILE_128,
    KF_HALF_EXPONENT,
    KF_ONE_FREQUENCY,
    KF_NOT_SCALED,
    KF_NOT_NORMALISED,
    KF_NOT_MASKED,
    KF_MASK_FROM_FIRST,
    KF_KEY_LESS,
    KF_KEY_MORE,
    KF_MISTAKES
};
extern enum kf_mistake kf_mistake;
extern enum kf_mistaken { KF_BOTH, KF_QUERIES, KF_KEYS, KF_MISTAKEN } kf_mistaken; /* of a pair */

/* The outputs of a launch become the result that others must match bit for bit. The launch
 * itself has to be verified in another step. */
void kf_reference_from(kf_run *run, kf_launch *launch);
/* Sets checked[heads][rows]: all of them where that is little work, else a sample (sample.c). */
void kf_sample_rows(bool *checked, int64_t heads, int64_t rows, double work_per_row, uint64_t seed);

/* Rounding errors of a sum (tolerance.c). A problem derives its bounds from them in the file
 * that has its reference: attention.c and rope.c in common/problems, or the file of a step that
 * brings its own. */
double kf_unit_roundoff(enum kf_dtype dtype);
/* An inner product of length n computed in any order is within gamma |a|.|b| of the exact one. */
double kf_gamma(int64_t n, double u);
/* Independent errors, each uniform within +-h: their sum stays within this. squares: sum of h^2. */
double kf_uniform_sum(double squares);

#ifdef __cplusplus
}
#endif
