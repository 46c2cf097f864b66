/* unit_diagnosis.c: what the diagnosis says about planted faults, word for word. */
#define _DEFAULT_SOURCE
#include "unit.h"
#include <math.h>

enum { HEADS = 4, ROWS = 40, COLUMNS = 128, COUNT = HEADS * ROWS * COLUMNS };
static const kf_case shape = {.name = "D128",
                              .shape = {1, HEADS, ROWS, ROWS, COLUMNS, 0, false, 0}};
static kf_run run;
static kf_tensor *o;
static float got[COUNT];

static void fresh(void)
{
    for (int64_t i = 0; i < COUNT; i++) {
        o->want[i] = 0.25 + 0.001 * (double)(i % 100);
        o->bound[i] = 1e-5;
        got[i] = (float)o->want[i];
    }
    memset(o->checked, true, HEADS * ROWS);
}

static kf_diagnosis see(void)
{
    kf_diagnosis seen;
    kf_compare(o, got, &seen);
    return seen;
}

static void expect(const char *what, int block, const char *text)
{
    kf_diagnosis seen = see();
    char said[4096] = "";
    FILE *memory = fmemopen(said, sizeof said, "w");
    kf_diagnosis_print(memory, &seen, block);
    fclose(memory);
    ok(strcmp(said, text) == 0, "%s", what);
    if (strcmp(said, text) != 0)
        printf("# said:\n%s# expected:\n%s", said, text);
    kf_diagnosis_free(&seen);
}

static void each(void (*plant)(int64_t i, int64_t head, int64_t row, int64_t column))
{
    for (int64_t i = 0; i < COUNT; i++)
        plant(i, i / (ROWS * COLUMNS), i / COLUMNS % ROWS, i % COLUMNS);
}

/* Step 03: warp 0 right, warp 1 with a sum of its own, warps 2 and 3 NaN. */
static void broadcast(int64_t i, int64_t head, int64_t row, int64_t column)
{
    (void)head, (void)row;
    if (column >= 64)
        got[i] = NAN;
    else if (column >= 32)
        got[i] *= 1.85f;
}

static void alternate(int64_t i, int64_t head, int64_t row, int64_t column)
{
    (void)head, (void)row;
    got[i] += column % 2 ? 1.0f : 0.0f;
}

static void tail(int64_t i, int64_t head, int64_t row, int64_t column)
{
    (void)head, (void)column;
    if (row >= 32)
        kf_poison_pattern(KF_F32, &got[i], 1);
}

static void one_head(int64_t i, int64_t head, int64_t row, int64_t column)
{
    (void)row, (void)column;
    got[i] += head == 2 ? (float)(i % 7 + 1) : 0.0f;
}

static void part_of_a_warp(int64_t i, int64_t head, int64_t row, int64_t column)
{
    (void)head;
    got[i] += row == 3 && (column == 40 || column == 41) ? 1.0f : 0.0f;
}

static void thread_64(int64_t i, int64_t head, int64_t row, int64_t column)
{
    (void)head;
    got[i] += row == 3 && column == 64 ? 1.0f : 0.0f;
}

/* Off by a factor, each for another reason than a missing one. */
static double factor;
static int64_t most;

static void scale(int64_t i, int64_t head, int64_t row, int64_t column)
{
    (void)head, (void)row, (void)column;
    if (i < most)
        got[i] = (float)(factor * got[i]);
}

/* By factors from 1.015 to 1.025. */
static void wobble(int64_t i, int64_t head, int64_t row, int64_t column)
{
    (void)head, (void)row, (void)column;
    got[i] = (float)((1.015 + 0.01 * (double)(i % 11) / 10.0) * got[i]);
}

/* What is printed where the first elements of COUNT are by times what they should be. */
static void say_of(double by, int64_t elements, char said[4096])
{
    fresh();
    factor = by;
    most = elements;
    each(scale);
    kf_diagnosis seen = see();
    memset(said, 0, 4096);
    FILE *memory = fmemopen(said, 4096, "w");
    kf_diagnosis_print(memory, &seen, 0);
    fclose(memory);
    kf_diagnosis_free(&seen);
}

static void expect_factor(const char *what, double by, int64_t elements, const char *ratio)
{
    char said[4096];
    say_of(by, elements, said);
    const char *found = strstr(said, "    where finite: got/want is ");
    ok(found && strcmp(found + 30, ratio) == 0, "%s: %s", what, found ? found : said);
}

