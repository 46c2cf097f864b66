/* rewrite: preprocessed CUDA C++ on standard input becomes plain C++ on standard output.
 *
 *   k<T><<<g, b, s, st>>>(args)   ::cpu_launch("k<T>", k<T>, ::cpu_config(g, b, s, st), args)
 *   __shared__ float a[32], b;    references into the block's arena, placed when first met
 *   extern __shared__ T s[];      a reference into the arena, no more aligned than declared
 *   both outside functions        that reference, where each function begins that names it
 *   __global__, __device__ ...    nothing
 *   __launch_bounds__(n, m)       a call where the kernel begins
 *   asm("..." : "=r"(a) : "r"(b)) operands to registers, a call, and back
 *
 * rewrite --calls                the output is only for a compiler to find mistakes in: a launch is
 *                                a call of the kernel, and __shared__ is static
 * rewrite --merge FILE           FILE is the source with __CUDA_ARCH__: both become one
 * rewrite --missing PLACE NAME   a header that was not found is refused, if it is the toolkit's
 * rewrite --unknown PLACE NAME   a name that g++ does not know is refused, if it is CUDA's
 *
 * Text from system headers, ours among them, passes unread. What the backend cannot do is reported
 * in one line, exit code 2; it is never passed on to mean something else. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>
#include <sys/stat.h>

#include "ptx/language/ptx.h"
#include "compiler/rewriter/tokens.h"

enum { PARAMETERS = 128 };

struct edit {
    const char *from, *to; /* this text becomes `text` */
    char *text;
    int order, next; /* the token that follows, to keep line numbers right */
};

/* A declaration of a kernel. */
struct kernel {
    int name, end;          /* tokens: its name, and the last one of the declaration */
    int parameters;         /* of the template; 0 when it is none */
    int n, needed;          /* arguments that it takes, and those without a default */
    int first[PARAMETERS];  /* of each parameter, the tokens where it begins, */
    int equals[PARAMETERS]; /* where its default begins, or where it ends, */
    int last[PARAMETERS];   /* and its last */
    int named;              /* it has a name of its own for launches */
};

/* A launch, until all functions are known. */
struct launch {
    int at, close; /* tokens: the first <, and the first > behind the configuration */
};

/* A __shared__ variable outside functions: each function that names it begins with `text`. */
struct outside {
    int name;
    char *text;
};

struct token *tokens;
int token_count;
static struct edit *edits;
static struct kernel *kernels;
static struct launch *launches;
static struct outside *outsides;
static char **files;
static int edit_count, kernel_count, launch_count, file_count, shared_count, variable_count,
    outside_count;
static int calls;        /* --calls: the output is plain C++, only to be looked at by a compiler */
static int in_system;    /* what is read comes from a macro of a system header */
static int traced;       /* --trace: the output is for `count` or `check` */
static const char *ours; /* --headers: the folder of the backend's */

