#!/usr/bin/env perl
# The CPU backend on aarch64: built here by a cross compiler and run under qemu. The operations and reports of
# cpu.t, counts that are x86-64's to the last digit, and the same findings. `make test` tries some
# of it, by its seed.
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

plan skip_all => "needs aarch64-linux-gnu-g++ and qemu-aarch64 (apt install g++-aarch64-linux-gnu qemu-user)"
    if !have("aarch64-linux-gnu-g++") || !have("qemu-aarch64");

my $dir = scratch_dir();
my $qemu = "qemu-aarch64 -L /usr/aarch64-linux-gnu";
my %cross = (CXX => "aarch64-linux-gnu-g++", CC => "aarch64-linux-gnu-gcc");
my @backend = grep { m{^(?:common/cpu|tests/cpu|tests/ptx)/|/ptx\.tsv$} } all_files();
# Of several kinds of steps one, for qemu is slow.
my %compared = asked("aarch64");
my @compared = sort keys %compared;
my %wanted = map { $_ => 1 } drawn("aarch64", "g++", "portable", "clang++", "ptx", @compared);

# --- What kernels do, and what is said of those that fail ----------------------------------------
# tried(BY, COMPILERS, OPTION, PROGRAMS): builds these programs of tests/cpu and runs them.
sub tried {
    my ($by, $compilers, $option, @programs) = @_;
    my %r = run("common/cpu/cudacc $option --runtime-only", %$compilers);
    is("$r{code} $r{err}", "0 ", "the runtime compiles, $by") or return;
    for my $name (@programs) {
        %r = run("common/cpu/cudacc $option -O1 -Wall -Wextra -Werror tests/cpu/$name.cu -o $dir/$name", %$compilers);
        is("$r{code} $r{err}", "0 ", "$name compiles without a word, $by") or next;
        next if $name =~ /^(order|diverge)$/;
        for my $order ($name =~ /semantics|ordered/ ? qw(forward reverse random) : "forward") {
            for my $workers ($name eq "ordered" ? (1, 2, 7) : 2) {
                %r = run("timeout 300 $qemu $dir/$name", CUDACPU_ORDER => $order, CUDACPU_WORKERS => $workers);
                ok($r{code} == 0 && $r{out} =~ /^\d+ checks, 0 failed$/m, "$name, $by, $order, workers: $workers")
                    or diag($r{out}, $r{err});
            }
        }
        # A signal of the machine's is a line, as on x86-64.
        like($r{err}, qr/^kernel overflow .*: thread \(0,0,0\): stack overflow$/m, "a stack that is full, $by")
            if $name eq "api";
    }
    %r = run("$qemu $dir/diverge 0");
    like("$r{err}$r{out}", qr/: barrier divergence: threads 0-15, 32-47, 64-79 wait at __syncthreads \(\S*diverge\.cu:10\); threads 16-31, 48-63, 80-95 wait at __syncthreads \(\S*diverge\.cu:12\)\ncudaErrorLaunchFailure\n\z/,
        "a divergence is reported, $by");
    # The same threads run in the same order, and sums of floats are the same to the last bit.
    my %env = (CUDACPU_ORDER => "random", CUDACPU_SEED => 7, CUDACPU_WORKERS => 1);
    %r = run("common/cpu/cudacc -O1 tests/cpu/order.cu -o $dir/native && $dir/native", %env);
    my %ours = run("$qemu $dir/order", %env);
    is($ours{out}, $r{out}, "the order of threads is x86-64's, $by");
}
proved("aarch64 g++", \@backend, sub {
    tried("g++", \%cross, "", qw(semantics api float16 fast diverge order ordered));
}) if $wanted{"g++"};
proved("aarch64 portable", \@backend, sub {
    tried("g++, portable fibers", \%cross, "--portable", qw(semantics diverge order));
}) if $wanted{portable};
proved("aarch64 clang++", \@backend, sub {
    my $target = "--target=aarch64-linux-gnu";
    tried("clang++", {CXX => "clang++ $target", CC => "clang $target"}, "", qw(semantics api float16 fast diverge order));
}) if $wanted{"clang++"} && have("clang++");

# --- Inline PTX gives what an H200 gave ----------------------------------------------------------
proved("aarch64 ptx", \@backend, sub {
    for my $name (qw(reals integers memory lanes boxes async forms)) {
        my %r = run("common/cpu/cudacc -O1 tests/ptx/$name.cu -o $dir/ptx && $qemu $dir/ptx", %cross);
        is($r{code}, 0, "$name: it runs") or diag($r{err});
        is($r{out}, join("", slurp("plots/data/nvidia-h200/ptx.tsv") =~ /^$name\t(.*\n)/mg), "$name: an H200 gave the same");
    }
}) if $wanted{ptx};

# --- Steps ---------------------------------------------------------------------------------------
my $built = "build/cpu/$cross{CXX}";
my @numbers = grep { $wanted{$_} } @compared;
sub programs_in {
    my ($folder) = @_;
    return map { ("$folder/step-$_", "$folder-count/step-$_", "$folder-check/step-$_") } @numbers;
}
# The same for this machine; "" where they would be clang++'s.
my %r = run('sh common/make/build/toolchain.sh "$CXX" "$CC"');
my ($cxx) = split / /, $r{out};
my $native = $cxx =~ /clang/ ? "" : "build/cpu/$cxx";
for ([$built, "CXX=$cross{CXX} CC=$cross{CC}"], [$native, ""]) {
    my ($folder, $compilers) = @$_;
    next if !$folder || !@numbers;
    %r = run("make -s BACKEND=cpu $compilers " . join " ", programs_in($folder));
    is("$r{code} $r{err}", "0 ", "steps @numbers are built in $folder") or BAIL_OUT($r{err});
}

sub rows { return join "", grep { !/^#/ } slurp($_[0]) =~ /^.*\n/mg }
sub same_as_here {
    my ($n) = @_;
    my $cases = small_cases("$qemu $built/step-$n");
    isnt($cases, "", "step $n lists its cases");
    my %r = run("$qemu $built/step-$n --seed 1 $cases", KF_ONE_LAUNCH => 1); # steps.t launches again, on this machine
    is("$r{code} $r{err}", "0 ", "step $n: as predicted");
    return if !$native;
    for ([$built, $qemu, "ours"], [$native, "", "theirs"]) {
        my ($folder, $by, $name) = @$_;
        my %r = run("$by $folder-count/step-$n --seed 1 --out $dir/$n.$name $cases");
        is("$r{code} $r{err}", "0 ", "step $n is counted, $name");
        %r = run("$by $folder-check/step-$n --seed 1 $cases");
        is("$r{code} $r{err}", "0 ", "step $n is checked, $name");
        # Figures of exactness are the library's and not compared.
        spew("$dir/$n.$name.found", join "", grep { /: \d+ findings?|^    \S.*: / } $r{out} =~ /^.*\n/mg);
    }
    is(rows("$dir/$n.ours"), rows("$dir/$n.theirs"), "step $n counts what x86-64 counts");
    is(slurp("$dir/$n.ours.found"), slurp("$dir/$n.theirs.found"), "step $n: check finds the same");
}
for my $n (@numbers) {
    proved("aarch64 $n", [grep { -f } map { programs_in($_) } grep { $_ } $built, $native], sub { same_as_here($n) });
}
ok(1, "all that was drawn");
done_testing();
