/* cuBLAS: the handle, and the way of a call from the API to OpenBLAS. A program that calls
 * cuBLAS is linked with these files and OpenBLAS. The runtime has none of them; they use what
 * cpu/runtime.h declares. From the bottom to the top: handle.c, products.c, lt.c, vectors.c,
 * matrices.c. */
#pragma once

#include "cpu/runtime.h"
#include "cublas_v2.h"

#include <cblas.h>

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t mode;
    cublasMath_t math;
    cublasAtomicsMode_t atomics;
};

union scalar {
    float s;
    double d;
    cuComplex c;
    cuDoubleComplex z;
    int32_t i;
    __half h;
};

/* The work of cublasLtMatmul besides the product: C is read at another place than D is written;
 * a bias is added to each column; an activation is applied, whose input is stored in `aux`.
 * NULL: no bias, or no aux. */
struct fusion {
    const void *c, *bias;
    void *aux;
    int ldc, ld_aux;
    long long stride_c, stride_bias, stride_aux;
    enum { BLAS_NONE, BLAS_RELU, BLAS_GELU } activation;
};

/* One call with its arguments. `run` makes it now, or each time a graph runs. */
struct call {
    const char *name;
    const void *site; /* the program's call, for --check */
    cudaError_t (*run)(const struct call *c);
    cudaDataType type; /* of the matrices */
    cublasOperation_t transa, transb;
    cublasFillMode_t uplo;
    cublasSideMode_t side;
    cublasDiagType_t diag;
    int m, n, k, lda, ldb, ldc; /* for vectors x, y and the like too: their increments */
    const void *a, *b;
    void *c;
    const void *alpha_at, *beta_at; /* NULL: the call has none */
    cudaDataType scalars;           /* their type */
    union scalar alpha, beta;       /* and values, read when run begins */
    /* Products: `batches` of them, at strides, or at the addresses in arrays. */
    int batches, arrays;
    long long stride_a, stride_b, stride_c;
    cudaDataType type_c, sum;
    int fused; /* the call has a fusion */
    struct fusion fusion;
    int variant; /* tells similar functions apart */
};

/* Types: letter of cuBLAS, of OpenBLAS, C type, its number, how OpenBLAS gets scalars. */
#define BLAS_VALUE_S(u) (u).s
#define BLAS_VALUE_D(u) (u).d
#define BLAS_VALUE_C(u) &(u).c
#define BLAS_VALUE_Z(u) &(u).z
#define BLAS_REAL_TYPES(X)                                                                         \
    X(S, s, float, CUDA_R_32F, BLAS_VALUE_S)                                                       \
    X(D, d, double, CUDA_R_64F, BLAS_VALUE_D)
#define BLAS_TYPES(X)                                                                              \
    BLAS_REAL_TYPES(X)                                                                             \
    X(C, c, cuComplex, CUDA_C_32F, BLAS_VALUE_C)                                                   \
    X(Z, z, cuDoubleComplex, CUDA_C_64F, BLAS_VALUE_Z)
/* F(name of the type there, type here, how it gets scalars) of a type; of no other type. */
#define BLAS_CALL(type, F)                                                                         \
    do {                                                                                           \
        if ((type) == CUDA_R_32F)                                                                  \
            F(s, float, BLAS_VALUE_S);                                                             \
        else if ((type) == CUDA_R_64F)                                                             \
            F(d, double, BLAS_VALUE_D);                                                            \
        else if ((type) == CUDA_C_32F)                                                             \
            F(c, cuComplex, BLAS_VALUE_C);                                                         \
        else if ((type) == CUDA_C_64F)                                                             \
            F(z, cuDoubleComplex, BLAS_VALUE_Z);                                                   \
    } while (0)

/* --- handle.c --------------------------------------------------------------------------------- */
size_t blas_size(cudaDataType type); /* bytes; 0: an unknown type */
/* Runs the call, or adds it to a capture, with the handle's stream and pointer mode. */
cublasStatus_t blas_submit(cublasHandle_t handle, const struct call *c);
/* The same; then the host waits for the result at c->c, unless that lies on the device. */
cublasStatus_t blas_submit_result(cublasHandle_t handle, const struct call *c);
/* Announces a use of a matrix or vector to the runtime. False: it may not be used, and a line
 * has said so. */
int blas_matrix(const struct call *c, const char *name, const void *p, int rows, int columns,
                int ld, size_t size, int access);
int blas_vector(const struct call *c, const char *name, const void *p, int n, int increment,
                size_t size, int access);
int blas_is_zero(cudaDataType type, const union scalar *v);
static inline int blas_most(int a, int b)
{
    return a > b ? a : b;
}
static inline int blas_bad_op(cublasOperation_t op)
{
    return (unsigned)op > CUBLAS_OP_C;
}
static inline enum CBLAS_TRANSPOSE blas_op(cublasOperation_t op)
{
    return op == CUBLAS_OP_N ? CblasNoTrans : op == CUBLAS_OP_T ? CblasTrans : CblasConjTrans;
}
static inline enum CBLAS_UPLO blas_uplo(cublasFillMode_t uplo)
{
    return uplo == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper;
}
static inline enum CBLAS_DIAG blas_diag(cublasDiagType_t diag)
{
    return diag == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit;
}
static inline enum CBLAS_SIDE blas_side(cublasSideMode_t side)
{
    return side == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight;
}

/* --- products.c ------------------------------------------------------------------------------- */
/* Element i of a vector of f16, bf16 or f32 (s8: only read), as a float. */
float blas_narrow_value(cudaDataType type, const void *p, size_t i);
void blas_put_narrow(cudaDataType type, void *p, size_t i, float v);
/* Products with mixed types: only those that cublas_v2.h lists are supported. */
cublasStatus_t blas_typed_products(cublasHandle_t handle, struct call c, cudaDataType type_b,
                                   cublasComputeType_t compute);
