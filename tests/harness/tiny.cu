// tiny.cu: a real kernel under the harness, right and wrong in ways that kernels are. Tests run one
// variant at a time.
#include "harness/harness.h"

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

static void setup(kf_run *run)
{
    const int64_t dim[] = {run->shape.D};
    kf_attention_setup(run);
    kf_scratch(run, "spare", "D", KF_F32, dim);
}

static const kf_case cases[] = {
    {"small", {1, 2, 5, 9, 20, 0, true, 0}, 0},
    {"large", {1, 2, 5, 9, 40, 0, false, 0}, KF_LARGE},
};
static const kf_variant variants[] = {
    {"right", "as it should be", launch<NONE, 64>, NULL, 64, NULL},
    {"tail", "the last row is not written", launch<TAIL, 64>, NULL, 64, NULL},
    {"mask", "one key too many", launch<MASK, 64>, NULL, 64, NULL},
    {"scale", "another scale", launch<SCALE, 64>, NULL, 64, NULL},
    {"stride", "neighbours exchanged", launch<STRIDE, 64>, NULL, 64, NULL},
    {"unwritten", "reads what nobody wrote", launch<UNWRITTEN, 64>, NULL, 64, NULL},
    {"input", "overwrites its input", launch<INPUT, 64>, NULL, 64, NULL},
    {"narrow", "too few threads", launch<NONE, 16>, NULL, 16, NULL},
    {"refused", "too many threads to launch", launch<NONE, 2048>, NULL, 64, NULL},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        "98-tiny", "a real kernel for tests", KF_LIST(cases),    KF_LIST(variants),
        setup,     kf_attention_reference,    kf_attention_cost, NULL,
        0};
    return kf_main(&program, argc, argv);
}
