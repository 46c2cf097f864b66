// CUDA arrays and their copies, fetches of textures, accesses to surfaces. What a fetch gives
// follows from the formulas of the programming guide ("Texture Fetching"): T[i] are elements, an
// element has its value in its middle, and a linear filter weighs two neighbours with (1 - a) and
// a, where a has 8 bits behind the point. Elements and weights are such that the sums are exact.
// nvcc compiles it as well.
#include "check.h"

#include <cmath>
#include <cstring>
#include <initializer_list>

#ifndef __CUDACPU__ // copies of bytes in a row to arrays are deprecated, and programs use them
#pragma nv_diag_suppress 1444
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

#define CHECK_FAILS(expression)                                                                    \
    CHECK((expression) != cudaSuccess && cudaGetLastError() != cudaSuccess)

struct place {
    float x, y, z;
    int layer;
};
enum form { FETCH, ONE, TWO, THREE, ONE_LAYERED, TWO_LAYERED, CUBE, CUBE_LAYERED };

template <class T, form f>
__global__ void fetch(cudaTextureObject_t t, place p, T *out)
{
    if (f == FETCH)
        *out = tex1Dfetch<T>(t, (int)p.x);
    if (f == ONE)
        *out = tex1D<T>(t, p.x);
    if (f == TWO)
        *out = tex2D<T>(t, p.x, p.y);
    if (f == THREE)
        *out = tex3D<T>(t, p.x, p.y, p.z);
    if (f == ONE_LAYERED)
        *out = tex1DLayered<T>(t, p.x, p.layer);
    if (f == TWO_LAYERED)
        *out = tex2DLayered<T>(t, p.x, p.y, p.layer);
    if (f == CUBE)
        *out = texCubemap<T>(t, p.x, p.y, p.z);
    if (f == CUBE_LAYERED)
        *out = texCubemapLayered<T>(t, p.x, p.y, p.z, p.layer);
}
__global__ void gather(cudaTextureObject_t t, place p, float4 *out)
{
    *out = tex2Dgather<float4>(t, p.x, p.y, p.layer);
}
__global__ void fetch_by_pointer(cudaTextureObject_t t, cudaTextureObject_t t3, place p, float *out)
{
    tex2D(out, t, p.x, p.y);
    tex3D(out + 1, t3, p.x, p.y, p.z);
}

static void *device; // 64 bytes for what a kernel gives

template <class T>
static T given()
{
    T v;
    CHECK_ERROR(cudaMemcpy(&v, device, sizeof v, cudaMemcpyDeviceToHost), cudaSuccess);
    return v;
}
template <class T, form f>
static T fetched(cudaTextureObject_t t, float x, float y = 0, float z = 0, int layer = 0)
{
    fetch<T, f><<<1, 1>>>(t, place{x, y, z, layer}, (T *)device);
    return given<T>();
}

static cudaTextureDesc how(cudaTextureAddressMode mode, int normalized,
                           cudaTextureFilterMode filter,
                           cudaTextureReadMode read = cudaReadModeElementType)
{
    cudaTextureDesc d = {};
    d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = mode;
    d.filterMode = filter;
    d.readMode = read;
    d.normalizedCoords = normalized;
    return d;
}
static cudaTextureObject_t texture_of(cudaArray_t a, cudaTextureDesc d)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaTextureObject_t t = 0;
    CHECK_ERROR(cudaCreateTextureObject(&t, &r, &d, NULL), cudaSuccess);
    return t;
}

// An array with these elements: a height or depth of 0 is none.
template <class T>
static cudaArray_t array_of(const T *from, size_t width, size_t height, size_t depth,
                            unsigned flags)
{
    cudaArray_t a = NULL;
    const cudaChannelFormatDesc d = cudaCreateChannelDesc<T>();
    CHECK_ERROR(cudaMalloc3DArray(&a, &d, make_cudaExtent(width, height, depth), flags),
                cudaSuccess);
    const size_t rows = height ? height : 1, slices = depth ? depth : 1;
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr((void *)from, width * sizeof(T), width, rows);
    p.dstArray = a;
    p.extent = make_cudaExtent(width, rows, slices);
    p.kind = cudaMemcpyHostToDevice;
    CHECK_ERROR(cudaMemcpy3D(&p), cudaSuccess);
    return a;
}

// The weights of a linear filter: all of 8 bits, and nothing between them.
static void test_weights()
{
    float elements[5];
    for (int i = 0; i < 5; i++)
        elements[i] = (float)(256 * i * i);
    cudaArray_t a = array_of(elements, 5, 0, 0, 0);
    cudaTextureObject_t t = texture_of(a, how(cudaAddressModeClamp, 0, cudaFilterModeLinear));
    for (int k = 0; k < 4 * 256; k += k % 256 < 8 ? 1 : 31) {
        const int i = k / 256, weight = k % 256;
        const float wanted = elements[i] + weight * (elements[i + 1] - elements[i]) / 256;
        CHECK((fetched<float, ONE>(t, 0.5f + k / 256.0f) == wanted));
    }
    for (float x : {0.0001f, 0.3f / 256, 0.7f / 256, 100.4f / 256, 0.7f, 255.8f / 256}) {
        const float v = fetched<float, ONE>(t, 0.5f + x); // T[0] is 0, T[1] is 256
        CHECK(v == floorf(v) && fabsf(v - 256 * x) < 1);
    }
    cudaDestroyTextureObject(t);
    cudaFreeArray(a);
}

