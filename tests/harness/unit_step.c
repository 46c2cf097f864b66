/* unit_step.c: what a step asks the harness for while it runs: outputs by name, how many elements
 * are wrong by a reference of its own, a captured launch, whether memory is still the same, another
 * problem's tensors as inputs; and what becomes of one that asks for what is not there. */
#define _DEFAULT_SOURCE
#include "fake.h"
#include "problems/flash.h"
#include "unit.h"
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

static const kf_case any = {.name = "any", .shape = {1, 1, 1, 1, 1, 0, false, 0}};
static const kf_program program = {.step = "00-unit"};

/* An input, then two outputs with scratch memory between them. */
static kf_run two_outputs(void)
{
    kf_run run;
    int64_t two = 2, three = 3;
    kf_open(&run, &program, &any, 1);
    kf_input(&run, "x", "N", KF_F32, &three);
    kf_output(&run, "first", "N", KF_F32, &two);
    kf_scratch(&run, "between", "N", KF_F32, &three);
    kf_output(&run, "second", "N", KF_F16, &three);
    return run;
}

/* Whether body ends the program with code 1 and this one line on stderr. */
static bool dies(void (*body)(void), const char *line)
{
    char said[512] = "";
    int pipes[2], status = 0;
    fflush(stdout);
    if (pipe(pipes) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        body();
        _exit(0);
    }
    close(pipes[1]);
    size_t length = 0;
    ssize_t more;
    while (length + 1 < sizeof said &&
           (more = read(pipes[0], said + length, sizeof said - length - 1)) > 0)
        length += (size_t)more;
    close(pipes[0]);
    waitpid(child, &status, 0);
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == KF_WRONG && strcmp(said, line) == 0;
    if (!good)
        printf("# exit %d: %s\n", WEXITSTATUS(status), said);
    return good;
}

static void misspelt_output(void)
{
    kf_run run = two_outputs();
    kf_diagnosis seen[2] = {{0}};
    kf_seen(&run, seen, "secnod");
}

static void input_as_output(void)
{
    kf_run run = two_outputs();
    kf_diagnosis seen[2] = {{0}};
    kf_seen(&run, seen, "x");
}

static void scratch_as_output(void)
{
    kf_run run = two_outputs();
    kf_diagnosis seen[2] = {{0}};
    kf_seen(&run, seen, "between");
}

static void misspelt_tensor(void)
{
    kf_run run = two_outputs();
    kf_find(&run, "frist");
}

static void other_type(void)
{
    kf_run run = two_outputs();
    kf_f32(&run, "second");
}

static void more_queries_with_rope(void)
{
    static const kf_case c = {.name = "early", .shape = {1, 1, 6, 4, 8, 8, true, 0}};
    unit_attention(&c, 1);
}

static void flash_of_256(void)
{
    static const kf_case c = {.name = "wide", .shape = {1, 1, 6, 6, 256, 0, true, 0}};
    kf_run run;
    kf_open(&run, &program, &c, 1);
    kf_flash_setup(&run);
}

static void fails_in_a_launch(void)
{
    kf_doing("v", "c");
    kf_check(cudaErrorIllegalAddress, "f()", "steps/step.cu", 7);
}

static void fails_after_it(void)
{
    kf_doing("v", "c");
    kf_doing(NULL, NULL);
    kf_check(cudaErrorIllegalAddress, "f()", "steps/step.cu", 7);
}

static void calls_that_fail(void)
{
    ok(dies(fails_in_a_launch, "harness: variant v, case c: f() at step.cu:7 failed: error 700 "
                               "(cudaErrorSome)\n"),
       "a call that fails in a launch ends the program with a line that names variant and case");
    ok(dies(fails_after_it, "harness: f() at step.cu:7 failed: error 700 (cudaErrorSome)\n"),
       "and one that fails afterwards is not blamed on them");
}

