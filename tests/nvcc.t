#!/usr/bin/env perl
# nvcc compiles every program, warnings as errors. No device is needed. Each step is compiled for the architecture
# that its header says it needs, and where that may make a difference for newer ones; for none below that.
# `make test` compiles some steps and planted faults, by its seed, for their own architecture; it links nothing, for
# which 45 files of the harness would have to be compiled.
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my %nvcc = run("sh common/make/gpu/gpu.sh nvcc");
plan skip_all => $1 if $nvcc{out} =~ /^- (.*)/;
my ($nvcc) = split " ", $nvcc{out};

my @versions = map { version_of($_) } $nvcc, (split " ", `sh common/make/build/toolchain.sh`)[0, 1];
my @rules = qw(Makefile common/make/build/build.mk common/make/build/ptxas.sh);

# SOURCE and all that it includes of ours, itself or by others.
sub reads {
    my @files = @_;
    my ($folder) = $files[0] =~ m{(.*)/};
    for my $file (@files) {
        for my $name (slurp($file) =~ /^ *# *include *"([^"]+)"/mg) {
            my ($found) = grep { -e } map { "$_/$name" } $file =~ m{(.*)/}, $folder, "common";
            push @files, $found if $found && !grep { $_ eq $found } @files;
        }
    }
    return @files;
}

my %source = steps();
my @steps = map { m{/(\d\d)-} ? ["step-$1", reads($_)] : () } @source{ drawn("nvcc", sort keys %source) };
# Sources that are linked to every step.
my @harness = ["ceilings", sort(glob("common/harness/*/*.c common/harness/*/*.cu common/problems/*.c common/neox/*.c"),
    glob("common/*/*.h common/harness/*/*.h common/*/*.cuh"))];
my $links = !$ENV{TEST_PLAN};
my @programs = $links ? (@harness, @steps) : @steps;
my %proof = map { my ($name, @files) = @$_; $name => proof_of($name, [@files, @rules], @versions) } @programs;
my %linked = map { my ($name, @files) = @$_; $name => proof_of("$name, linked", [@files, @rules], @versions) } @programs;
my @new = grep { !is_proven($linked{$_}) && !(!$links && is_proven($proof{$_})) } map { $_->[0] } @programs;
# Nothing here is as old as 7.5 that needs more: then the one that its header names is taken.
my $make = join " ", "make -k -j2 ARCH=75", map { "build/cuda/$_" } @new;
SKIP: {
    skip "every program drawn was compiled before, and nothing of it has changed", 1 if !@new;
    if ($links) {
        my $began = cpu_seconds();
        my %r = run($make);
        is($r{code}, 0, "make compiles them") or diag($r{out}, $r{err});
        for my $program (@new) {
            ok(-x "build/cuda/$program", "build/cuda/$program is there");
            next if $r{code};
            keep_proof($_->{$program}, $program, (cpu_seconds() - $began) / @new) for \%proof, \%linked;
        }
        %r = run($make);
        unlike($r{out}, qr/^nvcc /m, "a second make compiles nothing");
        next;
    }
    # As make would, and no further than to an object; what make has made already it does not name.
    my %r = run("$make -n V=1");
    my %command = map { m{^(.*nvcc .*) -MMD .* -MF build/cuda/(\S+)\.d (steps/\S+) } ? ($2 => "$1 -c $3") : () }
        split /\n/, $r{out};
    for my $program (@new) {
        my ($began, $command) = (cpu_seconds(), $command{$program});
        my %r = $command ? run("$command -o /dev/null") : (code => -x "build/cuda/$program" ? 0 : 1);
        is($r{code}, 0, "$program is compiled") or diag($r{out}, $r{err});
        keep_proof($proof{$program}, $program, cpu_seconds() - $began) if $r{code} == 0;
    }
}

