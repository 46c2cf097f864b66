#include <cuda_runtime_api.h>
#include "twice.h"
int host_sum(const int *v, int n)
{
    int sum = 0, device = -1;
    cudaGetDevice(&device);
    for (int i = 0; i < n; i++)
        sum += v[i];
    return sum + device;
}
