/* Every operation of kernels against its expected value, in whatever order threads run. */
#include "check.h"

#include <cassert>
#include <climits>
#include <cmath>
#include <cstring>
#include <vector>

const unsigned FULL = 0xffffffffu;

template <class T>
struct Buffer {
    T *p;
    size_t n;
    explicit Buffer(size_t n) : n(n)
    {
        CHECK_ERROR(cudaMalloc(&p, n * sizeof(T)), cudaSuccess);
    }
    ~Buffer()
    {
        cudaFree(p);
    }
    std::vector<T> read()
    {
        std::vector<T> v(n);
        CHECK_ERROR(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
        return v;
    }
};

template <class T>
__global__ void shuffles(T *out)
{
    int lane = threadIdx.x % 32;
    T v = (T)(lane * 3 + 1);
    T r[8] = {__shfl_sync(FULL, v, 5),      __shfl_sync(FULL, v, lane + 1, 8),
              __shfl_up_sync(FULL, v, 3),   __shfl_up_sync(FULL, v, 3, 16),
              __shfl_down_sync(FULL, v, 2), __shfl_down_sync(FULL, v, 2, 4),
              __shfl_xor_sync(FULL, v, 17), __shfl_xor_sync(FULL, v, 9, 8)};
    for (int i = 0; i < 8; i++)
        out[threadIdx.x * 8 + i] = r[i];
}

template <class T>
void test_shuffles()
{
    Buffer<T> out(64 * 8);
    shuffles<<<1, 64>>>(out.p);
    std::vector<T> r = out.read();
    for (int t = 0; t < 64; t++) {
        int l = t % 32;
        /* Xor past the segment's end keeps the own value; into an earlier segment it reads. */
        int from[8] = {5,
                       l / 8 * 8 + (l + 1) % 8,
                       l >= 3 ? l - 3 : l,
                       l % 16 >= 3 ? l - 3 : l,
                       l < 30 ? l + 2 : l,
                       l % 4 < 2 ? l + 2 : l,
                       l ^ 17,
                       (l ^ 9) <= (l | 7) ? l ^ 9 : l};
        for (int i = 0; i < 8; i++)
            CHECK(r[t * 8 + i] == (T)(from[i] * 3 + 1));
    }
}

__global__ void votes(unsigned *out)
{
    int lane = threadIdx.x % 32;
    unsigned *o = out + threadIdx.x * 16;
    o[0] = __ballot_sync(FULL, lane % 3 == 0);
    o[1] = __any_sync(FULL, lane == 7);
    o[2] = __any_sync(FULL, lane == 77);
    o[3] = __all_sync(FULL, lane < 32);
    o[4] = __all_sync(FULL, lane < 31);
    o[5] = __match_any_sync(FULL, lane % 4);
    int all;
    unsigned lanes = __match_all_sync(FULL, 3.5, &all);
    o[6] = all ? lanes : 0;
    lanes = __match_all_sync(FULL, lane / 31, &all);
    o[7] = all ? 1 : lanes;
    o[8] = __reduce_add_sync(FULL, -lane);
    o[9] = __reduce_min_sync(FULL, lane - 16);
    o[10] = __reduce_max_sync(FULL, (unsigned)(lane - 16));
    o[11] = __reduce_and_sync(FULL, 0xf0u | lane);
    o[12] = __reduce_or_sync(FULL, 1u << lane / 2);
    o[13] = __reduce_xor_sync(FULL, 1u << lane);
    if (lane % 2)
        o[14] = __ballot_sync(0xaaaaaaaau, lane < 8); /* halves of a warp go separate ways */
    else
        o[14] = __ballot_sync(0x55555555u, lane >= 8);
    o[15] = lane < 10 ? __activemask() : 0;
}

void test_votes()
{
    Buffer<unsigned> out(64 * 16);
    votes<<<1, 64>>>(out.p);
    std::vector<unsigned> r = out.read();
    for (int t = 0; t < 64; t++) {
        const unsigned *o = &r[t * 16];
        int l = t % 32;
        CHECK(o[0] == 0x49249249u);
        CHECK(o[1] == 1 && o[2] == 0 && o[3] == 1 && o[4] == 0);
        CHECK(o[5] == 0x11111111u << l % 4);
        CHECK(o[6] == FULL && o[7] == 0);
        CHECK((int)o[8] == -496 && (int)o[9] == -16 && o[10] == 0xffffffffu);
        CHECK(o[11] == 0xf0u && o[12] == 0xffffu && o[13] == FULL);
        CHECK(o[14] == (l % 2 ? 0xaau : 0x55555500u));
        CHECK(o[15] == (l < 10 ? 0x3ffu : 0));
    }
}

__global__ void barriers(int *out, int n)
{
    int t = threadIdx.x;
    if (t >= n)
        return; /* exited threads are not waited for */
    int a = __syncthreads_count(t % 3 == 0);
    int b = __syncthreads_and(t < n);
    int c = __syncthreads_and(t != 5);
    int d = __syncthreads_or(t == 5);
    int e = __syncthreads_or(t == n);
    out[t] = a * 10000 + (b != 0) * 1000 + (c != 0) * 100 + (d != 0) * 10 + (e != 0);
}

/* Warps that meet in two places; those of the first place then end, and the others meet alone. */
__global__ void barriers_apart(int *out)
{
    __shared__ int sum[96];
    const int t = threadIdx.x;
    if (t < 64) {
        sum[t] = t;
        __syncthreads();
        return;
    }
    sum[t] = 1;
    __syncthreads();
    const int other = sum[t - 64] + sum[160 - t - 1];
    __syncthreads();
    sum[t] = other;
    __syncthreads();
    out[t - 64] = sum[96 + 64 - 1 - t];
}

void test_barriers()
{
    Buffer<int> apart(32);
    barriers_apart<<<1, 96>>>(apart.p);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    std::vector<int> a = apart.read();
    for (int i = 0; i < 32; i++)
        CHECK(a[i] == 31 - i + 1);
    Buffer<int> out(200);
    barriers<<<1, 256>>>(out.p, 200);
    std::vector<int> r = out.read();
    for (int i = 0; i < 200; i++)
        CHECK(r[i] == 671010);
}

/* A shuffle that reads a lane which the mask leaves out, which has ended or which the block lacks
 * gets all ones, and nobody waits. */
template <class T>
__global__ void undefined(T *out)
{
    const int t = threadIdx.x, lane = t % 32;
    const unsigned half = lane < 16 ? 0xffff : 0xffff0000;
    out[t] = __shfl_down_sync(t < 32 ? half : FULL, (T)t, 4); // the block has 72 threads
    if (lane >= 6)
        return;
    out[72 + t] = __shfl_down_sync(FULL, (T)t, 4);
}

template <class T>
void test_undefined()
{
    Buffer<T> out(2 * 72);
    undefined<<<1, 72>>>(out.p);
    std::vector<T> r = out.read();
    T ones;
    memset(&ones, 0xff, sizeof ones);
    for (int t = 0; t < 72; t++) {
        const int lane = t % 32, width = t < 32 ? 16 : t < 64 ? 32 : 8, inside = lane + 4 < 32;
        const T of_mask = lane % width + 4 < width ? t + 4 : inside ? ones : t;
        CHECK(memcmp(&r[t], &of_mask, sizeof(T)) == 0);
        const T of_live = lane < 2 ? t + 4 : ones;
        CHECK(lane >= 6 || memcmp(&r[72 + t], &of_live, sizeof(T)) == 0);
    }
}

/* A short last warp: its missing lanes are not waited for. */
__global__ void short_warp(int *out)
{
    int v = threadIdx.x;
    for (int d = 4; d; d /= 2)
        v += __shfl_xor_sync(FULL, v, d);
    out[threadIdx.x] = v;
}

void test_short_warp()
{
    Buffer<int> out(40);
    short_warp<<<1, 40>>>(out.p);
    std::vector<int> r = out.read();
    for (int i = 0; i < 40; i++)
        CHECK(r[i] == i / 8 * 64 + 28);
}

#ifdef CUDA_CPU_BACKEND
/* Warp 0 fills what warps 1 and 2 read, over bar.sync and bar.arrive; warp 3 takes no part. */
__global__ void named(int *out)
{
    __shared__ int s[32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int round = 0; round < 3; round++) {
        if (warp == 0) {
            __cpu_named_barrier(2, 96); /* the readers are done */
            s[lane] = lane + round;
            __cpu_named_arrive(1, 96);
        } else if (warp < 3) {
            __cpu_named_arrive(2, 96);
            __cpu_named_barrier(1, 96);
            out[round * 64 + threadIdx.x - 32] = s[lane ^ 1];
        }
        if (warp == 1 || warp == 2)
            __cpu_named_barrier(3, 64);
    }
    if (blockIdx.x % 2 && warp >= 2)
        __cpu_named_barrier(4, 64);
    else if (warp == 3)
        __cpu_named_arrive(4, 128); /* which nobody waits for, and no other block finds */
}

void test_named()
{
    Buffer<int> out(192);
    named<<<8, 128>>>(out.p);
    std::vector<int> r = out.read();
    for (int i = 0; i < 192; i++)
        CHECK(r[i] == (i % 32 ^ 1) + i / 64);
}
#else
void test_named()
{
}
#endif

__global__ void atomics(int *i, unsigned *u, unsigned long long *l, float *f, double *d,
                        int *shared)
{
    __shared__ int s;
    if (threadIdx.x == 0)
        s = 0;
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&s, 2);
    atomicAdd(&i[0], t);
    atomicSub(&i[1], 1);
    atomicMin(&i[2], -t);
    atomicMax(&i[3], t);
    atomicXor(&i[4], t);
    atomicAdd(&u[0], 1);
    atomicInc(&u[1], 99);
    atomicDec(&u[2], 99);
    atomicAnd(&u[3], ~(1u << t % 16));
    atomicOr(&u[4], 1u << t % 32);
    atomicExch(&u[5], 4711);
    atomicCAS(&u[6], 0u, (unsigned)t + 1);
    for (unsigned old = u[7], seen;; old = seen) /* a hand-made atomic multiply of 3 */
        if ((seen = atomicCAS(&u[7], old, old * 3)) == old)
            break;
    atomicAdd(l, 1ull << 33);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
    __syncthreads();
    if (threadIdx.x == 0)
        shared[blockIdx.x] = s;
}

