/* recorded.cuh: what c-recorded and d-recorded say of themselves: who did what, for which tile. */
#pragma once

#include "harness/timeline.cuh"
#include "harness/harness.h"

enum { LOAD, WAIT, SCORES, WEIGHTS, VALUES, EVENTS };
static const char *const event_names[] = {"load", "wait", "scores", "weights", "values"};
static const char *const role_names[] = {"producer", "group-0", "group-1"}; // at D = 128
enum { ROLES = KF_COUNT_OF(role_names), MOST_ROWS = 512 };

static const kf_timeline timeline = {.tensor = "timeline",
                                     .roles = role_names,
                                     .events = event_names,
                                     .n_roles = ROLES,
                                     .n_events = EVENTS};
