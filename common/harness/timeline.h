/* timeline.h: what the numbers mean that a variant records of one block, for --timeline: a scratch
 * tensor of KF_I32 [roles][most][4] that the recorder of timeline.cuh writes. */
#pragma once

struct kf_timeline {
    const char *tensor;
    const char *const *roles, *const *events;
    int n_roles, n_events;
};
