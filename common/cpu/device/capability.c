/* The device's compute capability: 9.0, the one that the program is compiled for, or
 * CUDACPU_ARCH. */
#include "device/device.h"
#include <stdlib.h>
#include <string.h>

/* Each line holds from its capability, 7.0 at the least, up to that of the next line. A
 * multiprocessor's shared memory exceeds a block's by the bytes that each block takes for the
 * system. */
static const struct capability known[] = {
    {700, 96 << 10, 96 << 10, 2048, 32},     {750, 64 << 10, 64 << 10, 1024, 16},
    {800, 163 << 10, 164 << 10, 2048, 32},   {860, 99 << 10, 100 << 10, 1536, 16},
    {870, 163 << 10, 164 << 10, 1536, 16},   {890, 99 << 10, 100 << 10, 1536, 24},
    {900, SHARED_MOST, 228 << 10, 2048, 32}, {1200, 99 << 10, 100 << 10, 1536, 24},
};

static int compiled_for = 900; /* by default kernels may use all that 9.0 has */

/* Reads CUDACPU_ARCH: "75" is 750. Any other text ends the program with a line. */
static int asked_for(void)
{
    const char *text = getenv("CUDACPU_ARCH");
    if (!text || !*text)
        return 0;
    int arch =
        strspn(text, "0123456789") == strlen(text) && strlen(text) <= 3 ? atoi(text) * 10 : 0;
    if (arch < known[0].arch)
        give_up(2, "CUDACPU_ARCH=%s: need a compute capability from 70, as 75 or 90", text);
    return arch;
}

int cpu_compiled_for(int arch)
{
    return compiled_for = arch;
}

struct capability capability(void)
{
    static int asked = -1;
    if (asked < 0)
        asked = asked_for();
    int arch = asked ? asked : compiled_for;
    struct capability c = known[0];
    for (size_t i = 0; i < sizeof known / sizeof *known && known[i].arch <= arch; i++)
        c = known[i];
    c.arch = arch;
    return c;
}
