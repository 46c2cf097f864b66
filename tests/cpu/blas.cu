/* cuBLAS against plain loops: all four types, all forms of operands, odd sizes and leading
 * dimensions, both pointer modes, what is not read, wrong arguments, streams and capture; and
 * cublasLt, cublasXt. nvcc compiles it too, with -lcublas -lcublasLt. */
#include "check.h"

#include <cublasLt.h>
#include <cublasXt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <complex>
#include <vector>

typedef std::complex<float> complex_f;
typedef std::complex<double> complex_d;

static unsigned seed = 1;
static int draw() /* small whole numbers: sums of their products are exact in every type */
{
    seed = seed * 1664525u + 1013904223u;
    return (int)(seed >> 24) % 7 - 3;
}
template <class T>
static T value()
{
    return T(draw());
}
template <>
complex_f value<complex_f>()
{
    return {float(draw()), float(draw())};
}
template <>
complex_d value<complex_d>()
{
    return {double(draw()), double(draw())};
}
template <class T>
static T conjugate(T v)
{
    return v;
}
static complex_f conjugate(complex_f v)
{
    return std::conj(v);
}
static complex_d conjugate(complex_d v)
{
    return std::conj(v);
}

/* An array on both sides. */
template <class T>
struct array {
    std::vector<T> host;
    T *device = nullptr;
    explicit array(size_t n) : host(n)
    {
        for (T &v : host)
            v = value<T>();
        cudaMalloc(&device, n * sizeof(T));
        put();
    }
    array(const array &) = delete;
    ~array()
    {
        cudaFree(device);
    }
    void put()
    {
        cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    }
    std::vector<T> got() const
    {
        std::vector<T> v(host.size());
        cudaMemcpy(v.data(), device, v.size() * sizeof(T), cudaMemcpyDeviceToHost);
        return v;
    }
};

template <class T>
static T element(const std::vector<T> &a, int ld, cublasOperation_t op, int i, int j)
{
    const T v = op == CUBLAS_OP_N ? a[i + j * ld] : a[j + i * ld];
    return op == CUBLAS_OP_C ? conjugate(v) : v;
}
/* Row i, column j of a matrix of which one triangle counts. */
template <class T>
static T symmetric(const std::vector<T> &a, int ld, cublasFillMode_t uplo, int i, int j)
{
    const bool there = uplo == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
    return there ? a[i + j * ld] : a[j + i * ld];
}
template <class T>
static T triangular(const std::vector<T> &a, int ld, cublasFillMode_t uplo, cublasDiagType_t diag,
                    cublasOperation_t op, int i, int j)
{
    if (op != CUBLAS_OP_N)
        std::swap(i, j);
    if (i == j && diag == CUBLAS_DIAG_UNIT)
        return T(1);
    const bool there = uplo == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
    const T v = there ? a[i + j * ld] : T(0);
    return op == CUBLAS_OP_C ? conjugate(v) : v;
}

/* The functions of a type, so that one template tests them all. C is what CUDA calls the type. */
#define FUNCTIONS(L, I, T, C, R, nrm2_, asum_, dot_)                                               \
    template <>                                                                                    \
    struct blas<T> {                                                                               \
        typedef C type;                                                                            \
        typedef R real;                                                                            \
        static constexpr auto axpy = cublas##L##axpy;                                              \
        static constexpr auto copy = cublas##L##copy;                                              \
        static constexpr auto swap = cublas##L##swap;                                              \
        static constexpr auto scal = cublas##L##scal;                                              \
        static constexpr auto amax = cublasI##I##amax;                                             \
        static constexpr auto amin = cublasI##I##amin;                                             \
        static constexpr auto nrm2 = cublas##nrm2_;                                                \
        static constexpr auto asum = cublas##asum_;                                                \
        static constexpr auto dot = cublas##dot_;                                                  \
        static constexpr auto gemv = cublas##L##gemv;                                              \
        static constexpr auto trmv = cublas##L##trmv;                                              \
        static constexpr auto trsv = cublas##L##trsv;                                              \
        static constexpr auto gemm = cublas##L##gemm;                                              \
        static constexpr auto batched = cublas##L##gemmBatched;                                    \
        static constexpr auto strided = cublas##L##gemmStridedBatched;                             \
        static constexpr auto symm = cublas##L##symm;                                              \
        static constexpr auto syrk = cublas##L##syrk;                                              \
        static constexpr auto trmm = cublas##L##trmm;                                              \
        static constexpr auto trsm = cublas##L##trsm;                                              \
        static constexpr auto geam = cublas##L##geam;                                              \
        static constexpr auto dgmm = cublas##L##dgmm;                                              \
        static constexpr auto getrf = cublas##L##getrfBatched;                                     \
    };
template <class T>
struct blas;
FUNCTIONS(S, s, float, float, float, Snrm2, Sasum, Sdot)
FUNCTIONS(D, d, double, double, double, Dnrm2, Dasum, Ddot)
FUNCTIONS(C, c, complex_f, cuComplex, float, Scnrm2, Scasum, Cdotu)
FUNCTIONS(Z, z, complex_d, cuDoubleComplex, double, Dznrm2, Dzasum, Zdotu)

template <class T>
static typename blas<T>::type *as(T *p)
{
    return reinterpret_cast<typename blas<T>::type *>(p);
}
template <class T>
static const typename blas<T>::type *as(const T *p)
{
    return reinterpret_cast<const typename blas<T>::type *>(p);
}
#define OK(call) CHECK((call) == CUBLAS_STATUS_SUCCESS)

static const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
static const cublasFillMode_t fills[] = {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER};
static const cublasSideMode_t sides[] = {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT};
static const cublasDiagType_t diags[] = {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT};

