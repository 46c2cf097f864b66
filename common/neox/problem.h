/* problem.h: the model as a problem for the harness: tensors, reference, least cost.
 *
 * A case's shape says which model it is: H heads of D dimensions, R of them turned. Sq is the
 * number of new tokens, and Sk - Sq the number of those that the cache holds already, so Sk is
 * also how many positions the cache has.
 *
 * - H=5 D=32 R=8: opticks, our own that speaks, from common/neox/opticks.neox
 * - H=32 D=80 R=20: the shape of Pythia-2.8B, its weights made up on the device
 * - H=3 D=8 R=2: tiny and odd, its weights made up on the host
 * - H=2 D=36 R=10: the same, with tied embeddings
 *
 * Tensors, with T = Sq, P = Sk, L layers, all fp16 unless said otherwise:
 *   inputs   weights [neox_weights], tokens [P] (i32, of which those of the T new positions and of
 *            the positions before are given, the others 0), past [1] (i32, Sk - Sq),
 *            k_cache and v_cache [L][H][P][D], whose T newest rows are NaN until they are appended,
 *            cos and sin [P][R/2] (fp32)
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

enum { NEOX_WORKSPACE = 1 << 20 }; /* floats */

/* The model of that shape. A file that is not there, is broken or holds another model ends the
 * program with a line, exit 77. The file is read once. */
neox_model neox_model_of(const kf_run *run);
neox_config neox_config_of(const kf_shape *shape);

/* make: fills the weights of a model that is too large for the host, see kf_device_input. */
void neox_setup(kf_run *run, void (*make)(const kf_run *run, void *weights));
/* hidden and logits: at most twice the largest error of the plain implementation, in units of what
 * each element is expected to have (problem.c). next: exact, and not compared where two logits are
 * too close to tell. */
void neox_reference(kf_run *run);
/* Bytes: all weights but the embedding, and the cache, read once. Flops: 2 a weight and token, and
 * those of attention. */
kf_cost neox_cost(const kf_case *c);

/* --- Speech: greedy decoding, token by token, from an empty cache
 * --------------------------------- Sq = 1. Only the first NEOX_PROMPT of the Sk tokens are given,
 * past begins at 0 and every row of the caches is NaN. One output more: text [Sk] (i32), the prompt
 * and the continuation. hidden, logits and next are those of the last step. */
enum { NEOX_PROMPT = 24 };
void neox_speech_setup(kf_run *run, void (*make)(const kf_run *run, void *weights));
/* text: exact. A prompt whose continuation differs between fp64 and the plain implementation would
 * prove nothing, and ends the program with a line. */
void neox_speech_reference(kf_run *run);
kf_cost neox_speech_cost(const kf_case *c);
/* Tokens as a line of text, a newline as a blank; at most size - 1 bytes. */
void neox_text(const int *tokens, int n, char *text, size_t size);

#ifdef __cplusplus
}
#endif
