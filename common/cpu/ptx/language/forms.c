/* Finds the line of instructions.h for an instruction, and checks its operands against it. */
#include "ptx/language/parse.h"
#include "base/plural.h"
#include "base/formats.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Compares modifiers with a form: NULL if all fit, else the first that does not. */
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

void parse_note_modifiers(ptx_insn *i, const char *m)
{
    for (int types = 0; *m == '.'; m += 1 + strcspn(m + 1, ".")) {
        size_t n = strcspn(m + 1, ".");
        int t = parse_find_word(ptx_type_names + 1, PTX_TYPES - 1, m + 1, n) + 1;
        int flag = parse_find_word(ptx_modifier_names, PTX_MODIFIERS, m + 1, n);
        if (t && types < PTX_TYPES_OF_ONE)
            i->type[types++] = (enum ptx_type)t;
        else if (flag >= 0)
            i->modifiers[flag / 64] |= 1ull << flag % 64;
    }
}

/* --- What a form wants of its operands -------------------------------------------------------- */

/* N of the shape m64nNk16. */
static int columns_of(const ptx_insn *i)
{
    const char *shape = strstr(i->text, ".m64n");
    return shape ? (int)strtol(shape + 5, NULL, 10) : 0;
}

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
    else if (strncmp(t, "mx", 2) == 0)
        w.parts = columns_of(i) / 2, t += 2;
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
        w.type = (enum ptx_type)(parse_find_word(ptx_type_names + 1, PTX_TYPES - 1, t, length) + 1);
    w.bits = ptx_type_bits[w.type] << wide;
    memmove(w.text, t, length + 1);
    return w;
}

/* Converts a literal to the bits of its type. */
static void fit_number(struct parser *s, const ptx_insn *i, int k, ptx_operand *o,
                       const struct seen *seen, const struct wanted *w)
{
    int real = ptx_type_kinds[w->type] == 'f';
    if (seen->number == NUMBER_INTEGER) {
        if (real && w->bits >= 32 && w->type != PTX_F16X2 && w->type != PTX_BF16X2)
            parse_wrong(s, seen->at, "PTX instruction %s: operand %d is a number without a point",
                        i->text, k);
        if (w->bits < 64)
            o->value &= (1ull << w->bits) - 1;
        return;
    }
    if (w->bits < 32 || !(real || ptx_type_kinds[w->type] == 'b'))
        parse_wrong(s, seen->at, "PTX instruction %s: operand %d is a number with a point", i->text,
                    k);
    double d;
    float f;
    if (seen->number == NUMBER_DOUBLE && w->bits == 32) {
        memcpy(&d, &o->value, sizeof d);
        o->value = ptx_float_bits((float)d);
    } else if (seen->number == NUMBER_SINGLE && w->bits == 64) {
        uint32_t low = (uint32_t)o->value;
        memcpy(&f, &low, sizeof f);
        o->value = ptx_double_bits(f);
    }
}

static void check_register(struct parser *s, const ptx_insn *i, int k, const struct seen *seen,
                           const struct wanted *w, int bits)
{
    int have = ptx_type_bits[seen->type];
    if ((seen->type == PTX_PRED) != (w->type == PTX_PRED))
        parse_wrong(s, seen->at, "PTX instruction %s: operand %d is %sa predicate", i->text, k,
                    w->type == PTX_PRED ? "not " : "");
    if ((ptx_type_kinds[w->type] == 'f' && strchr("us", ptx_type_kinds[seen->type])) ||
        (ptx_type_kinds[seen->type] == 'f' && strchr("us", ptx_type_kinds[w->type])))
        parse_wrong(s, seen->at, "PTX instruction %s: operand %d is a register of type .%s",
                    i->text, k, ptx_type_names[seen->type]);
    if (have < bits || (have > bits && !w->wider))
        parse_wrong(s, seen->at, "PTX instruction %s: operand %d has %d bits, need %d", i->text, k,
                    have, bits);
}

