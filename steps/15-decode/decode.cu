/* 15-decode: one to four queries over a long cache, where fusion costs little
 *
 * Grows from: 14-fair-baseline
 *
 * Idea     A model that generates text has one new query, or a few, and a cache of all keys so far.
 *          Blocks share the keys of a head, each leaves a maximum, a sum and a weighted value, and
 *          a second kernel joins them. A block takes all the queries at once, so it reads each key
 *          once and, where it turns keys itself, turns each once: the multiplier of S that sank V1
 *          is 1 here.
 * Predict  k and v must be read: 1.07 GB at 32k keys. `separate` reads k, writes it, reads it again
 *          and reads v: twice the bytes, so twice the time. All the fused versions read k and v
 *          once. `cached` does nothing else, so it should come within 10% of the copy bandwidth.
 *          `fused-table` loads a float of the table for each float of k, from the L2: half as many
 *          bytes again between L2 and SMs, so slower by 10 to 20%. `fused-computed` has about 60
 *          more instructions a warp for each key, of the 220 for which there is time while a key
 *          comes from memory: as fast as `cached`. `fused-per-query` turns each key once a query
 *          and reads it again, mostly from the L2: at 4 queries slower than `separate`. At 1k
 *          keys, launches decide.
 * Outcome  `cached` reads at more than the copy bandwidth at 32k keys; `separate` takes twice as
 *          long. `fused-table` was slower as predicted, for another reason: it loaded the table
 *          after the keys, and waited twice (`fused-table-last`). Loaded first, the table costs
 *          next to nothing. `fused-computed` costs nothing at one query; at four, 8 warps are too
 *          few to compute and wait. The first `separate` turned one head after the other, and the
 *          table had left the L2 by the next head (`separate-by-head`): a sixth slower at 32k.
 *          `fused-per-query` about ties at 4 queries. It lacks warps: neither L2 nor memory are
 *          short. See chapter 8.
 */
#include "cuda/count.cuh"
#include "cuda/rope_angle.cuh"
#include "harness/harness.h"

#include <math.h>

enum {
    THREADS = 256,
    MOST_SPLITS = 64,   // of the keys of a head
    BLOCKS_ON_A_CPU = 8 // so that counts are those of any CPU
};

// How the lanes of a warp share rows of D floats. A group of LANES lanes has one row, each lane
// SLOTS pieces of it, WIDTH neighbouring floats each.
template <int D>
struct row_of {
    static constexpr int WIDTH = D == 80 ? 2 : 4;
    static constexpr int LANES = D == 80 ? 8 : 16;
    static constexpr int SLOTS = D / (LANES * WIDTH);
    static constexpr int GROUPS = THREADS / LANES;
};

// How a kernel finds the keys, and when it loads their cosines and sines if it turns them: before
// it loads the keys, or when they have come.
enum keys_are { TURNED, TO_TURN_TABLE_FIRST, TO_TURN_TABLE_LAST, TO_TURN_COMPUTED };

// Shapes as in kf_shape. The keys of a head are shared out among `splits` blocks, `share` each.
struct decode {
    const float *q, *k, *v, *cosine, *sine;
    const rope_frequency *frequency;
    float *part;  // [H][splits][Sq][D] weighted values, not divided yet
    float2 *stat; // [H][splits][Sq] the largest score and the sum of the weights
    int Sq, Sk, R, pos0, splits, share;
    bool causal;
    float scale; // of scores, in powers of 2
};

static __device__ __forceinline__ void load(const float *from, float (&to)[4])
{
    const float4 x = *reinterpret_cast<const float4 *>(from);
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
    to[3] = x.w;
}

static __device__ __forceinline__ void load(const float *from, float (&to)[2])
{
    const float2 x = *reinterpret_cast<const float2 *>(from);
    to[0] = x.x;
    to[1] = x.y;
}

static __device__ __forceinline__ void store(const float (&from)[4], float *to)
{
    *reinterpret_cast<float4 *>(to) = make_float4(from[0], from[1], from[2], from[3]);
}

static __device__ __forceinline__ void store(const float (&from)[2], float *to)
{
    *reinterpret_cast<float2 *>(to) = make_float2(from[0], from[1]);
}

