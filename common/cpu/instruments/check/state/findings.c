/* check: findings, gathered while kernels run and reported as one line each. */
#define _GNU_SOURCE
#include "instruments/check/state/check.h"
#include "base/plural.h"

#include "cpu/trace.h"
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct finding {
    enum rule rule;
    char *kernel; /* as the launch calls it */
    const void *function;
    uint3 grid, shape;
    struct side side[2]; /* the second of an uninitialised read: who has written there since */
    int sides, written_later;
    uint32_t wait; /* of a pending copy: see finding_waited; 0: none */
    int left;
    const char *source; /* an object's name, or NULL */
    size_t source_at;
    unsigned bytes;
    struct object object; /* .what is NULL for none */
    uintptr_t p;
    char *text;
    int second;      /* found in the second order of a launch, and not in the first */
    const char *why; /* the end of its line, in place of the rule's; NULL: that */
    uint64_t times;
};
int kernels_ran, findings_interrupted;
volatile int findings_change, findings_signal;
static struct finding *findings;
static int n_findings, of_rule[RULES], printed_by_host;
static int counted[RULES]; /* of these, those that are findings */
static int warnings;       /* lines of the last printing that are no findings */
enum { PLACES = 4 };       /* of a finding: its sides, the object's, and a wait */
static const struct {
    const char *name;
    enum { ALWAYS, LEAKS, SUMS, NEVER } counts;
    const char *meaning, *other, *end, *alone; /* NULL: the rule has none */
} rules[] = {
#define RULE(id, called, when, ...) [id] = {.name = called, .counts = when, .meaning = __VA_ARGS__},
#include "instruments/check/state/rules.h"
#undef RULE
};

/* Whether texts say the same of other threads, phases or elements: numbers may differ. */
static int same_words(const char *a, const char *b)
{
    while (*a && *b) {
        a += strspn(a, "-0123456789");
        b += strspn(b, "-0123456789");
        if (*a != *b)
            return 0;
        a += *a != '\0';
        b += *b != '\0';
    }
    return *a == *b;
}

static void *kept(void *p)
{
    return need_memory(p, "the findings of check");
}

static int add(enum rule rule, const struct cpu_kernel *kernel, const struct side *sides, int n,
               unsigned bytes, const struct object *object, uintptr_t p, const char *text)
{
    for (int i = n_findings - 1; i >= 0; i--) {
        struct finding *f = &findings[i];
        if (f->rule == rule && !f->second && f->side[0].code == sides[0].code &&
            !text == !f->text && (!text || (strchr(text, '%') && same_words(text, f->text))) &&
            (n == 1 || f->side[1].code == sides[1].code) &&
            (rule != LEAK || f->object.bytes == object->bytes)) {
            f->times++;
            return i;
        }
    }
    findings = kept(realloc(findings, (size_t)(n_findings + 1) * sizeof *findings));
    struct finding *f = &findings[n_findings++];
    *f = (struct finding){.rule = rule, .sides = n, .bytes = bytes, .p = p, .times = 1};
    memcpy(f->side, sides, (size_t)n * sizeof *sides);
    if (kernel) {
        f->kernel = kept(strdup(kernel->name));
        f->function = kernel->function;
        f->grid = kernel->grid;
        f->shape = kernel->block;
    }
    if (object)
        f->object = *object;
    const size_t name =
        strlen(rules[rule].name); /* the line begins with the rule, and its text need not */
    if (text && strncmp(text, rules[rule].name, name) == 0 && strncmp(text + name, ": ", 2) == 0)
        text += name + 2;
    f->text = text ? kept(strdup(text)) : NULL;
    return n_findings - 1;
}

int finding_add(enum rule rule, const struct cpu_kernel *kernel, const struct side *sides, int n,
                unsigned bytes, const struct object *object, uintptr_t p, const char *text)
{
    findings_change = 1;
    const int i = add(rule, kernel, sides, n, bytes, object, p, text);
    findings_change = 0;
    if (findings_signal)
        raise(findings_signal);
    return i;
}

void finding_why(int finding, const char *why)
{
    if (findings[finding].times == 1)
        findings[finding].why = why;
}

