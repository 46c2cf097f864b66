/* cuBLAS: vector operations. x has increment lda, y ldb, and what is written ldc; a result is at
 * c. alpha and beta of rot are cosine and sine; k of a norm says which. */
#include "libraries/blas/blas.h"

#include <math.h>
#include <string.h>

enum { NRM2, ASUM, AMAX, AMIN };

static cublasStatus_t start(cublasHandle_t handle, int needs_alpha, const struct call *c)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (needs_alpha && !c->alpha_at)
        return CUBLAS_STATUS_INVALID_VALUE;
    return c->n <= 0 ? CUBLAS_STATUS_SUCCESS : blas_submit(handle, c);
}

/* An operation on x and y; y is written. */
static int two(const struct call *c, int x, int y)
{
    const size_t size = blas_size(c->type);
    return blas_vector(c, "x", c->a, c->n, c->lda, size, x) &&
           blas_vector(c, "y", c->c, c->n, c->ldc, size, y);
}

static cudaError_t run_axpy(const struct call *c)
{
    if (!two(c, CPU_ACCESS_READ, CPU_ACCESS_READ | CPU_ACCESS_WRITE))
        return cudaErrorIllegalAddress;
#define AXPY(l, T, V) cblas_##l##axpy(c->n, V(c->alpha), c->a, c->lda, c->c, c->ldc)
    BLAS_CALL(c->type, AXPY);
    return cudaSuccess;
}

static cudaError_t run_copy(const struct call *c)
{
    if (!two(c, CPU_ACCESS_READ, CPU_ACCESS_WRITE))
        return cudaErrorIllegalAddress;
#define COPY(l, T, V) cblas_##l##copy(c->n, c->a, c->lda, c->c, c->ldc)
    BLAS_CALL(c->type, COPY);
    return cudaSuccess;
}

static cudaError_t run_swap(const struct call *c)
{
    if (!two(c, CPU_ACCESS_READ | CPU_ACCESS_WRITE, CPU_ACCESS_READ | CPU_ACCESS_WRITE))
        return cudaErrorIllegalAddress;
#define SWAP(l, T, V) cblas_##l##swap(c->n, (void *)c->a, c->lda, c->c, c->ldc)
    BLAS_CALL(c->type, SWAP);
    return cudaSuccess;
}

static cudaError_t run_rot(const struct call *c)
{
    if (!two(c, CPU_ACCESS_READ | CPU_ACCESS_WRITE, CPU_ACCESS_READ | CPU_ACCESS_WRITE))
        return cudaErrorIllegalAddress;
    if (c->type == CUDA_R_32F)
        cblas_srot(c->n, (void *)c->a, c->lda, c->c, c->ldc, c->alpha.s, c->beta.s);
    else
        cblas_drot(c->n, (void *)c->a, c->lda, c->c, c->ldc, c->alpha.d, c->beta.d);
    return cudaSuccess;
}

static cudaError_t run_scal(const struct call *c)
{
    if (c->ldc <= 0)
        return cudaSuccess;
    if (!blas_vector(c, "x", c->c, c->n, c->ldc, blas_size(c->type),
                     CPU_ACCESS_READ | CPU_ACCESS_WRITE))
        return cudaErrorIllegalAddress;
#define SCAL(l, T, V) cblas_##l##scal(c->n, V(c->alpha), c->c, c->ldc)
    BLAS_CALL(c->type, SCAL);
    return cudaSuccess;
}

/* A result in host memory is not checked as device memory. */
static int result_fits(const struct call *c, size_t size)
{
    return !c->variant || blas_matrix(c, "result", c->c, 1, 1, 1, size, CPU_ACCESS_WRITE);
}

/* Sums in floats of elements of 16 bits, as cublasDotEx adds them; rounded once. */
static float narrow_dot(const struct call *c)
{
    const ptrdiff_t x = c->lda, y = c->ldb, last = c->n - 1;
    const ptrdiff_t first_x = x < 0 ? -x * last : 0, first_y = y < 0 ? -y * last : 0;
    float sum = 0;
    for (ptrdiff_t i = 0; i <= last; i++)
        sum += blas_narrow_value(c->type, c->a, (size_t)(first_x + i * x)) *
               blas_narrow_value(c->type, c->b, (size_t)(first_y + i * y));
    return sum;
}

static cudaError_t run_dot(const struct call *c)
{
    const size_t size = blas_size(c->type);
    if (!blas_vector(c, "x", c->a, c->n, c->lda, size, CPU_ACCESS_READ) ||
        !blas_vector(c, "y", c->b, c->n, c->ldb, size, CPU_ACCESS_READ) || !result_fits(c, size))
        return cudaErrorIllegalAddress;
    memset(c->c, 0, size);
    if (c->n <= 0)
        return cudaSuccess;
    if (c->type == CUDA_R_16F || c->type == CUDA_R_16BF)
        blas_put_narrow(c->type, c->c, 0, narrow_dot(c));
    else if (c->type == CUDA_R_32F)
        *(float *)c->c = cblas_sdot(c->n, c->a, c->lda, c->b, c->ldb);
    else if (c->type == CUDA_R_64F)
        *(double *)c->c = cblas_ddot(c->n, c->a, c->lda, c->b, c->ldb);
    else if (c->type == CUDA_C_32F)
        (c->transa ? cblas_cdotc_sub : cblas_cdotu_sub)(c->n, c->a, c->lda, c->b, c->ldb, c->c);
    else
        (c->transa ? cblas_zdotc_sub : cblas_zdotu_sub)(c->n, c->a, c->lda, c->b, c->ldb, c->c);
    return cudaSuccess;
}

