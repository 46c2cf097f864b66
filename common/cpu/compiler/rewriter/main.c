/* rewriter: preprocessed CUDA C++ on standard input becomes plain C++ on standard output.
 *
 *   k<T><<<g, b, s, st>>>(args)   ::cpu_launch("k<T>", k<T>, ::cpu_config(g, b, s, st), args)
 *   __shared__ float a[32], b;    references into the block's shared memory
 *   asm("..." : "=r"(a) : "r"(b)) operands to registers, a call, and back
 *   __global__, __device__ ...    nothing
 *   __launch_bounds__(n, m)       a call where the kernel begins
 *
 * rewriter --headers DIR         DIR has the backend's own headers
 * rewriter --trace               the output is for `count` or `check`
 * rewriter --locals              `check` is to know the arrays of threads, and copies of the host
 * rewriter --calls               the output is only for a compiler to find mistakes in: a launch is
 *                                a call of the kernel, and __shared__ is static
 * rewriter --merge FILE          FILE is the source with __CUDA_ARCH__: both become one
 * rewriter --missing PLACE NAME  a header that was not found is refused, if it is the toolkit's
 * rewriter --unknown PLACE NAME  a name that g++ does not know is refused, if it is CUDA's
 *
 * Text from system headers, ours among them, passes unread. What the backend cannot do is reported
 * in one line, exit code 2. */
#include "compiler/rewriter/rewrite.h"

#include <string.h>

/* Where the pass over the tokens is. */
struct pass {
    int depth, parens; /* braces and parentheses that are open */
    int device_depth;  /* the depth around the function of the device that it is in; -1: in none */
    int device_body;   /* the { of that function */
    int in_kernel;     /* which is a kernel, and no template */
    int device_from;   /* the first __global__ or __device__ of a declaration; -1: there was none */
    char *bounds;      /* of the kernel that begins: (n, m) */
    int as_calls;
};

static void open_brace(struct pass *p, int i)
{
    if (p->device_from >= 0) {
        if (p->device_depth < 0) {
            p->device_depth = p->depth;
            p->device_body = i;
            p->in_kernel = 0;
            for (int k = p->device_from; k < i; k++)
                p->in_kernel |= is(k, "__global__");
            p->in_kernel &= !is(statement_start(p->device_from), "template");
            if (!p->as_calls)
                place_shared(p->device_from, i);
        }
        if (p->bounds)
            insert(i + 1, formatted("::cpu_bounds%s; ", p->bounds));
    }
    p->bounds = NULL;
    p->device_from = -1;
    p->depth++;
}

static void bracket(struct pass *p, int i)
{
    if (is(i, "{"))
        open_brace(p, i);
    else if (is(i, "}") && --p->depth == p->device_depth)
        p->device_depth = -1;
    p->parens += is(i, "(") - is(i, ")");
}

/* One of nvcc's words in a declaration. Returns the last token that it has dealt with; -1: it is
 * none of them. */
static int qualifier(struct pass *p, int i)
{
    if (is(i, "__launch_bounds__") && is(i + 1, "(")) {
        const int end = match(i + 1, 1);
        p->bounds = text_of(i + 1, end);
        replace(i, end, "");
        return end;
    }
    if (is(i, "__shared__"))
        return shared_variables(i, p->device_depth >= 0 ? p->device_body : -1, p->as_calls);
    if (is(i, "__noinline__") && !is_any(i - 1, "( ,")) {
        replace(i, i, "__attribute__((noinline))");
        return i;
    }
    if (!is_any(i, "__global__ __device__ __host__ __constant__ __managed__ __grid_constant__"))
        return -1;
    if (is(i, "__global__"))
        note_kernel(i);
    if (is_any(i, "__global__ __device__") && p->device_from < 0)
        p->device_from = i;
    replace(i, i, "");
    return i;
}

/* The } of the type whose struct, class or union is at i; -1: it has no body there. */
static int body_end(int i)
{
    while (i < token_count && !is_any(i, "{ ; ( ) > , ="))
        i++;
    return is(i, "{") ? match(i, 1) : -1;
}

static void rewrite(const char *text, int as_calls, int traced, int locals)
{
    struct pass p = {.device_depth = -1, .device_from = -1, .as_calls = as_calls};
    int type_end = -1; /* the } of the type that the pass is in: its members are no variables */
    for (int i = 0, last; i < token_count; i++) {
        const int in_device = p.device_depth >= 0;
        know_variables(i, in_device);
        if (traced)
            instrument(i, in_device, locals);
        if (locals && in_device && p.parens == 0 && i > type_end)
            local_arrays(i, p.device_body);
        if (locals && in_device && is_any(i, "struct class union"))
            type_end = body_end(i) > type_end ? body_end(i) : type_end;
        if (is_any(i, "( <"))
            kernel_pointer(i);
        if (is_any(i, "( ) { }")) {
            bracket(&p, i);
        } else if (is(i, ";") && p.parens == 0) {
            p.device_from = -1;
            p.bounds = NULL;
        } else if (is_three(i, "<") && !is(i + 3, "<") && !is(i - 1, "operator")) {
            note_launch(i);
            i += 2;
        } else if ((last = qualifier(&p, i)) >= 0) {
            i = last;
        } else if (in_device && is_any(i, "asm __asm__ __asm")) {
            i = inline_ptx(i, p.in_kernel ? p.device_body : -1);
        } else if (in_device && is(i, "clock") && is(i + 2, ")") && call_of_c(i) >= 0) {
            replace(call_of_c(i), i, "::cpu_device_clock");
        } else if (is_any(i, "cudaLaunchKernel cudaLaunchCooperativeKernel cudaLaunchKernelEx")) {
            api_launch(i);
        } else if (is_name(i)) {
            check_limits(i);
        }
    }
    check_calls();
    check_sides(text);
    rewrite_launches(as_calls);
}

static struct source read_checked(FILE *f, const char *ours)
{
    const struct source s = read_source(f);
    check_headers(ours);
    return s;
}

static int merge(const char *name, const char *ours)
{
    FILE *f = fopen(name, "r");
    if (!f) {
        fprintf(stderr, "rewrite: %s cannot be read\n", name);
        return 1;
    }
    const struct source host = read_checked(stdin, ours), device = read_checked(f, ours);
    fclose(f);
    merge_sides(&host, &device);
    return 0;
}

int main(int argc, char **argv)
{
    int traced = 0, as_calls = 0, locals = 0;
    const char *ours = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--trace") == 0)
            traced = 1;
        else if (strcmp(argv[i], "--locals") == 0)
            locals = 1;
        else if (strcmp(argv[i], "--calls") == 0)
            as_calls = 1;
        else if (strcmp(argv[i], "--headers") == 0)
            ours = argv[++i];
        else if (strcmp(argv[i], "--merge") == 0)
            return merge(argv[i + 1], ours);
        else if (strcmp(argv[i], "--missing") == 0)
            return explain_missing(argv[i + 1], argv[i + 2], ours);
        else if (strcmp(argv[i], "--unknown") == 0)
            return explain_unknown(argv[i + 1], argv[i + 2]);
    }
    const char *text = read_checked(stdin, ours).text;
    find_columns();
    rewrite(text, as_calls, traced, locals);
    write_out(text);
    if (fflush(stdout) || ferror(stdout)) {
        fputs("rewrite: the result cannot be written: is the disk full?\n", stderr);
        return 1;
    }
    return 0;
}
