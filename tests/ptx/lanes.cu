// Operations among the lanes of a warp, and barriers with numbers. The host does each by the rule
// in PTX's manual.
#include "record.h"

enum { LANES = 32, CASES = 16 };

enum { SHFL = 4, VOTES = 5, REDUCES = 8, MATCHES = 4, OTHERS = 2 };
enum { ALL = SHFL + VOTES + REDUCES + MATCHES + OTHERS };
static const char *const names[ALL] = {
    "shfl.sync.idx.b32",       "shfl.sync.up.b32",   "shfl.sync.down.b32", "shfl.sync.bfly.b32",
    "vote.sync.any.pred",      "vote.sync.all.pred", "vote.sync.uni.pred", "vote.sync.ballot.b32",
    "vote.sync.ballot.b32 !p", "redux.sync.add.s32", "redux.sync.add.u32", "redux.sync.min.s32",
    "redux.sync.max.s32",      "redux.sync.min.u32", "redux.sync.and.b32", "redux.sync.or.b32",
    "redux.sync.xor.b32",      "match.any.sync.b32", "match.any.sync.b64", "match.all.sync.b32",
    "match.all.sync.b64",      "activemask",         "elect.sync"};

#define SHUFFLE(mode)                                                                              \
    asm volatile("{ .reg .pred p; shfl.sync." mode ".b32 %0|p, %2, %3, %4, 0xffffffff;\n\t"        \
                 "selp.u32 %1, 1, 0, p; }"                                                         \
                 : "=r"(d), "=r"(p)                                                                \
                 : "r"(a), "r"(b), "r"(c))
#define VOTE(mode)                                                                                 \
    asm volatile("{ .reg .pred p, q; setp.ne.u32 q, %1, 0;\n\t"                                    \
                 "vote.sync." mode ".pred p, q, -1; selp.u32 %0, 1, 0, p; }"                       \
                 : "=r"(d)                                                                         \
                 : "r"(a & b & 1))
#define REDUX(mode) asm volatile("redux.sync." mode " %0, %1, 0xffffffff;" : "=r"(d) : "r"(a))
#define MATCH_ANY(type, c, v)                                                                      \
    asm volatile("match.any.sync." type " %0, %1, 0xffffffff;" : "=r"(d) : c(v))
#define MATCH_ALL(type, c, v)                                                                      \
    asm volatile("{ .reg .pred p; match.all.sync." type " %0|p, %2, 0xffffffff;\n\t"               \
                 "selp.u32 %1, 1, 0, p; }"                                                         \
                 : "=r"(d), "=r"(p)                                                                \
                 : c(v))

// One warp. in [CASES][3][LANES]; out [CASES][ALL][2][LANES]: what came, and a predicate.
__global__ void lanes(const uint32_t *in, uint32_t *out)
{
    const int lane = threadIdx.x;
    for (int n = 0; n < CASES; n++) {
        const uint32_t *v = in + n * 3 * LANES + lane;
        uint32_t a = v[0], b = v[LANES], c = v[2 * LANES], few = a & 3;
        uint64_t few_wide = (uint64_t)few << 40 | 5;
        for (int i = 0; i < ALL; i++) {
            uint32_t d = 0, p = 0;
            switch (i) {
            case 0:
                SHUFFLE("idx");
                break;
            case 1:
                SHUFFLE("up");
                break;
            case 2:
                SHUFFLE("down");
                break;
            case 3:
                SHUFFLE("bfly");
                break;
            case 4:
                VOTE("any");
                break;
            case 5:
                VOTE("all");
                break;
            case 6:
                VOTE("uni");
                break;
            case 7:
                asm volatile("{ .reg .pred q; setp.ne.u32 q, %1, 0;\n\t"
                             "vote.sync.ballot.b32 %0, q, 0xffffffff; }"
                             : "=r"(d)
                             : "r"(a & 1));
                break;
            case 8:
                asm volatile("{ .reg .pred q; setp.ne.u32 q, %1, 0;\n\t"
                             "vote.sync.ballot.b32 %0, !q, 0xffffffff; }"
                             : "=r"(d)
                             : "r"(a & 1));
                break;
            case 9:
                REDUX("add.s32");
                break;
            case 10:
                REDUX("add.u32");
                break;
            case 11:
                REDUX("min.s32");
                break;
            case 12:
                REDUX("max.s32");
                break;
            case 13:
                REDUX("min.u32");
                break;
            case 14:
                REDUX("and.b32");
                break;
            case 15:
                REDUX("or.b32");
                break;
            case 16:
                REDUX("xor.b32");
                break;
            case 17:
                MATCH_ANY("b32", "r", few);
                break;
            case 18:
                MATCH_ANY("b64", "l", few_wide);
                break;
            case 19:
                MATCH_ALL("b32", "r", n % 2 ? 7u : few);
                break;
            case 20:
                MATCH_ALL("b64", "l", n % 2 ? (uint64_t)n << 33 : few_wide);
                break;
            case 21:
                asm volatile("activemask.b32 %0;" : "=r"(d));
                break;
            default:
                asm volatile("{ .reg .pred p; elect.sync %0|p, 0xffffffff; selp.u32 %1, 1, 0, p; }"
                             : "=r"(d), "=r"(p));
            }
            out[((n * ALL + i) * 2 + 0) * LANES + lane] = d;
            out[((n * ALL + i) * 2 + 1) * LANES + lane] = p;
        }
    }
}

