/* flash_mistakes.c: which mistake makes an output of attention, or of its gradient, what it is.
 *
 * Each output but lse is a product a b: o = P V, dq = dS K, dk = dS^T Q, dv = P^T dout. Of 16 rows
 * and 16 columns of it, around the first wrong element, these are tried:
 *
 * - Quarters. A tensor core takes a in blocks of 16 x 16, four registers with a quarter of 8 x 8
 *   each, and b likewise (PTX ISA, "Matrix Fragments for mma.m16n8k16"; two operands b beside each
 *   other). Each quarter of a, or of b, comes from some quarter of its block, or is 0; all or none
 *   are transposed. An answer counts if no other one that changes as little agrees.
 * - Terms. Keys 1, 2, 4 .. 64 apart are exchanged or taken twice, each 16 begin 8 further on, or a
 *   tile is counted by columns.
 * - Softmax, for o. Sums are not rescaled when a tile raises the maximum, each thread has its own
 *   maximum, or hidden keys count.
 *
 * All elements must agree. For lse there are forms without the maximum, without
 * a logarithm, or with either of them in another unit. */
#include "flash.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 16, QUARTER = 8, QUARTERS = 4, ZERO = QUARTERS, SOURCES, FEWEST = 16, TILE = 64 };

/* 16 rows and columns of an output, from (row, column) of a head on. */
typedef struct product {
    const char *a_name, *b_name, *row_name, *sum_name;
    int64_t row, column, terms, n; /* terms of each sum; n: rounded up to whole blocks */
    int rows;                      /* that the output has */
    bool of_o;
    /* [SIDE][n], [n][SIDE]. What a kernel has of a is relative [SIDE][n] times as much. */
    double *a, *b, *relative;
    double of_score_0[SIDE];                  /* exp(0 - lse) of each row of o */
    double got[SIDE][SIDE], near[SIDE][SIDE]; /* the output, and how near is near enough */
} product;

static double dot(const float *x, const float *y, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += (double)x[i] * y[i];
    return sum;
}

static const float *row_of(const kf_run *run, const char *name, int64_t row)
{
    return kf_find(run, name)->host + row * run->shape.D;
}

/* P of a query and a key of a head, or dS if gradient is set. lse is o's, or the gradients' input.
 */
static double factor(const kf_run *run, int64_t head, int64_t query, int64_t key, bool gradient)
{
    const kf_shape *s = &run->shape;
    const kf_tensor *lse = kf_find(run, "lse");
    const int64_t i = head * s->Sq + query, j = head * s->Sk + key;
    if (query >= s->Sq || key >= kf_visible_keys(s, query))
        return 0.0;
    const double score = dot(row_of(run, "q", i), row_of(run, "k", j), s->D) / sqrt(s->D);
    const double p = exp(score - (lse->want ? lse->want[i] : lse->host[i]));
    const float *dout = gradient ? row_of(run, "dout", i) : NULL;
    return !gradient
               ? p
               : p * (dot(dout, row_of(run, "v", j), s->D) - dot(dout, row_of(run, "o", i), s->D));
}

/* relative [n] of a row of P: a kernel multiplies exp(score - m), m the largest score up to the end
 * of a tile, and divides the output by the sum. So a quarter of another row is not that row's P. */
static void set_relative(const double *p, int64_t n, int64_t tile, double *relative)
{
    double most = 0.0;
    for (int64_t first = 0; first < n; first += tile) {
        const int64_t end = first + tile < n ? first + tile : n;
        for (int64_t i = first; i < end; i++)
            most = fmax(most, p[i]);
        for (int64_t i = first; i < end; i++)
            relative[i] = most > 0.0 ? 1.0 / most : 1.0;
    }
}

