/* Waits that nobody ends. The launch is stopped, on a GPU it would hang. */
#include "../async-faults/ptx.cuh"

/* Block 0 is to raise a flag for the others. */
template <bool fault>
__global__ void flag_never_raised(const int *x, int *y, int *flag)
{
    if (blockIdx.x == 0) {
        y[0] = x[0];
        __threadfence();
        if (!fault) // fault here: flag_never_raised
            atomicExch(flag, 1);
        return;
    }
    while (atomicAdd(flag, 0) == 0) // seen here: flag_never_raised
        ;
    __threadfence();
    y[blockIdx.x] = y[0] + x[blockIdx.x];
}

/* The last block is to wait for all the others, and waits for itself as well. */
template <bool fault>
__global__ void waits_for_itself(const int *x, int *y, int *flag)
{
    const int last = gridDim.x - 1;
    y[blockIdx.x] = x[blockIdx.x];
    __threadfence();
    if ((int)blockIdx.x < last) {
        atomicAdd(flag, 1);
        return;
    }
    while (atomicAdd(flag, 0) < last + (fault ? 1 : 0)) // fault here: waits_for_itself
        ;
    __threadfence();
    for (int b = 0; b < last; b++)
        y[b] += x[0];
    y[last] += x[0];
    y[0]--;
}

/* Blocks add in turn under a lock, and who finds that there is nothing to add keeps it. */
template <bool fault>
__global__ void lock_kept(const int *x, int *y, int *lock)
{
    while (atomicCAS(lock, 0, 1) != 0) // seen here: lock_kept
        ;
    __threadfence();
    const bool leaves = x[blockIdx.x] == 2;
    if (!leaves)
        y[blockIdx.x] = blockIdx.x > 0 ? x[blockIdx.x] + 1 : 1;
    else
        y[blockIdx.x] = 3;
    __threadfence();
    if (!leaves || !fault) // fault here: lock_kept
        atomicExch(lock, 0);
}

/* The warps of a block take turns by a volatile variable. */
template <bool fault>
__global__ void turn_too_far(const int *x, int *y, int *)
{
    __shared__ volatile int turn;
    if (threadIdx.x == 0)
        turn = 0;
    __syncthreads();
    if (threadIdx.x % 32 != 0)
        return;
    const int warp = threadIdx.x / 32;
    while (turn != warp) // seen here: turn_too_far
        ;
    __threadfence_block();
    for (int i = warp; i < 4; i += (int)blockDim.x / 32)
        y[i] = i > 0 ? x[i] + 1 : 1;
    __threadfence_block();
    turn = warp + (fault && warp == 1 ? 2 : 1); // fault here: turn_too_far
}

#define RUN_WAIT(name, blocks, threads)                                                            \
    template <bool fault>                                                                          \
    static bool run_##name()                                                                       \
    {                                                                                              \
        array<int> x(numbers(4)), y(std::vector<int>(4)), flag(std::vector<int>(1));               \
        name<fault><<<blocks, threads>>>(x, y, flag);                                              \
        return came_out<fault>(y.p, std::vector<int>{1, 3, 4, 5});                                 \
    }
RUN_WAIT(flag_never_raised, 4, 1);
RUN_WAIT(waits_for_itself, 4, 1);
RUN_WAIT(lock_kept, 4, 1);
RUN_WAIT(turn_too_far, 1, 96);

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(flag_never_raised, "a flag that blocks wait for is never raised"),
        SUBTLE(waits_for_itself, "the last block waits for one arrival too many: its own"),
        SUBTLE(lock_kept, "a lock is kept where there is nothing to do under it"),
        SUBTLE(turn_too_far, "a turn is passed to a warp that is not there"),
    };
    return suite("waits in vain", list, argc, argv);
}
