/* What rewritten kernels and the C++ headers call in the C runtime. Not for programs. */
#ifndef CPU_RUNTIME_H
#define CPU_RUNTIME_H

#include <stdint.h>
#include "cuda_runtime_api.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* Where the running CUDA thread is; the scheduler writes them at each switch. */
extern __thread uint3 threadIdx, blockIdx, blockDim, gridDim;

/* One launch: everything it takes to run the kernel any number of times. */
struct cpu_kernel {
    const char *name, *file; /* for reports; line is the launch's */
    int line;
    const void *function; /* identifies the kernel to cudaFuncSetAttribute */
    void (*entry)(void *arguments);
    void (*drop)(void *arguments);
    void *arguments; /* owned; given to entry for each thread, to drop at the end */
    size_t size;     /* of arguments */
    uint3 grid, block;
    size_t shared; /* bytes of dynamic shared memory */
    int early;     /* it may begin before the kernel in front of it in the stream has ended */
    int together;  /* a cooperative launch: all blocks are there at once */
    cudaStream_t stream;
};
cudaError_t cpu_launch_kernel(const struct cpu_kernel *kernel, cudaStream_t stream);

/* What a kernel's type says, for launches by pointers: pack makes of them what enter and drop take.
 */
struct cpu_prototype {
    const void *function;
    const char *name;
    void *(*pack)(const void *function, void **arguments);
    void (*enter)(void *arguments);
    void (*drop)(void *arguments);
    size_t size;
    int parameters;
};
void cpu_know_kernel(const struct cpu_prototype *prototype);
cudaError_t cpu_launch_known(const struct cudaKernelNodeParams *params, int together,
                             cudaStream_t stream, const char *file, int line);
int cpu_in_kernel(void);           /* whether a kernel calls, and not the host */
void cpu_launching(int begins);    /* a launch by a kernel, which is not its own work */
size_t cpu_any_size(size_t bytes); /* returns it; no compiler knows what */
/* Stores v where `bytes` of p, 2, 4 or 8, are `old`; returns what they were. No instrument sees it.
 */
uint64_t cpu_compare_and_swap(void *p, unsigned bytes, uint64_t old, uint64_t v);

/* Where a __shared__ variable lies in the block's arena, as far as it was placed in this launch. */
struct cpu_slot {
    uint64_t launch;
    size_t offset;
    const char *name;
};
void *cpu_shared(struct cpu_slot *slot, size_t bytes, size_t align, const char *file, int line);
void *cpu_dynamic_shared(size_t align, const char *file, int line);
size_t cpu_shared_offset(const void *p); /* bytes from the arena's start */

int cpu_compiled_for(int arch); /* the compute capability that the device has from here on: 800 */

enum cpu_op { /* what a thread can wait for; the names of fault.c are in this order */
              CPU_SYNCTHREADS,
              CPU_SYNCTHREADS_COUNT,
              CPU_SYNCTHREADS_AND,
              CPU_SYNCTHREADS_OR,
              CPU_GRID_SYNC,
              CPU_TILE_SYNC,
              CPU_NANOSLEEP,
              CPU_MBARRIER, /* the name says which, and for what */
              CPU_NAMED_BARRIER,
              CPU_SYNCWARP,
              CPU_ACTIVEMASK,
              CPU_PTX, /* an instruction of inline PTX that the whole warp executes */
              CPU_BALLOT,
              CPU_ANY,
              CPU_ALL,
              CPU_MATCH_ANY,
              CPU_MATCH_ALL,
              CPU_REDUCE_ADD,
              CPU_REDUCE_MIN_SIGNED,
              CPU_REDUCE_MAX_SIGNED,
              CPU_REDUCE_MIN,
              CPU_REDUCE_MAX,
              CPU_REDUCE_AND,
              CPU_REDUCE_OR,
              CPU_REDUCE_XOR,
              CPU_SHFL,
              CPU_SHFL_UP,
              CPU_SHFL_DOWN,
              CPU_SHFL_XOR
};

/* A barrier of the block; the result is that of __syncthreads_count and its like. */
int cpu_block_barrier(enum cpu_op op, int predicate, const char *file, int line);
/* grid.sync of a cooperative launch; and whether this is one. */
void cpu_grid_barrier(const char *file, int line);
int cpu_grid_together(void);
/* bar.sync and bar.arrive: barrier id (1 to 15) opens when `threads` threads have come. */
void cpu_named_barrier(int id, int threads, int wait, const char *file, int line);
/* Of tiles of several warps, `width` threads each: their barrier, and what each thread passes to
 * the others before it. Threads are counted through the block. */
void cpu_tile_barrier(unsigned width, const char *file, int line);
void cpu_tile_pass(uint64_t bits);
uint64_t cpu_tile_passed(unsigned thread);
/* A warp operation: returns when every lane in mask has called it. */
uint64_t cpu_warp(enum cpu_op op, unsigned mask, uint64_t value, const char *file, int line);
uint64_t cpu_shuffle(enum cpu_op op, unsigned mask, uint64_t value, int delta, int width,
                     const char *file, int line);
