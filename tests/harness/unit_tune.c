/* unit_tune.c: which variant is chosen, what may not win, what the table says, and who reads it. */
#define _DEFAULT_SOURCE
#include "harness/tuned.h"
#include "unit.h"
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

static const kf_timing timing = {KF_GRAPH, KF_WARM}, other = {KF_CALL, KF_WARM};

/* A row of a case of S queries and keys; half: what the two halves of the rounds say. */
static kf_row row(const char *case_name, int S, bool causal, const char *variant, double us,
                  double first_half, double second_half)
{
    kf_row r = {.step = "99",
                .variant = variant,
                .case_name = case_name,
                .status = "ok",
                .shape = {4, 8, S, S, 64, 0, causal, 0},
                .timing = &timing,
                .cost = {.flops = 4.5e8},
                .stat = {.median = us, .half = {first_half, second_half}, .n = 10}};
    return r;
}

static kf_row with_status(kf_row r, const char *status)
{
    r.status = status;
    return r;
}

static kf_row untimed(kf_row r)
{
    r.timing = NULL;
    return r;
}

static bool is(const kf_row *r, const char *variant)
{
    return variant ? r && strcmp(r->variant, variant) == 0 : !r;
}

static kf_row rows[32];
static int n_rows;

static void add(kf_row r)
{
    rows[n_rows++] = r;
}

/* Three lengths, one of them causal, and one where nothing is right. */
static void some_rows(void)
{
    n_rows = 0;
    add(untimed(row("short", 512, false, "fixed", 0, 0, 0)));
    add(row("short", 512, false, "fixed", 10, 10, 10));
    add(row("short", 512, false, "large", 12, 12, 12));
    add(row("short", 512, false, "small", 9, 9.5, 9.25));
    add(row("short", 512, false, "close", 9.1, 9.0, 9.5));
    add(with_status(row("short", 512, false, "wrong", 1, 1, 1), "wrong"));
    add(with_status(row("short", 512, false, "shaky", 2, 2, 2), "noisy"));
    add(with_status(row("short", 512, false, "bug", 3, 3, 3), "predicted"));
    add(with_status(untimed(row("short", 512, false, "huge", 0, 0, 0)), "refused"));
    kf_row called = row("short", 512, false, "large", 5, 5, 5);
    called.timing = &other;
    add(called);
    add(row("long", 8192, false, "fixed", 100, 100, 100));
    add(row("long", 8192, false, "large", 80, 80, 80));
    add(row("long", 8192, false, "small", 130, 130, 130));
    add(with_status(untimed(row("long", 8192, false, "huge", 0, 0, 0)), "refused-room"));
    add(with_status(row("none", 2048, false, "broken", 7, 7, 7), "wrong"));
    add(with_status(untimed(row("odd", 77, false, "hasty", 0, 0, 0)), "wrong"));
    add(row("masked", 512, true, "hasty", 1, 1, 1));
    add(row("masked", 512, true, "fixed", 6, 6, 6));
}

static const kf_variant table_of_step[] = {{.name = "fixed"},     {.name = "large"},
                                           {.name = "dkv:small"}, {.name = "dq:fixed"},
                                           {.name = "dq:large"},  {.name = "dkv:fixed"}};
static const kf_program program = {.variants = table_of_step,
                                   .n_variants = KF_COUNT_OF(table_of_step)};

