/* cp.async: copies from global to shared memory that the thread does not wait for until it says so.
 *
 * When a copy takes effect is CUDACPU_ASYNC's choice. `late`: when the thread waits for its group;
 * only then is the source read, and until then the destination holds bytes of 0xff, which are NaN.
 * `early`: when it is issued. `random`: at one or the other, or at any instruction here in between
 * that the thread executes; CUDACPU_SEED chooses. A kernel that reads what it has not waited for,
 * or that writes to the source of a copy in flight, differs in one of them. What a thread never
 * waits for is copied when the block has ended. */
#include "handler.h"

#include <stdlib.h>
#include <string.h>

enum mode { LATE, EARLY, RANDOM };

struct copy {
    char *to;
    const char *from;
    unsigned bytes, read; /* to write, and of them those that are read; the others become 0 */
    unsigned group;       /* counted by the thread */
};

/* The copies of one thread that have not taken effect, in the order of their issue. */
struct async {
    struct copy *copy;
    int n, room;
    unsigned group; /* the one that is open */
};

static enum mode mode(void)
{
    static int chosen = -1; /* the same for all who find it out at the same time */
    if (chosen < 0) {
        const char *s = getenv("CUDACPU_ASYNC");
        if (!s || !*s || strcmp(s, "late") == 0)
            chosen = LATE;
        else if (strcmp(s, "early") == 0)
            chosen = EARLY;
        else if (strcmp(s, "random") == 0)
            chosen = RANDOM;
        else
            give_up(2, "CUDACPU_ASYNC is \"%s\": need late, early or random", s);
    }
    return (enum mode)chosen;
}

/* True one time in eight. Does not touch the random numbers of the order of threads. */
static int chance(struct worker *w)
{
    w->async_random = w->async_random * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
    return w->async_random >> 61 == 0;
}

static void take_effect(const struct copy *c)
{
    memcpy(c->to, c->from, c->read);
    memset(c->to + c->read, 0, c->bytes - c->read);
}

/* Lets the copies of groups before `group` take effect, and in random mode some of the others. */
static void finish(struct worker *w, struct async *a, unsigned group)
{
    int left = 0, random = mode() == RANDOM;
    for (int k = 0; k < a->n; k++)
        if ((int)(a->copy[k].group - group) < 0 || (random && chance(w)))
            take_effect(&a->copy[k]);
        else
            a->copy[left++] = a->copy[k];
    a->n = left;
}

static struct async *mine(struct worker *w)
{
    if (!w->async) {
        w->async = need_memory(calloc(MAX_THREADS, sizeof *w->async), "asynchronous copies");
        w->async_random = 1;
    }
    return &w->async[w->now];
}

/* What nobody has waited for takes effect, unless the block has failed. */
static void block_ends(struct worker *w, int failed)
{
    for (int t = 0; t < w->size; t++) {
        struct async *a = &w->async[t];
        if (failed)
            a->n = 0;
        w->now = (unsigned)t; /* a fault is that thread's */
        threadIdx = w->index[t];
        finish(w, a, a->group + 1);
    }
}

static void issue(struct worker *w, struct copy c)
{
    struct async *a = mine(w);
    if (!w->block_ends) { /* the first of this block */
        w->block_ends = block_ends;
        w->async_random = (w->launch->seed + 1) * 0x9e3779b97f4a7c15u ^
                          ((uint64_t)blockIdx.z << 42 ^ (uint64_t)blockIdx.y << 21 ^ blockIdx.x);
    }
    if (mode() == RANDOM)
        finish(w, a, a->group - (1u << 30));
    if (mode() == EARLY || (mode() == RANDOM && chance(w))) {
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

/* Operands: to, from, bytes; then how many of them to read, or a predicate that says to read none,
 * and a cache policy. */
void ptx_cp_async(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const int lane = (int)w->now % WARP;
    const struct thread *t = &w->threads[w->now];
    const uint64_t bytes = ptx_get(&i->operand[2], reg);
    uint64_t read = bytes;
    if (bytes != 16 && (ptx_has(i, PTX_M_cg) || (bytes != 4 && bytes != 8)))
        fault_stop(w, cudaErrorLaunchFailure,
                   "%s:%d: thread %d (lane %d): %s of %lld bytes: need %s", t->file, t->line,
                   (int)w->now, lane, i->text, (long long)bytes,
                   ptx_has(i, PTX_M_cg) ? "16" : "4, 8 or 16");
    if (strstr(i->form->operands, "pred"))
        read = ptx_true(&i->operand[3], reg) ? 0 : bytes;
    else if (strstr(i->form->operands, "b32"))
        read = (uint32_t)ptx_get(&i->operand[3], reg);
    if (read > bytes)
        fault_stop(w, cudaErrorLaunchFailure,
                   "%s:%d: thread %d (lane %d): %s of %lld bytes is to read %lld: at most as many",
                   t->file, t->line, (int)w->now, lane, i->text, (long long)bytes, (long long)read);
    struct copy c = {.bytes = (unsigned)bytes, .read = (unsigned)read};
    c.to = ptx_pointer(w, lane, i, PTX_SHARED, ptx_address(&i->operand[0], reg), bytes);
    c.from = ptx_pointer(w, lane, i, PTX_GLOBAL, ptx_address(&i->operand[1], reg), bytes);
    TRACE(async_issue(w, lane, c.to, c.from, c.bytes, c.read));
    issue(w, c);
}

void ptx_cp_async_commit(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    (void)i, (void)reg;
    struct async *a = mine(w);
    TRACE(async_commit(w, (int)w->now % WARP));
    a->group++;
    if (mode() == RANDOM)
        finish(w, a, a->group - (1u << 30));
}

/* Waits until at most so many of the latest groups are pending; without a number for all, also for
 * what is in no group yet. */
void ptx_cp_async_wait(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    struct async *a = mine(w);
    int all = i->n == 0;
    uint32_t pending = all ? 0 : (uint32_t)ptx_get(&i->operand[0], reg);
    TRACE(async_wait(w, (int)w->now % WARP, all ? -1 : (int)pending));
    finish(w, a, all ? a->group + 1 : pending < 1u << 30 ? a->group - pending : 0);
}
