#!/usr/bin/env perl
# The harness: unit tests in C, then whole programs. "toy" runs on a runtime of our own making
# (tests/harness/fake.c) that can refuse, run out of memory, be noisy and tell any time; "tiny" is a
# real kernel on the CPU backend.
# Reads: common tests/harness steps/29-flash-wgmma steps/45-what-pays plots/data
use strict;
use warnings;
use Cwd qw(getcwd);
use Fcntl qw(:flock);
use Time::HiRes ();
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use JSON::PP;
use POSIX ();
use Test::More;
use lib "tests/lib";
use Workbook;

my %r = run("make -s programs BACKEND=cpu");
is($r{code}, 0, "the CPU backend is built") or BAIL_OUT($r{err});
chomp(my $cpu = $r{out});
my $build = "build/tests/harness";
make_path($build);
my $cc = $ENV{CC} || (have("gcc") ? "gcc" : "cc");
my $include = "-Icommon/cpu/include -Icommon";
my $flags = "-std=c11 -O2 -Wall -Wextra -Werror $include";

# The harness without backend.c and rates.c, which the fake runtime replaces: as make has built it, with the same
# flags and -g.
my @sources = glob("tests/harness/*.c");
my @jobs = map { my ($name) = m{([^/]+)\.c$}; "$cc $flags -c $_ -o $build/$name.o" } @sources;
%r = run("printf '%s\\n' " . join(" ", map { "'$_'" } @jobs) . " | xargs -P 2 -I{} sh -c '{}'");
is($r{code}, 0, "the tests compile as C11 without a warning") or BAIL_OUT($r{err});
my @objects = map { m{common/(.+)\.c$} && $1 !~ m{/(backend|rates)$} ? "$cpu/$1.o" : () }
    glob("common/harness/*/*.c common/problems/*.c");
push @objects, map { "$cpu/neox/$_.o" } qw(bounds seeded shape); # unit_bounds holds them to the formula
my @programs = map { m{/(unit_.+|toy)\.c$} ? $1 : () } @sources;
for my $program (@programs) {
    # unit_ceiling has a broken plain.c of its own.
    my @linked = grep { $program ne "unit_ceiling" || !m{/plain\.o$} } @objects;
    %r = run("$cc -o $build/$program $build/$program.o $build/fake.o $build/trace.o @linked -lpthread -lm");
    is($r{code}, 0, "$program links") or BAIL_OUT($r{err});
}

# --- Unit tests.
for my $unit (grep { /^unit_/ } @programs) {
    %r = run("$build/$unit");
    is($r{code}, 0, "$unit ends well");
    my @lines = split /\n/, $r{out};
    for (@lines) { ok(!$1, "$unit: $2") if /^(not )?ok \d+ - (.*)/ }
    my ($plan) = grep { /^1\.\./ } @lines;
    my $count = grep { /^(not )?ok / } @lines;
    is($plan, "1..$count", "$unit runs to its end");
    diag($r{out}) if $r{out} =~ /^not ok/m;
}

# --- Under sanitizers: an array that is left, memory that is freed twice or not at all, a sum that overflows.
# Not unit_flash and its like, which take a minute so; unit_ceiling, which has a plain.c of its own; and
# unit_step, whose programs end in the middle, and free nothing.
my $sanitizers = "-fsanitize=address,undefined -fno-sanitize-recover=all";
my $sanitized = "$build/sanitized";
make_path($sanitized);
my @own = grep { !/^unit_(ceiling|step|flash.*|rope_flash)$/ } @programs;
my @c = ((grep { !m{/(backend|rates)\.c$} } glob("common/harness/*/*.c common/problems/*.c")),
    (map { "common/neox/$_.c" } qw(bounds seeded shape)), map { "tests/harness/$_.c" } "fake", "trace", @own);
my $object_of = sub { $_[0] =~ m{([^/]+)/([^/]+)\.c$} or die; "$sanitized/$1-$2.o" };
@jobs = map { my ($from) = m{(.*)/}; "$cc -std=c11 -O1 -g $sanitizers $include -I$from -c $_ -o " . $object_of->($_) } @c;
%r = run("printf '%s\n' " . join(" ", map { "'$_'" } @jobs) . " | xargs -P 2 -I{} sh -c '{}'");
is($r{code}, 0, "all compiles with sanitizers") or BAIL_OUT($r{err});
@objects = map { $object_of->($_) } grep { m{^common/|/(?:fake|trace)\.c$} } @c;
for my $program (@own) {
    %r = run("$cc $sanitizers -o $sanitized/$program " . $object_of->("harness/$program.c") . " @objects -lpthread -lm");
    is($r{code}, 0, "$program links with sanitizers") or BAIL_OUT($r{err});
    next if $program eq "toy";
    %r = run("$sanitized/$program");
    is("$r{code} $r{err}", "0 ", "$program: nothing that sanitizers find");
}
for my $what ("", " --json", " --list", " --variant right --case D8 --reps 3", "TOY_ANGLES", "TOY_TUNES --tuned F",
    "TOY_PARTS", "TOY_REPEATS --repeats F", "TOY_ALONE", "TOY_TIMELINE --timeline F --case D8", " --out F --case D8",
    " --map F --case D8", " --errors F --case D8", " --dump F --case D8", " --exactness F", " --once --launches F") {
    my ($mode, $options) = $what =~ /^(\w*)(.*)/;
    $options =~ s{\bF\b}{$sanitized/written};
    unlink "$sanitized/written";
    %r = run("$sanitized/toy --seed 1$options", $mode ? ($mode => 1) : ());
    unlike($r{err}, qr/Sanitizer|runtime error/, "toy $what: nothing that sanitizers find") or diag($r{err});
}
for my $how ("count", "check") {
    %r = run("$sanitized/toy --seed 1 --once", FAKE_TRACE => $how, FAKE_FINDINGS => "leak,shared race");
    unlike($r{err}, qr/Sanitizer|runtime error/, "toy that ${how}s: nothing that sanitizers find") or diag($r{err});
}

# --- What kernels share, on the CPU backend: programs that end with a plan of COUNT lines, and all of them ok.
for my $case (["rope_angle", 32, "the accurate angles of common/cuda are as near to long double as they say"],
    ["half_add", 5, "the add in fp16 of common/cuda is right to the last bit, at all addresses"],
    ["flush", 2, "what flushes the L2, which the units have a fake of, reads the whole array, and writes nothing"],
    ["gelu", 4, "GELU of common/neox is right at each half, and others are not"],
    ["work_tiles", 4, "work tiles of step 29 go out in their order, and events are recorded under their tiles"],
    ["neox_kernels", 60, "kernels of common/neox and step 45 round exact results once", "forward", "reverse", "random"]) {
    my ($name, $count, $title, @orders) = @$case;
    %r = run("common/cpu/cudacc -O2 -g1 -Wall -Wextra -Werror -Icommon -Isteps/29-flash-wgmma -Isteps/45-what-pays tests/harness/$name.cu "
        . "$cpu/harness/*/*.o $cpu/problems/*.o $cpu/neox/*.o -o $build/$name");
    is($r{code}, 0, "$name.cu builds") or diag($r{err});
    for my $order (@orders ? @orders : "forward") {
        %r = run("$build/$name", CUDACPU_ORDER => $order);
        is(join("", $r{out} =~ /^not ok.*\n/mg), "", "$title, $order") or diag($r{out});
        is(join(" ", $r{out} =~ /^(?:not )?ok (\d+)/mg, $r{out} =~ /^(1\.\.\d+)\n\z/m), join(" ", 1 .. $count, "1..$count"),
            "$name, $order: and all is looked at");
    }
}

# --- Whole programs.
my $toy = "$build/toy";
my $dir = tempdir(CLEANUP => 1);

# fails(WHAT, COMMAND, CODE, MESSAGE, ENV): one line on stderr, that code.
sub fails {
    my ($what, $command, $code, $message, %env) = @_;
    %r = run($command, %env);
    is($r{code}, $code, "$what: exit $code");
    like($r{err}, qr/\A[^\n]*$message[^\n]*\n\z/, "$what: one line says so"
        . ($message =~ /\\n/ ? ", and one of the backend why" : ""));
}

# The same place, a long way round: some 2000 characters more.
sub long_way { return "/" . "./" x 1000 . substr($_[0], 1) }

sub run_out { my %r = run($_[0]); return $r{out} }

