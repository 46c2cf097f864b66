/* cuRAND's host API. A GPU generates with a fixed number of threads, each with a subsequence of its
 * own, which take turns: that order is kept. A turn takes one draw or more of a thread's
 * subsequence. A Philox thread draws four words at a time. */
#include "base/error.h"
#include "cpu/random.h"
#include "cpu/runtime.h"
#include "curand.h"

#include <stdlib.h>
#include <string.h>

struct subsequence {   /* a thread's */
    uint32_t state[6]; /* XORWOW: five words and the counter; MRG32k3a: two times three numbers */
    uint64_t next;     /* Philox: the next draw, and the first one of the turn */
    uint64_t first;
    int seeded;
};

struct curandGenerator_st {
    curandRngType_t type;
    int on_host;
    cudaStream_t stream;
    uint64_t seed, offset;
    uint64_t position; /* whose turn is next, plus `offset`; Philox: which number of whose turn */
    struct subsequence *threads;
};

static unsigned thread_count(const struct curandGenerator_st *g)
{
    return g->type == CURAND_RNG_PSEUDO_XORWOW          ? 4096
           : g->type == CURAND_RNG_PSEUDO_PHILOX4_32_10 ? 65536
                                                        : 81920;
}

/* --- Draws ------------------------------------------------------------------------------------ */

/* Begins the thread's subsequence at the generator's offset. */
static void seed_thread(const struct curandGenerator_st *g, unsigned thread)
{
    struct subsequence *t = &g->threads[thread];
    uint32_t *s = t->state;
    const unsigned threads = thread_count(g);
    const uint64_t before = g->offset / threads + (thread < g->offset % threads);
    if (g->type == CURAND_RNG_PSEUDO_XORWOW) {
        cpu_xorwow_seed(s, &s[5], g->seed);
        cpu_xorwow_skip(s, thread, CPU_SUBSEQUENCES);
        cpu_xorwow_skip(s, before, CPU_STEPS);
        s[5] += CPU_XORWOW_COUNT * (uint32_t)before;
    } else if (g->type == CURAND_RNG_PSEUDO_MRG32K3A) {
        cpu_mrg_seed(s, s + 3, g->seed);
        cpu_mrg_skip(s, s + 3, thread, CPU_SUBSEQUENCES);
        cpu_mrg_skip(s, s + 3, before, CPU_STEPS);
    } else {
        t->first = g->offset / (4 * threads);
        t->next = t->first + (4 * thread < g->offset % (4 * threads));
    }
    t->seeded = 1;
}

/* The thread's next draw: bits, or from 1 to CPU_MRG_M1. */
static uint32_t drawn(struct curandGenerator_st *g, unsigned thread)
{
    uint32_t *s = g->threads[thread].state;
    if (!g->threads[thread].seeded)
        seed_thread(g, thread);
    if (g->type != CURAND_RNG_PSEUDO_XORWOW)
        return cpu_mrg_step(s, s + 3);
    cpu_xorwow_step(s);
    s[5] += CPU_XORWOW_COUNT;
    return s[4] + s[5];
}

/* Number `draw` of a thread of Philox. */
static void drawn_four(const struct curandGenerator_st *g, unsigned thread, uint64_t draw,
                       uint32_t words[4])
{
    words[0] = (uint32_t)draw;
    words[1] = (uint32_t)(draw >> 32);
    words[2] = thread;
    words[3] = 0;
    cpu_philox(words, (uint32_t)g->seed, (uint32_t)(g->seed >> 32));
}

/* --- Numbers ---------------------------------------------------------------------------------- */

enum kind { BITS, UNIFORM, UNIFORM_DOUBLE, NORMAL, NORMAL_DOUBLE, LOG_NORMAL, LOG_NORMAL_DOUBLE };
static const char *const call_names[] = {"curandGenerate",
                                         "curandGenerateUniform",
                                         "curandGenerateUniformDouble",
                                         "curandGenerateNormal",
                                         "curandGenerateNormalDouble",
                                         "curandGenerateLogNormal",
                                         "curandGenerateLogNormalDouble"};

struct call {
    struct curandGenerator_st *g;
    enum kind kind;
    void *to;
    size_t n, at; /* `at` numbers are stored */
    double mean, deviation;
    const void *site;
};

static int is_double(enum kind kind)
{
    return kind == UNIFORM_DOUBLE || kind == NORMAL_DOUBLE || kind == LOG_NORMAL_DOUBLE;
}
static int is_normal(enum kind kind)
{
    return kind >= NORMAL;
}

