/* cublasLt: descriptions of products, translated for products.c. */
#include "libraries/blas/blas.h"
#include "cublasLt.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct cublasLtContext {
    int unused;
};
struct cublasLtMatmulPreference {
    uint64_t workspace;
    uint32_t search, reductions, align[4];
};
struct cublasLtMatmulDesc {
    int32_t compute, scale, mode, transa, transb, aux_type,
        bias_type; /* types: -1 stands for D's type */
    uint32_t epilogue;
    const void *bias;
    void *aux;
    int64_t bias_stride, aux_stride, aux_ld;
};
struct cublasLtMatrixLayout {
    uint32_t type;
    int32_t order, batches;
    uint64_t rows, columns;
    int64_t ld, stride;
};

/* The place of an attribute in its object. An unknown attribute has size 0. */
struct field {
    size_t offset, size;
};
#define FIELD(T, member)                                                                           \
    {                                                                                              \
        offsetof(struct T, member), sizeof((struct T *)0)->member                                  \
    }
static const struct field preference_fields[] = {
    [CUBLASLT_MATMUL_PREF_SEARCH_MODE] = FIELD(cublasLtMatmulPreference, search),
    [CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES] = FIELD(cublasLtMatmulPreference, workspace),
    [CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK] = FIELD(cublasLtMatmulPreference, reductions),
    [CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES] = FIELD(cublasLtMatmulPreference, align[0]),
    [CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES] = FIELD(cublasLtMatmulPreference, align[1]),
    [CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES] = FIELD(cublasLtMatmulPreference, align[2]),
    [CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES] = FIELD(cublasLtMatmulPreference, align[3]),
};
static const struct field desc_fields[] = {
    [CUBLASLT_MATMUL_DESC_COMPUTE_TYPE] = FIELD(cublasLtMatmulDesc, compute),
    [CUBLASLT_MATMUL_DESC_SCALE_TYPE] = FIELD(cublasLtMatmulDesc, scale),
    [CUBLASLT_MATMUL_DESC_POINTER_MODE] = FIELD(cublasLtMatmulDesc, mode),
    [CUBLASLT_MATMUL_DESC_TRANSA] = FIELD(cublasLtMatmulDesc, transa),
    [CUBLASLT_MATMUL_DESC_TRANSB] = FIELD(cublasLtMatmulDesc, transb),
    [CUBLASLT_MATMUL_DESC_EPILOGUE] = FIELD(cublasLtMatmulDesc, epilogue),
    [CUBLASLT_MATMUL_DESC_BIAS_POINTER] = FIELD(cublasLtMatmulDesc, bias),
    [CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE] = FIELD(cublasLtMatmulDesc, bias_stride),
    [CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER] = FIELD(cublasLtMatmulDesc, aux),
    [CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD] = FIELD(cublasLtMatmulDesc, aux_ld),
    [CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE] = FIELD(cublasLtMatmulDesc, aux_stride),
    [CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE] = FIELD(cublasLtMatmulDesc, aux_type),
    [CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE] = FIELD(cublasLtMatmulDesc, bias_type),
};
static const struct field layout_fields[] = {
    [CUBLASLT_MATRIX_LAYOUT_TYPE] = FIELD(cublasLtMatrixLayout, type),
    [CUBLASLT_MATRIX_LAYOUT_ORDER] = FIELD(cublasLtMatrixLayout, order),
    [CUBLASLT_MATRIX_LAYOUT_ROWS] = FIELD(cublasLtMatrixLayout, rows),
    [CUBLASLT_MATRIX_LAYOUT_COLS] = FIELD(cublasLtMatrixLayout, columns),
    [CUBLASLT_MATRIX_LAYOUT_LD] = FIELD(cublasLtMatrixLayout, ld),
    [CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT] = FIELD(cublasLtMatrixLayout, batches),
    [CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET] = FIELD(cublasLtMatrixLayout, stride),
};

static cublasStatus_t set(void *object, const struct field *fields, size_t n, unsigned attribute,
                          const void *value, size_t size)
{
    if (!object || !value)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (attribute >= n || !fields[attribute].size)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (size != fields[attribute].size)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy((char *)object + fields[attribute].offset, value, size);
    return CUBLAS_STATUS_SUCCESS;
}

