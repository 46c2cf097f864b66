#!/usr/bin/env perl
# Libraries of headers that kernels and hosts share: CUB, cuRAND and, where there is a toolkit, its Thrust. Results in
# each order of threads; what the instruments say.
# Reads: tests/cpu
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Backend;
use Workbook;

# Without a toolkit a header of Thrust is a line.
spew("$dir/thrust.cu", "#include <thrust/device_vector.h>\nint main()\n{\n}\n");
my %r = run("CUDA_HOME=/nowhere $cudacc $dir/thrust.cu -o $dir/thrust");
is("$r{code} $r{err}", "2 $dir/thrust.cu:1: header <thrust/device_vector.h> comes with the CUDA toolkit, which is not in /nowhere\n",
    "a header of a toolkit that is not there");
%r = run("$cudacc $dir/thrust.cu -o $dir/thrust");
my $has_thrust = $r{err} !~ /comes with the CUDA toolkit/;
is("$r{code} $r{err}", "0 ", "Thrust of the toolkit") if $has_thrust;
my @programs = (qw(cub random), $has_thrust ? "thrust" : ());

for my $cxx (@cxx) {
    for my $program (build(map { [$_, $cxx] } @programs)) {
        for my $order (qw(forward reverse random)) {
            my %r = run("timeout 100 $program", CUDACPU_ORDER => $order);
            ok($r{code} == 0 && $r{out} =~ /^\d+ checks, 0 failed$/m, "$program, $order") or diag($r{out}, $r{err});
        }
    }
}

SKIP: {
    skip "the instruments need g++", 1 if !@traced;
    for my $program (build(map { [$_, "g++", "--check"] } @programs)) {
        my %r = run("timeout 200 $program", CUDACPU_LEAKS => 0);
        ok($r{code} == 0 && $r{err} =~ /^check: no findings/m && $r{out} =~ /, 0 failed$/m, "check finds nothing in $program")
            or diag($r{out}, $r{err});
    }
    # Storage that is used again before all threads are done with it.
    my $again = slurp("tests/cpu/cub.cu") =~ s{"check.h"}{"tests/cpu/check.h"}r;
    $again =~ s/(Reduce\(s\.reduce\)\.Sum\(item\);\n) *__syncthreads\(\);\n/$1/ or die "no barrier";
    spew("$dir/again.cu", $again);
    %r = run("$cudacc --check -I. $dir/again.cu -o $dir/again && timeout 100 $dir/again");
    like($r{err}, qr/^shared race: .* in kernel blocks\b.*\bof s\b/m, "storage of CUB without a barrier") or diag($r{out});
    # Writes of a library past the end of its memory.
    spew("$dir/long.cu", "#include <curand.h>\nint main()\n{\n    float *d;\n    curandGenerator_t g;\n    cudaMalloc(&d, 400);\n"
        . "    curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT);\n    curandGenerateUniform(g, d, 101);\n    cudaFree(d);\n"
        . "    return curandDestroyGenerator(g);\n}\n");
    %r = run("$cudacc --check $dir/long.cu -o $dir/long && $dir/long");
    like($r{err}, qr/^out of bounds: .*curandGenerateUniform/m, "curandGenerateUniform past the end");
    skip "the toolkit's headers are not here", 1 if !$has_thrust;
    spew("$dir/fill.cu", "#include <thrust/device_vector.h>\n#include <thrust/fill.h>\nint main()\n{\n    thrust::device_vector<int> d(64);\n"
        . "    thrust::fill(d.begin(), d.end() + 1, 3);\n}\n");
    %r = run("$cudacc --check $dir/fill.cu -o $dir/fill && $dir/fill");
    like($r{err}, qr/^out of bounds: write .* in kernel thrust::for_each\b/m, "an algorithm of Thrust past the end");
}
done_testing();
