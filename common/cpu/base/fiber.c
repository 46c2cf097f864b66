/* Fibers: stacks, and the switch between them. swapcontext costs a system call per switch. So
 * x86-64 and aarch64 have a few instructions of assembly; any other machine enters each fiber
 * once through makecontext and then jumps with _setjmp and _longjmp. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE, MADV_NOHUGEPAGE */
#define _DARWIN_C_SOURCE
#define _XOPEN_SOURCE 700 /* without it macOS has no ucontext.h */
#include "base/fiber.h"

#include <stdint.h>
#include <string.h>
#include <stdatomic.h>
#include <sys/mman.h>
#ifdef CPU_PORTABLE
#include <ucontext.h>
#ifdef __APPLE__ /* calls them deprecated */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
#endif

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

char *fiber_area(int count)
{
    void *p = mmap(NULL, (size_t)count * FIBER_STACK, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
#ifdef MADV_NOHUGEPAGE /* a page of 2 MiB for the first word of a stack would fill the memory */
    if (p != MAP_FAILED)
        madvise(p, (size_t)count * FIBER_STACK, MADV_NOHUGEPAGE);
#endif
    return p == MAP_FAILED ? NULL : p;
}

/* A guard takes two of the mappings that a process has, and Linux gives it 65530. Later stacks have
 * none. */
static int has_guard(void)
{
    enum { GUARDS = 24000 };
    static atomic_int guards;
    return atomic_fetch_add_explicit(&guards, 1, memory_order_relaxed) < GUARDS;
}

int fiber_is_guard(const char *area, int count, const void *address)
{
    size_t offset = (size_t)((uintptr_t)address - (uintptr_t)area);
    return offset < (size_t)count * FIBER_STACK && offset % FIBER_STACK < FIBER_GUARD;
}

#ifdef CPU_PORTABLE

void fiber_start(struct fiber *f, char *area, int i, void (*body)(void))
{
    char *low = area + (size_t)i * FIBER_STACK;
    if (!f->base && has_guard())
        mprotect(low, FIBER_GUARD, PROT_NONE);
    f->base = low + FIBER_GUARD;
    f->size = (size_t)(fiber_top(area, i) - (char *)f->base);
    f->body = body;
    f->started = 0;
}

void fiber_switch(struct fiber *from, struct fiber *to)
{
    if (_setjmp(from->place))
        return;
    from->started = 1;
    if (to->started)
        _longjmp(to->place, 1);
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = to->base;
    context.uc_stack.ss_size = to->size;
    context.uc_link = NULL;
    makecontext(&context, to->body, 0);
    setcontext(&context);
}

#else

/* Layout of the words that a switch leaves on a stack, and the word that holds the address where
 * the fiber continues. On x86-64 the word above it stays free: the ABI has a function entered
 * with the stack 8 bytes off a multiple of 16. */
#ifdef __x86_64__
enum { SAVED = 8, ENTRY = 6 };
#else
enum { SAVED = 20, ENTRY = 11 };
#endif

void fiber_start(struct fiber *f, char *area, int i, void (*body)(void))
{
    char *low = area + (size_t)i * FIBER_STACK;
    if (!f->stack && has_guard())
        mprotect(low, FIBER_GUARD, PROT_NONE);
    void **top = (void **)fiber_top(area, i) - SAVED;
    memset(top, 0, SAVED * sizeof *top);
    top[ENTRY] = (void *)(uintptr_t)body;
    f->stack = top;
}

/* Saves the registers that a call preserves, swaps stacks, restores. Threads mostly stop and
 * continue at the same place, so a return is predicted well, and a jump would not be. */
__asm__(".text\n"
        ".globl cpu_fiber_switch\n"
#ifdef __x86_64__
        "cpu_fiber_switch:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n"
        "    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq (%rsi), %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n"
        "    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
#else
        ".balign 4\n"
        "cpu_fiber_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    ldr x9, [x1]\n"
        "    mov sp, x9\n"
        "    ldp x19, x20, [sp]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
#endif
);

#endif
