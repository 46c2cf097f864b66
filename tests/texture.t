#!/usr/bin/env perl
# Textures and surfaces on a CPU: each operation, each report, and what the instruments make of them.
# Reads: common/cuda common/harness tests/cpu
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Backend;
use Workbook;

build(map { ["texture", $_] } @cxx);
for my $cxx (@cxx) {
    my ($out, $rc) = output("CUDACPU_ORDER=forward $dir/texture-$cxx 2>/dev/null");
    ok($rc == 0 && $out =~ /^\d+ checks, 0 failed$/m, "texture-$cxx, forward") or diag($out);
}

# A fetch that the object is not for stops the kernel with a line; so does an object that is none.
my $kernels = "__global__ void one(cudaTextureObject_t t, float *p) { *p = tex1D<float>(t, 0.5f); }\n"
    . "__global__ void whole(cudaTextureObject_t t, float *p) { p[threadIdx.x] = tex1Dfetch<float>(t, (int)threadIdx.x); }\n"
    . "__global__ void odd(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, 2, 0); }\n";
my $objects = "int main()\n{\n    float *p;\n    cudaMalloc(&p, 256);\n    cudaMemset(p, 0, 256);\n    cudaResourceDesc r = {};\n"
    . "    r.resType = cudaResourceTypeLinear;\n    r.res.linear.devPtr = p;\n    r.res.linear.desc = cudaCreateChannelDesc<float>();\n"
    . "    r.res.linear.sizeInBytes = 128;\n    cudaTextureDesc d = {};\n    cudaTextureObject_t t;\n"
    . "    cudaCreateTextureObject(&t, &r, &d, NULL);\n%s    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3;\n}\n";
for my $case (["one<<<1, 1>>>(t, p);", qr/tex1D of an object of linear memory: need tex1Dfetch \(file\.cu:1\)/],
    ["cudaTextureObject_t old = t; cudaDestroyTextureObject(t); cudaCreateTextureObject(&t, &r, &d, NULL); whole<<<1, 1>>>(old, p);",
        qr/tex1Dfetch: there is no texture object 0x[0-9a-f]+ \(file\.cu:2\)/],
    ["cudaArray_t a; cudaMallocArray(&a, &r.res.linear.desc, 8, 8); r.res.array.array = a; r.resType = cudaResourceTypeArray; "
        . "cudaCreateTextureObject(&t, &r, &d, NULL); one<<<1, 1>>>(t, p);", qr/tex1D of an object of a 2D array: need tex2D \(file\.cu:1\)/],
    ["cudaDestroyTextureObject(t); whole<<<1, 1>>>(t, p);", qr/tex1Dfetch: there is no texture object 0x[0-9a-f]+ \(file\.cu:2\)/],
    ["cudaDeviceReset(); whole<<<1, 1>>>(t, p);", qr/tex1Dfetch: there is no texture object/],
    ["odd<<<1, 1>>>(t);", qr/surf2Dwrite: there is no surface object/],
    ["cudaArray_t a; cudaMallocArray(&a, &r.res.linear.desc, 8, 8, cudaArraySurfaceLoadStore); r.res.array.array = a; "
        . "r.resType = cudaResourceTypeArray; cudaCreateSurfaceObject(&t, &r); odd<<<1, 1>>>(t);",
        qr/surf2Dwrite of 4 bytes at byte 2 of a row: need a multiple of 4 \(file\.cu:3\)/]) {
    source($kernels . sprintf($objects, $case->[0]));
    my ($out, $rc) = output("$dir/prog");
    ok($rc == 3 && $out =~ /\Akernel [^\n]*(?:$case->[1])[^\n]*\n\z/, "one line: $case->[0]") or diag("$rc: $out");
}
if (@traced) {
    my $twice = sprintf($objects, "    whole<<<2, 32>>>(t, p + 32);\n    cudaFree(p);\n");
    source($kernels . $twice, '', '--count');
    my ($out) = output("$dir/prog");
    my %count = $out =~ /^(\w+) +(\d+)$/mg;
    is("$count{texture_fetches} $count{global_st_requests}", '64 2', 'fetches are counted by themselves');
    ok(!exists $count{global_ld_requests}, 'and are no loads') or diag($out);
    source($kernels . $twice, '', '--check');
    ($out) = output("$dir/prog 2>&1 | sed 's,$dir/,,g'");
    like($out, qr/^leak: a texture object, made at file\.cu:16, is never destroyed$/m, 'an object that is not destroyed');
}

done_testing();