template <class T>
static void vectors(cublasHandle_t h)
{
    typedef typename blas<T>::real R;
    const int n = 37, incx = 3, incy = 2;
    array<T> x(n * incx), y(n * incy);
    const T alpha = value<T>() + T(4);
    std::vector<T> want = y.host;
    for (int i = 0; i < n; i++)
        want[i * incy] += alpha * x.host[i * incx];
    OK(blas<T>::axpy(h, n, as(&alpha), as(x.device), incx, as(y.device), incy));
    CHECK(y.got() == want);

    T dot = 0, got_dot = T(-1);
    R squares = 0, sizes = 0, most = -1, least = 1e9, got_norm = -1, got_sum = -1;
    int at_most = 0, at_least = 0, got_most = -1, got_least = -1;
    for (int i = 0; i < n; i++) {
        const T v = x.host[i * incx];
        const R size = std::abs(std::real(v)) + std::abs(std::imag(v));
        dot += v * want[i * incy];
        squares += std::norm(v);
        sizes += size;
        if (size > most)
            most = size, at_most = i + 1;
        if (size < least)
            least = size, at_least = i + 1;
    }
    OK(blas<T>::dot(h, n, as(x.device), incx, as(y.device), incy, as(&got_dot)));
    OK(blas<T>::nrm2(h, n, as(x.device), incx, &got_norm));
    OK(blas<T>::asum(h, n, as(x.device), incx, &got_sum));
    OK(blas<T>::amax(h, n, as(x.device), incx, &got_most));
    OK(blas<T>::amin(h, n, as(x.device), incx, &got_least));
    CHECK(got_dot == dot && got_sum == sizes && got_most == at_most && got_least == at_least);
    CHECK(std::abs(got_norm - std::sqrt(squares)) < 1e-5 * got_norm);

    /* The same with scalars and results on the device. */
    array<T> scalars(2);
    array<int> index(1);
    scalars.host[0] = alpha;
    scalars.put();
    OK(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE));
    OK(blas<T>::scal(h, n, as(scalars.device), as(x.device), incx));
    OK(blas<T>::dot(h, n, as(x.device), incx, as(y.device), incy, as(scalars.device + 1)));
    OK(blas<T>::amax(h, n, as(x.device), incx, index.device));
    OK(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST));
    std::vector<T> scaled = x.host;
    for (int i = 0; i < n; i++)
        scaled[i * incx] *= alpha;
    CHECK(x.got() == scaled && scalars.got()[1] == alpha * dot && index.got()[0] > 0);

    OK(blas<T>::copy(h, n, as(x.device), incx, as(y.device), incy));
    for (int i = 0; i < n; i++)
        want[i * incy] = scaled[i * incx];
    CHECK(y.got() == want);
    array<T> z(n);
    OK(blas<T>::swap(h, n, as(y.device), incy, as(z.device), -1)); /* from the end */
    for (int i = 0; i < n; i++)
        CHECK(z.got()[n - 1 - i] == want[i * incy]);
    int none = -1;
    OK(blas<T>::amax(h, 0, as(x.device), 1, &none));
    CHECK(none == 0);
    T nothing = T(5);
    OK(blas<T>::dot(h, 0, as(x.device), 1, as(y.device), 1, as(&nothing)));
    CHECK(nothing == T(0));
}

