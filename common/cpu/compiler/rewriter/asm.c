/* asm.c: inline PTX. An asm statement becomes a call of the runtime: operands go to an array of
 * registers, ::cpu_asm executes the text, and its results come back. The text is parsed here too,
 * so that a mistake in it is reported when the program is compiled: here in a kernel, elsewhere by
 * the compiler, where the statement becomes code. Nobody may use a helper for another GPU.
 *
 *   asm("add.s32 %0, %1, 1;" : "=r"(a) : "r"(b));   ->
 *   do { static ::cpu_asm_site cpu_s0 = {"add.s32 %0, %1, 1;", "rr", 2, "user.cu", 7, 0};
 *        uint64_t cpu_r0[2]; ::cpu_asm_in<'r'>(&cpu_r0[1], (b)); ::cpu_asm(&cpu_s0, cpu_r0);
 *        ::cpu_asm_out<'r'>(&cpu_r0[0], (a)); } while (0); */
#include "compiler/rewriter/rewrite.h"
#include "ptx/language/ptx.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A statement with strings (constraint C) has a text, and so registers, only when it runs. */
enum { OPERANDS = 300, REGISTERS_WITH_STRINGS = 200 };

struct statement {
    int first, close; /* tokens: asm, and its ) */
    char *text;       /* decoded */
    int *lines;       /* of each byte of it */
    int n, operands;
    char constraint[OPERANDS + 1]; /* a letter each */
    char way[OPERANDS];            /* '=' written, '+' read and written, 0 read */
    int value[OPERANDS];           /* the ( before it */
    int memory;                    /* it clobbers memory */
};

static void __attribute__((noreturn)) wrong(const struct statement *a, int line, const char *why)
{
    refuse(tokens[a->first].file, line, why);
}

/* --- Reading ---------------------------------------------------------------------------------- */

static void add_byte(struct statement *a, char c, int line)
{
    APPEND(a->lines, a->n, line);
    a->n--;
    APPEND(a->text, a->n, c);
}

/* One string literal of the statement. */
static void add_literal(struct statement *a, int i)
{
    const char *p = tokens[i].s, *end = p + tokens[i].n - 1;
    int line = tokens[i].line;
    if (*p == 'R') {
        const char *open = strchr(p, '(');
        end -= open - p - 1;
        for (p = open + 1; p < end; p++) {
            add_byte(a, *p, line);
            line += *p == '\n';
        }
        return;
    }
    for (p++; p < end; p++) {
        static const char names[] = "ntrabfv", codes[] = "\n\t\r\a\b\f\v";
        char c = *p, *after;
        if (c == '\\') {
            const char *known = strchr(names, *++p);
            c = known ? codes[known - names] : *p;
            if (*p == 'x' || (*p >= '0' && *p <= '7')) {
                c = (char)strtol(*p == 'x' ? p + 1 : p, &after, *p == 'x' ? 16 : 8);
                p = after - 1;
            }
        }
        add_byte(a, c, line);
    }
}

static int is_string(int i)
{
    return i < token_count &&
           (*tokens[i].s == '"' || (tokens[i].n > 2 && strncmp(tokens[i].s, "R\"", 2) == 0));
}

/* [name] "=r" (value), ...; returns the token after them. */
static int read_operands(struct statement *a, int i, int written)
{
    while (!is_any(i, ": )")) {
        const int k = a->operands, line = tokens[i].line;
        if (k == OPERANDS)
            wrong(a, line, "an asm statement of more than 300 operands");
        if (is(i, "["))
            wrong(a, line,
                  "nvcc knows no names for operands of an asm statement: write "
                  "%0, %1 and so on");
        char text[8] = "";
        for (size_t n = 0; is_string(i); i++)
            for (int p = 1; p < tokens[i].n - 1 && n + 1 < sizeof text; p++)
                text[n++] = tokens[i].s[p];
        if (!*text || !is(i, "("))
            wrong(a, tokens[i].line, "an operand of an asm statement is \"constraint\"(value)");
        const char *c = text;
        a->way[k] = 0;
        if (*c == '=' || *c == '+')
            a->way[k] = *c++;
        c += *c == '&';
        if (!*c || !strchr("hrlfdnC", *c) || c[1] || !written != !a->way[k] ||
            (written && strchr("nC", *c)))
            wrong(a, tokens[i].line,
                  formatted("constraint \"%s\" of an asm statement: need %s", text,
                            written ? "= or +, and h, r, l, f or d" : "h, r, l, f, d, n or C"));
        a->constraint[k] = *c;
        a->value[k] = i;
        a->operands++;
        i = match(i, 1) + 1;
        i += is(i, ",");
    }
    return i;
}

/* asm volatile("text" : outputs : inputs : clobbers), whose asm is at a->first. */
static void read_statement(struct statement *a)
{
    int next = a->first + 1;
    while (is_any(next, "volatile __volatile__ __volatile"))
        next++;
    a->close = is(next, "(") ? match(next, 1) : -1;
    if (a->close < 0 || !is_string(next + 1))
        wrong(a, tokens[a->first].line,
              "this form of asm statement is not supported by the CPU backend; "
              "write asm(\"text\" : outputs : inputs : clobbers)");
    for (next++; is_string(next); next++)
        add_literal(a, next);
    add_byte(a, '\0', 0);
    a->n--;
    for (int part = 0; is(next, ":") && part < 2; part++)
        next = read_operands(a, next + 1, part == 0);
    for (; next < a->close; next++)
        a->memory |= is(next, "\"memory\"");
}

