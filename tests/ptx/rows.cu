// cp.async.bulk: bytes in a row, from and to shared memory, and added to memory; and mbarriers:
// what arrivals, announced bytes and waits make of their phases.
#include "bulk.h"

enum { BYTES = 8 << 10, THREADS = 64 };

// from [BYTES] -> to [BYTES]: two loads for one phase, and a store of each half in a group of its
// own.
__global__ void through(const char *from, char *to, int first, int second)
{
    __shared__ alignas(128) char tile[BYTES];
    __shared__ alignas(8) uint64_t barrier;
    const uint32_t b = shared_address(&barrier), t = shared_address(tile);
    for (int i = threadIdx.x; i < BYTES; i += THREADS)
        tile[i] = (char)0xab;
    fence_async();
    if (threadIdx.x == 0)
        barrier_init(b, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        barrier_expect(b, first + second);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
                     "[%1], %2, [%3];" ::"r"(t),
                     "l"(from), "r"(first), "r"(b)
                     : "memory");
        asm volatile("{ .reg .b64 policy;\n"
                     "createpolicy.fractional.L2::evict_last.b64 policy, 1.0;\n"
                     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     ".L2::cache_hint [%0 + 4096], [%1], %2, [%3], policy; }" ::"r"(t),
                     "l"(from + 4096), "r"(second), "r"(b)
                     : "memory");
    }
    barrier_wait(b, 0);
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                     "r"(t), "r"(BYTES / 2)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile(
            "cp.async.bulk.global.shared::cta.bulk_group [%0 + 4096], [%1 + 4096], %2;" ::"l"(to),
            "r"(t), "r"(BYTES / 2)
            : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

#define ADD(type, text)                                                                            \
    if (which == type)                                                                             \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." text                        \
                 " [%0], [%1], %2;" ::"l"(to),                                                     \
                 "r"(t), "r"(BYTES)                                                                \
                 : "memory")

// from, to [BYTES]: to += from
__global__ void add(int which, const char *from, char *to)
{
    __shared__ alignas(128) char tile[BYTES];
    const uint32_t t = shared_address(tile);
    for (int i = threadIdx.x; i < BYTES; i += THREADS)
        tile[i] = from[i];
    fence_async();
    __syncthreads();
    if (threadIdx.x)
        return;
    ADD(0, "add.u32");
    ADD(1, "add.s32");
    ADD(2, "add.u64");
    ADD(3, "add.f32");
    ADD(4, "add.f64");
    ADD(5, "add.noftz.f16");
    ADD(6, "add.noftz.bf16");
    bulk_commit_and_wait<0>();
}

static __device__ int test(uint32_t barrier, int parity)
{
    int done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.b32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    return done;
}

static __device__ int test_state(uint32_t barrier, uint64_t state)
{
    int done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2;\n"
                 "selp.b32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(barrier), "l"(state)
                 : "memory");
    return done;
}

// out [64]: what one thread sees of a barrier, step by step.
__global__ void phases(int *out)
{
    __shared__ alignas(8) uint64_t barrier;
    const uint32_t b = shared_address(&barrier);
    int n = 0;
    auto look = [&] {
        out[n++] = test(b, 0);
        out[n++] = test(b, 1);
    };
    uint64_t state, later;
    uint32_t pending;
    barrier_init(b, 3);
    look();
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(b) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
    out[n++] = (int)pending;
    out[n++] = test_state(b, state);
    look();
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], 2;" : "=l"(later) : "r"(b) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(later));
    out[n++] = (int)pending;
    out[n++] = test_state(b, state);
    out[n++] = test_state(b, later);
    look();
    // Bytes that are announced alone hold a phase open, and so does an arrival that is missing.
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(b) : "memory");
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], 3;" ::"r"(b) : "memory");
    look();
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(b) : "memory");
    look();
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(b) : "memory");
    barrier_init(b, 1);
    look();
    asm volatile("mbarrier.arrive.b64 _, [%0];" ::"l"(&barrier) : "memory");
    look();
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %0, [%1], 0;"
                 : "=l"(state)
                 : "r"(b)
                 : "memory");
    look();
    out[63] = n;
}

// out [2]: a phase whose bytes come before they are announced.
__global__ void early_bytes(const char *from, int *out)
{
    __shared__ alignas(128) int tile[64];
    __shared__ alignas(8) uint64_t barrier;
    const uint32_t b = shared_address(&barrier);
    barrier_init(b, 1);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
                 "256, [%2];" ::"r"(shared_address(tile)),
                 "l"(from), "r"(b)
                 : "memory");
    out[0] = test(b, 0);
    barrier_expect(b, 256);
    barrier_wait(b, 0);
    out[1] = tile[63];
}

int main()
{
    static char host[BYTES];
    static int seen[64];
    char *from = (char *)on_device(NULL, BYTES), *to = (char *)on_device(NULL, BYTES);
    int *out = (int *)on_device(NULL, sizeof seen);
    auto fill = [&](char *device, uint64_t id) {
        for (int i = 0; i < BYTES; i += 8) {
            const uint64_t v = mixed(id, i);
            memcpy(host + i, &v, 8);
        }
        need(cudaMemcpy(device, host, BYTES, cudaMemcpyHostToDevice), "copy");
    };
    const int sizes[][2] = {{16, 4096}, {4096, 16}, {1024, 2048}, {4096, 4096}, {48, 4080}};
    for (auto &s : sizes) {
        fill(from, 1);
        through<<<1, THREADS>>>(from, to, s[0], s[1]);
        to_host(host, to, BYTES);
        char name[40];
        snprintf(name, sizeof name, "%d and %d bytes", s[0], s[1]);
        print_result("cp.async.bulk", name, hashed(0, host, BYTES), 0);
    }
    static const char *const kinds[] = {"u32", "s32", "u64", "f32", "f64", "f16", "bf16"};
    for (int i = 0; i < 7; i++) {
        fill(from, 3);
        fill(to, 4);
        add<<<1, THREADS>>>(i, from, to);
        to_host(host, to, BYTES);
        print_result("cp.reduce.async.bulk.add", kinds[i], hashed(0, host, BYTES), 0);
    }
    phases<<<1, 1>>>(out);
    to_host(seen, out, sizeof seen);
    printf("mbarrier\ttests\t");
    for (int i = 0; i < seen[63]; i++)
        printf("%d", seen[i]);
    printf("\n");
    fill(from, 5);
    early_bytes<<<1, 1>>>(from, out);
    to_host(seen, out, sizeof seen);
    printf("mbarrier\tbytes before they are announced\t%d %08x\n", seen[0], (unsigned)seen[1]);
    return any_wrong;
}
