// check: 0
// prints: 5 1 no error
// One thread looks at a variable, and the others do not: a compiler may not load it for all of them
// before it is known which thread it is.
#include <cstdio>
__device__ int first, second;
__global__ void look()
{
    if (threadIdx.x == 0 && first == 0)
        first = 5;
    if (threadIdx.x == 1) {
        if (!second)
            second = 1;
    }
}
int main()
{
    int a = -1, b = -1;
    look<<<1, 64>>>();
    cudaMemcpyFromSymbol(&a, first, sizeof a);
    cudaMemcpyFromSymbol(&b, second, sizeof b);
    printf("%d %d %s\n", a, b, cudaGetErrorString(cudaGetLastError()));
}