static void factors(void)
{
    expect_factor("a factor", 0.125, COUNT, "0.125 throughout: a missing factor?\n");
    expect_factor("a factor of some", -3.0, 100, "-3 throughout: a missing factor?\n");
    expect_factor("a ratio of 1 is no factor", 1.001, COUNT, "1.001 (median)\n");
    expect_factor("nothing added", 0.0, COUNT, "0 (median)\n");
    expect_factor("a sign", -1.0, COUNT, "-1 throughout\n");
    expect_factor("two elements are few", 2.0, 2, "2 throughout\n");
    expect_factor("a small one", 1.02, COUNT, "1.02 throughout\n");
    fresh();
    each(wobble);
    kf_diagnosis seen = see();
    char said[4096] = "";
    FILE *memory = fmemopen(said, sizeof said, "w");
    kf_diagnosis_print(memory, &seen, 0);
    fclose(memory);
    kf_diagnosis_free(&seen);
    ok(strstr(said, "got/want is 1.02 (median)\n") != NULL, "ratios that differ are no factor: %s",
       said);
}

/* What differs behind the fourth digit is shown with as many as it takes. */
static void digits(void)
{
    char said[4096], is[32] = "", due[32] = "";
    say_of(1.0001, COUNT, said);
    const char *first = strstr(said, "got ");
    int n = first ? sscanf(first, "got %31[^,], want %31s", is, due) : 0;
    ok(n == 2 && strcmp(is, due) != 0, "digits enough to differ: got %s, want %s", is, due);
}

static void texts(void)
{
    fresh();
    expect("nothing wrong", 256, "  o: 0 of 20480 elements wrong, 0 of them NaN or Inf\n");
    each(broadcast);
    expect("the broadcast bug: columns, warps, NaNs, ratio", 256,
           "  o: 15360 of 20480 elements wrong, 10240 of them NaN or Inf\n"
           "    first at batch 0, head 0, row 0, column 32: got 0.5217, want 0.282\n"
           "    heads: all 4\n"
           "    rows: all 40\n"
           "    columns: 32-127 of 0-127; the others right\n"
           "    written by warps 1-3 of 8 (threads 32-127); all that warp 0 writes is right\n"
           "    NaN or Inf: 10240, in columns 64-127\n"
           "    unwritten: none; the kernel wrote these values\n"
           "    where finite: got/want is 1.85 throughout: a missing factor?\n");
    fresh();
    got[(1 * ROWS + 7) * COLUMNS + 5] = -3.0f;
    expect("one wrong element", 128,
           "  o: 1 of 20480 elements wrong, 0 of them NaN or Inf\n"
           "    first at batch 0, head 1, row 7, column 5: got -3, want 0.271\n"
           "    heads: 1 of 0-3; the others right\n"
           "    rows: 7 of 0-39; the others right\n"
           "    columns: 5 of 0-127; the others right\n"
           "    written by warp 0 of 4 (thread 5); parts of warps, so no warp boundary\n"
           "    where finite: got/want is -11.1 (median)\n");
    fresh();
    each(tail);
    expect("tail rows never written", 0,
           "  o: 4096 of 20480 elements wrong, 4096 of them NaN or Inf\n"
           "    first at batch 0, head 0, row 32, column 0: got NaN, want 0.346\n"
           "    heads: all 4\n"
           "    rows: 32-39 of 0-39; the others right\n"
           "    columns: all 128\n"
           "    NaN or Inf: 4096, in every column\n"
           "    unwritten: 4096 (all of them) still carry the poison the harness put there\n");
    fresh();
    each(one_head);
    expect("one head", 64,
           "  o: 5120 of 20480 elements wrong, 0 of them NaN or Inf\n"
           "    first at batch 0, head 2, row 0, column 0: got 7.29, want 0.29\n"
           "    heads: 2 of 0-3; the others right\n"
           "    rows: all 40\n"
           "    columns: all 128\n"
           "    written by warps 0-1 of 2 (threads 0-63)\n"
           "    where finite: got/want is 14.4 (median)\n");
    fresh();
    each(alternate);
    expect("alternate columns", 0,
           "  o: 10240 of 20480 elements wrong, 0 of them NaN or Inf\n"
           "    first at batch 0, head 0, row 0, column 1: got 1.251, want 0.251\n"
           "    heads: all 4\n"
           "    rows: all 40\n"
           "    columns: every 2nd from 1 to 127 of 0-127; the others right\n"
           "    where finite: got/want is 4.34 (median)\n");
    fresh();
    each(part_of_a_warp);
    expect("two columns inside a warp are not called a warp", 128,
           "  o: 8 of 20480 elements wrong, 0 of them NaN or Inf\n"
           "    first at batch 0, head 0, row 3, column 40: got 1.274, want 0.274\n"
           "    heads: all 4\n"
           "    rows: 3 of 0-39; the others right\n"
           "    columns: 40-41 of 0-127; the others right\n"
           "    written by warp 1 of 4 (threads 40-41); parts of warps, so no warp boundary\n"
           "    where finite: got/want is 4.29 (median)\n");

    fresh();
    each(thread_64);
    expect("a warp of one thread is one", 65,
           "  o: 4 of 20480 elements wrong, 0 of them NaN or Inf\n"
           "    first at batch 0, head 0, row 3, column 64: got 1.298, want 0.298\n"
           "    heads: all 4\n"
           "    rows: 3 of 0-39; the others right\n"
           "    columns: 64 of 0-127; the others right\n"
           "    written by warp 2 of 3 (thread 64); all that warps 0-1 write is right\n"
           "    where finite: got/want is 4.25 (median)\n");
    expect("a block of one thread has one warp", 1,
           "  o: 4 of 20480 elements wrong, 0 of them NaN or Inf\n"
           "    first at batch 0, head 0, row 3, column 64: got 1.298, want 0.298\n"
           "    heads: all 4\n"
           "    rows: 3 of 0-39; the others right\n"
           "    columns: 64 of 0-127; the others right\n"
           "    written by warp 0 of 1 (thread 0); parts of warps, so no warp boundary\n"
           "    where finite: got/want is 4.25 (median)\n");
}

