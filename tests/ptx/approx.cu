// Instructions that approximate: PTX says how far they may be off, and a GPU's bits are its own.
// Here each result stands in a line of its own; tests/ptx.t allows what bounds.tsv says.
//
//   approx           lines: instruction, operand, result
//   approx errors    the largest error of each over many operands, in units of the last place
#include "scalar.h"

#include <math.h>

enum { MANY = 1 << 20 };
enum type { F32, F16, BF16 };

static const struct {
    const char *name;
    enum type type;
    double (*exact)(double a, double b);
    double least, greatest; // operands of the sweep
} functions[] = {
    {"ex2.approx.f32", F32, [](double a, double) { return exp2(a); }, -140, 128},
    {"ex2.approx.ftz.f32", F32, [](double a, double) { return exp2(a); }, -125, 128},
    {"lg2.approx.f32", F32, [](double a, double) { return log2(a); }, 1e-44, 3e38},
    {"lg2.approx.ftz.f32", F32, [](double a, double) { return log2(a); }, 1e-37, 3e38},
    {"rcp.approx.f32", F32, [](double a, double) { return 1 / a; }, 1e-38, 3e38},
    {"rcp.approx.ftz.f32", F32, [](double a, double) { return 1 / a; }, 2e-38, 8e37},
    {"rsqrt.approx.f32", F32, [](double a, double) { return 1 / sqrt(a); }, 1e-44, 3e38},
    {"rsqrt.approx.ftz.f32", F32, [](double a, double) { return 1 / sqrt(a); }, 2e-38, 3e38},
    {"sqrt.approx.f32", F32, [](double a, double) { return sqrt(a); }, 1e-44, 3e38},
    {"sqrt.approx.ftz.f32", F32, [](double a, double) { return sqrt(a); }, 2e-38, 3e38},
    {"sin.approx.f32", F32, [](double a, double) { return sin(a); }, 1e-4, 3.2},
    {"sin.approx.ftz.f32", F32, [](double a, double) { return sin(a); }, 1e-4, 3.2},
    {"cos.approx.f32", F32, [](double a, double) { return cos(a); }, 1e-4, 3.2},
    {"tanh.approx.f32", F32, [](double a, double) { return tanh(a); }, 1e-4, 20},
    {"div.approx.f32", F32, [](double a, double b) { return a / b; }, 1e-18, 1e18},
    {"div.approx.ftz.f32", F32, [](double a, double b) { return a / b; }, 1e-18, 1e18},
    {"div.full.f32", F32, [](double a, double b) { return a / b; }, 1e-18, 1e18},
    {"ex2.approx.f16x2", F16, [](double a, double) { return exp2(a); }, -14, 15.9},
    {"tanh.approx.f16x2", F16, [](double a, double) { return tanh(a); }, 1e-3, 10},
    {"ex2.approx.ftz.bf16x2", BF16, [](double a, double) { return exp2(a); }, -120, 127},
    {"tanh.approx.bf16x2", BF16, [](double a, double) { return tanh(a); }, 1e-3, 10},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

#define OF_FLOAT(n, text)                                                                          \
    case n:                                                                                        \
        asm(text " %0, %1;" : "=f"(f) : "f"(x));                                                   \
        break;
#define OF_FLOATS(n, text)                                                                         \
    case n:                                                                                        \
        asm(text " %0, %1, %2;" : "=f"(f) : "f"(x), "f"(y));                                       \
        break;
#define OF_PAIR(n, text)                                                                           \
    case n:                                                                                        \
        asm(text " %0, %1;" : "=r"(r) : "r"(a));                                                   \
        break;
__global__ void approximate(int which, const uint32_t *in, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t a = in[2 * i];
    const float x = from_bits<float>(a), y = from_bits<float>(in[2 * i + 1]);
    float f = 0;
    uint32_t r = 0;
    switch (which) {
        OF_FLOAT(0, "ex2.approx.f32")
        OF_FLOAT(1, "ex2.approx.ftz.f32")
        OF_FLOAT(2, "lg2.approx.f32")
        OF_FLOAT(3, "lg2.approx.ftz.f32")
        OF_FLOAT(4, "rcp.approx.f32")
        OF_FLOAT(5, "rcp.approx.ftz.f32")
        OF_FLOAT(6, "rsqrt.approx.f32")
        OF_FLOAT(7, "rsqrt.approx.ftz.f32")
        OF_FLOAT(8, "sqrt.approx.f32")
        OF_FLOAT(9, "sqrt.approx.ftz.f32")
        OF_FLOAT(10, "sin.approx.f32")
        OF_FLOAT(11, "sin.approx.ftz.f32")
        OF_FLOAT(12, "cos.approx.f32")
        OF_FLOAT(13, "tanh.approx.f32")
        OF_FLOATS(14, "div.approx.f32")
        OF_FLOATS(15, "div.approx.ftz.f32")
        OF_FLOATS(16, "div.full.f32")
        OF_PAIR(17, "ex2.approx.f16x2")
        OF_PAIR(18, "tanh.approx.f16x2")
        OF_PAIR(19, "ex2.approx.ftz.bf16x2")
        OF_PAIR(20, "tanh.approx.bf16x2")
    }
    out[i] = which < 17 ? (uint32_t)to_bits(f) : r;
}

static void apply(int which, const uint32_t *in, uint32_t *out, int n)
{
    uint32_t *device_in = (uint32_t *)on_device(in, (size_t)n * 8);
    uint32_t *device_out = (uint32_t *)on_device(NULL, (size_t)n * 4);
    approximate<<<n / 32, 32>>>(which, device_in, device_out);
    to_host(out, device_out, (size_t)n * 4);
    need(cudaFree(device_in), "cudaFree");
    need(cudaFree(device_out), "cudaFree");
}

static double value(enum type type, uint32_t bits)
{
    if (type == F32)
        return from_bits<float>(bits);
    int fraction = type == F16 ? 10 : 7, bias = type == F16 ? 15 : 127;
    int e = (int)(bits >> fraction) & (type == F16 ? 31 : 255),
        m = (int)bits & ((1 << fraction) - 1);
    double v = e == 2 * bias + 1
                   ? (m ? NAN : INFINITY)
                   : ldexp(e ? m + (1 << fraction) : m, (e ? e : 1) - bias - fraction);
    return bits & 0x8000 ? -v : v;
}

// Of what is exact, rounded to the type.
static double last_place(enum type type, double v)
{
    int e, bits = type == F32 ? 24 : type == F16 ? 11 : 8, least = type == F16 ? -13 : -125;
    frexp(v, &e);
    return ldexp(1, (e < least ? least : e) - bits);
}

// Spread evenly over the exponents, of both signs where the least operand is negative.
static double operand_between(struct sequence *s, double least, double greatest)
{
    double u = next_number(s) / 4294967296.0;
    return least < 0 ? least + (greatest - least) * u : least * pow(greatest / least, u);
}

static uint32_t nearest(enum type type, double v)
{
    float f = (float)v;
    if (type == F32)
        return (uint32_t)to_bits(f);
    if (type == BF16)
        return (uint32_t)to_bits(f) >> 16;
    uint32_t low = 0, high = 0x7c00, sign = v < 0 ? 0x8000 : 0;
    while (high - low > 1)
        if (value(F16, (low + high) / 2) <= fabs(v))
            low = (low + high) / 2;
        else
            high = (low + high) / 2;
    return sign | low;
}

static void sweep(int which)
{
    static uint32_t in[MANY][2], out[MANY];
    struct sequence s = {1000 + (uint64_t)which, 0};
    enum type type = functions[which].type;
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < 2; k++)
            in[i][k] = nearest(
                type, operand_between(&s, functions[which].least, functions[which].greatest));
    apply(which, &in[0][0], out, MANY);
    double worst = 0;
    int at = 0;
    for (int i = 0; i < MANY; i++) {
        uint32_t mask = type == F32 ? ~0u : 0xffff;
        double exact = functions[which].exact(value(type, in[i][0]), value(type, in[i][1]));
        double error = fabs(value(type, out[i] & mask) - exact) / last_place(type, exact);
        if (error > worst || error != error)
            worst = error, at = i;
    }
    printf("%s\tfrom %g to %g\t%.3f ulp at %x, %x: %x\n", functions[which].name,
           functions[which].least, functions[which].greatest, worst, in[at][0], in[at][1], out[at]);
}

