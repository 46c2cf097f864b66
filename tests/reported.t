#!/usr/bin/env perl
# Small programs modelled on public bug reports, and programs that were judged wrongly once: what cudacc --check says of
# each, and what each prints. The first lines of each program say what is right: "// check: EXIT-CODE RULE, RULE", where
# the code may be "interrupted", and no rule is no finding (warnings do not count); then "// prints: LINE", and "// says:
# PART" for a part of what check says.
# Reads: tests/reported
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Backend;
use Workbook;

my @rules = map { $_->{name} } grep { $_->{counts} ne "NEVER" } check_rules();
my $rule = join "|", map { quotemeta } @rules;
my @only = grep { !/^-/ } @ARGV; # names, to run some of them by hand
plan skip_all => "the instruments need g++" if !@traced;
$ENV{CUDACPU_LEAKS} = 0;

my %wanted;
for my $file (sort glob "tests/reported/*.cu") {
    my ($name) = $file =~ m{([^/]+)\.cu$};
    next if @only && !grep { $name =~ /^\Q$_\E/ } @only;
    my ($code, $rules) = slurp($file) =~ m{\A// check: (\w+) ?(.*)\n};
    my ($line) = slurp($file) =~ m{\A.*\n// prints: (.*)\n};
    ok(defined $code, "$file says what is right") or next;
    my ($said) = slurp($file) =~ m{\A(?://.*\n)*?// says: (.*)\n};
    $wanted{$name} = { code => $code, rules => [sort split /, /, $rules], line => $line, said => $said };
}
my $list = join "", map { my $name = $_; map { "$cudacc $_ -g1 $name.cu -o $dir/$name$_ >$dir/$name$_.log 2>&1\n" } "", "--check" } sort keys %wanted;
run("$cudacc --runtime-only; $cudacc --check --runtime-only");
spew("$dir/list", $list);
run("cd tests/reported && tr '\\n' '\\0' <$dir/list | xargs -0 -n 1 -P 2 sh -c");

sub prints {
    my ($name, $what, $out) = @_;
    my $line = $wanted{$name}{line};
    ok(!defined $line || grep({ s/\s+\z//r eq $line } split /\n/, $out), "$name, $what: prints \"" . ($line // "anything") . "\"") or diag($out);
}

for my $name (sort keys %wanted) {
    my $is = $wanted{$name};
    my $built = -x "$dir/$name" && -x "$dir/$name--check";
    ok($built, "$name compiles") or diag(slurp("$dir/$name--check.log"));
    next if !$built;
    my %r;
    if (!@{$is->{rules}}) { # a right program is right in a plain build as well
        %r = run("timeout 30 $dir/$name");
        prints($name, "plain", $r{out});
        isnt($r{code}, 124, "$name, plain: ends");
    }
    # A right program is right in each order; a fault shows in the default one.
    for my $order (undef, @{$is->{rules}} ? () : qw(forward reverse random)) {
        my $stop = $is->{code} eq "interrupted" ? "timeout -s INT 4" : "timeout 60";
        %r = run("$stop $dir/$name--check", CUDACPU_ORDER => $order);
        my $what = "check" . ($order ? ", $order" : "");
        my %found = map { /^($rule): / ? ($1 => 1) : () } split /\n/, $r{err};
        is_deeply([sort keys %found], $is->{rules}, "$name, $what: the rules of its findings") or diag($r{err});
        my $code = $is->{code} eq "interrupted" ? 124 : $is->{code};
        is($r{code}, $code, "$name, $what: exit code") or diag($r{err});
        cmp_ok(index($r{err}, $is->{said}), ">=", 0, "$name, $what: says \"$is->{said}\"") or diag($r{err}) if defined $is->{said};
        like($r{err}, @{$is->{rules}} ? qr/^check: \d+ findings?\b/m : qr/^check: no findings/m, "$name, $what: the last line");
        prints($name, $what, $r{out}) if $is->{code} ne "interrupted";
    }
}
done_testing();
