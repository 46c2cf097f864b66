/* Symbols of addresses in the program: the user's file and line for code, names for variables. */
#pragma once

#include <stddef.h>
#include <stdint.h>

extern char __executable_start[], end[]; /* the linker's: the program's extent in memory */
static inline size_t program_size(void)
{
    return (uintptr_t)end - (uintptr_t)__executable_start;
}

/* A code address as a number that is the same in every run. A return address belongs to the next
 * instruction, perhaps of another line: hence the 1. */
static inline uint32_t code_of(const void *return_address)
{
    return (uint32_t)((uintptr_t)return_address - (uintptr_t)__executable_start - 1);
}

extern char data_start[]; /* the C library's: the start of the writable variables */
static inline int is_variable(uintptr_t p)
{
    return p - (uintptr_t)data_start < (uintptr_t)end - (uintptr_t)data_start;
}
struct symbol {
    uintptr_t p;
    size_t bytes;
    char *name; /* "a variable" if it is in a class or namespace */
};
/* The variable that contains p, or NULL if there is none or it is local to a function. One run
 * of nm (binutils) finds all variables. */
const struct symbol *symbols_variable(uintptr_t p);

/* The name of the kernel with that address, where a launch calls it `text`: that text, if its last
 * word is the kernel's name, and else the name that nm has: of a pointer `p`, or of
 * cudaLaunchKernel, the text says nothing. */
const char *symbols_kernel(const char *text, const void *function);

struct place {
    char *file; /* "?" if unknown */
    int line;
    char *caller; /* for inline PTX in an inlined function: the file of its call, or NULL */
    int caller_line;
    char *own; /* where a reader looks, if it is neither of these, and else NULL: of inlined calls
                  the innermost outside common/, or of an exercise (work/) */
    int own_line;
};

/* Notes that this code is a statement of inline PTX. Such a statement is mostly the only one of
 * a wrapper function, and its place alone would say little. Codes from 16 MiB on are not noted. */
void symbols_statement(uint32_t code);
/* Finds places[i] of codes[i]: among inlined calls, the innermost that is not in a header of
 * this backend. One run of addr2line (binutils, which g++ needs too) finds all places. */
void symbols_find(const uint32_t *codes, int n, struct place *places);
/* Writes "FILE:LINE" of the loop that n codes lie in, or "?:0": the least line of the innermost
 * function, inlined or not, in which all of them lie or from which all are called. */
void symbols_loop(const uint32_t *codes, int n, char *text, size_t size);
void symbols_free(struct place *places, int n); /* frees their strings */
/* Writes the calls that a place has, as "called at FILE:LINE, from FILE:LINE", the second where a
 * reader looks; or nothing. Returns how long that is, as snprintf does. */
int symbols_calls(char *text, size_t size, const struct place *place);
/* Whether they are one line, called at one line. `own` may differ. */
int symbols_same(const struct place *a, const struct place *b);
