/* The runtime API: what its files share. */
#ifndef API_H
#define API_H

#include "device/device.h"

/* --- children.c ------------------------------------------------------------------------------- */
/* A piece of work that runs now, later, or becomes a node of the graph being captured. */
struct work {
    enum cudaGraphNodeType type;
    cudaError_t (*run)(void *state);
    void (*drop)(void *state);
    void *state; /* owned */
};
/* Whether the running thread may launch a kernel: a line where it is nested too deep. A tail launch
 * comes when all of its launcher is done, and is no deeper than that. */
cudaError_t children_allow(const struct cpu_kernel *kernel, cudaStream_t stream);
/* The running thread asks for work in a stream. cudaErrorInvalidResourceHandle: the stream is none
 * that a kernel may use, and the work is dropped. */
cudaError_t children_add(cudaStream_t stream, struct work work);
/* The grid has ended: runs all of its children, and theirs. l->error becomes the first error; a
 * grid that has failed has its children dropped. */
void children_run(struct launch *l);
cudaError_t children_make_stream(cudaStream_t *stream, unsigned flags); /* for a kernel */
int children_stream_made(cudaStream_t stream);

/* --- graph.c ---------------------------------------------------------------------------------- */
int graph_frees_first(void); /* the one that runs frees what it allocates before it does so */

/* --- stream.c --------------------------------------------------------------------------------- */
/* Runs the work, or makes it a node of a capture or a kernel's child; where it is refused, as all
 * is while there is a sticky error, it is dropped. */
cudaError_t stream_submit(cudaStream_t stream, struct work work);
/* For calls that a capture in progress may forbid, in any stream. In global mode it forbids calls
 * such as cudaMalloc to every OS thread, in thread-local mode to the one that began it, in relaxed
 * mode to none; a call that `waits` for the device it forbids in every mode. Each capture that
 * forbids the call is spoiled, and the call's error is cudaErrorStreamCaptureUnsupported. If none
 * does, it is the sticky error, or cudaSuccess. */
cudaError_t stream_check_unsafe(int waits);

/* --- allocation.c ----------------------------------------------------------------------------- */
/* The allocation that holds p; where there is none, p is NULL and the type
 * cudaMemoryTypeUnregistered. */
struct memory_range {
    char *p;
    size_t bytes;
    enum cudaMemoryType type;
};
struct memory_range memory_at(const void *p);
/* Of a place in no allocation: whether no memory is there, or only what keeps two of them apart. */
int memory_is_nowhere(const char *p);
size_t memory_used(void); /* bytes that are allocated */
/* For API functions: refused while a capture forbids it. */
cudaError_t memory_allocate(void **p, size_t bytes, enum cudaMemoryType type);
void memory_reset(void); /* frees all that is allocated, and all CUDA arrays */
/* The CUDA arrays that there are: their handles are no memory that a copy may touch. Whose the
 * handle is, and its elements, is the caller's affair but for memory_reset. */
void memory_add_array(struct cudaArray *array);
int memory_has_array(const void *handle);
void memory_remove_array(const struct cudaArray *array);
/* The work of a graph that allocates memory, at an address that is known from here on, or frees it.
 */
cudaError_t memory_graph_allocate(void **p, size_t bytes, struct work *work);
cudaError_t memory_graph_free(void *p, struct work *work);
int corners_only(void); /* CUDACPU_CORNERS=1: two blocks of a large grid run, and nothing else */

/* --- copies.c --------------------------------------------------------------------------------- */
/* Make the work of a copy, or of a memset. Of nothing it is none, and run is NULL. */
cudaError_t memory_copy_box(const struct cudaMemcpy3DParms *p, struct work *work);
cudaError_t memory_copy_row(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            struct work *work);
cudaError_t memory_set(const struct cudaMemsetParams *p, struct work *work);

/* --- libraries/array.c ------------------------------------------------------------------------ */
/* Of each row the elements follow each other, and so do rows and slices. */
struct cudaArray {
    char *p;
    struct cudaChannelFormatDesc desc;
    struct cudaExtent extent; /* in elements; a height or depth of 0: there is none */
    unsigned flags, element;  /* element: its bytes */
    struct cudaArray *next;
};

/* --- pool.c ----------------------------------------------------------------------------------- */
int worker_count(void); /* OS threads that may run blocks: CUDACPU_WORKERS, or one per core */
void pool_order(struct launch *l); /* CUDACPU_ORDER, CUDACPU_SEED and CUDACPU_STAGGER */
void pool_run(struct launch *l);   /* returns when all blocks have run, or one has failed */

/* --- launch.c --------------------------------------------------------------------------------- */
/* Makes the work of a launch by pointers to its arguments, from this place. */
cudaError_t launch_work(const struct cudaKernelNodeParams *p, const char *file, int line,
                        int together, cudaStream_t stream, struct work *work);

/* --- device.c --------------------------------------------------------------------------------- */
/* cudaDeviceReset calls it, before it frees memory. */
void device_at_reset(void (*forget)(void));

#endif
