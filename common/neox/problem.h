/* problem.h: the model as a problem for the harness: tensors, reference, least cost.
 *
 * A case names its model by its data, and its shape is that of the model: H heads of D dimensions,
 * R of them rotated. Sq is the number of new tokens, and Sk - Sq the number of those that the cache
 * holds already, so Sk is also how many positions the cache has.
 *
 * Tensors, with T = Sq, P = Sk, L layers, all fp16 unless said otherwise:
 *   inputs   weights [neox_weights], tokens [P] (i32), past [1] (i32, Sk - Sq), k_cache and v_cache
 *            [L][H][P][D], whose T newest rows are NaN until they are appended, cos and sin
 *            [P][R/2] (fp32)
 *   outputs  hidden [L + 1][T][hidden], logits [T][vocab] (fp32), next [1] (i32)
 *   scratch  normed1, normed2 [T][hidden], qkv [T][3 hidden], context, attention, mlp, sum
 *            [T][hidden], up [T][mlp], workspace (fp32, for cuBLAS)
 */
#pragma once

#include "neox.h"
#include "harness/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Models: what a case's data points to ---------------------------------------------------- */
typedef struct neox_known {
    neox_config config;
    const char *file; /* of its weights, from the root of the workbook; NULL: made from the seed */
    bool on_device;   /* its weights are made there: too many for the host */
    enum neox_kind kind;
} neox_known;
extern const neox_known neox_opticks; /* our own trained model */
extern const neox_known neox_pythia;  /* the shape of Pythia-2.8B */
extern const neox_known neox_tiny;    /* small and odd */
extern const neox_known neox_tied;    /* small, with tied embeddings */
extern const neox_known neox_long;    /* many positions, late tokens */
extern const neox_known neox_ties;    /* all logits are equal */
extern const neox_known neox_made;    /* made on the device, as pythia is */
extern const neox_known neox_far;     /* x has a large mean */
extern const neox_known neox_wide;    /* loops over columns go round twice */

/* Cases of these models, for the table of a step: NEOX_TINY(name, Sq, Sk, flags), and so on. */
#define NEOX_OPTICKS(...) NEOX_CASE(neox_opticks, 5, 32, 8, __VA_ARGS__)
#define NEOX_PYTHIA(...) NEOX_CASE(neox_pythia, 32, 80, 20, __VA_ARGS__)
#define NEOX_TINY(...) NEOX_CASE(neox_tiny, 3, 8, 2, __VA_ARGS__)
#define NEOX_TIED(...) NEOX_CASE(neox_tied, 2, 36, 10, __VA_ARGS__)
#define NEOX_LONG(...) NEOX_CASE(neox_long, 2, 20, 4, __VA_ARGS__)
#define NEOX_TIES(...) NEOX_CASE(neox_ties, 3, 8, 2, __VA_ARGS__)
#define NEOX_MADE(...) NEOX_CASE(neox_made, 3, 8, 2, __VA_ARGS__)
#define NEOX_FAR(...) NEOX_CASE(neox_far, 3, 8, 2, __VA_ARGS__)
#define NEOX_WIDE(...) NEOX_CASE(neox_wide, 3, 104, 26, __VA_ARGS__)
#define NEOX_CASE(known, heads, width, rotated, its_name, tokens, positions, its_flags)            \
    {                                                                                              \
        .name = its_name,                                                                          \
        .shape =                                                                                   \
            {.H = heads, .Sq = tokens, .Sk = positions, .D = width, .R = rotated, .causal = true}, \
        .flags = its_flags, .data = &known                                                         \
    }

bool neox_names_model(const kf_case *c); /* a step may have cases of another kind */

/* A flag of a case: speech, which is greedy decoding, token by token, from an empty cache. Sq =
 * 1. Only the first NEOX_PROMPT of the Sk tokens are given, past begins at 0, and every row of
 * the caches is NaN. There is one more output: text [Sk] (i32), the prompt and the continuation.
 * hidden, logits and next are those of the last step. */
enum { NEOX_SPEECH = KF_OF_PROBLEM };
enum { NEOX_PROMPT = 24, NEOX_WORKSPACE = 1 << 20 /* floats */ };

/* True if its weights come from a file: neox_known.file, or the file that --model names. */
bool neox_reads_file(const kf_case *c);
/* The model of a case. A case that names no model, or has another shape, ends the program with a
 * line. So does a file that is missing, broken or has another model, with exit code 2. */
neox_config neox_config_of(const kf_case *c); /* positions: those of the cache */
neox_model neox_model_of(const kf_run *run);  /* a file is read once */

/* make: fills the weights of a model that is too large for the host; see kf_device_input. */
void neox_setup(kf_run *run, void (*make)(const kf_run *run, void *weights));
/* hidden and logits may be off by at most twice a plain implementation's error (bounds.c). next
 * must be exact. If two logits are too close to tell which is larger, other tokens are drawn
 * from the seed, and the report says so; if that fails, or is impossible, the program ends with
 * a line. text must be exact; then hidden and logits are not compared, since after a wrong
 * letter they belong to another text. */
void neox_reference(kf_run *run);
/* Bytes: all weights but the embedding, and the cache, read once. Flops: 2 per weight and token,
 * plus those of attention. For speech, as much for each of its Sk - 1 steps. */
kf_cost neox_cost(const kf_case *c);

/* Tokens as a line of text, with blanks for newlines; at most size - 1 bytes. */
void neox_text(const int *tokens, int n, char *text, size_t size);

#ifdef __cplusplus
}
#endif
