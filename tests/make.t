#!/usr/bin/env perl
# The Makefile: what it says, what it builds and does not build again, what it refuses.
# Everything happens in a copy of the tree whose steps and harness are a few lines each.
# Reads: common/harness/harness.h plots/peers
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

# --- A copy with small steps ---------------------------------------------------------------------
my $tree = small_tree();
my $print = "    printf(\"%s line %d\\n\", argv[0], i);\n    fflush(stdout);\n    usleep(60000);\n";
my $lines = "    for (int i = 1; i <= 4; i++) {\n$print    }\n";
tiny_step($tree, "01-one", "prints four lines", $lines . "    return 0;\n",
    include => "#include \"cuda/own.h\"\n");
tiny_step($tree, "02-two", "prints four lines as well", $lines . "    return 0;\n");
tiny_step($tree, "03-code", "ends with the code that is asked for",
    "    for (int i = 1; i < argc; i++)\n        printf(\"[%s]\\n\", argv[i]);\n"
    . "    if (argc > 2)\n        fprintf(stderr, \"03-code: ending with %s\\n\", argv[2]);\n"
    . "    return argc > 2 ? atoi(argv[2]) : 0;\n", from => "02-two");

my ($cxx) = do { my %r = run('sh common/make/build/toolchain.sh "$CXX" "$CC"'); $r{out} =~ m{^(?:\S*/)?(\S+)} };
sub in_tree {
    my ($command, %env) = @_;
    return run("cd '$tree' && $command", %env);
}

# --- Help ----------------------------------------------------------------------------------------
my %help = in_tree("make");
is($help{code}, 0, "make alone succeeds");
is($help{err}, "", "and says nothing on stderr");
for my $command (qw(run count check diff exercise try watch hint predict solution next list setup book charts test test-all lint cuda data bench programs
    new-step messages clean)) {
    like($help{out}, qr/make (?:step-\d\d )?$command\b/, "help has $command");
}
like($help{out}, qr/ARGS=.*BACKEND=.*ARCH=/s, "help has ARGS, BACKEND and ARCH");
cmp_ok(scalar(grep { length > 100 } split /\n/, $help{out}), "==", 0,
    "no line of help is too wide");
like($help{out}, qr/^  step-02  two                   prints four lines as well$/m, "help has the steps' titles");

# --- What is built -------------------------------------------------------------------------------
my %r;
%r = in_tree("make step-02 BACKEND=cpu");
is($r{code}, 0, "one step is built from nothing") or diag($r{out}, $r{err});
like($r{out}, qr/^backend: CPU \(asked for\)$/m, "the backend is said, with the reason");
ok(-x "$tree/build/cpu/$cxx/step-02", "its program is there");
ok(!-e "$tree/build/cpu/$cxx/step-01", "no other program is");
# From here on the runtime is there, also when build/ is not.
in_tree("cp -Rp build/cpu/$cxx kept");
$ENV{CUDACPU_BUILD} = "$tree/kept";

%r = in_tree("make step-01 step-02 run BACKEND=cpu");
is($r{code}, 0, "two steps run, one built and one not") or diag($r{err});
is(scalar(() = $r{out} =~ /step-01 line/g), 4, "the first printed");
is(scalar(() = $r{out} =~ /step-02 line/g), 4, "the second printed");
unlike($r{out}, qr/two\.cu/, "what was built is not built again");
unlike($r{out}, qr/step-03|code\.cu/, "a step not named stays out");

%r = in_tree("make -j2 run BACKEND=cpu");
is($r{code}, 0, "all run with -j2") or diag($r{err});
my @order = $r{out} =~ /step-(0[12]) line/g;
is(scalar(@order), 8, "both printed everything");
like("@order", qr/^(01 01 01 01 02 02 02 02|02 02 02 02 01 01 01 01)$/,
    "and their lines do not mix");

