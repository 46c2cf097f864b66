/* unit_tensors.c: what the device holds before a launch: inputs as drawn, everything else poison,
 * to the last element, also where that takes several blocks. */
#define _DEFAULT_SOURCE
#include "unit.h"
#include <math.h>
#include <stdlib.h>

enum { LARGE = 3 * (1 << 20) / 4 + 5 }; /* fp32 elements: more than two blocks of 1 MiB */

static const kf_case shape = {.name = "any", .shape = {1, 1, 1, 1, 1, 0, false, 0}};
static const kf_program program = {.step = "00-unit"};

static void contents(enum kf_dtype dtype, int64_t count)
{
    kf_run run;
    kf_open(&run, &program, &shape, 1);
    kf_tensor *in = kf_input(&run, "in", "N", dtype, &count);
    kf_tensor *out = kf_output(&run, "out", "N", dtype, &count);
    kf_tensor *scratch = kf_scratch(&run, "scratch", "N", dtype, &count);
    ok(kf_allocate(&run), "%s: %lld elements fit", kf_dtype_name(dtype), (long long)count);
    memset(out->checked, true, (size_t)count); /* a reference may take an element for a row */
    memset(in->device, 0, (size_t)kf_tensor_bytes(in));
    memset(out->device, 0, (size_t)kf_tensor_bytes(out));
    memset(scratch->device, 0, (size_t)kf_tensor_bytes(scratch));
    kf_prepare(&run);
    memset(in->device, 0, (size_t)kf_tensor_bytes(in)); /* a variant spoils its input */
    kf_prepare(&run);
    void *raw = kf_alloc(count, kf_dtype_size(dtype));
    int64_t same = 0, poison = 0;
    kf_fetch(in, raw);
    for (int64_t i = 0; i < count; i++)
        same += kf_unpack(dtype, raw, i) == in->host[i];
    kf_fetch(out, raw);
    for (int64_t i = 0; i < count; i++)
        poison += kf_is_poison(dtype, raw, i);
    kf_fetch(scratch, raw);
    for (int64_t i = 0; i < count; i++)
        poison += kf_is_poison(dtype, raw, i);
    ok(same == count, "the input is what the host drew");
    ok(poison == 2 * count, "output and scratch are poison throughout");
    free(raw);
    kf_close(&run);
}

/* What a launch writes beside an output is found on both sides, where it is not poison; a tensor of
 * odd length ends where the guard behind it begins. */
static void beside(void)
{
    kf_run run;
    kf_open(&run, &program, &shape, 1);
    int64_t dim[2] = {3, 7};
    kf_tensor *o = kf_output(&run, "o", "SD", KF_F16, dim);
    ok(kf_allocate(&run), "an output with guards fits");
    ok(kf_guard(&run, run.state->slot) == KF_GUARD && (uintptr_t)o->device % 16 == 0,
       "they do not change how it is aligned");
    uint16_t *at = o->device;
    for (int round = 0; round < 2; round++) {
        kf_diagnosis seen;
        void *raw = kf_alloc(o->count, 2);
        char said[1024] = "";
        kf_prepare(&run);
        for (int i = 0; i < 21; i++)
            at[i] = 0;
        if (round == 1) {
            at[-1] = 1;
            at[-9] = 2;
            at[21] = 3;
            at[22] = 4;
            at[21 + KF_GUARD / 2 - 1] = 0;
        }
        kf_fetch(o, raw);
        kf_compare(o, raw, &seen);
        kf_look_beyond(&run, run.state->slot, &seen);
        FILE *memory = fmemopen(said, sizeof said, "w");
        kf_diagnosis_print(memory, &seen, 0);
        fclose(memory);
        ok(seen.before == (round ? 2 : 0) && seen.after == (round ? 3 : 0) && seen.wrong == 0,
           "written beside the output: %d before, %d after", (int)seen.before, (int)seen.after);
        ok(strcmp(said, round ? "  o: 0 of 0 elements wrong, 0 of them NaN or Inf\n"
                                "    written before it: 2 elements, first at row -2, column 5\n"
                                "    written after it: 3 elements, first at row 3, column 0\n"
                              : "  o: 0 of 0 elements wrong, 0 of them NaN or Inf\n") == 0,
           "and that is said");
        kf_diagnosis_free(&seen);
        free(raw);
    }
    kf_renew(&run);
    ok(kf_guard(&run, run.state->slot) == 0, "none where a profiler or a checker looks on");
    kf_close(&run);
}

