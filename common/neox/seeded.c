/* seeded.c: reading a row of weights, from memory or from the seed. */
#include "seeded.h"
#include "harness/problem.h"
#include <string.h>

void neox_read_row(const neox_model *model, int layer, enum neox_part part, int64_t row, float *to)
{
    int64_t columns = neox_columns(&model->config, part);
    int64_t first = neox_offset(&model->config, layer, part) + row * columns;
    if (model->weights) {
        memcpy(to, model->weights + first, (size_t)columns * sizeof *to);
        return;
    }
    for (int64_t i = 0; i < columns; i++)
        to[i] = kf_round_to(KF_F16, neox_seeded_weight(model->seed, part, (uint64_t)(first + i)));
}
