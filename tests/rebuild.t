#!/usr/bin/env perl
# Of an edit of each kind of file, what make and cudacc then build anew, and what they do not. The small tree's
# program reads something of every folder; the runtime comes from here.
# Reads: common steps/22-flash-tensor-cores tests/ptx plots/data/cpu
use strict;
use warnings;
use Cwd qw(getcwd);
use Test::More;
use Time::HiRes qw(stat utime);
use lib "tests/lib";
use Workbook;

my ($root, $dir) = (getcwd(), scratch_dir());
my ($cxx, $cc) = do { my %r = run('sh common/make/build/toolchain.sh "$CXX" "$CC"'); split / /, $r{out} };
@ENV{qw(CXX CC)} = ($cxx, $cc);
my $built = "build/cpu/" . $cxx =~ s{.*/}{}r;
my @traced = $^O eq "darwin" ? () : qw(count check);
my %r = run(join " && ", map { "common/cpu/cudacc $_ --runtime-only" } "", map { "--$_" } @traced);
is("$r{code} $r{err}", "0 ", "the runtime is there") or BAIL_OUT($r{err});
my $runtime = $ENV{CUDACPU_BUILD} // $built;
delete $ENV{CUDACPU_BUILD};
my %blas = run("common/cpu/cudacc -lcublas --runtime-only", CUDACPU_BUILD => $runtime);

# --- A tree with a step that reads something of every folder -------------------------------------
my $tree = small_tree();
spew("$tree/$_", "// $_\n#pragma once\n") for "common/cuda/own.cuh", "common/cuda/other.cuh", "common/neox/own.cuh",
    "steps/01-one/beside.cuh";
spew("$tree/common/problems/own.h", "");
spew("$tree/common/problems/own.c", "#include \"own.h\"\nint own;\n");
spew("$tree/chapters/01-one.md", "# One\n");
tiny_step($tree, "01-one", "reads much", "    return 0;\n", include => join "", map { "#include $_\n" }
    '"beside.cuh"', '"cuda/own.cuh"', '"neox/own.cuh"', '"harness/harness.h"', "<mma.h>", "<cuda/barrier>",
    "<cooperative_groups/reduce.h>");
run("mkdir -p '$tree/$built' && cp -Rp $runtime/parts $runtime/rewriter $runtime/*.o '$tree/$built' && cd '$tree/$built' && "
    . "rm -f step-*.o try-*.o");

my @goals = ("$built/step-01", map({ "$built-$_/step-01" } @traced));
sub in_tree { return run("cd '$tree' && $_[0]") }
%r = in_tree("make -j2 @goals");
is($r{code}, 0, "the small tree is built") or BAIL_OUT($r{err});
%r = in_tree("make -q @goals");
is($r{code}, 0, "and then there is nothing to do");

