// check: 1 out of bounds, shared race, uninitialised read
// prints: no error
// The first of several faults is an access where no memory is: a GPU stops there, and check goes on with what comes
// after. The load gives bits that are all set.
#include <cstdio>
struct node { const node *next; int value; };
__global__ void several(const node *list, int *o, int far)
{
    __shared__ int s[64];
    int i = threadIdx.x, sum = 0;
    for (int k = 0; k < 3; k++) { // follows the pointers that it has read there
        sum += list[far].value;
        list = list[far].next;
    }
    o[far * 4 + i] = sum;
    atomicAdd(&o[far * 4 + i], 1);
    s[i] = sum;
    o[i] = s[i ^ 32] + (i < 0 ? 0 : far);
}
int main()
{
    node *list; int *o;
    cudaMalloc(&list, sizeof *list); cudaMalloc(&o, 256);
    cudaMemset(list, 0, sizeof *list); cudaMemset(o, 0, 256);
    several<<<1, 64>>>(list, o, 1 << 26);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(list); cudaFree(o);
}
