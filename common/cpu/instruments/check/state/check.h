/* Declarations that the files of `check` share. */
#pragma once

#include "device/device.h"

#include "cpu/trace.h"
#include "instruments/front/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum rule {
#define RULE(id, ...) id,
#include "instruments/check/state/rules.h"
#undef RULE
    RULES,
    NO_RULE = RULES
};
/* COPY_APART: a copy whose start nothing orders with the access on the other side. From COPY_READS
 * on: work of streams that is no launch, and the host. STAGED: a write that may still be under
 * way when its call returns, though the call has no Async in its name. CALL: of a host
 * function. */
enum kind {
    READ,
    WRITE,
    ATOMIC,
    COPY,
    WGMMA,
    COPY_APART,
    COPY_READS,
    COPY_WRITES,
    COPY_STAGED,
    SETS,
    SETS_STAGED,
    ALLOCATES,
    FREES,
    LIBRARY_READS,
    LIBRARY_WRITES,
    CALL_READS,
    CALL_WRITES,
    HOST_READS,
    HOST_WRITES
};

/* A variable or an allocation. */
struct object {
    uintptr_t p;
    size_t bytes;
    const char *name; /* NULL: it is named by the place that allocated it */
    const char *what; /* "shared memory", "allocated", "__device__" */
    uint32_t site;    /* of allocations */
    int freed, host;  /* host: it may write there, and nobody sees when */
    int device;       /* out of the host's reach */
    int managed;      /* in that of both */
    int marked;       /* may hold other bytes than unwritten_byte that count as never written */
};

/* One side of a finding. */
struct side {
    enum kind kind;
    uint32_t code;
    int thread;     /* counted through the block */
    uint64_t block; /* counted through the grid */
};

/* --- findings.c: what was found, until it is reported ----------------------------------------- */

/* Notes one more of these, and returns its number. `first` is the side that came earlier, in a
 * race; `text` is kept. */
int finding_add(enum rule rule, const struct cpu_kernel *kernel, const struct side *sides, int n,
                unsigned bytes, const struct object *object, uintptr_t p, const char *text);
/* The end of its line, after a comma: a constant. */
void finding_why(int finding, const char *why);
/* Of a pending copy: the last wait of its thread, which left it in flight, with the latest `left`
 * groups, or came BEFORE_THE_COPY; and where in which object the copy reads. */
enum { BEFORE_THE_COPY = -1 };
void finding_waited(int finding, uint32_t wait, int left, const struct object *source, uintptr_t p);
/* The code `read` has read at p, where nothing was written, and now it is written. */
void finding_written_later(uint32_t read, uintptr_t p, unsigned bytes, const struct side *writer);
/* "thread (1,0,0)": the number i of a grid or block of that shape. */
void finding_put_index(FILE *out, const char *name, uint64_t i, uint3 n);
/* A finding is being added; the signal that came then, and is to come again. */
extern volatile int findings_change, findings_signal;
extern int findings_interrupted; /* the last line says so */
/* How many there are; forgets those behind the first n. */
int findings_count(void);
void findings_cut(int n);
/* Those of this process: forgets them; sends its races, or all that count, to another one; takes in
 * what a copy of it has sent, as found in a second order. With declared, a number of bytes, it was
 * found where dynamic shared memory has no more than that alignment: the first one makes a warning.
 */
void findings_drop(void);
void findings_send(int to, int all);
void findings_receive(const char *text, size_t n, size_t declared);
extern int kernels_ran;        /* or there was nothing to find */
int findings_report(void);     /* reports what is left, and returns how many findings */
void findings_end(void);       /* reports what is left; the program ends with 1 if there is any */
int findings_print(FILE *out); /* these two: cpu/trace.h */
int findings_of(const char *class_name);
int is_finding(const char *class_name); /* 0: a warning */

/* --- shadow.c: shadow memory, and which bytes are written ------------------------------------- */

