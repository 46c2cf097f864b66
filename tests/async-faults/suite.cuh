/* suite.cuh: what the programs of this suite share: arguments, device arrays, the comparison.
 *
 * A planted fault is a kernel or a host function with the template parameter `fault`. With true it
 * breaks one rule, with false none, and only the line marked `fault here` tells the two apart.
 */
#pragma once

#include <cstdio>
#include <cstring>
#include <type_traits>
#include <unistd.h>
#include <vector>

const unsigned ALL = 0xffffffffu; // the lanes of a warp

/* Device memory that is freed at the end of its scope, or before that on purpose. */
template <class T>
struct array {
    T *p = nullptr;
    explicit array(size_t n)
    {
        cudaMalloc(&p, n * sizeof(T));
    }
    explicit array(const std::vector<T> &v) : array(v.size())
    {
        cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
        cudaDeviceSynchronize(); // from pageable memory, it may still be under way
    }
    array(const array &) = delete;
    array &operator=(const array &) = delete;
    ~array()
    {
        free();
    }
    void free()
    {
        cudaFree(p);
        p = nullptr;
    }
    operator T *() const
    {
        return p;
    }
};

/* Page-locked memory of the host, which kernels reach too. */
template <class T>
struct pinned {
    T *p = nullptr;
    explicit pinned(size_t n)
    {
        cudaHostAlloc((void **)&p, n * sizeof(T), cudaHostAllocMapped);
    }
    explicit pinned(const std::vector<T> &v) : pinned(v.size())
    {
        for (size_t i = 0; i < v.size(); i++)
            p[i] = v[i];
    }
    pinned(const pinned &) = delete;
    pinned &operator=(const pinned &) = delete;
    ~pinned()
    {
        cudaFreeHost(p);
    }
    operator T *() const
    {
        return p;
    }
};

/* A stream that does not wait for the default one, nor that for it; unless the flags say so. */
struct stream {
    cudaStream_t s;
    explicit stream(unsigned flags = cudaStreamNonBlocking)
    {
        cudaStreamCreateWithFlags(&s, flags);
    }
    stream(const stream &) = delete;
    stream &operator=(const stream &) = delete;
    ~stream()
    {
        cudaStreamDestroy(s);
    }
    operator cudaStream_t() const
    {
        return s;
    }
};

struct event {
    cudaEvent_t e;
    event()
    {
        cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    }
    event(const event &) = delete;
    event &operator=(const event &) = delete;
    ~event()
    {
        cudaEventDestroy(e);
    }
    operator cudaEvent_t() const
    {
        return e;
    }
};

/* 1 2 3 4 5 6 7 1 2 ... */
template <class T = int>
static std::vector<T> numbers(size_t n)
{
    std::vector<T> v(n);
    for (size_t i = 0; i < n; i++)
        v[i] = (T)(i % 7 + 1);
    return v;
}

/* Waits for the kernels. A right one's result is compared, a faulty one's may be anything. */
template <bool fault, class T>
static bool came_out(const T *p, const std::vector<T> &want)
{
    const cudaError_t error = cudaDeviceSynchronize();
    if (fault)
        return true;
    std::vector<T> got(want.size());
    if (error != cudaSuccess ||
        cudaMemcpy(got.data(), p, got.size() * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess) {
        printf("wrong: %s\n", cudaGetErrorString(cudaGetLastError()));
        return false;
    }
    for (size_t i = 0; i < want.size(); i++)
        if (got[i] != want[i]) {
            printf("wrong: element %zu is %g, expected %g\n", i, (double)got[i], (double)want[i]);
            return false;
        }
    return true;
}

/* The same for what the host has read. A faulty version says it too, so that it has to read. */
template <bool fault, class T>
static bool came_to(const T &got, const T &want)
{
    if (got == want)
        return true;
    printf("%s: the host has read another value\n", fault ? "as planted" : "wrong");
    return fault;
}

/* n elements, element i of them is f(i). */
template <class T = int, class F>
static std::vector<T> each(size_t n, F f)
{
    std::vector<T> v(n);
    for (size_t i = 0; i < n; i++)
        v[i] = (T)f((int)i);
    return v;
}

/* n sums: element i of v is part of sum of(i). */
template <class F>
static std::vector<int> sums_by(size_t n, const std::vector<int> &v, F of)
{
    std::vector<int> sums(n);
    for (size_t i = 0; i < v.size(); i++)
        sums[of((int)i)] += v[i];
    return sums;
}

/* The same where element i of n is to be want(i). */
template <bool fault, class T, class F>
static bool came_out(const T *p, size_t n, F want)
{
    return came_out<fault>(p, each<T>(n, want));
}

template <class V>
using array_of = array<typename std::decay<V>::type::value_type>;

/* run_NAME for a kernel NAME(x, y, ...): x is `input`, which `output` calls in, and y must be
 * `output`. */
#define RUN(name, blocks, threads, input, output, ...)                                             \
    template <bool fault>                                                                          \
    static bool run_##name()                                                                       \
    {                                                                                              \
        const auto in = input;                                                                     \
        const auto want = output;                                                                  \
        array_of<decltype(in)> x(in);                                                              \
        array_of<decltype(want)> y(want.size());                                                   \
        name<fault><<<blocks, threads>>>(x, y, ##__VA_ARGS__);                                     \
        return came_out<fault>(y.p, want);                                                         \
    }

/* The same for a kernel NAME(y, ...). */
#define RUN_OUT(name, blocks, threads, output, ...)                                                \
    template <bool fault>                                                                          \
    static bool run_##name()                                                                       \
    {                                                                                              \
        const auto want = output;                                                                  \
        array_of<decltype(want)> y(want.size());                                                   \
        name<fault><<<blocks, threads>>>(y, ##__VA_ARGS__);                                        \
        return came_out<fault>(y.p, want);                                                         \
    }

struct planted {
    const char *name, *subtle, *what;
    bool (*faulty)(), (*right)();
};
#define PLAIN(name, what)                                                                          \
    {                                                                                              \
#name, "plain", what, run_##name < true>, run_##name < false>                              \
    }
#define SUBTLE(name, what)                                                                         \
    {                                                                                              \
#name, "subtle", what, run_##name < true>, run_##name < false>                             \
    }

/* What main does with its arguments: --list, or NAME fault, or NAME right. */
template <size_t n>
static int suite(const char *rule, const planted (&list)[n], int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (const planted &p : list)
            printf("%s\t%s\t%s\t%s\n", p.name, rule, p.subtle, p.what);
        return 0;
    }
    const bool faulty = argc == 3 && strcmp(argv[2], "fault") == 0;
    if (argc != 3 || (!faulty && strcmp(argv[2], "right") != 0)) {
        fprintf(stderr, "usage: %s --list, or %s NAME fault|right\n", argv[0], argv[0]);
        return 2;
    }
    alarm(120); // should a GPU hang after all: compute-sanitizer is slow, but not that slow
    for (const planted &p : list)
        if (strcmp(argv[1], p.name) == 0) {
            const bool fine = faulty ? p.faulty() : p.right();
            cudaDeviceReset(); // when compute-sanitizer looks for leaks
            return fine ? 0 : 1;
        }
    fprintf(stderr, "no fault named %s here: --list shows the names\n", argv[1]);
    return 2;
}