// What lies outside, by mode. Coordinates are those of four elements; normalized they are a
// quarter.
static void test_modes()
{
    static const float elements[] = {1, 2, 4, 8};
    struct row {
        cudaTextureAddressMode mode;
        int normalized;
        cudaTextureFilterMode filter;
        float x, wanted;
    };
    static const row rows[] = {
        {cudaAddressModeClamp, 0, cudaFilterModePoint, -3, 1},
        {cudaAddressModeClamp, 0, cudaFilterModePoint, 0, 1},
        {cudaAddressModeClamp, 0, cudaFilterModePoint, 0.75f, 1},
        {cudaAddressModeClamp, 0, cudaFilterModePoint, 1, 2},
        {cudaAddressModeClamp, 0, cudaFilterModePoint, 3.75f, 8},
        {cudaAddressModeClamp, 0, cudaFilterModePoint, 4, 8},
        {cudaAddressModeClamp, 0, cudaFilterModePoint, 1e30f, 8},
        {cudaAddressModeClamp, 1, cudaFilterModePoint, -0.5f, 1},
        {cudaAddressModeClamp, 1, cudaFilterModePoint, 2.5f, 4},
        {cudaAddressModeClamp, 1, cudaFilterModePoint, 5, 8},
        {cudaAddressModeBorder, 0, cudaFilterModePoint, -0.25f, 16},
        {cudaAddressModeBorder, 0, cudaFilterModePoint, 0.25f, 1},
        {cudaAddressModeBorder, 0, cudaFilterModePoint, 3.5f, 8},
        {cudaAddressModeBorder, 0, cudaFilterModePoint, 4.25f, 16},
        {cudaAddressModeBorder, 0, cudaFilterModePoint, NAN, 1},
        {cudaAddressModeWrap, 1, cudaFilterModePoint, 4, 1},
        {cudaAddressModeWrap, 1, cudaFilterModePoint, 5.5f, 2},
        {cudaAddressModeWrap, 1, cudaFilterModePoint, -0.5f, 8},
        {cudaAddressModeWrap, 1, cudaFilterModePoint, -7.5f, 1},
        {cudaAddressModeMirror, 1, cudaFilterModePoint, -0.5f, 1},
        {cudaAddressModeMirror, 1, cudaFilterModePoint, -1.5f, 2},
        {cudaAddressModeMirror, 1, cudaFilterModePoint, 4.5f, 8},
        {cudaAddressModeMirror, 1, cudaFilterModePoint, 6.5f, 2},
        {cudaAddressModeMirror, 1, cudaFilterModePoint, 8.5f, 1},
        // These two need normalized coordinates, and are clamp without.
        {cudaAddressModeWrap, 0, cudaFilterModePoint, 5.5f, 8},
        {cudaAddressModeWrap, 0, cudaFilterModeLinear, -2, 1},
        {cudaAddressModeMirror, 0, cudaFilterModePoint, 5.5f, 8},
        // Between an element and what lies beside it.
        {cudaAddressModeClamp, 0, cudaFilterModeLinear, 0.25f, 1},
        {cudaAddressModeClamp, 0, cudaFilterModeLinear, 2.25f, 0.25f * 2 + 0.75f * 4},
        {cudaAddressModeClamp, 0, cudaFilterModeLinear, 3.75f, 8},
        {cudaAddressModeBorder, 0, cudaFilterModeLinear, 0.25f, 0.25f * 16 + 0.75f * 1},
        {cudaAddressModeBorder, 0, cudaFilterModeLinear, -0.25f, 0.75f * 16 + 0.25f * 1},
        {cudaAddressModeBorder, 0, cudaFilterModeLinear, 4, 0.5f * 8 + 0.5f * 16},
        {cudaAddressModeBorder, 0, cudaFilterModeLinear, -1, 16},
        {cudaAddressModeWrap, 1, cudaFilterModeLinear, 0, 0.5f * 8 + 0.5f * 1},
        {cudaAddressModeWrap, 1, cudaFilterModeLinear, 3.75f, 0.75f * 8 + 0.25f * 1},
        {cudaAddressModeWrap, 1, cudaFilterModeLinear, 9, 0.5f * 1 + 0.5f * 2},
        {cudaAddressModeMirror, 1, cudaFilterModeLinear, 0.25f, 1},
        {cudaAddressModeMirror, 1, cudaFilterModeLinear, -1, 0.5f * 1 + 0.5f * 2},
        {cudaAddressModeMirror, 1, cudaFilterModeLinear, 5, 0.5f * 8 + 0.5f * 4},
    };
    cudaArray_t a = array_of(elements, 4, 0, 0, 0);
    for (const row &r : rows) {
        // An H200 filters a line as a row of two dimensions at y = 0, which is half-way to what the
        // second mode puts in front of it: the same row, or a border. The third has no part in it.
        for (cudaTextureAddressMode second : {cudaAddressModeClamp, cudaAddressModeBorder}) {
            const bool outside = second == cudaAddressModeBorder;
            cudaTextureDesc d = how(r.mode, r.normalized, r.filter);
            d.addressMode[1] = second;
            d.addressMode[2] = outside ? cudaAddressModeClamp : cudaAddressModeBorder;
            d.borderColor[0] = 16;
            cudaTextureObject_t t = texture_of(a, d);
            const float v = fetched<float, ONE>(t, r.normalized ? r.x / 4 : r.x);
            const float wanted =
                outside && r.filter == cudaFilterModeLinear ? (r.wanted + 16) / 2 : r.wanted;
            CHECK(v == wanted);
            if (v != wanted)
                printf("mode %d, second %d, normalized %d, filter %d, x %g: %g, not %g\n",
                       (int)r.mode, (int)second, r.normalized, (int)r.filter, r.x, v, wanted);
            cudaDestroyTextureObject(t);
        }
    }
    cudaFreeArray(a);

    // A layer is a line with nothing beside it.
    a = array_of(elements, 2, 0, 2, cudaArrayLayered);
    cudaTextureDesc d = how(cudaAddressModeBorder, 0, cudaFilterModeLinear);
    d.borderColor[0] = 16;
    cudaTextureObject_t t = texture_of(a, d);
    CHECK((fetched<float, ONE_LAYERED>(t, 1, 0, 0, 1) == 6));
    cudaDestroyTextureObject(t);
    cudaFreeArray(a);
}

