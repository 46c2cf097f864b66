/* Data types as libraries name them. Of the libraries only cuBLAS is here; it supports some of
 * these types. */
#pragma once

typedef enum cudaDataType_t {
    CUDA_R_32F = 0,
    CUDA_R_64F = 1,
    CUDA_R_16F = 2,
    CUDA_R_8I = 3,
    CUDA_C_32F = 4,
    CUDA_C_64F = 5,
    CUDA_R_8U = 8,
    CUDA_R_32I = 10,
    CUDA_C_32I = 11,
    CUDA_R_16BF = 14
} cudaDataType_t;
typedef cudaDataType_t cudaDataType;
