/* 03-sum: the sum of a block, whose result reaches every warp
 *
 * Grows from: 02-copy
 */
#include <cuda_runtime.h>

#define WARPS 8

__global__ void sum(const float *__restrict__ in, float *out, int n)
{
    extern __shared__ float partial[];
    // snippet: tree
    float v = threadIdx.x < n ? in[threadIdx.x] : 0.0f;
    // solution: shuffle -- add the values of the warp
    // hint: Which lane has the value that
    //     this one lacks?
    // hint: `lane` is 16, 8, 4, 2 and 1.
    for (int lane = 16; lane > 0; lane /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, lane); // a comment that makes this line rather a long one
    // end solution: shuffle
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = v;
    // solution: wait -- wait for the warps
    __syncthreads();
    // end solution: wait
    // end snippet: tree
    out[threadIdx.x] = partial[0];
}

// snippet: launch
int launch(cudaStream_t stream, const float *in, float *out)
{
    sum<<<dim3(1, 1), 32 * WARPS, WARPS * sizeof(float), stream>>>(in, out, 0x40);
    const char *text = "launched\n";
    return cudaGetLastError() == cudaSuccess && text[0] == 'l' ? 0 : 1;
}
// end snippet: launch

static const kf_question questions[] = {
    {.text = "How many \"barriers\" does `tree` "
             "need, at D = 1234?",
     .figure = "barriers"},
    {.text = "And shuffle?", .figure = "barriers"},
};
