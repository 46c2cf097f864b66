#!/usr/bin/env perl
# suite.pl test|test-all [TEST ...]: what `make test` and `make test-all` do: says what will be looked at and how
# long that will take, builds the programs, runs prove, and prints what each test took.
#   Settings are environment variables, as a reader gives them to make: SEED, MINUTES, SHARD, FORCE; and PROGRAMS, the
#   folder of the CPU programs, and MAKE, which make itself sets.
# suite.pl --one TEST: how prove starts each test.
# suite.pl --costs: prints tests/costs.tsv anew, from the proofs of a whole run.
# suite.pl --pace: what `make bench` prints of this machine.
use strict;
use warnings;
use Cwd qw(getcwd);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use POSIX qw(ceil);
use IO::Select;
use List::Util qw(min sum0);
use Time::HiRes qw(time clock_gettime CLOCK_PROCESS_CPUTIME_ID);
use lib dirname(__FILE__);
use Plan;
use Proof;

# --- The machine ---------------------------------------------------------------------------------
# The CPU seconds of a fixed loop on the machine of tests/costs.tsv, and here. A virtual machine may stand still for
# a moment, so it is the least of short parts.
my $loop_there = 0.1;
sub loop_here {
    my $least = min(map {
        my ($began, $n) = (process_seconds(), 0);
        $n += $_ % 7 for 1 .. 500_000;
        process_seconds() - $began;
    } 1 .. 40);
    return 10 * $least;
}

# Of this process alone, and finer than the hundredths of cpu_seconds().
sub process_seconds { return clock_gettime(CLOCK_PROCESS_CPUTIME_ID) }

# How many times as long things take here. In quarters, so that a machine draws the same sample each time.
sub pace {
    my $pace = ceil(4 * loop_here() / $loop_there - 0.5) / 4;
    return $pace < 1 ? 1 : $pace;
}

# --- Files ---------------------------------------------------------------------------------------
sub lines_of {
    my ($file) = @_;
    open my $in, "<", $file or return;
    return map { chomp; $_ } <$in>;
}

sub write_lines {
    my ($file, @lines) = @_;
    open my $out, ">", "$file.new" or die "$file.new: $!";
    print $out map { "$_\n" } @lines;
    close $out or die "$file: $!";
    rename "$file.new", $file or die "$file: $!";
}

# build/test-passed: the seed with which all passed, and a digest of each file as it was then.
sub read_passed {
    my ($seed, @files) = lines_of("build/test-passed");
    return ($seed, map { my ($digest, $file) = split / /, $_, 2; ($file => $digest) } @files);
}

sub write_passed {
    my ($seed, %now) = @_;
    write_lines("build/test-passed", $seed, map { "$now{$_} $_" } sort keys %now);
}

# --- One test ------------------------------------------------------------------------------------
# A test that has items looks itself for what of it is proven.
sub one {
    my ($test) = @_;
    my ($name) = $test =~ m{([^/]+)$};
    my %plan = map { $_ => 1 } $ENV{TEST_PLAN} ? lines_of($ENV{TEST_PLAN}) : ();
    my $proof = has_items($name) ? "" : proof_of("all of it", [$test, files_read($test)]);
    my $why = $plan{"without $name"} ? ($plan{again} ? "nothing that it reads has changed" : "not in this sample")
        : $proof && is_proven($proof) ? "it passed before, and nothing that it reads has changed" : "";
    if ($why) {
        print "1..0 # SKIP $why\n";
        return 0;
    }
    my ($code, $seconds) = (run_and_tell($test, expected($name, \%plan)), cpu_seconds());
    keep_proof($proof, "-", $seconds, $name) if $proof && $code == 0;
    if ($ENV{TEST_TIMES} && open my $out, ">>", $ENV{TEST_TIMES}) {
        printf $out "%.2f\t%s\t%s\n", $seconds, $code, $test;
    }
    return $code;
}

