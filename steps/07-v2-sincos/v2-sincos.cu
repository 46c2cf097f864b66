/* 07-v2-sincos: V2, no table: cosines and sines computed where they are needed
 *
 * Grows from: 06-v1-float4
 * Profile: kernels=attention warm --case D2048 --case D2048-H32
 *
 * Idea     Trade bandwidth for the special function units. Angle, cosine and sine are computed in
 *          registers, position * powf(10000, -2i/R) and __sincosf, so no table is read.
 * Predict  A quarter of V1's loads remain saved by float4; of those left, V2 drops a half. But a
 *          pair now takes a division, a powf and a __sincosf: some 60 instructions where the
 *          rotation and its products take 6. At D = 2048 a thread does 1024 pairs. With one
 *          working warp on each scheduler and about 2 cycles an instruction that is 120,000 cycles,
 *          60 us or more on top: V2 loses to V1 at 2048, and to separate at every D where the score
 *          loop matters. powf should be most of it, so v2-no-powf should come close to V1.
 * Outcome  V2 loses to V1 at every D, by less than predicted, and powf and its division are all of
 *          the reason: without them V2 is ahead of V1. With eight times as many heads V2 itself is
 *          ahead: then the schedulers have warps enough to hide the arithmetic, and V1 is held up
 *          at the L1 cache as before. That is the log's order, on a GPU with fewer multiprocessors.
 *          An angle in fp32 is too far off at position 131027 for any verdict; v2-integer is not.
 */
#include "cuda/float4.cuh"
#include "cuda/rope_angle.cuh"
#include "cuda/rope_ladder.cuh"
#include "problems/rope.h"

// Where cosine and sine come from.
enum angles { FROM_TABLE, FAST, ACCURATE, NO_POWF, INTEGER };

struct rope {
    const float *cosine, *sine; // [Sk][R/2]
    const float *frequency;     // [R/2], radians a position
    const rope_frequency *turn; // [R/2], the same in units of rope_angle.cuh
    int pos0, R;
};

// snippet: angle
// The angle's cosine and sine of pair i in row j, at position pos0 + j
// cost: a division, a powf, a sine and a cosine
template <angles from>
static __device__ __forceinline__ void angle(rope r, int j, int i, float *c, float *s)
{
    if (from == FROM_TABLE) {
        COUNT("table loads", 2);
        *c = r.cosine[(int64_t)j * (r.R / 2) + i];
        *s = r.sine[(int64_t)j * (r.R / 2) + i];
        return;
    }
    if (from == INTEGER) {
        rope_cos_sin_fast(r.pos0 + j, r.turn[i], c, s);
        return;
    }
    // solution: compute-angle -- frequency (handed in for NO_POWF), angle, cosine and sine
    const float frequency =
        from == NO_POWF ? r.frequency[i] : powf(10000.0f, -2.0f * (float)i / (float)r.R);
    const float at = (float)(r.pos0 + j) * frequency;
    if (from == ACCURATE) {
        sincosf(at, s, c);
    } else {
        __sincosf(at, s, c);
    }
    // end solution: compute-angle
}
// end snippet: angle

// The same for pairs i to i + 3
template <angles from>
static __device__ __forceinline__ void four_angles(rope r, int j, int i, float4 *c, float4 *s)
{
    if (from == FROM_TABLE) {
        COUNT("table loads", 8);
        *c = load_four(r.cosine + (int64_t)j * (r.R / 2) + i);
        *s = load_four(r.sine + (int64_t)j * (r.R / 2) + i);
        return;
    }
    angle<from>(r, j, i, &c->x, &s->x);
    angle<from>(r, j, i + 1, &c->y, &s->y);
    angle<from>(r, j, i + 2, &c->z, &s->z);
    angle<from>(r, j, i + 3, &c->w, &s->w);
}

// q [D] at row j -> query [D] in shared memory
// cost: one rotation a block
template <angles from>
static __device__ void rotate_query_wide(const float *q, rope r, float *query, int j, int D)
{
    const int half = r.R / 2;
    COUNT("Q rotations", threadIdx.x == 0 && r.R > 0);
    for (int t = 4 * threadIdx.x; t < D - half; t += 4 * blockDim.x) {
        const float4 y = load_four(q + t + half);
        if (t < half) {
            const float4 x = load_four(q + t);
            float4 c, s;
            four_angles<from>(r, j, t, &c, &s);
            COUNT("element rotations", 8);
            store_four(query + t, turn_lower(x, y, c, s));
            store_four(query + t + half, turn_upper(x, y, c, s));
        } else {
            store_four(query + t + half, y);
        }
    }
}

