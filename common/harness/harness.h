/* harness.h: what a step tells the harness, and what the harness answers.
 *
 * A step is a table of cases (shapes), a table of variants (ways to compute the same thing) and
 * three functions: which tensors there are, what the right result is, and what the least work is.
 * kf_main does the rest: inputs, poison, verification, timing, rows, the command line.
 *
 * Read in this order: harness.h, run.c and trial.c (the order of events), tensors.c and random.c
 * (inputs), reference.c and tolerance.c (what is right, and how far off rounding may put it),
 * verify.c and diagnosis.c (what is wrong, and where), timing.c and stats.c (clocks), limits.c (the
 * least time), row.c, record.c and table.c (rows), instrument.c (programs that count or check),
 * options.c and help.c (command line), device.c.
 */
#ifndef KF_HARNESS_H
#define KF_HARNESS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a member holds that a table in a step leaves out. In C that is zero anyway. */
#ifdef __cplusplus
#define KF_UNLESS_GIVEN(value) = value
#else
#define KF_UNLESS_GIVEN(value)
#endif

/* Exit codes of every program. */
enum { KF_OK = 0, KF_WRONG = 1, KF_USAGE = 2, KF_CANNOT_RUN = 77 };

/* One shape. Attention: q [B][H][Sq][D], k and v [B][H][Sk][D]. RoPE turns the first R of D
 * dimensions; R = 0 means none. Key j stands at position pos0 + j, query i at position
 * pos0 + Sk - Sq + i, so the last query and the last key share a position. */
typedef struct kf_shape {
    int B, H, Sq, Sk, D, R;
    bool causal; /* query i sees key j when its position is not smaller */
    int pos0;
} kf_shape;

enum kf_case_flags {
    KF_VERIFY_ONLY = 1, /* an odd shape: checked, never timed */
    KF_LARGE = 2,       /* skipped on the CPU unless --case names it */
    KF_STEEP = 8,       /* q is 64 times as large: exp of a score overflows without the maximum */
    KF_MAY_NOT_FIT = 4  /* running out of device memory is a predicted outcome, not a failure */
};

typedef struct kf_case {
    const char *name; /* no blanks, e.g. "D512" */
    kf_shape shape;
    unsigned flags;
} kf_case;

enum kf_dtype { KF_F32, KF_F16, KF_BF16, KF_I32 };
enum kf_role { KF_INPUT, KF_OUTPUT, KF_SCRATCH };

enum { KF_MAX_AXES = 4, KF_MAX_TENSORS = 24 };

struct kf_run;

/* A named array in device memory, row-major, last axis contiguous. The harness owns all of it.
 * host: inputs as the kernel sees them (already rounded to dtype). want and bound: outputs only,
 * the fp64 result and how far rounding may put a right kernel from it, element by element;
 * checked[row] says whether that row (all axes but the last) has a reference. */
typedef struct kf_tensor {
    const char *name;
    const char *axes; /* one letter an axis: "BHSD" */
    int64_t dim[KF_MAX_AXES];
    int n_axes;
    int64_t count, rows;
    enum kf_dtype dtype;
    enum kf_role role;
    void *device;
    void *kept; /* input: the same on the device, out of the variants' sight; NULL without room */
    void (*make)(const struct kf_run *run, void *device); /* input made on the device, else NULL */
    bool made;                                            /* it has been, in this memory */
    float *host;
    double *want, *bound;
    double *other_want, *other_bound; /* for run->other_angle_error, NULL if there are none yet */
    bool *checked;
    void *raw; /* output: room for what comes back from the device, NULL before the first time */
} kf_tensor;