/* Addresses for allocations; none is used twice. Their shadow memory takes nine times as many, and
 * on an aarch64 a process may have no more than 2^39. */
#ifdef __aarch64__
#define REGION ((uint64_t)1 << 35)
#else
#define REGION ((uint64_t)1 << 38)
#endif
#define IMAGE ((uint64_t)1 << 28) /* for the program's own variables */
#define IMAGE_AT REGION
#define ARENA_AT (REGION + IMAGE)
enum { PAGE = 4096 };

/* An access as the shadow memory keeps it: code 24 bits, thread 10, bytes of the cell 4, atomic 1,
 * time 25. 0 is none. */
typedef uint64_t shadow_entry;
static const shadow_entry ALL_BYTES = (shadow_entry)15 << 34;
struct shadow_cell {
    shadow_entry write, read[2];
};

extern uintptr_t region;
extern size_t region_used;
extern struct shadow_cell *shadow;
/* For each shadow cell the last read by ld.global.nc, with all bytes that such reads of the launch
 * had. */
extern shadow_entry *cached_reads;
extern uint8_t *written;               /* a bit for each byte */
extern uint32_t *owner;                /* of each page of the region, an index into objects */
extern uint8_t in_variable[ARENA / 8]; /* a bit for each byte of shared memory */
extern struct object *objects;         /* 0 is none; then allocations and __device__ variables */
extern int n_objects;

/* The array of n elements, with room for one more: lengths double. */
void *grown(void *array, int n, size_t size);
/* The bits of n bytes, at most 16. */
static inline unsigned bits_at(const uint8_t *bits, uint64_t at, unsigned n)
{
    uint32_t word;
    memcpy(&word, bits + at / 8, sizeof word);
    return word >> at % 8 & ((1u << n) - 1);
}

/* The allocation that holds p, or the one whose pages p lies on, or NULL. */
static inline struct object *object_at(uintptr_t p)
{
    uint32_t i = p - region < region_used ? owner[(p - region) / PAGE] : 0;
    return i ? &objects[i] : NULL;
}

/* The address that the shadow cell at `at` is for. */
static inline uintptr_t address_of(int64_t at)
{
    return (uint64_t)at < IMAGE_AT ? region + (uintptr_t)at
                                   : (uintptr_t)__executable_start + (uintptr_t)at - IMAGE_AT;
}

/* The allocation that p lies in or beside: the nearest. */
const struct object *object_near(uintptr_t p);
const struct object *object_of(uintptr_t p);    /* the same, or the variable; NULL: none */
extern int n_registered;                        /* ranges of memory for the next function */
int is_registered(uintptr_t p, unsigned bytes); /* of the host, and given to kernels */
struct object registered_at(uintptr_t p);       /* such a range; .what is NULL for none */
void set_bits(uint8_t *bits, uint64_t at, uint64_t n, int value);
void host_writes(uintptr_t p, size_t bytes); /* finds out what it has written there by now */
/* Finds out which of these bytes, of device memory or of a block (o is NULL), hold a value though
 * no store of one was seen. */
void memory_finds_stores(const struct object *o, uint64_t at, const void *p, size_t bytes);
enum { CODES = 1 << 24 };
extern uint8_t widths[CODES]; /* of the last store of 8 bytes or more at each place in the code */
const struct object *shared_at(uintptr_t p); /* the variable that holds p, or the one before it */
void memory_launch(void);                    /* no __shared__ variable is placed yet */
void memory_block(struct worker *w);         /* and nothing of them written */
/* The host reads or writes: a finding if only the device may, and then NULL. Else the allocation or
 * variable, or NULL if it is the host's own. */
const struct object *memory_host_access(uintptr_t p, size_t bytes, int writes, uint32_t code);
/* Allocations that nobody has freed leak, but where a kernel was stopped. Whether none was. */
int memory_leaks(void);
void memory_broken(void); /* a kernel was stopped: from then on nothing can be freed */
void memory_mark_unwritten(void *p, size_t bytes); /* these two: cpu/trace.h */
void memory_name(void *p, const char *name);