template <int WIDTH>
static __device__ __forceinline__ void turn(float (&a)[WIDTH], float (&b)[WIDTH],
                                            const float (&c)[WIDTH], const float (&s)[WIDTH])
{
    COUNT("element rotations", 2 * WIDTH);
    for (int e = 0; e < WIDTH; e++) {
        const float x = a[e];
        a[e] = x * c[e] - b[e] * s[e];
        b[e] = b[e] * c[e] + x * s[e];
    }
}

// snippet: rotate-rows
// x [H][S][D], row r of which stands in row first + r of the tables -> y, rows begin to S - 1
// grid (H, any), or (any, H) if by_head; a thread a pair of pieces, or a piece that is not turned
// cost: 8 bytes an element, and the table, which other heads find in the L2
template <int WIDTH, bool is_key>
__global__ void rotate_rows(const float *x, const float *cosine, const float *sine, float *y, int S,
                            int begin, int first, int D, int R, bool by_head)
{
    const int pairs = R / 2 / WIDTH;
    const int pieces = D / WIDTH - pairs;
    const int64_t head = by_head ? blockIdx.y : blockIdx.x;
    const int t = (by_head ? blockIdx.x : blockIdx.y) * blockDim.x + threadIdx.x;
    const int row = begin + t / pieces;
    const int piece = t % pieces;
    if (row >= S) {
        return;
    }
    COUNT("K rotations", is_key && piece == 0);
    COUNT("Q rotations", !is_key && piece == 0);
    const int64_t at = (head * S + row) * D;
    float a[WIDTH];
    float b[WIDTH];
    load(x + at + (pairs + piece) * WIDTH, b);
    if (piece < pairs) {
        const int64_t angles = (int64_t)(first + row) * (R / 2) + piece * WIDTH;
        float c[WIDTH];
        float s[WIDTH];
        load(x + at + piece * WIDTH, a);
        load(cosine + angles, c);
        load(sine + angles, s);
        COUNT("table loads", 2 * WIDTH);
        turn(a, b, c, s);
        store(a, y + at + piece * WIDTH);
    }
    store(b, y + at + (pairs + piece) * WIDTH);
}
// end snippet: rotate-rows

// snippet: columns
// Which piece of a row is piece n of a lane: the two pieces of a pair fall to the same lane, so
// that it can turn them. Lanes beyond the pairs, and pieces 2 and up, have what is not turned.
static __device__ __forceinline__ int piece_of(int n, int lane, int lanes, int pairs)
{
    if (n == 0) {
        return lane < pairs ? lane : pairs + lane;
    }
    if (n == 1) {
        return lane < pairs ? pairs + lane : lanes + lane;
    }
    return n * lanes + lane;
}
// end snippet: columns

// snippet: merge
// The weight of what was summed up with `mine` subtracted, when `largest` is to be. Where no key
// was seen both are minus infinity, and the weight is 0.
static __device__ __forceinline__ float weight_of(float mine, float largest)
{
    return exp2f(mine - (largest == -INFINITY ? 0.0f : largest));
}

// Parts p < n, stat [n][rows] and part [n][rows][D], both handed over at the element wanted -> the
// weighted value of all, and in *whole their largest score and the sum of their weights.
// cost: an exponential, 3 loads and 4 flops a part
static __device__ __forceinline__ float merge(const float2 *stat, const float *part, int n,
                                              int rows, int D, float2 *whole)
{
    float largest = -INFINITY;
    float sum = 0.0f;
    float out = 0.0f;
    // solution: merge -- join the n parts: each had another maximum subtracted
    for (int p = 0; p < n; p++) {
        largest = fmaxf(largest, stat[p * rows].x);
    }
    for (int p = 0; p < n; p++) {
        const float2 mine = stat[p * rows];
        const float weight = weight_of(mine.x, largest);
        sum += weight * mine.y;
        out += weight * part[p * rows * D];
    }
    // end solution: merge
    *whole = make_float2(largest, sum);
    return out;
}
// end snippet: merge

