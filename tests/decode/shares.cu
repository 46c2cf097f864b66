/* shares.cu: how step 15, as it is, shares the keys of a head out among blocks. Without arguments
 * it looks at the shares of many shapes on devices of all sizes. With arguments it is the step on a
 * device of as many multiprocessors as CUDACPU_WORKERS says, and has one more case. decode.t runs
 * both. */
#include "harness/harness.h"
#define kf_on_cpu() false // so that the device is asked
#include "step.cuh"

#include <vector>

// share_keys of H heads, Sq queries, `queries` in a block, and Sk keys: what is wrong, or NULL.
static const char *wrong_with(int H, int Sq, int queries, int Sk, int blocks, int wanted, int step)
{
    kf_run run = {};
    run.shape = {.H = H, .Sq = Sq, .Sk = Sk};
    decode_args a = {};
    a.share = wanted;
    a.Sk = Sk;
    const dim3 grid = share_keys(&run, &a, blocks, queries, step);
    if ((int)grid.x * queries != Sq || (int)grid.y != a.splits || (int)grid.z != H) {
        return "the grid has not each share of each head and each query once";
    }
    if (a.splits < 1 || a.splits > MOST_SPLITS) {
        return "part and stat hold another number of shares";
    }
    if (a.share < step || a.share % step != 0) {
        return "a share is no whole number of steps";
    }
    if ((int64_t)a.splits * a.share < Sk) {
        return "the last keys are in no share";
    }
    if ((int64_t)(a.splits - 1) * a.share >= Sk) {
        return "the last share is empty";
    }
    const int asked = wanted > 0 ? Sk / wanted : blocks / (H * (Sq / queries));
    const int most = asked < 1 ? 1 : asked < MOST_SPLITS ? asked : MOST_SPLITS;
    if (a.splits > most) {
        return "more shares than were asked for";
    }
    if ((int64_t)most * (a.share - step) >= Sk) {
        return "shares of a step less would do";
    }
    return NULL;
}

static int look_at_shares()
{
    static const int keys[] = {1, 4, 63, 64, 65, 457, 1024, 2048, 4095, 4097, 8192, 32769, 131072};
    static const int blocks[] = {1, 8, 31, 32, 63, 64, 65, 132, 528, 1056, 4224};
    static const int steps[] = {row_layout<128>::GROUPS * 2, row_layout<128>::GROUPS * BATCH,
                                row_layout<80>::GROUPS * BATCH};
    static const int queries[][2] = {{1, 1}, {2, 2}, {4, 4}, {2, 1}, {4, 1}};
    int looked_at = 0;
    for (int H : {1, 2, 3, 32, 64}) {
        for (int Sk : keys) {
            for (int resident : blocks) {
                for (int step : steps) {
                    for (const int(&q)[2] : queries) {
                        for (int wanted : {0, 1, 100, 512}) {
                            const char *what =
                                wrong_with(H, q[0], q[1], Sk, resident, wanted, step);
                            looked_at++;
                            if (what) {
                                printf("H = %d, Sq = %d, %d in a block, Sk = %d, %d blocks, shares "
                                       "of %d in steps of %d: %s\n",
                                       H, q[0], q[1], Sk, resident, wanted, step, what);
                                return 1;
                            }
                        }
                    }
                }
            }
        }
    }
    printf("%d shares are right\n", looked_at);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 1) {
        return look_at_shares();
    }
    std::vector<kf_case> all(cases, cases + KF_COUNT_OF(cases));
    all.push_back({.name = "most", // that part and stat hold
                   .shape = {.Sk = 128 * MOST_SPLITS, .D = 128, .R = 16, .causal = true},
                   .flags = KF_VERIFY_ONLY});
    return step_at(all.data(), (int)all.size(), "on a device of many multiprocessors", argc, argv);
}
