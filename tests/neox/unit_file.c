/* unit_file.c FOLDER [SHIPPED]: files that are read right, files that are refused, and some
 * thousands that were damaged at random, which may be refused or read but must break nothing. */
#define _DEFAULT_SOURCE
#include "harness/internal.h"
#include "neox/neox.h"
#include "../harness/unit.h"
#include <fcntl.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 40, ROOM = 1 << 20 };
static char path[512];
static unsigned char bytes[ROOM];
static int64_t length;

static void put32(int at, int32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[at + i] = (unsigned char)((uint32_t)value >> 8 * i);
}

static void put16(int64_t index, unsigned half)
{
    bytes[HEADER + 2 * index] = (unsigned char)half;
    bytes[HEADER + 2 * index + 1] = (unsigned char)(half >> 8);
}

static void put_magic(const char *magic)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)magic[i];
}

/* A file of that shape. Weight i is the half whose bits are i, over and over, without Inf and NaN.
 */
static void make(const neox_config *c)
{
    const int number[8] = {c->layers, c->hidden, c->heads,     c->rotary,
                           c->mlp,    c->vocab,  c->positions, c->tied};
    put_magic("KFNEOX1\n");
    for (int i = 0; i < 8; i++)
        put32(8 + 4 * i, number[i]);
    length = HEADER + 2 * neox_weights(c);
    for (int64_t i = 0; i < neox_weights(c); i++)
        put16(i, (unsigned)(i % 0x7c00 | (i / 0x7c00 % 2 ? 0x8000 : 0)));
}

static void save(void)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, (size_t)length, file) != (size_t)length || fclose(file) != 0)
        kf_die(KF_CANNOT_RUN, "cannot write %s", path);
}

static double half_value(unsigned half)
{
    int exponent = (int)(half >> 10 & 31), rest = (int)(half & 1023);
    double size = exponent ? ldexp(1024 + rest, exponent - 25) : ldexp(rest, -24);
    return half & 0x8000 ? -size : size;
}

static const neox_config small = {2, 24, 3, 4, 40, 10, 16, false};
static const neox_config larger = {3, 64, 4, 8, 256, 30, 16, true};

static void read_right(const neox_config *c, const char *what)
{
    neox_model model;
    make(c);
    save();
    const char *trouble = neox_load(path, &model);
    ok(!trouble && model.weights, "%s: read%s%s", what, trouble ? ": " : "",
       trouble ? trouble : "");
    if (trouble)
        return;
    const neox_config *m = &model.config;
    ok(m->layers == c->layers && m->hidden == c->hidden && m->heads == c->heads &&
           m->rotary == c->rotary && m->mlp == c->mlp && m->vocab == c->vocab &&
           m->positions == c->positions && m->tied == c->tied,
       "%s: its shape", what);
    int64_t wrong = 0, count = neox_weights(c);
    for (int64_t i = 0; i < count; i++)
        wrong += (double)model.weights[i] !=
                 half_value((unsigned)(i % 0x7c00 | (i / 0x7c00 % 2 ? 0x8000 : 0)));
    ok(wrong == 0, "%s: every one of %lld weights is the value of its bits", what,
       (long long)count);
    neox_free(&model);
    ok(!model.weights, "%s: and it is empty when freed", what);
}

/* words: what the line says besides the path. */
static void refused(const char *what, const char *words)
{
    static float something;
    neox_model model = {.weights = &something};
    save();
    const char *trouble = neox_load(path, &model);
    if (!trouble)
        trouble = "it was read";
    ok(strstr(trouble, words) && strstr(trouble, path) && !strchr(trouble, '\n'), "%s: %s", what,
       trouble);
    ok(!model.weights, "%s: the model is empty", what);
}

static void refuse_number(int i, int32_t value, const char *words)
{
    static const char *const name[] = {"layers", "hidden", "heads",     "rotary",
                                       "mlp",    "vocab",  "positions", "tied"};
    char what[64];
    snprintf(what, sizeof what, "%s %d", name[i], value);
    make(&small);
    put32(8 + 4 * i, value);
    refused(what, words);
}

static void refusals(void)
{
    make(&small);
    const int64_t whole = length;
    length = 0;
    refused("an empty file", "0 bytes; the header alone has 40");
    length = 7;
    refused("a file that ends in the magic", "7 bytes; the header alone has 40");
    length = 39;
    refused("a header that lacks a byte", "39 bytes; the header alone has 40");
    length = 40;
    refused("a header without weights", "40 bytes; the shape in its header takes 19016");
    length = whole - 1;
    refused("the last byte missing", "19015 bytes; the shape in its header takes 19016");
    length = whole - 2;
    refused("the last weight missing", "19014 bytes; the shape");
    length = whole + 1;
    refused("a byte too many", "19017 bytes; the shape in its header takes 19016");
    length = whole + 4096;
    refused("4096 bytes too many", "23112 bytes; the shape");

    make(&small);
    bytes[6] = '2';
    refused("another magic", "begins with \"KFNEOX2\\x0a\"; a model begins with \"KFNEOX1\\x0a\"");
    make(&small);
    bytes[7] = '\r';
    refused("a magic that went through a text editor", "begins with \"KFNEOX1\\x0d\"");
    memset(bytes, 0, 8);
    refused("no magic", "begins with \"\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\"");
    put_magic("%s%n\\\x1b[m");
    refused("a magic to be careful with", "begins with \"%s%n\\x5c\\x1b[m\"");

    refuse_number(0, 0, "layers is 0");
    refuse_number(0, 3, "19016 bytes; the shape in its header takes 27976");
    refuse_number(0, 1, "the shape in its header takes 10056");
    refuse_number(0, INT32_MIN, "layers is -2147483648");
    refuse_number(1, INT32_MAX, "hidden is 2147483647");
    refuse_number(1, 28, "multiple of 8");
    refuse_number(2, 5, "multiple of heads");
    refuse_number(3, 3, "even");
    refuse_number(3, 10, "at most hidden / heads, which is 8");
    refuse_number(4, 0x7ffffff8, "mlp is 2147483640");
    refuse_number(5, -1, "vocab is -1");
    refuse_number(6, 0, "positions is 0");
    refuse_number(7, 1, "the shape in its header takes 18536");
    refuse_number(7, 2, "tied is 2; it must be 0 or 1");
    refuse_number(7, -1, "tied is -1; it must be 0 or 1");

    make(&small);
    put16(241, 0x7c00);
    refused("an infinity", "at layer 0, norm1 gain, row 0, column 1 is inf; all weights must be");
    make(&small);
    put16(240 + 4480 + 2496 + 24 + 2, 0xfc00);
    refused("minus infinity",
            "at layer 1, up, row 1, column 2 is -inf; all weights must be finite");
    make(&small);
    put16(0, 0x7c01);
    refused("a NaN in the first weight", "at embedding, row 0, column 0 is nan");
    make(&small);
    put16(9487, 0xffff);
    refused("a NaN in the last weight", "at output, row 9, column 23 is");
}