template <class T>
static void matrices(cublasHandle_t h)
{
    const int sizes[][3] = {{1, 1, 1}, {5, 3, 7}, {33, 17, 9}, {4, 6, 0}};
    const T nan = T(NAN), zero = 0, one = 1;
    for (const auto &s : sizes)
        for (cublasOperation_t ta : ops)
            for (cublasOperation_t tb : ops) {
                const int m = s[0], n = s[1], k = s[2], ldc = m + 2;
                const int lda = (ta == CUBLAS_OP_N ? m : k) + 1,
                          ldb = (tb == CUBLAS_OP_N ? k : n) + 3;
                array<T> a(lda * std::max(1, ta == CUBLAS_OP_N ? k : m)),
                    b(ldb * std::max(1, tb == CUBLAS_OP_N ? n : k)), c(ldc * n);
                const T alpha = value<T>(), beta = value<T>();
                for (const T &keep : {beta, zero}) {
                    if (keep == zero)
                        c.host.assign(c.host.size(), nan);
                    c.put();
                    std::vector<T> want = c.host;
                    for (int j = 0; j < n; j++)
                        for (int i = 0; i < m; i++) {
                            T sum = 0;
                            for (int l = 0; l < k; l++)
                                sum +=
                                    element(a.host, lda, ta, i, l) * element(b.host, ldb, tb, l, j);
                            T &to = want[i + j * ldc];
                            to = alpha * sum + (keep == zero ? zero : keep * to);
                        }
                    OK(blas<T>::gemm(h, ta, tb, m, n, k, as(&alpha), as(a.device), lda,
                                     as(b.device), ldb, as(&keep), as(c.device), ldc));
                    const std::vector<T> got = c.got();
                    bool right = true;
                    for (int j = 0; j < n; j++)
                        for (int i = 0; i < ldc; i++)
                            right &= i < m          ? got[i + j * ldc] == want[i + j * ldc]
                                     : keep == zero ? got[i + j * ldc] != got[i + j * ldc]
                                                    : got[i + j * ldc] == want[i + j * ldc];
                    CHECK(right);
                }
                /* gemv; y holds NaN, with a gap */
                array<T> x(2 * (m + n)), y(2 * (m + n));
                y.host.assign(y.host.size(), nan);
                y.put();
                const int ld = m + 1, rows = ta == CUBLAS_OP_N ? m : n,
                          cols = ta == CUBLAS_OP_N ? n : m;
                array<T> g(ld * n);
                OK(blas<T>::gemv(h, ta, m, n, as(&alpha), as(g.device), ld, as(x.device), 2,
                                 as(&zero), as(y.device), 2));
                const std::vector<T> got = y.got();
                for (int i = 0; i < rows; i++) {
                    T sum = 0;
                    for (int l = 0; l < cols; l++)
                        sum += element(g.host, ld, ta, i, l) * x.host[2 * l];
                    CHECK(got[2 * i] == alpha * sum && got[2 * i + 1] != got[2 * i + 1]);
                }
                /* geam: the sum of both, turned; alpha 0: A is not read */
                const int lea = (ta == CUBLAS_OP_N ? m : n) + 1,
                          leb = (tb == CUBLAS_OP_N ? m : n) + 2;
                array<T> p(lea * (m + n)), q(leb * (m + n)), r(m * n);
                OK(blas<T>::geam(h, ta, tb, m, n, as(&alpha), as(p.device), lea, as(&beta),
                                 as(q.device), leb, as(r.device), m));
                for (int j = 0; j < n; j++)
                    for (int i = 0; i < m; i++)
                        CHECK(r.got()[i + j * m] == alpha * element(p.host, lea, ta, i, j) +
                                                        beta * element(q.host, leb, tb, i, j));
                OK(blas<T>::geam(h, ta, tb, m, n, as(&zero), nullptr, lea, as(&one), as(q.device),
                                 leb, as(r.device), m));
            }

    /* Several at once, in steps and by their addresses. */
    const int m = 5, n = 4, k = 3, batches = 3;
    array<T> a(m * k * batches), b(k * n * batches), c(m * n * batches), d(m * n * batches);
    array<size_t> at_a(batches), at_b(batches), at_d(batches);
    for (int i = 0; i < batches; i++) {
        at_a.host[i] = reinterpret_cast<size_t>(a.device + i * m * k);
        at_b.host[i] = reinterpret_cast<size_t>(b.device + i * k * n);
        at_d.host[i] = reinterpret_cast<size_t>(d.device + i * m * n);
    }
    at_a.put(), at_b.put(), at_d.put();
    OK(blas<T>::strided(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, as(&one), as(a.device), m, m * k,
                        as(b.device), k, k * n, as(&zero), as(c.device), m, m * n, batches));
    OK(blas<T>::batched(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, as(&one),
                        reinterpret_cast<typename blas<T>::type **>(at_a.device), m,
                        reinterpret_cast<typename blas<T>::type **>(at_b.device), k, as(&zero),
                        reinterpret_cast<typename blas<T>::type **>(at_d.device), m, batches));
    const std::vector<T> strided = c.got(), batched = d.got();
    for (int i = 0; i < m * n * batches; i++) {
        const int p = i / (m * n), row = i % (m * n) % m, col = i % (m * n) / m;
        T sum = 0;
        for (int l = 0; l < k; l++)
            sum += a.host[p * m * k + row + l * m] * b.host[p * k * n + l + col * k];
        CHECK(strided[i] == sum && batched[i] == sum);
    }
}

/* Triangles, symmetric matrices, diagonals. */
template <class T>
static void triangles(cublasHandle_t h)
{
    const int m = 6, n = 5, k = 4, ldb = m + 1, ldc = m + 2;
    const T alpha = value<T>() + T(5), zero = 0, one = 1;
    for (cublasFillMode_t uplo : fills) {
        for (cublasSideMode_t side : sides) {
            const int o = side == CUBLAS_SIDE_LEFT ? m : n, lda = o + 1;
            array<T> a(lda * o), b(ldb * n), c(ldc * n);
            c.host.assign(c.host.size(), T(NAN));
            c.put();
            for (int i = 0; i < o; i++) /* quotients are exact */
                a.host[i + i * lda] = T(i % 2 ? 2 : -1);
            a.put();
            OK(blas<T>::symm(h, side, uplo, m, n, as(&alpha), as(a.device), lda, as(b.device), ldb,
                             as(&zero), as(c.device), ldc));
            std::vector<T> got = c.got();
            for (int j = 0; j < n; j++)
                for (int i = 0; i < m; i++) {
                    T sum = 0;
                    for (int l = 0; l < o; l++)
                        sum += side == CUBLAS_SIDE_LEFT
                                   ? symmetric(a.host, lda, uplo, i, l) * b.host[l + j * ldb]
                                   : b.host[i + l * ldb] * symmetric(a.host, lda, uplo, l, j);
                    CHECK(got[i + j * ldc] == alpha * sum);
                }
            for (cublasOperation_t op : ops)
                for (cublasDiagType_t diag : diags) {
                    OK(blas<T>::trmm(h, side, uplo, op, diag, m, n, as(&one), as(a.device), lda,
                                     as(b.device), ldb, as(c.device), ldc));
                    got = c.got();
                    for (int j = 0; j < n; j++)
                        for (int i = 0; i < m; i++) {
                            T sum = 0;
                            for (int l = 0; l < o; l++)
                                sum += side == CUBLAS_SIDE_LEFT
                                           ? triangular(a.host, lda, uplo, diag, op, i, l) *
                                                 b.host[l + j * ldb]
                                           : b.host[i + l * ldb] *
                                                 triangular(a.host, lda, uplo, diag, op, l, j);
                            CHECK(got[i + j * ldc] == sum);
                        }
                    /* and back */
                    OK(blas<T>::trsm(h, side, uplo, op, diag, m, n, as(&alpha), as(a.device), lda,
                                     as(c.device), ldc));
                    got = c.got();
                    for (int j = 0; j < n; j++)
                        for (int i = 0; i < m; i++)
                            CHECK(std::abs(got[i + j * ldc] - alpha * b.host[i + j * ldb]) < 1e-3);
                    array<T> x(2 * o);
                    OK(blas<T>::trmv(h, uplo, op, diag, o, as(a.device), lda, as(x.device), 2));
                    const std::vector<T> y = x.got();
                    for (int i = 0; i < o; i++) {
                        T sum = 0;
                        for (int l = 0; l < o; l++)
                            sum += triangular(a.host, lda, uplo, diag, op, i, l) * x.host[2 * l];
                        CHECK(y[2 * i] == sum);
                    }
                    OK(blas<T>::trsv(h, uplo, op, diag, o, as(a.device), lda, as(x.device), 2));
                    CHECK(std::abs(x.got()[2] - x.host[2]) < 1e-3);
                }
            array<T> v(3 * o), e(m * n);
            OK(blas<T>::dgmm(h, side, m, n, as(b.device), ldb, as(v.device), 3, as(e.device), m));
            for (int j = 0; j < n; j++)
                for (int i = 0; i < m; i++)
                    CHECK(e.got()[i + j * m] ==
                          b.host[i + j * ldb] * v.host[3 * (side == CUBLAS_SIDE_LEFT ? i : j)]);
#ifdef CPU_CUBLAS_V2_H /* no manual says what a GPU does */
            OK(blas<T>::dgmm(h, side, m, n, as(b.device), ldb, as(v.device), -3, as(e.device), m));
            for (int j = 0; j < n; j++) /* from the end */
                for (int i = 0; i < m; i++)
                    CHECK(e.got()[i + j * m] ==
                          b.host[i + j * ldb] *
                              v.host[3 * (o - 1 - (side == CUBLAS_SIDE_LEFT ? i : j))]);
#endif
        }
        for (cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
            const int lda = (op == CUBLAS_OP_N ? n : k) + 1;
            array<T> a(lda * (n + k)), c(n * n);
            OK(blas<T>::syrk(h, uplo, op, n, k, as(&alpha), as(a.device), lda, as(&one),
                             as(c.device), n));
            array<T> fresh(n * n); /* beta 0: NaN does not count, and the other triangle stays */
            fresh.host.assign(fresh.host.size(), T(NAN));
            fresh.put();
            OK(blas<T>::syrk(h, uplo, op, n, k, as(&alpha), as(a.device), lda, as(&zero),
                             as(fresh.device), n));
            const std::vector<T> got = c.got(), anew = fresh.got();
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++) {
                    T sum = 0;
                    for (int l = 0; l < k; l++)
                        sum += element(a.host, lda, op, i, l) * element(a.host, lda, op, j, l);
                    const bool there = uplo == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
                    CHECK(got[i + j * n] == c.host[i + j * n] + (there ? alpha * sum : zero));
                    CHECK(there ? anew[i + j * n] == alpha * sum
                                : anew[i + j * n] != anew[i + j * n]);
                }
        }
    }
}

