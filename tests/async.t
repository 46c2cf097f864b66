#!/usr/bin/env perl
# Inline PTX that moves data: copies take effect when CUDACPU_ASYNC says, and what a kernel must not do
# is one line that names instruction, place, thread and address.
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my $dir = scratch_dir();
my %r = run(join " && ", map { "common/cpu/cudacc -O1 tests/ptx/$_.cu -o $dir/$_" } qw(late faults async));
is($r{code}, 0, "the programs compile") or BAIL_OUT($r{err});

# What lies in shared memory after the issues, after a wait for 6 of 16 groups, after a wait for all;
# and which value of a source that changes on the way.
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

my @faults = (
    ["cudaErrorIllegalAddress", qr/faults\.cu:\d+: thread 0 \(lane 0\): ld\.shared\.f32 of 4 bytes at shared address 0x3e8: the block has 0x80 bytes of shared memory/],
    ["cudaErrorMisalignedAddress", qr/thread 1 \(lane 1\): ld\.global\.v4\.f32 of 16 bytes at global address 0x\w+, which is no multiple of 16$/m],
    ["cudaErrorIllegalAddress", qr/st\.global\.f32 of 4 bytes at global address 0x\w+, which is a pointer to shared memory$/m],
    ["cudaErrorMisalignedAddress", qr/thread 5 \(lane 5\): ldmatrix\.sync\.aligned\.m8n8\.x1\.shared\.b16 of 16 bytes at shared address 0x54, which is no multiple of 16$/m],
    ["cudaErrorLaunchFailure", qr/threads 0-23 wait at mma\.sync\.aligned\.m16n8k8\.row\.col\.f32\.f16\.f16\.f32 .*\(\S*faults\.cu:\d+\); threads 24-31 have exited$/m],
    ["cudaErrorLaunchFailure", qr/cp\.async\.ca\.shared\.global of 12 bytes: need 4, 8 or 16$/m],
    ["cudaErrorMisalignedAddress", qr/thread 1 \(lane 1\): cp\.async\.cg\.shared\.global of 16 bytes at global address 0x\w+8, which is no multiple of 16$/m],
    ["cudaErrorLaunchFailure", qr/cp\.async\.ca\.shared\.global of 8 bytes is to read 9: at most as many$/m],
    ["cudaErrorIllegalAddress", qr/thread \(3,0,0\): illegal access at address 0x\w+$/m],
    ["cudaErrorLaunchFailure", qr/named barrier 3 for 33 threads: need a number from 1 to 15 and a multiple of 32 threads, at most the block's 32$/m],
    ["cudaErrorLaunchFailure", qr/ldmatrix\.\S+ by warp 0, which has 24 threads: need a whole warp of 32$/m],
);
for my $i (0 .. $#faults) {
    my ($error, $report) = @{$faults[$i]};
    my %r = run("$dir/faults $i");
    ok($r{out} eq "$error\n" && $r{err} =~ $report && ($r{err} =~ tr/\n//) == 1,
        "fault $i is $error, and one line") or diag($r{out} . $r{err});
}
%r = run("$dir/faults " . @faults);
is($r{code}, 2, "those are all");
done_testing();
