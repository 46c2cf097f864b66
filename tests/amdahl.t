#!/usr/bin/env perl
# Step 44: each line of its arithmetic says how it comes about, and that is worked out again here. Its
# kinds of operation are all of a step's kernels and each is of one kind, in the recorded counts.
# Reads: common steps plots/data
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

chomp(my $build = { run("make -s programs BACKEND=cpu") }->{out});
my %r = run("$build/step-44 --case tiny --variant whole --seed 1");
is($r{code}, 0, "step 44 runs") or BAIL_OUT($r{err});

# "what   1 / (1 - 0.046)   1.048   1.048": units are for the reader.
my @lines = $r{out} =~ /^    (\S.*?)  +(\S.*?)  +([\d.]+(?: ms| us| %)?)  +(\S.*)$/mg;
my ($n, %log) = (0);
while (my ($what, $how, $gives, $claim) = splice @lines, 0, 4) {
    my ($number, $unit) = $gives =~ /^([\d.]+) ?(.*)$/;
    (my $formula = $how) =~ s/ (ms|us)\b//g;
    like($formula, qr{^[\d.()*/+ -]+$}, "$what: a formula") or next;
    my $value = eval $formula;
    $value *= 100 if $unit eq "%";
    $value *= 1000 if $unit eq "us" && $how =~ /ms/;
    $value *= 1e-3 if $unit eq "ms" && $how =~ /us/;
    my $digits = $number =~ /\.(\d+)/ ? length $1 : 0;
    # 0.996 has three figures, so what is made of it may be off by one in the last.
    cmp_ok(abs($value - $number), "<=", 0.5001 * 10**-$digits * ($how =~ /0\.996/ ? 2 : 1),
        "$what: $how gives $gives");
    $log{$what} = $claim;
    $n++;
}
is($n, 13, "lines of arithmetic");
is($log{"the add at 4.9 where it took 4.5"}, "0.92", "and what the log has");

my (%launches, @names);
for (grep { !/^#/ } split /\n/, slurp("plots/data/cpu/step-44-counts.tsv")) {
    my @cells = split /\t/, $_, -1;
    @names = @cells, next if !@names;
    my %row;
    @row{@names} = @cells;
    $launches{ $row{variant} } += $row{launches} if $row{case} eq "decode";
}
my @kinds = qw(products attention norms gelus adds rest);
my $layers = 6;
my %due = (products => 4 * $layers + 1, attention => 2 * $layers, norms => 2 * $layers + 1,
    gelus => $layers, adds => 2 * $layers, rest => 2);
my $sum = 0;
for (@kinds) {
    is($launches{$_}, $due{$_}, "$_: launches");
    is($launches{$_} + $launches{"no-$_"}, $launches{whole}, "$_, and the step without");
    $sum += $launches{$_};
}
is($sum, $launches{whole}, "all kinds together");
done_testing();
