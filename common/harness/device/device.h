/* device.h: what is underneath: the device, its lock, its clock rate, the instrument. */
#pragma once

#include "harness/base/base.h"

/* --- backend.c, beside kf_on_cpu and kf_thread_order ------------------------------------------ */
double kf_host_us(void);
void kf_host_sleep_us(double us);

/* --- device.c --------------------------------------------------------------------------------- */
typedef struct kf_device {
    char name[256], slug[256], compute[16], bus[32], driver[16], toolkit[16];
    int64_t l2_bytes;
} kf_device;
const kf_device *kf_open_device(void);                /* none that we can use: a line, exit 77 */
void kf_need_architecture(const kf_program *program); /* the device has less: the same */
void kf_doing(const char *variant, const char *case_name); /* for kf_check to name; or NULL */
void kf_watch_exit(void);       /* a launch that calls exit is no success */
const char *kf_doing_now(void); /* "variant v, case c: ", or nothing */
int kf_error_exit_code(cudaError_t error);

/* --- lock.c: one program times, none disturbs it ---------------------------------------------- */
enum kf_lock { KF_UNLOCKED, KF_SHARED, KF_EXCLUSIVE };
void kf_device_lock(enum kf_lock wanted);

/* --- rates.c ---------------------------------------------------------------------------------- */
typedef struct kf_rates {
    double mhz, watts; /* of the multiprocessors; of the board */
    bool capped;       /* the driver holds the clock rate down because of the power */
} kf_rates;
bool kf_rates_read(kf_rates *now, char *why, size_t size); /* false: unknown, and why */

/* --- stream.c --------------------------------------------------------------------------------- */
cudaStream_t kf_stream(void); /* the one that all launches of the program are on */
void kf_stream_end(void);
bool kf_has_host_work(cudaGraph_t graph); /* a function of the host is a node of it */
int kf_count_launches(const kf_run *view, const kf_variant *variant); /* kf_view of verify.h */
/* Of so many bytes on the device, an even number, when all is done that is on the stream. */
uint64_t kf_hash(const void *device, int64_t bytes, cudaStream_t stream);
/* Holds the stream until it is let go, or for HELD_MOST_US, so that a launcher that waits for the
 * device waits not for ever. let_go: whether it was held until now. */
void kf_stream_hold(void);
bool kf_stream_let_go(void);
/* A row for all launches of a call whose blocks are alike: variant, case, launches, threads of a
 * block, its dynamic shared memory in bytes, and how many such blocks fit on a multiprocessor. */
void kf_blocks_write(FILE *to, const kf_run *view, const kf_variant *variant);
/* For profilers: the launches between on and off are the ones to look at. */
void kf_profile(bool on);
void kf_profile_end(void); /* after all memory is freed: what is left now is a leak */

/* --- instrument.c: programs that cudacc --count or --check linked ----------------------------- */
enum kf_instrument { KF_PLAIN, KF_COUNT, KF_CHECK };
enum kf_instrument kf_instrument(void);
/* In a program that does not check these do nothing. */
void kf_name_memory(const kf_tensor *tensor);    /* the tensor's name in findings */
void kf_mark_unwritten(const kf_tensor *tensor); /* poison counts as never written */
/* Until it is called with false, a checker lets copies take poison: verification finds it. */
void kf_fetch_unwritten(bool asked);
void kf_sums_in_order(bool asked); /* findings, where additions come in no order */
/* marks[i] = true where no kernel has read element i, or its neighbour in the same 4 bytes; if
 * `written`, where one has written it and none has read it since. Returns false if that is not
 * known. */
bool kf_unread(const kf_tensor *tensor, bool written, bool *marks);
typedef struct kf_findings {
    int all, of_class;
    char *text; /* one a line; free it */
} kf_findings;
kf_findings kf_take_findings(const char *class_name); /* since the last call */
bool kf_is_finding(const char *class_name);           /* and not only a warning */

/* --- probes.cu -------------------------------------------------------------------------------- */
void kf_probe_empty(cudaStream_t stream);
void kf_probe_wait(cudaStream_t stream); /* some 50 us of one thread, while more is enqueued */
/* Adds to *sum what each pair of bytes and its place come to. */
void kf_probe_hash(const void *from, int64_t bytes, unsigned long long *sum, cudaStream_t stream);
/* Reads count floats (a multiple of 4): what the L2 held before is gone, and nothing is dirty. */
void kf_probe_read(const float *from, float *never_written, int64_t count, cudaStream_t stream);
