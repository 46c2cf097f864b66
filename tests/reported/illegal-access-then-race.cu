// check: 1 out of bounds, shared race, uninitialised read
// prints: 5 7 no error
// The first of several faults is an access where no memory is: a GPU stops there, and check goes on
// with what comes after. A load gives bits that are all set, and no register but its own has
// changed.
#include <cstdio>
struct node {
    const node *next;
    int value;
};
struct large {
    int x[100];
};
__device__ large copied;
__global__ void several(const node *list, int *o, int far)
{
    __shared__ int s[64];
    int i = threadIdx.x, sum = 0;
    for (int k = 0; k < 3; k++) { // follows the pointers that it has read there
        sum += list[far].value;
        list = list[far].next;
    }
    volatile int *q = o + far;
    asm volatile("" : "+r"(q)); // the compiler knows no more where it leads
    *q = 1;
    int got = *q + (*q == -1) + 1; // 1
    atomicAdd((int *)q, 1);
    if (i == 0) {
        memcpy(&copied, (const void *)q, sizeof copied);
        memset((void *)q, 0, 5000);
    }
    q -= far;
    if (i == 0) {
        q[0] = got & 5 | 4;
        q[1] = copied.x[99] & 7;
    }
    s[i] = sum;
    o[i + 2] = s[i ^ 32];
}
int main()
{
    node *list;
    int *o, h[2];
    cudaMalloc(&list, sizeof *list);
    cudaMalloc(&o, 4 * 66);
    cudaMemset(list, 0, sizeof *list);
    cudaMemset(o, 0, 4 * 66);
    several<<<1, 64>>>(list, o, 1 << 28);
    cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %s\n", h[0], h[1], cudaGetErrorString(cudaGetLastError()));
    cudaFree(list);
    cudaFree(o);
}
