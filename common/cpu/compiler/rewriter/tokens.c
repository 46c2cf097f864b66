/* tokens.c: reads the preprocessed source as tokens, and answers questions about them. Only the
 * user's files become tokens; of system headers, ours among them, nothing is kept.
 *
 *   # 7 "user.cu"
 *   k<<<1, 32>>>(p);     ->   k < < < 1 , 32 > > > ( p ) ;   each with its file and line 7 */
#include "compiler/rewriter/rewrite.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct token *tokens;
struct header *headers;
struct pragma *pragmas;
char **files;
int token_count, header_count, pragma_count, file_count;

void *allocate(void *old, size_t bytes)
{
    void *p = realloc(old, bytes);
    if (!p) {
        fputs("rewrite: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

char *formatted(const char *f, ...)
{
    va_list list;
    va_start(list, f);
    int n = vsnprintf(NULL, 0, f, list);
    va_end(list);
    char *s = allocate(NULL, (size_t)n + 1);
    va_start(list, f);
    vsnprintf(s, (size_t)n + 1, f, list);
    va_end(list);
    return s;
}

/* --- Reading ---------------------------------------------------------------------------------- */

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
    char *close = formatted(")%.*s\"", (int)(open - p - 1), p + 1);
    const char *end = strstr(open, close);
    size_t n = strlen(close);
    free(close);
    return end ? end + n : open + strlen(open);
}

const char *token_end(const char *p)
{
    const char *s = p;
    if (*p == '"' || *p == '\'')
        return skip_quoted(p);
    const int number = isdigit((unsigned char)p[*p == '.']) != 0;
    if (!number && !isalnum((unsigned char)*p) && *p != '_')
        return p + 1;
    while (
        isalnum((unsigned char)*p) || *p == '_' ||
        (number && (*p == '.' || *p == '\'' || (strchr("+-", *p) && *p && strchr("eEpP", p[-1])))))
        p++;
    return *p == '"' && p[-1] == 'R' && p - s <= 3 ? skip_raw_string(p) : p;
}

/* The place in the user's files that the text being read comes from. */
struct place {
    int line, file; /* file -1: a system header */
    int in_macro;   /* of a system header */
};

/* The index of a file of the user's; -1 for a system header. Where a macro of a system header is
 * expanded, the marker calls the user's file a system header: that file is known by then. */
static int find_file(const char *name, int n, int system)
{
    for (int i = file_count - 1; i >= 0; i--)
        if ((int)strlen(files[i]) == n && memcmp(files[i], name, (size_t)n) == 0)
            return i;
    if (system)
        return -1;
    APPEND(files, file_count, formatted("%.*s", n, name));
    return file_count - 1;
}

/* A line that starts with #: a line marker, which is # 7 "file" and flags, of which 3 means a
 * system header; or a pragma. */
static void read_directive(const char *p, const char *end, struct place *at)
{
    const char *quote = memchr(p, '"', (size_t)(end - p));
    char *after;
    long number = strtol(p + 1, &after, 10);
    if (after > p + 1 && quote) {
        const char *name = quote + 1, *close = memchr(name, '"', (size_t)(end - name));
        const int n = (int)(close - name);
        int system = 0;
        for (const char *q = close + 1; q < end; q++)
            system |= *q == '3';
        if (system && at->file >= 0 && number == 1)
            APPEND(headers, header_count, (struct header){name, n, at->line, at->file});
        /* the newline that ends the marker counts */
        *at = (struct place){(int)number - 1, find_file(name, n, system), system};
    } else if (at->file >= 0 && sscanf(p, "#pragma %*s") == 0) {
        const char *w = p + strcspn(p, " ");
        w += strspn(w, " ");
        if (strncmp(w, "unroll", 6) == 0 || strncmp(w, "nounroll", 8) == 0 ||
            strncmp(w, "nv_", 3) == 0)
            APPEND(pragmas, pragma_count, (struct pragma){p, end});
    }
}

static void read_tokens(const char *p)
{
    struct place at = {.line = 1, .file = -1};
    for (int fresh = 1; *p;) { /* fresh: nothing stands before p in its line */
        const char *s = p;
        if (isspace((unsigned char)*p)) {
            fresh |= *p == '\n';
            at.line += *p++ == '\n';
        } else if (*p == '#' && fresh) {
            p += strcspn(p, "\n");
            read_directive(s, p, &at);
        } else {
            fresh = 0;
            p = token_end(p);
            if (at.file >= 0)
                APPEND(tokens, token_count,
                       (struct token){s, (int)(p - s), at.line, at.file, at.in_macro, 0});
            for (const char *q = s; q < p; q++)
                at.line += *q == '\n'; /* raw strings */
        }
    }
}

static char *read_all(FILE *f)
{
    size_t n = 0, size = 1 << 20, got;
    char *text = allocate(NULL, size);
    while ((got = fread(text + n, 1, size - n - 1, f)) > 0)
        if ((n += got) > size / 2)
            text = allocate(text, size *= 2);
    if (ferror(f)) {
        fputs("rewrite: the preprocessed source cannot be read\n", stderr);
        exit(1);
    }
    text[n] = '\0';
    return text;
}

struct source read_source(FILE *f)
{
    const char *text = read_all(f);
    tokens = NULL; /* those of another source stay with it */
    headers = NULL;
    pragmas = NULL;
    token_count = header_count = pragma_count = 0;
    read_tokens(text);
    return (struct source){text, tokens, token_count};
}

/* --- Questions -------------------------------------------------------------------------------- */

static int is_text(int i, const char *s, size_t n)
{
    return i >= 0 && i < token_count && tokens[i].n == (int)n && memcmp(tokens[i].s, s, n) == 0;
}

int is_one_of(const char *s, size_t n, const char *words)
{
    for (size_t length; *words; words += length + (words[length] == ' ')) {
        length = strcspn(words, " ");
        if (length == n && memcmp(s, words, n) == 0)
            return 1;
    }
    return 0;
}

int is(int i, const char *word)
{
    return is_text(i, word, strlen(word));
}

int is_any(int i, const char *words)
{
    return i >= 0 && i < token_count && is_one_of(tokens[i].s, (size_t)tokens[i].n, words);
}

int is_three(int i, const char *mark)
{
    return is(i, mark) && is(i + 1, mark) && is(i + 2, mark);
}

int is_name(int i)
{
    return i >= 0 && i < token_count &&
           (isalpha((unsigned char)*tokens[i].s) || *tokens[i].s == '_');
}

int is_member(int i)
{
    return is(i - 1, ".") || (is(i - 1, ">") && is(i - 2, "-"));
}

int same_name(int i, int k)
{
    return is_text(i, tokens[k].s, (size_t)tokens[k].n);
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

int match_angle(int i, int step, int *commas)
{
    const char *up = step > 0 ? "<" : ">", *down = step > 0 ? ">" : "<";
    int count = 0;
    commas = commas ? commas : &count;
    *commas = 0;
    for (int depth = 0; i >= 0 && i < token_count; i += step) {
        if (is_any(i, step > 0 ? "( [ {" : ") ] }")) {
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

int skip_angle(int i)
{
    const int close = match_angle(i, 1, NULL);
    return close > 0 ? close : i;
}

int split_list(int open, int first[LIST], int last[LIST])
{
    const int close = match(open, 1);
    int n = 0;
    for (int i = open + 1, from = i; i <= close && n < LIST; i++) {
        if (is_any(i, "( [ {")) {
            i = match(i, 1);
        } else if (is_name(i - 1) && is(i, "<")) {
            const int end = skip_angle(i);
            i = end < close ? end : i;
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

int statement_start(int i)
{
    while (i > 0 && !is_any(i - 1, "; { } )") &&
           !(is(i - 1, ":") && !is(i - 2, ":") && !is(i, ":")))
        i--;
    return i;
}

int call_of_c(int name)
{
    if (!is(name + 1, "(") || is_member(name))
        return -1;
    if (!is(name - 1, ":") || !is(name - 2, ":")) /* one is that of a label, or of a ?: */
        return name;
    return is(name - 3, "std") ? name - 3 : is_name(name - 3) ? -1 : name - 2;
}

char *text_of(int first, int last)
{
    char *s = formatted("");
    for (int i = first; i <= last; i++) {
        int space = i > first && (is_name(i) || isdigit((unsigned char)*tokens[i].s)) &&
                    (is_name(i - 1) || isdigit((unsigned char)*tokens[i - 1].s));
        char *t = formatted("%s%s%.*s", s, space ? " " : "", tokens[i].n, tokens[i].s);
        free(s);
        s = t;
    }
    return s;
}