/* The part of output `t` that has its first wrong element. raw: what a variant made of it. */
static product part_of(const kf_run *run, const kf_tensor *t, const void *raw, int64_t wrong)
{
    const kf_shape *s = &run->shape;
    const bool of_o = strcmp(t->name, "o") == 0, of_dv = strcmp(t->name, "dv") == 0;
    const bool of_keys = of_dv || strcmp(t->name, "dk") == 0;
    const int64_t extent = of_keys ? s->Sk : s->Sq, terms = of_keys ? s->Sq : s->Sk;
    const int64_t row = wrong / s->D, head = row / extent;
    const double scale = of_o || of_dv ? 1.0 : 1.0 / sqrt(s->D);
    product p = {.a_name = of_o      ? "P"
                           : of_dv   ? "P^T"
                           : of_keys ? "dS^T"
                                     : "dS",
                 .b_name = of_o      ? "v"
                           : of_dv   ? "dout"
                           : of_keys ? "q"
                                     : "k",
                 .row_name = of_keys ? "keys" : "queries",
                 .sum_name = of_keys ? "queries" : "keys",
                 .row = row % extent / SIDE * SIDE,
                 .column = wrong % s->D / SIDE * SIDE,
                 .terms = terms,
                 .of_o = of_o,
                 .n = (terms + SIDE - 1) / SIDE * SIDE};
    p.a = kf_alloc(SIDE * p.n, sizeof *p.a);
    p.b = kf_alloc(SIDE * p.n, sizeof *p.b);
    p.relative = kf_alloc(SIDE * p.n, sizeof *p.relative);
    p.rows = (int)fmin(SIDE, extent - p.row);
    for (int r = 0; r < p.rows; r++)
        for (int64_t i = 0; i < terms; i++)
            p.a[r * p.n + i] = scale * factor(run, head, of_keys ? i : p.row + r,
                                              of_keys ? p.row + r : i, !of_o && !of_dv);
    for (int64_t i = 0; i < SIDE * p.n; i++)
        p.relative[i] = 1.0;
    for (int r = 0; r < p.rows && of_o; r++) {
        set_relative(p.a + r * p.n, p.n, TILE, p.relative + r * p.n);
        p.of_score_0[r] = exp(-kf_find(run, "lse")->want[head * extent + p.row + r]);
    }
    for (int64_t i = 0; i < terms; i++)
        for (int c = 0; c < SIDE; c++)
            p.b[i * SIDE + c] = row_of(run, p.b_name, head * terms + i)[p.column + c];
    for (int r = 0; r < p.rows; r++)
        for (int c = 0; c < SIDE; c++) {
            const int64_t at = (head * extent + p.row + r) * s->D + p.column + c;
            p.got[r][c] = kf_unpack(t->dtype, raw, at);
            /* A sum of other terms may be as much less exact as it is larger. */
            p.near[r][c] = 2.0 * t->bound[at] + 0x1p-9 * fabs(p.got[r][c]);
        }
    return p;
}

static bool agrees(const product *p, const double value[SIDE][SIDE], int row, int column, int rows,
                   int columns)
{
    int elements = 0;
    for (int r = row; r < row + rows && r < p->rows; r++)
        for (int c = column; c < column + columns; c++, elements++)
            if (!(fabs(value[r][c] - p->got[r][c]) <= p->near[r][c]))
                return false;
    return elements >= FEWEST;
}

/* --- Quarters of the blocks ------------------------------------------------------------------- */

/* An element (r, c) of a block: the index in the matrix of what is there if its quarter comes from
 * `source`, and is transposed or not. */
static int64_t index_of(int64_t block, int64_t row_step, int64_t column_step, int r, int c,
                        int source, bool transposed)
{
    const int i = transposed ? c % QUARTER : r % QUARTER,
              j = transposed ? r % QUARTER : c % QUARTER;
    return block + (source / 2 * QUARTER + i) * row_step + (source % 2 * QUARTER + j) * column_step;
}

/* Rows (of_a) or columns of the output from 8 `side` on, if of each block the quarters that make
 * them come from source[0] for its first 8 terms, and from source[1] for the others. A quarter is
 * 2 (8 rows further) + (8 columns further) of a [rows][terms] or of b [terms][columns]. */
static void multiply(const product *p, bool of_a, int side, const int source[2], bool transposed,
                     double value[SIDE][SIDE])
{
    memset(value, 0, sizeof(double[SIDE][SIDE]));
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t block = i / SIDE * SIDE;
        const int term = (int)(i - block), from = source[term / QUARTER];
        for (int own = side * QUARTER; own < (side + 1) * QUARTER && from != ZERO; own++) {
            const int64_t at = of_a ? index_of(block, p->n, 1, own, term, from, transposed)
                                    : index_of(block * SIDE, SIDE, 1, term, own, from, transposed);
            const double x =
                of_a ? p->a[at] * p->relative[at] / p->relative[own * p->n + i] : p->b[at];
            for (int other = 0; other < SIDE; other++)
                if (of_a)
                    value[own][other] += x * p->b[i * SIDE + other];
                else
                    value[other][own] += x * p->a[other * p->n + i];
        }
    }
}

