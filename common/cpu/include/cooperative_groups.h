/* Cooperative groups: sets of threads, over the warp and block operations of cuda_runtime.h. A
 * group of lanes is a mask. An operation of a group counts as the warp or block operations that
 * it calls. reduce, scan and memcpy_async have headers of their own. */
#pragma once

#include "cuda_runtime.h"

namespace cooperative_groups
{

class thread_block;
class coalesced_group;
template <unsigned N, class Parent = void, bool wide = (N > 32)>
class thread_block_tile;

namespace details
{
inline unsigned block_size()
{
    return blockDim.x * blockDim.y * blockDim.z;
}
inline unsigned block_thread()
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
inline unsigned lane()
{
    return block_thread() % 32;
}

/* The lane that has this rank among those of the mask, or -1. */
inline int nth_lane(unsigned mask, unsigned rank)
{
    for (; mask && rank; rank--)
        mask &= mask - 1;
    return mask ? __builtin_ctz(mask) : -1;
}

/* Compacts a bit for each lane of the warp to a bit for each lane of the mask, in order of rank. */
inline unsigned packed(unsigned mask, unsigned lanes)
{
    unsigned ranks = 0;
    for (unsigned rank = 0; mask; mask &= mask - 1, rank++)
        ranks |= (lanes >> __builtin_ctz(mask) & 1) << rank;
    return ranks;
}

/* A value of more than 8 bytes takes one shuffle for each 8 bytes. */
template <class T>
inline T shuffle(cpu_op op, unsigned mask, const T &v, int delta, int width, const char *file,
                 int line)
{
    static_assert(std::is_trivially_copyable<T>::value,
                  "shuffles take values that can be copied byte by byte");
    if constexpr (sizeof(T) <= 8) {
        return cpu_value<T>(cpu_shuffle(op, mask, cpu_bits(v), delta, width, file, line));
    } else {
        uint64_t words[(sizeof(T) + 7) / 8] = {};
        memcpy(words, &v, sizeof v);
        for (uint64_t &word : words)
            word = cpu_shuffle(op, mask, word, delta, width, file, line);
        T whole = v;
        memcpy(static_cast<void *>(&whole), words, sizeof whole);
        return whole;
    }
}

template <class T>
using plain = std::remove_cv_t<std::remove_reference_t<T>>;

/* Shares one value of each thread within a tile of several warps, as long as this object lives. */
template <unsigned N, class T>
class passed
{
    static_assert(sizeof(T) <= 8,
                  "a tile of several warps passes values of at most 8 bytes, as on a GPU");
    const char *file;
    int line;

  public:
    passed(T v, const char *file, int line) : file(file), line(line)
    {
        cpu_tile_pass(cpu_bits(v));
        cpu_tile_barrier(N, file, line);
    }
    passed(const passed &) = delete;
    passed &operator=(const passed &) = delete;
    ~passed()
    {
        cpu_tile_barrier(N, file, line);
    }
    T operator[](unsigned rank) const
    {
        return cpu_value<T>(cpu_tile_passed(block_thread() / N * N + rank % N));
    }
};

enum kind { BLOCK, LANES, GRID };
struct access;
} // namespace details

/* Any group except a tile of fixed size. */
class thread_group
{
  protected:
    details::kind kind;
    unsigned mask, which, of; /* of lanes: their mask, and the group's index among `of` groups */
    bool is_tile;             /* adjacent lanes, from a multiple of their number on */
    explicit thread_group(details::kind kind, unsigned mask = 0, unsigned which = 0,
                          unsigned of = 1, bool is_tile = false)
        : kind(kind), mask(mask), which(which), of(of), is_tile(is_tile)
    {
    }
    friend struct details::access;

  public:
    unsigned long long num_threads() const;
    unsigned long long size() const
    {
        return num_threads();
    }
    unsigned long long thread_rank() const;
    void sync(CPU_PLACE) const;
};

class grid_group : public thread_group
{
    grid_group() : thread_group(details::GRID)
    {
    }
    friend grid_group this_grid();

