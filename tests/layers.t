#!/usr/bin/env perl
# Calls between the files of the CPU backend go downwards: the list in common/cpu/README.md is their
# order, from the bottom to the top. What a header says of a function's home is true. common/cpu/runtime.mk builds
# each of the files. In the harness, folders call only those before them in its README.md, and files never in a circle.
# Reads: common/cpu common/harness
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

my @order = slurp("$cpu/README.md") =~ /^- `((?:(?:trace|ptx)\/)?\w+\.c)`:/mg;
# runtime.mk says what is built of which sources.
my %list = map { my ($name, $files) = @$_; $name => [map { "$_.c" } split /[\s\\]+/, $files] }
    map { [/^(\w+) := ((?:.*\\\n)*.*)/] } slurp("$cpu/runtime.mk") =~ /^((?:shared|each|both|count|check|blas|rewriter) := (?:.*\\\n)*.*)/mg;
my @files = map { @{ $list{$_} } } qw(shared each both count check);
is_deeply([sort @files, map { @{ $list{$_} } } qw(blas rewriter)],
    [sort map { s{^\Q$cpu\E/}{}r } glob("$cpu/*.c $cpu/*/*.c")], "runtime.mk has each source, once");
is_deeply([sort @order], [sort @files], "README.md has each file of the runtime, once");
my ($told) = slurp("$cpu/runtime.h") =~ m{\A/\*(.*?)\*/}s;
is_deeply([$told =~ /\b(\w+\.c)\b/g], [grep { !m{/} } @order], "runtime.h has the same order");

# The name of a source's object: there are a memory.c and one in ptx/.
sub object {
    my ($file) = @_;
    return ($file =~ m{(?:^|/)ptx/} ? "ptx_" : "") . basename($file, ".c");
}

# Compiles sources into a folder as cudacc does for instrument 1 or 2, but inlines nothing: each call
# is then a symbol that the object needs.
sub compile {
    my ($folder, $instrument, @sources) = @_;
    mkdir "$dir/$folder";
    return "(cd '$dir/$folder' && " . join(" && ", map { "$cc -std=c11 -w -pthread "
        . "-DCPU_TRACE=$instrument -I'$here/$cpu' -I'$here/$cpu/include' -c '$_' -o " . object($_)
        . ".o" } @sources) . " && nm -P -A -g *.o >symbols) || touch '$dir/failed'";
}

# What the objects in a folder need of each other and have, as [FILE, SYMBOL], [FILE, SYMBOL] ...
sub symbols {
    my ($folder, $have) = @_;
    my %of = map { object($_) => $_ } @order;
    return map { [$of{$_->[0]}, $_->[1]] } grep { ($_->[2] ne "U") == $have }
        map { /^(?:.*\[)?(\w+)\.o\]?: (\S+) (\w)/ ? [$1, $2, $3] : () }
        split /\n/, slurp("$dir/$folder/symbols");
}

my %home;
sub upwards {
    my %place = map { $order[$_] => $_ } 0 .. $#order;
    return sort map { "$_->[0] calls $_->[1] of $home{$_->[1]}" }
        grep { $home{$_->[1]} && $place{$home{$_->[1]}} > $place{$_->[0]} } @_;
}

# Files that tell an instrument nothing are the same with either.
my @count = grep { !m{/check} } @order;
my @check = map { @{ $list{$_} } } qw(each both check);
spew("$dir/error.c", slurp("$cpu/error.c")
    . "void memory_reset(void);\nvoid planted(void);\nvoid planted(void)\n{\n    memory_reset();\n}\n");
my %r = run(join(" &\n", compile("count", 1, map { "$here/$cpu/$_" } @count),
    compile("check", 2, map { "$here/$cpu/$_" } @check), compile("planted", 1, "$dir/error.c"))
    . " &\nwait");
ok(!-e "$dir/failed", "all files compile") or diag($r{err});
for my $instrument (qw(count check)) {
    # Both have hooks of the same names; files that are compiled once define the same for both.
    $home{$_->[1]} = $_->[0] for symbols("count", 1), symbols($instrument, 1);
    my @needed = symbols($instrument, 0);
    cmp_ok(scalar(grep { $home{$_->[1]} } @needed), ">", 30, "with $instrument, files call each other");
    is_deeply([upwards(@needed)], [], "with $instrument, no file calls one above it");
}
is_deeply([upwards(symbols("planted", 0))], ["error.c calls memory_reset of memory.c"],
    "a call upwards is found");

