/* arch.c: a file that asks for __CUDA_ARCH__ is preprocessed twice, as the host's source and as the
 * device's, and the two are merged into one. Kernels and __device__ functions are the device's;
 * functions of the host are the host's. What only one side declares is kept. A function that is for
 * both sides, and not the same, has both bodies and chooses when it is called. A type or a variable
 * that is not the same is refused.
 *
 *   host:   __host__ __device__ int f() { return 0; }
 *   device: __host__ __device__ int f() { return 1; }
 *     ->    __host__ __device__ int f() { if (::cpu_in_kernel()) { return 1; } else { return 0; }}
 */
#include "compiler/rewriter/rewrite.h"

#include <stdlib.h>
#include <string.h>

/* A declaration, or what opens or closes a namespace or class around others. */
struct part {
    int first, last;  /* tokens */
    int body;         /* the { of a function, or -1 */
    int name;         /* of a function, else -1 */
    int device, host; /* the words are there; a kernel is the device's */
    int partner;      /* the index of the other side's version of it; -1: none */
    int same;         /* the partner is the same, token for token */
};

struct side {
    const struct source *source;
    struct part *parts;
    int count;
};

static int token_is(const struct source *s, int i, const char *word)
{
    return i >= 0 && i < s->count && s->tokens[i].n == (int)strlen(word) &&
           memcmp(s->tokens[i].s, word, strlen(word)) == 0;
}

static int token_is_any(const struct source *s, int i, const char *words)
{
    return i >= 0 && i < s->count && is_one_of(s->tokens[i].s, (size_t)s->tokens[i].n, words);
}

static int same_token(const struct source *a, int i, const struct source *b, int k)
{
    return a->tokens[i].n == b->tokens[k].n &&
           memcmp(a->tokens[i].s, b->tokens[k].s, (size_t)a->tokens[i].n) == 0;
}

static int same_tokens(const struct source *a, int i, int last, const struct source *b, int k,
                       int end)
{
    if (last - i != end - k)
        return 0;
    while (i <= last && same_token(a, i, b, k))
        i++, k++;
    return i > last;
}

/* The token that closes the bracket at i, or the last there is. */
static int closing(const struct source *s, int i)
{
    for (int depth = 0; i < s->count; i++)
        if (s->tokens[i].n == 1 && strchr("([{", *s->tokens[i].s))
            depth++;
        else if (s->tokens[i].n == 1 && strchr(")]}", *s->tokens[i].s) && --depth == 0)
            return i;
    return s->count - 1;
}

static struct part read_part(const struct source *s, int first)
{
    static const char not_names[] = "__launch_bounds__ __attribute__ __align__ alignas decltype "
                                    "noexcept explicit __declspec";
    struct part p = {.first = first, .last = first, .body = -1, .name = -1, .partner = -1};
    int opens = 0, value = 0;
    if (token_is(s, first, "}"))
        return p;
    for (int i = first; i < s->count; i++) {
        p.last = i;
        p.device |= token_is(s, i, "__device__") || token_is(s, i, "__global__");
        p.host |= token_is(s, i, "__host__");
        if (token_is(s, i, "template") && token_is(s, i + 1, "<")) {
            int depth = 0;
            do {
                i++;
                depth += token_is(s, i, "<") - token_is(s, i, ">");
            } while (depth > 0 && i < s->count);
            continue;
        }
        if (token_is(s, i, "operator")) {
            p.name = i++;
            while (i + 1 < s->count && !token_is(s, i + 1, "("))
                i++;
            continue;
        }
        value |= token_is(s, i, "=") && p.name < 0;
        opens |= token_is(s, i, "namespace") ||
                 (token_is(s, i, "extern") && token_is(s, i + 1, "\"C\"")) ||
                 token_is_any(s, i, "class struct union");
        if (token_is(s, i, ";") || token_is(s, i, "}"))
            return p; /* a } that was not opened closes what is around it */
        if (token_is(s, i, "(")) {
            if (p.name < 0 && !value && i > first && !token_is_any(s, i - 1, not_names))
                p.name = i - 1;
            i = closing(s, i);
        } else if (token_is(s, i, "[")) {
            i = closing(s, i);
        } else if (token_is(s, i, "{") && opens && p.name < 0 && !value) {
            return p;
        } else if (token_is(s, i, "{")) {
            const int open = i;
            p.last = i = closing(s, i);
            if (p.name >= 0 && !token_is(s, i + 1, ",") && !token_is(s, i + 1, "{")) {
                p.body = open;
                return p;
            }
        }
    }
    return p;
}