static void choices(kf_choice *c)
{
    some_rows();
    int n = kf_choose(rows, n_rows, &program, &timing, c);
    ok(n == 3, "a choice a case that has a variant that may win: %d", n);
    ok(is(c[0].best, "small") && c[0].best->stat.median == 9 && is(c[0].second, "close"),
       "the fastest, and who comes second; what is wrong, noisy, a bug or untimed does not win");
    ok(is(c[1].best, "large") && is(c[2].best, "fixed") && !c[2].second, "each case has its own");
    ok(is(c[0].first, "fixed") && c[0].first->stat.median == 10, "beside variant 0");
    ok(is(c[0].half, "close") && is(c[0].again, "small"),
       "the halves of the rounds choose for themselves");
    ok(is(c[0].far, "large") && c[0].far->stat.median == 12 && c[0].far_Sk == 8192,
       "the winner of another length, on this clock");
    ok(is(c[1].far, "small") && c[1].far->stat.median == 130 && c[1].far_Sk == 512,
       "and the other way round");
    ok(!c[2].far, "but not that of another mask");
    ok(c[0].candidates == 4 && c[0].refused == 1 && c[1].candidates == 3 && c[1].refused == 1,
       "how many took part, and how many were refused");
    some_rows();
    rows[11].stat.median = 200;
    rows[12].stat.median = 90;
    kf_choose(rows, n_rows, &program, &timing, c);
    ok(is(c[1].best, "small") && c[1].far == c[1].best && c[0].far == c[0].best,
       "where one wins at all lengths, it is that one");
    some_rows();
    rows[1].status = "wrong";
    n = kf_choose(rows, n_rows, &program, &timing, c);
    ok(!c[0].first && is(c[0].best, "small"), "variant 0 may be wrong, and others win");
    ok(n == 2 && is(c[1].best, "large"), "what is wrong in one case wins in none");
}

/* A step of two kernels, each with candidates of its own, at two lengths; their rows are mixed. */
static void part_rows(void)
{
    n_rows = 0;
    add(row("short", 512, false, "fixed", 40, 40, 40));
    add(row("short", 512, false, "dkv:fixed", 20, 20, 19));
    add(row("short", 512, false, "dq:fixed", 10, 10, 10));
    add(row("short", 512, false, "dq:large", 12, 9, 12));
    add(row("short", 512, false, "dkv:small", 21, 21, 21));
    add(with_status(row("short", 512, false, "dq:wrong", 1, 1, 1), "wrong"));
    add(with_status(untimed(row("short", 512, false, "dkv:huge", 0, 0, 0)), "refused-room"));
    add(row("long", 8192, false, "fixed", 400, 400, 400));
    add(row("long", 8192, false, "dq:fixed", 100, 100, 100));
    add(row("long", 8192, false, "dq:large", 80, 80, 80));
    add(row("long", 8192, false, "dq:wrong", 70, 70, 70));
    add(row("long", 8192, false, "dkv:small", 120, 120, 120));
    add(with_status(row("long", 8192, false, "dkv:fixed", 110, 110, 110), "noisy"));
    add(row("tiny", 32, false, "dkv:small", 3, 3, 3));
}

static void parts(kf_choice *c)
{
    part_rows();
    int n = kf_choose(rows, n_rows, &program, &timing, c);
    ok(n == 7, "a choice a case and part that has a variant that may win: %d", n);
    ok(is(c[0].best, "fixed") && is(c[1].best, "dkv:fixed") && is(c[2].best, "dq:fixed"),
       "each part has its own, in the order of the rows; names without a colon are one");
    ok(!c[0].second && is(c[1].second, "dkv:small") && is(c[2].second, "dq:large"),
       "the next best is of the same part");
    ok(is(c[0].first, "fixed") && is(c[1].first, "dkv:small") && is(c[2].first, "dq:fixed"),
       "first is the first of the part in the step's table");
    ok(is(c[1].half, "dkv:fixed") && is(c[1].again, "dkv:fixed") && is(c[2].half, "dq:large") &&
           is(c[2].again, "dq:fixed"),
       "the halves of the rounds choose within the part");
    ok(is(c[4].best, "dq:large") && is(c[4].far, "dq:fixed") && c[4].far_Sk == 512 &&
           is(c[2].far, "dq:large") && c[2].far_Sk == 8192,
       "the winner of another length is of the same part");
    ok(is(c[1].far, "dkv:small") && c[1].far_Sk == 8192 && is(c[5].far, "dkv:small") &&
           c[5].far_Sk == 32,
       "also where other parts are slower");
    ok(c[0].candidates == 1 && c[1].candidates == 2 && c[2].candidates == 2 && c[0].refused == 0 &&
           c[1].refused == 1 && c[2].refused == 0,
       "how many took part and were refused, of each part");
    ok(is(c[6].best, "dkv:small") && c[6].far == c[6].best && c[6].best->shape.Sk == 32,
       "a case may have candidates of one part only");
    part_rows();
    rows[1].status = "wrong";
    n = kf_choose(rows, n_rows, &program, &timing, c);
    ok(n == 7 && is(c[1].best, "dkv:small") && is(c[2].best, "dq:fixed") &&
           is(c[2].first, "dq:fixed"),
       "what is wrong in one part may have the name of what is right in another");
}

