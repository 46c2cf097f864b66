/* Programs of scalar instructions: a table, one line for each, with the result in plain C.
 *
 *   OP1("neg.s32", r, r, "i", -a)            %0 and %1 have constraints r and r
 *   OP2("add.s32", r, r, r, "ii", a + b)     two inputs; OP3: three. a, b, c hold their bits
 *   OPX2(name, text, r, r, r, "ii", a + b)   the same, with the text of the statement written out
 *
 * The string has a letter for each input, for its kind: see the classes below. MAIN ends the file.
 * What a line prints depends on its number in the file. So a new instruction gets a new file: a
 * line in an old one would change what an H200 has printed for the lines behind it. */
#pragma once

#include "record.h"

typedef uint16_t t_h;
typedef uint32_t t_r;
typedef uint64_t t_l;
typedef float t_f;
typedef double t_d;

template <class T>
__host__ __device__ T from_bits(uint64_t bits)
{
    T v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
template <class T>
__host__ __device__ uint64_t to_bits(T v)
{
    uint64_t bits = 0;
    memcpy(&bits, &v, sizeof v);
    return bits;
}

enum { CASES = 4096, SHOWN = 64 };

/* in [CASES][3] -> out [CASES] */
template <class Op>
__global__ void run(const uint64_t *in, uint64_t *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = Op::run(in[3 * i], in[3 * i + 1], in[3 * i + 2]);
}

/* Operands: i an integer of 32 bits, l of 64, s of 16, n a small one, f d h b floating-point
 * numbers of 32, 64, 16 bits and bfloat16, H and B two of the last. `rare` prefers NaN, infinity,
 * subnormal numbers and extremes. */
static uint64_t real_operand(struct sequence *s, int exponent, int fraction, int rare)
{
    uint64_t bits = (uint64_t)next_number(s) << 32 | next_number(s), one = 1;
    uint64_t infinity = ((one << exponent) - 1) << fraction, sign = one << (exponent + fraction);
    const uint64_t specials[] = {0,
                                 1,
                                 (one << fraction) - 1,
                                 one << fraction,
                                 infinity - 1,
                                 infinity,
                                 infinity + 1,
                                 infinity | one << (fraction - 1),
                                 infinity | ((one << fraction) - 1),
                                 infinity / 2 / (one << fraction) * (one << fraction)};
    int choice = next_between(s, 0, 3);
    if (rare && choice)
        return specials[bits % 10] | (bits >> 32 & 1 ? sign : 0);
    bits &= 2 * sign - 1;
    if (choice > 1) { /* of about the same size, so that sums are not all one of the operands */
        uint64_t bias = (one << (exponent - 1)) - 1;
        bits = (bits & (sign | ((one << fraction) - 1))) | (bias + (uint64_t)next_between(s, -3, 3))
                                                               << fraction;
    } else if ((bits & infinity) == infinity) {
        bits ^= one << fraction;
    }
    return bits;
}
static uint64_t integer_operand(struct sequence *s, int bits, int rare)
{
    uint64_t v = (uint64_t)next_number(s) << 32 | next_number(s);
    if (rare && next_between(s, 0, 3)) {
        const uint64_t specials[] = {
            0, 1, ~0ull, 1ull << (bits - 1), (1ull << (bits - 1)) - 1, 2, ~1ull, 31, 32, 64};
        v = specials[v % 10];
    }
    return bits < 64 ? v & ((1ull << bits) - 1) : v;
}
static uint64_t operand(struct sequence *s, char kind, int rare)
{
    uint64_t low;
    switch (kind) {
    case 's':
        return integer_operand(s, 16, rare);
    case 'i':
        return integer_operand(s, 32, rare);
    case 'l':
        return integer_operand(s, 64, rare);
    case 'n':
        return (uint64_t)next_between(s, 0, rare ? 300 : 40);
    case 'f':
        return real_operand(s, 8, 23, rare);
    case 'd':
        return real_operand(s, 11, 52, rare);
    case 'h':
        return real_operand(s, 5, 10, rare);
    case 'b':
        return real_operand(s, 8, 7, rare);
    case 'H':
        low = real_operand(s, 5, 10, rare);
        return real_operand(s, 5, 10, rare) << 16 | low;
    default:
        low = real_operand(s, 8, 7, rare);
        return real_operand(s, 8, 7, rare) << 16 | low;
    }
}

static int verbose; /* each case a line */

template <class Op>
static void try_op(int number)
{
    static uint64_t in[CASES][3], out[CASES];
    for (int rare = 0; rare < 2; rare++) {
        struct sequence s = {(uint64_t)(2 * number + rare), 0};
        for (int i = 0; i < CASES; i++)
            for (int k = 0; k < 3; k++)
                in[i][k] = Op::kinds()[0] && k < (int)strlen(Op::kinds())
                               ? operand(&s, Op::kinds()[k], rare)
                               : 0;
        uint64_t *device_in = (uint64_t *)on_device(in, sizeof in);
        uint64_t *device_out = (uint64_t *)on_device(NULL, sizeof out);
        run<Op><<<CASES / 128, 128>>>(device_in, device_out);
        to_host(out, device_out, sizeof out);
        need(cudaFree(device_in), "cudaFree");
        need(cudaFree(device_out), "cudaFree");
        int wrong = 0;
        uint32_t hash = 0;
        for (int i = 0; i < CASES; i++) {
            uint64_t wanted = Op::reference(in[i][0], in[i][1], in[i][2]);
            int differs = Op::known() && wanted != out[i];
            if (verbose || (differs && wrong < 3))
                printf("%s%s\t%llx,%llx,%llx\t%llx%s", differs && !verbose ? "# " : "", Op::name(),
                       (unsigned long long)in[i][0], (unsigned long long)in[i][1],
                       (unsigned long long)in[i][2], (unsigned long long)out[i],
                       differs ? "" : "\n");
            if (differs && (verbose || wrong < 3))
                printf(" not %llx\n", (unsigned long long)wanted);
            wrong += differs;
            hash = hashed(hash, &out[i], sizeof out[i]);
        }
        print_result(Op::name(), rare ? "rare" : "usual", hash, wrong);
    }
}

/* One past the last program's operation. */
template <int N>
struct op;

#define OP_HEAD(title, classes, expression)                                                        \
    static const char *name()                                                                      \
    {                                                                                              \
        return title;                                                                              \
    }                                                                                              \
    static const char *kinds()                                                                     \
    {                                                                                              \
        return classes;                                                                            \
    }                                                                                              \
    static int known()                                                                             \
    {                                                                                              \
        return 1;                                                                                  \
    }                                                                                              \
    static uint64_t reference(uint64_t a, uint64_t b, uint64_t c)                                  \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return (expression);                                                                       \
    }