/* |re| + |im| of element i: the value that asum adds and that amax and amin compare. */
static double absolute(const struct call *c, int i)
{
    const size_t at = (size_t)i * (size_t)c->lda;
    switch (c->type) {
    case CUDA_R_32F:
        return fabsf(((const float *)c->a)[at]);
    case CUDA_R_64F:
        return fabs(((const double *)c->a)[at]);
    case CUDA_C_32F: {
        const cuComplex z = ((const cuComplex *)c->a)[at];
        return fabsf(z.x) + fabsf(z.y);
    }
    default: {
        const cuDoubleComplex z = ((const cuDoubleComplex *)c->a)[at];
        return fabs(z.x) + fabs(z.y);
    }
    }
}

static cudaError_t run_extreme(const struct call *c)
{
    if (!result_fits(c, sizeof(int)) ||
        (c->lda > 0 &&
         !blas_vector(c, "x", c->a, c->n, c->lda, blas_size(c->type), CPU_ACCESS_READ)))
        return cudaErrorIllegalAddress;
    int best = 0;
    for (int i = 1; c->lda > 0 && i < c->n; i++)
        if (c->k == AMAX ? absolute(c, i) > absolute(c, best) : absolute(c, i) < absolute(c, best))
            best = i;
    *(int *)c->c = c->n > 0 && c->lda > 0 ? best + 1 : 0; /* counted from 1 */
    return cudaSuccess;
}

static cudaError_t run_norm(const struct call *c)
{
    const int is_float = c->type == CUDA_R_32F || c->type == CUDA_C_32F;
    const int n = c->lda > 0 && c->n > 0 ? c->n : 0;
    if (!result_fits(c, is_float ? sizeof(float) : sizeof(double)) ||
        (n && !blas_vector(c, "x", c->a, n, c->lda, blas_size(c->type), CPU_ACCESS_READ)))
        return cudaErrorIllegalAddress;
    double r = 0;
    switch (n ? c->type : CUDA_R_8I) {
    case CUDA_R_32F:
        r = (c->k == NRM2 ? cblas_snrm2 : cblas_sasum)(n, c->a, c->lda);
        break;
    case CUDA_R_64F:
        r = (c->k == NRM2 ? cblas_dnrm2 : cblas_dasum)(n, c->a, c->lda);
        break;
    case CUDA_C_32F:
        r = (c->k == NRM2 ? cblas_scnrm2 : cblas_scasum)(n, c->a, c->lda);
        break;
    case CUDA_C_64F:
        r = (c->k == NRM2 ? cblas_dznrm2 : cblas_dzasum)(n, c->a, c->lda);
        break;
    default:
        break;
    }
    if (is_float)
        *(float *)c->c = (float)r;
    else
        *(double *)c->c = r;
    return cudaSuccess;
}

static cublasStatus_t reduce(cublasHandle_t handle, struct call c)
{
    if (!handle || !c.c)
        return handle ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_NOT_INITIALIZED;
    c.variant = handle->mode == CUBLAS_POINTER_MODE_DEVICE;
    if (c.n < 0)
        c.n = 0;
    return blas_submit_result(handle, &c);
}

#define CALL(call_name, runs, id)                                                                  \
    .name = call_name, .site = __builtin_return_address(0), .run = runs, .type = id, .scalars = id
