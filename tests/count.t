#!/usr/bin/env perl
# count and check. What reads the reports of the GPU's tools is tried on samples of them; then every
# step counts what its recorded rows say, and breaks the rules that it must break and no other.
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my $dir = scratch_dir();

# --- What reads ncu ------------------------------------------------------------------------------
my $samples = "tests/samples";
my %r = run("awk -f common/make/ncu.awk $samples/ncu-raw.csv");
is($r{code}, 0, "ncu's raw page is read");
my @launches = split /\n/, $r{out};
is(scalar(@launches), 4, "a line a launch");
like($launches[0], qr/^1\tvoid scale<4, float>\(const float \*, float \*, int\)\t/,
    "the kernel's name, commas and all");
like($launches[0], qr/\tl1tex__t_sectors_pipe_lsu_mem_global_op_ld\.sum=4096\t/,
    "a number with a thousands separator");
like($launches[1], qr/\tsmsp__inst_executed_op_shared_ld\.sum=-$/, "n/a is no number");
%r = run("awk -f common/make/ncu.awk $samples/ncu-details.csv");
is($r{out} =~ s/\tlaunch__\S+|\tsmsp\S+//gr, join("", map { s/\tlaunch__\S+|\tsmsp\S+//gr . "\n" }
    @launches[0, 1]), "and one line a metric says the same");
%r = run("printf 'a,b\\n\"ID\",\"Name\"\\n' | awk -f common/make/ncu.awk");
is("$r{code} $r{err}", "1 ncu.awk: no column \"Kernel Name\" in what ncu wrote\n",
    "another table is refused");

run("awk -f common/make/ncu.awk $samples/ncu-raw.csv >$dir/ncu.tsv");
my $compare = "awk -v words=1 -v rows=$dir/rows.tsv -f common/make/compare.awk common/make/metrics.txt";
%r = run("$compare $samples/launches.tsv $dir/ncu.tsv $samples/counts.tsv");
is($r{code}, 0, "both counts are compared") or diag($r{err});
like($r{out}, qr/^  global_ld_sectors +8192 +8096 +1\.19%$/m, "two launches of a kernel are one row");
unlike($r{out}, qr/^  sin\b/m, "what the hardware does not count is left out");
unlike($r{out}, qr/^  shared_ld_requests +0 +0 /m, "and what is nothing on both sides");
like($r{out}, qr/^11 of 12 counts equal; furthest apart: global_ld_sectors of variant twice, case small, .*, by 1\.19%$/m,
    "the last line says how far they are apart");
like(slurp("$dir/rows.tsv"), qr/^99\tplain\tsmall\tsum\tglobal_ld_sectors\t32\t32\t0$/m, "a row a count");
%r = run("head -n 3 $dir/ncu.tsv | $compare $samples/launches.tsv - $samples/counts.tsv");
is("$r{code} $r{err}", "1 count: ncu saw 3 launches, and the program made 4\n", "a launch that is missing");

# --- What reads compute-sanitizer ------------------------------------------------------------------
my %found = (
    memcheck => "out of bounds: faults.cu:34 __global__ write of size 4 bytes by thread (31,0,0) in block (2,0,0), memcheck (2 times)\n"
        . "misaligned: faults.cu:51 __shared__ read of size 16 bytes by thread (1,0,0) in block (0,0,0), memcheck\n"
        . "freed memory: faults.cu:60 __global__ read of size 4 bytes by thread (0,0,0) in block (0,0,0), memcheck\n"
        . "leak: 4,096 bytes never freed, memcheck\n",
    racecheck => "shared race: faults.cu:70 write and read faults.cu:72 and write faults.cu:75, racecheck (512 times)\n",
    initcheck => "uninitialised read: faults.cu:80 __global__ memory read of size 4 bytes by thread (5,0,0) in block (1,0,0), initcheck\n",
    synccheck => "barrier divergence: faults.cu:90 divergent thread(s) in block. by thread (64,0,0) in block (0,0,0), synccheck\n",
    clean => "",
);
for my $tool (sort keys %found) {
    %r = run("awk -v tool=$tool -f common/make/sanitizer.awk $samples/$tool.txt");
    is($r{out}, $found{$tool}, "$tool is read");
    is($r{code}, $tool eq "clean" ? 0 : 1, "$tool: the exit code");
}