void finding_waited(int finding, uint32_t wait, int left, const struct object *source, uintptr_t p)
{
    struct finding *f = &findings[finding];
    if (f->times > 1)
        return;
    f->wait = wait;
    f->left = left;
    f->source = source ? source->name : NULL;
    f->source_at = source ? p - source->p : 0;
}

void finding_written_later(uint32_t read, uintptr_t p, unsigned bytes, const struct side *writer)
{
    for (int i = 0; i < n_findings; i++) {
        struct finding *f = &findings[i];
        if (f->rule != UNINITIALISED || f->written_later || f->text ||
            (f->side[0].code & 0xffffff) != read || p >= f->p + f->bytes || f->p >= p + bytes)
            continue;
        f->side[1] = *writer;
        f->written_later = 1;
    }
}

/* --- As text ---------------------------------------------------------------------------------- */

void finding_put_index(FILE *out, const char *name, uint64_t i, uint3 n)
{
    fprintf(out, "%s (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")", name, i % n.x, i / n.x % n.y,
            i / n.x / n.y);
}

static void put_calls(FILE *out, const char *before, const struct place *place, const char *behind)
{
    char text[1000];
    if (symbols_calls(text, sizeof text, place))
        fprintf(out, "%s%s%s", before, text, behind);
}

/* Names of an access of each kind, before and behind its place; and of what races with it. */
static const struct {
    const char *name, *by, *work;
} kinds[] = {
    [READ] = {"read", "", "launch"},
    [WRITE] = {"write", "", "launch"},
    [ATOMIC] = {"atomic", "", "launch"},
    [COPY] = {"copy", "", "launch"},
    [WGMMA] = {"wgmma", "", "launch"},
    [COPY_APART] = {"copy", "", "launch"},
    [COPY_READS] = {"read by the copy", "", "copy"},
    [COPY_WRITES] = {"write by the copy", "", "copy"},
    [COPY_STAGED] = {"write by the copy", "", "copy"},
    [SETS] = {"write by the memset", "", "memset"},
    [SETS_STAGED] = {"write by the memset", "", "memset"},
    [ALLOCATES] = {"allocation", "", "allocation"},
    [FREES] = {"free", "", "free"},
    [LIBRARY_READS] = {"read by cuBLAS", "", "call"},
    [LIBRARY_WRITES] = {"write by cuBLAS", "", "call"},
    [CALL_READS] = {"read", " by a host function", "host function"},
    [CALL_WRITES] = {"write", " by a host function", "host function"},
    [HOST_READS] = {"read", " by the host", ""},
    [HOST_WRITES] = {"write", " by the host", ""},
};

static int of_launch(const struct finding *f, int i)
{
    return f->side[i].kind < COPY_READS;
}

static void put_access(FILE *out, const struct finding *f, int i, const struct place *place)
{
    fprintf(out, "%s at %s:%d", kinds[f->side[i].kind].name, place->file, place->line);
    put_calls(out, " (", place, ")");
}

static void put_side(FILE *out, const struct finding *f, int i, const struct place *place,
                     int with_block)
{
    put_access(out, f, i, place);
    fputs(" by", out);
    finding_put_index(out, " thread", (uint64_t)f->side[i].thread, f->shape);
    if (with_block)
        finding_put_index(out, " of block", f->side[i].block, f->grid);
}

static void put_object(FILE *out, const struct object *o, const struct place *site)
{
    int allocated = o->what && strcmp(o->what, "allocated") == 0;
    if (o->name)
        fprintf(out, "%s (%zu byte%s%s%s", o->name, o->bytes, plural((long long)o->bytes),
                allocated ? "" : " ", allocated ? "" : o->what);
    else
        fprintf(out, "the allocation of %s:%d (%zu byte%s", site->file, site->line, o->bytes,
                plural((long long)o->bytes));
    fprintf(out, ")");
}

/* Where the access lies in, before or behind its object. */
static void put_where(FILE *out, const struct finding *f, const struct place *site)
{
    const struct object *o = &f->object;
    if (!o->what) {
        fprintf(out, "where no device memory is%s", f->p < 65536 ? ", near NULL" : "");
        return;
    }
    if (f->p < o->p)
        fprintf(out, "%zu byte%s before ", (size_t)(o->p - f->p), plural((long long)(o->p - f->p)));
    else if (f->p >= o->p + o->bytes)
        fprintf(out, "%zu byte%s past the end of ", (size_t)(f->p - o->p - o->bytes),
                plural((long long)(f->p - o->p - o->bytes)));
    else
        fprintf(out, "at offset %zu of ", (size_t)(f->p - o->p));
    put_object(out, o, site);
}

