// cp.async.bulk.tensor: boxes of 1 to 5 dimensions, of each type, swizzle and filling, that lie
// inside of the array, across its borders and outside of it: loads, stores, additions.
#include "bulk.h"

enum { TILE = 16 << 10, ARRAY = 64 << 10, THREADS = 128 };

enum what { LOADS, STORES, ADDS };

// tile and out [TILE]; the box lies `offset` bytes into the tile. What is not copied is as it was
// in the tile, or 0xab.
__global__ void move(const __grid_constant__ CUtensorMap map, int rank, place c, int what,
                     int offset, int bytes, const char *tile, char *out)
{
    __shared__ alignas(1024) char shared[TILE];
    __shared__ alignas(8) uint64_t barrier;
    for (int i = threadIdx.x; i < TILE; i += THREADS)
        shared[i] = tile ? tile[i] : (char)0xab;
    fence_async();
    if (threadIdx.x == 0)
        barrier_init(shared_address(&barrier), 1);
    __syncthreads();
    if (threadIdx.x == 0 && what == LOADS) {
        barrier_expect(shared_address(&barrier), bytes);
        load_box(rank, shared_address(shared) + offset, &map, shared_address(&barrier), c);
    } else if (threadIdx.x == 0) {
        if (what == STORES)
            store_box(rank, shared_address(shared) + offset, &map, c);
        else
            add_box(rank, shared_address(shared) + offset, &map, c);
        bulk_commit_and_wait<0>();
    }
    if (what == LOADS)
        barrier_wait(shared_address(&barrier), 0);
    for (int i = threadIdx.x; i < TILE && out; i += THREADS)
        out[i] = shared[i];
}

static const struct {
    const char *name;
    CUtensorMapDataType type;
    int bytes, adds; /* adds: cp.reduce can */
} types[] = {{"u8", CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 0},
             {"u16", CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, 0},
             {"u32", CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 1},
             {"s32", CU_TENSOR_MAP_DATA_TYPE_INT32, 4, 1},
             {"u64", CU_TENSOR_MAP_DATA_TYPE_UINT64, 8, 1},
             {"s64", CU_TENSOR_MAP_DATA_TYPE_INT64, 8, 0},
             {"f16", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, 1},
             {"f32", CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 1},
             {"f64", CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8, 0},
             {"bf16", CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, 1},
             {"f32.ftz", CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, 4, 1},
             {"tf32", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4, 1},
             {"tf32.ftz", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, 4, 1}};
enum { TYPES = sizeof types / sizeof *types, F16 = 6, F32 = 7, U32 = 2 };

struct layout {
    int rank;
    cuuint64_t extent[5], stride[4];
    cuuint32_t box[5], step[5];
};

static char *array, *tile, *out, host[ARRAY];
static decltype(&cuTensorMapEncodeTiled) encode;

static void fill(char *device, size_t bytes, uint64_t id)
{
    for (size_t i = 0; i < bytes; i += 8) {
        const uint64_t v = mixed(id, i);
        memcpy(host + i, &v, 8);
    }
    need(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "copy to the device");
}

// A store that begins in front of the array is an illegal instruction.
static int in_front(const place &c)
{
    for (int at : c.at)
        if (at < 0)
            return 1;
    return 0;
}

