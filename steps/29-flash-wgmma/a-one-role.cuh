/* a-one-role: wgmma, tiles brought by TMA, and all warps do the same.
 *
 * A warpgroup has 64 queries. One thread requests the next tiles of K and V when all warps have
 * finished with the tiles in that place. Between the two products of a tile every warpgroup
 * computes its softmax; meanwhile the tensor cores have only the work of other warpgroups. */
#pragma once

#include "cuda/wgmma_rows.cuh"

namespace one_role
{

enum { KEYS = 128, STAGES = 2 };

// In shared memory: q [WARPGROUPS][64][D], k and v [STAGES][KEYS][D], barriers.
template <int D, int WARPGROUPS>
static constexpr int bytes_of_block()
{
    return (WARPGROUPS * 64 + 2 * STAGES * KEYS) * D * 2 + (1 + STAGES) * 8;
}

// Maps of q and o [BH][Sq][D] in boxes of 64 rows, k and v [BH][Sk][D] in boxes of KEYS
// -> o, lse [BH][Sq]
// cost: 4 D flops per score on tensor cores, one exponential per score; K and V from the L2 cache
// once per 64 WARPGROUPS queries
template <int D, int WARPGROUPS>
__global__ void __launch_bounds__(WARPGROUPS * 128, 1)
    flash(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
          const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap o_map,
          float *lse, int Sq, int Sk, bool causal)
{
    constexpr int QUERIES = WARPGROUPS * 64, Q_TILE = 64 * D * 2, TILE = KEYS * D * 2; // bytes
    extern __shared__ __align__(1024) char memory[];
    const uint32_t q_tiles = shared_address(memory);
    const uint32_t k_tiles = q_tiles + WARPGROUPS * Q_TILE;
    const uint32_t v_tiles = k_tiles + STAGES * TILE;
    const uint32_t q_full = v_tiles + STAGES * TILE; // barriers
    const uint32_t full = q_full + 8;                // [STAGES], of k and v
    const int lane = threadIdx.x % 32;
    const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // uniform within a warp
    const int64_t head = blockIdx.y;
    const int block_row = (gridDim.x - 1 - blockIdx.x) * QUERIES; // the longest rows first
    const int row = block_row + threadIdx.x / 32 * 16 + lane / 4; // of this lane, and row + 8
    const float scale = LOG2E / sqrtf((float)D);                  // to exponents of 2
    const int block_keys = causal ? min(Sk, Sk - Sq + block_row + QUERIES) : Sk;
    const int tiles = max(0, (block_keys + KEYS - 1) / KEYS);
    // Keys that the warpgroup's first row sees. Tiles from whole_tiles on need the mask.
    const int first_row_keys = causal ? min(Sk, Sk - Sq + block_row + warpgroup * 64 + 1) : Sk;
    const int whole_tiles = max(0, first_row_keys) / KEYS;

    if (threadIdx.x == 0) {
        barrier_init(q_full, 1);
        for (int i = 0; i < STAGES; i++) {
            barrier_init(full + 8 * i, 1);
        }
        barrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        barrier_expect(q_full, WARPGROUPS * Q_TILE);
        for (int i = 0; i < WARPGROUPS; i++) {
            tma_load(q_tiles + i * Q_TILE, &q_map, q_full, 0, block_row + i * 64, 0, head);
        }
        if (tiles > 0) {
            barrier_expect(full, 2 * TILE);
            tma_load(k_tiles, &k_map, full, 0, (tiles - 1) * KEYS, 0, head);
            tma_load(v_tiles, &v_map, full, 0, (tiles - 1) * KEYS, 0, head);
        }
    }

    float s[KEYS / 8][4];
    uint32_t p[KEYS / 16][4];
    float out[D / 8][4] = {};
    float row_max[2] = {-INFINITY, -INFINITY}; // of row and of row + 8
    float row_sum[2] = {0.0f, 0.0f};           // of the keys of this lane
    float correction[2];
    uint64_t q_tile = 0, k_tile = 0, v_tile = 0; // descriptors, of the first stage
    // solution: descriptors -- 64 bits each: this warpgroup's queries; stage 0 of K; stage 0 of V
    // hint: A product reads its tiles itself: which fields of the chapter's table say where the
    //     elements of a tile are? The start and both distances are in units of 16 bytes.
    // hint: This warpgroup's queries begin at `q_tiles + warpgroup * Q_TILE`, the first stages of K
    //     and V at k_tiles and v_tiles. A column block of q has 64 rows of 128 bytes, one of k or v
    //     has KEYS rows.
    // hint: All three have the swizzle 1 and the stride `(uint64_t)(1024 >> 4) << 32`; the start
    //     and the leading distance are written in the same way, and | joins the four fields.
    //     Convert to uint64_t before the shift: an int has no bit 32.
    q_tile = tile_descriptor(q_tiles + warpgroup * Q_TILE, 64 * 128);
    k_tile = tile_descriptor(k_tiles, KEYS * 128);
    v_tile = tile_descriptor(v_tiles, KEYS * 128);
    // end solution: descriptors

    barrier_wait(q_full, 0);
    int step = 0;
    int tile = tiles - 1; // from the last one down: it may need a mask
#pragma unroll
    for (int edge = 1; edge >= 0; edge--) {
        for (; tile >= (edge ? whole_tiles : 0); tile--, step++) {
            const int stage = step % STAGES;
            if (threadIdx.x == 0 && tile > 0) { // nobody reads the other stage any more
                const int other = STAGES - 1 - stage;
                barrier_expect(full + 8 * other, 2 * TILE);
                tma_load(k_tiles + other * TILE, &k_map, full + 8 * other, 0, (tile - 1) * KEYS, 0,
                         head);
                tma_load(v_tiles + other * TILE, &v_map, full + 8 * other, 0, (tile - 1) * KEYS, 0,
                         head);
            }
            // snippet: tile
            barrier_wait(full + 8 * stage, step / STAGES % 2);
            wgmma_fence();
            start_qk<D, KEYS>(s, q_tile, k_tile + stage * advance(TILE));
            wgmma_commit();
            wgmma_wait<0>();
            fence_registers(s);

            if (edge) {
                mask_scores<KEYS>(s, row, tile * KEYS, Sq, Sk, causal);
            }
            softmax_step<KEYS>(s, row_max, row_sum, correction, scale);
            pack_probabilities<KEYS>(p, s);
            rescale<D>(out, correction);

            fence_registers(out);
            wgmma_fence();
            start_pv<D, KEYS>(out, p, v_tile + stage * advance(TILE));
            wgmma_commit();
            wgmma_wait<0>();
            fence_registers(out);
            __syncthreads();
            // end snippet: tile
        }
    }

    const uint32_t o_tile = q_tiles + warpgroup * Q_TILE; // only this warpgroup has read it
    rows_to_tile<D>(o_tile, lse + head * Sq, out, row_max, row_sum, scale, row, Sq);
    fence_async_proxy();
    named_sync(WARPGROUP_BARRIER + warpgroup, 128);
    if (threadIdx.x % 128 == 0) {
        tma_store(&o_map, o_tile, 0, block_row + warpgroup * 64, 0, head);
        bulk_commit();
        bulk_wait<0>();
    }
}

} // namespace one_role
