/* 34-fewer-registers: a remedy: rotated values overwrite raw values
 *
 * Follows: 32-fused-rope-flash
 * Architecture: 80
 * Profile: kernels=fused|attention --case forward-D64-S8192 --case forward-D128-S8192
 *
 * Idea     The log's third remedy, in the forward pass: fewer values alive, by writing rotated
 *          values over raw ones. Step 32's kernel with its tiles rotated in three ways: raw and
 *          rotated values of all rows of a thread are kept; the same, overwritten; one row after
 *          the other. Then a launch bound that makes the compiler leave registers for a third
 *          block; and 16 queries per warp in place of 32, whose sums take half of the registers.
 * Predict  The log: 20 to 40 % more registers are the cause, so it gains. Ours: no gain. A compiler
 *          knows what is read again, whatever its name: kept and overwritten are the same machine
 *          code. Most are alive in the products, not here. Row after row waits for every load:
 *          0.63. At D = 128 tiles leave shared memory for two blocks, whatever registers do, so the
 *          bound can only spill. 16 warps in place of 8 read each fragment of k and v twice as
 *          often: 0.82.
 * Outcome  Kept and overwritten are the same machine code, and level with step 32's program. Row
 *          after row loses a little less than predicted, the bound far more, and more warps less.
 */
#include "cuda/flash_products.cuh"
#include "cuda/fused_attention.cuh"
#include "cuda/rope_then_attention.cuh"
#include "problems/rope_flash_cases.h"

enum { ROWS = 128, KEYS = 64 }; // queries per block, keys per tile

// How a tile is rotated in place, by one of the functions below the kernel.
enum way { KEPT, OVERWRITTEN, CHUNKS };

template <way WAY, int D, int ROTATED, int THREADS>
static __device__ __forceinline__ void rotate_tile_by(__half *tile, const float *cosine,
                                                      const float *sine, int first, int S);

