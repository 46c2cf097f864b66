/* widths.cu: step 15, as it is, at heads of widths and at numbers of queries that it has no kernel
 * for, and at two that it has. decode.t runs it. */
#include "step.cuh"

// Of the last two 2048 keys are rotated whole: some variants apply to nothing else.
static const kf_case widths[] = {
    {.name = "D80-q2", .shape = {.Sq = 2, .Sk = 9, .D = 80, .R = 20, .causal = true}},
    {.name = "D128-q4", .shape = {.Sq = 4, .Sk = 9, .D = 128, .R = 16, .causal = true}},
    {.name = "D128-q3", .shape = {.Sq = 3, .Sk = 9, .D = 128, .R = 16, .causal = true}},
    {.name = "D64-q2", .shape = {.Sq = 2, .Sk = 9, .D = 64, .R = 16, .causal = true}},
    {.name = "D96-q2", .shape = {.Sq = 2, .Sk = 9, .D = 96, .R = 16, .causal = true}},
    {.name = "D160-q4", .shape = {.Sq = 4, .Sk = 9, .D = 160, .R = 16, .causal = true}},
    {.name = "D64", .shape = {.Sk = 2048, .D = 64, .R = 64, .causal = true}},
    {.name = "D96", .shape = {.Sk = 2048, .D = 96, .R = 96, .causal = true}},
};

int main(int argc, char **argv)
{
    return step_at(widths, KF_COUNT_OF(widths), "at widths and queries that it has no kernel for",
                   argc, argv);
}
