#!/usr/bin/perl
# Opens every page of the book in a browser, at phone and desktop width, light and dark, and
# measures it: nothing wider than the window, no picture or link broken, text readable against what
# is behind it, math and code really shown. The charts are opened too. Pages with planted faults are
# measured in the same run and must be found out. What has passed on the same bytes, a page with its charts, its
# scripts and its style or the small book, is not opened again; links are followed on every page.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Find qw(find);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use FindBin;
use Test::More;
use lib "$FindBin::Bin/lib";
use Digest::SHA;
use Workbook qw(tested_book proof_of is_proven keep_proof version_of cpu_seconds);

chdir dirname(__FILE__) . '/..' or die $!;
delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL)};
my $make = $ENV{MAKE} || 'make';
my ($browser) = grep { $_ } map { my $p = `command -v $_ 2>/dev/null`; chomp $p; $p }
    qw(chromium chromium-browser google-chrome);
plan skip_all => 'no browser here: install chromium to have the pages looked at' unless $browser;
for my $tool (qw(pandoc gnuplot)) {
    plan skip_all => "no $tool here: make setup installs it" if system("command -v $tool >/dev/null 2>&1");
}
my $tmp = tempdir(CLEANUP => 1);
my @WIDTHS = (390, 1280);

sub slurp {
    my ($path) = @_;
    open my $f, '<:raw', $path or die "$path: $!";
    local $/;
    my $text = <$f>;
    return $text;
}

sub spew {
    my ($path, $text) = @_;
    open my $f, '>:raw', $path or die "$path: $!";
    print $f $text;
    close $f or die "$path: $!";
}

# --- The books ------------------------------------------------------------------------------------
my @versions = map { version_of($_) } $browser, qw(pandoc gnuplot);
my @small = grep { -f } glob 'book/* book/figures/* plots/style.gp plots/*.awk plots/*.sh';
find({ no_chdir => 1, wanted => sub { push @small, $_ if -f $_ } }, 'tests/book');
my $small_proof = proof_of('the small book in a browser', [sort @small], @versions);
my $with_small = !is_proven($small_proof);
small_book() if $with_small;
my %root = $with_small ? (small => "$tmp/small/html") : ();
if (glob 'chapters/*.md') {
    my %built = tested_book('book BOOK_EPUB='); # what is looked at is pages
    is($built{code}, 0, 'the book builds') or diag($built{out}, $built{err});
    make_path("$tmp/real");
    system("cp -R build/tested/book/html '$tmp/real/'") == 0 and $root{book} = "$tmp/real/html";
}

