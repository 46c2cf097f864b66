#!/usr/bin/env perl
# Steps 23, 24 and 26 on a CPU: which candidates take part, and which are refused and why. One that is
# refused, or left out, by mistake could not be wrong either.
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my %r = run("make -s programs BACKEND=cpu");
is($r{code}, 0, "the CPU backend is built") or BAIL_OUT($r{err});
chomp(my $cpu = $r{out});
%r = run("$cpu/step-23 --list");
my @candidates = ($r{out} =~ s/.*^variants\n//msr) =~ /^  (m\d+-n\d+-w\d+-s\d+) /mg;
cmp_ok(scalar(@candidates), ">=", 12, "there is a field to choose from");
my $large = "m256-n128-w8-s3";
for my $case (qw(small small-D128)) {
    %r = run("$cpu/step-23 --seed 1 --case $case");
    is($r{code}, 0, "$case is right") or diag($r{out}, $r{err});
    my @refused = $r{out} =~ /^  variant (.*)$/mg;
    my @want = $case =~ /D128/
        ? "$large: refused: 262144 bytes of shared memory a block, and there are 232448" : ();
    is_deeply([grep { /refused/ } @refused], \@want, "$case: what is refused, and why");
    my @ran = $r{out} =~ /^  (m\S+) +ok /mg;
    is_deeply(\@ran, [grep { !@want || $_ ne $large } @candidates], "$case: all others take part");
}
like($r{out}, qr/^no choice: /m, "and a CPU chooses none");

# The backward pass: candidates of a kernel are named after it, and a CPU has room for all of them. Cases
# that are large, or mostly padding, are left to the others.
my %kernels = (24 => [qw(dq dkv)], 26 => ["tile"]);
for my $step (sort keys %kernels) {
    %r = run("$cpu/step-$step --list");
    my @all = ($r{out} =~ s/.*^variants\n//msr) =~ /^  (\S+) /mg;
    my @others = grep { !/:/ } @all;
    for my $kernel (@{ $kernels{$step} }) {
        cmp_ok(scalar(grep { /^$kernel:/ } @all), ">=", 6, "step $step: a field for $kernel");
    }
    for my $case (qw(small small-D128 tail-63-queries odd few-queries)) {
        %r = run("$cpu/step-$step --seed 1 --case $case");
        is($r{code}, 0, "step $step: $case is right") or diag($r{out}, $r{err});
        unlike($r{out}, qr/refused/, "step $step: $case: none is refused");
        my @ran = $r{out} =~ /^  (\S+) +ok /mg;
        my $part = $case =~ /odd|few/ ? "candidates are left out" : "all take part";
        is_deeply(\@ran, $case =~ /odd|few/ ? \@others : \@all, "step $step: $case: $part");
        like($r{out}, qr/^no choice: /m, "step $step: $case: none is chosen");
    }
}
done_testing();
