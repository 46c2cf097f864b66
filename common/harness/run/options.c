/* options.c: the command line. Whatever is wrong with it is one line that names the argument and
 * says what would be right, and exit code 2. */
#define _DEFAULT_SOURCE
#include "harness/run/run.h"
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct field {
    const char *name;
    size_t offset;
} fields[] = {{"B", offsetof(kf_shape, B)},
              {"H", offsetof(kf_shape, H)},
              {"Sq", offsetof(kf_shape, Sq)},
              {"Sk", offsetof(kf_shape, Sk)},
              {"S", offsetof(kf_shape, Sq)},
              {"D", offsetof(kf_shape, D)},
              {"R", offsetof(kf_shape, R)},
              {"pos0", offsetof(kf_shape, pos0)},
              {"causal", 0}};
enum { FIELDS = sizeof fields / sizeof *fields };
enum { SINK = 256 }; /* from here on an option's number is that of a sink */

static long long field_of(const kf_shape *shape, const struct field *f)
{
    if (strcmp(f->name, "causal") == 0)
        return shape->causal;
    int value;
    memcpy(&value, (const char *)shape + f->offset, sizeof value);
    return value;
}

static const struct field *find_field(const char *name, size_t length)
{
    for (int i = 0; i < FIELDS; i++)
        if (strlen(fields[i].name) == length && strncmp(fields[i].name, name, length) == 0)
            return &fields[i];
    return NULL;
}

/* S is what queries and keys have in common: other shapes have none. */
static bool has_field(const kf_shape *shape, const struct field *f)
{
    return strcmp(f->name, "S") != 0 || shape->Sq == shape->Sk;
}

/* "64, 128 and so on": the values of a field among the cases, each once. */
static void known_values(const kf_program *p, const struct field *f, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < p->n_cases; i++) {
        long long value = field_of(&p->cases[i].shape, f);
        bool seen = !has_field(&p->cases[i].shape, f);
        for (int j = 0; j < i; j++)
            seen |= has_field(&p->cases[j].shape, f) && field_of(&p->cases[j].shape, f) == value;
        if (!seen && length < size)
            length +=
                (size_t)snprintf(text + length, size - length, "%s%lld", length ? ", " : "", value);
    }
}

/* "D64, odd and 3 more (--list)" */
static void known_cases(const kf_program *p, char *text, size_t size)
{
    enum { MOST_NAMES = 10 };
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < p->n_cases && i < MOST_NAMES; i++)
        length +=
            (size_t)snprintf(text + length, size - length, "%s%s", i ? ", " : "", p->cases[i].name);
    if (p->n_cases > MOST_NAMES)
        snprintf(text + length, size - length, " and %d more (--list)", p->n_cases - MOST_NAMES);
}

static bool whole_number(const char *text, size_t length, unsigned long long *value)
{
    char digits[32];
    if (length == 0 || length >= sizeof digits || strspn(text, "0123456789") < length)
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    errno = 0;
    *value = strtoull(digits, NULL, 10);
    return errno == 0;
}

static void match_field(const kf_program *p, const char *argument, const char *text, size_t length,
                        bool *match)
{
    const char *equals = memchr(text, '=', length);
    const struct field *f = equals ? find_field(text, (size_t)(equals - text)) : NULL;
    if (!f)
        kf_die(KF_USAGE, "--case %s: no field \"%.*s\"; B, H, S, Sq, Sk, D, R, causal, pos0 exist",
               argument, (int)(equals ? equals - text : (ptrdiff_t)length), text);
    unsigned long long value;
    size_t digits = length - (size_t)(equals + 1 - text);
    if (!whole_number(equals + 1, digits, &value))
        kf_die(KF_USAGE, "--case %s: \"%.*s\" is not a whole number", argument, (int)digits,
               equals + 1);
    bool exists = false;
    for (int i = 0; i < p->n_cases; i++) {
        const kf_shape *shape = &p->cases[i].shape;
        bool same = has_field(shape, f) && (unsigned long long)field_of(shape, f) == value;
        exists |= same;
        match[i] = match[i] && same;
    }
    if (!exists) {
        char known[256];
        known_values(p, f, known, sizeof known);
        kf_die(KF_USAGE, "--case %s: no case has %s=%llu; %s is one of %s", argument, f->name,
               value, f->name, known);
    }
}

