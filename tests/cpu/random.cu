/* cuRAND: the sequences of the device API and of the host API. The constants are those of NVIDIA's
 * header and library, compiled for a host: nvcc -DFOR_HOST random.cu -lcurand prints them. Prints
 * "N checks, 0 failed". On a GPU too. */
#ifdef FOR_HOST
#define QUALIFIERS static inline __host__ __device__
#endif
#include "check.h"

#include <cmath>
#include <cstdint>
#include <curand.h>
#include <curand_kernel.h>
#include <vector>

#ifdef FOR_HOST
#define KERNEL(name) static void name
#define LAUNCH(name, to) name((to).data())
#define CREATE curandCreateGeneratorHost
#else
#define KERNEL(name) __global__ void name
#define LAUNCH(name, to) launch(name, to)
#define CREATE curandCreateGenerator
template <class T>
static void launch(void (*kernel)(T *), std::vector<T> &to)
{
    T *d;
    cudaMalloc(&d, to.size() * sizeof(T));
    cudaMemset(d, 0, to.size() * sizeof(T));
    kernel<<<1, 1>>>(d);
    cudaMemcpy(to.data(), d, to.size() * sizeof(T), cudaMemcpyDeviceToHost);
    cudaFree(d);
}
#endif

template <class T>
static uint64_t hash(const std::vector<T> &v) /* FNV-1a of the bytes */
{
    uint64_t h = 1469598103934665603ull;
    const unsigned char *p = (const unsigned char *)v.data();
    for (size_t i = 0; i < v.size() * sizeof(T); i++)
        h = (h ^ p[i]) * 1099511628211ull;
    return h;
}
template <class T>
static double weighted(const std::vector<T> &v)
{
    double sum = 0;
    for (size_t i = 0; i < v.size(); i++)
        sum += (double)v[i] * (double)(1 + i % 7);
    return sum;
}

static void expect(const char *what, uint64_t found, uint64_t wanted)
{
    checks++;
#ifdef FOR_HOST
    (void)wanted;
    printf("%s 0x%llxull\n", what, (unsigned long long)found);
#else
    if (found != wanted) {
        failures++;
        printf("FAILED %s: 0x%llx, not 0x%llx\n", what, (unsigned long long)found,
               (unsigned long long)wanted);
    }
#endif
}
static void near(const char *what, double found, double wanted, double tolerance)
{
    checks++;
#ifdef FOR_HOST
    (void)wanted, (void)tolerance;
    printf("%s %.9g\n", what, found);
#else
    if (!(fabs(found - wanted) <= tolerance)) {
        failures++;
        printf("FAILED %s: %.9g, not %.9g\n", what, found, wanted);
    }
#endif
}

/* --- The device API --------------------------------------------------------------------------- */

enum { BITS = 400, NORMALS = 300 };

template <class State>
KERNEL(bits)
(unsigned *to)
{
    const unsigned long long seeds[] = {0, 1234, 0x123456789abcdefull};
    const unsigned long long subsequences[] = {0, 1, 4095, 0xffffffffffull};
    const unsigned long long offsets[] = {0, 1, 3, 1000000, 0xffffffffffull};
    int n = 0;
    State s;
    for (unsigned long long seed : seeds)
        for (unsigned long long subsequence : subsequences)
            for (unsigned long long offset : offsets) {
                curand_init(seed, subsequence, offset, &s);
                to[n++] = curand(&s);
                to[n++] = curand(&s);
            }
    while (n < BITS - 1)
        to[n++] = curand(&s);
    skipahead(12345678901ull, &s);
    skipahead_sequence(3, &s);
    to[n] = curand(&s);
}
template <class State>
KERNEL(uniforms)
(double *to)
{
    State s;
    curand_init(7, 3, 2, &s);
    for (int i = 0; i < BITS; i++)
        to[i] = i % 2 ? curand_uniform_double(&s) : (double)curand_uniform(&s);
}
template <class State>
KERNEL(normals)
(double *to)
{
    State s;
    curand_init(7, 3, 2, &s);
    for (int i = 0; i < NORMALS; i++) {
        if (i < 100) {
            to[i] = curand_normal(&s);
        } else if (i < 200) {
            to[i] = curand_normal_double(&s);
        } else if (i % 4 < 2) {
            const float2 v = curand_normal2(&s);
            to[i] = v.x + 2 * v.y;
        } else if (i % 4 == 2) {
            const double2 v = curand_normal2_double(&s);
            to[i] = v.x + 2 * v.y;
        } else {
            to[i] = curand_log_normal(&s, 0.5f, 0.25f) + curand_log_normal_double(&s, 0.5, 0.25);
        }
    }
}
template <class State>
KERNEL(poisson)
(unsigned *to)
{
    State s;
    curand_init(7, 3, 2, &s);
    for (int i = 0; i < NORMALS; i++)
        to[i] = curand_poisson(&s, i < 100 ? 3.5 : i < 200 ? 500 : 1e4);
}
KERNEL(fours)(double *to)
{
    curandStatePhilox4_32_10_t s;
    curand_init(99, 1, 1, &s);
    int n = 0;
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < i; j++)
            to[n++] = curand(&s);
        const uint4 b = curand4(&s);
        const float4 u = curand_uniform4(&s);
        const double2 d = curand_uniform2_double(&s);
        for (double v : {(double)b.x, (double)b.y, (double)b.z, (double)b.w, (double)u.x,
                         (double)u.w, d.x, d.y})
            to[n++] = v;
    }
}