%r = in_tree("make step-01 step-02 step-03 BACKEND=cpu");
like($r{out}, qr/Nothing to be done/, "a second make has nothing to do");
unlike($r{out}, qr/^(cc|cudacc|nvcc) /m, "and compiles nothing");
%r = in_tree("make -q step-01 step-02 step-03 BACKEND=cpu");
is($r{code}, 0, "make -q agrees");
%r = in_tree("make -s programs BACKEND=cpu");
is($r{out}, "build/cpu/$cxx\n", "make -s programs says where they are, and nothing else");

sub compiled { return join " ", sort map { m{([^/]+)$} } $_[0] =~ /^(?:cc|cudacc|nvcc) +(.*)$/mg }
sleep 1;
in_tree("touch common/cuda/own.h");
%r = in_tree("make step-01 step-02 step-03 BACKEND=cpu");
is(compiled($r{out}), "one.cu", "a touched header rebuilds what includes it and nothing else");
in_tree("touch common/harness/harness.h");
%r = in_tree("make step-01 BACKEND=cpu");
like(compiled($r{out}), qr/\brun\.c\b/, "a header of the harness rebuilds the harness");
tiny_step($tree, "01-one", "prints four lines", $lines . "    return 0;\n");
unlink "$tree/common/cuda/own.h";
%r = in_tree("make step-01 BACKEND=cpu");
is($r{code}, 0, "a header that is gone and not asked for any more is no error") or diag($r{err});
is(compiled($r{out}), "one.cu", "and its user is rebuilt");
in_tree("make step-03 BACKEND=cpu");
%r = in_tree("make step-03 BACKEND=cpu CXXFLAGS=-DOTHER");
like(compiled($r{out}), qr/\bcode\.cu\b/, "other flags rebuild");
%r = in_tree("make step-03 BACKEND=cpu CXXFLAGS=-DOTHER");
is(compiled($r{out}), "", "the same flags do not");
in_tree("make step-03 BACKEND=cpu");

spew("$tree/common/harness/run/broken.c", "int f(void) { return }\n");
%r = in_tree("make step-03 BACKEND=cpu");
is($r{code}, 2, "what does not compile fails");
ok(!-e "$tree/build/cpu/$cxx/harness/run/broken.o", "and leaves no output");
unlink "$tree/common/harness/run/broken.c";

# --- Arguments and codes -------------------------------------------------------------------------
%r = in_tree("make -s step-03 run BACKEND=cpu ARGS='--code 0 \"two words\"'");
is($r{out}, "[--code]\n[0]\n[two words]\n",
    "ARGS reaches the program, and -s leaves only its output");
%r = in_tree("make step-03 run BACKEND=cpu ARGS='--code 2'");
is($r{code}, 2, "a program that fails fails make");
is_deeply([errors($r{err})], ["03-code: ending with 2"], "with the program's line");
like($r{err}, qr/run-03\] Error 2$/m, "and its code in make's last line");
%r = in_tree("make step-03 run BACKEND=cpu ARGS='--code 1'");
like($r{err}, qr/run-03\] Error 1$/m, "likewise code 1");
%r = in_tree("make step-03 step-02 run BACKEND=cpu ARGS='--code 77'");
is($r{code}, 0, "77 does not fail make");
like($r{out}, qr/^step-03: passed over, it cannot run here$/m, "it is said");
like($r{out}, qr/step-02 line 4/, "and the other step runs");

# Behind a step that ran: where to read of it, and what to type next.
my $further = qr/^read: |^next: /m;
unlike($r{out}, qr/^next: .*step-03/m, "behind a step that is passed over there is nothing");
spew("$tree/chapters/07-two.md", "# Two\n\n::: {.step step=\"02\"}\n## Twice\n:::\n");
%r = in_tree("make step-02 run BACKEND=cpu");
is($r{out} =~ s/.*line 4\n//sr, "\nread: chapters/07-two.md, line 3 (make book makes pages)\n"
    . "next: make step-02 predict, make step-02 count, make step-02 check\n", "run ends with where to read and what is next");
