/* 42-neox-serial: a serial residual in a parallel model
 *
 * Follows: 40-neox-not-called
 * Architecture: 75
 * Libraries: cublasLt
 * Data: --errors step-42-layers.tsv --seed 1
 *
 * Idea     The hand-written add is called now, and right. But the layer around it is that of
 *          another family of models: the MLP reads the sum of x and attention's result. In
 *          GPT-NeoX it reads x, as attention does. Three checks: each add against the exact sum of
 *          its own inputs, x after each layer against fp64, and the text.
 * Predict  serial: all adds are right, and x is wrong from layer 1 on. one-serial: x is wrong from
 *          the serial layer on. Both write a wrong text. cut: at most half of the sums are wrong,
 *          and x is off by at most about twice as much as in parallel. No letter changes.
 * Outcome  As predicted. Not predicted: one-serial writes English words, and its next letter is
 *          right in the cases decode and prompt. After the last layer fixed is further off than
 *          parallel (step 43).
 */
#include "cuda/half_add.cuh"
#include "neox/layers.cuh"

// snippet: test-add
// a, b, c [count], tally [2]: elements tested, and elements of c that are not a + b, rounded once
// cost: 6 bytes per element. The sum is rounded to fp32 and then to fp16. These two roundings give
// the result of one rounding if the first keeps at least 2 p + 2 bits. fp16 has p = 11 bits, and
// fp32 keeps 24.
static __global__ void test_add(const half *a, const half *b, const half *c, int64_t count,
                                int *tally)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const half sum = __float2half_rn(__half2float(a[i]) + __half2float(b[i]));
        atomicAdd(tally, 1);
        if (__half_as_ushort(c[i]) != __half_as_ushort(sum)) {
            atomicAdd(tally + 1, 1);
        }
    }
}
// end snippet: test-add

static void test(const neox_net *net, const half *a, const half *b, const half *c,
                 cudaStream_t stream)
{
    const int64_t count = (int64_t)net->T * net->c.hidden;
    test_add<<<add_blocks(count), ADD_THREADS, 0, stream>>>(a, b, c, count, i32(net->run, "sums"));
    CUDA_CHECK_LAUNCH();
}

static void add_tested(const neox_net *net, const half *a, const half *b, half *c,
                       cudaStream_t stream)
{
    add_halves(a, b, c, (int64_t)net->T * net->c.hidden, stream);
    test(net, a, b, c, stream);
}

// snippet: serial
// x, y [T][hidden]: sum = x + attention(norm1(x)), then y = sum + mlp(norm2(sum))
static void serial_layer(const neox_net *net, int layer, const half *x, half *y,
                         cudaStream_t stream)
{
    launch_norm(net, layer, NEOX_NORM1_GAIN, x, net->normed1, stream);
    launch_attention(net, layer, net->normed1, stream);
    add_tested(net, net->attention, x, net->sum, stream);
    launch_norm(net, layer, NEOX_NORM2_GAIN, net->sum, net->normed2, stream);
    launch_mlp(net, layer, net->normed2, stream);
    add_tested(net, net->mlp, net->sum, y, stream);
}
// end snippet: serial

// snippet: fixed
// x, y [T][hidden]: y = mlp(norm2(x)) + (attention(norm1(x)) + x)
static void fixed_layer(const neox_net *net, int layer, const half *x, half *y, cudaStream_t stream)
{
    // solution: layer -- a corrected copy of serial_layer: what does each norm read?
    // hint: In a parallel layer attention and the MLP read the same x, each behind its own norm.
    //     What does the second norm of serial_layer read?
    // hint: Begin with the six calls of serial_layer, and compare each with the formula above this
    //     function: y = mlp(norm2(x)) + (attention(norm1(x)) + x). One argument differs.
    // hint: The launch_norm of NEOX_NORM2_GAIN has `x` as its input. Both sums stay as they are, by
    //     add_tested, for `try` judges each of them.
    launch_norm(net, layer, NEOX_NORM1_GAIN, x, net->normed1, stream);
    launch_attention(net, layer, net->normed1, stream);
    add_tested(net, net->attention, x, net->sum, stream);
    launch_norm(net, layer, NEOX_NORM2_GAIN, x, net->normed2, stream);
    launch_mlp(net, layer, net->normed2, stream);
    add_tested(net, net->mlp, net->sum, y, stream);
    // end solution: layer
}
// end snippet: fixed

template <neox_layer layer>
static void launch(const kf_run *run, cudaStream_t stream)
{
    CUDA_CHECK(cudaMemsetAsync(i32(run, "sums"), 0, 2 * sizeof(int), stream));
    launch_case<layer>(run, stream);
}

// --- Variants that explain -----------------------------------------------------------------------

static int middle(const neox_config *c)
{
    return c->layers / 2;
}

static void one_serial_layer(const neox_net *net, int layer, const half *x, half *y,
                             cudaStream_t stream)
{
    (layer == middle(&net->c) ? serial_layer : fixed_layer)(net, layer, x, y, stream);
}

