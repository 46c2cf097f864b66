#!/usr/bin/env perl
# What leads a reader: next, list, hint, skip, watch, solution, predict, and the last page. Two small steps stand for all;
# of the real ones each question must have an answer in the recorded rows.
# Reads: steps chapters common/make plots/data
use strict;
use warnings;
use Cwd qw(getcwd);
use JSON::PP;
use Test::More;
use lib "tests/lib";
use Workbook;

my %r = run("make -s programs BACKEND=cpu");
is($r{code}, 0, "all steps are built") or BAIL_OUT($r{err});
chomp(my $programs = $r{out});
$ENV{CUDACPU_BUILD} = getcwd() . "/$programs";

# --- Two steps: 98 with two tasks, 97 with one that lies beside it --------------------------------------------
my $tree = small_tree();
sub in_tree {
    my ($command) = @_;
    return %r = run("cd '$tree' && $command");
}
sub is_said { my ($text, $what) = @_; return is($r{out}, $text, $what) || diag($r{err}) }
sub says { my ($regex, $what) = @_; return like($r{out}, $regex, $what) || diag($r{out}, $r{err}) }

my $questions = join "\n", "figure\tcase\tvariant\tover\tkernel\tamong\tclock\tl2\tunit\ttext",
    "median_us\tc\tslow\tfast\t-\t-\tgraph\twarm\t-\tHow many times as fast is fast?",
    "loads/blocks\tc\tslow\t-\tk\t-\tgraph\twarm\t-\tHow many loads a block?",
    "loads\tc\t-\t-\t-\tslow fast\tgraph\twarm\t-\tWhich loads least?", "";
tiny_step($tree, "98-tiny", "for this test",
    "    if (argc > 1 && argv[1][2] == 'q') { printf(\"%s\", " . encode_json([$questions]) =~ s/^\[|\]$//gr . "); return 0; }\n"
    . "    int one = 1, two = 2;\n"
    . "    // solution: first -- make one nothing\n    // hint: What is nothing?\n    // hint: It is\n    //     `0`, of course.\n"
    . "    one = 0;\n    // end solution: first\n    one *= 2;\n"
    . "    // solution: second -- make two nothing\n    // hint: As before.\n    // hint: `two` it is.\n"
    . "    two = 0;\n    // end solution: second\n    return one + two > 0;\n");
tiny_step($tree, "97-rungs", "for this test", "    return second();\n", include => "#include \"a-second.cuh\"\n");
spew("$tree/steps/97-rungs/a-second.cuh", "static int second()\n{\n    int code = 1;\n"
    . "    // solution: code -- what ends a program well?\n    // hint: A number.\n    // hint: No other.\n"
    . "    code = 0;\n    // end solution: code\n    return code;\n}\n");
spew("$tree/chapters/01-last.md", "---\ntitle: The last first\npart: \"I: One\"\n---\n\n::: {.step step=98}\n\n## Tiny `one`\n\nFirst `make step-98 try ARGS=\"--case small\"`, or `make step-97 try ARGS=\"--no\"`.\n\n:::\n");
spew("$tree/chapters/02-first.md", "---\ntitle: Then the other\npart: \"II: Two\"\n---\n\n::: {.step step=97}\n\n## Rungs\n\n:::\n");
my $work = "$tree/work";