  public:
    struct arrival_token {
    };
    bool is_valid() const
    {
        return cpu_grid_together();
    }
    void sync(CPU_PLACE) const
    {
        cpu_grid_barrier(file, line);
    }
    arrival_token barrier_arrive() const
    {
        return {};
    }
    void barrier_wait(arrival_token &&, CPU_PLACE) const
    {
        cpu_grid_barrier(file, line);
    }
    static dim3 dim_blocks()
    {
        return gridDim;
    }
    static dim3 group_dim()
    {
        return gridDim;
    }
    static unsigned long long num_blocks()
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static dim3 block_index()
    {
        return blockIdx;
    }
    static unsigned long long block_rank()
    {
        return blockIdx.x + gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    static dim3 dim_threads()
    {
        return dim3(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z);
    }
    static dim3 thread_index()
    {
        return dim3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                    blockIdx.z * blockDim.z + threadIdx.z);
    }
    static unsigned long long num_threads()
    {
        return num_blocks() * details::block_size();
    }
    static unsigned long long size()
    {
        return num_threads();
    }
    static unsigned long long thread_rank()
    {
        return block_rank() * details::block_size() + details::block_thread();
    }
};

inline grid_group this_grid()
{
    return grid_group();
}

/* CUDA needs this memory for tiles of several warps. Here they need none. */
template <unsigned threads = 1024>
struct block_tile_memory {
};

class thread_block : public thread_group
{
    thread_block() : thread_group(details::BLOCK)
    {
    }
    friend thread_block this_thread_block();

  public:
    struct arrival_token {
    };
    static void sync(CPU_PLACE)
    {
        cpu_block_barrier(CPU_SYNCTHREADS, 0, file, line);
    }
    arrival_token barrier_arrive() const
    {
        return {};
    }
    void barrier_wait(arrival_token &&, CPU_PLACE) const
    {
        sync(file, line);
    }
    static dim3 group_index()
    {
        return blockIdx;
    }
    static dim3 thread_index()
    {
        return threadIdx;
    }
    static dim3 dim_threads()
    {
        return blockDim;
    }
    static dim3 group_dim()
    {
        return blockDim;
    }
    static unsigned num_threads()
    {
        return details::block_size();
    }
    static unsigned size()
    {
        return num_threads();
    }
    static unsigned thread_rank()
    {
        return details::block_thread();
    }
};

inline thread_block this_thread_block()
{
    return thread_block();
}
template <unsigned threads>
inline thread_block this_thread_block(block_tile_memory<threads> &)
{
    return this_thread_block();
}

/* Some lanes of a warp. */
class coalesced_group : public thread_group
{
    coalesced_group(unsigned mask, unsigned which, unsigned of, bool is_tile = false)
        : thread_group(details::LANES, mask, which, of, is_tile)
    {
    }
    friend struct details::access;

    int lane_of(unsigned rank) const
    {
        return details::nth_lane(mask, rank);
    }

  public:
    unsigned num_threads() const
    {
        return (unsigned)__builtin_popcount(mask);
    }
    unsigned size() const
    {
        return num_threads();
    }
    unsigned thread_rank() const
    {
        return (unsigned)__builtin_popcount(mask & ((1u << details::lane()) - 1));
    }
    unsigned meta_group_rank() const
    {
        return which;
    }
    unsigned meta_group_size() const
    {
        return of;
    }
    void sync(CPU_PLACE) const
    {
        cpu_warp(CPU_SYNCWARP, mask, 0, file, line);
    }
    /* shfl: the value of the thread with that rank. shfl_down and shfl_up: the value of the
     * thread `delta` ranks away, or the thread's own value if there is none. */
    template <class T>
    details::plain<T> shfl(T &&v, int rank, CPU_PLACE) const
    {
        const int from = size() == 32 ? rank : lane_of((unsigned)rank);
        return details::shuffle<details::plain<T>>(CPU_SHFL, mask, v, from, 32, file, line);
    }
    template <class T>
    details::plain<T> shfl_down(T &&v, unsigned delta, CPU_PLACE) const
    {
        const unsigned rank = thread_rank();
        const int from = delta < size() - rank ? lane_of(rank + delta) : (int)details::lane();
        return details::shuffle<details::plain<T>>(CPU_SHFL, mask, v, from, 32, file, line);
    }
    template <class T>
    details::plain<T> shfl_up(T &&v, unsigned delta, CPU_PLACE) const
    {
        const unsigned rank = thread_rank();
        const int from = delta <= rank ? lane_of(rank - delta) : (int)details::lane();
        return details::shuffle<details::plain<T>>(CPU_SHFL, mask, v, from, 32, file, line);
    }
    int any(int predicate, CPU_PLACE) const
    {
        return __any_sync(mask, predicate, file, line);
    }
    int all(int predicate, CPU_PLACE) const
    {
        return __all_sync(mask, predicate, file, line);
    }
    unsigned ballot(int predicate, CPU_PLACE) const
    {
        return details::packed(mask, __ballot_sync(mask, predicate, file, line));
    }
    template <class T>
    unsigned match_any(T v, CPU_PLACE) const
    {
        return details::packed(mask, __match_any_sync(mask, v, file, line));
    }
    template <class T>
    unsigned match_all(T v, int &same, CPU_PLACE) const
    {
        return details::packed(mask, __match_all_sync(mask, v, &same, file, line));
    }
};

namespace details
{
struct access {
    static unsigned mask(const thread_group &g)
    {
        return g.mask;
    }
    template <unsigned N, class P>
    static unsigned mask(const thread_block_tile<N, P> &g)
    {
        return g.mask();
    }
    static coalesced_group lanes(unsigned mask, unsigned which = 0, unsigned of = 1,
                                 bool is_tile = false)
    {
        return coalesced_group(mask, which, of, is_tile);
    }
    static coalesced_group as_lanes(const thread_group &g)
    {
        return coalesced_group(g.mask, g.which, g.of, g.is_tile);
    }
    static thread_group part(const thread_group &g, unsigned n, const char *file, int line);
};

/* A part of a block: N threads, from a multiple of N on. It is one of `of` parts of its parent. */
template <unsigned N>
class tile
{
    static_assert(N >= 1 && N <= 1024 && (N & (N - 1)) == 0,
                  "tiles are of a power of two threads, at most 1024");

