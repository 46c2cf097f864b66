/* The source that is being rewritten, for those parts that look at all of it: rewrite.c and
 * sides.c. */
#ifndef REWRITE_TOKENS_H
#define REWRITE_TOKENS_H

#include "compiler/rewriter/rewrite.h"

/* The tokens of the user's files, by their numbers. What lies outside is none of anything. */
extern struct token *tokens;
extern int token_count;
int is(int i, const char *s);
int is_name(int i);
/* Names that nobody but CUDA gives. */
int is_cuda_name(const char *s);
int same_name(int i, int k);
/* The bracket that closes (step 1) or opens (step -1) the one at i; -1: there is none. */
int match(int i, int step);
char *text_of(int first, int last);
/* What nvcc refuses as well, and a compiler of plain C++ would not: ends the program with
 * a line. */
void __attribute__((noreturn)) mistake(int i, const char *what);
char *format(const char *f, ...);

/* Grows an array by one element; lengths double at powers of two. */
#define APPEND(array, count, ...)                                                                  \
    do {                                                                                           \
        if (!((count) & ((count)-1)))                                                              \
            (array) =                                                                              \
                rewrite_allocate((array), ((count) ? 2 * (size_t)(count) : 1) * sizeof *(array));  \
        (array)[count] = __VA_ARGS__;                                                              \
        (count)++;                                                                                 \
    } while (0)

/* Ends the program with a line where a host function calls a __device__ one, or a kernel one of the
 * host's. text: all that is compiled, system headers too. */
void rewrite_check_sides(const char *text);

#endif