/* The first axis is told as the others are. */
static void batches(void)
{
    static const kf_case two = {.name = "two", .shape = {2, 1, 3, 3, 4, 0, false, 0}};
    kf_run run_of_two = unit_attention(&two, 1);
    o = kf_find(&run_of_two, "o");
    for (int i = 0; i < 24; i++) {
        o->want[i] = 1.0;
        o->bound[i] = 1e-5;
        got[i] = i == 17 ? 3.0f : 1.0f;
    }
    memset(o->checked, true, 6);
    expect("a batch", 0,
           "  o: 1 of 24 elements wrong, 0 of them NaN or Inf\n"
           "    first at batch 1, head 0, row 1, column 1: got 3, want 1\n"
           "    batches: 1 of 0-1; the others right\n"
           "    rows: 1 of 0-2; the others right\n"
           "    columns: 1 of 0-3; the others right\n"
           "    where finite: got/want is 3 (median)\n");
    char said[256] = "";
    FILE *memory = fmemopen(said, sizeof said, "w");
    kf_errors_write(memory, "v", "two", o, got);
    fclose(memory);
    ok(strcmp(said, "v\ttwo\to\t0\t0\t1\t0\nv\ttwo\to\t1\t2\t1\t1\n") == 0, "errors of each: %s",
       said);
    o->axes = "BHND";
    expect("an axis that has no word has its letter", 0,
           "  o: 1 of 24 elements wrong, 0 of them NaN or Inf\n"
           "    first at batch 1, head 0, N 1, column 1: got 3, want 1\n"
           "    batches: 1 of 0-1; the others right\n"
           "    Ns: 1 of 0-2; the others right\n"
           "    columns: 1 of 0-3; the others right\n"
           "    where finite: got/want is 3 (median)\n");
    kf_close(&run_of_two);
    o = kf_find(&run, "o");
}

static void expect_ranges(const char *marked, const char *expected)
{
    int64_t marks[64] = {0}, n = (int64_t)strlen(marked);
    char text[128];
    for (int64_t i = 0; i < n; i++)
        marks[i] = marked[i] == '1';
    kf_ranges(marks, n, text, sizeof text);
    ok(strcmp(text, expected) == 0, "%s: %s", marked, text);
}

static void ranges(void)
{
    expect_ranges("1011010010", "0, 2-3, 5, 8");
    expect_ranges("1010101010", "every 2nd from 0 to 8");
    expect_ranges("010010010010010", "every 3rd from 1 to 13");
    expect_ranges("10001000100010001", "every 4th from 0 to 16");
    /* As far apart as the others are, but for the first, or the last. */
    expect_ranges("100010101010", "5 between 0 and 10");
    expect_ranges("010101010001", "5 between 1 and 11");
    expect_ranges("1101101101100110", "10 between 0 and 14");
}

