/* 14-fair-baseline: how much of V7's gain was fusion, and what the same shape allows
 *
 * Follows: 13-v7-hybrid
 * Architecture: 75
 * Tests: clang++ counts other requests
 *
 * Idea     A chain of variants from E1's baseline to V7 and beyond: the host does not wait, q
 *          staged, a launch less, q rotated inside, loads of 16 bytes (V7), exponentials once per
 *          key, more loads in flight, all threads at work, D split.
 * Predict  At D = 2048. A wait costs 5 us, and there are two. q staged is worth nothing, a launch
 *          less 3.4 us on the clock call, q rotated inside 1 us, loads of 16 bytes 99 us. Then, on
 *          the clock graph: exponentials once at most 8 us, all threads 29. D split: 7 us in all,
 *          and 2 more if the keys are rotated by a kernel of their own.
 * Outcome  Launch and wide loads are about as predicted. q rotated inside gains too little to be
 *          measured: fusion proper is the smallest part of V7's gain. Waits cost a third more. q
 *          staged is worth more, we think because of the machine code. Exponentials once gain
 *          nothing, all threads more than predicted. D split takes as long as one block of each
 *          kernel, more than predicted.
 */
#include "busy.cuh"
#include "chain.cuh"
#include "softmax_parts.cuh"

// This file has the end of the chain: D split over blocks. The variants before it, from the log's
// baseline on, are in chain.cuh, and "busy" is in busy.cuh, in the same folder.

// The D dimensions of a row are D / 2 couples. Couple t is the pair (t, t + R/2) if it is rotated,
// and two neighbours (2t, 2t + 1) if not. A dot product does not depend on the order.
enum { TILE = 64, PAD = 4 };

template <int COUPLES>
static __device__ void stage_couples(const float *x, const float *cosine, const float *sine,
                                     float *tile, int first, int S, int couple, int D, int R,
                                     bool rotating);

// snippet: partial-scores
// q [H][Sq][D] not rotated, k [H][Sk][D] rotated or not -> partial [chunks][H][Sq][pitch]
// grid (chunks, tiles of queries x tiles of keys, H), THREADS threads
// cost: a block multiplies 64 queries by 64 keys over 2 COUPLES dimensions, 16 sums per thread.
// Each element of q is read, and rotated, once per 64 keys; each element of k once per 64 queries
template <int COUPLES, bool rotate_keys>
__global__ void __launch_bounds__(THREADS, 1)
    partial_scores(const float *q, const float *k, const float *cosine, const float *sine,
                   float *partial, int Sq, int Sk, int D, int R, int pitch)
{
    const int width = 2 * COUPLES + PAD;
    __shared__ __align__(16) float query[TILE * width];
    __shared__ __align__(16) float key[TILE * width];
    const int key_tiles = (Sk + TILE - 1) / TILE;
    const int first_query = blockIdx.y / key_tiles * TILE;
    const int first_key = blockIdx.y % key_tiles * TILE;
    const int couple = blockIdx.x * COUPLES;
    const int64_t head = blockIdx.z;
    const int64_t angles = (int64_t)(Sk - Sq) * (R / 2);
    COUNT("Q rotations", threadIdx.x == 0 && couple == 0 ? min(TILE, Sq - first_query) : 0);
    COUNT("K rotations",
          rotate_keys && threadIdx.x == 0 && couple == 0 ? min(TILE, Sk - first_key) : 0);
    stage_couples<COUPLES>(q + head * Sq * D, cosine + angles, sine + angles, query, first_query,
                           Sq, couple, D, R, true);
    stage_couples<COUPLES>(k + head * Sk * D, cosine, sine, key, first_key, Sk, couple, D, R,
                           rotate_keys);
    __syncthreads();

    // Thread (x, y) of 16 x 16 has queries y + 16 i and keys x + 16 j. Lanes 2n and 2n + 1 have the
    // same x: they read the same 16 bytes of keys. Lanes 4n and 4n + 2 have the same y: they read
    // the same 16 bytes of queries. So a load takes half of the wavefronts (chapter 3).
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int x = lane / 2 % 8 + warp % 2 * 8;
    const int y = lane % 2 + lane / 16 * 2 + warp / 2 * 4;
    float sum[4][4] = {};
#pragma unroll 4
    for (int d = 0; d < 2 * COUPLES; d += 4) {
        float4 a[4], b[4];
        for (int i = 0; i < 4; i++) {
            a[i] = load_four(query + (y + 16 * i) * width + d);
            b[i] = load_four(key + (x + 16 * i) * width + d);
        }
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                sum[i][j] += dot_four(a[i], b[j]);
            }
        }
    }
    partial += ((int64_t)blockIdx.x * gridDim.z + head) * Sq * pitch;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            const int row = first_query + y + 16 * i;
            const int column = first_key + x + 16 * j;
            if (row < Sq && column < pitch) {
                partial[(int64_t)row * pitch + column] = sum[i][j];
            }
        }
    }
}
// end snippet: partial-scores

