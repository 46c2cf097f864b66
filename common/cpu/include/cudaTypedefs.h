/* Types of the driver functions that this backend has. */
#pragma once

#include "cuda.h"

typedef CUresult (*PFN_cuTensorMapEncodeTiled_v12000)(
    CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *global_address,
    const cuuint64_t *global_dim, const cuuint64_t *global_strides, const cuuint32_t *box,
    const cuuint32_t *element_strides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);
typedef PFN_cuTensorMapEncodeTiled_v12000 PFN_cuTensorMapEncodeTiled;
