/* Definitions, for the file of an instrument that defines seen(): the functions that
 * -fsanitize=thread calls at each load and store, and those that kernels call in place of memcpy,
 * memmove and memset. */
#include "device/device.h"
#include "instruments/front/symbols.h"
#include "device/hooks.h"

#include <string.h>

/* The running thread reads (writes = 0) or writes memory. `from` is the return address in the
 * kernel; `frame` gives the depth of its stack. */
static inline void seen(struct worker *w, uintptr_t p, unsigned bytes, int writes, const void *from,
                        const void *frame);

/* The same of a volatile access. */
static inline void seen_volatile(struct worker *w, uintptr_t p, unsigned bytes, int writes,
                                 const void *from, const void *frame);

/* The host reads or writes memory outside of kernels; the second: a volatile variable. */
static void seen_of_host(uintptr_t p, size_t bytes, int writes, const void *from);
static inline void seen_volatile_of_host(uintptr_t p, int writes)
{
    TRACE_CHECK(host_atomic(p, !writes));
}

/* The four built-in variables are memory here, but registers on a GPU. */
static inline int is_builtin_variable(uintptr_t p)
{
    return p - (uintptr_t)&threadIdx < sizeof(uint3) || p - (uintptr_t)&blockIdx < sizeof(uint3) ||
           p - (uintptr_t)&blockDim < sizeof(uint3) || p - (uintptr_t)&gridDim < sizeof(uint3);
}

/* Whether the kernel may load there: an address that is none is reported by the load itself. */
static inline int can_load(const struct worker *w, uintptr_t p, unsigned bytes);

/* True while data that move at once are reported in several calls of seen(). */
static int in_pieces;

/* Where the last plain store of 8 bytes or more goes: g++ reports the store of a copy before its
 * load. And of what is reported in pieces, its size, and where in it the piece lies. */
static struct {
    uintptr_t p;
    size_t bytes;
} stored;
static size_t whole, piece_at;

/* The pieces in which a GPU would move an object of any size: up to 16 bytes, as far as address and
 * size are aligned. */
static unsigned piece_of(uintptr_t p, size_t bytes)
{
    unsigned n = 16;
    while (n > 1 && (p % n || bytes % n))
        n /= 2;
    return n;
}

static inline void note_store(uintptr_t p, size_t bytes, int writes)
{
    if (CPU_TRACE == 2 && writes && bytes >= 8) {
        stored.p = p;
        stored.bytes = bytes;
    }
}

/* Reports an object in its pieces. */
static void pieces(uintptr_t p, size_t bytes, int writes, const void *from, const void *frame)
{
    struct worker *w = cpu_worker;
    const unsigned n = piece_of(p, bytes);
    if (CPU_TRACE == 2) {
        in_pieces = 1;
        whole = bytes;
    }
    for (piece_at = 0; w && w->running && piece_at < bytes; piece_at += n)
        seen(w, p + piece_at, n, writes, from, frame);
    if (CPU_TRACE == 2) {
        in_pieces = 0;
        whole = piece_at = 0;
        note_store(p, bytes, writes);
    }
    if (!w || !w->running)
        seen_of_host(p, bytes, writes, from);
}

#pragma GCC visibility push(default)
#if CPU_TRACE == 2 /* which has no use for the depth: a frame pointer would take time */
#define HERE __builtin_return_address(0), NULL
#else
#define HERE __builtin_return_address(0), CALLERS_DEPTH
#endif
#define CALLBACKS(n, name, writes)                                                                 \
    void __tsan_##name##n(void *p)                                                                 \
    {                                                                                              \
        struct worker *w = cpu_worker;                                                             \
        note_store((uintptr_t)p, n, writes);                                                       \
        if (w && w->running)                                                                       \
            seen(w, (uintptr_t)p, n, writes, HERE);                                                \
        else                                                                                       \
            seen_of_host((uintptr_t)p, n, writes, __builtin_return_address(0));                    \
    }                                                                                              \
    void __tsan_unaligned_##name##n(void *p)                                                       \
    {                                                                                              \
        pieces((uintptr_t)p, n, writes, HERE);                                                     \
    }
