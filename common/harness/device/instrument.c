/* instrument.c: what a program asks the instrument that `cudacc --count` or `cudacc --check` has
 * linked. cpu/trace.h has it as a table of functions. On a GPU there is none. */
#define _DEFAULT_SOURCE
#include "cpu/include/cpu/trace.h"
#include "harness/device/device.h"
#include <stdlib.h>

#ifndef CUDA_CPU_BACKEND
const struct cpu_instrument *cpu_instrument(void)
{
    return NULL;
}
#endif

enum kf_instrument kf_instrument(void)
{
    const struct cpu_instrument *linked = cpu_instrument();
    return !linked ? KF_PLAIN : linked->mode == CPU_COUNT ? KF_COUNT : KF_CHECK;
}

void kf_name_memory(const kf_tensor *tensor)
{
    if (kf_instrument() == KF_CHECK)
        cpu_instrument()->name_memory(tensor->device, tensor->name);
}

void kf_mark_unwritten(const kf_tensor *tensor)
{
    if (kf_instrument() == KF_CHECK)
        cpu_instrument()->mark_unwritten(tensor->device, (size_t)kf_tensor_bytes(tensor));
}

void kf_fetch_unwritten(bool asked)
{
    if (kf_instrument() == KF_CHECK)
        cpu_instrument()->fetch_unwritten(asked);
}

void kf_sums_in_order(bool asked)
{
    if (kf_instrument() == KF_CHECK)
        cpu_instrument()->sums_in_order(asked);
}

bool kf_unread(const kf_tensor *tensor, bool written, bool *marks)
{
    const size_t bytes = (size_t)kf_tensor_bytes(tensor), size = kf_dtype_size(tensor->dtype);
    unsigned char *words = kf_alloc((int64_t)bytes / 4 + 1, 1);
    const bool known =
        kf_instrument() == KF_CHECK && cpu_instrument()->unread(tensor->device, bytes, words);
    for (int64_t i = 0; i < tensor->count && known; i++)
        marks[i] = words[(size_t)i * size / 4] > written;
    free(words);
    return known;
}

bool kf_is_finding(const char *class_name)
{
    return cpu_instrument()->is_finding(class_name);
}

kf_findings kf_take_findings(const char *class_name)
{
    kf_findings found = {0, 0, NULL};
    size_t size;
    FILE *to = open_memstream(&found.text, &size);
    if (!to)
        kf_die(KF_CANNOT_RUN, "no host memory for the findings");
    found.all = cpu_instrument()->findings_print(to);
    if (fclose(to) != 0)
        kf_die(KF_CANNOT_RUN, "no host memory for the findings");
    found.of_class = class_name ? cpu_instrument()->findings_of(class_name) : 0;
    return found;
}
