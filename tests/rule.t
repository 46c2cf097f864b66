#!/usr/bin/env perl
# make rule: each term is worked out again here, from ceilings made for this; what is wrong is one line. The tables of
# chapter 24 have what it says of their words, and what was measured.
# Reads: common/make plots/data chapters/24-when-to-fuse.md Makefile
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

# A device whose rates are easy: one multiprocessor, 1000 cycles per us.
my $tree = small_tree();
my %rate = (sms => 2, clock_mhz => 1000, launch_full_us => 2, copy_tbps => 4, read_tbps => 5, l2_read_tbps => 10,
    exp_per_cycle => 16, shared_bytes_per_cycle => 100, mma_f16_tflops => 8, fp32_tflops => 3, tensor_f16_tflops => 12,
    atomic_add_tbps => 0.5, atomic_add4_tbps => 0.25);
sub ceilings {
    my ($device, %rows) = @_;
    spew("$tree/plots/data/$device/ceilings.tsv", "# device: x\n# sms\t99\nname\tvalue\tp5\tp95\tn\tunit\n"
        . join "", map { "$_\t$rows{$_}\t7\t70\t1\tx\n" } sort keys %rows);
}
ceilings("nvidia-h200", %rate);
ceilings("old", sms => 2, clock_mhz => 1000, launch_graph_us => 0.5, copy_tbps => 4);

sub rule { my ($args) = @_; return run("cd '$tree' && make -s rule ARGS=\"$args\"") }
# The last numbers of the lines that begin so.
sub term { my ($out, $name) = @_; return $out =~ /^  \Q$name\E .*?(-?[\d.]+) us/m ? $1 : "no $name" }

my %r = run("cd '$tree' && make rule");
like("$r{code} $r{out}", qr/^0 .*what goes.*launches=N.*device=NAME/si, "make rule says what it takes");
my $help = $r{out};
for ("--help", "-help", "help") {
    %r = rule($_);
    is("$r{code} $r{err}$r{out}", "0 $help", "and so does ARGS=$_");
}
%r = run("cd '$tree' && make rule memory=100 launches=1");
like("$r{code} $r{err}", qr/^2 .* write ARGS="launches=1 memory=100"\.  Stop\.$/, "words without ARGS: how to write them");
%r = run("cd '$tree' && make rule ARGS=launches=1 memory=100");
like("$r{code} $r{err}", qr/^2 .* write ARGS="launches=1 memory=100"\.  Stop\.$/, "and without quotes");
%r = rule("-m=1");
like($r{err}, qr/^rule: -m=1: there is no -m; launches, /, "an option is told by the rule, and not by awk");

# word => [value, us]: what goes, and what is done.
my %goes = (launches => [3, 6], memory => ["8e6", 2], read => ["1e7", 2], l2 => ["1e7", 1], "less-exp" => ["32e3", 1],
    "less-mma" => ["4e6", 1]);
my %done = (exp => ["64e3", 2], fma => ["3e6", 2], mma => ["4e6", 1], wgmma => ["6e6", 1], instructions => [8000, 1],
    wavefronts => [4000, 2], shared => ["4e5", 2], "from-l2" => ["2e7", 2], "from-memory" => ["5e6", 1],
    atomic => ["5e5", 1], atomic4 => ["5e5", 2]);
