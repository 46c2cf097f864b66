// check: 0
// prints: dfaebff0 ce8d8eaf ffffffff 00000005 21534111 00000002 00000003
// SIMD-in-a-word and other integer intrinsics (HeCBench's intrinsics-simd), by hand: de ad be ef
// plus 1 in each byte; its differences from 10 20 30 40; equal bytes; of -8531 and 0 the larger, of
// -16657 and 5; 8531 and 16657; the third set bit.
#include <cstdio>
__global__ void k(unsigned *o, unsigned x)
{
    o[0] = __vadd4(x, 0x01010101);
    o[1] = __vabsdiffu4(x, 0x10203040);
    o[2] = __vcmpeq4(x, x);
    o[3] = __vmaxs2(x, 5);
    o[4] = __vabs2(x);
    o[5] = __fns(x, 0, 3);
    o[6] = __viaddmax_s32(1, 2, 3);
}
int main()
{
    unsigned *d, h[7];
    cudaMalloc(&d, sizeof h);
    k<<<1, 1>>>(d, 0xdeadbeef);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (unsigned v : h)
        printf("%08x ", v);
    cudaFree(d);
}
