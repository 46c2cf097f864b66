#!/usr/bin/env perl
# The header comment of each step. It is a page of the book as well as the text around it, but no
# figure in it is looked up in recorded rows: so what was measured is said there in words, and the
# chapter has the figure. Idea and Predict may hold numbers: shapes and counts follow from the
# source, and a prediction is a guess that was made before. Other comments hold no times either.
# Below the header, within a screen, stands the kernel that the step is about. The rungs of a step, which
# are a-NAME.cuh, b-NAME.cuh and so on beside it, have a header each, and within two screens a kernel each,
# unless the header has the line " * Tests: no kernel of its own".
# Reads: common/cuda common/neox common/problems steps
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my $MOST_LINES = 20;
my $SCREEN = 40;
my $TITLE = 67; # make help is 80 columns wide
my %NO_KERNEL = asked("no kernel");
my @WORDS = ("Grows from", qw(Follows Architecture Libraries Record Check Data Profile Tests));
my %MAY_HOLD_FIGURES = map { $_ => 1 } qw(Idea Predict);

my $number = qr/(?<![\w.])(?<![A-Za-z]-)\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?/;
my $some = qr/$number(?:(?:x|%| ?us| ?ms)?(?:-| to | or | and )$number)*/;
my $unit = qr/[ -]?(?:ns|us|µs|ms|s|(?:nano|micro|milli)?seconds?|%|per[ ]?cent|times)(?![\w\/])
    |x(?!\w)|[ ]?×(?![ ]?\d)|[ ]?[TGMk]?(?:B|FLOP)\/s/x;
my $figure = qr/factors?\ of\ (?:about\ |some\ )?$some | $some$unit
    | (?<![\w.])(?<![A-Za-z]-)\d[\d,]*(?:\.\d+(?:e[-+]?\d+)?|e[-+]?\d+)/x;

