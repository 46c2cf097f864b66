/* count: the cost of one request of a warp, in sectors of memory and wavefronts of shared
 * memory. */
#include "instruments/count/count.h"

#include <string.h>

enum { SECTOR = 32, BANKS = 32 };

int count_sectors(const uintptr_t *p, int n, unsigned bytes)
{
    static __thread uint64_t table[128], call;
    int count = 0;
    uint64_t last = UINT64_MAX;
    int rising = 1;
    for (int i = 0; i < n; i++) {
        rising &= i == 0 || p[i] >= p[i - 1];
        count += i == 0 || p[i] / SECTOR != last;
        uint64_t end = (p[i] + bytes - 1) / SECTOR;
        count += end != p[i] / SECTOR;
        last = end;
    }
    if (rising)
        return count; /* in rising order, a sector that was left does not return */
    count = 0;
    last = UINT64_MAX;
    if ((++call & 0x3fffff) == 0) { /* call 0 is that of free entries */
        memset(table, 0, sizeof table);
        call++;
    }
    for (int i = 0; i < n; i++)
        for (uint64_t s = p[i] / SECTOR; s <= (p[i] + bytes - 1) / SECTOR; s++) {
            if (s == last)
                continue;
            last = s;
            /* An entry of the current `call` is a sector, any other is free: 42 bits are the
             * sector, 22 the call. */
            uint64_t entry = s << 22 | (call & 0x3fffff);
            unsigned at = (unsigned)(s * 0x9e3779b97f4a7c15u >> 57);
            while (table[at] != entry && ((table[at] ^ call) & 0x3fffff) == 0)
                at = (at + 1) & 127;
            count += table[at] != entry;
            table[at] = entry;
        }
    return count;
}

/* The wavefronts of the accesses from *at on whose lanes are below `end`; *at moves past them.
 * In one wavefront each of 32 banks delivers one word of 4 bytes, to any number of lanes. */
static int passes(const uintptr_t *p, const unsigned char *lane, int n, unsigned words,
                  unsigned end, int *at)
{
    uintptr_t word[4 * WARP];
    unsigned char next[4 * WARP], head[BANKS], depth[BANKS] = {0};
    int deepest = 0, used = 0;
    memset(head, 0xff, sizeof head);
    for (; *at < n && lane[*at] < end; ++*at)
        for (unsigned j = 0; j < words; j++) {
            uintptr_t v = p[*at] / 4 + j;
            unsigned bank = v % BANKS, k = head[bank];
            while (k != 0xff && word[k] != v)
                k = next[k];
            if (k != 0xff)
                continue;
            word[used] = v, next[used] = head[bank], head[bank] = (unsigned char)used++;
            if (++depth[bank] > deepest)
                deepest = depth[bank];
        }
    return deepest;
}

int count_matrix_passes(void *const *rows, int n)
{
    int total = 0;
    for (int matrix = 0; matrix < n; matrix++) {
        static const unsigned char lane[8];
        uintptr_t p[8];
        int at = 0;
        for (int row = 0; row < 8; row++)
            p[row] = (uintptr_t)rows[8 * matrix + row];
        total += passes(p, lane, 8, 4, 1, &at);
    }
    return total;
}

/* The greatest number of accesses to one bank, whether or not they are to the same word. */
static int crowd(const uintptr_t *p, int n, unsigned bytes)
{
    int of_bank[BANKS] = {0}, most = 0;
    for (int i = 0; i < n; i++)
        for (unsigned j = 0; p[i] && j < bytes / 4; j++) {
            int *k = &of_bank[(p[i] / 4 + j) % BANKS];
            most = ++*k > most ? *k : most;
        }
    return most;
}

static int is_in(const uintptr_t *list, int n, uintptr_t p)
{
    while (n > 0 && list[n - 1] != p)
        n--;
    return n > 0;
}

/* Around L1, whole sectors move, and of lanes that write to one place only the last counts.
 * Pieces of 16 bytes share a sector if they come from one sector and go to one sector, and share
 * a wavefront if they come from and go to one line of 128 bytes. For both, source and
 * destination positions of the pieces must differ in the same bits. Zeros take one more
 * wavefront for each line written. */
