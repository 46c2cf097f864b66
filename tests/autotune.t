#!/usr/bin/env perl
# Step 23 on a CPU: which candidates take part, and which are refused and why. One that is refused, or
# left out, by mistake could not be wrong either.
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
done_testing();
