#!/usr/bin/env perl
# Step 32: how many rows each way turns, and how many cosines and sines it reads, by a formula. The
# recorded counts of small shapes hold it, count.t sees to it that they are what the program counts, and
# plots/data/cpu/rotations.tsv says by it what no CPU counts: those of the long shapes. `perl
# tests/rotations.t --write` writes that file.
# Reads: plots/data/cpu common/problems steps/32-fused-rope-flash
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

# --- The formulas ------------------------------------------------------------------------------------
sub min { $_[0] < $_[1] ? $_[0] : $_[1] }

# Keys that blocks of ROWS queries turn in all, in tiles of KEYS: those of each tile that a block sees. How
# many rows of the table are read for that: of whole tiles.
sub rotated_keys {
    my ($Sq, $Sk, $causal, $ROWS, $KEYS) = @_;
    my ($rotated, $read) = (0, 0);
    for (my $row = 0; $row < $Sq; $row += $ROWS) {
        my $visible = $causal ? min($Sk, $Sk - $Sq + $row + $ROWS) : $Sk;
        my $tiles = int(($visible + $KEYS - 1) / $KEYS);
        $rotated += min($tiles * $KEYS, $Sk);
        $read += $tiles * $KEYS;
    }
    return ($rotated, $read);
}

# Queries that blocks of KEYS keys turn in all, in tiles of ROWS, in the backward pass.
sub rotated_queries {
    my ($Sq, $Sk, $causal, $KEYS, $ROWS) = @_;
    my ($rotated, $read) = (0, 0);
    for (my $key = 0; $key < $Sk; $key += $KEYS) {
        my $first = $key - ($Sk - $Sq);
        my $start = $causal && $first > 0 ? int($first / $ROWS) * $ROWS : 0;
        $rotated += $Sq - $start;
        $read += int(($Sq - $start + $ROWS - 1) / $ROWS) * $ROWS;
    }
    return ($rotated, $read);
}

sub whole { int(($_[0] + $_[1] - 1) / $_[1]) * $_[1] }

# --- The file ----------------------------------------------------------------------------------------
# Shapes of step 32 (common/problems/rope_flash_cases.h), and what they come to with a tile of ROWS queries
# and KEYS keys: how often a key is rotated; GB of cosines and sines that are read for it; GB of k and v
# that come with them; and GB that a pass of its own reads and writes.
my $recorded = "plots/data/cpu/rotations.tsv";
sub table {
    my $cases = slurp("common/problems/rope_flash_cases.h");
    my @lines = ("# by formula: tests/rotations.t",
        join("\t", qw(B H S D rows keys k_rotations times_each table_gb kv_gb pass_gb)));
    my @shapes = $cases =~ /KF_ROPE_FLASH_SQUARE\(pass, (\d+), (\d+), (\d+), (\d+), \w+\)/g;
    while (my ($B, $H, $S, $D) = splice @shapes, 0, 4) {
        for my $tile ([256, 64], [128, 64], [64, 64], [64, 32], [32, 32]) {
            my ($rotated) = rotated_keys($S, $S, 1, @$tile);
            my $all = $rotated * $B * $H;
            # A row of the tables is D/2 cosines and as many sines in fp32, one of k or v D halves.
            push @lines, join("\t", $B, $H, $S, $D, @$tile, $all, $rotated / $S,
                map { sprintf "%.6g", $_ / 1e9 } $all * $D * 4, $all * $D * 4, 2 * $B * $H * $S * $D * 4);
        }
    }
    return join("\n", @lines) . "\n";
}
if (@ARGV && $ARGV[0] eq "--write") {
    spew($recorded, table());
    exit;
}

# --- The counts --------------------------------------------------------------------------------------
my %small = ( # Sq, Sk, D, heads, causal
    "small"       => [128, 128, 64, 2, 1], "small-D128" => [128, 128, 128, 1, 1],
    "S192"        => [192, 192, 64, 2, 1], "S256"       => [256, 256, 64, 2, 1],
    "odd"         => [77, 77, 64, 6, 1],   "odd-D128"   => [129, 129, 128, 1, 1],
    "full"        => [150, 200, 64, 1, 0], "full-D128"  => [33, 190, 128, 2, 0],
    "few-queries" => [5, 131, 128, 2, 1],  "mask-edge"  => [66, 448, 64, 1, 1],
    "one-key"     => [1, 1, 64, 1, 1],
);

