/* file.c: reads a model from a file, and refuses one that is not exactly what its header says. */
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

enum { MAGIC = 8, NUMBERS = 8, HEADER = MAGIC + 4 * NUMBERS };
static const char magic[MAGIC + 1] = "KFNEOX1\n";

static char line[512];

static const char *refused(const char *format, ...) KF_PRINTF(1, 2);
static const char *refused(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return line;
}

static int32_t little_endian(const unsigned char *from)
{
    uint32_t bits =
        from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
    int32_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* All of size bytes; false: the file ends before, or cannot be read, and errno says which. */
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

static const char *unreadable(const char *path)
{
    if (errno == 0)
        return refused("%s: it became shorter while it was read; write it anew", path);
    return refused("%s: cannot be read: %s", path, strerror(errno));
}

/* Where a weight stands, for whoever looks for it. */
static const char *not_finite(const char *path, const neox_config *c, int64_t index, float value)
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
    return refused("%s: the weight at %s%s, row %" PRId64 ", column %" PRId64
                   " is %g; all weights must be finite",
                   path, layer, name[in_part], within / columns, within % columns, (double)value);
}

static const char *read_header(const char *path, int file, int64_t size, neox_config *config)
{
    unsigned char header[HEADER];
    if (size < HEADER)
        return refused("%s: %" PRId64 " bytes; the header alone has %d", path, size, HEADER);
    if (!read_whole(file, header, HEADER))
        return unreadable(path);
    if (memcmp(header, magic, MAGIC) != 0) {
        char seen[4 * MAGIC + 1] = "";
        for (int i = 0; i < MAGIC; i++) {
            bool plain = header[i] >= ' ' && header[i] <= '~' && header[i] != '\\';
            snprintf(seen + strlen(seen), 5, plain ? "%c" : "\\x%02x", header[i]);
        }
        return refused("%s: begins with \"%s\"; a model begins with \"KFNEOX1\\x0a\"", path, seen);
    }
    int32_t number[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        number[i] = little_endian(header + MAGIC + 4 * i);
    *config = (neox_config){number[0], number[1], number[2], number[3],
                            number[4], number[5], number[6], number[7] == 1};
    const char *trouble = neox_config_trouble(config);
    if (trouble)
        return refused("%s: %s", path, trouble);
    if (number[7] != 0 && number[7] != 1)
        return refused("%s: tied is %d; it must be 0 or 1", path, number[7]);
    int64_t wanted = HEADER + 2 * neox_weights(config);
    if (size != wanted)
        return refused("%s: %" PRId64 " bytes; the shape in its header takes %" PRId64, path, size,
                       wanted);
    return NULL;
}

static const char *read_weights(const char *path, int file, neox_model *model)
{
    enum { PIECE = 1 << 14 };
    static unsigned char piece[2 * PIECE];
    int64_t count = neox_weights(&model->config);
    model->weights = (float *)kf_alloc(count, sizeof *model->weights);
    for (int64_t done = 0; done < count;) {
        int64_t n = count - done < PIECE ? count - done : PIECE;
        if (!read_whole(file, piece, 2 * (size_t)n))
            return unreadable(path);
        for (int64_t i = 0; i < n; i++, done++) {
            uint16_t half = (uint16_t)(piece[2 * i] | piece[2 * i + 1] << 8);
            model->weights[done] = kf_unpack(KF_F16, &half, 0);
            if (!isfinite(model->weights[done]))
                return not_finite(path, &model->config, done, model->weights[done]);
        }
    }
    return NULL;
}

const char *neox_load(const char *path, neox_model *model)
{
    *model = (neox_model){.weights = NULL};
    int file = open(path, O_RDONLY | O_NONBLOCK); /* a pipe without a writer must not wait */
    if (file < 0)
        return refused("%s: cannot be opened: %s", path, strerror(errno));
    struct stat about;
    const char *trouble = NULL;
    if (fstat(file, &about) != 0)
        trouble = unreadable(path);
    else if (!S_ISREG(about.st_mode))
        trouble = refused("%s: not a regular file; name the file of a model", path);
    else
        trouble = read_header(path, file, about.st_size, &model->config);
    if (!trouble)
        trouble = read_weights(path, file, model);
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
