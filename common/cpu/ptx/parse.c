/* The text of an asm statement becomes a program, or one line that says what is wrong with it. */
#include "ptx.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 300, DEPTH = 20, PARTS = 256, LABELS = 100 };

struct name {
    const char *s;
    int n, reg; /* reg: for a label, the instruction's number, or -1 */
    enum ptx_type type;
};

struct parser {
    const char *text, *p;
    const char *constraints; /* NULL: the statement has no operands, and % stands for itself */
    struct ptx_error *error;
    jmp_buf wrong;
    ptx_program *program;
    struct name names[NAMES], labels[LABELS], jumps[LABELS];
    int name_count, label_count, jump_count, scope[DEPTH], depth;
    enum ptx_type *types; /* of the registers */
};

/* --- Errors and memory ------------------------------------------------------------------------ */

static void __attribute__((noreturn, format(printf, 3, 4)))
wrong(struct parser *s, const char *at, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(s->error->text, sizeof s->error->text, format, list);
    va_end(list);
    s->error->offset = (int)(at - s->text);
    longjmp(s->wrong, 1);
}

/* Element n of an array that grows: lengths double at powers of two. */
static void *grow(struct parser *s, void *array, int n, size_t size)
{
    if (n & (n - 1))
        return array;
    void *p = realloc(array, (n ? 2 * (size_t)n : 1) * size);
    if (!p)
        wrong(s, s->p, "out of memory");
    return p;
}

static char *copy(struct parser *s, const char *from, size_t n)
{
    char *p = calloc(n + 1, 1);
    if (!p)
        wrong(s, s->p, "out of memory");
    return memcpy(p, from, n);
}

static int add_register(struct parser *s, enum ptx_type type)
{
    s->types = grow(s, s->types, s->program->registers, sizeof *s->types);
    s->types[s->program->registers] = type;
    return s->program->registers++;
}

/* --- Words ------------------------------------------------------------------------------------ */

static void skip_blanks(struct parser *s)
{
    for (;; s->p++) {
        if (s->p[0] == '/' && s->p[1] == '/')
            s->p += strcspn(s->p, "\n");
        if (s->p[0] == '/' && s->p[1] == '*') {
            const char *end = strstr(s->p + 2, "*/");
            if (!end)
                wrong(s, s->p, "a comment has no end");
            s->p = end + 1;
        } else if (!isspace((unsigned char)*s->p)) {
            return;
        }
    }
}

static int accept(struct parser *s, char c)
{
    skip_blanks(s);
    if (*s->p != c)
        return 0;
    s->p++;
    return 1;
}

/* What stands here, for messages. */
static const char *here(struct parser *s)
{
    static __thread char word[60];
    skip_blanks(s);
    if (!*s->p)
        return "the end";
    size_t n = strcspn(s->p, " \t\n,;");
    snprintf(word, sizeof word, "`%.*s`", (int)(n ? n : 1), s->p);
    return word;
}

static void expect(struct parser *s, char c)
{
    if (!accept(s, c))
        wrong(s, s->p, "need `%c`, not %s", c, here(s));
}

static int is_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$';
}

