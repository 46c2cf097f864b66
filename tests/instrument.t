#!/usr/bin/env perl
# cudacc --count and --check: counts that follow from the source, a reader's own program, refusals.
# The fault suite is in check.t, the steps' rows in count.t.
# Reads: common tests/cpu tests/check tests/async-faults
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my $dir = scratch_dir();
my %r = run("common/cpu/cudacc --count -O2 tests/cpu/counted.cu -o $dir/counted && $dir/counted");
is($r{code}, 0, "it runs") or diag($r{err});
my $store = "global_st_requests=1 global_st_sectors=4";
my @expected = (
    "trips: global_ld_requests=4 global_ld_sectors=16 $store",
    "skips: global_ld_requests=8 global_ld_sectors=32 $store",
    "nested: global_ld_requests=3 global_ld_sectors=10 $store",
    "calls: global_ld_requests=2 global_ld_sectors=6 $store",
    "calls_ahead: global_ld_requests=2 global_ld_sectors=6 $store",
    "leaves: global_ld_requests=1 global_ld_sectors=2 global_st_requests=1 global_st_sectors=2",
    # Of 8 starts in a sector, 7 reach into a fifth.
    "many: global_ld_requests=501 global_ld_sectors=2438 $store",
    "shuffles: shuffles=1 votes=1 global_ld_requests=2 global_ld_sectors=8 $store",
    "atomics: barriers=2 atomics=4 global_ld_requests=2 global_ld_sectors=8 global_st_requests=2 "
        . "global_st_sectors=8 shared_ld_requests=2 shared_ld_wavefronts=2 shared_st_requests=1 "
        . "shared_st_wavefronts=1 global_atomic_requests=2 global_atomic_sectors=2 global_atomic_bytes=256 "
        . "global_atomic_elements=64",
    "specials: global_ld_requests=1 global_ld_sectors=4 $store sin=64 cos=32 exp=64 log=32 pow=32 "
        . "sqrt=32 rsqrt=32 div=96",
    "structs: global_ld_requests=4 global_ld_sectors=52 global_st_requests=2 global_st_sectors=20",
    "halves: global_ld_requests=1 global_ld_sectors=4 global_st_requests=3 global_st_sectors=10",
    "locals: global_ld_requests=4 global_ld_sectors=19 $store local_ld_requests=1",
    "spaces: global_ld_requests=1 global_ld_sectors=2 $store shared_ld_requests=1 "
        . "shared_ld_wavefronts=1 shared_st_requests=1 shared_st_wavefronts=1",
    "updates: global_ld_requests=2 global_ld_sectors=8 global_st_requests=5 global_st_sectors=68",
    "named: global_ld_requests=1 global_ld_sectors=4 $store by three=6 visits=32",
);
is_deeply([split /\n/, $r{out}], \@expected, "each kernel does what its source says");
for my $how ("CUDACPU_ORDER=reverse", "CUDACPU_ORDER=random CUDACPU_SEED=5 CUDACPU_WORKERS=1") {
    my %again = run("$how $dir/counted");
    is($again{out}, $r{out}, "and the same with $how");
}
%r = run("common/cpu/cudacc --count -O1 tests/cpu/counted.cu -o $dir/counted && $dir/counted");
is_deeply([split /\n/, $r{out}], \@expected, "and compiled with -O1");