# Runs the test, passes on what it prints, and returns its exit code. Every TEST_PROGRESS seconds, ten on a terminal,
# it is said what the test has come to, and how long it should still take, of so many CPU seconds on one core.
sub run_and_tell {
    my ($test, $expected) = @_;
    # A test says in its first line what perl is to do.
    return exit_code(system $^X, $test) if !$ENV{TEST_PROGRESS};
    my ($began, $came_to) = (time, "it begins");
    my $pid = open my $from, "-|", $^X, $test or die "$test: $!";
    my $ready = IO::Select->new($from);
    my ($said, $text) = ($began, "");
    $| = 1;
    while (1) {
        if ($ready->can_read(1)) {
            sysread $from, my $more, 65536 or last;
            print $more;
            $text .= $more;
            $came_to = $1 while $text =~ s/\A(?:(?:not )?ok \d+ - )?(.*)\n//;
        }
        next if time - $said < $ENV{TEST_PROGRESS};
        $said = time;
        my $left = $expected - (time - $began);
        printf STDERR "\r\e[K%s, %.0f s: %.60s; %s\n", $test, time - $began, $came_to,
            $left > 0 ? sprintf("about %.0f s left", $left) : "longer than expected";
    }
    close $from;
    return exit_code($?);
}

sub exit_code {
    my ($status) = @_;
    return $status & 127 ? 128 + ($status & 127) : $status >> 8;
}

# --- What is said --------------------------------------------------------------------------------
sub duration {
    my ($seconds) = @_;
    return $seconds < 100 ? sprintf("%.0f seconds", $seconds) : sprintf("%.0f minutes", $seconds / 60);
}

# A few names.
sub some {
    my @names = @_;
    return join(", ", grep { defined } @names[0 .. 2]) . (@names > 3 ? " and " . (@names - 3) . " more" : "");
}

# TYPED is what was asked for, "make test SEED=7".
sub report {
    my ($times, $took, $typed, @asked) = @_;
    my @tests = map { [split /\t/] } lines_of($times);
    my $ran = grep { $_->[2] =~ /\.t$/ } @tests;
    printf "%d of %d test files ran; the reason stands beside each of the others, above\n", $ran, scalar @asked if $ran && $ran < @asked;
    print "CPU seconds:\n";
    printf "%7.1f  %s\n", @$_[0, 2] for sort { $b->[0] <=> $a->[0] } @tests;
    my $sum = sum0(map { $_->[0] } @tests);
    printf "%7.1f  CPU seconds in all, in %.0f seconds: %.2f cores were busy\n", $sum, $took, $took ? $sum / $took : 0;
    my @failed = map { $_->[1] ? $_->[2] : () } @tests;
    print "failed: @failed; `$typed` runs again what failed, and not what passed\n" if @failed;
}

