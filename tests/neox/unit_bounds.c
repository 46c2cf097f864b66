/* unit_bounds.c: bounds are measured on the plain implementation, and one that is broken is
 * refused. "unit_bounds trouble" only says what neox_bounds has against the plain implementation
 * that it is linked with, or "none"; neox.t links broken ones. */
#include "harness/run/run.h"
#include "neox/neox.h"
#include "../harness/unit.h"
#include <math.h>
#include <string.h>

enum { TOKENS = 5 };

static const neox_config tiny = {3, 24, 3, 2, 104, 61, TOKENS, false};

static neox_model model_of(uint64_t seed)
{
    return (neox_model){.config = tiny, .seed = seed};
}

static neox_results forward(uint64_t seed, bool plain)
{
    const neox_model model = model_of(seed);
    int tokens[TOKENS];
    neox_results x = neox_new_results(&tiny, TOKENS);
    for (int i = 0; i < TOKENS; i++)
        tokens[i] = (int)kf_random_below(seed, (uint64_t)i, (uint32_t)tiny.vocab);
    neox_forward(&model, plain, tokens, TOKENS, 0, &x);
    return x;
}

/* Elements in all, and of one part of hidden. */
static const int64_t part = (int64_t)TOKENS * 24, hidden = 4 * (int64_t)TOKENS * 24,
                     logits = (int64_t)TOKENS * 61;

static bool within(const double *exact, const double *plain, const double *bound, int64_t n)
{
    bool all = true;
    for (int64_t i = 0; i < n; i++)
        all = all && fabs(plain[i] - exact[i]) <= bound[i] / 2.0 * (1.0 + 1e-12);
    return all;
}

static void measured(void)
{
    bool taken = true, held = true;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        neox_results exact = forward(seed, false), plain = forward(seed, true);
        neox_results bound = neox_new_results(&tiny, TOKENS);
        const neox_model model = model_of(seed);
        taken = taken && !neox_bounds(&model, TOKENS, &exact, &plain, &bound);
        held = held && within(exact.hidden, plain.hidden, bound.hidden, hidden) &&
               within(exact.logits, plain.logits, bound.logits, logits);
        neox_free_results(&exact);
        neox_free_results(&plain);
        neox_free_results(&bound);
    }
    ok(taken, "with 50 seeds the plain implementation is believed");
    ok(held, "and no element of it is off by more than half of its bound");
}

/* What neox_bounds says if this element of the plain results is off by so much. */
static const char *trouble_with(double *(*choose)(neox_results *x), int64_t index, double by)
{
    neox_results exact = forward(1, false), plain = forward(1, true);
    neox_results bound = neox_new_results(&tiny, TOKENS);
    choose(&plain)[index] += by;
    const neox_model model = model_of(1);
    const char *trouble = neox_bounds(&model, TOKENS, &exact, &plain, &bound);
    neox_free_results(&exact);
    neox_free_results(&plain);
    neox_free_results(&bound);
    return trouble;
}

static double *of_hidden(neox_results *x)
{
    return x->hidden;
}

static double *of_logits(neox_results *x)
{
    return x->logits;
}

static void refused(void)
{
    const char *trouble = trouble_with(of_hidden, part + 7, 0.02);
    ok(trouble && strstr(trouble, "x behind layer 1 ") && !strchr(trouble, '\n'),
       "one element of layer 1 off by as much as x is large: %s", trouble ? trouble : "taken");
    trouble = trouble_with(of_hidden, hidden - 1, 0.02);
    ok(trouble && strstr(trouble, "x behind layer 3 "), "of the last layer: %s",
       trouble ? trouble : "taken");
    trouble = trouble_with(of_logits, 3, 0.1);
    ok(trouble && strstr(trouble, "the logits "), "of the logits: %s", trouble ? trouble : "taken");
    ok(trouble_with(of_hidden, part, NAN) != NULL, "a NaN behind layer 1");
    ok(trouble_with(of_logits, logits - 1, NAN) != NULL, "a NaN in the logits");
    ok(trouble_with(of_hidden, part + 7, 0.0) == NULL, "and nothing off is taken");
}

static void likeliest(void)
{
    const double lead[] = {1.0, 3.0, 2.5, 3.0};
    ok(neox_largest(lead, 4) == 1, "the first of the largest");
    ok(!neox_is_clear(lead, 4, (double[4]){0}), "two that are alike are not clear");
    ok(neox_is_clear(lead, 3, (double[3]){1.5, 0.24, 0.25}) &&
           !neox_is_clear(lead, 3, (double[3]){0, 0.25, 0.25}),
       "half a unit apart is clear to less than a quarter each");
    ok(neox_is_clear(lead, 1, (double[1]){9}), "one is clear");
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "trouble") == 0) {
        const char *trouble = trouble_with(of_hidden, 0, 0.0);
        printf("%s\n", trouble ? trouble : "none");
        return 0;
    }
    measured();
    refused();
    likeliest();
    return done();
}
