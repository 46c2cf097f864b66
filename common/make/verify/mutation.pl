#!/usr/bin/env perl
# mutation.pl SAMPLE SEED [FILE ...]: how many small changes of the sources do the checks notice?
# mutation.pl list FILE ...: prints the changes that can be made in these files, and tries none.
#
# SAMPLE changes are drawn by SEED from all that the operators below can make in kernels, in functions that
# launch them, and in the harness. A changed kernel is built into a step that uses it. The change is rejected
# if that step, on the CPU, computes something wrong, breaks a rule, or costs more than before: `try` requires
# the same of a reader. A change of the harness is rejected by tests/harness.t or, in common/problems, by a
# step. A change that does not compile is replaced by another draw. The others survive, and are printed: a
# case or a bound is missing, or the change has no effect, and then it belongs with its reason in
# tests/mutants/equivalent.tsv. Exit 1 below 95 %.
use strict;
use warnings;
use Fcntl qw(LOCK_EX);
use File::Temp qw(tempdir);
use lib qw(tests/lib common/make/verify);
use Source qw(masked bodies line_of);
use Workbook qw(slurp spew run scratch small_cases);

my ($sample, $seed, @only) = @ARGV;
my $lists = ($sample // '') eq 'list';
die "mutation: SAMPLE=$sample is no number of changes\n" if !$lists && ($sample // '') !~ /^[1-9]\d*$/;
$seed = time if ($seed // '') !~ /^\d+$/;
my $workers = $ENV{WORKERS} || 2;
my $most_steps = 4; # a header is tried in so many steps, the shortest first

# --- Where a change may be ------------------------------------------------------------------------
# Each operator: the code that it matches, and its replacements.
my %others = ('<' => ['<='], '<=' => ['<'], '>' => ['>='], '>=' => ['>'], '==' => ['!='], '!=' => ['=='],
    '+' => ['-'], '-' => ['+'], '*' => ['/'], '/' => ['*'], '%' => ['/'], '<<' => ['>>'], '>>' => ['<<'],
    '&&' => ['||'], '||' => ['&&'], '&' => ['|'], '|' => ['&'], '^' => ['|'], '+=' => ['-=', '='], '-=' => ['+='],
    '*=' => ['/=', '='], '/=' => ['*=']);
# True if the order of two statements can matter: one uses a variable that the other sets, or one of two calls
# synchronises. fence_registers() and the like are for nvcc.
my $synchronises = qr/^ *(?:\w+::)?\w*(?:sync|wait|fence|arrive|expect|commit|barrier)\w*(?:<\w+>)?\(/;
sub in_order {
    my ($a, $b) = @_;
    my ($set_a, $set_b) = map { /^ *(?:[\w:<>]+ )*\**([^=;()]*?) [-+*\/|&^]?= / ? $1 : undef } $a, $b;
    return 0 if grep { /^ *(?:fence_registers|CUDA_CHECK_LAUNCH|ask_for_all)\(/ } $a, $b;
    return ($a =~ $synchronises xor $b =~ $synchronises) if !defined $set_a && !defined $set_b;
    return (grep { defined && $b =~ /(?<!\w)\Q$_\E(?!\w)/ } $set_a) || (grep { defined && $a =~ /(?<!\w)\Q$_\E(?!\w)/ } $set_b);
}
# Calls whose two operands may be exchanged.
my $either_way = qr/\b(?:kf_alloc|strcmp|max|min|f(?:max|min)f?|swap)/;
my $statement = qr/^(?: {4})+[^ \n{}][^\n{}]*;\n/m; # on a line of its own
my @operators = (
    [constant => qr/(?<![\w.])(\d+)(?=[uUlL]*(?![\w.]))/, sub { ($_[0] + 1, $_[0] ? $_[0] - 1 : 1) }],
    [constant => qr/(?<![\w.])(\d+\.\d*(?:e[-+]?\d+)?)(?=f?(?![\w.]))/, sub {
        my $f = sprintf '%.9g', $_[0] == 0 ? 1 : $_[0] * 1.0001;
        ($f =~ /[.e]/ ? $f : "$f.0", $_[0] == 0 ? () : "0.0") }],
    [comparison => qr/(?<= )([<>]=?|[!=]=)(?= )/, sub { @{ $others{ $_[0] } } }],
    [arithmetic => qr{(?<= )([-+*/%&|^]|<<|>>|&&|\|\||[-+*/]=)(?= )}, sub { @{ $others{ $_[0] } } }],
    [index => qr/(?<=\w)\[([^\[\]\n]+)\]/, sub { ("$_[0] + 1") }],
    [barrier => qr/^ +((?:__sync|cp_async|wait_|fence|arrive|mbarrier|group_barrier|cudaGrid|named_)\w*\([^;\n]*\);)$/m,
        sub { (';') }],
    # (int64_t) matters in most places only from 2^31 elements of a head on, or from 2^32 of all where an
    # index is unsigned, and no case here has so many; (int) is for the compiler.
    [cast => qr/(\((?:float|double|half)\))(?=[\w(])/, sub { ('') }],
    [operands => qr/(?<=[\w)])(?<!$either_way)(\(([^(),\n]+), ([^(),\n]+)\))/, sub { my ($a, $b) = $_[0] =~ /\((.*), (.*)\)/; ("($b, $a)") }],
    [operands => qr/(?<!\w)(max|min|fmaxf|fminf|cosf|sinf|__shfl_xor_sync|__shfl_up_sync|__any_sync|__all_sync)(?=\()/, sub {
        my %other = (max => 'min', min => 'max', fmaxf => 'fminf', fminf => 'fmaxf', cosf => 'sinf', sinf => 'cosf',
            __shfl_xor_sync => '__shfl_up_sync', __shfl_up_sync => '__shfl_down_sync', __any_sync => '__all_sync',
            __all_sync => '__any_sync');
        ($other{ $_[0] }) }],
    [order => qr/($statement$statement)/, sub { my ($a, $b) = $_[0] =~ /^(.*\n)(.*\n)/;
        my ($in, $to) = map { /^( *)/ } $a, $b;
        $in eq $to && in_order($a, $b) ? ("$b$a") : () }],
    [left_out => qr/^ +((?!CUDA_CHECK_LAUNCH|return|break|continue|const |static |using |(?:unsigned |struct )?\w+ \**\w+(?: =|;|\[))[^ \n{}][^\n{}]*;)$/m,
        sub { (';') }],
);

# sites(FILE, ALL): [file, from, length, new text, operator], by operator.
sub sites {
    my ($file, $all) = @_;
    my $text = slurp($file);
    my $code = masked($text);
    my %by;
    for my $body (bodies($code, $all)) {
        my ($from, $to) = @$body;
        my $part = substr $code, $from, $to - $from;
        for my $operator (@operators) {
            my ($name, $what, $change) = @$operator;
            while ($part =~ /$what/g) {
                my ($at, $length) = ($-[1], $+[1] - $-[1]);
                my $old = substr $text, $from + $at, $length; # with its strings
                pos($part) = $at + 1 if $name eq 'order';
                push @{ $by{$name} }, [$file, $from + $at, $length, $_, $name] for $change->($old);
            }
        }
    }
    return \%by;
}

# A draw takes an operator first, so that the many constants do not crowd out the few barriers.
sub draw {
    my ($n, $by) = @_;
    my %left = map { $_ => [@{ $by->{$_} }] } keys %$by;
    my @drawn;
    while (@drawn < $n && (my @names = grep { @{ $left{$_} } } sort keys %left)) {
        my $of = $left{ $names[rand @names] };
        push @drawn, splice @$of, rand @$of, 1;
    }
    return @drawn;
}

# --- One change -----------------------------------------------------------------------------------
sub changed {
    my ($site) = @_;
    my ($file, $at, $length, $new) = @$site;
    my $text = slurp($file);
    substr($text, $at, $length) = $new;
    return $text;
}

# True if an index is a size, in a declaration of arrays.
sub declares {
    my ($site) = @_;
    return 0 if $site->[4] ne 'index';
    my $before = substr masked(slurp($site->[0])), 0, $site->[1];
    return $before =~ /[;{}]\s*(?:(?:__shared__|static|const|struct|alignas\(\w+\))\s+)*(?!return|else)\w+ (?:\*?\w+(?: = [^,;(){}]+)?, )*\*?\w+\[[^;={}]*\z/;
}

# Returns a change as its line number, the code there before and after, and the line before, as several lines
# may be equal. tests/mutants/equivalent.tsv identifies changes by the last three.
sub told {
    my ($site) = @_;
    my ($file, $at, $length, $new) = @$site;
    my $text = slurp($file);
    my $first = 1 + rindex $text, "\n", $at - 1;
    my $end = index $text, "\n", $at + $length - (substr($text, $at + $length - 1, 1) eq "\n" ? 1 : 0);
    my $was = substr $text, $first, $end - $first;
    my $now = changed($site);
    $now = substr $now, $first, $end - $first + length($new) - $length;
    my @before = grep { /\S/ } split /\n/, substr $text, 0, $first;
    my $before = @before ? $before[-1] : '';
    s/^\s+|\s+$//g, s/\s*\n\s*/ /g for $was, $now, $before;
    return (line_of($text, $at), $was, $now, $before);
}

# The steps that include FILE, or FOLDER/FILE, and what includes those.
my %included;
for my $file (glob 'steps/*/*.cu steps/*/*.cuh common/cuda/*.cuh common/neox/*.cuh') {
    (my $folder = $file) =~ s{/[^/]*$}{};
    for (slurp($file) =~ /^#include "([^"]+)"/mg) {
        my $name = -e "$folder/$_" ? "$folder/$_" : "common/$_";
        push @{ $included{$name} }, $file;
    }
}
# For a file of C: the steps that name one of its functions, or one of a file of C that does.
sub steps_of_c {
    my ($file) = @_;
    my $defines = sub { slurp($_[0]) =~ /^(?!static)\w[\w *]*?(\w+)\([^;{}]*\)\n\{/mg };
    my (%seen, @steps);
    my @todo = ($file);
    while (defined(my $one = shift @todo)) {
        next if $seen{$one}++;
        my $names = join '|', $defines->($one) or next;
        push @todo, grep { slurp($_) =~ /\b(?:$names)\(/ } glob 'common/problems/*.c';
        for my $source (glob 'steps/*/*.cu') {
            push @steps, $source if !$seen{$source} && slurp($source) =~ /\b(?:$names)\b/ && ++$seen{$source};
        }
    }
    return @steps;
}
# The steps in which tests/mutants notices a change of FILE.
sub steps_of_mutants {
    my ($file) = @_;
    my @rows = map { [split /\t/] } split /\n/, slurp('tests/mutants/mutants.tsv');
    return map { $_->[2] } grep { $_->[1] eq $file } @rows;
}
sub steps_of {
    my ($file) = @_;
    return steps_of_c($file) if $file =~ /\.c$/;
    my (%seen, @steps);
    my @todo = ($file);
    while (defined(my $one = shift @todo)) {
        next if $seen{$one}++;
        push @steps, $one if $one =~ /\.cu$/;
        push @todo, @{ $included{$one} || [] };
    }
    my %first = map { $_ => 1 } steps_of_mutants($file);
    my $number = sub { $_[0] =~ m{/(\d\d)-} ? $1 : '' };
    return sort { !$first{ $number->($a) } <=> !$first{ $number->($b) } || -s $a <=> -s $b } @steps;
}

if ($lists) {
    for my $by (map { sites($_, /\.c$/) } @ARGV[1 .. $#ARGV]) {
        for my $site (map { @{ $by->{$_} } } sort keys %$by) {
            next if declares($site);
            my ($line, $was, $now, $before) = told($site);
            print join("\t", $site->[4], $line, $was, $now, $before), "\n";
        }
    }
    exit;
}

my $temp = tempdir(CLEANUP => 1);
my %made = run('make -s programs BACKEND=cpu');
die "mutation: make programs: $made{err}" if $made{code};
chomp(my $programs = $made{out});

# With --check or --count, or '-c -O2': an object.
sub build {
    my ($dir, $source, $option, $harness, $out) = @_;
    my %r = run("common/cpu/cudacc -O1 $option -g0 -w -fno-exceptions -I'$dir/common' -Icommon -I'$dir' '$source' "
        . "$harness -o '$dir/" . ($out // 'step') . "'");
    return $r{code} == 0;
}

# True if a change of a step, or of a header of it, leaves the same code; undef if it does not compile. The
# unchanged code is built at the same place, as names of files are part of it, and is kept.
sub same_code {
    my ($dir, $step, $source) = @_;
    my ($folder) = $step =~ m{(.*)/};
    my $own = "$dir-" . ($folder =~ s{.*/}{}r) . ".o";
    build($dir, $source, '-c -O2', '', 'changed.o') or return undef;
    if (!-e $own) {
        run("mv '$dir' '$dir.changed'; mkdir -p '$dir/common' && cp -r common/cuda common/neox '$dir/common' && cp $folder/*.cu* '$dir'");
        build($dir, $source, '-c -O2', '', 'own.o') or die "mutation: $step does not compile\n";
        run("mv '$dir/own.o' '$own' && rm -rf '$dir' && mv '$dir.changed' '$dir'");
    }
    return slurp($own) eq slurp("$dir/changed.o") ? 1 : 0;
}
# The object of a file of C with this text, at PLACE.o; undef: it does not compile.
sub object_of {
    my ($place, $file, $text) = @_;
    my ($from) = $file =~ m{(.*)/};
    spew("$place.c", $text);
    my %r = run("gcc -std=c11 -O2 -Wall -Wextra -Werror -I$from -Icommon/cpu/include -Icommon -c '$place.c' -o '$place.o'");
    return $r{code} ? undef : slurp("$place.o");
}

# Returns the error of a program, or '' if it succeeds. A change may make it run for ever, so its processor
# time is limited to several times as many seconds as any step needs.
sub fails {
    my ($program, $seconds) = @_;
    my %r = run("ulimit -t $seconds; CUDACPU_WORKERS=2 $program --seed $seed");
    my ($why) = $r{err} =~ /^(?:\d\d-|check: )?(.*)/m;
    return $r{code} == 0 ? '' : $why || "code $r{code}";
}

# Builds a step with the change. Returns the reason for its rejection; '' if there is none; undef if it does
# not compile.
sub try_step {
    my ($dir, $step, $file, $text) = @_;
    my ($folder) = $step =~ m{(.*)/};
    my ($number) = $folder =~ /(\d\d)-/;
    run("rm -rf '$dir'; mkdir -p '$dir/common' && cp -r common/cuda common/neox '$dir/common' && cp $folder/*.cu* '$dir'");
    my $harness = "$programs/harness/*/*.o $programs/problems/*.o $programs/neox/*.o";
    if ($file =~ /\.c$/) {
        (my $object = $file) =~ s{common/(.*)\.c$}{$programs/$1.o};
        defined object_of("$dir/one", $file, $text) or return undef;
        $harness = join ' ', "'$dir/one.o'", grep { $_ ne $object } glob $harness;
    } else {
        spew($file =~ m{^\Q$folder\E/(.*)} ? "$dir/$1" : "$dir/$file", $text);
    }
    my ($source) = map { "$dir/" . s{.*/}{}r } $step;
    # The checks that most changes fail come first: small cases, then --check, then all cases that a CPU runs.
    if ($file !~ /\.c$/) {
        my $same = same_code($dir, $step, $source);
        return $same ? 'equivalent: the same machine code' : undef if !defined $same || $same;
    }
    build($dir, $source, '', $harness) or return undef;
    my $why = fails("'$dir/step' " . small_cases("'$dir/step'"), 100);
    return "run: $why" if $why;
    if (slurp($step) =~ /\.predicted/) { # a bug may show in only one order of threads
        $why = fails("CUDACPU_ORDER=reverse '$dir/step' " . small_cases("'$dir/step'"), 100);
        return "run in reverse: $why" if $why;
    }
    build($dir, $source, '--check', $harness, 'checks') or return undef;
    $why = fails("'$dir/checks'", 400);
    return "checked: $why" if $why;
    $why = fails("'$dir/step'", 400);
    return "run: $why" if $why;
    return '' if $file =~ /\.c$/;
    build($dir, $source, '--count', $harness) or return undef;
    my %r = run("sh common/make/reader/cost.sh step-$number '$dir/step'");
    return $r{code} == 1 ? 'counted: ' . ($r{out} =~ s/^\s+|\n.*//gsr) : '';
}

# The tests of a file, for the harness and a few headers of kernels. The tree is a copy, with the steps that
# harness.t uses.
sub tests_of {
    my ($file) = @_;
    return 'tests/harness.t' if $file =~ /harness/;
    (my $included = $file) =~ s{^common/}{};
    my @which = grep { slurp($_) =~ /^#include "\Q$included\E"/m } glob 'tests/*.t tests/harness/*.cu';
    return sort keys %{ { map { (s{/harness/.*}{/harness.t}r => 1) } @which } };
}
sub try_test {
    my ($tree, $file, $text, $test) = @_;
    my $was = -e "$tree/$file" ? slurp("$tree/$file") : undef;
    my %r = (code => 0);
    run("mkdir -p '$tree/" . ($file =~ s{/[^/]*$}{}r) . "'");
    spew("$tree/$file", $text);
    %r = run("cd '$tree' && make -s programs BACKEND=cpu") if defined $was;
    my $why = $r{code} ? undef : '';
    if (!$r{code}) {
        my $pid = open my $in, '-|', "cd '$tree' && exec timeout 600 perl $test 2>&1" or die $!;
        while (<$in>) {
            next if !/^not ok \d+ - (.*)|^(Bail out.*)/;
            $why = "$test: " . ($1 // $2);
            kill 'TERM', $pid;
            last;
        }
        close $in;
        $why = "$test ends with code " . ($? >> 8) if $why eq '' && $?;
    }
    defined $was ? spew("$tree/$file", $was) : run("rm -r '$tree/" . ($file =~ s{/[^/]*$}{}r) . "'");
    return $why;
}

sub try_site {
    my ($site, $worker) = @_;
    my $file = $site->[0];
    my $text = changed($site);
    my $why = '';
    return 'equivalent: a larger array' if declares($site);
    if ($file =~ /\.c$/) {
        my $object = object_of("$temp/one$worker", $file, $text) // return undef;
        return 'equivalent: the same machine code' if $object eq object_of("$temp/one$worker", $file, slurp($file));
        $why = try_test("$temp/tree$worker", $file, $text, 'tests/harness.t');
        return $why if !defined $why || $why ne '' || $file =~ /harness/;
    }
    my $tried = 0;
    for my $step (steps_of($file)) {
        $why = try_step("$temp/step$worker", $step, $file, $text);
        return $why if !defined $why;
        next if $why =~ /^equivalent/; # this step does not use the changed code
        return $why if $why ne '';
        last if ++$tried == $most_steps;
    }
    return $why if !$tried;
    for my $test ($file =~ /\.c$/ ? () : tests_of($file)) {
        $why = try_test("$temp/tree$worker", $file, $text, $test);
        return $why if !defined $why || $why ne '';
    }
    return '';
}

# --- All of them ----------------------------------------------------------------------------------
my @kernels = glob 'steps/*/*.cu steps/*/*.cuh common/cuda/*.cuh common/neox/*.cuh';
my @harness = glob 'common/harness/*/*.c common/problems/*.c';
if (@only) {
    my %wanted = map { $_ => 1 } @only;
    @kernels = grep { $wanted{$_} } @kernels;
    @harness = grep { $wanted{$_} } @harness;
}
my (%of_kernels, %of_harness);
for (\@kernels, \@harness) {
    my $into = $_ == \@kernels ? \%of_kernels : \%of_harness;
    for my $file (@$_) {
        my $by = sites($file, $_ == \@harness);
        push @{ $into->{$_} }, @{ $by->{$_} } for keys %$by;
    }
}
sub size { my ($by) = @_; my $n = 0; $n += @$_ for values %$by; return $n }
my ($n_kernels, $n_harness) = (size(\%of_kernels), size(\%of_harness));
srand $seed;
# More changes than SAMPLE: some do not compile. The harness gets a quarter.
my $quarter = !$n_kernels ? $sample : $n_harness ? int($sample / 4) : 0;
my %drawn = (kernel => [draw(3 * ($sample - $quarter), \%of_kernels)], harness => [draw(3 * $quarter, \%of_harness)]);
print "mutation: $n_kernels changes of kernels and $n_harness of the harness can be made;"
    . " $sample of them, make mutation SAMPLE=$sample SEED=$seed repeats it\n";

my %equivalent;
if (-e 'tests/mutants/equivalent.tsv') {
    for (split /\n/, slurp('tests/mutants/equivalent.tsv')) {
        my ($file, $before, $was, $now, $reason) = split /\t/;
        $equivalent{"$file\t$before\t$was\t$now"} = $reason if !/^#/;
    }
}

if ($quarter) {
    my $copy = scratch();
    run("mkdir -p $temp && mv '$copy' $temp/tree1 && cd $temp/tree1 && "
        . "ls -d steps/* | grep -v '/\\(0[03]\\|45\\)-' | xargs rm -rf");
    my %r = run("mkdir -p $temp/tree1/build && cp -a build/cpu $temp/tree1/build/ && "
        . "cd $temp/tree1 && make -s programs BACKEND=cpu");
    die "mutation: $r{err}" if $r{code};
    run("cp -a $temp/tree1 $temp/tree$_") for 2 .. $workers;
    # A test that fails without a change would reject all changes.
    %r = run("cd $temp/tree1 && perl tests/harness.t");
    die "mutation: tests/harness.t fails without a change: ", $r{out} =~ /^(not ok.*)/m, "\n" if $r{code};
}

# One line per change, as results come. MUTATION_LOG keeps the lines, and a change that has one is not tried
# again.
my $log_file = $ENV{MUTATION_LOG} || "$temp/log";
sub logged { return -e $log_file ? map { [split /\t/, $_, -1] } split /\n/, slurp($log_file) : () }
my %done = map { ("$_->[1] $_->[0]" => 1) } logged();
# The next number of a kind, for one worker.
sub take {
    my ($kind) = @_;
    open my $file, '+>>', "$temp/next-$kind" or die $!;
    flock $file, LOCK_EX;
    seek $file, 0, 0;
    my $next = <$file> // 0;
    truncate $file, 0;
    print $file $next + 1;
    close $file;
    return $next;
}
my @pids;
for my $worker (1 .. $workers) {
    my $pid = fork // die;
    if (!$pid) {
        open my $log, '>>', $log_file or die "$log_file: $!";
        $log->autoflush;
        for my $kind (['kernel', $sample - $quarter], ['harness', $quarter]) {
            my ($name, $wanted) = @$kind;
            while ($wanted > grep { $_->[1] eq $name } logged()) {
                my $i = take($name);
                my $site = $drawn{$name}[$i] or last;
                next if $done{"$name $i"};
                my ($line, $was, $now, $before) = told($site);
                my $why = exists $equivalent{"$site->[0]\t$before\t$was\t$now"} ? 'equivalent: listed' : try_site($site, $worker);
                next if !defined $why;
                print $log join("\t", $i, $name, $site->[4], "$site->[0]:$line", $was, $now, $why =~ tr/\t\n/  /r), "\n";
            }
        }
        require POSIX;
        POSIX::_exit(0);
    }
    push @pids, $pid;
}
waitpid $_, 0 for @pids;
my (%all, %rejected, $equivalents);
my %left = (kernel => $sample - $quarter, harness => $quarter);
for (sort { $a->[0] <=> $b->[0] } logged()) {
    next if $left{ $_->[1] }-- <= 0; # workers that were about to end
    my ($i, $kind, $operator, $where, $was, $now, $why) = @$_;
    if ($why =~ /^equivalent/) { $equivalents++; next }
    $all{$_}++, $rejected{$_} += $why ne '' for "all", "$kind: $operator";
    print "survives: $where ($operator)\n    - $was\n    + $now\n" if $why eq '';
}
for (sort keys %all) {
    printf "%-24s %4d of %4d rejected, %.1f %%\n", $_, $rejected{$_}, $all{$_}, 100 * $rejected{$_} / $all{$_};
}
print "beside these, ", $equivalents // 0, " change nothing: the same machine code, or in tests/mutants/equivalent.tsv\n";
exit($rejected{all} < 0.95 * $all{all} ? 1 : 0);
