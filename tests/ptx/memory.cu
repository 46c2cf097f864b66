// ld, st, atom, red and what tells of addresses. Every lane has 32 bytes of its own; at the end all
// lanes add into one place. The host does the same to its copy of memory and compares.
#include "record.h"

enum { LANES = 32, SLOT = 32, BYTES = LANES * SLOT };

// text, constraint of the register, its C type, first element of the address's operands
#define LOADS(X)                                                                                   \
    X("ld.global.b8", "=r", uint32_t, global)                                                      \
    X("ld.global.u8", "=h", uint16_t, global)                                                      \
    X("ld.global.s8", "=h", uint16_t, global)                                                      \
    X("ld.global.s8", "=r", uint32_t, global)                                                      \
    X("ld.global.s8", "=l", uint64_t, global)                                                      \
    X("ld.global.u16", "=h", uint16_t, global)                                                     \
    X("ld.global.u16", "=l", uint64_t, global)                                                     \
    X("ld.global.s16", "=r", uint32_t, global)                                                     \
    X("ld.global.b32", "=r", uint32_t, global)                                                     \
    X("ld.global.u32", "=l", uint64_t, global)                                                     \
    X("ld.global.s32", "=l", uint64_t, global)                                                     \
    X("ld.global.f32", "=f", float, global)                                                        \
    X("ld.global.f64", "=d", double, global)                                                       \
    X("ld.global.b64", "=l", uint64_t, global)                                                     \
    X("ld.global.ca.u32", "=r", uint32_t, global)                                                  \
    X("ld.global.cg.u32", "=r", uint32_t, global)                                                  \
    X("ld.global.cs.u32", "=r", uint32_t, global)                                                  \
    X("ld.global.lu.u32", "=r", uint32_t, global)                                                  \
    X("ld.global.cv.u32", "=r", uint32_t, global)                                                  \
    X("ld.global.nc.u32", "=r", uint32_t, global)                                                  \
    X("ld.global.nc.L1::no_allocate.f32", "=f", float, global)                                     \
    X("ld.global.nc.L1::no_allocate.L2::128B.u32", "=r", uint32_t, global)                         \
    X("ld.global.L1::evict_first.u32", "=r", uint32_t, global)                                     \
    X("ld.global.L1::evict_last.L2::256B.u32", "=r", uint32_t, global)                             \
    X("ld.volatile.global.u32", "=r", uint32_t, global)                                            \
    X("ld.relaxed.gpu.global.u32", "=r", uint32_t, global)                                         \
    X("ld.acquire.gpu.global.u32", "=r", uint32_t, global)                                         \
    X("ld.acquire.sys.global.u64", "=l", uint64_t, global)                                         \
    X("ld.relaxed.cta.u32", "=r", uint32_t, global)                                                \
    X("ld.u32", "=r", uint32_t, global)                                                            \
    X("ld.s16", "=r", uint32_t, generic)                                                           \
    X("ld.b64", "=l", uint64_t, generic)                                                           \
    X("ld.shared.u8", "=r", uint32_t, shared)                                                      \
    X("ld.shared.s16", "=r", uint32_t, shared)                                                     \
    X("ld.shared.u32", "=r", uint32_t, shared)                                                     \
    X("ld.shared::cta.f32", "=f", float, shared)                                                   \
    X("ld.shared.f64", "=d", double, shared)                                                       \
    X("ld.volatile.shared.u32", "=r", uint32_t, shared)                                            \
    X("ld.acquire.cta.shared.b32", "=r", uint32_t, shared)

