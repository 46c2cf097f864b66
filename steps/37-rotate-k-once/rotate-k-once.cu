/* 37-rotate-k-once: keys rotated once, queries inside, on the best kernels
 *
 * Follows: 31-full-evaluation
 * Architecture: 90a
 * Record: --repetitions 1 --rates step-37-rates.tsv
 * Check: without racecheck
 * Profile: kernels=flash|rotate_keys|backward each --case forward-D64-S8192
 * Profile: --case forward-D128-S8192 --case backward-D128-S8192
 *
 * Idea     Every query that sees a key uses it, so the key is rotated once, by a pass of its own,
 *          or was when it was stored. Only one block uses a query: attention rotates it on its way
 *          in. The backward pass rotates dk and dq back before they leave.
 * Predict  The pass over k takes a fifth of attention at S = 512, a fiftieth at 8192, then nothing;
 *          queries take a fiftieth at 512, nothing from 2048 on. So no rival is faster. Keys
 *          rotated in the kernel as well (fused): three warps are too few, and all others wait for
 *          them.
 * Outcome  Ahead of compiled RoPE + cuDNN in both passes; ahead of op by op and of one kernel too,
 *          or level with them. Queries cost the wavefronts of themselves and of their angles, so
 *          short rows miss the limit. Backward, to keep rotated q is faster. Fused is slow.
 */
#include "a-keys-once.cuh"
#include "b-queries-inside.cuh"
#include "c-keys-inside.cuh"
#include "d-rotate-back.cuh"
#include "hashed_inputs.cuh"
#include "cuda/rope_passes.cuh"
#include "cuda/rotate_halves.cuh"
#include "problems/rope_flash_cases.h"

enum { KEYS = 128 }; // per tile of the forward pass

// --- The forward pass ----------------------------------------------------------------------------

static rope_tables tables_of(const kf_run *run)
{
    const rope_tables t = {kf_f32(run, "cos"), kf_f32(run, "sin")};
    return t;
}

// k -> k_rotated. It may begin before the kernel in front of it has ended.
template <int D, int HEADS>
static void launch_rotate_keys(const kf_run *run, cudaStream_t stream, unsigned blocks)
{
    const kf_shape s = run->shape;
    const int heads = s.B * s.H;
    const dim3 grid(blocks, (heads + HEADS - 1) / HEADS);
    const cudaLaunchConfig_t config = launch_config(true, grid, PASS_THREADS, 0, stream);
    CUDA_CHECK(cudaLaunchKernelEx(&config, rotate_keys<D, HEADS>,
                                  (const __half *)kf_memory(run, "k", KF_F16), tables_of(run),
                                  (__half *)kf_memory(run, "k_rotated", KF_F16), heads, s.Sk));
}

// The pass over k. A thread's angles serve four heads, which saves most reads of the tables, or one
// head where four would leave too few blocks to keep the device busy.
template <int D>
static void launch_keys_of(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int64_t threads = (int64_t)s.Sk * (D / 16);
    const unsigned blocks = (unsigned)((threads + PASS_THREADS - 1) / PASS_THREADS);
    const int busy = kf_on_cpu() ? 3 : 4 * multiprocessors(); // small on a CPU, as its cases are
    if ((int64_t)blocks * s.B * s.H / 4 < busy) {
        launch_rotate_keys<D, 1>(run, stream, blocks);
    } else {
        launch_rotate_keys<D, 4>(run, stream, blocks);
    }
}

static void launch_keys(const kf_run *run, cudaStream_t stream)
{
    launch_by_width<launch_keys_of<64>, launch_keys_of<128>>(run, stream);
}

enum kernel { QUERIES_INSIDE, KEYS_INSIDE }; // b-queries-inside, c-keys-inside

// q, k: the names of queries and keys. The kernel may begin before the one in front of it has
// ended.
template <int D, int WARPGROUPS>
static void launch_flash_of(const kf_run *run, cudaStream_t stream, kernel which, const char *q,
                            const char *k, int small)
{
    const kf_shape s = run->shape;
    const int heads = s.B * s.H, at_once = heads_at_once(&s), blocks = multiprocessors();
    const int all = (work_tiles::large_tiles(s.Sq, small, WARPGROUPS * 64) + small) * heads;
    const int bytes = which == QUERIES_INSIDE ? rotating::bytes_of_block<D, WARPGROUPS>()
                                              : fused::bytes_of_block<D, WARPGROUPS>();
    const cudaLaunchConfig_t config =
        launch_config(true, all < blocks ? all : blocks, WARPGROUPS * 128 + 128, bytes, stream);
    const CUtensorMap q_map = map_of(run, q, 64), k_map = map_of(run, k, KEYS);
    const CUtensorMap v_map = map_of(run, "v", KEYS), o_map = map_of(run, "o", 64);
    float *const lse = kf_f32(run, "lse");
    if (which == QUERIES_INSIDE) {
        allow_shared(rotating::flash<D, WARPGROUPS>, bytes);
        CUDA_CHECK(cudaLaunchKernelEx(&config, rotating::flash<D, WARPGROUPS>, q_map, k_map, v_map,
                                      o_map, tables_of(run), lse, heads, at_once, small, s.Sq, s.Sk,
                                      s.causal));
    } else {
        allow_shared(fused::flash<D, WARPGROUPS>, bytes);
        CUDA_CHECK(cudaLaunchKernelEx(&config, fused::flash<D, WARPGROUPS>, q_map, k_map, v_map,
                                      o_map, tables_of(run), lse, heads, at_once, small, s.Sq, s.Sk,
                                      s.causal));
    }
}

