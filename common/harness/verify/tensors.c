/* tensors.c: the arrays of one case, on the host and on the device. */
#include "harness/verify/verify.h"
#include <stdlib.h>
#include <string.h>

void kf_open(kf_run *run, const kf_program *program, const kf_case *c, uint64_t seed)
{
    *run = (kf_run){.c = c, .shape = c->shape, .seed = seed};
    run->state = kf_alloc(1, sizeof *run->state);
    run->state->program = program;
}

static kf_slot *add(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                    enum kf_role role, const int64_t *dim)
{
    const char *step = run->state->program->step;
    int n = (int)strlen(axes);
    if (run->state->n == KF_MAX_TENSORS)
        kf_die(KF_WRONG, "step %s declares more than %d tensors; raise KF_MAX_TENSORS", step,
               KF_MAX_TENSORS);
    if (n < 1 || n > KF_MAX_AXES)
        kf_die(KF_WRONG, "tensor %s of step %s has axes \"%s\"; 1 to %d letters are right", name,
               step, axes, KF_MAX_AXES);
    kf_slot *slot = &run->state->slot[run->state->n++];
    kf_tensor *t = &slot->t;
    memset(slot, 0, sizeof *slot);
    t->name = name;
    t->axes = axes;
    t->n_axes = n;
    t->dtype = dtype;
    slot->role = role;
    t->count = 1;
    for (int i = 0; i < n; i++) {
        if (dim[i] < 1)
            kf_die(KF_WRONG, "axis %c of tensor %s of step %s has extent %lld; 1 at least is right",
                   axes[i], name, step, (long long)dim[i]);
        t->dim[i] = dim[i];
        t->count *= dim[i];
    }
    t->rows = t->count / dim[n - 1];
    return slot;
}

/* Tensors of launches that are only captured may exceed the host's memory; no value is read. */
void *kf_host_array(int64_t count, size_t size)
{
    return kf_alloc(kf_captures() && count > INT32_MAX ? 1 : count, size);
}

kf_tensor *kf_zero_input(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                         const int64_t *dim)
{
    kf_tensor *t = &add(run, name, axes, dtype, KF_INPUT, dim)->t;
    t->host = kf_host_array(t->count, sizeof *t->host);
    return t;
}

kf_tensor *kf_input(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                    const int64_t *dim)
{
    kf_tensor *t = kf_zero_input(run, name, axes, dtype, dim);
    kf_fill_random(t->host, name, t->count, dim[t->n_axes - 1], dtype, run->seed);
    return t;
}

kf_tensor *kf_device_input(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                           const int64_t *dim, void (*make)(const kf_run *run, void *device))
{
    kf_slot *slot = add(run, name, axes, dtype, KF_INPUT, dim);
    slot->make = make;
    return &slot->t;
}

kf_tensor *kf_output(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                     const int64_t *dim)
{
    kf_tensor *t = &add(run, name, axes, dtype, KF_OUTPUT, dim)->t;
    t->want = kf_host_array(t->count, sizeof *t->want);
    t->bound = kf_host_array(t->count, sizeof *t->bound);
    /* Of one axis, with room for a mark per element: all but the first are not read, but a
     * reference may well set them. */
    t->checked = kf_host_array(t->n_axes == 1 ? t->count : t->rows, sizeof *t->checked);
    return t;
}

kf_tensor *kf_scratch(kf_run *run, const char *name, const char *axes, enum kf_dtype dtype,
                      const int64_t *dim)
{
    return &add(run, name, axes, dtype, KF_SCRATCH, dim)->t;
}

static kf_tensor *look_for(const kf_run *run, const char *name)
{
    for (int i = 0; i < run->state->n; i++)
        if (strcmp(run->state->slot[i].t.name, name) == 0)
            return &run->state->slot[i].t;
    return NULL;
}

bool kf_has(const kf_run *run, const char *name)
{
    return look_for(run, name) != NULL;
}

kf_tensor *kf_find(const kf_run *run, const char *name)
{
    kf_tensor *t = look_for(run, name);
    if (t)
        return t;
    char names[512] = "none";
    for (int i = 0; i < run->state->n; i++) {
        size_t length = i ? strlen(names) : 0;
        snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "",
                 run->state->slot[i].t.name);
    }
    kf_die(KF_WRONG, "step %s has no tensor named %s; it has %s", run->state->program->step, name,
           names);
}

void kf_may_write(kf_run *run, const char *name)
{
    const kf_tensor *t = kf_find(run, name);
    for (int i = 0; i < run->state->n; i++)
        run->state->slot[i].may_write |= &run->state->slot[i].t == t;
}

