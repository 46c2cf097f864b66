/* net.cuh: the tensors of a run's model on the device, and its weights if they are made there. */
#pragma once

#include <cuda_fp16.h>

#include "neox/problem.h"
#include "neox/seeded.h"

/* Pointers into the tensors of problem.h, for launchers. T: new tokens. D: dimensions per head. */
typedef struct neox_net {
    const kf_run *run; /* the run that has the tensors */
    neox_config c;
    int T, D;
    const half *weights;
    half *k_cache, *v_cache;
    int *tokens, *past, *next;
    const float *cosine, *sine;
    half *hidden, *normed1, *normed2, *qkv, *context, *attention, *up, *mlp, *sum;
    float *logits, *workspace;
} neox_net;

static inline half *f16(const kf_run *run, const char *name)
{
    return (half *)kf_memory(run, name, KF_F16);
}

static inline int *i32(const kf_run *run, const char *name)
{
    return (int *)kf_memory(run, name, KF_I32);
}

static inline neox_net neox_open(const kf_run *run)
{
    neox_net net;
    net.run = run;
    net.c = neox_config_of(run->c);
    net.T = run->shape.Sq;
    net.D = run->shape.D;
    net.weights = f16(run, "weights");
    net.k_cache = f16(run, "k_cache");
    net.v_cache = f16(run, "v_cache");
    net.tokens = i32(run, "tokens");
    net.past = i32(run, "past");
    net.next = i32(run, "next");
    net.cosine = kf_f32(run, "cos");
    net.sine = kf_f32(run, "sin");
    net.hidden = f16(run, "hidden");
    net.normed1 = f16(run, "normed1");
    net.normed2 = f16(run, "normed2");
    net.qkv = f16(run, "qkv");
    net.context = f16(run, "context");
    net.attention = f16(run, "attention");
    net.up = f16(run, "up");
    net.mlp = f16(run, "mlp");
    net.sum = f16(run, "sum");
    net.logits = kf_f32(run, "logits");
    net.workspace = kf_f32(run, "workspace");
    return net;
}

static inline const half *neox_weight(const neox_net *net, int layer, enum neox_part part)
{
    return net->weights + neox_offset(&net->c, layer, part);
}

/* x of layer `layer`, [T][hidden]: 0 is the embedding, c.layers is the result of the last layer. */
static inline half *neox_x(const neox_net *net, int layer)
{
    return net->hidden + (int64_t)layer * net->T * net->c.hidden;
}

/* Keys or values of a layer, [heads][positions][D]. */
static inline half *neox_cache(const neox_net *net, half *cache, int layer)
{
    return cache + (int64_t)layer * net->c.positions * net->c.hidden;
}

static inline int blocks_for(int64_t work, int threads)
{
    return (int)((work + threads - 1) / threads);
}

// -> w [count]: the weights of one part, which begins at element `first` of the model
// cost: 2 bytes per weight
static __global__ void make_weights(half *w, int64_t count, uint64_t seed, int part, uint64_t first)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        w[i] = __float2half_rn(neox_seeded_weight(seed, (enum neox_part)part, first + i));
    }
}

static inline void neox_make(const kf_run *run, void *weights)
{
    const neox_config c = neox_config_of(run->c);
    for (int part = 0; part < NEOX_PARTS; part++) {
        const bool of_layer = part > NEOX_EMBEDDING && part < NEOX_FINAL_GAIN;
        const int64_t count =
            neox_rows(&c, (enum neox_part)part) * neox_columns(&c, (enum neox_part)part);
        for (int layer = 0; layer < (of_layer ? c.layers : 1); layer++) {
            const int64_t first = neox_offset(&c, layer, (enum neox_part)part);
            make_weights<<<blocks_for(count, 256), 256>>>((half *)weights + first, count, run->seed,
                                                          part, first);
            CUDA_CHECK_LAUNCH();
        }
    }
    CUDA_CHECK(cudaDeviceSynchronize());
}

static inline void neox_step_setup(kf_run *run)
{
    neox_setup(run, neox_make);
}
