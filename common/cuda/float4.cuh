/* float4.cuh: four floats at a time, 16 bytes per load.
 *
 * Addresses must be multiples of 16 bytes. The last functions are for templates that load one float
 * or four: load<float>, load<float4>.
 */
#pragma once

static __device__ __forceinline__ float4 load_four(const float *x)
{
    return *(const float4 *)x;
}

static __device__ __forceinline__ void store_four(float *x, float4 four)
{
    *(float4 *)x = four;
}

static __device__ __forceinline__ float dot_four(float4 a, float4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// dot + a . b, one product after the other, in the order of a loop over single elements.
static __device__ __forceinline__ float add_products(float dot, float4 a, float4 b)
{
    dot += a.x * b.x;
    dot += a.y * b.y;
    dot += a.z * b.z;
    return dot + a.w * b.w;
}

// Four pairs (x, y) rotated: lower elements x c - y s, upper elements y c + x s
static __device__ __forceinline__ float4 rotate_lower(float4 x, float4 y, float4 c, float4 s)
{
    return make_float4(x.x * c.x - y.x * s.x, x.y * c.y - y.y * s.y, x.z * c.z - y.z * s.z,
                       x.w * c.w - y.w * s.w);
}

static __device__ __forceinline__ float4 rotate_upper(float4 x, float4 y, float4 c, float4 s)
{
    return make_float4(y.x * c.x + x.x * s.x, y.y * c.y + x.y * s.y, y.z * c.z + x.z * s.z,
                       y.w * c.w + x.w * s.w);
}

static __device__ __forceinline__ float add_products(float dot, float a, float b)
{
    return dot + a * b;
}

static __device__ __forceinline__ float rotate_lower(float x, float y, float c, float s)
{
    return x * c - y * s;
}

static __device__ __forceinline__ float rotate_upper(float x, float y, float c, float s)
{
    return y * c + x * s;
}

template <typename floats>
static __device__ __forceinline__ floats load(const float *x)
{
    return *(const floats *)x;
}

template <typename floats>
static __device__ __forceinline__ void store(float *x, floats y)
{
    *(floats *)x = y;
}