/* An asm statement of a kernel. The rewriter makes the site and writes operands to and from the
 * registers: reg[k] is operand k. */
struct cpu_asm_site {
    const char *text, *constraints; /* h, r, l, f, d, n or C for each operand; NULL: no operands */
    int registers;                  /* room in reg */
    const char *file;
    int line;
    struct ptx_program *program; /* when it has run */
};
void cpu_asm(struct cpu_asm_site *site, uint64_t *reg);
/* The same for a header's statement: the place is that of the caller, for reports. */
void cpu_asm_at(struct cpu_asm_site *site, uint64_t *reg, const char *file, int line);
/* The same where instructions go on to use some operands' variables later: held[k] is the address
 * of operand k, or 0 where it is no variable and only its value counts. */
void cpu_asm_held(struct cpu_asm_site *site, uint64_t *reg, const uint64_t *held);

/* A kernel's first words: what its __launch_bounds__ says. */
void cpu_launch_bounds(int threads, int blocks);
/* griddepcontrol.wait: what the kernel in front has done is there. */
void cpu_grid_wait(void);
void cpu_yield(void); /* lets the block's other threads run: for loops that wait */
/* The same for loops that do nothing but wait: when all who run do so for long, they are stuck. */
void cpu_sleep(const char *file, int line);
/* An atomic load has found that. A thread that finds the same at one place over and over sleeps. */
void cpu_polled(const volatile void *p, const void *found, size_t bytes);
void cpu_trap(cudaError_t error, const char *what, const char *file, int line)
    __attribute__((noreturn));
long long cpu_clock(void);

/* Textures and surfaces, in registers: four numbers of 32 bits, or an element's bytes. A fetch that
 * the object is not for stops the kernel. */
enum cpu_view {
    CPU_1D,
    CPU_2D,
    CPU_3D,
    CPU_1D_LAYERED,
    CPU_2D_LAYERED,
    CPU_CUBEMAP,
    CPU_CUBEMAP_LAYERED
};
struct cpu_texel {
    uint32_t part[4];
};
struct cpu_texel cpu_texture(enum cpu_view view, cudaTextureObject_t t, float x, float y, float z,
                             int layer, const char *file, int line);
struct cpu_texel cpu_texture_fetch(cudaTextureObject_t t, int x, const char *file, int line);
struct cpu_texel cpu_texture_gather(cudaTextureObject_t t, float x, float y, int component,
                                    const char *file, int line);
/* x in bytes; z is a slice, a layer or a face. bytes: 1, 2, 4, 8 or 16. */
struct cpu_texel cpu_surface_read(enum cpu_view view, cudaSurfaceObject_t s, int x, int y, int z,
                                  unsigned bytes, enum cudaSurfaceBoundaryMode mode,
                                  const char *file, int line);
void cpu_surface_write(enum cpu_view view, struct cpu_texel v, cudaSurfaceObject_t s, int x, int y,
                       int z, unsigned bytes, enum cudaSurfaceBoundaryMode mode, const char *file,
                       int line);

/* For libraries that work on device memory (blas/). A call of theirs is work of a stream, or a node
 * of its capture; `drop` frees the state. */
cudaError_t cpu_library_call(cudaStream_t stream, cudaError_t (*run)(void *state),
                             void (*drop)(void *state), void *state);
/* One is about to use `height` rows of `width` bytes, `pitch` bytes apart. What is no memory of the
 * device's is told in a line and becomes a fault: cudaErrorIllegalAddress. */
enum { CPU_ACCESS_READ = 1, CPU_ACCESS_WRITE = 2 }; /* none: no matter what is written there */
struct cpu_access {
    const char *call, *what; /* "cublasSgemm", "A" */
    const void *site;        /* where the program calls it */
    const void *p;
    size_t width, height, pitch;
    int access;
};
cudaError_t cpu_library_access(const struct cpu_access *a);

#ifdef CPU_TRACE
/* What an instrumented kernel reports itself; trace.h is what the host asks. */
void cpu_trace_atomic(const volatile void *p, size_t bytes);
void cpu_trace_compare(const volatile void *p, uint64_t expected, size_t bytes);
void cpu_trace_fence(void);
void cpu_trace_sum(const volatile void *p, size_t bytes);    /* an atomic one of floating point */
void cpu_trace_cached(const volatile void *p, size_t bytes); /* about to be loaded by __ldg */
void cpu_asm_put(uint64_t *reg, uint64_t bits);
uint64_t cpu_asm_get(const uint64_t *reg);
void cpu_trace_special(int counter); /* an enum cpu_counter */
void cpu_trace_named(const char *name, uint64_t amount);
/* kind: 0 __device__, 1 __constant__, 2 __managed__ */
void cpu_trace_variable(void *p, size_t bytes, const char *name, int kind);
#endif

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