// snippet: attend
// q [H][Sq][D], k and v [H][Sk][D], cosine and sine [Sk][R/2]
// -> part [H][splits][Sq][D], stat [H][splits][Sq]
// grid (Sq / QUERIES, splits, H), THREADS threads
// A thread has pieces of AT_ONCE keys and values under way.
// cost: reads k and v once for QUERIES queries; one K rotation a key, where it turns keys
template <int D, int QUERIES, keys_are KEYS, int AT_ONCE>
__global__ void attend_share(const decode p)
{
    typedef row_of<D> row;
    constexpr int WIDTH = row::WIDTH;
    constexpr int LANES = row::LANES;
    constexpr int SLOTS = row::SLOTS;
    constexpr int GROUPS = row::GROUPS;
    __shared__ float shared_part[GROUPS][QUERIES][D];
    __shared__ float2 shared_stat[GROUPS][QUERIES];
    const int lane = threadIdx.x % LANES;
    const int group = threadIdx.x / LANES;
    const int half = p.R / 2;
    const int pairs = half / WIDTH;
    const bool turns = lane < pairs;
    const int first_query = blockIdx.x * QUERIES;
    const int64_t head = blockIdx.z;
    const float *k = p.k + head * p.Sk * D;
    const float *v = p.v + head * p.Sk * D;

    int column[SLOTS];
    for (int n = 0; n < SLOTS; n++) {
        column[n] = piece_of(n, lane, LANES, pairs) * WIDTH;
    }
    rope_frequency frequency[WIDTH] = {};
    for (int e = 0; e < WIDTH && turns && KEYS == TO_TURN_COMPUTED; e++) {
        frequency[e] = p.frequency[lane * WIDTH + e];
    }
    // Cosines and sines of this lane's pairs for a row of k.
    auto angles_of = [&](int at, float(&c)[WIDTH], float(&s)[WIDTH]) {
        if (KEYS == TO_TURN_COMPUTED) {
            for (int e = 0; e < WIDTH; e++) {
                rope_cos_sin(p.pos0 + at, frequency[e], &c[e], &s[e]);
            }
        } else {
            COUNT("table loads", 2 * WIDTH);
            load(p.cosine + (int64_t)at * half + lane * WIDTH, c);
            load(p.sine + (int64_t)at * half + lane * WIDTH, s);
        }
    };

    float query[QUERIES][SLOTS][WIDTH];
#pragma unroll
    for (int i = 0; i < QUERIES; i++) {
        const float *from = p.q + (head * p.Sq + first_query + i) * D;
        for (int n = 0; n < SLOTS; n++) {
            load(from + column[n], query[i][n]);
        }
        COUNT("Q rotations", p.R > 0 && threadIdx.x == 0);
        if (turns) {
            float c[WIDTH];
            float s[WIDTH];
            angles_of(p.Sk - p.Sq + first_query + i, c, s);
            turn(query[i][0], query[i][1], c, s);
        }
    }

    float largest[QUERIES];
    float sum[QUERIES];
    float out[QUERIES][SLOTS][WIDTH];
#pragma unroll
    for (int i = 0; i < QUERIES; i++) {
        largest[i] = -INFINITY;
        sum[i] = 0.0f;
        for (int n = 0; n < SLOTS; n++) {
            for (int e = 0; e < WIDTH; e++) {
                out[i][n][e] = 0.0f;
            }
        }
    }

    const int begin = blockIdx.y * p.share;
    const int end = min(begin + p.share, p.Sk);
    for (int first = begin + group; first - group < end; first += GROUPS * AT_ONCE) {
        float key[AT_ONCE][SLOTS][WIDTH];
        float value[AT_ONCE][SLOTS][WIDTH];
        float c[AT_ONCE][WIDTH];
        float s[AT_ONCE][WIDTH];
#pragma unroll
        for (int m = 0; m < AT_ONCE && KEYS == TO_TURN_TABLE_FIRST; m++) {
            if (turns) {
                angles_of(min(first + m * GROUPS, p.Sk - 1), c[m], s[m]);
            }
        }
#pragma unroll
        for (int m = 0; m < AT_ONCE; m++) {
            // Past the end the last key is loaded again, and not visible below.
            const int64_t at = (int64_t)min(first + m * GROUPS, p.Sk - 1) * D;
            for (int n = 0; n < SLOTS; n++) {
                load(k + at + column[n], key[m][n]);
            }
            for (int n = 0; n < SLOTS; n++) {
                load(v + at + column[n], value[m][n]);
            }
        }
#pragma unroll
        for (int m = 0; m < AT_ONCE && KEYS != TURNED; m++) {
            const int at = min(first + m * GROUPS, p.Sk - 1);
            COUNT("K rotations", lane == 0);
            if (turns) {
                if (KEYS != TO_TURN_TABLE_FIRST) {
                    angles_of(at, c[m], s[m]);
                }
                turn(key[m][0], key[m][1], c[m], s[m]);
            }
        }
#pragma unroll
        for (int i = 0; i < QUERIES; i++) {
            const int visible = p.causal ? p.Sk - p.Sq + first_query + i + 1 : p.Sk;
            float score[AT_ONCE];
            float most = largest[i];
#pragma unroll
            for (int m = 0; m < AT_ONCE; m++) {
                float dot = 0.0f;
                for (int n = 0; n < SLOTS; n++) {
                    for (int e = 0; e < WIDTH; e++) {
                        dot += query[i][n][e] * key[m][n][e];
                    }
                }
                for (int bit = LANES / 2; bit > 0; bit /= 2) {
                    dot += __shfl_xor_sync(0xffffffffu, dot, bit);
                }
                score[m] = first + m * GROUPS < visible ? dot * p.scale : -INFINITY;
                most = fmaxf(most, score[m]);
            }
            // solution: rescale -- what is summed up so far was weighted with largest[i] subtracted
            const float before = weight_of(largest[i], most);
            largest[i] = most;
            sum[i] *= before;
            for (int n = 0; n < SLOTS; n++) {
                for (int e = 0; e < WIDTH; e++) {
                    out[i][n][e] *= before;
                }
            }
            // end solution: rescale
#pragma unroll
            for (int m = 0; m < AT_ONCE; m++) {
                const float weight = weight_of(score[m], most);
                sum[i] += weight;
                for (int n = 0; n < SLOTS; n++) {
                    for (int e = 0; e < WIDTH; e++) {
                        out[i][n][e] += weight * value[m][n][e];
                    }
                }
            }
        }
    }

#pragma unroll
    for (int i = 0; i < QUERIES; i++) {
        for (int n = 0; n < SLOTS; n++) {
            store(out[i][n], &shared_part[group][i][column[n]]);
        }
        if (lane == 0) {
            shared_stat[group][i] = make_float2(largest[i], sum[i]);
        }
    }
    __syncthreads();
    const int64_t to = (head * p.splits + blockIdx.y) * p.Sq + first_query;
    for (int t = threadIdx.x; t < QUERIES * D; t += THREADS) {
        const int i = t / D;
        const int d = t % D;
        float2 whole;
        p.part[to * D + t] =
            merge(&shared_stat[0][i], &shared_part[0][i][d], GROUPS, QUERIES, D, &whole);
        if (d == 0) {
            p.stat[to + i] = whole;
        }
    }
}
// end snippet: attend

