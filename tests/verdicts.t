#!/usr/bin/env perl
# What chapter 25 counts is what the recorded rows of both devices say, and a reversed verdict is counted.
# Reads: plots chapters
use strict;
use warnings;
use Test::More;
use File::Temp qw(tempdir);
use lib "tests/lib";
use Workbook;

my $there = "plots/data/nvidia-h100-80gb-hbm3";
my %r = run("awk -f plots/verdicts.awk plots/data/nvidia-h200/step-??.tsv $there/step-??.tsv");
is($r{out}, slurp("$there/verdicts.tsv"), "verdicts.tsv is what plots/verdicts.awk makes of the rows");

my @missing = grep { my $file = s/nvidia-h200/nvidia-h100-80gb-hbm3/r; !-f $file }
    glob("plots/data/nvidia-h200/step-??.tsv");
is("@missing", "", "every step was recorded on the H100, as README and chapter 25 say");

my $dir = tempdir(CLEANUP => 1);
my @names = qw(step variant case clock l2 ratio ratio_p5 ratio_p95 status);
for (["one", 1.2, 1.1], ["other", 0.8, 0.9]) {
    my ($name, $turns, $ties) = @$_;
    mkdir "$dir/$name";
    spew("$dir/$name/step-01.tsv", join("", map { join("\t", @$_) . "\n" } \@names,
        ["01", "base", "a", "graph", "warm", 1, 1, 1, "ok"],
        ["01", "turns", "a", "graph", "warm", $turns, $turns, $turns, "ok"],
        ["01", "ties", "a", "graph", "warm", 1.1, $ties, 1.2, "ok"],
        ["01", "same", "a", "graph", "warm", 1.1, 1.1, 1.2, "ok"]));
}
%r = run("awk -f plots/verdicts.awk $dir/one/step-01.tsv $dir/other/step-01.tsv");
like($r{out}, qr/^graph\t3\t1\t1\t1\t0\t2$/m, "a reversed verdict, a tie and one that stays are counted, and in whose favour");
%r = run("awk -f plots/verdicts.awk $dir/other/step-01.tsv $dir/one/step-01.tsv");
like($r{out}, qr/^graph\t3\t1\t1\t1\t2\t0$/m, "the other way round they are better");
done_testing();
