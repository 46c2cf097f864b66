#!/usr/bin/env perl
# make new-step: a step that runs, is checked, counted and compared at once, that the book can show, and of which
# nothing is there when it is refused or fails.
# Reads: steps/13-v7-hybrid steps/29-flash-wgmma chapters book plots/data/cpu README.md
use strict;
use warnings;
use Cwd qw(getcwd);
use Test::More;
use lib "tests/lib";
use Workbook;

my %r = run("make -s programs BACKEND=cpu");
is($r{code}, 0, "the CPU backend is built") or BAIL_OUT($r{err});
chomp(my $programs = $r{out});
my $root = getcwd();

sub files { my %r = run("cd '$_[0]' && find . -path ./build -prune -o -type f -exec cksum {} + | sort"); return $r{out} }

# --- In a small tree: its four commands ------------------------------------------------------------
my $tree = small_tree();
tiny_step($tree, "13-first", "the first one", "    struct {\n        const char *step, *title;\n    } program = {\n"
    . "        .step = \"13-first\",\n        .title = \"the first one\",\n    };\n    printf(\"%s: %s\\n\", program.step, program.title);\n    return 0;\n",
    header => " * Architecture: 80\n * Profile: --case large\n * Tests: no kernel of its own\n *\n * Idea     An old one.\n");
my $before = files($tree);
sub in_tree {
    my ($command) = @_;
    return run("cd '$tree' && $command", CUDACPU_BUILD => "$root/$programs");
}
for (["", qr/from which step\? make new-step FROM=13 AS=46-name is right/], ["FROM=13", qr/what is it called\?/],
    ["FROM=12 AS=46-name", qr/FROM=12: there is no such step/], ["FROM=1 AS=46-name", qr/FROM=1: there is no such step/],
    ["FROM=13 AS=name", qr/AS=name: a number of two digits and a hyphen come first, as in 46-name/], ["FROM=13 AS=46_name", qr/AS=46_name: .*a hyphen/], ["FROM=13 AS=13-name", qr{AS=13-name: the number is taken, by steps/13-first}],
    ["FROM=13 AS=46-", qr/AS=46-: the name has a-z and 0-9/], ["FROM=13 AS=46-Name", qr/AS=46-Name: the name has a-z/],
    ["FROM=13 AS=46-a_b", qr/AS=46-a_b: the name/], ["FROM=13 'AS=46-a b'", qr/AS=46-a b: the name/],
    ["FROM=13 \"AS=46-a'b\"", qr/AS=46-a'b: the name/], ["FROM=13 AS=46-../../x", qr{AS=46-../../x: the name has a-z}],
    ["FROM=13 AS=46-aaaaaaaaaaaaaaaaaaaaa", qr/AS=46-a*: the name has 21 characters; 20 have room/]) {
    my ($arguments, $says) = @$_;
    %r = in_tree("make new-step $arguments");
    is($r{code}, 2, "new-step $arguments is refused");
    is(scalar(my ($line) = errors($r{err})), 1, "in one line") or diag($r{err});
    like($line, qr/^new-step: $says/, "that names what is wrong, and what is right");
}
is(files($tree), $before, "and nothing is there");
# It fails in the middle: the last thing that is moved cannot be.
%r = in_tree("mkdir stub && printf '#!/bin/sh\\ncase \$* in *README.md) exit 1;; esac\\nexec /bin/mv \"\$@\"\\n' >stub/mv && chmod +x stub/mv && "
    . "PATH=\$PWD/stub:\$PATH make new-step FROM=13 AS=46-name; code=\$?; rm -r stub; exit \$code");
isnt($r{code}, 0, "a new-step that fails halfway fails");
is(files($tree), $before, "and leaves nothing");

%r = in_tree("make new-step FROM=13 AS=46-two-words");
is("$r{code} $r{err}", "0 ", "a new step is made");
like($r{out}, qr{\Asteps/46-two-words/two-words\.cu does what steps/13-first/first\.cu does\..*\n( \d\. .*\n)+\z}, "what is left is said, a line each");
is(slurp("$tree/steps/46-two-words/two-words.cu") =~ s{ \*/\n.*}{}sr, <<'END', "its header has what the copy needs, and what is to be written");
/* 46-two-words: step 13, with one thing changed: say which
 *
 * Grows from: 13-first
 * Architecture: 80
 * Tests: no kernel of its own
 *
 * Idea     To be written: what is changed, and why it may pay.
 * Predict  To be written, before the first run: which variant gains how much, and by which count.
 * Outcome  To be written: what was seen, and what refuted the prediction.
END
%r = in_tree("make -s step-46 run check count diff BACKEND=cpu");
is($r{code}, 0, "it runs, is checked, counted and compared at once") or diag($r{out}, $r{err});
is(scalar(() = $r{out} =~ /^46-two-words: step 13, with one thing changed: say which$/mg), 3, "under its own name");
like($r{out}, qr/^46-two-words: \d+ % of its lines are new against 13-first/m, "with what has changed");
%r = in_tree("make new-step FROM=46 AS=46-other");
isnt($r{code}, 0, "its number is taken then");

# --- Of the real steps: what tests and the book ask of it -------------------------------------------
my $whole = scratch();
for (["13", "61-plain"], ["29", "62-rungs"]) {
    my ($from, $as) = @$_;
    my ($number, $slug) = $as =~ /(\d\d)-(.*)/;
    %r = run("cd '$whole' && make -s new-step FROM=$from AS=$as");
    is("$r{code} $r{err}", "0 ", "$as is made from step $from");
    for my $rows (map { "step-$_-" } $number) {
        for (qw(counts exactness)) {
            my $old = slurp("plots/data/cpu/step-$from-$_.tsv");
            my $new = slurp("$whole/plots/data/cpu/$rows$_.tsv");
            ok($new =~ s/^$number\t/$from\t/mgr =~ s/^# program: .*/# program/mr eq $old =~ s/^# program: .*/# program/mr
                && $new =~ /^# program: $as$/m, "$as has the recorded $_ of step $from");
        }
    }
    is_deeply([sort map { s{.*/}{}r } glob("'$whole/steps/$as/*'")], [sort "$slug.cu", map { s{.*/}{}r } grep { !/\.cu$/ } glob("steps/$from-*/*")],
        "$as has what lies beside step $from");
    like(slurp("$whole/README.md"), qr/\n\| 45 .*\n(?:\| 61 .*\n)?\| $number $slug \|/, "README lists it, in its place");
  SKIP: {
        skip "the book needs pandoc and gnuplot", 1 if !have("pandoc") || !have("gnuplot");
        my ($chapter) = map { s{.*/}{}r } glob("'$whole/chapters/*-$slug.md'");
        # A book of this chapter alone: it shows every snippet, each where it is, and the section is not too long.
        %r = run("cd '$whole' && mkdir alone-$number && cp chapters/$chapter alone-$number/ && "
            . "make -s book-lint BOOK_CHAPTERS=alone-$number BOOK_OUT=build/book-$number BOOK_SHARED=none BOOK_PLOTS=none BOOK_STEPS=steps");
        my @own = grep { m{^steps/$as/|\.md:|screens} } split /\n/, "$r{out}$r{err}";
        is("@own", "", "the book can show it");
        ok(-s "$whole/build/book-$number/tree/" . ($chapter =~ s/md$/json/r), "and it is woven") or diag($r{out}, $r{err});
    }
}
%r = run("cd '$whole' && prove tests/headers.t tests/copies.t tests/diff.t");
is($r{code}, 0, "tests of headers, copies and stories have no fault to find") or diag($r{out}, $r{err});
done_testing();
