/* sample.c: which rows of an output get a reference when all of them would take too long. */
#include "harness/base/base.h"

/* Multiply-adds of reference work: up to FULL every row is checked. Beyond it rows are sampled, and
 * when even the sample of every head would exceed MOST, the inner heads get fewer rows. */
static const double FULL = 3e8, MOST = 2e9;
enum { TILE = 128, RANDOM_ROWS = 8, LEAST = 4, CANDIDATES = 64 + TILE };

static int add(int64_t *list, int n, int64_t row, int64_t rows)
{
    if (row < 0 || row >= rows)
        return n;
    for (int i = 0; i < n; i++)
        if (list[i] == row)
            return n;
    list[n] = row;
    return n + 1;
}

/* First and last row, both sides of tile boundaries, the whole of a last partial tile. */
static int fixed_rows(int64_t *list, int64_t rows)
{
    int n = add(list, 0, 0, rows);
    n = add(list, n, rows - 1, rows);
    static const int tile[] = {16, 32, 64, 128, 256};
    for (size_t i = 0; i < sizeof tile / sizeof *tile; i++)
        for (int side = -1; side <= 1; side++)
            n = add(list, n, tile[i] + side, rows);
    n = add(list, n, rows / 2, rows);
    for (int64_t row = rows - rows % TILE; row < rows; row++)
        n = add(list, n, row, rows);
    return n;
}

void kf_sample_rows(bool *checked, int64_t heads, int64_t rows, double work_per_row, uint64_t seed)
{
    if ((double)(heads * rows) * work_per_row <= FULL) {
        for (int64_t i = 0; i < heads * rows; i++)
            checked[i] = true;
        return;
    }
    int64_t list[CANDIDATES];
    int fixed = fixed_rows(list, rows);
    int64_t a_head = (int64_t)(MOST / ((double)heads * work_per_row));
    for (int64_t head = 0; head < heads; head++) {
        int n = fixed;
        for (int i = 0; i < RANDOM_ROWS; i++) {
            uint64_t index = (uint64_t)(head * RANDOM_ROWS + i);
            n = add(list, n, kf_random_below(seed, index, (uint32_t)rows), rows);
        }
        bool *mine = checked + head * rows;
        bool all = head == 0 || head == heads - 1 || a_head >= n;
        int64_t take = all ? n : a_head < LEAST ? LEAST : a_head;
        /* Always the first and the last row; the rest differ from head to head. */
        for (int64_t i = 0; i < take && i < n; i++)
            mine[list[i < 2 || all ? i : 2 + (head * (take - 2) + i - 2) % (n - 2)]] = true;
    }
}
