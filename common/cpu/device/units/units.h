/* Hardware units that work on their own after an instruction has started them: asynchronous
 * copies, bulk copies, mbarriers. */
#pragma once

#include "device/device.h"

/* --- async_copies.c --------------------------------------------------------------------------- */
/* When asynchronous operations take effect: CUDACPU_ASYNC. */
enum async_mode { ASYNC_LATE, ASYNC_EARLY, ASYNC_RANDOM };
enum async_mode async_mode_now(void);
/* True one time in eight. Leaves the random numbers that order threads alone. */
int async_chance(struct worker *w);
/* cp.async copies of the running thread: `read` of the bytes are copied, the rest becomes 0. A
 * wait does not wait for the latest `pending` groups. */
void cp_async_issue(struct worker *w, void *to, const void *from, unsigned bytes, unsigned read);
void cp_async_commit(struct worker *w);
void cp_async_wait(struct worker *w, uint32_t pending);
void cp_async_wait_all(struct worker *w); /* also for copies in no group yet */
/* The number of the running thread's open group. Committed groups have smaller numbers. */
unsigned cp_async_open_group(struct worker *w);
/* Takes one copy in flight off the running thread. Returns false if there is none. */
struct copied {
    char *to;
    const char *from;
    unsigned bytes, read, group;
};
int cp_async_hand_over(struct worker *w, struct copied *c);
void cp_async_end_block(struct worker *w); /* copies that nobody has waited for take effect */
void cp_async_forget(struct worker *w);    /* after a fault: copies never take effect */

/* --- mbarriers.c ------------------------------------------------------------------------------ */
/* The mbarrier at an address, or NULL. The pointer is valid until an mbarrier is made or taken
 * away. */
struct mbarrier *mbarrier_find(struct worker *w, uint32_t at);
struct mbarrier *mbarrier_by_id(struct worker *w, int id); /* the mbarrier with that id, or NULL */
void mbarrier_init(struct worker *w, uint32_t at, int arrivals);
void mbarrier_inval(struct worker *w, struct mbarrier *m);
/* Announces more bytes, or fewer if some have arrived. mbarrier_arrive: so many threads have
 * arrived. */
void mbarrier_expect(struct worker *w, struct mbarrier *m, int64_t bytes);
void mbarrier_arrive(struct worker *w, struct mbarrier *m, int arrivals);
/* True if the latest phase of this parity is complete. */
int mbarrier_is_complete(const struct mbarrier *m, unsigned parity);
/* Describes an mbarrier in a line: its name, its phase, and what the phase lacks. */
void mbarrier_describe(const struct worker *w, const struct mbarrier *m, char *text, size_t size);
void mbarriers_begin_block(struct worker *w); /* a block begins, without mbarriers */

/* --- bulk_copies.c ---------------------------------------------------------------------------- */
/* Bulk copies of the running thread. A load counts for an mbarrier. A store, or an addition to
 * the array, is in the thread's open group. `op` is check's number of the operation. */
struct box;
void bulk_load(struct worker *w, const struct box *b, uint32_t tile, struct mbarrier *m, int op);
void bulk_store(struct worker *w, const struct box *b, uint32_t tile, int adds, int op);
/* bulk_adopt_cp_async: a cp.async copy of the running thread, which counts for an mbarrier from now
 * on. bulk_adopted_waited: the thread has waited for its own copies of groups below `group`. */
void bulk_adopt_cp_async(struct worker *w, const struct copied *c, struct mbarrier *m);
void bulk_adopted_waited(struct worker *w, unsigned group);
void bulk_commit(struct worker *w);
/* Waits for all groups of the thread but the latest `pending`: until their tiles are read or,
 * without read_only, until the arrays are written too. Returns how many of the `pending` groups
 * are still in flight. */
int bulk_wait(struct worker *w, uint32_t pending, int read_only);
/* Lets the loads for an mbarrier arrive, if that completes its phase. */
void bulk_deliver(struct worker *w, struct mbarrier *m);
/* In random mode, some of all copies in flight go on; otherwise nothing happens. */
void bulk_progress(struct worker *w);
void bulk_end_block(struct worker *w); /* copies that nobody has waited for take effect */
void bulk_forget(struct worker *w);    /* after a fault: copies never take effect */