%r = in_tree("make step-03 step-02 run BACKEND=cpu");
is(join(" ", sort $r{out} =~ /^next: make (step-\d\d)/mg), "step-02 step-03", "of each step, of two");
spew("$tree/build/book/html/07-two.html", "");
in_tree("mkdir -p work && printf '02\\t1\\t-\\n' >work/predictions.tsv");
spew("$tree/steps/03-code/code.cu", slurp("$tree/steps/03-code/code.cu") . "// solution: a -- a task\n// end solution: a\n");
%r = in_tree("make step-02 run BACKEND=cpu ARGS=--case");
like($r{out}, qr/\nread: build\/book\/html\/07-two\.html#step-02\nnext: make step-02 count, make step-02 check\n\z/,
    "the page where the book is made, and no prediction where there is one");
%r = in_tree("make step-03 run BACKEND=cpu");
like($r{out}, qr/\n\nnext: make step-03 count, make step-03 check; make step-03 exercise\n\z/, "no page, no question, but an exercise");
for (["-s step-02 run", "with -s"], ["step-02 run ARGS=--json", "behind rows"], ["step-03 run ARGS='--code 1'", "where it failed"],
    ["step-03 run ARGS='--code 77'", "where it cannot run"], ["step-02", "where it is only built"]) {
    my ($goals, $when) = @$_;
    %r = in_tree("make $goals BACKEND=cpu");
    unlike($r{out}, $further, "nothing of that $when");
}
in_tree("rm -r work build/book chapters");

# --- Programs that count or check: a cudacc that says how it was called, in place of the compiler ---
sub stand_in {
    my ($text) = @_;
    spew("$tree/common/cpu/cudacc", "#!/bin/sh\n$text");
    in_tree("chmod +x common/cpu/cudacc");
}
in_tree("cp -p common/cpu/cudacc cudacc");
stand_in(<<'SCRIPT');
kind=plain program=
while [ $# -gt 0 ]; do
    case $1 in
    --count | --check) kind=${1#--} ;;
    --runtime-only) exit ;;
    -MF) : >"$2" ;;
    -o) program=$2 ;;
    esac
    shift
done
sed "s/KIND/$kind/" >"$program" <<'PROGRAM'
#!/bin/sh
echo "$(basename "$0"), KIND: $*"
case "$* KIND" in *'--code '[0-9]*check*) exit $(echo "$*" | sed 's/.*--code \([0-9]*\).*/\1/') ;; esac
PROGRAM
chmod +x "$program"
SCRIPT
%r = in_tree("make -s step-01 step-02 count BACKEND=cpu ARGS='--case \"a b\"'");
is($r{code}, 0, "two steps are counted") or diag($r{out}, $r{err});
is($r{out}, join("", map { "step-$_, count: --seed 1 --out build/data/cpu/step-$_-counts.tsv --case a b\n" }
    qw(01 02)), "by programs that count, each to its own rows, with ARGS");
ok(-x "$tree/build/cpu/$cxx-count/step-01", "they lie apart from the plain ones");
%r = in_tree("make -s check BACKEND=cpu ARGS='--seed 3'");
is($r{out}, join("", map { "step-$_, check: --seed 3\n" } qw(01 02 03)), "all steps are checked");
%r = in_tree("make step-01 check BACKEND=cpu ARGS='--code 1'");
is($r{code}, 2, "findings fail make");
like($r{err}, qr/check-01\] Error 1$/m, "with the program's code");
%r = in_tree("make -s step-01 check BACKEND=cpu ARGS='--code 77'");
is($r{code}, 0, "77 does not");
like($r{out}, qr/^step-01: passed over, it cannot run here$/m, "and is said");
in_tree("mkdir -p work && echo >work/01-one.cu");
%r = in_tree("make -s step-01 try BACKEND=cpu");
is($r{out}, "try-01, plain: --verbose\nmake next goes on; make step-01 solution sets yours beside the step's own\n"
    . "step-01 try: right: verified and checked; no counts are recorded of what was run\n",
    "try verifies, then checks, and counts where there is what to compare with");