// text with a vector
#define VECTOR_LOADS(X)                                                                            \
    X("ld.global.v2.u8", 2, "=h", uint16_t, global)                                                \
    X("ld.global.v4.u8", 4, "=r", uint32_t, global)                                                \
    X("ld.global.v2.u16", 2, "=h", uint16_t, global)                                               \
    X("ld.global.v4.s16", 4, "=r", uint32_t, global)                                               \
    X("ld.global.v2.u32", 2, "=r", uint32_t, global)                                               \
    X("ld.global.v4.f32", 4, "=f", float, global)                                                  \
    X("ld.global.nc.v4.f32", 4, "=f", float, global)                                               \
    X("ld.global.nc.L1::no_allocate.v4.u32", 4, "=r", uint32_t, global)                            \
    X("ld.global.v2.f64", 2, "=d", double, global)                                                 \
    X("ld.global.cs.v2.u64", 2, "=l", uint64_t, global)                                            \
    X("ld.shared.v2.f32", 2, "=f", float, shared)                                                  \
    X("ld.shared.v4.u32", 4, "=r", uint32_t, shared)                                               \
    X("ld.v4.u32", 4, "=r", uint32_t, generic)

#define STORES(X)                                                                                  \
    X("st.global.u8", "h", uint16_t, global)                                                       \
    X("st.global.b8", "r", uint32_t, global)                                                       \
    X("st.global.u16", "h", uint16_t, global)                                                      \
    X("st.global.b16", "r", uint32_t, global)                                                      \
    X("st.global.u32", "r", uint32_t, global)                                                      \
    X("st.global.u32", "l", uint64_t, global)                                                      \
    X("st.global.f32", "f", float, global)                                                         \
    X("st.global.b64", "l", uint64_t, global)                                                      \
    X("st.global.f64", "d", double, global)                                                        \
    X("st.global.wb.u32", "r", uint32_t, global)                                                   \
    X("st.global.cg.u32", "r", uint32_t, global)                                                   \
    X("st.global.cs.u32", "r", uint32_t, global)                                                   \
    X("st.global.wt.u32", "r", uint32_t, global)                                                   \
    X("st.global.L1::no_allocate.u32", "r", uint32_t, global)                                      \
    X("st.volatile.global.u32", "r", uint32_t, global)                                             \
    X("st.relaxed.gpu.global.u32", "r", uint32_t, global)                                          \
    X("st.release.gpu.global.u32", "r", uint32_t, global)                                          \
    X("st.release.sys.global.u64", "l", uint64_t, global)                                          \
    X("st.u32", "r", uint32_t, generic)                                                            \
    X("st.shared.u8", "r", uint32_t, shared)                                                       \
    X("st.shared.u16", "h", uint16_t, shared)                                                      \
    X("st.shared.f32", "f", float, shared)                                                         \
    X("st.shared::cta.u64", "l", uint64_t, shared)                                                 \
    X("st.volatile.shared.u32", "r", uint32_t, shared)                                             \
    X("st.release.cta.shared.u32", "r", uint32_t, shared)

#define VECTOR_STORES(X)                                                                           \
    X("st.global.v2.u8", 2, "h", uint16_t, global)                                                 \
    X("st.global.v4.u16", 4, "h", uint16_t, global)                                                \
    X("st.global.v2.f32", 2, "f", float, global)                                                   \
    X("st.global.v4.u32", 4, "r", uint32_t, global)                                                \
    X("st.global.cs.v4.f32", 4, "f", float, global)                                                \
    X("st.global.v2.u64", 2, "l", uint64_t, global)                                                \
    X("st.shared.v2.u32", 2, "r", uint32_t, shared)                                                \
    X("st.shared.v4.f32", 4, "f", float, shared)

