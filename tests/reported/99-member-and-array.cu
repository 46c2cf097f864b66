// check: 0
// prints: 15 31
// A kernel assigns a member of a structure a value that depends on the thread, and declares an
// array: both are common, and compiling the two did not end.
#include <cstdio>

struct node {
    int key, next;
};

__global__ void shifted(node *nodes, int *out)
{
    const int t = threadIdx.x;
    int a[4];
    nodes[t].key = 3 * t;
    nodes[t].next = t + 1;
    for (int i = 0; i < 4; i++)
        a[(i + t) % 4] = nodes[t].key + i;
    out[t] = a[t % 4];
}

int main()
{
    node *nodes, of[32];
    int *out, host[32];
    cudaMalloc(&nodes, sizeof of);
    cudaMalloc(&out, sizeof host);
    shifted<<<1, 32>>>(nodes, out);
    cudaMemcpy(of, nodes, sizeof of, cudaMemcpyDeviceToHost);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d\n", host[5], of[30].next);
    cudaFree(nodes);
    cudaFree(out);
}
