/* tune.c: which variant is the fastest for each shape, as a table that other programs look up.
 *
 * Only a variant with the status "ok" may win: it was right before and after it was timed, and its
 * times are not noisy. A variant that is wrong in any case wins in none, for an odd shape may be
 * the only one that shows its bug. A row also tells how sure the choice is: the second-fastest
 * variant; what each half of the rounds would have chosen, and its time in the second half; and, of
 * the winners at other lengths, the slowest at this one.
 *
 * A step may consist of several kernels, each with candidates of its own: the name of such a
 * variant begins with its part and a colon, "dq:m64-n64". Candidates of one part compete with each
 * other only; names without a colon are one part. */
#include "harness/report/report.h"
#include "harness/tuned.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- The choice ------------------------------------------------------------------------------ */

static double by_median(const kf_row *row)
{
    return row->stat.median;
}

static double by_first_half(const kf_row *row)
{
    return row->stat.half[0];
}

static double by_second_half(const kf_row *row)
{
    return row->stat.half[1];
}

/* How long the part of a variant's name is, without the colon; 0: it has none. */
static size_t part_length(const char *variant)
{
    const char *colon = strchr(variant, ':');
    return colon ? (size_t)(colon - variant) : 0;
}

static bool same_part(const char *a, const char *b)
{
    size_t length = part_length(a);
    return length == part_length(b) && strncmp(a, b, length) == 0;
}

static bool may_win(const kf_row *row, const kf_timing *timing)
{
    return row->timing == timing && strcmp(row->status, "ok") == 0;
}

/* The fastest of the part of `like` but `without`; NULL: none may win. */
static const kf_row *fastest(const kf_row *rows, int n, const kf_timing *timing, const char *like,
                             double (*us)(const kf_row *), const kf_row *without)
{
    const kf_row *best = NULL;
    for (int i = 0; i < n; i++)
        if (may_win(&rows[i], timing) && same_part(rows[i].variant, like) && &rows[i] != without &&
            (!best || us(&rows[i]) < us(best)))
            best = &rows[i];
    return best;
}

static const kf_row *row_of(const kf_row *rows, int n, const kf_timing *timing, const char *variant)
{
    for (int i = 0; i < n; i++)
        if (may_win(&rows[i], timing) && strcmp(rows[i].variant, variant) == 0)
            return &rows[i];
    return NULL;
}

static void find_far(kf_choice *choices, int n, const kf_timing *timing)
{
    for (int i = 0; i < n; i++) {
        kf_choice *c = &choices[i];
        for (int j = 0; j < n; j++) {
            const kf_row *other = choices[j].best;
            if (j == i || other->shape.D != c->best->shape.D ||
                other->shape.causal != c->best->shape.causal ||
                !same_part(other->variant, c->best->variant))
                continue;
            const kf_row *here = row_of(c->rows, c->n, timing, other->variant);
            if (here && (!c->far || by_median(here) > by_median(c->far))) {
                c->far = here;
                c->far_Sk = other->shape.Sk;
            }
        }
    }
}

static bool is_wrong_anywhere(const kf_row *rows, int n, const char *variant)
{
    for (int i = 0; i < n; i++)
        if (strcmp(rows[i].variant, variant) == 0 && strcmp(rows[i].status, "wrong") == 0)
            return true;
    return false;
}

/* The part's first variant of the program. */
static const char *first_of(const kf_program *program, const char *like)
{
    for (int v = 0; v < program->n_variants; v++)
        if (same_part(program->variants[v].name, like))
            return program->variants[v].name;
    return like;
}

/* The choice for the part of `like` from the n rows of one case. */
static kf_choice choice_of(const kf_row *rows, int n, const kf_program *program,
                           const kf_timing *timing, const char *like)
{
    kf_choice c = {.rows = rows, .n = n};
    for (int i = 0; i < n; i++)
        if (same_part(rows[i].variant, like)) {
            c.candidates += may_win(&rows[i], timing);
            c.refused += strncmp(rows[i].status, "refused", strlen("refused")) == 0;
        }
    c.best = fastest(rows, n, timing, like, by_median, NULL);
    if (!c.best)
        return c;
    c.second = fastest(rows, n, timing, like, by_median, c.best);
    c.half = fastest(rows, n, timing, like, by_first_half, NULL);
    c.again = fastest(rows, n, timing, like, by_second_half, NULL);
    c.first = row_of(rows, n, timing, first_of(program, like));
    return c;
}

