/* timeline.cuh: what the warps of one block do, and when: time stamps that a kernel writes.
 *
 * A kernel that may be recorded takes its recorder as a template parameter and as its last
 * argument: no_recorder, which the compiler removes, or recorder. A role is what a row of the
 * picture shows: the producer, or one group of consumers. One thread of a role records; it says
 * from where to where something took, and for which tile:
 *
 *     trace.begin(role, threadIdx.x % 128 == 0 && blockIdx.x == 0);
 *     const uint32_t from = trace.now();
 *     barrier_wait(full, parity);
 *     trace.add(WAIT, tile, from);
 *
 * The clock counts cycles of the multiprocessor, and all warps of a block read the same one.
 * Reading it keeps its place among other volatile instructions, and takes some cycles; a stamp is a
 * store under a predicate, for a branch would cut the compiler's schedule in two. A recorded kernel
 * is therefore a little slower than the one that is timed: its picture shows order and proportions.
 */
#pragma once

#include "timeline.h"
#include <stdint.h>

struct no_recorder {
    __device__ __forceinline__ void begin(int, bool)
    {
    }
    __device__ __forceinline__ uint32_t now() const
    {
        return 0;
    }
    __device__ __forceinline__ void add(int, int, uint32_t)
    {
    }
};

// rows [roles][most][4]: event, tile, and the cycles between which it was: what --timeline reads.
struct recorder {
    int *rows;
    int most;
    int at, end; // a thread's own: its next row, and the first that is not its role's

    __device__ __forceinline__ void begin(int role, bool records)
    {
        at = role * most;
        end = records ? at + most : at;
    }

    __device__ __forceinline__ uint32_t now() const
    {
        uint32_t cycles;
        asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles) : : "memory");
        return cycles;
    }

    // Rows that find no room are left out.
    __device__ __forceinline__ void add(int event, int tile, uint32_t from)
    {
        asm volatile("{\n"
                     ".reg .pred records;\n"
                     "setp.ne.b32 records, %0, 0;\n"
                     "@records st.global.v4.b32 [%1], {%2, %3, %4, %5};\n"
                     "}"
                     :
                     : "r"((int)(at < end)), "l"(rows + (int64_t)at * 4), "r"(event), "r"(tile),
                       "r"(from), "r"(now())
                     : "memory");
        at++;
    }
};
