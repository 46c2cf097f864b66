/* cuBLAS: products of matrices, one or many, of all types. */
#include "base/formats.h"
#include "libraries/blas/blas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

float blas_narrow_value(cudaDataType type, const void *p, size_t i)
{
    switch (type) {
    case CUDA_R_16F:
        return (float)ptx_decode(PTX_F16, ((const uint16_t *)p)[i]);
    case CUDA_R_16BF:
        return (float)ptx_decode(PTX_BF16, ((const uint16_t *)p)[i]);
    case CUDA_R_8I:
        return ((const int8_t *)p)[i];
    default:
        return ((const float *)p)[i];
    }
}

void blas_put_narrow(cudaDataType type, void *p, size_t i, float v)
{
    if (type == CUDA_R_32F)
        ((float *)p)[i] = v;
    else
        ((uint16_t *)p)[i] =
            (uint16_t)ptx_encode(type == CUDA_R_16F ? PTX_F16 : PTX_BF16, v, PTX_NEAREST);
}

/* A copy of the matrix in floats, without gaps. */
static float *widened(cudaDataType type, const void *p, int rows, int columns, int ld)
{
    float *wide = malloc((size_t)rows * (size_t)columns * sizeof *wide + 1);
    for (size_t j = 0; wide && j < (size_t)columns; j++)
        for (size_t i = 0; i < (size_t)rows; i++)
            wide[j * (size_t)rows + i] = blas_narrow_value(type, p, j * (size_t)ld + i);
    return wide;
}

/* The start of a matrix of a batch; strides count elements of C's type. */
static void *of_batch(const struct call *c, const void *p, long long stride, int batch)
{
    return p ? (char *)p + batch * stride * (long long)blas_size(c->type_c) : NULL;
}

