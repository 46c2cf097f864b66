#!/usr/bin/env perl
# What cudacc makes of a reader's source: several files, mistakes, what nvcc refuses, what is not supported, which
# device __CUDA_ARCH__ is, and which headers are whose.
# Reads: common/cuda common/harness tests/cpu
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Backend;
use Workbook;

# A program of several files, from another directory.
mkdir "$dir/a b" or die $!;
my ($out, $rc) = output("cd '$dir/a b' && $cudacc -I $root/tests/cpu/several -DOFFSET=3 -MMD -MF deps.d -MT it "
        . "-arch=sm_80 $root/tests/cpu/several/*.cu $root/tests/cpu/several/host.c -o 'a prog' && './a prog'");
like($out, qr/\Acudacc: -arch is ignored: [^\n]*\n4416 8\n\z/, 'several files build and run');
my ($deps) = output("cat '$dir/a b/deps.d'");
like($deps, qr/^it: .*main\.cu.*several\/twice\.h.*twice\.cu/s, 'dependencies are written');
like($deps, qr/cuda_runtime\.h/, "the backend's own headers are among them");
($out, $rc) = output("cd $dir && $cudacc -c $root/tests/cpu/reader.cu && $cudacc reader.o -o r && ./r");
is($out, "0 wrong\n", 'compiling and linking apart');

# Warnings and errors name the user's file and line.
($out) = source("__global__ void k(int *p)\n{\n    __shared__ int a[4],\n        b;\n    a[0] = b = 1;\n"
        . "    *p = a[0];\n    int unused;\n}\nint main() { k<<<1,\n    1>>>(\n    0); undefined(); }\n");
like($out, qr/file\.cu:7:.*unused/, 'a warning has its line, after a shared declaration');
like($out, qr/file\.cu:11:.*undefined/, 'an error has its line, after a launch over three lines');

# Calls that nvcc refuses: functions of the other side. Where a name may mean anything else nothing is said.
for my $case (
    ["static float square(float x)\n{\n    return x * x;\n}\n__global__ void k(float *p)\n{\n    p[0] = 2 * square(p[0]);\n}\n",
        'file.cu:7: error: k runs on the device and calls host function square: declare that __device__'],
    ["__device__ float square(float x);\n__device__ __forceinline__ float square(float x)\n{\n    return x * x;\n}\n"
            . "static float twice(float x)\n{\n    return square(x) * 2;\n}\n",
        'file.cu:8: error: host function twice calls __device__ function square: declare that __host__ __device__'],
    ["namespace a\n{\nvoid f() {}\n__device__ void g()\n{\n    f();\n}\n}\n",
        'file.cu:6: error: g runs on the device and calls host function f: declare that __device__'],
    ["__global__ void c() {}\n__global__ void k()\n{\n    c<<<1, 1>>>();\n    cudaDeviceSynchronize();\n}\n",
        'file.cu:5: error: k calls cudaDeviceSynchronize: since CUDA 12 what runs on the device cannot wait for what it launches']) {
    ($out, $rc) = source("$case->[0]int main() { return 0; }\n");
    is("$rc $out", "1 $case->[1]\n", "of the other side: $case->[1]");
}
($out, $rc) = output("$cudacc tests/cpu/sides.cu -o $dir/sides");
is("$rc $out", '0 ', 'and nothing is said in doubt');
($out, $rc) = source("constexpr int twice(int x)\n{\n    return 2 * x;\n}\n__global__ void k(int *p)\n{\n    *p = twice(*p);\n}\n"
        . "int main() { return twice(0); }\n", '', '--expt-relaxed-constexpr');
is("$rc $out", '0 ', 'nor of constexpr functions, which are for both sides');