  protected:
    unsigned which, of;

  public:
    tile(unsigned which, unsigned of) : which(which), of(of)
    {
    }
    template <class P>
    tile(const thread_block_tile<N, P> &g) : which(g.which), of(g.of)
    {
    }
    static constexpr unsigned num_threads()
    {
        return N;
    }
    static constexpr unsigned size()
    {
        return N;
    }
    static unsigned thread_rank()
    {
        return block_thread() % N;
    }
    unsigned meta_group_rank() const
    {
        return which;
    }
    unsigned meta_group_size() const
    {
        return of;
    }
};
} // namespace details

/* A whole tile of N lanes; Parent is the group that it is part of. */
template <unsigned N, class Parent, bool wide>
class thread_block_tile : public details::tile<N>
{
    static unsigned mask()
    {
        return ~0u >> (32 - N) << (details::lane() & ~(N - 1));
    }
    friend struct details::access;

  public:
    using details::tile<N>::tile;
    operator coalesced_group() const
    {
        return details::access::lanes(mask(), this->which, this->of, true);
    }
    static void sync(CPU_PLACE)
    {
        cpu_warp(CPU_SYNCWARP, mask(), 0, file, line);
    }
    template <class T>
    details::plain<T> shfl(T &&v, int rank, CPU_PLACE) const
    {
        return details::shuffle<details::plain<T>>(CPU_SHFL, mask(), v, rank, N, file, line);
    }
    template <class T>
    details::plain<T> shfl_down(T &&v, unsigned delta, CPU_PLACE) const
    {
        return details::shuffle<details::plain<T>>(CPU_SHFL_DOWN, mask(), v, (int)delta, N, file,
                                                   line);
    }
    template <class T>
    details::plain<T> shfl_up(T &&v, unsigned delta, CPU_PLACE) const
    {
        return details::shuffle<details::plain<T>>(CPU_SHFL_UP, mask(), v, (int)delta, N, file,
                                                   line);
    }
    template <class T>
    details::plain<T> shfl_xor(T &&v, unsigned lanes, CPU_PLACE) const
    {
        return details::shuffle<details::plain<T>>(CPU_SHFL_XOR, mask(), v, (int)lanes, N, file,
                                                   line);
    }
    int any(int predicate, CPU_PLACE) const
    {
        return __any_sync(mask(), predicate, file, line);
    }
    int all(int predicate, CPU_PLACE) const
    {
        return __all_sync(mask(), predicate, file, line);
    }
    unsigned ballot(int predicate, CPU_PLACE) const
    {
        return details::packed(mask(), __ballot_sync(mask(), predicate, file, line));
    }
    template <class T>
    unsigned match_any(T v, CPU_PLACE) const
    {
        return details::packed(mask(), __match_any_sync(mask(), v, file, line));
    }
    template <class T>
    unsigned match_all(T v, int &same, CPU_PLACE) const
    {
        return details::packed(mask(), __match_all_sync(mask(), v, &same, file, line));
    }
};

/* A tile of several whole warps. */
template <unsigned N, class Parent>
class thread_block_tile<N, Parent, true> : public details::tile<N>
{
  public:
    using details::tile<N>::tile;
    static void sync(CPU_PLACE)
    {
        cpu_tile_barrier(N, file, line);
    }
    template <class T>
    details::plain<T> shfl(T &&v, int rank, CPU_PLACE) const
    {
        details::passed<N, details::plain<T>> all(v, file, line);
        return all[(unsigned)rank];
    }
    int any(int predicate, CPU_PLACE) const
    {
        return (int)votes(predicate, file, line) != 0;
    }
    int all(int predicate, CPU_PLACE) const
    {
        return votes(!predicate, file, line) == 0;
    }