/* Work of two streams, or of a stream and the host. The second side came first. */
static void put_work(FILE *out, const struct finding *f, const struct place *place)
{
    const enum kind was = f->side[1].kind, now = f->side[0].kind;
    put_access(out, f, 1, &place[1]);
    fprintf(out, "%s%s%s and ", of_launch(f, 1) ? " of a launch" : "", kinds[was].by,
            f->rule == STREAM_RACE ? " in another stream" : "");
    if (of_launch(f, 0)) {
        put_side(out, f, 0, &place[0], 1);
        fprintf(out, " in kernel %s", symbols_kernel(f->kernel, f->function));
    } else {
        put_access(out, f, 0, &place[0]);
        fputs(kinds[now].by, out);
    }
    fprintf(out, ": %u byte%s ", f->bytes, plural(f->bytes));
    put_where(out, f, &place[2]);
    if (f->rule == STREAM_RACE)
        fprintf(out, ", and this %s does not wait for that %s", kinds[now].work,
                strcmp(kinds[now].work, kinds[was].work) == 0 ? "one" : kinds[was].work);
    else if (f->why)
        fprintf(out, ", %s", f->why);
    else
        fprintf(out, ", and the host has not waited for that %s", kinds[was].work);
    if (was == COPY_STAGED || was == SETS_STAGED)
        fputs(", which goes on when the call has returned", out);
}

/* The text of a finding, in which %1 and %2 are the places of its sides. */
static void put_text(FILE *out, const struct finding *f, const struct place *place)
{
    for (const char *p = f->text; *p; p++) {
        int i = p[0] == '%' ? p[1] - '1' : -1;
        if (i < 0 || i > 1 || !f->side[i].code) { /* without code: the condition of an assert */
            fputc(*p, out);
            continue;
        }
        fprintf(out, "%s:%d", place[i].file, place[i].line);
        put_calls(out, " (", &place[i], ")");
        finding_put_index(out, " by thread", (uint64_t)f->side[i].thread, f->shape);
        p++;
    }
}

