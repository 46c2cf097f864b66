/* count: counts by kernel, until the host asks for them. */
#include "instruments/count/count.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct kernel {
    const char *name;
    struct tally tally;
} * kernels[256];
static struct cpu_kernel_counts listed[256 + MOVES];
/* memset and memcpy by the device: counted like the launches and the traffic of kernels. */
static struct cpu_kernel_counts moves[MOVES] = {{"memset", {0}}, {"memcpy", {0}}};
static int n_kernels, n_names;
int tally_unprinted;
static const char *names[NAMED], *sorted[NAMED];
static atomic_flag naming = ATOMIC_FLAG_INIT;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER; /* host threads may launch at once */

const char *const tally_counter_names[CPU_COUNTERS] = {
#define CPU_NAME(id, name) name,
    CPU_COUNTER_LIST(CPU_NAME)};

static void limit(int n, int most, const char *what)
{
    if (n == most)
        give_up(1, "count: more than %d %s", most, what);
}

struct site *tally_site(struct tally *t, uint32_t code, enum what what, enum space space)
{
    uint32_t i = (code * 0x9e3779b1u >> 21 ^ (uint32_t)what ^ (uint32_t)space << 2) & (SITES - 1);
    int tried = 0;
    struct site *s = &t->sites[i];
    while (s->used && (s->code != code || s->what != what || s->space != space)) {
        limit(++tried, SITES, "loads and stores in one kernel");
        s = &t->sites[(i + (uint32_t)tried) & (SITES - 1)];
    }
    s->code = code, s->what = (uint8_t)what, s->space = (uint8_t)space, s->used = 1;
    return s;
}

void tally_site_add(uint64_t *value, const struct site *s)
{
    static const enum cpu_counter first[3][2] = {
        [GLOBAL] = {CPU_GLOBAL_LD_REQUESTS, CPU_GLOBAL_ST_REQUESTS},
        [SHARED] = {CPU_SHARED_LD_REQUESTS, CPU_SHARED_ST_REQUESTS},
        [LOCAL] = {CPU_LOCAL_LD_REQUESTS, CPU_LOCAL_ST_REQUESTS}};
    if (s->what == COPY || s->what == COPY_AROUND_L1) {
        value[CPU_CP_ASYNC_REQUESTS] += s->requests;
        value[CPU_CP_ASYNC_SECTORS] += s->sectors;
        value[CPU_CP_ASYNC_WAVEFRONTS] += s->passes;
        value[CPU_CP_ASYNC_CONFLICTS] += s->conflicts;
        return;
    }
    if (s->what == LDMATRIX || s->what == STMATRIX) {
        uint64_t *own =
            value + (s->what == LDMATRIX ? CPU_LDMATRIX_REQUESTS : CPU_STMATRIX_REQUESTS);
        uint64_t *all =
            value + (s->what == LDMATRIX ? CPU_SHARED_LD_WAVEFRONTS : CPU_SHARED_ST_WAVEFRONTS);
        own[0] += s->requests;
        own[1] += s->passes, all[0] += s->passes;
        own[2] += s->conflicts, all[1] += s->conflicts;
        return;
    }
    if (s->what == ATOMIC)
        value[CPU_ATOMICS] += s->requests;
    if (s->what == ATOMIC && s->space != GLOBAL)
        return;
    uint64_t *v =
        value + (s->what == ATOMIC ? CPU_GLOBAL_ATOMIC_REQUESTS : first[s->space][s->what]);
    v[0] += s->requests;
    if (s->space != LOCAL) {
        v[1] += s->space == GLOBAL ? s->sectors : s->passes;
        v[2] += s->space == GLOBAL ? s->bytes : s->conflicts;
    }
}

int tally_name(const char *name)
{
    int i = 0;
    while (atomic_flag_test_and_set(&naming))
        ;
    while (i < n_names && names[i] != name && strcmp(names[i], name) != 0)
        i++;
    if (i == n_names) {
        limit(n_names, NAMED, "named counters");
        names[n_names++] = name;
    }
    atomic_flag_clear(&naming);
    return i;
}

