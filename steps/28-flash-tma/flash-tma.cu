/* 28-flash-tma: tiles by the copy engine, and a store that hits the next head
 *
 * Follows: 23-flash-autotune
 * Architecture: 90
 * Data: --case tail --variant overwrites --variant tma --map step-28-map.tsv
 * Data: --case D64-S2048-causal --case D128-S2048-causal --repeats step-28-repeats.tsv
 * Profile: --case D64-S8192 --case D128-S8192
 *
 * Idea     Hopper copies whole tiles (TMA, the copy engine): one thread names a box of an array,
 *          and the TMA computes addresses, swizzles, checks bounds, and reports when the bytes are
 *          there. The products are those of step 23, and the tile is the best one at long S.
 * Predict  Loads were hidden behind products before, so only their instructions are saved: one in
 *          twenty, which cannot give the log's tenth. With a map of all rows of all heads, as the
 *          log has it, the tail of a head's last tile is stored into the next head.
 * Outcome  More instructions are saved than predicted. At D = 64 time falls by fewer cycles than
 *          issue slots are saved, at D = 128 by more. The store and a third stage gain next to
 *          nothing. With the TMA's barriers warps run apart, and with that the log's tenth is about
 *          reached at D = 128. At S = 512 and D = 64 all of it loses. The store overwrites as
 *          predicted, or does not: the block that stores last decides.
 */
#include "a-threads.cuh"
#include "b-flattened.cuh"
#include "c-heads.cuh"
#include "d-loads.cuh"
#include "e-apart.cuh"
#include "problems/flash_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The tile that step 23 found best at long S, for each width.
typedef struct tile_of {
    int rows, keys, threads;
    bool keeps_query; // in registers: then a-threads has no tile of q
} tile_of;

static tile_of tile_for(int D)
{
    const tile_of of_64 = {128, 96, 128, true}, of_128 = {256, 64, 256, false};
    return D == 64 ? of_64 : of_128;
}

typedef void flash_kernel(const __half *q, const __half *k, const __half *v, __half *o, float *lse,
                          int Sq, int Sk, bool causal);

template <flash_kernel for_64, flash_kernel for_128, int stages>
static void launch_threads(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const tile_of t = tile_for(s.D);
    flash_kernel *kernel = s.D == 64 ? for_64 : for_128;
    const int rows = (t.keeps_query ? 0 : t.rows) + 2 * stages * t.keys; // in shared memory
    const int bytes = rows * s.D * (int)sizeof(__half);
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const dim3 grid((s.Sq + t.rows - 1) / t.rows, s.B * s.H);
    kernel<<<grid, t.threads, bytes, stream>>>(
        (const __half *)kf_memory(run, "q", KF_F16), (const __half *)kf_memory(run, "k", KF_F16),
        (const __half *)kf_memory(run, "v", KF_F16), (__half *)kf_memory(run, "o", KF_F16),
        kf_f32(run, "lse"), s.Sq, s.Sk, s.causal);
    CUDA_CHECK_LAUNCH();
}

typedef void map_kernel(CUtensorMap q, CUtensorMap k, CUtensorMap v, CUtensorMap o, float *lse,
                        int Sq, int Sk, bool causal);
typedef CUtensorMap map_maker(const void *array, int BH, int S, int D, int rows);

// Tiles of q, tiles of k and v per stage, and barriers: at most two per stage, and one.
static int bytes_with_barriers(const tile_of *t, int D, int stages)
{
    return (t->rows + 2 * stages * t->keys) * D * (int)sizeof(__half) + (2 * stages + 1) * 8;
}

template <map_kernel for_64, map_kernel for_128, map_maker map_of, int stages>
static void launch(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const tile_of t = tile_for(s.D);
    map_kernel *kernel = s.D == 64 ? for_64 : for_128;
    const int bytes = bytes_with_barriers(&t, s.D, stages);
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const dim3 grid((s.Sq + t.rows - 1) / t.rows, s.B * s.H);
    kernel<<<grid, t.threads, bytes, stream>>>(
        map_of(kf_memory(run, "q", KF_F16), s.B * s.H, s.Sq, s.D, t.rows),
        map_of(kf_memory(run, "k", KF_F16), s.B * s.H, s.Sk, s.D, t.keys),
        map_of(kf_memory(run, "v", KF_F16), s.B * s.H, s.Sk, s.D, t.keys),
        map_of(kf_memory(run, "o", KF_F16), s.B * s.H, s.Sq, s.D, t.rows), kf_f32(run, "lse"), s.Sq,
        s.Sk, s.causal);
    CUDA_CHECK_LAUNCH();
}

// --- Variants that explain -----------------------------------------------------------------------

typedef void loads_kernel(CUtensorMap q, CUtensorMap k, CUtensorMap v, __half *o, float *lse,
                          int Sq, int Sk, bool causal);

