/* Declarations that the files of the rewriter share, from the bottom to the top: each file calls
 * only those above it here. An array is written only by the file under whose heading it stands. */
#pragma once

#include <stdio.h>

/* --- tokens.c --------------------------------------------------------------------------------- */

struct token {
    const char *s;
    int n;
    int line, file; /* the file is an index into `files` */
    int in_macro;   /* of a system header */
    int column;     /* in the user's line, from 1; 0: not known. edits.c writes it */
};

/* A header of the system, where a file of the user's includes it. */
struct header {
    const char *path;
    int n, line, file;
};

/* The text of a pragma. */
struct pragma {
    const char *from, *to;
};

/* A preprocessed text and its tokens. */
struct source {
    const char *text;
    const struct token *tokens;
    int count;
};

/* Of the source that was read last. `files` grows from source to source. */
extern struct token *tokens;
extern int token_count;
extern struct header *headers;
extern int header_count;
extern struct pragma *pragmas; /* those that only nvcc knows */
extern int pragma_count;
extern char **files;
extern int file_count;

struct source read_source(FILE *f);

/* realloc, which ends the program where there is no memory. */
void *allocate(void *old, size_t bytes);
char *formatted(const char *f, ...);

/* Grows an array by one element; lengths double at powers of two. */
#define APPEND(array, count, ...)                                                                  \
    do {                                                                                           \
        if (!((count) & ((count)-1)))                                                              \
            (array) = allocate((array), ((count) ? 2 * (size_t)(count) : 1) * sizeof *(array));    \
        (array)[count] = __VA_ARGS__;                                                              \
        (count)++;                                                                                 \
    } while (0)

/* Whether the n characters at s are one of the words; a blank parts two words. */
int is_one_of(const char *s, size_t n, const char *words);

/* All that follow take indices of tokens. An index that is out of range is none of anything. */
int is(int i, const char *word);
int is_any(int i, const char *words);
int is_three(int i, const char *mark); /* three of it in a row, as <<< */
int is_name(int i);
int is_member(int i); /* . or -> stands before it */
int same_name(int i, int k);

/* The bracket that closes (step 1) or opens (step -1) the one at i; -1: there is none. */
int match(int i, int step);
/* The same for < and >. *commas, where it is not NULL, becomes the number of commas between. */
int match_angle(int i, int step, int *commas);
/* The > that closes the < at i; i where nothing does. */
int skip_angle(int i);
/* The list of at most LIST elements in the bracket at `open`: where each begins and ends. Returns
 * how many there are. */
enum { LIST = 128 };
int split_list(int open, int first[LIST], int last[LIST]);
/* The first token of the statement or declaration that i is in. */
int statement_start(int i);
/* Where the call of a function of C begins: at its name, or at the :: or std:: before it. -1: it is
 * no call, or another function's. */
int call_of_c(int name);

char *text_of(int first, int last);
/* The end of the token at p, which is neither white space nor a comment. */
const char *token_end(const char *p);

/* --- edits.c ---------------------------------------------------------------------------------- */

/* Finds the column of each token in the user's file. */
void find_columns(void);

/* Tokens first..last become the text. An edit inside tokens that are replaced is dropped. */
void replace(int first, int last, const char *text);
void insert(int before, const char *text);
void insert_after(int i, const char *text);

/* Writes the source with all edits to standard output. */
void write_out(const char *text);

/* --- refusals.c ------------------------------------------------------------------------------- */

/* Ends the program with exit code 2 and a line: FILE:LINE: WHAT. */
void __attribute__((noreturn)) refuse(int file, int line, const char *what);
/* The same for a feature that the backend lacks. "mipmaps are" and token tex2DLod: "mipmaps
 * (tex2DLod) are not supported ..." */
void __attribute__((noreturn)) unsupported(int i, const char *what, const char *hint);
/* An error that nvcc reports as well, and a compiler of plain C++ does not: exit code 1 and a
 * line. */
void __attribute__((noreturn)) mistake(int i, const char *what);

/* `ours` is the folder of the backend's own headers, or NULL. */
void check_headers(const char *ours);
void check_limits(int i);
int is_cuda_name(const char *s);
/* A name of CUDA that the compiler did not find gets a line of ours. Returns the exit code. */
int explain_missing(const char *place, const char *header, const char *ours);
int explain_unknown(const char *place, const char *name);

/* --- kernels.c -------------------------------------------------------------------------------- */

/* A declaration of a kernel. */
struct kernel {
    int name, end;           /* tokens: its name, and the last one of the declaration */
    int template_parameters; /* 0 when it is no template */
    int n, needed;           /* its parameters; arguments that it needs at least */
    int first[LIST];         /* of each parameter, the tokens where it begins, */
    int equals[LIST];        /* where its default begins, or where it ends, */
    int last[LIST];          /* and its last */
    int has_pointer;         /* launches.c has declared a pointer to it, and writes this */
};
extern struct kernel *kernels;

/* Notes the kernel whose __global__ is at i. */
void note_kernel(int i);
int is_kernel(int name);
int is_overloaded(int name); /* or may be, where std is in use */
/* The kernel that is launched by this name, with so many template arguments and arguments; NULL if
 * only the compiler can tell. *known becomes the number of kernels of that name. */
struct kernel *find_kernel(int name, int template_arguments, int given, int *known);
/* The first declaration of the same kernel: launches may stand before its body. */
struct kernel *declared_first(struct kernel *k);
/* Refuses statements that call a kernel as if it were a function. */
void check_calls(void);

/* --- launches.c ------------------------------------------------------------------------------- */

/* Notes the launch whose <<< is at i. It is rewritten when all kernels are known. */
void note_launch(int i);
/* as_calls: each becomes a call of its kernel. */
void rewrite_launches(int as_calls);
/* cudaLaunchKernel, cudaLaunchKernelEx and what is like them, at i. */
void api_launch(int i);
/* A cast of a kernel to a pointer, whose first bracket is at i, if it is one. */
void kernel_pointer(int i);

/* --- shared.c --------------------------------------------------------------------------------- */

/* Rewrites the declaration whose __shared__ is at `at`, in the function of the device whose body
 * opens at `body`; -1: in none. Returns its last token. */
int shared_variables(int at, int body, int as_calls);
/* A function of the device begins at `from` and has its body at `open`: adds references to the
 * shared variables at file scope that it names. */
void place_shared(int from, int open);

/* --- asm.c ------------------------------------------------------------------------------------ */

/* Rewrites the asm statement at i, in a kernel that is no template and has its body at `kernel`;
 * -1: in another function of the device. Returns its last token. */
int inline_ptx(int i, int kernel);

/* --- instruments.c ---------------------------------------------------------------------------- */

/* Makes the variables known whose __device__, __constant__ or __managed__ is at i. */
void know_variables(int i, int in_device);
/* Adds what the instruments need to know of the token at i. hosts_copies: they look at those too.
 */
void instrument(int i, int in_device, int hosts_copies);
/* A statement begins at i, in the function of the device whose body opens at `body`: if it declares
 * arrays, `check` gets to know them. */
void local_arrays(int i, int body);

/* --- sides.c ---------------------------------------------------------------------------------- */

/* Refuses a host function that calls a __device__ one, and a function of the device that calls one
 * of the host's. text: all that is compiled, system headers too. */
void check_sides(const char *text);

/* --- arch.c ----------------------------------------------------------------------------------- */

/* Writes the host's source to standard output, with the device's functions where __CUDA_ARCH__
 * makes them others. Where that cannot be, it ends the program with a line. */
void merge_sides(const struct source *host, const struct source *device);
