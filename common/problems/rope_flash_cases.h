/* rope_flash_cases.h: cases for the tables of steps 32 to 37.
 *
 * The lengths of one causal experiment: 8 heads at D = 64 up to S = 8192, 32 heads at D = 128 up
 * to 16384. The batch shrinks while S grows, and then the number of heads. pass: names what is
 * run, and is the data of a case; names are forward-D128-S8192 and so on. KF_ROPE_FLASH_ODD:
 * cases where tiling, or the look-up of positions in tables, goes wrong. KF_ROPE_FLASH_EXACT: of
 * the forward pass, those for which only one fp16 result is right, or a logarithm that is known to
 * seven digits; KF_ROPE_FLASH_EXACT_BACK: of the backward pass. They are never timed; the small
 * ones run on a CPU. */
#pragma once

#include "rope_flash.h"

#define KF_ROPE_FLASH_SQUARE(pass, b, h, s, d, more)                                               \
    {                                                                                              \
        .name = #pass "-D" #d "-S" #s,                                                             \
        .shape = {.B = b, .H = h, .Sq = s, .Sk = s, .D = d, .R = d, .causal = true},               \
        .flags = KF_LARGE | (more), .data = &pass                                                  \
    }
/* more: further flags of cases from S = 2048 on. */
#define KF_ROPE_FLASH_D64(pass, more)                                                              \
    KF_ROPE_FLASH_SQUARE(pass, 4, 8, 512, 64, 0), KF_ROPE_FLASH_SQUARE(pass, 4, 8, 1024, 64, 0),   \
        KF_ROPE_FLASH_SQUARE(pass, 2, 8, 2048, 64, more),                                          \
        KF_ROPE_FLASH_SQUARE(pass, 2, 8, 4096, 64, more),                                          \
        KF_ROPE_FLASH_SQUARE(pass, 1, 8, 8192, 64, more)
#define KF_ROPE_FLASH_D128(pass, more)                                                             \
    KF_ROPE_FLASH_SQUARE(pass, 4, 32, 512, 128, 0),                                                \
        KF_ROPE_FLASH_SQUARE(pass, 4, 32, 1024, 128, 0),                                           \
        KF_ROPE_FLASH_SQUARE(pass, 2, 32, 2048, 128, more),                                        \
        KF_ROPE_FLASH_SQUARE(pass, 2, 32, 4096, 128, more),                                        \
        KF_ROPE_FLASH_SQUARE(pass, 1, 32, 8192, 128, more),                                        \
        KF_ROPE_FLASH_SQUARE(pass, 1, 32, 16384, 128, more),                                       \
        KF_ROPE_FLASH_SQUARE(pass, 1, 16, 32768, 128, more),                                       \
        KF_ROPE_FLASH_SQUARE(pass, 1, 8, 65536, 128, more),                                        \
        KF_ROPE_FLASH_SQUARE(pass, 1, 4, 131072, 128, more)
#define KF_ROPE_FLASH_TIMED(pass, more)                                                            \
    KF_ROPE_FLASH_D64(pass, more), KF_ROPE_FLASH_D128(pass, more)

/* An odd shape; far: its first position. */
#define KF_ROPE_FLASH_CASE(pass, case_name, batches, heads, queries, keys, d, mask, far, more)     \
    {                                                                                              \
        .name = #pass "-" case_name,                                                               \
        .shape = {.B = batches,                                                                    \
                  .H = heads,                                                                      \
                  .Sq = queries,                                                                   \
                  .Sk = keys,                                                                      \
                  .D = d,                                                                          \
                  .R = d,                                                                          \
                  .causal = mask,                                                                  \
                  .pos0 = far},                                                                    \
        .flags = KF_VERIFY_ONLY | (more), .data = &pass                                            \
    }
