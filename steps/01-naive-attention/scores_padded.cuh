/* scores_padded.cuh: the kernel scores for rows of k that are D + 1 floats apart.
 *
 * A copy of scores in naive-attention.cu with one other line, that of `key`. At D = 64 the 32 words
 * of a load of k lie in 32 banks in place of one.
 */
#pragma once

#include "harness/harness.h"

#include <math.h>

// q [BH][Sq][D], k [BH][Sk][D + 1], of which the last column is not read -> s [BH][Sq][Sk]
// cost: as scores
__global__ void scores_padded(const float *q, const float *k, float *s, int Sq, int Sk, int D,
                              bool causal)
{
    const int64_t i = blockIdx.x;
    const int j = blockIdx.y * blockDim.x + threadIdx.x;
    const int64_t head = blockIdx.z;
    if (j >= Sk) {
        return;
    }
    float score = -INFINITY;
    if (!causal || j <= Sk - Sq + i) {
        const float *query = q + (head * Sq + i) * D;
        // snippet: padded-row
        const float *key = k + (head * Sk + j) * (D + 1);
        // end snippet: padded-row
        float dot = 0.0f;
        for (int d = 0; d < D; d++) {
            dot += query[d] * key[d];
        }
        score = dot / sqrtf((float)D);
    }
    s[(head * Sq + i) * Sk + j] = score;
}
