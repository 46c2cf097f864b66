/* 06-v1-float4: V1 with 16-byte loads of q, k, cosines and sines
 *
 * Grows from: 05-v1-table, at most 53 % of its story new
 * Architecture: 75
 * Profile: kernels=attention warm --case D2048 --case D2048-H32
 *
 * Idea     Four pairs at once. One 16-byte load each of the key's lower half, its upper half, the
 *          cosines and the sines takes the place of four 4-byte loads. Where the halves do not
 *          begin at multiples of 16 bytes (R = 20), step 05's loop remains.
 * Predict  A load still takes a wavefront per lane, and there are a quarter as many: at D = 2048
 *          v1-float4 should be about 3 times as fast as v1. But the attention of separate can have
 *          16-byte loads too. Then the loads of the table cost 32 R cycles, and two launches are
 *          saved: fusion should win below R = 158 with 4 heads, and lose at R = 128 with 32.
 * Outcome  v1-float4 gains more over v1. Fusion wins and loses as predicted. v1-float4 wins over
 *          separate at every D. From D = 512 on that win belongs to the loads: separate-float4 has
 *          them too and is ahead, and with 32 heads at D = 128. Four variants look for the log's
 *          small gain by float4, and do not find it.
 */
#include "cuda/float4.cuh"
#include "cuda/rope_ladder.cuh"
#include "attention_v1.cuh"

// Functions that the kernel calls, in this order. Their definitions, below, explain them.
static __device__ __forceinline__ void rotate_query(attention_args a, block_rows own, float *query);
static __device__ __noinline__ float score_keys(attention_args a, block_rows own,
                                                const float *query, float *score);

// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D], cosine and sine [Sk][R/2] -> o [H][Sq][D]
// grid (Sq, H), THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: per block 4 D Sk flops, 3 R Sk for the rotations, and one read of k, v and the tables
static __global__ void attention_v1(attention_args a)
{
    extern __shared__ __align__(16) float staged[];
    __shared__ float scratch[THREADS];
    float *query = staged;
    float *score = staged + a.D;
    const block_rows own = rows_of_block(a);

    rotate_query(a, own, query);
    __syncthreads();
    const float row_max = score_keys(a, own, query, score);
    softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
}

// q [D] of the block's query -> query [D] in shared memory, rotated. Rows and halves of rows begin
// at multiples of 16 bytes.
// cost: one rotation per block
static __device__ __forceinline__ void rotate_query(attention_args a, block_rows own, float *query)
{
    const int half = a.R / 2;
    const float *cosine = a.cosine + (int64_t)own.position * half;
    const float *sine = a.sine + (int64_t)own.position * half;
    COUNT("Q rotations", threadIdx.x == 0 && a.R > 0);
    for (int t = 4 * threadIdx.x; t < a.D - half; t += 4 * blockDim.x) {
        const float4 y = load_four(own.q + t + half);
        if (t < half) {
            const float4 x = load_four(own.q + t);
            const float4 c = load_four(cosine + t);
            const float4 s = load_four(sine + t);
            COUNT("table loads", 8);
            COUNT("element rotations", 8);
            store_four(query + t, rotate_lower(x, y, c, s));
            store_four(query + t + half, rotate_upper(x, y, c, s));
        } else {
            store_four(query + t + half, y);
        }
    }
}

// snippet: score-keys
// query [D] rotated, k [Sk][D] not rotated -> score [visible], one key per thread, which rotates it
// in registers, four pairs at a time. Returns the thread's row_max.
// cost: a block rotates Sk keys, a head Sq Sk; R / 4 loads of the table per key, 4 floats each
static __device__ __noinline__ float score_keys(attention_args a, block_rows own,
                                                const float *query, float *score)
{
    const int half = a.R / 2;
    float row_max = -INFINITY;
    for (int j = threadIdx.x; j < own.visible; j += blockDim.x) {
        const float *key = own.k + (int64_t)j * a.D;
        const float *cosine = a.cosine + (int64_t)j * half;
        const float *sine = a.sine + (int64_t)j * half;
        float dot = 0.0f;
        COUNT("K rotations", a.R > 0);
        // solution: rotate-four -- rotate four pairs of the key at a time, and add eight products
        // hint: Four pairs need four elements each of the key's lower half, of its upper half, of
        //     the cosines and of the sines: four calls of load_four. At which address does each of
        //     them begin?
        // hint: The loop over i goes from 0 to half in steps of 4; this kernel is launched only if
        //     half is a multiple of 4. The four addresses are `key + i`, `key + i + half`,
        //     `cosine + i` and `sine + i`.
        // hint: Declare x, y, c and s for the four loads. Then
        //     `dot = add_products(dot, load_four(query + i), rotate_lower(x, y, c, s));` adds four
        //     of the eight products. The other four are those of the upper half.
#pragma unroll 2 // nvcc's choice when it is left alone
        for (int i = 0; i < half; i += 4) {
            const float4 x = load_four(key + i);
            const float4 y = load_four(key + i + half);
            const float4 c = load_four(cosine + i);
            const float4 s = load_four(sine + i);
            COUNT("table loads", 8);
            COUNT("element rotations", 8);
            dot = add_products(dot, load_four(query + i), rotate_lower(x, y, c, s));
            dot = add_products(dot, load_four(query + i + half), rotate_upper(x, y, c, s));
        }
        // end solution: rotate-four
        for (int d = a.R; d < a.D; d += 4) {
            dot = add_products(dot, load_four(query + d), load_four(key + d));
        }
        score[j] = dot * a.scale;
        row_max = fmaxf(row_max, score[j]);
    }
    return row_max;
}
// end snippet: score-keys

