/* sides.c: refuses calls of a function of the wrong side, as nvcc does: of a host function in a
 * kernel, and of a __device__ function in the host's code. It does so only where a name
 * can mean just one thing: a function outside classes, no template, and nothing else has that name,
 * here or in a system header.
 *
 *   int f(int); __global__ void k(int *p) { *p = f(1); }
 *     ->  k runs on the device and calls host function f: declare that __device__ */
#include "compiler/rewriter/rewrite.h"

#include <ctype.h>
#include <string.h>

enum { ON_HOST = 1, ON_DEVICE = 2, IN_DOUBT = 4 };

struct function {
    int name, open, close; /* tokens; open is 0 for one without a body */
    int sides;
    int kernel;
};
static struct function *functions;
static int function_count;

/* The declaration or the head of a function from `start` up to `end`, if it is one. */
static void note_function(int start, int end)
{
    static const char no_function[] = "operator using typedef friend = struct class union enum "
                                      "asm static_assert return < __shared__";
    struct function f = {.open = is(end, "{") ? end : 0, .close = is(end, "{") ? match(end, 1) : 0};
    int open = start;
    for (; open < end && !is(open, "("); open++) {
        f.sides |= is_any(open, "template constexpr consteval decltype") ? IN_DOUBT : 0;
        if (is_any(open, no_function) && !(f.sides & IN_DOUBT))
            return;
        f.sides |= is(open, "__host__") ? ON_HOST : 0;
        f.sides |= is_any(open, "__device__ __global__") ? ON_DEVICE : 0;
        f.kernel |= is(open, "__global__");
        if (is(open + 1, "(") && is_any(open, "__attribute__ __launch_bounds__ __align__ alignas"))
            open = match(open + 1, 1);
    }
    f.name = open - 1;
    if (open >= end || f.name <= start || !is_name(f.name) || is(f.name - 1, ":"))
        return;
    f.sides |= f.sides & (ON_HOST | ON_DEVICE) ? 0 : ON_HOST;
    APPEND(functions, function_count, f);
}

static void find_functions(void)
{
    for (int i = 0, start = 0; i < token_count; i++) {
        if (is_any(i, "( [")) {
            i = match(i, 1);
        } else if (is(i, ";")) {
            note_function(start, i);
            start = i + 1;
        } else if (is(i, "}")) {
            start = i + 1;
        } else if (is(i, "{")) {
            int k = start;
            while (k < i && !is(k, "namespace") && !(is(k, "extern") && *tokens[k + 1].s == '"'))
                k++;
            if (k < i && !is(i - 1, ")")) { /* the body is read like the text around it */
                start = i + 1;
                continue;
            }
            const int before = function_count, body = i;
            note_function(start, i);
            i = match(i, 1);
            if (function_count > before || is(body - 1, ")"))
                start = i + 1;
        }
        if (i < 0)
            return;
    }
}

/* Whether a name stands in front of token i which makes it a declaration. */
static int is_declared(int i)
{
    return is_name(i - 1) && !is_any(i - 1, "return else do case throw and or not");
}

static int token_at(const char *s)
{
    int low = 0, high = token_count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (tokens[middle].s < s)
            low = middle + 1;
        else
            high = middle;
    }
    return low < token_count && tokens[low].s == s;
}

/* Whether a system header, or a macro of one, has a function of that name. What cudacc includes
 * first may be compiled already, and is not in the text. */
static int is_in_system(const char *text, int name)
{
    /* Without the final f of functions of floats. */
    static const char of_both[] =
        "abs labs min max pow sqrt cbrt hypot exp exp2 exp10 expm1 log log2 log10 log1p sin cos "
        "tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh floor ceil round trunc rint "
        "fmod modf frexp ldexp fabs fmin fmax fma fdim erf erfc swap clock isnan isinf printf "
        "copysign div norm saturate";
    const char *word = text_of(name, name);
    const size_t n = strlen(word);
    if (is_one_of(word, n, of_both) || is_one_of(word, n - (word[n - 1] == 'f'), of_both))
        return 1;
    if (strncmp(word, "make_", 5) == 0 || is_cuda_name(word))
        return 1;
    for (const char *p = text; (p = strstr(p, word)); p += n) {
        if ((p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '_')) ||
            p[n + strspn(p + n, " ")] != '(' || token_at(p))
            continue;
        return 1;
    }
    return 0;
}

/* On which side all functions of that name are; IN_DOUBT where it may mean anything else. */
static int side_of(const char *text, int name)
{
    int sides = 0;
    for (int i = 0; i < token_count; i++) {
        if (!same_name(i, name))
            continue;
        int inside = 0, known = 0;
        for (int f = 0; f < function_count; f++) {
            known |= functions[f].name == i;
            inside |= functions[f].open < i && i < functions[f].close;
            sides |= functions[f].name == i ? functions[f].sides : 0;
        }
        if (!known && (!is(i + 1, "(") || is_declared(i) || !inside))
            return IN_DOUBT;
    }
    return sides && !(sides & IN_DOUBT) && is_in_system(text, name) ? IN_DOUBT : sides;
}

static void check_body(const char *text, const struct function *f)
{
    const int mine = f->sides, other = mine == ON_HOST ? ON_DEVICE : ON_HOST;
    for (int i = f->open; i < f->close; i++) /* of a lambda, or a local class */
        if (is_any(i, "__device__ __host__"))
            return;
    for (int i = f->open + 1; i < f->close; i++) {
        if (is(i + 1, "(") && is_any(i, "decltype sizeof noexcept alignof"))
            i = match(i + 1, 1);
        if (!is_name(i) || !is(i + 1, "(") || is_member(i) || is(i - 1, ":") || is_declared(i))
            continue;
        if (mine == ON_DEVICE && is(i, "cudaDeviceSynchronize"))
            mistake(i, formatted("%.*s calls cudaDeviceSynchronize: since CUDA 12 what runs on the "
                                 "device cannot wait for what it launches",
                                 tokens[f->name].n, tokens[f->name].s));
        int known = 0;
        for (int k = 0; k < function_count && !known; k++)
            known = same_name(functions[k].name, i) && functions[k].sides == other &&
                    !functions[k].kernel;
        if (known && side_of(text, i) == other)
            mistake(i, formatted(mine == ON_HOST
                                     ? "host function %.*s calls __device__ function %.*s: declare "
                                       "that __host__ __device__"
                                     : "%.*s runs on the device and calls host function %.*s: "
                                       "declare that __device__",
                                 tokens[f->name].n, tokens[f->name].s, tokens[i].n, tokens[i].s));
    }
}

void check_sides(const char *text)
{
    for (int i = 0; i < token_count; i++)
        if (is(i, "cpu_in_kernel")) /* two sides made one: either may lack what the other has */
            return;
    find_functions();
    for (int f = 0; f < function_count; f++)
        if (functions[f].open && (functions[f].sides == ON_HOST || functions[f].sides == ON_DEVICE))
            check_body(text, &functions[f]);
}
