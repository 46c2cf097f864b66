/* The parser: declarations that words.c, operands.c, forms.c and parse.c share. */
#pragma once

#include "ptx/language/ptx.h"

#include <setjmp.h>

enum { NAMES = 300, DEPTH = 20, PARTS = 256, LABELS = 100 };

struct name {
    const char *s;
    int n, reg; /* reg: for a label, the number of its instruction, or -1 */
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
    enum ptx_type *types; /* of each register */
};

enum number { NUMBER_INTEGER, NUMBER_SINGLE, NUMBER_DOUBLE };

/* Facts about an operand that only the parser needs. */
struct seen {
    const char *at;
    enum ptx_type type; /* of its register */
    enum number number;
    int constant; /* a literal, or an operand with constraint n */
};

/* --- words.c ---------------------------------------------------------------------------------- */
/* Ends the parsing with a message and a place in the text. */
void parse_wrong(struct parser *s, const char *at, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
void *parse_grow(struct parser *s, void *array, int n, size_t size);
char *parse_copy(struct parser *s, const char *from, size_t n);
void parse_skip_blanks(struct parser *s);
int parse_accept(struct parser *s, char c);
void parse_expect(struct parser *s, char c);
const char *parse_here(struct parser *s);
int parse_is_word(const struct name *n, const char *s);
struct name parse_word(struct parser *s, int dots);
const struct name *parse_find(const struct name *names, int count, const struct name *w);
int parse_find_word(const char *const *words, int count, const char *s, size_t n);
/* The bits of an integer expression (level 0), or of a literal with a decimal point. */
uint64_t parse_expression(struct parser *s, enum number *kind, int level);

/* --- operands.c ------------------------------------------------------------------------------- */
struct ptx_operand parse_plain_operand(struct parser *s, struct seen *seen);
struct ptx_operand parse_operand(struct parser *s, struct seen *seen, struct seen *parts);

/* --- forms.c ---------------------------------------------------------------------------------- */
/* The first form after `after` with this name and these modifiers. If there is none and `after`
 * is NULL, parsing ends with a message. */
const struct ptx_form *parse_find_form(struct parser *s, const char *at, const char *text,
                                       const struct ptx_form *after);
void parse_note_modifiers(ptx_insn *i, const char *m);
/* Chooses the form for the operands that were read and checks each of them. */
void parse_fit(struct parser *s, ptx_insn *i, const char *at, struct seen *seen,
               struct seen (*parts)[PARTS]);
