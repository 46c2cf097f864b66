/* 35-shared-tables: a remedy: cosines and sines of a tile in shared memory
 *
 * Grows from: 32-fused-rope-flash
 * Architecture: 80
 * Profile: kernels=fused|staged --case forward-D64-S8192 --case forward-D128-S8192
 *
 * Idea     The log's fourth remedy, in the forward pass: angles of a tile of keys come into shared
 *          memory with the tile, by cp.async, and threads read them there. In two stages like the
 *          tiles, or in one that is filled again as soon as the tile is rotated. They have as many
 *          bytes as k and v, so also with tiles of 32 keys, for which shared memory suffices.
 * Predict  The log: a gain. Ours: at D = 128 a block takes 160 KB in place of 96, 128 with one
 *          stage, so a multiprocessor has one block in place of two: 0.68 at S = 65536, as with the
 *          third stage of step 33. With 32 keys, and at D = 64, as many blocks fit as before. No
 *          thread waits for angles, but their copies go through shared memory as well: level.
 * Outcome  At D = 128 as predicted at the longest lengths, and slower than that at shorter ones.
 *          With 32 keys, and at D = 64, level at long S.
 */
#include "tables.cuh"
#include "cuda/flash_products.cuh"
#include "cuda/fused_attention.cuh"
#include "cuda/rope_then_attention.cuh"
#include "problems/rope_flash_cases.h"

enum {
    ROWS = 128, // queries of a block
    WARPS = 4,
    THREADS = WARPS * 32,
    STRIPS = ROWS / WARPS / 16, // of 16 queries, a warp
};

