/* 14-fair-baseline: how much of V7's gain was fusion, and what the same shape allows
 *
 * Grows from: 13-v7-hybrid
 *
 * Idea     A chain of variants from the log's baseline to V7, and from V7 to the best kernel
 *          that we have. Each changes one thing of the one before: the waits of the host, q
 *          staged, a launch less, q turned inside, loads of 16 bytes (V7), exponentials once a
 *          key, more loads under way, all threads at work, D split over blocks.
 * Predict  A wait costs 5 us, and there are two. q staged and q turned inside save little, a
 *          launch less 1 us in a graph. Loads of 16 bytes: 1.3x. Exponentials once: 5 %. All
 *          threads at work: 2x. Two queries a block, half the traffic: 1.5x at D = 2048. D
 *          split: 5 us at any D, for what is left is latency.
 * Outcome  What was said of the waits, of q and of the launch is right: fusion proper is the
 *          smallest part of V7's gain. Wide loads gave 1.5x to 2x, for they spare the L1 and not
 *          just instructions. Exponentials once saved the 10 us expected at D = 2048, but of a
 *          kernel that was no longer 200 us. All threads: 1.4x to 2.8x. Two queries a block:
 *          1.1x at most; half the blocks wait alone. D split: 5 us at D = 128 and 12 at 2048,
 *          which is the time of one block of each kernel: split-tiles takes nearly as long at D
 *          = 128. The first forms of these kernels were up to twice as slow, with loads that
 *          nvcc had put one behind the other; __launch_bounds__ with the blocks that there are
 *          mended that. See chapter 7.
 */
#include "cuda/rope_ladder.cuh"

static __device__ float dot4(float4 a, float4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// step 13's: query [D], k [Sk][D] rotated -> score [visible], one key a thread,
// 16 bytes a load. Returns the thread's largest score.
static __device__ __forceinline__ float
score_keys_float4(const float *query, const float *k, float *score, int visible, int D, float scale)
{
    float largest = -INFINITY;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        const float4 *query4 = (const float4 *)query;
        const float4 *key4 = (const float4 *)(k + (int64_t)j * D);
        float dot = 0.0f;
        for (int d = 0; d < D / 4; d++) {
            dot += dot4(query4[d], key4[d]);
        }
        score[j] = dot * scale;
        largest = fmaxf(largest, score[j]);
    }
    return largest;
}

// --- Where the log began
// ---------------------------------------------------------------------------

// q [H][Sq][D], k [H][Sk][D], both rotated, v [H][Sk][D] -> o [H][Sq][D]; q stays in global memory
// grid (Sq, H), LADDER_THREADS threads, Sk floats of dynamic shared memory
// cost: one_query_attention's, and D loads of q a key instead of one copy of q a block
template <bool by_float4>
__global__ void attention_unstaged(const float *q, const float *k, const float *v, float *o, int Sq,
                                   int Sk, int D, bool causal, float scale)
{
    extern __shared__ float shared[];
    __shared__ float scratch[LADDER_THREADS];
    float *score = shared;
    const int row = blockIdx.x;
    const int64_t head = blockIdx.y;
    const int visible = causal ? Sk - Sq + row + 1 : Sk;
    q += (head * Sq + row) * D;
    o += (head * Sq + row) * D;
    k += head * Sk * D;
    v += head * Sk * D;

    const float largest = by_float4 ? score_keys_float4(q, k, score, visible, D, scale)
                                    : score_keys_apart(q, k, score, visible, D, scale);
    finish_row<block_reduction>(score, largest, v, o, visible, D, scratch);
}

