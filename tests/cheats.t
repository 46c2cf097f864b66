#!/usr/bin/env perl
# Programs that cheat the harness: each cheat of tests/harness/cheats.cu, and of cheats_timed.c on the fake clock, is
# refused by the line that tests/harness/cheats.tsv has; honest variants are not. What chapter 3 shows is what they print.
# With RECORD=1 that is written anew. And a kernel of a reader's own is held against a reference by one command.
# Reads: common/harness common/examples common/make Makefile tests/harness plots/data/cpu/cheats.tsv
use strict;
use warnings;
use File::Path qw(make_path remove_tree);
use Test::More;
use lib "tests/lib";
use Workbook;

my $recorded = "plots/data/cpu/cheats.tsv";
my %r = run("sh common/make/build/toolchain.sh '" . ($ENV{CXX} // "") . "' '" . ($ENV{CC} // "") . "'");
my ($cxx) = $r{out} =~ m{^(?:\S*/)?(\S+) } or BAIL_OUT("no compiler: $r{out}");
my $cpu = "build/cpu/$cxx";
%r = run("make -s $cpu/cheats BACKEND=cpu");
is($r{code}, 0, "the program of cheats is built") or BAIL_OUT($r{err});
my $build = "build/tests/cheats";
remove_tree($build);
make_path($build);

# --- The clock is that of tests/harness/fake.c.
my $cc = $ENV{CC} || (have("gcc") ? "gcc" : "cc");
my @objects = map { m{common/(.+)\.c$} && $1 !~ m{/(backend|rates)$} ? "$cpu/$1.o" : () }
    glob("common/harness/*/*.c common/problems/*.c");
my @sources = map { "tests/harness/$_.c" } qw(cheats_timed fake trace);
my $neox = join " ", map { "$cpu/neox/$_.o" } qw(bounds seeded shape);
%r = run("$cc -std=c11 -O2 -Wall -Wextra -Werror -Icommon/cpu/include -Icommon @sources @objects $neox -o $build/timed -lpthread -lm");
is($r{code}, 0, "the program of cheats on a clock is built") or BAIL_OUT($r{err});

# --- All of them, by one script.
my $expected = slurp("tests/harness/cheats.tsv");
my @names = $expected =~ /^(\S+)\t(?:any|clock)\t/mg;
cmp_ok(scalar @names, ">=", 25, "there are many");
%r = run("sh tests/harness/cheats.sh $cpu/cheats $build/timed");
is("$r{code} $r{err}", "0 ", "each is refused, by its line");
my ($head, @rows) = split /\n/, $r{out};
is(join(" ", map { /^(\S+)/ } @rows), join(" ", @names), "and none is left out");
for (@rows) {
    like($_, qr/^\S+\t[^\t]+\t[^\t]{20,}\t[^\t]+$/, "a row says what the cheat does, what refuses it, where it was seen") or diag($_);
}
my @variants = grep { $_ ne "honest" } map { slurp("tests/harness/$_") =~ /\.name = "([a-z-]+)",\s+\.about/g } qw(cheats.cu cheats_timed.c);
my %known = map { $_ => 1 } @names;
is(join(" ", grep { !$known{$_} } @variants), "", "no variant is without a line in cheats.tsv");

# --- What a linker refuses: a function that the harness or the runtime has.
my %link;
while ($expected =~ /^(\S+)\tlink\t(\S+)\t([^\t]+)\t(.*)/mg) {
    my ($name, $define, $says, $seen) = ($1, $2, $3, $4);
    %r = run("common/cpu/cudacc -D$define -O1 -Icommon tests/harness/cheats.cu $cpu/harness/*/*.o -o $build/linked");
    isnt($r{code}, 0, "$name: does not link");
    like($r{err}, qr/$says/, "and the linker says why");
    my ($function) = $says =~ /(\w+)$/;
    push @rows, "$name\tdefines $function itself\tmultiple definition of $function\t$seen";
}

# --- A cheat that no longer cheats, or is no longer refused, is seen.
my $blind = "$build/blind.tsv";
spew($blind, slurp("tests/harness/cheats.sh") =~ s{list=\S+}{list=$build/list}r);
spew("$build/list", "cheat\twhere\tcase\trefused by\tseen in\nhonest\tany\tsmall\twrong elements\there\nhalf\tany\tsmall\tanother line\there\n");
%r = run("sh $blind $cpu/cheats $build/timed");
is($r{code}, 1, "the script fails where a variant is not refused, or by another line");
like($r{err}, qr/^cheats: honest: not refused\ncheats: honest: refused by another line.*^cheats: half: refused by another line: 97-cheats: variant half/ms, "and says which");

# --- A timer that says a hundredth.
%r = run("$build/timed --seed 1 --variant honest", FAKE_TIMER => 100);
is($r{code}, 1, "a timer that says less than the host's clock is not believed");
like($r{err}, qr/clock graph warm: impossible: the clock says 0\.2 us a call, and the device was busy for 20 us/, "and a line says so");
%r = run("$build/timed --seed 1 --variant too-fast --json --out $build/rows.tsv", KF_ROOT => "$build/root");
is($r{code}, 0, "without ceilings nothing is too fast");
make_path("$build/root/build/data/fake-g-100-test");
for (["0.0016", 0], ["0.0014", 1]) { # 1600 flops: 1 us and 1.14 us, where 1 us is measured
    my ($tflops, $code) = @$_;
    spew("$build/root/build/data/fake-g-100-test/ceilings.tsv", "name\tvalue\ncopy_tbps\t4\nread_tbps\t4\nfp32_tflops\t$tflops\n");
    unlink "$build/rows.tsv";
    %r = run("$build/timed --seed 1 --variant too-fast --out $build/rows.tsv", KF_ROOT => "$build/root");
    is($r{code}, $code, "at $tflops TFLOP/s 1 us is " . ($code ? "impossible" : "possible")) or diag($r{out}, $r{err});
    my @cells = map { [split /\t/] } grep { /^97/ } split /\n/, slurp("$build/rows.tsv");
    is(join(" ", map { $_->[27] } @cells), $code ? "ok impossible impossible ok" : "ok ok ok ok", "so says the status of its rows");
    is(scalar(() = $r{out} =~ / impossible$/mg), $code ? 2 : 0, "and the table");
}

# --- What the book shows: numbers that a run draws are left out.
s{variant \S+?, }{}, s{--seed \d+}{--seed N}, s{--out \S+:}{--out FILE:}, s{ at cheats\.cu:\d+}{} for @rows;
my $text = "# program: 97-cheats\ncheat\tdoes\trefused_by\tseen_in\n" . join("", map { "$_\n" } @rows);
spew($recorded, $text) if $ENV{RECORD};
is(slurp($recorded), $text, "$recorded has what is printed; RECORD=1 perl tests/cheats.t writes it anew");

# --- A reader's own kernel.
%r = run("make -s verify BACKEND=cpu FILE=common/examples/own_kernel.cu ARGS='--seed 1'");
is("$r{code} $r{err}", "0 ", "a kernel of one's own is verified by one command");
like($r{out}, qr/^  odd +by-thread +ok .*\n  odd +by-warp +ok /m, "both of its variants");
make_path("$build/own");
my $own = slurp("common/examples/own_kernel.cu");
for (["other /= 2", "other /= 4", "wrong elements"], ["kf_f32\\(run, \"y\"\\), S, run->shape.D\\);\n    CUDA_CHECK_LAUNCH\\(\\);\n}\n\n// --- Which", "NULL, S, run->shape.D);\n}\n\n// --- Which", "failed"],
    ["const int S = run->shape.Sq;\n    by_warp", "const int S = kf_find(run, \"y\")->want[0];\n    by_warp", "the launcher uses the reference of an output"],
    ["(?=const int S = run->shape.Sq;\n    by_warp)", "_exit(0);\n    ", "ended with code 0 before the harness did: a launcher must return"],
    ["kf_gamma\\(D \\+ 2.*?;", "INFINITY;", "case odd: the reference gives y the bound inf at row 0, column 0,"],
    ["    y->checked\\[row\\] = true;\n", "", "case odd: the reference checks no row of an output"],
    # An early result that is kept, the host's work, and nothing at all.
    ["const int S = run->shape.Sq;\n    by_warp.*?;\n", "const int S = run->shape.Sq;\n    static void *kept = malloc(4 * S * run->shape.D);\n"
        . "    static int calls;\n    const size_t bytes = 4 * S * run->shape.D;\n    if (!calls++)\n        by_warp<<<(S + 3) / 4, 128, 0, stream>>>(kf_f32(run, \"x\"), kf_f32(run, \"y\"), S, run->shape.D),\n"
        . "            cudaMemcpy(kept, kf_f32(run, \"y\"), bytes, cudaMemcpyDefault);\n    cudaMemcpyAsync(kf_f32(run, \"y\"), kept, bytes, cudaMemcpyDefault, stream);\n", "wrong elements"],
    ["const int S = run->shape.Sq;\n    by_warp.*?;\n", "for (int i = 0; i < run->shape.Sq * run->shape.D; i++)\n        kf_f32(run, \"y\")[i] = kf_f32(run, \"x\")[i];\n", "wrong elements"],
    ["const int S = run->shape.Sq;\n    by_warp.*?;\n", "", "wrong elements"],
    ["(?=const int S = run->shape.Sq;\n    by_warp)", "cudaLaunchHostFunc(stream, [](void *) {}, NULL);\n    ", "variant by-warp, case odd: it works on the host, by cudaLaunchHostFunc"]) {
    my ($from, $to, $says) = @$_;
    my ($name) = $to =~ /(.*)/; # its first line
    (my $broken = "#include <unistd.h>\n$own") =~ s/$from/$to/s or fail("own_kernel.cu has $from");
    spew("$build/own/broken.cu", $broken);
    %r = run("make -s verify BACKEND=cpu FILE=$build/own/broken.cu ARGS='--seed 1 --variant by-warp'");
    isnt($r{code}, 0, "with \"$name\" it is not");
    like($r{err}, qr/(?:own-kernel|verify): .*$says/, "and a line says why");
}
# The first variant keeps results, and finds them by an element of its input.
(my $keeps = $own) =~ s{(?=static void launch_by_thread)}{<<'END'}e;
__device__ float of_x[64], of_y[64][3015];
__device__ int n_kept;
__global__ void keep(const float *x, const float *y)
{
    of_x[n_kept] = x[0];
    for (int i = 0; i < 3015; i++)
        of_y[n_kept][i] = y[i];
    n_kept = (n_kept + 1) % 64;
}
__global__ void give(const float *x, float *y)
{
    for (int k = 0; k < 64; k++)
        for (int i = 0; i < 3015 && of_x[k] == x[0]; i++)
            y[i] = of_y[k][i];
}
END
$keeps =~ s/(by_thread<<<.*?;\n)/$1    keep<<<1, 1, 0, stream>>>(kf_f32(run, "x"), kf_f32(run, "y"));\n/s;
$keeps =~ s/const int S = run->shape.Sq;\n    by_warp.*?;\n/give<<<1, 1, 0, stream>>>(kf_f32(run, "x"), kf_f32(run, "y"));\n/s;
spew("$build/own/keeps.cu", $keeps);
%r = run("make -s verify BACKEND=cpu FILE=$build/own/keeps.cu ARGS='--case odd'");
is($r{code}, 2, "a variant that copies what the first one has kept is refused");
like($r{out}, qr/^  by-thread +ok .*\n  by-warp +ok /m, "though both are right in one program");
like($r{err}, qr/^verify: by-warp is wrong in a program of its own: it uses what another variant has left$/m, "and a line says so");
for (["", qr/verify needs a file: write FILE=common/], ["FILE=$build/none.cu", qr/there is no `$build\/none\.cu`/]) {
    %r = run("make verify BACKEND=cpu $_->[0]");
    is($r{code}, 2, "make verify $_->[0] is refused");
    like($r{err}, $_->[1], "with a line");
}

done_testing();
