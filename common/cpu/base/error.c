/* Errors: lines on stderr, the error that sticks, and each OS thread's last one. */
#define _GNU_SOURCE /* for the system's headers, as in device.h */
#define _DARWIN_C_SOURCE
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic cudaError_t sticky;
static __thread cudaError_t last;
void (*call_failed)(cudaError_t error, int work);

static void write_line(const char *format, va_list list)
{
    char line[2600];
    int n = vsnprintf(line, sizeof line - 1, format, list);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof line - 1 ? (size_t)n : sizeof line - 2;
    line[length++] = '\n';
    fflush(stdout); /* the kernel's own output comes first */
    if (write(2, line, length) < 0)
        return; /* no reader on the other end */
}

void complain(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    write_line(format, list);
    va_end(list);
}

void give_up(int code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    write_line(format, list);
    va_end(list);
    exit(code);
}

void *need_memory(void *p, const char *what)
{
    if (!p)
        give_up(1, "no memory for %s", what);
    return p;
}

cudaError_t sticky_error(void)
{
    return sticky;
}

void set_sticky_error(cudaError_t error)
{
    sticky = error;
}

void forget_errors(void)
{
    sticky = last = cudaSuccess;
}

static cudaError_t result_of(cudaError_t error, int work)
{
    if (sticky != cudaSuccess)
        error = sticky;
    else if (call_failed && error != cudaSuccess && error != cudaErrorNotReady)
        call_failed(error, work);
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last = error;
    return error;
}

cudaError_t result(cudaError_t error)
{
    return result_of(error, 0);
}

cudaError_t work_result(cudaError_t error)
{
    return result_of(error, 1);
}

cudaError_t swap_last_error(cudaError_t error)
{
    const cudaError_t was = last;
    last = error;
    return was;
}

cudaError_t cudaPeekAtLastError(void)
{
    return sticky != cudaSuccess ? sticky : last;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = cudaPeekAtLastError();
    last = cudaSuccess;
    return error;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
#define CPU_ENTRY(name, number, text) {name, #name, text},
    CPU_ERRORS(CPU_ENTRY)
#undef CPU_ENTRY
};

const char *cudaGetErrorName(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error)
            return errors[i].name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error)
            return errors[i].text;
    return "unrecognized error code";
}