/* --- unread.c: memory that nobody reads ------------------------------------------------------- */

int unread_wanted(void);
void unread_block_ended(void);
void unread_block_begins(const struct worker *w);
void unread_launch_ended(void);
int unread_memory(const void *p, size_t bytes, uint8_t *marks); /* cpu/trace.h */

/* --- events.c, beside.c: how a run differs from a recorded one -------------------------------- */

extern int events_wanted; /* less than 0: not known yet */
enum event_value {
    EVENT_NEXT,      /* a store's value is in memory when the next event comes */
    EVENT_WITH_LAST, /* and so are those of the stores before, which are made with this one */
    EVENT_UNKNOWN    /* a copy that comes later */
};
void events_launch(void);
void events_block(uint64_t number);
void events_block_ends(void);
/* o: what p lies in. */
void events_access(int thread, enum kind kind, uint32_t code, uintptr_t p, size_t bytes,
                   const struct object *o, enum event_value value);
/* Inline PTX, before it is executed. */
void events_statement(int thread, uint32_t code, const char *text, const char *constraints,
                      const uint64_t *registers);
void events_warp(const struct worker *w, int warp, enum cpu_op op, unsigned mask);
void beside_end(void); /* writes the record, or compares with it */

/* --- order.c: what comes before what ---------------------------------------------------------- */

/* A thread's vector clock, beyond what its warp has in common. known[t]: what thread t did before
 * that time happens before this thread's next access. fenced[space][t]: the same, with a
 * fence.proxy.async of shared (0) or global (1) memory between. phases[m]: how many phases of
 * mbarrier m the thread knows to be complete. */
enum { MBARRIERS = 256 };
struct vector_clock {
    uint32_t known[MAX_THREADS], fenced[2][MAX_THREADS], phases[MBARRIERS];
};

extern struct ordering {
    const struct cpu_kernel *kernel; /* of the launch */
    uint64_t block;                  /* that runs */
    uint32_t now, launch_start, block_start, barrier_end;
    uint32_t turn_start; /* since then only this block has run */
    int apart;           /* a block of the launch has been set aside */
    uint32_t rounds;     /* how often time has begun anew */
    int synced, marked;  /* the launch has made a fence or a release; an access of strong_note */
    int record;          /* of the block, in release.c; -1: it has neither released nor acquired */
    int named;           /* the block has met at a named barrier */
    uint32_t grid_start; /* the grid's last barrier, or the launch's start */
    int cached;          /* the launch has made a ld.global.nc */
    uint32_t early;      /* when the first of the launches began that may still run; 0: none may */
    /* Everything that a warp did before time sees[other][warp] happens before what `other` does
     * now; likewise for lanes of a warp. */
    uint32_t sees[MAX_WARPS][MAX_WARPS], (*lane_sees[MAX_WARPS])[WARP];
    struct vector_clock *clock[MAX_THREADS]; /* or NULL: it has that of its warp */
} order;

extern uint32_t statement[MAX_THREADS]; /* the code of each thread's last statement of inline PTX */

/* The thread of a lane of the running thread's warp. */
static inline int thread_at(const struct worker *w, int lane)
{
    return (int)(w->now / WARP * WARP) + lane;
}

/* The least entry of that time. */
static inline shadow_entry at_time(uint32_t when)
{
    return (shadow_entry)when << 39;
}
static inline uint32_t when_of(shadow_entry e)
{
    return (uint32_t)(e >> 39);
}
static inline int thread_of(shadow_entry e)
{
    return (int)(e >> 24 & 1023);
}
static inline int is_atomic(shadow_entry e)
{
    return e >> 38 & 1;
}
static inline uint32_t code_in(shadow_entry e)
{
    return (uint32_t)e & 0xffffff;
}
/* The bytes of the cell that both accesses touch, a bit for each. */
static inline unsigned common_bytes(shadow_entry a, shadow_entry b)
{
    return (a & b) >> 34 & 15;
}
static inline shadow_entry entry_of(int thread, uint32_t code, int atomic)
{
    return (shadow_entry)order.now << 39 | (shadow_entry)atomic << 38 | (shadow_entry)thread << 24 |
           (code & 0xffffff);
}

