/* harness.h: what a step tells the harness, and what the harness answers. A step is a table of
 * cases, a table of variants (ways to compute the same thing) and three functions: which tensors
 * there are, what the right result is, what the least work is. kf_main does the rest. What a table
 * leaves out is zero, in C and in C++.
 *
 * tensor.h and diagnosis.h come with it: arrays by name, and what a wrong output looks like.
 * Beside it: problem.h for a reference of one's own, tuned.h and timeline.cuh for few. */
#pragma once

#include "tensor.h"
#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#define KF_ZERO = {} /* without it C++ compilers warn of a member that a table leaves out */
#else
#define KF_ZERO
#endif

/* The extents of a case: columns of every row, and what --case selects by. The problem says what
 * they mean. Of B, H, Sq, Sk and D, 0 means 1. */
typedef struct kf_shape {
    int B KF_ZERO, H KF_ZERO, Sq KF_ZERO, Sk KF_ZERO, D KF_ZERO, R KF_ZERO;
    bool causal KF_ZERO;
    int pos0 KF_ZERO;
} kf_shape;

enum kf_case_flags {
    KF_TIMED = 0,       /* verified, and timed on a GPU */
    KF_VERIFY_ONLY = 1, /* an odd shape: verified, never timed */
    KF_LARGE = 2,       /* skipped on the CPU unless --case names it */
    KF_MAY_NOT_FIT = 4, /* running out of device memory is a predicted outcome, not a failure */
    KF_ALONE = 8,       /* also timed on KF_SUSTAINED and KF_COOL, which take seconds a variant */
    KF_CHECKED = 16     /* checked by --check, however many flops it has */
};

typedef struct kf_case {
    const char *name; /* no blanks, e.g. "D512" */
    kf_shape shape;
    unsigned flags KF_ZERO;
    const void *data KF_ZERO; /* further data for the step or its problem */
} kf_case;
/* KF_CASE("odd", KF_VERIFY_ONLY, .H = 3, .Sq = 7): after the flags what the shape has. */
#define KF_CASE(of_name, of_flags, ...)                                                            \
    {                                                                                              \
        .name = of_name, .shape = {__VA_ARGS__}, .flags = of_flags                                 \
    }

/* One case as it is run. */
struct kf_run {
    const kf_case *c;
    kf_shape shape;        /* c's */
    uint64_t seed, memory; /* memory: another number when the tensors have got other memory */
    bool poisoned;         /* unwritten elements are recognised; not with --once */
    double extra_error;    /* kf_variant.extra_error, for the reference to allow for */
    const char *model;     /* --model, the file of a model; NULL without */
    /* Set by setup, or NULL: writes which mistake makes a wrong output what it is. */
    void (*find_mistake)(const struct kf_run *run, const kf_tensor *t, const void *raw,
                         int64_t wrong, char *text, size_t size);
    struct kf_state *state;
};

/* Enqueues one whole call on the stream and returns: no synchronisation, no allocation, so that it
 * can be captured in a graph. Of its run a launcher may use c, shape, memory, and of tensors what
 * describes them and device: it gets no seed, no reference and no values of the host. */
typedef void kf_launch(const kf_run *run, cudaStream_t stream);
/* Captures the work that launch enqueues in a graph; the caller destroys it. */
cudaGraph_t kf_capture(const kf_run *run, kf_launch *launch, cudaStream_t stream);
typedef struct kf_diagnosis kf_diagnosis; /* the result of comparing an output: diagnosis.h */
/* True if a bug showed exactly as predicted. seen: one diagnosis per output, in the order in
 * which setup declares them. Writes one line into why: what was predicted and what was seen. */
typedef bool kf_predicted(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size);

