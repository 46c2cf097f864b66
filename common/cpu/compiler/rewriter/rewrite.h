/* The preprocessed source as the parts of the rewriter share it: rewrite.c reads and changes it,
 * sides.c finds calls of the wrong side, arch.c merges the source of host and
 * device, columns.c finds columns. */
#ifndef REWRITE_H
#define REWRITE_H

#include <stddef.h>

struct token {
    const char *s;
    int n;
    int line, file; /* an index into the files; -1 in system headers */
    int column;     /* in that file; 0 when it is not known */
};

struct source {
    const char *text;
    const struct token *tokens; /* of the user's files */
    int count;
};

/* Writes the host's source to standard output, with the device's functions where __CUDA_ARCH__
 * makes them others. Where that cannot be, it ends the program with a line. */
void merge_sides(const struct source *host, const struct source *device, char *const *files);

/* realloc, which ends the program where there is no memory. */
void *rewrite_allocate(void *old, size_t bytes);

/* The end of the token at p, which is neither white space nor a comment. */
const char *rewrite_token_end(const char *p);

/* In which column of its line, from 1, this token of the preprocessed text stands in the file; 0 if
 * that cannot be told, as of what comes from a macro. Asked of one token after the other. */
int rewrite_column(const char *file, int line, const char *token, int n);

#endif
