/* Translates the text of an asm statement into a program, or into one line that says what is
 * wrong with it. */
#include "ptx/language/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add_register(struct parser *s, enum ptx_type type)
{
    s->types = parse_grow(s, s->types, s->program->registers, sizeof *s->types);
    s->types[s->program->registers] = type;
    return s->program->registers++;
}

static void jump(struct parser *s, ptx_insn *i)
{
    struct name label = parse_word(s, 0);
    if (!label.n)
        parse_wrong(s, s->p, "PTX instruction %s: need a label, not %s", i->text, parse_here(s));
    if (s->jump_count == LABELS)
        parse_wrong(s, s->p, "more than %d jumps", LABELS);
    label.reg = s->program->n;
    s->jumps[s->jump_count++] = label;
    parse_expect(s, ';');
}

static void operands(struct parser *s, ptx_insn *i, const char *at)
{
    static __thread struct seen seen[PTX_OPERANDS], parts[PTX_OPERANDS][PARTS];
    while (!parse_accept(s, ';')) {
        if (i->n)
            parse_expect(s, ',');
        if (i->n == PTX_OPERANDS)
            parse_wrong(s, at, "PTX instruction %s: more than %d operands", i->text, PTX_OPERANDS);
        i->operand[i->n] = parse_operand(s, &seen[i->n], parts[i->n]);
        i->n++;
        parse_skip_blanks(s);
        if (!*s->p)
            parse_wrong(s, at, "PTX instruction %s: need `;` after it", i->text);
    }
    parse_fit(s, i, at, seen, parts);
}

static void instruction(struct parser *s)
{
    ptx_program *p = s->program;
    p->insn = parse_grow(s, p->insn, p->n, sizeof *p->insn);
    ptx_insn *i = &p->insn[p->n];
    *i = (ptx_insn){.guard = -1, .target = -1};
    if (parse_accept(s, '@')) {
        struct seen seen;
        ptx_operand g = parse_plain_operand(s, &seen);
        if (g.kind != PTX_REGISTER || seen.type != PTX_PRED)
            parse_wrong(s, seen.at, "after @ need a predicate");
        i->guard = g.reg;
        i->guard_not = g.negated;
        p->guarded = 1;
    }
    parse_skip_blanks(s);
    const char *at = s->p;
    struct name w = parse_word(s, 1);
    if (!w.n)
        parse_wrong(s, at, "need an instruction, not %s", parse_here(s));
    i->text = parse_copy(s, w.s, (size_t)w.n);
    i->offset = (int)(at - s->text);
    i->form = parse_find_form(s, at, i->text, NULL);
    parse_note_modifiers(i, i->text + strlen(i->form->name));
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
    parse_skip_blanks(s);
    const char *at = s->p;
    s->p++;
    struct name what = parse_word(s, 0);
    if (!parse_is_word(&what, "reg"))
        parse_wrong(s, at, "PTX directive .%.*s is not supported by the CPU backend; .reg is",
                    what.n, what.s);
    parse_expect(s, '.');
    struct name w = parse_word(s, 0);
    int type = parse_find_word(ptx_type_names + 1, PTX_TYPES - 1, w.s, (size_t)w.n) + 1;
    if (!type)
        parse_wrong(s, w.s, "there is no type .%.*s for a register", w.n, w.s);
    do {
        struct name name = parse_word(s, 0);
        if (!name.n)
            parse_wrong(s, s->p, "need the name of a register, not %s", parse_here(s));
        enum number kind;
        uint64_t count = 0;
        int many = parse_accept(s, '<');
        if (many) {
            count = parse_expression(s, &kind, 0);
            parse_expect(s, '>');
        }
        for (uint64_t k = 0; k < (many ? count : 1); k++) {
            if (s->name_count == NAMES)
                parse_wrong(s, name.s, "more than %d registers", NAMES);
            struct name each = name;
            if (many) {
                char *numbered = parse_copy(s, name.s, (size_t)name.n + 20);
                each.n = snprintf(numbered, (size_t)name.n + 20, "%.*s%d", name.n, name.s, (int)k);
                each.s = numbered;
            }
            each.type = (enum ptx_type)type;
            each.reg = add_register(s, each.type);
            s->names[s->name_count++] = each;
        }
    } while (parse_accept(s, ','));
    parse_expect(s, ';');
}

