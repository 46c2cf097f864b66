#!/usr/bin/env perl
# The commands that look at the tests themselves: which changes `make mutation` makes of a source, and that
# `make coverage` names a line that no case runs.
# Reads: common tests/mutants steps plots/data/cpu
use strict;
use warnings;
use File::Temp qw(tempdir);
use Test::More;
use lib "tests/lib", "common/make/verify";
use Workbook;
use Source qw(masked bodies line_of);

# --- What is read of a source -------------------------------------------------------------------
my $source = <<'CUDA';
#include "x.h" // 1 + 1
/* a comment with f(int i)
{
    1 < 2
} */
static const char *name(void)
{
    return "a // b";
}

static __global__ void twice(const float *x, float *y, int n)
{
    const int i = blockIdx.x * 32 + threadIdx.x; // i < n
    const float a = (float)i;
    __shared__ float kept[32], sums[2][4]; // [2]
    float part[4] = {a};
    int first = 0, many[2];
    if (i < n) {
        y[i] = max(x[i], a);
        y[i] += y[i + 1] + part[0];
        y[1] = fminf(x[1], y[2]);
    }
    __syncthreads();
    fence_registers(y);
}
CUDA
my $code = masked($source);
is(length $code, length $source, "what is no code is blanked at its length");
unlike($code, qr/comment|include|a \/\/ b|i < n\n/, "comments, strings, lines of the preprocessor");
my @bodies = bodies($code, 0);
is(scalar(@bodies), 1, "one function is a kernel");
is(line_of($source, $bodies[0][0]), 13, "and begins there");
is(scalar(() = bodies($code, 1)), 2, "of all functions there are two");

# --- The changes --------------------------------------------------------------------------------
my $dir = tempdir(CLEANUP => 1);
spew("$dir/x.cuh", $source);
my %r = run("perl common/make/verify/mutation.pl list $dir/x.cuh");
is("$r{code} $r{err}", "0 ", "changes are listed");
my %now; # what operators make of it
for (split /\n/, $r{out}) {
    my ($operator, $line, $was, $now) = split /\t/;
    push @{ $now{$operator} }, $now;
    isnt($was, $now, "$operator, line $line: a change") or diag($_);
}
my %wanted = (
    constant => "const int i = blockIdx.x * 33 + threadIdx.x; // i < n",
    comparison => "if (i <= n) {",
    arithmetic => "const int i = blockIdx.x / 32 + threadIdx.x; // i < n",
    index => "y[i + 1] = max(x[i], a);",
    barrier => ";",
    cast => "const float a = i;",
    operands => "y[i] = min(x[i], a);",
    order => "y[i] += y[i + 1] + part[0]; y[i] = max(x[i], a);",
    left_out => ";",
);
is(join(" ", sort keys %now), join(" ", sort keys %wanted), "by each operator");
for my $operator (sort keys %wanted) {
    ok((grep { $_ eq $wanted{$operator} } @{ $now{$operator} }), "$operator: $wanted{$operator}")
        or diag(join "\n", @{ $now{$operator} || [] });
}
is(join(" ", grep { /(?:kept|sums|part|many).* \+ 1\]/ && !/y\[/ } @{ $now{index} }), "", "no array is made larger");
ok(!(grep { /fminf\(y/ } @{ $now{operands} }), "of two operands that may change places, neither does");
ok(!(grep { /fence_registers/ } @{ $now{order} }), "what is for nvcc alone stays in its place");
%r = run("perl common/make/verify/mutation.pl none 1");
is("$r{code} $r{err}", "255 mutation: SAMPLE=none is no number of changes\n", "a sample is a number");

# Each change that is listed as equivalent can be made.
my %listed;
for (grep { !/^#/ } split /\n/, slurp("tests/mutants/equivalent.tsv")) {
    my ($file, $before, $was, $now, $reason) = split /\t/;
    $listed{$file}{"$was\t$now\t$before"} = $reason;
}
for my $file (sort keys %listed) {
    %r = run("perl common/make/verify/mutation.pl list $file");
    my %can = map { (split /\t/, $_, 3)[2] => 1 } split /\n/, $r{out};
    is(join("\n", grep { !$can{$_} } sort keys %{ $listed{$file} }), "", "$file: its equivalent changes can be made");
    is(scalar(grep { !$_ } values %{ $listed{$file} }), 0, "and each has a reason");
}

# --- A line that no case runs -------------------------------------------------------------------
my $copy = scratch();
my $name = "steps/00-memory-access/memory-access.cu";
my $step = "$copy/$name";
run("cd '$copy' && ls -d steps/* | grep -v /00- | xargs rm -rf"); # for the others are built, too
my $text = slurp($step);
$text =~ s/(__global__ void \w+\([^{]*\)\n\{\n)/$1    if (n < 0) {\n        y[0] = 7.0f;\n    }\n/
    or die "$name has no kernel";
spew($step, $text);
my $line = 1 + (substr($text, 0, index $text, "        y[0] = 7.0f;\n") =~ tr/\n//);
%r = run("cd '$copy' && perl common/make/verify/coverage.pl 00");
is($r{code}, 1, "a planted line that no case runs: exit 1") or diag($r{err});
is($r{out} =~ s/coverage: \d+ lines of.*\n//r, "$name:$line: no verified case runs: y[0] = 7.0f;\n",
    "and it is named, alone");
spew("$copy/tests/uncovered.tsv", "# file\tline\treason\n$name\ty[0] = 7.0f;\tplanted\n");
%r = run("cd '$copy' && perl common/make/verify/coverage.pl 00");
is($r{code}, 0, "one that is listed with a reason may stay") or diag($r{out}, $r{err});

done_testing();