static void by_name(void)
{
    kf_run run = two_outputs();
    kf_diagnosis seen[2] = {{.wrong = 2}, {.wrong = 3}};
    ok(kf_seen(&run, seen, "first") == &seen[0] && kf_seen(&run, seen, "second") == &seen[1],
       "an output's diagnosis is found by its name");
    ok(kf_wrong(&run, seen) == 5, "wrong elements are summed over the outputs, and only them");
    kf_close(&run);
    ok(dies(misspelt_output,
            "harness: step 00-unit has no tensor named secnod; it has x, first, between, second\n"),
       "a misspelt output ends the program with a line");
    ok(dies(input_as_output, "harness: tensor x of step 00-unit is no output, and nothing has been "
                             "compared; its outputs are first, second\n"),
       "an input is no output");
    ok(dies(scratch_as_output, "harness: tensor between of step 00-unit is no output, and nothing "
                               "has been compared; its outputs are first, second\n"),
       "scratch memory is no output");
    ok(dies(misspelt_tensor,
            "harness: step 00-unit has no tensor named frist; it has x, first, between, second\n"),
       "a misspelt tensor ends the program with a line");
    ok(dies(other_type, "harness: tensor second of step 00-unit is f16, asked for as f32\n"),
       "so does one of another type");
    ok(dies(more_queries_with_rope,
            "harness: case early: Sq = 6, Sk = 4, pos0 = 0 with RoPE; Sq <= Sk and pos0 >= 0 are "
            "right: a query stands at pos0 + Sk - Sq and after\n"),
       "RoPE refuses queries that stand before the first key");
    ok(dies(flash_of_256, "harness: case wide: D = 256; 128 at most is right\n"),
       "FlashAttention refuses rows that are longer than those of its kernels");
    static const kf_case c = {.name = "more", .shape = {1, 1, 6, 4, 8, 0, true, 0}};
    run = unit_attention(&c, 1);
    ok(kf_find(&run, "o")->rows == 6, "attention without RoPE does not");
    kf_close(&run);
}

static int computed;

static void compute(const kf_run *run)
{
    (void)run;
    computed++;
}

static void launch(const kf_run *run, cudaStream_t stream)
{
    fake_kernel(stream, 7.0, 0.0, compute, run);
    fake_kernel(stream, 7.0, 0.0, compute, run);
}

static void captured(void)
{
    kf_run run = two_outputs();
    cudaGraphExec_t replay;
    cudaGraph_t graph = kf_capture(&run, launch, kf_stream());
    ok(computed == 0, "what is captured does not run");
    CUDA_CHECK(cudaGraphInstantiate(&replay, graph, 0));
    CUDA_CHECK(cudaGraphLaunch(replay, kf_stream()));
    CUDA_CHECK(cudaGraphLaunch(replay, kf_stream()));
    ok(computed == 4, "and all of it does at each replay");
    CUDA_CHECK(cudaGraphExecDestroy(replay));
    CUDA_CHECK(cudaGraphDestroy(graph));
    kf_close(&run);
}

static void memory(void)
{
    kf_run run = two_outputs(), other = two_outputs();
    ok(kf_allocate(&run) && kf_allocate(&other), "two runs fit");
    uint64_t first = run.memory;
    ok(first != 0 && other.memory != first, "memory has a number of its own in each run");
    kf_prepare(&run);
    kf_prepare(&run);
    ok(run.memory == first, "which stays while the tensors stay where they are");
    ok(kf_renew(&run) && run.memory != first && run.memory != other.memory,
       "and is another one in new memory");
    kf_close(&run);
    kf_close(&other);
}

enum { ROWS = 4, COLUMNS = 3, COUNT = ROWS * COLUMNS };
static bool checks[ROWS]; /* which rows the other reference does */
static uint64_t seed_seen;

/* By it, element i of y is i and may be off by 1/4; y's own says -1, and 1/2, of rows 0 and 1. */
static void other(kf_run *run)
{
    kf_tensor *y = kf_find(run, "y");
    for (int i = 0; i < COUNT; i++) {
        y->want[i] = i;
        y->bound[i] = 0.25;
    }
    for (int row = 0; row < ROWS; row++)
        if (checks[row])
            y->checked[row] = true;
    seed_seen = run->seed;
    run->extra_error = 1.0;
}

static void other_of_half(kf_run *run)
{
    kf_tensor *half = kf_find(run, "half");
    half->want[0] = half->want[1] = 1.5;
    half->checked[0] = true;
}

