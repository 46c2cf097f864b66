/* Faults: errors that stop a kernel, and the line that reports them. */
#include "device/device.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAME(id, name) name,
const char *const op_names[] = {CPU_OP_LIST(NAME)};

static void report(const struct worker *w, const char *text)
{
    const struct cpu_kernel *k = w->launch->kernel;
    complain("kernel %s (launched at %s:%d), block (%u,%u,%u): %s",
             TRACE_CHECK_OR(kernel_name(k), k->name), k->file, k->line, blockIdx.x, blockIdx.y,
             blockIdx.z, text);
}

void fault_stop(struct worker *w, enum fault kind, cudaError_t error, const char *format, ...)
{
    char text[2200];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    TRACE_CHECK_OR(fault(w, kind, text), (void)kind);
    int none = 0;
    if (atomic_compare_exchange_strong(&w->launch->error, &none, (int)error))
        report(w, text);
    redirect_forget();
    siglongjmp(w->home->escape, 1);
}

static void fail_thread(struct worker *w, cudaError_t error, const char *what)
{
    fault_stop(w, FAULT_SIGNAL, error, "thread (%u,%u,%u): %s", threadIdx.x, threadIdx.y,
               threadIdx.z, what);
}

/* With --check the kernel goes on after an illegal access, so that what comes then is judged too:
 * a load gives bits that are all set, a store does nothing. Not for ever, as such bits may be the
 * bound of a loop: so many accesses of a launch, and then the watchdog counts seconds. */
static int pass_over(struct worker *w, uintptr_t p, void *context)
{
    enum { MOST = 1 << 24 };
    if (w->illegal_in != w->launch->id) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        w->illegal_in = w->launch->id;
        w->illegal_at = t.tv_sec;
        w->illegal = 0;
    }
    const int can = ++w->illegal <= MOST && redirect(context, p, 0);
    return TRACE_CHECK_OR(illegal(w, p, w->signalled, can), can);
}

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
enum { CAUGHT = sizeof caught / sizeof *caught };
static struct sigaction of_program[CAUGHT]; /* set by the program before */

/* No kernel's fault: the program's own handler is called, or the signal comes again and ends it. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    for (int i = 0; i < CAUGHT; i++) {
        const struct sigaction *own = &of_program[i];
        if (caught[i] != number || own->sa_handler == SIG_DFL || own->sa_handler == SIG_IGN)
            continue;
        if (own->sa_flags & SA_SIGINFO)
            own->sa_sigaction(number, info, context);
        else
            own->sa_handler(number);
        return;
    }
    signal(number, SIG_DFL);
    TRACE_CHECK(dies());
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    struct worker *w = cpu_worker;
    if (!w || !w->running || number == SIGABRT) {
        pass_on(number, info, context);
        return;
    }
    char what[100];
    uintptr_t p = (uintptr_t)info->si_addr;
    w->signalled = redirect_code(context);
    w->signalled_stack = redirect_stack(context);
    if (number == SIGSEGV && p == w->signalled) {
        snprintf(what, sizeof what,
                 "a call of the function at address 0x%" PRIxPTR ", where there is none", p);
        w->signalled = redirect_caller(context);
        fail_thread(w, cudaErrorIllegalAddress, what);
    }
    if (number == SIGSEGV && TRACE_CHECK_OR(allow_misaligned(context), 0))
        return;
    if (number == SIGFPE)
        fail_thread(w, cudaErrorLaunchFailure, "integer division by zero");
    if (number == SIGILL)
        fail_thread(w, cudaErrorLaunchFailure, "illegal instruction");
    if (fiber_is_guard(w->stacks, MAX_THREADS, info->si_addr))
        fail_thread(w, cudaErrorIllegalAddress, "stack overflow");
#ifndef __APPLE__ /* macOS sends SIGBUS for any access to a protected page */
    if (number == SIGBUS && info->si_code == BUS_ADRALN)
        fail_thread(w, cudaErrorMisalignedAddress, "misaligned address");
#endif
#ifdef SI_KERNEL
    /* An x86 reports no address for a misaligned wide load or store, nor for an address that is
     * not canonical, and the latter is a SIGBUS if it is in the register of stack frames. */
    if (info->si_code == SI_KERNEL && !(p = redirect_address(context)))
        fail_thread(w, cudaErrorMisalignedAddress,
                    "illegal access: a misaligned address, or one that no memory has");
#endif
    const uintptr_t wrapped = shared_wrapped(w, p);
    if (wrapped != p && redirect(context, p, wrapped))
        return;
    if (CPU_TRACE == 2 && pass_over(w, p, context))
        return;
    snprintf(what, sizeof what, "illegal access at address 0x%" PRIxPTR, p);
    fail_thread(w, cudaErrorIllegalAddress, what);
}

void fault_catch_signals(void)
{
    static int done;
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    if (done)
        return;
    for (int i = 0; i < CAUGHT; i++)
        if (sigaction(caught[i], &action, &of_program[i]) != 0)
            give_up(1, "signal %d cannot be caught", caught[i]);
    struct sigaction programs;
    if (CPU_TRACE == 2 && sigaction(SIGABRT, NULL, &programs) == 0 &&
        programs.sa_handler == SIG_DFL)
        sigaction(SIGABRT, &action, NULL); /* findings are printed before the host aborts */
    done = 1;
}

