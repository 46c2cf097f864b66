/* Copies by a group through cp.async: the threads copy pieces in turn, and each call is one
 * cp.async group of each thread. Bytes that cp.async cannot copy are copied at once. */
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups
{
namespace details
{
/* Inline PTX in the form that the rewriter gives to asm: the rewriter changes asm in kernels
 * only. */
inline bool copies_between(const void *to, const void *from)
{
    static cpu_asm_site both = {"{\n.reg .pred a, b;\nisspacep.shared a, %1;\n"
                                "isspacep.global b, %2;\nand.pred a, a, b;\n"
                                "selp.u32 %0, 1, 0, a;\n}",
                                "rll",
                                5,
                                __FILE__,
                                __LINE__,
                                nullptr};
    uint64_t reg[5];
    unsigned found;
    cpu_asm_in<'l'>(&reg[1], to);
    cpu_asm_in<'l'>(&reg[2], from);
    cpu_asm(&both, reg);
    cpu_asm_out<'r'>(&reg[0], found);
    return found;
}
template <unsigned bytes>
inline void copy_piece(void *to, const void *from)
{
    static cpu_asm_site copy = {
        "cp.async.ca.shared.global [%0], [%1], %2;", "rln", 3, __FILE__, __LINE__, nullptr};
    uint64_t reg[3];
    cpu_asm_in<'r'>(&reg[0], (unsigned)__cvta_generic_to_shared(to));
    cpu_asm_in<'l'>(&reg[1], from);
    cpu_asm_in<'n'>(&reg[2], bytes);
    cpu_asm(&copy, reg);
}
template <unsigned bytes, class G>
inline size_t copy_pieces(const G &g, char *to, const char *from, size_t all)
{
    for (size_t i = g.thread_rank(); i < all / bytes; i += g.size())
        copy_piece<bytes>(to + i * bytes, from + i * bytes);
    return all / bytes * bytes;
}
template <class G>
inline void copy(const G &g, void *to, const void *from, size_t bytes)
{
    static cpu_asm_site commit = {
        "cp.async.commit_group;", nullptr, 0, __FILE__, __LINE__, nullptr};
    const bool can = copies_between(to, from);
    char *a = static_cast<char *>(to);
    const char *b = static_cast<const char *>(from);
    const uintptr_t either = (uintptr_t)a | (uintptr_t)b;
    size_t done = 0;
    if (can && either % 16 == 0 && bytes >= 16)
        done = copy_pieces<16>(g, a, b, bytes);
    else if (can && either % 8 == 0 && bytes >= 8)
        done = copy_pieces<8>(g, a, b, bytes);
    else if (can && either % 4 == 0 && bytes >= 4)
        done = copy_pieces<4>(g, a, b, bytes);
    for (size_t i = done + g.thread_rank(); i < bytes; i += g.size())
        a[i] = b[i];
    cpu_asm(&commit, nullptr);
}
} // namespace details

/* Copies `bytes` bytes; or as many elements as both sides have. */
template <class G, class T, class S>
inline void memcpy_async(const G &g, T *to, const T *from, const S &bytes)
{
    details::copy(g, to, from, (size_t)bytes);
}
template <class G, class T, class A, class B>
inline void memcpy_async(const G &g, T *to, const A &room, const T *from, const B &there)
{
    const size_t n = (size_t)room < (size_t)there ? (size_t)room : (size_t)there;
    details::copy(g, to, from, n * sizeof(T));
}
/* Waits for the copies of all calls but the latest `stages`. */
template <unsigned stages, class G>
inline void wait_prior(const G &g, CPU_PLACE)
{
    static cpu_asm_site site = {"cp.async.wait_group %0;", "n", 1, __FILE__, __LINE__, nullptr};
    uint64_t reg[1];
    cpu_asm_in<'n'>(&reg[0], stages);
    cpu_asm(&site, reg);
    g.sync(file, line);
}
template <class G>
inline void wait(const G &g, CPU_PLACE)
{
    wait_prior<0>(g, file, line);
}
} // namespace cooperative_groups