// snippet: join
// part [H][splits][Sq][D], stat [H][splits][Sq] -> o [H][Sq][D]; grid (Sq, H), D threads
// cost: reads part once and stat once a thread
__global__ void join_shares(const float *part, const float2 *stat, float *o, int splits, int Sq,
                            int D)
{
    const int64_t at = (int64_t)blockIdx.y * splits * Sq + blockIdx.x;
    float2 whole;
    const float out = merge(stat + at, part + at * D + threadIdx.x, splits, Sq, D, &whole);
    o[((int64_t)blockIdx.y * Sq + blockIdx.x) * D + threadIdx.x] = out / whole.y;
}
// end snippet: join

// snippet: splits
// As many blocks as the device holds at a time, so that none waits for another to end, and equal
// shares in whole steps, so that none ends early. Or shares of about `wanted` keys, if that is not
// 0.
template <int D, int QUERIES, keys_are KEYS, int AT_ONCE>
static void share_keys(decode *p, int heads, int wanted)
{
    static int blocks; // the same for every call: asked for once
    if (blocks == 0 && kf_on_cpu()) {
        blocks = BLOCKS_ON_A_CPU;
    } else if (blocks == 0) {
        int device, processors, on_each;
        CUDA_CHECK(cudaGetDevice(&device));
        CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
        CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &on_each, attend_share<D, QUERIES, KEYS, AT_ONCE>, THREADS, 0));
        blocks = processors * on_each;
    }
    const int step = row_of<D>::GROUPS * AT_ONCE;
    int splits = wanted > 0 ? p->Sk / wanted : blocks / heads;
    splits = splits < 1 ? 1 : splits > MOST_SPLITS ? MOST_SPLITS : splits;
    p->share = ((p->Sk + splits - 1) / splits + step - 1) / step * step;
    p->splits = (p->Sk + p->share - 1) / p->share;
}
// end snippet: splits

