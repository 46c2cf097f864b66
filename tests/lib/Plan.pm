package Plan;
# What `make test` looks at.
#
# tests/costs.tsv has a line for each test, and for each item of one that has items, "steps.t, cases 13", with the
# CPU seconds that it takes. What depends on a file that has changed comes first; then come the others, in an
# order that the seed gives, until the seconds are spent. Where all passed before, only what depends on a change
# is looked at.
use strict;
use warnings;
use Exporter qw(import);
use List::Util qw(shuffle sum0);
use Proof;
our @EXPORT = qw(plan_of steps files_of_step has_items by_length);

my $dear = 4; # seconds: a test of less is always run
my $parts = 8; # a step's mutants are drawn by eighths
# What is run of every step.
my $always = qr/^(?:programs|small) \d\d$/;
# Of what has changed, kinds of items in the order in which they are looked at: the first ones find the most.
my @kinds = ("launches", "small counts", "small checks", "exercises", "orders", "mutants", "nvcc", "counts", "checks", "cases",
    "corners", "older");

# "13" => "steps/13-v7-hybrid/v7-hybrid.cu"
sub steps {
    return map { m{/(\d\d)-} ? ($1 => $_) : () } glob("steps/[0-9][0-9]-*/*.cu");
}

# What lies beside a step, what these files include, and the rows of its counts.
sub files_of_step {
    my ($source) = @_;
    my ($folder, $number) = $source =~ m{(.*/(\d\d)-[^/]*)/};
    my @files = (glob("$folder/*"), glob("plots/data/cpu/step-$number-*"));
    my %seen = map { $_ => 1 } @files;
    for my $file (@files) {
        open my $in, "<", $file or next;
        my ($beside) = $file =~ m{(.*)/};
        for my $name (map { /^\s*#\s*include "([^"]+)"/ } <$in>) {
            my ($found) = grep { -e } map { "$_/$name" } $beside, $folder, "common";
            push @files, $found if $found && !$seen{$found}++;
        }
    }
    return @files;
}

# The lines of tests/costs.tsv as [TEST, ITEM or "-", SECONDS].
my @rows;
sub rows {
    return @rows if @rows;
    open my $in, "<", "tests/costs.tsv" or die "tests/costs.tsv: $!";
    return @rows = map { chomp; /^[^#]/ ? [split /\t/] : () } <$in>;
}

# The same for the steps that there are: one that has no line yet costs as much as others.
sub rows_of {
    my @steps = @_;
    my (%of, @more); # kind => step => row
    for (rows()) {
        $of{$1}{$2} = $_ if $_->[1] =~ /^(.*) (\d\d)$/;
    }
    my @new = grep { !$of{programs}{$_} } @steps;
    for my $kind (sort keys %of) {
        my @known = values %{ $of{$kind} };
        my $mean = sum0(map { $_->[2] } @known) / @known;
        push @more, map { [$known[0][0], "$kind $_", $mean] } @new;
    }
    my %is = map { $_ => 1 } @steps;
    return grep { $_->[1] !~ / (\d\d)$/ || $is{$1} } rows(), @more;
}

# Whether a part of the test is an item; else it is run as a whole, or not.
sub has_items {
    my ($name) = @_;
    return scalar grep { $_->[0] eq $name && $_->[1] ne "-" } rows();
}

# The tests, the longest first: short ones then fill up both cores to the end.
sub by_length {
    my %seconds;
    $seconds{ $_->[0] } += $_->[2] for rows();
    return sort { ($seconds{ $b =~ s{.*/}{}r } // 0) <=> ($seconds{ $a =~ s{.*/}{}r } // 0) } glob("tests/*.t");
}

# plan_of(SECONDS, SEED, CHANGED, AGAIN): CHANGED has the files that have changed, and with AGAIN nothing else is
# looked at. Returns items: those to look at; without: tests that are left out; seconds: what all takes; left: for
# each kind how many items there are, and how many of them are left out.
sub plan_of {
    my ($seconds, $seed, $changed, $again) = @_;
    my %changed = map { $_ => 1 } @$changed;
    my %source = steps();
    my $all = grep { m{^(?:common/(?:harness|problems|cpu|make)|tests/lib)/|^common/neox/.*\.[ch]$|^Makefile$} } @$changed;
    my %touched = map { my $step = $_; ($step => $all || scalar grep { $changed{$_} } files_of_step($source{$step})) } keys %source;
    my %reads = map { my $test = $_; (s{.*/}{}r => scalar grep { $changed{$_} } files_read($test)) } glob("tests/*.t");
    my %rank = map { $kinds[$_] => $_ } 0 .. $#kinds;

    my ($taken, @items) = (0);
    for (rows_of(keys %source)) {
        my ($test, $item, $cost) = @$_;
        my ($kind, $step) = $item =~ /^(.*) (\d\d)$/;
        my $touched = defined $step ? $touched{$step} : $reads{$test};
        next if $again && !$touched;
        if ($item eq "-" ? has_items($test) || $cost < $dear : $item =~ $always) {
            $taken += $cost;
            next;
        }
        # What is small is for what has changed: of the others all cases are looked at, or none.
        next if !$touched && $item =~ /^small /;
        my $first = !$touched ? 99 : $item eq "-" ? 0 : exists $rank{ $kind // "" } ? 1 + $rank{$kind} : 50;
        push @items, $item eq "-" ? [$test, $cost, $first]
            : ($kind // "") eq "mutants" ? map { ["$item.$_", $cost / $parts, $first] } 0 .. $parts - 1 : [$item, $cost, $first];
    }
    srand $seed;
    my (@chosen, %left);
    for (sort { $a->[2] <=> $b->[2] } shuffle @items) {
        my ($item, $cost) = @$_;
        my $kind = $item =~ s/ \S+$//r;
        $left{$kind}[0]++;
        if ($taken + $cost > $seconds) {
            $left{$kind}[1]++;
            next;
        }
        $taken += $cost;
        push @chosen, $item;
    }
    my %chosen = map { $_ => 1 } @chosen;
    my @without = grep { $again && !$reads{$_} || $left{$_} && !$chosen{$_} } sort keys %reads;
    return (items => \@chosen, without => \@without, seconds => $taken, left => \%left);
}

1;