/* Where the two quarters of one side come from. moved: how many are not their own; changed: the
 * same and 2 for a transposition, -1: unknown. */
typedef struct origin {
    int source[2], moved, changed;
    bool transposed;
} origin;

static origin origin_of(const product *p, bool of_a, int side)
{
    const int right[2] = {of_a ? 2 * side : side, of_a ? 2 * side + 1 : 2 + side};
    origin best = {.changed = -1};
    bool alone = false;
    for (int i = 0; i < 2 * SOURCES * SOURCES; i++) {
        origin o = {.source = {i / SOURCES % SOURCES, i % SOURCES},
                    .transposed = i >= SOURCES * SOURCES};
        double value[SIDE][SIDE];
        o.moved = (o.source[0] != right[0]) + (o.source[1] != right[1]);
        o.changed = o.moved + 2 * o.transposed;
        if (best.changed >= 0 && o.changed > best.changed)
            continue;
        multiply(p, of_a, side, o.source, o.transposed, value);
        if (!agrees(p, value, of_a ? side * QUARTER : 0, of_a ? 0 : side * QUARTER,
                    of_a ? QUARTER : SIDE, of_a ? SIDE : QUARTER))
            continue;
        alone = best.changed < 0 || o.changed < best.changed;
        best = o;
    }
    best.changed = alone ? best.changed : -1;
    return best;
}

/* The register that has a quarter, and the quarter of a register: rows of the matrix come first. */
static int register_of(int quarter)
{
    return quarter % 2 * 2 + quarter / 2;
}

static void append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t size, const char *format, ...)
{
    const size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + length, size - length, format, args);
    va_end(args);
}

static bool is_zero(const origin *o)
{
    return o->source[0] == ZERO && o->source[1] == ZERO;
}

static bool find_quarters(const product *p, bool of_a, char *text, size_t size)
{
    const origin o[2] = {origin_of(p, of_a, 0), origin_of(p, of_a, 1)};
    const bool transposed = o[0].transposed || o[1].transposed;
    for (int side = 0; side < 2; side++)
        if (o[side].changed < 0 || (o[side].transposed != transposed && !is_zero(&o[side])))
            return false;
    if (o[0].changed + o[1].changed == 0)
        return false;
    append(text, size, "in each 16 x 16 of %s", of_a ? p->a_name : p->b_name);
    if (transposed)
        append(text, size, " each quarter of 8 x 8 was transposed");
    if (transposed && o[0].moved + o[1].moved == 0)
        return true;
    append(text, size, "%s registers 0, 1, 2, 3 held what belongs in", transposed ? ", and" : "");
    for (int r = 0; r < QUARTERS; r++) {
        const int quarter = register_of(r);
        const int side = of_a ? quarter / 2 : quarter % 2, half = of_a ? quarter % 2 : quarter / 2;
        const int source = o[side].source[half];
        if (source == ZERO)
            append(text, size, "%s none", r ? "," : "");
        else
            append(text, size, "%s %d", r ? "," : "", register_of(source));
    }
    if (of_a)
        append(text, size, " (0 and 1: %s 0-7 for %s 0-7, 8-15; 2 and 3: %s 8-15)", p->sum_name,
               p->row_name, p->sum_name);
    else
        append(text, size, " (0 and 1: %s 0-7, 8-15 in columns 0-7; 2 and 3: in columns 8-15)",
               p->sum_name);
    return true;
}

/* A register of `a` has two neighbours of row g, or of row g + 8. Here it has one of each. */
static bool find_mixed_rows(const product *p, char *text, size_t size)
{
    double value[SIDE][SIDE] = {0};
    for (int r = 0; r < SIDE; r++)
        for (int64_t i = 0; i < p->n; i++) {
            const int64_t at = (i % 2 * QUARTER + r % QUARTER) * p->n + i / 2 * 2 + r / QUARTER;
            const double x = p->a[at] * p->relative[at] / p->relative[r * p->n + i];
            for (int c = 0; c < SIDE; c++)
                value[r][c] += x * p->b[i * SIDE + c];
        }
    if (!agrees(p, value, 0, 0, SIDE, SIDE))
        return false;
    append(text, size,
           "a register of %s has an element of row g and one of row g + 8, in place of two "
           "neighbours of one row",
           p->a_name);
    return true;
}

