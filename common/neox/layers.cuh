/* layers.cuh: the operations of a GPT-NeoX layer, one kernel each, as in a framework without a
 * compiler. Activations are fp16, arithmetic is fp32, and each kernel rounds its result once.
 * The number of cached positions is read on the device, so that one CUDA graph serves every
 * position. */
#pragma once

#include "neox/norms.cuh"
#include "neox/product.cuh"

enum { NEOX_THREADS = 256 };

// tokens [positions], embedding [vocab][hidden] -> x [T][hidden]; one block per token
// cost: 4 bytes per element
static __global__ void embed(const int *tokens, const int *past, const half *embedding, half *x,
                             int hidden)
{
    const int64_t token = tokens[*past + blockIdx.x];
    for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
        x[(int64_t)blockIdx.x * hidden + i] = embedding[token * hidden + i];
    }
}

// Rotates the pair (a, b).
static __device__ inline void rotate_pair(half *a, half *b, float cosine, float sine)
{
    const float first = __half2float(*a);
    const float second = __half2float(*b);
    *a = __float2half_rn(first * cosine - second * sine);
    *b = __float2half_rn(second * cosine + first * sine);
}

// Dimension d of a head of one token: rotates q in place, writes key and value to their places.
static __device__ __forceinline__ void rotate_one(half *q, half *key, half *value,
                                                  const float *cosine, const float *sine, int d,
                                                  int D, int R)
{
    value[d] = q[2 * D + d];
    if (d < R / 2) {
        half a = q[D + d];
        half b = q[D + d + R / 2];
        rotate_pair(&a, &b, cosine[d], sine[d]);
        key[d] = a;
        key[d + R / 2] = b;
        rotate_pair(q + d, q + d + R / 2, cosine[d], sine[d]);
    } else if (d >= R) {
        key[d] = q[D + d];
    }
}

// qkv [T][heads][3][D], tables [positions][R/2] -> q rotated in place, keys and values of the
// new tokens in the caches [heads][positions][D]; one thread per token, head and dimension
// cost: at most 10 bytes per element of q, k or v
// clang++ counts other requests than g++: all lanes load *past
static __global__ void rotate_and_append(half *qkv, const int *past, const float *cosine,
                                         const float *sine, half *keys, half *values, int heads,
                                         int positions, int D, int R)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int head = i / D;
    const int position = *past + blockIdx.y;
    const int64_t at = ((int64_t)head * positions + position) * D;
    const int64_t angles = (int64_t)position * (R / 2);
    if (head < heads) {
        rotate_one(qkv + ((int64_t)blockIdx.y * heads + head) * 3 * D, keys + at, values + at,
                   cosine + angles, sine + angles, i % D, D, R);
    }
}

enum { LANES_A_KEY = 8, MOST_CHUNKS = 4, KEYS_AT_ONCE = NEOX_THREADS / LANES_A_KEY };

// Four of a row's elements, from a multiple of 8 bytes on.
static __device__ __forceinline__ float4 load_four(const half *from)
{
    const uint2 words = *(const uint2 *)from;
    half2 pair[2];
    memcpy((void *)pair, &words, sizeof pair);
    const float2 low = __half22float2(pair[0]);
    const float2 high = __half22float2(pair[1]);
    return make_float4(low.x, low.y, high.x, high.y);
}

