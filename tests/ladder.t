#!/usr/bin/env perl
# The arithmetic of Part II: how many rows of K and Q each version rotates, how many elements, and
# how many cosines and sines it loads, against the formulas of the text. The recorded counts are
# read; count.t sees to it that they are what the programs count today.
# Reads: plots/data/cpu
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

# The named counts of one variant in one case, summed over its kernels, and its launches.
sub counts {
    my ($step, $variant, $case) = @_;
    my @lines = grep { !/^#/ } split /\n/, slurp("plots/data/cpu/step-$step-counts.tsv");
    my @names = split /\t/, shift @lines;
    my (%sum, $found);
    for (@lines) {
        my %row;
        @row{@names} = split /\t/, $_, -1;
        next if $row{variant} ne $variant || $row{case} ne $case;
        $found = 1;
        $sum{$_} += $row{$_} =~ /^\d+$/ ? $row{$_} : 0 for @names;
    }
    return $found ? \%sum : undef;
}

# Shape of the case D128: 4 heads, 64 queries, 64 keys, everything rotated.
my ($H, $S) = (4, 64);
my %k_rotations = (
    once      => $S * $H,             # by a kernel of its own
    each_pair => $S * $S * $H,        # again for every query
    of_four   => $S / 4 * $S * $H,    # again for every block of four queries
);
my @versions = (
    # step, variant, K rotations, launches
    ["05", "separate",   "once",      3],
    ["05", "v1",         "each_pair", 1],
    ["06", "v1-float4",  "each_pair", 1],
    ["07", "v2",         "each_pair", 1],
    ["08", "v3",         "of_four",   1],
    ["10", "v5",         "each_pair", 1],
    ["11", "v6",         "each_pair", 1],
    ["13", "v7",         "once",      2],
);
for (@versions) {
    my ($step, $variant, $how, $launches) = @$_;
    my $c = counts($step, $variant, "D128") or fail("step $step counts $variant"), next;
    is($c->{K_rotations}, $k_rotations{$how}, "step $step, $variant: K rotations, $how");
    is($c->{Q_rotations}, $S * $H, "step $step, $variant: each query is rotated once");
    is($c->{launches}, $launches, "step $step, $variant: launches");
    is($c->{element_rotations}, ($c->{K_rotations} + $c->{Q_rotations}) * 128,
        "step $step, $variant: and every element of a row");
}

# Cosines and sines loaded: one of each for a pair, so R a row that is rotated.
for (["05", "separate"], ["05", "v1"], ["06", "v1-float4"]) {
    my $c = counts($_->[0], $_->[1], "D128");
    is($c->{table_loads}, ($c->{K_rotations} + $c->{Q_rotations}) * 128, "$_->[1]: table loads");
}
my $v2 = counts("07", "v2", "D128");
is($v2->{table_loads} || 0, 0, "v2 loads no table");
is($v2->{sin}, ($S * $S * $H + $S * $H) * 64, "but computes a sine a pair, each time");
is($v2->{pow}, $v2->{sin}, "and a power");

# Partial rotation, one head at D = 2048 and R = 128: 16k elements against 524k, and its queries.
my $separate = counts("12", "separate", "head");
is($separate->{element_rotations}, (64 + 64) * 128, "separate turns 16,384 elements a head");
my $partial = counts("12", "v6-partial", "head");
is($partial->{element_rotations} - 64 * 128, 64 * 64 * 128,
    "v6-partial turns 524,288 of keys, and its queries' 8,192");

done_testing();