# The compilations and links that make would run, as it prints them.
sub remade {
    my %r = in_tree("make -n @goals");
    my %made = map { $_ => 1 } $r{out} =~ /^printf '%-7s %s\\n' \S+ '(.*)'$/mg;
    $made{"link $_"} = 1 for $r{out} =~ m{^common/cpu/cudacc (?!.* -c ).* -o \Qbuild/cpu/\E(\S+)$}mg;
    return join ", ", sort map { s{^(traced )?.*/(?=[^/]*\.(?:c|cu)$)}{$1 // ""}er } map { s/^link [^-\/]*(?=[-\/])/link /r } keys %made;
}

# Which objects runtime.mk would compile.
run("mkdir -p $dir/view && cd $dir/view && ln -s '$tree/common' common && ln -s '$tree/$built' build");
my $native = -e "$tree/$built/parts/rewriter/ptx/language/parse.o" ? "" : "yes";
sub compiled {
    my $all = join " ", map { "build/$_.o" } "runtime", @traced, $blas{code} ? () : "blas";
    my %r = run("cd $dir/view && \$(command -v gmake || echo make) -n -rR -f common/cpu/runtime.mk CC=$cc native=$native build/rewriter $all");
    return join " ", sort map { s{^build/parts/(.*)\.o$}{$1}r } $r{out} =~ / -MT (\S+) /g;
}
is(compiled(), "", "nor is there anything of the runtime");

my @programs = map { "link $_" } map({ "-$_/step-01" } reverse sort @traced), "/step-01";
my $link = join ", ", sort "link /step-01", map { "link -$_/step-01" } @traced;
my @runtimes = ("the runtime", map { "the runtime that ${_}s" } @traced);
my @objects = ("one.cu", @traced ? "traced one.cu" : ());
my @links = $link;
sub all { return join ", ", sort map { split /, / } @_ }
my $every = all(@runtimes, @objects, "kernel.cu", @links);
my $each = sub { my ($name) = @_; return join " ", sort map { "$_/$name" } "plain", @traced };

# [FILE, what make makes, what runtime.mk compiles, or an object among others; undef: it is not looked at]
my @cases = (
    ["common/cpu/ptx/handlers/integer.c", all(@runtimes, @links), "shared/ptx/handlers/integer"],
    ["common/cpu/api/launch.c", all(@runtimes, @links), $each->("api/launch")],
    ["common/cpu/ptx/tensor_cores/wgmma.c", all(@runtimes, @links), $each->("ptx/tensor_cores/wgmma")],
    ["common/cpu/api/stream.h", all(@runtimes, @links), qr{plain/api/stream(?= |$)}],
    ["common/cpu/device/units/boxes.h", all(@runtimes, @links), qr{shared/device/units/boxes(?= |$)}],
    ["common/cpu/compiler/rewriter/launches.c", all(@runtimes, @objects, "kernel.cu", @links), "rewriter/compiler/rewriter/launches"],
    ["common/cpu/compiler/rewriter/rewrite.h", all(@runtimes, @objects, "kernel.cu", @links), qr{rewriter/compiler/rewriter/launches(?= |$)}],
    ["common/cpu/ptx/language/forms.c", all(@runtimes, @objects, "kernel.cu", @links), qr{ptx/language/forms(?= |$)}],
    # No step calls cuBLAS on a CPU: what cudacc links with it, cudacc makes.
    $blas{code} ? () : (["common/cpu/libraries/blas/lt.c", "", "blas/libraries/blas/lt"], ["common/cpu/libraries/blas/blas.h", "", qr{blas/libraries/blas/lt(?= |$)}]),
    @traced ? (["common/cpu/instruments/check/state/order.c", "link -check/step-01, the runtime that checks", "check/instruments/check/state/order"],
        ["common/cpu/instruments/check/state/check.h", "link -check/step-01, the runtime that checks", qr{check/instruments/check/state/order(?= |$)}],
        ["common/cpu/instruments/count/count.c", "link -count/step-01, the runtime that counts", "count/instruments/count/count"],
        ["common/cpu/instruments/front/heap.c", all(map { ("link -$_/step-01", "the runtime that ${_}s") } @traced), join " ", map { "$_/instruments/front/heap" } reverse @traced]) : (),
    ["common/cpu/include/cuda_runtime.h", all(@objects, "kernel.cu", @links), ""],
    ["common/cpu/include/cpu/numbers/math.h", all(@objects, "kernel.cu", @links), ""],
    (map { ["common/cpu/include/$_", all("one.cu", @traced ? "traced one.cu" : (), $link), ""] }
        "mma.h", "cuda/barrier", "cpu/async_barrier.h", "cooperative_groups/reduce.h"),
    ["common/cpu/include/cuda_pipeline.h", "", ""],
    ["common/cpu/include/cooperative_groups/scan.h", "", ""],
    ["common/cpu/runtime.mk", $every, qr{shared/base/error(?= |$)}],
    (map { ["common/cpu/$_", $every, ""] } "cudacc", "compiler/driver/options.sh", "compiler/driver/cache.sh"),
    (map { ["common/cpu/$_", $cxx =~ /clang/ && @traced ? all("traced one.cu", map { "link -$_/step-01" } @traced) : "", ""] }
        "compiler/clang/whole.awk", "compiler/clang/order.awk"),
    ["common/cuda/own.cuh", all("one.cu", @traced ? "traced one.cu" : (), $link), undef],
    ["common/cuda/other.cuh", "", undef],
    ["common/neox/own.cuh", all("one.cu", @traced ? "traced one.cu" : (), $link), undef],
    ["common/harness/run/run.c", all("run.c", @links), undef],
    ["common/harness/harness.h", all("run.c", "one.cu", @traced ? "traced one.cu" : (), @links), undef],
    ["common/problems/own.h", all("own.c", @links), undef],
    ["steps/01-one/one.cu", all("one.cu", @traced ? "traced one.cu" : (), $link), undef],
    ["steps/01-one/beside.cuh", all("one.cu", @traced ? "traced one.cu" : (), $link), undef],
    (map { [$_, "", ""] } "README.md", (map { "common/cpu/${_}README.md" } "", "compiler/", "instruments/"), "common/cpu/compiler/driver/help.txt", "chapters/01-one.md"),
);
for (@cases) {
    my ($file, $made, $objects) = @$_;
    my $path = "$tree/$file";
    if (!-e $path) {
        fail("there is $file");
        next;
    }
    my @was = (stat $path)[8, 9];
    run("touch '$path'");
    is(remade(), $made, "an edit of $file: what make makes");
    ref $objects ? like(compiled(), $objects, "and of the runtime") : is(compiled(), $objects, "and of the runtime")
        if defined $objects;
    utime $was[0], $was[1], $path;
}
is(remade(), "", "with all as it was, nothing is made");

# --- What cudacc itself keeps: headers that are precompiled, and programs ------------------------
spew("$tree/add.cu", "#include <cstdio>\n__global__ void k(int *p) { asm(\"add.s32 %0, %0, 40;\" : \"+r\"(*p)); }\nint main()\n{\n"
    . "    int *p, h = 2;\n    cudaMalloc(&p, 4);\n    cudaMemcpy(p, &h, 4, cudaMemcpyHostToDevice);\n    k<<<1, 1>>>(p);\n"
    . "    cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost);\n    printf(\"%d\\n\", h);\n}\n");
my $add = "common/cpu/cudacc -g1 -run add.cu";
sub ages {
    return join " ", map { "$_ " . (stat)[9] } map { glob("'$tree/$built'/$_") } "*.o", "rewriter", "headers/*/*.gch", "libcu/*/stamp";
}
%r = in_tree($add);
is("$r{code} $r{out}$r{err}", "0 42\n", "a program that cudacc builds");
my $before = ages();
in_tree("touch common/cpu/README.md common/cpu/*/README.md README.md common/cpu/compiler/driver/help.txt");
%r = in_tree("CUDACPU_CACHE=0 $add");
is("$r{out}" . ages(), "42\n$before", "an edit of README.md builds nothing");
edit("$tree/common/cpu/ptx/handlers/integer.c", "operand(i, 1, reg) + operand", "operand(i, 1, reg) - operand");
%r = in_tree($add);
is("$r{code} $r{out}$r{err}", "0 -38\n", "a program that is kept sees an edit of the runtime");
edit("$tree/common/cpu/include/cpu/numbers/math.h", "#pragma once", "#pragma once\n#error edited");
%r = in_tree($add);
like("$r{code} $r{err}", qr/\A[1-9].*cpu\/numbers\/math\.h.*edited/s, "and one of a header that is precompiled");

# FILE has NEW in place of OLD, once.
sub edit {
    my ($file, $old, $new) = @_;
    my $text = slurp($file);
    my $at = index $text, $old;
    ok($at >= 0, "$file: there is $old") or return;
    substr($text, $at, length $old) = $new;
    spew($file, $text);
}

# --- Two that start together, where nothing is built yet -----------------------------------------
spew("$dir/$_.cu", "#include <cstdio>\nint main() { printf(\"$_\\n\"); }\n") for qw(first second);
%r = run("cd $dir && for f in first second; do { $root/common/cpu/cudacc -c \$f.cu -o \$f.o || echo \$f fails; } & done; wait",
    CUDACPU_BUILD => "$dir/new");
is("$r{code} $r{out}$r{err}", "0 ", "two cudacc that start together both succeed");
ok(-s "$dir/first.o" && -s "$dir/second.o", "and have made their objects");
is_deeply([grep { !/\.(?:o|d|files)$|flags$/ } map { glob("$dir/new/parts/$_") } "*.*", "*/*.*", "*/*/*.*"], [], "nothing half-written stays");

# --- From an edit to a step that says so: one bit of each product of a tensor core ----------------
my %steps = run("make step-22 BACKEND=cpu");
is($steps{code}, 0, "step 22 is built") or BAIL_OUT($steps{err});
my $copy = scratch();
run("mkdir -p '$copy/$built' && cd $built && cp -Rp parts rewriter runtime* flags step-22* harness problems neox '$copy/$built'");
my ($case) = map { split /(?= --case)/ } small_cases("$built/step-22");
my $step = "cd '$copy' && make step-22 run BACKEND=cpu ARGS='$case'";
%r = run($step);
ok($r{code} == 0 && $r{out} =~ /\bok\b/ && $r{out} !~ /^(?:cc|cudacc) /m, "in a copy step 22 is right, and nothing is compiled") or diag($r{out}, $r{err});
edit("$copy/common/cpu/device/units/product.c", "cut_to_f32(v, d + i * n);", "cut_to_f32(v, d + i * n), d[i * n] ^= 1u << 22;");
%r = run($step);
ok($r{code} != 0 && $r{out} !~ /\bok\b/, "a bit flipped in product.c: it is wrong") or diag($r{out}, $r{err});
is(join(", ", $r{out} =~ /^cudacc +(.*)$/mg), "the runtime", "and no source of the step's was compiled");
done_testing();
