/* launches.c: a launch becomes a call that has the kernel's name as text, the kernel, the
 * configuration and the arguments, with defaults that the launch leaves out.
 *
 *   k<T><<<g, b, s, st>>>(a)     ->  ::cpu_launch("k<T>", k<T>, ::cpu_config(g, b, s, st), a)
 *   cudaLaunchKernelEx(&c, k, a) ->  cudaLaunchKernelEx("k", ::cpu_config(1, 1), &c, k, a)
 *   (void *)k                    ->  (void *)::cpu_known("k", k)
 *
 * Where several functions have the kernel's name, the right one is launched by a pointer that is
 * declared behind it. Where only the compiler can tell which kernel is meant, as of a template's
 * arguments, it is found by a call: ::cpu_launch_deduced. */
#include "compiler/rewriter/rewrite.h"

#include <string.h>

/* Tokens: the first <, and the first > behind the configuration. */
struct launch {
    int open, close;
};
static struct launch *launches;
static int launch_count;

/* --- What stands around <<< >>> --------------------------------------------------------------- */

/* The first token of the expression that ends at i, just before <<<; *arguments becomes the number
 * of template arguments that end it. */
static int callee_start(int i, int *arguments)
{
    int end = i, commas;
    *arguments = 0;
    while (i >= 0) {
        if (is(i, ">")) {
            int open = match_angle(i, -1, &commas);
            if (i == end)
                *arguments = open == i - 1 ? 0 : commas + 1;
            i = open - 1;
        } else if (is_any(i, ") ]")) {
            int open = match(i, -1);
            if (is(open, "(") && !is_name(open - 1) && !is_any(open - 1, "] )"))
                return open;
            i = open - 1;
        } else if (!is_name(i)) {
            return -1;
        } else if (is(i - 1, ":") && is(i - 2, ":")) {
            if (!is_name(i - 3) && !is(i - 3, ">"))
                return i - 2;
            i -= 3;
        } else if (is_member(i)) {
            i -= is(i - 1, ".") ? 2 : 3;
        } else if (is(i - 1, "template")) {
            i--;
        } else {
            return i;
        }
    }
    return -1;
}

/* The text of tokens as a string literal, for reports and counts. */
static char *quoted(int first, int last)
{
    char *text = text_of(first, last);
    for (char *p = text; *p; p++)
        if (*p == '"' || *p == '\\')
            *p = '\'';
    return formatted("\"%s\"", text);
}

/* The text of tokens in the place where the first of them stands. */
static char *in_place(int first, int last)
{
    const struct token *t = &tokens[first];
    return formatted("\n# %d \"%s\"\n%*s%.*s", t->line, files[t->file],
                     t->column ? t->column - 1 : 0, "",
                     (int)(tokens[last].s + tokens[last].n - t->s), t->s);
}

void note_launch(int i)
{
    int arguments, start = callee_start(i - 1, &arguments), close = i + 3, several = 0;
    while (close < token_count && !(is_three(close, ">") && is(close + 3, "(")) &&
           !is(close, ";")) {
        several |= is(close, ",");
        close = is_any(close, "( [ {") ? match(close, 1) + 1 : close + 1;
    }
    if (start >= 0 && is_three(close, ">") && !several)
        mistake(i, "a launch needs two numbers at least, <<<blocks, threads>>>");
    if (start < 0 || !is_three(close, ">"))
        unsupported(i, "this form of launch is", "write kernel<<<grid, block>>>(arguments)");
    APPEND(launches, launch_count, (struct launch){i, close});
}

/* --- Rewriting -------------------------------------------------------------------------------- */

/* The name of a kernel that shares it with other functions becomes a pointer to the kernel. A
 * kernel that launches itself has not ended where the name stands: there it is a cast. */
static void select_kernel(struct kernel *k, int name)
{
    int id = (int)(k - kernels);
    char *types = formatted("");
    for (int p = 0, from; p < k->n; p++) {
        from = k->first[p];
        for (int i = from; i < k->equals[p]; i++)
            if (is(i, "__grid_constant__")) {
                types = formatted("%s%s ", types, text_of(from, i - 1));
                from = i + 1;
            }
        types =
            formatted("%s%s%s", types, text_of(from, k->equals[p] - 1), p + 1 < k->n ? ", " : "");
    }
    if (name < k->end) {
        insert(name, formatted("static_cast<void (*)(%s)>(", types));
        insert_after(name, ")");
        return;
    }
    replace(name, name, formatted("cpu_k%d", id));
    if (!k->has_pointer)
        insert_after(k->end,
                     formatted(" [[maybe_unused]] static void (*const cpu_k%d)(%s) = %.*s; ", id,
                               types, tokens[k->name].n, tokens[k->name].s));
    k->has_pointer = 1;
}