/* L U of three matrices, the second of which has a column of zeros, is what they were. */
template <class T>
static void factors(cublasHandle_t h)
{
    const int n = 5, lda = n + 1, batches = 3, whole = lda * n;
    for (int pivoted = 0; pivoted < 2; pivoted++) {
        array<T> a(whole * batches);
        array<int> p(n * batches), info(batches);
        for (int b = 0; b < batches; b++)
            for (int j = 0; j < n; j++)
                if (!pivoted)
                    a.host[b * whole + j * lda + j] = T(40);
        for (int i = 0; i < n; i++) // the first of two columns is told
            a.host[whole + 2 * lda + i] = a.host[whole + 4 * lda + i] = T(0);
        if (!pivoted) // not the largest of its column, and no other takes its place
            a.host[1] = T(50);
        if (pivoted)
            a.host[0] = T(0);
        a.put();
        T *at[batches], **on_device;
        for (int b = 0; b < batches; b++)
            at[b] = a.device + b * whole;
        cudaMalloc(&on_device, sizeof at);
        cudaMemcpy(on_device, at, sizeof at, cudaMemcpyHostToDevice);
        typedef typename blas<T>::type type;
        OK(blas<T>::getrf(h, n, (type *const *)on_device, lda, pivoted ? p.device : nullptr,
                          info.device, batches));
        const std::vector<T> got = a.got();
        const std::vector<int> pivots = p.got(), zeros = info.got();
        for (int b = 0; b < batches; b++) {
            CHECK(zeros[b] == (b == 1 ? 3 : 0));
            std::vector<T> want(a.host.begin() + b * whole, a.host.begin() + (b + 1) * whole);
            for (int k = 0; pivoted && k < n; k++) {
                const int other = pivots[b * n + k] - 1;
                CHECK(other >= k && other < n);
                for (int j = 0; other >= k && other < n && j < n; j++)
                    std::swap(want[j * lda + k], want[j * lda + other]);
            }
            const T *f = &got[b * whole];
            int columns = n;
#ifndef CPU_CUBLAS_V2_H // what is behind the column of zeros is a GPU's own
            if (b == 1)
                columns = 3;
#endif
            for (int j = 0; j < columns; j++) {
                for (int i = 0; i < n; i++) {
                    T sum = 0;
                    for (int k = 0; k <= (i < j ? i : j); k++)
                        sum += (k == i ? T(1) : f[k * lda + i]) * f[j * lda + k];
                    CHECK(std::abs(sum - want[j * lda + i]) < 1e-3);
                    CHECK(!pivoted || i <= j || std::abs(f[j * lda + i]) < 1.42);
                }
                CHECK(f[j * lda + n] == want[j * lda + n]); /* between columns */
            }
        }
        cudaFree(on_device);
    }
    OK(blas<T>::getrf(h, 0, nullptr, 1, nullptr, nullptr, 3));
    CHECK(blas<T>::getrf(h, 4, nullptr, 3, nullptr, nullptr, 1) == CUBLAS_STATUS_INVALID_VALUE);
}