#define SIZES(name, writes)                                                                        \
    CALLBACKS(1, name, writes)                                                                     \
    CALLBACKS(2, name, writes)                                                                     \
    CALLBACKS(4, name, writes)                                                                     \
    CALLBACKS(8, name, writes)                                                                     \
    CALLBACKS(16, name, writes)                                                                    \
    void __tsan_##name##_range(void *p, size_t bytes)                                              \
    {                                                                                              \
        pieces((uintptr_t)p, bytes, writes, HERE);                                                 \
    }
SIZES(read, 0)
SIZES(write, 1)

/* Volatile accesses. A thread that finds the same value over and over lets others run, and then
 * loads. What lies on the stack nobody else changes. */
static void volatile_access(uintptr_t p, unsigned n, int writes, const void *from,
                            const void *frame)
{
    struct worker *w = cpu_worker;
    if (!w || !w->running) {
        seen_volatile_of_host(p, writes);
        return;
    }
    if (!writes && n <= 8 && p - (uintptr_t)w->stacks >= (uintptr_t)MAX_THREADS * FIBER_STACK &&
        can_load(w, p, n))
        cpu_polled((const volatile void *)p, (const void *)p, n);
    seen_volatile(w, p, n, writes, from, frame);
}
#define VOLATILE(n)                                                                                \
    void __tsan_volatile_read##n(void *p)                                                          \
    {                                                                                              \
        volatile_access((uintptr_t)p, n, 0, HERE);                                                 \
    }                                                                                              \
    void __tsan_volatile_write##n(void *p)                                                         \
    {                                                                                              \
        volatile_access((uintptr_t)p, n, 1, HERE);                                                 \
    }                                                                                              \
    void __tsan_unaligned_volatile_read##n(void *p)                                                \
    {                                                                                              \
        pieces((uintptr_t)p, n, 0, HERE);                                                          \
    }                                                                                              \
    void __tsan_unaligned_volatile_write##n(void *p)                                               \
    {                                                                                              \
        pieces((uintptr_t)p, n, 1, HERE);                                                          \
    }
VOLATILE(1)
VOLATILE(2)
VOLATILE(4)
VOLATILE(8)
VOLATILE(16)
#undef VOLATILE

/* The pointer of an object to its virtual functions is memory like any other. */
void __tsan_vptr_update(void **p, void *value)
{
    pieces((uintptr_t)p, sizeof *p, 1, HERE);
}
void __tsan_vptr_read(void **p)
{
    pieces((uintptr_t)p, sizeof *p, 0, HERE);
}

/* The replacements of C library calls in kernels: cudacc renames the calls in the object. */
void *cpu_trace_memcpy(void *to, const void *from, size_t bytes)
{
    pieces((uintptr_t)from, bytes, 0, HERE);
    pieces((uintptr_t)to, bytes, 1, HERE);
    return memcpy(to, from, bytes);
}
void *cpu_trace_memmove(void *to, const void *from, size_t bytes)
{
    pieces((uintptr_t)from, bytes, 0, HERE);
    pieces((uintptr_t)to, bytes, 1, HERE);
    return memmove(to, from, bytes);
}
void *cpu_trace_memset(void *to, int value, size_t bytes)
{
    struct worker *w = cpu_worker;
    if (!w || !w->running) {
        seen_of_host((uintptr_t)to, bytes, 1, __builtin_return_address(0));
        return memset(to, value, bytes);
    }
    /* Each piece is made right after its report, as a store is: a race may be one of equal
     * values. */
    const size_t n = piece_of((uintptr_t)to, bytes);
    for (size_t done = 0; done < bytes; done += n) {
        seen(w, (uintptr_t)to + done, (unsigned)n, 1, HERE);
        memset((char *)to + done, value, n);
    }
    return to;
}
#pragma GCC visibility pop
