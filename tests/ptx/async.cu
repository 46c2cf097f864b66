// cp.async with its groups: what lies in shared memory after each wait, where the kernel reads only
// what it has waited for. The host makes the same copies at once.
#include "record.h"

enum { THREADS = 64, BYTES = 16 * THREADS, STAGES = 3, TILES = 8 };

#define COPY(text, bytes)                                                                          \
    asm volatile("cp.async." text " [%0], [%1], " #bytes ";" ::"r"(to), "l"(from) : "memory")

// Each form copies a slot of 16 bytes a thread; `size` bytes of it come from `from`, others are 0.
static __device__ void copy(int form, uint32_t to, const char *from, int size)
{
    if (form == 0)
        COPY("ca.shared.global", 4);
    else if (form == 1)
        COPY("ca.shared.global", 8);
    else if (form == 2)
        COPY("ca.shared::cta.global", 16);
    else if (form == 3)
        COPY("cg.shared.global", 16);
    else if (form == 4)
        COPY("cg.shared.global.L2::128B", 16);
    else if (form == 5)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(size)
                     : "memory");
    else if (form == 6)
        asm volatile("cp.async.ca.shared.global.L2::64B [%0], [%1], 8, %2;" ::"r"(to), "l"(from),
                     "r"(size)
                     : "memory");
    else if (form == 7)
        asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                     "r"(size)
                     : "memory");
    else if (form == 8)
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0;\n\t"
                     "@p cp.async.cg.shared.global [%0], [%1], 16; }" ::"r"(to),
                     "l"(from), "r"(size)
                     : "memory");
    else
        asm volatile("{ .reg .pred p; setp.eq.b32 p, %2, 0;\n\t"
                     "cp.async.cg.shared.global [%0], [%1], 16, p; }" ::"r"(to),
                     "l"(from), "r"(size)
                     : "memory");
}
static const struct {
    const char *name;
    int bytes;
} forms[] = {{"cp.async.ca 4", 4},
             {"cp.async.ca 8", 8},
             {"cp.async.ca 16", 16},
             {"cp.async.cg 16", 16},
             {"cp.async.cg.L2::128B 16", 16},
             {"cp.async.ca 4, size", 4},
             {"cp.async.ca 8, size", 8},
             {"cp.async.cg 16, size", 16},
             {"@p cp.async.cg 16", 16},
             {"cp.async.cg 16, ignore", 16}};
enum { FORMS = sizeof forms / sizeof *forms };

// Tiles of BYTES pass through STAGES stages; of each, what has come is written to out
// [TILES][BYTES]. way: 0 waits for a group at a time, 1 for all, 2 has no groups at all.
__global__ void stream(int form, int way, const char *in, const int *size, char *out)
{
    __shared__ alignas(16) char stage[STAGES][BYTES];
    const int t = threadIdx.x;
    for (int i = 0; i < STAGES; i++)
        for (int j = 0; j < 16; j++)
            stage[i][t * 16 + j] = 0;
    for (int tile = 0; tile < TILES + STAGES - 1; tile++) {
        if (tile < TILES)
            copy(form, (uint32_t)__cvta_generic_to_shared(&stage[tile % STAGES][t * 16]),
                 in + tile * BYTES + t * 16, size[tile * THREADS + t]);
        if (way != 2)
            asm volatile("cp.async.commit_group;" ::: "memory");
        int ready = tile - (STAGES - 1);
        if (ready < 0)
            continue;
        if (way == 0)
            asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
        else
            asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        for (int j = 0; j < 16; j++)
            out[ready * BYTES + t * 16 + j] = stage[ready % STAGES][(THREADS - 1 - t) * 16 + j];
        __syncthreads();
    }
}

int main()
{
    static char in[TILES * BYTES], out[TILES * BYTES], expected[TILES * BYTES];
    static int size[TILES * THREADS];
    struct sequence s = {11, 0};
    for (int i = 0; i < TILES * BYTES; i++)
        in[i] = (char)next_number(&s);
    for (int form = 0; form < FORMS; form++)
        for (int way = 0; way < 3; way++) {
            int bytes = forms[form].bytes;
            for (int i = 0; i < TILES * THREADS; i++)
                size[i] = next_between(&s, 0, form < 8 ? bytes : 1);
            void *din = on_device(in, sizeof in), *dsize = on_device(size, sizeof size);
            void *dout = on_device(NULL, sizeof out);
            stream<<<1, THREADS>>>(form, way, (char *)din, (int *)dsize, (char *)dout);
            to_host(out, dout, sizeof out);
            // What a stage keeps of earlier tiles shows where a copy is left out.
            static char stage[STAGES][BYTES];
            memset(stage, 0, sizeof stage);
            for (int i = 0; i < TILES * THREADS; i++) {
                int tile = i / THREADS, t = i % THREADS;
                char *to = &stage[tile % STAGES][t * 16];
                int n = form < 5 ? bytes : form < 8 ? size[i] : size[i] ? bytes : 0;
                if (form != 8 || n)
                    memset(to, 0, (size_t)bytes);
                memcpy(to, in + tile * BYTES + t * 16, (size_t)n);
                memcpy(expected + tile * BYTES + (THREADS - 1 - t) * 16, to, 16);
            }
            int wrong = 0;
            for (int i = 0; i < TILES * BYTES; i++)
                wrong += out[i] != expected[i];
            print_result(forms[form].name,
                         way == 0   ? "wait_group"
                         : way == 1 ? "wait_all"
                                    : "no group",
                         hashed(0, out, sizeof out), wrong);
            cudaFree(din), cudaFree(dsize), cudaFree(dout);
        }
    return any_wrong;
}