template <bool by_float4>
static void launch_attention_unstaged(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    attention_unstaged<by_float4>
        <<<dim3(s.Sq, s.H), LADDER_THREADS, s.Sk * sizeof(float), stream>>>(
            kf_f32(run, "q_turned"), kf_f32(run, "k_turned"), kf_f32(run, "v"), kf_f32(run, "o"),
            s.Sq, s.Sk, s.D, s.causal, 1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}

// snippet: synchronise
// What the log did between its kernels. In a graph there is no host that could wait.
static void synchronise(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status;
    CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
    if (status == cudaStreamCaptureStatusNone) {
        CUDA_CHECK(cudaStreamSynchronize(stream));
    }
}
// end snippet: synchronise

template <bool by_float4>
static void launch_log_separate(const kf_run *run, cudaStream_t stream)
{
    launch_rope_q(run, stream);
    synchronise(stream);
    launch_rope_k(run, stream);
    synchronise(stream);
    launch_attention_unstaged<by_float4>(run, stream);
}

static void launch_unstaged(const kf_run *run, cudaStream_t stream)
{
    launch_rope_q(run, stream);
    launch_rope_k(run, stream);
    launch_attention_unstaged<false>(run, stream);
}

// --- From the fair baseline to V7
// ------------------------------------------------------------------

// x [D] at one position -> y [D]; one thread a pair, and one a dimension that is not turned
static __device__ void rotate_row(const float *x, const float *cosine, const float *sine, float *y,
                                  int D, int R)
{
    const int half = R / 2;
    for (int t = threadIdx.x; t < D - half; t += blockDim.x) {
        if (t < half) {
            COUNT("table loads", 2);
            COUNT("element rotations", 2);
            const float c = cosine[t];
            const float s = sine[t];
            y[t] = x[t] * c - x[t + half] * s;
            y[t + half] = x[t + half] * c + x[t] * s;
        } else {
            y[t + half] = x[t + half];
        }
    }
}

// q [H][Sq][D], k [H][Sk][D] -> q_turned, k_turned; grid (Sq + Sk, H): the first Sq blocks turn q
// cost: that of both kernels which it joins
__global__ void rope_both(const float *q, const float *k, const float *cosine, const float *sine,
                          float *q_turned, float *k_turned, int Sq, int Sk, int D, int R, int first)
{
    const bool is_query = (int)blockIdx.x < Sq;
    const int S = is_query ? Sq : Sk;
    const int i = is_query ? blockIdx.x : blockIdx.x - Sq;
    const int64_t row = ((int64_t)blockIdx.y * S + i) * D;
    const int64_t angles = (int64_t)(is_query ? first + i : i) * (R / 2);
    COUNT("Q rotations", is_query && threadIdx.x == 0);
    COUNT("K rotations", !is_query && threadIdx.x == 0);
    rotate_row((is_query ? q : k) + row, cosine + angles, sine + angles,
               (is_query ? q_turned : k_turned) + row, D, R);
}

static void launch_joined(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const size_t shared = (s.D + s.Sk) * sizeof(float);
    rope_both<<<dim3(s.Sq + s.Sk, s.H), LADDER_THREADS, 0, stream>>>(
        kf_f32(run, "q"), kf_f32(run, "k"), kf_f32(run, "cos"), kf_f32(run, "sin"),
        kf_f32(run, "q_turned"), kf_f32(run, "k_turned"), s.Sq, s.Sk, s.D, s.R, s.Sk - s.Sq);
    CUDA_CHECK_LAUNCH();
    one_query_attention<block_reduction, LOOPS_BATCHED>
        <<<dim3(s.Sq, s.H), LADDER_THREADS, shared, stream>>>(
            kf_f32(run, "q_turned"), kf_f32(run, "k_turned"), kf_f32(run, "v"), kf_f32(run, "o"),
            s.Sq, s.Sk, s.D, s.causal, 1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}

// weight [visible] in shared memory, v [Sk][D] -> o [D], one column a thread: weigh_values_batched
// of the other versions, its exponentials taken out
static __device__ __forceinline__ void add_values(const float *weight, const float *v, float *o,
                                                  int visible, int D)
{
    enum { BATCH = 8 };
    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        float out = 0.0f;
        int j = 0;
        for (; j + BATCH <= visible; j += BATCH) {
            float value[BATCH];
#pragma unroll
            for (int i = 0; i < BATCH; i++) {
                value[i] = v[(int64_t)(j + i) * D + d];
            }
#pragma unroll
            for (int i = 0; i < BATCH; i++) {
                out += weight[j + i] * value[i];
            }
        }
        for (; j < visible; j++) {
            out += weight[j] * v[(int64_t)j * D + d];
        }
        o[d] = out;
    }
}

// q [H][Sq][D] as it came, k [H][Sk][D] rotated, v [H][Sk][D], cosine and sine -> o [H][Sq][D]
// grid (Sq, H), LADDER_THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: one_query_attention's, and one Q rotation a block. with float4 a quarter of the loads of q
// and k; with once Sk exponentials a block instead of Sk a column
template <bool by_float4, bool once, int BLOCKS>
__global__ void __launch_bounds__(LADDER_THREADS, BLOCKS)
    attention_hybrid(const float *q, const float *k, const float *v, const float *cosine,
                     const float *sine, float *o, int Sq, int Sk, int D, int R, bool causal,
                     float scale)
{
    extern __shared__ float shared[];
    __shared__ float scratch[LADDER_THREADS];
    float *query = shared;
    float *score = shared + D;
    const int row = blockIdx.x;
    const int64_t head = blockIdx.y;
    const int visible = causal ? Sk - Sq + row + 1 : Sk;
    const int64_t angles = (int64_t)(Sk - Sq + row) * (R / 2);
    q += (head * Sq + row) * D;
    o += (head * Sq + row) * D;
    k += head * Sk * D;
    v += head * Sk * D;

    COUNT("Q rotations", threadIdx.x == 0);
    rotate_row(q, cosine + angles, sine + angles, query, D, R);
    __syncthreads();

    float largest = by_float4 ? score_keys_float4(query, k, score, visible, D, scale)
                              : score_keys_apart(query, k, score, visible, D, scale);
    if (!once) {
        finish_row<block_reduction>(score, largest, v, o, visible, D, scratch);
        return;
    }
    largest = block_max(largest, scratch);
    float sum = 0.0f;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        score[j] = expf(score[j] - largest);
        sum += score[j];
    }
    sum = block_sum(sum, scratch);
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        score[j] /= sum;
    }
    __syncthreads();
    add_values(score, v, o, visible, D);
}

