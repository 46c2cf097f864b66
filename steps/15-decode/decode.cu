/* 15-decode: one to four queries over a long cache, where fusion costs little
 *
 * Follows: 14-fair-baseline
 * Architecture: 75
 * Profile: each --case 8k --case 8k-q4 --case 128k
 *
 * Idea     A model that writes text has one new query, or a few, and a cache of all keys so far.
 *          Blocks share the keys of a head, and a second kernel joins what they leave. A block
 *          takes all the queries at once, so it reads each key once and rotates it once: the
 *          multiplier of S that sank V1 is 1 here.
 * Predict  k and v must be read. `separate` moves k three times: twice the time. `cached` reads k
 *          and v once, within 10% of the copy bandwidth. `fused-table` loads a float of the table
 *          for each of k, from the L2: slower by 10 to 20%. `fused-computed` computes while it
 *          waits: as fast as `cached`. `fused-per-query`, at 4 queries: slower than `separate`.
 * Outcome  `cached` reads at more than the copy bandwidth, and `separate` takes twice as long. The
 *          table costs next to nothing if it is loaded before the keys; after them, it costs what
 *          was predicted, for another reason (`fused-table-last`). Computed angles cost nothing at
 *          one query; at four they are behind, we think for want of warps. `fused-per-query` lacks
 *          warps: at 4 queries it is about level with `separate`. See chapter 8.
 */
#include "cuda/rope_angle.cuh"
#include "decode_args.cuh"
#include "rotate_rows.cuh"

enum {
    BATCH = 4,          // keys and values in flight per thread
    MOST_SPLITS = 64,   // shares of the keys of a head
    BLOCKS_ON_A_CPU = 8 // a constant, so that counts are the same on any CPU
};

// The partial result of a group of lanes for one query.
template <int D>
struct summed_up {
    float row_max = -INFINITY; // of the scores
    float row_sum = 0.0f;      // of the probabilities, with row_max subtracted
    chunks<D> out = {};
};

// snippet: attend
// q [H][Sq][D], k and v [H][Sk][D], cosine and sine [Sk][R/2]
// -> part [H][splits][Sq][D], stat [H][splits][Sq]
// grid (Sq / QUERIES, splits, H), THREADS threads
// cost: reads k, v and the tables once for QUERIES queries; one K rotation per key
template <int D, int QUERIES>
__global__ void attend_share(const decode_args a)
{
    constexpr int GROUPS = row_of<D>::GROUPS;
    __shared__ float part[GROUPS][QUERIES][D];
    __shared__ float2 stat[GROUPS][QUERIES];
    const block_share own = share_of_block(a, QUERIES);
    const lane_of<D> mine = this_lane<D>(a.R);
    const int group = threadIdx.x / row_of<D>::LANES;
    chunks<D> query[QUERIES];
    summed_up<D> so_far[QUERIES];

    rotate_queries(a, own, mine, query);
    for (int first = own.begin + group; first - group < own.end; first += GROUPS * BATCH) {
        chunks<D> key[BATCH];
        chunks<D> value[BATCH];
        rotate_keys(a, own, mine, first, key, value);
#pragma unroll
        for (int i = 0; i < QUERIES; i++) {
            float score[BATCH];
            score_keys(a, own, i, first, query[i], key, score);
            add_values(score, value, &so_far[i]);
        }
    }
    join_groups(a, own, mine, group, so_far, part, stat);
}
// end snippet: attend

// Functions that the kernel calls, in this order. (Templates may be called above their definition.)

// q [H][Sq][D] -> query [QUERIES], rotated
template <int D, int QUERIES>
static __device__ __forceinline__ void rotate_queries(const decode_args &a, const block_share &own,
                                                      const lane_of<D> &mine,
                                                      chunks<D> (&query)[QUERIES])
{
#pragma unroll
    for (int i = 0; i < QUERIES; i++) {
        load_row(a.q + (own.head * a.Sq + own.first_query + i) * D, mine, &query[i]);
        COUNT("Q rotations", a.R > 0 && threadIdx.x == 0);
        if (mine.rotates) {
            float c[row_of<D>::WIDTH];
            float s[row_of<D>::WIDTH];
            load_angles(a, mine, a.Sk - a.Sq + own.first_query + i, c, s);
            rotate(query[i].at[0], query[i].at[1], c, s);
        }
    }
}

