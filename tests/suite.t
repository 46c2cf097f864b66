#!/usr/bin/env perl
# make test and make test-all themselves, in a small tree whose tests only write down that they ran: what is
# drawn, what is not run again, what depends on a change, and what is said of it.
# Reads: common/harness/harness.h
use strict;
use warnings;
use Cwd qw(getcwd);
use Test::More;
use lib "tests/lib";
use Workbook;

my $tree = small_tree();
my %r = run("make -s build/cpu/g++/runtime && make -s -n programs BACKEND=cpu >/dev/null; sh common/make/build/toolchain.sh \"\$CXX\" \"\$CC\"");
my ($cxx) = $r{out} =~ m{^(?:\S*/)?(\S+)};
$ENV{CUDACPU_BUILD} = getcwd() . "/build/cpu/$cxx";
delete @ENV{qw(TEST_PLAN TEST_TIMES PROOFS)};
$ENV{TEST_PACE} = 1; # what is drawn must not depend on this machine
tiny_step($tree, "01-one", "the first", "    return 0;\n", include => "#include \"cuda/own.h\"\n");
tiny_step($tree, "02-two", "the second", "    return 0;\n");
spew("$tree/chapters/01.md", "words\n");
run("mkdir -p '$tree/tests/lib' && cp tests/lib/* '$tree/tests/lib' && rm -rf '$tree/tests/costs.tsv'");

# Each test writes what it looked at to build/log; what stands in build/fails fails.
my $logs = <<'END';
use Test::More; use lib "tests/lib"; use Workbook;
sub look { my ($what) = @_; open my $f, ">>", "build/log"; print $f "$what\n"; ok(!-e "build/fails" || slurp("build/fails") ne "$what\n", $what) }
END
spew("$tree/tests/pages.t", "# Reads: chapters\n${logs}look('pages'); done_testing();\n");
spew("$tree/tests/long.t", "# Reads: chapters\n${logs}look('long'); done_testing();\n");
spew("$tree/tests/every.t", "${logs}look('every'); done_testing();\n");
spew("$tree/tests/items.t", $logs . <<'END');
my %source = steps();
for my $kind ("cases", "orders") {
    for my $step (drawn($kind, sort keys %source)) {
        proved("$kind $step", [files_of_step($source{$step})], sub { look("$kind $step") });
    }
}
ok(1);
done_testing();
END
spew("$tree/tests/costs.tsv", "# costs\nbuild\tprograms 01\t1\nbuild\tprograms 02\t1\npages.t\t-\t1\nevery.t\t-\t2\nlong.t\t-\t100\n"
    . "items.t\t-\t1\nitems.t\tcases 01\t20\nitems.t\tcases 02\t20\nitems.t\torders 01\t20\nitems.t\torders 02\t20\n");