# An unsupported feature is refused in one line, exit code 2.
my @unsupported = (
    ['texture<float, 2> t;', 'a texture reference (texture) is'],
    ['static surface<void, 2> s;', 'a surface reference (surface) is'],
    ['void f(float *p) { cudaBindTexture(0, 0, p, 4); }', 'a texture reference (cudaBindTexture) is'],
    ['cudaMipmappedArray_t a;', 'a mipmapped array'],
    ['__global__ void k(cudaTextureObject_t t, float *p) { *p = tex2DLod<float>(t, 0, 0, 1); }', 'tex2DLod'],
    ['#include <cub/device/device_topk.cuh>', 'cub/device/device_topk.cuh'],
    ['#include <cuda/ptx>', 'cuda/ptx'],
    ['#include <cusolverDn.h>', '<cusolverDn.h>: the library cuSOLVER is'],
    ['#include <cudnn.h>', '<cudnn.h>: the library cuDNN is'],
    ['int f = cusparseCreate(0);', 'cusparseCreate'],
    ['int main_() { return cudaMemPoolExportPointer(0, 0); }', 'cudaMemPoolExportPointer'],
    ['__global__ void k(cudaMipmappedThing_t t, int *p) { *p = 1; }', 'cudaMipmappedThing_t'],
    ['__global__ void k(__nv_bfloat16 *p) {}', '__nv_bfloat16'],
    ['__global__ void k(unsigned *p) { *p = __isLocal(p); }', '__isLocal'],
    ['__device__ void *f(size_t x) { return __cvta_local_to_generic(x); }', '__cvta_local_to_generic'],
    ['int f(cudaDeviceProp p) { return p.clockRates; }', 'member clockRates'],
    ["#define A /*\n*/\n#ifdef __CUDA_ARCH__\ntypedef int a;\n#else\ntypedef float a;\n#endif", 'a declaration that __CUDA_ARCH__', 'file.cu:7'],
    ["__host__ __device__ int f(int a\n#ifdef __CUDA_ARCH__\n, int b = 1\n#endif\n) { return a; }", 'the head of a function', 'file.cu:2'],
    ["void f()\n{\n    auto g = [] __device__ (int i) {\n#ifdef __CUDA_ARCH__\nreturn i;\n#else\nreturn 0;\n#endif\n}; }", 'a lambda that __CUDA_ARCH__', 'file.cu:2'],
    ['#include "asks.h"', '__CUDA_ARCH__', 'asks.h:6'],
    ["#ifdef __CUDA_ARCH__\nvoid f() {}\n#else\n__device__ void f() {}\n#endif", 'a function that __CUDA_ARCH__', 'file.cu:5'],
    ["#ifdef __CUDA_ARCH__\nconst int a = int(1);\n#else\nconst int a = int(2);\n#endif", 'a declaration that __CUDA_ARCH__', 'file.cu:5'],
    ['__global__ void k() { __shared__ int (*p)[4]; }', 'declaration'],
    ['__global__ void __cluster_dims__(2, 1, 1) k() {}', 'clusters'],
    ['__device__ void f() { cooperative_groups::this_cluster().sync(); }', 'clusters'],
    ['int a = cudaLaunchAttributeClusterDimension;', 'thread block clusters'],
    ['void f() { cudaLaunchKernelEx(0); }', 'this form of launch'],
);
spew("$dir/asks.h", "#pragma once\n\n#if __CUDA_ARCH__ >= 600\nenum { A };\n#else\nenum { B, A };\n#endif\n");
for my $case (@unsupported) {
    my ($text, $what, $place) = (@$case[0, 1], $case->[2] // 'file.cu:2');
    for my $cxx (@cxx) {
        ($out, $rc) = source("\n$text\nint main() { return 0; }\n", "CXX=$cxx CC=$cc{$cxx}");
        ok($rc == 2 && $out =~ /\A(?:\.\/)?\Q$place\E: [^\n]*\Q$what\E[^\n]* not supported by the CPU backend[^\n]*\n\z/,
            "not supported: $what, $cxx") or diag("$rc: $out");
    }
}
# A name that is nobody's is the compiler's affair, and so is a header.
for my $text ('int f() { return cudax; }', 'int f() { return misspelt; }', '#include "customers.h"') {
    ($out, $rc) = source("\n$text\nint main() { return 0; }\n");
    ok($rc == 1 && $out =~ /^file\.cu:2:/m && $out !~ /backend/, "the compiler's messages: $text") or diag("$rc: $out");
}
($out, $rc) = source("bool less(int texture, int n) { return texture < n; }\nint main() { return less(1, 0); }\n");
is("$rc $out", '0 ', 'a variable may be called texture');
# A condition that leaves the program as it is means nothing.
my $same = "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600\nint a;\n#endif\n";
for my $cxx (@cxx) {
    ($out, $rc) = source($same . "int main() { return a; }\n", "CXX=$cxx CC=$cc{$cxx}");
    is("$rc $out", '0 ', "__CUDA_ARCH__ that does not part host and device, $cxx");
}
# In a comment, over lines, it means nothing; and -D says what it is.
($out, $rc) = source("/* Not for\n   __CUDA_ARCH__ at all\n */\n// __CUDA_ARCH__\nint main() { return 0; }\n");
is("$rc $out", '0 ', '__CUDA_ARCH__ in a comment');
($out, $rc) = source("int main() { return __CUDA_ARCH__ - 800; }\n", '', '-D__CUDA_ARCH__=800');
is("$rc $out", '0 ', '__CUDA_ARCH__ on the command line');
# The device is then of that kind, or of one that CUDACPU_ARCH names, and has as much shared memory.
for my $case (['', '', '9.0', 227, 2048, 32], ['-D__CUDA_ARCH__=800', '', '8.0', 163, 2048, 32],
    ['-D__CUDA_ARCH__=1210', '', '12.1', 99, 1536, 24], ['', '75', '7.5', 64, 1024, 16],
    ['-D__CUDA_ARCH__=800', '86', '8.6', 99, 1536, 16], ['', '87', '8.7', 163, 1536, 16], ['', '89', '8.9', 99, 1536, 24]) {
    my ($flags, $arch, $is, $kib, $threads, $blocks) = @$case;
    ($out, $rc) = source("#include <stdio.h>\n__global__ void k() {}\nint main()\n{\n    cudaDeviceProp p;\n    int major = 0, minor = 0;\n"
            . "    cudaGetDeviceProperties(&p, 0);\n"
            . "    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);\n"
            . "    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);\n"
            . "    int kib = 227;\n"
            . "    while (cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, kib * 1024 + 1) != 0)\n        kib--;\n"
            . "    printf(\"%d.%d %d.%d %d \", p.major, p.minor, major, minor, kib + 1);\n"
            . "    printf(\"%d %d\\n\", p.maxThreadsPerMultiProcessor, p.maxBlocksPerMultiProcessor);\n}\n", '', $flags);
    ($out) = output("CUDACPU_ARCH=$arch $dir/prog") if $rc == 0;
    is($out, "$is $is $kib $threads $blocks\n", "the device's capability, $flags $arch");
}
($out, $rc) = output("CUDACPU_ARCH=7.5 $dir/prog");
is("$rc $out", "2 CUDACPU_ARCH=7.5: need a compute capability from 70, as 75 or 90, or from 90a\n", "and what is none");
# nvcc takes as much static shared memory as a block may have for an architecture with an a, and 48 KB for others.
for my $case (['', '', 232448], ['', '90a', 232448], ['', '90', 49152], ['', '120a', 101376], ['', '75', 49152],
    ['-D__CUDA_ARCH__=800', '', 49152], ['-D__CUDA_ARCH__=900 -D__CUDA_ARCH_SPECIFIC__=900', '', 232448]) {
    my ($flags, $arch, $most) = @$case;
    for my $bytes ($most, $most + 1) {
        ($out, $rc) = source("__global__ void k(char *p)\n{\n    __shared__ char s[$bytes];\n    s[threadIdx.x] = 1;\n    *p = s[0];\n}\n"
                . "int main()\n{\n    char *p;\n    cudaMalloc(&p, 1);\n    k<<<1, 1>>>(p);\n    return cudaGetLastError() != cudaSuccess;\n}\n", '', $flags);
        ($out, $rc) = output("CUDACPU_ARCH=$arch $dir/prog");
        my $said = sprintf "too much shared memory: nvcc for sm_\\d+a? says \"uses too much shared data \\(0x%x bytes, 0x%x max\\)\"", $bytes, $most;
        ok($bytes == $most ? "$rc $out" eq "0 " : $rc == 1 && $out =~ /$said/, "$bytes bytes of static shared memory, $flags $arch") or diag($out);
    }
}

# A toolkit's headers are never mixed in, from a system folder or from one that is named.
mkdir "$dir/toolkit"; mkdir "$dir/toolkit/include";
spew("$dir/toolkit/include/$_", "#error mixed in\n") for qw(cuda_runtime.h cuda_runtime_api.h driver_types.h vector_functions.h cusparse.h);
mkdir "$dir/own";
spew("$dir/own/mine.h", "enum { MINE = 0 };\n");
($out, $rc) = source("#include <driver_types.h>\n#include <mine.h>\nint main() { return MINE; }\n",
    "CPATH=$dir/toolkit/include:$dir/own");
is("$rc $out", '0 ', 'nor from CPATH, whose other folders are kept');
for my $option ("-isystem $dir/toolkit/include", "-I$dir/toolkit/include", "-I $dir/toolkit/include") {
    ($out, $rc) = source("#include <cuda_runtime.h>\n#include <driver_types.h>\n#include \"vector_functions.h\"\n"
            . join("", map { "#include <$_.h>\n" } qw(texture_types surface_types channel_descriptor
                texture_indirect_functions surface_indirect_functions))
            . "int main() { return 0; }\n", '', $option);
    is("$rc $out", '0 ', "headers of a toolkit are not mixed in, $option");
    ($out, $rc) = source("#include <cusparse.h>\nint main() { return 0; }\n", '', $option);
    is("$rc $out", "2 file.cu:1: header <cusparse.h>: the library cuSPARSE is not supported by the CPU backend; leave its part out (#ifndef __CUDACPU__), or compile this with nvcc\n",
        "nor is what the backend has not, $option");
}
# nvcc takes it, and an H200 stops with an illegal address: the map is copied to local memory.
my $map = "#include <cuda.h>\ntemplate <int N> __global__ void k(const int *p, const CUtensorMap m, int n) {}\n";
($out, $rc) = source($map . "int main() { return 0; }\n");
is("$rc $out", "2 file.cu:2: kernel k: parameter m is a CUtensorMap without __grid_constant__: TMA cannot read the copy whose "
        . "address it gets; write const __grid_constant__ CUtensorMap\n", 'a tensor map that is no grid constant');
my $good = "const __grid_constant__ CUtensorMap a";
for my $wrong ("int n, const CUtensorMap m", "$good, const CUtensorMap m", "const CUtensorMap m, $good") {
    ($out, $rc) = source("#include <cuda.h>\n__global__ void k($wrong) {}\nint main() { return 0; }\n");
    like("$rc $out", qr/^2 file\.cu:2: kernel k: parameter m is a CUtensorMap without __grid_constant__: /, "nor is $wrong");
}
for my $right ("const __grid_constant__ CUtensorMap m", "const CUtensorMap *m", "const CUtensorMap &m") {
    (my $text = $map) =~ s/const CUtensorMap m/$right/;
    ($out, $rc) = source($text . "int main() { return 0; }\n");
    is("$rc $out", "0 ", "not $right");
}

($out, $rc) = output("$cudacc --frobnicate x.cu");
ok($rc == 2 && $out eq "cudacc: unknown option --frobnicate\n", 'an unknown option is one line');

done_testing();
