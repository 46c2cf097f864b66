/* edits.c: keeps what is replaced and inserted, and writes the source with it. Each token comes out
 * in the line and column where it stands in the user's file, so that compilers show that place. The
 * preprocessor keeps lines but not columns: these are found in the user's file.
 *
 *   a = b / 2;     with replace(3, 3, "/ c /") becomes
 *
 *   a = b / c /
 *   # 7 "user.cu"
 *           2; */
#include "compiler/rewriter/rewrite.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --- Columns ---------------------------------------------------------------------------------- */

struct word {
    const char *s;
    int n, line, column;
};

struct user_file {
    int is_read;
    struct word *words; /* NULL if it cannot be read */
    int count;
};

/* The text of a file, with a 0 behind it; "" if it cannot be read. */
static char *read_file(const char *name)
{
    FILE *f = fopen(name, "rb");
    size_t n = 0, size = 1 << 16, got = 0;
    char *text = allocate(NULL, size);
    while (f && (got = fread(text + n, 1, size - n - 1, f)) > 0)
        if ((n += got) > size / 2)
            text = allocate(text, size *= 2);
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

static void read_words(struct user_file *f, const char *name)
{
    const char *p = read_file(name), *start = p;
    int line = 1, fresh = 1;
    f->is_read = 1;
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
            p = token_end(p);
            APPEND(f->words, f->count, (struct word){s, (int)(p - s), line, (int)(s - start) + 1});
            fresh = 0;
        }
        for (; s < p; s++)
            if (*s == '\n') {
                line++;
                start = s + 1;
            }
    }
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

/* Looks for the token from word *next on, and moves *next behind it. Returns 0 if it is not in its
 * line, because a macro of the user's made it. */
static int find_column(const struct user_file *f, const struct token *t, int *next)
{
    int mark = ispunct((unsigned char)*t->s) && *t->s != '_' && *t->s != '"';
    for (int i = *next; i < f->count && f->words[i].line == t->line; i++) {
        const struct word *w = &f->words[i];
        if (w->n == t->n && memcmp(w->s, t->s, (size_t)t->n) == 0) {
            *next = i + 1;
            return w->column;
        }
        if (mark) /* there are many like it: a later one may be another */
            return 0;
    }
    return 0;
}

void find_columns(void)
{
    struct user_file *read = allocate(NULL, ((size_t)file_count + 1) * sizeof *read);
    const struct token *last = NULL;
    int next = 0;
    memset(read, 0, (size_t)file_count * sizeof *read);
    for (struct token *t = tokens; t < tokens + token_count; t++) {
        struct user_file *f = &read[t->file];
        if (t->in_macro)
            continue;
        if (!f->is_read)
            read_words(f, files[t->file]);
        if (!f->words)
            continue;
        if (!last || t->file != last->file || t->line != last->line)
            next = first_of(f, t->line);
        last = t;
        t->column = find_column(f, t, &next);
    }
}

/* --- Edits ------------------------------------------------------------------------------------ */

struct edit {
    const char *from, *to; /* this text becomes `text` */
    const char *text;
    int order, next; /* the token that follows, to keep line numbers right; -1: none */
};

static struct edit *edits;
static int edit_count;

static const char *end_of(int i)
{
    return tokens[i].s + tokens[i].n;
}

static void add_edit(const char *from, const char *to, const char *text, int next)
{
    APPEND(edits, edit_count, (struct edit){from, to, text, edit_count, next});
}

void replace(int first, int last, const char *text)
{
    add_edit(tokens[first].s, end_of(last), text, last + 1);
}

void insert(int before, const char *text)
{
    add_edit(tokens[before].s, tokens[before].s, text, before);
}

void insert_after(int i, const char *text)
{
    add_edit(end_of(i), end_of(i), text, i + 1);
}

static int by_place(const void *a, const void *b)
{
    const struct edit *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->order - y->order;
}

/* --- Output ----------------------------------------------------------------------------------- */

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

/* The text that is written next is the user's line. */
static void write_marker(const struct token *t)
{
    printf("\n# %d \"%s\"\n", t->line, files[t->file]);
    written = 0;
}

/* Text that stays, from `from` to `to`; *i is the first token behind what is written. */
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

void write_out(const char *text)
{
    int next = 0;
    for (int i = 0; i < pragma_count; i++)
        add_edit(pragmas[i].from, pragmas[i].to, "", -1);
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