#define KF_ROPE_FLASH_ODD(pass)                                                                    \
    KF_ROPE_FLASH_CASE(pass, "small", 1, 2, 128, 128, 64, true, 0, 0),                             \
        KF_ROPE_FLASH_CASE(pass, "small-D128", 1, 1, 128, 128, 128, true, 0, 0),                   \
        KF_ROPE_FLASH_CASE(pass, "S192", 1, 2, 192, 192, 64, true, 0, 0),                          \
        KF_ROPE_FLASH_CASE(pass, "S256", 1, 2, 256, 256, 64, true, 0, 0),                          \
        KF_ROPE_FLASH_CASE(pass, "odd", 2, 3, 77, 77, 64, true, 0, 0),                             \
        KF_ROPE_FLASH_CASE(pass, "odd-D128", 1, 1, 129, 129, 128, true, 3, 0),                     \
        KF_ROPE_FLASH_CASE(pass, "full", 1, 1, 150, 200, 64, false, 5, 0), /* no mask */           \
        KF_ROPE_FLASH_CASE(pass, "full-D128", 1, 2, 33, 190, 128, false, 0, 0),                    \
        KF_ROPE_FLASH_CASE(pass, "far", 1, 2, 131, 131, 64, true, 131072 - 131, 0),                \
        KF_ROPE_FLASH_CASE(pass, "far-D128", 1, 1, 70, 200, 128, true, 131072 - 200, 0),           \
        KF_ROPE_FLASH_CASE(pass, "million", 1, 1, 21, 70, 64, true, (1 << 20) - 40, 0),            \
        KF_ROPE_FLASH_CASE(pass, "long-D128", 1, 1, 5, 448, 128, true, 3, 0),                      \
        KF_ROPE_FLASH_CASE(pass, "few-queries", 2, 1, 5, 131, 128, true, 9, 0),                    \
        KF_ROPE_FLASH_CASE(pass, "one-query", 1, 2, 1, 301, 64, true, 1000, 0),                    \
        KF_ROPE_FLASH_CASE(pass, "one-key", 1, 1, 1, 1, 64, true, 77, 0),                          \
        KF_ROPE_FLASH_CASE(pass, "mask-edge", 1, 1, 66, 448, 64, true, 0, 0),                      \
        KF_ROPE_FLASH_CASE(pass, "steep", 1, 2, 129, 129, 64, true, 0, KF_STEEP),                  \
        KF_ROPE_FLASH_CASE(pass, "steep-D128", 1, 1, 33, 70, 128, true, 0, KF_STEEP),              \
        KF_ROPE_FLASH_CASE(pass, "outliers", 1, 1, 150, 200, 64, true, 40, KF_OUTLIERS),           \
        KF_ROPE_FLASH_CASE(pass, "odd-1000", 1, 8, 1000, 1000, 64, true, 0, KF_LARGE),             \
        KF_ROPE_FLASH_CASE(pass, "odd-1000-D128", 1, 8, 1000, 1000, 128, true, 9000, KF_LARGE)
/* Many tiles: a sum that is rounded between them shows. */
#define KF_ROPE_FLASH_EXACT(pass)                                                                  \
    KF_ROPE_FLASH_CASE(pass, "equal", 1, 1, 64, 480, 64, false, 0, KF_EQUAL),                      \
        KF_ROPE_FLASH_CASE(pass, "equal-D128", 1, 1, 64, 240, 128, true, 3, KF_EQUAL),             \
        KF_ROPE_FLASH_CASE(pass, "ones", 1, 1, 70, 300, 64, true, 0, KF_ONES),                     \
        KF_ROPE_FLASH_CASE(pass, "ones-D128", 1, 1, 64, 240, 128, false, 9, KF_ONES),              \
        KF_ROPE_FLASH_CASE(pass, "one-hot", 1, 2, 64, 240, 64, false, 0, KF_ONE_HOT),              \
        KF_ROPE_FLASH_CASE(pass, "one-hot-D128", 1, 1, 64, 130, 128, true, 7, KF_ONE_HOT)
#define KF_ROPE_FLASH_EXACT_BACK(pass)                                                             \
    KF_ROPE_FLASH_CASE(pass, "equal", 1, 1, 128, 128, 64, false, 0, KF_EQUAL),                     \
        KF_ROPE_FLASH_CASE(pass, "equal-D128", 1, 1, 100, 128, 128, false, 5, KF_EQUAL)