static void check_plain(struct parser *s, const ptx_insn *i, int k, ptx_operand *o,
                        const struct seen *seen, const struct wanted *w)
{
    if (o->negated && (w->type != PTX_PRED || w->written))
        parse_wrong(s, seen->at, "PTX instruction %s: operand %d cannot be negated", i->text, k);
    if (o->more >= 0 && !w->second)
        parse_wrong(s, seen->at, "PTX instruction %s: operand %d cannot have a second predicate",
                    i->text, k);
    if (o->kind == PTX_SPECIAL && !w->special)
        parse_wrong(s, seen->at,
                    "PTX instruction %s: operand %d is a special register: only mov reads it",
                    i->text, k);
    if (w->written && (o->kind != PTX_REGISTER || seen->constant))
        parse_wrong(s, seen->at, "PTX instruction %s: operand %d is written, and is no register",
                    i->text, k);
    if (o->kind == PTX_REGISTER && o->reg < 0 && !w->written)
        parse_wrong(s, seen->at, "PTX instruction %s: operand %d is _ and is read", i->text, k);
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
        part.type = PTX_B64; /* a register of the same width, of any kind */
        part.special = 0;
        if (part.bits * o->n != w->bits)
            parse_wrong(s, parts[0].at, "PTX instruction %s: operand %d has %d part%s", i->text, k,
                        o->n, plural(o->n));
        n = o->n;
    }
    if (n != o->n)
        parse_wrong(s, parts[0].at, "PTX instruction %s: operand %d has %d part%s, need %d",
                    i->text, k, o->n, plural(o->n), n);
    for (int e = 0; e < n; e++)
        check_plain(s, i, k, &o->element[e], &parts[e], &part);
}

static int dimensions(const ptx_insn *i)
{
    for (int n = 1; n < 5; n++)
        if (ptx_has(i, (enum ptx_modifier)(PTX_M_d1 + n - 1)))
            return n;
    return 5;
}

/* Checks the coordinates of an address in a tensor. */
static void check_coordinates(struct parser *s, const ptx_insn *i, int k, ptx_operand *o,
                              struct seen *seen, struct seen *parts, int n)
{
    struct wanted coordinate = {.type = PTX_B32, .bits = 32};
    if (o->n != n)
        parse_wrong(s, seen->at, "PTX instruction %s: operand %d has %d coordinate%s, need %d",
                    i->text, k, o->n, plural(o->n), n);
    for (int e = 0; e < n; e++)
        check_plain(s, i, k, &o->element[e], &parts[e], &coordinate);
}

static void check_operand(struct parser *s, const ptx_insn *i, int k, ptx_operand *o,
                          struct seen *seen, struct seen *parts, struct wanted *w)
{
    const int tensor = strcmp(w->text, "tensor") == 0;
    if (tensor || strcmp(w->text, "addr") == 0) {
        int bits = ptx_type_bits[seen->type];
        if (o->kind != PTX_ADDRESS)
            parse_wrong(s, seen->at, "PTX instruction %s: operand %d is no address: write [...]",
                        i->text, k);
        if (o->reg >= 0 && (bits < 32 || ptx_type_kinds[seen->type] == 'f'))
            parse_wrong(s, seen->at, "PTX instruction %s: the address in operand %d has %d bits",
                        i->text, k, bits);
        check_coordinates(s, i, k, o, seen, parts, tensor ? dimensions(i) : 0);
        return;
    }
    if (strcmp(w->text, "imm") == 0) {
        if (!seen->constant)
            parse_wrong(s, seen->at, "PTX instruction %s: operand %d must be a constant", i->text,
                        k);
        return;
    }
    if (w->parts < 0)
        w->parts = ptx_has(i, PTX_M_v8)   ? 8
                   : ptx_has(i, PTX_M_v4) ? 4
                   : ptx_has(i, PTX_M_v2) ? 2
                                          : 0;
    if (o->kind == PTX_ADDRESS ||
        (o->kind == PTX_VECTOR) != (w->parts > 0 || (w->packed && o->kind == PTX_VECTOR)))
        parse_wrong(s, seen->at,
                    w->parts ? "PTX instruction %s: operand %d must be a vector of %d"
                             : "PTX instruction %s: operand %d must be a register",
                    i->text, k, w->parts);
    if (o->kind == PTX_VECTOR)
        check_vector(s, i, k, o, parts, w);
    else
        check_plain(s, i, k, o, seen, w);
}