%r = run("$toy --seed 1");
is($r{code}, 0, "all right or as predicted: exit 0");
is($r{err}, "", "and nothing on stderr");
like($r{out}, qr/--seed 1 repeats it/, "the seed is printed");
like($r{out}, qr/prediction: half of the outputs are NaN: 40 of 80/, "a bug step says what showed");
like($r{out}, qr/predicted: S=64 needs 0\.01 GB, .* will fit/, "memory is predicted");
ok(!(grep { length > 100 } split /\n/, $r{out}), "no line is longer than 100 columns");
like($r{out}, qr/^  right +graph +cold +25\.00/m, "times are there: 25 us cold");
like($r{out}, qr/^  slow +graph +warm +40\.00 .* 0\.50x/m, "and ratios");


# A prediction that comes out again is printed once, and a case without any other message is a row of a table.
sub said_of { return scalar(() = $_[0] =~ /^  variant $_[1]: /mg) }
is(said_of($r{out}, "bug"), 1, "a prediction is told once");
like($r{out}, qr/\n\nfurther cases, as predicted in the same way; --verbose .*\n  case  variant +status .*\n  odd   right +ok +0 +0 +15 .*\n\ncase big: /,
    "a case with nothing else to say is a row, under one line that says how to see more");
like($r{out}, qr/^  bug +predicted +2048 +2048 +4096 /m, "what is not told again has its row");
my $short = $r{out};
for ("--verbose", "--case D8 --case odd --case big", "--variant right --variant slow --variant bug") {
    %r = run("$toy --seed 1 $_");
    is(said_of($r{out}, "bug"), 2, "$_: in each case");
    like($r{out}, qr/\n\ncase odd: B=1 H=1 Sq=3 Sk=7 D=5 causal\n  variant +status .*\n  right +ok /, "$_: and each has its table");
    is(join(" ", sort grep { /^  (?:right|slow|bug) / } split /\n/, $r{out}),
        join(" ", sort grep { /^  (?:right|slow|bug) / } split /\n/, $short =~ s/^  odd   /  /mr), "$_: with the same figures");
}
%r = run("$toy --seed 1", TOY_FIXED => 1);
is($r{code}, 1, "a prediction that fails in two cases: exit 1");
is(() = $r{out} =~ /^  variant bug: NOT as predicted\n    prediction: half /mg, 2, "what is not as predicted is told each time");
%r = run("$toy --seed 1", TOY_BUG => "one");
is(() = $r{out} =~ /^  variant right: WRONG\n  o: 1 of \d+ elements wrong.*\n    first at /mg, 3, "and so is what is wrong");
like($r{out}, qr/^case odd: .*\n  variant right: WRONG\n/m, "under its case");

my ($one, $two) = map { { run("$toy --case D8") } } 1, 2;
my ($seed) = $one->{out} =~ /--seed (\d+) repeats/;
isnt($seed, ($two->{out} =~ /--seed (\d+)/)[0], "each run has a seed of its own");
%r = run("$toy --case D8 --json --seed $seed");
my $rows = decode_json($r{out});
is(scalar(@$rows), 3 * 5, "--json is valid JSON: a row a variant, and one a variant and clock");
is($r{err}, "", "--json: nothing else");

# --- Cases that no variant takes.
%r = run("$toy --seed 1 --case odd --case D8 --variant slow");
is("$r{code} $r{err}", "2 99-toy: --case odd: no variant chosen takes this case; it is taken by right\n", "one that is named: exit 2");
unlike($r{out}, qr/case/, "and nothing is run");
%r = run("$toy --seed 1 --variant slow");
is($r{code}, 0, "one that is not named: exit 0");
like($r{out}, qr/^skipped, no variant chosen takes it: odd$/m, "and a line");
unlike($r{out}, qr/^case odd/m, "and no empty table");
run("$toy --variant slow --out $dir/passed-over.tsv");
like(slurp("$dir/passed-over.tsv"), qr/\tslow\todd\t.*\tskipped\t-\t-\t-\t-\t-\n/, "its rows say that it was skipped");
%r = run("TOY_FLOPS=2e8 $toy --variant right");
unlike($r{out}, qr/skipped, large/, "what does not count takes large cases");
%r = run("$toy --variant slow --list");
like($r{out}, qr/^  odd .*\(no variant takes it\)$/m, "--list says so too");
fails("nothing but that", "$toy --variant slow --case D=5 >/dev/null", 2, "nothing ran: every case chosen is skipped");

