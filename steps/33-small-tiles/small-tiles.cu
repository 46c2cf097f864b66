/* 33-small-tiles: a remedy: smaller tiles and more stages; and larger ones
 *
 * Grows from: 32-fused-rope-flash
 * Architecture: 80
 * Record: --tuned tuned-fused.tsv
 * Profile: kernels=fused --case forward-D64-S8192 --case forward-D128-S8192
 *
 * Idea     The log's second remedy for long sequences, in the forward pass: 32 to 64 queries per
 *          block and more stages, and no tile of 128. Step 32's kernel with the tile's size, warps
 *          and stages as parameters, and each of its tiles at every length; 256 queries, too.
 * Predict  The log: 0.9 to 1.0 of op by op at S = 8192 and 16384, and 0.8 to 0.9 beyond. Ours: a
 *          key is rotated S / (2 ROWS) times, so half of the rows rotate it twice as often. With
 *          the cycles of step 32's tile 64 rows are 0.83 times as fast at 65536, 32 rows 0.62, and
 *          256 rows 1.11. With what m64-n32-w4-s3 loses in step 23 it is 0.74. A third stage leaves
 *          one block per multiprocessor: 0.78, as in step 23.
 * Outcome  Small tiles lose more than predicted, least with three blocks per multiprocessor. 256
 *          rows gain a little at the longest lengths, and lose to op by op. The third stage loses
 *          more the longer S is. At D = 64, S = 512 more keys and warps win by more than small
 *          tiles.
 */
#include "cuda/flash_products.cuh"
#include "cuda/refused.cuh"
#include "cuda/rope_then_attention.cuh"
#include "cuda/rotate_tile.cuh"
#include "problems/rope_flash_cases.h"

