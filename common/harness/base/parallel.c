/* parallel.c: a parallel loop over POSIX threads, for references and inputs. */
#define _DEFAULT_SOURCE
#include "harness/base/base.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

typedef struct loop {
    int64_t n, chunk;
    void (*body)(void *context, int64_t i);
    void *context;
    atomic_int_least64_t next;
} loop;

static void *worker(void *argument)
{
    loop *l = argument;
    for (;;) {
        int64_t first = atomic_fetch_add(&l->next, l->chunk);
        if (first >= l->n)
            return NULL;
        int64_t end = first + l->chunk < l->n ? first + l->chunk : l->n;
        for (int64_t i = first; i < end; i++)
            l->body(l->context, i);
    }
}

static bool captures;

void kf_capture_only(void)
{
    captures = true;
}

bool kf_captures(void)
{
    return captures;
}

void kf_parallel(int64_t n, void (*body)(void *context, int64_t i), void *context)
{
    enum { MOST = 64 };
    if (captures)
        return;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int threads = processors < 1 ? 1 : processors > MOST ? MOST : (int)processors;
    if (threads > n)
        threads = n > 0 ? (int)n : 1;
    loop l = {.n = n, .body = body, .context = context};
    l.chunk = n / (threads * 8) + 1;
    atomic_init(&l.next, 0);
    pthread_t id[MOST];
    int started = 0;
    /* If a thread cannot be started, the others take its share. */
    while (started < threads - 1 && pthread_create(&id[started], NULL, worker, &l) == 0)
        started++;
    worker(&l);
    for (int i = 0; i < started; i++)
        pthread_join(id[i], NULL);
}
