/* count.cuh: counts that only the author of a kernel can define.
 *
 *     COUNT("K rotations", 1);
 *
 * adds 1 for each thread that executes it. `make step-NN count` then has one more row (a column of
 * the recorded rows) of this name. On the GPU, and in a CPU program that is not built to count, the
 * macro expands to nothing: name and amount are not evaluated.
 */
#pragma once

#ifdef CPU_TRACE
#define COUNT(name, amount) cpu_trace_named(name, amount)
#else
#define COUNT(name, amount) ((void)0)
#endif
