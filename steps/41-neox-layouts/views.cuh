/* views.cuh: tensors with strides, in a case or in the model, and the launch of an add of them. */
#pragma once

#include "cuda/exact_half.cuh"
#include "neox/calls.cuh"
#include "neox/layers.cuh"

#include <string.h>

enum { THREADS = 256 };

// snippet: view
/* A tensor as PyTorch knows it. Strides are in elements. */
typedef struct view {
    void *data;
    enum kf_dtype dtype;
    int64_t rows, columns;
    int64_t row_stride, column_stride;
} view;
// end snippet: view

/* Launches c = a + b on the stream. */
typedef void adder(const view *a, const view *b, const view *c, cudaStream_t stream);

// --- In the model -------------------------------------------------------------------------------

static view activation(const neox_net *net, const half *data)
{
    return view{(void *)data, KF_F16, net->T, net->c.hidden, net->c.hidden, 1};
}

template <adder *add>
static void layer_with(const neox_net *net, int layer, const half *x, half *y, cudaStream_t stream)
{
    const view mlp = activation(net, net->mlp);
    const view attention = activation(net, net->attention);
    const view sum = activation(net, net->sum);
    const view from = activation(net, x);
    const view to = activation(net, y);
    launch_branches(net, layer, x, stream);
    add(&mlp, &attention, &sum, stream);
    add(&sum, &from, &to, stream);
}

// --- In a case ----------------------------------------------------------------------------------

/* How the tensors named in `of` lie in their memory. The other tensors are contiguous. A layout is
 * the data of a case; the other cases are the model's. */
typedef struct layout {
    const char *of = "a";
    enum kf_dtype dtype = KF_F16;
    bool transposed = false;
    int64_t gap = 0;            // elements between the end of a row and the next
    int64_t offset = 0;         // elements before the first
    const char *refused = NULL; // why add_halves may not have it; NULL if it may
} layout;

static const layout *layout_of(const kf_case *c)
{
    return (const layout *)c->data;
}

static view view_of(const kf_run *run, const char *name)
{
    const layout *l = layout_of(run->c);
    const kf_tensor *t = kf_find(run, name);
    view v = {t->device, t->dtype, run->shape.Sq, run->shape.D, run->shape.D, 1};
    if (strstr(l->of, name) != NULL) {
        v.data = (uint16_t *)v.data + l->offset;
        v.row_stride = l->transposed ? 1 : v.columns + l->gap;
        v.column_stride = l->transposed ? v.rows : 1;
    }
    return v;
}

/* Elements between the rows of c. They are 0 before each add, and no add may change them. */
static int64_t gap_of_c(const kf_run *run)
{
    const layout *l = layout_of(run->c);
    return strstr(l->of, "c") != NULL ? l->gap : 0;
}

/* The first element on the host. */
static const float *first_of(const kf_run *run, const char *name)
{
    const kf_tensor *t = kf_find(run, name);
    return t->host + ((uint16_t *)view_of(run, name).data - (uint16_t *)t->device);
}

/* The sum, rounded once. A float has more than twice the digits of a bf16, so that rounding to it
 * first changes nothing (Figueroa 1995). */
static double rounded_sum(enum kf_dtype dtype, float x, float y)
{
    return dtype == KF_F16 ? nearest_half((double)x + (double)y) : kf_round_to(KF_BF16, x + y);
}

// --- In either ----------------------------------------------------------------------------------

/* One add of a case, or all adds in the model. */
template <adder *add, neox_layer layer = layer_with<add>>
static void launch(const kf_run *run, cudaStream_t stream)
{
    if (neox_names_model(run->c)) {
        launch_case<layer>(run, stream);
    } else {
        const view a = view_of(run, "a");
        const view b = view_of(run, "b");
        const view c = view_of(run, "c");
        if (gap_of_c(run) > 0) {
            CUDA_CHECK(cudaMemsetAsync(c.data, 0, (size_t)(c.rows * c.row_stride) * 2, stream));
        }
        add(&a, &b, &c, stream);
    }
}

/* The integration's test of step 40: both adds of each layer by that kernel, and in the graph. */
static bool all_adds_by(const kf_run *run, const kf_diagnosis *seen, kf_launch *launch,
                        const void *kernel, char *why, size_t size)
{
    const int due = 2 * neox_config_of(run->c).layers;
    const int calls = neox_count_calls(run, launch, kernel);
    const int64_t unwritten = neox_unwritten_by_replay(run, launch);
    snprintf(why, size,
             "predicted right, %d adds, a replay writes all; seen %d adds, %lld unwritten", due,
             calls, (long long)unwritten);
    return kf_wrong(run, seen) == 0 && calls == due && unwritten == 0;
}