template <bool by_float4, bool once, int BLOCKS = 0>
static void launch_hybrid(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const size_t shared = (s.D + s.Sk) * sizeof(float);
    launch_rope_k(run, stream);
    attention_hybrid<by_float4, once, BLOCKS><<<dim3(s.Sq, s.H), LADDER_THREADS, shared, stream>>>(
        kf_f32(run, "q"), kf_f32(run, "k_turned"), kf_f32(run, "v"), kf_f32(run, "cos"),
        kf_f32(run, "sin"), kf_f32(run, "o"), s.Sq, s.Sk, s.D, s.R, s.causal,
        1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}

// --- Every thread busy
// -----------------------------------------------------------------------------

enum { BUSY_WARPS = LADDER_THREADS / 32, KEYS_AT_ONCE = 8 };

// snippet: sum-four
// Four values a lane in, the sum of value number lane / 8 over the warp out: at each of the first
// two exchanges a lane gives away the half of its values that it will not need.
// cost: 6 shuffles, where four sums one after the other take 20
static __device__ float warp_sum_four(const float *value)
{
    const int lane = threadIdx.x % 32;
    const bool upper = lane & 16;
    const bool odd = lane & 8;
    const float a = (upper ? value[2] : value[0]) +
                    __shfl_xor_sync(0xffffffffu, upper ? value[0] : value[2], 16);
    const float b = (upper ? value[3] : value[1]) +
                    __shfl_xor_sync(0xffffffffu, upper ? value[1] : value[3], 16);
    float sum = (odd ? b : a) + __shfl_xor_sync(0xffffffffu, odd ? a : b, 8);
    for (int bit = 4; bit > 0; bit /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, bit);
    }
    return sum;
}
// end snippet: sum-four

// query [QUERIES][D] in shared memory, k [Sk][D] rotated -> score [QUERIES][Sk]
// A warp takes a key, its lanes 16 bytes each, side by side: every sector that comes is used whole.
// KEYS_AT_ONCE keys are under way together, so that a warp waits once for all of them.
template <int QUERIES>
static __device__ void score_keys_by_warp(const float *query, const float *k, float *score, int Sk,
                                          int D, float scale)
{
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    for (int first = warp * KEYS_AT_ONCE; first < Sk; first += BUSY_WARPS * KEYS_AT_ONCE) {
        float dot[QUERIES][KEYS_AT_ONCE] = {};
        const float *row[KEYS_AT_ONCE];
#pragma unroll
        for (int i = 0; i < KEYS_AT_ONCE; i++) {
            row[i] = k + (int64_t)min(first + i, Sk - 1) * D;
        }
        for (int d = 4 * lane; d < D; d += 4 * 32) {
            float4 key[KEYS_AT_ONCE];
#pragma unroll
            for (int i = 0; i < KEYS_AT_ONCE; i++) {
                key[i] = *(const float4 *)(row[i] + d);
            }
#pragma unroll
            for (int m = 0; m < QUERIES; m++) {
                const float4 a = *(const float4 *)(query + m * D + d);
#pragma unroll
                for (int i = 0; i < KEYS_AT_ONCE; i++) {
                    dot[m][i] += dot4(a, key[i]);
                }
            }
        }
        for (int m = 0; m < QUERIES; m++) {
            for (int i = 0; i < KEYS_AT_ONCE; i += 4) {
                const float sum = warp_sum_four(dot[m] + i);
                const int j = first + i + lane / 8;
                if (lane % 8 == 0 && j < Sk) {
                    score[m * Sk + j] = sum * scale;
                }
            }
        }
    }
}

