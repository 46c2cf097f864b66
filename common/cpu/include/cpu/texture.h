/* Texture and surface functions of kernels. Part of cuda_runtime.h; texture.c does the work. */
#pragma once

/* An element as a C++ type: the number and type of its parts, and its value from the four
 * registers of a texture fetch or a surface read. Elements of three parts do not exist. */
template <class T>
struct cpu_element;
template <class T, int n>
struct cpu_parts {
    typedef T part;
    static constexpr int parts = n;
};
template <class T>
__forceinline__ T cpu_part(uint32_t bits)
{
    if constexpr (std::is_floating_point<T>::value)
        return cpu_value<T>(bits);
    else
        return (T)bits;
}
#define CPU_ELEMENT(type, T, n, ...)                                                               \
    template <>                                                                                    \
    struct cpu_element<type> : cpu_parts<T, n> {                                                   \
        static __forceinline__ type from(cpu_texel v)                                              \
        {                                                                                          \
            return __VA_ARGS__;                                                                    \
        }                                                                                          \
    };
#define CPU_ELEMENTS(name, T)                                                                      \
    CPU_ELEMENT(T, T, 1, cpu_part<T>(v.part[0]))                                                   \
    CPU_ELEMENT(name##1, T, 1, {cpu_part<T>(v.part[0])})                                           \
    CPU_ELEMENT(name##2, T, 2, {cpu_part<T>(v.part[0]), cpu_part<T>(v.part[1])})                   \
    CPU_ELEMENT(name##4, T, 4,                                                                     \
                {cpu_part<T>(v.part[0]), cpu_part<T>(v.part[1]), cpu_part<T>(v.part[2]),           \
                 cpu_part<T>(v.part[3])})
CPU_ELEMENT(char, char, 1, cpu_part<char>(v.part[0]))
CPU_ELEMENTS(char, signed char)
CPU_ELEMENTS(uchar, unsigned char)
CPU_ELEMENTS(short, short)
CPU_ELEMENTS(ushort, unsigned short)
CPU_ELEMENTS(int, int)
CPU_ELEMENTS(uint, unsigned)
CPU_ELEMENTS(float, float)
#undef CPU_ELEMENTS
#undef CPU_ELEMENT

template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc()
{
    typedef typename cpu_element<T>::part part;
    constexpr int parts = cpu_element<T>::parts, bits = 8 * sizeof(part);
    return cudaCreateChannelDesc(bits, parts > 1 ? bits : 0, parts > 2 ? bits : 0,
                                 parts > 2 ? bits : 0,
                                 std::is_floating_point<part>::value ? cudaChannelFormatKindFloat
                                 : std::is_signed<part>::value       ? cudaChannelFormatKindSigned
                                                               : cudaChannelFormatKindUnsigned);
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf()
{
    return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf1()
{
    return cudaCreateChannelDescHalf();
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf2()
{
    return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf4()
{
    return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
}

/* A fetch has two forms, tex2D<float>(t, x, y) and tex2D(&value, t, x, y). */
#define CPU_UNPACK(...) __VA_ARGS__
#define CPU_FETCH(name, parameters, arguments, call)                                               \
    template <class T>                                                                             \
    __forceinline__ T name(cudaTextureObject_t t, CPU_UNPACK parameters, CPU_PLACE)                \
    {                                                                                              \
        return cpu_element<T>::from(call);                                                         \
    }                                                                                              \
    template <class T>                                                                             \
    __forceinline__ void name(T *to, cudaTextureObject_t t, CPU_UNPACK parameters, CPU_PLACE)      \
    {                                                                                              \
        *to = name<T>(t, CPU_UNPACK arguments, file, line);                                        \
    }
CPU_FETCH(tex1Dfetch, (int x), (x), cpu_texture_fetch(t, x, file, line))
CPU_FETCH(tex1D, (float x), (x), cpu_texture(CPU_1D, t, x, 0, 0, 0, file, line))
CPU_FETCH(tex2D, (float x, float y), (x, y), cpu_texture(CPU_2D, t, x, y, 0, 0, file, line))
CPU_FETCH(tex3D, (float x, float y, float z), (x, y, z),
          cpu_texture(CPU_3D, t, x, y, z, 0, file, line))
CPU_FETCH(tex1DLayered, (float x, int layer), (x, layer),
          cpu_texture(CPU_1D_LAYERED, t, x, 0, 0, layer, file, line))
CPU_FETCH(tex2DLayered, (float x, float y, int layer), (x, y, layer),
          cpu_texture(CPU_2D_LAYERED, t, x, y, 0, layer, file, line))
CPU_FETCH(texCubemap, (float x, float y, float z), (x, y, z),
          cpu_texture(CPU_CUBEMAP, t, x, y, z, 0, file, line))
CPU_FETCH(texCubemapLayered, (float x, float y, float z, int layer), (x, y, z, layer),
          cpu_texture(CPU_CUBEMAP_LAYERED, t, x, y, z, layer, file, line))
CPU_FETCH(tex2Dgather, (float x, float y, int component = 0), (x, y, component),
          cpu_texture_gather(t, x, y, component, file, line))
#undef CPU_FETCH

/* An element in the registers of a surface write. */
template <class T>
__forceinline__ cpu_texel cpu_texel_of(T v)
{
    cpu_texel texel = {};
    memcpy(&texel, &v, sizeof v);
    return texel;
}
template <class T>
__forceinline__ T cpu_texel_as(cpu_texel texel)
{
    T v;
    memcpy(static_cast<void *>(&v), &texel, sizeof v);
    return v;
}
#define CPU_SURFACE(name, view, parameters, arguments, ...)                                        \
    template <class T>                                                                             \
    __forceinline__ T name##read(cudaSurfaceObject_t s, CPU_UNPACK parameters,                     \
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, CPU_PLACE)   \
    {                                                                                              \
        static_assert(sizeof(T) <= 16, "a surface has elements of at most 16 bytes");              \
        return cpu_texel_as<T>(                                                                    \
            cpu_surface_read(view, s, __VA_ARGS__, sizeof(T), mode, file, line));                  \
    }                                                                                              \
    template <class T>                                                                             \
    __forceinline__ void name##read(T *to, cudaSurfaceObject_t s, CPU_UNPACK parameters,           \
                                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,           \
                                    CPU_PLACE)                                                     \
    {                                                                                              \
        *to = name##read<T>(s, CPU_UNPACK arguments, mode, file, line);                            \
    }                                                                                              \
    template <class T>                                                                             \
    __forceinline__ void name##write(T v, cudaSurfaceObject_t s, CPU_UNPACK parameters,            \
                                     cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,          \
                                     CPU_PLACE)                                                    \
    {                                                                                              \
        static_assert(sizeof(T) <= 16, "a surface has elements of at most 16 bytes");              \
        cpu_surface_write(view, cpu_texel_of(v), s, __VA_ARGS__, sizeof(T), mode, file, line);     \
    }
CPU_SURFACE(surf1D, CPU_1D, (int x), (x), x, 0, 0)
CPU_SURFACE(surf2D, CPU_2D, (int x, int y), (x, y), x, y, 0)
CPU_SURFACE(surf3D, CPU_3D, (int x, int y, int z), (x, y, z), x, y, z)
CPU_SURFACE(surf1DLayered, CPU_1D_LAYERED, (int x, int layer), (x, layer), x, 0, layer)
CPU_SURFACE(surf2DLayered, CPU_2D_LAYERED, (int x, int y, int layer), (x, y, layer), x, y, layer)
CPU_SURFACE(surfCubemap, CPU_CUBEMAP, (int x, int y, int face), (x, y, face), x, y, face)
CPU_SURFACE(surfCubemapLayered, CPU_CUBEMAP_LAYERED, (int x, int y, int face), (x, y, face), x, y,
            face)
#undef CPU_SURFACE
#undef CPU_UNPACK
