/* CUB's algorithms of the device. Each is a kernel of one thread, in the order of its stream. As in
 * CUB a call without temporary storage only says how much it needs. */
#pragma once

#include "cpu/cub/common.h"

/* CUB's own headers include these, and programs rely on that. */
#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <tuple>

namespace cub
{
template <class Call>
inline cudaError_t cpu_device(const char *name, void *storage, size_t &bytes, cudaStream_t stream,
                              Call call)
{
    if (!storage) {
        bytes = 1;
        return cudaSuccess;
    }
    if (bytes < 1)
        return cudaErrorInvalidValue;
    return cpu_launch_call(cpu_config(1, 1, 0, stream), name, nullptr, std::move(call));
}
template <class Iterator>
using cpu_value_at = std::remove_cv_t<std::remove_reference_t<decltype(*std::declval<Iterator>())>>;

/* The combination of two values may have another type than they: the sum of two chars is an int. */
template <class In, class N, class T, class Op>
inline auto cpu_reduced(In in, N first, N end, T init, Op op)
{
    typedef std::decay_t<decltype(op(init, *in))> sum;
    sum v = init;
    for (N i = first; i < end; i++)
        v = op(v, in[i]);
    return v;
}
template <class T>
constexpr T cpu_least()
{
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
}
template <class T>
constexpr T cpu_most()
{
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::max();
}

struct DeviceReduce {
    template <class In, class Out, class N, class Op, class T>
    static cudaError_t Reduce(void *storage, size_t &bytes, In in, Out out, N n, Op op, T init,
                              cudaStream_t stream = nullptr)
    {
        return cpu_device("cub::DeviceReduce", storage, bytes, stream,
                          [=]() mutable { *out = cpu_reduced(in, (N)0, n, init, op); });
    }
    template <class In, class Out, class N>
    static cudaError_t Sum(void *storage, size_t &bytes, In in, Out out, N n,
                           cudaStream_t stream = nullptr)
    {
        return Reduce(storage, bytes, in, out, n, cub::Sum(), cpu_value_at<Out>(), stream);
    }
    template <class In, class Out, class N>
    static cudaError_t Min(void *storage, size_t &bytes, In in, Out out, N n,
                           cudaStream_t stream = nullptr)
    {
        return Reduce(storage, bytes, in, out, n, cub::Min(), cpu_most<cpu_value_at<In>>(), stream);
    }
    template <class In, class Out, class N>
    static cudaError_t Max(void *storage, size_t &bytes, In in, Out out, N n,
                           cudaStream_t stream = nullptr)
    {
        return Reduce(storage, bytes, in, out, n, cub::Max(), cpu_least<cpu_value_at<In>>(),
                      stream);
    }
    template <class In, class Out, class N>
    static cudaError_t ArgMin(void *storage, size_t &bytes, In in, Out out, N n,
                              cudaStream_t stream = nullptr)
    {
        return arg(
            storage, bytes, in, out, n, [](auto a, auto b) { return a < b; }, stream);
    }
    template <class In, class Out, class N>
    static cudaError_t ArgMax(void *storage, size_t &bytes, In in, Out out, N n,
                              cudaStream_t stream = nullptr)
    {
        return arg(
            storage, bytes, in, out, n, [](auto a, auto b) { return b < a; }, stream);
    }
    template <class Keys, class Unique, class Values, class Sums, class Runs, class Op, class N>
    static cudaError_t ReduceByKey(void *storage, size_t &bytes, Keys keys, Unique unique,
                                   Values values, Sums sums, Runs runs, Op op, N n,
                                   cudaStream_t stream = nullptr)
    {
        return cpu_device("cub::DeviceReduce", storage, bytes, stream, [=]() mutable {
            N found = 0;
            for (N i = 0; i < n; found++) {
                cpu_value_at<Values> sum = values[i];
                const cpu_value_at<Keys> key = keys[i];
                for (i++; i < n && keys[i] == key; i++)
                    sum = op(sum, values[i]);
                unique[found] = key;
                sums[found] = sum;
            }
            *runs = found;
        });
    }

