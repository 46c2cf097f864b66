/* 32-fused-rope-flash: attention that rotates its own tiles, 512 to 131072 positions
 *
 * Follows: 23-flash-autotune
 * Architecture: 80
 * Profile: kernels=attention|fused|flash|backward each --case forward-D128-S8192
 * Profile: --case forward-D128-S65536 --case backward-D128-S8192
 *
 * Idea     RoPE in attention itself: a block rotates its tile of q once, and each tile of k as it
 *          comes, by cosines and sines from a table. No pass over q and k, nothing written and read
 *          again. Rivals are RoPE op by op, RoPE as one kernel, and the same attention alone. Then
 *          the causes of its cost one after the other, by kernels that do a part of its work.
 * Predict  At S = 512 one kernel in front has most of the win over op by op. A key is rotated S /
 *          256 + 1/2 times, so the cost grows with S^2, as attention does: 512 cycles of shared
 *          memory for each tile, half of them for angles. At 65536 it has 0.90 of the speed of op
 *          by op, 0.86 of attention alone. Backward loses less: five products, not two.
 * Outcome  At 512 one kernel has nearly all of the win; from 16384 on op by op is faster. Rotating
 *          costs half as much again as predicted, and attention loses the same share at every
 *          length. Half of that are the angles, and nearly half the way through registers. Backward
 *          loses less at D = 64, and as much at D = 128.
 */
#include "backward.cuh"
#include "causes.cuh"
#include "cuda/flash_products.cuh"
#include "cuda/rope_passes.cuh"
#include "cuda/rotate_tile.cuh"
#include "cuda/tiled_attention.cuh"
#include "problems/rope_flash_cases.h"

enum {
    ROWS = 128, // queries per block; this and what follows is as in tiled_attention.cuh
    KEYS = 64,  // of a tile
    WARPS = 4,
    THREADS = WARPS * 32,
    STRIPS = ROWS / WARPS / 16, // of 16 queries, a warp
};

