/* nvcuda::wmma: matrices in fragments, over mma of inline PTX.
 *
 * CUDA does not specify which lane has which element. Here the layout is that of mma, which
 * takes 16 rows of one operand and 8 columns of the other. For 8x32x16 the operand with the rows
 * is B, and everything is transposed. A fragment has as many elements as on a GPU. If these are
 * more than the matrix has, as for A and B in half, the first elements are in the layout of mma,
 * and the others are copies of them. */
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

/* Fragments are registers: copying them to and from a statement's operands is no memory access. */
#define CPU_REGISTERS __attribute__((no_sanitize("thread")))

namespace nvcuda
{
namespace wmma
{
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision
{
struct tf32;
}

namespace cpu
{
template <class T>
struct storage {
    typedef T type;
};
template <>
struct storage<precision::tf32> {
    typedef float type;
};
template <class Use>
constexpr bool is_sum = std::is_same<Use, accumulator>::value;

template <class T>
constexpr bool is_16 = std::is_same<T, __half>::value || std::is_same<T, __nv_bfloat16>::value;
template <class T>
constexpr bool is_8 = std::is_same<T, signed char>::value || std::is_same<T, unsigned char>::value;

/* True if wmma has operands, or sums, of this shape and type. */
template <class Use, int m, int n, int k, class T>
constexpr bool exists()
{
    const bool square = m == 16 && n == 16, uneven = (m == 32 && n == 8) || (m == 8 && n == 32);
    if (is_sum<Use>)
        return (k == 16 && (square || uneven) &&
                (std::is_same<T, float>::value || std::is_same<T, __half>::value ||
                 std::is_same<T, int>::value)) ||
               (square && k == 8 && std::is_same<T, float>::value) ||
               (m == 8 && n == 8 && k == 4 && std::is_same<T, double>::value);
    return (k == 16 && (square || uneven) && (is_16<T> || is_8<T>)) ||
           (square && k == 8 && std::is_same<T, precision::tf32>::value) ||
           (m == 8 && n == 8 && k == 4 && std::is_same<T, double>::value);
}

/* The tiles of a fragment: 16 by k of A, k by 8 of B, or 16 by 8 of sums. */
template <class Use, int m, int n, int k, class T>
struct shape {
    static constexpr bool turned = m == 8 && n == 32, wide = std::is_same<T, double>::value;
    static constexpr bool is_a = std::is_same<Use, matrix_a>::value, has_rows = is_a != turned;
    static constexpr int rows = turned ? n : m, columns = turned ? m : n;
    static constexpr int tall = wide ? 8 : 16; /* rows of a tile of A or of sums */
    static constexpr int tiles = is_sum<Use> ? rows / tall * (columns / 8)
                                 : has_rows  ? rows / tall
                                             : columns / 8;
    /* The elements of a lane in a tile, and how many of these are adjacent. */
    static constexpr int in_tile = (is_sum<Use> ? tall * 8 : has_rows ? tall * k : k * 8) / 32;
    static constexpr int together = is_sum<Use> ? 2 : is_8<T> ? 4 : is_16<T> ? 2 : 1;
    static constexpr int elements = tiles * in_tile;
    static constexpr int copies =
        !is_sum<Use> && std::is_same<T, __half>::value ? 16 / elements : 1;

