/* timing.h: how long a call takes, and how short it could be. */
#pragma once

#include "harness/device/device.h"

/* --- timing.c: the clocks KF_GRAPH, KF_STREAM and KF_CALL ------------------------------------- */
typedef struct kf_work {
    void (*enqueue)(void *context, cudaStream_t stream);
    void *context;
} kf_work;
/* Looks at works while they are timed. Without functions only the clocks are compared. */
typedef struct kf_audit {
    void *context;
    void (*lend)(void *context, int work);  /* other inputs, and nothing written yet */
    void (*look)(void *context, int work);  /* at what was written; then inputs as before */
    void (*renew)(void *context, int work); /* inputs that no call has met */
    bool brief; /* as works have been looked at before: only at the end, and no long calls */
} kf_audit;
/* Why a time is not that of the work; KF_TRUSTED: it is. KF_SLOW_FIRST: the two numbers are calls.
 */
enum kf_doubt { KF_TRUSTED, KF_UNSEEN, KF_REPLAYED, KF_SLOW_FIRST, KF_PERSISTS };
typedef struct kf_suspicion {
    enum kf_doubt doubt;
    double clock_us, true_us; /* by the clock, and as it should be; not of each doubt */
} kf_suspicion;
/* One line without the variant's name; "" if there is no doubt. */
void kf_doubt_text(const kf_suspicion *suspicion, char *text, size_t size);
/* Before the first launch: no part of the L2 is set aside for lines that stay. */
void kf_none_persist(void);
/* Whether a launch has asked that lines stay in the L2, which no flush would clear. Takes it back.
 */
bool kf_persists(void);

void kf_timing_begin(const kf_timing *timings, int n); /* before cases: it takes some memory */
void kf_timing_end(void);
/* Times all works in paired rounds, whose orders the seed decides; stat [n]. Ratios are to work 0.
 */
void kf_time(const kf_work *works, int n, kf_timing timing, int max_rounds, uint64_t seed,
             kf_stat *stat);
/* The same, looked at: each work at a moment that it cannot tell, and after the last round. found
 * [n]. */
void kf_time_audited(const kf_work *works, int n, kf_timing timing, int max_rounds, uint64_t seed,
                     const kf_audit *audit, kf_suspicion *found, kf_stat *stat);

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
    double copy_tbps, fp32_tflops, tensor_f16_tflops, launch_us[3], read_tbps;
} kf_ceilings;
bool kf_ceilings_read(const char *path, kf_ceilings *ceilings);
void kf_ceilings_find(const char *slug, kf_ceilings *ceilings);
typedef struct kf_limit {
    double us;      /* 0: not known */
    const char *by; /* bytes, flops, launch */
} kf_limit;
/* A time below this is impossible: 1.05 times as fast as the fastest rate that was measured here,
 * for the flops, and for the bytes that do not fit into the L2, or on a cold L2 for all of them. */
double kf_impossible_us(const kf_ceilings *ceilings, const kf_cost *cost, const kf_timing *timing,
                        int64_t l2_bytes);
kf_limit kf_least_time(const kf_ceilings *ceilings, const kf_cost *cost, enum kf_clock clock);