// snippet: stage-couples
// x [S][D] -> tile [TILE][2 COUPLES + PAD]. Copies TILE rows of x, from row `first` on. Of each row
// it copies COUPLES couples, from couple `couple` on. A row of the tile has the first members,
// then the second members, then PAD unused floats. Rotates if `rotating`. Zero beyond S or D.
// cost: all loads of a thread are in flight before it waits for the first
template <int COUPLES>
static __device__ void stage_couples(const float *x, const float *cosine, const float *sine,
                                     float *tile, int first, int S, int couple, int D, int R,
                                     bool rotating)
{
    const int MINE = TILE * COUPLES / THREADS;
    const int half = R / 2;
    const int t = couple + threadIdx.x % COUPLES;
    const int column = min(t, D / 2 - 1);
    const bool paired = column < half;
    float a[MINE], b[MINE], c[MINE], s[MINE];
#pragma unroll
    for (int i = 0; i < MINE; i++) {
        const int row = min(first + (threadIdx.x + i * THREADS) / COUPLES, S - 1);
        const float *p = x + (int64_t)row * D;
        a[i] = p[paired ? column : 2 * column];
        b[i] = p[paired ? column + half : 2 * column + 1];
        c[i] = 1.0f;
        s[i] = 0.0f;
        if (rotating && couple < half) {
            const int64_t angle = (int64_t)row * half + min(column, half - 1);
            COUNT("table loads", 2);
            c[i] = cosine[angle];
            s[i] = sine[angle];
        }
    }
#pragma unroll
    for (int i = 0; i < MINE; i++) {
        const int row = (threadIdx.x + i * THREADS) / COUPLES;
        const bool inside = first + row < S && t < D / 2;
        const bool rotate = rotating && paired;
        COUNT("element rotations", rotate && inside ? 2 : 0);
        float *y = tile + row * (2 * COUPLES + PAD) + threadIdx.x % COUPLES;
        // solution: rotate-couple -- a couple that is rotated, one that is not, one outside
        // hint: `y[0]` takes the first member of the couple and `y[COUPLES]` the second. What do
        //     they take in each of the three cases, and which two conditions, declared above, tell
        //     the cases apart?
        // hint: If rotate is true, the couple (a, b) becomes `(a c - b s, b c + a s)`; if not, it
        //     stays (a, b). If inside is false, both members are 0. `c[i]` and `s[i]` of a couple
        //     that is not rotated may be those of another couple, so they must not be used without
        //     rotate.
        // hint: Both elements are stored in every case, because the products read the whole tile.
        //     Declare the first member as
        //     `const float u = rotate ? a[i] * c[i] - b[i] * s[i] : a[i];` and the second one
        //     likewise, and then store each of them, or 0 if inside is false.
        const float u = rotate ? a[i] * c[i] - b[i] * s[i] : a[i];
        const float v = rotate ? b[i] * c[i] + a[i] * s[i] : b[i];
        y[0] = inside ? u : 0.0f;
        y[COUPLES] = inside ? v : 0.0f;
        // end solution: rotate-couple
    }
}
// end snippet: stage-couples

