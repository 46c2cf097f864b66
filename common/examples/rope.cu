/* rope: RoPE in plain C, with numbers that a pocket calculator can check. The chapter on attention
 * and RoPE prints them. */
#include <math.h>
#include <stdio.h>

// snippet: rotate
// Rotates x[0 .. R - 1] of a query or key of the token at position p.
static void rotate(float *x, int R, int p)
{
    for (int i = 0; i < R / 2; i++) {
        const float exponent = -2.0F * (float)i / (float)R;
        const float angle = (float)p * powf(10000.0F, exponent);
        const float a = x[i], b = x[i + R / 2];
        x[i] = a * cosf(angle) - b * sinf(angle);
        x[i + R / 2] = a * sinf(angle) + b * cosf(angle);
    }
}
// end snippet: rotate

static void print_rotations(void)
{
    printf("(1, 1, 0, 0) rotated, R = 4:\n");
    printf("p angle 0    cos    sin angle 1    cos    sin  rotated\n");
    for (int p = 0; p < 3; p++) {
        float x[4] = {1, 1, 0, 0};
        rotate(x, 4, p);
        printf("%d", p);
        for (int i = 0; i < 2; i++) {
            const float angle = (float)p * (i == 0 ? 1.0F : 0.01F);
            printf(" %7.2f %6.3f %6.3f", angle, cosf(angle), sinf(angle));
        }
        printf("  (%.3f, %.3f, %.3f, %.3f)\n", x[0], x[1], x[2], x[3]);
    }
}

static void print_product(int query_position, int key_position)
{
    float query[2] = {1, 0}, key[2] = {1, 0};
    rotate(query, 2, query_position);
    rotate(key, 2, key_position);
    printf("  query at %d: (%6.3f, %6.3f)   key at %d: (%6.3f, %6.3f)   q.k = %6.3f\n",
           query_position, query[0], query[1], key_position, key[0], key[1],
           query[0] * key[0] + query[1] * key[1]);
}

int main(void)
{
    print_rotations();
    printf("A query (1, 0) and a key (1, 0), R = 2:\n");
    print_product(1, 0);
    print_product(2, 1);
    print_product(3, 2);
    print_product(2, 0);
    return 0;
}
