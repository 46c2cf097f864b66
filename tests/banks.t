#!/usr/bin/env perl
# Passes through the banks of shared memory: for lanes of 4, 8 and 16 bytes in 32 patterns each, and
# for ldmatrix, stmatrix and cp.async in 24, our count is what the counters of an H200 say.
# Reads: common/cuda common/harness tests/banks plots/data/nvidia-h200
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my $dir = scratch_dir();

# Both lists of rows: those that a program prints, and those that were recorded.
sub both {
    my ($name, $record, $rows) = @_;
    my %r = run("common/cpu/cudacc --count tests/banks/$name.cu -o $dir/$name && $dir/$name");
    is($r{code}, 0, "$name: the patterns run") or diag($r{err});
    my @ours = split /\n/, $r{out};
    my @theirs = grep { !/^(#|bytes|operation)/ } split /\n/, slurp("plots/data/nvidia-h200/$record.tsv");
    is(scalar(@ours), $rows, "$name: $rows launches");
    return (\@ours, \@theirs);
}

my ($ours, $theirs) = both("banks", "banks", 192);
is_deeply($ours, $theirs, "three sizes, 32 patterns, loads and stores: as on the GPU");

($ours, $theirs) = both("matrix", "banks-matrix", 288);
# 8 rows 128 bytes apart share their banks; each 16 bytes further than the one before, they do not.
for my $row ("ldmatrix\t1\t12\t8\t7\t0", "ldmatrix\t4\t12\t32\t28\t0", "stmatrix\t4\t12\t32\t28\t0",
    "ldmatrix\t4\t13\t4\t0\t0", "ldmatrix\t4\t19\t4\t0\t0", "ldmatrix\t4\t20\t32\t28\t0",
    "cp.async.cg to\t16\t0\t4\t0\t16") {
    is(scalar(grep { $_ eq $row } @$ours), 1, join(" ", split /\t/, $row));
}
# Around L1, parts of a line that change places neither alike nor at all: 28 passes for 24, and the like.
my @unlike = grep { $ours->[$_] ne ($theirs->[$_] // "") } 0 .. $#$ours;
is(join(", ", map { $ours->[$_] =~ /^(.*\t16\t\d+)/ ? $1 =~ s/\t/ /gr : $ours->[$_] } @unlike),
    "cp.async.cg to 16 9, cp.async.cg from 16 9, cp.async.cg to 16 23, cp.async.cg from 16 23",
    "ldmatrix, stmatrix and cp.async in 24 patterns: as on the GPU, but for four");
done_testing();