int order_own(shadow_entry e);
/* Whether the block that runs has made e, which is of this launch. */
static inline int is_own(shadow_entry e)
{
    return when_of(e) >= order.turn_start || (order.apart && order_own(e));
}

/* Within the block: whether e happens before what thread `me` does now. */
static inline int happens_before(shadow_entry e, int me)
{
    int its = thread_of(e);
    uint32_t when = when_of(e);
    if (its == me || when < order.barrier_end || when < order.sees[me / WARP][its / WARP])
        return 1;
    if (order.clock[me] && when < order.clock[me]->known[its])
        return 1;
    return me / WARP == its / WARP && order.lane_sees[me / WARP] &&
           when < order.lane_sees[me / WARP][me % WARP][its % WARP];
}

uint64_t order_block_of(shadow_entry e);
/* Whether e was made by a launch in front that need not have ended for what `me` does now. */
int order_unfinished(shadow_entry e, int me);
void order_launch(const struct cpu_kernel *kernel);
void order_block(uint64_t place); /* begins, or goes on after a barrier of the grid */
void order_tick(void);            /* time goes on */
void order_ticks(int n);          /* time does not begin anew within the next n ticks */
void order_join(int barrier); /* the hooks of a barrier and of a warp operation call these three */
void order_barrier(struct worker *w, int barrier);
void order_warp(struct worker *w, int warp, unsigned mask);
int order_record_of(shadow_entry e); /* of the block that has made e */
void order_recorded(int record);     /* the block that runs has it now */
/* The block that runs is set aside, and goes on. The second is 0 where time has begun anew, and
 * nothing is known of what was before. */
struct order_kept *order_take(void);
int order_give(struct order_kept *kept);

/* --- release.c: order by fences and atomics --------------------------------------------------- */

void order_fence(int thread, enum cpu_scope scope); /* the thread makes one */

/* Whether e happens before what thread `me` does now, by releases and acquires between blocks. */
int order_released(shadow_entry e, int me);
/* Whether the thread has found what was released after e, with no fence since. */
int order_observed(shadow_entry e, int me);
/* A thread makes a strong access. Returns whether it releases something to other blocks. */
int order_strong(int thread, uintptr_t at, enum kind kind, int flags);
/* The thread has made no strong write since its last fence, or no fence at all. */
int order_follows_fence(int thread);
/* A strong write, or an atomic, is about to be made at p by the thread; at: of the shadow cell,
 * counted in bytes; flags: of enum trace_order. */
void order_atomic(int thread, uintptr_t at, const void *p, unsigned bytes, enum kind kind,
                  int flags);
/* A strong load; returns where it finds its value. */
const void *order_poll(int thread, uintptr_t at, const void *p, unsigned bytes, int flags);
/* The thread has read the place since e, strongly, and has then made a fence. */
int order_has_read(int thread, uintptr_t at, shadow_entry e);
void order_overwritten(uintptr_t at); /* by a write that is not strong */
/* A thread is about to write, or has written, memory that the host reaches; adds: by an atomic. */
void order_tells_host(int thread, uintptr_t at, int adds, int flags);
/* The host has read what e wrote there, in a way that tells it what came before. 0: what that was
 * is not known (any more), as a launch runs or another one has begun. */
int order_host_reads(uintptr_t at, shadow_entry e);
/* Of the launch that has made e: whether the host has read so; whether it knows e by that. */
int order_host_has_read(shadow_entry e);
int order_host_knows(shadow_entry e);
void release_launch(void);
void release_launch_ends(void);
void release_block(void); /* the block that ran has ended */
struct releases *release_take(void);
void release_give(struct releases *given);