static bool begins_part(const kf_row *rows, int i)
{
    for (int k = 0; k < i; k++)
        if (same_part(rows[k].variant, rows[i].variant))
            return false;
    return true;
}

int kf_choose(kf_row *rows, int n, const kf_program *program, const kf_timing *timing,
              kf_choice *choices)
{
    int chosen = 0;
    for (int i = 0; i < n; i++)
        if (strcmp(rows[i].status, "ok") == 0 && is_wrong_anywhere(rows, n, rows[i].variant))
            rows[i].status = "wrong";
    for (int i = 0, end; i < n; i = end) {
        for (end = i; end < n && strcmp(rows[end].case_name, rows[i].case_name) == 0;)
            end++;
        for (int k = 0; k < end - i; k++) {
            if (!begins_part(rows + i, k))
                continue;
            choices[chosen] = choice_of(rows + i, end - i, program, timing, rows[i + k].variant);
            chosen += choices[chosen].best != NULL;
        }
    }
    find_far(choices, chosen, timing);
    return chosen;
}

/* --- The table on the screen ----------------------------------------------------------------- */

static void say_ratio(const kf_row *row, double us)
{
    if (row)
        kf_say(" %6.3fx", by_median(row) / us);
    else
        kf_say(" %7s", "-");
}

void kf_choices_print(const kf_choice *choices, int n)
{
    int same = 0;
    double most = 1.0;
    kf_say("\nthe fastest of each shape, and how much longer others take\n  %-30s %-20s %10s %7s "
           "%7s %7s\n",
           "shape", "fastest", "us", "second", "first", "far");
    for (int i = 0; i < n; i++) {
        const kf_choice *c = &choices[i];
        char shape[128];
        kf_shape_text(&c->best->shape, shape, sizeof shape);
        kf_say("  %-30s %-20s %10.2f", shape, c->best->variant, by_median(c->best));
        say_ratio(c->second, by_median(c->best));
        say_ratio(c->first, by_median(c->best));
        say_ratio(c->far, by_median(c->best));
        kf_say("\n");
        same += c->half == c->again;
        most = fmax(most, by_second_half(c->half) / by_second_half(c->again));
    }
    kf_say(
        "  first: the first of its part; far: the slowest here of those that win at other lengths\n"
        "  the two halves of the rounds choose the same in %d of %d; else at most %.1f%% slower\n",
        same, n, 100.0 * (most - 1.0));
}

/* --- The table in a file --------------------------------------------------------------------- */

const char kf_choice_columns[] =
    "Sq\tSk\tD\tcausal\tB\tH\tvariant\tus\tsecond\tsecond_us\tfirst\tfirst_us\thalf\thalf_us\t"
    "again\tagain_us\tfar\tfar_Sk\tfar_us\tcandidates\trefused\ttflops";

static void write_cells(FILE *to, const kf_row *row, double us)
{
    if (row)
        fprintf(to, "\t%s\t%.6g", row->variant, us);
    else
        fprintf(to, "\t-\t-");
}

void kf_choices_write(FILE *to, const kf_choice *choices, int n)
{
    for (int i = 0; i < n; i++) {
        const kf_choice *c = &choices[i];
        const kf_shape *s = &c->best->shape;
        fprintf(to, "%d\t%d\t%d\t%d\t%d\t%d", s->Sq, s->Sk, s->D, s->causal, s->B, s->H);
        write_cells(to, c->best, by_median(c->best));
        write_cells(to, c->second, c->second ? by_median(c->second) : 0.0);
        write_cells(to, c->first, c->first ? by_median(c->first) : 0.0);
        write_cells(to, c->half, by_second_half(c->half));
        write_cells(to, c->again, by_second_half(c->again));
        if (c->far)
            fprintf(to, "\t%s\t%d\t%.6g", c->far->variant, c->far_Sk, by_median(c->far));
        else
            fprintf(to, "\t-\t-\t-");
        double tflops = c->best->cost.flops / by_median(c->best) * 1e-6;
        fprintf(to, "\t%d\t%d\t%.6g\n", c->candidates, c->refused, tflops);
    }
}

/* --- Looking up ------------------------------------------------------------------------------ */

