// cuTensorMapEncodeTiled: which maps the driver makes, and which it refuses.
#include "bulk.h"

static decltype(&cuTensorMapEncodeTiled) encode;

struct request {
    int type, rank, offset, interleave, swizzle, promotion, fill;
    cuuint64_t extent[5], stride[4];
    cuuint32_t box[5], step[5];
};

static void ask(const char *name, const request &r)
{
    static CUtensorMap map;
    const CUresult error =
        encode(&map, (CUtensorMapDataType)r.type, (cuuint32_t)r.rank,
               (void *)((uintptr_t)0x7f0000000000 + (uintptr_t)r.offset), r.extent, r.stride, r.box,
               r.step, (CUtensorMapInterleave)r.interleave, (CUtensorMapSwizzle)r.swizzle,
               (CUtensorMapL2promotion)r.promotion, (CUtensorMapFloatOOBfill)r.fill);
    printf("cuTensorMapEncodeTiled\t%s\t%d\n", name, (int)error);
}

int main()
{
    need(cudaFree(0), "cudaFree");
    encode = encoder();
    const request right = {6,           3,        0, 0, 0, 0, 0, {128, 100, 8}, {256, 25600},
                           {64, 64, 1}, {1, 1, 1}};
    ask("right", right);
#define WITH(name, change)                                                                         \
    do {                                                                                           \
        request r = right;                                                                         \
        change;                                                                                    \
        ask(name, r);                                                                              \
    } while (0)
    WITH("type 12", (r.type = 12, r.box[0] = 32));
    WITH("type 99", r.type = 99);
    WITH("type -1", r.type = -1);
    WITH("rank 0", r.rank = 0);
    WITH("rank 1", r.rank = 1);
    WITH("rank 5", (r.rank = 5, r.extent[3] = r.extent[4] = 2, r.stride[2] = 1 << 20,
                    r.stride[3] = 2 << 20, r.box[3] = r.box[4] = r.step[3] = r.step[4] = 1));
    WITH("rank 6", r.rank = 6);
    WITH("address + 8", r.offset = 8);
    WITH("address + 16", r.offset = 16);
    WITH("address + 32", r.offset = 32);
    WITH("extent 0", r.extent[1] = 0);
    WITH("extent 2^32", r.extent[2] = 1ull << 32);
    WITH("extent 2^32 + 1", r.extent[2] = (1ull << 32) + 1);
    WITH("extent 2^31", r.extent[2] = 1ull << 31);
    WITH("stride 8", r.stride[0] = 8);
    WITH("stride 0", r.stride[0] = 0);
    WITH("last stride 0", r.stride[1] = 0);
    WITH("stride 264", r.stride[0] = 264);
    WITH("stride 272", r.stride[0] = 272);
    WITH("stride less than a row", r.stride[0] = 128);
    WITH("strides that shrink", (r.stride[0] = 25600, r.stride[1] = 256));
    WITH("stride not a multiple of the one before", r.stride[1] = 25616);
    WITH("stride 2^40", r.stride[1] = 1ull << 40);
    WITH("stride 2^40 - 16", r.stride[1] = (1ull << 40) - 16);
    WITH("box 0", r.box[1] = 0);
    WITH("box 256", r.box[1] = 256);
    WITH("box 257", r.box[1] = 257);
    WITH("box larger than the array", r.box[2] = 9);
    WITH("box of 2 MiB", (r.box[0] = 256, r.box[1] = 256, r.box[2] = 16, r.extent[0] = 256));
    WITH("box 256 wide", r.box[0] = 256);
    WITH("box 4 wide", r.box[0] = 4);
    WITH("box 12 wide", r.box[0] = 12);
    WITH("box 8 wide", r.box[0] = 8);
    WITH("step 0", r.step[1] = 0);
    WITH("step 8", r.step[1] = 8);
    WITH("step 9", r.step[1] = 9);
    WITH("first step 0", r.step[0] = 0);
    WITH("first step 2", r.step[0] = 2);
    WITH("first step 9", r.step[0] = 9);
    WITH("step larger than the box", r.step[2] = 2);
    WITH("swizzle 32, box 64 bytes", (r.swizzle = 1, r.box[0] = 32));
    WITH("swizzle 32, box 32 bytes", (r.swizzle = 1, r.box[0] = 16));
    WITH("swizzle 64, box 128 bytes", r.swizzle = 2);
    WITH("swizzle 64, box 64 bytes", (r.swizzle = 2, r.box[0] = 32));
    WITH("swizzle 128, box 128 bytes", r.swizzle = 3);
    WITH("swizzle 128, box 256 bytes", (r.swizzle = 3, r.box[0] = 128));
    WITH("swizzle 128, box 48 bytes", (r.swizzle = 3, r.box[0] = 24));
    WITH("swizzle -1", r.swizzle = -1);
    WITH("swizzle 7", r.swizzle = 7);
    WITH("promotion 3", r.promotion = 3);
    WITH("promotion 4", r.promotion = 4);
    WITH("fill 1, f16", r.fill = 1);
    WITH("fill 1, u16", (r.fill = 1, r.type = 1));
    WITH("fill 1, f64", (r.fill = 1, r.type = 8, r.box[0] = 16));
    WITH("fill 1, tf32", (r.fill = 1, r.type = 11, r.box[0] = 16));
    WITH("fill 2", r.fill = 2);
    WITH("interleave 3", r.interleave = 3);
    return 0;
}
