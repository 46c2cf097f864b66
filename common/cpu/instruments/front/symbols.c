#define _GNU_SOURCE
#include "base/error.h"
#include "device/hooks.h"
#include "instruments/front/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AT_ONCE = 4000 }; /* addresses per command, well below the limit of a command's length */

static uint8_t statements[(1 << 24) / 8]; /* a bit for each code */

static int is_statement(uint32_t code)
{
    return code / 8 < sizeof statements && statements[code / 8] >> code % 8 & 1;
}

void symbols_statement(uint32_t code)
{
    if (code / 8 < sizeof statements && !is_statement(code))
        __atomic_fetch_or(&statements[code / 8], (uint8_t)(1 << code % 8), __ATOMIC_RELAXED);
}

void symbols_free(struct place *places, int n)
{
    for (int i = 0; i < n; i++)
        free(places[i].file), free(places[i].caller), free(places[i].own);
}

int symbols_same(const struct place *a, const struct place *b)
{
    return a->line == b->line && strcmp(a->file, b->file) == 0 && !a->caller == !b->caller &&
           (!a->caller || (a->caller_line == b->caller_line && strcmp(a->caller, b->caller) == 0));
}

int symbols_calls(char *text, size_t size, const struct place *place)
{
    if (place->caller && place->own)
        return snprintf(text, size, "called at %s:%d, from %s:%d", place->caller,
                        place->caller_line, place->own, place->own_line);
    if (place->caller)
        return snprintf(text, size, "called at %s:%d", place->caller, place->caller_line);
    if (place->own)
        return snprintf(text, size, "called from %s:%d", place->own, place->own_line);
    *text = '\0';
    return 0;
}

static char *shortened(char *file)
{
    char here[4096];
    size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;
    if (n && strncmp(file, here, n) == 0 && file[n] == '/')
        file += n + 1;
    while (strncmp(file, "./", 2) == 0)
        file += 2;
    return need_memory(strdup(file), "the name of a file");
}

/* Whose a file is: the workbook's helpers, a step's or a program's, or a reader's exercise. */
enum whose { HELPERS, PROGRAMS, READERS };
static enum whose whose(const char *file)
{
    if (strncmp(file, "common/", 7) == 0 || strstr(file, "/common/cuda/") ||
        strstr(file, "/common/neox/"))
        return HELPERS;
    return strncmp(file, "work/", 5) == 0 ? READERS : PROGRAMS;
}

/* A line further out in the chain of inlined calls. */
static void add_call(struct place *place, const char *file, int line, int is_statement)
{
    if (!place->caller && is_statement) {
        place->caller = need_memory(strdup(file), "the name of a file");
        place->caller_line = line;
        return;
    }
    const enum whose now = whose(file), first = whose(place->file);
    const int is_readers_helper = now == READERS && first == READERS && !place->own;
    const int is_others = now > first && (!place->caller || now > whose(place->caller)) &&
                          (!place->own || now > whose(place->own));
    if (is_readers_helper || is_others) {
        free(place->own);
        place->own = need_memory(strdup(file), "the name of a file");
        place->own_line = line;
    }
}

static void unknown(struct place *place)
{
    *place = (struct place){.file = need_memory(strdup("?"), "the name of a file")};
}

/* addr2line prints each address with its number, then a line "FILE:LINE" per inlined call, the
 * innermost first. */
static FILE *ask(const char *program, const uint32_t *codes, int n)
{
    char *command = NULL;
    size_t size;
    FILE *text = need_memory(open_memstream(&command, &size), "a command");
    fprintf(text, "addr2line -a -i -e '%s'", program);
    for (int i = 0; i < n; i++)
        fprintf(text, " %x", codes[i]);
    fputs(" 2>/dev/null", text);
    if (fclose(text) != 0)
        need_memory(NULL, "a command");
    FILE *answer = popen(command, "r");
    free(command);
    return answer;
}

static void find(const char *program, const uint32_t *codes, int n, struct place *places)
{
    char line[4200];
    FILE *answer = ask(program, codes, n);
    int at = -1;
    for (int i = 0; i < n; i++)
        unknown(&places[i]);
    while (answer && fgets(line, sizeof line, answer)) {
        if (strncmp(line, "0x", 2) == 0) {
            at++;
            continue;
        }
        char *colon = strrchr(line, ':');
        if (at < 0 || at >= n || !colon || *line == '?')
            continue;
        *colon = '\0';
        int number = atoi(colon + 1);
        if (number == 0 || strstr(line, "common/cpu/include/") || strncmp(line, "/usr/", 5) == 0)
            continue;
        char *file = shortened(line);
        if (places[at].line) {
            add_call(&places[at], file, number, is_statement(codes[at]));
            free(file);
            continue;
        }
        free(places[at].file);
        places[at] = (struct place){.file = file, .line = number};
    }
    if (answer)
        pclose(answer);
}

