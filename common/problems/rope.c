/* rope.c: rotary position embedding in fp64 (Su et al. 2021, RoFormer, section 3.2.2), and bounds.
 *
 * Rotation. y1 = x1 cos - x2 sin, with cos and sin rounded once, has three roundings per element.
 * With g = 3 u / (1 - 3 u) for these (Higham, Accuracy and Stability of Numerical Algorithms, 2002,
 * lemma 3.1), and cos and sin each off by e more, y1 is off by at most
 *     g (|x1 cos| + |x2 sin|) + (1 + g) e (|x1| + |x2|).
 *
 * Angles in fp32. In position * powf(base, -x) with x = 2i/R, powf is off by at most 4 units in the
 * last place, 8 u (CUDA C++ Programming Guide, Mathematical Functions); rounding x adds ln(base) x
 * u, and the product u. So the angle is off by at most position base^-x (9 + 9.3 x) u, which is
 * largest at x = 0: 9 u of the position. sincosf adds 2 units in the last place of a result below
 * 1, so 4 u.
 *
 * __sincosf is documented to be within 2^-21.19 only on [-pi, pi]. Outside, the hardware
 * multiplies the angle by a rounded 1 / 2 pi and truncates the product: u and 2 u of the angle. */
#include "rope.h"
#include <math.h>
#include <stdlib.h>

enum { ROPE_BASE = 10000 };

double kf_rope_angle(int64_t position, int i, int R)
{
    return (double)position * pow(ROPE_BASE, -2.0 * i / R);
}

typedef struct table {
    int pos0, R;
    double *cosines, *sines;
    const double *frequency;
} table;

static void table_row(void *context, int64_t row)
{
    const table *t = context;
    int half = t->R / 2;
    for (int i = 0; i < half; i++) {
        double angle = (double)(t->pos0 + row) * t->frequency[i];
        t->cosines[row * half + i] = cos(angle);
        t->sines[row * half + i] = sin(angle);
    }
}

void kf_rope_fp64(int pos0, int64_t rows, int R, double *cosines, double *sines)
{
    double *frequency = kf_alloc(R / 2, sizeof *frequency);
    for (int i = 0; i < R / 2; i++)
        frequency[i] = kf_mistake == KF_ONE_FREQUENCY   ? 1.0
                       : kf_mistake == KF_HALF_EXPONENT ? sqrt(kf_rope_angle(1, i, R))
                                                        : kf_rope_angle(1, i, R);
    table t = {pos0, R, cosines, sines, frequency};
    kf_parallel(rows, table_row, &t);
    free(frequency);
}

int64_t kf_mistaken_position(bool is_key, int64_t position, int64_t first)
{
    if (is_key && kf_mistake >= KF_KEYS_IN_TILE_32 && kf_mistake <= KF_KEYS_IN_TILE_128)
        return position % (32 << (kf_mistake - KF_KEYS_IN_TILE_32));
    return !is_key && kf_mistake == KF_QUERIES_FROM_FIRST ? position - first : position;
}

void kf_rotate_pair(bool is_key, double cosine, double sine, double *first, double *second)
{
    const bool mistaken = kf_mistaken == KF_BOTH || kf_mistaken == (is_key ? KF_KEYS : KF_QUERIES);
    const double a = *first, b = *second, c = cosine, s = sine;
    *first = a * c - b * s;
    *second = b * c + a * s;
    switch (mistaken ? kf_mistake : KF_NO_MISTAKE) {
    case KF_EXCHANGED:
        *first = a * s - b * c;
        *second = b * s + a * c;
        break;
    case KF_OTHER_WAY:
        *first = a * c + b * s;
        *second = b * c - a * s;
        break;
    case KF_PLUS:
        *first = a * c + b * s;
        break;
    case KF_MINUS:
        *second = b * c - a * s;
        break;
    case KF_OWN_HALF:
        *first = a * c + a * s;
        *second = b * c - b * s;
        break;
    case KF_EACH_OTHER:
        *first = b * c + a * s;
        *second = a * c - b * s;
        break;
    case KF_TWICE:
        *first = a * (c * c - s * s) - b * 2.0 * c * s;
        *second = b * (c * c - s * s) + a * 2.0 * c * s;
        break;
    case KF_NOT_ROTATED:
        *first = a;
        *second = b;
        break;
    default:
        break;
    }
}

void kf_rotate(bool is_key, double *x, int R, const double *cosines, const double *sines)
{
    int half = R / 2;
    bool neighbours = kf_mistake == KF_NEIGHBOURS;
    for (int i = 0; i < half; i++) {
        double *first = x + (neighbours ? 2 * i : i);
        kf_rotate_pair(is_key, cosines[i], sines[i], first, first + (neighbours ? 1 : half));
    }
}

void kf_rope_tables(kf_run *run)
{
    const kf_shape *s = &run->shape;
    if (s->R < 0 || s->R % 2)
        kf_die(KF_WRONG, "case %s: R = %d has no tables; an even number is right", run->c->name,
               s->R);
    int64_t positions = s->Sq > s->Sk ? s->Sq : s->Sk;
    int64_t dim[2] = {s->R > 0 ? positions : 1, s->R > 0 ? s->R / 2 : 1};
    kf_tensor *cosines = kf_zero_input(run, "cos", "PR", KF_F32, dim);
    kf_tensor *sines = kf_zero_input(run, "sin", "PR", KF_F32, dim);
    double *c = kf_alloc(cosines->count, sizeof *c), *si = kf_alloc(cosines->count, sizeof *si);
    c[0] = 1.0; /* R = 0: one entry that rotates by 0 */
    if (s->R > 0)
        kf_rope_fp64(s->pos0, dim[0], s->R, c, si);
    for (int64_t i = 0; i < cosines->count; i++) {
        cosines->host[i] = (float)c[i];
        sines->host[i] = (float)si[i];
    }
    free(c);
    free(si);
}

double kf_fp32_angle_error(const kf_shape *s, bool fast)
{
    double u = kf_unit_roundoff(KF_F32), positions = s->Sq > s->Sk ? s->Sq : s->Sk;
    double last = s->pos0 + positions - 1.0;
    return 9.0 * u * last + (fast ? exp2(-21.19) + 3.0 * u * last : 4.0 * u);
}

double kf_rotation_error(double x1, double x2, double c, double s, double u, double angle_error)
{
    double g = 3.0 * u / (1.0 - 3.0 * u);
    if (kf_mistake != KF_NO_MISTAKE) /* which may multiply each by either */
        c = s = 1.0;
    return g * (fabs(x1 * c) + fabs(x2 * s)) + (1.0 + g) * angle_error * (fabs(x1) + fabs(x2));
}