/* Letters to change, add or leave out, to make one word of the other. */
static int distance(const char *a, const char *b)
{
    enum { MOST = 32 };
    int row[MOST + 1], n = (int)strlen(b);
    if (n > MOST)
        return MOST;
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (; *a; a++) {
        int last = row[0]++;
        for (int j = 1; j <= n; j++) {
            int least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1, kept = row[j];
            row[j] = last + (*a != b[j - 1]) < least ? last + (*a != b[j - 1]) : least;
            last = kept;
        }
    }
    return row[n];
}

/* An argument that getopt_long does not take. */
static void refuse_option(const struct option *known, const char *argument)
{
    const char *name = argument + strspn(argument, "-"), *near = NULL;
    size_t length = strcspn(name, "=");
    int best = length < 4 ? 2 : 3;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    for (; known->name; known++) {
        int away = distance(word, known->name);
        if (away < best) {
            best = away;
            near = known->name;
        }
    }
    if (near && best == 0 && strncmp(argument, "--", 2) == 0)
        kf_die(KF_USAGE, "%s: --%s takes no value; see --help", argument, near);
    if (argument[0] != '-' && (near || strchr(argument, '=')))
        kf_die(KF_USAGE, "%s: not an option; options begin with --, as --%s%s", argument,
               near ? near : "case ", near ? "" : argument);
    if (argument[0] != '-')
        kf_die(KF_USAGE, "%s: not an option; options begin with --, see --help", argument);
    if (near)
        kf_die(KF_USAGE, "%s: no such option; --%s is one, --help lists all", argument, near);
    kf_die(KF_USAGE, "%s: no such option; --help lists all", argument);
}

static void choose_case(const kf_program *p, const char *argument, kf_options *o)
{
    bool match[KF_MAX_CHOICES], any = false;
    if (!strchr(argument, '=')) {
        for (int i = 0; i < p->n_cases; i++)
            if (strcmp(p->cases[i].name, argument) == 0) {
                o->case_chosen[i] = o->case_named[i] = true;
                return;
            }
        char known[1024];
        known_cases(p, known, sizeof known);
        if (strchr(argument, ','))
            kf_die(KF_USAGE, "--case %s: one name each, as --case %.*s --case %s", argument,
                   (int)strcspn(argument, ","), argument, strchr(argument, ',') + 1);
        kf_die(KF_USAGE, "--case %s: no case of that name; one of %s, or FIELD=VALUE as in D=%d",
               argument, known, p->cases[0].shape.D);
    }
    memset(match, true, sizeof match);
    for (const char *text = argument;;) {
        size_t length = strcspn(text, ",");
        match_field(p, argument, text, length, match);
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    for (int i = 0; i < p->n_cases; i++) {
        any |= match[i];
        o->case_chosen[i] |= match[i];
    }
    if (!any)
        kf_die(KF_USAGE, "--case %s: each value exists, but no case has them all; see --list",
               argument);
}

static void choose_variant(const kf_program *p, const char *argument, kf_options *o)
{
    char known[512] = "";
    for (int i = 0; i < p->n_variants; i++) {
        size_t length = strlen(known);
        if (strcmp(p->variants[i].name, argument) == 0) {
            o->variant_chosen[i] = true;
            return;
        }
        snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "", p->variants[i].name);
    }
    kf_die(KF_USAGE, "--variant %s: no such variant; one of %s", argument, known);
}

static void choose_clock(const kf_program *p, const char *argument, kf_options *o)
{
    char known[128] = "";
    int n;
    const kf_timing *timings = kf_timings_of(p, &n);
    for (int i = 0; i < n; i++) {
        const char *name = kf_clock_name(timings[i].clock);
        if (strcmp(name, argument) == 0) {
            o->clock_chosen[timings[i].clock] = true;
            return;
        }
        if (!strstr(known, name)) {
            size_t length = strlen(known);
            snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "", name);
        }
    }
    kf_die(KF_USAGE, "--clock %s: this program does not time on it; one of %s", argument, known);
}