static int is_rest(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static int is_word(const struct name *n, const char *s)
{
    return (int)strlen(s) == n->n && memcmp(n->s, s, (size_t)n->n) == 0;
}

/* A name: of a register with its %, of an instruction or a special register with dots in it. In a
 * statement with operands %% is one %. Length 0 when there is none. */
static struct name word(struct parser *s, int dots)
{
    skip_blanks(s);
    struct name w = {s->p, 0, -1, PTX_NONE};
    if (*s->p == '%') {
        s->p++;
        if (s->constraints && *s->p != '%')
            wrong(s, w.s, "%.6s: %%0 to %%%d are operands, and the name of a register has %%%%",
                  w.s, (int)strlen(s->constraints) - 1);
        if (s->constraints)
            w.s = s->p++;
    } else if (!is_start(*s->p)) {
        return w;
    }
    while (is_rest(*s->p) || (dots && *s->p == '.' && is_rest(s->p[1])) ||
           (dots && s->p[0] == ':' && s->p[1] == ':' && is_rest(s->p[2])) ||
           (s->p[0] == '%' && s->p[1] == '=')) /* a number that each statement has to itself */
        s->p += *s->p == ':' || *s->p == '%' ? 2 : 1;
    w.n = (int)(s->p - w.s);
    return w;
}

static const struct name *find(const struct name *names, int count, const struct name *w)
{
    for (int i = count - 1; i >= 0; i--)
        if (names[i].n == w->n && memcmp(names[i].s, w->s, (size_t)w->n) == 0)
            return &names[i];
    return NULL;
}

static int find_word(const char *const *words, int count, const char *s, size_t n)
{
    for (int i = 0; i < count; i++)
        if (strlen(words[i]) == n && memcmp(words[i], s, n) == 0)
            return i;
    return -1;
}

/* --- Numbers ---------------------------------------------------------------------------------- */

enum number { NUMBER_INTEGER, NUMBER_SINGLE, NUMBER_DOUBLE };

static uint64_t bits_of_double(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static uint64_t bits_of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* 12, -0x1f, 0b101, 0f3F800000, 0d..., 1.5: raw bits. */
static uint64_t number(struct parser *s, enum number *kind, int negative)
{
    skip_blanks(s);
    const char *p = s->p;
    char *end;
    uint64_t bits;
    *kind = NUMBER_INTEGER;
    if (p[0] == '0' && strchr("fFdD", p[1]) && p[1]) {
        int single = p[1] == 'f' || p[1] == 'F';
        *kind = single ? NUMBER_SINGLE : NUMBER_DOUBLE;
        bits = strtoull(p + 2, &end, 16);
        if (end - p - 2 != (single ? 8 : 16))
            wrong(s, p, "%s is no number: 0%c has %d hexadecimal digits", here(s), p[1],
                  single ? 8 : 16);
        bits ^= (uint64_t)negative << (single ? 31 : 63);
    } else if (p[strspn(p, "0123456789")] == '.') {
        *kind = NUMBER_DOUBLE;
        bits = bits_of_double(strtod(p, &end)) ^ (uint64_t)negative << 63;
    } else {
        int binary = p[0] == '0' && (p[1] == 'b' || p[1] == 'B');
        bits = strtoull(binary ? p + 2 : p, &end, binary ? 2 : 0);
        bits = negative ? -bits : bits;
        end += *end == 'U';
    }
    if (end == p || is_rest(*end))
        wrong(s, p, "%s is no number", here(s));
    s->p = end;
    return bits;
}

static uint64_t expression(struct parser *s, enum number *kind, int level);

static uint64_t term(struct parser *s, enum number *kind)
{
    if (accept(s, '~'))
        return ~term(s, kind);
    if (accept(s, '(')) {
        uint64_t v = expression(s, kind, 0);
        expect(s, ')');
        return v;
    }
    if (!accept(s, '-'))
        return number(s, kind, 0);
    skip_blanks(s);
    return *s->p == '(' || *s->p == '-' || *s->p == '~' ? -term(s, kind) : number(s, kind, 1);
}

/* Integers with the operators of C, of which a higher level binds more tightly; or a single number
 * with a point. */
static uint64_t expression(struct parser *s, enum number *kind, int level)
{
    static const char *const operators[] = {"|", "^", "&", "<>", "+-", "*/%"};
    if (level == sizeof operators / sizeof *operators)
        return term(s, kind);
    uint64_t v = expression(s, kind, level + 1);
    for (;;) {
        skip_blanks(s);
        char c = *s->p;
        if (*kind != NUMBER_INTEGER || !c || !strchr(operators[level], c) || s->p[1] == '%' ||
            (level == 3 && s->p[1] != c))
            return v;
        const char *before = s->p;
        s->p += level == 3 ? 2 : 1;
        skip_blanks(s);
        if (*s->p == '%' || is_start(*s->p)) { /* an address goes on with a register */
            s->p = before;
            return v;
        }
        uint64_t b = expression(s, kind, level + 1);
        if (*kind != NUMBER_INTEGER || (strchr("/%", c) && !b))
            wrong(s, before, "`%c` has no integer after it, or 0", c);
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

/* --- Operands --------------------------------------------------------------------------------- */

/* What is known of an operand besides what is kept: its type, and what a number looked like. */
struct seen {
    const char *at;
    enum ptx_type type; /* of a register */
    enum number number;
    int constant; /* a number, or an operand with constraint n */
};

static struct ptx_operand register_operand(struct parser *s, struct seen *seen)
{
    ptx_operand o = {.kind = PTX_REGISTER, .reg = -1, .more = -1};
    skip_blanks(s);
    seen->at = s->p;
    if (s->constraints && s->p[0] == '%' && isdigit((unsigned char)s->p[1])) {
        char *end;
        long k = strtol(s->p + 1, &end, 10);
        if (k >= (long)strlen(s->constraints))
            wrong(s, s->p, "%%%ld: the statement has %zu operands", k, strlen(s->constraints));
        s->p = end;
        o.reg = (int)k;
        o.value = ptx_type_bits[s->types[k]];
        seen->type = s->types[k];
        seen->constant = s->constraints[k] == 'n';
        return o;
    }
    struct name w = word(s, 1);
    const struct name *name;
    if (is_word(&w, "_"))
        return o;
    if (w.n > 1 && *w.s == '%') {
        int special = 0;
        while (ptx_special_names[special])
            special++;
        special = find_word(ptx_special_names, special, w.s + 1, (size_t)w.n - 1);
        if (special >= 0) {
            o.kind = PTX_SPECIAL;
            o.value = (uint64_t)special;
            return o;
        }
    }
    name = find(s->names, s->name_count, &w);
    if (!w.n || !name)
        wrong(s, seen->at,
              w.n ? "%.*s is no register that the statement declares or the CPU "
                    "backend knows"
                  : "need an operand, not %.*s%s",
              w.n, w.s, w.n ? "" : here(s));
    o.reg = name->reg;
    o.value = ptx_type_bits[name->type];
    seen->type = name->type;
    return o;
}

static struct ptx_operand plain_operand(struct parser *s, struct seen *seen)
{
    *seen = (struct seen){s->p, PTX_NONE, NUMBER_INTEGER, 0};
    skip_blanks(s);
    if (*s->p == '-' || *s->p == '~' || *s->p == '(' || isdigit((unsigned char)*s->p)) {
        seen->at = s->p;
        seen->constant = 1;
        ptx_operand o = {.kind = PTX_IMMEDIATE, .reg = -1, .more = -1};
        o.value = expression(s, &seen->number, 0);
        return o;
    }
    int negated = accept(s, '!');
    ptx_operand o = register_operand(s, seen);
    o.negated = negated;
    return o;
}

/* [base], [base + 16], [base + %1], [16]. */
static struct ptx_operand address(struct parser *s, struct seen *seen)
{
    ptx_operand o = {.kind = PTX_ADDRESS, .reg = -1, .more = -1};
    struct seen part;
    *seen = (struct seen){s->p, PTX_NONE, NUMBER_INTEGER, 0};
    do {
        ptx_operand a = plain_operand(s, &part);
        if (a.kind == PTX_IMMEDIATE && part.number == NUMBER_INTEGER)
            o.value += a.value;
        else if (a.kind == PTX_REGISTER && part.constant && o.more < 0)
            o.more = a.reg;
        else if (a.kind == PTX_REGISTER && o.reg < 0 && a.reg >= 0)
            o.reg = a.reg, seen->type = part.type;
        else
            wrong(s, part.at, "an address is [register], [register + number] or [number]");
        skip_blanks(s);
    } while (accept(s, '+') || *s->p == '-');
    expect(s, ']');
    return o;
}

static struct ptx_operand operand(struct parser *s, struct seen *seen, struct seen *parts)
{
    const char *at = s->p;
    if (accept(s, '['))
        return address(s, seen);
    if (!accept(s, '{')) {
        ptx_operand o = plain_operand(s, seen);
        if (accept(s, '|')) {
            struct seen second;
            ptx_operand q = register_operand(s, &second);
            if (o.kind != PTX_REGISTER || q.kind != PTX_REGISTER ||
                (q.reg >= 0 && second.type != PTX_PRED))
                wrong(s, at, "need two predicates about |");
            o.more = q.reg;
        }
        return o;
    }
    ptx_operand v = {.kind = PTX_VECTOR, .reg = -1, .more = -1};
    *seen = (struct seen){at, PTX_NONE, NUMBER_INTEGER, 0};
    do {
        if (v.n == PARTS)
            wrong(s, s->p, "a vector of more than %d parts", PARTS);
        v.element = grow(s, v.element, v.n, sizeof *v.element);
        v.element[v.n] = plain_operand(s, &parts[v.n]);
        v.n++;
    } while (accept(s, ','));
    expect(s, '}');
    return v;
}

/* --- Modifiers -------------------------------------------------------------------------------- */

static int group_has(const char *group, size_t n, const char *s, size_t length)
{
    for (const char *p = group; p < group + n;) {
        size_t w = strcspn(p, "| ");
        if (w == length && memcmp(p, s, w) == 0)
            return 1;
        p += w + 1;
    }
    return 0;
}

/* How far the modifiers after the name fit a form: NULL if all do, else the first that does not. */
static const char *match(const struct ptx_form *form, const char *modifiers)
{
    const char *m = modifiers;
    for (const char *g = form->modifiers; *g;) {
        int optional = *g == '?';
        g += optional;
        size_t n = strcspn(g, " "), length = *m == '.' ? strcspn(m + 1, ".") : 0;
        if (length && group_has(g, n, m + 1, length))
            m += 1 + length;
        else if (!optional)
            return m;
        g += n;
        g += *g == ' ';
    }
    return *m ? m : NULL;
}

static void note_modifiers(ptx_insn *i, const char *m)
{
    for (int types = 0; *m == '.'; m += 1 + strcspn(m + 1, ".")) {
        size_t n = strcspn(m + 1, ".");
        int t = find_word(ptx_type_names + 1, PTX_TYPES - 1, m + 1, n) + 1;
        int flag = find_word(ptx_modifier_names, PTX_MODIFIERS, m + 1, n);
        if (t && types < PTX_TYPES_OF_ONE)
            i->type[types++] = (enum ptx_type)t;
        else if (flag >= 0)
            i->modifiers[flag / 64] |= 1ull << flag % 64;
    }
}

/* --- What a form wants of its operands -------------------------------------------------------- */

struct wanted {
    char text[20];
    int optional, written, wider, parts, packed, special, second;
    enum ptx_type type;
    int bits;
};

static struct wanted wanted_operand(const ptx_insn *i, const char *p, size_t n)
{
    struct wanted w = {.parts = 0};
    snprintf(w.text, sizeof w.text, "%.*s", (int)n, p);
    char *t = w.text;
    if (*t == '?')
        w.optional = 1, t++;
    if (*t == '=')
        w.written = 1, t++;
    if (isdigit((unsigned char)*t) && strchr(t, 'x') &&
        strncmp(t + strspn(t, "0123456789"), "x", 1) == 0)
        w.parts = (int)strtol(t, &t, 10), t++;
    else if (strncmp(t, "vx", 2) == 0)
        w.parts = -1, t += 2;
    else if (strncmp(t, "pack", 4) == 0)
        w.packed = 1, t += 4;
    else if (strncmp(t, "any", 3) == 0)
        w.packed = w.special = 1, t += 3;
    int wide = *t == 'w';
    t += wide;
    size_t length = strlen(t);
    if (length && t[length - 1] == '+')
        w.wider = 1, t[--length] = '\0';
    if (length && t[length - 1] == '|')
        w.second = 1, t[--length] = '\0';
    if (isdigit((unsigned char)*t))
        w.type = i->type[*t - '0'];
    else
        w.type = (enum ptx_type)(find_word(ptx_type_names + 1, PTX_TYPES - 1, t, length) + 1);
    w.bits = ptx_type_bits[w.type] << wide;
    memmove(w.text, t, length + 1);
    return w;
}

/* A number's bits as the type has them. */
static void fit_number(struct parser *s, const ptx_insn *i, int k, ptx_operand *o,
                       const struct seen *seen, const struct wanted *w)
{
    int real = ptx_type_kinds[w->type] == 'f';
    if (seen->number == NUMBER_INTEGER) {
        if (real && w->bits >= 32 && w->type != PTX_F16X2 && w->type != PTX_BF16X2)
            wrong(s, seen->at, "PTX instruction %s: operand %d is a number without a point",
                  i->text, k);
        if (w->bits < 64)
            o->value &= (1ull << w->bits) - 1;
        return;
    }
    if (w->bits < 32 || !(real || ptx_type_kinds[w->type] == 'b'))
        wrong(s, seen->at, "PTX instruction %s: operand %d is a number with a point", i->text, k);
    double d;
    float f;
    if (seen->number == NUMBER_DOUBLE && w->bits == 32) {
        memcpy(&d, &o->value, sizeof d);
        o->value = bits_of_float((float)d);
    } else if (seen->number == NUMBER_SINGLE && w->bits == 64) {
        uint32_t low = (uint32_t)o->value;
        memcpy(&f, &low, sizeof f);
        o->value = bits_of_double(f);
    }
}

static void check_register(struct parser *s, const ptx_insn *i, int k, const struct seen *seen,
                           const struct wanted *w, int bits)
{
    int have = ptx_type_bits[seen->type];
    if ((seen->type == PTX_PRED) != (w->type == PTX_PRED))
        wrong(s, seen->at, "PTX instruction %s: operand %d is %sa predicate", i->text, k,
              w->type == PTX_PRED ? "not " : "");
    if ((ptx_type_kinds[w->type] == 'f' && strchr("us", ptx_type_kinds[seen->type])) ||
        (ptx_type_kinds[seen->type] == 'f' && strchr("us", ptx_type_kinds[w->type])))
        wrong(s, seen->at, "PTX instruction %s: operand %d is a register of type .%s", i->text, k,
              ptx_type_names[seen->type]);
    if (have < bits || (have > bits && !w->wider))
        wrong(s, seen->at, "PTX instruction %s: operand %d has %d bits, need %d", i->text, k, have,
              bits);
}

static void check_plain(struct parser *s, const ptx_insn *i, int k, ptx_operand *o,
                        const struct seen *seen, const struct wanted *w)
{
    if (o->negated && (w->type != PTX_PRED || w->written))
        wrong(s, seen->at, "PTX instruction %s: operand %d cannot be negated", i->text, k);
    if (o->more >= 0 && !w->second)
        wrong(s, seen->at, "PTX instruction %s: operand %d cannot have a second predicate", i->text,
              k);
    if (o->kind == PTX_SPECIAL && !w->special)
        wrong(s, seen->at,
              "PTX instruction %s: operand %d is a special register: only mov reads it", i->text,
              k);
    if (w->written && (o->kind != PTX_REGISTER || seen->constant))
        wrong(s, seen->at, "PTX instruction %s: operand %d is written, and is no register", i->text,
              k);
    if (o->kind == PTX_REGISTER && o->reg < 0 && !w->written)
        wrong(s, seen->at, "PTX instruction %s: operand %d is _ and is read", i->text, k);
    if (o->kind == PTX_IMMEDIATE)
        fit_number(s, i, k, o, seen, w);
    else if (o->kind == PTX_REGISTER && o->reg >= 0 && !seen->constant)
        check_register(s, i, k, seen, w, w->bits);
}

static void check_vector(struct parser *s, const ptx_insn *i, int k, ptx_operand *o,
                         struct seen *parts, const struct wanted *w)
{
    struct wanted part = *w;
    int n = w->parts;
    if (w->packed) {
        part.bits = w->bits / o->n;
        part.type = PTX_B64; /* any kind of register that is as wide */
        part.special = 0;
        if (part.bits * o->n != w->bits)
            wrong(s, parts[0].at, "PTX instruction %s: operand %d has %d parts", i->text, k, o->n);
        n = o->n;
    }
    if (n != o->n)
        wrong(s, parts[0].at, "PTX instruction %s: operand %d has %d parts, need %d", i->text, k,
              o->n, n);
    for (int e = 0; e < n; e++)
        check_plain(s, i, k, &o->element[e], &parts[e], &part);
}

static void check_operand(struct parser *s, const ptx_insn *i, int k, ptx_operand *o,
                          struct seen *seen, struct seen *parts, struct wanted *w)
{
    if (strcmp(w->text, "addr") == 0) {
        int bits = ptx_type_bits[seen->type];
        if (o->kind != PTX_ADDRESS)
            wrong(s, seen->at, "PTX instruction %s: operand %d is no address: write [...]", i->text,
                  k);
        if (o->reg >= 0 && (bits < 32 || ptx_type_kinds[seen->type] == 'f'))
            wrong(s, seen->at, "PTX instruction %s: the address in operand %d has %d bits", i->text,
                  k, bits);
        return;
    }
    if (strcmp(w->text, "imm") == 0) {
        if (!seen->constant)
            wrong(s, seen->at, "PTX instruction %s: operand %d must be a constant", i->text, k);
        return;
    }
    if (w->parts < 0)
        w->parts = ptx_has(i, PTX_M_v8)   ? 8
                   : ptx_has(i, PTX_M_v4) ? 4
                   : ptx_has(i, PTX_M_v2) ? 2
                                          : 0;
    if (o->kind == PTX_ADDRESS ||
        (o->kind == PTX_VECTOR) != (w->parts > 0 || (w->packed && o->kind == PTX_VECTOR)))
        wrong(s, seen->at,
              w->parts ? "PTX instruction %s: operand %d must be a vector of %d"
                       : "PTX instruction %s: operand %d must be a register",
              i->text, k, w->parts);
    if (o->kind == PTX_VECTOR)
        check_vector(s, i, k, o, parts, w);
    else
        check_plain(s, i, k, o, seen, w);
}

/* --- Statements ------------------------------------------------------------------------------- */

/* The form of an instruction, by its name and modifiers. Where several forms have these modifiers,
 * they differ in the number of operands. */
static const struct ptx_form *find_form(struct parser *s, const char *at, const char *text,
                                        const struct ptx_form *after)
{
    size_t n = strcspn(text, ".");
    const char *furthest = NULL;
    const struct ptx_form *form = after ? after + 1 : ptx_forms;
    for (; form < ptx_forms + ptx_form_count; form++) {
        if (strlen(form->name) != n || memcmp(form->name, text, n) != 0)
            continue;
        const char *stop = match(form, text + n);
        if (!stop)
            return form;
        if (!furthest || stop > furthest)
            furthest = stop;
    }
    if (after)
        return NULL;
    if (furthest && *furthest)
        wrong(s, at,
              "PTX instruction %s is not executed by the CPU backend (it knows no .%.*s there); "
              "common/cpu/README.md lists those that are",
              text, (int)strcspn(furthest + 1, "."), furthest + 1);
    wrong(
        s, at,
        "PTX instruction %s is not executed by the CPU backend%s; common/cpu/README.md lists those "
        "that are",
        text, furthest ? " (a modifier is missing)" : "");
}

/* The number of operands that a form takes, least and most. */
static void operand_counts(const char *p, int *least, int *most)
{
    *least = *most = 0;
    for (int optional = 0; *p; p += strcspn(p, " "), p += *p == ' ') {
        optional |= *p == '?';
        *least += !optional;
        ++*most;
    }
}

static void jump(struct parser *s, ptx_insn *i)
{
    struct name label = word(s, 0);
    if (!label.n)
        wrong(s, s->p, "PTX instruction %s: need a label, not %s", i->text, here(s));
    if (s->jump_count == LABELS)
        wrong(s, s->p, "more than %d jumps", LABELS);
    label.reg = s->program->n;
    s->jumps[s->jump_count++] = label;
    expect(s, ';');
}

/* Whether predicates stand where a form wants them, and nowhere else. */
static int same_predicates(const ptx_insn *i, const struct ptx_form *form, const struct seen *seen)
{
    const char *p = form->operands;
    for (int k = 0; k < i->n; k++, p += strcspn(p, " "), p += *p == ' ') {
        struct wanted w = wanted_operand(i, p, strcspn(p, " "));
        if (seen[k].type != PTX_NONE && (seen[k].type == PTX_PRED) != (w.type == PTX_PRED))
            return 0;
    }
    return 1;
}

/* Of several forms with these modifiers, the one that takes so many operands, and predicates where
 * they are; or if none does, the first that takes so many. */
static const struct ptx_form *fitting(struct parser *s, const ptx_insn *i, const char *at,
                                      const struct seen *seen)
{
    const struct ptx_form *first = NULL;
    for (const struct ptx_form *form = i->form; form; form = find_form(s, at, i->text, form)) {
        int least, most;
        operand_counts(form->operands, &least, &most);
        if (i->n < least || i->n > most)
            continue;
        if (same_predicates(i, form, seen))
            return form;
        first = first ? first : form;
    }
    return first;
}

static void operands(struct parser *s, ptx_insn *i, const char *at)
{
    static __thread struct seen seen[PTX_OPERANDS], parts[PTX_OPERANDS][PARTS];
    while (!accept(s, ';')) {
        if (i->n)
            expect(s, ',');
        if (i->n == PTX_OPERANDS)
            wrong(s, at, "PTX instruction %s: more than %d operands", i->text, PTX_OPERANDS);
        i->operand[i->n] = operand(s, &seen[i->n], parts[i->n]);
        i->n++;
        skip_blanks(s);
        if (!*s->p)
            wrong(s, at, "PTX instruction %s: need `;` after it", i->text);
    }
    const struct ptx_form *form = fitting(s, i, at, seen);
    if (form) {
        i->form = form;
        const char *p = form->operands;
        for (int k = 0; k < i->n; k++, p += strcspn(p, " "), p += *p == ' ') {
            struct wanted w = wanted_operand(i, p, strcspn(p, " "));
            check_operand(s, i, k + 1, &i->operand[k], &seen[k], parts[k], &w);
        }
        return;
    }
    int least, most;
    operand_counts(i->form->operands, &least, &most);
    wrong(s, at, "PTX instruction %s: %d operands, need %d", i->text, i->n,
          i->n < least ? least : most);
}

static void instruction(struct parser *s)
{
    ptx_program *p = s->program;
    p->insn = grow(s, p->insn, p->n, sizeof *p->insn);
    ptx_insn *i = &p->insn[p->n];
    *i = (ptx_insn){.guard = -1, .target = -1};
    if (accept(s, '@')) {
        struct seen seen;
        ptx_operand g = plain_operand(s, &seen);
        if (g.kind != PTX_REGISTER || seen.type != PTX_PRED)
            wrong(s, seen.at, "after @ need a predicate");
        i->guard = g.reg;
        i->guard_not = g.negated;
        p->guarded = 1;
    }
    skip_blanks(s);
    const char *at = s->p;
    struct name w = word(s, 1);
    if (!w.n)
        wrong(s, at, "need an instruction, not %s", here(s));
    i->text = copy(s, w.s, (size_t)w.n);
    i->offset = (int)(at - s->text);
    i->form = find_form(s, at, i->text, NULL);
    note_modifiers(i, i->text + strlen(i->form->name));
    if (i->form->kind == PTX_JUMP) {
        p->guarded = 1;
        jump(s, i);
    } else {
        operands(s, i, at);
    }
    p->n++;
}

/* .reg .b32 a, b, r<8>; */
static void declaration(struct parser *s)
{
    skip_blanks(s);
    const char *at = s->p;
    s->p++;
    struct name what = word(s, 0);
    if (!is_word(&what, "reg"))
        wrong(s, at, "PTX directive .%.*s is not supported by the CPU backend; .reg is", what.n,
              what.s);
    expect(s, '.');
    struct name w = word(s, 0);
    int type = find_word(ptx_type_names + 1, PTX_TYPES - 1, w.s, (size_t)w.n) + 1;
    if (!type)
        wrong(s, w.s, "there is no type .%.*s for a register", w.n, w.s);
    do {
        struct name name = word(s, 0);
        if (!name.n)
            wrong(s, s->p, "need the name of a register, not %s", here(s));
        enum number kind;
        uint64_t count = 0;
        int many = accept(s, '<');
        if (many) {
            count = expression(s, &kind, 0);
            expect(s, '>');
        }
        for (uint64_t k = 0; k < (many ? count : 1); k++) {
            if (s->name_count == NAMES)
                wrong(s, name.s, "more than %d registers", NAMES);
            struct name each = name;
            if (many) {
                char *numbered = copy(s, name.s, (size_t)name.n + 20);
                each.n = snprintf(numbered, (size_t)name.n + 20, "%.*s%d", name.n, name.s, (int)k);
                each.s = numbered;
            }
            each.type = (enum ptx_type)type;
            each.reg = add_register(s, each.type);
            s->names[s->name_count++] = each;
        }
    } while (accept(s, ','));
    expect(s, ';');
}

/* NAME: before an instruction. */
static int label(struct parser *s)
{
    const char *at = s->p;
    struct name w = word(s, 0);
    if (!w.n || !accept(s, ':') || *s->p == ':') {
        s->p = at;
        return 0;
    }
    if (s->label_count == LABELS || find(s->labels, s->label_count, &w))
        wrong(s, at, "label %.*s is there twice", w.n, w.s);
    w.reg = s->program->n;
    s->labels[s->label_count++] = w;
    return 1;
}

static void statements(struct parser *s)
{
    for (;;) {
        skip_blanks(s);
        if (!*s->p) {
            if (s->depth)
                wrong(s, s->p, "need `}` at the end");
            return;
        }
        if (accept(s, '{')) {
            if (s->depth == DEPTH)
                wrong(s, s->p, "more than %d `{`", DEPTH);
            s->scope[s->depth++] = s->name_count;
        } else if (accept(s, '}')) {
            if (!s->depth)
                wrong(s, s->p - 1, "there is no `{` to this `}`");
            s->name_count = s->scope[--s->depth];
        } else if (accept(s, ';')) {
            continue;
        } else if (*s->p == '.') {
            declaration(s);
        } else if (*s->p == '@' || *s->p == '%' || !label(s)) {
            instruction(s);
        }
    }
}

static enum ptx_type type_of(char constraint)
{
    switch (constraint) {
    case 'h':
        return PTX_B16;
    case 'r':
        return PTX_B32;
    case 'f':
        return PTX_F32;
    case 'd':
        return PTX_F64;
    default:
        return PTX_B64;
    }
}

/* False where the text is wrong. The program then ends, or is not compiled: what it has is not
 * freed. */
static int parse(struct parser *s)
{
    if (setjmp(s->wrong))
        return 0;
    for (const char *c = s->constraints; c && *c; c++)
        add_register(s, type_of(*c));
    statements(s);
    for (int k = 0; k < s->jump_count; k++) {
        const struct name *target = find(s->labels, s->label_count, &s->jumps[k]);
        if (!target)
            wrong(s, s->jumps[k].s, "there is no label %.*s", s->jumps[k].n, s->jumps[k].s);
        s->program->insn[s->jumps[k].reg].target = target->reg;
    }
    return 1;
}

ptx_program *ptx_parse(const char *text, const char *constraints, struct ptx_error *error)
{
    struct parser *s = calloc(1, sizeof *s);
    ptx_program *program = calloc(1, sizeof *program);
    *error = (struct ptx_error){0, "out of memory"};
    if (s && program) {
        s->text = s->p = text;
        s->constraints = constraints;
        s->error = error;
        s->program = program;
        if (!parse(s))
            program = NULL;
        free(s->types);
    }
    free(s);
    return program;
}
