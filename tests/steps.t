#!/usr/bin/env perl
# Every step, on the CPU: right at every case, and at the small ones in three thread orders, with a
# command line that answers. That larger cases depend on no order is what --check says of all of them, in
# count.t; what a command line refuses, which is the harness's, is tried with one step of each kind.
# `make test` launches each kernel once at the small cases. Of some steps, by its seed, it looks at all cases,
# at the other orders, or at arrays of more than 2^31 elements.
use strict;
use warnings;
use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;
use lib "tests/lib";
use Workbook;

my %source = steps();
my @steps = sort keys %source;
my %r = run("make -s programs BACKEND=cpu");
is($r{code}, 0, "all are built") or BAIL_OUT($r{err});
chomp(my $build = $r{out});
my $dir = tempdir(CLEANUP => 1);

my %cases = map { $_ => 1 } drawn("cases", @steps);
my %launches = map { $_ => 1 } drawn("launches", @steps);
my %orders = map { $_ => 1 } drawn("orders", @steps);
my %fixed = asked("fixed");
# A model's shape is given. Step 41 has adds of any shape as well.
my %large_index = map { $_ => 1 }
    drawn("large-index", grep { !$fixed{$_} && (!has_model($source{$_}) || $_ eq "41") } @steps);
my %once = asked("once");
my %race = asked("race");
my %in_turn = asked("in turn");
# One without the model, and one with it.
my %refuses = map { $_ => 1 } grep { defined } $steps[0], (grep { has_model($source{$_}) } @steps)[0];

sub right {
    my ($what, $command, %env) = @_;
    %r = run($command, %env);
    is($r{code}, 0, $what);
    ok($r{err} eq "", "$what: nothing on stderr") or diag($r{err});
    return $r{out};
}

# The same seed gives the same output, beside other cases and alone.
sub says_the_same {
    my ($name, $case, $output, $alone) = @_;
    my ($seen) = $output =~ /^(case \Q$case\E: .*?\n)(?:\n|\z)/ms;
    like($alone, qr/^\Q$seen\E(\n|\z)/m, "$name: the same seed gives the same output");
}