/* The inlined calls of one code, the outermost first. */
enum { CALLS = 16 };
struct chain {
    int n;
    char *file[CALLS];
    int line[CALLS];
};

static void add_line(struct chain *c, char *line)
{
    char *colon = strrchr(line, ':');
    if (c->n == CALLS || !colon || *line == '?' || !atoi(colon + 1))
        return;
    *colon = '\0';
    if (strstr(line, "common/cpu/include/") || strncmp(line, "/usr/", 5) == 0)
        return;
    memmove(c->file + 1, c->file, (size_t)c->n * sizeof *c->file);
    memmove(c->line + 1, c->line, (size_t)c->n * sizeof *c->line);
    c->file[0] = shortened(line);
    c->line[0] = atoi(colon + 1);
    c->n++;
}

/* Whether all chains have a call at that depth, in one file; *line: the least line; *same: there is
 * no other. */
static int one_file(const struct chain *c, int n, int depth, int *line, int *same)
{
    *line = c[0].line[depth];
    *same = 1;
    for (int i = 0; i < n; i++) {
        if (c[i].n <= depth || strcmp(c[i].file[depth], c[0].file[depth]) != 0)
            return 0;
        *same &= c[i].line[depth] == c[0].line[depth];
        *line = c[i].line[depth] < *line ? c[i].line[depth] : *line;
    }
    return 1;
}

/* The path of the program, or NULL if a shell cannot take it. */
static const char *program_path(void)
{
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    return n < 0 || memchr(path, '\'', (size_t)n) ? NULL : path;
}

static struct symbol *variables;
static int n_variables = -1; /* negative: not looked for yet */

/* Skips variables of functions and of the compiler: behind _Z their names have another letter
 * than those of the program's variables. */
static void look_for_variables(void)
{
    char command[4200], line[4200], name[4096], type;
    unsigned long long p, bytes;
    const char *path = program_path();
    n_variables = 0;
    snprintf(command, sizeof command, "nm -S --defined-only '%s' 2>/dev/null", path ? path : "");
    FILE *answer = path ? popen(command, "r") : NULL;
    while (answer && fgets(line, sizeof line, answer)) {
        int at = 0;
        if (sscanf(line, "%llx %llx %c %4095s", &p, &bytes, &type, name) != 4 ||
            !strchr("dDbBuVv", type) || strncmp(name, "cpu_", 4) == 0 ||
            (strncmp(name, "_Z", 2) == 0 && !strchr("LN0123456789", name[2])))
            continue;
        if (strncmp(name, "_ZL", 3) == 0 && sscanf(name + 3, "%*d%n", &at) == 0)
            memmove(name, name + 3 + at, strlen(name + 3 + at) + 1);
        variables = need_memory(realloc(variables, (size_t)(n_variables + 1) * sizeof *variables),
                                "the names of variables");
        variables[n_variables].p = (uintptr_t)__executable_start + p;
        variables[n_variables].bytes = bytes;
        variables[n_variables++].name =
            need_memory(strdup(strncmp(name, "_Z", 2) == 0 ? "a variable" : name), "a name");
    }
    if (answer)
        pclose(answer);
}

const struct symbol *symbols_variable(uintptr_t p)
{
    if (n_variables < 0)
        look_for_variables();
    for (int i = 0; i < n_variables; i++)
        if (p - variables[i].p < variables[i].bytes)
            return &variables[i];
    return NULL;
}

/* "void a::(anonymous namespace)::k<int, 4>(int *)" becomes "a::k<int,4>", in place. */
static void shorten_function(char *name)
{
    static const char nameless[] = "(anonymous namespace)::";
    char *at;
    while ((at = strstr(name, nameless)))
        memmove(at, at + sizeof nameless - 1, strlen(at + sizeof nameless - 1) + 1);
    int depth = 0;
    for (char *last = name + strlen(name); last > name; last--) { /* the parameters */
        depth += (last[-1] == ')') - (last[-1] == '(');
        if (last[-1] == '(' && depth == 0) {
            last[-1] = '\0';
            break;
        }
    }
    if (strncmp(name, "void ", 5) == 0) /* with a template */
        memmove(name, name + 5, strlen(name + 5) + 1);
    while ((at = strstr(name, ", ")))
        memmove(at + 1, at + 2, strlen(at + 2) + 1);
}