// snippet: launch
// Rows begin at multiples of 16 bytes if D % 4 == 0. Their halves do, too, if R / 2 % 4 == 0.
static bool is_wide(attention_args a)
{
    return a.D % 4 == 0 && a.R % 8 == 0;
}

static void enqueue(const kf_run *run, attention_args a, cudaStream_t stream)
{
    const dim3 grid(a.Sq, run->shape.H);
    if (is_wide(a)) {
        attention_v1<<<grid, THREADS, query_and_scores(a), stream>>>(a);
    } else {
        step_05::attention_v1<<<grid, THREADS, query_and_scores(a), stream>>>(a);
    }
    CUDA_CHECK_LAUNCH();
}
// end snippet: launch

static void launch_v1_float4(const kf_run *run, cudaStream_t stream)
{
    enqueue(run, arguments_to_rotate(run), stream);
}

// --- Variants that explain -----------------------------------------------------------------------

static void launch_v1(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_to_rotate(run);
    step_05::attention_v1<<<dim3(a.Sq, run->shape.H), THREADS, query_and_scores(a), stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

// The same kernel at R = 0, after the two kernels that rotate.
static void launch_separate_float4(const kf_run *run, cudaStream_t stream)
{
    launch_rope_q(run, stream);
    launch_rope_k(run, stream);
    enqueue(run, arguments_rotated(run), stream);
}

// Which loads are 16 bytes wide: uses of float4 that may gain less. NARROW and WIDE are the two
// versions again, as kernels whose L1 cache may be made small.
enum loads {
    NARROW,    // none
    WIDE,      // all, and two iterations of the loop over pairs are loaded at a time
    ONE_STEP,  // all, but one iteration at a time
    WIDE_Q,    // those of q and of its row of the table
    WIDE_QK,   // those of WIDE_Q and of k, but not of the keys' rows of the table
    VIA_ARRAYS // all, but the loaded elements go to arrays in local memory
};

// Four loads. nvcc does not join them, because it knows no address to be a multiple of 16 bytes.
static __device__ __forceinline__ float4 load_each(const float *x)
{
    return make_float4(x[0], x[1], x[2], x[3]);
}

// snippet: by-index
// Four pairs x and y of the key, their cosines c and sines s, query [R] from the first of the four
// pairs on -> dot plus their eight products
// Registers cannot be indexed: an array that a loop indexes is in local memory, unless unrolled.
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

// As score_keys, with loads of this kind.
template <loads wide>
static __device__ __noinline__ float score_keys_by(attention_args a, block_rows own,
                                                   const float *query, float *score)
{
    const int half = a.R / 2;
    float row_max = -INFINITY;
    for (int j = threadIdx.x; j < own.visible; j += blockDim.x) {
        const float *key = own.k + (int64_t)j * a.D;
        const float *cosine = a.cosine + (int64_t)j * half;
        const float *sine = a.sine + (int64_t)j * half;
        float dot = 0.0f;
        COUNT("K rotations", a.R > 0);
        // solution: rotate-four-by -- the same, with what each variant loads
        // hint: WIDE is the loop of rotate-four without a change. ONE_STEP, WIDE_QK and VIA_ARRAYS
        //     each change one thing of it: which one changes a load, which one the products, and
        //     which one only how far the loop is unrolled? (NARROW and WIDE_Q use step 05's
        //     function; see attention_v1_by.)
        // hint: WIDE_QK loads the cosines and the sines by load_each in place of load_four.
        //     VIA_ARRAYS passes what was loaded to add_four_by_index in place of both calls of
        //     add_products. ONE_STEP loads one iteration at a time, the others two:
        //     `#pragma unroll(wide == ONE_STEP ? 1 : 2)` in front of the loop.
        // hint: wide is a template parameter, so a condition is decided when the kernel is
        //     compiled:
        //     `const float4 c = wide == WIDE_QK ? load_each(cosine + i) : load_four(cosine + i);`
        //     is one load. add_four_by_index takes the address of the query's element i,
        //     `query + i`, and half as its last argument, and returns the new dot.
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
                dot = add_products(dot, load_four(query + i), rotate_lower(x, y, c, s));
                dot = add_products(dot, load_four(query + i + half), rotate_upper(x, y, c, s));
            }
        }
        // end solution: rotate-four-by
        for (int d = a.R; d < a.D; d += 4) {
            dot = add_products(dot, load_four(query + d), load_four(key + d));
        }
        score[j] = dot * a.scale;
        row_max = fmaxf(row_max, score[j]);
    }
    return row_max;
}

