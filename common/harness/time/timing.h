/* timing.h: how long a call takes, and how short it could be. */
#pragma once

#include "harness/device/device.h"

/* --- timing.c: the clocks KF_GRAPH, KF_STREAM and KF_CALL ------------------------------------- */
typedef struct kf_work {
    void (*enqueue)(void *context, cudaStream_t stream);
    void *context;
} kf_work;
void kf_timing_begin(const kf_timing *timings, int n); /* before cases: it takes some memory */
void kf_timing_end(void);
/* Times all works in paired rounds, whose orders the seed decides; stat [n]. Ratios are to work 0.
 */
void kf_time(const kf_work *works, int n, kf_timing timing, int max_rounds, uint64_t seed,
             kf_stat *stat);

/* --- alone.c: the clocks KF_SUSTAINED and KF_COOL --------------------------------------------- */
typedef struct kf_spread {
    double median, p5, p95;
} kf_spread;
/* One place in the run: one work, timed once. */
typedef struct kf_place {
    int work, repetition, samples, readings; /* repetition: of this work, from 1 on */
    kf_spread us, mhz, watts;                /* the last two of as many readings as there are */
    double capped;                           /* share of the readings */
} kf_place;
int kf_places(int works, int repetitions);
double kf_alone_seconds(enum kf_clock clock, int works, int repetitions); /* about */
/* Each work has as many repetitions, work 0 one more; stat [n], places [kf_places(n, repetitions)].
 */
void kf_time_alone(const kf_work *works, int n, enum kf_clock clock, int repetitions, uint64_t seed,
                   kf_stat *stat, kf_place *places);
void kf_rates_write(FILE *to, const char *variant, const kf_case *c, enum kf_clock clock, int place,
                    const kf_place *p);

/* --- limits.c --------------------------------------------------------------------------------- */
typedef struct kf_ceilings {
    bool known;
    double copy_tbps, fp32_tflops, tensor_f16_tflops, launch_us[3];
} kf_ceilings;
bool kf_ceilings_read(const char *path, kf_ceilings *ceilings);
void kf_ceilings_find(const char *slug, kf_ceilings *ceilings);
typedef struct kf_limit {
    double us;      /* 0: not known */
    const char *by; /* bytes, flops, launch */
} kf_limit;
kf_limit kf_least_time(const kf_ceilings *ceilings, const kf_cost *cost, enum kf_clock clock);