// score [Sk] -> weights in its place; one warp
static __device__ void softmax_by_warp(float *score, int visible, int Sk)
{
    const int lane = threadIdx.x % 32;
    float largest = -INFINITY;
    for (int j = lane; j < visible; j += 32) {
        largest = fmaxf(largest, score[j]);
    }
    largest = warp_max(largest);
    float sum = 0.0f;
    for (int j = lane; j < visible; j += 32) {
        score[j] = expf(score[j] - largest);
        sum += score[j];
    }
    sum = warp_sum(sum);
    for (int j = lane; j < Sk; j += 32) {
        score[j] = j < visible ? score[j] / sum : 0.0f;
    }
}

// q [H][Sq][D] as it came, k [H][Sk][D] rotated, v [H][Sk][D], cosine and sine -> o [H][Sq][D]
// grid (Sq / QUERIES, H), LADDER_THREADS threads
// dynamic shared memory: QUERIES (D + Sk) floats, and 4 QUERIES a thread where threads share
// columns
template <int QUERIES>
__global__ void __launch_bounds__(LADDER_THREADS, 2)
    attention_busy(const float *q, const float *k, const float *v, const float *cosine,
                   const float *sine, float *o, int Sq, int Sk, int D, int R, bool causal,
                   float scale)
{
    extern __shared__ float shared[];
    float *query = shared;
    float *score = shared + QUERIES * D;
    const int row = blockIdx.x * QUERIES;
    const int queries = min(QUERIES, Sq - row);
    const int64_t head = blockIdx.y;
    q += (head * Sq + row) * D;
    o += (head * Sq + row) * D;
    k += head * Sk * D;
    v += head * Sk * D;

    for (int m = 0; m < QUERIES; m++) {
        const int present = min(m, queries - 1);
        const int64_t angles = (int64_t)(Sk - Sq + row + present) * (R / 2);
        COUNT("Q rotations", threadIdx.x == 0 && m < queries);
        rotate_row(q + present * D, cosine + angles, sine + angles, query + m * D, D, R);
    }
    __syncthreads();
    score_keys_by_warp<QUERIES>(query, k, score, Sk, D, scale);
    __syncthreads();
    for (int m = threadIdx.x / 32; m < QUERIES; m += BUSY_WARPS) {
        const int visible = causal ? Sk - Sq + row + min(m, queries - 1) + 1 : Sk;
        softmax_by_warp(score + m * Sk, visible, Sk);
    }
    __syncthreads();

    // A thread takes 4 columns. Where there are fewer columns than that, groups of threads share
    // the keys, and their sums meet in the shared memory that held the queries.
    const int width = D / 4;
    const int groups = width < LADDER_THREADS ? LADDER_THREADS / width : 1;
    const int group = threadIdx.x / width;
    float4 *partial = (float4 *)(shared + (QUERIES * (D + Sk) + 3) / 4 * 4);
    for (int column = groups > 1 ? threadIdx.x % width : threadIdx.x; column < width;
         column += LADDER_THREADS) {
        float4 out[QUERIES] = {};
        if (groups == 1 || group < groups) {
#pragma unroll 8
            for (int j = groups > 1 ? group : 0; j < Sk; j += groups) {
                const float4 x = *(const float4 *)(v + (int64_t)j * D + 4 * column);
                for (int m = 0; m < QUERIES; m++) {
                    const float w = score[m * Sk + j];
                    out[m].x += w * x.x;
                    out[m].y += w * x.y;
                    out[m].z += w * x.z;
                    out[m].w += w * x.w;
                }
            }
        }
        if (groups == 1) {
            for (int m = 0; m < queries; m++) {
                *(float4 *)(o + m * D + 4 * column) = out[m];
            }
        } else if (group < groups) {
            for (int m = 0; m < QUERIES; m++) {
                partial[(m * groups + group) * width + column] = out[m];
            }
        }
    }
    if (groups > 1) {
        __syncthreads();
        for (int e = threadIdx.x; e < queries * D; e += LADDER_THREADS) {
            const int m = e / D;
            const float *p = (const float *)partial + (int64_t)m * groups * D + e % D;
            float out = 0.0f;
            for (int g = 0; g < groups; g++) {
                out += p[g * D];
            }
            o[e] = out;
        }
    }
}