// snippet: batch
// Cosines and sines of a lane's pairs in a row.
template <int D, int WIDTH>
static __device__ __forceinline__ void load_angles(const decode_args &a, const lane_of<D> &mine,
                                                   int row, float (&c)[WIDTH], float (&s)[WIDTH])
{
    const int64_t at = (int64_t)row * (a.R / 2) + mine.lane * WIDTH;
    COUNT("table loads", 2 * WIDTH);
    load(a.cosine + at, c);
    load(a.sine + at, s);
}

// k and v [H][Sk][D] -> key and value [N], of rows first, first + GROUPS and so on. Past the end
// the last row is loaded again; it is masked for all queries.
template <int D, int N>
static __device__ __forceinline__ void load_rows(const decode_args &a, const block_share &own,
                                                 const lane_of<D> &mine, int first,
                                                 chunks<D> (&key)[N], chunks<D> (&value)[N])
{
    const float *k = a.k + own.head * a.Sk * D;
    const float *v = a.v + own.head * a.Sk * D;
#pragma unroll
    for (int m = 0; m < N; m++) {
        const int64_t at = (int64_t)min(first + m * row_of<D>::GROUPS, a.Sk - 1) * D;
        load_row(k + at, mine, &key[m]);
        load_row(v + at, mine, &value[m]);
    }
}

// The same with rotated keys. All loads are in flight at the same time, those of the table first.
template <int D, int N>
static __device__ __forceinline__ void rotate_keys(const decode_args &a, const block_share &own,
                                                   const lane_of<D> &mine, int first,
                                                   chunks<D> (&key)[N], chunks<D> (&value)[N])
{
    float c[N][row_of<D>::WIDTH];
    float s[N][row_of<D>::WIDTH];
#pragma unroll
    for (int m = 0; m < N; m++) {
        if (mine.rotates) {
            load_angles(a, mine, min(first + m * row_of<D>::GROUPS, a.Sk - 1), c[m], s[m]);
        }
    }
    load_rows(a, own, mine, first, key, value);
#pragma unroll
    for (int m = 0; m < N; m++) {
        COUNT("K rotations", mine.lane == 0);
        if (mine.rotates) {
            rotate(key[m].at[0], key[m].at[1], c[m], s[m]);
        }
    }
}
// end snippet: batch

// query, key [N] of rows first, first + GROUPS and so on -> score [N] of the block's query i
template <int D, int N>
static __device__ __forceinline__ void score_keys(const decode_args &a, const block_share &own,
                                                  int i, int first, const chunks<D> &query,
                                                  const chunks<D> (&key)[N], float (&score)[N])
{
    const int visible = a.causal ? a.Sk - a.Sq + own.first_query + i + 1 : a.Sk;
#pragma unroll
    for (int m = 0; m < N; m++) {
        const float dot = dot_of_rows(query, key[m]);
        score[m] = first + m * row_of<D>::GROUPS < visible ? dot * a.scale : -INFINITY;
    }
}

// snippet: merge
// The factor of a partial result that has `mine` subtracted, when row_max is to be subtracted. If
// it has seen no key, both are minus infinity, and the factor is 0.
static __device__ __forceinline__ float exp_difference(float mine, float row_max)
{
    return exp2f(mine - (row_max == -INFINITY ? 0.0f : row_max));
}

// Parts p < n, stat [n][rows] and part [n][rows][D], both from this thread's element on -> returns
// the sum of all parts for that element, and sets *whole to their row_max and row_sum.
// cost: an exponential, 3 loads and 4 flops per part
static __device__ __forceinline__ float merge(const float2 *stat, const float *part, int n,
                                              int rows, int D, float2 *whole)
{
    float row_max = -INFINITY;
    float row_sum = 0.0f;
    float out = 0.0f;
    // solution: merge -- join the n parts: each had another maximum subtracted
    for (int p = 0; p < n; p++) {
        row_max = fmaxf(row_max, stat[p * rows].x);
    }
    for (int p = 0; p < n; p++) {
        const float2 mine = stat[p * rows];
        const float weight = exp_difference(mine.x, row_max);
        row_sum += weight * mine.y;
        out += weight * part[p * rows * D];
    }
    // end solution: merge
    *whole = make_float2(row_max, row_sum);
    return out;
}
// end snippet: merge

