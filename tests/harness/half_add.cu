/* half_add.cu: add_halves at all ways in which three arrays can stand to a multiple of 16 bytes,
 * and its sums and nearest_half against sums of long double. TAP, as the unit tests. */
#include "cuda/exact_half.cuh"
#include "cuda/half_add.cuh"

#include <stdio.h>
#include <vector>

enum { MOST = 45, ROOM = 64, SEVEN = 0x7777 };

static int count;

static void ok(bool good, const char *what)
{
    printf("%s %d - %s\n", good ? "ok" : "not ok", ++count, what);
}

static unsigned short bits_of(__half h)
{
    unsigned short bits;
    memcpy(&bits, (const void *)&h, sizeof bits);
    return bits;
}

static __half of_bits(int i)
{
    const unsigned short bits = (unsigned short)i;
    __half h;
    memcpy((void *)&h, &bits, sizeof h);
    return h;
}

/* Sums that are not in place and in place: what is wrong, before, within or behind the n. */
static int wrong_at(__half *device, int a, int b, int c, int n, bool in_place)
{
    std::vector<__half> was(3 * ROOM), is(3 * ROOM);
    int wrong = 0;
    for (int i = 0; i < 3 * ROOM; i++) {
        was[i] = i < 2 * ROOM ? __float2half_rn((float)(i * i % 97)) : of_bits(SEVEN);
    }
    cudaMemcpy(device, was.data(), was.size() * sizeof(__half), cudaMemcpyHostToDevice);
    __half *to = in_place ? device + a : device + 2 * ROOM + c;
    add_halves(device + a, device + ROOM + b, to, n, 0);
    cudaMemcpy(is.data(), device, is.size() * sizeof(__half), cudaMemcpyDeviceToHost);
    const int first = (int)(to - device);
    for (int i = 0; i < 3 * ROOM; i++) {
        const int k = i - first;
        const bool summed = k >= 0 && k < n;
        const __half want = summed ? __hadd(was[a + k], was[ROOM + b + k]) : was[i];
        wrong += bits_of(is[i]) != bits_of(want);
    }
    return wrong;
}

static void test_addresses(void)
{
    __half *device;
    int wrong = 0, wrong_in_place = 0;
    CUDA_CHECK(cudaMalloc((void **)&device, 3 * ROOM * sizeof(__half)));
    for (int n = 1; n <= MOST; n += n < 20 ? 1 : 5) {
        for (int at = 0; at < 512; at++) {
            const int a = at % 8, b = at / 8 % 8, c = at / 64;
            wrong += wrong_at(device, a, b, c, n, false);
            wrong_in_place += c == 0 ? wrong_at(device, a, b, c, n, true) : 0;
        }
    }
    CUDA_CHECK(cudaFree(device));
    ok(wrong == 0, "any three addresses, any n: the sums, and nothing beside them");
    ok(wrong_in_place == 0, "and in place");
}

/* The nearest by search: of two values the nearer one, of two equally near ones the even pattern.
 */
static double searched(long double x)
{
    int low = 0, high = 0x7c00; /* infinity stands where 65536 would */
    const long double size = fabsl(x);
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        (__half2float(of_bits(middle)) <= size ? low : high) = middle;
    }
    const long double below = __half2float(of_bits(low));
    const long double above = high == 0x7c00 ? 65536.0L : __half2float(of_bits(high));
    const bool up = size - below > above - size || (size - below == above - size && low % 2 == 1);
    return copysign((double)__half2float(of_bits(up ? high : low)), (double)x);
}

static void test_sums(void)
{
    enum { PAIRS = 200000 };
    std::vector<__half> a(PAIRS), b(PAIRS), c(PAIRS);
    __half *device;
    int wrong = 0, wrong_nearest = 0, subnormal = 0, infinite = 0;
    uint64_t state = 1;
    for (int i = 0; i < PAIRS; i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        const int x = state >> 48, y = state >> 32 & 0xffff;
        a[i] = of_bits((x & 0x7c00) == 0x7c00 ? x & 0xbfff : x);
        const int near = (bits_of(a[i]) & 0x7c00) | (y & 0x83ff); /* half of them, of one size */
        b[i] = of_bits(i % 2 ? near : (y & 0x7c00) == 0x7c00 ? y & 0xbfff : y);
    }
    CUDA_CHECK(cudaMalloc((void **)&device, 3 * PAIRS * sizeof(__half)));
    cudaMemcpy(device, a.data(), PAIRS * sizeof(__half), cudaMemcpyHostToDevice);
    cudaMemcpy(device + PAIRS, b.data(), PAIRS * sizeof(__half), cudaMemcpyHostToDevice);
    add_halves(device, device + PAIRS, device + 2 * PAIRS, PAIRS, 0);
    cudaMemcpy(c.data(), device + 2 * PAIRS, PAIRS * sizeof(__half), cudaMemcpyDeviceToHost);
    CUDA_CHECK(cudaFree(device));
    for (int i = 0; i < PAIRS; i++) {
        const double exact = (double)__half2float(a[i]) + (double)__half2float(b[i]);
        const double want = searched(exact);
        wrong += (double)__half2float(c[i]) != want;
        wrong_nearest += nearest_half(exact) != want;
        subnormal += want != 0.0 && fabs(want) < 0x1p-14;
        infinite += isinf(want);
    }
    ok(wrong == 0, "sums of any two numbers are rounded right");
    ok(wrong_nearest == 0, "and nearest_half says the same");
    ok(subnormal > 1000 && infinite > 1000, "among them many that are tiny, and many too large");
}

int main()
{
    test_addresses();
    test_sums();
    printf("1..%d\n", count);
    return 0;
}