static void shapes(void)
{
    char text[128];
    kf_shape_text(&(kf_shape){1, 2, 3, 4, 8, 6, true, 5}, text, sizeof text);
    ok(strcmp(text, "B=1 H=2 Sq=3 Sk=4 D=8 R=6 pos0=5 causal") == 0, "a shape: %s", text);
    kf_shape_text(&(kf_shape){1, 2, 3, 3, 8, 0, false, 0}, text, sizeof text);
    ok(strcmp(text, "B=1 H=2 S=3 D=8") == 0, "and a plain one: %s", text);
}

static void counts(void)
{
    fresh();
    for (int64_t i = 0; i < COUNT; i++)
        got[i] = NAN;
    kf_diagnosis seen = see();
    ok(seen.wrong == COUNT && seen.nonfinite == COUNT && seen.unwritten == 0 &&
           isnan(seen.details->median_ratio) && seen.nonfinite_in_column[77] == HEADS * ROWS,
       "NaN everywhere is wrong everywhere");
    kf_diagnosis_free(&seen);

    fresh();
    got[0] += 0.9e-5f;
    got[1] += 1.2e-5f;
    got[COUNT - 1] = INFINITY;
    seen = see();
    ok(seen.wrong == 2 && seen.nonfinite == 1 && seen.first[3] == 1,
       "the bound decides; Inf is wrong");
    ok(fabs(seen.details->max_err - 1.2e-5) < 1e-7 && fabs(seen.details->max_ratio - 1.2) < 0.01,
       "largest error and its share of the bound: %.3g, %.3g", seen.details->max_err,
       seen.details->max_ratio);
    kf_diagnosis_free(&seen);

    fresh();
    memset(o->checked, false, HEADS * ROWS);
    o->checked[3] = true;
    got[0] = 1e9f;                                   /* row 0 has no reference: cannot be judged */
    kf_poison_pattern(KF_F32, &got[7 * COLUMNS], 2); /* row 7 neither, but must be written */
    seen = see();
    ok(seen.total == COLUMNS + 2 && seen.wrong == 2 && seen.unwritten == 2 && seen.first[2] == 7,
       "rows without reference must be written and finite");
    kf_diagnosis_free(&seen);
}

static void map(void)
{
    char text[HEADS * ROWS * COLUMNS * 2] = "";
    fresh();
    float *last = got + (HEADS - 1) * ROWS * COLUMNS;
    last[1] = NAN;
    last[2] = 9.0f;
    FILE *memory = fmemopen(text, sizeof text, "w");
    kf_map_write(memory, "v", o, got);
    fclose(memory);
    int lines = 0;
    for (char *at = text; *at; at++)
        lines += *at == '\n';
    ok(strncmp(text, "# variant v\n0 2 1 0 ", 20) == 0, "the map: 0 right, 1 wrong, 2 NaN");
    ok(lines == 1 + ROWS + 2, "one line a row of the last head, two blank lines last");
    const char *line = strchr(text, '\n') + 1;
    ok(strcspn(line, "\n") == 2 * COLUMNS - 1, "one digit a column");
}

static void never_read(void)
{
    static bool marks[COUNT];
    static const char *const want[] = {
        "", "    never read: columns 3, 126-127 of 0-127 of the input o\n",
        ("    never read: heads 1 of 0-3 of what kernels wrote to o\n"
         "    never read: columns 3, 126-127 of 0-127 of what kernels wrote to o\n"),
        "    never read: all of the input o\n", "    never read: all of what kernels wrote to o\n"};
    for (int step = 0; step < 5; step++) {
        for (int64_t i = 0; i < COUNT; i++) {
            const int64_t head = i / (ROWS * COLUMNS), column = i % COLUMNS;
            marks[i] = step > 2 || (step > 0 && (column == 3 || column > 125)) ||
                       (step == 2 && head == 1) || i == 77;
        }
        char text[512] = "";
        FILE *memory = fmemopen(text, sizeof text, "w");
        const kf_slot slot = {.t = *o, .role = step % 2 ? KF_INPUT : KF_SCRATCH};
        kf_unread_print(memory, &slot, marks);
        fclose(memory);
        ok(strcmp(text, want[step]) == 0, "never read, %d: %s", step, text);
    }
}

int main(void)
{
    run = unit_attention(&shape, 1);
    o = kf_find(&run, "o");
    texts();
    factors();
    digits();
    counts();
    map();
    never_read();
    batches();
    ranges();
    shapes();
    return done();
}
