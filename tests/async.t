#!/usr/bin/env perl
# Inline PTX that moves data: copies take effect when CUDACPU_ASYNC says, and what a kernel must not do
# is one line that names instruction, place, thread and address.
# Reads: common/cuda common/harness tests/ptx
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my $dir = scratch_dir();
my %r = run(join " && ", map { "common/cpu/cudacc -O1 tests/ptx/$_.cu -o $dir/$_" } qw(late faults async late-bulk bulk-faults rows maps late-wgmma wgmma-faults wgmma));
is($r{code}, 0, "the programs compile") or BAIL_OUT($r{err});

# The bytes in shared memory after the issues, after a wait for 6 of 16 groups, and after a wait for all;
# and the value that is copied of a source that changes before the wait.
my $copied = "c" x 16;
my %late = run("$dir/late");
is($late{out}, "${\ ('p' x 16)}\n${\ ('c' x 6 . 'p' x 10)}\n$copied\nsource after\n",
    "late: at the wait, which reads the source");
%r = run("$dir/late", CUDACPU_ASYNC => "late");
is($r{out}, $late{out}, "late is the default");
%r = run("$dir/late", CUDACPU_ASYNC => "early");
is($r{out}, "$copied\n$copied\n$copied\nsource before\n", "early: at the issue");
my %seen;
for my $seed (1 .. 8) {
    my %r = run("$dir/late", CUDACPU_ASYNC => "random", CUDACPU_SEED => $seed);
    my %again = run("$dir/late", CUDACPU_ASYNC => "random", CUDACPU_SEED => $seed);
    like($r{out}, qr/^[cp]{16}\nc{6}[cp]{10}\n$copied\nsource (?:before|after)\n\z/,
        "random, seed $seed: every wait holds");
    is($again{out}, $r{out}, "and again the same");
    $seen{$r{out}} = 1;
}
cmp_ok(scalar(keys %seen), ">", 4, "seeds differ");
for my $order (qw(forward reverse random)) {
    my %first = run("$dir/async", CUDACPU_ORDER => $order);
    for my $mode (qw(early random)) {
        my %r = run("$dir/async", CUDACPU_ASYNC => $mode, CUDACPU_ORDER => $order);
        is($r{out}, $first{out}, "a kernel that waits gives the same with $mode, $order");
    }
}
%r = run("$dir/late", CUDACPU_ASYNC => "later");
is("$r{code}: $r{err}", "2: CUDACPU_ASYNC is \"later\": need late, early or random\n",
    "another value is refused");

# Copies that are given to an mbarrier: one of another thread, one of a group that is waited for, one of a
# group that is open; what a thread finds of them after its wait, and after that for the mbarrier.
spew("$dir/given.cu", <<'END');
#include <cstdio>
#include <cuda_pipeline_primitives.h>
__global__ void k(const int *x, char *y)
{
    __shared__ int cell[3];
    __shared__ __mbarrier_t bar;
    const int t = threadIdx.x;
    if (t == 0)
        __mbarrier_init(&bar, 2);
    __syncthreads();
    __pipeline_memcpy_async(&cell[t], x, 4);
    if (t == 1) {
        __pipeline_commit();
        __pipeline_memcpy_async(&cell[2], x, 4);
    }
    __pipeline_arrive_on(&bar);
    if (t == 0)
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    __syncthreads();
    if (t == 1) {
        __pipeline_wait_prior(0);
        for (int i = 0; i < 3; i++)
            y[i] = cell[i] == 5 ? 'c' : 'p';
    }
    const __mbarrier_token_t token = __mbarrier_arrive(&bar);
    while (!__mbarrier_try_wait(&bar, token))
        ;
    if (t == 1)
        for (int i = 0; i < 3; i++)
            y[4 + i] = cell[i] == 5 ? 'c' : 'p';
}
int main()
{
    int *x;
    char *y;
    cudaMallocManaged(&x, 4);
    cudaMallocManaged(&y, 8);
    *x = 5;
    y[3] = ' ';
    y[7] = 0;
    k<<<1, 2>>>(x, y);
    puts(cudaDeviceSynchronize() == cudaSuccess ? y : "failed");
}
END
%r = run("common/cpu/cudacc -O1 $dir/given.cu -o $dir/given && $dir/given");
is("$r{out}$r{err}", "pcp ccc\n", "late: a copy that an mbarrier has comes when its thread or the mbarrier is waited for");
%r = run("$dir/given", CUDACPU_ASYNC => "early");
is($r{out}, "ccc ccc\n", "early: at the issue");
%seen = ();
for my $seed (1 .. 24) {
    my %r = run("$dir/given", CUDACPU_ASYNC => "random", CUDACPU_SEED => $seed);
    like($r{out}, qr/^[cp]c[cp] ccc$/, "random, seed $seed: every wait holds");
    $seen{$r{out}} = 1;
}
cmp_ok(scalar(keys %seen), ">", 2, "seeds differ");