# Functions and variables that are declared in the part of a header that names a file are that file's.
sub strangers {
    my ($header) = @_;
    my ($text, @wrong) = (slurp("$cpu/$header"));
    my @parts = split m{(/\*(?: --- \w+\.c\b|[^*]*?\(\w+\.c\)).*?\*/)}s, $text;
    shift @parts;
    while (my ($title, $part) = splice @parts, 0, 2) {
        my %here = map { $_ => 1 } $title =~ /(\w+)\.c\b/g;
        $part =~ s{/\*.*?\*/}{}sg;
        1 while $part =~ s/\{[^{}]*\}/;/g;
        push @wrong, map { "$_ is declared as " . join(" or ", sort keys %here) . "'s" }
            grep { $home{$_} && !$here{basename($home{$_}, ".c")} } $part =~ /(\w+)(?=\s*[(;\[,])/g;
    }
    return @wrong;
}
is_deeply([map { strangers($_) } qw(runtime.h stream.h trace/check.h trace/count.h
    include/cuda_runtime_api.h ptx/ptx.h ptx/parse.h ptx/real.h)], [], "what headers say of a function's home is true");

# --- The harness.
my $harness = "common/harness";
my @folders = slurp("$harness/README.md") =~ m{^- `(\w+)/`:}mg;
my %floor = map { $folders[$_] => $_ } 0 .. $#folders;
my @sources = glob("$harness/*/*.c");
my %folder = map { m{(\w+)/(\w+)\.c$}; $2 => $1 } @sources;
is_deeply([sort @folders], [sort map { s{^\Q$harness\E/}{}r } grep { -d } glob("$harness/*")], "README.md has each folder, once");
is(scalar keys %folder, scalar @sources, "no two files of the harness have the same name");
for my $folder (@folders) {
    cmp_ok(scalar(() = glob("$harness/$folder/*")), "<=", 12, "at most twelve files in $folder/");
}

# [FILE, FUNCTION, FILE that has it] for all calls between files.
sub calls {
    my ($where, @from) = @_;
    mkdir "$dir/$where";
    my %r = run("cd '$dir/$where' && $cc -std=c11 -w -I'$here/common' -I'$here/$cpu/include' -c "
        . join(" ", map { m{^/} ? "'$_'" : "'$here/$_'" } @from) . " && nm -P -A -g *.o");
    is($r{code}, 0, "the harness compiles, $where") or diag($r{err});
    my @all = map { /^(?:.*\[)?(\w+)\.o\]?: (\S+) (\w)/ ? [$1, $2, $3] : () } split /\n/, $r{out};
    my %has = map { $_->[1] => $_->[0] } grep { $_->[2] ne "U" } @all;
    return map { [$_->[0], $_->[1], $has{$_->[1]}] } grep { $_->[2] eq "U" && $has{$_->[1]} } @all;
}

sub climbs {
    return sort map { "$folder{$_->[0]}/$_->[0].c calls $_->[1] of $folder{$_->[2]}/$_->[2].c" }
        grep { $floor{$folder{$_->[0]}} < $floor{$folder{$_->[2]}} } @_;
}

# The files that are left when, again and again, those are taken away that call none of the others.
sub circle {
    my %left = map { $_ => 1 } keys %folder;
    for (my $before = 0; $before != keys %left;) {
        $before = keys %left;
        my %calls = map { $_->[0] => 1 } grep { $left{$_->[2]} && $_->[0] ne $_->[2] } @_;
        delete @left{grep { !$calls{$_} } keys %left};
    }
    return sort keys %left;
}
my @calls = calls("harness", @sources);
cmp_ok(scalar @calls, ">", 100, "files of the harness call each other");
is_deeply([climbs(@calls)], [], "no folder calls one after it");
is_deeply([circle(@calls)], [], "no files call each other in a circle");
my $planted = "void kf_close(void);\nvoid planted(void);\nvoid planted(void)\n{\n    kf_close();\n}\n";
spew("$dir/message.c", slurp("$harness/base/message.c") . $planted);
@calls = calls("planted harness", "$dir/message.c", grep { !m{/message\.c$} } @sources);
is_deeply([climbs(@calls)], ["base/message.c calls kf_close of verify/tensors.c"], "a call upwards is found");
ok(scalar(grep { $_ eq "message" } circle(@calls)), "and the circle that it makes");
for my $file (glob("$harness/*/*.[ch] $harness/*/*.cu")) {
    my ($own) = $file =~ m{(\w+)/[^/]+$};
    my @above = grep { $floor{$_} > $floor{$own} } slurp($file) =~ m{^#include "harness/(\w+)/}mg;
    is("@above", "", "$file includes nothing of a folder after its own");
}
done_testing();