/* Functions that make, destroy and, if it has attributes, set each kind of object. */
#define OBJECT(T, Handle, none)                                                                    \
    static cublasStatus_t make_##T(struct T **object, struct T value)                              \
    {                                                                                              \
        if (!object)                                                                               \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        *object = malloc(sizeof value);                                                            \
        if (!*object)                                                                              \
            return CUBLAS_STATUS_ALLOC_FAILED;                                                     \
        **object = value;                                                                          \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    cublasStatus_t Handle##Destroy(struct T *object)                                               \
    {                                                                                              \
        free(object);                                                                              \
        return object ? CUBLAS_STATUS_SUCCESS : none;                                              \
    }
#define ATTRIBUTES(T, Attribute, fields)                                                           \
    cublasStatus_t T##SetAttribute(struct T *object, Attribute attribute, const void *value,       \
                                   size_t size)                                                    \
    {                                                                                              \
        return set(object, fields, sizeof fields / sizeof *fields, attribute, value, size);        \
    }
OBJECT(cublasLtContext, cublasLt, CUBLAS_STATUS_NOT_INITIALIZED)
OBJECT(cublasLtMatmulPreference, cublasLtMatmulPreference, CUBLAS_STATUS_INVALID_VALUE)
OBJECT(cublasLtMatmulDesc, cublasLtMatmulDesc, CUBLAS_STATUS_INVALID_VALUE)
OBJECT(cublasLtMatrixLayout, cublasLtMatrixLayout, CUBLAS_STATUS_INVALID_VALUE)
ATTRIBUTES(cublasLtMatmulPreference, cublasLtMatmulPreferenceAttributes_t, preference_fields)
ATTRIBUTES(cublasLtMatmulDesc, cublasLtMatmulDescAttributes_t, desc_fields)
ATTRIBUTES(cublasLtMatrixLayout, cublasLtMatrixLayoutAttribute_t, layout_fields)

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    return make_cublasLtContext(handle, (struct cublasLtContext){0});
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference)
{
    return make_cublasLtMatmulPreference(preference, (struct cublasLtMatmulPreference){0});
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute,
                                        cudaDataType_t scale)
{
    return make_cublasLtMatmulDesc(
        desc, (struct cublasLtMatmulDesc){.compute = (int32_t)compute,
                                          .scale = (int32_t)scale,
                                          .aux_type = -1,
                                          .bias_type = -1,
                                          .epilogue = CUBLASLT_EPILOGUE_DEFAULT});
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t ld)
{
    return make_cublasLtMatrixLayout(
        layout, (struct cublasLtMatrixLayout){
                    .type = type, .batches = 1, .rows = rows, .columns = columns, .ld = ld});
}

size_t cublasLtGetVersion(void)
{
    return CUBLAS_VERSION;
}

const char *cublasLtGetStatusName(cublasStatus_t status)
{
    return cublasGetStatusName(status);
}

const char *cublasLtGetStatusString(cublasStatus_t status)
{
    return cublasGetStatusString(status);
}

