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
my %too_old = (80 => [75, "compute capability 8.0, and this device, CPU backend, is 7.5"],
    90 => [89, "compute capability 9.0, and this device, CPU backend, is 8.9"],
    "90a" => [100, "compute capability 9.0 and no other, and this device, CPU backend, is 10.0"]);
for my $needs (sort keys %too_old) {
    my ($device, $says) = @{ $too_old{$needs} };
    my ($number) = map { m{/(\d\d)-} } grep { architecture($_) eq $needs } @all;
    %r = run("$build/step-$number", CUDACPU_ARCH => $device);
    like("$r{code} $r{err}", qr/\A77 $number-\S+: step $number needs \Q$says\E\n\z/, "step $number on a device that cannot");
    is($r{out}, "", "and nothing else");
}

# Between 8.0 and 9.0 are devices with less shared memory than either.
my %with_86;
for my $number (map { m{/(\d\d)-} } grep { architecture($_) eq "80" } @all) {
    %r = run("$build/step-$number", KF_CAPTURE => 1, CUDACPU_ARCH => 86);
    $with_86{$r{code}}++;
    like("$r{code} $r{err}", qr/\A(?:0 |77 $number-\S+: variant \S+, case \S*D128\S+: .*; this device lets no block have that much; [^\n]*\n)\z/,
        "step $number with 8.6: right, or a line says which variant finds no room");
}
ok($with_86{77}, "in some steps one finds none");

# Variants that need more than 7.5 are refused there, and the rest of the small cases is right.
my %source = steps();
sub right_with_75 {
    my ($number) = @_;
    my $program = "$build/step-$number";
    my @without = too_large($source{$number});
    my $refused = qr/^  variant (\S+): refused: \d+ bytes of shared memory a block, and there are 65536$/m;
    my %r = run("$program --seed 1 " . small_cases($program), CUDACPU_ARCH => 75, KF_ONE_LAUNCH => 1);
    is("$r{code} $r{err}", "0 ", "step $number: right as on a device of 7.5") or diag($r{out});
    my %seen = map { $_ => 1 } $r{out} =~ /$refused/g;
    # A variant without a small case is refused in another case.
    if (my @left = grep { !$seen{$_} } @without) {
        %r = run("$program --seed 1 " . join(" ", map { "--variant $_" } @left), CUDACPU_ARCH => 75, KF_ONE_LAUNCH => 1);
        is("$r{code} $r{err}", "0 ", "step $number: @left, too") or diag($r{out});
        $seen{$_} = 1 for $r{out} =~ /$refused/g;
    }
    is(join(" ", sort keys %seen), join(" ", sort @without), "step $number: what does not fit is refused");
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