// A copy at each place of a list, with a line for all together. The first coordinate is counted in
// units of 16 bytes.
static void run(const char *name, const layout &l, int type, CUtensorMapSwizzle swizzle, int nan,
                int what, int offset, const place *places, int n)
{
    static const char *const verbs[] = {"load", "store", "add"};
    CUtensorMap map;
    int bytes = types[type].bytes;
    for (int i = 0; i < l.rank; i++)
        bytes *= i ? (int)((l.box[i] + l.step[i] - 1) / l.step[i]) : (int)l.box[i];
    const CUresult error =
        encode(&map, types[type].type, (cuuint32_t)l.rank, array, l.extent, l.stride, l.box, l.step,
               CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
               nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                   : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    printf("cp.async.bulk.tensor.%dd %s\t%s %s, swizzle %d%s, tile at %d\t", l.rank, verbs[what],
           name, types[type].name, (int)swizzle, nan ? ", nan" : "", offset);
    if (error != CUDA_SUCCESS) {
        printf("no map: %d\n", (int)error);
        return;
    }
    uint32_t hash = 0;
    for (int i = 0; i < n; i++) {
        fill(array, ARRAY, 1);
        if (what != LOADS)
            fill(tile, TILE, 2 + i);
        place c = places[i];
        c.at[0] *= 16 / types[type].bytes;
        if (what != LOADS && in_front(c))
            continue;
        move<<<1, THREADS>>>(map, l.rank, c, what, offset, bytes, what == LOADS ? NULL : tile,
                             what == LOADS ? out : NULL);
        if (what == LOADS)
            to_host(host, out, TILE);
        else
            to_host(host, array, ARRAY);
        hash = hashed(hash, host, what == LOADS ? TILE : ARRAY);
    }
    print_end(hash, 0);
}
#define RUN(name, l, type, swizzle, nan, what, offset, places)                                     \
    run(name, l, type, (CUtensorMapSwizzle)(swizzle), nan, what, offset, places,                   \
        (int)(sizeof places / sizeof *places))

int main()
{
    array = (char *)on_device(NULL, ARRAY);
    tile = (char *)on_device(NULL, TILE);
    out = (char *)on_device(NULL, TILE);
    encode = encoder();

    const place line[] = {{{0}}, {{-1}}, {{15}}, {{18}}, {{19}}, {{-4}}, {{-6}}, {{1 << 26}}};
    const layout row = {1, {300}, {0}, {64}, {1}};
    for (int what = LOADS; what <= STORES; what++)
        RUN("row", row, 0, 0, 0, what, 0, line);

    // Every type, on all borders of an array whose rows have gaps. A box begins at a multiple of 16
    // bytes in a row: so the first coordinate counts here.
    const place around[] = {{{0, 0}}, {{1, 3}},  {{-1, -1}}, {{2, 15}},  {{-2, -2}}, {{1, 17}},
                            {{9, 0}}, {{18, 4}}, {{0, 19}},  {{-16, 0}}, {{-5, -8}}};
    const layout rows = {2, {37, 19}, {320}, {32, 8}, {1, 1}};
    for (int t = 0; t < TYPES; t++) {
        RUN("around", rows, t, 0, 0, LOADS, 0, around);
        if (t >= F16)
            RUN("around", rows, t, 0, 1, LOADS, 0, around);
        RUN("around", rows, t, 0, 0, STORES, 0, around);
        if (types[t].adds)
            RUN("around", rows, t, 0, 0, ADDS, 0, around);
    }

    // Every swizzle, boxes of any width that it allows, tiles at multiples of 128.
    const place corner[] = {{{0, 0}}, {{5, 10}}};
    for (int swizzle = 0; swizzle < 4; swizzle++)
        for (unsigned width = 8; width <= (swizzle ? 8u << swizzle : 64); width *= 2)
            for (int offset = 0; offset < 1024; offset += offset ? offset : 128) {
                const layout l = {2, {80, 40}, {160}, {width, 32}, {1, 1}};
                RUN(width == 8    ? "16 bytes wide"
                    : width == 16 ? "32 bytes wide"
                    : width == 32 ? "64 bytes wide"
                                  : "128 bytes wide",
                    l, F16, swizzle, 0, LOADS, offset, corner);
                RUN(width == 8    ? "16 bytes wide"
                    : width == 16 ? "32 bytes wide"
                    : width == 32 ? "64 bytes wide"
                                  : "128 bytes wide",
                    l, F16, swizzle, 0, STORES, offset, corner);
            }

    // More dimensions, elements left out, strides in any order.
    const place inner[] = {{{0, 0, 0, 0, 0}},  {{-1, 1, -1, 1, 0}}, {{3, 6, 4, 2, 1}},
                           {{0, 0, 0, 0, -1}}, {{1, -2, 2, -1, 1}}, {{0, 0, 5, 0, 0}}};
    for (int what = LOADS; what <= STORES; what++) {
        const layout three = {3, {20, 9, 5}, {64, 640}, {8, 4, 3}, {1, 1, 1}};
        const layout four = {4, {20, 9, 5, 3}, {64, 640, 3200}, {8, 4, 3, 2}, {1, 1, 1, 1}};
        const layout five = {
            5, {20, 9, 5, 3, 2}, {64, 640, 3200, 9600}, {8, 4, 3, 2, 2}, {1, 1, 1, 1, 1}};
        const layout steps = {3, {20, 19, 5}, {64, 1280}, {8, 7, 4}, {1, 2, 3}};
        const layout crossed = {4, {64, 50, 2, 3}, {256, 128, 12800}, {64, 16, 2, 1}, {1, 1, 1, 1}};
        RUN("three", three, F32, 0, 0, what, 0, inner);
        RUN("four", four, F32, 0, 0, what, 0, inner);
        RUN("five", five, F32, 0, 0, what, 0, inner);
        RUN("steps", steps, U32, 0, 0, what, 0, inner);
        RUN("crossed", crossed, F16, 3, 0, what, 0, inner);
    }
    return any_wrong;
}
