// ldmatrix and stmatrix: which lane has which element, for rows at any places. The host moves the
// same elements by the rule in PTX's manual.
#include "record.h"

enum { ROWS = 64, LOADS = 6, STORES = 6, CASES = 8 };

static const char *const names[] = {"ldmatrix.x1",       "ldmatrix.x2",       "ldmatrix.x4",
                                    "ldmatrix.x1.trans", "ldmatrix.x2.trans", "ldmatrix.x4.trans",
                                    "stmatrix.x1",       "stmatrix.x2",       "stmatrix.x4",
                                    "stmatrix.x1.trans", "stmatrix.x2.trans", "stmatrix.x4.trans"};

#define LDMATRIX(mode) "ldmatrix.sync.aligned.m8n8" mode ".b16"
#define STMATRIX(mode) "stmatrix.sync.aligned.m8n8" mode ".b16"

// One warp. in [ROWS][4] words to start with, place [CASES][32] the row that each lane names;
// regs [CASES][LOADS][4][32], and after each store all of the rows, out [CASES][STORES][ROWS * 4].
__global__ void move(const uint32_t *in, const int *place, uint32_t *regs, uint32_t *out)
{
    __shared__ alignas(16) uint32_t rows[ROWS * 4];
    const int lane = threadIdx.x;
    for (int n = 0; n < CASES; n++) {
        for (int i = lane; i < ROWS * 4; i += 32)
            rows[i] = in[i];
        __syncwarp();
        uint32_t at = (uint32_t)__cvta_generic_to_shared(rows + place[n * 32 + lane] * 4);
        uint32_t r[LOADS][4] = {};
        asm volatile(LDMATRIX(".x1.shared") " {%0}, [%1];" : "=r"(r[0][0]) : "r"(at) : "memory");
        asm volatile(LDMATRIX(".x2.shared") " {%0, %1}, [%2];"
                     : "=r"(r[1][0]), "=r"(r[1][1])
                     : "r"(at)
                     : "memory");
        asm volatile(LDMATRIX(".x4.shared") " {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[2][0]), "=r"(r[2][1]), "=r"(r[2][2]), "=r"(r[2][3])
                     : "r"(at)
                     : "memory");
        asm volatile(LDMATRIX(".x1.trans.shared::cta") " {%0}, [%1];"
                     : "=r"(r[3][0])
                     : "r"(at)
                     : "memory");
        asm volatile(LDMATRIX(".x2.trans.shared") " {%0, %1}, [%2];"
                     : "=r"(r[4][0]), "=r"(r[4][1])
                     : "r"(at)
                     : "memory");
        asm volatile(LDMATRIX(".x4.trans.shared") " {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[5][0]), "=r"(r[5][1]), "=r"(r[5][2]), "=r"(r[5][3])
                     : "r"(at)
                     : "memory");
        for (int i = 0; i < LOADS * 4; i++)
            regs[(n * LOADS * 4 + i) * 32 + lane] = r[i / 4][i % 4];
        uint32_t v[4];
        for (int i = 0; i < 4; i++)
            v[i] = in[(lane * 4 + i) % (ROWS * 4)] * 2654435761u;
        for (int s = 0; s < STORES; s++) {
            for (int i = lane; i < ROWS * 4; i += 32)
                rows[i] = 0;
            __syncwarp();
            if (s == 0)
                asm volatile(STMATRIX(".x1.shared") " [%0], {%1};" ::"r"(at), "r"(v[0]) : "memory");
            else if (s == 1)
                asm volatile(STMATRIX(".x2.shared") " [%0], {%1, %2};" ::"r"(at), "r"(v[0]),
                             "r"(v[1])
                             : "memory");
            else if (s == 2)
                asm volatile(STMATRIX(".x4.shared") " [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v[0]),
                             "r"(v[1]), "r"(v[2]), "r"(v[3])
                             : "memory");
            else if (s == 3)
                asm volatile(STMATRIX(".x1.trans.shared") " [%0], {%1};" ::"r"(at), "r"(v[0])
                             : "memory");
            else if (s == 4)
                asm volatile(STMATRIX(".x2.trans.shared::cta") " [%0], {%1, %2};" ::"r"(at),
                             "r"(v[0]), "r"(v[1])
                             : "memory");
            else
                asm volatile(STMATRIX(".x4.trans.shared") " [%0], {%1, %2, %3, %4};" ::"r"(at),
                             "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
                             : "memory");
            __syncwarp();
            for (int i = lane; i < ROWS * 4; i += 32)
                out[(n * STORES + s) * ROWS * 4 + i] = rows[i];
            __syncwarp();
        }
    }
}