static float activated(const struct call *c, float v)
{
    switch (c->fusion.activation) {
    case BLAS_RELU:
        return v < 0 ? 0 : v;
    case BLAS_GELU: /* sqrt(2 / pi) */
        return 0.5f * v * (1 + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
    default:
        return v;
    }
}

/* Adds the bias to unrounded sums and applies the activation. */
static void finish(const struct call *c, float *sum, int batch)
{
    const void *bias = of_batch(c, c->fusion.bias, c->fusion.stride_bias, batch);
    void *aux = of_batch(c, c->fusion.aux, c->fusion.stride_aux, batch);
    for (size_t j = 0; j < (size_t)c->n; j++)
        for (size_t i = 0; i < (size_t)c->m; i++) {
            float *v = &sum[j * (size_t)c->m + i];
            if (bias)
                *v += blas_narrow_value(c->type_c, bias, i);
            if (aux)
                blas_put_narrow(c->type_c, aux, j * (size_t)c->fusion.ld_aux + i, *v);
            *v = activated(c, *v);
        }
}

static cudaError_t narrow_product(const struct call *c, const void *a, const void *b, void *out,
                                  int batch)
{
    const int n_a = c->transa == CUBLAS_OP_N, n_b = c->transb == CUBLAS_OP_N;
    const int rows_a = n_a ? c->m : c->k, rows_b = n_b ? c->k : c->n;
    const float alpha = blas_narrow_value(c->scalars, &c->alpha, 0);
    const float beta = blas_narrow_value(c->scalars, &c->beta, 0);
    float *wide_a = widened(c->type, a, rows_a, n_a ? c->k : c->m, c->lda);
    float *wide_b = widened(c->type, b, rows_b, n_b ? c->n : c->k, c->ldb);
    float *sum = calloc((size_t)c->m * (size_t)c->n, sizeof *sum);
    const cudaError_t error = wide_a && wide_b && sum ? cudaSuccess : cudaErrorMemoryAllocation;
    const size_t ld_in = (size_t)(c->fused ? c->fusion.ldc : c->ldc);
    const void *in = c->fused ? of_batch(c, c->fusion.c, c->fusion.stride_c, batch) : out;
    if (error == cudaSuccess) {
        for (size_t j = 0; beta != 0 && j < (size_t)c->n; j++)
            for (size_t i = 0; i < (size_t)c->m; i++)
                sum[j * (size_t)c->m + i] = blas_narrow_value(c->type_c, in, j * ld_in + i);
        cblas_sgemm(CblasColMajor, blas_op(c->transa), blas_op(c->transb), c->m, c->n, c->k, alpha,
                    wide_a, blas_most(rows_a, 1), wide_b, blas_most(rows_b, 1), beta, sum, c->m);
        if (c->fused)
            finish(c, sum, batch);
        for (size_t j = 0; j < (size_t)c->n; j++)
            for (size_t i = 0; i < (size_t)c->m; i++)
                blas_put_narrow(c->type_c, out, j * (size_t)c->ldc + i, sum[j * (size_t)c->m + i]);
    }
    free(wide_a), free(wide_b), free(sum);
    return error;
}

/* 8-bit integers; 32-bit sums wrap around. */
static void integer_product(const struct call *c, const int8_t *a, const int8_t *b, int32_t *out)
{
    const size_t lda = (size_t)c->lda, ldb = (size_t)c->ldb;
    for (size_t j = 0; j < (size_t)c->n; j++)
        for (size_t i = 0; i < (size_t)c->m; i++) {
            uint32_t sum = 0;
            for (size_t k = 0; k < (size_t)c->k; k++)
                sum += (uint32_t)(a[c->transa == CUBLAS_OP_N ? k * lda + i : i * lda + k] *
                                  b[c->transb == CUBLAS_OP_N ? j * ldb + k : k * ldb + j]);
            int32_t *to = &out[j * (size_t)c->ldc + i];
            *to = (int32_t)((uint32_t)c->alpha.i * sum +
                            (c->beta.i ? (uint32_t)c->beta.i * (uint32_t)*to : 0));
        }
}

/* If beta is 0, C is not read, not even NaN in it. Cleared, OpenBLAS cannot read it. */
static void clear(void *p, int rows, int columns, int ld, size_t size)
{
    for (size_t j = 0; j < (size_t)columns; j++)
        memset((char *)p + j * (size_t)ld * size, 0, (size_t)rows * size);
}

/* Announces a fusion's uses of memory, as blas_matrix does. */
static int fusion_matrices(const struct call *c, int keeps, int batch)
{
    const struct fusion *f = &c->fusion;
    const size_t size = blas_size(c->type_c);
    return (!keeps || blas_matrix(c, "C", of_batch(c, f->c, f->stride_c, batch), c->m, c->n, f->ldc,
                                  size, CPU_ACCESS_READ)) &&
           (!f->bias || blas_matrix(c, "the bias", of_batch(c, f->bias, f->stride_bias, batch),
                                    c->m, 1, c->m, size, CPU_ACCESS_READ)) &&
           (!f->aux || blas_matrix(c, "aux", of_batch(c, f->aux, f->stride_aux, batch), c->m, c->n,
                                   f->ld_aux, size, CPU_ACCESS_WRITE));
}

static cudaError_t product(const struct call *c, const void *a, const void *b, void *out, int batch)
{
    const int n_a = c->transa == CUBLAS_OP_N, n_b = c->transb == CUBLAS_OP_N;
    const size_t size = blas_size(c->type), size_c = blas_size(c->type_c);
    const int keeps = !blas_is_zero(c->scalars, &c->beta);
    const int adds = c->k && !blas_is_zero(c->scalars, &c->alpha);
    if ((adds && (!blas_matrix(c, "A", a, n_a ? c->m : c->k, n_a ? c->k : c->m, c->lda, size,
                               CPU_ACCESS_READ) ||
                  !blas_matrix(c, "B", b, n_b ? c->k : c->n, n_b ? c->n : c->k, c->ldb, size,
                               CPU_ACCESS_READ))) ||
        (c->fused && !fusion_matrices(c, keeps, batch)) ||
        !blas_matrix(c, c->fused ? "D" : "C", out, c->m, c->n, c->ldc, size_c,
                     CPU_ACCESS_WRITE | (keeps && !c->fused ? CPU_ACCESS_READ : 0)))
        return cudaErrorIllegalAddress;
    if (!keeps)
        clear(out, c->m, c->n, c->ldc, size_c);
    if (c->sum == CUDA_R_32I)
        integer_product(c, a, b, out);
    else if (c->type != c->type_c || size < sizeof(float) || c->fused)
        return narrow_product(c, a, b, out, batch);
#define GEMM(l, T, V)                                                                              \
    cblas_##l##gemm(CblasColMajor, blas_op(c->transa), blas_op(c->transb), c->m, c->n, c->k,       \
                    V(c->alpha), a, c->lda, b, c->ldb, V(c->beta), out, c->ldc)
    BLAS_CALL(c->type, GEMM);
    return cudaSuccess;
}