/* One way to compute the outputs. */
typedef struct kf_variant {
    const char *name, *about; /* about: one line for --list */
    kf_launch *launch;
    bool (*applies)(const kf_case *c) KF_ZERO; /* NULL: to every case */
    /* NULL: always allowed. Returns NULL where the device, and what its compiler made of it, allow
     * it; else the status of its rows, "refused" or "refused-" and a word. why: the reason. */
    const char *(*refused)(const kf_case *c, char *why, size_t size)KF_ZERO;
    int block KF_ZERO;               /* of this variant, if not its program's */
    kf_predicted *predicted KF_ZERO; /* NULL: must be right */
    const char *finding KF_ZERO;     /* --check must find it: "shared race" or the like, or NULL */
    bool in_order KF_ZERO; /* the same bits in every run: --check finds sums in no order */
    /* Added to the bounds, for rounding that only this variant does. */
    double (*extra_error)(const kf_case *c) KF_ZERO;
} kf_variant;

/* On KF_SUSTAINED and KF_COOL a variant has the device to itself, at its power limit or before the
 * limit is felt: with KF_WARM only, in cases with KF_ALONE. */
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

/* A question of `make step-NN predict`. Its answer is a figure that the program has anyway, in a
 * row of --out or counted, so it is looked up and never typed. Counts are those of all kernels. */
typedef struct kf_question {
    const char *text; /* one sentence that ends with a question mark */
    const char
        *figure; /* "median_us", "wrong", "barriers" ..., or one over another: "div/blocks" */
    const char *case_name;
    const char *variant KF_ZERO;
    const char *over KF_ZERO;   /* this variant's figure divides it */
    const char *kernel KF_ZERO; /* the counts of this kernel only */
    const char *among KF_ZERO;  /* in place of a variant, "tree fix": which of these has least? */
    const kf_timing *timing KF_ZERO; /* of a time, if not the program's first */
    const char *unit KF_ZERO;        /* "us"; NULL: a plain number, or how many times */
} kf_question;

typedef struct kf_timeline kf_timeline; /* timeline.h */
typedef struct kf_program {
    const char *step, *title; /* "03-block-reduce-bug", and one line */
    /* As in its header: the least compute capability that has its instructions, "80" for 8.0, or
     * the only one, "90a" for 9.0. NULL: "75". */
    const char *architecture KF_ZERO;
    const kf_case *cases KF_ZERO;
    int n_cases KF_ZERO;
    const kf_variant *variants; /* variant 0 is the baseline every ratio refers to */
    int n_variants;
    int block KF_ZERO; /* thread d % block writes column d of the output; 0: no such rule */
    void (*setup)(kf_run *run) KF_ZERO; /* declares the tensors */
    /* Fills want, bound and checked of every output; called again for another extra_error. */
    void (*reference)(kf_run *run) KF_ZERO;
    kf_cost (*cost)(const kf_case *c) KF_ZERO;
    const kf_timing *timings KF_ZERO; /* NULL: graph warm, graph cold */
    int n_timings KF_ZERO;
    const kf_question *questions KF_ZERO; /* one to three */
    int n_questions KF_ZERO;
    /* The variants are candidates: --tuned writes the fastest of each shape, on the first clock.
     * Names with a part, "dq:m64-n64", compete with those of the same part; the rest are one. */
    bool tunes KF_ZERO;
    const kf_timeline *timeline KF_ZERO; /* NULL: no variant records */
    /* Whether the case reads a model from a file, which --model may name. NULL: none does. */
    bool (*reads_model)(const kf_case *c) KF_ZERO;
} kf_program;
#define KF_COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
/* A table of a program and its length: KF_TABLE(timings, timings) sets .timings and .n_timings.
 * KF_TABLES sets the two that every step has. */
#define KF_TABLE(name, array) .name = (array), .n_##name = KF_COUNT_OF(array)
#define KF_TABLES(of_cases, of_variants) KF_TABLE(cases, of_cases), KF_TABLE(variants, of_variants)
/* Runs the program as its command line says and returns its exit code. */
int kf_main(const kf_program *program, int argc, char **argv);

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
