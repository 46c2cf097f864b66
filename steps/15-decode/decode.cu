/* 15-decode: one to four queries over a long cache, where fusion costs little
 *
 * Grows from: 14-fair-baseline
 * Profile: each --case 8k --case 8k-q4 --case 128k
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
 *          after the keys, and waited for it key by key (`fused-table-last`). Loaded first, the
 *          table costs next to nothing. `fused-computed` costs nothing at one query; at four, 8
 *          warps are too few to compute and wait. The first `separate` turned one head after the
 *          other, and the table had left the L2 by the next head (`separate-by-head`): a sixth
 *          slower at 32k. `fused-per-query` about ties at 4 queries. It lacks warps: neither L2 nor
 *          memory are short. See chapter 8.
 */
#include "cuda/decode_cases.cuh"
#include "cuda/resident_blocks.cuh"
#include "cuda/rope_angle.cuh"
#include "cuda/rotate_rows.cuh"
#include "cuda/row_pieces.cuh"
#include "problems/attention.h"
#include "problems/rope.h"

#include <math.h>

enum {
    THREADS = 256,
    MOST_SPLITS = 64,   // of the keys of a head
    BLOCKS_ON_A_CPU = 8 // so that counts are those of any CPU
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

// snippet: batch
// Cosines and sines of a lane's pairs, [WIDTH] each, for a row of k.
template <keys_are KEYS, int D, int WIDTH>
static __device__ __forceinline__ void angles_of(const decode &p, const lane_of<D> &mine, int at,
                                                 float (&c)[WIDTH], float (&s)[WIDTH])
{
    if (KEYS == TO_TURN_COMPUTED) {
        for (int e = 0; e < WIDTH; e++) {
            rope_cos_sin(p.pos0 + at, mine.frequency[e], &c[e], &s[e]);
        }
    } else {
        const int64_t angles = (int64_t)at * (p.R / 2) + mine.lane * WIDTH;
        COUNT("table loads", 2 * WIDTH);
        load(p.cosine + angles, c);
        load(p.sine + angles, s);
    }
}

// k and v [Sk][D] of a head -> key and value [AT_ONCE][SLOTS][WIDTH], a lane's pieces of rows
// first, first + `groups` and so on, the keys turned. All loads are under way at the same time.
template <keys_are KEYS, int D, int AT_ONCE, int SLOTS, int WIDTH>
static __device__ __forceinline__ void
load_batch(const decode &p, const lane_of<D> &mine, const float *k, const float *v, int first,
           int groups, float (&key)[AT_ONCE][SLOTS][WIDTH], float (&value)[AT_ONCE][SLOTS][WIDTH])
{
    float c[AT_ONCE][WIDTH];
    float s[AT_ONCE][WIDTH];
#pragma unroll
    for (int m = 0; m < AT_ONCE && KEYS == TO_TURN_TABLE_FIRST; m++) {
        if (mine.turns) {
            angles_of<KEYS>(p, mine, min(first + m * groups, p.Sk - 1), c[m], s[m]);
        }
    }
#pragma unroll
    for (int m = 0; m < AT_ONCE; m++) {
        // Past the end the last key is loaded again, and no query sees it.
        const int64_t at = (int64_t)min(first + m * groups, p.Sk - 1) * D;
        load_row(k + at, mine.column, key[m]);
        load_row(v + at, mine.column, value[m]);
    }
#pragma unroll
    for (int m = 0; m < AT_ONCE && KEYS != TURNED; m++) {
        // In the branch it would have nvcc make one branch of all, and load all of the table there.
        const int at = min(first + m * groups, p.Sk - 1);
        COUNT("K rotations", mine.lane == 0);
        if (mine.turns) {
            if (KEYS != TO_TURN_TABLE_FIRST) {
                angles_of<KEYS>(p, mine, at, c[m], s[m]);
            }
            turn(key[m][0], key[m][1], c[m], s[m]);
        }
    }
}
// end snippet: batch

// snippet: add
// What a group of lanes has summed up for one query.
template <int D>
struct summed_up {
    float largest; // of the scores
    float sum;     // of the weights, with it subtracted
    float out[row_of<D>::SLOTS][row_of<D>::WIDTH];
};

// score [AT_ONCE], value [AT_ONCE][SLOTS][WIDTH] -> added to q
// cost: an exponential a key, and one more
template <int D, int AT_ONCE, int SLOTS, int WIDTH>
static __device__ __forceinline__ void add_values(const float (&score)[AT_ONCE],
                                                  const float (&value)[AT_ONCE][SLOTS][WIDTH],
                                                  summed_up<D> *q)
{
    float most = q->largest;
#pragma unroll
    for (int m = 0; m < AT_ONCE; m++) {
        most = fmaxf(most, score[m]);
    }
    // solution: rescale -- what is summed up so far was weighted with q->largest subtracted
    const float before = weight_of(q->largest, most);
    q->largest = most;
    q->sum *= before;
    for (int n = 0; n < SLOTS; n++) {
        for (int e = 0; e < WIDTH; e++) {
            q->out[n][e] *= before;
        }
    }
    // end solution: rescale
#pragma unroll
    for (int m = 0; m < AT_ONCE; m++) {
        const float weight = weight_of(score[m], most);
        q->sum += weight;
        for (int n = 0; n < SLOTS; n++) {
            for (int e = 0; e < WIDTH; e++) {
                q->out[n][e] += weight * value[m][n][e];
            }
        }
    }
}
// end snippet: add

// snippet: attend
// q [H][Sq][D], k and v [H][Sk][D], cosine and sine [Sk][R/2]
// -> part [H][splits][Sq][D], stat [H][splits][Sq]
// grid (Sq / QUERIES, splits, H), THREADS threads
// A thread has pieces of AT_ONCE keys and values under way.
// cost: reads k and v once for QUERIES queries; one K rotation a key, where it turns keys
template <int D, int QUERIES, keys_are KEYS, int AT_ONCE>
__global__ void attend_share(const decode p)
{
    constexpr int WIDTH = row_of<D>::WIDTH;
    constexpr int LANES = row_of<D>::LANES;
    constexpr int SLOTS = row_of<D>::SLOTS;
    constexpr int GROUPS = THREADS / LANES;
    __shared__ float shared_part[GROUPS][QUERIES][D];
    __shared__ float2 shared_stat[GROUPS][QUERIES];
    const lane_of<D> mine = this_lane<D>(p.R, KEYS == TO_TURN_COMPUTED ? p.frequency : NULL);
    const int group = threadIdx.x / LANES;
    const int first_query = blockIdx.x * QUERIES;
    const int64_t head = blockIdx.z;
    const float *k = p.k + head * p.Sk * D;
    const float *v = p.v + head * p.Sk * D;

    float query[QUERIES][SLOTS][WIDTH];
    summed_up<D> so_far[QUERIES];
#pragma unroll
    for (int i = 0; i < QUERIES; i++) {
        so_far[i] = {};
        so_far[i].largest = -INFINITY;
        load_row(p.q + (head * p.Sq + first_query + i) * D, mine.column, query[i]);
        COUNT("Q rotations", p.R > 0 && threadIdx.x == 0);
        if (mine.turns) {
            float c[WIDTH];
            float s[WIDTH];
            angles_of<KEYS>(p, mine, p.Sk - p.Sq + first_query + i, c, s);
            turn(query[i][0], query[i][1], c, s);
        }
    }

    const int begin = blockIdx.y * p.share;
    const int end = min(begin + p.share, p.Sk);
    for (int first = begin + group; first - group < end; first += GROUPS * AT_ONCE) {
        float key[AT_ONCE][SLOTS][WIDTH];
        float value[AT_ONCE][SLOTS][WIDTH];
        load_batch<KEYS>(p, mine, k, v, first, GROUPS, key, value);
#pragma unroll
        for (int i = 0; i < QUERIES; i++) {
            const int visible = p.causal ? p.Sk - p.Sq + first_query + i + 1 : p.Sk;
            float score[AT_ONCE];
#pragma unroll
            for (int m = 0; m < AT_ONCE; m++) {
                const float dot = dot_of_rows<LANES>(query[i], key[m]);
                score[m] = first + m * GROUPS < visible ? dot * p.scale : -INFINITY;
            }
            add_values(score, value, &so_far[i]);
        }
    }

#pragma unroll
    for (int i = 0; i < QUERIES; i++) {
        store_row(so_far[i].out, mine.column, shared_part[group][i]);
        if (mine.lane == 0) {
            shared_stat[group][i] = make_float2(so_far[i].largest, so_far[i].sum);
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
// shares in whole steps of the kernel's loop, so that none ends early. Or shares of about `wanted`
// keys, if that is not 0.
static void share_keys(decode *p, int blocks, int heads, int step, int wanted)
{
    int splits = wanted > 0 ? p->Sk / wanted : blocks / heads;
    splits = splits < 1 ? 1 : splits > MOST_SPLITS ? MOST_SPLITS : splits;
    p->share = ((p->Sk + splits - 1) / splits + step - 1) / step * step;
    p->splits = (p->Sk + p->share - 1) / p->share;
}

template <int D, int QUERIES, keys_are KEYS, int AT_ONCE>
static void launch_of(const kf_run *run, decode p, int wanted, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int passes = s.Sq / QUERIES;
    void (*const kernel)(const decode) = attend_share<D, QUERIES, KEYS, AT_ONCE>;
    static const int blocks = resident_blocks(kernel, THREADS, 0, BLOCKS_ON_A_CPU); // asked once
    share_keys(&p, blocks, s.H * passes, THREADS / row_of<D>::LANES * AT_ONCE, wanted);
    attend_share<D, QUERIES, KEYS, AT_ONCE><<<dim3(passes, p.splits, s.H), THREADS, 0, stream>>>(p);
    CUDA_CHECK_LAUNCH();
    join_shares<<<dim3(s.Sq, s.H), D, 0, stream>>>(p.part, p.stat, kf_f32(run, "o"), p.splits, s.Sq,
                                                   D);
    CUDA_CHECK_LAUNCH();
}
// end snippet: splits

// Both kernels, QUERIES queries in a block.
template <int QUERIES, keys_are KEYS, int AT_ONCE>
static void launch_shares(const kf_run *run, const decode &p, int wanted, cudaStream_t stream)
{
    const bool wide = run->shape.D == 128;
    (wide ? launch_of<128, QUERIES, KEYS, AT_ONCE>
          : launch_of<80, QUERIES, KEYS, AT_ONCE>)(run, p, wanted, stream);
}

// All queries in a block.
template <keys_are KEYS>
static void launch_attention(const kf_run *run, const decode &p, cudaStream_t stream)
{
    const int Sq = run->shape.Sq;
    (Sq == 1   ? launch_shares<1, KEYS, 4>
     : Sq == 2 ? launch_shares<2, KEYS, 4>
               : launch_shares<4, KEYS, 4>)(run, p, 0, stream);
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

// snippet: variants
// All keys and queries turned by kernels of their own: what a cache of unturned keys needs.
template <bool by_head>
static void launch_separate(const kf_run *run, cudaStream_t stream)
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
    launch_shares<1, TO_TURN_TABLE_LAST, 4>(run, problem(run), 0, stream);
}

static void launch_fused_computed(const kf_run *run, cudaStream_t stream)
{
    launch_attention<TO_TURN_COMPUTED>(run, problem(run), stream);
}

// A block has one query, as in V1: every key is read and turned once a query.
template <int AT_ONCE, int wanted>
static void launch_fused_per_query(const kf_run *run, cudaStream_t stream)
{
    launch_shares<1, TO_TURN_TABLE_FIRST, AT_ONCE>(run, problem(run), wanted, stream);
}
// end snippet: variants

static bool several_queries(const kf_case *c)
{
    return c->shape.Sq > 1;
}

// More shares of 512 keys there cannot be.
static bool short_shares(const kf_case *c)
{
    return c->shape.Sq > 1 && c->shape.Sk <= 512 * MOST_SPLITS;
}

// Enough to see what these variants are there for.
static bool one_query_of_some(const kf_case *c)
{
    return c->shape.Sq == 1 && c->shape.D == c->shape.R && c->shape.Sk >= 2048 &&
           c->shape.Sk < 100000;
}

static void setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t part[] = {s.H, MOST_SPLITS, s.Sq, s.D};
    const int64_t stat[] = {s.H, MOST_SPLITS, s.Sq, 2};
    rotation_setup(run);
    kf_rope_cache(run);
    rope_frequency_table(run);
    kf_scratch(run, "part", "HPSD", KF_F32, part);
    kf_scratch(run, "stat", "HPSW", KF_F32, stat);
}

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on all of k, attention, join: four launches",
     .launch = launch_separate<false>},
    {.name = "separate-by-head",
     .about = "the same, k turned one head after the other",
     .launch = launch_separate<true>,
     .applies = one_query_of_some},
    {.name = "cached",
     .about = "k turned when it was appended: append, attention, join",
     .launch = launch_cached},
    {.name = "fused-table",
     .about = "k turned inside attention, from the table",
     .launch = launch_fused_table},
    {.name = "fused-table-last",
     .about = "the same, the table loaded after the keys",
     .launch = launch_fused_table_last,
     .applies = one_query_of_some},
    {.name = "fused-per-query",
     .about = "fused-table with a block for each query",
     .launch = launch_fused_per_query<4, 0>,
     .applies = several_queries},
    {.name = "fused-per-query-2",
     .about = "the same, two keys a thread under way in place of four",
     .launch = launch_fused_per_query<2, 0>,
     .applies = several_queries},
    {.name = "fused-per-query-short",
     .about = "and shares of 512 keys",
     .launch = launch_fused_per_query<2, 512>,
     .applies = short_shares},
    {.name = "fused-computed",
     .about = "k turned inside attention, angles computed",
     .launch = launch_fused_computed,
     .extra_error = rope_angle_error},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_COLD}};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "15-decode",
        .title = "one to four queries over a long cache, where fusion costs little",
        .cases = decode_cases,
        .n_cases = KF_COUNT_OF(decode_cases),
        .variants = variants,
        .n_variants = KF_COUNT_OF(variants),
        .setup = setup,
        .reference = kf_attention_reference,
        .cost = kf_attention_cost,
        .timings = timings,
        .n_timings = KF_COUNT_OF(timings),
    };
    return kf_main(&program, argc, argv);
}