# The sum of the counts of all kernels, for each variant and case of a step.
sub sums_of {
    my ($step) = @_;
    my @lines = grep { !/^#/ } split /\n/, slurp("plots/data/cpu/step-$step-counts.tsv");
    my @names = split /\t/, shift @lines;
    my %sum;
    for (@lines) {
        my %row;
        @row{@names} = split /\t/, $_, -1;
        $sum{"$row{variant} $row{case}"}{$_} += $row{$_} =~ /^\d+$/ ? $row{$_} : 0 for @names;
    }
    return %sum;
}
my %sum = sums_of(32);

for my $case (sort keys %small) {
    my ($Sq, $Sk, $D, $heads, $causal) = @{ $small{$case} };
    my ($k, $k_read) = rotated_keys($Sq, $Sk, $causal, 128, 64);
    my ($q, $q_read) = rotated_queries($Sq, $Sk, $causal, 128, 64);
    # Rows of q, k, dq and dk that are rotated, and rows of the tables that are read.
    my %want = (
        "fused forward"       => [$Sq, $k, 0, 0, whole($Sq, 128) + $k_read],
        "fused backward"      => [$q, $Sk, $Sq, $Sk, whole($Sk, 128) + $q_read + $Sq + $Sk],
        "one-kernel forward"  => [$Sq, $Sk, 0, 0, undef],
        "one-kernel backward" => [0, 0, $Sq, $Sk, undef],
    );
    for (sort keys %want) {
        my ($variant, $pass) = split;
        my $c = $sum{"$variant $pass-$case"} or fail("$variant, $pass-$case: it is counted"), next;
        my @rows = map { $_ // 0 } @$c{qw(Q_rotations K_rotations dQ_rotations dK_rotations)};
        my @expected = map { $_ * $heads } @{ $want{$_} }[0 .. 3];
        is("@rows", "@expected", "$variant, $pass-$case: rows of q, k, dq, dk that are rotated");
        my $rows = 0;
        $rows += $_ for @rows;
        is($c->{element_rotations}, $rows * $D, "$variant, $pass-$case: and every element of a row");
        is($c->{table_loads}, $want{$_}[4] * $heads * $D, "$variant, $pass-$case: cosines and sines")
            if defined $want{$_}[4];
    }
    for my $pass ("forward", "backward") {
        my $c = $sum{"op-by-op $pass-$case"};
        is($c->{element_rotations}, ($Sq + $Sk) * $heads * $D, "op-by-op, $pass-$case: each element once");
    }
}

# The tiles of step 33, where they are counted.
my %of_tile = sums_of(33);
my $compared = 0;
for (sort keys %of_tile) {
    my ($name, $rows, $keys, $case) = /^(tile:m(\d+)-n(\d+)-\S+) forward-(\S+)$/ or next;
    my ($Sq, $Sk, $D, $heads, $causal) = @{ $small{$case} || next };
    my ($rotated) = rotated_keys($Sq, $Sk, $causal, $rows, $keys);
    is($of_tile{$_}{K_rotations}, $rotated * $heads, "$name, forward-$case: rows of k that are rotated");
    is($of_tile{$_}{Q_rotations}, $Sq * $heads, "$name, forward-$case: each row of q once");
    $compared++;
}
cmp_ok($compared, ">=", 80, "tiles of step 33 and shapes");

# For whole blocks: each block that sees a key rotates it, which is half of the blocks and a half more.
for my $S (512, 65536, 131072) {
    my ($rotated) = rotated_keys($S, $S, 1, 128, 64);
    is($rotated / $S, ($S / 128 + 1) / 2, "S = $S: how often a key is rotated");
}
is(slurp($recorded), table(), "$recorded is what the formula says; perl tests/rotations.t --write");
done_testing();
