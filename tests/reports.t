#!/usr/bin/env perl
# What reads the reports of ncu and of compute-sanitizer, on samples of them; count and check on a GPU, with tools
# that are a few lines; and what compares the cost of an exercise with the step's own.
# Reads: tests/samples
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my $dir = scratch_dir();

# --- What reads ncu ------------------------------------------------------------------------------
my $samples = "tests/samples";
my %r = run("awk -f common/make/gpu/ncu.awk $samples/ncu-raw.csv");
is($r{code}, 0, "ncu's raw page is read");
my @launches = split /\n/, $r{out};
is(scalar(@launches), 4, "a line a launch");
like($launches[0], qr/^1\tvoid scale<4, float>\(const float \*, float \*, int\)\t/,
    "the kernel's name, commas and all");
like($launches[0], qr/\tl1tex__t_sectors_pipe_lsu_mem_global_op_ld\.sum=4096\t/,
    "a number with a thousands separator");
like($launches[1], qr/\tsmsp__inst_executed_op_shared_ld\.sum=-$/, "n/a is no number");
%r = run("awk -f common/make/gpu/ncu.awk $samples/ncu-details.csv");
is($r{out} =~ s/\tlaunch__\S+|\tsmsp\S+//gr, join("", map { s/\tlaunch__\S+|\tsmsp\S+//gr . "\n" }
    @launches[0, 1]), "and one line a metric says the same");
%r = run("printf 'a,b\\n\"ID\",\"Name\"\\n' | awk -f common/make/gpu/ncu.awk");
is("$r{code} $r{err}", "1 ncu.awk: no column \"Kernel Name\" in what ncu wrote\n",
    "another table is refused");

run("awk -f common/make/gpu/ncu.awk $samples/ncu-raw.csv >$dir/ncu.tsv");
my $compare = "awk -v words=1 -v rows=$dir/rows.tsv -f common/make/reader/compare.awk common/make/gpu/metrics.txt";
%r = run("$compare $samples/launches.tsv $dir/ncu.tsv $samples/counts.tsv");
is($r{code}, 0, "both counts are compared") or diag($r{err});
like($r{out}, qr/^  global_ld_sectors +8192 +8096 +1\.19%$/m, "two launches of a kernel are one row");
unlike($r{out}, qr/^  sin\b/m, "what the hardware does not count is left out");
unlike($r{out}, qr/^  shared_ld_requests +0 +0 /m, "and what is nothing on both sides");
like($r{out}, qr/^11 of 12 counts equal; furthest apart: global_ld_sectors of variant twice, case small, .*, by 1\.19%$/m,
    "the last line says how far they are apart");
like(slurp("$dir/rows.tsv"), qr/^99\tplain\tsmall\tsum\tglobal_ld_sectors\t32\t32\t0$/m, "a row a count");
%r = run("sed 's/\$/\tdevice__mode=-/' $dir/ncu.tsv | $compare $samples/launches.tsv - $samples/counts.tsv");
unlike($r{err}, qr/device__mode/, "what nobody asked ncu for is not missed");
%r = run("head -n 3 $dir/ncu.tsv | $compare $samples/launches.tsv - $samples/counts.tsv");
is("$r{code} $r{err}", "1 count: ncu saw 3 launches, and the program made 4\n", "a launch that is missing");

# Conflicts are compared with all passes of the GPU.
my $passes = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
my $lost = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";
spew("$dir/few/ncu.tsv", "1\tk\t$lost=63\t$passes=6300\n");
spew("$dir/few/launches", "v\tc\t1\n");
spew("$dir/few/counts.tsv", "step\tvariant\tcase\tkernel\tlaunches\tshared_ld_conflicts\n99\tv\tc\tk\t1\t0\n");
%r = run("$compare $dir/few/launches $dir/few/ncu.tsv $dir/few/counts.tsv");
like($r{out}, qr/^  shared_ld_conflicts +0 +63 +-1%$/m, "63 conflicts in 6300 passes are 1%") or diag($r{err});

# A kernel that the device refuses has not been seen by ncu.
spew("$dir/few/launches", "v\tc\t1\nw\tc\t0\n");
spew("$dir/few/counts.tsv", "step\tvariant\tcase\tkernel\tlaunches\tshared_ld_conflicts\n99\tv\tc\tk\t1\t0\n99\tw\tc\tk\t1\t5\n");
%r = run("$compare $dir/few/launches $dir/few/ncu.tsv $dir/few/counts.tsv");
is($r{code}, 0, "a variant without launches is passed over") or diag($r{err});
unlike($r{out}, qr/variant w/, "and left out");