sub look {
    my ($what, $settings, $said, $wanted, $code) = @_;
    unlink "$tree/build/log";
    %r = run("cd '$tree' && make test $settings");
    is($r{code}, $code // 0, "$what: exit code") or diag($r{out}, $r{err});
    like($r{out}, $said, "$what: says so") or diag($r{err});
    my @looked = -e "$tree/build/log" ? sort split /\n/, slurp("$tree/build/log") : ();
    if (ref $wanted) {
        like("@looked", $wanted, "$what: what is looked at");
    } else {
        is("@looked", $wanted, "$what: what is looked at");
    }
    return "@looked";
}
my $all = "cases 01 cases 02 every long orders 01 orders 02 pages";

my $first = look("a small sample", "SEED=7 MINUTES=0.5", qr/\Atest: every step at its small cases and a sample of what takes longer, about .*\n.*SEED=7 FORCE=1 runs this sample again\ntest: left out this time: .*\d of 2 (?:cases|orders).*long\.t; tests\/README\.md says what these are$/m,
    qr{^(?:(?:cases|orders) 0[12] )*every (?:(?:cases|orders) 0[12] )*pages$});
like($r{out}, qr/^test: compiles what is not up to date of 2 programs\ntest: runs the tests$/m, "its phases, and not each file");
like($r{out}, qr/^ +[\d.]+  CPU seconds in all, in \d+ seconds: [\d.]+ cores were busy\n\z/m, "its last line");
look("nothing is new", "", qr/\Atest: nothing has changed since all passed, and nothing is run; make test SEED=8 /, "");
look("the same again", "FORCE=1", qr/\Atest: nothing has changed/, "");
my $second = look("another sample", "SEED=8 MINUTES=0.5", qr/\Atest: every step .*\n.*SEED=8 FORCE=1 runs/, qr/^.*$/);
my $third = look("more of it", "SEED=9 MINUTES=4", qr/\Atest: every step at its small cases/, qr/long/);
is(join(" ", sort map { split / (?=[a-z])/ } grep { length } $first, $second, $third), $all, "each is looked at once, in three samples");

spew("$tree/chapters/01.md", "other words\n");
look("a page", "", qr/\Atest: since all passed, chapters\/01\.md changed: only what depends on it is run, about \d+ seconds/, "every long pages");
tiny_step($tree, "02-two", "the second", "    return 0 * 2;\n");
look("a step", "", qr/\Atest: since all passed, steps\/02-two\/two\.cu changed: only what depends on it /, qr/^(?:cases 02 )?every(?: orders 02)?$/);
spew("$tree/common/cuda/own.h", "// new\n");
look("a header of one step", "", qr/\Atest: since all passed, common\/cuda\/own\.h changed/, qr/^cases 01 every orders 01$/);

# A test that failed is run again until it passes, and one that passed is not.
spew("$tree/build/fails", "every\n");
spew("$tree/chapters/01.md", "more words\n");
look("a failure", "", qr/\nfailed: tests\/every\.t; `make test` runs again what failed, and not what passed\n\z/, "every long pages", 2);
look("which is still there", "", qr/\Atest: since all passed, chapters\/01\.md changed:.*\nfailed: tests\/every\.t; `make test` runs again what failed, and not what passed\n\z/s, "every", 2);
unlink "$tree/build/fails";
look("and is mended", "", qr/cores were busy\n\z/, "every");
spew("$tree/build/fails", "cases 02\n");
tiny_step($tree, "02-two", "the second", "    return 0 * 3;\n");
look("an item fails", "", qr/\nfailed: tests\/items\.t; `make test` runs again what failed, and not what passed\n\z/, qr/cases 02/, 2);
look("it alone is run again", "", qr/\nfailed: tests\/items\.t; `make test` runs again what failed, and not what passed\n\z/, "cases 02", 2);
unlink "$tree/build/fails";
look("until it passes", "", qr/busy\n\z/, "cases 02");
look("one file", "TESTS=tests/pages.t FORCE=1", qr/busy\n\z/, "pages");
spew("$tree/build/fails", "pages\n");
look("one file fails", "TESTS=tests/pages.t FORCE=1", qr/; `make test TESTS=tests\/pages\.t` runs again/, "pages", 2);
look("a sample fails", "SEED=8 MINUTES=0.5 FORCE=1", qr/; `make test SEED=8 MINUTES=0\.5` runs again/, qr/pages/, 2);
unlink "$tree/build/fails";
look("and is mended", "SEED=8 MINUTES=0.5", qr/\n2 of 4 test files ran; the reason stands beside each of the others, above\nCPU seconds:\n.*busy\n\z/s, "pages");

# A test that takes long says how far it is, where there is a terminal.
spew("$tree/tests/slow.t", 'print "1..2\nok 1 - the first\n"; $| = 1; sleep 4; print "ok 2 - the second\n";');
for my $progress (0, 1) {
    %r = run("cd '$tree' && perl tests/lib/suite.pl --one tests/slow.t", PROOFS => 0, TEST_PROGRESS => $progress);
    is($r{out}, "1..2\nok 1 - the first\nok 2 - the second\n", "slow.t prints the same");
    like($r{err}, $progress ? qr/\r\e\[Ktests\/slow\.t, [1-9] s: the first; longer than expected\n/ : qr/\A\z/, "and progress: $progress");
}
unlink "$tree/tests/slow.t";

unlink "$tree/build/log";
%r = run("cd '$tree' && make test-all FORCE=1");
is("$r{code} " . join(" ", sort split /\n/, slurp("$tree/build/log")), "0 $all", "test-all looks at everything");
like($r{out}, qr/\Atest-all: everything, in about \d+ (?:seconds|minutes) on two cores\n/, "and says how long that takes");

for my $bad (["SEED=x1", "SEED=x1: need a whole number"], ["MINUTES=-3", "MINUTES=-3: need a number above 0"], ["MINUTES=0", "MINUTES=0: need"],
    ["TESTS=foo", "TESTS=foo: there is no such file; TESTS=tests/make.t is right"],
    ["TESTS=pages", "TESTS=pages: there is no such file; TESTS=tests/pages.t is right"],
    ["SHARD=1/4", "SHARD=1/4: a share is one of everything: make test-all SHARD=1/4"]) {
    %r = run("cd '$tree' && make test $bad->[0]");
    is($r{code}, 2, "$bad->[0] is refused");
    like($r{err}, qr/^test: \Q$bad->[1]\E/m, "in one line");
}
done_testing();
