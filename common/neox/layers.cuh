/* layers.cuh: the operations of a GPT-NeoX layer, a kernel each, as a framework without a compiler
 * runs them. Activations are fp16, arithmetic is fp32, each kernel rounds its result once. How far
 * the cache is filled is read on the device, so that one CUDA graph serves every position.
 */
#pragma once

#include "cuda/block_reduce.cuh"
#include "neox/product.cuh"

enum { NEOX_THREADS = 256 };

// snippet: embed
// tokens [positions], embedding [vocab][hidden] -> x [T][hidden]; a block a token
// cost: 4 bytes an element
static __global__ void embed(const int *tokens, const int *past, const half *embedding, half *x,
                             int hidden)
{
    const int64_t token = tokens[*past + blockIdx.x];
    for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
        x[(int64_t)blockIdx.x * hidden + i] = embedding[token * hidden + i];
    }
}
// end snippet: embed

// snippet: layer-norm
// x [T][hidden], gain and bias [hidden] -> y [T][hidden] = (x - mean) / deviation * gain + bias
// a block a row; cost: 4 bytes an element, and gain and bias; the row is read three times, from L1
// after the first
static __global__ void layer_norm(const half *x, const half *gain, const half *bias, half *y,
                                  int hidden)
{
    __shared__ float partial[32];
    const half *row = x + (int64_t)blockIdx.x * hidden;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
        sum += __half2float(row[i]);
    }
    const float mean = block_sum(sum, partial) / hidden;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
        const float off = __half2float(row[i]) - mean;
        squares += off * off;
    }
    const float scale = 1.0f / sqrtf(block_sum(squares, partial) / hidden + NEOX_EPSILON);
    for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
        const float centred = (__half2float(row[i]) - mean) * scale;
        y[(int64_t)blockIdx.x * hidden + i] =
            __float2half_rn(centred * __half2float(gain[i]) + __half2float(bias[i]));
    }
}
// end snippet: layer-norm

// The pair (a, b), turned.
static __device__ inline void turn_pair(half *a, half *b, float cosine, float sine)
{
    const float first = __half2float(*a);
    const float second = __half2float(*b);
    *a = __float2half_rn(first * cosine - second * sine);
    *b = __float2half_rn(second * cosine + first * sine);
}

// snippet: rotate-and-append
// qkv [T][heads][3][D], tables [positions][R/2] -> q turned where it lies, keys and values of the
// new tokens in the caches [heads][positions][D]; a thread a head and dimension of a token
// cost: 10 bytes an element of q, k or v at most
static __global__ void rotate_and_append(half *qkv, const int *past, const float *cosine,
                                         const float *sine, half *keys, half *values, int heads,
                                         int positions, int D, int R)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int head = i / D;
    const int d = i % D;
    const int position = *past + blockIdx.y;
    if (head >= heads) {
        return;
    }
    half *q = qkv + ((int64_t)blockIdx.y * heads + head) * 3 * D;
    half *to = keys + ((int64_t)head * positions + position) * D;
    values[((int64_t)head * positions + position) * D + d] = q[2 * D + d];
    if (d < R / 2) {
        const float c = cosine[(int64_t)position * (R / 2) + d];
        const float s = sine[(int64_t)position * (R / 2) + d];
        half a = q[D + d];
        half b = q[D + d + R / 2];
        turn_pair(&a, &b, c, s);
        to[d] = a;
        to[d + R / 2] = b;
        turn_pair(q + d, q + d + R / 2, c, s);
    } else if (d >= R) {
        to[d] = q[D + d];
    }
}
// end snippet: rotate-and-append