# The faults of the header of the source TEXT: a list of [line, fault].
sub faults {
    my ($text) = @_;
    my ($header) = $text =~ m{\A(/\*.*?\*/)}s or return [1, "the file does not begin with a comment"];
    my @lines = split /\n/, $header;
    my (@found, @parts);
    push @found, [scalar @lines, "the header has " . @lines . " lines; $MOST_LINES at most are right"]
        if @lines > $MOST_LINES;
    for my $i (0 .. $#lines) {
        my $line = $lines[$i];
        if ($line =~ s/^ \* ([A-Z][a-z]+) {2,}(?=\S)//) {
            push @parts, {name => $1, text => "", line => []};
        } elsif (!@parts) {
            push @found, [$i + 1, "\"$1:\" is no word that is looked for; @WORDS are"]
                if $line =~ /^ \* (.*?):/ && !grep { $1 eq $_ } @WORDS;
            next;
        } elsif ($line =~ m{^ \*/$}) {
            next;
        } elsif ($line !~ s/^ \* {10}(?=\S)//) {
            push @found, [$i + 1, "\"$line\": text of $parts[-1]{name} begins in column 13"];
            $line =~ s/^ \* *//;
        }
        $line =~ s{ *\*/$}{};
        $parts[-1]{text} .= "$line ";
        push @{$parts[-1]{line}}, ($i + 1) x (length($line) + 1);
    }
    my @names = map { $_->{name} } @parts;
    push @found, [1, "the header has \"@names\"; Idea, Predict and Outcome are right, Then may follow"]
        if "@names" !~ /^Idea Predict Outcome(?: Then)?$/;
    for my $part (grep { !$MAY_HOLD_FIGURES{$_->{name}} } @parts) {
        while ($part->{text} =~ /($figure)/g) {
            push @found, [$part->{line}[$-[0]], "$part->{name} has a measured figure, \"$1\"; say it "
                . "in words; the chapter looks it up"];
        }
    }
    my ($title) = $lines[0] =~ m{^/\* \d\d-[\w-]+: (\S.*?)(?: *\*/)?$};
    push @found, [1, "the header begins \"$lines[0]\"; \"/* 05-name: a title\" is right"] if !defined $title;
    push @found, [1, "the title has " . length($title) . " characters; make help has room for $TITLE"]
        if length($title // "") > $TITLE;
    push @found, [1, "the header names no parent; one line \" * Follows: 04-name\", or \" * Grows from: 04-name\", is right"]
        if $header !~ /^ \* (?:Grows from|Follows): (?:nothing|\d\d-[\w-]+)(?:, at most \d+ % of its story new)?$/m;
    return sort { $a->[0] <=> $b->[0] } @found;
}

# Lines of TEXT's comments in which a time is typed: [line, what]. Past the header, if that was looked
# at already.
sub typed_times {
    my ($text, $past_header) = @_;
    my @found;
    $text =~ s{\A(/\*.*?\*/)}{"\n" x ($1 =~ tr/\n//)}se if $past_header;
    while ($text =~ m{(//[^\n]*|/\*.*?\*/)}gs) {
        my ($comment, $start) = ($1, $-[0]);
        while ($comment =~ /($number[ -]?(?:ns|us|µs|ms)(?!\w))/g) {
            my $line = 1 + (substr($text, 0, $start + $-[0]) =~ tr/\n//);
            push @found, [$line, "a comment has a measured time, \"$1\"; a chapter looks it up"];
        }
    }
    return @found;
}

# How many lines below its header the first kernel of the source TEXT begins; 0 if there is none.
sub lines_to_kernel {
    my ($text) = @_;
    my ($between) = $text =~ m{\A/\*.*?\*/\n(.*?)^(?:static )?__global__ [^;\{]*\{}sm or return 0;
    return 1 + ($between =~ tr/\n//);
}

# --- The check itself: a header with figures where they may be and where they may not.
my $fixture = <<'END';
/* 99-fixture: a title may say 1.25
 *
 * Grows from: 98-nothing
 *
 * Idea     64 x 64 keys of 8 bytes, and 3 times as many sectors. A step of 0.5.
 * Predict  2 to 3 times as fast, 1.5x, 40 us or 20 %: all of it guessed.
 * Outcome  Level at D = 512, and 64 x 64 keys in 2 tiles of 48 KB, 4 lanes, 1/128 of it, as fp16 and
 *          in step 07 of Pythia-2.8B. Twice as fast, and a third of the sectors. The 9 to
 *          19% of the log are a factor
 *          of 3 or more: 1.5x to 2x, 60 us, 5-6 ms, 0.93 and 4 times.
 *          It read 4.8 TB/s, 12 per cent of 1e-6, 7 seconds, a tenth: 2.2.
 * Then     64 keys by 128 dimensions gain 3 %.
 */
int main() {}
END
is(join("\n", map { "$_->[0] " . ($_->[1] =~ /figure, "(.*)"/ ? $1 : $_->[1]) } faults($fixture)),
    join("\n", "8 9 to 19%", "9 factor of 3", "10 1.5x to 2x", "10 60 us", "10 5-6 ms", "10 0.93 and 4 times",
        "11 4.8 TB/s", "11 12 per cent", "11 1e-6", "11 7 seconds", "11 2.2", "12 3 %"),
    "each figure that was planted is found, in its line, and no other number");
like((faults($fixture))[0][1], qr/^Outcome has a measured figure, "9 to 19%"; say it in words; the/,
    "and what would be right is said");
(my $long = $fixture) =~ s/^ \* Then.*/join("\n", map { " *          more" } 1 .. 9)/me;
is((grep { $_->[1] =~ /lines/ } faults($long))[0][1], "the header has 21 lines; 20 at most are right",
    "a long header is found");
(my $swallowed = $fixture) =~ s/^ \* {10}in step/ * in step/m;
like((faults($swallowed))[0][1], qr/^" \* in step 07.*": text of Outcome begins in column 13$/,
    "so is a line that a tool has moved");
(my $unknown = $fixture) =~ s/^ \*\n/ * Test: it\n$&/m;
like((faults($unknown))[0][1], qr/^"Test:" is no word that is looked for; Grows from Follows Arch/, "a word that nobody reads");
(my $missing = $fixture) =~ s/^ \* Predict.*\n//m;
like((faults($missing))[0][1], qr/^the header has "Idea Outcome Then"; Idea, Predict/, "and a part that is missing");
like((faults($fixture =~ s/: a title.*/": " . "x" x 68/er))[0][1], qr/^the title has 68 char/, "a title that make help would break");
like((faults($fixture =~ s/^.*/\/* fixture/r))[0][1], qr/^the header begins "\/\* fixture"; /, "none");
like((faults($fixture =~ s/^ \* Grows.*\n//mr))[0][1], qr/^the header names no parent; /, "and a parent that is missing");
like((faults("int main() {}\n"))[0][1], qr/does not begin with a comment/, "or all of it");

is(join(" ", map { "$_->[0] $_->[1]" } typed_times("/* 1 us */\nint x; /* it\n took 3.5 ms */\n// 2 us2, 8 bytes\n", 1)),
    "3 a comment has a measured time, \"3.5 ms\"; a chapter looks it up", "a time in another comment is found");

is(lines_to_kernel("/* 99\n */\n#include <a>\n// __global__\n__global__ void k();\n__global__ void k()\n{\n"), 4, "a kernel is found");
is(lines_to_kernel("/* __global__ */\nint main() {}\n"), 0, "or none");

# The fault in the lines of the source TEXT about the device that it needs, or nothing.
sub unsure_of_device {
    my ($text) = @_;
    my @said = $text =~ m{\A/\*.*?\*/}s && $& =~ /^ \* Architecture: (.*)$/mg;
    return "the header names " . @said . " architectures; one line \" * Architecture: 75\" is right" if @said != 1;
    return "Architecture: $said[0]; 75, 80, 90 or 90a is right, and \", without VARIANTS\" may follow"
        if $said[0] !~ s/^(75|80|90a?)(?:, without [\w-]+(?: [\w-]+)*)?$/$1/;
    my ($asks) = $text =~ /^ +\.architecture = "(\w+)",$/m;
    return "" if $said[0] eq ($asks // "75");
    return "Architecture: $said[0] in the header, and " . ($asks // 75) . " in the program";
}
my $device = "/* 99\n * Architecture: 80\n */\n        .architecture = \"80\",\n";
is(unsure_of_device($device), "", "a header that says what the program asks for");
like(unsure_of_device($device =~ s/= "80"/= "90"/r), qr/80 in the header, and 90 in the program/, "one that does not");
like(unsure_of_device($device =~ s/.*program.*|.*\.arch.*//r), qr/80 in the header, and 75 in the program/, "nor this");
like(unsure_of_device($device =~ s/: 80/: 8.0/r), qr/75, 80, 90 or 90a is right/, "one in another form");
is(unsure_of_device($device =~ s/: 80/: 80, without a b-2/r), "", "what has no room there may follow");
like(unsure_of_device($device =~ s/: 80/: 80 without a/r), qr/80 without a; 75/, "after a comma");
like(unsure_of_device($device =~ s/ \* Arch.*\n//r), qr/names 0 architectures/, "and none");

# --- The steps, and what they share.
for my $file (grep { -f } glob("steps/[0-9][0-9]-*/* common/cuda/* common/neox/*.{c,h,cuh} common/problems/*.{c,h}")) {
    my $text = slurp($file);
    my ($folder, $kind) = $file =~ m{^(steps/[^/]*)/(?:.*\.(cu)|[a-z]-.*\.(?:cuh))$};
    my $is_step = $kind;
    my @found = ($is_step ? faults($text) : (), typed_times($text, $is_step));
    is(join("\n", map { "$file:$_->[0]: $_->[1]" } @found), "", $file);
    if (($kind // "") eq "cu") {
        is(($text =~ m{\A/\* ([\w-]+):})[0], $folder =~ s{.*/}{}r, "$file: its header has the name of its directory");
        is(unsure_of_device($text), "", "$file: the device it needs");
        is(join("; ", unknown_phrases($file)), "", "$file: tests/lib/Workbook.pm knows what it asks of tests");
    }
    my @rungs = $folder && $is_step ? glob("$folder/[a-z]-*.cuh") : ();
    next if !$folder || @rungs || $NO_KERNEL{ ($file =~ m{/(\d\d)-})[0] };
    next if !$is_step && grep { $_ eq "no kernel of its own" } header_says($file, "Tests");
    my ($below, $most) = (lines_to_kernel($text), $is_step ? $SCREEN : 2 * $SCREEN);
    ok($below >= 1 && $below <= $most, "$file: its kernel stands on the first " . ($is_step ? "screen" : "two screens"))
        or diag("it begins $below lines below the header (0: nowhere); $most at most are right");
}
done_testing();
