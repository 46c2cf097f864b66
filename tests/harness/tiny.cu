// tiny.cu: a real kernel under the harness, right and wrong in ways that kernels are. Tests run one
// variant at a time.
#include "problems/attention.h"

enum bug { NONE, TAIL, MASK, SCALE, STRIDE, INPUT, UNWRITTEN };

// q [H][Sq][D], k and v [H][Sk][D] -> o [H][Sq][D]; one query a block, one column a thread
template <bug BUG>
__global__ void attention(float *q, const float *k, const float *v, const float *scratch, float *o,
                          kf_shape s)
{
    const int i = blockIdx.x, h = blockIdx.y, d = threadIdx.x;
    const int last = s.causal ? s.Sk - s.Sq + i + (BUG == MASK) : s.Sk - 1;
    if (d >= s.D || (BUG == TAIL && i == s.Sq - 1))
        return;
    float *query = q + ((int64_t)h * s.Sq + i) * s.D;
    float sum = 0.0f, out = 0.0f;
    for (int j = 0; j <= last && j < s.Sk; j++) {
        float dot = 0.0f;
        for (int e = 0; e < s.D; e++)
            dot += query[e] * k[((int64_t)h * s.Sk + j) * s.D + e];
        const float p = expf(BUG == SCALE ? dot / 4.0f : dot / sqrtf((float)s.D));
        sum += p;
        out += p * v[((int64_t)h * s.Sk + j) * s.D + d];
    }
    if (BUG == UNWRITTEN)
        out += scratch[d];
    o[((int64_t)h * s.Sq + i) * s.D + (BUG == STRIDE ? d ^ 1 : d)] = out / sum;
    if (BUG == INPUT)
        query[d] = 0.0f; // too early for the other threads, too late for nobody
}

template <bug BUG, int THREADS>
static void launch(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    attention<BUG><<<dim3(s.Sq, s.H), THREADS, 0, stream>>>(kf_f32(run, "q"), kf_f32(run, "k"),
                                                            kf_f32(run, "v"), kf_f32(run, "spare"),
                                                            kf_f32(run, "o"), s);
}

// q [H][Sq][D], k and v [H][Sk][D] -> o [H][Sq][D], zeroed before; one query a block, one key a
// warp adds its share to each column, in the order in which the warps come
__global__ void attention_by_key(const float *q, const float *k, const float *v, float *o,
                                 kf_shape s)
{
    const int i = blockIdx.x, h = blockIdx.y, mine = threadIdx.x / 32;
    const int keys = s.causal ? s.Sk - s.Sq + i + 1 : s.Sk;
    const float *query = q + ((int64_t)h * s.Sq + i) * s.D;
    float sum = 0.0f, share = 0.0f;
    for (int j = 0; j < keys; j++) {
        float dot = 0.0f;
        for (int e = 0; e < s.D; e++)
            dot += query[e] * k[((int64_t)h * s.Sk + j) * s.D + e];
        const float p = expf(dot / sqrtf((float)s.D));
        sum += p;
        share = j == mine ? p : share;
    }
    for (int d = threadIdx.x % 32; d < s.D && mine < keys; d += 32)
        atomicAdd(&o[((int64_t)h * s.Sq + i) * s.D + d],
                  share / sum * v[((int64_t)h * s.Sk + mine) * s.D + d]);
}

static void launch_by_key(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    float *o = kf_f32(run, "o");
    CUDA_CHECK(cudaMemsetAsync(o, 0, kf_find(run, "o")->count * sizeof *o, stream));
    attention_by_key<<<dim3(s.Sq, s.H), 32 * s.Sk, 0, stream>>>(kf_f32(run, "q"), kf_f32(run, "k"),
                                                                kf_f32(run, "v"), o, s);
}

// Right by itself, and wrong behind a launch of `right`.
static bool right_launched;

static void launch_right(const kf_run *run, cudaStream_t stream)
{
    right_launched = true;
    launch<NONE, 64>(run, stream);
}

static void launch_after_right(const kf_run *run, cudaStream_t stream)
{
    (right_launched ? launch<STRIDE, 64> : launch<NONE, 64>)(run, stream);
}

static void setup(kf_run *run)
{
    const int64_t dim[] = {run->shape.D};
    kf_attention_setup(run);
    kf_scratch(run, "spare", "D", KF_F32, dim);
}

static const kf_case cases[] = {
    {.name = "small", .shape = {.H = 2, .Sq = 5, .Sk = 9, .D = 20, .causal = true}},
    {.name = "large", .shape = {.H = 2, .Sq = 5, .Sk = 9, .D = 40}, .flags = KF_LARGE},
    {.name = "tall", .shape = {.H = 65536, .Sq = 5, .Sk = 9, .D = 20}, .flags = KF_LARGE},
};
static const kf_variant variants[] = {
    {.name = "right", .about = "as it should be", .launch = launch_right, .block = 64},
    {.name = "tail",
     .about = "the last row is not written",
     .launch = launch<TAIL, 64>,
     .block = 64},
    {.name = "mask", .about = "one key too many", .launch = launch<MASK, 64>, .block = 64},
    {.name = "scale", .about = "another scale", .launch = launch<SCALE, 64>, .block = 64},
    {.name = "stride", .about = "neighbours exchanged", .launch = launch<STRIDE, 64>, .block = 64},
    {.name = "unwritten",
     .about = "reads what nobody wrote",
     .launch = launch<UNWRITTEN, 64>,
     .block = 64},
    {.name = "input", .about = "overwrites its input", .launch = launch<INPUT, 64>, .block = 64},
    {.name = "narrow", .about = "too few threads", .launch = launch<NONE, 16>, .block = 16},
    {.name = "after-right", .about = "wrong behind right", .launch = launch_after_right},
    {.name = "by-key", .about = "sums by atomic adds", .launch = launch_by_key},
    {.name = "refused",
     .about = "too many threads to launch",
     .launch = launch<NONE, 2048>,
     .block = 64},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "98-tiny",
        .title = "a real kernel for tests",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = kf_attention_reference,
        .cost = kf_attention_cost,
    };
    return kf_main(&program, argc, argv);
}