// snippet: cached-attention
// q in qkv [T][heads][3][D], caches [heads][positions][D] -> o [T][heads][D]; a block a head and
// token, which sees the keys up to its own position
// cost: 4 D bytes a key and head; scores one key a thread, then values one dimension a thread
static __global__ void cached_attention(const half *qkv, const int *past, const half *keys,
                                        const half *values, half *o, int heads, int positions,
                                        int D, float scale)
{
    extern __shared__ float scores[]; // [positions], then q [D], then sums [threads]
    __shared__ float partial[32];
    float *q = scores + positions;
    float *sums = q + D;
    const int head = blockIdx.x;
    const int n = *past + blockIdx.y + 1;
    const int64_t row = (int64_t)blockIdx.y * heads + head;
    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        q[d] = __half2float(qkv[row * 3 * D + d]) * scale;
    }
    __syncthreads();
    float largest = -INFINITY;
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
        const half *key = keys + ((int64_t)head * positions + j) * D;
        float score = 0.0f;
        for (int d = 0; d < D; d++) {
            score += q[d] * __half2float(key[d]);
        }
        scores[j] = score;
        largest = fmaxf(largest, score);
    }
    largest = block_max(largest, partial);
    float sum = 0.0f;
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
        scores[j] = expf(scores[j] - largest);
        sum += scores[j];
    }
    sum = block_sum(sum, partial);
    // Groups of D threads share the keys; what is left over of the block waits.
    const int groups = blockDim.x / D;
    const int group = threadIdx.x / D;
    const int d = threadIdx.x % D;
    float weighed = 0.0f;
    for (int j = group; j < n && group < groups; j += groups) {
        weighed += scores[j] * __half2float(values[((int64_t)head * positions + j) * D + d]);
    }
    sums[threadIdx.x] = weighed;
    __syncthreads();
    if (group == 0) {
        for (int other = 1; other < groups; other++) {
            weighed += sums[other * D + d];
        }
        o[row * D + d] = __float2half_rn(weighed / sum);
    }
}
// end snippet: cached-attention

// snippet: gelu
// x [count] -> x = x Phi(x), with the exact error function; cost: 4 bytes an element
static __global__ void gelu(half *x, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const float value = __half2float(x[i]);
        x[i] = __float2half_rn(0.5f * value * (1.0f + erff(value * 0.70710678f)));
    }
}
// end snippet: gelu

// snippet: plain-add
// a, b [count] -> c = a + b, rounded once; cost: 6 bytes an element
static __global__ void add(const half *a, const half *b, half *c, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        c[i] = __hadd(a[i], b[i]);
    }
}
// end snippet: plain-add

