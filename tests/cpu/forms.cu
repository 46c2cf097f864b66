/* Launches, functions and variables in the forms that CUDA C++ allows. */
#include <cstdio>
#include <cstring>
#include <ctime>
#include <numeric>
#include <vector>

using namespace std; // so the kernel `reduce` shares its name with functions of a header

static int wrong;
static void expect(const char *what, double got, double want)
{
    if (got != want) {
        wrong++;
        printf("%s: %g, not %g\n", what, got, want);
    }
}

/* Kernels that the arguments choose. */
template <int B, class T>
__global__ void k(T *p, int n)
{
    p[threadIdx.x] = n + B;
}
struct Runner {
    int *p;
    int n;
    void go(cudaStream_t s)
    {
        k<32><<<dim3(1), 32, 0, s>>>(p, this->n);
    }
};
#define LAUNCH(x, ...) x<<<1, 32>>>(__VA_ARGS__)
template <class F>
__global__ void map(F f, int n)
{
    if ((int)threadIdx.x < n)
        f(threadIdx.x);
}
template <class T>
__global__ void big(T *p)
{
    extern __shared__ T room[];
    room[threadIdx.x] = T(threadIdx.x);
    __syncthreads();
    p[threadIdx.x] = room[31 - threadIdx.x];
}

/* Shared variables outside functions, and what hides them. */
__shared__ int sent[32], *sent_to;
extern __shared__ int tail[];
extern __shared__ int tail[];
struct Sent {
    int sent;
};
__device__ int received()
{
    return sent[31 - threadIdx.x] + tail[threadIdx.x];
}
__device__ int hides(int sent, Sent s)
{
    int tail = 5;
    return 100 * (sent + tail + s.sent);
}
__global__ void __launch_bounds__(32) send(int *p)
{
    sent[threadIdx.x] = tail[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0)
        sent_to = p;
    __syncthreads();
    sent_to[threadIdx.x] = received() + hides(1, {2});
}

/* Defaults: at the declaration alone, of templates, of a type with a comma in it. */
__global__ void add(int *p, int a = 1, float b = 2.5f * 2, const int *q = nullptr);
__global__ void add(int *p, int a, float b, const int *q)
{
    p[threadIdx.x] += a + (int)b + (q ? *q : 0);
}
template <class T = int, int N = 8>
__global__ void fill(T *p, T v = T(3), int n = N)
{
    if ((int)threadIdx.x < n)
        p[threadIdx.x] = v;
}
__global__ void none(int *p, pair<int, int> *q = nullptr, void (*)(int, int) = nullptr)
{
    p[0] = q ? q->first : 40;
}
__global__ void __launch_bounds__(64) bounded(int *p, int v = 6)
{
    p[0] = v;
}

/* Names that mean a function of the host as well, or other kernels, or something of std. */
__global__ void scale(int *x, int a, int n = 32);
__global__ void scale(int *x, int a, int n)
{
    if ((int)threadIdx.x < n)
        x[threadIdx.x] *= a;
}
void scale(vector<int> &v, int a)
{
    int *d;
    const size_t bytes = v.size() * sizeof(int);
    cudaMalloc(&d, bytes);
    cudaMemcpy(d, v.data(), bytes, cudaMemcpyHostToDevice);
    scale<<<1, 32>>>(d, a, v.size());
    scale<<<1, 2>>>(d, 10);
    cudaMemcpy(v.data(), d, bytes, cudaMemcpyDeviceToHost);
    cudaFree(d);
}
__global__ void reduce(int *x, int *y, int first)
{
    y[0] = first + x[0];
}
__global__ void put(int *p, int v)
{
    p[0] = v;
}
__global__ void put(int *p, double v, int times)
{
    p[0] = (int)(v * times);
}

__global__ void set(int *p, int v)
{
    p[0] = v;
}
__global__ void set(float *p, int v)
{
    p[0] = v + 0.5f;
}

/* Of a reference the address goes to the kernel: what it refers to is the device's. */
struct Pair {
    int a, b;
};
__global__ void refers(const Pair &p, int *out)
{
    out[0] = p.a * 10 + p.b;
}

/* Operators are functions, on whichever side they run. */
struct vec {
    int x[3];
    __host__ __device__ int &operator[](int i)
    {
        return x[i];
    }
    __host__ __device__ const int &operator[](int i) const
    {
        return x[i];
    }
    __host__ __device__ vec &operator+=(const vec &o)
    {
        for (int i = 0; i < 3; i++)
            x[i] += o[i];
        return *this;
    }
    bool __device__ operator==(const vec &o) const
    {
        return x[0] == o[0] && x[1] == o[1] && x[2] == o[2];
    }
    __device__ bool operator<=(const vec &o) const
    {
        return x[0] <= o[0];
    }
    __device__ operator int() const
    {
        return x[0];
    }
};
inline __host__ __device__ void operator*=(vec &a, int b)
{
    a[0] *= b;
}
__device__ inline bool operator!=(int3 a, int3 b)
{
    return a.x != b.x;
}
__device__ int table[2][2] = {{1, 2}, {3, 4}}, other = 5, *nowhere;
__device__ struct point {
    int x;
} here;
__constant__ int c1[2] = {6, 7}, c2 = 8;
__constant__ __device__ vec c3 = {{9, 10, 11}};
__global__ void operate(const vec *v, int *out)
{
    vec a = v[0];
    a += v[1];
    a *= 2;
    out[0] = a[0] + (a == v[0]) + (a <= a) * 100 + (int)a;
    out[1] = (make_int3(1, 0, 0) != make_int3(2, 0, 0)) + table[1][0] + other + c1[1] + c2 + c3[2];
    out[2] = 12 + (nowhere != nullptr) + here.x;
}

