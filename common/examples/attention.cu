/* attention: attention in plain C, for one query, with numbers that a pocket calculator can check.
 * The chapter on attention and RoPE prints them. */
#include <math.h>
#include <stdio.h>

enum { KEYS = 4, D = 2 };

static const float q[D] = {2, 1};
static const float k[KEYS][D] = {{1, 0}, {1, 1}, {0, 1}, {-1, 2}};
static const float v[KEYS][D] = {{1, 0}, {2, 0}, {3, 1}, {4, 1}};

// The softmax's steps for one query, a value per key.
static struct {
    float score[KEYS], less_max[KEYS], exponential[KEYS], probability[KEYS];
} row;

static float dot(const float *a, const float *b, int n)
{
    float sum = 0;
    for (int d = 0; d < n; d++)
        sum += a[d] * b[d];
    return sum;
}

// snippet: attention
// One query sees the first `visible` keys. The output o is a head vector.
static void attention(int visible, float *o)
{
    float largest = -INFINITY, sum = 0;
    for (int j = 0; j < visible; j++) {
        row.score[j] = dot(q, k[j], D) / sqrtf(D);
        largest = fmaxf(largest, row.score[j]);
    }
    for (int j = 0; j < visible; j++) {
        row.less_max[j] = row.score[j] - largest;
        row.exponential[j] = expf(row.less_max[j]);
        sum += row.exponential[j];
    }
    for (int d = 0; d < D; d++)
        o[d] = 0;
    for (int j = 0; j < visible; j++) {
        row.probability[j] = row.exponential[j] / sum;
        for (int d = 0; d < D; d++)
            o[d] += row.probability[j] * v[j][d];
    }
}
// end snippet: attention

static void print_attention(int visible)
{
    float o[D], sum = 0;
    attention(visible, o);
    printf("The query sees %d keys:\n", visible);
    printf("  key     q.k   score  score - max     exp    prob       value\n");
    for (int j = 0; j < visible; j++) {
        printf("    %d  %6.3f  %6.3f       %6.3f  %6.3f  %6.3f  (%.1f, %.1f)\n", j, dot(q, k[j], D),
               row.score[j], row.less_max[j], row.exponential[j], row.probability[j], v[j][0],
               v[j][1]);
        sum += row.exponential[j];
    }
    printf("  sum of exp %.3f, output (%.3f, %.3f)\n", sum, o[0], o[1]);
}

int main(void)
{
    print_attention(KEYS);
    print_attention(KEYS - 1);
    return 0;
}