// snippet: arg-max
// logits [vocab], of the last token -> next: the index of the largest, the first of several
// one block; cost: 4 vocab bytes
static __global__ void arg_max(const float *logits, int *next, int vocab)
{
    __shared__ float partial[32];
    __shared__ int found;
    float largest = -INFINITY;
    for (int i = threadIdx.x; i < vocab; i += blockDim.x) {
        largest = fmaxf(largest, logits[i]);
    }
    largest = block_max(largest, partial);
    if (threadIdx.x == 0) {
        found = vocab;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < vocab; i += blockDim.x) {
        if (logits[i] == largest) {
            atomicMin(&found, i);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        *next = found;
    }
}
// end snippet: arg-max

// --- Launchers
// ------------------------------------------------------------------------------------

static inline void launch_embed(const neox_net *net, cudaStream_t stream)
{
    embed<<<net->T, NEOX_THREADS, 0, stream>>>(
        net->tokens, net->past, neox_weight(net, 0, NEOX_EMBEDDING), neox_x(net, 0), net->c.hidden);
    CUDA_CHECK_LAUNCH();
}

/* gain: NEOX_NORM1_GAIN, NEOX_NORM2_GAIN or NEOX_FINAL_GAIN; the bias is the part after it. */
static inline void launch_norm(const neox_net *net, int layer, enum neox_part gain, const half *x,
                               half *y, cudaStream_t stream)
{
    layer_norm<<<net->T, NEOX_THREADS, 0, stream>>>(
        x, neox_weight(net, layer, gain), neox_weight(net, layer, (enum neox_part)(gain + 1)), y,
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

static inline void launch_cached_attention(const neox_net *net, int layer, cudaStream_t stream)
{
    const neox_config *c = &net->c;
    const size_t shared = (size_t)(c->positions + net->D + NEOX_THREADS) * sizeof(float);
    cached_attention<<<dim3(c->heads, net->T), NEOX_THREADS, shared, stream>>>(
        net->qkv, net->past, neox_cache(net, net->k_cache, layer),
        neox_cache(net, net->v_cache, layer), net->context, c->heads, c->positions, net->D,
        1.0f / sqrtf((float)net->D));
    CUDA_CHECK_LAUNCH();
}

// snippet: attention-block
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
// end snippet: attention-block

static inline void launch_gelu(const neox_net *net, cudaStream_t stream)
{
    const int64_t count = (int64_t)net->T * net->c.mlp;
    gelu<<<blocks_for(count, NEOX_THREADS), NEOX_THREADS, 0, stream>>>(net->up, count);
    CUDA_CHECK_LAUNCH();
}

// snippet: mlp-block
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
// end snippet: mlp-block

/* The framework's `+`: a kernel, one element a thread. */
static inline void launch_add(const neox_net *net, const half *a, const half *b, half *c,
                              cudaStream_t stream)
{
    const int64_t count = (int64_t)net->T * net->c.hidden;
    add<<<blocks_for(count, NEOX_THREADS), NEOX_THREADS, 0, stream>>>(a, b, c, count);
    CUDA_CHECK_LAUNCH();
}

// snippet: parallel-layer
// One layer of the model, x -> y: both halves read x; (mlp + attention) + x, each sum rounded.
static inline void parallel_layer(const neox_net *net, int layer, const half *x, half *y,
                                  cudaStream_t stream)
{
    launch_norm(net, layer, NEOX_NORM1_GAIN, x, net->normed1, stream);
    launch_attention(net, layer, net->normed1, stream);
    launch_norm(net, layer, NEOX_NORM2_GAIN, x, net->normed2, stream);
    launch_mlp(net, layer, net->normed2, stream);
    launch_add(net, net->mlp, net->attention, net->sum, stream);
    launch_add(net, net->sum, x, y, stream);
}
// end snippet: parallel-layer

static inline void launch_output(const neox_net *net, cudaStream_t stream)
{
    const neox_config *c = &net->c;
    launch_norm(net, 0, NEOX_FINAL_GAIN, neox_x(net, c->layers), net->normed1, stream);
    launch_product(net, net->normed1, neox_weight(net, 0, c->tied ? NEOX_EMBEDDING : NEOX_OUTPUT),
                   NULL, net->logits, c->vocab, c->hidden, stream);
    arg_max<<<1, 1024, 0, stream>>>(net->logits + (int64_t)(net->T - 1) * c->vocab, net->next,
                                    c->vocab);
    CUDA_CHECK_LAUNCH();
}

// snippet: model
/* A layer as a step writes it: x -> y, [T][hidden]. */
typedef void (*neox_layer)(const neox_net *net, int layer, const half *x, half *y,
                           cudaStream_t stream);

/* The model over the T new tokens: embedding, layers, logits, and the most likely next token. */
static inline void launch_model(const neox_net *net, neox_layer layer, cudaStream_t stream)
{
    launch_embed(net, stream);
    for (int i = 0; i < net->c.layers; i++) {
        layer(net, i, neox_x(net, i), neox_x(net, i + 1), stream);
    }
    launch_output(net, stream);
}
// end snippet: model

// snippet: speak
// tokens [positions], past: the token just chosen joins the text, unless that is given; one thread
static __global__ void advance(int *tokens, int *past, const int *next, int given)
{
    const int position = *past + 1;
    if (position >= given) {
        tokens[position] = *next;
    }
    *past = position;
}

/* From position 0 to the end of the cache, a token a step; nothing comes back to the host in
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
// end snippet: speak
