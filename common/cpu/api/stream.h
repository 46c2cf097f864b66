/* Graphs and streams: declarations that graph.c, stream.c and event.c share. */
#pragma once

#include "api/api.h"
#include <pthread.h>

/* --- graph.c ---------------------------------------------------------------------------------- */
struct CUgraph_st *graph_new(void); /* has one user; NULL: no memory */
void graph_add(struct CUgraph_st *graph, struct work work);
void graph_release(void *graph);              /* one user less; the last one frees it */
struct work graph_work(struct CUgraph_st *g); /* runs all nodes; a user of g until it is dropped */
struct CUgraph_st *graph_of(cudaGraphExec_t exec);
const cudaGraphNode_t *
graph_last(const struct CUgraph_st *g); /* points to its last node; NULL if it is empty */
/* The value that decides which graphs of a conditional node run. Its users are the graphs that
 * list it and the nodes that read it. `assigned`: it gets its initial value when its graph
 * begins. */
struct condition {
    atomic_int users;
    unsigned value, initial;
    int assigned, has_node; /* has_node: a conditional node uses it, and no second one may */
};
struct condition *condition_of(struct CUgraph_st *g,
                               cudaGraphConditionalHandle handle); /* NULL: there is none */
void condition_release(struct condition *c);
/* A copy with its nodes in an order that respects dependencies. NULL: they form a circle. */
struct CUgraph_st *graph_copy(struct CUgraph_st *g);
/* Adds a node behind `count` others. The work is dropped on an error. */
cudaError_t graph_add_after(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                            size_t count, struct work work);
/* Replaces the work of the node, or of exec's copy of it if exec is not NULL, by work of the
 * same type. */
cudaError_t graph_set_work(cudaGraphExec_t exec, cudaGraphNode_t node, struct work work);

/* --- event.c ---------------------------------------------------------------------------------- */
cudaError_t event_record_here(cudaEvent_t event); /* records it as work of a graph that runs */

/* --- stream.c --------------------------------------------------------------------------------- */
/* A capture in progress: its graph, and the streams whose `capture` points here. */
struct capture {
    struct CUgraph_st *graph;
    struct CUstream_st *origin;
    enum cudaStreamCaptureMode mode;
    pthread_t thread;
    int invalid;
    int given;   /* the program made the graph beforehand */
    uint64_t id; /* unique, so that events can remember it */
};

struct CUstream_st {
    unsigned flags;
    int priority;
    int number; /* for --check, which tells TRACE_STREAMS streams apart; later ones share a number
                 */
    unsigned long long id;   /* for the program; no two streams have the same */
    struct capture *capture; /* NULL if it is not captured */
    uint64_t position;       /* number of operations captured here */
    int unjoined;            /* the origin stream does not wait yet for work captured here */
    struct CUstream_st *next;
};

/* Guards streams, captures and their graphs. Recursive, as a host function in a stream may call
 * the API. */
extern pthread_mutex_t stream_lock;
cudaError_t stream_unlock(cudaError_t error); /* and returns the error */

struct CUstream_st *stream_find(cudaStream_t stream); /* NULL: there is no such stream */
cudaError_t stream_host_work(cudaHostFn_t f, void *data, struct work *work); /* calls f */
int stream_is_legacy(const struct CUstream_st *s);
/* Invalidates every capture that the legacy stream would have to wait for. True if there was
 * one. */
int capture_breaks_legacy(const struct CUstream_st *s);
