/* __CUDA_ARCH__ tells device code from host code, which are one compilation here. Whoever asks for
 * it is told so, unless -D__CUDA_ARCH__ has said what the answer is. */
#pragma GCC poison __CUDA_ARCH__
