/* neox_kernels.cu: kernels of common/neox and of step 45, one by one, on data made up here. Each
 * result must be what exact arithmetic gives, rounded once: not one fp16 number beside it, but for
 * what fp32 may be off on the way, which each test derives. A bound of a whole model is wider than
 * that, and no model that a CPU runs in seconds is as wide as this data. TAP, as the unit tests.
 *
 * Most of the data are small whole numbers times a power of two: as long as no sum of them passes
 * 2^24, fp32 adds them exactly, in any order, and a product has one right result.
 */
#define main what_pays
#include "what-pays.cu"
#undef main

#include "cuda/exact_half.cuh"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <vector>

typedef std::vector<half> halves;

static const double U = 0x1p-24; /* fp32 rounds to within so much of a result */

static int count;
static int64_t wrong; /* elements, of the test at hand */

static void done(const char *what)
{
    printf("%s %d - %s: %lld wrong\n", wrong == 0 ? "ok" : "not ok", ++count, what,
           (long long)wrong);
    wrong = 0;
}

/* A NaN is in no range. */
static void expect(int64_t i, double got, double low, double high)
{
    if (!(got >= low && got <= high) && wrong++ < 3)
        printf("# element %lld is %.9g; %.9g to %.9g is right\n", (long long)i, got, low, high);
}

/* Rounded once, of a number that fp32 has left within `off` of the exact one. */
static void expect_rounded(int64_t i, half got, double exact, double off)
{
    expect(i, __half2float(got), nearest_half(exact - off), nearest_half(exact + off));
}

static void expect_same(const halves &got, const halves &want)
{
    for (size_t i = 0; i < want.size(); i++)
        expect_rounded((int64_t)i, got[i], __half2float(want[i]), 0.0);
}

/* --- Data ------------------------------------------------------------------------------------ */

/* -most .. most */
static int draw(int most)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % (uint64_t)(2 * most + 1)) - most;
}

/* Whole numbers, up to 2048 of either sign, times 2^exponent. */
static halves drawn(int64_t n, int most, int exponent)
{
    halves x((size_t)n);
    for (half &h : x)
        h = __float2half_rn(ldexpf((float)draw(most), exponent));
    return x;
}

/* NaN of a half or a float, -1 of an int: what nobody has written is wrong. */
template <typename T>
static T *unwritten(int64_t n)
{
    T *device;
    CUDA_CHECK(cudaMalloc((void **)&device, (size_t)n * sizeof(T)));
    CUDA_CHECK(cudaMemset(device, 0xff, (size_t)n * sizeof(T)));
    return device;
}

template <typename T>
static void put(T *device, const std::vector<T> &host)
{
    CUDA_CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
}

