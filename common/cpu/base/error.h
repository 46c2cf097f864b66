/* What went wrong: the line that says so, and the errors that the runtime API remembers. Everything
 * calls it, and it calls nothing. */
#ifndef ERROR_H
#define ERROR_H

#include "cuda_runtime_api.h"

/* One line on stderr, after what the program has printed. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same; then the program ends with this exit code. */
void give_up(int code, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
/* p; where p is NULL the program ends with "no memory for WHAT". */
void *need_memory(void *p, const char *what) __attribute__((returns_nonnull));

/* An API function returns result(error), which the next cudaGetLastError of this OS thread tells.
 * While there is a sticky error, all errors and success become that. */
cudaError_t result(cudaError_t error);
/* Is told of each error that such a call has itself, unless it is NULL. */
extern void (*call_failed)(cudaError_t error);
/* The fault of a kernel, which ended all work, or cudaSuccess. */
cudaError_t sticky_error(void);
void set_sticky_error(cudaError_t error);
cudaError_t swap_last_error(cudaError_t error); /* of this OS thread; returns what it was */
void forget_errors(void);                       /* the sticky one and this OS thread's last */

#endif
