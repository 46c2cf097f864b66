/* unit_mistakes.c: outputs whose operands were in another order, and which order is found; and
 * other forms of lse. */
#include "unit.h"
#include "problems/flash_backward.h"
#include <math.h>

static const kf_program program = {.step = "00-unit"};
static const kf_case odd = {.name = "odd", .shape = {1, 2, 45, 76, 32, 0, true, 0}};
static const char *const output[] = {"dq", "dk", "dv"};
enum { OUTPUTS = 3, SIDE = 16, NONE = -1 };

/* source[r]: which register's quarter register r has; transposed: and each quarter is. */
typedef struct mixed {
    bool of_a, transposed;
    int source[4];
} mixed;

/* The element (row, column) of a block, where the registers of `a` hold rows first, those of `b`
 * terms first. */
static double element(const double *matrix, int columns, int row, int column, const mixed *how)
{
    const int r = row % SIDE / 8 + column % SIDE / 8 * 2, source = how->source[r];
    int i = row % 8, j = column % 8;
    if (source == NONE)
        return 0.0;
    if (how->transposed) {
        i = column % 8;
        j = row % 8;
    }
    return matrix[(row / SIDE * SIDE + source % 2 * 8 + i) * columns + column / SIDE * SIDE +
                  source / 2 * 8 + j];
}

/* factors [Sq][Sk] of head 1: dS, or P. */
static void factors(const kf_run *run, bool of_p, double *to)
{
    const kf_shape *s = &run->shape;
    const int D = s->D;
    const float *q = kf_find(run, "q")->host + s->Sq * D, *k = kf_find(run, "k")->host + s->Sk * D;
    const float *v = kf_find(run, "v")->host + s->Sk * D, *o = kf_find(run, "o")->host + s->Sq * D;
    const float *dout = kf_find(run, "dout")->host + s->Sq * D;
    const float *lse = kf_find(run, "lse")->host + s->Sq;
    for (int i = 0; i < s->Sq; i++)
        for (int j = 0; j < s->Sk; j++) {
            double score = 0.0, slope = 0.0;
            for (int d = 0; d < D; d++) {
                score += (double)q[i * D + d] * k[j * D + d] / sqrt(D);
                slope += (double)dout[i * D + d] * ((double)v[j * D + d] - o[i * D + d]);
            }
            const double p = j > s->Sk - s->Sq + i ? 0.0 : exp(score - lse[i]);
            to[i * s->Sk + j] = of_p ? p : p * slope;
        }
}

/* Which order is found in an output of head 1 that was made in this one, by terms that are
 * `exchanged` (0: none are) and these registers. */
static const char *order_of(int which, const mixed *how, int exchanged)
{
    static char text[512];
    kf_run run;
    kf_open(&run, &program, &odd, 5);
    kf_flash_backward_setup(&run, NULL);
    kf_flash_backward_reference(&run);
    const kf_shape *s = &run.shape;
    const kf_tensor *t = kf_find(&run, output[which]);
    const bool of_queries = which == 0;
    const int rows = of_queries ? s->Sq : s->Sk, terms = of_queries ? s->Sk : s->Sq, D = s->D;
    const int padded = (terms + SIDE - 1) / SIDE * SIDE, all_rows = (rows + SIDE - 1) / SIDE * SIDE;
    static const char *const operand[] = {"k", "q", "dout"};
    const float *x = kf_find(&run, operand[which])->host + terms * D;
    double *w = kf_alloc(s->Sq * s->Sk, sizeof *w), *a = kf_alloc(all_rows * padded, sizeof *a);
    double *b = kf_alloc(padded * D, sizeof *b);
    factors(&run, which == 2, w);
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < terms; i++)
            a[r * padded + i] = w[of_queries ? r * s->Sk + i : i * s->Sk + r];
    for (int i = 0; i < terms * D; i++)
        b[i] = x[i];
    float *values = kf_alloc(t->count, sizeof *values);
    void *raw = kf_alloc(t->count, sizeof(float));
    for (int64_t i = 0; i < t->count; i++)
        values[i] = (float)t->want[i];
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < D; c++) {
            double sum = 0.0;
            for (int i = 0; i < padded; i++) {
                const double of_a =
                    how && how->of_a ? element(a, padded, r, i, how) : a[r * padded + i];
                const int j = i ^ exchanged;
                const double of_b = how && !how->of_a ? element(b, D, i, c, how)
                                    : j < padded      ? b[j * D + c]
                                                      : 0.0;
                sum += of_a * of_b;
            }
            values[(rows + r) * D + c] = (float)(which == 2 ? sum : sum / sqrt(D));
        }
    kf_pack(t->dtype, values, raw, t->count);
    kf_diagnosis seen;
    kf_compare(t, raw, &seen);
    const int64_t first =
        ((seen.first[0] * 2 + seen.first[1]) * rows + seen.first[2]) * D + seen.first[3];
    text[0] = '\0';
    if (seen.wrong > 0)
        run.find_mistake(&run, t, raw, first, text, sizeof text);
    kf_diagnosis_free(&seen);
    free(w);
    free(a);
    free(b);
    free(values);
    free(raw);
    kf_close(&run);
    return text;
}