static void launch_flash(const kf_run *run, cudaStream_t stream, kernel which, const char *q,
                         const char *k)
{
    const cut c = best_cut(&run->shape);
    if (run->shape.D == 128) {
        launch_flash_of<128, 2>(run, stream, which, q, k, c.small);
    } else if (c.warpgroups == 2) {
        launch_flash_of<64, 2>(run, stream, which, q, k, c.small);
    } else {
        launch_flash_of<64, 3>(run, stream, which, q, k, c.small);
    }
}

// Step 29's kernel, which rotates nothing.
static void launch_rotated(const kf_run *run, cudaStream_t stream, const char *q, const char *k)
{
    launch_cut(run, stream, best_cut(&run->shape), true, q, k);
}

// --- The backward pass ---------------------------------------------------------------------------

// q, o, dout, lse -> q_rotated, and the results of step 30's kernel before the main one.
template <int D>
static void launch_rotating_before(const kf_run *run, const job *j)
{
    const dim3 grid((unsigned)(padded_rows(j->a.Sq) * D / 2048), j->heads);
    rotating_backward::before<D>
        <<<grid, 256, 0, j->stream>>>(j->a.q, j->a.o, j->a.dout, j->a.lse, tables_of(run),
                                      (__half *)kf_memory(run, "q_rotated", KF_F16), j->lse2,
                                      j->minus_delta, j->sums, j->a.Sq, j->a.Sk);
    CUDA_CHECK_LAUNCH();
}

template <int D>
static void launch_rotating_main(const kf_run *run, const job *j)
{
    const int bytes = backward_pass::bytes_of_block<D>();
    const cudaLaunchConfig_t c =
        launch_config(true, dim3(j->blocks * j->heads), 384, bytes, j->stream);
    allow_shared(rotating_backward::backward<D>, bytes);
    CUDA_CHECK(cudaLaunchKernelEx(&c, rotating_backward::backward<D>, j->q, j->k, j->v, j->dout,
                                  j->dk, j->dv, (const float *)j->lse2,
                                  (const float *)j->minus_delta, j->sums, tables_of(run), j->heads,
                                  job_heads_at_once(j, D), j->a));
}

template <int D>
static void launch_rotating_after(const kf_run *run, const job *j)
{
    const dim3 grid((unsigned)(padded_rows(j->a.Sq) / 128), j->heads);
    const cudaLaunchConfig_t c = launch_config(true, grid, 256, 0, j->stream);
    CUDA_CHECK(cudaLaunchKernelEx(&c, rotating_backward::after<D>, (const float *)j->sums,
                                  tables_of(run), j->a.dq, j->a.Sq, j->a.Sk));
}

template <int D>
static void launch_gradient(const kf_run *run, cudaStream_t stream)
{
    const job j = job_of<D>(run, stream, "q_rotated", "k_prerotated");
    launch_rotating_before<D>(run, &j);
    launch_rotating_main<D>(run, &j);
    launch_rotating_after<D>(run, &j);
}

static bool is_gradient(const kf_case *c);

static void launch_rotate_once(const kf_run *run, cudaStream_t stream)
{
    if (is_gradient(run->c)) {
        launch_by_width<launch_gradient<64>, launch_gradient<128>>(run, stream);
    } else {
        launch_keys(run, stream);
        launch_flash(run, stream, QUERIES_INSIDE, "q", "k_rotated");
    }
}

// --- Variants that explain -----------------------------------------------------------------------

// Keys were rotated when they were stored.
static void launch_cached(const kf_run *run, cudaStream_t stream)
{
    launch_flash(run, stream, QUERIES_INSIDE, "q", "k_prerotated");
}

static void launch_fused(const kf_run *run, cudaStream_t stream)
{
    launch_flash(run, stream, KEYS_INSIDE, "q", "k");
}

