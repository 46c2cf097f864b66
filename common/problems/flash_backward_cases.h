/* flash_backward_cases.h: cases where backward kernels that work in tiles go wrong. They are never
 * timed; the small ones run on a CPU. Timed cases are KF_FLASH_TIMED of flash_cases.h. */
#pragma once

#include "flash_backward.h"
#include "flash_cases.h"

#define KF_FLASH_EXACT_HOT (KF_ONE_HOT | KF_EXACT_GRADIENTS)
#define KF_FLASH_EXACT_SUMS (KF_INTEGERS | KF_EXACT_GRADIENTS)

#define KF_FLASH_BACKWARD_ODD                                                                      \
    KF_FLASH_CASE("small", 2, 128, 128, 64, false, 0),                                             \
        KF_FLASH_CASE("small-causal", 2, 128, 128, 64, true, 0),                                   \
        KF_FLASH_CASE("small-D128", 1, 128, 128, 128, false, 0),                                   \
        KF_CASE("odd", KF_VERIFY_ONLY, .B = 2, .H = 3, .Sq = 77, .Sk = 77, .D = 64),               \
        KF_CASE("odd-causal", KF_VERIFY_ONLY, .B = 2, .H = 3, .Sq = 77, .Sk = 77, .D = 64,         \
                .causal = true),                                                                   \
        KF_CASE("heads-D128", KF_VERIFY_ONLY, .B = 2, .H = 2, .Sq = 20, .Sk = 131, .D = 128,       \
                .causal = true),                                                                   \
        KF_FLASH_CASE("odd-D128", 1, 129, 129, 128, true, 0),                                      \
        KF_FLASH_CASE("odd-long", 1, 333, 333, 64, true, 0),                                       \
        KF_FLASH_CASE("odd-1000", 8, 1000, 1000, 64, false, KF_LARGE),                             \
        KF_FLASH_CASE("odd-1000-D128", 8, 1000, 1000, 128, true, KF_LARGE),                        \
        KF_FLASH_CASE("tail-63", 1, 70, 127, 64, false, 0), /* a tile of 64 lacks one key */       \
        KF_FLASH_CASE("tail-63-queries", 1, 127, 70, 64, false, 0),                                \
        KF_FLASH_CASE("few-queries", 2, 33, 200, 64, true, 0),                                     \
        KF_FLASH_CASE("few-queries-D128", 1, 5, 131, 128, true, 0),                                \
        KF_FLASH_CASE("one-key-more", 1, 128, 129, 64, true, 0),   /* one query sees the last */   \
        KF_FLASH_CASE("one-query-more", 1, 129, 128, 64, true, 0), /* the first sees no key */     \
        KF_FLASH_CASE("mask-edge", 1, 66, 448, 64, true,                                           \
                      0), /* Sk - Sq is -2 modulo all tile widths */                               \
        KF_FLASH_CASE("mask-edge-D128", 1, 66, 192, 128, true, 0),                                 \
        KF_FLASH_CASE("two-blocks", 1, 275, 84, 64, true, 0), /* also of 256 queries */            \
        KF_FLASH_CASE("two-blocks-D128", 1, 275, 84, 128, false, 0),                               \
        KF_FLASH_CASE("two-blocks-keys", 1, 84, 275, 64, true, 0), /* also of 256 keys */          \
        KF_FLASH_CASE("two-blocks-keys-D128", 1, 84, 275, 128, false, 0),                          \
        KF_FLASH_CASE("more-queries", 1, 150, 70, 64, false, 0),                                   \
        KF_FLASH_CASE("no-key", 2, 150, 70, 64, true, 0), /* 80 queries of a head see no key */    \
        KF_FLASH_CASE("no-key-D128", 1, 45, 19, 128, true, 0),                                     \
        KF_FLASH_CASE("one-query", 2, 1, 301, 64, true, 0),                                        \
        KF_FLASH_CASE("one-query-D128", 1, 1, 130, 128, false, 0),                                 \
        KF_FLASH_CASE("one-key", 1, 131, 1, 64, false, 0),                                         \
        KF_FLASH_CASE("one-key-causal", 1, 5, 1, 128, true, 0),                                    \
        KF_FLASH_CASE("steep", 2, 129, 129, 64, true, KF_STEEP),                                   \
        KF_FLASH_CASE("steep-D128", 1, 70, 129, 128, false, KF_STEEP),                             \
        KF_FLASH_CASE("rising", 1, 70, 300, 64, true, KF_RISING), /* most scores are masked */     \
        KF_FLASH_CASE("falling-D128", 1, 70, 200, 128, true, KF_FALLING),                          \
        KF_FLASH_CASE("negative", 1, 70, 130, 64, true, KF_NEGATIVE),                              \
        KF_FLASH_CASE("negative-D128", 2, 20, 131, 128, false, KF_NEGATIVE),                       \
        KF_FLASH_CASE("negative-tail-63", 1, 20, 127, 64, false, KF_NEGATIVE),                     \
        KF_FLASH_CASE("negative-tail-D128", 1, 70, 200, 128, false,                                \
                      KF_NEGATIVE), /* two tiles of queries, half a tile of keys */                \
        KF_FLASH_CASE("many-keys", 1, 63, 448, 64, false, 0), /* dq is the sum of many tiles */    \
        KF_FLASH_CASE("cancelling", 1, 63, 448, 64, false,                                         \
                      KF_FLAT), /* dq is small beside its terms: order shows */                    \
        KF_FLASH_CASE("outliers", 1, 200, 200, 64, true, KF_OUTLIERS),                             \
        KF_FLASH_CASE("ones", 1, 500, 40, 64, false, KF_ONES),                                     \
        KF_FLASH_CASE("one-hot", 2, 100, 256, 64, false, KF_FLASH_EXACT_HOT),                      \
        KF_FLASH_CASE("one-hot-D128", 1, 150, 130, 128, true, KF_FLASH_EXACT_HOT),                 \
        KF_FLASH_CASE("one-hot-long", 8, 4099, 8192, 64, true, KF_FLASH_EXACT_HOT | KF_LARGE),     \
        KF_FLASH_CASE("integers", 2, 131, 150, 64, false, KF_FLASH_EXACT_SUMS),                    \
        KF_FLASH_CASE("integers-causal", 1, 255, 150, 64, true, KF_FLASH_EXACT_SUMS),              \
        KF_FLASH_CASE("integers-D128", 1, 131, 150, 128, true, KF_FLASH_EXACT_SUMS),               \
        KF_FLASH_CASE("integers-long", 8, 8191, 8191, 64, true, KF_FLASH_EXACT_SUMS | KF_LARGE),   \
        KF_FLASH_CASE("integers-long-D128", 8, 4099, 8191, 128, false,                             \
                      KF_FLASH_EXACT_SUMS | KF_LARGE)
