/* harness.h: what a step tells the harness, and what the harness answers. A step is a table of
 * cases, a table of variants (ways to compute the same thing) and three functions: which tensors
 * there are, what the right result is, what the least work is. kf_main does the rest.
 *
 * Problems that several steps share are in common/problems; a step with a reference of its own
 * includes problem.h too. What only the engine knows is in internal.h, and README.md says in which
 * order to read on. */
#ifndef KF_HARNESS_H
#define KF_HARNESS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define KF_ZERO = {} /* a table may leave this member out: it is zero then, as in C */
#else
#define KF_ZERO
#endif

/* The extents of a case: columns of every row, and what --case selects by. The problem says what
 * they mean and which of them it has; what else it has to know is in the case's data. An extent
 * that a table leaves out, or 0, is 1. */
typedef struct kf_shape {
    int B KF_ZERO, H KF_ZERO, Sq KF_ZERO, Sk KF_ZERO, D KF_ZERO, R KF_ZERO;
    bool causal KF_ZERO;
    int pos0 KF_ZERO;
} kf_shape;

enum kf_case_flags {
    KF_VERIFY_ONLY = 1, /* an odd shape: checked, never timed */
    KF_LARGE = 2,       /* skipped on the CPU unless --case names it */
    KF_MAY_NOT_FIT = 4, /* running out of device memory is a predicted outcome, not a failure */
    KF_ALONE = 8,       /* also timed on sustained and cool, which take seconds a variant */
    KF_CHECKED = 16     /* checked by --check, however many flops it has */
};

typedef struct kf_case {
    const char *name; /* no blanks, e.g. "D512" */
    kf_shape shape;
    unsigned flags KF_ZERO;
    const void *data KF_ZERO; /* what the step, or its problem, wants to know */
} kf_case;

enum kf_dtype { KF_F32, KF_F16, KF_BF16, KF_I32 };
enum { KF_MAX_AXES = 4 };

/* A named array, row-major; a row runs along the last axis. All memory is the harness's. */
typedef struct kf_tensor {
    const char *name, *axes; /* one letter an axis: "BHSD" */
    int n_axes;
    int64_t dim[KF_MAX_AXES], count, rows;
    enum kf_dtype dtype;
    void *device;
    float *host;          /* input: the values on the device, so rounded to dtype */
    double *want, *bound; /* output: the result in fp64, and how far off a right kernel may be */
    bool *checked;        /* output [rows]: whether the row has a reference */
} kf_tensor;

/* One case as it is run. */
typedef struct kf_run {
    const kf_case *c;
    kf_shape shape;        /* c's */
    uint64_t seed, memory; /* memory: another number when the tensors have got other memory */
    bool poisoned;      /* unwritten elements can be told; not with --once, whose memory is new */
    double extra_error; /* what bounds have to allow for: the variant's, see below */
    const char *model;  /* --model, the file of a model; NULL without */
    struct kf_state *state;
} kf_run;

/* Enqueues one whole call on the stream and returns: no synchronisation, no allocation, so that it
 * can be captured in a graph. */
typedef void kf_launch(const kf_run *run, cudaStream_t stream);
/* What launch enqueues, as a graph; the caller destroys it. */
cudaGraph_t kf_capture(const kf_run *run, kf_launch *launch, cudaStream_t stream);
typedef struct kf_diagnosis kf_diagnosis; /* what the comparison of an output found: diagnosis.h */
/* Whether a bug showed exactly as predicted. seen: one diagnosis an output, as setup declares them.
 * Writes one line into why: what was predicted and what was seen. */
typedef bool kf_predicted(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size);

/* One way to compute the outputs. */
typedef struct kf_variant {
    const char *name, *about; /* about: one line for --list */
    kf_launch *launch;
    bool (*applies)(const kf_case *c) KF_ZERO; /* NULL: to every case */
    /* NULL: the device, and what its compiler made of it, allow it. Else the status of its rows,
     * "refused" or "refused-" and a word, and the reason in why. */
    const char *(*refused)(const kf_case *c, char *why, size_t size)KF_ZERO;
    int block KF_ZERO; /* thread d % block writes column d of the output; 0: no such rule */
    kf_predicted *predicted KF_ZERO; /* NULL: must be right */
    /* The rule that checkers must find broken, "shared race" or the like. A bug may break none. */
    const char *finding KF_ZERO;
    /* Promises the same bits in every run: checkers find sums whose parts come in no order. */
    bool in_order KF_ZERO;
    /* Beyond the rounding that all variants share; run->extra_error while the reference is made. */
    double (*extra_error)(const kf_case *c) KF_ZERO;
} kf_variant;

