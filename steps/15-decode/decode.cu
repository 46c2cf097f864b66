/* 15-decode: one to four queries over a long cache, where fusion costs little
 *
 * Follows: 14-fair-baseline
 * Architecture: 75
 * Profile: each --case 8k --case 8k-q4 --case 128k
 *
 * Idea     A decode step has one new query per head, or a few, and a cache of all keys so far.
 *          Blocks share the keys of a head, and a second kernel joins their results. A block has
 *          all queries, so it rotates each key once, as `separate` does. A rung is a file, a to d.
 * Predict  32k keys: `cached` reads k and v, 229 us. `separate` also copies k: 480 us. The L2 needs
 *          179 us for the loads of `fused-table`, and an SM has issue slots left for the angles of
 *          `fused-computed`: both as fast as `cached`, at one query and at four.
 *          `fused-per-query` reads 4 times through the L2 at 4 queries, 715 us: slower than
 *          `separate`.
 * Outcome  At one query as predicted. At four queries `fused-computed` is slower than predicted,
 *          we think because it has too few warps. `fused-per-query` is as fast as `separate`: the
 *          L2 is not its limit. `fused-table-last` loads the bytes of `fused-table`, but it is
 *          slower. See chapter 8.
 */
#include "a-rotated.cuh"
#include "b-table.cuh"
#include "c-table-last.cuh"
#include "d-computed.cuh"
#include "rotate_rows.cuh"

// A rung's kernels for D = 80 and D = 128, with 1, 2 or 4 queries per block.
typedef attend_kernel *const kernels[2][3];

static kernels rotated_keys = {
    {rotated::attend_share<80, 1>, rotated::attend_share<80, 2>, rotated::attend_share<80, 4>},
    {rotated::attend_share<128, 1>, rotated::attend_share<128, 2>, rotated::attend_share<128, 4>},
};
static kernels from_table = {
    {table::attend_share<80, 1>, table::attend_share<80, 2>, table::attend_share<80, 4>},
    {table::attend_share<128, 1>, table::attend_share<128, 2>, table::attend_share<128, 4>},
};
static kernels two_at_a_time = {{table::attend_share<80, 1, 2>}, {table::attend_share<128, 1, 2>}};
static kernels from_table_last = {{table_last::attend_share<80, 1>},
                                  {table_last::attend_share<128, 1>}};
static kernels from_frequencies = {
    {computed::attend_share<80, 1>, computed::attend_share<80, 2>, computed::attend_share<80, 4>},
    {computed::attend_share<128, 1>, computed::attend_share<128, 2>,
     computed::attend_share<128, 4>},
};

// Attention with `queries` per block and `keys` in flight per thread, then the join of all shares.
static void attend(const kf_run *run, decode_args a, kernels &of, int queries, int keys,
                   cudaStream_t stream)
{
    const kf_shape s = run->shape;
    if ((s.D != 80 && s.D != 128) || (queries != 1 && queries != 2 && queries != 4)) {
        kf_die(KF_WRONG, "case %s: D = %d and %d queries; D of 80 or 128 and 1, 2 or 4 are right",
               run->c->name, s.D, queries);
    }
    attend_kernel *attend_share = of[s.D == 128][queries / 2]; // column of 1, 2, 4: 0, 1, 2
    const int groups = s.D == 80 ? row_layout<80>::GROUPS : row_layout<128>::GROUPS;
    const int blocks = resident_blocks(attend_share);
    const dim3 grid = share_keys(run, &a, blocks, queries, groups * keys);
    attend_share<<<grid, THREADS, 0, stream>>>(a);
    CUDA_CHECK_LAUNCH();
    join_shares<<<dim3(s.Sq, s.H), s.D, 0, stream>>>(a.part, a.stat, kf_f32(run, "o"), a.splits,
                                                     s.Sq, s.D);
    CUDA_CHECK_LAUNCH();
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
    attend(run, a, rotated_keys, a.Sq, BATCH, stream);
}

// The cache holds rotated keys. The newest keys are rotated when they are appended.
static void launch_cached(const kf_run *run, cudaStream_t stream)
{
    decode_args a = arguments(run);
    launch_rotate_k(run, "k_cache", a.Sk - a.Sq, ROWS_FIRST, stream);
    a.k = kf_f32(run, "k_cache");
    attend(run, a, rotated_keys, a.Sq, BATCH, stream);
}

template <kernels &of>
static void launch_fused(const kf_run *run, cudaStream_t stream)
{
    attend(run, arguments(run), of, run->shape.Sq, BATCH, stream);
}

