/* 42-neox-serial: a serial residual in a parallel model
 *
 * Grows from: 40-neox-not-called
 * Libraries: cublasLt
 *
 * Idea     x
 * Predict  x
 * Outcome  x
 */
#include "neox/layers.cuh"

static void launch_plain(const kf_run *run, cudaStream_t stream)
{
    const neox_net net = neox_open(run);
    launch_speech(&net, parallel_layer, i32(run, "text"), stream);
}

// x1 = x + attention(norm1(x)); y = x1 + mlp(norm2(x1))
static void serial_layer(const neox_net *net, int layer, const half *x, half *y,
                         cudaStream_t stream)
{
    launch_norm(net, layer, NEOX_NORM1_GAIN, x, net->normed1, stream);
    launch_attention(net, layer, net->normed1, stream);
    launch_add(net, net->attention, x, net->sum, stream);
    launch_norm(net, layer, NEOX_NORM2_GAIN, net->sum, net->normed2, stream);
    launch_mlp(net, layer, net->normed2, stream);
    launch_add(net, net->mlp, net->sum, y, stream);
}

static void launch_serial(const kf_run *run, cudaStream_t stream)
{
    const neox_net net = neox_open(run);
    launch_speech(&net, serial_layer, i32(run, "text"), stream);
}

static void say(const kf_run *run, const char *who)
{
    int tokens[512];
    char text[512];
    CUDA_CHECK(cudaMemcpy(tokens, i32(run, "text"), run->shape.Sk * sizeof *tokens,
                          cudaMemcpyDeviceToHost));
    neox_text(tokens, run->shape.Sk, text, sizeof text);
    kf_say("    %s: %s\n", who, text);
}

static bool speaks_wrongly(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    say(run, "serial");
    snprintf(why, size, "predicted another text");
    return seen[0].wrong > 0;
}

static bool speaks(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    say(run, "parallel");
    snprintf(why, size, "predicted right");
    return seen[0].wrong + seen[1].wrong + seen[2].wrong + seen[3].wrong == 0;
}

static const kf_case cases[] = {
    {"speech", {1, 5, 1, 160, 32, 8, true, 0}, KF_VERIFY_ONLY},
};

static const kf_variant variants[] = {
    {"parallel", "every operation a kernel", launch_plain, NULL, 0, speaks},
    {"serial", "serial", launch_serial, NULL, 0, speaks_wrongly},
};

int main(int argc, char **argv)
{
    const kf_program program = {"42-neox-serial",
                                "a serial residual in a parallel model",
                                KF_LIST(cases),
                                KF_LIST(variants),
                                neox_speech_step_setup,
                                neox_speech_reference,
                                neox_speech_cost,
                                NULL, 0};
    return kf_main(&program, argc, argv);
}
