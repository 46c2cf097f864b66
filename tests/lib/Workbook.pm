package Workbook;
# Shared by the tests of the command line: running a command, and a copy of the tree to try it in.
use strict;
use warnings;
use Cwd qw(getcwd);
use Exporter qw(import);
use Fcntl qw(:flock);
use File::Spec::Functions qw(rel2abs);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use lib dirname(__FILE__), dirname(__FILE__) . "/../../common/make/verify";
use Plan;
use Proof;
use Source qw(masked bodies);
our @EXPORT = (qw(run spew slurp scratch scratch_dir small_tree tiny_step errors have
    small_cases header_says architecture too_large asked unknown_phrases has_model older_steps instrumented_programs tested_book check_rules), @Plan::EXPORT, @Proof::EXPORT);

# run(COMMAND, NAME => VALUE, ...): runs it by sh with these environment variables (undef: unset).
# Returns a hash: code, out, err. ARGS, BACKEND and ARCH are taken out, also of these: write them into the command.
sub run {
    my ($command, %env) = @_;
    local %ENV = (%ENV, %env);
    # prove may itself have been started by make.
    delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES ARGS BACKEND ARCH)};
    for (keys %env) { delete $ENV{$_} unless defined $env{$_} }
    my $dir = tempdir(CLEANUP => 1);
    my $status = system("sh", "-c", "{ $command\n} >'$dir/out' 2>'$dir/err' </dev/null");
    return (code => $status >> 8, out => slurp("$dir/out"), err => slurp("$dir/err"));
}

sub slurp {
    my ($file) = @_;
    open my $in, "<", $file or die "$file: $!";
    local $/;
    my $text = <$in>;
    return defined $text ? $text : "";
}

sub spew {
    my ($file, $text) = @_;
    (my $dir = $file) =~ s{/[^/]*$}{};
    make_path($dir) if $dir ne $file;
    open my $out, ">", $file or die "$file: $!";
    print $out $text;
    close $out or die "$file: $!";
}

sub have {
    my %r = run("command -v $_[0]");
    return $r{code} == 0;
}

# The small odd cases of the step PROGRAM, as arguments. Its kernels meet each of their conditions
# there, and a run takes a fraction of a second.
sub small_cases {
    my %r = run("$_[0] --list");
    my @small;
    while ($r{out} =~ /^  (\S+) +(B=\S+ H=.*)/mg) {
        my ($name, $text) = ($1, $2);
        my %n = $text =~ /\b(B|H|S|Sq|Sk|D)=(\d+)/g;
        my $work = $n{B} * $n{H} * ($n{Sq} || $n{S}) * ($n{Sk} || $n{S}) * ($n{D} || 1);
        # Of a model that is trained the shape does not tell the work.
        next if $name =~ /^(prompt|speech)$/ || $text =~ /only when named|no variant/;
        push @small, $name if $work < 2e6 && $text =~ /verified only/;
    }
    return join " ", map { "--case $_" } @small;
}

# The lines " * KEY: VALUE" in the header of the source of a step: the values.
sub header_says {
    my ($source, $key) = @_;
    return map { /^ \* \Q$key\E: (.*)$/mg } slurp($source) =~ m{\A(/\*.*?\*/)}s;
}