void test_atomics()
{
    const int n = 1024;
    Buffer<int> i(5), shared(8);
    Buffer<unsigned> u(8);
    Buffer<unsigned long long> l(1);
    Buffer<float> f(1);
    Buffer<double> d(1);
    unsigned start[8] = {0, 0, 50, FULL, 0, 0, 0, 1};
    cudaMemset(i.p, 0, 20);
    cudaMemcpy(u.p, start, sizeof start, cudaMemcpyHostToDevice);
    cudaMemset(l.p, 0, 8);
    cudaMemset(f.p, 0, 4);
    cudaMemset(d.p, 0, 8);
    atomics<<<8, n / 8>>>(i.p, u.p, l.p, f.p, d.p, shared.p);
    std::vector<int> a = i.read(), s = shared.read();
    std::vector<unsigned> b = u.read();
    unsigned power = 1;
    for (int k = 0; k < n; k++)
        power *= 3;
    CHECK(a[0] == n * (n - 1) / 2 && a[1] == -n && a[2] == 1 - n && a[3] == n - 1 && a[4] == 0);
    CHECK(b[0] == n && b[1] == n % 100 && b[2] == (50 + 11 * 100 - n) % 100 && b[3] == 0xffff0000u);
    CHECK(b[4] == FULL && b[5] == 4711 && b[6] >= 1 && b[6] <= n && b[7] == power);
    CHECK(l.read()[0] == (unsigned long long)n << 33);
    CHECK(f.read()[0] == n * 0.5f && d.read()[0] == n * 0.25);
    for (int k = 0; k < 8; k++)
        CHECK(s[k] == 2 * n / 8);
}