template <class State>
static void device(const char *name, uint64_t of_bits, uint64_t of_uniforms, double of_normals,
                   double of_poisson)
{
    std::vector<unsigned> u(BITS);
    LAUNCH(bits<State>, u);
    expect(name, hash(u), of_bits);
    std::vector<double> d(BITS);
    LAUNCH(uniforms<State>, d);
    expect(name, hash(d), of_uniforms);
    d.resize(NORMALS);
    LAUNCH(normals<State>, d);
    near(name, weighted(d), of_normals, 1e-3);
    u.resize(NORMALS);
    LAUNCH(poisson<State>, u);
    near(name, weighted(u), of_poisson, 1000); /* one number of another draw at most */
}

/* --- The host API ----------------------------------------------------------------------------- */

template <class T, class Call>
static std::vector<T> made(size_t n, Call call)
{
    std::vector<T> h(n);
#ifdef FOR_HOST
    CHECK(call(h.data()) == CURAND_STATUS_SUCCESS);
#else
    T *d;
    cudaMalloc(&d, n * sizeof(T));
    CHECK(call(d) == CURAND_STATUS_SUCCESS);
    cudaMemcpy(h.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost);
    cudaFree(d);
#endif
    return h;
}

static void host(const char *name, curandRngType_t type, size_t n, const uint64_t (&hashes)[6],
                 const double (&sums)[3])
{
    curandGenerator_t g;
    CHECK(CREATE(&g, type) == CURAND_STATUS_SUCCESS);
    CHECK(curandSetPseudoRandomGeneratorSeed(g, 1234) == CURAND_STATUS_SUCCESS);
    auto bits = [&](size_t n) {
        return hash(made<unsigned>(n, [=](unsigned *p) { return curandGenerate(g, p, n); }));
    };
    expect(name, bits(n), hashes[0]);
    expect(name, bits(12345), hashes[1]);
    expect(name, hash(made<float>(n, [=](float *p) { return curandGenerateUniform(g, p, n); })),
           hashes[2]);
    CHECK(curandSetGeneratorOffset(g, 0) == CURAND_STATUS_SUCCESS);
    expect(name,
           hash(made<double>(n, [=](double *p) { return curandGenerateUniformDouble(g, p, n); })),
           hashes[3]);
    expect(name,
           hash(made<double>(1001,
                             [=](double *p) { return curandGenerateUniformDouble(g, p, 1001); })),
           hashes[4]);
    curandSetGeneratorOffset(g, 777777);
    expect(name, bits(1000), hashes[5]);
    curandSetGeneratorOffset(g, 0);
    const double tolerance = 1e-4 * sqrt((double)n);
    near(name,
         weighted(made<float>(n, [=](float *p) { return curandGenerateNormal(g, p, n, 2, 3); })),
         sums[0], 20 * tolerance);
    near(name,
         weighted(
             made<double>(n, [=](double *p) { return curandGenerateNormalDouble(g, p, n, 0, 1); })),
         sums[1], tolerance);
    near(name,
         weighted(made<float>(
             n, [=](float *p) { return curandGenerateLogNormal(g, p, n, 0.5f, 0.25f); })),
         sums[2], 20 * tolerance);
    CHECK(curandDestroyGenerator(g) == CURAND_STATUS_SUCCESS);
}

int main()
{
    device<curandStateXORWOW_t>("XORWOW", 0x54e439faa39dc52aull, 0x7bf255c0f92f01b0ull, 230.385066,
                                4221211);
    device<curandStatePhilox4_32_10_t>("Philox", 0xf4e9e51f20d1b3d0ull, 0x74bdfb5f64c740cdull,
                                       247.329649, 4224681);
    device<curandStateMRG32k3a_t>("MRG32k3a", 0x9ffba00e7736036aull, 0x3a624337852a5919ull,
                                  157.990831, 4235582);
    std::vector<double> d(50);
    LAUNCH(fours, d);
    expect("four at once", hash(d), 0x67672ddc173be89bull);
    host("XORWOW, host", CURAND_RNG_PSEUDO_DEFAULT, 20000,
         {0xb66552241b093413ull, 0xab3bde7996e4f8cdull, 0x613fc122f99b5974ull,
          0xd6bc976c705a1c09ull, 0x6a1458888580c5c2ull, 0x303811640bde750ull},
         {159006.2, 597.687052, 136444.691});
    host("Philox, host", CURAND_RNG_PSEUDO_PHILOX4_32_10, 300000,
         {0xa1b81bb377383903ull, 0x557be725a86d7166ull, 0xaea186130dc61bd5ull,
          0x4fe91f5673fd1eacull, 0x9234317db743b21aull, 0x785f5bb6717b4be6ull},
         {2409016.25, 936.475039, 2041378.09});
    host("MRG32k3a, host", CURAND_RNG_PSEUDO_MRG32K3A, 100000,
         {0xcf873b3eaebea40ull, 0xe6da9377cc63dabbull, 0x9f02b02966319c2cull, 0x5c20eee25c7b64full,
          0x1beadefc26bc08e0ull, 0xb5405cd4fd06fbeaull},
         {797668.968, 2113.24025, 680855.405});
    return check_result();
}
