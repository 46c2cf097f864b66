/* 05-v1-table: V1, both rotations inside attention, cosines and sines from a table
 *
 * Grows from: 04-block-reduce-fix
 *
 * Idea     One launch instead of three. A block rotates its query once, while it copies it to
 * shared memory. Each thread rotates the key it is about to use, pair by pair, in registers: the
 *          rotated q and k never go to memory, so 4 S D floats a head need not be written and read.
 * Predict  Less traffic and two launches less, so less time: that was the hope. But a head has 64
 *          queries, and each block rotates all keys again: 64 x 64 K rotations a head instead of
 *          64, and 64 times as many table loads. Where attention takes longer than the two launches
 *          (D = 512 and 2048) the work added should cost more than the launches saved.
 * Outcome  To be recorded.
 */
#include "cuda/rope_ladder.cuh"

// snippet: rotate-query
// q [D], cosine and sine [R/2] at the query's position -> query [D] in shared memory
// cost: one rotation a block
static __device__ void rotate_query(const float *q, const float *cosine, const float *sine,
                                    float *query, int D, int R)
{
    const int half = R / 2;
    COUNT("Q rotations", threadIdx.x == 0);
    for (int t = threadIdx.x; t < D - half; t += blockDim.x) {
        if (t < half) {
            COUNT("table loads", 2);
            COUNT("element rotations", 2);
            query[t] = q[t] * cosine[t] - q[t + half] * sine[t];
            query[t + half] = q[t + half] * cosine[t] + q[t] * sine[t];
        } else {
            query[t + half] = q[t + half];
        }
    }
}
// end snippet: rotate-query

// snippet: score-rotated
// query [D] rotated, k [Sk][D] as it came, cosine and sine [Sk][R/2] -> score [visible], one key a
// thread, each rotated on its way. Returns the thread's largest score.
// cost: Sk K rotations a block, S Sk a head; 2 table loads a pair, R a key
static __device__ __noinline__ float score_rotated_keys(const float *query, const float *k,
                                                        const float *cosine, const float *sine,
                                                        float *score, int visible, int D, int R,
                                                        float scale)
{
    const int half = R / 2;
    float largest = -INFINITY;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        const float *key = k + (int64_t)j * D;
        const float *c = cosine + (int64_t)j * half;
        const float *s = sine + (int64_t)j * half;
        float dot = 0.0f;
        COUNT("K rotations", 1);
        // solution: rotate-key -- rotate each pair of the key and add its two products to dot
        for (int i = 0; i < half; i++) {
            COUNT("table loads", 2);
            COUNT("element rotations", 2);
            dot += query[i] * (key[i] * c[i] - key[i + half] * s[i]);
            dot += query[i + half] * (key[i + half] * c[i] + key[i] * s[i]);
        }
        // end solution: rotate-key
        for (int d = R; d < D; d++) {
            dot += query[d] * key[d];
        }
        score[j] = dot * scale;
        largest = fmaxf(largest, score[j]);
    }
    return largest;
}
// end snippet: score-rotated

// snippet: kernel
// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D], cosine and sine [Sk][R/2] -> o [H][Sq][D]
// grid (Sq, H), LADDER_THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: 4 D Sk flops a block and 3 R Sk for the rotations; reads k, v and the tables once a block
__global__ void attention_v1(const float *q, const float *k, const float *v, const float *cosine,
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

    rotate_query(q, cosine + angles, sine + angles, query, D, R);
    __syncthreads();

    const float largest = score_rotated_keys(query, k, cosine, sine, score, visible, D, R, scale);
    finish_row<block_reduction>(score, largest, v, o, visible, D, scratch);
}
// end snippet: kernel

static void launch_v1(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const size_t shared = (s.D + s.Sk) * sizeof(float);
    attention_v1<<<dim3(s.Sq, s.H), LADDER_THREADS, shared, stream>>>(
        kf_f32(run, "q"), kf_f32(run, "k"), kf_f32(run, "v"), kf_f32(run, "cos"),
        kf_f32(run, "sin"), kf_f32(run, "o"), s.Sq, s.Sk, s.D, s.R, s.causal,
        1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}

static const kf_variant variants[] = {
    {"separate", "RoPE on q, RoPE on k, attention: three launches", launch_separate, NULL,
     LADDER_THREADS, NULL},
    {"v1", "one launch, every block rotates every key from the table", launch_v1, NULL,
     LADDER_THREADS, NULL},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        "05-v1-table",
        "V1, both rotations inside attention, cosines and sines from a table",
        KF_LIST(ladder_cases),
        KF_LIST(variants),
        ladder_setup,
        kf_attention_reference,
        kf_attention_cost,
        KF_LIST(ladder_timings)};
    return kf_main(&program, argc, argv);
}
