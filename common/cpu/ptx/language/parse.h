/* What the parts of the parser share: words.c, operands.c, forms.c, parse.c. */
#ifndef PTX_PARSE_H
#define PTX_PARSE_H

#include "ptx/language/ptx.h"

#include <setjmp.h>

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

enum number { NUMBER_INTEGER, NUMBER_SINGLE, NUMBER_DOUBLE };

/* What is known of an operand besides what is kept: its type, and what a number looked like. */
struct seen {
    const char *at;
    enum ptx_type type; /* of a register */
    enum number number;
    int constant; /* a number, or an operand with constraint n */
};

/* --- words.c ---------------------------------------------------------------------------------- */
/* Ends the parsing: what is wrong, and where in the text. */
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
/* A whole number's bits, of an expression too (level 0), or those of a number with a point. */
uint64_t parse_expression(struct parser *s, enum number *kind, int level);

/* --- operands.c ------------------------------------------------------------------------------- */
struct ptx_operand parse_plain_operand(struct parser *s, struct seen *seen);
struct ptx_operand parse_operand(struct parser *s, struct seen *seen, struct seen *parts);

/* --- forms.c ---------------------------------------------------------------------------------- */
/* The first form after `after` with the name and modifiers of text; without one, ends the parsing
 * if after is NULL. */
const struct ptx_form *parse_find_form(struct parser *s, const char *at, const char *text,
                                       const struct ptx_form *after);
void parse_note_modifiers(ptx_insn *i, const char *m);
/* The form that has the operands that were read, each of them as it must be. */
void parse_fit(struct parser *s, ptx_insn *i, const char *at, struct seen *seen,
               struct seen (*parts)[PARTS]);

#endif