/* What is said of this, without the registers' meaning. */
static void expected(int which, const mixed *how, bool own, char *text, size_t size)
{
    static const char *const of_a[] = {"dS", "dS^T", "P^T"}, *const of_b[] = {"k", "q", "dout"};
    snprintf(text, size, "in each 16 x 16 of %s%s", (how->of_a ? of_a : of_b)[which],
             how->transposed ? " each quarter of 8 x 8 was transposed" : "");
    for (int r = 0; r < 4 && !own; r++) {
        const size_t length = strlen(text);
        if (r == 0)
            snprintf(text + length, size - length,
                     "%s registers 0, 1, 2, 3 held what belongs in %d",
                     how->transposed ? ", and" : "", how->source[r]);
        else if (how->source[r] == NONE)
            snprintf(text + length, size - length, ", none");
        else
            snprintf(text + length, size - length, ", %d", how->source[r]);
    }
}

static void registers(void)
{
    static const int source[][4] = {{0, 2, 1, 3}, {1, 0, 2, 3},       {0, 1, NONE, 3}, {0, 0, 2, 3},
                                    {3, 2, 1, 0}, {0, 1, NONE, NONE}, {0, 1, 2, 3}};
    enum { ORDERS = sizeof source / sizeof *source };
    for (int which = 0; which < OUTPUTS; which++)
        for (int i = 0; i < ORDERS; i++)
            for (int way = 0; way < 4; way++) {
                mixed how = {.of_a = way % 2, .transposed = way / 2};
                memcpy(how.source, source[i], sizeof how.source);
                char want[256];
                const bool own = i == ORDERS - 1;
                expected(which, &how, own, want, sizeof want);
                const char *text = order_of(which, &how, 0), *meaning = strstr(text, " (0 and 1: ");
                const size_t length = meaning ? (size_t)(meaning - text) : strlen(text);
                if (own && !how.transposed)
                    ok(!text[0], "%s is right", output[which]);
                else
                    ok(length == strlen(want) && strncmp(text, want, length) == 0, "%s: %s: %s",
                       output[which], want, text);
            }
    const mixed rows = {.of_a = true, .source = {0, 2, 1, 3}}, columns = {.source = {0, 2, 1, 3}};
    ok(strstr(order_of(0, &rows, 0),
              "(0 and 1: keys 0-7 for queries 0-7, 8-15; 2 and 3: keys 8-15)"),
       "which rows and terms registers have");
    ok(strstr(order_of(1, &columns, 0),
              "(0 and 1: queries 0-7, 8-15 in columns 0-7; 2 and 3: in columns 8-15)"),
       "which terms and columns");
}

static void terms(void)
{
    for (int which = 0; which < OUTPUTS; which++)
        for (int apart = 1; apart <= 32; apart *= 2) {
            char want[64];
            snprintf(want, sizeof want, "that are %d apart were exchanged", apart);
            const char *text = order_of(which, NULL, apart);
            ok(strstr(text, want), "%s: terms %d apart: %s", output[which], apart, text);
        }
}

/* What is said of an lse that has this form, where maximum is the largest score of a row, and sum
 * that of exp(score - maximum); rows without a key have `empty`. */