static void put_float(struct call *c, float v)
{
    if (c->at < c->n)
        ((float *)c->to)[c->at++] = v;
}
static void put_double(struct call *c, double v)
{
    if (c->at < c->n)
        ((double *)c->to)[c->at++] = v;
}
static void put_normal(struct call *c, float v)
{
    v = (float)c->mean + (float)c->deviation * v;
    put_float(c, c->kind == LOG_NORMAL ? expf(v) : v);
}
static void put_normal_double(struct call *c, double v)
{
    v = c->mean + c->deviation * v;
    put_double(c, c->kind == LOG_NORMAL_DOUBLE ? exp(v) : v);
}

/* One turn of a thread of XORWOW or MRG32k3a. */
static void turn(struct call *c, unsigned thread)
{
    struct curandGenerator_st *g = c->g;
    const int is_mrg = g->type != CURAND_RNG_PSEUDO_XORWOW;
    uint32_t x[4] = {drawn(g, thread)};
    const int draws =
        is_mrg ? 1 + is_normal(c->kind) : (1 + is_normal(c->kind)) << is_double(c->kind);
    for (int i = 1; i < draws; i++)
        x[i] = drawn(g, thread);
    const double one = x[0] * CPU_MRG_TO_ONE, two = x[1] * CPU_MRG_TO_ONE;
    if (c->kind == BITS) {
        ((uint32_t *)c->to)[c->at++] = is_mrg ? cpu_mrg_bits(x[0]) : x[0];
    } else if (c->kind == UNIFORM) {
        put_float(c, is_mrg ? (float)one : cpu_uniform(x[0]));
    } else if (c->kind == UNIFORM_DOUBLE) {
        put_double(c, is_mrg ? one : cpu_uniform_double(x[0], x[1]));
    } else if (is_double(c->kind)) {
        const double2 v =
            is_mrg ? cpu_normal_pair_double(one, 2 * two) : cpu_normal_of_bits_double(x);
        put_normal_double(c, v.x);
        put_normal_double(c, v.y);
    } else {
        const float2 v = is_mrg ? cpu_normal_pair((float)one, (float)two * 6.2831855f)
                                : cpu_normal_of_bits(x[0], x[1]);
        put_normal(c, v.x);
        put_normal(c, v.y);
    }
}

static void generate_by_thread(struct call *c)
{
    while (c->at < c->n)
        turn(c, (unsigned)(c->g->position++ % thread_count(c->g)));
}

/* A turn of a Philox thread makes four numbers, of one draw or, in double precision, of two. */
static void generate_by_four(struct call *c)
{
    struct curandGenerator_st *g = c->g;
    while (c->at < c->n) {
        const unsigned part = (unsigned)(g->position % 4);
        const unsigned thread = (unsigned)(g->position++ / 4 % thread_count(g));
        struct subsequence *t = &g->threads[thread];
        uint32_t x[4];
        if (!t->seeded)
            seed_thread(g, thread);
        if (part == 0) {
            t->first = t->next;
            t->next += 1 + (unsigned)is_double(c->kind);
        }
        drawn_four(g, thread, t->first + (is_double(c->kind) ? part / 2 : 0), x);
        if (c->kind == UNIFORM_DOUBLE) {
            put_double(c, cpu_uniform_double(x[part % 2 * 2], x[part % 2 * 2 + 1]));
        } else if (is_double(c->kind)) {
            const double2 v = cpu_normal_of_bits_double(x);
            put_normal_double(c, part % 2 ? v.y : v.x);
        } else if (is_normal(c->kind)) {
            const float2 v = cpu_normal_of_bits(x[part / 2 * 2], x[part / 2 * 2 + 1]);
            put_normal(c, part % 2 ? v.y : v.x);
        } else if (c->kind == UNIFORM) {
            put_float(c, cpu_uniform(x[part]));
        } else {
            ((uint32_t *)c->to)[c->at++] = x[part];
        }
    }
}

/* --- The API ---------------------------------------------------------------------------------- */