/* --- Terms in another order ------------------------------------------------------------------- */

enum order { EXCHANGED, TWICE, HALF_STEPS, COLUMNS_FIRST };

/* The term that is taken for term i. */
static int64_t other_term(enum order order, int64_t apart, int64_t i)
{
    if (order == COLUMNS_FIRST) /* a tile of 64 is counted by rows in place of columns, or so */
        return i / TILE * TILE + i % apart * (TILE / apart) + i % TILE / apart;
    if (order == HALF_STEPS) /* block n of so many terms begins at 8 n, where 16 n is right */
        return i / apart * apart + i % apart / SIDE * QUARTER + i % SIDE;
    return order == EXCHANGED ? i ^ apart : i & ~apart;
}

static bool find_terms(const product *p, enum order order, int64_t apart, bool in_a)
{
    double value[SIDE][SIDE] = {0};
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t other = other_term(order, apart, i);
        const int64_t of_a = in_a ? other : i, of_b = in_a ? i : other;
        for (int r = 0; r < SIDE && other < p->n; r++)
            for (int c = 0; c < SIDE; c++)
                value[r][c] += p->a[r * p->n + of_a] * p->b[of_b * SIDE + c];
    }
    return agrees(p, value, 0, 0, SIDE, SIDE);
}

static bool find_order(const product *p, char *text, size_t size)
{
    for (int64_t apart = 1; apart < p->n && apart <= TILE; apart *= 2)
        if (find_terms(p, EXCHANGED, apart, false)) {
            append(text, size, "%s that are %lld apart were exchanged, in %s or in %s", p->sum_name,
                   (long long)apart, p->a_name, p->b_name);
            return true;
        }
    for (int64_t every = 2; every < TILE; every *= 2)
        if (find_terms(p, COLUMNS_FIRST, every, false)) {
            append(text, size,
                   "%s of %s were taken for those of %s in another order: number i + %lld j of a "
                   "tile of %d for number %d i + j",
                   p->sum_name, p->a_name, p->b_name, (long long)every, TILE, TILE / (int)every);
            return true;
        }
    for (int in_a = 0; in_a < 2; in_a++) {
        const char *name = in_a ? p->a_name : p->b_name;
        for (int64_t apart = 1; apart < p->n && apart <= TILE; apart *= 2)
            if (find_terms(p, TWICE, apart, in_a)) {
                append(text, size, "of each %lld %s of %s the first %lld were taken twice",
                       2 * (long long)apart, p->sum_name, name, (long long)apart);
                return true;
            }
        if (find_terms(p, HALF_STEPS, TILE, in_a) || find_terms(p, HALF_STEPS, TILE / 2, in_a)) {
            append(text, size, "%s of %s were taken 16 at a time, and each 16 began 8 further on",
                   p->sum_name, name);
            return true;
        }
    }
    return false;
}

/* --- What is rescaled when a tile raises the maximum ------------------------------------------ */

enum not_rescaled { OUTPUT, SUM, BOTH, RESCALINGS };

/* o if of each tile's maximum m the factor exp(m before - m) is left out there. */
static bool lacks_rescaling(const product *p, enum not_rescaled which, int64_t tile)
{
    double *relative = kf_alloc(p->n, sizeof *relative), value[SIDE][SIDE] = {0};
    for (int r = 0; r < p->rows; r++) {
        const double *a = p->a + r * p->n;
        double sum = 0.0;
        set_relative(a, p->n, tile, relative);
        for (int64_t i = 0; i < p->n; i++) {
            const double factor = relative[i] / relative[p->n - 1];
            sum += a[i] * factor;
            for (int c = 0; c < SIDE; c++)
                value[r][c] += a[i] * (which == SUM ? 1.0 : factor) * p->b[i * SIDE + c];
        }
        for (int c = 0; c < SIDE && which != OUTPUT && sum > 0.0; c++)
            value[r][c] /= sum;
    }
    free(relative);
    return agrees(p, value, 0, 0, SIDE, SIDE);
}

