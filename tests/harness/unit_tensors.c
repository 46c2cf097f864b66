/* unit_tensors.c: what the device holds before a launch: inputs as drawn, everything else poison,
 * to the last element, also where that takes several blocks. */
#include "unit.h"
#include <math.h>

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
    made_on_the_device();
    reference_from();
    contents(KF_F32, 7);
    contents(KF_F32, LARGE);
    contents(KF_BF16, 2 * LARGE + 1);
    tables();
    return done();
}
