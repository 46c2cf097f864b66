/* flush.cu: what flushes the L2 reads each element of the array, and writes nothing while all are
 * zero. TAP, as the unit tests. */
#include "harness/problem.h"
extern "C" { /* between the files of the harness, which are C */
#include "harness/run/run.h"
}
#include <cuda_runtime.h>
#include <stdio.h>
#include <vector>

/* What is in `never` after a read of so many elements, of which this one is 5 and the others 0. */
static float read_with(float *device, int64_t count, int64_t five)
{
    std::vector<float> zeros(count + 1, 0.0f);
    float never = -1.0f;
    if (five >= 0) {
        zeros[five] = 5.0f;
    }
    zeros[count] = never;
    CUDA_CHECK(cudaMemcpy(device, zeros.data(), (count + 1) * sizeof(float), cudaMemcpyDefault));
    kf_probe_read(device, device + count, count, 0);
    CUDA_CHECK(cudaMemcpy(&never, device + count, sizeof never, cudaMemcpyDefault));
    return never;
}

int main(void)
{
    const int64_t count = 4 * (3 * 512 * 1024 + 77); // three turns of all threads, and some more
    const int64_t places[] = {0,         1,         2,         3,         count / 16,
                              count / 8, count / 4, count / 3, count / 2, count / 4 * 3,
                              count - 2, count - 1};
    float *device;
    int missed = 0;
    CUDA_CHECK(cudaMalloc((void **)&device, (count + 1) * sizeof(float)));
    for (int64_t place : places) {
        missed += read_with(device, count, place) != 5.0f;
    }
    printf("%s 1 - the first, the last and elements in between are read\n",
           missed ? "not ok" : "ok");
    printf("%s 2 - zeros are read, and nothing is written\n",
           read_with(device, count, -1) == -1.0f ? "ok" : "not ok");
    printf("1..2\n");
    return 0;
}