static void tables(void)
{
    static const kf_case far = {.name = "far", .shape = {1, 1, 3, 40, 80, 20, true, 131032}};
    kf_run run;
    kf_open(&run, &program, &far, 1);
    kf_rope_tables(&run);
    const kf_tensor *c = kf_find(&run, "cos"), *s = kf_find(&run, "sin");
    double worst = 0;
    for (int p = 0; p < 40; p++)
        for (int i = 0; i < 10; i++) {
            double angle = (131032 + p) / pow(10000.0, i / 10.0);
            worst = fmax(worst, fabs(c->host[p * 10 + i] - cos(angle)));
            worst = fmax(worst, fabs(s->host[p * 10 + i] - sin(angle)));
        }
    ok(c->rows == 40 && c->dim[1] == 10, "a row for each position, a column for each pair");
    ok(worst < 3.1e-8, "cos and sin up to position 131071 are off by %.1e: one rounding", worst);
    kf_close(&run);
}

static int made;

static void make(const kf_run *run, void *device)
{
    made++;
    memset(device, 1, (size_t)kf_tensor_bytes(kf_find(run, "far")));
}

static void made_on_the_device(void)
{
    kf_run run;
    kf_open(&run, &program, &shape, 1);
    int64_t count = 5;
    kf_tensor *far = kf_device_input(&run, "far", "N", KF_F16, &count, make);
    ok(kf_allocate(&run) && made == 0,
       "an input made on the device is not made before it is needed");
    kf_prepare(&run);
    kf_prepare(&run);
    ok(made == 1 && ((const char *)far->device)[9] == 1, "it is made once");
    ok(kf_renew(&run) && made == 2 && ((const char *)far->device)[9] == 1,
       "and again in new memory");
    kf_close(&run);
}

/* A case that takes more than there is free is not asked for; one that takes no more, is. */
static void asked_for(void)
{
    kf_run run;
    kf_open(&run, &program, &shape, 1);
    int64_t count = 1000;
    kf_tensor *in = kf_input(&run, "in", "N", KF_F32, &count);
    kf_tensor *out = kf_output(&run, "out", "N", KF_F16, &count);
    const int64_t need = 4000 + 2000 + 2 * KF_GUARD;
    char text[32];
    ok(kf_device_need(&run, 1) == need, "tensors and guards take %lld bytes", (long long)need);
    ok(kf_device_need(&run, 1 << 20) == 2 << 20, "which is two units of 1 MiB");
    snprintf(text, sizeof text, "%lld", (long long)need - 1);
    setenv("FAKE_FREE", text, 1);
    ok(!kf_allocate_if_free(&run) && !in->device && !out->device, "a byte less is free: no memory");
    ok(kf_allocate(&run), "though there is some");
    kf_close(&run);

    kf_open(&run, &program, &shape, 1);
    kf_input(&run, "in", "N", KF_F32, &count);
    kf_output(&run, "out", "N", KF_F16, &count);
    snprintf(text, sizeof text, "%lld", (long long)need);
    setenv("FAKE_FREE", text, 1);
    ok(kf_allocate_if_free(&run), "as much is free: memory");
    unsetenv("FAKE_FREE");
    kf_close(&run);
}

static void write_some(const kf_run *run, cudaStream_t stream)
{
    (void)stream;
    ((int32_t *)kf_memory(run, "out", KF_I32))[0] = -7;
}

static void reference_from(void)
{
    kf_run run;
    kf_open(&run, &program, &shape, 1);
    int64_t count = 2;
    kf_tensor *out = kf_output(&run, "out", "N", KF_I32, &count);
    ok(kf_allocate(&run), "two integers fit");
    kf_reference_from(&run, write_some);
    ok(out->want[0] == -7.0 && out->bound[0] == 0.0 && out->checked[0],
       "what a launch leaves is what others must match, to the bit");
    ok(isnan(out->want[1]), "and what it leaves unwritten, nobody can match");
    kf_close(&run);
}

int main(void)
{
    contents(KF_I32, LARGE);
    beside();
    made_on_the_device();
    asked_for();
    reference_from();
    contents(KF_F32, 7);
    contents(KF_F32, LARGE);
    contents(KF_BF16, 2 * LARGE + 1);
    tables();
    return done();
}