static void put(FILE *out, const struct finding *f, const struct place *place)
{
    fprintf(out, "%s: ", rules[f->rule].name);
    if (f->rule == LEAK && strcmp(f->object.what, "allocated") != 0) {
        fprintf(out, "%s, made at %s:%d, is never destroyed", f->object.what, place[2].file,
                place[2].line);
    } else if (f->rule == LEAK) {
        const char *are = f->object.bytes == 1 ? "is" : "are";
        fprintf(out, "%zu byte%s", f->object.bytes, plural((long long)f->object.bytes));
        if (f->object.name)
            fprintf(out, " of %s", f->object.name);
        fprintf(out, ", allocated at %s:%d, %s never freed", place[2].file, place[2].line, are);
    } else if (f->rule == HOST_ACCESS) {
        put_access(out, f, 0, &place[0]);
        fprintf(out, " by the host: %u byte%s ", f->bytes, plural(f->bytes));
        put_where(out, f, &place[2]);
        fputs(strcmp(f->object.what, "allocated") == 0
                  ? ", which only kernels and copies reach"
                  : ", and the host has a variable of its own there: need "
                    "cudaMemcpyToSymbol or cudaMemcpyFromSymbol",
              out);
    } else if (f->rule == STREAM_RACE || f->rule == HOST_RACE) {
        put_work(out, f, place);
    } else if (f->rule == UNINITIALISED && !of_launch(f, 0)) {
        put_access(out, f, 0, &place[0]);
        fprintf(out, ": %u bytes, the first of them ", f->bytes);
        put_where(out, f, &place[2]);
        fprintf(out, ", %s", rules[f->rule].end);
    } else if (f->rule == FAILED_WORK && !f->side[0].code) {
        fputs(f->text, out); /* a launch, which names its place */
    } else if (f->rule == FAILED_CALL || f->rule == FAILED_WORK) {
        fprintf(out, "the call at %s:%d %s", place[0].file, place[0].line, f->text);
    } else if (f->text) {
        put_text(out, f, place);
        if (f->object.what) {
            fputs("; it lies ", out);
            put_where(out, f, &place[2]);
        } else if (!f->kernel) {
            fputs(", where no device memory is", out);
        }
        if (!f->kernel) { /* of a library's function */
            fprintf(out, "; called at %s:%d", place[0].file, place[0].line);
            return;
        }
        if (!strchr(f->text, '%'))
            put_calls(out, "; ", &place[0], "");
        fputs("; in", out);
        finding_put_index(out, " block", f->side[0].block, f->grid);
        fprintf(out, " of kernel %s", symbols_kernel(f->kernel, f->function));
    } else {
        const char *other = rules[f->rule].other, *end = f->why ? f->why : rules[f->rule].end;
        if (f->sides == 2 && (f->side[0].kind == COPY_APART || f->side[1].kind == COPY_APART))
            end = "and nothing orders the two: need a barrier between, in front of the copy or "
                  "behind its wait";
        else if (f->rule == PENDING_COPY && f->sides == 2 && f->side[0].kind == COPY &&
                 f->side[1].kind == COPY && symbols_same(&place[0], &place[1]))
            end = "which both write: need a wait between, or other addresses, sizes or strides";
        const int blocks = f->sides == 2 && f->side[0].block != f->side[1].block && !other;
        if (other) {
            put_access(out, f, 1, &place[1]);
            fprintf(out, " of %s and ", other);
        }
        put_side(out, f, 0, &place[0], blocks);
        if (f->sides == 2 && !other) {
            fputs(" and ", out);
            put_side(out, f, 1, &place[1], blocks);
        }
        if (!blocks)
            finding_put_index(out, " of block", f->side[0].block, f->grid);
        fprintf(out, " in kernel %s: ", symbols_kernel(f->kernel, f->function));
        if (f->sides == 1 && rules[f->rule].alone) {
            fputs(rules[f->rule].alone, out);
            return;
        }
        if (f->object.name && !f->object.what) {
            fputs(f->object.name, out); /* a variable in registers */
        } else {
            fprintf(out, "%u byte%s ", f->bytes, plural(f->bytes));
            put_where(out, f, &place[2]);
        }
        if (f->written_later) {
            fprintf(out, ", written later by");
            finding_put_index(out, " thread", (uint64_t)f->side[1].thread, f->shape);
            if (f->side[1].block != f->side[0].block)
                finding_put_index(out, " of block", f->side[1].block, f->grid);
            fprintf(out, " at %s:%d", place[1].file, place[1].line);
            put_calls(out, " (", &place[1], ")");
        } else if (f->wait) {
            if (f->source)
                fprintf(out, ", copied from offset %zu of %s", f->source_at, f->source);
            fprintf(out,
                    f->left < 0 ? ", no wait since the one at %s:%d"
                                : ", left in flight by the wait at %s:%d",
                    place[3].file, place[3].line);
            put_calls(out, " (", &place[3], ")");
            if (f->left < 0)
                fputs(", which came before the copy: need a wait, or another tile's place", out);
            else
                fprintf(out, ", which leaves the latest %d group%s", f->left, plural(f->left));
        } else if (end) {
            fprintf(out, ", %s", end);
        }
    }
}

/* Whether both pairs of places are the same two lines, in whatever order: which of two threads
 * comes first is chance. */
static int same_pair(const struct place *p, const struct place *q)
{
    return (symbols_same(&p[0], &q[0]) && symbols_same(&p[1], &q[1])) ||
           (symbols_same(&p[0], &q[1]) && symbols_same(&p[1], &q[0]));
}

static int same_line(const struct finding *a, const struct place *p, const struct finding *b,
                     const struct place *q)
{
    if (a->rule != b->rule || a->sides != b->sides || !a->text != !b->text ||
        !a->kernel != !b->kernel)
        return 0;
    /* A text with places may differ in numbers. One without may have its places among them. */
    if (a->text && !(a->kernel && strchr(a->text, '%') ? same_words(a->text, b->text)
                                                       : strcmp(a->text, b->text) == 0))
        return 0;
    if (!(a->sides == 1 ? symbols_same(p, q) : same_pair(p, q)))
        return 0;
    return a->rule != LEAK || a->object.site == b->object.site;
}

