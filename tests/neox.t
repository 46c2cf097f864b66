#!/usr/bin/env perl
# The small GPT-NeoX: where its weights stand, which files are refused, and what is shipped. Unit
# tests in C, compiled as they are and again under the address and undefined behaviour sanitizers.
# Reads: common tests/neox tests/harness steps plots/data/cpu
use strict;
use warnings;
use Compress::Zlib qw(crc32);
use File::Path qw(make_path remove_tree);
use Test::More;
use lib "tests/lib";
use Workbook;

my $build = "build/tests/neox";
my $cc = $ENV{CC} || (have("gcc") ? "gcc" : "cc");
my $flags = "-std=c11 -Wall -Wextra -Werror -Icommon/cpu/include -Icommon";
my @sources = map { "common/$_.c" } qw(neox/shape neox/file harness/base/dtype harness/base/message
    harness/base/random harness/base/parallel);

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
# says(WHAT, OPTIONS, PATH, WORDS, ENV): PATH, which stands in the line, holds no model that is right.
sub says {
    my ($what, $options, $path, $words, %env) = @_;
    my %r = run("$step $options", %env);
    is($r{code}, 2, "$what: exit 2, which nothing takes for right");
    like($r{err}, qr/\A[^\n]*\Q$path\E: [^\n]*$words[^\n]*\n\z/, "$what: one line says so");
    unlike($r{out}, qr/plain/, "$what: nothing was run");
}
sub step_says {
    my ($what, $file, $words) = @_;
    spew("$root/common/neox/opticks.neox", $file);
    says($what, "--case prompt", "$root/common/neox/opticks.neox", $words, KF_ROOT => $root);
}
# The checksum is zlib's, of what stands before it.
sub sealed { return $_[0] . pack "L<", crc32($_[0]) }
# model(LAYERS, HIDDEN, HEADS, ROTARY, MLP, VOCAB, POSITIONS, TIED): all weights are zero.
sub model {
    my ($layers, $n, $heads, $rotary, $m, $vocab, $positions, $tied) = @_;
    my $layer = 4 * $n + 4 * $n * $n + 4 * $n + 2 * $n * $m + $m + $n;
    my $count = $vocab * $n * ($tied ? 1 : 2) + $layers * $layer + 2 * $n;
    return sealed("KFNEOX2\n" . pack("l<8", @_) . "\0\0" x $count);
}
my @right = (6, 160, 5, 8, 640, 128, 256, 0);
step_says("a file that ends too early", substr(model(@right), 0, -2), "takes 3793964");
for my $other ([0, 5], [1, 80], [2, 10], [3, 10], [4, 632], [5, 120], [6, 255], [7, 1]) {
    my @shape = @right;
    $shape[$other->[0]] = $other->[1];
    my $name = (qw(layers hidden heads rotary mlp vocab positions tied))[$other->[0]];
    step_says("whole, with $name $other->[1]", model(@shape),
        "$name is $other->[1]; this program's model has $right[$other->[0]]");
}
# Far behind the first weights that are read at once.
my $infinite = substr(model(@right), 0, -4);
substr($infinite, -2) = pack "S<", 0x7c00;
step_says("whole, with a last weight that is infinite", sealed($infinite),
    "the weight at output, row 127, column 159 is inf; all weights must be finite");
# 4 KB on the disk that say they are 162 GB, and are as long as that.
spew("$root/common/neox/opticks.neox", "KFNEOX2\n" . pack("l<8", 1024, 2560, 32, 20, 10240, 50304, 2048, 0));
ok(truncate("$root/common/neox/opticks.neox", 161644554284), "a file with a hole");
says("which is another model", "--case prompt", "$root/common/neox/opticks.neox",
    "layers is 1024; this program's model has 6", KF_ROOT => $root);
unlink "$root/common/neox/opticks.neox";
# The same place, a long way round.
my $far = "./" x 1000 . $root;
says("a root with a long path", "--case prompt", "$far/common/neox/opticks.neox",
    "cannot be opened: No such file or directory", KF_ROOT => $far);
says("a root whose name moves the cursor", "--case prompt", '/n\x1b[2J\x0ao/common/neox/opticks.neox',
    "No such file", KF_ROOT => "/n\e[2J\no");

