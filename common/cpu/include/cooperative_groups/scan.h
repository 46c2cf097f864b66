/* Scans: each thread of a group gets its value combined with those of lower ranks. */
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups
{
template <class G, class T, class F,
          class = decltype(std::declval<F>()(std::declval<T>(), std::declval<T>()))>
inline details::plain<T> inclusive_scan(const G &g, T &&v, F &&op, CPU_PLACE)
{
    if constexpr (details::is_several<G>)
        return details::scan_warps<details::plain<T>>(g, v, op, file, line);
    else
        return details::scan<G, details::plain<T>>(g, v, op, file, line);
}
template <class G, class T>
inline details::plain<T> inclusive_scan(const G &g, T &&v, CPU_PLACE)
{
    return inclusive_scan(g, v, plus<details::plain<T>>(), file, line);
}

/* Rank 0 gets T(). For a sum of integers, subtracting the thread's own value saves a shuffle. */
template <class G, class T, class F,
          class = decltype(std::declval<F>()(std::declval<T>(), std::declval<T>()))>
inline details::plain<T> exclusive_scan(const G &g, T &&v, F &&op, CPU_PLACE)
{
    typedef details::plain<T> value;
    const value with = inclusive_scan(g, v, op, file, line);
    if constexpr (std::is_integral<value>::value &&
                  std::is_same<details::plain<F>, plus<value>>::value)
        return (value)(with - v);
    if constexpr (details::is_several<G>) {
        details::passed<G::size(), value> all(with, file, line);
        return g.thread_rank() == 0 ? value() : all[g.thread_rank() - 1];
    } else {
        const value before = g.shfl_up(with, 1, file, line);
        return g.thread_rank() == 0 ? value() : before;
    }
}
template <class G, class T>
inline details::plain<T> exclusive_scan(const G &g, T &&v, CPU_PLACE)
{
    return exclusive_scan(g, v, plus<details::plain<T>>(), file, line);
}
} // namespace cooperative_groups