sub fill { my ($file, $task, $code) = @_; spew($file, slurp($file) =~ s{(// YOUR CODE: $task\n)}{$1    $code\n}r) }
sub fresh_start { in_tree("make step-98 exercise FORCE=1; rm -f '$work/98-tiny.cu.bak'") }

# --- next, in the order of the chapters -----------------------------------------------------------------------
in_tree("make list");
says(qr/^Part I: One: 0 of 2\n  step-98  tiny +2  not begun\n\nPart II: Two: 0 of 1\n  step-97  rungs +1  not begun\n\n0 of 3 exercises are right\. make next/m,
    "list: nothing is begun, parts in the book's order");
in_tree("make next");
ok(-e "$work/98-tiny.cu", "next: writes the first exercise");
says(qr/^Exercises 1 to 2 of 3, step 98, tiny; 0 are right\nPart I: One\n/m, "next: which it is");
says(qr{^  to fill in  work/98-tiny\.cu:14: make one nothing\n  to fill in  work/98-tiny\.cu:16: make two nothing$}m, "next: file, line and task");
like((split /\n/, slurp("$work/98-tiny.cu"))[13], qr{// YOUR CODE: make one nothing}, "next: really that line");
says(qr{chapter 1, The last first: Tiny one\n +chapters/01-last\.md, line 6 }, "next: its page");
says(qr/^  try +make step-98 try .*\n  at first +make step-98 try ARGS="--case small"\n  stuck/m, "next: the command to try it, and what the chapter tries first");
in_tree("make list");
says(qr/^  step-98 .* not begun$/m, "list: a file that nobody has changed is not begun");

# --- hint -----------------------------------------------------------------------------------------------------
in_tree("make hint");
is_said("work/98-tiny.cu:14: make one nothing\n  hint 1 of 2: What is nothing?\n  Of this step's other exercises, ARGS=NAME gives a hint: second\n",
    "hint: the first of what is next, and how to ask for the others");
in_tree("make solution");
like($r{err}, qr/^step-98: not begun, so its solution is not shown yet/, "solution: of what is next, too");
in_tree("make -n predict BACKEND=cpu");
says(qr/predict\.sh ask 98 /, "predict: and so is what it asks");
in_tree("make step-98 hint");
says(qr/  hint 1 of 2: What is nothing\?\n  hint 2 of 2: It is `0`, of course\.\n  Of this/, "hint: and one more");
in_tree("make step-98 hint");
says(qr/hint 2 of 2.*\n  There is no other\. make step-98 solution FORCE=1/, "hint: no other");
in_tree("make step-98 hint ARGS=second");
says(qr/\Awork\/98-tiny\.cu:16: make two nothing\n  hint 1 of 2: As before\.\n  Of this.*: first\n\z/, "hint: of the exercise that is named");
fill("$work/98-tiny.cu", "make two nothing", "two = 0;");
in_tree("make step-98 hint ARGS=second");
says(qr/\Awork\/98-tiny\.cu:16: make two nothing\n  hint 1/, "hint: and where it was, once it is filled in");
fresh_start();
in_tree("make step-98 hint ARGS=third");
is($r{code}, 2, "hint: of none");
is((errors($r{err}))[0], "hint: \"third\" is no exercise of step 98: ARGS=NAME takes one of first, second", "hint: says which there are");

# --- try, and what list says of it ----------------------------------------------------------------------------
in_tree("make step-98 try BACKEND=cpu");
says(qr/^  still blank: work\/98-tiny\.cu:14: make one nothing\n  still blank: .*:16: make two nothing\nstep-98 try: not right yet/m,
    "try: what is blank");
in_tree("make list");
says(qr/^  step-98 .* wrong +since \d{4}-\d\d-\d\d \d\d:\d\d; blank: work\/98-tiny\.cu:14, work\/98-tiny\.cu:16$/m, "list: wrong, since when");
fill("$work/98-tiny.cu", "make one nothing", "one = 0;");
in_tree("make list");
says(qr/^  step-98 .* begun +changed since it was wrong, .*; blank: work\/98-tiny\.cu:17$/m, "list: changed, and not tried since");
in_tree("make next");
says(qr{^  to fill in  work/98-tiny\.cu:17: make two nothing\n  read}m, "next: only what is blank");
in_tree("make step-98 hint");
says(qr/^work\/98-tiny\.cu:17: make two nothing\n/, "hint: of what is blank");
in_tree("make step-98 solution");
is($r{code}, 2, "solution: not before it is right");
like($r{err}, qr/^step-98: begun, so its solution is not shown yet: make step-98 hint helps/m, "solution: and says so");
fill("$work/98-tiny.cu", "make two nothing", "two = 0 * two;");
in_tree("make step-98 try BACKEND=cpu");
is($r{code}, 0, "try: right") or diag($r{out}, $r{err});
says(qr/^make next goes on; make step-98 solution .*\nstep-98 try: right/m, "try: what to type next");
in_tree("make list");
says(qr/^Part I: One: 2 of 2\n  step-98 .* right +\d{4}-/m, "list: right");
says(qr/^2 of 3 exercises are right\. make next/m, "list: how many");
in_tree("make step-98 solution BACKEND=cpu");
is($r{code}, 0, "solution: when it is right");
says(qr/^--- work\/98-tiny\.cu: yours\n.*^-    two = 0 \* two;\n.*^\+    two = 0;$/ms, "solution: yours against the step's own");
in_tree("make next");
says(qr{^Exercise 3 of 3, step 97, rungs; 2 are right\n.*^  to fill in  work/97-rungs/a-second\.cuh:4: }ms, "next: the next one, beside its step");

spew("$work/98-tiny.cu", slurp("$work/98-tiny.cu") =~ s/one = 0;/one = 5;/r);
in_tree("make list");
says(qr/^  step-98 .* begun +changed since it was right, /m, "list: what was right is not, once it is changed");
in_tree("make step-98 try BACKEND=cpu; make list");
says(qr/^  step-98 .* wrong +since /m, "list: and wrong, once that is tried");
spew("$work/98-tiny.cu", slurp("$work/98-tiny.cu") =~ s/one = 5;/one = 0/r);
in_tree("make step-98 try BACKEND=cpu");
like($r{err}, qr{^work/98-tiny\.cu:\d+:.*^step-98 try: not right yet: it does not compile, see above$}ms, "try: what does not compile");
in_tree("make list");
says(qr/^  step-98 .* wrong +since \S+ \S+, does not compile$/m, "list: is wrong");
in_tree("make next");
says(qr/^  so far +wrong since \S+ \S+, tries: 4, does not compile$/m, "next: and says why");
spew("$work/98-tiny.cu", slurp("$work/98-tiny.cu") =~ s/one = 0/one = 0;/r);
in_tree("make step-98 try BACKEND=cpu ARGS='--case small'; make list");
says(qr/^  step-98 .* begun +right with these ARGS alone: --case small$/m, "list: right with some ARGS is not right");
in_tree("make step-98 try BACKEND=cpu; make list");
says(qr/^  step-98 .* right +/m, "list: and right again");
in_tree("make step-98 try BACKEND=cpu ARGS='--case small'; make list");
says(qr/^  step-98 .* right +/m, "list: which a part that is right does not change");

# --- skip, FROM, watch ----------------------------------------------------------------------------------------
my $progress = slurp("$work/progress.tsv");
in_tree("make step-98 skip");
is_deeply([$r{code}, errors($r{err})], [2, "step-98: your exercise is right, so there is nothing to skip; make next goes on"], "skip: not what is right");
is(slurp("$work/progress.tsv"), $progress, "skip: which stays right");
in_tree("make skip && make list");
says(qr/^  step-97 .* skipped\n\n2 of 3 exercises are right, 1 skipped\.$/m, "skip: list says so");
in_tree("make next");
says(qr/^2 of 3 exercises are right, after 6 tries\. Skipped: step-97\.\n/m, "next: the last page, when all others are right");
says(qr/chapter 24.*new-step/s, "next: where to go from there");
in_tree("make next FROM=96");
is((errors($r{err}))[0], "next: FROM=96: no step with an exercise has that number; make list shows them", "next: from where there is none");
in_tree("rm work/progress.tsv && make next FROM=97");
says(qr/step 97, rungs/, "next: from there on");
my $out = "$tree/watched";
my $pid = fork // die;
if (!$pid) {
    exec "cd '$tree' && exec setsid make watch BACKEND=cpu >'$out' 2>&1" or die;
}
sub wait_for { my ($regex) = @_; for (1 .. 300) { return 1 if -e $out && slurp($out) =~ $regex; select undef, undef, undef, 0.2 } return 0 }
ok(wait_for(qr/step-98 is right/), "watch: tries at once, and goes on when it is right") or diag(slurp($out));
ok(wait_for(qr/step-97 try: not right yet.*watching work\/97-rungs\.cu/s), "watch: the next one") or diag(slurp($out));
fill("$work/97-rungs/a-second.cuh", ".*", "code = 0;");
ok(wait_for(qr/step-97 is right/), "watch: tries again when it is saved") or diag(slurp($out));
ok(wait_for(qr/^3 of 3 exercises are right/m), "watch: and ends with the last page") or diag(slurp($out));
kill -15, $pid;
waitpid $pid, 0;

# --- predict --------------------------------------------------------------------------------------------------
in_tree("printf '2 +- 0.5\\nabc\\n3 to 5\\nmedium\\nslow\\n' | make step-98 predict BACKEND=cpu");
is($r{code}, 0, "predict: asks") or diag($r{err});
says(qr/Question 1 of 3: How many times as fast is fast\?\n  a number .*\n  > 2 \+- 0\.5\n  taken as 2, right if it is 1\.5 to 2\.5\n/, "predict: the question, the answer");
says(qr/"abc" is no answer; right is a number/, "predict: what is none is asked again");
says(qr/"medium" is no answer; right is one of: slow fast/, "predict: of words, too");
like(slurp("$work/predictions.tsv"), qr/^98\t1\t\d{4}-\S+ \S+\t2\t1\.5\t2\.5\t-\t-\tHow many times as fast is fast\?\n98\t2\t[^\t]*\t4\t3\t5\t-.*\n98\t3\t[^\t]*\tslow\t-\t-/m,
    "predict: kept, with the date");
in_tree("printf '\\n7\\nfast\\n' | (mv work/predictions.tsv kept; make step-98 predict BACKEND=cpu; cat work/predictions.tsv; mv kept work/predictions.tsv)");
is(join(" ", $r{out} =~ /^98\t(\d)\t/mg), "2 3", "predict: an empty line leaves a question open") or diag($r{out});
in_tree("echo 9 | make step-98 predict BACKEND=cpu");
says(qr/answered on .*: 2 \(1\.5 to 2\.5\); FORCE=1 asks again/, "predict: once");
spew("$tree/plots/data/nvidia-h200/step-98.tsv", "# device: NVIDIA H200\nvariant\tcase\tclock\tl2\tmedian_us\twrong\n"
    . "slow\tc\t-\t-\t-\t0\nslow\tc\tstream\twarm\t100\t0\nslow\tc\tgraph\tcold\t100\t0\nslow\td\tgraph\twarm\t100\t0\nslow\tc\tgraph\twarm\t9\t0\nfast\tc\tgraph\twarm\t4\t0\n");
spew("$tree/rows", "# device: cpu\nvariant\tcase\tkernel\tblocks\tloads\nslow\tc\tk\t2\t16\nslow\tc\tl\t2\t1\nfast\tc\tk\t1\t1\n");
chomp(my $program = (in_tree("ls build/cpu/*/step-98"), $r{out})[-1]);
spew("$tree/none", "# device: cpu\nvariant\tcase\tkernel\tblocks\tloads\nslow\td\tk\t2\t16\n");
in_tree("sh common/make/reader/predict.sh show 98 $program none");
says(qr/How many loads a block\?\n    yours 4 \(3 to 5\); make step-98 count shows it\n  Which/,
    "predict: a count that was not seen is left for count");
in_tree("make list");
says(qr/^Predictions: 3 made, 1 compared, 1 of them within their range; off by 1\.12 times \(median\)\.$/m, "list: and not compared yet");
in_tree("sh common/make/reader/predict.sh show 98 $program rows");
says(qr/How many times as fast is fast\?\n    yours 2 \(1\.5 to 2\.5\); the book's 2\.25 \(NVIDIA H200\); not seen here, as it is a time on a GPU\n    within your range\n/,
    "predict: a time, beside the book's of this case, clock and cache");
says(qr/How many loads a block\?\n    yours 4 \(3 to 5\); seen here 8\n    outside your range, 2\.00 times too low\n/, "predict: a count of one kernel, beside what was seen");
says(qr/Which loads least\?\n    yours slow; seen here fast\n    not so\n/, "predict: a word");
in_tree("make list");
says(qr/^Predictions: 3 made, 3 compared, 1 of them within their range; off by 1\.56 times \(median\)\.$/m, "list: how good they are");
in_tree("echo 9 | make step-98 predict BACKEND=cpu FORCE=1");
says(qr/answered on .*, and compared, so it stays/, "predict: not again, once it was compared");
my $kept = slurp("$work/predictions.tsv");
spew("$work/predictions.tsv", join "", map { my @f = split /\t/; @f[6, 7] = ("-", "-") if $f[0] eq "98"; join "\t", @f } $kept =~ /^(.*\n)/mg);
my $open = slurp("$work/predictions.tsv");
in_tree("make step-98 predict BACKEND=cpu FORCE=1 </dev/null");
isnt($r{code}, 0, "predict FORCE=1: nothing to read is told");
is(slurp("$work/predictions.tsv"), $open, "predict FORCE=1: and all earlier answers stay");
in_tree("echo 3 | make step-98 predict BACKEND=cpu FORCE=1");
is(slurp("$work/predictions.tsv") =~ s/^98\t1\t.*\n//mr, $open =~ s/^98\t1\t.*\n//mr, "predict FORCE=1: those behind the last that was typed, too");
like(slurp("$work/predictions.tsv"), qr/^98\t1\t[^\t]*\t3\t/m, "predict FORCE=1: which is kept");
spew("$work/predictions.tsv", $kept);
in_tree("printf '4\\n' | make step-97 predict BACKEND=cpu");
in_tree("make step-98 run BACKEND=cpu");
says(qr/Your predictions:/, "run: shows them");
in_tree("rm work/predictions.tsv && make step-98 run BACKEND=cpu");
unlike($r{out}, qr/prediction/i, "run: says nothing to who has not predicted");
is($r{code}, 0, "run: and ends as before");
for (["1.5", "1.5 1.35 1.65"], ["1.5 +- 20%", "1.5 1.2 1.8"], ["32,768", "32768 29491.2 36044.8"], ["10 us to 20 us", "15 10 20"], ["3..5", "4 3 5"], ["2x", "2 1.8 2.2"],
     ["1,234,567", "1234567 1.11111e+06 1.35802e+06"], ["1,2,3", ""], ["1,2345", ""], ["5 to 3", ""],
     ["32/256", ""], ["10^3", ""], ["16k", ""], ["1 000", ""], ["0x10", ""], ["24 kB", ""], ["50%", ""], ["1e999", ""], ["1.5 +- abc", ""],
     ["1.2 to", ""], ["1 or 2", ""], ["1.5 bis 2", ""], ["3 times", "3 2.7 3.3"], ["", ""], ["about 3", ""]) {
    %r = run("printf '%s\\n' '$_->[0]' | awk -f common/make/reader/answer.awk");
    is($r{out} =~ s/\t/ /gr =~ s/\n//r, $_->[1], "an answer: \"$_->[0]\"");
}

in_tree("printf '\\n\\n\\n' | make step-98 predict BACKEND=cpu");
says(qr/^No answer, so nothing is kept\.$/m, "predict: no answer is none");

# --- For a class ----------------------------------------------------------------------------------------------
spew("$work/97-rungs/a-second.cuh", slurp("$work/97-rungs/a-second.cuh") =~ s/code/value/gr);
in_tree("make -s list ARGS=--json");
my $json = eval { decode_json($r{out}) } // {};
is(join(" ", map { "$_->{step}:$_->{exercise}:$_->{state}:$_->{changed}" } @{ $json->{list} }),
    "98-tiny:first:right:0 98-tiny:second:right:0 97-rungs:code:begun:2", "list --json: each exercise, and how many of its lines are gone") or diag($r{out});
is("$json->{right} of $json->{exercises}", "2 of 3", "list --json: how many");
ok($json->{list}[0]{commit} && $json->{list}[0]{tried}, "list --json: commit and date");
in_tree("make list ARGS=--yaml");
is((errors($r{err}))[0], "list: \"--yaml\" is no option of it: make list, or make list ARGS=--json", "list: no other option");

# --- The real steps -------------------------------------------------------------------------------------------
my %source = steps();
for my $number (sort keys %source) {
    %r = run("$programs/step-$number --questions");
    is($r{code}, 0, "step-$number: its questions") or diag($r{err});
    my @asked = split /\n/, $r{out};
    shift @asked;
    cmp_ok(scalar(@asked), ">=", 1, "step-$number: has one");
    cmp_ok(scalar(@asked), "<=", 3, "step-$number: at most three");
    my $dir = scratch_dir();
    spew("$dir/questions", $r{out});
    my @answers = map { -f $_ ? [run("awk -f common/make/reader/figure.awk $dir/questions $_")] : () }
        "plots/data/nvidia-h200/step-$number.tsv", "plots/data/cpu/step-$number-counts.tsv";
    my @lines = map { my %a = @$_; [split /\n/, $a{out}] } @answers;
    for my $i (0 .. $#asked) {
        my @known = grep { $_ !~ /^-\t/ } map { $_->[$i] // "-\t-" } @lines;
        is(scalar(@known), 1, "step-$number: question " . ($i + 1) . " has one recorded answer") or diag($asked[$i]);
    }
}
done_testing();