/* What is for real numbers alone. */
static void reals(cublasHandle_t h)
{
    const int m = 4, n = 3, lda = m + 1;
    array<double> a(lda * n), x(2 * m), y(n), s(m * m), z(m);
    const double alpha = 3, beta = -2, c = 0.6, sn = 0.8;
    OK(cublasDger(h, m, n, &alpha, x.device, 2, y.device, 1, a.device, lda));
    OK(cublasDsymv(h, CUBLAS_FILL_MODE_UPPER, m, &alpha, s.device, m, x.device, 2, &beta, z.device,
                   1));
    const std::vector<double> got = a.got(), sum = z.got();
    for (int i = 0; i < m; i++) {
        double want = beta * z.host[i];
        for (int j = 0; j < m; j++)
            want += alpha * symmetric(s.host, m, CUBLAS_FILL_MODE_UPPER, i, j) * x.host[2 * j];
        CHECK(sum[i] == want);
        for (int j = 0; j < n; j++)
            CHECK(got[i + j * lda] == a.host[i + j * lda] + alpha * x.host[2 * i] * y.host[j]);
    }
    OK(cublasDrot(h, n, x.device, 1, y.device, 1, &c, &sn));
    CHECK(std::abs(x.got()[1] - (c * x.host[1] + sn * y.host[1])) < 1e-12);
    CHECK(std::abs(y.got()[1] - (c * y.host[1] - sn * x.host[1])) < 1e-12);
    array<complex_f> u(m), v(n), w(m * n);
    const complex_f two(2, 1);
    OK(cublasCgerc(h, m, n, as(&two), as(u.device), 1, as(v.device), 1, as(w.device), m));
    CHECK(w.got()[1 + m] == w.host[1 + m] + two * u.host[1] * std::conj(v.host[1]));
    complex_f dot;
    OK(cublasCdotc(h, 1, as(u.device), 1, as(v.device), 1, as(&dot)));
    CHECK(dot == std::conj(u.host[0]) * v.host[0]);
}

/* 16 bits, with sums of 32; 8 bits, with sums of integers. */
template <class T>
static void narrow(cublasHandle_t h, cudaDataType type)
{
    const int m = 5, n = 6, k = 7;
    std::vector<T> a(m * k), b(k * n), c(m * n);
    for (auto *v : {&a, &b, &c})
        for (T &e : *v)
            e = T(float(draw()) + 0.125f * float(draw()));
    T *p, *q;
    float *wide;
    cudaMalloc(&p, (a.size() + b.size()) * sizeof(T));
    cudaMalloc(&q, c.size() * sizeof(T));
    cudaMalloc(&wide, c.size() * sizeof(float));
    cudaMemcpy(p, a.data(), a.size() * sizeof(T), cudaMemcpyHostToDevice);
    cudaMemcpy(p + m * k, b.data(), b.size() * sizeof(T), cudaMemcpyHostToDevice);
    cudaMemcpy(q, c.data(), c.size() * sizeof(T), cudaMemcpyHostToDevice);
    const float alpha = 0.5f, beta = 2, zero = 0;
    OK(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, p, type, m, p + m * k, type, k,
                    &beta, q, type, m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT_TENSOR_OP));
    OK(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, p, type, m, p + m * k, type, k,
                    &zero, wide, CUDA_R_32F, m, CUDA_R_32F, CUBLAS_GEMM_DEFAULT));
    std::vector<T> got(m * n);
    std::vector<float> got_wide(m * n);
    cudaMemcpy(got.data(), q, m * n * sizeof(T), cudaMemcpyDeviceToHost);
    cudaMemcpy(got_wide.data(), wide, m * n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < m * n; i++) {
        float sum = 0;
        for (int l = 0; l < k; l++)
            sum += float(a[i % m + l * m]) * float(b[l + i / m * k]);
        CHECK(float(got[i]) == float(T(alpha * sum + beta * float(c[i]))));
        CHECK(got_wide[i] == alpha * sum);
    }
    cudaFree(p), cudaFree(q), cudaFree(wide);
}
static void halves(cublasHandle_t h)
{
    narrow<__half>(h, CUDA_R_16F);
    narrow<__nv_bfloat16>(h, CUDA_R_16BF);
    const __half one(1.0f), zero(0.0f);
    __half *p, v[3] = {__half(3.0f), __half(0.5f), __half(-1.0f)};
    cudaMalloc(&p, sizeof v);
    cudaMemcpy(p, v, sizeof v, cudaMemcpyHostToDevice);
    OK(cublasHgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, p, 1, p + 1, 1, &zero, p + 2, 1));
    cudaMemcpy(v, p, sizeof v, cudaMemcpyDeviceToHost);
    CHECK(float(v[2]) == 1.5f);
    __half dot;
    OK(cublasDotEx(h, 2, p, CUDA_R_16F, 1, p, CUDA_R_16F, -1, &dot, CUDA_R_16F, CUDA_R_32F));
    CHECK(float(dot) == 3.0f);
    OK(cublasDotEx(h, 3, p, CUDA_R_16F, 1, p, CUDA_R_16F, 1, &dot, CUDA_R_16F, CUDA_R_32F));
    CHECK(float(dot) == 11.5f);
    CHECK(cublasDotEx(h, 3, p, CUDA_R_16F, 1, p, CUDA_R_16F, 1, &dot, CUDA_R_16F, CUDA_R_16F) ==
          CUBLAS_STATUS_NOT_SUPPORTED);
    cudaFree(p);

    /* Multiples of 4, as a GPU wants them. */
    const int n = 8;
    std::vector<signed char> a(n * n), b(n * n);
    for (int i = 0; i < n * n; i++)
        a[i] = (signed char)(i * 5), b[i] = (signed char)(i * 7);
    signed char *q;
    int *sum, got[n * n];
    const int two = 2, none = 0;
    cudaMalloc(&q, 2 * n * n);
    cudaMalloc(&sum, sizeof got);
    cudaMemcpy(q, a.data(), n * n, cudaMemcpyHostToDevice);
    cudaMemcpy(q + n * n, b.data(), n * n, cudaMemcpyHostToDevice);
    OK(cublasGemmEx(h, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &two, q, CUDA_R_8I, n, q + n * n,
                    CUDA_R_8I, n, &none, sum, CUDA_R_32I, n, CUBLAS_COMPUTE_32I,
                    CUBLAS_GEMM_DEFAULT));
    cudaMemcpy(got, sum, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n * n; i++) {
        int want = 0;
        for (int l = 0; l < n; l++)
            want += a[l + i % n * n] * b[l + i / n * n];
        CHECK(got[i] == 2 * want);
    }
    OK(cublasGemmEx(h, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &two, q, CUDA_R_8I, n, q + n * n,
                    CUDA_R_8I, n, &two, sum, CUDA_R_32I, n, CUBLAS_COMPUTE_32I,
                    CUBLAS_GEMM_DEFAULT)); /* and twice what is there */
    int more[n * n];
    cudaMemcpy(more, sum, sizeof more, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n * n; i++)
        CHECK(more[i] == 3 * got[i]);
    CHECK(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &two, q, CUDA_R_8I, n, q, CUDA_R_16F,
                       n, &none, sum, CUDA_R_32I, n, CUBLAS_COMPUTE_32I,
                       CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS);
    cudaFree(q), cudaFree(sum);
}

