package Backend;
# Shared by the tests of the CPU backend: the compilers, the programs of tests/cpu/, and sources of a few
# lines. A test of it is run in the top folder.
use strict;
use warnings;
use Cwd qw(getcwd);
use Exporter qw(import);
use File::Basename qw(dirname);
use Test::More;
use lib dirname(__FILE__);
use Workbook qw(have scratch_dir slurp spew);
our @EXPORT = qw($root $cudacc $dir @cxx %cc @traced output build program source);

our ($root, $dir) = (getcwd(), scratch_dir());
our $cudacc = "$root/common/cpu/cudacc";
our %cc = ("g++" => "gcc", "clang++" => "clang");
our @cxx = grep { have($_) } qw(g++ clang++);
our @traced = $cxx[0] eq "g++" ? qw(--count --check) : (); # the instruments need g++
delete @ENV{qw(CUDACPU_ORDER CUDACPU_ASYNC CUDACPU_SEED CUDACPU_WORKERS)};

# Both streams of a command, and its exit code.
sub output {
    my $out = `{ $_[0]; } 2>&1`;
    return ($out, $? >> 8);
}

# Where build puts a program.
sub program {
    my ($name, $cxx, $option) = @_;
    return "$dir/$name-$cxx" . ($option // "");
}

# Builds programs of tests/cpu/, each [NAME, COMPILER, OPTION], two at a time: none says a word. Returns where
# they are.
sub build {
    my @jobs = map { [@$_[0, 1], $_->[2] // ""] } @_;
    my (%built, $list);
    for my $job (@jobs) {
        my ($name, $cxx, $option) = @$job;
        my $set = "CXX=$cxx CC=$cc{$cxx}";
        system("$set $cudacc $option --runtime-only") == 0 or BAIL_OUT("runtime")
            unless $built{"$cxx$option"}++;
        my $program = program(@$job);
        $list .= "cd tests/cpu && $set $cudacc -O1 $option -Wall -Wextra -Werror $name.cu -o $program >$program.log 2>&1\n";
    }
    open my $pipe, "|-", 'tr "\n" "\0" | xargs -0 -n 1 -P 2 sh -c' or die $!;
    print $pipe $list;
    close $pipe;
    for my $job (@jobs) {
        my $program = program(@$job);
        ok(-x $program && slurp("$program.log") eq "", "@$job compiles without a word") or diag(slurp("$program.log"));
    }
    return map { program(@$_) } @jobs;
}

# source(TEXT, SETTINGS, FLAGS): compiles file.cu of that text as $dir/prog. Returns what output does.
sub source {
    my ($text, $settings, $flags) = @_;
    spew("$dir/file.cu", $text);
    return output("cd $dir && " . ($settings // "") . " $cudacc -Wall " . ($flags // "") . " file.cu -o prog");
}

1;