// q [BH][Sq][D], k, v [BH][Sk][D], cosine and sine [Sk][D/2] -> o [BH][Sq][D], lse [BH][Sq]
// grid (Sq / ROWS, BH). cost: 4 D flops per score, and a key is rotated once per ROWS queries that
// see it: 3 D flops, 4 D bytes of tables, which come by cp.async with the tile. Where sums are
// small, registers suffice for three blocks per multiprocessor
template <int D, int KEYS, int TABLES>
__global__ void __launch_bounds__(THREADS, D *KEYS > 2048 ? 2 : 3)
    staged(const __half *q, const __half *k, const __half *v, const float *cosine,
           const float *sine, __half *o, float *lse, int Sq, int Sk, bool causal)
{
    constexpr int TILE = KEYS * D * 2;  // bytes
    constexpr int TABLE = KEYS * D * 4; // of cosines and sines
    // q [ROWS][D], k and v [2][KEYS][D], of fp32 tables [TABLES][cosines, sines][KEYS][D/2]
    extern __shared__ __align__(16) __half tiles[];
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
    const uint32_t v_tiles = k_tiles + 2 * TILE;
    const uint32_t tables = v_tiles + 2 * TILE;
    const float *table = (const float *)(tiles + (ROWS + 4 * KEYS) * D); // as a pointer
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
    load_tile<D, KEYS, THREADS>(k_tiles, k, 0, Sk);
    load_tile<D, KEYS, THREADS>(v_tiles, v, 0, Sk);
    load_table<D, KEYS, THREADS>(tables, cosine, sine, 0, Sk);
    copy_async_commit();
    copy_async_wait<1>();
    __syncthreads(); // the tile of q is there for all
    // Query i stands where key Sk - Sq + i stands. Angles of q are not staged: they are used once.
    const int64_t first_angle = (int64_t)(Sk - Sq) * (D / 2);
    rotate_tile<D, ROWS, THREADS>(tiles, cosine + first_angle, sine + first_angle, block_row, Sq);
    COUNT("Q rotations", threadIdx.x == 0 ? min(ROWS, Sq - block_row) : 0);
    for (int first = 0; first < visible; first += KEYS) {
        const int next = first + KEYS;
        const uint32_t stage = first / KEYS % 2 * TILE;
        // snippet: staged
        copy_async_wait<0>();
        __syncthreads(); // this tile is there for all, and nobody reads the one before
        if (next < visible) {
            load_tile<D, KEYS, THREADS>(k_tiles + TILE - stage, k, next, Sk);
            load_tile<D, KEYS, THREADS>(v_tiles + TILE - stage, v, next, Sk);
        }
        // solution: staged -- rotate this tile, and load the next table once its place is free
        // hint: Where does the next table go, with two tables and with one, and which threads may
        //     still read what is there now? This decides whether load_table stands in front of the
        //     rotation or behind its barrier.
        // hint: rotate_staged takes the tile, `tiles + ROWS * D + stage / 2`, and its table: number
        //     `first / KEYS % TABLES` of the tables that begin at `table`, each of KEYS * D floats.
        //     Behind the rotation all threads meet, before any warp multiplies.
        // hint: load_table takes an address in bytes. With TABLES == 2 it is
        //     `tables + next / KEYS % 2 * TABLE`, in front of the rotation; with TABLES == 1 it is
        //     `tables` itself, behind the barrier. Both load the rows from `next` on, if
        //     `next < visible`.
        if (TABLES == 2 && next < visible) {
            load_table<D, KEYS, THREADS>(tables + next / KEYS % 2 * TABLE, cosine, sine, next, Sk);
        }
        rotate_staged<D, KEYS, THREADS>(tiles + ROWS * D + stage / 2,
                                        table + first / KEYS % TABLES * KEYS * D);
        COUNT("K rotations", threadIdx.x == 0 ? min(KEYS, Sk - first) : 0);
        COUNT("element rotations", threadIdx.x == 0 ? min(KEYS, Sk - first) * D : 0);
        __syncthreads(); // all of it is rotated
        if (TABLES == 1 && next < visible) {
            load_table<D, KEYS, THREADS>(tables, cosine, sine, next, Sk);
        }
        // end solution: staged
        copy_async_commit();
        // end snippet: staged

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

template <int D, int KEYS, int TABLES>
static void launch_of_width(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int bytes =
        (ROWS + 4 * KEYS) * D * (int)sizeof(__half) + TABLES * KEYS * D * (int)sizeof(float);
    CUDA_CHECK(cudaFuncSetAttribute(staged<D, KEYS, TABLES>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const dim3 grid((s.Sq + ROWS - 1) / ROWS, s.B * s.H);
    staged<D, KEYS, TABLES><<<grid, THREADS, bytes, stream>>>(
        (const __half *)kf_memory(run, "q", KF_F16), (const __half *)kf_memory(run, "k", KF_F16),
        (const __half *)kf_memory(run, "v", KF_F16), kf_f32(run, "cos"), kf_f32(run, "sin"),
        (__half *)kf_memory(run, "o", KF_F16), kf_f32(run, "lse"), s.Sq, s.Sk, s.causal);
    CUDA_CHECK_LAUNCH();
}

template <int KEYS, int TABLES>
static void launch(const kf_run *run, cudaStream_t stream)
{
    (run->shape.D == 64 ? launch_of_width<64, KEYS, TABLES>
                        : launch_of_width<128, KEYS, TABLES>)(run, stream);
}

// --- Tables --------------------------------------------------------------------------------------

static const char forward[] = "the pass that cases are of";

static const kf_case cases[] = {
    KF_ROPE_FLASH_TIMED(forward, 0),
    KF_ROPE_FLASH_ODD(forward),
    KF_ROPE_FLASH_EXACT(forward),
};

static const kf_variant variants[] = {
    {.name = "op-by-op",
     .about = "RoPE op by op in front of attention",
     .launch = launch_op_by_op,
     .extra_error = rope_angle_error},
    {.name = "fused",
     .about = "as in step 32: angles straight from the table in memory",
     .launch = fused_attention::launch<128, 64, 4, 2>},
    {.name = "staged",
     .about = "from shared memory, where two tiles have theirs",
     .launch = launch<64, 2>},
    {.name = "staged-once",
     .about = "from shared memory, where one tile has them",
     .launch = launch<64, 1>},
    {.name = "fused-n32",
     .about = "as fused, with tiles of 32 keys",
     .launch = fused_attention::launch<128, 32, 4, 2>},
    {.name = "staged-n32", .about = "as staged, with tiles of 32 keys", .launch = launch<32, 2>},
    {.name = "staged-once-n32",
     .about = "as staged-once, with tiles of 32 keys",
     .launch = launch<32, 1>},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}};

static const kf_question questions[] = {
    {.text = "At D = 128, S = 65536, with 64 keys per tile, the staged kernel: how many times as "
             "fast as the fused kernel?",
     .figure = "median_us",
     .case_name = "forward-D128-S65536",
     .variant = "fused",
     .over = "staged"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "35-shared-tables",
        .title = "a remedy: cosines and sines of a tile in shared memory",
        .architecture = "80",
        KF_TABLES(cases, variants),
        .setup = setup_op_by_op,
        .reference = kf_rope_flash_reference,
        .cost = kf_rope_flash_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