# A library's kernels are others than ours, and more: what is ours pairs by its name.
my $ld = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
spew("$dir/few/ncu.tsv", "1\tvoid gemvx::kernel<int, 4>(args)\t$ld=90\n2\tsplitKreduce(float *)\t$ld=91\n"
    . "3\tvoid our::add<4>(const float *, int)\t$ld=7\n4\tvoid our::add<8>(int)\t$ld=8\n");
spew("$dir/few/launches", "v\tc\t4\n");
my $ours = "step\tvariant\tcase\tkernel\tlaunches\tglobal_ld_requests\n99\tv\tc\tplain_product\t1\t5\n";
spew("$dir/few/counts.tsv", "$ours" . "99\tv\tc\tadd<4>\t1\t7\n99\tv\tc\tour::add<8>\t1\t9\n");
%r = run("$compare $dir/few/launches $dir/few/ncu.tsv $dir/few/counts.tsv");
like($r{out}, qr/kernel add<4>\n.*\n  launches +1 +1 +0%\n  global_ld_requests +7 +7 +0%\n/, "a kernel of ours beside a library's")
    or diag($r{err});
like($r{out}, qr/^3 of 4 counts equal; .*kernel our::add<8>, by 12.5%$/m, "and the second of its name");
unlike($r{out}, qr/plain_product/, "the product that a library computes on a GPU is not compared");
is($r{err}, "count: plain_product is passed over, on a GPU it is a kernel of the library\n", "which is said");
spew("$dir/few/counts.tsv", "$ours" . "99\tv\tc\tadd<4>\t1\t7\n99\tv\tc\tadd<8>\t1\t9\n99\tv\tc\tadd<2>\t1\t9\n");
%r = run("$compare $dir/few/launches $dir/few/ncu.tsv $dir/few/counts.tsv");
is("$r{code} $r{err}", "1 count: variant v, case c: ncu saw no kernel add<2>\n", "one of a name too few");

# The device's own memsets and copies are no kernels to ncu.
spew("$dir/few/ncu.tsv", "1\tvoid our::add<4>(int)\t$ld=7\n");
spew("$dir/few/launches", "v\tc\t1\n");
spew("$dir/few/counts.tsv", "step\tvariant\tcase\tkernel\tlaunches\tglobal_ld_requests\n99\tv\tc\tmemset\t1\t0\n"
    . "99\tv\tc\tour::add<4>\t1\t7\n99\tv\tc\tmemcpy\t2\t0\n");
%r = run("$compare $dir/few/launches $dir/few/ncu.tsv $dir/few/counts.tsv");
is("$r{code} $r{err}", "0 ", "memset and memcpy are passed over");
like($r{out}, qr/^2 of 2 counts equal$/m, "and nothing is compared with another's") or diag($r{out});

# Several metrics are one counter of ours: the tensor pipe adds halves as well, which is no product.
spew("$dir/few/ncu.tsv", join("\t", 1, "k", "smsp__inst_executed_pipe_tensor_op_hmma.sum=70",
    "smsp__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum=6", "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp16.sum=0",
    "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32.sum=4096", "sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32.sum=96",
    "sm__ops_path_tensor_op_hgmma_src_fp16.sum=8", "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32.sum=0") . "\n");
spew("$dir/few/launches", "v\tc\t1\n");
spew("$dir/few/counts.tsv", "step\tvariant\tcase\tkernel\tlaunches\tmma\tmma_flops\n99\tv\tc\tk\t1\t64\t4096\n");
%r = run("$compare $dir/few/launches $dir/few/ncu.tsv $dir/few/counts.tsv");
like($r{out}, qr/^  mma +64 +64 +0%\n  mma_flops +4096 +4200 +-2\.48%$/m, "differences and sums of metrics") or diag($r{err});

