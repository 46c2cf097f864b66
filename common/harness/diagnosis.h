/* diagnosis.h: what the comparison of one output with its reference found, for steps that predict
 * how a bug shows. harness.h includes it. */
#pragma once

#include "harness.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Counts are over the elements that were compared. A NaN or Inf is wrong, but for an Inf where the
 * reference has the same. */
struct kf_diagnosis {
    const kf_tensor *tensor;
    int64_t total, wrong, nonfinite;
    int64_t unwritten;          /* of the nonfinite: still the poison the harness put there */
    int64_t before, after;      /* elements that were written on both sides of the output */
    int64_t first[KF_MAX_AXES]; /* the first wrong element, by coordinate */
    int64_t columns;            /* extent of the last axis */
    int64_t *wrong_in_column, *nonfinite_in_column; /* [columns] */
    int64_t *wrong_at[KF_MAX_AXES]; /* [axis][index on that axis]; the last is wrong_in_column */
    struct kf_details *details;     /* further facts for the report */
};

/* A prediction is given one for each output, in the order in which setup declares them. This finds
 * that of a name; one that is not an output's ends the program with a line. */
const kf_diagnosis *kf_seen(const kf_run *run, const kf_diagnosis *seen, const char *output);
int64_t kf_wrong(const kf_run *run, const kf_diagnosis *seen); /* elements, over all outputs */
/* Elements of an output that are wrong by another reference than the program's: for a prediction of
 * what comes out instead. The other one says which rows it checks, too. The output's own stays. */
int64_t kf_wrong_by(const kf_run *run, const char *output, void (*reference)(kf_run *run));

#ifdef __cplusplus
}
#endif