/* A header may promise what no machine has: nothing is allocated before the size was compared. */
static void promises(void)
{
    const int number[8] = {1024, 65536, 1024, 64, 1048576, 1048576, 1048576, 0};
    make(&small);
    for (int i = 0; i < 8; i++)
        put32(8 + 4 * i, number[i]);
    refused("a header that promises 300 TB", "19016 bytes; the shape in its header takes 3");
}

static void other_things(const char *folder)
{
    neox_model model;
    char name[600];
    snprintf(name, sizeof name, "%s/none.neox", folder);
    const char *trouble = neox_load(name, &model);
    ok(trouble && strstr(trouble, "none.neox: cannot be opened: No such file or directory"),
       "a file that is not there: %s", trouble ? trouble : "read");
    trouble = neox_load(folder, &model);
    ok(trouble && strstr(trouble, "not a regular file"), "a folder: %s",
       trouble ? trouble : "read");
    snprintf(name, sizeof name, "%s/pipe", folder);
    alarm(20);
    if (mkfifo(name, 0600) == 0)
        trouble = neox_load(name, &model);
    alarm(0);
    ok(trouble && strstr(trouble, "not a regular file"), "a pipe that nobody writes to: %s",
       trouble ? trouble : "read");
}

/* Opens no file and leaks none: the lowest free descriptor stays what it was. */
static int lowest_descriptor(void)
{
    int lowest = open("/dev/null", O_RDONLY);
    close(lowest);
    return lowest;
}

static void damaged(int files)
{
    const int before = lowest_descriptor();
    int taken = 0, unlike = 0;
    uint64_t draw = 0;
    for (int n = 0; n < files; n++) {
        make(&small);
        int damages = 1 + (int)kf_random_below(5, draw++, 3);
        for (int i = 0; i < damages; i++) {
            /* In the header, most of the time: after it there are only weights. */
            uint32_t end = kf_random_below(5, draw++, 4) ? HEADER : (uint32_t)length;
            uint32_t kind = kf_random_below(5, draw++, 4), at = kf_random_below(5, draw++, end);
            if (kind == 0)
                length = 1 + (int64_t)kf_random_below(5, draw++, (uint32_t)length);
            else if (kind == 1)
                bytes[at] = (unsigned char)kf_random_below(5, draw++, 256);
            else
                bytes[at] ^= (unsigned char)(1u << kf_random_below(5, draw++, 8));
        }
        save();
        neox_model model;
        const char *trouble = neox_load(path, &model);
        if (trouble) {
            unlike += model.weights != NULL || strchr(trouble, '\n') || strlen(trouble) < 10;
            continue;
        }
        taken++;
        unlike += neox_config_trouble(&model.config) != NULL ||
                  length != HEADER + 2 * neox_weights(&model.config);
        for (int64_t i = 0; i < neox_weights(&model.config); i++)
            unlike += !isfinite(model.weights[i]);
        neox_free(&model);
    }
    ok(unlike == 0, "%d damaged files: refused in one line, or a model that can be run", files);
    ok(taken > 0 && taken < files, "of both kinds there are some: %d were read", taken);
    ok(lowest_descriptor() == before, "and none was left open");
}

int main(int count, char **arguments)
{
    if (count < 2)
        kf_die(KF_USAGE, "name a folder for files");
    snprintf(path, sizeof path, "%s/model.neox", arguments[1]);
    read_right(&small, "a small model");
    read_right(&larger, "a tied one, with all finite halves");
    neox_config other = small;
    other.heads = 6;
    other.rotary = 2;
    other.positions = 99;
    read_right(&other, "another shape of the same size");
    refusals();
    promises();
    other_things(arguments[1]);
    damaged(4000);
    if (count > 2) {
        neox_model model;
        const char *trouble = neox_load(arguments[2], &model);
        ok(!trouble, "%s is read%s%s", arguments[2], trouble ? ": " : "", trouble ? trouble : "");
        if (!trouble) {
            const neox_config *c = &model.config;
            ok(c->layers == 6 && c->hidden == 160 && c->heads == 5 && c->rotary == 8 &&
                   c->mlp == 640 && c->vocab == 128 && c->positions == 256 && !c->tied,
               "and has the shape that the steps are for");
            neox_free(&model);
        }
    }
    return done();
}