# --- The scripts around them, with tools that are a few lines --------------------------------------
sub tool {
    my ($name, $text) = @_;
    spew("$dir/$name", "#!/bin/sh\n$text");
    chmod 0755, "$dir/$name";
}
my %path = (PATH => "$dir/bin:$ENV{PATH}", SAMPLES => "$ENV{PWD}/$samples", CUDA_HOME => "/nowhere");
tool("cpu/step-99", 'while [ $# -gt 0 ]; do [ "$1" != --out ] || cp "$SAMPLES/counts.tsv" "$2"; shift; done' . "\necho counted\n");
tool("gpu/step-99", <<'SCRIPT');
echo "$*" >>"$LOG"
while [ $# -gt 0 ]; do
    case $1 in
    --list) printf 'cases\n  small  B=1\nvariants\n  plain  as it is\n  racy   a race  (finding: shared race)\n'; exit ;;
    --launches) cp "$SAMPLES/launches.tsv" "$2" ;;
    --out) printf '# device: NVIDIA Test 1\n# backend: cuda\n' >"$2" ;;
    esac
    shift
done
SCRIPT
tool("bin/ncu", <<'SCRIPT');
[ "$1" != --version ] || { echo 'Version 2025.3.0.0 (build 1)'; exit; }
while [ ! -x "$1" ]; do [ "$1" != --log-file ] || cp "$SAMPLES/ncu-raw.csv" "$2"; shift; done
exec "$@"
SCRIPT
tool("bin/compute-sanitizer", <<'SCRIPT');
while [ ! -x "$1" ]; do
    [ "$1" != --tool ] || tool=$2
    [ "$1" != --log-file ] || log=$2
    shift
done
case " $* " in *' --variant racy '*) racy=1 ;; esac
sample=clean
[ "$tool" != "${FINDS:-none}" ] || sample=$tool
[ "$tool$racy" != racecheck1 ] || sample=${RACE-racecheck}
cp "$SAMPLES/$sample.txt" "$log"
exec "$@"
SCRIPT
my $count = "sh common/make/count.sh $dir/cpu/step-99";
%r = run("cd $dir && mkdir -p common && ln -sf '$ENV{PWD}/common/make' common/make && "
    . "$count $dir/gpu/step-99 -- --case small --by-line", %path, LOG => "$dir/log", KF_COMMIT => "abc");
is($r{code}, 0, "count on a GPU") or diag($r{out}, $r{err});
like($r{out}, qr/^counted\n.*^rows: build\/data\/nvidia-test-1\/step-99-counts\.tsv$/ms, "prints both, and where the rows are");
like(slurp("$dir/build/data/nvidia-test-1/step-99-counts.tsv"),
    qr/\A# device: NVIDIA Test 1\n# backend: cuda\n# ncu: 2025\S+ .*\nstep\tvariant\tcase\tkernel\tcounter\tcpu\tgpu\tdifference\n99\t/,
    "the rows have their header");
unlike(slurp("$dir/log"), qr/--by-line/, "the GPU program is not asked for lines");
like(slurp("$dir/log"), qr/--case small/, "and gets the other arguments");
%r = run("$count $dir/gpu/step-99 --", %path, PATH => "/usr/bin:/bin", LOG => "$dir/log");
is("$r{code} $r{err}", "77 step-99: there is no ncu here; Nsight Compute, which comes with the CUDA toolkit, has it\n",
    "without ncu: 77 and a line") unless -x "/usr/bin/ncu";

my $check = "sh common/make/check.sh $dir/gpu/step-99";
%r = run("$check --variant plain --case small --variant=racy", %path, LOG => "$dir/log");
is($r{code}, 0, "check on a GPU: as predicted") or diag($r{out}, $r{err});
is($r{out}, "step-99: plain: no findings\nstep-99: racy: 1 finding, shared race as predicted\n    $found{racecheck}",
    "the clean variants together, and each that is not");
like(slurp("$dir/log"), qr/^--once --case small --variant racy$/m, "each with its own variant, and the other arguments");
%r = run($check, %path, LOG => "$dir/log", FINDS => "memcheck");
is($r{code}, 1, "a finding in a clean variant fails");
like($r{out}, qr/^step-99: plain: 4 findings\n    out of bounds: /m, "and is shown");
like($r{out}, qr/^step-99: racy: 5 findings; shared race was predicted, and nothing else$/m, "also beside the predicted one");
%r = run($check, %path, LOG => "$dir/log", RACE => "clean");
is($r{code}, 1, "a race that is not found fails");
%r = run($check, %path, PATH => "/usr/bin:/bin", LOG => "$dir/log");
is("$r{code} $r{err}", "77 step-99: there is no compute-sanitizer here; it comes with the CUDA toolkit\n",
    "without compute-sanitizer: 77 and a line") unless -x "/usr/bin/compute-sanitizer";

