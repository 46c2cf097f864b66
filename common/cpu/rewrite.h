/* rewrite.h: what the rewriter's two files share. */
#ifndef CPU_REWRITE_H
#define CPU_REWRITE_H

#include <stddef.h>

/* realloc, which ends the program where there is no memory. */
void *rewrite_allocate(void *old, size_t bytes);

/* The end of the token at p, which is neither white space nor a comment. */
const char *rewrite_token_end(const char *p);

/* In which column of its line, from 1, this token of the preprocessed text stands in the file; 0 if
 * that cannot be told, as of what comes from a macro. Asked of one token after the other. */
int rewrite_column(const char *file, int line, const char *token, int n);

#endif
