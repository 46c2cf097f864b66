/* 06-v1-float4: V1 with 16-byte loads of q, k, cosines and sines
 *
 * Grows from: 05-v1-table
 *
 * Idea     Four pairs at once. One 16-byte load each of the key's lower half, its upper half, the
 *          cosines and the sines takes the place of four 4-byte loads. Where the halves do not
 *          begin at multiples of 16 bytes (R = 20), step 05's loop remains.
 * Predict  In V1 a warp's load touches 32 rows, 32 sectors, and uses 4 of 32 bytes in each. With 16
 *          bytes the sectors a request stay 32, and the requests become a quarter: so a quarter of
 *          the sectors asked of the L1 cache. If these loads are what the loop waits for, it takes
 *          a half or less of its time, and not the log's 9 to 19% less. But separate
 *          attention reads k in the same way. With 16-byte loads of its own it should gain as much,
 *          and V1 should lose to that one as V1 lost to the other.
 * Outcome  More than predicted: the log's 9 to 19% are a factor of 3 or more, and V1 wins over
 *          separate at every D. But separate with the same loads is ahead from D = 512 on.
 *          With enough heads to fill the GPU it is ahead at 128 too. The win belongs to the loads.
 */
#include "cuda/rope_ladder.cuh"

#include <string.h>

static __device__ __forceinline__ float4 load_four(const float *x)
{
    return *(const float4 *)x;
}

static __device__ __forceinline__ void store_four(float *x, float4 four)
{
    *(float4 *)x = four;
}

// x c - y s and y c + x s: the lower elements of four pairs, then the upper
static __device__ __forceinline__ float4 turn_lower(float4 x, float4 y, float4 c, float4 s)
{
    return make_float4(x.x * c.x - y.x * s.x, x.y * c.y - y.y * s.y, x.z * c.z - y.z * s.z,
                       x.w * c.w - y.w * s.w);
}

static __device__ __forceinline__ float4 turn_upper(float4 x, float4 y, float4 c, float4 s)
{
    return make_float4(y.x * c.x + x.x * s.x, y.y * c.y + x.y * s.y, y.z * c.z + x.z * s.z,
                       y.w * c.w + x.w * s.w);
}

// Adds one product after the other, as the loop over single elements does.
static __device__ __forceinline__ float add_products(float dot, float4 a, float4 b)
{
    dot += a.x * b.x;
    dot += a.y * b.y;
    dot += a.z * b.z;
    return dot + a.w * b.w;
}

// q [D], cosine and sine [R/2] at the query's position -> query [D] in shared memory
// cost: one rotation a block
static __device__ void rotate_query_wide(const float *q, const float *cosine, const float *sine,
                                         float *query, int D, int R)
{
    const int half = R / 2;
    COUNT("Q rotations", threadIdx.x == 0 && R > 0);
    for (int t = 4 * threadIdx.x; t < D - half; t += 4 * blockDim.x) {
        const float4 y = load_four(q + t + half);
        if (t < half) {
            const float4 x = load_four(q + t);
            const float4 c = load_four(cosine + t);
            const float4 s = load_four(sine + t);
            COUNT("table loads", 8);
            COUNT("element rotations", 8);
            store_four(query + t, turn_lower(x, y, c, s));
            store_four(query + t + half, turn_upper(x, y, c, s));
        } else {
            store_four(query + t + half, y);
        }
    }
}

