/* shape.c: the place of each weight of a GPT-NeoX, the amount to read, and the shapes that can
 * run. */
#include "neox.h"
#include <stdio.h>

static bool is_of_a_layer(enum neox_part part)
{
    return part >= NEOX_NORM1_GAIN && part <= NEOX_DOWN_BIAS;
}

/* A vector counts as one row. */
int64_t neox_rows(const neox_config *config, enum neox_part part)
{
    switch (part) {
    case NEOX_EMBEDDING:
    case NEOX_OUTPUT:
        return config->vocab;
    case NEOX_QKV:
        return 3 * (int64_t)config->hidden;
    case NEOX_DENSE:
    case NEOX_DOWN:
        return config->hidden;
    case NEOX_UP:
        return config->mlp;
    default:
        return 1;
    }
}

int64_t neox_columns(const neox_config *config, enum neox_part part)
{
    switch (part) {
    case NEOX_QKV_BIAS:
        return 3 * (int64_t)config->hidden;
    case NEOX_UP_BIAS:
    case NEOX_DOWN:
        return config->mlp;
    default:
        return config->hidden;
    }
}

static int64_t elements(const neox_config *config, enum neox_part first, enum neox_part end)
{
    int64_t sum = 0;
    for (int part = first; part < (int)end; part++)
        sum += neox_rows(config, (enum neox_part)part) * neox_columns(config, (enum neox_part)part);
    return sum;
}

int64_t neox_offset(const neox_config *config, int layer, enum neox_part part)
{
    if (part == NEOX_EMBEDDING || (part == NEOX_OUTPUT && config->tied))
        return 0;
    int64_t before = elements(config, NEOX_EMBEDDING, NEOX_NORM1_GAIN);
    int64_t a_layer = elements(config, NEOX_NORM1_GAIN, NEOX_FINAL_GAIN);
    if (is_of_a_layer(part))
        return before + layer * a_layer + elements(config, NEOX_NORM1_GAIN, part);
    return before + config->layers * a_layer + elements(config, NEOX_FINAL_GAIN, part);
}

int64_t neox_weights(const neox_config *config)
{
    enum neox_part last = config->tied ? NEOX_FINAL_BIAS : NEOX_OUTPUT;
    return neox_offset(config, 0, last) + elements(config, last, (enum neox_part)(last + 1));
}

double neox_bytes_read(const neox_config *config)
{
    int64_t count = neox_weights(config);
    if (!config->tied)
        count -= elements(config, NEOX_EMBEDDING, NEOX_NORM1_GAIN) - config->hidden;
    return 2.0 * (double)count;
}

/* With these limits no count of weights, of cached keys or of bytes comes near 2^63. */
enum {
    MOST_LAYERS = 1 << 10,
    MOST_HEADS = 1 << 10,
    MOST_HIDDEN = 1 << 16,
    MOST_MLP = 1 << 20,
    MOST_VOCAB = 1 << 20,
    MOST_POSITIONS = 1 << 20
};

const char *neox_config_trouble(const neox_config *c)
{
    static char line[160];
    const struct {
        const char *name;
        int value, least, most;
    } size[] = {{"layers", c->layers, 1, MOST_LAYERS},
                {"hidden", c->hidden, 8, MOST_HIDDEN},
                {"heads", c->heads, 1, MOST_HEADS},
                {"rotary", c->rotary, 0, MOST_HIDDEN},
                {"mlp", c->mlp, 8, MOST_MLP},
                {"vocab", c->vocab, 1, MOST_VOCAB},
                {"positions", c->positions, 1, MOST_POSITIONS}};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        if (size[i].value < size[i].least || size[i].value > size[i].most) {
            snprintf(line, sizeof line, "%s is %d; %d to %d can be run", size[i].name,
                     size[i].value, size[i].least, size[i].most);
            return line;
        }
    if (c->hidden % 8 != 0) {
        snprintf(line, sizeof line, "hidden is %d; it must be a multiple of 8", c->hidden);
        return line;
    }
    if (c->mlp % 8 != 0) {
        snprintf(line, sizeof line, "mlp is %d; it must be a multiple of 8", c->mlp);
        return line;
    }
    if (c->hidden % c->heads != 0) {
        snprintf(line, sizeof line,
                 "hidden is %d and heads is %d; hidden must be a multiple of heads", c->hidden,
                 c->heads);
        return line;
    }
    if (c->hidden / c->heads % 4 != 0) {
        snprintf(line, sizeof line,
                 "hidden is %d and heads is %d; hidden / heads must be a multiple of 4", c->hidden,
                 c->heads);
        return line;
    }
    if (c->hidden / c->heads > NEOX_MOST_WIDTH) {
        snprintf(
            line, sizeof line,
            "hidden is %d and heads is %d, so a head has %d dimensions; kernels take %d at most",
            c->hidden, c->heads, c->hidden / c->heads, NEOX_MOST_WIDTH);
        return line;
    }
    if (c->rotary % 2 != 0 || c->rotary > c->hidden / c->heads) {
        snprintf(line, sizeof line,
                 "rotary is %d; it must be even and at most hidden / heads, which is %d", c->rotary,
                 c->hidden / c->heads);
        return line;
    }
    return NULL;
}