// Each dimension has its own weights, and its own mode.
static void test_dimensions()
{
    float elements[3 * 3 * 4];
    for (int i = 0; i < 36; i++)
        elements[i] = (float)(i % 4 + 16 * (i / 4 % 3) * (i / 4 % 3) + 256 * (i / 12));
    cudaArray_t two = array_of(elements, 4, 3, 0, cudaArrayTextureGather);
    cudaArray_t three = array_of(elements, 4, 3, 3, 0);
    cudaTextureDesc d = how(cudaAddressModeClamp, 0, cudaFilterModeLinear);
    cudaTextureObject_t t2 = texture_of(two, d), t3 = texture_of(three, d);
    float *rows; // the same without an array: rows of 32 bytes
    CHECK_ERROR(cudaMalloc((void **)&rows, 3 * 32), cudaSuccess);
    CHECK_ERROR(cudaMemcpy2D(rows, 32, elements, 16, 16, 3, cudaMemcpyHostToDevice), cudaSuccess);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = rows;
    r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    r.res.pitch2D.width = 4;
    r.res.pitch2D.height = 3;
    r.res.pitch2D.pitchInBytes = 32;
    cudaTextureObject_t pitched = 0;
    CHECK_ERROR(cudaCreateTextureObject(&pitched, &r, &d, NULL), cudaSuccess);
    for (float y : {0.5f, 1.25f, 2.0f})
        for (float x : {0.5f, 1.75f, 3.0f}) {
            // Between rows of 0, 16 and 64.
            const float line = y < 1.5f ? 16 * (y - 0.5f) : 16 + 48 * (y - 1.5f);
            const float wanted = x - 0.5f + line;
            CHECK((fetched<float, TWO>(t2, x, y) == wanted));
            CHECK((fetched<float, TWO>(pitched, x, y) == wanted));
            for (float z : {0.5f, 2.25f})
                CHECK((fetched<float, THREE>(t3, x, y, z) == wanted + 256 * (z - 0.5f)));
        }
    fetch_by_pointer<<<1, 1>>>(t2, t3, place{1.75f, 2, 1, 0}, (float *)device);
    const float2 both = given<float2>();
    CHECK(both.x == 1.25f + 16 + 24 && both.y == both.x + 128);

    // Four elements at once: from the lower left one counterclockwise, where y grows downwards.
    gather<<<1, 1>>>(t2, place{2.2f, 1.2f, 0, 0}, (float4 *)device);
    const float4 four = given<float4>();
    CHECK(four.x == 1 + 16 && four.y == 2 + 16 && four.z == 2 && four.w == 1);

    // Above the first slice is the border, in front of a row its first element.
    d.addressMode[2] = cudaAddressModeBorder;
    d.borderColor[0] = 512;
    cudaTextureObject_t above = texture_of(three, d);
    CHECK((fetched<float, THREE>(above, -3, 0.5f, 0.25f) == 128));
    CHECK((fetched<float, THREE>(above, 1.5f, 0.5f, 2.5f) == 513));
    CHECK((fetched<float, THREE>(above, 1.5f, 0.5f, 3) == 512.5f));
    CHECK_ERROR(cudaDestroyTextureObject(above), cudaSuccess);

    d.addressMode[0] = cudaAddressModeWrap;
    d.filterMode = cudaFilterModePoint;
    d.normalizedCoords = 1;
    cudaTextureObject_t mixed = texture_of(two, d);
    CHECK((fetched<float, TWO>(mixed, 1.375f, 1.1f) == 1 + 64)); // x wraps, y is clamped
    for (cudaTextureObject_t t : {t2, t3, pitched, mixed})
        CHECK_ERROR(cudaDestroyTextureObject(t), cudaSuccess);
    CHECK_ERROR(cudaFreeArray(two), cudaSuccess);
    CHECK_ERROR(cudaFreeArray(three), cudaSuccess);
    CHECK_ERROR(cudaFree(rows), cudaSuccess);
}

// An element of an array, read as its type and, where it can be, as a fraction.
template <class T>
static T read_as_is(T element)
{
    cudaArray_t a = array_of(&element, 1, 1, 0, 0);
    cudaTextureObject_t t = texture_of(a, how(cudaAddressModeClamp, 0, cudaFilterModePoint));
    const T v = fetched<T, TWO>(t, 0.5f, 0.5f);
    cudaDestroyTextureObject(t);
    cudaFreeArray(a);
    return v;
}
template <class T, class V>
static V read_normalized(T element, cudaTextureFilterMode filter = cudaFilterModeLinear)
{
    cudaArray_t a = array_of(&element, 1, 1, 0, 0);
    cudaTextureObject_t t =
        texture_of(a, how(cudaAddressModeClamp, 0, filter, cudaReadModeNormalizedFloat));
    const V v = fetched<V, TWO>(t, 0.5f, 0.5f);
    cudaDestroyTextureObject(t);
    cudaFreeArray(a);
    return v;
}
static int near(double v, double wanted)
{
    return std::fabs(v - wanted) < 1e-6;
}
static void test_types()
{
    CHECK(read_as_is<char>(-3) == -3 && read_as_is<signed char>(-128) == -128);
    CHECK(read_as_is<unsigned char>(200) == 200 && read_as_is<short>(-30000) == -30000);
    CHECK(read_as_is<unsigned short>(60000) == 60000 &&
          read_as_is<int>(-2000000000) == -2000000000);
    CHECK(read_as_is<unsigned>(4000000000u) == 4000000000u && read_as_is<float>(1.1f) == 1.1f);
    const uchar4 bytes = read_as_is(make_uchar4(1, 128, 255, 3));
    CHECK(bytes.x == 1 && bytes.y == 128 && bytes.z == 255 && bytes.w == 3);
    const short2 halves = read_as_is(make_short2(-1, 300));
    CHECK(halves.x == -1 && halves.y == 300);
    const int4 words = read_as_is(make_int4(1, -2, 3, -4));
    CHECK(words.x == 1 && words.y == -2 && words.z == 3 && words.w == -4);
    const float2 pair = read_as_is(make_float2(0.5f, -7));
    CHECK(pair.x == 0.5f && pair.y == -7);

    const float4 parts = read_normalized<uchar4, float4>(make_uchar4(0, 51, 128, 255));
    CHECK(parts.x == 0 && near(parts.y, 0.2) && near(parts.z, 128 / 255.0) && parts.w == 1);
    const float2 least = read_normalized<char2, float2>(make_char2(-128, -127));
    CHECK(least.x == -1 && least.y == -1);
    // To filter them, a GPU makes 16 bits of 8. Of signed ones that is 32767 steps from 0 to 1,
    // which is no multiple of 127, so the nearest or the next one is off by less than a step.
    CHECK(std::fabs(read_normalized<signed char, float>(64) - 64 / 127.0) < 1 / 32767.0);
    for (int i = -128; i < 128; i++) {
        const float v = read_normalized<signed char, float>((signed char)i, cudaFilterModePoint);
        CHECK(v == (i < -127 ? -1 : (float)i / 127.0f));
    }
    CHECK(near((read_normalized<unsigned short, float>(13107)), 0.2));
    CHECK(
        (read_normalized<short, float>(32767) == 1 && read_normalized<short, float>(-32768) == -1));
    CHECK(near((read_normalized<short, float>(-8000)), -8000 / 32767.0));

    // Floats of 16 bits: 1.5, -2^-24, infinity.
    const unsigned short h[4] = {0x3e00, 0x8001, 0x7c00, 0};
    cudaArray_t a;
    const cudaChannelFormatDesc d = cudaCreateChannelDescHalf4();
    CHECK_ERROR(cudaMallocArray(&a, &d, 1, 1), cudaSuccess);
    CHECK_ERROR(cudaMemcpy2DToArray(a, 0, 0, h, 8, 8, 1, cudaMemcpyHostToDevice), cudaSuccess);
    const cudaChannelFormatDesc two = cudaCreateChannelDescHalf2();
    CHECK(two.x == 16 && two.y == 16 && two.z == 0 && two.f == cudaChannelFormatKindFloat);
    CHECK(cudaCreateChannelDescHalf().y == 0 && cudaCreateChannelDescHalf1().x == 16);
    cudaTextureObject_t t = texture_of(a, how(cudaAddressModeClamp, 0, cudaFilterModePoint));
    const float4 wide = fetched<float4, TWO>(t, 0.5f, 0.5f);
    CHECK(wide.x == 1.5f && wide.y == -0x1p-24f && std::isinf(wide.z) && wide.w == 0);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    const cudaTextureDesc fractions =
        how(cudaAddressModeClamp, 0, cudaFilterModePoint, cudaReadModeNormalizedFloat);
    cudaTextureObject_t none = 0;
    CHECK_ERROR(cudaCreateTextureObject(&none, &r, &fractions, NULL), cudaErrorInvalidNormSetting);
    cudaGetLastError();
    cudaDestroyTextureObject(t);
    cudaFreeArray(a);
}