static unsigned long long number(const char *option, const char *text, unsigned long long least,
                                 unsigned long long most)
{
    unsigned long long value = 0;
    if (!whole_number(text, strlen(text), &value) || value < least || value > most)
        kf_die(KF_USAGE, "--%s %s: a whole number from %llu to %llu is right", option, text, least,
               most);
    return value;
}

static void check_program(const kf_program *p)
{
    if (p->n_cases > KF_MAX_CHOICES || p->n_variants > KF_MAX_CHOICES)
        kf_die(KF_WRONG, "at most %d cases and %d variants are right", KF_MAX_CHOICES,
               KF_MAX_CHOICES);
    for (int i = 0; i < p->n_cases + p->n_variants; i++) {
        const char *name = i < p->n_cases ? p->cases[i].name : p->variants[i - p->n_cases].name;
        if (!*name || strlen(name) >= KF_CELL || strpbrk(name, " \t\n\"\\=,") != NULL)
            kf_die(KF_WRONG, "name \"%s\": no blanks, quotes, backslashes, commas or =", name);
    }
    for (int i = 0; i < p->n_timings; i++)
        if (kf_is_alone(p->timings[i].clock) && p->timings[i].l2 != KF_WARM)
            kf_die(KF_WRONG, "clock %s: a warm L2 is right, nothing is flushed in between",
                   kf_clock_name(p->timings[i].clock));
}

/* --repeats and --timeline launch without timing; --rates, --tuned and --reps want times. */
static void check_together(const kf_program *p, const kf_options *o, bool some_reps)
{
    const char *repeats = o->path[KF_REPEATS], *timeline = o->path[KF_TIMELINE];
    const char *tuned = o->path[KF_TUNED], *rates = o->path[KF_RATES];
    if (repeats && kf_instrument() != KF_PLAIN)
        kf_die(KF_USAGE, "--repeats %s: this program %s; `make step-%.*s run` makes one for it",
               repeats,
               kf_instrument() == KF_COUNT ? "counts one launch of each variant"
                                           : "checks with one OS thread, and then bits repeat",
               (int)strcspn(p->step, "-"), p->step);
    const char *why = !repeats  ? NULL
                      : o->once ? "--once and --launches launch each variant once"
                      : tuned   ? "nothing is timed with it, and --tuned chooses by times"
                                : NULL;
    if (why)
        kf_die(KF_USAGE, "--repeats %s: %s; leave one of them out", repeats, why);
    if (repeats && some_reps)
        kf_die(KF_USAGE,
               "--reps %d: timing rounds, and nothing is timed with --repeats; leave "
               "one of them out",
               o->reps);
    if (rates && (o->once || repeats))
        kf_die(KF_USAGE, "--rates %s: nothing is timed with %s; leave one of them out", rates,
               o->once ? "--once and --launches" : "--repeats");
    const char *other = o->once     ? "--once"
                        : repeats   ? "--repeats"
                        : tuned     ? "--tuned"
                        : rates     ? "--rates"
                        : some_reps ? "--reps"
                                    : NULL;
    if (timeline && other)
        kf_die(KF_USAGE,
               "--timeline %s: each variant is launched once more, and not timed; leave "
               "out %s",
               timeline, other);
}

static void check_model(const kf_program *p, const kf_options *o)
{
    bool any = false;
    if (!o->model)
        return;
    if (!p->reads_model)
        kf_die(KF_USAGE, "--model %s: this program reads no model; leave it out", o->model);
    for (int i = 0; i < p->n_cases; i++)
        any |= o->case_chosen[i] && p->reads_model(&p->cases[i]);
    if (!any)
        kf_die(KF_USAGE, "--model %s: no case chosen reads a model from a file; leave it out",
               o->model);
}

/* "--out --json": the second would be taken for a file's name, and its own meaning lost. */
static void check_value(const char *option, const char *value, const char *argument)
{
    // make adds --out itself, so a reader who left the value out has not typed it.
    if (value == argument && strcmp(value, "--out") == 0 && strcmp(option, "out") != 0)
        kf_die(KF_USAGE, "--%s: needs a value; --list shows cases and variants", option);
    if (value == argument && strncmp(value, "--", 2) == 0)
        kf_die(KF_USAGE, "--%s: needs a value, and %s is an option; --%s=%s if it is the value",
               option, value, option, value);
}