struct Params {
    int a[3];
    double d;
};
enum { ROWS = 3, COLS = 5 };

/* Indices in three dimensions, forms of __shared__, arguments by value. */
__global__ void __launch_bounds__(64)
    places(int *out, const Params p, short h, const float *__restrict__ none)
{
    __shared__ int a[ROWS][COLS + 1], b;
    __shared__ __align__(128) unsigned char bytes[3];
    static __shared__ volatile float *pointers[4];
    __shared__ union {
        float f;
        unsigned u;
    } both;
    extern __shared__ __align__(16) double dyn[];
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    if (t == 0) {
        bool fresh = bytes[1] == 0xff && a[2][5] == -1 && dyn[7] != dyn[7];
        b = fresh + (sizeof a == 72) * 2 + ((size_t)bytes % 128 == 0) * 4;
        both.f = 1.0f;
        pointers[3] = nullptr;
        a[2][5] = both.u == 0x3f800000u;
        dyn[7] = p.d;
    }
    __syncthreads();
    out[block * blockDim.x * blockDim.y * blockDim.z + t] =
        block * 100000 + t * 1000 + b * 10 + a[2][5] + (p.a[2] == 9 && h == -7 && none == nullptr) +
        (dyn[7] == 2.5);
}

void test_places()
{
    Buffer<int> out(24 * 24);
    Params p = {{7, 8, 9}, 2.5};
    dim3 grid(2, 3, 4), block(4, 3, 2);
    places<<<grid, block, 8 * sizeof(double)>>>(out.p, p, -7, NULL);
    CHECK_ERROR(cudaGetLastError(), cudaSuccess);
    std::vector<int> r = out.read();
    for (int i = 0; i < 24 * 24; i++)
        CHECK(r[i] == i / 24 * 100000 + i % 24 * 1000 + 73);
}

