/* message.c: every error is one line on stderr, "PROGRAM: what, and what would be right". It may
 * quote arguments, paths and files of any length. Nothing is cut off, or the reason at the end
 * would be lost; control characters are printed as \x1b, so that they do not reach the terminal. */
#define _DEFAULT_SOURCE
#include "harness/base/base.h"
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Static, because a signal handler needs them, and messages about arguments. */
static char program[128] = "harness";
static char farewell[256] = "interrupted\n"; /* ready for a signal handler */
static bool quiet;
static char heading[256]; /* of what is said next */

void kf_set_program(const char *name)
{
    snprintf(program, sizeof program, "%s", name);
    snprintf(farewell, sizeof farewell, "%s: interrupted; rows recorded before stay\n", program);
}

const char *kf_program_name(void)
{
    return program;
}

void kf_divert_output(bool divert)
{
    static int own = -1; /* stdout, while it is diverted */
    fflush(stdout);
    if (divert && own < 0) {
        own = dup(STDOUT_FILENO);
        if (own >= 0)
            dup2(STDERR_FILENO, STDOUT_FILENO);
    } else if (!divert && own >= 0) {
        dup2(own, STDOUT_FILENO);
        close(own);
        own = -1;
    }
}

/* NULL: no memory. */
static char *formatted(const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, args);
    return text;
}

/* UTF-8 stays, except U+0080 to U+00BF, half of which are control characters: they begin with 0xc2.
 */
static void escape(const char *text, char *to)
{
    int follow = 0; /* bytes of a letter that are still to come */
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool inside = follow > 0 && c >= 0x80 && c < 0xc0;
        follow = inside ? follow - 1 : c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc3 ? 1 : 0;
        bool plain = inside || follow > 0 || (c >= ' ' && c <= '~');
        to += snprintf(to, sizeof "\\x00", plain ? "%c" : "\\x%02x", c);
    }
    *to = '\0';
}

void kf_heading_print(void)
{
    if (heading[0] && !quiet)
        fputs(heading, stdout);
    heading[0] = '\0';
}

static void line(const char *format, va_list args)
{
    char *text = formatted(format, args);
    char *shown = text ? malloc(4 * strlen(text) + 1) : NULL;
    if (shown)
        escape(text, shown);
    kf_heading_print();
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", program, shown ? shown : format);
    free(text);
    free(shown);
}

void kf_complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    line(format, args);
    va_end(args);
}

static bool dying;

bool kf_dies(void)
{
    return dying;
}

void kf_die(int code, const char *format, ...)
{
    va_list args;
    dying = true;
    va_start(args, format);
    line(format, args);
    va_end(args);
    exit(code);
}

void kf_quiet(bool on)
{
    quiet = on;
}

void kf_heading(const char *text)
{
    snprintf(heading, sizeof heading, "%s", text);
}

bool kf_heading_waits(void)
{
    return heading[0];
}

void kf_say(const char *format, ...)
{
    if (quiet)
        return;
    kf_heading_print();
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fflush(stdout);
}

void *kf_alloc(int64_t count, size_t size)
{
    void *memory = NULL;
    if (count >= 0 && (uint64_t)count <= SIZE_MAX / size)
        memory = calloc(count > 0 ? (size_t)count : 1, size);
    if (!memory)
        kf_die(KF_CANNOT_RUN, "no host memory for %.3g GB; a smaller --case needs less",
               (double)count * (double)size / 1e9);
    return memory;
}

char *kf_text(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = formatted(format, args);
    va_end(args);
    if (!text)
        kf_die(KF_CANNOT_RUN, "no host memory for a line of text");
    return text;
}

const char *kf_root(void)
{
    const char *root = getenv("KF_ROOT");
    return root && *root ? root : ".";
}

/* A handler may neither print through stdio nor free anything: it writes its line and leaves. Rows
 * are appended by one write while interrupts are held back, so there is nothing to clean up. */
static volatile sig_atomic_t held, pending;

static void leave(void)
{
    ssize_t said = write(STDERR_FILENO, farewell, strlen(farewell));
    (void)said; /* nothing can be done when it fails */
    _exit(130);
}

static void on_signal(int signal)
{
    (void)signal;
    if (held)
        pending = 1;
    else
        leave();
}

void kf_catch_interrupts(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* A file size limit must show as an error of write, a closed pipe as one of printf. */
    signal(SIGXFSZ, SIG_IGN);
}

void kf_hold_interrupts(bool hold)
{
    held = hold;
    if (!hold && pending)
        leave();
}