# The small book, as pages and as a PDF.
sub small_book {
    my $log = `$make --no-print-directory -f book/book.mk book BOOK_CHAPTERS=tests/book/chapters BOOK_STEPS=tests/book/steps \\
        BOOK_PLOTS=tests/book/plots BOOK_DATA=tests/book/data BOOK_SHARED=tests/book/common BOOK_OUT=$tmp/small \\
        BOOK_CHARTS=$tmp/charts BOOK_BIN=tests/book/bin/step- 2>&1`;
    is($?, 0, 'the small book builds') or diag($log);
    $log = `$make --no-print-directory -f book/book.mk book-pdf BOOK_CHAPTERS=tests/book/chapters BOOK_STEPS=tests/book/steps \\
        BOOK_PLOTS=tests/book/plots BOOK_DATA=tests/book/data BOOK_SHARED=tests/book/common BOOK_OUT=$tmp/small \\
        BOOK_CHARTS=$tmp/charts BOOK_BIN=tests/book/bin/step- BOOK_BROWSER=$browser 2>&1`;
    is($?, 0, 'the PDF is printed') or diag($log);
    my $pdf = slurp("$tmp/small/kernel-fusion-workbook.pdf");
    like($pdf, qr{/Title \(Kernel Fusion Workbook\)}, 'it has its title');
    my %on = `perl book/pages.pl $tmp/small/kernel-fusion-workbook.pdf` =~ /^(\S+)\t(\d+)$/mg;
    (my $print = slurp("$tmp/small/html/print.html")) =~ s/^.*?<div class="pages">//s;
    for my $place (qw(ch01 step-02 solutions)) {
        my ($page) = $print =~ m{<a[^>]*?href="#$place"((?:(?!</div>).)*)</div>}s;
        like($page // '', qr{<span\s+class="page">$on{$place}</span>}, "its contents say on which page $place is: $on{$place}");
    }
    like($print, qr{<div class="of-part">\s*Part I: Adding\s*</div>\s*<div class="level1">\s*<a href="#ch00">}, 'and its parts');
    is(scalar(() = $print =~ /class="of-part"/g), 1, 'each once');
    my @asked = $print =~ m{id="(\S+)-asked" class="asked solution">}g;
    is(scalar(@asked), 2, 'a listing with two solutions');
    is(join(' ', map { $print =~ m{id="$_-asked" class="asked solution">\s*<a} ? 'named' : 'empty' } @asked),
        'named empty', 'names the page of the first');
    my ($answer) = $print =~ m{href="#(ch01-answer-\d+)"};
    like($print, qr{id="$answer-asked".{0,80}<a href="#$answer">The\s+answer\s+is\s+on\s+page\s+$on{$answer}\.</a>}s,
        "a question says on which page its answer is: $on{$answer}");
    like($print, qr{<a href="#$answer-asked"><strong>[^<]*Answer\s+\(page\s+$on{"$answer-asked"}\)</strong>},
        'and the answer where its question is');
    ok($on{ch01} > 2 && $on{'step-02'} > $on{ch01} && $on{solutions} > $on{'step-02'}, 'one behind the other');
}

# --- Faults, each on a page of its own ------------------------------------------------------------
my %planted = (
    overflow => ['<p>', '<div style="width: 1300px">wide</div><p>', qr/wider than the window/],
    link => ['<p>', '<p><a href="nowhere.html">gone</a>', qr/link nowhere\.html/],
    anchor => ['<p>', '<p><a href="#nothing">gone</a>', qr/link #nothing/],
    image => ['charts/03-map.svg', 'charts/none.svg', qr/picture .*none\.svg/],
    contrast => ['<p>', '<p><span style="color: #888">pale</span> ', qr/contrast/],
    token => ['class="dt"', 'class="dt" style="color: #7f7f7f"', qr/contrast/],
    table => ['<th ', '<th style="padding: 0 40rem" ', qr/a table (?:is \d+ px wide|shows no number)/],
    code => ['<pre', '<pre style="display: none"', qr/not shown/],
);
sub plant_faults {
    make_path("$tmp/planted");
    system("cp -R '$tmp/small/html/.' '$tmp/planted/'") == 0 or die;
    my $good = slurp("$tmp/small/html/01-sum.html");
    for my $fault (keys %planted) {
        my ($from, $to) = @{ $planted{$fault} };
        (my $page = $good) =~ s/\Q$from\E/$to/ or die "the page has no $from";
        spew("$tmp/planted/fault-$fault.html", $page);
    }
    (my $svg = slurp("$tmp/charts/03-time.svg")) =~ s/<style>.*?<\/style>//s or die;
    $svg =~ s/fill="#1f2328"/fill="#808080"/g;
    spew("$tmp/planted/charts/fault-chart.svg", $svg);
    ($svg = slurp("$tmp/charts/03-time.svg")) =~ s/<text([^>]*)>/<text$1 dx="2000">/ or die;
    spew("$tmp/planted/charts/fault-clipped.svg", $svg);
}
plant_faults() if $with_small;

# --- What the browser measures --------------------------------------------------------------------
# One line for each fault: page, width, fault.
my $harness = <<'JS';
const lines = [];
function luminance(c) {
    const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function rgb(text) {
    const m = text.match(/[\d.]+/g).map(Number);
    return { c: m.slice(0, 3), a: m.length > 3 ? m[3] : 1 };
}
function contrast(a, b) {
    const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
}
function behind(win, el) {
    for (; el; el = el.parentElement) {
        const bg = rgb(win.getComputedStyle(el).backgroundColor);
        if (bg.a > 0) return bg.c;
    }
    return [255, 255, 255];
}
function page(win, say) {
    const doc = win.document, root = doc.documentElement;
    if (root.scrollWidth > root.clientWidth) {
        const wide = [...doc.querySelectorAll('main *')].find(e => e.getBoundingClientRect().right > root.clientWidth + 1);
        say(`wider than the window: ${root.scrollWidth} > ${root.clientWidth}, first <${wide ? wide.tagName : '?'}>`);
    }
    for (const img of doc.images) {
        if (!img.complete || !img.naturalWidth) say(`picture ${img.getAttribute('src')} is not there`);
        else if (img.getBoundingClientRect().width < Math.min(300, root.clientWidth * 0.8)) say(`picture ${img.getAttribute('src')} is too small`);
        if (!img.alt) say(`picture ${img.getAttribute('src')} has no alt text`);
    }
    for (const el of doc.querySelectorAll('math, pre, table')) {
        const box = el.getBoundingClientRect();
        if (box.width < 2 || box.height < 2) say(`<${el.tagName}> ${el.textContent.trim().slice(0, 30)} is not shown`);
    }
    for (const box of doc.querySelectorAll('.wide')) {
        const scrolls = box.scrollWidth > box.clientWidth + 1;
        const head = box.querySelector('th') ? box.querySelector('tr').textContent.trim().replace(/\s+/g, ' ').slice(0, 40) : '';
        if (scrolls && root.clientWidth > 1000) say(`a table is ${box.scrollWidth} px wide, its place ${box.clientWidth}: ${head}`);
        if (scrolls && !win.getComputedStyle(box).backgroundImage.includes('gradient')) say(`a table gives no sign that it scrolls: ${head}`);
        const number = [...box.querySelectorAll('tbody tr:first-child td')].find(td => /right/.test(td.style.textAlign));
        if (number && number.getBoundingClientRect().right > box.getBoundingClientRect().right) say(`a table shows no number: ${head}`);
    }
    const seen = new Set();
    const texts = doc.createTreeWalker(doc.body, win.NodeFilter.SHOW_TEXT);
    for (let n; (n = texts.nextNode());) {
        const el = n.parentElement;
        if (!n.data.trim() || !el.getClientRects().length || el.closest('.skip, annotation')) continue;
        check(el, win.getComputedStyle(el), n.data);
    }
    for (const el of doc.querySelectorAll('body *')) for (const pseudo of ['::before', '::after']) {
        const style = win.getComputedStyle(el, pseudo);
        if (style.content !== 'none' && style.content !== 'normal' && style.content !== '""') check(el, style, pseudo);
    }
    function check(el, style, what) {
        const bg = behind(win, el), ratio = contrast(rgb(style.color).c, bg);
        const key = style.color + bg;
        if (ratio < 4.5 && !seen.has(key)) say(`contrast ${ratio.toFixed(2)} of ${style.color} on ${bg}: ${what.trim().slice(0, 30)}`);
        seen.add(key);
    }
}
function chart(win, say) {
    const root = win.document.documentElement;
    const bg = rgb(win.getComputedStyle(root.querySelector('rect')).fill).c;
    const texts = [...root.querySelectorAll('text')];
    if (!texts.length) say('no text');
    const scale = 340 / root.viewBox.baseVal.width, frame = root.getBoundingClientRect();
    for (const el of texts) {
        const box = el.getBoundingClientRect();
        if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) {
            say(`clipped: "${el.textContent.trim()}"`);
            break;
        }
    }
    for (const el of texts) {
        const style = win.getComputedStyle(el), size = parseFloat(style.fontSize) * scale;
        const ratio = contrast(rgb(style.fill).c, bg);
        if (ratio < 4.5) { say(`contrast ${ratio.toFixed(2)} of "${el.textContent.trim()}"`); break; }
        if (size < 9.9) { say(`text of ${size.toFixed(1)} px on a phone: "${el.textContent.trim()}"`); break; }
    }
}
async function run() {
    for (const name of PAGES) {
        const frame = document.createElement('iframe');
        frame.style = 'height: 900px; border: 0';
        frame.style.width = `${WIDTHS[0]}px`;
        frame.src = name;
        const loaded = new Promise(done => { frame.onload = done; });
        document.body.append(frame);
        await loaded;
        const win = frame.contentWindow;
        for (const width of WIDTHS) { // the page is laid out anew
            const say = text => lines.push([name, width, text].join('\t').replace(/\s*\n\s*/g, ' '));
            frame.style.width = `${width}px`;
            try {
                if (win.innerWidth !== width) say(`is ${win.innerWidth} px wide`);
                if (name.endsWith('.svg')) chart(win, say);
                else {
                    for (const d of win.document.querySelectorAll('details')) d.open = true;
                    await Promise.all([...win.document.images].map(i => i.decode().catch(() => 0)));
                    page(win, say);
                    lines.push([name, width, 'background ' + behind(win, win.document.body)].join('\t'));
                }
            } catch (error) { say('error ' + error); }
            lines.push([name, width, 'measured'].join('\t'));
        }
        frame.remove();
    }
    const out = document.createElement('pre');
    out.id = 'result';
    out.textContent = lines.join('\n') + '\nend';
    document.body.replaceChildren(out);
}
run();
JS

my @pages;
for my $dir (values %root, $with_small ? "$tmp/planted" : ()) {
    find({ no_chdir => 1, wanted => sub {
        return if $dir =~ /planted$/ && !/fault-/;
        push @pages, substr($_, length($tmp) + 1) if /\.(?:html|svg)$/;
    } }, $dir);
}
@pages = sort @pages;

# Of a page of the book: its bytes, those of its style and of the charts that it shows.
sub sum_of {
    my ($file) = @_;
    return -f $file ? Digest::SHA->new(1)->addfile($file, 'b')->hexdigest : '-';
}
my %proof;
for my $page (grep { m{^real/} } @pages) {
    my @shown = $page =~ /\.html$/ ? slurp("$tmp/$page") =~ /\s(?:src|href)="([^"]+\.(?:svg|css|js))"/g : ();
    my $folder = dirname("$tmp/$page");
    $proof{$page} = proof_of("$page in a browser", [], $browser, $versions[0], map { sum_of($_) } "$tmp/$page", map { "$folder/$_" } @shown);
}
my @opened = grep { !$proof{$_} || !is_proven($proof{$_}) } @pages;
my $began = cpu_seconds();
my $list = join ', ', map { "'$_'" } @opened;
spew("$tmp/harness.html", "<!DOCTYPE html><meta charset=\"utf-8\"><body><script>const WIDTHS = [" . join(', ', @WIDTHS)
    . "], PAGES = [$list];\n$harness</script></body>");