  private:
    static unsigned votes(int predicate, const char *file, int line)
    {
        details::passed<N, unsigned> all(__any_sync(~0u, predicate, file, line), file, line);
        unsigned n = 0;
        for (unsigned first = 0; first < N; first += 32)
            n += all[first];
        return n;
    }
};

/* The lanes of the warp that come here together. The group is known when no lane of the warp can
 * go on otherwise: lanes that wait elsewhere or have exited are not in it. */
inline coalesced_group coalesced_threads(CPU_PLACE)
{
    return details::access::lanes(__activemask(file, line));
}

inline thread_block_tile<1> this_thread()
{
    return thread_block_tile<1>(0, 1);
}

/* --- Parts of groups -------------------------------------------------------------------------- */

template <unsigned N>
inline thread_block_tile<N, thread_block> tiled_partition(const thread_block &)
{
    return {details::block_thread() / N, (details::block_size() + N - 1) / N};
}
template <unsigned N, unsigned M, class P>
inline thread_block_tile<N, thread_block_tile<M, P>>
tiled_partition(const thread_block_tile<M, P> &g)
{
    static_assert(N < M, "a tile is smaller than the one that it is a part of");
    return {g.thread_rank() / N, M / N};
}

/* Parts of n lanes, of a block or of a group of lanes. If the lanes are no tile, the lanes of a
 * part have consecutive ranks, but need not be adjacent. */
inline thread_group details::access::part(const thread_group &g, unsigned n, const char *file,
                                          int line)
{
    if (n < 1 || n > 32 || (n & (n - 1)) || g.kind == GRID)
        cpu_trap(
            cudaErrorLaunchFailure,
            "tiled_partition: need a thread_block or lanes of a warp, and 1, 2, 4, 8, 16 or 32 "
            "threads",
            file, line);
    const unsigned size = (unsigned)g.num_threads(), rank = (unsigned)g.thread_rank();
    const unsigned begin = rank & ~(n - 1), left = size - begin < n ? size - begin : n;
    if (g.kind == LANES && size <= n)
        return g;
    if (g.kind == BLOCK || g.is_tile)
        return lanes(~0u >> (32 - left) << (lane() & ~(n - 1)), rank / n, (size + n - 1) / n, true);
    unsigned part = 0;
    for (unsigned i = 0; i < left; i++)
        part |= 1u << nth_lane(g.mask, begin + i);
    return lanes(part, rank / n, (size + n - 1) / n);
}
inline thread_group tiled_partition(const thread_group &g, unsigned n, CPU_PLACE)
{
    return details::access::part(g, n, file, line);
}
inline coalesced_group tiled_partition(const coalesced_group &g, unsigned n, CPU_PLACE)
{
    return details::access::as_lanes(details::access::part(g, n, file, line));
}

namespace details
{
template <class G>
inline coalesced_group halves(const G &g, bool set, const char *file, int line)
{
    const unsigned mask = access::mask(g), those = __ballot_sync(mask, set, file, line);
    if (those == 0 || those == mask)
        return access::lanes(mask);
    return access::lanes(set ? those : mask & ~those, set, 2);
}
/* A group for each label, in the order of the groups' first lanes. */
template <class G, class T>
inline coalesced_group labels(const G &g, T label, const char *file, int line)
{
    if constexpr (std::is_same<T, bool>::value) {
        return halves(g, label, file, line);
    } else {
        static_assert(std::is_integral<T>::value || std::is_pointer<T>::value,
                      "the labels of labeled_partition are integers or pointers");
        const unsigned mask = access::mask(g), mine = __match_any_sync(mask, label, file, line);
        const unsigned first = mine & -mine;
        const unsigned firsts = __ballot_sync(mask, 1u << lane() == first, file, line);
        return access::lanes(mine, (unsigned)__builtin_popcount(firsts & (first - 1)),
                             (unsigned)__builtin_popcount(firsts));
    }
}
} // namespace details

inline coalesced_group binary_partition(const coalesced_group &g, bool set, CPU_PLACE)
{
    return details::halves(g, set, file, line);
}
template <unsigned N, class P>
inline coalesced_group binary_partition(const thread_block_tile<N, P> &g, bool set, CPU_PLACE)
{
    return details::halves(g, set, file, line);
}
template <class T>
inline coalesced_group labeled_partition(const coalesced_group &g, T label, CPU_PLACE)
{
    return details::labels(g, label, file, line);
}
template <class T, unsigned N, class P>
inline coalesced_group labeled_partition(const thread_block_tile<N, P> &g, T label, CPU_PLACE)
{
    return details::labels(g, label, file, line);
}

/* --- Functions of any group ------------------------------------------------------------------- */

inline unsigned long long thread_group::num_threads() const
{
    return kind == details::GRID    ? grid_group::num_threads()
           : kind == details::BLOCK ? details::block_size()
                                    : (unsigned)__builtin_popcount(mask);
}
inline unsigned long long thread_group::thread_rank() const
{
    return kind == details::GRID ? grid_group::thread_rank()
           : kind == details::BLOCK
               ? details::block_thread()
               : (unsigned)__builtin_popcount(mask & ((1u << details::lane()) - 1));
}
inline void thread_group::sync(const char *file, int line) const
{
    if (kind == details::GRID)
        cpu_grid_barrier(file, line);
    else if (kind == details::BLOCK)
        cpu_block_barrier(CPU_SYNCTHREADS, 0, file, line);
    else
        cpu_warp(CPU_SYNCWARP, mask, 0, file, line);
}

template <class G>
inline void sync(const G &g, CPU_PLACE)
{
    g.sync(file, line);
}
template <class G>
inline auto thread_rank(const G &g)
{
    return g.thread_rank();
}
template <class G>
inline auto group_size(const G &g)
{
    return g.num_threads();
}

template <class G, class F, class... A>
inline void invoke_one(const G &g, F &&f, A &&...a)
{
    if (g.thread_rank() == 0)
        std::forward<F>(f)(std::forward<A>(a)...);
}
template <class G, class F, class... A>
inline auto invoke_one_broadcast(const G &g, F &&f, A &&...a)
{
    details::plain<decltype(std::forward<F>(f)(std::forward<A>(a)...))> result{};
    if (g.thread_rank() == 0)
        result = std::forward<F>(f)(std::forward<A>(a)...);
    return g.shfl(result, 0);
}

/* --- Operators -------------------------------------------------------------------------------- */

#define CPU_OPERATOR(name, expression)                                                             \
    template <class T>                                                                             \
    struct name {                                                                                  \
        T operator()(T a, T b) const                                                               \
        {                                                                                          \
            return expression;                                                                     \
        }                                                                                          \
    };
CPU_OPERATOR(plus, a + b)
CPU_OPERATOR(less, b < a ? b : a)
CPU_OPERATOR(greater, a < b ? b : a)
CPU_OPERATOR(bit_and, a &b)
CPU_OPERATOR(bit_or, a | b)
CPU_OPERATOR(bit_xor, a ^ b)
#undef CPU_OPERATOR

namespace details
{
/* An inclusive scan: each step combines with the value 1, 2, 4, ... ranks below. */
template <class G, class T, class F>
inline T scan(const G &g, T v, F &&op, const char *file, int line)
{
    for (unsigned i = 1; i < g.size(); i *= 2) {
        T before = g.shfl_up(v, i, file, line);
        if (i <= g.thread_rank())
            v = op(v, before);
    }
    return v;
}
template <class G>
constexpr bool is_several = false; /* G is a tile of several warps */
template <unsigned N, class P>
constexpr bool is_several<thread_block_tile<N, P, true>> = true;
/* For a tile of several warps: scans each warp, then combines with the totals of the warps
 * before it. */
template <class T, unsigned N, class P, class F>
inline T scan_warps(const thread_block_tile<N, P, true> &g, T v, F &&op, const char *file, int line)
{
    v = scan(thread_block_tile<32>(0, 1), v, op, file, line);
    passed<N, T> all(v, file, line);
    for (unsigned i = g.thread_rank() / 32; i-- > 0;)
        v = op(v, all[32 * i + 31]);
    return v;
}
} // namespace details
} // namespace cooperative_groups
