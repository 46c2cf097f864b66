#!/usr/bin/env perl
# The CPU backend: its programs with both compilers, the portable fibers and the instruments, every report.
# Reads: common/cuda common/harness tests/cpu
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Backend;
use Workbook;

# A program that is right in one order of threads is right in all; the rest runs forward.
my @in_orders = qw(semantics api children);
my @forward = qw(float16 fast arch graphs rare);
build((map { my $cxx = $_; map { [$_, $cxx] } @in_orders, @forward, qw(diverge order forms names implicit) } @cxx),
    (map { [$_, $cxx[0]] } qw(ordered reader)), (map { [$_, $cxx[0], "--portable"] } qw(semantics diverge order)),
    (map { my $option = $_; map { [$_, "g++", $option] } qw(names forms children contracted) } @traced),
    @traced ? ["contracted", "g++"] : ());

for my $variant (map({ "-$_" } @cxx), "-$cxx[0]--portable") {
    for my $name ($variant =~ /portable/ ? "semantics" : (@in_orders, @forward)) {
        for my $order ((grep { $_ eq $name } @in_orders) ? qw(forward reverse random) : "forward") {
            my ($out, $rc) = output("CUDACPU_ORDER=$order $dir/$name$variant 2>/dev/null");
            ok($rc == 0 && $out =~ /^\d+ checks, 0 failed$/m, "$name$variant, $order") or diag($out);
        }
    }

    # Reports: one line that names kernel, block, threads and places; then the launch has failed.
    my $at = 'diverge\.cu';
    my @reports = (
        qr/^kernel two_places \(launched at $at:59\), block \([01],0,0\): barrier divergence: threads 0-15, 32-47, 64-79 wait at __syncthreads \($at:10\); threads 16-31, 48-63, 80-95 wait at __syncthreads \($at:12\)$/m,
        qr/^kernel lanes_exited .*: barrier divergence: threads 0-19 wait at ldmatrix.sync.aligned.m8n8.x1.shared.b16 of mask 0xffffffff \($at:18\); threads 20-63 have exited$/m,
        qr/^kernel lanes_elsewhere .*: threads 0-15, 32-47 wait at __syncwarp of mask 0xffffffff \($at:23\); threads 16-31, 48-63 wait at __syncthreads \($at:25\)$/m,
        qr/^kernel left_out .*: $at:30: thread 3 \(lane 3\) calls __syncwarp with mask 0x000000f0, which leaves it out$/m,
        qr/^kernel wrong_width .*: $at:35: __shfl_xor_sync with width 12: need 1, 2, 4, 8, 16 or 32$/m,
        qr/^kernel different_masks .*: threads 0-7 wait at __ballot_sync of mask 0x0000ffff \($at:39\); threads 8-31 wait at __ballot_sync of mask 0xffffffff \($at:39\)$/m,
        qr/^kernel waits_in_vain .*: waits in vain: thread 0 waits at __nanosleep \($at:47\); threads 1-63 wait at __syncthreads \($at:48\)$/m,
    );
    for my $i (0 .. $#reports) {
        for my $order (qw(forward reverse random)) {
            my ($out) = output("CUDACPU_ORDER=$order $dir/diverge$variant $i");
            ok($out =~ $reports[$i] && $out =~ /^cudaErrorLaunchFailure$/m
                    && ($out =~ tr/\n//) == 2, "divergence $i is reported$variant, $order")
                or diag($out);
        }
    }

    # A correct kernel gives the same in every order, a wrong one differs in at least one.
    my %seen;
    for my $order ('forward', 'reverse', 'random CUDACPU_SEED=1', 'random CUDACPU_SEED=2') {
        my ($out) = output("CUDACPU_ORDER=$order $dir/order$variant");
        $seen{$1}{$2}++ while $out =~ /^(\S+) (\S+)$/mg;
    }
    is(scalar keys %{$seen{$_}}, 1, "$_ is the same in all orders$variant")
        for qw(good-sums good-block good-warp);
    cmp_ok(scalar keys %{$seen{$_}}, '>', 1, "$_ differs between orders$variant")
        for qw(bad-sums bad-block bad-warp);
}
{
    my ($out, $rc) = output("CUDACPU_ALIGN=1 $dir/semantics-$cxx[0] 2>/dev/null");
    ok($rc == 0 && $out =~ /^\d+ checks, 0 failed$/m, "dynamic shared memory as aligned as declared") or diag($out);
}
# Kernels that launch kernels: too deep, below a kernel that is stopped, and as the instruments see them.
{
    my ($out) = output("$dir/children-$cxx[0]");
    is(scalar(() = $out =~ /^kernel deeper \(launched at children\.cu:\d+\) does not run: 24 launches by kernels below one by the host/mg),
        1, 'a launch that is nested too deep is a line');
    ($out) = output("$dir/children-$cxx[0] breaks");
    like($out, qr/\Akernel breaks [^\n]*: __trap\(\)[^\n]*\n1 checks, 0 failed\n\z/,
        'what a kernel has launched does not run where it is stopped');
    for my $case ([forward => '0123'], [reverse => '3210']) {
        ($out) = output("CUDACPU_ORDER=$case->[0] $dir/children-$cxx[0] blocks");
        like($out, qr/\A$case->[1]\n/, "children come in the order of blocks, $case->[0]");
    }
    for my $kind (@traced) {
        ($out) = output("CUDACPU_WORKERS=2 $dir/children-g++$kind");
        like($out, qr/^\d+ checks, 0 failed$/m, "children with $kind");
        if ($kind eq '--count') {
            my %of;
            while ($out =~ /^ {20,}(\S.*\S)\n(launches +.*)\n/mg) {
                my @launches = split ' ', $2;
                @of{split /  +/, $1} = @launches[1 .. $#launches];
            }
            is("@of{qw(launches in_order child again mark)}", '2 3 20 49 512', 'children count under their names');
        } else {
            my @found = map { /^(\D+: \w+ at )\S*(children\.cu:\d+ of a kernel that had launched this one)/ ? "$1$2" : $_ }
                grep { /^\S.*: .* kernel |^check: / } grep { !/^kernel / } split /\n/, $out;
            my %line;
            my $at = 0;
            for (split /\n/, slurp("tests/cpu/children.cu")) {
                $at++;
                $line{$1} = $at if /(errors\[[01]\] = cudaGetLastError\(\));/ && $at < 80 && !$line{$1};
                $line{many} = $at if /mark<<<1, 1>>>\(p, i, p\[i\]/;
            }
            my ($first, $second) = @line{'errors[0] = cudaGetLastError()', 'errors[1] = cudaGetLastError()'};
            is_deeply(\@found, [(map { "child race: $_ of a kernel that had launched this one" }
                    "write at children.cu:$first", "write at children.cu:$second", "read at children.cu:$line{many}"),
                'check: 7 findings of 2 rules: child race, failed work'], 'what races with a child is found, and what is refused, and nothing else');
        }
    }
}
# Times are the CPU's: a program that asks for one says so at its end, once, and no other does.
{
    my ($told) = output("$dir/graphs-$cxx[0] >$dir/out");
    is(($told =~ s/^times between events are this CPU's, not a GPU's$//mg), 1, 'times are marked');
    unlike($told, qr/^kernel put .*a grid/m, 'after an error that sticks a launch is not looked at');
    my ($none) = output("$dir/arch-$cxx[0]");
    unlike($none, qr/times/, 'where there are any');
}
# Blocks that wait for each other, with fewer OS threads than blocks, and with one.
for my $order (qw(forward reverse random)) {
    for my $workers (1, 2, 7) {
        my ($out, $rc) = output("CUDACPU_ORDER=$order CUDACPU_WORKERS=$workers timeout 60 $dir/ordered-$cxx[0]");
        is("$rc $out", "0 1415 checks, 0 failed\n", "sums in a fixed order of blocks, $order, workers: $workers");
    }
}
my ($first) = output("CUDACPU_ORDER=random CUDACPU_SEED=7 $dir/order-$cxx[0]");
my ($again) = output("CUDACPU_ORDER=random CUDACPU_SEED=7 CUDACPU_WORKERS=1 $dir/order-$cxx[0]");
is($again, $first, 'a seed gives the same random order again, whatever the number of workers');
my ($out, $rc) = output("CUDACPU_ORDER=sideways $dir/order-$cxx[0]");
ok($rc == 2 && $out =~ /"sideways": need forward, reverse or random/, 'an unknown order is refused');

# A reader's own file.
($out, $rc) = output("$dir/reader-$cxx[0]");
is($out, "0 wrong\n", "a reader's own file runs");
for my $variant (@cxx, map { "g++$_" } @traced) {
    ($out) = output("$dir/forms-$variant 2>$dir/err");
    like($out, qr/\A0 wrong, no error\n/, "all forms of launch and of functions, $variant");
    ($out) = output("$dir/names-$variant 2>$dir/err");
    like($out, qr/\A0 wrong\n/, "globals may have the names of the runtime's own, $variant");
}
# A product and a sum are rounded twice, but by --check, where the CPU has an FMA. __fmul_rn and its
# like have nothing to do with that.
my ($cpuinfo) = output('cat /proc/cpuinfo; uname -m');
my $fma = $cpuinfo =~ /^flags.* fma\b|^aarch64/m;
for my $kind (@traced ? ('', @traced) : ()) {
    my ($float, $double) = $kind eq '--check' && $fma ? ('0x1p-24', '0x1p-54') : ('0x0p+0', '0x0p+0');
    ($out) = output("$dir/contracted-g++$kind 2>$dir/err");
    like($out, qr/\Afloat: \Q$float\E, rounded 0x0p\+0 0x0p\+0 0x0p\+0\ndouble: \Q$double\E, rounded 0x0p\+0 0x0p\+0 0x0p\+0\n/,
        "products and sums, g++$kind");
}
for my $cxx (@cxx) {
    ($out, $rc) = output("$dir/implicit-$cxx");
    is("$rc $out", "0 ", "what nvcc includes by itself is there, $cxx");
}

# Names that the runtime exports: CUDA's names, those that g++ calls, and those that begin with cpu_.
for my $cxx (@cxx) {
    for my $object ($cxx eq 'g++' ? qw(runtime count check) : 'runtime') {
        my @names = map { /^\S* [A-TV-Z] (\S+)$/ ? $1 =~ s/^_(?=cpu_|cuda|__)//r : () }
            split /\n/, (output("nm -g " . ($ENV{CUDACPU_BUILD} // "$root/build/cpu/$cxx") . "/$object.o"))[0];
        cmp_ok(scalar @names, '>', 80, "$cxx, $object.o: it defines names");
        is_deeply([grep { !/^(?:cpu_|cuda[A-Z]|curand[A-Z]|cuTensorMap|__tsan_|__sanitizer_|__ubsan_|__assert_|(?:thread|block)Idx$|(?:block|grid)Dim$)/ }
            @names], [], "$cxx, $object.o: none that a program may have as well");
    }
}

# A kernel that waits for the host is stopped. One of which a block sleeps, and then sets what the others wait for, is
# not; and of a launch that has ended, whose place something else has taken, nothing is looked at.
{
    my ($built) = source(<<'END');
#include <unistd.h>
#include <cstring>
__global__ void k(volatile int *p, bool sets)
{
    sets &= blockIdx.x == 1;
    for (time_t end = time(0) + (sets ? 12 : 4); !*p && time(0) < end;)
        usleep(100000);
    if (sets)
        *p = 1;
    while (!*p)
        ;
    __syncthreads();
}
static void idle()
{
    char room[50000];
    memset(room, 0xff, sizeof room);
    asm volatile("" : : "r"(room) : "memory");
    sleep(6);
    asm volatile("" : : "r"(room) : "memory");
}
int main(int, char **argv)
{
    int *p;
    cudaMallocManaged(&p, sizeof *p);
    *p = strcmp(argv[1], "ends") == 0;
    k<<<3, 2>>>(p, strcmp(argv[1], "sets") == 0);
    cudaError_t error = cudaDeviceSynchronize();
    if (strcmp(argv[1], "ends") == 0)
        idle();
    printf("%s\n", cudaGetErrorName(error));
}
END
    output("cd $dir; for how in waits sets ends; do CUDACPU_WORKERS=2 timeout 60 ./prog \$how >\$how 2>&1 & done; wait");
    ($out) = output("cat $dir/waits");
    like("$built$out", qr/\Akernel k \(launched at file\.cu:27\), block \([01],0,0\): thread \([01],0,0\): spins in a loop that changes nothing, [^\n]*\ncudaErrorLaunchTimeout\n\z/,
        'a kernel that waits for the host');
    ($out) = output("cat $dir/sets $dir/ends");
    is($out, "cudaSuccess\n" x 2, 'one that waits for a block, and one that has ended');
}

# A kernel that runs past an array is stopped, and says where; also far past it, where other arrays lie, as an index of
# several terms gets. So is a number that is none.
($out, $rc) = source("__global__ void k(float *p, int at) { p[at + blockIdx.x * 256 + threadIdx.x] = 1; }\n"
        . "int main(int argc, char **) {\n"
        . "  float *p; for (int i = 0; i < 20; i++) cudaMalloc(&p, (1 << 20) - 24);\n"
        . "  k<<<8, 256>>>(p, argc > 1 ? 1100000 : 262144 - 256);\n"
        . "  return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 3; }\n");
is($rc, 0, 'a program with a kernel that runs past an array compiles');
($out, $rc) = output("$dir/prog");
is($rc, 0, 'running past an array is an illegal address') or diag($out);
like($out, qr/^kernel k \(.*block \([1-7],0,0\).*thread \(0,0,0\): illegal access/, 'and says which thread');
($out, $rc) = output("$dir/prog far");
is($rc, 0, 'running far past an array is one, too') or diag($out);
for my $bad ('CUDACPU_SEED=abc', 'CUDACPU_WORKERS=0', 'CUDACPU_WORKERS=x', 'CUDACPU_STAGGER=x') {
    ($out, $rc) = output("CUDACPU_ORDER=random $bad $dir/prog");
    ok($rc == 2 && $out =~ /\A[^\n]*\Q$bad\E: need a number from [^\n]*\n\z/, "$bad is one line")
        or diag("$rc: $out");
}

# A frame that is larger than the stack does not reach into that of another thread.
($out, $rc) = source("__global__ void k(int *p, int n) { char b[5000000]; for (int i = 0; i < n; i += 4096) b[i] = i; __syncthreads(); *p = b[n / 2]; }\n"
        . "int main() { int *p; cudaMalloc(&p, 4); k<<<1, 64>>>(p, 5000000); return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 3; }\n");
($out, $rc) = output("$dir/prog");
ok($rc == 0 && $out =~ /thread \(0,0,0\): stack overflow$/m, 'a frame that is too large') or diag($out);

done_testing();