static __device__ void rotate_query(const float *q, const float *cosine, const float *sine,
                                    float *query, int D, int R)
{
    const int half = R / 2;
    COUNT("Q rotations", threadIdx.x == 0 && R > 0);
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

// snippet: dot-wide
// query [D] rotated, key [D] as it came, cosine and sine [R/2] of the key -> query . rotated key
// Rows and halves begin at multiples of 16 bytes.
static __device__ __forceinline__ float dot_rotated_wide(const float *query, const float *key,
                                                         const float *cosine, const float *sine,
                                                         int D, int R)
{
    const int half = R / 2;
    float dot = 0.0f;
    // solution: rotate-four -- rotate four pairs of the key at a time, and add their eight products
    for (int i = 0; i < half; i += 4) {
        const float4 x = load_four(key + i);
        const float4 y = load_four(key + i + half);
        const float4 c = load_four(cosine + i);
        const float4 s = load_four(sine + i);
        COUNT("table loads", 8);
        COUNT("element rotations", 8);
        dot = add_products(dot, load_four(query + i), turn_lower(x, y, c, s));
        dot = add_products(dot, load_four(query + i + half), turn_upper(x, y, c, s));
    }
    // end solution: rotate-four
    for (int d = R; d < D; d += 4) {
        dot = add_products(dot, load_four(query + d), load_four(key + d));
    }
    return dot;
}
// end snippet: dot-wide

static __device__ __forceinline__ float dot_rotated(const float *query, const float *key,
                                                    const float *cosine, const float *sine, int D,
                                                    int R)
{
    const int half = R / 2;
    float dot = 0.0f;
    for (int i = 0; i < half; i++) {
        const float c = cosine[i];
        const float s = sine[i];
        COUNT("table loads", 2);
        COUNT("element rotations", 2);
        dot += query[i] * (key[i] * c - key[i + half] * s);
        dot += query[i + half] * (key[i + half] * c + key[i] * s);
    }
    for (int d = R; d < D; d++) {
        dot += query[d] * key[d];
    }
    return dot;
}

// query [D] rotated, k [Sk][D] as it came, cosine and sine [Sk][R/2] -> score [visible], one key a
// thread, each rotated on its way. Returns the thread's largest score.
// cost: Sk K rotations a block, S Sk a head; 2 table loads a pair, R a key
template <bool wide>
static __device__ __noinline__ float
score_rotated_keys(const float *query, const float *k, const float *cosine, const float *sine,
                   float *score, int visible, int D, int R, float scale)
{
    const int half = R / 2;
    float largest = -INFINITY;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        const float *key = k + (int64_t)j * D;
        const float *c = cosine + (int64_t)j * half;
        const float *s = sine + (int64_t)j * half;
        COUNT("K rotations", R > 0);
        const float dot =
            wide ? dot_rotated_wide(query, key, c, s, D, R) : dot_rotated(query, key, c, s, D, R);
        score[j] = dot * scale;
        largest = fmaxf(largest, score[j]);
    }
    return largest;
}

// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D], cosine and sine [Sk][R/2] -> o [H][Sq][D]
// grid (Sq, H), LADDER_THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: 4 D Sk flops a block and 3 R Sk for the rotations; reads k, v and the tables once a block
template <bool wide, bool small_l1>
__global__ void attention_v1(const float *q, const float *k, const float *v, const float *cosine,
                             const float *sine, float *o, int Sq, int Sk, int D, int R, bool causal,
                             float scale)
{
    extern __shared__ __align__(16) float staged[];
    __shared__ float scratch[LADDER_THREADS];
    float *query = staged;
    float *score = staged + D;
    const int row = blockIdx.x;
    const int64_t head = blockIdx.y;
    const int visible = causal ? Sk - Sq + row + 1 : Sk;
    const int64_t angles = (int64_t)(Sk - Sq + row) * (R / 2);
    q += (head * Sq + row) * D;
    o += (head * Sq + row) * D;
    k += head * Sk * D;
    v += head * Sk * D;

    if (wide) {
        rotate_query_wide(q, cosine + angles, sine + angles, query, D, R);
    } else {
        rotate_query(q, cosine + angles, sine + angles, query, D, R);
    }
    __syncthreads();

    const float largest =
        score_rotated_keys<wide>(query, k, cosine, sine, score, visible, D, R, scale);
    finish_row<block_reduction>(score, largest, v, o, visible, D, scratch);
}

// Percent of the multiprocessor's memory. What shared memory may not take is L1 cache.
enum { ALL_TO_SHARED_MEMORY = 100 };