static curandStatus_t create(curandGenerator_t *generator, curandRngType_t type, int on_host)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    if (type == CURAND_RNG_PSEUDO_DEFAULT)
        type = CURAND_RNG_PSEUDO_XORWOW;
    if (type != CURAND_RNG_PSEUDO_XORWOW && type != CURAND_RNG_PSEUDO_PHILOX4_32_10 &&
        type != CURAND_RNG_PSEUDO_MRG32K3A) {
        complain("curandCreateGenerator: generator %d is not supported by the CPU backend; XORWOW "
                 "(101), MRG32K3A (121) and PHILOX4_32_10 (161) are",
                 (int)type);
        return CURAND_STATUS_TYPE_ERROR;
    }
    struct curandGenerator_st *g = calloc(1, sizeof *g);
    if (!g)
        return CURAND_STATUS_ALLOCATION_FAILED;
    g->type = type;
    g->on_host = on_host;
    g->threads = calloc(thread_count(g), sizeof *g->threads);
    if (!g->threads) {
        free(g);
        return CURAND_STATUS_ALLOCATION_FAILED;
    }
    *generator = g;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, 0);
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, 1);
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    free(generator->threads);
    free(generator);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetVersion(int *version)
{
    if (!version)
        return CURAND_STATUS_OUT_OF_RANGE;
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

static curandStatus_t restart(curandGenerator_t g, uint64_t seed, uint64_t offset)
{
    g->seed = seed;
    g->offset = g->position = offset;
    for (unsigned i = 0; i < thread_count(g); i++)
        g->threads[i].seeded = 0;
    return CURAND_STATUS_SUCCESS;
}

/* As in NVIDIA's library, the new sequence goes on where the old one was. */
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed)
{
    return generator ? restart(generator, seed, generator->position)
                     : CURAND_STATUS_NOT_INITIALIZED;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset)
{
    return generator ? restart(generator, generator->seed, offset) : CURAND_STATUS_NOT_INITIALIZED;
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    const int is_legacy = order == CURAND_ORDERING_PSEUDO_LEGACY;
    if ((order != CURAND_ORDERING_PSEUDO_BEST && order != CURAND_ORDERING_PSEUDO_DEFAULT &&
         !is_legacy) ||
        (is_legacy && generator->type == CURAND_RNG_PSEUDO_MRG32K3A)) {
        complain("curandSetGeneratorOrdering: ordering %d is not supported by the CPU backend; "
                 "CURAND_ORDERING_PSEUDO_DEFAULT (101) is",
                 (int)order);
        return CURAND_STATUS_OUT_OF_RANGE;
    }
    return CURAND_STATUS_SUCCESS;
}

/* A GPU's threads are seeded here, and not with the first numbers. */
curandStatus_t curandGenerateSeeds(curandGenerator_t generator)
{
    return generator ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

static cudaError_t run_call(void *state)
{
    struct call *c = state;
    const size_t size = is_double(c->kind) ? sizeof(double) : sizeof(float);
    if (!c->g->on_host) {
        const cudaError_t error = cpu_library_access(
            &(struct cpu_access){call_names[c->kind], "the output", c->site, c->to, c->n * size, 1,
                                 c->n * size, CPU_ACCESS_WRITE});
        if (error != cudaSuccess)
            return error;
    }
    if (c->g->type == CURAND_RNG_PSEUDO_PHILOX4_32_10)
        generate_by_four(c);
    else
        generate_by_thread(c);
    return cudaSuccess;
}

static curandStatus_t generate(struct call c)
{
    if (!c.g)
        return CURAND_STATUS_NOT_INITIALIZED;
    if (is_normal(c.kind) && c.n % 2 && c.g->type != CURAND_RNG_PSEUDO_PHILOX4_32_10)
        return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    if (c.n == 0)
        return CURAND_STATUS_SUCCESS;
    if (c.g->on_host)
        return run_call(&c) == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
    struct call *state = malloc(sizeof *state);
    if (!state)
        return CURAND_STATUS_ALLOCATION_FAILED;
    *state = c;
    return cpu_library_call(c.g->stream, run_call, free, state) == cudaSuccess
               ? CURAND_STATUS_SUCCESS
               : CURAND_STATUS_LAUNCH_FAILURE;
}

#define SITE __builtin_return_address(0)
curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int *to, size_t n)
{
    return generate((struct call){generator, BITS, to, n, 0, 0, 1, SITE});
}

curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *to, size_t n)
{
    return generate((struct call){generator, UNIFORM, to, n, 0, 0, 1, SITE});
}

curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *to, size_t n)
{
    return generate((struct call){generator, UNIFORM_DOUBLE, to, n, 0, 0, 1, SITE});
}

curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *to, size_t n, float mean,
                                    float deviation)
{
    return generate((struct call){generator, NORMAL, to, n, 0, mean, deviation, SITE});
}

curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double *to, size_t n,
                                          double mean, double deviation)
{
    return generate((struct call){generator, NORMAL_DOUBLE, to, n, 0, mean, deviation, SITE});
}

curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float *to, size_t n, float mean,
                                       float deviation)
{
    return generate((struct call){generator, LOG_NORMAL, to, n, 0, mean, deviation, SITE});
}

curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double *to, size_t n,
                                             double mean, double deviation)
{
    return generate((struct call){generator, LOG_NORMAL_DOUBLE, to, n, 0, mean, deviation, SITE});
}
