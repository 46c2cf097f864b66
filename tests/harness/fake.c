/* fake.c: see fake.h. Device memory is host memory; time is a number that work adds to. */
#include "fake.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

double fake_launch_us = 3.0, fake_heat = 0.0, fake_drift = 0.0;
bool fake_behind;
static double now_us, done_us; /* done_us: when all is done that was sent, if fake_behind */
static double aside_us;        /* when all is done that was sent to a stream aside */
static bool l2_cold;           /* what the next work wants is no longer in the L2 */
enum { L2_BYTES = 1 << 16 };
static cudaError_t last, sticky;
enum { MOST_KERNELS = 4096 };
static struct CUgraph_st {
    double us;
    int n;
    struct {
        void (*body)(const kf_run *run);
        const kf_run *run;
    } kernel[MOST_KERNELS];
} captured;
static bool capturing;
/* Behind a host function on our stream kernels wait until the host waits for the stream. */
static bool held;
enum { MOST_WAITING = 64 };
static struct {
    void (*body)(const kf_run *run);
    const kf_run *run;
} waiting[MOST_WAITING];
static int n_waiting;
static struct CUevent_st {
    double us;
} event[64];
static int events;

static const char *knob(const char *name)
{
    const char *text = getenv(name);
    return text ? text : "";
}

bool kf_on_cpu(void)
{
    return *knob("FAKE_CPU") == '1';
}

const char *kf_thread_order(void)
{
    return "forward";
}

/* Looking at the clock takes a little time, or a loop that waits for it would not end. */
double kf_host_us(void)
{
    return now_us += 0.01;
}

/* Work makes the device hot; a time without work that is long enough makes it cool again. */
static double busy_us;
static bool under_way; /* the host has waited for nothing since */
static const double HOT_US = 2e5, COOLING_US = 4e5;

static bool hot(void)
{
    return busy_us - fmax(done_us - now_us, 0.0) >= HOT_US;
}

/* Nothing cools down that has still to be done. */
void kf_host_sleep_us(double us)
{
    now_us += us;
    if (us >= COOLING_US && !under_way)
        busy_us = 0.0;
}

bool kf_rates_read(kf_rates *now, char *why, size_t size)
{
    *now = hot() ? (kf_rates){1500.0, 695.0, true} : (kf_rates){1980.0, 410.0, false};
    snprintf(why, size, "FAKE_RATES is not set");
    return *knob("FAKE_RATES") == '1';
}

static double noise(void)
{
    static uint64_t draws;
    return 1.0 + atof(knob("FAKE_NOISE")) / 100.0 * kf_random_below(1, draws++, 1000) / 1000.0;
}

static void spend(double us)
{
    if (capturing)
        captured.us += us;
    else {
        if (fake_behind)
            done_us = fmax(done_us, now_us) + us;
        else
            now_us += us;
        busy_us += us;
        under_way = true;
    }
}

void fake_work(cudaStream_t stream, double us, double cold_us)
{
    (void)stream;
    double device = us + (l2_cold ? cold_us : 0.0);
    l2_cold = false;
    double heat = fake_heat + atof(knob("FAKE_HEAT")) / 100.0;
    device *= (hot() ? 1.0 + heat : 1.0) * (1.0 + fake_drift * now_us * 1e-6);
    spend(capturing || device > fake_launch_us ? device * noise() : fake_launch_us * noise());
}

void fake_kernel(cudaStream_t stream, double us, double cold_us, void (*body)(const kf_run *run),
                 const kf_run *run)
{
    fake_work(stream, us, cold_us);
    if (!capturing && held) {
        if (n_waiting == MOST_WAITING)
            abort();
        waiting[n_waiting].body = body;
        waiting[n_waiting++].run = run;
        return;
    }
    if (!capturing) {
        body(run);
        return;
    }
    if (captured.n == MOST_KERNELS)
        abort();
    captured.kernel[captured.n].body = body;
    captured.kernel[captured.n++].run = run;
}

void fake_aside(double us, void (*body)(const kf_run *run), const kf_run *run)
{
    aside_us = fmax(aside_us, now_us) + us;
    body(run);
}

void fake_take(double us)
{
    spend(us);
}

bool fake_capturing(void)
{
    return capturing;
}

void fake_fault(cudaError_t error)
{
    sticky = error;
}

void fake_reset_clock(void)
{
    now_us = done_us = aside_us = 0.0;
    events = 0;
}

void kf_probe_empty(cudaStream_t stream)
{
    (void)stream;
    if (!strcmp(knob("FAKE_DEVICE"), "wrong-build"))
        last = cudaErrorNoKernelImageForDevice;
}

void kf_probe_wait(cudaStream_t stream)
{
    (void)stream;
}

void kf_probe_hash(const void *from, int64_t bytes, unsigned long long *sum, cudaStream_t stream)
{
    const unsigned char *byte = from;
    (void)stream;
    for (int64_t i = 0; i < bytes; i++)
        *sum = (*sum ^ byte[i]) * 1099511628211u;
}

void kf_probe_read(const float *from, float *never, int64_t count, cudaStream_t stream)
{
    bool is_all = never == from + count;
    fake_work(stream, 40.0, 0.0);
    l2_cold = is_all && count * (int64_t)sizeof *from > 2 * L2_BYTES; /* less may leave something */
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last;
    last = cudaSuccess;
    return error;
}

