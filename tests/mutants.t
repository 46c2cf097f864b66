#!/usr/bin/env perl
# Planted bugs: each must be rejected, and by the check that the list names; and a program built with
# cudacc --check must find in it what the list says. See mutants/README.md.
# A mutant whose text no longer stands exactly once in its file fails too, in the first second: the
# list must be kept.
# `make test` builds and runs some, by its seed, and looks for the text of all. What was
# rejected before, on the same bytes, is not built again (lib/Proof.pm).
use strict;
use warnings;
use Digest::SHA;
use Fcntl qw(:flock);
use File::Path qw(remove_tree);
use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/lib";
use Workbook qw(check_rules have spew slurp drawn_parts proof_of is_proven keep_proof cpu_seconds);

# Text that the report must contain for each kind of check.
my %evidence = (
    'wrong'      => qr/^.*\b[1-9]\d* of \d+ elements wrong.*$/m,
    'inexact'    => qr/^.*\bis less exact than a right one: .*$/m,
    'NaN'        => qr/^.*\b[1-9]\d* of them NaN.*$/m,
    'guard'      => qr/^.*\bwritten (?:before|after) it: .*$/m,
    'input'      => qr/^.*\belements of the input \w+(?: were written|, which a kernel makes, are wrong).*$/m,
    'unwritten'  => qr/^.*\bunwritten: (?!none).*$/m,
    'predicted'  => qr/^.*\bNOT as predicted.*$/m,
    'divergence' => qr/^.*\bbarrier\b.*$/m,
    'mask'       => qr/^.*\bmask\b.*$/m,
    'illegal'    => qr/^.*\b(?:illegal (?:access|instruction)|integer division by zero)\b.*$/m,
    'invalid'    => qr/^.*\binvalid (?:configuration|argument)\b.*$/m,
    'waits'      => qr/^.*\bwaits in vain\b.*$/m,
    'deadlock'   => qr/^.*\bdeadlock: threads? .* waits? at .*$/m,
    'mbarrier'   => qr/^.*\b(?:stored over the mbarrier|parity \d+: need 0 or 1)\b.*$/m,
    'map'        => qr/^.*\bcuTensorMapEncodeTiled\b.*$/m,
    'repeats'    => qr/^.*\brepeats: \d+ runs, .*\bdiffers in\b.*$/m,
    'cost'       => qr/^  (?:costs more|left out|waits for more): .*$/m,
    'kernels'    => qr/^not ok .*$/m,
    'large-index'    => qr/^.*\billegal access\b.*$/m,
    'older'      => qr/^.*\b[1-9]\d* of \d+ elements wrong.*$/m,
);
my $classes = join '|', map { $_->{name} } grep { $_->{counts} ne 'NEVER' } check_rules();
# Its results may be right.
$evidence{checker} = qr/^.*\b(?:$classes): .*$/m;
my $workers = $ENV{TEST_TIMES} ? 1 : 2; # in the suite another test has the other core

chdir "$0/../.." || chdir "tests/.." or die;
my $list = 'tests/mutants/mutants.tsv';
open my $in, '<', $list or die "$list: $!";
my (@names, %mutant);
my @columns = split /\t/, scalar <$in> =~ s/\n//r;
while (my $line = <$in>) {
    chomp $line;
    my %row;
    @row{@columns} = split /\t/, $line, -1;
    push @names, $row{name} if !$mutant{ $row{name} };
    push @{ $mutant{ $row{name} } }, \%row; # several lines of one name are one mutant
}
# perl tests/mutants.t NAME ... tries only those.
@names = grep { my $name = $_; grep { $name eq $_ } @ARGV } @names if @ARGV;
my (%of_step, %tried);
push @{ $of_step{ $mutant{$_}[0]{step} } }, $_ for @names;
for my $step (sort keys %of_step) {
    my @of_step = @{ $of_step{$step} };
    $tried{$_} = 1 for @ARGV ? @of_step : drawn_parts("mutants", $step, @of_step);
}

