/* setmaxnreg: registers of a block handed from one warpgroup to another. What all ask for may not
 * be more than the block has at entry, and the four warps of a warpgroup ask alike. The products
 * here are trivial: what counts is who has how many registers. */
#include "wgmma.cuh"

/* Without a number of blocks, the compiler knows of no number at entry and ignores the instruction
 * (C7508). */
template <bool fault>
__global__ void __launch_bounds__(2 * GROUP, fault ? 0 : 1) // fault here: no_blocks
    no_blocks(const int *x, int *y)
{
    if (threadIdx.x < GROUP)
        fewer_registers<40>(); // seen here: no_blocks
    else
        more_registers<256>(); // seen here: no_blocks
    y[threadIdx.x] = 2 * x[threadIdx.x];
}

RUN(no_blocks, 1, 2 * GROUP, numbers(2 * GROUP), each(2 * GROUP, [&](int i) { return 2 * in[i]; }));

/* 384 threads have 168 registers each: 24 + 240 + 240 are 3 * 168, and 40 + 240 + 240 are more. */
template <bool fault>
__global__ void __launch_bounds__(3 * GROUP, 1) too_many(const int *x, int *y)
{
    if (threadIdx.x < GROUP)
        fewer_registers<fault ? 40 : 24>(); // fault here: too_many
    else
        more_registers<240>(); // seen here: too_many
    y[threadIdx.x] = 2 * x[threadIdx.x];
}

RUN(too_many, 1, 3 * GROUP, numbers(3 * GROUP), each(3 * GROUP, [&](int i) { return 2 * in[i]; }));

/* Only one warp of the first four does the copies, but all four give their registers away. */
template <bool fault>
__global__ void __launch_bounds__(3 * GROUP, 1) one_warp(const int *x, int *y)
{
    if (threadIdx.x < (fault ? 32 : GROUP)) // fault here: one_warp
        fewer_registers<24>();              // seen here: one_warp
    else if (threadIdx.x >= GROUP)
        more_registers<184>();
    y[threadIdx.x] = 2 * x[threadIdx.x];
}

RUN(one_warp, 1, 3 * GROUP, numbers(3 * GROUP), each(3 * GROUP, [&](int i) { return 2 * in[i]; }));

/* Four warpgroups have 128 registers each at entry: 144 are no fewer. */
template <bool fault>
__global__ void __launch_bounds__(4 * GROUP, 1) other_way(const int *x, int *y)
{
    if (threadIdx.x < GROUP)
        fewer_registers<fault ? 144 : 32>(); // fault here: other_way
    else if (threadIdx.x < 2 * GROUP)
        more_registers<160>();
    y[threadIdx.x] = 2 * x[threadIdx.x];
}

RUN(other_way, 1, 4 * GROUP, numbers(4 * GROUP), each(4 * GROUP, [&](int i) { return 2 * in[i]; }));

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(no_blocks, "no number of registers is known at entry"),
        SUBTLE(too_many, "the warpgroups ask for 16 registers a thread more than there are"),
        SUBTLE(one_warp, "one warp of four gives its registers away"),
        SUBTLE(other_way, "a warpgroup that is to have fewer asks for more than it has"),
    };
    return suite("setmaxnreg", list, argc, argv);
}