// The lower lanes and the upper ones apart.
__global__ void halves(const uint32_t *in, uint32_t *out)
{
    const int lane = threadIdx.x;
    uint32_t a = in[lane], sum, from, ballot;
    if (lane < 16) {
        asm volatile("redux.sync.add.u32 %0, %1, 0x0000ffff;" : "=r"(sum) : "r"(a));
        asm volatile("shfl.sync.bfly.b32 %0, %1, 5, 0x101f, 0xffff;" : "=r"(from) : "r"(a));
    } else {
        asm volatile("redux.sync.add.u32 %0, %1, 0xffff0000;" : "=r"(sum) : "r"(a));
        asm volatile("shfl.sync.bfly.b32 %0, %1, 5, 0x101f, %2;"
                     : "=r"(from)
                     : "r"(a), "r"(0xffff0000));
    }
    asm volatile("bar.warp.sync -1;");
    asm volatile("{ .reg .pred q; setp.lt.u32 q, %1, 0x80000000;\n\t"
                 "@q vote.sync.ballot.b32 %0, q, -1; @!q vote.sync.ballot.b32 %0, q, -1; }"
                 : "=r"(ballot)
                 : "r"(lane < 32 ? 1u : a));
    out[lane] = sum, out[32 + lane] = from, out[64 + lane] = ballot;
}

// Two warps make, two take, ROUNDS times through one buffer; barrier 1 says that it is full,
// barrier 2 that it is empty. At the end all meet.
enum { ROUNDS = 5, TAKERS = 64 };
__global__ void handshake(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t buffer[TAKERS];
    const unsigned t = threadIdx.x, maker = t < TAKERS;
    uint32_t sum = 0;
    for (int n = 0; n < ROUNDS; n++)
        if (maker) {
            if (n > 0)
                asm volatile("bar.sync 2, 128;" ::: "memory");
            buffer[t] = in[n * TAKERS + t];
            asm volatile("bar.arrive %0, %1;" ::"r"(1), "r"(128) : "memory");
        } else {
            asm volatile("barrier.sync %0, 128;" ::"n"(1) : "memory");
            sum = sum * 31 + buffer[(t * 7) % TAKERS];
            if (n + 1 < ROUNDS)
                asm volatile("barrier.cta.arrive 2, 128;" ::: "memory");
        }
    asm volatile("bar.sync 0;" ::: "memory");
    if (maker)
        buffer[t] = t;
    asm volatile("barrier.cta.sync.aligned 0; nanosleep.u32 20;" ::: "memory");
    int count;
    asm volatile("{ .reg .pred q; setp.gt.u32 q, %1, 99; bar.red.popc.u32 %0, 0, q; }"
                 : "=r"(count)
                 : "r"(t));
    out[t] = maker ? (uint32_t)count : sum + buffer[t - TAKERS];
}

static uint32_t in[CASES][3][LANES], out[CASES][ALL][2][LANES];

