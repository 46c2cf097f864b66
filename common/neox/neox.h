/* neox.h: a GPT-NeoX of any size: shape, weights, file, reference.
 *
 * GPT-NeoX (Black et al. 2022, GPT-NeoX-20B, section 2.1) is a decoder whose layers are parallel:
 *     x + attention(norm1(x)) + mlp(norm2(x)),
 * summed here, as in the implementation that everybody compares with, as (mlp + attention) + x.
 * Rotary embeddings turn the first `rotary` dimensions of each head, halves paired. The MLP is
 * down(gelu(up(x))) with the exact GELU, x Phi(x). Weights and activations are fp16, sums fp32.
 *
 * Read in this order: neox.h, shape.c (where each weight stands), file.c (reading a model),
 * seeded.c (weights made up from a seed), reference.c (fp64, and plain fp16), bounds.c (how far off
 * fp16 may be), problem.c (a step of the model as a problem for the harness). The kernels are in
 * the .cuh files of this folder.
 */
#ifndef NEOX_H
#define NEOX_H

#include "harness/harness.h"

#ifdef __cplusplus
extern "C" {
#endif

/* hidden and mlp are multiples of 8, so that each row of weights begins at a multiple of 16 bytes;
 * hidden / heads, which kernels call D, is a multiple of 4 and at most NEOX_MOST_WIDTH; rotary is
 * even and at most D. */
enum { NEOX_MOST_WIDTH = 128 };
typedef struct neox_config {
    int layers, hidden, heads, rotary, mlp, vocab, positions;
    bool tied; /* the output matrix is the embedding */
} neox_config;

/* In the order of the file. First the embedding, then each layer, then what follows the layers. */
enum neox_part {
    NEOX_EMBEDDING,  /* [vocab][hidden] */
    NEOX_NORM1_GAIN, /* [hidden], of each layer, as the next eleven */
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
/* Where the part begins, in elements from the first weight. layer counts for parts of a layer. */
int64_t neox_offset(const neox_config *config, int layer, enum neox_part part);
int64_t neox_weights(const neox_config *config); /* elements in all */
/* Bytes of the weights that one decode step must read: all but the embedding, of which it reads a
 * row; if tied, the embedding is the output matrix and is read whole. */
double neox_bytes_read(const neox_config *config);
/* NULL if the config can be run, else what is wrong and what would be right, in one line that lives
 * until the next call. */
const char *neox_config_trouble(const neox_config *config);

/* --- A model: its weights on the host, or a seed for them ------------------------------------ */
/* What a seed does not draw. NEOX_TIES: the output matrix is 0, so all logits are the same, and the
 * first token is next. NEOX_FAR: embeddings lie a thousand deviations from 0, which a variance of
 * E[x^2] - E[x]^2 does not survive; and layers add 0 to them, for x in fp16 has no digit to spare.
 * NEOX_LATE: rows of the output matrix below NEOX_EARLY are small, so a later token is next. */
enum neox_kind { NEOX_DRAWN, NEOX_TIES, NEOX_FAR, NEOX_LATE };
enum { NEOX_EARLY = 8192 /* what arg_max's block reads at once */ };

typedef struct neox_model {
    neox_config config;
    float *weights; /* [neox_weights], values of fp16; NULL: made up from the seed when read */
    uint64_t seed;
    enum neox_kind kind; /* of weights that are made up */
} neox_model;

/* --- file.c ---------------------------------------------------------------------------------- */
/* A file holds, and ends there,
 *     "KFNEOX2\n", eight bytes,
 *     eight 32-bit little-endian integers:
 *         layers, hidden, heads, rotary, mlp, vocab, positions, tied (0 or 1),
 *     the weights, fp16, little-endian, in the order of neox_part, layer by layer,
 *     the CRC-32 of all bytes before, as zlib and PNG have it, 32 bits, little-endian.
 * Returns NULL and fills the model (free its weights with neox_free), or returns one line that says
 * what is wrong with the file, without its name, with the value, and what would be right; the model
 * is empty then. Nothing is allocated for a file that does not hold the model that is wanted, or is
 * not exactly as long as it takes. The line lives until the next call. */
const char *neox_load(const char *path, const neox_config *want, neox_model *model);
void neox_free(neox_model *model);

/* --- seeded.c -------------------------------------------------------------------------------- */
/* Row `row` of a part as floats that are values of fp16, from memory or from the seed. */
void neox_read_row(const neox_model *model, int layer, enum neox_part part, int64_t row, float *to);

/* --- reference.c ----------------------------------------------------------------------------- */
/* What a call of the model leaves. Keys and values, [layers][heads][positions][hidden / heads],
 * are those of all positions so far. n: tokens of this call. */
typedef struct neox_results {
    double *k, *v;
    double *hidden; /* [layers + 1][n][hidden]: the embedding, then x behind each layer */
    double *logits; /* [n][vocab] */
} neox_results;
neox_results neox_new_results(const neox_config *config, int n); /* zeros */
void neox_free_results(neox_results *results);

/* The model over n tokens at positions past .. past + n - 1. Keys and values of the positions
 * before are in to, to which those of the new tokens are added. plain: every result is rounded to
 * fp16, and sums are fp32, from first to last, as a plain implementation does it; else all is fp64.
 */
void neox_forward(const neox_model *model, bool plain, const int *tokens, int n, int past,
                  neox_results *to);

/* --- bounds.c -------------------------------------------------------------------------------- */
/* How far a right implementation in fp16 may be from the exact results: hidden and logits of
 * `bound`. Measured on the plain ones, of n tokens. Returns NULL, or, if those are too far off for
 * rounding to explain it, one line that says so and lives until the next call. */
const char *neox_bounds(const neox_model *model, int n, const neox_results *exact,
                        const neox_results *plain, neox_results *bound);
/* The index of the largest of n, the first of several. */
int neox_largest(const double *logits, int n);
/* Whether it is the largest of any logits that are within their bounds [n] of these. */
bool neox_is_clear(const double *logits, int n, const double *bound);

#ifdef __cplusplus
}
#endif
#endif