static struct side read_side(const struct source *s)
{
    struct side side = {s, allocate(NULL, ((size_t)s->count + 1) * sizeof(struct part)), 0};
    for (int i = 0; i < s->count; i = side.parts[side.count - 1].last + 1)
        side.parts[side.count++] = read_part(s, i);
    return side;
}

static int same_part(const struct side *h, int i, const struct side *d, int k)
{
    const struct part *a = &h->parts[i], *b = &d->parts[k];
    return same_tokens(h->source, a->first, a->last, d->source, b->first, b->last);
}

static void join(struct side *h, int i, struct side *d, int k, int same)
{
    h->parts[i].partner = k;
    d->parts[k].partner = i;
    h->parts[i].same = d->parts[k].same = same;
}

/* Finds parts that are the same, as many as there are in the same order on both sides. */
static void align(struct side *h, struct side *d)
{
    int from = 0, n = h->count, m = d->count;
    for (; from < n && from < m && same_part(h, from, d, from); from++)
        join(h, from, d, from, 1);
    for (; n > from && m > from && same_part(h, n - 1, d, m - 1); n--, m--)
        join(h, n - 1, d, m - 1, 1);
    const int rows = n - from, columns = m - from;
    const size_t bytes = (size_t)(rows + 1) * (size_t)(columns + 1) * sizeof(unsigned short);
    unsigned short *best = memset(allocate(NULL, bytes), 0, bytes);
#define BEST(i, k) best[(size_t)(i) * (size_t)(columns + 1) + (size_t)(k)]
    for (int i = rows - 1; i >= 0; i--)
        for (int k = columns - 1; k >= 0; k--)
            if (same_part(h, from + i, d, from + k))
                BEST(i, k) = (unsigned short)(BEST(i + 1, k + 1) + 1);
            else
                BEST(i, k) = BEST(i + 1, k) > BEST(i, k + 1) ? BEST(i + 1, k) : BEST(i, k + 1);
    for (int i = 0, k = 0; i < rows && k < columns;)
        if (same_part(h, from + i, d, from + k) && BEST(i, k) == BEST(i + 1, k + 1) + 1)
            join(h, from + i++, d, from + k++, 1);
        else if (BEST(i + 1, k) >= BEST(i, k + 1))
            i++;
        else
            k++;
#undef BEST
    free(best);
}

/* Of an operator the name is all up to its parameters: `operator double`, `operator ()`. */
static int same_name_of(const struct side *h, int i, const struct side *d, int k)
{
    int a = h->parts[i].name, b = d->parts[k].name;
    if (a < 0 || b < 0 || !same_token(h->source, a, d->source, b))
        return 0;
    if (!token_is(h->source, a, "operator"))
        return 1;
    do {
        if (!same_token(h->source, ++a, d->source, ++b))
            return 0;
    } while (!token_is(h->source, a + 1, "(") || !token_is(d->source, b + 1, "("));
    return 1;
}

/* Between parts that are the same, functions of one name are two versions of one. */
static void pair_functions(struct side *h, int i, int end, struct side *d, int k, int stop)
{
    for (; i < end; i++)
        for (int j = k; j < stop; j++)
            if (d->parts[j].partner < 0 && same_name_of(h, i, d, j) &&
                (h->parts[i].body >= 0) == (d->parts[j].body >= 0)) {
                join(h, i, d, j, 0);
                k = j + 1;
                break;
            }
}

static void differs(const struct source *s, const struct part *p, const char *what)
{
    const struct token *t = &s->tokens[p->first];
    refuse(t->file, t->line,
           formatted(
               "%s that __CUDA_ARCH__ makes one thing for the host and another for the device is "
               "not supported by the CPU backend, where one compilation serves both; "
               "-D__CUDA_ARCH__=900 takes the device's side everywhere",
               what));
}

/* --- Output ----------------------------------------------------------------------------------- */

static void write_text(const char *from, const char *to)
{
    fwrite(from, 1, (size_t)(to - from), stdout);
}

static void write_place(const struct token *t)
{
    printf("\n# %d \"%s\"\n", t->line, files[t->file]);
}