// snippet: launch
template <bool wide, bool small_l1 = false>
static void enqueue(const kf_run *run, const char *q, const char *k, int R, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const size_t shared = (s.D + s.Sk) * sizeof(float);
    if (small_l1) {
        CUDA_CHECK(cudaFuncSetAttribute(attention_v1<wide, small_l1>,
                                        cudaFuncAttributePreferredSharedMemoryCarveout,
                                        ALL_TO_SHARED_MEMORY));
    }
    attention_v1<wide, small_l1><<<dim3(s.Sq, s.H), LADDER_THREADS, shared, stream>>>(
        kf_f32(run, q), kf_f32(run, k), kf_f32(run, "v"), kf_f32(run, "cos"), kf_f32(run, "sin"),
        kf_f32(run, "o"), s.Sq, s.Sk, s.D, R, s.causal, 1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}

// Rows begin at multiples of 16 bytes if D % 4 == 0, their halves if R / 2 % 4 == 0 as well.
template <bool small_l1 = false>
static void enqueue_wide(const kf_run *run, const char *q, const char *k, int R,
                         cudaStream_t stream)
{
    if (run->shape.D % 4 == 0 && R % 8 == 0) {
        enqueue<true, small_l1>(run, q, k, R, stream);
    } else {
        enqueue<false, small_l1>(run, q, k, R, stream);
    }
}
// end snippet: launch

template <bool small_l1>
static void launch_v1(const kf_run *run, cudaStream_t stream)
{
    enqueue<false, small_l1>(run, "q", "k", run->shape.R, stream);
}

template <bool small_l1>
static void launch_v1_float4(const kf_run *run, cudaStream_t stream)
{
    enqueue_wide<small_l1>(run, "q", "k", run->shape.R, stream);
}

// The same kernel with nothing left to turn, behind the two kernels that turn.
template <bool small_l1>
static void launch_separate_float4(const kf_run *run, cudaStream_t stream)
{
    launch_rope_q(run, stream);
    launch_rope_k(run, stream);
    enqueue_wide<small_l1>(run, "q_turned", "k_turned", 0, stream);
}

// What explains a time is verified where it is timed, on a CPU at some of these, and with few
// queries.
static bool explains(const kf_shape *s)
{
    const bool timed = s->Sq == 64 && s->H >= 4;
    return s->Sq < 20 || (timed && (!kf_on_cpu() || s->D == 8 || s->D == 128 || s->R == 20));
}

// A small L1 cache tells where many blocks share it.
static bool many_heads(const kf_shape *s)
{
    return s->H >= 32;
}

static const kf_variant variants[] = {
    {"separate", "RoPE on q, RoPE on k, attention: three launches", launch_separate, NULL,
     LADDER_THREADS, NULL},
    {"v1", "step 05's: one launch, 4-byte loads", launch_v1<false>, explains, LADDER_THREADS, NULL},
    {"v1-float4", "16-byte loads of q, k, cosines and sines", launch_v1_float4<false>, NULL,
     LADDER_THREADS, NULL},
    {"separate-float4", "separate, 16-byte loads in its attention as well",
     launch_separate_float4<false>, explains, LADDER_THREADS, NULL},
    {"v1-small-l1", "v1 with the least L1 cache", launch_v1<true>, many_heads, LADDER_THREADS,
     NULL},
    {"v1-float4-small-l1", "v1-float4 with the least L1 cache", launch_v1_float4<true>, many_heads,
     LADDER_THREADS, NULL},
    {"separate-float4-small-l1", "separate-float4 with the least L1 cache in its attention",
     launch_separate_float4<true>, many_heads, LADDER_THREADS, NULL},
};

// The ladder's, and eight times as many heads: as much work for each multiprocessor as the ladder's
// cases give to a GPU with an eighth of them.
enum { LADDER_CASES = sizeof ladder_cases / sizeof *ladder_cases, MORE_CASES = 3 };

static const kf_case more_heads[MORE_CASES] = {
    {"D128-H32", {1, 32, 64, 64, 128, 128, false, 0}, KF_LARGE},
    {"D512-H32", {1, 32, 64, 64, 512, 512, false, 0}, KF_LARGE},
    {"D2048-H32", {1, 32, 64, 64, 2048, 2048, false, 0}, KF_LARGE},
};

int main(int argc, char **argv)
{
    kf_case cases[LADDER_CASES + MORE_CASES];
    memcpy(cases, ladder_cases, sizeof ladder_cases);
    memcpy(cases + LADDER_CASES, more_heads, sizeof more_heads);
    const kf_program program = {
        "06-v1-float4",    "V1 with 16-byte loads of q, k, cosines and sines",
        KF_LIST(cases),    KF_LIST(variants),
        ladder_setup,      kf_attention_reference,
        kf_attention_cost, KF_LIST(ladder_timings)};
    return kf_main(&program, argc, argv);
}
