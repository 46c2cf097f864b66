/* unit_file.c FOLDER [SHIPPED]: files that are read right, files that are refused, and some
 * thousands that were damaged at random, all of which are refused. */
#define _DEFAULT_SOURCE
#include "harness/run/run.h"
#include "neox/neox.h"
#include "../harness/unit.h"
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 40, CHECKSUM = 4, ROOM = 1 << 20 };
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

/* CRC-32 as its standard has it: a division of polynomials, bit by bit. */
static uint32_t crc_of(const unsigned char *from, int64_t n)
{
    uint32_t rest = 0xffffffff;
    for (int64_t bit = 0; bit < 8 * n; bit++) {
        uint32_t out = (rest ^ from[bit / 8] >> bit % 8) & 1;
        rest = rest >> 1 ^ (out ? 0xedb88320 : 0);
    }
    return ~rest;
}

static void seal(void)
{
    put32((int)length - CHECKSUM, (int32_t)crc_of(bytes, length - CHECKSUM));
}

/* A file of that shape. Weight i is the half whose bits are i, over and over, without Inf and NaN.
 */
static void make(const neox_config *c)
{
    const int number[8] = {c->layers, c->hidden, c->heads,     c->rotary,
                           c->mlp,    c->vocab,  c->positions, c->tied};
    put_magic("KFNEOX2\n");
    for (int i = 0; i < 8; i++)
        put32(8 + 4 * i, number[i]);
    length = HEADER + 2 * neox_weights(c) + CHECKSUM;
    for (int64_t i = 0; i < neox_weights(c); i++)
        put16(i, (unsigned)(i % 0x7c00 | (i / 0x7c00 % 2 ? 0x8000 : 0)));
    seal();
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
    const char *trouble = neox_load(path, c, &model);
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

static void refused(const char *what, const char *words)
{
    static float something;
    neox_model model = {.weights = &something};
    save();
    const char *trouble = neox_load(path, &small, &model);
    if (!trouble)
        trouble = "it was read";
    ok(strstr(trouble, words) && !strchr(trouble, '\n'), "%s: %s", what, trouble);
    ok(!model.weights, "%s: the model is empty", what);
}

/* With the checksum of what it says. */
static void refuse_number(int i, int32_t value, int32_t right)
{
    static const char *const name[] = {"layers", "hidden", "heads",     "rotary",
                                       "mlp",    "vocab",  "positions", "tied"};
    char what[64], words[128];
    snprintf(what, sizeof what, "%s %d", name[i], value);
    snprintf(words, sizeof words, "%s is %d; this program's model has %d", name[i], value, right);
    make(&small);
    put32(8 + 4 * i, value);
    seal();
    refused(what, words);
}

/* Bytes that are not those that were written: what the file says, and what was computed. */
static void refuse_changed(const char *what, uint32_t says)
{
    char words[128];
    snprintf(words, sizeof words, "its checksum is %08x, and that of its bytes %08x", says,
             crc_of(bytes, length - CHECKSUM));
    refused(what, words);
}

static void changes(void)
{
    make(&small);
    const uint32_t says = crc_of(bytes, length - CHECKSUM);
    ok(crc_of((const unsigned char *)"123456789", 9) == 0xcbf43926, "the CRC-32 of the standard");
    for (int i = 0; i < 4000; i++)
        put16(2 * i, (unsigned)(i + 1));
    refuse_changed("4000 changed weights", says);
    make(&small);
    bytes[HEADER] ^= 1;
    refuse_changed("a bit of the first weight", says);
    make(&small);
    bytes[length - CHECKSUM - 1] ^= 0x80;
    refuse_changed("a bit of the last", says);
    make(&small);
    put16(0, 1);
    put16(1, 0);
    refuse_changed("two weights that changed places", says);
    make(&small);
    put16(241, 0x7c00);
    refuse_changed("an infinity that was not written", says);
    for (int i = 0; i < 4; i++) {
        make(&small);
        bytes[length - CHECKSUM + i] ^= 0x10;
        refuse_changed("the checksum itself", says ^ 0x10u << 8 * i);
    }
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
    refused("a header without weights", "40 bytes; the shape in its header takes 19020");
    length = whole - 1;
    refused("the last byte missing", "19019 bytes; the shape in its header takes 19020");
    length = whole - 4;
    refused("no checksum", "19016 bytes; the shape in its header takes 19020");
    length = whole - 6;
    seal();
    refused("the last weights missing", "19014 bytes; the shape in its header takes 19020");
    length = whole + 1;
    refused("a byte too many", "19021 bytes; the shape in its header takes 19020");
    length = whole + 4096;
    seal();
    refused("4096 bytes too many", "23116 bytes; the shape");

    make(&small);
    bytes[6] = '1';
    refused("the format without a checksum",
            "begins with \"KFNEOX1\\x0a\"; a model begins with \"KFNEOX2\\x0a\"");
    make(&small);
    bytes[7] = '\r';
    refused("a magic that went through a text editor", "begins with \"KFNEOX2\\x0d\"");
    memset(bytes, 0, 8);
    refused("no magic", "begins with \"\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\"");
    put_magic("%s%n\\\x1b[m");
    refused("a magic to be careful with", "begins with \"%s%n\\x5c\\x1b[m\"");

    refuse_number(0, 0, 2);
    refuse_number(0, 3, 2);
    refuse_number(0, INT32_MIN, 2);
    refuse_number(1, INT32_MAX, 24);
    refuse_number(2, 1, 3);
    refuse_number(3, 2, 4);
    refuse_number(4, 0x7ffffff8, 40);
    refuse_number(5, -1, 10);
    refuse_number(6, 15, 16);
    refuse_number(7, 1, 0);
    refuse_number(7, 2, 0);

    make(&small);
    put16(241, 0x7c00);
    seal();
    refused("an infinity", "at layer 0, norm1 gain, row 0, column 1 is inf; all weights must be");
    make(&small);
    put16(240 + 4480 + 2496 + 24 + 2, 0xfc00);
    seal();
    refused("minus infinity",
            "at layer 1, up, row 1, column 2 is -inf; all weights must be finite");
    make(&small);
    put16(0, 0x7c01);
    seal();
    refused("a NaN in the first weight", "at embedding, row 0, column 0 is nan");
    make(&small);
    put16(9487, 0xffff);
    seal();
    refused("a NaN in the last weight", "at output, row 9, column 23 is");
}

/* A file that takes 4 KB of the disk, says that it is huge and is as long as that takes: nothing is
 * allocated for another model than the one that is wanted. */
static void promises(void)
{
    const neox_config huge = {1024, 2560, 32, 20, 10240, 50304, 2048, false};
    float something;
    neox_model model = {.weights = &something};
    make(&small);
    const int number[8] = {huge.layers, huge.hidden, huge.heads,     huge.rotary,
                           huge.mlp,    huge.vocab,  huge.positions, huge.tied};
    for (int i = 0; i < 8; i++)
        put32(8 + 4 * i, number[i]);
    save();
    bool long_enough = truncate(path, HEADER + 2 * neox_weights(&huge) + CHECKSUM) == 0;
    alarm(20);
    const char *trouble = neox_load(path, &small, &model);
    alarm(0);
    ok(long_enough && trouble && !model.weights &&
           strcmp(trouble, "layers is 1024; this program's model has 2") == 0,
       "a file that is 162 GB long: %s", trouble ? trouble : "read");
    save(); /* as long as the small one again */
    trouble = neox_load(path, &huge, &model);
    ok(trouble && !model.weights && strstr(trouble, "19020 bytes; the shape in its header takes 1"),
       "nor for one that is wanted and shorter: %s", trouble ? trouble : "read");
}

static void other_things(const char *folder)
{
    neox_model model;
    char name[600];
    snprintf(name, sizeof name, "%s/none.neox", folder);
    const char *trouble = neox_load(name, &small, &model);
    ok(trouble && strcmp(trouble, "cannot be opened: No such file or directory") == 0,
       "a file that is not there: %s", trouble ? trouble : "read");
    trouble = neox_load(folder, &small, &model);
    ok(trouble && strstr(trouble, "not a regular file"), "a folder: %s",
       trouble ? trouble : "read");
    snprintf(name, sizeof name, "%s/pipe", folder);
    alarm(20);
    if (mkfifo(name, 0600) == 0)
        trouble = neox_load(name, &small, &model);
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
    int unlike = 0;
    uint64_t draw = 0;
    make(&small);
    const int64_t whole = length;
    unsigned char *as_written = kf_alloc(whole, 1);
    memcpy(as_written, bytes, (size_t)whole);
    for (int n = 0; n < files; n++) {
        memcpy(bytes, as_written, (size_t)whole);
        length = whole;
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
        bool same = length == whole && memcmp(bytes, as_written, (size_t)whole) == 0;
        const char *trouble = neox_load(path, &small, &model);
        unlike += same != !trouble;
        if (trouble)
            unlike += model.weights != NULL || strchr(trouble, '\n') || strlen(trouble) < 10;
        neox_free(&model);
    }
    free(as_written);
    ok(unlike == 0, "%d damaged files: each is refused in one line, if anything changed", files);
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
    changes();
    promises();
    other_things(arguments[1]);
    damaged(4000);
    if (count > 2) {
        const neox_config of_the_steps = {6, 160, 5, 8, 640, 128, 256, false};
        neox_model model;
        const char *trouble = neox_load(arguments[2], &of_the_steps, &model);
        ok(!trouble, "%s is read%s%s", arguments[2], trouble ? ": " : "", trouble ? trouble : "");
        neox_free(&model);
    }
    return done();
}
