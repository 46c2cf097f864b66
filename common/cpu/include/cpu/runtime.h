/* The C runtime as rewritten kernels and the C++ headers call it. Not for programs. */
#pragma once

#include <stdint.h>
#include "cuda_runtime_api.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* The position of the running CUDA thread. The scheduler writes it at each switch. To a program
 * they are constants, as nvcc has them: so the compiler reports no load of them to an instrument,
 * and a thread keeps them in registers while others run. */
#ifdef __cplusplus
extern __thread const uint3 threadIdx, blockIdx, blockDim, gridDim;
#else
extern __thread uint3 threadIdx, blockIdx, blockDim, gridDim;
#endif

/* One launch: all that is needed to run the kernel any number of times. */
struct cpu_kernel {
    const char *name, *file; /* for reports; file and line are the launch's */
    int line;
    const void *function; /* identifies the kernel to cudaFuncSetAttribute */
    void (*entry)(void *arguments);
    void (*drop)(void *arguments);
    void *arguments; /* owned; passed to entry by each thread, to drop at the end */
    size_t size;     /* of arguments */
    uint3 grid, block;
    size_t shared; /* bytes of dynamic shared memory */
    int early;     /* may begin before the kernel in front of it in the stream has ended */
    int together;  /* a cooperative launch: all its blocks run at once */
    cudaStream_t stream;
};
cudaError_t cpu_launch_kernel(const struct cpu_kernel *kernel, cudaStream_t stream);

/* The type of a kernel, for launches by pointers: pack turns the pointers to its arguments into
 * the argument of enter and drop. */
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
/* Copies the bytes of a kernel's parameter. No instrument sees it. */
void cpu_keep(void *to, const void *from, size_t bytes);
int cpu_in_kernel(void);           /* true if a kernel calls, and not the host */
void cpu_launching(int begins);    /* a kernel begins or ends a launch: not its own work */
size_t cpu_any_size(size_t bytes); /* returns bytes; the compiler cannot know the value */
/* If the `bytes` bytes at p, 2, 4 or 8, are `old`, stores v. Returns the value before. No
 * instrument sees the access. */
uint64_t cpu_compare_and_swap(void *p, unsigned bytes, uint64_t old, uint64_t v);

/* The offset of a __shared__ variable in the block's arena, valid if `launch` is the running
 * launch. */
struct cpu_slot {
    uint64_t launch;
    size_t offset;
    const char *name;
};
void *cpu_shared(struct cpu_slot *slot, size_t bytes, size_t align, const char *file, int line);
/* has_static: the function that declares it has static variables as well. */
void *cpu_dynamic_shared(size_t align, int has_static, const char *file, int line);
size_t cpu_shared_offset(const void *p); /* bytes from the arena's start */
int cpu_is_shared(const void *p);

/* Sets the device's compute capability from here on: 800 is 8.0. specific: that of sm_90a and the
 * like, whose programs run on no other. */
int cpu_compiled_for(int arch, int specific);

/* Reasons for a thread to wait, and their names in reports. */
#define CPU_OP_LIST(X)                                                                             \
    X(CPU_SYNCTHREADS, "__syncthreads")                                                            \
    X(CPU_SYNCTHREADS_COUNT, "__syncthreads_count")                                                \
    X(CPU_SYNCTHREADS_AND, "__syncthreads_and")                                                    \
    X(CPU_SYNCTHREADS_OR, "__syncthreads_or")                                                      \
    X(CPU_GRID_SYNC, "grid.sync")                                                                  \
    X(CPU_TILE_SYNC, "tile.sync")                                                                  \
    X(CPU_NANOSLEEP, "__nanosleep")                                                                \
    X(CPU_SPIN, "spin") /* a loop that finds the same value in the same place, over and over */    \
    X(CPU_MBARRIER, "mbarrier") /* the thread's `name` says which mbarrier, and for what */        \
    X(CPU_NAMED_BARRIER, "named barrier")                                                          \
    X(CPU_SYNCWARP, "__syncwarp")                                                                  \
    X(CPU_ACTIVEMASK, "__activemask")                                                              \
    X(CPU_PTX, "inline PTX") /* an instruction of inline PTX that the whole warp executes */       \
    X(CPU_BALLOT, "__ballot_sync")                                                                 \
    X(CPU_ANY, "__any_sync")                                                                       \
    X(CPU_ALL, "__all_sync")                                                                       \
    X(CPU_MATCH_ANY, "__match_any_sync")                                                           \
    X(CPU_MATCH_ALL, "__match_all_sync")                                                           \
    X(CPU_REDUCE_ADD, "__reduce_add_sync")                                                         \
    X(CPU_REDUCE_MIN_SIGNED, "__reduce_min_sync")                                                  \
    X(CPU_REDUCE_MAX_SIGNED, "__reduce_max_sync")                                                  \
    X(CPU_REDUCE_MIN, "__reduce_min_sync")                                                         \
    X(CPU_REDUCE_MAX, "__reduce_max_sync")                                                         \
    X(CPU_REDUCE_AND, "__reduce_and_sync")                                                         \
    X(CPU_REDUCE_OR, "__reduce_or_sync")                                                           \
    X(CPU_REDUCE_XOR, "__reduce_xor_sync")                                                         \
    X(CPU_SHFL, "__shfl_sync")                                                                     \
    X(CPU_SHFL_UP, "__shfl_up_sync")                                                               \
    X(CPU_SHFL_DOWN, "__shfl_down_sync")                                                           \
    X(CPU_SHFL_XOR, "__shfl_xor_sync")
