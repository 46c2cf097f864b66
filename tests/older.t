#!/usr/bin/env perl
# Steps that have other code for devices before compute capability 9.0: that code is right as well. Nothing
# else that is built for the CPU takes it. They run their small cases as on a device of capability 8.0.
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my @steps = older_steps();
ok(@steps > 1, "some steps have such code");
my %r = run("make -s programs BACKEND=cpu");
is($r{code}, 0, "all are built for the newest") or BAIL_OUT($r{err});
chomp(my $build = $r{out});
my $dir = scratch_dir();

@steps = drawn(3, @steps);
my %number = map { $_ => m{/(\d\d)-} } @steps;
# As mutants.t builds them: most of the time goes into the compiler.
%r = run("printf '%s\\n' " . join(" ", map { "'$_ $dir/step-$number{$_}'" } @steps)
        . " | xargs -P 2 -L 1 sh -c 'common/cpu/cudacc -D__CUDA_ARCH__=800 -O1 -g0 -Werror -Icommon \$0 "
        . "$build/harness/*.o $build/problems/*.o $build/neox/*.o -o \$1'");
is($r{code}, 0, "they are compiled for 8.0") or diag($r{out}, $r{err});
for my $source (@steps) {
    my $step = "$dir/step-$number{$source}";
    my $small = small_cases("$build/step-$number{$source}");
    %r = run("$step --seed 1 $small");
    is($r{code}, 0, "$source: right, compiled for 8.0") or diag($r{out}, $r{err});
    is($r{err}, "", "$source: nothing on stderr");
}

done_testing();
