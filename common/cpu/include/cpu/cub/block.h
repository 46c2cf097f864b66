/* CUB's collectives of a block. They keep in the program's TempStorage what threads pass on, and
 * wait at barriers where CUB does, not after: who uses the storage again needs a __syncthreads. */
#pragma once

#include "cpu/cub/warp.h"

namespace cub
{
enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

/* An array in a TempStorage: T may have a constructor, but it is not called. */
template <class T, int n>
struct cpu_room {
    alignas(T) unsigned char bytes[n * sizeof(T)];
    __forceinline__ T &operator[](int i)
    {
        return reinterpret_cast<T *>(bytes)[i];
    }
};

template <class T, int x, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int y = 1, int z = 1,
          int = 0>
class BlockReduce
{
    enum { threads = x * y * z, warps = (threads + 31) / 32 };

  public:
    struct TempStorage {
        cpu_room<T, warps> warp;
    };
    explicit BlockReduce(TempStorage &storage)
        : storage(storage), thread((int)(LaneId() + 32 * WarpId()))
    {
    }
    /* Of the first `valid` threads; the result is in thread 0. */
    template <class Op>
    __forceinline__ T Reduce(T v, Op op, int valid = threads)
    {
        typename WarpReduce<T>::TempStorage none;
        const int first = thread / 32 * 32;
        const int here = valid - first < 32 ? valid - first : 32;
        v = WarpReduce<T>(none).Reduce(v, op, here);
        if (thread == first)
            storage.warp[thread / 32] = v;
        __syncthreads();
        if (thread == 0)
            for (int i = 1; i < warps && 32 * i < valid; i++)
                v = op(v, storage.warp[i]);
        return v;
    }
    template <int n, class Op>
    __forceinline__ T Reduce(T (&items)[n], Op op)
    {
        T v = items[0];
        for (int i = 1; i < n; i++)
            v = op(v, items[i]);
        return Reduce(v, op);
    }
    __forceinline__ T Sum(T v, int valid = threads)
    {
        return Reduce(v, cub::Sum(), valid);
    }
    template <int n>
    __forceinline__ T Sum(T (&items)[n])
    {
        return Reduce(items, cub::Sum());
    }

  private:
    TempStorage &storage;
    const int thread;
};

template <class T, int x, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int y = 1, int z = 1, int = 0>
class BlockScan
{
    enum { threads = x * y * z, warps = (threads + 31) / 32 };

  public:
    struct TempStorage {
        cpu_room<T, warps> warp;
        cpu_room<T, 1> before; /* the result of a prefix callback */
    };
    explicit BlockScan(TempStorage &storage)
        : storage(storage), thread((int)(LaneId() + 32 * WarpId()))
    {
    }

    template <class Op>
    __forceinline__ void InclusiveScan(T v, T &out, Op op, T &all)
    {
        T before;
        scan(v, out, before, op, all);
    }
    template <class Op>
    __forceinline__ void InclusiveScan(T v, T &out, Op op)
    {
        T all;
        InclusiveScan(v, out, op, all);
    }
    /* Without a first value the output of thread 0 is undefined. */
    template <class Op>
    __forceinline__ void ExclusiveScan(T v, T &out, Op op)
    {
        T mine, all;
        scan(v, mine, out, op, all);
    }
    template <class Op>
    __forceinline__ void ExclusiveScan(T v, T &out, Op op, T &all)
    {
        T mine;
        scan(v, mine, out, op, all);
    }
    template <class Op>
    __forceinline__ void ExclusiveScan(T v, T &out, T first, Op op, T &all)
    {
        T mine, before;
        scan(v, mine, before, op, all);
        out = thread ? op(first, before) : first;
    }
    template <class Op>
    __forceinline__ void ExclusiveScan(T v, T &out, T first, Op op)
    {
        T all;
        ExclusiveScan(v, out, first, op, all);
    }
    /* `callback`, which the first warp calls with the sum of the block, returns in lane 0 what
     * comes before the block's values. */
    template <class Op, class Callback,
              class = decltype(std::declval<Callback &>()(std::declval<T>()))>
    __forceinline__ void ExclusiveScan(T v, T &out, Op op, Callback &callback)
    {
        T mine, before, all;
        scan(v, mine, before, op, all);
        const T first = prefix(callback, all);
        out = thread ? op(first, before) : first;
    }
    template <class Op, class Callback,
              class = decltype(std::declval<Callback &>()(std::declval<T>())), class = void>
    __forceinline__ void InclusiveScan(T v, T &out, Op op, Callback &callback)
    {
        T mine, before, all;
        scan(v, mine, before, op, all);
        out = op(prefix(callback, all), mine);
    }