# The GPU counts cp.async among loads: its requests are taken off, where there are any.
my $copies = "smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum";
spew("$dir/few/counts.tsv", "step\tvariant\tcase\tkernel\tlaunches\tglobal_ld_requests\n99\tv\tc\tk\t1\t7\n99\tw\tc\tk\t1\t7\n");
for my $case (["$ld=7", 7], ["$ld=10\t$copies=3", 7], ["$ld=7\t$copies=3", 4]) {
    spew("$dir/few/ncu.tsv", "1\tk\t$case->[0]\n");
    %r = run("$compare $dir/few/launches $dir/few/ncu.tsv $dir/few/counts.tsv");
    like($r{out}, qr/^  global_ld_requests +7 +$case->[1] /m, "loads of $case->[0]") or diag($r{err});
}
is("$r{code} $r{err}", "0 count: rows passed over, as the GPU program did not run their variant and case: 1\n",
    "a variant that the GPU program refuses");

# --- What reads compute-sanitizer ------------------------------------------------------------------
my %found = (
    memcheck => "out of bounds: out-of-bounds.cu:126 __global__ read of size 16 bytes by thread (122,0,0) in block (1,0,0), memcheck\n"
        . "leak: 4,004 bytes never freed, memcheck\nleak: 1,004 bytes never freed, memcheck\n"
        . "misaligned: misaligned.cu:9 __global__ read of size 16 bytes by thread (0,0,0) in block (0,0,0), memcheck (2 times)\n"
        . "freed memory: freed.cu:9 __global__ read of size 4 bytes by thread (0,0,0) in block (0,0,0), memcheck (2 times)\n"
        . "leak: 256 bytes never freed, memcheck\n",
    racecheck => "shared race: shared-race.cu:515 write and write shared-race.cu:515 and read shared-race.cu:517, racecheck (320 times)\n"
        . "shared race: shared-race.cu:77 read and write shared-race.cu:69, racecheck (4 times)\n",
    initcheck => "uninitialised read: uninitialised.cu:63 __global__ memory read of size 4 bytes by thread (98,0,0) in block (0,0,0), initcheck\n",
    synccheck => "barrier divergence: barrier.cu:49 divergent thread(s) in block. by thread (0,0,0) in block (0,0,0), synccheck (3 times)\n"
        . "mbarrier: bulk.cuh:28 missing wait. by thread (0,0,0) in block (0,0,0), synccheck\n",
    clean => "",
);
for my $tool (sort keys %found) {
    %r = run("awk -v tool=$tool -f common/make/gpu/sanitizer.awk $samples/$tool.txt");
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
    --variant) ran="$ran $2" ;;
    --list) printf 'cases\n  small  B=1\nvariants\n  plain  as it is\n  racy   a race  (finding: %s)\n' "${BUG-shared race}"; exit ;;
    --launches) cp "$SAMPLES/launches.tsv" "$2" ;;
    --out) printf '# device: NVIDIA Test 1\n# backend: cuda\n' >"$2" ;;
    esac
    shift
done
for variant in $ran; do echo "  $variant  ok"; done | sed "/^  ${NOWHERE-none} /d"
SCRIPT
tool("bin/ncu", <<'SCRIPT');
[ "$1" != --version ] || { echo 'Version 2025.3.0.0 (build 1)'; exit; }
echo "$*" >>"$LOG.ncu"
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
my $count = "sh common/make/reader/count.sh $dir/cpu/step-99";
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
is("$r{code} $r{err}", "77 step-99: there is no ncu here; Nsight Compute, which comes with the CUDA toolkit, has it. BACKEND=cpu counts on the CPU\n",
    "without ncu: 77 and a line") unless -x "/usr/bin/ncu";

unlike(slurp("$dir/log.ncu"), qr/ldgsts|hmma|[+-]s?m?sp__/, "ncu is not asked for what no kernel has");
spew("$dir/copies.tsv", slurp("$samples/counts.tsv") =~ s/(\tlaunches\b.*)/$1\tmma\tcp_async_bytes/r =~ s/^(\d.*)/$1\t3\t16/mgr);
%r = run("$count $dir/gpu/step-99 --", %path, LOG => "$dir/log", SAMPLES => "$dir/samples", KF_COMMIT => "abc")
    if system("cp -r $samples $dir/samples && cp $dir/copies.tsv $dir/samples/counts.tsv") == 0;
is($r{code}, 0, "count of a step with copies") or diag($r{err});
like(slurp("$dir/log.ncu"), qr/op_hmma\.sum,smsp__\w+hfma2\.sum,smsp__sass_data_bytes_mem_global_op_ldgsts\.sum /,
    "but for what one has, each metric by itself");