/* CUBLAS_STATUS_SUCCESS if the described matrices can be multiplied. */
static cublasStatus_t check(cublasLtHandle_t handle, const struct cublasLtMatmulDesc *desc,
                            const struct cublasLtMatrixLayout *a,
                            const struct cublasLtMatrixLayout *b,
                            const struct cublasLtMatrixLayout *c,
                            const struct cublasLtMatrixLayout *d)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!desc || !a || !b || !c || !d)
        return CUBLAS_STATUS_INVALID_VALUE;
    const struct cublasLtMatrixLayout *all[] = {a, b, c, d};
    for (int i = 0; i < 4; i++) {
        if (all[i]->order != CUBLASLT_ORDER_COL || all[i]->rows > INT_MAX ||
            all[i]->columns > INT_MAX || all[i]->ld > INT_MAX)
            return CUBLAS_STATUS_NOT_SUPPORTED;
        if (all[i]->ld < (int64_t)all[i]->rows || all[i]->batches != d->batches)
            return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (blas_bad_op((cublasOperation_t)desc->transa) ||
        blas_bad_op((cublasOperation_t)desc->transb))
        return CUBLAS_STATUS_INVALID_VALUE;
    const int n_a = desc->transa == CUBLAS_OP_N, n_b = desc->transb == CUBLAS_OP_N;
    if ((n_a ? a->rows : a->columns) != d->rows || (n_b ? b->columns : b->rows) != d->columns ||
        (n_a ? a->columns : a->rows) != (n_b ? b->rows : b->columns) || c->rows != d->rows ||
        c->columns != d->columns)
        return CUBLAS_STATUS_INVALID_VALUE;
    const int narrow = a->type == CUDA_R_16F || a->type == CUDA_R_16BF;
    cudaDataType scale = CUDA_R_32F;
    switch (desc->compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        scale = CUDA_R_16F;
        break;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
        break;
    default:
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (desc->scale != (int32_t)scale || (unsigned)desc->mode > CUBLASLT_POINTER_MODE_DEVICE ||
        (!narrow && a->type != CUDA_R_32F) || b->type != a->type || c->type != d->type ||
        (d->type != a->type && d->type != CUDA_R_32F) ||
        (scale == CUDA_R_16F && (a->type != CUDA_R_16F || d->type != CUDA_R_16F)))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    switch (desc->epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
        return desc->epilogue & CUBLASLT_EPILOGUE_BIAS && desc->bias_type != -1 &&
                       desc->bias_type != (int32_t)d->type
                   ? CUBLAS_STATUS_NOT_SUPPORTED
                   : CUBLAS_STATUS_SUCCESS;
    case CUBLASLT_EPILOGUE_GELU_AUX:
    case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
        if ((desc->aux_type != -1 && desc->aux_type != (int32_t)d->type) ||
            (desc->epilogue & CUBLASLT_EPILOGUE_BIAS && desc->bias_type != -1 &&
             desc->bias_type != (int32_t)d->type))
            return CUBLAS_STATUS_NOT_SUPPORTED;
        return desc->aux_ld < (int64_t)d->rows || desc->aux_ld % 8 || desc->aux_ld > INT_MAX
                   ? CUBLAS_STATUS_INVALID_VALUE
                   : CUBLAS_STATUS_SUCCESS;
    default:
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int most,
                                              cublasLtMatmulHeuristicResult_t results[], int *found)
{
    if (!found || !results || !preference || most < 1)
        return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = check(handle, desc, a, b, c, d);
    *found = status == CUBLAS_STATUS_SUCCESS;
    if (*found)
        results[0] =
            (cublasLtMatmulHeuristicResult_t){.state = CUBLAS_STATUS_SUCCESS, .wavesCount = 1};
    return status;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha,
                              const void *A, cublasLtMatrixLayout_t a, const void *B,
                              cublasLtMatrixLayout_t b, const void *beta, const void *C,
                              cublasLtMatrixLayout_t c, void *D, cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspace_size, cudaStream_t stream)
{
    const cublasStatus_t status = check(handle, desc, a, b, c, d);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    const int biased = (desc->epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
    const int gelu = (desc->epilogue & CUBLASLT_EPILOGUE_GELU) != 0;
    const int aux = desc->epilogue >= CUBLASLT_EPILOGUE_GELU_AUX;
    if (!A || !B || !D || (biased && !desc->bias) || (aux && !desc->aux) ||
        (C == D && (c->ld != d->ld || c->stride != d->stride)))
        return CUBLAS_STATUS_INVALID_VALUE;
    struct cublasContext context = {.stream = stream, .mode = (cublasPointerMode_t)desc->mode};
    const struct call call = {.name = "cublasLtMatmul",
                              .site = __builtin_return_address(0),
                              .type = (cudaDataType)a->type,
                              .type_c = (cudaDataType)d->type,
                              .transa = (cublasOperation_t)desc->transa,
                              .transb = (cublasOperation_t)desc->transb,
                              .m = (int)d->rows,
                              .n = (int)d->columns,
                              .k = (int)(desc->transa == CUBLAS_OP_N ? a->columns : a->rows),
                              .lda = (int)a->ld,
                              .ldb = (int)b->ld,
                              .ldc = (int)d->ld,
                              .a = A,
                              .b = B,
                              .c = D,
                              .alpha_at = alpha,
                              .beta_at = beta,
                              .batches = d->batches,
                              .stride_a = a->stride,
                              .stride_b = b->stride,
                              .stride_c = d->stride,
                              .fused = 1,
                              .fusion = {.c = C,
                                         .ldc = (int)c->ld,
                                         .stride_c = c->stride,
                                         .bias = biased ? desc->bias : NULL,
                                         .stride_bias = desc->bias_stride,
                                         .aux = aux ? desc->aux : NULL,
                                         .ld_aux = (int)desc->aux_ld,
                                         .stride_aux = desc->aux_stride,
                                         .activation = gelu ? BLAS_GELU
                                                       : desc->epilogue & CUBLASLT_EPILOGUE_RELU
                                                           ? BLAS_RELU
                                                           : BLAS_NONE}};
    return blas_typed_products(&context, call, (cudaDataType)b->type,
                               (cublasComputeType_t)desc->compute);
}
