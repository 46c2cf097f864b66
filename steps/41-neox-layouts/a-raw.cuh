/* a-raw: an add that is given addresses and a length, and takes the rest for granted.
 *
 * The kernel is given no strides and no types, and checks neither addresses nor the length. Where
 * one of them is not as the kernel expects, a rule gives each wrong value. */
#pragma once

#include "views.cuh"

#include <cuda_bf16.h>
#include <stdio.h>

// snippet: raw
// a, b [n] -> c [n]: addresses that are multiples of 16 bytes, n a multiple of 8, all fp16
// cost: 6 n bytes, n additions
static __global__ void add_raw(const half *a, const half *b, half *c, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 8) {
        store_eight(c + 8 * i, sum_of(load_eight(a + 8 * i), load_eight(b + 8 * i)));
    }
}

/* Looks at neither strides nor types. */
static void raw_add(const view *a, const view *b, const view *c, cudaStream_t stream)
{
    const int64_t n = c->rows * c->columns;
    add_raw<<<blocks_for(n / 8, THREADS), THREADS, 0, stream>>>(
        (const half *)a->data, (const half *)b->data, (half *)c->data, n);
    CUDA_CHECK_LAUNCH();
}
// end snippet: raw

// --- Where it may run ---------------------------------------------------------------------------

/* True if raw accesses would be misaligned: they would fault on a GPU, and on a CPU only a program
 * under --check goes on after one. */
static bool is_misaligned(const kf_case *c)
{
    return !neox_names_model(c) && layout_of(c)->offset % 8 != 0;
}

/* With fewer than eight elements raw would launch no block, which is an error. */
static bool may_be_raw(const kf_case *c)
{
    return !is_misaligned(c) && (neox_names_model(c) || (int64_t)c->shape.Sq * c->shape.D >= 8);
}

static bool may_fault(const kf_case *c)
{
#ifdef CPU_TRACE
    return is_misaligned(c) && cpu_instrument()->mode == CPU_CHECK;
#else
    (void)c;
    return false;
#endif
}

// --- Predictions --------------------------------------------------------------------------------

/* The same 16 bits, read as the other type. */
static float read_as_half(__nv_bfloat16 x)
{
    return kf_unpack(KF_F16, &x, 0);
}

static float read_as_bf16(half x)
{
    return kf_unpack(KF_BF16, &x, 0);
}

/* The result of an add of halves on two bf16 numbers, read as bf16 again. */
static float sum_of_misread(float x, float y)
{
    const float sum = read_as_half(__float2bfloat16_rn(x)) + read_as_half(__float2bfloat16_rn(y));
    return read_as_bf16(__float2half_rn(sum));
}

/* Once: a prediction is made again after each way in which a variant is launched. */
static void show_bits(void)
{
    static bool shown;
    const __nv_bfloat16 one = __float2bfloat16_rn(1.0f);
    const float read = read_as_half(one);
    const half sum = __float2half_rn(read + read);
    uint16_t bits[2];
    memcpy(bits, &one, sizeof *bits);
    memcpy(bits + 1, &sum, sizeof *bits);
    if (!shown) {
        kf_say("    1 in bf16 is 0x%04x; read as f16 that is %g\n", bits[0], read);
        kf_say("    %g + %g is %g, in f16 0x%04x; read as bf16 that is %g\n", read, read,
               read + read, bits[1], sum_of_misread(1.0f, 1.0f));
    }
    shown = true;
}

/* Predicts that raw adds element k of the memory of a and b to give element k of c, in whole groups
 * of eight. In the model that is right. */
static bool predict_raw(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    if (neox_names_model(run->c)) {
        return all_adds_by(run, seen, launch<raw_add>, (const void *)add_raw, why, size);
    }
    const layout *l = layout_of(run->c);
    const float *a = first_of(run, "a");
    const float *b = first_of(run, "b");
    const kf_tensor *c = kf_find(run, "c");
    const int64_t n = (int64_t)run->shape.Sq * run->shape.D;
    const int64_t unwritten = n % 8;
    int64_t wrong = unwritten;
    for (int64_t k = 0; k < n - unwritten; k++) {
        const double got =
            l->dtype == KF_F16 ? rounded_sum(KF_F16, a[k], b[k]) : sum_of_misread(a[k], b[k]);
        wrong += got != c->want[k];
    }
    for (int64_t k = n; k < c->count; k++) { // 0, as before the add
        wrong += c->want[k] != 0.0;
    }
    if (l->dtype == KF_BF16) {
        show_bits();
    }
    snprintf(why, size, "predicted %lld wrong, of them %lld unwritten; seen %lld and %lld",
             (long long)wrong, (long long)unwritten, (long long)seen->wrong,
             (long long)seen->unwritten);
    return seen->wrong == wrong && (seen->unwritten == unwritten || !run->poisoned);
}

/* On a CPU that reports the misalignment and goes on, the values are right. */
static bool right_all_the_same(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    snprintf(why, size, "predicted right values by misaligned accesses");
    return kf_wrong(run, seen) == 0;
}
