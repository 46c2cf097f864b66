/* The part of CUDA's driver API that this backend has: tensor maps and device queries. Names,
 * numbers and meaning are CUDA's. There is no driver to link: programs get the tensor-map
 * function from cudaGetDriverEntryPointByVersion; the other functions are defined here. */
#pragma once

#include <stdint.h>
#include "cuda_runtime_api.h"

#define __cuda_cuda_h__

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define CUDA_VERSION 13000
#define CUDAAPI

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;
#define CPU_DRIVER_ERRORS(X)                                                                       \
    X(CUDA_SUCCESS, 0)                                                                             \
    X(CUDA_ERROR_INVALID_VALUE, 1)                                                                 \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2)                                                                 \
    X(CUDA_ERROR_NOT_INITIALIZED, 3)                                                               \
    X(CUDA_ERROR_NO_DEVICE, 100)                                                                   \
    X(CUDA_ERROR_INVALID_DEVICE, 101)                                                              \
    X(CUDA_ERROR_INVALID_CONTEXT, 201)                                                             \
    X(CUDA_ERROR_INVALID_HANDLE, 400)                                                              \
    X(CUDA_ERROR_NOT_FOUND, 500)                                                                   \
    X(CUDA_ERROR_NOT_SUPPORTED, 801)                                                               \
    X(CUDA_ERROR_UNKNOWN, 999)
#define CPU_VALUE(name, number) name = number,
typedef enum cudaError_enum { CPU_DRIVER_ERRORS(CPU_VALUE) } CUresult;
#undef CPU_VALUE
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
#define CPU_ATTRIBUTE(name, driver_name, number, value) CU_DEVICE_ATTRIBUTE_##driver_name = number,
typedef enum CUdevice_attribute_enum {
    CPU_ATTRIBUTES(CPU_ATTRIBUTE)
    /* The runtime API has no name for it any more. */
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH = 96
} CUdevice_attribute;
#undef CPU_ATTRIBUTE
typedef enum CUcomputemode_enum {
    CU_COMPUTEMODE_DEFAULT = 0,
    CU_COMPUTEMODE_PROHIBITED = 2,
    CU_COMPUTEMODE_EXCLUSIVE_PROCESS = 3
} CUcomputemode;

/* Device queries and waits. They call the runtime API, whose numbers are the same. */
static inline CUresult cuInit(unsigned flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
static inline CUresult cuGetErrorName(CUresult error, const char **name)
{
#define CPU_NAME(name_of, number)                                                                  \
    case name_of:                                                                                  \
        *name = #name_of;                                                                          \
        return CUDA_SUCCESS;
    switch (error) {
        CPU_DRIVER_ERRORS(CPU_NAME)
    }
#undef CPU_NAME
    *name = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}
static inline CUresult cuDriverGetVersion(int *version)
{
    return (CUresult)cudaDriverGetVersion(version);
}
static inline CUresult cuDeviceGetCount(int *count)
{
    return (CUresult)cudaGetDeviceCount(count);
}
static inline CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    if (!device || ordinal != 0)
        return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    *device = ordinal;
    return CUDA_SUCCESS;
}
static inline CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                                            CUdevice device)
{
    if (attribute == CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH && value && device == 0) {
        *value = 0;
        return CUDA_SUCCESS;
    }
    return (CUresult)cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device);
}
static inline CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    return (CUresult)cudaDeviceCanAccessPeer(can, device, peer);
}
static inline CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    struct cudaDeviceProp p;
    cudaError_t error =
        name && size > 0 ? cudaGetDeviceProperties(&p, device) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        for (int i = 0; i < size; i++)
            name[i] = i < size - 1 && i < (int)sizeof p.name ? p.name[i] : '\0';
    return (CUresult)error;
}
static inline CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    struct cudaDeviceProp p;
    cudaError_t error = bytes ? cudaGetDeviceProperties(&p, device) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *bytes = p.totalGlobalMem;
    return (CUresult)error;
}
static inline CUresult cuCtxSynchronize(void)
{
    return (CUresult)cudaDeviceSynchronize();
}
static inline CUresult cuGetErrorString(CUresult error, const char **text)
{
    *text = cudaGetErrorString((cudaError_t)error);
    return CUDA_SUCCESS;
}

#define CU_TENSOR_MAP_NUM_QWORDS 16
/* The layout of an array in memory, and the size of a TMA box in it. A kernel gets it as a
 * parameter of type `const __grid_constant__ CUtensorMap`. */
typedef struct CUtensorMap_st {
#if defined __cplusplus
    alignas(64)
#else
    _Alignas(64)
#endif
        cuuint64_t opaque[CU_TENSOR_MAP_NUM_QWORDS];
} CUtensorMap;

typedef enum CUtensorMapDataType_enum {
    CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
    CU_TENSOR_MAP_DATA_TYPE_UINT16,
    CU_TENSOR_MAP_DATA_TYPE_UINT32,
    CU_TENSOR_MAP_DATA_TYPE_INT32,
    CU_TENSOR_MAP_DATA_TYPE_UINT64,
    CU_TENSOR_MAP_DATA_TYPE_INT64,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ
} CUtensorMapDataType;

typedef enum CUtensorMapInterleave_enum {
    CU_TENSOR_MAP_INTERLEAVE_NONE = 0,
    CU_TENSOR_MAP_INTERLEAVE_16B,
    CU_TENSOR_MAP_INTERLEAVE_32B
} CUtensorMapInterleave;

typedef enum CUtensorMapSwizzle_enum {
    CU_TENSOR_MAP_SWIZZLE_NONE = 0,
    CU_TENSOR_MAP_SWIZZLE_32B,
    CU_TENSOR_MAP_SWIZZLE_64B,
    CU_TENSOR_MAP_SWIZZLE_128B
} CUtensorMapSwizzle;

typedef enum CUtensorMapL2promotion_enum {
    CU_TENSOR_MAP_L2_PROMOTION_NONE = 0,
    CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
    CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
    CU_TENSOR_MAP_L2_PROMOTION_L2_256B
} CUtensorMapL2promotion;

typedef enum CUtensorMapFloatOOBfill_enum {
    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0,
    CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
} CUtensorMapFloatOOBfill;

/* global_dim and box are in elements, the innermost dimension first. global_strides are in
 * bytes, for all dimensions but the innermost. If the driver would refuse the map, returns
 * CUDA_ERROR_INVALID_VALUE and prints the reason in a line. */
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *global_address, const cuuint64_t *global_dim,
                                const cuuint64_t *global_strides, const cuuint32_t *box,
                                const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
