/* harness.h: what a step tells the harness, and what the harness answers.
 *
 * A step is a table of cases, a table of variants (ways to compute the same thing) and three
 * functions: which tensors there are, what the right result is, and what the least work is.
 * kf_main does the rest: inputs, poison, verification, timing, rows, the command line. Problems
 * that several steps share are in common/problems; problem.h is for references of a step's own.
 * README.md says in which order to read the files behind it. */
#ifndef KF_HARNESS_H
#define KF_HARNESS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define KF_UNLESS_GIVEN(value) = value /* what a member holds that a table leaves out */
#else
#define KF_UNLESS_GIVEN(value) /* in C that is zero, whatever the value */
#endif

/* Exit codes of every program. */
enum { KF_OK = 0, KF_WRONG = 1, KF_USAGE = 2, KF_CANNOT_RUN = 77 };

/* The extents of a case: columns of every row, and what --case selects by. The problem says what
 * they mean, and which it has no use for; what else it has to know is in the case's data. */
typedef struct kf_shape {
    int B KF_UNLESS_GIVEN(1);
    int H KF_UNLESS_GIVEN(1);
    int Sq KF_UNLESS_GIVEN(1);
    int Sk KF_UNLESS_GIVEN(1);
    int D KF_UNLESS_GIVEN(1);
    int R KF_UNLESS_GIVEN(0);
    bool causal KF_UNLESS_GIVEN(false);
    int pos0 KF_UNLESS_GIVEN(0);
} kf_shape;

enum kf_case_flags {
    KF_VERIFY_ONLY = 1, /* an odd shape: checked, never timed */
    KF_LARGE = 2,       /* skipped on the CPU unless --case names it */
    KF_MAY_NOT_FIT = 4, /* running out of device memory is a predicted outcome, not a failure */
    KF_OF_PROBLEM = 16  /* from here on flags are a problem's own */
};

typedef struct kf_case {
    const char *name; /* no blanks, e.g. "D512" */
    kf_shape shape;
    unsigned flags KF_UNLESS_GIVEN(0);
    const void *data KF_UNLESS_GIVEN(NULL); /* what the step, or its problem, wants to know */
} kf_case;

enum kf_dtype { KF_F32, KF_F16, KF_BF16, KF_I32 };
enum { KF_MAX_AXES = 4 };

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
    void *device;
    float *host;
    double *want, *bound;
    bool *checked;
} kf_tensor;

/* One case being run. */
typedef struct kf_run {
    const kf_case *c;
    kf_shape shape; /* c's */
    uint64_t seed;
    uint64_t memory;    /* another number when the tensors have got other memory */
    bool poisoned;      /* unwritten elements can be told; not with --once, whose memory is new */
    double extra_error; /* what bounds have to allow for: the variant's, see below */
    struct kf_state *state;
} kf_run;

/* What a comparison found. Counts are over elements compared; a NaN or Inf is wrong, always. */
typedef struct kf_diagnosis {
    const kf_tensor *tensor;
    int64_t total, wrong, nonfinite;
    int64_t unwritten;          /* of the nonfinite: still the poison the harness put there */
    int64_t first[KF_MAX_AXES]; /* the first wrong element, by coordinate */
    int64_t columns;            /* extent of the last axis */
    int64_t *wrong_in_column, *nonfinite_in_column; /* [columns] */
    int64_t *wrong_at[KF_MAX_AXES]; /* [axis][index on that axis]; the last is wrong_in_column */
    struct kf_details *details;     /* what the report says beside that */
} kf_diagnosis;
/* That of the output of this name; a name that setup did not declare ends the program. */
const kf_diagnosis *kf_seen(const kf_run *run, const kf_diagnosis *seen, const char *output);
int64_t kf_wrong(const kf_run *run, const kf_diagnosis *seen); /* elements, over all outputs */

/* Enqueues one whole call on the stream and returns: no synchronisation, no allocation, so that it
 * can be captured in a graph. */
typedef void kf_launch(const kf_run *run, cudaStream_t stream);
/* What launch enqueues, as a graph; the caller destroys it. */
cudaGraph_t kf_capture(const kf_run *run, kf_launch *launch, cudaStream_t stream);

/* Whether a bug showed exactly as predicted. seen: one diagnosis an output, in the order of their
 * declaration. Writes one line into why: what was predicted and what was seen. */
typedef bool kf_predicted(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size);

/* One way to compute the outputs. */
typedef struct kf_variant {
    const char *name;
    const char *about; /* one line for --list */
    kf_launch *launch;
    bool (*applies)(const kf_case *c) KF_UNLESS_GIVEN(NULL); /* NULL: to every case */
    int block
        KF_UNLESS_GIVEN(0); /* thread d % block writes column d of the output; 0: no such rule */
    kf_predicted *predicted KF_UNLESS_GIVEN(NULL); /* NULL: must be right */
    /* The rule that checkers must find broken, "shared race" or the like. A bug may break none. */
    const char *finding KF_UNLESS_GIVEN(NULL);
    /* Beyond the rounding that all variants share; run->extra_error while the reference is made. */
    double (*extra_error)(const kf_case *c) KF_UNLESS_GIVEN(NULL);
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
    const kf_case *cases KF_UNLESS_GIVEN(NULL);
    int n_cases KF_UNLESS_GIVEN(0);
    const kf_variant *variants; /* variant 0 is the baseline every ratio refers to */
    int n_variants;
    void (*setup)(kf_run *run) KF_UNLESS_GIVEN(NULL); /* declares the tensors */
    /* Fills want, bound and checked of every output; called again for another extra_error. */
    void (*reference)(kf_run *run) KF_UNLESS_GIVEN(NULL);
    kf_cost (*cost)(const kf_case *c) KF_UNLESS_GIVEN(NULL);
    const kf_timing *timings KF_UNLESS_GIVEN(NULL); /* NULL: graph warm, graph cold */
    int n_timings KF_UNLESS_GIVEN(0);
} kf_program;
#define KF_COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

/* Runs the program as its command line says and returns its exit code. */
int kf_main(const kf_program *program, int argc, char **argv);

/* For setup: a tensor filled from the seed (random.c), one poisoned with NaN before every verified
 * run, one that is poisoned and not compared. dim: one extent a letter of axes. */
kf_tensor *kf_input(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                    const int64_t *dim);
kf_tensor *kf_output(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                     const int64_t *dim);
kf_tensor *kf_scratch(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                      const int64_t *dim);
/* By name; a name that setup did not declare, or another type, ends the program with a line. */
kf_tensor *kf_find(const kf_run *run, const char *name);
float *kf_f32(const kf_run *run, const char *name); /* device memory of fp32 */
void *kf_memory(const kf_run *run, const char *name, enum kf_dtype dtype); /* and of any type */

bool kf_on_cpu(void);              /* the CPU backend is underneath */
const char *kf_thread_order(void); /* "forward", "reverse", "random" on the CPU; "hardware" */
/* printf to the reader, and nothing under --json. */
void kf_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

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
