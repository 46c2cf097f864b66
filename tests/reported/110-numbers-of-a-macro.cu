// check: 0
// prints: 5.2e+06 1.25 37
// A number that a macro brings, next to one that begins or ends with its point: 4. * 2e6 * .65 is
// 5.2e6. The sign of an exponent is part of the number.
#include <cstdio>
#define N0S 0.200000000000000E+07
#define TINY 1.e-1f
#define PER .125E+01
#define HEX 0x1p+5
__global__ void k(double *out)
{
    out[0] = 4. * N0S * .65;
    out[1] = 10.f * TINY * PER;
    out[2] = HEX + 5.;
}
int main()
{
    double *d, h[3];
    cudaMalloc(&d, sizeof h);
    k<<<1, 1>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g %g %g\n", h[0], h[1], h[2]);
    cudaFree(d);
}
