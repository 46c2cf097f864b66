/* The part of cuBLAS that teaching programs use, over OpenBLAS. Matrices are column-major. A
 * function that is not declared here is not supported. Calls run in stream order, and become
 * nodes of a capture. A matrix that extends past its allocation is reported in a line; the error
 * is cudaErrorIllegalAddress. */
#ifndef CPU_CUBLAS_V2_H
#define CPU_CUBLAS_V2_H

#define CUBLAS_V2_H_ /* programs test these */
#define CUBLAS_API_H_
#define CUBLASAPI
#define CUBLASWINAPI
#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION 130000

#include "cuda_runtime_api.h"
#ifdef __cplusplus
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#else
typedef struct {
    unsigned short x;
} __half;
#endif
#include "cuComplex.h"
#include "library_types.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define CPU_BLAS_STATUSES(X)                                                                       \
    X(CUBLAS_STATUS_SUCCESS, 0, "success")                                                         \
    X(CUBLAS_STATUS_NOT_INITIALIZED, 1, "the library was not initialized")                         \
    X(CUBLAS_STATUS_ALLOC_FAILED, 3, "the resource allocation failed")                             \
    X(CUBLAS_STATUS_INVALID_VALUE, 7, "an unsupported value or parameter was passed")              \
    X(CUBLAS_STATUS_ARCH_MISMATCH, 8, "the device lacks a feature that this needs")                \
    X(CUBLAS_STATUS_MAPPING_ERROR, 11, "an access to GPU memory space failed")                     \
    X(CUBLAS_STATUS_EXECUTION_FAILED, 13, "the function failed to launch on the GPU")              \
    X(CUBLAS_STATUS_INTERNAL_ERROR, 14, "an internal operation failed")                            \
    X(CUBLAS_STATUS_NOT_SUPPORTED, 15, "the functionality is not supported")                       \
    X(CUBLAS_STATUS_LICENSE_ERROR, 16, "there was an error of the license")
#define CPU_BLAS_ENUMERATOR(name, number, text) name = number,
typedef enum { CPU_BLAS_STATUSES(CPU_BLAS_ENUMERATOR) } cublasStatus_t;
#undef CPU_BLAS_ENUMERATOR

typedef enum {
    CUBLAS_OP_N = 0,
    CUBLAS_OP_T = 1,
    CUBLAS_OP_C = 2,
    CUBLAS_OP_HERMITAN = 2
} cublasOperation_t;
typedef enum { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT } cublasSideMode_t;
typedef enum { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED } cublasAtomicsMode_t;
typedef enum { /* changes nothing: fp32 products are never rounded to TF32 */
               CUBLAS_DEFAULT_MATH = 0,
               CUBLAS_TENSOR_OP_MATH = 1,
               CUBLAS_PEDANTIC_MATH = 2,
               CUBLAS_TF32_TENSOR_OP_MATH = 3,
               CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum { /* changes nothing */
               CUBLAS_GEMM_DFALT = -1,
               CUBLAS_GEMM_DEFAULT = -1,
               CUBLAS_GEMM_ALGO0 = 0,
               CUBLAS_GEMM_ALGO1 = 1,
               CUBLAS_GEMM_ALGO2 = 2,
               CUBLAS_GEMM_ALGO3 = 3,
               CUBLAS_GEMM_ALGO4 = 4,
               CUBLAS_GEMM_ALGO5 = 5,
               CUBLAS_GEMM_ALGO6 = 6,
               CUBLAS_GEMM_ALGO7 = 7,
               CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
               CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
               CUBLAS_GEMM_ALGO0_TENSOR_OP = 100,
               CUBLAS_GEMM_ALGO15_TENSOR_OP = 115
} cublasGemmAlgo_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64, /* sums are f32 here */
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74, /* from here on: operands are not rounded here */
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;
typedef struct cublasContext *cublasHandle_t;

/* --- handle.c --------------------------------------------------------------------------------- */
cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t *mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t *mode);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version);
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasSetVector(int n, int size, const void *x, int incx, void *y, int incy);
cublasStatus_t cublasGetVector(int n, int size, const void *x, int incx, void *y, int incy);
cublasStatus_t cublasSetVectorAsync(int n, int size, const void *x, int incx, void *y, int incy,
                                    cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int size, const void *x, int incx, void *y, int incy,
                                    cudaStream_t stream);