// q [BH][Sq][D], k, v [BH][Sk][D], cosine and sine [Sk][D/2] -> o [BH][Sq][D], lse [BH][Sq]
// grid (Sq / ROWS, BH). cost: 4 D flops a score, and for each ROWS queries that see it a key is
// rotated: 3 D flops, 4 D bytes of tables
template <int D, way WAY, int WARPS, int BLOCKS>
__global__ void __launch_bounds__(WARPS * 32, BLOCKS)
    fused(const __half *q, const __half *k, const __half *v, const float *cosine, const float *sine,
          __half *o, float *lse, int Sq, int Sk, bool causal)
{
    constexpr int THREADS = WARPS * 32;
    constexpr int STRIPS = ROWS / WARPS / 16;       // of 16 queries, a warp
    constexpr int TILE = KEYS * D * 2;              // bytes
    extern __shared__ __align__(16) __half tiles[]; // q [ROWS][D], k and v [2][KEYS][D]
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
    copy_async_commit();
    copy_async_wait<1>();
    __syncthreads(); // the tile of q is there for all
    // Query i stands where key Sk - Sq + i stands.
    const int64_t first_angle = (int64_t)(Sk - Sq) * (D / 2);
#pragma unroll 1
    for (int i = 0; i < ROWS; i += KEYS) { // as many rows at a time as a tile has keys
        rotate_tile_by<WAY, D, KEYS, THREADS>(tiles + i * D, cosine + first_angle,
                                              sine + first_angle, block_row + i, Sq);
    }
    COUNT("Q rotations", threadIdx.x == 0 ? min(ROWS, Sq - block_row) : 0);
    for (int first = 0; first < visible; first += KEYS) {
        const int next = first + KEYS;
        const uint32_t stage = first / KEYS % 2 * TILE;
        copy_async_wait<0>();
        __syncthreads(); // this tile is there for all, and nobody reads the one before
        if (next < visible) {
            load_tile<D, KEYS, THREADS>(k_tiles + TILE - stage, k, next, Sk);
            load_tile<D, KEYS, THREADS>(v_tiles + TILE - stage, v, next, Sk);
        }
        copy_async_commit();
        rotate_tile_by<WAY, D, KEYS, THREADS>(tiles + (ROWS + first / KEYS % 2 * KEYS) * D, cosine,
                                              sine, first, Sk);
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

// --- Ways to rotate a tile -----------------------------------------------------------------------

// All rows of a thread at once: raw values stay in registers while the rotated ones are computed
// beside them. Arguments, swizzle and barriers are those of rotate_tile.
template <int D, int ROTATED, int THREADS>
static __device__ __forceinline__ void rotate_kept(__half *tile, const float *cosine,
                                                   const float *sine, int first, int S)
{
    constexpr int STEP = THREADS / (D / 8);
    constexpr int ALL = ROTATED / STEP;
    const thread_place own = place_of_thread<D>();
    tile += own.row * D;
    uint2 low[ALL], high[ALL], rotated_low[ALL], rotated_high[ALL];
#pragma unroll
    for (int j = 0; j < ALL; j++) {
        low[j] = *(const uint2 *)(tile + j * STEP * D + own.at);
        high[j] = *(const uint2 *)(tile + j * STEP * D + (own.at ^ D / 2));
    }
#pragma unroll
    for (int j = 0; j < ALL; j++) {
        const int row = min(first + j * STEP + own.row, S - 1);
        const int64_t angle = (int64_t)row * (D / 2) + own.four * 4;
        rotated_low[j] = low[j];
        rotated_high[j] = high[j];
        rotate_four<false>(&rotated_low[j], &rotated_high[j],
                           load_angles(cosine + angle, sine + angle));
        COUNT("table loads", 8);
        COUNT("element rotations", first + j * STEP + own.row < S ? 8 : 0);
    }
#pragma unroll
    for (int j = 0; j < ALL; j++) {
        *(uint2 *)(tile + j * STEP * D + own.at) = rotated_low[j];
        *(uint2 *)(tile + j * STEP * D + (own.at ^ D / 2)) = rotated_high[j];
    }
}

// The same, but a rotated value overwrites the raw one.
template <int D, int ROTATED, int THREADS>
static __device__ __forceinline__ void rotate_overwritten(__half *tile, const float *cosine,
                                                          const float *sine, int first, int S)
{
    constexpr int STEP = THREADS / (D / 8);
    constexpr int ALL = ROTATED / STEP;
    const thread_place own = place_of_thread<D>();
    tile += own.row * D;
    uint2 low[ALL], high[ALL];
#pragma unroll
    for (int j = 0; j < ALL; j++) {
        low[j] = *(const uint2 *)(tile + j * STEP * D + own.at);
        high[j] = *(const uint2 *)(tile + j * STEP * D + (own.at ^ D / 2));
    }
#pragma unroll
    for (int j = 0; j < ALL; j++) {
        const int row = min(first + j * STEP + own.row, S - 1);
        const int64_t angle = (int64_t)row * (D / 2) + own.four * 4;
        rotate_four<false>(&low[j], &high[j], load_angles(cosine + angle, sine + angle));
        COUNT("table loads", 8);
        COUNT("element rotations", first + j * STEP + own.row < S ? 8 : 0);
    }
#pragma unroll
    for (int j = 0; j < ALL; j++) {
        *(uint2 *)(tile + j * STEP * D + own.at) = low[j];
        *(uint2 *)(tile + j * STEP * D + (own.at ^ D / 2)) = high[j];
    }
}

// One row of a thread after the other: at most four pairs and their angles are alive.
template <int D, int ROTATED, int THREADS>
static __device__ __forceinline__ void rotate_chunks(__half *tile, const float *cosine,
                                                     const float *sine, int first, int S)
{
    constexpr int STEP = THREADS / (D / 8);
    const thread_place own = place_of_thread<D>();
    tile += own.row * D;
    // snippet: chunks
#pragma unroll 1
    for (int i = 0; i < ROTATED; i += STEP) {
        const int row = min(first + i + own.row, S - 1);
        const int64_t angle = (int64_t)row * (D / 2) + own.four * 4;
        // solution: chunks -- rotate four pairs by angles that are passed on as they are loaded
        // hint: Which function of rotate_halves.cuh rotates four pairs where they are? It loads and
        //     stores the pairs itself, so rotate_chunks needs no arrays as rotate_overwritten has
        //     them.
        // hint: In this row the four elements of the first half are at `tile + i * D + own.at`; for
        //     their partners own.at becomes own.at ^ D / 2. Both are passed as pointers to uint2.
        // hint: The third argument is `load_angles(cosine + angle, sine + angle)` itself, so that
        //     no variable keeps the angles. The template argument says that nothing is rotated
        //     back.
        rotate_four<false>((uint2 *)(tile + i * D + own.at),
                           (uint2 *)(tile + i * D + (own.at ^ D / 2)),
                           load_angles(cosine + angle, sine + angle));
        // end solution: chunks
        // end snippet: chunks
        COUNT("table loads", 8);
        COUNT("element rotations", first + i + own.row < S ? 8 : 0);
    }
}

template <way WAY, int D, int ROTATED, int THREADS>
static __device__ __forceinline__ void rotate_tile_by(__half *tile, const float *cosine,
                                                      const float *sine, int first, int S)
{
    if (WAY == KEPT) {
        rotate_kept<D, ROTATED, THREADS>(tile, cosine, sine, first, S);
    } else if (WAY == OVERWRITTEN) {
        rotate_overwritten<D, ROTATED, THREADS>(tile, cosine, sine, first, S);
    } else {
        rotate_chunks<D, ROTATED, THREADS>(tile, cosine, sine, first, S);
    }
}

template <int D, way WAY, int WARPS, int BLOCKS>
static void launch_of_width(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int bytes = (ROWS + 4 * KEYS) * D * (int)sizeof(__half);
    CUDA_CHECK(cudaFuncSetAttribute(fused<D, WAY, WARPS, BLOCKS>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const dim3 grid((s.Sq + ROWS - 1) / ROWS, s.B * s.H);
    fused<D, WAY, WARPS, BLOCKS><<<grid, WARPS * 32, bytes, stream>>>(
        (const __half *)kf_memory(run, "q", KF_F16), (const __half *)kf_memory(run, "k", KF_F16),
        (const __half *)kf_memory(run, "v", KF_F16), kf_f32(run, "cos"), kf_f32(run, "sin"),
        (__half *)kf_memory(run, "o", KF_F16), kf_f32(run, "lse"), s.Sq, s.Sk, s.causal);
    CUDA_CHECK_LAUNCH();
}

template <way WAY, int WARPS, int BLOCKS>
static void launch(const kf_run *run, cudaStream_t stream)
{
    (run->shape.D == 64 ? launch_of_width<64, WAY, WARPS, BLOCKS>
                        : launch_of_width<128, WAY, WARPS, BLOCKS>)(run, stream);
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
     .about = "as in step 32: all angles of a thread's rows, then row after row",
     .launch = fused_attention::launch<128, 64, 4, 2>},
    {.name = "fused-kept",
     .about = "raw and rotated values of all rows of a thread, beside each other",
     .launch = launch<KEPT, 4, 2>},
    {.name = "fused-overwritten",
     .about = "rotated values in place of raw ones",
     .launch = launch<OVERWRITTEN, 4, 2>},
    {.name = "fused-chunks",
     .about = "one row of a thread after the other",
     .launch = launch<CHUNKS, 4, 2>},
    {.name = "fused-bound",
     .about = "overwritten, and registers for three blocks, if need be by spilling",
     .launch = launch<OVERWRITTEN, 4, 3>},
    {.name = "fused-warps",
     .about = "overwritten, and 8 warps of 16 queries, registers for two blocks",
     .launch = launch<OVERWRITTEN, 8, 2>},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}};

static const kf_question questions[] = {
    {.text = "At D = 128, S = 65536, the overwritten variant: how many times as fast as the "
             "kept variant?",
     .figure = "median_us",
     .case_name = "forward-D128-S65536",
     .variant = "fused-kept",
     .over = "fused-overwritten"},
    {.text = "At D = 128, S = 65536, the row-by-row variant: how many times as fast as the "
             "overwritten variant?",
     .figure = "median_us",
     .case_name = "forward-D128-S65536",
     .variant = "fused-overwritten",
     .over = "fused-chunks"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "34-fewer-registers",
        .title = "a remedy: rotated values overwrite raw values",
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
