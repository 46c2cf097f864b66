/* help.c: what --help and --list print, and a shape in words. */
#include "harness/run/run.h"

void kf_help_print(const kf_program *p)
{
    printf(
        "%s: %s\n\n"
        "  --case FIELD=VALUE[,...]  only cases with these values (B H S Sq Sk D R causal pos0)\n"
        "  --case NAME               only this case; give --case again for more\n"
        "  --variant NAME            only this variant; give it again for more\n"
        "  --seed N                  repeat the inputs of an earlier run\n"
        "  --reps N                  at most N timing rounds\n"
        "  --clock NAME              time on this clock only; give it again for more\n"
        "  --repetitions N           on sustained and cool: each variant N times (2)\n",
        p->step, p->title);
    kf_sinks_help();
    printf(
        "  --model FILE              a model of your own, where the program reads one from a file\n"
        "  --json                    rows as JSON on stdout, nothing else\n"
        "  --by-line                 by source line too, where the program counts (make count)\n"
        "  --verbose                 each case in full, as where --case or --variant is given\n"
        "  --once                    for profilers and checkers: one launch each, new memory\n"
        "  --list                    cases and variants\n"
        "  --questions               what `make step-NN predict` asks, one question a line\n"
        "  --help                    this\n\n"
        "exit code: 0 as predicted, 1 wrong, 2 bad usage, 77 cannot run here\n");
}

void kf_list_print(const kf_program *p, const kf_options *o)
{
    printf("cases\n");
    for (int i = 0; i < p->n_cases; i++) {
        char shape[128];
        unsigned flags = p->cases[i].flags;
        if (!o->case_chosen[i])
            continue;
        kf_shape_text(&p->cases[i].shape, shape, sizeof shape);
        bool taken = false;
        for (int v = 0; v < p->n_variants; v++)
            taken |= o->variant_chosen[v] && kf_takes(&p->variants[v], &p->cases[i]);
        printf("  %-16s %s%s%s%s%s\n", p->cases[i].name, shape,
               flags & KF_VERIFY_ONLY ? "  (verified only)" : "",
               flags & KF_LARGE ? "  (on the CPU only when named)" : "",
               flags & KF_MAY_NOT_FIT ? "  (may not fit)" : "",
               taken         ? ""
               : kf_on_cpu() ? "  (no variant takes it on a CPU)"
                             : "  (no variant takes it)");
    }
    printf("variants\n");
    for (int i = 0; i < p->n_variants; i++) {
        const char *finding = p->variants[i].finding;
        if (!o->variant_chosen[i])
            continue;
        printf("  %-16s %s", p->variants[i].name, p->variants[i].about);
        printf(finding ? "  (finding: %s)\n" : "\n", finding);
    }
}
