/* The counts and findings of an instrumented program. `cudacc --count` and `cudacc --check` link an
 * instrument; a plain program has none. The host calls these functions between launches. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* A request is one instruction of one warp; a sector is 32 bytes. A counter below mma_flops gets
 * no column if all its values are 0. */
#define CPU_COUNTER_LIST(X)                                                                        \
    X(CPU_LAUNCHES, "launches")                                                                    \
    X(CPU_BLOCKS, "blocks")                                                                        \
    X(CPU_THREADS, "threads")                                                                      \
    X(CPU_BARRIERS, "barriers") /* of a block, with named ones */                                  \
    X(CPU_SHUFFLES, "shuffles") /* requests */                                                     \
    X(CPU_VOTES, "votes")       /* requests: ballots, matches, warp reductions */                  \
    X(CPU_ATOMICS, "atomics")   /* requests, global and shared */                                  \
    X(CPU_GLOBAL_LD_REQUESTS, "global_ld_requests")                                                \
    X(CPU_GLOBAL_LD_SECTORS, "global_ld_sectors")                                                  \
    X(CPU_GLOBAL_LD_BYTES, "global_ld_bytes") /* requested by all lanes; a sector moves 32 */      \
    X(CPU_GLOBAL_ST_REQUESTS, "global_st_requests")                                                \
    X(CPU_GLOBAL_ST_SECTORS, "global_st_sectors")                                                  \
    X(CPU_GLOBAL_ST_BYTES, "global_st_bytes")                                                      \
    X(CPU_SHARED_LD_REQUESTS, "shared_ld_requests")                                                \
    X(CPU_SHARED_LD_WAVEFRONTS, "shared_ld_wavefronts") /* passes through the banks */             \
    X(CPU_SHARED_LD_CONFLICTS, "shared_ld_conflicts")   /* those due to bank conflicts */          \
    X(CPU_SHARED_ST_REQUESTS, "shared_st_requests")                                                \
    X(CPU_SHARED_ST_WAVEFRONTS, "shared_st_wavefronts")                                            \
    X(CPU_SHARED_ST_CONFLICTS, "shared_st_conflicts")                                              \
    X(CPU_LOCAL_LD_REQUESTS, "local_ld_requests") /* from a thread's stack */                      \
    X(CPU_LOCAL_ST_REQUESTS, "local_st_requests")                                                  \
    X(CPU_SIN, "sin") /* from here: calls, over all threads */                                     \
    X(CPU_COS, "cos")                                                                              \
    X(CPU_EXP, "exp")                                                                              \
    X(CPU_LOG, "log")                                                                              \
    X(CPU_POW, "pow")                                                                              \
    X(CPU_SQRT, "sqrt")                                                                            \
    X(CPU_RSQRT, "rsqrt")                                                                          \
    X(CPU_DIV, "div") /* of floating-point numbers */                                              \
    X(CPU_MMA, "mma") /* requests */                                                               \
    X(CPU_MMA_FLOPS, "mma_flops")                                                                  \
    X(CPU_LDMATRIX_REQUESTS, "ldmatrix_requests")                                                  \
    X(CPU_LDMATRIX_WAVEFRONTS, "ldmatrix_wavefronts") /* also in shared_ld_wavefronts */           \
    X(CPU_LDMATRIX_CONFLICTS, "ldmatrix_conflicts")   /* also in shared_ld_conflicts */            \
    X(CPU_STMATRIX_REQUESTS, "stmatrix_requests")                                                  \
    X(CPU_STMATRIX_WAVEFRONTS, "stmatrix_wavefronts") /* likewise */                               \
    X(CPU_STMATRIX_CONFLICTS, "stmatrix_conflicts")                                                \
    X(CPU_CP_ASYNC_REQUESTS, "cp_async_requests")                                                  \
    X(CPU_CP_ASYNC_BYTES, "cp_async_bytes")           /* read, without the zeros */                \
    X(CPU_CP_ASYNC_SECTORS, "cp_async_sectors")       /* of global memory */                       \
    X(CPU_CP_ASYNC_WAVEFRONTS, "cp_async_wavefronts") /* of shared memory */                       \
    X(CPU_CP_ASYNC_CONFLICTS, "cp_async_conflicts")                                                \
    X(CPU_CP_ASYNC_LEFT_GROUPS, "cp_async_left_groups") /* in flight after a wait; all threads */  \
    X(CPU_WGMMA, "wgmma") /* of warpgroups; their flops are in mma_flops */                        \
    X(CPU_WGMMA_SHARED_BYTES, "wgmma_shared_bytes")         /* read as A and B */                  \
    X(CPU_GLOBAL_ATOMIC_REQUESTS, "global_atomic_requests") /* also in atomics */                  \
    X(CPU_GLOBAL_ATOMIC_SECTORS, "global_atomic_sectors")                                          \
    X(CPU_GLOBAL_ATOMIC_BYTES, "global_atomic_bytes") /* requested by all lanes */                 \
    X(CPU_GLOBAL_ATOMIC_ELEMENTS, "global_atomic_elements")                                        \
    X(CPU_BULK_LOAD_REQUESTS, "bulk_load_requests") /* of the TMA, each by one thread */           \
    X(CPU_BULK_LOAD_BYTES, "bulk_load_bytes")       /* from global memory, without fill */         \
    X(CPU_BULK_STORE_REQUESTS, "bulk_store_requests")                                              \
    X(CPU_BULK_STORE_BYTES, "bulk_store_bytes")                                                    \
    X(CPU_BULK_REDUCE_REQUESTS, "bulk_reduce_requests")                                            \
    X(CPU_BULK_REDUCE_BYTES, "bulk_reduce_bytes")                                                  \
    X(CPU_BULK_READ_WAITS, "bulk_read_waits")     /* waits for reading only; all threads */        \
    X(CPU_BULK_LEFT_GROUPS, "bulk_left_groups")   /* in flight after a wait; all threads */        \
    X(CPU_WGMMA_LEFT_GROUPS, "wgmma_left_groups") /* likewise; all warps */                        \
    X(CPU_LAUNCH_DEPENDENTS, "launch_dependents") /* the next launch may begin; all threads */     \
    X(CPU_EARLY_LAUNCHES, "early_launches")       /* may begin before the one in front ends */     \
    X(CPU_CACHE_HINTS, "cache_hints")             /* accesses by .cg or .cs; all threads */        \
    X(CPU_GRID_BARRIERS, "grid_barriers")         /* grid.sync, once for each block */             \
    X(CPU_TEXTURE_FETCHES, "texture_fetches")     /* from here: over all threads */                \
    X(CPU_SURFACE_READS, "surface_reads")                                                          \
    X(CPU_SURFACE_WRITES, "surface_writes")
