/* plain.c: attention as plainly written in fp16 or bf16, with one rounding after each stage. Its
 * error is the measure: a low-precision kernel may be off by twice as much, and no more.
 * attention.c derives the most that type and lengths allow. */
#include "attention.h"
#include <math.h>
#include <stdlib.h>

void kf_plain_attention_row(enum kf_dtype dtype, int D, int64_t keys, const float *q,
                            const float *k, const float *v, float *o)
{
    float *p = kf_alloc(keys, sizeof *p);
    float scale = 1.0f / sqrtf((float)D), largest = -INFINITY, sum = 0.0f;
    for (int64_t j = 0; j < keys; j++) {
        float dot = 0.0f;
        for (int d = 0; d < D; d++)
            dot += q[d] * k[j * D + d];
        p[j] = kf_round_to(dtype, dot * scale);
        largest = fmaxf(largest, p[j]);
    }
    for (int64_t j = 0; j < keys; j++)
        sum += p[j] = expf(p[j] - largest);
    for (int64_t j = 0; j < keys; j++)
        p[j] = kf_round_to(dtype, p[j] / sum);
    for (int d = 0; d < D; d++)
        o[d] = 0.0f;
    for (int64_t j = 0; j < keys; j++)
        for (int d = 0; d < D; d++)
            o[d] += p[j] * v[j * D + d];
    for (int d = 0; d < D; d++)
        o[d] = kf_round_to(dtype, o[d]);
    free(p);
}
