/* columns.c: where the tokens of the preprocessed text stand in the user's file. The
 * preprocessor keeps lines but not columns, and compilers show the user's line with a mark below.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "compiler/rewriter/rewrite.h"

struct word {
    const char *s;
    int n, line, column;
};

struct user_file {
    char *name;
    struct word *words;
    int count;
};

static struct user_file *sources;
static int source_count;

/* The text of a file, with a 0 behind it; "" if it cannot be read. */
static char *read_file(const char *name)
{
    FILE *f = fopen(name, "rb");
    size_t n = 0, size = 1 << 16, got = 0;
    char *text = rewrite_allocate(NULL, size);
    while (f && (got = fread(text + n, 1, size - n - 1, f)) > 0)
        if ((n += got) > size / 2)
            text = rewrite_allocate(text, size *= 2);
    if (f)
        fclose(f);
    text[n] = '\0';
    return text;
}

/* A directive up to the end of its last line. */
static const char *skip_directive(const char *p)
{
    while (*p && *p != '\n')
        p += p[0] == '\\' && p[1] ? 2 : 1;
    return p;
}

static const char *skip_comment(const char *p)
{
    if (p[1] == '/')
        return skip_directive(p);
    const char *end = strstr(p + 2, "*/");
    return end ? end + 2 : p + strlen(p);
}

static void add_word(struct user_file *f, struct word w)
{
    if (!(f->count & (f->count - 1)))
        f->words =
            rewrite_allocate(f->words, (f->count ? 2 * (size_t)f->count : 1) * sizeof *f->words);
    f->words[f->count++] = w;
}

static void read_words(struct user_file *f)
{
    const char *p = read_file(f->name), *start = p;
    int line = 1, fresh = 1;
    while (*p) {
        const char *s = p;
        if (*p == '#' && fresh) {
            p = skip_directive(p);
        } else if (p[0] == '/' && (p[1] == '/' || p[1] == '*')) {
            p = skip_comment(p);
        } else if (isspace((unsigned char)*p) || (*p == '\\' && p[1] == '\n')) {
            fresh |= *p == '\n';
            p++;
        } else {
            p = rewrite_token_end(p);
            add_word(f, (struct word){s, (int)(p - s), line, (int)(s - start) + 1});
            fresh = 0;
        }
        for (; s < p; s++)
            if (*s == '\n') {
                line++;
                start = s + 1;
            }
    }
}

static const struct user_file *find_source(const char *name)
{
    for (int i = 0; i < source_count; i++)
        if (strcmp(sources[i].name, name) == 0)
            return &sources[i];
    sources = rewrite_allocate(sources, (size_t)(source_count + 1) * sizeof *sources);
    struct user_file *f = &sources[source_count++];
    *f = (struct user_file){.name = rewrite_allocate(NULL, strlen(name) + 1)};
    memcpy(f->name, name, strlen(name) + 1);
    read_words(f);
    return f;
}

/* The first word of this line or of a later one. */
static int first_of(const struct user_file *f, int line)
{
    int low = 0, high = f->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (f->words[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int rewrite_column(const char *file, int line, const char *token, int n)
{
    static const char *last_file;
    static int last_line, next;
    const struct user_file *f = find_source(file);
    if (!f->words)
        return 0;
    if (file != last_file || line != last_line)
        next = first_of(f, line);
    last_file = file;
    last_line = line;
    int mark = ispunct((unsigned char)*token) && *token != '_' && *token != '"';
    for (int i = next; i < f->count && f->words[i].line == line; i++) {
        const struct word *w = &f->words[i];
        if (w->n == n && memcmp(w->s, token, (size_t)n) == 0) {
            next = i + 1;
            return w->column;
        }
        if (mark) /* there are many like it */
            return 0;
    }
    return 0;
}