static void arguments(cublasHandle_t h)
{
    const cublasStatus_t invalid = CUBLAS_STATUS_INVALID_VALUE;
    const float one = 1;
    array<float> a(16);
    float *p = a.device;
    CHECK(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, -1, 2, 2, &one, p, 2, p, 2, &one, p, 2) ==
          invalid);
    CHECK(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 4, 2, 2, &one, p, 3, p, 2, &one, p, 4) ==
          invalid);
    CHECK(cublasSgemm(h, CUBLAS_OP_T, CUBLAS_OP_N, 4, 2, 2, &one, p, 1, p, 2, &one, p, 4) ==
          invalid);
    CHECK(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_T, 2, 4, 2, &one, p, 2, p, 3, &one, p, 2) ==
          invalid);
    CHECK(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 4, 2, 2, &one, p, 4, p, 2, &one, p, 3) ==
          invalid);
    CHECK(cublasSgemv(h, CUBLAS_OP_N, 4, 4, &one, p, 3, p, 1, &one, p, 1) == invalid);
#ifdef CPU_CUBLAS_V2_H // its documents refuse it, a GPU does not
    CHECK(cublasSgemv(h, CUBLAS_OP_N, 4, 4, &one, p, 4, p, 0, &one, p, 1) == invalid);
#endif
    CHECK(cublasCreate(nullptr) != CUBLAS_STATUS_SUCCESS);
    OK(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 0, 2, 2, &one, p, 1, p, 2, &one, p, 1));
    int version = 0;
    cublasMath_t mode;
    OK(cublasGetVersion(h, &version));
    OK(cublasSetMathMode(h, CUBLAS_TF32_TENSOR_OP_MATH));
    OK(cublasGetMathMode(h, &mode));
    OK(cublasSetMathMode(h, CUBLAS_DEFAULT_MATH));
    CHECK(version >= 120000 && mode == CUBLAS_TF32_TENSOR_OP_MATH);

    /* Copies of columns and of vectors with gaps. */
    array<float> b(30);
    std::vector<float> got(30, 9);
    OK(cublasSetMatrix(3, 4, sizeof(float), a.host.data(), 4, b.device, 5));
    OK(cublasGetMatrix(3, 4, sizeof(float), b.device, 5, got.data(), 3));
    for (int i = 0; i < 12; i++)
        CHECK(got[i] == a.host[i % 3 + i / 3 * 4]);
#ifdef CPU_CUBLAS_V2_H /* a GPU may say it otherwise */
    CHECK(cublasSetMatrix(3, 4, sizeof(float), a.host.data(), 4, b.device, 2) == invalid);
    CHECK(cublasSetMatrix(3, 4, sizeof(float), a.host.data(), 2, b.device, 5) == invalid);
#endif
    OK(cublasSetVector(4, sizeof(float), a.host.data(), 2, b.device, 3));
    CHECK(b.got()[9] == a.host[6]);
}