static const char *lse_of(double (*form)(double maximum, double sum, int D), double empty)
{
    static char text[512];
    static const kf_case few = {.name = "few", .shape = {1, 2, 45, 30, 32, 0, true, 0}};
    kf_run run;
    kf_open(&run, &program, &few, 5);
    kf_flash_setup(&run);
    kf_flash_reference(&run);
    const kf_shape *s = &run.shape;
    const kf_tensor *t = kf_find(&run, "lse");
    float *values = kf_alloc(t->count, sizeof *values);
    void *raw = kf_alloc(t->count, sizeof(float));
    for (int64_t row = 0; row < t->count; row++) {
        const float *q = kf_find(&run, "q")->host + row * s->D;
        const float *k = kf_find(&run, "k")->host + row / s->Sq * s->Sk * s->D;
        const int64_t keys = row % s->Sq - (s->Sq - s->Sk) + 1;
        double score[30], maximum = -INFINITY, sum = 0.0;
        for (int64_t j = 0; j < keys; j++) {
            score[j] = 0.0;
            for (int d = 0; d < s->D; d++)
                score[j] += (double)q[d] * k[j * s->D + d] / sqrt(s->D);
            maximum = fmax(maximum, score[j]);
        }
        for (int64_t j = 0; j < keys; j++)
            sum += exp(score[j] - maximum);
        values[row] = (float)(keys > 0 ? form(maximum, sum, s->D) : empty);
    }
    kf_pack(t->dtype, values, raw, t->count);
    kf_diagnosis seen;
    kf_compare(t, raw, &seen);
    text[0] = '\0';
    if (seen.wrong > 0)
        run.find_mistake(&run, t, raw, seen.first[1] * s->Sq + seen.first[2], text, sizeof text);
    kf_diagnosis_free(&seen);
    free(values);
    free(raw);
    kf_close(&run);
    return text;
}

static double right(double maximum, double sum, int D)
{
    (void)D;
    return maximum + log(sum);
}
static double no_maximum(double maximum, double sum, int D)
{
    (void)maximum, (void)D;
    return log(sum);
}
static double no_logarithm(double maximum, double sum, int D)
{
    (void)D;
    return maximum + sum;
}
static double no_sum(double maximum, double sum, int D)
{
    (void)sum, (void)D;
    return maximum;
}
static double sum_alone(double maximum, double sum, int D)
{
    (void)maximum, (void)D;
    return sum;
}
static double base_2(double maximum, double sum, int D)
{
    (void)D;
    return maximum / log(2.0) + log2(sum);
}
static double sum_base_2(double maximum, double sum, int D)
{
    (void)D;
    return maximum + log2(sum);
}
static double maximum_base_2(double maximum, double sum, int D)
{
    (void)D;
    return maximum / log(2.0) + log(sum);
}
static double not_scaled(double maximum, double sum, int D)
{
    return maximum * sqrt(D) + log(sum);
}
static double minus(double maximum, double sum, int D)
{
    (void)D;
    return maximum - log(sum);
}
static double negative(double maximum, double sum, int D)
{
    (void)D;
    return -maximum - log(sum);
}
static double infinite(double maximum, double sum, int D)
{
    (void)maximum, (void)sum, (void)D;
    return -INFINITY;
}

static void forms_of_lse(void)
{
    static const struct {
        double (*form)(double maximum, double sum, int D);
        const char *said;
    } forms[] = {
        {right, ""},
        {no_maximum, "lse is the logarithm of the sum without the maximum"},
        {no_logarithm, "lse is the maximum plus the sum itself, without its logarithm"},
        {no_sum, "lse is the maximum alone, without the logarithm of the sum"},
        {sum_alone, "lse is the sum alone, without its logarithm and without the maximum"},
        {base_2, "lse is a logarithm to base 2"},
        {sum_base_2, "lse is the maximum plus a logarithm to base 2"},
        {maximum_base_2, "lse is the natural logarithm of the sum plus the maximum times log2(e), "
                         "as if in base 2"},
        {not_scaled, "lse is the logarithm of the sum plus the maximum of q k^T, not divided by "
                     "sqrt(D)"},
        {minus, "lse is the maximum minus the logarithm of the sum"},
        {negative, "lse has the wrong sign"},
        {infinite, ""}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const char *text = lse_of(forms[i].form, -INFINITY);
        ok(strcmp(text, forms[i].said) == 0, "lse, form %zu: %s", i, text);
    }
    const char *text = lse_of(right, 0.0);
    ok(strcmp(text, "lse of a row without keys is 0, and not -Inf, the logarithm of an empty "
                    "sum") == 0,
       "lse of a row without keys: %s", text);
}

int main(void)
{
    forms_of_lse();
    registers();
    terms();
    return done();
}