template <int QUERIES>
static void launch_busy(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int width = s.D / 4;
    const size_t sums = width < LADDER_THREADS ? QUERIES * LADDER_THREADS * 4 : 0;
    const size_t shared = (QUERIES * (s.D + s.Sk) + 4 + sums) * sizeof(float);
    launch_rope_k(run, stream);
    attention_busy<QUERIES>
        <<<dim3((s.Sq + QUERIES - 1) / QUERIES, s.H), LADDER_THREADS, shared, stream>>>(
            kf_f32(run, "q"), kf_f32(run, "k_turned"), kf_f32(run, "v"), kf_f32(run, "cos"),
            kf_f32(run, "sin"), kf_f32(run, "o"), s.Sq, s.Sk, s.D, s.R, s.causal,
            1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}

// --- The head dimension split over blocks
// ----------------------------------------------------------

// A row's D dimensions are taken as D / 2 couples. Couple t is the pair (t, t + R/2) where it is
// turned, and two neighbours (2t, 2t + 1) where not. A dot product does not mind the order.
enum { TILE = 64, PAD = 4, WEIGH_ROWS = 8, SHARES = 2 };

// snippet: stage-couples
// x [S][D] from row first on, COUPLES couples from couple on -> tile [TILE][2 COUPLES + PAD];
// turned on the way if turn says so. What lies beyond S or D counts as zero. cost: all the loads of
// a thread are under way before it waits for the first
template <int COUPLES>
static __device__ void stage_couples(const float *x, const float *cosine, const float *sine,
                                     float *tile, int first, int S, int couple, int D, int R,
                                     bool turn)
{
    const int MINE = TILE * COUPLES / LADDER_THREADS;
    const int half = R / 2;
    const int t = couple + threadIdx.x % COUPLES;
    const int column = min(t, D / 2 - 1);
    const bool turned = column < half;
    float a[MINE], b[MINE], c[MINE], s[MINE];
#pragma unroll
    for (int i = 0; i < MINE; i++) {
        const int row = min(first + (threadIdx.x + i * LADDER_THREADS) / COUPLES, S - 1);
        const float *p = x + (int64_t)row * D;
        a[i] = p[turned ? column : 2 * column];
        b[i] = p[turned ? column + half : 2 * column + 1];
        c[i] = 1.0f;
        s[i] = 0.0f;
        if (turn && couple < half) {
            const int64_t angle = (int64_t)row * half + min(column, half - 1);
            COUNT("table loads", 2);
            c[i] = cosine[angle];
            s[i] = sine[angle];
        }
    }
#pragma unroll
    for (int i = 0; i < MINE; i++) {
        const int row = (threadIdx.x + i * LADDER_THREADS) / COUPLES;
        const bool inside = first + row < S && t < D / 2;
        const bool rotate = turn && turned;
        COUNT("element rotations", rotate && inside ? 2 : 0);
        float *y = tile + row * (2 * COUPLES + PAD) + threadIdx.x % COUPLES;
        // solution: turn-couple -- a couple that is turned, one that is not, one that is not there
        const float u = rotate ? a[i] * c[i] - b[i] * s[i] : a[i];
        const float v = rotate ? b[i] * c[i] + a[i] * s[i] : b[i];
        y[0] = inside ? u : 0.0f;
        y[COUPLES] = inside ? v : 0.0f;
        // end solution: turn-couple
    }
}
// end snippet: stage-couples

// snippet: partial-scores
// q [H][Sq][D] as it came, k [H][Sk][D] as it came or rotated -> partial [chunks][H][Sq][pitch]
// grid (chunks, tiles of queries x tiles of keys, H), LADDER_THREADS threads
// cost: a block multiplies 64 queries by 64 keys over 2 COUPLES dimensions, 16 sums a thread. Each
// element of q and k is read, and turned, by one block for each 64 rows of the other
template <int COUPLES, bool turn_keys>
__global__ void __launch_bounds__(LADDER_THREADS, 1)
    partial_scores(const float *q, const float *k, const float *cosine, const float *sine,
                   float *partial, int Sq, int Sk, int D, int R, int pitch)
{
    const int width = 2 * COUPLES + PAD;
    __shared__ __align__(16) float query[TILE * width];
    __shared__ __align__(16) float key[TILE * width];
    const int key_tiles = (Sk + TILE - 1) / TILE;
    const int first_query = blockIdx.y / key_tiles * TILE;
    const int first_key = blockIdx.y % key_tiles * TILE;
    const int couple = blockIdx.x * COUPLES;
    const int64_t head = blockIdx.z;
    const int64_t angles = (int64_t)(Sk - Sq) * (R / 2);
    COUNT("Q rotations", threadIdx.x == 0 && couple == 0 ? min(TILE, Sq - first_query) : 0);
    COUNT("K rotations",
          turn_keys && threadIdx.x == 0 && couple == 0 ? min(TILE, Sk - first_key) : 0);
    stage_couples<COUPLES>(q + head * Sq * D, cosine + angles, sine + angles, query, first_query,
                           Sq, couple, D, R, true);
    stage_couples<COUPLES>(k + head * Sk * D, cosine, sine, key, first_key, Sk, couple, D, R,
                           turn_keys);
    __syncthreads();

    // Thread (x, y) of 16 x 16 owns queries y + 16 i and keys x + 16 j. Neighbours in pairs, of one
    // x or of one y, read the same 16 bytes: that halves the passes of a load (chapter 3).
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int x = lane / 2 % 8 + warp % 2 * 8;
    const int y = lane % 2 + lane / 16 * 2 + warp / 2 * 4;
    float sum[4][4] = {};
#pragma unroll 4
    for (int d = 0; d < 2 * COUPLES; d += 4) {
        float4 a[4], b[4];
        for (int i = 0; i < 4; i++) {
            a[i] = *(const float4 *)(query + (y + 16 * i) * width + d);
            b[i] = *(const float4 *)(key + (x + 16 * i) * width + d);
        }
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                sum[i][j] += dot4(a[i], b[j]);
            }
        }
    }
    partial += ((int64_t)blockIdx.x * gridDim.z + head) * Sq * pitch;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            const int row = first_query + y + 16 * i;
            const int column = first_key + x + 16 * j;
            if (row < Sq && column < pitch) {
                partial[(int64_t)row * pitch + column] = sum[i][j];
            }
        }
    }
}
// end snippet: partial-scores

