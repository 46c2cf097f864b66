/* recorded.cuh: the events that c-ping-pong and d-overlap record when they are given a recorder:
 * which role did what, for which tile. */
#pragma once

#include "harness/timeline.cuh"
#include "harness/harness.h"

enum { LOAD, WAIT, SCORES, SOFTMAX, VALUES, EVENTS };
static const char *const event_names[] = {"load", "wait", "scores", "softmax", "values"};
static const char *const role_names[] = {"producer", "warpgroup-0", "warpgroup-1"}; // at D = 128
enum { ROLES = KF_COUNT_OF(role_names), MOST_ROWS = 512 };

static const kf_timeline timeline = {.tensor = "timeline",
                                     .roles = role_names,
                                     .events = event_names,
                                     .n_roles = ROLES,
                                     .n_events = EVENTS};

// One thread of each role records, in one block from the middle of the grid.
static __device__ __forceinline__ bool recorded()
{
    return threadIdx.x % 128 == 0 && blockIdx.x == 0 && blockIdx.y == gridDim.y / 2;
}

// Records that an event ends; returns the time, at which the next event begins.
template <typename trace_type>
static __device__ __forceinline__ uint32_t end_of(trace_type &trace, int event, int step,
                                                  uint32_t from)
{
    trace.add(event, step, from);
    return trace.now();
}