// What lane has of matrix m: two elements of row lane / 4; transposed, of column lane / 4.
static void element_of(int lane, int half, int trans, int *row, int *column)
{
    *row = trans ? lane % 4 * 2 + half : lane / 4;
    *column = trans ? lane / 4 : lane % 4 * 2 + half;
}

static uint32_t in[ROWS * 4], regs[CASES][LOADS][4][32], out[CASES][STORES][ROWS * 4];
static int place[CASES][32];

static int wrong_loads(int n, int mode)
{
    int count = 1 << mode % 3, trans = mode / 3, wrong = 0;
    const uint16_t *halves = (const uint16_t *)in;
    for (int m = 0; m < count; m++)
        for (int lane = 0; lane < 32; lane++)
            for (int half = 0; half < 2; half++) {
                int row, column;
                element_of(lane, half, trans, &row, &column);
                wrong += (uint16_t)(regs[n][mode][m][lane] >> 16 * half) !=
                         halves[place[n][m * 8 + row] * 8 + column];
            }
    return wrong;
}

static int wrong_stores(int n, int mode)
{
    int count = 1 << mode % 3, trans = mode / 3;
    uint16_t expected[ROWS * 8] = {};
    for (int m = 0; m < count; m++)
        for (int lane = 0; lane < 32; lane++)
            for (int half = 0; half < 2; half++) {
                int row, column;
                element_of(lane, half, trans, &row, &column);
                expected[place[n][m * 8 + row] * 8 + column] =
                    (uint16_t)(in[(lane * 4 + m) % (ROWS * 4)] * 2654435761u >> 16 * half);
            }
    return memcmp(expected, out[n][mode], sizeof expected) != 0;
}

int main()
{
    struct sequence s = {7, 0};
    for (int i = 0; i < ROWS * 4; i++)
        in[i] = next_number(&s);
    for (int n = 0; n < CASES; n++) { // 32 rows of 64, none twice
        int all[ROWS];
        for (int i = 0; i < ROWS; i++)
            all[i] = i;
        for (int i = 0; i < 32; i++) {
            int other = next_between(&s, i, ROWS - 1), row = all[other];
            all[other] = all[i];
            place[n][i] = all[i] = row;
        }
    }
    void *din = on_device(in, sizeof in), *dplace = on_device(place, sizeof place);
    void *dregs = on_device(NULL, sizeof regs), *dout = on_device(NULL, sizeof out);
    move<<<1, 32>>>((uint32_t *)din, (int *)dplace, (uint32_t *)dregs, (uint32_t *)dout);
    to_host(regs, dregs, sizeof regs);
    to_host(out, dout, sizeof out);
    for (int mode = 0; mode < LOADS + STORES; mode++) {
        int wrong = 0;
        uint32_t h = 0;
        for (int n = 0; n < CASES; n++) {
            wrong += mode < LOADS ? wrong_loads(n, mode) : wrong_stores(n, mode - LOADS);
            h = mode < LOADS ? hashed(h, regs[n][mode], sizeof regs[n][mode])
                             : hashed(h, out[n][mode - LOADS], sizeof out[n][mode - LOADS]);
        }
        print_result(names[mode], "rows anywhere", h, wrong);
    }
    cudaFree(din), cudaFree(dplace), cudaFree(dregs), cudaFree(dout);
    return any_wrong;
}