// A kernel that leaves something undone, or does it too early, fails when a launch of its kind is
// in front of it.
static void launch_twice(const kf_run *run, cudaStream_t stream)
{
    launch_fused(run, stream);
    launch_fused(run, stream);
    launch_keys(run, stream);
    launch_flash(run, stream, QUERIES_INSIDE, "q", "k_rotated");
    launch_flash(run, stream, QUERIES_INSIDE, "q", "k_rotated");
    launch_keys(run, stream);
    launch_flash(run, stream, QUERIES_INSIDE, "q", "k_rotated");
}

static __global__ void copy_rows(const uint4 *from, uint4 *to, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] = from[i];
    }
}

// Queries that a kernel in front of the pass over k makes, as in a model. Attention reads them
// before it waits itself: the pass must not have let it begin before that kernel has ended.
static void launch_behind_queries(const kf_run *run, cudaStream_t stream)
{
    const int64_t n = kf_find(run, "q")->count / 8;
    copy_rows<<<(unsigned)((n + 127) / 128), 128, 0, stream>>>(
        (const uint4 *)kf_memory(run, "q", KF_F16), (uint4 *)kf_memory(run, "q_made", KF_F16), n);
    CUDA_CHECK_LAUNCH();
    launch_keys(run, stream);
    launch_flash(run, stream, QUERIES_INSIDE, "q_made", "k_rotated");
}

static void launch_attention(const kf_run *run, cudaStream_t stream)
{
    launch_rotated(run, stream, "q_prerotated", "k_prerotated");
}

// The gradient if the forward pass kept the rotated queries, as it keeps the rotated keys.
template <int D>
static void launch_kept_of(const kf_run *run, cudaStream_t stream)
{
    const job j = job_of<D>(run, stream, "q_prerotated", "k_prerotated");
    launch_before<D>(&j, false);
    launch_rotating_main<D>(run, &j);
    launch_rotating_after<D>(run, &j);
}

// Step 31's backward pass on rotated q and k: gradients by these.
template <int D>
static void launch_rotated_gradient(const kf_run *run, cudaStream_t stream)
{
    const job j = job_of<D>(run, stream, "q_prerotated", "k_prerotated");
    launch_before<D>(&j, false);
    backward_pass::launch_main<D>(&j);
    launch_after<D>(&j, true);
}

// RoPE in front of the forward pass, and behind the backward pass.
static void launch_one_kernel(const kf_run *run, cudaStream_t stream)
{
    if (is_gradient(run->c)) {
        launch_by_width<launch_rotated_gradient<64>, launch_rotated_gradient<128>>(run, stream);
        one_kernel::launch_back(run, stream);
    } else {
        one_kernel::launch(run, stream);
        launch_rotated(run, stream, "q_rotated", "k_rotated");
    }
}

static void launch_op_by_op(const kf_run *run, cudaStream_t stream)
{
    if (is_gradient(run->c)) {
        launch_by_width<launch_rotated_gradient<64>, launch_rotated_gradient<128>>(run, stream);
        op_by_op::launch_back(run, stream);
    } else {
        op_by_op::launch(run, stream);
        launch_rotated(run, stream, "q_rotated", "k_rotated");
    }
}

// The forward pass op by op computes its angles; the backward pass reads the tables.
static double op_by_op_error(const kf_case *c)
{
    return is_gradient(c) ? 0.0 : rope_angle_error(c);
}

// --- Tables --------------------------------------------------------------------------------------

// The pass that a case runs.
typedef struct pass {
    void (*setup)(kf_run *run), (*reference)(kf_run *run);
    kf_cost (*cost)(const kf_case *c);
} pass;

// The backward pass begins with the results of attention alone on rotated q and k.
static void setup_backward(kf_run *run)
{
    kf_rope_flash_backward_setup(run, launch_attention);
}

static const pass forward = {kf_rope_flash_setup, kf_rope_flash_reference, kf_rope_flash_cost};
static const pass keys = {kf_rope_keys_setup, kf_rope_keys_reference, kf_rope_keys_cost};
static const pass enormous = {hashed_inputs::setup, hashed_inputs::reference, kf_rope_flash_cost};
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

// True for a case of the forward pass that is never timed.
static bool is_odd_forward(const kf_case *c)
{
    return is_forward(c) && c->flags & KF_VERIFY_ONLY;
}

static bool is_gradient(const kf_case *c)
{
    return pass_of(c) == &backward;
}

static bool is_keys(const kf_case *c)
{
    return pass_of(c) == &keys;
}

static bool is_either_pass(const kf_case *c)
{
    return is_forward(c) || is_gradient(c);
}

static bool attends(const kf_case *c)
{
    return !is_keys(c);
}

static void setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t queries[4] = {s.B, s.H, s.Sq, s.D};
    pass_of(run->c)->setup(run);
    if (is_either_pass(run->c)) {
        op_by_op::setup(run);
    }
    if (is_odd_forward(run->c)) {
        kf_scratch(run, "q_made", "BHSD", KF_F16, queries);
    }
    if (is_gradient(run->c)) {
        kf_scratch(run, "q_rotated", "BHSD", KF_F16, queries);
        job_setup(run);
    }
}