void cpu_trap(cudaError_t error, const char *what, const char *file, int line)
{
    struct worker *w = cpu_worker;
    if (!w || !w->running) {
        complain("%s:%d: %s", file, line, what);
        abort();
    }
    const enum fault kind = error == cudaErrorMisalignedAddress ? FAULT_ALIGNMENT : FAULT_TRAP;
    fault_stop(w, kind, error, "thread (%u,%u,%u): %s (%s:%d)", threadIdx.x, threadIdx.y,
               threadIdx.z, what, file, line);
}

/* assert() ends here, in place of the C library's function: <assert.h> needs no replacement. */
#pragma GCC visibility push(default)
#ifdef __APPLE__
void __assert_rtn(const char *function, const char *file, int line, const char *condition)
#else
void __assert_fail(const char *condition, const char *file, unsigned line, const char *function)
    __attribute__((noreturn));
void __assert_fail(const char *condition, const char *file, unsigned line, const char *function)
#endif
{
    char what[300];
    snprintf(what, sizeof what, "%s: assertion `%s' failed", function, condition);
    cpu_trap(cudaErrorAssert, what, file, (int)line);
}
#pragma GCC visibility pop

void fault_outside(enum cpu_op op, const char *file, int line)
{
    complain("%s:%d: %s is called outside a kernel", file, line, op_names[op]);
    abort();
}

/* The report of a block in which no thread can run: where each waits, and which have exited. */

static int same_wait(const struct worker *w, int a, int b)
{
    const struct thread *s = &w->threads[a], *t = &w->threads[b];
    int live = w->warps[a / WARP].live >> a % WARP & 1;
    if (live != (int)(w->warps[b / WARP].live >> b % WARP & 1))
        return 0;
    if (!live)
        return 1;
    if (s->op != t->op || s->caller != t->caller || s->looked != t->looked || s->line != t->line ||
        strcmp(s->file, t->file) != 0 || (s->op >= CPU_MBARRIER && s->mask != t->mask))
        return 0;
    /* A warp whose lanes are at different copies of one instruction waits for itself. Two warps
     * are at two copies where a function is called from two lines, and wait for the same. */
    return s->op != CPU_PTX || s->what == t->what ||
           (a / WARP != b / WARP && strcmp(s->name, t->name) == 0);
}

struct text {
    char s[2000];
    size_t n;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(t->s + t->n, sizeof t->s - t->n, format, list);
    va_end(list);
    if (n > 0 && (t->n += (size_t)n) >= sizeof t->s)
        t->n = sizeof t->s - 1;
}

/* The threads of a group, which are reported now: "threads 0-31, 64" with the first few ranges. */
static int add_threads(struct text *text, const struct worker *w, int first, uint8_t *told)
{
    enum { RANGES = 16 };
    struct text list = {.n = 0};
    int threads = 0, listed = 0, ranges = 0, of_warp = first; /* of_warp: the group's in the warp */
    for (int i = first; i < w->size; i++) {
        const int begin = i;
        for (; i < w->size && !told[i] && same_wait(w, first, i); i++) {
            if (i / WARP != of_warp / WARP)
                of_warp = i;
            if (!same_wait(w, of_warp, i))
                break;
            told[i] = 1;
        }
        if (i == begin)
            continue;
        threads += i - begin;
        if (ranges++ >= RANGES)
            continue;
        listed = threads;
        add(&list, i - begin > 1 ? "%s%d-%d" : "%s%d", ranges > 1 ? ", " : "", begin, i - 1);
    }
    add(text, "%sthread%s %s", text->n ? "; " : "", threads == 1 ? "" : "s", list.s);
    if (listed < threads)
        add(text, " and %d more", threads - listed);
    return threads;
}

static void add_wait(struct text *text, const struct worker *w, int first, uint8_t *told)
{
    const struct thread *t = &w->threads[first];
    const int one = add_threads(text, w, first, told) == 1;
    if (!(w->warps[first / WARP].live >> first % WARP & 1)) {
        add(text, " %s exited", one ? "has" : "have");
        return;
    }
    if (t->op == CPU_SPIN) {
        add(text, " spin%s on %s%s", one ? "s" : "", t->file, t->looked ? t->looked : "");
        return;
    }
    add(text, " wait%s at %s", one ? "s" : "",
        t->op == CPU_PTX || t->op == CPU_MBARRIER ? t->name : op_names[t->op]);
    if (t->op == CPU_NAMED_BARRIER)
        add(text, " %u", t->mask);
    else if (t->op > CPU_NAMED_BARRIER)
        add(text, " of mask 0x%08x", t->mask);
    add(text, " (%s:%d%s)%s", t->file, t->line, t->caller ? t->caller : "",
        t->looked ? t->looked : "");
}

void fault_stuck(struct worker *w, enum fault kind, const char *why)
{
    struct text text = {.n = 0};
    uint8_t told[MAX_THREADS] = {0};
    TRACE_CHECK(callers(w));
    for (int i = 0; i < w->size; i++)
        if (!told[i])
            add_wait(&text, w, i, told);
    fault_stop(w, kind, cudaErrorLaunchFailure, "%s: %s", why, text.s);
}
