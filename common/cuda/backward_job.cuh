/* backward_job.cuh: a call of FlashAttention's backward pass in steps 30, 31 and 37: its arguments
 * from a run, and the launches of the kernels before and after the main one.
 */
#pragma once

#include "cuda/wgmma_keys.cuh"
#include "cuda/wgmma_launch.cuh"

// The arguments of a call.
typedef struct job {
    backward_args a;
    float *lse2, *minus_delta, *sums; // [BH][padded], [BH][padded][D]
    CUtensorMap q, k, v, dout, dk, dv;
    int heads, blocks; // blocks of keys per head
    cudaStream_t stream;
} job;

// q, k: names of queries and keys.
template <int D>
static job job_of(const kf_run *run, cudaStream_t stream, const char *q, const char *k)
{
    const kf_shape s = run->shape;
    job j;
    j.a = backward_arguments(run);
    j.lse2 = kf_f32(run, "lse2");
    j.minus_delta = kf_f32(run, "minus_delta");
    j.sums = kf_f32(run, "sums");
    j.q = map_of(run, q, tile_queries<D>());
    j.dout = map_of(run, "dout", tile_queries<D>());
    j.k = map_of(run, k, 64);
    j.v = map_of(run, "v", 64);
    j.dk = map_of(run, "dk", 64);
    j.dv = map_of(run, "dv", 64);
    j.heads = s.B * s.H;
    j.blocks = (s.Sk + BLOCK_KEYS - 1) / BLOCK_KEYS;
    j.stream = stream;
    return j;
}

// lse2, minus_delta and sums of a call.
static inline void job_setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t rows[4] = {s.B, s.H, padded_rows(s.Sq), 1};
    const int64_t sums[4] = {s.B, s.H, padded_rows(s.Sq), s.D};
    kf_scratch(run, "lse2", "BHSD", KF_F32, rows);
    kf_scratch(run, "minus_delta", "BHSD", KF_F32, rows);
    kf_scratch(run, "sums", "BHSD", KF_F32, sums);
}

// Heads in flight together: as many as have q, dout and their sums of dq in 32 MB of the L2 cache.
// Without a mask all blocks have equally much work, and it is one head.
static inline int job_heads_at_once(const job *j, int D)
{
    const int64_t room = kf_on_cpu() ? 140000 : 32 << 20; // on a CPU small, as its cases are
    const int64_t head = (int64_t)j->a.Sq * D * 8;
    const int64_t fit = room / head;
    return !j->a.causal || fit < 1 ? 1 : (int)fit;
}

// The kernel before the main one. early: it may begin early, if a forward pass is in front of it,
// which permits that.
template <int D>
static void launch_before(const job *j, bool early)
{
    const dim3 grid((unsigned)(padded_rows(j->a.Sq) * D / 2048), j->heads);
    const cudaLaunchConfig_t c = launch_config(early, grid, 256, 0, j->stream);
    CUDA_CHECK(cudaLaunchKernelEx(&c, before<D>, j->a.o, j->a.dout, j->a.lse, j->lse2,
                                  j->minus_delta, j->sums, j->a.Sq));
}

template <int D>
static void launch_after(const job *j, bool early)
{
    const dim3 grid((unsigned)(padded_rows(j->a.Sq) / 128 * (D / 64)), j->heads);
    const cudaLaunchConfig_t c = launch_config(early, grid, 256, 0, j->stream);
    CUDA_CHECK(cudaLaunchKernelEx(&c, after<D>, (const float *)j->sums, j->a.dq, j->a.Sq));
}