static void launch_loads(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const tile_of t = tile_for(s.D);
    loads_kernel *kernel =
        s.D == 64 ? loads::flash<64, 128, 96, 4, 2> : loads::flash<128, 256, 64, 8, 2>;
    const int bytes = bytes_with_barriers(&t, s.D, 2);
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const dim3 grid((s.Sq + t.rows - 1) / t.rows, s.B * s.H);
    kernel<<<grid, t.threads, bytes, stream>>>(
        heads::map_of(kf_memory(run, "q", KF_F16), s.B * s.H, s.Sq, s.D, t.rows),
        heads::map_of(kf_memory(run, "k", KF_F16), s.B * s.H, s.Sk, s.D, t.keys),
        heads::map_of(kf_memory(run, "v", KF_F16), s.B * s.H, s.Sk, s.D, t.keys),
        (__half *)kf_memory(run, "o", KF_F16), kf_f32(run, "lse"), s.Sq, s.Sk, s.causal);
    CUDA_CHECK_LAUNCH();
}

// The row at which the last tile of a head ends, counted from the head's first row: rows from Sq on
// belong to the next head.
static int64_t last_tile_ends(const kf_shape *s)
{
    const int rows = tile_for(s->D).rows;
    return (int64_t)(s->Sq + rows - 1) / rows * rows;
}

// True if row `row` of a head lies in the last tile of the head `before` heads earlier.
static bool overwritten(const kf_shape *s, int64_t row, int before)
{
    return before * (int64_t)s->Sq + row < last_tile_ends(s);
}

// True if nothing is overwritten: then the map of all rows is as good as any.
static bool whole_tiles(const kf_case *c)
{
    return c->shape.B * c->shape.H == 1 || !overwritten(&c->shape, 0, 1);
}

// The other cases, except inputs that are made so that each head has one right result: with the
// keys of another head they have none.
static bool has_tails(const kf_case *c)
{
    return !whole_tiles(c) && !(c->flags & (KF_ONE_HOT | KF_INTEGERS)) &&
           !(kf_on_cpu() && c->flags & KF_LARGE);
}

// o as it would be with the keys of the head `before` heads earlier, and without a mask: in that
// head these rows are behind the last query. The first `before` heads keep their own keys.
static void crossed_reference(kf_run *run, int before)
{
    const int64_t heads = (int64_t)run->shape.B * run->shape.H;
    kf_tensor *const keys[2] = {kf_find(run, "k"), kf_find(run, "v")};
    float *as_it_came[2];
    for (int i = 0; i < 2; i++) {
        const int64_t head = keys[i]->count / heads;
        as_it_came[i] = keys[i]->host;
        keys[i]->host = (float *)kf_alloc(keys[i]->count, sizeof(float));
        memcpy(keys[i]->host, as_it_came[i], keys[i]->count * sizeof(float));
        memcpy(keys[i]->host + before * head, as_it_came[i],
               (heads - before) * head * sizeof(float));
    }
    run->shape.causal = run->shape.causal && before == 0;
    kf_flash_reference(run);
    for (int i = 0; i < 2; i++) {
        free(keys[i]->host);
        keys[i]->host = as_it_came[i];
    }
}

// An element that two blocks write may have the value of either block. Its reference is the value
// whose bounds the output is nearer to.
static void either_reference(kf_run *run)
{
    const kf_run as_it_is = *run;
    const kf_shape s = run->shape;
    kf_tensor *const o = kf_find(run, "o"), *const lse = kf_find(run, "lse");
    const kf_tensor o_then = *o, lse_then = *lse;
    __half *got = (__half *)kf_alloc(o->count, sizeof(__half));
    CUDA_CHECK(cudaMemcpy(got, o->device, o->count * sizeof(__half), cudaMemcpyDeviceToHost));
    lse->want = (double *)kf_alloc(lse->count, sizeof(double)); // not compared
    lse->bound = (double *)kf_alloc(lse->count, sizeof(double));
    lse->checked = (bool *)kf_alloc(lse->rows, sizeof(bool));
    crossed_reference(run, 0);
    o->want = (double *)kf_alloc(o->count, sizeof(double));
    o->bound = (double *)kf_alloc(o->count, sizeof(double));
    for (int before = 1; before < s.B * s.H && overwritten(&s, 0, before); before++) {
        crossed_reference(run, before);
        *run = as_it_is;
        for (int64_t i = 0; i < o->count; i++) {
            const int64_t row = i / s.D;
            const double value = (double)__half2float(got[i]);
            if (row / s.Sq >= before && overwritten(&s, row % s.Sq, before) &&
                fabs(value - o->want[i]) - o->bound[i] <
                    fabs(value - o_then.want[i]) - o_then.bound[i]) {
                o_then.want[i] = o->want[i];
                o_then.bound[i] = o->bound[i];
            }
        }
    }
    free(o->want);
    free(o->bound);
    free(lse->want);
    free(lse->bound);
    free(lse->checked);
    free(got);
    *o = o_then;
    *lse = lse_then;
}