template <int D, int QUERIES, keys_are KEYS, int AT_ONCE>
static void launch_shares(const kf_run *run, decode p, int wanted, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int passes = s.Sq / QUERIES;
    share_keys<D, QUERIES, KEYS, AT_ONCE>(&p, s.H * passes, wanted);
    attend_share<D, QUERIES, KEYS, AT_ONCE><<<dim3(passes, p.splits, s.H), THREADS, 0, stream>>>(p);
    CUDA_CHECK_LAUNCH();
    join_shares<<<dim3(s.Sq, s.H), D, 0, stream>>>(p.part, p.stat, kf_f32(run, "o"), p.splits, s.Sq,
                                                   D);
    CUDA_CHECK_LAUNCH();
}

// Attention over the keys in k, turned already or to be turned, all queries in a block.
template <keys_are KEYS>
static void launch_attention(const kf_run *run, const decode &p, cudaStream_t stream)
{
    const bool wide = run->shape.D == 128;
    switch (run->shape.Sq) {
    case 1:
        (wide ? launch_shares<128, 1, KEYS, 4> : launch_shares<80, 1, KEYS, 4>)(run, p, 0, stream);
        break;
    case 2:
        (wide ? launch_shares<128, 2, KEYS, 4> : launch_shares<80, 2, KEYS, 4>)(run, p, 0, stream);
        break;
    default:
        (wide ? launch_shares<128, 4, KEYS, 4> : launch_shares<80, 4, KEYS, 4>)(run, p, 0, stream);
    }
}

static decode problem(const kf_run *run)
{
    const kf_shape s = run->shape;
    decode p = {};
    p.q = kf_f32(run, "q");
    p.k = kf_f32(run, "k");
    p.v = kf_f32(run, "v");
    p.cosine = kf_f32(run, "cos");
    p.sine = kf_f32(run, "sin");
    p.frequency = rope_frequencies(run);
    p.part = kf_f32(run, "part");
    p.stat = reinterpret_cast<float2 *>(kf_f32(run, "stat"));
    p.Sq = s.Sq;
    p.Sk = s.Sk;
    p.R = s.R;
    p.pos0 = s.pos0;
    p.causal = s.causal;
    p.scale = 1.4426950408889634f / sqrtf((float)s.D);
    return p;
}

template <int D, bool is_key>
static void launch_rows(const kf_run *run, const char *x, const char *y, int S, int begin,
                        int first, bool by_head, cudaStream_t stream)
{
    const int WIDTH = row_of<D>::WIDTH;
    const int R = run->shape.R;
    const int H = run->shape.H;
    const int work = (S - begin) * (D / WIDTH - R / 2 / WIDTH);
    const int blocks = (work + THREADS - 1) / THREADS;
    rotate_rows<WIDTH, is_key><<<by_head ? dim3(blocks, H) : dim3(H, blocks), THREADS, 0, stream>>>(
        kf_f32(run, x), kf_f32(run, "cos"), kf_f32(run, "sin"), kf_f32(run, y), S, begin, first, D,
        R, by_head);
    CUDA_CHECK_LAUNCH();
}

// Rows begin to S - 1 of each head of x, turned, into y: all heads of a row, then the next row, or
// one head after the other.
template <bool is_key>
static void launch_rotation(const kf_run *run, const char *x, const char *y, int S, int begin,
                            int first, bool by_head, cudaStream_t stream)
{
    const bool wide = run->shape.D == 128;
    (wide ? launch_rows<128, is_key> : launch_rows<80, is_key>)(run, x, y, S, begin, first, by_head,
                                                                stream);
}

