#!/usr/bin/env perl
# make messages: it has a message of each who says something, every rule of --check that a fault is planted for, every
# PTX instruction, and the exit codes.
# Reads: common tests/check tests/async-faults
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my %r = run("make messages");
is("$r{code} $r{err}", "0 ", "make messages ends well");
for ("- --case …: no case of that name; one of …, or FIELD=VALUE as in D=…", "| 77 | `KF_CANNOT_RUN` | cannot run here |",
    "- no input files; --help tells how to call cudacc", "- kernel … returns …; a kernel returns void", "| `mov` | pred |") {
    like($r{out}, qr/^\Q$_\E$/m, $_);
}
for my $heading ($r{out} =~ /^## (.*)$/mg) {
    like($r{out}, qr/^## \Q$heading\E\n\n(?:.*\n\n?)*?(?:- |\| )/m, "$heading: something is listed");
}
my ($rules) = $r{out} =~ /^## Rules of.*?\n(.*?)^## /ms;
my %planted = map { map { $_ => 1 } slurp($_) =~ /return suite\("(.*)", list/ } glob("tests/{check,async-faults}/*.cu");
like($rules, qr/^- `\Q$_\E`/m, "the rule $_") for sort keys %planted;
my %listed = map { $_ => 1 } $r{out} =~ /^\| `(\w+)` \| /mg;
my @known = map { slurp($_) =~ /^PTX_BY_\w+\(\s*"(\w+)"/mg } grep { -f } glob("common/cpu/*/instructions.h common/cpu/*/*/instructions.h");
cmp_ok(scalar(@known), ">", 100, "there is a table of instructions");
ok($listed{$_}, "instruction $_") for @known;

# A table that it does not find is an error.
my $tree = small_tree();
%r = run("cd '$tree' && make messages");
like($r{err}, qr/^messages: there is no .* any more; common\/make\/build\/messages\.pl looks for it$/m, "what is gone is an error");
isnt($r{code}, 0, "and it fails");
done_testing();