static void test_linear_memory()
{
    int4 *p, elements[3] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
    CHECK_ERROR(cudaMalloc((void **)&p, sizeof elements), cudaSuccess);
    CHECK_ERROR(cudaMemcpy(p, elements, sizeof elements, cudaMemcpyHostToDevice), cudaSuccess);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = p;
    r.res.linear.desc = cudaCreateChannelDesc<int4>();
    r.res.linear.sizeInBytes = sizeof elements;
    cudaTextureDesc d = {};
    cudaTextureObject_t t = 0;
    CHECK_ERROR(cudaCreateTextureObject(&t, &r, &d, NULL), cudaSuccess);
    const int4 last = fetched<int4, FETCH>(t, 2), outside = fetched<int4, FETCH>(t, 3);
    CHECK(last.x == 9 && last.w == 12);
    CHECK(outside.x == 0 && outside.w == 0 && (fetched<int4, FETCH>(t, -1).y == 0));
    cudaResourceDesc got;
    cudaTextureDesc got_how;
    CHECK_ERROR(cudaGetTextureObjectResourceDesc(&got, t), cudaSuccess);
    CHECK(got.resType == cudaResourceTypeLinear && got.res.linear.devPtr == p);
    CHECK_ERROR(cudaGetTextureObjectTextureDesc(&got_how, t), cudaSuccess);
    CHECK(got_how.filterMode == cudaFilterModePoint);
    CHECK_ERROR(cudaDestroyTextureObject(t), cudaSuccess);
    // Nothing filters what only tex1Dfetch reads; of floats it may be asked for.
    d.filterMode = cudaFilterModeLinear;
    r.res.linear.desc = cudaCreateChannelDesc<float4>();
    CHECK_ERROR(cudaCreateTextureObject(&t, &r, &d, NULL), cudaSuccess);
    const float bits = fetched<float4, FETCH>(t, 2).x;
    CHECK(memcmp(&bits, &elements[2].x, 4) == 0);
    CHECK_ERROR(cudaDestroyTextureObject(t), cudaSuccess);
    CHECK_ERROR(cudaFree(p), cudaSuccess);
}

// Layers are not filtered across; the faces of a cube are +x, -x, +y, -y, +z, -z.
static void test_layers()
{
    float elements[12 * 4];
    for (int i = 0; i < 48; i++)
        elements[i] = (float)(i % 4 + 16 * (i / 4));
    const cudaTextureDesc d = how(cudaAddressModeClamp, 1, cudaFilterModeLinear);
    cudaArray_t lines = array_of(elements, 4, 0, 3, cudaArrayLayered);
    cudaArray_t squares = array_of(elements, 2, 2, 3, cudaArrayLayered);
    cudaArray_t cube = array_of(elements, 2, 2, 6, cudaArrayCubemap);
    cudaArray_t cubes = array_of(elements, 2, 2, 12, cudaArrayCubemap | cudaArrayLayered);
    cudaTextureObject_t t1 = texture_of(lines, d), t2 = texture_of(squares, d),
                        t6 = texture_of(cube, d);
    cudaTextureObject_t t12 = texture_of(cubes, d);
    for (int layer = 0; layer < 3; layer++) {
        const float base = (float)(16 * layer);
        CHECK((fetched<float, ONE_LAYERED>(t1, 0.5f, 0, 0, layer) == base + 1.5f));
        CHECK((fetched<float, TWO_LAYERED>(t2, 0.25f, 0.75f, 0, layer) == base + 2));
        CHECK((fetched<float, TWO_LAYERED>(t2, 0.5f, 0.5f, 0, layer) == base + 1.5f));
    }
    // The last layer stands for those that are not there. An index has no sign.
    for (int layer : {3, 1000000, -1, -1000000}) {
        CHECK((fetched<float, ONE_LAYERED>(t1, 0.125f, 0, 0, layer) == 32));
        CHECK((fetched<float, TWO_LAYERED>(t2, 0.25f, 0.25f, 0, layer) == 32));
    }
    CHECK(fabsf(fetched<float, CUBE_LAYERED>(t12, 1, 0.5f, 0.5f, 2) - 6 * 16) < 0.03f);
    CHECK(fabsf(fetched<float, CUBE_LAYERED>(t12, -1, 0.5f, 0.5f, -1) - (6 * 16 + 17)) < 0.03f);
    // Half-way to an edge lies the middle of an element. s grows to the right, t downwards.
    struct row {
        float x, y, z;
        int face, s, t;
    };
    static const row rows[] = {
        {1, 0.5f, 0.5f, 0, 0, 0},   {1, 0.5f, -0.5f, 0, 1, 0},   {1, -0.5f, 0.5f, 0, 0, 1},
        {-1, 0.5f, 0.5f, 1, 1, 0},  {-1, -0.5f, -0.5f, 1, 0, 1}, {0.5f, 1, 0.5f, 2, 1, 1},
        {-0.5f, 1, -0.5f, 2, 0, 0}, {0.5f, -1, 0.5f, 3, 1, 0},   {-0.5f, -1, -0.5f, 3, 0, 1},
        {0.5f, 0.5f, 1, 4, 1, 0},   {-0.5f, -0.5f, 1, 4, 0, 1},  {0.5f, 0.5f, -1, 5, 0, 0},
        {-1, -1, -2, 5, 1, 1},      {2, 2, 4, 4, 1, 0},          {3, 2, 4, 4, 1, 0},
    };
    for (const row &r : rows) {
        const float wanted = (float)(16 * r.face + r.s + 2 * r.t);
        // A GPU's division may be off by one of the 8 bits.
        const float v = fetched<float, CUBE>(t6, r.x, r.y, r.z);
        const float second = fetched<float, CUBE_LAYERED>(t12, r.x, r.y, r.z, 1);
        CHECK(fabsf(v - wanted) < 0.03f && fabsf(second - wanted - 6 * 16) < 0.03f);
    }
    for (cudaTextureObject_t t : {t1, t2, t6, t12})
        cudaDestroyTextureObject(t);
    for (cudaArray_t a : {lines, squares, cube, cubes})
        cudaFreeArray(a);
}