template <angles from>
static __device__ void rotate_query(const float *q, rope r, float *query, int j, int D)
{
    const int half = r.R / 2;
    COUNT("Q rotations", threadIdx.x == 0 && r.R > 0);
    for (int t = threadIdx.x; t < D - half; t += blockDim.x) {
        if (t < half) {
            float c, s;
            angle<from>(r, j, t, &c, &s);
            COUNT("element rotations", 2);
            query[t] = q[t] * c - q[t + half] * s;
            query[t + half] = q[t + half] * c + q[t] * s;
        } else {
            query[t + half] = q[t + half];
        }
    }
}

// snippet: dot
// query [D] rotated, key [D] as it came, in row j -> query . rotated key
// Rows and halves begin at multiples of 16 bytes.
template <angles from>
static __device__ __forceinline__ float dot_rotated_wide(const float *query, const float *key,
                                                         rope r, int j, int D)
{
    const int half = r.R / 2;
    float dot = 0.0f;
    for (int i = 0; i < half; i += 4) {
        const float4 x = load_four(key + i);
        const float4 y = load_four(key + i + half);
        float4 c, s;
        four_angles<from>(r, j, i, &c, &s);
        COUNT("element rotations", 8);
        dot = add_products(dot, load_four(query + i), turn_lower(x, y, c, s));
        dot = add_products(dot, load_four(query + i + half), turn_upper(x, y, c, s));
    }
    for (int d = r.R; d < D; d += 4) {
        dot = add_products(dot, load_four(query + d), load_four(key + d));
    }
    return dot;
}
// end snippet: dot

template <angles from>
static __device__ __forceinline__ float dot_rotated(const float *query, const float *key, rope r,
                                                    int j, int D)
{
    const int half = r.R / 2;
    float dot = 0.0f;
    for (int i = 0; i < half; i++) {
        float c, s;
        angle<from>(r, j, i, &c, &s);
        COUNT("element rotations", 2);
        dot += query[i] * (key[i] * c - key[i + half] * s);
        dot += query[i + half] * (key[i + half] * c + key[i] * s);
    }
    for (int d = r.R; d < D; d++) {
        dot += query[d] * key[d];
    }
    return dot;
}

// query [D] rotated, k [Sk][D] as it came -> score [visible], one key a thread, each rotated on its
// way. Returns the thread's largest score.
// cost: Sk K rotations a block, S Sk a head
template <angles from, bool wide>
static __device__ __noinline__ float score_rotated_keys(const float *query, const float *k, rope r,
                                                        float *score, int visible, int D,
                                                        float scale)
{
    float largest = -INFINITY;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        const float *key = k + (int64_t)j * D;
        COUNT("K rotations", r.R > 0);
        const float dot = wide ? dot_rotated_wide<from>(query, key, r, j, D)
                               : dot_rotated<from>(query, key, r, j, D);
        score[j] = dot * scale;
        largest = fmaxf(largest, score[j]);
    }
    return largest;
}

// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D] -> o [H][Sq][D]
// grid (Sq, H), LADDER_THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: 4 D Sk flops a block and 3 R Sk for the rotations, R / 2 angles a key and a query; reads k
// and v once a block
template <angles from, bool wide, bool small_l1>
__global__ void attention_v2(const float *q, const float *k, const float *v, rope r, float *o,
                             int Sq, int Sk, int D, bool causal, float scale)
{
    extern __shared__ __align__(16) float staged[];
    __shared__ float scratch[LADDER_THREADS];
    float *query = staged;
    float *score = staged + D;
    const int row = blockIdx.x;
    const int64_t head = blockIdx.y;
    const int visible = causal ? Sk - Sq + row + 1 : Sk;
    q += (head * Sq + row) * D;
    o += (head * Sq + row) * D;
    k += head * Sk * D;
    v += head * Sk * D;

    if (wide) {
        rotate_query_wide<from>(q, r, query, Sk - Sq + row, D);
    } else {
        rotate_query<from>(q, r, query, Sk - Sq + row, D);
    }
    __syncthreads();

    const float largest = score_rotated_keys<from, wide>(query, k, r, score, visible, D, scale);
    finish_row<block_reduction>(score, largest, v, o, visible, D, scratch);
}

