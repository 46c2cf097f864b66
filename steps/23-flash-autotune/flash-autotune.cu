/* 23-flash-autotune: which tile is the fastest, by trying
 *
 * Follows: 22-flash-tensor-cores
 * Architecture: 80
 * Record: --tuned tuned-flash.tsv
 *
 * Idea     The last rung of step 22 with the tile's size, the warps and the stages as parameters:
 *          seventeen kernels from one source. For each shape all of them are verified, the right
 *          ones are timed, and the fastest goes into a table that later steps look up. A kernel
 *          that does not fit the device is refused, with the reason.
 * Predict  A warp with 32 queries reads each tile of keys half as often from shared memory: then
 *          products take the most cycles, and the gain is 1.33 times at most. 32 win where there
 *          are enough blocks, at long S, and 16 win at short S. At S = 512 blocks of 256 queries
 *          fill half of the device: 0.5 times as fast. A third stage gains nothing.
 * Outcome  At long S winners have 32 queries per warp, except for D = 128 under a mask. Without a
 *          mask they gain up to a tenth over the last rung of step 22; with a mask, or at
 *          short S, that rung is hard to beat. Stages matter by the shared memory that they take.
 *          Three tiles are refused at D = 128, all but one for registers. Each length has its own
 *          winner, and others come close. One kernel was fast, and wrong, in its first form.
 */
#include "cuda/flash_rows.cuh"
#include "cuda/flash_tiles.cuh"
#include "cuda/refused.cuh"
#include "problems/flash_cases.h"

#include <string.h>

// True if q stays in registers: if the fragments of q, of the scores and of the sums then take at
// most 192 registers.
static __host__ __device__ constexpr bool keeps_query(int D, int KEYS, int strips)
{
    return strips * (D / 4 + KEYS / 2 + D / 2) <= 192;
}

// The products of a warp, defined below the kernel. warp_add_qk: s [16 STRIPS][KEYS] += q k^T. The
// warp's rows of q begin at warp_row; KEPT: they are in query. warp_add_pv: out [16 STRIPS][D] +=
// p v, where probabilities p are rounded to halves. q_lane, k_lane, v_lane: the offsets of the rows
// that this lane passes to ldmatrix, as in step 22
template <int D, int KEYS, int STRIPS, bool KEPT>
static __device__ __forceinline__ void
warp_add_qk(float (*s)[KEYS / 8][4], const uint32_t (&query)[KEPT ? STRIPS : 1][D / 16][4],
            uint32_t q_tile, int warp_row, uint32_t k_tile, uint32_t q_lane, uint32_t k_lane);
template <int D, int KEYS, int STRIPS>
static __device__ __forceinline__ void warp_add_pv(float (*out)[D / 8][4],
                                                   const float (&p)[STRIPS][KEYS / 8][4],
                                                   uint32_t v_tile, uint32_t v_lane);