for ("--case D8", "--case=D8", "--variant plain") {
    %r = in_tree("make -s step-01 try BACKEND=cpu ARGS='$_'");
    like($r{out}, qr/^step-01 try: right: .* \(only what ARGS names was tried: step-01 is right when make step-01 try says so\)$/m, "what $_ leaves out is not called right");
}
%r = in_tree("make -s step-01 try BACKEND=cpu ARGS='--code 1'");
is($r{code}, 2, "what is right and breaks a rule fails");
like($r{out}, qr/^step-01 try: not right yet: its results are right and a check fails, see above$/m, "and it says which");
stand_in("case \" \$* \" in *' -c '*) echo 'cudacc: no such instrument' >&2; exit 2 ;; esac\n");
%r = in_tree("touch steps/01-one/one.cu && make step-01 count BACKEND=cpu");
is_deeply([errors($r{err})], ["cudacc: no such instrument"], "a compiler that cannot: its line alone");
in_tree("rm -r build/cpu work && mv cudacc common/cpu/cudacc");

sub refused {
    my ($goals, $line, %env) = @_;
    my %r = in_tree("make $goals", %env);
    is($r{code}, 2, "make $goals: code 2");
    like($r{err}, qr/^\S+: \*\*\* $line\.  Stop\.$/, "make $goals: says what is wrong");
    is(scalar(split /\n/, $r{err}), 1, "make $goals: in one line");
    is($r{out}, "", "make $goals: and does nothing");
}
refused("step-09 run", qr/There is no step-09: .*step-01 to step-03.*/);
for ("step-1", "step1", "step_01", "step-01.run", "1", "01", "steps/01-one", "Step-01", "step-01/run") {
    refused("$_ run", qr/There is no \Q$_\E: write step-01; .*/);
}
refused("rnu", qr/There is no command `rnu`: write run; .*\brun\b.*/);
refused("step-01 Diff", qr/There is no command `Diff`: write diff; .*/);
refused("tests", qr/There is no command `tests`: write test; .*/);
refused("bread", qr/There is no command `bread`: the commands are .*/);
refused("step-01 exercise FORCE", qr/There is no command `FORCE`: it is a setting, write FORCE=VALUE, .*/);
refused("step 03 run", qr/There is no step: write step-03; .*/);
refused("$_ run", qr/There is no \Q$_\E: write step-02; .*/) for "step-two", "two", "step–02";
refused("step-xx run", qr/There is no step-xx: the steps are .*/);
refused("stop", qr/There is no command `stop`: the commands are .*/);
refused("$_->[0]", qr/There is no command `\Q$_->[0]\E`: write $_->[1]; .*/) for ["install", "setup"], ["prediction", "predict"];
refused("step-01 predict 24576", qr/predict takes no answer on its line: .*/);
refused("next 21", qr/There is no command `21`: write next FROM=21/);
refused("next step-02", qr/next takes no step: write next FROM=02, or step-02 exercise/);
refused("rule 1 2", qr/There is no command `1`: write ARGS="NAME=VALUE \.\.\.", .*/);
refused("step-01 run 'ARGS=“--case' 'D64”'", qr/The shell does not know the quotes “ and ”: write ARGS="--case D64" with plain ones/);
refused("\"it's\"", qr/There is no command `it's`: .*/);
# Options of the program, given without quotes or without ARGS.
for (["ARGS=--case D128", "--case D128"], ["ARGS=--seed 1", "--seed 1"], ["D128", "--case D128"], ["'case D128'", "--case D128"],
    ["case=D128", "--case D128"], ["seed=1", "--seed 1"], ["SEED=1", "--seed 1"], ["ARGS='--seed 1' case=D128", "--seed 1 --case D128"]) {
    refused("step-03 run $_->[0]", qr/(?:There is no|ARGS needs|SEED is read only by).* write ARGS="\Q$_->[1]\E".*/);
}
refused("step-01 SHARD=1/2", qr/SHARD is read only by: test test-all/);
refused("step-01 ARGS=--list", qr/ARGS is read only by: run count .*/);
refused("test seed=1", qr/There is no setting seed: write SEED=VALUE; .*/);
refused("step-01 run BAKCEND=cpu", qr/There is no setting BAKCEND: write BACKEND=VALUE; .*/);
refused("step-01 run args=--list", qr/There is no setting args: write ARGS=VALUE; .*/);
refused("step-01 run BACKEND=gpu", qr/There is no backend `gpu`: .*BACKEND=cpu.*/);
refused("step-01 run backend=cpu", qr/There is no setting backend: .*BACKEND.*/);
refused("step-01 run ARCH=ninety", qr/ARCH=ninety is no architecture: .*/);
refused("step-01 run CXX=no-such-compiler", qr/CXX=no-such-compiler is no C\+\+ compiler.*/);
refused("step-01 try", qr{There is no work/01-one\.cu to try: make step-01 exercise writes it});
refused("try", qr{There is no exercise in work/ to try: .*});

