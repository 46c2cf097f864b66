/* contracted.cu: what a product that is subtracted from itself leaves. Rounded before, it is 0; in
 * an FMA, the rounding error. __fmul_rn and its like are no part of an FMA, whatever stands around.
 */
#include <stdio.h>

template <class T>
struct results {
    T plain, product, difference, sum;
};

static __device__ float mul(float a, float b)
{
    return __fmul_rn(a, b);
}
static __device__ float sub(float a, float b)
{
    return __fsub_rn(a, b);
}
static __device__ float add(float a, float b)
{
    return __fadd_rn(a, b);
}
static __device__ double mul(double a, double b)
{
    return __dmul_rn(a, b);
}
static __device__ double sub(double a, double b)
{
    return __dsub_rn(a, b);
}
static __device__ double add(double a, double b)
{
    return __dadd_rn(a, b);
}

// x: two factors and their rounded product, read anew for each result: g++ makes no FMA of a
// product that has other uses.
template <class T>
__global__ void contract(const volatile T *x, results<T> *r)
{
    r->plain = x[0] * x[1] - x[2];
    r->product = mul(x[0], x[1]) - x[2];
    r->difference = sub(x[0] * x[1], x[2]);
    r->sum = add(x[0] * x[1], -x[2]);
}

template <class T>
static void show(const char *name, T a)
{
    volatile T rounded = a * a; // volatile: rounded on the host
    const T x[3] = {a, a, rounded};
    T *in;
    results<T> *out, r;
    cudaMalloc(&in, sizeof x);
    cudaMalloc(&out, sizeof r);
    cudaMemcpy(in, x, sizeof x, cudaMemcpyHostToDevice);
    contract<T><<<1, 1>>>(in, out);
    cudaMemcpy(&r, out, sizeof r, cudaMemcpyDeviceToHost);
    printf("%s: %a, rounded %a %a %a\n", name, (double)r.plain, (double)r.product,
           (double)r.difference, (double)r.sum);
    cudaFree(in);
    cudaFree(out);
}

int main()
{
    show("float", 1 + 0x1p-12f);
    show("double", 1 + 0x1p-27);
    return 0;
}
