/* Named barriers whose number two groups of threads use, and nothing tells the second group that
 * the first has been there. No group exchanges anything here: a race would be another finding. */
#include "ptx.cuh"

/* Each half of the block is to wait for itself. */
template <bool fault>
__global__ void two_groups(const int *x, int *y)
{
    const int t = threadIdx.x;
    named_sync(fault ? 1 : 1 + t / 64, 64); // fault here: two_groups
    y[t] = x[t];
}

RUN(two_groups, 1, 128, numbers(128), in);

/* Two numbers are enough for two groups, and the third has that of the first. */
template <bool fault>
__global__ void third_group(const int *x, int *y)
{
    const int t = threadIdx.x, group = t / 32;
    named_sync(1 + (fault ? group % 2 : group), 32); // fault here: third_group
    y[t] = x[t];
}

RUN(third_group, 1, 96, numbers(96), in);

/* One group after the other may use a number, if a barrier of all lies between. */
template <bool fault>
__global__ void used_again(const int *x, int *y)
{
    const int t = threadIdx.x;
    if (t < 64)
        named_sync(1, 64); // seen here: used_again
    if (!fault)            // fault here: used_again
        __syncthreads();
    if (t >= 64)
        named_sync(1, 64); // seen here: used_again
    y[t] = x[t];
}

RUN(used_again, 1, 128, numbers(128), in);

/* The numbers of the second stage begin where another group still has its first. */
template <bool fault>
__global__ void next_stage(const int *x, int *y)
{
    const int t = threadIdx.x, group = t / 64;
    named_sync(1 + group, 64);               // seen here: next_stage
    named_sync((fault ? 2 : 3) + group, 64); // fault here: next_stage
    y[t] = x[t];
}

RUN(next_stage, 1, 128, numbers(128), in);

/* Warps 0 and 1 arrive for warps 2 and 3, each for one. */
template <bool fault>
__global__ void two_producers(const int *x, int *y)
{
    const int t = threadIdx.x, number = fault ? 1 : 1 + t / 32 % 2; // fault here: two_producers
    if (t < 64)
        named_arrive(number, 64); // seen here: two_producers
    else
        named_sync(number, 64); // seen here: two_producers
    y[t] = x[t];
}

RUN(two_producers, 1, 128, numbers(128), in);

/* Both groups use number 1, and number 2 passes the turn to do so. */
template <bool fault>
__global__ void turn_not_waited_for(const int *x, int *y)
{
    const int t = threadIdx.x, second = t >= 64;
    const int early = second && !fault, late = second && fault; // fault here: turn_not_waited_for
    if (early)
        named_sync(2, 128);
    named_sync(1, 64); // seen here: turn_not_waited_for
    if (!second)
        named_arrive(2, 128);
    if (late)
        named_sync(2, 128);
    y[t] = x[t];
}

RUN(turn_not_waited_for, 1, 128, numbers(128), in);

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(two_groups, "both halves of a block wait at barrier 1, each for itself"),
        SUBTLE(third_group, "two numbers taken in turn by three groups"),
        SUBTLE(used_again, "a number used by one group, then by another, and no barrier between"),
        SUBTLE(next_stage, "a group's second number is another group's first"),
        SUBTLE(two_producers, "two pairs of a warp that arrives and one that waits, one number"),
        SUBTLE(turn_not_waited_for, "a turn is waited for behind what it is for"),
    };
    return suite("named barrier", list, argc, argv);
}
