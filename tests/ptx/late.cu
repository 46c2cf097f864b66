// A kernel that reads copies which it has not waited for: what it finds says when each took effect.
// A letter a copy: c was copied, p holds bytes of 0xff, o is what was there before it was issued.
#include "record.h"

enum { COPIES = 16 };

// Each group is one copy of four bytes. Found: after the issues, after each wait for one more, and
// at last in a block that follows.
__global__ void found(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t s[COPIES];
    for (int i = 0; i < COPIES; i++)
        s[i] = 1;
    for (int i = 0; i < COPIES; i++) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                         (uint32_t)__cvta_generic_to_shared(s + i)),
                     "l"(in + i)
                     : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int i = 0; i < COPIES; i++)
        out[i] = s[i];
    asm volatile("cp.async.wait_group 10;" ::: "memory");
    for (int i = 0; i < COPIES; i++)
        out[COPIES + i] = s[i];
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    for (int i = 0; i < COPIES; i++)
        out[2 * COPIES + i] = s[i];
}

// The source changes between the issue and the wait: which value comes?
__global__ void source_changes(uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t s;
    in[0] = 2;
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((uint32_t)__cvta_generic_to_shared(&s)),
        "l"(in)
        : "memory");
    in[0] = 3;
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[0] = s;
}

int main()
{
    uint32_t in[COPIES], out[3 * COPIES];
    for (int i = 0; i < COPIES; i++)
        in[i] = 2;
    void *di = on_device(in, sizeof in), *d = on_device(NULL, sizeof out);
    found<<<1, 1>>>((uint32_t *)di, (uint32_t *)d);
    to_host(out, d, sizeof out);
    for (int i = 0; i < 3 * COPIES; i++)
        printf("%c%s",
               out[i] == 2     ? 'c'
               : out[i] == ~0u ? 'p'
               : out[i] == 1   ? 'o'
                               : '?',
               i % COPIES == COPIES - 1 ? "\n" : "");
    source_changes<<<1, 1>>>((uint32_t *)di, (uint32_t *)d);
    to_host(out, d, 4);
    printf("source %s\n", out[0] == 2 ? "before" : out[0] == 3 ? "after" : "?");
    cudaFree(di), cudaFree(d);
    return 0;
}