/* Whether it is a finding. A leak harms nobody when a program ends: it is one where that is asked
 * for, or where the host looks for findings itself. */
static int counts(enum rule rule)
{
    const char *asked = getenv("CUDACPU_LEAKS");
    if (rules[rule].counts == LEAKS)
        return printed_by_host || (asked && *asked == '1');
    return rules[rule].counts != NEVER;
}

/* Whether the finding is about the shuffle of this warning: "lane 0 reads lane 16, which has ended,
 * in
 * __shfl_sync at FILE:LINE: the value ...". */
static int same_shuffle(const struct finding *warning, const struct finding *f)
{
    const char *place = strstr(warning->text, ", in "),
               *end = place ? strstr(place, ": the") : NULL;
    if (f->rule != DIVERGENCE || !f->text || !end)
        return 0;
    const char *its = strstr(f->text, ", in ");
    return its && strncmp(its, place, (size_t)(end + 1 - place)) == 0;
}

/* Whether it is reported with another: the places of a race that wrote the same value, an index
 * with the access that it led to, and a shuffle with the use of its value. */
static int reported_with_another(int i, const struct place *places)
{
    const enum rule rule = findings[i].rule;
    int reported = 0;
    for (int k = 0; k < n_findings; k++)
        if (rule == SAME_VALUE)
            reported |= (findings[k].rule == SHARED_RACE || findings[k].rule == GLOBAL_RACE) &&
                        same_pair(&places[PLACES * i], &places[PLACES * k]);
        else if (rule == BOUNDS && findings[i].text)
            reported |= findings[k].rule == BOUNDS && !findings[k].text &&
                        symbols_same(&places[PLACES * i], &places[PLACES * k]);
        else if (rule == UNDEFINED_SHUFFLE)
            reported |= same_shuffle(&findings[i], &findings[k]);
    return reported;
}

int findings_print(FILE *out)
{
    int n = n_findings, distinct = 0;
    warnings = 0;
    uint32_t *codes = kept(calloc((size_t)n * PLACES + 1, sizeof *codes));
    struct place *places = kept(calloc((size_t)n * PLACES + 1, sizeof *places));
    for (int i = 0; i < n; i++) {
        codes[PLACES * i] = findings[i].side[0].code;
        codes[PLACES * i + 1] = findings[i].side[1].code;
        codes[PLACES * i + 2] = findings[i].object.site;
        codes[PLACES * i + 3] = findings[i].wait;
    }
    if (n)
        symbols_find(codes, PLACES * n, places);
    memset(of_rule, 0, sizeof of_rule);
    memset(counted, 0, sizeof counted);
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n && findings[i].times; k++)
            if (same_line(&findings[i], places + PLACES * i, &findings[k], places + PLACES * k)) {
                if (findings[i].second == findings[k].second)
                    findings[i].times += findings[k].times;
                else if (findings[i].second)
                    findings[i].times = findings[k].times;
                findings[i].second &= findings[k].second;
                findings[k].times = 0;
            }
    /* A read of what is written later comes last: what the two lack is an order, and where that is
     * a race, the race has been reported by then. */
    for (int round = 0; round < 2 * n; round++) {
        const int i = round % n;
        struct finding *f = &findings[i];
        if (f->written_later != round / n || !f->times || reported_with_another(i, places))
            continue; /* reported in the other round, or with another */
        put(out, f, places + PLACES * i);
        if (f->times > 1)
            fprintf(out, " (%" PRIu64 " times)", f->times);
        fputc('\n', out);
        of_rule[f->rule]++;
        counted[f->rule] += counts(f->rule);
        distinct += counts(f->rule);
        warnings += !counts(f->rule);
    }
    symbols_free(places, PLACES * n);
    for (int i = 0; i < n; i++)
        free(findings[i].kernel), free(findings[i].text);
    free(codes), free(places), free(findings);
    findings = NULL;
    n_findings = 0;
    printed_by_host = 1;
    return distinct;
}

/* --- From one process to another -------------------------------------------------------------- */

int findings_count(void)
{
    return n_findings;
}

void findings_cut(int n)
{
    n_findings = n < n_findings ? n : n_findings;
}

