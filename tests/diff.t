#!/usr/bin/env perl
# make step-NN diff: how much of each step is new against the one that it grows from, or that it follows: at most half
# of its story, or more. A header may say of how much that is true, " * Grows from: 05-v1-table, at most 40 % of its
# story new"; of steps that change one thing, 40 is the aim.
# Reads: steps
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my $dir = scratch_dir();
my $limited = 0;
for my $source (glob("steps/[0-9][0-9]-*/*.cu")) {
    my ($name, $number) = $source =~ m{^steps/((\d\d)-[^/]+)/};
    my %r = run("sh common/make/reader/diff.sh $source $dir/$number");
    is($r{code}, 0, "$name is compared") or diag($r{err});
    my ($line, $story) = $r{out} =~ /\A(.*\(story: (\d+) %\)|.* grows from nothing: .*)\n/;
    ok($line, "$name: what is new comes first") or next;
    note($line);
    if (defined $story) {
        my ($word) = slurp($source) =~ /^ \* (Grows from|Follows): /m;
        is($word, $story <= 50 ? "Grows from" : "Follows", "$name: as much is shared as its header says");
    }
    my ($most) = (map { header_says($source, $_) } "Grows from", "Follows")[0] =~ /, at most (\d+) % of its story new$/ or next;
    cmp_ok($story, "<=", $most, "$name: new lines of the story, in per cent");
    $limited++;
}

ok($limited, "some say how much");

# The story counts: neither the header nor the lines below the headings.
my $story = "int kernel;\nint launch;\n";
spew("$dir/steps/01-a/a.cu", "/* 01-a: a\n *\n * Grows from: nothing\n */\n$story");
spew("$dir/steps/02-b/b.cu", "/* 02-b: b\n *\n * Grows from: 01-a\n */\n" . $story =~ s/launch/other/r
    . "// --- Variants that explain ---\nint variant;\n// --- Tables ---\nint table;\n");
run("mkdir -p '$dir/common' && ln -s '$ENV{PWD}/common/make' '$dir/common/make'");
my %r = run("cd '$dir' && sh common/make/reader/diff.sh steps/02-b/b.cu out");
like($r{out}, qr/\A02-b: 70 % of its lines are new against 01-a \(story: 50 %\)\nBelow is the story: .*\n--- /, "by hand") or diag($r{out}, $r{err});
unlike($r{out}, qr/int variant|int table|02-b: b/, "neither header nor variants nor tables");
%r = run("cd '$dir' && sh common/make/reader/diff.sh steps/02-b/b.cu out --all");
like($r{out}, qr/^\+int variant;\n.*^\+int table;/ms, "unless they are asked for");

# A step that follows another: its kernels, and functions of the device.
my $device = "// adds\ntemplate <int N>\nstatic __device__ float add(float x)\n{\n    return x + N;\n}\n";
spew("$dir/steps/03-c/c.cu", "/* 03-c: c\n *\n * Follows: 01-a\n */\nint host;\n\n${device}static __device__ int named(int);\n\n"
    . "__global__ void kernel(float *x)\n{\n    *x = add<1>(*x);\n}\n\nint more;\n");
