/* Hardware units that work on their own after an instruction has started them: asynchronous
 * copies, bulk copies, mbarriers. */
#ifndef UNITS_H
#define UNITS_H

#include "device/device.h"

/* --- async_copies.c --------------------------------------------------------------------------- */
/* When asynchronous operations take effect: CUDACPU_ASYNC. */
enum async_mode { ASYNC_LATE, ASYNC_EARLY, ASYNC_RANDOM };
enum async_mode copies_mode(void);
/* True one time in eight. Leaves the random numbers that order threads alone. */
int copies_chance(struct worker *w);
/* cp.async copies of the running thread: `read` of the bytes are copied, the rest becomes 0. A
 * wait does not wait for the latest `pending` groups. */
void copies_issue(struct worker *w, void *to, const void *from, unsigned bytes, unsigned read);
void copies_commit(struct worker *w);
void copies_wait(struct worker *w, uint32_t pending);
void copies_wait_all(struct worker *w); /* also for copies in no group yet */
/* The number of the running thread's open group. Committed groups have smaller numbers. */
unsigned copies_open(struct worker *w);
/* Takes one copy in flight off the running thread. Returns false if there is none. */
struct copied {
    char *to;
    const char *from;
    unsigned bytes, read, group;
};
int copies_hand_over(struct worker *w, struct copied *c);
void copies_end_block(struct worker *w); /* copies that nobody has waited for take effect */
void copies_forget(struct worker *w);    /* after a fault: copies never take effect */

/* --- mbarriers.c ------------------------------------------------------------------------------ */
/* The mbarrier at an address, or NULL. The pointer is valid until an mbarrier is made or taken
 * away. */
struct mbarrier *phases_find(struct worker *w, uint32_t at);
struct mbarrier *phases_of(struct worker *w, int id); /* the mbarrier with that id, or NULL */
void phases_make(struct worker *w, uint32_t at, int arrivals);
void phases_take_away(struct worker *w, struct mbarrier *m);
/* Announces more bytes, or fewer if some have arrived. phases_arrive: so many threads have
 * arrived. */
void phases_expect(struct worker *w, struct mbarrier *m, int64_t bytes);
void phases_arrive(struct worker *w, struct mbarrier *m, int arrivals);
/* True if the latest phase of this parity is complete. */
int phases_complete(const struct mbarrier *m, unsigned parity);
/* All threads wait. Returns true if some go on, as their try_wait has waited long enough. */
int phases_expire(struct worker *w);
/* Describes an mbarrier in a line: its name, its phase, and what the phase lacks. */
void phases_tell(const struct worker *w, const struct mbarrier *m, char *text, size_t size);
/* Gives each waiting thread a text of what it waits for. Returns false if no thread waits. */
int phases_describe(struct worker *w);
void phases_block(struct worker *w); /* a block begins, without mbarriers */

/* --- bulk_copies.c ---------------------------------------------------------------------------- */
/* Bulk copies of the running thread. A load counts for an mbarrier. A store, or an addition to
 * the array, is in the thread's open group. `op` is check's number of the operation. */
struct box;
void flights_load(struct worker *w, const struct box *b, uint32_t tile, struct mbarrier *m, int op);
void flights_store(struct worker *w, const struct box *b, uint32_t tile, int adds, int op);
/* flights_copy: a cp.async copy of the running thread, which counts for an mbarrier from now on.
 * flights_copied: the thread has waited for its own copies of groups below `group`. */
void flights_copy(struct worker *w, const struct copied *c, struct mbarrier *m);
void flights_copied(struct worker *w, unsigned group);
void flights_commit(struct worker *w);
/* Waits for all groups of the thread but the latest `pending`: until their tiles are read or,
 * without read_only, until the arrays are written too. Returns how many of the `pending` groups
 * are still in flight. */
int flights_wait(struct worker *w, uint32_t pending, int read_only);
/* Lets the loads for an mbarrier arrive, if that completes its phase. */
void flights_bring(struct worker *w, struct mbarrier *m);
/* In random mode, some of all copies in flight go on; otherwise nothing happens. */
void flights_go_on(struct worker *w);
void flights_end_block(struct worker *w); /* copies that nobody has waited for take effect */
void flights_forget(struct worker *w);    /* after a fault: copies never take effect */

#endif
