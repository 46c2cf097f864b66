/* fuse: scores of rotated keys, by two kernels and by one. The chapter on attention and RoPE counts
 * what they do. */
#include <stdio.h>

enum { QUERIES = 64, KEYS = 64 };

// One pair (R = 2), so i = 0 and the angle is the position.
static __device__ float2 rotate(float2 x, int position)
{
    float cosine, sine;
    sincosf((float)position, &sine, &cosine);
    return make_float2(x.x * cosine - x.y * sine, x.x * sine + x.y * cosine);
}

// snippet: two-kernels
// Two kernels. rotate_keys: one block with a thread per key.
// scores: a block per query with a thread per key.
__global__ void rotate_keys(const float2 *k, float2 *rotated)
{
    const int j = threadIdx.x;
    rotated[j] = rotate(k[j], j);
}

__global__ void scores(const float2 *q, const float2 *rotated, float *s)
{
    const int i = blockIdx.x, j = threadIdx.x;
    const float2 query = q[i], key = rotated[j];
    s[i * KEYS + j] = query.x * key.x + query.y * key.y;
}
// end snippet: two-kernels

// snippet: fused
// One kernel: a block per query with a thread per key. No array between.
__global__ void fused(const float2 *q, const float2 *k, float *s)
{
    const int i = blockIdx.x, j = threadIdx.x;
    const float2 query = q[i], key = rotate(k[j], j);
    s[i * KEYS + j] = query.x * key.x + query.y * key.y;
}
// end snippet: fused

int main(void)
{
    static float2 q[QUERIES], k[KEYS];
    static float two[QUERIES * KEYS], one[QUERIES * KEYS];
    float2 *dq, *dk, *rotated;
    float *s;
    int differ = 0;
    for (int j = 0; j < KEYS; j++) {
        q[j] = make_float2(1.0F + (float)j, 2.0F);
        k[j] = make_float2(3.0F, 4.0F - (float)j);
    }
    cudaMalloc(&dq, sizeof q);
    cudaMalloc(&dk, sizeof k);
    cudaMalloc(&rotated, sizeof k);
    cudaMalloc(&s, sizeof two);
    cudaMemcpy(dq, q, sizeof q, cudaMemcpyHostToDevice);
    cudaMemcpy(dk, k, sizeof k, cudaMemcpyHostToDevice);
    rotate_keys<<<1, KEYS>>>(dk, rotated);
    scores<<<QUERIES, KEYS>>>(dq, rotated, s);
    cudaMemcpy(two, s, sizeof two, cudaMemcpyDeviceToHost);
    fused<<<QUERIES, KEYS>>>(dq, dk, s);
    cudaMemcpy(one, s, sizeof one, cudaMemcpyDeviceToHost);
    for (int n = 0; n < QUERIES * KEYS; n++)
        differ += two[n] != one[n];
    printf("%d of %d scores differ\n", differ, QUERIES * KEYS);
    cudaFree(dq);
    cudaFree(dk);
    cudaFree(rotated);
    cudaFree(s);
    return 0;
}
