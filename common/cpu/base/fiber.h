/* A fiber is a stack and the place where it stopped. A CUDA thread that waits keeps its fiber; a
 * thread that ends without ever waiting leaves its fiber to the next thread (scheduler.c). */
#pragma once

#include <setjmp.h>
#include <stddef.h>

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(CPU_PORTABLE)
#define CPU_PORTABLE 1
#endif

struct fiber {
#ifdef CPU_PORTABLE
    jmp_buf place;
    int started;
    void (*body)(void);
    void *base;
    size_t size;
#endif
    void *
        stack; /* the saved stack pointer (assembly path) or the first usable top (portable path) */
};

/* One area holds `count` stacks. Of the FIBER_STACK bytes of each the lowest FIBER_GUARD are
 * inaccessible; as they are pages of 64 KiB for some machines, and as compilers count on so many
 * (-fstack-clash-protection), no frame reaches over them. A CUDA thread has up to 512 KiB of local
 * memory. The size is no power of two, as the tops of all stacks would then share one set of the
 * CPU's address cache. */
enum { FIBER_GUARD = 64 * 1024, FIBER_STACK = 11 * 64 * 1024 };

/* Reserves address space; memory is used only as far as stacks grow. NULL if there is none. */
char *fiber_area(int count);

/* The top of fiber i's stack. Tops differ modulo a page: with equal ones, the most used words of
 * all stacks would share a few cache sets. */
static inline char *fiber_top(char *area, int i)
{
    return area + (size_t)(i + 1) * FIBER_STACK - (size_t)(i % 61) * 64;
}

/* The next switch to fiber i of the area enters body, which never returns. */
void fiber_start(struct fiber *f, char *area, int i, void (*body)(void));

/* True if the address lies below a stack of an area of `count` stacks. */
int fiber_is_guard(const char *area, int count, const void *address);

/* Saves the present place in *from and continues at *to. */
void fiber_switch(struct fiber *from, struct fiber *to) __asm__("cpu_fiber_switch");