    /* The position of element i of a lane in the matrix, as the user sees it. */
    static void find(int i, int lane, int *row, int *column)
    {
        const int tile = i / in_tile, e = i % in_tile, part = e / together;
        const int g = lane / 4, t = lane % 4;
        int r, c;
        if (is_sum<Use>) {
            r = tile / (columns / 8) * tall + g + part * 8;
            c = tile % (columns / 8) * 8 + t * 2 + e % 2;
        } else if (has_rows) {
            r = tile * tall + g + (wide ? 0 : part % 2 * 8);
            c = (wide ? 0 : part / 2 * 4 * together) + t * together + e % together;
        } else {
            r = (part * 4 + t) * together + e % together;
            c = tile * 8 + g;
        }
        *row = turned ? c : r;
        *column = turned ? r : c;
    }
};
} // namespace cpu

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment
{
    static_assert(cpu::exists<Use, m, n, k, T>(), "wmma has no such fragment on the CPU backend");
    static_assert(cpu::is_sum<Use> == std::is_same<Layout, void>::value,
                  "fragments of A and B are row_major or col_major, an accumulator is neither");

  public:
    typedef T element_type;
    typedef typename cpu::storage<T>::type storage_element_type;
    static constexpr int num_elements =
        cpu::shape<Use, m, n, k, T>::elements * cpu::shape<Use, m, n, k, T>::copies;
    static constexpr int num_storage_elements = num_elements;
    storage_element_type x[num_elements];
};

namespace cpu
{
inline int lane()
{
    return (int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32);
}

template <size_t bytes>
struct word : cpu_word<bytes> {
};
template <>
struct word<1> {
    typedef uint8_t type;
};
struct word_16 {
    uint64_t half[2];
};
template <>
struct word<16> {
    typedef word_16 type;
};

/* Elements i to i + n - 1 of a fragment, and of all copies of them. */
template <int n, class F, class W>
CPU_REGISTERS __attribute__((noinline)) void put(F &f, int i, int elements, W bits)
{
    for (int at = i; at < F::num_elements; at += elements)
        __builtin_memcpy((void *)&f.x[at], &bits, n * sizeof f.x[0]);
}
template <int n, class F>
CPU_REGISTERS __attribute__((noinline)) typename word<n * sizeof(F::x[0])>::type get(const F &f,
                                                                                     int i)
{
    typename word<n * sizeof(F::x[0])>::type bits;
    __builtin_memcpy(&bits, (const void *)&f.x[i], sizeof bits);
    return bits;
}

template <class T>
inline void check_place(const T *p, unsigned ld, const char *what, const char *file, int line)
{
    if ((uintptr_t)p % 16 || ld * sizeof(T) % 16)
        cpu_trap(cudaErrorMisalignedAddress, what, file, line);
}

/* Elements that are also adjacent in memory are one access. */
template <class S, class F, class T>
inline void load(F &f, const T *p, unsigned ld, bool by_rows)
{
    const int me = lane();
    int row, column, next_row, next_column;
    for (int i = 0; i < S::elements; i += S::together) {
        S::find(i, me, &row, &column);
        S::find(i + S::together - 1, me, &next_row, &next_column);
        const T *at = by_rows ? p + row * (size_t)ld + column : p + column * (size_t)ld + row;
        if (by_rows ? next_row == row : next_column == column) {
            typedef typename word<S::together * sizeof(T)>::type wide;
            put<S::together>(f, i, S::elements, *reinterpret_cast<const wide *>(at));
        } else {
            typedef typename word<sizeof(T)>::type one;
            for (int e = 0; e < S::together; e++)
                put<1>(f, i + e, S::elements, reinterpret_cast<const one *>(at)[(size_t)e * ld]);
        }
    }
}
template <class S, class F, class T>
inline void store(T *p, const F &f, unsigned ld, bool by_rows)
{
    const int me = lane();
    int row, column, next_row, next_column;
    for (int i = 0; i < S::elements; i += S::together) {
        S::find(i, me, &row, &column);
        S::find(i + S::together - 1, me, &next_row, &next_column);
        T *at = by_rows ? p + row * (size_t)ld + column : p + column * (size_t)ld + row;
        if (by_rows ? next_row == row : next_column == column) {
            typedef typename word<S::together * sizeof(T)>::type wide;
            *reinterpret_cast<wide *>(at) = get<S::together>(f, i);
        } else {
            typedef typename word<sizeof(T)>::type one;
            for (int e = 0; e < S::together; e++)
                reinterpret_cast<one *>(at)[(size_t)e * ld] = get<1>(f, i + e);
        }
    }
}
} // namespace cpu

template <class Use, int m, int n, int k, class T, class Layout>
inline void load_matrix_sync(fragment<Use, m, n, k, T, Layout> &f,
                             const typename cpu::storage<T>::type *p, unsigned ld, CPU_PLACE)
{
    static_assert(!cpu::is_sum<Use>, "load_matrix_sync of an accumulator needs a layout");
    cpu::check_place(p, ld,
                     "load_matrix_sync needs an address and rows that are multiples of 16 bytes",
                     file, line);
    cpu::load<cpu::shape<Use, m, n, k, T>>(f, p, ld, std::is_same<Layout, row_major>::value);
}
template <int m, int n, int k, class T>
inline void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const T *p, unsigned ld,
                             layout_t layout, CPU_PLACE)
{
    cpu::check_place(p, ld,
                     "load_matrix_sync needs an address and rows that are multiples of 16 bytes",
                     file, line);
    cpu::load<cpu::shape<accumulator, m, n, k, T>>(f, p, ld, layout == mem_row_major);
}
template <int m, int n, int k, class T>
inline void store_matrix_sync(T *p, const fragment<accumulator, m, n, k, T> &f, unsigned ld,
                              layout_t layout, CPU_PLACE)
{
    cpu::check_place(p, ld,
                     "store_matrix_sync needs an address and rows that are multiples of 16 bytes",
                     file, line);
    cpu::store<cpu::shape<accumulator, m, n, k, T>>(p, f, ld, layout == mem_row_major);
}
template <class Use, int m, int n, int k, class T, class Layout, class V>
inline void fill_fragment(fragment<Use, m, n, k, T, Layout> &f, const V &v)
{
    const typename cpu::storage<T>::type value = (typename cpu::storage<T>::type)v;
    typename cpu::word<sizeof value>::type bits;
    __builtin_memcpy(&bits, (const void *)&value, sizeof bits);
    cpu::put<1>(f, 0, 1, bits);
}

namespace cpu
{
/* The mma for operands and sums of these types, and its operands: sums, then A, then B. */
#define CPU_FOUR "{%0, %1, %2, %3}"
#define CPU_4_4_2 CPU_FOUR ", {%4, %5, %6, %7}, {%8, %9}, " CPU_FOUR ";"
#define CPU_4_2_1 CPU_FOUR ", {%4, %5}, {%6}, " CPU_FOUR ";"
template <class In, class Sum, bool saturates>
struct form;
#define CPU_FORM(In, Sum, saturates, letters, mma)                                                 \
    template <>                                                                                    \
    struct form<In, Sum, saturates> {                                                              \
        static constexpr const char *constraints = letters, *text = "mma.sync.aligned." mma;       \
    };
CPU_FORM(__half, float, false, "ffffrrrrrr", "m16n8k16.row.col.f32.f16.f16.f32 " CPU_4_4_2)
CPU_FORM(__half, __half, false, "rrrrrrrr",
         "m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};")
CPU_FORM(__nv_bfloat16, float, false, "ffffrrrrrr", "m16n8k16.row.col.f32.bf16.bf16.f32 " CPU_4_4_2)
CPU_FORM(precision::tf32, float, false, "ffffrrrrrr",
         "m16n8k8.row.col.f32.tf32.tf32.f32 " CPU_4_4_2)
CPU_FORM(double, double, false, "dddd",
         "m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};")
CPU_FORM(signed char, int, false, "rrrrrrr", "m16n8k16.row.col.s32.s8.s8.s32 " CPU_4_2_1)
CPU_FORM(signed char, int, true, "rrrrrrr", "m16n8k16.row.col.satfinite.s32.s8.s8.s32 " CPU_4_2_1)
CPU_FORM(unsigned char, int, false, "rrrrrrr", "m16n8k16.row.col.s32.u8.u8.s32 " CPU_4_2_1)
CPU_FORM(unsigned char, int, true, "rrrrrrr", "m16n8k16.row.col.satfinite.s32.u8.u8.s32 " CPU_4_2_1)
#undef CPU_FORM
#undef CPU_FOUR
#undef CPU_4_4_2
#undef CPU_4_2_1

/* A lane's part of tile `tile` of a fragment, to and from registers. */
template <class S, class F>
CPU_REGISTERS inline int take(uint64_t *reg, const F &f, int tile)
{
    typedef typename F::storage_element_type T;
    constexpr size_t bytes = S::in_tile * sizeof(T), width = sizeof(T) == 8 ? 8 : 4;
    for (size_t i = 0; i < bytes; i += width) {
        reg[i / width] = 0;
        __builtin_memcpy(&reg[i / width], (const char *)&f.x[tile * S::in_tile] + i, width);
    }
    return bytes / width;
}
template <class S, class F>
CPU_REGISTERS inline void give(const uint64_t *reg, F &f, int tile)
{
    typedef typename F::storage_element_type T;
    constexpr size_t bytes = S::in_tile * sizeof(T), width = sizeof(T) == 8 ? 8 : 4;
    for (size_t i = 0; i < bytes; i += width)
        __builtin_memcpy((char *)&f.x[tile * S::in_tile] + i, &reg[i / width], width);
}

template <bool saturates, int m, int n, int k, class T, class L, class O, class Sum>
CPU_REGISTERS inline void
multiply(fragment<accumulator, m, n, k, Sum> &d, const fragment<matrix_a, m, n, k, T, L> &a,
         const fragment<matrix_b, m, n, k, T, O> &b, const fragment<accumulator, m, n, k, Sum> &c,
         const char *file, int line)
{
    typedef shape<matrix_a, m, n, k, T> A;
    typedef shape<matrix_b, m, n, k, T> B;
    typedef shape<accumulator, m, n, k, Sum> D;
    typedef form<T, Sum, saturates> mma;
    static cpu_asm_site site = {mma::text, mma::constraints, 10, __FILE__, __LINE__, nullptr};
    for (int tile = 0; tile < D::tiles; tile++) {
        uint64_t reg[10];
        const int row = tile / (D::columns / 8), column = tile % (D::columns / 8);
        int at = take<D>(reg, c, tile);
        at += D::turned ? take<B>(reg + at, b, row) : take<A>(reg + at, a, row);
        D::turned ? take<A>(reg + at, a, column) : take<B>(reg + at, b, column);
        cpu_asm_at(&site, reg, file, line);
        give<D>(reg, d, tile);
    }
}
} // namespace cpu

template <int m, int n, int k, class T, class L, class O, class Sum>
inline void mma_sync(fragment<accumulator, m, n, k, Sum> &d,
                     const fragment<matrix_a, m, n, k, T, L> &a,
                     const fragment<matrix_b, m, n, k, T, O> &b,
                     const fragment<accumulator, m, n, k, Sum> &c, CPU_PLACE)
{
    cpu::multiply<false>(d, a, b, c, file, line);
}
/* Sums of bytes saturate on request, at the limits of int. */
template <int m, int n, int k, class T, class L, class O>
inline void
mma_sync(fragment<accumulator, m, n, k, int> &d, const fragment<matrix_a, m, n, k, T, L> &a,
         const fragment<matrix_b, m, n, k, T, O> &b, const fragment<accumulator, m, n, k, int> &c,
         bool saturates = false, CPU_PLACE)
{
    if (saturates)
        cpu::multiply<true>(d, a, b, c, file, line);
    else
        cpu::multiply<false>(d, a, b, c, file, line);
}

/* Rounds to nearest, ties away from zero; the last 13 bits become 0. For a NaN these bits are
 * cut off, as on an H200. */
inline float __float_to_tf32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    if ((bits & 0x7fffffff) < 0x7f800000)
        bits += 0x1000;
    bits &= ~0x1fffu;
    memcpy(&v, &bits, sizeof v);
    return v;
}
} // namespace wmma
} // namespace nvcuda

#undef CPU_REGISTERS
