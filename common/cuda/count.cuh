/* count.cuh: what only the author of a kernel can count.
 *
 *     COUNT("K rotations", 1);
 *
 * adds 1 for each thread that comes there, and `make step-NN count` has one more row (or column of
 * the recorded rows), under this name. On the GPU, and in a CPU program that is not built to count,
 * the line is nothing at all: neither name nor amount is looked at.
 */
#pragma once

#ifdef CPU_TRACE
#define COUNT(name, amount) cpu_trace_named(name, amount)
#else
#define COUNT(name, amount) ((void)0)
#endif