static const char *end_of(const struct token *t)
{
    return t->s + t->n;
}

static void write_tokens(const struct source *s, int first, int last)
{
    write_place(&s->tokens[first]);
    write_text(s->tokens[first].s, end_of(&s->tokens[last]));
}

static int has_word(const struct source *s, int i, int last, const char *word)
{
    while (i <= last && !token_is(s, i, word))
        i++;
    return i <= last;
}

/* Whether two heads are the same but for the words that say where the function runs. */
static int same_head(const struct source *h, const struct part *a, const struct source *d,
                     const struct part *b)
{
    static const char where[] = "__host__ __device__";
    for (int i = a->first, k = b->first;; i++, k++) {
        while (i < a->body && token_is_any(h, i, where))
            i++;
        while (k < b->body && token_is_any(d, k, where))
            k++;
        if (i == a->body || k == b->body)
            return i == a->body && k == b->body;
        if (!same_token(h, i, d, k))
            return 0;
    }
}

/* A function that host and device have, in two versions; the host's text up to it is written. */
static void write_versions(const struct source *h, const struct part *a, const struct source *d,
                           const struct part *b)
{
    const int on_host = a->host || !a->device, on_device = b->device;
    if (!on_device) {
        if (a->device && !a->host)
            differs(h, a, "a function");
        if (a->body >= 0 && has_word(h, a->body, a->last, "__device__"))
            differs(h, a, "a lambda");
        write_tokens(h, a->first, a->last);
    } else if (!on_host) {
        write_tokens(d, b->first, b->last);
    } else if (a->body < 0 || !same_head(h, a, d, b)) {
        differs(h, a, "the head of a function");
    } else {
        if (a->device)
            write_tokens(h, a->first, a->body);
        else
            write_tokens(d, b->first, b->body);
        printf(" if (%s::cpu_in_kernel())", has_word(h, a->first, a->body, "constexpr")
                                                ? "!__builtin_is_constant_evaluated() && "
                                                : "");
        write_tokens(d, b->body, b->last);
        printf(" else");
        write_tokens(h, a->body, a->last);
        printf("}");
    }
}

/* Of the device's parts up to `stop` those that the host has not. */
static void write_new(const struct side *d, int *k, int stop)
{
    for (; *k < stop; ++*k) {
        const struct part *p = &d->parts[*k];
        if (p->partner < 0 && (p->name < 0 || p->device))
            write_tokens(d->source, p->first, p->last);
    }
}

void merge_sides(const struct source *host, const struct source *device)
{
    struct side h = read_side(host), d = read_side(device);
    const char *text = host->text;
    align(&h, &d);
    for (int i = 0, k = 0; i <= h.count; i++) {
        if (i < h.count && !h.parts[i].same)
            continue;
        /* i is the same on both sides, or the end; what is in front of it, from the last such, is
         * not. */
        int first = i, stop = i < h.count ? h.parts[i].partner : d.count;
        while (first > 0 && !h.parts[first - 1].same)
            first--;
        pair_functions(&h, first, i, &d, k, stop);
        int alone = -1, others = 0;
        for (int j = first; j < i; j++)
            if (h.parts[j].partner < 0 && h.parts[j].name < 0)
                alone = j;
        for (int j = k; j < stop; j++)
            others += d.parts[j].partner < 0 && d.parts[j].name < 0;
        if (alone >= 0 && others)
            differs(host, &h.parts[alone], "a declaration");
        for (int j = first; j < i; j++) {
            const struct part *p = &h.parts[j];
            if (p->partner < 0)
                continue;
            write_text(text, host->tokens[p->first].s);
            write_new(&d, &k, p->partner);
            write_versions(host, p, device, &d.parts[p->partner]);
            k = p->partner + 1;
            write_place(&host->tokens[p->last]);
            text = end_of(&host->tokens[p->last]);
        }
        if (k < stop) {
            const char *at = i < h.count ? host->tokens[h.parts[i].first].s : text + strlen(text);
            write_text(text, at);
            write_new(&d, &k, stop);
            text = at;
            if (i < h.count)
                write_place(&host->tokens[h.parts[i].first]);
        }
        k = stop + 1;
    }
    fputs(text, stdout);
    free(h.parts);
    free(d.parts);
}