// Two blocks write the same rows; the later block decides.
static bool overwrites_as_predicted(const kf_run *run, const kf_diagnosis *seen, char *why,
                                    size_t size)
{
    const kf_diagnosis *o = kf_seen(run, seen, "o");
    const kf_shape s = run->shape;
    const int64_t rows = last_tile_ends(&s) - s.Sq;
    int64_t elsewhere = kf_seen(run, seen, "lse")->wrong + o->before + o->after;
    for (int64_t row = 0; row < s.Sq; row++) {
        elsewhere += overwritten(&s, row, 1) ? 0 : o->wrong_at[2][row];
    }
    const int64_t neither = kf_wrong_by(run, "o", either_reference);
    snprintf(why, size,
             "predicted: wrong only in the first %lld rows of a head, and there as the block of a "
             "head before has it; seen %lld elements wrong, %lld in other rows, %lld as neither "
             "has it",
             (long long)(rows < s.Sq ? rows : s.Sq), (long long)o->wrong, (long long)elsewhere,
             (long long)neither);
    return elsewhere == 0 && neither == 0;
}

// --- Tables --------------------------------------------------------------------------------------

#define LENGTHS(shape, d) shape(d, 512), shape(d, 2048), shape(d, 8192), shape(d, 16384)

static const kf_case cases[] = {
    LENGTHS(KF_FLASH_SQUARE, 64),
    LENGTHS(KF_FLASH_CAUSAL, 64),
    LENGTHS(KF_FLASH_SQUARE, 128),
    LENGTHS(KF_FLASH_CAUSAL, 128),
    KF_FLASH_ODD,
    KF_FLASH_CASE("tail-95", 1, 5, 95, 64, false, 0),    // the tile of 96 keys lacks one
    KF_FLASH_CASE("tail-127", 1, 5, 127, 128, false, 0), // of two tiles of 64 the last lacks one
    // The first block of queries sees no key after the first tile: what is loaded beyond is
    // counted.
    KF_FLASH_CASE("early-end-D128", 1, 384, 192, 128, true, 0),
    // Under a mask the last tile of a head takes long, and the first tile of the next head does
    // not. We think that this is why the wrong rows are written last.
    KF_FLASH_CASE("tail", 3, 300, 300, 64, true, 0),
};

static const kf_variant variants[] = {
    {.name = "threads",
     .about = "step 23: tiles by cp.async, stored by threads",
     .launch =
         launch_threads<threads::flash<64, 128, 96, 4, 2>, threads::flash<128, 256, 64, 8, 2>, 2>},
    {.name = "flattened",
     .about = "tiles by the copy engine, all heads one array, where a head is whole tiles",
     .launch = launch<flattened::flash<64, 128, 96, 4, 2>, flattened::flash<128, 256, 64, 8, 2>,
                      flattened::map_of, 2>,
     .applies = whole_tiles},
    {.name = "overwrites",
     .about = "the same where it is not: the last tile's tail goes into the next head",
     .launch = launch<flattened::flash<64, 128, 96, 4, 2>, flattened::flash<128, 256, 64, 8, 2>,
                      flattened::map_of, 2>,
     .applies = has_tails,
     .predicted = overwrites_as_predicted,
     .finding = "global race"},
    {.name = "tma",
     .about = "a head is a dimension of the map",
     .launch = launch<heads::flash<64, 128, 96, 4, 2>, heads::flash<128, 256, 64, 8, 2>,
                      heads::map_of, 2>},
    {.name = "tma-loads", .about = "tma, stored by threads", .launch = launch_loads},
    {.name = "threads-3",
     .about = "threads with three stages",
     .launch =
         launch_threads<threads::flash<64, 128, 96, 4, 3>, threads::flash<128, 256, 64, 8, 3>, 3>},
    {.name = "tma-3",
     .about = "tma with three stages",
     .launch = launch<heads::flash<64, 128, 96, 4, 3>, heads::flash<128, 256, 64, 8, 3>,
                      heads::map_of, 3>},
    {.name = "tma-apart-2",
     .about = "tma, and warps do not meet once a tile",
     .launch = launch<apart::flash<64, 128, 96, 4, 2>, apart::flash<128, 256, 64, 8, 2>,
                      heads::map_of, 2>},
    {.name = "tma-apart",
     .about = "tma-3, the same",
     .launch = launch<apart::flash<64, 128, 96, 4, 3>, apart::flash<128, 256, 64, 8, 3>,
                      heads::map_of, 3>},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}};

static const kf_question questions[] = {
    {.text =
         "In case tail (3 heads of 300 queries, D = 64, tiles of 128 queries), how many times as "
         "many bytes of o does the flat-map kernel (overwrites) store as the TMA kernel (tma)?",
     .figure = "bulk_store_bytes",
     .case_name = "tail",
     .variant = "overwrites",
     .over = "tma"},
    {.text = "At D = 64, S = 8192, without a mask, how many times as fast as the threads kernel "
             "(threads) is the TMA kernel (tma)?",
     .figure = "ratio",
     .case_name = "D64-S8192",
     .variant = "tma"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "28-flash-tma",
        .title = "tiles by the copy engine, and a store that hits the next head",
        .architecture = "90",
        KF_TABLES(cases, variants),
        .setup = kf_flash_setup,
        .reference = kf_flash_reference,
        .cost = kf_flash_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