// snippet: softmax-partial
// partial [chunks][H][Sq][pitch], v [H][Sk][D] -> o [H][Sq][D]
// grid (D / COLUMNS, Sq / SOFTMAX_ROWS, H), THREADS threads. A thread has 4 columns, all of the
// block's queries, and the keys of its group. The sums of the groups are added in shared memory.
// dynamic shared memory: SOFTMAX_ROWS (keys + SHARES pitch) floats for probabilities and scores;
// then, in the same place, 4 SOFTMAX_ROWS THREADS floats for the sums of the groups
// cost: reads chunks SOFTMAX_ROWS pitch floats and Sk COLUMNS of v per block; Sk SOFTMAX_ROWS
// exponentials
template <int COLUMNS>
__global__ void __launch_bounds__(THREADS, 1)
    softmax_partial(const float *partial, const float *v, float *o, int chunks, int Sq, int Sk,
                    int D, int pitch, bool causal, float scale)
{
    const int ACROSS = COLUMNS / 4;
    const int GROUPS = THREADS / ACROSS;
    // loads in flight together: EARLY of values and BATCH of chunks, chosen for the timed cases
    const int EARLY = GROUPS < 8 ? 8 : 64 / GROUPS;
    const int BATCH = COLUMNS < 128 ? 4 : COLUMNS < 512 ? 8 : 16;
    extern __shared__ float shared[];
    float *probability = shared;
    const int keys = (Sk + TILE - 1) / TILE * TILE;
    float *score = shared + SOFTMAX_ROWS * keys;
    const int first = blockIdx.y * SOFTMAX_ROWS;
    const int rows = min(SOFTMAX_ROWS, Sq - first);
    const int64_t head = blockIdx.z;
    const int64_t stride = (int64_t)gridDim.z * Sq * pitch;
    const int group = threadIdx.x / ACROSS;
    const int column = blockIdx.x * COLUMNS + threadIdx.x % ACROSS * 4;
    partial += (head * Sq + first) * pitch;
    v += head * Sk * D + min(column, D - 4);
    o += (head * Sq + first) * D;

    float4 x[EARLY]; // the first values are in flight while the scores are added up
    load_values<EARLY, GROUPS>(v, x, group, Sk, D);
    add_chunks<BATCH>(partial, score, chunks, stride, rows, pitch);
    __syncthreads();
    for (int m = threadIdx.x / 32; m < SOFTMAX_ROWS; m += BUSY_WARPS) {
        const int visible = causal ? Sk - Sq + first + min(m, rows - 1) + 1 : Sk;
        softmax_of_shares(score, probability, m, visible, keys, pitch, scale);
    }
    __syncthreads();
    float4 out[SOFTMAX_ROWS] = {};
    probabilities_times_v<EARLY, GROUPS>(probability, v, x, out, group, Sk, D);
    __syncthreads(); // the probabilities have been read: their place takes the groups' sums
    join_groups<COLUMNS, GROUPS>(out, shared, o, blockIdx.x * COLUMNS, rows, D);
}
// end snippet: softmax-partial

static int couples_of(const kf_shape *s)
{
    return s->D > 512 ? 32 : s->D > 128 ? 16 : 8;
}

static int chunks_of(const kf_shape *s, int couples)
{
    return (s->D / 2 + couples - 1) / couples;
}

static int pitch_of(const kf_shape *s)
{
    return (s->Sk + 3) / 4 * 4;
}

template <int COUPLES, bool rotate_keys>
static void launch_partial(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int tiles = (s.Sq + TILE - 1) / TILE * ((s.Sk + TILE - 1) / TILE);
    partial_scores<COUPLES, rotate_keys>
        <<<dim3(chunks_of(&s, COUPLES), tiles, s.H), THREADS, 0, stream>>>(
            kf_f32(run, "q"), kf_f32(run, rotate_keys ? "k" : "k_rotated"), kf_f32(run, "cos"),
            kf_f32(run, "sin"), kf_f32(run, "partial"), s.Sq, s.Sk, s.D, s.R, pitch_of(&s));
    CUDA_CHECK_LAUNCH();
}

// Floats of shared memory per block.
static int scores_and_probabilities(const kf_shape *s)
{
    const int keys = (s->Sk + TILE - 1) / TILE * TILE;
    return SOFTMAX_ROWS * (keys + SHARES * pitch_of(s));
}