static cudaError_t run_products(const struct call *c)
{
    cudaError_t error = cudaSuccess;
    const long long size = (long long)blas_size(c->type), size_c = (long long)blas_size(c->type_c);
    if (c->arrays && !(blas_matrix(c, "the array of A", c->a, c->batches, 1, c->batches,
                                   sizeof(void *), CPU_ACCESS_READ) &&
                       blas_matrix(c, "the array of B", c->b, c->batches, 1, c->batches,
                                   sizeof(void *), CPU_ACCESS_READ) &&
                       blas_matrix(c, "the array of C", c->c, c->batches, 1, c->batches,
                                   sizeof(void *), CPU_ACCESS_READ)))
        return cudaErrorIllegalAddress;
    for (int i = 0; i < c->batches && error == cudaSuccess; i++)
        if (c->arrays)
            error = product(c, ((const void *const *)c->a)[i], ((const void *const *)c->b)[i],
                            ((void *const *)c->c)[i], i);
        else
            error = product(c, (const char *)c->a + i * c->stride_a * size,
                            (const char *)c->b + i * c->stride_b * size,
                            (char *)c->c + i * c->stride_c * size_c, i);
    return error;
}

static cublasStatus_t products(cublasHandle_t handle, struct call c)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (blas_bad_op(c.transa) || blas_bad_op(c.transb) || c.m < 0 || c.n < 0 || c.k < 0 ||
        c.batches < 0 || c.lda < blas_most(1, c.transa == CUBLAS_OP_N ? c.m : c.k) ||
        c.ldb < blas_most(1, c.transb == CUBLAS_OP_N ? c.k : c.n) || c.ldc < blas_most(1, c.m) ||
        !c.alpha_at || !c.beta_at)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!c.m || !c.n || !c.batches)
        return CUBLAS_STATUS_SUCCESS;
    c.run = run_products;
    return blas_submit(handle, &c);
}

#define SHAPE                                                                                      \
    .site = __builtin_return_address(0), .transa = transa, .transb = transb, .m = m, .n = n,       \
    .k = k, .lda = lda, .ldb = ldb, .ldc = ldc, .a = A, .b = B, .c = (void *)C, .alpha_at = alpha, \
    .beta_at = beta
#define ONE_TYPE(id, call_name)                                                                    \
    .name = call_name, .type = id, .type_c = id, .scalars = id, .sum = id