# Before anything is built: an edit of a step or of a comment in it can take away the text of a mutant.
my @gone = map { (changed($_))[0] // () } @names;
print STDERR "# $_\n" for @gone;
print("1..1\nnot ok 1 - every mutant applies\n"), exit 1 if @gone;

my $programs = `make -s programs BACKEND=cpu 2>&1`; # where the CPU programs and the harness are
chomp $programs;
die "1..0 # make programs: $programs\n" if $? || !-d $programs;
my $temp = tempdir(CLEANUP => 1);
my $cxx = $ENV{CXX} // 'g++';
$ENV{CUDACPU_CACHE} = 0; # nobody will ask for these programs again
# The harness as one object without debug lines: each program is linked in a third of the time. It stands in
# build/, from where cudacc takes objects that no instrument sees.
my $harness = tempdir(DIR => 'build', CLEANUP => 1) . "/harness.o";
my $objects = "$programs/harness/*/*.o $programs/problems/*.o $programs/neox/*.o";
spew("$temp/left_out.c", <<'END');
#include <stdio.h>
#include <stdlib.h>
void left_out(const char *name)
{
    static const char *last;
    if (name != last) {
        FILE *file = fopen(getenv("LEFT_OUT"), "a");
        fprintf(file, "%s\n", name);
        fclose(file);
        last = name;
    }
}
END
system("cd $temp && cc -c left_out.c") == 0 && system("cc -r -nostdlib -Wl,-S $objects $temp/left_out.o -o $harness") == 0
    or die;
my ($linker) = map { "-fuse-ld=$_" } grep { have("ld.$_") } qw(gold lld);
my $flags = join ' ', qw(-O1 -g0 -w -fno-exceptions -fno-asynchronous-unwind-tables), $linker // ();
# A tenth of what g++ does. But whether x86 takes a misaligned address depends on the instruction that is chosen, so
# a plain program, which tells by that, has those of the step.
my $region = $cxx =~ /clang/ ? '' : '-fira-region=one';
# Every program depends on these. cudacc builds what is older than its sources.
system("common/cpu/cudacc --runtime-only --$_") == 0 or die for qw(check count);
my $harness_sum = Digest::SHA->new(1)->addfile($harness, 'b')->hexdigest; # its name is new each time
my @tools = ("$programs/rewriter", "$programs/runtime.o", "$programs/check.o", "$programs/count.o", 'common/cpu/cudacc',
    glob('common/cpu/compiler/driver/*'), grep { -f } glob('common/cpu/include/{,*/,*/*/,*/*/*/}*'));

# The files of the repository that the program of a step read, without what belongs to the CPU backend.
my %files_of;
sub files_of
{
    my ($step) = @_;
    return @{ $files_of{$step} //= do {
        my ($rule) = slurp("$programs/step-$step.d") =~ /^\S+: ((?:.*\\\n)*.*)/;
        my %seen;
        [grep { m{^(?:steps|common/(?!cpu/))} && !$seen{$_}++ } split /[\s\\]+/, $rule];
    } };
}