static void halves(void)
{
    const double x[] = {1, 2, 3, 10, 20, 30, 40};
    kf_stat stat;
    kf_summarise(x, 1, 7, 7, true, &stat);
    ok(stat.half[0] == 2 && stat.half[1] == 25 && stat.median == 10,
       "medians of each half of the rounds: %g and %g", stat.half[0], stat.half[1]);
    kf_summarise(x, 1, 7, 1, true, &stat);
    ok(stat.half[0] == 1 && stat.half[1] == 1, "a single round is both halves");
}

/* --- The table ------------------------------------------------------------------------------- */

static char path[] = "/tmp/unit_tune.XXXXXX";

static void write_text(const char *text)
{
    FILE *to = fopen(path, "w");
    fputs(text, to);
    fclose(to);
}

static const char *of_part(const char *part, int S)
{
    static char variant[16];
    const kf_shape shape = {1, 1, S, S, 64, 0, false, 0};
    return kf_tuned_read(path, "G-100", &shape, part, variant, sizeof variant) ? variant : "none";
}

static const char *variant_for(int Sq, int Sk, int D, bool causal)
{
    static char variant[16];
    const kf_shape shape = {1, 1, Sq, Sk, D, 0, causal, 0};
    return kf_tuned_read(path, "G-100", &shape, NULL, variant, sizeof variant) ? variant : "none";
}

static char table[4096];

static void write_table(const kf_choice *c, int n)
{
    FILE *to = fopen(path, "w");
    fprintf(to, "# device: G-100\n# seed: 1\n%s\n", kf_choice_columns);
    kf_choices_write(to, c, n);
    fclose(to);
    FILE *from = fopen(path, "r");
    table[fread(table, 1, sizeof table - 1, from)] = '\0';
    fclose(from);
}

static void reading(const kf_choice *c)
{
    write_table(c, 3);
    ok(strstr(table, "\n512\t512\t64\t0\t4\t8\tsmall\t9\tclose\t9.1\tfixed\t10\tclose\t9.5\tsmall\t"
                     "9.25\tlarge\t8192\t12\t4\t1\t50\n") != NULL,
       "a row of the table");
    ok(strstr(table, "\n512\t512\t64\t1\t4\t8\tfixed\t6\t-\t-\tfixed\t6\tfixed\t6\tfixed\t6\t-\t-\t"
                     "-\t1\t0\t75\n") != NULL,
       "what there is not is a -");
    ok(!strcmp(variant_for(512, 512, 64, false), "small") &&
           !strcmp(variant_for(8192, 8192, 64, false), "large") &&
           !strcmp(variant_for(512, 512, 64, true), "fixed"),
       "looked up by its key");
    ok(!strcmp(variant_for(1, 1, 64, false), "small") &&
           !strcmp(variant_for(2000, 2000, 64, false), "small") &&
           !strcmp(variant_for(2100, 2100, 64, false), "large") &&
           !strcmp(variant_for(1 << 20, 1 << 20, 64, false), "large") &&
           !strcmp(variant_for(1024, 100000, 64, false), "large"),
       "other lengths have the choice of the nearest, as a ratio");
    ok(!strcmp(variant_for(512, 512, 128, false), "none"), "another D has none");
    const kf_shape shape = {1, 1, 1, 1, 64, 0, false, 0};
    char variant[16];
    ok(!kf_tuned_read("/tmp/unit_tune.none", "G-100", &shape, NULL, variant, sizeof variant),
       "nor has a table that is not there");
}

