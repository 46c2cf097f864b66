# messages.pl: every message, rule and exit code, read from the sources, as Markdown. `make messages` prints
# it. "…" stands for text that varies. If a function or a table that is named here is gone, that is an error:
# name its replacement here.
use strict;
use warnings;

# Groups of messages: a heading, the files, and the functions whose calls print a message. Those of kf_die
# have an exit code.
my @speakers = (
    ["A step's program: what it refuses or finds, and its exit code", qr{^common/(?:harness|problems|neox)/}, qw(kf_die)],
    ["A step's program: warnings, after which it goes on", qr{^common/(?:harness|problems|neox)/}, qw(kf_complain)],
    ["A model's file is refused", qr{^common/neox/}, qw(refused)],
    ["`cudacc`, of its command line: exit code 2", qr{^common/cpu/(?:cudacc$|.*\.sh$)}, qw(fail)],
    ["`cudacc`, of a source: exit code 1, after its file and line", qr{^common/cpu/.*\brewrite}, qw(mistake unsupported refuse fprintf)],
    ["`cudacc`, of an `asm` statement: exit code 1, after its file and line", qr{^common/cpu/.*\.c$}, qw(parse_wrong)],
    ["A kernel ends, and the next call of the host fails", qr{^common/cpu/(?!.*\brewrite)},
        qw(fault_stop ptx_fault fail_thread stop cpu_trap)],
    ["A call of the host fails, and why is on stderr", qr{^common/cpu/(?!.*\brewrite)}, qw(complain)],
    ["A program ends: the machine has not what it needs", qr{^common/cpu/(?!.*\brewrite)}, qw(give_up)],
);

