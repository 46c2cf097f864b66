#!/usr/bin/env perl
# The CPU backend: both compilers, the portable fibers, every operation, every report.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename;
use File::Temp 'tempdir';
use Test::More;

my $root = abs_path(dirname(__FILE__) . '/..');
my $cudacc = "$root/common/cpu/cudacc";
my $dir = tempdir(CLEANUP => 1);
my @cxx = grep { system("command -v $_ >/dev/null 2>&1") == 0 } qw(g++ clang++);
my %cc = ('g++' => 'gcc', 'clang++' => 'clang');
chdir "$root/tests/cpu" or die "tests/cpu: $!";

# Output (both streams) and exit code of a command.
sub run {
    my $out = `{ $_[0]; } 2>&1`;
    return ($out, $? >> 8);
}

# Compiles all, two at a time.
my (%built, @jobs);
for my $cxx (@cxx) {
    push @jobs, [$_, "$_.cu", $cxx, ''] for qw(semantics api float16 fast diverge order arch graphs rare texture children);
}
push @jobs, ['ordered', 'ordered.cu', $cxx[0], ''];
push @jobs, ['reader', 'reader.cu', $cxx[0], ''], map { ['forms', 'forms.cu', $_, ''] } @cxx;
push @jobs, map { ['names', 'names.cu', $_, ''], ['implicit', 'implicit.cu', $_, ''] } @cxx;
push @jobs, ['names', 'names.cu', 'g++', $_], ['forms', 'forms.cu', 'g++', $_],
    ['children', 'children.cu', 'g++', $_] for grep { $cxx[0] eq 'g++' } qw(--count --check);
push @jobs, ['contracted', 'contracted.cu', 'g++', $_] for grep { $cxx[0] eq 'g++' } '', qw(--count --check);
push @jobs, [$_, "$_.cu", $cxx[0], '--portable'] for qw(semantics diverge order);
for my $j (@jobs) {
    system("CXX=$j->[2] CC=$cc{$j->[2]} $cudacc $j->[3] --runtime-only") == 0 or BAIL_OUT('runtime')
        unless $built{"$j->[2]$j->[3]"}++;
}
{
    my $list = join '', map {
        my ($name, $file, $cxx, $option) = @$_;
        "CXX=$cxx $cudacc -O1 $option -Wall -Wextra -Werror $file -o $dir/$name-$cxx$option "
            . ">$dir/$name-$cxx$option.log 2>&1\n"
    } @jobs;
    open my $pipe, '|-', 'tr "\n" "\0" | xargs -0 -n 1 -P 2 sh -c' or die $!;
    print $pipe $list;
    close $pipe;
}