/* --- Rewriting -------------------------------------------------------------------------------- */

/* A string literal whose value is s. */
static char *literal(const char *s)
{
    char *text = formatted("\"");
    for (; *s; s++)
        text = formatted(isprint((unsigned char)*s) && !strchr("\"\\?", *s) ? "%s%c" : "%s\\%03o",
                         text, (unsigned char)*s);
    return formatted("%s\"", text);
}

/* The code before the call, the call, and the code behind it. p: the program, or NULL if the
 * text has strings. */
static char *call_with_operands(const struct statement *a, const ptx_program *p, int id)
{
    char *in = formatted(""), *out = formatted(""), *held = in, *call;
    for (int k = 0; k < a->operands; k++) {
        const struct token *open = &tokens[a->value[k]], *end = &tokens[match(a->value[k], 1)];
        const char c = a->constraint[k], *value = open->s;
        const int n = (int)(end->s + 1 - value);
        if (p && p->held && p->held[k]) {
            in = formatted("%s::cpu_asm_hold<'%c'>(&cpu_r%d[%d], &cpu_h%d[%d], %.*s); ", in, c, id,
                           k, id, k, n, value);
            continue;
        }
        if (c == 'C')
            in = formatted("%s::cpu_asm_string(&cpu_r%d[%d], %.*s); ", in, id, k, n, value);
        else if (a->way[k] != '=')
            in = formatted("%s::cpu_asm_in<'%c'>(&cpu_r%d[%d], %.*s); ", in, c, id, k, n, value);
        else if (!p || p->guarded) /* it may stay unwritten */
            in = formatted("%s::cpu_asm_in<'l'>(&cpu_r%d[%d], -1ll); ", in, id, k);
        if (a->way[k])
            out = formatted("%s::cpu_asm_out<'%c'>(&cpu_r%d[%d], %.*s); ", out, c, id, k, n, value);
    }
    if (p && p->held) { /* by a wgmma, until a later statement waits for it */
        held = formatted("__attribute__((uninitialized)) uint64_t cpu_h%d[%d]; ", id, a->operands);
        call = formatted("::cpu_asm_held(&cpu_s%d, cpu_r%d, cpu_h%d)", id, id, id);
    } else {
        held = formatted("");
        call = formatted("::cpu_asm(&cpu_s%d, cpu_r%d)", id, id);
    }
    return formatted("%s%s%s; %s", held, in, call, out);
}

/* Whether the statement surely becomes code: it is in a kernel, whose body opens at `kernel`, and
 * behind no `if constexpr`. */
static int surely_used(int i, int kernel)
{
    int may_be_left_out = kernel < 0;
    for (int k = kernel; k < i; k++)
        may_be_left_out |= is(k, "constexpr") && is(k - 1, "if");
    return !may_be_left_out;
}

/* A call that the compiler refuses with the line, unless it makes no code of it. cudacc finds the
 * line by the function's name. */
static char *refused_where_used(const struct statement *a, int line, const char *why, int id)
{
    const char *file = files[tokens[a->first].file];
    char *use = formatted("");
    for (int k = 0; k < a->operands; k++)
        use = formatted("%s(void)%s; ", use, text_of(a->value[k], match(a->value[k], 1)));
    return formatted("do { void cpu_refused_%d() __attribute__((error(%s))); %scpu_refused_%d(); } "
                     "while (0)",
                     id, literal(formatted("%s:%d: %s", file, line, why)), use, id);
}

int inline_ptx(int i, int kernel)
{
    static int count;
    struct statement a = {.first = i};
    struct ptx_error error;
    read_statement(&a);
    const char *constraints = a.operands ? a.constraint : NULL; /* as nvcc: else % is itself */
    const int strings = strchr(a.constraint, 'C') != NULL;
    ptx_program *p = strings ? NULL : ptx_parse(a.text, constraints, &error);
    const int line = p || strings         ? 0
                     : error.offset < a.n ? a.lines[error.offset]
                                          : tokens[a.close].line;
    if (line && surely_used(i, kernel))
        wrong(&a, line, error.text);
    if (line) {
        replace(i, a.close, refused_where_used(&a, line, error.text, count++));
    } else if (p && !p->n) { /* a fence for the compiler, if it is anything */
        replace(i, a.close, a.memory ? "__asm__ volatile(\"\" ::: \"memory\")" : "(void)0");
    } else {
        const int registers = p ? p->registers : a.operands + REGISTERS_WITH_STRINGS, id = count++;
        replace(i, a.close,
                formatted("do { static ::cpu_asm_site cpu_s%d = {%s, %s, %d, %s, %d, 0}; "
                          "__attribute__((uninitialized)) uint64_t cpu_r%d[%d]; %s} while (0)",
                          id, literal(a.text), constraints ? literal(a.constraint) : "0", registers,
                          literal(files[tokens[i].file]), tokens[i].line, id,
                          registers ? registers : 1, call_with_operands(&a, p, id)));
    }
    free(a.lines);
    free(a.text);
    return a.close;
}
