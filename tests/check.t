#!/usr/bin/env perl
# cudacc --check finds every planted fault of check/ and async-faults/, names its line, and says nothing of the fixed versions.
# The examples of common/cpu/instruments/README.md and MEMORY-MODEL.md print what stands there.
# Reads: common/cuda common/harness tests/check tests/async-faults tests/cpu plots/data
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename;
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__) . "/lib";
use Workbook;

my $root = abs_path(dirname(__FILE__) . "/..");
my $cudacc = "$root/common/cpu/cudacc --check";
my $dir = tempdir(CLEANUP => 1);
my @rules = map { $_->{name} } grep { $_->{counts} ne "NEVER" } check_rules();
# Their faults are no programs of check/: of cpu.t, of instrument.t, and below.
my %elsewhere = map { $_ => 1 } "child race", "unordered sum", "host access", "host variable";
my $rule = join "|", @rules;
chdir "$root/tests/check" or die "tests/check: $!";
delete @ENV{qw(CUDACPU_ORDER CUDACPU_ASYNC CUDACPU_SEED CUDACPU_WORKERS CUDACPU_BY_LINE)};
$ENV{CUDACPU_LEAKS} = 1; # leaks are findings

# Runs shell commands, two at a time: every second one by the same shell.
sub in_pairs {
    my @half = ("", "");
    $half[$_ % 2] .= "$_[$_]\n" for 0 .. $#_;
    spew("$dir/half-$_", $half[$_]) for 0, 1;
    run("sh $dir/half-0 & sh $dir/half-1; wait");
}

