/* rates.c: how fast the device's multiprocessors are clocked, and the power that it draws: what the
 * driver's management library (NVML) says. It is loaded at run time, and only read from. The CPU
 * backend has none. */
#define _DEFAULT_SOURCE
#include "harness/device/device.h"

#ifdef CUDA_CPU_BACKEND

bool kf_rates_read(kf_rates *now, char *why, size_t size)
{
    (void)now;
    snprintf(why, size, "this is no GPU");
    return false;
}

#else
#include <dlfcn.h>

/* The part of nvml.h that is used; not every toolkit installs that header. */
enum { SUCCESS = 0, CLOCK_SM = 1, POWER_INSTANT = 186, UNSIGNED_INT = 1, POWER_CAP = 4 };
typedef struct field_value {
    unsigned id, scope;
    long long timestamp, latency;
    int type, error;
    union {
        double real;
        unsigned whole;
        unsigned long long wide;
    } value;
} field_value;
typedef struct device device;
static struct {
    int (*init)(void);
    int (*by_bus)(const char *bus, device **found);
    int (*clock)(device *of, int domain, unsigned *mhz);
    int (*power)(device *of, unsigned *milliwatts);
    int (*reasons)(device *of, unsigned long long *bits);
    int (*fields)(device *of, int n, field_value *values);
} nvml;
static device *found;

static bool find(void *library, const char *name, void *into)
{
    void *symbol = dlsym(library, name);
    *(void **)into = symbol;
    return symbol != NULL;
}

static bool open_library(char *why, size_t size)
{
    const char *name = "libnvidia-ml.so.1";
    void *library = dlopen(name, RTLD_NOW);
    if (!library) {
        snprintf(why, size, "%s cannot be loaded", name);
        return false;
    }
    bool has = find(library, "nvmlInit_v2", &nvml.init) &&
               find(library, "nvmlDeviceGetHandleByPciBusId_v2", &nvml.by_bus) &&
               find(library, "nvmlDeviceGetClockInfo", &nvml.clock) &&
               find(library, "nvmlDeviceGetPowerUsage", &nvml.power);
    /* Old drivers lack these. */
    find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", &nvml.reasons);
    find(library, "nvmlDeviceGetFieldValues", &nvml.fields);
    unsigned domain = 0, bus = 0, slot = 0;
    char address[32];
    sscanf(kf_open_device()->bus, "%x-%x-%x", &domain, &bus, &slot);
    snprintf(address, sizeof address, "%08x:%02x:%02x.0", domain, bus, slot);
    if (!has || nvml.init() != SUCCESS || nvml.by_bus(address, &found) != SUCCESS) {
        snprintf(why, size, "%s does not answer for device %s", name, address);
        return false;
    }
    return true;
}

/* The power at this moment; on older devices, which do not tell it, the mean of the last second. */
static bool read_power(unsigned *milliwatts)
{
    field_value value = {.id = POWER_INSTANT};
    if (nvml.fields && nvml.fields(found, 1, &value) == SUCCESS && value.error == SUCCESS &&
        value.type == UNSIGNED_INT) {
        *milliwatts = value.value.whole;
        return true;
    }
    return nvml.power(found, milliwatts) == SUCCESS;
}

bool kf_rates_read(kf_rates *now, char *why, size_t size)
{
    static enum { UNTRIED, OPEN, ABSENT } library;
    static char reason[128];
    unsigned mhz = 0, milliwatts = 0;
    unsigned long long reasons = 0;
    if (library == UNTRIED)
        library = open_library(reason, sizeof reason) ? OPEN : ABSENT;
    if (library == OPEN &&
        (nvml.clock(found, CLOCK_SM, &mhz) != SUCCESS || !read_power(&milliwatts))) {
        snprintf(reason, sizeof reason, "the driver does not tell this device's clock or power");
        library = ABSENT;
    }
    if (library == ABSENT) {
        snprintf(why, size, "%s", reason);
        return false;
    }
    if (nvml.reasons)
        nvml.reasons(found, &reasons);
    *now = (kf_rates){mhz, milliwatts * 1e-3, (reasons & POWER_CAP) != 0};
    return true;
}

#endif
