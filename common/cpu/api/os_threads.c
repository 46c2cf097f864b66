/* The OS threads that run the blocks of a launch, and the order of blocks. */
#include "api/api.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static struct launch *offered; /* the launch that helpers may join, or NULL */
static int helpers, busy;

static void *helper(void *unused)
{
    struct worker *w = worker_new();
    pthread_mutex_lock(&lock);
    for (uint64_t last = 0;;) {
        while (!offered || offered->id == last)
            pthread_cond_wait(&wake, &lock);
        w->launch = offered;
        last = offered->id;
        busy++;
        pthread_mutex_unlock(&lock);
        block_run_all(w);
        pthread_mutex_lock(&lock);
        if (--busy == 0)
            pthread_cond_signal(&done);
    }
    return NULL;
}

/* A number from the environment, or `otherwise` if it is not set. Any other text ends the
 * program with a line. */
static uint64_t number(const char *name, uint64_t least, uint64_t most, uint64_t otherwise)
{
    const char *s = getenv(name);
    if (!s || !*s)
        return otherwise;
    char *end;
    errno = 0;
    uint64_t n = strtoull(s, &end, 10);
    if (*s < '0' || *s > '9' || *end || errno || n < least || n > most)
        give_up(2, "%s=%s: need a number from %llu to %llu", name, s, (unsigned long long)least,
                (unsigned long long)most);
    return n;
}

int worker_count(void)
{
    static int count;
    if (!count) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        count = (int)number("CUDACPU_WORKERS", 1, 1024, cores < 1 ? 1 : (uint64_t)cores);
        if (CPU_TRACE == 2)
            count = 1; /* findings must not depend on timing */
    }
    return count;
}

void run_blocks(struct launch *l)
{
    int wanted = l->run < (uint64_t)worker_count() ? (int)l->run : worker_count();
    if (wanted > 1) {
        pthread_mutex_lock(&lock);
        for (pthread_t t; helpers < wanted - 1; helpers++) {
            if (pthread_create(&t, NULL, helper, NULL) != 0)
                break; /* fewer helpers are slower, not wrong */
            pthread_detach(t);
        }
        offered = l;
        pthread_cond_broadcast(&wake);
        pthread_mutex_unlock(&lock);
    }
    struct worker *w = cpu_worker ? cpu_worker : worker_new();
    w->launch = l;
    block_run_all(w);
    if (wanted > 1) {
        pthread_mutex_lock(&lock);
        offered = NULL;
        while (busy)
            pthread_cond_wait(&done, &lock);
        pthread_mutex_unlock(&lock);
    }
}

void choose_order(struct launch *l)
{
    const char *order = getenv("CUDACPU_ORDER");
    l->seed = number("CUDACPU_SEED", 0, UINT64_MAX, 1);
    if (!order || !*order || strcmp(order, "forward") == 0) {
        l->order = ORDER_FORWARD;
        /* A block that waits for one with a lower number then has to be set aside. */
        l->last_first = CPU_TRACE == 2 && (!order || !*order);
    } else if (strcmp(order, "reverse") == 0) {
        l->order = ORDER_REVERSE;
    } else if (strcmp(order, "random") == 0) {
        l->order = ORDER_RANDOM;
        l->stagger_us = 1000 * number("CUDACPU_STAGGER", 0, 1000, 0);
    } else {
        give_up(2, "CUDACPU_ORDER is \"%s\": need forward, reverse or random", order);
    }
}
