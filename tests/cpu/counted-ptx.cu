/* counted-ptx: kernels in inline PTX whose counts follow from reading them, for tests/instrument.t.
 * Prints for each kernel the counters that are not 0. Each runs with one warp. */
#include "cpu/trace.h"
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

static __device__ __forceinline__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

// A load of 16 bytes a lane, its parts stored to shared memory 8 bytes each, read back by 4.
__global__ void vectors(const float *x, float *y)
{
    __shared__ float cell[128];
    float a, b, c, d, e;
    const int t = threadIdx.x;
    asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
                 : "l"(x + 4 * t));
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(shared_address(cell + 2 * t)), "f"(a + c),
                 "f"(b + d)
                 : "memory");
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(e) : "r"(shared_address(cell + t)) : "memory");
    asm volatile("st.global.f32 [%0], %1;" ::"l"(y + t), "f"(e) : "memory");
}

// Lanes take part by a predicate, by a branch, or all: a request each.
__global__ void some_lanes(const float *x, float *y)
{
    float a = 0, b = 0, c;
    const int t = threadIdx.x;
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, 8; @p ld.global.f32 %0, [%2]; }"
                 : "+f"(a)
                 : "r"(t), "l"(x + t));
    if (t >= 16)
        asm volatile("ld.global.f32 %0, [%1];" : "=f"(b) : "l"(x + t));
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(c) : "l"(x + t));
    y[t] = a + b + c;
}

// Lane i goes round i % 4 + 1 times: 4 loads, though lanes leave one after the other.
__global__ void trips(const float *x, float *y)
{
    float sum = 0, v;
    for (int i = 0; i <= (int)threadIdx.x % 4; i++) {
        asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(x + i * 32 + threadIdx.x));
        sum += v;
    }
    y[threadIdx.x] = sum;
}

// More loads than a lane has room to note.
__global__ void many(const float *x, float *y)
{
    float sum = 0, v;
    for (int i = 0; i < 100; i++) {
        asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(x + threadIdx.x));
        sum += v;
    }
    y[threadIdx.x] = sum;
}

// 4 numbers a lane from lanes 0 to 23, 16 bytes each: 12 sectors. Then 2 numbers a lane, 8 bytes at
// every 16th: 16 sectors. Shared memory has its own 32, which are a request of no other counter.
__global__ void vector_sums(float *y)
{
    __shared__ float cell[32];
    const int t = threadIdx.x;
    if (t < 24)
        asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(y + 4 * t), "f"(1.0f)
                     : "memory");
    asm volatile("red.global.add.v2.f32 [%0], {%1, %1};" ::"l"(y + 4 * t), "f"(1.0f) : "memory");
    asm volatile("red.shared.add.f32 [%0], %1;" ::"r"(shared_address(cell + t)), "f"(1.0f)
                 : "memory");
    atomicAdd(y + t / 16, 1.0f);
    if (t == 0)
        atomicCAS((unsigned long long *)y, 0ull, 1ull);
}

// 32 sums of one number each in 4 sectors, 32 at one place in one.
__global__ void atomics(float *y, unsigned *n)
{
    unsigned old;
    asm volatile("red.global.add.f32 [%0], 0f3F800000;" ::"l"(y + threadIdx.x) : "memory");
    asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(n) : "memory");
}

// Tiles of 16 rows of 64 halves, read as four operands of 16 x 16. `pitch` halves from row to row;
// swizzled, chunk c of 8 halves of row r lies where chunk c ^ r % 8 would.
template <int pitch, bool swizzled>
__device__ void operands(unsigned *y)
{
    __shared__ __align__(128) __half tile[16 * pitch];
    const int t = threadIdx.x, row = t % 16;
    unsigned all = 0;
    for (int k = 0; k < 4; k++) {
        unsigned r[4];
        const int chunk = 2 * k + t / 16, at = swizzled ? chunk ^ row % 8 : chunk;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(shared_address(tile + row * pitch + 8 * at)));
        all ^= r[0] ^ r[1] ^ r[2] ^ r[3];
    }
    y[t] = all;
}
// Rows 128 bytes apart are in the same banks: 4 requests, 4 matrices each, 8 passes a matrix.
__global__ void plain_rows(unsigned *y)
{
    operands<64, false>(y);
}
// One pass a matrix.
__global__ void swizzled_rows(unsigned *y)
{
    operands<64, true>(y);
}
__global__ void padded_rows(unsigned *y)
{
    operands<72, false>(y);
}
// Rows 64 bytes apart: every second one is in the same banks, which makes 4 passes.
__global__ void one_matrix(unsigned *y)
{
    __shared__ __align__(128) __half tile[8 * 32];
    unsigned r;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(r)
                 : "r"(shared_address(tile + threadIdx.x % 8 * 32)));
    y[threadIdx.x] = r;
}
__global__ void stored(void)
{
    __shared__ __align__(128) __half tile[16 * 64];
    const int t = threadIdx.x;
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(
                     shared_address(tile + t % 16 * 64 + t / 16 * 8)),
                 "r"(t)
                 : "memory");
}