// snippet: add
// score [N], value [N] -> added to q
// cost: an exponential per key, and one more
template <int D, int N>
static __device__ __forceinline__ void add_values(const float (&score)[N],
                                                  const chunks<D> (&value)[N], summed_up<D> *q)
{
    float most = q->row_max;
#pragma unroll
    for (int m = 0; m < N; m++) {
        most = fmaxf(most, score[m]);
    }
    // solution: rescale -- what is summed up so far was weighted with q->row_max subtracted
    const float before = exp_difference(q->row_max, most);
    q->row_max = most;
    q->row_sum *= before;
    for (int n = 0; n < row_of<D>::SLOTS; n++) {
        for (int e = 0; e < row_of<D>::WIDTH; e++) {
            q->out.at[n][e] *= before;
        }
    }
    // end solution: rescale
#pragma unroll
    for (int m = 0; m < N; m++) {
        const float weight = exp_difference(score[m], most);
        q->row_sum += weight;
        for (int n = 0; n < row_of<D>::SLOTS; n++) {
            for (int e = 0; e < row_of<D>::WIDTH; e++) {
                q->out.at[n][e] += weight * value[m].at[n][e];
            }
        }
    }
}
// end snippet: add

// so_far [QUERIES] of each group, joined in shared memory -> the block's part and stat
template <int D, int QUERIES>
static __device__ __forceinline__ void
join_groups(const decode_args &a, const block_share &own, const lane_of<D> &mine, int group,
            const summed_up<D> (&so_far)[QUERIES], float (*part)[QUERIES][D],
            float2 (*stat)[QUERIES])
{
#pragma unroll
    for (int i = 0; i < QUERIES; i++) {
        store_row(so_far[i].out, mine, part[group][i]);
        if (mine.lane == 0) {
            stat[group][i] = make_float2(so_far[i].row_max, so_far[i].row_sum);
        }
    }
    __syncthreads();
    const int64_t to = (own.head * a.splits + blockIdx.y) * a.Sq + own.first_query;
    for (int t = threadIdx.x; t < QUERIES * D; t += THREADS) {
        const int i = t / D;
        const int d = t % D;
        float2 whole;
        a.part[to * D + t] =
            merge(&stat[0][i], &part[0][i][d], row_of<D>::GROUPS, QUERIES, D, &whole);
        if (d == 0) {
            a.stat[to + i] = whole;
        }
    }
}

// snippet: join
// part [H][splits][Sq][D], stat [H][splits][Sq] -> o [H][Sq][D]; grid (Sq, H), D threads
// cost: reads part once, and stat once per thread
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
// The number of blocks of the kernel that the device holds at a time. It depends on the kernel's
// registers and shared memory. The GPU is asked anew for each launch; in a graph this is not part
// of the time.
template <class kernel>
static int resident_blocks(kernel *of)
{
    int device, processors, on_each;
    if (kf_on_cpu()) {
        return BLOCKS_ON_A_CPU;
    }
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, of, THREADS, 0));
    return processors * on_each;
}

// As many blocks as the device holds at a time, so that none waits for another to end; and equal
// shares in whole iterations of the kernel's loop, so that none ends early. If a->share is given,
// shares have about as many keys. Returns the grid, with `queries` per block.
static dim3 share_keys(const kf_run *run, decode_args *a, int blocks, int queries, int step)
{
    const kf_shape s = run->shape;
    const int passes = s.Sq / queries;
    int splits = a->share > 0 ? s.Sk / a->share : blocks / (s.H * passes);
    splits = splits < 1 ? 1 : splits > MOST_SPLITS ? MOST_SPLITS : splits;
    a->share = ((s.Sk + splits - 1) / splits + step - 1) / step * step;
    a->splits = (s.Sk + a->share - 1) / a->share;
    return dim3(passes, a->splits, s.H);
}

