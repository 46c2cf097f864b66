// Forms of asm statements. Each line is a name and what lanes 0, 1 and 5 got.
#include "record.h"

#define ADD_HUNDRED(x)                                                                             \
    asm volatile("{ .reg .s32 t; // a comment\n"                                                   \
                 "mov.s32 t, 100; /* and another */ add.s32 %0, %0, t; }"                          \
                 : "+r"(x))

struct rounding {
    static constexpr char down[] = "rm", up[] = "rp";
};

template <int N>
__device__ __forceinline__ int scaled(int x)
{
    int r;
    asm("mul.lo.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "n"(N + 1));
    return r;
}

template <class T>
__device__ inline T twice(T x)
{
    static_assert(sizeof(T) == 4, "32 bits");
    uint32_t r = (uint32_t)x;
    __asm__ __volatile__("add.u32 %0, %0, %0;" : "+r"(r));
    return (T)r;
}

struct holder {
    int v[2];
    __device__ void set(int x)
    {
        asm("mov.b64 {%0, %1}, %2;" : "=r"(v[0]), "=r"(v[1]) : "l"((long long)x << 32 | 7));
    }
};

enum { FORMS = 24 };
static const char *const names[FORMS] = {"macro with comments",
                                         "n in a template",
                                         "template",
                                         "member",
                                         "early clobber",
                                         "predicate",
                                         "!predicate",
                                         "two declarations",
                                         "registers t<4>",
                                         "nested braces",
                                         "loop",
                                         "jump forwards",
                                         "octal and escapes",
                                         "raw string",
                                         "no operands",
                                         "empty",
                                         "in an unrolled loop",
                                         "in a lambda",
                                         "hexadecimal",
                                         "pointer",
                                         "special registers",
                                         "packed",
                                         "a result unused",
                                         "64 bits"};

// out [FORMS][32]
__global__ void forms(int *out, const int *in)
{
    const int lane = threadIdx.x;
    int x = in[lane], r = 0, s = 0;
    uint64_t wide;
#define GIVE(n, value) out[(n)*32 + lane] = (int)(value)
    r = x;
    ADD_HUNDRED(r);
    GIVE(0, r);
    GIVE(1, scaled<6>(x));
    GIVE(2, twice(x) + (int)twice(1u));
    holder h;
    h.set(x);
    GIVE(3, h.v[0] + 10 * h.v[1]);
    asm("add.s32 %0, %1, 1;\n\tadd.s32 %0, %0, %1;" : "=&r"(r) : "r"(x));
    GIVE(4, r);
    asm("{\n\t"
        ".reg .pred p;\n\t"
        "setp.ge.s32 p, %1, 3;\n\t"
        "mov.s32 %0, -1;\n\t"
        "@p mov.s32 %0, 1;\n\t"
        "}"
        : "=r"(r)
        : "r"(x));
    GIVE(5, r);
    asm("{ .reg .pred %%p1; setp.ge.s32 %%p1, %1, 3; mov.s32 %0, 5; @!%%p1 mov.s32 %0, 6; }"
        : "=r"(r)
        : "r"(x));
    GIVE(6, r);
    asm("{ .reg .b32 a, b; .reg .f32 f; mov.b32 a, %1; add.u32 b, a, a; cvt.rn.f32.s32 f, b;\n"
        "cvt.rzi.s32.f32 %0, f; }"
        : "=r"(r)
        : "r"(x));
    GIVE(7, r);
    asm("{ .reg .b32 %%t<4>; mov.b32 %%t0, %1; add.s32 %%t1, %%t0, 1; add.s32 %%t2, %%t1, %%t0;"
        " add.s32 %%t3, %%t2, %%t1; mov.b32 %0, %%t3; }"
        : "=r"(r)
        : "r"(x));
    GIVE(8, r);
    asm("{ .reg .b32 t; mov.b32 t, 1; { .reg .b32 t; mov.b32 t, %1; add.s32 %0, t, t; }"
        " add.s32 %0, %0, t; }"
        : "=&r"(r)
        : "r"(x));
    GIVE(9, r);
    asm volatile("{ .reg .pred p; .reg .b32 i; mov.u32 i, 0; mov.u32 %0, 0;\n"
                 "AGAIN_%=: add.u32 %0, %0, i; add.u32 i, i, 1; setp.le.u32 p, i, %1;\n"
                 "@p bra AGAIN_%=; }"
                 : "=&r"(r)
                 : "r"(x));
    GIVE(10, r);
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, 2; mov.s32 %0, 1; @p bra OVER_%=;\n"
                 "mov.s32 %0, 2; OVER_%=: add.s32 %0, %0, 10; }"
                 : "=&r"(r)
                 : "r"(x));
    GIVE(11, r);
    asm("\x61\144d.s32 %0, \
%1, 2;"
        : "=r"(r)
        : "r"(x));
    GIVE(12, r);
    asm(R"(add.s32 %0,
        %1, 3;)"
        : "=r"(r)
        : "r"(x));
    GIVE(13, r);
    asm volatile("{ .reg .b32 %t; mov.b32 %t, %laneid; }");
    GIVE(14, 4);
    asm volatile("" : "+r"(x)::"memory");
    asm volatile("// nothing");
    GIVE(15, x);
    r = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        asm("mad.lo.s32 %0, %1, %2, %0;" : "+r"(r) : "r"(x), "r"(i));
    GIVE(16, r);
    auto add = [](int a, int b) {
        int c;
        asm("add.s32 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
        return c;
    };
    GIVE(17, add(x, add(x, 1)));
    asm("{ .reg .f32 f; mov.f32 f, 0f40400000; fma.rn.f32 f, f, 0f40000000, 1.5; "
        "cvt.rni.s32.f32 %0, f; add.s32 %0, %0, 0x10; add.s32 %0, %0, -(3 << 1) & ~1; }"
        : "=r"(r)
        : "r"(x));
    GIVE(18, r);
    asm("add.u64 %0, %1, 4;" : "=l"(wide) : "l"(in + lane));
    GIVE(19, wide - (uint64_t)(in + lane));
    asm("{ .reg .b32 t; mov.u32 %0, %%laneid; mov.u32 t, %ntid.x; mad.lo.s32 %0, t, 100, %0;"
        " mov.u32 t, %%ctaid.x; add.u32 %0, %0, t; mov.u32 t, %%lanemask_lt; popc.b32 t, t;"
        " add.u32 %0, %0, t; }"
        : "=r"(r));
    GIVE(20, r);
    asm("{ .reg .b16 a, b; mov.b32 {a, b}, %1; mov.b32 %0, {b, a}; }" : "=r"(r) : "r"(x));
    GIVE(21, r);
    asm("{ .reg .pred p, q; setp.eq.s32 _|q, %1, 1; selp.s32 %0, 1, 2, q; setp.eq.s32 p|_, %1, 0;"
        " @p add.s32 %0, %0, 5; }"
        : "=r"(r)
        : "r"(x));
    GIVE(22, r);
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(wide) : "r"(x), "r"(1 << 30), "l"(1ll));
    asm("{ .reg .b32 low, high; mov.b64 {low, high}, %1; add.u32 %0, low, high; }"
        : "=r"(s)
        : "l"(wide));
    GIVE(23, s);
}

