#!/usr/bin/env perl
# cuda::barrier and cuda::pipeline, and nvcuda::wmma, on the CPU: results in each order of threads, whenever copies
# take effect; what the instruments say. The faults that check finds are in check/.
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my $dir = scratch_dir();
my $cudacc = "../../common/cpu/cudacc";
my %cc = ("g++" => "gcc", "clang++" => "clang");
my @cxx = grep { have($_) } qw(g++ clang++);
delete @ENV{qw(CUDACPU_ORDER CUDACPU_ASYNC CUDACPU_SEED CUDACPU_WORKERS)};
my @programs = qw(stages wmma);

# Compiles a program; says so if there was a word.
sub build {
    my ($name, $cxx, $option) = @_;
    my %r = run("cd tests/cpu && CXX=$cxx CC=$cc{$cxx} $cudacc $option -O1 -Wall -Wextra -Werror $name.cu -o $dir/$name-$cxx$option");
    is("$r{code} $r{out}$r{err}", "0 ", "$name, $cxx $option compiles without a word");
    return "$dir/$name-$cxx$option";
}

for my $variant ((map { [$_, ""] } @cxx), [$cxx[0], "--portable"]) {
    my ($stages, $wmma) = map { build($_, @$variant) } $variant->[1] ? "stages" : @programs;
    for my $order (qw(forward reverse random)) {
        for my $async (qw(late early random)) {
            my %r = run("timeout 60 $stages", CUDACPU_ORDER => $order, CUDACPU_ASYNC => $async);
            ok($r{code} == 0 && $r{out} =~ /^\d+ checks, 0 failed$/m, "stages, @$variant, $order, copies $async")
                or diag($r{out}, $r{err});
        }
        next if !$wmma;
        my %r = run("timeout 60 $wmma", CUDACPU_ORDER => $order);
        ok($r{code} == 0 && $r{out} =~ /^\d+ checks, 0 failed$/m, "wmma, @$variant, $order") or diag($r{out}, $r{err});
    }
}

SKIP: {
    skip "the instruments need g++", 1 if $cxx[0] ne "g++";
    for my $name (@programs) {
        my $checked = build($name, "g++", "--check");
        for my $order (qw(forward reverse random)) {
            my %r = run("timeout 120 $checked", CUDACPU_ORDER => $order);
            ok($r{code} == 0 && $r{err} =~ /^check: no findings/m && $r{out} =~ /, 0 failed$/m,
                "check finds nothing in $name, $order") or diag($r{out}, $r{err});
        }
    }
    # A stage of staged is 64 numbers, of thread_pipeline<3> 64 of 16 bytes, and there are 5 of each.
    my %r = run("timeout 60 " . build("stages", "g++", "--count"));
    like($r{out}, qr/^cp_async_bytes +0 +0 +1280 +128$/m, "copies for a barrier are counted");
    like($r{out}, qr/^cp_async_bytes +5120 +5120 +1280 +1280$/m, "and those of a pipeline");
    # Two warps, two products, eight layouts: of 16 bits and of bytes five pairs of types, three shapes and two mma
    # of 4096 flops each; of tf32 two mma of 2048; of doubles one of 512.
    %r = run("timeout 60 " . build("wmma", "g++", "--count"));
    my %mma = map { /^mma(_flops)? +([\d ]+)$/ ? ($1 // "" => [split " ", $2]) : () } split /\n/, $r{out};
    is("@{$mma{''}}[0] @{$mma{_flops}}[0]", 32 * (5 * 3 * 2 + 2 + 1) . " " . 32 * (5 * 3 * 2 * 4096 + 2 * 2048 + 512), "mma is counted") or diag($r{out});
    unlike($r{out}, qr/^local_/m, "fragments are no memory");
}
done_testing();