// One query [D] over n keys and values [n][D] -> o [D]; all threads of the block call it.
// Scores with eight lanes per key, then values with D / 4 threads per key
static __device__ __forceinline__ void
attend(const half *query, const half *keys, const half *values, half *o, int n, int D, float scale)
{
    // q [D], then sums [threads] of four, then scores [positions]
    extern __shared__ float4 shared[];
    __shared__ float partial[32];
    float4 *q = shared;
    float4 *sums = q + D / 4;
    float *scores = (float *)(sums + NEOX_THREADS);
    const int t = threadIdx.x;
    if (t < D / 4) {
        q[t] = load_four(query + t * 4);
    }
    __syncthreads();
    float row_max = -INFINITY;
#pragma unroll 4
    for (int first = 0; first < n; first += KEYS_AT_ONCE) {
        const int j = first + t / LANES_A_KEY;
        float score = 0.0f;
#pragma unroll
        for (int chunk = 0; chunk < MOST_CHUNKS; chunk++) {
            const int d = chunk * LANES_A_KEY + t % LANES_A_KEY;
            if (d < D / 4 && j < n) {
                const float4 k = load_four(keys + (int64_t)j * D + d * 4);
                score += q[d].x * k.x + q[d].y * k.y + q[d].z * k.z + q[d].w * k.w;
            }
        }
        for (int bit = LANES_A_KEY / 2; bit > 0; bit /= 2) {
            score += __shfl_xor_sync(0xffffffffu, score, bit);
        }
        score *= scale;
        if (j < n && t % LANES_A_KEY == 0) {
            scores[j] = score;
            row_max = fmaxf(row_max, score);
        }
    }
    row_max = block_max(row_max, partial);
    float row_sum = 0.0f;
    for (int j = t; j < n; j += NEOX_THREADS) {
        scores[j] = expf(scores[j] - row_max);
        row_sum += scores[j];
    }
    row_sum = block_sum(row_sum, partial);
    // Groups of D / 4 threads share the keys; the remaining threads of the block wait.
    const int groups = NEOX_THREADS / (D / 4);
    const int group = t / (D / 4);
    const int d = t % (D / 4);
    float4 weighted = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 8
    for (int j = group < groups ? group : n; j < n; j += groups) {
        const float4 v = load_four(values + (int64_t)j * D + d * 4);
        weighted.x += scores[j] * v.x;
        weighted.y += scores[j] * v.y;
        weighted.z += scores[j] * v.z;
        weighted.w += scores[j] * v.w;
    }
    sums[t] = weighted;
    __syncthreads();
    if (t < D) {
        const float *all = (const float *)sums;
        float total = 0.0f;
        for (int other = 0; other < groups; other++) {
            total += all[other * D + t];
        }
        o[t] = __float2half_rn(total / row_sum);
    }
}

// q in qkv [T][heads][3][D], caches [heads][positions][D] -> o [T][heads][D]; one block per
// head and token, which sees the keys up to its own position. D is a multiple of 4, at most 128
// cost: 4 D bytes per key and head
static __global__ void cached_attention(const half *qkv, const int *past, const half *keys,
                                        const half *values, half *o, int heads, int positions,
                                        int D, float scale)
{
    const int64_t row = (int64_t)blockIdx.y * heads + blockIdx.x;
    const int64_t cache = (int64_t)blockIdx.x * positions * D;
    attend(qkv + row * 3 * D, keys + cache, values + cache, o + row * D,
           *past + (int)blockIdx.y + 1, D, scale);
}

// x Phi(x), with the exact error function; tests/harness.t compares it for all fp16 values.
static __device__ __forceinline__ half gelu_of(half x)
{
    const float value = __half2float(x);
    return __float2half_rn(0.5f * value * (1.0f + erff(value * 0.70710678f)));
}

// x [count] -> x = x Phi(x); cost: 4 bytes per element
static __global__ void gelu(half *x, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        x[i] = gelu_of(x[i]);
    }
}

// logits [vocab] of the last token -> next: the index of the largest logit, the first of several.
// NaNs are ignored. If all are NaN, next is the last index, whose embedding can be read; the
// comparison of the logits finds the NaNs
// one block; cost: 4 vocab bytes
static __global__ void arg_max(const float *logits, int *next, int vocab)
{
    __shared__ float partial[32];
    __shared__ int found;
    float largest = -INFINITY;
    int mine = vocab;
    // Eight loads at a time: the block is alone on the device, and would otherwise wait for one
    // load after the other.
    for (int first = threadIdx.x; first < vocab; first += 8 * blockDim.x) {
        float logit[8];
#pragma unroll
        for (int u = 0; u < 8; u++) {
            const int i = first + u * blockDim.x;
            logit[u] = i < vocab ? logits[i] : -INFINITY;
        }
#pragma unroll
        for (int u = 0; u < 8; u++) {
            mine = logit[u] > largest ? first + u * (int)blockDim.x : mine;
            largest = fmaxf(largest, logit[u]);
        }
    }
    const float best = block_max(largest, partial);
    if (threadIdx.x == 0) {
        found = vocab - 1;
    }
    __syncthreads();
    if (largest == best) {
        atomicMin(&found, mine);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        *next = found;
    }
}

// --- Launchers ----------------------------------------------------------------------------------

static inline void launch_embed(const neox_net *net, cudaStream_t stream)
{
    embed<<<net->T, NEOX_THREADS, 0, stream>>>(
        net->tokens, net->past, neox_weight(net, 0, NEOX_EMBEDDING), neox_x(net, 0), net->c.hidden);
    CUDA_CHECK_LAUNCH();
}

