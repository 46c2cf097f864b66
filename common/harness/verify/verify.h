/* verify.h: the arrays of a case, and whether the outputs are right. */
#pragma once

#include "harness/device/device.h"

/* --- tensors.c -------------------------------------------------------------------------------- */
enum { KF_MAX_TENSORS = 32 };
/* Guard bytes on each side of an output. A changed guard byte is an out-of-bounds write. There are
 * none under --check, which needs exact extents and finds such writes itself. */
enum { KF_GUARD = 1 << 16 };
enum kf_role { KF_INPUT, KF_OUTPUT, KF_SCRATCH };

/* A tensor, and what only the engine knows of it. */
typedef struct kf_slot {
    kf_tensor t;
    enum kf_role role;
    char *base; /* the allocation on the device; t.device lies in it */
    void *kept; /* input: a copy on the device that no variant knows of; NULL: no memory for it */
    void (*make)(const kf_run *run, void *device); /* input made on the device, else NULL */
    bool made;                                     /* it has been, in this memory */
    bool may_write;                                /* input: by variants */
    bool hashed;                                   /* input: hash is that of its values */
    uint64_t hash;
    double *other_want, *other_bound; /* for state->other_error, NULL if there are none yet */
    void *raw; /* output: room for what comes back from the device, NULL before the first time */
} kf_slot;

/* The part of a run that only the engine sees. */
typedef struct kf_state {
    kf_run view;            /* view.c: what launchers get, */
    struct kf_state *shown; /* and its state; NULL before the first launch */
    const kf_program *program;
    kf_slot slot[KF_MAX_TENSORS];
    int n;              /* slots */
    bool bare;          /* no guards: kf_renew's memory */
    double other_error; /* the extra error of the slots' other_want and other_bound */
} kf_state;

void kf_open(kf_run *run, const kf_program *program, const kf_case *c, uint64_t seed);
void kf_close(kf_run *run);
void *kf_host_array(int64_t count, size_t size); /* of one element if large and only captured */
int64_t kf_run_bytes(const kf_run *run);
int64_t kf_guard(const kf_run *run, const kf_slot *slot); /* bytes on each side of a tensor */
/* Bytes of all tensors on the device, each rounded up to whole units. */
int64_t kf_device_need(const kf_run *run, int64_t unit);
int64_t kf_device_free(void);
bool kf_allocate(kf_run *run); /* device memory of every tensor; false: it did not fit */
/* The same, but false without asking the device when less memory is free than they need. */
bool kf_allocate_if_free(kf_run *run);
/* Moves one tensor to other memory, which is uninitialised; false: no memory, nothing moved. */
bool kf_move(kf_run *run, int slot);
void kf_prepare(kf_run *run); /* uploads the inputs, poisons everything else and the guards */
/* Uploads another run's inputs instead, until kf_prepare; both runs declare the same tensors. */
void kf_lend_inputs(kf_run *run, const kf_run *other);
int64_t kf_changed(const kf_slot *slot); /* elements of an input that are not what was uploaded */
bool kf_renew(kf_run *run); /* new memory, inputs in it, nothing else written; or false */
/* On the stream of the launches: work on another stream may still be running. */
void kf_fetch(const kf_tensor *tensor, void *raw);
/* Copies the inputs of another run, in its memory, until kf_prepare; swaps: exchanges two elements
 * of each, chosen at random, so that nobody has met these inputs before. */
void kf_borrow_inputs(kf_run *run, const kf_run *other, bool swaps);
/* Whether an input, in this memory, has the values that it had when it was uploaded: in large cases
 * by a hash, as a comparison takes as long as the upload. changed: elements, -1 if not known. */
bool kf_input_kept(const kf_run *run, const kf_slot *slot, void *device, int64_t *changed);

/* --- view.c ----------------------------------------------------------------------------------- */
/* The run as launchers see it, with the tensors where they are now. It lives as long as the run. */
const kf_run *kf_view(const kf_run *run);
/* From now on a launcher that looks for what its view lacks ends the program with a line. Before
 * the first launch: then the CPU backend catches the faults of its kernels, and passes on the
 * others. */
void kf_forbid(void);

/* --- audit.c: other inputs -------------------------------------------------------------------- */
/* Opens another run of the case: inputs of another seed, which nobody could know, other rows with a
 * reference, and memory of its own. False: it does not fit beside this one. */
