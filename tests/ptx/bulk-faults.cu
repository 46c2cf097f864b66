// What a kernel must not do with bulk copies and mbarriers, a kernel each: `bulk-faults N` runs
// one, and its report is a line; tests/async.t knows what each has to say.
#include "bulk.h"

static __device__ void load(uint32_t tile, const void *from, int bytes, uint32_t barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
                 "%2, [%3];" ::"r"(tile),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

// The second of two barriers is told of twice as much as comes.
__global__ void missing_bytes(const char *in, const __grid_constant__ CUtensorMap)
{
    __shared__ alignas(16) char tile[512];
    __shared__ uint64_t full[2];
    if (threadIdx.x == 0) {
        barrier_init(shared_address(&full[0]), 1);
        barrier_init(shared_address(&full[1]), 1);
        barrier_expect(shared_address(&full[1]), 1024);
        load(shared_address(tile), in, 512, shared_address(&full[1]));
    }
    __syncthreads();
    barrier_wait(shared_address(&full[1]), 0);
}

// Threads wait for each other at two barriers and at __syncthreads.
__global__ void in_a_ring(const char *, const __grid_constant__ CUtensorMap)
{
    __shared__ uint64_t full, empty;
    if (threadIdx.x == 0) {
        barrier_init(shared_address(&full), 1);
        barrier_init(shared_address(&empty), 31);
        for (int i = 0; i < 29; i++)
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&empty)));
    }
    __syncthreads();
    if (threadIdx.x < 8)
        barrier_wait(shared_address(&full), 0);
    else if (threadIdx.x < 16)
        barrier_wait(shared_address(&empty), 0);
    else if (threadIdx.x < 24)
        __syncthreads();
}

__global__ void never_made(const char *, const __grid_constant__ CUtensorMap)
{
    __shared__ uint64_t full[4];
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(full) + 16));
}

__global__ void two_arrive(const char *, const __grid_constant__ CUtensorMap)
{
    __shared__ uint64_t full;
    if (threadIdx.x == 0)
        barrier_init(shared_address(&full), 31);
    __syncwarp();
    barrier_expect(shared_address(&full), 16);
}

__global__ void misaligned_tile(const char *, const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(128) char tile[4096];
    __shared__ uint64_t full;
    barrier_init(shared_address(&full), 1);
    load_box(2, shared_address(tile) + 64, &map, shared_address(&full), {{0, 0}});
}

__global__ void no_map(const char *in, const __grid_constant__ CUtensorMap)
{
    __shared__ alignas(128) char tile[4096];
    __shared__ uint64_t full;
    barrier_init(shared_address(&full), 1);
    load_box(2, shared_address(tile), (const CUtensorMap *)in, shared_address(&full), {{0, 0}});
}

__global__ void other_rank(const char *, const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(128) char tile[4096];
    store_box(3, shared_address(tile), &map, {{0, 0, 0}});
}

__global__ void odd_bytes(const char *in, const __grid_constant__ CUtensorMap)
{
    __shared__ alignas(128) char tile[4096];
    __shared__ uint64_t full;
    barrier_init(shared_address(&full), 1);
    load(shared_address(tile), in, 40, shared_address(&full));
}

__global__ void odd_address(const char *in, const __grid_constant__ CUtensorMap)
{
    __shared__ alignas(128) char tile[4096];
    __shared__ uint64_t full;
    barrier_init(shared_address(&full), 1);
    load(shared_address(tile), in + 4, 32, shared_address(&full));
}

__global__ void past_the_end(const char *in, const __grid_constant__ CUtensorMap)
{
    __shared__ alignas(128) char tile[4096];
    __shared__ uint64_t full;
    barrier_init(shared_address(&full), 1);
    load(shared_address(tile) + 4080, in, 64, shared_address(&full));
}

