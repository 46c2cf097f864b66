#!/usr/bin/env perl
# The tables of other people's programs hold together: chapter 26 counts in them, and no program of theirs is here to
# be run again.
# Reads: chapters plots/data
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

# The rows of a table, each a hash by the names of its columns.
sub rows {
    my ($name, $device) = (@_, "cpu");
    my @lines = grep { !/^#/ } split /\n/, slurp("plots/data/$device/$name.tsv");
    my @names = split /\t/, shift @lines;
    return map {
        my @cells = split /\t/, $_, -1;
        is(scalar @cells, scalar @names, "$name: $cells[1] has a cell in each column") if @cells != @names;
        my %row;
        @row{@names} = @cells;
        \%row;
    } @lines;
}

my @programs = rows("programs");
my @findings = rows("findings");
my (%commit, %seen);
$commit{$_->{repository}}{$_->{commit}} = 1 for @programs;
cmp_ok(scalar keys %commit, '>=', 6, 'programs of six repositories at least');
for (sort keys %commit) {
    like(join(" ", keys %{$commit{$_}}), qr/^[0-9a-f]{40}$/, "$_ at one commit, named in full");
}
is(join(" ", grep { $seen{$_}++ } map { "$_->{repository}/$_->{path}" } @programs), "", 'each program has one row');

my %words = (
    nvcc => "yes|no", compiles => "yes|no|-", runs => "yes|no|-", right => "yes|no|-",
    judged => "self-check|output|ends|fails-as-gpu|-", findings => "\\d+|-",
);
my %judged = map { $_ => 1 } qw(bug lockstep undefined input intended harmless size device);
for my $p (@programs) {
    my $wrong = join ", ", grep { $p->{$_} !~ /^($words{$_})$/ } sort keys %words;
    my $can = $p->{nvcc} eq "yes";
    $wrong .= ", not compiled, yet judged" if !$can && grep { $p->{$_} ne "-" } qw(compiles runs right judged findings);
    $wrong .= ", right, yet not run" if $p->{right} eq "yes" && $p->{runs} ne "yes" && $p->{judged} ne "fails-as-gpu";
    $wrong .= ", right and not judged, or the other way round" if ($p->{right} eq "yes") != ($p->{judged} ne "-");
    $wrong .= ", not right, and no note says why" if $can && ($p->{right} eq "yes") == ($p->{note} ne "-");
    is($wrong, "", "$p->{repository}/$p->{path}") if $wrong;
}
my @compiled = grep { $_->{nvcc} eq "yes" } @programs;
my @right = grep { $_->{right} eq "yes" } @compiled;
cmp_ok(@right / @compiled, '>=', 0.9, '90 % of what nvcc compiles is right');

for my $f (@findings) {
    ok($commit{$f->{repository}}{$f->{commit}} && $judged{$f->{judged}} && $f->{why} =~ /\w/ && $f->{lines} =~ /^\d+(,\d+)*$/,
        "$f->{repository}/$f->{path}, $f->{rule}: where it is, and what it is") or diag(join " | ", %$f);
}

# The findings of compute-sanitizer: a row for each, in the same order.
my @theirs = rows("findings", "nvidia-h200");
my @keys = qw(repository path lines kernel rule judged);
is_deeply([map { my $f = $_; join "|", map { $f->{$_} } @keys } @theirs],
    [map { my $f = $_; join "|", map { $f->{$_} } @keys } @findings], 'both tables have the same findings');
my %tool = (
    "out-of-bounds" => "memcheck|initcheck", "uninitialised-read" => "initcheck", "barrier-divergence" => "synccheck",
    "shared-race" => "racecheck", "pending-copy" => "racecheck",
);
for my $f (@theirs) {
    my $can = join "|", "none", "unfinished", "-", $tool{$f->{rule}} // ();
    ok($f->{sanitizer} =~ /^($can)$/, "$f->{path}, $f->{rule}: $f->{sanitizer} is a tool for it, or says nothing");
}

# The output that chapter 26 shows was recorded, all of it is shown, and each place that it names is in the table.
my $chapter = slurp("chapters/26-bugs-in-other-code.md");
my %shown = map { $_ => 1 } $chapter =~ /\{\.recorded file=(\S+)\}/g;
is(join(" ", sort keys %shown), join(" ", sort glob "plots/data/*/findings/*.txt"), 'all recorded outputs are shown');
while ($chapter =~ /^\*\*(\S+)\*\*, `([^`]+)`, commit ([0-9a-f]{7})\b/mg) {
    my ($repository, $path, $commit) = ($1, $2, $3);
    my $pattern = join ".*", map { quotemeta } split / \x{2026}| \xe2\x80\xa6/, $path;
    my @there = grep { $_->{repository} eq $repository && $_->{path} =~ /^$pattern$/ && $_->{commit} =~ /^$commit/ }
        @findings, @programs;
    ok(scalar @there, "$repository/$path at $commit is in the tables");
}
done_testing();
