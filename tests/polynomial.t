#!/usr/bin/env perl
# Step 29's exponential of FMA units is as near to 2^x as its comment says, over all exponents.
# Reads: common steps/29-flash-wgmma
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my $dir = scratch_dir();
spew("$dir/sweep.cu", <<'CUDA');
#include "steps/29-flash-wgmma/polynomial.cuh"
#include <cstdio>
__global__ void sweep(uint32_t first, uint32_t by, int n, float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = __uint_as_float(first + by * i);
        y[i] = exp2_polynomial(x[i]);
    }
}
// Floats from one to another of the same sign, every 1009th: the largest relative error, where 2^x is normal.
static void over(const char *name, float from, float to)
{
    uint32_t a, b;
    memcpy(&a, &from, 4), memcpy(&b, &to, 4);
    const int n = (int)((b - a) / 1009) + 1;
    float *x, *y;
    cudaMalloc(&x, 4 * n), cudaMalloc(&y, 4 * n);
    sweep<<<(n + 255) / 256, 256>>>(a, 1009, n, x, y);
    cudaDeviceSynchronize();
    double worst = 0, tiny = 0;
    for (int i = 0; i < n; i++) {
        if (x[i] >= -126)
            worst = fmax(worst, fabs(y[i] / exp2((double)x[i]) - 1));
        else
            tiny = fmax(tiny, y[i] >= 0 ? y[i] : 1);
    }
    printf("%s %d %.3g %.3g %.9g\n", name, n, worst, tiny * exp2(126), y[0]);
}
int main()
{
    over("below", -0.0f, -200.0f);
    over("above", 0.0f, 0.5f);
    over("half", -0.25f, -0.5f);
}
CUDA
my %r = run("common/cpu/cudacc -O2 -I. -Icommon $dir/sweep.cu -o $dir/sweep && $dir/sweep");
is($r{code}, 0, "the sweep runs") or BAIL_OUT($r{err});
my %sweep = map { my ($name, @of) = split; $name => \@of } split /\n/, $r{out};
my ($degree, $rounding) = slurp("steps/29-flash-wgmma/polynomial.cuh") =~ /least: (\S+)\. .*?\n.*? less than (\S+)\. Degree/s;
ok($degree && $rounding, "the comment has both parts of the bound");
for my $name (qw(below above half)) {
    my ($n, $worst, $tiny, $first) = @{$sweep{$name}};
    cmp_ok($n, ">", 8000, "$name: $n floats");
    cmp_ok($worst, "<=", $degree + $rounding, "$name: off by at most $degree and $rounding");
    cmp_ok($tiny, "<", 1, "$name: where the result has no exponent left it is smaller than any that has, and no other sign");
    is($first, 1, "2^0 is 1") if $name ne "half";
}
cmp_ok($sweep{below}[1], ">", 0.95 * $degree, "and the bound is no larger than it need be");
done_testing();
