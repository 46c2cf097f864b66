// check: 1 uninitialised read
// says: 4 bytes at offset 628 of kept (640 bytes of shared memory), never written
// The last thread returns early, and its structure stays unwritten. The others' are written by a
// call. In the second launch shared memory holds what the first one has left, and counts as
// unwritten all the same.
struct five {
    float of[5];
};

__device__ __noinline__ five count_from(float x)
{
    return {{x, x + 1, x + 2, x + 3, x + 4}};
}

__global__ void sums(five *out, float *y, int n)
{
    __shared__ five kept[32];
    const int t = threadIdx.x;
    if (t < n)
        kept[t] = out[t] = count_from(t);
    __syncthreads();
    y[t] = kept[31 - t].of[2];
}

int main()
{
    five *first, *out;
    float *y;
    cudaMalloc(&first, 32 * sizeof *first);
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMalloc(&y, 32 * sizeof *y);
    sums<<<1, 32>>>(first, y, 32);
    sums<<<1, 32>>>(out, y, 31);
    cudaDeviceSynchronize();
    cudaFree(first);
    cudaFree(out);
    cudaFree(y);
}
