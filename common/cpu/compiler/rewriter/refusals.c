/* refusals.c: refuses headers and names of CUDA that the backend lacks, in one line with the place.
 * None of them is passed on, where it might mean something else.
 *
 *   cudaIpcOpenMemHandle(&p, handle, 0);
 *     ->  user.cu:7: memory shared between processes (cudaIpcOpenMemHandle) is not supported by the
 *         CPU backend; use one process */
#include "compiler/rewriter/rewrite.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void refuse(int file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", files[file], line, what);
    exit(2);
}

void unsupported(int i, const char *what, const char *hint)
{
    const char *verb = strrchr(what, ' ');
    refuse(tokens[i].file, tokens[i].line,
           formatted("%.*s (%.*s)%s not supported by the CPU backend; %s", (int)(verb - what), what,
                     tokens[i].n, tokens[i].s, verb, hint));
}

void mistake(int i, const char *what)
{
    fprintf(stderr, "%s:%d: error: %s\n", files[tokens[i].file], tokens[i].line, what);
    exit(1);
}

/* Whether s begins with one of the words. */
static int begins_with(const char *s, const char *words)
{
    for (size_t n; *words; words += n + (words[n] == ' ')) {
        n = strcspn(words, " ");
        if (strncmp(s, words, n) == 0)
            return 1;
    }
    return 0;
}

/* --- Headers ---------------------------------------------------------------------------------- */

/* Whether the toolkit has a header of that name, and the backend none. */
static int is_toolkit_header(const char *name, const char *ours)
{
    static const char begins[] =
        "cooperative_groups thrust/ cub/ cuda cccl/ nv/ nvtx3/ nccl cublas cufft cufile cudnn "
        "curand cusparse cusolver cupti cutensor cuComplex.h nvrtc nvJitLink nvml nvblas npp "
        "mma.h crt/ texture_ surface_ device_ driver_ sm_ vector_ math_functions host_defines "
        "host_config builtin_types channel_descriptor common_functions library_types fatbinary";
    struct stat status;
    return begins_with(name, begins) &&
           (!ours || stat(formatted("%s/%s", ours, name), &status) != 0);
}

/* The toolkit's libcu++, which is plain C++ where no nvcc compiles it; but for inline PTX. */
static int is_portable_header(const char *name)
{
    return begins_with(name, "cuda/ nv/ thrust/") && strcmp(name, "cuda/ptx") != 0;
}

/* The toolkit's libraries of which the backend has nothing. */
static const struct {
    const char *begins, *library;
} libraries[] = {
    {"cudnn", "cuDNN"},         {"cusolver", "cuSOLVER"}, {"cusparse", "cuSPARSE"},
    {"cufft", "cuFFT"},         {"nccl", "NCCL"},         {"npp", "NPP"},
    {"cutensor", "cuTENSOR"},   {"cupti", "CUPTI"},       {"nvrtc", "NVRTC"},
    {"nvJitLink", "nvJitLink"}, {"nvml", "NVML"},         {"cufile", "cuFile"},
};

static char *header_refusal(const char *name)
{
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (begins_with(name, libraries[i].begins))
            return formatted("header <%s>: the library %s is not supported by the CPU backend; "
                             "leave its part out (#ifndef __CUDACPU__), or compile this with nvcc",
                             name, libraries[i].library);
    return formatted("header <%s> is not supported by the CPU backend; check its name, or use the "
                     "CUDA runtime API alone",
                     name);
}

/* A machine with the toolkit has its headers in reach, and they are not to be mixed in. */
void check_headers(const char *ours)
{
    for (const struct header *h = headers; h < headers + header_count; h++) {
        char *name = formatted("%.*s", h->n, h->path), *tail = NULL;
        for (char *p = name; (p = strstr(p, "/include/")); p += 8)
            tail = p + 9; /* a folder above may be called anything */
        if (!tail)
            tail = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
        if (strncmp(tail, "cccl/", 5) == 0)
            tail += 5;
        if (is_toolkit_header(tail, ours) && !is_portable_header(tail))
            refuse(h->file, h->line, header_refusal(tail));
        free(name);
    }
}

int explain_missing(const char *place, const char *header, const char *ours)
{
    if (!is_toolkit_header(header, ours))
        return 0;
    fprintf(stderr, "%s: %s\n", place, header_refusal(header));
    return 2;
}