// q [BH][Sq][D], k, v [BH][Sk][D], cosine and sine [Sk][D/2] -> o [BH][Sq][D], lse [BH][Sq]
// grid (Sq / ROWS, BH). cost: 4 D flops a score, and for each ROWS queries that see it a key is
// rotated: 3 D flops, 4 D bytes of tables
template <int D>
__global__ void __launch_bounds__(THREADS, 2)
    fused(const __half *q, const __half *k, const __half *v, const float *cosine, const float *sine,
          __half *o, float *lse, int Sq, int Sk, bool causal)
{
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
    rotate_tile<D, ROWS, THREADS>(tiles, cosine + first_angle, sine + first_angle, block_row, Sq);
    COUNT("Q rotations", threadIdx.x == 0 ? min(ROWS, Sq - block_row) : 0);
    for (int first = 0; first < visible; first += KEYS) {
        const int next = first + KEYS;
        const uint32_t stage = first / KEYS % 2 * TILE;
        // snippet: rotate
        copy_async_wait<0>();
        __syncthreads(); // this tile is there for all, and nobody reads the one before
        if (next < visible) {
            load_tile<D, KEYS, THREADS>(k_tiles + TILE - stage, k, next, Sk);
            load_tile<D, KEYS, THREADS>(v_tiles + TILE - stage, v, next, Sk);
        }
        copy_async_commit();
        // solution: rotate -- the tile of k is rotated where it lies, before anyone multiplies it
        // hint: Which tile is multiplied next, where is it in shared memory, and which threads must
        //     have rotated their part of it before any warp reads it?
        // hint: rotate_tile takes a pointer to halves: the tile stands behind the ROWS rows of q,
        //     in stage `first / KEYS % 2`. Key j has position j, so both tables of angles are
        //     passed from their beginning, and S is Sk.
        // hint: The pointer is `tiles + (ROWS + first / KEYS % 2 * KEYS) * D`. Above the
        //     loop stands a call of rotate_tile: copy it here, with KEYS for ROWS and `first` for
        //     `block_row`. Behind the call all threads meet.
        rotate_tile<D, KEYS, THREADS>(tiles + (ROWS + first / KEYS % 2 * KEYS) * D, cosine, sine,
                                      first, Sk);
        COUNT("K rotations", threadIdx.x == 0 ? min(KEYS, Sk - first) : 0);
        __syncthreads(); // all of it is rotated
        // end solution: rotate
        // end snippet: rotate

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

template <int D>
static void launch_fused_of(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int bytes = tiled::bytes_of_block(D);
    CUDA_CHECK(cudaFuncSetAttribute(fused<D>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const dim3 grid((s.Sq + ROWS - 1) / ROWS, s.B * s.H);
    fused<D><<<grid, THREADS, bytes, stream>>>(
        (const __half *)kf_memory(run, "q", KF_F16), (const __half *)kf_memory(run, "k", KF_F16),
        (const __half *)kf_memory(run, "v", KF_F16), kf_f32(run, "cos"), kf_f32(run, "sin"),
        (__half *)kf_memory(run, "o", KF_F16), kf_f32(run, "lse"), s.Sq, s.Sk, s.causal);
    CUDA_CHECK_LAUNCH();
}

// --- Both passes ---------------------------------------------------------------------------------

static bool is_gradient(const kf_run *run)
{
    return kf_has(run, "dq");
}

static void launch_fused(const kf_run *run, cudaStream_t stream)
{
    if (is_gradient(run)) {
        launch_fused_backward(run, stream);
    } else {
        (run->shape.D == 64 ? launch_fused_of<64> : launch_fused_of<128>)(run, stream);
    }
}

static void launch_op_by_op(const kf_run *run, cudaStream_t stream)
{
    if (is_gradient(run)) {
        tiled_backward::launch(run, "q_prerotated", "k_prerotated", stream);
        op_by_op::launch_back(run, stream);
    } else {
        op_by_op::launch(run, stream);
        tiled::launch(run, "q_rotated", "k_rotated", stream);
    }
}

static void launch_one_kernel(const kf_run *run, cudaStream_t stream)
{
    if (is_gradient(run)) {
        tiled_backward::launch(run, "q_prerotated", "k_prerotated", stream);
        one_kernel::launch_back(run, stream);
    } else {
        one_kernel::launch(run, stream);
        tiled::launch(run, "q_rotated", "k_rotated", stream);
    }
}

static void launch_attention(const kf_run *run, cudaStream_t stream)
{
    tiled::launch(run, "q_prerotated", "k_prerotated", stream);
}

// --- Tables --------------------------------------------------------------------------------------

// The pass that a case runs.
typedef struct pass {
    void (*setup)(kf_run *run), (*reference)(kf_run *run);
    kf_cost (*cost)(const kf_case *c);
} pass;

static void setup_forward(kf_run *run)
{
    kf_rope_flash_setup(run);
    op_by_op::setup(run);
    causes::setup(run);
}

static void setup_backward(kf_run *run)
{
    kf_rope_flash_backward_setup(run, launch_attention);
    tiled_backward::setup(run);
    op_by_op::setup_back(run);
}

static const pass forward = {setup_forward, kf_rope_flash_reference, kf_rope_flash_cost};
static const pass backward = {setup_backward, kf_rope_flash_backward_reference,
                              kf_rope_flash_backward_cost};

static const pass *pass_of(const kf_case *c)
{
    return (const pass *)c->data;
}

static bool is_forward(const kf_case *c)
{
    return pass_of(c) == &forward;
}

// The error of computed cosines and sines; gradients are rotated back by the tables of the run.
static double op_by_op_error(const kf_case *c)
{
    return is_forward(c) ? rope_angle_error(c) : 0.0;
}

static void setup(kf_run *run)
{
    pass_of(run->c)->setup(run);
}

static void reference(kf_run *run)
{
    pass_of(run->c)->reference(run);
}

static kf_cost cost(const kf_case *c)
{
    return pass_of(c)->cost(c);
}

// A few of the lengths, at D = 128, and the small cases.
static bool has_causes(const kf_case *c)
{
    const int S = c->shape.Sq;
    const bool timed = c->shape.D == 128 && (S == 512 || S == 8192 || S == 65536);
    return is_forward(c) && (timed || c->flags & KF_VERIFY_ONLY);
}

static const kf_case cases[] = {
    KF_ROPE_FLASH_TIMED(forward, 0), KF_ROPE_FLASH_TIMED(backward, 0),
    KF_ROPE_FLASH_ODD(forward),      KF_ROPE_FLASH_EXACT(forward),
    KF_ROPE_FLASH_ODD(backward),     KF_ROPE_FLASH_EXACT_BACK(backward),
};

#define CAUSE(variant_name, what, which)                                                           \
    {                                                                                              \
        .name = variant_name, .about = what, .launch = causes::launch<which>,                      \
        .applies = has_causes                                                                      \
    }

static const kf_variant variants[] = {
    {.name = "op-by-op",
     .about = "RoPE op by op in front of attention, behind its gradients",
     .launch = launch_op_by_op,
     .extra_error = op_by_op_error},
    {.name = "one-kernel",
     .about = "RoPE by one kernel in front of attention, behind its gradients",
     .launch = launch_one_kernel},
    {.name = "fused", .about = "attention rotates its tiles itself", .launch = launch_fused},
    {.name = "attention",
     .about = "attention alone, on rows that are rotated already",
     .launch = launch_attention,
     .applies = is_forward},
    CAUSE("cause:copied", "attention, each tile of k to registers and back", causes::COPIED),
    CAUSE("cause:rotated-registers", "rotated by cosine 1, sine 0 in registers", causes::REGISTERS),
    CAUSE("cause:staged-table", "by those in shared memory", causes::STAGED_TABLE),
    CAUSE("cause:tiny-table", "by those of a table that stays in L1", causes::TINY_TABLE),
    CAUSE("cause:whole-table", "by those of a table of all positions", causes::WHOLE_TABLE),
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}};

static const kf_question questions[] = {
    {.text = "Forward at D = 128 and S = 512, the fused kernel: how many times as fast as one "
             "RoPE kernel?",
     .figure = "median_us",
     .case_name = "forward-D128-S512",
     .variant = "one-kernel",
     .over = "fused"},
    {.text = "Forward at D = 128 and S = 65536, the fused kernel: how many times as fast as "
             "attention alone?",
     .figure = "median_us",
     .case_name = "forward-D128-S65536",
     .variant = "attention",
     .over = "fused"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "32-fused-rope-flash",
        .title = "attention that rotates its own tiles, 512 to 131072 positions",
        .architecture = "80",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = reference,
        .cost = cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
