/* __CUDA_ARCH__ tells device code from host code, which are one compilation here. cudacc
 * looks what becomes of a file that asks for it. */
#pragma GCC poison __CUDA_ARCH__
