/* The types of values in registers and memory, under PTX's names. */
#pragma once

/* Types: name, bits, and what kind of number that is. */
#define PTX_TYPE_LIST(X)                                                                           \
    X(PRED, "pred", 1, 'p')                                                                        \
    X(B8, "b8", 8, 'b')                                                                            \
    X(B16, "b16", 16, 'b')                                                                         \
    X(B32, "b32", 32, 'b')                                                                         \
    X(B64, "b64", 64, 'b')                                                                         \
    X(B128, "b128", 128, 'b')                                                                      \
    X(U8, "u8", 8, 'u')                                                                            \
    X(U16, "u16", 16, 'u')                                                                         \
    X(U32, "u32", 32, 'u')                                                                         \
    X(U64, "u64", 64, 'u')                                                                         \
    X(S8, "s8", 8, 's')                                                                            \
    X(S16, "s16", 16, 's')                                                                         \
    X(S32, "s32", 32, 's')                                                                         \
    X(S64, "s64", 64, 's')                                                                         \
    X(F16, "f16", 16, 'f')                                                                         \
    X(BF16, "bf16", 16, 'f')                                                                       \
    X(F16X2, "f16x2", 32, 'f')                                                                     \
    X(BF16X2, "bf16x2", 32, 'f')                                                                   \
    X(TF32, "tf32", 32, 'f')                                                                       \
    X(F32, "f32", 32, 'f')                                                                         \
    X(F64, "f64", 64, 'f')
#define PTX_ID(id, name, bits, kind) PTX_##id,
enum ptx_type { PTX_NONE, PTX_TYPE_LIST(PTX_ID) PTX_TYPES };
#undef PTX_ID

/* --- types.c ---------------------------------------------------------------------------------- */
extern const char *const ptx_type_names[PTX_TYPES];
extern const unsigned char ptx_type_bits[PTX_TYPES], ptx_type_kinds[PTX_TYPES];