%r = run("cd '$dir' && sh common/make/reader/diff.sh steps/03-c/c.cu out");
like($r{out}, qr/\A03-c: .*\nLittle is shared\. .*\n--- /, "what is shown of it") or diag($r{out}, $r{err});
is(join("", map { "$_\n" } grep { s/^\+(?!\+\+)// && length } split /\n/, $r{out}),
    "__global__ void kernel(float *x)\n{\n    *x = add<1>(*x);\n}\n", "its kernel, whole");
like($r{out}, qr/^new: function add, 6 lines \(line 9\)\n\z/m, "and what it calls that is new, by name");

# Function beside function, where most lines are new: by name, by the name without a version, by their lines. What one
# side lacks is named, and a header that has it now, too.
my $kernel = "__global__ void both_v1(float *x)\n{\n    x[0] = own(1);\n    x[1] = 2;\n}\n\n";
my $sum = "__device__ float sum(float a)\n{\n    const float b = a + 1;\n    const float c = b + 2;\n    return c;\n}\n\n";
my $same = "__device__ int same(int a)\n{\n    return a;\n}\n\n";
spew("$dir/steps/04-d/d.cu", "/* 04-d: d\n *\n * Grows from: nothing\n */\n// snippet: kernel\n${kernel}// end snippet: kernel\n$sum$same"
    . "__device__ int moved(int a)\n{\n    return a + 7;\n}\n\nstatic __device__ int lost(int a)\n{\n    return -a;\n}\n");
spew("$dir/steps/05-e/e.cu", "/* 05-e: e\n *\n * Follows: 04-d\n */\nint a;\nint b;\nint c;\nint d;\n\n$same"
    . ($kernel =~ s/both_v1/both_v2/r =~ s/2;/3;/r) . ($sum =~ s/sum/total/r =~ s/\+ 1/+ 5/r)
    . "// A new one;\n__device__ int fresh(int a)\n{\n    return a * 9;\n}\n\nint e;\nint f;\nint g;\nint h;\nint i;\nint k;\n");
spew("$dir/common/cuda/moved.cuh", "__device__ int moved(int a)\n{\n    return a + 7;\n}\n");
%r = run("cd '$dir' && sh common/make/reader/diff.sh steps/05-e/e.cu out");
is($r{out} =~ s/\A(?:.*\n){2}//r, <<'END', "function beside function, with the lines of the files") or diag($r{err});
--- steps/04-d/d.cu: both_v1
+++ steps/05-e/e.cu: both_v2
@@ -6,5 +15,5 @@
-__global__ void both_v1(float *x)
+__global__ void both_v2(float *x)
 {
     x[0] = own(1);
-    x[1] = 2;
+    x[1] = 3;
 }
--- steps/04-d/d.cu: sum
+++ steps/05-e/e.cu: total
@@ -13,6 +21,6 @@
-__device__ float sum(float a)
+__device__ float total(float a)
 {
-    const float b = a + 1;
+    const float b = a + 5;
     const float c = b + 2;
     return c;
 }
the same: same
new: function fresh, 5 lines (line 29)
gone: function moved, 4 lines (common/cuda/moved.cuh has one)
gone: function lost, 4 lines
END
%r = run("cd '$dir' && sh common/make/reader/diff.sh steps/05-e/e.cu out --all");
like($r{out}, qr/^\+int a;\n(?:.*\n)*\+    return a \* 9;\n/m, "--all: all lines");

# A ladder: rung against rung, in the order of their letters, and not what else lies there.
my %rung = ("b-second" => $story =~ s/launch/lift/r, "a-first" => $story =~ s/launch/step/r, "tile" => "int tile;\n");
spew("$dir/steps/02-b/$_.cuh", "/* $_: a rung */\n// snippet: $_\n$rung{$_}// end snippet: $_\n") for keys %rung;
%r = run("cd '$dir' && sh common/make/reader/diff.sh steps/02-b/b.cu out");
is($r{code}, 0, "a ladder is compared") or diag($r{err});
like($r{out}, qr{\n
    a-first\.cuh:\ \d+\ %\ of\ its\ lines\ are\ new\ against\ 01-a\ \(story:\ 50\ %\)\n
    ---\ steps/01-a/a\.cu\n\+\+\+\ steps/02-b/a-first\.cuh\n(?:(?!---).*\n)*-int\ launch;\n\+int\ step;\n
    b-second\.cuh:\ 67\ %\ of\ its\ lines\ are\ new\ against\ a-first\.cuh\ \(story:\ 50\ %\)\n
    ---\ steps/02-b/a-first\.cuh\n\+\+\+\ steps/02-b/b-second\.cuh\n(?:(?!---).*\n)*-int\ step;\n\+int\ lift;\n\z}x,
    "rung against rung, under a line each") or diag($r{out});
is(() = $r{out} =~ /^Below is the story/mg, 1, "what is shown is said once");
unlike($r{out}, qr/snippet: |a rung|int tile/, "no markers, no headers, no other file");
spew("$dir/steps/02-b/b-second.cuh", qq(/* b-second: a rung */\n#include "a-first.cuh"\n$rung{"b-second"}));
%r = run("cd '$dir' && sh common/make/reader/diff.sh steps/02-b/b.cu out");
like($r{out}, qr{\n
    b-second\.cuh:\ 100\ %\ of\ its\ lines\ are\ new\ against\ a-first\.cuh\ \(story:\ 100\ %\)\n
    ---\ /dev/null\n\+\+\+\ steps/02-b/b-second\.cuh\n(?:(?!-).*\n)*\+int\ lift;\n\z}x,
    "a rung that includes the one before it only adds") or diag($r{out});
spew("$dir/steps/02-b/b-second.cuh", "/* b-second: a rung */\n$rung{'b-second'}");
%r = run("cd '$dir' && sh common/make/reader/diff.sh steps/02-b/b.cu out --all");
like($r{out}, qr/^-.*a-first: a rung.*\n\+.*b-second: a rung/m, "headers where all is asked for") or diag($r{out});

# A ladder that follows another step shares no kernel with it: these two get a percentage and no diff.
my $follows = "/* 02-b: b\n *\n * Follows: 01-a\n */\n$device";
spew("$dir/steps/02-b/b.cu", $follows);
%r = run("cd '$dir' && sh common/make/reader/diff.sh steps/02-b/b.cu out");
like($r{out}, qr{\A
    02-b:\ \d+\ %\ of\ its\ lines\ are\ new\ against\ 01-a\ \(story:\ \d+\ %\)\n
    Little\ is\ shared\.\ Below\ is\ each\ rung\ against\ the\ one\ before\ it\.\ .*\n
    b-second\.cuh:\ .*\n
    ---\ steps/02-b/a-first\.cuh\n\+\+\+\ steps/02-b/b-second\.cuh\n(?:(?!---).*\n)*-int\ step;\n\+int\ lift;\n\z}x,
    "a ladder that follows a step: rung against rung alone") or diag($r{out}, $r{err});
%r = run("cd '$dir' && sh common/make/reader/diff.sh steps/02-b/b.cu out --all");
is(join(" ", $r{out} =~ /^--- steps\/(\S+)$/mg), "01-a/a.cu 01-a/a.cu 02-b/a-first.cuh",
    "the step and its first rung, too, where all is asked for") or diag($r{out});

spew("$dir/steps/02-b/b.cu", "/* 02-b: b\n *\n * Grows from: nothing\n */\n$story");
%r = run("cd '$dir' && sh common/make/reader/diff.sh steps/02-b/b.cu out");
like($r{out}, qr/\A02-b grows from nothing: .*\nb-second\.cuh: /, "the first rung of what grows from nothing is passed over")
    or diag($r{out});
done_testing();