static void rewrite_launch(const struct launch *l, int as_calls)
{
    int template_arguments, known, first[LIST], last[LIST];
    const int start = callee_start(l->open - 1, &template_arguments);
    const int open = l->close + 3, end = match(open, 1);
    const int given = end > 0 ? split_list(open, first, last) : 0;
    int name = l->open - 1;
    if (is(name, ">"))
        name = match_angle(name, -1, NULL) - 1;
    if (as_calls) {
        insert(start, formatted("(::cpu_config(%s), ", in_place(l->open + 3, l->close - 1)));
        replace(l->open, l->close + 2, "");
        insert_after(end, ")");
        return;
    }
    struct kernel *k = find_kernel(name, template_arguments, given, &known);
    const char *called = quoted(start, l->open - 1);
    if (known && !k) {
        const char *type = "static_cast<decltype(cpu_p)>";
        const char *callee = text_of(start, l->open - 1);
        insert(start, formatted("::cpu_launch_deduced(%s, [=](auto &...cpu_a) { ", called));
        replace(l->open, l->open + 2,
                formatted("(cpu_a...); }, [=](auto cpu_p) -> decltype(%s(%s)) { return %s(%s); }, "
                          "::cpu_config(",
                          type, callee, type, callee));
        for (int a = 0; a < given; a++) /* a null pointer has no type that is kept */
            if (first[a] == last[a] && is(first[a], "__null"))
                replace(first[a], last[a], "nullptr");
    } else {
        insert(start, formatted("::cpu_launch(%s, ", called));
        if (k && !k->template_parameters && is_overloaded(name))
            select_kernel(declared_first(k), name);
        replace(l->open, l->open + 2, ", ::cpu_config(");
    }
    const char *defaults = "";
    for (int p = given; k && p < k->n; p++)
        defaults =
            formatted("%s%s%s", defaults, p ? ", " : "", text_of(k->equals[p] + 1, k->last[p]));
    replace(l->close, l->close + 3, given || *defaults ? "), " : ")");
    insert(end, defaults);
}

void rewrite_launches(int as_calls)
{
    for (int i = 0; i < launch_count; i++)
        rewrite_launch(&launches[i], as_calls);
}

/* --- Launches by the API ---------------------------------------------------------------------- */

/* cudaLaunchKernelEx(config, kernel, arguments): name and place of the kernel go in front. */
static void launch_extended(int i)
{
    int close = is(i + 1, "(") ? match(i + 1, 1) : -1, first = 0, last = 0;
    for (int k = i + 2; k < close && !last; k++) {
        if (is_any(k, "( [ {"))
            k = match(k, 1);
        else if (first && is(k, "<"))
            k = skip_angle(k);
        else if (is(k, ",") && first)
            last = k - 1;
        else if (is(k, ","))
            first = k + 1;
    }
    if (!first)
        unsupported(i, "this form of launch is",
                    "write cudaLaunchKernelEx(&config, kernel, arguments)");
    insert(i + 2, formatted("%s, ::cpu_config(1, 1), ", quoted(first, last ? last : close - 1)));
}

/* cudaLaunchKernel((void *)kernel, ...), or the cooperative one, loses the cast: the kernel's type
 * tells what its arguments are. */
static void keep_type(int i)
{
    int open = i + 2, close = open + 1 + is(open + 1, "const") + 2;
    if (is(i + 1, "(") && is(open, "(") && is(close - 2, "void") && is(close - 1, "*") &&
        is(close, ")"))
        replace(open, close, "");
}

void api_launch(int i)
{
    if (is(i, "cudaLaunchKernelEx"))
        launch_extended(i);
    else
        keep_type(i);
}

/* (void *)kernel, (const void *)kernel<T> or reinterpret_cast<void *>(kernel): a launch by the
 * pointer has to know the kernel's parameters, so the cast tells the runtime. */
void kernel_pointer(int i)
{
    int word = i + 1 + is(i + 1, "const"), first = word + 3;
    if (!is(word, "void") || !is(word + 1, "*") || !is(word + 2, is(i, "(") ? ")" : ">"))
        return;
    if (is(i, "<")) {
        if (!is(i - 1, "reinterpret_cast") || !is(first, "("))
            return;
        first++;
    } else if (is_name(i - 1) || is_any(i - 2, "cudaLaunchKernel cudaLaunchCooperativeKernel")) {
        return;
    }
    first += is(first, "&");
    int name = first;
    if (is(name, ":") && is(name + 1, ":"))
        name += 2;
    while (is_name(name) && is(name + 1, ":") && is(name + 2, ":"))
        name += 3;
    int end = is(name + 1, "<") ? skip_angle(name + 1) : name;
    if (end == name + 1) /* less than */
        end = name;
    if (!is_name(name) || end + 1 >= token_count || !strchr(",;):}", *tokens[end + 1].s) ||
        !is_kernel(name))
        return;
    insert(first, formatted("::cpu_known(%s, ", quoted(first, end)));
    insert_after(end, ")");
    if (is(first - 1, "&"))
        replace(first - 1, first - 1, "");
}
