// Device math that fewer programs call. nvcc compiles it as well.
#include "check.h"

__global__ void rare(double *d, long long *n)
{
    int i = 0;
    d[i++] = __fadd_ru(1.0f, 0x1p-30f);
    d[i++] = __fadd_rd(1.0f, 0x1p-30f);
    d[i++] = __fadd_rz(-1.0f, -0x1p-30f);
    d[i++] = __fmul_rd(3.0e38f, 10.0f);
    d[i++] = __fdiv_ru(1.0f, -3.0f);
    d[i++] = __dsqrt_rd(2.0);
    d[i++] = erfinv(0.3);
    d[i++] = normcdfinv(0.975);
    d[i++] = erfcinv(1e-100);
    d[i++] = cyl_bessel_i0(2.0);
    d[i++] = norm3d(2.0, 3.0, 6.0);
    d[i++] = erfcx(30.0);
    d[i++] = __ldcv(&d[10]);
    i = 0;
    n[i++] = __dp4a(0x01ff0203, 0x0204ff01, 10);
    n[i++] = __dp4a(0x01ff0203u, 0x0204ff01u, 10u);
    n[i++] = __double2ll_rn(1e30);
    n[i++] = (long long)__double2ull_rz(-5.5);
    n[i++] = __usad(3u, 10u, 1u) + umin(4u, 5u) + __hadd(7, 8);
    n[i++] = __float2ll_ru(2.25f);
    n[i++] = __funnelshift_lc(0x80000000u, 1u, 40);
    n[i++] = __dp4a(make_char4(-1, 2, -3, 4), make_char4(5, 6, 7, -128), 1000);
    n[i++] = __dp4a(make_uchar4(255, 2, 3, 4), make_uchar4(5, 6, 7, 128), 1000u);
}

// Differences of four bytes, which only inline PTX has: of each form the result.
template <int form>
__device__ unsigned differences(unsigned a, unsigned b, unsigned c)
{
    unsigned d;
    if (form == 0)
        asm("vabsdiff4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    if (form == 1)
        asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    if (form == 2)
        asm("vabsdiff4.s32.s32.s32.sat %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    if (form == 3)
        asm("vabsdiff4.u32.s32.u32.add %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
__global__ void differ(unsigned *d, unsigned a, unsigned b)
{
    d[0] = differences<0>(a, b, 0);
    d[1] = differences<1>(a, b, 1000);
    d[2] = differences<2>(a, b, 0);
    d[3] = differences<3>(a, b, 1000);
}
static void test_differences()
{
    unsigned *d;
    cudaMallocManaged(&d, 4 * sizeof *d);
    differ<<<1, 1>>>(d, 0x80ff0105, 0x7f010203); // signed -128 -1 1 5 and 127 1 2 3
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(d[0] == 0x01fe0102 && d[1] == 1000 + 1 + 254 + 1 + 2);
    CHECK(d[2] == 0x7f020102 && d[3] == 1000 + 255 + 2 + 1 + 2);
    cudaFree(d);
}

int main()
{
    test_differences();
    double *d;
    long long *n;
    cudaMallocManaged(&d, 13 * sizeof *d);
    cudaMallocManaged(&n, 9 * sizeof *n);
    rare<<<1, 1>>>(d, n);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(d[0] == 1 + 0x1p-23 && d[1] == 1 && d[2] == -1 && d[3] == 0x1.fffffep127);
    CHECK(d[4] == -0x1.555554p-2 && d[5] == 0x1.6a09e667f3bccp+0);
    CHECK(std::abs(d[6] - 0.27246271472675435) < 1e-15);
    CHECK(std::abs(d[7] - 1.9599639845400545) < 1e-14);
    CHECK(std::abs(d[8] - 15.065574702593) < 1e-11);
    CHECK(std::abs(d[9] - 2.2795853023360673) < 1e-14);
    CHECK(d[10] == 7 && d[12] == 7);
    CHECK(std::abs(d[11] - 0.018795888861416751) < 1e-16);
    CHECK(n[0] == 10 + 2 - 4 - 2 + 3 && n[1] == 10 + 2 + 1020 + 510 + 3);
    CHECK(n[2] == 0x7fffffffffffffff && n[3] == 0);
    CHECK(n[4] == 8 + 4 + 7 && n[5] == 3 && n[6] == 0x80000000);
    CHECK(n[7] == 1000 - 5 + 12 - 21 - 512 && n[8] == 1000 + 1275 + 12 + 21 + 512);
    cudaFree(d);
    cudaFree(n);
    return check_result();
}
