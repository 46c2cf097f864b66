/* neox.h: a GPT-NeoX of any size: shape, weights, file, reference.
 *
 * GPT-NeoX (Black et al. 2022, GPT-NeoX-20B, section 2.1) is a decoder whose layers are parallel: x
 * + attention(norm1(x)) + mlp(norm2(x)), added here in the order of the common implementation, (mlp
 * + attention) + x. Rotary embeddings rotate the first `rotary` dimensions of each head, halves
 * paired. The MLP is down(gelu(up(x))) with the exact GELU, x Phi(x). Weights and activations are
 * fp16, sums fp32.
 *
 * Read in this order: neox.h, shape.c (places of weights), file.c (reading a model), seeded.c
 * (weights made from a seed), reference.c (fp64, and plain fp16), bounds.c (error bounds of
 * fp16), problem.c (a step of the model as a problem for the harness). The kernels are in the
 * .cuh files of this folder. */
#ifndef NEOX_H
#define NEOX_H

#include "harness/harness.h"

#ifdef __cplusplus
extern "C" {
#endif

/* hidden and mlp are multiples of 8, so that each row of weights begins at a multiple of 16
 * bytes. hidden / heads, which kernels call D, is a multiple of 4 and at most NEOX_MOST_WIDTH.
 * rotary is even and at most D. */
enum { NEOX_MOST_WIDTH = 128 };
typedef struct neox_config {
    int layers, hidden, heads, rotary, mlp, vocab, positions;
    bool tied; /* the output matrix is the embedding */
} neox_config;

/* In the order of the file: the embedding, then each layer, then the parts after the layers. */
enum neox_part {
    NEOX_EMBEDDING,  /* [vocab][hidden] */
    NEOX_NORM1_GAIN, /* [hidden], for each layer, like the next eleven */
    NEOX_NORM1_BIAS,
    NEOX_NORM2_GAIN,
    NEOX_NORM2_BIAS,
    NEOX_QKV,      /* [heads][3: q, k, v][hidden / heads] rows of [hidden] */
    NEOX_QKV_BIAS, /* [3 hidden], in the order of those rows */
    NEOX_DENSE,    /* [hidden][hidden], after attention; y = W x + b throughout */
    NEOX_DENSE_BIAS,
    NEOX_UP, /* [mlp][hidden] */
    NEOX_UP_BIAS,
    NEOX_DOWN, /* [hidden][mlp] */
    NEOX_DOWN_BIAS,
    NEOX_FINAL_GAIN, /* [hidden] */
    NEOX_FINAL_BIAS,
    NEOX_OUTPUT, /* [vocab][hidden]; if tied, the embedding, and there is none in the file */
    NEOX_PARTS
};

#define NEOX_EPSILON 1e-5f /* added to the variance in each layer norm */

/* --- shape.c --------------------------------------------------------------------------------- */
int64_t neox_rows(const neox_config *config, enum neox_part part);
int64_t neox_columns(const neox_config *config, enum neox_part part);
/* The first element of a part, counted from the first weight. layer counts only for parts of a
 * layer. */
int64_t neox_offset(const neox_config *config, int layer, enum neox_part part);
int64_t neox_weights(const neox_config *config); /* number of elements */
/* Bytes of weights that one decode step must read: all but the embedding, of which it reads one
 * row. If tied, the embedding is also the output matrix and is read completely. */
double neox_bytes_read(const neox_config *config);
/* NULL if the config can be run. Otherwise one line that says what is wrong and what would be
 * right; the line is valid until the next call. */
const char *neox_config_trouble(const neox_config *config);

/* --- A model: its weights on the host, or a seed for them ------------------------------------ */
/* Special weights made from a seed. NEOX_TIES: the output matrix is 0, so all logits are equal,
 * and the first token is next. NEOX_FAR: embeddings are a thousand deviations from 0, where a
 * variance computed as E[x^2] - E[x]^2 fails; and layers add 0 to them, since x in fp16 has no
 * digits to spare. NEOX_LATE: rows of the output matrix below NEOX_EARLY are small, so a later
 * token is next. */
enum neox_kind { NEOX_DRAWN, NEOX_TIES, NEOX_FAR, NEOX_LATE };
enum { NEOX_EARLY = 8192 /* elements that arg_max's block reads at a time */ };

typedef struct neox_model {
    neox_config config;
    float *weights; /* [neox_weights], values of fp16; NULL: made from the seed when read */
    uint64_t seed;
    enum neox_kind kind; /* of weights made from the seed */
} neox_model;

/* --- file.c ---------------------------------------------------------------------------------- */
/* A file contains exactly
 *     "KFNEOX2\n", eight bytes,
 *     eight 32-bit little-endian integers:
 *         layers, hidden, heads, rotary, mlp, vocab, positions, tied (0 or 1),
 *     the weights, fp16, little-endian, in the order of neox_part, layer by layer,
 *     the CRC-32 of all bytes before, as in zlib and PNG, 32 bits, little-endian.
 * Returns NULL and fills the model, whose weights neox_free frees; or returns one line that says
 * what is wrong with the file, with the value and what would be right, but without the file's
 * name, and the model is empty. The line is valid until the next call. Nothing is allocated for
 * a file that has another model than the wanted one, or is longer or shorter than that takes. */
const char *neox_load(const char *path, const neox_config *want, neox_model *model);
void neox_free(neox_model *model);

/* --- seeded.c -------------------------------------------------------------------------------- */
/* Reads row `row` of a part as floats that are values of fp16, from memory or from the seed. */
void neox_read_row(const neox_model *model, int layer, enum neox_part part, int64_t row, float *to);

/* --- reference.c ----------------------------------------------------------------------------- */
/* The results of a call of the model. Keys and values, [layers][heads][positions][hidden /
 * heads], are those of all positions so far. n: tokens of this call. */
typedef struct neox_results {
    double *k, *v;
    double *hidden; /* [layers + 1][n][hidden]: the embedding, then x after each layer */
    double *logits; /* [n][vocab] */
} neox_results;
neox_results neox_new_results(const neox_config *config, int n); /* zeros */
void neox_free_results(neox_results *results);

/* The model over n tokens at positions past .. past + n - 1. `to` has the keys and values of the
 * positions before; those of the new tokens are added. plain: every result is rounded to fp16,
 * and sums are fp32, as in a plain implementation; otherwise all is fp64. */
void neox_forward(const neox_model *model, bool plain, const int *tokens, int n, int past,
                  neox_results *to);

/* --- bounds.c -------------------------------------------------------------------------------- */
/* The error bounds of a right implementation in fp16: sets hidden and logits of `bound`,
 * measured on the plain results of n tokens. Returns NULL; or, if the plain results are too far
 * off for rounding to explain it, one line that says so and is valid until the next call. */
const char *neox_bounds(const neox_model *model, int n, const neox_results *exact,
                        const neox_results *plain, neox_results *bound);
/* The index of the largest of n logits; the first one if several are equal. */
int neox_largest(const double *logits, int n);
/* True if that logit is the largest of any logits within their bounds [n] of these. */
bool neox_is_clear(const double *logits, int n, const double *bound);

#ifdef __cplusplus
}
#endif
#endif