for my $variant (map({ "-$_" } @cxx), "-$cxx[0]--portable") {
    for my $name (qw(semantics api float16 fast diverge order arch graphs rare texture children)) {
        next if $variant =~ /portable/ && $name =~ /api|float16|fast|arch|graphs|rare|texture|children/;
        my ($log) = run("cat $dir/$name$variant.log");
        ok(-x "$dir/$name$variant" && $log eq '', "$name$variant compiles without a word")
            or diag($log);
    }
    for my $name (qw(semantics api float16 fast arch graphs rare texture children)) {
        next if $variant =~ /portable/ && $name ne 'semantics';
        for my $order ($name =~ /float16|fast|arch|graphs|rare|texture/ ? 'forward' : qw(forward reverse random)) {
            my ($out, $rc) = run("CUDACPU_ORDER=$order $dir/$name$variant 2>/dev/null");
            ok($rc == 0 && $out =~ /^\d+ checks, 0 failed$/m, "$name$variant, $order") or diag($out);
        }
    }

    # Reports: one line that names kernel, block, threads and places; then the launch has failed.
    my $at = 'diverge\.cu';
    my @reports = (
        qr/^kernel two_places \(launched at $at:59\), block \([01],0,0\): barrier divergence: threads 0-31 wait at __syncthreads \($at:10\); threads 32-95 wait at __syncthreads \($at:12\)$/m,
        qr/^kernel lanes_exited .*: barrier divergence: threads 0-19 wait at __shfl_down_sync of mask 0xffffffff \($at:18\); threads 20-63 have exited$/m,
        qr/^kernel lanes_elsewhere .*: threads 0-15, 32-47 wait at __syncwarp of mask 0xffffffff \($at:23\); threads 16-31, 48-63 wait at __syncthreads \($at:25\)$/m,
        qr/^kernel left_out .*: $at:30: thread 3 \(lane 3\) calls __syncwarp with mask 0x000000f0, which leaves it out$/m,
        qr/^kernel reads_outside .*: $at:35: thread \d+ \(lane \d+\) reads lane \d+ in __shfl_xor_sync, which mask 0x0000ffff/m,
        qr/^kernel different_masks .*: threads 0-7 wait at __ballot_sync of mask 0x0000ffff \($at:39\); threads 8-31 wait at __ballot_sync of mask 0xffffffff \($at:39\)$/m,
        qr/^kernel waits_in_vain .*: waits in vain: threads 0 wait at __nanosleep \($at:47\); threads 1-63 wait at __syncthreads \($at:48\)$/m,
    );
    for my $i (0 .. $#reports) {
        for my $order (qw(forward reverse random)) {
            my ($out) = run("CUDACPU_ORDER=$order $dir/diverge$variant $i");
            ok($out =~ $reports[$i] && $out =~ /^cudaErrorLaunchFailure$/m
                    && ($out =~ tr/\n//) == 2, "divergence $i is reported$variant, $order")
                or diag($out);
        }
    }

    # A correct kernel gives the same in every order, a wrong one differs in at least one.
    my %seen;
    for my $order ('forward', 'reverse', 'random CUDACPU_SEED=1', 'random CUDACPU_SEED=2') {
        my ($out) = run("CUDACPU_ORDER=$order $dir/order$variant");
        $seen{$1}{$2}++ while $out =~ /^(\S+) (\S+)$/mg;
    }
    is(scalar keys %{$seen{$_}}, 1, "$_ is the same in all orders$variant")
        for qw(good-sums good-block good-warp);
    cmp_ok(scalar keys %{$seen{$_}}, '>', 1, "$_ differs between orders$variant")
        for qw(bad-sums bad-block bad-warp);
}
# Kernels that launch kernels: too deep, below a kernel that is stopped, and as the instruments see them.
{
    my ($out) = run("$dir/children-$cxx[0]");
    is(scalar(() = $out =~ /^kernel deeper \(launched at children\.cu:\d+\) does not run: 24 launches by kernels below one by the host/mg),
        1, 'a launch that is nested too deep is a line');
    ($out) = run("$dir/children-$cxx[0] breaks");
    like($out, qr/\Akernel breaks [^\n]*: __trap\(\)[^\n]*\n1 checks, 0 failed\n\z/,
        'what a kernel has launched does not run where it is stopped');
    for my $case ([forward => '0123'], [reverse => '3210']) {
        ($out) = run("CUDACPU_ORDER=$case->[0] $dir/children-$cxx[0] blocks");
        like($out, qr/\A$case->[1]\n/, "children come in the order of blocks, $case->[0]");
    }
    for my $kind ($cxx[0] eq 'g++' ? qw(--count --check) : ()) {
        ($out) = run("cat $dir/children-g++$kind.log; CUDACPU_WORKERS=2 $dir/children-g++$kind");
        like($out, qr/^\d+ checks, 0 failed$/m, "children with $kind");
        if ($kind eq '--count') {
            my %of;
            while ($out =~ /^ {20,}(\S.*\S)\n(launches +.*)\n/mg) {
                my @launches = split ' ', $2;
                @of{split /  +/, $1} = @launches[1 .. $#launches];
            }
            is("@of{qw(launches in_order child again mark)}", '2 3 20 49 512', 'children count under their names');
        } else {
            my @found = map { /^(\D+: \w+ at children\.cu:\d+ of a kernel that had launched this one)/ ? $1 : $_ }
                grep { /^\S.*: .* kernel |^check: / } grep { !/^kernel / } split /\n/, $out;
            my %line;
            open my $source, '<', 'children.cu' or die $!;
            while (<$source>) {
                $line{$1} = $. if /(errors\[[01]\] = cudaGetLastError\(\));/ && $. < 80 && !$line{$1};
                $line{many} = $. if /mark<<<1, 1>>>\(p, i, p\[i\]/;
            }
            my ($first, $second) = @line{'errors[0] = cudaGetLastError()', 'errors[1] = cudaGetLastError()'};
            is_deeply(\@found, [(map { "child race: $_ of a kernel that had launched this one" }
                    "write at children.cu:$first", "write at children.cu:$second", "read at children.cu:$line{many}"),
                'check: 3 findings, 1 remark'], 'what races with a child is found, and nothing else');
        }
    }
}
# Times are the CPU's: a program that asks for one says so at its end, once, and no other does.
{
    my ($told) = run("$dir/graphs-$cxx[0] >$dir/out");
    is(($told =~ s/^times between events are this CPU's, not a GPU's$//mg), 1, 'times are marked');
    unlike($told, qr/^kernel put .*a grid/m, 'after an error that sticks a launch is not looked at');
    my ($none) = run("$dir/arch-$cxx[0]");
    unlike($none, qr/times/, 'where there are any');
}
# Blocks that wait for each other, with fewer OS threads than blocks, and with one.
for my $order (qw(forward reverse random)) {
    for my $workers (1, 2, 7) {
        my ($out, $rc) = run("CUDACPU_ORDER=$order CUDACPU_WORKERS=$workers timeout 60 $dir/ordered-$cxx[0]");
        is("$rc $out", "0 1415 checks, 0 failed\n", "sums in a fixed order of blocks, $order, workers: $workers");
    }
}
my ($first) = run("CUDACPU_ORDER=random CUDACPU_SEED=7 $dir/order-$cxx[0]");
my ($again) = run("CUDACPU_ORDER=random CUDACPU_SEED=7 CUDACPU_WORKERS=1 $dir/order-$cxx[0]");
is($again, $first, 'a seed gives the same random order again, whatever the number of workers');
my ($out, $rc) = run("CUDACPU_ORDER=sideways $dir/order-$cxx[0]");
ok($rc == 2 && $out =~ /"sideways": need forward, reverse or random/, 'an unknown order is refused');

# A reader's own file, and a program of several files, from another directory.
($out, $rc) = run("$dir/reader-$cxx[0]");
is($out, "0 wrong\n", "a reader's own file runs");
my @traced = grep { $cxx[0] eq 'g++' } qw(g++--count g++--check);
for my $variant (@cxx, @traced) {
    ($out) = run("cat $dir/forms-$variant.log; $dir/forms-$variant 2>$dir/err");
    like($out, qr/\A0 wrong, no error\n/, "all forms of launch and of functions, $variant");
    ($out) = run("cat $dir/names-$variant.log; $dir/names-$variant 2>$dir/err");
    like($out, qr/\A0 wrong\n/, "globals may have the names of the runtime's own, $variant");
}
# A product and a sum are rounded twice, but by --check, where the CPU has an FMA. __fmul_rn and its
# like have nothing to do with that.
my ($cpuinfo) = run('cat /proc/cpuinfo; uname -m');
my $fma = $cpuinfo =~ /^flags.* fma\b|^aarch64/m;
for my $variant ('', @traced) {
    my $kind = $variant =~ s/^g\+\+(?=-)//r;
    my ($float, $double) = $kind eq '--check' && $fma ? ('0x1p-24', '0x1p-54') : ('0x0p+0', '0x0p+0');
    ($out) = run("cat $dir/contracted-g++$kind.log; $dir/contracted-g++$kind 2>$dir/err");
    like($out, qr/\Afloat: \Q$float\E, rounded 0x0p\+0 0x0p\+0 0x0p\+0\ndouble: \Q$double\E, rounded 0x0p\+0 0x0p\+0 0x0p\+0\n/,
        "products and sums, g++$kind") if $cxx[0] eq 'g++';
}
for my $cxx (@cxx) {
    ($out, $rc) = run("cat $dir/implicit-$cxx.log; $dir/implicit-$cxx");
    is("$rc $out", "0 ", "what nvcc includes by itself is there, $cxx");
}

# What the runtime defines for all to see: CUDA's names, what g++ calls, and what begins with cpu_.
for my $cxx (@cxx) {
    for my $object ($cxx eq 'g++' ? qw(runtime count check) : 'runtime') {
        my @names = map { /^\S* [A-TV-Z] (\S+)$/ ? $1 =~ s/^_(?=cpu_|cuda|__)//r : () }
            split /\n/, (run("nm -g " . ($ENV{CUDACPU_BUILD} // "$root/build/cpu/$cxx") . "/$object.o"))[0];
        cmp_ok(scalar @names, '>', 80, "$cxx, $object.o: it defines names");
        is_deeply([grep { !/^(?:cpu_|cuda[A-Z]|cuTensorMap|__tsan_|__sanitizer_|__ubsan_|__assert_|(?:thread|block)Idx$|(?:block|grid)Dim$)/ }
            @names], [], "$cxx, $object.o: none that a program may have as well");
    }
}
mkdir "$dir/a b" or die $!;
($out, $rc) = run("cd '$dir/a b' && $cudacc -I $root/tests/cpu/several -DOFFSET=3 -MMD -MF deps.d -MT it "
        . "-arch=sm_80 $root/tests/cpu/several/*.cu $root/tests/cpu/several/host.c -o 'a prog' && './a prog'");
like($out, qr/\Acudacc: -arch is ignored: [^\n]*\n4416 8\n\z/, 'several files build and run');
my ($deps) = run("cat '$dir/a b/deps.d'");
like($deps, qr/^it: .*main\.cu.*several\/twice\.h.*twice\.cu/s, 'dependencies are written');
like($deps, qr/cuda_runtime\.h/, "the backend's own headers are among them");
($out, $rc) = run("cd $dir && $cudacc -c $root/tests/cpu/reader.cu && $cudacc reader.o -o r && ./r");
is($out, "0 wrong\n", 'compiling and linking apart');

# Warnings and errors name the user's file and line.
sub source {
    open my $f, '>', "$dir/file.cu" or die $!;
    print $f $_[0];
    close $f;
    return run("cd $dir && " . ($_[1] // '') . " $cudacc -Wall " . ($_[2] // '') . " file.cu -o prog");
}
($out) = source("__global__ void k(int *p)\n{\n    __shared__ int a[4],\n        b;\n    a[0] = b = 1;\n"
        . "    *p = a[0];\n    int unused;\n}\nint main() { k<<<1,\n    1>>>(\n    0); undefined(); }\n");
like($out, qr/file\.cu:7:.*unused/, 'a warning has its line, after a shared declaration');
like($out, qr/file\.cu:11:.*undefined/, 'an error has its line, after a launch over three lines');

# What nvcc refuses: functions of the other side. Where a name may mean anything else nothing is said.
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
($out, $rc) = run("$cudacc sides.cu -o $dir/sides");
is("$rc $out", '0 ', 'and nothing is said in doubt');
($out, $rc) = source("constexpr int twice(int x)\n{\n    return 2 * x;\n}\n__global__ void k(int *p)\n{\n    *p = twice(*p);\n}\n"
        . "int main() { return twice(0); }\n", '', '--expt-relaxed-constexpr');
is("$rc $out", '0 ', 'nor of constexpr functions, which are for both sides');

# A kernel that waits for the host is stopped. One of which a block sleeps, and then sets what the others wait for, is
# not; and of a launch that has ended, whose place something else has taken, nothing is looked at.
{
    my ($built) = source(<<'END');
#include <unistd.h>
#include <cstring>
__global__ void k(volatile int *p, bool sets)
{
    sets &= blockIdx.x == 1;
    for (time_t end = time(0) + (sets ? 12 : 4); !*p && time(0) < end;)
        usleep(100000);
    if (sets)
        *p = 1;
    while (!*p)
        ;
    __syncthreads();
}
static void idle()
{
    char room[50000];
    memset(room, 0xff, sizeof room);
    asm volatile("" : : "r"(room) : "memory");
    sleep(6);
    asm volatile("" : : "r"(room) : "memory");
}
int main(int, char **argv)
{
    int *p;
    cudaMallocManaged(&p, sizeof *p);
    *p = strcmp(argv[1], "ends") == 0;
    k<<<3, 2>>>(p, strcmp(argv[1], "sets") == 0);
    cudaError_t error = cudaDeviceSynchronize();
    if (strcmp(argv[1], "ends") == 0)
        idle();
    printf("%s\n", cudaGetErrorName(error));
}
END
    run("cd $dir; for how in waits sets ends; do CUDACPU_WORKERS=2 timeout 60 ./prog \$how >\$how 2>&1 & done; wait");
    ($out) = run("cat $dir/waits");
    like("$built$out", qr/\Akernel k \(launched at file\.cu:27\), block \([01],0,0\): thread \([01],0,0\): spins in a loop that changes nothing, [^\n]*\ncudaErrorLaunchTimeout\n\z/,
        'a kernel that waits for the host');
    ($out) = run("cat $dir/sets $dir/ends");
    is($out, "cudaSuccess\n" x 2, 'one that waits for a block, and one that has ended');
}

# What is not supported is one line, exit code 2.
my @unsupported = (
    ['texture<float, 2> t;', 'a texture reference (texture) is'],
    ['static surface<void, 2> s;', 'a surface reference (surface) is'],
    ['void f(float *p) { cudaBindTexture(0, 0, p, 4); }', 'a texture reference (cudaBindTexture) is'],
    ['cudaMipmappedArray_t a;', 'a mipmapped array'],
    ['__global__ void k(cudaTextureObject_t t, float *p) { *p = tex2DLod<float>(t, 0, 0, 1); }', 'tex2DLod'],
    ['#include <thrust/device_vector.h>', 'thrust/device_vector.h'],
    ['#include <cuda/ptx>', 'cuda/ptx'],
    ['#include <cublasXt.h>', 'cublasXt.h'],
    ['int f = cublasXtCreate(0);', 'cublasXtCreate'],
    ['int main_() { return cudaMemPoolExportPointer(0, 0); }', 'cudaMemPoolExportPointer'],
    ['__global__ void k(cudaMipmappedThing_t t, int *p) { *p = 1; }', 'cudaMipmappedThing_t'],
    ['__global__ void k(__nv_bfloat16 *p) {}', '__nv_bfloat16'],
    ['__global__ void k(unsigned *p) { *p = __vabsdiffu4(p[0], p[1]); }', '__vabsdiffu4'],
    ['__device__ int f(int x) { return __vimax3_s32(x, 1, 2); }', '__vimax3_s32'],
    ['int f(cudaDeviceProp p) { return p.clockRates; }', 'member clockRates'],
    ["#define A /*\n*/\n#ifdef __CUDA_ARCH__\ntypedef int a;\n#else\ntypedef float a;\n#endif", 'a declaration that __CUDA_ARCH__', 'file.cu:7'],
    ["__host__ __device__ int f(int a\n#ifdef __CUDA_ARCH__\n, int b = 1\n#endif\n) { return a; }", 'the head of a function', 'file.cu:2'],
    ["void f()\n{\n    auto g = [] __device__ (int i) {\n#ifdef __CUDA_ARCH__\nreturn i;\n#else\nreturn 0;\n#endif\n}; }", 'a lambda that __CUDA_ARCH__', 'file.cu:2'],
    ['#include "asks.h"', '__CUDA_ARCH__', 'asks.h:6'],
    ["#ifdef __CUDA_ARCH__\n__host__ __device__ void f() {}\n#else\n__device__ void f() {}\n#endif", 'a function that __CUDA_ARCH__', 'file.cu:5'],
    ["#ifdef __CUDA_ARCH__\nconst int a = int(1);\n#else\nconst int a = int(2);\n#endif", 'a declaration that __CUDA_ARCH__', 'file.cu:5'],
    ['__global__ void k() { __shared__ int (*p)[4]; }', 'declaration'],
    ['__global__ void __cluster_dims__(2, 1, 1) k() {}', 'clusters'],
    ['__device__ void f() { cooperative_groups::this_cluster().sync(); }', 'clusters'],
    ['int a = cudaLaunchAttributeClusterDimension;', 'thread block clusters'],
    ['void f() { cudaLaunchKernelEx(0); }', 'this form of launch'],
);
sub write_file {
    my ($name, $text) = @_;
    open my $f, '>', "$dir/$name" or die "$name: $!";
    print $f $text;
    close $f;
}
write_file('asks.h', "#pragma once\n\n#if __CUDA_ARCH__ >= 600\nenum { A };\n#else\nenum { B, A };\n#endif\n");
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
# What is the same with it and without means nothing.
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
    ($out) = run("CUDACPU_ARCH=$arch $dir/prog") if $rc == 0;
    is($out, "$is $is $kib $threads $blocks\n", "the device's capability, $flags $arch");
}
($out, $rc) = run("CUDACPU_ARCH=7.5 $dir/prog");
is("$rc $out", "2 CUDACPU_ARCH=7.5: need a compute capability from 70, as 75 or 90\n", "and what is none");

# A toolkit's headers are never mixed in, from a system folder or from one that is named.
mkdir "$dir/toolkit"; mkdir "$dir/toolkit/include";
write_file("toolkit/include/$_", "#error mixed in\n") for qw(cuda_runtime.h cuda_runtime_api.h driver_types.h vector_functions.h curand.h);
mkdir "$dir/own";
write_file('own/mine.h', "enum { MINE = 0 };\n");
($out, $rc) = source("#include <driver_types.h>\n#include <mine.h>\nint main() { return MINE; }\n",
    "CPATH=$dir/toolkit/include:$dir/own");
is("$rc $out", '0 ', 'nor from CPATH, whose other folders are kept');
for my $option ("-isystem $dir/toolkit/include", "-I$dir/toolkit/include", "-I $dir/toolkit/include") {
    ($out, $rc) = source("#include <cuda_runtime.h>\n#include <driver_types.h>\n#include \"vector_functions.h\"\n"
            . join("", map { "#include <$_.h>\n" } qw(texture_types surface_types channel_descriptor
                texture_indirect_functions surface_indirect_functions))
            . "int main() { return 0; }\n", '', $option);
    is("$rc $out", '0 ', "headers of a toolkit are not mixed in, $option");
    ($out, $rc) = source("#include <curand.h>\nint main() { return 0; }\n", '', $option);
    is("$rc $out", "2 file.cu:1: header <curand.h> is not supported by the CPU backend; check its name, or use the CUDA runtime API alone\n",
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
# cuBLAS, where there is OpenBLAS.
SKIP: {
    ($out, $rc) = run("$cudacc -O1 -Wall -Wextra -Werror blas.cu -lcublas -o $dir/blas");
    skip 'no OpenBLAS', 8 if $rc == 2 && $out =~ /needs OpenBLAS/;
    is("$rc $out", '0 ', 'blas compiles without a word, with -lcublas');
    ($out, $rc) = run("$dir/blas");
    like("$rc $out", qr/^0 \d+ checks, 0 failed$/, 'cuBLAS') or diag($out);
    my $calls = "#include <cublas_v2.h>\nint main()\n{\n    cublasHandle_t h;\n    float *a, *y, one = 1;\n"
        . "    cublasCreate(&h);\n    cudaMalloc(&a, 64);\n    cudaMalloc(&y, 16);\n%s"
        . "    cublasDestroy(h);\n    return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 3 : 0;\n}\n";
    my $past = sprintf $calls, "    cublasSscal(h, 5, &one, y, 1);\n"
        . "    if (cublasSscal(h, 1, &one, (float *)16, 1) != CUBLAS_STATUS_EXECUTION_FAILED)\n        return 4;\n";
    source($past);
    ($out, $rc) = run("$dir/prog");
    is("$rc $out", "3 cublasSscal: x has 20 bytes, of which 4 lie past the end of its allocation of 16 bytes\n",
        'a vector that leaves its allocation; after it no call runs');
    if (@traced) {
        ($out, $rc) = source($past, '', '--check');
        ($out, $rc) = run("$dir/prog 2>&1 | grep -v leak | sed 's,$dir/,,g'");
        is($out, "out of bounds: x of cublasSscal has 20 bytes; it lies at offset 0 of the allocation of file.cu:8 "
                . "(16 bytes); called at file.cu:9\ncheck: 1 finding, 2 remarks\n", 'and with --check');
        source(sprintf($calls, "    for (int i = 0; i < 2; i++)\n        cublasSscal(h, 4, &one, a + 8 * i, 2);\n"), '', '--check');
        ($out, $rc) = run("$dir/prog 2>&1 | grep -v leak | sed 's,$dir/,,g'");
        is($out, "uninitialised read: cublasSscal reads what was never written of x; it lies at offset 0 of the allocation of "
                . "file.cu:7 (64 bytes); called at file.cu:10 (2 times)\ncheck: 1 finding, 2 remarks\n", 'what nobody has written, once for all calls of a line');
        source(sprintf($calls, "    cublasSaxpy(h, 4, &one, a, 1, y, 1);\n"), '', '--check');
        ($out, $rc) = run("$dir/prog 2>&1 | grep -v leak | sed 's,$dir/,,g'");
        is($out, join('', map { "uninitialised read: cublasSaxpy reads what was never written of $_; called at file.cu:9\n" }
            'x; it lies at offset 0 of the allocation of file.cu:7 (64 bytes)', 'y; it lies at offset 0 of the allocation of file.cu:8 (16 bytes)')
            . "check: 2 findings, 2 remarks\n", 'of each vector');
        source(sprintf($calls, "    cudaMemset(a, 0, 64);\n    cublasScopy(h, 4, a, 2, y, 1);\n    cublasSscal(h, 4, &one, y, 1);\n"),
            '', '--check');
        ($out, $rc) = run("$dir/prog 2>&1 | grep -v leak | sed 's,$dir/,,g'");
        is($out, "check: no kernel ran, 2 remarks\n", 'what cuBLAS writes is written');
    }
    run("cp -r " . ($ENV{CUDACPU_BUILD} // "$root/build/cpu/$cxx[0]") . " $dir/build && rm -rf $dir/build/stamp-blas $dir/build/programs && mkdir $dir/bin");
    write_file('bin/pkg-config', "#!/bin/sh\n[ \$1 = --exists ] || echo -lno-such-blas\n");
    chmod 0755, "$dir/bin/pkg-config";
    ($out, $rc) = source($past, "CUDACPU_BUILD=$dir/build PATH=$dir/bin:\$PATH");
    like("$rc $out", qr/\A2 cudacc: a program that calls cuBLAS needs OpenBLAS, which is not found: install libopenblas-dev [^\n]*\n\z/,
        'without OpenBLAS there is a line');
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
    ($out, $rc) = run("$dir/prog");
    ok($rc == 3 && $out =~ /\Akernel [^\n]*(?:$case->[1])[^\n]*\n\z/, "one line: $case->[0]") or diag("$rc: $out");
}
if (@traced) {
    my $twice = sprintf($objects, "    whole<<<2, 32>>>(t, p + 32);\n    cudaFree(p);\n");
    source($kernels . $twice, '', '--count');
    ($out) = run("$dir/prog");
    my %count = $out =~ /^(\w+) +(\d+)$/mg;
    is("$count{texture_fetches} $count{global_st_requests}", '64 2', 'fetches are counted by themselves');
    ok(!exists $count{global_ld_requests}, 'and are no loads') or diag($out);
    source($kernels . $twice, '', '--check');
    ($out) = run("$dir/prog 2>&1 | sed 's,$dir/,,g'");
    like($out, qr/^leak: a texture object, made at file\.cu:16, is never destroyed$/m, 'an object that is not destroyed');
}
# A kernel that runs past an array is stopped, and says where; so is a number that is none.
($out, $rc) = source("__global__ void k(float *p) { p[blockIdx.x * 256 + threadIdx.x] = 1; }\n"
        . "int main() { float *p; cudaMalloc(&p, 1000); k<<<8, 256>>>(p);\n"
        . "  return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 3; }\n");
is($rc, 0, 'a program with a kernel that runs past an array compiles');
($out, $rc) = run("$dir/prog");
is($rc, 0, 'running past an array is an illegal address') or diag($out);
like($out, qr/^kernel k \(.*thread \(0,0,0\): illegal access/, 'and says which thread');
for my $bad ('CUDACPU_SEED=abc', 'CUDACPU_WORKERS=0', 'CUDACPU_WORKERS=x', 'CUDACPU_STAGGER=x') {
    ($out, $rc) = run("CUDACPU_ORDER=random $bad $dir/prog");
    ok($rc == 2 && $out =~ /\A[^\n]*\Q$bad\E: need a number from [^\n]*\n\z/, "$bad is one line")
        or diag("$rc: $out");
}

($out, $rc) = run("$cudacc --frobnicate x.cu");
ok($rc == 2 && $out eq "cudacc: unknown option --frobnicate\n", 'an unknown option is one line');

done_testing();
