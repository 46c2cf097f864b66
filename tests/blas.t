#!/usr/bin/env perl
# cuBLAS on a CPU, where there is OpenBLAS.
# Reads: common/cuda common/harness tests/cpu
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Backend;
use Workbook;

SKIP: {
    my ($out, $rc) = output("$cudacc -O1 -Wall -Wextra -Werror tests/cpu/blas.cu -lcublas -o $dir/blas");
    skip 'no OpenBLAS', 8 if $rc == 2 && $out =~ /needs OpenBLAS/;
    is("$rc $out", '0 ', 'blas compiles without a word, with -lcublas');
    ($out, $rc) = output("$dir/blas");
    like("$rc $out", qr/^0 \d+ checks, 0 failed$/, 'cuBLAS') or diag($out);
    my $calls = "#include <cublas_v2.h>\nint main()\n{\n    cublasHandle_t h;\n    float *a, *y, one = 1;\n"
        . "    cublasCreate(&h);\n    cudaMalloc(&a, 64);\n    cudaMalloc(&y, 16);\n%s"
        . "    cublasDestroy(h);\n    return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 3 : 0;\n}\n";
    my $past = sprintf $calls, "    cublasSscal(h, 5, &one, y, 1);\n"
        . "    if (cublasSscal(h, 1, &one, (float *)16, 1) != CUBLAS_STATUS_EXECUTION_FAILED)\n        return 4;\n";
    source($past);
    ($out, $rc) = output("$dir/prog");
    is("$rc $out", "3 cublasSscal: x has 20 bytes, of which 4 lie past the end of its allocation of 16 bytes\n",
        'a vector that leaves its allocation; after it no call runs');
    if (@traced) {
        ($out, $rc) = source($past, '', '--check');
        ($out, $rc) = output("$dir/prog 2>&1 | grep -v leak | sed 's,$dir/,,g'");
        is($out, "out of bounds: x of cublasSscal has 20 bytes; it lies at offset 0 of the allocation of file.cu:8 "
                . "(16 bytes); called at file.cu:9\ncheck: 1 finding: out of bounds; 2 warnings\n", 'and with --check');
        source(sprintf($calls, "    for (int i = 0; i < 2; i++)\n        cublasSscal(h, 4, &one, a + 8 * i, 2);\n"), '', '--check');
        ($out, $rc) = output("$dir/prog 2>&1 | grep -v leak | sed 's,$dir/,,g'");
        is($out, "uninitialised read: cublasSscal reads what was never written of x; it lies at offset 0 of the allocation of "
                . "file.cu:7 (64 bytes); called at file.cu:10 (2 times)\ncheck: 1 finding: uninitialised read; 2 warnings\n", 'what nobody has written, once for all calls of a line');
        source(sprintf($calls, "    cublasSaxpy(h, 4, &one, a, 1, y, 1);\n"), '', '--check');
        ($out, $rc) = output("$dir/prog 2>&1 | grep -v leak | sed 's,$dir/,,g'");
        is($out, join('', map { "uninitialised read: cublasSaxpy reads what was never written of $_; called at file.cu:9\n" }
            'x; it lies at offset 0 of the allocation of file.cu:7 (64 bytes)', 'y; it lies at offset 0 of the allocation of file.cu:8 (16 bytes)')
            . "check: 2 findings of 1 rule: uninitialised read; 2 warnings\n", 'of each vector');
        source(sprintf($calls, "    cudaMemset(a, 0, 64);\n    cublasScopy(h, 4, a, 2, y, 1);\n    cublasSscal(h, 4, &one, y, 1);\n"),
            '', '--check');
        ($out, $rc) = output("$dir/prog 2>&1 | grep -v leak | sed 's,$dir/,,g'");
        is($out, "check: no kernel ran, 2 warnings\n", 'what cuBLAS writes is written');
    }
    output("cp -r " . ($ENV{CUDACPU_BUILD} // "$root/build/cpu/$cxx[0]") . " $dir/build && rm -rf $dir/build/stamp-blas $dir/build/programs && mkdir $dir/bin");
    spew("$dir/bin/pkg-config", "#!/bin/sh\n[ \$1 = --exists ] || echo -lno-such-blas\n");
    chmod 0755, "$dir/bin/pkg-config";
    ($out, $rc) = source($past, "CUDACPU_BUILD=$dir/build PATH=$dir/bin:\$PATH");
    like("$rc $out", qr/\A2 cudacc: a program that calls cuBLAS needs OpenBLAS, which is not found: install libopenblas-dev [^\n]*\n\z/,
        'without OpenBLAS there is a line');
}

done_testing();
