#!/usr/bin/env perl
# make lint passes here, and complains about what each of its tools is there to find.
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

# Of what a tool reads file by file, only the files that it has not seen to be right are given to it: with the
# headers that they may include, if it compiles them. `make test` gives cppcheck and clang-tidy
# some of the C files, by its seed, and those that have changed.
my ($script, $flags) = ("common/make/build/lint.sh", "common/make/build/build.mk");
my @headers = sort grep { -f } glob("{common,tests}/{,*/,*/*/,*/*/*/,*/*/*/*/}*.h common/cpu/include/{,*/}*");
my %depends = (
    "clang-format" => [".clang-format"],
    cppcheck => [$flags, @headers],
    "clang-tidy" => [".clang-tidy", $flags, @headers],
    shellcheck => [],
);
my %list = run("make -s lint", LINT_LIST => 1);
my %reads;
push @{ $reads{$1} }, $2 while $list{out} =~ /^(\S+) (\S+)$/mg;
is(join(" ", sort keys %reads), join(" ", grep { have($_) && $list{out} !~ /^lint: $_ here is/m } sort keys %depends),
    "the tools that are here have files to read");
my @known;
for my $tool (sort keys %reads) {
    my @files = @{ $reads{$tool} };
    my %drawn = map { $_ => 1 } $tool =~ /^(?:cppcheck|clang-tidy)$/ ? drawn_parts($tool, "all", @files) : @files;
    my %proof;
    for my $file (@files) {
        my @included = map { "common/$_" } slurp($file) =~ /^#include "([^"]+\.c)"/mg;
        $proof{$file} = proof_of("$tool $file", [$file, $script, @included, @{ $depends{$tool} }], version_of($tool));
    }
    my @new = grep { $drawn{$_} && !is_proven($proof{$_}) } @files;
    my %new = map { $_ => 1 } @new;
    push @known, map { "$tool $_" } @files;
    my $left = scratch_dir() . "/left";
    spew($left, join "", map { $new{$_} ? () : "$tool $_\n" } @files);
    my ($began, $of) = (cpu_seconds(), @files . " files, " . @new . " of them to be read");
    my %r = @new ? run("make lint", LINT_ONLY => $tool, LINT_PROVEN => $left) : (code => 0, out => "lint: $tool: 0 files are fine\n");
    is($r{code}, 0, "$tool: $of") or diag($r{out}, $r{err});
    like($r{out}, qr/^lint: $tool: ${\ scalar @new} files are fine$/m, "$tool says so") or diag($r{out});
    next if $r{code} || $r{out} !~ /fine$/m;
    keep_proof($proof{$_}, "$tool $_", (cpu_seconds() - $began) / @new) for @new;
}
my $known = scratch_dir() . "/known";
spew($known, join "", map { "$_\n" } @known);
my %r = run("make lint", LINT_PROVEN => $known);
is($r{code}, 0, "make lint passes") or diag($r{out}, $r{err});
like($r{out}, qr/^lint: $_: all is fine$/m, "$_ was looked at") for qw(headings phrases launches indices asm fences), "shared headers";
for my $tool (grep { !$reads{$_} } sort keys %depends) {
    like($r{out}, qr/^lint: $tool\b.*skipped$/m, "$tool was skipped with a word");
}