#define FUNCTIONS(L, l, T, id, V)                                                                  \
    cublasStatus_t cublas##L##axpy(cublasHandle_t handle, int n, const T *alpha, const T *x,       \
                                   int incx, T *y, int incy)                                       \
    {                                                                                              \
        return start(handle, 1,                                                                    \
                     &(struct call){CALL("cublas" #L "axpy", run_axpy, id), .n = n, .a = x,        \
                                    .lda = incx, .c = y, .ldc = incy, .alpha_at = alpha});         \
    }                                                                                              \
    cublasStatus_t cublas##L##copy(cublasHandle_t handle, int n, const T *x, int incx, T *y,       \
                                   int incy)                                                       \
    {                                                                                              \
        return start(handle, 0,                                                                    \
                     &(struct call){CALL("cublas" #L "copy", run_copy, id), .n = n, .a = x,        \
                                    .lda = incx, .c = y, .ldc = incy});                            \
    }                                                                                              \
    cublasStatus_t cublas##L##swap(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy)   \
    {                                                                                              \
        return start(handle, 0,                                                                    \
                     &(struct call){CALL("cublas" #L "swap", run_swap, id), .n = n, .a = x,        \
                                    .lda = incx, .c = y, .ldc = incy});                            \
    }                                                                                              \
    cublasStatus_t cublas##L##scal(cublasHandle_t handle, int n, const T *alpha, T *x, int incx)   \
    {                                                                                              \
        return start(handle, 1,                                                                    \
                     &(struct call){CALL("cublas" #L "scal", run_scal, id), .n = n, .c = x,        \
                                    .ldc = incx, .alpha_at = alpha});                              \
    }                                                                                              \
    EXTREME(l, T, id, amax, AMAX)                                                                  \
    EXTREME(l, T, id, amin, AMIN)
#define EXTREME(l, T, id, name, which)                                                             \
    cublasStatus_t cublasI##l##name(cublasHandle_t handle, int n, const T *x, int incx,            \
                                    int *result)                                                   \
    {                                                                                              \
        return reduce(handle, (struct call){CALL("cublasI" #l #name, run_extreme, id), .n = n,     \
                                            .k = which, .a = x, .lda = incx, .c = result});        \
    }
BLAS_TYPES(FUNCTIONS)

#define NORM(L, T, R, id, name, which)                                                             \
    cublasStatus_t cublas##L##name(cublasHandle_t handle, int n, const T *x, int incx, R *result)  \
    {                                                                                              \
        return reduce(handle, (struct call){CALL("cublas" #L#name, run_norm, id), .n = n,          \
                                            .k = which, .a = x, .lda = incx, .c = result});        \
    }
NORM(S, float, float, CUDA_R_32F, nrm2, NRM2)
NORM(D, double, double, CUDA_R_64F, nrm2, NRM2)
NORM(Sc, cuComplex, float, CUDA_C_32F, nrm2, NRM2)
NORM(Dz, cuDoubleComplex, double, CUDA_C_64F, nrm2, NRM2)
NORM(S, float, float, CUDA_R_32F, asum, ASUM)
NORM(D, double, double, CUDA_R_64F, asum, ASUM)
NORM(Sc, cuComplex, float, CUDA_C_32F, asum, ASUM)
NORM(Dz, cuDoubleComplex, double, CUDA_C_64F, asum, ASUM)

#define DOT(function, T, id, op)                                                                   \
    cublasStatus_t cublas##function(cublasHandle_t handle, int n, const T *x, int incx,            \
                                    const T *y, int incy, T *result)                               \
    {                                                                                              \
        return reduce(handle,                                                                      \
                      (struct call){CALL("cublas" #function, run_dot, id), .n = n, .a = x,         \
                                    .lda = incx, .b = y, .ldb = incy, .c = result, .transa = op}); \
    }
DOT(Sdot, float, CUDA_R_32F, CUBLAS_OP_N)
DOT(Ddot, double, CUDA_R_64F, CUBLAS_OP_N)
DOT(Cdotu, cuComplex, CUDA_C_32F, CUBLAS_OP_N)
DOT(Cdotc, cuComplex, CUDA_C_32F, CUBLAS_OP_C)
DOT(Zdotu, cuDoubleComplex, CUDA_C_64F, CUBLAS_OP_N)
DOT(Zdotc, cuDoubleComplex, CUDA_C_64F, CUBLAS_OP_C)

/* Both vectors and the result are of one type; sums of 16-bit elements are floats. */
static cublasStatus_t typed_dot(cublasHandle_t handle, struct call c, cudaDataType type_y,
                                cudaDataType type_result, cudaDataType sum)
{
    const int narrow = c.type == CUDA_R_16F || c.type == CUDA_R_16BF;
    const int known = narrow || c.type == CUDA_R_32F || c.type == CUDA_R_64F ||
                      c.type == CUDA_C_32F || c.type == CUDA_C_64F;
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!known || type_y != c.type || type_result != c.type ||
        sum != (narrow ? CUDA_R_32F : c.type))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return reduce(handle, c);
}

#define DOT_EX(function, op)                                                                       \
    cublasStatus_t function(cublasHandle_t handle, int n, const void *x, cudaDataType typeX,       \
                            int incx, const void *y, cudaDataType typeY, int incy, void *result,   \
                            cudaDataType typeResult, cudaDataType sum)                             \
    {                                                                                              \
        return typed_dot(handle,                                                                   \
                         (struct call){CALL(#function, run_dot, typeX), .n = n, .a = x,            \
                                       .lda = incx, .b = y, .ldb = incy, .c = result,              \
                                       .transa = op},                                              \
                         typeY, typeResult, sum);                                                  \
    }
DOT_EX(cublasDotEx, CUBLAS_OP_N)
DOT_EX(cublasDotcEx, CUBLAS_OP_C)

#define ROT(L, l, T, id, V)                                                                        \
    cublasStatus_t cublas##L##rot(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy,    \
                                  const T *c, const T *s)                                          \
    {                                                                                              \
        if (handle && (!c || !s))                                                                  \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        return start(handle, 1,                                                                    \
                     &(struct call){CALL("cublas" #L "rot", run_rot, id), .n = n, .a = x,          \
                                    .lda = incx, .c = y, .ldc = incy, .alpha_at = c,               \
                                    .beta_at = s});                                                \
    }
BLAS_REAL_TYPES(ROT)
