/* 05-v1-table: V1, both rotations inside attention, cosines and sines from a table
 *
 * Follows: 02-separate-rope, at most 68 % of its story new
 * Architecture: 75
 * Profile: kernels=attention warm --case D2048
 *
 * Idea     One launch instead of three. A block rotates its query once, while it copies it to
 *          shared memory. Each thread rotates the key that it is about to use in registers, pair by
 *          pair. Rotated q and k never go to memory: 4 S D floats per head are neither written nor
 *          read.
 * Predict  Two launches less save 2.6 us. But each of the 64 blocks of a head rotates all keys, and
 *          a load of cosines by 32 lanes with 32 keys takes up to 32 wavefronts, because the rows
 *          of the table begin in one bank. 128 D cycles for two blocks are more than two launches
 *          from D = 64 on, except at D = 80, where 8 lanes share a bank.
 * Outcome  The winner is as predicted, except at D = 80: a tie. Most of the cost at D = 2048 is
 *          bank conflicts in the L1 cache: one unused float per row of the table takes it away
 *          (v1-padded). The rest is more than predicted, for no known reason.
 */
#include "cuda/rope_ladder.cuh" // the baseline, the cases of steps 05 to 13, ladder_main

// Functions that the kernel calls, in this order. Their definitions, below, explain them.
static __device__ __forceinline__ void rotate_query(attention_args a, block_rows own, float *query);
static __device__ __noinline__ float score_keys(attention_args a, block_rows own,
                                                const float *query, float *score);

// snippet: kernel
// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D], cosine and sine [Sk][R/2] -> o [H][Sq][D]
// grid (Sq, H), THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: per block 4 D Sk flops, 3 R Sk for the rotations, and one read of k, v and the tables
static __global__ void attention_v1(attention_args a)
{
    extern __shared__ float shared[];
    __shared__ float scratch[THREADS];
    float *query = shared;
    float *score = shared + a.D;
    const block_rows own = rows_of_block(a);

    rotate_query(a, own, query);
    __syncthreads();
    const float row_max = score_keys(a, own, query, score);
    softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
}
// end snippet: kernel

// snippet: rotate-query
// q [D] of the block's query -> query [D] in shared memory, rotated
// cost: one rotation per block
static __device__ __forceinline__ void rotate_query(attention_args a, block_rows own, float *query)
{
    const int half = a.R / 2;
    const float *cosine = a.cosine + (int64_t)own.position * half;
    const float *sine = a.sine + (int64_t)own.position * half;
    COUNT("Q rotations", threadIdx.x == 0 && a.R > 0);
    for (int t = threadIdx.x; t < a.D - half; t += blockDim.x) {
        if (t < half) {
            const float c = cosine[t];
            const float s = sine[t];
            COUNT("table loads", 2);
            COUNT("element rotations", 2);
            query[t] = own.q[t] * c - own.q[t + half] * s;
            query[t + half] = own.q[t + half] * c + own.q[t] * s;
        } else {
            query[t + half] = own.q[t + half];
        }
    }
}
// end snippet: rotate-query

// snippet: score-keys
// query [D] rotated, k [Sk][D] not rotated -> score [visible], one key per thread, which rotates it
// in registers. Returns the thread's row_max.
// cost: a block rotates Sk keys, a head Sq Sk; 2 table loads per pair, R per key
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
        // solution: rotate-key -- rotate each pair of the key, add its two products to dot
        // hint: Which two elements of the key are pair i, and how many pairs are there? key,
        //     cosine and sine already point to row j.
        // hint: Pair i is `key[i]` and `key[i + half]`, for i < half, and half is `R / 2`, not
        //     `D / 2`. A pair (x, y) becomes `(x c - y s, y c + x s)`, where c is `cosine[i]` and
        //     s is `sine[i]`. The query has been rotated already.
        // hint: Declare c and s in a loop over i. One of the two products is added by
        //     `dot += query[i] * (key[i] * c - key[i + half] * s);`, and the other one is that of
        //     `query[i + half]`. The loop below adds the dimensions from R on.
        for (int i = 0; i < half; i++) {
            const float c = cosine[i];
            const float s = sine[i];
            COUNT("table loads", 2);
            COUNT("element rotations", 2);
            dot += query[i] * (key[i] * c - key[i + half] * s);
            dot += query[i + half] * (key[i + half] * c + key[i] * s);
        }
        // end solution: rotate-key
        for (int d = a.R; d < a.D; d++) {
            dot += query[d] * key[d];
        }
        score[j] = dot * a.scale;
        row_max = fmaxf(row_max, score[j]);
    }
    return row_max;
}
// end snippet: score-keys