static void launch_join(const kf_run *run, const decode_args &a, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    join_shares<<<dim3(s.Sq, s.H), s.D, 0, stream>>>(a.part, a.stat, kf_f32(run, "o"), a.splits,
                                                     s.Sq, s.D);
    CUDA_CHECK_LAUNCH();
}

template <int D, int QUERIES>
static void launch_shares(const kf_run *run, decode_args a, cudaStream_t stream)
{
    const int blocks = resident_blocks(attend_share<D, QUERIES>);
    const dim3 grid = share_keys(run, &a, blocks, QUERIES, row_of<D>::GROUPS * BATCH);
    attend_share<D, QUERIES><<<grid, THREADS, 0, stream>>>(a);
    CUDA_CHECK_LAUNCH();
    launch_join(run, a, stream);
}
// end snippet: splits

// Launchers for D = 80 and D = 128, with 1, 2 or 4 queries per block.
typedef void launcher(const kf_run *run, decode_args a, cudaStream_t stream);
typedef launcher *const launchers[2][3];

static launchers fused = {
    {launch_shares<80, 1>, launch_shares<80, 2>, launch_shares<80, 4>},
    {launch_shares<128, 1>, launch_shares<128, 2>, launch_shares<128, 4>},
};

// The launcher for the run's D. Another D, or another number of queries, ends the program.
static launcher *pick(launchers &from, const kf_run *run, int queries)
{
    const int D = run->shape.D;
    if ((D != 80 && D != 128) || (queries != 1 && queries != 2 && queries != 4)) {
        kf_die(KF_WRONG, "case %s: D = %d and %d queries; D of 80 or 128 and 1, 2 or 4 are right",
               run->c->name, D, queries);
    }
    return from[D == 128][queries / 2];
}

static void launch_fused_table(const kf_run *run, cudaStream_t stream)
{
    pick(fused, run, run->shape.Sq)(run, arguments(run), stream);
}

// A block has one query, as in V1: every key is read and rotated once per query.
static void launch_fused_per_query(const kf_run *run, cudaStream_t stream)
{
    pick(fused, run, 1)(run, arguments(run), stream);
}

// --- Variants that explain -----------------------------------------------------------------------

// How the kernel rotates keys: not at all, because they are rotated already; with cosines and sines
// loaded before the keys; loaded after the keys; or computed.
enum keys_are { ROTATED, TO_ROTATE, TO_ROTATE_TABLE_LAST, TO_ROTATE_COMPUTED };

// snippet: batch-by
// Cosines and sines of a lane's pairs in a row, computed or from the table.
template <keys_are KEYS, int D, int WIDTH>
static __device__ __forceinline__ void angles_by(const decode_args &a, const lane_of<D> &mine,
                                                 int pos0, const rope_frequency (&frequency)[WIDTH],
                                                 int row, float (&c)[WIDTH], float (&s)[WIDTH])
{
    if (KEYS == TO_ROTATE_COMPUTED) {
        for (int e = 0; e < WIDTH; e++) {
            rope_cos_sin(pos0 + row, frequency[e], &c[e], &s[e]);
        }
    } else {
        load_angles(a, mine, row, c, s);
    }
}

// As rotate_keys, in the way that KEYS says.
template <keys_are KEYS, int D, int N, int WIDTH>
static __device__ __forceinline__ void
rotate_keys_by(const decode_args &a, const block_share &own, const lane_of<D> &mine, int pos0,
               const rope_frequency (&frequency)[WIDTH], int first, chunks<D> (&key)[N],
               chunks<D> (&value)[N])
{
    if (KEYS == TO_ROTATE) {
        rotate_keys(a, own, mine, first, key, value);
        return;
    }
    load_rows(a, own, mine, first, key, value);
#pragma unroll
    for (int m = 0; m < N && KEYS != ROTATED; m++) {
        // Kept outside the branch: inside, nvcc merges the branches and hoists all table loads into
        // it.
        const int row = min(first + m * row_of<D>::GROUPS, a.Sk - 1);
        COUNT("K rotations", mine.lane == 0);
        if (mine.rotates) {
            float c[WIDTH];
            float s[WIDTH];
            angles_by<KEYS>(a, mine, pos0, frequency, row, c, s);
            rotate(key[m].at[0], key[m].at[1], c, s);
        }
    }
}
// end snippet: batch-by