for (sort keys %goes) {
    %r = rule("$_=$goes{$_}[0]");
    is(term($r{out}, "saved") . " $r{code}", sprintf("%.2f 0", $goes{$_}[1]), "$_ goes");
}
for (sort keys %done) {
    %r = rule("$_=$done{$_}[0] m=3");
    is(term($r{out}, "w"), sprintf("%.2f", $done{$_}[1]), "$_ is done again");
    is(term($r{out}, "paid"), sprintf("%.2f", 3 * $done{$_}[1]), "$_, three times");
}
%r = rule("launches=3 memory=8e6 exp=64e3 from-l2=3e7 m=2 was=1.5 beside=0.25 time=100");
is(term($r{out}, "saved"), "8.00", "what goes is added up");
is(term($r{out}, "w"), "3.00", "of several units the slowest one counts");
is(term($r{out}, "m w"), "6.00", "as often as it is done");
is(term($r{out}, "paid"), "4.25", "less what it took before, and what nobody waits for");
like($r{out}, qr/^saved - paid = 3\.75 us: fusing pays; 100\.00 us become 96\.25, 1\.04 times as fast\.$/m, "and the verdict");
%r = rule("exp=64e3 beside=5");
is(term($r{out}, "paid"), "0.00", "what is hidden saves nothing");
%r = rule("exp=64e3 was=5");
is(term($r{out}, "paid"), "-3.00", "what is cheaper in the new place does");
%r = rule("sms=1 exp=64e3 fma=3e6 from-l2=1e7");
is(term($r{out}, "exp") . term($r{out}, "fma"), "4.004.00", "on one multiprocessor of two work takes twice the time");
is(term($r{out}, "from-l2"), "1.00", "but the L2 is as fast");
# 8 us saved and S / 50 us paid are level at S = 400; then with both exchanged.
%r = rule("S=50 launches=4 m=S/100 exp=64e3");
like($r{out}, qr/^It pays up to S = 399\.$/m, "where the verdict changes");
%r = rule("S=50 launches=S/100 exp=8*32e3");
like($r{out}, qr/^It pays from S = 401\.$/m, "and the other way round");
%r = rule("N=2*(S+1)-4/2 S=3 launches=N");
is(term($r{out}, "saved"), "12.00", "letters, and the usual order of operations");
%r = rule("device=old launches=1 exp=64e3 shared=256e3 mma=2730e3");
is(join(" ", map { term($r{out}, $_) } qw(saved exp shared mma)), "0.50 2.00 1.00 1.00", "without rows: an empty kernel, and documented rates");

for (["m", "m: a name and a value are right"], ["x=1", "x=1: there is no x; launches, memory"], ["m=(1", "m=\\(1: a number is right"],
    ["m=", "m=: a number is right"], ["m=3x", "m=3x: a number is right"], ["m=2*N", "m=2\\*N: N has no value"], ["m=1-2", "m=1-2: that is -1, and 0 or more is right"],
    ["m=1 m=2", "m=2: m is given twice"], ["device=foo", "device=foo: no ceilings are recorded of it; nvidia-h200 or old is right"],
    ["device=../x", "device=../x: no ceilings"], ["N=M M=N m=N", "[NM]=[NM]: it leads back to itself"], ["m=1/0", "m=1/0: a division by 0"],
    ["sms=3", "sms=3: 1 to 2 is right"], ["launches=1 time=2", "time=2: that is no more than what is saved"],
    ["device=old l2=1", "l2=1: plots/data/old/ceilings.tsv has no l2_read_tbps; the program ceilings measures it"], ["m'x=1", "m'x=1: there is no m'x"]) {
    my ($args, $says) = @$_;
    %r = rule($args);
    my @errors = grep { !/^make: \*\*\*/ } split /\n/, $r{err};
    like("$r{code} @errors", qr/^2 rule: $says[^\n]*$/, "$args: one line");
    is(scalar(@errors), 1, "and no more");
}