# The same of inline PTX: rows of ldmatrix 128 bytes apart, swizzled, padded and 64 bytes apart.
my $one_store = "global_st_requests=1 global_st_sectors=4";
my @ptx = (
    "vectors: global_ld_requests=1 global_ld_sectors=16 $one_store shared_ld_requests=1 shared_ld_wavefronts=1 "
        . "shared_st_requests=1 shared_st_wavefronts=2",
    "some_lanes: global_ld_requests=3 global_ld_sectors=7 $one_store",
    "trips: global_ld_requests=4 global_ld_sectors=16 $one_store",
    "many: global_ld_requests=100 global_ld_sectors=400 $one_store",
    "atomics: atomics=2 global_atomic_requests=2 global_atomic_sectors=5 global_atomic_bytes=256 "
        . "global_atomic_elements=64",
    # 96 + 64 + 32 + 1 numbers; 384 + 256 + 128 + 8 bytes.
    "vector_sums: atomics=5 global_atomic_requests=4 global_atomic_sectors=30 global_atomic_bytes=776 "
        . "global_atomic_elements=193",
    "plain_rows: $one_store shared_ld_wavefronts=128 shared_ld_conflicts=112 "
        . "ldmatrix_requests=4 ldmatrix_wavefronts=128 ldmatrix_conflicts=112",
    "swizzled_rows: $one_store shared_ld_wavefronts=16 ldmatrix_requests=4 ldmatrix_wavefronts=16",
    "padded_rows: $one_store shared_ld_wavefronts=16 ldmatrix_requests=4 ldmatrix_wavefronts=16",
    "one_matrix: $one_store shared_ld_wavefronts=4 shared_ld_conflicts=3 "
        . "ldmatrix_requests=1 ldmatrix_wavefronts=4 ldmatrix_conflicts=3",
    "stored: shared_st_wavefronts=32 shared_st_conflicts=28 "
        . "stmatrix_requests=1 stmatrix_wavefronts=32 stmatrix_conflicts=28",
    "copied: $one_store shared_ld_requests=1 shared_ld_wavefronts=4 shared_ld_conflicts=3 cp_async_requests=2 "
        . "cp_async_bytes=440 cp_async_sectors=14 cp_async_wavefronts=9 cp_async_conflicts=1",
    "left_under_way: cp_async_requests=2 cp_async_bytes=256 cp_async_sectors=8 cp_async_wavefronts=2 "
        . "cp_async_left_groups=96",
    "products: $one_store exp=160 mma=4 mma_flops=14336",
    "bulk: bulk_load_requests=2 bulk_load_bytes=640 bulk_store_requests=1 bulk_store_bytes=256 "
        . "bulk_reduce_requests=1 bulk_reduce_bytes=64 bulk_read_waits=2 bulk_left_groups=1",
    "four_warps: barriers=1 global_st_requests=4 global_st_sectors=16 shared_st_requests=16 shared_st_wavefronts=16 "
        . "mma_flops=32768 wgmma=2 wgmma_shared_bytes=512 wgmma_left_groups=4",
    "hints: global_ld_requests=2 global_ld_sectors=5 global_st_requests=2 global_st_sectors=5 launch_dependents=40 "
        . "cache_hints=66",
);
%r = run("common/cpu/cudacc --count -O2 tests/cpu/counted-ptx.cu -o $dir/ptx && $dir/ptx");
is($r{code}, 0, "inline PTX runs") or diag($r{err});
is_deeply([split /\n/, $r{out}], \@ptx, "each kernel does what its PTX says");
for my $how ("CUDACPU_ORDER=reverse", "CUDACPU_ORDER=random CUDACPU_SEED=5 CUDACPU_WORKERS=1") {
    my %again = run("$how $dir/ptx");
    is($again{out}, $r{out}, "and the same with $how");
}

# The device's own memsets and copies stand beside the kernels; the host's copies are none of theirs.
%r = run("common/cpu/cudacc --count -O2 tests/cpu/moved.cu -o $dir/moved && $dir/moved");
is($r{code}, 0, "memory is moved") or diag($r{err});
is_deeply([split /\n/, $r{out}], [
    "set: memset 2, 0 sectors 0 bytes in, 130 and 4129 out",
    "three rows: memset 1, 0 sectors 0 bytes in, 6 and 120 out",
    "copied: memcpy 2, 5 sectors 132 bytes in, 5 and 132 out",
    "four rows: memcpy 1, 4 sectors 32 bytes in, 4 and 32 out",
    "to a variable: memcpy 1, 2 sectors 64 bytes in, 2 and 64 out",
    "the host's:",
    "captured:",
    "replayed: memset 2, 0 sectors 0 bytes in, 4 and 128 out",
    "in turn: one 1, 1 sectors 4 bytes in, 1 and 4 out",
    "early: one 3, 2 early",
], "and counted, as launches that may begin early are");

# An unsigned index in shared memory that wraps is an access to shared memory.
%r = run("common/cpu/cudacc --count tests/reported/81-unsigned-index-wraps.cu -o $dir/wraps && $dir/wraps");
like($r{out}, qr/^28 .*^shared_ld_requests +2$/ms, "an index that wraps at 32 bits") or diag($r{out}, $r{err});

