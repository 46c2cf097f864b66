/* instruments.c: the names and addresses of the device's variables, for the runtime; and what
 * --trace adds, for `count` and `check`: divisions that are counted, and copies that an instrument
 * sees.
 *
 *   a / b                   ->  a / ::cpu_divide() / b     of floating-point numbers, it counts one
 *   a /= b                  ->  a /= ::cpu_divide() = b    which binds as loosely
 *   __device__ int n;       ->  int n;static ::cpu_variable cpu_v0(n, "n", 0);
 *   memcpy(a, b, 4)         ->  ::cpu_memcpy(a, b, 4) */
#include "compiler/rewriter/rewrite.h"

#include <string.h>

static int variable_count;

static void division(int i)
{
    if (is(i + 1, "="))
        replace(i, i + 1, "/= ::cpu_divide() =");
    else
        replace(i, i, "/ ::cpu_divide() /");
}

/* The first declarator of the declaration whose __device__, __constant__ or __managed__ is at i; -1
 * where none of its variables is to be known. *kind becomes that of cpu_know_variable. */
static int first_declarator(int i, int *kind)
{
    enum { CONSTANT = 1, MANAGED }; /* as cpu_know_variable has them */
    const int start = statement_start(i);
    int has_type = 0;
    *kind = 0;
    for (int name = start;; name++) {
        if (is_any(name, "__align__ alignas __attribute__"))
            name = match(name + 1, 1);
        else if (is(name, "{")) /* of a type */
            name = match(name, 1);
        else if (name > start && is(name, "<") && skip_angle(name) > name)
            name = skip_angle(name);
        else if (name >= token_count || is_any(name, "( ; extern operator template using") ||
                 (name > i && is_any(name, "__device__ __constant__")))
            return -1; /* a function (operator+= too), a type, or declared elsewhere; or the
                          later of two words finds it */
        else if (is_name(name) && name > i && has_type &&
                 (is_any(name + 1, "; = [ ,") ||
                  (is(name + 1, "{") && !is_any(name - 1, "struct class union enum"))))
            return name;
        *kind = is(name, "__constant__") ? CONSTANT : is(name, "__managed__") ? MANAGED : *kind;
        has_type |=
            is_name(name) && !is_any(name, "__device__ __constant__ __managed__ static const");
    }
}

/* The variables of a declaration make themselves known when the program starts. */
static void variables(int i)
{
    int kind, name = first_declarator(i, &kind);
    const char *text = "";
    while (name >= 0) {
        while (is_any(name, "* const __restrict__"))
            name++;
        if (is_name(name))
            text = formatted("%sstatic ::cpu_variable cpu_v%d(%.*s, \"%.*s\", %d); ", text,
                             variable_count++, tokens[name].n, tokens[name].s, tokens[name].n,
                             tokens[name].s, kind);
        int end = name;
        for (; end < token_count && !is_any(end, "; ,"); end++)
            if (is_any(end, "{ [ ("))
                end = match(end, 1);
            else if (is_name(end - 1) && is(end, "<"))
                end = skip_angle(end);
        if (end >= token_count || is(end, ";")) {
            insert_after(end, text);
            return;
        }
        name = end + 1;
    }
}

void know_variables(int i, int in_device)
{
    if (is(i, "__constant__") || (is(i, "__device__") && !in_device) ||
        (is(i, "__managed__") && !is(i - 1, "__device__") && !is(i + 1, "__device__")))
        variables(i);
}

void instrument(int i, int in_device)
{
    if (in_device && is(i, "/"))
        division(i);
    else if (in_device && is_any(i, "memcpy memmove memset") && call_of_c(i) >= 0)
        /* g++ turns a copy whose size it knows into code that no instrument sees */
        replace(call_of_c(i), i, formatted("::cpu_%s", text_of(i, i)));
    else if (in_device && is_any(i, "__builtin_memcpy __builtin_memmove __builtin_memset"))
        replace(i, i, formatted("::cpu_%s", text_of(i, i) + strlen("__builtin_")));
}