# A hint may quote the line it leads to. Other lines keep their numbers.
sub without_hints { return $_[0] =~ s{^[ \t]*// hint: .*\n(?:[ \t]*//    .*\n)*}{"\n" x ($& =~ tr/\n//)}gmer }

# Applies a mutant. Returns what went wrong, or undef and the new texts of its files.
sub changed
{
    my ($name) = @_;
    my %text;
    for my $edit (@{ $mutant{$name} }) {
        my $file = $edit->{file};
        $text{$file} //= slurp_if($file) // return "$name: there is no $file";
        my ($old, $new) = map { without_hints(s/\\n/\n/gr) } @$edit{qw(old new)};
        $text{$file} = without_hints($text{$file});
        my $times = () = $text{$file} =~ /\Q$old\E/g;
        return "$name: its text stands $times times in $file, and must stand once" if $times != 1;
        $text{$file} =~ s/\Q$old\E/$new/;
    }
    return (undef, %text);
}

# Returns (passed, line): the line is the evidence, or what went wrong.
sub try_mutant
{
    my ($name) = @_;
    return (1, 'applies; not drawn this time') if !$tried{$name};

    my @edits = @{ $mutant{$name} };
    my ($source) = glob "steps/$edits[0]{step}-*/*.cu";
    my (undef, %text) = changed($name);
    my $edit = $edits[0];
    my ($check, $step, $args) = @$edit{qw(check step args)};
    my ($folder) = $source =~ m{(.*)/};
    my @files = $check ne 'kernels' ? files_of($step)
        : glob("$folder/*.cu* common/cuda/* common/neox/*.{h,cuh} common/{harness,harness/*,problems}/*.h tests/harness/*");
    my @recorded = glob("plots/data/cpu/step-$step-* common/make/reader/cost.*");
    my $proof = proof_of($name, [@tools, @files, keys %text, @recorded], $harness_sum, $flags, $region,
        map { @$_{@columns} } @edits);
    return (1, 'passed before, and nothing of it has changed') if is_proven($proof);
    my $began = cpu_seconds();
    my $dir = "$temp/$name";
    my $whole = $check =~ /^(?:large-index|kernels)$/ || ($check eq 'illegal' && $edit->{finds} =~ /misaligned/);
    my @needed = $whole ? () : needed($step, $source, $args);
    copy_step($dir, $source, $whole ? 'all' : 'needed', \%text, @files);
    my ($passed, $line);
    while (1) {
        spew("$dir/left_out.h", left_out(@needed));
        $ENV{LEFT_OUT} = "$dir/left_out";
        ($passed, $line) = judge($dir, $edit, $source);
        my $more = slurp_if("$dir/left_out") or last;
        push @needed, needed_also($step, $args, $more); # it runs what the step does not
        unlink "$dir/left_out";
    }
    keep_proof($proof, "mutants $edits[0]{step} $name", cpu_seconds() - $began) if $passed;
    remove_tree($dir);
    return ($passed, $line);
}

# The names that a guarded function uses and calls: whether they have its own, and the object that writes it down.
sub left_out
{
    my $names = join '', map { "\"$_\", " } @_;
    return <<"END";
extern "C" __host__ __device__ void left_out(const char *name);
__host__ __device__ constexpr bool is_needed(const char *name)
{
    for (const char *needed : {$names""}) {
        const char *at = name;
        while (*at && *at == *needed)
            at++, needed++;
        if (*at == *needed)
            return true;
    }
    return false;
}
END
}

# Most of the time goes into g++, and most of what g++ compiles does not run with the arguments of a mutant: other
# variants, other widths of a head. So a kernel or launcher has its body only if its name is among those needed;
# a run writes down the names that are missing. In a step without KERNELS launchers write down that they ran.
sub guarded
{
    my ($code, $kernels) = @_;
    my $kernel = 'if constexpr (!is_needed(__PRETTY_FUNCTION__)) left_out(__PRETTY_FUNCTION__); else {';
    my $launcher = $kernels eq 'none' ? 'left_out(__PRETTY_FUNCTION__); {' : $kernel;
    my $function = qr/^((?:template|static|__global__|void|inline)\b[^;{}]*\bvoid\s+\w+\([^;{}]*\))\n\{\n(.*?)^\}/ms;
    $code =~ s!$function!
        my ($head, $body) = ($1, $2);
        my $guard = $head =~ /__global__/ ? $kernel : $head =~ /\bcudaStream_t\b/ ? $launcher : '';
        "$head\n{$guard\n$body}" . ($guard && '}')
    !eg;
    return $code;
}

# Writes the sources of a step, those of %$text in place of the files of these names, with 'all' KERNELS, the
# 'needed' ones or 'none'.
sub copy_step
{
    my ($dir, $source, $kernels, $text, @files) = @_;
    my ($folder) = $source =~ m{(.*)/};
    for my $file (grep({ !m{^common/(?:harness|problems)/|^tests/} } @files), keys %$text) {
        my $code = $text->{$file} // slurp($file);
        spew($file eq $source ? "$dir/step.cu" : $file =~ m{^\Q$folder\E/(.*)} ? "$dir/$1" : "$dir/$file",
            $kernels eq 'all' ? $code : guarded($code, $kernels));
    }
}

# Where the names of the kernels and launchers stand that a step needs with these arguments: (a lock on it, the step's
# folder, the file).
sub names_of
{
    my ($step, $args) = @_;
    my $dir = "$temp/step-$step";
    mkdir $dir;
    open my $lock, '>', "$dir/lock" or die "$dir/lock: $!";
    flock $lock, LOCK_EX;
    return ($lock, $dir, "$dir/" . ($args =~ s/\W/_/gr) . '.names');
}

# Those that a mutant needs besides, kept for the mutants that come after it.
sub needed_also
{
    my ($step, $args, $names) = @_;
    my ($lock, undef, $list) = names_of($step, $args);
    open my $out, '>>', $list or die "$list: $!";
    print $out $names;
    return split /\n/, $names;
}

# Those that the step itself needs. Without any kernel it is built and runs in a moment, and names them.
sub needed
{
    my ($step, $source, $args) = @_;
    my ($lock, $dir, $list) = names_of($step, $args);
    if (!-e $list) {
        if (!-e "$dir/step") {
            copy_step($dir, $source, 'none', {}, files_of($step));
            spew("$dir/left_out.h", left_out());
            build_step($dir, '--check');
        }
        system("LEFT_OUT='$list' timeout 60 '$dir/step' --seed 1 $args >/dev/null 2>&1");
    }
    my %seen;
    return grep { !$seen{$_}++ } split /\n/, slurp_if($list) // '';
}

# Builds and runs what stands in the folder. Returns (passed, line).
sub judge
{
    my ($dir, $edit, $source) = @_;
    my $check = $edit->{check};
    return dear_mutant($dir, $edit) if $check eq 'cost';
    return narrow_index($dir, $edit) if $check eq 'large-index';
    return inexact_kernel($dir, $edit, $source) if $check eq 'kernels';
    # A program that checks verifies as well, so one build serves both. But it passes over an illegal
    # access, which ends a plain program, and has no guards around its outputs.
    my $older = $check eq 'older' ? ' -D__CUDA_ARCH__=800' : '';
    my ($status, $report) = run_step($dir, $edit, '--check' . $older);
    return (0, $report) if !defined $status;
    my ($found, $what) = classes($report);
    ($status, $report) = run_step($dir, $edit, '') if $check =~ /^(?:illegal|guard|repeats)$/;
    return (0, $report) if !defined $status;
    my $right = $check eq 'repeats' ? 0 : 1; # each of the runs that differ is right
    return (0, 'survives') if $status == 0 && $right != 0;
    return (0, "ends with code $status, not $right: " . first_line("$dir/log")) if $status != $right;
    return (0, "is not caught by '$check': " . first_line("$dir/log"))
        if $report !~ $evidence{$check};
    my $line = $& =~ s/^\s+//r;
    return (0, "check finds '$found', not '$edit->{finds}': $what") if $found ne $edit->{finds};
    return (1, "check finds $found; $line");
}

# A mutant that is right, breaks no rule and does too much is found by its counts only, as in `make try`.
sub dear_mutant
{
    my ($dir, $edit) = @_;
    return (0, "needs '-' where others say what check finds") if $edit->{finds} ne '-';
    my $error = build_step($dir, '--count');
    return (0, $error) if $error;
    my $status = system("sh common/make/reader/cost.sh step-$edit->{step} '$dir/step' $edit->{args} >'$dir/log' 2>&1") >> 8;
    my $report = slurp_if("$dir/log") // die;
    return (1, $& =~ s/^\s+//r) if $status == 1 && $report =~ $evidence{cost};
    return (0, $status == 0 ? 'survives: it costs what the step does'
        : $status == 3 ? 'no counts are recorded of what it runs' : "ends with code $status: " . first_line("$dir/log"));
}

# Right wherever an int counts the elements: larger arrays tell.
sub narrow_index
{
    my ($dir, $edit) = @_;
    return (0, "needs '-' where others say what check finds") if $edit->{finds} ne '-';
    my $error = build_step($dir, '');
    return (0, $error) if $error;
    my $status = system("KF_LARGE_INDEX=1 timeout 60 '$dir/step' $edit->{args} >'$dir/log' 2>&1") >> 8;
    my $report = slurp_if("$dir/log") // die;
    return (0, $status == 0 ? 'survives' : "ends with code $status: " . first_line("$dir/log"))
        if $status != 1 || $report !~ $evidence{'large-index'};
    return (1, $& =~ s/^\s+//r);
}

# A mutant that no case of the step shows: a test program that runs its kernels one by one does.
sub inexact_kernel
{
    my ($dir, $edit, $source) = @_;
    return (0, "needs '-' where others say what check finds") if $edit->{finds} ne '-';
    my ($name) = $source =~ m{([^/]+)\z};
    rename "$dir/step.cu", "$dir/$name" or die;
    my $error = build_step($dir, "-I'$dir'", "tests/harness/$edit->{args}.cu");
    return (0, $error) if $error;
    my $status = system("CUDACPU_ORDER=$edit->{order} timeout 60 '$dir/step' >'$dir/log' 2>&1") >> 8;
    my $report = slurp_if("$dir/log") // die;
    return (0, "ends with code $status, before its last line: " . first_line("$dir/log"))
        if $status != 0 || $report !~ /^1\.\.\d+$/m;
    return $report =~ $evidence{kernels} ? (1, $&) : (0, "survives: $edit->{args} is content");
}

# Builds the changed step; returns what went wrong, or nothing. Most of the time goes into the compiler,
# so it gives neither the fastest code nor lines. Not -Og: it copies structures where the instrument
# does not look. ld links in 0.06 s, gold in 0.02.
sub build_step
{
    my ($dir, $option, $source) = @_;
    $source //= "$dir/step.cu";
    my $log = "$dir/log";
    my $more = $option =~ /--/ ? $region : '';
    return system("common/cpu/cudacc $option $flags $more -I'$dir/common' -Icommon -include '$dir/left_out.h' '$source' "
            . "$harness -o '$dir/step' >'$log' 2>&1") == 0
        ? '' : 'does not compile: ' . first_line($log);
}

# Builds the changed step and runs it. Returns its exit code and what it printed, or undef and why.
sub run_step
{
    my ($dir, $edit, $option) = @_;
    my $log = "$dir/log";
    my $error = build_step($dir, $option);
    return (undef, $error) if $error;
    my $command = "CUDACPU_ORDER=$edit->{order} timeout 60 '$dir/step' --seed 1 $edit->{args}";
    # Blocks finish in another order each time where many run at once and pause; in another one by each seed.
    $command = "for seed in 1 2 3 4; do CUDACPU_WORKERS=8 CUDACPU_STAGGER=20 CUDACPU_SEED=\$seed $command "
        . "--repeats '$dir/repeats' || exit; done" if $edit->{check} eq 'repeats' && !$option;
    my $status = system("{ $command; } >'$log' 2>&1") >> 8;
    return ($status, slurp_if($log) // die);
}

# The findings of the checks beyond those that a variant of the step must have: classes in a row or '-', and
# the first finding.
sub classes
{
    my ($report) = @_;
    my ($predicted, $first, %class) = (0, '');
    for (split /\n/, $report) {
        $predicted = /, as predicted$/ if /^  variant /;
        next if !/^( *)((?:$classes)): / || ($1 && $predicted);
        $class{$2} = 1;
        $first ||= $_ =~ s/^ +//r;
    }
    return (join(', ', sort keys %class) || '-', $first || 'no finding');
}

sub slurp_if
{
    my ($file) = @_;
    open my $f, '<', $file or return undef;
    local $/;
    return scalar <$f>;
}

sub first_line
{
    my ($file) = @_;
    open my $f, '<', $file or return '';
    return join ' | ', map { chomp; $_ } grep { defined && /\S/ } (<$f>)[0 .. 3];
}

print '1..', scalar(@names), "\n";
# Each worker takes the next one of the list from this pipe.
pipe my $next, my $numbers or die;
print $numbers pack '(N)*', 0 .. $#names;
close $numbers;
my @pids;
for my $worker (1 .. $workers) {
    my $pid = fork // die;
    if ($pid == 0) {
        while (sysread $next, my $number, 4) {
            my $i = unpack 'N', $number;
            my ($passed, $line) = try_mutant($names[$i]);
            spew("$temp/$i.result", $passed ? "ok\t$line" : "not ok\t$line");
        }
        require POSIX;
        POSIX::_exit(0);
    }
    push @pids, $pid;
}
waitpid $_, 0 for @pids;
my $failed;
for my $i (0 .. $#names) {
    my ($verdict, $line) = ('not ok', 'no result');
    if (open my $f, '<', "$temp/$i.result") {
        ($verdict, $line) = split /\t/, join('', <$f>), 2;
    }
    $line =~ s/#/no. /g;
    my $said = sprintf '%s (%s): %s', $names[$i], $mutant{ $names[$i] }[0]{check}, substr $line, 0, 160;
    printf "%s %d - %s\n", $verdict, $i + 1, $said;
    next if $verdict eq 'ok';
    $failed = 1;
    print STDERR "# $said\n"; # prove shows the number alone
}
exit($failed ? 1 : 0);
