/* Graphs and streams as graph.c, stream.c and event.c share them. */
#ifndef STREAM_H
#define STREAM_H

#include "api/api.h"
#include <pthread.h>

/* --- graph.c ---------------------------------------------------------------------------------- */
struct CUgraph_st *graph_new(void); /* with one user; NULL: no memory */
void graph_add(struct CUgraph_st *graph, struct work work);
void graph_release(void *graph);              /* one user less; frees it after the last */
struct work graph_work(struct CUgraph_st *g); /* runs all nodes, and is a user until dropped */
struct CUgraph_st *graph_of(cudaGraphExec_t exec);
const cudaGraphNode_t *graph_last(const struct CUgraph_st *g); /* to its last node, or NULL */
/* A number that says which graphs of a conditional node run, with as many users as graphs have it
 * and nodes ask it. `assigned`: when its graph begins it has its initial value. */
struct condition {
    atomic_int users;
    unsigned value, initial;
    int assigned, has_node; /* has_node: it is a conditional node's, and can be no other's */
};
struct condition *condition_of(struct CUgraph_st *g, cudaGraphConditionalHandle handle); /* NULL */
void condition_release(struct condition *c);
/* Its nodes in an order that respects their dependencies; NULL: there is a circle of those. */
struct CUgraph_st *graph_copy(struct CUgraph_st *g);
/* A node behind `count` others, which does this work; it is dropped when there is an error. */
cudaError_t graph_add_after(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                            size_t count, struct work work);
/* The node, or exec's copy of it if that is not NULL, does this work from now on, of the same type.
 */
cudaError_t graph_set_work(cudaGraphExec_t exec, cudaGraphNode_t node, struct work work);

/* --- stream.c --------------------------------------------------------------------------------- */
/* A capture in progress: the graph it fills, and the streams whose `capture` points here. */
struct capture {
    struct CUgraph_st *graph;
    struct CUstream_st *origin;
    enum cudaStreamCaptureMode mode;
    pthread_t thread;
    int invalid;
    int given;   /* the graph is the program's, and was there before */
    uint64_t id; /* never used again: events remember it */
};

struct CUstream_st {
    unsigned flags;
    int priority;
    int number;              /* for check; as many as it tells apart, then all the same */
    struct capture *capture; /* NULL when none */
    uint64_t position;       /* counts what was captured here */
    int unjoined;            /* the origin does not yet wait for what was captured here */
    struct CUstream_st *next;
};

/* Recursive: a host function in a stream may call the API. Guards streams and captures, with the
 * graphs that they fill. */
extern pthread_mutex_t stream_lock;
cudaError_t stream_unlock(cudaError_t error); /* and returns the error */

struct CUstream_st *stream_find(cudaStream_t stream); /* NULL: no such stream */
int stream_is_legacy(const struct CUstream_st *s);
/* Invalidates every capture that the legacy stream would have to wait for; true if there is one. */
int capture_breaks_legacy(const struct CUstream_st *s);

#endif
