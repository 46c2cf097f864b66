/* half and bfloat16: all 65,536 patterns and the ties between them, against conversions that are
 * written down from the formats' definitions with ldexp; arithmetic against exact sums. It runs on
 * the host, where nvcc has only a part of the intrinsics. */
#include "check.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

/* The value of a pattern with e exponent and m fraction bits. */
static double reference_value(unsigned x, int e, int m)
{
    int bias = (1 << (e - 1)) - 1, exponent = x >> m & ((1 << e) - 1),
        fraction = x & ((1 << m) - 1);
    double sign = x >> 15 ? -1 : 1;
    if (exponent == (1 << e) - 1)
        return fraction ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, 1 - bias - m);
    return sign * ldexp(fraction + (1 << m), exponent - bias - m);
}

template <class H>
static int bits(H h)
{
    unsigned short u;
    memcpy(&u, &h, 2);
    return u;
}
template <class H>
static H of_bits(int b)
{
    unsigned short u = (unsigned short)b;
    H h;
    memcpy(&h, &u, 2);
    return h;
}

template <class H>
static void test_patterns(int e, int m, H (*from_float)(float), float (*to_float)(H))
{
    int infinity = ((1 << e) - 1) << m, wrong = 0, ties = 0;
    for (int x = 0; x < 65536; x++) {
        double v = reference_value(x, e, m);
        float got = to_float(of_bits<H>(x));
        int back = bits(from_float(got));
        if (v != v)
            wrong += got == got || back != 0x7fff;
#ifdef CUDA_CPU_BACKEND /* its NaNs keep what they carry, and become quiet */
        uint32_t carried;
        memcpy(&carried, &got, 4);
        if (v != v)
            wrong += carried != ((x & 0x8000u) << 16 | 0x7fc00000u | (x & 0x7fffu) << (23 - m));
#endif
        if (v == v)
            wrong += got != v || std::signbit(got) != std::signbit(v) || back != x;
        /* Halfway to the next larger pattern, and one float to either side. */
        int magnitude = x & 0x7fff, sign = x & 0x8000;
        if (magnitude >= infinity)
            continue;
        double next = magnitude + 1 == infinity ? ldexp(1, 1 << (e - 1))
                                                : fabs(reference_value(magnitude + 1, e, m));
        double half = (fabs(v) + next) / 2;
        if ((double)(float)half != half)
            continue; /* bfloat16's least subnormals: halfway is no float */
        float tie = sign ? -(float)half : (float)half;
        float less = nextafterf(tie, 0), more = nextafterf(tie, sign ? -INFINITY : INFINITY);
        int even = magnitude & 1 ? magnitude + 1 : magnitude;
        wrong += bits(from_float(tie)) != (sign | even);
        wrong += bits(from_float(less)) != x;
        wrong += bits(from_float(more)) != (sign | (magnitude + 1));
        ties++;
    }
    CHECK(wrong == 0);
    CHECK(ties > 60000);
    CHECK(bits(from_float(1e30f * 1e9f)) == infinity &&
          bits(from_float(-INFINITY)) == (infinity | 0x8000));
    CHECK(bits(from_float(-0.0f)) == 0x8000);
}

/* The pattern nearest to the exact value a*b+c, by search: the differences are exact in __float128
 * where a compiler has it, and in long double, which is enough for half. */
template <class H>
static void test_arithmetic(int e, int m)
{
    uint64_t state = 12345;
    int wrong = 0;
    for (int i = 0; i < 200000; i++) {
        int p[3];
        for (int &q : p) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            q = (int)(state >> 48);
            if (i % 4 == 0) /* alike in size, so that sums cancel and tie */
                q = (q & 0x83ff) | (((1 << (e - 1)) - 1) << m & 0x7c00);
        }
        H a = of_bits<H>(p[0]), b = of_bits<H>(p[1]), c = of_bits<H>(p[2]);
        double x = reference_value(p[0], e, m), y = reference_value(p[1], e, m);
        double z = reference_value(p[2], e, m);
        struct {
            H got;
            long double exact;
        } cases[] = {{__hadd(a, b), (long double)x + y},
                     {a - b, (long double)x - y},
                     {__hmul(a, b), (long double)x * y},
                     {__hdiv(a, b), (long double)x / y},
                     {__hfma(a, b, c), (long double)(x * y) + z}};
        for (auto &t : cases) {
            double got = reference_value(bits(t.got), e, m);
            if (t.exact != t.exact) {
                wrong += got == got;
                continue;
            }
            if (m == 7 && &t == &cases[4])
                continue; /* spans more bits than a long double has: test_fma_bf16 */
            if (std::isinf(got) || std::isinf((double)t.exact)) {
                /* overflow starts halfway past the largest finite value */
                double limit = ldexp(2 - ldexp(1, -m - 1), (1 << (e - 1)) - 1);
                wrong += !std::isinf(got) || fabsl(t.exact) < limit || (got > 0) != (t.exact > 0);
                continue;
            }
            long double error = fabsl(got - t.exact);
            for (int step = -1; step <= 1; step += 2) {
                int near = (bits(t.got) & 0x7fff) + step;
                if (near < 0 || near >= ((1 << e) - 1) << m)
                    continue;
                double other = reference_value(near | (bits(t.got) & 0x8000), e, m);
                long double other_error = fabsl(other - t.exact);
                wrong += other_error < error || (other_error == error && (bits(t.got) & 1));
            }
        }
    }
    CHECK(wrong == 0);
}