/* A call is captured with its scalars, and runs when the graph does. */
static void capture(cublasHandle_t h)
{
    array<float> x(4), y(4);
    float alpha = 2;
    cudaStream_t stream, same;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCreate(&stream);
    OK(cublasSetStream(h, stream));
    OK(cublasGetStream(h, &same));
    CHECK(same == stream);
    CHECK_ERROR(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    OK(cublasSaxpy(h, 4, &alpha, x.device, 1, y.device, 1));
    CHECK_ERROR(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    alpha = 100;
    CHECK(y.got() == y.host);
    CHECK_ERROR(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    cudaGraphLaunch(exec, stream);
    cudaGraphLaunch(exec, stream);
    CHECK_ERROR(cudaStreamSynchronize(stream), cudaSuccess);
    for (int i = 0; i < 4; i++)
        CHECK(y.got()[i] == y.host[i] + 4 * x.host[i]);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);

    /* A scalar on the device is what it is when the graph runs. */
    array<float> scalar(1);
    const float three = 3;
    y.put();
    OK(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE));
    CHECK_ERROR(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    OK(cublasSaxpy(h, 4, scalar.device, x.device, 1, y.device, 1));
    CHECK_ERROR(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    OK(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST));
    cudaMemcpy(scalar.device, &three, sizeof three, cudaMemcpyHostToDevice);
    CHECK_ERROR(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    cudaGraphLaunch(exec, stream);
    CHECK_ERROR(cudaStreamSynchronize(stream), cudaSuccess);
    for (int i = 0; i < 4; i++)
        CHECK(y.got()[i] == y.host[i] + 3 * x.host[i]);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    OK(cublasSetStream(h, nullptr));
    cudaStreamDestroy(stream);
}

/* Sizes and distances are multiples of 8, as a GPU wants them of 16-bit numbers. */
struct matmul {
    static const int m = 16, n = 8, k = 24, ld = 32, batches = 2, apart = ld * k;
    cublasLtHandle_t lt;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, c, d;
    template <class V>
    cublasStatus_t set(cublasLtMatmulDescAttributes_t attribute, V v)
    {
        return cublasLtMatmulDescSetAttribute(desc, attribute, &v, sizeof v);
    }
    cublasLtMatrixLayout_t layout(cudaDataType type, int rows, int columns, int leading)
    {
        cublasLtMatrixLayout_t l;
        const int32_t count = batches;
        const int64_t stride = apart;
        OK(cublasLtMatrixLayoutCreate(&l, type, rows, columns, leading));
        OK(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                            sizeof count));
        OK(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                            sizeof stride));
        return l;
    }
    matmul(cudaDataType type, cudaDataType out, cublasOperation_t transa, cublasOperation_t transb,
           cublasComputeType_t compute = CUBLAS_COMPUTE_32F, cudaDataType scale = CUDA_R_32F)
    {
        OK(cublasLtCreate(&lt));
        OK(cublasLtMatmulDescCreate(&desc, compute, scale));
        OK(set(CUBLASLT_MATMUL_DESC_TRANSA, transa));
        OK(set(CUBLASLT_MATMUL_DESC_TRANSB, transb));
        a = transa ? layout(type, k, m, ld) : layout(type, m, k, ld);
        b = transb ? layout(type, n, k, ld) : layout(type, k, n, ld);
        c = layout(out, m, n, ld - 8), d = layout(out, m, n, ld);
    }
    cublasStatus_t heuristic(int *found)
    {
        cublasLtMatmulPreference_t preference;
        cublasLtMatmulHeuristicResult_t result;
        const uint64_t bytes = 0;
        OK(cublasLtMatmulPreferenceCreate(&preference));
        OK(cublasLtMatmulPreferenceSetAttribute(
            preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes));
        const cublasStatus_t status =
            cublasLtMatmulAlgoGetHeuristic(lt, desc, a, b, c, d, preference, 1, &result, found);
        OK(cublasLtMatmulPreferenceDestroy(preference));
        return status;
    }
    ~matmul()
    {
        OK(cublasLtMatrixLayoutDestroy(a));
        OK(cublasLtMatrixLayoutDestroy(b));
        OK(cublasLtMatrixLayoutDestroy(c));
        OK(cublasLtMatrixLayoutDestroy(d));
        OK(cublasLtMatmulDescDestroy(desc));
        OK(cublasLtDestroy(lt));
    }
};

/* Every form of operands, each with each epilogue. */
template <class T, class Out, class Scale = float>
static void matmuls(cudaDataType type, cudaDataType out,
                    cublasComputeType_t compute = CUBLAS_COMPUTE_32F,
                    cudaDataType scale = CUDA_R_32F)
{
    typedef matmul M;
    const Scale alpha_there = 0.5f, beta_there = 2.0f;
    const float alpha = 0.5f, beta = 2;
    const cublasLtEpilogue_t epilogues[] = {
        CUBLASLT_EPILOGUE_DEFAULT,   CUBLASLT_EPILOGUE_RELU,         CUBLASLT_EPILOGUE_BIAS,
        CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU,         CUBLASLT_EPILOGUE_GELU_BIAS,
        CUBLASLT_EPILOGUE_GELU_AUX,  CUBLASLT_EPILOGUE_GELU_AUX_BIAS};
    array<T> a(2 * M::apart), b(2 * M::apart);
    array<Out> c(2 * M::apart), d(2 * M::apart), aux(2 * M::apart), bias(2 * M::m);
    for (int form = 0; form < 4; form++)
        for (const cublasLtEpilogue_t epilogue : epilogues) {
            const bool ta = form & 1, tb = form & 2;
            M p(type, out, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, compute,
                scale);
            OK(p.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue));
            // A GPU refuses what the epilogue has no use for.
            if (epilogue & CUBLASLT_EPILOGUE_BIAS) {
                OK(p.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.device));
                OK(p.set(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, int64_t(M::m)));
            }
            if (epilogue & 128) {
                OK(p.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux.device));
                OK(p.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t(M::ld)));
                OK(p.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, int64_t(M::apart)));
            }
            d.put(), aux.put();
            OK(cublasLtMatmul(p.lt, p.desc, &alpha_there, a.device, p.a, b.device, p.b, &beta_there,
                              c.device, p.c, d.device, p.d, nullptr, nullptr, 0, nullptr));
            const std::vector<Out> got = d.got(), before = aux.got();
            int wrong = 0;
            for (int at = 0; at < 2 * M::apart; at++) {
                const int batch = at / M::apart, i = at % M::apart % M::ld,
                          j = at % M::apart / M::ld;
                if (i >= M::m || j >= M::n) {
                    wrong += float(got[at]) != float(d.host[at]);
                    continue;
                }
                const T *x = &a.host[batch * M::apart], *y = &b.host[batch * M::apart];
                float sum = beta * float(c.host[batch * M::apart + i + j * (M::ld - 8)]);
                for (int l = 0; l < M::k; l++)
                    sum += alpha * float(x[ta ? l + i * M::ld : i + l * M::ld]) *
                           float(y[tb ? j + l * M::ld : l + j * M::ld]);
                if (epilogue & CUBLASLT_EPILOGUE_BIAS)
                    sum += float(bias.host[batch * M::m + i]);
                const bool gelu = epilogue & CUBLASLT_EPILOGUE_GELU;
                const float kept = epilogue & 128 ? float(Out(sum)) : float(aux.host[at]);
                wrong += float(before[at]) != kept;
                float want = sum;
                if (gelu)
                    want = 0.5f * sum *
                           (1 + std::tanh(std::sqrt(2 / 3.14159265f) *
                                          (sum + 0.044715f * sum * sum * sum)));
                else if (epilogue & CUBLASLT_EPILOGUE_RELU)
                    want = std::max(sum, 0.0f);
                const float room = gelu ? (sizeof(Out) == 4 ? 1e-5f : 0.01f) : 0;
                wrong += !(std::fabs(float(got[at]) - float(Out(want))) <=
                           room * std::max(1.0f, std::fabs(want)));
            }
            CHECK(wrong == 0);
        }
}