// q [BH][Sq][D], k, v [BH][Sk][D] -> o [BH][Sq][D], lse [BH][Sq]
// grid (Sq / ROWS, BH), WARPS * 32 threads, one warp per 16 STRIPS queries. Compiled for 8 warps
// per multiprocessor: with 255 registers per thread no more than 8 fit. cost: 4 D flops per score.
// Per key a warp reads 4 D bytes of shared memory, for all its queries
template <int D, int ROWS, int KEYS, int WARPS, int STAGES>
__global__ void __launch_bounds__(WARPS * 32, 8 / WARPS)
    flash(const __half *q, const __half *k, const __half *v, __half *o, float *lse, int Sq, int Sk,
          bool causal)
{
    constexpr int THREADS = WARPS * 32;
    constexpr int STRIPS = ROWS / WARPS / 16;
    constexpr bool KEPT = keeps_query(D, KEYS, STRIPS); // q in registers, and not in shared memory
    constexpr int TILE = KEYS * D * 2;                  // bytes
    constexpr int AHEAD = STAGES > 1 ? STAGES - 1 : 1;  // tiles that are asked for before the loop
    extern __shared__ __align__(16) __half tiles[]; // q [ROWS] unless kept, k and v [STAGES][KEYS]
    const int lane = threadIdx.x % 32;
    const int64_t head = blockIdx.y;
    const int block_row = (gridDim.x - 1 - blockIdx.x) * ROWS; // the longest rows first
    const int warp_row = threadIdx.x / 32 * STRIPS * 16;
    // The first of this lane's two rows in its first strip; row + 8 is the other.
    const int row = block_row + warp_row + threadIdx.x % 32 / 4;
    q += head * Sq * D;
    k += head * Sk * D;
    v += head * Sk * D;
    const uint32_t q_tile = shared_address(tiles);
    const uint32_t k_tiles = q_tile + (KEPT ? 0 : ROWS * D * 2);
    const uint32_t v_tiles = k_tiles + STAGES * TILE;
    // The offsets that this lane gives to ldmatrix, as in step 22: of k, and of q and v.
    const uint32_t k_lane = (lane / 16 * 8 + lane % 8) * D * 2 + (lane / 8 % 2 ^ lane % 8) * 16;
    const uint32_t qv_lane = lane % 16 * D * 2 + (lane / 16 ^ lane % 8) * 16;
    const float scale = LOG2E / sqrtf((float)D);                           // to exponents of 2
    const int visible = min(Sk, causal ? Sk - Sq + block_row + ROWS : Sk); // to the last row

    uint32_t query[KEPT ? STRIPS : 1][D / 16][4];
    float out[STRIPS][D / 8][4] = {};
    float row_max[STRIPS][2],
        row_sum[STRIPS][2]; // of row and row + 8; row_sum: of the keys of this lane
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
        if (KEPT) {
            load_query<D>(query[KEPT ? i : 0], q, row + i * 16, Sq);
        }
        row_max[i][0] = row_max[i][1] = -INFINITY;
        row_sum[i][0] = row_sum[i][1] = 0.0f;
    }
    if (!KEPT) {
        load_tile<D, ROWS, THREADS>(q_tile, q, block_row, Sq);
    }
    // One cp.async group per tile, even if nothing is left to copy, so that a wait can count
    // groups. With one stage k and v alternate: one is copied while the other is multiplied.
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
        const int first = i * KEYS;
        if (first < visible) {
            load_tile<D, KEYS, THREADS>(k_tiles + i * TILE, k, first, Sk);
        }
        if (first < visible && STAGES > 1) {
            load_tile<D, KEYS, THREADS>(v_tiles + i * TILE, v, first, Sk);
        }
        copy_async_commit();
    }
    for (int first = 0; first < visible; first += KEYS) {
        const int next = first + AHEAD * KEYS;
        uint32_t stage = 0;
        uint32_t next_stage = 0;
        // solution: stages -- where this tile lies, where the next one goes; the wait
        // hint: The stages are a ring: tile number n is in stage n % STAGES. Which number has the
        //     tile whose first key is `first`, and which the tile whose first key is `next`?
        // hint: stage and next_stage are in bytes from the first stage, and a stage of k or of v
        //     has TILE bytes. At this point the AHEAD youngest cp.async groups are that of this
        //     tile and those of later tiles. Only the group of this tile has to be complete: how
        //     many may still be in flight?
        // hint: The first line is `stage = first / KEYS % STAGES * TILE;`. `copy_async_wait<N>()`
        //     leaves at most the N youngest groups in flight: N is 0 with one or two stages and 1
        //     with three. An expression with `>` in it has to be in parentheses,
        //     `copy_async_wait<(EXPRESSION)>()`: without them the first `>` ends the template
        //     arguments, and the line does not compile.
        stage = first / KEYS % STAGES * TILE;
        next_stage = next / KEYS % STAGES * TILE;
        copy_async_wait<AHEAD - 1>();
        // end solution: stages
        __syncthreads(); // this tile is there for all, and nobody reads the one before
        if (STAGES == 1) {
            load_tile<D, KEYS, THREADS>(v_tiles, v, first, Sk);
        } else if (next < visible) {
            load_tile<D, KEYS, THREADS>(k_tiles + next_stage, k, next, Sk);
            load_tile<D, KEYS, THREADS>(v_tiles + next_stage, v, next, Sk);
        }
        copy_async_commit();

        float s[STRIPS][KEYS / 8][4] = {};
        warp_add_qk<D, KEYS, STRIPS, KEPT>(s, query, q_tile, warp_row, k_tiles + stage, qv_lane,
                                           k_lane);
        if (STAGES == 1) {
            copy_async_wait<0>();
            __syncthreads(); // the tile of v is there for all, and nobody reads that of k
            if (next < visible) {
                load_tile<D, KEYS, THREADS>(k_tiles, k, next, Sk);
            }
            copy_async_commit();
        }

        if (first + KEYS > Sk || (causal && first + KEYS - 1 > Sk - Sq + block_row)) {
#pragma unroll
            for (int i = 0; i < STRIPS; i++) {
                mask_scores<KEYS>(s[i], row + i * 16, first, Sq, Sk, causal);
            }
        }
#pragma unroll
        for (int i = 0; i < STRIPS; i++) {
            online_softmax<D, KEYS>(s[i], out[i], row_max[i], row_sum[i], scale);
        }
        warp_add_pv<D, KEYS, STRIPS>(out, s, v_tiles + stage, qv_lane);
    }
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
        store_rows<D>(o + head * Sq * D, lse + head * Sq, out[i], row_max[i], row_sum[i], scale,
                      row + i * 16, Sq);
    }
}