  private:
    template <class In, class Out, class N, class Better>
    static cudaError_t arg(void *storage, size_t &bytes, In in, Out out, N n, Better better,
                           cudaStream_t stream)
    {
        return cpu_device("cub::DeviceReduce", storage, bytes, stream, [=]() mutable {
            N best = 0;
            for (N i = 1; i < n; i++)
                if (better(in[i], in[best]))
                    best = i;
            *out = cpu_value_at<Out>((int)best, in[best]);
        });
    }
};

struct DeviceSegmentedReduce {
    template <class In, class Out, class Begin, class End, class Op, class T>
    static cudaError_t Reduce(void *storage, size_t &bytes, In in, Out out, int64_t segments,
                              Begin begin, End end, Op op, T init, cudaStream_t stream = nullptr)
    {
        return cpu_device("cub::DeviceSegmentedReduce", storage, bytes, stream, [=]() mutable {
            for (int64_t i = 0; i < segments; i++)
                out[i] = cpu_reduced(in, (int64_t)begin[i], (int64_t)end[i], init, op);
        });
    }
    template <class In, class Out, class Begin, class End>
    static cudaError_t Sum(void *storage, size_t &bytes, In in, Out out, int64_t segments,
                           Begin begin, End end, cudaStream_t stream = nullptr)
    {
        return Reduce(storage, bytes, in, out, segments, begin, end, cub::Sum(),
                      cpu_value_at<Out>(), stream);
    }
    template <class In, class Out, class Begin, class End>
    static cudaError_t Min(void *storage, size_t &bytes, In in, Out out, int64_t segments,
                           Begin begin, End end, cudaStream_t stream = nullptr)
    {
        return Reduce(storage, bytes, in, out, segments, begin, end, cub::Min(),
                      cpu_most<cpu_value_at<In>>(), stream);
    }
    template <class In, class Out, class Begin, class End>
    static cudaError_t Max(void *storage, size_t &bytes, In in, Out out, int64_t segments,
                           Begin begin, End end, cudaStream_t stream = nullptr)
    {
        return Reduce(storage, bytes, in, out, segments, begin, end, cub::Max(),
                      cpu_least<cpu_value_at<In>>(), stream);
    }
};

/* In and out may be the same. */
struct DeviceScan {
    template <class In, class Out, class Op, class T, class N>
    static cudaError_t ExclusiveScan(void *storage, size_t &bytes, In in, Out out, Op op, T init,
                                     N n, cudaStream_t stream = nullptr)
    {
        return cpu_device("cub::DeviceScan", storage, bytes, stream, [=]() mutable {
            std::decay_t<decltype(op(init, *in))> sum = init;
            for (N i = 0; i < n; i++) {
                const auto next = op(sum, in[i]);
                out[i] = sum;
                sum = next;
            }
        });
    }
    template <class In, class Out, class Op, class N>
    static cudaError_t InclusiveScan(void *storage, size_t &bytes, In in, Out out, Op op, N n,
                                     cudaStream_t stream = nullptr)
    {
        return cpu_device("cub::DeviceScan", storage, bytes, stream, [=]() mutable {
            if (n <= 0)
                return;
            std::decay_t<decltype(op(*in, *in))> sum = in[0];
            out[0] = sum;
            for (N i = 1; i < n; i++)
                out[i] = sum = op(sum, in[i]);
        });
    }
    template <class In, class Out, class N>
    static cudaError_t ExclusiveSum(void *storage, size_t &bytes, In in, Out out, N n,
                                    cudaStream_t stream = nullptr)
    {
        return ExclusiveScan(storage, bytes, in, out, cub::Sum(), cpu_value_at<In>(), n, stream);
    }
    template <class In, class Out, class N>
    static cudaError_t InclusiveSum(void *storage, size_t &bytes, In in, Out out, N n,
                                    cudaStream_t stream = nullptr)
    {
        return InclusiveScan(storage, bytes, in, out, cub::Sum(), n, stream);
    }
    /* In place. */
    template <class Data, class N, class = std::enable_if_t<std::is_integral<N>::value>>
    static cudaError_t ExclusiveSum(void *storage, size_t &bytes, Data data, N n,
                                    cudaStream_t stream = nullptr)
    {
        return ExclusiveSum(storage, bytes, data, data, n, stream);
    }
    template <class Data, class N, class = std::enable_if_t<std::is_integral<N>::value>>
    static cudaError_t InclusiveSum(void *storage, size_t &bytes, Data data, N n,
                                    cudaStream_t stream = nullptr)
    {
        return InclusiveSum(storage, bytes, data, data, n, stream);
    }
};

struct DeviceSelect {
    template <class In, class Flags, class Out, class Count, class N>
    static cudaError_t Flagged(void *storage, size_t &bytes, In in, Flags flags, Out out,
                               Count count, N n, cudaStream_t stream = nullptr)
    {
        return chosen(storage, bytes, in, out, count, n, stream,
                      [=](N i) { return (bool)flags[i]; });
    }
    template <class In, class Out, class Count, class N, class Select>
    static cudaError_t If(void *storage, size_t &bytes, In in, Out out, Count count, N n,
                          Select select, cudaStream_t stream = nullptr)
    {
        return chosen(storage, bytes, in, out, count, n, stream,
                      [=](N i) mutable { return (bool)select(in[i]); });
    }
    /* The output must be other memory than the input. */
    template <class In, class Out, class Count, class N>
    static cudaError_t Unique(void *storage, size_t &bytes, In in, Out out, Count count, N n,
                              cudaStream_t stream = nullptr)
    {
        return chosen(storage, bytes, in, out, count, n, stream,
                      [=](N i) { return i == 0 || !(in[i] == in[i - 1]); });
    }