// Sines of large numbers, and quotients by the largest, are 0 on a GPU: PTX says nothing of them.
static int is_outside(int which, const uint32_t in[2])
{
    const char *name = functions[which].name;
    int wave = strncmp(name, "sin", 3) == 0 || strncmp(name, "cos", 3) == 0;
    int quotient = strncmp(name, "div", 3) == 0;
    double x = fabs(value(F32, in[0])), y = fabs(value(F32, in[1]));
    return (wave && x > 64 && x < INFINITY) || (quotient && y > 8.5e37);
}

static void show(int which)
{
    uint32_t in[SHOWN][2], out[SHOWN];
    struct sequence s = {(uint64_t)which, 0};
    const char kind = "fHB"[functions[which].type];
    for (int i = 0; i < SHOWN; i++)
        for (int k = 0; k < 2; k++)
            in[i][k] = (uint32_t)operand(&s, kind, i % 2);
    apply(which, &in[0][0], out, SHOWN);
    for (int i = 0; i < SHOWN; i++)
        if (is_outside(which, in[i]))
            continue;
        else if (strncmp(functions[which].name, "div", 3) == 0)
            printf("%s\t%x,%x\t%x\n", functions[which].name, in[i][0], in[i][1], out[i]);
        else
            printf("%s\t%x\t%x\n", functions[which].name, in[i][0], out[i]);
}

int main(int argc, char **)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (argc > 1)
            sweep(i);
        else
            show(i);
    return 0;
}
