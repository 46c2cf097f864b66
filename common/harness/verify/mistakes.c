/* mistakes.c: which mistake makes the outputs what they are? A reference is computed with each that
 * its problem knows, and compared with them. */
#include "harness/verify/verify.h"
#include <string.h>

enum kf_mistake kf_mistake;

/* Above so many products of an output and a key, references would take longer than the variants. */
enum { MOST_WORK = 1 << 23 };

static const char *const texts[KF_MISTAKES] = {
    [KF_EXCHANGED] = "cosine and sine are exchanged",
    [KF_OTHER_WAY] = "pairs are rotated the other way round",
    [KF_NEIGHBOURS] = "neighbours are rotated as pairs",
    [KF_NOT_ROTATED] = "nothing is rotated",
    [KF_QUERIES_NOT_ROTATED] = "queries are not rotated",
    [KF_KEYS_NOT_ROTATED] = "keys are not rotated",
    [KF_QUERIES_FROM_FIRST] = "the first query has the position of the first key",
    [KF_HALF_EXPONENT] = "pair i has the frequency base^(-i / R), half of its exponent",
    [KF_ONE_FREQUENCY] = "all pairs have the frequency 1, as if a division were one of integers",
    [KF_NOT_SCALED] = "scores are not divided by sqrt(D)",
    [KF_NOT_NORMALISED] = "probabilities are not divided by their sum",
    [KF_NOT_MASKED] = "nothing is masked",
    [KF_KEY_LESS] = "a query sees one key less than it should",
    [KF_KEY_MORE] = "a query sees one key more than it should"};

/* Whether the outputs of RUN are right by the reference that OTHER has. */
static bool all_right(const kf_run *run, const kf_run *other)
{
    bool right = true;
    for (int i = 0; i < run->state->n && right; i++) {
        if (run->state->slot[i].role != KF_OUTPUT)
            continue;
        kf_diagnosis seen;
        kf_compare(&other->state->slot[i].t, run->state->slot[i].raw, &seen);
        right = seen.wrong == 0;
        kf_diagnosis_free(&seen);
    }
    return right;
}

/* Whether the reference may be made with mistakes, and is little work. Those of gradients call
 * kernels, and rely on a query that sees the last key. */
static bool is_known(const kf_run *run)
{
    int64_t work = 0;
    for (int i = 0; i < run->state->n; i++) {
        const kf_slot *slot = &run->state->slot[i];
        const char *name = slot->t.name;
        if (slot->role != KF_OUTPUT)
            continue;
        if (strcmp(name, "o") != 0 && strcmp(name, "lse") != 0 && strcmp(name, "y") != 0)
            return false;
        work += slot->t.count * run->shape.Sk;
    }
    return work <= MOST_WORK;
}

void kf_find_mistakes(const kf_run *run, char *text, size_t size)
{
    const kf_program *program = run->state->program;
    int found = 0;
    text[0] = '\0';
    if (!is_known(run))
        return;
    for (int m = KF_NO_MISTAKE + 1; m < KF_MISTAKES; m++) {
        kf_run other;
        kf_open(&other, program, run->c, run->seed);
        other.extra_error = run->extra_error;
        program->setup(&other);
        kf_mistake = m;
        program->reference(&other);
        kf_mistake = KF_NO_MISTAKE;
        size_t length = strlen(text);
        if (all_right(run, &other))
            snprintf(text + length, size - length, "%s%s", found++ ? ", or if " : "", texts[m]);
        kf_close(&other);
    }
    if (found > 2) /* within bounds that are this wide any outputs would be */
        text[0] = '\0';
}