void *kf_memory(const kf_run *run, const char *name, enum kf_dtype dtype)
{
    kf_tensor *t = kf_find(run, name);
    if (t->dtype != dtype)
        kf_die(KF_WRONG, "tensor %s of step %s is %s, asked for as %s", name,
               run->state->program->step, kf_dtype_name(t->dtype), kf_dtype_name(dtype));
    return t->device;
}

float *kf_f32(const kf_run *run, const char *name)
{
    return kf_memory(run, name, KF_F32);
}

int64_t kf_run_bytes(const kf_run *run)
{
    int64_t bytes = 0;
    for (int i = 0; i < run->state->n; i++)
        bytes += kf_tensor_bytes(&run->state->slot[i].t);
    return bytes;
}

int64_t kf_guard(const kf_run *run, const kf_slot *slot)
{
    bool checked = kf_instrument() == KF_CHECK || run->state->bare;
    return slot->role == KF_OUTPUT && !checked ? KF_GUARD : 0;
}

int64_t kf_device_need(const kf_run *run, int64_t unit)
{
    int64_t need = 0;
    for (int i = 0; i < run->state->n; i++) {
        const kf_slot *slot = &run->state->slot[i];
        int64_t bytes = kf_tensor_bytes(&slot->t) + 2 * kf_guard(run, slot);
        need += (bytes + unit - 1) / unit * unit;
    }
    return need;
}

int64_t kf_device_free(void)
{
    size_t available = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&available, &total));
    return (int64_t)available;
}

/* Results do not stay in freed memory, where the next allocation might find them. */
static void free_base(const kf_run *run, const kf_slot *slot, char *base)
{
    int64_t bytes = kf_tensor_bytes(&slot->t) + 2 * kf_guard(run, slot);
    if (slot->role == KF_OUTPUT && !kf_captures())
        CUDA_CHECK(cudaMemset(base, 0xff, (size_t)bytes));
    CUDA_CHECK(cudaFree(base));
}

static void free_device(kf_run *run)
{
    for (int i = 0; i < run->state->n; i++) {
        kf_slot *slot = &run->state->slot[i];
        if (slot->base)
            free_base(run, slot, slot->base);
        if (slot->kept)
            CUDA_CHECK(cudaFree(slot->kept));
        slot->base = NULL;
        slot->t.device = slot->kept = NULL;
        slot->made = false;
    }
}

static uint64_t next_memory(void) /* of all runs: no two have the same number */
{
    static uint64_t memory;
    return ++memory;
}

static bool allocate_slot(const kf_run *run, kf_slot *slot)
{
    kf_tensor *t = &slot->t;
    int64_t guard = kf_guard(run, slot);
    void *base = NULL;
    cudaError_t error = cudaMalloc(&base, (size_t)(kf_tensor_bytes(t) + 2 * guard));
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* this failure is handled: later checks must not see it */
        return false;
    }
    CUDA_CHECK(error);
    slot->base = base;
    t->device = slot->base + guard;
    kf_name_memory(t);
    return true;
}

bool kf_allocate(kf_run *run)
{
    run->memory = next_memory();
    for (int i = 0; i < run->state->n; i++)
        if (!allocate_slot(run, &run->state->slot[i])) {
            free_device(run);
            return false;
        }
    return true;
}

bool kf_move(kf_run *run, int i)
{
    kf_slot *slot = &run->state->slot[i];
    char *was = slot->base;
    if (!allocate_slot(run, slot))
        return false;
    free_base(run, slot, was); /* not before: it would be the same memory again */
    slot->made = false;
    run->memory = next_memory();
    return true;
}

bool kf_allocate_if_free(kf_run *run)
{
    return kf_device_need(run, 1) <= kf_device_free() && kf_allocate(run);
}

enum { BLOCK = 1 << 20 }; /* bytes of the host block that poison and uploads go through */

/* Uploads one block, then copies on the device what is there, doubling each time: as fast as device
 * memory, without a kernel that a checker or profiler would report. */
static void poison(const kf_run *run, const kf_slot *slot, char *block)
{
    const kf_tensor *t = &slot->t;
    int64_t size = (int64_t)kf_dtype_size(t->dtype);
    int64_t bytes = kf_tensor_bytes(t) + 2 * kf_guard(run, slot);
    int64_t done = bytes < BLOCK ? bytes : BLOCK;
    kf_poison_pattern(t->dtype, block, done / size);
    CUDA_CHECK(cudaMemcpy(slot->base, block, (size_t)done, cudaMemcpyHostToDevice));
    while (done < bytes) {
        int64_t more = done < bytes - done ? done : bytes - done;
        CUDA_CHECK(
            cudaMemcpy(slot->base + done, slot->base, (size_t)more, cudaMemcpyDeviceToDevice));
        done += more;
    }
}

