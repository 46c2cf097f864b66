/* tma.cuh: Hopper's copies of whole tiles (TMA), the barriers in shared memory that signal their
 * completion (mbarrier), and the fences and groups that they need. Compute capability 9.0.
 *
 * A tensor map, made once on the host, describes how an array lies in memory and how large a TMA
 * box is. One thread then gives the corner of a box, and the TMA copies the box: it computes
 * addresses, checks bounds, and swizzles the tile. Elements outside of the array are loaded as
 * zeros, and are not stored.
 *
 * barrier, tile: addresses in shared memory, in bytes, as shared_address gives them. The TMA
 * accesses shared memory through the async proxy. To make writes of threads visible to it, first
 * call fence_async_proxy, then a barrier of threads.
 */
#pragma once

#include "cuda/tensor_cores.cuh"
#include "harness/problem.h"

#include <cuda.h>
#include <stdio.h>

// --- Barriers ------------------------------------------------------------------------------------

// snippet: barrier
// A barrier is 8 bytes of shared memory. It has phases: a phase completes when `arrivals` threads
// have arrived and all bytes that they announced have been copied; then the next phase begins. One
// thread initialises it; barrier_init_fence and __syncthreads follow before any thread uses it.
static __device__ __forceinline__ void barrier_init(uint32_t barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(barrier), "r"(arrivals)
                 : "memory");
}

// Makes barriers that this thread has initialised visible to the TMA.
static __device__ __forceinline__ void barrier_init_fence()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Arrives, and announces this number of bytes, before the copies that bring them are started.
static __device__ __forceinline__ void barrier_expect(uint32_t barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(barrier), "r"(bytes)
                 : "memory");
}

static __device__ __forceinline__ void barrier_arrive(uint32_t barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(barrier) : "memory");
}

// Waits until the phase of this parity is complete: 0 for the first, third and so on, 1 for the
// others. The phase before the first counts as complete, and has parity 1. Right only if the phase
// meant is the one in progress or the one before it: a parity tells a phase from its neighbours
// only.
static __device__ __forceinline__ void barrier_wait(uint32_t barrier, int parity)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "WAIT:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra WAIT;\n"
                 "}"
                 :
                 : "r"(barrier), "r"(parity)
                 : "memory");
}
// end snippet: barrier

// Hardware barriers, 0 to 15, for a part of a block; __syncthreads uses number 0. `threads` threads
// meet at a barrier, in whole warps: those that sync wait for all, those that arrive do not wait.
template <int ID, int THREADS>
static __device__ __forceinline__ void named_sync()
{
    asm volatile("bar.sync %0, %1;" : : "n"(ID), "n"(THREADS) : "memory");
}

template <int ID, int THREADS>
static __device__ __forceinline__ void named_arrive()
{
    asm volatile("bar.arrive %0, %1;" : : "n"(ID), "n"(THREADS) : "memory");
}

// The same with a number known only at run time. The compiler then reserves all 16 for the block.
static __device__ __forceinline__ void named_sync(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" : : "r"(id), "r"(threads) : "memory");
}

static __device__ __forceinline__ void named_arrive(int id, int threads)
{
    asm volatile("bar.arrive %0, %1;" : : "r"(id), "r"(threads) : "memory");
}

// --- Tiles ---------------------------------------------------------------------------------------

// Makes this thread's writes to shared memory visible to copies and wgmma that it starts later, and
// to those of threads that it meets at a barrier in between.
static __device__ __forceinline__ void fence_async_proxy()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Fetches the map into the cache, because it will be needed soon.
static __device__ __forceinline__ void tma_prefetch(const CUtensorMap *map)
{
    asm volatile("prefetch.tensormap [%0];" : : "l"(map) : "memory");
}

// Starts the copy of the box whose first element is x (innermost), y, z -> the tile. Its bytes
// count for the barrier: all of the box, also those outside of the array. A map is aligned to 64
// bytes, a tile to 128, and to 1024 if it is swizzled. Called by one thread.
static __device__ __forceinline__ void tma_load(uint32_t tile, const CUtensorMap *map,
                                                uint32_t barrier, int x, int y, int z)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];"
                 :
                 : "r"(tile), "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier)
                 : "memory");
}

static __device__ __forceinline__ void tma_load(uint32_t tile, const CUtensorMap *map,
                                                uint32_t barrier, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 :
                 : "r"(tile), "l"(map), "r"(x), "r"(y), "r"(barrier)
                 : "memory");
}

static __device__ __forceinline__ void tma_load(uint32_t tile, const CUtensorMap *map,
                                                uint32_t barrier, int x, int y, int z, int w)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6];"
                 :
                 : "r"(tile), "l"(map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(barrier)
                 : "memory");
}

// Starts the copy of the tile -> the box, of those elements that lie in the array. The same thread
// commits and waits: stores have bulk groups, like cp.async, and no barrier.
static __device__ __forceinline__ void tma_store(const CUtensorMap *map, uint32_t tile, int x,
                                                 int y, int z)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group "
                 "[%0, {%1, %2, %3}], [%4];"
                 :
                 : "l"(map), "r"(x), "r"(y), "r"(z), "r"(tile)
                 : "memory");
}

