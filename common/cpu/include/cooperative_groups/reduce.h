/* Reductions over a group. 32-bit integers take one instruction of the warp, as on compute
 * capability 8.0; other types take shuffles, in the order in which a GPU adds. */
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups
{
template <class G, class T, class F>
inline auto reduce(const G &g, T &&v, F &&op, CPU_PLACE) -> decltype(op(v, v));

namespace details
{
/* The warp's own reduction for an operator on T, or CPU_SYNCWARP if there is none. */
template <class F, class T>
constexpr cpu_op reduction = CPU_SYNCWARP;
template <class T>
constexpr cpu_op reduction<plus<T>, T> = CPU_REDUCE_ADD;
template <class T>
constexpr cpu_op reduction<less<T>, T> =
    std::is_signed<T>::value ? CPU_REDUCE_MIN_SIGNED : CPU_REDUCE_MIN;
template <class T>
constexpr cpu_op reduction<greater<T>, T> =
    std::is_signed<T>::value ? CPU_REDUCE_MAX_SIGNED : CPU_REDUCE_MAX;
template <class T>
constexpr cpu_op reduction<bit_and<T>, T> = CPU_REDUCE_AND;
template <class T>
constexpr cpu_op reduction<bit_or<T>, T> = CPU_REDUCE_OR;
template <class T>
constexpr cpu_op reduction<bit_xor<T>, T> = CPU_REDUCE_XOR;

template <class T, unsigned N, class P, class F>
inline T reduce_by_shuffles(const thread_block_tile<N, P, false> &g, T v, F &op, const char *file,
                            int line)
{
    for (unsigned i = N / 2; i > 0; i /= 2)
        v = op(v, g.shfl_xor(v, i, file, line));
    return v;
}
template <class T, class F>
inline T reduce_by_shuffles(const coalesced_group &g, T v, F &op, const char *file, int line)
{
    if (g.size() == 32)
        return reduce_by_shuffles<T>(thread_block_tile<32>(0, 1), v, op, file, line);
    return g.shfl(scan(g, v, op, file, line), (int)g.size() - 1, file, line);
}

/* For a tile of several warps: reduces each warp, then the results of the warps. */
template <class T, unsigned N, class P, class F>
inline T reduce_by_shuffles(const thread_block_tile<N, P, true> &, T v, F &op, const char *file,
                            int line)
{
    v = reduce(thread_block_tile<32>(0, 1), v, op, file, line);
    passed<N, T> all(v, file, line);
    v = all[0];
    for (unsigned first = 32; first < N; first += 32)
        v = op(v, all[first]);
    return v;
}

/* A small tile uses shuffles, which are as fast. */
template <unsigned N, class P>
constexpr bool is_wide(const thread_block_tile<N, P> &)
{
    return N >= 16;
}
constexpr bool is_wide(const coalesced_group &)
{
    return true;
}
} // namespace details

template <class G, class T, class F>
inline auto reduce(const G &g, T &&v, F &&op, const char *file, int line) -> decltype(op(v, v))
{
    typedef details::plain<T> value;
    constexpr cpu_op own = details::reduction<details::plain<F>, value>;
    static_assert(std::is_same<details::plain<decltype(op(v, v))>, value>::value,
                  "reduce: the operator gives another type than it takes");
    if constexpr (!details::is_several<G> && own != CPU_SYNCWARP &&
                  std::is_integral<value>::value && sizeof(value) <= 4)
        if (details::is_wide(g)) {
            typedef std::conditional_t<std::is_signed<value>::value, int64_t, uint64_t> wide;
            return (value)cpu_warp(own, details::access::mask(g), (uint64_t)(wide)v, file, line);
        }
    return details::reduce_by_shuffles<value>(g, v, op, file, line);
}
template <class G, class T, class F>
inline void reduce_store_async(const G &g, T *to, cpu_same_t<T> v, F &&op, CPU_PLACE)
{
    const T all = reduce(g, v, op, file, line);
    if (g.thread_rank() == 0)
        *to = all;
}
} // namespace cooperative_groups
