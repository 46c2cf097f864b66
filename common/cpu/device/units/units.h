/* Units of the hardware that go on by themselves when an instruction has started them: asynchronous
 * copies, bulk copies, mbarriers. */
#ifndef UNITS_H
#define UNITS_H

#include "device/device.h"

/* --- async_copies.c --------------------------------------------------------------------------- */
/* When what is asynchronous takes effect: CUDACPU_ASYNC. */
enum async_mode { ASYNC_LATE, ASYNC_EARLY, ASYNC_RANDOM };
enum async_mode copies_mode(void);
/* True one time in eight. Does not touch the random numbers of the order of threads. */
int copies_chance(struct worker *w);
/* Asynchronous copies of the running thread, as PTX has them: `read` of the bytes are copied, the
 * others become 0. A wait leaves out the latest `pending` groups. */
void copies_issue(struct worker *w, void *to, const void *from, unsigned bytes, unsigned read);
void copies_commit(struct worker *w);
void copies_wait(struct worker *w, uint32_t pending);
void copies_wait_all(struct worker *w); /* also for those in no group yet */
/* The number of the running thread's open group: those that are committed have smaller ones. */
unsigned copies_open(struct worker *w);
/* One of its copies that are under way is no longer this file's. False: there is none. */
struct copied {
    char *to;
    const char *from;
    unsigned bytes, read, group;
};
int copies_hand_over(struct worker *w, struct copied *c);
void copies_end_block(struct worker *w); /* what nobody has waited for takes effect */
void copies_forget(struct worker *w);    /* after a fault: it never does */

/* --- mbarriers.c ------------------------------------------------------------------------------ */
/* The mbarrier at an address, or NULL. A pointer is good until the next is made or taken away. */
struct mbarrier *phases_find(struct worker *w, uint32_t at);
struct mbarrier *phases_of(struct worker *w, int id); /* the one that has the number, or NULL */
void phases_make(struct worker *w, uint32_t at, int arrivals);
void phases_take_away(struct worker *w, struct mbarrier *m);
/* More bytes are announced, or less when some have come; so many threads have arrived. */
void phases_expect(struct worker *w, struct mbarrier *m, int64_t bytes);
void phases_arrive(struct worker *w, struct mbarrier *m, int arrivals);
/* Whether the latest phase of this parity is complete. */
int phases_complete(const struct mbarrier *m, unsigned parity);
/* All threads wait. True: some go on, as their try_wait has waited long enough. */
int phases_expire(struct worker *w);
/* What there is to know of one, in a line: its name, its phase, what that lacks. */
void phases_tell(const struct worker *w, const struct mbarrier *m, char *text, size_t size);
/* Tells in each thread that waits what it waits for. True: there are some. */
int phases_describe(struct worker *w);
void phases_block(struct worker *w); /* a block begins, and has none */

/* --- bulk_copies.c ---------------------------------------------------------------------------- */
/* Bulk copies of the running thread: a load that counts for an mbarrier; a store to the array, or
 * an addition to it, in the thread's open group. `op` is what check calls it. */
struct box;
void flights_load(struct worker *w, const struct box *b, uint32_t tile, struct mbarrier *m, int op);
void flights_store(struct worker *w, const struct box *b, uint32_t tile, int adds, int op);
/* A copy by cp.async of the running thread that counts for an mbarrier from now on; and what it
 * has waited for itself, by groups below `group`. */
void flights_copy(struct worker *w, const struct copied *c, struct mbarrier *m);
void flights_copied(struct worker *w, unsigned group);
void flights_commit(struct worker *w);
/* Waits for all of the thread's groups but the latest `pending`: until the tiles are read, or until
 * the arrays are written as well. Returns how many of those groups are under way still. */
int flights_wait(struct worker *w, uint32_t pending, int read_only);
/* Lets the loads for an mbarrier arrive, if its phase is complete then. */
void flights_bring(struct worker *w, struct mbarrier *m);
/* In random mode, some of all that are under way go on; else nothing happens. */
void flights_go_on(struct worker *w);
void flights_end_block(struct worker *w); /* what nobody has waited for takes effect */
void flights_forget(struct worker *w);    /* after a fault: it never does */

#endif
