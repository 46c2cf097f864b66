/* nvcuda::wmma: every shape, type and layout against sums of the host's, fragments that are changed
 * element by element, sums that are more than an int holds. And products of bytes that only inline
 * PTX has. */
#include "check.h"

#include <cstdint>
#include <cstring>
#include <mma.h>
#include <type_traits>
#include <vector>

using namespace nvcuda;

template <class T>
struct number {
    typedef T type;
};
template <>
struct number<wmma::precision::tf32> {
    typedef float type;
};

/* D = 2 A B + C, in each of a block's warps; all but the product element by element. */
template <int m, int n, int k, class T, class Sum, class LayoutA, class LayoutB>
__global__ void product(const typename number<T>::type *a, const typename number<T>::type *b,
                        const Sum *c, Sum *d, int lda, int ldb, int ldc, wmma::layout_t layout)
{
    wmma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> fb;
    wmma::fragment<wmma::accumulator, m, n, k, Sum> fc, sum;
    wmma::fill_fragment(sum, (Sum)0);
    wmma::load_matrix_sync(fa, a, lda);
    wmma::load_matrix_sync(fb, b, ldb);
    wmma::load_matrix_sync(fc, c, ldc, layout);
    if constexpr (std::is_same<T, wmma::precision::tf32>::value) {
        for (int i = 0; i < fa.num_elements; i++)
            fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
        for (int i = 0; i < fb.num_elements; i++)
            fb.x[i] = wmma::__float_to_tf32(fb.x[i]);
    }
    for (int round = 0; round < 2; round++)
        wmma::mma_sync(sum, fa, fb, sum);
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] = sum.x[i] + fc.x[i];
    wmma::store_matrix_sync(d + threadIdx.y / 4 * m * n * 2, fc, ldc, layout);
}

static int seed = 1;

// Small whole numbers, so that each sum is exact in each type.
template <class T>
static T draw()
{
    seed = seed * 1103515245 + 12345;
    const int v = (seed >> 16 & 7) - (std::is_same<T, unsigned char>::value ? 0 : 3);
    return (T)(float)v;
}

template <int m, int n, int k, class T, class Sum, class LayoutA, class LayoutB>
static void compare(bool by_rows)
{
    typedef typename number<T>::type value;
    const bool rows_a = std::is_same<LayoutA, wmma::row_major>::value;
    const bool rows_b = std::is_same<LayoutB, wmma::row_major>::value;
    const int lda = rows_a ? 32 : 48, ldb = rows_b ? 48 : 32, ldc = by_rows ? n : m;
    const int warps = 2, room = m * n * 2;
    value *a, *b;
    Sum *c, *d;
    cudaMallocManaged(&a, 64 * 64 * sizeof *a);
    cudaMallocManaged(&b, 64 * 64 * sizeof *b);
    cudaMallocManaged(&c, room * sizeof *c);
    cudaMallocManaged(&d, warps * room * sizeof *d);
    for (int i = 0; i < 64 * 64; i++)
        a[i] = draw<value>(), b[i] = draw<value>();
    for (int i = 0; i < room; i++)
        c[i] = draw<Sum>();
    product<m, n, k, T, Sum, LayoutA, LayoutB><<<1, dim3(8, 4 * warps)>>>(
        a, b, c, d, lda, ldb, ldc, by_rows ? wmma::mem_row_major : wmma::mem_col_major);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    int wrong = 0;
    for (int warp = 0; warp < warps; warp++)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int l = 0; l < k; l++)
                    sum += (double)(float)a[rows_a ? i * lda + l : l * lda + i] *
                           (double)(float)b[rows_b ? l * ldb + j : j * ldb + l];
                const int at = by_rows ? i * ldc + j : j * ldc + i;
                wrong += (double)(float)d[warp * room + at] != 2 * sum + (double)(float)c[at];
            }
    if (wrong)
        printf("%s: %d elements wrong\n", __PRETTY_FUNCTION__, wrong);
    CHECK(wrong == 0);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFree(d);
}

/* Each operand in either layout; with `all` also with each of the other's. */
template <int m, int n, int k, class T, class Sum, bool all>
static void layouts()
{
    for (bool by_rows : {false, true}) {
        compare<m, n, k, T, Sum, wmma::row_major, wmma::col_major>(by_rows);
        compare<m, n, k, T, Sum, wmma::col_major, wmma::row_major>(by_rows);
        if constexpr (all) {
            compare<m, n, k, T, Sum, wmma::row_major, wmma::row_major>(by_rows);
            compare<m, n, k, T, Sum, wmma::col_major, wmma::col_major>(by_rows);
        }
    }
}

template <class T, class Sum, bool all>
static void shapes()
{
    layouts<16, 16, 16, T, Sum, all>();
    layouts<32, 8, 16, T, Sum, all>();
    layouts<8, 32, 16, T, Sum, all>();
}

// What a fragment of a type has of elements is told by its class, as it is on a GPU.
template <class Fragment, int elements>
static void has()
{
    CHECK(Fragment::num_elements == elements);
}

// 16 products of -128 and v, and a sum.
__global__ void ends(int *out, int v, int sum, bool saturates)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> c;
    wmma::fill_fragment(a, (signed char)-128);
    wmma::fill_fragment(b, (signed char)v);
    wmma::fill_fragment(c, sum);
    if (saturates)
        wmma::mma_sync(c, a, b, c, true);
    else
        wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}