static void test_copies()
{
    enum { W = 6, H = 4, D = 3 };
    short from[W * H], to[W * H], more[2 * W * H];
    for (int i = 0; i < W * H; i++)
        from[i] = (short)(i + 100);
    cudaArray_t a, b;
    const cudaChannelFormatDesc d = cudaCreateChannelDesc<short>();
    CHECK_ERROR(cudaMallocArray(&a, &d, W, H), cudaSuccess);
    CHECK_ERROR(cudaMallocArray(&b, &d, W, H), cudaSuccess);
    const size_t row = W * sizeof(short);

    // Bytes in a row, from the middle of a row on, over two whole ones.
    CHECK_ERROR(cudaMemcpyToArray(a, 0, 0, from, sizeof from, cudaMemcpyHostToDevice), cudaSuccess);
    CHECK_ERROR(cudaMemcpyToArray(a, 4, 0, from, 4 + 2 * row + 2, cudaMemcpyHostToDevice),
                cudaSuccess);
    CHECK_ERROR(cudaMemcpyFromArray(to, a, 0, 0, sizeof to, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int i = 0; i < W * H; i++)
        CHECK(to[i] == (i < 2 || i >= 2 + 2 + 2 * W + 1 ? 100 + i : 100 + i - 2));

    // A box into the middle, another array, and out again, with rows that are further apart.
    CHECK_ERROR(cudaMemcpy2DToArray(b, 0, 0, from, row, row, H, cudaMemcpyHostToDevice),
                cudaSuccess);
    CHECK_ERROR(cudaMemcpy2DToArray(b, 4, 1, from, row, 6, 2, cudaMemcpyHostToDevice), cudaSuccess);
    CHECK_ERROR(cudaMemcpy2DArrayToArray(a, 2, 0, b, 4, 1, 6, 2), cudaSuccess);
    CHECK_ERROR(cudaMemcpy2DFromArray(more, 2 * row, a, 0, 0, row, H, cudaMemcpyDeviceToHost),
                cudaSuccess);
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 3; x++)
            CHECK(more[2 * W * y + 1 + x] == from[W * y + x]);
    CHECK(more[0] == 100 && more[2 * W * 3] == 100 + 3 * W);

    CHECK_FAILS(cudaMemcpy2DToArray(a, 4, 0, from, row, row, 1, cudaMemcpyHostToDevice));
    CHECK_FAILS(cudaMemcpy2DToArray(a, 0, 1, from, row, row, H, cudaMemcpyHostToDevice));
    CHECK_FAILS(cudaMemcpy2DToArray(a, 0, 0, from, row - 2, row, H, cudaMemcpyHostToDevice));
    CHECK_FAILS(cudaMemcpyToArray(a, 2, 0, from, sizeof from, cudaMemcpyHostToDevice));
    CHECK_FAILS(cudaMemcpy2DArrayToArray(a, 4, 0, b, 0, 0, row, 1));
    CHECK_FAILS(cudaMemcpy2DFromArray(to, row, a, 1, 0, row, 1, cudaMemcpyDeviceToHost));
    CHECK_FAILS(cudaMemcpy(a, from, sizeof from, cudaMemcpyHostToDevice)); // a handle, no memory
#ifdef CUDA_CPU_BACKEND
    CHECK_FAILS(cudaMemcpy(to, a, 4, cudaMemcpyDeviceToHost));
    CHECK_FAILS(cudaMemcpy(a, from, 4, cudaMemcpyDefault));
    CHECK_FAILS(cudaMemset(a, 0, 4));
#endif
    CHECK_ERROR(cudaMemcpyFromArray(to, a, 0, 0, row, cudaMemcpyDeviceToHost), cudaSuccess);

    // Bytes are copied, be they whole elements or not.
    char bytes[3], in[2 * W], out[2 * W];
    memset(in, 1, sizeof in);
    CHECK_ERROR(cudaMemcpyToArray(a, 0, 0, in, sizeof in, cudaMemcpyHostToDevice), cudaSuccess);
    CHECK_ERROR(cudaMemcpyToArray(b, 0, 0, in, sizeof in, cudaMemcpyHostToDevice), cudaSuccess);
    memset(in, 2, sizeof in);
    CHECK_ERROR(cudaMemcpy2DToArray(a, 1, 0, in, 3, 3, 1, cudaMemcpyHostToDevice), cudaSuccess);
    CHECK_ERROR(cudaMemcpyToArray(a, 7, 0, in, 1, cudaMemcpyHostToDevice), cudaSuccess);
    CHECK_ERROR(cudaMemcpyFromArray(out, a, 0, 0, sizeof out, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int i = 0; i < 2 * W; i++)
        CHECK(out[i] == 1 + ((i >= 1 && i < 4) || i == 7));
    CHECK_ERROR(cudaMemcpy2DFromArray(bytes, 3, a, 3, 0, 3, 1, cudaMemcpyDeviceToHost),
                cudaSuccess);
    CHECK(bytes[0] == 2 && bytes[1] == 1 && bytes[2] == 1);
    CHECK_ERROR(cudaMemcpyFromArray(bytes, a, 7, 0, 3, cudaMemcpyDeviceToHost), cudaSuccess);
    CHECK(bytes[0] == 2 && bytes[1] == 1 && bytes[2] == 1);
    CHECK_ERROR(cudaMemcpy2DArrayToArray(b, 2, 0, a, 3, 0, 5, 1), cudaSuccess);
    CHECK_ERROR(cudaMemcpyFromArray(out, b, 0, 0, sizeof out, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int i = 0; i < 2 * W; i++)
        CHECK(out[i] == 1 + (i == 2 || i == 6));

    // In a stream that captures a copy is a node, and done when the graph runs.
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    char *pinned;
    CHECK_ERROR(cudaMallocHost(&pinned, row), cudaSuccess);
    memset(pinned, 3, row);
    CHECK_ERROR(cudaStreamCreate(&s), cudaSuccess);
    CHECK_ERROR(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
    CHECK_ERROR(cudaMemcpy2DToArrayAsync(b, 0, 0, pinned, row, row, 1, cudaMemcpyHostToDevice, s),
                cudaSuccess);
    CHECK_ERROR(cudaStreamEndCapture(s, &graph), cudaSuccess);
    CHECK_ERROR(cudaMemcpyFromArray(out, b, 0, 0, sizeof out, cudaMemcpyDeviceToHost), cudaSuccess);
    CHECK(out[0] == 1);
    CHECK_ERROR(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    CHECK_ERROR(cudaGraphLaunch(exec, s), cudaSuccess);
    CHECK_ERROR(cudaStreamSynchronize(s), cudaSuccess);
    CHECK_ERROR(cudaMemcpyFromArray(out, b, 0, 0, sizeof out, cudaMemcpyDeviceToHost), cudaSuccess);
    CHECK(out[0] == 3 && out[2 * W - 1] == 3);
    CHECK_ERROR(cudaGraphExecDestroy(exec), cudaSuccess);
    CHECK_ERROR(cudaGraphDestroy(graph), cudaSuccess);
    CHECK_ERROR(cudaStreamDestroy(s), cudaSuccess);
    CHECK_ERROR(cudaFreeHost(pinned), cudaSuccess);
    CHECK_ERROR(cudaFreeArray(a), cudaSuccess);
    CHECK_ERROR(cudaFreeArray(b), cudaSuccess);
    CHECK_ERROR(cudaFreeArray(NULL), cudaSuccess);

    // An array of one dimension has one row.
    CHECK_ERROR(cudaMallocArray(&a, &d, W), cudaSuccess);
    CHECK_ERROR(cudaMemcpyToArray(a, 0, 0, from, row, cudaMemcpyHostToDevice), cudaSuccess);
    CHECK_ERROR(cudaMemcpy2DToArray(a, 4, 0, from, 4, 4, 1, cudaMemcpyHostToDevice), cudaSuccess);
    CHECK_ERROR(cudaMemcpy2DFromArray(to, row, a, 0, 0, row, 1, cudaMemcpyDeviceToHost),
                cudaSuccess);
    for (int i = 0; i < W; i++)
        CHECK(to[i] == from[i == 2 || i == 3 ? i - 2 : i]);
    CHECK_FAILS(cudaMemcpy2DToArray(a, 0, 0, from, row, row, 2, cudaMemcpyHostToDevice));
    CHECK_ERROR(cudaFreeArray(a), cudaSuccess);

    // Boxes: what is said of the array is in elements, of memory in bytes.
    float volume[W * H * D], part[2 * 2 * 2];
    for (int i = 0; i < W * H * D; i++)
        volume[i] = (float)i;
    cudaArray_t box = array_of(volume, W, H, D, 0);
    cudaMemcpy3DParms p = {};
    p.srcArray = box;
    p.srcPos = make_cudaPos(3, 1, 1);
    p.dstPtr = make_cudaPitchedPtr(part, 8, 8, 2);
    p.extent = make_cudaExtent(2, 2, 2);
    p.kind = cudaMemcpyDeviceToHost;
    CHECK_ERROR(cudaMemcpy3D(&p), cudaSuccess);
    for (int i = 0; i < 8; i++)
        CHECK(part[i] == (float)((1 + i / 4) * W * H + (1 + i / 2 % 2) * W + 3 + i % 2));
    p.srcPos = make_cudaPos(5, 1, 1);
    CHECK_FAILS(cudaMemcpy3D(&p));
    p.srcPos = make_cudaPos(3, 1, 2);
    CHECK_FAILS(cudaMemcpy3D(&p));
    p = {};
    p.srcArray = box;
    CHECK_ERROR(cudaMallocArray(&p.dstArray, &d, W, H), cudaSuccess); // of other elements
    p.extent = make_cudaExtent(2, 2, 1);
    p.kind = cudaMemcpyDeviceToDevice;
    CHECK_FAILS(cudaMemcpy3D(&p));
#ifdef CUDA_CPU_BACKEND // of one slice, between equal elements, and of an array that there is
    CHECK_FAILS(cudaMemcpy2DArrayToArray(p.dstArray, 0, 0, box, 0, 0, 4, 1));
    CHECK_FAILS(cudaMemcpy2DToArray(box, 0, 1, volume, 4 * W, 4 * W, H, cudaMemcpyHostToDevice));
    CHECK_ERROR(cudaMemcpy2DToArray(NULL, 0, 0, volume, 4 * W, 4 * W, 1, cudaMemcpyHostToDevice),
                cudaErrorInvalidValue);
    cudaGetLastError();
#endif
    cudaFreeArray(p.dstArray);
    cudaFreeArray(box);
}

// What a texture object is refused for, in this order: whole numbers that are to be filtered,
// unless they are fractions of 8 or 16 bits; then fractions of 32 bits, be they of whole numbers or
// floats.
template <class T>
static cudaError_t refused_for(cudaResourceType from, cudaTextureFilterMode filter,
                               cudaTextureReadMode read)
{
    const T elements[8 * 4] = {};
    cudaArray_t a = NULL;
    void *rows = NULL;
    cudaResourceDesc r = {};
    r.resType = from;
    if (from == cudaResourceTypeArray) {
        r.res.array.array = a = array_of(elements, 8, 4, 0, 0);
    } else {
        CHECK_ERROR(cudaMalloc(&rows, 1024), cudaSuccess);
        r.res.linear.devPtr = rows;
        r.res.linear.desc = cudaCreateChannelDesc<T>();
        r.res.linear.sizeInBytes = 1024;
    }
    if (from == cudaResourceTypePitch2D) {
        r.res.pitch2D.devPtr = rows;
        r.res.pitch2D.desc = cudaCreateChannelDesc<T>();
        r.res.pitch2D.width = 8;
        r.res.pitch2D.height = 4;
        r.res.pitch2D.pitchInBytes = 256;
    }
    const cudaTextureDesc d = how(cudaAddressModeClamp, 0, filter, read);
    cudaTextureObject_t t = 0;
    const cudaError_t error = cudaCreateTextureObject(&t, &r, &d, NULL);
    if (error == cudaSuccess)
        CHECK_ERROR(cudaDestroyTextureObject(t), cudaSuccess);
    cudaGetLastError();
    cudaFreeArray(a);
    cudaFree(rows);
    return error;
}
template <class T>
static void check_refusals(cudaError_t filtered, cudaError_t fraction, cudaError_t both)
{
    for (cudaResourceType from :
         {cudaResourceTypeArray, cudaResourceTypeLinear, cudaResourceTypePitch2D}) {
        const cudaTextureFilterMode point = cudaFilterModePoint, linear = cudaFilterModeLinear;
        const cudaTextureReadMode as_is = cudaReadModeElementType;
        const cudaTextureReadMode normalized = cudaReadModeNormalizedFloat;
        CHECK_ERROR(refused_for<T>(from, point, as_is), cudaSuccess);
        CHECK_ERROR(refused_for<T>(from, linear, as_is), filtered);
        CHECK_ERROR(refused_for<T>(from, point, normalized), fraction);
        CHECK_ERROR(refused_for<T>(from, linear, normalized), both);
    }
}
static void test_refusals()
{
    const cudaError_t filter = cudaErrorInvalidFilterSetting, norm = cudaErrorInvalidNormSetting;
    check_refusals<signed char>(filter, cudaSuccess, cudaSuccess);
    check_refusals<unsigned char>(filter, cudaSuccess, cudaSuccess);
    check_refusals<short2>(filter, cudaSuccess, cudaSuccess);
    check_refusals<int>(filter, norm, filter);
    check_refusals<uint4>(filter, norm, filter);
    check_refusals<float>(cudaSuccess, norm, norm);
}

static void test_errors()
{
    cudaArray_t a = NULL;
    cudaChannelFormatDesc d = cudaCreateChannelDesc<uchar4>(), got = {};
    CHECK(d.x == 8 && d.y == 8 && d.z == 8 && d.w == 8 && d.f == cudaChannelFormatKindUnsigned);
    d = cudaCreateChannelDesc<short2>();
    CHECK(d.x == 16 && d.y == 16 && d.z == 0 && d.w == 0 && d.f == cudaChannelFormatKindSigned);
    CHECK_ERROR(cudaMallocArray(&a, &d, 8, 4, cudaArraySurfaceLoadStore), cudaSuccess);
    cudaExtent e;
    unsigned flags;
    CHECK_ERROR(cudaArrayGetInfo(&got, &e, &flags, a), cudaSuccess);
    CHECK(e.width == 8 && e.height == 4 && e.depth == 0 && flags == cudaArraySurfaceLoadStore);
    CHECK(got.x == 16 && got.y == 16 && got.f == cudaChannelFormatKindSigned);
    CHECK_ERROR(cudaGetChannelDesc(&got, a), cudaSuccess);
    CHECK(got.x == 16 && got.z == 0);

    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaTextureObject_t t = 0;
#ifdef CUDA_CPU_BACKEND
    cudaTextureDesc colours = how(cudaAddressModeClamp, 0, cudaFilterModePoint);
    colours.sRGB = 1;
    CHECK_ERROR(cudaCreateTextureObject(&t, &r, &colours, NULL), cudaErrorNotSupported);
    cudaGetLastError();
#endif
    CHECK_ERROR(cudaFreeArray(a), cudaSuccess);

    // Rows of memory begin at multiples of 32 bytes, and the first at one of 512.
    char *p;
    CHECK_ERROR(cudaMalloc((void **)&p, 4096), cudaSuccess);
    const cudaTextureDesc point = how(cudaAddressModeClamp, 0, cudaFilterModePoint);
    r = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = p;
    r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    r.res.pitch2D.width = r.res.pitch2D.height = 4;
    r.res.pitch2D.pitchInBytes = 40;
    CHECK_FAILS(cudaCreateTextureObject(&t, &r, &point, NULL));
    r.res.pitch2D.pitchInBytes = 64;
    r.res.pitch2D.devPtr = p + 256;
    CHECK_FAILS(cudaCreateTextureObject(&t, &r, &point, NULL));
    CHECK_ERROR(cudaFree(p), cudaSuccess);

    const cudaChannelFormatDesc odd[] = {
        cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat),
        cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindSigned),
        cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindNone)};
    for (const cudaChannelFormatDesc &o : odd)
        CHECK_FAILS(cudaMallocArray(&a, &o, 8, 8));
    d = cudaCreateChannelDesc<float>();
    CHECK_FAILS(cudaMalloc3DArray(&a, &d, make_cudaExtent(8, 4, 6), cudaArrayCubemap));
    CHECK_FAILS(cudaMalloc3DArray(&a, &d, make_cudaExtent(8, 8, 5), cudaArrayCubemap));
    CHECK_FAILS(
        cudaMalloc3DArray(&a, &d, make_cudaExtent(8, 8, 7), cudaArrayCubemap | cudaArrayLayered));
    CHECK_FAILS(cudaMallocArray(&a, &d, 200000, 8));
}

// Surfaces: x counts bytes.
__global__ void write_surfaces(cudaSurfaceObject_t one, cudaSurfaceObject_t two,
                               cudaSurfaceObject_t three, cudaSurfaceObject_t layers)
{
    const int x = (int)threadIdx.x, y = (int)threadIdx.y;
    if (y == 0)
        surf1Dwrite((short)(x - 2), one, x * 2);
    surf2Dwrite(make_uchar4((unsigned char)x, (unsigned char)y, 3, 255), two, x * 4, y);
    surf3Dwrite(make_float4((float)x, (float)y, 0, 1), three, x * 16, y, 1);
    surf2DLayeredwrite((float)(10 * y + x), layers, x * 4, y, 2);
}
// Outside: nothing is written, or the nearest element.
__global__ void write_outside(cudaSurfaceObject_t two)
{
    surf2Dwrite(make_uchar4(9, 9, 9, 9), two, 16, 0, cudaBoundaryModeZero);
    surf2Dwrite(make_uchar4(8, 8, 8, 8), two, -4, -5, cudaBoundaryModeClamp);
    surf2Dwrite(make_uchar4(7, 7, 7, 7), two, 400, 400, cudaBoundaryModeClamp);
}
__global__ void read_surfaces(cudaSurfaceObject_t one, cudaSurfaceObject_t two,
                              cudaSurfaceObject_t three, cudaSurfaceObject_t layers, float *out)
{
    short s;
    surf1Dread(&s, one, 2);
    const uchar4 c = surf2Dread<uchar4>(two, 8, 1);
    const float4 f = surf3Dread<float4>(three, 32, 1, 1);
    out[0] = s;
    out[1] = c.x;
    out[2] = c.y;
    out[3] = c.w;
    out[4] = f.x;
    out[5] = f.w;
    out[6] = surf2DLayeredread<float>(layers, 12, 2, 2);
    out[7] = surf2Dread<uchar4>(two, 16, 0, cudaBoundaryModeZero).x;
    out[8] = surf2Dread<uchar4>(two, -8, 0, cudaBoundaryModeClamp).x;
    out[9] = surf2Dread<uchar4>(two, 12, 7, cudaBoundaryModeClamp).x;
    out[10] = surf2Dread<unsigned>(two, 4, 2) == 0xff030201;
}
static cudaSurfaceObject_t surface_of(cudaArray_t a)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaSurfaceObject_t s = 0;
    CHECK_ERROR(cudaCreateSurfaceObject(&s, &r), cudaSuccess);
    return s;
}
static void test_surfaces()
{
    const short zeros[4] = {};
    const uchar4 no_bytes[12] = {};
    static const float4 nothing[24] = {};
    static const float none[36] = {};
    const unsigned flag = cudaArraySurfaceLoadStore; // one that is forgotten is not missed
    cudaArray_t a[] = {array_of(zeros, 4, 0, 0, flag), array_of(no_bytes, 4, 3, 0, 0),
                       array_of(nothing, 4, 3, 2, flag),
                       array_of(none, 4, 3, 3, flag | cudaArrayLayered)};
    cudaSurfaceObject_t s[4];
    for (int i = 0; i < 4; i++)
        s[i] = surface_of(a[i]);
    write_surfaces<<<1, dim3(4, 3)>>>(s[0], s[1], s[2], s[3]);
    write_outside<<<1, 1>>>(s[1]);
    read_surfaces<<<1, 1>>>(s[0], s[1], s[2], s[3], (float *)device);
    struct all {
        float v[11];
    };
    const all got = given<all>();
    static const float wanted[11] = {-1, 2, 1, 255, 2, 1, 23, 0, 8, 7, 1};
    for (int i = 0; i < 11; i++)
        CHECK(got.v[i] == wanted[i]);
    // A texture finds what an earlier launch has written by a surface.
    cudaTextureObject_t t = texture_of(
        a[1], how(cudaAddressModeClamp, 0, cudaFilterModePoint, cudaReadModeNormalizedFloat));
    CHECK((fetched<float4, TWO>(t, 1.5f, 1.5f).w == 1));
    CHECK(near((fetched<float4, TWO>(t, 3.5f, 1.5f).x), 3 / 255.0));
    cudaResourceDesc r;
    CHECK_ERROR(cudaGetSurfaceObjectResourceDesc(&r, s[2]), cudaSuccess);
    CHECK(r.res.array.array == a[2]);
    CHECK_ERROR(cudaDestroyTextureObject(t), cudaSuccess);
    for (int i = 0; i < 4; i++) {
        CHECK_ERROR(cudaDestroySurfaceObject(s[i]), cudaSuccess);
        CHECK_ERROR(cudaFreeArray(a[i]), cudaSuccess);
    }
}