// The text of an instruction may hold a constant string.
__global__ void strings(int *out, const float *in)
{
    const int lane = threadIdx.x;
    int down, up;
    asm("{ .reg .f32 t; add.%2.f32 t, %1, 0f33800000; mov.b32 %0, t; }"
        : "=r"(down)
        : "f"(in[lane]), "C"(rounding::down));
    asm("{ .reg .f32 t; add.%2.f32 t, %1, 0f33800000; mov.b32 %0, t; }"
        : "=r"(up)
        : "f"(in[lane]), "C"(rounding::up));
    out[lane] = up - down;
}

int main()
{
    static int in[32], out[FORMS][32], differ[32];
    static float ones[32];
    for (int i = 0; i < 32; i++) {
        in[i] = i;
        ones[i] = (float)(i + 1);
    }
    int *device_out = (int *)on_device(NULL, sizeof out);
    forms<<<1, 32>>>(device_out, (const int *)on_device(in, sizeof in));
    to_host(out, device_out, sizeof out);
    for (int i = 0; i < FORMS; i++)
        printf("%s\tlanes 0, 1, 5\t%x,%x,%x\n", names[i], out[i][0], out[i][1], out[i][5]);
    strings<<<1, 32>>>(device_out, (const float *)on_device(ones, sizeof ones));
    to_host(differ, device_out, sizeof differ);
    printf("C\tlanes 0, 1, 5\t%x,%x,%x\n", differ[0], differ[1], differ[5]);
    return 0;
}
