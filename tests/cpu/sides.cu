// Names that mean a function of the host in one place and one of the device in another: each call
// here is right, and nvcc takes it.
#include <cmath>
#include <vector>
#include <algorithm>
struct op {
    float v;
    __device__ float half(float x) const
    {
        return x / 2;
    }
    float host_only(float x)
    {
        return x;
    }
};
constexpr int twice(int x)
{
    return 2 * x;
}
static float mean(const std::vector<float> &v)
{
    float s = 0;
    for (float x : v)
        s += x;
    return s / v.size();
}
__host__ __device__ float both(float x)
{
    return x;
}
static float other(float x)
{
    return x;
}
__device__ float other(int x)
{
    return x;
}
template <class T>
T max_of(T a, T b)
{
    return a < b ? b : a;
}
namespace n
{
static int inner(int x)
{
    return x;
}
} // namespace n
namespace m
{
__device__ int inner(int x)
{
    return x;
}
} // namespace m
__device__ float half(float x)
{
    return x / 2;
}
float named(float x)
{
    return x;
}
#define SQUARE(x) ((x) * (x))
static double mine(double x)
{
    return x;
}
static double pow(double a, int b, int c)
{
    return a + b + c;
}
__device__ float quarter(float x)
{
    return x / 4;
}
__global__ void k(float *p, float (*f)(float))
{
    auto mine = [](float x) { return x; };
    float named = sizeof(mean({}));
    p[0] = both(p[0]) + other(3) + SQUARE(p[1]) + mine(1.f) + m::inner(2) + named + half(2.f) +
           op{1}.half(2) + pow(2.0, 1);
}
template <class T>
__global__ void t(T *p)
{
    p[0] = max_of(p[0], p[1]);
}
static float use(float x)
{
    return both(x) + other(2.f) + n::inner(1) + op{1}.host_only(1) + std::max(1, 2) +
           pow(1.0, 2, 3) + mine(3.0);
}
static void local_class(float *p)
{
    struct body {
        __device__ void operator()(float *p) const
        {
            *p = quarter(*p);
        }
    };
    (void)p, (void)sizeof(body);
}
struct half_of {
    __host__ __device__ half_of(float);
};
int main()
{
    std::vector<float> v(4);
    local_class(nullptr);
    auto lambda = [](float x) { return x; };
    return (int)(use(1) + mean(v) + twice(2) + lambda(3) + named(1)) == 5;
}
