/* cuBLAS: handles, copies of vectors and matrices, and the frame of every other call. */
#include "libraries/blas/blas.h"

#include <stdlib.h>
#include <string.h>

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    *handle = calloc(1, sizeof **handle);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

#define PROPERTY(name, T, member, bad)                                                             \
    cublasStatus_t cublasSet##name(cublasHandle_t handle, T value)                                 \
    {                                                                                              \
        if (!handle || (bad))                                                                      \
            return handle ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_NOT_INITIALIZED;           \
        handle->member = value;                                                                    \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    cublasStatus_t cublasGet##name(cublasHandle_t handle, T *value)                                \
    {                                                                                              \
        if (!handle || !value)                                                                     \
            return handle ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_NOT_INITIALIZED;           \
        *value = handle->member;                                                                   \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }
PROPERTY(Stream, cudaStream_t, stream, 0)
PROPERTY(PointerMode, cublasPointerMode_t, mode, (unsigned)value > CUBLAS_POINTER_MODE_DEVICE)
PROPERTY(MathMode, cublasMath_t, math, 0)
PROPERTY(AtomicsMode, cublasAtomicsMode_t, atomics, 0)

/* No workspace is needed. */
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes)
{
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version)
{
    if (!handle || !version)
        return handle ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_NOT_INITIALIZED;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

static const struct {
    cublasStatus_t status;
    const char *name, *text;
} statuses[] = {
#define STATUS(name, number, text) {name, #name, text},
    CPU_BLAS_STATUSES(STATUS)};

const char *cublasGetStatusName(cublasStatus_t status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status)
            return statuses[i].name;
    return "unrecognized status";
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status)
            return statuses[i].text;
    return "unrecognized status";
}

/* A copy of a vector is a copy of a matrix with one row. */
static cublasStatus_t copy(int rows, int columns, int size, const void *from, int from_ld, void *to,
                           int to_ld, enum cudaMemcpyKind kind, struct cpu_copy_call call)
{
    if (rows < 0 || columns < 0 || size <= 0 || from_ld < rows || to_ld < rows || from_ld <= 0 ||
        to_ld <= 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    const size_t s = (size_t)size;
    const cudaError_t error = cpu_library_copy(to, (size_t)to_ld * s, from, (size_t)from_ld * s,
                                               (size_t)rows * s, (size_t)columns, kind, call);
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

#define CALL(stream, waits) ((struct cpu_copy_call){__builtin_return_address(0), stream, waits})
#define COPIES(verb, kind)                                                                         \
    cublasStatus_t cublas##verb##VectorAsync(int n, int size, const void *x, int incx, void *y,    \
                                             int incy, cudaStream_t stream)                        \
    {                                                                                              \
        return copy(n > 0, n, size, x, incx, y, incy, kind, CALL(stream, 0));                      \
    }                                                                                              \
    cublasStatus_t cublas##verb##Vector(int n, int size, const void *x, int incx, void *y,         \
                                        int incy)                                                  \
    {                                                                                              \
        return copy(n > 0, n, size, x, incx, y, incy, kind, CALL(NULL, 1));                        \
    }                                                                                              \
    cublasStatus_t cublas##verb##MatrixAsync(int rows, int cols, int size, const void *A, int lda, \
                                             void *B, int ldb, cudaStream_t stream)                \
    {                                                                                              \
        return copy(rows, cols, size, A, lda, B, ldb, kind, CALL(stream, 0));                      \
    }                                                                                              \
    cublasStatus_t cublas##verb##Matrix(int rows, int cols, int size, const void *A, int lda,      \
                                        void *B, int ldb)                                          \
    {                                                                                              \
        return copy(rows, cols, size, A, lda, B, ldb, kind, CALL(NULL, 1));                        \
    }
COPIES(Set, cudaMemcpyHostToDevice)
COPIES(Get, cudaMemcpyDeviceToHost)

size_t blas_size(cudaDataType type)
{
    switch (type) {
    case CUDA_R_32F:
        return sizeof(float);
    case CUDA_R_64F:
        return sizeof(double);
    case CUDA_C_32F:
        return sizeof(cuComplex);
    case CUDA_C_64F:
        return sizeof(cuDoubleComplex);
    case CUDA_R_16F:
    case CUDA_R_16BF:
        return 2;
    case CUDA_R_8I:
        return 1;
    case CUDA_R_32I:
        return sizeof(int32_t);
    default:
        return 0;
    }
}

int blas_is_zero(cudaDataType type, const union scalar *v)
{
    switch (type) {
    case CUDA_R_32F:
        return v->s == 0;
    case CUDA_R_64F:
        return v->d == 0;
    case CUDA_C_32F:
        return v->c.x == 0 && v->c.y == 0;
    case CUDA_C_64F:
        return v->z.x == 0 && v->z.y == 0;
    case CUDA_R_16F:
        return !(v->h.x & 0x7fff);
    default:
        return v->i == 0;
    }
}

int blas_matrix(const struct call *c, const char *name, const void *p, int rows, int columns,
                int ld, size_t size, int access)
{
    return cpu_library_access(&(struct cpu_access){c->name, name, c->site, p, (size_t)rows * size,
                                                   (size_t)columns, (size_t)ld * size, access}) ==
           cudaSuccess;
}

int blas_vector(const struct call *c, const char *name, const void *p, int n, int increment,
                size_t size, int access)
{
    return blas_matrix(c, name, p, 1, increment ? n : 1, abs(increment), size, access);
}

static cudaError_t run_call(void *state)
{
    struct call *c = state;
    const size_t size = blas_size(c->scalars);
    /* In device pointer mode a scalar lies on the device and is read when the call runs. */
    if (c->alpha_at && !blas_matrix(c, "alpha", c->alpha_at, 1, 1, 1, size, CPU_ACCESS_READ))
        return cudaErrorIllegalAddress;
    if (c->beta_at && !blas_matrix(c, "beta", c->beta_at, 1, 1, 1, size, CPU_ACCESS_READ))
        return cudaErrorIllegalAddress;
    if (c->alpha_at)
        memcpy(&c->alpha, c->alpha_at, size);
    if (c->beta_at)
        memcpy(&c->beta, c->beta_at, size);
    return c->run(c);
}

cublasStatus_t blas_submit(cublasHandle_t handle, const struct call *c)
{
    struct call *state = malloc(sizeof *state);
    if (!state)
        return CUBLAS_STATUS_ALLOC_FAILED;
    *state = *c;
    if (handle->mode == CUBLAS_POINTER_MODE_HOST) {
        if (c->alpha_at)
            memcpy(&state->alpha, c->alpha_at, blas_size(c->scalars));
        if (c->beta_at)
            memcpy(&state->beta, c->beta_at, blas_size(c->scalars));
        state->alpha_at = state->beta_at = NULL;
    }
    return cpu_library_call(handle->stream, run_call, free, state) == cudaSuccess
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t blas_submit_result(cublasHandle_t handle, const struct call *c)
{
    if (handle->mode == CUBLAS_POINTER_MODE_DEVICE)
        return blas_submit(handle, c);
    const cublasStatus_t status = blas_submit(handle, c);
    const cudaError_t error = cudaStreamSynchronize(handle->stream); /* a capture forbids it */
    return error == cudaSuccess ? status : CUBLAS_STATUS_EXECUTION_FAILED;
}