/* --- Names ------------------------------------------------------------------------------------ */

/* A name, or a prefix of names that ends in '*'; what it stands for, and what to do instead. */
static const struct {
    const char *name, *what, *hint;
} limits[] = {
    {"cudaBindTexture*", "a texture reference is", "CUDA 12 has none either: use a texture object"},
    {"cudaUnbindTexture", "a texture reference is",
     "CUDA 12 has none either: use a texture object"},
    {"textureReference", "a texture reference is", "CUDA 12 has none either: use a texture object"},
    {"cudaBindSurfaceToArray", "a surface reference is",
     "CUDA 12 has none either: use a surface object"},
    {"cudaMallocMipmappedArray", "a mipmapped array is", "use an array for each level"},
    {"cudaMipmappedArray_t", "a mipmapped array is", "use an array for each level"},
    {"cudaResourceViewDesc", "a view of another format is", "make the array of that format"},
    {"cudaLaunchCooperativeKernelMultiDevice", "a grid on several devices is", "use one device"},
    {"this_multi_grid", "a grid on several devices is", "use one device"},
    {"this_cluster", "thread block clusters are", "run this kernel on a GPU"},
    {"__cluster_dims__", "thread block clusters are", "run this kernel on a GPU"},
    {"cudaLaunchAttributeCluster*", "thread block clusters are", "run this kernel on a GPU"},
    {"cudaMemPoolCreate", "memory pools of one's own are", "use the device's"},
    {"cudaIpc*", "memory shared between processes is", "use one process"},
};

void check_limits(int i)
{
    if (is_member(i))
        return;
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        const char *s = limits[k].name, *star = strchr(s, '*');
        if (star ? strncmp(tokens[i].s, s, (size_t)(star - s)) == 0 : is(i, s))
            unsupported(i, limits[k].what, limits[k].hint);
    }
    if (is_any(i, "texture surface") && is(i + 1, "<") &&
        (i == 0 || is_any(i - 1, "; { } static extern")))
        unsupported(i, is(i, "texture") ? "a texture reference is" : "a surface reference is",
                    "CUDA 12 has none either: use an object, cudaTextureObject_t or "
                    "cudaSurfaceObject_t");
}

int is_cuda_name(const char *s)
{
    static const char begins[] =
        "cublas curand cufft cusparse nvrtc nvtx __nv tex1D tex2D tex3D texCubemap surf1D "
        "surf2D surf3D";
    /* Without the final f of functions of floats. */
    static const char words[] =
        "normcdf normcdfinv erfinv erfcinv erfcx rcbrt cyl_bessel_i0 cyl_bessel_i1 norm norm3d "
        "norm4d rnorm rnorm3d rnorm4d rhypot sincospi sinpi cospi saturate clock brkpt cub "
        "thrust wmma nvcuda grid_group thread_block this_grid this_thread_block";
    const size_t n = strlen(s) - (s[strlen(s) - 1] == 'f');
    return begins_with(s, begins) || is_one_of(s, n, words) ||
           (strncmp(s, "cuda", 4) == 0 && (isupper((unsigned char)s[4]) || s[4] == '_')) ||
           (strncmp(s, "cu", 2) == 0 && isupper((unsigned char)s[2])) ||
           (strncmp(s, "CU", 2) == 0 && isalpha((unsigned char)s[2])) ||
           (strncmp(s, "atomic", 6) == 0 && isupper((unsigned char)s[6])) ||
           (strncmp(s, "__", 2) == 0 && islower((unsigned char)s[2]));
}

/* Operations of a warp without a mask, which CUDA had before version 9. */
static int is_dropped(const char *name)
{
    return is_one_of(name, strlen(name),
                     "__shfl __shfl_up __shfl_down __shfl_xor __any __all __ballot");
}

int explain_unknown(const char *place, const char *name)
{
    if (!is_cuda_name(name))
        return 0;
    if (is_dropped(name))
        fprintf(stderr, "%s: CUDA has dropped %s: use %s_sync, which takes a mask first\n", place,
                name, name);
    else
        fprintf(stderr, "%s: %s is not supported by the CPU backend\n", place, name);
    return 2;
}
