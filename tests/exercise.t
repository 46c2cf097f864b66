#!/usr/bin/env perl
# Exercises: every step's compiles and fails as it is handed out, and passes with the solution put
# back. A reader's file is never overwritten.
use strict;
use warnings;
use Cwd qw(getcwd);
use Test::More;
use lib "tests/lib";
use Workbook;

# A copy of the tree, made when something is to be done in it.
my $tree;
sub tree { return $tree //= scratch(build => 1) }
sub in_tree {
    my ($command) = @_;
    my $dir = tree();
    return run("cd '$dir' && $command");
}

my %r = run("make -s programs BACKEND=cpu");
is($r{code}, 0, "all steps are built") or BAIL_OUT($r{err});
chomp(my $programs = $r{out});
# The copies of the tree need no runtime of their own.
$ENV{CUDACPU_BUILD} = getcwd() . "/$programs";

# Verdicts depend on these versions: how exercises are written and tried, and all that a program that runs is made
# of besides its step.
my @versions = map { version_of($_) } (split " ", `sh common/make/build/toolchain.sh`)[0, 1];
my @writing = ("Makefile", "common/make/build/build.mk", glob("common/make/reader/*"));
my @backend = grep { -f } glob("common/cpu/{,*/,*/*/,*/*/*/}*");
my @running = (@writing, @backend, glob("common/harness/*.* common/harness/*/* common/problems/* common/neox/* common/cuda/*"));

# All that lies in the folders of steps.
sub files_of { return map { grep { -f } glob("steps/$_-*/*") } @_ }

# A step's text without its hints.
sub without_hints { return $_[0] =~ s{^ *// hint: .*\n(?: *//    .*\n)*}{}gmr }

# The exercise in $text with the solutions of $step put in the places of its tasks.
sub solved {
    my ($text, $step) = @_;
    my ($name, %solution, @tasks);
    for (split /^/, without_hints(slurp($step))) {
        $name = "", next if m{^ *// end solution: };
        push(@tasks, $name = $1), next if m{^ *// solution: (\S+)};
        $solution{$name} .= $_ if $name && !m{^ *// (end )?snippet: };
    }
    $text =~ s{^ *// YOUR CODE: .*\n}{$solution{shift @tasks} // ""}mge;
    return $text;
}

my @steps = glob("steps/[0-9][0-9]-*/*.cu");
my %source = steps();
ok(scalar(@steps), "there are steps");
my (%slug, %beside, %tasks);
my $has = qr{^ *// solution: }m;
for my $step (@steps) {
    my ($number, $slug) = $step =~ m{/(\d\d)-[^/]*/(.*)\.cu$};
    # The step's file, and what lies beside it and has solutions.
    $slug{$number} = $slug;
    $beside{$number} = [grep { slurp($_) =~ $has } glob($step =~ s{[^/]*$}{*.cuh}r)];
    $tasks{$number} = () = join("", map { slurp($_) } $step, @{ $beside{$number} }) =~ m{$has}g;
}
my @begun = grep { $tasks{$_} } sort keys %slug;

# Writes the exercises of these steps, those that are not there; returns what was said of each.
my %said;
sub written {
    my @new = grep { !defined $said{$_} } @_ or return @said{@_};
    my %r = in_tree("make " . join(" ", map { "step-$_" } @new) . " exercise");
    is($r{code}, 0, "exercise: @new") or diag($r{err});
    $said{$_} = "" for @new;
    $said{$1} .= $& while $r{out} =~ m{^(?:work|steps)/(\d\d)-\S+[: ].*\n(?:  line .*\n)*}mg;
    return @said{@_};
}
# They are written together, if not all of it is known.
my %proof = map { my ($n) = m{/(\d\d)-}; $n => proof_of("step-$n: its exercise", [files_of($n), @writing]) } @steps;
my @unknown = grep { !is_proven($proof{$_}) } sort keys %slug;
written(@unknown) if @unknown;
for my $step (@steps) {
    my ($number) = $step =~ m{/(\d\d)-};
    my ($slug, @beside) = ($slug{$number}, @{ $beside{$number} });
    proved("step-$number: its exercise", [files_of($number), @writing], sub {
        if (!$tasks{$number}) {
            like($said{$number}, qr/has no solution to take out/, "step-$number: no exercise, and it says so");
            return;
        }
        my %exercise = ($step => slurp("$tree/work" . "/$number-$slug.cu"));
        $exercise{$_} = slurp("$tree/work" . "/$number-$slug" . s{.*/}{/}r) for @beside;
        is(scalar(() = join("", values %exercise) =~ m{^ *// YOUR CODE: \S}mg), $tasks{$number},
            "step-$number: a task for each solution");
        is(scalar(() = $said{$number} =~ m{^  line \d+: \S}mg), $tasks{$number}, "step-$number: and each is named");
        for my $file ($step, @beside) {
            unlike($exercise{$file}, qr{^ *// ((end )?(solution|snippet)|hint): }m, "$file: no marker is left");
            my %hints = run("awk -v mode=hints -f common/make/reader/markers.awk $file");
            is(scalar(grep { split(/\t/) < 4 } split /\n/, $hints{out}), 0, "$file: two hints at least for each solution")
                or diag($hints{out});
            # So a reader who fills in the solutions has the step, whose program other tests run and check.
            my $without = join "", grep { !m{^ *// (end )?(solution|snippet): } } split /^/, without_hints(slurp($file));
            ok(solved($exercise{$file}, $file) eq $without,
                "$file: with its solutions put back, it is what it was without markers");
        }
    });
}

# As they are handed out; `make test` tries some, by its seed, and some of what must be refused. What make does in `try` besides is looked at below, with the first one and the model's.
my ($first, $model) = ($begun[0], (grep { has_model($source{$_}) } @begun)[0]);
my %drawn = map { $_ => 1 } drawn("exercises", @begun);
my @tried = grep { $drawn{$_} && $_ ne $first } @begun;
my $made = "build/cpu/tried";
my $ours = "-Icommon $programs/harness/*/*.o $programs/problems/*.o $programs/neox/*.o";

# Compiles work/NAME.cu as it stands there: plain, and for the instruments that are named.
sub compiled {
    my ($number, @instruments) = @_;
    my $name = "$number-$slug{$number}";
    my ($folder) = glob("steps/$number-*");
    my $cudacc = "common/cpu/cudacc -O1 -g" . (@instruments ? 1 : 0) . " -w -fno-exceptions -fno-asynchronous-unwind-tables "
        . "-Iwork/$name -I$folder";
    my %r = in_tree(join " && ", "mkdir -p $made", "$cudacc $ours work/$name.cu -o $made/$name.program",
        @instruments ? "$cudacc -Icommon --check -c work/$name.cu -o $made/$name.o" : (),
        map { "$cudacc $ours --$_ $made/$name.o -o $made/$name.$_" } @instruments);
    return is($r{code}, 0, "step-$number: its exercise compiles") || diag($r{out}, $r{err});
}
# The command that tries it: CHECK and COUNT are programs or commands, or empty.
sub try_command {
    my ($number, $check, $count, $cases) = @_;
    my $name = "$made/$number-$slug{$number}";
    s/^(check|count)$/$name.$1/ for $check, $count;
    return "sh common/make/reader/try.sh step-$number $name.program '$check' '$count' $cases";
}
# The output of the first of the commands that fails.
sub fails_as_written {
    my ($what, $number, $code, @commands) = @_;
    my %r;
    for (@commands) {
        %r = in_tree($_);
        last if $r{code};
    }
    is($r{code}, $code, "$what: fails as it is handed out");
    # A graph or a tensor map that nobody makes ends the program, and a copy that nobody starts is
    # waited for: then there is no result.
    my ($ends) = $r{out} =~ /^step-$number try: not right yet: (.*), see above\n\z/m;
    my %first = (
        "its results are wrong" => qr/^  variant \S+: WRONG\n  /m,
        "it does not do what is predicted" => qr/^(?:  variant \S+: NOT as predicted\n  |$number-.*, NOT as predicted: )/m,
        "its threads wait for one another for ever" => qr/^kernel .*deadlock: threads? /m,
        "it ended before its results were compared" => qr/^$number-.* (?:failed|refuses)\b/m,
    );
    like($r{out}, $first{ $ends // "" } // qr/ there is another last line/, "$what: its last line fits what it shows")
        or diag($r{out}, $r{err});
    like($r{out}, qr/^case \S+: /m, "$what: with the case");
    unlike($r{err}, qr/warning/, "$what: and no warning of what is not filled in");
}
for my $number (@tried) {
    proved("step-$number: its exercise fails as written", [files_of($number), @running], @versions, sub {
        written($number);
        compiled($number) or return;
        # Of nearly all the first small case fails, and of the others some case must.
        my @cases = small_cases("$programs/step-$number") =~ /--case \S+/g;
        fails_as_written("step-$number", $number, 1, map { try_command($number, "", "", $_) } $cases[0], "@cases");
    });
}

# The first one in full, and the model's from there on: a failure, the solution put back, a file that is
# kept.
for my $number (drawn("exercises", $first, $model)) {
    proved("step-$number: in full", [files_of($number), @running, "plots/data/cpu/step-$number-counts.tsv"], @versions, sub {
        written($number);
        my $cases = small_cases("$programs/step-$number");
        my $work = "$tree/work" . "/$number-$slug{$number}.cu";
        my $try = "make step-$number try BACKEND=cpu ARGS='$cases'";
        fails_as_written("step-$number try", $number, 2, $try) if $number eq $first;

        my $fresh = slurp($work);
        %r = in_tree("awk -v mode=strip -f common/make/reader/markers.awk steps/$number-*/*.cu");
        spew($work, $r{out});
        %r = in_tree($try);
        is($r{code}, 0, "step-$number: passes with the solution put back") or diag($r{err});
        like($r{out}, qr/^step-$number try: right: verified and checked, and it costs what the task allows(?: \(only what ARGS names was tried: .*\))?$/m,
            "step-$number: and says so");
        cmp_ok(scalar(() = $r{out} =~ /\n/g), "<=", 25, "step-$number: in at most 25 lines") or diag($r{out});
        is($r{err}, "", "step-$number: and nothing beside");

        my $before = slurp($work);
        %r = in_tree("make step-$number exercise");
        is($r{code}, 0, "step-$number: asked again");
        like($r{out}, qr/is kept: .*FORCE=1/,
            "step-$number: the changed file is kept, and it says how to start over");
        is(slurp($work), $before, "step-$number: really");
        spew($work, $fresh);
    });
}

# Mistakes, each planted in a step without markers, and the verdict of `try`: its last line, and the lines
# before that; and what is another way to be "right". Check and count are made where they are to say something;
# `true` stands for one that finds nothing. NN/NAME is a file beside the step's.
my @planted = (
    # Right results, but a broken rule.
    ["a race that changes no result", "01", "odd", qr/(\n    if \(row >= rows\) \{\n)/,
        sub { "\n    __shared__ volatile float unused[32];\n    unused[threadIdx.x % 32] = threadIdx.x;$1" },
        qr/its results are right and a check fails/,
        qr/^  variant naive: 1 finding\n    shared race: .* work\/01-naive-attention\.cu:\d+/m, "check", ""],
    # Right results by twice the work.
    ["a product that is computed twice", "01", "odd", qr/(\n +)(for \(int d = 0; d < D; d\+\+\) \{\n +dot \+= .*\n +\})/,
        sub { "$1$2$1dot *= 0.0f;$1$2" }, qr/its results are right, and its counts are not those of the task/,
        qr/^  costs more: variant naive, case odd, kernel scores: global_ld_requests 190080, the step's own 95040 \(2 times\)$/m,
        "true", "count"],
    ["a shuffle that some leave out", "01", "odd", qr/\Qrow_max = warp_max(row_max);/,
        sub { "if (lane == 3) return;\n    row_max = warp_max(row_max);" }, qr/its results are wrong/,
        qr/^    barrier divergence: lane 1 reads lane 3, which has ended, .* and a lane that got it stores at work\/01-naive-attention\.cu:\d+ /m,
        "check", ""],
    # A kernel that is stopped has no results. Far below: far above, an address may be none of a user's, which
    # ends a program in another way.
    ["a store far away", "01", "odd", qr/\QSk + j] = score/, sub { "Sk + j - (1ll << 34)] = score" },
        qr/a kernel reaches for memory that is not there/, qr/^case odd: .*\n(?s:.*)illegal access at address/m, "", ""],
    ["16 bytes at an odd address", "13", "S63", qr/\Q(const float4 *)(own.k +/, sub { "(const float4 *)(own.k + 1 +" },
        qr/(?:a kernel.s access is not aligned to its size|a kernel reaches for memory that is not there)/,
        qr/^case S63: .*\n(?s:.*)    misaligned: read at work\/13-v7-hybrid\.cu:\d+ .* of k_rotated /m, "check", ""],
    # Both lines of the race lie in helpers: whose call they are is printed, and the read of what was not yet written is one
    # more of the same.
    ["a barrier that is left out", "26/c-ordered.cuh", "small --variant c-ordered", qr/ *__syncthreads\(\); \/\/ dS of all keys is there\n/,
        sub { "" }, qr/its results are wrong/,
        qr/^    shared race: write at common\/cuda\/tensor_cores\.cuh:\d+ \(called at common\/cuda\/flash_backward\.cuh:\d+, from work\/26-one-pass-backward\/c-ordered\.cuh:\d+\) .*\n      and 1 more finding at these lines of yours\nstep-26/m,
        "check", ""],
    # The wait to blame is the one that did not wait, and neither those that it led astray nor those who read. How the
    # kernel died is printed once more, with the lines that call.
    ["a parity that always passes", "28/e-apart.cuh", "odd-D128 --variant tma-apart-2", qr/\Q(tile + AHEAD) \/ STAGES % 2 ^ 1;/, sub { "1;" },
        qr/its threads wait for one another for ever/,
        qr/^and check says of it:\nmbarrier: an mbarrier whose phase 0 \(parity 0\) is not complete is asked for parity 1 at common\/cuda\/tma\.cuh:\d+ \(called at work\/28-flash-tma\/e-apart\.cuh:114\) .*\nmbarrier: deadlock: .*, made at work\/28-flash-tma\/e-apart\.cuh:70 \(1 of 2\), .*\nstep-28/m,
        "check", ""],
    # A step may ask for what neither results nor counts show, in a try.sh of its own.
    ["a choice without the table", "36", "forward-small --variant dispatch",
        qr/\Qkf_tuned("dispatch", s, "way", name, sizeof name)/, sub { "name[0] = 0" },
        qr/its results are right, and it does not do what the task asks/,
        qr/in case \S+ it chooses op-by-op; the table.s fused is right\n  with the H200.s table/, "true", ""],
    ["a choice of what is none", "36", "forward-small --variant dispatch", qr/\Qstrcmp(name, chosen.name) != 0/,
        sub { "false" }, qr/its results are right, and it does not do what the task asks/,
        qr/way:other in every row it goes on/, "true", ""],
    ["a launch that asks for the way again", "36", "forward-small --variant dispatch", qr/\Qof_table.launch(run/,
        sub { "tuned_way(&run->shape).launch(run" }, "right", qr/^  dispatch: fused; /m, "true", ""],
    ["a launch of one way always", "36", "forward-small --variant dispatch", qr/\Qof_table.launch(run/,
        sub { "fused_way.launch(run" }, qr/it does not do what is predicted/,
        qr/where op-by-op is chosen, launches: 1; \d+ is right$/m, "", ""],
    ["a step of one that is two", "06", "D128 --variant v1-float4-one", qr/\Qwide == ONE_STEP ? 1 : 2/, sub { "2" },
        qr/its results are right, and it does not do what the task asks/, qr/^  work\/06-v1-float4\.cu: ONE_STEP is not in score_keys_by/m, "true", ""],
    # Rows and columns of a tile: other ways through shared memory have the same results and counts.
    ["an element that its own lane loads back", "00", "tile --variant shared-padded",
        qr/\Qfirst + other < n) {\E\n +\Qy[first + other] = tile[other % 32][other \/ 32]/,
        sub { "first + mine < n) {\n        y[first + mine] = tile[mine % 32][mine / 32]" },
        qr/its results are right, and it does not do what the task asks/,
        qr/^  variant shared-padded, case tile: lane 0 of warp 0 loads the element that it has stored itself; it is to load that of lane 0 of warp 1$/m,
        "check", ""],
    ["a tile whose row is a warp's", "00", "tile --variant shared-padded",
        qr/\Q[32 + 1];\E((?s:.*?))\Qtile[mine % 32][mine \/ 32]\E((?s:.*?))\Qtile[other % 32][other \/ 32]\E/,
        sub { "[32];$1tile[mine / 32][mine % 32]$2tile[other / 32][other % 32]" },
        qr/its results are right, and it does not do what the task asks/,
        qr/^  variant shared-padded, case tile: lane 0 of warp 31 stores into word 992 of the tile, lane 1 of warp 0 into word 1: .*lane l of every warp is to store into row l$/m,
        "check", ""],
    ["a tile with conflicts", "00", "tile --variant shared-padded", qr/\Q[32 + 1];/, sub { "[32];" },
        qr/its results are right, and its counts are not those of the task/,
        qr/^  costs more: variant shared-padded, case tile, kernel padded: shared_ld_wavefronts 1024, the step's own 32 \(32 times\)$/m,
        "true", "count"],
    ["a swizzle", "00", "tile --variant shared-padded",
        qr/\Q[32 + 1];\E((?s:.*?))\Qtile[mine % 32][mine \/ 32]\E((?s:.*?))\Qtile[other % 32][other \/ 32]\E/,
        sub { "[32];$1tile[mine % 32][mine / 32 ^ mine % 32]$2tile[other % 32][other / 32 ^ other % 32]" },
        "right", qr/^case tile: .* 1 right$/m, "check", "count"],
    # Rungs beside the step's file.
    ["a float that four lanes store", "25/by_dq.cuh", "odd --variant by-dq", qr/\QthreadIdx.x % 4 == 0 && row/, sub { "row" },
        qr/its results are right, and it does not do what the task asks/,
        qr/^ +same value written: write at work\/25-delta-cache\/by_dq\.cuh:\d+ .* of delta \(.*\n  each delta is to be stored once/m,
        "check", ""],
    ["a turn that nobody passes on", "26/c-ordered.cuh", "two-blocks-keys --variant c-ordered", qr/\n +post\(counter\);/, sub { "" },
        qr/its threads wait for one another for ever/,
        qr/^and check says of it:\nwaits in vain: .*waits? at __nanosleep \(\S+\), after loading 0 at \S+\/turns\.cuh:\d+ \(called at work\/\S+\/c-ordered\.cuh:\d+\): 4 bytes at offset \d+ of counters \(\d+ bytes\), which nothing in this launch has written/m,
        "check", ""],
    ["a turn that each thread passes on", "26/c-ordered.cuh", "two-blocks-keys --variant c-ordered", qr/\Qpost(counter);/,
        sub { 'asm volatile("red.release.gpu.global.add.s32 [%0], 1;" : : "l"(counter) : "memory");' },
        qr/its threads wait for one another for ever/,
        qr/, after loading 128 at .*of counters \(\d+ bytes\), last written at work\/\S+\/c-ordered\.cuh:\d+ by thread \(\d+,0,0\) of block/m,
        "check", ""],
    ["strides of a map in elements", "28/c-heads.cuh", "small --variant tma", qr/\QD * 2;\E\n( +)\Qof.stride[1] = (cuuint64_t)S * D * 2;/,
        sub { "D;\n    of.stride[1] = (cuuint64_t)S * D;" }, qr/its results are wrong/,
        qr/^    pending copy: copy at .*, which both write: need a wait between, or other addresses, sizes or strides/m, "check", ""],
    ["16-byte chunks for bytes", "27", "small --variant k-both", qr/\Q + at);/, sub { " + at * 16);" },
        qr/a kernel reaches for memory that is not there/, qr/ldmatrix.*the block's shared memory ends at/, "", ""],
    ["half of an exponent", "07", "D8 --variant v2", qr/\Qfrequency = powf(10000.0f, -2.0f * (float)i\E/, sub { "frequency = powf(10000.0f, -(float)i" },
        qr/its results are wrong/, qr/^    these are the results if pair i has the frequency base\^\(-i \/ R\), half of its exponent$/m, "true", ""],
    ["a mask without the query's own key", "21", "small-causal --variant flash", qr/a\.Sk - a\.Sq \+ query \+ 1\)/, sub { "a.Sk - a.Sq + query)" },
        qr/its results are wrong/, qr/^    these are the results if a query sees one key less than it should$/m, "true", ""],
    ["keys past the end like any other", "21", "odd --variant flash", qr/\Qsees ? p[i][j] * a.scale : -INFINITY/, sub { "sees ? p[i][j] * a.scale : 0.0f" },
        qr/its results are wrong/, qr/^    these are the results if keys that a query does not see, or that fill up a tile of 64, have the score 0/m, "true", ""],
    ["tables that are exchanged", "17", "small", qr/"cos_rows"(.*)"sin_rows"/s, sub { "\"sin_rows\"$1\"cos_rows\"" },
        qr/its results are wrong/, qr/^    these are the results if cosine and sine are exchanged$/m, "true", ""],
    ["an output that is not rescaled", "21", "small --variant flash", qr/\Qout[i][c] *= keep;/, sub { ";" }, qr/its results are wrong/,
        qr/^    these are the results if o is not rescaled when a tile of 64 keys raises the maximum of a row$/m, "true", ""],
    ["a sum that is not rescaled", "21", "small --variant flash", qr/\Qrow_sum[i] *= keep;/, sub { ";" }, qr/its results are wrong/,
        qr/^    these are the results if the sum is not rescaled when a tile of 64 keys raises the maximum of a row$/m, "true", ""],
    ["a maximum of its own in each thread", "21", "four --variant flash", qr/\Qmax_of_row(most)/, sub { "most" }, qr/its results are wrong/,
        qr/^    these are the results if each thread subtracts the maximum of its own keys, and not that of the row$/m, "true", ""],
    ["a row without keys", "21", "no-key --variant flash", qr/\Qrow_max[i] > -INFINITY ? row_max[i] : 0.0f/, sub { "row_max[i]" },
        qr/its results are wrong/, qr/^    these are the results if a row without keys divides 0 by its sum, 0, or subtracts its maximum, -Inf, from -Inf: both are NaN$/m,
        "true", ""],
    ["a row without keys, divided by its sum", "21", "no-key --variant flash", qr/\Qall > 0.0f ? 1.0f \/ all : 0.0f/, sub { "1.0f / all" },
        qr/its results are wrong/, qr/^    these are the results if a row without keys divides 0 by its sum, 0, or subtracts its maximum/m, "true", ""],
    # o is v, whatever the scores are, so that a mistake in all scores would explain lse as well.
    ["an lse whose maximum is not scaled", "21", "one-key --variant flash", qr/\Qa.lse[at] = row_max[i] +/,
        sub { "a.lse[at] = row_max[i] / a.scale +" }, qr/its results are wrong/,
        qr/^    these are the results if lse is the logarithm of the sum plus the maximum of q k\^T, not divided by sqrt\(D\)$/m, "true", ""],
    ["P in another order", "21", "four --variant flash", qr/\Qt.p[row + i][lane + j * LANES]/, sub { "t.p[row + i][lane * KEYS + j]" },
        qr/its results are wrong/, qr/^    these are the results if keys of P were taken for those of v in another order: /m, "true", ""],
    # lse is -Inf everywhere, which is no form of lse.
    ["a wait that leaves this tile's copy", "23", "small --variant m64-n64-w4-s2", qr/\Qcopy_async_wait<AHEAD - 1>/, sub { "copy_async_wait<AHEAD>" },
        qr/its results are wrong/, qr/\A(?!.*these are the results if lse)/s, "true", ""],
    ["a tile of keys at positions of its own", "32", "forward-small --variant fused", qr/\Qsine,\E\s+first, Sk/, sub { "sine, 0, Sk" },
        qr/its results are wrong/, qr/^    these are the results if keys are rotated by their positions in a tile of 64$/m, "true", ""],
    ["halves in the other order", "16", "small --variant rebuild", qr/\Qnegated, D \/ 2, x, D, rotated/, sub { "x, D, negated, D \/ 2, rotated" },
        qr/its results are wrong/, qr/^    these are the results if the halves of rotate_half\(x\) are exchanged$/m, "true", ""],
    ["another sign where keys are rotated", "08", "S63", qr/lower = x \* c -/, sub { "lower = x * c +" }, qr/its results are wrong/,
        qr/^    these are the results if the first of a pair is x1 cos \+ x2 sin, in place of .* \(of keys alone\)$/m, "true", ""],
    # Counts of what is wrong.
    ["pairs that every thread rotates", "12", "S63 --variant v6-all", qr/(i < rotated; )i \+= parts/, sub { "$1i++" }, qr/its results are wrong/,
        qr/^counted in this case: kernel attention_v6_by<by>: sin 1161468 \(the step's own: 161280, 7\.2 times\), /m, "true", "count"],
    ["a launch with half of its blocks", "16", "small --variant four-each", qr/multiply_four<<<\Kblocks/, sub { "half_blocks" },
        qr/its results are wrong/, qr/^counted in this case: kernel multiply_four: blocks 192 \(the step's own: 256, 0\.75 times\), /m, "true", "count"],
    ["extents that are exchanged", "28/c-heads.cuh", "small --variant tma", qr/(extent\[1\] = .*)S(;\n.*)BH;/, sub { "$1BH$2S;" }, qr/its results are wrong/,
        qr/^counted in this case: kernel kernel: bulk_load_bytes 1536 \(the step's own: 98304, 0\.0156 times\), /m, "true", "count"],
    # The next tile is copied to where this one is read.
    ["a stage too far", "33", "forward-small --variant tile:m128-n64-w4-s2", qr/ stage = \Qfirst \/ KEYS %/, sub { " stage = (first / KEYS + 1) %" },
        qr/its results are wrong/,
        qr/^    pending copy: .*, copied from offset \d+ of k, no wait since the one at \S+ \(called at work\/33-small-tiles\.cu:\d+\), which came before the copy: /m,
        "check", ""],
    # Inputs, scratch and shared memory that nobody reads.
    ["dimensions beyond R as if there were none before", "11", "head --variant v6", qr/\Qd = p + half + member * (D - R)/, sub { "d = p + member * (D - R)" },
        qr/its results are wrong/, qr/^    never read: columns 1984-2047 of 0-2047 of the input k$/m, "check", ""],
    ["a result that nobody uses", "16", "small --variant four-each", qr/add_four(<<<.*>>>)\(x_cosine, rotated_sine,/, sub { "add_four$1(x_cosine, rotated," },
        qr/its results are wrong/, qr/^    never read: all of what kernels wrote to rotated_sine$/m, "check", ""],
    ["the first chunk's query in each chunk", "11", "head --variant v6", qr/\Qdot += query[p] * (key/, sub { "dot += query[i] * (key" },
        qr/its results are wrong/,
        qr/^    never read: write at \S+ \(called from work\/11-v6-dimension-tiles\.cu:\d+\) .*: 3584 bytes at offset 512 of the dynamic part .*, and no block of this launch reads it$/m, "check", ""],
    # Which quarter of an operand is where.
    ["rows of P in the place of keys", "22/e-registers.cuh", "small --variant e-registers", qr/\Q[2 * n][2], s[2 * n][3]);\E(\n.*)\Q[2 * n + 1][0], s[2 * n + 1][1]);/,
        sub { "[2 * n + 1][0], s[2 * n + 1][1]);$1\[2 * n][2], s[2 * n][3]);" }, qr/its results are wrong/,
        qr/^    these are the results if in each 16 x 16 of P registers 0, 1, 2, 3 held what belongs in 0, 2, 1, 3 \(/m, "true", ""],
    ["blocks of P that overlap", "22/e-registers.cuh", "small --variant e-registers", qr/p\[0\] = pack(?s:.*?)p\[3\] = .*/,
        sub { $& =~ s/2 \* n/n/gr }, qr/its results are wrong/,
        qr/^    these are the results if keys of P were taken 16 at a time, and each 16 began 8 further on$/m, "true", ""],
    ["half of P", "22/e-registers.cuh", "small --variant e-registers", qr/p\[2\] = .*\n.*p\[3\] = .*/, sub { "p[2] = p[3] = 0;" },
        qr/its results are wrong/, qr/^    these are the results if in each 16 x 16 of P registers .* 0, 1, none, none \(/m, "true", ""],
    ["a lane's row for the other operand", "27", "small --variant k-both", qr/\Qlane_of_b<KEYS>() ^ (n/, sub { "lane_of_a<KEYS>() ^ (n" },
        qr/its results are wrong/, qr/^    these are the results if in each 16 x 16 of k registers .* 0, 2, 1, 3 \(/m, "true", ""],
    ["the first keys of a tile always", "27", "small --variant k-both", qr/\Qlane_of_b<KEYS>() ^ (n + j * 16)/, sub { "lane_of_b<KEYS>() ^ (j * 16)" },
        qr/its results are wrong/, qr/^    these are the results if of each 64 keys of k the first 32 were taken twice$/m, "true", ""],
    # It is the producer's, and only consumers' lines have three digits.
    ["a producer that waits for one parity", "29/b-producer.cuh", "odd-long --variant b-producer", qr/\Qemptied = step \/ STAGES % 2 ^ 1/, sub { "emptied = 1" },
        qr/it ended before its results were compared/, qr/^mbarrier: .* 1 arrival too many on .*; called at work\/\S+\/b-producer\.cuh:\d\d;/m,
        "check", ""],
    ["a copy in front of which a barrier is missing", "29/c-ping-pong.cuh", "odd --variant c-ping-pong",
        qr/\n +\Qnamed_sync(WARPGROUP_BARRIER + warpgroup, 128);/, sub { "" }, qr/its results are wrong/,
        qr/^    pending copy: write at .*, and nothing orders the two: need a barrier between, in front of the copy or behind its wait/m,
        "check", ""],
    ["a barrier number that turns have", "29/c-ping-pong.cuh", "two-blocks-D128 --variant c-ping-pong", qr/\QWARPGROUP_BARRIER + warpgroup, 128/,
        sub { "HANDOFF_BARRIER + warpgroup, 128" }, qr/it ended before its results were compared/,
        qr/^barrier divergence: .*: the first is used at \S+ \(called at work\/\S+\/c-ping-pong\.cuh:\d+\) by thread \(\d+,0,0\), this at \S+ \(called at work\/\S+\/c-ping-pong\.cuh:\d+\) by/m,
        "check", ""],
    ["a barrier number that all warpgroups share", "29/c-ping-pong.cuh", "odd --variant c-ping-pong", qr/\QWARPGROUP_BARRIER + warpgroup, 128/,
        sub { "WARPGROUP_BARRIER, 128" }, qr/its results are right and a check fails/,
        qr/^    named barrier: number \d+ for 128 threads, at which threads \d+-\d+ meet \(\S+ \(called at work\/\S+c-ping-pong\.cuh:\d+\) by/m,
        "check", ""],
);
for (drawn_parts("planted", "all", @planted)) {
    my ($what, $where, $case, $from, $to, $last, $shown, $check, $count) = @$_;
    my ($number, $beside) = split m{/}, $where;
    my @data = ("plots/data/cpu/step-$number-counts.tsv", "plots/data/nvidia-h200/tuned-dispatch.tsv");
    proved($what, [files_of($number), @running, @data], @versions, sub {
        my $work = "work/$number-$slug{$number}";
        my $strip = "awk -v mode=strip -f common/make/reader/markers.awk steps/$number-*";
        in_tree("rm -rf $work && mkdir -p $work && $strip/*.cu >$work.cu");
        my $file = tree() . "/$work" . ($beside ? "/$beside" : ".cu");
        %r = in_tree("$strip/" . ($beside // "*.cu"));
        $r{out} =~ s/$from/$to->()/e or fail("$what: the line to change is still there");
        spew($file, $r{out});
        delete $said{$number}; # no exercise as it is handed out
        compiled($number, grep { /^c/ } $check, $count) or return;
        %r = in_tree(try_command($number, $check, $count, "--case $case"));
        is($r{code}, $last eq "right" ? 0 : 1, "$what: " . ($last eq "right" ? "passes" : "fails"));
        like($r{out}, $shown, "$what: what it shows") or diag($r{out}, $r{err});
        my $said = $last eq "right" ? qr/right: verified and checked, .*/ : qr/not right yet: $last, see above/;
        like($r{out}, qr/^step-$number try: $said\n\z/m, "$what: the last line") or diag($r{out});
        my $state = $last =~ /its counts are not/ ? "dear" : "wrong";
        like(slurp(tree() . "/work" . "/progress.tsv"), qr/^$number\t$state\t/m, "$what: which is kept for make list") if $last ne "right";
    });
}
my $lent = scratch_dir();
spew("$lent/build/cpu/program", "#!/bin/sh\nwhile [ \"\$1\" != --dump ]; do shift; done\n"
    . "echo \"\$CUDACPU_WORKERS\" >>runs\ngrep -c \"^\$BITS\" runs >\"\$2\"\ntrue\n");
chmod 0755, "$lent/build/cpu/program";
for (["none", 0], ["8", 1]) {
    unlink "$lent/runs";
    my %r = run("own=\$PWD/steps/26-one-pass-backward/try.sh && cd $lent && BITS=$_->[0] sh \$own build/cpu/program");
    is($r{code}, $_->[1], "step 26: bits that change with workers: $_->[0]") or diag($r{out}, $r{err});
}

# A case that is not run is not right.
proved("a case that no variant takes", [files_of("11"), @running], @versions, sub {
    %r = in_tree("sh common/make/reader/try.sh step-11 $programs/step-11 '' '' --case D80-R20");
    is($r{code}, 2, "a case that no variant takes");
    like($r{out}, qr/--case D80-R20: no variant of this program takes this case.*\nstep-11 try: ended with code 2, so nothing is known to be right\n\z/m,
        "is not right");
});

# try.sh with programs that are a few lines.
sub program {
    my ($name, $text, $code) = @_;
    spew(tree() . "/$name", "#!/bin/sh\ncat <<'TEXT'\n$text" . "TEXT\nexit $code\n");
    chmod 0755, tree() . "/$name" or die;
}
proved("what try.sh says", [@writing], sub {
    my $head = "99-mine: it\nCPU backend, thread order forward: verified, not timed; --seed 7 repeats it\n";
    my $table = "  variant      status         wrong    NaN/Inf   compared   max err/bound\n";
    my $tries = sub {
        my ($what, $code, $out) = @_;
        my %r = in_tree("sh common/make/reader/try.sh step-99 ./program ./checks ''");
        is("$r{code} $r{out}", "$code $out", $what) or diag($r{err});
        return $r{out};
    };
    program("checks", $head, 0);
    program("program", "99-mine: no device\n", 77);
    $tries->("no device", 0, "99-mine: no device\nstep-99 try: passed over, it cannot run here\n");
    program("program", "99-mine: opticks.neox is too short\n", 2);
    $tries->("a model file that is refused", 2,
        "99-mine: opticks.neox is too short\nstep-99 try: ended with code 2, so nothing is known to be right\n");
    my $refused = "$head\ncase D8: B=1\n  variant v: refused: no room\n$table  v            refused           -          -          -               -\n";
    program("program", $refused, 0);
    $tries->("a variant that is refused", 1, "${refused}step-99 try: nothing ran, so nothing is known to be right\n");
    # Of findings the first at the same lines of the reader's, and of a death what check says of it.
    my $case = "case D8: B=1\n";
    my $wrong = "  variant v: WRONG\n  o: 3 of 8 elements wrong\n";
    my $ends = "99-mine: variant v, case D8: 3 wrong elements\n";
    my @found = ("shared race: write at common/a.cuh:3 (called from work/99-mine.cu:7) by thread (0,0,0) and read at work/99-mine.cu:9 by",
        "shared race: write at work/99-mine.cu:9 by thread (0,0,0) and read at common/a.cuh:4 (called from work/99-mine.cu:7) by",
        "uninitialised read: read at common/a.cuh:3 (called from work/99-mine.cu:7) by thread (0,0,0), written later by thread (1,0,0) at work/99-mine.cu:9",
        "shared race: write at work/99-mine.cu:9 by thread (0,0,0) and read at work/99-mine.cu:9 by", "misaligned: read at common/a.cuh:3 by",
        "misaligned: read at common/a.cuh:4 by");
    program("program", "$head\n$case$wrong$ends", 1);
    program("checks", "$head\n$case$wrong$ends  variant v: 6 findings\n" . join("", map { "    $_\n" } @found), 1);
    $tries->("findings at the same lines", 1, ($head =~ s/.*\n//r) . "$case$wrong${ends}and check says of it:\n  variant v: 6 findings\n"
        . "    $found[0]\n      and 2 more findings at these lines of yours\n" . join("", map { "    $_\n" } @found[3 .. 5])
        . "step-99 try: not right yet: its results are wrong, see above\n");
    my ($died, $stuck) = ("kernel k (launched at work/99-mine.cu:20), block (0,0,0): ", "deadlock: threads 0-31 wait at x (common/a.cuh:3");
    $ends = "99-mine: variant v, case D8: kernel launch at 99-mine.cu:20 failed: it\n";
    program("program", "$head\n$case$died$stuck)\n$ends", 1);
    program("checks", "$head\n$case$died$stuck, called at work/99-mine.cu:9)\n${ends}mbarrier: $stuck, called at work/99-mine.cu:9); in\ncheck: 1 finding\n", 1);
    $tries->("a death, and why", 1, ($head =~ s/.*\n//r) . "$case$died$stuck)\n${ends}and check says of it:\n"
        . "mbarrier: $stuck, called at work/99-mine.cu:9); in\nstep-99 try: not right yet: its threads wait for one another for ever, see above\n");
    program("checks", $head, 0);
    $wrong = "\ncase D8: B=1\n  a table of its own\n  variant v: WRONG\n  o: 3 of 8 elements wrong\n99-mine: variant v, case D8: 3 wrong elements\n";
    program("program", "$head$wrong  a table of its own\n$table  v            wrong              3          0          8              99\n", 1);
    $tries->("the program's own output", 1, $head =~ s/.*\n//r . $wrong =~ s/\n//r =~ s/  a table.*\n//r
        . "(check finds nothing in this case: no rule of memory or order is broken)\n"
        . "step-99 try: not right yet: its results are wrong, see above\n");
    %r = in_tree("sh common/make/reader/try.sh step-99 ./program ./checks '' --case D8");
    like($r{out}, qr/^\(check finds .*\n\(without ARGS, step-99 try says which other cases fail/m, "other cases were not tried") or diag($r{out});
    %r = in_tree("sh common/make/reader/try.sh step-99 ./program ./checks '' --variant v");
    unlike($r{out}, qr/without ARGS/, "all cases were, of one variant");
    # Memory that nobody reads: what the step's own program does not read either is left out.
    my $unread = sub { "    never read: write at $_[0] by thread (0,0,0) of block (0,0,0) in kernel k: 8 bytes at offset $_[1] of s (16 bytes of shared memory)\n" };
    my ($padding, $forgotten) = map { $unread->("work/99-mine.cu:$_", $_) } 0, 8;
    program("checks", "$head\n$case$wrong$padding$forgotten", 1);
    program("own", "$head\n$case" . $unread->("steps/99-mine.cu:5", 0), 0);
    for (["true", $forgotten], ["false", "$padding$forgotten"]) {
        my ($make, $shown) = @$_;
        my %r = in_tree("MAKE_OWN=$make OWN_CHECK=./own sh common/make/reader/try.sh step-99 ./program ./checks ''");
        like($r{out}, qr/^and check says of it:\n\Q$shown\Estep-99 try: not right/m, "never read: MAKE_OWN=$make") or diag($r{out});
    }
    # Where it parts from the step's own, as check says: which gets the record of the step's own program.
    spew(tree() . "/own", "#!/bin/sh\necho \"\$*\" >\$CUDACPU_RECORD\n");
    spew(tree() . "/checks", "#!/bin/sh\ncat <<'END'\n$head\n$case${wrong}END\n[ -z \"\$CUDACPU_BESIDE\" ] || echo \"differs: \$(cat \$CUDACPU_BESIDE): "
        . "byte 8 of s, which the recorded run's block never reads, as the recorded run does\"\nexit 1\n");
    for (["true", "beside the step's own: --seed 7 --case D8 --variant v: byte 8 of s, which the step's own block never reads, as the step's own does\n", "step-99 try: not"], ["false", "", "(check finds nothing"]) {
        my ($make, $said, $then) = @$_;
        my %r = in_tree("MAKE_OWN=$make OWN_CHECK=./own sh common/make/reader/try.sh step-99 ./program ./checks ''");
        like($r{out}, qr/\n99-mine: variant v, case D8: 3 wrong elements\n\Q$said$then\E/, "beside the step's own: MAKE_OWN=$make") or diag($r{out});
    }
    # A broken rule comes first, and memory that nobody reads last.
    for (["  variant v: 1 finding\n    shared race: write at work/99-mine.cu:9 by\n", qr/  variant v: 1 finding\n    shared race: .*\nbeside the step's own: x\nstep-99/],
        ["  variant v: 1 finding\n" . $forgotten, qr/beside the step's own: x\nand check says of it:\n  variant v: 1 finding\n\Q$forgotten\Estep-99/]) {
        my ($found, $order) = @$_;
        program("checks", "$head\n$case$wrong${found}differs: x\n", 1);
        my %r = in_tree("MAKE_OWN=true OWN_CHECK=./own sh common/make/reader/try.sh step-99 ./program ./checks ''");
        like($r{out}, $order, "which comes first") or diag($r{out});
    }
    program("checks", $head, 0);
    my $rows = sub { my ($case, %is) = @_; return "\ncase $case: B=1\n" . join("", map { "  variant $_: WRONG\n  o: 3 of 8 elements wrong\n" } grep { $is{$_} eq "wrong" } sort keys %is)
        . $table . join("", map { sprintf("  %-12s %-7s %12d          0          8            0.5\n", $_, $is{$_}, $is{$_} eq "wrong" ? 3 : 0) } sort keys %is) };
    for (["one case of three", "passes: falling, one-key\n", $rows->("falling", ours => "ok", v => "ok") . $rows->("rising", ours => "ok", v => "wrong") . $rows->("one-key", ours => "ok", v => "ok")],
        ["as predicted elsewhere", "passes: falling\n", $rows->("falling", v => "predicted") . $rows->("rising", v => "wrong")],
        ["two of three", "fails too: v in steep; passes: one-key\n", map { $_ . $rows->("steep", v => "wrong") . $rows->("one-key", v => "ok") } $rows->("rising", v => "wrong")],
        ["all", "fails too: v in steep; passes: none\n", $rows->("rising", v => "wrong") . $rows->("steep", v => "wrong")],
        ["two variants", "fails too: w in steep; passes: w in rising, v in steep\n", $rows->("rising", v => "wrong", w => "ok") . $rows->("steep", v => "ok", w => "wrong")],
        ["nine right ones", "passes: a1, a2, a3, a4, a5, a6 and 3 more\n", join("", map { $rows->("a$_", v => "ok") } 1 .. 9) . $rows->("rising", v => "wrong")]) {
        my ($what, $line, $out) = @$_;
        program("program", "$head$out", 1);
        my %r = in_tree("sh common/make/reader/try.sh step-99 ./program ./checks ''");
        like($r{out}, qr/^  o: 3 of 8 elements wrong\n\Q$line\E(?:  \S+: .*\n)*\(check finds/m, "which cases are right: $what") or diag($r{out});
    }
    # A right output says where a wrong one goes wrong; names of cases on the smaller side, what their inputs are.
    for (["o lse", "lse is right, so a row's scores are, .* up to the product with V"], ["o", ""],
        ["dq dk", "dk is right, so the dS that makes it is: .*dS on its way to dq .* K, .*"], ["dk dq", "dq is right, so the dS that makes it is: .*dS on its way to dk .* Q, .*"], ["lse o", "o is right, .* lse .*"], ["dq,dk dv", "dv is right, so the P that makes it is: .* in dS or, where dq and dk are rotated back, in these rotations"]) {
        my ($outputs, $line) = @$_;
        my ($bad, $good) = split / /, $outputs;
        my $block = join "", (map { "  $_: 3 of 8 elements wrong\n" } split /,/, $bad), map { "  $_: 0 of 8 elements wrong\n" } $good // ();
        program("program", $head . $rows->("D8", v => "wrong") =~ s/  o: 3 of 8 elements wrong\n/$block/r, 1);
        my %r = in_tree("sh common/make/reader/try.sh step-99 ./program ./checks ''");
        like($r{out}, qr/elements wrong\n$line@{[$line ? "\n" : ""]}\(check/m, "what a right output says: $outputs") or diag($r{out});
    }
    for ([{ rising => "wrong", "rising-D128" => "wrong", odd => "ok", "falling" => "ok", "one-key-more" => "ok" }, "  rising: scores grow with the key, so each tile raises the row maximum\n"],
        [{ ones => "ok", small => "wrong", "one-key-more" => "wrong", "one-hot-causal" => "wrong" }, "  ones: v is 1, so only the sum of a row's probabilities shows\n"],
        [{ "steep-D128" => "ok", steep => "wrong", odd => "wrong" }, ""], [{ "one-key-causal" => "wrong", a => "ok", b => "ok" }, "  one-key: there is one key, and its probability is 1\n"]) {
        my ($is, $line) = @$_;
        program("program", $head . join("", map { $rows->($_, v => $is->{$_}) } sort keys %$is), 1);
        my %r = in_tree("sh common/make/reader/try.sh step-99 ./program ./checks ''");
        like($r{out}, qr/passes: .*\n\Q$line\E\(check/m, "what the inputs are: $line") or diag($r{out});
    }
    # Facts of all wrong cases and of no right one: "shape status", and the line.
    for ([["B=1 S=8 D=8 R=8 ok", "B=1 S=8 D=16 R=16 ok", "B=1 S=9 D=16 R=8 wrong", "B=1 S=8 D=8 R=4 wrong"], "every wrong case: R < D; every right one: R = D\n"],
        [["B=1 S=8 D=8 R=8 ok", "B=1 S=9 D=16 R=8 wrong", "B=1 S=8 D=8 R=4 wrong"], ""],
        [["B=1 Sq=8 Sk=9 D=8 ok", "B=1 Sq=8 Sk=9 D=8 ok", "B=1 Sq=8 Sk=9 D=8 pos0=5 causal wrong", "B=1 Sq=8 Sk=9 D=8 pos0=7 causal wrong"],
            "every wrong case: causal; every right one: not causal\nevery wrong case: pos0 > 0; every right one: pos0 = 0\n"],
        [["B=1 S=8 D=8 R=8 ok", "B=1 S=65 D=8 R=8 wrong", "B=1 S=64 D=8 R=8 ok", "B=1 Sq=3 Sk=70 D=8 R=8 wrong"], "every wrong case: Sk >= 65; every right one: Sk <= 64\n"],
        [["B=1 S=8 D=8 R=8 ok", "B=1 S=1 D=8 R=8 wrong", "B=1 S=1 D=8 R=8 wrong", "B=1 S=4 D=8 R=8 ok", "B=1 S=9 D=8 R=8 refused"],
            "every wrong case: Sk <= 1; every right one: Sk >= 4\nevery wrong case: Sq <= 1; every right one: Sq >= 4\n"],
        [["B=1 S=8 D=256 ok", "B=1 S=8 D=128 wrong", "B=1 S=9 D=512 ok", "B=1 S=1 D=128 ok", "B=1 S=9 D=2176 wrong"],
            "every wrong case: D is no multiple of 256; every right one of more than one key: it is\n"],
        [["B=1 S=8 D=8 R=8 ok", "B=1 S=8 D=8 R=8 wrong"], ""], [["B=1 S=8 D=8 R=8 wrong", "B=1 S=9 D=8 R=8 wrong"], ""]) {
        my ($shapes, $line) = @$_;
        my $n = 0;
        program("program", $head . join("", map { my ($shape, $is) = /(.*) (.*)/; $rows->("c" . $n++, v => $is) =~ s/B=1/$shape/r } @$shapes), 1);
        my %r = in_tree("sh common/make/reader/try.sh step-99 ./program ./checks ''");
        like($r{out}, qr/^  o: 3 of 8 elements wrong\n\Q$line\E(?:fails|passes)/m, "what wrong cases have and right ones have not: $line") or diag($r{out});
    }
    my $many = join "", map { my $case = $_; "\ncase D$case: B=1\n  variant bug: wrong, as predicted\n  o: 3 of 8 elements wrong\n$table"
        . join("", map { "  v$_           ok                 0          0          8           0.0$_\n" } 1 .. 9)
        . "  bug          predicted          3          0          8              99\n" } 1 .. 20;
    program("program", "$head$many\nskipped, large for a CPU: a, b, c, d and 79 more; --case NAME runs one\n", 0);
    my $said = $tries->("many cases", 0, $head =~ s/.*\n//r
        . join("", map { "case D$_: B=1: 9 right, 1 as predicted; at most 0.09 of the bound\n" } 1 .. 10)
        . "and 10 more cases, all right\nskipped, large for a CPU: a, b, c, d and 79 more; --case NAME runs one\n"
        . "step-99 try: right: verified and checked, and not counted\n");
    cmp_ok(scalar(() = $said =~ /\n/g), "<=", 22, "a few lines, beside those of make");
});

# The rest needs one small step only.
proved("a small step", [@writing, @backend], @versions, sub {
    $tree = small_tree();
    tiny_step($tree, "98-tiny", "for this test",
        "    // snippet: all\n    int code = 1;\n"
        . "    // solution: code -- what ends a program well?\n    code = 0;\n"
        . "    // end solution: code\n    // end snippet: all\n    return code;\n");
    my $work = "$tree/work" . "/98-tiny.cu";
    %r = in_tree("make step-98 exercise");
    like(slurp($work),
        qr{^    int code = 1;\n    // YOUR CODE: what ends a program well\?\n    return code;$}m,
        "the task stands where the solution stood");
    %r = in_tree("make step-98 exercise");
    unlike($r{out}, qr/is kept/, "an untouched exercise may be written again");
    spew($work, "int main()\n{\n    int unused = 3;\n    return 0;\n}\n");
    %r = in_tree("make step-98 exercise FORCE=1");
    is($r{code}, 0, "FORCE=1 starts over");
    like(slurp($work), qr/YOUR CODE/, "the exercise is fresh");
    like(slurp("$work.bak"), qr/unused/, "and the reader's is beside it");
    %r = in_tree("mv work/98-tiny.cu.bak work/98-tiny.cu && make step-98 try BACKEND=cpu");
    is($r{code}, 0, "a reader's warning is no error") or diag($r{err});
    is($r{err}, "", "nor is it shown");
    spew($work, "int main()\n{\n    return 0\n}\n");
    %r = in_tree("make step-98 try BACKEND=cpu");
    is($r{code}, 2, "what does not compile fails");
    like($r{err}, qr{^work/98-tiny\.cu:3:}m, "and the compiler names the reader's file and line");

    # Solutions beside a step's file: the exercise's folder has them blanked, and the rest is found beside the
    # step. What the reader filled in there is compiled, and kept.
    tiny_step($tree, "97-rungs", "for this test", "    return second() + third();\n",
        include => "#include \"a-first.cuh\"\n#include \"b-second.cuh\"\n#include \"third.cuh\"\n");
    my $beside = "$tree/steps/97-rungs";
    spew("$beside/a-first.cuh", "static int first()\n{\n    return 0;\n}\n");
    spew("$beside/b-second.cuh", "static int second()\n{\n    int code = 1;\n"
        . "    // solution: code -- what ends a program well?\n    code = 0;\n    // end solution: code\n    return code + first();\n}\n");
    spew("$beside/third.cuh", "static int third()\n{\n    return 0;\n}\n");
    %r = in_tree("make step-97 exercise");
    is($r{out}, "work/97-rungs/b-second.cuh: 1 to fill in, then: make step-97 try\n  line 4: what ends a program well?\n",
        "what is to fill in lies beside") or diag($r{err});
    ok(-e "$tree/work" . "/97-rungs.cu" && !-e "$tree/work" . "/97-rungs/a-first.cuh" && !-e "$tree/work" . "/97-rungs/third.cuh",
        "with the program, and nothing else is copied");
    %r = in_tree("make step-97 try BACKEND=cpu");
    like($r{out}, qr/^step-97 try: not right yet/m, "the exercise's is compiled, not the step's") or diag($r{err});
    in_tree("sed -i 's,// YOUR CODE.*,code = 0;,' work/97-rungs/b-second.cuh");
    %r = in_tree("make step-97 try BACKEND=cpu");
    is($r{code}, 0, "and compiled again when it is filled in") or diag($r{out}, $r{err});
    %r = in_tree("make step-97 exercise");
    like($r{out}, qr{\Awork/97-rungs/b-second\.cuh is kept: .*b-second\.cuh\.bak\)\n\z}, "it is kept");
    %r = in_tree("make step-97 exercise FORCE=1");
    like(slurp("$tree/work" . "/97-rungs/b-second.cuh"), qr/YOUR CODE/, "unless it is to start over");
    like(slurp("$tree/work" . "/97-rungs/b-second.cuh.bak"), qr/^    code = 0;$/m, "then it is beside");
    in_tree("echo second >work/97-rungs/b-second.cuh && make step-97 exercise FORCE=1");
    is(slurp("$tree/work" . "/97-rungs/b-second.cuh.bak2"), "second\n", "a second time, too");
    like(slurp("$tree/work" . "/97-rungs/b-second.cuh.bak"), qr/^    code = 0;$/m, "and the first stays");
});

# Markers that are not in order stop everything that reads them.
sub markers {
    my ($text, $line, $what) = @_;
    spew("$lent/bad.cu", $text);
    my %r = run("root=\$PWD; cd '$lent' && awk -v mode=exercise -f \"\$root\"/common/make/reader/markers.awk bad.cu");
    is($r{code}, 2, "$what: refused");
    is($r{err}, "$line\n", "$what: in one line");
}
markers("// solution: a -- do it\nx\n", "bad.cu:1: solution: a has no end", "no end");
markers("x\n// end solution: a\n", "bad.cu:2: end solution: a ends what is not open", "no start");
markers("// solution: a\n// end solution: a\n",
    "bad.cu:1: solution: a has no task: write `solution: NAME -- task`",
    "no task");
markers("// snippet: a\n// end snippet: a\n// snippet: a\n// end snippet: a\n",
    "bad.cu:3: snippet: a is there twice, first in line 1", "twice");

done_testing();
