/* The device's compute capability: 9.0, the one that the program is compiled for, or
 * CUDACPU_ARCH. */
#include "device/device.h"
#include <stdlib.h>
#include <string.h>

/* Each line holds from its capability, 7.0 at the least, up to that of the next line. A
 * multiprocessor's shared memory exceeds a block's by the bytes that each block takes for the
 * system. sms: multiprocessors of the largest device. */
static const struct {
    int arch, shared_a_block, shared_an_sm, threads_an_sm, blocks_an_sm, sms;
} known[] = {
    {700, 96 << 10, 96 << 10, 2048, 32, 80},      {750, 64 << 10, 64 << 10, 1024, 16, 72},
    {800, 163 << 10, 164 << 10, 2048, 32, 108},   {860, 99 << 10, 100 << 10, 1536, 16, 84},
    {870, 163 << 10, 164 << 10, 1536, 16, 16},    {890, 99 << 10, 100 << 10, 1536, 24, 142},
    {900, SHARED_MOST, 228 << 10, 2048, 32, 132}, {1200, 99 << 10, 100 << 10, 1536, 24, 188},
};

/* By default kernels may use all that 9.0 has, as those that nvcc compiles for sm_90a. */
static int compiled_for = 900, specific = 1;

/* Reads CUDACPU_ARCH: "75" is 750, "90a" is 900 and specific. Any other text ends the program with
 * a line. */
static int asked_for(void)
{
    const char *text = getenv("CUDACPU_ARCH");
    if (!text || !*text)
        return 0;
    const size_t digits = strspn(text, "0123456789");
    const int with_a = strcmp(text + digits, "a") == 0;
    const int arch = digits <= 3 && (with_a || !text[digits]) ? atoi(text) * 10 : 0;
    if (arch < known[0].arch || (with_a && arch < 900))
        give_up(2, "CUDACPU_ARCH=%s: need a compute capability from 70, as 75 or 90, or from 90a",
                text);
    specific = with_a;
    return arch;
}

int cpu_compiled_for(int arch, int is_specific)
{
    specific = is_specific;
    return compiled_for = arch;
}

struct capability capability(void)
{
    static int asked = -1;
    if (asked < 0)
        asked = asked_for();
    int arch = asked ? asked : compiled_for;
    size_t i = 0;
    while (i + 1 < sizeof known / sizeof *known && known[i + 1].arch <= arch)
        i++;
    return (struct capability){.arch = arch,
                               .specific = specific,
                               .shared_a_block = known[i].shared_a_block,
                               .static_a_block =
                                   specific ? known[i].shared_a_block : SHARED_DEFAULT,
                               .shared_an_sm = known[i].shared_an_sm,
                               .threads_an_sm = known[i].threads_an_sm,
                               .blocks_an_sm = known[i].blocks_an_sm,
                               .multiprocessors = known[i].sms};
}

int capability_blocks(uint64_t threads, size_t shared)
{
    const struct capability c = capability();
    int by_threads = c.threads_an_sm / (int)((threads + WARP - 1) / WARP * WARP);
    size_t taken = shared + (size_t)(c.shared_an_sm - c.shared_a_block);
    int by_shared = taken ? (int)((size_t)c.shared_an_sm / taken) : c.blocks_an_sm;
    int least = by_threads < by_shared ? by_threads : by_shared;
    return least < c.blocks_an_sm ? least : c.blocks_an_sm;
}