# A wait for another block is one load, however long it takes; and it orders what the blocks do.
my %said;
%r = run("common/cpu/cudacc --count -O1 tests/cpu/ordered.cu -o $dir/ordered");
is($r{code}, 0, "blocks that wait for each other are compiled") or diag($r{err});
for my $how ("WORKERS=1", "WORKERS=2", "WORKERS=5 CUDACPU_ORDER=reverse", "WORKERS=3 CUDACPU_ORDER=random") {
    %r = run("CUDACPU_$how timeout 60 $dir/ordered acquire");
    like($r{out}, qr/^1158 checks, 0 failed$/m, "and counted, $how") or diag($r{err});
    $said{$r{out}} = 1;
}
is(scalar keys %said, 1, "what is counted does not depend on how long a block waits");
# 4 kernels of 4 waits and two of one, by 24 blocks; and what plain sums read, 2 requests each.
like($r{out}, qr/^global_ld_requests +@{[24 * (4 * 4 + 2) + 24 * (4 + 2) * 2]}$/m, "a wait is one load");
# The thread in front looks twice, and the one behind sets the flag in between; the look is written twice.
spew("$dir/copies.cu", <<'CUDA');
static __device__ __forceinline__ int look(const int *flag)
{
    int v;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
    return v;
}
__global__ void wait(int *flag)
{
    if (threadIdx.x == 0 && !look(flag))
        while (!look(flag))
            __nanosleep(100);
    if (threadIdx.x == 32)
        asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
}
int main()
{
    int *flag;
    cudaMalloc(&flag, sizeof *flag);
    cudaMemset(flag, 0, sizeof *flag);
    wait<<<1, 64>>>(flag);
    return cudaDeviceSynchronize();
}
CUDA
%r = run("common/cpu/cudacc --count $dir/copies.cu -o $dir/copies && CUDACPU_ORDER=forward timeout 60 $dir/copies");
like($r{out}, qr/^global_ld_requests +1$/m, "also where the code holds two copies of it") or diag($r{err});
%r = run("common/cpu/cudacc --check -O1 tests/cpu/ordered.cu -o $dir/checked");
is($r{code}, 0, "they are compiled to be checked") or diag($r{err});
for my $order (qw(forward reverse random)) {
    %r = run("CUDACPU_ORDER=$order timeout 60 $dir/checked");
    is("$r{code} $r{err}", "0 check: no findings\n", "a counter that is waited for orders plain sums, $order");
}
# Sums of floats have the same bits in each run only if their parts come in order, which is asked for.
my $release = "        if (threadIdx.x == 0 && ptx)\n            add_release";
spew("$dir/early.cu", slurp("tests/cpu/ordered.cu") =~ s/        __syncthreads\(\);\n(?=\Q$release\E)//r
    =~ s{#include "check.h"\n}{#include "check.h"\n#include "cpu/trace.h"\n}r
    =~ s/int main\(int argc, char \*\*\)\n\{\n/int main(int argc, char **)\n{\n    cpu_instrument()->sums_in_order(0); \/\/ the variable asks all the same\n/r
    =~ s/    run\(in_order<PLAINLY, true>, ROWS\);\n    if \(argc == 1\)\n.*\n//r =~ s/    run\(in_a_(?:chain|warp).*\n//gr);
%r = run("common/cpu/cudacc --check -O1 -w -Itests/cpu $dir/early.cu -o $dir/early");
is($r{code}, 0, "blocks that count on too early compile") or diag($r{err});
for my $sums (0, 1) {
    %r = run("CUDACPU_SUMS=$sums timeout 60 $dir/checked");
    is("$r{code} $r{err}", "0 check: no findings\n", "sums in order, CUDACPU_SUMS=$sums");
    %r = run("CUDACPU_SUMS=$sums timeout 60 $dir/early");
    is(scalar(() = $r{err} =~ /^unordered sum: atomic at /mg), 3 * $sums,
        "sums of which the next block's may come first, CUDACPU_SUMS=$sums") or diag($r{err});
}
# Sums of 16 bits are rounded, too.
spew("$dir/half-sums.cu", <<'CUDA');
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void add(half *a, half2 *b, nv_bfloat16 *c, int *d)
{
    atomicAdd(a, __float2half(1));
    atomicAdd(b, __float2half2_rn(1));
    atomicAdd(c, __float2bfloat16(1));
    atomicAdd(d, 1);
}
int main()
{
    char *p;
    cudaMalloc(&p, 64);
    cudaMemset(p, 0, 64);
    add<<<2, 1>>>((half *)p, (half2 *)(p + 16), (nv_bfloat16 *)(p + 32), (int *)(p + 48));
    cudaDeviceSynchronize();
    cudaFree(p);
}
CUDA
%r = run("common/cpu/cudacc --check $dir/half-sums.cu -o $dir/half-sums");
for my $sums (0, 1) {
    my %found = run("CUDACPU_SUMS=$sums timeout 60 $dir/half-sums");
    is(scalar(() = $found{err} =~ /^unordered sum: atomic at /mg), 3 * $sums, "sums of 16 bits, CUDACPU_SUMS=$sums") or diag($r{err}, $found{err});
}
# A block that takes its own number for a ticket waits for blocks that have not begun: it is set aside, and they begin.
spew("$dir/by-number.cu", slurp("tests/cpu/ordered.cu") =~ s/mine = atomicAdd\(ticket, 1u\)/mine = blockIdx.x/gr
    =~ s/    if \(argc == 1\)\n/    return check_result();\n/r);
%r = run("common/cpu/cudacc --check -O1 -w -Itests/cpu $dir/by-number.cu -o $dir/by-number");
is($r{code}, 0, "blocks without tickets compile") or diag($r{err});
for my $order ("forward", "") {
    %r = run("CUDACPU_ORDER=$order timeout 60 $dir/by-number");
    is("$r{code} $r{err}", "0 check: no findings\n", "a block that waits for a lower number, " . ($order || "unless told"));
}

# A reader's own program runs as usual, then prints its table; by line on request.
my $own = "$dir/own.cu";
open my $f, '>', $own or die $!;
print $f <<'CUDA';
#include <cstdio>
__global__ void twice(float *x)
{
    x[threadIdx.x * 2] *= 2;
}
int main()
{
    float *x;
    cudaMalloc(&x, 256);
    cudaMemset(x, 0, 256);
    twice<<<1, 32>>>(x);
    cudaFree(x);
    printf("done\n");
    return 3;
}
CUDA
close $f;
%r = run("common/cpu/cudacc --count $own -o $dir/own && CUDACPU_BY_LINE=1 $dir/own");
is($r{code}, 3, "the program's own exit code");
like($r{out}, qr/^done\n\n +twice\nlaunches +1\n/, "then the table");
like($r{out}, qr/^  sectors per request +8\.00$/m, "with sectors per request");
like($r{out}, qr/^  bytes moved +256$/m, "and bytes moved");
like($r{out}, qr/^ +2 +16 +0 +0 +0 +0 +0  \S*own\.cu:4  x\[threadIdx\.x \* 2\] \*= 2;$/m, "and the line");

# A value that a thread read too early is reported even when the kernel is stopped by it.
spew("$dir/early.cu", <<'CUDA');
__global__ void early(const int *x)
{
    __shared__ int cell;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(&cell)), "l"(x));
    if (cell != 0)
        __trap();
}
int main()
{
    int *x;
    cudaMalloc(&x, 4);
    cudaMemset(x, 0, 4);
    early<<<1, 1>>>(x);
    cudaFree(x);
    return 0;
}
CUDA
%r = run("common/cpu/cudacc --check $dir/early.cu -o $dir/early && $dir/early");
like($r{err}, qr/^pending copy: copy at \S*early\.cu:4 by thread \(0,0,0\) and read at \S*early\.cu:5 by thread/m,
    "a read before the wait, of which the kernel dies") or diag($r{err});

# Where nothing ran, "no findings" would be false comfort, and a launch that is refused is one.
open $f, '>', "$dir/refused.cu" or die $!;
print $f "__global__ void k() {}\nint main() { k<<<1, 2048>>>(); return 0; }\n";
close $f;
%r = run("common/cpu/cudacc --check $dir/refused.cu -o $dir/refused && $dir/refused");
like($r{err}, qr/\Akernel k \(launched at [^\n]*: a block of \(2048,1,1\) threads; [^\n]*\nfailed work: kernel k [^\n]*\ncheck: 1 finding: failed work\n\z/,
    "a launch that is refused") or diag($r{err});

# A copy of a constant size, which a compiler makes into code of its own.
open $f, '>', "$dir/sized.cu" or die $!;
print $f <<'CUDA';
#include <cstring>
struct three { float a, b, c; };
struct eight { float a[8]; };
__global__ void copies(const float *x, float *y)
{
    three v;
    memcpy(&v, x + 3 * threadIdx.x, sizeof v);
    eight w;
    std::memcpy(&w, x + 8 * threadIdx.x, sizeof w);
    eight u;
    memmove(&u, x + 8 * (31 - threadIdx.x), sizeof u);
    y[threadIdx.x] = v.a + v.b + v.c + w.a[0] + w.a[7] + u.a[0] + u.a[7];
}
int main()
{
    float *x, *y;
    cudaMalloc(&x, 255 * sizeof *x);
    cudaMemset(x, 0, 255 * sizeof *x);
    cudaMalloc(&y, 32 * sizeof *y);
    copies<<<1, 32>>>(x, y);
    cudaFree(x);
    cudaFree(y);
    return cudaDeviceSynchronize();
}
CUDA
close $f;
for my $cxx (grep { have($_) } qw(g++ clang++)) {
    my $cc = $cxx =~ s/\+\+//r =~ s/^g$/gcc/r;
    %r = run("CXX=$cxx CC=$cc common/cpu/cudacc --check $dir/sized.cu -o $dir/sized && $dir/sized");
    like($r{err}, qr/^out of bounds: read at \S*sized\.cu:9 by thread \(31,0,0\)/m, "$cxx: a copy beyond the end is found");
    %r = run("CXX=$cxx CC=$cc common/cpu/cudacc --count $dir/sized.cu -o $dir/sized && $dir/sized");
    like($r{out}, qr/^global_ld_requests +7$/m, "$cxx: and all of its bytes are counted") or diag($r{out});
}

# Nothing of an instrument is in a plain program.
%r = run("common/cpu/cudacc $own -o $dir/plain && nm $dir/plain | grep -ciE 'tsan|trace|sanitizer'");
is($r{out}, "0\n", "a plain program contains nothing of it");

# clang++ counts and finds the same, from 14 on: of what there is all are tried.
for my $cxx (grep { have($_) } "clang++", grep { !$ENV{TEST_PLAN} } map { "clang++-$_" } 15 .. 20) {
    my $cudacc = "CXX=$cxx CC=" . $cxx =~ s/clang\+\+/clang/r . " common/cpu/cudacc";
    for (["-O2", "counted", \@expected], ["-O1", "counted", \@expected], ["-O2", "counted-ptx", \@ptx]) {
        my ($level, $name, $want) = @$_;
        %r = run("$cudacc --count $level tests/cpu/$name.cu -o $dir/clang && $dir/clang");
        is_deeply([split /\n/, $r{out}], $want, "$cxx $level counts the same of $name.cu") or diag($r{err});
    }
    # 32 bytes a lane from an address that only 4 divides, to one that 16 divides: 8 requests, and 2.
    open $f, '>', "$dir/lies.cu" or die $!;
    print $f "#include <cstring>\nstruct alignas(16) eight { float a[8]; };\n"
        . "__global__ void k(const float *x, eight *y) {\n    eight v;\n    memcpy(&v, x + 1 + 8 * threadIdx.x, sizeof v);\n"
        . "    y[threadIdx.x] = v;\n}\nint main() {\n    float *p;\n    cudaMalloc(&p, 4096);\n"
        . "    cudaMemset(p, 0, 4096);\n    k<<<1, 32>>>(p, (eight *)(p + 512));\n    cudaFree(p);\n}\n";
    close $f;
    %r = run("$cudacc --count -O2 $dir/lies.cu -o $dir/clang && $dir/clang");
    is(join(" ", $r{out} =~ /^(global_.._requests +\d+)$/mg) =~ s/ +/ /gr, "global_ld_requests 8 global_st_requests 2",
        "$cxx: pieces of a copy are as wide as both sides are aligned") or diag($r{err});
    %r = run("$cudacc --check $own -o $dir/own && $dir/own");
    is($r{err}, "check: no findings\n", "$cxx: a program without findings");
    for (["shared-race", "lane_to_lane"], ["wgmma-fence", "read_between"], ["out-of-bounds", "own_array"]) {
        my ($file, $name) = @$_;
        my $rule = $file =~ tr/-/ /r;
        my ($source) = grep { -e } "tests/check/$file.cu", "tests/async-faults/$file.cu";
        my @text = split /\n/, slurp($source);
        my $lines = join "|", map { $_ + 1 } grep { $text[$_] =~ /(?:fault|seen) here: $name$/ } 0 .. $#text;
        %r = run("$cudacc --check -g1 $source -o $dir/faults && $dir/faults $name fault");
        like($r{err}, qr/^$rule: .*\b$file\.cu:(?:$lines)\b/m, "$cxx: $name of $source is found")
            or diag($r{err});
        %r = run("$dir/faults $name right");
        is($r{err}, "check: no findings\n", "$cxx: and nothing in its fixed version");
    }
}
done_testing();
