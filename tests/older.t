#!/usr/bin/env perl
# Older devices. Steps that have other code for those before compute capability 9.0: that code is right as
# well, and nothing else that is built for the CPU takes it. They run their small cases as on the oldest device
# that their header allows. And every step that needs 7.5 or 8.0 keeps within what that device has of shared
# memory, or says which variants do not.
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

# Each launch of each case, large ones too: what is more than the device has is refused with a sentence.
my @all = glob("steps/[0-9][0-9]-*/*.cu");
for my $source (grep { architecture($_) =~ /^(?:75|80)$/ } @all) {
    my ($number) = $source =~ m{/(\d\d)-};
    %r = run("$build/step-$number", KF_CAPTURE => 1, CUDACPU_ARCH => architecture($source));
    is("$r{code} $r{err}", "0 ", "step $number: all launches fit the oldest device it runs on");
}
# And a step that needs more says so.
my %too_old = of_steps("too-old");
for my $number (sort keys %too_old) {
    my ($device, $says) = split / /, $too_old{$number}, 2;
    %r = run("$build/step-$number", CUDACPU_ARCH => $device);
    like("$r{code} $r{err}", qr/\A77 $number-\S+: step $number needs \Q$says\E\n\z/, "step $number on a device that cannot");
    is($r{out}, "", "and nothing else");
}

# Between 8.0 and 9.0 are devices with less shared memory than either.
%r = run("$build/step-24", KF_CAPTURE => 1, CUDACPU_ARCH => 86);
like("$r{code} $r{err}", qr/\A77 24-\S+: variant \S+, case D128\S+: .*; this device lets no block have that much; [^\n]*\n\z/,
    "step 24 with 8.6: a line says which variant finds no room");

# What is refused with 7.5, and the rest of the small cases is right.
my %source = steps();
my %refused = of_steps("refused-75");
my %also = of_steps("also-75");
sub right_with_75 {
    my ($number) = @_;
    my $program = "$build/step-$number";
    my $more = $also{$number} ? " --case $also{$number}" : "";
    my %r = run("$program --seed 1 " . small_cases($program) . $more, CUDACPU_ARCH => 75, KF_ONE_LAUNCH => 1);
    is("$r{code} $r{err}", "0 ", "step $number: right as on a device of 7.5") or diag($r{out});
    my %seen = map { $_ => 1 } $r{out} =~ /^  variant (\S+): refused: \d+ bytes of shared memory a block, and there are 65536$/mg;
    is(join(" ", sort keys %seen), $refused{$number} // "", "step $number: what does not fit is refused");
}

# Compiled for the older device as mutants.t compiles: most of the time goes into the compiler.
sub right_as_compiled {
    my ($number) = @_;
    my ($source, $step) = ($source{$number}, "$dir/step-$number");
    my %r = run("common/cpu/cudacc -D__CUDA_ARCH__=" . architecture($source) . "0 -O1 -g0 -Werror -Icommon $source "
        . "$build/harness/*/*.o $build/problems/*.o $build/neox/*.o -o $step");
    is($r{code}, 0, "step $number is compiled for an older device") or diag($r{out}, $r{err});
    %r = run("$step --seed 1 " . small_cases("$build/step-$number"), KF_ONE_LAUNCH => 1);
    is($r{code}, 0, "$source: right, compiled for " . architecture($source)) or diag($r{out}, $r{err});
    is($r{err}, "", "$source: nothing on stderr");
}

my %branches = map { m{/(\d\d)-} ? ($1 => 1) : () } @steps;
for my $number (drawn("older", grep { $branches{$_} || architecture($source{$_}) eq "75" } sort keys %source)) {
    proved("older $number", ["$build/step-$number", files_of_step($source{$number})], sub {
        right_with_75($number) if architecture($source{$number}) eq "75";
        right_as_compiled($number) if $branches{$number};
    });
}

done_testing();
