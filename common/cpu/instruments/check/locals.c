/* Arrays of threads: reads of elements that nothing has been assigned to.
 *
 * The rewriter puts an object behind an array that a function of the device declares without an
 * initialiser and indexes by the thread. It tells where the array begins and ends to live. While it
 * lives, a bit for each byte says that the byte is unwritten, and all such bytes hold 0xfe: what
 * the instrument does not see, as a function of the C library, changes them, so that there is no
 * false finding.
 *
 * To copy an element is no use of it: the copy is unwritten then. So a read is noted, and is a
 * finding when the thread's next access shows that it is no copy. */
#include "instruments/check/state/check.h"

#include <sys/mman.h>

enum { UNWRITTEN = 0xfe };
static const size_t STACKS = (size_t)MAX_THREADS * FIBER_STACK;

uint8_t *locals_unwritten;
static struct cpu_local *innermost[MAX_THREADS];
static int broken; /* a kernel was stopped, and arrays did not end to live */

/* The last read of an unwritten element, whose use is not known yet. */
static struct {
    uintptr_t to; /* where the thread has stored since, 0: nowhere */
    struct object array;
    uintptr_t p;
    unsigned bytes;
    int thread;
    uint32_t code;
} last;
int locals_noted;

static int is_filled(uintptr_t p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (((const uint8_t *)p)[i] != UNWRITTEN)
            return 0;
    return 1;
}

static void reserve(void)
{
    locals_unwritten = mmap(NULL, STACKS / 8 + 8, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (locals_unwritten == MAP_FAILED)
        give_up(1, "check: cannot reserve %zu MiB of addresses: raise ulimit -v", STACKS >> 23);
}

void cpu_trace_local(struct cpu_local *l, uintptr_t p, size_t bytes, const char *name)
{
    struct worker *w = cpu_worker;
    const uintptr_t at = w && w->running ? p - (uintptr_t)w->stacks : STACKS;
    l->p = 0;
    if (at >= STACKS || bytes > STACKS - at || order.kernel->together)
        return; /* the host's; or blocks take turns, and use the same bits */
    if (!locals_unwritten)
        reserve();
    *l = (struct cpu_local){p, bytes, name, innermost[w->now]};
    innermost[w->now] = l;
    memset((void *)p, UNWRITTEN, bytes);
    set_bits(locals_unwritten, at, bytes, 1);
}

void cpu_trace_local_ends(struct cpu_local *l)
{
    struct worker *w = cpu_worker;
    if (!l->p || !w || !w->running)
        return;
    set_bits(locals_unwritten, l->p - (uintptr_t)w->stacks, l->bytes, 0);
    innermost[w->now] = l->outer;
}

static const struct cpu_local *array_of(int thread, uintptr_t p)
{
    const struct cpu_local *l = innermost[thread];
    while (l && p - l->p >= l->bytes)
        l = l->outer;
    return l;
}

void locals_end(void)
{
    const struct side side = {READ, last.code, last.thread, order.block};
    const struct worker *w = cpu_worker;
    locals_noted = 0;
    if (!last.to || !is_filled(last.to, last.bytes))
        finding_add(UNINITIALISED, order.kernel, &side, 1, last.bytes, &last.array, last.p, NULL);
    else if (w && array_of(last.thread, last.to))
        set_bits(locals_unwritten, last.to - (uintptr_t)w->stacks, last.bytes, 1);
}

void locals_next(const struct worker *w, int thread, enum kind kind, uintptr_t p, unsigned bytes)
{
    if (!last.to && kind == WRITE && thread == last.thread && bytes == last.bytes &&
        is_on_stack(w, p))
        last.to = p;
    else
        locals_end();
}

void locals_touched(const struct worker *w, int thread, enum kind kind, uintptr_t p, unsigned bytes,
                    uint32_t code)
{
    const unsigned have = locals_bits(w, p, bytes);
    if (kind != READ)
        set_bits(locals_unwritten, p - (uintptr_t)w->stacks, bytes, 0);
    if (kind != READ || have != (1u << bytes) - 1 || !is_filled(p, bytes))
        return;
    const struct cpu_local *l = array_of(thread, p);
    if (!l)
        return;
    last.to = 0;
    last.array =
        (struct object){.p = l->p, .bytes = l->bytes, .name = l->name, .what = "of local memory"};
    last.p = p;
    last.bytes = bytes;
    last.thread = thread;
    last.code = code;
    locals_noted = 1;
}

void locals_block(void)
{
    if (locals_noted)
        locals_end();
    if (!locals_unwritten)
        return;
    memset(innermost, 0, sizeof innermost);
    if (broken)
        madvise(locals_unwritten, STACKS / 8 + 8, MADV_DONTNEED);
    broken = 0;
}

void locals_broken(void)
{
    if (locals_noted)
        locals_end();
    broken = 1;
}
