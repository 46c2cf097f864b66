/* inputs.c: what launches leave as references, and the outputs of one problem as the inputs of
 * another. */
#include "harness/verify/verify.h"
#include <stdlib.h>
#include <string.h>

static void launch_alone(kf_run *run, kf_launch *launch)
{
    kf_device_lock(KF_SHARED);
    kf_prepare(run);
    launch(kf_view(run), kf_stream());
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaStreamSynchronize(kf_stream()));
    kf_device_lock(KF_UNLOCKED);
}

void kf_reference_from(kf_run *run, kf_launch *launch)
{
    launch_alone(run, launch);
    for (int i = 0; i < run->state->n; i++) {
        kf_tensor *t = &run->state->slot[i].t;
        if (run->state->slot[i].role != KF_OUTPUT)
            continue;
        void *raw = kf_alloc(t->count, kf_dtype_size(t->dtype));
        kf_fetch(t, raw);
        for (int64_t j = 0; j < t->count; j++) {
            t->want[j] = kf_unpack(t->dtype, raw, j);
            t->bound[j] = 0.0;
        }
        memset(t->checked, true, (size_t)t->rows * sizeof *t->checked);
        free(raw);
    }
}

/* The values of an output, to be freed: from the device if launched, else from the reference. */
static float *values_of(const kf_run *run, const kf_slot *slot, bool launched)
{
    const kf_tensor *t = &slot->t;
    float *values = kf_host_array(t->count, sizeof *values);
    int64_t columns = t->dim[t->n_axes - 1];
    if (kf_captures())
        return values;
    for (int64_t i = 0; i < t->count && !launched; i++) {
        if (!t->checked[i / columns])
            kf_die(KF_WRONG,
                   "case %s: row %lld of %s has no reference to be an input; a launch must make it",
                   run->c->name, (long long)(i / columns), t->name);
        values[i] = kf_round_to(t->dtype, (float)t->want[i]);
    }
    if (!launched)
        return values;
    void *raw = kf_alloc(t->count, kf_dtype_size(t->dtype));
    kf_diagnosis seen;
    kf_fetch(t, raw);
    kf_compare(t, raw, &seen);
    kf_look_beyond(run, slot, &seen);
    int64_t beside = seen.before + seen.after;
    if (seen.wrong + beside > 0)
        kf_die(KF_WRONG,
               "case %s: %lld of %lld elements of the input %s, which a kernel makes, are wrong, "
               "and %lld beside it; that kernel must be right first",
               run->c->name, (long long)seen.wrong, (long long)seen.total, t->name,
               (long long)beside);
    kf_diagnosis_free(&seen);
    for (int64_t i = 0; i < t->count; i++)
        values[i] = kf_unpack(t->dtype, raw, i);
    free(raw);
    return values;
}

void kf_inputs_from(kf_run *run, void (*setup)(kf_run *run), void (*reference)(kf_run *run),
                    kf_launch *launch)
{
    kf_run other;
    kf_open(&other, run->state->program, run->c, run->seed);
    setup(&other);
    if (kf_captures())
        launch = NULL;
    else
        reference(&other);
    if (launch && !kf_allocate_if_free(&other))
        kf_die(KF_CANNOT_RUN,
               "case %s: out of device memory (%.2f GB needed to make its inputs, %.2f GB free)",
               run->c->name, (double)kf_device_need(&other, 1) / 1e9,
               (double)kf_device_free() / 1e9);
    if (launch)
        launch_alone(&other, launch);
    for (int i = 0; i < other.state->n; i++) {
        kf_slot *slot = &other.state->slot[i];
        kf_tensor *t = &slot->t;
        if (slot->role == KF_OUTPUT)
            t->host = values_of(&other, slot, launch != NULL);
        if (!t->host)
            continue;
        kf_device_input(run, t->name, t->axes, t->dtype, t->dim, NULL)->host = t->host;
        t->host = NULL;
    }
    kf_close(&other);
}