/* o if each thread subtracts the maximum of its own keys: of each `apart` keys it has `width`
 * neighbours. All keys have to be in one tile. */
static bool has_own_maxima(const product *p, int width, int apart)
{
    double value[SIDE][SIDE] = {0};
    for (int r = 0; r < p->rows; r++) {
        const double *a = p->a + r * p->n;
        double most[TILE] = {0}, sum = 0.0;
        for (int64_t i = 0; i < p->n; i++)
            most[i % apart / width] = fmax(most[i % apart / width], a[i]);
        for (int64_t i = 0; i < p->n; i++) {
            const double weight = a[i] > 0.0 ? a[i] / most[i % apart / width] : 0.0;
            sum += weight;
            for (int c = 0; c < SIDE; c++)
                value[r][c] += weight * p->b[i * SIDE + c];
        }
        for (int c = 0; c < SIDE && sum > 0.0; c++)
            value[r][c] /= sum;
    }
    return agrees(p, value, 0, 0, SIDE, SIDE);
}

static bool find_own_maxima(const product *p, char *text, size_t size)
{
    for (int width = 1; width <= 2 && p->of_o && p->terms <= TILE; width++)
        for (int apart = 2 * width; apart <= TILE && apart < 2 * p->n; apart *= 2)
            if (has_own_maxima(p, width, apart)) {
                append(
                    text, size,
                    "each thread subtracts the maximum of its own keys, and not that of the row");
                return true;
            }
    return false;
}

static bool find_rescaling(const product *p, char *text, size_t size)
{
    static const char *const name[] = {"o is not", "the sum is not", "neither o nor the sum is"};
    for (int which = 0; which < RESCALINGS && p->of_o; which++)
        for (int64_t tile = SIDE; tile <= 2 * TILE && tile < p->n; tile *= 2)
            if (lacks_rescaling(p, which, tile)) {
                append(text, size,
                       "%s rescaled when a tile of %lld keys raises the maximum of a row",
                       name[which], (long long)tile);
                return true;
            }
    return false;
}

/* o if keys that a query does not see, up to whole tiles, have the score 0 and not -Inf. */
static bool counts_hidden_keys(const product *p, int64_t tile)
{
    double value[SIDE][SIDE] = {0};
    const int64_t keys = (p->terms + tile - 1) / tile * tile;
    for (int r = 0; r < p->rows; r++) {
        double sum = 0.0;
        for (int64_t i = 0; i < keys; i++) {
            const double a = i < p->n ? p->a[r * p->n + i] : 0.0;
            const double weight = a > 0.0 ? a : p->of_score_0[r];
            sum += weight;
            for (int c = 0; c < SIDE && i < p->n; c++)
                value[r][c] += weight * p->b[i * SIDE + c];
        }
        for (int c = 0; c < SIDE; c++)
            value[r][c] /= sum;
    }
    return agrees(p, value, 0, 0, SIDE, SIDE);
}

static bool find_hidden_keys(const product *p, char *text, size_t size)
{
    for (int64_t tile = SIDE; tile <= 2 * TILE && p->of_o; tile *= 2)
        if (counts_hidden_keys(p, tile)) {
            append(
                text, size,
                "keys that a query does not see, or that fill up a tile of %lld, have the score 0, "
                "like any other, and not -Inf",
                (long long)tile);
            return true;
        }
    return false;
}

/* --- Rows without a key ----------------------------------------------------------------------- */

/* Whether elements of o or lse are NaN in rows that see no key, and nowhere else. */
static bool find_no_key(const kf_run *run, const kf_tensor *t, const void *raw, char *text,
                        size_t size)
{
    const double *lse = kf_find(run, "lse")->want;
    const int64_t columns = t->count / t->rows;
    int64_t found = 0;
    for (int64_t i = 0; i < t->count && lse; i++) {
        if (!isnan(kf_unpack(t->dtype, raw, i)) || kf_is_poison(t->dtype, raw, i))
            continue;
        if (isfinite(lse[i / columns]))
            return false;
        found++;
    }
    if (found > 0)
        append(text, size, "%s",
               strcmp(t->name, "o") == 0
                   ? "a row without keys divides 0 by its sum, 0, or subtracts its maximum, -Inf, "
                     "from -Inf: both are NaN"
                   : "the maximum of a row without keys, -Inf, is subtracted from -Inf, which is "
                     "NaN");
    return found > 0;
}

