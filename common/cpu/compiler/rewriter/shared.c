/* shared.c: a __shared__ variable becomes a reference into the block's shared memory, which gets
 * its place there when the declaration is first reached. Of a variable at file scope only the type
 * is left; the reference stands at the beginning of each function that names the variable.
 *
 *   __shared__ float a[32];
 *     ->  using cpu_t0 = float; using cpu_t0_0 = cpu_t0 [32]; static __thread ::cpu_slot
 *         cpu_t0_0_slot = {0, 0, "a"}; cpu_t0_0 &a = ::cpu_place<cpu_t0_0>(cpu_t0_0_slot, ...);
 *   extern __shared__ float s[];
 *     ->  ... cpu_t1_0 &s = ::cpu_place_dynamic<cpu_t1_0>(...); */
#include "compiler/rewriter/rewrite.h"

/* A variable at file scope: each function that names it begins with `reference`. */
struct variable {
    int name, is_dynamic;
    char *reference; /* of a dynamic one, up to the last argument */
};

static struct variable *at_file_scope;
static int file_scope_count, declaration_count;

/* A declaration up to its first declarator. */
struct declaration {
    int id, is_extern;
    char *type, *attributes;
};

/* Reads the declaration that begins at i. Returns the token where the declarators begin. */
static int read_type(struct declaration *d, int i)
{
    *d = (struct declaration){declaration_count++, 0, formatted(""), formatted("")};
    for (; !is_any(i, "; ="); i++) {
        int first = i;
        if (i < 0 || i >= token_count)
            break;
        if (is_any(i, "__shared__ static extern")) {
            d->is_extern |= is(i, "extern");
            continue;
        }
        if (is_any(i, "alignas __attribute__")) {
            i = match(i + 1, 1);
            d->attributes = formatted("%s %s", d->attributes, text_of(first, i));
            continue;
        }
        if (is(i, "*") || (is_name(i) && is_any(i + 1, "[ ; ,")))
            break;
        if (is_name(i) && is(i + 1, "<"))
            i = match_angle(i + 1, 1, NULL);
        else if (is(i, "{"))
            i = match(i, 1);
        d->type = formatted("%s%s%s", d->type, is(first, ":") ? "" : " ", text_of(first, i));
    }
    return i;
}

static void __attribute__((noreturn)) initialised(int name)
{
    mistake(name,
            formatted("__shared__ variable %.*s cannot be initialised: let one thread assign to "
                      "it, then __syncthreads()",
                      tokens[name].n, tokens[name].s));
}

/* Whether a function with its body at `open` declares or names static shared variables: a GPU puts
 * them in front of the dynamic part. */
static int has_static(int open)
{
    const int close = match(open, 1);
    int found = 0;
    for (int i = open; i < close && !found; i++) {
        int is_extern = 0;
        for (int k = statement_start(i); is(i, "__shared__") && !is_any(k, "; ="); k++)
            is_extern |= is(k, "extern");
        found = is(i, "__shared__") && !is_extern;
        for (int v = 0; v < file_scope_count && !found; v++)
            found = !at_file_scope[v].is_dynamic && same_name(i, at_file_scope[v].name) &&
                    !is_member(i);
    }
    return found;
}

int shared_variables(int at, int body, int as_calls)
{
    const int in_device = body >= 0;
    const char *unused = in_device ? "" : "__attribute__((unused)) ";
    const int start = statement_start(at);
    struct declaration d;
    int i = read_type(&d, start), part = 0;
    if (is(i, "="))
        initialised(i - 1);
    char *out = formatted("struct%s cpu_t%d_align {}; using cpu_t%d =%s;", d.attributes, d.id, d.id,
                          d.type);
    for (int end = -1; !is(end, ";"); i = end + 1, part++) {
        int name = i;
        while (is_any(name, "* const __restrict__"))
            name++;
        for (end = name + 1; is(end, "[");)
            end = match(end, 1) + 1;
        if (is_name(name) && is_any(end, "= { ("))
            initialised(name);
        if (!is_name(name) || !is_any(end, ", ;"))
            unsupported(at, "this form of declaration is",
                        "declare plain variables or arrays without initialisers");
        const struct token *t = &tokens[name];
        char *type = formatted("cpu_t%d_%d", d.id, part), *place;
        out = formatted("%s using %s = cpu_t%d %s%s; ", out, type, d.id, text_of(i, name - 1),
                        text_of(name + 1, end - 1));
        if (d.is_extern) {
            place = formatted("%s%s &%.*s = ::cpu_place_dynamic<%s>(alignof(cpu_t%d_align), ",
                              unused, type, t->n, t->s, type, d.id);
            if (in_device)
                place = formatted("%s%d);", place, has_static(body));
        } else {
            out = formatted("%s%sstatic __thread ::cpu_slot %s_slot = {0, 0, \"%.*s\"}; ", out,
                            unused, type, t->n, t->s);
            place = formatted("%s%s &%.*s = ::cpu_place<%s>(%s_slot, alignof(cpu_t%d_align));",
                              unused, type, t->n, t->s, type, type, d.id);
        }
        if (in_device)
            out = formatted("%s%s", out, place);
        else
            APPEND(at_file_scope, file_scope_count, ((struct variable){name, d.is_extern, place}));
    }
    if (as_calls) /* plain C++, in which only mistakes are looked for */
        replace(at, at, is_any(start, "extern static") ? "" : "static");
    else
        replace(start, i - 1, out);
    return i - 1;
}

/* The references stand in a scope around the body, whose variables may have the same names. A
 * shared variable that has the name of a parameter is hidden in all of the body. */
void place_shared(int from, int open)
{
    const int close = match(open, 1);
    int placed = 0;
    for (int v = 0; v < file_scope_count; v++) {
        int hidden = 0, named = 0;
        for (int i = from; i < open; i++)
            hidden |= same_name(i, at_file_scope[v].name);
        for (int k = v + 1; k < file_scope_count; k++) /* declared again */
            hidden |= same_name(at_file_scope[k].name, at_file_scope[v].name);
        for (int i = open; i < close && !named; i++)
            named = same_name(i, at_file_scope[v].name) && !is_member(i);
        if (!named || hidden)
            continue;
        const char *reference = at_file_scope[v].reference;
        if (at_file_scope[v].is_dynamic)
            reference = formatted("%s%d);", reference, has_static(open));
        insert(open + 1, formatted("%s ", reference));
        placed = 1;
    }
    if (placed) {
        insert(open + 1, "{");
        insert(close, "}");
    }
}
