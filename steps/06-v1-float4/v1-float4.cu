/* 06-v1-float4: V1 with 16-byte loads of q, k, cosines and sines
 *
 * Grows from: 05-v1-table
 * Profile: kernels=attention warm --case D2048 --case D2048-H32
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
 * Then     Where may the log's 9 to 19% come from? Four variants are float4 written so that it may
 *          gain less. By wavefronts, v1-float4-q should gain nothing over V1, v1-float4-k a factor
 *          of 1.6 at most, v1-float4-local one of 3.2, v1-float4-one as much as v1-float4. They
 *          come out at 1.0, 1.6 to 1.7, about 2 and about 3. None is the log's, see chapter 4.
 */
#include "cuda/float4.cuh"
#include "cuda/rope_ladder.cuh"

// Which loads are 16 bytes wide. The last four are ways to write float4 that may gain less.
enum loads {
    NARROW,    // none
    WIDE,      // all, and two steps of the loop over pairs are loaded at a time
    ONE_STEP,  // all, but one step at a time
    WIDE_Q,    // those of q and its row of the table
    WIDE_QK,   // these and those of k, not those of the keys' rows of the table
    VIA_ARRAYS // all, but arrays in local memory take what was loaded
};

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
    COUNT("Q rotations", threadIdx.x == 0 && R > 0);
    rotate_row(q, cosine, sine, query, D, R);
}

// Four loads, which nvcc does not join: it knows of no address that it is a multiple of 16 bytes.
static __device__ __forceinline__ float4 load_each(const float *x)
{
    return make_float4(x[0], x[1], x[2], x[3]);
}

// snippet: by-index
// Four pairs x and y of the key, their cosines c and sines s, query [R] from the first of the four
// pairs on -> dot and their eight products
// A register has no index. What a loop indexes that is not unrolled lies in local memory.
static __device__ __forceinline__ float add_four_by_index(float dot, const float *query, float4 x,
                                                          float4 y, float4 c, float4 s, int half)
{
    __align__(16) float lower[4], upper[4], cosine[4], sine[4];
    store_four(lower, x);
    store_four(upper, y);
    store_four(cosine, c);
    store_four(sine, s);
#pragma unroll 1
    for (int w = 0; w < 4; w++) {
        dot += query[w] * (lower[w] * cosine[w] - upper[w] * sine[w]);
        dot += query[w + half] * (upper[w] * cosine[w] + lower[w] * sine[w]);
    }
    return dot;
}
// end snippet: by-index

// snippet: dot-wide
// query [D] rotated, key [D] as it came, cosine and sine [R/2] of the key -> query . rotated key
// Rows and halves begin at multiples of 16 bytes.
template <loads wide>
static __device__ __forceinline__ float dot_rotated_wide(const float *query, const float *key,
                                                         const float *cosine, const float *sine,
                                                         int D, int R)
{
    const int half = R / 2;
    float dot = 0.0f;
    // solution: rotate-four -- rotate four pairs of the key at a time, and add their eight products
    // Left alone, nvcc chooses two as well.
#pragma unroll(wide == ONE_STEP ? 1 : 2)
    for (int i = 0; i < half; i += 4) {
        const float4 x = load_four(key + i);
        const float4 y = load_four(key + i + half);
        const float4 c = wide == WIDE_QK ? load_each(cosine + i) : load_four(cosine + i);
        const float4 s = wide == WIDE_QK ? load_each(sine + i) : load_four(sine + i);
        COUNT("table loads", 8);
        COUNT("element rotations", 8);
        if (wide == VIA_ARRAYS) {
            dot = add_four_by_index(dot, query + i, x, y, c, s, half);
        } else {
            dot = add_products(dot, load_four(query + i), turn_lower(x, y, c, s));
            dot = add_products(dot, load_four(query + i + half), turn_upper(x, y, c, s));
        }
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
template <loads wide>
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
        const float dot = wide == NARROW || wide == WIDE_Q
                              ? dot_rotated(query, key, c, s, D, R)
                              : dot_rotated_wide<wide>(query, key, c, s, D, R);
        score[j] = dot * scale;
        largest = fmaxf(largest, score[j]);
    }
    return largest;
}

// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D], cosine and sine [Sk][R/2] -> o [H][Sq][D]
// grid (Sq, H), LADDER_THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: 4 D Sk flops a block and 3 R Sk for the rotations; reads k, v and the tables once a block
template <loads wide, bool small_l1>
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

    if (wide == NARROW) {
        rotate_query(q, cosine + angles, sine + angles, query, D, R);
    } else {
        rotate_query_wide(q, cosine + angles, sine + angles, query, D, R);
    }
    __syncthreads();

    const float largest =
        score_rotated_keys<wide>(query, k, cosine, sine, score, visible, D, R, scale);
    finish_row<block_reduction>(score, largest, v, o, visible, D, scratch);
}

// snippet: launch
template <loads wide, bool small_l1>
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
template <loads wide, bool small_l1>
static void enqueue_aligned(const kf_run *run, const char *q, const char *k, int R,
                            cudaStream_t stream)
{
    if (run->shape.D % 4 == 0 && R % 8 == 0) {
        enqueue<wide, small_l1>(run, q, k, R, stream);
    } else {
        enqueue<NARROW, small_l1>(run, q, k, R, stream);
    }
}
// end snippet: launch

template <loads wide, bool small_l1 = false>
static void launch_v1(const kf_run *run, cudaStream_t stream)
{
    enqueue_aligned<wide, small_l1>(run, "q", "k", run->shape.R, stream);
}

// The same kernel with nothing left to turn, behind the two kernels that turn.
template <bool small_l1 = false>
static void launch_separate_float4(const kf_run *run, cudaStream_t stream)
{
    launch_rope_q(run, stream);
    launch_rope_k(run, stream);
    enqueue_aligned<WIDE, small_l1>(run, "q_turned", "k_turned", 0, stream);
}

// What float4 may gain, where the log says what it gained.
static bool claimed(const kf_case *c)
{
    return c->shape.H >= 4 && c->shape.D >= 128 && c->shape.R == c->shape.D;
}

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate,
     .block = LADDER_THREADS},
    {.name = "v1",
     .about = "step 05's: one launch, 4-byte loads",
     .launch = launch_v1<NARROW>,
     .applies = ladder_explains,
     .block = LADDER_THREADS},
    {.name = "v1-float4",
     .about = "16-byte loads of q, k, cosines and sines",
     .launch = launch_v1<WIDE>,
     .block = LADDER_THREADS},
    {.name = "separate-float4",
     .about = "separate, 16-byte loads in its attention as well",
     .launch = launch_separate_float4<>,
     .applies = ladder_explains,
     .block = LADDER_THREADS},
    {.name = "v1-float4-one",
     .about = "v1-float4, one step of the loop over pairs at a time",
     .launch = launch_v1<ONE_STEP>,
     .applies = claimed,
     .block = LADDER_THREADS},
    {.name = "v1-float4-q",
     .about = "16-byte loads for q only",
     .launch = launch_v1<WIDE_Q>,
     .applies = claimed,
     .block = LADDER_THREADS},
    {.name = "v1-float4-k",
     .about = "16-byte loads of q and k, and not of the keys' cosines and sines",
     .launch = launch_v1<WIDE_QK>,
     .applies = claimed,
     .block = LADDER_THREADS},
    {.name = "v1-float4-local",
     .about = "v1-float4, by way of arrays in local memory",
     .launch = launch_v1<VIA_ARRAYS>,
     .applies = claimed,
     .block = LADDER_THREADS},
    {.name = "v1-small-l1",
     .about = "v1 with the least L1 cache",
     .launch = launch_v1<NARROW, true>,
     .applies = ladder_many_heads,
     .block = LADDER_THREADS},
    {.name = "v1-float4-small-l1",
     .about = "v1-float4 with the least L1 cache",
     .launch = launch_v1<WIDE, true>,
     .applies = ladder_many_heads,
     .block = LADDER_THREADS},
    {.name = "separate-float4-small-l1",
     .about = "separate-float4 with the least L1 cache in its attention",
     .launch = launch_separate_float4<true>,
     .applies = ladder_many_heads,
     .block = LADDER_THREADS},
};

int main(int argc, char **argv)
{
    return ladder_main("06-v1-float4", "V1 with 16-byte loads of q, k, cosines and sines",
                       ladder_setup, variants, KF_COUNT_OF(variants), ladder_more_heads,
                       KF_COUNT_OF(ladder_more_heads), argc, argv);
}