# The driver's function has a name and a version; each map that it refuses is a line.
spew("$dir/driver.cu", <<'END');
#include <cudaTypedefs.h>
#include <cstdio>
__global__ void k(const __grid_constant__ CUtensorMap) {}
int main()
{
    void *f;
    cudaDriverEntryPointQueryResult found;
    cudaError_t e = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &f, cudaEnableDefault, &found);
    printf("%d %d %d\n", e, found, (PFN_cuTensorMapEncodeTiled)f == cuTensorMapEncodeTiled);
    e = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 11080, cudaEnableDefault, &found);
    printf("%d %d %d\n", e, found, f != nullptr);
    e = cudaGetDriverEntryPointByVersion("cuLaunchKernel", &f, 12000, cudaEnableDefault, &found);
    printf("%d %d %d\n", e, found, f != nullptr);
}
END
%r = run("common/cpu/cudacc $dir/driver.cu -o $dir/driver && $dir/driver");
is("$r{out}$r{err}", "0 0 1\n0 2 0\n0 1 0\nthe CPU backend has no driver function cuLaunchKernel: "
    . "cuTensorMapEncodeTiled is all\n", "what the driver has");
%r = run("$dir/maps");
my $refused = () = $r{out} =~ /\t1$/mg;
is(scalar(grep { !/^cuTensorMapEncodeTiled: .*: need / } split /\n/, $r{err}), 0, "a map that is refused is a line")
    or diag($r{err});