/* What a comparison found. Counts are over elements compared; a NaN or Inf is wrong, always. */
typedef struct kf_diagnosis {
    const kf_tensor *tensor;
    int64_t total, wrong, nonfinite;
    int64_t unwritten;      /* of the nonfinite: still the poison the harness put there */
    int64_t from_unwritten; /* and those computed from poison, where NaNs keep their bits (CPUs) */
    int64_t first[KF_MAX_AXES];     /* the first wrong element, by coordinate */
    double first_got, first_want;   /* its value, and the reference */
    double median_ratio;            /* got/want over wrong finite elements, NaN if there are none */
    bool same_ratio;                /* and it hardly varies: 90% of them lie within 1% of it */
    double max_err, max_err_bound;  /* largest finite |got - want|, and the bound there */
    double max_ratio;               /* largest finite |got - want| / bound; right means <= 1 */
    int64_t columns;                /* extent of the last axis */
    int64_t *wrong_in_column;       /* [columns] */
    int64_t *nonfinite_in_column;   /* [columns] */
    int64_t *wrong_at[KF_MAX_AXES]; /* [axis][index on that axis]; the last is wrong_in_column */
} kf_diagnosis;

struct kf_program;
struct kf_variant;

/* One case being run. */
typedef struct kf_run {
    const struct kf_program *program;
    const kf_case *c;
    kf_shape shape;
    uint64_t seed;
    kf_tensor tensor[KF_MAX_TENSORS];
    int n_tensors;
    bool poisoned;      /* unwritten elements can be told; not with --once, whose memory is new */
    double angle_error; /* what the bounds of the reference allow for, beyond one rounding */
    double other_angle_error; /* the same of the tensors' other_want and other_bound */
} kf_run;

/* One way to compute the outputs. launch enqueues one whole call on the stream and returns: no
 * synchronisation, no allocation, so that it can be captured in a graph.
 * predicted is NULL for a variant that must be right. A variant that shows a bug has one: it gets
 * the diagnosis and says whether the bug showed exactly as predicted, writing one line into why
 * (what was predicted and what was seen) either way. seen: one diagnosis an output, in the order of
 * their declaration.
 * finding is the rule that the checkers must find broken, "shared race" or the like; NULL where
 * they must find nothing. A bug may give wrong values and break no rule.
 * angle_error says how far cosines and sines may be off in a variant that computes them itself, see
 * kf_fp32_angle_error; NULL where they are rounded once, as a table computed in fp64 is. */
typedef struct kf_variant {
    const char *name;
    const char *about; /* one line for --list */
    void (*launch)(const kf_run *run, cudaStream_t stream);
    bool (*applies)(const kf_shape *shape); /* NULL: to every case */
    int block; /* column d of the output is written by thread d % block; 0: no such rule */
    bool (*predicted)(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size);
    const char *finding KF_UNLESS_GIVEN(NULL);
    double (*angle_error)(const kf_shape *shape) KF_UNLESS_GIVEN(NULL);
} kf_variant;

enum kf_clock { KF_GRAPH, KF_STREAM, KF_CALL };
enum kf_l2 { KF_WARM, KF_COLD };
typedef struct kf_timing {
    enum kf_clock clock;
    enum kf_l2 l2;
} kf_timing;

/* The least any implementation of this case must do: every input read once, every output written
 * once, and the arithmetic of the definition. tensor_cores: which rate bounds the flops. */
typedef struct kf_cost {
    double bytes, flops;
    bool tensor_cores;
} kf_cost;

typedef struct kf_program {
    const char *step;  /* "03-block-reduce-bug" */
    const char *title; /* one line */
    const kf_case *cases;
    int n_cases;
    const kf_variant *variants; /* variant 0 is the baseline every ratio refers to */
    int n_variants;
    void (*setup)(kf_run *run); /* declares the tensors of run->shape */
    /* Fills want, bound and checked of every output; called again for another run->angle_error. */
    void (*reference)(kf_run *run);
    kf_cost (*cost)(const kf_shape *shape);
    const kf_timing *timings; /* NULL: graph warm, graph cold */
    int n_timings;
} kf_program;

/* An array and its length, for the tables of a kf_program. */
#define KF_LIST(array) array, sizeof array / sizeof *array

/* Runs the program as its command line says and returns its exit code. */
int kf_main(const kf_program *program, int argc, char **argv);

/* --- Tensors, for setup functions. dim: one extent a letter of axes. Returns the tensor. ------ */
kf_tensor *kf_input(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                    const int64_t *dim); /* filled from the seed: see random.c */
kf_tensor *kf_output(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                     const int64_t *dim); /* poisoned with NaN before every verified run */
kf_tensor *kf_scratch(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                      const int64_t *dim); /* poisoned as well */