# A line of the command's own, and that of make.
for (["step-01 diff ARGS=--al", "diff: \"--al\" is no option of it: make step-NN diff, or make step-NN diff ARGS=--all"],
    ["exactness SEEDS=abc BACKEND=cpu", "exactness: SEEDS=abc: need a whole number above 0, as SEEDS=100"],
    ["rule ARGS='launches=1 N=(3'", "rule: N=(3: a number is right, or numbers and capital letters with + - * / and ( )"]) {
    my ($goals, $line) = @$_;
    %r = in_tree("make -s $goals");
    is($r{code}, 2, "make $goals: code 2");
    is_deeply([errors($r{err})], [$line], "make $goals: one line says what is right");
}

# --- diff, clean ---------------------------------------------------------------------------------
%r = in_tree("make step-03 diff");
is($r{code}, 0, "diff succeeds although there is a difference");
like($r{out}, qr{\A03-code: \d+ % of its lines are new against 02-two \(story: \d+ %\)\nBelow is the story: },
    "which begins with how much is new");
like($r{out}, qr{^--- steps/02-two/two\.cu\n\+\+\+ steps/03-code/code\.cu\n\@\@}m,
    "it is a unified diff from the earlier step");
%r = in_tree("make step-01 diff");
is($r{out}, "01-one grows from nothing: there is no earlier step to compare it with\n",
    "a step without one says so");
in_tree("mkdir -p work && echo mine >work/01-one.cu");
%r = in_tree("make clean step-02 BACKEND=cpu");
is($r{code}, 0, "clean and a step in one go") or diag($r{err});
ok(-x "$tree/build/cpu/$cxx/step-02" && !-e "$tree/build/cpu/$cxx/step-01", "clean came first");
in_tree("make clean");
ok(!-e "$tree/build", "clean removes build/");
is(slurp("$tree/work" . "/01-one.cu"), "mine\n", "and leaves the reader's file");

# --- Compilers and devices that are not there, or are --------------------------------------------
# A PATH with the ordinary tools and without any compiler.
my $bin = "$tree/build/bin";
for my $tool (qw(sh make awk sed grep cat head tail tr cut sort cmp cksum mkdir mv cp rm ls dirname
    basename printf touch diff date env id git perl)) {
    my %r = in_tree("mkdir -p build/bin && command -v $tool");
    chomp(my $path = $r{out});
    symlink $path, "$bin/$tool" if $path =~ m{^/};
}
%r = in_tree("make step-01", PATH => $bin, CXX => undef, CC => undef);
is($r{code}, 2, "without a compiler: code 2");
like($r{err}, qr/^\S+: \*\*\* There is no C\+\+ compiler.*make setup.*\.  Stop\.\n\z/i,
    "and one line that names make setup");
