#!/usr/bin/env perl
# Cooperative groups and cooperative launches on the CPU: each operation, each report, and what the
# instruments make of them. The faults that check finds are in check/.
# Reads: common/cuda common/harness tests/cpu
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Backend;

my @variants = ((map { [$_, ''] } @cxx), [$cxx[0], '--portable']);
for my $variant (@variants) {
    my ($groups) = build(['groups', @$variant]);
    for my $order (qw(forward reverse random)) {
        for my $workers (1, 3) {
            my ($out, $rc) = output("CUDACPU_ORDER=$order CUDACPU_WORKERS=$workers timeout 60 $groups");
            my $most = 32 * $workers;
            ok($rc == 0 && $out =~ /^\d+ checks, 0 failed$/m, "groups, @$variant, $order, workers: $workers")
                or diag($out);
            like($out, qr/^kernel \S+ \(launched at groups\.cu:\d+\): a cooperative launch of ${\($most + 1)} blocks; at most $most are there at once: 32 on each of $workers multiprocessors?/m,
                'and a grid that is too large is told');
        }
    }
}

# Reports: one line, and then the launch has failed.
my $at = 'grids\.cu';
my @reports = (
    qr/^kernel ordinary .*: $at:11: grid\.sync in a launch that is not cooperative: need cudaLaunchCooperativeKernel, or the attribute of cudaLaunchKernelEx$/m,
    qr/^kernel \S+ .*, block \([02],0,0\): barrier divergence: 1 of the grid's 3 blocks has ended: threads 0-63 wait at grid\.sync \($at:18\)$/m,
    qr/^kernel \S+ .*, block \([12],0,0\): barrier divergence: 1 of the grid's 3 blocks has ended: threads 0-63 wait at grid\.sync \($at:26\)$/m,
    qr/^kernel \S+ .*: barrier divergence: threads 0-31 wait at grid\.sync \($at:32\); threads 32-63 wait at __syncthreads \($at:34\)$/m,
    qr/^kernel \S+ .*: barrier divergence: threads 0-7, 32-39 wait at __syncwarp of mask 0x0000ffff \($at:41\); threads 8-15, 24-31, 40-47, 56-63 wait at __syncthreads \($at:43\); threads 16-23, 48-55 wait at __syncwarp of mask 0xffff0000 \($at:41\)$/m,
    qr/^kernel \S+ .*: thread \(\d+,0,0\): tiled_partition: need a thread_block or lanes of a warp, and 1, 2, 4, 8, 16 or 32 threads \($at:48\)$/m,
    qr/^kernel \S+ .*, block \(0,0,0\): waits in vain: threads 0-63 wait at __nanosleep \($at:54\)$/m,
);
for my $variant (@variants[0, -1]) {
    my ($grids) = build(['grids', @$variant]);
    for my $i (0 .. $#reports) {
        for my $order (qw(forward reverse random)) {
            my ($out) = output("CUDACPU_ORDER=$order timeout 60 $grids $i");
            ok($out =~ $reports[$i] && $out =~ /^cudaErrorLaunchFailure$/m && ($out =~ tr/\n//) == 2,
                "report $i, @$variant, $order") or diag($out);
        }
    }
}

SKIP: {
    skip 'the instruments need g++', 1 if !@traced;
    # A launch is refused, which is the only finding; the warning: threads that end before their block's last barrier.
    my ($counted, $checked) = build(map { ['groups', 'g++', $_] } @traced);
    for my $order (qw(forward reverse random)) {
        my ($out, $rc) = output("CUDACPU_ORDER=$order timeout 60 $checked");
        ok($rc == 1 && $out =~ /^check: 1 finding: failed work; 1 warning$/m && $out =~ /, 0 failed$/m, "check finds nothing else, $order")
            or diag($out);
    }
    # In each block of uneven 5 barriers of the grid, in each of neighbours 7, and twice 6 blocks of those.
    my ($out, $rc) = output("CUDACPU_WORKERS=2 timeout 60 $counted");
    my %row = map { /^(\w+) +(\d.*)$/ ? ($1 => [split ' ', $2]) : () } split /\n/, $out;
    is($rc, 0, 'it counts') or diag($out);
    is($row{grid_barriers}[-1], 64 * 5 + 2 * 6 * 7, 'barriers of the grid, of each block');
}

done_testing();