# --- Every step ------------------------------------------------------------------------------------
my $programs = instrumented_programs();
if ($programs =~ /^- (.*)/) {
    note($1);
    done_testing();
    exit;
}
# The rows of some cases, in order.
sub rows_of {
    my ($text, %case) = @_;
    return join "", grep { !/^#/ && (!%case || /^step\t/ || $case{(split /\t/)[2]}) } $text =~ /^.*\n/mg;
}
# Two small cases of each step, for what is run often.
my %small = ("00" => [qw(n63 n1025)], "01" => [qw(odd-causal one-query)], "02" => [qw(neox decode)],
    "03" => [qw(D64-S16)], "04" => [qw(D64-S16 long)]);
my @steps = glob("steps/[0-9][0-9]-*/*.cu");
my ($cxx) = $programs =~ m{([^/]+)$};
for my $source (@steps) {
    my ($name, $number) = $source =~ m{^steps/((\d\d)-[^/]+)/};
    my $recorded = "plots/data/cpu/step-$number-counts.tsv";
    my $fresh = "$dir/step-$number.tsv";
    %r = run("$programs-count/step-$number --seed 1 --out $fresh");
    is($r{code}, 0, "$name is counted") or diag($r{err});
    ok(-e $recorded, "$name has recorded counts") or next;
    my ($by) = slurp($recorded) =~ /^# compiler: (.*)$/m;
    my ($here) = slurp($fresh) =~ /^# compiler: (.*)$/m;
  SKIP: {
        skip "$recorded is by $by, this is $here", 1 if $by ne $here;
        ok(rows_of(slurp($fresh)) eq rows_of(slurp($recorded)), "$name counts what its recorded rows say")
            or diag("make step-$number count BACKEND=cpu, then look at\n"
                . "  diff $recorded build/data/cpu/step-$number-counts.tsv");
    }
    next if !$small{$number};
    my @cases = @{$small{$number}};
    my $want = rows_of(slurp($fresh), map { $_ => 1 } @cases);
    for my $how ("CUDACPU_ORDER=reverse CUDACPU_WORKERS=1", "CUDACPU_ORDER=random CUDACPU_WORKERS=2") {
        my $again = "$dir/again.tsv";
        unlink $again;
        %r = run("$how $programs-count/step-$number --seed 2 --out $again " . join " ", map { "--case $_" } @cases);
        ok($r{code} == 0 && rows_of(slurp($again)) eq $want, "$name counts the same with $how") or diag($r{err});
    }
}

# A change of one load is noticed.
my $plant = "$dir/plant.cu";
my ($naive) = grep { m{/01-} } @steps;
(my $text = slurp($naive)) =~ s{score = dot / sqrtf\(\(float\)D\);}{score = dot / sqrtf((float)D) + 0.0f * q[0];}
    or fail("the line to change is still there");
spew($plant, $text);
my $harness = "$programs/harness/*.o";
%r = run("common/cpu/cudacc --count -O2 -w -Icommon $plant $harness -o $dir/plant && "
    . "$dir/plant --seed 1 --case odd --out $dir/plant.tsv");
is($r{code}, 0, "a step with one load more runs") or diag($r{err});
isnt(rows_of(slurp("$dir/plant.tsv"), odd => 1), rows_of(slurp("$dir/step-01.tsv"), odd => 1), "and its rows differ");
%r = run("$programs-count/step-01 --case one-query --by-line --seed 1");
like($r{out}, qr/naive-attention\.cu:\d+/, "--by-line names source lines");

# --- Every step is checked -------------------------------------------------------------------------
for my $source (@steps) {
    my ($name, $number) = $source =~ m{^steps/((\d\d)-[^/]+)/};
    my $began = time;
    %r = run("$programs-check/step-$number --seed 1");
    my $took = time - $began;
    is($r{code}, 0, "$name: findings as predicted") or diag($r{err}, $r{out});
    if ($number eq "03") {
        like($r{out}, qr/^  variant $_ .*: values wrong, accesses right: no checker sees it$/m, "03: $_ by name")
            for qw(bug-sum bug-max bug-both);
    } elsif ($number eq "04") {
        like($r{out}, qr/^  variant fix: \d+ findings?, as predicted\n    shared race: .*block-reduce-fix\.cu:\d+.*partial/m,
            "04: the race by name");
        cmp_ok($took, "<=", 10, "04: in at most 10 s");
    }
    unlike($r{out}, qr/^  variant (?!fix)\S+: \d+ finding/m, "$name: no other variant has findings");
}
done_testing();