  private:
    template <class In, class Out, class Count, class N, class Which>
    static cudaError_t chosen(void *storage, size_t &bytes, In in, Out out, Count count, N n,
                              cudaStream_t stream, Which which)
    {
        return cpu_device("cub::DeviceSelect", storage, bytes, stream, [=]() mutable {
            N found = 0;
            for (N i = 0; i < n; i++)
                if (which(i))
                    out[found++] = in[i];
            *count = found;
        });
    }
};

/* The selected elements come first, and the rest after it, in reverse order. */
struct DevicePartition {
    template <class In, class Flags, class Out, class Count, class N>
    static cudaError_t Flagged(void *storage, size_t &bytes, In in, Flags flags, Out out,
                               Count count, N n, cudaStream_t stream = nullptr)
    {
        return parted(storage, bytes, in, out, count, n, stream,
                      [=](N i) { return (bool)flags[i]; });
    }
    template <class In, class Out, class Count, class N, class Select>
    static cudaError_t If(void *storage, size_t &bytes, In in, Out out, Count count, N n,
                          Select select, cudaStream_t stream = nullptr)
    {
        return parted(storage, bytes, in, out, count, n, stream,
                      [=](N i) mutable { return (bool)select(in[i]); });
    }

  private:
    template <class In, class Out, class Count, class N, class Which>
    static cudaError_t parted(void *storage, size_t &bytes, In in, Out out, Count count, N n,
                              cudaStream_t stream, Which which)
    {
        return cpu_device("cub::DevicePartition", storage, bytes, stream, [=]() mutable {
            N front = 0, back = n;
            for (N i = 0; i < n; i++)
                out[which(i) ? front++ : --back] = in[i];
            *count = front;
        });
    }
};

struct DeviceRunLengthEncode {
    template <class In, class Unique, class Lengths, class Runs, class N>
    static cudaError_t Encode(void *storage, size_t &bytes, In in, Unique unique, Lengths lengths,
                              Runs runs, N n, cudaStream_t stream = nullptr)
    {
        return DeviceReduce::ReduceByKey(storage, bytes, in, unique,
                                         ConstantInputIterator<cpu_value_at<Lengths>>(1), lengths,
                                         runs, cub::Sum(), n, stream);
    }
};

/* The levels are the edges of the bins: one more than bins, the last of them outside. */
struct DeviceHistogram {
    template <class In, class Counter, class Level, class N>
    static cudaError_t HistogramEven(void *storage, size_t &bytes, In in, Counter *bins, int levels,
                                     Level lower, Level upper, N n, cudaStream_t stream = nullptr)
    {
        return cpu_device("cub::DeviceHistogram", storage, bytes, stream, [=]() mutable {
            for (int i = 0; i < levels - 1; i++)
                bins[i] = 0;
            for (N i = 0; i < n; i++) {
                const Level v = (Level)in[i];
                if (v < lower || v >= upper)
                    continue;
                if constexpr (std::is_integral<Level>::value)
                    bins[(uint64_t)(v - lower) * (uint64_t)(levels - 1) /
                         (uint64_t)(upper - lower)]++;
                else
                    bins[(int)((v - lower) * ((Level)(levels - 1) / (upper - lower)))]++;
            }
        });
    }
    template <class In, class Counter, class Level, class N>
    static cudaError_t HistogramRange(void *storage, size_t &bytes, In in, Counter *bins,
                                      int levels, const Level *edges, N n,
                                      cudaStream_t stream = nullptr)
    {
        return cpu_device("cub::DeviceHistogram", storage, bytes, stream, [=]() mutable {
            for (int i = 0; i < levels - 1; i++)
                bins[i] = 0;
            for (N i = 0; i < n; i++) {
                const auto v = in[i];
                int bin = 0;
                while (bin < levels && !(v < edges[bin]))
                    bin++;
                if (bin > 0 && bin < levels)
                    bins[bin - 1]++;
            }
        });
    }
};

/* Sorts positions, not the keys: the sort is stable, and input and output may have any type. */
template <class Keys, class KeysOut, class Values, class ValuesOut, class N, class Before>
inline void cpu_sort_pairs(Keys keys, KeysOut keys_out, Values values, ValuesOut values_out, N n,
                           Before before)
{
    typedef cpu_value_at<Keys> key;
    struct item {
        key k;
        N at;
    };
    item *items = static_cast<item *>(malloc((size_t)n * sizeof(item)));
    if (!items)
        __trap();
    for (N i = 0; i < n; i++) {
        items[i].k = keys[i];
        items[i].at = i;
    }
    std::sort(items, items + n, [=](const item &a, const item &b) {
        return before(a.k, b.k) || (!before(b.k, a.k) && a.at < b.at);
    });
    if constexpr (!std::is_null_pointer<Values>::value) {
        typedef cpu_value_at<Values> value;
        value *moved = static_cast<value *>(malloc((size_t)n * sizeof(value)));
        if (!moved)
            __trap();
        for (N i = 0; i < n; i++)
            moved[i] = values[items[i].at];
        for (N i = 0; i < n; i++)
            values_out[i] = moved[i];
        free(moved);
    }
    for (N i = 0; i < n; i++)
        keys_out[i] = items[i].k;
    free(items);
}

/* Compares the bits begin to end of two keys, in the order of the keys' values. */
template <class Key>
struct cpu_bits_before {
    int begin, end;
    bool down;
    typename Traits<Key>::UnsignedBits of(const Key &key) const
    {
        typedef typename Traits<Key>::UnsignedBits bits;
        bits b;
        memcpy(&b, &key, sizeof b);
        b = Traits<Key>::TwiddleIn(b);
        b = (bits)(b << (8 * (int)sizeof b - end));
        return (bits)(b >> (8 * (int)sizeof b - end + begin));
    }
    bool operator()(const Key &a, const Key &b) const
    {
        return down ? of(b) < of(a) : of(a) < of(b);
    }
};

struct DeviceRadixSort {
    template <class Key, class N>
    static cudaError_t SortKeys(void *storage, size_t &bytes, const Key *in, Key *out, N n,
                                int begin = 0, int end = 8 * sizeof(Key),
                                cudaStream_t stream = nullptr)
    {
        return sort(storage, bytes, in, out, nullptr, nullptr, n, begin, end, false, stream);
    }
    template <class Key, class N>
    static cudaError_t SortKeysDescending(void *storage, size_t &bytes, const Key *in, Key *out,
                                          N n, int begin = 0, int end = 8 * sizeof(Key),
                                          cudaStream_t stream = nullptr)
    {
        return sort(storage, bytes, in, out, nullptr, nullptr, n, begin, end, true, stream);
    }
    template <class Key, class Value, class N>
    static cudaError_t SortPairs(void *storage, size_t &bytes, const Key *in, Key *out,
                                 const Value *values, Value *values_out, N n, int begin = 0,
                                 int end = 8 * sizeof(Key), cudaStream_t stream = nullptr)
    {
        return sort(storage, bytes, in, out, values, values_out, n, begin, end, false, stream);
    }
    template <class Key, class Value, class N>
    static cudaError_t SortPairsDescending(void *storage, size_t &bytes, const Key *in, Key *out,
                                           const Value *values, Value *values_out, N n,
                                           int begin = 0, int end = 8 * sizeof(Key),
                                           cudaStream_t stream = nullptr)
    {
        return sort(storage, bytes, in, out, values, values_out, n, begin, end, true, stream);
    }
    /* With double buffers the result is where Current() then points. */
    template <class Key, class N>
    static cudaError_t SortKeys(void *storage, size_t &bytes, DoubleBuffer<Key> &keys, N n,
                                int begin = 0, int end = 8 * sizeof(Key),
                                cudaStream_t stream = nullptr)
    {
        const Key *from = keys.Current();
        return SortKeys(storage, bytes, from, turned(storage, keys), n, begin, end, stream);
    }
    template <class Key, class N>
    static cudaError_t SortKeysDescending(void *storage, size_t &bytes, DoubleBuffer<Key> &keys,
                                          N n, int begin = 0, int end = 8 * sizeof(Key),
                                          cudaStream_t stream = nullptr)
    {
        const Key *from = keys.Current();
        return SortKeysDescending(storage, bytes, from, turned(storage, keys), n, begin, end,
                                  stream);
    }
    template <class Key, class Value, class N>
    static cudaError_t SortPairs(void *storage, size_t &bytes, DoubleBuffer<Key> &keys,
                                 DoubleBuffer<Value> &values, N n, int begin = 0,
                                 int end = 8 * sizeof(Key), cudaStream_t stream = nullptr)
    {
        const Key *from = keys.Current();
        const Value *from_values = values.Current();
        return SortPairs(storage, bytes, from, turned(storage, keys), from_values,
                         turned(storage, values), n, begin, end, stream);
    }
    template <class Key, class Value, class N>
    static cudaError_t SortPairsDescending(void *storage, size_t &bytes, DoubleBuffer<Key> &keys,
                                           DoubleBuffer<Value> &values, N n, int begin = 0,
                                           int end = 8 * sizeof(Key), cudaStream_t stream = nullptr)
    {
        const Key *from = keys.Current();
        const Value *from_values = values.Current();
        return SortPairsDescending(storage, bytes, from, turned(storage, keys), from_values,
                                   turned(storage, values), n, begin, end, stream);
    }