#define CPU_OP(id, name) id,
enum cpu_op { CPU_OP_LIST(CPU_OP) };
#undef CPU_OP

/* A barrier of the block. Returns the result of __syncthreads_count and the like. */
int cpu_block_barrier(enum cpu_op op, int predicate, const char *file, int line);
/* grid.sync of a cooperative launch; and true if the launch is cooperative. */
void cpu_grid_barrier(const char *file, int line);
int cpu_grid_together(void);
/* bar.sync and bar.arrive: barrier id (1 to 15) opens when `threads` threads have arrived. */
void cpu_named_barrier(int id, int threads, int wait, const char *file, int line);
/* Tiles of several warps, with `width` threads each: their barrier, and values that threads pass
 * to others before it. `thread` is the thread's number in the block. */
void cpu_tile_barrier(unsigned width, const char *file, int line);
void cpu_tile_pass(uint64_t bits);
uint64_t cpu_tile_passed(unsigned thread);
/* A warp operation. Returns when every lane in mask has called it. */
uint64_t cpu_warp(enum cpu_op op, unsigned mask, uint64_t value, const char *file, int line);
uint64_t cpu_shuffle(enum cpu_op op, unsigned mask, uint64_t value, int delta, int width,
                     const char *file, int line);
/* An asm statement of a kernel. The rewriter makes the site, and moves operands to and from the
 * registers: reg[k] is operand k. */
struct cpu_asm_site {
    const char *text, *constraints; /* h, r, l, f, d, n or C for each operand; NULL: no operands */
    int registers;                  /* the size of reg */
    const char *file;
    int line;
    struct ptx_program *program; /* the parsed text; NULL until the first run */
};
void cpu_asm(struct cpu_asm_site *site, uint64_t *reg);
/* The same for a statement of a header: file and line are those of the caller, for reports. */
void cpu_asm_at(struct cpu_asm_site *site, uint64_t *reg, const char *file, int line);
/* The same for instructions that use variables of operands after the statement: held[k] is the
 * address of operand k's variable, or 0 if the operand is only a value. */
void cpu_asm_held(struct cpu_asm_site *site, uint64_t *reg, const uint64_t *held);

/* The first call of a kernel: its __launch_bounds__. */
void cpu_launch_bounds(int threads, int blocks);
/* griddepcontrol.wait: waits until the effects of the kernel in front are visible. */
void cpu_grid_wait(void);
/* griddepcontrol.launch_dependents: the next kernel may begin. */
void cpu_grid_trigger(void);
void cpu_yield(void); /* lets the block's other threads run: for loops that wait */
/* The same for loops that only wait. If all running threads do so for long, they are stuck. */
void cpu_sleep(const char *file, int line);
/* A thread has found this value, by a load that others may answer: an atomic or volatile one, or an
 * atomic that changed nothing. A thread that finds the same value in one place over and over lets
 * others run. */
void cpu_polled(const volatile void *p, const void *found, size_t bytes);
void cpu_found(const volatile void *p, uint64_t bits); /* the same, with the value as a number */
void cpu_trap(cudaError_t error, const char *what, const char *file, int line)
    __attribute__((noreturn));
long long cpu_clock(void);

/* Textures and surfaces, in registers: four 32-bit numbers, or the bytes of an element. A fetch
 * that the object does not support stops the kernel. */
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
/* x is in bytes; z is a slice, a layer or a face; bytes is 1, 2, 4, 8 or 16. */
struct cpu_texel cpu_surface_read(enum cpu_view view, cudaSurfaceObject_t s, int x, int y, int z,
                                  unsigned bytes, enum cudaSurfaceBoundaryMode mode,
                                  const char *file, int line);
