#!/usr/bin/env perl
# Every step counts what its recorded rows say, and breaks the rules that it must break and no other. `make test`
# counts and checks some steps, by its seed, at all cases; those that have changed, at the small ones.
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my $dir = scratch_dir();
my %source = steps();
my @steps = sort keys %source;
my %counts = map { $_ => 1 } drawn("counts", @steps);
my %checks = map { $_ => 1 } drawn("checks", @steps);
my %small_counts = map { $_ => !$counts{$_} } drawn("small counts", @steps);
my %small_checks = map { $_ => !$checks{$_} } drawn("small checks", @steps);
my @counted = grep { $counts{$_} || $small_counts{$_} } @steps;
my @checked = grep { $checks{$_} || $small_checks{$_} } @steps;
my $programs = instrumented_programs(count => \@counted, check => \@checked);
$ENV{CUDACPU_WORKERS} = 1; # other tests run beside this one

# --- Counts ----------------------------------------------------------------------------------------
# The rows of some cases, in order.
sub rows_of {
    my ($text, %case) = @_;
    return join "", grep { !/^#/ && (!%case || /^step\t/ || $case{(split /\t/)[2]}) } $text =~ /^.*\n/mg;
}
# The kernel of which clang++ makes more requests or fewer may lie in a header that several steps include.
my %clang_differs = map { my $number = $_; $number => scalar grep { -f && slurp($_) =~ /clang\+\+ counts other requests/ }
    files_of_step($source{$number}) } @steps;
my %orders = asked("orders");
# Such rows without the counts of local memory, in which compilers differ.
sub rows_but_local {
    my ($head, @rows) = map { [split /\t/] } split /\n/, rows_of(@_);
    my @kept = grep { $head->[$_] !~ /^local_/ } 0 .. $#$head;
    return join "", map { my $row = $_; join("\t", map { $row->[$_] // "" } @kept) . "\n" } $head, @rows;
}

sub counts_as_recorded {
    my ($number, $recorded, $cases) = @_;
    my ($name, $fresh) = ((split m{/}, $source{$number})[1], "$dir/$number.tsv");
    my %r = run("$programs-count/step-$number --seed 1 --out $fresh $cases");
    is($r{code}, 0, "$name is counted") or diag($r{err}, "make step-$number count BACKEND=cpu shows all of it");
    ok(-e $recorded, "$name has recorded counts") or return;
    my ($by) = slurp($recorded) =~ /^# compiler: (.*)$/m;
    my ($here) = slurp($fresh) =~ /^# compiler: (.*)$/m;
  SKIP: {
        skip "$recorded is by $by, this is $here", 1 if $by ne $here && ($here !~ /^clang/ || $clang_differs{$number});
        my %case = map { $_ => 1 } $cases =~ /--case (\S+)/g;
        my $rows = $by eq $here ? \&rows_of : \&rows_but_local;
        ok($rows->(slurp($fresh)) eq $rows->(slurp($recorded), %case), "$name counts what its recorded rows say")
            or diag("make step-$number count BACKEND=cpu, then look at\n"
                . "  diff $recorded build/data/cpu/step-$number-counts.tsv");
    }
}

# In another order of threads, on another number of cores, and with another seed.
sub counts_again {
    my ($number, $case) = @_;
    my $want = rows_of(slurp("$dir/$number.tsv"), $case => 1);
    like($want, qr/\n$number\t/, "$number counts $case");
    for my $how ("CUDACPU_ORDER=reverse CUDACPU_WORKERS=1", "CUDACPU_ORDER=random CUDACPU_WORKERS=2") {
        my $again = "$dir/again.tsv";
        unlink $again;
        my %r = run("$how $programs-count/step-$number --seed 2 --out $again --case $case");
        ok(-e $again && rows_of(slurp($again)) eq $want, "$number counts the same with $how") or diag($r{err});
    }
}

# An H200's counts of a case of such a step, against the counts here.
sub counts_of_the_device {
    my ($number) = @_;
    my $counted = rows_of(slurp("$dir/$number.tsv"), n1025 => 1) =~ s/^\d+\t(?:four-loads|one-by-one|shared-early)\t.*\n//mgr;
    spew("$dir/h200/counts.tsv", $counted);
    spew("$dir/h200/launches", join "", map { "$_\tn1025\t1\n" } $counted =~ /^\d+\t(\S+)\t/mg);
    my %r = run("awk -f common/make/gpu/ncu.awk tests/samples/ncu-step-$number.csv >$dir/h200/ncu.tsv && "
        . "awk -v words=1 -v rows=$dir/rows.tsv -f common/make/reader/compare.awk common/make/gpu/metrics.txt "
        . "$dir/h200/launches $dir/h200/ncu.tsv $dir/h200/counts.tsv");
    like($r{out}, qr/^(\d+) of \1 counts equal$/m, "an H200 counts the same in step $number") or diag($r{out}, $r{err});
}

# A change of one load is noticed, as this one of step 01.
my $PLANTED = "01";
sub counts_of_one_load_more {
    my ($number) = @_;
    my $plant = "$dir/plant.cu";
    my $folder = $source{$number} =~ s{/[^/]*$}{}r; # what lies beside the step
    (my $text = slurp($source{$number})) =~ s{score = dot / sqrtf\(\(float\)D\);}{score = dot / sqrtf((float)D) + 0.0f * q[0];}
        or fail("the line to change is still there");
    spew($plant, $text);
    my %r = run("common/cpu/cudacc --count -O2 -w -Icommon -I$folder $plant $programs/harness/*/*.o $programs/problems/*.o -o $dir/plant && "
        . "$dir/plant --seed 1 --case odd --out $dir/plant.tsv");
    is($r{code}, 0, "a step with one load more runs") or diag($r{err});
    isnt(rows_of(slurp("$dir/plant.tsv"), odd => 1), rows_of(slurp("$dir/$number.tsv"), odd => 1), "and its rows differ");
    %r = run("$programs-count/step-$number --case one-query --by-line --seed 1");
    like($r{out}, qr/naive-attention\.cu:\d+/, "--by-line names source lines");
}

my @reader = glob("common/make/gpu/ncu.awk common/make/gpu/metrics.txt common/make/reader/compare.awk");
for my $number (@counted) {
    my $program = "$programs-count/step-$number";
    my $recorded = "plots/data/cpu/step-$number-counts.tsv";
    my $cases = $counts{$number} ? "" : small_cases($program);
    my @device = grep { -e } "tests/samples/ncu-step-$number.csv";
    proved($counts{$number} ? "counts $number" : "small counts $number",
        [$program, $source{$number}, $recorded, @device ? (@device, @reader) : ()], $clang_differs{$number} ? "but clang++" : "", sub {
        counts_as_recorded($number, $recorded, $cases);
        return if $cases;
        counts_again($number, $orders{$number}) if $orders{$number};
        counts_of_the_device($number) if @device;
        counts_of_one_load_more($number) if $number eq $PLANTED;
    });
}

# --- Checks ----------------------------------------------------------------------------------------
my %races = asked("race");
sub findings_as_predicted {
    my ($number, $cases) = @_;
    my ($folder, $name) = $source{$number} =~ m{^(steps/([^/]+))/};
    my $began = cpu_seconds();
    my %r = run("$programs-check/step-$number --seed 1 $cases");
    my $seconds = cpu_seconds() - $began;
    is($r{code}, 0, "$name: findings as predicted")
        or diag($r{err}, "make step-$number check BACKEND=cpu shows all of it");
    cmp_ok($seconds, "<=", most_seconds($number), "$name: CPU seconds");
    # Those that must break a rule say so in --list.
    my %list = run("$programs-check/step-$number --list");
    my %rule = $list{out} =~ /^  (\S+) .*\(finding: (.*)\)$/mg;
    my @others = grep { !$rule{$_} } $r{out} =~ /^  variant (\S+): \d+ finding/mg;
    is("@others", "", "$name: no other variant has findings");
    # Where it is broken, in which of the step's files, and at which array.
    my $files = join "|", map { quotemeta } $folder, grep { m{^common/} } files_of_step($source{$number});
    my ($racing, $array) = split / races on /, $races{$number} // "";
    while ($r{out} =~ /^  variant (\S+): \d+ findings?, as predicted\n    (.*)$/mg) {
        my ($variant, $said) = ($1, $2);
        my $of = $variant eq ($racing // "") ? $array : qr/\w+/;
        like($said, qr{^\Q$rule{$variant}\E: .* at (?:\S*/)?(?:$files)\S*:\d+ .* of $of \(}, "$name: what $variant breaks, where, and of which array");
    }
    # Wrong values by accesses that are right.
    my %wrong = map { $_ => 1 } grep { !$rule{$_} } $r{out} =~ /^  variant (\S+): wrong, as predicted$/mg;
    like($r{out}, qr/^  variant \Q$_\E .*: values wrong, accesses right: no checker sees it$/m, "$name: $_ by name") for sort keys %wrong;
}
# Ten on each of two cores, or what it cost before, twice; longer on a slower machine.
sub most_seconds {
    my ($number) = @_;
    my ($cost) = map { $_->[2] } grep { $_->[0] eq "count.t" && $_->[1] eq "checks $number" } cost_rows();
    return (($cost // 0) > 10 ? 2 * $cost : 20) * ($ENV{TEST_PACE} // 1);
}

for my $number (@checked) {
    my $program = "$programs-check/step-$number";
    my $cases = $checks{$number} ? "" : small_cases($program);
    proved($checks{$number} ? "checks $number" : "small checks $number", [$program, $source{$number}], sub {
        findings_as_predicted($number, $cases);
    });
}
ok(1, "all that was drawn");
done_testing();
