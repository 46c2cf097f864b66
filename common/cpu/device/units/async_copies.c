/* cp.async copies in flight, for each thread.
 *
 * CUDACPU_ASYNC chooses when a copy takes effect. `late`: when the thread waits for its group;
 * only then is the source read, and until then the destination holds bytes of 0xff, which are
 * NaN. `early`: when it is issued. `random`: at either of the two, or at any instruction of this
 * file in between that the thread executes; CUDACPU_SEED chooses. A kernel that reads a
 * destination before the wait, or that writes to the source of a copy in flight, gives another
 * result in one of these modes. A copy that the thread never waits for takes effect when the
 * block has ended. */
#include "device/units/units.h"

#include <stdlib.h>
#include <string.h>

struct copy {
    char *to;
    const char *from;
    unsigned bytes, read; /* bytes to write, and of these the bytes to read; the rest is 0 */
    unsigned group;       /* the thread's group that it belongs to */
};

/* The copies of one thread that have not taken effect, in the order of their issue. */
struct async {
    struct copy *copy;
    int n, room;
    unsigned group; /* the open group */
};

enum async_mode async_mode_now(void)
{
    static int chosen = -1; /* threads that find it out at once find the same */
    if (chosen < 0) {
        const char *s = getenv("CUDACPU_ASYNC");
        if (!s || !*s || strcmp(s, "late") == 0)
            chosen = ASYNC_LATE;
        else if (strcmp(s, "early") == 0)
            chosen = ASYNC_EARLY;
        else if (strcmp(s, "random") == 0)
            chosen = ASYNC_RANDOM;
        else
            give_up(2, "CUDACPU_ASYNC is \"%s\": need late, early or random", s);
    }
    return (enum async_mode)chosen;
}

/* Leaves the random numbers that order threads alone. */
int async_chance(struct worker *w)
{
    if (!w->async_random) /* the first call of this block */
        w->async_random = (w->launch->seed + 1) * 0x9e3779b97f4a7c15u ^
                          ((uint64_t)blockIdx.z << 42 ^ (uint64_t)blockIdx.y << 21 ^ blockIdx.x);
    w->async_random = w->async_random * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
    return w->async_random >> 61 == 0;
}

static void take_effect(const struct copy *c)
{
    memcpy(c->to, c->from, c->read);
    memset(c->to + c->read, 0, c->bytes - c->read);
}

/* Lets the copies of groups before `group` take effect, and in random mode some others. */
static void finish(struct worker *w, struct async *a, unsigned group)
{
    int left = 0, random = async_mode_now() == ASYNC_RANDOM;
    for (int k = 0; k < a->n; k++)
        if ((int)(a->copy[k].group - group) < 0 || (random && async_chance(w)))
            take_effect(&a->copy[k]);
        else
            a->copy[left++] = a->copy[k];
    a->n = left;
}

static struct async *mine(struct worker *w)
{
    if (!w->async)
        w->async = need_memory(calloc(MAX_THREADS, sizeof *w->async), "asynchronous copies");
    return &w->async[w->now];
}

void cp_async_issue(struct worker *w, void *to, const void *from, unsigned bytes, unsigned read)
{
    struct copy c = {.to = to, .from = from, .bytes = bytes, .read = read};
    struct async *a = mine(w);
    w->async_used = 1;
    if (async_mode_now() == ASYNC_RANDOM)
        finish(w, a, a->group - (1u << 30));
    if (async_mode_now() == ASYNC_EARLY || (async_mode_now() == ASYNC_RANDOM && async_chance(w))) {
        take_effect(&c);
        return;
    }
    memset(c.to, 0xff, c.bytes);
    if (a->n == a->room) {
        a->room = a->room ? 2 * a->room : 16;
        a->copy =
            need_memory(realloc(a->copy, (size_t)a->room * sizeof *a->copy), "asynchronous copies");
    }
    c.group = a->group;
    a->copy[a->n++] = c;
}

unsigned cp_async_open_group(struct worker *w)
{
    return mine(w)->group;
}

int cp_async_hand_over(struct worker *w, struct copied *c)
{
    struct async *a = mine(w);
    if (!a->n)
        return 0;
    const struct copy *last = &a->copy[--a->n];
    *c = (struct copied){last->to, last->from, last->bytes, last->read, last->group};
    return 1;
}

void cp_async_end_block(struct worker *w)
{
    if (!w->async_used)
        return;
    w->async_used = 0;
    for (int t = 0; t < w->size; t++) {
        w->now = (unsigned)t; /* a fault is a fault of this thread */
        threadIdx = w->index[t];
        finish(w, &w->async[t], w->async[t].group + 1);
    }
}

void cp_async_forget(struct worker *w)
{
    for (int t = 0; w->async && t < MAX_THREADS; t++)
        w->async[t].n = 0;
    w->async_used = 0;
}

void cp_async_commit(struct worker *w)
{
    struct async *a = mine(w);
    a->group++;
    if (async_mode_now() == ASYNC_RANDOM)
        finish(w, a, a->group - (1u << 30));
}

void cp_async_wait(struct worker *w, uint32_t pending)
{
    struct async *a = mine(w);
    finish(w, a, pending < 1u << 30 ? a->group - pending : 0);
}

void cp_async_wait_all(struct worker *w)
{
    struct async *a = mine(w);
    finish(w, a, a->group + 1);
}