/* Where a kernel has variables too, whether they come before it or not, dynamic shared memory is as
 * aligned as declared and no more, and shares no byte with one. */
template <int ALIGN, bool AFTER>
__global__ void aligned(int *out)
{
    if (AFTER) {
        __shared__ int before[2];
        before[threadIdx.x] = 0;
    }
    extern __shared__ __align__(ALIGN) char bytes[];
    __shared__ int behind[2];
    const int least = ALIGN < 16 ? 16 : ALIGN, t = threadIdx.x;
    const size_t at = (size_t)bytes, told = __cvta_generic_to_shared(bytes);
    bytes[t * 63] = 'a' + t;
    behind[t] = t;
    __syncthreads();
    out[t] = at % least == 0 && at % (2 * least) != 0 && told % least == 0 &&
             told % (2 * least) != 0 && bytes[63 - t * 63] == 'b' - t && behind[1 - t] == 1 - t;
}

/* The alignment of its type counts as well. */
struct alignas(64) Line {
    char c[64];
};
__global__ void aligned_type(int *out)
{
    extern __shared__ Line lines[];
    __shared__ int behind;
    behind = 1;
    out[threadIdx.x] = (size_t)lines % 128 == 64 && behind;
}

/* Alone, it begins at a multiple of 1024, unless CUDACPU_ALIGN=1. */
extern __shared__ float first_of_all[];
__global__ void aligned_alone(int *out)
{
    extern __shared__ float first[];
    out[threadIdx.x] = (size_t)first % 1024 == 0 && (void *)first == (void *)first_of_all;
}

