#!/usr/bin/env perl
# scores.pl DIR [NAME ...]: how many faults of a public suite `cudacc --check` finds, and how many right programs it accuses.
# DIR is a checkout of a suite that this file knows; nothing of a suite is in this repository. With names, only the
# programs whose names contain one of them. `make scores SUITE=DIR` calls this.
#
# Writes build/data/cpu/scores-SUITE.tsv: a row for each input and label, and scores-SUITE-told.tsv: a row for each program
# and input whose verdict is not what its label says.
use strict;
use warnings;
use Cwd qw(abs_path getcwd);
use File::Basename qw(basename dirname);
use File::Path qw(make_path remove_tree);
use lib dirname(__FILE__) . "/../lib";
use Workbook;

my ($suite_dir, @only) = @ARGV;
sub stop { print STDERR "scores: $_[0]\n"; exit 2 }
stop("SUITE names no folder: make scores SUITE=DIR, DIR a checkout of a suite of tests/scores/README.md") if !defined $suite_dir || $suite_dir eq "";
stop("SUITE=$suite_dir: there is no such folder") if !-d $suite_dir;
$suite_dir = abs_path($suite_dir);
my $root = abs_path(dirname(__FILE__) . "/../..");
my $cudacc = "$root/common/cpu/cudacc --check -g1 -w";

# The label of a program is racy, faulty (another fault than a race), or clean.
# A suite: a file that it alone has; its programs, each { name, label, source, flags, inputs => [[NAME, ARGUMENTS], ...] };
# and whether each input has a score of its own. Otherwise what is found with any input is found.
sub files { my ($glob) = @_; return sort grep { -f } glob "'$suite_dir'/$glob" }

sub indigo {
    my @graphs = map { [basename($_, ".egr"), "$_ 256 1024"] } files("indigo/input/*.egr");
    return map {
        my $name = basename($_, ".cu");
        { name => $name, source => $_, flags => "-I$suite_dir/indigo/indigo_include", inputs => \@graphs,
            label => $name =~ /(atomic|guard|race|sync)Bug/ ? "racy" : $name =~ /boundsBug/ ? "faulty" : "clean" }
    } files("indigo/indigo_sources/*/*.cu");
}

sub scor {
    return map {
        my $name = basename($_, ".cu");
        { name => $name, source => $_, flags => "", inputs => [["-", ""]], label => $name =~ /^race_/ ? "racy" : "clean" }
    } files("microbenchmarks/src/*.cu");
}

