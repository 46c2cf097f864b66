/* 40-neox-not-called: an integration that never calls the new kernel
 *
 * Grows from: 39-add-decode
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
    launch_model(&net, parallel_layer, stream);
}

static const kf_case cases[] = {
    {"tiny", {1, 3, 5, 5, 8, 2, true, 0}, KF_VERIFY_ONLY},
    {"tiny-decode", {1, 3, 1, 7, 8, 2, true, 0}, KF_VERIFY_ONLY},
    {"tied", {1, 2, 3, 9, 20, 6, true, 0}, KF_VERIFY_ONLY},
    {"prompt", {1, 5, 48, 48, 32, 8, true, 0}, KF_VERIFY_ONLY},
    {"decode", {1, 5, 1, 128, 32, 8, true, 0}, 0},
    {"pythia", {1, 32, 1, 128, 80, 20, true, 0}, KF_LARGE},
};

static const kf_variant variants[] = {
    {"plain", "every operation a kernel", launch_plain, NULL, 0, NULL},
};

static const kf_timing timings[] = {
    {KF_GRAPH, KF_WARM}, {KF_STREAM, KF_WARM}, {KF_CALL, KF_WARM}};

int main(int argc, char **argv)
{
    const kf_program program = {"40-neox-not-called",
                                "an integration that never calls the new kernel",
                                KF_LIST(cases),
                                KF_LIST(variants),
                                neox_step_setup,
                                neox_reference,
                                neox_cost,
                                KF_LIST(timings)};
    return kf_main(&program, argc, argv);
}
