#!/usr/bin/env perl
# cuda::barrier and cuda::pipeline, nvcuda::wmma, and the toolkit's libcu++ where there is a toolkit, on the CPU:
# results in each order of threads, whenever copies take effect; what the instruments say. The faults that check finds
# are in check/.
# Reads: common/cuda common/harness tests/cpu tests/check tests/async-faults tests/ptx
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Backend;
use Workbook;

my @programs = qw(stages wmma);
for my $variant ((map { [$_] } @cxx), [$cxx[0], "--portable"]) {
    my ($stages, $wmma) = build(map { [$_, @$variant] } $variant->[1] ? "stages" : @programs);
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
    skip "the instruments need g++", 1 if !@traced;
    for my $name (@programs) {
        my ($checked) = build([$name, "g++", "--check"]);
        for my $order (qw(forward reverse random)) {
            my %r = run("timeout 120 $checked", CUDACPU_ORDER => $order);
            ok($r{code} == 0 && $r{err} =~ /^check: no findings/m && $r{out} =~ /, 0 failed$/m,
                "check finds nothing in $name, $order") or diag($r{out}, $r{err});
        }
    }
    # A stage of staged is 64 numbers, of thread_pipeline<3> 64 of 16 bytes, and there are 5 of each.
    my ($stages, $wmma) = build(map { [$_, "g++", "--count"] } @programs);
    my %r = run("timeout 60 $stages");
    like($r{out}, qr/^cp_async_bytes +0 +0 +1280 +128$/m, "copies for a barrier are counted");
    like($r{out}, qr/^cp_async_bytes +5120 +5120 +1280 +1280$/m, "and those of a pipeline");
    # Two warps, two products. Of 16 bits and of bytes, three shapes of two mma with 4096 flops, one pair of types in
    # eight layouts and four in four; in eight tf32, two mma of 2048, and doubles, one of 512.
    %r = run("timeout 60 $wmma");
    my %mma = map { /^mma(_flops)? +([\d ]+)$/ ? ($1 // "" => [split " ", $2]) : () } split /\n/, $r{out};
    is("@{$mma{''}}[0] @{$mma{_flops}}[0]", 4 * (144 + 16 + 8) . " " . 4 * (144 * 4096 + 16 * 2048 + 8 * 512), "mma is counted") or diag($r{out});
    unlike($r{out}, qr/^local_/m, "fragments are no memory");
}

# Rows that are not as the hardware can load them are a line.
spew("$dir/odd.cu", "#include <mma.h>\n__global__ void k(const half *p)\n{\n    using namespace nvcuda::wmma;\n"
    . "    fragment<matrix_a, 16, 16, 16, half, row_major> a;\n    load_matrix_sync(a, p, 20);\n}\nint main()\n{\n"
    . "    half *p;\n    cudaMalloc(&p, 2048);\n    k<<<1, 32>>>(p);\n    return cudaDeviceSynchronize();\n}\n");
my %r = run("$cudacc $dir/odd.cu -o $dir/odd && $dir/odd");
like($r{err}, qr/^kernel k .*: load_matrix_sync needs an address and rows that are multiples of 16 bytes \(\S*odd\.cu:6\)$/,
    "a stride that is no multiple of 16 bytes");

# Without a toolkit its headers are a line, and ours need none.
spew("$dir/atomic.cu", "#include <cuda/barrier>\n#include <cuda/std/atomic>\nint main()\n{\n}\n");
spew("$dir/ours.cu", "#include <cuda/pipeline>\n#include <mma.h>\nint main()\n{\n}\n");
spew("$dir/ptx.cu", "#include <cuda/ptx>\nint main()\n{\n}\n");
%r = run("CUDA_HOME=/nowhere $cudacc $dir/atomic.cu -o $dir/atomic");
is("$r{code} $r{err}", "2 $dir/atomic.cu:2: header <cuda/std/atomic> comes with the CUDA toolkit, which is not in /nowhere\n",
    "a header of a toolkit that is not there");
%r = run("CUDA_HOME=/nowhere $cudacc $dir/ours.cu -o $dir/ours");
is("$r{code} $r{err}", "0 ", "ours need no toolkit");

SKIP: {
    %r = run("$cudacc $dir/atomic.cu -o $dir/atomic");
    skip "the toolkit's headers are not here", 1 if $r{err} =~ /comes with the CUDA toolkit/;
    is("$r{code} $r{err}", "0 ", "after a header of ours, atomics of the toolkit");
    %r = run("$cudacc $dir/ptx.cu -o $dir/ptx");
    like("$r{code} $r{err}", qr/^2 \S+ptx\.cu:1: header <cuda\/ptx> is not supported by the CPU backend/, "<cuda/ptx> is a line");
    for my $cxx (@cxx) {
        my ($portable) = build(["portable", $cxx]);
        for my $order (qw(forward reverse random)) {
            my %r = run("timeout 60 $portable", CUDACPU_ORDER => $order, CUDACPU_WORKERS => 1);
            ok($r{code} == 0 && $r{out} =~ /^\d+ checks, 0 failed$/m, "the toolkit's libcu++, $cxx, $order")
                or diag($r{out}, $r{err});
        }
    }
    skip "the instruments need g++", 1 if !@traced;
    my ($counted, $checked) = build(map { ["portable", "g++", $_] } @traced);
    %r = run("timeout 60 $checked");
    ok($r{code} == 0 && $r{err} =~ /^check: no findings/m, "check finds nothing in portable") or diag($r{out}, $r{err});
    %r = run("timeout 60 $counted");
    # An addition of each of eight warps; fetch_max is a loop. Two blocks take a ticket, three times, and one adds once.
    my @atomics = map { split " " } $r{out} =~ /^global_atomic_requests +([\d ]+)$/mg;
    ok(@atomics == 7 && $atomics[0] == 0 && $atomics[1] > 8 && $atomics[3] == 2 && $atomics[4] == 3 && $atomics[5] == 2, "atomics are counted") or diag($r{out});
    # A message whose flag is set or read without an order is a race.
    for my $order ("flag->store(1, cuda::memory_order_release)", "flag->load(cuda::memory_order_acquire)",
        "flag->fetch_add(1, cuda::memory_order_release)") {
        my $text = slurp("tests/cpu/portable.cu") =~ s{"check.h"}{"tests/cpu/check.h"}r;
        my $relaxed = $order =~ s/release|acquire/relaxed/r;
        $text =~ s/\Q$order\E/$relaxed/ or die $order;
        spew("$dir/relaxed.cu", $text);
        %r = run("$cudacc --check -I. $dir/relaxed.cu -o $dir/relaxed && timeout 60 $dir/relaxed");
        like($r{err}, qr/^global race: .* in kernel (?:added_)?message\b/m, "check finds $relaxed") or diag($r{out});
    }
}
done_testing();