/* What a matmul refuses, the heuristic does too. */
static void refusals()
{
    const float one = 1;
    array<float> x(2 * matmul::apart);
    int found = -1;
    const auto both = [&](matmul &p, cublasStatus_t want) {
        CHECK(p.heuristic(&found) == want && (want != CUBLAS_STATUS_SUCCESS || found == 1));
        CHECK(cublasLtMatmul(p.lt, p.desc, &one, x.device, p.a, x.device, p.b, &one, x.device, p.c,
                             x.device, p.d, nullptr, nullptr, 0, nullptr) != CUBLAS_STATUS_SUCCESS);
    };
    const cublasOperation_t N = CUBLAS_OP_N;
    matmul p(CUDA_R_32F, CUDA_R_32F, N, N);
    both(p, CUBLAS_STATUS_SUCCESS); /* but C is D, and they are described differently */
    OK(p.set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T));
    both(p, CUBLAS_STATUS_INVALID_VALUE);
    OK(p.set(CUBLASLT_MATMUL_DESC_TRANSA, N));
    CHECK(p.set(CUBLASLT_MATMUL_DESC_TRANSA, int64_t(0)) == CUBLAS_STATUS_INVALID_VALUE);
    OK(p.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DGELU));
    OK(p.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t(matmul::ld)));
#ifdef CPU_CUBLASLT_H /* a GPU does these */
    both(p, CUBLAS_STATUS_NOT_SUPPORTED);
    OK(p.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT));
    const int32_t row = CUBLASLT_ORDER_ROW;
    OK(cublasLtMatrixLayoutSetAttribute(p.a, CUBLASLT_MATRIX_LAYOUT_ORDER, &row, sizeof row));
    both(p, CUBLAS_STATUS_NOT_SUPPORTED);
    matmul doubles(CUDA_R_64F, CUDA_R_64F, N, N);
    both(doubles, CUBLAS_STATUS_NOT_SUPPORTED);
#endif
}

/* Products of matrices in the host's memory, and of one on the device. */
static void products_of_host()
{
    cublasXtHandle_t h;
    int device = 0, block = 0;
    OK(cublasXtCreate(&h));
    OK(cublasXtDeviceSelect(h, 1, &device));
    OK(cublasXtSetBlockDim(h, 64));
    OK(cublasXtGetBlockDim(h, &block));
    CHECK(block == 64);
    const float alpha = 2, beta = 1, a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, 1, 1};
    float c[6] = {1, 1, 9, 1, 1, 9}, *d, back[6];
    OK(cublasXtSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &alpha, a, 2, b, 3, &beta, c, 3));
    CHECK(c[0] == 3 && c[1] == 5 && c[2] == 9 && c[3] == 19 && c[4] == 25 && c[5] == 9);
    cudaMalloc(&d, sizeof c);
    cudaMemcpy(d, c, sizeof c, cudaMemcpyHostToDevice);
    OK(cublasXtSgemm(h, CUBLAS_OP_T, CUBLAS_OP_T, 2, 2, 3, &alpha, a, 3, b, 2, &beta, d, 3));
    cudaMemcpy(back, d, sizeof c, cudaMemcpyDeviceToHost);
    CHECK(back[0] == 11 && back[1] == 25 && back[2] == 9 && back[3] == 29 && back[4] == 47);
    cudaFree(d);
    OK(cublasXtDestroy(h));
}

int main()
{
    cublasHandle_t h;
    OK(cublasCreate(&h));
    vectors<float>(h);
    vectors<double>(h);
    vectors<complex_f>(h);
    vectors<complex_d>(h);
    matrices<float>(h);
    matrices<double>(h);
    matrices<complex_f>(h);
    matrices<complex_d>(h);
    triangles<float>(h);
    triangles<double>(h);
    triangles<complex_f>(h);
    triangles<complex_d>(h);
    factors<float>(h);
    factors<double>(h);
    factors<complex_f>(h);
    factors<complex_d>(h);
    reals(h);
    halves(h);
    arguments(h);
    capture(h);
    matmuls<float, float>(CUDA_R_32F, CUDA_R_32F);
    matmuls<__half, __half>(CUDA_R_16F, CUDA_R_16F);
    matmuls<__nv_bfloat16, __nv_bfloat16>(CUDA_R_16BF, CUDA_R_16BF);
    matmuls<__nv_bfloat16, float>(CUDA_R_16BF, CUDA_R_32F);
#ifdef CPU_CUBLASLT_H /* a GPU adds these in halves, and rounds each sum */
    matmuls<__half, __half, __half>(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, CUDA_R_16F);
#endif
    refusals();
    products_of_host();
    OK(cublasDestroy(h));
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    return check_result();
}
