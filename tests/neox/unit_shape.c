/* unit_shape.c: where weights stand, counted by hand, and which shapes are refused. */
#include "harness/run/run.h"
#include "neox/neox.h"
#include "../harness/unit.h"

static const neox_config small = {2, 24, 3, 4, 40, 10, 16, false};

static void offsets(void)
{
    /* hidden 24, mlp 40, vocab 10: an embedding of 240, a layer of 4 x 24 + 72 x 24 + 72 + 24 x 24
     * + 24 + 40 x 24 + 40 + 24 x 40 + 24. */
    const struct {
        enum neox_part part;
        int64_t rows, columns, at;
    } of_layer[] = {
        {NEOX_NORM1_GAIN, 1, 24, 0},  {NEOX_NORM1_BIAS, 1, 24, 24},   {NEOX_NORM2_GAIN, 1, 24, 48},
        {NEOX_NORM2_BIAS, 1, 24, 72}, {NEOX_QKV, 72, 24, 96},         {NEOX_QKV_BIAS, 1, 72, 1824},
        {NEOX_DENSE, 24, 24, 1896},   {NEOX_DENSE_BIAS, 1, 24, 2472}, {NEOX_UP, 40, 24, 2496},
        {NEOX_UP_BIAS, 1, 40, 3456},  {NEOX_DOWN, 24, 40, 3496},      {NEOX_DOWN_BIAS, 1, 24, 4456},
    };
    bool same = true;
    for (size_t i = 0; i < sizeof of_layer / sizeof *of_layer; i++)
        for (int layer = 0; layer < 2; layer++)
            same =
                same && neox_rows(&small, of_layer[i].part) == of_layer[i].rows &&
                neox_columns(&small, of_layer[i].part) == of_layer[i].columns &&
                neox_offset(&small, layer, of_layer[i].part) == 240 + layer * 4480 + of_layer[i].at;
    ok(same, "the parts of a layer stand where counting by hand puts them");
    ok(neox_offset(&small, 1, NEOX_EMBEDDING) == 0 &&
           neox_offset(&small, 1, NEOX_FINAL_GAIN) == 9200 &&
           neox_offset(&small, 0, NEOX_FINAL_BIAS) == 9224 &&
           neox_offset(&small, 1, NEOX_OUTPUT) == 9248 && neox_weights(&small) == 9488,
       "and so do the others");
    neox_config tied = small;
    tied.tied = true;
    ok(neox_offset(&tied, 0, NEOX_OUTPUT) == 0 && neox_weights(&tied) == 9248,
       "a tied output is the embedding");
    ok(neox_bytes_read(&small) == 2.0 * (9488 - 240 + 24), "a step reads a row of the embedding");
    ok(neox_bytes_read(&tied) == 2.0 * 9248, "and all of it where it is the output as well");

    /* The published counts: Pythia-2.8B has 2 775 208 960 parameters. */
    const neox_config pythia = {32, 2560, 32, 20, 10240, 50304, 2048, false};
    ok(neox_weights(&pythia) == 2775208960, "Pythia-2.8B has 2775208960 weights: %lld",
       (long long)neox_weights(&pythia));
}

static void refused(const char *what, neox_config config, const char *words)
{
    const char *trouble = neox_config_trouble(&config);
    ok(trouble && strstr(trouble, words) && !strchr(trouble, '\n'), "%s: %s", what,
       trouble ? trouble : "taken");
}

static void troubles(void)
{
    const neox_config good[] = {
        small,
        {1, 8, 1, 0, 8, 1, 1, true},
        {1, 8, 2, 0, 8, 1, 1, false},
        {32, 2560, 32, 20, 10240, 50304, 2048, false},
        {1024, 65536, 1024, 64, 1048576, 1048576, 1048576, false},
        {1, 256, 2, 128, 8, 1, 1, false},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ok(!neox_config_trouble(&good[i]) && neox_weights(&good[i]) > 0 &&
               neox_weights(&good[i]) < INT64_MAX / 4,
           "shape %d can be run and its bytes are counted in 64 bits", (int)i);
    neox_config c;
#define WITH(member, value) (c = small, c.member = (value), c)
    refused("no layer", WITH(layers, 0), "layers is 0; 1 to 1024");
    refused("layers below 0", WITH(layers, -1), "layers is -1; 1 to");
    refused("too many layers", WITH(layers, 1025), "layers is 1025");
    refused("no hidden", WITH(hidden, 0), "hidden is 0; 8 to");
    refused("hidden below 0", WITH(hidden, -24), "hidden is -24");
    refused("hidden of 2^31 - 1", WITH(hidden, INT32_MAX), "hidden is 2147483647; 8 to 65536");
    refused("hidden 28", WITH(hidden, 28), "hidden is 28; it must be a multiple of 8");
    refused("no head", WITH(heads, 0), "heads is 0");
    refused("heads of -2^31", WITH(heads, INT32_MIN), "heads is -2147483648");
    refused("5 heads", WITH(heads, 5), "hidden is 24 and heads is 5; hidden must be a multiple");
    refused("2 dimensions a head", WITH(heads, 12), "hidden / heads must be a multiple of 4");
    refused("136 dimensions a head", WITH(hidden, 3 * 136),
            "hidden is 408 and heads is 3, so a head has 136 dimensions; kernels take 128 at most");
    refused("odd rotary", WITH(rotary, 3), "rotary is 3; it must be even");
    refused("rotary below 0", WITH(rotary, -2), "rotary is -2");
    refused("rotary beyond the head", WITH(rotary, 10), "at most hidden / heads, which is 8");
    refused("no mlp", WITH(mlp, 0), "mlp is 0");
    refused("mlp 44", WITH(mlp, 44), "mlp is 44; it must be a multiple of 8");
    refused("mlp of 2^31 - 8", WITH(mlp, INT32_MAX - 7), "mlp is 2147483640");
    refused("no vocabulary", WITH(vocab, 0), "vocab is 0");
    refused("vocabulary of 2^31 - 1", WITH(vocab, INT32_MAX), "vocab is 2147483647");
    refused("no position", WITH(positions, 0), "positions is 0");
    refused("positions below 0", WITH(positions, -1), "positions is -1");
    refused("positions of 2^31 - 1", WITH(positions, INT32_MAX), "positions is 2147483647");
#undef WITH
}

int main(void)
{
    offsets();
    troubles();
    return done();
}