cublasStatus_t cublasSetMatrix(int rows, int cols, int size, const void *A, int lda, void *B,
                               int ldb);
cublasStatus_t cublasGetMatrix(int rows, int cols, int size, const void *A, int lda, void *B,
                               int ldb);
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int size, const void *A, int lda, void *B,
                                    int ldb, cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int size, const void *A, int lda, void *B,
                                    int ldb, cudaStream_t stream);

/* The functions for each type: cublasSaxpy, cublasDaxpy and so on. */
#define CPU_BLAS_FUNCTIONS(L, l, T)                                                                \
    cublasStatus_t cublas##L##axpy(cublasHandle_t handle, int n, const T *alpha, const T *x,       \
                                   int incx, T *y, int incy);                                      \
    cublasStatus_t cublas##L##copy(cublasHandle_t handle, int n, const T *x, int incx, T *y,       \
                                   int incy);                                                      \
    cublasStatus_t cublas##L##swap(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy);  \
    cublasStatus_t cublas##L##scal(cublasHandle_t handle, int n, const T *alpha, T *x, int incx);  \
    cublasStatus_t cublasI##l##amax(cublasHandle_t handle, int n, const T *x, int incx,            \
                                    int *result);                                                  \
    cublasStatus_t cublasI##l##amin(cublasHandle_t handle, int n, const T *x, int incx,            \
                                    int *result);                                                  \
    cublasStatus_t cublas##L##gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n,   \
                                   const T *alpha, const T *A, int lda, const T *x, int incx,      \
                                   const T *beta, T *y, int incy);                                 \
    cublasStatus_t cublas##L##trmv(cublasHandle_t handle, cublasFillMode_t uplo,                   \
                                   cublasOperation_t trans, cublasDiagType_t diag, int n,          \
                                   const T *A, int lda, T *x, int incx);                           \
    cublasStatus_t cublas##L##trsv(cublasHandle_t handle, cublasFillMode_t uplo,                   \
                                   cublasOperation_t trans, cublasDiagType_t diag, int n,          \
                                   const T *A, int lda, T *x, int incx);                           \
    cublasStatus_t cublas##L##symm(                                                                \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,         \
        const T *alpha, const T *A, int lda, const T *B, int ldb, const T *beta, T *C, int ldc);   \
    cublasStatus_t cublas##L##syrk(cublasHandle_t handle, cublasFillMode_t uplo,                   \
                                   cublasOperation_t trans, int n, int k, const T *alpha,          \
                                   const T *A, int lda, const T *beta, T *C, int ldc);             \
    cublasStatus_t cublas##L##trmm(cublasHandle_t handle, cublasSideMode_t side,                   \
                                   cublasFillMode_t uplo, cublasOperation_t trans,                 \
                                   cublasDiagType_t diag, int m, int n, const T *alpha,            \
                                   const T *A, int lda, const T *B, int ldb, T *C, int ldc);       \
    cublasStatus_t cublas##L##trsm(cublasHandle_t handle, cublasSideMode_t side,                   \
                                   cublasFillMode_t uplo, cublasOperation_t trans,                 \
                                   cublasDiagType_t diag, int m, int n, const T *alpha,            \
                                   const T *A, int lda, T *B, int ldb);                            \
    cublasStatus_t cublas##L##geam(                                                                \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,   \
        const T *alpha, const T *A, int lda, const T *beta, const T *B, int ldb, T *C, int ldc);   \
    cublasStatus_t cublas##L##dgmm(cublasHandle_t handle, cublasSideMode_t mode, int m, int n,     \
                                   const T *A, int lda, const T *x, int incx, T *C, int ldc);      \
    cublasStatus_t cublas##L##getrfBatched(cublasHandle_t handle, int n, T *const A[], int lda,    \
                                           int *P, int *info, int batchSize);
