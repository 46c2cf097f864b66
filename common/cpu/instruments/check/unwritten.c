/* check: copies hand on which bytes nobody has written, and must take none of those to the host. */
#include "instruments/check/state/check.h"

/* Whether the bytes at `at` of the shadow memory, 8 or 16, were written by one store: a member of a
 * structure that has to lie at a multiple of that. o: NULL in shared memory. */
static int is_wide(const struct object *o, uint64_t at, size_t bytes)
{
    const struct shadow_cell *c = &shadow[at / 4];
    const uint64_t from = o ? o->p - region : ARENA_AT, to = from + (o ? o->bytes : ARENA);
    if (at < from || at + bytes > to || !c->write || widths[code_in(c->write)] < bytes)
        return 0;
    for (size_t i = 1; i < bytes / 4; i++)
        if (c[i].write != c->write)
            return 0;
    return 1;
}

/* Whether a hole is what a structure leaves in front of a member, or at its end: it is shorter than
 * 8 or 16 bytes and ends at a multiple of that, and a store of as many bytes comes behind, or one
 * stands within the 64 bytes before. */
static int is_padding(const struct object *o, uint64_t hole, size_t bytes)
{
    const uint64_t behind = hole + bytes, size = bytes < 8 ? 8 : 16;
    if (bytes >= 16 || behind % size)
        return 0;
    if (is_wide(o, behind, size))
        return 1;
    for (uint64_t at = behind - size; at + 64 >= behind; at -= size)
        if (is_wide(o, at, size))
            return 1;
    return 0;
}

int unwritten_is_padding(const struct object *o, uint64_t at, unsigned words)
{
    for (unsigned i = 0, n; words >> i; i += n) {
        for (n = 1; words >> i & 1 && words >> (i + n) & 1;)
            n++;
        if (words >> i & 1 && !is_padding(o, at + 4 * i, 4 * (size_t)n))
            return 0;
    }
    return 1;
}

/* Adds to *bytes the cells of a row in device memory that nobody has written. Padding, and parts of
 * a cell, are left out. *first: where the first lies, if *bytes was 0. */
static void add_unwritten(const struct object *o, uintptr_t p, size_t width, size_t *bytes,
                          uintptr_t *first)
{
    for (uintptr_t at = p, end = p + width, hole; at < end; at++) {
        const uint64_t i = at - region;
        uint64_t all;
        memcpy(&all, written + i / 8, sizeof all);
        if (i % 8 == 0 && at + 64 <= end && all == UINT64_MAX) {
            at += 63;
            continue;
        }
        if (bits_at(written, i, 1))
            continue;
        for (hole = at; at < end && !bits_at(written, at - region, 1);)
            at += (at - region) % 8 == 0 && at + 8 <= end && !written[(at - region) / 8] ? 8 : 1;
        if (!is_padding(o, hole - region, at - hole) && (hole + 3) / 4 < at / 4) {
            if (!*bytes)
                *first = (hole + 3) & -(uintptr_t)4;
            *bytes += (at & -(uintptr_t)4) - ((hole + 3) & -(uintptr_t)4);
        }
    }
}

/* Copies the bits that say which bytes are written. */
static void carry(uintptr_t to, uintptr_t from, size_t bytes)
{
    const uint64_t t = to - region, f = from - region;
    size_t i = 0;
    if (t % 8 == f % 8)
        for (; i < bytes && (t + i) % 8; i++)
            set_bits(written, t + i, 1, (int)bits_at(written, f + i, 1));
    if ((t + i) % 8 == 0 && (f + i) % 8 == 0) {
        memmove(written + (t + i) / 8, written + (f + i) / 8, (bytes - i) / 8);
        i += (bytes - i) / 8 * 8;
    }
    for (; i < bytes; i++)
        set_bits(written, t + i, 1, (int)bits_at(written, f + i, 1));
}

static int any_unwritten(uintptr_t p, size_t bytes)
{
    const uint64_t at = p - region;
    for (uint64_t i = at; i < at + bytes; i++)
        if (i % 8 == 0 && written[i / 8] == 0xff)
            i += 7;
        else if (!bits_at(written, i, 1))
            return 1;
    return 0;
}

static int allowed;
void unwritten_allowed(int asked)
{
    allowed = asked;
}

void trace_work_copied(struct trace_rows to, struct trace_rows from, const void *site)
{
    struct object *target = object_at((uintptr_t)to.p), *source = object_at((uintptr_t)from.p);
    const int to_variable = is_variable((uintptr_t)to.p) && object_of((uintptr_t)to.p);
    const int to_host = target ? target->host && !target->managed : !to_variable;
    size_t unwritten = 0;
    uintptr_t first = 0;
    for (size_t y = 0; y < to.height; y++) {
        const uintptr_t t = (uintptr_t)to.p + y * to.pitch, f = (uintptr_t)from.p + y * from.pitch;
        if (source && source->host)
            host_writes(f, from.width);
        if (source && any_unwritten(f, from.width)) {
            memory_finds_stores(source, f - region, (const void *)f, from.width);
            if (target && (source->host || source->marked))
                target->marked = 1;
        }
        if (!source)
            trace_written((void *)t, to.width);
        else if (target)
            carry(t, f, to.width);
        if (source && source->device && to_host && !allowed)
            add_unwritten(source, f, from.width, &unwritten, &first);
    }
    const struct side side = {COPY_READS, site ? code_of(site) : 0, 0, 0};
    if (unwritten)
        finding_add(UNINITIALISED, NULL, &side, 1,
                    unwritten > UINT32_MAX ? UINT32_MAX : (unsigned)unwritten, source, first, NULL);
}