// score [SHARES][WEIGH_ROWS][pitch] -> column m of weight [keys][WEIGH_ROWS]; one warp. The weights
// of keys that the query does not see, or that are not there, are zero.
static __device__ void softmax_of_shares(float *score, float *weight, int m, int visible, int keys,
                                         int pitch, float scale)
{
    const int lane = threadIdx.x % 32;
    float largest = -INFINITY;
    for (int j = lane; j < visible; j += 32) {
        float sum = 0.0f;
        for (int i = 0; i < SHARES; i++) {
            sum += score[(i * WEIGH_ROWS + m) * pitch + j];
        }
        score[m * pitch + j] = sum * scale;
        largest = fmaxf(largest, sum * scale);
    }
    largest = warp_max(largest);
    float sum = 0.0f;
    for (int j = lane; j < visible; j += 32) {
        score[m * pitch + j] = expf(score[m * pitch + j] - largest);
        sum += score[m * pitch + j];
    }
    const float share = 1.0f / warp_sum(sum);
    for (int j = lane; j < keys; j += 32) {
        weight[j * WEIGH_ROWS + m] = j < visible ? score[m * pitch + j] * share : 0.0f;
    }
}

// snippet: weigh-partial
// partial [chunks][H][Sq][pitch], v [H][Sk][D] -> o [H][Sq][D]
// grid (D / COLUMNS, Sq / WEIGH_ROWS, H), LADDER_THREADS threads. A thread owns 4 columns, all of
// the block's queries, and the keys of its group; the groups' sums meet in shared memory.
// dynamic shared memory: WEIGH_ROWS floats for each of Sk weights, rounded up to TILE, and of
// SHARES pitches of scores; or for each thread's 4 columns, whichever is more cost: reads chunks
// WEIGH_ROWS pitch floats and Sk COLUMNS of v a block; Sk WEIGH_ROWS exponentials
template <int COLUMNS>
__global__ void __launch_bounds__(LADDER_THREADS, 1)
    weigh_partial(const float *partial, const float *v, float *o, int chunks, int Sq, int Sk, int D,
                  int pitch, bool causal, float scale)
{
    const int ACROSS = COLUMNS / 4;
    const int GROUPS = LADDER_THREADS / ACROSS;
    const int EARLY = GROUPS < 8 ? 8 : 64 / GROUPS; // values and chunks under way together, for
    const int BATCH = COLUMNS < 128 ? 4 : COLUMNS < 512 ? 8 : 16; // the cases that are timed
    extern __shared__ float shared[];
    float *weight = shared;
    const int keys = (Sk + TILE - 1) / TILE * TILE;
    float *score = shared + WEIGH_ROWS * keys;
    const int first = blockIdx.y * WEIGH_ROWS;
    const int rows = min(WEIGH_ROWS, Sq - first);
    const int64_t head = blockIdx.z;
    const int64_t stride = (int64_t)gridDim.z * Sq * pitch;
    const int group = threadIdx.x / ACROSS;
    const int column = blockIdx.x * COLUMNS + threadIdx.x % ACROSS * 4;
    partial += (head * Sq + first) * pitch;
    v += head * Sk * D + min(column, D - 4);
    o += (head * Sq + first) * D;

    // The first values are on their way while the scores are added up.
    float4 x[EARLY];
#pragma unroll
    for (int i = 0; i < EARLY; i++) {
        x[i] = *(const float4 *)(v + (int64_t)min(group + i * GROUPS, Sk - 1) * D);
    }

    const int quads = WEIGH_ROWS * pitch / 4;
    for (int e = threadIdx.x; e < SHARES * quads; e += LADDER_THREADS) {
        const int quad = e % quads;
        float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (quad * 4 < rows * pitch) {
            for (int c = e / quads; c < chunks; c += SHARES * BATCH) {
                float4 a[BATCH];
#pragma unroll
                for (int i = 0; i < BATCH; i++) {
                    const int64_t chunk = min(c + i * SHARES, chunks - 1);
                    a[i] = *(const float4 *)(partial + chunk * stride + quad * 4);
                }
#pragma unroll
                for (int i = 0; i < BATCH; i++) {
                    const bool inside = c + i * SHARES < chunks;
                    sum.x += inside ? a[i].x : 0.0f;
                    sum.y += inside ? a[i].y : 0.0f;
                    sum.z += inside ? a[i].z : 0.0f;
                    sum.w += inside ? a[i].w : 0.0f;
                }
            }
        }
        *(float4 *)(score + 4 * e) = sum;
    }
    __syncthreads();
    for (int m = threadIdx.x / 32; m < WEIGH_ROWS; m += BUSY_WARPS) {
        const int visible = causal ? Sk - Sq + first + min(m, rows - 1) + 1 : Sk;
        softmax_of_shares(score, weight, m, visible, keys, pitch, scale);
    }
    __syncthreads();

    float4 out[WEIGH_ROWS] = {};
    for (int j = group; j < Sk; j += EARLY * GROUPS) {
        float4 y[EARLY];
#pragma unroll
        for (int i = 0; i < EARLY; i++) {
            y[i] = x[i];
            const int next = min(j + (EARLY + i) * GROUPS, Sk - 1);
            x[i] = *(const float4 *)(v + (int64_t)next * D);
        }
#pragma unroll
        for (int i = 0; i < EARLY; i++) {
            const float4 *w4 = (const float4 *)(weight + (j + i * GROUPS) * WEIGH_ROWS);
            const float4 low = w4[0];
            const float4 high = w4[1];
            const float w[] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
            for (int m = 0; m < WEIGH_ROWS; m++) {
                out[m].x += w[m] * y[i].x;
                out[m].y += w[m] * y[i].y;
                out[m].z += w[m] * y[i].z;
                out[m].w += w[m] * y[i].w;
            }
        }
    }
    __syncthreads(); // the weights have been read: their place takes the groups' sums
    for (int m = 0; m < WEIGH_ROWS; m++) {
        *(float4 *)(shared + (group * WEIGH_ROWS + m) * COLUMNS + threadIdx.x % ACROSS * 4) =
            out[m];
    }
    __syncthreads();
    for (int e = threadIdx.x; e < rows * COLUMNS; e += LADDER_THREADS) {
        const int d = blockIdx.x * COLUMNS + e % COLUMNS;
        float sum = 0.0f;
#pragma unroll
        for (int g = 0; g < GROUPS; g++) {
            sum += shared[g * WEIGH_ROWS * COLUMNS + e];
        }
        if (d < D) {
            o[(int64_t)(e / COLUMNS) * D + d] = sum;
        }
    }
}
// end snippet: weigh-partial