# Its programs are all right. bfs and sssp begin at node 0; the last argument asks for the program's own verification.
sub indigo2 {
    my @graphs = files("small-inputs/*.egr");
    return map {
        my ($name, $kind) = (basename($_, ".cu"), basename(dirname($_)));
        my $arguments = $kind =~ /bfs|sssp/ ? "0 1" : $kind =~ /pr/ ? "" : "1";
        { name => $name, source => $_, flags => "-I$suite_dir/include", label => "clean",
            inputs => [map { [basename($_, ".egr") =~ s/undirected_all_possible_graph_//r, "$_ $arguments"] } @graphs] }
    } files("codes/cuda/*/*.cu");
}

# Kernels without a host: driver.cuh makes one. The first lines say pass or xfail, and the shape. No kernel runs with more
# than 1024 threads or 64 blocks. Left out: what is no program, as it calls functions that only GPUVerify has or that are
# defined nowhere; and an xfail for which its file names no race, assertion or divergence, as GPUVerify itself is the cause.
my $of_gpuverify = qr/\b__(?:enabled|other_int|axiom|requires_fresh_array|ptr_\w+|implies|no_read|no_write|return_val\w*|uniform_int|distinct_int|at_most_one|exclusive|all)\b/;
sub is_program {
    my ($text) = @_;
    my $code = $text =~ s{//[^\n]*|/\*.*?\*/}{}grs;
    return 0 if $code =~ $of_gpuverify;
    for my $name ($code =~ /^\s*(?:extern\s+)?(?:__device__\s+)?[\w*]+\s+(\w+)\([^(){};]*\);/mg) {
        return 0 if $code !~ /\b\Q$name\E\([^(){};]*\)\s*\{/;
    }
    return 1;
}
my %includes = (cooperative_groups => qr/cooperative_groups/, curand_kernel => qr/curand/);
sub gpuverify {
    my @programs;
    my ($at) = map { chomp; $_ } "$suite_dir/testsuite/CUDA";
    for my $file (map { chomp; $_ } `find '$at' -name '*.cu' | LC_ALL=C sort`) {
        my $text = slurp($file);
        my ($result, $why) = $text =~ m{\A//(pass|xfail)(?::(\w+))?}i or next;
        my ($comments) = $text =~ m{\A((?://.*\n|\s*\n)+)};
        next if !is_program($text) || lc $result ne "pass" && (($why // "") =~ /BUGLE|CLANG/ || $comments !~ /rac[ey]|Write by|assert|diverge/);
        my %shape = map { my $what = $_; ($what => [$text =~ m{^//.*--$what=\[?([\d,]+)}m ? split(/,/, $1) : 1]) } qw(blockDim gridDim);
        my @kernels = $text =~ /__global__\s+(?:__\w+__\s*(?:\([^)]*\))?\s*)*void\s+(?:__\w+__\s*(?:\([^)]*\))?\s*)*(\w+)\s*\(/g;
        my $block = join ", ", $shape{blockDim}[0] > 1024 ? 1024 : @{$shape{blockDim}};
        my $grid = join ", ", $shape{gridDim}[0] > 64 ? 64 : @{$shape{gridDim}};
        my ($flags) = $text =~ m{^//--.*?((?:\s-D\S+)+)}m;
        my $name = $file =~ s{^\Q$at\E/}{}r =~ s{/kernel\.cu$|\.cu$}{}r =~ tr{/}{-}r;
        push @programs, { name => $name, source => $file, flags => "-I" . dirname($file) . ($flags // ""), label => lc $result eq "pass" ? "clean" : $comments =~ /rac[ey]|Write by/ ? "racy" : "faulty",
            inputs => [["zeros", "0"], ["ones", "1"], ["block", $shape{blockDim}[0]]],
            host => "" . join("", map { $text =~ $includes{$_} ? "#include <$_.h>\n" : "" } sort keys %includes) . "#include \"$root/tests/scores/driver.cuh\"\n#include \"$file\"\nint main(int argc, char **argv)\n{\n"
                . "    const int scalar = atoi(argv[1]);\n    int failed = 0;\n"
                . join("", map { "    failed |= drive($_, dim3($grid), dim3($block), scalar);\n" } @kernels) . "    return failed;\n}\n" };
    }
    return @programs;
}

my %suites = (
    "indigo" => ["indigo/indigo_include/indigo_cuda.h", \&indigo, "each"],
    "scor" => ["microbenchmarks/src/race_interblock_blkatom.cu", \&scor],
    "indigo2" => ["codes/cuda/bfs-cuda", \&indigo2],
    "gpuverify" => ["testsuite/CUDA", \&gpuverify],
);
my ($suite) = grep { -e "$suite_dir/$suites{$_}[0]" } sort keys %suites;
stop("$suite_dir is no suite that tests/scores/README.md names") if !$suite;
my @programs = $suites{$suite}[1]->();
@programs = grep { my $name = $_->{name}; grep { index($name, $_) >= 0 } @only } @programs if @only;
stop("no program of $suite has @only in its name") if !@programs;

my $work = "$root/build/scores/$suite";
my $out = $ENV{SCORES_TO} // "$root/build/data/cpu";
remove_tree($work);
make_path($work, $out);
my ($cores) = `nproc 2>/dev/null || getconf _NPROCESSORS_ONLN` =~ /(\d+)/;
system("$cudacc --runtime-only") == 0 or exit 2;

# In parallel: one list of commands per kind of work.
sub in_parallel {
    my ($what, @commands) = @_;
    print STDERR "scores: $suite, ", scalar @commands, " $what\n";
    spew("$work/list", join "", map { "$_\n" } @commands);
    system("tr '\\n' '\\0' <'$work/list' | xargs -0 -n 1 -P $cores sh -c");
}
for my $p (@programs) {
    next if !$p->{host};
    spew("$work/$p->{name}.cu", $p->{host});
    $p->{source} = "$work/$p->{name}.cu";
}
in_parallel("programs", map { "$cudacc $_->{flags} '$_->{source}' -o $work/$_->{name} >$work/$_->{name}.log 2>&1" } @programs);
in_parallel("runs", map {
    my $p = $_;
    map { "timeout 60 $work/$p->{name} $_->[1] >/dev/null 2>'$work/$p->{name}.$_->[0].err'; echo \$? >'$work/$p->{name}.$_->[0].code'" } @{$p->{inputs}}
} grep { -x "$work/$_->{name}" } @programs);

# --- Verdicts ------------------------------------------------------------------------------------
my @rules = grep { $_->{counts} eq "ALWAYS" } check_rules();
my $rule = join "|", map { quotemeta $_->{name} } @rules;
my @verdicts = ("race", "other fault", "same value", "nothing", "hang", "not compiled");
my (%count, @told, %total);
for my $p (@programs) {
    my @inputs = map { $_->[0] } @{$p->{inputs}};
    for my $scored ($suites{$suite}[2] ? map({ [$_, $_] } @inputs) : ["all", @inputs]) {
        my ($input, @runs) = @$scored;
        my ($compiled, $hangs, $same, %found) = (1, 0, 0);
        for my $at (map { "$work/$p->{name}.$_" } @runs) {
            -e "$at.code" or $compiled = 0, next;
            $hangs ||= slurp("$at.code") == 124;
            $same ||= slurp("$at.err") =~ /^same value written: /m;
            $found{$_}++ for map { /^($rule): / } split /\n/, slurp("$at.err");
        }
        my $verdict = !$compiled ? "not compiled" : $hangs ? "hang" : grep({ / race$/ } keys %found) ? "race" : %found ? "other fault" : $same ? "same value" : "nothing";
        $count{$input}{$p->{label}}{$verdict}++;
        $total{$input}{$p->{label}}++;
        my $right = $p->{label} eq "racy" ? $verdict eq "race" : $p->{label} eq "clean" ? $verdict =~ /nothing|same/ : $verdict =~ /race|fault/;
        push @told, join "\t", $p->{name}, $input, $p->{label}, $verdict, join(", ", sort keys %found) || "-" if !$right;
    }
}
# A copy of a suite without its .git may say its commit in a file .commit.
my $suite_commit = -e "$suite_dir/.git" ? `git -C '$suite_dir' rev-parse --short=8 HEAD` : -e "$suite_dir/.commit" ? slurp("$suite_dir/.commit") : "-\n";
my $commit = `cd '$root' && sh common/make/gpu/commit.sh`;
my $date = `date +%Y-%m-%d`;
my $head = "# suite: $suite, commit $suite_commit# checker: cudacc --check, commit $commit# date: $date";
my @columns = map { tr/ /_/r } @verdicts;
my $rows = join "", map { my $input = $_; map {
    my $label = $_;
    join("\t", $suite, $input, $label, $total{$input}{$label}, map { $count{$input}{$label}{$_} // 0 } @verdicts) . "\n"
} sort keys %{$total{$input}} } sort keys %total;
my $table = join("\t", qw(suite input label programs), @columns) . "\n$rows";
print $table;
exit 0 if @only; # a part of a suite is no score
spew("$out/scores-$suite.tsv", $head . $table);
spew("$out/scores-$suite-told.tsv", $head . join("\t", qw(program input label verdict rules)) . "\n" . join "", map { "$_\n" } @told);
print "scores: rows are in " . ($out =~ s{^\Q$root\E/}{}r) . "/scores-$suite.tsv, and where label and verdict differ in scores-$suite-told.tsv\n";
