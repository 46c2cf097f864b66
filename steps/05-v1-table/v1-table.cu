/* 05-v1-table: V1, both rotations inside attention, cosines and sines from a table
 *
 * Grows from: 04-block-reduce-fix
 * Profile: kernels=attention warm --case D2048
 *
 * Idea     One launch instead of three. A block rotates its query once, while it copies it to
 *          shared memory. Each thread rotates the key that it is about to use in registers, pair by
 *          pair. Rotated q and k never go to memory: 4 S D floats a head are neither written nor
 *          read.
 * Predict  Less traffic and two launches less, so less time: that was the hope. But a head has 64
 *          queries, and each block rotates all keys again: 64 x 64 K rotations a head instead of
 *          64, and 64 times as many table loads. Where attention takes longer than the two launches
 *          (D = 512 and 2048) the work added should cost more than the launches saved.
 * Outcome  As predicted, and from D = 64 on already: twice the time at D = 512 and 2048. Separate
 *          attention was limited by the L1 cache handing out its rows of k, a wavefront for each
 *          lane, and the table asks for as many again. The cost is neither bytes nor sectors but
 *          bank conflicts: one unused float a row of the table (v1-padded) takes most of it away,
 *          and D = 80 takes less time than D = 64. With all threads busy V1 wins at D = 128 and
 *          loses beyond.
 */
#include "cuda/rope_ladder.cuh"

// How a table lies in memory: a row a position, as it comes; the same with one float more a row; or
// a row a pair.
enum layout { BY_POSITION, PADDED, BY_PAIR };

template <layout lies>
static __device__ __forceinline__ int64_t table_entry(int j, int i, int Sk, int half)
{
    return lies == BY_PAIR  ? (int64_t)i * Sk + j
           : lies == PADDED ? (int64_t)j * (half + 1) + i
                            : (int64_t)j * half + i;
}

// snippet: rotate-query
// q [D], cosine and sine [Sk][R/2], of which row position counts -> query [D] in shared memory
// cost: one rotation a block
template <layout lies>
static __device__ void rotate_query(const float *q, const float *cosine, const float *sine,
                                    float *query, int position, int Sk, int D, int R)
{
    const int half = R / 2;
    COUNT("Q rotations", threadIdx.x == 0 && R > 0);
    for (int t = threadIdx.x; t < D - half; t += blockDim.x) {
        if (t < half) {
            const float c = cosine[table_entry<lies>(position, t, Sk, half)];
            const float s = sine[table_entry<lies>(position, t, Sk, half)];
            COUNT("table loads", 2);
            COUNT("element rotations", 2);
            query[t] = q[t] * c - q[t + half] * s;
            query[t + half] = q[t + half] * c + q[t] * s;
        } else {
            query[t + half] = q[t + half];
        }
    }
}
// end snippet: rotate-query

// snippet: score-rotated
// query [D] rotated, k [Sk][D] as it came, cosine and sine [Sk][R/2] -> score [visible], one key a
// thread (or a group of threads: each then has every lanes-th pair), rotated on its way. Returns
// the thread's largest score.
// cost: Sk K rotations a block, S Sk a head; 2 table loads a pair, R a key
template <int lanes, layout lies>
static __device__ __noinline__ float
score_rotated_keys(const float *query, const float *k, const float *cosine, const float *sine,
                   float *score, int visible, int Sk, int D, int R, float scale)
{
    const int half = R / 2;
    const int lane = threadIdx.x % lanes;
    float largest = -INFINITY;
    for (int first = 0; first < visible; first += blockDim.x / lanes) {
        const int j = first + threadIdx.x / lanes;
        const float *key = k + (int64_t)j * D;
        float dot = 0.0f;
        if (j < visible) {
            COUNT("K rotations", lane == 0 && R > 0);
            // solution: rotate-key -- rotate each pair of the key, add its two products to dot
            for (int i = lane; i < half; i += lanes) {
                const float c = cosine[table_entry<lies>(j, i, Sk, half)];
                const float s = sine[table_entry<lies>(j, i, Sk, half)];
                COUNT("table loads", 2);
                COUNT("element rotations", 2);
                dot += query[i] * (key[i] * c - key[i + half] * s);
                dot += query[i + half] * (key[i + half] * c + key[i] * s);
            }
            // end solution: rotate-key
            for (int d = R + lane; d < D; d += lanes) {
                dot += query[d] * key[d];
            }
        }
        for (int bit = lanes / 2; bit > 0; bit /= 2) {
            dot += __shfl_xor_sync(0xffffffffu, dot, bit);
        }
        if (j < visible && lane == 0) {
            score[j] = dot * scale;
            largest = fmaxf(largest, score[j]);
        }
    }
    return largest;
}
// end snippet: score-rotated