// atom with one operand beside the address, and the same as red
#define ATOMS(X)                                                                                   \
    X("global.add.u32", "r", uint32_t, global)                                                     \
    X("global.add.s32", "r", uint32_t, global)                                                     \
    X("global.add.u64", "l", uint64_t, global)                                                     \
    X("global.add.f32", "f", float, global)                                                        \
    X("global.add.f64", "d", double, global)                                                       \
    X("global.add.noftz.f16x2", "r", uint32_t, global)                                             \
    X("global.add.noftz.bf16x2", "r", uint32_t, global)                                            \
    X("global.add.noftz.f16", "h", uint16_t, global)                                               \
    X("global.add.noftz.bf16", "h", uint16_t, global)                                              \
    X("global.min.u32", "r", uint32_t, global)                                                     \
    X("global.min.s32", "r", uint32_t, global)                                                     \
    X("global.max.u32", "r", uint32_t, global)                                                     \
    X("global.max.s32", "r", uint32_t, global)                                                     \
    X("global.min.u64", "l", uint64_t, global)                                                     \
    X("global.max.s64", "l", uint64_t, global)                                                     \
    X("global.and.b32", "r", uint32_t, global)                                                     \
    X("global.or.b32", "r", uint32_t, global)                                                      \
    X("global.xor.b32", "r", uint32_t, global)                                                     \
    X("global.and.b64", "l", uint64_t, global)                                                     \
    X("global.or.b64", "l", uint64_t, global)                                                      \
    X("global.xor.b64", "l", uint64_t, global)                                                     \
    X("global.inc.u32", "r", uint32_t, global)                                                     \
    X("global.dec.u32", "r", uint32_t, global)                                                     \
    X("relaxed.gpu.global.add.u32", "r", uint32_t, global)                                         \
    X("release.gpu.global.add.u32", "r", uint32_t, global)                                         \
    X("add.u32", "r", uint32_t, generic)                                                           \
    X("add.f32", "f", float, generic)                                                              \
    X("shared.add.u32", "r", uint32_t, shared)                                                     \
    X("shared.add.f32", "f", float, shared)                                                        \
    X("shared.add.f64", "d", double, shared)                                                       \
    X("shared.add.noftz.f16x2", "r", uint32_t, shared)                                             \
    X("shared::cta.max.s32", "r", uint32_t, shared)                                                \
    X("shared.xor.b64", "l", uint64_t, shared)

#define VECTOR_ATOMS(X)                                                                            \
    X("global.add.v2.f32", 2, "f", float)                                                          \
    X("global.add.v4.f32", 4, "f", float)                                                          \
    X("global.add.noftz.v2.f16x2", 2, "r", uint32_t)                                               \
    X("global.add.noftz.v4.bf16x2", 4, "r", uint32_t)                                              \
    X("global.add.noftz.v2.f16", 2, "h", uint16_t)                                                 \
    X("global.add.noftz.v8.bf16", 8, "h", uint16_t)

// atom without a red
#define EXCHANGES(X)                                                                               \
    X("atom.global.exch.b32", "r", uint32_t, global)                                               \
    X("atom.global.exch.b64", "l", uint64_t, global)                                               \
    X("atom.acq_rel.gpu.global.exch.b32", "r", uint32_t, global)                                   \
    X("atom.shared.exch.b32", "r", uint32_t, shared)
#define COMPARISONS(X)                                                                             \
    X("atom.global.cas.b32", "r", uint32_t, global)                                                \
    X("atom.global.cas.b64", "l", uint64_t, global)                                                \
    X("atom.global.cas.b16", "h", uint16_t, global)                                                \
    X("atom.acquire.cta.global.cas.b32", "r", uint32_t, global)                                    \
    X("atom.shared.cas.b32", "r", uint32_t, shared)                                                \
    X("atom.cas.b64", "l", uint64_t, generic)

#define AT_global "l"(global)
#define AT_generic "l"(generic)
#define AT_shared "r"(shared)

