package Proof;
# Proofs in place of runs, and a sample in place of everything.
#
# A verdict is a function of the bytes that went in: the files that a test reads, the program that it runs, the
# test itself, the tools. What has passed leaves a file in build/proofs/, named by a digest of all of these, and
# is not run again while they are the same. Nothing of it is committed: a fresh clone runs everything.
# PROOFS=0 runs all again.
#
# What takes long is an item, as "cases 13": `make test` chooses some by a seed (Plan.pm), and test-all takes all.
use strict;
use warnings;
use Digest::SHA;
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use Test::More ();
our @EXPORT = qw(proved proof_of is_proven keep_proof digest_of tools version_of cpu_seconds drawn drawn_parts changed_alone all_files files_read is_read);

my $store = "build/proofs";
my %digest; # of files: each is read once a process

# The digest of FILE's content, or "-" where there is none.
sub digest_of {
    my ($file) = @_;
    return $digest{$file} //= -f $file ? Digest::SHA->new(1)->addfile($file, "b")->hexdigest : "-";
}

# Which tools there are, and which of their versions, as far as their files tell.
my $tools;
sub tools {
    return $tools //= join "\n", map {
        my $tool = $_;
        my ($path) = grep { -x } map { "$_/$tool" } split /:/, $ENV{PATH};
        join " ", $tool, $path ? ($path, (stat $path)[7, 9]) : "-";
    } map { (split)[0] } grep { $_ } @ENV{qw(CXX CC)}, qw(g++ gcc clang++ nvcc perl awk make pandoc gnuplot chromium clang-tidy
        clang-format cppcheck shellcheck qemu-aarch64 aarch64-linux-gnu-g++ python3);
}

# proof_of(ITEM, [FILES], TEXT ...): the name of the proof that ITEM is right, which depends on what these
# files hold and on the texts. The test that asks, tests/lib and the tools always count.
sub proof_of {
    my ($item, $files, @texts) = @_;
    my @all = ($0, sort(glob(dirname(__FILE__) . "/*.pm")), @$files);
    return Digest::SHA::sha1_hex(join "\n", $item, tools(), @texts, map { "$_ " . digest_of($_) } @all);
}

# With PROOFS=0 nothing is, and an old proof goes: what then fails is not to count as passed afterwards.
sub is_proven {
    my ($proof) = @_;
    unlink "$store/$proof" if ($ENV{PROOFS} // 1) eq "0";
    return -e "$store/$proof";
}

# ITEM of TEST, which is this one, is right, and it took so many CPU seconds to see it.
sub keep_proof {
    my ($proof, $item, $seconds, $test) = @_;
    $test //= $0 =~ s{.*/}{}r;
    make_path($store);
    open my $out, ">", "$store/$proof.$$" or die "$store/$proof: $!";
    printf $out "%s\t%.2f\t%s\n", $item, $seconds, $test;
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

# The version that a tool prints.
my %version;
sub version_of {
    my ($tool) = @_;
    return $version{$tool} //= `$tool --version 2>&1`;
}

# The lines of the file that $TEST_PLAN names: "KIND ITEM" for each item that is looked at, "changed FILE".
my $plan;
sub planned {
    if (!$plan) {
        open my $in, "<", $ENV{TEST_PLAN} or die "$ENV{TEST_PLAN}: $!";
        $plan = { map { chomp; $_ => 1 } <$in> };
    }
    return $plan->{ $_[0] };
}

# drawn(KIND, ITEMS): those that this run is to look at, in their order; without a plan all.
sub drawn {
    my ($kind, @items) = @_;
    return !$ENV{TEST_PLAN} ? @items : grep { planned("$kind $_") } @items;
}

# drawn_parts(KIND, OF, ITEMS): the same of what is drawn by eighths, and of files also those that have changed.
# OF is a step's number, or "all".
sub drawn_parts {
    my ($kind, $of, @items) = @_;
    return @items if !$ENV{TEST_PLAN};
    return @items[grep { planned("$kind $of." . $_ % 8) || planned("changed $items[$_]") } 0 .. $#items];
}

# The files that have changed, where this run looks at nothing but what depends on them; else none.
sub changed_alone {
    return if !$ENV{TEST_PLAN} || !planned("again");
    return sort map { /^changed (.*)/ ? $1 : () } keys %$plan;
}

# The files of the repository, as git knows them or would take them.
my @all;
sub all_files {
    @all = grep { -f } split /\0/, `git ls-files -z -co --exclude-standard 2>/dev/null` if !@all;
    @all = grep { !m{^(build|work)/} } map { s{^\./}{}r } split /\0/, `find . -type f -not -path './.git/*' -print0` if !@all;
    return @all;
}

# Files that the test FILE names as read, "# Reads: common/cpu tests/ptx", and those that all tests read. A test that
# names none reads everything.
sub files_read {
    my ($file) = @_;
    open my $in, "<", $file or die "$file: $!";
    my ($reads) = map { /^# Reads: (.*)/ } <$in>;
    return all_files() if !defined $reads;
    return grep { is_read($_, $file, qw(tests/lib common/make common/cpu Makefile book/book.mk), split " ", $reads) } all_files();
}

# Whether FILE is one of PLACES, files and folders, or lies in one.
sub is_read {
    my ($file, @places) = @_;
    return scalar grep { $file eq $_ || index($file, "$_/") == 0 } @places;
}

1;
