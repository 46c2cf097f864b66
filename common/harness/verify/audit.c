/* audit.c: inputs that a variant could not know of. A result that is kept and copied looks like one
 * that is computed, until the inputs change. So a variant meets other inputs after its first runs
 * and, at a moment that it cannot tell, while it is timed: in the graph or the loop that the clock
 * measures. Then its outputs are poisoned and compared with the reference of these inputs. */
#include "harness/time/timing.h"
#include "harness/verify/verify.h"
#include <stdlib.h>

static void swap(double **a, double **b)
{
    double *was = *a;
    *a = *b;
    *b = was;
}

/* The reference before is kept: most steps have two values of extra_error, and verify each variant
 * several times. */
void kf_refer(kf_run *run, const kf_variant *variant)
{
    double error = variant->extra_error ? variant->extra_error(run->c) : 0.0;
    bool known = error == run->state->other_error;
    if (error == run->extra_error)
        return;
    run->state->other_error = run->extra_error;
    run->extra_error = error;
    for (int i = 0; i < run->state->n; i++) {
        kf_slot *slot = &run->state->slot[i];
        kf_tensor *t = &slot->t;
        if (slot->role != KF_OUTPUT)
            continue;
        swap(&t->want, &slot->other_want);
        swap(&t->bound, &slot->other_bound);
        known = known && t->want;
        if (!t->want) {
            t->want = kf_alloc(t->count, sizeof *t->want);
            t->bound = kf_alloc(t->count, sizeof *t->bound);
        }
    }
    if (!known)
        run->state->program->reference(run);
}

bool kf_others_open(kf_run *other, const kf_run *run)
{
    const kf_program *program = run->state->program;
    kf_open(other, program, run->c, kf_fresh_seed());
    other->model = run->model;
    other->poisoned = true;
    program->setup(other);
    if (!kf_allocate_if_free(other)) {
        kf_close(other);
        return false;
    }
    program->reference(other);
    kf_prepare(other);
    return true;
}

void kf_audit_lend(void *context, int work)
{
    kf_auditor *a = context;
    (void)work;
    kf_prepare(a->run);
    kf_borrow_inputs(a->run, a->other, false);
}

void kf_audit_look(void *context, int work)
{
    kf_auditor *a = context;
    kf_exchanged *before = &a->result[work], now = {0}, *result = &now;
    kf_refer(a->other, a->variant[work]);
    for (int i = 0; i < a->run->state->n; i++) {
        kf_slot *slot = &a->run->state->slot[i];
        kf_diagnosis seen;
        int64_t changed;
        result->input_written |=
            !kf_input_kept(a->run, &a->other->state->slot[i], slot->t.device, &changed);
        if (slot->role != KF_OUTPUT)
            continue;
        if (!slot->raw)
            slot->raw = kf_alloc(slot->t.count, kf_dtype_size(slot->t.dtype));
        kf_fetch(&slot->t, slot->raw);
        kf_compare(&a->other->state->slot[i].t, slot->raw, &seen);
        result->wrong += seen.wrong;
        result->unwritten += seen.unwritten;
        result->total += seen.total;
        kf_diagnosis_free(&seen);
    }
    if (before->wrong == 0 && !before->input_written)
        *before = now;
    kf_prepare(a->run);
}

/* In turn its own inputs and the others', and each time two elements elsewhere. */
void kf_audit_renew(void *context, int work)
{
    kf_auditor *a = context;
    (void)work;
    if (a->turn++ % 2)
        kf_borrow_inputs(a->run, a->other, true);
    else {
        kf_prepare(a->run);
        kf_borrow_inputs(a->run, a->run, true);
    }
}

/* One number for all outputs; the copies go round the stream of the launches, which is held. */
static uint64_t outputs_now(const kf_run *run, cudaStream_t stream)
{
    uint64_t sum = 0;
    for (int i = 0; i < run->state->n; i++)
        if (run->state->slot[i].role == KF_OUTPUT)
            sum = 31 * sum + kf_hash(run->state->slot[i].t.device,
                                     kf_tensor_bytes(&run->state->slot[i].t), stream);
    return sum;
}

bool kf_runs_ahead(kf_run *run, const kf_variant *variant)
{
    static const double LOOK_AFTER_US = 3000.0;
    cudaStream_t aside;
    kf_prepare(run);
    CUDA_CHECK(cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking));
    const uint64_t poison = outputs_now(run, aside);
    kf_stream_hold();
    variant->launch(kf_view(run), kf_stream());
    CUDA_CHECK_LAUNCH();
    kf_host_sleep_us(LOOK_AFTER_US);
    const bool written = outputs_now(run, aside) != poison;
    const bool held = kf_stream_let_go();
    CUDA_CHECK(cudaStreamSynchronize(kf_stream()));
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaStreamDestroy(aside));
    return written && held;
}