static void upload(const kf_tensor *t, char *block)
{
    if (t->dtype == KF_F32) {
        CUDA_CHECK(
            cudaMemcpy(t->device, t->host, (size_t)kf_tensor_bytes(t), cudaMemcpyHostToDevice));
        return;
    }
    int64_t size = (int64_t)kf_dtype_size(t->dtype), step = BLOCK / size;
    for (int64_t i = 0; i < t->count; i += step) {
        int64_t n = t->count - i < step ? t->count - i : step;
        kf_pack(t->dtype, t->host + i, block, n);
        char *device = (char *)t->device + i * size;
        CUDA_CHECK(cudaMemcpy(device, block, (size_t)(n * size), cudaMemcpyHostToDevice));
    }
}

/* The first time from the host, which takes seconds for gigabytes; later from a copy on the device,
 * if that takes at most a quarter of the free memory. A kernel that writes out of bounds may hit
 * the copy; its results are then wrong, because the reference is made from the host's values. */
static void refresh(const kf_run *run, kf_slot *slot, char *block)
{
    kf_tensor *t = &slot->t;
    size_t bytes = (size_t)kf_tensor_bytes(t);
    if (slot->make) {
        if (!slot->made)
            slot->make(run, t->device);
        slot->made = true;
        return;
    }
    if (slot->kept) {
        CUDA_CHECK(cudaMemcpy(t->device, slot->kept, bytes, cudaMemcpyDeviceToDevice));
        return;
    }
    upload(t, block);
    if ((int64_t)bytes > kf_device_free() / 4)
        return;
    if (cudaMalloc(&slot->kept, bytes) == cudaSuccess) {
        CUDA_CHECK(cudaMemcpy(slot->kept, t->device, bytes, cudaMemcpyDeviceToDevice));
    } else {
        slot->kept = NULL;
        cudaGetLastError(); /* handled: the next time comes from the host again */
    }
}

/* A large input, or one that is made on the device, is compared with this later. An instrument
 * would take the reads for the step's own, and a CPU takes a second for 256 MB. */
static void remember(const kf_run *run, kf_slot *slot)
{
    static const int64_t MOST_ON_CPU = 1 << 24;
    bool wanted = run->c->flags & KF_LARGE || slot->make;
    if (!wanted || slot->hashed || kf_instrument() != KF_PLAIN ||
        (kf_on_cpu() && kf_tensor_bytes(&slot->t) > MOST_ON_CPU))
        return;
    slot->hash = kf_hash(slot->t.device, kf_tensor_bytes(&slot->t), kf_stream());
    slot->hashed = true;
}

/* Inputs are written again each time: a variant that wrote into them must not spoil the next one.
 */
void kf_prepare(kf_run *run)
{
    char *block = kf_alloc(BLOCK, 1);
    for (int i = 0; i < run->state->n; i++) {
        kf_slot *slot = &run->state->slot[i];
        if (slot->role == KF_INPUT) {
            refresh(run, slot, block);
            remember(run, slot);
        } else {
            poison(run, slot, block);
            kf_mark_unwritten(&slot->t);
        }
    }
    free(block);
    CUDA_CHECK(cudaDeviceSynchronize());
}

void kf_lend_inputs(kf_run *run, const kf_run *other)
{
    char *block = kf_alloc(BLOCK, 1);
    for (int i = 0; i < run->state->n; i++) {
        kf_tensor t = run->state->slot[i].t;
        t.host = other->state->slot[i].t.host;
        if (run->state->slot[i].role == KF_INPUT && t.host)
            upload(&t, block);
    }
    free(block);
    CUDA_CHECK(cudaDeviceSynchronize());
}

int64_t kf_changed(const kf_slot *slot)
{
    const kf_tensor *t = &slot->t;
    int64_t size = (int64_t)kf_dtype_size(t->dtype), step = BLOCK / size, changed = 0;
    char *was = kf_alloc(BLOCK, 1), *is = kf_alloc(BLOCK, 1);
    for (int64_t i = 0; i < t->count; i += step) {
        int64_t n = t->count - i < step ? t->count - i : step;
        kf_pack(t->dtype, t->host + i, was, n);
        const char *device = (const char *)t->device + i * size;
        CUDA_CHECK(cudaMemcpy(is, device, (size_t)(n * size), cudaMemcpyDeviceToHost));
        for (int64_t j = 0; j < n; j++)
            changed += memcmp(was + j * size, is + j * size, (size_t)size) != 0;
    }
    free(was);
    free(is);
    return changed;
}