static void reference(kf_run *run)
{
    pass_of(run->c)->reference(run);
}

static kf_cost cost(const kf_case *c)
{
    return pass_of(c)->cost(c);
}

static const kf_case cases[] = {
    KF_ROPE_FLASH_TIMED(forward, KF_ALONE),
    KF_ROPE_FLASH_TIMED(backward, KF_ALONE),
    KF_ROPE_FLASH_TIMED(keys, 0),
    KF_ROPE_FLASH_ODD(forward),
    KF_ROPE_FLASH_EXACT(forward),
    KF_ROPE_FLASH_ODD(backward),
    KF_ROPE_FLASH_EXACT_BACK(backward),
    KF_ROPE_FLASH_CASE(keys, "odd", 2, 3, 77, 77, 64, true, 0, 0),
    KF_ROPE_FLASH_CASE(keys, "far-D128", 1, 5, 33, 131, 128, true, 131072 - 131, 0),
    /* Three warpgroups: work tiles alternate between two places; and work tiles of two sizes. */
    KF_ROPE_FLASH_CASE(forward, "places", 1, 6, 150, 150, 64, true, 0, 0),
    /* No head's q, dout and sums of dq fit into the cache: job_heads_at_once takes one anyway. */
    KF_ROPE_FLASH_CASE(backward, "tall", 1, 2, 137, 137, 128, true, 0, 0),
    /* Five tiles of queries: each stage is filled again, and its parity repeats. */
    KF_ROPE_FLASH_CASE(backward, "five-tiles", 1, 1, 260, 260, 128, true, 0, 0),
    KF_ROPE_FLASH_CASE(forward, "two-sizes", 1, 2, 300, 310, 64, true, 0, 0),
    /* More than 2^31 elements in k and in v; and the same at a small size. */
    KF_ROPE_FLASH_CASE(enormous, "tensors", 1, 130, 64, 131072 + 64, 128, true, 0, KF_LARGE),
    KF_ROPE_FLASH_CASE(enormous, "made", 1, 4, 20, 190, 128, true, 0, 0),
    KF_ROPE_FLASH_CASE(enormous, "made-D64", 1, 3, 70, 150, 64, true, 0, 0),
};

static const kf_variant variants[] = {
    {.name = "op-by-op",
     .about = "RoPE op by op in front of attention, behind its gradients",
     .launch = launch_op_by_op,
     .applies = is_either_pass,
     .extra_error = op_by_op_error},
    {.name = "one-kernel",
     .about = "RoPE by one kernel in front of attention, behind its gradients",
     .launch = launch_one_kernel,
     .applies = is_either_pass},
    {.name = "rotate-k-once",
     .about = "a pass rotates k, attention rotates q; gradients are rotated back in registers",
     .launch = launch_rotate_once,
     .applies = attends},
    {.name = "k-cached",
     .about = "attention rotates q, k was rotated when it was stored",
     .launch = launch_cached,
     .applies = is_forward},
    {.name = "q-kept",
     .about = "gradients where the forward pass kept rotated q as well as rotated k",
     .launch = launch_by_width<launch_kept_of<64>, launch_kept_of<128>>,
     .applies = is_gradient},
    {.name = "fused",
     .about = "attention rotates q and each tile of k",
     .launch = launch_fused,
     .applies = is_forward},
    {.name = "twice",
     .about = "fused behind itself, then rotate-k-once, with attention twice",
     .launch = launch_twice,
     .applies = is_odd_forward},
    {.name = "q-made",
     .about = "rotate-k-once behind a kernel that makes q",
     .launch = launch_behind_queries,
     .applies = is_odd_forward},
    {.name = "attention",
     .about = "step 29's best alone, of q and k that are rotated",
     .launch = launch_attention,
     .applies = is_forward},
    {.name = "pass-over-k",
     .about = "what rotates k, alone",
     .launch = launch_keys,
     .applies = is_keys},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}, {KF_SUSTAINED, KF_WARM}};

static const kf_question questions[] = {
    {.text = "Forward at D = 128 and S = 512, in graphs, how many times as fast as one-kernel is "
             "rotate-k-once?",
     .figure = "median_us",
     .case_name = "forward-D128-S512",
     .variant = "one-kernel",
     .over = "rotate-k-once"},
    {.text = "Forward at D = 128 and S = 8192, in graphs, how many times as fast as op-by-op is "
             "rotate-k-once?",
     .figure = "median_us",
     .case_name = "forward-D128-S8192",
     .variant = "op-by-op",
     .over = "rotate-k-once"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "37-rotate-k-once",
        .title = "keys rotated once, queries inside, on the best kernels",
        .architecture = "90a",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = reference,
        .cost = cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