    template <int n, class Op>
    __forceinline__ void InclusiveScan(T (&in)[n], T (&out)[n], Op op, T &all)
    {
        T before;
        items(in, out, op, before, all);
        for (int i = 0; i < n; i++)
            out[i] = thread ? op(before, out[i]) : out[i];
    }
    template <int n, class Op>
    __forceinline__ void InclusiveScan(T (&in)[n], T (&out)[n], Op op)
    {
        T all;
        InclusiveScan(in, out, op, all);
    }
    template <int n, class Op>
    __forceinline__ void ExclusiveScan(T (&in)[n], T (&out)[n], T first, Op op, T &all)
    {
        T inclusive[n], before;
        items(in, inclusive, op, before, all);
        if (thread)
            first = op(first, before);
        for (int i = n - 1; i > 0; i--)
            out[i] = op(first, inclusive[i - 1]);
        out[0] = first;
    }
    template <int n, class Op>
    __forceinline__ void ExclusiveScan(T (&in)[n], T (&out)[n], T first, Op op)
    {
        T all;
        ExclusiveScan(in, out, first, op, all);
    }

    template <class... More>
    __forceinline__ void InclusiveSum(T v, T &out, More &...more)
    {
        InclusiveScan(v, out, cub::Sum(), more...);
    }
    template <int n, class... More>
    __forceinline__ void InclusiveSum(T (&in)[n], T (&out)[n], More &...more)
    {
        InclusiveScan(in, out, cub::Sum(), more...);
    }
    __forceinline__ void ExclusiveSum(T v, T &out)
    {
        ExclusiveScan(v, out, T{}, cub::Sum());
    }
    __forceinline__ void ExclusiveSum(T v, T &out, T &all)
    {
        ExclusiveScan(v, out, T{}, cub::Sum(), all);
    }
    template <class Callback>
    __forceinline__ void ExclusiveSum(T v, T &out, Callback &callback)
    {
        ExclusiveScan(v, out, cub::Sum(), callback);
    }
    template <int n, class... More>
    __forceinline__ void ExclusiveSum(T (&in)[n], T (&out)[n], More &...more)
    {
        ExclusiveScan(in, out, T{}, cub::Sum(), more...);
    }

  private:
    TempStorage &storage;
    const int thread;

    /* before is undefined in thread 0. */
    template <class Op>
    __forceinline__ void scan(T v, T &mine, T &before, Op op, T &all)
    {
        const int warp = thread / 32, lane = thread % 32;
        typename WarpScan<T>::TempStorage none;
        T inclusive, exclusive;
        WarpScan<T>(none).Scan(v, inclusive, exclusive, op);
        if (lane == 31 || thread == threads - 1)
            storage.warp[warp] = inclusive;
        __syncthreads();
        T sum = storage.warp[0], lower = sum;
        for (int i = 1; i < warps; i++) {
            if (i == warp)
                lower = sum;
            sum = op(sum, storage.warp[i]);
        }
        all = sum;
        mine = warp ? op(lower, inclusive) : inclusive;
        before = lane == 0 ? lower : warp ? op(lower, exclusive) : exclusive;
    }
    template <int n, class Op>
    __forceinline__ void items(T (&in)[n], T (&out)[n], Op op, T &before, T &all)
    {
        T sum = in[0], mine;
        out[0] = sum;
        for (int i = 1; i < n; i++)
            out[i] = sum = op(sum, in[i]);
        scan(sum, mine, before, op, all);
    }
    template <class Callback>
    __forceinline__ T prefix(Callback &callback, T all)
    {
        if (thread < 32) {
            const T before = callback(all);
            if (thread == 0)
                storage.before[0] = before;
        }
        __syncthreads();
        return storage.before[0];
    }
};

template <class T, int x, int n, bool = false, int y = 1, int z = 1, int = 0>
class BlockExchange
{
    enum { threads = x * y * z };