/* For compute-sanitizer: poison would count as initialised memory, and an out-of-bounds access that
 * hits a guard would not be found. */
bool kf_renew(kf_run *run)
{
    free_device(run);
    run->state->bare = true;
    if (!kf_allocate(run))
        return false;
    char *block = kf_alloc(BLOCK, 1);
    for (int i = 0; i < run->state->n; i++) {
        const kf_slot *slot = &run->state->slot[i];
        if (slot->make)
            slot->make(run, slot->t.device);
        else if (slot->role == KF_INPUT)
            upload(&slot->t, block);
    }
    free(block);
    CUDA_CHECK(cudaDeviceSynchronize());
    return true;
}

void kf_fetch(const kf_tensor *tensor, void *raw)
{
    kf_fetch_unwritten(true);
    CUDA_CHECK(cudaMemcpyAsync(raw, tensor->device, (size_t)kf_tensor_bytes(tensor),
                               cudaMemcpyDeviceToHost, kf_stream()));
    CUDA_CHECK(cudaStreamSynchronize(kf_stream()));
    kf_fetch_unwritten(false);
}

/* Through memory that belongs to no tensor. */
static void swap_two_elements(const kf_tensor *t, char *between)
{
    const size_t size = kf_dtype_size(t->dtype);
    const uint32_t n = t->count < UINT32_MAX ? (uint32_t)t->count : UINT32_MAX;
    const uint64_t seed = kf_fresh_seed();
    char *a = (char *)t->device + kf_random_below(seed, 0, n) * size;
    char *b = (char *)t->device + kf_random_below(seed, 1, n) * size;
    CUDA_CHECK(cudaMemcpy(between, a, size, cudaMemcpyDeviceToDevice));
    if (a != b)
        CUDA_CHECK(cudaMemcpy(a, b, size, cudaMemcpyDeviceToDevice));
    CUDA_CHECK(cudaMemcpy(b, between, size, cudaMemcpyDeviceToDevice));
}

/* An index that moves could name what is not there, so whole numbers stay. */
void kf_borrow_inputs(kf_run *run, const kf_run *other, bool swaps)
{
    static char *between;
    if (swaps && !between)
        CUDA_CHECK(cudaMalloc((void **)&between, sizeof(double)));
    for (int i = 0; i < run->state->n; i++) {
        const kf_tensor *t = &run->state->slot[i].t;
        if (run->state->slot[i].role != KF_INPUT)
            continue;
        run->state->slot[i].made = false; /* kf_prepare makes it again */
        if (other != run)
            CUDA_CHECK(cudaMemcpy(t->device, other->state->slot[i].t.device,
                                  (size_t)kf_tensor_bytes(t), cudaMemcpyDeviceToDevice));
        if (swaps && t->dtype != KF_I32)
            swap_two_elements(t, between);
    }
    CUDA_CHECK(cudaDeviceSynchronize());
}

bool kf_input_kept(const kf_run *run, const kf_slot *slot, void *device, int64_t *changed)
{
    *changed = 0;
    if (slot->role != KF_INPUT || slot->may_write)
        return true;
    kf_slot lent = *slot;
    lent.t.device = device;
    if (slot->hashed) {
        *changed = -1;
        return kf_hash(device, kf_tensor_bytes(&slot->t), kf_stream()) == slot->hash;
    }
    if (slot->t.host && !(run->c->flags & KF_LARGE))
        *changed = kf_changed(&lent);
    return *changed == 0;
}

void kf_close(kf_run *run)
{
    free_device(run);
    free(run->state->shown);
    for (int i = 0; i < run->state->n; i++) {
        kf_slot *slot = &run->state->slot[i];
        free(slot->t.host);
        if (slot->t.want && !kf_captures()) /* malloc may hand this memory to a launcher */
            memset(slot->t.want, 0, (size_t)slot->t.count * sizeof *slot->t.want);
        free(slot->t.want);
        free(slot->t.bound);
        free(slot->t.checked);
        free(slot->other_want);
        free(slot->other_bound);
        free(slot->raw);
    }
    free(run->state);
    run->state = NULL;
}
