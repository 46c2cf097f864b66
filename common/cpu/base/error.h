/* Errors: the line on stderr, and the errors that the runtime API remembers. Every file calls
 * this one, and it calls none. */
#pragma once

#include "cuda_runtime_api.h"

/* Prints one line on stderr, after the program's own output. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints such a line; then the program ends with this exit code. */
void give_up(int code, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
/* Returns p; if p is NULL, the program ends with "no memory for WHAT". */
void *need_memory(void *p, const char *what) __attribute__((returns_nonnull));

/* An API function returns result(error); the next cudaGetLastError of this OS thread returns the
 * same error. While there is a sticky error, every error and every success becomes that one. */
cudaError_t result(cudaError_t error);
/* The same of a call that was to do work: a launch, a copy, a memset. */
cudaError_t work_result(cudaError_t error);
/* Unless it is NULL, result() and work_result() call it with each error that is not the sticky one.
 * work: it comes from work_result(). */
extern void (*call_failed)(cudaError_t error, int work);
/* The error of a kernel that failed and ended all work, or cudaSuccess. */
cudaError_t sticky_error(void);
void set_sticky_error(cudaError_t error);
cudaError_t swap_last_error(cudaError_t error); /* of this OS thread; returns the one before */
void forget_errors(void); /* the sticky error, and the last one of this OS thread */
