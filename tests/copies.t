#!/usr/bin/env perl
# A step is a snapshot: a function or struct below a line "// same as step NN" is, token for token, what
# has its name in step NN, in its .cu or beside it; below "// same as step NN, a-NAME.cuh" in that file.
# Below "// same as a-NAME.cuh" it is that of an earlier rung of the same step. Comments and layout may
# differ.
# Reads: common/cuda steps
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

# The definitions at the top level of a source: hashes with name, line, marked (the step, or undef) and
# tokens, which are pairs of a text and its line.
sub definitions {
    my ($text) = @_;
    my (@found, $marked, $current);
    my ($n, $comment) = (0, 0);
    for (split /\n/, $text) {
        $n++;
        my $is_comment = $comment || m{^\s*(//|/\*)};
        $comment = 1 if m{^\s*/\*};
        $comment = 0 if m{\*/};
        if (!$current) {
            $marked = $1 if m{^// same as (step \d\d(?:, [\w-]+\.cuh)?|[a-z]-[\w-]+\.cuh)$};
            next if $is_comment || /^\s*$/ || /^#/ || /^(?:namespace\b.*|\{|\} \/\/ namespace.*)$/;
            $current = { line => $n, marked => $marked, tokens => [] };
            $marked = undef;
        }
        next if $is_comment;
        (my $code = $_) =~ s{("(?:[^"\\]|\\.)*")|//.*|/\*.*?\*/}{$1 // ""}ge;
        push @{ $current->{tokens} }, map { [$_, $n] }
            $code =~ /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\w+|[^\s\w]/g;
        $current->{braces} = 1 if $code =~ /[{]/;
        next if $current->{braces} ? !/^\}/ && $code !~ /^\S.*\};\s*$/ : $code !~ /;\s*$/;
        $current->{name} = name_of(join " ", map { $_->[0] } @{ $current->{tokens} });
        push @found, $current if $current->{name}; # a prototype has none
        $current = undef;
    }
    return @found;
}

# The name in a definition whose tokens stand apart.
sub name_of {
    my ($text) = @_;
    1 while $text =~ s/\b(__launch_bounds__|__attribute__|__align__|alignas) \((?:[^()]|\([^()]*\))*\)//;
    $text =~ s/^template < .*? > (?=[a-z_])//;
    return "" if $text =~ /\) ;$/ && $text !~ /=/;
    return "enum of $1" if $text =~ /^enum \{ (\w+)/;
    return $1 if $text =~ /^(?:static |typedef )*(?:struct|enum|union|class) (\w+) \{/;
    return $1 if $text =~ /^[^={]*?(\w+) \(/;
    return $text =~ /^[^=;{]*?(\w+)(?: \[[^=;]*?\])* [=;{]/ ? $1 : "";
}

# The faults of a file's marked copies, one line each, and the number of copies.
sub drifted {
    my ($file, %sources_of) = @_;
    my ($folder) = $file =~ m{(.*)/};
    my (@wrong, $copies);
    for my $copy (grep { $_->{marked} } definitions(slurp($file))) {
        $copies++;
        my ($at, $step) = ("$file:$copy->{line}", $copy->{marked});
        my ($number, $only) = $step =~ /^step (\d\d)(?:, (.*))?$/;
        my @origins = $number ? grep { !$only || m{/\Q$only\E$} } @{ $sources_of{$number} || [] }
            : grep { -f } "$folder/$step";
        push(@wrong, "$at: there is no $step"), next if !@origins;
        my ($there, $origin);
        for my $path (@origins) {
            ($there) = grep { $_->{name} eq $copy->{name} } definitions(slurp($path)) or next;
            $origin = $path;
            last;
        }
        push(@wrong, "$at: $origins[0] has no $copy->{name}" . (@origins > 1 ? ", and nothing beside it" : "")), next
            if !$there;
        my ($a, $b) = ($copy->{tokens}, $there->{tokens});
        my $i = 0;
        $i++ while $i < @$a && $i < @$b && $a->[$i][0] eq $b->[$i][0];
        next if $i == @$a && $i == @$b;
        my ($here, $same) = map { my ($path, $tokens) = @$_;
            my $line = ($tokens->[$i] || $tokens->[-1])->[1];
            "$path:$line: " . (split /\n/, slurp($path))[$line - 1] =~ s/^\s+//r } [$file, $a], [$origin, $b];
        push @wrong, "$copy->{name} is not the same as in $step: $here; there $same";
    }
    return ($copies || 0, @wrong);
}

my %sources_of;
push @{ $sources_of{ (m{/(\d\d)-})[0] } }, $_ for glob("steps/[0-9][0-9]-*/*.cu"), glob("steps/[0-9][0-9]-*/*.cuh");
# Rivals in headers are copies as well.
for my $source ((map { @{ $sources_of{$_} } } sort keys %sources_of), glob("common/cuda/*.cuh")) {
    my ($copies, @wrong) = drifted($source, %sources_of);
    my $marks = () = slurp($source) =~ m{^\s*// same as (?:step|[a-z]-)}mg;
    is($copies, $marks, "$source: each mark stands above a definition");
    is(join("\n", @wrong), "", "$source: $copies copies are the same") if $copies;
}

# --- A drift is found --------------------------------------------------------------------------------
my $dir = scratch_dir();
my $kernel = <<'END';
// o = x + 1
template <int N>
static __global__ void __launch_bounds__(32 * (4)) add(const float *x, float *o, int n)
{
    int i = blockIdx.x * N + threadIdx.x; // one element
    if (i < n)
        o[i] = x[i] + 1.0f;
}
END
my $struct = "struct shape {\n    int n;\n};\nstatic const int WIDTH = 4;\n";
spew("$dir/one.cu", "/* a */\n#include <x.h>\n\n$kernel\n$struct");
sub try_copy {
    my ($text) = @_;
    spew("$dir/two.cu", $text);
    my ($copies, @wrong) = drifted("$dir/two.cu", "01" => ["$dir/one.cu"], "02" => ["$dir/one.cu", "$dir/a-rung.cuh"]);
    return join "\n", map { s/\Q$dir\E\///gr } @wrong;
}
my $mark = "// same as step 01\n";
is(try_copy("$mark$kernel$mark$struct"), "", "a copy is the same");
is(try_copy($mark . $kernel =~ s/ \/\/ one.*|^\/\/.*\n//mgr =~ s/int n\)/\n    int n)/r), "",
    "also in another layout and with other comments");
is(try_copy($mark . $kernel =~ s/i < n/i <= n/r),
    "add is not the same as in step 01: two.cu:7: if (i <= n); there one.cu:9: if (i < n)", "a drift is found");
is(try_copy($mark . $kernel =~ s/    if.*\n//r),
    "add is not the same as in step 01: two.cu:7: o[i] = x[i] + 1.0f;; there one.cu:9: if (i < n)", "a line that is missing too");
is(try_copy($mark . $struct =~ s/int n;/int n, m;/r),
    "shape is not the same as in step 01: two.cu:3: int n, m;; there one.cu:14: int n;", "and in a struct");
is(try_copy("$mark// a comment\n" . $struct =~ s/.*\n\};\n//sr =~ s/4/5/r),
    "WIDTH is not the same as in step 01: two.cu:3: static const int WIDTH = 5;; there one.cu:16: static const int WIDTH = 4;", "and a constant");
is(try_copy($mark . $kernel =~ s/add/sub/r), "two.cu:3: one.cu has no sub", "a name that is not there");
is(try_copy($mark =~ s/01/09/r . $kernel), "two.cu:3: there is no step 09", "a step that is not there");
spew("$dir/a-rung.cuh", "namespace a_rung {\n" . $kernel =~ s/add/sub/r . "}\n");
is(try_copy($mark =~ s/01/02/r . $kernel =~ s/add/sub/r), "", "a function beside the step's file");
is(try_copy($mark =~ s/01/02/r . $kernel =~ s/add/mul/r), "two.cu:3: one.cu has no mul, and nothing beside it",
    "and one that is nowhere");
is(try_copy($mark =~ s/01/02, a-rung.cuh/r . $kernel =~ s/add/sub/r), "", "in the file that is named");
is(try_copy($mark =~ s/01/02, a-rung.cuh/r . $kernel), "two.cu:3: a-rung.cuh has no add", "and in no other");
is(try_copy($mark =~ s/01/02, b-rung.cuh/r . $kernel), "two.cu:3: there is no step 02, b-rung.cuh", "a file that is not there");
my $rung = "// same as a-rung.cuh\n";
is(try_copy($rung . $kernel =~ s/add/sub/r), "", "a function of another rung");
is(try_copy($rung . $kernel =~ s/add/sub/r =~ s/1\.0f/2.0f/r),
    "sub is not the same as in a-rung.cuh: two.cu:8: o[i] = x[i] + 2.0f;; there a-rung.cuh:8: o[i] = x[i] + 1.0f;",
    "whose drift is found");
is(try_copy($rung =~ s/a-/b-/r . $kernel), "two.cu:3: there is no b-rung.cuh", "and a rung that is not there");
done_testing();