// snippet: variants
// All keys and queries turned by kernels of their own: what a cache of unturned keys needs.
static void rotate_then_attend(const kf_run *run, bool by_head, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    decode p = problem(run);
    launch_rotation<false>(run, "q", "q_turned", s.Sq, 0, s.Sk - s.Sq, by_head, stream);
    launch_rotation<true>(run, "k", "k_turned", s.Sk, 0, 0, by_head, stream);
    p.q = kf_f32(run, "q_turned");
    p.k = kf_f32(run, "k_turned");
    p.R = 0; // nothing is left to turn
    launch_attention<TURNED>(run, p, stream);
}

static void launch_separate(const kf_run *run, cudaStream_t stream)
{
    rotate_then_attend(run, false, stream);
}

static void launch_separate_by_head(const kf_run *run, cudaStream_t stream)
{
    rotate_then_attend(run, true, stream);
}

// The cache holds turned keys. The newest are turned as they are appended.
static void launch_cached(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    decode p = problem(run);
    launch_rotation<true>(run, "k", "k_cache", s.Sk, s.Sk - s.Sq, 0, false, stream);
    p.k = kf_f32(run, "k_cache");
    launch_attention<TURNED>(run, p, stream);
}

static void launch_fused_table(const kf_run *run, cudaStream_t stream)
{
    launch_attention<TO_TURN_TABLE_FIRST>(run, problem(run), stream);
}

// The same, but the table is read when the keys have come.
static void launch_fused_table_last(const kf_run *run, cudaStream_t stream)
{
    const bool wide = run->shape.D == 128;
    (wide ? launch_shares<128, 1, TO_TURN_TABLE_LAST, 4>
          : launch_shares<80, 1, TO_TURN_TABLE_LAST, 4>)(run, problem(run), 0, stream);
}

static void launch_fused_computed(const kf_run *run, cudaStream_t stream)
{
    launch_attention<TO_TURN_COMPUTED>(run, problem(run), stream);
}

// A block has one query, as in V1: every key is read and turned once a query.
template <int AT_ONCE, int wanted>
static void launch_fused_per_query(const kf_run *run, cudaStream_t stream)
{
    const bool wide = run->shape.D == 128;
    (wide ? launch_shares<128, 1, TO_TURN_TABLE_FIRST, AT_ONCE>
          : launch_shares<80, 1, TO_TURN_TABLE_FIRST, AT_ONCE>)(run, problem(run), wanted, stream);
}
// end snippet: variants

static bool several_queries(const kf_shape *shape)
{
    return shape->Sq > 1;
}

// Enough to see what these variants are there for.
static bool one_query_of_some(const kf_shape *shape)
{
    return shape->Sq == 1 && shape->D == shape->R && shape->Sk >= 2048 && shape->Sk < 100000;
}

static void setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t q[] = {s.B, s.H, s.Sq, s.D};
    const int64_t k[] = {s.B, s.H, s.Sk, s.D};
    const int64_t part[] = {s.H, MOST_SPLITS, s.Sq, s.D};
    const int64_t stat[] = {s.H, MOST_SPLITS, s.Sq, 2};
    kf_attention_setup(run);
    kf_rope_tables(run);
    kf_rope_cache(run);
    rope_frequency_table(run);
    kf_scratch(run, "q_turned", "BHSD", KF_F32, q);
    kf_scratch(run, "k_turned", "BHSD", KF_F32, k);
    kf_scratch(run, "part", "HPSD", KF_F32, part);
    kf_scratch(run, "stat", "HPSW", KF_F32, stat);
}