# --- The suite as it is written ------------------------------------------------------------------
my %source = map { m{([^/]+)\.cu$} ? ($1 => $_) : () } glob("*.cu ../async-faults/*.cu");
my @files = sort keys %source;
run("$cudacc --runtime-only");
in_pairs(map { "$cudacc -g1 -Wall -Wextra -Werror $source{$_} -o $dir/$_ >$dir/$_.log 2>&1" } @files);
my (@faults, %marks);
for my $file (@files) {
    my $text = slurp($source{$file});
    my ($of) = $text =~ /^    return suite\("($rule)", list, argc, argv\);$/m;
    ok($of, "$file.cu has the faults of one rule") or next;
    my @table;
    push @table, { file => $file, name => $2, rule => $of, kind => lc $1 }
        while $text =~ /^        (PLAIN|SUBTLE)\((\w+),/mg;
    push @faults, @table;
    ok(-x "$dir/$file" && slurp("$dir/$file.log") eq "", "$file.cu compiles without a word")
        or diag(slurp("$dir/$file.log"));
    my %r = run("$dir/$file --list");
    my @listed = map { [split /\t/, $_, -1] } split /\n/, $r{out};
    is(scalar(grep { @$_ != 4 || $_->[3] eq "" } @listed), 0, "$file --list has four columns")
        or diag($r{out}, $r{err});
    is_deeply([map { [@$_[0 .. 2]] } @listed], [map { [@$_{qw(name rule kind)}] } @table],
        "$file --list has the faults of its table");
    %r = run("$dir/$file no_such_fault right");
    ok($r{code} == 2 && $r{err} =~ /^no fault named no_such_fault here[^\n]*\n/,
        "$file: an unknown name") or diag($r{err});

    my ($line, %planted, @unmarked) = (0);
    for (split /\n/, $text) {
        $line++;
        $planted{$1}++ if /\/\/ fault here: (\w+)$/;
        if (my ($kind, $names) = /\/\/ (fault|seen) here: (\w+(?:, \w+)*)$/) {
            $marks{$_}{"$file.cu:$line"} = $kind for split /, /, $names;
        }
        # Elsewhere the parameter is only declared and passed on.
        my $code = s{//.*|^ *(/\*| \*).*}{}r =~ s/template <bool fault.*>|\w+<fault>//gr;
        push @unmarked, $line if $code =~ /\bfault\b/ && !/\/\/ fault here/;
    }
    is_deeply(\%planted, { map { $_->{name} => 1 } @table }, "$file.cu: one line is marked for each fault");
    is("@unmarked", "", "$file.cu: no other line tells a fault from its fixed version");
}
my $subtle = grep { $_->{kind} eq "subtle" } @faults;
cmp_ok(scalar @faults, ">=", 40, "at least 40 faults");
cmp_ok($subtle, ">=", @faults / 2, "at least half of them are subtle");
is_deeply([grep { my $one = $_; !grep { $_ eq $one } @rules } sort keys %elsewhere], [], "no rule that is gone");
for my $one (grep { !$elsewhere{$_} } @rules) {
    cmp_ok(scalar(grep { $_->{rule} eq $one } @faults), ">=", 4, "at least four of: $one");
}
my %names = map { $_->{name} => 1 } @faults;
is(scalar keys %names, scalar @faults, "no name is used twice");
# The faults of which the book's tables speak are faults of the suite.
for my $recorded (glob "$root/plots/data/*/check-suite.tsv") {
    my ($columns, @rows) = grep { !/^#/ } split /\n/, slurp($recorded);
    my @gone = grep { !$names{$_} } map { (split /\t/)[0] } @rows;
    is("@gone", "", "$recorded has no row of a fault that is gone");
}
# The table in async-faults/README.md is what the rows say.
my ($columns, @recorded) = map { [split /\t/] } grep { !/^#/ } split /\n/, slurp("$root/plots/data/nvidia-h200/check-suite.tsv");
my %row = map { $_->[0] => $_ } @recorded;
my %sum;
for my $one (grep { $source{$_->{file}} =~ /async-faults/ } @faults) {
    my $row = $row{$one->{name}} or next;
    my @adds = (1, map { $row->[$_] =~ /^(?:found|other)$/ ? 1 : 0 } 3 .. $#$columns);
    for my $to ($one->{file}, "all") { $sum{$to}[$_] += $adds[$_] for 0 .. $#adds }
}
my %printed = slurp("$root/tests/async-faults/README.md") =~ /^\| ([\w-]+) \| (\d+(?: \| \d+)*) \|$/mg;
is_deeply(\%printed, { map { $_ => join " | ", @{$sum{$_}} } keys %sum }, "async-faults/README.md has the scores that are recorded");
is_deeply([grep { !$names{$_} } sort keys %marks], [], "no mark without a fault");

# --- Every fault and every fixed version ---------------------------------------------------------
my %runs = (
    fault => ["forward", "again", "reverse", "random"],
    right => ["forward", "reverse", "random"],
);
# An asynchronous copy takes effect when it is issued, or at some time, instead of at the wait; a fixed version does
# so in each order of threads.
my %modes = (early => "forward CUDACPU_ASYNC=early", sometime => "random CUDACPU_ASYNC=random");
my %more = (%modes, map { my $mode = $_; map { ("$_-$mode" => "$_ CUDACPU_ASYNC=$mode") } @{$runs{right}} }
    qw(early random));
sub orders {
    my ($f, $which) = @_;
    my $asynchronous = $f->{rule} =~ /pending|wgmma|proxy|mbarrier|descriptor/;
    return (@{$runs{$which}}, !$asynchronous ? () : sort keys %{$which eq "right" ? \%more : \%modes});
}
my @commands;
for my $f (@faults) {
    for my $which (sort keys %runs) {
        for my $order (orders($f, $which)) {
            my $set = $order eq "again" ? "forward CUDACPU_WORKERS=1" : $more{$order} // $order;
            my $at = "$dir/$f->{name}.$which.$order";
            push @commands, "CUDACPU_ORDER=$set timeout 60 $dir/$f->{file} $f->{name} $which "
                . ">$at.out 2>$at.err; echo \$? >$at.code";
        }
    }
}
in_pairs(@commands);

# The report of a run: its exit code, its findings, the last line.
sub said {
    my ($at) = @_;
    my $err = slurp("$dir/$at.err");
    my @lines = split /\n/, $err;
    return (code => slurp("$dir/$at.code") + 0, err => $err, out => slurp("$dir/$at.out"),
        last => @lines ? $lines[-1] : "", findings => [grep { /^($rule): / } @lines]);
}

for my $f (@faults) {
    my $name = $f->{name};
    for my $order (orders($f, "fault")) {
        my %r = said("$name.fault.$order");
        my @findings = @{$r{findings}};
        my $places = join "|", map { quotemeta } sort keys %{$marks{$name}};
        my @here = grep { /(^|[^\w.-])($places)\b/ } @findings;
        my @wrong;
        push @wrong, "exit code $r{code}" if $r{code} != 1;
        push @wrong, "no finding" if !@findings;
        push @wrong, "of another rule: $_" for grep { !/^\Q$f->{rule}\E: / } @findings;
        push @wrong, "not of the form: $_"
            for grep { !/^($rule): \S.*?[\w.-]+\.cuh?:\d+.*$/ || /\((0|1) times\)$/ } @findings;
        push @wrong, "none at $places" if @findings && !@here;
        my $count = $r{last} =~ /^check: (\d+) finding(?:s of \d+ rules?)?: [a-z ,]+$/ ? $1 : -1;
        push @wrong, "last line: $r{last}" if $count != @findings;
        is(join("\n", @wrong), "", "$f->{rule}: $name is found, $order") or diag($r{out}, $r{err});
    }
    is(slurp("$dir/$name.fault.again.err"), slurp("$dir/$name.fault.forward.err"),
        "$f->{rule}: $name, two runs say the same");
    for my $order (orders($f, "right")) {
        my %r = said("$name.right.$order");
        ok($r{code} == 0 && !@{$r{findings}} && $r{last} eq "check: no findings",
            "no $f->{rule}: the fixed version of $name, $order") or diag("exit code $r{code}\n", $r{out}, $r{err});
    }
}

# --- What is no fault, or a milder one -----------------------------------------------------------
my $leak = qr/leak: 24 bytes, allocated at \S+:26, are never freed/;
my $same = qr/same value written: write at \S+:83 .* and write at \S+:83 .*/;
my $ended = qr/barrier divergence: lane [4-7] reads lane \d+, which has ended, in __shfl_down_sync at \S+:114: .* stores at \S+:114 by thread \(3[6-9],0,0\); .* \(4 times\)/;
my $fewer = qr/fewer threads: 40 of the block's 64 threads come to the barrier at \S+:104, .* kernel leave/;
my @judged = (
    ["memory of kernels, by new and delete", "list", 0],
    ["memory of kernels, by malloc and free", "scratch", 0],
    ["nobody deletes it", "lost", 1, $leak],
    ["nobody deletes it, and nobody asks for leaks", "lost", 0, $leak, "CUDACPU_LEAKS=0"],
    ["past what malloc gave", "past", 1, qr/out of bounds: .* 0 bytes past the end of the allocation of \S+:41 .*/],
    ["freed twice", "twice", 1, qr/freed memory: .* the allocation of \S+:41 .*/],
    ["what malloc gave is not written", "unwritten", 1, qr/uninitialised read: .* the allocation of \S+:41 .*/],
    ["a sum of doubles by compare-and-swap", "doubles", 0],
    ["the same in shared memory", "doubles-", 0],
    ["a plain load, and an atomic that is no compare-and-swap", "looks", 1, qr/global race: .*/],
    ["a compare-and-swap of another value than was loaded", "blind", 1, qr/global race: .*/],
    ["several threads write the same value", "same", 0, $same],
    ["and other threads another", "different", 1, qr/global race: .*/],
    ["several lines of a race are one", "both", 1, qr/global race: .*/],
    ["a read in front of an allocation", "before", 1, qr/out of bounds: .* 4 bytes 4 bytes before the allocation of \S+:144 .*/],
    ["threads leave before __syncthreads", "leave-0", 0, $fewer],
    ["the first ones", "leave-6", 0, $fewer],
    ["before __syncwarp", "leave-1", 0],
    ["before a vote", "leave-2", 0],
    ["before a shuffle that reads a lane which is there", "leave-3", 0],
    ["before a barrier of those that are left", "leave-5", 0],
    ["before a shuffle that reads them", "leave-4", 1, $ended],
    ["and nobody stores what comes of it", "leave-7", 0, qr/undefined shuffle: lane 4 reads lane 8, which has ended, in __shfl_down_sync at \S+:115: the value is undefined, .*/],
    ["a sum of half a warp, the other half out of the mask", "half-0", 0, qr/undefined shuffle: lane 8 reads lane 16, which mask 0x0000ffff leaves out, in __shfl_down_sync at \S+:129: .*/],
    ["and the others store something else", "half-3", 0, qr/undefined shuffle: lane 8 reads lane 16, which mask 0x0000ffff leaves out, in __shfl_down_sync at \S+:129: .*/],
    ["or ended, and lane 0 tells the others", "half-1", 0, qr/undefined shuffle: lane 8 reads lane 16, which has ended, in __shfl_down_sync at \S+:129: .*/],
    ["and the sum goes down to a lane that stores", "half-2", 1, qr/barrier divergence: lane 8 reads lane 16, which has ended, in __shfl_down_sync at \S+:129: .* stores at \S+:132 by thread .*/],
);
my %built = run("$cudacc -g1 ../cpu/judged.cu -o $dir/judged");
is("$built{code} $built{err}", "0 ", "judged.cu compiles");
for my $case (@judged) {
    my ($title, $what, $code, $line, $set) = @$case;
    for my $order (qw(forward reverse random)) {
        my %r = run("CUDACPU_ORDER=$order " . ($set // "") . " timeout 60 $dir/judged $what");
        my @said = grep { !/^(kernel|check:) / } split /\n/, $r{err};
        my $right = $line ? @said == 1 && $said[0] =~ /^$line$/ : !@said;
        ok($r{code} == $code && $right, "$title, $order") or diag("exit code $r{code}\n", $r{out}, $r{err});
    }
}
my %aborts = run("timeout 60 $dir/judged aborts 2>&1 | cat");
like($aborts{out}, qr/^uninitialised read: .*\ncheck: 1 finding: uninitialised read$/m, "a program that aborts tells what was found");
my %said = run("CUDACPU_LEAKS= $dir/judged lost");
like($said{err}, qr/^check: no findings, 1 warning$/m, "what is told and does not count is a warning");
%said = run("$dir/judged refused");
my ($work, $call) = map { qr/failed $_: the call at \S+/ } "work", "call";
like($said{err}, qr/^$work:189 returns cudaErrorInvalidValue: invalid argument
$call:190 returns cudaErrorInvalidDevice: .*
$call:192 returns cudaErrorInvalidValue: invalid argument
$call:192 returns cudaErrorMemoryAllocation: .*
$work:195 returns cudaErrorInvalidValue: invalid argument
check: 2 findings of 1 rule: failed work; 3 warnings$/m, "calls that fail and nobody asks, once for each place");

# A loop that never ends is stopped and named, by check and by count; a lock that nobody gives back too. One that needs
# long is not, though all that changes is one word of memory.
spew("$dir/loops.cu", <<'END');
#include <cstdio>
#include <ctime>
__device__ __forceinline__ bool is_set(const volatile int *p)
{
    return *p != 0;
}
__global__ void waits(const volatile int *p)
{
    int look = threadIdx.x;
    while (!is_set(&p[look]))
        look ^= 1;
}
__global__ void takes(int *lock)
{
    while (atomicCAS(lock, 0, 1) != 0) {
    }
}
__global__ void needs_long(volatile int *p, time_t end)
{
    while (time(0) < end)
        *p = *p + 1;
}
int main(int, char **argv)
{
    int *p;
    cudaMalloc(&p, 256);
    cudaMemset(p, argv[1][0] == 't', 256);
    if (argv[1][0] == 'w')
        waits<<<2, 32>>>(p);
    else if (argv[1][0] == 't')
        takes<<<1, 1>>>(p);
    else
        needs_long<<<1, 1>>>(p, time(0) + 14);
    puts(cudaGetErrorName(cudaDeviceSynchronize()));
    cudaFree(p);
}
END
for my $with ("check", "count") {
    my %built = run("cd $dir && $root/common/cpu/cudacc --$with -w loops.cu -o loops-$with");
    is("$built{code} $built{err}", "0 ", "loops.cu compiles with --$with");
    run("cd $dir && for how in waits takes long; do timeout 100 ./loops-$with \$how >$with-\$how 2>&1; echo \$? >>$with-\$how & done; wait");
    my $code = $with eq "check" ? 1 : 0;
    my $said = slurp("$dir/$with-waits");
    my $loop = qr/thread \(\d+,0,0\) does not leave the loop at loops\.cu:1[01]\b/;
    like($said, qr/^kernel waits \(launched at loops\.cu:\d+\), block \(\d,0,0\): $loop/m, "--$with names the loop");
    like($said, qr/^waits in vain: $loop.*^check: 1 finding: waits in vain$/ms, "and it is a finding") if $code;
    like($said, qr/^cudaErrorLaunchTimeout\n(?:.*\n)?$code\n/ms, "and the launch has failed");
    # An atomic that finds the same value over and over waits for another thread.
    $said = slurp("$dir/$with-takes");
    my $spin = qr/thread 0 spins on a value that does not change/;
    like($said, qr/^kernel takes \(launched at loops\.cu:\d+\), block \(0,0,0\): waits in vain: $spin/m, "--$with says what spins");
    like($said, qr/^waits in vain: $spin, after loading 16843009 at loops\.cu:15: .*^check: 1 finding: waits in vain$/ms, "and it is a finding") if $code;
    like($said, qr/^cudaErrorLaunchFailure\n(?:.*\n)?$code\n/ms, "and the launch has failed");
    my $long = slurp("$dir/$with-long");
    ok($long =~ /^cudaSuccess$/m && $long =~ /^0$/m && $long !~ /does not leave/, "--$with does not stop what needs long") or diag($long);
}

# --- A reader's own program ----------------------------------------------------------------------
# With n = 64, thread 63 reads x[64].
my $reader = <<'END';
#include <cstdio>
__global__ void shift(const int *x, int *y, int n)
{
    int i = threadIdx.x;
    if (i < LAST)
        y[i] = x[i + 1];
}
int main()
{
    const int n = 64;
    int *x, *y, h[n];
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&y, n * sizeof(int));
    for (int i = 0; i < n; i++)
        h[i] = i;
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemset(y, 0, n * sizeof(int));
    shift<<<1, n>>>(x, y, n);
    cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h[5]);
    cudaFree(x);
    cudaFree(y);
    return 3;
}
END
for my $case (["with a fault", "n", 1], ["without", "n - 1", 3]) {
    my ($what, $last, $code) = @$case;
    mkdir "$dir/my own";
    spew("$dir/my own/shift.cu", $reader =~ s/LAST/$last/r);
    my %r = run("cd '$dir/my own' && $cudacc shift.cu -o shift && ./shift");
    is($r{code}, $code, "a reader's program $what: exit code $code") or diag($r{err});
    is($r{out}, "6\n", "a reader's program $what runs as usual");
    if ($code == 1) {
        like($r{err}, qr/^out of bounds: .*shift\.cu:6\b.*\ncheck: 1 finding: out of bounds\n\z/, "and has its finding, and the last line names its rule");
        like($r{err}, qr/\b256\b/, "which gives the size of the allocation");
        unlike($r{err}, qr/times\)$/m, "once: nothing is said of times");
    } else {
        is($r{err}, "check: no findings\n", "and has none");
    }
}

# Accesses to variables of the other side: none in front of line 31, all behind it.
spew("$dir/my own/sides.cu", <<'END');
#include <cstdio>
#include <cstring>
int hosts = 1, known = 2;
namespace inner { static int hosts; } static int files; inline int of_all_files; template <class T> T of_a_type;
const int constant = 3;
const float table[2] = {4, 5}; struct first { first() { int *p; cudaMalloc(&p, 4), cudaFree(p); } } first;
int before; __device__ int kernels; int behind; __constant__ float given[2];
__device__ const float fixed[2] = {6, 7};
__managed__ int both; __managed__ struct { int x; } pair;
__device__ int next() { static int calls; return atomicAdd(&calls, 1); }
__global__ void sum(int *out) { *out = next() + both + constant + (int)table[both & 1] + kernels; }
__global__ void looks(int *out) { *out += known; }
__global__ void wrong(int *out)
{
    *out += hosts;
    inner::hosts = *out;
    *out += files;
    *out += of_all_files;
    *out += of_a_type<int>;
}
int main()
{
    int *out, *page, *managed;
    cudaMalloc(&out, 40), cudaMallocHost(&page, 40), cudaMallocManaged(&managed, 40);
    page[9] = managed[9] = pair.x = both = files = before = behind = (int)fixed[1];
    cudaHostRegister(&known, sizeof known, cudaHostRegisterDefault);
    sum<<<1, 1>>>(out), looks<<<1, 1>>>(out);
    cudaMemcpy(page, out, 4, cudaMemcpyDeviceToHost), printf("%d\n", *page);
    if (!getenv("WRONG"))
        return 0;
    wrong<<<1, 1>>>(out);
    out[1] = 5;
    memset(out + 2, 0, known * 6);
    printf("%d %d\n", out[10], inner::hosts);
    kernels = 1;
    given[1] = 2;
    looks<<<1, 1>>>(out + 1);
}
END
my %sides = run("cd '$dir/my own' && $cudacc -w sides.cu -o sides && CUDACPU_LEAKS=0 ./sides && WRONG=1 CUDACPU_LEAKS=0 ./sides");
my ($right, $wrong) = split /^check: no findings.*\n/m, $sides{err} =~ s/^leak: .*\n//gmr;
is($right, "", "what each side may touch");
my @expected = (
    "host variable: read at sides.cu:15 by thread (0,0,0) of block (0,0,0) in kernel wrong: 4 bytes at offset 0 of hosts (4 bytes of the host), which nvcc",
    "host variable: write at sides.cu:16 by thread (0,0,0) of block (0,0,0) in kernel wrong: 4 bytes at offset 0 of a variable (4 bytes of the host), which nvcc",
    "host variable: read at sides.cu:17 by thread (0,0,0) of block (0,0,0) in kernel wrong: 4 bytes at offset 0 of files (4 bytes of the host), which nvcc",
    "host variable: read at sides.cu:18 by thread (0,0,0) of block (0,0,0) in kernel wrong: 4 bytes at offset 0 of of_all_files (4 bytes of the host), which nvcc",
    "host variable: read at sides.cu:19 by thread (0,0,0) of block (0,0,0) in kernel wrong: 4 bytes at offset 0 of a variable (4 bytes of the host), which nvcc",
    "host access: write at sides.cu:32 by the host: 4 bytes at offset 4 of the allocation of sides.cu:24 (40 bytes), which only",
    "host access: write at sides.cu:33 by the host: 12 bytes at offset 8 of the allocation of sides.cu:24 (40 bytes), which only",
    "host access: read at sides.cu:34 by the host: 4 bytes 0 bytes past the end of the allocation of sides.cu:24 (40 bytes), which only",
    "host access: write at sides.cu:35 by the host: 4 bytes at offset 0 of kernels (4 bytes of __device__ memory), and the host has",
    "host access: write at sides.cu:36 by the host: 4 bytes at offset 4 of given (8 bytes of __constant__ memory), and the host has",
);
my @told = split /\n/, $wrong // "";
is(scalar @told, @expected + 1, "and what it may not") or diag($sides{out}, $sides{err});
is(substr($told[$_] // "", 0, length $expected[$_]), $expected[$_], "sides.cu: $expected[$_]") for 0 .. $#expected;

# An mbarrier that check cannot follow ends the kernel, which must not be "no findings".
spew("$dir/grid.cu", <<'END');
#include <cooperative_groups.h>
__global__ void keeps()
{
    __shared__ uint64_t full;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"((unsigned)__cvta_generic_to_shared(&full)));
    cooperative_groups::this_grid().sync();
}
int main() { return cudaLaunchCooperativeKernel((const void *)keeps, 2, 1, NULL, 0, NULL) || cudaDeviceSynchronize(); }
END
my %grid = run("$cudacc -w $dir/grid.cu -o $dir/grid && $dir/grid");
ok($grid{code} == 1 && $grid{err} =~ /^mbarrier: check does not follow mbarriers and asynchronous copies over a grid\.sync; in block/m,
    "an mbarrier over a grid.sync") or diag("exit code $grid{code}\n$grid{err}");

# A helper's line says little: with it is reported the first line outside common/ that leads there. In an
# exercise that is a line of work/ rather than one of the step's other files.
my %helpers = (
    "common/cuda/put.cuh" => <<'END',
static __device__ __forceinline__ void put(int *p) { *p = 1; }
static __device__ __forceinline__ void put_by_ptx(int *p) { asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(1)); }
static __device__ __forceinline__ void deeper(int *p) { put(p); }
static __device__ __forceinline__ void deeper_by_ptx(int *p) { put_by_ptx(p); }
static __device__ __forceinline__ void deepest(int *p) { *p = 2; }
END
    "steps/98-calls/beside.cuh" => "static __device__ __forceinline__ void beside(int *p) { deepest(p); }\n",
    "work/98-calls.cu" => <<'END',
#include "common/cuda/put.cuh"
#include "steps/98-calls/beside.cuh"
static __device__ __forceinline__ void mine(int *p) { *p = 1; }
__global__ void calls(int *p)
{
    put_by_ptx(p + 10);
    deeper_by_ptx(p + 11);
    deeper(p + 12);
    beside(p + 13);
    mine(p + 14);
}
int main() { int *p; cudaMalloc(&p, 4); calls<<<1, 1>>>(p); cudaDeviceSynchronize(); cudaFree(p); }
END
);
run("mkdir -p $dir/calls/common/cuda $dir/calls/steps/98-calls $dir/calls/work");
spew("$dir/calls/$_", $helpers{$_}) for keys %helpers;
my %calls = run("cd $dir/calls && $cudacc -I. work/98-calls.cu -o calls && ./calls");
my @places = map { /^out of bounds: write at (.*?) by thread/ ? $1 : () } split /\n/, $calls{err};
is(join("\n", @places), <<'END' =~ s/\n\z//r, "which line of the reader's calls the helper at fault") or diag($calls{err});
common/cuda/put.cuh:2 (called at work/98-calls.cu:6)
common/cuda/put.cuh:2 (called at common/cuda/put.cuh:4, from work/98-calls.cu:7)
common/cuda/put.cuh:1 (called from work/98-calls.cu:8)
common/cuda/put.cuh:5 (called from work/98-calls.cu:9)
work/98-calls.cu:3 (called from work/98-calls.cu:10)
END

# Findings that differ only in the thread, in which of two threads came first, in the instance of a template or in a number
# are reported once. A read of what another thread writes later comes behind the race, and says who writes.
spew("$dir/once.cu", <<'END');
__global__ void half(int *y)
{
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    y[threadIdx.x] = s[(threadIdx.x + 32) % 64];
}
__global__ void ordered(int *y)
{
    __shared__ int s[32];
    if (threadIdx.x < 32)
        y[threadIdx.x] = s[threadIdx.x];
    __syncthreads();
    if (threadIdx.x >= 32)
        s[threadIdx.x - 32] = 1;
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x % 32];
}
template <int n> __device__ __noinline__ int element(int i)
{
    const int a[4] = {n, i, n, i};
    return a[i];
}
__global__ void beyond(int *y) { y[threadIdx.x] = element<1>(threadIdx.x + 3) + element<2>(threadIdx.x + 4); }
int main(int argc, char **)
{
    int *y;
    cudaMalloc(&y, 256);
    cudaMemset(y, 0, 256);
    if (argc == 1)
        half<<<1, 64>>>(y);
    else if (argc == 2)
        ordered<<<1, 64>>>(y);
    else
        beyond<<<1, 2>>>(y);
    cudaDeviceSynchronize();
    cudaFree(y);
}
END
my $of = qr/of block \(\d,0,0\) in kernel/;
my @once = (
    ["either thread first", "", qr/shared race: read at once.cu:5 by thread \(0,0,0\) and write at once.cu:4 by thread \(32,0,0\) $of half: .* \(64 times\)
uninitialised read: read at once.cu:5 by thread \(0,0,0\) $of half: 4 bytes at offset 128 .*\), written later by thread \(32,0,0\) at once.cu:4 \(32 times\)
check: 2 findings of 2 rules: uninitialised read, shared race/],
    ["a later write in order", "1", qr/uninitialised read: read at once.cu:11 by thread \(0,0,0\) $of ordered: [^\n]*, written later by thread \(32,0,0\) at once.cu:14 \(32 times\)
check: 1 finding: uninitialised read/],
    ["two instances of a template", "1 2", qr/out of bounds: at once.cu:21 by thread \(0,0,0\): index 4 of int \[4\]; in block \(0,0,0\) of kernel beyond \(2 times\)
check: 1 finding: out of bounds/],
);
my %r = run("cd $dir && $cudacc -w once.cu -o once");
is("$r{code} $r{err}", "0 ", "once.cu compiles");
for (@once) {
    my ($title, $arguments, $lines) = @$_;
    %r = run("cd $dir && ./once $arguments");
    like($r{err}, qr/^$lines\n\z/, "told once: $title");
}

# One of a thing has no plural.
spew("$dir/byte.cu", <<'END');
__global__ void bytes(char *c)
{
    c[threadIdx.x] = 1;
}
int main()
{
    char *c;
    cudaMalloc(&c, 1);
    bytes<<<1, 3>>>(c);
    bytes<<<1, 1>>>(c - 1);
}
END
%r = run("cd $dir && $cudacc -w byte.cu -o byte && ./byte; CUDACPU_LEAKS= ./byte 3 2>&1 | grep warning");
is($r{err} . $r{out}, <<'END', "one byte");
out of bounds: write at byte.cu:3 by thread (1,0,0) of block (0,0,0) in kernel bytes: 1 byte 0 bytes past the end of the allocation of byte.cu:8 (1 byte) (3 times)
leak: 1 byte, allocated at byte.cu:8, is never freed
check: 2 findings of 2 rules: out of bounds, leak
check: 1 finding: out of bounds; 1 warning
END

# A wait that leaves the group which is read next is named; no wait, or one that comes later, is not.
%r = run("$cudacc -O1 -g1 -w $root/tests/async-faults/pending-copy.cu -o $dir/pending"); # of $cudacc: --check
is($r{code}, 0, "copies that are waited for too late") or diag($r{err});
%r = run("$dir/pending last_group fault");
like($r{err}, qr/^pending copy: .*, left in flight by the wait at \S+:\d+ \(called at \S*pending-copy\.cu:\d+\), which leaves the latest 1 group\b/m,
    "the wait that leaves a group in flight") or diag($r{err});
spew("$dir/stage.cu", <<'END');
#include "ptx.cuh"
__global__ void stage(const int *x, int *y)
{
    __shared__ int4 cell[2][32];
    const int t = threadIdx.x;
    copy_16(&cell[0][t], x + 4 * t);
    commit();
    wait_group<0>();
    copy_16(&cell[1][t], x + 128 + 4 * t);
    commit();
    y[t] = cell[1][t].x;
}
int main()
{
    int *c;
    cudaMalloc(&c, 1024 + 128);
    cudaMemset(c, 0, 1024);
    stage<<<1, 32>>>(c, c + 256);
    cudaFree(c);
}
END
%r = run("$cudacc -O1 -g1 -w -I$root/tests/async-faults $dir/stage.cu -o $dir/stage && $dir/stage");
like($r{err}, qr/^pending copy: .*, no wait since the one at \S+ \(called at \S*stage\.cu:8\), which came before the copy: need a wait, or another tile's place\b/m,
    "a wait that came before the copy") or diag($r{err});
%r = run("$dir/pending no_wait fault");
like($r{err}, qr/^pending copy: .*, before the wait for the copy\b/m, "and where there is none") or diag($r{err});

# Ubuntu's g++ defines it, and a memcpy to a variable becomes another function.
my $compiler = $ENV{CXX} || "g++";
spew("$dir/g++", "#!/bin/sh\nexec $compiler -D_FORTIFY_SOURCE=3 \"\$@\"\n");
chmod 0755, "$dir/g++";
%r = run("$cudacc -O1 -g1 -w $root/tests/async-faults/pending-wgmma.cu -o $dir/fortified && $dir/fortified part_reused fault",
    CXX => "$dir/g++", CUDACPU_BUILD => "$root/build/cpu/" . ($compiler =~ s{.*/}{}r));
like($r{err}, qr/^pending wgmma: .*: a part of A, before the wait/m, "a memcpy is seen, fortified or not") or diag($r{err});

# A declared alignment gives no warning.
my $swizzle = "$root/tests/reported/67-swizzle-undeclared-alignment";
run("$cudacc -g1 -w $swizzle.cu -o $dir/undeclared & $cudacc -g1 -w $swizzle-fixed.cu -o $dir/declared; wait");
%r = run("cd $dir && ./undeclared");
like($r{err}, qr/\Aundeclared alignment: .*\ncheck: no findings, 1 warning\n\z/, "an alignment that is not declared");
%r = run("cd $dir && ./declared");
is($r{err}, "check: no findings\n", "and one that is");
# Where a fence asks for the second order, the next launch has the second alignment.
spew("$dir/fenced.cu", <<'END');
__global__ void swizzled(int *y)
{
    extern __shared__ int s[];
    const unsigned t = threadIdx.x, at = (unsigned)__cvta_generic_to_shared(s) + 16 * t ^ t / 8 % 8 * 16;
    asm volatile("st.shared.u32 [%0], %1;" : : "r"(at), "r"(t) : "memory");
    __threadfence();
    atomicAdd(y, 1);
}
int main(int argc, char **)
{
    int *y;
    cudaMalloc(&y, 4);
    cudaMemset(y, 0, 4);
    for (int i = 0; i < argc; i++)
        swizzled<<<1, 64, 1024>>>(y);
    cudaFree(y);
}
END
%r = run("cd $dir && $cudacc -g1 -w fenced.cu -o fenced && ./fenced; ./fenced twice");
like($r{err}, qr/\Acheck: no findings\nundeclared alignment: .*\ncheck: no findings, 1 warning\n\z/, "and one beside fences");

# --- The page of the instruments: of each rule an example, which prints what stands there -----------
my $page = slurp("$root/common/cpu/instruments/README.md");
my ($examples, $calls, @examples) = ("#include <cstring>\n#line 1 \"examples.cuh\"\n" . ($page =~ /^```cuda\n(.*?)^```$/ms)[0], "");
while ($page =~ /^### ([^\n]*)\n(.*?)(?=^##|\z)/msg) {
    my ($name, $text, $exit) = ($1, $2, pos($page) <= index($page, "## Warnings\n") ? 1 : 0);
    my ($code) = $text =~ /^```cuda\n(.*?)^```$/ms;
    my ($printed) = $text =~ /^```text\n(.*?)^```$/ms or next;
    my ($file, $function) = ($name =~ tr/ /-/r, "run_" . $name =~ tr/ /_/r);
    $code =~ s/\n\n/\nstatic void $function() {\n/ or $code = "static void $function() { $code"; # as many lines
    $examples .= "#line 1 \"$file.cu\"\n$code}\n";
    $calls .= "    if (strcmp(v[1], \"$name\") == 0) $function();\n";
    push @examples, [$name, "$exit: $printed"];
}
is(join(", ", sort map { $_->[0] } @examples), join(", ", sort map { $_->{name} } check_rules()), "each rule has its heading and example");
spew("$dir/examples.cu", "${examples}int main(int, char **v)\n{\n$calls}\n");
%r = run("cd $dir && $cudacc -w examples.cu -o examples");
is("$r{code} $r{err}", "0 ", "the examples compile");
for (@examples) {
    my ($name, $printed) = @$_;
    %r = run("cd $dir && ./examples '$name'", CUDACPU_LEAKS => undef, CUDACPU_SUMS => 1, CUDACPU_UNREAD => $name eq "never read");
    is("$r{code}: " . $r{err} =~ s/^(?:check: |kernel ).*\n//mgr, $printed, "the example of: $name");
}

# --- The examples of the memory model's page -----------------------------------------------------
my $model = slurp("$root/common/cpu/instruments/MEMORY-MODEL.md");
($examples, $calls, @examples) = ("#include <cstring>\n#line 1 \"examples.cuh\"\n" . ($page =~ /^```cuda\n(.*?)^```$/ms)[0], "");
while ($model =~ /^### ([^\n]*)\n(.*?)(?=^##|\z)/msg) {
    my ($name, $text) = ($1, $2);
    my ($code) = $text =~ /^```cuda\n(.*?)^```$/ms;
    my ($printed) = $text =~ /^```text\n(.*?)^```$/ms;
    my ($file, $function) = ($name =~ tr/ /-/r, "model_" . $name =~ tr/ /_/r);
    $examples .= "#line 1 \"$file.cu\"\n" . $code =~ s/\n\n/\nstatic void $function() {\n/r . "}\n";
    $calls .= "    if (strcmp(v[1], \"$name\") == 0) $function();\n";
    push @examples, [$name, "1: $printed"];
}
spew("$dir/model.cu", "${examples}int main(int, char **v)\n{\n$calls}\n");
%r = run("cd $dir && $cudacc -w model.cu -o model");
is("$r{code} $r{err}", "0 ", "the examples of MEMORY-MODEL.md compile");
for (@examples) {
    my ($name, $printed) = @$_;
    %r = run("cd $dir && ./model '$name'");
    is("$r{code}: " . $r{err} =~ s/^(?:check: |kernel ).*\n//mgr, $printed, "MEMORY-MODEL.md: the example of: $name");
}

my ($counters) = slurp("$root/common/cpu/include/cpu/trace.h") =~ /(#define CPU_COUNTER_LIST.*?)#define/s;
my ($rows) = $page =~ /^\| counter \| meaning \|\n(.*?)\n\n/ms;
is(join(" ", sort map { /`(\w+)`/g } map { (split /\|/)[1] } split /\n/, $rows), join(" ", sort $counters =~ /"(\w+)"/g),
    "each counter has its row");

done_testing();
