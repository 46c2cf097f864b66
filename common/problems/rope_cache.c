/* rope_cache.c: a cache of keys before the newest keys are appended, each key rotated in fp64
 * and rounded once. */
#include "rope.h"
#include <math.h>
#include <stdlib.h>

typedef struct cache {
    const kf_shape *s;
    const float *k;
    float *to;
    const double *cosines, *sines;
} cache;

static void cache_row(void *context, int64_t row)
{
    const cache *c = context;
    int D = c->s->D, half = c->s->R / 2;
    int64_t position = row % c->s->Sk;
    const float *from = c->k + row * D;
    float *to = c->to + row * D;
    bool is_new = position >= c->s->Sk - c->s->Sq;
    double *key = kf_alloc(D, sizeof *key);
    for (int d = 0; d < D; d++)
        key[d] = from[d];
    kf_rotate(true, key, c->s->R, c->cosines + position * half, c->sines + position * half);
    for (int d = 0; d < D; d++)
        to[d] = is_new ? NAN : (float)key[d];
    free(key);
}

void kf_rope_cache(kf_run *run)
{
    const kf_shape *s = &run->shape;
    const kf_tensor *k = kf_find(run, "k");
    int64_t half = s->R / 2;
    double *cosines = kf_alloc(s->Sk * half, sizeof *cosines);
    double *sines = kf_alloc(s->Sk * half, sizeof *sines);
    kf_rope_fp64(s->pos0, s->Sk, s->R, cosines, sines);
    cache c = {s, k->host, kf_zero_input(run, "k_cache", k->axes, KF_F32, k->dim)->host, cosines,
               sines};
    kf_may_write(run, "k_cache"); /* each call rotates and adds the last key */
    kf_parallel(k->rows, cache_row, &c);
    free(cosines);
    free(sines);
}