const char *cudaGetErrorName(cudaError_t error)
{
    return error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "cudaErrorSome";
}

const char *cudaGetErrorString(cudaError_t error)
{
    static char text[32];
    snprintf(text, sizeof text, "error %d", (int)error);
    return text;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = !strcmp(knob("FAKE_DEVICE"), "old-driver") ? 11040 : CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return !strcmp(knob("FAKE_DEVICE"), "none") ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    (void)device;
    memset(properties, 0, sizeof *properties);
    strcpy(properties->name, "FAKE G-100 (test)");
    properties->major = 9;
    if (!strcmp(knob("FAKE_DEVICE"), "turing")) {
        properties->major = 7;
        properties->minor = 5;
    } else if (!strcmp(knob("FAKE_DEVICE"), "newer"))
        properties->major = 10;
    properties->l2CacheSize = L2_BYTES;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    now_us = fmax(now_us, aside_us);
    return sticky;
}

static size_t persisting;

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    (void)limit;
    persisting = value;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    (void)limit;
    *value = persisting;
    return cudaSuccess;
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return cudaSuccess;
}

/* --- Memory ---------------------------------------------------------------------------------- */

static size_t used;
static struct block {
    void *memory;
    size_t bytes;
} blocks[64];

static size_t capacity(void)
{
    return *knob("FAKE_MEMORY") ? strtoull(knob("FAKE_MEMORY"), NULL, 10) : 1000000000u;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    *total = capacity();
    *available = *knob("FAKE_FREE") ? strtoull(knob("FAKE_FREE"), NULL, 10) : *total - used;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    if (used + bytes > capacity())
        return last = cudaErrorMemoryAllocation;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        if (blocks[i].memory)
            continue;
        blocks[i] = (struct block){ *p = malloc(bytes), bytes};
        used += bytes;
        return cudaSuccess;
    }
    return last = cudaErrorMemoryAllocation;
}

cudaError_t cudaFree(void *p)
{
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (p && blocks[i].memory == p) {
            free(p);
            used -= blocks[i].bytes;
            blocks[i].memory = NULL;
            return cudaSuccess;
        }
    return p ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    (void)kind;
    memmove(to, from, bytes);
    return sticky;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    (void)stream;
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    return cudaMemset(p, value, bytes);
}

cudaError_t cudaMemset(void *p, int value, size_t bytes)
{
    memset(p, value, bytes);
    return cudaSuccess;
}

/* --- Streams, events, graphs ----------------------------------------------------------------- */

static cudaStream_t ours;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    static char streams[64]; /* the first one is ours */
    static int n;
    (void)flags;
    *stream = (cudaStream_t)&streams[n];
    ours = n++ ? ours : *stream;
    n = n == 64 ? 1 : n;
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    (void)stream, (void)function, (void)data;
    held = true;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    (void)stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (stream == ours && held) {
        held = false;
        for (int i = 0; i < n_waiting; i++)
            waiting[i].body(waiting[i].run);
        n_waiting = 0;
    }
    now_us = fmax(now_us, done_us) + 5.0;
    under_way = false;
    return sticky;
}

cudaError_t cudaEventCreate(cudaEvent_t *e)
{
    *e = &event[events++ % (int)(sizeof event / sizeof *event)];
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    (void)e;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t stream)
{
    (void)stream;
    e->us = fmax(now_us, done_us);
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    now_us = fmax(now_us, e->us);
    under_way = false;
    return sticky;
}

/* Now and then work takes a look longer. */
cudaError_t cudaEventQuery(cudaEvent_t e)
{
    static int looks;
    bool ready = fake_behind ? e->us <= now_us : looks++ % 4;
    return ready ? cudaSuccess : (last = cudaErrorNotReady);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    *ms =
        (float)((end->us - start->us) / 1e3 / (*knob("FAKE_TIMER") ? atof(knob("FAKE_TIMER")) : 1));
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    (void)stream, (void)mode;
    capturing = true;
    captured.us = 0.0;
    captured.n = 0;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    (void)stream;
    struct CUgraph_st *copy = malloc(sizeof *copy);
    capturing = false;
    *copy = captured;
    *graph = copy;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    (void)flags;
    struct CUgraph_st *copy = malloc(sizeof *copy);
    *copy = *graph;
    *exec = (cudaGraphExec_t)copy;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    (void)stream;
    const struct CUgraph_st *graph = (const struct CUgraph_st *)exec;
    for (int i = 0; i < graph->n; i++)
        graph->kernel[i].body(graph->kernel[i].run);
    spend(graph->us * noise());
    l2_cold = false;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    free(exec);
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    free(graph);
    return cudaSuccess;
}

/* Every call of the toy is one launch. */
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    (void)graph, (void)nodes;
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    (void)node;
    *type = cudaGraphNodeTypeKernel;
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params)
{
    (void)node;
    *params = (struct cudaKernelNodeParams){.blockDim = {32, 1, 1}};
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *f, int threads,
                                                          size_t shared)
{
    (void)f, (void)threads, (void)shared;
    *blocks = 1;
    return cudaSuccess;
}
