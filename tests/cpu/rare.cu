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
    d[i++] = sinpi(3.0) == 0 && cospi(-0.5) == 0 && sinpif(-1.0f) == 0;
    d[i++] = norm3d(1.0, (double)NAN, -(double)INFINITY);
    d[i++] = erfinv(-1 + 0x1p-50);
    d[i++] = normcdfinv(0.999999);
    d[i++] = __fmul_ru(1e-30f, 1e-30f);
    d[i++] = __fdiv_rd(-1e-40f, 1e20f);
    d[i++] = __fmaf_rz(1.0f, 1.0f, -0x1p-40f);
    d[i++] = __fma_ru(1.0, 1.0, 0x1p-1074);
    d[i++] = __double2float_rd(1 + 0x1p-30);
    d[i++] = __int2float_ru(0x1000001);
    d[i++] = __ldlu(&d[10]);
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
    n[i++] = __dp2a_hi(make_short2(-300, 2), make_char4(5, 6, 7, -128), 1000);
    n[i++] = __fns(0xdeadbeefu, 31, -3);
    n[i++] = 2ll * __double2int_rn((double)NAN) + __double2uint_rd((double)NAN);
    n[i++] = __float2int_rn(NAN) + __float2uint_ru(NAN);
}

// Where a pointer points to, a vote on whether all agree, and barriers by their numbers.
__global__ void places(unsigned *d)
{
    __shared__ unsigned sum;
    if (threadIdx.x == 0)
        sum = 0;
    __barrier_sync(0);
    if (threadIdx.x < 32) {
        atomicAdd(&sum, (unsigned)__uni_sync(0xffffffffu, threadIdx.x < 7));
        atomicAdd(&sum, (unsigned)__uni_sync(0xffffffffu, threadIdx.x < 32));
        __barrier_sync_count(1, 32);
    }
    __barrier_sync(0);
    if (threadIdx.x == 40) {
        d[0] = sum;
        d[1] = __isShared(&sum) && !__isGlobal(&sum) && __isGlobal(d) && !__isShared(d);
        d[2] = __cvta_shared_to_generic(__cvta_generic_to_shared(&sum)) == &sum;
        d[3] = __cvta_global_to_generic(__cvta_generic_to_global(d)) == d;
    }
}
static void test_places()
{
    unsigned *d;
    cudaMallocManaged(&d, 4 * sizeof *d);
    places<<<1, 64>>>(d);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(d[0] == 32 && d[1] && d[2] && d[3]);
    cudaFree(d);
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
    test_places();
    double *d;
    long long *n;
    cudaMallocManaged(&d, 24 * sizeof *d);
    cudaMallocManaged(&n, 13 * sizeof *n);
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
    CHECK(d[13] == 1 && d[14] == INFINITY);
    CHECK(std::abs(d[15] + 5.686128441310391) < 1e-12);
    CHECK(std::abs(d[16] - 4.753424308817088) < 1e-13);
    CHECK(d[17] == 0x1p-149 && d[18] == -0x1p-149 && d[19] == 1 - 0x1p-24 && d[20] == 1 + 0x1p-52);
    CHECK(d[21] == 1 && d[22] == 0x1000002 && d[23] == 7);
    CHECK(n[0] == 10 + 2 - 4 - 2 + 3 && n[1] == 10 + 2 + 1020 + 510 + 3);
    CHECK(n[2] == 0x7fffffffffffffff && n[3] == 0);
    CHECK(n[4] == 8 + 4 + 7 && n[5] == 3 && n[6] == 0x80000000);
    CHECK(n[7] == 1000 - 5 + 12 - 21 - 512 && n[8] == 1000 + 1275 + 12 + 21 + 512);
    CHECK(n[9] == 1000 - 2100 - 256 && n[10] == 28 && n[11] == -0x80000000ll && n[12] == 0);
    cudaFree(d);
    cudaFree(n);
    return check_result();
}
