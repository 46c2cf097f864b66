/* unit.h: TAP lines for unit tests in C. A test program prints its plan last. */
#pragma once
#include "harness/run/run.h"
#include "problems/attention.h"
#include "problems/rope.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int unit_count;

__attribute__((format(printf, 2, 3))) static inline void ok(bool good, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%s %d - ", good ? "ok" : "not ok", ++unit_count);
    vprintf(format, args);
    printf("\n");
    va_end(args);
}

static inline int done(void)
{
    printf("1..%d\n", unit_count);
    return 0;
}

/* A run of attention with its inputs and reference, no device memory. */
static inline kf_run unit_attention(const kf_case *c, uint64_t seed)
{
    static const kf_program program = {.step = "00-unit"};
    kf_run run;
    kf_open(&run, &program, c, seed);
    kf_attention_setup(&run);
    return run;
}
