#!/usr/bin/env perl
# The small GPT-NeoX: where its weights stand, which files are refused, and what is shipped. Unit
# tests in C, compiled as they are and again under the address and undefined behaviour sanitizers.
use strict;
use warnings;
use File::Path qw(make_path remove_tree);
use Test::More;
use lib "tests/lib";
use Workbook;

my $build = "build/tests/neox";
my $cc = $ENV{CC} || (have("gcc") ? "gcc" : "cc");
my $flags = "-std=c11 -Wall -Wextra -Werror -Icommon/cpu/include -Icommon -Icommon/harness";
my @sources = map { "common/$_.c" } qw(neox/shape neox/file harness/dtype harness/message
    harness/random harness/parallel);

my $shipped = -e "common/neox/opticks.neox" ? "common/neox/opticks.neox" : "";
my $sanitize = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all";
for my $how (["plain", "-O2"], ["sanitized", $sanitize]) {
    my ($name, $optimise) = @$how;
    remove_tree("$build/$name");
    make_path("$build/$name");
  SKIP: {
        spew("$build/$name/empty.c", "int main(void)\n{\n    return 0;\n}\n");
        my $empty = "$build/$name/empty";
        my %can = run("$cc $optimise $empty.c -o $empty && $empty");
        skip "$cc has no sanitizers here", 1 if $can{code} != 0 && $name eq "sanitized";
        my %r = run("printf '%s\\n' shape file | xargs -P 2 -I{} $cc $flags $optimise "
              . "tests/neox/unit_{}.c @sources -o $build/$name/unit_{} -lm -lpthread");
        is($r{code}, 0, "$name: it compiles as C11 without a warning") or BAIL_OUT($r{err});
        for my $unit ("unit_shape", "unit_file $build/$name $shipped") {
            %r = run("$build/$name/$unit");
            my ($short) = $unit =~ /(\w+)/;
            is($r{code}, 0, "$name: $short ends well") or diag($r{err});
            is($r{err}, "", "$name: $short has nothing to complain of");
            ok(!$1, "$name: $short: $2") while $r{out} =~ /^(not )?ok \d+ - (.*)/mg;
            my $count = () = $r{out} =~ /^(?:not )?ok /mg;
            is(($r{out} =~ /^(1\.\..*)/m)[0], "1..$count", "$name: $short runs to its end");
        }
    }
}

# --- A step whose file is broken, or is whole but holds another model, which runs nothing.
my %r = run("make -s programs BACKEND=cpu");
is($r{code}, 0, "the steps are built") or BAIL_OUT($r{err});
chomp(my $programs = $r{out});
my $step = "$programs/step-40";
my $root = "$build/root";
sub step_says {
    my ($what, $file, $words) = @_;
    spew("$root/common/neox/opticks.neox", $file);
    my %r = run("$step --case prompt", KF_ROOT => $root);
    is($r{code}, 2, "$what: exit 2, which nothing takes for right");
    like($r{err}, qr/\A[^\n]*opticks\.neox[^\n]*$words[^\n]*\n\z/, "$what: one line says so");
    unlike($r{out}, qr/plain/, "$what: nothing was run");
}
# model(LAYERS, HIDDEN, HEADS, ROTARY, MLP, VOCAB, POSITIONS, TIED): all weights are zero.
sub model {
    my ($layers, $n, $heads, $rotary, $m, $vocab, $positions, $tied) = @_;
    my $layer = 4 * $n + 4 * $n * $n + 4 * $n + 2 * $n * $m + $m + $n;
    my $count = $vocab * $n * ($tied ? 1 : 2) + $layers * $layer + 2 * $n;
    return "KFNEOX1\n" . pack("l<8", @_) . "\0\0" x $count;
}
my @right = (6, 160, 5, 8, 640, 128, 256, 0);
step_says("a file that ends too early", substr(model(@right), 0, -2), "takes 3793960");
for my $other ([0, 5], [1, 80], [2, 10], [3, 10], [4, 632], [5, 120], [6, 255], [7, 1]) {
    my @shape = @right;
    $shape[$other->[0]] = $other->[1];
    my $name = (qw(layers hidden heads rotary mlp vocab positions tied))[$other->[0]];
    step_says("whole, with $name $other->[1]", model(@shape), "(?:holds|is)");
}