template <loads wide>
static __global__ void attention_v1_by(attention_args a)
{
    extern __shared__ __align__(16) float staged[];
    __shared__ float scratch[THREADS];
    float *query = staged;
    float *score = staged + a.D;
    const block_rows own = rows_of_block(a);

    if (wide == NARROW) {
        step_05::rotate_query(a, own, query);
    } else {
        rotate_query(a, own, query);
    }
    __syncthreads();
    const float row_max = wide == NARROW || wide == WIDE_Q
                              ? step_05::score_keys(a, own, query, score)
                              : score_keys_by<wide>(a, own, query, score);
    softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
}

template <loads wide>
static void enqueue_by(const kf_run *run, attention_args a, cudaStream_t stream)
{
    attention_v1_by<wide><<<dim3(a.Sq, run->shape.H), THREADS, query_and_scores(a), stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

template <loads wide>
static void launch_by(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_to_rotate(run);
    if (is_wide(a)) {
        enqueue_by<wide>(run, a, stream);
    } else {
        enqueue(run, a, stream);
    }
}

template <loads wide>
static void small_l1(void)
{
    CUDA_CHECK(cudaFuncSetAttribute(attention_v1_by<wide>,
                                    cudaFuncAttributePreferredSharedMemoryCarveout,
                                    ALL_TO_SHARED_MEMORY));
}

template <loads wide>
static void launch_small_l1(const kf_run *run, cudaStream_t stream)
{
    small_l1<wide>();
    enqueue_by<wide>(run, arguments_to_rotate(run), stream);
}

static void launch_separate_small_l1(const kf_run *run, cudaStream_t stream)
{
    small_l1<WIDE>();
    launch_rope_q(run, stream);
    launch_rope_k(run, stream);
    enqueue_by<WIDE>(run, arguments_rotated(run), stream);
}

// --- Tables --------------------------------------------------------------------------------------

// Cases for which the log says how much float4 gained.
static bool claimed(const kf_case *c)
{
    return c->shape.H >= 4 && c->shape.D >= 128 && c->shape.R == c->shape.D;
}

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate},
    {.name = "v1",
     .about = "step 05's: one launch, 4-byte loads",
     .launch = launch_v1,
     .applies = ladder_explains},
    {.name = "v1-float4",
     .about = "16-byte loads of q, k, cosines and sines",
     .launch = launch_v1_float4},
    {.name = "separate-float4",
     .about = "separate, 16-byte loads in its attention as well",
     .launch = launch_separate_float4,
     .applies = ladder_explains},
    {.name = "v1-float4-one",
     .about = "v1-float4, one step of the loop over pairs at a time",
     .launch = launch_by<ONE_STEP>,
     .applies = claimed},
    {.name = "v1-float4-q",
     .about = "16-byte loads for q only",
     .launch = launch_by<WIDE_Q>,
     .applies = claimed},
    {.name = "v1-float4-k",
     .about = "16-byte loads of q and k, and not of the keys' cosines and sines",
     .launch = launch_by<WIDE_QK>,
     .applies = claimed},
    {.name = "v1-float4-local",
     .about = "v1-float4, by way of arrays in local memory",
     .launch = launch_by<VIA_ARRAYS>,
     .applies = claimed},
    {.name = "v1-small-l1",
     .about = "v1 with the least L1 cache",
     .launch = launch_small_l1<NARROW>,
     .applies = ladder_many_heads},
    {.name = "v1-float4-small-l1",
     .about = "v1-float4 with the least L1 cache",
     .launch = launch_small_l1<WIDE>,
     .applies = ladder_many_heads},
    {.name = "separate-float4-small-l1",
     .about = "separate-float4 with the least L1 cache in its attention",
     .launch = launch_separate_small_l1,
     .applies = ladder_many_heads},
};

static const kf_question questions[] = {
    {.text =
         "At D = 128 a block of v1 has 256 load requests for values, 512 for keys and table, and 8 "
         "for its query (two warps have 4 each). v1-float4 loads values as v1 does. How many load "
         "requests has a block of v1-float4?",
     .figure = "global_ld_requests/blocks",
     .case_name = "D128",
     .variant = "v1-float4"},
    {.text = "At D = 2048, how many times as fast is v1-float4 (loads of 16 bytes) as v1 (loads of"
             " 4)?",
     .figure = "median_us",
     .case_name = "D2048",
     .variant = "v1",
     .over = "v1-float4"},
    {.text = "Which is the fastest at D = 2048, with 4 heads of 64 queries and keys: separate, "
             "v1-float4 or separate-float4?",
     .figure = "median_us",
     .case_name = "D2048",
     .among = "separate v1-float4 separate-float4"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "06-v1-float4",
        .title = "V1 with 16-byte loads of q, k, cosines and sines",
        KF_TABLES(ladder_more_heads, variants),
        KF_TABLE(questions, questions),
    };
    return ladder_main(&program, argc, argv);
}