  public:
    struct TempStorage {
        cpu_room<T, threads * n> item;
    };
    explicit BlockExchange(TempStorage &storage)
        : storage(storage), thread((int)(LaneId() + 32 * WarpId()))
    {
    }
    template <class U>
    __forceinline__ void StripedToBlocked(const T (&in)[n], U (&out)[n])
    {
        move(
            in, out, [this](int i) { return thread + i * threads; },
            [this](int i) { return thread * n + i; });
    }
    template <class U>
    __forceinline__ void BlockedToStriped(const T (&in)[n], U (&out)[n])
    {
        move(
            in, out, [this](int i) { return thread * n + i; },
            [this](int i) { return thread + i * threads; });
    }
    template <class U, class R>
    __forceinline__ void ScatterToBlocked(const T (&in)[n], U (&out)[n], R (&rank)[n])
    {
        move(
            in, out, [&](int i) { return (int)rank[i]; }, [this](int i) { return thread * n + i; });
    }
    template <class U, class R>
    __forceinline__ void ScatterToStriped(const T (&in)[n], U (&out)[n], R (&rank)[n])
    {
        move(
            in, out, [&](int i) { return (int)rank[i]; },
            [this](int i) { return thread + i * threads; });
    }
    __forceinline__ void StripedToBlocked(T (&items)[n])
    {
        StripedToBlocked(items, items);
    }
    __forceinline__ void BlockedToStriped(T (&items)[n])
    {
        BlockedToStriped(items, items);
    }

  private:
    TempStorage &storage;
    const int thread;
    template <class U, class To, class From>
    __forceinline__ void move(const T (&in)[n], U (&out)[n], To to, From from)
    {
        for (int i = 0; i < n; i++)
            storage.item[to(i)] = in[i];
        __syncthreads();
        for (int i = 0; i < n; i++)
            out[i] = storage.item[from(i)];
    }
};

template <int x, class T, int n, class From>
__forceinline__ void LoadDirectStriped(int thread, From from, T (&items)[n])
{
    for (int i = 0; i < n; i++)
        items[i] = from[thread + i * x];
}
template <int x, class T, int n, class From>
__forceinline__ void LoadDirectStriped(int thread, From from, T (&items)[n], int valid)
{
    for (int i = 0; i < n; i++)
        if (thread + i * x < valid)
            items[i] = from[thread + i * x];
}
template <class T, int n, class From>
__forceinline__ void LoadDirectBlocked(int thread, From from, T (&items)[n])
{
    for (int i = 0; i < n; i++)
        items[i] = from[thread * n + i];
}
template <class T, int n, class From>
__forceinline__ void LoadDirectBlocked(int thread, From from, T (&items)[n], int valid)
{
    for (int i = 0; i < n; i++)
        if (thread * n + i < valid)
            items[i] = from[thread * n + i];
}
template <int x, class T, int n, class To>
__forceinline__ void StoreDirectStriped(int thread, To to, T (&items)[n])
{
    for (int i = 0; i < n; i++)
        to[thread + i * x] = items[i];
}
template <int x, class T, int n, class To>
__forceinline__ void StoreDirectStriped(int thread, To to, T (&items)[n], int valid)
{
    for (int i = 0; i < n; i++)
        if (thread + i * x < valid)
            to[thread + i * x] = items[i];
}
template <class T, int n, class To>
__forceinline__ void StoreDirectBlocked(int thread, To to, T (&items)[n])
{
    for (int i = 0; i < n; i++)
        to[thread * n + i] = items[i];
}
template <class T, int n, class To>
__forceinline__ void StoreDirectBlocked(int thread, To to, T (&items)[n], int valid)
{
    for (int i = 0; i < n; i++)
        if (thread * n + i < valid)
            to[thread * n + i] = items[i];
}

/* Of the transposing kinds, that of the block: striped loads, then an exchange. */
template <class T, int x, int n, BlockLoadAlgorithm kind = BLOCK_LOAD_DIRECT, int y = 1, int z = 1,
          int = 0>
class BlockLoad
{
    enum { threads = x * y * z };
    typedef BlockExchange<T, x, n, false, y, z> exchange;
    struct none {
        char unused;
    };

