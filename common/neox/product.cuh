/* product.cuh: y = x W^T + b, the products of the model: cuBLAS on a GPU, a plain loop on a CPU.
 *
 * On the CPU backend cuBLAS would need OpenBLAS. Both read fp16 and add in fp32, but in another
 * order: results may differ in the last bit, and the bounds of the reference allow for that. */
#pragma once

#include "neox/net.cuh"

#ifdef CUDA_CPU_BACKEND

static __device__ inline void store(float *to, float value)
{
    *to = value;
}

static __device__ inline void store(half *to, float value)
{
    *to = __float2half_rn(value);
}

// x [T][columns], w [rows][columns], bias [rows] or NULL -> y [T][rows]; one thread per element
// cost: 2 rows columns bytes per token, 2 T rows columns flops
template <typename Out>
static __global__ void plain_product(const half *x, const half *w, const half *bias, Out *y, int T,
                                     int rows, int columns)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= T * rows) {
        return;
    }
    const half *row = w + (int64_t)(i % rows) * columns;
    float sum = 0.0f;
    for (int j = 0; j < columns; j++) {
        sum += __half2float(row[j]) * __half2float(x[(int64_t)(i / rows) * columns + j]);
    }
    store(y + i, sum + (bias ? __half2float(bias[i % rows]) : 0.0f));
}

template <typename Out>
static inline void launch_product(const neox_net *net, const half *x, const half *w,
                                  const half *bias, Out *y, int rows, int columns,
                                  cudaStream_t stream)
{
    plain_product<<<blocks_for((int64_t)net->T * rows, 128), 128, 0, stream>>>(
        x, w, bias, y, net->T, rows, columns);
    CUDA_CHECK_LAUNCH();
}

#else
#include <cublasLt.h>

#define CUBLAS_CHECK(call) neox_cublas_check(call, #call, __FILE__, __LINE__)
static inline void neox_cublas_check(cublasStatus_t status, const char *what, const char *file,
                                     int line)
{
    if (status != CUBLAS_STATUS_SUCCESS) {
        fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, cublasLtGetStatusString(status));
        exit(KF_WRONG);
    }
}

/* cuBLAS takes longer to choose an algorithm than to multiply, so its choice is kept. */
typedef struct neox_plan {
    int T, rows, columns;
    bool bias, fp32;
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t w, x, y;
    cublasLtMatmulAlgo_t algorithm;
} neox_plan;

/* Column-major, as cuBLAS takes them: y^T [rows][T] = W x^T, with W transposed. */
static inline neox_plan neox_new_plan(cublasLtHandle_t handle, int T, int rows, int columns,
                                      const half *bias, bool fp32)
{
    neox_plan p;
    p.T = T;
    p.rows = rows;
    p.columns = columns;
    p.bias = bias != NULL;
    p.fp32 = fp32;
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const cublasLtEpilogue_t add_bias = CUBLASLT_EPILOGUE_BIAS;
    const size_t room = NEOX_WORKSPACE * sizeof(float);
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found;
    int n = 0;
    CUBLAS_CHECK(cublasLtMatmulDescCreate(&p.product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    CUBLAS_CHECK(cublasLtMatmulDescSetAttribute(p.product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                                sizeof transposed));
    if (bias) {
        CUBLAS_CHECK(cublasLtMatmulDescSetAttribute(p.product, CUBLASLT_MATMUL_DESC_EPILOGUE,
                                                    &add_bias, sizeof add_bias));
        CUBLAS_CHECK(cublasLtMatmulDescSetAttribute(p.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                                    &bias, sizeof bias));
    }
    CUBLAS_CHECK(cublasLtMatrixLayoutCreate(&p.w, CUDA_R_16F, columns, rows, columns));
    CUBLAS_CHECK(cublasLtMatrixLayoutCreate(&p.x, CUDA_R_16F, columns, T, columns));
    CUBLAS_CHECK(cublasLtMatrixLayoutCreate(&p.y, fp32 ? CUDA_R_32F : CUDA_R_16F, rows, T, rows));
    CUBLAS_CHECK(cublasLtMatmulPreferenceCreate(&preference));
    CUBLAS_CHECK(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room));
    CUBLAS_CHECK(cublasLtMatmulAlgoGetHeuristic(handle, p.product, p.w, p.x, p.y, p.y, preference,
                                                1, &found, &n));
    CUBLAS_CHECK(n > 0 ? found.state : CUBLAS_STATUS_NOT_SUPPORTED);
    CUBLAS_CHECK(cublasLtMatmulPreferenceDestroy(preference));
    p.algorithm = found.algo;
    return p;
}

static inline neox_plan *neox_find_plan(cublasLtHandle_t handle, int T, int rows, int columns,
                                        const half *bias, bool fp32)
{
    enum { MOST = 64 };
    static neox_plan plans[MOST];
    static int n;
    for (int i = 0; i < n; i++) {
        const neox_plan *p = &plans[i];
        if (p->T == T && p->rows == rows && p->columns == columns && p->bias == (bias != NULL) &&
            p->fp32 == fp32) {
            return &plans[i];
        }
    }
    if (n == MOST) {
        fprintf(stderr, "product.cuh: more than %d shapes of products; raise MOST\n", MOST);
        exit(KF_WRONG);
    }
    plans[n] = neox_new_plan(handle, T, rows, columns, bias, fp32);
    return &plans[n++];
}

template <typename Out>
static inline void launch_product(const neox_net *net, const half *x, const half *w,
                                  const half *bias, Out *y, int rows, int columns,
                                  cudaStream_t stream)
{
    static cublasLtHandle_t handle;
    const float one = 1.0f;
    const float zero = 0.0f;
    if (!handle) {
        CUBLAS_CHECK(cublasLtCreate(&handle));
    }
    neox_plan *p = neox_find_plan(handle, net->T, rows, columns, bias, sizeof(Out) == 4);
    if (bias) {
        CUBLAS_CHECK(cublasLtMatmulDescSetAttribute(p->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                                    &bias, sizeof bias));
    }
    CUBLAS_CHECK(cublasLtMatmul(handle, p->product, &one, w, p->w, x, p->x, &zero, y, p->y, y, p->y,
                                &p->algorithm, net->workspace, NEOX_WORKSPACE * sizeof(float),
                                stream));
}
#endif
