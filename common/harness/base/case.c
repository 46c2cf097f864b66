/* case.c: what a case, a tensor and a clock are called, and how large they are. */
#include "harness/base/base.h"

bool kf_takes(const kf_variant *variant, const kf_case *c)
{
    return !variant->applies || variant->applies(c);
}

void kf_shape_text(const kf_shape *s, char *text, size_t size)
{
    int length =
        s->Sq == s->Sk
            ? snprintf(text, size, "B=%d H=%d S=%d D=%d", s->B, s->H, s->Sq, s->D)
            : snprintf(text, size, "B=%d H=%d Sq=%d Sk=%d D=%d", s->B, s->H, s->Sq, s->Sk, s->D);
    if (s->R > 0)
        length += snprintf(text + length, size - (size_t)length, " R=%d", s->R);
    if (s->pos0 != 0)
        length += snprintf(text + length, size - (size_t)length, " pos0=%d", s->pos0);
    if (s->causal)
        snprintf(text + length, size - (size_t)length, " causal");
}

int64_t kf_tensor_bytes(const kf_tensor *tensor)
{
    return tensor->count * (int64_t)kf_dtype_size(tensor->dtype);
}

const kf_timing *kf_timings_of(const kf_program *program, int *n)
{
    static const kf_timing usual[] = {{KF_GRAPH, KF_WARM}, {KF_GRAPH, KF_COLD}};
    *n = program->timings ? program->n_timings : KF_COUNT_OF(usual);
    return program->timings ? program->timings : usual;
}

const char *kf_clock_name(enum kf_clock clock)
{
    static const char *const name[] = {"graph", "stream", "call", "sustained", "cool"};
    return name[clock];
}

bool kf_is_alone(enum kf_clock clock)
{
    return clock == KF_SUSTAINED || clock == KF_COOL;
}

const char *kf_l2_name(enum kf_l2 l2)
{
    return l2 == KF_WARM ? "warm" : "cold";
}

void kf_put_case(FILE *to, const char *variant, const kf_case *c)
{
    const kf_shape *s = &c->shape;
    fprintf(to, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d", variant, c->name, s->B, s->H, s->Sq,
            s->Sk, s->D, s->R, s->causal, s->pos0);
}