static struct tally *tally_of(const char *kernel)
{
    for (int i = 0; i < n_kernels; i++)
        if (strcmp(kernels[i]->name, kernel) == 0)
            return &kernels[i]->tally;
    limit(n_kernels, 256, "kernels");
    struct kernel *k = kernels[n_kernels++] = need_memory(calloc(1, sizeof *k), "the counts");
    k->name = kernel;
    return &k->tally;
}

void tally_launched(const char *kernel, int early)
{
    pthread_mutex_lock(&adding);
    uint64_t *value = tally_of(kernel)->value;
    value[CPU_LAUNCHES]++;
    value[CPU_EARLY_LAUNCHES] += early != 0;
    tally_unprinted = 1;
    pthread_mutex_unlock(&adding);
}

void trace_moved(int copies, size_t width, size_t height)
{
    pthread_mutex_lock(&adding);
    uint64_t *value = moves[copies].value;
    value[CPU_LAUNCHES]++;
    for (int stores = !copies; stores < 2; stores++) {
        uint64_t *v = value + (stores ? CPU_GLOBAL_ST_REQUESTS : CPU_GLOBAL_LD_REQUESTS);
        v[1] += (width + 31) / 32 * height;
        v[2] += width * height;
    }
    pthread_mutex_unlock(&adding);
}

void tally_add(const char *kernel, struct tally *t, const uint8_t registers[DEPTHS / 8])
{
    pthread_mutex_lock(&adding);
    struct tally *sum = tally_of(kernel);
    for (int i = 0; i < CPU_COUNTERS; i++)
        sum->value[i] += t->value[i];
    for (int i = 0; i < NAMED; i++)
        sum->named[i] += t->named[i];
    for (int i = 0; i < SITES; i++) {
        const struct site *s = &t->sites[i];
        if (!s->used || (s->space == LOCAL && registers[s->deepest / 8] >> s->deepest % 8 & 1))
            continue;
        tally_site_add(sum->value, s);
        struct site *all = tally_site(sum, s->code, s->what, s->space);
        all->requests += s->requests, all->sectors += s->sectors, all->bytes += s->bytes;
        all->passes += s->passes, all->conflicts += s->conflicts;
    }
    pthread_mutex_unlock(&adding);
    memset(t, 0, sizeof *t);
}

struct site *tally_sites(int *n)
{
    struct site *list =
        need_memory(calloc((size_t)n_kernels * SITES + 1, sizeof *list), "the counts");
    *n = 0;
    for (int k = 0; k < n_kernels; k++)
        for (int i = 0; i < SITES; i++)
            if (kernels[k]->tally.sites[i].used)
                list[(*n)++] = kernels[k]->tally.sites[i];
    return list;
}

int tally_counts(const struct cpu_kernel_counts **list)
{
    for (int i = 0; i < n_kernels; i++) {
        listed[i].kernel = kernels[i]->name;
        memcpy(listed[i].value, kernels[i]->tally.value, sizeof listed[i].value);
    }
    int n = n_kernels;
    for (int i = 0; i < MOVES; i++)
        if (moves[i].value[CPU_LAUNCHES])
            listed[n++] = moves[i];
    *list = listed;
    return n;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int tally_named_counters(const char *const **list)
{
    memcpy(sorted, names, sizeof sorted);
    qsort(sorted, (size_t)n_names, sizeof *sorted, by_name);
    *list = sorted;
    return n_names;
}

uint64_t tally_named_count(int kernel, const char *name)
{
    return kernel < n_kernels ? kernels[kernel]->tally.named[tally_name(name)] : 0;
}

void tally_reset(void)
{
    while (n_kernels)
        free(kernels[--n_kernels]);
    for (int i = 0; i < MOVES; i++)
        memset(moves[i].value, 0, sizeof moves[i].value);
    tally_unprinted = 0;
}