template <int COLUMNS>
static void launch_softmax(const kf_run *run, int chunks, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int pitch = pitch_of(&s);
    const int scores = scores_and_probabilities(&s);
    const int sums = SOFTMAX_ROWS * 4 * THREADS;
    const dim3 grid((s.D + COLUMNS - 1) / COLUMNS, (s.Sq + SOFTMAX_ROWS - 1) / SOFTMAX_ROWS, s.H);
    softmax_partial<COLUMNS><<<grid, THREADS, max(scores, sums) * sizeof(float), stream>>>(
        kf_f32(run, "partial"), kf_f32(run, "v"), kf_f32(run, "o"), chunks, s.Sq, s.Sk, s.D, pitch,
        s.causal, 1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}

template <bool rotate_keys, int COUPLES, int COLUMNS>
static void launch_tiles(const kf_run *run, cudaStream_t stream)
{
    if (!rotate_keys) {
        launch_rope_k(run, stream);
    }
    launch_partial<COUPLES, rotate_keys>(run, stream);
    launch_softmax<COLUMNS>(run, chunks_of(&run->shape, COUPLES), stream);
}

// A smaller D has a smaller tile, so that there are blocks for all multiprocessors.
template <bool rotate_keys>
static void launch_split(const kf_run *run, cudaStream_t stream)
{
    switch (couples_of(&run->shape)) {
    case 32:
        launch_tiles<rotate_keys, 32, 512>(run, stream);
        break;
    case 16:
        launch_tiles<rotate_keys, 16, 128>(run, stream);
        break;
    default:
        launch_tiles<rotate_keys, 8, 32>(run, stream);
    }
}

// --- Tables --------------------------------------------------------------------------------------

// Cases for split, whose blocks have at most the 48 KB of shared memory that need no request.
static bool in_shares(const kf_case *c)
{
    return ladder_wide_loads(c) && scores_and_probabilities(&c->shape) * sizeof(float) <= 48 * 1024;
}

static bool split_explains(const kf_case *c)
{
    return ladder_explains_wide_loads(c) && in_shares(c);
}

static void setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t partial[] = {chunks_of(&s, couples_of(&s)), s.H, s.Sq, pitch_of(&s)};
    ladder_setup(run);
    kf_scratch(run, "partial", "CHSK", KF_F32, partial);
}

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate,
     .block = THREADS},
    {.name = "reference-separate",
     .about = "q from global memory, the host waits after each kernel",
     .launch = launch_log_separate,
     .applies = ladder_explains_wide_loads,
     .block = THREADS},
    {.name = "reference-separate-float4",
     .about = "the same, 16 bytes per load in the dot product",
     .launch = launch_log_separate_float4,
     .applies = ladder_explains_wide_loads,
     .block = THREADS},
    {.name = "unstaged",
     .about = "reference-separate without the waiting",
     .launch = launch_unstaged,
     .applies = ladder_explains_wide_loads,
     .block = THREADS},
    {.name = "joined",
     .about = "separate, both rotations in one launch",
     .launch = launch_joined,
     .applies = ladder_explains_wide_loads,
     .block = THREADS},
    {.name = "hybrid",
     .about = "k rotated by its own kernel, q while it is staged",
     .launch = launch_by<hybrid>,
     .applies = ladder_explains_wide_loads,
     .block = THREADS},
    {.name = "v7",
     .about = "hybrid, 16 bytes per load in the dot product",
     .launch = launch_by<v7>,
     .applies = ladder_counts_wide_loads,
     .block = THREADS},
    {.name = "once",
     .about = "v7, one exponential per key instead of one per key and column",
     .launch = launch_by<once>,
     .applies = ladder_counts_wide_loads,
     .block = THREADS},
    {.name = "two-blocks",
     .about = "once with __launch_bounds__(256, 2)",
     .launch = launch_by<two_blocks>,
     .applies = ladder_explains_wide_loads,
     .block = THREADS},
    {.name = "busy",
     .about = "two-blocks, a warp per eight keys: all threads at work",
     .launch = launch_busy<1>,
     .applies = ladder_wide_loads},
    {.name = "busy-2",
     .about = "busy, two queries per block",
     .launch = launch_busy<2>,
     .applies = ladder_wide_loads},
    {.name = "split",
     .about = "D split over blocks, k rotated by its own kernel",
     .launch = launch_split<false>,
     .applies = in_shares},
    {.name = "split-once",
     .about = "split, each key rotated where it is staged",
     .launch = launch_split<true>,
     .applies = in_shares},
    {.name = "split-tiles",
     .about = "split-once with the tiles of D = 2048 at every D",
     .launch = launch_tiles<true, 32, 512>,
     .applies = split_explains},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}, {KF_CALL, KF_WARM}};

// A steep case whose scores fit into split's shared memory.
static const kf_case steep_split = {
    .name = "steep-split",
    .shape = {.H = 2, .Sq = 7, .Sk = 300, .D = 128, .R = 128, .causal = true},
    .flags = KF_VERIFY_ONLY | KF_STEEP};

// The ladder's cases and steep_split. Cases below D = 128 are not timed, because the log has none.
// A CPU skips the cases in between unless they are named.
static kf_case cases[LADDER_CASES + 1];

static const kf_question questions[] = {
    {.text = "The variant once computes one exponential per query and key. v7 computes it anew "
             "for each column. At D = 2048, how many times as many exponentials does v7 compute?",
     .figure = "exp",
     .case_name = "head",
     .variant = "v7",
     .over = "once"},
    {.text = "On the clock graph at D = 2048, how many times as fast is split-once as split (one "
             "more kernel, which rotates the keys)?",
     .figure = "median_us",
     .case_name = "D2048",
     .variant = "split",
     .over = "split-once"},
    {.text = "On the clock graph at D = 2048, how many us does a call of split-once take, whose "
             "blocks have all queries and keys of a head and 64 dimensions?",
     .figure = "median_us",
     .case_name = "D2048",
     .variant = "split-once",
     .unit = "us"},
};

int main(int argc, char **argv)
{
    cases[LADDER_CASES] = steep_split;
    for (int i = 0; i < LADDER_CASES; i++) {
        cases[i] = ladder_cases[i];
        const kf_shape s = cases[i].shape;
        const bool between = s.Sq == 64 && s.D > 8 && s.D < 128 && s.R == s.D;
        cases[i].flags |= (s.D < 128 ? KF_VERIFY_ONLY : 0) | (between ? KF_LARGE : 0);
    }
    const kf_program program = {
        .step = "14-fair-baseline",
        .title = "how much of V7's gain was fusion, and what the same shape allows",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = kf_attention_reference,
        .cost = kf_attention_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