#define OPX1(title, text, o, i, classes, expression)                                               \
    template <>                                                                                    \
    struct op<__COUNTER__ - first_op> {                                                            \
        OP_HEAD(title, classes, expression)                                                        \
        static __device__ uint64_t run(uint64_t a, uint64_t, uint64_t)                             \
        {                                                                                          \
            t_##o d = 0;                                                                           \
            asm volatile(text : "+" #o(d) : #i(from_bits<t_##i>(a)));                              \
            return to_bits(d);                                                                     \
        }                                                                                          \
    };
#define OPX2(title, text, o, i, j, classes, expression)                                            \
    template <>                                                                                    \
    struct op<__COUNTER__ - first_op> {                                                            \
        OP_HEAD(title, classes, expression)                                                        \
        static __device__ uint64_t run(uint64_t a, uint64_t b, uint64_t)                           \
        {                                                                                          \
            t_##o d = 0;                                                                           \
            asm volatile(text : "+" #o(d) : #i(from_bits<t_##i>(a)), #j(from_bits<t_##j>(b)));     \
            return to_bits(d);                                                                     \
        }                                                                                          \
    };
#define OPX3(title, text, o, i, j, k, classes, expression)                                         \
    template <>                                                                                    \
    struct op<__COUNTER__ - first_op> {                                                            \
        OP_HEAD(title, classes, expression)                                                        \
        static __device__ uint64_t run(uint64_t a, uint64_t b, uint64_t c)                         \
        {                                                                                          \
            t_##o d = 0;                                                                           \
            asm volatile(text                                                                      \
                         : "+" #o(d)                                                               \
                         : #i(from_bits<t_##i>(a)), #j(from_bits<t_##j>(b)),                       \
                           #k(from_bits<t_##k>(c)));                                               \
            return to_bits(d);                                                                     \
        }                                                                                          \
    };
#define OP1(title, o, i, classes, expression)                                                      \
    OPX1(title, title " %0, %1;", o, i, classes, expression)
#define OP2(title, o, i, j, classes, expression)                                                   \
    OPX2(title, title " %0, %1, %2;", o, i, j, classes, expression)
#define OP3(title, o, i, j, k, classes, expression)                                                \
    OPX3(title, title " %0, %1, %2, %3;", o, i, j, k, classes, expression)

/* Operations number 0 to count - 1. */
template <int N, int count>
struct try_ops {
    static void all()
    {
        try_op<op<N>>(N);
        try_ops<N + 1, count>::all();
    }
};
template <int count>
struct try_ops<count, count> {
    static void all()
    {
    }
};

enum { first_op = __COUNTER__ + 1 };
#define MAIN                                                                                       \
    enum { op_count = __COUNTER__ - first_op };                                                    \
    int main(int argc, char **)                                                                    \
    {                                                                                              \
        verbose = argc > 1;                                                                        \
        try_ops<0, op_count>::all();                                                               \
        return any_wrong;                                                                          \
    }
