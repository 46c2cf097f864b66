/* fake.h: a CUDA runtime that computes nothing and whose clock is ours, for tests of the harness.
 *
 * FAKE_DEVICE=none|old-driver|wrong-build   what kf_open_device meets
 * FAKE_DEVICE=turing|newer                  one of compute capability 7.5 or 10.0, else 9.0
 * FAKE_MEMORY=bytes                         how much device memory there is (default 1 GB)
 * FAKE_FREE=bytes                           what cudaMemGetInfo claims is free (default: the truth)
 * FAKE_NOISE=percent                        work takes up to so much longer, at random
 * FAKE_HEAT=percent                         work takes so much longer on a hot device
 * FAKE_RATES=1                              the device says its clock rate and power
 * FAKE_TIMER=n                              events say the n-th part of the time between them
 * FAKE_CPU=1                                kf_on_cpu() */
#pragma once
#include "harness/run/run.h"
#include "problems/attention.h"

/* A kernel that takes us microseconds, and cold_us more when its data are not in the L2. */
void fake_work(cudaStream_t stream, double us, double cold_us);
/* The same, and what it computes: at once, or when the graph that is being captured is launched. */
void fake_kernel(cudaStream_t stream, double us, double cold_us, void (*body)(const kf_run *run),
                 const kf_run *run);
/* The same on a stream of its own, which is never captured: the host waits for it only with
 * cudaDeviceSynchronize, and what it computes is there at once. */
void fake_aside(double us, void (*body)(const kf_run *run), const kf_run *run);
bool fake_capturing(void);
void fake_take(double us); /* for the body of a kernel, which may find that it has more to do */
void fake_fault(cudaError_t error); /* the next synchronisation fails */
void fake_reset_clock(void);
extern bool fake_behind;      /* the host sends work and goes on */
extern double fake_launch_us; /* host time of a launch: what the stream clock sees at least */
extern double fake_heat;      /* share of its time that work takes longer on a hot device */
extern double fake_drift;     /* and by which it takes longer with each second that passes */
extern bool fake_behind;      /* the host goes on while the device works, as on a real one */
