/* Tensor maps: cuTensorMapEncodeTiled, with the driver's rules. */
#include "api/api.h"
#include "base/plural.h"

#include "cuda.h"
#include "device/units/tensor_map.h"

#include <string.h>

_Static_assert(sizeof(struct tensor_map) <= sizeof(CUtensorMap), "a map has room for what it says");

enum { BOX_BYTES = 228 * 1024 };
static const uint8_t element_bytes[] = {1, 2, 4, 4, 8, 8, 2,
                                        4, 8, 2, 4, 4, 4}; /* by CUtensorMapDataType */

/* Prints a line and returns true if dimension i of an array or its box breaks a rule. */
static int bad_dimension(int i, uint64_t extent, uint32_t box, uint32_t step)
{
    if (extent < 1 || extent > (uint64_t)1 << 32)
        complain("cuTensorMapEncodeTiled: dimension %d has %llu elements: need 1 to 2^32", i,
                 (unsigned long long)extent);
    else if (box < 1 || box > 256)
        complain("cuTensorMapEncodeTiled: the box has %u elements in dimension %d: need 1 to 256",
                 box, i);
    else if (step < 1 || step > 8)
        complain("cuTensorMapEncodeTiled: the element stride of dimension %d is %u: need 1 to 8", i,
                 step);
    else
        return 0;
    return 1;
}

static int bad_choice(unsigned type, unsigned interleave, unsigned swizzle, unsigned promotion,
                      unsigned fill)
{
    const unsigned types = sizeof element_bytes;
    if (type >= types)
        complain("cuTensorMapEncodeTiled: data type %u: need 0 to %u", type, types - 1);
    else if (interleave)
        complain("cuTensorMapEncodeTiled: interleave %u is not supported by the CPU backend: need "
                 "CU_TENSOR_MAP_INTERLEAVE_NONE",
                 interleave);
    else if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
        complain("cuTensorMapEncodeTiled: swizzle %u: need 0 to 3", swizzle);
    else if (promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
        complain("cuTensorMapEncodeTiled: L2 promotion %u: need 0 to 3", promotion);
    else if (fill > 1 || (fill && type < CU_TENSOR_MAP_DATA_TYPE_FLOAT16))
        complain("cuTensorMapEncodeTiled: fill %u of data type %u: need 0, or 1 with a "
                 "floating-point type",
                 fill, type);
    else
        return 0;
    return 1;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *global_address, const cuuint64_t *global_dim,
                                const cuuint64_t *global_strides, const cuuint32_t *box,
                                const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill)
{
    struct tensor_map m = {.magic = TENSOR_MAP, .address = global_address};
    if (!map || (uintptr_t)map % 64 || !global_dim || !box || !element_strides ||
        (rank > 1 && !global_strides)) {
        complain("cuTensorMapEncodeTiled: the map is at %p: need an address that is a multiple of "
                 "64, and no array that is NULL",
                 (void *)map);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (bad_choice(type, interleave, swizzle, promotion, fill))
        return CUDA_ERROR_INVALID_VALUE;
    if (rank < 1 || rank > RANK) {
        complain("cuTensorMapEncodeTiled: rank %u: need 1 to 5", rank);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!global_address || (uintptr_t)global_address % 16) {
        complain("cuTensorMapEncodeTiled: the array is at %p: need a multiple of 16",
                 global_address);
        return CUDA_ERROR_INVALID_VALUE;
    }
    m.stride[0] = element_bytes[type];
    for (uint32_t i = 0; i < rank; i++) {
        if (bad_dimension((int)i, global_dim[i], box[i], element_strides[i]))
            return CUDA_ERROR_INVALID_VALUE;
        if (i && (global_strides[i - 1] % 16 || global_strides[i - 1] >= (uint64_t)1 << 40)) {
            complain(
                "cuTensorMapEncodeTiled: stride %u is %llu byte%s: need a multiple of 16 below "
                "2^40",
                i - 1, (unsigned long long)global_strides[i - 1],
                plural((long long)global_strides[i - 1]));
            return CUDA_ERROR_INVALID_VALUE;
        }
        m.extent[i] = global_dim[i];
        m.box[i] = box[i];
        m.step[i] = (uint8_t)(i ? element_strides[i] : 1);
        if (i)
            m.stride[i] = global_strides[i - 1];
    }
    const unsigned inner = box[0] * element_bytes[type], span = 16u << swizzle;
    if (inner % 16 || (swizzle && inner > span)) {
        complain("cuTensorMapEncodeTiled: the box is %u byte%s wide: need a multiple of 16%s",
                 inner, plural(inner),
                 swizzle == CU_TENSOR_MAP_SWIZZLE_NONE  ? ""
                 : swizzle == CU_TENSOR_MAP_SWIZZLE_32B ? ", at most the swizzle's 32"
                 : swizzle == CU_TENSOR_MAP_SWIZZLE_64B ? ", at most the swizzle's 64"
                                                        : ", at most the swizzle's 128");
        return CUDA_ERROR_INVALID_VALUE;
    }
    uint64_t all = element_bytes[type];
    for (uint32_t i = 0; i < rank; i++)
        all *= box[i];
    if (all > BOX_BYTES) {
        complain("cuTensorMapEncodeTiled: the box has %llu bytes: need %d at most",
                 (unsigned long long)all, BOX_BYTES);
        return CUDA_ERROR_INVALID_VALUE;
    }
    m.type = (uint8_t)type;
    m.rank = (uint8_t)rank;
    m.swizzle = (uint8_t)swizzle;
    m.fill = (uint8_t)fill;
    m.tf32 =
        type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 || type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
    memset(map, 0, sizeof *map);
    memcpy(map, &m, sizeof m);
    return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **f, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found)
{
    if (!symbol || !f || flags > cudaEnablePerThreadDefaultStream)
        return result(cudaErrorInvalidValue);
    int known = strcmp(symbol, "cuTensorMapEncodeTiled") == 0, old = known && version < 12000;
    *f = known && !old ? (void *)(uintptr_t)cuTensorMapEncodeTiled : NULL;
    if (found)
        *found = !known ? cudaDriverEntryPointSymbolNotFound
                 : old  ? cudaDriverEntryPointVersionNotSufficent
                        : cudaDriverEntryPointSuccess;
    if (!known)
        complain("the CPU backend has no driver function %s: cuTensorMapEncodeTiled is all",
                 symbol);
    return result(cudaSuccess);
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **f, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *found)
{
    return cudaGetDriverEntryPointByVersion(symbol, f, CUDART_VERSION, flags, found);
}