/* NAME: in front of an instruction. */
static int label(struct parser *s)
{
    const char *at = s->p;
    struct name w = parse_word(s, 0);
    if (!w.n || !parse_accept(s, ':') || *s->p == ':') {
        s->p = at;
        return 0;
    }
    if (s->label_count == LABELS || parse_find(s->labels, s->label_count, &w))
        parse_wrong(s, at, "label %.*s is there twice", w.n, w.s);
    w.reg = s->program->n;
    s->labels[s->label_count++] = w;
    return 1;
}

static void statements(struct parser *s)
{
    for (;;) {
        parse_skip_blanks(s);
        if (!*s->p) {
            if (s->depth)
                parse_wrong(s, s->p, "need `}` at the end");
            return;
        }
        if (parse_accept(s, '{')) {
            if (s->depth == DEPTH)
                parse_wrong(s, s->p, "more than %d `{`", DEPTH);
            s->scope[s->depth++] = s->name_count;
        } else if (parse_accept(s, '}')) {
            if (!s->depth)
                parse_wrong(s, s->p - 1, "there is no `{` to this `}`");
            s->name_count = s->scope[--s->depth];
        } else if (parse_accept(s, ';')) {
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

/* Notes that the instruction uses this operand's variable after the statement; no other kind of
 * instruction may use it. */
static void hold(struct parser *s, const ptx_insn *i, const ptx_operand *o)
{
    ptx_program *p = s->program;
    const int operands = s->constraints ? (int)strlen(s->constraints) : 0;
    if (!p->held && !(p->held = calloc((size_t)operands + 1, 1)))
        parse_wrong(s, s->p, "out of memory");
    for (int e = 0; e < o->n; e++) {
        int reg = o->element[e].reg;
        if (reg >= 0 && reg < operands)
            p->held[reg] = o->element[e].held = 1;
        else if (o == &i->operand[0])
            parse_wrong(s, s->text + i->offset,
                        "PTX instruction %s writes when the statement is over: need an operand of "
                        "the statement for each part of operand 1",
                        i->text);
    }
}

static int holds(const ptx_insn *i)
{
    return i->form->kind == PTX_WARPGROUP;
}

static void note_held(struct parser *s)
{
    ptx_program *p = s->program;
    for (int k = 0; k < p->n; k++)
        for (int j = 0; j < 2 && holds(&p->insn[k]); j++)
            if (p->insn[k].operand[j].kind == PTX_VECTOR)
                hold(s, &p->insn[k], &p->insn[k].operand[j]);
    for (int k = 0; p->held && k < p->n; k++)
        for (int j = 0; j < p->insn[k].n && !holds(&p->insn[k]); j++) {
            const ptx_operand *o = &p->insn[k].operand[j];
            for (int e = 0; e < (o->kind == PTX_VECTOR ? o->n : 1); e++) {
                const ptx_operand *part = o->kind == PTX_VECTOR ? &o->element[e] : o;
                if ((part->kind == PTX_REGISTER || part->kind == PTX_ADDRESS) && part->reg >= 0 &&
                    s->constraints && part->reg < (int)strlen(s->constraints) && p->held[part->reg])
                    parse_wrong(s, s->text + p->insn[k].offset,
                                "PTX instruction %s uses %%%d, which a wgmma of the statement "
                                "holds: write two statements",
                                p->insn[k].text, part->reg);
            }
        }
}

/* False: the text is wrong. The program then ends or is not compiled, so nothing is freed. */
static int parse(struct parser *s)
{
    if (setjmp(s->wrong))
        return 0;
    for (const char *c = s->constraints; c && *c; c++)
        add_register(s, type_of(*c));
    statements(s);
    for (int k = 0; k < s->jump_count; k++) {
        const struct name *target = parse_find(s->labels, s->label_count, &s->jumps[k]);
        if (!target)
            parse_wrong(s, s->jumps[k].s, "there is no label %.*s", s->jumps[k].n, s->jumps[k].s);
        s->program->insn[s->jumps[k].reg].target = target->reg;
    }
    note_held(s);
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
