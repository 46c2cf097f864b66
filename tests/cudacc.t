#!/usr/bin/env perl
# cudacc as a command: nvcc's flags, --help, where it may be called from, programs that are kept, and
# mistakes reported as a compiler reports them, in the user's own file.
# Reads: common/examples tests/cpu
use strict;
use warnings;
use Cwd qw(getcwd);
use Test::More;
use lib "tests/lib";
use Workbook;

my ($root, $dir) = (getcwd(), scratch_dir());
my $cudacc = "$root/common/cpu/cudacc";
run("$cudacc --runtime-only");
my $cpu_seconds = sub { my @t = times; return $t[2] + $t[3] };

# --- The screen of help ---
my %r = run("$cudacc --help");
cmp_ok($r{out} =~ tr/\n//, "<=", 24, "--help has at most 24 lines");
is_deeply([grep { length > 80 } split /\n/, $r{out}], [], "of at most 80 columns");
like($r{out}, qr/\Q$_\E/, "--help names $_") for qw(-run --count --check -c -dlink CUDACPU_ORDER -arch --version);
%r = run("$cudacc --version");
like($r{out}, qr/\Acudacc: .*release 13\.0.*\n\z/, "--version is one line");

# --- Flags, with several files, from a folder with a blank ---
spew("$dir/a b/main.cu", <<'END');
#include <cstdio>
#include "value.h"
extern __device__ int added;
extern __constant__ int table[2];
__device__ int other(int);
__global__ void k(int *x) { *x = other(VALUE) + added + table[1]; }
int main(int argc, char **argv)
{
    int *p, h;
    cudaMalloc(&p, 4);
    k<<<1, 1>>>(p);
    cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost);
    printf("%d %s\n", h, argc > 1 ? argv[1] : "-");
    return 3;
}
END
spew("$dir/a b/other.cu", "__device__ int added = 100;\n__constant__ int table[2] = {1, 2000};\n"
    . "__device__ int other(int x) { return x; }\n");
