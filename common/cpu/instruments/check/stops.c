/* check: illegal accesses, which are passed over, and the end of a program that is interrupted. */
#include "instruments/check/state/check.h"

#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* --- Illegal accesses ------------------------------------------------------------------------- */

/* The accesses that were reported last: all those of a warp, which are reported before any of them
 * is made, and more. */
static struct {
    uintptr_t p;
    unsigned bytes;
} told[128];
static unsigned n_told;
static uint32_t told_in; /* the block that has made the last one: when it began */
static int last_expected;

void stops_expect(uintptr_t p, unsigned bytes)
{
    const unsigned i = n_told++ % (sizeof told / sizeof *told);
    told[i].p = p;
    told[i].bytes = bytes;
    told_in = order.block_start;
}

static int is_told(uintptr_t p)
{
    for (unsigned i = 0; i < sizeof told / sizeof *told; i++)
        if (p - told[i].p < told[i].bytes)
            return 1;
    return 0;
}

int stops_expected(void)
{
    return last_expected;
}

/* Nearly each access has been reported before it is made. What no instrument sees is reported
 * here: a function of the C library that a kernel calls. An access of a copy that takes effect
 * late was reported when the copy began, perhaps long ago. */
int trace_illegal(struct worker *w, uintptr_t p, uintptr_t from, int can)
{
    const int expected = is_told(p) || told_in == order.block_start;
    last_expected = expected && !can;
    if (expected || !can)
        return can;
    const int known = from - (uintptr_t)__executable_start < program_size();
    char text[100];
    snprintf(text, sizeof text, "%san access at address 0x%" PRIxPTR ", where no memory is",
             known ? "at %1: " : "", p);
    registers_report(BOUNDS, (int)w->now, known ? code_of((const char *)from + 1) : 0, text);
    return 1;
}

/* --- The end of a program --------------------------------------------------------------------- */

/* The program may hold locks that this needs: it gets some seconds and no more. */
void trace_dies(void)
{
    enum { SECONDS = 30 };
    signal(SIGALRM, SIG_DFL);
    alarm(SECONDS);
    ranges_end();
    findings_report();
    alarm(0);
}

static sem_t interruption;
static volatile sig_atomic_t interrupted_by;

/* The signal comes at any time, within malloc too. So another OS thread prints, while this one
 * waits for the end. The next such signal ends the program at once. */
static void on_interruption(int number)
{
    if (interrupted_by) {
        signal(number, SIG_DFL);
        raise(number);
    } else if (findings_change) {
        findings_signal = number;
    } else {
        interrupted_by = number;
        sem_post(&interruption);
        for (;;)
            pause();
    }
}

static void *report_interruption(void *unused)
{
    sigset_t own;
    while (sem_wait(&interruption) != 0)
        ;
    findings_interrupted = 1;
    trace_dies();
    signal(interrupted_by, SIG_DFL);
    sigemptyset(&own);
    sigaddset(&own, interrupted_by);
    pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    raise(interrupted_by);
    return NULL;
}

void stops_catch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    static int done;
    const struct sigaction ours = {.sa_handler = on_interruption,
                                   .sa_flags = SA_ONSTACK | SA_RESTART};
    struct sigaction programs;
    sigset_t all, before;
    pthread_t t;
    if (done)
        return;
    done = 1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (sem_init(&interruption, 0, 0) == 0 &&
        pthread_create(&t, NULL, report_interruption, NULL) == 0) {
        pthread_detach(t);
        for (int i = 0; i < 3; i++) /* one that the program ignores or takes itself is not ours */
            if (sigaction(numbers[i], NULL, &programs) == 0 && programs.sa_handler == SIG_DFL)
                sigaction(numbers[i], &ours, NULL);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