#define CPU_ID(id, name) id,
enum cpu_counter { CPU_COUNTER_LIST(CPU_ID) CPU_COUNTERS };

struct cpu_kernel_counts {
    const char *kernel;
    uint64_t value[CPU_COUNTERS];
};

/* An instrument, as functions. */
enum cpu_instrument_mode { CPU_COUNT = 1, CPU_CHECK };
struct cpu_instrument {
    enum cpu_instrument_mode mode;

    /* CPU_COUNT; else NULL. Counts since the reset: kernels in the order of their first launches,
     * then memset and memcpy of the device. */
    const char *const *counter_names; /* [CPU_COUNTERS] */
    int (*counts)(const struct cpu_kernel_counts **list);
    int (*named_counters)(const char *const **names); /* all names counted so far, sorted */
    uint64_t (*named_count)(int kernel, const char *name);
    void (*counts_reset)(void);
    void (*counts_print)(FILE *out);
    void (*counts_print_lines)(FILE *out); /* by source line, most sectors and wavefronts first */

    /* CPU_CHECK; else NULL. */
    int (*findings_print)(
        FILE *out); /* those since the last call, one per line; returns how many */
    int (*findings_of)(
        const char *class_name); /* how many of those are a "shared race" or the like */
    int (*is_finding)(const char *class_name); /* 0: a line of that class is only a warning */
    void (*mark_unwritten)(void *p, size_t bytes);
    /* asked: until it is called with 0, copies to the host may take what was never written, for a
     * host that looks at it itself. */
    void (*fetch_unwritten)(int asked);
    void (*name_memory)(void *p, const char *name); /* the name is kept, not copied */
    /* From now on, asked != 0 makes it a finding if two floating-point additions to one place may
     * come in either order: for programs that promise the same bits in every run. CUDACPU_SUMS=1
     * asks for it always. */
    void (*sums_in_order)(int asked);
    /* marks[i] = 1 where no kernel has read bytes 4 i to 4 i + 3, nor written them; 2 where one has
     * written them and none has read them since; else 0. Returns 0 if that is not known:
     * CUDACPU_UNREAD=1 does not ask for it, or a bulk copy or wgmma has run. */
    int (*unread)(const void *p, size_t bytes, unsigned char *marks);
};
const struct cpu_instrument *cpu_instrument(void); /* NULL in a plain program */

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
