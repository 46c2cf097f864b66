#!/usr/bin/env perl
# cudacc --check, CUDACPU_RECORD and CUDACPU_BESIDE: a run is compared with a recorded one. The line where it parts from
# it is named, and nothing is said of what a right program may do otherwise.
# Reads: common/cpu common/cuda/tensor_cores.cuh common/cuda/tma.cuh
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my $dir = scratch_dir();
spew("$dir/demo.cu", <<'CUDA');
#include "cuda/tensor_cores.cuh"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { THREADS = 64, BLOCKS = 8 };
enum mistake { RIGHT, VECTORS, BACKWARDS, MORE, SHIFTED, FEWER, AGAIN, OTHERS, ROUNDING, VALUE, SHUFFLE, LAST, UNSEEN, HALF, LOW, FRAGMENT, COPY, ATOMIC, GRID, TWICE, MUCH, EXTRA, PIECE, SHORT, FRAGMENT_B, SWAPPED, ONCE, FILLED, NO_NUMBER, REPEAT, FOREIGN, CORNER };
static const char *const names[] = {"right", "vectors", "backwards", "more", "shifted", "fewer", "again", "others", "rounding", "value", "shuffle", "last", "unseen", "half", "low", "fragment", "copy", "atomic", "grid", "twice", "much", "extra", "piece", "short", "fragment-b", "swapped", "once", "filled", "no-number", "repeat", "foreign", "corner"};

struct six {
    float v[6];
};

static __device__ __noinline__ float sum_of_warp(float v, bool wrong)
{
    for (int width = 16; width > 0; width /= 2) {
        v += __shfl_xor_sync(0xffffffffu, wrong ? v + 1.0f : v, width); // here: shuffle
    }
    return v;
}

