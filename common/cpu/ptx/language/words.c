/* Reads the words and numbers of an asm statement, and ends the parsing where one is wrong. */
#include "ptx/language/parse.h"
#include "base/formats.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Errors and memory ------------------------------------------------------------------------ */
void __attribute__((noreturn, format(printf, 3, 4)))
parse_wrong(struct parser *s, const char *at, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(s->error->text, sizeof s->error->text, format, list);
    va_end(list);
    s->error->offset = (int)(at - s->text);
    longjmp(s->wrong, 1);
}

/* Room for element n of a growing array, whose capacity doubles. */
void *parse_grow(struct parser *s, void *array, int n, size_t size)
{
    if (n & (n - 1))
        return array;
    void *p = realloc(array, (n ? 2 * (size_t)n : 1) * size);
    if (!p)
        parse_wrong(s, s->p, "out of memory");
    return p;
}

char *parse_copy(struct parser *s, const char *from, size_t n)
{
    char *p = calloc(n + 1, 1);
    if (!p)
        parse_wrong(s, s->p, "out of memory");
    return memcpy(p, from, n);
}

/* --- Words ------------------------------------------------------------------------------------ */

void parse_skip_blanks(struct parser *s)
{
    for (;; s->p++) {
        if (s->p[0] == '/' && s->p[1] == '/')
            s->p += strcspn(s->p, "\n");
        if (s->p[0] == '/' && s->p[1] == '*') {
            const char *end = strstr(s->p + 2, "*/");
            if (!end)
                parse_wrong(s, s->p, "a comment has no end");
            s->p = end + 1;
        } else if (!isspace((unsigned char)*s->p)) {
            return;
        }
    }
}

int parse_accept(struct parser *s, char c)
{
    parse_skip_blanks(s);
    if (*s->p != c)
        return 0;
    s->p++;
    return 1;
}

/* The text at the present place, for messages. */
const char *parse_here(struct parser *s)
{
    static __thread char word[60];
    parse_skip_blanks(s);
    if (!*s->p)
        return "the end";
    size_t n = strcspn(s->p, " \t\n,;");
    snprintf(word, sizeof word, "`%.*s`", (int)(n ? n : 1), s->p);
    return word;
}

void parse_expect(struct parser *s, char c)
{
    if (!parse_accept(s, c))
        parse_wrong(s, s->p, "need `%c`, not %s", c, parse_here(s));
}

static int is_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$';
}

