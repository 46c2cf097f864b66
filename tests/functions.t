#!/usr/bin/env perl
# CUDA's functions that compute: each one that tests/cpu/functions.txt lists is known to cudacc, with its type, and
# those with a checksum give the right results, bit for bit. Where nvcc is, it makes the checksums of its host's code
# again.
#
#   perl tests/functions.t --record      writes functions.txt with the checksums that cudacc gives; compare, then commit
# Reads: common/cpu common/make/gpu tests/cpu
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Backend;
use Workbook;

my $list = "tests/cpu/functions.txt";
my (@functions, $header);
for my $line (split /\n/, slurp($list)) {
    $header = $1 if $line =~ /^# (\S+\.h)$/;
    next if $line !~ /^(\w.*?) (operator\S+?|\w+)\((.*?)\)(?: ([=:]) (\w+))?$/;
    push @functions, { line => $line, result => $1, name => $2, takes => [split /, /, $3], host => ($4 // "") eq "=",
        checksum => $5, header => $header };
}
cmp_ok(scalar @functions, ">", 1000, "$list lists functions");

# A line of C++ for each function, between what all share.
sub lines_of {
    my ($line, @these) = @_;
    return join "", map { $line->($_) . "\n" } @these;
}

# The expression that calls the function with these operands.
sub called {
    my ($f, @operands) = @_;
    return $f->{name} eq "cast" ? @operands == 1 ? "static_cast<$f->{result}>($operands[0])" : "$f->{result}(" . join(", ", @operands) . ")"
        : $f->{name} !~ /^operator(\W+)/ ? "$f->{name}(" . join(", ", @operands) . ")"
        : @operands == 1 ? "$1$operands[0]" : "$operands[0] $1 $operands[1]";
}

sub typed {
    my ($f) = @_;
    return "static_assert(std::is_same<$f->{result}, decltype(" . called($f, map { "any<$_>()" } @{$f->{takes}})
        . ")>::value, \"$f->{result}\");";
}

# A function of one number of 16 bits gets them all.
sub cases { return @{$_[0]{takes}} == 1 && $_[0]{takes}[0] =~ /^(?:__half|__nv_bfloat16)$/ ? 65536 : 8192 }

# Storage types are integers, of which a format of 6 or 4 bits leaves some unused.
my %used = (fp6 => "0x3f", fp6x2 => "0x3f3f", fp4 => "0xf");
sub calls {
    my ($f) = @_;
    my ($text, @operands) = ("");
    for my $n (0 .. $#{$f->{takes}}) {
        my $type = $f->{takes}[$n];
        my $mask = $type =~ /storage_t/ && $f->{name} =~ /cvt_(\w+?)_to/ ? $used{$1} : undef;
        $text .= $type =~ /^(\w+)\*$/ ? "$1 v$n = 0; " : "$type v$n = " . ($mask ? "($type)(" : "") . "in<$type>::get($n)" . ($mask ? " & $mask)" : "") . "; ";
        push @operands, $type =~ /\*$/ ? "&v$n" : "v$n";
    }
    my $adds = join " ", "add(out(" . called($f, @operands) . "));", map { $operands[$_] =~ /^&(.*)/ ? "add(out($1));" : () } 0 .. $#operands;
    my $scale = $f->{name} =~ /to_e8m0/ ? "true" : "false";
    return "static void call$f->{number}() { begin($scale); for (i = 0; i < " . cases($f) . "; i++) { $text$adds } printf(\"$f->{number} %016llx\\n\", (unsigned long long)checksum); }";
}

# Compiles a program with one line for each of the functions and runs it: the checksums by the functions' numbers.
sub checksums {
    my ($compiler, $what, @these) = @_;
    spew("$dir/calls.cu", "#include \"operands.h\"\n" . lines_of(\&calls, @these)
        . "int main() {\n" . lines_of(sub { "call$_[0]{number}();" }, @these) . "}\n");
    my ($out, $code) = output("$compiler -I tests/cpu $dir/calls.cu -o $dir/calls && $dir/calls");
    is($code, 0, "$what compiles and runs the calls") or diag($out);
    return $out =~ /^(\d+) (\w{16})$/mg;
}

$functions[$_]{number} = $_ for 0 .. $#functions;
my @known = grep { $_->{header} ne "device_atomic_functions.h" } @functions;
my @summed = grep { $_->{checksum} } @functions;
if ("@ARGV" eq "--record") {
    my %got = checksums($cudacc, "cudacc", @summed);
    my $text = slurp($list);
    for my $f (@summed) {
        my $new = $f->{line} =~ s/\w+$/$got{$f->{number}}/r;
        $text =~ s/^\Q$f->{line}\E$/$new/m;
    }
    spew($list, $text);
    done_testing();
    exit;
}

for my $cxx (@cxx) {
    my $set = "CXX=$cxx CC=$cc{$cxx}";
    my $text = join "", map { "#include <$_>\n" } qw(cuda_fp16.h cuda_bf16.h cuda_fp8.h cuda_fp6.h cuda_fp4.h type_traits);
    spew("$dir/types.cu", "${text}template <class T> T any();\n#line 1\n" . lines_of(\&typed, @functions));
    my ($out, $code) = output("$set $cudacc -c $dir/types.cu -o $dir/types.o");
    my %wrong = map { $functions[$_ - 1]{line} => 1 } $out =~ /types\.cu:(\d+):(?:\d+: error)?/g;
    is(join("\n", sort keys %wrong), "", "cudacc with $cxx knows all functions, with their types");
    is($code, 0, "and has nothing else to say") or diag(substr $out, 0, 2000);
    my %got = checksums("$set $cudacc -O1", "cudacc with $cxx", @summed);
    is(join("\n", map { ($got{$_->{number}} // "none") eq $_->{checksum} ? () : "$_->{line}, and not $got{$_->{number}}" } @summed), "",
        "functions give what they give in CUDA, with $cxx");
}

SKIP: {
    my %nvcc = run("sh common/make/gpu/gpu.sh nvcc");
    skip "nvcc makes the checksums of its host's code again: $1", 1 if $nvcc{out} =~ /^- (.*)/;
    my ($nvcc, $version) = split " ", $nvcc{out};
    skip "nvcc $version has not all of these functions: 13.0 has", 1 if $version < 13;
    my @host = grep { $_->{host} } @summed;
    my %got = checksums("$nvcc -w -arch=sm_90", "nvcc", @host);
    is(join("\n", map { ($got{$_->{number}} // "none") eq $_->{checksum} ? () : $_->{line} } @host), "", "nvcc's host code gives those checksums");
}
done_testing();