// snippet: kernel
// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D], cosine and sine [Sk][R/2] -> o [H][Sq][D]
// grid (Sq, H), LADDER_THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: 4 D Sk flops a block and 3 R Sk for the rotations; reads k, v and the tables once a block
template <int lanes, layout lies>
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
    q += (head * Sq + row) * D;
    o += (head * Sq + row) * D;
    k += head * Sk * D;
    v += head * Sk * D;

    rotate_query<lies>(q, cosine, sine, query, Sk - Sq + row, Sk, D, R);
    __syncthreads();

    const float largest =
        score_rotated_keys<lanes, lies>(query, k, cosine, sine, score, visible, Sk, D, R, scale);
    finish_row<block_reduction>(score, largest, v, o, visible, D, scratch);
}
// end snippet: kernel

// By layout.
static const char *const cosines[] = {"cos", "cos_padded", "cos_by_pair"};
static const char *const sines[] = {"sin", "sin_padded", "sin_by_pair"};

template <int lanes, layout lies>
static void enqueue(const kf_run *run, const char *q, const char *k, int R, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const size_t shared = (s.D + s.Sk) * sizeof(float);
    const float *cosine = kf_f32(run, cosines[lies]);
    const float *sine = kf_f32(run, sines[lies]);
    attention_v1<lanes, lies><<<dim3(s.Sq, s.H), LADDER_THREADS, shared, stream>>>(
        kf_f32(run, q), kf_f32(run, k), kf_f32(run, "v"), cosine, sine, kf_f32(run, "o"), s.Sq,
        s.Sk, s.D, R, s.causal, 1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}

template <int lanes, layout lies>
static void launch_v1(const kf_run *run, cudaStream_t stream)
{
    enqueue<lanes, lies>(run, "q", "k", run->shape.R, stream);
}

// The same kernel with nothing left to turn, behind the two kernels that turn.
template <int lanes>
static void launch_separate_lanes(const kf_run *run, cudaStream_t stream)
{
    launch_rope_q(run, stream);
    launch_rope_k(run, stream);
    enqueue<lanes, BY_POSITION>(run, "q_turned", "k_turned", 0, stream);
}

static void other_layouts(kf_run *run, const char *const *name)
{
    const kf_tensor *table = kf_find(run, name[BY_POSITION]);
    const int64_t positions = table->dim[0], half = table->dim[1];
    const int64_t wide[] = {positions, half + 1}, turned[] = {half, positions};
    const float *from = table->host;
    float *padded = kf_input(run, name[PADDED], "PR", KF_F32, wide)->host;
    float *by_pair = kf_input(run, name[BY_PAIR], "RP", KF_F32, turned)->host;
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
     .launch = launch_separate,
     .block = LADDER_THREADS},
    {.name = "v1",
     .about = "one launch, every block rotates every key from the table",
     .launch = launch_v1<1, BY_POSITION>,
     .block = LADDER_THREADS},
    {.name = "v1-padded",
     .about = "v1, a row of the table is one float longer",
     .launch = launch_v1<1, PADDED>,
     .applies = ladder_explains,
     .block = LADDER_THREADS},
    {.name = "v1-by-pair",
     .about = "v1, neighbouring lanes read neighbouring entries of the table",
     .launch = launch_v1<1, BY_PAIR>,
     .applies = ladder_explains,
     .block = LADDER_THREADS},
    {.name = "v1-busy",
     .about = "v1, four threads share a key: none of 256 is idle at 64 keys",
     .launch = launch_v1<4, BY_POSITION>,
     .applies = ladder_explains,
     .block = LADDER_THREADS},
    {.name = "separate-busy",
     .about = "separate, four threads share a key",
     .launch = launch_separate_lanes<4>,
     .applies = ladder_explains,
     .block = LADDER_THREADS},
};

int main(int argc, char **argv)
{
    return ladder_main("05-v1-table",
                       "V1, both rotations inside attention, cosines and sines from a table", setup,
                       variants, KF_COUNT_OF(variants), NULL, 0, argc, argv);
}