# --- The sample ----------------------------------------------------------------------------------
# The files that are not as they were when all passed here; or else as they were committed.
sub changed_since {
    my ($passed, $now) = @_;
    return sort grep { ($passed->{$_} // "") ne ($now->{$_} // "") } keys %{ { %$passed, %$now } } if %$passed;
    return split /\0/, `git diff -z --name-only HEAD 2>/dev/null; git ls-files -z -o --exclude-standard 2>/dev/null`;
}

# For the tests.
sub write_plan {
    write_lines("build/test-plan", @_);
    $ENV{TEST_PLAN} = getcwd() . "/build/test-plan";
}

# Chooses the items, says what they are, and writes them down for the tests. Returns the seed, and the items.
sub choose {
    my ($seed_then, $passed, $now) = @_;
    my $again = %$passed && !length($ENV{SEED} // "");
    my ($last) = lines_of("build/test-seed");
    my $seed = $ENV{SEED} || ($again ? $seed_then : $last) || int(time) % 100_000;
    die "test: SEED=$seed: need a whole number, as SEED=7\n" if $seed !~ /^\d+$/;
    my $minutes = length($ENV{MINUTES} // "") ? $ENV{MINUTES} : 4;
    die "test: MINUTES=$minutes: need a number above 0, as MINUTES=10\n" if $minutes !~ /^\d*\.?\d+$/ || $minutes == 0;
    my @changed = changed_since($passed, $now);
    my $pace = $ENV{TEST_PACE};
    my $seconds = 80 * $minutes / $pace; # of two cores, which at times take a quarter more than in costs.tsv
    if ($again && @changed && !grep { !m{^(?:steps|plots/data/cpu)/} } @changed) {
        my %steps = map { m{(?:steps/|step-)(\d\d)-} ? ($1 => 1) : () } @changed;
        my $few = 58 * keys %steps; # seconds a step
        $seconds = $few if $few < $seconds;
    }
    my %plan = plan_of($seconds, $seed, \@changed, $again);
    my $long = "about " . duration($plan{seconds} * $pace / 2) . " on two cores";
    my $them = @changed == 1 ? "it" : "them";
    if (!$again) {
        print "test: every step at its small cases and a sample of what takes longer, $long; make test-all is everything\n",
            "test: make test SEED=$seed FORCE=1 runs this sample again\n";
        print "test: you have changed ", some(@changed), ": what depends on $them comes first\n" if @changed;
    } elsif (@changed) {
        print "test: since all passed, ", some(@changed), " changed: only what depends on $them is run, $long\n";
    } else {
        print "test: nothing has changed since all passed, and nothing is run; make test SEED=", $seed + 1,
            " takes another sample, FORCE=1 runs the same again\n";
    }
    my %left = %{ $plan{left} };
    my @out = map { $left{$_}[1] ? "$left{$_}[1] of $left{$_}[0] $_" : () } grep { !/\.t$/ } sort keys %left;
    my $what = $again ? "NOT run, though it depends on that (make test-all runs it): " : "left out this time: ";
    print "test: $what", join(", ", @out, grep { /\.t$/ && $left{$_}[1] } sort keys %left), "; tests/README.md says what these are\n"
        if grep { $_->[1] } values %left;
    write_plan(@{ $plan{items} }, (map { "without $_" } @{ $plan{without} }), (map { "changed $_" } @changed), $again ? "again" : ());
    write_lines("build/test-seed", $seed);
    return ($seed, @{ $plan{items} });
}

# The same for the share of everything that SHARD names. Returns the items.
sub choose_share {
    my ($k, $n) = $ENV{SHARD} =~ m{^(\d+)/(\d+)$};
    die "test-all: SHARD=$ENV{SHARD}: need the number of a share and of how many, as SHARD=1/4\n" if !$k || $k > $n;
    my %plan = plan_of_shard($k, $n);
    write_plan(@{ $plan{items} }, map { "without $_" } @{ $plan{without} });
    return @{ $plan{items} };
}

# --- All of it -----------------------------------------------------------------------------------
# Programs are built first, so that tests which run side by side find them; two at a time, unless this make has
# been given a number.
sub build {
    my ($command, $times, @programs) = @_;
    my $jobs = ($ENV{MAKEFLAGS} // "") =~ /jobserver/ ? "" : "-j2";
    my ($began, $files) = (cpu_seconds(), 0);
    return 0 if !@programs;
    open my $from, "-|", "$ENV{MAKE} --no-print-directory $jobs @programs" or die "$ENV{MAKE}: $!";
    $| = 1;
    while (<$from>) {
        next if / is up to date\.$/;
        # A name for each file is what make says by itself. With V=1 it is commands, and all of them are shown.
        my ($file) = /^(?:cc|cudacc)  +(\S.*)$/;
        print "$command: compiles what is not up to date of ", scalar(@programs), " programs\n" if $file && !$files++;
        print if !$file;
        print STDERR "\r\e[K  $file" if $file && $ENV{TEST_PROGRESS};
    }
    print STDERR "\r\e[K" if $files && $ENV{TEST_PROGRESS};
    close $from;
    my $code = exit_code($?);
    open my $out, ">>", $times or die "$times: $!";
    printf $out "%.2f\t%s\tall programs built\n", cpu_seconds() - $began, $code;
    return $code;
}

sub suite {
    my ($command, @tests) = @_;
    my $began = time;
    for my $test (grep { !-f } @tests) {
        my ($near) = grep { -f } "tests/$test", "tests/$test.t";
        die "$command: TESTS=$test: there is no such file; TESTS=" . ($near // "tests/make.t") . " is right\n";
    }
    die "test: SHARD=$ENV{SHARD}: a share is one of everything: make test-all SHARD=1/4\n"
        if $command eq "test" && length($ENV{SHARD} // "");
    make_path("build");
    my %now = map { $_ => digest_of($_) } all_files();
    my ($seed, %passed) = read_passed();
    my %steps = steps();
    my @items;
    $ENV{PROOFS} = 0 if $ENV{FORCE};
    $ENV{TEST_PACE} //= pace(); # suite.t sets it
    $ENV{TEST_PROGRESS} = -t STDERR ? 10 : 0; # prove gives its tests a pipe
    if ($command eq "test" && !@tests) {
        ($seed, @items) = choose($seed, \%passed, \%now);
    } elsif (!@tests) {
        my ($last) = lines_of("build/test-all-seconds");
        print "test-all: everything, ", $last ? "in " . duration($last) . " last time"
            : "in about " . duration(seconds_of_all() * $ENV{TEST_PACE} / 2) . " on two cores", "\n";
        @items = length($ENV{SHARD} // "") ? choose_share() : map { ("counts $_", "checks $_") } sort keys %steps;
    }
    my @counted = map { /counts (\d\d)$/ } @items;
    my @checked = map { /checks (\d\d)$/ } @items;
    my @asked = @tests ? @tests : by_length();
    # The command that was typed, without FORCE.
    my $typed = join " ", "make", $command, map({ length($ENV{$_} // "") ? "$_=$ENV{$_}" : () } qw(SEED MINUTES SHARD)),
        @tests == 1 ? "TESTS=@tests" : @tests ? "TESTS='@tests'" : ();
    my $times = $ENV{TEST_TIMES} = getcwd() . "/build/test-times.$$";
    write_lines($times);
    my $whole = !@tests && !length($ENV{SHARD} // "");
    my $code = @tests ? 0 : build($command, $times, map({ "$ENV{PROGRAMS}/step-$_" } sort keys %steps),
        map({ "$ENV{PROGRAMS}-count/step-$_" } @counted), map { "$ENV{PROGRAMS}-check/step-$_" } @checked);
    if ($code == 0) {
        # Settings of this make are not passed on to those that the tests start.
        delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES ARGS BACKEND ARCH FORCE TESTS V PORTABLE SEED MINUTES SHARD)};
        print "$command: runs the tests\n";
        $code = system("prove", "-j2", "--exec", "$^X tests/lib/suite.pl --one", @asked);
    }
    my $took = time - $began;
    report($times, $took, $typed, @asked);
    my %seconds = map { my ($seconds, undef, $test) = split /\t/; ($test =~ s{.*/}{}r => $seconds) } lines_of($times);
    write_lines("build/test-seconds", map { "$seconds{$_}\t$_" } sort keys %seconds) if $command eq "test-all" && $whole;
    unlink $times;
    return 1 if $code;
    write_passed($seed || 1, %now) if $whole;
    write_lines("build/test-all-seconds", $took) if $command eq "test-all" && $whole;
    return 0;
}

# --- Costs ---------------------------------------------------------------------------------------
# What of a test's proofs is one line of the table: [TEST, the name of the proof, the line]. Others have their own.
my @lines = (
    ["mutants.t", qr/mutants (\d\d) /, "mutants NN/8"],
    ["nvcc.t", qr/steps?[-\/](\d\d)/, "nvcc NN"],
    ["nvcc.t", qr/tests\/(?:check|banks)\/()/, "faults all/8"],
    ["nvcc.t", qr/tests\/cpu\/()/, "backend all/8"],
    ["nvcc.t", qr/()/, "-"],
    ["exercise.t", qr/step-(\d\d): (?:its exercise fails|in full)/, "exercises NN"],
    ["exercise.t", qr/(?:step-|a case that no|what try\.sh|a small)()/, "-"],
    ["exercise.t", qr/()/, "planted all/8"],
    ["lint.t", qr/clang-tidy \S+()$/, "clang-tidy all/8"],
    ["lint.t", qr/cppcheck \S+()$/, "cppcheck all/8"],
    ["lint.t", qr/()/, "-"],
    ["book.t", qr/fails: ()/, "plants all/8"],
    ["book.t", qr/real book()/, "real book"],
    ["book.t", qr/()/, "-"],
    ["browser.t", qr/()/, "-"],
    ["steps.t", qr/refusals ()/, "-"],
);

sub costs {
    my %latest = map { my ($item, $seconds, $test) = split /\t/, (lines_of($_))[0]; ("$test\t$item" => $seconds) }
        sort { -M $b <=> -M $a } glob("build/proofs/*");
    my %seconds; # test => item => seconds
    for (keys %latest) {
        my ($test, $item) = split /\t/;
        my $seconds = $latest{$_};
        my ($line) = grep { $test eq $_->[0] && $item =~ /^$_->[1]/ } @lines;
        if ($line) {
            my ($step) = $item =~ /^$line->[1]/;
            $item = $line->[2] =~ s/NN/$step/r;
        }
        $seconds{$test}{$item} += $seconds;
    }
    # The cost of a test beside its items. Of what is built for a step plain programs are two fifths, those that count
    # two, as both instruments have one object, and those that check one.
    my %whole = map { my ($seconds, $test) = split /\t/; ($test => $seconds) } lines_of("build/test-seconds");
    my %steps = steps();
    my $built = delete $whole{"all programs built"};
    for my $test (keys %whole) {
        my $rest = $whole{$test} - sum0(map { $_ // 0 } values %{ $seconds{$test} });
        $rest = 0 if $rest < 0;
        # aarch64.t builds only for the steps that it looks at, and without them nothing.
        my @built = $test eq "aarch64.t" ? grep { /^aarch64 \d\d$/ } keys %{ $seconds{$test} } : ();
        $seconds{$test}{$_} += $rest / @built for @built;
        $seconds{$test}{"-"} //= @built ? 0 : $rest;
    }
    my $fifth = ($built // 0) / 5 / keys %steps;
    for my $step (keys %steps) {
        $seconds{build}{"programs $step"} = 2 * $fifth;
        $seconds{"count.t"}{"counts $step"} += 2 * $fifth;
        $seconds{"count.t"}{"checks $step"} += $fifth;
    }
    my %was = map { ("$_->[0]\t$_->[1]" => $_) } cost_rows();
    # Of a step, test-all looks at all cases and not at the small ones; and what the EPUB takes stands in the book's proof.
    $seconds{ $_->[0] }{ $_->[1] } = $_->[2] for grep { $_->[1] =~ /^(?:small|launches|epub) / } cost_rows();
    print map { "$_\n" } grep { /^#/ } lines_of("tests/costs.tsv");
    for my $test (sort keys %seconds) {
        for my $item (sort keys %{ $seconds{$test} }) {
            my (undef, undef, undef, @more) = @{ $was{"$test\t$item"} // [] };
            print join("\t", $test, $item, sprintf("%.2f", $seconds{$test}{$item}), @more), "\n";
        }
    }
}

my ($what, @rest) = @ARGV;
die "usage: suite.pl test|test-all [TEST ...] | --one TEST | --costs | --pace\n" if !$what;
if ($what eq "--costs") {
    costs();
} elsif ($what eq "--pace") {
    printf "suite: a fixed loop of perl takes %.2f CPU seconds here, and %.2f where tests/costs.tsv was recorded\n",
        loop_here(), $loop_there;
} else {
    exit($what eq "--one" ? one(@rest) : suite($what, @rest));
}
