/* Reads the operands of an instruction. */
#include "ptx/language/parse.h"
#include "base/plural.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static struct ptx_operand register_operand(struct parser *s, struct seen *seen)
{
    ptx_operand o = {.kind = PTX_REGISTER, .reg = -1, .more = -1};
    parse_skip_blanks(s);
    seen->at = s->p;
    if (s->constraints && s->p[0] == '%' && isdigit((unsigned char)s->p[1])) {
        char *end;
        long k = strtol(s->p + 1, &end, 10);
        if (k >= (long)strlen(s->constraints))
            parse_wrong(s, s->p, "%%%ld: the statement has %zu operand%s", k,
                        strlen(s->constraints), plural((long long)strlen(s->constraints)));
        s->p = end;
        o.reg = (int)k;
        o.value = ptx_type_bits[s->types[k]];
        seen->type = s->types[k];
        seen->constant = s->constraints[k] == 'n';
        return o;
    }
    struct name w = parse_word(s, 1);
    const struct name *name;
    if (parse_is_word(&w, "_"))
        return o;
    if (w.n > 1 && *w.s == '%') {
        int special = 0;
        while (ptx_special_names[special])
            special++;
        special = parse_find_word(ptx_special_names, special, w.s + 1, (size_t)w.n - 1);
        if (special >= 0) {
            o.kind = PTX_SPECIAL;
            o.value = (uint64_t)special;
            return o;
        }
    }
    name = parse_find(s->names, s->name_count, &w);
    if (!w.n || !name)
        parse_wrong(s, seen->at,
                    w.n ? "%.*s is no register that the statement declares or the CPU "
                          "backend knows"
                        : "need an operand, not %.*s%s",
                    w.n, w.s, w.n ? "" : parse_here(s));
    o.reg = name->reg;
    o.value = ptx_type_bits[name->type];
    seen->type = name->type;
    return o;
}

struct ptx_operand parse_plain_operand(struct parser *s, struct seen *seen)
{
    *seen = (struct seen){s->p, PTX_NONE, NUMBER_INTEGER, 0};
    parse_skip_blanks(s);
    if (*s->p == '-' || *s->p == '~' || *s->p == '(' || isdigit((unsigned char)*s->p)) {
        seen->at = s->p;
        seen->constant = 1;
        ptx_operand o = {.kind = PTX_IMMEDIATE, .reg = -1, .more = -1};
        o.value = parse_expression(s, &seen->number, 0);
        return o;
    }
    int negated = parse_accept(s, '!');
    ptx_operand o = register_operand(s, seen);
    o.negated = negated;
    return o;
}

/* {a, b, ...}; the first brace is already read. */
static void list(struct parser *s, ptx_operand *v, struct seen *parts)
{
    do {
        if (v->n == PARTS)
            parse_wrong(s, s->p, "a vector of more than %d parts", PARTS);
        v->element = parse_grow(s, v->element, v->n, sizeof *v->element);
        v->element[v->n] = parse_plain_operand(s, &parts[v->n]);
        v->n++;
    } while (parse_accept(s, ','));
    parse_expect(s, '}');
}

/* [base], [base + 16], [base + %1], [16]; [map, {x, y}]. */
static struct ptx_operand address(struct parser *s, struct seen *seen, struct seen *parts)
{
    ptx_operand o = {.kind = PTX_ADDRESS, .reg = -1, .more = -1};
    struct seen part;
    *seen = (struct seen){s->p, PTX_NONE, NUMBER_INTEGER, 0};
    do {
        ptx_operand a = parse_plain_operand(s, &part);
        if (a.kind == PTX_IMMEDIATE && part.number == NUMBER_INTEGER)
            o.value += a.value;
        else if (a.kind == PTX_REGISTER && part.constant && o.more < 0)
            o.more = a.reg;
        else if (a.kind == PTX_REGISTER && o.reg < 0 && a.reg >= 0)
            o.reg = a.reg, seen->type = part.type;
        else
            parse_wrong(s, part.at, "an address is [register], [register + number] or [number]");
        parse_skip_blanks(s);
    } while (parse_accept(s, '+') || *s->p == '-');
    if (parse_accept(s, ',')) {
        parse_expect(s, '{');
        list(s, &o, parts);
    }
    parse_expect(s, ']');
    return o;
}

struct ptx_operand parse_operand(struct parser *s, struct seen *seen, struct seen *parts)
{
    const char *at = s->p;
    if (parse_accept(s, '['))
        return address(s, seen, parts);
    if (!parse_accept(s, '{')) {
        ptx_operand o = parse_plain_operand(s, seen);
        if (parse_accept(s, '|')) {
            struct seen second;
            ptx_operand q = register_operand(s, &second);
            if (o.kind != PTX_REGISTER || q.kind != PTX_REGISTER ||
                (q.reg >= 0 && second.type != PTX_PRED))
                parse_wrong(s, at, "need two predicates about |");
            o.more = q.reg;
        }
        return o;
    }
    ptx_operand v = {.kind = PTX_VECTOR, .reg = -1, .more = -1};
    *seen = (struct seen){at, PTX_NONE, NUMBER_INTEGER, 0};
    list(s, &v, parts);
    return v;
}