#define GEMM_FUNCTIONS(L, l, T, id, V)                                                             \
    cublasStatus_t cublas##L##gemm(cublasHandle_t handle, cublasOperation_t transa,                \
                                   cublasOperation_t transb, int m, int n, int k, const T *alpha,  \
                                   const T *A, int lda, const T *B, int ldb, const T *beta, T *C,  \
                                   int ldc)                                                        \
    {                                                                                              \
        return products(handle,                                                                    \
                        (struct call){SHAPE, ONE_TYPE(id, "cublas" #L "gemm"), .batches = 1});     \
    }                                                                                              \
    cublasStatus_t cublas##L##gemmBatched(                                                         \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,   \
        int k, const T *alpha, const T *const A[], int lda, const T *const B[], int ldb,           \
        const T *beta, T *const C[], int ldc, int batches)                                         \
    {                                                                                              \
        return products(handle, (struct call){SHAPE, ONE_TYPE(id, "cublas" #L "gemmBatched"),      \
                                              .batches = batches, .arrays = 1});                   \
    }                                                                                              \
    cublasStatus_t cublas##L##gemmStridedBatched(                                                  \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,   \
        int k, const T *alpha, const T *A, int lda, long long strideA, const T *B, int ldb,        \
        long long strideB, const T *beta, T *C, int ldc, long long strideC, int batches)           \
    {                                                                                              \
        return products(handle,                                                                    \
                        (struct call){SHAPE, ONE_TYPE(id, "cublas" #L "gemmStridedBatched"),       \
                                      .batches = batches, .stride_a = strideA,                     \
                                      .stride_b = strideB, .stride_c = strideC});                  \
    }
BLAS_TYPES(GEMM_FUNCTIONS)
GEMM_FUNCTIONS(H, h, __half, CUDA_R_16F, )

/* Types of cublasGemmEx, and the types of their sums and scalars. */
cublasStatus_t blas_typed_products(cublasHandle_t handle, struct call c, cudaDataType type_b,
                                   cublasComputeType_t compute)
{
    const cudaDataType a = c.type, out = c.type_c;
    switch (compute) {
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
        c.sum = a == CUDA_C_64F ? a : CUDA_R_64F;
        break;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
        c.sum = CUDA_R_32I;
        break;
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        c.sum = CUDA_R_16F;
        break;
    default:
        c.sum = a == CUDA_C_32F ? a : CUDA_R_32F;
        break;
    }
    const int narrow = a == CUDA_R_16F || a == CUDA_R_16BF;
    const int known = c.sum == CUDA_R_32F
                          ? (narrow && (out == a || out == CUDA_R_32F)) ||
                                ((a == CUDA_R_8I || a == CUDA_R_32F) && out == CUDA_R_32F)
                      : c.sum == CUDA_R_32I ? a == CUDA_R_8I && out == CUDA_R_32I
                                            : a == c.sum && out == a;
    if (!known || type_b != a)
        return handle ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_NOT_INITIALIZED;
    c.scalars = c.sum;
    return products(handle, c);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void *alpha,
                            const void *A, cudaDataType typeA, int lda, const void *B,
                            cudaDataType typeB, int ldb, const void *beta, void *C,
                            cudaDataType typeC, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm)
{
    return blas_typed_products(
        handle,
        (struct call){SHAPE, .name = "cublasGemmEx", .type = typeA, .type_c = typeC, .batches = 1},
        typeB, compute);
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                   cublasOperation_t transb, int m, int n, int k, const void *alpha,
                                   const void *const A[], cudaDataType typeA, int lda,
                                   const void *const B[], cudaDataType typeB, int ldb,
                                   const void *beta, void *const C[], cudaDataType typeC, int ldc,
                                   int batches, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm)
{
    return blas_typed_products(handle,
                               (struct call){SHAPE, .name = "cublasGemmBatchedEx", .type = typeA,
                                             .type_c = typeC, .batches = batches, .arrays = 1},
                               typeB, compute);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void *alpha, const void *A, cudaDataType typeA,
                                          int lda, long long strideA, const void *B,
                                          cudaDataType typeB, int ldb, long long strideB,
                                          const void *beta, void *C, cudaDataType typeC, int ldc,
                                          long long strideC, int batches,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    return blas_typed_products(handle,
                               (struct call){SHAPE, .name = "cublasGemmStridedBatchedEx",
                                             .type = typeA, .type_c = typeC, .batches = batches,
                                             .stride_a = strideA, .stride_b = strideB,
                                             .stride_c = strideC},
                               typeB, compute);
}
