package Plan;
# The plan of `make test`: which items it runs.
#
# tests/costs.tsv has a line for each test, and for each item of one that has items, "steps.t, cases 13", with the
# CPU seconds that it takes. "mutants 13/8" is drawn by eighths. An item that is not a step's reads what the fourth
# column says, or else what its test reads ("-"). Where all passed before, it takes what the fifth says. What depends
# on a file that has changed comes first; then come the others, in an order that the seed gives, until the seconds are
# spent. Where all passed before, only what depends on a change is looked at.
use strict;
use warnings;
use Exporter qw(import);
use List::Util qw(shuffle sum0);
use Proof;
our @EXPORT = qw(plan_of cost_rows steps files_of_step has_items by_length expected seconds_of_all plan_of_shard);

my $dear = 4; # seconds: a test of less is always run
# Items that are run of every step.
my $always = qr/^(?:programs|small) \d\d$/;
my $whole_book = 75; # seconds to build it, which browser.t does where it is not there
# Items that test-all does not run, as it looks at all cases.
my $in_place = qr/^(?:launches|small counts|small checks) /;
# Of what has changed, kinds of items in the order in which they are looked at: the first ones find the most.
my @kinds = ("launches", "small counts", "small checks", "older", "real", "exercises", "orders", "mutants", "nvcc", "counts", "checks", "cases",
    "large-index");

# "13" => "steps/13-v7-hybrid/v7-hybrid.cu"
sub steps {
    return map { m{/(\d\d)-} ? ($1 => $_) : () } glob("steps/[0-9][0-9]-*/*.cu");
}

# The files beside a step, those that they include, and the rows of its counts.
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
sub cost_rows {
    return @rows if @rows;
    open my $in, "<", "tests/costs.tsv" or die "tests/costs.tsv: $!";
    return @rows = map { chomp; /^[^#]/ ? [split /\t/] : () } <$in>;
}

# The same for the steps that there are: one that has no line yet costs as much as others.
sub rows_of {
    my @steps = @_;
    my (%of, @more); # kind => step => row
    for (cost_rows()) {
        $of{$1}{$2} = $_ if $_->[1] =~ m{^(.*) (\d\d)(?:/8)?$};
    }
    my @new = grep { !$of{programs}{$_} } @steps;
    for my $kind (sort keys %of) {
        my @known = values %{ $of{$kind} };
        my $mean = sum0(map { $_->[2] } @known) / @known;
        my ($test, $eighths) = ($known[0][0], $known[0][1] =~ m{(/8)$});
        push @more, map { [$test, "$kind $_" . ($eighths // ""), $mean] } @new;
    }
    my %is = map { $_ => 1 } @steps;
    return grep { $_->[1] !~ m{ (\d\d)(?:/8)?$} || $is{$1} } cost_rows(), @more;
}

# Whether a part of the test is an item; else it is run as a whole, or not.
sub has_items {
    my ($name) = @_;
    return scalar grep { $_->[0] eq $name && $_->[1] ne "-" } cost_rows();
}

# The tests, the longest first: short ones then fill up both cores to the end.
sub by_length {
    my %seconds;
    $seconds{ $_->[0] } += $_->[2] for cost_rows();
    return sort { ($seconds{ $b =~ s{.*/}{}r } // 0) <=> ($seconds{ $a =~ s{.*/}{}r } // 0) } glob("tests/*.t");
}

# expected(TEST, PLAN): the CPU seconds that the test should take. PLAN has the items that are looked at; without
# any it is all.
sub expected {
    my ($name, $plan) = @_;
    my $sum = 0;
    for (grep { $_->[0] eq $name && (%$plan || $_->[1] !~ $in_place) } cost_rows()) {
        my @items = items_of($_);
        my @looked_at = !%$plan || always_run($_) ? @items : grep { $plan->{ $_->[0] } } @items;
        $sum += $_->[1] for @looked_at;
    }
    return $sum * ($ENV{TEST_PACE} // 1);
}

# The CPU seconds of test-all.
sub seconds_of_all {
    return sum0(map { $_->[2] } grep { $_->[1] !~ $in_place } cost_rows());
}

# The parts of a row that are drawn: itself, or each of its eighths: [ITEM, SECONDS].
sub items_of {
    my ($test, $item, $cost) = @{ $_[0] };
    return [$test, $cost] if $item eq "-";
    return $item =~ m{(.*)/8$} ? map { ["$1.$_", $cost / 8] } 0 .. 7 : [$item, $cost];
}

# Whether a row is run whatever is drawn.
sub always_run {
    my ($test, $item, $cost) = @{ $_[0] };
    return $item eq "-" ? has_items($test) || $cost < $dear : $item =~ $always;
}

# plan_of_shard(K, N): the K-th of N equal shares of everything: items, without.
sub plan_of_shard {
    my ($k, $n) = @_;
    my %source = steps();
    my @items = sort { $b->[1] <=> $a->[1] || $a->[0] cmp $b->[0] } map { items_of($_) } grep { !always_run($_) } rows_of(keys %source);
    my @mine = map { $items[$_][0] } grep { $_ % $n == $k - 1 } 0 .. $#items;
    my %mine = map { $_ => 1 } @mine;
    return (items => \@mine, without => [grep { /\.t$/ && !$mine{$_} } map { $_->[0] } @items]);
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
        my ($test, $item, $cost, $reads, $cost_again) = @$_;
        $cost = $cost_again if $again && defined $cost_again;
        $cost = $whole_book if $test eq "browser.t" && !-e "build/tested/book/html/index.html";
        my ($kind, $step) = $item =~ m{^(.*) (\d\d)(?:/8)?$};
        my $touched = defined $step ? $touched{$step} : ($reads // "-") ne "-" ? grep { is_read($_, split / /, $reads) } @$changed : $reads{$test};
        next if $again && !$touched;
        if (always_run($_)) {
            $taken += $cost;
            next;
        }
        # Small cases are for steps that changed: of the others all cases are looked at, or none.
        next if !$touched && $item =~ /^small /;
        # After a change of a step its items come first, after one of what all steps have, whole tests.
        my $first = !$touched ? 99 : $item eq "-" ? ($all ? 0 : 4.5) : 1 + ($rank{ $kind // $item =~ s/ .*//r } // 50);
        push @items, map { [@$_, $first] } items_of([$test, $item, $cost]);
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