/* --- shadow.c: strong accesses that are not of the usual kind --------------------------------- */

/* Of a strong access: its size, a power of 2, and flags of enum trace_order. */
static inline int strong_what(int bytes, int flags)
{
    return __builtin_ctz((unsigned)bytes) | (flags & TRACE_BLOCK_SCOPE ? 8 : 0) |
           (flags & TRACE_VOLATILE ? 16 : 0);
}
/* STRONG_FLAG: a write that order_follows_fence. */
enum { STRONG_SIZE = 7, STRONG_OF_BLOCK = 8, STRONG_VOLATILE = 16, STRONG_FLAG = 32 };
int strong_of(int64_t at, shadow_entry e);
void strong_note(int64_t at, shadow_entry e, int what);
/* A thread has found the same value there twice in a row: it is a flag. */
void strong_poll(int64_t at);
int strong_polled(int64_t at);
/* A strong write takes the place of a write that is not strong: others need an order with that one
 * all the same. strong_hides: there was one in this launch. */
extern int strong_hides;
void strong_hide(int64_t at, shadow_entry weak);
shadow_entry strong_hidden(int64_t at); /* 0: none */
void strong_launch(void);

/* --- unwritten.c: copies of memory that nobody has written ------------------------------------ */

void unwritten_allowed(int asked); /* cpu/trace.h */
/* Whether those of up to 4 words at `at` of the shadow memory that have a bit are padding of a
 * structure. o: their allocation, or NULL in shared memory. */
int unwritten_is_padding(const struct object *o, uint64_t at, unsigned words);

/* --- handles.c: streams, events and graphs -------------------------------------------------------
 */

void handles_leak(void); /* those that are lost, and all are forgotten */

/* --- streams.c: which work of other streams comes before this one ----------------------------- */

extern int launch_beside;       /* there is work that the launch does not know to be done */
extern int streams_beside_host; /* there is work that the host does not know to be done */
extern int streams_ages;   /* how often time has begun anew, and all earlier work was forgotten */
int streams_work(void);    /* work of the current stream begins now; returns the stream */
void streams_launch(void); /* the same of a launch, whose accesses will be in shadow cells */
/* Whether e was made by a launch that need not have ended when the launch that runs begins; when
 * other work of the current stream begins; when the host does what it does now. */
int stream_unordered(shadow_entry e);
int stream_unordered_with_work(shadow_entry e);
int stream_unordered_with_host(shadow_entry e);
/* Whether the current stream, or the host, knows that what `stream` began at that time is done. */
int stream_knows(int stream, uint32_t when);
int host_knows(int stream, uint32_t when);
/* When the oldest work may have begun that the current stream, or the host, does not know to be
 * done; 0: there is none. */
uint32_t streams_beside(void);
uint32_t streams_beside_the_host(void);
uint64_t stream_learned(int stream); /* how often somebody has learned what it has done */
/* The host has read what e wrote, in a way that tells it what came before; it knows all that the
 * current stream does. */
void streams_host_learns(shadow_entry e, uintptr_t at);
void streams_host_knows_current(void);

extern int child_windows; /* kernels above the one that runs */
/* Whether e was made by one of them after it had launched what led to this one. */
int child_unordered(shadow_entry e);

/* --- ranges.c: copies, memsets, allocations and frees as work of streams; the host -------------
 */

struct stream_work {
    enum kind kind;
    uint32_t code;
};
extern int ranges_beside; /* how many copies and the like are not known to the launch to be done */
void ranges_launch(void); /* a launch begins in the current stream: counts them */
/* The first of them that the launch races with by an access to these bytes, or NULL. */
const struct stream_work *ranges_race(uintptr_t p, unsigned bytes, int writes);
/* The host accesses memory that kernels and copies reach as well: o, or NULL if it is registered.
 */