/* The functions for each type and for half. */
#define CPU_BLAS_PRODUCTS(L, T)                                                                    \
    cublasStatus_t cublas##L##gemm(cublasHandle_t handle, cublasOperation_t transa,                \
                                   cublasOperation_t transb, int m, int n, int k, const T *alpha,  \
                                   const T *A, int lda, const T *B, int ldb, const T *beta, T *C,  \
                                   int ldc);                                                       \
    cublasStatus_t cublas##L##gemmBatched(                                                         \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,   \
        int k, const T *alpha, const T *const A[], int lda, const T *const B[], int ldb,           \
        const T *beta, T *const C[], int ldc, int batches);                                        \
    cublasStatus_t cublas##L##gemmStridedBatched(                                                  \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,   \
        int k, const T *alpha, const T *A, int lda, long long strideA, const T *B, int ldb,        \
        long long strideB, const T *beta, T *C, int ldc, long long strideC, int batches);
/* Functions whose result is not a T; and functions only for real or only for complex numbers. */
#define CPU_BLAS_NORMS(L, T, R)                                                                    \
    cublasStatus_t cublas##L##nrm2(cublasHandle_t handle, int n, const T *x, int incx, R *result); \
    cublasStatus_t cublas##L##asum(cublasHandle_t handle, int n, const T *x, int incx, R *result);
#define CPU_BLAS_DOT(name, T)                                                                      \
    cublasStatus_t cublas##name(cublasHandle_t handle, int n, const T *x, int incx, const T *y,    \
                                int incy, T *result);
#define CPU_BLAS_GER(name, T)                                                                      \
    cublasStatus_t cublas##name(cublasHandle_t handle, int m, int n, const T *alpha, const T *x,   \
                                int incx, const T *y, int incy, T *A, int lda);
#define CPU_BLAS_REAL(L, T)                                                                        \
    cublasStatus_t cublas##L##rot(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy,    \
                                  const T *c, const T *s);                                         \
    cublasStatus_t cublas##L##symv(cublasHandle_t handle, cublasFillMode_t uplo, int n,            \
                                   const T *alpha, const T *A, int lda, const T *x, int incx,      \
                                   const T *beta, T *y, int incy);

/* --- vectors.c -------------------------------------------------------------------------------- */
CPU_BLAS_NORMS(S, float, float)
CPU_BLAS_NORMS(D, double, double)
CPU_BLAS_NORMS(Sc, cuComplex, float)
CPU_BLAS_NORMS(Dz, cuDoubleComplex, double)
CPU_BLAS_DOT(Sdot, float)
CPU_BLAS_DOT(Ddot, double)
CPU_BLAS_DOT(Cdotu, cuComplex)
CPU_BLAS_DOT(Cdotc, cuComplex)
CPU_BLAS_DOT(Zdotu, cuDoubleComplex)
CPU_BLAS_DOT(Zdotc, cuDoubleComplex)
/* x, y and the result are of one type, f16 and bf16 included; those are added in f32, which `sum`
 * says, and other types in themselves. Else CUBLAS_STATUS_NOT_SUPPORTED. */
cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void *x, cudaDataType typeX,
                           int incx, const void *y, cudaDataType typeY, int incy, void *dot,
                           cudaDataType typeResult, cudaDataType sum);
cublasStatus_t cublasDotcEx(cublasHandle_t handle, int n, const void *x, cudaDataType typeX,
                            int incx, const void *y, cudaDataType typeY, int incy, void *dot,
                            cudaDataType typeResult, cudaDataType sum);
