/* A header of the toolkit's libcu++ or Thrust as programs of cudacc read it. Thrust declares
 * structs of the names __half and __half2, which are none here, and has no other use for them. The
 * scope of a cuda::atomic_thread_fence is lost, and counts as the widest. */
#pragma GCC system_header
#ifndef CCCL_DISABLE_FP16_SUPPORT
#define CCCL_DISABLE_FP16_SUPPORT
#endif
#pragma push_macro("__CUDACC__")
#pragma push_macro("__NVCC__")
#pragma push_macro("__CUDA_ARCH__")
#pragma push_macro("__atomic_load")
#pragma push_macro("__atomic_thread_fence")
#pragma push_macro("__half")
#pragma push_macro("__half2")
#define __half cpu_thrust_half
#define __half2 cpu_thrust_half2
#undef __CUDACC__
#undef __NVCC__
#undef __CUDA_ARCH__
#undef __atomic_load
#undef __atomic_thread_fence
#define __atomic_load(p, to, order)                                                                \
    (__atomic_load(p, to, order), ::cpu_polled((const volatile void *)(p), to, sizeof *(to)))
#define __atomic_thread_fence(order) (::__threadfence_system(), __atomic_thread_fence(order))
#include "HEADER"
#pragma pop_macro("__half2")
#pragma pop_macro("__half")
#pragma pop_macro("__atomic_thread_fence")
#pragma pop_macro("__atomic_load")
#pragma pop_macro("__CUDA_ARCH__")
#pragma pop_macro("__NVCC__")
#pragma pop_macro("__CUDACC__")