# The architecture that the step needs, by its header: 75, 80, 90 or 90a.
sub architecture { return (header_says($_[0], "Architecture"))[0] =~ s/,.*//r }

# The variants that such a device has too little shared memory for: " * Architecture: 75, without queries-8".
sub too_large { return map { / without (.*)/ ? split / /, $1 : () } header_says($_[0], "Architecture") }

# A header's requests to tests: " * Tests: PHRASE; PHRASE". A step without them is tested as all are.
my %phrases = (
    # It is about a function that kernels call, or about the host's way to a kernel met before.
    "no kernel" => qr/no kernel of its own/,
    # They are far fewer than 2^31 elements. A model's shapes are fixed, too.
    "fixed" => qr/(fixed) shapes/,
    # Also on other numbers of cores.
    "orders" => qr/case (\S+) is counted in all orders/,
    # A case in which --once, which marks no memory as unwritten, meets what others do not have.
    "once" => qr/case (\S+) also with --once/,
    # One of a kind, for qemu is slow: plain accesses, a race, half precision, tensor cores, a model.
    "aarch64" => qr/(also on aarch64)/,
    # clang++ makes more requests or fewer; common/cpu/instruments/README.md says why.
    "clang" => qr/(clang\+\+ counts other requests)/,
    "race" => qr/(\S+ races on \S+): wrong forward, right in reverse/,
    "in turn" => qr/(.+) add in turn/,
);

# asked(WHAT): number of a step => what its header says there, of all that ask for it.
sub asked {
    my ($what) = @_;
    my %source = steps();
    my %of = map { my $step = $_; map { /^$phrases{$what}$/ ? ($step => $1 // 1) : () } phrases($source{$step}) } keys %source;
    die "no step says $phrases{$what} in its header" if !%of;
    return %of;
}
sub phrases { return map { split /; / } header_says($_[0], "Tests") }
sub unknown_phrases { return grep { my $said = $_; !grep { $said =~ /^$_$/ } values %phrases } phrases($_[0]) }

# Whether the step is about the model: its shapes are then the model's.
sub has_model { return scalar grep { $_ eq "common/neox/layers.cuh" } files_of_step($_[0]) }

# The sources of steps that have other code for devices before compute capability 9.0: a branch on
# __CUDA_ARCH__ outside functions, or in one that a kernel calls, itself or by others. A step that
# needs 9.0 runs on no such device.
sub older_steps {
    return grep {
        my $source = $_;
        my ($folder) = m{(.*)/};
        my @files = $source;
        for my $file (@files) {
            for my $name (slurp($file) =~ /^#include "([^"]+)"/mg) {
                my ($found) = grep { -e } map { "$_/$name" } $file =~ m{(.*)/}, $folder, "common";
                push @files, $found if $found && !grep { $_ eq $found } @files;
            }
        }
        my $text = join "\n", map { slurp($_) } @files;
        my $code = masked($text);
        my $asks = qr/^#.*\b__CUDA_ARCH__\b/m;
        my $outside = () = $text =~ /$asks/g;
        my (@reached, @others);
        for (bodies($code, 1)) {
            my ($from, $to) = @$_;
            my $head = substr($code, 0, $from) =~ s/\A.*[;}]//sr;
            my ($name) = $head =~ /(\w+)\([^()]*\)\s*\{\n\z/;
            my $function = [$name // "", $head, substr($code, $from, $to - $from)];
            my $inside = () = substr($text, $from, $to - $from) =~ /$asks/g;
            $outside -= $inside;
            push @{ $inside ? \@reached : \@others }, $function;
        }
        for my $function (@reached) {
            push @reached, grep { $_->[2] =~ /\b$function->[0]\(/ } @others if $function->[0];
            @others = grep { my $f = $_; !grep { $_ == $f } @reached } @others;
        }
        ($outside || grep { $_->[1] =~ /__global__/ } @reached) && architecture($source) !~ /^9/;
    } glob("steps/[0-9][0-9]-*/*.cu");
}

# The rules of --check, in order: hashes of id, name, counts (ALWAYS, LEAKS, SUMS or NEVER) and meaning.
my $rules = rel2abs(dirname(__FILE__) . "/../../common/cpu/instruments/check/state/rules.h"); # a test may go elsewhere
sub check_rules {
    my $text = slurp($rules);
    my @rules;
    push @rules, { id => $1, name => $2, counts => $3, meaning => $4 }
        while $text =~ /^RULE\((\w+),\s*"([^"]+)",\s*(ALWAYS|LEAKS|SUMS|NEVER),\s*((?:"[^"]*"\s*)+)/mg;
    $_->{meaning} = join "", $_->{meaning} =~ /"([^"]*)"/g for @rules;
    my @entries = $text =~ /^RULE\((\w+)/mg;
    die "$rules: an entry is not RULE(identifier, \"name\", counts, \"meaning\" ...\n" if @rules != @entries || !@rules;
    return @rules;
}

# Lines of stderr besides make's own last words.
sub errors { return grep { !/^make(\[\d+\])?: \*\*\* / } split /\n/, $_[0] }

# Builds the book for tests, in a folder of theirs, which two tests may want at the same time: the
# second one finds it there. Returns what run does. Its pages are in build/tested/book/html.
sub tested_book {
    my (@goals) = @_;
    make_path("build/tested");
    open my $lock, ">", "build/tested/lock" or die "build/tested/lock: $!";
    flock $lock, LOCK_EX;
    return run(join(" && ", map { "make --no-print-directory $_" } @goals),
        BOOK_OUT => "build/tested/book", BOOK_CHARTS => "build/tested/charts");
}

sub scratch_dir { return tempdir(CLEANUP => 1) }

# instrumented_programs(count => [NUMBERS], check => [NUMBERS]): builds these steps with an instrument, and returns
# FOLDER: the programs are in FOLDER-count/ and FOLDER-check/, the harness in FOLDER/harness/.
sub instrumented_programs {
    my %numbers = @_;
    my %r = run("make -s programs BACKEND=cpu");
    die "make programs: $r{err}" if $r{code};
    chomp(my $folder = $r{out});
    my @wanted = map { my $how = $_; map { "$folder-$how/step-$_" } @{ $numbers{$how} } } sort keys %numbers;
    %r = run("make -s -j2 @wanted") if @wanted;
    die "make @wanted: $r{err}" if $r{code};
    return $folder;
}

# A copy of the files that git tracks, as they are in the working tree now: what a fresh clone would
# have if it were committed. With build => 1, what is built comes along. Its path has a blank in it.
sub scratch {
    my (%want) = @_;
    my $dir = tempdir("workbook XXXXXX", TMPDIR => 1, CLEANUP => 1);
    my $list = "find . \\( -path ./build -o -path ./work -o -path ./.git \\) -prune -o -type f -print";
    $list = "git ls-files -z | xargs -0 ls -d 2>/dev/null" if -e ".git" && have("git");
    $list = "{ $list; ls -d build; } 2>/dev/null" if $want{build};
    my %r = run("$list | tar -cf - -T - | tar -xf - -C '$dir'");
    die "no copy of the tree: $r{err}" if $r{code};
    return $dir;
}

# A copy of the tree without steps, whose harness is a few lines, for tests of what make does.
sub small_tree {
    my $dir = scratch();
    run("cd '$dir' && rm -rf steps common/harness common/problems common/cuda common/neox tests book chapters plots");
    spew("$dir/common/harness/harness.h", "void harness(void);\n");
    spew("$dir/common/harness/run/run.c", "#include \"harness/harness.h\"\nvoid harness(void)\n{\n}\n");
    spew("$dir/common/harness/run/kernel.cu", "__global__ void kernel()\n{\n}\n");
    spew("$dir/common/harness/run/ceilings.cu", "int main()\n{\n}\n");
    spew("$dir/common/cuda/own.h", "");
    return $dir;
}

# A step of a few lines that needs nothing of the harness.
sub tiny_step {
    my ($tree, $name, $title, $main, %more) = @_;
    (my $slug = $name) =~ s/^\d+-//;
    spew("$tree/steps/$name/$slug.cu", "/* $name: $title\n *\n * Grows from: "
        . ($more{from} || "nothing") . "\n" . ($more{header} || "") . " */\n"
        . "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
        . ($more{include} || "") . "int main(int argc, char **argv)\n{\n"
        . "    (void)argc;\n    (void)argv;\n$main}\n");
}

1;
