/* seeded.c: reading a row of weights, from memory or from the seed. */
#include "seeded.h"
#include "harness/problem.h"
#include <string.h>

static float made_up(const neox_model *model, enum neox_part part, int64_t row, uint64_t index)
{
    float drawn = neox_seeded_weight(model->seed, part, index);
    bool of_layer = part != NEOX_EMBEDDING && part < NEOX_FINAL_GAIN;
    if (model->kind == NEOX_FAR && part == NEOX_EMBEDDING)
        return 1900.0f + 64.0f * drawn;
    if ((model->kind == NEOX_FAR && of_layer) || (model->kind == NEOX_TIES && part == NEOX_OUTPUT))
        return 0.0f;
    if (model->kind == NEOX_LATE && part == NEOX_OUTPUT && row < NEOX_EARLY)
        return drawn / 16.0f;
    return drawn;
}

void neox_read_row(const neox_model *model, int layer, enum neox_part part, int64_t row, float *to)
{
    int64_t columns = neox_columns(&model->config, part);
    int64_t first = neox_offset(&model->config, layer, part) + row * columns;
    if (model->weights) {
        memcpy(to, model->weights + first, (size_t)columns * sizeof *to);
        return;
    }
    for (int64_t i = 0; i < columns; i++)
        to[i] = kf_round_to(KF_F16, made_up(model, part, row, (uint64_t)(first + i)));
}
