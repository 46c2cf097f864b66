#!/usr/bin/env perl
# What README shows is what happens: its sample of output, its list of steps, its picture.
# The links of the CPU backend's pages lead somewhere.
use strict;
use warnings;
use Test::More;
use FindBin;
use lib "$FindBin::Bin/lib";
use Workbook;
chdir "$FindBin::Bin/.." or die;

my $readme = slurp('README.md');

# The command and what it prints: a line for each file that is compiled, then all of this.
my ($command, $sample) = $readme =~ /^    make setup\n    (make step-03 run .*)\n(?:.*\n)+?^    (backend: (?:.*\n(?=    |\n    ))*.*\n)/m;
ok(defined $sample, 'README has a command and its output');
my %run = run(($command // 'false') . ' BACKEND=cpu');
is($run{code}, 0, "$command: runs") or diag($run{err});
my $printed = $run{out} =~ s/\A(?:(?!backend: ).*\n)*backend: CPU \(asked for\)\n/backend: CPU (no nvcc found)\n/r;
$printed =~ s/, make step-03 predict|make step-03 predict, //; # not named where a prediction is kept
$printed =~ s/^\nYour predictions:\n(?:.+\n)*//m; # and not compared with one
# Where the book is built, its page is named in place of the line of the chapter.
my ($chapter) = grep { slurp($_) =~ /^::: \{\.step step=03\}$/m } glob 'chapters/*.md';
my ($before) = slurp($chapter) =~ /\A(.*?)^::: \{\.step step=03\}$/ms;
my $line = 1 + ($before =~ tr/\n//);
$printed =~ s/^read: build\/book\/.*/read: $chapter, line $line (make book makes pages)/m;
is(($sample // '') =~ s/^    //mgr =~ s/, make step-03 predict|make step-03 predict, //r, $printed, 'and prints what README shows');

my %listed = map { $_ => 1 } $readme =~ /^\| (\d\d-?[\w-]* ?[\w-]+) \|/mg;
for my $dir (glob 'steps/[0-9][0-9]-*') {
    my ($name) = $dir =~ m{/(\d\d-.*)};
    ok($listed{ $name =~ s/-/ /r }, "README lists $name");
}
my ($title) = slurp('plots/03-wrong-map.svg') =~ /(NVIDIA H200)/;
ok($title, 'the picture names its device');
for my $path ($readme =~ /\]\(([^)]+)\)/g) {
    ok(-e $path, "$path is there");
}
# So do the links of the CPU backend's pages, down to the heading.
sub anchors { return map { my $t = lc; $t =~ s/[^\w -]//g; $t =~ tr/ /-/r => 1 } slurp($_[0]) =~ /^#+ (.*)$/mg }
for my $page (glob "common/cpu/README.md common/cpu/*/README.md") {
    for (slurp($page) =~ /\]\(([^)]+)\)/g) {
        my ($path, $anchor) = /^([^#]*)#?(.*)$/s;
        my $file = $path eq "" ? $page : $page =~ s{[^/]*$}{$path}r;
        my %known = -e $file && $anchor ne "" ? anchors($file) : ("" => 1);
        ok(-e $file && $known{$anchor}, "$page: $_ is there");
    }
}
# And what help says of the steps.
my %help = run("make");
for my $step (glob("steps/[0-9][0-9]-*/*.cu")) {
    my ($number) = $step =~ m{/(\d\d)-};
    my ($title) = slurp($step) =~ m{\A/\* [^:]*: *(.*?)(?: *\*/)?\n};
    like($help{out}, qr/^  step-$number  \S+ +\Q$title\E$/m, "help has step-$number with its title");
}
done_testing();