void cpu_surface_write(enum cpu_view view, struct cpu_texel v, cudaSurfaceObject_t s, int x, int y,
                       int z, unsigned bytes, enum cudaSurfaceBoundaryMode mode, const char *file,
                       int line);

/* For libraries that work on device memory (blas/). A library call is an operation of a stream,
 * or a node of its capture; `drop` frees the state. */
cudaError_t cpu_library_call(cudaStream_t stream, cudaError_t (*run)(void *state),
                             void (*drop)(void *state), void *state);
/* Checks a library call's access to `height` rows of `width` bytes, `pitch` bytes apart. Rows
 * outside of the device's memory are reported in a line and become a fault:
 * cudaErrorIllegalAddress. */
enum { CPU_ACCESS_READ = 1, CPU_ACCESS_WRITE = 2 }; /* neither: only the place matters */
struct cpu_access {
    const char *call, *what; /* "cublasSgemm", "A" */
    const void *site;        /* the program's call */
    const void *p;
    size_t width, height, pitch;
    int access;
};
cudaError_t cpu_library_access(const struct cpu_access *a);
/* A call of the program that copies or sets. site: its place in the code, for --check. waits: it is
 * of the form without Async, which waits for some copies. */
struct cpu_copy_call {
    const void *site;
    cudaStream_t stream;
    int waits;
};
/* cudaMemcpy2D or cudaMemcpy2DAsync for a library, whose function the program calls. */
cudaError_t cpu_library_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                             size_t width, size_t height, enum cudaMemcpyKind kind,
                             struct cpu_copy_call call);

/* A variable of the device. kind: 0 is __device__, 1 __constant__, 2 __managed__. The name is kept.
 */
void cpu_know_variable(void *p, size_t bytes, const char *name, int kind);
void cpu_ask_symbol(const void *symbol); /* the program asks for the device's address of one */
/* A copy of bytes of a variable, from `offset` on: to `to`, or where that is NULL from `from`. */
struct cpu_symbol_copy {
    const void *symbol;
    size_t size, offset; /* size: of the variable */
    void *to;
    const void *from;
};
cudaError_t cpu_copy_symbol(const struct cpu_symbol_copy *copy, size_t bytes,
                            enum cudaMemcpyKind kind, cudaStream_t stream, int waits);

/* Of atomics and fences: who may be at the other side. The system counts as the device. */
enum cpu_scope { CPU_SCOPE_DEVICE, CPU_SCOPE_BLOCK, CPU_SCOPE_SYSTEM };

/* An array of a thread, from its declaration to the end of its scope. Its address is an integer so
 * that clang sees that others may use it: compiler/clang/order.awk. */
struct cpu_local {
    uintptr_t p; /* 0: it is not looked at */
    size_t bytes;
    const char *name;
    struct cpu_local *outer; /* the thread's array that was declared before */
};
#ifdef CPU_TRACE
/* Reports by the code of an instrumented kernel. trace.h has the functions for the host. */
void cpu_trace_atomic(const volatile void *p, size_t bytes, enum cpu_scope scope);
void cpu_trace_compare(const volatile void *p, uint64_t expected, size_t bytes);
void cpu_trace_fence(enum cpu_scope scope);
void cpu_trace_sum(const volatile void *p, size_t bytes); /* an atomic addition of floating point */
void cpu_trace_cached(const volatile void *p, size_t bytes); /* about to be loaded by __ldg */
/* Accesses by __nv_atomic_load and its like, with the order and scope of cpu/atomics.h. The first
 * two also make the access. `bytes` is 1, 2, 4 or 8. */
uint64_t cpu_trace_ordered_load(const volatile void *p, unsigned bytes, int order, int scope);
void cpu_trace_ordered_store(volatile void *p, uint64_t v, unsigned bytes, int order, int scope);
void cpu_trace_ordered_change(volatile void *p, unsigned bytes, int order, int scope);
void cpu_asm_put(uint64_t *reg, uint64_t bits);
uint64_t cpu_asm_get(const uint64_t *reg);
void cpu_trace_special(int counter); /* an enum cpu_counter */
/* For functions that count themselves: calls of sin and cos count. */
double cpu_uncounted_sin(double a);
double cpu_uncounted_cos(double a);
void cpu_trace_named(const char *name, uint64_t amount);
void cpu_trace_local(struct cpu_local *l, uintptr_t p, size_t bytes, const char *name);
void cpu_trace_local_ends(struct cpu_local *l);
#endif

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