template <angles from, bool wide, bool small_l1 = false>
static void enqueue(const kf_run *run, const char *q, const char *k, int R, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const size_t shared = (s.D + s.Sk) * sizeof(float);
    const rope r = {kf_f32(run, "cos"),
                    kf_f32(run, "sin"),
                    kf_f32(run, "frequency_fp32"),
                    rope_frequencies(run),
                    s.pos0,
                    R};
    if (small_l1) {
        CUDA_CHECK(cudaFuncSetAttribute(attention_v2<from, wide, small_l1>,
                                        cudaFuncAttributePreferredSharedMemoryCarveout,
                                        ALL_TO_SHARED_MEMORY));
    }
    attention_v2<from, wide, small_l1><<<dim3(s.Sq, s.H), LADDER_THREADS, shared, stream>>>(
        kf_f32(run, q), kf_f32(run, k), kf_f32(run, "v"), r, kf_f32(run, "o"), s.Sq, s.Sk, s.D,
        s.causal, 1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}

template <angles from, bool small_l1 = false>
static void launch(const kf_run *run, cudaStream_t stream)
{
    if (run->shape.D % 4 == 0 && run->shape.R % 8 == 0) {
        enqueue<from, true, small_l1>(run, "q", "k", run->shape.R, stream);
    } else {
        enqueue<from, false, small_l1>(run, "q", "k", run->shape.R, stream);
    }
}

// Step 06's: the same kernel with nothing left to turn, behind the two kernels that turn.
static void launch_separate_float4(const kf_run *run, cudaStream_t stream)
{
    launch_rope_q(run, stream);
    launch_rope_k(run, stream);
    if (run->shape.D % 4 == 0) {
        enqueue<FROM_TABLE, true>(run, "q_turned", "k_turned", 0, stream);
    } else {
        enqueue<FROM_TABLE, false>(run, "q_turned", "k_turned", 0, stream);
    }
}

static double accurate_error(const kf_case *c)
{
    return kf_fp32_angle_error(&c->shape, false);
}

static void setup(kf_run *run)
{
    const int64_t half = run->shape.R / 2;
    ladder_setup(run);
    rope_frequency_table(run);
    kf_tensor *frequency = kf_input(run, "frequency_fp32", "R", KF_F32, &half);
    for (int64_t i = 0; i < half; i++) {
        frequency->host[i] = (float)pow(10000.0, -2.0 * i / run->shape.R);
    }
}

// For variants that explain a time with angles in fp32.
static bool explains_near(const kf_case *c)
{
    return ladder_explains(c) && ladder_near(c);
}

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate,
     .block = LADDER_THREADS},
    {.name = "separate-float4",
     .about = "step 06's: separate, 16-byte loads in its attention",
     .launch = launch_separate_float4,
     .applies = ladder_explains,
     .block = LADDER_THREADS},
    {.name = "v1-float4",
     .about = "step 06's: one launch, a table",
     .launch = launch<FROM_TABLE>,
     .applies = ladder_explains,
     .block = LADDER_THREADS},
    {.name = "v2",
     .about = "no table: powf and __sincosf",
     .launch = launch<FAST>,
     .applies = ladder_near,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v2-accurate",
     .about = "no table: powf and sincosf",
     .launch = launch<ACCURATE>,
     .applies = explains_near,
     .block = LADDER_THREADS,
     .extra_error = accurate_error},
    {.name = "v2-no-powf",
     .about = "frequencies handed in, __sincosf",
     .launch = launch<NO_POWF>,
     .applies = explains_near,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
    {.name = "v2-integer",
     .about = "frequencies handed in as integers, exact angles, __sincosf",
     .launch = launch<INTEGER>,
     .applies = ladder_explains,
     .block = LADDER_THREADS,
     .extra_error = rope_fast_angle_error},
    {.name = "v1-float4-small-l1",
     .about = "v1-float4 with the least L1 cache",
     .launch = launch<FROM_TABLE, true>,
     .applies = ladder_many_heads,
     .block = LADDER_THREADS},
    {.name = "v2-small-l1",
     .about = "v2 with the least L1 cache",
     .launch = launch<FAST, true>,
     .applies = ladder_many_heads,
     .block = LADDER_THREADS,
     .extra_error = ladder_angle_error},
};

int main(int argc, char **argv)
{
    return ladder_main("07-v2-sincos",
                       "V2, no table: cosines and sines computed where they are needed", setup,
                       variants, KF_COUNT_OF(variants), ladder_more_heads,
                       KF_COUNT_OF(ladder_more_heads), argc, argv);
}