__host__ __device__ __forceinline__ float sq(float a)
{
    return a * a;
}
__noinline__ __device__ float cube(float a)
{
    return sq(a) * a;
}
__global__ void kf(float *p, const float *q = nullptr)
{
    p[0] = cube(2) + (q ? 1 : 0);
}

/* Functions of C, and somebody's own under their names. */
namespace own
{
__device__ int clock()
{
    return 7;
}
__device__ void memcpy(int *to, int value)
{
    *to = value;
}
} // namespace own
__global__ void names_of_c(int *to)
{
    int a[3], b[3] = {1, 2, 3}, c[3];
    own::memcpy(&a[0], own::clock());
    std::memcpy(a + 1, b + 1, 2 * sizeof *a);
    ::memcpy(c, a, sizeof c);
    *to = c[0] * 100 + c[1] * 10 + c[2] + (std::clock() < 0);
}

/* Declared, launched, and defined last. */
__global__ void copy(int *to, int value);
static void copies(int *to)
{
    copy<<<1, 1>>>(to, 6);
}
__global__ void copy(int *to, int value)
{
    *to = value;
}

int main()
{
    int *p, n, grid;
    float *f;
    cudaMallocManaged(&p, 128);
    cudaMallocManaged(&f, 128);
    Runner{p, 3}.go(0);
    expect("a launch in a member", p[5], 35);
    copies(p);
    cudaDeviceSynchronize();
    expect("a launch before the body", p[0], 6);
    names_of_c<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    expect("names of C", p[0], 723);
    LAUNCH((k<8, int>), p, 1);
    expect("a launch in a macro", p[5], 9);
    kf<<<1, 1>>>(f, nullptr);
    expect("functions", f[0], 8);
    kf<<<1, 1>>>(f);
    expect("a default", f[0], 8);
    map<<<1, 32>>>([=] __device__(int i) { p[i] = i * 7; }, 32);
    expect("a lambda", p[5], 35);
    cudaFuncSetAttribute(big<int>, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);
    big<<<1, 32, 100000>>>(p);
    expect("a template that opts in", p[5], 26);

    for (int i = 0; i < 32; i++)
        p[i] = 1;
    add<<<1, 32>>>(p);
    expect("three defaults", p[5], 7);
    add<<<1, 32>>>(p, 2, 3);
    expect("one default", p[5], 12);
    add<<<1, 32>>>(p, 0, 0, NULL);
    expect("no default", p[5], 12);
    fill<<<1, 32>>>(p);
    expect("defaults of a template", p[7], 3);
    fill<int, 2><<<1, 32>>>(p, 4);
    expect("and of its parameters", p[1] * 10 + p[2], 43);
    none<<<1, 1>>>(p);
    expect("a default of a type with a comma", p[0], 40);
    bounded<<<1, 1>>>(p);
    expect("a default of a bounded kernel", p[0], 6);

    vector<int> v{1, 2, 3, 4};
    scale(v, 3);
    expect("a host function of the same name", v[1] * 100 + v[3], 6012);
    reduce<<<1, 1>>>(p, p + 1, 2);
    expect("a name of std", p[1], 8);
    put<<<1, 1>>>(p, 3);
    put<<<1, 1>>>(p + 1, 2.5, 2);
    set<<<1, 1>>>(p, 3);
    set<<<1, 1>>>(f, 4);
    expect("two that differ in the first parameter", p[0] * 10 + f[0], 34.5);
    Pair *pair_of;
    cudaMallocManaged(&pair_of, sizeof *pair_of);
    *pair_of = {4, 2};
    refers<<<1, 1>>>(*pair_of, p);
    expect("a reference", p[0], 42);

    send<<<1, 32, 128>>>(p);
    cudaDeviceSynchronize();
    expect("shared variables outside functions", p[7], 24 + 7 + 800);

    int *at = p, eight = 8;
    void *arguments[] = {&at, &eight};
    cudaLaunchKernel((const void *)bounded, dim3(1), dim3(1), arguments, 0, 0);
    expect("a launch by an address", p[0], 8);

    vec *w;
    cudaMallocManaged(&w, 2 * sizeof *w);
    w[0] = {{1, 2, 3}};
    w[1] = {{4, 5, 6}};
    operate<<<1, 1>>>(w, p);
    expect("operators", p[0], 120);
    expect("variables", p[1], 1 + 3 + 5 + 7 + 8 + 11);
    expect("pointers, and a variable with its type", p[2], 12);

    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (void *)add, 128, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, add, 128, 0);
    cudaOccupancyMaxPotentialBlockSize(&grid, &n, (void *)add, 0, 0);
    cudaOccupancyMaxPotentialBlockSize(&grid, &n, (const void *)add);
    cudaOccupancyMaxPotentialBlockSize(&grid, &n, fill<int, 2>);
    expect("occupancy by an address", n, 1024);
    cudaFree(p);
    cudaFree(f);
    cudaFree(w);
    cudaFree(pair_of);
    printf("%d wrong, %s\n", wrong, cudaGetErrorString(cudaGetLastError()));
    return wrong;
}