/* A variable of a function that is called is known from the second launch on. */
__device__ int in_variable(int v)
{
    __shared__ int before[2];
    before[threadIdx.x] = v;
    return before[threadIdx.x];
}
__global__ void aligned_again(int *out, size_t at)
{
    extern __shared__ __align__(32) float first[];
    out[threadIdx.x] = in_variable((size_t)first % 1024 == at);
}

__global__ void aligned_twice(int *out)
{
    extern __shared__ float first[];
    __shared__ int behind;
    behind = 1;
    extern __shared__ __align__(128) char second[];
    out[0] = (void *)first == (void *)second && behind;
}

__global__ void aligned_too_much(int *out)
{
    extern __shared__ __align__(2048) char bytes[];
    out[0] = bytes[0];
}

void test_alignment()
{
    void (*const kernels[])(int *) = {aligned<1, false>,
                                      aligned<16, false>,
                                      aligned<128, false>,
                                      aligned<1024, false>,
                                      aligned<8, true>,
                                      aligned<256, true>,
                                      aligned<1024, true>,
                                      aligned_type,
                                      getenv("CUDACPU_ALIGN") ? aligned_type : aligned_alone};
    for (auto kernel : kernels) {
        Buffer<int> out(2);
        kernel<<<3, 2, 64>>>(out.p);
        CHECK_ERROR(cudaGetLastError(), cudaSuccess);
        for (int right : out.read())
            CHECK(right == 1);
    }
    static bool known = getenv("CUDACPU_ALIGN") != nullptr;
    for (int i = 0; i < 3; i++) {
        Buffer<int> out(2);
        aligned_again<<<1, 2, 64>>>(out.p, known ? 32 : 0);
        known = true;
        CHECK(out.read()[0] == 1 && out.read()[1] == 1);
    }
    /* All of a block's memory is there, wherever it begins. */
    cudaFuncSetAttribute(aligned<1024, false>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         227 * 1024 - 8);
    Buffer<int> out(2);
    aligned<1024, false><<<1, 2, 227 * 1024 - 8>>>(out.p);
    CHECK_ERROR(cudaGetLastError(), cudaSuccess);
    for (auto kernel : {aligned_twice, aligned_too_much}) {
        kernel<<<1, 1, 256>>>(out.p);
        CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
    }
}

/* Two static arrays of one template's instances must not share their place. */
template <int N>
__device__ int helper(int v)
{
    __shared__ int s[N];
    s[threadIdx.x] = v;
    __syncthreads();
    int r = s[(threadIdx.x + 1) % N];
    __syncthreads();
    return r;
}
namespace inner
{
template <class T, int N = 32>
__global__ void instances(T *out, T add)
{
    __shared__ T keep[N];
    keep[threadIdx.x] = add;
    int r = helper<N>(threadIdx.x) * 100 + helper<N * 2>(threadIdx.x);
    out[threadIdx.x] = keep[N - 1 - threadIdx.x] + (T)r;
}
} // namespace inner

/* Of a reference the address is kept, and a kernel changes what it refers to. */
__managed__ int referred = 5;
__global__ void adds_to(int &n, int more)
{
    if (threadIdx.x == 0)
        n += more;
}