// As attend_share, but rotates keys in the way that KEYS says, with N keys and values in flight per
// thread. Row 0 of the keys is at position pos0. frequencies [R/2] are used where angles are
// computed.
template <int D, int QUERIES, keys_are KEYS, int N>
__global__ void attend_share_by(const decode_args a, const rope_frequency *frequencies, int pos0)
{
    constexpr int WIDTH = row_of<D>::WIDTH;
    constexpr int GROUPS = row_of<D>::GROUPS;
    __shared__ float part[GROUPS][QUERIES][D];
    __shared__ float2 stat[GROUPS][QUERIES];
    const block_share own = share_of_block(a, QUERIES);
    const lane_of<D> mine = this_lane<D>(a.R);
    const int group = threadIdx.x / row_of<D>::LANES;
    chunks<D> query[QUERIES];
    summed_up<D> so_far[QUERIES];
    rope_frequency frequency[WIDTH];

    if (KEYS == TO_ROTATE_COMPUTED && mine.rotates) {
        for (int e = 0; e < WIDTH; e++) {
            frequency[e] = frequencies[mine.lane * WIDTH + e];
        }
    }
#pragma unroll
    for (int i = 0; i < QUERIES; i++) {
        load_row(a.q + (own.head * a.Sq + own.first_query + i) * D, mine, &query[i]);
        COUNT("Q rotations", a.R > 0 && threadIdx.x == 0);
        if (mine.rotates) {
            float c[WIDTH];
            float s[WIDTH];
            angles_by<KEYS>(a, mine, pos0, frequency, a.Sk - a.Sq + own.first_query + i, c, s);
            rotate(query[i].at[0], query[i].at[1], c, s);
        }
    }
    for (int first = own.begin + group; first - group < own.end; first += GROUPS * N) {
        chunks<D> key[N];
        chunks<D> value[N];
        rotate_keys_by<KEYS>(a, own, mine, pos0, frequency, first, key, value);
#pragma unroll
        for (int i = 0; i < QUERIES; i++) {
            float score[N];
            score_keys(a, own, i, first, query[i], key, score);
            add_values(score, value, &so_far[i]);
        }
    }
    join_groups(a, own, mine, group, so_far, part, stat);
}

template <int D, int QUERIES, keys_are KEYS, int N>
static void launch_shares_by(const kf_run *run, decode_args a, cudaStream_t stream)
{
    const int blocks = resident_blocks(attend_share_by<D, QUERIES, KEYS, N>);
    const dim3 grid = share_keys(run, &a, blocks, QUERIES, row_of<D>::GROUPS * N);
    attend_share_by<D, QUERIES, KEYS, N>
        <<<grid, THREADS, 0, stream>>>(a, rope_frequencies(run), run->shape.pos0);
    CUDA_CHECK_LAUNCH();
    launch_join(run, a, stream);
}

template <keys_are KEYS>
static launchers by = {
    {launch_shares_by<80, 1, KEYS, BATCH>, launch_shares_by<80, 2, KEYS, BATCH>,
     launch_shares_by<80, 4, KEYS, BATCH>},
    {launch_shares_by<128, 1, KEYS, BATCH>, launch_shares_by<128, 2, KEYS, BATCH>,
     launch_shares_by<128, 4, KEYS, BATCH>},
};

// The same for variants with one query per block.
template <keys_are KEYS, int N>
static launchers by_one = {{launch_shares_by<80, 1, KEYS, N>}, {launch_shares_by<128, 1, KEYS, N>}};

// Uses the launcher in `by` for the run's D, with all queries in a block.
template <keys_are KEYS>
static void launch_by(const kf_run *run, const decode_args &a, cudaStream_t stream)
{
    pick(by<KEYS>, run, run->shape.Sq)(run, a, stream);
}

// snippet: variants
// Separate kernels rotate all keys and queries, as a cache of unrotated keys needs.
template <grid_order order>
static void launch_separate(const kf_run *run, cudaStream_t stream)
{
    decode_args a = arguments(run);
    launch_rotate_q(run, order, stream);
    launch_rotate_k(run, "k_rotated", 0, order, stream);
    a.q = kf_f32(run, "q_rotated");
    a.k = kf_f32(run, "k_rotated");
    a.R = 0; // nothing is left to rotate
    launch_by<ROTATED>(run, a, stream);
}