# Other architectures, and only what is compiled for the device: the host's part is the same. Code may be
# another one for them, of ours or of a header of the toolkit; and what a header says is the least that is right.
# Which instructions there are does not depend on how well they are arranged: -G leaves that out, most of the time.
my %below = (80 => 75, 90 => 80, "90a" => 90);
my %asks = map { $_ => 1 } older_steps();
ok(%asks, "some steps ask for the architecture");
my $device = "$nvcc -std=c++17 -G -Icommon -cubin -o /dev/null -Werror all-warnings";
for my $source ($links ? glob("steps/[0-9][0-9]-*/*.cu") : ()) {
    my $needs = architecture($source);
    my @files = reads($source);
    my $differs = $asks{$source} || $needs eq "90" || grep { slurp($_) =~ /^ *# *include *<(?:mma|cooperative|cuda\/)/m } @files;
    my @newer = $needs eq "90a" || !$differs ? () : $needs eq "75" && $asks{$source} ? qw(80 90a) : "90a";
    for my $arch (@newer) {
        proved("$source for sm_$arch", \@files, @versions, sub {
            my %r = run("$device -arch=sm_$arch $source");
            is($r{code}, 0, "$source compiles for sm_$arch") or diag($r{out}, $r{err});
        });
    }
    next if !$below{$needs};
    proved("$source below sm_$needs", \@files, @versions, sub {
        my %r = run("$device -arch=sm_$below{$needs} $source");
        like("$r{code} $r{err}", qr/^[1-9]\d* .*(?:requires \.target sm_|not supported on \.target)/s,
            "$source: sm_$below{$needs} lacks its instructions, so its header asks for $needs");
    });
}

# So do the programs with planted faults: compute-sanitizer is tried on them. stmatrix, red of four floats and
# griddepcontrol came with sm_90, and wgmma is sm_90a's. -cuda: all but the host's compiler, and g++ sees them in
# other tests.
my $objects = scratch_dir();
for my $source (drawn_parts("faults", "all", glob("tests/check/*.cu tests/async-faults/*.cu tests/banks/*.cu"))) {
    my $text = slurp($source);
    my $arch = $text =~ /wgmma/ ? "90a" : $text =~ /stmatrix|add_to_4|bulk|griddep/ ? "90" : "80";
    proved($source, [reads($source)], @versions, sub {
        my %r = run("$nvcc -std=c++17 -gencode=arch=compute_$arch,code=sm_$arch -cuda $source -o $objects/planted.ii -Werror all-warnings");
        is($r{code}, 0, "$source is compiled") or diag($r{out}, $r{err});
        ok(-e "$objects/planted.ii", "$source: and something is made");
        unlink "$objects/planted.ii";
    });
}

# So do those of the backend's tests that are right on a GPU too. (groups.cu is one, and takes minutes.)
for my $source (drawn_parts("backend", "all", map { "tests/cpu/$_.cu" }
    qw(arch blas children fast graphs judged names rare sides stages texture wmma))) {
    proved($source, [reads($source)], @versions, sub {
        my %r = run("$nvcc -std=c++17 --extended-lambda -gencode=arch=compute_90,code=sm_90 -rdc=true -Icommon -w -cuda $source -o $objects/both.ii");
        is($r{code}, 0, "$source: nvcc compiles it") or diag($r{out}, $r{err});
    });
}

# How build.mk calls nvcc, in a small tree.
proved("the rules", [@rules, "common/make/gpu/gpu.sh", glob("common/cuda/*.cuh")], @versions, \&rules);
done_testing();

sub rules {
    # A warning in a kernel or in host code is an error.
    my $tree = small_tree();
    my %r = run("cd '$tree' && make -n cuda");
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
    my %flags = (
        75 => { "" => "code=sm_75 .*code=sm_80 .*code=sm_90a ", 75 => "code=sm_75 " },
        80 => { "" => "arch=compute_80,code=sm_80 .*code=compute_80 .*code=sm_90a ", 75 => "code=sm_80 ", 86 => "code=sm_86 " },
        90 => { "" => "arch=compute_90,code=sm_90 .*arch=compute_90,code=compute_90", 80 => "code=sm_90 ", "90a" => "code=sm_90a " },
        "90a" => { "" => "arch=compute_90a,code=sm_90a ", 90 => "code=sm_90a " },
    );
    my $number = 2;
    my %step = map { $_ => sprintf "%02d", $number++ } sort keys %flags;
    tiny_step($tree, "$step{$_}-needs", "needs sm_$_", "    return 0;\n", header => " * Architecture: $_\n") for keys %flags;
    for my $asked ("", qw(75 80 86 90 90a)) {
        %r = run("cd '$tree' && make -n cuda " . ($asked && "ARCH=$asked"));
        for my $needs (grep { $flags{$_}{$asked} } sort keys %flags) {
            my ($command) = $r{out} =~ m{^(.* steps/$step{$needs}-needs/needs\.cu .*-o .*)}m;
            like($command || "", qr/$flags{$needs}{$asked}/, "Architecture: $needs, ARCH=$asked");
            my $older = $needs =~ /^9/ ? qr/sm_(?:75|80)/ : $needs eq "80" ? qr/sm_75/ : qr/sm_7[^5]/;
            unlike($command || "", $older, "and none below");
        }
    }
    run("rm -r '$tree'/steps/*-needs");

    # Notes of ptxas that a program will be slow: where the architecture is the header's own, they fail the build.
    # All at once, each in a kernel of its own; then each line that nvcc said by itself.
    my %remarks = (
        C7508 => [8, "setmaxnreg is ignored"],
        C7510 => [10, "products of wgmma are made one after the other"],
        C7514 => [14, "products of wgmma are made one after the other"],
        C7519 => [19, "ptxas puts a wgmma.fence in, which is missing"],
        spill => [1, "registers do not suffice"],
    );
    run("cp common/cuda/*.cuh '$tree/common/cuda/'");
    my $kernel = <<'END';
#include "cuda/wgmma.cuh"
template <int PLANT>
__global__ void __launch_bounds__(128, PLANT == 8 ? 0 : PLANT == 1 ? 5 : 1)
    kernel(uint64_t a, uint64_t b, float *y, int n)
{
    float c[16][4] = {};
    float more[64];
    for (int i = 0; i < 64 && PLANT == 1; i++) {
        more[i] = y[i * n];
    }
    if (PLANT == 8) {
        setmaxnreg_dec<24>();
    }
    for (int i = 0; i < n; i++) {
        fence_registers(c);
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
        fence_registers(c);
        y[i + 1] = c[1][1];
    }
    for (int i = 0; i < 64; i++) {
        y[i] = c[i / 4][i % 4] + (PLANT == 1 ? more[i] : 0.0f);
    }
}
END
    my $remarks = sub {
        my @plants = @_;
        tiny_step($tree, "01-warns", "has a remark", "    return 0;\n", header => " * Architecture: 90a\n", include => $kernel
            . join "", map { "template __global__ void kernel<$_>(uint64_t, uint64_t, float *, int);\n" } @plants);
        unlink "$tree/build/cuda/step-01";
        return run($build);
    };
    %r = $remarks->(0);
    is($r{code}, 0, "no remark of ptxas, and it is built") or diag($r{out}, $r{err});
    %r = $remarks->(map { $_->[0] } values %remarks);
    is($r{code}, 2, "remarks fail the build");
    ok(!-e "$tree/build/cuda/step-01", "no program is made");
    for my $name (sort keys %remarks) {
        like($r{err}, qr{^steps/01-warns/warns\.cu: $name: \Q$remarks{$name}[1]\E}m, "$name is named") or diag($r{err});
        my @lines = grep { $name eq "spill" ? /spill/ && !/^steps/ : /\($name\)/ } split /\n/, $r{err};
        spew("$objects/said", join "", map { "$_\n" } @lines);
        my %alone = run("sh common/make/build/ptxas.sh a.cu sh -c 'cat $objects/said >&2'");
        is($alone{code}, 1, "$name alone: fails as well") or diag(@lines);
    }
}