static void reading_parts(const kf_choice *c, int n)
{
    write_table(c, n);
    ok(strstr(table, "\n512\t512\t64\t0\t4\t8\tdq:fixed\t10\tdq:large\t12\tdq:fixed\t10\t"
                     "dq:large\t12\tdq:fixed\t10\tdq:large\t8192\t12\t2\t0\t45\n") != NULL,
       "a row of a part has whole names");
    ok(!strcmp(of_part("dq", 512), "fixed") && !strcmp(of_part("dq", 8192), "large") &&
           !strcmp(of_part("dkv", 512), "fixed") && !strcmp(of_part("dkv", 8192), "small"),
       "looked up by its part, it is the name after the colon");
    ok(!strcmp(of_part("dq", 32), "fixed") && !strcmp(of_part("dkv", 32), "small"),
       "the nearest length is the nearest of the part");
    ok(!strcmp(of_part(NULL, 512), "fixed") && !strcmp(of_part("d", 512), "none") &&
           !strcmp(of_part("dq:", 512), "none") && !strcmp(of_part("fixed", 512), "none"),
       "without a part it is that without a colon, and there is no other part");
    write_table(c + 1, n - 1 < 2 ? n - 1 : 2);
    ok(!strcmp(of_part(NULL, 512), "none"), "a table of parts has none without");
}

/* Whether the table ends the program with code 1 and one line that has this in it. */
static void dies(const char *text, const char *line)
{
    char said[1024] = "";
    int pipes[2], status = 0;
    write_text(text);
    fflush(stdout);
    if (pipe(pipes) != 0)
        abort();
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        variant_for(512, 512, 64, false);
        _exit(0);
    }
    close(pipes[1]);
    size_t length = 0;
    ssize_t more;
    while (length + 1 < sizeof said &&
           (more = read(pipes[0], said + length, sizeof said - length - 1)) > 0)
        length += (size_t)more;
    close(pipes[0]);
    waitpid(child, &status, 0);
    const char *end = strchr(said, '\n');
    ok(WIFEXITED(status) && WEXITSTATUS(status) == KF_WRONG && strstr(said, line) && end && !end[1],
       "refused: %s", line);
    if (!strstr(said, line))
        printf("# it said: %s", said);
}

/* The table with its first row of S = 512 in other words. */
static const char *changed(const char *was, const char *is)
{
    static char text[8192];
    const char *at = strstr(table, was);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - table), table, is, at + strlen(was));
    return text;
}

static void damage(void)
{
    dies("", "no line with the columns' names; tune again");
    dies("# device: G-100 large\n", ":1: was tuned for G-100 large, and this is G-100");
    dies("# device: G-200\n", ":1: was tuned for G-200, and this is G-100; tune again");
    dies(changed("# device: G-100\n", ""), "no line \"# device: ...\"; tune again");
    dies(changed("Sq\tSk", "Sk\tSq"), ":3: not the columns of a table that tuning writes");
    dies(changed("\t12\t4\t1\t50\n", "\t12\t4\t1\n"), ":4: 21 cells; 22 are right");
    dies(changed("512\t512\t64\t0", "512\t0\t64\t0"), ":4: Sk is \"0\"; a whole number from 1");
    dies(changed("512\t512\t64\t0", "x\t512\t64\t0"), ":4: Sq is \"x\"; a whole number");
    dies(changed("512\t512\t64\t0", "512\t512\t6.4\t0"), ":4: D is \"6.4\"; a whole number");
    dies(changed("512\t512\t64\t0", "512\t512\t64\t2"), ":4: causal is \"2\"; a whole number");
    dies(changed("\tsmall\t9\t", "\t\t9\t"), ":4: variant is \"\"; a name of 1 to 15 letters");
    dies(changed("\tsmall\t9\t", "\tsixteen-letters-\t9\t"), ":4: variant is \"sixteen-letters-\"");
    dies(changed("\tsmall\t9\t", "\tdq:\t9\t"), ":4: variant is \"dq:\"; a name of 1 to 15");
    write_text(changed("\tsmall\t9\t", "\tdq:sixteen-letters-\t9\t"));
    ok(!strcmp(variant_for(8192, 8192, 64, false), "large"),
       "names of another part may be longer than the caller has room for");
}

int main(void)
{
    kf_choice chosen[32];
    close(mkstemp(path));
    halves();
    choices(chosen);
    parts(chosen);
    some_rows();
    kf_choose(rows, n_rows, &program, &timing, chosen);
    reading(chosen);
    damage();
    part_rows();
    int n = kf_choose(rows, n_rows, &program, &timing, chosen);
    reading_parts(chosen, n);
    unlink(path);
    return done();
}
