/* banks: shared memory read and written in patterns by one warp, a kernel each, for tests/banks.t.
 * Counting programs print a row a launch: bytes of a lane, pattern, ld or st, passes, conflicts.
 * plots/data/nvidia-h200/banks.tsv is what ncu saw of the same launches on an NVIDIA H200. */
#include <cstdio>
#include <cuda_runtime.h>
#ifdef CPU_TRACE
#include "cpu/trace.h"
#endif

enum { PATTERNS = 32, NONE = -1 };

// index [32], out [32]: one load of shared memory a lane.
template <class T>
__global__ void loads(const int *index, T *out)
{
    extern __shared__ float4 memory[];
    const T *s = (const T *)memory;
    int i = index[threadIdx.x];
    if (i != NONE)
        out[threadIdx.x] = s[i];
}

// index [32], out [32]: one store, and one load so that it is not left out.
template <class T>
__global__ void stores(const int *index, T *out)
{
    extern __shared__ float4 memory[];
    T *s = (T *)memory;
    int i = index[threadIdx.x];
    T v = out[threadIdx.x];
    if (i != NONE)
        s[i] = v;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

static int element(int pattern, int lane)
{
    const int of[PATTERNS] = {lane,
                              0,
                              lane / 2,
                              lane / 4,
                              lane / 8,
                              lane / 16,
                              2 * lane,
                              4 * lane,
                              8 * lane,
                              lane < 16 ? lane : NONE,
                              lane < 8 ? lane : NONE,
                              lane < 4 ? lane : NONE,
                              lane % 2 ? NONE : lane,
                              lane % 4 ? NONE : lane,
                              lane % 8,
                              lane % 16,
                              lane % 4 * 8,
                              lane ^ 1,
                              lane < 16 ? lane : lane + 16,
                              lane * 3,
                              lane * 33 % 64,
                              lane % 2 * 8,
                              lane % 2 * 16,
                              lane * 7 % 32,
                              lane % 2 ? NONE : 0,
                              lane < 16 ? 0 : 1,
                              lane < 16 ? 0 : 16,
                              lane == 0 ? 0 : NONE,
                              lane / 2 * 2,
                              lane < 8    ? lane
                              : lane < 16 ? lane + 8
                                          : NONE,
                              lane >= 16 ? lane : NONE,
                              lane * lane % 64};
    return of[pattern];
}

// Counts of a memset are no kernel's.
static void begin(void)
{
#ifdef CPU_TRACE
    cpu_instrument()->counts_reset();
#endif
}

static void seen(int bytes, int pattern, const char *op)
{
    cudaDeviceSynchronize();
#ifdef CPU_TRACE
    const struct cpu_kernel_counts *list;
    if (cpu_instrument()->counts(&list) != 1)
        printf("not one kernel\n");
    int first = *op == 'l' ? CPU_SHARED_LD_WAVEFRONTS : CPU_SHARED_ST_WAVEFRONTS;
    printf("%d\t%d\t%s\t%d\t%d\n", bytes, pattern, op, (int)list[0].value[first],
           (int)list[0].value[first + 1]);
    cpu_instrument()->counts_reset();
#else
    (void)bytes, (void)pattern, (void)op;
#endif
}

template <class T>
static void run()
{
    int *index, host[32];
    T *out;
    cudaMalloc(&index, sizeof host);
    cudaMalloc(&out, 32 * sizeof(T));
    cudaMemset(out, 0, 32 * sizeof(T));
    begin();
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        for (int lane = 0; lane < 32; lane++)
            host[lane] = element(pattern, lane);
        cudaMemcpy(index, host, sizeof host, cudaMemcpyHostToDevice);
        loads<T><<<1, 32, 32768>>>(index, out);
        seen(sizeof(T), pattern, "ld");
        stores<T><<<1, 32, 32768>>>(index, out);
        seen(sizeof(T), pattern, "st");
    }
    cudaFree(index);
    cudaFree(out);
}

int main()
{
    run<float>();
    run<float2>();
    run<float4>();
    return 0;
}