void ranges_host(uintptr_t p, size_t bytes, int writes, uint32_t code, const struct object *o);
void ranges_end(void);                           /* reports what was deferred */
void ranges_host_strong(uintptr_t p, int reads); /* the same, by an atomic or a volatile access */

/* --- clocks.c: vector clocks of single threads ------------------------------------------------ */

/* Whether a fence of that space, 0 shared or 1 global, lies between e and what `me` does now. */
int clock_fenced(shadow_entry e, int me, int space);
/* An mbarrier's vector clock takes in a thread's, which arrives; one that has waited takes in the
 * mbarrier's. */
void clock_release(struct vector_clock *to, int thread);
void clock_acquire(int thread, const struct vector_clock *from);
void clock_merge(struct vector_clock *to, const struct vector_clock *from);
/* How many phases of an mbarrier the thread knows to be complete. */
uint32_t clock_phases(int thread, int mbarrier);
void clocks_block(struct worker *w);
void clock_known(uint32_t *to, int thread); /* raises it to what the thread knows */
/* Raises what a thread knows of fences of proxies and of phases. */
void clock_carry(struct vector_clock *to, int thread);
struct clocks *clocks_take(void);
void clocks_give(struct worker *w, struct clocks *given);
struct vector_clock *clock_new(void); /* of one for whom nothing has happened */
void clock_drop(struct vector_clock **c);

/* --- named.c: named barriers, 1 to 15, that two groups of threads share ---------------------- */

void named_join(const struct worker *w, int barrier);  /* the running thread is about to arrive */
void named_opens(const struct worker *w, int barrier); /* the running thread opens it */
/* The running thread comes to a barrier for another number of threads than those before it. */
void named_differs(unsigned barrier, const char *text);
void named_forget(void); /* a block begins */
int named_told(void);    /* a finding of this block */
struct named *named_take(void);
void named_give(struct named *given);

/* --- shuffles.c: shuffles that read a lane which does not take part --------------------------- */

extern int undefined_lanes; /* of the block: how many hold what came of one */
void shuffles_block(void);
void shuffles_stored(int thread, uint32_t code); /* the thread is about to store or to change */

/* --- locals.c: arrays of threads, elements of which are unwritten ----------------------------- */

extern int locals_noted; /* an unwritten element was read, and what comes next says what for */
void locals_next(const struct worker *w, int thread, enum kind kind, uintptr_t p, unsigned bytes);
void locals_end(void);            /* nothing comes next */
extern uint8_t *locals_unwritten; /* a bit for each byte of the stacks; NULL: none is */
static inline int is_on_stack(const struct worker *w, uintptr_t p)
{
    return p - (uintptr_t)w->stacks < (uintptr_t)MAX_THREADS * FIBER_STACK;
}
/* An access to the stacks: whether any of its bytes is unwritten; and such an access. */
static inline unsigned locals_bits(const struct worker *w, uintptr_t p, unsigned bytes)
{
    return locals_unwritten ? bits_at(locals_unwritten, p - (uintptr_t)w->stacks, bytes) : 0;
}
void locals_touched(const struct worker *w, int thread, enum kind kind, uintptr_t p, unsigned bytes,
                    uint32_t code);
void locals_block(void); /* begins */
void locals_broken(void);

/* --- async/copies.c: copies that are issued and not waited for -------------------------------- */

extern int pending_copies;
/* A thread accesses 1, 2 or 4 bytes of the shadow cell at `at`. */
void pending_touched(int thread, int64_t at, uintptr_t p, unsigned bytes, enum kind kind,
                     uint32_t code);
/* to, from: of shadow cells, counted in bytes, or -1 where there is none. */
void pending_issue(int thread, uint32_t code, int64_t to, unsigned bytes, int64_t from,
                   uintptr_t source, unsigned read);