# --- Rows.
%r = run("$toy --case D8 --out $dir/rows.tsv --seed 3", KF_COMMIT => "abc1234");
my $text = slurp("$dir/rows.tsv");
my @lines = split /\n/, $text;
my @head = grep { /^#/ } @lines;
is(join(" ", map { /^# (\w+): \S/ ? $1 : "?" } @head),
    "device backend compute driver toolkit commit date seed program", "the header has its keys");
like($text, qr/^# device: FAKE G-100 \(test\)\n# backend: cuda\n.*^# commit: abc1234\n.*^# seed: 3\n/ms, "and values");
is($lines[@head], join("\t", qw(step variant case B H Sq Sk D R causal pos0 dtype clock l2 median_us
    p5_us p95_us n bytes flops device_bytes limit_us limit_by limit_pct ratio ratio_p5 ratio_p95 status
    wrong nan total max_err err_bound)), "the columns have their names");
my @rows = map { [split /\t/, $_, -1] } @lines[@head + 1 .. $#lines];
is(scalar(@rows), 15, "a row a variant, and one a variant and clock");
is(scalar(grep { @$_ != 33 } @rows), 0, "each has 33 cells");
is(join(" ", @{$rows[1]}[0 .. 14]), "99 right D8 1 2 5 5 8 0 0 0 f32 graph warm 20", "a timed row");
is(scalar(grep { $_->[12] eq "-" } @rows), 3, "one verification row a variant");
is(join(" ", @{$rows[10]}[12, 14, 27 .. 30]), "- - predicted 40 40 80", "a bug's row");
%r = run("$toy --case odd --out $dir/rows.tsv", KF_COMMIT => "abc1234");
is($r{code}, 0, "a second run appends");
is(slurp("$dir/rows.tsv") =~ /\A\Q$text\E(99\t[^\n]*\n){3}\z/ ? 1 : 0, 1, "without a second header");
like(slurp("$dir/rows.tsv"), qr/\tslow\todd\t.*\tskipped\t-\t-\t-\t-\t-\n/, "a variant that does not apply is skipped");
run("$toy --case odd --variant right --out $dir/one-row.tsv");
is(scalar(() = slurp("$dir/one-row.tsv") =~ /^99\t/mg), 1, "one row alone is recorded too");
run("$toy --case D8 --out $dir/zero.tsv --seed 3 <&-", KF_COMMIT => "abc1234");
is(slurp("$dir/zero.tsv") =~ s/date: .*//r, $text =~ s/date: .*//r, "the same where the file has the number 0");
run("TOY_REPEATS=1 TOY_BUG=no-error $toy --variant steady --case D8 --out $dir/no-error.tsv");
like(slurp("$dir/no-error.tsv"), qr/^99\tsteady\tD8\t.*\tok\t0\t0\t84\t0\t[0-9.e-]*[1-9][0-9.e-]*$/m,
    "what has no error has its bound in its row");
fails("rows of another commit", "$toy --out $dir/rows.tsv", 2, "commit \"abc1234\"", KF_COMMIT => "other");
spew("$dir/other.tsv", "# device: x\na\tb\n1\t2\n");
fails("a file with other columns", "$toy --out $dir/other.tsv", 2, "column names");
is(slurp("$dir/other.tsv"), "# device: x\na\tb\n1\t2\n", "and it is left alone");
fails("a folder that is not there", "$toy --out $dir/none/x.tsv", 2, "No such file or directory");
fails("a full disk", "$toy --case D8 --out /dev/full >/dev/null", 1, "No space left on device") if -e "/dev/full";

# A file that may not grow: the rows of the first case fit, those of the second do not. 512 bytes a
# block in sh; the write stops in the middle of a row.
my $limit = int((2 * length($text)) / 1024) + 1;
fails("a file size limit", "(ulimit -f $limit; $toy --case D8 --case odd --case big --out $dir/limit.tsv --seed 3 >/dev/null)", 1,
    "rows of this case are not recorded");
$r{out} = slurp("$dir/limit.tsv");
like($r{out}, qr/\A(# .*\n)+step\t.*\n(99\t.*\n)+\z/, "earlier rows stay, no half row");
is(scalar(() = $r{out} =~ /^99\t/mg), scalar(() = $r{out} =~ /^99\t.*\t[-0-9.e+]+$/mg), "each row is whole");

# --- A program that tunes.
my $tune = "TOY_TUNES=1 $toy --case D8 --case odd --seed 3 --tuned $dir/tuned.tsv";
%r = run("$tune --out $dir/tuning.tsv");
is($r{code}, 0, "--tuned") or diag($r{err});
like($r{out}, qr/^  variant bug: refused: this toy has no room for it\n/m, "a variant is refused, and why");
like($r{out}, qr/^  bug +refused +- +- +- +-\n/m, "it stands in the table");
like(slurp("$dir/tuning.tsv"), qr/^99\tbug\tD8\t.*\trefused-room\t-\t-\t-\t-\t-\n/m, "and has a row");
is(scalar(() = slurp("$dir/tuning.tsv") =~ /\tbug\t/g), 2, "and no time");
like($r{out}, qr/^  B=1 H=2 S=5 D=8 +right +20\.00  2\.000x  1\.000x       -\n/m, "the fastest of each shape");
like($r{out}, qr/the two halves of the rounds choose the same in 1 of 1; else at most 0\.0% slower/, "and how sure that is");
ok(!(grep { length > 100 } split /\n/, $r{out}), "no line is longer than 100 columns");
like(slurp("$dir/tuned.tsv"), qr/\A(# .*\n)+Sq\tSk\t.*\n5\t5\t8\t0\t1\t2\tright\t20\tslow\t40\tright\t20\tright\t20\tright\t20\t-\t-\t-\t2\t1\t[0-9.e-]+\n\z/,
    "a row a shape that was timed");
%r = run("TOY_BUG=later $tune 2>/dev/null");
is($r{code}, 1, "the fastest is wrong after it was timed");
like(slurp("$dir/tuned.tsv"), qr/^5\t5\t8\t0\t1\t2\tslow\t40\t-\t-\t-\t-\tslow\t40\tslow\t40\t-\t-\t-\t1\t1\t[0-9.e-]+$/m, "and does not win");
%r = run("$tune --variant bug --variant right 2>/dev/null", TOY_BUG => "later", KF_COMMIT => "x");
is($r{code}, 1, "nothing is right");
like(slurp("$dir/tuned.tsv"), qr/\tslow\t/, "and the table of before stays");
my $parts = "TOY_TUNES=1 TOY_PARTS=1 $toy --case D8 --seed 3";
%r = run("$parts --tuned $dir/parts.tsv");
is($r{code}, 0, "candidates of two parts") or diag($r{err});
like($r{out}, qr/^  B=1 H=2 S=5 D=8 +whole +40\.00       -  1\.000x       -
  B=1 H=2 S=5 D=8 +dq:m4-n2 +20\.00  2\.000x  2\.000x       -
  B=1 H=2 S=5 D=8 +dkv:m2-n2 +40\.00       -  1\.000x       -\n/m, "the fastest of each part");
like(slurp("$dir/parts.tsv"), qr/^5\t5\t8\t0\t1\t2\tdq:m4-n2\t20\tdq:m2-n2\t40\tdq:m2-n2\t40\t.*\t2\t0\t[0-9.e-]+
5\t5\t8\t0\t1\t2\tdkv:m2-n2\t40\t-\t-\tdkv:m2-n2\t40\t.*\t1\t1\t[0-9.e-]+\n\z/m, "a row a shape and part");
ok(!(grep { length > 100 } split /\n/, $r{out}), "no line is longer than 100 columns");
%r = run("$parts --variant dkv:m2-n2 --variant dq:m4-n2 --list");
is($r{out} =~ s/.*^variants\n//msr, "  dq:m4-n2         as it should be\n  dkv:m2-n2        twice the time\n",
    "--variant takes names with a colon");
fails("a part alone", "$parts --variant dq", 2, "--variant dq: no such variant; one of whole, dq:m2-n2, dq:m4-n2");
fails("--tuned of a program that tunes nothing", "$toy --tuned $dir/tuned.tsv", 2, "tunes nothing");
fails("--tuned on a CPU", "TOY_TUNES=1 $toy --tuned $dir/tuned.tsv", 77, "a CPU has no times; a GPU is needed", FAKE_CPU => 1);
%r = run("TOY_TUNES=1 $toy --case odd", FAKE_CPU => 1);
like($r{out}, qr/^no choice: a CPU verifies the candidates, and only a GPU times them$/m, "which says so");

# --- Errors by index, and the outputs themselves.
%r = run("$toy --case odd --variant right --variant bug --seed 3 --errors $dir/errors.tsv --dump $dir/dump");
is($r{code}, 0, "--errors and --dump") or diag($r{err});
@lines = split /\n/, slurp("$dir/errors.tsv");
is((grep { !/^#/ } @lines)[0], "variant\tcase\ttensor\tindex\tmax_err\tmax_want\twrong", "--errors names its columns");
like($lines[-1], qr/^right\todd\to\t0\t[0-9.e-]+\t[0-9.e-]+\t0$/, "a row an index of the first axis, below its bound");
my $dump = slurp("$dir/dump");
like($dump, qr/\Aright odd o f32 1 1 3 5\n/, "--dump begins with a line of text");
is(length($dump), length("right odd o f32 1 1 3 5\n") + 4 * 15, "and the memory follows");
is(abs(unpack("f<", substr($dump, length("right odd o f32 1 1 3 5\n"), 4))) > 1e-6 ? 1 : 0, 1, "which holds the results");
%r = run("$toy --case D8 --variant bug --seed 3 --errors $dir/errors.tsv");
like(slurp("$dir/errors.tsv"), qr/^bug\tD8\to\t0\tinf\t[0-9.e-]+\t40$/m, "what is not finite is infinitely wrong");

%r = run("$toy --case odd --variant right --variant bug --seed 3 --exactness $dir/exact.tsv");
is($r{code}, 0, "--exactness") or diag($r{err});
my ($columns, @exact) = grep { !/^#/ } split /\n/, slurp("$dir/exact.tsv");
is($columns, "variant\tcase\ttensor\tmean\tlargest", "--exactness names its columns");
is(scalar(@exact), 1, "what is wrong as predicted is not exact");
like($exact[0], qr/^right\todd\to\t[0-9.e-]+\t[0-9.e-]+$/, "what is right is");
my ($mean, $largest) = (split /\t/, $exact[0])[3, 4];
for ([0.9, 0], [0.1, 1]) {
    my ($part, $code) = @$_;
    spew("$dir/exact/plots/data/cpu/step-99-exactness.tsv", join("\t", "right", "odd", "o", $part * $mean, $part * $largest) . "\n");
    %r = run("$toy --case odd --variant right --seed 3", KF_ROOT => "$dir/exact", FAKE_CPU => 1);
    is($r{code}, $code, "of a seed that used more of the bounds by 1 / $part: exit $code");
    is(scalar(() = $r{err} =~ /variant right, case odd: o is less exact than a right one: the mean /g), $code,
        "and it says so");
}
fails("--errors into a folder that is not there", "$toy --errors $dir/none/x", 2, "--errors $dir/none/x: No such file");
fails("--dump into a folder that is not there", "$toy --dump $dir/none/x", 2, "--dump $dir/none/x: No such file");

# --- Launched again and again: who gives the same bits. repeats(FILE): its rows, by variant and tensor.
sub repeats {
    my ($path) = @_;
    my ($names, @found) = map { [split /\t/, $_, -1] } grep { !/^#/ } split /\n/, slurp($path);
    is("@$names", "variant case B H Sq Sk D R causal pos0 tensor elements runs runs_differing " .
        "elements_differing max_diff max_ulp", "--repeats names its columns");
    return map { $_->[0] . " " . $_->[10] => join " ", @$_[1 .. 9, 11 .. $#$_] } @found;
}
my $repeat = "TOY_REPEATS=1 $toy --seed 3 --repeats $dir/repeats.tsv";
%r = run("TOY_REPEATS=1 TOY_BUG=half-off $toy --variant steady --case D8 --out $dir/half-off.tsv");
like($r{out}, qr/^  steady +ok +0 +0 +\d+ +0\.488$/m, "the table says how near, in parts of the bound");
like(slurp("$dir/half-off.tsv"), qr/\t0\.00488281\t0\.01$/m, "of two outputs a row tells the one that is nearer to its bound");
my $pair = "$repeat --variant steady --variant drift";
%r = run("$pair --variant nan --case D8 --dump $dir/first", KF_COMMIT => "abc1234");
is("$r{code} $r{err}", "0 ", "--repeats") or diag($r{out});
like($r{out}, qr/^  variant steady, repeats: the same bits in 100 runs$/m, "a variant with the same bits says so");
like($r{out}, qr/^  variant drift, repeats: 100 runs, o differs in 75, 3\.8 % of its elements; half in 25, 25 %$/m,
    "one without says which output");
like($r{out}, qr/^  variant nan, repeats: 100 runs, o differs in 100, 50 % of its elements$/m, "one that is wrong as predicted, too");
unlike($r{out}, qr/graph|stream|no ceilings/, "nothing is timed");
ok(!(grep { length > 100 } split /\n/, $r{out}), "no line is longer than 100 columns");
like(slurp("$dir/repeats.tsv"), qr/\A# device: FAKE G-100 .*\n(# .*\n)*# commit: abc1234\n(# .*\n)*# seed: 3\n# program: 99-toy\nvariant\t/,
    "the file has the header of a record");
# Elements that drift's first launch of all left as they were; its first run to compare with has moved element 0.
my $first = slurp("$dir/first");
my $line = "drift D8 o f32 1 2 5 8\n";
my @o = unpack "L3", substr($first, index($first, $line) + length $line);
my ($most) = sort { $b <=> $a }
    map { abs(unpack("f", pack "L", $o[$_] + 3) - unpack("f", pack "L", $o[$_] + !$_)) } 0 .. 2;
my %row = repeats("$dir/repeats.tsv");
is_deeply(\%row, {
    "steady o" => "D8 1 2 5 5 8 0 0 0 80 100 0 0 0 0",
    "steady half" => "D8 1 2 5 5 8 0 0 0 4 100 0 0 0 0",
    "drift o" => "D8 1 2 5 5 8 0 0 0 80 100 75 3 " . sprintf("%.6g", $most) . " 3",
    "drift half" => "D8 1 2 5 5 8 0 0 0 4 100 25 1 0.000488281 1",
    "nan o" => "D8 1 2 5 5 8 0 0 0 80 100 100 40 inf inf",
    "nan half" => "D8 1 2 5 5 8 0 0 0 4 100 0 0 0 0",
}, "a row a variant and output: runs and elements that differ, and by how much") or diag(explain(\%row));
%r = run("$pair --case D8", FAKE_CPU => 1);
like($r{out}, qr/steady, repeats: the same bits in 3 runs\n.*drift, repeats: 3 runs, o differs in 3, /s, "three runs on a CPU");
%r = run("$repeat --variant spoils --case D8", FAKE_CPU => 1);
like($r{out}, qr/spoils, repeats: the same bits in 3 runs/, "from fresh inputs and poison");
%r = run("$repeat --variant steady --case D8", TOY_US => 1.5e6);
like($r{out}, qr/the same bits in 6 runs$/m, "fewer runs where one is long");
%r = run("$repeat --variant steady --case D8", TOY_US => 2e7);
like($r{out}, qr/the same bits in 3 runs$/m, "and three at least");
%r = run("$pair --case D8 --json");
is(scalar(@{decode_json($r{out})}), 2, "--json: a row a variant, and no line on the screen");
%r = run("$pair --case D8 --case odd");
is(join(" ", map { join "/", (split /\t/)[0, 1, 10] } grep { !/^#/ } split /\n/, slurp("$dir/repeats.tsv")),
    "variant/case/tensor steady/D8/o steady/D8/half drift/D8/o drift/D8/half steady/odd/o steady/odd/half drift/odd/o drift/odd/half",
    "rows of all cases, odd shapes too");
fails("wrong in one launch of many", "$repeat --variant rare --variant steady --case odd >$dir/said", 1,
    "variant rare, case odd launched again: 1 wrong element(?!s)");
unlike(slurp("$dir/said") . slurp("$dir/repeats.tsv"), qr/rare, repeats|^rare\t/m, "is not compared with others");
my $before = slurp("$dir/repeats.tsv");
fails("no variant is right", "TOY_BUG=one $toy --case D8 --variant right --repeats $dir/repeats.tsv >/dev/null 2>$dir/said; "
    . "code=\$?; tail -n 1 $dir/said >&2; exit \$code", 1, "--repeats $dir/repeats.tsv: not written, for no variant was right");
is(slurp("$dir/repeats.tsv"), $before, "the table of before stays");
is(join(" ", glob "$dir/*.new"), "", "and nothing lies beside it");
fails("--repeats into a folder that is not there", "$toy --repeats $dir/none/x", 2, "--repeats $dir/none/x: No such file");
# A pipe of our own: what is not refused would be replaced, and root may replace a device.
POSIX::mkfifo("$dir/pipe", 0600) or die;
fails("--repeats into a pipe", "$toy --repeats $dir/pipe", 2, "--repeats $dir/pipe: a folder or a device; a file that");
fails("--repeats and --once", "$repeat --once", 2, "--repeats $dir/repeats.tsv: --once and --launches launch each variant once");
fails("--repeats and --launches", "$repeat --launches $dir/launches", 2, "--once and --launches launch each variant once");
fails("--repeats and --tuned", "TOY_TUNES=1 $repeat --tuned $dir/tuned.tsv", 2, "--tuned chooses by times; leave one of them out");
fails("--repeats and --reps", "$repeat --reps 5", 2, "--reps 5: timing rounds, and nothing is timed with --repeats");
%r = run("TOY_TUNES=1 $toy --case D8 --repeats $dir/repeats.tsv");
is("$r{code} $r{err}", "0 ", "a program that tunes repeats as any other");
unlike($r{out}, qr/fastest/, "and chooses nothing");
for ([count => "counts one launch of each variant"], [check => "checks with one OS thread, and then bits repeat"]) {
    fails("--repeats in a program that $_->[0]s", "$toy --repeats $dir/repeats.tsv", 2,
        "--repeats $dir/repeats.tsv: this program $_->[1]; `make step-99 run` makes one for it", FAKE_TRACE => $_->[0]);
}

# --- Each variant alone: sustained and cool.
my $alone = "TOY_ALONE=1 FAKE_HEAT=25 $toy --case D16 --seed 3";
%r = run("TOY_ALONE=1 FAKE_HEAT=25 $toy --seed 3 --rates $dir/rates.tsv --out $dir/alone.tsv", FAKE_RATES => 1);
is("$r{code} $r{err}", "0 ", "clocks on which a variant is alone") or diag($r{out});
ok(!(grep { length > 100 } split /\n/, $r{out}), "no line is longer than 100 columns");
like($r{out}, qr/^  clock sustained: 7 places in the run, about 8 s\n/m, "how long it takes is said before");
like($r{out}, qr/^  slow +sustained +1500 MHz +695 W, 100% of the time held down by power$/m, "and the clock rate after");
like($r{out}, qr/^  slow +sustained warm +50\.00 +50\.00 +50\.00 +20 +0\.50x/m, "sustained: hot");
like($r{out}, qr/^  slow +cool +warm +40\.00 +40\.00 +40\.00 +40 +0\.50x/m, "cool: not");
my %on;
for (grep { /^99/ } split /\n/, slurp("$dir/alone.tsv")) { my @c = split /\t/; $on{$c[2]}{$c[12]}++ }
is_deeply(\%on, {D8 => {"-" => 3, graph => 6, stream => 3, call => 3},
    D16 => {"-" => 3, graph => 6, stream => 3, call => 3, sustained => 3, cool => 3}},
    "rows say which clock; a case that does not ask for them has none");
my @rates = map { [split /\t/, $_, -1] } grep { !/^#/ } split /\n/, slurp("$dir/rates.tsv");
is("@{$rates[0]}", "variant case B H Sq Sk D R causal pos0 clock place repetition median_us p5_us p95_us n readings " .
    "mhz mhz_p5 mhz_p95 watts watts_p5 watts_p95 capped_pct", "--rates names its columns");
is(join(" ", map { $_->[0] } @rates[1 .. 7]), join(" ", reverse map { $_->[0] } @rates[1 .. 7]),
    "the order of a repetition and of the next are mirrored");
is(join(" ", map { $_->[0] } @rates[1, 4, 7]), "right right right", "and the first variant is in front, between and behind");
like(join(" ", @{$rates[7]}[1, 10 .. 13, 16]), qr/^D16 sustained 7 3 25(\.00\d+)? 10$/, "a row a place");
is(join(" ", @{$rates[7]}[18 .. 24]), "1500 1500 1500 695 695 695 100", "with clock rate and power");
is(join(" ", $rates[8][10], @{$rates[8]}[18 .. 24]), "cool 1980 1980 1980 - - - 0", "cool ones too");
is(scalar(@rates), 1 + 2 * 7, "and none of other clocks");
%r = run("$alone --rates $dir/rates.tsv --clock cool --repetitions 1");
like($r{out}, qr/^  no clock rates and no power: FAKE_RATES is not set$/m, "a device that says nothing: one line");
@rates = map { [split /\t/, $_, -1] } grep { !/^#/ } split /\n/, slurp("$dir/rates.tsv");
is(scalar(@rates), 1 + 4, "--clock leaves out others, and --repetitions says how often");
is(join(" ", @{$rates[1]}[10, 13, 16 .. 24]), "cool 20 20 0 - - - - - - -", "and its times are kept");
unlike($r{out}, qr/graph|stream|sustained/, "nothing of the others is printed");
fails("a clock that is not there", "$toy --clock sustained", 2, "--clock sustained: this program does not time on it; one of graph, stream, call");
fails("no repetitions", "$alone --repetitions 0", 2, "--repetitions 0: a whole number from 1 to 9");
fails("--rates without such a clock", "$toy --rates $dir/rates.tsv", 2, "times on neither sustained nor cool");
fails("--rates and --once", "$alone --rates $dir/rates.tsv --once", 2, "nothing is timed with --once");
fails("--rates on a CPU", "$alone --rates $dir/rates.tsv", 77, "a CPU has no times", FAKE_CPU => 1);
fails("--rates without such a case", "TOY_ALONE=1 $toy --case D8 --rates $dir/rates.tsv >/dev/null", 0, "not written, for nothing was timed");
fails("a cold L2", "TOY_COLD=1 $toy", 1, "clock cool: a warm L2 is right");
%r = run($alone, FAKE_CPU => 1);
unlike($r{out}, qr/sustained|cool|graph/, "a CPU prints no time");

# --- What a block did when.
my $timeline = "TOY_TIMELINE=1 $toy --seed 3 --case D8 --timeline $dir/line.tsv";
%r = run("$timeline --variant plain --variant recording");
is("$r{code} $r{err}", "0 ", "--timeline") or diag($r{out});
unlike($r{out}, qr/graph|stream/, "times nothing");
like(slurp("$dir/line.tsv"), qr/\A(# .*\n)+variant\tcase\tB\tH\tSq\tSk\tD\tR\tcausal\tpos0\trole\tevent\ttile\tstart\tend\n/,
    "names its columns");
is(join("", map { s/^recording\tD8\t1\t2\t5\t5\t8\t0\t0\t0\t//r } grep { /^(plain|recording)/ } split /^/, slurp("$dir/line.tsv")),
    "producer\twait\t0\t10\t30\nproducer\twork\t0\t30\t4101\nproducer\twait\t1\t4101\t4106\nconsumer\twork\t7\t0\t35\n",
    "a row for each that was recorded, from the first cycle of all on; what is not recorded has none");
fails("a variant that does not record", "$timeline --variant plain >/dev/null", 0, "not written, for no variant that is right records");
fails("an event without a name", "$timeline --variant nameless >/dev/null", 1, "--timeline: event 2 was recorded; 0 to 1 have names");
fails("--timeline of a program that records nothing", "$toy --timeline $dir/line.tsv", 2, "this program records none");
fails("--timeline and --repeats", "$timeline --repeats $dir/repeats.tsv", 2, "not timed; leave out --repeats");
fails("--timeline and --reps", "$timeline --reps 3", 2, "not timed; leave out --reps");
fails("--timeline on a CPU", $timeline, 77, "a CPU has no times", FAKE_CPU => 1);
%r = run("common/cpu/cudacc -O2 -g1 -Wall -Wextra -Werror -Icommon tests/harness/timeline.cu -o $build/timeline");
is($r{code}, 0, "timeline.cu builds") or diag($r{err});
%r = run("$build/timeline");
is(join("", $r{out} =~ /^(?:not )?ok.*\n/mg) =~ s/^ok.*\n//mgr, "", "timeline.cuh records what happens, in order");
like($r{out}, qr/^ok 4 .*\n1\.\.4\n\z/m, "and all is looked at");

# --- Ceilings give limits.
make_path("$dir/root/build/data/fake-g-100-test");
spew("$dir/root/build/data/fake-g-100-test/ceilings.tsv", "# device: x\nname\tvalue\tp5\tp95\tn\tunit\n"
    . "copy_tbps\t4\t3\t5\t10\tTB/s\nfp32_tflops\t50\t40\t60\t10\tTFLOP/s\nlaunch_graph_us\t0.5\t0.4\t0.6\t10\tus\n"
    . "launch_stream_us\t3\t2\t4\t10\tus\nlaunch_call_us\t8\t7\t9\t10\tus\n");
%r = run("$toy --case D8 --variant right --json", KF_ROOT => "$dir/root");
$rows = decode_json($r{out});
is("$rows->[1]{limit_us} $rows->[1]{limit_by} $rows->[1]{limit_pct}", "0.5 launch 2.5", "limit and % of it");
%r = run("$toy --case D8 --variant right", KF_ROOT => long_way("$dir/root"));
like($r{out}, qr/^  right +graph +warm .* 2\.5% launch$/m, "the table ends in % of limit, also where the root's path is long");

my $ceilings = slurp("$dir/root/build/data/fake-g-100-test/ceilings.tsv");
make_path("$dir/root/plots/data/fake-g-100-test");
spew("$dir/root/plots/data/fake-g-100-test/ceilings.tsv", $ceilings =~ s/(?<=launch_graph_us\t)0\.5/1/r);
for (["where both are, those of build/ count, which are newer", 0.5], ["those of plots/ where there are no others", 1]) {
    my ($what, $us) = @$_;
    %r = run("$toy --case D8 --variant right --json", KF_ROOT => "$dir/root");
    is(decode_json($r{out})->[1]{limit_us}, $us, "ceilings: $what");
    unlink "$dir/root/build/data/fake-g-100-test/ceilings.tsv";
}

# --- Wrong results.
fails("one wrong element", "TOY_BUG=one $toy --case D8 --variant right --out $dir/one.tsv >$dir/said", 1, "variant right, case D8: 1 wrong element(?!s)");
like(slurp("$dir/said"), qr/first at batch 0, head 0, row 0, column 5: got/, "and says where");
unlike(slurp("$dir/said"), qr/graph/, "a wrong variant is not timed");
is(join(" ", map { (split /\t/)[27 .. 30] } grep { /^99/ } split /\n/, slurp("$dir/one.tsv")), "wrong 1 0 80", "and in its row");
fails("one element beside the output", "TOY_BUG=beside $toy --case D8 --variant right >$dir/said", 1, "variant right, case D8: 1 element beside the outputs was written");
like(slurp("$dir/said"), qr/variant right: WRONG\n  o: 0 of 80 .*\n    written before it: 1 element, first at batch -1, head 1, row 4, column 7\n/, "and it says where");
fails("one element behind it", "TOY_BUG=behind $toy --case D8 --variant right >/dev/null", 1, "variant right, case D8: 1 element beside the outputs was written");
fails("wrong only when timed", "TOY_BUG=later $toy --case D8 --variant right --out $dir/later.tsv >/dev/null", 1,
    "variant right, case D8, clock graph warm: 1 of 80 elements wrong when the inputs were exchanged while it was timed; is it a result that was kept from others\\?; --seed \\d+ has these inputs");
my %status = map { (split /\t/)[27] => 1 } grep { /^99/ } split /\n/, slurp("$dir/later.tsv");
is(join(" ", keys %status), "wrong", "and so says each of its rows");
# On these clocks no inputs are exchanged.
$alone = "--case D16 --variant right --clock sustained --clock cool";
fails("wrong only after timing", "TOY_ALONE=1 TOY_BUG=later $toy $alone >/dev/null", 1, "case D16 after timing: 1 wrong");
fails("wrong when called again at once", "TOY_BUG=again $toy --case odd --variant right >/dev/null", 1, "case odd back to back: 1 wrong");
fails("a result that is kept from the call before", "TOY_BUG=kept $toy --case odd --variant right >/dev/null", 1,
    "variant right, case odd: \\d+ wrong elements");
fails("wrong in a graph", "TOY_BUG=graph $toy --case odd --variant right >/dev/null", 1, "case odd in a graph: 1 wrong element(?!.*stream)");
fails("what is launched elsewhere is not in the graph", "TOY_BUG=elsewhere $toy --case odd --variant right >$dir/said", 1, "case odd in a graph: 15 wrong elements: a graph lacks what was not launched on the stream that the variant is given");
like(slurp("$dir/said"), qr/unwritten: 15 \(all of them\)/, "and writes nothing when that is replayed");
# Poison is fresh before each launch that is verified: what was right before does not help.
my $idle = qr/unwritten: 80 \(all of them\)/;
fails("idle when called again", "TOY_BUG=idle $toy --case D8 --variant right >$dir/said", 1, "case D8 back to back: 80 wrong");
like(slurp("$dir/said"), $idle, "and what the first call left is gone");
fails("idle after timing", "TOY_ALONE=1 TOY_BUG=idle-later $toy $alone >$dir/said", 1, "case D16 after timing: 160 wrong");
like(slurp("$dir/said"), qr/unwritten: 160 \(all of them\)/, "and what was right before timing is gone");
fails("idle when timed", "TOY_BUG=idle-later $toy --case D8 --variant right >/dev/null", 1, "80 of 80 elements wrong when the inputs were exchanged while it was timed; some were not written");
fails("idle after another variant", "TOY_BUG=idle-slow $toy --case D8 --variant right --variant slow >$dir/said", 1, "variant slow, case D8: 80 wrong");
like(slurp("$dir/said"), $idle, "and what that one wrote is gone");
fails("a variant that writes its input is wrong, and does not spoil the next",
    "TOY_BUG=input $toy --case D8 --variant right --variant slow >/dev/null", 1,
    "variant right, case D8: 1 element of the input q was written; a kernel may write to its outputs only");
fails("nor when called again", "TOY_BUG=input-again $toy --case odd --variant right >/dev/null", 1,
    "variant right, case odd back to back: 1 element of the input q was written; a kernel may write to its outputs only");
%r = run("TOY_ANGLES=1 $toy --case D8 --case odd");
is("$r{code} $r{err}", "0 ", "each variant is held to its own bound, whatever came before it") or diag($r{out});
fails("a bug that does not show", "TOY_FIXED=1 $toy --case D8 --variant bug >/dev/null", 1, "not as predicted, 0 wrong elements: half");
%r = run("TOY_FADES=1 $toy --case D8 --variant bug");
like($r{out}, qr/^  variant bug: wrong, as predicted\n.*^  bug +predicted +40 +40 +80 /ms,
    "a bug that shows at first only: the table counts what the line says") or diag($r{out});
fails("a fault", "TOY_BUG=fault $toy --case D8 --variant right >/dev/null", 1, "variant right, case D8: the kernel failed");

# --- Machines that cannot.
fails("no device", $toy, 77, "no NVIDIA GPU is visible", FAKE_DEVICE => "none");
fails("an old driver", $toy, 77, "the driver supports CUDA 11.4, this build needs", FAKE_DEVICE => "old-driver");
fails("another architecture", $toy, 77, "rebuild with ARCH=", FAKE_DEVICE => "wrong-build");
my $fake = "this device, FAKE G-100 \\(test\\), is";
for my $case (["80", "turing", "8.0, and $fake 7.5"], ["90a", "turing", "9.0, and $fake 7.5"],
    ["90a", "newer", "9.0 and no other, and $fake 10.0"]) {
    my ($needs, $device, $says) = @$case;
    fails("$needs on another device", "TOY_ARCHITECTURE=$needs $toy", 77,
        "99-toy: step 99 needs compute capability $says\$", FAKE_DEVICE => $device);
}
for my $case (["75", "turing"], ["80", "newer"], ["90a", ""]) {
    %r = run("$toy --case D8 --variant right", TOY_ARCHITECTURE => $case->[0], FAKE_DEVICE => $case->[1]);
    is("$r{code} $r{err}", "0 ", "$case->[0] on a device that has it");
}
%r = run("$toy --case big", FAKE_MEMORY => 220000);
is($r{code}, 0, "out of memory where that was predicted: exit 0");
like($r{out}, qr/predicted: .* will not fit\n  attempted: out of device memory, as predicted\n.*right +oom/s, "and said");
fails("predicted to fit, does not", "$toy --case big >/dev/null", 1, "prediction was wrong: it does not fit",
    FAKE_MEMORY => 250000, FAKE_FREE => 99000000);
fails("predicted not to fit, fits", "$toy --case big >/dev/null", 1, "prediction was wrong: it fits", FAKE_FREE => 1000);
fails("what cannot fit is not asked for", "$toy --case D8 >/dev/null", 77,
    "case D8: out of device memory \\(0\\.00 GB needed, 0\\.00 GB free\\); choose a smaller --case", FAKE_FREE => 1000);
fails("nor does it fit where less is free than was said", "$toy --case D8 >/dev/null", 77,
    "case D8: out of device memory", FAKE_MEMORY => 328572, FAKE_FREE => 99000000);
%r = run("$toy --case D8 --case odd", FAKE_MEMORY => 328572);
is($r{code}, 77, "out of memory where it should fit: exit 77");
like($r{err}, qr/\A[^\n]*case D8: out of device memory[^\n]*\n\z/, "one line names the case");
like($r{out}, qr/case odd: .*right +ok/s, "and the other cases run");
%r = run("$toy --case D8 --variant slow --reps 40", FAKE_NOISE => 300);
like($r{err}, qr/clock graph warm: too noisy to trust/, "noise is called noise");
is(join(", ", map { "@$_" } map { /^  slow +(\S+) +(\S+) .* noisy$/ ? [$1, $2] : () } split /\n/, $r{out}),
    join(", ", $r{err} =~ /clock (\S+ \S+): too noisy/g), "in the table as well, on the same clocks");
is($r{code}, 0, "noise is no failure");
# The noise comes in the same order always, so times tell in which order the variants ran.
my @medians = map {
    # With room for one set of arrays no inputs are exchanged, at a moment that no seed decides.
    %r = run("$toy --case D8 --seed $_ --reps 20 --json", FAKE_NOISE => 50, FAKE_MEMORY => 400000);
    join " ", map { $_->{median_us} || () } @{decode_json($r{out})};
} 3, 3, 4;
is($medians[0], $medians[1], "--seed repeats the order of variants");
isnt($medians[0], $medians[2], "and another seed changes it");

# --- A program that counts, with an instrument of our own making (trace.c).
my %count = (FAKE_TRACE => "count", FAKE_DEVICE => "");
%r = run("$toy --case D8 --variant right --variant slow --seed 1 --once --out $dir/counts.tsv", %count);
is($r{code}, 0, "a program that counts: exit 0") or diag($r{err});
is(scalar(() = $r{out} =~ /^a table$/mg), 2, "a table a variant");
unlike($r{out}, qr/^lines$/m, "not by line");
@lines = grep { !/^#/ } split /\n/, slurp("$dir/counts.tsv");
like($lines[0], qr/^step\tvariant\tcase\tkernel\tlaunches\tblocks\t.*\tK_rotations$/, "columns, the named counter too");
is(scalar(@lines), 1 + 2 * 2, "a row a variant and kernel");
like($lines[1], qr/^99\tright\tD8\tsum<float,4>\t0\t10\t.*\t0$/, "a row: no blanks; a counter not met yet is 0");
like($lines[4], qr/^99\tslow\tD8\tplain\t0\t10\t.*\t8$/, "and one that is");
like(slurp("$dir/counts.tsv"), qr/\A# device: FAKE.*\n# backend: cpu\n# compiler: \S+ \d+\n# seed: 1\n# program: 99-toy\nstep/,
    "the header has neither date nor commit");
like($lines[0], qr/\tmma\tK_rotations$/, "what no kernel has is no column");
%r = run("$toy --case D8 --variant right --seed 1 --once --out $dir/copies.tsv", %count, FAKE_OPTIONAL => "cp_async_bytes");
@lines = grep { !/^#/ } split /\n/, slurp("$dir/copies.tsv");
like($lines[0], qr/\tmma\tcp_async_bytes(\tK_rotations)?$/, "what one has is one");
like($lines[1], qr/\t290\t0(\t0)?$/, "and 0 in the other kernel") or diag($lines[1]);
like($lines[2], qr/\t290\t5(\t0)?$/, "and its count in that one");
%r = run("$toy --case D8 --variant right --once --by-line", %count);
like($r{out}, qr/^lines$/m, "--by-line");
%r = run("$toy --case D8 --variant right --variant slow --once --json", %count);
is(decode_json($r{out})->[3]{K_rotations}, 8, "--json");
is(decode_json($r{out})->[3]{variant}, "slow", "with its variant");

# --- A program that checks.
my %check = (FAKE_TRACE => "check");
%r = run("$toy --case D8 --variant right --variant slow --once", %check);
is($r{code}, 0, "no findings: exit 0");
like($r{out}, qr/\ncheck: no findings\n\z/, "which the last line says");
fails("a finding", "$toy --case D8 --variant right --once >$dir/said", 1, "variant right, case D8: 1 finding, see above",
    %check, FAKE_FINDINGS => "out of bounds");
like(slurp("$dir/said"), qr/^  variant right: 1 finding\n    out of bounds: toy\.c:1/m, "and which");
like(slurp("$dir/said"), qr/^  right +wrong /m, "the variant counts as wrong");
like(slurp("$dir/said"), qr/\ncheck: 1 finding: out of bounds\n\z/, "and the last line names the rule");
%r = run("$toy --case D8 --variant bug --once", %check, FAKE_FINDINGS => "shared race,shared race");
is($r{code}, 0, "a finding that is predicted: exit 0");
like($r{out}, qr/^  variant bug: 2 findings, as predicted\n    shared race: toy\.c:1/m, "and said");
like($r{out}, qr/\ncheck: 2 findings of 1 rule, as predicted: shared race\n\z/, "also in the last line");
%r = run("$toy --once --seed 1", %check, FAKE_FINDINGS => "shared race,leak,never read");
like($r{out}, qr/\ncheck: 12 findings of 2 rules: shared race, leak\n\z/, "of several rules, and no warning among them");
%r = run("$toy --once --seed 1", %check, FAKE_FINDINGS => "shared race");
like($r{out}, qr/\ncheck: 4 findings of 1 rule, 1 of them as predicted: shared race\n\z/, "and some are predicted");
%r = run("$toy --case D8 --variant bug --once", %check);
like($r{out}, qr/\ncheck: no findings, NOT as predicted\n\z/, "a finding that fails to appear");
%r = run("$toy --case D8 --variant right --once", %check, TOY_BUG => "one");
like($r{out}, qr/\ncheck: no findings; results are wrong, see above\n\z/, "wrong results, and no finding");
fails("another finding", "$toy --case D8 --variant bug --once >/dev/null", 1, "2 findings, not all of them a shared race",
    %check, FAKE_FINDINGS => "shared race,leak");
%r = run("$toy --variant right --once", %check, TOY_FLOPS => 6e6);
like($r{out}, qr/\A(?!.*^case D8:).*^case odd:/ms, "of what is large for a check, a case with KF_CHECKED is run");
like($r{out}, qr/^skipped, large for a check: D8; /m, "and another is not");
fails("no finding", "$toy --case D8 --variant bug --once >/dev/null", 1, "no shared race is found, and this variant has one", %check);
for (["", qr/^  variant nan \(another NaN\): values wrong, accesses right: no checker sees it$/m, "values that no checker sees to be wrong are said"],
    ["TOY_FIXED=1 TOY_FADES=1", qr/\A(?!.*no checker sees it)/s, "and where none is wrong, nothing"]) {
    my ($fixed, $says, $what) = @$_;
    %r = run("TOY_REPEATS=1 $fixed $toy --case D8 --variant nan --once", %check);
    is($r{code}, 0, "$what: exit 0") or diag($r{err});
    like($r{out}, $says, $what);
}
%r = run("$toy --case D8 --variant right --reps 1", %check, FAKE_NAMES => 1, FAKE_FINDINGS => "leak");
like($r{out}, qr/^named q\n.*^named o\n.*of 320 bytes unwritten/ms, "allocations are named, poison counts as unwritten");
my @fetches = $r{out} =~ /^fetch (begins|ends)$/mg;
is("@fetches", join(" ", ("begins ends") x (@fetches / 2 || 1)), "the harness alone may fetch what nobody wrote, and only while it fetches");

# --- For profilers and checkers.
%r = run("$toy --once --launches $dir/launches");
is($r{code}, 0, "--once: exit 0");
unlike($r{out}, qr/ graph | stream /, "nothing is timed");
like($r{out}, qr/^skipped, large for a profiler: big; --case big runs it$/m, "what is large is skipped");
is(slurp("$dir/launches"), "right\tD8\t1\nslow\tD8\t1\nbug\tD8\t1\nright\todd\t1\n", "--launches");
%r = run("TOY_TUNES=1 $toy --case D8 --launches $dir/launches");
is(slurp("$dir/launches"), "right\tD8\t1\nslow\tD8\t1\nbug\tD8\t0\n", "none of what is refused");
%r = run("$toy --case odd --variant bug --list");
is($r{out}, "cases\n  odd              B=1 H=1 Sq=3 Sk=7 D=5 causal  (verified only)  (no variant takes it)\n"
    . "variants\n  bug              half of the outputs NaN  (finding: shared race)\n", "--list shows what is chosen");

# --- Two programs at once.
open my $lock, ">", "$dir/kernel-fusion-0000-00-00.lock" or die;
flock $lock, LOCK_EX;
my $other = fork;
if (!$other) { sleep 1; POSIX::_exit(0) } # holds the lock until it ends
close $lock;
%r = run("$toy --case odd --variant right", TMPDIR => long_way($dir));
waitpid $other, 0;
is($r{code}, 0, "a program waits while another has the device");
like($r{out}, qr/waiting for the device.*right +ok/s, "and says so");
%r = run("$toy --case odd --variant right", TMPDIR => long_way($dir));
unlike($r{out}, qr/waiting/, "where nobody has it nothing is said");
open my $rows_of_both, ">", "$dir/both.tsv" or die;
flock $rows_of_both, LOCK_EX;
$other = fork;
if (!$other) { sleep 2; POSIX::_exit(0) }
close $rows_of_both;
my $began = Time::HiRes::time();
%r = run("$toy --case odd --variant right --out $dir/both.tsv");
cmp_ok(Time::HiRes::time() - $began, '>', 1, "rows wait for another program that appends to their file");
waitpid $other, 0;
like(slurp("$dir/both.tsv"), qr/^\d+\tright\todd\t/m, "and come");

# --- Interrupted.
for my $signal (qw(INT TERM)) {
    %r = run("TOY_BUG=sleep $toy --case odd --variant right --out $dir/int-$signal.tsv >$dir/said & p=\$!; " .
        "while ! grep -qs 'case odd' $dir/said; do :; done; sleep 0.1; kill -$signal \$p; wait \$p");
    is($r{code}, 130, "SIG$signal: exit 130");
    like($r{err}, qr/\A99-toy: interrupted[^\n]*\n\z/, "SIG$signal: one line");
    is(slurp("$dir/int-$signal.tsv"), "", "SIG$signal: no half row");
    unlink "$dir/said";
}

# --- The command line.
%r = run("$toy --list");
like($r{out}, qr/^cases\n  D8 .*\n  odd .*verified only.*\n  big .*may not fit.*\nvariants\n  right .*\n  slow .*\n  bug .*\n\z/, "--list");
%r = run("$toy --case=D=8,H=2 --variant=right --seed=1 --reps=2");
is($r{code}, 0, "--option=value");
unlike($r{out}, qr/case odd/, "only the case asked for");
for my $wrong (
    ["--case D=512", "no case has D=512; D is one of 8, 5, 64"],
    ["--case S=3", "no case has S=3; S is one of 5, 64"],
    ["--case D=x", "\"x\" is not a whole number"],
    ["--case D=8,H=1", "no case has them all"],
    ["--case E=8", "no field \"E\""],
    ["--case D=8,", "no field \"\""],
    ["--case nosuch", "no case of that name; one of D8, odd.*, or FIELD=VALUE as in D=8"],
    ["--case ''", "no case of that name"],
    ["--case", "--case: needs a value"],
    ["--variant fast", "no such variant; one of right, slow, bug"],
    ["--seed -1", "a whole number from 0 to 18446744073709551615"],
    ["--seed 99999999999999999999", "a whole number from 0"],
    ["--reps 0", "a whole number from 1 to 100000"],
    ["--reps 1e3", "--reps 1e3: a whole number"],
    ["--by-line", "this program counts nothing; `make step-99 count ARGS=--by-line` makes one"],
    ["--launches $dir/none/x", "No such file or directory"],
    ["--lits", "--lits: no such option; --list is one"],
    ["--nonsense", "--nonsense: no such option; --help lists all"],
    ["--cases D8", "--cases: no such option; --case is one"],
    ["-case D8", "-case: no such option; --case is one"],
    ["case D8", "case: not an option; options begin with --, as --case"],
    ["-x", "-x: no such option"],
    ["D=8", "D=8: not an option; options begin with --, as --case D=8"],
    ["--json=yes", "--json=yes: --json takes no value"],
    ["--map $dir/none/x", "No such file or directory"],
    ["--model $dir/x", "--model $dir/x: this program reads no model; leave it out"],
) {
    fails("$wrong->[0]", "$toy $wrong->[0]", 2, $wrong->[1]);
}

# --- Options as values, files that cannot be opened, and what is quoted.
my %takes = map { /^  --(\w+) ([A-Z]+)/ ? ($1 => $2) : () } split /\n/, run_out("$toy --help");
is(scalar(keys %takes), 18, "--help says which options take a value");
for my $option (sort keys %takes) {
    fails("--$option --json", "$toy --$option --json", 2,
        "--$option: needs a value, and --json is an option; --$option=--json if it is the value");
}
%r = run("cd $dir && " . getcwd() . "/$toy --case odd --variant right --out=--json");
ok(-s "$dir/--json" && $r{code} == 0, "--out=--json is a file of that name") or diag($r{err});
spew("$dir/file", "");
unlink glob "$dir/*.new";
my $far = "$dir/none" . "/folder" x 400;
my %reason = ($dir => "(?:Is a directory|a folder or a device); ?", "$dir/none/x" => "No such file or directory;",
    "$dir/file/x" => "Not a directory;", "$dir/" . "x" x 300 => "File name too long;", $far => "No such file or directory;");
for my $option (grep { $takes{$_} eq "FILE" && $_ ne "model" } sort keys %takes) {
    for my $path (sort keys %reason) {
        %r = run("TOY_TUNES=1 TOY_TIMELINE=1 $toy --$option $path") if $option =~ /tuned|timeline/;
        %r = run("TOY_ALONE=1 $toy --$option $path") if $option !~ /tuned|timeline/;
        my $short = length $path > 100 ? substr($path, 0, 100) . "..." : $path;
        is($r{code}, 2, "--$option $short: exit 2");
        like($r{err}, qr/\A99-toy: --$option \Q$path\E: (?:$reason{$path})[^\n]*\n\z/, "and one line says why");
        unlike($r{out}, qr/^case/m, "before anything is run");
    }
}
is(join(" ", glob "$dir/*.new"), "", "and nothing lies beside them");
for my $quoted (["\e[31mred\nnext\r\a\x7f", '\x1b[31mred\x0anext\x0d\x07\x7f'],
    ["\x9bH \xc2\x9bH \xc2\x85", '\x9bH \xc2\x9bH \xc2\x85'],
    ["J\xc3\xb6rg \xe2\x82\xac \xf0\x9f\x98\x80 \\n ~", "J\xc3\xb6rg \xe2\x82\xac \xf0\x9f\x98\x80 \\n ~"]) {
    my ($given, $printed) = @$quoted;
    fails("printed as $printed, a case", "$toy --case '$given'", 2, "--case \Q$printed\E: no case of that name");
    fails("a number", "$toy --case 'D=$given'", 2, "--case D=\Q$printed: \"$printed\E\" is not a whole number");
    fails("an option", "$toy '--$given'", 2, "--\Q$printed\E: no such option");
    fails("no option", "$toy '$given'", 2, "99-toy: \Q$printed\E: not an option");
    fails("a path", "$toy --map '$dir/none/$given'", 2, "--map \Q$dir/none/$printed\E: No such file");
}

# --- A real kernel on the CPU backend.
my $tiny = "$build/tiny";
%r = run("common/cpu/cudacc -O2 -g1 -Wall -Wextra -Icommon tests/harness/tiny.cu $cpu/harness/*/*.o $cpu/problems/*.o -o $tiny");
is($r{code}, 0, "tiny.cu builds") or diag($r{err});
%r = run("$tiny --seed 1 --variant right --map $dir/map");
is($r{code}, 0, "a right kernel: exit 0");
unlike($r{out}, qr/\bus\b|graph|stream|% of/, "no times on the CPU");
like($r{out}, qr/\n\nskipped, large for a CPU: large, tall; --case NAME runs one\n\z/, "a large case is skipped");
unlike($r{out}, qr/^case large/m, "in one line in all");
fails("nothing but what is skipped", "$tiny --variant right --case D=40 >$dir/said", 2, "nothing ran: every case chosen is skipped");
my $map = slurp("$dir/map");
like($map, qr/\A# device: cpu\n/, "the map has the header of a record");
$map =~ s/\A(# \w+: .*\n)+//;
like($map, qr/\A# case small\n# variant right\n((0 ){19}0\n){5}\n\n\z/, "the map: all right");
%r = run("$tiny --seed 1 --variant right --case large");
like($r{out}, qr/case large.*right +ok/s, "unless it is named");
%r = run("$tiny --variant right --case small --case large", KF_CAPTURE => 1);
is("$r{code} $r{err}", "0 ", "with KF_CAPTURE its launches are looked at");
like($r{out}, qr/^case large: .*\n  variant right: 1 launch\n\z/m, "and nothing more");
fails("more blocks in y than a grid has", "$tiny --variant right >/dev/null", 1,
    'a grid of \(5,65536,1\) blocks; [^\n]*\n98-tiny: variant right, case tall: .* failed: invalid configuration argument', KF_CAPTURE => 1);
my %order = (CUDACPU_ORDER => "random", CUDACPU_WORKERS => 1);
%r = run("$tiny --seed 1 --variant right --variant by-key --repeats $dir/repeats.tsv", %order);
is($r{code}, 0, "sums by atomic adds are right");
like($r{out}, qr/right, repeats: the same bits in 3 runs\n.*by-key, repeats: 3 runs, o differs in 3, \d+ % of its elements\n/s,
    "and differ where warps run in another order each time");
%row = repeats("$dir/repeats.tsv");
like($row{"by-key o"}, qr/^small 1 2 5 9 20 0 1 0 200 3 3 \d+ \S+e-0[789] [1-9]\d?$/, "by a few places");
%r = run("$tiny --seed 1 --variant by-key --repeats $dir/repeats.tsv", CUDACPU_ORDER => undef, CUDACPU_WORKERS => 1);
like($r{out}, qr/by-key, repeats: the same bits in 3 runs/, "one OS thread runs warps forward in one order");
# The order that is drawn is that of --seed, so that it repeats a run.
for my $seed (1, 2) {
    my %dump = map { my $own = $_; unlink "$dir/dump";
        run("$tiny --seed $seed --variant by-key --dump $dir/dump", %order, CUDACPU_SEED => $own);
        ($own // "none" => slurp("$dir/dump")) } undef, 1, 2;
    ok($dump{none} eq $dump{$seed}, "--seed $seed: random order is drawn by it");
    ok($dump{none} ne $dump{3 - $seed}, "and by no other");
}
my %caught = (
    tail => "unwritten: 40 \\(all of them\\)", mask => "rows: 0-3 of 0-4", scale => "200 of 200 elements wrong",
    stride => "200 of 200 elements wrong", unwritten => "200 were computed from memory that nobody wrote",
    input => "elements wrong", narrow => "columns: 16-19 of 0-19",
);
for my $bug (sort keys %caught) {
    %r = run("$tiny --seed 1 --variant $bug");
    is($r{code}, 1, "$bug: exit 1");
    like($r{out}, qr/$caught{$bug}/, "$bug: the diagnosis");
    my $what = $bug eq "input" ? '200 elements of the input q were written; [^\n]*' : '\d+ wrong elements';
    like($r{err}, qr/\A98-tiny: variant $bug, case small: $what\n\z/, "$bug: one line on stderr");
}
%r = run("$tiny --seed 1 --variant right --variant after-right");
like($r{out}, qr/^    right by itself \(--case small --variant after-right\): an earlier launch matters/m, "what is right alone is said to be");
unlike(run_out("$tiny --seed 1 --variant stride"), qr/right by itself/, "and nothing of what is not");
unlike(run_out("$tiny --seed 1 --variant after-right"), qr/WRONG/, "where it is alone it is right");
like(run_out("$tiny --seed 1 --variant unwritten"), qr/: make step-98 check BACKEND=cpu names the line/, "a NaN: what names the line");
like(run_out("$tiny --seed 1 --variant unwritten"), qr/^  unwritten +wrong +200 +200 +200 +-$/m, "no error where nothing is a number");
like(run_out("$tiny --seed 1 --variant scale"), qr/^  scale +wrong +200 +0 +200 +\d\S*$/m, "a number elsewhere");
%r = run("$tiny --seed 1 --variant mask --json");
is(decode_json($r{out})->[0]{status}, "wrong", "--json carries the failure too");
fails("a launch that is refused", "$tiny --variant refused >/dev/null", 1,
    'a block of \(2048,1,1\) threads; [^\n]*\n98-tiny: variant refused, case small: the kernel failed: invalid configuration');
%r = run("common/cpu/cudacc -O2 -g1 -Wall -Wextra -Icommon common/harness/run/ceilings.cu $cpu/harness/*/*.o $cpu/problems/*.o -ldl -o $build/ceilings");
is($r{code}, 0, "ceilings.cu builds") or diag($r{err});
fails("ceilings on the CPU", "$build/ceilings", 77, "the CPU backend measures nothing");
fails("its command line", "$build/ceilings --fast", 2, "--fast: not an option");

done_testing();
