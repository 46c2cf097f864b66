/* The examples share this check of each value that the CUDA runtime returns. */
#pragma once
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call) check((call), __FILE__, __LINE__)
static inline void check(cudaError_t error, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s\n", file, line, cudaGetErrorString(error));
    exit(1);
}
