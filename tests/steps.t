#!/usr/bin/env perl
# Every step, on the CPU: right at every case, and at the small ones in three thread orders, with a
# command line that answers and refuses as all of them do. That larger cases depend on no order is
# what --check says of all of them, in count.t. `make test` runs them for one step in five, by its seed, and
# takes the other two orders for one in four, and arrays of more than 2^31 elements for one in eight.
use strict;
use warnings;
use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;
use lib "tests/lib";
use Workbook;

sub run_out {
    my ($command) = @_;
    my %r = run($command);
    return $r{out};
}

my @sources = glob("steps/[0-9][0-9]-*/*.cu");
my %r = run("make -s programs BACKEND=cpu");
is($r{code}, 0, "all are built") or BAIL_OUT($r{err});
chomp(my $build = $r{out});
my $dir = tempdir(CLEANUP => 1);

my %whole = map { $_ => 1 } drawn(5, @sources);
my %cornered = map { $_ => 1 } drawn(8, grep { !m{/(00|38|4\d)-} } @sources);
my %ordered = map { $_ => 1 } drawn(4, @sources), grep { m{/04-} } @sources;
for my $source (@sources) {
    my ($name, $number, $slug) = $source =~ m{^steps/((\d\d)-([^/]+))/};
    my $step = "$build/step-$number";
    is($source, "steps/$name/$slug.cu", "$name: its source is called like it");
    like(slurp($source),
        qr/\A\/\* \Q$name\E: \S.*\n \*\n(?: \* .*\n)*? \* Grows from: (nothing|\d\d-[\w-]+)\n/,
        "$name: the header has a title and a parent");
    for my $word (qw(Idea Predict Outcome)) {
        like(slurp($source), qr/^ \* $word\b/m, "$name: the header has $word");
    }

    # --- What it says about itself.
    %r = run("$step --help");
    is($r{code}, 0, "$name --help");
    is($r{err}, "", "$name --help: nothing on stderr");
    like($r{out}, qr/$_\b/, "$name --help: has $_")
        for qw(--list --json --case --variant --seed --reps --out);
    my ($title) = slurp($source) =~ m{\A/\* [^:]*: *(.*?)(?: *\*/)?\n};
    like($r{out}, qr/\A\Q$name: $title\E$/m, "$name --help: the title is the header's");
    %r = run("$step --list");
    is($r{code}, 0, "$name --list");
    like($r{out}, qr/^cases\n(  \S.*\n)+variants\n(  \S.*\n)+\z/m,
        "$name --list: cases and variants");

    # --- Every launch of every case is one that a GPU takes, also of those that no CPU ends.
    %r = run("$step --seed 1", KF_CAPTURE => 1);
    is("$r{code} $r{err}", "0 ", "$name: grids and blocks are as large as they may be");
    unlike($r{out}, qr/^skipped, large/m, "$name: of all cases");

    # --- No index is an int where the elements are more. The shapes of a model are fixed, and far fewer.
    if ($cornered{$source}) {
        %r = run("$step", KF_CORNERS => 1);
        is("$r{code} $r{err}", "0 ", "$name: more than 2^31 elements are no trouble");
        like($r{out}, qr/^  variant \S+, [23]\.\d billion elements of \w/m, "$name: they are as many");
    }

    # --- Right in every order, and the same seed gives the same output.
    my %output;
    my $small = small_cases($step);
    isnt($small, "", "$name has small cases");
    for my $order ("forward", $ordered{$source} ? qw(reverse random) : ()) {
        my $cases = $order eq "forward" && $whole{$source} ? "" : $small;
        %r = run("$step --seed 1 $cases", CUDACPU_ORDER => $order, CUDACPU_SEED => 5);
        is($r{code}, 0, "$name: as predicted, threads in $order order") or diag($r{err});
        is($r{err}, "", "$name: nothing on stderr, $order");
        $output{$order} = $r{out};
    }
    if ($name =~ /^04/) {
        like($output{forward}, qr/variant fix: wrong, as predicted/, "$name: a race lost");
        like($output{reverse}, qr/variant fix: nothing wrong, as predicted/, "$name: a race won");
    }
    # Eight blocks that pause come to add in any order: two variants that add in turn give the same bits,
    # from run to run and from order to order, and it shows in others that they add as they come. A lock
    # in place of turns gives the same bits in one seed of twenty.
    if ($name =~ /^26/) {
        my $case = "--seed 1 --case cancelling";
        my @ordered = qw(c-ordered d-ordered-vector);
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
        %r = run("$step $case --variant a-scalar --variant b-vector --repeats $dir/repeats.tsv", %{ $orders{"random 1"} });
        like($r{out}, qr/variant (a-scalar|b-vector), repeats: 3 runs, dq differs in /, "$name: others do not");
    }
    # One case again, by itself.
    my ($first) = $small =~ /^--case (\S+)/;
    my ($seen) = $output{forward} =~ /^(case \Q$first\E: .*?\n)(?:\n|\z)/ms;
    my $again = run_out("$step --seed 1 --case $first");
    like($again, qr/^\Q$seen\E(\n|\z)/m, "$name: the same seed gives the same output");
    # As checkers and profilers run it, in memory that nobody has marked: unwritten stays unseen.
    my $also = $number == 41 ? "--case odd-length" : "";
    %r = run("$step --once --case $first $also");
    is($r{code}, 0, "$name --once") or diag($r{err});
    %r = run("$step --json --seed 2 --case $first");
    is($r{code}, 0, "$name --json, another seed");
    ok(eval { decode_json($r{out}); 1 }, "$name --json is JSON") or diag($@, $r{out});

    # --- What it refuses, each in one line that names what was wrong.
    for my $bad (["--nonsense", "--nonsense"], 
        ["--case no-such-case", "no-such-case"], ["--case Q=3", "Q"],
        ["--variant no-such-variant", "no-such-variant"], ["--seed x1", "x1"], ["--reps -4", "-4"],
        ["--seed", "--seed"], ["--out /nowhere/at/all.tsv", "/nowhere/at/all.tsv"]) {
        my ($arguments, $named) = @$bad;
        %r = run("$step $arguments");
        my @lines = split /\n/, $r{err};
        is(scalar(@lines), 1, "$name $arguments: one line") or diag($r{err});
        like($r{err}, qr/\Q$named\E/, "$name $arguments: names it");
        isnt($r{code}, 0, "$name $arguments: fails");
        is($r{code}, 2, "$name $arguments: as bad usage") unless $arguments =~ /^--out/;
    }
}
done_testing();