static void expect(int n, int i, int lane, uint32_t *d, uint32_t *p)
{
    const uint32_t *a = in[n][0];
    uint32_t b = in[n][1][lane], c = in[n][2][lane], most = 0;
    *p = 0;
    if (i < SHFL) {
        int at = (int)(b & 31), clamp = (int)(c & 31), segment = (int)(c >> 8 & 31);
        int top = (lane & segment) | (clamp & ~segment), low = lane & segment, j;
        j = i == 0 ? low | (at & ~segment) : i == 1 ? lane - at : i == 2 ? lane + at : lane ^ at;
        *p = i == 1 ? j >= top : j <= top;
        *d = a[*p ? j : lane];
        return;
    }
    *d = i >= 9 ? a[0] : 0;
    for (int l = 0; l < LANES; l++) {
        uint32_t v = a[l] & in[n][1][l] & 1;
        most += v;
        if (i == 7 || i == 8)
            *d |= ((a[l] & 1) ^ (i == 8)) << l;
        if (i == 17 || i == 18)
            *d = (l ? *d : 0) | (uint32_t)((a[l] & 3) == (a[lane] & 3)) << l;
        if (l == 0)
            continue;
        switch (i) {
        case 9:
        case 10:
            *d += a[l];
            break;
        case 11:
            *d = (int)a[l] < (int)*d ? a[l] : *d;
            break;
        case 12:
            *d = (int)a[l] > (int)*d ? a[l] : *d;
            break;
        case 13:
            *d = a[l] < *d ? a[l] : *d;
            break;
        case 14:
            *d &= a[l];
            break;
        case 15:
            *d |= a[l];
            break;
        case 16:
            *d ^= a[l];
            break;
        }
    }
    if (i >= 4 && i <= 6)
        *d = i == 4 ? most > 0 : i == 5 ? most == LANES : most == 0 || most == LANES;
    if (i == 19 || i == 20) {
        int same = 1;
        for (int l = 0; l < LANES; l++)
            same &= n % 2 || (a[l] & 3) == (a[0] & 3);
        *p = (uint32_t)same;
        *d = same ? 0xffffffff : 0;
    }
    if (i == 21)
        *d = 0xffffffff;
    if (i == 22) { // any lane may be elected
        *d = out[n][i][0][0];
        *p = (uint32_t)lane == *d;
    }
}

int main()
{
    static const int widths[] = {0x1f, 0x101f, 0x181f, 0x1c1f, 0x1e1f, 0x1f1f};
    struct sequence s = {13, 0};
    for (int n = 0; n < CASES; n++)
        for (int l = 0; l < LANES; l++) {
            in[n][0][l] = n == 14 ? ~1u : n == 15 ? ~0u : next_number(&s);
            in[n][1][l] = n == 14 ? ~1u : n == 15 ? ~0u : next_number(&s) % (n < 8 ? 64 : 8);
            // Usual ones, for shfl.up with a lower end of 0, and any.
            in[n][2][l] = n < 6    ? (uint32_t)widths[n] & (n % 2 ? ~0u : ~0x1fu)
                          : n < 12 ? (uint32_t)widths[n - 6]
                                   : next_number(&s);
        }
    void *di = on_device(in, sizeof in), *d = on_device(NULL, sizeof out);
    lanes<<<1, LANES>>>((uint32_t *)di, (uint32_t *)d);
    to_host(out, d, sizeof out);
    for (int i = 0; i < ALL; i++) {
        int wrong = 0;
        uint32_t h = 0;
        for (int n = 0; n < CASES; n++) {
            for (int l = 0; l < LANES; l++) {
                uint32_t v, p;
                expect(n, i, l, &v, &p);
                wrong += v != out[n][i][0][l] || p != out[n][i][1][l];
            }
            if (i != 22)
                h = hashed(h, out[n][i], sizeof out[n][i]);
        }
        print_result(names[i], "all lanes", h, wrong);
    }
    static uint32_t three[3][LANES];
    halves<<<1, LANES>>>((uint32_t *)di, (uint32_t *)d);
    to_host(three, d, sizeof three);
    printf("halves\t\t%08x %08x %08x %08x %08x\n", three[0][0], three[0][31],
           hashed(0, three[1], sizeof three[1]), three[2][0], hashed(0, three[2], sizeof three[2]));
    static uint32_t taken[2 * TAKERS];
    handshake<<<1, 2 * TAKERS>>>((uint32_t *)di, (uint32_t *)d);
    to_host(taken, d, sizeof taken);
    printf("handshake\t\t%x %08x\n", taken[0], hashed(0, taken, sizeof taken));
    cudaFree(di), cudaFree(d);
    return any_wrong;
}
