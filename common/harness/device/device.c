/* device.c: which device, what its errors mean for the exit code, and what to do about them. */
#include "harness/device/device.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Errors that say "not on this machine" rather than "the program is wrong". */
static const struct {
    cudaError_t error;
    const char *advice;
} cannot_run[] = {
    {cudaErrorNoDevice, "no NVIDIA GPU is visible; the CPU build runs without one"},
    {cudaErrorInsufficientDriver, "the driver is older than this build's toolkit; update it"},
    {cudaErrorNoKernelImageForDevice,
     "built for another GPU; rebuild with ARCH=<its compute capability>"},
    {cudaErrorMemoryAllocation, "device memory is full; choose a smaller --case"},
#ifndef CUDA_CPU_BACKEND
    {cudaErrorUnsupportedPtxVersion, "the driver is older than this build's toolkit; update it"},
    {cudaErrorDevicesUnavailable, "the GPU is busy or reserved; try again later"},
    {cudaErrorSystemDriverMismatch, "the driver was updated under the running system; reboot"},
#endif
};

static const char *advice_for(cudaError_t error)
{
    for (size_t i = 0; i < sizeof cannot_run / sizeof *cannot_run; i++)
        if (cannot_run[i].error == error)
            return cannot_run[i].advice;
    return NULL;
}

int kf_error_exit_code(cudaError_t error)
{
    return advice_for(error) ? KF_CANNOT_RUN : KF_WRONG;
}

/* The launch that is running, for kf_check to name: "variant v, case c: ", or nothing. */
static char doing[2 * KF_CELL + 32];

void kf_doing(const char *variant, const char *case_name)
{
    doing[0] = '\0';
    if (variant)
        snprintf(doing, sizeof doing, "variant %s, case %s: ", variant, case_name);
}

const char *kf_doing_now(void)
{
    return doing;
}

/* exit calls it. Code 0 would say that all is right. _exit does not call it: then a caller that
 * wants to know does not find the file KF_ENDED. */
static void look_at_exit(void)
{
    const char *ended = getenv("KF_ENDED");
    FILE *file = ended && !doing[0] ? fopen(ended, "w") : NULL;
    if (file)
        fclose(file);
    if (!doing[0] || kf_dies())
        return;
    kf_complain("%sit ended the program, and nothing after that was verified", doing);
    _exit(KF_WRONG);
}

void kf_watch_exit(void)
{
    static bool watches;
    if (!watches)
        watches = atexit(look_at_exit) == 0;
}

void kf_check(cudaError_t error, const char *what, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    const char *advice = advice_for(error);
    int code = kf_error_exit_code(error);
    if (error == cudaErrorInvalidValue &&
        strstr(what, "cudaFuncAttributeMaxDynamicSharedMemorySize")) {
        advice = "this device lets no block have that much; choose another --case or --variant";
        code = KF_CANNOT_RUN;
    }
    const char *slash = strrchr(file, '/');
    kf_die(code, "%s%s at %s:%d failed: %s (%s)%s%s", doing, what, slash ? slash + 1 : file, line,
           cudaGetErrorString(error), cudaGetErrorName(error), advice ? "; " : "",
           advice ? advice : "");
}

/* "NVIDIA H200" -> "nvidia-h200" */
static void slug_of(const char *name, char *slug)
{
    bool dash = false;
    for (; *name; name++) {
        if (isalnum((unsigned char)*name)) {
            *slug++ = (char)tolower((unsigned char)*name);
            dash = true;
        } else if (dash) {
            *slug++ = '-';
            dash = false;
        }
    }
    if (!dash && slug[-1] == '-')
        slug--;
    *slug = '\0';
}

static void version_text(char *text, size_t size, int version)
{
    snprintf(text, size, "%d.%d", version / 1000, version % 1000 / 10);
}

static void require(cudaError_t error)
{
    const char *advice = advice_for(error);
    if (error != cudaSuccess)
        kf_die(KF_CANNOT_RUN, "no usable device: %s%s%s", cudaGetErrorString(error),
               advice ? "; " : "", advice ? advice : "");
}

/* The device as the driver describes it; device gets the versions. */
static struct cudaDeviceProp find_device(kf_device *device)
{
    int driver = 0, number = 0;
    require(cudaDriverGetVersion(&driver));
    if (driver == 0)
        kf_die(KF_CANNOT_RUN,
               "no usable device: no NVIDIA driver is loaded; the CPU build runs without one");
    version_text(device->driver, sizeof device->driver, driver);
    version_text(device->toolkit, sizeof device->toolkit, CUDART_VERSION);
    if (driver > 0 && driver / 1000 < CUDART_VERSION / 1000)
        kf_die(KF_CANNOT_RUN,
               "the driver supports CUDA %s, this build needs %s; update the driver "
               "or rebuild with an older toolkit",
               device->driver, device->toolkit);
    int count = 0;
    require(cudaGetDeviceCount(&count));
    require(count > 0 ? cudaSuccess : cudaErrorNoDevice);
    require(cudaGetDevice(&number));
    struct cudaDeviceProp properties;
    require(cudaGetDeviceProperties(&properties, number));
    return properties;
}

void kf_need_architecture(const kf_program *program)
{
    kf_device device;
    const struct cudaDeviceProp p = find_device(&device);
    const char *needed = program->architecture ? program->architecture : "75";
    char *only = NULL;
    long need = strtol(needed, &only, 10), has = 10 * p.major + p.minor;
    if (has < need || (*only == 'a' && has != need))
        kf_die(KF_CANNOT_RUN,
               "step %.*s needs compute capability %ld.%ld%s, and this device, %s, is %d.%d",
               (int)strcspn(program->step, "-"), program->step, need / 10, need % 10,
               has < need ? "" : " and no other", p.name, p.major, p.minor);
}

const kf_device *kf_open_device(void)
{
    static kf_device device;
    if (device.name[0])
        return &device;
    if (kf_on_cpu()) {
        device = (kf_device){"cpu", "cpu", "-", "cpu", "-", "-", 1 << 20};
        return &device;
    }
    const struct cudaDeviceProp properties = find_device(&device);
    snprintf(device.bus, sizeof device.bus, "%04x-%02x-%02x", (unsigned)properties.pciDomainID,
             (unsigned)properties.pciBusID, (unsigned)properties.pciDeviceID);
    snprintf(device.compute, sizeof device.compute, "%d.%d", properties.major, properties.minor);
    device.l2_bytes = properties.l2CacheSize;
    slug_of(properties.name, device.slug);
    /* A build for another architecture fails only at its first launch, so launch something now. */
    kf_probe_empty(NULL);
    cudaError_t launched = cudaGetLastError();
    require(launched == cudaSuccess ? cudaDeviceSynchronize() : launched);
    snprintf(device.name, sizeof device.name, "%s", properties.name);
    return &device;
}