// q [BH][Sq][D], k, v [BH][Sk][D], cosine and sine [Sk][D/2] -> o [BH][Sq][D], lse [BH][Sq]
// grid (Sq / ROWS, BH). cost: 4 D flops a score, and for each ROWS queries that see it a key is
// rotated: 3 D flops, 4 D bytes of tables
template <int D, int ROWS, int KEYS, int WARPS, int STAGES>
__global__ void __launch_bounds__(WARPS * 32, 8 / WARPS)
    fused(const __half *q, const __half *k, const __half *v, const float *cosine, const float *sine,
          __half *o, float *lse, int Sq, int Sk, bool causal)
{
    constexpr int THREADS = WARPS * 32;
    constexpr int STRIPS = ROWS / WARPS / 16;       // of 16 queries, a warp
    constexpr int TILE = KEYS * D * 2;              // bytes
    constexpr int AHEAD = STAGES - 1;               // tiles that are asked for before the loop
    extern __shared__ __align__(16) __half tiles[]; // q [ROWS][D], k and v [STAGES][KEYS][D]
    const int lane = threadIdx.x % 32;
    const int64_t head = blockIdx.y;
    const int block_row = (gridDim.x - 1 - blockIdx.x) * ROWS; // the longest rows first
    const int warp_row = threadIdx.x / 32 * STRIPS * 16;
    const int row =
        block_row + warp_row + lane / 4; // of this lane, in its first strip; and row + 8
    q += head * Sq * D;
    k += head * Sk * D;
    v += head * Sk * D;
    const uint32_t q_tile = shared_address(tiles);
    const uint32_t k_tiles = q_tile + ROWS * D * 2;
    const uint32_t v_tiles = k_tiles + STAGES * TILE;
    // The offsets that this lane gives to ldmatrix, as in step 22: of k, and of q and v.
    const uint32_t k_lane = (lane / 16 * 8 + lane % 8) * D * 2 + (lane / 8 % 2 ^ lane % 8) * 16;
    const uint32_t qv_lane = lane % 16 * D * 2 + (lane / 16 ^ lane % 8) * 16;
    const float scale = LOG2E / sqrtf((float)D);                           // to exponents of 2
    const int visible = min(Sk, causal ? Sk - Sq + block_row + ROWS : Sk); // to the last row

    float out[STRIPS][D / 8][4] = {};
    float row_max[STRIPS][2],
        row_sum[STRIPS][2]; // of row and row + 8; row_sum: of the keys of this lane
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
        row_max[i][0] = row_max[i][1] = -INFINITY;
        row_sum[i][0] = row_sum[i][1] = 0.0f;
    }
    load_tile<D, ROWS, THREADS>(q_tile, q, block_row, Sq);
    copy_async_commit();
    // A group of copies a tile, also where nothing is left to copy, so that a wait can count them.
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
        if (i * KEYS < visible) {
            load_tile<D, KEYS, THREADS>(k_tiles + i * TILE, k, i * KEYS, Sk);
            load_tile<D, KEYS, THREADS>(v_tiles + i * TILE, v, i * KEYS, Sk);
        }
        copy_async_commit();
    }
    copy_async_wait<AHEAD>();
    __syncthreads(); // the tile of q is there for all
    // Query i stands where key Sk - Sq + i stands.
    const int64_t first_angle = (int64_t)(Sk - Sq) * (D / 2);
    rotate_tile<D, ROWS, THREADS>(tiles, cosine + first_angle, sine + first_angle, block_row, Sq);
    COUNT("Q rotations", threadIdx.x == 0 ? min(ROWS, Sq - block_row) : 0);
    for (int first = 0; first < visible; first += KEYS) {
        // snippet: ring
        const int next = first + AHEAD * KEYS;
        uint32_t stage = 0;
        uint32_t next_stage = 0;
        // solution: stages -- in bytes: where this tile is, where the next one goes; then the wait
        // hint: The stages are a ring: tile number n is in stage n % STAGES. What is n
        //     for the tile whose first key is `first`, and for the tile whose first key is `next`?
        // hint: stage and next_stage are bytes from the first tile of k; tiles of k lie TILE bytes
        //     apart, and so do those of v.
        //     Each tile is one cp.async group. This tile's group and all that are committed after
        //     it are AHEAD groups now: how many of them may still be in flight?
        // hint: The first line is `stage = first / KEYS % STAGES * TILE;`. copy_async_wait<N>
        //     leaves at most the N youngest cp.async groups in flight: N is 0 with two stages and 1
        //     with three.
        stage = first / KEYS % STAGES * TILE;
        next_stage = next / KEYS % STAGES * TILE;
        copy_async_wait<AHEAD - 1>();
        // end solution: stages
        __syncthreads(); // this tile is there for all, and nobody reads the one before
        if (next < visible) {
            load_tile<D, KEYS, THREADS>(k_tiles + next_stage, k, next, Sk);
            load_tile<D, KEYS, THREADS>(v_tiles + next_stage, v, next, Sk);
        }
        copy_async_commit();
        // end snippet: ring
        rotate_tile<D, KEYS, THREADS>(tiles + ROWS * D + stage / 2, cosine, sine, first, Sk);
        COUNT("K rotations", threadIdx.x == 0 ? min(KEYS, Sk - first) : 0);
        __syncthreads(); // all of it is rotated

        float s[STRIPS][KEYS / 8][4] = {};
        warp_add_qk<D, KEYS, STRIPS>(s, q_tile, warp_row, k_tiles + stage, qv_lane, k_lane);
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

typedef void fused_kernel(const __half *q, const __half *k, const __half *v, const float *cosine,
                          const float *sine, __half *o, float *lse, int Sq, int Sk, bool causal);

// A candidate for one D, and the arguments of its launch.
typedef struct tiles {
    fused_kernel *kernel;
    int rows, threads, bytes; // per block
} tiles;

template <int D, int ROWS, int KEYS, int WARPS, int STAGES>
static tiles tiles_of_width()
{
    const int bytes = (ROWS + 2 * STAGES * KEYS) * D * (int)sizeof(__half);
    return {fused<D, ROWS, KEYS, WARPS, STAGES>, ROWS, WARPS * 32, bytes};
}

// same as step 23
template <int ROWS, int KEYS, int WARPS, int STAGES>
static tiles tiles_for(const kf_shape *s)
{
    return s->D == 64 ? tiles_of_width<64, ROWS, KEYS, WARPS, STAGES>()
                      : tiles_of_width<128, ROWS, KEYS, WARPS, STAGES>();
}

// same as step 23
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
    fused_kernel *kernel = t.kernel;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, t.bytes));
    const dim3 grid((s.Sq + t.rows - 1) / t.rows, s.B * s.H);
    kernel<<<grid, t.threads, t.bytes, stream>>>(
        (const __half *)kf_memory(run, "q", KF_F16), (const __half *)kf_memory(run, "k", KF_F16),
        (const __half *)kf_memory(run, "v", KF_F16), kf_f32(run, "cos"), kf_f32(run, "sin"),
        (__half *)kf_memory(run, "o", KF_F16), kf_f32(run, "lse"), s.Sq, s.Sk, s.causal);
    CUDA_CHECK_LAUNCH();
}