void test_launch_forms()
{
    Buffer<int> out(32);
    Buffer<float> outf(32);
    void (*pointer)(int *, int) = inner::instances<int, 32>;
    int add = 5, stream_count = 0;
    cudaLaunchAttribute early = {};
    cudaLaunchConfig_t config = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = 1;
    config.blockDim = dim3(32);
    config.attrs = &early;
    config.numAttrs = 1;
    for (int form = 0; form < 7; form++) {
        cudaMemset(out.p, 0, 128);
        if (form == 5)
            CHECK_ERROR(cudaLaunchKernelEx(&config, inner::instances<int, 32>, out.p, 5.0f),
                        cudaSuccess);
        else if (form == 6)
            CHECK_ERROR(cudaLaunchKernelEx(&(&config)[0], pointer, out.p, add < 6 ? add : 0),
                        cudaSuccess);
        else if (form == 0)
            inner::instances<<<1, 32>>>(out.p, add);
        else if (form == 1)
            ::inner::instances<int><<<dim3(1), 32, 0>>>(out.p, add);
        else if (form == 2)
            inner::instances<int, (64 >> 1)><<<1, 32, 0, (cudaStream_t)0>>>(out.p, add);
        else if (form == 3)
            pointer<<<1, 32>>>(out.p, stream_count++ + 5);
        else {
            void *arguments[] = {&out.p, &add};
            CHECK_ERROR(cudaLaunchKernel(pointer, dim3(1), dim3(32), arguments, 0, 0), cudaSuccess);
        }
        std::vector<int> r = out.read();
        for (int i = 0; i < 32; i++)
            CHECK(r[i] == 5 + (i + 1) % 32 * 100 + (i + 1 < 32 ? i + 1 : -1));
    }
    CHECK(stream_count == 1);
    inner::instances<float, 32><<<1, 32>>>(outf.p, 0.5);
    CHECK(outf.read()[0] == 101.5f);
    adds_to<<<1, 32>>>(referred, 2);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(referred == 7);
}

__device__ int counter = 3;
__constant__ float table[4];
__device__ float grid_values[2][2];

__global__ void symbols(float *out)
{
    if (threadIdx.x == 0)
        counter += 1;
    out[threadIdx.x] = table[threadIdx.x] + grid_values[1][0];
}

void test_symbols()
{
    float t[4] = {1, 2, 3, 4}, one = 10;
    int c = 0;
    void *p;
    size_t size;
    CHECK_ERROR(cudaMemcpyToSymbol(table, t, sizeof t), cudaSuccess);
    CHECK_ERROR(cudaMemcpyToSymbol(grid_values, &one, 4, 8), cudaSuccess);
    CHECK_ERROR(cudaMemcpyToSymbol(table, t, sizeof t, 4), cudaErrorInvalidValue);
    cudaGetLastError();
    Buffer<float> out(4);
    symbols<<<1, 4>>>(out.p);
    CHECK(out.read()[3] == 14);
    CHECK_ERROR(cudaMemcpyFromSymbol(&c, counter, sizeof c), cudaSuccess);
    CHECK(c == 4);
    CHECK_ERROR(cudaGetSymbolAddress(&p, counter), cudaSuccess);
    CHECK_ERROR(cudaGetSymbolSize(&size, grid_values), cudaSuccess);
    CHECK(size == 16);
    CHECK_ERROR(cudaMemset(p, 0, 4), cudaSuccess);
    CHECK_ERROR(cudaMemcpyFromSymbol(&c, counter, sizeof c), cudaSuccess);
    CHECK(c == 0);
}

__host__ __device__ inline bool near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(b) + 1e-9;
}