static int passes_around_l1(const uintptr_t *to, const uintptr_t *from, int n, int *sectors)
{
    enum { LINE = 128, UNIT = 16 };
    uintptr_t a[WARP], b[WARP]; /* destination and source of the lanes that count */
    int lines = 0, reads = 0, kept = 0, zeros = 0;
    *sectors = 0;
    for (int i = 0; i < n; i++) {
        int new_line = 1, new_read = from[i] != 0, new_sector = new_read;
        if (is_in(to + i + 1, n - i - 1, to[i]))
            continue;
        for (int k = 0; k < kept; k++) {
            uintptr_t places = (to[i] ^ from[i] ^ a[k] ^ b[k]) / UNIT;
            new_line &= to[i] / LINE != a[k] / LINE;
            new_read &= to[i] / LINE != a[k] / LINE || from[i] / LINE != b[k] / LINE || places % 8;
            new_sector &=
                to[i] / SECTOR != a[k] / SECTOR || from[i] / SECTOR != b[k] / SECTOR || places % 2;
        }
        lines += new_line;
        reads += new_read;
        *sectors += new_sector;
        zeros += from[i] == 0;
        a[kept] = to[i], b[kept++] = from[i];
    }
    return reads + (zeros ? lines : 0);
}

/* Agrees with an H200's counters for every pattern in tests/banks/matrix.cu, except the two in
 * which pieces of a line change places at random. Through L1, reads take wavefronts as well, and
 * no word serves two lanes. */
int count_copy_passes(const uintptr_t *to, const uintptr_t *from, const unsigned char *lane, int n,
                      unsigned bytes, int around_l1, int *parts, int *sectors)
{
    unsigned size = WARP / (bytes / 4);
    int total = 0, readers = 0;
    uintptr_t read[WARP];
    if (around_l1) {
        *parts = total = passes_around_l1(to, from, n, sectors);
        return total;
    }
    *parts = 0;
    for (int i = 0, last; i < n; i = last, ++*parts) {
        for (last = i; last < n && lane[last] / size == lane[i] / size; last++)
            if (from[last])
                read[readers++] = from[last];
        int in = crowd(to + i, last - i, bytes), out = crowd(from + i, last - i, bytes);
        total += in > out ? in : out;
    }
    *sectors = count_sectors(read, readers, bytes);
    return total;
}

/* True if lanes i and i^step read the same address, for all i where both take part. */
static int in_pairs(const uintptr_t *p, const unsigned char *lane, int n, unsigned step)
{
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n && lane[k] <= (lane[i] | step); k++)
            if (lane[k] == (lane[i] ^ step) && p[k] != p[i])
                return 0;
    return 1;
}

/* With 8 bytes per lane half a warp goes at a time, with 16 a quarter. Two such parts go
 * together if a load has pairs of lanes at equal addresses. No manual says so, but an H200's
 * counters do, for every pattern in tests/banks/banks.cu. *parts is the number of wavefronts
 * without conflicts. */
int count_passes(const uintptr_t *p, const unsigned char *lane, int n, unsigned bytes, int loads,
                 int *parts)
{
    uintptr_t same = 0, in_line = 0;
    for (int i = 0; i < n; i++) {
        same |= p[i] ^ p[0];
        in_line |= p[i] ^ (p[0] + 4 * (uintptr_t)i);
    }
    *parts = 1;
    if (bytes == 4 && (!same || !in_line))
        return 1; /* one word for all lanes, or one bank per lane */
    unsigned words = bytes <= 4 ? 1 : bytes / 4, size = WARP / words, end;
    int total = 0;
    *parts = 0;
    for (int i = 0; i < n; ++*parts) {
        unsigned both = lane[i] / (2 * size) * (2 * size) + 2 * size;
        int last = i;
        while (last < n && lane[last] < both)
            last++;
        if (words > 1 && loads &&
            (in_pairs(p + i, lane + i, last - i, 1) || in_pairs(p + i, lane + i, last - i, 2)))
            end = both;
        else
            end = lane[i] / size * size + size;
        total += passes(p, lane, n, words, end, &i);
    }
    return total;
}
