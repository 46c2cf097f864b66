/* bulk.h: bulk copies and mbarriers for the programs here, an instruction a function. */
#pragma once

#include "record.h"

#include <cuda.h>

static __device__ __forceinline__ uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ __forceinline__ void barrier_init(uint32_t barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
                 : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ __forceinline__ void barrier_expect(uint32_t barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

static __device__ __forceinline__ void barrier_wait(uint32_t barrier, int parity)
{
    asm volatile("{\n.reg .pred done;\nWAIT:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra WAIT;\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

static __device__ __forceinline__ void fence_async()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

template <int pending>
static __device__ __forceinline__ void bulk_commit_and_wait()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(pending) : "memory");
}

/* The coordinates of an operand, and the instructions for each number of them. */
struct place {
    int at[5];
};
#define COORDINATES(c) "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4])
#define LOAD(n, list)                                                                              \
    asm volatile("cp.async.bulk.tensor." n                                                         \
                 ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" list     \
                 "}], [%2];" ::"r"(tile),                                                          \
                 "l"(map), "r"(barrier), COORDINATES(c)                                            \
                 : "memory")
#define STORE(kind, n, list)                                                                       \
    asm volatile("cp." kind "async.bulk.tensor." n ".global.shared::cta." OPERATION                \
                 "tile.bulk_group [%1, {" list "}], [%0];" ::"r"(tile),                            \
                 "l"(map), "r"(0), COORDINATES(c)                                                  \
                 : "memory")

static __device__ void load_box(int rank, uint32_t tile, const CUtensorMap *map, uint32_t barrier,
                                place c)
{
    if (rank == 1)
        LOAD("1d", "%3");
    else if (rank == 2)
        LOAD("2d", "%3, %4");
    else if (rank == 3)
        LOAD("3d", "%3, %4, %5");
    else if (rank == 4)
        LOAD("4d", "%3, %4, %5, %6");
    else
        LOAD("5d", "%3, %4, %5, %6, %7");
}

#define OPERATION ""
static __device__ void store_box(int rank, uint32_t tile, const CUtensorMap *map, place c)
{
    if (rank == 1)
        STORE("", "1d", "%3");
    else if (rank == 2)
        STORE("", "2d", "%3, %4");
    else if (rank == 3)
        STORE("", "3d", "%3, %4, %5");
    else if (rank == 4)
        STORE("", "4d", "%3, %4, %5, %6");
    else
        STORE("", "5d", "%3, %4, %5, %6, %7");
}
#undef OPERATION

#define OPERATION "add."
static __device__ void add_box(int rank, uint32_t tile, const CUtensorMap *map, place c)
{
    if (rank == 1)
        STORE("reduce.", "1d", "%3");
    else if (rank == 2)
        STORE("reduce.", "2d", "%3, %4");
    else
        STORE("reduce.", "3d", "%3, %4, %5");
}
#undef OPERATION

/* --- Maps, on the host ------------------------------------------------------------------------ */

static inline decltype(&cuTensorMapEncodeTiled) encoder()
{
    void *f = NULL;
    cudaDriverEntryPointQueryResult found;
    need(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault,
                                          &found),
         "cudaGetDriverEntryPointByVersion");
    if (!f || found != cudaDriverEntryPointSuccess) {
        fprintf(stderr, "no cuTensorMapEncodeTiled: %d\n", (int)found);
        exit(2);
    }
    return (decltype(&cuTensorMapEncodeTiled))f;
}
