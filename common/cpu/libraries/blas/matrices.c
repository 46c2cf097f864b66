/* cuBLAS: matrix-vector operations, and matrix operations other than general products. Matrices
 * and vectors are a, b and c with lda, ldb and ldc, in the order of the call's arguments; the
 * result is c. */
#include "libraries/blas/blas.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* PLACE_ONLY: of a matrix with one triangle, only the address is checked. The other triangle need
 * not be initialized. */
enum { READ = CPU_ACCESS_READ, WRITE = CPU_ACCESS_WRITE, PLACE_ONLY = 0 };

static int access_of_result(const struct call *c)
{
    return blas_is_zero(c->scalars, &c->beta) ? WRITE : READ | WRITE;
}

/* --- A matrix and a vector -------------------------------------------------------------------- */

/* If beta is 0, y is not read: not even NaN in it counts. */
static int y_is_ready(const struct call *c, int n)
{
    const size_t size = blas_size(c->type), step = (size_t)abs(c->ldc) * size;
    if (!blas_vector(c, "y", c->c, n, c->ldc, size, access_of_result(c)))
        return 0;
    for (size_t i = 0; access_of_result(c) == WRITE && i < (size_t)n; i++)
        memset((char *)c->c + i * step, 0, size);
    return 1;
}

static cudaError_t run_gemv(const struct call *c)
{
    const size_t size = blas_size(c->type);
    const int plain = c->transa == CUBLAS_OP_N;
    if (!blas_matrix(c, "A", c->a, c->m, c->n, c->lda, size, READ) ||
        !blas_vector(c, "x", c->b, plain ? c->n : c->m, c->ldb, size, READ) ||
        !y_is_ready(c, plain ? c->m : c->n))
        return cudaErrorIllegalAddress;
#define GEMV(l, T, V)                                                                              \
    cblas_##l##gemv(CblasColMajor, blas_op(c->transa), c->m, c->n, V(c->alpha), c->a, c->lda,      \
                    c->b, c->ldb, V(c->beta), c->c, c->ldc)
    BLAS_CALL(c->type, GEMV);
    return cudaSuccess;
}

static cudaError_t run_symv(const struct call *c)
{
    const size_t size = blas_size(c->type);
    if (!blas_matrix(c, "A", c->a, c->n, c->n, c->lda, size, PLACE_ONLY) ||
        !blas_vector(c, "x", c->b, c->n, c->ldb, size, READ) || !y_is_ready(c, c->n))
        return cudaErrorIllegalAddress;
    if (c->type == CUDA_R_32F)
        cblas_ssymv(CblasColMajor, blas_uplo(c->uplo), c->n, c->alpha.s, c->a, c->lda, c->b, c->ldb,
                    c->beta.s, c->c, c->ldc);
    else
        cblas_dsymv(CblasColMajor, blas_uplo(c->uplo), c->n, c->alpha.d, c->a, c->lda, c->b, c->ldb,
                    c->beta.d, c->c, c->ldc);
    return cudaSuccess;
}

static cudaError_t run_ger(const struct call *c)
{
    const size_t size = blas_size(c->type);
    if (!blas_vector(c, "x", c->a, c->m, c->lda, size, READ) ||
        !blas_vector(c, "y", c->b, c->n, c->ldb, size, READ) ||
        !blas_matrix(c, "A", c->c, c->m, c->n, c->ldc, size, READ | WRITE))
        return cudaErrorIllegalAddress;
#define GER(f, alpha) f(CblasColMajor, c->m, c->n, alpha, c->a, c->lda, c->b, c->ldb, c->c, c->ldc)
    switch (c->type) {
    case CUDA_R_32F:
        GER(cblas_sger, c->alpha.s);
        break;
    case CUDA_R_64F:
        GER(cblas_dger, c->alpha.d);
        break;
    case CUDA_C_32F:
        GER((c->variant ? cblas_cgerc : cblas_cgeru), &c->alpha);
        break;
    default:
        GER((c->variant ? cblas_zgerc : cblas_zgeru), &c->alpha);
        break;
    }
    return cudaSuccess;
}