%r = in_tree("make", PATH => $bin);
is($r{code}, 0, "help needs no compiler");
like($r{out}, qr/step-01  one/, "and lists the steps");

sub tool {
    my ($name, $text) = @_;
    spew("$tree/build/$name", "#!/bin/sh\n$text");
    chmod 0755, "$tree/build/$name";
    return "$tree/build/$name";
}
my %no_nvcc = (CUDA_HOME => "/nowhere",
    PATH => join ":", grep { !-e "$_/nvcc" } split /:/, $ENV{PATH});
%r = in_tree("make step-02 run", %no_nvcc);
like($r{out}, qr/^backend: CPU \(no nvcc found\)$/m, "without nvcc: the CPU, and why");
%r = in_tree("make cuda", %no_nvcc);
is($r{code}, 0, "make cuda without nvcc is no failure");
is($r{out}, "cuda: nothing compiled: no nvcc found\n", "and one line");
%r = in_tree("make data", %no_nvcc);
is($r{code}, 0, "make data without a GPU is no failure");
like($r{out}, qr/^data: nothing recorded, it needs a GPU: no nvcc found$/m, "and says why");
refused("step-02 run BACKEND=cuda",
    qr/BACKEND=cuda needs the CUDA toolkit, 12\.0 or newer: no nvcc found/, %no_nvcc);

tool("old/nvcc", "echo 'Cuda compilation tools, release 11.8, V11.8.89'\n");
%r = in_tree("make step-02 run NVCC=build/old/nvcc");
like($r{out}, qr/^backend: CPU \(nvcc 11\.8 is too old, 12\.0 or newer is needed\)$/m,
    "an nvcc that is too old");

# An nvcc whose programs are scripts: probe.cu's names a device, the others print and record a row.
tool("fake/nvcc", <<'SCRIPT');
while [ $# -gt 0 ]; do
    case $1 in
    --version) echo 'Cuda compilation tools, release 12.4, V12.4.1'; exit ;;
    --list-gpu-arch) printf 'compute_80\ncompute_90\n'; exit ;;
    -o) out=$2; shift ;;
    *probe.cu) probe=1 ;;
    esac
    shift
done
if [ "$probe" ]; then
    if [ -e no-device ]; then
        echo 'echo no CUDA device; exit 77'
    else
        echo 'echo NVIDIA Test 1'
    fi
else
    echo 'echo "ran $(basename $0) $*"; while [ $# -gt 0 ]; do
        case $1 in --out | --map | --tuned) echo "row $KF_COMMIT" >>$2 ;; esac; shift; done'
fi >"$out"
chmod +x "$out"
SCRIPT
my $fake = "NVCC=build/fake/nvcc";
%r = in_tree("make step-02 run $fake ARGS='--seed 7'");
is($r{code}, 0, "with a device") or diag($r{err});
like($r{out}, qr/^backend: CUDA \(NVIDIA Test 1, nvcc 12\.4\)$/m,
    "CUDA is chosen, and the device named");
like($r{out}, qr/^ran step-02 --seed 7$/m, "its program runs");
%r = in_tree("make step-02 run $fake BACKEND=cpu");
like($r{out}, qr/^backend: CPU \(asked for\)$/m, "BACKEND=cpu wins");
refused("step-01 run ARCH=50 $fake", qr/ARCH=50 is not among those this nvcc compiles for: 80 90/);
%r = in_tree("make -n cuda ARCH=90a $fake");
like($r{out}, qr/-gencode arch=compute_90a,code=sm_90a/, "ARCH=90a is passed on");
unlike($r{out}, qr/sm_80/, "and nothing else");

# A step may ask for a run of its own, and for more of the run that all have.
tiny_step($tree, "04-map", "asks for a map", "    return 0;\n",
    header => " * Record: --tuned tuned-map.tsv\n * Data: --case odd --map step-04-map.tsv\n");