// --- Tables --------------------------------------------------------------------------------------

static const char forward[] = "the pass that cases are of";

static const kf_case cases[] = {
    KF_ROPE_FLASH_TIMED(forward, 0),
    KF_ROPE_FLASH_ODD(forward),
    KF_ROPE_FLASH_EXACT(forward),
};

// On a CPU candidates leave out cases that are large, or mostly padding.
static bool takes_part(const kf_case *c)
{
    const kf_shape s = c->shape;
    return !kf_on_cpu() || (s.Sq >= 64 && (int64_t)s.B * s.H * s.Sq * s.Sk <= 1 << 17);
}

#define TILE(rows, keys, warps, stages)                                                            \
    {                                                                                              \
        .name = "tile:m" #rows "-n" #keys "-w" #warps "-s" #stages,                                \
        .about = #rows " queries, " #keys " keys, " #warps " warps, stages: " #stages,             \
        .launch = launch<rows, keys, warps, stages>, .applies = takes_part,                        \
        .refused = refused<rows, keys, warps, stages>                                              \
    }

static const kf_variant variants[] = {
    {.name = "op-by-op",
     .about = "RoPE op by op in front of attention",
     .launch = launch_op_by_op,
     .extra_error = rope_angle_error},
    {.name = "tile:m128-n64-w4-s2",
     .about = "the tile of step 32",
     .launch = launch<128, 64, 4, 2>,
     .refused = refused<128, 64, 4, 2>},
    // As the log proposes.
    TILE(64, 64, 4, 2),
    TILE(64, 64, 4, 3),
    TILE(64, 32, 4, 3),
    TILE(64, 32, 4, 4),
    TILE(32, 64, 2, 2),
    TILE(32, 32, 2, 3),
    TILE(32, 32, 2, 4),
    // As many rows, and fewer keys, more warps or more stages.
    TILE(128, 32, 4, 3),
    TILE(128, 64, 4, 3),
    TILE(128, 64, 8, 2),
    TILE(128, 128, 8, 2),
    // The opposite: more rows.
    TILE(256, 64, 8, 2),
    TILE(256, 32, 8, 3),
    TILE(256, 128, 8, 2),
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}};

static const kf_question questions[] = {
    {.text = "At D = 128, S = 65536, the small shape (tile:m64-n32-w4-s3): how many times as fast "
             "as step 32's shape (tile:m128-n64-w4-s2)?",
     .figure = "median_us",
     .case_name = "forward-D128-S65536",
     .variant = "tile:m128-n64-w4-s2",
     .over = "tile:m64-n32-w4-s3"},
    {.text = "At D = 128, S = 65536, the large shape (tile:m256-n64-w8-s2): how many times as fast "
             "as step 32's shape (tile:m128-n64-w4-s2)?",
     .figure = "median_us",
     .case_name = "forward-D128-S65536",
     .variant = "tile:m128-n64-w4-s2",
     .over = "tile:m256-n64-w8-s2"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "33-small-tiles",
        .title = "a remedy: smaller tiles and more stages; and larger ones",
        .architecture = "80",
        KF_TABLES(cases, variants),
        .setup = setup_op_by_op,
        .reference = kf_rope_flash_reference,
        .cost = kf_rope_flash_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
        .tunes = true,
    };
    return kf_main(&program, argc, argv);
}