// snippet: cut-add
// a, b [count] -> c = a + b, where bits beyond fp16 are cut off, not rounded
// cost: 6 bytes per element
static __global__ void add_cut(const half *a, const half *b, half *c, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const float sum = __half2float(a[i]) + __half2float(b[i]);
        c[i] = __float2half_rn(__uint_as_float(__float_as_uint(sum) & 0xffffe000u));
    }
}
// end snippet: cut-add

static void cut_tested(const neox_net *net, const half *a, const half *b, half *c,
                       cudaStream_t stream)
{
    const int64_t count = (int64_t)net->T * net->c.hidden;
    add_cut<<<add_blocks(count), ADD_THREADS, 0, stream>>>(a, b, c, count);
    CUDA_CHECK_LAUNCH();
    test(net, a, b, c, stream);
}

static void cut_layer(const neox_net *net, int layer, const half *x, half *y, cudaStream_t stream)
{
    launch_branches(net, layer, x, stream);
    cut_tested(net, net->mlp, net->attention, net->sum, stream);
    cut_tested(net, net->sum, x, y, stream);
}

// --- Predictions ---------------------------------------------------------------------------------

enum { SPOKEN = 117 }; // letters of the case that speaks: two whole clauses

static bool speaks(const kf_case *c)
{
    return c->flags & NEOX_SPEECH;
}

// Prints for the reader what a variant wrote, in lines that fit.
static void say(const kf_run *run, const char *variant)
{
    enum { LINE = 90, LONGEST_WORD = 20 };
    // Static: a prediction is made after each launch of its variant, the text is printed once.
    static const char *said;
    int tokens[SPOKEN];
    char text[SPOKEN + 1];
    if (said == variant || !speaks(run->c)) {
        return;
    }
    said = variant;
    CUDA_CHECK(cudaMemcpy(tokens, i32(run, "text"), sizeof tokens, cudaMemcpyDeviceToHost));
    neox_text(tokens, SPOKEN, text, sizeof text);
    kf_say("  variant %s goes on from \"%.*s\":\n", variant, NEOX_PROMPT, text);
    for (int first = 0; first < SPOKEN;) {
        const int room = SPOKEN - first < LINE ? SPOKEN - first : LINE;
        int length = room;
        while (room == LINE && length > LINE - LONGEST_WORD && text[first + length] != ' ') {
            length--;
        }
        length = text[first + length] == ' ' ? length : room;
        kf_say("    %.*s\n", length, text + first);
        first += length + (text[first + length] == ' ');
    }
}

// The first layer after which x is off beyond its bound; layers + 1 if there is none.
static int first_wrong(const kf_diagnosis *hidden)
{
    int layer = 0;
    while (layer < hidden->tensor->dim[0] && hidden->wrong_at[0][layer] == 0) {
        layer++;
    }
    return layer;
}

// Layers before `first` are right to the last element, and in each from there on some are wrong.
static bool wrong_from(const kf_diagnosis *hidden, int first)
{
    bool each = first_wrong(hidden) == first;
    for (int layer = first; layer < hidden->tensor->dim[0]; layer++) {
        each = each && hidden->wrong_at[0][layer] > 0;
    }
    return each;
}

// Elements tested in all adds of the model together, how many of them are wrong, and whether the
// tested elements are all there are: two adds per layer.
typedef struct tally {
    int tested, wrong;
    bool complete;
} tally;

static tally tally_of(const kf_run *run)
{
    const neox_config c = neox_config_of(run->c);
    const int steps = speaks(run->c) ? SPOKEN - 1 : 1;
    int sums[2];
    CUDA_CHECK(cudaMemcpy(sums, i32(run, "sums"), sizeof sums, cudaMemcpyDeviceToHost));
    const tally t = {sums[0], sums[1], sums[0] == steps * 2 * c.layers * run->shape.Sq * c.hidden};
    return t;
}

static bool parallel(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    const int64_t wrong = kf_wrong(run, seen);
    say(run, "parallel");
    snprintf(why, size, "predicted nothing wrong; seen %lld wrong", (long long)wrong);
    return wrong == 0;
}

// Two adds per layer, each tested and right; no x and no letter is wrong.
static bool fixed(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    const tally sums = tally_of(run);
    const kf_diagnosis *hidden = kf_seen(run, seen, "hidden");
    const int64_t letters = kf_seen(run, seen, speaks(run->c) ? "text" : "next")->wrong;
    say(run, "fixed");
    const int n = snprintf(why, size,
                           "predicted two adds per layer, nothing wrong; seen %s adds tested, %d "
                           "of %d sums wrong, %lld letters",
                           sums.complete ? "as many" : "not as many", sums.wrong, sums.tested,
                           (long long)letters);
    if (!speaks(run->c) && hidden->wrong > 0) {
        snprintf(why + n, size - n, ", x from layer %d on", first_wrong(hidden));
    }
    return sums.complete && kf_wrong(run, seen) == 0;
}

