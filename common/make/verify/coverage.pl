#!/usr/bin/env perl
# coverage.pl [STEP ...]: which lines of kernels, and of functions that launch them, does no verified case
# run?
#
# Each step is built for the CPU so that gcov counts its lines, and runs every case that a CPU runs. A step
# that has other code for devices before compute capability 9.0 runs once more, built for the oldest device
# that it supports. A line counts as run if any step or variant runs it. The other lines are printed, except
# those that tests/uncovered.tsv, if it exists, lists with a reason. Exit 1 if there are any, or if a listed
# line is run.
use strict;
use warnings;
use File::Temp qw(tempdir);
use lib qw(tests/lib common/make/verify);
use Source qw(masked bodies line_of);
use Workbook qw(slurp run have architecture older_steps);

my $list = 'tests/uncovered.tsv';
my @steps = @ARGV ? map { glob "steps/$_-*/*.cu" } @ARGV : glob 'steps/[0-9][0-9]-*/*.cu';
my $workers = $ENV{WORKERS} || 2;
my $temp = tempdir(CLEANUP => 1);
my %made = run('make -s programs BACKEND=cpu');
die "coverage: make programs: $made{err}" if $made{code};
chomp(my $programs = $made{out});
die "coverage: gcov is not here; it comes with g++\n" if !have("gcov");

# Returns the lines of one step, "FILE TAB LINE", with how often each was run.
sub counted {
    my ($source, $flags) = @_;
    my ($number) = $source =~ m{/(\d\d)-};
    my $dir = "$temp/$number" . ($flags && "-older");
    my %r = run("mkdir -p '$dir/data' && common/cpu/cudacc $flags -O1 -g0 -w -fprofile-arcs -ftest-coverage -fprofile-update=atomic "
        . "-fprofile-note='$dir/step.gcno' -fprofile-dir='$dir/data' -Icommon '$source' "
        . "$programs/harness/*/*.o $programs/problems/*.o $programs/neox/*.o -o '$dir/step'");
    die "coverage: $source: $r{err}" if $r{code};
    %r = run("timeout 600 '$dir/step' --seed 1");
    die "coverage: $source: $r{err}" if $r{code};
    my ($data) = split /\n/, {run("find '$dir/data' -name '*.gcda'")}->{out};
    die "coverage: $source: nothing was counted\n" if !$data;
    %r = run("mv '$data' '$dir/step.gcda' && gcov -t '$dir/step.gcda'");
    die "coverage: gcov: $r{err}" if $r{code};
    my ($file, %line);
    for (split /\n/, $r{out}) {
        $file = $1, next if /^ +-: +0:Source:(?:\.\/)?(.*)/;
        next if !defined $file || $file !~ m{^(?:steps|common/(?:cuda|neox))/};
        my ($count, $at) = /^ *([^:]+): *(\d+):/ or next;
        next if $count eq '-' || !$at;
        my $times = $count =~ /^(\d+)/ ? $1 : 0;
        $line{"$file\t$at"} = $times if $times >= ($line{"$file\t$at"} // 0);
    }
    run("rm -rf '$dir'");
    return \%line;
}

my %older = map { $_ => 1 } older_steps();
my @builds = map { [$_, ""], $older{$_} ? [$_, "-D__CUDA_ARCH__=" . architecture($_) . "0"] : () } @steps;
my @pids;
for my $worker (0 .. $workers - 1) {
    my $pid = fork // die;
    if (!$pid) {
        open my $out, '>', "$temp/lines$worker" or die;
        for my $i (grep { $_ % $workers == $worker } 0 .. $#builds) {
            my $line = counted(@{ $builds[$i] });
            print $out "$_\t$line->{$_}\n" for sort keys %$line;
        }
        close $out;
        require POSIX;
        POSIX::_exit(0);
    }
    push @pids, $pid;
}
my $failed = 0;
for (@pids) { waitpid $_, 0; $failed ||= $? }
exit 1 if $failed;

my %run;
for (map { split /\n/, slurp("$temp/lines$_") } 0 .. $workers - 1) {
    my ($file, $at, $times) = split /\t/;
    $run{$file}{$at} = $times if $times >= ($run{$file}{$at} // 0);
}
my %named;
if (-e $list) {
    for (grep { !/^#/ } split /\n/, slurp($list)) {
        my ($file, $text, $reason) = split /\t/;
        $named{"$file\t$text"} = $reason;
    }
}
my ($lines, $missed, $known, %used) = (0, 0, 0);
for my $file (sort keys %run) {
    my $text = slurp($file);
    my @text = split /\n/, $text;
    for my $body (bodies(masked($text), 0)) {
        for my $at (line_of($text, $body->[0]) .. line_of($text, $body->[1] - 1)) {
            next if !exists $run{$file}{$at};
            $lines++;
            (my $says = $text[$at - 1]) =~ s/^\s+//;
            my $name = "$file\t$says";
            $used{$name} = 1 if exists $named{$name} && !$run{$file}{$at};
            next if $run{$file}{$at};
            $known++, next if exists $named{$name};
            print "$file:$at: no verified case runs: $says\n";
            $missed++;
        }
    }
}
my @stale = grep { my ($file) = split /\t/; $run{$file} && !$used{$_} } sort keys %named;
print "$list: is run, or is not there: " . s/\t/: /r . "\n" for @stale;
print "coverage: $lines lines of kernels and launchers; no verified case runs $missed, "
    . "beside $known that $list names with a reason\n";
exit($missed || @stale ? 1 : 0);