/* The line's cells; returns how many there are. */
static int split(char *line, char **cell, int most)
{
    int n = 0;
    for (char *at = line; at; n++) {
        char *tab = strchr(at, '\t');
        if (n < most)
            cell[n] = at;
        if (tab)
            *tab = '\0';
        at = tab ? tab + 1 : NULL;
    }
    return n;
}

/* The columns that are looked at. */
enum { SQ, SK, D, CAUSAL, VARIANT = 6, COLUMNS = 22 };

static int number(const char *path, int line, const char *name, const char *text, int least,
                  int most)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < least || value > most)
        kf_die(KF_WRONG, "%s:%d: %s is \"%s\"; a whole number from %d to %d is right", path, line,
               name, text, least, most);
    return (int)value;
}

/* How far apart two lengths are, as a ratio. */
static double apart(int a, int b)
{
    return fabs(log2((double)a / b));
}

/* Of the name of a variant what follows its part. */
static const char *after_part(const char *variant)
{
    const char *colon = strchr(variant, ':');
    return colon ? colon + 1 : variant;
}

static bool is_of_part(const char *variant, const char *part)
{
    size_t length = part_length(variant);
    return part ? length == strlen(part) && strncmp(variant, part, length) == 0 : length == 0;
}

bool kf_tuned_read(const char *path, const char *device, const kf_shape *shape, const char *part,
                   char *variant, size_t size)
{
    enum { MOST = 1 << 30 };
    static const char of_device[] = "# device: ";
    char text[1024], *cell[COLUMNS];
    double nearest = INFINITY;
    bool named = false, known_device = false;
    FILE *file = fopen(path, "r");
    if (!file && errno == ENOENT)
        return false;
    if (!file)
        kf_die(KF_WRONG, "%s: %s; a file that can be read is right", path, strerror(errno));
    for (int line = 1; fgets(text, sizeof text, file); line++) {
        text[strcspn(text, "\r\n")] = '\0';
        if (strncmp(text, of_device, strlen(of_device)) == 0) {
            known_device = true;
            if (strcmp(text + strlen(of_device), device) != 0)
                kf_die(KF_WRONG, "%s:%d: was tuned for %s, and this is %s; tune again", path, line,
                       text + strlen(of_device), device);
        }
        if (text[0] == '#')
            continue;
        if (!named && strcmp(text, kf_choice_columns) != 0)
            kf_die(KF_WRONG, "%s:%d: not the columns of a table that tuning writes; tune again",
                   path, line);
        if (!named) {
            named = true;
            continue;
        }
        int n = split(text, cell, COLUMNS);
        if (n != COLUMNS)
            kf_die(KF_WRONG, "%s:%d: %d cell%s; %d are right", path, line, n, n == 1 ? "" : "s",
                   COLUMNS);
        int Sq = number(path, line, "Sq", cell[SQ], 1, MOST);
        int Sk = number(path, line, "Sk", cell[SK], 1, MOST);
        int width = number(path, line, "D", cell[D], 1, MOST);
        bool causal = number(path, line, "causal", cell[CAUSAL], 0, 1);
        const char *name = after_part(cell[VARIANT]);
        bool is_wanted = is_of_part(cell[VARIANT], part);
        if (!*name || (is_wanted && strlen(name) >= size))
            kf_die(KF_WRONG, "%s:%d: variant is \"%s\"; a name of 1 to %zu letters is right", path,
                   line, cell[VARIANT], size - 1);
        double far = apart(Sq, shape->Sq) + apart(Sk, shape->Sk);
        if (!is_wanted || width != shape->D || causal != shape->causal || far >= nearest)
            continue;
        nearest = far;
        snprintf(variant, size, "%s", name);
    }
    fclose(file);
    if (!named || !known_device)
        kf_die(KF_WRONG, "%s: no %s; tune again", path,
               named ? "line \"# device: ...\"" : "line with the columns' names");
    return nearest < INFINITY;
}

bool kf_tuned(const char *table, const kf_shape *shape, const char *part, char *variant,
              size_t size)
{
    static const char *const folder[] = {"build/data", "plots/data"};
    const kf_device *device = kf_open_device();
    for (int i = 0; i < 2; i++) {
        char *path = kf_text("%s/%s/%s/tuned-%s.tsv", kf_root(), folder[i], device->slug, table);
        bool found = kf_tuned_read(path, device->name, shape, part, variant, size);
        free(path);
        if (found)
            return true;
    }
    return false;
}