static __device__ __forceinline__ void bulk_commit()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until at most the GROUPS youngest bulk groups of this thread are in flight.
template <int GROUPS>
static __device__ __forceinline__ void bulk_wait()
{
    asm volatile("cp.async.bulk.wait_group %0;" : : "n"(GROUPS) : "memory");
}

// The same for groups that still read their tiles. Afterwards the tiles may be overwritten; the
// array need not be written yet.
template <int GROUPS>
static __device__ __forceinline__ void bulk_wait_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(GROUPS) : "memory");
}

static __device__ __forceinline__ void tma_store(const CUtensorMap *map, uint32_t tile, int x,
                                                 int y)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                 :
                 : "l"(map), "r"(x), "r"(y), "r"(tile)
                 : "memory");
}

static __device__ __forceinline__ void tma_store(const CUtensorMap *map, uint32_t tile, int x,
                                                 int y, int z, int w)
{
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group "
                 "[%0, {%1, %2, %3, %4}], [%5];"
                 :
                 : "l"(map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(tile)
                 : "memory");
}

// Adds the tile to the box, in the L2 cache, in any order.
static __device__ __forceinline__ void tma_reduce_add(const CUtensorMap *map, uint32_t tile, int x,
                                                      int y, int z)
{
    asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group "
                 "[%0, {%1, %2, %3}], [%4];"
                 :
                 : "l"(map), "r"(x), "r"(y), "r"(z), "r"(tile)
                 : "memory");
}

static __device__ __forceinline__ void tma_reduce_add(const CUtensorMap *map, uint32_t tile, int x,
                                                      int y, int z, int w)
{
    asm volatile("cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.tile.bulk_group "
                 "[%0, {%1, %2, %3, %4}], [%5];"
                 :
                 : "l"(map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(tile)
                 : "memory");
}

// --- Bytes in a row, without a map ---------------------------------------------------------------

// Addresses and bytes are multiples of 16.
static __device__ __forceinline__ void bulk_load(uint32_t tile, const void *from, int bytes,
                                                 uint32_t barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];"
                 :
                 : "r"(tile), "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

static __device__ __forceinline__ void bulk_reduce_add(float *to, uint32_t tile, int bytes)
{
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;"
                 :
                 : "l"(to), "r"(tile), "r"(bytes)
                 : "memory");
}

// --- Maps ----------------------------------------------------------------------------------------

// The layout of an array in memory, innermost dimension first: extents in elements; strides in
// bytes along each dimension but the innermost, multiples of 16; and the box that a copy moves, at
// most 256 elements per dimension.
typedef struct tensor_layout {
    int rank; // 1 to 5
    cuuint64_t extent[5], stride[4];
    cuuint32_t box[5];
} tensor_layout;

// The driver's function. It is looked up by name, so that programs need not link the driver.
static inline decltype(&cuTensorMapEncodeTiled) tensor_map_encoder()
{
    void *found = NULL;
    enum cudaDriverEntryPointQueryResult status;
    CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                                cudaEnableDefault, &status));
    if (status != cudaDriverEntryPointSuccess) {
        kf_die(
            KF_CANNOT_RUN,
            "this driver has no cuTensorMapEncodeTiled (status %d): it needs one of CUDA 12.0 or "
            "newer",
            (int)status);
    }
    return (decltype(&cuTensorMapEncodeTiled))found;
}

// A map of this array. `swizzle` is the swizzle of its boxes in shared memory. A layout that the
// driver refuses ends the program with a line.
static inline CUtensorMap tensor_map(const void *array, CUtensorMapDataType type,
                                     const tensor_layout *layout, CUtensorMapSwizzle swizzle)
{
    static const decltype(&cuTensorMapEncodeTiled) encode = tensor_map_encoder();
    const cuuint32_t every[5] = {1, 1, 1, 1, 1};
    CUtensorMap map;
    const CUresult error =
        encode(&map, type, (cuuint32_t)layout->rank, (void *)array, layout->extent, layout->stride,
               layout->box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (error == CUDA_SUCCESS) {
        return map;
    }
    char text[400];
    int n = snprintf(text, sizeof text, "extents");
    for (int i = 0; i < layout->rank && i < 5; i++) {
        n += snprintf(text + n, sizeof text - n, " %llu", (unsigned long long)layout->extent[i]);
    }
    n += snprintf(text + n, sizeof text - n, ", strides");
    for (int i = 0; i + 1 < layout->rank && i < 4; i++) {
        n += snprintf(text + n, sizeof text - n, " %llu", (unsigned long long)layout->stride[i]);
    }
    n += snprintf(text + n, sizeof text - n, " bytes, box");
    for (int i = 0; i < layout->rank && i < 5; i++) {
        n += snprintf(text + n, sizeof text - n, " %u", (unsigned)layout->box[i]);
    }
    kf_die(KF_WRONG,
           "cuTensorMapEncodeTiled refuses a map, error %d: array at %p, type %d, rank %d, %s, "
           "swizzle %d; strides are to be multiples of 16 bytes, a box 256 elements at most",
           (int)error, array, (int)type, layout->rank, text, (int)swizzle);
}
