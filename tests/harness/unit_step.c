/* unit_step.c: what a step asks the harness for while it runs: outputs by name, a captured launch,
 * whether memory is still the same; and what becomes of one that asks for what is not there. */
#define _DEFAULT_SOURCE
#include "fake.h"
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
        printf("# exit %d: %s", WEXITSTATUS(status), said);
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

static void by_name(void)
{
    kf_run run = two_outputs();
    kf_diagnosis seen[2] = {{.wrong = 2}, {.wrong = 3}};
    ok(kf_seen(&run, seen, "first") == &seen[0] && kf_seen(&run, seen, "second") == &seen[1],
       "an output's diagnosis is found by its name");
    ok(kf_wrong(&run, seen) == 5, "wrong elements are summed over the outputs, and only them");
    kf_close(&run);
    ok(dies(misspelt_output,
            "harness: step 00-unit has no tensor named secnod; its setup function declares them\n"),
       "a misspelt output ends the program with a line");
    ok(dies(input_as_output, "harness: tensor x of step 00-unit is no output, and nothing has been "
                             "compared; its outputs are first, second\n"),
       "an input is no output");
    ok(dies(scratch_as_output, "harness: tensor between of step 00-unit is no output, and nothing "
                               "has been compared; its outputs are first, second\n"),
       "scratch memory is no output");
    ok(dies(misspelt_tensor,
            "harness: step 00-unit has no tensor named frist; its setup function declares them\n"),
       "a misspelt tensor ends the program with a line");
    ok(dies(other_type, "harness: tensor second of step 00-unit is f16, asked for as f32\n"),
       "so does one of another type");
    ok(dies(more_queries_with_rope,
            "harness: case early: Sq = 6, Sk = 4, pos0 = 0 with RoPE; Sq <= Sk and pos0 >= 0 are "
            "right: a query stands at pos0 + Sk - Sq and after\n"),
       "RoPE refuses queries that stand before the first key");
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

int main(void)
{
    by_name();
    captured();
    memory();
    return done();
}
