#!/usr/bin/env perl
# nvcc compiles every program, warnings as errors. No device is needed. For sm_90a, and for the architecture that
# its header says it needs, and for none below that: each takes its time. `make test` compiles one step in
# six and one planted fault in four, by its seed.
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my %nvcc = run("sh common/make/gpu/gpu.sh nvcc");
plan skip_all => $1 if $nvcc{out} =~ /^- (.*)/;
my ($nvcc) = split " ", $nvcc{out};

my @programs = drawn(6, map { m{/(\d\d)-} ? "step-$1" : () } glob("steps/[0-9][0-9]-*/*.cu"));
my %r = run("make -j2 cuda @programs ARCH=90a");
is($r{code}, 0, "make cuda compiles them") or diag($r{out}, $r{err});
my $steps = "@programs";
push @programs, "ceilings";
for my $program (@programs) {
    ok(-x "build/cuda/$program", "build/cuda/$program is there");
}
%r = run("make -j2 cuda $steps ARCH=90a");
unlike($r{out}, qr/^nvcc /m, "a second make cuda compiles nothing");
# What a header says is the least that is right.
my %below = (80 => 75, 90 => 80, "90a" => 90);
my %asks = map { $_ => 1 } older_steps();
ok(%asks, "some steps ask for the architecture");
for my $source (map { glob("steps/" . s/step-//r . "-*/*.cu") } grep { /^step/ } @programs) {
    my $needs = architecture($source);
    my $command = "$nvcc -std=c++17 -O3 -Icommon -c $source -o /dev/null -Werror all-warnings -arch=sm_";
    for my $arch ($needs eq "90a" ? () : $needs, $needs eq "75" && $asks{$source} ? "80" : ()) {
        %r = run("$command$arch");
        is($r{code}, 0, "$source compiles for sm_$arch") or diag($r{out}, $r{err});
    }
    next if !$below{$needs};
    %r = run("$command$below{$needs}");
    like("$r{code} $r{err}", qr/^[1-9]\d* .*(?:requires \.target sm_|not supported on \.target)/s,
        "$source: sm_$below{$needs} lacks its instructions, so its header asks for $needs");
}

# So do the programs with planted faults: compute-sanitizer is tried on them. stmatrix, red of four
# floats and griddepcontrol came with sm_90, and wgmma is sm_90a's.
my $objects = scratch_dir();
my @planted = drawn(4, glob("tests/check/*.cu tests/banks/*.cu"));
%r = run("printf '%s\\n' @planted | xargs -P 2 -I FILE sh -c '$nvcc -std=c++17 "
    . "\$(if grep -q wgmma FILE; then echo -gencode=arch=compute_90a,code=sm_90a; "
    . "elif grep -q \"stmatrix\\|add_to_4\\|bulk\\|griddep\" FILE; then echo -arch=sm_90; "
    . "else echo -arch=sm_80; fi) -c FILE "
    . "-o $objects/\$(basename FILE).o -Werror all-warnings'");
is($r{code}, 0, "the planted faults are compiled") or diag($r{out}, $r{err});
ok(-e "$objects/" . s{.*/}{}r . ".o", "$_ is compiled") for @planted;

# So do those of the backend's tests that are right on a GPU too. (groups.cu is one, and takes minutes.)
my @both = drawn(3, map { "tests/cpu/$_.cu" }
    qw(arch blas children fast graphs judged names rare sides stages texture wmma));
%r = run("printf '%s\\n' @both | xargs -P 2 -I FILE $nvcc -std=c++17 --extended-lambda -arch=sm_90 -rdc=true -Icommon "
    . "-w -c FILE --output-directory $objects");
is($r{code}, 0, "@both: nvcc compiles them") or diag($r{out}, $r{err});

# A warning in a kernel or in host code is an error.
my $tree = small_tree();
%r = run("cd '$tree' && make -n cuda");
like($r{out}, qr/arch=compute_$_,code=sm_$_\b/, "for sm_$_") for qw(75 80 90a);
like($r{out}, qr/-Werror all-warnings/, "warnings as errors");
my %warns = (
    "a kernel" => ["__global__ void k() { int unused = 3; }\n", ""],
    "host code" => ["", "    int signed_one = -1;\n    return sizeof(int) > signed_one;\n"],
);
# Which architectures are the default is seen above.
my $build = "cd '$tree' && make step-01 cuda ARCH=90a";
for my $where (sort keys %warns) {
    my ($include, $main) = @{$warns{$where}};
    tiny_step($tree, "01-warns", "has a warning", $main, include => $include);
    %r = run($build);
    is($r{code}, 2, "a warning in $where fails");
    like($r{err}, qr{steps/01-warns/warns\.cu}, "and its place is named") or diag($r{out}, $r{err});
}
tiny_step($tree, "01-warns", "has none", "    return 0;\n");
# The only other program is as good as made.
spew("$tree/build/cuda/ceilings", "");
%r = run($build);
is($r{code}, 0, "without it nothing fails") or diag($r{err});
ok(-x "$tree/build/cuda/step-01", "and the step is there");

# A step that names the architecture that it needs is compiled for that, or for a newer one if asked.
for my $case (["90", "", "arch=compute_90,code=sm_90 .*arch=compute_90,code=compute_90"], ["90", "ARCH=80", "code=sm_90 "],
    ["90", "ARCH=90a", "code=sm_90a "], ["90a", "", "arch=compute_90a,code=sm_90a "], ["90a", "ARCH=90", "code=sm_90a "],
    ["80", "", "arch=compute_80,code=sm_80 .*code=compute_80 .*code=sm_90a "], ["80", "ARCH=75", "code=sm_80 "],
    ["80", "ARCH=86", "code=sm_86 "], ["75", "", "code=sm_75 .*code=sm_80 .*code=sm_90a "], ["75", "ARCH=75", "code=sm_75 "]) {
    my ($needs, $asked, $flags) = @$case;
    tiny_step($tree, "01-warns", "needs sm_$needs", "    return 0;\n", header => " * Architecture: $needs\n");
    %r = run("cd '$tree' && make -n step-01 cuda $asked");
    my ($command) = $r{out} =~ /^(.*\bwarns\.cu .*-o .*)/m;
    like($command || "", qr/$flags/, "Architecture: $needs, $asked");
    my $older = $needs =~ /^9/ ? qr/sm_(?:75|80)/ : $needs eq "80" ? qr/sm_75/ : qr/sm_7[^5]/;
    unlike($command || "", $older, "and none below");
}

# What ptxas only remarks on makes a program slow: where the architecture is one's own, it fails the build.
my %remarks = (
    none => ["", ""],
    C7508 => ["plant == 8", "setmaxnreg is ignored"],
    C7510 => ["plant == 10", "products of wgmma are made one after the other"],
    C7514 => ["plant == 14", "products of wgmma are made one after the other"],
    C7519 => ["plant == 19", "ptxas puts a wgmma.fence in, which is missing"],
    spill => ["plant == 1", "registers do not suffice"],
);
run("cp common/cuda/*.cuh '$tree/common/cuda/'");
for my $name (sort keys %remarks) {
    my ($plant) = $remarks{$name}[0] =~ /(\d+)/;
    tiny_step($tree, "01-warns", "has a remark", "    return 0;\n", header => " * Architecture: 90a\n",
        include => "#define PLANT " . ($plant // 0) . "\n" . <<'END');
#include "cuda/wgmma.cuh"
__global__ void __launch_bounds__(128, PLANT == 8 ? 0 : PLANT == 1 ? 5 : 1)
    kernel(uint64_t a, uint64_t b, float *y, int n)
{
    float c[16][4] = {};
    float more[64];
    for (int i = 0; i < 64 && PLANT == 1; i++) {
        more[i] = y[i * n];
    }
    if (PLANT == 8) {
        give_up_registers<24>();
    }
    for (int i = 0; i < n; i++) {
        hold(c);
        if (PLANT != 19) {
            wgmma_fence();
        }
        wgmma<0, 0>(c, a, b, 1);
        wgmma_commit();
        if (PLANT == 10) {
            printf("%d\n", i);
        }
        if (PLANT == 14) {
            y[i] = c[0][0];
        }
        wgmma_wait<0>();
        hold(c);
        y[i + 1] = c[1][1];
    }
    for (int i = 0; i < 64; i++) {
        y[i] = c[i / 4][i % 4] + (PLANT == 1 ? more[i] : 0.0f);
    }
}
END
    unlink "$tree/build/cuda/step-01";
    %r = run($build);
    if ($name eq "none") {
        is($r{code}, 0, "no remark of ptxas, and it is built") or diag($r{out}, $r{err});
        next;
    }
    is($r{code}, 2, "$name fails the build");
    like($r{err}, qr{^steps/01-warns/warns\.cu: $name: \Q$remarks{$name}[1]\E}m, "and is named") or diag($r{err});
    ok(!-e "$tree/build/cuda/step-01", "$name: no program is made");
}

done_testing();
