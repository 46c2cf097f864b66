/* backend.c: what is underneath: which backend, and the host's clock. Tests put their own here. */
#define _DEFAULT_SOURCE
#include "harness/device/device.h"
#include <errno.h>
#include <stdlib.h>
#include <time.h>

bool kf_on_cpu(void)
{
#ifdef CUDA_CPU_BACKEND
    return true;
#else
    return false;
#endif
}

const char *kf_thread_order(void)
{
    const char *order = kf_on_cpu() ? getenv("CUDACPU_ORDER") : "hardware";
    return order && *order ? order : "forward";
}

double kf_host_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

void kf_host_sleep_us(double us)
{
    struct timespec left = {(time_t)(us * 1e-6), (long)(us * 1e3) % 1000000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}