static const norm_of no_norm = {NULL, NULL, NULL};

/* gain: NEOX_NORM1_GAIN, NEOX_NORM2_GAIN or NEOX_FINAL_GAIN; the bias is the next part. */
static inline norm_of norm_to(const neox_net *net, int layer, enum neox_part gain, half *to)
{
    return norm_of{neox_weight(net, layer, gain),
                   neox_weight(net, layer, (enum neox_part)(gain + 1)), to};
}

static inline void launch_norm(const neox_net *net, int layer, enum neox_part gain, const half *x,
                               half *y, cudaStream_t stream)
{
    norms<<<net->T, row_threads(net), 0, stream>>>(x, norm_to(net, layer, gain, y), no_norm,
                                                   net->c.hidden);
    CUDA_CHECK_LAUNCH();
}

static inline void launch_rotate_and_append(const neox_net *net, int layer, cudaStream_t stream)
{
    const neox_config *c = &net->c;
    rotate_and_append<<<dim3(blocks_for(c->hidden, NEOX_THREADS), net->T), NEOX_THREADS, 0,
                        stream>>>(
        net->qkv, net->past, net->cosine, net->sine, neox_cache(net, net->k_cache, layer),
        neox_cache(net, net->v_cache, layer), c->heads, c->positions, net->D, c->rotary);
    CUDA_CHECK_LAUNCH();
}

/* Bytes of shared memory that attend() takes. */
static inline size_t attention_memory(const neox_net *net)
{
    return (size_t)(net->c.positions + net->D + 4 * NEOX_THREADS) * sizeof(float);
}

static_assert(4 * LANES_A_KEY * MOST_CHUNKS == NEOX_MOST_WIDTH,
              "attend() leaves out what is wider");

static inline void launch_cached_attention(const neox_net *net, int layer, cudaStream_t stream)
{
    const neox_config *c = &net->c;
    cached_attention<<<dim3(c->heads, net->T), NEOX_THREADS, attention_memory(net), stream>>>(
        net->qkv, net->past, neox_cache(net, net->k_cache, layer),
        neox_cache(net, net->v_cache, layer), net->context, c->heads, c->positions, net->D,
        1.0f / sqrtf((float)net->D));
    CUDA_CHECK_LAUNCH();
}

// normed [T][hidden] -> net->attention [T][hidden]
static inline void launch_attention(const neox_net *net, int layer, const half *normed,
                                    cudaStream_t stream)
{
    const int hidden = net->c.hidden;
    launch_product(net, normed, neox_weight(net, layer, NEOX_QKV),
                   neox_weight(net, layer, NEOX_QKV_BIAS), net->qkv, 3 * hidden, hidden, stream);
    launch_rotate_and_append(net, layer, stream);
    launch_cached_attention(net, layer, stream);
    launch_product(net, net->context, neox_weight(net, layer, NEOX_DENSE),
                   neox_weight(net, layer, NEOX_DENSE_BIAS), net->attention, hidden, hidden,
                   stream);
}

static inline void launch_gelu(const neox_net *net, cudaStream_t stream)
{
    const int64_t count = (int64_t)net->T * net->c.mlp;
    gelu<<<blocks_for(count, NEOX_THREADS), NEOX_THREADS, 0, stream>>>(net->up, count);
    CUDA_CHECK_LAUNCH();
}

// normed [T][hidden] -> net->mlp [T][hidden]
static inline void launch_mlp(const neox_net *net, int layer, const half *normed,
                              cudaStream_t stream)
{
    const int hidden = net->c.hidden;
    const int mlp = net->c.mlp;
    launch_product(net, normed, neox_weight(net, layer, NEOX_UP),
                   neox_weight(net, layer, NEOX_UP_BIAS), net->up, mlp, hidden, stream);
    launch_gelu(net, stream);
    launch_product(net, net->up, neox_weight(net, layer, NEOX_DOWN),
                   neox_weight(net, layer, NEOX_DOWN_BIAS), net->mlp, hidden, mlp, stream);
}

/* The framework's `+`: one kernel, with one thread per element. */
static inline void launch_add(const neox_net *net, const half *a, const half *b, half *c,
                              cudaStream_t stream)
{
    const int64_t count = (int64_t)net->T * net->c.hidden;
    add_plain<<<add_blocks(count), ADD_THREADS, 0, stream>>>(a, b, c, count);
    CUDA_CHECK_LAUNCH();
}

