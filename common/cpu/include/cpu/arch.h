/* __CUDA_ARCH__ distinguishes device code from host code, which are one compilation here. In a file
 * that tests it, the poison is an error, and cudacc merges the sources of device and host. A
 * program that defines it gets a device of that compute capability. */
#ifdef __CUDA_ARCH__
#ifdef __CUDA_ARCH_SPECIFIC__ /* nvcc defines it for sm_90a, as 900 */
static const int cpu_arch [[maybe_unused]] = cpu_compiled_for(__CUDA_ARCH__, 1);
#else
static const int cpu_arch [[maybe_unused]] = cpu_compiled_for(__CUDA_ARCH__, 0);
#endif
#else
#pragma GCC poison __CUDA_ARCH__
#endif
