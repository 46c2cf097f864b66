/* 02-copy: one number in, one number out
 *
 * Grows from: nothing
 */
// snippet: copy
// in [n] -> out [n]
__global__ void copy(const float *__restrict__ in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}
// end snippet: copy