__global__ void math(int *failed)
{
    int bad = 0;
    float s, c, x = 0.7f;
#define EXPECT(condition)                                                                          \
    if (!(condition)) {                                                                            \
        bad++;                                                                                     \
        printf("FAILED math: %s\n", #condition);                                                   \
    }
    sincosf(x, &s, &c);
    EXPECT(near(s, sin(0.7f)) && near(c, cos(0.7f)));
    __sincosf(x, &s, &c);
    EXPECT(fabsf(s - sinf(x)) < 1e-5f && fabsf(c - cosf(x)) < 1e-5f);
    sincospif(0.25f, &s, &c);
    EXPECT(near(s, c) && near(s, 0.70710678));
    EXPECT(fabsf(__expf(x) - expf(x)) < 1e-5f && near(exp2f(3), 8) && near(rsqrtf(4), 0.5));
    EXPECT(near(__fdividef(1, 4), 0.25) && near(__powf(2, 3), 8) && near(__logf(1), 0));
    EXPECT(fmaf(3, 4, 5) == 17 && __fmaf_rn(1 + 0x1p-20f, 1 - 0x1p-20f, -1) == -0x1p-40f);
    EXPECT(__fmul_rn(3, 5) == 15 && __fadd_rn(1, 2) == 3 && __frcp_rn(4) == 0.25f);
    EXPECT(__float_as_int(1.0f) == 0x3f800000 && __uint_as_float(0xff800000u) == -INFINITY);
    EXPECT(__double_as_longlong(1.0) == 0x3ff0000000000000ll);
    EXPECT(__popc(0xf0f0u) == 8 && __popcll(~0ull) == 64 && __clz(1) == 31 && __clz(0) == 32);
    EXPECT(__clzll(1) == 63 && __ffs(8) == 4 && __ffs(0) == 0 && __ffsll(1ll << 40) == 41);
    EXPECT(__brev(1) == 0x80000000u && __brevll(2) == 1ull << 62);
    EXPECT(__umulhi(0x80000000u, 6) == 3 && __mulhi(-1, 5) == -1);
    EXPECT(__umul64hi(1ull << 63, 4) == 2 && __mul24(-3, 5) == -15);
    EXPECT(__byte_perm(0x33221100u, 0x77665544u, 0x7531) == 0x77553311u);
    EXPECT(__funnelshift_l(0x80000000u, 1, 1) == 3 && __funnelshift_r(1, 3, 1) == 0x80000000u);
    EXPECT(min(3, -2) == -2 && max(3u, 4u) == 4 && max(1.0f, NAN) == 1.0f && min(2ll, 3ll) == 2);
    EXPECT(fmaxf(NAN, 2) == 2 && isnan(NAN) && isinf(INFINITY) && !isfinite(NAN));
    EXPECT(__float2int_rn(2.5f) == 2 && __float2int_rz(-2.7f) == -2 && __float2int_rd(-2.2f) == -3);
    EXPECT(__float2int_ru(2.2f) == 3 && __float2int_rz(1e20f) == INT_MAX);
    EXPECT(__float2int_rn(NAN) == 0 && __float2uint_rz(-1.0f) == 0 && __saturatef(1.5f) == 1);
    EXPECT(warpSize == 32 && __ldg(failed) == 0 && near(erff(0.5f), erf(0.5)) &&
           near(cbrtf(27), 3));
    long long before = clock64();
    EXPECT(clock64() > before);
    assert(bad == 0);
    *failed = bad;
}

void test_math()
{
    Buffer<int> failed(1);
    cudaMemset(failed.p, 0, 4);
    math<<<1, 1>>>(failed.p);
    CHECK(failed.read()[0] == 0);
    static_assert(sizeof(float3) == 12 && alignof(float4) == 16 && sizeof(uchar4) == 4, "");
    static_assert(alignof(double2) == 16 && sizeof(short3) == 6 && alignof(int2) == 8, "");
    CHECK(make_float4(1, 2, 3, 4).w == 4 && dim3(3).y == 1);
    CHECK(std::numeric_limits<char>::is_signed); /* as for nvcc, on every machine */
}

/* Memory that nobody wrote is NaN. */
void test_poison()
{
    Buffer<float> fresh(3);
    for (float v : fresh.read())
        CHECK(v != v);
}

__device__ volatile int turn;
__global__ void spin() /* the last thread to go lets the others out */
{
    __shared__ volatile int gone;
    if (threadIdx.x == 0)
        gone = 0;
    __syncthreads();
    if (threadIdx.x == 77)
        gone = 1;
    while (!gone)
        __nanosleep(20);
    turn = 1;
}

int main()
{
    test_shuffles<int>();
    test_shuffles<unsigned>();
    test_shuffles<long long>();
    test_shuffles<float>();
    test_shuffles<double>();
    test_votes();
    test_barriers();
    test_undefined<int>();
    test_undefined<double>();
    test_short_warp();
    test_named();
    test_atomics();
    test_places();
    test_alignment();
    test_launch_forms();
    test_symbols();
    test_math();
    test_poison();
    spin<<<2, 128>>>();
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    return check_result();
}
