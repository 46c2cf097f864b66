package Proof;
# Proofs in place of runs, and a draw in place of everything.
#
# A verdict is a function of the bytes that went in: the files that a test reads, the program that it runs, the
# test itself. What has passed leaves a file in build/proofs/, named by a digest of all of these, and is not run
# again while they are the same. Nothing of it is committed; a fresh clone runs everything.
use strict;
use warnings;
use Digest::SHA;
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use List::Util qw(shuffle);
use Test::More ();
our @EXPORT = qw(proved proof_of is_proven keep_proof version_of cpu_seconds drawn);

my $store = "build/proofs";
my %digest; # of files: each is read once a process

# The digest of FILE's content, or "-" where there is none.
sub digest_of {
    my ($file) = @_;
    return $digest{$file} //= -f $file ? Digest::SHA->new(1)->addfile($file, "b")->hexdigest : "-";
}

# proof_of(ITEM, [FILES], TEXT ...): the name of the proof that ITEM is right, which depends on what these
# files hold and on the texts. The test that asks and the files of tests/lib always count.
sub proof_of {
    my ($item, $files, @texts) = @_;
    my @all = ($0, sort(glob(dirname(__FILE__) . "/*.pm")), @$files);
    return Digest::SHA::sha1_hex(join "\n", $item, @texts, map { "$_ " . digest_of($_) } @all);
}

sub is_proven {
    my ($proof) = @_;
    return -e "$store/$proof" && utime undef, undef, "$store/$proof"; # used: not the next to go
}

# ITEM is right, and it took so many CPU seconds to see it.
sub keep_proof {
    my ($proof, $item, $seconds) = @_;
    make_path($store);
    open my $out, ">", "$store/$proof.$$" or die "$store/$proof: $!";
    printf $out "%s\t%.2f\n", $item, $seconds;
    close $out or die "$store/$proof: $!";
    rename "$store/$proof.$$", "$store/$proof" or die "$store/$proof: $!";
}

# The CPU seconds of this process and of all that it waited for.
sub cpu_seconds {
    my $sum = 0;
    $sum += $_ for times;
    return $sum;
}

# proved(ITEM, [FILES], TEXT ..., sub { tests }): the tests, unless they passed before, on the same bytes.
sub proved {
    my ($item, $files, @texts) = @_;
    my $tests = pop @texts;
    my $proof = proof_of($item, $files, @texts);
    if (is_proven($proof)) {
        Test::More::pass("$item: passed before, and nothing of it has changed");
        return;
    }
    my $failed = sub { return scalar grep { !$_ } Test::More->builder->summary };
    my ($before, $began) = ($failed->(), cpu_seconds());
    $tests->();
    keep_proof($proof, $item, cpu_seconds() - $began) if $failed->() == $before;
}

# What a tool says of its version, for proofs that depend on it.
my %version;
sub version_of {
    my ($tool) = @_;
    return $version{$tool} //= `$tool --version 2>&1`;
}

# drawn(SHARE, ITEMS): one in SHARE of them, at least one, in their order, by the seed that `make test`
# chooses, prints and passes on in TEST_SEED. Without a seed all of them, as for `make test-all`.
sub drawn {
    my ($share, @items) = @_;
    return @items if !$ENV{TEST_SEED};
    srand $ENV{TEST_SEED} + @items;
    my $n = int((@items + $share - 1) / $share);
    my @order = shuffle 0 .. $#items;
    return @items[sort { $a <=> $b } @order[0 .. $n - 1]] if $n;
    return;
}

1;
