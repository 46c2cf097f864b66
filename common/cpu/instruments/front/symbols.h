/* Addresses in the program: of code as the user's file and line, of variables as their names. */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

extern char __executable_start[], end[]; /* the linker's: where the program lies in memory */
static inline size_t program_size(void)
{
    return (uintptr_t)end - (uintptr_t)__executable_start;
}

/* A code address as a number that is the same in every run. The call that told us of it returns to
 * the next instruction, which may belong to another line: hence the 1. */
static inline uint32_t code_of(const void *return_address)
{
    return (uint32_t)((uintptr_t)return_address - (uintptr_t)__executable_start - 1);
}

extern char data_start[]; /* the C library's: from here on variables lie that may change */
static inline int is_variable(uintptr_t p)
{
    return p - (uintptr_t)data_start < (uintptr_t)end - (uintptr_t)data_start;
}
struct symbol {
    uintptr_t p;
    size_t bytes;
    char *name; /* "a variable" where it stands in a class or namespace */
};
/* The variable that holds p, or NULL if there is none or it is a function's own. One run of nm
 * (binutils) answers all. */
const struct symbol *symbols_variable(uintptr_t p);

struct place {
    char *file; /* "?" when nothing is known */
    int line;
    char *caller; /* of a statement of inline PTX in an inlined function: who calls it, or NULL */
    int caller_line;
};

/* This is the code of a statement of inline PTX. Such statements are mostly wrapped in a function
 * each, and its place alone would say little. Codes from 16 MiB on are not noted. */
void symbols_statement(uint32_t code);
/* places[i] of codes[i]: of inlined calls the innermost that is not in a header of this backend.
 * One run of addr2line (binutils, as g++ needs) answers all. */
void symbols_find(const uint32_t *codes, int n, struct place *places);
void symbols_free(struct place *places, int n); /* what they point to */
int symbols_same(const struct place *a, const struct place *b);

#endif
