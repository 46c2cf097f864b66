/* 41-neox-layouts: what a raw pointer does not say: strides, type, stream
 *
 * Follows: 40-neox-not-called
 * Architecture: 75
 * Libraries: cublasLt
 * Tests: case odd-length also with --once
 *
 * Idea     A kernel that gets an address and a length assumes the rest: contiguous elements of its
 *          own type, a multiple of eight of them, at a multiple of 16 bytes, and a stream on which
 *          its caller waits. The add raw meets tensors for which one of these does not hold.
 *          strided finds each element by its strides, checked looks at strides and type first. Then
 *          all three in the model, and other-stream, which launches in the default stream.
 * Predict  raw is right where elements lie one after the other. Elsewhere it is wrong by a rule
 *          that gives each value: 1 + 1 = 256 in bf16, and of an odd length the rest is unwritten.
 *          A load at 2 bytes past a multiple of 16 ends a program on a GPU. checked is right
 *          everywhere, and in the model raw is, too. other-stream is right without a graph. Its
 *          graph has no adds, and is faster by the time of these adds in step 39.
 * Outcome  As predicted, except that in the shape of Pythia-2.8B the graph without its adds gains
 *          more. So the harness poisons outputs between capture and replay.
 */
#include "a-raw.cuh"
#include "b-strided.cuh"
#include "c-checked.cuh"
#include "d-other-stream.cuh"

// --- An add of views, or a step of the model ----------------------------------------------------

static void setup(kf_run *run)
{
    if (neox_names_model(run->c)) {
        neox_step_setup(run);
        return;
    }
    const layout *l = layout_of(run->c);
    const int64_t dim[] = {run->shape.Sq, run->shape.D};
    const int64_t count = dim[0] * dim[1];
    const int64_t laid_out = l->offset + dim[0] * (dim[1] + l->gap);
    const char *const inputs[] = {"a", "b"};
    for (const char *name : inputs) {
        kf_input(run, name, "D", l->dtype, strstr(l->of, name) != NULL ? &laid_out : &count);
    }
    const int64_t rows_of_c[] = {dim[0], dim[1] + gap_of_c(run)};
    kf_output(run, "c", "SD", l->dtype, rows_of_c);
}

static void reference(kf_run *run)
{
    if (neox_names_model(run->c)) {
        neox_reference(run);
        return;
    }
    const kf_tensor *out = kf_find(run, "c");
    const view a = view_of(run, "a");
    const view b = view_of(run, "b");
    const view c = view_of(run, "c");
    const float *from_a = first_of(run, "a");
    const float *from_b = first_of(run, "b");
    for (int64_t i = 0; i < c.rows; i++) {
        for (int64_t j = 0; j < c.columns; j++) {
            out->want[i * c.row_stride + j * c.column_stride] =
                rounded_sum(c.dtype, from_a[i * a.row_stride + j * a.column_stride],
                            from_b[i * b.row_stride + j * b.column_stride]);
        }
    }
    memset(out->checked, true, (size_t)out->rows * sizeof *out->checked); // the bound is 0
}

static kf_cost cost(const kf_case *c)
{
    const double n = (double)c->shape.Sq * c->shape.D;
    const kf_cost add = {.bytes = 6.0 * n, .flops = n, .tensor_cores = false};
    return neox_names_model(c) ? neox_cost(c) : add;
}

// --- Tables -------------------------------------------------------------------------------------

static const layout in_order = {};
static const layout permuted = {.transposed = true,
                                .refused = "a has strides 1, 64; 160, 1 is right"};
static const layout sliced = {.gap = 32, .refused = "a has strides 192, 1; 160, 1 is right"};
static const layout permuted_b = {
    .of = "b", .transposed = true, .refused = "b has strides 1, 24; 40, 1 is right"};
static const layout permuted_c = {
    .of = "c", .transposed = true, .refused = "c has strides 1, 24; 40, 1 is right"};
static const layout permuted_all = {
    .of = "abc", .transposed = true, .refused = "a has strides 1, 24; 40, 1 is right"};
static const layout sliced_b = {
    .of = "b", .gap = 32, .refused = "b has strides 72, 1; 40, 1 is right"};
static const layout sliced_both = {
    .of = "ab", .gap = 32, .refused = "a has strides 72, 1; 40, 1 is right"};
