package Source;
# Functions of mutation.pl and coverage.pl that read the text of a source.
use strict;
use warnings;
use Exporter qw(import);
our @EXPORT_OK = qw(masked bodies line_of);

# Returns the text with comments, strings and preprocessor lines blanked at their length.
sub masked {
    my ($text) = @_;
    $text =~ s{(/\*.*?\*/|//[^\n]*|^\#(?:\\\n|[^\n])*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\])+')}
        {my $t = $1; $t =~ s/[^\n]/ /g; $t}gemsx;
    return $text;
}

# Returns the bodies [from, to) of all functions, or only of kernels, functions that they call, and functions
# that launch them.
sub bodies {
    my ($code, $all) = @_;
    my @found;
    while ($code =~ /^([A-Za-z_][^;{}=]*\))\s*^\{\n(.*?)^\}/msg) {
        my ($head, $body, $from, $to) = ($1, $2, $-[2], $+[2]);
        push @found, [$from, $to] if $all || "$head$body" =~ /__global__|__device__|<<<|cudaLaunchKernelEx/;
    }
    return @found;
}

sub line_of {
    my ($text, $at) = @_;
    return 1 + (substr($text, 0, $at) =~ tr/\n//);
}

1;