for my $number (@steps) {
    my $source = $source{$number};
    my ($name, $slug) = $source =~ m{^steps/(\d\d-([^/]+))/};
    my $step = "$build/step-$number";
    my @reads = ($step, $source, glob("plots/data/cpu/step-$number-{exactness,blocks}.tsv common/neox/opticks.*"));
    my $small = small_cases($step);
    my $blocks = "plots/data/cpu/step-$number-blocks.tsv";

    # --- What it says, and what it is at the small cases, each variant launched once.
    proved("small $number", \@reads, sub {
        is($source, "steps/$name/$slug.cu", "$name: its source is called like it");
        my ($title) = slurp($source) =~ m{\A/\* [^:]*: *(.*?)(?: *\*/)?\n};
        my $help = right("$name --help", "$step --help");
        like($help, qr/$_\b/, "$name --help: has $_") for qw(--list --json --case --variant --seed --reps --out);
        like($help, qr/\A\Q$name: $title\E$/m, "$name --help: the title is the header's");
        like(right("$name --list", "$step --list"), qr/^cases\n(  \S.*\n)+variants\n(  \S.*\n)+\z/m,
            "$name --list: cases and variants");
        isnt($small, "", "$name has small cases");

        # Every launch of every case is one that a GPU takes, also of those that no CPU ends.
        my $launches = right("$name: grids and blocks are as large as they may be", "$step --seed 1 --blocks $dir/blocks.tsv", KF_CAPTURE => 1);
        ok(-e $blocks && slurp("$dir/blocks.tsv") eq slurp($blocks), "$name: blocks ask for as much shared memory as is recorded")
            or diag("KF_CAPTURE=1 $step --seed 1 --blocks $blocks; then look at git diff");
        unlike($launches, qr/^skipped, large/m, "$name: of all cases");

        my $output = $cases{$number} || $launches{$number} ? undef
            : right("$name: as predicted", "$step --seed 1 $small", KF_ONE_LAUNCH => 1);
        # One case again, by itself; as checkers and profilers run it, in memory that nobody has marked, where
        # unwritten stays unseen; and as other programs read it.
        my ($first) = $small =~ /^--case (\S+)/;
        my $alone = right("$name --seed 1 --case $first", "$step --seed 1 --case $first", KF_ONE_LAUNCH => 1);
        if (my ($variant) = split / /, $race{$number} // "") {
            my %said = map { $_ => right("$name: $_", "$step --seed 1 --case $first --variant $variant", CUDACPU_ORDER => $_) } qw(forward reverse);
            like($said{forward}, qr/variant $variant: wrong, as predicted/, "$name: a race lost");
            like($said{reverse}, qr/variant $variant: nothing wrong, as predicted/, "$name: a race won");
        }
        says_the_same($name, $first, $output, $alone) if defined $output;
        my $also = $once{$number} ? "--case $once{$number}" : "";
        right("$name --once", "$step --once --case $first $also");
        %r = run("$step --json --seed 2 --case $first", KF_ONE_LAUNCH => 1);
        is($r{code}, 0, "$name --json, another seed");
        ok(eval { decode_json($r{out}); 1 }, "$name --json is JSON") or diag($@, $r{out});
    });

    # --- Launched once and again, in a graph, with arrays in other memory.
    proved("launches $number", \@reads, sub {
        right("$name: as predicted, launched again", "$step --seed 1 $small");
    }) if $launches{$number} && !$cases{$number};

    # --- At every case.
    proved("cases $number", \@reads, sub {
        my ($first) = $small =~ /^--case (\S+)/;
        says_the_same($name, $first, right("$name: as predicted, at all cases", "$step --seed 1 --verbose"),
            right("$name: $first alone", "$step --seed 1 --case $first"));
    }) if $cases{$number};

    # --- No index is an int where the elements are more.
    proved("large-index $number", \@reads, sub {
        my $output = right("$name: more than 2^31 elements are no trouble", $step, KF_LARGE_INDEX => 1);
        like($output, qr/^  variant \S+, [23]\.\d billion elements of \w/m, "$name: they are as many");
    }) if $large_index{$number};

    # --- In other thread orders.
    proved("orders $number", \@reads, sub {
        right("$name: as predicted, threads in $_ order", "$step --seed 1 $small", CUDACPU_ORDER => $_, CUDACPU_SEED => 5,
            KF_ONE_LAUNCH => 1) for qw(reverse random);
        blocks_in_any_order($name, $step, split / /, $in_turn{$number}) if $in_turn{$number};
    }) if $orders{$number};

    # --- What it refuses, each in one line that names what was wrong.
    proved("refusals $number", \@reads, sub {
        for my $bad (["--nonsense", "--nonsense"],
            ["--case no-such-case", "no-such-case"], ["--case Q=3", "Q"],
            ["--variant no-such-variant", "no-such-variant"], ["--seed x1", "x1"], ["--reps -4", "-4"],
            ["--seed", "--seed"], ["--out /nowhere/at/all.tsv", "/nowhere/at/all.tsv"]) {
            my ($arguments, $named) = @$bad;
            %r = run("$step $arguments");
            is(scalar(split /\n/, $r{err}), 1, "$name $arguments: one line") or diag($r{err});
            like($r{err}, qr/\Q$named\E/, "$name $arguments: names it");
            isnt($r{code}, 0, "$name $arguments: fails");
            is($r{code}, 2, "$name $arguments: as bad usage") unless $arguments =~ /^--out/;
        }
    }) if $refuses{$number};
}

# Eight blocks that pause come to add in any order: two variants that add in turn give the same bits, from run
# to run and from order to order, and it shows in one of the others that they add as they come. A lock in place of turns
# gives the same bits in one seed of twenty.
sub blocks_in_any_order {
    my ($name, $step, @ordered) = @_;
    my $case = "--seed 1 --case cancelling";
    my $turns = join " ", map { "--variant $_" } @ordered;
    my %orders = (forward => {CUDACPU_WORKERS => 1},
        reverse => {CUDACPU_ORDER => "reverse", CUDACPU_WORKERS => 8},
        map { ("random $_" => {CUDACPU_ORDER => "random", CUDACPU_WORKERS => 8, CUDACPU_STAGGER => 20,
            CUDACPU_SEED => $_}) } 1 .. 4);
    my %bits;
    for my $order (sort keys %orders) {
        %r = run("$step $case $turns --repeats $dir/repeats.tsv --dump $dir/dump", %{ $orders{$order} });
        is($r{code}, 0, "$name --repeats, blocks in $order order") or diag($r{err});
        like($r{out}, qr/variant $_, repeats: the same bits in 3 runs/, "$name: $_ adds in turn, $order")
            for @ordered;
        push @{ $bits{slurp("$dir/dump")} }, $order;
    }
    is(scalar(keys %bits), 1, "$name: in all orders of blocks, in the same turn")
        or diag(join "; ", map { "@$_" } values %bits);
    %r = run("$step $case --repeats $dir/repeats.tsv", %{ $orders{"random 1"} });
    like($r{out}, qr/variant \S+, repeats: 3 runs, \w+ differs in /, "$name: others do not");
}
done_testing();