in_tree("mkdir -p build/data/nvidia-test-1 && echo old >build/data/nvidia-test-1/step-02.tsv");
tool("bare/python3", "exit 1\n");
%r = in_tree("make data $fake KF_COMMIT=abc", PATH => "$tree/build/bare:$ENV{PATH}");
is($r{code}, 0, "data with a device") or diag($r{out}, $r{err});
is(join("", $r{out} =~ /^(.*peers.*\n)/mg), "== peers: passed over, there is no python3 with PyTorch\n",
    "without PyTorch its peers are passed over, in one line");
for my $name (qw(ceilings step-01 step-02 step-03 step-04 tuned-map step-04-map)) {
    is(slurp("$tree/build/data/nvidia-test-1/$name.tsv"), "row abc\n",
        "data: $name.tsv is there, fresh, with the commit");
}
like($r{out}, qr{plots/data/nvidia-test-1/}, "and it says how to keep them");

# A python3 that has PyTorch: it says so, and records a row or finds no device. One that has
# transformers too does that twice.
tool("torch/python3", 'case "$1 $2" in
"-c "*transformers*) [ -e transformers ]; exit ;;
"-c "*) exit ;;
"plots/peers/peers.py --out"|"plots/peers/flash.py --out"|"plots/peers/flash_backward.py --out"|"plots/peers/long.py --out")
    [ ! -e no-peers ] || exit 77; echo "peer $KF_COMMIT" >>"$3" ;;
"plots/peers/neox.py --programs") echo "$3 $KF_COMMIT" >"$5/peers-neox-times.tsv" ;;
*) exit 2 ;;
esac
');
my %torch = (PATH => "$tree/build/torch:$ENV{PATH}");
my $peers = "$tree/build/data/nvidia-test-1/peers.tsv";
%r = in_tree("make data $fake KF_COMMIT=abc && make data $fake KF_COMMIT=abc", %torch);
is($r{code}, 0, "data with PyTorch") or diag($r{out}, $r{err});
is(slurp($peers), "peer abc\n", "data: peers.tsv is there, fresh, with the commit");
like($r{out}, qr/step-04-map.*== peers: python3.*== peers: \d+ s\n== peers-flash: python3.*== peers-flash: \d+ s\n== peers-flash-backward: python3.*== peers-flash-backward: \d+ s\n== peers-long: python3.*== peers-long: \d+ s\n== peers-neox: passed over, .*transformers\ndata: /s,
    "after the steps, and timed");
is(slurp($peers =~ s/peers/$_/r), "peer abc\n", "data: so is $_.tsv") for qw(peers-flash peers-flash-backward peers-long);
spew("$tree/transformers", "");
%r = in_tree("make data $fake KF_COMMIT=abc", %torch);
is($r{code}, 0, "data with transformers") or diag($r{out}, $r{err});
is(slurp("$tree/build/data/nvidia-test-1/peers-neox-times.tsv"), "build/cuda abc\n",
    "its rows are there, and of these programs");
unlink "$tree/transformers";
spew($peers, "old\n");
spew("$tree/no-peers", "");
%r = in_tree("make step-02 data $fake KF_COMMIT=abc", %torch);
unlike($r{out}, qr/peers/, "data of one step leaves the peers out");
is(slurp($peers), "old\n", "and their rows as they were");
%r = in_tree("make data $fake KF_COMMIT=abc", %torch);
is($r{code}, 0, "a PyTorch without a device fails nothing") or diag($r{out}, $r{err});
like($r{out}, qr/^== peers: passed over, it cannot run here\n.*^== peers-flash: passed over, it cannot.*^== peers-flash-backward: passed over, it cannot.*^== peers-long: passed over, it cannot/ms,
    "and it is said");

in_tree("rm build/cuda/probe-*; touch no-device");
%r = in_tree("make step-02 run $fake");
like($r{out}, qr/^backend: CPU \(nvcc 12\.4 found, but no CUDA device\)$/m,
    "nvcc without a device: the CPU, and why");


done_testing();
