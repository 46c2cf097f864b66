/* The preprocessed source as the parts of the rewriter share it: rewrite.c reads and changes it,
 * rewrite_arch.c merges that of host and device. */
#ifndef REWRITE_H
#define REWRITE_H

struct token {
    const char *s;
    int n;
    int line, file; /* an index into the files; -1 in system headers */
};

struct source {
    const char *text;
    const struct token *tokens; /* of the user's files */
    int count;
};

/* Writes the host's source to standard output, with the device's functions where __CUDA_ARCH__
 * makes them others. Where that cannot be, it ends the program with a line. */
void merge_sides(const struct source *host, const struct source *device, char *const *files);

#endif