static int is_rest(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

int parse_is_word(const struct name *n, const char *s)
{
    return (int)strlen(s) == n->n && memcmp(n->s, s, (size_t)n->n) == 0;
}

/* A name: of a register with its %, or of an instruction or special register with its dots. In a
 * statement with operands, %% and a % before a letter are one %. Length 0: there is no name
 * here. */
struct name parse_word(struct parser *s, int dots)
{
    parse_skip_blanks(s);
    struct name w = {s->p, 0, -1, PTX_NONE};
    if (*s->p == '%') {
        s->p++;
        if (s->constraints && *s->p == '%')
            w.s = s->p++;
        else if (s->constraints && !is_start(*s->p))
            parse_wrong(s, w.s,
                        "%.6s: %%0 to %%%d are operands, and the name of a register has %%%%", w.s,
                        (int)strlen(s->constraints) - 1);
    } else if (!is_start(*s->p)) {
        return w;
    }
    while (is_rest(*s->p) || (dots && *s->p == '.' && is_rest(s->p[1])) ||
           (dots && s->p[0] == ':' && s->p[1] == ':' && is_rest(s->p[2])) ||
           (s->p[0] == '%' && s->p[1] == '=')) /* a number that is unique to the statement */
        s->p += *s->p == ':' || *s->p == '%' ? 2 : 1;
    w.n = (int)(s->p - w.s);
    return w;
}

const struct name *parse_find(const struct name *names, int count, const struct name *w)
{
    for (int i = count - 1; i >= 0; i--)
        if (names[i].n == w->n && memcmp(names[i].s, w->s, (size_t)w->n) == 0)
            return &names[i];
    return NULL;
}

int parse_find_word(const char *const *words, int count, const char *s, size_t n)
{
    for (int i = 0; i < count; i++)
        if (strlen(words[i]) == n && memcmp(words[i], s, n) == 0)
            return i;
    return -1;
}

/* --- Numbers ---------------------------------------------------------------------------------- */

/* Raw bits of 12, -0x1f, 0b101, 0f3F800000, 0d..., 1.5. */
static uint64_t number(struct parser *s, enum number *kind, int negative)
{
    parse_skip_blanks(s);
    const char *p = s->p;
    char *end;
    uint64_t bits;
    *kind = NUMBER_INTEGER;
    if (p[0] == '0' && strchr("fFdD", p[1]) && p[1]) {
        int single = p[1] == 'f' || p[1] == 'F';
        *kind = single ? NUMBER_SINGLE : NUMBER_DOUBLE;
        bits = strtoull(p + 2, &end, 16);
        if (end - p - 2 != (single ? 8 : 16))
            parse_wrong(s, p, "%s is no number: 0%c has %d hexadecimal digits", parse_here(s), p[1],
                        single ? 8 : 16);
        bits ^= (uint64_t)negative << (single ? 31 : 63);
    } else if (p[strspn(p, "0123456789")] == '.') {
        *kind = NUMBER_DOUBLE;
        bits = ptx_double_bits(strtod(p, &end)) ^ (uint64_t)negative << 63;
    } else {
        int binary = p[0] == '0' && (p[1] == 'b' || p[1] == 'B');
        bits = strtoull(binary ? p + 2 : p, &end, binary ? 2 : 0);
        bits = negative ? -bits : bits;
        end += *end == 'U';
    }
    if (end == p || is_rest(*end))
        parse_wrong(s, p, "%s is no number", parse_here(s));
    s->p = end;
    return bits;
}

static uint64_t term(struct parser *s, enum number *kind)
{
    if (parse_accept(s, '~'))
        return ~term(s, kind);
    if (parse_accept(s, '(')) {
        uint64_t v = parse_expression(s, kind, 0);
        parse_expect(s, ')');
        return v;
    }
    if (!parse_accept(s, '-'))
        return number(s, kind, 0);
    parse_skip_blanks(s);
    return *s->p == '(' || *s->p == '-' || *s->p == '~' ? -term(s, kind) : number(s, kind, 1);
}

/* An expression of integers with C's operators, where a higher level binds more tightly; or a
 * single literal with a point. */
uint64_t parse_expression(struct parser *s, enum number *kind, int level)
{
    static const char *const operators[] = {"|", "^", "&", "<>", "+-", "*/%"};
    if (level == sizeof operators / sizeof *operators)
        return term(s, kind);
    uint64_t v = parse_expression(s, kind, level + 1);
    for (;;) {
        parse_skip_blanks(s);
        char c = *s->p;
        if (*kind != NUMBER_INTEGER || !c || !strchr(operators[level], c) || s->p[1] == '%' ||
            (level == 3 && s->p[1] != c))
            return v;
        const char *before = s->p;
        s->p += level == 3 ? 2 : 1;
        parse_skip_blanks(s);
        if (*s->p == '%' || is_start(*s->p)) { /* the address continues with a register */
            s->p = before;
            return v;
        }
        uint64_t b = parse_expression(s, kind, level + 1);
        if (*kind != NUMBER_INTEGER || (strchr("/%", c) && !b))
            parse_wrong(s, before, "`%c` has no integer after it, or 0", c);
        v = c == '|'   ? v | b
            : c == '^' ? v ^ b
            : c == '&' ? v & b
            : c == '<' ? v << (b & 63)
            : c == '>' ? (uint64_t)((int64_t)v >> (b & 63))
            : c == '+' ? v + b
            : c == '-' ? v - b
            : c == '*' ? v * b
            : c == '/' ? (uint64_t)((int64_t)v / (int64_t)b)
                       : (uint64_t)((int64_t)v % (int64_t)b);
    }
}
