/* Boxes: the rows of an array that a bulk copy reads or writes. A load fills positions outside
 * of the array; a store leaves them out. */
#include "device/units/boxes.h"
#include "base/formats.h"

#include <string.h>

enum { CHUNK = 16 };

/* The number of elements of a box along a dimension. */
static size_t count(const struct box *b, int i)
{
    return (b->map.box[i] + b->map.step[i] - 1u) / b->map.step[i];
}

size_t box_row_bytes(const struct box *b)
{
    return b->map.box[0] * b->map.stride[0];
}

size_t box_rows(const struct box *b)
{
    size_t n = 1;
    for (int i = 1; i < b->map.rank; i++)
        n *= count(b, i);
    return n;
}

struct box_row box_row(const struct box *b, size_t row)
{
    const struct tensor_map *m = &b->map;
    struct box_row r = {m->address, 0, 0};
    for (int i = 1; i < m->rank; i++) {
        int64_t at = b->at[i] + (int64_t)(row % count(b, i)) * m->step[i];
        row /= count(b, i);
        if (at < 0 || (uint64_t)at >= m->extent[i])
            return (struct box_row){NULL, 0, 0};
        r.p += (uint64_t)at * m->stride[i];
    }
    int64_t first = b->at[0] < 0 ? 0 : b->at[0];
    int64_t end = b->at[0] + (int64_t)m->box[0];
    end = end < (int64_t)m->extent[0] ? end : (int64_t)m->extent[0];
    if (first >= end)
        return (struct box_row){NULL, 0, 0};
    r.p += (uint64_t)first * m->stride[0];
    r.skip = (size_t)(first - b->at[0]) * m->stride[0];
    r.bytes = (size_t)(end - first) * m->stride[0];
    return r;
}

struct box_row box_stored(const struct box *b, size_t row)
{
    struct box_row r = box_row(b, row);
    r.bytes = (r.bytes + CHUNK - 1) / CHUNK * CHUNK;
    return r;
}

uint64_t box_inside(const struct box *b)
{
    uint64_t n = 0;
    for (size_t row = 0; row < box_rows(b); row++)
        n += box_row(b, row).bytes;
    return n;
}

size_t box_pitch(const struct box *b)
{
    return b->map.swizzle ? (size_t)CHUNK << b->map.swizzle : box_row_bytes(b);
}

/* The bits from 7 on change bits 4 to 6 of the address, or fewer of them. */
uint32_t box_place(const struct box *b, uint32_t tile, size_t i)
{
    const size_t width = box_row_bytes(b);
    uint32_t p = tile + (uint32_t)(i / width * box_pitch(b) + i % width);
    return p ^ (p >> 7 & ((1u << b->map.swizzle) - 1)) << 4;
}

/* The fill of a load outside of the array: zeros, or the TMA's own NaN. */
static void fill(const struct box *b, char *to, size_t bytes)
{
    static const char nan[] = {(char)0xf7, 0x7f};
    memset(to, 0, bytes);
    for (size_t i = 0; b->map.fill && i < bytes; i += sizeof nan)
        memcpy(to + i, nan, sizeof nan);
}

/* Loads as tf32 round to nearest, ties away from zero. */
static void round_tf32(char *p, const char *end)
{
    for (uint32_t v; p < end; p += sizeof v) {
        memcpy(&v, p, sizeof v);
        v = (v & 0x7fffffff) > 0x7f800000 ? 0x7fffe000 : (v + 0x1000) & ~0x1fffu;
        memcpy(p, &v, sizeof v);
    }
}

void box_fetch(const struct box *b, char *shared, uint32_t tile)
{
    const size_t width = box_row_bytes(b), rows = box_rows(b);
    for (size_t row = 0; row < rows; row++) {
        const struct box_row r = box_row(b, row);
        for (size_t i = 0; i < width; i += CHUNK) {
            char chunk[CHUNK];
            size_t first = r.skip > i ? r.skip - i : 0, end = r.skip + r.bytes;
            end = end > i ? end - i : 0;
            end = end < CHUNK ? end : CHUNK;
            if (first > 0 || end < CHUNK)
                fill(b, chunk, CHUNK);
            if (first < end)
                memcpy(chunk + first, r.p + i + first - r.skip, end - first);
            if (b->map.tf32)
                round_tf32(chunk + first, chunk + end);
            memcpy(shared + box_place(b, tile, row * width + i), chunk, CHUNK);
        }
    }
}

void box_take(const struct box *b, const char *shared, uint32_t tile, char *bytes)
{
    for (size_t i = 0; i < box_rows(b) * box_row_bytes(b); i += CHUNK)
        memcpy(bytes + i, shared + box_place(b, tile, i), CHUNK);
}

void box_put(const struct box *b, const char *bytes)
{
    for (size_t row = 0; row < box_rows(b); row++) {
        const struct box_row r = box_stored(b, row);
        if (r.p)
            memcpy(r.p, bytes + row * box_row_bytes(b) + r.skip, r.bytes);
    }
}

/* Atomic, as blocks on other OS threads may add to the same element. */
#define ADD(T)                                                                                     \
    do {                                                                                           \
        T old = __atomic_load_n((T *)p, __ATOMIC_RELAXED);                                         \
        while (!__atomic_compare_exchange_n((T *)p, &old, (T)ptx_added(b->type, b->flush, old, v), \
                                            0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))                \
            ;                                                                                      \
    } while (0)

static void add(const struct box *b, char *p, const char *from, size_t n)
{
    uint64_t v = 0;
    memcpy(&v, from, n);
    if (n == 2)
        ADD(uint16_t);
    else if (n == 4)
        ADD(uint32_t);
    else
        ADD(uint64_t);
}

void box_add(const struct box *b, const char *bytes)
{
    const size_t n = ptx_type_bits[b->type] / 8u;
    for (size_t row = 0; row < box_rows(b); row++) {
        const struct box_row r = box_stored(b, row);
        for (size_t i = 0; i < r.bytes; i += n)
            add(b, r.p + i, bytes + row * box_row_bytes(b) + r.skip + i, n);
    }
}
