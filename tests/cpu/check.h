/* Checks for the CPU backend's tests: one line each, and an exit code that tells. */
#pragma once

#include <cstdio>

static int failures, checks;

/* Says nothing of checks that hold: a program of hundreds stays readable. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        checks++;                                                                                  \
        if (!(condition)) {                                                                        \
            failures++;                                                                            \
            printf("FAILED %s:%d: %s\n", __FILE__, __LINE__, #condition);                          \
        }                                                                                          \
    } while (0)

#define CHECK_ERROR(expression, wanted)                                                            \
    do {                                                                                           \
        cudaError_t got_ = (expression);                                                           \
        checks++;                                                                                  \
        if (got_ != (wanted)) {                                                                    \
            failures++;                                                                            \
            printf("FAILED %s:%d: %s is %s, not %s\n", __FILE__, __LINE__, #expression,            \
                   cudaGetErrorName(got_), #wanted);                                               \
        }                                                                                          \
    } while (0)

static int check_result()
{
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
