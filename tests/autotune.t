#!/usr/bin/env perl
# Steps 23, 24, 26 and 33 on a CPU: which candidates take part, and which are refused and why. One that is
# refused, or left out, by mistake could not be wrong either. And that step 36 goes the way that the tuner's
# table says. And --list of step 11 names the case that none of its variants takes on a CPU.
# Reads: common plots/data steps/11-v6-dimension-tiles steps/23-flash-autotune steps/24-flash-backward steps/26-one-pass-backward steps/33-small-tiles steps/36-dispatch-by-length
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my %r = run("make -s programs BACKEND=cpu");
is($r{code}, 0, "the CPU backend is built") or BAIL_OUT($r{err});
chomp(my $cpu = $r{out});
%r = run("$cpu/step-11 --list");
like($r{out}, qr/^  D80-R20 .*\(no variant takes it on a CPU\)$/m, "a case that only a GPU takes");
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
my %kernels = (24 => "dq dkv", 26 => "tile");
for my $step (sort keys %kernels) {
    %r = run("$cpu/step-$step --list");
    my @all = ($r{out} =~ s/.*^variants\n//msr) =~ /^  (\S+) /mg;
    my @others = grep { !/:/ } @all;
    for my $kernel (split / /, $kernels{$step}) {
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

# Attention that rotates its own tiles: all have room on a CPU, also at D = 128.
%r = run("$cpu/step-33 --list");
my @tiles = ($r{out} =~ s/.*^variants\n//msr) =~ /^  (tile:m\d+-n\d+-w\d+-s\d+) /mg;
cmp_ok(scalar(@tiles), ">=", 12, "step 33: a field to choose from");
for my $case (qw(small small-D128 S256 few-queries)) {
    %r = run("$cpu/step-33 --seed 1 --case forward-$case");
    is($r{code}, 0, "step 33: $case is right") or diag($r{out}, $r{err});
    unlike($r{out}, qr/refused/, "step 33: $case: none is refused");
    my @ran = $r{out} =~ /^  (tile:\S+) +ok /mg;
    is_deeply(\@ran, [$case eq "few-queries" ? $tiles[0] : @tiles], "step 33: $case: who takes part");
}

# A table of the tuner decides which way step 36 goes: launches say which it was. No table, and a table
# without this D: as the log.
my $root = scratch_dir();
my $columns = "Sq\tSk\tD\tcausal\tB\tH\tvariant\tus\tsecond\tsecond_us\tfirst\tfirst_us\thalf\thalf_us\tagain\tagain_us"
    . "\tfar\tfar_Sk\tfar_us\tcandidates\trefused\ttflops\n";
sub tuned_row { return join("\t", $_[0], $_[0], 64, 1, 1, 1, $_[1], (1) x 15) . "\n" }
# The root's path is a long one.
sub launches_of {
    my ($case) = @_;
    my %r = run("$cpu/step-36 --seed 1 --once --case forward-$case --launches $root/launches", KF_ROOT => "/" . "./" x 1000 . substr($root, 1));
    return "$r{code} $r{err}" if $r{code};
    my %times = map { /^(\S+)\t\S+\t(\d+)$/ ? ($1 => $2) : () } split /\n/, slurp("$root/launches");
    my %way = ($times{"way:fused"} => "fused", $times{"way:op-by-op"} => "op-by-op");
    my ($said) = $r{out} =~ /^  (dispatch: .*)$/m;
    my $done = "dispatch: $way{$times{dispatch}}; dispatch-reference-log: $way{$times{'dispatch-reference-log'}}";
    return $said eq $done ? ($r{out} =~ /no tuned-dispatch/ ? "no table; " : "") . $done : "says $said, and does $done";
}
is(launches_of("small"), "no table; dispatch: fused; dispatch-reference-log: fused", "step 36 without a table does as the log");
# The log's crossover, at the large cases, of which a CPU runs none.
my %captured = run("$cpu/step-36 --seed 1", KF_CAPTURE => 1, KF_ROOT => $root);
my %launches;
for my $case (split /^case /m, $captured{out}) {
    my ($name, $S) = $case =~ /\A(forward-\S+): .*\bS=(\d+)/ or next;
    my %of = $case =~ /^  variant (\S+): (\d+) launch/mg;
    $launches{$S}{$of{"dispatch-reference-log"} == $of{"way:fused"} ? "fused" : "op by op"} = 1;
}
ok($launches{4096}, "step 36 has a case at the log's crossover");
is(join(" ", keys %{ $launches{$_} }), $_ <= 4096 ? "fused" : "op by op", "step 36 at $_: what the log goes")
    for sort { $a <=> $b } keys %launches;
my $table = "$root/plots/data/cpu/tuned-dispatch.tsv";
spew($table, "# device: cpu\n$columns" . tuned_row(64, "way:fused") . tuned_row(150, "way:op-by-op") . tuned_row(256, "dispatch"));
is(launches_of("odd"), "dispatch: fused; dispatch-reference-log: fused", "the way of the nearest length");
is(launches_of("small"), "dispatch: op-by-op; dispatch-reference-log: fused", "and of another");
is(launches_of("S256"), "dispatch: op-by-op; dispatch-reference-log: fused", "of those that are ways");
is(launches_of("small-D128"), "no table; dispatch: fused; dispatch-reference-log: fused", "another D has no row");
spew($table, "# device: cpu\n$columns" . tuned_row(128, "way:one-kernel"));
is(launches_of("small"), "1 36-dispatch-by-length: tuned-dispatch.tsv: there is no way:one-kernel; way:fused or way:op-by-op is right\n", "a way that is none");
done_testing();
