// As late.cu, of bulk copies: what a thread finds before it has waited says when each took effect.
// A letter a copy: c was copied, p holds bytes of 0xff, o is what was there before it was issued.
#include "bulk.h"

enum { COPIES = 8, WORDS = 4 };

static __device__ void load(uint32_t tile, const void *from, uint32_t barrier)
{
    barrier_expect(barrier, 16);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
                 "16, [%2];" ::"r"(tile),
                 "l"(from), "r"(barrier)
                 : "memory");
}

static __device__ void store(void *to, uint32_t tile)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;" ::"l"(to), "r"(tile)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Each load has a barrier of its own. Found: after the issues, after three waits, after all.
__global__ void loads(const uint32_t *in, uint32_t *out)
{
    __shared__ alignas(16) uint32_t tile[COPIES * WORDS];
    __shared__ uint64_t full[COPIES];
    for (int i = 0; i < COPIES * WORDS; i++)
        tile[i] = 1;
    for (int i = 0; i < COPIES; i++)
        barrier_init(shared_address(&full[i]), 1);
    fence_async();
    for (int i = 0; i < COPIES; i++)
        load(shared_address(tile + i * WORDS), in + i * WORDS, shared_address(&full[i]));
    for (int i = 0; i < COPIES; i++)
        out[i] = tile[i * WORDS];
    for (int i = 0; i < 3; i++)
        barrier_wait(shared_address(&full[i]), 0);
    for (int i = 0; i < COPIES; i++)
        out[COPIES + i] = tile[i * WORDS];
    for (int i = 3; i < COPIES; i++)
        barrier_wait(shared_address(&full[i]), 0);
    for (int i = 0; i < COPIES; i++)
        out[2 * COPIES + i] = tile[i * WORDS];
}

// Each store is a group. The array: after the issues, after the tiles of three are read, after
// these are written, after all. The tiles change on the way: behind the issues, and when all are
// read.
__global__ void stores(uint32_t *out, uint32_t *array)
{
    __shared__ alignas(16) uint32_t tile[COPIES * WORDS];
    for (int i = 0; i < COPIES * WORDS; i++)
        tile[i] = 2;
    fence_async();
    for (int i = 0; i < COPIES; i++)
        store(array + i * WORDS, shared_address(tile + i * WORDS));
    auto look = [&](int k) {
        for (int i = 0; i < COPIES; i++)
            out[k * COPIES + i] = array[i * WORDS];
    };
    look(0);
    for (int i = 0; i < COPIES * WORDS; i++)
        tile[i] = 3;
    asm volatile("cp.async.bulk.wait_group.read 5;" ::: "memory");
    look(1);
    asm volatile("cp.async.bulk.wait_group 5;" ::: "memory");
    look(2);
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    for (int i = 0; i < COPIES * WORDS; i++)
        tile[i] = 4;
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    look(3);
}

// The source changes between the issue and the wait: which value comes?
__global__ void source_changes(uint32_t *in, uint32_t *out)
{
    __shared__ alignas(16) uint32_t tile[WORDS];
    __shared__ uint64_t full;
    barrier_init(shared_address(&full), 1);
    in[0] = 2;
    asm volatile("fence.proxy.async;" ::: "memory");
    load(shared_address(tile), in, shared_address(&full));
    in[0] = 3;
    barrier_wait(shared_address(&full), 0);
    out[0] = tile[0];
}

static void print(const uint32_t *out, int rows, const char *letters)
{
    for (int i = 0; i < rows * COPIES; i++)
        printf("%c%s",
               out[i] == ~0u ? 'p'
               : out[i] < 5  ? letters[out[i]]
                             : '?',
               i % COPIES == COPIES - 1 ? "\n" : "");
}

int main()
{
    uint32_t in[COPIES * WORDS], out[4 * COPIES];
    for (uint32_t &v : in)
        v = 2;
    uint32_t *from = (uint32_t *)on_device(in, sizeof in);
    uint32_t *to = (uint32_t *)on_device(NULL, sizeof out);
    uint32_t *array = (uint32_t *)on_device(NULL, sizeof in);
    loads<<<1, 1>>>(from, to);
    to_host(out, to, sizeof out);
    print(out, 3, "?oc??");
    stores<<<1, 1>>>(to, array);
    to_host(out, to, sizeof out);
    print(out, 4, "o?234");
    source_changes<<<1, 1>>>(from, to);
    to_host(out, to, 4);
    printf("source %s\n", out[0] == 2 ? "before" : out[0] == 3 ? "after" : "?");
    cudaFree(from), cudaFree(to), cudaFree(array);
    return 0;
}