/* --- matrices.c and, for gemm, products.c ----------------------------------------------------- */
CPU_BLAS_FUNCTIONS(S, s, float)
CPU_BLAS_FUNCTIONS(D, d, double)
CPU_BLAS_FUNCTIONS(C, c, cuComplex)
CPU_BLAS_FUNCTIONS(Z, z, cuDoubleComplex)
CPU_BLAS_REAL(S, float)
CPU_BLAS_REAL(D, double)
CPU_BLAS_GER(Sger, float)
CPU_BLAS_GER(Dger, double)
CPU_BLAS_GER(Cgeru, cuComplex)
CPU_BLAS_GER(Cgerc, cuComplex)
CPU_BLAS_GER(Zgeru, cuDoubleComplex)
CPU_BLAS_GER(Zgerc, cuDoubleComplex)
CPU_BLAS_PRODUCTS(S, float)
CPU_BLAS_PRODUCTS(D, double)
CPU_BLAS_PRODUCTS(C, cuComplex)
CPU_BLAS_PRODUCTS(Z, cuDoubleComplex)
CPU_BLAS_PRODUCTS(H, __half)
#undef CPU_BLAS_FUNCTIONS
#undef CPU_BLAS_PRODUCTS
#undef CPU_BLAS_NORMS
#undef CPU_BLAS_DOT
#undef CPU_BLAS_GER
#undef CPU_BLAS_REAL

/* A and B have one type. For f32, f64 and complex numbers C has it too; for f16 and bf16 C has
 * it or is f32; for 8-bit integers C and the sum are f32 or 32-bit integers. */
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void *alpha,
                            const void *A, cudaDataType typeA, int lda, const void *B,
                            cudaDataType typeB, int ldb, const void *beta, void *C,
                            cudaDataType typeC, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                   cublasOperation_t transb, int m, int n, int k, const void *alpha,
                                   const void *const A[], cudaDataType typeA, int lda,
                                   const void *const B[], cudaDataType typeB, int ldb,
                                   const void *beta, void *const C[], cudaDataType typeC, int ldc,
                                   int batches, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void *alpha, const void *A, cudaDataType typeA,
                                          int lda, long long strideA, const void *B,
                                          cudaDataType typeB, int ldb, long long strideB,
                                          const void *beta, void *C, cudaDataType typeC, int ldc,
                                          long long strideC, int batches,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm);

#ifdef __cplusplus
}

/* Before CUDA 11 a data type specified the precision of sums. */
static inline cublasComputeType_t cpu_blas_compute(cudaDataType type)
{
    return type == CUDA_R_16F                         ? CUBLAS_COMPUTE_16F
           : type == CUDA_R_64F || type == CUDA_C_64F ? CUBLAS_COMPUTE_64F
           : type == CUDA_R_32I                       ? CUBLAS_COMPUTE_32I
                                                      : CUBLAS_COMPUTE_32F;
}
static inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void *alpha, const void *A, cudaDataType typeA,
                                          int lda, const void *B, cudaDataType typeB, int ldb,
                                          const void *beta, void *C, cudaDataType typeC, int ldc,
                                          cudaDataType compute, cublasGemmAlgo_t algorithm)
{
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, typeA, lda, B, typeB, ldb, beta,
                        C, typeC, ldc, cpu_blas_compute(compute), algorithm);
}
static inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
    const void *alpha, const void *A, cudaDataType typeA, int lda, long long strideA, const void *B,
    cudaDataType typeB, int ldb, long long strideB, const void *beta, void *C, cudaDataType typeC,
    int ldc, long long strideC, int batches, cudaDataType compute, cublasGemmAlgo_t algorithm)
{
    return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, A, typeA, lda,
                                      strideA, B, typeB, ldb, strideB, beta, C, typeC, ldc, strideC,
                                      batches, cpu_blas_compute(compute), algorithm);
}
#endif
#pragma GCC visibility pop

/* The names in the toolkit's library, which a program may use as well. */
#define cublasCreate_v2 cublasCreate
#define cublasDestroy_v2 cublasDestroy
#define cublasSetStream_v2 cublasSetStream
#define cublasSgemm_v2 cublasSgemm
#define cublasDgemm_v2 cublasDgemm
#define cublasSgemv_v2 cublasSgemv
#define cublasDgemv_v2 cublasDgemv
#define cublasSaxpy_v2 cublasSaxpy
#define cublasDaxpy_v2 cublasDaxpy

#endif