static kf_run judged_twice(void)
{
    kf_run run;
    const int64_t rows[] = {ROWS, COLUMNS}, two = 2;
    kf_open(&run, &program, &any, 5);
    kf_input(&run, "x", "N", KF_F32, &two);
    kf_scratch(&run, "between", "N", KF_F32, &two);
    kf_output(&run, "half", "N", KF_F16, &two);
    kf_tensor *y = kf_output(&run, "y", "SD", KF_F32, rows);
    for (int i = 0; i < COUNT; i++) {
        y->want[i] = -1.0;
        y->bound[i] = 0.5;
    }
    y->checked[0] = y->checked[1] = true;
    kf_allocate(&run);
    return run;
}

/* Elements of y that the other reference calls wrong when all are as it has them but this one;
 * rows: which of them it checks, "1000" the first. */
static int64_t counted(const kf_run *run, int element, float value, const char *rows)
{
    float *y = kf_f32(run, "y");
    for (int i = 0; i < COUNT; i++)
        y[i] = (float)i;
    y[element] = value;
    for (int i = 0; i < ROWS; i++)
        checks[i] = rows[i] == '1';
    return kf_wrong_by(run, "y", other);
}

static void input_by_another(void)
{
    kf_run run = judged_twice();
    kf_wrong_by(&run, "x", other);
}

static void scratch_by_another(void)
{
    kf_run run = judged_twice();
    kf_wrong_by(&run, "between", other);
}

static void misspelt_by_another(void)
{
    kf_run run = judged_twice();
    kf_wrong_by(&run, "Y", other);
}

static void wrong_by_another(void)
{
    kf_run run = judged_twice();
    const kf_tensor *y = kf_find(&run, "y");
    ok(counted(&run, 0, 0.0f, "1111") == 0, "all is right by the other reference");
    ok(seed_seen == 5 && run.extra_error == 0.0, "which sees the run, and leaves it as it is");
    ok(counted(&run, 11, -1.0f, "1111") == 1, "one is not, where the own one checks nothing");
    ok(counted(&run, 1, 1.2f, "1111") == 0 && counted(&run, 1, 1.3f, "1111") == 1,
       "the other's bound decides");
    ok(counted(&run, 1, 7.0f, "0111") == 0 && counted(&run, 5, 7.0f, "0111") == 1,
       "rows that only the own one checks are not counted");
    ok(counted(&run, 1, NAN, "1111") == 1 && counted(&run, 1, -INFINITY, "1111") == 1,
       "a NaN counts, and so does an Inf");
    ok(counted(&run, 1, NAN, "0111") == 1, "also in a row that nobody checks");
    float *device = kf_f32(&run, "y");
    for (int i = 0; i < COUNT; i++)
        device[i] = -1.0f; /* right by the own reference */
    ok(kf_wrong_by(&run, "y", other) == 9, "every wrong element of the three rows is counted");
    int same = 0;
    for (int i = 0; i < COUNT; i++)
        same += y->want[i] == -1.0 && y->bound[i] == 0.5;
    ok(same == COUNT, "afterwards the output's own reference is as before");
    ok(y->checked[0] && y->checked[1] && !y->checked[2] && !y->checked[3],
       "and so are the rows that it checks");
    kf_diagnosis seen;
    kf_compare(y, device, &seen);
    ok(seen.wrong == 0 && seen.total == 2 * COLUMNS, "by which all is right");
    kf_diagnosis_free(&seen);
    const float halves[] = {1.5f, 2.5f};
    kf_pack(KF_F16, halves, kf_memory(&run, "half", KF_F16), 2);
    ok(kf_wrong_by(&run, "half", other_of_half) == 1, "another output, of another type");
    kf_close(&run);
    ok(dies(input_by_another,
            "harness: tensor x of step 00-unit is no output, and nothing has been "
            "compared; its outputs are half, y\n"),
       "an input is no output to be judged by another reference");
    ok(dies(scratch_by_another, "harness: tensor between of step 00-unit is no output, and nothing "
                                "has been compared; its outputs are half, y\n"),
       "nor is scratch memory");
    ok(dies(misspelt_by_another,
            "harness: step 00-unit has no tensor named Y; it has x, between, half, y\n"),
       "nor what is misspelt");
}

