/* wgmma_ring.cuh: shared memory of the kernels of steps 29, 31 and 37 that have a producer: the
 * tiles of a block, and a ring of STAGES tiles of keys and of values that the producer fills and
 * WARPGROUPS consumer warpgroups empty. A stage's full barrier says that its bytes have come, its
 * empty barrier that all consumer warpgroups have read it.
 */
#pragma once

#include "cuda/tma.cuh"

// Addresses of q [Q_STAGES][WARPGROUPS][64][D], o [WARPGROUPS][64][D], k and v [STAGES][KEYS][D],
// and of barriers. Q_STAGES is 0 if a block has one work tile: then o takes the place of q, whose
// empty barrier nobody needs. Otherwise the queries of the next work tile may come early.
typedef struct block_memory {
    uint32_t q_tiles, o_tiles, k_tiles, v_tiles;
    uint32_t q_full, q_empty;                  // barriers, [Q_STAGES]
    uint32_t k_full, v_full, k_empty, v_empty; // [STAGES]
} block_memory;

// In bytes.
template <int D, int WARPGROUPS, int KEYS, int STAGES, int Q_STAGES = 1>
static __host__ __device__ constexpr int bytes_of_memory()
{
    return ((Q_STAGES + 1) * WARPGROUPS * 64 + 2 * STAGES * KEYS) * D * 2 +
           ((Q_STAGES == 0 ? 1 : 2 * Q_STAGES) + 4 * STAGES) * 8;
}

template <int D, int WARPGROUPS, int KEYS, int STAGES, int Q_STAGES = 1>
static __device__ __forceinline__ block_memory memory_at(uint32_t first)
{
    constexpr int Q_TILE = 64 * D * 2, TILE = KEYS * D * 2; // bytes
    block_memory m;
    m.q_tiles = first;
    m.o_tiles = m.q_tiles + Q_STAGES * WARPGROUPS * Q_TILE;
    m.k_tiles = m.o_tiles + WARPGROUPS * Q_TILE;
    m.v_tiles = m.k_tiles + STAGES * TILE;
    m.q_full = m.v_tiles + STAGES * TILE;
    m.q_empty = m.q_full + Q_STAGES * 8;
    m.k_full = m.q_empty + (Q_STAGES == 0 ? 1 : Q_STAGES) * 8;
    m.v_full = m.k_full + STAGES * 8;
    m.k_empty = m.v_full + STAGES * 8;
    m.v_empty = m.k_empty + STAGES * 8;
    return m;
}

// All threads of a block call it, and may use the barriers when it returns. q_readers, k_writers:
// how often threads arrive for a stage of q that is empty, and for a tile of keys that is full.
template <int WARPGROUPS, int STAGES, int Q_STAGES = 1>
static __device__ __forceinline__ void init_barriers(const block_memory &m,
                                                     int q_readers = WARPGROUPS, int k_writers = 1)
{
    if (threadIdx.x == 0) {
        barrier_init(m.q_full, 1);
        for (int i = 1; i < Q_STAGES; i++) {
            barrier_init(m.q_full + 8 * i, 1);
        }
        for (int i = 0; i < Q_STAGES; i++) {
            barrier_init(m.q_empty + 8 * i, q_readers);
        }
        for (int i = 0; i < STAGES; i++) {
            barrier_init(m.k_full + 8 * i, k_writers);
            barrier_init(m.v_full + 8 * i, 1);
            barrier_init(m.k_empty + 8 * i, WARPGROUPS);
            barrier_init(m.v_empty + 8 * i, WARPGROUPS);
        }
        barrier_init_fence();
    }
    __syncthreads();
}

// The producer: loads a tile of keys and of values of a head as soon as its stage is empty. step:
// the tile's number among those of all work tiles.
template <int D, int KEYS, int STAGES>
static __device__ __forceinline__ void
load_key_tile(const block_memory &m, const CUtensorMap *k_map, const CUtensorMap *v_map, int head,
              int tile, int step)
{
    constexpr int TILE = KEYS * D * 2; // bytes
    const int stage = step % STAGES, emptied = step / STAGES % 2 ^ 1;
    barrier_wait(m.k_empty + 8 * stage, emptied);
    barrier_expect(m.k_full + 8 * stage, TILE);
    tma_load(m.k_tiles + stage * TILE, k_map, m.k_full + 8 * stage, 0, tile * KEYS, 0, head);
    barrier_wait(m.v_empty + 8 * stage, emptied);
    barrier_expect(m.v_full + 8 * stage, TILE);
    tma_load(m.v_tiles + stage * TILE, v_map, m.v_full + 8 * stage, 0, tile * KEYS, 0, head);
}

// The same for this many tiles, from the last one down. step: counts the tiles of all work tiles.
template <int D, int KEYS, int STAGES>
static __device__ __forceinline__ void load_keys(const block_memory &m, const CUtensorMap *k_map,
                                                 const CUtensorMap *v_map, int head, int tiles,
                                                 int &step)
{
#pragma unroll 1
    for (int tile = tiles - 1; tile >= 0; tile--, step++) {
        load_key_tile<D, KEYS, STAGES>(m, k_map, v_map, head, tile, step);
    }
}
