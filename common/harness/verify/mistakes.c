/* mistakes.c: which mistake makes the outputs what they are? A reference is computed with each that
 * its problem knows, and compared with them. */
#include "harness/verify/verify.h"
#include <stdlib.h>
#include <string.h>

enum kf_mistake kf_mistake;
enum kf_mistaken kf_mistaken;

/* Above so many products of an output of attention and a key, or elements of y, references would
 * take longer than the variants. */
enum { MOST_WORK = 1 << 23 };

static const char *const texts[KF_MISTAKES] = {
    [KF_EXCHANGED] = "cosine and sine are exchanged",
    [KF_OTHER_WAY] = "pairs are rotated the other way round",
    [KF_PLUS] = "the first of a pair is x1 cos + x2 sin, in place of x1 cos - x2 sin",
    [KF_MINUS] = "the second of a pair is x2 cos - x1 sin, in place of x2 cos + x1 sin",
    [KF_OWN_HALF] = "the halves of rotate_half(x) are exchanged",
    [KF_EACH_OTHER] = "the two of a rotated pair are exchanged",
    [KF_TWICE] = "pairs are rotated twice",
    [KF_NOT_ROTATED] = "pairs are not rotated",
    [KF_NEIGHBOURS] = "neighbours are rotated as pairs",
    [KF_QUERIES_FROM_FIRST] = "the first query has the position of the first key",
    [KF_KEYS_IN_TILE_32] = "keys are rotated by their positions in a tile of 32",
    [KF_KEYS_IN_TILE_64] = "keys are rotated by their positions in a tile of 64",
    [KF_KEYS_IN_TILE_128] = "keys are rotated by their positions in a tile of 128",
    [KF_HALF_EXPONENT] = "pair i has the frequency base^(-i / R), half of its exponent",
    [KF_ONE_FREQUENCY] = "all pairs have the frequency 1, as if a division were one of integers",
    [KF_NOT_SCALED] = "scores are not divided by sqrt(D)",
    [KF_NOT_NORMALISED] = "probabilities are not divided by their sum",
    [KF_NOT_MASKED] = "nothing is masked",
    [KF_MASK_FROM_FIRST] = "query i sees keys 0 to i, as if there were as many queries as keys",
    [KF_KEY_LESS] = "a query sees one key less than it should",
    [KF_KEY_MORE] = "a query sees one key more than it should"};
static const char *const of[KF_MISTAKEN] = {
    [KF_QUERIES] = " (of queries alone)", [KF_KEYS] = " (of keys alone)"};

/* Memory for the references of all outputs; exchanged with what `was` has. */
typedef struct references {
    double *want[KF_MAX_TENSORS], *bound[KF_MAX_TENSORS];
    bool *checked[KF_MAX_TENSORS];
} references;

static void exchange(const kf_run *run, references *other)
{
    for (int i = 0; i < run->state->n; i++) {
        kf_tensor *t = &run->state->slot[i].t;
        const kf_tensor was = *t;
        if (run->state->slot[i].role != KF_OUTPUT)
            continue;
        t->want = other->want[i];
        t->bound = other->bound[i];
        t->checked = other->checked[i];
        other->want[i] = was.want;
        other->bound[i] = was.bound;
        other->checked[i] = was.checked;
    }
}

/* Whether the outputs are right by a reference with this mistake. */
static bool all_right(const kf_run *run, enum kf_mistake mistake, enum kf_mistaken mistaken)
{
    kf_run other = *run;
    references with = {0};
    bool right = true;
    for (int i = 0; i < run->state->n; i++) {
        const kf_tensor *t = &run->state->slot[i].t;
        if (run->state->slot[i].role != KF_OUTPUT)
            continue;
        with.want[i] = kf_alloc(t->count, sizeof *with.want[i]);
        with.bound[i] = kf_alloc(t->count, sizeof *with.bound[i]);
        with.checked[i] = kf_alloc(t->rows, sizeof *with.checked[i]);
    }
    exchange(run, &with);
    kf_mistake = mistake;
    kf_mistaken = mistaken;
    run->state->program->reference(&other);
    kf_mistake = KF_NO_MISTAKE;
    kf_mistaken = KF_BOTH;
    for (int i = 0; i < run->state->n && right; i++) {
        if (run->state->slot[i].role != KF_OUTPUT)
            continue;
        kf_diagnosis seen;
        kf_compare(&run->state->slot[i].t, run->state->slot[i].raw, &seen);
        right = seen.wrong == 0;
        kf_diagnosis_free(&seen);
    }
    exchange(run, &with);
    for (int i = 0; i < run->state->n; i++) {
        free(with.want[i]);
        free(with.bound[i]);
        free(with.checked[i]);
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
        work += slot->t.count * (strcmp(name, "y") == 0 ? 1 : run->shape.Sk);
    }
    return work <= MOST_WORK;
}

/* Whether this mistake is one of its own. In attention, exchanging the two of each pair in both q
 * and k changes no score. */
static bool is_tried(enum kf_mistake mistake, enum kf_mistaken mistaken, bool of_two)
{
    if (mistaken == KF_BOTH)
        return mistake != KF_EACH_OTHER || !of_two;
    return mistake < KF_PAIR_MISTAKES && of_two;
}

void kf_find_mistakes(const kf_run *run, char *text, size_t size)
{
    int found = 0;
    bool of_two = false; /* of q and k */
    text[0] = '\0';
    if (!is_known(run))
        return;
    for (int i = 0; i < run->state->n; i++)
        of_two |= run->shape.R > 0 && strcmp(run->state->slot[i].t.name, "q") == 0;
    for (int m = KF_NO_MISTAKE + 1; m < KF_MISTAKES; m++)
        for (int mistaken = KF_BOTH; mistaken < KF_MISTAKEN; mistaken++)
            if (is_tried(m, mistaken, of_two) && all_right(run, m, mistaken)) {
                size_t length = strlen(text);
                snprintf(text + length, size - length, "%s%s%s", found++ ? ", or if " : "",
                         texts[m], of[mistaken] ? of[mistaken] : "");
            }
    if (found > 2) /* within bounds that are this wide any outputs would be */
        text[0] = '\0';
}