/* x becomes A x, or the solution of A z = x. */
static cudaError_t run_trmv_trsv(const struct call *c)
{
    const size_t size = blas_size(c->type);
    if (!blas_matrix(c, "A", c->a, c->n, c->n, c->lda, size, PLACE_ONLY) ||
        !blas_vector(c, "x", c->c, c->n, c->ldc, size, READ | WRITE))
        return cudaErrorIllegalAddress;
#define TRMV_TRSV(l, T, V)                                                                         \
    (c->variant ? cblas_##l##trsv : cblas_##l##trmv)(CblasColMajor, blas_uplo(c->uplo),            \
                                                     blas_op(c->transa), blas_diag(c->diag), c->n, \
                                                     c->a, c->lda, c->c, c->ldc)
    BLAS_CALL(c->type, TRMV_TRSV);
    return cudaSuccess;
}

/* --- Matrices --------------------------------------------------------------------------------- */

static int order_of_a(const struct call *c)
{
    return c->side == CUBLAS_SIDE_LEFT ? c->m : c->n;
}

static void clear_c(const struct call *c, int rows, int columns)
{
    const size_t size = blas_size(c->type);
    for (size_t j = 0; access_of_result(c) == WRITE && j < (size_t)columns; j++)
        memset((char *)c->c + j * (size_t)c->ldc * size, 0, (size_t)rows * size);
}

static cudaError_t run_symm(const struct call *c)
{
    const size_t size = blas_size(c->type);
    if (!blas_matrix(c, "A", c->a, order_of_a(c), order_of_a(c), c->lda, size, PLACE_ONLY) ||
        !blas_matrix(c, "B", c->b, c->m, c->n, c->ldb, size, READ) ||
        !blas_matrix(c, "C", c->c, c->m, c->n, c->ldc, size, access_of_result(c)))
        return cudaErrorIllegalAddress;
    clear_c(c, c->m, c->n);
#define SYMM(l, T, V)                                                                              \
    cblas_##l##symm(CblasColMajor, blas_side(c->side), blas_uplo(c->uplo), c->m, c->n,             \
                    V(c->alpha), c->a, c->lda, c->b, c->ldb, V(c->beta), c->c, c->ldc)
    BLAS_CALL(c->type, SYMM);
    return cudaSuccess;
}

static cudaError_t run_syrk(const struct call *c)
{
    const size_t size = blas_size(c->type);
    const int plain = c->transa == CUBLAS_OP_N, lower = c->uplo == CUBLAS_FILL_MODE_LOWER;
    if (!blas_matrix(c, "A", c->a, plain ? c->n : c->k, plain ? c->k : c->n, c->lda, size, READ) ||
        !blas_matrix(c, "C", c->c, c->n, c->n, c->ldc, size, WRITE))
        return cudaErrorIllegalAddress;
    for (size_t j = 0; access_of_result(c) == WRITE && j < (size_t)c->n; j++) {
        const size_t first = lower ? j : 0, count = lower ? (size_t)c->n - j : j + 1;
        memset((char *)c->c + (j * (size_t)c->ldc + first) * size, 0, count * size);
    }
#define SYRK(l, T, V)                                                                              \
    cblas_##l##syrk(CblasColMajor, blas_uplo(c->uplo), blas_op(c->transa), c->n, c->k,             \
                    V(c->alpha), c->a, c->lda, V(c->beta), c->c, c->ldc)
    BLAS_CALL(c->type, SYRK);
    return cudaSuccess;
}