// The cache holds rotated keys. The newest keys are rotated when they are appended.
static void launch_cached(const kf_run *run, cudaStream_t stream)
{
    decode_args a = arguments(run);
    launch_rotate_k(run, "k_cache", a.Sk - a.Sq, ROWS_FIRST, stream);
    a.k = kf_f32(run, "k_cache");
    launch_by<ROTATED>(run, a, stream);
}

static void launch_fused_table_last(const kf_run *run, cudaStream_t stream)
{
    pick(by_one<TO_ROTATE_TABLE_LAST, BATCH>, run, 1)(run, arguments(run), stream);
}

static void launch_fused_computed(const kf_run *run, cudaStream_t stream)
{
    launch_by<TO_ROTATE_COMPUTED>(run, arguments(run), stream);
}

// As fused-per-query, half as many keys in flight per thread, and shares of about `wanted` keys.
template <int wanted>
static void launch_fused_per_query_2(const kf_run *run, cudaStream_t stream)
{
    decode_args a = arguments(run);
    a.share = wanted;
    pick(by_one<TO_ROTATE, 2>, run, 1)(run, a, stream);
}
// end snippet: variants

// --- Tables --------------------------------------------------------------------------------------

// Three shapes of a head: 128 dimensions, all or half of them rotated; and 80 dimensions, 20 of
// them rotated. A case is named after its keys and queries, and its shape unless that is the first.
#define TIMED(label, queries, keys, dimensions, rotated)                                           \
    {                                                                                              \
        .name = label,                                                                             \
        .shape =                                                                                   \
            {.H = 32, .Sq = queries, .Sk = keys, .D = dimensions, .R = rotated, .causal = true},   \
        .flags = KF_LARGE | (keys < 100000 ? 0 : KF_MAY_NOT_FIT)                                   \
    }

