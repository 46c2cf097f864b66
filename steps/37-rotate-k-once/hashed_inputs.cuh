/* hashed_inputs.cuh: a case whose keys and values do not fit on the host: each value is a hash of
 * its index, so the device computes all of them, and the host those that a reference needs.
 *
 * Scores are so steep that a query sees a few keys well: o is a sum of few values, and a row of
 * another head, or rotated for another position, gives another result. */
#pragma once

#include "harness/problem.h"
#include "problems/rope.h"
#include "problems/rope_flash.h"

#include <cuda_fp16.h>
#include <stdlib.h>

namespace hashed_inputs
{

// -2 to 2 in steps of 2^-9, which fp16 has
static __host__ __device__ inline float number(uint64_t seed, uint64_t index)
{
    uint64_t x = seed + index * 0x9E3779B97F4A7C15u; // splitmix64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return (float)((int)((x >> 32) % 2047) - 1023) * 0x1p-9f;
}

static __global__ void make_numbers(__half *to, int64_t count, uint64_t seed)
{
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        to[i] = __float2half(number(seed, i));
    }
}

static void make_keys(const kf_run *run, void *device)
{
    make_numbers<<<1024, 256>>>((__half *)device, kf_find(run, "k")->count, run->seed);
    CUDA_CHECK_LAUNCH();
}

static void make_values(const kf_run *run, void *device)
{
    make_numbers<<<1024, 256>>>((__half *)device, kf_find(run, "v")->count, ~run->seed);
    CUDA_CHECK_LAUNCH();
}

// q, k, v, cos, sin; o, lse; k_rotated
static void setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t query[4] = {s.B, s.H, s.Sq, s.D}, key[4] = {s.B, s.H, s.Sk, s.D};
    const int64_t row[4] = {s.B, s.H, s.Sq, 1};
    kf_tensor *q = kf_input(run, "q", "BHSD", KF_F16, query);
    for (int64_t i = 0; i < q->count; i++) {
        q->host[i] *= 8.0f;
    }
    kf_device_input(run, "k", "BHSD", KF_F16, key, make_keys);
    kf_device_input(run, "v", "BHSD", KF_F16, key, make_values);
    kf_rope_tables(run);
    kf_output(run, "o", "BHSD", KF_F16, query);
    kf_output(run, "lse", "BHSD", KF_F32, row);
    kf_scratch(run, "k_rotated", "BHSD", KF_F16, key);
}

// Rows of the first head, of one in the middle, and of the last three. In a tensor of more than
// 2^31 elements, those that an int cannot index begin in the first of these three.
static void reference(kf_run *run)
{
    const int64_t heads = (int64_t)run->shape.B * run->shape.H;
    const int64_t chosen[] = {0, heads / 2, heads - 3, heads - 2, heads - 1};
    const int64_t of_head = (int64_t)run->shape.Sk * run->shape.D;
    float *const k = (float *)kf_alloc(2 * of_head, sizeof *k), *const v = k + of_head;
    for (int64_t head : chosen) {
        for (int64_t i = 0; i < of_head; i++) {
            k[i] = number(run->seed, head * of_head + i);
            v[i] = number(~run->seed, head * of_head + i);
        }
        kf_rope_flash_reference_head(run, head, k, v);
    }
    free(k);
}

} // namespace hashed_inputs