/* OpenBLAS multiplies in place. */
static cudaError_t run_trmm_trsm(const struct call *c)
{
    const size_t size = blas_size(c->type);
    if (!blas_matrix(c, "A", c->a, order_of_a(c), order_of_a(c), c->lda, size, PLACE_ONLY) ||
        (c->b && !blas_matrix(c, "B", c->b, c->m, c->n, c->ldb, size, READ)) ||
        !blas_matrix(c, c->b ? "C" : "B", c->c, c->m, c->n, c->ldc, size,
                     c->b ? WRITE : READ | WRITE))
        return cudaErrorIllegalAddress;
    for (size_t j = 0; c->b && j < (size_t)c->n; j++)
        memmove((char *)c->c + j * (size_t)c->ldc * size,
                (const char *)c->b + j * (size_t)c->ldb * size, (size_t)c->m * size);
#define TRMM_TRSM(l, T, V)                                                                         \
    (c->b ? cblas_##l##trmm : cblas_##l##trsm)(                                                    \
        CblasColMajor, blas_side(c->side), blas_uplo(c->uplo), blas_op(c->transa),                 \
        blas_diag(c->diag), c->m, c->n, V(c->alpha), c->a, c->lda, c->c, c->ldc)
    BLAS_CALL(c->type, TRMM_TRSM);
    return cudaSuccess;
}

/* Sums of matrices, and products with a diagonal: OpenBLAS lacks them in this form. */
#define ITSELF(v) (v)
#define ELEMENTWISE(T, E, conjugate)                                                               \
    static E element_##T(const E *p, int ld, cublasOperation_t op, int i, int j)                   \
    {                                                                                              \
        const size_t at = op == CUBLAS_OP_N ? (size_t)j * (size_t)ld + (size_t)i                   \
                                            : (size_t)i * (size_t)ld + (size_t)j;                  \
        return op == CUBLAS_OP_C ? conjugate(p[at]) : p[at];                                       \
    }                                                                                              \
    static void sum_##T(const struct call *c, const E *a, const E *b, E *to, const E *alpha,       \
                        const E *beta)                                                             \
    {                                                                                              \
        for (int j = 0; j < c->n; j++)                                                             \
            for (int i = 0; i < c->m; i++) {                                                       \
                E v = *alpha == 0 ? 0 : *alpha * element_##T(a, c->lda, c->transa, i, j);          \
                if (*beta != 0)                                                                    \
                    v += *beta * element_##T(b, c->ldb, c->transb, i, j);                          \
                to[(size_t)j * (size_t)c->ldc + (size_t)i] = v;                                    \
            }                                                                                      \
    }                                                                                              \
    static void diagonal_##T(const struct call *c, const E *a, const E *x, E *to)                  \
    {                                                                                              \
        const int n = order_of_a(c), back = c->ldb < 0 ? (1 - n) * c->ldb : 0;                     \
        for (int j = 0; j < c->n; j++)                                                             \
            for (int i = 0; i < c->m; i++)                                                         \
                to[(size_t)j * (size_t)c->ldc + (size_t)i] =                                       \
                    a[(size_t)j * (size_t)c->lda + (size_t)i] *                                    \
                    x[back + (c->side == CUBLAS_SIDE_LEFT ? i : j) * c->ldb];                      \
    }
ELEMENTWISE(float, float, ITSELF)
ELEMENTWISE(double, double, ITSELF)
ELEMENTWISE(cuComplex, float _Complex, conjf)
ELEMENTWISE(cuDoubleComplex, double _Complex, conj)

static cudaError_t run_geam(const struct call *c)
{
    const size_t size = blas_size(c->type);
    const int n_a = c->transa == CUBLAS_OP_N, n_b = c->transb == CUBLAS_OP_N;
    if ((!blas_is_zero(c->scalars, &c->alpha) &&
         !blas_matrix(c, "A", c->a, n_a ? c->m : c->n, n_a ? c->n : c->m, c->lda, size, READ)) ||
        (!blas_is_zero(c->scalars, &c->beta) &&
         !blas_matrix(c, "B", c->b, n_b ? c->m : c->n, n_b ? c->n : c->m, c->ldb, size, READ)) ||
        !blas_matrix(c, "C", c->c, c->m, c->n, c->ldc, size, WRITE))
        return cudaErrorIllegalAddress;
#define SUM(l, T, V) sum_##T(c, c->a, c->b, c->c, (const void *)&c->alpha, (const void *)&c->beta)
    BLAS_CALL(c->type, SUM);
    return cudaSuccess;
}