my %text;
sub text {
    my ($file) = @_;
    return $text{$file} //= do {
        open my $in, "<", $file or die "messages: $file: $!\n";
        local $/;
        my $text = <$in>;
        # Comments are removed; lines and strings stay.
        $text =~ s{("(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)++')|/\*.*?\*/|//[^\n]*}{$1 // ""}gse if $file =~ /\.\w+$/;
        $text;
    };
}
sub files {
    my ($which) = @_;
    my @found = sort grep { -f && $_ =~ $which } map { glob } map { "common" . "/*" x $_ } 2 .. 6;
    return @found;
}
sub must {
    my ($what, @found) = @_;
    die "messages: there is no $what any more; common/make/build/messages.pl looks for it\n" if !@found;
    return @found;
}

# Returns the arguments of each call of FUNCTION in TEXT.
sub calls {
    my ($text, $function) = @_;
    my @calls;
    while ($text =~ /(?<![\w.])\Q$function\E\s*(\((?:[^()"']++|"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)++'|(?1))*+\))/g) {
        push @calls, substr($1, 1, -1);
    }
    return @calls;
}
# Returns the strings in CODE, adjacent ones joined, with "…" for each inserted value.
sub strings {
    my ($code) = @_;
    my @strings;
    while ($code =~ /((?:"(?:[^"\\]|\\.)*+"\s*+(?:PRI[a-zA-Z0-9]+\s*+)?+)++)/g) {
        my $joined = join "", $1 =~ s/PRI([a-zA-Z])\w+/"$1"/gr =~ /"((?:[^"\\]|\\.)*)"/g;
        $joined =~ s/%(?:(%)|[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j|t)?[a-zA-Z])/$1 \/\/ "…"/ge;
        $joined =~ s/\\n/ /g;
        $joined =~ s/\\(.)/$1/g;
        $joined =~ s/^\s+|\s+$//g;
        push @strings, $joined;
    }
    return @strings;
}
# Returns the message of a call: its first string of several words, and strings that may be inserted in it.
sub said {
    my ($says, @more) = map { s{^: }{}r } grep { / / } strings($_[0]);
    return !defined $says ? () : @more ? "$says (" . join(" / ", @more) . ")" : $says;
}

sub heading { print "\n## $_[0]\n\n" }
sub list { my %seen; print map { "- $_\n" } grep { !$seen{$_}++ } @_ }

print "# Messages\n\nWhat programs of this workbook, `cudacc` and its instruments say when something is wrong, by who says it. "
    . "`…` is a name,\na value or a place. `make messages` reads it from the sources.\n";

heading("Exit codes");
my ($codes) = must("enum of KF_OK", map { text($_) =~ /enum \{ (KF_OK = .*?) \};/s } files(qr{^common/harness/.*\.h$}));
my %number = $codes =~ /(KF_\w+) = (\d+)/g;
my ($help) = must("line \"exit code:\" of --help", map { text($_) =~ /exit code: (.*?)\\n/ } files(qr{^common/harness/.*\.c$}));
my %means = map { /^(\d+) (.*)/ ? ($1 => $2) : () } split /, /, $help;
print "| code | name | of a step's program |\n|---|---|---|\n",
    map { "| $number{$_} | `$_` | " . ($means{ $number{$_} } // die "messages: --help does not say what $number{$_} means\n") . " |\n" }
    sort { $number{$a} <=> $number{$b} } keys %number;

for (@speakers) {
    my ($title, $which, @functions) = @$_;
    heading($title);
    my %by_code;
    for my $function (@functions) {
        my @found;
        for my $file (files($which)) {
            if ($file !~ /\.(?:c|h|cu|cuh)$/) {
                push @found, map { ["", s/\$\{?\w+[^\s}"']*\}?|\$\(.*?\)/…/gr] } text($file) =~ /\b$function "((?:[^"\\]|\\.)*)"/g;
                next;
            }
            for my $call (calls(text($file), $function)) {
                my ($code) = $call =~ /^\s*(KF_\w+),/;
                push @found, map { [$code // "", $_] } said($call);
            }
        }
        must("call of $function that says something, for \"$title\"", @found);
        push @{ $by_code{ $_->[0] } }, $_->[1] for @found;
    }
    for my $code (sort { ($number{$a} // 0) <=> ($number{$b} // 0) } keys %by_code) {
        print "\nWith $number{$code}:\n\n" if $code;
        list(sort @{ $by_code{$code} });
    }
}

heading("Rules of `--check`");
my ($rules) = must("rules.h", files(qr{^common/cpu/(?:.*/)?rules\.h$}));
list(must("rule in $rules", map { my ($name, $meaning) = strings($_); "`$name`: $meaning" }
    text($rules) =~ /^RULE(\((?:[^()"]++|"(?:[^"\\]|\\.)*+"|(?1))*+\))/mg));

heading("PTX instructions that are executed");
my ($table) = must("instructions.h", files(qr{^common/cpu/(?:.*/)?instructions\.h$}));
my (%forms, @order);
# The table consists of macros, which the C preprocessor expands.
my $cc = $ENV{CC} || "cc";
my $defines = join " ", map { "-D'PTX_BY_$_(n,m,o,f)=\@$_ n \@ m \@'" } qw(LANE WARP WARPGROUP);
my $lines = `$cc -E -P -x c $defines $table`;
die "messages: $cc cannot read $table; CC=gcc chooses another compiler\n" if $? != 0;
while ($lines =~ /\@(\w+)\s+("[^@]*")\s*\@([^@]*)\@/g) {
    my $by = $1;
    my ($name, $modifiers) = map { strings($_) } $2, $3;
    push @order, $name if !$forms{$name};
    push @{ $forms{$name} }, ($modifiers // "") . ($by eq "LANE" ? "" : " (by " . lc($by) . ")");
}
must("instruction in $table", @order);
print "A group of modifiers is one word of several with `|` between; after `?` it may be left out.\n\n| name | modifiers |\n|---|---|\n";
for my $name (@order) {
    my %seen;
    print map { "| `$name` | " . s/\|/\\|/gr . " |\n" } grep { !$seen{$_}++ } @{ $forms{$name} };
}