# Returns what the browser found, as lists of [page, width, fault]. It runs as root in CI, hence no
# sandbox.
sub measure {
    my ($scheme) = @_;
    my @command = ($browser, qw(--headless --no-sandbox --disable-gpu --hide-scrollbars --allow-file-access-from-files
        --disable-dev-shm-usage --virtual-time-budget=600000 --dump-dom), "--user-data-dir=$tmp/profile-$scheme",
        '--blink-settings=preferredColorScheme=' . ($scheme eq 'dark' ? 0 : 1), "file://$tmp/harness.html");
    my $pid = open my $pipe, '-|';
    if (!$pid) {
        open STDERR, '>', "$tmp/stderr-$scheme";
        exec @command;
    }
    local $SIG{ALRM} = sub { kill 'KILL', $pid };
    alarm 300; # many pages, on a machine that does other things as well
    local $/;
    my $dom = <$pipe>;
    close $pipe;
    alarm 0;
    my ($text) = ($dom // '') =~ m{<pre id="result">(.*?)\nend</pre>}s;
    ok(defined $text, "the browser measures all pages, $scheme")
        or diag(slurp("$tmp/stderr-$scheme"));
    $text //= '';
    $text =~ s/&lt;/</g;
    $text =~ s/&gt;/>/g;
    $text =~ s/&amp;/&/g;
    return map { [split /\t/, $_, 3] } split /\n/, $text;
}

# Links are read from the pages: file and identifier must be there.
my %ids;
sub ids {
    my ($path) = @_;
    return $ids{$path} ||= { map { $_ => 1 } slurp($path) =~ /\sid="([^"]+)"/g };
}
sub broken_links {
    my ($page) = @_;
    my @broken;
    for my $href (slurp("$tmp/$page") =~ /\shref="([^"]*)"/g) {
        next if $href =~ m{^\w+:|^//};
        my ($file, $id) = $href =~ /^([^#]*)#?(.*)$/;
        my $path = $file eq '' ? "$tmp/$page" : dirname("$tmp/$page") . "/$file";
        if (!-f $path) { push @broken, "link $href: no such file" }
        elsif ($id ne '' && !ids($path)->{$id}) { push @broken, "link $href: no such place" }
    }
    return @broken;
}

my (%found, %measured, %background);
for my $scheme (@opened ? ('light', 'dark') : ()) {
    for my $line (measure($scheme)) {
        my ($page, $width, $what) = @$line;
        if ($what eq 'measured') { $measured{$page}++ }
        elsif ($what =~ /^background (.*)/) { $background{$scheme}{$1} = 1 }
        else { push @{ $found{$page} }, "$scheme, $width px: $what" }
    }
}
for my $page (grep { /\.html$/ } @pages) { push @{ $found{$page} }, broken_links($page) }

is_deeply([map { join ' ', sort keys %{ $background{$_} // {} } } 'light', 'dark'], ['252,252,249', '21,24,28'],
    'each page has the background of its scheme') if grep { /\.html$/ } @opened;
my %opened = map { $_ => 1 } @opened;
for my $page (grep { !/^planted/ } @pages) {
    is($measured{$page}, 2 * @WIDTHS, "$page was measured at each width, light and dark") if $opened{$page};
    is(join("\n", @{ $found{$page} // [] }), '', "$page: nothing wrong");
}
if ($with_small) {
    for my $fault (sort keys %planted) {
        my $page = "planted/fault-$fault.html";
        my @found = @{ $found{$page} // [] };
        my @expected = grep { $_ =~ $planted{$fault}[2] } @found;
        ok(@expected && @expected == @found, "a planted fault is found: $fault")
            or diag(join "\n", @found);
    }
    like(join("\n", @{ $found{'planted/charts/fault-chart.svg'} // [] }), qr/contrast/,
        'a planted fault is found: chart');
    like(join("\n", @{ $found{'planted/charts/fault-clipped.svg'} // [] }), qr/clipped/,
        'a planted fault is found: a clipped label');
}
my @failed = grep { !$_ } Test::More->builder->summary;
if (!@failed) {
    my $each = @opened ? (cpu_seconds() - $began) / @opened : 0;
    keep_proof($proof{$_}, $_, $each) for grep { $proof{$_} } @opened;
    keep_proof($small_proof, 'the small book in a browser', 0) if $with_small;
}

done_testing();