/* --- lse -------------------------------------------------------------------------------------- */

/* Values that a kernel may store for a row whose largest score is `maximum` and whose
 * exp(score - maximum) have this sum, with what then is missing. lse is right, and another form of
 * it is wrong. */
enum { LSE_FORMS = 10 };
static const char *const lse_name[LSE_FORMS] = {
    "lse is the logarithm of the sum without the maximum",
    "lse is the maximum plus the sum itself, without its logarithm",
    "lse is the maximum alone, without the logarithm of the sum",
    "lse is the sum alone, without its logarithm and without the maximum",
    "lse is a logarithm to base 2",
    "lse is the maximum plus a logarithm to base 2",
    "lse is the natural logarithm of the sum plus the maximum times log2(e), as if in base 2",
    "lse is the logarithm of the sum plus the maximum of q k^T, not divided by sqrt(D)",
    "lse is the maximum minus the logarithm of the sum",
    "lse has the wrong sign"};

static void set_lse_forms(double lse, double sum, int D, double form[LSE_FORMS])
{
    const double maximum = lse - log(sum);
    const double forms[LSE_FORMS] = {log(sum),
                                     maximum + sum,
                                     maximum,
                                     sum,
                                     lse / log(2.0),
                                     maximum + log2(sum),
                                     log(sum) + maximum / log(2.0),
                                     log(sum) + maximum * sqrt(D),
                                     maximum - log(sum),
                                     -lse};
    memcpy(form, forms, sizeof forms);
}

/* Another form of the rows' lse, from `row` of all rows on, if it is that in each of 16 rows. */
static void find_lse(const kf_run *run, const kf_tensor *t, const void *raw, int64_t row,
                     char *text, size_t size)
{
    const kf_shape *s = &run->shape;
    bool differs[LSE_FORMS] = {false};
    int rows = 0;
    const double first = kf_unpack(t->dtype, raw, row);
    if (t->want[row] == -INFINITY && isfinite(first)) {
        append(text, size,
               "lse of a row without keys is %.4g, and not -Inf, the logarithm of an empty sum",
               first);
        return;
    }
    for (int64_t i = row; i < t->count && i < row + SIDE; i++) {
        const int64_t head = i / s->Sq, query = i % s->Sq;
        double most = 0.0, form[LSE_FORMS];
        for (int64_t key = 0; key < kf_visible_keys(s, query); key++)
            most = fmax(most, factor(run, head, query, key, false));
        if (most == 0.0)
            continue;
        set_lse_forms(t->want[i], 1.0 / most, s->D, form);
        const double got = kf_unpack(t->dtype, raw, i);
        for (int k = 0; k < LSE_FORMS; k++)
            differs[k] |=
                !isfinite(got) || !(fabs(got - form[k]) <= 2.0 * t->bound[i] + 0x1p-18 * fabs(got));
        rows++;
    }
    for (int k = 0; k < LSE_FORMS && rows > 0; k++)
        if (!differs[k]) {
            append(text, size, "%s", lse_name[k]);
            return;
        }
}

void kf_flash_find_mistake(const kf_run *run, const kf_tensor *t, const void *raw, int64_t wrong,
                           char *text, size_t size)
{
    text[0] = '\0';
    if (find_no_key(run, t, raw, text, size))
        return;
    if (t->n_axes != 4 || run->shape.R != 0 || run->shape.D % SIDE != 0)
        return;
    if (strcmp(t->name, "lse") == 0) {
        find_lse(run, t, raw, wrong, text, size);
        return;
    }
    product p = part_of(run, t, raw, wrong);
    if (!find_hidden_keys(&p, text, size) && !find_rescaling(&p, text, size) &&
        !find_own_maxima(&p, text, size) && !find_order(&p, text, size) &&
        !find_mixed_rows(&p, text, size) && !find_quarters(&p, true, text, size))
        find_quarters(&p, false, text, size);
    free(p.a);
    free(p.b);
    free(p.relative);
}
