/* flash_cases.h: cases for the tables of steps that compute attention in fp16.
 *
 * KF_FLASH_TIMED: 4 batches of 8 heads, D = 64 and 128, with and without mask, 512 to 16384
 * queries and keys; the names are D64-S512, D128-S512-causal and so on. KF_FLASH_TIMED_WITH adds
 * the flags `more` to the cases from 2048 on, but at_8192 to those of 8192, since KF_ALONE takes
 * seconds per case and variant. KF_FLASH_ODD: cases where kernels that work in tiles go wrong.
 * They are never timed; the small ones run on a CPU. */
#pragma once

#include "flash.h"

#define KF_FLASH_SQUARE_WITH(d, s, more)                                                           \
    KF_CASE("D" #d "-S" #s, KF_LARGE | (more), .B = 4, .H = 8, .Sq = s, .Sk = s, .D = d)
#define KF_FLASH_CAUSAL_WITH(d, s, more)                                                           \
    KF_CASE("D" #d "-S" #s "-causal", KF_LARGE | (more), .B = 4, .H = 8, .Sq = s, .Sk = s, .D = d, \
            .causal = true)
#define KF_FLASH_SQUARE(d, s) KF_FLASH_SQUARE_WITH(d, s, 0)
#define KF_FLASH_CAUSAL(d, s) KF_FLASH_CAUSAL_WITH(d, s, 0)
#define KF_FLASH_LENGTHS(shape, d, more, at_8192)                                                  \
    shape(d, 512, 0), shape(d, 1024, 0), shape(d, 2048, more), shape(d, 4096, more),               \
        shape(d, 8192, at_8192), shape(d, 16384, more)
#define KF_FLASH_TIMED_WITH(more, at_8192)                                                         \
    KF_FLASH_LENGTHS(KF_FLASH_SQUARE_WITH, 64, more, at_8192),                                     \
        KF_FLASH_LENGTHS(KF_FLASH_CAUSAL_WITH, 64, more, at_8192),                                 \
        KF_FLASH_LENGTHS(KF_FLASH_SQUARE_WITH, 128, more, at_8192),                                \
        KF_FLASH_LENGTHS(KF_FLASH_CAUSAL_WITH, 128, more, at_8192)
#define KF_FLASH_TIMED KF_FLASH_TIMED_WITH(0, 0)

#define KF_FLASH_CASE(case_name, heads, queries, keys, d, mask, more)                              \
    KF_CASE(case_name, KF_VERIFY_ONLY | (more), .B = 1, .H = heads, .Sq = queries, .Sk = keys,     \
            .D = d, .causal = mask)
#define KF_FLASH_ODD                                                                               \
    KF_FLASH_CASE("small", 2, 128, 128, 64, false, 0),                                             \
        KF_FLASH_CASE("small-causal", 2, 128, 128, 64, true, 0),                                   \
        KF_FLASH_CASE("small-D128", 2, 128, 128, 128, false, 0),                                   \
        KF_CASE("odd", KF_VERIFY_ONLY, .B = 2, .H = 3, .Sq = 77, .Sk = 77, .D = 64),               \
        KF_CASE("odd-causal", KF_VERIFY_ONLY, .B = 2, .H = 3, .Sq = 77, .Sk = 77, .D = 64,         \
                .causal = true),                                                                   \
        KF_FLASH_CASE("odd-D128", 1, 129, 129, 128, true, 0),                                      \
        KF_FLASH_CASE("odd-long", 1, 333, 333, 64, true, 0),                                       \
        KF_FLASH_CASE("odd-1000", 8, 1000, 1000, 64, false, KF_LARGE),                             \
        KF_FLASH_CASE("odd-1000-D128", 8, 1000, 1000, 128, true, KF_LARGE),                        \
        KF_FLASH_CASE("tail-63", 1, 70, 127, 64, false, 0), /* a tile of 64 lacks one key */       \
        KF_FLASH_CASE("few-queries", 2, 33, 200, 64, true, 0),                                     \
        KF_FLASH_CASE("few-queries-D128", 1, 5, 131, 128, true, 0),                                \
        KF_FLASH_CASE("one-key-more", 1, 128, 129, 64, true, 0), /* one query sees the last */     \
        KF_FLASH_CASE("mask-edge", 1, 66, 448, 64, true,                                           \
                      0), /* Sk - Sq is -2 modulo all tile widths */                               \
        KF_FLASH_CASE("mask-edge-D128", 1, 66, 448, 128, true, 0),                                 \
        KF_FLASH_CASE("two-blocks", 1, 275, 84, 64, true, 0), /* also of 256 queries */            \
        KF_FLASH_CASE("two-blocks-D128", 1, 275, 84, 128, true, 0),                                \
        KF_FLASH_CASE("more-queries", 1, 150, 70, 64, false, 0),                                   \
        KF_FLASH_CASE("no-key", 2, 150, 70, 64, true, 0), /* 80 queries of a head see no key */    \
        KF_FLASH_CASE("no-key-D128", 1, 45, 19, 128, true, 0),                                     \
        KF_FLASH_CASE("one-query", 2, 1, 301, 64, true, 0),                                        \
        KF_FLASH_CASE("one-query-D128", 1, 1, 130, 128, false, 0),                                 \
        KF_FLASH_CASE("one-key", 1, 5, 1, 64, false, 0),                                           \
        KF_FLASH_CASE("one-key-causal", 1, 5, 1, 128, true, 0),                                    \
        KF_FLASH_CASE("steep", 2, 129, 129, 64, true, KF_STEEP),                                   \
        KF_FLASH_CASE("steep-D128", 1, 70, 129, 128, false, KF_STEEP),                             \
        KF_FLASH_CASE("rising", 1, 70, 300, 64, false, KF_RISING),                                 \
        KF_FLASH_CASE("rising-D128", 1, 129, 200, 128, true, KF_RISING),                           \
        KF_FLASH_CASE("falling", 1, 70, 300, 64, false, KF_FALLING),                               \
        KF_FLASH_CASE("falling-D128", 1, 70, 200, 128, false, KF_FALLING),                         \
        KF_FLASH_CASE("falling-long", 1, 16, 16384, 64, false, KF_FALLING | KF_FLAT | KF_CHECKED), \
        KF_FLASH_CASE("negative", 1, 70, 130, 64, true, KF_NEGATIVE),                              \
        KF_FLASH_CASE("negative-D128", 2, 20, 131, 128, false, KF_NEGATIVE),                       \
        KF_FLASH_CASE("outliers", 1, 200, 200, 64, true, KF_OUTLIERS),                             \
        KF_FLASH_CASE("one-hot", 2, 100, 256, 64, false, KF_ONE_HOT),                              \
        KF_FLASH_CASE("one-hot-causal", 1, 150, 130, 128, true, KF_ONE_HOT),                       \
        KF_FLASH_CASE("one-hot-long", 8, 4099, 8192, 64, true, KF_ONE_HOT | KF_LARGE),             \
        KF_FLASH_CASE("integers", 1, 100, 255, 64, false, KF_INTEGERS),                            \
        KF_FLASH_CASE("integers-causal", 1, 131, 150, 128, true, KF_INTEGERS),                     \
        KF_FLASH_CASE("odd-integers", 1, 100, 255, 64, false, KF_INTEGERS | KF_ODD),               \
        KF_FLASH_CASE("odd-integers-D128", 1, 40, 510, 128, true, KF_INTEGERS | KF_ODD),           \
        KF_FLASH_CASE("ones", 1, 70, 300, 64, false, KF_ONES),                                     \
        KF_FLASH_CASE("ones-D128", 2, 33, 500, 128, true, KF_ONES),                                \
        KF_FLASH_CASE("integers-long", 8, 8191, 8191, 128, true, KF_INTEGERS | KF_LARGE)
