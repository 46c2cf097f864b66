/* __CUDA_ARCH__ tells device code from host code, which are one compilation here. cudacc
 * looks what becomes of a file that asks for it. Whoever defines it has a device of that kind. */
#ifdef __CUDA_ARCH__
static const int cpu_arch [[maybe_unused]] = cpu_compiled_for(__CUDA_ARCH__);
#else
#pragma GCC poison __CUDA_ARCH__
#endif
