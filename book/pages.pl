# pages.pl FILE.pdf: on which page each of its named places lies, "ID<tab>PAGE" lines. A browser writes
# the objects that say so as plain text.
use strict;
use warnings;
local $/;
open my $in, '<:raw', $ARGV[0] or die "$ARGV[0]: $!\n";
my $pdf = <$in>;
my %object;
$object{$1} = $2 while $pdf =~ /^(\d+) 0 obj\s(.*?)\nendobj/msg;
my ($root) = grep { m{/Type\s*/Catalog\b} } values %object or die "$ARGV[0]: has no catalog\n";

# The pages in their order, through the tree's inner nodes.
my (%number, $pages);
sub visit {
    my ($at) = @_;
    my $node = $object{$at} // die "$ARGV[0]: has no object $at\n";
    if ($node =~ m{/Kids\s*\[(.*?)\]}s) { visit($_) for $1 =~ /(\d+) 0 R/g }
    else { $number{$at} = ++$pages }
}
$root =~ m{/Pages\s+(\d+) 0 R} or die "$ARGV[0]: has no pages\n";
visit($1);
my $places = $root =~ m{/Dests\s+(\d+) 0 R} ? $object{$1} : die "$ARGV[0]: names no places\n";
print "$1\t$number{$2}\n" while $places =~ m{/([^\s/\[]+)\s*\[(\d+) 0 R\b}g;
