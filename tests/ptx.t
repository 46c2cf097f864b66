#!/usr/bin/env perl
# Inline PTX: the programs of tests/ptx give what an H200 gave, bit for bit (plots/data/nvidia-h200/ptx.tsv),
# where an instruction only approximates within tests/ptx/bounds.tsv; what is not executed, or wrong, is
# one line when it is compiled; what lanes do wrong together is one line when it runs.
# Reads: common/cuda common/harness tests/ptx plots/data/nvidia-h200/ptx.tsv
use strict;
use warnings;
use POSIX ();
use Test::More;
use lib "tests/lib";
use Workbook;

my ($dir, $cudacc) = (scratch_dir(), "common/cpu/cudacc");
my (%lines, @programs);
for (grep { !/^#/ } split /\n/, slurp("plots/data/nvidia-h200/ptx.tsv")) {
    my ($program, $line) = split /\t/, $_, 2;
    push @programs, $program if !$lines{$program};
    push @{$lines{$program}}, $line;
}
cmp_ok(scalar(@programs), ">=", 8, "programs were recorded");
run("$cudacc --runtime-only");
my %r = run("printf '%s\\n' @programs | xargs -P 2 -I NAME $cudacc -O1 "
    . "tests/ptx/NAME.cu -o $dir/NAME");
is("$r{code}$r{err}", "0", "they compile") or BAIL_OUT($r{err});

# The differences between two lists of lines, and their number.
sub different {
    my ($got, $wanted) = @_;
    my $most = @$got > @$wanted ? @$got : @$wanted;
    return map { ($got->[$_] // "nothing") . " instead of " . ($wanted->[$_] // "nothing") }
        grep { ($got->[$_] // "") ne ($wanted->[$_] // "") } 0 .. $most - 1;
}
for my $program (grep { $_ ne "approx" } @programs) {
    my %r = run("$dir/$program");
    is($r{code}, 0, "$program: what comes out is what its reference says") or diag($r{err});
    my @wrong = different([split /\n/, $r{out}], $lines{$program});
    is(scalar(@wrong), 0, "$program: an H200 gave the same") or diag(join "\n", @wrong[0 .. ($#wrong > 5 ? 5 : $#wrong)]);
}

# A program that no H200 has run yet is held to its reference, in C, alone.
for my $program (grep { !$lines{$_} } map { m{([^/]+)\.cu$} } grep { slurp($_) =~ /^MAIN$/m } glob("tests/ptx/*.cu")) {
    my %r = run("$cudacc -O1 tests/ptx/$program.cu -o $dir/$program && $dir/$program");
    is($r{code}, 0, "$program: what comes out is what its reference says") or diag($r{err});
}

# The numbers that a register holds: bits as integers that count in last places, the value, and the
# least exponent and the bits of a fraction.
sub parts {
    my ($instruction, $hex) = @_;
    my $bits = hex $hex;
    return [$bits & 0x80000000 ? -($bits & 0x7fffffff) : $bits, unpack("f", pack "L", $bits), -126, 23]
        if $instruction !~ /x2$/;
    my ($least, $fraction) = $instruction =~ /bf16/ ? (-126, 7) : (-14, 10);
    return map {
        my ($sign, $rest) = ($_ >> 15 ? -1 : 1, $_ & 0x7fff);
        my ($e, $m) = ($rest >> $fraction, $rest & (1 << $fraction) - 1);
        my $value = $e == 3 - 2 * $least ? ($m ? "nan" : 9**9**9)
            : ($e ? $m + (1 << $fraction) : $m) * 2**(($e || 1) + $least - 1 - $fraction);
        [$sign * $rest, $sign * $value, $least, $fraction]
    } $bits & 0xffff, $bits >> 16;
}
# Exact values of the instructions that approximate, for the arguments of the test.
sub tanh { my $e = exp(2 * ($_[0] > 20 ? 20 : $_[0] < -20 ? -20 : $_[0])); return ($e - 1) / ($e + 1) }
my %exact = (ex2 => sub { 2**$_[0] }, lg2 => sub { $_[0] > 0 ? log($_[0]) / log(2) : undef },
    rcp => sub { $_[0] ? 1 / $_[0] : undef }, rsqrt => sub { $_[0] > 0 ? 1 / sqrt($_[0]) : undef },
    sqrt => sub { $_[0] > 0 ? sqrt($_[0]) : undef }, sin => sub { sin $_[0] }, cos => sub { cos $_[0] },
    tanh => sub { abs($_[0]) < 1e-3 ? $_[0] - $_[0]**3 / 3 : tanh($_[0]) }, div => sub { $_[1] ? $_[0] / $_[1] : undef });
my %bounds = map { my @f = split /\t/; ($f[0] => {units => $f[2], absolute => $f[3], documented => $f[4]}) }
    grep { !/^#/ } split /\n/, slurp("tests/ptx/bounds.tsv");
# The part of what an instruction may be off by in its documents that it is off by.
sub part_of_documented {
    my ($instruction, $x, $value, $exact, $step) = @_;
    my ($amount, $kind) = split / /, $bounds{$instruction}{documented};
    $amount = $amount =~ /^2\^(.*)/ ? 2**$1 : $amount;
    $amount = 2**-14.7 if $instruction =~ /^(sin|cos)/ && abs($x) > 6.2831855; # up to 100 pi
    my $most = $kind eq "ulp" ? $amount * $step : $amount * abs($exact);
    $most = $amount if $kind eq "absolute" || ($kind eq "mixed" && $x >= 0.5 && $x <= 2);
    return abs($value - $exact) / $most;
}
# Both are held to the exact value: an H200 to what was seen of it, and this CPU to the documents.
# Where that is no normal number, they are held to each other.
my %worst;
sub too_far {
    my ($got, $wanted) = @_;
    my ($instruction, $operand, $a) = split /\t/, $got;
    my ($same, $also, $b) = split /\t/, $wanted;
    return 1 if "$instruction $operand" ne "$same $also";
    my $bound = $bounds{$instruction} or return 1;
    my ($name) = $instruction =~ /^(\w+)/;
    my @a = parts($instruction, $a);
    my @b = parts($instruction, $b);
    my ($x, $y) = map { [parts($instruction, $_)] } split(/,/, $operand), 0;
    return grep {
        my ($here, $there, $least, $fraction) = ($a[$_][1], $b[$_][1], $a[$_][2], $a[$_][3]);
        my @in = map { $instruction =~ /ftz/ && abs($_->[1]) < 2**$least ? 0 : $_->[1] } $x->[$_], $y->[$_];
        my $is_number = !grep { !defined $_ || $_ != $_ || abs($_) > 1e300 } @in[0 .. ($name eq "div")];
        my $exact = $is_number ? $exact{$name}->(@in) : undef;
        if (defined $exact && abs($exact) >= 2**$least && abs($exact) < ($least < -14 ? 3.3e38 : 65000)
            && !($name eq "div" && abs($in[1]) > 8e37)) {
            my $step = 2**(POSIX::floor(log(abs $exact) / log 2) - $fraction);
            my $part = part_of_documented($instruction, $in[0], $here, $exact, $step);
            $worst{$instruction} = $part if $part > ($worst{$instruction} // 0);
            $part > 1 || (abs($there - $exact) > $bound->{units} * $step && !(abs($there - $exact) <= $bound->{absolute}));
        } else {
            abs($a[$_][0] - $b[$_][0]) > $bound->{units} && !($bound->{absolute} && abs($here - $there) <= $bound->{absolute});
        }
    } 0 .. $#a;
}
%r = run("$dir/approx");
my (@got, %seen) = split /\n/, $r{out};
@got = grep { !$seen{join "\t", (split /\t/)[0, 1]}++ } @got;
is(scalar(@got), scalar @{$lines{approx}}, "approx: as many lines as recorded");
my @far = grep { too_far($got[$_], $lines{approx}[$_]) } 0 .. $#got;
is(scalar(@far), 0, "approx: as near to an H200 as bounds.tsv says")
    or diag(map { "$got[$_] and $lines{approx}[$_]\n" } @far[0 .. ($#far > 5 ? 5 : $#far)]);
is(join(" ", sort keys %bounds), join(" ", sort keys %{{map { (split /\t/)[0] => 1 } @got}}),
    "and of each of its instructions");
is(join(" ", grep { $worst{$_} < 0.4 } sort keys %worst), "", "and each is off by a good part of its documents here")
    or diag(join ", ", map { "$_ $worst{$_}" } sort keys %worst);
ok(too_far("ex2.approx.f32\t0\t3f800004", "ex2.approx.f32\t0\t3f800000"), "more than that is noticed");
ok(too_far("ex2.approx.f32\t3f000000\t3fb504f6", "ex2.approx.f32\t3f000000\t3fb504f3"), "also half way between powers of two");
ok(too_far("ex2.approx.f32\t0\t3f800000", "ex2.approx.f32\t0\t3f800004"), "and of an H200");

# Forms of statements, with both compilers.
my %forms = map { /^(.*)\tlanes 0, 1, 5\t(.*)$/ } @{$lines{forms}};
for my $cxx (grep { have($_) } qw(g++ clang++)) {
    for my $flags ("-O0", "-O2", $cxx eq "g++" ? ("-O1 --count", "-O1 --check") : ()) {
        my %r = run("CXX=$cxx $cudacc $flags -Wall -Wextra -Werror tests/ptx/forms.cu -o $dir/forms && $dir/forms");
        my %got = map { /^(.*)\tlanes 0, 1, 5\t(.*)$/ ? ($1 => $2) : () } split /\n/, $r{out};
        is_deeply(\%got, \%forms, "forms of statements, $cxx $flags") or diag($r{err});
    }
}

# Its README names each instruction that has a line, and no other.
my ($table) = slurp("common/cpu/ptx/README.md") =~ /^\| kind \| instructions \|\n\|---\|---\|\n(.*?)\n\n/ms;
my %told = map { $_ => 1 } map { split /, / } map { (split / \| /)[1] =~ s/ \|$//r } split /\n/, $table;
my %have = map { $_ => 1 } "bra", slurp("common/cpu/ptx/language/instructions.h") =~ /^\s*PTX_[A-Z_]+\("([a-z]\w*)"/mg;
is(join(" ", sort keys %told), join(" ", sort keys %have), "README lists the instructions");

# A statement of a kernel, in line 3 of a file.
sub compiled {
    my ($statement) = @_;
    spew("$dir/one.cu", "// nothing\n__global__ void k(int r, long long l, float f, double d, short h, int *p)\n"
            . "{   $statement }\nint main() { return 0; }\n");
    return run("cd $dir && '$ENV{PWD}/$cudacc' one.cu -o one");
}
my $listed = "common/cpu/ptx/README.md lists those that are";
my @refused = (
    ['asm("tcgen05.wait::ld.sync.aligned;");', "PTX instruction tcgen05.wait::ld.sync.aligned is not executed by the CPU backend; $listed"],
    ['asm("wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%0, %0, %0, %0, %0, %0}, %1, %1, 1, 1, 1, 0, 0;" : "+f"(f) : "l"(l));', "PTX instruction wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 is not executed by the CPU backend (it knows no .m64n12k16 there); $listed"],
    ['asm("{ .reg .pred p; wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %0, %0, %0}, %1, %1, p, 1, 1, 0, 0; }" : "+f"(f) : "l"(l));', "PTX instruction wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16: operand 1 has 4 parts, need 8"],
    ['asm("{ .reg .pred p; .reg .f32 x; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %0, %0, x}, %1, %1, p, 1, 1, 0, 0; }" : "+f"(f) : "l"(l));', "PTX instruction wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 writes when the statement is over: need an operand of the statement for each part of operand 1"],
    ['asm("{ .reg .pred p; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %0, %0, %0}, %1, %1, p, 1, 1, 0, 0; add.f32 %0, %0, %0; }" : "+f"(f) : "l"(l));', "PTX instruction add.f32 uses %0, which a wgmma of the statement holds: write two statements"],
    ['asm("add.foo.s32 %0, %0, 1;" : "+r"(r));', "PTX instruction add.foo.s32 is not executed by the CPU backend (it knows no .foo there); $listed"],
    ['asm("add.ftz.f64 %0, %0, %0;" : "+d"(d));', "PTX instruction add.ftz.f64 is not executed by the CPU backend (it knows no .f64 there); $listed"],
    ['asm("fma.f32 %0, %0, %0, %0;" : "+f"(f));', "PTX instruction fma.f32 is not executed by the CPU backend (it knows no .f32 there); $listed"],
    ['asm("add %0, %0, %0;" : "+r"(r));', "PTX instruction add is not executed by the CPU backend (a modifier is missing); $listed"],
    ['asm("add.s32 %0, %1;" : "=r"(r) : "r"(1));', "PTX instruction add.s32: 2 operands, need 3"],
    ['asm("add.s32 %0, %1, 2, 3;" : "=r"(r) : "r"(1));', "PTX instruction add.s32: 4 operands, need 3"],
    ['asm("add.s64 %0, %1, 2;" : "=l"(l) : "r"(1));', "PTX instruction add.s64: operand 2 has 32 bits, need 64"],
    ['asm("add.s32 %0, %1, 2;" : "=h"(h) : "r"(1));', "PTX instruction add.s32: operand 1 has 16 bits, need 32"],
    ['asm("mov.b64 %0, %1;" : "=l"(l) : "r"(1));', "PTX instruction mov.b64: operand 2 has 32 bits, need 64"],
    ['asm("add.s32 %0, %0, 2;" : "+f"(f));', "PTX instruction add.s32: operand 1 is a register of type .f32"],
    ['asm("add.f32 %0, %0, 2;" : "+f"(f));', "PTX instruction add.f32: operand 3 is a number without a point"],
    ['asm("add.s32 %0, %0, 1.5;" : "+r"(r));', "PTX instruction add.s32: operand 3 is a number with a point"],
    ['asm("add.s32 %0, %0, 0f3f80;" : "+r"(r));', "`0f3f80` is no number: 0f has 8 hexadecimal digits"],
    ['asm("add.s32 %0, %1, 2;" :: "r"(r), "n"(3));', "", "reading one's own operand is allowed"],
    ['asm("add.s32 %1, %0, 2;" :: "r"(r), "n"(3));', "PTX instruction add.s32: operand 1 is written, and is no register"],
    ['asm("add.s32 3, %0, 2;" :: "r"(r));', "PTX instruction add.s32: operand 1 is written, and is no register"],
    ['asm("add.s32 %0, _, 2;" : "=r"(r));', "PTX instruction add.s32: operand 2 is _ and is read"],
    ['asm("add.s32 %0, %2, 2;" : "=r"(r) : "r"(1));', "%2: the statement has 2 operands"],
    ['asm("add.s32 %0, %, 2;" : "=r"(r) : "r"(1));', "%, 2;: %0 to %1 are operands, and the name of a register has %%"],
    ['asm("add.s32 %0, %x, 2;" : "=r"(r) : "r"(1));', "%x is no register that the statement declares or the CPU backend knows"],
    ['asm("add.s32 %0, x, 2;" : "=r"(r));', "x is no register that the statement declares or the CPU backend knows"],
    ['asm("mov.u32 %0, %%pm0;" : "=r"(r));', "%pm0 is no register that the statement declares or the CPU backend knows"],
    ['asm("add.u32 %0, %%laneid, 1;" : "=r"(r));', "PTX instruction add.u32: operand 2 is a special register: only mov reads it"],
    ['asm("add.s32 %0, %0, 2" : "+r"(r));', "PTX instruction add.s32: need `;` after it"],
    ['asm("add.s32 %0 %0, 2;" : "+r"(r));', "need `,`, not `%0`"],
    ['asm("{ add.s32 %0, %0, 2;" : "+r"(r));', "need `}` at the end"],
    ['asm("add.s32 %0, %0, 2; }" : "+r"(r));', "there is no `{` to this `}`"],
    ['asm("/* add.s32 %0, %0, 2;" : "+r"(r));', "a comment has no end"],
    ['asm(".reg .pred p; bra OUT;");', "there is no label OUT"],
    ['asm("A: A: bra A;");', "label A is there twice"],
    ['asm(".shared .b32 x;");', "PTX directive .shared is not supported by the CPU backend; .reg is"],
    ['asm(".reg .b7 x;");', "there is no type .b7 for a register"],
    ['asm("@%0 add.s32 %0, %0, 2;" : "+r"(r));', "after \@ need a predicate"],
    ['asm("setp.eq.s32 %0, %0, 2;" : "+r"(r));', "PTX instruction setp.eq.s32: operand 1 is not a predicate"],
    ['asm("{ .reg .pred p; add.s32 %0, p, 2; }" : "+r"(r));', "PTX instruction add.s32: operand 2 is a predicate"],
    ['asm("{ .reg .pred p; setp.eq.f16 p|p, %0, %0; }" :: "h"(h));', "PTX instruction setp.eq.f16: operand 1 cannot have a second predicate"],
    ['asm("add.s32 %0, !%0, 2;" : "+r"(r));', "PTX instruction add.s32: operand 2 cannot be negated"],
    ['asm("mov.b64 %0, {%1, %1, %1};" : "=l"(l) : "r"(r));', "PTX instruction mov.b64: operand 2 has 3 parts"],
    ['asm("add.s32 %0, {%0, %0}, 1;" : "+r"(r));', "PTX instruction add.s32: operand 2 must be a register"],
    ['asm("add.s32 %0, [%0], 1;" : "+r"(r));', "PTX instruction add.s32: operand 2 must be a register"],
    ['asm("lop3.b32 %0, %0, %0, %0, %0;" : "+r"(r));', "PTX instruction lop3.b32: operand 5 must be a constant"],
    ['asm("add.s32 %0, %0, 1 / 0;" : "+r"(r));', "`/` has no integer after it, or 0"],
    ['asm("add.s32 %[a], %[a], 2;" : [a] "+r"(r));', "nvcc knows no names for operands of an asm statement: write %0, %1 and so on"],
    ['asm("add.s32 %0, %1, 2;" : "=r"(r) : "0"(1));', 'constraint "0" of an asm statement: need h, r, l, f, d, n or C'],
    ['asm("add.s32 %0, %1, 2;" : "r"(r) : "r"(1));', 'constraint "r" of an asm statement: need = or +, and h, r, l, f or d'],
    ['asm("add.s32 %0, %1, 2;" : "=m"(r) : "r"(1));', 'constraint "=m" of an asm statement: need = or +, and h, r, l, f or d'],
    ['asm("{ .reg .b32 t; cvt.f16.f32.rn %0, %1; ld.global.relaxed.gpu.u32 t, [%2]; }" : "=h"(h) : "f"(f), "l"(&r));', "", "modifiers in an order that ptxas takes too"],
    ['asm("{ .reg .b32 t; ld.global.global.u32 t, [%0]; }" :: "l"(&r));', "PTX instruction ld.global.global.u32 is not executed by the CPU backend (it knows no .global there); $listed"],
    ['asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {%0, %0, %0, %0}, {%1, %1, %1, %1}, {%1, %1}, {%0, %0, %0, %0};" : "+f"(f) : "r"(r));', "PTX instruction mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 is not executed by the CPU backend (it knows no .bf16 there); $listed"],
    ['asm("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(0));', "PTX instruction ldmatrix.sync.aligned.m8n8.x2.shared.b16: operand 1 has 1 part, need 2"],
    ['asm("cp.async.ca.shared.global [%0], [%1], %2;" :: "r"(0), "l"(&r), "r"(4));', "PTX instruction cp.async.ca.shared.global: operand 3 must be a constant"],
    ['asm("ld.const.u32 %0, [%1];" : "=r"(r) : "l"(&r));', "PTX instruction ld.const.u32 is not executed by the CPU backend (it knows no .const there); $listed"],
    ['asm goto("add.s32 %0, %1, 2;" : "=r"(r));', 'this form of asm statement is not supported by the CPU backend; write asm("text" : outputs : inputs : clobbers)'],
);
for my $case (@refused) {
    my ($statement, $why, $name) = @$case;
    my %r = compiled($statement);
    my $wanted = $why eq "" ? "" : "one.cu:3: $why\n";
    is("$r{code} $r{err}", ($why eq "" ? 0 : 2) . " $wanted", $name // $why);
}
%r = compiled("asm(\"add.s32 %0, %0, 1;\\n\\t\"\n    \"add.s32 %0, %0, 2;\\n\\t\"\n    \"nonsense.s32 %0;\" : \"+r\"(r));");
like($r{err}, qr/^one\.cu:5: PTX instruction nonsense\.s32 is not executed/, "the line is the instruction's own");

# Elsewhere than in a kernel it is refused where it becomes code, and by the same line. nvcc does not look at what
# nobody uses either.
spew("$dir/used.cu", <<'END');
struct member { static __device__ int put(int v) { asm("nonsense.s32 %0;" : "+r"(v)); return v; } };
static __device__ __forceinline__ int local(int v) { asm("nonsense.s32 %0;" : "+r"(v)); return v; }
inline __device__ int through(int v) { return local(v); }
template <int N> __device__ int chosen(int v)
{
    if constexpr (N == 8)
        asm("add.s32 %0, %0, 1;\n\t"
            "nonsense.s32 %0;" : "+r"(v));
    return v;
}
[[maybe_unused]] __device__ auto any = [](auto v) { asm("nonsense.s32 %0;" : "+r"(v)); return v; };
template <class T> __global__ void k(T *a) { *a = USED(1); }
__global__ void plain(int *a)
{
    if constexpr (sizeof(a) == 4)
        asm("nonsense.s32 %0;" : "+r"(*a));
}
int main() { k<<<1, 1>>>((int *)nullptr); plain<<<1, 1>>>(nullptr); }
END
my %c = ("g++" => "gcc", "clang++" => "clang");
for my $cxx (grep { have($_) } sort keys %c) {
    for my $flags ($cxx eq "g++" ? ("-O0", "-O2", "--check") : "-O2") {
        for my $case (["chosen<4>", 0], ["chosen<8>", 8], ["member::put", 1], ["local", 2], ["through", 2], ["any", 11]) {
            my ($used, $line) = @$case;
            my %r = run("cd $dir && CXX=$cxx CC=$c{$cxx} '$ENV{PWD}/$cudacc' -Wall -Wextra -Werror $flags -c '-DUSED=$used' used.cu -o used.o");
            is("$r{code} $r{err}", $line ? "2 used.cu:$line: PTX instruction nonsense.s32 is not executed by the CPU backend; $listed\n" : "0 ",
                "a statement of $used, $cxx $flags");
        }
    }
}
for my $case (['asm("mov.b32 %0, 1;" : "=r"(l));', "as wide as its constraint"],
    ['asm("mov.b32 %0, 1;" : "=r"(f));', "f or d for floating-point numbers"],
    ['asm("mov.f32 %0, %1;" : "=f"(f) : "f"(r));', "f or d for floating-point numbers"]) {
    my %r = compiled($case->[0]);
    ok($r{code} == 1 && $r{err} =~ /\Q$case->[1]\E/, "the compiler says: $case->[1]") or diag($r{err});
}

# Asm of the host is the host's.
spew("$dir/host.cu", qq{#include <cstdio>\n__global__ void k() {}\nint main() { int a = 3; asm("" : "+r"(a)); printf("%d\\n", a); }\n});
%r = run("$cudacc $dir/host.cu -o $dir/host && $dir/host");
is($r{out}, "3\n", "an asm statement of the host stays") or diag($r{err});

# An instruction of the whole warp that some lanes never reach, or reach elsewhere.
spew("$dir/apart.cu", <<'END');
#include <cstdio>
__global__ void half(int *p)
{
    unsigned a = 0, b[4] = {0}, s = 0;
    if (threadIdx.x < 16)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(s));
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(s));
    *p = (int)(a + b[0]);
}
int main()
{
    int *p;
    cudaMalloc(&p, 4);
    half<<<1, 32, 1024>>>(p);
    return cudaDeviceSynchronize() == cudaErrorLaunchFailure ? 0 : 3;
}
END
%r = run("cd $dir && '$ENV{PWD}/$cudacc' apart.cu -o apart && ./apart");
is($r{code}, 0, "the launch fails");
like($r{err}, qr/threads 0-15 wait at ldmatrix\.sync\.aligned\.m8n8\.x4\.shared\.b16 of mask 0xffffffff \(apart\.cu:6\); threads 16-31 wait at ldmatrix\.sync\.aligned\.m8n8\.x1/,
    "and the line names instructions and places") or diag($r{err});

# One instruction of several instances of a template: warps that wait for the same are reported once. A warp whose lanes are at two
# copies waits for itself, and they are distinguished.
spew("$dir/copies.cu", <<'END');
template <int copy> static __device__ unsigned row(int i)
{
    unsigned x;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(x) : "r"(i * 16 % 128));
    return x;
}
__global__ void each_warp(unsigned *p)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 31)
        __syncthreads();
    else if (warp == 0)
        *p = row<0>(lane);
    else if (warp == 1)
        *p = row<1>(lane) + 1;
    else if (lane < 16)
        *p = row<2>(lane) + 2;
    else
        *p = row<3>(lane) + 3;
}
int main()
{
    unsigned *p;
    cudaMalloc(&p, 4);
    each_warp<<<1, 96, 1024>>>(p);
    return cudaDeviceSynchronize() == cudaErrorLaunchFailure ? 0 : 3;
}
END
%r = run("cd $dir && '$ENV{PWD}/$cudacc' copies.cu -o copies && ./copies");
is($r{code}, 0, "the launch fails");
my $row = qr/ldmatrix\.sync\.aligned\.m8n8\.x1\.shared\.b16 of mask 0xffffffff \(copies\.cu:4\)/;
like($r{err}, qr/: threads 0-30, 32-62, 64-79 wait at $row; threads 31, 63, 95 wait at __syncthreads \(copies\.cu:\d+\); threads 80-94 wait at $row$/m,
    "who waits for the same is told once") or diag($r{err});
done_testing();