// Layers, and the faces of cubes, which are layers as well.
__global__ void write_layers(cudaSurfaceObject_t lines, cudaSurfaceObject_t cube,
                             cudaSurfaceObject_t cubes, float *out)
{
    surf1DLayeredwrite(1.0f, lines, 8, 2);
    surfCubemapwrite(2.0f, cube, 4, 1, 3);
    surf2DLayeredwrite(3.0f, cube, 0, 1, 5);
    surfCubemapLayeredwrite(4.0f, cubes, 4, 0, 7);
    surf2DLayeredwrite(5.0f, cubes, 0, 0, 11);
    surf1DLayeredread(out, lines, 8, 2);
    surf1DLayeredread(out + 1, lines, 16, 2, cudaBoundaryModeZero);
    surfCubemapread(out + 2, cube, 0, 1, 5);
    out[3] = surfCubemapLayeredread<float>(cubes, 0, 0, 11);
}
static void test_surfaces_of_layers()
{
    static const float none[48] = {};
    float got[48];
    const unsigned flag = cudaArraySurfaceLoadStore;
    cudaArray_t a[] = {array_of(none, 4, 0, 3, flag | cudaArrayLayered),
                       array_of(none, 2, 2, 6, flag | cudaArrayCubemap),
                       array_of(none, 2, 2, 12, flag | cudaArrayCubemap | cudaArrayLayered)};
    static const cudaExtent extents[] = {{4, 1, 3}, {2, 2, 6}, {2, 2, 12}};
    cudaSurfaceObject_t s[3];
    for (int i = 0; i < 3; i++)
        s[i] = surface_of(a[i]);
    write_layers<<<1, 1>>>(s[0], s[1], s[2], (float *)device);
    const float4 read = given<float4>();
    CHECK(read.x == 1 && read.y == 0 && read.z == 3 && read.w == 5);
    for (int i = 0; i < 3; i++) {
        cudaMemcpy3DParms p = {};
        p.srcArray = a[i];
        p.extent = extents[i];
        p.dstPtr = make_cudaPitchedPtr(got, extents[i].width * sizeof(float), extents[i].width,
                                       extents[i].height);
        p.kind = cudaMemcpyDeviceToHost;
        CHECK_ERROR(cudaMemcpy3D(&p), cudaSuccess);
        for (int k = 0; k < (int)(extents[i].width * extents[i].height * extents[i].depth); k++)
            CHECK(got[k] == (i == 0   ? k == 10
                             : i == 1 ? (k == 15) * 2 + (k == 22) * 3
                                      : (k == 29) * 4 + (k == 44) * 5));
        CHECK_ERROR(cudaDestroySurfaceObject(s[i]), cudaSuccess);
        CHECK_ERROR(cudaFreeArray(a[i]), cudaSuccess);
    }
}

// A surface's own boundary mode stops the kernel. After it nothing works any more.
__global__ void write_past(cudaSurfaceObject_t s)
{
    surf2Dwrite(1.0f, s, 16, 0);
}
static void test_trap()
{
    static const float none[8] = {};
    cudaArray_t a = array_of(none, 4, 2, 0, cudaArraySurfaceLoadStore);
    cudaSurfaceObject_t s = surface_of(a);
    write_past<<<1, 1>>>(s);
    CHECK(cudaDeviceSynchronize() != cudaSuccess);
}

int main()
{
    CHECK_ERROR(cudaMalloc(&device, 64), cudaSuccess);
    test_weights();
    test_modes();
    test_dimensions();
    test_types();
    test_linear_memory();
    test_layers();
    test_copies();
    test_refusals();
    test_errors();
    test_surfaces();
    test_surfaces_of_layers();
    CHECK_ERROR(cudaGetLastError(), cudaSuccess);
    test_trap();
    return check_result();
}