# --- Another file than the one that is shipped: --model.
spew("$build/zeros.neox", model(@right));
%r = run("$step --case decode --variant plain --seed 3 --model $build/zeros.neox");
is($r{code}, 1, "a model whose weights are all zero is read") or diag($r{err});
like($r{err}, qr/: next cannot be compared, two logits are too close to tell which is larger; /, "for all tokens are the same to it");
says("no such file", "--case decode --model $build/none", "--model $build/none", "cannot be opened: No such file");
says("a folder", "--case decode --model $build", "--model $build", "not a regular file; name the file of a model");
says("a name that is too long", "--case decode --model " . "x" x 300, "--model " . "x" x 300, "cannot be opened: File name too long");
says("another format", "--case decode --model common/neox/neox.h", "--model common/neox/neox.h", "begins with");
for my $other (["$step --case tiny --case pythia", "no case chosen reads a model from a file; leave it out"],
    ["$programs/step-38", "this program reads no model; leave it out"]) {
    %r = run("$other->[0] --model common/neox/opticks.neox");
    is("$r{code} " . ($r{err} =~ s/^[^:]*: //r), "2 --model common/neox/opticks.neox: $other->[1]\n", "--model: $other->[1]");
    is($r{out}, "", "before anything is run");
}
for my $other (41 .. 45) {
    %r = run("$programs/step-$other --case decode --model $build/none");
    like($r{err}, qr/\A[^\n]*: --model \Q$build\E\/none: cannot be opened: [^\n]*\n\z/, "step $other takes --model too");
}

# --- Where two logits are too close to tell which is larger, next is compared with other tokens.
%r = run("$step --case tied --variant plain --seed 3");
is($r{code}, 0, "two logits that are close: other tokens are drawn") or diag($r{err});
like($r{out}, qr/^  two logits are too close to tell which is larger: draw 2 of the tokens$/m,
    "which is said");
like($r{out}, qr/^  plain +ok +0 +0 +760 /m, "and every output is compared");

# --- Bounds are measured on the plain implementation: one that is broken is not believed.
my @objects = grep { !m{/reference\.o$} } map { glob "$programs/$_/*.o" } qw(harness/* problems neox);
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

# --- A model whose heads are wider than kernels take is refused before there is anything of it.
my $wide = slurp("common/neox/problem.c");
is($wide =~ s/(neox_tiny = \{\.config = \{3, )24/${1}408/, 1, "the width of a model stands there");
spew("$build/wide/problem.c", $wide);
spew("$build/wide/main.c", "#include \"neox/problem.h\"\nint main(void)\n{\n    const kf_case c = {.name = \"wide\",\n"
      . "        .shape = {1, 3, 1, 7, 136, 2, true, 0}, .data = &neox_tiny};\n    return neox_config_of(&c).hidden != 408;\n}\n");
my @others = grep { !m{/neox/problem\.o$} } map { glob "$programs/$_/*.o" } qw(harness/* problems neox);
%r = run("for i in problem main; do $cc -Icommon/neox $flags -O2 -c $build/wide/\$i.c -o $build/wide/\$i.o || exit; done; "
      . "common/cpu/cudacc $build/wide/main.o $build/wide/problem.o @others -o $build/wide/run");
is($r{code}, 0, "a program with another width builds") or diag($r{err});
%r = run("$build/wide/run");
is("$r{code} $r{err}", "1 harness: case wide: its model cannot be run: hidden is 408 and heads is 3, so a head has "
      . "136 dimensions; kernels take 128 at most\n", "which says what is too much, and what is not");

# --- What is shipped.
my $text = slurp("common/neox/opticks.txt");
ok($text !~ /[^\n -~]/, "the text is plain ASCII");
ok(!(grep { length > 72 } split /\n/, $text), "no line of it is longer than 72 columns");
unlike($text, qr/gutenberg|pgdp|transcriber|proofread|\[Illustration|_/i, "it is the book alone");
cmp_ok(length $text, ">", 500_000, "of which nothing is missing");

SKIP: {
    skip "common/neox/opticks.neox is not here", 9 unless $shipped;
    my $whole = slurp($shipped);
    is($whole, sealed(substr $whole, 0, -4), "zlib has the same checksum of what is shipped");
    %r = run("$step --case decode --variant plain --model $shipped", KF_ROOT => "$build/none");
    is("$r{code} $r{err}", "0 ", "--model names it too");
    my $changed = $whole;
    substr($changed, 41 + 900 * $_, 1) = pack "C", ord(substr $changed, 41 + 900 * $_, 1) ^ 8 for 0 .. 3999;
    isnt($changed, $whole, "4000 weights are changed, to others that are finite");
    step_says("which", $changed, sprintf("its checksum is %08x, and that of its bytes %08x;",
        unpack("L<", substr $whole, -4), crc32(substr $changed, 0, -4)));
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

# Its weights, written again by train.py, are the file that is shipped. What PyTorch does in there is
# not needed for that.
SKIP: {
    skip "there is no python3, or no common/neox/opticks.neox", 2 unless $shipped && have("python3");
    spew("$build/again.py", <<'SCRIPT');
import math, struct, sys, types

class Anything(types.ModuleType):
    def __getattr__(self, name):
        return Anything(name)
    def __call__(self, *arguments, **more):
        return arguments[0] if len(arguments) == 1 else self

class Weights(bytes):
    def cpu(self):
        return self
    def numpy(self):
        return self
    def astype(self, kind):
        assert kind == "<f2", kind
        return self
    def tobytes(self):
        return bytes(self)

for name in ("torch", "torch.nn", "torch.nn.functional"):
    sys.modules[name] = Anything(name)
sys.path.insert(0, "common/neox")
import train

shipped, out = sys.argv[1:]
data, at, rounded = open(shipped, "rb").read(), 40, {}
for name, shape in train.shapes():
    rounded[name] = Weights(data[at : at + 2 * math.prod(shape)])
    at += 2 * math.prod(shape)
train.write(out, rounded)
SCRIPT
    %r = run("python3 -B $build/again.py $shipped $build/again.neox");
    is("$r{code} $r{err}", "0 ", "train.py writes weights");
    ok(slurp("$build/again.neox") eq slurp($shipped), "and the file is what is shipped, byte for byte");
}
# --- Step 42's own test of sums.
%r = run("common/cpu/cudacc -O1 -g0 -Wall -Wextra -Werror -Icommon tests/neox/wrong_sums.cu $programs/harness/*/*.o "
      . "$programs/problems/*.o $programs/neox/*.o -o $build/wrong_sums && $build/wrong_sums");
is("$r{code} $r{out}$r{err}", "0 1000 tested, 4 wrong\n", "step 42 tests each sum, and counts the wrong ones");

done_testing();
