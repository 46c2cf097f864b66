#!/usr/bin/env perl
# make profile: what a step's header asks ncu for becomes rows. ncu and the program are a few lines here.
# Reads: plots/peers tests/samples
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my $dir = scratch_dir();
my $samples = "$ENV{PWD}/tests/samples";

sub tool {
    my ($name, $text) = @_;
    spew("$dir/$name", "#!/bin/sh\n$text");
    chmod 0755, "$dir/$name";
}
tool("gpu/step-99", <<'SCRIPT');
while [ $# -gt 0 ]; do
    case $1 in
    --launches) cp "$SAMPLES/launches.tsv" "$2" ;;
    --out) printf '# device: NVIDIA Test 1\n# backend: cuda\nstep\tvariant\tcase\tB\tH\tSq\tSk\tD\tR\n99\tplain\tsmall\t2\t3\t5\t7\t8\t4\n' >"$2" ;;
    esac
    shift
done
SCRIPT
tool("bin/ncu", <<'SCRIPT');
[ "$1" != --version ] || { echo 'Version 2025.3.0.0 (build 1)'; exit; }
echo "$*" >"$LOG"
while [ ! -x "$1" ]; do [ "$1" != --log-file ] || cp "$SAMPLES/ncu-raw.csv" "$2"; shift; done
exec "$@"
SCRIPT
my %env = (PATH => "$dir/bin:$ENV{PATH}", SAMPLES => $samples, LOG => "$dir/log", KF_COMMIT => "abc",
    CUDA_HOME => "/nowhere");
run("mkdir -p $dir/common && ln -sf '$ENV{PWD}/common/make' $dir/common/make");