# The chapter: each row of its tables has what make rule says of the words of that row, and the differences of the
# recorded times.
my $chapter = slurp("chapters/24-when-to-fuse.md");
my %words = $chapter =~ /^- \*Row (\d+)\.\*[^\n]*\\\n  `([^`]*)`/mg;
sub rows_of_table { my ($head) = @_; my ($rows) = $chapter =~ /^\|[^\n]*\Q$head\E[^\n]*\n\|[-|]*\n(.*?)\n\n/ms; return split /\n/, $rows // "" }
sub givens { return $_[0] =~ /\[(-?[\d.]+)(?: \w+)?\]\{\.given\}/g }
sub recorded {
    my ($step, $case, $variant, $l2) = @_;
    my ($names, @rows) = map { [split /\t/] } grep { !/^#/ } split /\n/, slurp("plots/data/nvidia-h200/step-$step.tsv");
    for my $row (@rows) {
        my %at;
        @at{@$names} = @$row;
        return $at{median_us} if "$at{case} $at{variant} $at{clock} $at{l2}" eq "$case $variant graph $l2";
    }
    return "no $variant";
}
sub is_near { my ($is, $want, $what) = @_; ok(abs($is - $want) < 0.051, "$what: $is, $want") }

# The cells of a row, by the heads of their columns.
sub cells {
    my ($head, $row) = @_;
    my ($heads) = $chapter =~ /^(\|[^\n]*\Q$head\E[^\n]*)\n/m;
    my @names = map { s/^\s+|\s+$//gr } split /\|/, $heads;
    my %cell;
    @cell{@names} = map { s/^\s+|\s+$//gr } split /\|(?![a-z])/, $row;
    return %cell;
}

my (%counts, $timed);
for my $row (rows_of_table("launches that go")) {
    my %cell = cells("launches that go", $row);
    my ($n) = $cell{row} =~ /^(\d+)/;
    my $m = $words{$n} =~ /(?:^| )m=/ ? (givens($cell{'$m$'}))[0] : undef;
    my ($w) = givens($cell{'$w$, µs'});
    %r = run("awk -f common/make/reader/rule.awk " . join " ", map { "'$_'" } split / /, $words{$n});
    my ($launches) = $r{out} =~ /^  launches +([\d.]+)/m;
    is($cell{"launches that go"} || 0, $launches // 0, "row $n, launches");
    my @bytes = $r{out} =~ /^  (?:memory|read|l2) +([\d.]+) bytes/mg;
    my @mb = givens($cell{"bytes that go"});
    is(@mb, @bytes, "row $n, as many kinds of bytes");
    ok(abs($mb[$_] - $bytes[$_] * 1e-6) <= 0.006 * $mb[$_] + 0.03, "row $n, $mb[$_] MB") for 0 .. $#mb;
    if (defined $w) { ok(abs($w - term($r{out}, "w")) < 0.051, "row $n, w: $w") }
    if (defined $m) { like($r{out}, qr/ m = \Q$m\E /, "row $n, m") }
    $counts{$n} = 1;
}

my (%saved, %times);
for my $row (rows_of_table("change, by the rule")) {
    my %cell = cells("change, by the rule", $row);
    my ($n) = $cell{row} =~ /^(\d+)/;
    my %us = map { my ($us) = givens($cell{$_}); ($_ => $us) } grep { /rule|measured/ } keys %cell;
    my ($before, $after) = map { [$cell{$_} =~ /step=(\d+) case=(\S+) variant=(\S+) clock=graph l2=(\w+) col=median_us fmt=/] } qw(before after);
    %r = run("awk -f common/make/reader/rule.awk " . join " ", map { "'$_'" } split / /, $words{$n});
    $saved{$n} = term($r{out}, "saved");
    my $paid = term($r{out}, "paid");
    my $change = recorded(@$before) - recorded(@$after);
    is_near($us{"saved, by the rule"}, $saved{$n}, "row $n, saved");
    is_near($us{"paid, by the rule"}, $paid, "row $n, paid");
    is_near($us{"change, by the rule"}, $saved{$n} - $paid, "row $n, the change");
    is_near($us{"change, measured"}, $change, "row $n, the change measured");
    $times{$n} = [$before, $after, $change];
}
for my $row (rows_of_table("attention alone | saved, measured")) {
    my %cell = cells("attention alone | saved, measured", $row);
    my ($n) = $cell{row} =~ /^(\d+)/;
    my ($before, $after, $change) = @{ $times{$n} };
    my ($step, $case, $variant, $l2) = @$after;
    like($cell{"attention alone"}, qr/step=$step case=\Q$case\E variant=attention clock=graph l2=$l2 col=median_us /, "row $n, attention alone");
    my $without = recorded($step, $case, "attention", $l2);
    my $extra = ($variant eq "rotate-k-once" ? recorded($step, $case, "k-cached", $l2) : recorded(@$after)) - $without;
    is_near((givens($cell{"saved, measured"}))[0], $change + $extra, "row $n, saved, measured");
    is_near((givens($cell{"paid, measured"}))[0], $extra, "row $n, paid, measured");
    $timed++;
}
is(join(" ", sort keys %saved), join(" ", sort keys %words), "a row for each line of words") and ok(keys %saved > 8, "and there are some");
is(join(" ", sort keys %counts), join(" ", sort keys %words), "and a row of counts");
ok($timed > 3, "what is saved and what is paid, each by itself");
# A rate per multiprocessor and cycle is at most the documented one, and not far below: an error in the counting of
# ceilings would be a factor.
my %documented = (exp_per_cycle => [0.95, 16], shared_bytes_per_cycle => [0.9, 128], mma_f16_per_cycle => [0.6, 2048]);
for my $file (glob "plots/data/*/ceilings.tsv") {
    my %row = slurp($file) =~ /^(\w+)\t([\d.]+)\t/mg;
    for my $name (grep { exists $row{$_} } sort keys %documented) {
        my ($least, $most) = @{ $documented{$name} };
        ok($row{$name} <= $most && $row{$name} >= $least * $most, "$file: $name is $row{$name}, of at most $most");
    }
}
done_testing();