  public:
    typedef std::conditional_t<(kind >= BLOCK_LOAD_TRANSPOSE), typename exchange::TempStorage, none>
        TempStorage;
    explicit BlockLoad(TempStorage &storage)
        : storage(storage), thread((int)(LaneId() + 32 * WarpId()))
    {
    }
    template <class From, class... Valid>
    __forceinline__ void Load(From from, T (&items)[n], Valid... valid)
    {
        static_assert(sizeof...(valid) <= 1, "Load takes a block, items, and how many are valid");
        if constexpr (kind == BLOCK_LOAD_DIRECT || kind == BLOCK_LOAD_VECTORIZE)
            LoadDirectBlocked(thread, from, items, valid...);
        else
            LoadDirectStriped<threads>(thread, from, items, valid...);
        if constexpr (kind >= BLOCK_LOAD_TRANSPOSE)
            exchange(storage).StripedToBlocked(items, items);
    }
    template <class From, class Default>
    __forceinline__ void Load(From from, T (&items)[n], int valid, Default other)
    {
        for (int i = 0; i < n; i++)
            items[i] = (T)other;
        Load(from, items, valid);
    }

  private:
    TempStorage &storage;
    const int thread;
};

template <class T, int x, int n, BlockStoreAlgorithm kind = BLOCK_STORE_DIRECT, int y = 1,
          int z = 1, int = 0>
class BlockStore
{
    enum { threads = x * y * z };
    typedef BlockExchange<T, x, n, false, y, z> exchange;
    struct none {
        char unused;
    };

  public:
    typedef std::conditional_t<(kind >= BLOCK_STORE_TRANSPOSE), typename exchange::TempStorage,
                               none>
        TempStorage;
    explicit BlockStore(TempStorage &storage)
        : storage(storage), thread((int)(LaneId() + 32 * WarpId()))
    {
    }
    template <class To, class... Valid>
    __forceinline__ void Store(To to, T (&items)[n], Valid... valid)
    {
        if constexpr (kind >= BLOCK_STORE_TRANSPOSE)
            exchange(storage).BlockedToStriped(items, items);
        if constexpr (kind == BLOCK_STORE_DIRECT || kind == BLOCK_STORE_VECTORIZE)
            StoreDirectBlocked(thread, to, items, valid...);
        else
            StoreDirectStriped<threads>(thread, to, items, valid...);
    }

  private:
    TempStorage &storage;
    const int thread;
};

/* op(item, the one before it), or op(item, the one after it). What has no neighbour is kept, unless
 * the program says what lies outside of the block. */
template <class T, int x, int y = 1, int z = 1>
class BlockAdjacentDifference
{
    enum { threads = x * y * z };

  public:
    struct TempStorage {
        cpu_room<T, threads> edge;
    };
    explicit BlockAdjacentDifference(TempStorage &storage)
        : storage(storage), thread((int)(LaneId() + 32 * WarpId()))
    {
    }
    template <int n, class U, class Op>
    __forceinline__ void SubtractLeft(T (&in)[n], U (&out)[n], Op op)
    {
        left(in, out, op, [&] { return (U)in[0]; });
    }
    template <int n, class U, class Op>
    __forceinline__ void SubtractLeft(T (&in)[n], U (&out)[n], Op op, T outside)
    {
        left(in, out, op, [&] { return (U)op(in[0], outside); });
    }
    template <int n, class U, class Op>
    __forceinline__ void SubtractRight(T (&in)[n], U (&out)[n], Op op)
    {
        right(in, out, op, [&] { return (U)in[n - 1]; });
    }
    template <int n, class U, class Op>
    __forceinline__ void SubtractRight(T (&in)[n], U (&out)[n], Op op, T outside)
    {
        right(in, out, op, [&] { return (U)op(in[n - 1], outside); });
    }