// Every add is right, and x is wrong from layer `first` on. A model that speaks reads its own
// output: if letters are wrong, the layers have had another input, and nothing is predicted of
// them.
static bool right_adds_wrong_layers(const kf_run *run, const kf_diagnosis *seen, int first,
                                    char *why, size_t size)
{
    const tally sums = tally_of(run);
    if (speaks(run->c)) {
        const kf_diagnosis *text = kf_seen(run, seen, "text");
        const int letter = text->wrong > 0 ? (int)text->first[0] : SPOKEN;
        snprintf(why, size,
                 "predicted every add right, the text wrong; seen %d of %d sums wrong, text from "
                 "letter %d on",
                 sums.wrong, sums.tested, letter);
        return sums.complete && sums.wrong == 0 && letter >= NEOX_PROMPT && letter < SPOKEN;
    }
    const kf_diagnosis *hidden = kf_seen(run, seen, "hidden");
    snprintf(
        why, size,
        "predicted every add tested and right, x wrong from layer %d on; seen %s tested, %d of %d "
        "sums wrong, x from layer %d on",
        first, sums.complete ? "all" : "too few", sums.wrong, sums.tested, first_wrong(hidden));
    return sums.complete && sums.wrong == 0 && wrong_from(hidden, first);
}

static bool serial(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    say(run, "serial");
    return right_adds_wrong_layers(run, seen, 1, why, size);
}

static bool one_serial(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    const neox_config c = neox_config_of(run->c);
    say(run, "one-serial");
    return right_adds_wrong_layers(run, seen, middle(&c) + 1, why, size);
}

// A sum is off by almost an ulp at worst, where rounding is off by half an ulp. That may take a
// logit past its bound, so nothing is predicted of logits.
static bool cut(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    const tally sums = tally_of(run);
    const int64_t elements = kf_seen(run, seen, "hidden")->wrong;
    const int64_t logits = kf_seen(run, seen, "logits")->wrong;
    const int64_t letters = kf_seen(run, seen, speaks(run->c) ? "text" : "next")->wrong;
    snprintf(why, size,
             "predicted sums wrong, but no x and no letter; seen %d of %d sums, %lld elements of "
             "x, %lld logits, %lld letters",
             sums.wrong, sums.tested, (long long)elements, (long long)logits, (long long)letters);
    return sums.complete && sums.wrong > 0 && elements == 0 && letters == 0;
}

// --- Tables --------------------------------------------------------------------------------------

// The add that cuts runs on one case: few elements may have nothing to cut, and over many layers
// what is cut adds up.
static bool is_opticks(const kf_case *c)
{
    return c->data == &neox_opticks;
}

// The outputs of the model and one more, sums: elements tested, and elements that are wrong.
static void setup(kf_run *run)
{
    const int64_t dim[] = {2, 1};
    neox_step_setup(run);
    kf_output(run, "sums", "SD", KF_I32, dim);
}

static void reference(kf_run *run)
{
    kf_tensor *sums = kf_find(run, "sums");
    neox_reference(run);
    sums->checked[0] = false; // predictions look at the number tested
    sums->checked[1] = true;
    sums->want[1] = 0.0;
    sums->bound[1] = 0.0;
}

static const kf_case cases[] = {
    NEOX_OPTICKS("speech", 1, SPOKEN, KF_VERIFY_ONLY | NEOX_SPEECH),
    NEOX_OPTICKS("decode", 1, 128, KF_VERIFY_ONLY),
    NEOX_OPTICKS("prompt", 48, 48, KF_VERIFY_ONLY | KF_LARGE),
    NEOX_TINY("tiny", 5, 5, KF_VERIFY_ONLY),
    NEOX_TIED("tied", 3, 9, KF_VERIFY_ONLY),
    NEOX_PYTHIA("pythia", 1, 128, KF_VERIFY_ONLY | KF_LARGE),
};

static const kf_variant variants[] = {
    {.name = "parallel",
     .about = "attention and the MLP read x",
     .launch = launch<parallel_layer>,
     .predicted = parallel},
    {.name = "serial",
     .about = "norm2 reads x + attention",
     .launch = launch<serial_layer>,
     .predicted = serial},
    {.name = "one-serial",
     .about = "serial in the middle layer alone",
     .launch = launch<one_serial_layer>,
     .predicted = one_serial},
    {.name = "fixed",
     .about = "as serial, but norm2 reads x",
     .launch = launch<fixed_layer>,
     .predicted = fixed},
    {.name = "cut",
     .about = "parallel, with adds that cut bits off",
     .launch = launch<cut_layer>,
     .applies = is_opticks,
     .predicted = cut},
};

static const kf_question questions[] = {
    {.text =
         "How many outputs of the variant one-serial are wrong, in case decode (160 elements of x "
         "after each of 6 layers, and 128 logits; only the fourth layer is serial)?",
     .figure = "wrong",
     .case_name = "decode",
     .variant = "one-serial"},
    {.text = "How many sectors do the layer norms of the variant serial load, divided by the "
             "sectors that the layer norms of the variant parallel load?",
     .figure = "global_ld_sectors",
     .case_name = "decode",
     .variant = "serial",
     .over = "parallel",
     .kernel = "norms"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "42-neox-serial",
        .title = "a serial residual in a parallel model",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = reference,
        .cost = neox_cost,
        KF_TABLE(questions, questions),
        .reads_model = neox_reads_file,
    };
    return kf_main(&program, argc, argv);
}
