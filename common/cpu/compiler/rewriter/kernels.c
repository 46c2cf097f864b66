/* kernels.c: notes each declaration of a kernel: its name, its parameters, and where each default
 * begins. From that it tells which kernel a launch means, and refuses declarations that nvcc
 * refuses, and calls of a kernel that are no launch.
 *
 *   template <class T, int N> __global__ void k(T *p, int n = N);
 *                             ->   k: 2 template parameters, 2 parameters of which 1 is needed */
#include "compiler/rewriter/rewrite.h"

#include <string.h>

struct kernel *kernels;
static int kernel_count;

int is_kernel(int name)
{
    for (int k = 0; k < kernel_count; k++)
        if (same_name(kernels[k].name, name))
            return 1;
    return 0;
}

/* --- Declarations ----------------------------------------------------------------------------- */

/* The parameters of a kernel, whose ( is at `open`. The TMA finds a tensor map by its address. A
 * parameter without __grid_constant__ is copied where its address is taken, to memory that the TMA
 * cannot read. */
static void check_maps(const struct token *kernel, int open)
{
    const int close = match(open, 1);
    int map = 0, constant = 0, pointer = 0;
    for (int i = open + 1; i <= close; i++) {
        map |= is(i, "CUtensorMap");
        constant |= is(i, "__grid_constant__");
        pointer |= is_any(i, "* &");
        if (!is(i, ",") && i < close)
            continue;
        if (map && !constant && !pointer) {
            const struct token *name = &tokens[i - 1];
            refuse(
                name->file, name->line,
                formatted("kernel %.*s: parameter %.*s is a CUtensorMap without __grid_constant__: "
                          "TMA cannot read the copy whose address it gets; write const "
                          "__grid_constant__ CUtensorMap",
                          kernel->n, kernel->s, name->n, name->s));
        }
        map = constant = pointer = 0;
    }
}

/* A kernel returns void. Its declaration has its __global__ at i; what else stands in front of its
 * name are qualifiers and attributes. */
static void check_result(int i, int name)
{
    int start = statement_start(i);
    if (is(start, "template") && skip_angle(start + 1) > start + 1)
        start = skip_angle(start + 1) + 1;
    for (int t = start; t < name; t++) {
        if (is(t, "(")) /* of a qualifier */
            t = match(t, 1);
        if (is_any(t, "int float double char bool long short unsigned"))
            mistake(name, formatted("kernel %.*s returns %.*s; a kernel returns void",
                                    tokens[name].n, tokens[name].s, tokens[t].n, tokens[t].s));
    }
}

void note_kernel(int i)
{
    struct kernel k = {.template_parameters = 0};
    int start = statement_start(i), open = i;
    if (is(start, "template") && match_angle(start + 1, 1, &k.template_parameters) > start + 2)
        k.template_parameters++;
    while (open < token_count && !is_any(open, "; {") &&
           !(is(open, "(") && !is_any(open - 1, "__attribute__ __launch_bounds__")))
        open = is(open, "(") ? match(open, 1) + 1 : open + 1;
    if (!is(open, "(") || (k.end = match(open, 1) + 1) >= token_count)
        return;
    k.name = open - 1;
    check_result(i, k.name);
    check_maps(&tokens[k.name], open);
    while (k.end < token_count && !is_any(k.end, "; {"))
        k.end++;
    if (is(k.end, "{"))
        k.end = match(k.end, 1);
    k.n = split_list(open, k.first, k.last);
    if (k.n == 1 && is(k.first[0], "void") && k.first[0] == k.last[0])
        k.n = 0;
    for (int p = 0; p < k.n; p++) {
        k.equals[p] = k.first[p];
        while (k.equals[p] <= k.last[p] && !is(k.equals[p], "="))
            k.equals[p]++;
        if (k.equals[p] > k.last[p])
            k.needed = p + 1;
    }
    APPEND(kernels, kernel_count, k);
}

/* --- Which kernel is meant -------------------------------------------------------------------- */

static int same_kernel(const struct kernel *a, const struct kernel *b)
{
    int same = same_name(a->name, b->name) && a->n == b->n &&
               a->template_parameters == b->template_parameters;
    for (int p = 0; same && p < a->n; p++)
        same = strcmp(text_of(a->first[p], a->equals[p] - 1),
                      text_of(b->first[p], b->equals[p] - 1)) == 0;
    return same;
}

struct kernel *declared_first(struct kernel *k)
{
    struct kernel *first = kernels;
    while (!same_kernel(first, k))
        first++;
    return first;
}

struct kernel *find_kernel(int name, int template_arguments, int given, int *known)
{
    struct kernel *found = NULL, *only = NULL;
    int distinct = 0;
    *known = 0;
    for (struct kernel *k = kernels; k < kernels + kernel_count; k++) {
        if (!same_name(k->name, name))
            continue;
        ++*known;
        if (k->template_parameters > template_arguments || (k->template_parameters && given < k->n))
            return NULL;
        int same = only && same_kernel(only, k);
        distinct += !same;
        if (!same || k->needed < only->needed) /* defaults stand at one of the declarations */
            only = k;
        if (k->needed <= given && given <= k->n)
            found = k;
    }
    return distinct > 1 ? NULL : found ? found : only;
}

static int uses_std(void)
{
    for (int i = 0; i < token_count; i++)
        if (is(i, "using") && is(i + 1, "namespace") && is(i + 2, "std"))
            return 1;
    return 0;
}

/* Whether the name means a function of the host as well. */
static int is_host_function(int name)
{
    for (int i = 0; i < token_count; i++) {
        if (!same_name(i, name) || !is(i + 1, "(") || match(i + 1, 1) < 0 ||
            !(is_name(i - 1) || is_any(i - 1, "* & >")))
            continue;
        int kernel = 0, after = match(i + 1, 1) + 1;
        for (int k = 0; k < kernel_count; k++)
            kernel |= kernels[k].name == i;
        if (!kernel && (is(after, "{") || (is(after, ";") && !is(i - 1, "return"))))
            return 1;
    }
    return 0;
}

int is_overloaded(int name)
{
    return uses_std() || is_host_function(name);
}

void check_calls(void)
{
    static const char of_std[] = "copy fill swap move reduce transform sort merge";
    for (int i = 1; i < token_count; i++) {
        int open = i + 1;
        if (!is_name(i) || !is_any(i - 1, "; { } )"))
            continue;
        if (is(open, "<") && !is(open + 1, "<"))
            open = match_angle(open, 1, NULL) + 1;
        if (is(open, "(") && is(match(open, 1) + 1, ";") && is_kernel(i) && !is_any(i, of_std) &&
            !is_host_function(i))
            mistake(i, formatted("kernel %.*s is called without a launch: write "
                                 "%.*s<<<blocks, threads>>>(...)",
                                 tokens[i].n, tokens[i].s, tokens[i].n, tokens[i].s));
    }
}
