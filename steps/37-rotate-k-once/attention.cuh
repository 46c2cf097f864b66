/* attention.cuh: attention alone, with which rotating is compared. The kernel of the backward pass
 * is step 30's d-late, where it is explained. */
#pragma once

#include "cuda/wgmma_backward.cuh"
#include "cuda/wgmma_forward.cuh"

namespace backward_pass
{

// same as step 30, d-late.cuh
// Maps of q, dout [BH][Sq][D] in boxes of a tile's queries, k, v [BH][Sk][D] in boxes of 64 keys;
// lse2, minus_delta [BH][padded]
//     -> dk, dv [BH][Sk][D], maps in boxes of 64; dq is added to sums [BH][padded][D]
// grid (Sk / 128 BH); at_once: heads in flight together; under a mask the first keys, which have
// the most queries, come first
// cost: as step 30's
template <int D>
__global__ void __launch_bounds__(384, 1)
    backward(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
             const __grid_constant__ CUtensorMap v_map,
             const __grid_constant__ CUtensorMap dout_map,
             const __grid_constant__ CUtensorMap dk_map, const __grid_constant__ CUtensorMap dv_map,
             const float *lse2, const float *minus_delta, float *sums, int heads, int at_once,
             backward_args a)
{
    extern __shared__ __align__(1024) char memory[];
    const block_tiles t = tiles_at<D, STAGES, STAGES, true>(shared_address(memory));
    const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // the same for the warp
    const block_place b = place_of_block<D>(heads, at_once, a);
    const int64_t row = b.head * padded_rows(a.Sq);
    const query_source from = {&q_map, &dout_map, lse2 + row, minus_delta + row, b.head};
    const block_barriers m = init_barriers(t.end);
    if (warpgroup == 2) { // the producer
        setmaxnreg_dec<24>();
        if (threadIdx.x % 128 == 0) {
            load_block_keys<D>(t, b, &k_map, &v_map, m.kv_full);
            // Consumers need no wait of their own: they touch results of earlier kernels only
            // after tiles have come, which are requested behind this wait.
            wait_for_previous();
            load_tiles<D>(t, from, m, b);
            let_next_begin();
        }
        return;
    }

    setmaxnreg_inc<240>();
    const warp_share w = share_of_warp<D>(memory, t, b, a, sums);
    float dk[D / 8][4] = {};
    float dv[D / 8][4] = {};
    fence_registers(dk);
    fence_registers(dv);
    clear_last_slopes<D>(memory, t);
    barrier_wait(m.kv_full, 0);
    add_tiles<D>(dk, dv, w, m);
    add_last_dq<D>(w, m);

    named_sync(1, 256); // both have read all keys: dk and dv go there
    store_gradients<D>(t, b, dk, dv, &dk_map, &dv_map, warpgroup);
    if (threadIdx.x % 32 == 0) {
        bulk_wait<0>();
    }
}

} // namespace backward_pass