/* --- Another problem: y = x + 1/3 --------------------------------------------------------------
 */

static void third_setup(kf_run *run)
{
    const int64_t rows[] = {ROWS, COLUMNS};
    kf_input(run, "x", "SD", KF_F32, rows);
    kf_scratch(run, "between", "SD", KF_F32, rows);
    kf_output(run, "y", "SD", KF_F16, rows);
}

static int unchecked = -1; /* row */

static void third_reference(kf_run *run)
{
    const kf_tensor *x = kf_find(run, "x"), *y = kf_find(run, "y");
    for (int i = 0; i < COUNT; i++) {
        y->want[i] = x->host[i] + 1.0 / 3.0;
        y->bound[i] = 0.01;
    }
    for (int row = 0; row < ROWS; row++)
        y->checked[row] = row != unchecked;
}

static int wrong_at = -1; /* an element, from the first of y on */

static void third_launch(const kf_run *run, cudaStream_t stream)
{
    (void)stream;
    const float *x = kf_f32(run, "x");
    uint16_t *y = kf_memory(run, "y", KF_F16);
    for (int i = 0; i < COUNT; i++) {
        float value = x[i] + 0.333f;
        kf_pack(KF_F16, &value, y + i, 1);
    }
    for (int i = COUNT; i <= wrong_at; i++)
        y[i] = 0;
    if (wrong_at >= 0 && wrong_at < COUNT)
        y[wrong_at] = 0x7bff;
}

static kf_run with_inputs_from(kf_launch *launched)
{
    kf_run run;
    kf_open(&run, &program, &any, 5);
    kf_inputs_from(&run, third_setup, third_reference, launched);
    return run;
}

static void wrong_input(void)
{
    wrong_at = 7;
    with_inputs_from(third_launch);
}

static void beside_input(void)
{
    wrong_at = COUNT + 1;
    with_inputs_from(third_launch);
}

static void input_without_reference(void)
{
    unchecked = 2;
    with_inputs_from(NULL);
}

static void inputs_of_another(void)
{
    for (int launched = 0; launched < 2; launched++) {
        kf_run run = with_inputs_from(launched ? third_launch : NULL), same;
        const kf_tensor *x = kf_find(&run, "x"), *y = kf_find(&run, "y");
        kf_open(&same, &program, &any, 5);
        third_setup(&same);
        bool good = memcmp(x->host, kf_find(&same, "x")->host, COUNT * sizeof *x->host) == 0;
        for (int i = 0; i < COUNT; i++) {
            float value = x->host[i] + (launched ? 0.333f : (float)(1.0 / 3.0));
            good &= y->host[i] == kf_round_to(KF_F16, value);
        }
        ok(good && !y->want && y->dtype == KF_F16 && y->dim[1] == COLUMNS,
           "another problem's output is an input here, %s",
           launched ? "as a launch makes it" : "as it has to be, rounded");
        ok(kf_has(&run, "y") && !kf_has(&run, "between"), "its scratch memory is nothing here");
        ok(kf_allocate(&run), "all fits");
        kf_prepare(&run);
        ok(kf_unpack(KF_F16, y->device, 5) == y->host[5], "and it is sent to the device");
        kf_close(&same);
        kf_close(&run);
    }
    ok(dies(wrong_input,
            "harness: case any: 1 of 12 elements of the input y, which a kernel makes, "
            "are wrong, and 0 beside it; that kernel must be right first\n"),
       "a wrong launch ends the program with a line");
    ok(dies(beside_input,
            "harness: case any: 0 of 12 elements of the input y, which a kernel makes, are wrong, "
            "and 2 beside it; that kernel must be right first\n"),
       "so does one that writes beside its output");
    ok(dies(input_without_reference, "harness: case any: row 2 of y has no reference to be an "
                                     "input; a launch must make it\n"),
       "so does a row without a reference, where there is no launch");
}

int main(void)
{
    by_name();
    calls_that_fail();
    wrong_by_another();
    captured();
    memory();
    inputs_of_another();
    return done();
}
