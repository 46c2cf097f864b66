#!/usr/bin/env perl
# Passes through the banks of shared memory: for lanes of 4, 8 and 16 bytes in 32 patterns each, our
# count is what the counters of an H200 say.
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my $dir = scratch_dir();
my %r = run("common/cpu/cudacc --count tests/banks/banks.cu -o $dir/banks && $dir/banks");
is($r{code}, 0, "the patterns run") or diag($r{err});
my @ours = split /\n/, $r{out};
my @theirs = grep { !/^(#|bytes)/ } split /\n/, slurp("tests/banks/banks-h200.tsv");
is(scalar(@theirs), 192, "three sizes, 32 patterns, loads and stores");
is_deeply(\@ours, \@theirs, "as on the GPU");
done_testing();