template <int D, int KEYS, int STRIPS, bool KEPT>
static __device__ __forceinline__ void
warp_add_qk(float (*s)[KEYS / 8][4], const uint32_t (&query)[KEPT ? STRIPS : 1][D / 16][4],
            uint32_t q_tile, int warp_row, uint32_t k_tile, uint32_t q_lane, uint32_t k_lane)
{
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        uint32_t a[STRIPS][4];
#pragma unroll
        for (int i = 0; i < STRIPS; i++) {
            if (KEPT) {
                memcpy(a[i], query[KEPT ? i : 0][d], sizeof a[i]);
            } else {
                warp_load_matrices(a[i], q_tile + (warp_row + i * 16) * D * 2 + (q_lane ^ d * 32));
            }
        }
#pragma unroll
        for (int n = 0; n < KEYS / 16; n++) {
            // snippet: strips
            uint32_t b[4]; // two operands: keys 16n to 16n+7 and the next 8
            warp_load_matrices(b, k_tile + n * 16 * D * 2 + (k_lane ^ d * 32));
#pragma unroll
            for (int i = 0; i < STRIPS; i++) { // one load, STRIPS times two products
                warp_mma(s[i][2 * n], a[i], b);
                warp_mma(s[i][2 * n + 1], a[i], b + 2);
            }
            // end snippet: strips
        }
    }
}

template <int D, int KEYS, int STRIPS>
static __device__ __forceinline__ void warp_add_pv(float (*out)[D / 8][4],
                                                   const float (&p)[STRIPS][KEYS / 8][4],
                                                   uint32_t v_tile, uint32_t v_lane)
{
#pragma unroll
    for (int n = 0; n < KEYS / 16; n++) {
        uint32_t a[STRIPS][4]; // keys 16n to 16n+15
#pragma unroll
        for (int i = 0; i < STRIPS; i++) {
            a[i][0] = pack_halves(p[i][2 * n][0], p[i][2 * n][1]);
            a[i][1] = pack_halves(p[i][2 * n][2], p[i][2 * n][3]);
            a[i][2] = pack_halves(p[i][2 * n + 1][0], p[i][2 * n + 1][1]);
            a[i][3] = pack_halves(p[i][2 * n + 1][2], p[i][2 * n + 1][3]);
        }
#pragma unroll
        for (int d = 0; d < D / 16; d++) {
            uint32_t b[4]; // two operands: dimensions 16d to 16d+7 and the next 8
            warp_load_transposed(b, v_tile + n * 16 * D * 2 + (v_lane ^ d * 32));
#pragma unroll
            for (int i = 0; i < STRIPS; i++) {
                warp_mma(out[i][2 * d], a[i], b);
                warp_mma(out[i][2 * d + 1], a[i], b + 2);
            }
        }
    }
}

typedef void flash_kernel(const __half *q, const __half *k, const __half *v, __half *o, float *lse,
                          int Sq, int Sk, bool causal);

// A candidate for one D, and the arguments of its launch.
typedef struct tiles {
    flash_kernel *kernel;
    int rows, threads, bytes; // per block
} tiles;

template <int D, int ROWS, int KEYS, int WARPS, int STAGES>
static tiles tiles_of_width()
{
    const bool kept = keeps_query(D, KEYS, ROWS / WARPS / 16);
    const int bytes = ((kept ? 0 : ROWS) + 2 * STAGES * KEYS) * D * (int)sizeof(__half);
    return {flash<D, ROWS, KEYS, WARPS, STAGES>, ROWS, WARPS * 32, bytes};
}