/* The thread's pending copies become an operation that an mbarrier brings. 0: there are none. */
int pending_hand_over(int thread);
void pending_block(void);  /* the block has ended */
void pending_broken(void); /* it is stopped, and which waits would have come is open */

/* --- async/proxy.c: what bulk copies and wgmma do with memory --------------------------------- */

extern int proxy_used; /* by the block that runs */
/* As pending_touched: an ordinary access of that thread. */
void proxy_touched(int thread, int64_t at, uintptr_t p, unsigned bytes, enum kind kind,
                   uint32_t code);
int proxy_issue(int thread, uint32_t code, enum proxy_what what);
struct side proxy_side(int op);
/* 4 bytes, or what of them the operation reads or writes. */
void proxy_reads(int op, int64_t at, uintptr_t p, unsigned bytes);
void proxy_writes(int op, int64_t at, uintptr_t p, unsigned bytes, int atomic);
/* The operation is done when that phase of the mbarrier is complete. */
void proxy_brings(int op, int mbarrier, uint32_t phase);
/* The operation is to write a piece of shared memory, as a copy of `group` by cp.async: accesses
 * before it are checked. The second: its thread has waited for all its groups below `group`. */
void proxy_takes(int op, int64_t at, unsigned bytes, uint64_t group);
void proxy_copied(int thread, uint64_t group);
void proxy_reported(int op); /* the cause of its missing wait is reported */
/* A thread asks for a parity of an mbarrier, at p, of which so many phases are complete; `idle` if
 * it is answered at once, and learns nothing. Somebody has found so many phases complete. */
void proxy_waits(int thread, int mbarrier, shadow_entry e, unsigned parity, int idle,
                 uint32_t phase, uintptr_t p);
/* The thread arrives at an mbarrier or starts copies that count for it. */
void proxy_uses(int thread, int mbarrier);
/* The thread does something wrong there with an mbarrier, for which its copies have counted before.
 * If an idle wait of the thread is to blame, that is reported, and 1 returned. */
int proxy_blame(int thread, int mbarrier, uint32_t code);
/* The same where too many phases of an mbarrier are complete: if an idle wait has let copies of
 * them begin too early. */
int proxy_blame_refill(int mbarrier);
extern int proxy_blamed; /* a wait of the block is to blame for something */
void proxy_waited(int mbarrier, uint32_t phases);
void proxy_block(void); /* the block has ended */
void proxy_broken(void);

/* --- async/mbarriers.c: uses of mbarriers, which have the numbers that the block gives -------- */

void mbarriers_forget(void);

/* --- async/registers.c: the variables of wgmma, and setmaxnreg -------------------------------- */

/* The thread makes an access to its stack. */
void registers_touched(const struct worker *w, int thread, uintptr_t p, unsigned bytes,
                       enum kind kind, uint32_t code);
void registers_block(void); /* the block has ended */
void registers_broken(void);
/* A finding that is a text, once a place. */
void registers_report(enum rule rule, int thread, uint32_t code, const char *text);

/* --- second.c: a launch in a second order ----------------------------------------------------- */

void second_begins(struct launch *l); /* before anything of it is known */
void second_ends(const struct launch *l);

/* --- check.c ---------------------------------------------------------------------------------- */

void sums_in_order(int asked); /* cpu/trace.h */

/* --- stops.c ---------------------------------------------------------------------------------- */

/* An access is reported that may raise a signal when it is made. Whether the signal that stops the
 * kernel is one of those. */
void stops_expect(uintptr_t p, unsigned bytes);
int stops_expected(void);
void stops_catch(void); /* from now on a program that is interrupted tells what was found */

/* --- check.c, for faults.c -------------------------------------------------------------------- */

/* Each thread's last load or atomic: if it sleeps then, that is what it waits for. */
extern struct look {
    uintptr_t p;
    shadow_entry mine;
    unsigned bytes;
} looks[MAX_THREADS];
void races_end(void); /* reports the races that were deferred */
