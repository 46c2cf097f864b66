/* The runtime API: declarations that its files share. */
#pragma once

#include "device/device.h"

/* --- children.c ------------------------------------------------------------------------------- */
/* One operation: it runs now or later, or becomes a node of the graph that is being captured. */
struct work {
    enum cudaGraphNodeType type;
    cudaError_t (*run)(void *state);
    void (*drop)(void *state);
    void *state; /* owned by the work */
};
/* cudaSuccess if the running thread may launch a kernel; else a line says that launches are
 * nested too deep. A tail launch runs after its launcher and does not count as deeper. */
cudaError_t children_allow(const struct cpu_kernel *kernel, cudaStream_t stream);
/* Work that the running thread puts into a stream. cudaErrorInvalidResourceHandle: a kernel may
 * not use this stream, and the work is dropped. */
cudaError_t children_add(cudaStream_t stream, struct work work);
/* Called at the end of a grid: runs all of its children, and theirs. l->error becomes the first
 * error. If the grid has failed, its children are dropped. */
void children_run(struct launch *l);
cudaError_t children_make_stream(cudaStream_t *stream, unsigned flags); /* for a kernel */
int children_stream_made(cudaStream_t stream);

/* --- graph.c ---------------------------------------------------------------------------------- */
int graph_frees_first(
    void); /* true if the graph that runs frees its memory before it allocates it */

/* --- stream.c --------------------------------------------------------------------------------- */
/* Runs the work, adds it to the graph that is being captured, or makes it a child of the running
 * kernel. If it is refused, as all work is after a sticky error, it is dropped. */
cudaError_t stream_submit(cudaStream_t stream, struct work work);
void stream_host_waits(cudaStream_t stream); /* --check: the host has waited for its work */
/* For calls that a capture may forbid, in any stream. A capture in global mode forbids calls
 * such as cudaMalloc to every OS thread, in thread-local mode to the thread that began it, in
 * relaxed mode to none. A call that `waits` for the device is forbidden in every mode. Each
 * capture that forbids the call is invalidated, and the call returns
 * cudaErrorStreamCaptureUnsupported; else the sticky error or cudaSuccess. */
cudaError_t stream_check_unsafe(int waits);

/* --- allocation.c ----------------------------------------------------------------------------- */
/* The allocation that holds p. If there is none, p is NULL and the type is
 * cudaMemoryTypeUnregistered. */
struct memory_range {
    char *p;
    size_t bytes;
    enum cudaMemoryType type;
};
struct memory_range memory_at(const void *p);
/* For an address in no allocation: true if nothing is mapped there, or only guard pages. */
int memory_is_nowhere(const char *p);
size_t memory_used(void); /* bytes that are allocated */
/* For API functions: an error if a capture forbids the call. */
cudaError_t memory_allocate(void **p, size_t bytes, enum cudaMemoryType type);
void memory_reset(void); /* frees all that is allocated, and all CUDA arrays */
/* The list of CUDA arrays. A copy may not touch an array's handle as if it were memory. The
 * caller owns handle and elements; memory_reset frees them. */
void memory_add_array(struct cudaArray *array);
int memory_has_array(const void *handle);
void memory_remove_array(const struct cudaArray *array);
/* cudaMallocAsync, called at `site`. */
cudaError_t memory_allocate_async(void **p, size_t bytes, cudaStream_t stream, const void *site);
/* Work of a graph node that allocates memory, at an address that is fixed here, or that frees
 * it. */
cudaError_t memory_graph_allocate(void **p, size_t bytes, struct work *work);
cudaError_t memory_graph_free(void *p, const void *site, struct work *work);
int large_index_only(void); /* CUDACPU_LARGE_INDEX=1: only two blocks of a large grid run */

/* --- copies.c --------------------------------------------------------------------------------- */
/* Make the work of a copy or a memset, asked for at `site`. For zero bytes there is no work, and
 * run is NULL. */
cudaError_t memory_copy_box(const struct cudaMemcpy3DParms *p, const void *site, struct work *work);
cudaError_t memory_copy_row(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            const void *site, struct work *work);
cudaError_t memory_set(const struct cudaMemsetParams *p, const void *site, struct work *work);
/* Copies `height` rows of `width` bytes, with pitches in bytes. */
cudaError_t memory_copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                             size_t width, size_t height, enum cudaMemcpyKind kind,
                             struct cpu_copy_call call);

/* --- libraries/array.c ------------------------------------------------------------------------ */
/* Elements of a row, rows and slices are contiguous. */
struct cudaArray {
    char *p;
    struct cudaChannelFormatDesc desc;
    struct cudaExtent extent; /* in elements; a height or depth of 0: the array has none */
    unsigned flags, element;  /* element: bytes of one */
    struct cudaArray *next;
};

/* --- os_threads.c ----------------------------------------------------------------------------- */
int worker_count(void); /* OS threads that may run blocks: CUDACPU_WORKERS, or one per core */
void choose_order(struct launch *l); /* CUDACPU_ORDER, CUDACPU_SEED and CUDACPU_STAGGER */
void run_blocks(struct launch *l);   /* returns when all blocks have run, or one has failed */

/* --- launch.c --------------------------------------------------------------------------------- */
/* Makes the work of a launch from pointers to its arguments. */
cudaError_t launch_work(const struct cudaKernelNodeParams *p, const char *file, int line,
                        int together, cudaStream_t stream, struct work *work);

/* --- device.c --------------------------------------------------------------------------------- */
/* cudaDeviceReset calls `forget` before it frees memory. */
void device_at_reset(void (*forget)(void));
