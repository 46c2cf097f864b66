/* A header of the toolkit's libcu++ as programs of cudacc read it. */
#pragma GCC system_header
#ifndef CCCL_DISABLE_FP16_SUPPORT
#define CCCL_DISABLE_FP16_SUPPORT
#endif
#pragma push_macro("__CUDACC__")
#pragma push_macro("__CUDA_ARCH__")
#pragma push_macro("__atomic_load")
#pragma push_macro("__atomic_thread_fence")
#undef __CUDACC__
#undef __CUDA_ARCH__
#undef __atomic_load
#undef __atomic_thread_fence
#define __atomic_load(p, to, order)                                                                \
    (__atomic_load(p, to, order), ::cpu_polled((const volatile void *)(p), to, sizeof *(to)))
#define __atomic_thread_fence(order) (::__threadfence(), __atomic_thread_fence(order))
#include "HEADER"
#pragma pop_macro("__atomic_thread_fence")
#pragma pop_macro("__atomic_load")
#pragma pop_macro("__CUDA_ARCH__")
#pragma pop_macro("__CUDACC__")