void kf_options_read(const kf_program *p, int argc, char **argv, kf_options *o)
{
    const struct option fixed[] = {{"help", no_argument, NULL, 'h'},
                                   {"list", no_argument, &o->list, 1},
                                   {"questions", no_argument, &o->questions, 1},
                                   {"json", no_argument, &o->json, 1},
                                   {"case", required_argument, NULL, 'c'},
                                   {"variant", required_argument, NULL, 'v'},
                                   {"seed", required_argument, NULL, 's'},
                                   {"reps", required_argument, NULL, 'r'},
                                   {"by-line", no_argument, &o->by_line, 1},
                                   {"once", no_argument, &o->once, 1},
                                   {"verbose", no_argument, &o->verbose, 1},
                                   {"clock", required_argument, NULL, 'k'},
                                   {"repetitions", required_argument, NULL, 'n'},
                                   {"model", required_argument, NULL, 'M'},
                                   {NULL, 0, NULL, 0}};
    struct option known[KF_SINKS + KF_COUNT_OF(fixed)];
    for (int i = 0; i < KF_SINKS; i++)
        known[i] =
            (struct option){kf_sink_option((enum kf_sink)i), required_argument, NULL, i + SINK};
    memcpy(known + KF_SINKS, fixed, sizeof fixed);
    bool some_case = false, some_variant = false, some_reps = false, some_clock = false;
    memset(o, 0, sizeof *o);
    o->reps = KF_MAX_REPS;
    o->repetitions = KF_REPETITIONS;
    check_program(p);
    opterr = 0;
    optind = 1;
    for (;;) {
        int at = optind, which = 0, c = getopt_long(argc, argv, "+:", known, &which);
        if (c == -1)
            break;
        if (c != ':' && c != '?' && known[which].has_arg == required_argument)
            check_value(known[which].name, optarg, argv[optind - 1]);
        if (c == 'h') {
            kf_help_print(p);
            exit(KF_OK);
        }
        if (c == ':')
            kf_die(KF_USAGE, "%s: needs a value; see --help", argv[at]);
        if (c == '?')
            refuse_option(known, argv[at < argc ? at : argc - 1]);
        if (c >= SINK)
            o->path[c - SINK] = optarg;
        else if (c == 'M')
            o->model = optarg;
        else if (c == 'n')
            o->repetitions = (int)number("repetitions", optarg, 1, KF_MAX_REPETITIONS);
        else if (c == 'r') {
            o->reps = (int)number("reps", optarg, 1, KF_MAX_REPS);
            some_reps = true;
        } else if (c == 's') {
            o->seed = number("seed", optarg, 0, UINT64_MAX);
            o->has_seed = true;
        } else if (c == 'c') {
            choose_case(p, optarg, o);
            some_case = true;
        } else if (c == 'v') {
            choose_variant(p, optarg, o);
            some_variant = true;
        } else if (c == 'k') {
            choose_clock(p, optarg, o);
            some_clock = true;
        }
    }
    if (optind < argc)
        refuse_option(known, argv[optind]);
    if (o->by_line && kf_instrument() != KF_COUNT)
        kf_die(KF_USAGE,
               "--by-line: this program counts nothing; `make step-%.*s count "
               "ARGS=--by-line` makes one that does",
               (int)strcspn(p->step, "-"), p->step);
    o->once |= o->path[KF_LAUNCHES] != NULL;
    o->verbose |= some_case || some_variant;
    kf_sinks_check(p, o->path);
    check_together(p, o, some_reps);
    for (int i = 0; i < p->n_cases; i++)
        o->case_chosen[i] |= !some_case;
    check_model(p, o);
    for (int i = 0; i < p->n_variants; i++)
        o->variant_chosen[i] |= !some_variant;
    for (int i = 0; i < KF_CLOCKS; i++)
        o->clock_chosen[i] |= !some_clock;
    if (!o->has_seed)
        o->seed = kf_fresh_seed();
}