/* The last word in front of template arguments: of "a::k<int>" that is k. */
static const char *last_word(const char *name, size_t *length)
{
    const char *end = name + strcspn(name, "<"), *start = end;
    while (start > name && start[-1] != ':')
        start--;
    *length = (size_t)(end - start);
    return start;
}

static int same_last_word(const char *a, const char *b)
{
    size_t m, n;
    const char *p = last_word(a, &m), *q = last_word(b, &n);
    return m == n && memcmp(p, q, n) == 0;
}

/* All functions, as one run of nm tells them. */
static struct function {
    uintptr_t p;
    char *name;
} * functions;
static int n_functions = -1; /* negative: not looked for yet */

static void look_for_functions(void)
{
    char command[4200], line[4200], type;
    const char *path = program_path();
    n_functions = 0;
    snprintf(command, sizeof command, "nm -C --defined-only '%s' 2>/dev/null", path ? path : "");
    FILE *answer = path ? popen(command, "r") : NULL;
    while (answer && fgets(line, sizeof line, answer)) {
        unsigned long long p;
        int at = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%llx %c %n", &p, &type, &at) != 2 || !at || !strchr("tTwW", type))
            continue;
        shorten_function(line + at);
        functions = need_memory(realloc(functions, (size_t)(n_functions + 1) * sizeof *functions),
                                "the names of kernels");
        functions[n_functions].p = (uintptr_t)__executable_start + p;
        functions[n_functions++].name = need_memory(strdup(line + at), "a name");
    }
    if (answer)
        pclose(answer);
}

const char *symbols_kernel(const char *text, const void *function)
{
    const char *found = NULL;
    if (function && n_functions < 0)
        look_for_functions();
    for (int i = 0; i < n_functions && function; i++) {
        if (functions[i].p != (uintptr_t)function)
            continue;
        if (same_last_word(text, functions[i].name))
            return text;
        found = functions[i].name;
    }
    return found ? found : text;
}

void symbols_find(const uint32_t *codes, int n, struct place *places)
{
    const char *program = program_path();
    for (int i = 0; i < n && !program; i++)
        unknown(&places[i]);
    for (int i = 0; i < n && program; i += AT_ONCE)
        find(program, codes + i, n - i < AT_ONCE ? n - i : AT_ONCE, places + i);
}

void symbols_loop(const uint32_t *codes, int n, char *text, size_t size)
{
    const char *program = program_path();
    char line[4200];
    struct chain *chains =
        need_memory(calloc((size_t)n + 1, sizeof *chains), "the place of a loop");
    FILE *answer = program && n && n < AT_ONCE ? ask(program, codes, n) : NULL;
    for (int at = -1; answer && fgets(line, sizeof line, answer);)
        if (strncmp(line, "0x", 2) == 0)
            at += at < n - 1;
        else if (at >= 0)
            add_line(&chains[at], line);
    if (answer)
        pclose(answer);
    int depth = 0, least = 0, same = 1, known = 0;
    for (int i = 0; i < n; i++) /* a block that the compiler has made may have no line */
        if (chains[i].n)
            chains[known++] = chains[i];
    snprintf(text, size, "?:0");
    for (; known && same && one_file(chains, known, depth, &least, &same); depth++)
        snprintf(text, size, "%s:%d", chains[0].file[depth], least);
    const size_t length = strlen(text);
    if (depth > 1) /* a loop of one block may as well be there */
        snprintf(text + length, size - length, " (called at %s:%d)", chains[0].file[depth - 2],
                 chains[0].line[depth - 2]);
    for (int i = 0; i < known; i++)
        for (int k = 0; k < chains[i].n; k++)
            free(chains[i].file[k]);
    free(chains);
}

/* Of a function that is called in the loop the lines say nothing: only the outermost function
 * counts. */
void trace_loop(const void *const *from, const void *const *frame, int n, char *text, size_t size)
{
    uint32_t *codes = need_memory(calloc((size_t)n + 1, sizeof *codes), "the place of a loop");
    const void *outermost = NULL;
    int used = 0;
    for (int i = 0; i < n; i++)
        outermost = (uintptr_t)frame[i] > (uintptr_t)outermost ? frame[i] : outermost;
    for (int i = 0; i < n; i++)
        if (frame[i] == outermost)
            codes[used++] = code_of(from[i]);
    symbols_loop(codes, used, text, size);
    free(codes);
}
