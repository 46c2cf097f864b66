/* mma, ldmatrix, stmatrix: matrices in the registers of a warp. product.c multiplies.
 *
 * A matrix of 8 rows of 16 bytes is spread over a warp: lane 4 g + t has the 32 bits of row g
 * from byte 4 t on. A larger matrix consists of several of these, each in its own register. */
#include "ptx/handlers/handler.h"
#include "base/plural.h"
#include "device/units/product.h"
#include "base/formats.h"

#include <math.h>
#include <string.h>

static void need_whole_warp(struct worker *w, const ptx_insn *i, unsigned lanes)
{
    const struct thread *t = &w->threads[w->now];
    if (lanes != ~0u)
        fault_stop(w, FAULT_DIVERGENCE, cudaErrorLaunchFailure,
                   "%s:%d: %s by warp %d, which has %d thread%s: need a whole warp of 32", t->file,
                   t->line, i->text, (int)w->now / WARP, __builtin_popcount(lanes),
                   plural(__builtin_popcount(lanes)));
}

static uint32_t get(const ptx_insn *i, int operand, int part, const uint64_t *reg)
{
    return (uint32_t)ptx_get(ptx_part(&i->operand[operand], part), reg);
}

/* Operands: D, A, B, C. A has 16 rows, in 2 by k / 8 matrices, column after column. B is k / 8
 * matrices; a row of such a matrix is a column of B. An element of tf32 takes 32 bits, of which
 * 13 are ignored. */
void ptx_mma(struct worker *w, const ptx_insn *i, uint64_t *const reg[32], unsigned lanes)
{
    const int words = ptx_has(i, PTX_M_m16n8k16)  ? 8
                      : ptx_has(i, PTX_M_m16n8k4) ? 4
                      : i->type[1] == PTX_TF32    ? 8
                                                  : 4;
    const int halves = i->type[1] == PTX_TF32 ? 1 : 2, k = words * halves;
    const int half_sums = i->type[0] == PTX_F16;
    uint32_t a[PRODUCT_ROWS * PRODUCT_K], b[PRODUCT_K * PRODUCT_COLUMNS];
    uint32_t c[PRODUCT_ROWS * PRODUCT_COLUMNS], d[PRODUCT_ROWS * PRODUCT_COLUMNS];
    need_whole_warp(w, i, lanes);
    TRACE_COUNT(mma(w, 2ull * PRODUCT_ROWS * PRODUCT_COLUMNS * (unsigned)k));
    for (int lane = 0; lane < WARP; lane++) {
        const int g = lane / 4, t = lane % 4;
        for (int p = 0; p < words / 2; p++) {
            uint32_t v = get(i, 1, p, reg[lane]), *to = a + (g + p % 2 * 8) * k;
            to += (p / 2 * 4 + t) * halves;
            if (halves == 1)
                to[0] = v & ~0x1fffu;
            else
                to[0] = v & 0xffff, to[1] = v >> 16;
        }
        for (int p = 0; p < words / 4; p++) {
            uint32_t v = get(i, 2, p, reg[lane]);
            uint32_t *to = b + (p * 4 + t) * halves * PRODUCT_COLUMNS + g;
            if (halves == 1)
                to[0] = v & ~0x1fffu;
            else
                to[0] = v & 0xffff, to[PRODUCT_COLUMNS] = v >> 16;
        }
        for (int p = 0; p < (half_sums ? 2 : 4); p++) {
            uint32_t v = get(i, 3, p, reg[lane]), *to = c + t * 2;
            if (half_sums) {
                to += (g + p * 8) * PRODUCT_COLUMNS;
                to[0] = v & 0xffff, to[1] = v >> 16;
            } else {
                to[(g + p / 2 * 8) * PRODUCT_COLUMNS + p % 2] = v;
            }
        }
    }
    product(i->type[1], i->type[0], k, a, b, c, d);
    for (int lane = 0; lane < WARP; lane++) {
        const int g = lane / 4, t = lane % 4;
        for (int p = 0; p < (half_sums ? 2 : 4); p++) {
            const uint32_t *from = d + (g + (half_sums ? p : p / 2) * 8) * PRODUCT_COLUMNS + t * 2;
            ptx_set(ptx_part(&i->operand[0], p), reg[lane],
                    half_sums ? from[0] | from[1] << 16 : from[p % 2]);
        }
    }
}

