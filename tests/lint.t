#!/usr/bin/env perl
# make lint passes here, and complains about what each of its tools is there to find.
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my %r = run("make lint");
is($r{code}, 0, "make lint passes") or diag($r{out}, $r{err});
like($r{out}, qr/^lint: $_\b.*(fine|skipped)$/m, "$_ ran or was skipped with a word")
    for qw(clang-format cppcheck clang-tidy shellcheck headings launches indices asm holds), "shared headers";

# Planted flaws, one at a time, in a copy that has little else to look at.
my $tree = small_tree();
run("cd '$tree' && rm -r common/harness common/cpu common/make/gpu common/make/reader");
my @planted = (
    ["clang-format", "common/planted.c",
        "int planted(int a);\nint planted(int a) { return   a; }\n"],
    ["cppcheck", "common/planted.c",
        "int planted(void);\nint planted(void)\n{\n    int a[2] = {0, 1};\n    return a[2];\n}\n"],
    ["clang-tidy", "common/planted.c",
        "int planted(int a);\nint planted(int a)\n{\n    if (a == 1)\n        return 1;\n"
        . "    else\n        return 1;\n}\n"],
    ["headings", "common/planted.c",
        "/* --- A heading that is too long for its line\n * ------------------------- Then prose. */\n"],
    ["shared headers", "common/cuda/planted.cuh", "static const int planted = 1;\n"],
    ["shellcheck", "common/planted.sh",
        "#!/bin/sh\nfor f in \$(ls *.c); do\n    rm \$undefined\n"
        . "done\nif [ \$x == 1 ]; then echo; fi\n"],
    map({ ["launches", "steps/00-planted/planted.cu", "static void launch(void)\n{\n$_}\n"] }
        "    f<<<1, 1>>>();\n",
        "    f<<<1, 1>>>();\n    f<<<1, 1>>>();\n    CUDA_CHECK_LAUNCH();\n",
        "    f<<<1, 1>>>();\n    CUDA_CHECK(cudaFree(0));\n    CUDA_CHECK_LAUNCH();\n",
        "    if (a) {\n        f<<<1, 1>>>();\n        return;\n    }\n    CUDA_CHECK_LAUNCH();\n",
        "    cudaLaunchKernelEx(&c, f);\n"),
    map({ ["indices", "steps/00-planted/planted.cu", "static void index(void)\n{\n    const $_;\n}\n"] }
        'int64_t i = blockIdx.x * blockDim.x + threadIdx.x',
        'int64_t row = (blockIdx.y * S + i) * D',
        "int row = blockIdx.x * 8 + i;\n    s += row * S",
        "int row = blockIdx.x;\n    const float *query = q + (head * S + row) * D",
        "unsigned row = (int64_t)blockIdx.x * 8;\n    o[row * D + d] = sum"),
    map({ ["asm", "steps/00-planted/planted.cuh", "static void touch(int x)\n{\n    asm $_;\n}\n"] }
        'volatile("st.shared.b32 [%0], %0;" : : "r"(x))',
        'volatile("bar.sync 1, 128;")',
        'volatile("wgmma.wait_group.sync.aligned 0;")',
        '("cp.async.wait_all;" ::: "memory")'),
    # Sums that are read behind a wait, in front of the right one, in the next round, of a function that
    # starts a product; and that are written in front of a product that adds.
    map({ ["holds", "steps/00-planted/planted.cuh", "static void add(float (&c)[8][4])\n{\n    wgmma<0, 0>(c, 0, 0, 1);\n}\n\n"
            . "static void multiply(void)\n{\n    float c[8][4] = {};\n    hold(c);\n$_}\n"] }
        "    wgmma<0, 0>(c, 0, 0, 1);\n    wgmma_commit();\n    wgmma_wait<0>();\n    use(c);\n",
        "    add(c);\n    wgmma_commit();\n    wgmma_wait<1>(); // for the one before\n    hold(c);\n    use(c);\n",
        "    for (;;) { // rounds\n        store(c);\n        hold(c);\n        add(c);\n        wgmma_commit();\n"
            . "        wgmma_wait<0>();\n    }\n",
        "    use(c);\n    add(c);\n"),
);
for (@planted) {
    my ($tool, $file, $text) = @$_;
    spew("$tree/$file", $text);
    my %r = run("cd '$tree' && git init -q . 2>/dev/null; make lint");
    unlink "$tree/$file";
  SKIP: {
        skip "$tool is skipped here", 3 if $r{out} =~ /^lint: $tool .*skipped$/m;
        is($r{code}, 2, "$tool: a planted flaw fails lint");
        # clang-format's report of places is left out, and the file stands in that line.
        my $where = $tool eq "clang-format" ? qr/.*: \Q$file\E/ : qr/: see above/;
        like($r{out}, qr/^lint: $tool complains$where$/m,
            "$tool: and it is named") or diag($r{out}, $r{err});
        like("$r{out}$r{err}", qr{\b\Q$file\E\b}, "$tool: with its file") or diag($r{out}, $r{err});
    }
}
done_testing();
