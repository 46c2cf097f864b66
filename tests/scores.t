#!/usr/bin/env perl
# make scores: the verdicts of small suites of our own that are laid out as the public ones are, and what is refused.
# Reads: tests/scores
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Backend;
use Workbook;

plan skip_all => "the instruments need g++" if !@traced;
sub kernel {
    my ($body, $launch) = @_;
    return "__global__ void k(int *x) { $body }\nint main()\n{\n    int *x;\n    cudaMalloc(&x, 1024);\n    cudaMemset(x, 0, 1024);\n"
        . "    k<<<2, 64>>>(x);\n    cudaDeviceSynchronize();\n    cudaFree(x);\n}\n";
}
my %body = (
    race => "x[0] += threadIdx.x;",
    fault => "x[256 + threadIdx.x] = 1;",
    same => "x[0] = 1;",
    clean => "atomicAdd(x, 1);",
    broken => "no_such_function(x);",
);

# scores(SUITE, WANTED): the rows "input label: race fault same nothing hang uncompiled", and what is said of programs.
sub scores {
    my ($suite, $rows, $told, $what) = @_;
    my %r = run("make -s scores SUITE='$dir/$suite'", SCORES_TO => "$dir/out");
    is($r{code}, 0, "$suite: $what") or diag($r{out}, $r{err});
    my ($head, @lines) = grep { !/^#/ } split /\n/, slurp("$dir/out/scores-$suite.tsv");
    is($head, "suite\tinput\tlabel\tprograms\trace\tother_fault\tsame_value\tnothing\thang\tnot_compiled", "$suite: the columns");
    is_deeply(\@lines, $rows, "$suite: the rows") or diag($r{out}, $r{err});
    is(slurp("$dir/out/scores-$suite-told.tsv") =~ s/^#.*\n//mgr, join("", "program\tinput\tlabel\tverdict\trules\n", map { "$_\n" } @$told), "$suite: what is told");
    like(slurp("$dir/out/scores-$suite.tsv"), qr/\A# suite: $suite, commit .+\n# checker: cudacc --check, commit .+\n# date: \d{4}-\d\d-\d\d\n/, "$suite: what the rows are of");
}

my $at = "$dir/scor/microbenchmarks/src";
spew("$at/race_interblock_blkatom.cu", kernel($body{race}));
spew("$at/race_bounds.cu", kernel($body{fault}));
spew("$at/race_same.cu", kernel($body{same}));
spew("$at/race_none.cu", kernel($body{clean}));
spew("$at/norace_right.cu", kernel($body{clean}));
spew("$at/norace_same.cu", kernel($body{same}));
spew("$at/norace_wrong.cu", kernel($body{race}));
spew("$at/norace_broken.cu", kernel($body{broken}));
scores("scor", ["scor\tall\tclean\t4\t1\t0\t1\t1\t0\t1", "scor\tall\tracy\t4\t1\t1\t1\t1\t0\t0"], [
    "norace_broken\tall\tclean\tnot compiled\t-", "norace_wrong\tall\tclean\trace\tglobal race", "race_bounds\tall\tracy\tother fault\tout of bounds",
    "race_none\tall\tracy\tnothing\t-", "race_same\tall\tracy\tsame value\t-"], "each verdict");

$at = "$dir/indigo/indigo";
spew("$at/indigo_include/indigo_cuda.h", "#define OF_THE_SUITE\n");
spew("$at/input/$_.egr", "") for qw(a b);
my $needs = "#include \"indigo_cuda.h\"\n#ifndef OF_THE_SUITE\n#error\n#endif\n";
spew("$at/indigo_sources/k/k.cu", $needs . kernel($body{clean}));
spew("$at/indigo_sources/k/k_boundsBug.cu", $needs . kernel($body{fault}));
spew("$at/indigo_sources/k/k_boundsBug_atomicBug.cu", $needs . kernel("$body{race} $body{fault}"));
# A race on one input only.
spew("$at/indigo_sources/k/k_guardBug.cu", $needs . kernel("if (x[1]) x[0] += threadIdx.x;") =~ s/int main\(\)/int main(int, char **v)/r
    =~ s/cudaMemset\(x, 0, 1024\)/cudaMemset(x, v[1][strlen(v[1]) - 5] == 'a', 1024)/r =~ s/^/#include <cstring>\n/r);
scores("indigo", [map { my $input = $_; ("indigo\t$input\tclean\t1\t0\t0\t0\t1\t0\t0", "indigo\t$input\tfaulty\t1\t0\t1\t0\t0\t0\t0",
    $input eq "a" ? "indigo\ta\tracy\t2\t2\t0\t0\t0\t0\t0" : "indigo\tb\tracy\t2\t1\t0\t0\t1\t0\t0") } "a", "b"],
    ["k_guardBug\tb\tracy\tnothing\t-"], "each input has its score");

$at = "$dir/gpuverify/testsuite/CUDA";
my $shape = "//--blockDim=64 --gridDim=[2]\n";
spew("$at/ok/kernel.cu", "//pass\n$shape\n__global__ void k(int *x, int n) { __requires(n == 64); x[blockIdx.x * n + threadIdx.x] = n; }\n");
spew("$at/bad/kernel.cu", "//xfail:NOT_ALL_VERIFIED\n$shape//possible race\n__global__ void k(float *x, int n) { __requires(n == 1); x[0] += threadIdx.x; }\n");
spew("$at/members/kernel.cu", "//pass\n${shape}struct s { int *p; };\n__global__ void k(s a) { a.p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n");
spew("$at/annotated/kernel.cu", "//pass\n$shape\n__global__ void k(int *x) { x[__other_int(1)] = 1; }\n");
spew("$at/cause/kernel.cu", "//xfail:BUGLE_ERROR\n$shape//race\n__global__ void k() {}\n");
scores("gpuverify", ["gpuverify\tall\tclean\t2\t0\t0\t0\t2\t0\t0", "gpuverify\tall\tracy\t1\t1\t0\t0\t0\t0\t0"], [], "kernels without a host");

mkdir "$dir/empty";
for my $bad (["", "SUITE names no folder: make scores SUITE=DIR"], ["$dir/none", "SUITE=$dir/none: there is no such folder"],
    ["$dir/empty", "$dir/empty is no suite that tests/scores/README.md names"]) {
    my %r = run("make -s scores SUITE='$bad->[0]'");
    is($r{code}, 2, "SUITE=$bad->[0] is refused");
    like($r{err}, qr/^scores: \Q$bad->[1]\E/, "in a line");
}
my %r = run("perl tests/scores/scores.pl $dir/scor race_none", SCORES_TO => "$dir/part");
ok($r{code} == 0 && $r{out} =~ /^scor\tall\tracy\t1\t/m && !-e "$dir/part/scores-scor.tsv", "a part of a suite leaves no rows");
done_testing();
