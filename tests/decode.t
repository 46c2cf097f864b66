#!/usr/bin/env perl
# Step 15 has kernels for heads of 80 and of 128 and for 1, 2 or 4 queries. All else it refuses, in one
# line, whatever the variant: a kernel of another width would compute something. And it shares keys out
# among as many blocks as a GPU of any size holds, not only among those that a CPU is given.
# Reads: common tests/decode steps/15-decode plots/data
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my %r = run("make -s programs BACKEND=cpu");
is($r{code}, 0, "the CPU backend is built") or BAIL_OUT($r{err});
chomp(my $cpu = $r{out});
my $dir = scratch_dir();
my $cudacc = "common/cpu/cudacc -O0 -g0 -fno-exceptions -Wall -Wextra -Werror -Icommon";
my ($program, $shares) = map {
    %r = run("$cudacc tests/decode/$_.cu $cpu/harness/*/*.o $cpu/problems/*.o -o $dir/$_");
    is($r{code}, 0, "$_.cu builds") or BAIL_OUT($r{err});
    "$dir/$_";
} qw(widths shares);

%r = run("$program --seed 1 --case D80-q2 --case D128-q4");
is($r{code}, 0, "80 and 128 it has") or diag($r{out}, $r{err});
my %refused;
%r = run("$program --list");
my @variants = ($r{out} =~ s/.*^variants\n//msr) =~ /^  (\S+)/mg;
cmp_ok(scalar(@variants), ">=", 9, "all variants are there");
for my $case (qw(D128-q3 D64-q2 D96-q2 D160-q4 D64 D96)) {
    my ($D, $queries) = $case =~ /^D(\d+)(?:-q(\d))?$/;
    $queries ||= 1;
    for my $variant (@variants) {
        my $per_query = $variant =~ /per-query/;
        next if $case eq "D128-q3" && $per_query; # a query a block is what it has
        %r = run("$program --seed 1 --case $case --variant $variant");
        next if $r{code} == 2 && $r{err} =~ /: no variant chosen takes this case; it is taken by /;
        my $asked = $per_query ? 1 : $queries;
        is($r{err}, "15-decode: case $case: D = $D and $asked queries; D of 80 or 128 and 1, 2 or 4 are "
            . "right\n", "$variant refuses $case, in a line");
        is($r{code}, 1, "and fails") or diag($r{out});
        $refused{$variant}{$D} = 1;
    }
}
is(join(" ", grep { !$refused{$_}{96} || !$refused{$_}{64} } @variants), "",
    "each has been asked for 64 and for 96");

# A kernel of another width does not compile.
my %reason = (96 => "a row of D floats does not fill the lanes' chunks", 64 => "a lane has both chunks of a pair");
for my $D (sort keys %reason) {
    spew("$dir/$D.cu", "#include \"../steps/15-decode/row_chunks.cuh\"\nint main()\n{\n    return row_layout<$D>::SLOTS;\n}\n");
    %r = run("$cudacc -c $dir/$D.cu -o $dir/$D.o");
    like($r{err}, qr/static assertion failed.*\Q$reason{$D}\E/, "a row of $D does not compile");
}

%r = run($shares);
like($r{out}, qr/^\d{5} shares are right\n\z/, "shares have each key once, and part and stat hold them");
is($r{code}, 0, "at all sizes of a device") or diag($r{err});
%r = run("CUDACPU_WORKERS=32 $shares --seed 1");
is($r{code}, 0, "small cases are right on 32 multiprocessors") or diag($r{out}, $r{err});
like($r{out}, qr/^  most +separate +ok /m, "also with as many shares as there may be");

done_testing();
