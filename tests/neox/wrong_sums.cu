/* wrong_sums.cu: step 42's test_add counts each element once, and each wrong one, wherever it is.
 */
#define main step_main
#include "../../steps/42-neox-serial/neox-serial.cu"
#undef main

int main(void)
{
    enum { COUNT = 1000 }; // several blocks, the last of them not full
    const int wrong[] = {0, ADD_THREADS, 700, COUNT - 1};
    half a[COUNT], b[COUNT], c[COUNT], *on_device;
    int *tally, counted[2];
    for (int i = 0; i < COUNT; i++) {
        a[i] = __float2half_rn((float)i / 16.0f);
        b[i] = __float2half_rn(1.0f - (float)i / 48.0f);
        c[i] = __float2half_rn(__half2float(a[i]) + __half2float(b[i]));
    }
    for (int i : wrong) {
        c[i] = __ushort_as_half(__half_as_ushort(c[i]) ^ 1);
    }
    CUDA_CHECK(cudaMalloc(&on_device, 3 * sizeof a));
    CUDA_CHECK(cudaMalloc(&tally, sizeof counted));
    CUDA_CHECK(cudaMemcpy(on_device, a, sizeof a, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(on_device + COUNT, b, sizeof b, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(on_device + 2 * COUNT, c, sizeof c, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(tally, 0, sizeof counted));
    test_add<<<add_blocks(COUNT), ADD_THREADS>>>(on_device, on_device + COUNT,
                                                 on_device + 2 * COUNT, COUNT, tally);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(counted, tally, sizeof counted, cudaMemcpyDeviceToHost));
    printf("%d tested, %d wrong\n", counted[0], counted[1]);
    CUDA_CHECK(cudaFree(on_device));
    CUDA_CHECK(cudaFree(tally));
    return 0;
}