// A loop of C++ that asks, and does not wait.
__global__ void asks_in_vain(const char *, const __grid_constant__ CUtensorMap)
{
    extern __shared__ uint64_t barriers[];
    const uint32_t barrier = shared_address(barriers + 3);
    if (threadIdx.x == 0)
        barrier_init(barrier, 2);
    __syncthreads();
    for (int done = 0; !done;)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                     "selp.b32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(barrier)
                     : "memory");
}

__global__ void waits_in_vain(const char *, const __grid_constant__ CUtensorMap)
{
    extern __shared__ uint64_t barriers[];
    const uint32_t barrier = shared_address(barriers + 3);
    if (threadIdx.x == 0)
        barrier_init(barrier, 2);
    __syncthreads();
    for (int done = 0; !done;)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0, 1000;\n"
                     "selp.b32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(barrier)
                     : "memory");
}

// Right: what a thread does when its wait has taken too long is what another waits for.
__global__ void gives_up_waiting(const char *, const __grid_constant__ CUtensorMap)
{
    __shared__ uint64_t first, second;
    if (threadIdx.x == 0) {
        barrier_init(shared_address(&first), 1);
        barrier_init(shared_address(&second), 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int done;
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                     "selp.b32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(shared_address(&first))
                     : "memory");
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&second)));
        barrier_wait(shared_address(&first), 0);
    } else if (threadIdx.x == 1) {
        barrier_wait(shared_address(&second), 0);
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&first)));
    }
}

// The same barrier from two lines, and __syncthreads by threads that have executed inline PTX.
__global__ void from_two_lines(const char *, const __grid_constant__ CUtensorMap)
{
    __shared__ uint64_t shared;
    if (threadIdx.x == 0)
        barrier_init(shared_address(&shared), 1);
    __syncthreads();
    if (threadIdx.x < 8)
        barrier_wait(shared_address(&shared), 0);
    else if (threadIdx.x < 16)
        barrier_wait(shared_address(&shared), 0);
    barrier_wait(shared_address(&shared), 1);
    __syncthreads();
}

// A number is stored where a barrier is.
__global__ void stored_over(const char *, const __grid_constant__ CUtensorMap)
{
    extern __shared__ uint64_t barriers[];
    if (threadIdx.x == 0) {
        barrier_init(shared_address(barriers), 32);
        ((int *)barriers)[1] = 5;
    }
    __syncthreads();
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barriers)));
}

// How often it was filled, and not whether that is odd.
__global__ void no_parity(const char *, const __grid_constant__ CUtensorMap)
{
    __shared__ uint64_t full;
    if (threadIdx.x == 0)
        barrier_init(shared_address(&full), 1);
    __syncthreads();
    barrier_wait(shared_address(&full), 3);
}

__global__ void load_of_other_rank(const char *, const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(128) char tile[4096];
    __shared__ uint64_t full;
    barrier_init(shared_address(&full), 1);
    load_box(3, shared_address(tile), &map, shared_address(&full), {{0, 0, 0}});
}

typedef void kernel(const char *, const CUtensorMap);
static kernel *const kernels[] = {
    missing_bytes,    in_a_ring,      never_made,  two_arrive,   misaligned_tile,   no_map,
    other_rank,       odd_bytes,      odd_address, past_the_end, asks_in_vain,      waits_in_vain,
    gives_up_waiting, from_two_lines, stored_over, no_parity,    load_of_other_rank};

int main(int argc, char **argv)
{
    const int i = argc > 1 ? atoi(argv[1]) : -1;
    if (i < 0 || i >= (int)(sizeof kernels / sizeof *kernels))
        return 2;
    char *in = (char *)on_device(NULL, 64 << 10);
    CUtensorMap map;
    const cuuint64_t extent[] = {64, 64}, stride[] = {128};
    const cuuint32_t box[] = {64, 32}, step[] = {1, 1};
    if (encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, in, extent, stride, box, step,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
        return 3;
    kernels[i]<<<1, 32, 256>>>(in, map);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