  private:
    TempStorage &storage;
    const int thread;
    /* in and out may be the same. */
    template <int n, class U, class Op, class End>
    __forceinline__ void left(T (&in)[n], U (&out)[n], Op op, End end)
    {
        storage.edge[thread] = in[n - 1];
        __syncthreads();
        for (int i = n - 1; i > 0; i--)
            out[i] = op(in[i], in[i - 1]);
        out[0] = thread ? (U)op(in[0], storage.edge[thread - 1]) : end();
    }
    template <int n, class U, class Op, class End>
    __forceinline__ void right(T (&in)[n], U (&out)[n], Op op, End end)
    {
        storage.edge[thread] = in[0];
        __syncthreads();
        for (int i = 0; i < n - 1; i++)
            out[i] = op(in[i], in[i + 1]);
        out[n - 1] = thread < threads - 1 ? (U)op(in[n - 1], storage.edge[thread + 1]) : end();
    }
};

/* Each key's rank is counted: how many keys come before it. */
template <class Key, int x, int n, class Value = NullType, int = 4, bool = true,
          BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int = 0, int y = 1, int z = 1, int = 0>
class BlockRadixSort
{
    enum { threads = x * y * z };
    typedef BlockExchange<Key, x, n, false, y, z> key_exchange;
    typedef BlockExchange<Value, x, n, false, y, z> value_exchange;
    typedef typename Traits<Key>::UnsignedBits bits;

  public:
    union TempStorage {
        typename key_exchange::TempStorage keys;
        typename value_exchange::TempStorage values;
        bits ordered[threads * n];
    };
    explicit BlockRadixSort(TempStorage &storage)
        : storage(storage), thread((int)(LaneId() + 32 * WarpId()))
    {
    }
    __forceinline__ void Sort(Key (&keys)[n], int begin = 0, int end = 8 * sizeof(Key))
    {
        sort(keys, nullptr, begin, end, false, false);
    }
    __forceinline__ void Sort(Key (&keys)[n], Value (&values)[n], int begin = 0,
                              int end = 8 * sizeof(Key))
    {
        sort(keys, &values, begin, end, false, false);
    }
    __forceinline__ void SortDescending(Key (&keys)[n], int begin = 0, int end = 8 * sizeof(Key))
    {
        sort(keys, nullptr, begin, end, true, false);
    }
    __forceinline__ void SortDescending(Key (&keys)[n], Value (&values)[n], int begin = 0,
                                        int end = 8 * sizeof(Key))
    {
        sort(keys, &values, begin, end, true, false);
    }
    __forceinline__ void SortBlockedToStriped(Key (&keys)[n], int begin = 0,
                                              int end = 8 * sizeof(Key))
    {
        sort(keys, nullptr, begin, end, false, true);
    }
    __forceinline__ void SortBlockedToStriped(Key (&keys)[n], Value (&values)[n], int begin = 0,
                                              int end = 8 * sizeof(Key))
    {
        sort(keys, &values, begin, end, false, true);
    }

  private:
    TempStorage &storage;
    const int thread;

    __forceinline__ void sort(Key (&keys)[n], Value (*values)[n], int begin, int end, bool down,
                              bool striped)
    {
        bits mine[n];
        int rank[n];
        const bits used = end - begin >= (int)(8 * sizeof(bits))
                              ? (bits) ~(bits)0
                              : (bits)((((bits)1 << (end - begin)) - 1) << begin);
        for (int i = 0; i < n; i++) {
            bits b;
            memcpy(&b, &keys[i], sizeof b);
            b = Traits<Key>::TwiddleIn(b);
            mine[i] = (bits)((down ? (bits)~b : b) & used);
            storage.ordered[thread * n + i] = mine[i];
            rank[i] = 0;
        }
        __syncthreads();
        for (int k = 0; k < threads * n; k++) {
            const bits other = storage.ordered[k];
            for (int i = 0; i < n; i++)
                rank[i] += other < mine[i] || (other == mine[i] && k < thread * n + i);
        }
        __syncthreads();
        place(key_exchange(storage.keys), keys, rank, striped);
        if constexpr (!std::is_same<Value, NullType>::value) {
            if (values) {
                __syncthreads();
                place(value_exchange(storage.values), *values, rank, striped);
            }
        }
    }
    template <class Exchange, class T>
    __forceinline__ void place(Exchange exchange, T (&items)[n], int (&rank)[n], bool striped)
    {
        if (striped)
            exchange.ScatterToStriped(items, items, rank);
        else
            exchange.ScatterToBlocked(items, items, rank);
    }
};
} // namespace cub