template <class T>
__device__ inline T as(uint64_t bits)
{
    T v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
template <class T>
__device__ inline uint64_t bits_of(T v)
{
    uint64_t bits = 0;
    memcpy(&bits, &v, sizeof v);
    return bits;
}

// One warp. memory and values [BYTES]; returned [8][LANES], of case `which` in the list `list`.
// Memory is loaded into shared memory first, and goes back from it if anything there was written.
template <int list>
__global__ void run(int which, char *memory, const char *values, uint64_t *returned)
{
    __shared__ alignas(32) char copy[BYTES];
    const int lane = threadIdx.x;
    for (int i = lane; i < BYTES; i += LANES)
        copy[i] = memory[i];
    __syncthreads();
    char *global = memory + lane * SLOT, *generic = copy + lane * SLOT;
    uint32_t shared = (uint32_t)__cvta_generic_to_shared(generic);
    const uint64_t *value = (const uint64_t *)(values + lane * SLOT);
    int n = 0, in_shared = 0;
    auto give = [&](int part, uint64_t bits) { returned[part * LANES + lane] = bits; };
#define CASE(space) if (n++ == which && ((in_shared = #space[2] != 'o'), true))
#define LOAD(text, c, T, space)                                                                    \
    CASE(space)                                                                                    \
    {                                                                                              \
        T v;                                                                                       \
        asm volatile(text " %0, [%1];" : c(v) : AT_##space : "memory");                            \
        give(0, bits_of(v));                                                                       \
    }
#define VECTOR_LOAD(text, parts, c, T, space)                                                      \
    CASE(space)                                                                                    \
    {                                                                                              \
        T v[4] = {};                                                                               \
        LOAD_##parts(text, c, space);                                                              \
        for (int i = 0; i < parts; i++)                                                            \
            give(i, bits_of(v[i]));                                                                \
    }
#define LOAD_2(text, c, space)                                                                     \
    asm volatile(text " {%0, %1}, [%2 + 0];" : c(v[0]), c(v[1]) : AT_##space : "memory")
#define LOAD_4(text, c, space)                                                                     \
    asm volatile(text " {%0, %1, %2, %3}, [%4];"                                                   \
                 : c(v[0]), c(v[1]), c(v[2]), c(v[3])                                              \
                 : AT_##space                                                                      \
                 : "memory")
#define STORE(text, c, T, space)                                                                   \
    CASE(space) asm volatile(text " [%0], %1;" ::AT_##space, c(as<T>(value[0])) : "memory");
#define VECTOR_STORE(text, parts, c, T, space)                                                     \
    CASE(space)                                                                                    \
    {                                                                                              \
        T v[8];                                                                                    \
        memcpy(v, value, parts * sizeof(T));                                                       \
        STORE_##parts(text, c, AT_##space);                                                        \
    }
#define STORE_2(text, c, at) asm volatile(text " [%0], {%1, %2};" ::at, c(v[0]), c(v[1]) : "memory")
#define STORE_4(text, c, at)                                                                       \
    asm volatile(text " [%0], {%1, %2, %3, %4};" ::at, c(v[0]), c(v[1]), c(v[2]), c(v[3])          \
                 : "memory")
#define STORE_8(text, c, at)                                                                       \
    asm volatile(text " [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::at, c(v[0]), c(v[1]), c(v[2]),  \
                 c(v[3]), c(v[4]), c(v[5]), c(v[6]), c(v[7])                                       \
                 : "memory")
#define ATOM(text, c, T, space) EXCHANGE("atom." text, c, T, space)
#define RED(text, c, T, space) STORE("red." text, c, T, space)
#define VECTOR_RED(text, parts, c, T) VECTOR_STORE("red." text, parts, c, T, global)
#define VECTOR_ATOM(text, parts, c, T)                                                             \
    CASE(global)                                                                                   \
    {                                                                                              \
        T v[8], r[8] = {};                                                                         \
        memcpy(v, value, parts * sizeof(T));                                                       \
        ATOM_##parts("atom." text, c);                                                             \
        for (int i = 0; i < parts; i++)                                                            \
            give(i, bits_of(r[i]));                                                                \
    }
#define ATOM_2(text, c)                                                                            \
    asm volatile(text " {%0, %1}, [%2], {%3, %4};"                                                 \
                 : "=" c(r[0]), "=" c(r[1])                                                        \
                 : "l"(global), c(v[0]), c(v[1])                                                   \
                 : "memory")
#define ATOM_4(text, c)                                                                            \
    asm volatile(text " {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"                                 \
                 : "=" c(r[0]), "=" c(r[1]), "=" c(r[2]), "=" c(r[3])                              \
                 : "l"(global), c(v[0]), c(v[1]), c(v[2]), c(v[3])                                 \
                 : "memory")
#define ATOM_8(text, c)                                                                            \
    asm volatile(text " {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], "                                  \
                      "{%9, %10, %11, %12, %13, %14, %15, %16};"                                   \
                 : "=" c(r[0]), "=" c(r[1]), "=" c(r[2]), "=" c(r[3]), "=" c(r[4]), "=" c(r[5]),   \
                   "=" c(r[6]), "=" c(r[7])                                                        \
                 : "l"(global), c(v[0]), c(v[1]), c(v[2]), c(v[3]), c(v[4]), c(v[5]), c(v[6]),     \
                   c(v[7])                                                                         \
                 : "memory")
#define EXCHANGE(text, c, T, space)                                                                \
    CASE(space)                                                                                    \
    {                                                                                              \
        T v;                                                                                       \
        asm volatile(text " %0, [%1], %2;"                                                         \
                     : "=" c(v)                                                                    \
                     : AT_##space, c(as<T>(value[0]))                                              \
                     : "memory");                                                                  \
        give(0, bits_of(v));                                                                       \
    }
// Every other lane compares with what is there.
#define COMPARE(text, c, T, space)                                                                 \
    CASE(space)                                                                                    \
    {                                                                                              \
        T v, there = as<T>(*(const uint64_t *)generic);                                            \
        asm volatile(text " %0, [%1], %2, %3;"                                                     \
                     : "=" c(v)                                                                    \
                     : AT_##space, c(lane % 2 ? there : as<T>(value[1])), c(as<T>(value[0]))       \
                     : "memory");                                                                  \
        give(0, bits_of(v));                                                                       \
    }
    if constexpr (list == 0) {
        LOADS(LOAD)
    } else if constexpr (list == 1) {
        VECTOR_LOADS(VECTOR_LOAD)
    } else if constexpr (list == 2) {
        STORES(STORE)
    } else if constexpr (list == 3) {
        VECTOR_STORES(VECTOR_STORE)
    } else if constexpr (list == 4) {
        ATOMS(ATOM)
    } else if constexpr (list == 5) {
        ATOMS(RED)
    } else if constexpr (list == 6) {
        VECTOR_ATOMS(VECTOR_ATOM)
    } else if constexpr (list == 7) {
        VECTOR_ATOMS(VECTOR_RED)
    } else if constexpr (list == 8) {
        EXCHANGES(EXCHANGE)
    } else {
        COMPARISONS(COMPARE)
    }
    __syncthreads();
    if (in_shared)
        for (int i = lane; i < BYTES; i += LANES)
            memory[i] = copy[i];
}

struct test {
    const char *before, *text;
    int parts;
};
#define TEST4(text, c, T, space) {"", text, 1},
#define TEST5(text, parts, c, T, space) {"", text, parts},
#define TEST_ATOM(text, c, T, space) {"atom.", text, 1},
#define TEST_RED(text, c, T, space) {"red.", text, 1},
#define TEST_ATOMS(text, parts, c, T) {"atom.", text, parts},
#define TEST_REDS(text, parts, c, T) {"red.", text, parts},
static const struct test loads[] = {LOADS(TEST4)}, vector_loads[] = {VECTOR_LOADS(TEST5)},
                         stores[] = {STORES(TEST4)}, vector_stores[] = {VECTOR_STORES(TEST5)},
                         atoms[] = {ATOMS(TEST_ATOM)}, reds[] = {ATOMS(TEST_RED)},
                         vector_atoms[] = {VECTOR_ATOMS(TEST_ATOMS)},
                         vector_reds[] = {VECTOR_ATOMS(TEST_REDS)},
                         exchanges[] = {EXCHANGES(TEST4)}, comparisons[] = {COMPARISONS(TEST4)};

static char memory[BYTES], values[BYTES], after[BYTES];
static uint64_t returned[8][LANES];

// Bits of a number with E exponent bits that may be anything, often something rare.
static uint32_t any_number(struct sequence *s, int E, int M)
{
    uint32_t r = next_number(s), sign = (r & 1) << (E + M), top = (1u << E) - 1;
    uint32_t fraction = next_number(s) & ((1u << M) - 1), e = r >> 8 & top;
    switch (r >> 1 & 15) {
    case 0:
        return sign | top << M;
    case 1:
        return sign | top << M | fraction | 1;
    case 2:
        return sign;
    case 3:
        return sign | fraction; // below the least normal number
    case 4:
        return sign | 1u << M | fraction;
    case 5:
        return sign | (top << M) - 1;
    case 6:
    case 7:
        return sign | e << M | fraction;
    default: // of like size, so that sums round
        return sign | (top / 2 - 2 + e % 5) << M | fraction;
    }
}

static void fill(struct sequence *s, const char *text, char *to)
{
    int E = strstr(text, "bf16") ? 8 : strstr(text, "f16") ? 5 : strstr(text, "f32") ? 8 : 0;
    int M = strstr(text, "bf16") ? 7 : E == 5 ? 10 : 23, size = strstr(text, "f16") ? 2 : 4;
    for (int i = 0; i < BYTES; i += size) {
        uint32_t bits = E ? any_number(s, E, M) : next_number(s);
        if (strstr(text, "f64") && i % 8)
            bits = (bits & 0x800fffff) | (0x3fe + (bits >> 20) % 4) << 20;
        if (strstr(text, "inc") || strstr(text, "dec"))
            bits %= 3;
        memcpy(to + i, &bits, (size_t)size);
    }
}

// What one element becomes, by the plain rule of each operation; 0 where none is given here.
static int combined(const char *text, const char *old, const char *v, char *to)
{
    uint64_t a = 0, b = 0, r;
    int wide = strstr(text, "64") != NULL,
        is_signed = strstr(text, ".s") != NULL && (strstr(text, ".s32") || strstr(text, ".s64"));
    if (strstr(text, ".f") || strstr(text, "bf16"))
        return 0; // the recorded results alone say how sums of floats round
    memcpy(&a, old, wide ? 8 : 4);
    memcpy(&b, v, wide ? 8 : 4);
    int64_t sa = wide ? (int64_t)a : (int32_t)a, sb = wide ? (int64_t)b : (int32_t)b;
    if (strstr(text, "add"))
        r = a + b;
    else if (strstr(text, "min"))
        r = is_signed ? (uint64_t)(sa < sb ? sa : sb) : a < b ? a : b;
    else if (strstr(text, "max"))
        r = is_signed ? (uint64_t)(sa > sb ? sa : sb) : a > b ? a : b;
    else if (strstr(text, "and"))
        r = a & b;
    else if (strstr(text, "xor"))
        r = a ^ b;
    else if (strstr(text, "or.b"))
        r = a | b;
    else if (strstr(text, "inc"))
        r = a >= b ? 0 : a + 1;
    else
        r = a == 0 || a > b ? b : a - 1;
    memcpy(to, &r, wide ? 8 : 4);
    return 1;
}

// Elements that differ from what the plain rule gives.
static int wrong(int list, const struct test *t, const char *constraint)
{
    const char *type = strrchr(t->text, '.') + 1, *digit = type;
    while (*digit < '0' || *digit > '9')
        digit++;
    int size = strstr(type, "f16x2") || strstr(type, "bf16x2") ? 4 : atoi(digit) / 8, bad = 0;
    int width = constraint[0] == '=' ? constraint[1] : constraint[0];
    width = width == 'h' ? 2 : width == 'l' || width == 'd' ? 8 : 4;
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < t->parts; i++) {
            const char *old = memory + lane * SLOT + i * size, *v = values + lane * SLOT;
            char expected[8] = {};
            uint64_t got = returned[i][lane], back = 0;
            memcpy(&back, old, (size_t)size);
            if (list < 2 && *type == 's' && old[size - 1] < 0)
                back |= ~0ull << (size * 8 - 1);
            if (width < 8)
                back &= (1ull << width * 8) - 1;
            if (list != 2 && list != 3 && list != 5 && list != 7)
                bad += got != back;
            const char *found = after + lane * SLOT + i * size;
            if (list == 0 || list == 1)
                continue;
            if (list == 2 || list == 3)
                memcpy(expected, v + i * (t->parts > 1 ? width : 0), (size_t)size);
            else if (list == 8)
                memcpy(expected, v, (size_t)size);
            else if (list == 9)
                memcpy(expected, lane % 2 || memcmp(old, v + 8, (size_t)size) == 0 ? v : old,
                       (size_t)size);
            else if (!combined(t->text, old, v, expected))
                continue;
            bad += memcmp(found, expected, (size_t)size) != 0;
        }
    return bad;
}

static int full; // every lane's memory, operand and result, for those who look for a difference

template <int list>
static void record(const struct test *tests, int count, const char *const *constraints)
{
    for (int n = 0; n < count; n++) {
        const struct test *t = &tests[n];
        // A red gets the operands of its atom.
        struct sequence s = {(uint64_t)(list == 5   ? 4
                                        : list == 7 ? 6
                                                    : list)
                                     << 16 |
                                 (uint64_t)n,
                             0};
        fill(&s, t->text, memory);
        fill(&s, t->text, values);
        memset(returned, 0, sizeof returned);
        void *dm = on_device(memory, BYTES), *dv = on_device(values, BYTES);
        void *dr = on_device(NULL, sizeof returned);
        run<list><<<1, LANES>>>(n, (char *)dm, (char *)dv, (uint64_t *)dr);
        to_host(after, dm, BYTES);
        to_host(returned, dr, sizeof returned);
        char name[80];
        snprintf(name, sizeof name, "%s%s", t->before, t->text);
        int bad = wrong(list, t, constraints[n]);
        printf("%s\t%s\t%08x,", name, constraints[n], hashed(0, returned, sizeof returned));
        print_end(hashed(0, after, BYTES), bad);
        for (int lane = 0; full && lane < LANES; lane++)
            for (int k = 0; k < SLOT / 4; k++) {
                uint32_t a, b, r;
                memcpy(&a, memory + lane * SLOT + k * 4, 4);
                memcpy(&b, values + lane * SLOT + k * 4, 4);
                memcpy(&r, after + lane * SLOT + k * 4, 4);
                printf("%s\t%08x,%08x\t%08x\n", name, a, b, r);
            }
        cudaFree(dm), cudaFree(dv), cudaFree(dr);
    }
}

// All lanes of two blocks add to one place; and what the other instructions here answer.
__global__ void together(uint32_t *sums, uint32_t *answers)
{
    __shared__ uint32_t in_shared;
    if (threadIdx.x == 0)
        in_shared = 0;
    __syncthreads();
    uint32_t at = (uint32_t)__cvta_generic_to_shared(&in_shared);
    asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(at), "r"(threadIdx.x) : "memory");
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(sums), "r"(threadIdx.x + 1) : "memory");
    asm volatile("red.global.add.f32 [%0], %1;" ::"l"(sums + 1), "f"((float)threadIdx.x)
                 : "memory");
    asm volatile("membar.cta; membar.gl; membar.sys;" ::: "memory");
    asm volatile("fence.acq_rel.gpu; fence.sc.cta; fence.acq_rel.sys;" ::: "memory");
    asm volatile("fence.proxy.async; fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    uint64_t generic, back;
    uint32_t is_shared, is_global, global_is_shared, value;
    asm volatile("{ .reg .u64 g, s; cvt.u64.u32 s, %2; cvta.shared.u64 g, s; mov.b64 %0, g;\n\t"
                 "cvta.to.shared.u64 %1, g; }"
                 : "=l"(generic), "=l"(back)
                 : "r"(at));
    asm volatile("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }"
                 : "=r"(is_shared)
                 : "l"(generic));
    asm volatile("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }"
                 : "=r"(is_global)
                 : "l"(sums));
    asm volatile("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }"
                 : "=r"(global_is_shared)
                 : "l"(sums));
    asm volatile("{ .reg .u64 g; cvta.to.global.u64 g, %1; ld.global.u32 %0, [g + 8]; }"
                 : "=r"(value)
                 : "l"(sums));
    uint64_t policy;
    uint32_t hinted;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("prefetch.global.L2 [%0]; prefetch.global.L1 [%0];" ::"l"(sums));
    asm volatile("ld.global.L2::cache_hint.u32 %0, [%1 + 8], %2;"
                 : "=r"(hinted)
                 : "l"(sums), "l"(policy)
                 : "memory");
    if (threadIdx.x)
        return;
    asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(answers + blockIdx.x * 8),
                 "r"(hinted), "l"(policy)
                 : "memory");
    uint32_t *mine = answers + blockIdx.x * 8;
    mine[1] = (uint32_t)(back == at);
    mine[2] = (uint32_t)(generic == (uint64_t)&in_shared);
    mine[3] = is_shared << 2 | is_global << 1 | global_is_shared;
    mine[4] = value;
    mine[5] = in_shared;
}

int main(int argc, char **argv)
{
    full = argc > 1 && strcmp(argv[1], "full") == 0;
#define C4(text, c, T, space) c,
#define C5(text, parts, c, T, space) c,
#define CV(text, parts, c, T) c,
    static const char
        *const c_loads[] = {LOADS(C4)},
               *const c_vector_loads[] = {VECTOR_LOADS(C5)}, *const c_stores[] = {STORES(C4)},
               *const c_vector_stores[] = {VECTOR_STORES(C5)}, *const c_atoms[] = {ATOMS(C4)},
               *const c_vector_atoms[] = {VECTOR_ATOMS(CV)}, *const c_exchanges[] = {EXCHANGES(C4)},
               *const c_comparisons[] = {COMPARISONS(C4)};
#define COUNT(a) (int)(sizeof a / sizeof *a)
    record<0>(loads, COUNT(loads), c_loads);
    record<1>(vector_loads, COUNT(vector_loads), c_vector_loads);
    record<2>(stores, COUNT(stores), c_stores);
    record<3>(vector_stores, COUNT(vector_stores), c_vector_stores);
    record<4>(atoms, COUNT(atoms), c_atoms);
    record<5>(reds, COUNT(reds), c_atoms);
    record<6>(vector_atoms, COUNT(vector_atoms), c_vector_atoms);
    record<7>(vector_reds, COUNT(vector_reds), c_vector_atoms);
    record<8>(exchanges, COUNT(exchanges), c_exchanges);
    record<9>(comparisons, COUNT(comparisons), c_comparisons);
    uint32_t start[3] = {0, 0, 12345}, sums[3], answers[16] = {};
    void *ds = on_device(start, sizeof start), *da = on_device(answers, sizeof answers);
    together<<<2, 96>>>((uint32_t *)ds, (uint32_t *)da);
    to_host(sums, ds, sizeof sums);
    to_host(answers, da, sizeof answers);
    printf("together\t\t%08x %08x", sums[0], sums[1]);
    for (int i = 0; i < 16; i++)
        printf(" %x", answers[i]);
    printf("\n");
    cudaFree(ds), cudaFree(da);
    return any_wrong;
}
