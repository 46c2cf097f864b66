/* What the programs here share. Each is plain CUDA: nvcc makes it for a GPU, cudacc for the CPU. It
 * prints one line an instruction and kind of operands, with the results' bits in hex or, where
 * there are many, hashes of them. Operands come from a counter, so both machines get the same. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The n-th number of a sequence: a hash of both (splitmix64). */
static inline __host__ __device__ uint64_t mixed(uint64_t sequence, uint64_t n)
{
    uint64_t x = sequence * 0x9e3779b97f4a7c15u + n * 0xd1342543de82ef95u + 0x2545f4914f6cdd1du;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Numbers of one sequence, one after the other. */
struct sequence {
    uint64_t id, n;
};
static inline uint32_t next_number(struct sequence *s)
{
    return (uint32_t)(mixed(s->id, s->n++) >> 32);
}
/* From first to last, both included. */
static inline int next_between(struct sequence *s, int first, int last)
{
    return first + (int)(next_number(s) % (uint32_t)(last - first + 1));
}

/* FNV-1a, going on from h; 0 starts. */
static inline uint32_t hashed(uint32_t h, const void *data, size_t bytes)
{
    const unsigned char *p = (const unsigned char *)data;
    h = h ? h : 2166136261u;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ p[i]) * 16777619u;
    return h;
}

/* The end of a line. `wrong` counts results that differ from those of the program's own reference;
 * main returns any_wrong. */
static int any_wrong __attribute__((unused));
static inline void print_end(uint32_t hash, int wrong)
{
    printf("%08x", hash);
    if (wrong)
        printf(" and %d results differ from the reference's", wrong);
    printf("\n");
    any_wrong |= wrong != 0;
}
static inline void print_result(const char *instruction, const char *operands, uint32_t hash,
                                int wrong)
{
    printf("%s\t%s\t", instruction, operands);
    print_end(hash, wrong);
}

static inline void need(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(2);
}

/* A copy of host memory on the device; NULL gives memory of zeros. */
static inline void *on_device(const void *host, size_t bytes)
{
    void *p = NULL;
    need(cudaMalloc(&p, bytes), "cudaMalloc");
    need(host ? cudaMemcpy(p, host, bytes, cudaMemcpyHostToDevice) : cudaMemset(p, 0, bytes),
         "copy to the device");
    return p;
}
static inline void to_host(void *host, const void *device, size_t bytes)
{
    need(cudaGetLastError(), "launch");
    need(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "copy to the host");
}