  private:
    template <class T>
    static T *turned(void *storage, DoubleBuffer<T> &buffer)
    {
        if (!storage)
            return buffer.Alternate();
        buffer.selector ^= 1;
        return buffer.Current();
    }
    template <class Key, class Values, class ValuesOut, class N>
    static cudaError_t sort(void *storage, size_t &bytes, const Key *in, Key *out, Values values,
                            ValuesOut values_out, N n, int begin, int end, bool down,
                            cudaStream_t stream)
    {
        return cpu_device("cub::DeviceRadixSort", storage, bytes, stream, [=]() mutable {
            cpu_sort_pairs(in, out, values, values_out, n, cpu_bits_before<Key>{begin, end, down});
        });
    }
};

struct DeviceMergeSort {
    template <class Keys, class N, class Before>
    static cudaError_t SortKeys(void *storage, size_t &bytes, Keys keys, N n, Before before,
                                cudaStream_t stream = nullptr)
    {
        return cpu_device("cub::DeviceMergeSort", storage, bytes, stream, [=]() mutable {
            cpu_sort_pairs(keys, keys, nullptr, nullptr, n, before);
        });
    }
    template <class Keys, class N, class Before>
    static cudaError_t StableSortKeys(void *storage, size_t &bytes, Keys keys, N n, Before before,
                                      cudaStream_t stream = nullptr)
    {
        return SortKeys(storage, bytes, keys, n, before, stream);
    }
    template <class Keys, class Values, class N, class Before>
    static cudaError_t SortPairs(void *storage, size_t &bytes, Keys keys, Values values, N n,
                                 Before before, cudaStream_t stream = nullptr)
    {
        return cpu_device("cub::DeviceMergeSort", storage, bytes, stream,
                          [=]() mutable { cpu_sort_pairs(keys, keys, values, values, n, before); });
    }
};

struct DeviceFor {
    template <class N, class F>
    static cudaError_t Bulk(void *storage, size_t &bytes, N n, F f, cudaStream_t stream = nullptr)
    {
        return cpu_device("cub::DeviceFor", storage, bytes, stream, [=]() mutable {
            for (N i = 0; i < n; i++)
                f(i);
        });
    }
    template <class N, class F>
    static cudaError_t Bulk(N n, F f, cudaStream_t stream = nullptr)
    {
        size_t bytes = 1;
        return Bulk(&bytes, bytes, n, f, stream);
    }
    template <class It, class F>
    static cudaError_t ForEach(It first, It end, F f, cudaStream_t stream = nullptr)
    {
        return Bulk(
            end - first, [=](ptrdiff_t i) mutable { f(first[i]); }, stream);
    }
};
} // namespace cub
