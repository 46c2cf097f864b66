#!/usr/bin/env perl
# The folders of the CPU backend stand one above the other: common/cpu/README.md lists them from the bottom to the
# top. A file calls functions, and includes headers, of its own folder and of those below it only; the files of a folder
# do not call each other in a circle. A folder has at most twelve files. What a header says of a function's home is
# true. common/cpu/runtime.mk builds each of the files.
# Reads: common/cpu
use strict;
use warnings;
use Cwd qw(getcwd);
use File::Basename;
use Test::More;
use lib "tests/lib";
use Workbook;

my $cpu = "common/cpu";
my ($here, $dir) = (getcwd(), scratch_dir());
my ($cc) = grep { have($_) } ($ENV{CC} || ()), qw(gcc clang cc);
sub within { return sort map { s{^\Q$cpu\E/}{}r } map { glob("$cpu/{*,*/*,*/*/*}/$_[0]") } 0 }

my @folders = slurp("$cpu/README.md") =~ /^- `([\w\/]+)\/`:/mg;
my %level = map { $folders[$_] => $_ } 0 .. $#folders;
my @sources = grep { !m{^include/} } within("*.c");
my %has = map { dirname($_) => 1 } @sources;
is_deeply([grep { $has{$_} } sort @folders], [sort keys %has], "README.md lists each folder of sources");

my %size;
$size{dirname($_)}++ for grep { -f "$cpu/$_" && !m{^include/[^/]+$} } within("*"); # include/: names that nvcc has
is_deeply([grep { $size{$_} > 12 } sort keys %size], [], "no folder has more than twelve files");

# What runtime.mk builds of which sources.
sub listed {
    my ($name) = @_;
    spew("$dir/$name.mk", slurp("$cpu/runtime.mk") . "\nprint-it:\n\t\@echo \$($name)\n");
    my %r = run("make -s -rR -f $dir/$name.mk print-it");
    return map { "$_.c" } split " ", $r{out};
}
my %list = map { $_ => [listed($_)] } qw(shared each both count check blas rewriter);
is_deeply([sort map { @$_ } values %list], \@sources, "runtime.mk has each source, once");

# Compiles sources as cudacc does for instrument 1 or 2, but inlines nothing: each call is then a symbol that the
# object needs. Returns what the objects have and need, as [FILE, SYMBOL, is it needed?].
sub symbols {
    my ($instrument, %source) = @_;
    mkdir "$dir/objects";
    my @all = sort keys %source;
    my %r = run(join " && ", "cd '$dir/objects'", "rm -f *.o", map({ my $object = $_ =~ s{/}{+}gr;
        "$cc -std=c11 -w -pthread -DCPU_TRACE=$instrument -I'$here/$cpu' -I'$here/$cpu/include' -c '$source{$_}' -o $object.o" } @all),
        "nm -P -A -g *.o");
    is($r{code}, 0, "all files compile") or diag($r{err});
    my @found = map { /^(?:.*\[)?([^\s\[]+)\.o\]?: (\S+) (\w)/ ? [$1, $2, $3 eq "U"] : () } split /\n/, $r{out};
    $_->[0] =~ tr{+}{/} for @found;
    return @found;
}

# What a folder declares for others above it to define: how the device tells an instrument, and units of the hardware,
# what happens.
my %hook = map { $_ => 1 } map { slurp("$cpu/$_") =~ /\b((?:(?:cpu_)?trace|units)_\w+)\(/g } "device/hooks.h", "include/cpu/runtime.h";

my (%home, @wrong);
sub calls {
    my @symbols = @_;
    $home{$_->[1]} = $_->[0] for grep { !$_->[2] } @symbols;
    return map { [$_->[0], $_->[1], $home{$_->[1]}] } grep { $_->[2] && $home{$_->[1]} && !$hook{$_->[1]} } @symbols;
}
sub upwards {
    return sort map { "$_->[0] calls $_->[1] of $_->[2]" }
        grep { ($level{dirname($_->[2])} // 99) > ($level{dirname($_->[0])} // 99) } @_;
}

# The files of a folder that are left when those that call no other of them are taken away, again and again.
sub circle {
    my %needs;
    $needs{$_->[0]}{$_->[2]} = 1 for grep { $_->[0] ne $_->[2] && dirname($_->[0]) eq dirname($_->[2]) } @_;
    while (my @free = map { my $file = $_; grep { !$needs{$_} } keys %{ $needs{$file} } } keys %needs) {
        delete @{ $needs{$_} }{@free} for keys %needs;
        delete @needs{ grep { !%{ $needs{$_} } } keys %needs };
    }
    return sort keys %needs;
}

for (["with count", 1, 300, qw(shared each both count)], ["with check", 2, 300, qw(shared each both check)],
    ["in the rewriter", 0, 100, "rewriter"]) {
    my ($where, $instrument, $least, @lists) = @$_;
    my @calls = calls(symbols($instrument, map { $_ => "$here/$cpu/$_" } map { @{ $list{$_} } } @lists));
    cmp_ok(scalar @calls, ">", $least, "$where, files call each other");
    is_deeply([upwards(@calls)], [], "$where, no file calls one of a folder above it");
    is_deeply([circle(@calls)], [], "$where, no files of a folder call each other in a circle");
}
spew("$dir/error.c", slurp("$cpu/base/error.c") . "void memory_reset(void);\nvoid planted(void);\n"
    . "void planted(void)\n{\n    memory_reset();\n}\n");
is_deeply([upwards(calls(symbols(1, "base/error.c" => "$dir/error.c")))],
    ["base/error.c calls memory_reset of api/allocation.c"], "a call upwards is found");
is_deeply([circle(["a/b.c", "", "a/c.c"], ["a/c.c", "", "a/d.c"], ["a/d.c", "", "a/c.c"], ["a/c.c", "", "e/f.c"])],
    ["a/b.c", "a/c.c", "a/d.c"], "so is a circle, with who calls into it");

# Headers, of cuBLAS and of the rewriter too.
my @includes = map { my $file = $_; map { [$file, "", $_] } grep { -e "$cpu/$_" } slurp("$cpu/$file") =~ /^#include "([^"]+)"/mg }
    @sources, grep { !m{^include/} } within("*.h");
cmp_ok(scalar @includes, ">", 100, "files include headers of their own");
is_deeply([upwards(@includes)], [], "no file includes a header of a folder above it");

# Functions and variables that are declared in the part of a header that names a file are that file's.
sub strangers {
    my ($header) = @_;
    my ($text, @wrong) = (slurp("$cpu/$header"));
    my @parts = split m{(/\*(?: --- [\w/]+\.c\b|[^*]*?\(\w+\.c(?:, \w+\.c)*\)).*?\*/)}s, $text;
    shift @parts;
    while (my ($title, $part) = splice @parts, 0, 2) {
        my %here = map { $_ => 1 } $title =~ /(\w+)\.c\b/g;
        $part =~ s{/\*.*?\*/|\bformat\(printf}{}sg;
        1 while $part =~ s/\{[^{}]*\}/;/g;
        push @wrong, map { "$_ is declared as " . join(" or ", sort keys %here) . "'s" }
            grep { $home{$_} && !$here{basename($home{$_}, ".c")} } $part =~ /(\w+)(?=\s*[(;\[,])/g;
    }
    return @wrong;
}
is_deeply([map { strangers($_) } grep { !m{^libraries/blas/} } within("*.h")], [],
    "what headers say of a function's home is true");
done_testing();