// A block has one query, as in V1: every key is read and rotated once per query. Shares have about
// `wanted` keys, or if that is 0, as many as suit the device.
template <kernels &of, int keys, int wanted>
static void launch_per_query(const kf_run *run, cudaStream_t stream)
{
    decode_args a = arguments(run);
    a.share = wanted;
    attend(run, a, of, 1, keys, stream);
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

// Cases of one length stand together. "count" is one head with equal shares; "odd" has a smaller
// last share; "far" ends at position 131071; the last share of "tail" has fewer keys than queries,
// so that a query sees none of it; "unmasked" has no mask. Shares of "steep" have two iterations on
// a CPU: the maximum of the second corrects the sums of the first.
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
    KF_CASE("count", KF_VERIFY_ONLY, .Sk = 2048, .D = 128, .R = 128, .causal = true),
    KF_CASE("count-q4", KF_VERIFY_ONLY, .Sq = 4, .Sk = 2048, .D = 128, .R = 128, .causal = true),
    KF_CASE("count-R64", KF_VERIFY_ONLY, .Sk = 2048, .D = 128, .R = 64, .causal = true),
    KF_CASE("count-D80", KF_VERIFY_ONLY, .Sk = 2048, .D = 80, .R = 20, .causal = true),
    KF_CASE("odd", KF_VERIFY_ONLY, .H = 2, .Sk = 333, .D = 128, .R = 128, .causal = true),
    KF_CASE("far", KF_VERIFY_ONLY, .H = 2, .Sq = 2, .Sk = 257, .D = 128, .R = 64, .causal = true,
            .pos0 = 130815),
    KF_CASE("far-D80", KF_VERIFY_ONLY, .H = 2, .Sq = 4, .Sk = 515, .D = 80, .R = 20, .causal = true,
            .pos0 = 130557),
    // Positions on both sides of 2^20: shifting all alike changes no attention.
    KF_CASE("million", KF_VERIFY_ONLY, .H = 2, .Sq = 2, .Sk = 133, .D = 128, .R = 128,
            .causal = true, .pos0 = (1 << 20) - 9),
    KF_CASE("tail", KF_VERIFY_ONLY, .H = 2, .Sq = 4, .Sk = 130, .D = 128, .R = 128, .causal = true),
    KF_CASE("one", KF_VERIFY_ONLY, .D = 80, .R = 20, .causal = true),
    KF_CASE("four", KF_VERIFY_ONLY, .H = 3, .Sq = 4, .Sk = 4, .D = 128, .R = 128, .causal = true,
            .pos0 = 131068),
    KF_CASE("unmasked", KF_VERIFY_ONLY, .H = 2, .Sq = 2, .Sk = 77, .D = 80, .R = 20),
    // One key, so that many largest scores are far below 0.
    KF_CASE("steep-one", KF_VERIFY_ONLY | KF_STEEP, .H = 64, .Sq = 1, .Sk = 1, .D = 80, .R = 20),
    KF_CASE("steep", KF_VERIFY_ONLY | KF_STEEP, .H = 2, .Sk = 457, .D = 128, .R = 128,
            .causal = true),
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

// Cases with several queries that are not timed.
static bool several_queries_of_few_keys(const kf_case *c)
{
    return c->shape.Sq > 1 && c->shape.Sk < 1024;
}

// Some cases with one query, enough to show what these variants explain.
static bool one_query_of_some(const kf_case *c)
{
    const bool timed = c->shape.Sk >= 2048 && c->shape.Sk < 100000;
    return c->shape.Sq == 1 && c->shape.D == c->shape.R && (timed || c->flags & KF_VERIFY_ONLY);
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
     .launch = launch_fused<from_table>},
    {.name = "fused-table-last",
     .about = "the same, the table loaded after the keys",
     .launch = launch_fused<from_table_last>,
     .applies = one_query_of_some},
    {.name = "fused-per-query",
     .about = "fused-table with one block per query",
     .launch = launch_per_query<from_table, BATCH, 0>,
     .applies = several_queries},
    {.name = "fused-per-query-2",
     .about = "the same, two keys per thread in flight in place of four",
     .launch = launch_per_query<two_at_a_time, 2, 0>,
     .applies = several_queries},
    {.name = "fused-per-query-short",
     .about = "and shares of 512 keys per block",
     .launch = launch_per_query<two_at_a_time, 2, 512>,
     .applies = short_shares},
    {.name = "fused-computed",
     .about = "k rotated inside attention, angles computed",
     .launch = launch_fused<from_frequencies>,
     .extra_error = rope_angle_error},
    {.name = "fused-computed-per-query",
     .about = "the same with one block per query",
     .launch = launch_per_query<from_frequencies, BATCH, 0>,
     .applies = several_queries_of_few_keys,
     .extra_error = rope_angle_error},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_COLD}};

static const kf_question questions[] = {
    {.text = "How many keys does a call of the variant fused-table rotate, with 2048 keys of one "
             "head and 4 queries in one block?",
     .figure = "K_rotations",
     .case_name = "count-q4",
     .variant = "fused-table"},
    {.text = "How many microseconds does a call of the variant cached take, for one query and 1.07 "
             "GB of keys and values (32 heads, 32k keys, cold L2)?",
     .figure = "median_us",
     .case_name = "32k",
     .variant = "cached",
     .unit = "us"},
    {.text = "How many times as fast is the variant fused-table as the variant separate, at 32k "
             "keys and one query?",
     .figure = "median_us",
     .case_name = "32k",
     .variant = "separate",
     .over = "fused-table"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "15-decode",
        .title = "one to four queries over a long cache, where fusion costs little",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = kf_attention_reference,
        .cost = kf_attention_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
