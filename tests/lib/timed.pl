#!/usr/bin/env perl
# timed.pl COMMAND ...: runs COMMAND and appends to the file $TEST_TIMES, if there is that variable, the
# CPU seconds (user and system) of it and of all it waited for, its exit code, and its last word.
# timed.pl alone prints what that file holds, the longest first, the sum, and last what failed.
use strict;
use warnings;

my $file = $ENV{TEST_TIMES};
if (!@ARGV) {
    my ($sum, @lines, @failed) = (0);
    open my $in, "<", $file or die "$file: $!";
    while (<$in>) {
        chomp;
        my ($seconds, $code, $name) = split /\t/;
        push @lines, [$seconds, $name];
        push @failed, $name if $code;
        $sum += $seconds;
    }
    printf "%7.1f  %s\n", @$_ for sort { $b->[0] <=> $a->[0] } @lines;
    printf "%7.1f  CPU seconds in all\n", $sum;
    print "failed: @failed\n" if @failed;
    exit;
}
# A test says in its first line what perl is to do.
my $code = system $ARGV[0] =~ /\.t$/ ? ($^X, @ARGV) : @ARGV;
my (undef, undef, $user, $system) = times;
if ($file && open my $out, ">>", $file) {
    printf $out "%.2f\t%s\t%s\n", $user + $system, $code, $ENV{TEST_NAME} || $ARGV[-1];
}
exit($code & 127 ? 128 + ($code & 127) : $code >> 8);
