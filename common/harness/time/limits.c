/* limits.c: what this device can do at best, measured once by the program ceilings, and the least
 * time a case can take under it. */
#include "harness/time/timing.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool kf_ceilings_read(const char *path, kf_ceilings *c)
{
    const struct {
        const char *name;
        double *value;
    } known[] = {{"copy_tbps", &c->copy_tbps},
                 {"read_tbps", &c->read_tbps},
                 {"fp32_tflops", &c->fp32_tflops},
                 {"tensor_f16_tflops", &c->tensor_f16_tflops},
                 {"launch_graph_us", &c->launch_us[KF_GRAPH]},
                 {"launch_stream_us", &c->launch_us[KF_STREAM]},
                 {"launch_call_us", &c->launch_us[KF_CALL]}};
    memset(c, 0, sizeof *c);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    char line[512], name[64];
    double value;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || sscanf(line, "%63[^\t]\t%lf", name, &value) != 2)
            continue;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strcmp(known[i].name, name) == 0)
                *known[i].value = value;
    }
    fclose(file);
    c->known = c->copy_tbps > 0.0 && c->fp32_tflops > 0.0;
    return c->known;
}

void kf_ceilings_find(const char *slug, kf_ceilings *ceilings)
{
    static const char *const folder[] = {"build/data", "plots/data"};
    for (int i = 0; i < 2; i++) {
        char *path = kf_text("%s/%s/%s/ceilings.tsv", kf_root(), folder[i], slug);
        bool found = kf_ceilings_read(path, ceilings);
        free(path);
        if (found)
            return;
    }
}

/* A shape that fits the L2 can beat the bytes limit on a warm clock: the limit is device memory's.
 */
kf_limit kf_least_time(const kf_ceilings *c, const kf_cost *cost, enum kf_clock clock)
{
    kf_limit limit = {0.0, "-"};
    if (!c->known)
        return limit;
    double rate = cost->tensor_cores ? c->tensor_f16_tflops : c->fp32_tflops;
    double bytes_us = cost->bytes / (c->copy_tbps * 1e6);
    double flops_us = rate > 0.0 ? cost->flops / (rate * 1e6) : 0.0;
    /* Alone, calls are launched as on the stream. */
    limit.us = c->launch_us[kf_is_alone(clock) ? KF_STREAM : clock];
    limit.by = "launch";
    if (bytes_us > limit.us)
        limit = (kf_limit){bytes_us, "bytes"};
    if (flops_us > limit.us)
        limit = (kf_limit){flops_us, "flops"};
    return limit;
}

/* A launch may be cheaper than the one that was measured, with another driver or as a graph: it is
 * no bound here. */
double kf_impossible_us(const kf_ceilings *c, const kf_cost *cost, const kf_timing *timing,
                        int64_t l2_bytes)
{
    static const double TOO_FAST = 1.05;
    double rate = cost->tensor_cores ? c->tensor_f16_tflops : c->fp32_tflops;
    double bytes = timing->l2 == KF_COLD ? cost->bytes : cost->bytes - (double)l2_bytes;
    if (!c->known)
        return 0.0;
    double bytes_us = fmax(bytes, 0.0) / (fmax(c->copy_tbps, c->read_tbps) * 1e6);
    double flops_us = rate > 0.0 ? cost->flops / (rate * 1e6) : 0.0;
    return fmax(bytes_us, flops_us) / TOO_FAST;
}