static cudaError_t run_dgmm(const struct call *c)
{
    const size_t size = blas_size(c->type);
    if (!blas_matrix(c, "A", c->a, c->m, c->n, c->lda, size, READ) ||
        !blas_vector(c, "x", c->b, order_of_a(c), c->ldb, size, READ) ||
        !blas_matrix(c, "C", c->c, c->m, c->n, c->ldc, size, WRITE))
        return cudaErrorIllegalAddress;
#define DIAGONAL(l, T, V) diagonal_##T(c, c->a, c->b, c->c)
    BLAS_CALL(c->type, DIAGONAL);
    return cudaSuccess;
}

/* LU factors. If `pivots` is not NULL, rows are exchanged so that the pivot is the largest
 * element left in its column. Returns the first zero pivot, counted from 1, or 0. */
#define FACTORS(T, E, SIZE)                                                                        \
    static int factors_##T(E *a, size_t n, size_t ld, int *pivots)                                 \
    {                                                                                              \
        int zero = 0;                                                                              \
        for (size_t k = 0; k < n; k++) {                                                           \
            size_t pivot = k;                                                                      \
            for (size_t i = k + 1; pivots && i < n; i++)                                           \
                if (SIZE(a[k * ld + i]) > SIZE(a[k * ld + pivot]))                                 \
                    pivot = i;                                                                     \
            if (pivots)                                                                            \
                pivots[k] = (int)pivot + 1;                                                        \
            for (size_t j = 0; pivot != k && j < n; j++) {                                         \
                const E v = a[j * ld + k];                                                         \
                a[j * ld + k] = a[j * ld + pivot];                                                 \
                a[j * ld + pivot] = v;                                                             \
            }                                                                                      \
            if (a[k * ld + k] == 0) {                                                              \
                zero = zero ? zero : (int)k + 1;                                                   \
                continue;                                                                          \
            }                                                                                      \
            for (size_t i = k + 1; i < n; i++)                                                     \
                a[k * ld + i] /= a[k * ld + k];                                                    \
            for (size_t j = k + 1; j < n; j++)                                                     \
                for (size_t i = k + 1; i < n; i++)                                                 \
                    a[j * ld + i] -= a[k * ld + i] * a[j * ld + k];                                \
        }                                                                                          \
        return zero;                                                                               \
    }
#define SIZE_C(v) (fabsf(crealf(v)) + fabsf(cimagf(v)))
#define SIZE_Z(v) (fabs(creal(v)) + fabs(cimag(v)))
FACTORS(float, float, fabsf)
FACTORS(double, double, fabs)
FACTORS(cuComplex, float _Complex, SIZE_C)
FACTORS(cuDoubleComplex, double _Complex, SIZE_Z)

/* a: array of matrices; b: pivots, or NULL; c: index of the first zero pivot. */
static cudaError_t run_getrf(const struct call *c)
{
    const size_t size = blas_size(c->type);
    int *const pivots = (int *)(uintptr_t)c->b, *const info = c->c;
    if (!blas_matrix(c, "the array of A", c->a, c->batches, 1, c->batches, sizeof(void *), READ) ||
        (pivots && !blas_matrix(c, "P", pivots, c->n, c->batches, c->n, sizeof(int), WRITE)) ||
        !blas_matrix(c, "info", info, c->batches, 1, c->batches, sizeof(int), WRITE))
        return cudaErrorIllegalAddress;
    for (int i = 0; i < c->batches; i++) {
        void *a = ((void *const *)c->a)[i];
        int *p = pivots ? pivots + (size_t)i * (size_t)c->n : NULL;
        if (!blas_matrix(c, "A", a, c->n, c->n, c->lda, size, READ | WRITE))
            return cudaErrorIllegalAddress;
#define FACTORS_OF(l, T, V) info[i] = factors_##T(a, (size_t)c->n, (size_t)c->lda, p)
        BLAS_CALL(c->type, FACTORS_OF);
    }
    return cudaSuccess;
}