static __global__ void work(const float *x, const float4 *x4, float *y, __half2 *h, float *f,
                            six *sixes, __half *halves, int planted)
{
    __shared__ float s[4 * THREADS];
    const int t = threadIdx.x, i = 4 * (blockIdx.x * THREADS + t);
    const int from = planted == MORE ? i + 4 * THREADS : planted == SHIFTED ? i + THREADS : i;
    float sum = 0.0f;
    if (planted == EXTRA) { // which changes the numbers of names
        __shared__ float extra[THREADS];
        extra[t] = 1.0f;
        sum += extra[t] - 1.0f;
    }
    six whole;
    for (int k = 0; k < 6; k++) {
        whole.v[k] = (planted == PIECE && k == 0 ? 2.0f : 1.0f) + x[i];
    }
    sixes[blockIdx.x * THREADS + t] = whole; // here: piece
    for (int k = 0; k < 2; k++) {
        const int at = planted == BACKWARDS ? 1 - k : k;
        halves[2 * (blockIdx.x * THREADS + t) + at] = __float2half(at + (planted == SHORT && at == 1 ? 2.0f : 1.0f)); // here: short
    }
    if (planted == VECTORS) {
        const float4 v = x4[i / 4];
        sum = ((v.w + v.z) + v.y) + v.x;
    } else if (planted == BACKWARDS) {
        for (int k = 3; k >= 0; k--) {
            sum += x[i + k];
        }
    } else {
        for (int k = 0; k < (planted == FEWER ? 3 : 4); k++) {
            sum += x[planted == REPEAT && k == 2 ? from + 1 : from + k]; // here: more
        }
    }
    for (int k = 0; planted == MUCH && blockIdx.x == 0 && k < 70000; k++) {
        f[(BLOCKS + 1) * THREADS] += x[i] * 0.0f; // here: much
    }
    for (int k = 0; k < (planted == AGAIN ? 2 : 0); k++) {
        sum += x[i + k]; // here: again
    }
    sum *= planted == ROUNDING ? 1.01f : planted == VALUE ? 1.5f : 1.0f;
    s[t] = sum; // here: value
    __syncthreads();
    f[blockIdx.x * THREADS + t] = sum_of_warp(s[planted == OTHERS ? t ^ 1 : t], planted == SHUFFLE); // here: others
    if (planted == LAST && blockIdx.x == BLOCKS - 1) {
        sum = -sum;
    }
    if (planted == UNSEEN && blockIdx.x == BLOCKS - 2) {
        sum = -sum;
    }
    y[blockIdx.x * THREADS + t] = planted == NO_NUMBER ? NAN : sum; // here: last
    const float small = planted == HALF ? -1e-6f : 1e-6f;
    h[blockIdx.x * THREADS + t] = __floats2half2_rn((planted == LOW ? 4.0f : 3.0f) + sum / 1024.0f, 2.0f + small + sum / 1024.0f); // here: half
    const uint32_t of_a = pack_halves(planted == FRAGMENT ? 2.0f : 1.0f, sum / 1024.0f), a[4] = {of_a, of_a, of_a, of_a};
    const uint32_t b[2] = {of_a, pack_halves(planted == FRAGMENT_B ? 2.0f : 1.0f, sum / 1024.0f)};
    float c[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    warp_mma(c, a, b); // here: fragment
    if (t % 4 == 0) {
        copy_async(shared_address(&s[3 * THREADS + t]), &x[4 * BLOCKS * THREADS + (planted == COPY ? t + 4 : t)], 16); // here: copy
    }
    copy_async_commit();
    copy_async_wait<0>();
    atomicAdd(&f[(BLOCKS + 1) * THREADS + (planted == ATOMIC && t == 5)], 1.0f); // here: atomic
}

static __global__ void fill(float *p, float v, float corner)
{
    const int t = threadIdx.x + 2 * (threadIdx.y + 4 * threadIdx.z);
    p[t] = t == 45 ? corner : v; // here: filled
}

static __global__ void walk(const float *x, float *y, int planted)
{
    float sum = 0.0f;
    for (int k = 0; k < 40; k++) {
        sum += x[40 * threadIdx.x + (planted != FOREIGN ? k : k == 0 ? 39 : k == 1 || k == 39 ? 200 + k : k)]; // here: walk
    }
    y[threadIdx.x] = sum;
}

int main(int, char **v)
{
    float *x, *y, *f;
    __half2 *h;
    __half *halves;
    six *sixes;
    int planted = 0;
    while (strcmp(names[planted], v[1]) != 0) {
        planted++;
    }
    const size_t n = (BLOCKS + 1) * THREADS;
    cudaMalloc(&x, 4 * n * sizeof *x);
    cudaMalloc(&y, n * sizeof *y);
    cudaMalloc(&h, n * sizeof *h);
    cudaMalloc(&f, (n + 2) * sizeof *f);
    cudaMalloc(&sixes, n * sizeof *sixes);
    cudaMalloc(&halves, 2 * n * sizeof *halves);
    float *host = (float *)malloc(4 * n * sizeof *host);
    for (size_t i = 0; i < 4 * n; i++) {
        host[i] = (float)(i % 977) / 64.0f;
    }
    cudaMemcpy(x, host, 4 * n * sizeof *x, cudaMemcpyHostToDevice);
    cudaMemset(f, 0, (n + 2) * sizeof *f);
    for (int k = 0; k < (planted == ONCE ? 1 : 2); k++) { // two launches, in one order or the other
        const int which = planted == SWAPPED ? 1 - k : k;
        const float with = planted == FILLED && which ? 3.0f : which + 1.0f;
        fill<<<1, dim3(2, 4, 8)>>>(which ? y : (float *)h, with, planted == CORNER ? 7.0f : with);
    }
    walk<<<1, 2>>>(x, y, planted);
    work<<<planted == GRID ? BLOCKS + 1 : BLOCKS, THREADS>>>(x, (const float4 *)x, y, h, f, sixes, halves, planted);
    if (planted == TWICE) {
        work<<<BLOCKS, THREADS>>>(x, (const float4 *)x, y, h, f, sixes, halves, planted);
    }
    cudaDeviceSynchronize();
    cudaFree(x), cudaFree(y), cudaFree(h), cudaFree(f), cudaFree(sixes), cudaFree(halves), free(host);
    return 0;
}
CUDA
my ($n, %line) = 0;
for (split /\n/, slurp("$dir/demo.cu")) {
    $n++;
    $line{$1} = $n if m{// here: (\w+)};
}
my %r = run("common/cpu/cudacc --check -O1 -g1 -Icommon $dir/demo.cu -o $dir/demo && cd $dir && CUDACPU_RECORD=right ./demo right");
is("$r{code} $r{err}", "0 check: no findings\n", "a run is recorded") or diag($r{err});

# The lines that a mistake gets, two at most, without "differs: ".
sub parts {
    my ($mistake) = @_;
    my %r = run("cd $dir && CUDACPU_BESIDE=right ./demo $mistake");
    is($r{code}, 0, "$mistake: is no finding") or diag($r{err});
    return join "", map { "$_\n" } $r{err} =~ /^differs: (.*)$/mg;
}
my $of = qr/of kernel work \(launched at \S*demo\.cu:\d+\)/;
my $value = "the first value that differs: ";
for (["more", qr/^read at demo\.cu:$line{more} by thread \(0,0,0\) of block \(0,0,0\) $of: byte 1024 of allocation 1 \(and 255 more places\), which the recorded run's block never reads; there its thread comes to byte 0 of allocation 1$/],
    ["shifted", qr/^read at demo\.cu:$line{more} by thread \(0,0,0\) of block \(0,0,0\) $of: byte 256 of allocation 1, where this thread in the recorded run comes to byte 0 of allocation 1\nwrite at demo\.cu:$line{value} by/],
    ["fewer", qr/^block \(0,0,0\) $of never reads byte 12 of allocation 1 \(and 63 more places\), as the recorded run does, by thread \(0,0,0\) \(the compiler drops a read whose value nothing uses\)\nwrite at demo\.cu:$line{value} by/],
    ["again", qr/^read at demo\.cu:$line{again} by thread \(0,0,0\) of block \(0,0,0\) $of: byte 0 of allocation 1, to which this thread in the recorded run does not come again; it is the place of the read at demo\.cu:$line{more}, too\nwrite at /],
    ["others", qr/^read at demo\.cu:$line{others} by thread \(0,0,0\) of block \(0,0,0\) $of: byte 4 of s, where this thread in the recorded run comes to byte 0 of s\nshuffle at /],
    ["value", qr/^\Q$value\Ewrite at demo\.cu:$line{value} by thread \(0,0,0\) of block \(0,0,0\) $of: to byte 0 of s \S+, in the recorded run \S+$/],
    ["shuffle", qr/^\Q$value\Eshuffle at demo\.cu:$line{shuffle} by thread \(\d+,0,0\) of block \(0,0,0\) $of: passes \S+, in the recorded run \S+$/],
    ["last", qr/^\Q$value\Ewrite at demo\.cu:$line{last} by thread \(0,0,0\) of block \(7,0,0\) $of: to byte 1792 of allocation 2 -\S+, in the recorded run \d\S+$/],
    ["low", qr/^\Q$value\Ewrite at demo\.cu:$line{half} by thread \(0,0,0\) of block \(0,0,0\) $of: to byte 0 of allocation 3 \(4, (\S+)\), in the recorded run \(3, \1\)$/],
    ["fragment", qr/^\Q$value\Emma at \S*common\/cuda\/tensor_cores\.cuh:\d+ \(called at demo\.cu:$line{fragment}\) by thread \(0,0,0\) of block \(0,0,0\) $of: register 0 of A is \(2, \S+\), in the recorded run \(1, \S+\)$/],
    ["fragment-b", qr/^\Q$value\Emma at .*: register 1 of B is \(2, \S+\), in the recorded run \(1, \S+\)$/],
    ["piece", qr/^\Q$value\Ewrite at demo\.cu:$line{piece} by thread \(0,0,0\) of block \(0,0,0\) $of: to byte 0 of allocation 5 2, in the recorded run 1$/],
    ["short", qr/^\Q$value\Ewrite at demo\.cu:$line{short} by thread \(0,0,0\) of block \(0,0,0\) $of: to byte 2 of allocation 6 3, in the recorded run 2$/],
    ["filled", qr/^\Q$value\Ewrite at demo\.cu:$line{filled} by thread \(0,0,0\) of block \(0,0,0\) of kernel fill \(launched at \S+\): to byte 0 of allocation 2 3, in the recorded run 2$/],
    ["copy", qr/^read at .*\(called (?:at|from) demo\.cu:$line{copy}\) by thread \(0,0,0\) of block \(0,0,0\) $of: byte 8208 of allocation 1, where this thread in the recorded run comes to byte 8192 of allocation 1$/],
    ["no-number", qr/^\Q$value\Ewrite at demo\.cu:$line{last} by thread \(0,0,0\) of block \(0,0,0\) $of: to byte 0 of allocation 2 -?nan, in the recorded run \S+$/],
    ["repeat", qr/^read at demo\.cu:$line{more} by thread \(0,0,0\) of block \(0,0,0\) $of: byte 4 of allocation 1, where this thread in the recorded run comes to byte 8 of allocation 1\n/],
    ["foreign", qr/^read at demo\.cu:$line{walk} by thread \(0,0,0\) .*: byte 804 of allocation 1 \(and 3 more places\), which the recorded run's block never reads; that block alone reads byte 0 of allocation 1 \(and 3 more places\)$/],
    ["corner", qr/^\Q$value\Ewrite at demo\.cu:$line{filled} by thread \(1,2,5\) of block \(0,0,0\) of kernel fill /],
    ["atomic", qr/^atomic at demo\.cu:$line{atomic} by thread \(5,0,0\) of block \(0,0,0\) $of: byte 2308 of allocation 4, which the recorded run's block never adds to; there its thread comes to byte 2304 of allocation 4$/],
    # Nothing is said of differences that a right program may have, nor of blocks that are not looked at.
    ["right", qr/^$/], ["vectors", qr/^$/], ["backwards", qr/^$/], ["rounding", qr/^$/], ["half", qr/^$/], ["extra", qr/^$/], ["swapped", qr/^$/], ["unseen", qr/^$/],
    ["grid", qr/^launched at \S+ is work<<<\(9,1,1\), \(64,1,1\)>>>, in the recorded run work<<<\(8,1,1\), \(64,1,1\)>>>$/],
    ["once", qr/^nothing more is launched, in the recorded run fill<<<\(1,1,1\), \(2,4,8\)>>>$/],
    ["twice", qr/^launched at \S+ is work<<<\(8,1,1\), \(64,1,1\)>>>, in the recorded run nothing more$/]) {
    my ($mistake, $said) = @$_;
    like(parts($mistake), $said, $mistake);
}
# Where there are too many events for all, the blocks before are compared, and no more is said.
run("cd $dir && CUDACPU_RECORD=much ./demo much");
for (["right", qr/^check: /], ["once", qr/^check: /], ["value", qr/^differs: \Q$value\Ewrite at demo\.cu:$line{value} /]) {
    my ($mistake, $said) = @$_;
    my %r = run("cd $dir && CUDACPU_BESIDE=much ./demo $mistake");
    like($r{err}, $said, "$mistake, beside one that has too much");
}
# A record that cannot be read or written is said to be so, and changes nothing else.
spew("$dir/short", substr(slurp("$dir/right"), 0, 1000));
for (["CUDACPU_BESIDE=short", "is no whole record"], ["CUDACPU_BESIDE=none", "is no whole record"], ["CUDACPU_RECORD=no/where", "cannot be written"]) {
    my ($setting, $said) = @$_;
    %r = run("cd $dir && $setting ./demo right");
    is("$r{code} $r{err}", "0 check: $setting: $said\ncheck: no findings\n", $setting);
}
%r = run("cd $dir && CUDACPU_BESIDE= ./demo value");
is("$r{code} $r{err}", "0 check: no findings\n", "an empty setting is none");

done_testing();