// Named after keys and queries, and after the model where only a part is turned.
static const kf_case cases[] = {
    {"1k", {1, 32, 1, 1024, 128, 128, true, 0}, KF_LARGE},
    {"1k-q2", {1, 32, 2, 1024, 128, 128, true, 0}, KF_LARGE},
    {"1k-q4", {1, 32, 4, 1024, 128, 128, true, 0}, KF_LARGE},
    {"4k", {1, 32, 1, 4096, 128, 128, true, 0}, KF_LARGE},
    {"8k", {1, 32, 1, 8192, 128, 128, true, 0}, KF_LARGE},
    {"8k-q2", {1, 32, 2, 8192, 128, 128, true, 0}, KF_LARGE},
    {"8k-q4", {1, 32, 4, 8192, 128, 128, true, 0}, KF_LARGE},
    {"8k-R64", {1, 32, 1, 8192, 128, 64, true, 0}, KF_LARGE},
    {"8k-D80", {1, 32, 1, 8192, 80, 20, true, 0}, KF_LARGE},
    {"32k", {1, 32, 1, 32768, 128, 128, true, 0}, KF_LARGE},
    {"32k-q4", {1, 32, 4, 32768, 128, 128, true, 0}, KF_LARGE},
    {"32k-D80", {1, 32, 1, 32768, 80, 20, true, 0}, KF_LARGE},
    {"128k-H8", {1, 8, 1, 131072, 128, 128, true, 0}, KF_LARGE},
    // To be counted: shares without a rest, one head.
    {"count", {1, 1, 1, 2048, 128, 128, true, 0}, KF_VERIFY_ONLY},
    {"count-q4", {1, 1, 4, 2048, 128, 128, true, 0}, KF_VERIFY_ONLY},
    {"count-R64", {1, 1, 1, 2048, 128, 64, true, 0}, KF_VERIFY_ONLY},
    {"count-D80", {1, 1, 1, 2048, 80, 20, true, 0}, KF_VERIFY_ONLY},
    // Odd: shares with a rest, the last position of a 131072-token context, a last share with fewer
    // keys than queries, so that a query sees none of them, and no mask.
    {"odd", {1, 2, 1, 333, 128, 128, true, 0}, KF_VERIFY_ONLY},
    {"far", {1, 2, 2, 257, 128, 64, true, 130815}, KF_VERIFY_ONLY},
    {"far-D80", {1, 2, 4, 515, 80, 20, true, 130557}, KF_VERIFY_ONLY},
    {"tail", {1, 2, 4, 130, 128, 128, true, 0}, KF_VERIFY_ONLY},
    {"one", {1, 1, 1, 1, 80, 20, true, 0}, KF_VERIFY_ONLY},
    {"four", {1, 3, 4, 4, 128, 128, true, 131068}, KF_VERIFY_ONLY},
    {"unmasked", {1, 2, 2, 77, 80, 20, false, 0}, KF_VERIFY_ONLY},
    {"steep", {1, 2, 1, 199, 128, 128, true, 0}, KF_VERIFY_ONLY | KF_STEEP},
};

static const kf_variant variants[] = {
    {"separate", "RoPE on q, RoPE on all of k, attention, join: four launches", launch_separate,
     NULL, 0, NULL},
    {"separate-by-head", "the same, k turned one head after the other", launch_separate_by_head,
     one_query_of_some, 0, NULL},
    {"cached", "k turned when it was appended: append, attention, join", launch_cached, NULL, 0,
     NULL},
    {"fused-table", "k turned inside attention, from the table", launch_fused_table, NULL, 0, NULL},
    {"fused-table-last", "the same, the table loaded after the keys", launch_fused_table_last,
     one_query_of_some, 0, NULL},
    {"fused-per-query", "fused-table with a block for each query", launch_fused_per_query<4, 0>,
     several_queries, 0, NULL},
    {"fused-per-query-2", "the same, two keys a thread under way in place of four",
     launch_fused_per_query<2, 0>, several_queries, 0, NULL},
    {"fused-per-query-short", "and shares of 512 keys", launch_fused_per_query<2, 512>,
     several_queries, 0, NULL},
    {"fused-computed", "k turned inside attention, angles computed", launch_fused_computed, NULL, 0,
     NULL, NULL, rope_angle_error},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_COLD}, {KF_STREAM, KF_WARM}};

int main(int argc, char **argv)
{
    const kf_program program = {"15-decode",
                                "one to four queries over a long cache, where fusion costs little",
                                KF_LIST(cases),
                                KF_LIST(variants),
                                setup,
                                kf_attention_reference,
                                kf_attention_cost,
                                KF_LIST(timings)};
    return kf_main(&program, argc, argv);
}
