/* step.cuh: step 15, as it is, for programs that have cases of their own. */
#pragma once

#define main step_main
#include "../../steps/15-decode/decode.cu"
#undef main

// The step's main, at n other cases.
static int step_at(const kf_case *other, int n, const char *title, int argc, char **argv)
{
    const kf_program program = {
        .step = "15-decode",
        .title = title,
        .cases = other,
        .n_cases = n,
        KF_TABLE(variants, variants),
        .setup = setup,
        .reference = kf_attention_reference,
        .cost = kf_attention_cost,
        KF_TABLE(timings, timings),
    };
    return kf_main(&program, argc, argv);
}
