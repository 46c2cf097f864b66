/* check: handles of streams, events and graphs that nobody destroys. */
#include "instruments/check/state/check.h"

#include <pthread.h>

extern char __data_start[]; /* the linker's: variables lie from there to end */

static struct handle {
    const void *p;
    const char *kind;
    uint32_t site;
} * handles; /* those that are there, by age */
static int n_handles;
static uintptr_t list; /* the list of the runtime itself, which does not count as a reference */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void trace_handle_made(const char *kind, const void *handle, const void *site)
{
    pthread_mutex_lock(&lock);
    handles = grown(handles, n_handles, sizeof *handles);
    handles[n_handles++] = (struct handle){handle, kind, code_of(site)};
    pthread_mutex_unlock(&lock);
}

void trace_handle_destroyed(const void *handle)
{
    pthread_mutex_lock(&lock);
    int i = n_handles - 1;
    while (i >= 0 && handles[i].p != handle)
        i--;
    if (i >= 0) {
        n_handles--;
        memmove(&handles[i], &handles[i + 1], (size_t)(n_handles - i) * sizeof *handles);
    }
    pthread_mutex_unlock(&lock);
}

void trace_handle_list(const void *head)
{
    list = (uintptr_t)head;
}

/* A handle that static storage refers to is reachable, and no leak. Only unreachable handles are
 * reported. */
static int is_kept(const void *handle)
{
    for (uintptr_t at = (uintptr_t)__data_start; at + sizeof handle <= (uintptr_t)end;
         at += sizeof handle)
        if (*(const void *const *)at == handle && at != list)
            return 1;
    return 0;
}

void handles_leak(void)
{
    for (int i = 0; i < n_handles; i++) {
        const struct handle *h = &handles[i];
        struct side side = {.code = h->site};
        struct object object = {.p = (uintptr_t)h->p, .what = h->kind, .site = h->site};
        if (!is_kept(h->p))
            finding_add(LEAK, NULL, &side, 1, 0, &object, object.p, NULL);
    }
    n_handles = 0;
}