/* Ties of the product that a far smaller addend decides: one rounding too many would lose it. */
static void test_fma()
{
    for (int sign = -1; sign <= 1; sign += 2) {
        nv_bfloat16 a = __float2bfloat16(1.5f), b = __float2bfloat16(1 + 0x1p-7f);
        nv_bfloat16 tiny = __float2bfloat16(sign * 0x1p-100f); /* 1.5 + 1.5 * 2^-7 is a tie */
        CHECK((float)__hfma(a, b, tiny) == (sign > 0 ? 1.515625f : 1.5078125f));
        half ha = __float2half(1.5f), hb = __float2half(1 + 0x1p-10f);
        half htiny = __float2half(sign * 0x1p-24f); /* 1.5 + 1.5 * 2^-10 is a tie */
        CHECK((float)__hfma(ha, hb, htiny) == (sign > 0 ? 1.501953125f : 1.5009765625f));
    }
}

template <class H>
static void test_compare(H (*f)(float))
{
    H nan = f(NAN), one = f(1), two = f(2);
    CHECK(one < two && one <= one && !(one < nan) && !(nan == nan) && nan != nan && two > one);
    CHECK(__hlt(one, two) && __hge(two, two) && !__hne(nan, one) && __heq(one, one));
    CHECK(bits(__hmax(one, nan)) == bits(one) && bits(__hmin(nan, two)) == bits(two));
    CHECK(__hisnan(__hmax_nan(one, nan)) && bits(__hmax(f(-0.0f), f(0))) == 0);
    CHECK(bits(__hmin(f(0), f(-0.0f))) == 0x8000 && bits(__habs(f(-2))) == bits(two));
    CHECK(__hisinf(f(-INFINITY)) == -1 && (float)-one == -1 && (float)hsqrt(f(4)) == 2);
    one += two;
    CHECK((float)one == 3 && (float)(one * two / f(3)) == 2);
}

__global__ void pairs(half2 *h, nv_bfloat162 *b, half *sum)
{
    half2 v = __floats2half2_rn(threadIdx.x, 2);
    v = __hfma2(v, __half2half2(__float2half(2)), __float2half2_rn(1));
    v = __hadd2(v, __halves2half2(__int2half_rn(0), __float2half(0.5f)));
    h[threadIdx.x] = __shfl_xor_sync(0xffffffffu, v, 1);
    nv_bfloat162 w = __floats2bfloat162_rn(threadIdx.x, -1.0f);
    b[threadIdx.x] = __hmax2(w, __bfloat162bfloat162(__float2bfloat16(3)));
    atomicAdd(sum, __float2half(0.5f));
    float2 f = __half22float2(__lowhigh2highlow(v));
    if (f.x != 5.5f || __low2float(v) != __half2float(__low2half(v)))
        __trap();
}

static void test_pairs()
{
    half2 *h, hh[32];
    nv_bfloat162 *b, bb[32];
    half *sum, s;
    cudaMalloc(&h, sizeof hh);
    cudaMalloc(&b, sizeof bb);
    cudaMalloc(&sum, sizeof s);
    cudaMemset(sum, 0, sizeof s);
    pairs<<<1, 32>>>(h, b, sum);
    CHECK_ERROR(cudaMemcpy(hh, h, sizeof hh, cudaMemcpyDeviceToHost), cudaSuccess);
    cudaMemcpy(bb, b, sizeof bb, cudaMemcpyDeviceToHost);
    cudaMemcpy(&s, sum, sizeof s, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++) {
        CHECK(__low2float(hh[i]) == (i ^ 1) * 2 + 1 && __high2float(hh[i]) == 5.5f);
        CHECK(__low2float(bb[i]) == (i > 3 ? i : 3) && __high2float(bb[i]) == 3);
    }
    CHECK(__half2float(s) == 16);
    CHECK(sizeof(half2) == 4 && alignof(half2) == 4 && sizeof(half) == 2);
}

int main()
{
    test_patterns<half>(5, 10, __float2half, __half2float);
    test_patterns<nv_bfloat16>(8, 7, __float2bfloat16, __bfloat162float);
    test_arithmetic<half>(5, 10);
    test_arithmetic<nv_bfloat16>(8, 7);
    test_fma();
    test_compare<half>(__float2half);
    test_compare<nv_bfloat16>(__float2bfloat16);
    test_pairs();
    return check_result();
}