__global__ void rounded(const float *in, float *out)
{
    out[threadIdx.x] = wmma::__float_to_tf32(in[threadIdx.x]);
}

/* 16 by 8 by 32, either operand signed or not. A lies there by rows, B by columns. */
#define BYTES(types)                                                                               \
    asm("mma.sync.aligned.m16n8k32.row.col.s32." types ".s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, " \
        "{%8, %9}, {%0, %1, %2, %3};"                                                              \
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                                           \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
__global__ void bytes(const unsigned *x, const unsigned *y, int *out, bool signed_a, bool signed_b)
{
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    unsigned a[4], b[2];
    int c[4];
    for (int p = 0; p < 4; p++) {
        a[p] = x[(g + p % 2 * 8) * 8 + p / 2 * 4 + t];
        c[p] = out[(g + p / 2 * 8) * 8 + t * 2 + p % 2];
    }
    for (int p = 0; p < 2; p++)
        b[p] = y[g * 8 + p * 4 + t];
    if (signed_a && signed_b)
        BYTES("s8.s8");
    else if (signed_a)
        BYTES("s8.u8");
    else if (signed_b)
        BYTES("u8.s8");
    else
        BYTES("u8.u8");
    for (int p = 0; p < 4; p++)
        out[(g + p / 2 * 8) * 8 + t * 2 + p % 2] = c[p];
}

static void test_bytes()
{
    unsigned char *a, *b;
    int *d;
    cudaMallocManaged(&a, 16 * 32);
    cudaMallocManaged(&b, 8 * 32);
    cudaMallocManaged(&d, 16 * 8 * sizeof *d);
    for (int i = 0; i < 16 * 32; i++)
        a[i] = i * i % 251 + i % 5;
    for (int i = 0; i < 8 * 32; i++)
        b[i] = i * i % 241 + i % 7;
    for (int signs = 0; signs < 4; signs++) {
        for (int i = 0; i < 16 * 8; i++)
            d[i] = i - 50;
        bytes<<<1, 32>>>((unsigned *)a, (unsigned *)b, d, signs & 1, signs & 2);
        CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
        int wrong = 0;
        for (int i = 0; i < 16 * 8; i++) {
            int sum = i - 50;
            for (int l = 0; l < 32; l++) {
                const int x = a[i / 8 * 32 + l], y = b[i % 8 * 32 + l];
                sum += (signs & 1 ? (signed char)x : x) * (signs & 2 ? (signed char)y : y);
            }
            wrong += d[i] != sum;
        }
        CHECK(wrong == 0);
    }
    cudaFree(a);
    cudaFree(b);
    cudaFree(d);
}

int main()
{
    shapes<half, float, true>();
    shapes<half, half, false>();
    shapes<__nv_bfloat16, float, false>();
    shapes<signed char, int, false>();
    shapes<unsigned char, int, false>();
    layouts<16, 16, 8, wmma::precision::tf32, float, true>();
    layouts<8, 8, 4, double, double, true>();

    using namespace nvcuda::wmma;
    has<fragment<matrix_a, 16, 16, 16, half, row_major>, 16>();
    has<fragment<matrix_b, 32, 8, 16, half, row_major>, 16>();
    has<fragment<matrix_b, 32, 8, 16, __nv_bfloat16, row_major>, 4>();
    has<fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major>, 8>();
    has<fragment<matrix_a, 8, 32, 16, signed char, row_major>, 4>();
    has<fragment<matrix_b, 8, 32, 16, signed char, row_major>, 16>();
    has<fragment<matrix_a, 16, 16, 8, precision::tf32, row_major>, 4>();
    has<fragment<matrix_a, 8, 8, 4, double, row_major>, 1>();
    has<fragment<accumulator, 8, 8, 4, double>, 2>();
    has<fragment<accumulator, 32, 8, 16, float>, 8>();

    int *out;
    cudaMallocManaged(&out, 256 * sizeof *out);
    const int most = 16 * 128 * 128, least = -16 * 128 * 127;
    struct row {
        int v, sum;
        bool saturates;
        int want;
    };
    for (const row &r :
         {row{-128, INT32_MAX, false, INT32_MIN + most - 1}, row{-128, INT32_MAX, true, INT32_MAX},
          row{127, INT32_MIN, true, INT32_MIN}, row{127, INT32_MIN, false, INT32_MAX + least + 1},
          row{127, -5, true, least - 5}, row{-128, -5, true, most - 5}}) {
        ends<<<1, 32>>>(out, r.v, r.sum, r.saturates);
        CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
        CHECK(out[0] == r.want && out[255] == r.want);
    }
    cudaFree(out);

    const uint32_t bits[] = {0x3f800fff, 0x3f801000, 0xbf801000, 0x7f7fffff, 0x7f800000,
                             0x00001000, 0x7fc00001, 0x7fffffff, 0xff800001};
    const uint32_t want[] = {0x3f800000, 0x3f802000, 0xbf802000, 0x7f800000, 0x7f800000,
                             0x00002000, 0x7fc00000, 0x7fffe000, 0xff800000};
    float *real;
    cudaMallocManaged(&real, 64 * sizeof *real);
    memcpy(real, bits, sizeof bits);
    rounded<<<1, 9>>>(real, real + 32);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(memcmp(real + 32, want, sizeof want) == 0);
    cudaFree(real);
    test_bytes();
    return check_result();
}