/* The same for bytes, four per register, with 32-bit sums that wrap around or saturate. */
void ptx_mma_bytes(struct worker *w, const ptx_insn *i, uint64_t *const reg[32], unsigned lanes)
{
    const int words = ptx_has(i, PTX_M_m16n8k32) ? 8 : 4, k = words * 4;
    int16_t a[PRODUCT_ROWS][32] = {{0}}, b[PRODUCT_COLUMNS][32] = {{0}};
    int32_t d[PRODUCT_ROWS][PRODUCT_COLUMNS];
    need_whole_warp(w, i, lanes);
    TRACE_COUNT(mma(w, 2ull * PRODUCT_ROWS * PRODUCT_COLUMNS * (unsigned)k));
    for (int lane = 0; lane < WARP; lane++) {
        const int g = lane / 4, t = lane % 4;
        for (int p = 0; p < words / 2 + words / 4; p++) {
            const int of_b = p >= words / 2, q = of_b ? p - words / 2 : p;
            const uint32_t v = get(i, of_b ? 2 : 1, q, reg[lane]);
            int16_t *to = of_b ? b[g] + (q * 4 + t) * 4 : a[g + q % 2 * 8] + (q / 2 * 4 + t) * 4;
            for (int e = 0; e < 4; e++)
                to[e] = i->type[1 + of_b] == PTX_S8 ? (int8_t)(v >> 8 * e) : (uint8_t)(v >> 8 * e);
        }
    }
    for (int row = 0; row < PRODUCT_ROWS; row++)
        for (int column = 0; column < PRODUCT_COLUMNS; column++) {
            int32_t sum = 0;
            for (int l = 0; l < k; l++)
                sum += a[row][l] * b[column][l];
            d[row][column] = sum;
        }
    for (int lane = 0; lane < WARP; lane++)
        for (int p = 0; p < 4; p++) {
            int64_t sum = d[lane / 4 + p / 2 * 8][lane % 4 * 2 + p % 2];
            sum += (int32_t)get(i, 3, p, reg[lane]);
            if (ptx_has(i, PTX_M_satfinite))
                sum = sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
            ptx_set(ptx_part(&i->operand[0], p), reg[lane], (uint32_t)sum);
        }
}

/* 8 by 8 by 4. A lane has one element of A, one of B, and two adjacent ones of C. */
void ptx_mma_double(struct worker *w, const ptx_insn *i, uint64_t *const reg[32], unsigned lanes)
{
    double a[WARP], b[WARP];
    need_whole_warp(w, i, lanes);
    TRACE_COUNT(mma(w, 2ull * 8 * 8 * 4));
    for (int lane = 0; lane < WARP; lane++) {
        a[lane] = ptx_double(ptx_get(ptx_part(&i->operand[1], 0), reg[lane]));
        b[lane] = ptx_double(ptx_get(ptx_part(&i->operand[2], 0), reg[lane]));
    }
    for (int lane = 0; lane < WARP; lane++) {
        double sum[2];
        for (int p = 0; p < 2; p++) {
            const int row = lane / 4, column = lane % 4 * 2 + p;
            sum[p] = ptx_double(ptx_get(ptx_part(&i->operand[3], p), reg[lane]));
            for (int k = 0; k < 4; k++)
                sum[p] = fma(a[row * 4 + k], b[column * 4 + k], sum[p]);
        }
        for (int p = 0; p < 2; p++)
            ptx_set(ptx_part(&i->operand[0], p), reg[lane], ptx_double_bits(sum[p]));
    }
}

/* The rows at the addresses of lanes. Those of matrix m come from lanes 8 m to 8 m + 7. */
static int rows_of(struct worker *w, const ptx_insn *i, int operand, uint64_t *const reg[32],
                   char *rows[32])
{
    const int n = ptx_has(i, PTX_M_x4) ? 4 : ptx_has(i, PTX_M_x2) ? 2 : 1;
    const enum ptx_space space =
        ptx_has(i, PTX_M_shared) || ptx_has(i, PTX_M_shared_cta) ? PTX_SHARED : PTX_GENERIC;
    for (int l = 0; l < 8 * n; l++)
        rows[l] = ptx_pointer(w, l, i, space, ptx_address(&i->operand[operand], reg[l]), 16);
    for (int l = 8 * n; l < 32; l++)
        rows[l] = NULL;
    return n;
}

/* Element `half` of the two that a lane has of a matrix. */
static char *element(char *const rows[8], int lane, int half, int transposed)
{
    return transposed ? rows[lane % 4 * 2 + half] + lane / 4 * 2
                      : rows[lane / 4] + lane % 4 * 4 + half * 2;
}

void ptx_ldmatrix(struct worker *w, const ptx_insn *i, uint64_t *const reg[32], unsigned lanes)
{
    char *rows[32];
    const int transposed = ptx_has(i, PTX_M_trans);
    need_whole_warp(w, i, lanes);
    const int n = rows_of(w, i, 1, reg, rows);
    TRACE(matrix(w, TRACE_LDMATRIX, (void *const *)rows, n, transposed));
    uint32_t v[4][32];
    for (int m = 0; m < n; m++)
        for (int l = 0; l < WARP; l++) {
            uint16_t half[2];
            for (int h = 0; h < 2; h++)
                memcpy(&half[h], element(rows + 8 * m, l, h, transposed), 2);
            v[m][l] = half[0] | (uint32_t)half[1] << 16;
        }
    /* Last, as a lane's address may be in a register that is written. */
    for (int m = 0; m < n; m++)
        for (int l = 0; l < WARP; l++)
            ptx_set(ptx_part(&i->operand[0], m), reg[l], v[m][l]);
}

void ptx_stmatrix(struct worker *w, const ptx_insn *i, uint64_t *const reg[32], unsigned lanes)
{
    char *rows[32];
    const int transposed = ptx_has(i, PTX_M_trans);
    need_whole_warp(w, i, lanes);
    const int n = rows_of(w, i, 0, reg, rows);
    TRACE(matrix(w, TRACE_STMATRIX, (void *const *)rows, n, transposed));
    for (int m = 0; m < n; m++)
        for (int l = 0; l < WARP; l++) {
            uint32_t v = get(i, 1, m, reg[l]);
            for (int h = 0; h < 2; h++) {
                uint16_t half = (uint16_t)(v >> 16 * h);
                memcpy(element(rows + 8 * m, l, h, transposed), &half, 2);
            }
        }
}
