/* tensor.h: arrays by name, for setup, which declares them, and for launches. harness.h includes
 * it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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
typedef struct kf_run kf_run; /* a case as it is run: harness.h */

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

#ifdef __cplusplus
}
#endif
