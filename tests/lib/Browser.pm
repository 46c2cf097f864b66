package Browser;
# A browser that a test drives by the keys of a keyboard: chromium without a window, by its protocol for debuggers,
# over a pair of pipes.
use strict;
use warnings;
use JSON::PP;
use POSIX qw(dup2);
use Test::More;
use Workbook qw(have run scratch_dir);

my %code_of = (Tab => 9, Enter => 13, Escape => 27, " " => 32, End => 35, Home => 36, ArrowLeft => 37, ArrowUp => 38,
    ArrowRight => 39, ArrowDown => 40);
my %text_of = (Enter => "\r", " " => " ", map { $_ => $_ } 'a' .. 'z', '/');

# Builds the small book of tests/book, with MORE variables of book.mk, and starts a browser. Returns the folder that the
# book is in, and the browser; ends the test where one of them cannot be had.
sub with_small_book {
    my ($class, $for, $more) = @_;
    delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL)};
    my ($program) = grep { have($_) } qw(chromium chromium-browser google-chrome);
    plan skip_all => "no browser here: install chromium to have $for" unless $program;
    for my $tool (qw(pandoc gnuplot)) {
        plan skip_all => "no $tool here: make setup installs it" if !have($tool);
    }
    my $dir = scratch_dir();
    my %r = run(($ENV{MAKE} || 'make') . " --no-print-directory -f book/book.mk book BOOK_CHAPTERS=tests/book/chapters"
        . " BOOK_STEPS=tests/book/steps BOOK_PLOTS=tests/book/plots BOOK_DATA=tests/book/data"
        . " BOOK_SHARED=tests/book/common BOOK_OUT=$dir/book BOOK_CHARTS=$dir/charts BOOK_BIN=tests/book/bin/step- $more");
    if (!is($r{code}, 0, "the small book builds")) {
        diag($r{out}, $r{err});
        done_testing();
        exit;
    }
    mkdir "$dir/browser";
    return ($dir, $class->new($program, "$dir/browser"));
}

# The folder is for the browser's own files. It runs as root in CI, hence no sandbox.
sub new {
    my ($class, $program, $folder) = @_;
    pipe(my $commands, my $to) or die $!;
    pipe(my $from, my $answers) or die $!;
    my $pid = fork // die $!;
    if (!$pid) {
        # Both ends may have one of these numbers.
        my ($in, $out) = map { fcntl($_, 0, 10) } $commands, $answers;
        dup2($in, 3);
        dup2($out, 4);
        open STDERR, '>', "$folder/stderr";
        exec $program, qw(--headless --no-sandbox --disable-gpu --hide-scrollbars --disable-dev-shm-usage
            --remote-debugging-pipe), "--user-data-dir=$folder", 'about:blank';
    }
    close $commands;
    close $answers;
    $to->autoflush(1);
    my $self = bless { pid => $pid, to => $to, from => $from, id => 0 }, $class;
    my ($page) = grep { $_->{type} eq 'page' } @{ $self->ask('Target.getTargets')->{targetInfos} };
    $self->{session} = $self->ask('Target.attachToTarget', targetId => $page->{targetId}, flatten => JSON::PP::true)->{sessionId};
    $self->ask('Page.enable');
    return $self;
}

# One message, or of the page's events the first that has this name.
sub heard {
    my ($self, $wanted) = @_;
    local $/ = "\0";
    local $SIG{ALRM} = sub { die "the browser does not answer\n" };
    while (1) {
        alarm 120; # on a machine that does other things as well
        my $line = readline $self->{from};
        alarm 0;
        die "the browser has ended\n" if !defined $line;
        chomp $line;
        my $message = decode_json($line);
        return $message if $wanted->($message);
    }
}

sub ask {
    my ($self, $method, %parameters) = @_;
    my %command = (id => ++$self->{id}, method => $method, params => \%parameters);
    $command{sessionId} = $self->{session} if $self->{session};
    print { $self->{to} } encode_json(\%command), "\0";
    my $answer = $self->heard(sub { ($_[0]{id} // 0) == $command{id} });
    die "$method: $answer->{error}{message}\n" if $answer->{error};
    return $answer->{result};
}

sub open_page {
    my ($self, $path, $width) = @_;
    $self->ask('Emulation.setDeviceMetricsOverride', width => $width, height => 900, deviceScaleFactor => 1,
        mobile => JSON::PP::false);
    $self->ask('Page.navigate', url => "file://$path");
    $self->heard(sub { ($_[0]{method} // '') eq 'Page.loadEventFired' });
}

sub scripts {
    my ($self, $on) = @_;
    $self->ask('Emulation.setScriptExecutionDisabled', value => $on ? JSON::PP::false : JSON::PP::true);
}

# The value of an expression on the page.
sub value {
    my ($self, $expression) = @_;
    my $result = $self->ask('Runtime.evaluate', expression => $expression, returnByValue => JSON::PP::true);
    die "$expression: $result->{exceptionDetails}{exception}{description}\n" if $result->{exceptionDetails};
    return $result->{result}{value};
}

sub press {
    my ($self, $key, $times) = @_;
    for (1 .. $times // 1) {
        my %event = (key => $key, code => $key eq ' ' ? 'Space' : $key, windowsVirtualKeyCode => $code_of{$key} // ord uc $key);
        $self->ask('Input.dispatchKeyEvent', type => 'keyDown', %event, $text_of{$key} ? (text => $text_of{$key}) : ());
        $self->ask('Input.dispatchKeyEvent', type => 'keyUp', %event);
    }
}

sub DESTROY {
    my ($self) = @_;
    local $?;
    eval { $self->ask('Browser.close') } or kill 'KILL', $self->{pid};
    waitpid $self->{pid}, 0;
}

1;