# profile(WORDS): the rows, by column name, or undef. %r is what was said.
my %r;
sub profile {
    my ($line) = @_;
    my $rows = "$dir/build/data/nvidia-test-1/step-99-profile.tsv";
    unlink $rows;
    spew("$dir/step.cu", "/* 99-test: a test\n *\n$line */\n");
    %r = run("cd $dir && sh common/make/gpu/profile.sh gpu/step-99 step.cu", %env);
    return if !-e $rows;
    my ($header, $names, @lines) = slurp($rows) =~ /\A((?:#.*\n)+)(.*\n)((?s:.*))\z/;
    my @names = split /\t/, $names =~ s/\n//r;
    return $header, map { my %row; @row{@names} = split /\t/; \%row } split /\n/, $lines[0];
}

my ($header, @rows) = profile(" * Profile: warm --case small\n");
is($r{code}, 0, "a step is profiled") or diag($r{out}, $r{err});
like($r{out}, qr{^rows: build/data/nvidia-test-1/step-99-profile\.tsv$}m, "and says where");
like($header, qr/^# device: NVIDIA Test 1\n.*^# ncu: 2025\.3\.0\.0 .*^# command: ncu .*--cache-control none .*--once .*--case small$/ms,
    "the header has the device and the command");
unlike($header, qr/\Q$ENV{TMPDIR}\E|\/tmp/, "and no folder of this run") if $ENV{TMPDIR};
is(join(" ", map { "$_->{variant} $_->{case} $_->{kernel} $_->{launches}" } @rows),
    "plain small all 2 twice small all 2", "a row a variant and case");
is("$rows[0]{step} $rows[0]{tensor} $rows[0]{pairs} $rows[0]{pairs32}", "99 1344 84 2.625", "with bytes and pairs of the shape");
is("$rows[0]{requests} $rows[0]{l1_ld}", "1032 4128", "sums are added up, commas and all");
is("$rows[1]{l1_ld} $rows[1]{instructions}", "8096 -", "what ncu has no value for is none");

($header, @rows) = profile(" * Profile: kernels=^sum\$ --case small\n");
like($header, qr/--cache-control all /, "caches are emptied unless it says warm");
is(join(" ", map { "$_->{variant} $_->{kernel} $_->{launches} $_->{l1_ld}" } @rows), "plain all 1 32",
    "kernels by name");
($header, @rows) = profile(" * Profile: each\n");
is(join(" ", map { "$_->{kernel}:$_->{l1_ld}" } @rows),
    "1-scale:4096 2-sum:32 1-scale:4096 2-scale:4000 all:4128 all:8096", "each launch by itself");

($header) = profile(" * Profile: warm --case small\n * Data: --case x\n * Profile: --case large\n");
like($header, qr/--cache-control none .*--once .*--case small --case large$/m, "arguments on two lines");

profile("");
is("$r{code} $r{out}", "0 step-99: its header asks for no profile\n", "no line, no profile");
is(scalar(my @none = profile(" * Profile: kernels=none\n")), 0, "a kernel that is not there leaves no file");
is("$r{code} $r{err}", "1 profile: no launch of a kernel none\n", "and fails in one line");
spew("$dir/few/launches.tsv", "plain\tsmall\t9\n");
$env{SAMPLES} = "$dir/few";
run("cp $samples/ncu-raw.csv $dir/few/");
# A column of two metrics, in which the second launch has none of one.
my $with_spills = slurp("$samples/ncu-raw.csv") =~ s/^("ID".*)/$1,"smsp__inst_executed_op_local_ld.sum","smsp__inst_executed_op_local_st.sum"/mr;
spew("$dir/spills/ncu-raw.csv", $with_spills =~ s/^("1",.*)/$1,"7","n\/a"/mr =~ s/^("[023]?",.*)/$1,"7","1,000"/gmr);
spew("$dir/spills/launches.tsv", slurp("$samples/launches.tsv"));
$env{SAMPLES} = "$dir/spills";
(undef, @rows) = profile(" * Profile: each\n");
is(join(" ", map { "$_->{kernel}:$_->{spills}" } @rows), "1-scale:1007 2-sum:- 1-scale:1007 2-scale:1007 all:- all:2014",
    "metrics that make one column are added up");
$env{SAMPLES} = "$dir/few";
profile(" * Profile: warm\n");
is("$r{code} $r{err}", "1 profile: ncu saw 4 launches, and the program made 9\n", "launches that are missing");
%r = run("cd $dir && sh common/make/gpu/profile.sh gpu/step-99 step.cu", %env, PATH => "/usr/bin:/bin");
is("$r{code} $r{err}", "77 step-99: there is no ncu here; Nsight Compute, which comes with the CUDA toolkit, has it. BACKEND=cpu counts on the CPU\n",
    "without ncu: 77 and a line") unless -x "/usr/bin/ncu";
# The peers: PyTorch is a script here that writes rows, and a kernel nobody else uses parts the calls.
tool("bin/python3", <<'SCRIPT');
while [ $# -gt 0 ]; do
    [ "$1" != --out ] || printf '# device: NVIDIA Test 1\nstep\tvariant\tcase\tB\tH\tSq\tSk\tD\tR\n%s' "$ROWS" >"$2"
    shift
done
SCRIPT
tool("bin/ncu", <<'SCRIPT');
[ "$1" != --version ] || { echo 'Version 2025.3.0.0 (build 1)'; exit; }
while [ "$1" != python3 ]; do [ "$1" != --log-file ] || cp "$SAMPLES/ncu-raw.csv" "$2"; shift; done
exec "$@"
SCRIPT
my $raw = slurp("$samples/ncu-raw.csv");
my @calls = $raw =~ /^("\d".*\n)/mg;
my $mark = $calls[0] =~ s/"void scale.*?\)"/"spin_kernel(long)"/r;
my $id = 0;
spew("$dir/peers/ncu-raw.csv", $raw =~ s/^"\d".*\n//mgr
    . join("", map { s/^"\d"/'"' . $id++ . '"'/er } $mark, @calls[0, 1], $mark, $calls[2]));
my @two = map { "19\t$_\tlarge\t1\t1\t4\t4\t8\t8\n" } qw(eager compiled);
sub peers {
    my ($rows, $which) = (@_, "");
    unlink "$dir/build/data/nvidia-test-1/peers-profile.tsv";
    %r = run("cd $dir && sh '$ENV{PWD}/plots/peers/profile.sh' $which", %env, SAMPLES => "$dir/peers", ROWS => $rows);
}
peers($two[0] . $two[1]);
is($r{code}, 0, "the peers are profiled") or diag($r{out}, $r{err});
is(join(" ", map { join ":", (split /\t/)[4, 5, 6, 7, 11] } grep { /^19/ }
        split /\n/, slurp("$dir/build/data/nvidia-test-1/peers-profile.tsv")),
    "eager:large:all:2:4128 compiled:large:all:1:4096", "each with the launches behind its mark");
peers($two[0]);
is("$r{code} $r{err}", "1 peers: 2 calls for 1 rows\n", "a peer that left no row");
ok(!-e "$dir/build/data/nvidia-test-1/peers-profile.tsv", "leaves no file");
for my $which (qw(hopper long)) {
    peers($two[0] . $two[1], $which);
    is(join(" ", map { join ":", (split /\t/)[4, 6, 7] } grep { /^19/ }
            split /\n/, slurp("$dir/build/data/nvidia-test-1/peers-$which-profile.tsv")),
        "eager:1-scale:1 eager:2-sum:1 compiled:1-scale:1 eager:all:2 compiled:all:1", "those of $which.py, launch by launch");
}
peers($two[0], "ladder");
is("$r{code} $r{err}", "2 profile.sh ladder: hopper, long, or nothing, is right\n", "and no others");

done_testing();