void findings_drop(void)
{
    n_findings = 0;
}

static void send_all(int to, const void *p, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = write(to, (const char *)p + done, bytes - done);
        if (n <= 0)
            _exit(0);
        done += (size_t)n;
    }
}

void findings_send(int to, int all)
{
    for (int i = 0; i < n_findings; i++) {
        const struct finding *f = &findings[i];
        if (!f->kernel || (all ? rules[f->rule].counts != ALWAYS
                               : f->rule != SHARED_RACE && f->rule != GLOBAL_RACE))
            continue;
        send_all(to, f, sizeof *f);
        send_all(to, f->kernel, strlen(f->kernel) + 1);
        send_all(to, f->text ? f->text : "", f->text ? strlen(f->text) + 1 : 1);
    }
}

/* Takes the text at *at of n bytes of text, and moves *at behind it. NULL where it does not end. */
static char *take_text(const char *text, size_t n, size_t *at)
{
    const size_t length = strnlen(text + *at, n - *at);
    if (length == n - *at)
        return NULL;
    char *copy = kept(strdup(text + *at));
    *at += length + 1;
    return copy;
}

/* A finding of the run with less alignment becomes a warning: its own text, or an access. */
static void make_of_alignment(struct finding *f, size_t declared)
{
    char *text = NULL;
    if (f->text && asprintf(&text,
                            "where dynamic shared memory begins at a multiple of %zu, as it is "
                            "declared: %s: %s; declare __align__(1024)",
                            declared, rules[f->rule].name, f->text) < 0)
        text = kept(NULL);
    free(f->text);
    f->text = text;
    f->rule = UNDECLARED_ALIGNMENT;
    f->why = NULL;
    f->wait = 0;
    f->written_later = 0;
}

/* Addresses in a copy of the process are those of the process. */
void findings_receive(const char *text, size_t n, size_t declared)
{
    for (size_t at = 0; at + sizeof *findings < n;) {
        struct finding f;
        memcpy(&f, text + at, sizeof f);
        at += sizeof f;
        f.kernel = take_text(text, n, &at);
        f.text = f.kernel ? take_text(text, n, &at) : NULL;
        if (!f.text) {
            free(f.kernel);
            return;
        }
        if (!*f.text)
            free(f.text), f.text = NULL;
        f.second = !declared;
        if (declared)
            make_of_alignment(&f, declared);
        findings = kept(realloc(findings, (size_t)(n_findings + 1) * sizeof *findings));
        findings[n_findings++] = f;
        if (declared)
            return;
    }
}

int is_finding(const char *rule)
{
    for (int i = 0; i < RULES; i++)
        if (strcmp(rules[i].name, rule) == 0)
            return counts((enum rule)i);
    return 0;
}

int findings_of(const char *rule)
{
    for (int i = 0; i < RULES; i++)
        if (strcmp(rules[i].name, rule) == 0)
            return of_rule[i];
    return 0;
}

int findings_report(void)
{
    int silent = printed_by_host;
    findings_change = 1; /* a signal comes again when all lines are there */
    int n = findings_print(stderr), broken = 0;
    char more[40] = "";
    const char *end = findings_interrupted ? "; the program was interrupted" : "";
    if (warnings)
        snprintf(more, sizeof more, "%s %d warning%s", n ? ";" : ",", warnings, plural(warnings));
    for (int i = 0; i < RULES; i++)
        broken += counted[i] > 0;
    if (n) {
        fprintf(stderr, "check: %d finding%s", n, plural(n));
        if (n > 1)
            fprintf(stderr, " of %d rule%s", broken, plural(broken));
        for (int i = 0, put = 0; i < RULES; i++)
            if (counted[i])
                fprintf(stderr, "%s%s", put++ ? ", " : ": ", rules[i].name);
        fprintf(stderr, "%s%s\n", more, end);
    } else if (!silent || warnings || findings_interrupted)
        fprintf(stderr, "check: no %s%s%s\n", kernels_ran ? "findings" : "kernel ran", more, end);
    fflush(NULL);
    findings_change = 0;
    if (findings_signal && !findings_interrupted) {
        signal(findings_signal, SIG_DFL);
        raise(findings_signal);
    }
    return n;
}

void findings_end(void)
{
    if (findings_report())
        _exit(1);
}