template <int ROWS, int KEYS, int WARPS, int STAGES>
static tiles tiles_for(const kf_shape *s)
{
    return s->D == 64 ? tiles_of_width<64, ROWS, KEYS, WARPS, STAGES>()
                      : tiles_of_width<128, ROWS, KEYS, WARPS, STAGES>();
}

template <int ROWS, int KEYS, int WARPS, int STAGES>
static const char *refused(const kf_case *c, char *why, size_t size)
{
    const tiles t = tiles_for<ROWS, KEYS, WARPS, STAGES>(&c->shape);
    return refused_here((const void *)t.kernel, t.bytes, why, size);
}

template <int ROWS, int KEYS, int WARPS, int STAGES>
static void launch(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const tiles t = tiles_for<ROWS, KEYS, WARPS, STAGES>(&s);
    flash_kernel *kernel = t.kernel;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, t.bytes));
    const dim3 grid((s.Sq + t.rows - 1) / t.rows, s.B * s.H);
    kernel<<<grid, t.threads, t.bytes, stream>>>(
        (const __half *)kf_memory(run, "q", KF_F16), (const __half *)kf_memory(run, "k", KF_F16),
        (const __half *)kf_memory(run, "v", KF_F16), (__half *)kf_memory(run, "o", KF_F16),
        kf_f32(run, "lse"), s.Sq, s.Sk, s.causal);
    CUDA_CHECK_LAUNCH();
}

// --- Tables --------------------------------------------------------------------------------------

#define LENGTHS(shape, d) shape(d, 512), shape(d, 2048), shape(d, 8192), shape(d, 16384)

static const kf_case cases[] = {
    LENGTHS(KF_FLASH_SQUARE, 64),
    LENGTHS(KF_FLASH_CAUSAL, 64),
    LENGTHS(KF_FLASH_SQUARE, 128),
    LENGTHS(KF_FLASH_CAUSAL, 128),
    KF_FLASH_ODD,
};

#define CANDIDATE(rows, keys, warps, stages)                                                       \
    {                                                                                              \
        .name = "m" #rows "-n" #keys "-w" #warps "-s" #stages,                                     \
        .about = #rows " queries, " #keys " keys, " #warps " warps, stages: " #stages,             \
        .launch = launch<rows, keys, warps, stages>, .applies = takes_part_here,                   \
        .refused = refused<rows, keys, warps, stages>                                              \
    }

static const kf_variant variants[] = {
    {.name = "m64-n64-w4-s2",
     .about = "the tile of step 22",
     .launch = launch<64, 64, 4, 2>,
     .refused = refused<64, 64, 4, 2>},
    CANDIDATE(64, 64, 4, 1),
    CANDIDATE(64, 32, 4, 3),
    CANDIDATE(64, 128, 4, 1),
    CANDIDATE(64, 128, 4, 2),
    CANDIDATE(64, 64, 2, 1),
    CANDIDATE(128, 64, 4, 1),
    CANDIDATE(128, 64, 4, 2),
    CANDIDATE(128, 64, 4, 3),
    CANDIDATE(128, 32, 4, 3),
    CANDIDATE(128, 48, 4, 3),
    CANDIDATE(128, 96, 4, 2),
    CANDIDATE(128, 128, 4, 2),
    CANDIDATE(128, 64, 8, 2),
    CANDIDATE(128, 128, 8, 2),
    CANDIDATE(256, 64, 8, 2),
    CANDIDATE(256, 128, 8, 3),
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}};

static const kf_question questions[] = {
    {.text = "In case small (2 heads of 128 queries and keys, D = 64), how many times as many "
             "wavefronts do m64-n64-w4-s2's shared loads take as m128-n64-w4-s2's?",
     .figure = "shared_ld_wavefronts",
     .case_name = "small",
     .variant = "m64-n64-w4-s2",
     .over = "m128-n64-w4-s2"},
    {.text = "With 32 heads of 512 queries and keys, D = 128, no mask, how many times as fast as "
             "m64-n64-w4-s2 is m256-n64-w8-s2, with blocks of 256 queries in place of 64?",
     .figure = "median_us",
     .case_name = "D128-S512",
     .variant = "m64-n64-w4-s2",
     .over = "m256-n64-w8-s2"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "23-flash-autotune",
        .title = "which tile is the fastest, by trying",
        .architecture = "80",
        KF_TABLES(cases, variants),
        .setup = kf_flash_setup,
        .reference = kf_flash_reference,
        .cost = kf_flash_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
        .tunes = true,
    };
    return kf_main(&program, argc, argv);
}