// 32 copies of 16 bytes, of which lanes 20 to 31 only fill in zeros, and lane 19 half of it: a pass
// for each of 4 lines, and for the 3 that are read. Then 32 of 4 bytes to every second word: 2
// passes.
__global__ void copied(const float *x, float *y)
{
    __shared__ float4 wide[32];
    __shared__ float narrow[64];
    const int t = threadIdx.x;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(wide + t)),
                 "l"(x + 4 * t),
                 "r"(t < 19    ? 16
                     : t == 19 ? 8
                               : 0)
                 : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(narrow + 2 * t)),
                 "l"(x + t)
                 : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    y[t] = wide[t].x;
}

// Three groups, of which one holds nothing: what a wait leaves is 2 groups, then the last, then
// none.
__global__ void left_under_way(const float *x)
{
    __shared__ float to[64];
    const int t = threadIdx.x;
    for (int group = 0; group < 3; group++) {
        if (group != 1)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                             shared_address(to + 32 * (group / 2) + t)),
                         "l"(x + t)
                         : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    asm volatile("cp.async.wait_group 5;" ::: "memory");
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
}

// 3 products of 16 x 8 x 16 and one of 16 x 8 x 8: 3 * 4096 + 2048 flops. Exponentials: 5 a lane.
__global__ void products(float *y)
{
    float c[4] = {0, 0, 0, 0}, e;
    const unsigned one = 0x3c003c00;
    for (int k = 0; k < 3; k++)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                     "{%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(one));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4}, "
                 "{%4}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(one));
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(c[0]));
    y[threadIdx.x] = e + exp2f(c[1]) + expf(c[2]) + __expf(c[3]) + exp2f(e);
}

// One thread fetches 512 bytes and 128, stores 256 and adds 64. It waits three times: one group is
// left, then both are read, then both are written.
__global__ void bulk(const float *x, float *y)
{
    __shared__ alignas(16) float tile[160];
    __shared__ uint64_t full;
    const unsigned barrier = shared_address(&full), to = shared_address(tile);
    if (threadIdx.x)
        return;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 640;" ::"r"(barrier)
                 : "memory");
    for (int i = 0; i < 2; i++)
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
            "%2, [%3];" ::"r"(to + 512 * i),
            "l"(x), "r"(i ? 128 : 512), "r"(barrier)
            : "memory");
    asm volatile("{ .reg .pred p;\nWAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
                 "@!p bra WAIT; }" ::"r"(barrier)
                 : "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(y), "r"(to)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 64;" ::"l"(y + 64),
        "r"(to)
        : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 1;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

// Three groups, the second of which is empty; its four warps wait for the first, then for all.
__global__ void four_warps(float *y)
{
    __shared__ alignas(128) half tile[512];
    for (int i = threadIdx.x; i < 512; i += 128)
        tile[i] = __float2half(1.0f);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    float c[4] = {};
    const uint64_t at = shared_address(tile) >> 4 | 8ull << 16 | 16ull << 32;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int i = 0; i < 2; i++) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, "
                     "{%4, %4, %4, %4}, %5, 1, 1, 1, 0;"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(0x3c003c00), "l"(at));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (i == 0)
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 2;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    y[threadIdx.x] = c[0];
}

__global__ void hints(float *x, float *y)
{
    asm volatile("griddepcontrol.launch_dependents;");
    if (threadIdx.x < 8)
        cudaTriggerProgrammaticLaunchCompletion();
    __stcs(y + threadIdx.x, __ldcs(x + threadIdx.x));
    if (threadIdx.x == 0)
        __stcg(y, __ldcg(x) + __ldg(x));
}

int main()
{
    float *x, *y;
    cudaMalloc(&x, 4096);
    cudaMalloc(&y, 4096);
    cudaMemset(x, 0, 4096);
    cudaMemset(y, 0, 4096);
    cpu_instrument()->counts_reset();
    unsigned *words = (unsigned *)y;
    vectors<<<1, 32>>>(x, y);
    some_lanes<<<1, 32>>>(x, y);
    trips<<<1, 32>>>(x, y);
    many<<<1, 32>>>(x, y);
    atomics<<<1, 32>>>(y, words + 64);
    vector_sums<<<1, 32>>>(y);
    plain_rows<<<1, 32>>>(words);
    swizzled_rows<<<1, 32>>>(words);
    padded_rows<<<1, 32>>>(words);
    one_matrix<<<1, 32>>>(words);
    stored<<<1, 32>>>();
    copied<<<1, 32>>>(x, y);
    left_under_way<<<1, 32>>>(x);
    products<<<1, 32>>>(y);
    bulk<<<1, 32>>>(x, y);
    four_warps<<<1, 128>>>(y);
    hints<<<1, 32>>>(x, y);
    cudaDeviceSynchronize();
    const struct cpu_kernel_counts *list;
    int n = cpu_instrument()->counts(&list);
    for (int i = 0; i < n; i++) {
        printf("%s:", list[i].kernel);
        for (int k = CPU_BARRIERS; k < CPU_COUNTERS; k++)
            if (list[i].value[k] && k != CPU_GLOBAL_LD_BYTES && k != CPU_GLOBAL_ST_BYTES)
                printf(" %s=%d", cpu_instrument()->counter_names[k], (int)list[i].value[k]);
        printf("\n");
    }
    cpu_instrument()->counts_reset();
    cudaFree(x);
    cudaFree(y);
    return 0;
}
