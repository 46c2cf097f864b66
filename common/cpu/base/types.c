/* The types as arrays. */
#include "base/types.h"

#define PTX_NAME(id, name, bits, kind) name,
const char *const ptx_type_names[PTX_TYPES] = {"", PTX_TYPE_LIST(PTX_NAME)};
#define PTX_BITS(id, name, bits, kind) bits,
const unsigned char ptx_type_bits[PTX_TYPES] = {0, PTX_TYPE_LIST(PTX_BITS)};
#define PTX_KIND(id, name, bits, kind) kind,
const unsigned char ptx_type_kinds[PTX_TYPES] = {0, PTX_TYPE_LIST(PTX_KIND)};