is($r{err} =~ tr/\n//, $refused, "each is");

# Bulk copies: what a thread finds after its issues, after three waits, after all; of an array, after the
# stores' issues, after three tiles are read, after these are written, after all, where the tile held 2,
# 3 and 4 in turn; and the value of a source that changes.
my ($o, $c) = ("o" x 8, "c" x 8);
%late = run("$dir/late-bulk");
is($late{out}, "${\ ('p' x 8)}\nccc${\ ('p' x 5)}\n$c\n$o\n$o\n333${\ ('o' x 5)}\n${\ ('3' x 8)}\nsource after\n",
    "late: a load comes when it is waited for, a store reads its tile and writes its array as late");
%r = run("$dir/late-bulk", CUDACPU_ASYNC => "early");
is($r{out}, "$c\n$c\n$c\n" . ("2" x 8 . "\n") x 4 . "source before\n", "early: at the issue");
%seen = ();
for my $seed (1 .. 8) {
    my %r = run("$dir/late-bulk", CUDACPU_ASYNC => "random", CUDACPU_SEED => $seed);
    like($r{out}, qr/^[cp]{8}\nccc[cp]{5}\n$c\n[o2]{8}\n[o23]{8}\n[23]{3}[o23]{5}\n[23]{8}\nsource (?:before|after)\n\z/,
        "random, seed $seed: every wait holds");
    $seen{$r{out}} = 1;
}
cmp_ok(scalar(keys %seen), ">", 4, "seeds differ");
for my $order (qw(forward reverse random)) {
    my %first = run("$dir/rows", CUDACPU_ORDER => $order);
    for my $mode (qw(early random)) {
        my %r = run("$dir/rows", CUDACPU_ASYNC => $mode, CUDACPU_ORDER => $order);
        is($r{out} =~ s/^.*before they are announced.*\n//mr, $first{out} =~ s/^.*before they are announced.*\n//mr,
            "a kernel that waits gives the same with $mode, $order");
    }
}

# Sums of eight products after their issues, after a wait for all but five, after all, where the tile
# held 2, 3 and 4 in turn; and registers of A that change.
%late = run("$dir/late-wgmma");
is($late{out}, "pppppppp\n333ppppp\n33344444\nregisters after\n",
    "late: a product reads its operands and writes its sums when it is waited for");
%r = run("$dir/late-wgmma", CUDACPU_ASYNC => "early");
is($r{out}, ("2" x 8 . "\n") x 3 . "registers before\n", "early: when it is issued");
%seen = ();
for my $seed (1 .. 12) {
    my %r = run("$dir/late-wgmma", CUDACPU_ASYNC => "random", CUDACPU_SEED => $seed);
    like($r{out}, qr/^2*p*\n(?!p{1,3})[23]{3}[23]*p*\n[23]{3}[234]{5}\nregisters (?:before|after)\n\z/,
        "random, seed $seed: in order, and every wait holds");
    $seen{$r{out}} = 1;
}
cmp_ok(scalar(keys %seen), ">", 3, "seeds differ");
my %first = run("$dir/wgmma");
for my $order (qw(forward reverse random)) {
    for my $mode (qw(late early random)) {
        my %r = run("$dir/wgmma", CUDACPU_ASYNC => $mode, CUDACPU_ORDER => $order);
        ok($r{code} == 0 && $r{out} eq $first{out}, "products that are waited for give the same with $mode, $order");
    }
}

# The error, the line, and of which rules --check has findings.
my @faults = (
    ["cudaErrorIllegalAddress", qr/faults\.cu:\d+: thread 0 \(lane 0\): ld\.shared\.f32 of 4 bytes at shared address 0x3e8: the block's shared memory ends at 0x80/, "out of bounds"],
    ["cudaErrorMisalignedAddress", qr/thread 1 \(lane 1\): ld\.global\.v4\.f32 of 16 bytes at global address 0x\w+, which is no multiple of 16$/m, "global race, misaligned"],
    ["cudaErrorIllegalAddress", qr/st\.global\.f32 of 4 bytes at global address 0x\w+, which is a pointer to shared memory$/m, "out of bounds"],
    ["cudaErrorMisalignedAddress", qr/thread 5 \(lane 5\): ldmatrix\.sync\.aligned\.m8n8\.x1\.shared\.b16 of 16 bytes at shared address 0x54, which is no multiple of 16$/m, "misaligned"],
    ["cudaErrorLaunchFailure", qr/threads 0-23 wait at mma\.sync\.aligned\.m16n8k8\.row\.col\.f32\.f16\.f16\.f32 .*\(\S*faults\.cu:\d+\); threads 24-31 have exited$/m, "barrier divergence"],
    ["cudaErrorLaunchFailure", qr/cp\.async\.ca\.shared\.global of 12 bytes: need 4, 8 or 16$/m, "stopped kernel"],
    ["cudaErrorMisalignedAddress", qr/thread 1 \(lane 1\): cp\.async\.cg\.shared\.global of 16 bytes at global address 0x\w+8, which is no multiple of 16$/m, "misaligned"],
    ["cudaErrorLaunchFailure", qr/cp\.async\.ca\.shared\.global of 8 bytes is to read 9: at most as many$/m, "stopped kernel"],
    ["cudaErrorIllegalAddress", qr/thread \(3,0,0\): illegal access at address 0x\w+$/m, "out of bounds"],
    ["cudaErrorLaunchFailure", qr/named barrier 3 for 33 threads: need a number from 1 to 15 and a multiple of 32 threads, at most the block's 32$/m, "stopped kernel"],
    ["cudaErrorLaunchFailure", qr/ldmatrix\.\S+ by warp 0, which has 24 threads: need a whole warp of 32$/m, "barrier divergence"],
);
my $try = qr/wait at mbarrier\.try_wait\.parity\.shared::cta\.b64 on/;
my $at = qr/\(\S*bulk\.h:\d+\)/;
my @bulk_faults = (
    ["cudaErrorLaunchFailure", qr/deadlock: threads 0-31 $try full \+ 8, whose phase 0 \(parity 0\) lacks 512 of 1024 bytes $at$/m, "mbarrier"],
    ["cudaErrorLaunchFailure", qr/deadlock: threads 0-7 $try full, whose phase 0 \(parity 0\) lacks 1 of 1 arrival $at; threads 8-15 $try empty, whose phase 0 \(parity 0\) lacks 2 of 31 arrivals $at; threads 16-23 wait at __syncthreads \(\S+\); threads 24-31 have exited$/m, "mbarrier"],
    ["cudaErrorLaunchFailure", qr/bulk-faults\.cu:\d+: thread 0 \(lane 0\): mbarrier\.arrive\.shared::cta\.b64: no mbarrier at shared address 0x510: mbarrier\.init makes one$/m, "mbarrier"],
    ["cudaErrorLaunchFailure", qr/thread 31 \(lane 31\): mbarrier\.arrive\.expect_tx\.shared::cta\.b64: 1 arrival too many on full, whose phase 0 \(parity 0\) lacks 512 of 512 bytes$/m, "mbarrier"],
    ["cudaErrorMisalignedAddress", qr/mbarrier::complete_tx::bytes at shared address 0x540: need a multiple of 128$/m, "misaligned"],
    ["cudaErrorIllegalAddress", qr/complete_tx::bytes: no tensor map at address 0x\w+: need a parameter const __grid_constant__ CUtensorMap, from cuTensorMapEncodeTiled$/m, "out of bounds"],
    ["cudaErrorLaunchFailure", qr/cp\.async\.bulk\.tensor\.3d\.global\.shared::cta\.tile\.bulk_group: the tensor map has 2 dimensions$/m, "descriptor"],
    ["cudaErrorMisalignedAddress", qr/cp\.async\.bulk\.shared::cluster\.global\.\S+ of 40 bytes: need a multiple of 16$/m, "misaligned"],
    ["cudaErrorMisalignedAddress", qr/cp\.async\.bulk\.shared::cluster\.global\.\S+ at a global address that ends in 0x4: need a multiple of 16$/m, "misaligned"],
    ["cudaErrorIllegalAddress", qr/cp\.async\.bulk\.\S+ of 64 bytes at shared address 0x14f0: the block's shared memory ends at 0x1508$/m, "mbarrier, out of bounds, pending copy, shared race"],
    ["cudaErrorLaunchFailure", qr/mbarrier\.test_wait\S+: tested 1048576 times in vain for parity 0 of dynamic shared memory \+ 24, whose phase 0 \(parity 0\) lacks 2 of 2 arrivals$/m, "mbarrier"],
    ["cudaErrorLaunchFailure", qr/deadlock: threads 0-31 $try dynamic shared memory \+ 24, whose phase 0 \(parity 0\) lacks 2 of 2 arrivals \(\S+bulk-faults\.cu:\d+\)$/m, "mbarrier"],
    ["cudaSuccess", qr/^$/, ""],
    ["cudaErrorLaunchFailure", qr/deadlock: threads 0-15 $try shared, whose phase 0 \(parity 0\) lacks 1 of 1 arrival $at; threads 16-31 wait at __syncthreads \(\S+:\d+\)$/m, "mbarrier"],
    ["cudaErrorLaunchFailure", qr/thread 0 \(lane 0\): mbarrier\.arrive\.shared::cta\.b64: something was stored over the mbarrier at shared address 0x400$/m, "mbarrier"],
    ["cudaErrorLaunchFailure", qr/mbarrier\.try_wait\.parity\.shared::cta\.b64: parity 3: need 0 or 1$/m, "mbarrier"],
    ["cudaErrorLaunchFailure", qr/cp\.async\.bulk\.tensor\.3d\.shared::\S+: the tensor map has 2 dimensions$/m, "descriptor"],
);
my $wgmma = qr/wgmma\.mma_async\.sync\.aligned\.m64n8k16\.f32\.f16\.f16/;
my @wgmma_faults = (
    ["cudaErrorLaunchFailure", qr/$wgmma by warp 0 of a block of 96 threads: need the 4 whole warps of a warpgroup, 0 to 3$/m, "barrier divergence"],
    ["cudaErrorLaunchFailure", qr/threads 0-95 wait at $wgmma .*; threads 96-127 have exited$/m, "barrier divergence"],
    ["cudaErrorLaunchFailure", qr/threads 64-76, 78-95 wait at wgmma\.fence\.sync\.aligned of mask 0xffffffff \(\S+:\d+\); thread 77 has exited$/m, "barrier divergence"],
    ["cudaErrorIllegalAddress", qr/wgmma_forms\.h:\d+: $wgmma: matrix B has column 0 at shared address 0x1000: the block's shared memory ends at 0x1000 \(descriptor: start 0xf80, leading distance 128, stride 256, swizzle of 0 bytes\)$/m, "descriptor"],
    ["cudaErrorIllegalAddress", qr/wgmma_forms\.h:\d+: $wgmma: matrix B has a descriptor, 0x0000401000080000, with bits outside of its fields, 0x0000400000000000: need an address and distances in units of 16 bytes, of 14 bits each$/m, "descriptor"],
    ["cudaErrorLaunchFailure", qr/$wgmma: the descriptor of B is 0x1000080000 in thread 0 and 0x1000080040 in thread 64: need the same in all 128 threads of the warpgroup$/m, "descriptor"],
    ["cudaErrorLaunchFailure", qr/$wgmma: the predicate that says whether to add is 0x1 in thread 0 and 0x0 in thread 127: need the same/m, "stopped kernel"],
    ["cudaErrorLaunchFailure", qr/$wgmma: operand 6 is 2: need 1 or -1$/m, "stopped kernel"],
    ["cudaErrorLaunchFailure", qr/wgmma-faults\.cu:\d+: setmaxnreg\.inc\.sync\.aligned\.u32 of 28 registers: need a multiple of 8 from 24 to 256$/m, "setmaxnreg"],
    ["cudaErrorLaunchFailure", qr/thread 64 comes to named barrier 1 for 64 threads, and thread 0 for 128 threads \(\S+:\d+\): need the same number, or another barrier$/m, "barrier divergence"],
);
for my $kind (["faults", @faults], ["bulk-faults", @bulk_faults], ["wgmma-faults", @wgmma_faults]) {
    my ($program, @list) = @$kind;
    for my $i (0 .. $#list) {
        my ($error, $report) = @{$list[$i]};
        my %r = run("timeout 60 $dir/$program $i");
        ok($r{out} eq "$error\n" && $r{err} =~ $report && ($r{err} =~ tr/\n//) == ($error ne "cudaSuccess"),
            "$program $i is $error, and one line") or diag($r{out} . $r{err});
    }
    my %r = run("$dir/$program " . @list);
    is($r{code}, 2, "those are all");
    %r = run("common/cpu/cudacc --check -O2 -g1 tests/ptx/$program.cu -o $dir/checked-$program");
    for my $i (0 .. $#list) {
        my %r = run("timeout 60 $dir/checked-$program $i");
        my %rules = map { s/: .*//r => 1 } grep { !/^(?:kernel |check:|leak:)/ } split /\n/, $r{err};
        is(join(", ", sort keys %rules), $list[$i][2], "$program $i with --check: rules") or diag($r{err});
    }
}
# check also says who calls the function that waits.
my @lines = split /\n/, slurp("tests/ptx/bulk-faults.cu");
my %called = map { $lines[$_ - 1] =~ /^ +barrier_wait\(shared_address\(&(full|empty)\), 0\);/ ? ($1 => $_) : () } 1 .. @lines;
%r = run("timeout 60 $dir/checked-bulk-faults 1");
like($r{err}, qr/^mbarrier: deadlock: threads 0-7 $try full, .* arrivals? \(tests\/ptx\/bulk\.h:\d+, called at tests\/ptx\/bulk-faults\.cu:$called{full}\); threads 8-15 $try empty, .* arrivals? \(\S+, called at \S+:$called{empty}\); threads 16-23 wait at __syncthreads \(\S+\); threads 24-31 have exited; in block/m,
    "who calls, each by itself, and none of __syncthreads") or diag(explain(\%called));
my ($line) = grep { $lines[$_] =~ /void from_two_lines/ } 0 .. $#lines;
my ($one, $two) = ($line + 8, $line + 10);
%r = run("timeout 60 $dir/checked-bulk-faults 13");
like($r{err}, qr/^mbarrier: deadlock: threads 0-7 $try shared, .* arrivals? \(\S+, called at \S+:$one\); threads 8-15 $try shared, .* arrivals? \(\S+, called at \S+:$two\); threads 16-31 wait at __syncthreads \(\S+:\d+\); in block/m,
    "one barrier from two lines, and nobody calls __syncthreads");
# Dynamic shared memory has no names: the line that makes the barrier has one.
my ($made) = grep { $lines[$_ - 1] =~ /barrier_init\(barrier, 2\)/ } reverse 1 .. @lines;
%r = run("timeout 60 $dir/checked-bulk-faults 11");
like($r{err}, qr/ $try dynamic shared memory \+ 24, made at tests\/ptx\/bulk-faults\.cu:$made, whose phase 0 /, "where it was made");
done_testing();