static void launch_v1(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_to_rotate(run);
    attention_v1<<<dim3(a.Sq, run->shape.H), THREADS, query_and_scores(a), stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

// --- Variants that explain -----------------------------------------------------------------------

// The layout of a table in memory: one row per position, as it is given; the same with one unused
// float per row; or one row per pair.
enum layout { BY_POSITION, PADDED, BY_PAIR };

template <layout lies>
static __device__ __forceinline__ int64_t table_entry(int j, int i, int Sk, int half)
{
    return lies == BY_PAIR  ? (int64_t)i * Sk + j
           : lies == PADDED ? (int64_t)j * (half + 1) + i
                            : (int64_t)j * half + i;
}

// As score_keys, but `lanes` threads share a key, each with every lanes-th pair. cosine and sine
// have this layout.
template <int lanes, layout lies>
static __device__ __noinline__ float score_keys_by(attention_args a, block_rows own,
                                                   const float *cosine, const float *sine,
                                                   const float *query, float *score)
{
    const int half = a.R / 2;
    const int lane = threadIdx.x % lanes;
    float row_max = -INFINITY;
    for (int first = 0; first < own.visible; first += blockDim.x / lanes) {
        const int j = first + threadIdx.x / lanes;
        const float *key = own.k + (int64_t)j * a.D;
        float dot = 0.0f;
        if (j < own.visible) {
            COUNT("K rotations", lane == 0 && a.R > 0);
            // solution: share-key -- the same with table_entry; a lane takes every lanes-th pair
            // hint: Two things differ from rotate-key. A thread takes only some pairs of key j,
            //     because `lanes` threads share it. And cosine and sine point to the whole table
            //     here, not to row j. Which pairs does a thread take, if lane is its number among
            //     these threads, and each pair is taken once?
            // hint: The pairs of a thread are lane, lane + lanes, lane + 2 lanes, ... below half,
            //     as the loop below takes the dimensions from R on. The sums of the threads that
            //     share a key are added up further below.
            // hint: The cosine of pair i is `cosine[table_entry<lies>(j, i, a.Sk, half)]`, and the
            //     sine is the element of sine with the same index. The two products are those of
            //     rotate-key.
            for (int i = lane; i < half; i += lanes) {
                const float c = cosine[table_entry<lies>(j, i, a.Sk, half)];
                const float s = sine[table_entry<lies>(j, i, a.Sk, half)];
                COUNT("table loads", 2);
                COUNT("element rotations", 2);
                dot += query[i] * (key[i] * c - key[i + half] * s);
                dot += query[i + half] * (key[i + half] * c + key[i] * s);
            }
            // end solution: share-key
            for (int d = a.R + lane; d < a.D; d += lanes) {
                dot += query[d] * key[d];
            }
        }
        for (int bit = lanes / 2; bit > 0; bit /= 2) {
            dot += __shfl_xor_sync(0xffffffffu, dot, bit);
        }
        if (j < own.visible && lane == 0) {
            score[j] = dot * a.scale;
            row_max = fmaxf(row_max, score[j]);
        }
    }
    return row_max;
}

template <int lanes, layout lies>
static __global__ void attention_v1_by(attention_args a, const float *cosine, const float *sine)
{
    extern __shared__ float shared[];
    __shared__ float scratch[THREADS];
    float *query = shared;
    float *score = shared + a.D;
    const block_rows own = rows_of_block(a);

    rotate_query(a, own, query);
    __syncthreads();
    const float row_max = score_keys_by<lanes, lies>(a, own, cosine, sine, query, score);
    softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
}

// Names of the tables, by layout.
static const char *const cosines[] = {"cos", "cos_padded", "cos_by_pair"};
static const char *const sines[] = {"sin", "sin_padded", "sin_by_pair"};

template <int lanes, layout lies>
static void enqueue(const kf_run *run, attention_args a, cudaStream_t stream)
{
    attention_v1_by<lanes, lies>
        <<<dim3(a.Sq, run->shape.H), THREADS, query_and_scores(a), stream>>>(
            a, kf_f32(run, cosines[lies]), kf_f32(run, sines[lies]));
    CUDA_CHECK_LAUNCH();
}

template <int lanes, layout lies>
static void launch_by(const kf_run *run, cudaStream_t stream)
{
    enqueue<lanes, lies>(run, arguments_to_rotate(run), stream);
}

// The same kernel at R = 0, after the two kernels that rotate.
static void launch_separate_busy(const kf_run *run, cudaStream_t stream)
{
    launch_rope_q(run, stream);
    launch_rope_k(run, stream);
    enqueue<4, BY_POSITION>(run, arguments_rotated(run), stream);
}

// --- Tables --------------------------------------------------------------------------------------

static void other_layouts(kf_run *run, const char *const *name)
{
    const kf_tensor *table = kf_find(run, name[BY_POSITION]);
    const int64_t positions = table->dim[0], half = table->dim[1];
    const int64_t wide[] = {positions, half + 1}, transposed[] = {half, positions};
    const float *from = table->host;
    float *padded = kf_input(run, name[PADDED], "PR", KF_F32, wide)->host;
    float *by_pair = kf_input(run, name[BY_PAIR], "RP", KF_F32, transposed)->host;
    for (int64_t p = 0; p < positions; p++) {
        for (int64_t i = 0; i < half; i++) {
            padded[p * (half + 1) + i] = by_pair[i * positions + p] = from[p * half + i];
        }
    }
}

static void setup(kf_run *run)
{
    ladder_setup(run);
    other_layouts(run, cosines);
    other_layouts(run, sines);
}

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate},
    {.name = "v1",
     .about = "one launch, every block rotates every key from the table",
     .launch = launch_v1},
    {.name = "v1-by-row",
     .about = "v1 in the loop of v1-padded and v1-by-pair, with v1's table",
     .launch = launch_by<1, BY_POSITION>,
     .applies = ladder_explains},
    {.name = "v1-padded",
     .about = "v1-by-row, a row of the table is one float longer",
     .launch = launch_by<1, PADDED>,
     .applies = ladder_explains},
    {.name = "v1-by-pair",
     .about = "v1-by-row, neighbouring lanes read neighbouring entries of the table",
     .launch = launch_by<1, BY_PAIR>,
     .applies = ladder_explains},
    {.name = "v1-busy",
     .about = "v1, four threads share a key: none of 256 is idle at 64 keys",
     .launch = launch_by<4, BY_POSITION>,
     .applies = ladder_explains},
    {.name = "separate-busy",
     .about = "separate, four threads share a key",
     .launch = launch_separate_busy,
     .applies = ladder_explains},
};

static const kf_question questions[] = {
    {.text = "How many K rotations does a call of v1 do, with 4 heads of 64 queries and 64 keys "
             "and a block per query?",
     .figure = "K_rotations",
     .case_name = "D128",
     .variant = "v1"},
    {.text = "At D = 2048, how many times as fast is separate (its attention loads no cosines and "
             "sines) as v1?",
     .figure = "median_us",
     .case_name = "D2048",
     .variant = "v1",
     .over = "separate"},
    {.text = "At D = 2048, how many times as fast is v1-padded (one unused float at the end of "
             "each row of the table) as v1?",
     .figure = "median_us",
     .case_name = "D2048",
     .variant = "v1",
     .over = "v1-padded"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "05-v1-table",
        .title = "V1, both rotations inside attention, cosines and sines from a table",
        KF_TABLE(variants, variants),
        .setup = setup,
        KF_TABLE(questions, questions),
    };
    return ladder_main(&program, argc, argv);
}