/* --- The form of an instruction --------------------------------------------------------------- */

/* True if the modifiers fit a form in any order. ptxas accepts most orders, but not of types. */
static int match_any_order(const struct ptx_form *form, const char *modifiers)
{
    uint64_t used = 0;
    int type_at = -1;
    for (const char *m = modifiers; *m;) {
        size_t length = strcspn(++m, ".");
        int type = parse_find_word(ptx_type_names + 1, PTX_TYPES - 1, m, length) >= 0, k = 0,
            at = -1;
        for (const char *g = form->modifiers; *g && at < 0; k++) {
            size_t n = strcspn(g, " ");
            if (!(used >> k & 1) && !(type && k < type_at) &&
                group_has(g + (*g == '?'), n - (*g == '?'), m, length))
                at = k;
            g += n;
            g += *g == ' ';
        }
        if (at < 0)
            return 0;
        used |= 1ull << at;
        type_at = type ? at : type_at;
        m += length;
    }
    int k = 0;
    for (const char *g = form->modifiers; *g; k++) {
        if (*g != '?' && !(used >> k & 1))
            return 0;
        g += strcspn(g, " ");
        g += *g == ' ';
    }
    return 1;
}

/* The next form after one, or the first, that has this name and these modifiers; NULL if there
 * is none. *furthest is the first modifier that fits no form. */
static const struct ptx_form *next_form(const char *text, const struct ptx_form *after,
                                        int any_order, const char **furthest)
{
    size_t n = strcspn(text, ".");
    const struct ptx_form *form = after ? after + 1 : ptx_forms;
    for (; form < ptx_forms + ptx_form_count; form++) {
        if (strlen(form->name) != n || memcmp(form->name, text, n) != 0)
            continue;
        const char *stop = match(form, text + n);
        if (any_order ? match_any_order(form, text + n) : !stop)
            return form;
        if (stop && (!*furthest || stop > *furthest))
            *furthest = stop;
    }
    return NULL;
}

/* The form of an instruction, by name and modifiers. Several forms with the same modifiers
 * differ in their operands: the next one after `after`, or NULL. */
const struct ptx_form *parse_find_form(struct parser *s, const char *at, const char *text,
                                       const struct ptx_form *after)
{
    const char *furthest = NULL;
    if (after)
        return next_form(text, after, match(after, text + strcspn(text, ".")) != NULL, &furthest);
    const struct ptx_form *form = next_form(text, NULL, 0, &furthest);
    if (!form)
        form = next_form(text, NULL, 1, &furthest);
    if (form)
        return form;
    if (furthest && *furthest)
        parse_wrong(
            s, at,
            "PTX instruction %s is not executed by the CPU backend (it knows no .%.*s there); "
            "common/cpu/ptx/README.md lists those that are",
            text, (int)strcspn(furthest + 1, "."), furthest + 1);
    parse_wrong(
        s, at,
        "PTX instruction %s is not executed by the CPU backend%s; common/cpu/ptx/README.md lists "
        "those that are",
        text, furthest ? " (a modifier is missing)" : "");
}

/* The least and the greatest number of operands of a form. */
static void operand_counts(const char *p, int *least, int *most)
{
    *least = *most = 0;
    for (int optional = 0; *p; p += strcspn(p, " "), p += *p == ' ') {
        optional |= *p == '?';
        *least += !optional;
        ++*most;
    }
}

/* True if predicates stand exactly where the form has them. */
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

/* Of the forms with these modifiers, one with this number of operands and these predicates; if
 * there is none, the first with this number of operands. */
static const struct ptx_form *fitting(struct parser *s, const ptx_insn *i, const char *at,
                                      const struct seen *seen)
{
    const struct ptx_form *first = NULL;
    for (const struct ptx_form *form = i->form; form;
         form = parse_find_form(s, at, i->text, form)) {
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

void parse_fit(struct parser *s, ptx_insn *i, const char *at, struct seen *seen,
               struct seen (*parts)[PARTS])
{
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
    parse_wrong(s, at, "PTX instruction %s: %d operand%s, need %d", i->text, i->n, plural(i->n),
                i->n < least ? least : most);
}
