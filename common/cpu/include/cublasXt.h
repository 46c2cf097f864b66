/* cuBLAS-XT: products of matrices that lie in the host's memory or the device's. On one device each
 * is a copy to it, the product of cuBLAS, and a copy back; the call returns when it is done. */
#pragma once

#include "cublas_v2.h"

#include <stdlib.h>

typedef struct cublasXtContext {
    cublasHandle_t blas;
    int block;
} * cublasXtHandle_t;

static inline cublasStatus_t cublasXtCreate(cublasXtHandle_t *handle)
{
    cublasXtHandle_t h = (cublasXtHandle_t)calloc(1, sizeof *h);
    cublasStatus_t status = h ? cublasCreate(&h->blas) : CUBLAS_STATUS_ALLOC_FAILED;
    *handle = h;
    if (status == CUBLAS_STATUS_SUCCESS) {
        h->block = 1024;
        return status;
    }
    free(h);
    *handle = NULL;
    return status;
}
static inline cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    cublasDestroy(handle->blas);
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}
/* There is one device, 0. */
static inline cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int ids[])
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    return count == 1 && ids[0] == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
/* The size of tiles changes nothing here. */
static inline cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int block)
{
    if (!handle || block <= 0)
        return handle ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_NOT_INITIALIZED;
    handle->block = block;
    return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int *block)
{
    if (!handle || !block)
        return handle ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_NOT_INITIALIZED;
    *block = handle->block;
    return CUBLAS_STATUS_SUCCESS;
}

/* A copy, on the device, of a matrix by columns. */
static inline cudaError_t cpu_xt_copy(void **copy, const void *p, size_t rows, size_t columns,
                                      size_t ld, size_t size)
{
    cudaError_t error = cudaMalloc(copy, rows * columns * size);
    return error == cudaSuccess ? cudaMemcpy2D(*copy, rows * size, p, ld * size, rows * size,
                                               columns, cudaMemcpyDefault)
                                : error;
}

#define CPU_XT_GEMM(T, name)                                                                       \
    static inline cublasStatus_t cublasXt##name(                                                   \
        cublasXtHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, size_t m, size_t n,   \
        size_t k, const T *alpha, const T *a, size_t lda, const T *b, size_t ldb, const T *beta,   \
        T *c, size_t ldc)                                                                          \
    {                                                                                              \
        const size_t rows_a = ta == CUBLAS_OP_N ? m : k, rows_b = tb == CUBLAS_OP_N ? k : n;       \
        const size_t most = 0x7fffffff;                                                            \
        void *da = NULL, *db = NULL, *dc = NULL;                                                   \
        cublasStatus_t status = CUBLAS_STATUS_EXECUTION_FAILED;                                    \
        if (!handle)                                                                               \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                  \
        if (m > most || n > most || k > most || lda < rows_a || ldb < rows_b || ldc < m)           \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        if (!m || !n || !k)                                                                        \
            return m && n ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;                   \
        if (cpu_xt_copy(&da, a, rows_a, m * k / rows_a, lda, sizeof(T)) == cudaSuccess &&          \
            cpu_xt_copy(&db, b, rows_b, k * n / rows_b, ldb, sizeof(T)) == cudaSuccess &&          \
            cpu_xt_copy(&dc, c, m, n, ldc, sizeof(T)) == cudaSuccess)                              \
            status =                                                                               \
                cublas##name(handle->blas, ta, tb, (int)m, (int)n, (int)k, alpha, (const T *)da,   \
                             (int)rows_a, (const T *)db, (int)rows_b, beta, (T *)dc, (int)m);      \
        if (status == CUBLAS_STATUS_SUCCESS &&                                                     \
            cudaMemcpy2D(c, ldc * sizeof(T), dc, m * sizeof(T), m * sizeof(T), n,                  \
                         cudaMemcpyDefault) != cudaSuccess)                                        \
            status = CUBLAS_STATUS_EXECUTION_FAILED;                                               \
        cudaFree(da);                                                                              \
        cudaFree(db);                                                                              \
        cudaFree(dc);                                                                              \
        return status;                                                                             \
    }
CPU_XT_GEMM(float, Sgemm)
CPU_XT_GEMM(double, Dgemm)
CPU_XT_GEMM(cuComplex, Cgemm)
CPU_XT_GEMM(cuDoubleComplex, Zgemm)
#undef CPU_XT_GEMM