static int couples_of(const kf_shape *s)
{
    return s->D > 512 ? 32 : s->D > 128 ? 16 : 8;
}

static int chunks_of(const kf_shape *s, int couples)
{
    return (s->D / 2 + couples - 1) / couples;
}

static int pitch_of(const kf_shape *s)
{
    return (s->Sk + 3) / 4 * 4;
}

template <int COUPLES, bool turn_keys>
static void launch_partial(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int tiles = (s.Sq + TILE - 1) / TILE * ((s.Sk + TILE - 1) / TILE);
    partial_scores<COUPLES, turn_keys>
        <<<dim3(chunks_of(&s, COUPLES), tiles, s.H), LADDER_THREADS, 0, stream>>>(
            kf_f32(run, "q"), kf_f32(run, turn_keys ? "k" : "k_turned"), kf_f32(run, "cos"),
            kf_f32(run, "sin"), kf_f32(run, "partial"), s.Sq, s.Sk, s.D, s.R, pitch_of(&s));
    CUDA_CHECK_LAUNCH();
}

template <int COLUMNS>
static void launch_weigh(const kf_run *run, int chunks, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int pitch = pitch_of(&s);
    const int keys = (s.Sk + TILE - 1) / TILE * TILE;
    const int scores = WEIGH_ROWS * (keys + SHARES * pitch);
    const int sums = WEIGH_ROWS * 4 * LADDER_THREADS;
    const dim3 grid((s.D + COLUMNS - 1) / COLUMNS, (s.Sq + WEIGH_ROWS - 1) / WEIGH_ROWS, s.H);
    weigh_partial<COLUMNS><<<grid, LADDER_THREADS, max(scores, sums) * sizeof(float), stream>>>(
        kf_f32(run, "partial"), kf_f32(run, "v"), kf_f32(run, "o"), chunks, s.Sq, s.Sk, s.D, pitch,
        s.causal, 1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}

// snippet: launch-split
template <bool turn_keys, int COUPLES, int COLUMNS>
static void launch_tiles(const kf_run *run, cudaStream_t stream)
{
    if (!turn_keys) {
        launch_rope_k(run, stream);
    }
    launch_partial<COUPLES, turn_keys>(run, stream);
    launch_weigh<COLUMNS>(run, chunks_of(&run->shape, COUPLES), stream);
}

// The smaller D, the smaller a tile, so that there are blocks for all multiprocessors.
template <bool turn_keys>
static void launch_split(const kf_run *run, cudaStream_t stream)
{
    switch (couples_of(&run->shape)) {
    case 32:
        launch_tiles<turn_keys, 32, 512>(run, stream);
        break;
    case 16:
        launch_tiles<turn_keys, 16, 128>(run, stream);
        break;
    default:
        launch_tiles<turn_keys, 8, 32>(run, stream);
    }
}
// end snippet: launch-split

static void setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t partial[] = {chunks_of(&s, couples_of(&s)), s.H, s.Sq, pitch_of(&s)};
    ladder_setup(run);
    kf_scratch(run, "partial", "CHSK", KF_F32, partial);
}

