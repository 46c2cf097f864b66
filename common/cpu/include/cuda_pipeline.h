/* nvcuda::experimental::pipeline: a thread's cp.async groups. */
#pragma once

#include "cuda_pipeline_primitives.h"

namespace nvcuda
{
namespace experimental
{
class pipeline
{
    size_t stages = 0; /* committed so far */

  public:
    pipeline() = default;
    pipeline(const pipeline &) = delete;
    pipeline &operator=(const pipeline &) = delete;
    size_t commit(CPU_PLACE)
    {
        cpu_async::commit(file, line);
        return stages++;
    }
    void commit_and_wait(CPU_PLACE)
    {
        commit(file, line);
        wait_prior<0>(file, line);
    }
    void wait(size_t stage, CPU_PLACE)
    {
        cpu_async::wait_prior(stage < stages ? stages - stage - 1 : 0, file, line);
    }
    template <unsigned pending>
    void wait_prior(CPU_PLACE)
    {
        cpu_async::wait_prior(pending, file, line);
    }
};
template <class T>
inline void memcpy_async(T &to, const T &from, pipeline &, CPU_PLACE)
{
    cpu_async::copy<alignof(T)>(cpu_async::alone(), &to, &from, sizeof to, file, line);
}
} // namespace experimental
} // namespace nvcuda
