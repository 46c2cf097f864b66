/* instruments.c: the names and addresses of the device's variables, for the runtime; and what
 * --trace adds, for `count` and `check`: divisions that are counted, and copies that an instrument
 * sees.
 *
 *   a / b                   ->  a / ::cpu_divide() / b     of floating-point numbers, it counts one
 *   a /= b                  ->  a /= ::cpu_divide() = b    which binds as loosely
 *   __device__ int n;       ->  int n;static ::cpu_variable cpu_v0(n, "n", 0);
 *   memcpy(a, b, 4)         ->  ::cpu_memcpy(a, b, 4)
 *   float a[32];            ->  float a[32]; ::cpu_local_array cpu_l0(a, "a"); */
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

/* The function of the C library whose name is at i is called there, and not declared. */
static int is_called(int i)
{
    const int first = call_of_c(i);
    return first >= 0 && !is_any(first - 1, "* & >") &&
           (!is_name(first - 1) || is_any(first - 1, "return else do"));
}

void instrument(int i, int in_device, int hosts_copies)
{
    if (in_device && is(i, "/"))
        division(i);
    else if ((in_device || hosts_copies) && is_any(i, "memcpy memmove memset") && is_called(i))
        /* g++ turns a copy whose size it knows into code that no instrument sees */
        replace(call_of_c(i), i, formatted("::cpu_%s", text_of(i, i)));
    else if (in_device && is_any(i, "__builtin_memcpy __builtin_memmove __builtin_memset"))
        replace(i, i, formatted("::cpu_%s", text_of(i, i) + strlen("__builtin_")));
}

/* --- Arrays of threads ------------------------------------------------------------------------ */

/* For `check`, an object behind an array that a function of the device declares without an
 * initialiser, if an index of it depends on the thread. Reads of elements that nothing was assigned
 * to are then found. Such an array mostly lacks its __shared__. Other arrays are registers, and
 * would be much slower in memory. */

/* The first declarator of the declaration of an array that begins at i; -1: it is none. */
static int first_array(int i)
{
    static const char others[] =
        "return delete using typedef extern static constexpr const goto case default throw new "
        "template friend namespace asm __asm__ __asm do else if for while switch try break "
        "continue "
        "__shared__ __device__ __constant__ struct class union enum sizeof operator";
    for (int types = 0; !is_any(i, others);) {
        if (is_any(i, "alignas __align__ __attribute__") && match(i + 1, 1) > i) {
            i = match(i + 1, 1) + 1;
        } else if (is_name(i) && is(i + 1, "[")) {
            return types ? i : -1;
        } else if (is_name(i) && is(i + 1, "<")) {
            if (skip_angle(i + 1) == i + 1)
                return -1;
            i = skip_angle(i + 1) + 1;
            types++;
        } else if (is_name(i)) {
            types += !is(i, "volatile");
            i++;
        } else if (is(i, ":") && is(i + 1, ":")) {
            i += 2;
            types = 0; /* the name behind it is the type's */
        } else if (is(i, "*") && types) {
            i++;
        } else {
            return -1;
        }
    }
    return -1;
}

/* A declaration behind an array must not be jumped over: it would be jumped into its scope. */
static int may_be_jumped_over(int i, int body)
{
    for (int k = body, close = match(body, 1); k < close; k++)
        if (is(k, "goto"))
            return 1;
    for (int k = i - 1; k > body; k--) {
        if (is(k, "}"))
            k = match(k, -1);
        else if (is(k, "{"))
            return is(k - 1, ")") && is(match(k - 1, -1) - 1, "switch");
    }
    return 0;
}

static int *of_threads; /* names whose values depend on the thread */
static int of_threads_count;

static int depends_on_thread(int first, int last)
{
    for (int i = first; i <= last; i++) {
        if (is_any(i, "threadIdx thread_rank"))
            return 1;
        for (int k = 0; k < of_threads_count && is_name(i); k++)
            if (same_name(i, of_threads[k]) && !is_member(i))
                return 1;
    }
    return 0;
}

/* Finds those names of the function: `name = ... threadIdx ...;` and what is computed from them. */
static void find_names(int body)
{
    const int close = match(body, 1);
    int before;
    of_threads_count = 0;
    do {
        before = of_threads_count;
        for (int i = body; i < close; i++) {
            int end = i + 1;
            if (!is(i, "=") || is(i + 1, "=") || !is_name(i - 1) || is_member(i - 1) ||
                depends_on_thread(i - 1, i - 1))
                continue;
            while (end < close && !is_any(end, ", ; ) }"))
                end = is_any(end, "( [ {") ? match(end, 1) + 1 : end + 1;
            if (depends_on_thread(i + 1, end - 1))
                APPEND(of_threads, of_threads_count, i - 1);
        }
    } while (of_threads_count > before);
}

static int is_indexed_by_thread(int name, int body)
{
    const int close = match(body, 1);
    for (int i = name + 1; i < close; i++)
        for (int k = i + 1; same_name(i, name) && !is_member(i) && is(k, "["); k = match(k, 1) + 1)
            if (depends_on_thread(k + 1, match(k, 1) - 1))
                return 1;
    return 0;
}

void local_arrays(int i, int body)
{
    static int count, last_body = -1;
    int name = is_any(i - 1, "; { }") ? first_array(i) : -1;
    char *text = formatted("");
    if (name < 0 || may_be_jumped_over(i, body))
        return;
    if (body != last_body)
        find_names(body);
    last_body = body;
    for (;;) {
        int end = name + 1;
        while (is(end, "["))
            end = match(end, 1) + 1;
        if (is_name(name) && end > name + 1 && is_any(end, ", ;") &&
            is_indexed_by_thread(name, body))
            text =
                formatted("%s [[maybe_unused]] ::cpu_local_array cpu_l%d(%.*s, \"%.*s\");", text,
                          count++, tokens[name].n, tokens[name].s, tokens[name].n, tokens[name].s);
        while (end < token_count && !is_any(end, ", ; }"))
            end = is_any(end, "( [ {") && match(end, 1) > end ? match(end, 1) + 1 : end + 1;
        if (!is(end, ",")) {
            if (is(end, ";"))
                insert_after(end, text);
            return;
        }
        for (name = end + 1; is_any(name, "* const __restrict__");)
            name++;
    }
}