# Planted flaws, those of one tool together, in a copy that has little else to look at. Each is in a file of its
# own, which must be named.
my $n = 0;
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
    ["phrases", "common/planted.c", "/* What is planted. */\n"],
    ["phrases", "common/planted.sh", "#!/bin/sh\n# planted.sh: a copy that is under way\n"],
    ["shared headers", "common/cuda/planted.cuh", "static const int planted = 1;\n"],
    ["shellcheck", "common/planted.sh",
        "#!/bin/sh\nfor f in \$(ls *.c); do\n    rm \$undefined\n"
        . "done\nif [ \$x == 1 ]; then echo; fi\n"],
    map({ ["launches", "steps/00-planted/planted-" . $n++ . ".cu", "static void launch(void)\n{\n$_}\n"] }
        "    f<<<1, 1>>>();\n",
        "    f<<<1, 1>>>();\n    f<<<1, 1>>>();\n    CUDA_CHECK_LAUNCH();\n",
        "    f<<<1, 1>>>();\n    CUDA_CHECK(cudaFree(0));\n    CUDA_CHECK_LAUNCH();\n",
        "    if (a) {\n        f<<<1, 1>>>();\n        return;\n    }\n    CUDA_CHECK_LAUNCH();\n",
        "    cudaLaunchKernelEx(&c, f);\n"),
    map({ ["indices", "steps/00-planted/planted-" . $n++ . ".cu", "static void index(void)\n{\n    const $_;\n}\n"] }
        'int64_t i = blockIdx.x * blockDim.x + threadIdx.x',
        'int64_t row = (blockIdx.y * S + i) * D',
        "int row = blockIdx.x * 8 + i;\n    s += row * S",
        "int row = blockIdx.x;\n    const float *query = q + (head * S + row) * D",
        "unsigned row = (int64_t)blockIdx.x * 8;\n    o[row * D + d] = sum"),
    map({ ["asm", "steps/00-planted/planted-" . $n++ . ".cuh", "static void touch(int x)\n{\n    asm $_;\n}\n"] }
        'volatile("st.shared.b32 [%0], %0;" : : "r"(x))',
        'volatile("bar.sync 1, 128;")',
        'volatile("wgmma.wait_group.sync.aligned 0;")',
        '("cp.async.wait_all;" ::: "memory")'),
    # Sums that are read behind a wait, in front of the right one, in the next round, of a function that
    # starts a product; and that are written in front of a product that adds.
    map({ ["fences", "steps/00-planted/planted-" . $n++ . ".cuh", "static void add(float (&c)[8][4])\n{\n    wgmma<0, 0>(c, 0, 0, 1);\n}\n\n"
            . "static void multiply(void)\n{\n    float c[8][4] = {};\n    fence_registers(c);\n$_}\n"] }
        "    wgmma<0, 0>(c, 0, 0, 1);\n    wgmma_commit();\n    wgmma_wait<0>();\n    use(c);\n",
        "    add(c);\n    wgmma_commit();\n    wgmma_wait<1>(); // for the one before\n    fence_registers(c);\n    use(c);\n",
        "    for (;;) { // rounds\n        store(c);\n        fence_registers(c);\n        add(c);\n        wgmma_commit();\n"
            . "        wgmma_wait<0>();\n    }\n",
        "    use(c);\n    add(c);\n"),
    # Sums that a function is given: left behind its wait, in flight when they are read, and written when they are
    # passed on to a product that adds, by functions that stand behind.
    map({ ["fences", "steps/00-planted/planted-" . $n++ . ".cuh", $_] }
        "static void finish(int stage, float (&c)[8][4])\n{\n    wgmma_wait<0>();\n    release(stage);\n}\n",
        "static void start(int stage, float (&c)[8][4])\n{\n    wgmma<0, 0>(c, stage, 0, 0);\n    wgmma_commit();\n}\n\n"
            . "static void multiply(void)\n{\n    float c[8][4];\n    start(0, c);\n    wgmma_wait<0>();\n    use(c);\n}\n",
        "static void multiply(void)\n{\n    float c[8][4] = {};\n    add_all(0, c);\n}\n\n"
            . "static void add_all(int first, float (&c)[8][4])\n{\n    add(c, first);\n}\n\n"
            . "static void add(float (&c)[8][4], int tile)\n{\n    wgmma<0, 0>(c, tile, 0, 1);\n    wgmma_commit();\n"
            . "    wgmma_wait<0>();\n    fence_registers(c);\n}\n"),
);
my $tree;
for my $tool (sort keys %{ { map { $_->[0] => 1 } @planted } }) {
    my @here = grep { $_->[0] eq $tool } @planted;
    my @rules = (glob("common/make/build/*.awk common/make/build/phrases.txt"), ".clang-format", ".clang-tidy", "Makefile", $flags, $script);
    proved("$tool: planted flaws", \@rules, have($tool) ? version_of($tool) : "", sub {
        if (!$tree) {
            $tree = small_tree();
            run("cd '$tree' && rm -r common/harness common/cpu common/make/gpu common/make/reader && git init -q .");
        }
        spew("$tree/$_->[1]", $_->[2]) for @here;
        # A file that is known to be right is not read, and no other is left out with it.
        my ($other, $file, $text) = ("", $here[0][1], $here[0][2]);
        if ($depends{$tool}) {
            $other = $file =~ s/planted/known/r;
            spew("$tree/$other", $text);
            spew("$tree/build/proven", "$tool $other\n");
        }
        my %r = run("cd '$tree' && make lint", LINT_ONLY => $tool, LINT_PROVEN => $other && "build/proven");
        unlink map { "$tree/$_" } $other || (), map { $_->[1] } @here;
      SKIP: {
            skip "$tool is skipped here", 1 if $r{out} =~ /^lint: $tool .*skipped$/m;
            is($r{code}, 2, "$tool: a planted flaw fails lint");
            # clang-format's report of places is left out, and the file stands in that line.
            my $where = $tool eq "clang-format" ? qr/.*: \Q$file\E/ : qr/: see above/;
            like($r{out}, qr/^lint: $tool complains$where$/m, "$tool: and it is named") or diag($r{out}, $r{err});
            for (@here) {
                my $flawed = $_->[1];
                like("$r{out}$r{err}", qr{\b\Q$flawed\E\b}, "$tool: with its file, $flawed") or diag($r{out}, $r{err});
            }
            unlike("$r{out}$r{err}", qr{\b\Q$other\E\b}, "$tool: what it need not read is not read") if $other;
        }
    });
}
done_testing();