// Cases of one length stand together. "count" is one head with equal shares. The others are odd: a
// smaller last share; the last position of a 131072-token context; a last share with fewer keys
// than queries, so that a query sees none of them; no mask. Shares of "steep" have two iterations
// on a CPU: the maximum of the second one corrects the sums of the first.
static const kf_case cases[] = {
    TIMED("1k", 1, 1024, 128, 128),
    TIMED("1k-q2", 2, 1024, 128, 128),
    TIMED("1k-q4", 4, 1024, 128, 128),
    TIMED("1k-R64", 1, 1024, 128, 64),
    TIMED("1k-D80", 1, 1024, 80, 20),
    TIMED("8k", 1, 8192, 128, 128),
    TIMED("8k-q2", 2, 8192, 128, 128),
    TIMED("8k-q4", 4, 8192, 128, 128),
    TIMED("8k-R64", 1, 8192, 128, 64),
    TIMED("8k-R64-q4", 4, 8192, 128, 64),
    TIMED("8k-D80", 1, 8192, 80, 20),
    TIMED("8k-D80-q4", 4, 8192, 80, 20),
    TIMED("32k", 1, 32768, 128, 128),
    TIMED("32k-q2", 2, 32768, 128, 128),
    TIMED("32k-q4", 4, 32768, 128, 128),
    TIMED("32k-R64", 1, 32768, 128, 64),
    TIMED("32k-D80", 1, 32768, 80, 20),
    TIMED("128k", 1, 131072, 128, 128),
    TIMED("128k-q2", 2, 131072, 128, 128),
    TIMED("128k-q4", 4, 131072, 128, 128),
    TIMED("128k-R64", 1, 131072, 128, 64),
    TIMED("128k-D80", 1, 131072, 80, 20),
    {.name = "count",
     .shape = {.Sk = 2048, .D = 128, .R = 128, .causal = true},
     .flags = KF_VERIFY_ONLY},
    {.name = "count-q4",
     .shape = {.Sq = 4, .Sk = 2048, .D = 128, .R = 128, .causal = true},
     .flags = KF_VERIFY_ONLY},
    {.name = "count-R64",
     .shape = {.Sk = 2048, .D = 128, .R = 64, .causal = true},
     .flags = KF_VERIFY_ONLY},
    {.name = "count-D80",
     .shape = {.Sk = 2048, .D = 80, .R = 20, .causal = true},
     .flags = KF_VERIFY_ONLY},
    {.name = "odd",
     .shape = {.H = 2, .Sk = 333, .D = 128, .R = 128, .causal = true},
     .flags = KF_VERIFY_ONLY},
    {.name = "far",
     .shape = {.H = 2, .Sq = 2, .Sk = 257, .D = 128, .R = 64, .causal = true, .pos0 = 130815},
     .flags = KF_VERIFY_ONLY},
    {.name = "far-D80",
     .shape = {.H = 2, .Sq = 4, .Sk = 515, .D = 80, .R = 20, .causal = true, .pos0 = 130557},
     .flags = KF_VERIFY_ONLY},
    {.name = "million", // positions on both sides of 2^20: shifting all alike changes no attention
     .shape =
         {.H = 2, .Sq = 2, .Sk = 133, .D = 128, .R = 128, .causal = true, .pos0 = (1 << 20) - 9},
     .flags = KF_VERIFY_ONLY},
    {.name = "tail",
     .shape = {.H = 2, .Sq = 4, .Sk = 130, .D = 128, .R = 128, .causal = true},
     .flags = KF_VERIFY_ONLY},
    {.name = "one", .shape = {.D = 80, .R = 20, .causal = true}, .flags = KF_VERIFY_ONLY},
    {.name = "four",
     .shape = {.H = 3, .Sq = 4, .Sk = 4, .D = 128, .R = 128, .causal = true, .pos0 = 131068},
     .flags = KF_VERIFY_ONLY},
    {.name = "unmasked",
     .shape = {.H = 2, .Sq = 2, .Sk = 77, .D = 80, .R = 20},
     .flags = KF_VERIFY_ONLY},
    {.name = "steep-one", // of one key, so that many largest scores are far below 0
     .shape = {.H = 64, .Sq = 1, .Sk = 1, .D = 80, .R = 20},
     .flags = KF_VERIFY_ONLY | KF_STEEP},
    {.name = "steep",
     .shape = {.H = 2, .Sk = 457, .D = 128, .R = 128, .causal = true},
     .flags = KF_VERIFY_ONLY | KF_STEEP},
};

static bool several_queries(const kf_case *c)
{
    return c->shape.Sq > 1;
}

// Cases with at most MOST_SPLITS shares of 512 keys.
static bool short_shares(const kf_case *c)
{
    return c->shape.Sq > 1 && c->shape.Sk <= 512 * MOST_SPLITS;
}

// Some cases with one query, enough to show what these variants explain.
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
     .launch = launch_separate<ROWS_FIRST>},
    {.name = "separate-by-head",
     .about = "the same, k rotated one head after the other",
     .launch = launch_separate<HEAD_BY_HEAD>,
     .applies = one_query_of_some},
    {.name = "cached",
     .about = "k rotated when it was appended: append, attention, join",
     .launch = launch_cached},
    {.name = "fused-table",
     .about = "k rotated inside attention, from the table",
     .launch = launch_fused_table},
    {.name = "fused-table-last",
     .about = "the same, the table loaded after the keys",
     .launch = launch_fused_table_last,
     .applies = one_query_of_some},
    {.name = "fused-per-query",
     .about = "fused-table with a block for each query",
     .launch = launch_fused_per_query,
     .applies = several_queries},
    {.name = "fused-per-query-2",
     .about = "the same, two keys a thread in flight in place of four",
     .launch = launch_fused_per_query_2<0>,
     .applies = several_queries},
    {.name = "fused-per-query-short",
     .about = "and shares of 512 keys",
     .launch = launch_fused_per_query_2<512>,
     .applies = short_shares},
    {.name = "fused-computed",
     .about = "k rotated inside attention, angles computed",
     .launch = launch_fused_computed,
     .extra_error = rope_angle_error},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_COLD}};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "15-decode",
        .title = "one to four queries over a long cache, where fusion costs little",
        .cases = cases,
        .n_cases = KF_COUNT_OF(cases),
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