// snippet: parallel-layer
// Both branches of a layer read the same x [T][hidden] -> net->attention, net->mlp [T][hidden]
static inline void launch_branches(const neox_net *net, int layer, const half *x,
                                   cudaStream_t stream)
{
    launch_norm(net, layer, NEOX_NORM1_GAIN, x, net->normed1, stream);
    launch_attention(net, layer, net->normed1, stream);
    launch_norm(net, layer, NEOX_NORM2_GAIN, x, net->normed2, stream);
    launch_mlp(net, layer, net->normed2, stream);
}

// One layer of the model, x -> y = (mlp + attention) + x, each sum rounded.
static inline void parallel_layer(const neox_net *net, int layer, const half *x, half *y,
                                  cudaStream_t stream)
{
    launch_branches(net, layer, x, stream);
    launch_add(net, net->mlp, net->attention, net->sum, stream);
    launch_add(net, net->sum, x, y, stream);
}
// end snippet: parallel-layer

// net->normed1, the result of the final norm -> logits
static inline void launch_logits(const neox_net *net, cudaStream_t stream)
{
    const neox_config *c = &net->c;
    launch_product(net, net->normed1, neox_weight(net, 0, c->tied ? NEOX_EMBEDDING : NEOX_OUTPUT),
                   NULL, net->logits, c->vocab, c->hidden, stream);
}

static inline void launch_arg_max(const neox_net *net, cudaStream_t stream)
{
    const int vocab = net->c.vocab;
    arg_max<<<1, 1024, 0, stream>>>(net->logits + (int64_t)(net->T - 1) * vocab, net->next, vocab);
    CUDA_CHECK_LAUNCH();
}

static inline void launch_output(const neox_net *net, cudaStream_t stream)
{
    launch_norm(net, 0, NEOX_FINAL_GAIN, neox_x(net, net->c.layers), net->normed1, stream);
    launch_logits(net, stream);
    launch_arg_max(net, stream);
}

// snippet: model
/* One layer of the model: x -> y, both [T][hidden]. */
typedef void (*neox_layer)(const neox_net *net, int layer, const half *x, half *y,
                           cudaStream_t stream);

/* Runs the model on the T new tokens: embedding, layers, logits, and the most likely next token. */
static inline void launch_model(const neox_net *net, neox_layer layer, cudaStream_t stream)
{
    launch_embed(net, stream);
    for (int i = 0; i < net->c.layers; i++) {
        layer(net, i, neox_x(net, i), neox_x(net, i + 1), stream);
    }
    launch_output(net, stream);
}
// end snippet: model

// tokens [positions], past: appends the chosen token, unless a given one is there; one thread
static __global__ void advance(int *tokens, int *past, const int *next, int given)
{
    const int position = *past + 1;
    if (position >= given) {
        tokens[position] = *next;
    }
    *past = position;
}

/* From position 0 to the end of the cache, one token per step, with no transfer to the host in
 * between. -> text [positions] */
static inline void launch_speech(const neox_net *net, neox_layer layer, int *text,
                                 cudaStream_t stream)
{
    const size_t bytes = net->c.positions * sizeof *text;
    CUDA_CHECK(cudaMemsetAsync(net->past, 0, sizeof *net->past, stream));
    for (int i = 0; i + 1 < net->c.positions; i++) {
        launch_model(net, layer, stream);
        advance<<<1, 1, 0, stream>>>(net->tokens, net->past, net->next, NEOX_PROMPT);
        CUDA_CHECK_LAUNCH();
    }
    CUDA_CHECK(cudaMemcpyAsync(text, net->tokens, bytes, cudaMemcpyDeviceToDevice, stream));
}

/* Runs the case: speech, or one step of the model. */
static inline void launch_case(const kf_run *run, neox_layer layer, cudaStream_t stream)
{
    const neox_net net = neox_open(run);
    if (run->c->flags & NEOX_SPEECH) {
        launch_speech(&net, layer, i32(run, "text"), stream);
    } else {
        launch_model(&net, layer, stream);
    }
}

/* The same for the table of variants: launch_case<layer> is a kf_launch. */
template <neox_layer layer>
static inline void launch_case(const kf_run *run, cudaStream_t stream)
{
    launch_case(run, layer, stream);
}
