/* matrix: shared memory read by ldmatrix, written by stmatrix and by cp.async, in patterns by one
 * warp, a kernel each, for tests/banks.t. Prints a row a launch: the operation, how many matrices
 * or bytes of a lane, the pattern; counting programs add passes through the banks, conflicts and
 * sectors of global memory. plots/data/nvidia-h200/banks-matrix.tsv is what ncu saw of the same
 * launches on an NVIDIA H200.
 */
#include <cstdio>
#include <cuda_runtime.h>
#ifdef CPU_TRACE
#include "cpu/trace.h"
#endif

enum { PATTERNS = 24 };

static __device__ __forceinline__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

// index [32], out [32]: lane i has the address of row i, in units of 16 bytes.
template <int n>
__global__ void load_matrices(const int *index, unsigned *out)
{
    extern __shared__ int4 memory[];
    const unsigned row = shared_address(memory + index[threadIdx.x]);
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (n == 1)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(row));
    if (n == 2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(a), "=r"(b)
                     : "r"(row));
    if (n == 4)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                     : "r"(row));
    out[threadIdx.x] = a ^ b ^ c ^ d;
}

// The same for four that are written.
__global__ void store_matrices(const int *index, unsigned *out)
{
    extern __shared__ int4 memory[];
    const unsigned row = shared_address(memory + index[threadIdx.x]), v = out[threadIdx.x];
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(row),
                 "r"(v)
                 : "memory");
}

// to [32], from [32]: where each lane copies to and from, in units of what it copies.
template <class T, bool around_l1>
__global__ void copies(const int *to, const int *from, const T *x)
{
    extern __shared__ int4 memory[];
    const unsigned target = shared_address((T *)memory + to[threadIdx.x]);
    const T *source = x + from[threadIdx.x];
    if (around_l1)
        asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" ::"r"(target), "l"(source),
                     "n"(around_l1 ? 16 : (int)sizeof(T))
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(target), "l"(source),
                     "n"(sizeof(T))
                     : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
}

static int element(int pattern, int lane)
{
    const int of[PATTERNS] = {lane,
                              0,
                              lane / 2,
                              lane / 4,
                              lane / 8,
                              lane % 8,
                              lane % 4,
                              lane % 16,
                              2 * lane,
                              3 * lane,
                              4 * lane,
                              5 * lane,
                              8 * lane,
                              9 * lane,
                              16 * lane,
                              17 * lane,
                              lane ^ 1,
                              31 - lane,
                              8 * lane + (lane ^ lane / 8) % 8,
                              lane % 16 * 8 + (lane / 16 ^ lane % 8),
                              lane % 16 * 8 + lane / 16,
                              lane % 8 * 8 + lane / 8,
                              lane % 2 * 8 + lane / 16,
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

static void seen(const char *op, int n, int pattern)
{
    cudaDeviceSynchronize();
    printf("%s\t%d\t%d", op, n, pattern);
#ifdef CPU_TRACE
    const struct cpu_kernel_counts *list;
    if (cpu_instrument()->counts(&list) != 1)
        printf("not one kernel\n");
    const uint64_t *v = list[0].value;
    const int first = *op == 'l'   ? CPU_LDMATRIX_WAVEFRONTS
                      : *op == 's' ? CPU_STMATRIX_WAVEFRONTS
                                   : CPU_CP_ASYNC_WAVEFRONTS;
    printf("\t%d\t%d\t%d", (int)v[first], (int)v[first + 1], (int)v[CPU_CP_ASYNC_SECTORS]);
    cpu_instrument()->counts_reset();
#endif
    printf("\n");
}

static int *index_of(int pattern)
{
    int host[32], *index;
    for (int lane = 0; lane < 32; lane++)
        host[lane] = element(pattern, lane);
    cudaMalloc(&index, sizeof host);
    cudaMemcpy(index, host, sizeof host, cudaMemcpyHostToDevice);
    return index;
}

template <class T, bool around_l1>
static void run_copies(const char *to, const char *from)
{
    T *x;
    cudaMalloc(&x, 1024 * sizeof(T));
    cudaMemset(x, 0, 1024 * sizeof(T));
    begin();
    int *in_order = index_of(0);
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        int *index = index_of(pattern);
        copies<T, around_l1><<<1, 32, 32768>>>(index, in_order, x);
        seen(to, sizeof(T), pattern);
        copies<T, around_l1><<<1, 32, 32768>>>(in_order, index, x);
        seen(from, sizeof(T), pattern);
        cudaFree(index);
    }
    cudaFree(in_order);
    cudaFree(x);
}

int main()
{
    unsigned *out;
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemset(out, 0, 32 * sizeof *out);
    begin();
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        int *index = index_of(pattern);
        load_matrices<1><<<1, 32, 32768>>>(index, out);
        seen("ldmatrix", 1, pattern);
        load_matrices<2><<<1, 32, 32768>>>(index, out);
        seen("ldmatrix", 2, pattern);
        load_matrices<4><<<1, 32, 32768>>>(index, out);
        seen("ldmatrix", 4, pattern);
        store_matrices<<<1, 32, 32768>>>(index, out);
        seen("stmatrix", 4, pattern);
        cudaFree(index);
    }
    cudaFree(out);
    run_copies<int, false>("cp.async.ca to", "cp.async.ca from");
    run_copies<int2, false>("cp.async.ca to", "cp.async.ca from");
    run_copies<int4, false>("cp.async.ca to", "cp.async.ca from");
    run_copies<int4, true>("cp.async.cg to", "cp.async.cg from");
    return 0;
}
