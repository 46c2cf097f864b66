#!/usr/bin/env perl
# make setup: what it would install, on a system where apt-get, sudo and brew only write down what
# they were asked.
# Reads: .ci
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;

my $tree = scratch();

# setup(TOOLS, ANSWERS): runs make setup where only these tools are there. ANSWERS: uid, as of id;
# gxx, the version of g++ that apt-cache knows; gcc, the version of the g++ that is there; goals, others than setup.
sub setup {
    my ($tools, %answer) = @_;
    run("rm -rf '$tree/bin' '$tree/log'; mkdir '$tree/bin'");
    my $fake = sub {
        my ($name, $text) = @_;
        spew("$tree/bin/$name", "#!/bin/sh\n$text");
        chmod 0755, "$tree/bin/$name";
    };
    for my $tool (qw(sh make awk sed grep cat head tail tr cut sort ls env mkdir)) {
        my %r = run("command -v $tool");
        chomp(my $path = $r{out});
        symlink $path, "$tree/bin/$tool" if $path =~ m{^/};
    }
    $fake->("id", "echo " . ($answer{uid} || 0) . "\n");
    for my $tool (@$tools) {
        if ($tool eq "apt-get" || $tool eq "brew") {
            $fake->($tool, "echo \"$tool \$*\" >>'$tree/log'\n");
        } elsif ($tool eq "apt-cache") {
            $fake->($tool, "echo Version: $answer{gxx}\n");
        } elsif ($tool eq "sudo") {
            $fake->($tool, "echo sudo >>'$tree/log'; exec \"\$\@\"\n");
        } elsif ($tool eq "g++") {
            $fake->($tool, "echo __clang_major__ " . ($answer{gcc} || 12) . "\n");
        } else {
            $fake->($tool, "exit 0\n");
        }
    }
    my %r = run("cd '$tree' && make " . ($answer{goals} // "setup"), PATH => "$tree/bin", CUDA_HOME => "/nowhere",
        CXX => undef, CC => undef);
    $r{log} = -e "$tree/log" ? slurp("$tree/log") : "";
    return %r;
}

my @all = qw(g++ gcc gnuplot pandoc prove);
my %r = setup([@all, "apt-get"]);
is($r{code}, 0, "nothing missing: succeeds") or diag($r{err});
like($r{out}, qr/^setup: nothing is missing$/m, "and says so");
is($r{log}, "", "and installs nothing");

%r = setup(["apt-get", "apt-cache"], gxx => "4:12.2.0-3");
is($r{code}, 0, "all missing, Debian 12") or diag($r{err});
like($r{out}, qr/^setup: installing with apt-get: g\+\+ gnuplot-nox pandoc perl \(/m,
    "says what it installs");
like($r{log}, qr/apt-get .*install .*g\+\+ gnuplot-nox pandoc perl$/m, "and installs it");

%r = setup([qw(gnuplot pandoc prove g++ gcc apt-get apt-cache)], gxx => "4:11.2.0-1ubuntu1",
    gcc => 11);
like($r{log}, qr/install .*\bg\+\+-12$/m, "where g++ is 11, g++-12 is installed beside it");

%r = setup([qw(g++ gcc gnuplot prove apt-get apt-cache sudo)], uid => 1000, gxx => "4:13");
like($r{log}, qr/\Asudo\n(.*\n)*apt-get .*install .* pandoc$/m, "not root: through sudo");
%r = setup([qw(g++ gcc gnuplot prove apt-get apt-cache)], uid => 1000, gxx => "4:13");
isnt($r{code}, 0, "not root and no sudo: fails");
is_deeply([errors($r{err})], ["setup: missing: pandoc; apt-get needs root, and there is no sudo"],
    "with one line");

%r = setup([qw(g++ gcc prove brew)]);
like($r{log}, qr/^brew install gnuplot pandoc$/m, "Homebrew where there is no apt-get");
%r = setup([qw(g++ gcc prove)]);
isnt($r{code}, 0, "neither: fails");
is_deeply([errors($r{err})],
    ["setup: neither apt-get nor Homebrew is here; install these by hand: gnuplot pandoc"],
        "with one line");
%r = setup([qw(g++ gcc prove)], goals => "setup help");
is("$r{code} $r{out}", "2 ", "and what was asked for behind it is not done");
%r = setup([@all, "apt-get"], goals => "clean setup help"); # without rm
is("$r{code} $r{out}", "2 rm -rf build\n", "nor is anything, where clean fails");

done_testing();
