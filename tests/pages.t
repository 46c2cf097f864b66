#!/usr/bin/env perl
# The script of the pages, in a browser and by keys alone: search, copies of commands, arrow keys, light and dark, and
# the contents at both widths. Without scripts the pages have all but these.
# Reads: book tests/book plots/style.gp plots/dress.awk plots/select.awk plots/draw.sh
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;
use Browser;

my ($dir, $browser) = Browser->with_small_book("the pages used", "BOOK_EPUB= BOOK_NAMES=tests/book/names.txt");
my $html = "$dir/book/html";

sub now { return $browser->value($_[0]) }

# An expression that becomes true soon: pages and the search's data are read from files.
sub soon {
    my ($expression) = @_;
    for (1 .. 100) {
        my $value = eval { now($expression) };
        return $value if $value;
        select undef, undef, undef, 0.05;
    }
    return now($expression);
}

sub at_page { return soon("location.pathname.endsWith('/$_[0]') && document.readyState === 'complete'") }

# --- Search ------------------------------------------------------------------------------------------
my $hrefs = "[...document.querySelectorAll('.results a')].map(a => a.getAttribute('href')).join(' ')";
sub looked_for {
    my ($word) = @_;
    $browser->open_page("$html/00-start.html", 1280);
    $browser->press('/');
    $browser->press($_) for split //, $word;
    soon("!document.querySelector('.results').hidden");
    return now($hrefs);
}
is(looked_for('shuff'), '01-sum.html#step-03 01-sum.html#ch01-chart 01-sum.html#step-02 01-sum.html#ch01-idea',
    'the beginning of a word finds sections, first the one with the word in its heading');
is(now("document.activeElement.type"), 'search', 'the slash led to the field');
is(looked_for('tree shuffle'), '01-sum.html#step-03 01-sum.html#ch01-chart', 'two words are both wanted');
is(looked_for('huffle'), '', 'no word begins so');
like(now("document.querySelector('.results').innerText"), qr/Nothing has all of these words/, 'and that is said');
looked_for('shuff');
$browser->press('ArrowDown', 2);
is(now("document.activeElement.getAttribute('href')"), '01-sum.html#ch01-chart', 'arrows go through the results');
$browser->press('ArrowUp', 2);
is(now("document.activeElement.type"), 'search', 'and back to the field');
$browser->press('Escape');
ok(now("document.querySelector('.results').hidden"), 'Escape closes them');
looked_for('shuff');
$browser->press('Enter');
ok(at_page('01-sum.html'), 'Enter opens the best one');
is(now('location.hash'), '#step-03', 'at its heading');
$browser->open_page("$html/steps/03-sum.html", 1280);
$browser->press($_) for '/', split //, 'shuff';
soon("!document.querySelector('.results').hidden");
is(now("document.querySelector('.results a').getAttribute('href')"), '../01-sum.html#step-03', 'from a source as well');

# --- Arrow keys --------------------------------------------------------------------------------------
$browser->open_page("$html/00-start.html", 1280);
$browser->press('ArrowRight');
ok(at_page('01-sum.html'), 'an arrow leads to the next page');
$browser->press('ArrowLeft');
ok(at_page('00-start.html'), 'and to the one before');
$browser->press('/');
$browser->press('ArrowRight');
now("document.querySelector('.display').focus()");
$browser->press('ArrowRight');
select undef, undef, undef, 0.5;
ok(now("location.pathname.endsWith('/00-start.html')"), 'not from the field of the search, nor from what scrolls');

# --- Copies ------------------------------------------------------------------------------------------
$browser->open_page("$html/01-sum.html", 1280);
my $buttons = "[...document.querySelectorAll('button.copy')]";
my $labels = now("$buttons.map(b => b.getAttribute('aria-label')).join('|')");
is($labels, join('|', map { "Copy: $_" } 'make step-03 run', 'make step-03 predict', 'make step-03 run', 'make step-03 exercise',
    'make step-03 try ARGS="--case D=64"', 'make step-02 run'), 'commands have buttons, other code has none');
now("document.querySelectorAll('details').forEach(d => { d.open = true })");
now("window.got = ''; navigator.clipboard.writeText = async t => { window.got = t }");
now("$buttons.find(b => b.previousElementSibling.tagName === 'PRE').focus()");
$browser->press('Enter');
is(soon('window.got'), 'make step-03 run', 'a command is copied, without its comment');

# --- Light and dark ----------------------------------------------------------------------------------
my $ground = "getComputedStyle(document.body).backgroundColor";
is(now($ground), 'rgb(252, 252, 249)', 'light, as the system says');
now("document.querySelector('button.theme').focus()");
$browser->press('Enter');
is(now($ground), 'rgb(21, 24, 28)', 'the switch makes it dark');
is(now("getComputedStyle(document.querySelector('img')).colorScheme"), 'dark', 'pictures too');
$browser->open_page("$html/00-start.html", 1280);
is(now($ground), 'rgb(21, 24, 28)', 'the next page is dark from its beginning');
now("document.querySelector('button.theme').focus()");
$browser->press(' ');
is(now($ground), 'rgb(252, 252, 249)', 'and light again');

# --- Contents ----------------------------------------------------------------------------------------
my $shown = "[...document.querySelectorAll('nav.toc a')].filter(a => a.checkVisibility({contentVisibilityAuto: true})).length";
ok(now($shown) >= 4, 'on a desk the whole contents are beside the text');
$browser->open_page("$html/00-start.html", 390);
is(now($shown), 0, 'on a phone they are folded');
now("document.querySelector('nav.toc summary').focus()");
$browser->press('Enter');
ok(now($shown) >= 4, 'until they are opened');
ok(now("document.documentElement.scrollWidth <= 390"), 'and nothing is wider than the page');

# --- Without scripts ---------------------------------------------------------------------------------
$browser->scripts(0);
$browser->open_page("$html/01-sum.html", 1280);
is(now("['form.search', 'button.theme'].filter(s => document.querySelector(s).checkVisibility()).join()"), '',
    'without scripts nothing is shown that does nothing');
ok(now($shown) >= 4, 'and the contents are there');
done_testing();
