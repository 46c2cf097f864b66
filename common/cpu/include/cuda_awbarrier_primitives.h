/* mbarriers as C functions. */
#pragma once

#include "cpu/async_barrier.h"

typedef uint64_t __mbarrier_t;
typedef uint64_t __mbarrier_token_t;

inline uint32_t __mbarrier_maximum_count()
{
    return (1 << 20) - 1;
}
inline void __mbarrier_init(__mbarrier_t *b, uint32_t arrivals, CPU_PLACE)
{
    cpu_async::init(b, arrivals, file, line);
}
inline void __mbarrier_inval(__mbarrier_t *b, CPU_PLACE)
{
    cpu_async::inval(b, file, line);
}
inline __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *b, CPU_PLACE)
{
    return cpu_async::arrive(b, 1, file, line);
}
inline __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *b, CPU_PLACE)
{
    return cpu_async::arrive_and_drop(b, file, line);
}
inline uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token)
{
    return (uint32_t)(token >> 32);
}
inline bool __mbarrier_test_wait(__mbarrier_t *b, __mbarrier_token_t token, CPU_PLACE)
{
    return cpu_async::test_wait(b, token, file, line);
}
inline bool __mbarrier_test_wait_parity(__mbarrier_t *b, bool parity, CPU_PLACE)
{
    return cpu_async::test_wait_parity(b, parity, file, line);
}
inline bool __mbarrier_try_wait(__mbarrier_t *b, __mbarrier_token_t token, uint32_t = 0, CPU_PLACE)
{
    return cpu_async::try_wait(b, token, file, line);
}
inline bool __mbarrier_try_wait_parity(__mbarrier_t *b, bool parity, uint32_t = 0, CPU_PLACE)
{
    return cpu_async::try_wait_parity(b, parity, file, line);
}
