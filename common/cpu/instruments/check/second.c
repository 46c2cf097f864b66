/* check: a launch a second time.
 *
 * Where threads order themselves by atomics, the order in which they ran hides some races: a lock
 * that is taken without a fence harms only the second one who takes it. And dynamic shared memory
 * begins at a multiple of 1024, which hides that a kernel declares less than it relies on. A launch
 * changes memory, so it cannot run twice. But a copy of the process can run it: before the first
 * launch of each kernel the process forks, and the copy waits. If the launch has used fences or
 * atomics for order, the copy runs it in the opposite order and sends the races that it finds. If
 * it has taken addresses in shared memory as numbers, the copy runs it with dynamic shared memory
 * that is no more aligned than declared, and sends all that it finds. Where both are wanted, the
 * kernel's next launch has the second. */
#include "instruments/check/state/check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 1 << 14, KERNELS = 256 };
static pid_t child;           /* that waits, or 0 */
static int asks[2], tells[2]; /* the parent writes to asks, the child to tells */
static int is_copy;
static enum { NOT_AGAIN, IN_ORDER = 'o', AS_DECLARED = 'd' } again; /* of the copy */
static struct timespec began;
static int findings_before; /* the launch */

/* The runs of each kernel that a copy has made, or need not make. */
static struct known {
    void (*entry)(void *);
    int in_order_done, as_declared_done;
} all_known[KERNELS], *known; /* known: of the launch's */

/* NULL where there is no room for more kernels. */
static struct known *known_of(void (*entry)(void *))
{
    static int n;
    for (int i = 0; i < n; i++)
        if (all_known[i].entry == entry)
            return &all_known[i];
    if (n == KERNELS)
        return NULL;
    all_known[n].entry = entry;
    return &all_known[n++];
}

/* The copy: waits until it is asked to run the launch. */
static void wait_for_word(struct launch *l)
{
    char word = NOT_AGAIN;
    close(asks[1]), close(tells[0]);
    if (read(asks[0], &word, 1) != 1 || word == NOT_AGAIN)
        _exit(0);
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0 || dup2(nowhere, 1) < 0 || dup2(nowhere, 2) < 0)
        _exit(0);
    is_copy = 1;
    findings_drop();
    again = (unsigned char)word;
    if (again == AS_DECLARED)
        shared_as_declared = 1;
    else
        l->order = ORDER_REVERSE; /* of threads; last_first makes it forward of blocks */
}

void second_begins(struct launch *l)
{
    const struct cpu_kernel *k = l->kernel;
    const uint64_t threads = l->blocks * k->block.x * k->block.y * k->block.z;
    child = 0;
    if (!l->last_first || threads < 2 || threads > MOST_THREADS || events_wanted > 0 || is_copy ||
        cpu_in_kernel())
        return;
    known = known_of(k->entry);
    if (!known || (known->in_order_done && known->as_declared_done))
        return;
    if (pipe(asks) != 0)
        return;
    if (pipe(tells) != 0) {
        close(asks[0]), close(asks[1]);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &began);
    findings_before = findings_count();
    fflush(NULL); /* or the copy would print its buffers again */
    child = fork();
    if (child == 0) {
        wait_for_word(l);
        return;
    }
    close(asks[0]), close(tells[1]);
    if (child < 0)
        close(asks[1]), close(tells[0]), child = 0;
}

/* Milliseconds since the launch began. */
static int elapsed(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int)((t.tv_sec - began.tv_sec) * 1000 + (t.tv_nsec - began.tv_nsec) / 1000000);
}

/* Reads what the copy sends, for as long as the launch has taken here, and a little. A copy that
 * hangs, or dies, has found nothing. */
static void listen_to_copy(const struct launch *l, char how)
{
    enum { LITTLE = 2000 };
    const int until = 2 * elapsed() + LITTLE;
    char *text = NULL;
    size_t n = 0;
    for (;;) {
        struct pollfd p = {tells[0], POLLIN, 0};
        const int left = until - elapsed();
        if (left <= 0 || (poll(&p, 1, left) < 0 && errno != EINTR)) {
            n = 0;
            break;
        }
        if (!(p.revents & (POLLIN | POLLHUP)))
            continue;
        text = need_memory(realloc(text, n + 4096), "what check knows");
        const ssize_t got = read(tells[0], text + n, 4096);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    findings_receive(text, n, how == AS_DECLARED ? l->declared : 0);
    free(text);
}

void second_ends(const struct launch *l)
{
    if (is_copy) {
        findings_send(tells[1], again == AS_DECLARED);
        _exit(0);
    }
    if (!child)
        return;
    const int ordered = !known->in_order_done && (order.synced || order.marked);
    /* A fault of this launch would come again in the copy, which says nothing of alignment. */
    const int aligned = !known->as_declared_done && l->declared && l->took_addresses &&
                        findings_count() == findings_before;
    const char how = ordered ? IN_ORDER : aligned ? AS_DECLARED : NOT_AGAIN;
    known->in_order_done = 1;
    known->as_declared_done = !ordered || !aligned; /* else the next launch runs so */
    if (write(asks[1], &how, 1) == 1 && how != NOT_AGAIN)
        listen_to_copy(l, how);
    close(asks[1]), close(tells[0]);
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    child = 0;
}