/* --- The API ---------------------------------------------------------------------------------- */

/* Checks arguments that all these calls share. `bad`: this call's own checks failed. */
static cublasStatus_t start(cublasHandle_t handle, int bad, int empty, const struct call *c)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (bad || blas_bad_op(c->transa) || blas_bad_op(c->transb) ||
        (unsigned)c->uplo > CUBLAS_FILL_MODE_UPPER || (unsigned)c->side > CUBLAS_SIDE_RIGHT ||
        (unsigned)c->diag > CUBLAS_DIAG_UNIT || c->m < 0 || c->n < 0 || c->k < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    return empty ? CUBLAS_STATUS_SUCCESS : blas_submit(handle, c);
}

#define CALL(call_name, runs, id)                                                                  \
    .name = call_name, .site = __builtin_return_address(0), .run = runs, .type = id, .scalars = id

#define GEMV_CALL(L, l, T, id, V)                                                                  \
    cublasStatus_t cublas##L##gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n,   \
                                   const T *alpha, const T *A, int lda, const T *x, int incx,      \
                                   const T *beta, T *y, int incy)                                  \
    {                                                                                              \
        return start(handle, !alpha || !beta || lda < blas_most(1, m) || !incx || !incy, !m || !n, \
                     &(struct call){CALL("cublas" #L "gemv", run_gemv, id), .transa = trans,       \
                                    .m = m, .n = n, .alpha_at = alpha, .a = A, .lda = lda, .b = x, \
                                    .ldb = incx, .beta_at = beta, .c = y, .ldc = incy});           \
    }
BLAS_TYPES(GEMV_CALL)

#define TRIANGULAR_VECTOR_CALL(L, T, id, function, solves)                                         \
    cublasStatus_t cublas##L##function(cublasHandle_t handle, cublasFillMode_t uplo,               \
                                       cublasOperation_t trans, cublasDiagType_t diag, int n,      \
                                       const T *A, int lda, T *x, int incx)                        \
    {                                                                                              \
        return start(handle, lda < blas_most(1, n) || !incx, !n,                                   \
                     &(struct call){CALL("cublas" #L#function, run_trmv_trsv, id), .uplo = uplo,   \
                                    .transa = trans, .diag = diag, .n = n, .a = A, .lda = lda,     \
                                    .c = x, .ldc = incx, .variant = solves});                      \
    }
#define TRMV_CALL(L, l, T, id, V) TRIANGULAR_VECTOR_CALL(L, T, id, trmv, 0)
#define TRSV_CALL(L, l, T, id, V) TRIANGULAR_VECTOR_CALL(L, T, id, trsv, 1)
BLAS_TYPES(TRMV_CALL)
BLAS_TYPES(TRSV_CALL)

#define SYMM_CALL(L, l, T, id, V)                                                                  \
    cublasStatus_t cublas##L##symm(                                                                \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,         \
        const T *alpha, const T *A, int lda, const T *B, int ldb, const T *beta, T *C, int ldc)    \
    {                                                                                              \
        return start(handle,                                                                       \
                     !alpha || !beta || lda < blas_most(1, side == CUBLAS_SIDE_LEFT ? m : n) ||    \
                         ldb < blas_most(1, m) || ldc < blas_most(1, m),                           \
                     !m || !n,                                                                     \
                     &(struct call){CALL("cublas" #L "symm", run_symm, id), .side = side,          \
                                    .uplo = uplo, .m = m, .n = n, .alpha_at = alpha, .a = A,       \
                                    .lda = lda, .b = B, .ldb = ldb, .beta_at = beta, .c = C,       \
                                    .ldc = ldc});                                                  \
    }
BLAS_TYPES(SYMM_CALL)

#define SYRK_CALL(L, l, T, id, V)                                                                  \
    cublasStatus_t cublas##L##syrk(cublasHandle_t handle, cublasFillMode_t uplo,                   \
                                   cublasOperation_t trans, int n, int k, const T *alpha,          \
                                   const T *A, int lda, const T *beta, T *C, int ldc)              \
    {                                                                                              \
        const int transposed =                                                                     \
            id == CUDA_R_32F || id == CUDA_R_64F ? trans != CUBLAS_OP_N : trans == CUBLAS_OP_T;    \
        return start(handle,                                                                       \
                     !alpha || !beta || (trans != CUBLAS_OP_N && !transposed) ||                   \
                         lda < blas_most(1, trans == CUBLAS_OP_N ? n : k) ||                       \
                         ldc < blas_most(1, n),                                                    \
                     !n,                                                                           \
                     &(struct call){CALL("cublas" #L "syrk", run_syrk, id), .uplo = uplo,          \
                                    .transa = trans, .n = n, .k = k, .alpha_at = alpha, .a = A,    \
                                    .lda = lda, .beta_at = beta, .c = C, .ldc = ldc});             \
    }
BLAS_TYPES(SYRK_CALL)

#define TRMM_CALL(L, l, T, id, V)                                                                  \
    cublasStatus_t cublas##L##trmm(cublasHandle_t handle, cublasSideMode_t side,                   \
                                   cublasFillMode_t uplo, cublasOperation_t trans,                 \
                                   cublasDiagType_t diag, int m, int n, const T *alpha,            \
                                   const T *A, int lda, const T *B, int ldb, T *C, int ldc)        \
    {                                                                                              \
        return start(handle,                                                                       \
                     !alpha || !B || lda < blas_most(1, side == CUBLAS_SIDE_LEFT ? m : n) ||       \
                         ldb < blas_most(1, m) || ldc < blas_most(1, m),                           \
                     !m || !n,                                                                     \
                     &(struct call){CALL("cublas" #L "trmm", run_trmm_trsm, id), .side = side,     \
                                    .uplo = uplo, .transa = trans, .diag = diag, .m = m, .n = n,   \
                                    .alpha_at = alpha, .a = A, .lda = lda, .b = B, .ldb = ldb,     \
                                    .c = C, .ldc = ldc});                                          \
    }
BLAS_TYPES(TRMM_CALL)

#define TRSM_CALL(L, l, T, id, V)                                                                  \
    cublasStatus_t cublas##L##trsm(cublasHandle_t handle, cublasSideMode_t side,                   \
                                   cublasFillMode_t uplo, cublasOperation_t trans,                 \
                                   cublasDiagType_t diag, int m, int n, const T *alpha,            \
                                   const T *A, int lda, T *B, int ldb)                             \
    {                                                                                              \
        return start(handle,                                                                       \
                     !alpha || lda < blas_most(1, side == CUBLAS_SIDE_LEFT ? m : n) ||             \
                         ldb < blas_most(1, m),                                                    \
                     !m || !n,                                                                     \
                     &(struct call){CALL("cublas" #L "trsm", run_trmm_trsm, id), .side = side,     \
                                    .uplo = uplo, .transa = trans, .diag = diag, .m = m, .n = n,   \
                                    .alpha_at = alpha, .a = A, .lda = lda, .c = B, .ldc = ldb});   \
    }
BLAS_TYPES(TRSM_CALL)

#define GEAM_CALL(L, l, T, id, V)                                                                  \
    cublasStatus_t cublas##L##geam(                                                                \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,   \
        const T *alpha, const T *A, int lda, const T *beta, const T *B, int ldb, T *C, int ldc)    \
    {                                                                                              \
        return start(                                                                              \
            handle,                                                                                \
            !alpha || !beta || (A && lda < blas_most(1, transa == CUBLAS_OP_N ? m : n)) ||         \
                (B && ldb < blas_most(1, transb == CUBLAS_OP_N ? m : n)) || ldc < blas_most(1, m), \
            !m || !n,                                                                              \
            &(struct call){CALL("cublas" #L "geam", run_geam, id), .transa = transa,               \
                           .transb = transb, .m = m, .n = n, .alpha_at = alpha, .a = A,            \
                           .lda = lda, .b = B, .ldb = ldb, .beta_at = beta, .c = C, .ldc = ldc});  \
    }
BLAS_TYPES(GEAM_CALL)

#define DGMM_CALL(L, l, T, id, V)                                                                  \
    cublasStatus_t cublas##L##dgmm(cublasHandle_t handle, cublasSideMode_t mode, int m, int n,     \
                                   const T *A, int lda, const T *x, int incx, T *C, int ldc)       \
    {                                                                                              \
        return start(handle, lda < blas_most(1, m) || ldc < blas_most(1, m), !m || !n,             \
                     &(struct call){CALL("cublas" #L "dgmm", run_dgmm, id), .side = mode, .m = m,  \
                                    .n = n, .a = A, .lda = lda, .b = x, .ldb = incx, .c = C,       \
                                    .ldc = ldc});                                                  \
    }
BLAS_TYPES(DGMM_CALL)

#define GETRF_BATCHED_CALL(L, l, T, id, V)                                                         \
    cublasStatus_t cublas##L##getrfBatched(cublasHandle_t handle, int n, T *const A[], int lda,    \
                                           int *P, int *info, int batchSize)                       \
    {                                                                                              \
        return start(handle, lda < blas_most(1, n) || batchSize < 0, !n || !batchSize,             \
                     &(struct call){CALL("cublas" #L "getrfBatched", run_getrf, id), .n = n,       \
                                    .a = A, .lda = lda, .b = P, .c = info, .batches = batchSize}); \
    }
BLAS_TYPES(GETRF_BATCHED_CALL)

#define SYMV_CALL(L, l, T, id, V)                                                                  \
    cublasStatus_t cublas##L##symv(cublasHandle_t handle, cublasFillMode_t uplo, int n,            \
                                   const T *alpha, const T *A, int lda, const T *x, int incx,      \
                                   const T *beta, T *y, int incy)                                  \
    {                                                                                              \
        return start(handle, !alpha || !beta || lda < blas_most(1, n) || !incx || !incy, !n,       \
                     &(struct call){CALL("cublas" #L "symv", run_symv, id), .uplo = uplo, .n = n,  \
                                    .alpha_at = alpha, .a = A, .lda = lda, .b = x, .ldb = incx,    \
                                    .beta_at = beta, .c = y, .ldc = incy});                        \
    }
BLAS_REAL_TYPES(SYMV_CALL)

#define GER_CALL(function, T, id, conjugates)                                                      \
    cublasStatus_t cublas##function(cublasHandle_t handle, int m, int n, const T *alpha,           \
                                    const T *x, int incx, const T *y, int incy, T *A, int lda)     \
    {                                                                                              \
        return start(handle, !alpha || lda < blas_most(1, m) || !incx || !incy, !m || !n,          \
                     &(struct call){CALL("cublas" #function, run_ger, id), .m = m, .n = n,         \
                                    .alpha_at = alpha, .a = x, .lda = incx, .b = y, .ldb = incy,   \
                                    .c = A, .ldc = lda, .variant = conjugates});                   \
    }
GER_CALL(Sger, float, CUDA_R_32F, 0)
GER_CALL(Dger, double, CUDA_R_64F, 0)
GER_CALL(Cgeru, cuComplex, CUDA_C_32F, 0)
GER_CALL(Cgerc, cuComplex, CUDA_C_32F, 1)
GER_CALL(Zgeru, cuDoubleComplex, CUDA_C_64F, 0)
GER_CALL(Zgerc, cuDoubleComplex, CUDA_C_64F, 1)