my $check = "sh common/make/reader/check.sh $dir/gpu/step-99";
%r = run("$check --variant plain --case small --variant=racy", %path, LOG => "$dir/log");
is($r{code}, 0, "check on a GPU: as predicted") or diag($r{out}, $r{err});
is($r{out}, "step-99: plain: no findings\nstep-99: racy: 2 findings, shared race as predicted\n"
    . $found{racecheck} =~ s/^/    /mgr . "check: 2 findings of 1 rule, as predicted: shared race\n",
    "the clean variants together, and each that is not");
like(slurp("$dir/log"), qr/^--once --case small --variant racy$/m, "each with its own variant, and the other arguments");
%r = run($check, %path, LOG => "$dir/log", FINDS => "memcheck");
is($r{code}, 1, "a finding in a clean variant fails");
like($r{out}, qr/^step-99: plain: 6 findings\n    out of bounds: /m, "and is shown");
like($r{out}, qr/^step-99: racy: 8 findings; shared race was predicted, and nothing else$/m, "also beside the predicted one");
like($r{out}, qr/\ncheck: 14 findings of \d rules: .*out of bounds.*shared race.*\n\z/, "how many in all, of which rules, stands in the last line");
%r = run($check, %path, LOG => "$dir/log", RACE => "clean");
is($r{code}, 1, "a race that is not found fails");
like($r{out}, qr/\ncheck: no findings, NOT as predicted\n\z/, "also in the last line");
%r = run($check, %path, LOG => "$dir/log", RACE => "clean", NOWHERE => "racy");
is($r{code}, 0, "unless no case of the variant runs here") or diag($r{out});
like($r{out}, qr/^step-99: racy: passed over, it runs in no case here$/m, "which is said");
%r = run($check, %path, LOG => "$dir/log", NOWHERE => "racy");
like($r{out}, qr/^step-99: racy: 2 findings, shared race as predicted$/m, "a finding counts, also of a program that died of it");
tool("bin/ldd", "echo '\tlibcublasLt.so.13 => /usr/lib/libcublasLt.so.13 (0x1)'");
%r = run($check, %path, LOG => "$dir/log", FINDS => "initcheck");
is($r{code}, 0, "initcheck is left out where cuBLAS writes") or diag($r{out});
like($r{out}, qr/\Astep-99: without initcheck, .*\nstep-99: plain: no findings\n/, "and that is said");
%r = run($check, %path, LOG => "$dir/log", BUG => "uninitialised read");
is($r{code}, 0, "and so is what initcheck alone would find") or diag($r{out});
like($r{out}, qr/^step-99: racy: passed over, it is there for initcheck$/m, "and that is said");
unlink "$dir/bin/ldd";
mkdir "$dir/steps" and mkdir "$dir/steps/99-mine" or die $!;
spew("$dir/steps/99-mine/mine.cu", "/* 99-mine: it\n * Check: without racecheck\n */\n");
%r = run("cd $dir && sh common/make/reader/check.sh gpu/step-99 --variant plain", %path, LOG => "$dir/log", FINDS => "racecheck");
like($r{out}, qr/\Astep-99: without racecheck, .*\nstep-99: plain: no findings\n/, "nor does a tool count that a header leaves out");
%r = run("cd $dir && sh common/make/reader/check.sh gpu/step-99 --variant plain", %path, LOG => "$dir/log", FINDS => "memcheck");
like($r{out}, qr/^step-99: plain: \d+ findings?$/m, "the others do");
%r = run($check, %path, PATH => "/usr/bin:/bin", LOG => "$dir/log");
is("$r{code} $r{err}", "77 step-99: there is no compute-sanitizer here; it comes with the CUDA toolkit. BACKEND=cpu checks on the CPU\n",
    "without compute-sanitizer: 77 and a line") unless -x "/usr/bin/compute-sanitizer";

# --- What compares costs ---------------------------------------------------------------------------
# Counts of made-up kernels: the step's own, and what a change of them says.
my @counters = qw(launches blocks threads barriers global_ld_requests global_ld_sectors global_st_sectors shared_ld_wavefronts ldmatrix_wavefronts div
    sin mma cp_async_left_groups launch_dependents early_launches cache_hints);
