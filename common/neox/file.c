/* file.c: reads a model from a file. Refuses a file that differs from its header, has another
 * model than the wanted one, or was changed after it was written. */
#define _DEFAULT_SOURCE
#include "neox.h"
#include "harness/problem.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC = 8, NUMBERS = 8, HEADER = MAGIC + 4 * NUMBERS, CHECKSUM = 4 };
static const char magic[MAGIC + 1] = "KFNEOX2\n";

static const char *refused(const char *format, ...) KF_PRINTF(1, 2);
static const char *refused(const char *format, ...)
{
    static char line[256]; /* numbers and short words; the caller adds the path */
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return line;
}

static uint32_t little_endian(const unsigned char *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

/* The CRC-32 of zlib, PNG and Ethernet: bits in reverse order, all inverted before and after.
 * crc: the CRC of the bytes before, 0 at first. */
static uint32_t crc32_of(uint32_t crc, const unsigned char *bytes, size_t n)
{
    static uint32_t of_byte[256];
    for (uint32_t i = 0; of_byte[255] == 0 && i < 256; i++) {
        uint32_t rest = i;
        for (int bit = 0; bit < 8; bit++)
            rest = rest >> 1 ^ (rest & 1 ? 0xedb88320 : 0);
        of_byte[i] = rest;
    }
    crc = ~crc;
    for (size_t i = 0; i < n; i++)
        crc = crc >> 8 ^ of_byte[(crc ^ bytes[i]) & 255];
    return ~crc;
}

/* Reads exactly `size` bytes. Returns false if the file ends before (errno is 0) or cannot be
 * read. */
static bool read_whole(int file, void *to, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = read(file, (char *)to + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            errno = 0;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static const char *unreadable(void)
{
    if (errno == 0)
        return "it became shorter while it was read; write it anew";
    return refused("cannot be read: %s", strerror(errno));
}

/* A line with the layer, part, row and column of a weight that is not finite. */
static const char *not_finite(const neox_config *c, int64_t index, float value)
{
    static const char *const name[NEOX_PARTS] = {
        "embedding", "norm1 gain", "norm1 bias", "norm2 gain", "norm2 bias", "qkv",
        "qkv bias",  "dense",      "dense bias", "up",         "up bias",    "down",
        "down bias", "final gain", "final bias", "output"};
    enum neox_part in_part = NEOX_EMBEDDING;
    int in_layer = 0;
    for (int layer = 0; layer < c->layers; layer++)
        for (int i = 0; i < (c->tied ? NEOX_OUTPUT : NEOX_PARTS); i++) {
            enum neox_part part = (enum neox_part)i;
            int64_t within = index - neox_offset(c, layer, part);
            if (within >= 0 && within < neox_rows(c, part) * neox_columns(c, part)) {
                in_layer = layer;
                in_part = part;
            }
        }
    int64_t within = index - neox_offset(c, in_layer, in_part), columns = neox_columns(c, in_part);
    char layer[24] = "";
    if (in_part >= NEOX_NORM1_GAIN && in_part <= NEOX_DOWN_BIAS)
        snprintf(layer, sizeof layer, "layer %d, ", in_layer);
    return refused("the weight at %s%s, row %" PRId64 ", column %" PRId64
                   " is %g; all weights must be finite",
                   layer, name[in_part], within / columns, within % columns, (double)value);
}

/* *crc becomes the CRC of the header. */
static const char *read_header(int file, int64_t size, const neox_config *want, uint32_t *crc)
{
    static const char *const name[NUMBERS] = {"layers", "hidden", "heads",     "rotary",
                                              "mlp",    "vocab",  "positions", "tied"};
    const int32_t wanted[NUMBERS] = {want->layers, want->hidden, want->heads,     want->rotary,
                                     want->mlp,    want->vocab,  want->positions, want->tied};
    unsigned char header[HEADER];
    if (size < HEADER)
        return refused("%" PRId64 " bytes; the header alone has %d", size, HEADER);
    if (!read_whole(file, header, HEADER))
        return unreadable();
    if (memcmp(header, magic, MAGIC) != 0) {
        char seen[4 * MAGIC + 1] = "";
        for (int i = 0; i < MAGIC; i++) {
            bool plain = header[i] >= ' ' && header[i] <= '~' && header[i] != '\\';
            snprintf(seen + strlen(seen), 5, plain ? "%c" : "\\x%02x", header[i]);
        }
        return refused("begins with \"%s\"; a model begins with \"KFNEOX2\\x0a\"", seen);
    }
    for (int i = 0; i < NUMBERS; i++) {
        int32_t number = (int32_t)little_endian(header + MAGIC + 4 * i);
        if (number != wanted[i])
            return refused("%s is %" PRId32 "; this program's model has %" PRId32, name[i], number,
                           wanted[i]);
    }
    int64_t bytes = HEADER + 2 * neox_weights(want) + CHECKSUM;
    if (size != bytes)
        return refused("%" PRId64 " bytes; the shape in its header takes %" PRId64, size, bytes);
    *crc = crc32_of(0, header, HEADER);
    return NULL;
}

/* Looks for weights that are not finite only after the checksum: then they were written so. */
static const char *read_weights(int file, uint32_t crc, neox_model *model)
{
    enum { PIECE = 1 << 14 };
    static unsigned char piece[2 * PIECE];
    int64_t count = neox_weights(&model->config);
    model->weights = (float *)kf_alloc(count, sizeof *model->weights);
    for (int64_t done = 0; done < count;) {
        int64_t n = count - done < PIECE ? count - done : PIECE;
        if (!read_whole(file, piece, 2 * (size_t)n))
            return unreadable();
        crc = crc32_of(crc, piece, 2 * (size_t)n);
        for (int64_t i = 0; i < n; i++, done++) {
            uint16_t half = (uint16_t)(piece[2 * i] | piece[2 * i + 1] << 8);
            model->weights[done] = kf_unpack(KF_F16, &half, 0);
        }
    }
    if (!read_whole(file, piece, CHECKSUM))
        return unreadable();
    if (little_endian(piece) != crc)
        return refused("its checksum is %08" PRIx32 ", and that of its bytes %08" PRIx32
                       "; it was changed since it was written: copy it anew",
                       little_endian(piece), crc);
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(model->weights[i]))
            return not_finite(&model->config, i, model->weights[i]);
    return NULL;
}

const char *neox_load(const char *path, const neox_config *want, neox_model *model)
{
    *model = (neox_model){.config = *want};
    int file = open(path, O_RDONLY | O_NONBLOCK); /* must not wait for the writer of a pipe */
    if (file < 0)
        return refused("cannot be opened: %s", strerror(errno));
    struct stat about;
    uint32_t crc = 0;
    const char *trouble = NULL;
    if (fstat(file, &about) != 0)
        trouble = unreadable();
    else if (!S_ISREG(about.st_mode))
        trouble = "not a regular file; name the file of a model";
    else
        trouble = read_header(file, about.st_size, want, &crc);
    if (!trouble)
        trouble = read_weights(file, crc, model);
    close(file);
    if (trouble)
        neox_free(model);
    return trouble;
}

void neox_free(neox_model *model)
{
    free(model->weights);
    *model = (neox_model){.weights = NULL};
}
