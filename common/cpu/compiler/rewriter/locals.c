/* locals.c: for `check`, an object beside each array that a function of the device declares without
 * an initialiser. Reads of elements that nothing was assigned to are then found.
 *
 *   float a[32];
 *     ->  float a[32]; ::cpu_local_array cpu_l0(a, "a"); */
#include "compiler/rewriter/rewrite.h"

/* Where the declarators begin of a declaration that begins at i; -1: it is none of an array. */
static int first_declarator(int i)
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

/* What stands behind an array must not be jumped over: it would be jumped into its scope. */
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
            if (!is(i, "=") || is(i + 1, "=") || !is_name(i - 1) || depends_on_thread(i - 1, i - 1))
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
    int name = is_any(i - 1, "; { }") ? first_declarator(i) : -1;
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