sub counted {
    my ($file, @rows) = @_;
    my $text = "# device: cpu\n" . join("\t", qw(step variant case kernel), @counters) . "\n";
    for (@rows) {
        my ($variant, $case, $kernel, %n) = @$_;
        $text .= join("\t", 99, $variant, $case, $kernel, map { $n{$_} // 0 } @counters) . "\n";
    }
    spew("$dir/cost/$file", $text);
}
my %scores = (launches => 1, blocks => 10, threads => 2560, barriers => 10, global_ld_requests => 1600,
    global_ld_sectors => 6400, shared_ld_wavefronts => 1000, div => 0, sin => 0, mma => 64,
    ldmatrix_wavefronts => 100);
my %sums = (launches => 1, blocks => 10, threads => 2560, global_ld_requests => 80, global_ld_sectors => 320);
counted("own.tsv", ["plain", "small", "scores", %scores], ["plain", "small", "sums", %sums],
    ["other", "small", "scores", %scores]);
sub costs {
    my ($what, $want, $all, @rows) = @_;
    counted("theirs.tsv", @rows);
    my %r = run("awk -v all=$all -f common/make/reader/cost.awk $dir/cost/own.tsv $dir/cost/theirs.tsv");
    is($r{out}, $want, $what) or diag($r{err});
    is($r{code}, $want ? 1 : 0, "$what: the exit code");
}
sub scores_with {
    my (%more) = @_;
    return (["plain", "small", "scores", %scores, %more], ["plain", "small", "sums", %sums]);
}
my $more = "  costs more: variant plain, case small,";
costs("the same costs the same", "", "", scores_with());
costs("what is less is never too much", "", "", scores_with(barriers => 0, global_ld_sectors => 1));
costs("a few loads more are another right way", "", "", scores_with(global_ld_requests => 1900, div => 2560));
costs("nor a barrier more", "$more kernel scores: barriers 15, the step's own 10 (1.5 times)\n", "",
    scores_with(barriers => 15));
costs("a tenth of the ldmatrix more", "", "", scores_with(ldmatrix_wavefronts => 109));
costs("a sixth is not", "$more kernel scores: ldmatrix_wavefronts 115, the step's own 100 (1.15 times)\n", "",
    scores_with(ldmatrix_wavefronts => 115));
costs("a product more is not", "$more kernel scores: mma 65, the step's own 64 (1.02 times)\n", "",
    scores_with(mma => 65));
costs("a launch less", "  left out: variant plain, case small: launches 1, the step's own 2\n", "",
    ["plain", "small", "scores", %scores]);
costs("four times the threads", "$more kernel scores: threads 10240, the step's own 2560 (4 times)\n", "",
    scores_with(threads => 10240));
costs("twice the loads are not", "$more kernel scores: global_ld_requests 3200, the step's own 1600 (2 times)\n",
    "", scores_with(global_ld_requests => 3200));
costs("bank conflicts", "$more kernel scores: shared_ld_wavefronts 32000, the step's own 1000 (32 times)\n",
    "", scores_with(shared_ld_wavefronts => 32000));
costs("what the step has none of, and the worst first",
    "$more kernel scores: sin 5, the step's own 0\n$more kernel scores: launches 2, the step's own 1 (2 times)\n",
    "", scores_with(launches => 2, sin => 5));
costs("a small kernel beside a large one", "$more kernel sums: global_ld_sectors 640, the step's own 320 (2 times)\n",
    "", ["plain", "small", "scores", %scores], ["plain", "small", "sums", %sums, global_ld_sectors => 640]);
costs("another kernel in its place is compared with it",
    "$more kernels of other names: global_ld_requests 640, the step's own 80 (8 times)\n",
    "", ["plain", "small", "scores", %scores], ["plain", "small", "sums_by_one", %sums, global_ld_requests => 640]);
costs("and may be as good", "", "", ["plain", "small", "scores", %scores], ["plain", "small", "mine", %sums]);
costs("work may move to the kernel that stays", "", "",
    ["plain", "small", "scores", %scores, launches => 2, global_ld_requests => 1700, global_ld_sectors => 7000]);
costs("a kernel too many", "$more all kernels: launches 4, the step's own 2 (2 times)\n"
    . "$more all kernels: threads 10240, the step's own 5120 (2 times)\n", "",
    scores_with(), ["plain", "small", "again", %sums], ["plain", "small", "and-again", %sums]);
costs("what is asked for and left out", "  left out: variant plain, case small: mma 0, the step's own 64\n",
    "", scores_with(mma => 0));
counted("own.tsv", ["plain", "small", "scores", %scores, cp_async_left_groups => 30]);
costs("copies that are waited for early", "  waits for more: variant plain, case small: cp_async_left_groups 19, "
    . "the step's own 30\n", "", ["plain", "small", "scores", %scores, cp_async_left_groups => 19]);
costs("and a little earlier", "", "", ["plain", "small", "scores", %scores, cp_async_left_groups => 20]);
counted("own.tsv", ["plain", "small", "scores", %scores, launch_dependents => 40, cache_hints => 66]);
costs("half of the hints", "  left out: variant plain, case small: cache_hints 33, the step's own 66\n", "",
    ["plain", "small", "scores", %scores, launch_dependents => 2, cache_hints => 33]);
costs("a launch that begins late", "  left out: variant plain, case small, kernel scores: launch_dependents 0, the step's own 40\n",
    "", ["plain", "small", "scores", %scores, cache_hints => 66]);
my @set = ("plain", "small", "memset", launches => 1, global_st_sectors => 64);
counted("own.tsv", ["plain", "small", "scores", %scores, early_launches => 1], [@set]);
costs("memory that is cleared twice", "$more kernel memset: launches 2, the step's own 1 (2 times)\n"
    . "$more kernel memset: global_st_sectors 128, the step's own 64 (2 times)\n", "",
    ["plain", "small", "scores", %scores, early_launches => 1], [@set[0 .. 2], launches => 2, global_st_sectors => 128]);
costs("more of it", "$more kernel memset: global_st_sectors 128, the step's own 64 (2 times)\n", "",
    ["plain", "small", "scores", %scores, early_launches => 1], [@set, global_st_sectors => 128]);
costs("a second launch that may begin early", "$more kernel scores: early_launches 2, the step's own 1 (2 times)\n",
    "", ["plain", "small", "scores", %scores, early_launches => 2], [@set]);
costs("none that may", "  left out: variant plain, case small, kernel scores: early_launches 0, the step's own 1\n",
    "", ["plain", "small", "scores", %scores], [@set]);
counted("own.tsv", ["plain", "small", "scores", %scores], ["plain", "small", "sums", %sums],
    ["other", "small", "scores", %scores]);
costs("a variant that launches nothing", "  left out: variant other, case small: launches 0, the step's own 1\n",
    1, scores_with());
costs("at most five lines", join("", map { "$more kernel scores: $_\n" } "sin 9, the step's own 0",
    "launches 9, the step's own 1 (9 times)", "threads 23040, the step's own 2560 (9 times)",
    "barriers 90, the step's own 10 (9 times)", "global_ld_requests 14400, the step's own 1600 (9 times)")
    . "  and 4 more\n", "", scores_with((map { $_ => 9 * $scores{$_} } keys %scores), sin => 9));

# The script round it takes cases and variants of the arguments, and of the cases those that are recorded.
counted("theirs.tsv", scores_with(global_ld_requests => 3200));
spew("$dir/cost/plots/data/cpu/step-99-counts.tsv", slurp("$dir/cost/own.tsv"));
tool("cost/program", "printf '%s ' \"\$@\" >'$dir/cost/log'\nwhile [ \"\$1\" != --out ]; do shift; done\n"
    . "cp '$dir/cost/theirs.tsv' \"\$2\"\necho '99-mine: variant plain: 3 wrong elements' >&2\nexit \${CODE:-0}");
system("mkdir -p $dir/cost/common && ln -s '$ENV{PWD}/common/make' $dir/cost/common/make");
my $cost = "cd $dir/cost && sh common/make/reader/cost.sh step-99 ./program";
%r = run("$cost --case small --seed 4 --json --case large --case=D=8 --variant=plain");
is("$r{code} $r{out}", "1 $more kernel scores: global_ld_requests 3200, the step's own 1600 (2 times)\n",
    "a program is counted and compared") or diag($r{err});
like(slurp("$dir/cost/log"), qr/\A--case small --case D=8 --variant plain --seed 1 --out \S+ \z/, "in the cases that are recorded");
%r = run("$cost --case large");
is("$r{code} $r{out}$r{err}", "3 ", "no case that is recorded: nothing to compare");
%r = run("$cost --case small", CODE => 1);
is("$r{code} $r{out}", "4   counting ended with code 1: 99-mine: variant plain: 3 wrong elements\n", "a program that fails");

done_testing();