bool kf_others_open(kf_run *other, const kf_run *run);
/* Makes the reference with the variant's extra_error in its bounds. */
void kf_refer(kf_run *run, const kf_variant *variant);
/* The outputs of a timed variant when its inputs were exchanged. */
typedef struct kf_exchanged {
    bool input_written;
    int64_t wrong, unwritten, total;
} kf_exchanged;
typedef struct kf_auditor {
    kf_run *run, *other;
    const kf_variant **variant; /* of each work */
    kf_exchanged *result;       /* of each work, from the first look that found something */
    int turn;
} kf_auditor;
/* For kf_audit of timing.h; context: a kf_auditor. */
void kf_audit_lend(void *context, int work);
void kf_audit_look(void *context, int work);
void kf_audit_renew(void *context, int work);
/* Whether the variant wrote to an output before its stream got to it: on another stream. */
bool kf_runs_ahead(kf_run *run, const kf_variant *variant);

/* --- verify.c, diagnosis.c -------------------------------------------------------------------- */
typedef struct kf_details {
    int64_t from_unwritten;        /* of the nonfinite: computed from poison, where NaNs keep their
                                      bits (CPUs) */
    double first_got, first_want;  /* its value, and the reference */
    double median_ratio;           /* got/want over wrong finite elements, NaN if there are none */
    bool same_ratio;               /* and it hardly varies: 90% of them lie within 1% of it */
    bool one_ratio;                /* within what the type rounds to */
    double max_err, max_err_bound; /* largest finite |got - want|, and the bound there */
    double max_ratio;              /* largest finite |got - want| / bound; right means <= 1 */
    double square_ratio;           /* the sum of the squares of these */
    int64_t ratios;                /* how many there are, those that are 0 too */
    /* Where the first element before the output that was written would be, and after it. */
    int64_t first_before[KF_MAX_AXES], first_after[KF_MAX_AXES];
} kf_details;
void kf_compare(const kf_tensor *tensor, const void *raw, kf_diagnosis *seen);
/* After a reference: ends the program where it leaves nothing that could be wrong: no row of an
 * output is checked, or a bound is not finite. */
void kf_need_bounds(const kf_run *run);
/* Adds what was written into the guards around an output since kf_prepare. */
void kf_look_beyond(const kf_run *run, const kf_slot *slot, kf_diagnosis *seen);
void kf_diagnosis_free(kf_diagnosis *seen);
void kf_diagnosis_print(FILE *to, const kf_diagnosis *seen, int block);
/* "    never read: ...", a line for each axis of which some indices are marked as a whole. */
void kf_unread_print(FILE *to, const kf_slot *slot, const bool *marks);
/* "0-3, 7 and 9-12"; more than a few ranges become a count. */
void kf_ranges(const int64_t *marks, int64_t n, char *text, size_t size);
/* A row an index of the first axis: how far that part is off, and how large it is. */
void kf_errors_write(FILE *to, const char *variant, const char *case_name, const kf_tensor *tensor,
                     const void *raw);
/* "variant case tensor dtype extents", each after a blank, a newline, then the tensor's memory. */
void kf_dump_write(FILE *to, const char *variant, const char *case_name, const kf_tensor *tensor,
                   const void *raw);
/* The elements of the last head, one digit each: 0 right, 1 wrong, 2 NaN or infinite. */
void kf_map_write(FILE *to, const char *variant, const kf_tensor *tensor, const void *raw);

/* --- mistakes.c ------------------------------------------------------------------------------- */
/* The mistakes of problem.h that make the outputs of a small case, as they have been fetched, what
 * they are; "" if none does. Only of outputs o, lse and y. */
void kf_find_mistakes(const kf_run *run, char *text, size_t size);

/* --- exactness.c ------------------------------------------------------------------------------ */
typedef struct kf_exactness kf_exactness;
kf_exactness *kf_exactness_find(const char *step); /* "03" */
void kf_exactness_free(kf_exactness *known);
/* Whether an output within its bounds is as exact as recorded; if not, why. True where nothing is
 * recorded. */
bool kf_is_exact(const kf_exactness *known, const char *variant, const char *case_name,
                 const kf_diagnosis *diagnosis, char *why, size_t size);
extern const char kf_exactness_columns[];
void kf_exactness_write(FILE *to, const char *variant, const char *case_name,
                        const kf_diagnosis *diagnosis);
