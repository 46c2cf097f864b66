/* work_tiles.cu: what no value of step 29 shows: the order in which rungs e and g hand out work
 * tiles, and which tile an event is of that rungs c and d record. TAP, as the unit tests.
 */
#include "c-ping-pong.cuh"
#include "d-overlap.cuh"
#include "e-persistent.cuh"
#include "g-work-tiles.cuh"

#include <stdio.h>
#include <vector>

static int count;

static void ok(bool good, const char *what)
{
    printf("%s %d - %s\n", good ? "ok" : "not ok", ++count, what);
}

/* --- Order: of the heads that are taken together, the last rows first ------------------------- */

enum { HEADS = 5, AT_ONCE = 2, ROWS = 900, SMALL_TILES = 2, LARGE = 192 };

typedef struct place {
    int head, row, end;
} place;

static bool operator!=(place a, place b)
{
    return a.head != b.head || a.row != b.row || a.end != b.end;
}

static __global__ void handed_out_by_e(place *to, int blocks)
{
    const persistent::work_tile t = persistent::work_tile_of(threadIdx.x, blocks, HEADS, AT_ONCE);
    to[threadIdx.x] = {t.head, t.block * LARGE, min((t.block + 1) * LARGE, (int)ROWS)};
}

static __global__ void handed_out_by_g(place *to)
{
    const work_tiles::work_tile t =
        work_tiles::work_tile_of(threadIdx.x, HEADS, AT_ONCE, ROWS, SMALL_TILES, LARGE);
    to[threadIdx.x] = {t.head, t.first, t.end};
}

/* Adds the work tiles of `rows` rows that cover rows first to end - 1 of each head. */
static void add(std::vector<place> *to, int first, int end, int rows)
{
    for (int head = 0; head < HEADS; head += AT_ONCE)
        for (int row = first + (end - 1 - first) / rows * rows; row >= first; row -= rows)
            for (int i = head; i < head + AT_ONCE && i < HEADS; i++)
                to->push_back({i, row, row + rows < end ? row + rows : end});
}

static bool same(const place *got, const std::vector<place> &want)
{
    for (size_t i = 0; i < want.size(); i++)
        if (got[i] != want[i])
            return false;
    return true;
}

static void test_order(void)
{
    std::vector<place> e, g;
    place *got;
    CUDA_CHECK(cudaMallocManaged((void **)&got, 64 * sizeof *got));
    add(&e, 0, ROWS, LARGE);
    add(&g, SMALL_TILES * work_tiles::SMALL, ROWS, LARGE);
    add(&g, 0, SMALL_TILES * work_tiles::SMALL, work_tiles::SMALL);
    handed_out_by_e<<<1, (unsigned)e.size()>>>(got, (int)e.size() / HEADS);
    CUDA_CHECK(cudaDeviceSynchronize());
    ok(same(got, e), "e-persistent: a few heads together, their last rows first");
    handed_out_by_g<<<1, (unsigned)g.size()>>>(got);
    CUDA_CHECK(cudaDeviceSynchronize());
    ok(same(got, g), "g-work-tiles: the same, large work tiles before small ones");
    CUDA_CHECK(cudaFree(got));
}

/* --- Events: their order and their tiles ------------------------------------------------------ */

enum { D = 128, QUERIES = 128, KEYS = 300, TILES = 3, CELLS = 4, NONE = -1 };

typedef std::vector<int> events; /* event, tile, event, tile, ... */

static CUtensorMap map(void *x, int S, int rows)
{
    const tensor_layout layout = {.rank = 4,
                                  .extent = {64, (uint64_t)S, D / 64, 1},
                                  .stride = {D * 2, 64 * 2, (uint64_t)S * D * 2},
                                  .box = {64, (cuuint32_t)rows, D / 64, 1}};
    return tensor_map(x, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, &layout, CU_TENSOR_MAP_SWIZZLE_128B);
}

static bool recorded_are(const int *row, const events &want)
{
    for (size_t i = 0; i < want.size(); i += 2, row += CELLS)
        if (row[0] != want[i] || row[1] != want[i + 1])
            return false;
    return row[0] == NONE;
}

template <typename kernel>
static void test_events(const char *name, kernel *flash, int bytes, const events &of_consumer)
{
    const size_t rows = ROLES * MOST_ROWS * CELLS * sizeof(int);
    char *x;
    float *lse;
    int *row;
    CUDA_CHECK(cudaMalloc((void **)&x, 2 * (2 * QUERIES + 2 * KEYS) * D));
    CUDA_CHECK(cudaMalloc((void **)&lse, QUERIES * sizeof(float)));
    CUDA_CHECK(cudaMallocManaged((void **)&row, rows));
    CUDA_CHECK(cudaMemset(x, 0, 2 * (2 * QUERIES + 2 * KEYS) * D));
    CUDA_CHECK(cudaMemset(row, 0xff, rows));
    const CUtensorMap q = map(x, QUERIES, 64), k = map(x + 2 * QUERIES * D, KEYS, 128);
    const CUtensorMap v = map(x + 2 * (QUERIES + KEYS) * D, KEYS, 128);
    const CUtensorMap o = map(x + 2 * (QUERIES + 2 * KEYS) * D, QUERIES, 64);
    CUDA_CHECK(cudaFuncSetAttribute(flash, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    flash<<<1, 384, bytes>>>(q, k, v, o, lse, QUERIES, KEYS, false, recorder{row, MOST_ROWS, 0, 0});
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaDeviceSynchronize());
    events of_producer;
    for (int tile = 0; tile < TILES; tile++)
        for (int event : {WAIT, LOAD, WAIT, LOAD})
            of_producer.insert(of_producer.end(), {event, tile});
    bool right = recorded_are(row, of_producer);
    for (int role = 1; role < ROLES; role++)
        right = right && recorded_are(row + role * MOST_ROWS * CELLS, of_consumer);
    ok(right, name);
    CUDA_CHECK(cudaFree(x));
    CUDA_CHECK(cudaFree(lse));
    CUDA_CHECK(cudaFree(row));
}

int main(void)
{
    events c, d;
    for (int tile = 0; tile < TILES; tile++)
        c.insert(c.end(), {WAIT, tile, SCORES, tile, SOFTMAX, tile, WAIT, tile, VALUES, tile});
    for (int tile = 1; tile < TILES; tile++) /* the first is outside the loop */
        d.insert(d.end(), {WAIT, tile, SCORES, tile, SOFTMAX, tile, VALUES, tile - 1});
    test_order();
    const int bytes = bytes_of_memory<D, 2, 128, 2, 0>();
    test_events("c-ping-pong records each event of each tile", ping_pong::flash<D, 2, recorder>,
                bytes, c);
    test_events("d-overlap: the same, values one tile late", overlap::flash<D, 2, recorder>, bytes,
                d);
    printf("1..%d\n", count);
}