/* An input that is too large for the host: make fills it on the device, once, with the same values
 * each time it is called. It has no values on the host, and nothing restores it: no variant may
 * write to it. */
kf_tensor *kf_device_input(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                           const int64_t *dim, void (*make)(const kf_run *run, void *device));

/* The tensor of that name; a name that setup did not declare ends the program with a line. */
kf_tensor *kf_find(const kf_run *run, const char *name);
float *kf_f32(const kf_run *run, const char *name); /* its device memory, which must be of fp32 */
void *kf_memory(const kf_run *run, const char *name, enum kf_dtype dtype); /* of that type */
/* For references: what a launch leaves in the outputs becomes the result that others must match bit
 * for bit. The launch itself has to be verified in another step. */
void kf_reference_from(kf_run *run, void (*launch)(const kf_run *run, cudaStream_t stream));

/* --- Ready-made problems ------------------------------------------------------------------- */
/* Attention: inputs q, k, v and output o, fp32, shapes as in kf_shape. With R > 0 the result is
 * attention over rotated q and k; no table is declared. o = softmax(q k^T / sqrt(D)) v. */
void kf_attention_setup(kf_run *run);
void kf_attention_reference(kf_run *run);
/* Bytes: q, k, v read and o written once. Flops: 4 Sq Sk D a head (Dao et al. 2022), of which a
 * causal mask leaves only the pairs it lets through, plus 3 a rotated element. */
kf_cost kf_attention_cost(const kf_shape *shape);

/* RoPE tables: inputs cos and sin [P][R/2] in fp32, row p for position pos0 + p, P = max(Sq, Sk),
 * computed in fp64 and rounded once. angle = position * base^(-2i/R), base 10000 (Su et al. 2021,
 * RoFormer, section 3.2.2), NeoX halves: x[i] pairs with x[i + R/2].
 * With R = 0 they are [1][1], for kernels that want a pointer. */
void kf_rope_tables(kf_run *run);

/* A cache of turned keys: input k_cache, like k, which is declared already. Each row of k is turned
 * in fp64 and rounded once; the newest Sq rows are NaN until a kernel appends them. */
void kf_rope_cache(kf_run *run);

/* RoPE alone: input x, output y, [B][S][D] in fp32, S = Sq = Sk, H = 1, R = D. Row s of each batch
 * stands at position pos0 + s. Pairs are halves as above or, interleaved, x[2i] and x[2i + 1].
 * Bytes: x read and y written once. Flops: 3 an element. */
void kf_rope_setup(kf_run *run);
void kf_rope_reference(kf_run *run);
void kf_rope_reference_interleaved(kf_run *run);
kf_cost kf_rope_cost(const kf_shape *shape);

/* --- For references of a step's own: every bound is derived in tolerance.c ------------------- */
double kf_unit_roundoff(enum kf_dtype dtype);
/* An inner product of length n computed in any order is within gamma |a|.|b| of the exact one. */
double kf_gamma(int64_t n, double u);
/* The largest error of cos and sin if position * powf(base, -2i/R) is computed in fp32, at
 * positions up to the shape's last: with sincosf, or with __sincosf (fast). */
double kf_fp32_angle_error(const kf_shape *shape, bool fast);

/* --- Where are we --------------------------------------------------------------------------- */
bool kf_on_cpu(void);              /* the CPU backend is underneath */
const char *kf_thread_order(void); /* "forward", "reverse", "random" on the CPU; "hardware" */

/* printf to the reader, and nothing under --json. */
void kf_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* --- Checked calls -------------------------------------------------------------------------- */
/* On failure prints one line (what, where, what would help) and exits: 77 when this machine cannot
 * run it (no device, too old, out of memory), else 1. Rows already written stay. */
void kf_check(cudaError_t error, const char *what, const char *file, int line);
#define CUDA_CHECK(call) kf_check((call), #call, __FILE__, __LINE__)
/* After a launch: a bad configuration shows here, a fault in the kernel at the next synchronise. */
#define CUDA_CHECK_LAUNCH() kf_check(cudaGetLastError(), "kernel launch", __FILE__, __LINE__)

#ifdef __cplusplus
}
#endif
#endif
