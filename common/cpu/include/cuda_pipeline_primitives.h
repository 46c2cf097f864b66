/* cp.async copies and their groups as C functions. */
#pragma once

#include "cuda_awbarrier_primitives.h"

/* Copies 4, 8 or 16 bytes; the last `zeros` of them are not read. */
inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0,
                                    CPU_PLACE)
{
    if (bytes == 16)
        cpu_async::copy_piece<16>(to, from, (unsigned)zeros, file, line);
    else if (bytes == 8)
        cpu_async::copy_piece<8>(to, from, (unsigned)zeros, file, line);
    else if (bytes == 4)
        cpu_async::copy_piece<4>(to, from, (unsigned)zeros, file, line);
    else
        cpu_trap(cudaErrorLaunchFailure, "__pipeline_memcpy_async needs 4, 8 or 16 bytes", file,
                 line);
}
inline void __pipeline_commit(CPU_PLACE)
{
    cpu_async::commit(file, line);
}
inline void __pipeline_wait_prior(size_t pending, CPU_PLACE)
{
    cpu_async::wait_prior(pending, file, line);
}
inline void __pipeline_arrive_on(__mbarrier_t *b, CPU_PLACE)
{
    cpu_async::copies_arrive(b, file, line);
}