/* KF_SUSTAINED and KF_COOL, with a warm L2 and in cases with KF_ALONE only: each variant has the
 * device to itself, at its power limit or before it is felt. alone.c says how and why. */
enum kf_clock { KF_GRAPH, KF_STREAM, KF_CALL, KF_SUSTAINED, KF_COOL };
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

/* What a variant may record of one block, for --timeline: a scratch tensor of KF_I32
 * [roles][most][4] that the recorder of common/harness/timeline.cuh writes, and names for its
 * numbers.
 */
typedef struct kf_timeline {
    const char *tensor;
    const char *const *roles, *const *events;
    int n_roles, n_events;
} kf_timeline;

typedef struct kf_program {
    const char *step, *title; /* "03-block-reduce-bug", and one line */
    /* As in its header: the least compute capability that has its instructions, "75" for 7.5, or
     * the only one, "90a" for 9.0. Left out: "75". */
    const char *architecture KF_ZERO;
    const kf_case *cases KF_ZERO;
    int n_cases KF_ZERO;
    const kf_variant *variants; /* variant 0 is the baseline every ratio refers to */
    int n_variants;
    void (*setup)(kf_run *run) KF_ZERO; /* declares the tensors */
    /* Fills want, bound and checked of every output; called again for another extra_error. */
    void (*reference)(kf_run *run) KF_ZERO;
    kf_cost (*cost)(const kf_case *c) KF_ZERO;
    const kf_timing *timings KF_ZERO; /* NULL: graph warm, graph cold */
    int n_timings KF_ZERO;
    /* The variants are candidates: --tuned writes which is the fastest of each shape, on the first
     * of the clocks, for kf_tuned. Names that begin with a part and a colon, "dq:m64-n64", compete
     * with those of the same part only; the rest are one part. */
    bool tunes KF_ZERO;
    const kf_timeline *timeline KF_ZERO; /* NULL: no variant records */
    /* Whether the case reads a model from a file, which --model may name. NULL: none does. */
    bool (*reads_model)(const kf_case *c) KF_ZERO;
} kf_program;
#define KF_COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
/* Runs the program as its command line says and returns its exit code. */
int kf_main(const kf_program *program, int argc, char **argv);

/* For setup: a tensor filled from the seed, one that is poisoned before every verified run, and one
 * that is poisoned and not compared. dim: one extent a letter of axes. */
kf_tensor *kf_input(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                    const int64_t *dim);
kf_tensor *kf_output(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                     const int64_t *dim);
kf_tensor *kf_scratch(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                      const int64_t *dim);
/* Variants may write to this input, which holds what a call leaves for the next: a cache. */
void kf_may_write(kf_run *run, const char *name);
/* By name; one that setup did not declare, or another type, ends the program with a line. */
kf_tensor *kf_find(const kf_run *run, const char *name);
bool kf_has(const kf_run *run, const char *name); /* whether setup declared it */
void *kf_memory(const kf_run *run, const char *name, enum kf_dtype dtype); /* on the device */
float *kf_f32(const kf_run *run, const char *name);                        /* that of fp32 */

/* The variant that a program that tunes has found to be the fastest on this device for a shape:
 * that of the row with the same D and causal whose Sq and Sk are nearest, as ratios. It is looked
 * for in build/data/DEVICE/tuned-TABLE.tsv, then in plots/data/DEVICE. part: "dq" finds the best of
 * "dq:m64-n64" and its like and gives "m64-n64"; NULL finds names without a part. false: no table,
 * or no such row. A table that is damaged, or another device's, ends the program with a line. */
bool kf_tuned(const char *table, const kf_shape *shape, const char *part, char *variant,
              size_t size);

bool kf_on_cpu(void);              /* the CPU backend is underneath */
const char *kf_thread_order(void); /* "forward", "reverse", "random" on the CPU; "hardware" */
/* printf to the reader, and nothing under --json. */
void kf_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A failure is one line (what, where, what would help) and exit code 77 where this machine cannot
 * run it (no device, too old, out of memory), else 1. Rows already written stay. */
void kf_check(cudaError_t error, const char *what, const char *file, int line);
#define CUDA_CHECK(call) kf_check((call), #call, __FILE__, __LINE__)
/* After a launch: a bad configuration shows here, a fault in the kernel at the next synchronise. */
#define CUDA_CHECK_LAUNCH() kf_check(cudaGetLastError(), "kernel launch", __FILE__, __LINE__)

#ifdef __cplusplus
}
#endif
#include "diagnosis.h"
#endif