template <typename T>
static std::vector<T> got_of(const T *device, int64_t n)
{
    std::vector<T> host((size_t)n);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

/* T tokens of a model of one layer behind `past` others; nothing is written yet but past. */
static neox_net new_net(int hidden, int heads, int rotary, int mlp, int vocab, int positions, int T,
                        int past)
{
    neox_net n = {};
    n.c = neox_config{1, hidden, heads, rotary, mlp, vocab, positions, false};
    n.T = T;
    n.D = hidden / heads;
    n.weights = unwritten<half>(neox_weights(&n.c));
    n.k_cache = unwritten<half>((int64_t)positions * hidden);
    n.v_cache = unwritten<half>((int64_t)positions * hidden);
    n.tokens = unwritten<int>(positions);
    n.past = unwritten<int>(1);
    n.next = unwritten<int>(1);
    n.cosine = unwritten<float>((int64_t)positions * rotary / 2);
    n.sine = unwritten<float>((int64_t)positions * rotary / 2);
    n.hidden = unwritten<half>(2 * (int64_t)T * hidden);
    half **const activations[] = {&n.normed1, &n.normed2, &n.context, &n.attention, &n.mlp, &n.sum};
    for (half **a : activations)
        *a = unwritten<half>((int64_t)T * hidden);
    n.qkv = unwritten<half>(3 * (int64_t)T * hidden);
    n.up = unwritten<half>((int64_t)T * mlp);
    n.logits = unwritten<float>((int64_t)T * vocab);
    n.workspace = unwritten<float>(NEOX_WORKSPACE);
    put(n.past, std::vector<int>(1, past));
    return n;
}

static void free_net(const neox_net *n)
{
    const void *const all[] = {n->weights, n->k_cache, n->v_cache,   n->tokens,   n->past,
                               n->next,    n->cosine,  n->sine,      n->hidden,   n->normed1,
                               n->normed2, n->context, n->attention, n->mlp,      n->sum,
                               n->qkv,     n->up,      n->logits,    n->workspace};
    for (const void *a : all)
        CUDA_CHECK(cudaFree((void *)a));
}

/* Wider than a warp of eight elements a thread, and than four: hidden is more than 256, mlp more
 * than 1024. A block takes no whole number of these rows. */
enum { HIDDEN = 800, HEADS = 8, ROTARY = 20, MLP = 2056, VOCAB = 2307, POSITIONS = 300 };

static neox_net wide_net(int T, int past)
{
    return new_net(HIDDEN, HEADS, ROTARY, MLP, VOCAB, POSITIONS, T, past);
}

static void set_weights(const neox_net *net, enum neox_part part, const halves &w)
{
    put((half *)neox_weight(net, 0, part), w);
}

/* --- Embedding, norms, adds ------------------------------------------------------------------ */

static void test_embed(void)
{
    enum { T = 3, PAST = 2 };
    const neox_net net = wide_net(T, PAST);
    const halves embedding = drawn((int64_t)VOCAB * HIDDEN, 2048, -6);
    const int tokens[] = {7, 9, VOCAB - 1, 0, 1030};
    halves want;
    set_weights(&net, NEOX_EMBEDDING, embedding);
    put(net.tokens, std::vector<int>(tokens, tokens + PAST + T));
    launch_embed(&net, 0);
    for (int t = 0; t < T; t++) {
        const half *row = embedding.data() + (int64_t)tokens[PAST + t] * HIDDEN;
        want.insert(want.end(), row, row + HIDDEN);
    }
    expect_same(got_of(neox_x(&net, 0), T * HIDDEN), want);
    done("embed: rows of 800");
    free_net(&net);
}

/* A sum of the row is exact, so the mean is off by u of itself. The deviations from it are rounded
 * once more; the sum of their squares takes 18 additions, eight of a thread and ten of two warps,
 * and what the mean is off is in it squared: the deviations themselves cancel. Root, quotient and
 * the three operations that follow round once each. */
static void expect_norm(const half *row, const halves &gain, const halves &bias, const half *got)
{
    const int n = (int)gain.size();
    double mean = 0.0, variance = 0.0;
    for (int i = 0; i < n; i++)
        mean += (double)__half2float(row[i]) / n;
    for (int i = 0; i < n; i++)
        variance += (__half2float(row[i]) - mean) * (__half2float(row[i]) - mean) / n;
    variance += 1e-5; // its own number: a mistake in NEOX_EPSILON shows
    const double scale = 1.0 / sqrt(variance), of_mean = U * fabs(mean);
    const double of_scale = 16.0 * U + 0.5 * of_mean * of_mean / variance;
    for (int i = 0; i < n; i++) {
        const double g = __half2float(gain[i]), c = __half2float(row[i]) - mean;
        const double exact = c * scale * g + (double)__half2float(bias[i]);
        const double off = fabs(g) * scale * (of_mean + fabs(c) * (of_scale + 3.0 * U));
        expect_rounded(i, got[i], exact, off + U * fabs(exact));
    }
}

/* Rows as a norm may meet them: about 0; far from it, where a variance of E[x^2] - E[x]^2 is lost;
 * of a deviation below that of NEOX_EPSILON; all the same. */
static halves rows_of(int kinds, int hidden)
{
    halves x = drawn((int64_t)kinds * hidden, 1000, -8);
    for (int i = 0; i < hidden; i++) {
        if (kinds > 1)
            x[hidden + i] = __float2half_rn(1024.0f + draw(8));
        if (kinds > 2)
            x[2 * hidden + i] = __float2half_rn(ldexpf((float)draw(8), -12));
        if (kinds > 3)
            x[3 * hidden + i] = __float2half_rn(1.375f);
    }
    return x;
}

static void test_norms(int hidden)
{
    enum { ROWS = 4 };
    char what[80];
    neox_net net = {};
    net.c.hidden = hidden;
    const halves x = rows_of(ROWS, hidden);
    halves weights[4];
    half *device[4], *to[2], *from = unwritten<half>((int64_t)ROWS * hidden);
    put(from, x);
    for (int i = 0; i < 4; i++) {
        weights[i] = drawn(hidden, 1000, -9);
        device[i] = unwritten<half>(hidden);
        put(device[i], weights[i]);
    }
    for (half *&t : to)
        t = unwritten<half>((int64_t)ROWS * hidden);
    norms<<<ROWS, row_threads(&net)>>>(from, norm_of{device[0], device[1], to[0]},
                                       norm_of{device[2], device[3], to[1]}, hidden);
    CUDA_CHECK_LAUNCH();
    for (int k = 0; k < 2; k++) {
        const halves got = got_of(to[k], (int64_t)ROWS * hidden);
        for (int row = 0; row < ROWS; row++)
            expect_norm(&x[row * hidden], weights[2 * k], weights[2 * k + 1], &got[row * hidden]);
    }
    snprintf(what, sizeof what, "norms: rows of %d", hidden);
    done(what);
    for (half *d : device)
        CUDA_CHECK(cudaFree(d));
    for (half *t : to)
        CUDA_CHECK(cudaFree(t));
    CUDA_CHECK(cudaFree(from));
}

static halves sum_rounded_twice(const halves &a, const halves &b, const halves &c)
{
    halves sum(a.size());
    for (size_t i = 0; i < a.size(); i++) {
        const double first = nearest_half((double)__half2float(a[i]) + __half2float(b[i]));
        sum[i] = __float2half_rn((float)nearest_half(first + __half2float(c[i])));
    }
    return sum;
}

/* Behind the last layer of a model stands its final norm. */
static void test_adds_and_norms(void)
{
    enum { T = 3 };
    const neox_net net = wide_net(T, 0);
    const halves mlp = drawn(T * HIDDEN, 1000, -12), attention = drawn(T * HIDDEN, 1000, -11);
    const halves x = drawn(T * HIDDEN, 1000, -8), y = sum_rounded_twice(mlp, attention, x);
    const halves gain = drawn(HIDDEN, 1000, -9), bias = drawn(HIDDEN, 1000, -9);
    put(net.mlp, mlp);
    put(net.attention, attention);
    put(neox_x(&net, 0), x);
    set_weights(&net, NEOX_FINAL_GAIN, gain);
    set_weights(&net, NEOX_FINAL_BIAS, bias);
    add_three<<<add_blocks(T * HIDDEN / 8), ADD_THREADS>>>(net.mlp, net.attention, neox_x(&net, 0),
                                                           net.sum, T * HIDDEN);
    CUDA_CHECK_LAUNCH();
    expect_same(got_of(net.sum, T * HIDDEN), y);
    done("add_three: each sum rounded");
    launch_add_and_norm(&net, 0, 0);
    expect_same(got_of(neox_x(&net, 1), T * HIDDEN), y);
    halves normed = got_of(net.normed1, T * HIDDEN);
    for (int t = 0; t < T; t++)
        expect_norm(&y[t * HIDDEN], gain, bias, &normed[t * HIDDEN]);
    done("add_and_norm: the sums, and their norm");
    CUDA_CHECK(cudaMemset(net.normed1, 0xff, T * HIDDEN * sizeof(half)));
    launch_norms_early(&net, 0, SERIAL, 0);
    normed = got_of(net.normed1, HIDDEN);
    expect_norm(y.data(), gain, bias, normed.data());
    done("norms_early: the same of one row");
    free_net(&net);
}

/* --- Attention ------------------------------------------------------------------------------- */

static std::vector<float> drawn_table(int64_t n)
{
    std::vector<float> table((size_t)n);
    for (float &f : table)
        f = (float)draw(1 << 24) * 0x1p-24f;
    return table;
}

/* d of a head that is rotated at one position. Two products and their sum round. */
static void expect_rotated(int64_t i, half got, const half *head, int d, int R, const float *cosine,
                           const float *sine)
{
    if (d >= R) {
        expect_rounded(i, got, __half2float(head[d]), 0.0);
        return;
    }
    const int angle = d % (R / 2), other = d < R / 2 ? d + R / 2 : d - R / 2;
    const double along = (double)__half2float(head[d]) * cosine[angle];
    const double across = (double)__half2float(head[other]) * sine[angle];
    expect_rounded(i, got, d < R / 2 ? along - across : along + across,
                   2.0 * U * (fabs(along) + fabs(across)));
}

static void test_rotation(int heads, int D, int R)
{
    enum { T = 3, PAST = 17, ALL = PAST + T + 1 };
    const neox_net net = new_net(heads * D, heads, R, 8, 8, ALL, T, PAST);
    const halves qkv = drawn(3 * (int64_t)T * heads * D, 2000, -9);
    const std::vector<float> cosine = drawn_table(ALL * R / 2), sine = drawn_table(ALL * R / 2);
    char what[80];
    put(net.qkv, qkv);
    put((float *)net.cosine, cosine);
    put((float *)net.sine, sine);
    launch_rotate_and_append(&net, 0, 0);
    const halves rotated = got_of(net.qkv, 3 * (int64_t)T * heads * D);
    const halves keys = got_of(net.k_cache, (int64_t)ALL * heads * D);
    const halves values = got_of(net.v_cache, (int64_t)ALL * heads * D);
    for (int i = 0; i < ALL * heads * D; i++) {
        const int d = i % D, position = i / D % ALL, head = i / D / ALL, t = position - PAST;
        if (t < 0 || t >= T) {
            wrong += __half2float(keys[i]) == __half2float(keys[i]); // no longer a NaN
            wrong += __half2float(values[i]) == __half2float(values[i]);
            continue;
        }
        const int64_t q = ((int64_t)t * heads + head) * 3 * D;
        const float *c = &cosine[position * R / 2], *s = &sine[position * R / 2];
        expect_rotated(i, rotated[q + d], &qkv[q], d, R, c, s);
        expect_rotated(i, keys[i], &qkv[q + D], d, R, c, s);
        expect_rounded(i, values[i], __half2float(qkv[q + 2 * D + d]), 0.0);
        expect_rounded(i, rotated[q + D + d], __half2float(qkv[q + D + d]), 0.0);
    }
    snprintf(what, sizeof what, "rotate_and_append: %d heads of %d, %d rotated", heads, D, R);
    done(what);
    free_net(&net);
}

/* A product of a query and a key is a sum of whole numbers. It is scaled by 1 / sqrt(D), which has
 * rounded twice: with S the largest of all scores without sign, the argument of exp is off by 3 u
 * of two scores and 1 u of their difference, so by 8 u S at most. expf is off by 2 units in the
 * last place (CUDA C++ Programming Guide), 4 u, so a weight by (8 S + 4) u; and the sum of the
 * weights as well. Each weight is multiplied, and added to others in a thread, then over the groups
 * of threads, of which those beyond n add 0; the weights alone in a thread and over two warps; a
 * quotient ends it. */
static void expect_attention(const half *query, const half *keys, const half *values, int n, int D,
                             const half *got)
{
    std::vector<double> weight((size_t)n);
    double largest = -INFINITY, S = 0.0, sum = 0.0;
    for (int j = 0; j < n; j++) {
        double score = 0.0;
        for (int d = 0; d < D; d++)
            score += (double)__half2float(query[d]) * __half2float(keys[j * D + d]);
        weight[j] = score / sqrt((double)D);
        largest = fmax(largest, weight[j]);
        S = fmax(S, fabs(weight[j]));
    }
    for (double &w : weight)
        sum += w = exp(w - largest);
    const int groups = NEOX_THREADS / (D / 4);
    const int used = n < groups ? n : groups;
    const double additions = n / groups + 1 + used + n / NEOX_THREADS + 1 + 10;
    for (int d = 0; d < D; d++) {
        double exact = 0.0, all = 0.0;
        for (int j = 0; j < n; j++) {
            exact += weight[j] / sum * __half2float(values[j * D + d]);
            all += weight[j] / sum * fabs(__half2float(values[j * D + d]));
        }
        expect_rounded(d, got[d], exact, U * all * (2.0 * (8.0 * S + 4.0) + additions + 2.0));
    }
}

/* Keys [n][D] whose scores with each query [D] of the same signs are about `score`. */
static halves keys_for(const half *query, int n, int D, double score)
{
    halves keys((size_t)n * D);
    const int size = (int)lrint(score / (2.0 * sqrt((double)D)));
    for (int i = 0; i < n * D; i++) {
        const float along = __half2float(query[i % D]) < 0.0f ? -1.0f : 1.0f;
        keys[i] = __float2half_rn((float)size * along + draw(1));
    }
    return keys;
}

/* Numbers 1, 2 and 3 of either sign. */
static halves drawn_query(int D)
{
    halves query((size_t)D);
    for (half &q : query) {
        const float size = draw(1) + 2.0f;
        q = __float2half_rn(draw(1) < 0 ? -size : size);
    }
    return query;
}

enum { SCORES = 3 };
static const double scores[SCORES] = {0.0, 200.0, -200.0}; /* exp of the others is no float, or 0 */

/* T queries, the last of which sees n keys. */
static void attention_with(int D, int n, double score)
{
    enum { HEADS_HERE = 6 };
    const int T = n > 1 ? 2 : 1, all = n + 1, hidden = HEADS_HERE * D;
    const neox_net net = new_net(hidden, HEADS_HERE, 2, 8, 8, all, T, n - T);
    halves qkv(3 * (size_t)T * hidden), queries, keys, values = drawn(n * hidden, 2000, -8);
    for (int head = 0; head < HEADS_HERE; head++) {
        const halves query = drawn_query(D), of_head = keys_for(query.data(), n, D, score);
        const int64_t cache = (int64_t)head * all * D;
        for (int t = 0; t < T; t++)
            memcpy((void *)&qkv[((size_t)t * HEADS_HERE + head) * 3 * D], query.data(),
                   D * sizeof(half));
        queries.insert(queries.end(), query.begin(), query.end());
        keys.insert(keys.end(), of_head.begin(), of_head.end());
        put(net.k_cache + cache, of_head);
        put(net.v_cache + cache, halves(&values[(int64_t)head * n * D],
                                        &values[(int64_t)head * n * D] + (int64_t)n * D));
    }
    put(net.qkv, qkv);
    launch_cached_attention(&net, 0, 0);
    const halves o = got_of(net.context, (int64_t)T * hidden);
    for (int t = 0; t < T; t++)
        for (int head = 0; head < HEADS_HERE; head++)
            expect_attention(&queries[head * D], &keys[(int64_t)head * n * D],
                             &values[(int64_t)head * n * D], n - T + t + 1, D,
                             &o[((int64_t)t * HEADS_HERE + head) * D]);
    free_net(&net);
}

static void test_attention(void)
{
    static const int widths[] = {4, 8, 36, 64, 96, 100, 104, 128};
    static const int keys[] = {1, 2, 9, 34, 300};
    char what[80];
    for (int D : widths) {
        for (double score : scores) {
            for (int n : keys)
                attention_with(D, n, score);
            snprintf(what, sizeof what, "cached_attention: heads of %d, scores about %g", D, score);
            done(what);
        }
    }
}

/* --- Products -------------------------------------------------------------------------------- */

/* Whole numbers whose products need more digits than a half has, and whose sums none beyond 2^24:
 * 2056 * 127 * 63 < 2^24. */
enum { MOST_X = 127, MOST_W = 63, X_EXPONENT = -7, W_EXPONENT = -6, EXPONENT = -13 };
static_assert(MLP * MOST_X * MOST_W < 1 << 24, "sums of all columns are exact in fp32");

static halves drawn_x(int64_t n)
{
    return drawn(n, MOST_X, X_EXPONENT);
}

static double exact_product(const half *w, const half *x, int columns)
{
    double sum = 0.0;
    for (int j = 0; j < columns; j++)
        sum += (double)__half2float(w[j]) * __half2float(x[j]);
    return sum;
}

/* The matrix and its bias, set in the model. */
typedef struct known_matrix {
    int rows, columns;
    halves w, bias;
} known_matrix;

static known_matrix new_matrix(const neox_net *net, enum neox_part part)
{
    known_matrix m;
    m.rows = (int)neox_rows(&net->c, part);
    m.columns = (int)neox_columns(&net->c, part);
    m.w = drawn((int64_t)m.rows * m.columns, MOST_W, W_EXPONENT);
    set_weights(net, part, m.w);
    if (part != NEOX_OUTPUT) {
        m.bias = drawn(m.rows, 2000, EXPONENT);
        set_weights(net, (enum neox_part)(part + 1), m.bias);
    }
    return m;
}

/* x [columns] -> [rows], a sum and its bias rounded once. */
static halves product_of(const known_matrix &m, const half *x)
{
    halves y((size_t)m.rows);
    for (int i = 0; i < m.rows; i++)
        y[i] = __float2half_rn((float)nearest_half(
            exact_product(&m.w[(int64_t)i * m.columns], x, m.columns) + __half2float(m.bias[i])));
    return y;
}

static halves gelu_by_kernel(const halves &x)
{
    half *device = unwritten<half>((int64_t)x.size());
    put(device, x);
    gelu<<<blocks_for((int64_t)x.size(), 256), 256>>>(device, (int64_t)x.size());
    CUDA_CHECK_LAUNCH();
    const halves y = got_of(device, (int64_t)x.size());
    CUDA_CHECK(cudaFree(device));
    return y;
}

static void expect_logits(const neox_net *net, const known_matrix &output, const halves &x)
{
    const std::vector<float> logits = got_of(net->logits, (int64_t)net->T * VOCAB);
    for (int i = 0; i < net->T * VOCAB; i++) {
        const double exact = exact_product(&output.w[(int64_t)(i % VOCAB) * HIDDEN],
                                           &x[(int64_t)(i / VOCAB) * HIDDEN], HIDDEN);
        expect(i, logits[i], exact, exact);
    }
}

static void test_products(void)
{
    enum { T = 2 };
    const neox_net net = wide_net(T, 0);
    const halves x = drawn_x(T * HIDDEN);
    const known_matrix up = new_matrix(&net, NEOX_UP), output = new_matrix(&net, NEOX_OUTPUT);
    put(net.normed1, x);
    launch_product(&net, net.normed1, neox_weight(&net, 0, NEOX_UP),
                   neox_weight(&net, 0, NEOX_UP_BIAS), net.up, MLP, HIDDEN, 0);
    const halves got = got_of(net.up, T * MLP);
    halves want;
    for (int t = 0; t < T; t++) {
        const halves y = product_of(up, &x[t * HIDDEN]);
        want.insert(want.end(), y.begin(), y.end());
    }
    expect_same(got, want);
    done("launch_product: each sum and its bias rounded once");
    launch_gelu(&net, 0);
    expect_same(got_of(net.up, T * MLP), gelu_by_kernel(want));
    done("launch_gelu: all elements");
    launch_logits(&net, 0);
    expect_logits(&net, output, x);
    done("launch_logits: sums in fp32");
    free_net(&net);
}

static void test_pairs(void)
{
    const neox_net net = wide_net(1, POSITIONS - 1);
    const halves normed1 = drawn_x(HIDDEN), normed2 = drawn_x(HIDDEN), context = drawn_x(HIDDEN);
    const halves up = drawn_x(MLP), x = drawn(HIDDEN, 2000, -7);
    const known_matrix qkv_of = new_matrix(&net, NEOX_QKV), up_of = new_matrix(&net, NEOX_UP);
    const known_matrix dense_of = new_matrix(&net, NEOX_DENSE);
    const known_matrix down_of = new_matrix(&net, NEOX_DOWN),
                       output = new_matrix(&net, NEOX_OUTPUT);
    put(net.normed1, normed1);
    put(net.normed2, normed2);
    put(neox_x(&net, 0), x);
    launch_first_pair(&net, 0, SERIAL, 0);
    expect_same(got_of(net.qkv, 3 * HIDDEN), product_of(qkv_of, normed1.data()));
    expect_same(got_of(net.up, MLP), gelu_by_kernel(product_of(up_of, normed2.data())));
    done("first_pair: sums of 800, the second GELU of what is rounded");
    put(net.context, context);
    put(net.up, up);
    const halves mlp = product_of(down_of, up.data());
    const halves y = sum_rounded_twice(mlp, product_of(dense_of, context.data()), x);
    launch_second_pair(&net, 0, 0);
    expect_same(got_of(neox_x(&net, 1), HIDDEN), y);
    done("second_pair: sums of 2056 and 800, four warps a row");
    CUDA_CHECK(cudaMemset(neox_x(&net, 1), 0xff, HIDDEN * sizeof(half)));
    put(net.mlp, mlp);
    launch_dense_and_sum(&net, 0, SERIAL, 0);
    expect_same(got_of(neox_x(&net, 1), HIDDEN), y);
    done("dense_and_sum: sums of 800");
    launch_logit_rows(&net, SERIAL, 0);
    expect_logits(&net, output, normed1);
    done("logit_rows: sums in fp32");
    free_net(&net);
}

/* A query that is rotated is no whole number any more, so cosines are 1 here, and sines 0. `rest`
 * does what a layer does behind its first pair. */
static void test_beside(const char *what, second_half rest)
{
    const neox_net net = wide_net(1, POSITIONS - 1);
    const int D = HIDDEN / HEADS;
    const known_matrix down_of = new_matrix(&net, NEOX_DOWN);
    const halves up = drawn_x(MLP), values = drawn(POSITIONS * HIDDEN, 2000, -8);
    halves qkv(3 * HIDDEN), keys;
    new_matrix(&net, NEOX_DENSE);
    put((float *)net.cosine, std::vector<float>(POSITIONS * ROTARY / 2, 1.0f));
    put((float *)net.sine, std::vector<float>(POSITIONS * ROTARY / 2, 0.0f));
    put(neox_x(&net, 0), drawn(HIDDEN, 2000, -7));
    put(net.up, up);
    for (int head = 0; head < HEADS; head++) {
        const halves query = drawn_query(D);
        halves k = keys_for(query.data(), POSITIONS, D, scores[head % SCORES]);
        const size_t last = (size_t)(POSITIONS - 1) * D, v = (size_t)head * POSITIONS * D;
        memcpy((void *)&qkv[3 * head * D], query.data(), D * sizeof(half));
        memcpy((void *)&qkv[(3 * head + 1) * D], &k[last], D * sizeof(half));
        memcpy((void *)&qkv[(3 * head + 2) * D], &values[v + last], D * sizeof(half));
        keys.insert(keys.end(), k.begin(), k.end());
        put(net.k_cache + v, halves(k.begin(), k.begin() + last)); // the newest is to be appended
        put(net.v_cache + v, halves(&values[v], &values[v] + last));
    }
    put(net.qkv, qkv);
    rest(&net, 0, SERIAL, 0);
    expect_same(got_of(net.k_cache, POSITIONS * HIDDEN), keys);
    expect_same(got_of(net.v_cache, POSITIONS * HIDDEN), values);
    const halves o = got_of(net.context, HIDDEN);
    for (int head = 0; head < HEADS; head++)
        expect_attention(&qkv[3 * head * D], &keys[(int64_t)head * POSITIONS * D],
                         &values[(int64_t)head * POSITIONS * D], POSITIONS, D, &o[head * D]);
    if (rest != one_after_the_other)
        expect_same(got_of(net.mlp, HIDDEN), product_of(down_of, up.data()));
    done(what);
    free_net(&net);
}

/* --- The largest of many --------------------------------------------------------------------- */

/* These have the same logit, larger than all others, or NaN if it is one. */
static void expect_next(const char *what, std::vector<int> at, float logit, float others, int next)
{
    enum { MANY = 20011, T = 2 };
    const neox_net net = new_net(8, 1, 2, 8, MANY, 1, T, 0);
    std::vector<float> logits(T * MANY, others);
    for (int i = 0; i < MANY; i++) {
        logits[i] = (float)(MANY - i); // of a token that is not asked for
        logits[MANY + i] += others == others ? (float)draw(1000) * 1e-3f : 0.0f;
    }
    for (int i : at)
        logits[MANY + i] = logit;
    put(net.logits, logits);
    launch_arg_max(&net, 0);
    const int got = got_of(net.next, 1)[0];
    expect(0, got, next, next);
    done(what);
    free_net(&net);
}

static void test_arg_max(void)
{
    expect_next("arg_max: the first", {0}, 7.0f, 0.0f, 0);
    expect_next("arg_max: the last", {20010}, 7.0f, 0.0f, 20010);
    expect_next("arg_max: one of the second round", {8192 + 5000}, 7.0f, 0.0f, 8192 + 5000);
    expect_next("arg_max: below 0", {1500}, -7.0f, -20.0f, 1500);
    expect_next("arg_max: two of a thread", {1500, 1500 + 1024}, 7.0f, 0.0f, 1500);
    expect_next("arg_max: two of a thread, in two rounds", {1500, 1500 + 8192}, 7.0f, 0.0f, 1500);
    expect_next("arg_max: two of a warp", {1500, 1501}, 7.0f, 0.0f, 1500);
    expect_next("arg_max: two, the first in the later thread", {1500, 2049}, 7.0f, 0.0f, 1500);
    expect_next("arg_max: NaNs are passed over", {3, 1500, 9000}, NAN, 0.0f - 1e30f, 0);
    expect_next("arg_max: one number among NaNs", {1500}, -7.0f, NAN, 1500);
    expect_next("arg_max: nothing but NaNs", {}, NAN, NAN, 20010);
}

int main()
{
    static const int rows[] = {8, 24, 160, 264, 800, 2560, 8192};
    test_embed();
    for (int hidden : rows)
        test_norms(hidden);
    test_adds_and_norms();
    test_rotation(3, 8, 2);
    test_rotation(2, 36, 10);
    test_rotation(8, 100, 20);
    test_rotation(2, 128, 128);
    test_attention();
    test_products();
    test_pairs();
    test_beside("rotate_and_attend: keys, values and context", one_after_the_other);
    test_beside("side_by_side: the same, and down", side_by_side);
    test_beside("attend_and_down: the same in one kernel", in_one_kernel);
    test_arg_max();
    printf("1..%d\n", count);
    return 0;
}
