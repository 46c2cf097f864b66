/* backend.c: which backend is underneath. */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

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