static const layout sliced_c = {
    .of = "c", .gap = 32, .refused = "c has strides 72, 1; 40, 1 is right"};
static const layout sliced_all = {
    .of = "abc", .gap = 32, .refused = "a has strides 72, 1; 40, 1 is right"};
static const layout one_row = {.gap = 32};
static const layout one_column = {.transposed = true};
static const layout misaligned = {.offset = 1};
static const layout by_eight = {.offset = 4}; // bytes
static const layout bf16 = {.dtype = KF_BF16, .refused = "a is bf16; f16 is right"};

#define ADD(its_name, rows, columns, laid_out)                                                     \
    {                                                                                              \
        .name = its_name, .shape = {.Sq = rows, .Sk = rows, .D = columns},                         \
        .flags = KF_VERIFY_ONLY, .data = &laid_out                                                 \
    }

static const kf_case cases[] = {
    ADD("contiguous", 64, 160, in_order),
    ADD("view", 160, 64, in_order),
    ADD("permuted", 64, 160, permuted),
    ADD("sliced", 64, 160, sliced),
    ADD("permuted-b", 24, 40, permuted_b),
    ADD("permuted-c", 24, 40, permuted_c),
    ADD("permuted-all", 24, 40, permuted_all),
    ADD("sliced-b", 24, 40, sliced_b),
    ADD("sliced-c", 24, 40, sliced_c),
    ADD("sliced-both", 24, 40, sliced_both),
    ADD("sliced-all", 24, 40, sliced_all),
    ADD("one-row", 1, 160, one_row),
    ADD("one-column", 160, 1, one_column),
    ADD("one-element", 1, 1, one_row),
    ADD("odd-length", 37, 77, in_order),
    ADD("rest-of-four", 5, 4, in_order),
    ADD("misaligned", 64, 160, misaligned),
    ADD("misaligned-8", 24, 40, by_eight),
    ADD("bf16", 64, 160, bf16),
    NEOX_TINY("tiny", 5, 5, KF_VERIFY_ONLY),
    NEOX_TIED("tied", 3, 9, KF_VERIFY_ONLY),
    NEOX_OPTICKS("decode", 1, 128, 0),
    NEOX_PYTHIA("pythia", 1, 128, KF_LARGE),
};

static const kf_variant variants[] = {
    {.name = "strided",
     .about = "finds each element by its strides; in the model, the plain adds",
     .launch = launch<strided_add, parallel_layer>,
     .refused = too_many_rows},
    {.name = "raw",
     .about = "gets addresses and a length; eight elements per thread",
     .launch = launch<raw_add>,
     .applies = may_be_raw,
     .predicted = predict_raw},
    {.name = "raw-misaligned",
     .about = "the same, at an address that is no multiple of 16 bytes",
     .launch = launch<raw_add>,
     .applies = may_fault,
     .predicted = right_all_the_same,
     .finding = "misaligned"},
    {.name = "checked",
     .about = "gets strides and types, and looks before it launches",
     .launch = launch<checked_add>,
     .refused = too_many_rows,
     .predicted = predict_checked},
    {.name = "other-stream",
     .about = "launches the adds in the default stream",
     .launch = launch<other_stream_add>,
     .applies = neox_names_model,
     .predicted = absent_from_graph},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}, {KF_STREAM, KF_WARM}};

static const kf_question questions[] = {
    {.text =
         "In case sliced, a is 64 rows of 160 columns, cut out of rows of 192 columns: how many of "
         "the 10240 sums does raw get wrong?",
     .figure = "wrong",
     .case_name = "sliced",
     .variant = "raw"},
    {.text =
         "In case odd-length (37 rows of 77 columns), how many sums does raw leave unwritten, so "
         "that they are NaN?",
     .figure = "nan",
     .case_name = "odd-length",
     .variant = "raw"},
    {.text = "In case decode, raw does the 12 adds of the model: how many of the compared outputs "
             "are wrong?",
     .figure = "wrong",
     .case_name = "decode",
     .variant = "raw"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "41-neox-layouts",
        .title = "what a raw pointer does not say: strides, type, stream",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = reference,
        .cost = cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
        .reads_model = neox_reads_file,
    };
    return kf_main(&program, argc, argv);
}
