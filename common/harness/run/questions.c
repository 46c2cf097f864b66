/* questions.c: --questions, what `make step-NN predict` asks. A question that names a case or a
 * variant that the program does not have is an error of the program. */
#include "harness/run/run.h"
#include <string.h>

static bool is_case(const kf_program *p, const char *name)
{
    bool found = false;
    for (int i = 0; i < p->n_cases; i++)
        found |= strcmp(p->cases[i].name, name) == 0;
    return found;
}

static bool is_variant(const kf_program *p, const char *name, size_t length)
{
    bool found = false;
    for (int i = 0; i < p->n_variants; i++)
        found |= strlen(p->variants[i].name) == length &&
                 strncmp(p->variants[i].name, name, length) == 0;
    return found;
}

/* Names with one blank between two. */
static void check_variants(const kf_program *p, const kf_question *q, const char *names)
{
    for (const char *name = names; name;) {
        size_t length = strcspn(name, " ");
        if (!is_variant(p, name, length))
            kf_die(KF_WRONG, "question \"%s\": no variant \"%.*s\"; see --list", q->text,
                   (int)length, name);
        name = name[length] ? name + length + 1 : NULL;
    }
}

static void check(const kf_program *p, const kf_question *q)
{
    size_t length = strlen(q->text);
    if (length == 0 || q->text[length - 1] != '?' || strpbrk(q->text, "\t\n"))
        kf_die(KF_WRONG, "question \"%s\": one line that ends with a question mark is right",
               q->text);
    if (!is_case(p, q->case_name))
        kf_die(KF_WRONG, "question \"%s\": no case \"%s\"; see --list", q->text, q->case_name);
    if (!q->variant == !q->among)
        kf_die(KF_WRONG, "question \"%s\": either .variant or .among is right", q->text);
    check_variants(p, q, q->variant);
    check_variants(p, q, q->over);
    check_variants(p, q, q->among);
}

static const char *or_none(const char *text)
{
    return text ? text : "-";
}

void kf_questions_print(const kf_program *p)
{
    int n;
    const kf_timing *usual = kf_timings_of(p, &n);
    printf("figure\tcase\tvariant\tover\tkernel\tamong\tclock\tl2\tunit\ttext\n");
    for (int i = 0; i < p->n_questions; i++) {
        const kf_question *q = &p->questions[i];
        const kf_timing *timing = q->timing ? q->timing : usual;
        check(p, q);
        printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", q->figure, q->case_name,
               or_none(q->variant), or_none(q->over), or_none(q->kernel), or_none(q->among),
               kf_clock_name(timing->clock), kf_l2_name(timing->l2), or_none(q->unit), q->text);
    }
}