spew("$dir/a b/in/value.h", "#define VALUE 5\n");
sub in_folder { return run("cd '$dir/a b' && $_[0]", @_[1 .. $#_]) }
%r = in_folder("$cudacc -arch=sm_80 -gencode arch=compute_70,code=sm_70 -gencode=arch=compute_80,code=sm_80 -lineinfo "
    . "-Xcompiler -Wall,-O1 --include-path in -lcudart --std c++14 -rdc=true -dc main.cu other.cu");
is("$r{code} $r{out}", "0 ", "nvcc's flags are taken");
is($r{err} =~ s/ is ignored: [^\n]+//gr, join("", map { "cudacc: $_\n" } qw(-arch -gencode -lineinfo -lcudart -std=c++14)),
    "a line for each that is ignored");
%r = in_folder("$cudacc main.o other.o -o 'the program' && './the program'");
is("$r{code} $r{out}$r{err}", "3 2105 -\n", "objects of several files are linked; variables and functions of another file");
%r = in_folder("$cudacc -dlink -o rt.o && \${CXX:-g++} main.o other.o rt.o -pthread -lm -o linked && ./linked");
is("$r{code} $r{out}$r{err}", "3 2105 -\n", "and by g++ with -dlink's object");
%r = in_folder("cp main.cu main.txt; $cudacc -x cu -I=in main.txt other.cu -o x || $cudacc -x cu -Iin main.txt other.cu -o x; ./x");
like($r{out}, qr/^2105 -$/m, "-x cu");
# With -O1 g++ by itself refuses a __forceinline__ function that is passed to another one.
spew("$dir/operator.cu", <<'END');
#include <cstdio>
struct extent {
    float most, sum;
};
__device__ __forceinline__ extent join(extent a, extent b)
{
    return {a.most > b.most ? a.most : b.most, a.sum + b.sum};
}
template <class F>
__device__ extent of_warp(extent v, F &&f)
{
    for (int i = 16; i > 0; i /= 2)
        v = f(v, {__shfl_xor_sync(~0u, v.most, i), __shfl_xor_sync(~0u, v.sum, i)});
    return v;
}
template <class F>
__device__ extent twice(extent v, F f)
{
    return f(v, v);
}
__global__ void k(float *p)
{
    const extent v = twice(of_warp({p[threadIdx.x], 1}, join), join);
    p[threadIdx.x] = v.most + v.sum;
}
int main()
{
    float *p;
    cudaMallocManaged(&p, 128);
    for (int i = 0; i < 32; i++)
        p[i] = i;
    k<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    printf("%g\n", p[3]);
}
END
for my $level (qw(-O0 -O1 -O2)) {
    %r = run("$cudacc $level $dir/operator.cu -o $dir/operator && $dir/operator");
    is("$r{code} $r{out}$r{err}", "0 95\n", "a __forceinline__ function that is passed on, $level");
}
# A C library may include the header within extern "C".
my $host = qq{#ifdef __cplusplus\nextern "C" {\n#endif\n#include <cuda_runtime_api.h>\n#ifdef __cplusplus\n}\n#endif\n}
    . "#if !defined(__NVCC__) || !defined(__CUDACPU__) || defined(__CUDACC__)\n#error not as nvcc has it\n#endif\n"
    . "int main(void) { return cudaDeviceSynchronize() + __CUDACC_VER_MAJOR__ - 13; }\n";
for my $kind (qw(c cpp)) {
    spew("$dir/host.$kind", $host);
    %r = run("$cudacc $dir/host.$kind -o $dir/host && $dir/host");
    is("$r{code} $r{out}$r{err}", "0 ", "nvcc's macros, and the header of the API within extern \"C\", in .$kind");
}
for (["-run", "-"], ["-run -run-args one,two", "one"], ["-run -- 'a b,c' d", "a b,c"]) {
    %r = in_folder("$cudacc -Iin main.cu other.cu $_->[0]");
    is("$r{code} $r{out}$r{err}", "3 2105 $_->[1]\n", "$_->[0]: the program runs, and its exit code is cudacc's");
}
%r = in_folder("$cudacc -MD -MT it -Iin -c main.cu -o made.o && cat made.d");
like("$r{code} $r{out}", qr{\A0 it:.* in/value\.h\s}s, "a file of dependencies is called as the object is, whatever the target");
spew("$dir/bin/g++", "#!/bin/sh\necho the one that is named\n");
chmod 0755, "$dir/bin/g++";
%r = run("$cudacc -ccbin $dir/bin --version");
like($r{out}, qr/the one that is named/, "-ccbin takes a folder");
%r = run("$cudacc --lineinf x.cu");
is("$r{code} $r{err}", "2 cudacc: unknown option --lineinf; the nearest that is known is -lineinfo\n", "the nearest name");
for (["run x.cu", "unknown kind of file: run (need .cu, .cpp, .c, .o or .a, or -x cu in front; the option is --run)"],
    ["-run x.cu 7", "unknown kind of file: 7 (need .cu, .cpp, .c, .o or .a, or -x cu in front; arguments of the program come behind --)"],
    ["x.cu -o no/where/x", "-o no/where/x: there is no folder no/where"], ["", "no input files; --help tells how to call cudacc"],
    ["no-such-file.cu", "there is no file no-such-file.cu"]) {
    my ($arguments, $line) = @$_;
    spew("$dir/x.cu", "int main()\n{\n    return 0;\n}\n");
    %r = run("cd '$dir' && $ENV{PWD}/common/cpu/cudacc $arguments");
    is("$r{code} $r{err}", "2 cudacc: $line\n", "cudacc $arguments: what to type instead");
}
%r = run("$cudacc -ptx $dir/a\\ b/other.cu");
is("$r{code} $r{err}", "2 cudacc: -ptx is not supported: no code for a GPU is made here\n", "-ptx is refused");

# As root, a rename would put a file in the place of /dev/null.
%r = run("cd '$dir' && mkfifo pipe && { timeout 60 cat pipe >piped & $ENV{PWD}/common/cpu/cudacc -c x.cu -o pipe; wait; "
    . "$ENV{PWD}/common/cpu/cudacc -c x.cu && cmp piped x.o && test -p pipe; }");
is("$r{code} $r{err}", "0 ", "an output that is a pipe stays one, and so would /dev/null");

# --- By a symbolic link to a symbolic link, and what it has kept ---
symlink $cudacc, "$dir/first";
symlink "first", "$dir/second";
in_folder("$dir/second -run -Iin main.cu other.cu -- 'x y'");
%r = in_folder("$dir/second -run -Iin main.cu other.cu -- 'x y'");
is("$r{code} $r{out}$r{err}", "3 2105 x y\n", "through links; -run gives the program's arguments and its exit code");
my $before = $cpu_seconds->();
%r = in_folder("$dir/second -Iin main.cu other.cu -o again");
my $spent = $cpu_seconds->() - $before;
cmp_ok($spent, "<", 0.15, "a second run of unchanged files takes $spent s of the CPU");
spew("$dir/a b/in/value.h", "#define VALUE 6\n");
%r = in_folder("$dir/second -run -Iin main.cu other.cu");
is("$r{code} $r{out}", "3 2106 -\n", "a header that has changed is seen");
spew("$dir/warns.cu", "int main() { int unused; return 0; }\n");
my %first = run("cd $dir && $cudacc -Wall warns.cu -o w");
%r = run("cd $dir && $cudacc -Wall warns.cu -o w");
ok($r{err} =~ /unused/ && $r{err} eq $first{err}, "a warning is told again") or diag($r{err});
%r = run("cd $dir && $cudacc -Wall -Werror reorder warns.cu -o w");
is($r{code}, 0, "a warning of another kind than is an error");
%r = run("cd $dir && $cudacc -Wall -Werror all-warnings warns.cu -o w");
isnt($r{code}, 0, "and of one that is: all are") or diag($r{err});
# Arguments decide which program is built: a value that stands alone, and where headers are looked for.
spew("$dir/number.cu", "#include <cstdio>\n#include <number.h>\nint main() { printf(\"%d\\n\", NUMBER + N); }\n");
spew("$dir/number-$_/number.h", "#define NUMBER $_\n") for 10, 20;
for my $case ([10, 1], [10, 2], [20, 2]) {
    my ($folder, $n) = @$case;
    %r = run("cd $dir && $cudacc -D N=$n -run number.cu", CPATH => "$dir/number-$folder");
    is("$r{out}$r{err}", $folder + $n . "\n", "another program: -D N=$n, headers of number-$folder");
}
spew("$dir/mine.c", "int mine(void) { return N; }\n");
spew("$dir/uses.cu", "extern \"C\" int mine(void);\nint main() { return mine(); }\n");
for my $n (4, 5) {
    run("cd $dir && $cudacc -lib -DN=$n mine.c -o libmine.a");
    %r = run("cd $dir && $cudacc -run uses.cu -L. -lmine");
    is("$r{code} $r{err}", "$n ", "a library that has changed is seen: $n");
}
spew("$dir/clock.cu", "#include <cstdio>\nint main() { puts(__TIME__); }\n");
my %early = run("cd $dir && $cudacc -run clock.cu && sleep 1");
%r = run("cd $dir && $cudacc -run clock.cu");
isnt($r{out}, $early{out}, "what depends on the time is not kept");
# Others build as well, and each keeps the last 100: what ls then misses is no word of cudacc's.
mkdir "$dir/misses";
spew("$dir/misses/ls", "#!/bin/sh\n/bin/ls \"\$\@\"\necho 'ls: cannot access an entry' >&2\nexit 2\n");
chmod 0755, "$dir/misses/ls";
spew("$dir/meanwhile.cu", "int main() { return 7; }\n");
%r = run("cd $dir && $cudacc -run meanwhile.cu", PATH => "$dir/misses:$ENV{PATH}");
is("$r{code} $r{err}", "7 ", "another cudacc takes an entry away meanwhile");

# --- A repository that cannot be written: build is a file ---
run("mkdir -p $dir/ro/common && cp -R common/cpu $dir/ro/common && touch $dir/ro/build");
%r = run("cd $dir && ro/common/cpu/cudacc 'a b/other.cu' -c -o o.o", CUDACPU_BUILD => undef, XDG_CACHE_HOME => "$dir/home");
is("$r{code} $r{err}", "0 ", "a repository that cannot be written");
ok(-e glob("$dir/home/cudacpu/*/rewriter"), "what is built lies in the user's cache");

# --- The book's program of one's own: wrong as it stands, right with the barrier ---
SKIP: {
    skip "there is no g++", 2 unless have("g++");
    %r = run("CXX=g++ $cudacc --check -run common/examples/reverse.cu");
    ok($r{code} == 1 && $r{out} eq "512 of 1024 wrong\n" && $r{err} =~ /^shared race: .*reverse\.cu:12 .*reverse\.cu:11 /m,
        "a reversal without a barrier is a race") or diag($r{err});
    spew("$dir/reverse.cu", slurp("common/examples/reverse.cu") =~ s/(\n    y\[)/\n    __syncthreads();$1/r);
    %r = run("CXX=g++ $cudacc --check -run $dir/reverse.cu");
    is("$r{code} $r{out}$r{err}", "0 0 of 1024 wrong\ncheck: no findings\n", "and with it none");
}

# --- An object that was built for another instrument, or for none ---
spew("$dir/launches.cu", "__global__ void k(int *p) { *p = 1; }\nint main() { k<<<1, 2048>>>(0); k<<<0, 1>>>(0); k<<<1, 1>>>(0); }\n");
SKIP: {
    skip "there is no g++", 4 unless have("g++");
    run("cd $dir && CXX=g++ $cudacc -c launches.cu -o plain.o && CXX=g++ $cudacc --check -c launches.cu -o traced.o");
    my %r = run("cd $dir && CXX=g++ $cudacc --check plain.o -o o");
    is($r{err}, "cudacc: plain.o was built without --check: compile it with that, too\n", 'a kernel that check would not see');
    %r = run("cd $dir && CXX=g++ $cudacc traced.o -o o");
    is($r{err}, "cudacc: traced.o was built with --count or --check: link it with the same\n", 'a kernel that needs an instrument');
    %r = run("cd $dir && CXX=g++ $cudacc --check traced.o -o o && ./o");
    like($r{out} . $r{err}, qr/^out of bounds: write at launches\.cu:1 /m, 'and with it');
    %r = run("cd $dir && CXX=g++ $cudacc plain.o -o o && ./o");
    like($r{err}, qr/^kernel k \(launched at launches\.cu:2\): a block of \(2048,1,1\) threads; [^\n]*\nkernel k \(launched at launches\.cu:2\): a grid of \(0,1,1\) blocks; [^\n]*\n/m,
        'what a GPU refuses to launch is a line');
}
SKIP: {
    skip "there is no g++", 1 unless have("g++");
    spew("$dir/asks.cu", "__global__ void k() { extern __shared__ int s[]; s[0] = 1; }\nint main() { k<<<1, 1>>>(); }\n");
    my %r = run("cd $dir && CXX=g++ $cudacc --check -run asks.cu");
    like($r{out} . $r{err}, qr/ past the end of the dynamic part \(0 bytes of shared memory\)/, 'shared memory that the launch has not asked for');
}
SKIP: {
    skip "there is no g++", 11 unless have("g++");
    for my $kind (qw(check count)) {
        my $line = "cudacc: built a.out; run it to see what it ${kind}s, or write: cudacc --$kind -run asks.cu\n";
        for (["--$kind", $line], ["--$kind", $line], ["--$kind -o o", ""], ["--$kind -c", ""]) {
            my %r = run("cd $dir && CXX=g++ $cudacc $_->[0] asks.cu");
            is("$r{code} $r{err}", "0 $_->[1]", "cudacc $_->[0]: whether it says that nothing has run yet");
        }
        my %r = run("cd $dir && CXX=g++ $cudacc --$kind -run asks.cu");
        unlike($r{err}, qr/a\.out/, "cudacc --$kind -run: nothing of that");
    }
    my %r = run("cd $dir && CXX=g++ $cudacc asks.cu");
    is("$r{code} $r{out}$r{err}", "0 ", "a plain build says nothing");
}
my %told = (
    '--count --check launches.cu' => 'cudacc: --count and --check are for two programs: build each by itself',
    '--count --by-line launches.cu' => 'cudacc: --by-line is an option of steps: ',
);
for (sort keys %told) {
    my %r = run("cd $dir && $cudacc $_");
    ok($r{code} && $r{err} =~ /^\Q$told{$_}\E[^\n]*\n\z/, $_) or diag($r{err});
}

# --- Mistakes: what g++ says of plain C++, to the letter ---
my %plain = (
    semicolon => "int main()\n{\n\tint   a = 1   /* c */\n\tint b   = 2;\n\treturn a;\n}\n",
    tabs => "int main() {\n\tint *p = 0;\tdouble   d = p;\n\treturn d;\n}\n",
    brace => "int main() {\n    if (1) {\n    return 0;\n",
    constant => "void f(char *s);\nint main() { const char *p = \"a\"; f(  p ); }\n",
    member => "struct A { int value; };\nint main() { A a;   a.  valeu = 1; a->value = 2; }\n",
    operator => "int main() { int *p = 0;   p    +    p; }\n",
    include => "#include \"not-here.h\"\nint main() {}\n",
);
SKIP: {
    skip "there is no g++", 3 * keys %plain unless have("g++");
    for (sort keys %plain) {
        spew("$dir/$_.cu", $plain{$_});
        my %ours = run("cd $dir && CXX=g++ $cudacc -c $_.cu -o o.o");
        my %theirs = run("cd $dir && g++ -x c++ -std=gnu++17 -c $_.cu -o o.o");
        ok($theirs{code}, "$_ is a mistake");
        is("$ours{code} $ours{err}", "1 $theirs{err}", "$_: said as g++ says it");
        my %checked = run("cd $dir && CXX=g++ $cudacc --check -c $_.cu -o o.o");
        is("$checked{code} $checked{err}", "1 $theirs{err}", "$_: and with --check");
    }
}

# And of CUDA: the first line, the line that is shown, and none of the backend's own names.
my $kernel = "__global__ void k(int *x, int n) {}\nint main() { int *p = 0; float *q = 0;   ";
my @mistakes = (
    ["${kernel}k<<<1,  1>>>(p); }", qr/^m\.cu:2:\d+: error: too few arguments to function \W+void k\(int\*, int\)/m],
    ["${kernel}k<<<1,  1>>>(p, 1, 2); }", qr/^m\.cu:2:\d+: error: too many arguments to function \W+void k\(int\*, int\)/m],
    ["${kernel}k<<<1,  1>>>(q, 1); }", qr/^m\.cu:2:55: error: cannot convert \W+float\*\W+ to \W+int\*\W+\n[^\n]*k<<<1,  1>>>\(q, 1\); }\n +\| {55}\^$/m],
    ["${kernel}kk<<<1,  1>>>(p, 1); }", qr/^m\.cu:2:42: error: \W+kk\W+ was not declared/m],
    ["${kernel}k<<<blocks,  1>>>(p, 1); }", qr/^m\.cu:2:46: error: \W+blocks\W+ was not declared/m],
    ["${kernel}k<<1,  1>>(p, 1); }", qr/^m\.cu:2:\d+: error: invalid operands/m],
    ["${kernel}k<<<1>>>(p, 1); }", qr/\Am\.cu:2: error: a launch needs two numbers at least, <<<blocks, threads>>>\n\z/],
    ["${kernel}k<<<1, 1>>(p, 1); }", qr/\Am\.cu:2: this form of launch [^\n]*write kernel<<<grid, block>>>\(arguments\)\n\z/],
    ["${kernel}k(p, 1); }", qr/\Am\.cu:2: error: kernel k is called without a launch: write k<<<blocks, threads>>>\(\.\.\.\)\n\z/],
    ["__global__ int k() { return 1; }", qr/\Am\.cu:1: error: kernel k returns int; a kernel returns void\n\z/],
    map({ ["__global__ void k() {\n    __shared__ int $_; }", qr/\Am\.cu:2: error: __shared__ variable a cannot be initialised: /] }
        "a = 1", "a[2] = {1, 2}"),
    ["__global__ void k(int *x) { __shared__ float b[4];   b.y = 1; }", qr/^m\.cu:1:56: error: request for member \W+y\W+ in \W+b\W+, which is of non-class type \W+float \[4\]/m],
    ["__device__ int f(int a) { return __shfl_down(a, 1); }", qr/\Am\.cu:1: CUDA has dropped __shfl_down: use __shfl_down_sync, [^\n]*\n\z/],
    ["#include <cuda_runtme.h>\nint main() {}", qr/\Am\.cu:1: header <cuda_runtme\.h> is not supported by the CPU backend; check its name, [^\n]*\n\z/],
    ["__global__ void k() {\n  __synchthreads(); }", qr/\Am\.cu:2: __synchthreads is not supported by the CPU backend; did you mean __syncthreads\?\n\z/],
);
SKIP: {
    skip "there is no g++", scalar @mistakes unless have("g++");
    for (@mistakes) {
        spew("$dir/m.cu", "$_->[0]\n");
        my %r = run("cd $dir && CXX=g++ $cudacc -c m.cu -o o.o");
        ok($r{code} && $r{err} =~ $_->[1] && $r{err} !~ /cpu_(?!runtime)|common\/cpu/, "a mistake: $_->[0]") or diag($r{err});
    }
}
done_testing();