# --- Where two logits are too close to tell which is larger, next is compared with other tokens.
%r = run("$step --case tied --variant plain --seed 3");
is($r{code}, 0, "two logits that are close: other tokens are drawn") or diag($r{err});
like($r{out}, qr/^  two logits are too close to tell which is larger: draw 2 of the tokens$/m,
    "which is said");
like($r{out}, qr/^  plain +ok +0 +0 +760 /m, "and every output is compared");

# --- Bounds are measured on the plain implementation: one that is broken is not believed.
my @objects = grep { !m{/reference\.o$} } map { glob "$programs/$_/*.o" } qw(harness problems neox);
my @broken = (
    ["as it is", "", ""],
    ["products that leave out the last column", "sum32 += w[i] * (float)x[i];",
        "sum32 += i + 1 < n ? w[i] * (float)x[i] : 0.0f;"],
    ["norms that do not centre", "(x[i] - mean) * scale", "(x[i] - (f->plain ? 0.0 : mean)) * scale"],
    ["layers without x", ") + x[i]);", ") + (f->plain ? 0.0 : x[i]));"],
    ["values that are those of the key before", "v[at + d] = q[2 * D + d];",
        "v[at + d] = q[(f->plain ? 1 : 2) * D + d];"],
    ["results in two digits", "kf_round_to(KF_F16, (float)value)", "round(value * 64.0) / 64.0"]);
remove_tree("$build/bounds");
make_path("$build/bounds");
my $list = "";
for my $i (0 .. $#broken) {
    my ($what, $from, $to) = @{ $broken[$i] };
    my $source = slurp("common/neox/reference.c");
    is(scalar(() = $source =~ /\Q$from\E/g), 1, "$what: stands there once") if $from;
    $source =~ s/\Q$from\E/$to/;
    spew("$build/bounds/$i.c", $source);
    $list .= "$i\n";
}
spew("$build/bounds/list", $list);
%r = run("$cc $flags -O2 -c tests/neox/unit_bounds.c -o $build/bounds/unit.o && xargs -P 2 -I{} "
      . "sh -c '$cc $flags -Icommon/neox -O2 -c $build/bounds/{}.c -o $build/bounds/{}.o && "
      . "common/cpu/cudacc $build/bounds/unit.o $build/bounds/{}.o @objects -o $build/bounds/{}' "
      . "<$build/bounds/list");
is($r{code}, 0, "with references that are broken it links") or diag($r{err});
%r = run("$build/bounds/0");
is($r{code}, 0, "unit_bounds ends well") or diag($r{err});
ok(!$1, "unit_bounds: $2") while $r{out} =~ /^(not )?ok \d+ - (.*)/mg;
like($r{out}, qr/^1\.\.12$/m, "unit_bounds runs to its end");
for my $i (0 .. $#broken) {
    %r = run("$build/bounds/$i trouble");
    my $wanted = $i ? qr/^plain fp16, .* would let x behind layer 1 be off by [^\n]*\n\z/ : qr/^none$/;
    like($r{out}, $wanted, "plain fp16 with $broken[$i][0]");
}

# --- What is shipped.
my $text = slurp("common/neox/opticks.txt");
ok($text !~ /[^\n -~]/, "the text is plain ASCII");
ok(!(grep { length > 72 } split /\n/, $text), "no line of it is longer than 72 columns");
unlike($text, qr/gutenberg|pgdp|transcriber|proofread|\[Illustration|_/i, "it is the book alone");
cmp_ok(length $text, ">", 500_000, "of which nothing is missing");

SKIP: {
    skip "common/neox/opticks.neox is not here", 3 unless $shipped;
    cmp_ok(-s $shipped, "<=", 4_000_000, "the weights take at most 4 000 000 bytes");
    my $source = slurp("common/neox/train.py");
    my ($names, $numbers) = $source =~ /^((?:[A-Z]+, ){6}[A-Z]+) = ([\d, ]+)$/m;
    my %trained;
    @trained{split /, /, $names} = split /, /, $numbers;
    is(join(" ", unpack("x8 l<8", slurp($shipped))),
        join(" ", @trained{qw(LAYERS HIDDEN HEADS ROTARY MLP VOCAB POSITIONS)}, 0),
        "train.py trains the model that is shipped");
    like(slurp("common/neox/README.md"), qr/train\.py .*--steps/, "and the README says how it was");
}
done_testing();