void *rewrite_allocate(void *old, size_t bytes)
{
    void *p = realloc(old, bytes);
    if (!p) {
        fputs("rewrite: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

char *format(const char *f, ...)
{
    va_list list;
    va_start(list, f);
    int n = vsnprintf(NULL, 0, f, list);
    va_end(list);
    char *s = rewrite_allocate(NULL, (size_t)n + 1);
    va_start(list, f);
    vsnprintf(s, (size_t)n + 1, f, list);
    va_end(list);
    return s;
}

int is(int i, const char *s)
{
    return i >= 0 && i < token_count && tokens[i].n == (int)strlen(s) &&
           memcmp(tokens[i].s, s, strlen(s)) == 0;
}

int is_name(int i)
{
    return i >= 0 && i < token_count &&
           (isalpha((unsigned char)*tokens[i].s) || *tokens[i].s == '_');
}

/* "mipmaps are" and token tex2DLod: "mipmaps (tex2DLod) are not supported ..." */
static void unsupported(int i, const char *what, const char *hint)
{
    const char *verb = strrchr(what, ' ');
    fprintf(stderr, "%s:%d: %.*s (%.*s)%s not supported by the CPU backend; %s\n",
            files[tokens[i].file], tokens[i].line, (int)(verb - what), what, tokens[i].n,
            tokens[i].s, verb, hint);
    exit(2);
}

void mistake(int i, const char *what)
{
    fprintf(stderr, "%s:%d: error: %s\n", files[tokens[i].file], tokens[i].line, what);
    exit(1);
}

/* Tokens first..last become text. */
static void replace(int first, int last, char *text)
{
    APPEND(edits, edit_count,
           (struct edit){tokens[first].s, tokens[last].s + tokens[last].n, text, edit_count,
                         last + 1});
}

static void insert(int before, char *text)
{
    APPEND(edits, edit_count,
           (struct edit){tokens[before].s, tokens[before].s, text, edit_count, before});
}

static void insert_after(int i, char *text)
{
    const char *end = tokens[i].s + tokens[i].n;
    APPEND(edits, edit_count, (struct edit){end, end, text, edit_count, i + 1});
}

/* Reading. */

static const char *skip_quoted(const char *p)
{
    char quote = *p++;
    while (*p && *p != quote)
        p += *p == '\\' ? 2 : 1;
    return *p ? p + 1 : p;
}

static const char *skip_raw_string(const char *p) /* at the quote of R"x(...)x" */
{
    const char *open = strchr(p, '(');
    char *close = format(")%.*s\"", (int)(open - p - 1), p + 1);
    const char *end = strstr(open, close);
    size_t n = strlen(close);
    free(close);
    return end ? end + n : open + strlen(open);
}

const char *rewrite_token_end(const char *p)
{
    const char *s = p;
    if (*p == '"' || *p == '\'')
        return skip_quoted(p);
    if (!isalnum((unsigned char)*p) && *p != '_')
        return p + 1;
    int number = isdigit((unsigned char)*p) != 0;
    while (isalnum((unsigned char)*p) || *p == '_' || (number && (*p == '.' || *p == '\'')))
        p++;
    return *p == '"' && p[-1] == 'R' && p - s <= 3 ? skip_raw_string(p) : p;
}

/* The number of a file of the user's; -1 for a system header. A macro of a system header, used in
 * the user's text, marks its expansion as system text too: but the file is known by then. */
static int find_file(const char *name, int n, int system)
{
    for (int i = file_count - 1; i >= 0; i--)
        if ((int)strlen(files[i]) == n && memcmp(files[i], name, (size_t)n) == 0)
            return i;
    if (system)
        return -1;
    APPEND(files, file_count, format("%.*s", n, name));
    return file_count - 1;
}

/* Headers of the toolkit, by how their names begin. One that lies beside these is the backend's. */
static int is_toolkit_header(const char *name)
{
    static const char *const names[] = {"cooperative_groups",
                                        "thrust/",
                                        "cub/",
                                        "cuda",
                                        "cccl/",
                                        "nv/",
                                        "nvtx3/",
                                        "nccl",
                                        "cublas",
                                        "cufft",
                                        "cufile",
                                        "cudnn",
                                        "curand",
                                        "cusparse",
                                        "cusolver",
                                        "cupti",
                                        "cutensor",
                                        "cuComplex.h",
                                        "nvrtc",
                                        "nvJitLink",
                                        "nvml",
                                        "nvblas",
                                        "npp",
                                        "mma.h",
                                        "crt/",
                                        "texture_",
                                        "surface_",
                                        "device_",
                                        "driver_",
                                        "sm_",
                                        "vector_",
                                        "math_functions",
                                        "host_defines",
                                        "host_config",
                                        "builtin_types",
                                        "channel_descriptor",
                                        "common_functions",
                                        "library_types",
                                        "fatbinary"};
    struct stat status;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return !ours || stat(format("%s/%s", ours, name), &status) != 0;
    return 0;
}

/* The toolkit's libcu++, which is plain C++ where no nvcc compiles it; but for inline PTX. */
static int is_portable_header(const char *name)
{
    return (strncmp(name, "cuda/", 5) == 0 || strncmp(name, "nv/", 3) == 0) &&
           strcmp(name, "cuda/ptx") != 0;
}

static void __attribute__((noreturn)) refuse_header(const char *place, const char *name)
{
    fprintf(stderr,
            "%s: header <%s> is not supported by the CPU backend; check its name, or use the CUDA "
            "runtime API alone\n",
            place, name);
    exit(2);
}

/* A machine with the toolkit has its headers in reach, and they are not to be mixed in. */
static void check_header(const char *path, int n, int line, int file)
{
    char *name = format("%.*s", n, path), *tail = NULL;
    for (char *p = name; (p = strstr(p, "/include/")); p += 8)
        tail = p + 9; /* a folder above may be called anything */
    if (!tail)
        tail = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    if (strncmp(tail, "cccl/", 5) == 0)
        tail += 5;
    if (is_toolkit_header(tail) && !is_portable_header(tail))
        refuse_header(format("%s:%d", files[file], line), tail);
    free(name);
}

/* One line that starts with #: a line marker, or a pragma of nvcc's, which goes. */
static void directive(const char *p, const char *end, int *line, int *file)
{
    char *name = memchr(p, '"', (size_t)(end - p)), *after;
    long number = strtol(p + 1, &after, 10);
    if (after > p + 1 && name) {
        const char *close = memchr(name + 1, '"', (size_t)(end - name - 1));
        int system = 0;
        for (const char *q = close + 1; q < end; q++)
            system |= *q == '3';
        if (system && *file >= 0 && number == 1)
            check_header(name + 1, (int)(close - name - 1), *line, *file);
        in_system = system;
        *line = (int)number - 1; /* the newline that ends the marker counts */
        *file = find_file(name + 1, (int)(close - name - 1), system);
    } else if (*file >= 0 && sscanf(p, "#pragma %*s") == 0) {
        const char *w = p + strcspn(p, " ");
        w += strspn(w, " ");
        if (strncmp(w, "unroll", 6) == 0 || strncmp(w, "nounroll", 8) == 0 ||
            strncmp(w, "nv_", 3) == 0)
            APPEND(edits, edit_count, (struct edit){p, end, format(""), edit_count, -1});
    }
}

static void read_tokens(const char *p)
{
    int line = 1, file = -1, fresh = 1;
    while (*p) {
        const char *s = p;
        if (*p == '\n') {
            line++;
            fresh = 1;
            p++;
            continue;
        }
        if (isspace((unsigned char)*p)) {
            p++;
            continue;
        }
        if (*p == '#' && fresh) {
            p += strcspn(p, "\n");
            directive(s, p, &line, &file);
            continue;
        }
        fresh = 0;
        p = rewrite_token_end(p);
        if (file >= 0)
            APPEND(
                tokens, token_count,
                (struct token){s, (int)(p - s), line, file,
                               in_system ? 0 : rewrite_column(files[file], line, s, (int)(p - s))});
        for (const char *q = s; q < p; q++)
            line += *q == '\n'; /* raw strings */
    }
}

int match(int i, int step)
{
    const char *up = step > 0 ? "([{" : ")]}", *down = step > 0 ? ")]}" : "([{";
    for (int depth = 0; i >= 0 && i < token_count; i += step) {
        if (tokens[i].n == 1 && strchr(up, *tokens[i].s))
            depth++;
        else if (tokens[i].n == 1 && strchr(down, *tokens[i].s) && --depth == 0)
            return i;
    }
    return -1;
}

/* The same for template brackets; *commas counts the commas between them. */
static int match_angle(int i, int step, int *commas)
{
    const char *up = step > 0 ? "<" : ">", *down = step > 0 ? ">" : "<";
    *commas = 0;
    for (int depth = 0; i >= 0 && i < token_count; i += step) {
        if (tokens[i].n == 1 && strchr(step > 0 ? "([{" : ")]}", *tokens[i].s)) {
            i = match(i, step);
            if (i < 0)
                return -1;
        } else if (is(i, up)) {
            depth++;
        } else if (is(i, down)) {
            if (!(step > 0 && is(i - 1, "-")) && --depth == 0)
                return i;
        } else if (is(i, ",") && depth == 1) {
            ++*commas;
        } else if (is(i, ";")) {
            return -1;
        }
    }
    return -1;
}

char *text_of(int first, int last)
{
    char *s = format("");
    for (int i = first; i <= last; i++) {
        int space = i > first && (is_name(i) || isdigit((unsigned char)*tokens[i].s)) &&
                    (is_name(i - 1) || isdigit((unsigned char)*tokens[i - 1].s));
        char *t = format("%s%s%.*s", s, space ? " " : "", tokens[i].n, tokens[i].s);
        free(s);
        s = t;
    }
    return s;
}

/* Declarations. */

static int statement_start(int i)
{
    while (i > 0 && !is(i - 1, ";") && !is(i - 1, "{") && !is(i - 1, "}") &&
           !(is(i - 1, ":") && !is(i - 2, ":") && !is(i, ":")) && !is(i - 1, ")"))
        i--;
    return i;
}

/* The parameters between two parentheses. The engine that copies tiles finds a tensor map by its
 * address, and a plain parameter whose address is taken is copied first, to where it cannot look.
 */
static void check_maps(const struct token *kernel, int open)
{
    const int close = match(open, 1);
    int map = 0, constant = 0, pointer = 0;
    for (int i = open + 1; i <= close; i++) {
        map |= is(i, "CUtensorMap");
        constant |= is(i, "__grid_constant__");
        pointer |= is(i, "*") || is(i, "&");
        if (!is(i, ",") && i < close)
            continue;
        if (map && !constant && !pointer) {
            const struct token *name = &tokens[i - 1];
            fprintf(
                stderr,
                "%s:%d: kernel %.*s: parameter %.*s is a CUtensorMap without __grid_constant__: "
                "TMA cannot read the copy whose address it gets; write const "
                "__grid_constant__ CUtensorMap\n",
                files[name->file], name->line, kernel->n, kernel->s, name->n, name->s);
            exit(2);
        }
        map = constant = pointer = 0;
    }
}

/* What stands between two brackets, parted by commas: the first and last token of each; how many.
 */
static int parts(int open, int first[PARAMETERS], int last[PARAMETERS])
{
    const int close = match(open, 1);
    int n = 0, commas;
    for (int i = open + 1, from = i; i <= close && n < PARAMETERS; i++) {
        if (is(i, "(") || is(i, "[") || is(i, "{")) {
            i = match(i, 1);
        } else if (is_name(i - 1) && is(i, "<")) {
            int end = match_angle(i, 1, &commas);
            i = end > 0 && end < close ? end : i;
        } else if (is(i, ",") || i == close) {
            if (i > from) {
                first[n] = from;
                last[n++] = i - 1;
            }
            from = i + 1;
        }
    }
    return n;
}

int same_name(int i, int k)
{
    return tokens[i].n == tokens[k].n && memcmp(tokens[i].s, tokens[k].s, (size_t)tokens[i].n) == 0;
}

/* A kernel returns void. What else stands in front of its name are qualifiers and attributes. */
static void check_result(int i, int name)
{
    static const char *const types[] = {"int",  "float", "double", "char",
                                        "bool", "long",  "short",  "unsigned"};
    int start = statement_start(i), commas;
    if (is(start, "template") && match_angle(start + 1, 1, &commas) > 0)
        start = match_angle(start + 1, 1, &commas) + 1;
    for (int t = start; t < name; t++) {
        if (is(t, "(")) /* of a qualifier */
            t = match(t, 1);
        for (size_t n = 0; n < sizeof types / sizeof *types; n++)
            if (is(t, types[n]))
                mistake(name, format("kernel %.*s returns %s; a kernel returns void",
                                     tokens[name].n, tokens[name].s, types[n]));
    }
}

static void note_kernel(int i)
{
    struct kernel k = {.parameters = 0};
    int start = statement_start(i), end = i, open;
    if (is(start, "template") && match_angle(start + 1, 1, &k.parameters) > start + 2)
        k.parameters++;
    while (end < token_count && !is(end, ";") && !is(end, "{") &&
           !(is(end, "(") && !is(end - 1, "__attribute__") && !is(end - 1, "__launch_bounds__")))
        end = is(end, "(") ? match(end, 1) + 1 : end + 1;
    if (!is(end, "(") || (k.end = match(end, 1) + 1) >= token_count)
        return;
    open = end;
    k.name = open - 1;
    check_result(i, k.name);
    check_maps(&tokens[k.name], open);
    while (k.end < token_count && !is(k.end, ";") && !is(k.end, "{"))
        k.end++;
    if (is(k.end, "{"))
        k.end = match(k.end, 1);
    k.n = parts(open, k.first, k.last);
    if (k.n == 1 && is(k.first[0], "void") && k.first[0] == k.last[0])
        k.n = 0;
    for (int p = 0; p < k.n; p++) {
        k.equals[p] = k.first[p];
        while (k.equals[p] <= k.last[p] && !is(k.equals[p], "="))
            k.equals[p]++;
        if (k.equals[p] > k.last[p])
            k.needed = p + 1;
    }
    APPEND(kernels, kernel_count, k);
}

static const char not_initialised[] =
    "cannot be initialised: let one thread assign to it, then __syncthreads()";

/* One __shared__ statement, in a function or outside; returns its last token. */
static int shared(int at, int in_device)
{
    int i = statement_start(at), dynamic = 0, id = shared_count++, part = 0, commas;
    char *base = format(""), *align = format(""), *out, *t;
    const char *unused = in_device ? "" : "__attribute__((unused)) ";
    for (; !is(i, ";") && !is(i, "="); i++) { /* all up to the first declarator */
        int first = i;
        if (i < 0 || i >= token_count)
            break;
        if (is(i, "__shared__") || is(i, "static") || is(i, "extern")) {
            dynamic |= is(i, "extern");
            continue;
        }
        if (is(i, "alignas") || is(i, "__attribute__")) {
            i = match(i + 1, 1);
            align = format("%s %s", align, text_of(first, i));
            continue;
        }
        if (is(i, "*") || (is_name(i) && (is(i + 1, "[") || is(i + 1, ";") || is(i + 1, ","))))
            break;
        if (is_name(i) && is(i + 1, "<"))
            i = match_angle(i + 1, 1, &commas);
        else if (is(i, "{"))
            i = match(i, 1);
        base = format("%s%s%s", base, is(first, ":") ? "" : " ", text_of(first, i));
    }
    if (is(i, "="))
        mistake(i - 1, format("__shared__ variable %.*s %s", tokens[i - 1].n, tokens[i - 1].s,
                              not_initialised));
    out = format("struct%s cpu_t%d_align {}; using cpu_t%d =%s;", align, id, id, base);
    for (int end = -1; !is(end, ";"); i = end + 1, part++) {
        int name = i;
        while (is(name, "*") || is(name, "const") || is(name, "__restrict__"))
            name++;
        for (end = name + 1; is(end, "[");)
            end = match(end, 1) + 1;
        if (is_name(name) && (is(end, "=") || is(end, "{") || is(end, "(")))
            mistake(name, format("__shared__ variable %.*s %s", tokens[name].n, tokens[name].s,
                                 not_initialised));
        if (!is_name(name) || !(is(end, ",") || is(end, ";")))
            unsupported(at, "this form of declaration is",
                        "declare plain variables or arrays without initialisers");
        char *type = format("cpu_t%d_%d", id, part);
        t = format("%s using %s = cpu_t%d %s%s; ", out, type, id, text_of(i, name - 1),
                   text_of(name + 1, end - 1));
        if (!dynamic)
            t = format("%s%sstatic __thread ::cpu_slot %s_slot = {0, 0, \"%.*s\"}; ", t, unused,
                       type, tokens[name].n, tokens[name].s);
        char *place = dynamic
                          ? format("%s%s &%.*s = ::cpu_place_dynamic<%s>(alignof(cpu_t%d_align));",
                                   unused, type, tokens[name].n, tokens[name].s, type, id)
                          : format("%s%s &%.*s = ::cpu_place<%s>(%s_slot, alignof(cpu_t%d_align));",
                                   unused, type, tokens[name].n, tokens[name].s, type, type, id);
        out = in_device ? format("%s%s", t, place) : t;
        if (!in_device)
            APPEND(outsides, outside_count, ((struct outside){name, place}));
    }
    replace(statement_start(at), i - 1, out);
    return i - 1;
}

/* A function of the device begins at `from` and has its body at `open`. Shared variables from
 * outside that it names are placed in a scope around the body, where its own variables may have the
 * same names; a parameter hides one altogether. */
static void place_outside(int from, int open)
{
    const int close = match(open, 1);
    int placed = 0;
    for (int v = 0; v < outside_count; v++) {
        int hidden = 0, named = 0;
        for (int i = from; i < open; i++)
            hidden |= same_name(i, outsides[v].name);
        for (int k = v + 1; k < outside_count; k++) /* declared again */
            hidden |= same_name(outsides[k].name, outsides[v].name);
        for (int i = open; i < close && !named; i++)
            named = same_name(i, outsides[v].name) && !is(i - 1, ".") &&
                    !(is(i - 1, ">") && is(i - 2, "-"));
        if (!named || hidden)
            continue;
        insert(open + 1, format("%s ", outsides[v].text));
        placed = 1;
    }
    if (placed) {
        insert(open + 1, format("{"));
        insert(close, format("}"));
    }
}

/* Launches. */

/* The first token of the expression that ends at i, just before <<<; *arguments counts the template
 * arguments that end it. */
static int callee_start(int i, int *arguments)
{
    int end = i, commas;
    *arguments = 0;
    while (i >= 0) {
        if (is(i, ">")) {
            int open = match_angle(i, -1, &commas);
            if (i == end)
                *arguments = open == i - 1 ? 0 : commas + 1;
            i = open - 1;
        } else if (is(i, ")") || is(i, "]")) {
            int open = match(i, -1);
            if (is(open, "(") && !is_name(open - 1) && !is(open - 1, "]") && !is(open - 1, ")"))
                return open;
            i = open - 1;
        } else if (is_name(i)) {
            if (is(i - 1, ":") && is(i - 2, ":")) {
                if (!is_name(i - 3) && !is(i - 3, ">"))
                    return i - 2;
                i -= 3;
            } else if (is(i - 1, ".")) {
                i -= 2;
            } else if (is(i - 1, ">") && is(i - 2, "-")) {
                i -= 3;
            } else if (is(i - 1, "template")) {
                i--;
            } else {
                return i;
            }
        } else {
            return -1;
        }
    }
    return -1;
}

static int adjacent3(int i, const char *s)
{
    return is(i, s) && is(i + 1, s) && is(i + 2, s);
}

/* The text of tokens as a string literal, for reports and counts. */
static char *quoted(int first, int last)
{
    char *text = text_of(first, last);
    for (char *p = text; *p; p++)
        if (*p == '"' || *p == '\\')
            *p = '\'';
    return format("\"%s\"", text);
}

/* cudaLaunchKernelEx(config, kernel, arguments): name and place of the kernel go in front. */
static void launch_extended(int i)
{
    int close = is(i + 1, "(") ? match(i + 1, 1) : -1, first = 0, last = 0, commas;
    for (int k = i + 2; k < close && !last; k++) {
        if (is(k, "(") || is(k, "[") || is(k, "{"))
            k = match(k, 1);
        else if (first && is(k, "<") && match_angle(k, 1, &commas) > 0)
            k = match_angle(k, 1, &commas);
        else if (is(k, ",") && first)
            last = k - 1;
        else if (is(k, ","))
            first = k + 1;
    }
    if (!first)
        unsupported(i, "this form of launch is",
                    "write cudaLaunchKernelEx(&config, kernel, arguments)");
    insert(i + 2, format("%s, ::cpu_config(1, 1), ", quoted(first, last ? last : close - 1)));
}

static int uses_std(void)
{
    for (int i = 0; i < token_count; i++)
        if (is(i, "using") && is(i + 1, "namespace") && is(i + 2, "std"))
            return 1;
    return 0;
}

/* Whether the name means a function of the host as well. */
static int is_host_function(int name)
{
    for (int i = 0; i < token_count; i++) {
        if (!same_name(i, name) || !is(i + 1, "(") || match(i + 1, 1) < 0 ||
            !(is_name(i - 1) || is(i - 1, "*") || is(i - 1, "&") || is(i - 1, ">")))
            continue;
        int kernel = 0, after = match(i + 1, 1) + 1;
        for (int k = 0; k < kernel_count; k++)
            kernel |= kernels[k].name == i;
        if (!kernel && (is(after, "{") || (is(after, ";") && !is(i - 1, "return"))))
            return 1;
    }
    return 0;
}

/* Whether the name means something else as well, or, where std is in use, perhaps does. */
static int is_overloaded(int name)
{
    return uses_std() || is_host_function(name);
}

/* This one of several functions is launched by a pointer behind its declaration, or, where that has
 * not ended yet, by a cast. */
static void name_kernel(struct kernel *k, int name)
{
    int id = (int)(k - kernels);
    char *types = format("");
    for (int p = 0, from; p < k->n; p++) {
        from = k->first[p];
        for (int i = from; i < k->equals[p]; i++)
            if (is(i, "__grid_constant__")) {
                types = format("%s%s ", types, text_of(from, i - 1));
                from = i + 1;
            }
        types = format("%s%s%s", types, text_of(from, k->equals[p] - 1), p + 1 < k->n ? ", " : "");
    }
    if (name < k->end) { /* it launches itself */
        insert(name, format("static_cast<void (*)(%s)>(", types));
        insert_after(name, format(")"));
        return;
    }
    replace(name, name, format("cpu_k%d", id));
    if (!k->named)
        insert_after(k->end, format(" [[maybe_unused]] static void (*const cpu_k%d)(%s) = %.*s; ",
                                    id, types, tokens[k->name].n, tokens[k->name].s));
    k->named = 1;
}

static int same_kernel(const struct kernel *a, const struct kernel *b)
{
    int same = same_name(a->name, b->name) && a->n == b->n && a->parameters == b->parameters;
    for (int p = 0; same && p < a->n; p++)
        same = strcmp(text_of(a->first[p], a->equals[p] - 1),
                      text_of(b->first[p], b->equals[p] - 1)) == 0;
    return same;
}

/* Where the kernel is declared first: launches may stand before its body. */
static struct kernel *declared_first(struct kernel *k)
{
    struct kernel *first = kernels;
    while (!same_kernel(first, k))
        first++;
    return first;
}

/* The kernel that is launched by this name, with so many template arguments and arguments; NULL if
 * that is up to the compiler, which finds it by a call. */
static struct kernel *find_kernel(int name, int arguments, int given, int *known)
{
    struct kernel *found = NULL, *only = NULL;
    int distinct = 0;
    *known = 0;
    for (struct kernel *k = kernels; k < kernels + kernel_count; k++) {
        if (!same_name(k->name, name))
            continue;
        ++*known;
        if (k->parameters > arguments || (k->parameters && given < k->n))
            return NULL;
        int same = only && same_kernel(only, k);
        distinct += !same;
        if (!same || k->needed < only->needed) /* defaults stand at one of the declarations */
            only = k;
        if (k->needed <= given && given <= k->n)
            found = k;
    }
    return distinct > 1 ? NULL : found ? found : only;
}

/* cudaLaunchKernel((void *)kernel, ...), or the cooperative one: the kernel's type tells what its
 * arguments are. */
static void keep_type(int i)
{
    int open = i + 2, close = open + 1 + is(open + 1, "const") + 2;
    if (is(i + 1, "(") && is(open, "(") && is(close - 2, "void") && is(close - 1, "*") &&
        is(close, ")"))
        replace(open, close, format(""));
}

/* (void *)kernel, (const void *)kernel<T> or reinterpret_cast<void *>(kernel), whose first bracket
 * is at i: the kernel makes itself known, as a launch by the pointer has to know its parameters. */
static void known_kernel(int i)
{
    int word = i + 1 + is(i + 1, "const"), name, end, commas;
    if (!is(word, "void") || !is(word + 1, "*") || !is(word + 2, is(i, "(") ? ")" : ">"))
        return;
    int first = word + 3;
    if (is(i, "<")) {
        if (!is(i - 1, "reinterpret_cast") || !is(first, "("))
            return;
        first++;
    } else if (is_name(i - 1) || is(i - 2, "cudaLaunchKernel") ||
               is(i - 2, "cudaLaunchCooperativeKernel")) {
        return;
    }
    first += is(first, "&");
    name = first;
    if (is(name, ":") && is(name + 1, ":"))
        name += 2;
    while (is_name(name) && is(name + 1, ":") && is(name + 2, ":"))
        name += 3;
    end = name;
    if (is(name + 1, "<") && match_angle(name + 1, 1, &commas) > 0)
        end = match_angle(name + 1, 1, &commas);
    if (!is_name(name) || end + 1 >= token_count || !strchr(",;):}", *tokens[end + 1].s))
        return;
    for (int k = 0; k < kernel_count; k++)
        if (same_name(kernels[k].name, name)) {
            insert(first, format("::cpu_known(%s, ", quoted(first, end)));
            insert_after(end, format(")"));
            if (is(first - 1, "&"))
                replace(first - 1, first - 1, format(""));
            return;
        }
}

/* The text of tokens in the place where the first of them stands. */
static char *placed(int first, int last)
{
    const struct token *t = &tokens[first];
    return format("\n# %d \"%s\"\n%*s%.*s", t->line, files[t->file], t->column ? t->column - 1 : 0,
                  "", (int)(tokens[last].s + tokens[last].n - t->s), t->s);
}

static void launch(const struct launch *l)
{
    int arguments, known, first[PARAMETERS], last[PARAMETERS], commas;
    int i = l->at, close = l->close, start = callee_start(i - 1, &arguments), name = i - 1;
    int open = close + 3, end = match(open, 1), given = end > 0 ? parts(open, first, last) : 0;
    if (is(name, ">"))
        name = match_angle(name, -1, &commas) - 1;
    if (calls) {
        insert(start, format("(::cpu_config(%s), ", placed(i + 3, close - 1)));
        replace(i, close + 2, format(""));
        insert_after(end, format(")"));
        return;
    }
    struct kernel *k = find_kernel(name, arguments, given, &known);
    if (known && !k) {
        insert(start,
               format("::cpu_launch_deduced(%s, [=](auto &...cpu_a) { ", quoted(start, i - 1)));
        replace(i, i + 2, format("(cpu_a...); }, ::cpu_config("));
        for (int a = 0; a < given; a++) /* a null pointer has no type that is kept */
            if (first[a] == last[a] && is(first[a], "__null"))
                replace(first[a], last[a], format("nullptr"));
    } else {
        insert(start, format("::cpu_launch(%s, ", quoted(start, i - 1)));
        if (k && !k->parameters && is_overloaded(name))
            name_kernel(declared_first(k), name);
        replace(i, i + 2, format(", ::cpu_config("));
    }
    char *more = format("");
    for (int p = given; k && p < k->n; p++)
        more = format("%s%s%s", more, p ? ", " : "", text_of(k->equals[p] + 1, k->last[p]));
    replace(close, close + 3, format(given || *more ? "), " : ")"));
    insert(end, more);
}

/* Names of kernels that are functions of std too. */
static int is_std_function(int i)
{
    static const char *const names[] = {"copy",   "fill",      "swap", "move",
                                        "reduce", "transform", "sort", "merge"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (is(i, names[n]))
            return 1;
    return 0;
}

/* A statement that calls a kernel as if it were a function. */
static void check_calls(void)
{
    for (int i = 1; i < token_count; i++) {
        int commas, open = i + 1;
        if (!is_name(i) || !(is(i - 1, ";") || is(i - 1, "{") || is(i - 1, "}") || is(i - 1, ")")))
            continue;
        if (is(open, "<") && !is(open + 1, "<"))
            open = match_angle(open, 1, &commas) + 1;
        if (!is(open, "(") || !is(match(open, 1) + 1, ";"))
            continue;
        for (int k = 0; k < kernel_count; k++)
            if (same_name(kernels[k].name, i) && !is_std_function(i) && !is_host_function(i))
                mistake(i, format("kernel %.*s is called without a launch: write "
                                  "%.*s<<<blocks, threads>>>(...)",
                                  tokens[i].n, tokens[i].s, tokens[i].n, tokens[i].s));
    }
}

int is_cuda_name(const char *s)
{
    static const char *const begins[] = {"cublas",     "curand", "cufft",  "cusparse", "nvrtc",
                                         "nvtx",       "__nv",   "tex1D",  "tex2D",    "tex3D",
                                         "texCubemap", "surf1D", "surf2D", "surf3D"};
    static const char *const math[] = {"normcdf",
                                       "normcdfinv",
                                       "erfinv",
                                       "erfcinv",
                                       "erfcx",
                                       "rcbrt",
                                       "cyl_bessel_i0",
                                       "cyl_bessel_i1",
                                       "norm",
                                       "norm3d",
                                       "norm4d",
                                       "rnorm",
                                       "rnorm3d",
                                       "rnorm4d",
                                       "rhypot",
                                       "sincospi",
                                       "sinpi",
                                       "cospi",
                                       "saturate",
                                       "clock",
                                       "brkpt",
                                       "cub",
                                       "thrust",
                                       "wmma",
                                       "nvcuda",
                                       "grid_group",
                                       "thread_block",
                                       "this_grid",
                                       "this_thread_block"};
    size_t n = strlen(s);
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(s, begins[i], strlen(begins[i])) == 0)
            return 1;
    for (size_t i = 0; i < sizeof math / sizeof *math; i++)
        if (strncmp(s, math[i], n - (s[n - 1] == 'f')) == 0 &&
            strlen(math[i]) == n - (s[n - 1] == 'f'))
            return 1;
    return (strncmp(s, "cuda", 4) == 0 && (isupper((unsigned char)s[4]) || s[4] == '_')) ||
           (strncmp(s, "cu", 2) == 0 && isupper((unsigned char)s[2])) ||
           (strncmp(s, "CU", 2) == 0 && isalpha((unsigned char)s[2])) ||
           (strncmp(s, "atomic", 6) == 0 && isupper((unsigned char)s[6])) ||
           (strncmp(s, "__", 2) == 0 && islower((unsigned char)s[2]));
}

/* A launch is noted; which kernel it is, is found when all are known. */
static void note_launch(int i)
{
    int arguments, start = callee_start(i - 1, &arguments), close = i + 3, parted = 0;
    while (close < token_count && !(adjacent3(close, ">") && is(close + 3, "(")) &&
           !is(close, ";")) {
        parted |= is(close, ",");
        close =
            is(close, "(") || is(close, "[") || is(close, "{") ? match(close, 1) + 1 : close + 1;
    }
    if (start >= 0 && adjacent3(close, ">") && !parted)
        mistake(i, "a launch needs two numbers at least, <<<blocks, threads>>>");
    if (start < 0 || !adjacent3(close, ">"))
        unsupported(i, "this form of launch is", "write kernel<<<grid, block>>>(arguments)");
    APPEND(launches, launch_count, (struct launch){i, close});
}

/* What cannot be done: a name, or a prefix of names ending in '*'. */
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
    {"thrust", "Thrust is", "write the kernel out"},
    {"curandState*", "cuRAND is", "generate numbers with a hash of the index"},
};

static void check_limits(int i)
{
    if (is(i - 1, ".") || (is(i - 1, ">") && is(i - 2, "-")))
        return;
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        const char *s = limits[k].name, *star = strchr(s, '*');
        if (star ? strncmp(tokens[i].s, s, (size_t)(star - s)) == 0 : is(i, s))
            unsupported(i, limits[k].what, limits[k].hint);
    }
    if ((is(i, "texture") || is(i, "surface")) && is(i + 1, "<") &&
        (i == 0 || is(i - 1, ";") || is(i - 1, "{") || is(i - 1, "}") || is(i - 1, "static") ||
         is(i - 1, "extern")))
        unsupported(i, is(i, "texture") ? "a texture reference is" : "a surface reference is",
                    "CUDA 12 has none either: use an object, cudaTextureObject_t or "
                    "cudaSurfaceObject_t");
}

/* Inline PTX. */

enum { OPERANDS = 300 };

/* An asm statement while it is read. */
struct statement {
    int first;  /* its token */
    char *text; /* decoded */
    int *lines; /* of each byte of it */
    int n, operands;
    char constraint[OPERANDS + 1]; /* a letter each */
    char way[OPERANDS];            /* '=' written, '+' read and written, 0 read */
    int value[OPERANDS];           /* the ( before it */
};

static void __attribute__((noreturn)) refuse(const struct statement *a, int line, const char *why)
{
    fprintf(stderr, "%s:%d: %s\n", files[tokens[a->first].file], line, why);
    exit(2);
}

static void add_byte(struct statement *a, char c, int line)
{
    APPEND(a->lines, a->n, line);
    a->n--;
    APPEND(a->text, a->n, c);
}

/* One string literal of the statement. */
static void add_literal(struct statement *a, int i)
{
    const char *p = tokens[i].s, *end = p + tokens[i].n - 1;
    int line = tokens[i].line;
    if (*p == 'R') {
        const char *open = strchr(p, '(');
        end -= open - p - 1;
        for (p = open + 1; p < end; p++) {
            add_byte(a, *p, line);
            line += *p == '\n';
        }
        return;
    }
    for (p++; p < end; p++) {
        static const char names[] = "ntrabfv", codes[] = "\n\t\r\a\b\f\v";
        char c = *p, *after;
        if (c == '\\') {
            const char *known = strchr(names, *++p);
            c = known ? codes[known - names] : *p;
            if (*p == 'x' || (*p >= '0' && *p <= '7')) {
                c = (char)strtol(*p == 'x' ? p + 1 : p, &after, *p == 'x' ? 16 : 8);
                p = after - 1;
            }
        }
        add_byte(a, c, line);
    }
}

static int is_string(int i)
{
    return i < token_count &&
           (*tokens[i].s == '"' || (tokens[i].n > 2 && strncmp(tokens[i].s, "R\"", 2) == 0));
}

/* [name] "=r" (value), ...; returns the token after them. */
static int read_operands(struct statement *a, int i, int written)
{
    while (!is(i, ":") && !is(i, ")")) {
        int k = a->operands;
        if (k == OPERANDS)
            refuse(a, tokens[i].line, "an asm statement of more than 300 operands");
        if (is(i, "["))
            refuse(a, tokens[i].line,
                   "nvcc knows no names for operands of an asm statement: write "
                   "%0, %1 and so on");
        char text[8] = "";
        for (size_t n = 0; is_string(i); i++)
            for (int p = 1; p < tokens[i].n - 1 && n + 1 < sizeof text; p++)
                text[n++] = tokens[i].s[p];
        if (!*text || !is(i, "("))
            refuse(a, tokens[i].line, "an operand of an asm statement is \"constraint\"(value)");
        const char *c = text;
        a->way[k] = 0;
        if (*c == '=' || *c == '+')
            a->way[k] = *c++;
        c += *c == '&';
        if (!*c || !strchr("hrlfdnC", *c) || c[1] || !written != !a->way[k] ||
            (written && strchr("nC", *c)))
            refuse(a, tokens[i].line,
                   format("constraint \"%s\" of an asm statement: need %s", text,
                          written ? "= or +, and h, r, l, f or d" : "h, r, l, f, d, n or C"));
        a->constraint[k] = *c;
        a->value[k] = i;
        a->operands++;
        i = match(i, 1) + 1;
        i += is(i, ",");
    }
    return i;
}

/* A string literal whose value is s. */
static char *literal(const char *s)
{
    char *text = format("\"");
    for (; *s; s++)
        text = format(isprint((unsigned char)*s) && !strchr("\"\\?", *s) ? "%s%c" : "%s\\%03o",
                      text, (unsigned char)*s);
    return format("%s\"", text);
}

/* asm volatile("text" : outputs : inputs : clobbers) at i; returns its last token. */
static int inline_ptx(int i)
{
    static int count;
    struct statement a = {.first = i};
    struct ptx_error error;
    int memory = 0, next = i + 1;
    while (is(next, "volatile") || is(next, "__volatile__") || is(next, "__volatile"))
        next++;
    int close = is(next, "(") ? match(next, 1) : -1;
    if (close < 0 || !is_string(next + 1))
        refuse(&a, tokens[i].line,
               "this form of asm statement is not supported by the CPU backend; "
               "write asm(\"text\" : outputs : inputs : clobbers)");
    for (next++; is_string(next); next++)
        add_literal(&a, next);
    for (int part = 0; is(next, ":") && part < 2; part++)
        next = read_operands(&a, next + 1, part == 0);
    for (; next < close; next++)
        memory |= is(next, "\"memory\"");
    add_byte(&a, '\0', 0);
    a.n--;
    const char *constraints = a.operands ? a.constraint : NULL; /* as nvcc: else % is itself */
    int strings = strchr(a.constraint, 'C') != NULL;
    ptx_program *p = strings ? NULL : ptx_parse(a.text, constraints, &error);
    if (!p && !strings)
        refuse(&a, error.offset < a.n ? a.lines[error.offset] : tokens[close].line, error.text);
    free(a.lines);
    if (p && !p->n) { /* a fence for the compiler, if it is anything */
        replace(i, close, format(memory ? "__asm__ volatile(\"\" ::: \"memory\")" : "(void)0"));
        free(a.text);
        return close;
    }
    int registers = p ? p->registers : a.operands + 200, id = count++;
    char *in = format(""), *out = format("");
    for (int k = 0; k < a.operands; k++) {
        int open = a.value[k], end = match(open, 1);
        char c = a.constraint[k];
        int n = (int)(tokens[end].s + 1 - tokens[open].s);
        if (p && p->held && p->held[k]) {
            in = format("%s::cpu_asm_hold<'%c'>(&cpu_r%d[%d], &cpu_h%d[%d], %.*s); ", in, c, id, k,
                        id, k, n, tokens[open].s);
            continue;
        }
        if (c == 'C')
            in = format("%s::cpu_asm_string(&cpu_r%d[%d], %.*s); ", in, id, k, n, tokens[open].s);
        else if (a.way[k] != '=')
            in = format("%s::cpu_asm_in<'%c'>(&cpu_r%d[%d], %.*s); ", in, c, id, k, n,
                        tokens[open].s);
        else if (!p || p->guarded) /* it may stay unwritten */
            in = format("%s::cpu_asm_in<'l'>(&cpu_r%d[%d], -1ll); ", in, id, k);
        if (a.way[k])
            out = format("%s::cpu_asm_out<'%c'>(&cpu_r%d[%d], %.*s); ", out, c, id, k, n,
                         tokens[open].s);
    }
    char *held = format(""), *call = format("::cpu_asm(&cpu_s%d, cpu_r%d)", id, id);
    if (p && p->held) {
        held = format("__attribute__((uninitialized)) uint64_t cpu_h%d[%d]; ", id, a.operands);
        call = format("::cpu_asm_held(&cpu_s%d, cpu_r%d, cpu_h%d)", id, id, id);
    }
    replace(i, close,
            format("do { static ::cpu_asm_site cpu_s%d = {%s, %s, %d, %s, %d, 0}; "
                   "__attribute__((uninitialized)) uint64_t cpu_r%d[%d]; %s%s%s; %s} while (0)",
                   id, literal(a.text), constraints ? literal(a.constraint) : "0", registers,
                   literal(files[tokens[i].file]), tokens[i].line, id, registers ? registers : 1,
                   held, in, call, out));
    free(a.text);
    return close;
}

/* Instruments. A kernel's divisions pass an object that counts those of floating-point numbers:
 * a / b becomes a / object / b, and a /= b becomes a /= object = b, which binds as loosely. */
static void division(int i)
{
    if (is(i + 1, "="))
        replace(i, i + 1, format("/= ::cpu_divide() ="));
    else
        replace(i, i, format("/ ::cpu_divide() /"));
}

static int is_type_word(int i)
{
    return is(i, "struct") || is(i, "class") || is(i, "union") || is(i, "enum");
}

/* The __device__ or __constant__ variables of a declaration make themselves known when the program
 * starts. A function is none, whatever it is called: operator+= as well. */
static void variable(int i)
{
    enum { CONSTANT = 1, MANAGED }; /* as cpu_trace_variable has them */
    int start = statement_start(i), name = start, kind = 0, known = 0, commas;
    char *text = format("");
    for (;; name++) { /* to the first declarator */
        if (is(name, "__align__") || is(name, "alignas") || is(name, "__attribute__"))
            name = match(name + 1, 1);
        else if (is(name, "{")) /* of a type */
            name = match(name, 1);
        else if (name > start && is(name, "<") && match_angle(name, 1, &commas) > 0)
            name = match_angle(name, 1, &commas);
        else if (name >= token_count || is(name, "(") || is(name, ";") || is(name, "extern") ||
                 is(name, "operator") || is(name, "template") || is(name, "using") ||
                 (name > i && (is(name, "__device__") || is(name, "__constant__"))))
            return; /* a function; or declared elsewhere; or a type; or the later word's */
        else if (is_name(name) && name > i && known &&
                 (is(name + 1, ";") || is(name + 1, "=") || is(name + 1, "[") ||
                  is(name + 1, ",") || (is(name + 1, "{") && !is_type_word(name - 1))))
            break;
        kind = is(name, "__constant__") ? CONSTANT : is(name, "__managed__") ? MANAGED : kind;
        known |= is_name(name) && !is(name, "__device__") && !is(name, "__constant__") &&
                 !is(name, "__managed__") && !is(name, "static") && !is(name, "const");
    }
    for (int end = name;; name = end + 1) {
        while (is(name, "*") || is(name, "const") || is(name, "__restrict__"))
            name++;
        if (is_name(name))
            text = format("%sstatic ::cpu_variable cpu_v%d(%.*s, \"%.*s\", %d); ", text,
                          variable_count++, tokens[name].n, tokens[name].s, tokens[name].n,
                          tokens[name].s, kind);
        for (end = name; end < token_count && !is(end, ";") && !is(end, ","); end++)
            if (is(end, "{") || is(end, "[") || is(end, "("))
                end = match(end, 1);
            else if (is_name(end - 1) && is(end, "<") && match_angle(end, 1, &commas) > 0)
                end = match_angle(end, 1, &commas);
        if (end >= token_count || is(end, ";")) {
            insert_after(end, text);
            return;
        }
    }
}

/* Where a call of this function of C, which std has as well, begins: at its name, its :: or its
 * std. -1: it is somebody else's. */
static int call_of_c(int name)
{
    if (!is(name + 1, "(") || is(name - 1, ".") || (is(name - 1, ">") && is(name - 2, "-")))
        return -1;
    if (!is(name - 1, ":"))
        return name;
    return is(name - 3, "std") ? name - 3 : is_name(name - 3) ? -1 : name - 2;
}

static void rewrite(const char *text)
{
    int depth = 0, parens = 0, device_depth = -1, device_next = 0, device_from = 0;
    char *bounds = NULL; /* of the kernel that begins */
    for (int i = 0; i < token_count; i++) {
        int in_device = device_depth >= 0;
        if (is(i, "(") || is(i, "<"))
            known_kernel(i);
        if (is(i, "(")) {
            parens++;
        } else if (is(i, ")")) {
            parens--;
        } else if (is(i, ";") && parens == 0) {
            device_next = 0;
            bounds = NULL;
        } else if (is(i, "{")) {
            if (device_next && !in_device)
                device_depth = depth;
            if (device_next && !in_device && !calls)
                place_outside(device_from, i);
            if (device_next && bounds)
                insert(i + 1, format("::cpu_bounds%s; ", bounds));
            bounds = NULL;
            device_next = 0;
            depth++;
        } else if (is(i, "}")) {
            if (--depth == device_depth)
                device_depth = -1;
        } else if (adjacent3(i, "<") && !is(i + 3, "<") && !is(i - 1, "operator")) {
            note_launch(i);
            i += 2;
        } else if (is(i, "__launch_bounds__") && is(i + 1, "(")) {
            int end = match(i + 1, 1);
            bounds = text_of(i + 1, end);
            replace(i, end, format(""));
            i = end;
        } else if (is(i, "__global__") || is(i, "__device__")) {
            if (is(i, "__global__"))
                note_kernel(i);
            else if (traced && !in_device)
                variable(i);
            if (!device_next)
                device_from = i;
            device_next = 1;
            replace(i, i, format(""));
        } else if (is(i, "__host__") || is(i, "__constant__") || is(i, "__managed__") ||
                   is(i, "__grid_constant__")) {
            if (traced &&
                (is(i, "__constant__") ||
                 (is(i, "__managed__") && !is(i - 1, "__device__") && !is(i + 1, "__device__"))))
                variable(i);
            replace(i, i, format(""));
        } else if (traced && in_device && is(i, "/")) {
            division(i);
        } else if (is(i, "__noinline__") && !is(i - 1, "(") && !is(i - 1, ",")) {
            replace(i, i, format("__attribute__((noinline))"));
        } else if (is(i, "__shared__")) {
            int at = i, start = statement_start(i);
            i = shared(at, in_device);
            if (calls) {
                edit_count--;
                replace(at, at, format(is(start, "extern") || is(start, "static") ? "" : "static"));
            }
        } else if (in_device && (is(i, "asm") || is(i, "__asm__") || is(i, "__asm"))) {
            i = inline_ptx(i);
        } else if (in_device && is(i, "clock") && is(i + 2, ")") && call_of_c(i) >= 0) {
            replace(call_of_c(i), i, format("::cpu_device_clock"));
        } else if (traced && in_device &&
                   (is(i, "memcpy") || is(i, "memmove") || is(i, "memset")) && call_of_c(i) >= 0) {
            /* g++ turns a copy whose size it knows into code that no instrument sees */
            replace(call_of_c(i), i, format("::cpu_%s", text_of(i, i)));
        } else if (is(i, "cudaLaunchKernel") || is(i, "cudaLaunchCooperativeKernel")) {
            keep_type(i);
        } else if (is(i, "cudaLaunchKernelEx")) {
            launch_extended(i);
        } else if (is_name(i)) {
            check_limits(i);
        }
    }
    check_calls();
    rewrite_check_sides(text);
    for (int i = 0; i < launch_count; i++)
        launch(&launches[i]);
}

static int by_place(const void *a, const void *b)
{
    const struct edit *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->order - y->order;
}

static int written; /* bytes of the line that is being written */

static void write_text(const char *s, size_t n)
{
    fwrite(s, 1, n, stdout);
    written += (int)n;
    for (size_t i = n; i > 0; i--)
        if (s[i - 1] == '\n') {
            written = (int)(n - i);
            break;
        }
}

/* What is written next is the user's line. */
static void write_marker(const struct token *t)
{
    printf("\n# %d \"%s\"\n", t->line, files[t->file]);
    written = 0;
}

/* Text that stays, from `from` to `to`; *i is the first token behind what is written. Each token
 * comes to its column of the user's line. */
static void write_kept(const char *from, const char *to, int *i)
{
    while (*i < token_count && tokens[*i].s < from)
        ++*i;
    for (; *i < token_count && tokens[*i].s < to; ++*i) {
        const struct token *t = &tokens[*i];
        write_text(from, (size_t)(t->s - from));
        from = t->s;
        if (t->column && written >= t->column)
            write_marker(t);
        if (t->column)
            written += printf("%*s", t->column - 1 - written, "");
    }
    write_text(from, (size_t)(to - from));
}

static void write_out(const char *text)
{
    int next = 0;
    qsort(edits, (size_t)edit_count, sizeof *edits, by_place);
    for (int i = 0; i < edit_count; i++) {
        const struct edit *e = &edits[i];
        if (e->from < text)
            continue; /* inside text that went */
        write_kept(text, e->from, &next);
        write_text(e->text, strlen(e->text));
        text = e->to;
        if (e->next >= 0 && e->next < token_count &&
            memchr(e->from, '\n', (size_t)(e->to - e->from)))
            write_marker(&tokens[e->next - 1]);
    }
    write_kept(text, text + strlen(text), &next);
}

static char *read_all(FILE *f)
{
    size_t n = 0, size = 1 << 20, got;
    char *text = rewrite_allocate(NULL, size);
    while ((got = fread(text + n, 1, size - n - 1, f)) > 0)
        if ((n += got) > size / 2)
            text = rewrite_allocate(text, size *= 2);
    if (ferror(f)) {
        fputs("rewrite: the preprocessed source cannot be read\n", stderr);
        exit(1);
    }
    text[n] = '\0';
    return text;
}

/* The tokens of a source, and nothing else that reading it has left. */
static struct source read_source(FILE *f)
{
    struct source s = {.text = read_all(f)};
    read_tokens(s.text);
    s.tokens = tokens;
    s.count = token_count;
    tokens = NULL;
    token_count = edit_count = 0;
    return s;
}

static int merge(const char *name)
{
    FILE *f = fopen(name, "r");
    if (!f) {
        fprintf(stderr, "rewrite: %s cannot be read\n", name);
        return 1;
    }
    const struct source host = read_source(stdin), device = read_source(f);
    fclose(f);
    merge_sides(&host, &device, files);
    return 0;
}

/* Operations of a warp without a mask, which CUDA had before version 9. */
static int is_dropped(const char *name)
{
    static const char *const names[] = {"__shfl", "__shfl_up", "__shfl_down", "__shfl_xor",
                                        "__any",  "__all",     "__ballot"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--trace") == 0) {
            traced = 1;
        } else if (strcmp(argv[i], "--calls") == 0) {
            calls = 1;
        } else if (strcmp(argv[i], "--headers") == 0) {
            ours = argv[++i];
        } else if (strcmp(argv[i], "--merge") == 0) {
            return merge(argv[i + 1]);
        } else if (strcmp(argv[i], "--missing") == 0) {
            if (is_toolkit_header(argv[i + 2]))
                refuse_header(argv[i + 1], argv[i + 2]);
            return 0;
        } else if (strcmp(argv[i], "--unknown") == 0) {
            if (!is_cuda_name(argv[i + 2]))
                return 0;
            if (is_dropped(argv[i + 2]))
                fprintf(stderr, "%s: CUDA has dropped %s: use %s_sync, which takes a mask first\n",
                        argv[i + 1], argv[i + 2], argv[i + 2]);
            else
                fprintf(stderr, "%s: %s is not supported by the CPU backend\n", argv[i + 1],
                        argv[i + 2]);
            return 2;
        }
    }
    char *text = read_all(stdin);
    read_tokens(text);
    rewrite(text);
    write_out(text);
    if (fflush(stdout) || ferror(stdout)) {
        fputs("rewrite: the result cannot be written: is the disk full?\n", stderr);
        return 1;
    }
    return 0;
}
