/* CUB's collectives of a warp, or of `lanes` neighbours in one: shuffles. */
#pragma once

#include "cpu/cub/common.h"

namespace cub
{
/* The value that lane `from` of the warp has; of any size, 8 bytes at a time. */
template <class T>
__forceinline__ T cpu_from_lane(unsigned mask, const T &v, int from)
{
    if constexpr (sizeof(T) <= 8) {
        return __shfl_sync(mask, v, from);
    } else {
        const size_t words = (sizeof(T) + 7) / 8;
        uint64_t word[words] = {};
        T r;
        memcpy(word, &v, sizeof(T));
        for (size_t i = 0; i < words; i++)
            word[i] = __shfl_sync(mask, word[i], from);
        memcpy(static_cast<void *>(&r), word, sizeof(T));
        return r;
    }
}

/* The lanes of the group, those of them that the block has. */
template <int lanes>
struct cpu_lanes {
    int rank, first; /* of the thread in the group; the group's first lane */
    unsigned mask;
    cpu_lanes()
    {
        const int lane = (int)LaneId();
        const int threads = (int)(blockDim.x * blockDim.y * blockDim.z) - (int)WarpId() * 32;
        rank = lane % lanes;
        first = lane - rank;
        int there = threads - first < lanes ? threads - first : lanes;
        mask = (there >= 32 ? 0xffffffffu : (1u << there) - 1) << first;
    }
};

template <class T, int lanes = 32>
class WarpReduce
{
    static_assert(lanes >= 1 && lanes <= 32, "a warp has 32 lanes");

  public:
    struct TempStorage {
        char unused;
    };
    explicit WarpReduce(TempStorage &)
    {
    }
    /* Of the first `valid` lanes; the result is in the first one. */
    template <class Op>
    __forceinline__ T Reduce(T v, Op op, int valid = lanes)
    {
        const cpu_lanes<lanes> group;
        for (int step = 1; step < lanes; step *= 2) {
            const bool takes = group.rank + step < valid;
            const int from = group.rank + step < lanes ? group.rank + step : group.rank;
            const T other = cpu_from_lane(group.mask, v, group.first + from);
            if (takes)
                v = op(v, other);
        }
        return v;
    }
    __forceinline__ T Sum(T v, int valid = lanes)
    {
        return Reduce(v, cub::Sum(), valid);
    }
    __forceinline__ T Max(T v, int valid = lanes)
    {
        return Reduce(v, cub::Max(), valid);
    }
    __forceinline__ T Min(T v, int valid = lanes)
    {
        return Reduce(v, cub::Min(), valid);
    }
};

template <class T, int lanes = 32>
class WarpScan
{
    static_assert(lanes >= 1 && lanes <= 32, "a warp has 32 lanes");

  public:
    struct TempStorage {
        char unused;
    };
    explicit WarpScan(TempStorage &)
    {
    }
    template <class Op>
    __forceinline__ void InclusiveScan(T v, T &out, Op op)
    {
        const cpu_lanes<lanes> group;
        for (int step = 1; step < lanes; step *= 2) {
            const int from = group.rank >= step ? group.rank - step : group.rank;
            const T other = cpu_from_lane(group.mask, v, group.first + from);
            if (group.rank >= step)
                v = op(other, v);
        }
        out = v;
    }
    template <class Op>
    __forceinline__ void InclusiveScan(T v, T &out, Op op, T &all)
    {
        InclusiveScan(v, v, op);
        all = Broadcast(v, last());
        out = v;
    }
    /* Without a first value the output of the first lane is undefined. */
    template <class Op>
    __forceinline__ void ExclusiveScan(T v, T &out, Op op)
    {
        const cpu_lanes<lanes> group;
        InclusiveScan(v, v, op);
        out = cpu_from_lane(group.mask, v, group.first + (group.rank ? group.rank - 1 : 0));
    }
    template <class Op>
    __forceinline__ void ExclusiveScan(T v, T &out, T before, Op op)
    {
        const cpu_lanes<lanes> group;
        ExclusiveScan(v, v, op);
        out = group.rank ? op(before, v) : before;
    }
    template <class Op>
    __forceinline__ void ExclusiveScan(T v, T &out, T before, Op op, T &all)
    {
        T mine;
        InclusiveScan(v, mine, op, all);
        ExclusiveScan(v, out, before, op);
    }
    template <class Op>
    __forceinline__ void Scan(T v, T &inclusive, T &exclusive, Op op)
    {
        const T mine = v;
        InclusiveScan(mine, inclusive, op);
        ExclusiveScan(mine, exclusive, op);
    }
    __forceinline__ void InclusiveSum(T v, T &out)
    {
        InclusiveScan(v, out, cub::Sum());
    }
    __forceinline__ void InclusiveSum(T v, T &out, T &all)
    {
        InclusiveScan(v, out, cub::Sum(), all);
    }
    __forceinline__ void ExclusiveSum(T v, T &out)
    {
        ExclusiveScan(v, out, T{}, cub::Sum());
    }
    __forceinline__ void ExclusiveSum(T v, T &out, T &all)
    {
        ExclusiveScan(v, out, T{}, cub::Sum(), all);
    }
    __forceinline__ T Broadcast(T v, unsigned from)
    {
        const cpu_lanes<lanes> group;
        return cpu_from_lane(group.mask, v, group.first + (int)from);
    }

  private:
    static int last()
    {
        const cpu_lanes<lanes> group;
        return __popc(group.mask) - 1;
    }
};
} // namespace cub
