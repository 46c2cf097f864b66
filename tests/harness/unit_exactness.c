/* unit_exactness.c: how much of their bounds results use, and what is let pass. */
#define _DEFAULT_SOURCE
#include "unit.h"
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static const kf_case shape = {.name = "small", .shape = {1, 1, 2, 2, 4, 0, false, 0}};
static kf_run run;
static kf_tensor *o;

/* A file of rows below root, which KF_ROOT names. */
static kf_exactness *known_from(const char *root, const char *rows)
{
    static const char *const folder[] = {"", "/plots", "/plots/data", "/plots/data/cpu"};
    char path[256];
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s%s", root, folder[i]);
        mkdir(path, 0777);
    }
    snprintf(path, sizeof path, "%s/plots/data/cpu/step-00-exactness.tsv", root);
    FILE *file = fopen(path, "w");
    fprintf(file, "# device: cpu\n%s\n%s", kf_exactness_columns, rows);
    fclose(file);
    setenv("KF_ROOT", root, 1);
    return kf_exactness_find("00");
}

/* Whether errors of these parts of the bound, twice each, are exact enough. */
static bool exact(const kf_exactness *known, const char *variant, const double part[4],
                  const char *says)
{
    float got[8];
    char why[256] = "";
    kf_diagnosis seen;
    for (int i = 0; i < 8; i++) {
        o->want[i] = 0.0;
        o->bound[i] = i < 4 ? 1.0 : 2.0;
        got[i] = (float)(part[i % 4] * o->bound[i]);
    }
    memset(o->checked, true, 2);
    kf_compare(o, got, &seen);
    bool is = kf_is_exact(known, variant, "small", &seen, why, sizeof why);
    if (strcmp(why, says) != 0)
        printf("# said: %s\n# expected: %s\n", why, says);
    is = is == !says[0] && strcmp(why, says) == 0;
    kf_diagnosis_free(&seen);
    return is;
}

int main(void)
{
    char root[] = "/tmp/exactness.XXXXXX";
    run = unit_attention(&shape, 1);
    o = kf_find(&run, "o");
    ok(mkdtemp(root) != NULL, "there is a folder");
    setenv("KF_ROOT", root, 1);
    ok(!kf_exactness_find("00"), "of a step without a file nothing is known");

    /* The parts 0, 0, 3/8 and -1/2 have the mean 5/16. */
    kf_exactness *known = known_from(root, "fine\tsmall\to\t0.10417\t0.13\n"
                                           "mean\tsmall\to\t0.104\t0.13\n"
                                           "large\tsmall\to\t0.3\t0.1249\n"
                                           "one\tsmall\to\t0.05\t0.15\n"
                                           "two\tsmall\to\t0.05\t0.13\n"
                                           "first\tother\to\t0\t0\nother\tsmall\tq\t0\t0\n");
    const double part[] = {0.0, 0.0, 0.375, -0.5};
    const double none[] = {0.0, 0.0, 0.0, 0.0};
    ok(exact(known, "fine", part, ""), "three times the mean that was seen passes");
    ok(exact(known, "mean", part,
             "o is less exact than a right one: the mean error/bound is 0.312; 0.104 was seen, and "
             "0.312 may be"),
       "more does not");
    ok(exact(known, "large", part,
             "o is less exact than a right one: the largest error/bound is 0.5; 0.125 was seen, "
             "and 0.5 may be"),
       "nor does more than four times the largest");
    ok(exact(known, "one", part, ""), "of two rows one that is off as may be passes");
    ok(exact(known, "two", part,
             "o is less exact than a right one: the mean error/bound is 0.312; 0.05 was seen, and "
             "0.276 may be"),
       "more does not");
    ok(exact(known, "first", part, ""), "another case says nothing");
    ok(exact(known, "other", part, ""), "nor does another output");
    ok(exact(known, "strange", part, ""), "nor another variant");
    ok(exact(NULL, "mean", part, ""), "and where nothing is known all passes");
    kf_exactness_free(known);

    known = known_from(root, "fine\tsmall\to\t0\t0\n");
    ok(exact(known, "fine", none, ""), "what was exact may be exact");
    ok(exact(known, "fine", part,
             "o is less exact than a right one: the mean error/bound is 0.312; 0 was seen, and 0 "
             "may be"),
       "and nothing else");
    kf_exactness_free(known);

    /* One number has a mean, too. */
    char written[64] = "";
    FILE *memory = fmemopen(written, sizeof written, "w");
    static const kf_case tiny = {.name = "tiny", .shape = {1, 1, 1, 1, 1, 0, false, 0}};
    kf_run run_of_one = unit_attention(&tiny, 1);
    const float half = 0.5f;
    kf_diagnosis seen;
    o = kf_find(&run_of_one, "o");
    o->want[0] = 0.0;
    o->bound[0] = 1.0;
    o->checked[0] = true;
    kf_compare(o, &half, &seen);
    kf_exactness_write(memory, "fine", "tiny", &seen);
    kf_diagnosis_free(&seen);
    fclose(memory);
    kf_close(&run_of_one);
    o = kf_find(&run, "o");
    ok(strcmp(written, "fine\ttiny\to\t0.5\t0.5\n") == 0, "a single number: %s", written);

    /* Of three cases half have 0.11 or more. */
    known = known_from(root, "fine\tsmall\to\t0\t0\nfine\ta\to\t0.11\t0.13\nfine\tb\to\t0.2\t0.3\n"
                             "other\tc\to\t0\t0\nfine\tc\tq\t0\t0\n");
    ok(exact(known, "fine", part, ""), "as much as half of the cases show is let pass in all");
    kf_exactness_free(known);
    known = known_from(root, "fine\tsmall\to\t0\t0\nfine\ta\to\t0.1\t0.13\nfine\tb\to\t0.2\t0.3\n");
    ok(exact(known, "fine", part,
             "o is less exact than a right one: the mean error/bound is 0.312; 0 was seen, and 0.3 "
             "may be"),
       "and not more");
    kf_exactness_free(known);
    kf_close(&run);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    ok(system(command) == 0, "the folder is gone");
    return done();
}
