#!/usr/bin/env perl
# The folders of the CPU backend and those of the harness stand one above the other: a README.md lists them from the
# bottom to the top. A file calls functions, and includes headers, of its own folder and of those below it only; the
# files of a folder do not call each other in a circle. A folder has at most twelve files. What a header of the backend
# says of a function's home is true. common/cpu/runtime.mk builds each of its files.
# Reads: common/cpu common/harness
use strict;
use warnings;
use Cwd qw(getcwd);
use File::Basename;
use Test::More;
use lib "tests/lib";
use Workbook;

my ($here, $dir) = (getcwd(), scratch_dir());
my ($cc) = grep { have($_) } ($ENV{CC} || ()), qw(gcc clang cc);
my ($cpu, $harness) = ("common/cpu", "common/harness");

# The files of a tree by a pattern, and the folders that its README.md lists.
sub within { my ($tree, $name) = @_; return sort map { s{^\Q$tree\E/}{}r } grep { -f } glob("$tree/{*,*/*,*/*/*}/$name") }
sub listed_folders { return slurp("$_[0]/README.md") =~ /^- `([\w\/]+)\/`:/mg }

my %level; # of each folder of the tree that is looked at: 0 is the lowest
sub look_at {
    my ($tree) = @_;
    my @folders = listed_folders($tree);
    %level = ("." => -1, map { $folders[$_] => $_ } 0 .. $#folders);
    my %has = map { dirname($_) => 1 } grep { !m{^include/} } within($tree, "*.c");
    is_deeply([grep { $has{$_} } sort @folders], [sort keys %has], "$tree/README.md lists each folder of sources");
    my %size;
    $size{dirname($_)}++ for grep { !m{^include/[^/]+$} } within($tree, "*"); # include/: names that nvcc has
    is_deeply([grep { $size{$_} > 12 } sort keys %size], [], "$tree: no folder has more than twelve files");
}

# Compiles sources, but inlines nothing: each call is then a symbol that the object needs. Returns what the objects have
# and need, as [FILE, SYMBOL, is it needed?].
sub symbols {
    my ($flags, %source) = @_;
    mkdir "$dir/objects";
    my %r = run(join " && ", "cd '$dir/objects'", "rm -f *.o", map({ my $object = $_ =~ s{/}{+}gr;
        "$cc -std=c11 -w -pthread $flags -I'$here/$cpu/include' -c '$source{$_}' -o $object.o" } sort keys %source),
        "nm -P -A -g *.o");
    is($r{code}, 0, "all files compile") or diag($r{err});
    my @found = map { /^(?:.*\[)?([^\s\[]+)\.o\]?: (\S+) (\w)/ ? [$1, $2, $3 eq "U"] : () } split /\n/, $r{out};
    $_->[0] =~ tr{+}{/} for @found;
    return @found;
}

# Functions that a folder declares for others above it to define: the device's hooks for instruments, and those for units
# of the hardware.
my %hook = map { $_ => 1 } map { slurp("$cpu/$_") =~ /\b((?:(?:cpu_)?trace|units)_\w+)\(/g } "device/hooks.h", "include/cpu/runtime.h";

my %home;
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

sub goes_down {
    my ($where, $least, $flags, $tree, @files) = @_;
    my @calls = calls(symbols($flags, map { $_ => "$here/$tree/$_" } @files));
    cmp_ok(scalar @calls, ">", $least, "$where, files call each other");
    is_deeply([upwards(@calls)], [], "$where, no file calls one of a folder above it");
    is_deeply([circle(@calls)], [], "$where, no files of a folder call each other in a circle");
}

# A call of FUNCTION, in CALLED, planted into FILE, is found.
sub finds_call {
    my ($flags, $tree, $file, $function, $called) = @_;
    spew("$dir/planted.c", slurp("$tree/$file") . "void $function(void);\nvoid planted(void);\nvoid planted(void)\n{\n    $function();\n}\n");
    is_deeply([upwards(calls(symbols($flags, $file => "$dir/planted.c")))], ["$file calls $function of $called"], "a call upwards is found");
}

sub includes_down {
    my ($tree, $prefix) = @_;
    my @includes = map { my $file = $_; map { [$file, "", $_] } grep { -e "$tree/$_" } slurp("$tree/$file") =~ /^#include "\Q$prefix\E([^"]+)"/mg }
        grep { !m{^include/} } map { within($tree, $_) } "*.c", "*.h", "*.cu";
    cmp_ok(scalar @includes, ">", 40, "files of $tree include headers of their own");
    is_deeply([upwards(@includes)], [], "no file of $tree includes a header of a folder above it");
}

# --- The CPU backend -----------------------------------------------------------------------------
look_at($cpu);
my @sources = grep { !m{^include/} } within($cpu, "*.c");

# The sources of an object in runtime.mk.
sub listed {
    my ($name) = @_;
    spew("$dir/$name.mk", slurp("$cpu/runtime.mk") . "\nprint-it:\n\t\@echo \$($name)\n");
    my %r = run("make -s -rR -f $dir/$name.mk print-it");
    return map { "$_.c" } split " ", $r{out};
}
my %list = map { $_ => [listed($_)] } qw(shared each both count check blas rewriter);
is_deeply([sort map { @$_ } values %list], \@sources, "runtime.mk has each source, once");

goes_down("in the rewriter", 100, "-I'$here/$cpu'", $cpu, @{ $list{rewriter} });
goes_down("with $_->[0]", 300, "-DCPU_TRACE=$_->[1] -I'$here/$cpu'", $cpu, map { @{ $list{$_} } } qw(shared each both), $_->[0])
    for [count => 1], [check => 2];
finds_call("-DCPU_TRACE=1 -I'$here/$cpu'", $cpu, "base/error.c", "memory_reset", "api/allocation.c");
is_deeply([circle(["a/b.c", "", "a/c.c"], ["a/c.c", "", "a/d.c"], ["a/d.c", "", "a/c.c"], ["a/c.c", "", "e/f.c"])],
    ["a/b.c", "a/c.c", "a/d.c"], "so is a circle, with who calls into it");
includes_down($cpu, "");

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
is_deeply([map { strangers($_) } grep { !m{^libraries/blas/} } within($cpu, "*.h")], [],
    "what headers say of a function's home is true");

# --- The harness ---------------------------------------------------------------------------------
%home = ();
look_at($harness);
my %name;
$name{basename($_)}++ for within($harness, "*.c");
is_deeply([grep { $name{$_} > 1 } keys %name], [], "no two files of the harness have the same name: their objects lie in one folder");
goes_down("in the harness", 100, "-I'$here/common'", $harness, within($harness, "*.c"));
finds_call("-I'$here/common'", $harness, "base/message.c", "kf_close", "verify/tensors.c");
includes_down($harness, "harness/");
done_testing();
