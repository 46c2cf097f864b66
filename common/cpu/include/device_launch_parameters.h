/* threadIdx, blockIdx, blockDim and gridDim are declared with the rest of CUDA C++. */
#include "cuda_runtime.h"