static bool by_four(const kf_shape *shape)
{
    return shape->D % 4 == 0;
}

// What leads from the log's baseline to V7 is there to be timed, and checked where it is timed. On
// a CPU, which takes its time, in one large case and one odd one.
static bool on_the_way(const kf_shape *shape)
{
    const bool chosen = shape->H == 1 || shape->Sq < 64;
    return by_four(shape) && shape->D >= 128 && (chosen || !kf_on_cpu());
}

// snippet: variants
static const kf_variant variants[] = {
    {"separate", "RoPE on q, RoPE on k, attention: three launches", launch_separate, NULL,
     LADDER_THREADS, NULL},
    {"log-separate", "q from global memory, the host waits after each kernel",
     launch_log_separate<false>, on_the_way, LADDER_THREADS, NULL},
    {"log-separate-float4", "the same, 16 bytes a load in the dot product",
     launch_log_separate<true>, on_the_way, LADDER_THREADS, NULL},
    {"unstaged", "log-separate without the waiting", launch_unstaged, on_the_way, LADDER_THREADS,
     NULL},
    {"joined", "separate, both rotations in one launch", launch_joined, on_the_way, LADDER_THREADS,
     NULL},
    {"hybrid", "k rotated by its own kernel, q while it is staged", launch_hybrid<false, false>,
     on_the_way, LADDER_THREADS, NULL},
    {"v7", "hybrid, 16 bytes a load in the dot product", launch_hybrid<true, false>, on_the_way,
     LADDER_THREADS, NULL},
    {"once", "v7, one exponential a key instead of one a key and column", launch_hybrid<true, true>,
     on_the_way, LADDER_THREADS, NULL},
    {"two-blocks", "once, compiled for two blocks an SM", launch_hybrid<true, true, 2>, on_the_way,
     LADDER_THREADS, NULL},
    {"busy", "two-blocks, a warp a key: all threads at work", launch_busy<1>, by_four, 0, NULL},
    {"busy-2", "busy, two queries a block", launch_busy<2>, by_four, 0, NULL},
    {"split", "D split over blocks, k rotated by its own kernel", launch_split<false>, by_four, 0,
     NULL},
    {"split-once", "split, each key rotated where it is staged", launch_split<true>, by_four, 0,
     NULL},
    {"split-tiles", "split-once with the tiles of D = 2048 at every D", launch_tiles<true, 32, 512>,
     on_the_way, 0, NULL},
};
// end snippet: variants

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}, {KF_STREAM, KF_WARM}, {KF_CALL, KF_WARM}};

// The ladder's cases, of which those below D = 128 are not timed: the log has none.
static kf_case cases[sizeof ladder_cases / sizeof *ladder_cases];

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cases[i] = ladder_cases[i];
        cases[i].flags |= cases[i].shape.D < 128 ? KF_VERIFY_ONLY : 0;
    }
    const kf_program program = {"14-fair-baseline",
                                "how much of V7's gain was fusion, and what the same shape allows",
                                KF_LIST(cases),
                                KF_LIST(variants),
                                setup,
                                kf_attention_reference,
                                kf_attention_cost,
                                KF_LIST(timings)};
    return kf_main(&program, argc, argv);
}
