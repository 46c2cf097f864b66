#!/usr/bin/perl
# The book: the small one of tests/book/ is built and read, each failure is planted in a copy of it
# and must stop the build with its line, and the real book is built, timed and checked for markers
# that no chapter uses.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Find qw(find);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;
use FindBin;
use lib "$FindBin::Bin/lib";
use Workbook qw(tested_book proved drawn drawn_parts changed_alone all_files version_of);
use Time::HiRes qw(time);

chdir dirname(__FILE__) . '/..' or die $!;
delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL)};
$ENV{LC_ALL} = 'C';    # as the Makefile sets it; gnuplot and pandoc must not mind
for my $tool (qw(pandoc gnuplot)) {
    plan skip_all => "no $tool here: make setup installs it" if system("command -v $tool >/dev/null 2>&1");
}
my $make = $ENV{MAKE} || 'make';
my $tmp = tempdir(CLEANUP => 1);
# The small book depends on these files: on no step and no chapter.
my @small = grep { -f } glob 'book/* book/figures/* plots/style.gp plots/*.awk plots/*.sh';
find({ no_chdir => 1, wanted => sub { push @small, $_ if -f $_ } }, 'tests/book');
@small = sort @small;
my @versions = map { version_of($_) } qw(pandoc gnuplot);

# like() would print whole pages.
sub has {
    my ($text, $want, $name) = @_;
    return ok($text =~ $want, $name);
}

sub lacks {
    my ($text, $want, $name) = @_;
    return ok($text !~ $want, $name);
}

sub slurp {
    my ($path) = @_;
    open my $f, '<:raw', $path or return undef;
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

# A copy of tests/book in a folder of its own.
sub fixture {
    my ($name) = @_;
    my $to = "$tmp/$name";
    find({ no_chdir => 1, wanted => sub {
        (my $rest = $_) =~ s{^tests/book}{};
        if (-d $_) { make_path("$to$rest") }
        else { copy($_, "$to$rest") or die "$_: $!"; chmod 0755, "$to$rest" if -x $_ }
    } }, "tests/book");
    edit("$to/chapters/01-sum.md", qr{file=tests/book/}, "file=$to/") for 1 .. 3;
    return $to;
}

# Runs make on a fixture; returns its exit status and what it said.
sub book {
    my ($dir, @goals) = @_;
    my $out = `$make --no-print-directory -f book/book.mk BOOK_CHAPTERS=$dir/chapters BOOK_STEPS=$dir/steps \\
        BOOK_PLOTS=$dir/plots BOOK_DATA=$dir/data BOOK_SHARED=$dir/common BOOK_OUT=$dir/out/book \\
        BOOK_CHARTS=$dir/out/charts BOOK_BIN=$dir/bin/step- BOOK_NAMES=$dir/names.txt @goals 2>&1`;
    return ($? >> 8, $out);
}

sub edit {
    my ($path, $from, $to) = @_;
    my $text = slurp($path);
    (my $changed = $text) =~ s/$from/ref $to ? $to->() : $to/e or die "$path has no $from";
    spew($path, $changed);
    return $text;
}

# Files are compared by time, and a second edit within a clock tick must still count.
# All get one time, not before that of the book's machinery.
my $machinery = 1 + (sort { $b <=> $a } map { (stat)[9] } glob 'book/* book/figures/* plots/*')[0];
sleep 1 while time <= $machinery;
sub older { utime $machinery, $machinery, @_ }

# --- The small book, from nothing -----------------------------------------------------------------
sub pages { my ($dir) = @_; return map { (stat "$dir/out/book/html/$_.html")[9] } qw(00-start 01-sum) }
proved('the small book', \@small, @versions, sub {
    my $dir = fixture('good');
    my ($status, $said) = book($dir, '-j2', 'book', 'book-lint');
    is($status, 0, 'the small book builds') or diag($said);

    my $page = slurp("$dir/out/book/html/01-sum.html") // '';
    (my $text = $page) =~ s/<[^>]*>//g;
    $text =~ s/&lt;/</g;
    $text =~ s/&gt;/>/g;
    $text =~ s/\s+/ /g;
    has($text, qr/tree takes 3\.0\xc2\xa0\xc2\xb5s a call/,
        'a figure comes from its row, with its unit');
    has($text, qr/shuffle is 1\.61\xc3\x97 as fast/, 'a ratio is printed as one');
    has($text, qr/and 8192 elements are wrong/, 'the row without a clock is found');
    has($text, qr/limit\xe2\x80\x99s 30\xc2\xa0%/, 'a share has its sign');
    has($text, qr/milliseconds: 0\.0234\xc2\xa0ms/, 'a figure is scaled');
    has($text, qr/that is\s+7\.887\xc3\x97\s+as long/, 'a figure is divided by another row\'s');
    has($text, qr/short one takes\s+0\.113\s+of both/, 'or by the sum of two');
    has($text, qr/A rival of step 01 takes\s+2\.00\xc3\x97\s+of step 03/, 'also of another file, and another step');
    has($page, qr/<td style="text-align: right;">23\.4</, 'a table of rows is filled');
    has($text, qr{sum\.cu:13\xe2\x80\x9325}, 'a snippet names its file and lines');
    has($page, qr{href="steps/03-sum\.html#L-13"}, 'and links there');
    has($page, qr{<h1 id="ch01"><span class="number">1</span> The sum}, 'a chapter has its number');
    has($text, qr/Part I: Adding \xc2\xb7 about \d+\xc2\xa0minutes/, 'its part, and the time it takes');
    has($text, qr/of D128 24,576;/, 'thousands are set apart');
    has($text, qr/There are 65,536 sums of 2\D+65,536/, 'in prose and in formulas as well');
    has($text, qr{\: 0\.0f; // YOUR CODE: add the values of the warp if \(threadIdx}, 'a solution is blank in its place');
    has($page, qr{<details class="solution" id="\S+"><summary>Solution: add the values of the warp</summary>.*?__shfl_xor_sync.*?</details>}s,
        'and folded away below');
    is(scalar(() = $text =~ /__shfl_xor_sync/g), 1, 'nowhere else');
    has($text, qr{Predict first make step-03 predict How many "barriers" does tree need, at D = 1234\? And shuffle\?},
        'what the program asks stands in its section');
    has($page, qr{<details class="hint" id="\S+"><summary>Hints: add the values of the warp</summary>\s*<p>Which lane has the value that\s+this one lacks\?</p>\s*<details class="hint"><summary>Hint 2 of 2</summary>\s*<p><code>lane</code> is 16, 8, 4, 2 and 1\.</p>\s*</details></details>\s*<details class="solution"},
        'in front of it its hints, each in the one before');
    has($page, qr{<details class="further" id="\S+"><summary>Further: More of &lt;it&gt;</summary>.*?<img.*?</details>}s,
        'what is further is folded');
    has($page, qr{<div class="exercise"((?!<h2).)*<details class="answer"[^>]*><summary>Answer</summary>((?!</details>).)*had it already}s,
        'so is an answer');
    has($text, qr/float v = threadIdx\.x < n \? in\[threadIdx\.x\] : 0\.0f;/, 'the snippet is there');
    lacks($page, qr/snippet:|solution:|hint:/, 'markers are dropped');
    has($page, qr{<span id="cb1-1">(<a [^>]*></a>)?<span class="dt">float},
        'the common indent is removed');
    has($page, qr{<span class="va">threadIdx</span>}, 'CUDA names are coloured');
    has($page, qr{<span class="ex">&lt;&lt;&lt;</span>}, 'so is a launch');
    has($text, qr{add\.cuh:3\xe2\x80\x936.*static __device__ float add}, 'a shared file is woven too');
    has($page, qr{href="steps/02-copy\.html#a-wide-3"[^>]*>\S*a-wide\.cuh:3\xe2\x80\x936<.*copy_four}s,
        'what lies beside a step links to the page of the step');
    has($page, qr{<img[^>]*charts/03-time\.svg[^>]*alt="Time of a call against D, both axes}s,
        'a chart has its alt text');
    has($text, qr/step 03 on the CPU backend: --seed 1 --case D=64 order forward/,
        'the output is the program\'s');
    has($text, qr{\$ cudacc --check -run sum\.cu}, 'a recorded output stands below its command');
    has($page, qr{check: sum\.cu:7: a race with sum\.cu:9}, 'and is what was printed');
    has($text, qr/order reverse: 224/, 'the order of the threads reaches it');
    has($page, qr{<h2 id="step-03">}, 'a step can be linked to');
    has($page, qr{try <span class="one-line">ARGS="--case</span> D=64"</code>}, 'no line ends within the hyphens of an option');
    has($page, qr{<span\s+class="one-line"><math[^>]*>(?:(?!</math>).)*</math>\.</span>\s+The}s, 'nor between a formula and its stop');
    lacks($page, qr{<span\s+class="one-line"><math[^>]*>(?:(?!</math>).)*<mi>f</mi>}s, 'but a long one may break');
    has($page, qr{<code>nvcc <span class="one-line">-v</span></code>}, 'an option stays whole');
    has(slurp("$dir/out/charts/03-time.svg") // '', qr{>\xc2\xa0empty launch<}, 'nor does a label lose the space in front of it');
    has($page, qr{<span class="given">40\xc2\xa0ns</span>}, 'nor between a number and its unit');
    my ($cover, $shade) = slurp('book/style.css') =~
        /--under\) ([\d.]+)rem, transparent\) right.*?right \/ ([\d.]+)rem 100% no-repeat scroll/s;
    ok($cover && $cover <= $shade, 'what covers the shade of a scrolling table at its end is no wider than it');
    has($text, qr/make step-03 count BACKEND=cpu ARGS="--seed 1 --case D=64" ?step 03, counted: --seed 1 --case D=64/,
        'a program with an instrument is another one');
    has($text, qr/tree takes 2\.25 wavefronts a request, and has 40 requests/,
        'a figure is a quotient of two columns, of another device');
    has($text, qr/A hundred by these is 2\.5\./, 'or of a number and a column');
    has($text, qr/wavefronts a request tree 40 2\.[23] shuffle 0 \xe2\x80\x93/,
        'so is a cell of a table, and a quotient by 0 is none');
    has($text, qr/Of the rows, 1 has no request/, 'a figure is a number of rows');
    has($text, qr/version rows silent small tree 1 0 1 shuffle 1 1 1 all 2 1 2/,
        'a table counts rows, by a column and in all');
    has($text, qr/One part takes 0\.78 of the other.*variant us dkv:m16-n16 9\.0 dq:m16-n16 7\.0/,
        'the name of a variant may have a colon, and a table go on with rows of another file');
    is(`awk -f plots/select.awk -v where='variant=dq:m16-n16' -v cols=us -v one=1 tests/book/data/nvidia-h200/tuned-sum.tsv`,
        "7\n", 'in a chart too');
    has($text, qr{shuffle, 64 1\.20\xc3\x97 / 1\.61\xc3\x97: wins, yes }, 'a verdict sets a claim beside its row');
    has($text, qr{elsewhere 0\.60\xc3\x97 / 1\.61\xc3\x97: loses / wins, no }, 'it says where they disagree');
    has($text, qr{scattered 1\.61\xc3\x97 / 1\.61\xc3\x97: wins / ties, no }, 'ratios on both sides of 1 are a tie');
    has($text, qr{2048 0\.97\xc3\x97 / 0\.80\xc3\x97: loses, yes .* tree, 64 1\.02\xc3\x97 / 1\.00\xc3\x97: ties, yes },
        'so is what is near to 1');
    has($text, qr{of shuffle 1\.20\xc3\x97 / 1\.25\xc3\x97: wins, yes tree, of step 03 1\.20\xc3\x97 / 1\.25\xc3\x97: wins, yes },
        'a verdict may be against another variant than the baseline');
    has($text, qr{nothing claimed 1\.61\xc3\x97: wins }, 'or stand alone');
    has($page, qr{<nav class="toc".*href="#step-02"}s, 'and is in the table of contents');
    has($page, qr{rel="prev" href="00-start\.html"}, 'the page before');
    lacks($page, qr{(?:src|href)="(?:https?:)?//}, 'nothing from the network');

    my $start = slurp("$dir/out/book/html/00-start.html") // '';
    has($start, qr{href="01-sum\.html#ch01-the-code"}, 'a link into another chapter');
    has($start, qr{href="01-sum\.html#step-03"}, 'a link to a step');
    lacks($start, qr{(?:src|href)="(?:https?:)?//}, 'nothing from the network');
    is(join(' ', $start =~ m{<script defer\s+src="([^"]+)"></script>}g), join(' ', map { "figures/$_.js" } qw(figure addresses fragments swizzle ring)),
        'a page has the scripts of its figures');
    has($start, qr{<figure class="moving"(?:(?!</figure>).)*<svg.*?</svg>(?:(?!</figure>).)*<figcaption>\s*The addresses\s+of a\s+<a[^>]*>warp</a>\.\s*</figcaption></figure>}s,
        'a figure that moves is drawn into its page');
    has($start, qr{rel="next" href="01-sum\.html"}, 'the page after');
    has($start, qr{<math [^>]*display="block"}, 'math is MathML');

    # The glossary: the first use in the text, and the first one in a fold, lead there; code and headings do not.
    my @terms = $page =~ m{<a\s+href="glossary\.html#(term-[^"]*)"\s+class="term">([^<]*)</a>}g;
    is("@terms", 'term-barrier barriers term-warp warp term-launch launch term-request request term-request requests',
        'first uses are linked, and again where the first one is in a fold');
    has($start, qr{class="term">largest\s+score</a>}, 'a term of two words');
    my $glossary = slurp("$dir/out/book/html/glossary.html") // '';
    has($glossary, qr{id="term-barrier" class="entry">barrier</span><span\s+class="forms">\s*\(meeting\s+place\)}, 'an entry with its other form');
    has($glossary, qr{A <a href="glossary\.html#term-barrier"\s+class="term">barrier</a>}, 'an entry leads to another one');
    has($glossary, qr{<a rel="prev"|class="prev"}, 'the glossary is a page like others');
    my $names = slurp("$dir/out/book/html/names.html") // '';
    (my $index = $names) =~ s/\s+/ /g;
    has($index, qr{make step-NN count</code></dt> <dd> what its kernels did\. <span class="found">Chapters <a href="01-sum\.html#[^"]*">1</a></span>}, 'a command is found');
    has($index, qr{median_us</code></dt> <dd> a time\. <span class="found">}, 'a counter that a figure is of');
    has($index, qr{>way</code></dt> <dd> a word as well\. </dd>}, 'a counter is not found in prose');
    has($index, qr{make next</code></dt> <dd> the next exercise\. </dd>}, 'a command that no chapter has');
    for my $of ([$page, 'a chapter'], [$glossary, 'the glossary'], [$names, 'the index'], [slurp("$dir/out/book/html/steps/03-sum.html") // '', 'a source']) {
        my ($nav) = $of->[0] =~ m{<nav class="toc".*?>(.*?)</nav>}s;
        my $all = join ' ', ($nav // '') =~ m{<li[^>]*><a href="(?:\.\./)?([^"#]*)"}g;
        is($all, '00-start.html 01-sum.html glossary.html names.html', "the whole contents stand on $of->[1]");
    }
    has($page, qr{<a href="01-sum\.html" aria-current="page">1\s+The\s+sum\s+of\s+a\s+block</a>}, 'with the page that it is on');
    has($page, qr{<h2[^>]* id="step-03">.*?href="#step-03"\s+class="anchor".*?href="mailto:\?subject=Mistake%20in%3A%201%20The%20sum[^"]*&amp;body=[^"]*step-03[^"]*"\s+class="report"}s,
        'a heading has a link to itself, and one to report a mistake');
    my $search = slurp("$dir/out/book/html/search.js") // '';
    has($search, qr{^\["01-sum","step-03","1 The sum of a block","[^"]*the tree and the shuffle","}m, 'a section for the search');
    is(scalar(() = $search =~ /^\["/mg), scalar(() = join('', map { slurp("$dir/out/book/html/$_.html") } qw(00-start 01-sum glossary)) =~ /<h[1-4] /g), 'each heading is one');
    my $first = slurp("$dir/out/book/html/index.html") // '';
    has($first, qr{href="01-sum\.html#step-03".*href="steps/03-sum\.html"}s,
        'the contents page lists chapters, steps and sources');
    has($first, qr{A small book.*?</h1>.*charts/03-time\.svg.*Contents.*?</h2>}s, 'below the first page');
    has($first, qr{>Part I: Adding.*?</h3>.*>0 How to read\s+this book</a>, \d+\s+minutes.*>1\s+The sum of a\s+block</a>, \d+\s+minutes}s,
        'with parts and times');
    has(slurp("$dir/out/book/html/steps/02-copy.html") // '', qr{id="L-1".*a-wide\.cuh.*id="a-wide-3"}s,
        'which has its lines as well');
    has(slurp("$dir/out/book/html/steps/03-sum.html") // '', qr{id="L-13"},
        'a source page has numbered lines');

    my $chart = slurp("$dir/out/charts/03-time.svg") // '';
    has($chart, qr/>NVIDIA H200</, 'a chart names the device of its rows');
    has($chart, qr/prefers-color-scheme: dark/, 'a chart follows dark mode');
    has($chart, qr/stroke-dasharray/, 'the limit is dashed');
    lacks($chart, qr/rgb\(/, 'every colour of a chart is one that the style sheet can swap');
    my $drawing = slurp("$dir/out/charts/03-tree.svg") // '';
    has($drawing, qr/viewBox="0 0 400 120"/, 'a drawing is as high as it says');
    has($drawing, qr/<title>Four boxes.*>warp 3<.*>sum</s, 'it has its alt text and its words');
    has($drawing, qr/points = '20\.00,40\.\d+ 95\.00,40\.\d+ 95\.00,10\.\d+ 20\.00,10\.\d+ '/, 'at the places named');
    lacks($drawing, qr/NVIDIA|rgb\(/, 'it names no device, and the style sheet can swap its colours');

    my $epub = `pandoc -f epub -t html --wrap=none '$dir/out/book/kernel-fusion-workbook.epub' 2>&1`;
    is($?, 0, 'the EPUB can be read') or diag($epub);
    has($epub, qr{3\.0.{1,8}s</span> a call}, 'the EPUB has the figures');
    is(scalar(() = $epub =~ /<img /g), 9, 'the EPUB shows all the charts, one twice, and the figures that move');
    has($epub, qr{Solutions and answers.*__shfl_xor_sync.*had it already}s, 'and has solutions and answers at its end');
    lacks($epub, qr{(?:__shfl_xor_sync|had it already).*Solutions and answers}s, 'only there');
    has($epub, qr{href="#[\w.]*#ch01-solution-2">The solution}, 'to which it leads');
    lacks($epub, qr/(?:page|source|step|chart):\d/, 'no reference is left open');

    # --- Only what must be is built again -------------------------------------------------------------
    my @all;
    find({ no_chdir => 1, wanted => sub { push @all, $_ if -f $_ } }, $dir);
    older(grep { !m{/out/} } @all);
    ($status, $said) = book($dir, 'book');
    lacks($said, qr/chapter|chart|EPUB/, 'nothing is built twice') or diag($said);

    older(@all);
    my @before = pages($dir);
    edit("$dir/chapters/00-start.md", qr/which never overflows/, 'which cannot overflow');
    ($status, $said) = book($dir, 'book', 'BOOK_EPUB=');
    my @after = pages($dir);
    ok($after[0] > $before[0] && $after[1] == $before[1],
        'one edited chapter, one page') or diag($said);
    older(grep { -f } @all);
    @before = pages($dir);
    my $rows = "$dir/data/nvidia-h200/step-03.tsv";
    edit($rows, qr/\t2\.970\t/, "\t7.770\t");
    ($status, $said) = book($dir, 'book', 'BOOK_EPUB=');
    @after = pages($dir);
    ok($after[1] > $before[1] && $after[0] == $before[0],
        'a new row reaches the page that shows it') or diag($said);
    has(slurp("$dir/out/book/html/01-sum.html"), qr/7\.8.{1,3}\xc2\xb5s/, 'with the new value');
    has($said, qr/chart 03-time/, 'and the charts');
    older(grep { -f } @all);
    edit("$dir/steps/03-sum/sum.cu", qr/0\.0f;/, '1.5f;');
    edit("$dir/steps/02-copy/a-wide.cuh", qr/copy_four/, 'copy_4');
    book($dir, 'book', 'BOOK_EPUB=');
    has(slurp("$dir/out/book/html/01-sum.html"), qr/1\.5f/, 'edited code reaches the page');
    has(slurp("$dir/out/book/html/$_.html"), qr/copy_4/, "so does what lies beside a step: $_") for qw(01-sum steps/02-copy);
    older(grep { -f } @all);
    edit("$dir/chapters/00-start.md", qr/title: How to read this book/, 'title: Another title');
    book($dir, 'book', 'BOOK_EPUB=');
    has(slurp("$dir/out/book/html/01-sum.html"), qr/Another\s+title/,
        'a new title reaches its neighbour');

    # The commands that make would run if the machinery or a chart were another one.
    my $woven = qr{ \S*tree/01-sum\.json .*-o \S*html/01-sum\.html};
    for my $case (['book/page.html', $woven], ['book/links.lua', $woven], ['book/cuda.xml', $woven],
        ['book/figures/ring.lua', $woven], ['book/figure.lua', qr{-M figure=ring -M as=states}], ['book/figure.css', qr{as=still .*ring\.svg}],
        ['book/weave.lua', qr/chapter 01-sum/], ['book/rows.lua', qr/chapter 01-sum/], ['book/source.awk', qr/-f \S*source\.awk/],
        ["$dir/plots/03-time.gp", qr/\A(?=(?s:.*)chart 03-time)(?s:.*)chapter 01-sum/], ['plots/style.gp', qr/chart 03-tree/],
        ["$dir/bin/step-03", qr/chapter 01-sum/]) {
        my ($file, $want) = @$case;
        ($status, $said) = book($dir, '-n', '-W', $file, 'book', 'BOOK_EPUB=');
        has($said, $want, "another $file: what is made of it is made again") or diag($said);
    }
    ($status, $said) = book($dir, '-n', 'book', 'BOOK_EPUB=');
    lacks($said, qr/chapter|chart |pandoc -f json/, 'and without another file nothing is') or diag($said);

    spew("$dir/chapters/00a-between.md", "---\ntitle: Between\n---\n\nBack [here](#here).\n\n# Here\n\nType `make next`.\n\n```{.output step=03 args=\"--case D=64\" only=\"%d of\"}\n```\n");
    ($status, $said) = book($dir, 'book', 'BOOK_EPUB=');
    is($status, 0, 'a page between two chapters') or diag($said);
    my $between = slurp("$dir/out/book/html/00a-between.html") // '';
    has($between, qr{<h1 id="ch00a"><span class="number">0a</span>\s+Between.*href="#ch00a-here".*id="ch00a-here"}s, 'has a number of its own');
    has($between, qr{<a href="00a-between\.html" aria-current="page">0a\s+Between</a>}, 'in the contents as well');
    has($between, qr{rel="prev" href="00-start\.html".*rel="next" href="01-sum\.html"}s, 'stands in its place');
    has(slurp("$dir/out/book/html/01-sum.html"), qr{rel="prev" href="00a-between\.html"}, 'also for its neighbour');
    has(slurp("$dir/out/book/html/index.html"), qr{>0a\s+Between</a>}, 'on the first page');
    has(slurp("$dir/out/book/html/search.js"), qr{^\["00a-between","ch00a-here","0a Between","Here",}m, 'in the search');
    has(slurp("$dir/out/book/html/names.html"), qr{make next</code></dt>\s+<dd>(?:(?!</dd>).)*<a\s+href="00a-between\.html#ch00a-here">0a</a>}s, 'and in the index');
    has($between, qr{>\.\.\.\s+order forward: 224}, 'of an output some lines are shown');
    unlink "$dir/chapters/00a-between.md";

    rename "$dir/chapters/00-start.md", "$dir/chapters/00-begin.md" or die;
    edit("$dir/chapters/00-begin.md", qr/Another title/, 'A third title');
    ($status, $said) = book($dir, 'book', 'BOOK_EPUB=');
    ok($status == 0 && -e "$dir/out/book/html/00-begin.html" && !-e "$dir/out/book/html/00-start.html",
        'a renamed chapter leaves no page behind') or diag($said);

    # A page that was there stays whole when its chapter fails, and the failure does not go away by
    # itself.
    my $whole = slurp("$dir/out/book/html/01-sum.html");
    my $kept = edit("$dir/chapters/01-sum.md", qr/snippet=tree/, 'snippet=tee');
    ($status) = book($dir, 'book', 'BOOK_EPUB=');
    isnt($status, 0, 'a broken chapter fails the book');
    is(slurp("$dir/out/book/html/01-sum.html"), $whole, 'the page that was there is untouched');
    ($status) = book($dir, 'book', 'BOOK_EPUB=');
    isnt($status, 0, 'and it fails again');
    spew("$dir/chapters/01-sum.md", $kept);
    ($status, $said) = book($dir, 'book', 'BOOK_EPUB=');
    is($status, 0, 'until it is mended') or diag($said);
    unlink $rows;
    ($status, $said) = book($dir, 'book', 'BOOK_EPUB=');
    ok($status != 0 && $said =~ /step-03\.tsv does not exist/, 'rows that are gone fail the book');
    my @left = glob("$dir/out/book/*.tmp $dir/out/book/*/*.tmp $dir/out/charts/*.[0-9]*");
    is("@left", '', 'nothing half made is left');
});

# --- What must fail -------------------------------------------------------------------------------
my $bad = fixture('bad');
my $md = 'chapters/01-sum.md';
my $tree = 'out/book/tree/01-sum.json';

# Lines that a build of the copy printed beside make's own.
sub complaints { return grep { !/^(make|gmake)|^  chart|^  chapter/ } split /\n/, $_[0] }

# `make test` looks at one in three, by its seed. A planted fault: file, what to replace, by what, the lines that must be said (all, and no others).
my @plants;
sub plant { push @plants, [@_] }

sub see_plant {
    my ($name, $file, $from, $to, @lines) = @_;
    my $goal = ref $lines[0] eq "ARRAY" ? (shift @lines)->[0] : $tree;
    my $made = $goal eq "book-lint" ? undef : "$bad/$goal";
    my $kept = edit("$bad/$file", $from, $to);
    my ($code, $out) = book($bad, $made // $goal);
    spew("$bad/$file", $kept);
    my @said = complaints($out);
    my $fits = $code != 0 && @said == @lines;
    for my $i (0 .. $#lines) { $fits &&= $said[$i] =~ $lines[$i] }
    ok($fits, "fails: $name") or diag("exit $code\n$out");
    ok(!-e $made, "  and nothing is written") if $made;
}

# Faults of a chapter are complained of together, so they are planted together: fault() copies the
# first part of 01-sum (what stands between blank lines) that has what to replace, and weave_faults()
# builds a chapter of these parts. What must be said, once, is given without the place, which is the
# line where the replaced text begins. A complaint looks its line up by its text: a row whose text
# stands in later parts too comes before those.
my (@faults, @parts);
my @head = ('# Faults', '::: {.step step=03}', '## Step 03');

sub fault {
    my ($name, $from, $to, $message) = @_;
    my ($part) = grep { $_ =~ $from } split /\n\n+/, slurp("$bad/$md");
    $part =~ $from or die "$md has no $from";
    my $before = substr($part, 0, $-[0]);
    $part =~ s/$from/$to/;
    $part .= "\n:::" if $part =~ /^::: \w/;
    my $first = 1 + join("\n\n", @head, @parts, '') =~ tr/\n//;
    push @parts, $part;
    push @faults, {
        name => $name, message => $message, line => $first + ($before =~ tr/\n//),
        first => $first, last => $first + ($part =~ tr/\n//),
    };
}

# Each fault must be complained of at its line. That each stops the build by itself is seen by the
# order: only what stops it is gathered and said at the end, by lines. Of the first one that shows
# nothing, so it is planted alone as well.
sub weave_faults {
    my $slug = '02-faults';
    my $text = join("\n\n", @head, @parts, ":::\n");
    spew("$bad/chapters/$slug.md", $text);
    my $made = "$bad/out/book/tree/$slug.json";
    my ($code, $out) = book($bad, $made);
    unlink "$bad/chapters/$slug.md";
    my @said = map { m{^\S*/chapters/$slug\.md:(\d+): (.*)$} ? [$1, $2] : [0, $_] } complaints($out);
    for my $fault (@faults) {
        my @here = grep { $_->[0] >= $fault->{first} && $_->[0] <= $fault->{last} } @said;
        ok(@here == 1 && $here[0][0] == $fault->{line} && $here[0][1] =~ $fault->{message},
            "fails: $fault->{name}")
            or diag("at line $fault->{line} of the parts, where is said:\n", map { "$_->[0]: $_->[1]\n" } @here);
    }
    isnt($code, 0, 'a chapter with ' . @faults . ' faults is not built');
    ok(!-e $made, '  and nothing is written');
    is(scalar @said, scalar @faults, '  and nothing else is complained of') or diag($out);
    my @at = map { $_->[0] } @said;
    is("@at", join(' ', sort { $a <=> $b } @at), '  and all is said at the end, by lines');
}

plant('two faults at once, two lines', $md,
    qr/snippet=tree/, "snippet=tee}\n```\n\n```{.cuda step=03 snippet=tie",
    qr{^\S*/chapters/01-sum\.md:18: snippet tee of step 03: \S+/sum\.cu has no snippet tee$},
    qr{^\S*/chapters/01-sum\.md:21: snippet tie of step 03: \S+/sum\.cu has no snippet tie$});
plant('a snippet without an end', 'steps/03-sum/sum.cu', qr{// end snippet: tree}, '//',
    qr{chapters/01-sum\.md:18: snippet tree .*never ends snippet tree$});
plant('an answer without an empty line in front', $md, qr{65536\$\.\n\n::: answer}, "65536\$.\n::: answer",
    (qr{chapters/01-sum\.md.*: a ::: stands in the text, and begins or ends no block}) x 2);
plant('an empty block', $md, qr/```sh\nmake step-03 run\n/, "```sh\n",
    qr{chapters/01-sum\.md:18: an empty code block});

fault('a snippet that is not there', qr/snippet=tree/, 'snippet=tee',
    qr{^snippet tee of step 03: \S+/sum\.cu has no snippet tee$});
fault('a verdict without a claim', qr/ claim=1\.02/, '', qr{^verdict \[.*\]: claim= is no ratio: });
fault('a step that is not there', qr/step=02 snippet=copy/, 'step=09 snippet=copy',
    qr{^snippet copy of step 09: there is no step 09$});
fault('a file that is not there', qr{add\.cuh}, 'sub.cuh',
    qr{^snippet add of \S+sub\.cuh: \S+sub\.cuh does not exist$});
fault('a chart that is not there', qr/chart:03-time/, 'chart:03-tine',
    qr{^chart 03-tine: there is no \S+/03-tine\.gp$});
fault('a figure that moves and is not there', qr/chart:03-map/, 'figure:map',
    qr{^figure map: there is no \S+/figures/map\.lua$});
fault('a figure without a row', qr/case=D64 variant=tree/, 'case=D65 variant=tree',
    qr{^figure \[.*D65.*\]: 0 rows of \S+step-03\.tsv match, not 1$});
fault('a figure of another step\'s rows in a file', qr/step=03 device=cpu/, 'step=04 device=cpu',
    qr{^figure \[.*\]: 0 rows of \S+step-03-counts\.tsv match, not 1$});
fault('a figure over a row with another value', qr/over_Sq=any/, 'over_Sq=65',
    qr{^figure \[.*\]: 0 rows of \S+tuned-sum\.tsv match, not 1$});
fault('a figure over no row', qr/over_case=D64/, 'over_case=D65',
    qr{^figure \[.*D65.*\]: 0 rows of \S+step-03\.tsv match, not 1$});
fault('a figure over a sum with no row', qr/plus_case=D64/, 'plus_case=D65',
    qr{^figure \[.*D65.*\]: 0 rows of \S+step-03\.tsv match, not 1$});
fault('a sum that nothing is divided by', qr/over_case=D2048 plus/, 'plus',
    qr{^figure \[.*\]: plus_ without over_$});
fault('a figure with two rows', qr/variant=tree clock=graph col=median_us fmt=%.1f/, 'variant=tree col=p5_us fmt=%.1f',
    qr{^figure \[.*\]: 3 rows of \S+ match, not 1$});
fault('a column that is not there', qr/col=median_us/, 'col=mean_us',
    qr{^figure .* has no column mean_us$});
fault('a condition on no column', qr/clock=graph col=ratio/, 'klock=graph col=ratio',
    qr{^figure .* has no column klock$});
fault('a value that does not apply', qr/clock=- col=wrong/, 'clock=- col=median_us',
    qr{^figure .*: median_us has no value there$});
fault('a verdict without a row', qr/variant=tree clock=graph claim/, 'variant=bush clock=graph claim',
    qr{^verdict \[.*bush.*\]: 0 rows of \S+step-03\.tsv match, not 1$});
fault('a verdict against a variant that is not there', qr/base=shuffle\]/, 'base=shovel]',
    qr{^verdict \[.*\]: 0 rows of \S+step-03\.tsv match, not 1$});
fault('a verdict against a step that is not there', qr/base_step=03/, 'base_step=09',
    qr{^verdict \[.*\]: there is no step 09$});
fault('a verdict on a row without a ratio', qr/clock=call claim/, 'clock=- claim',
    qr{^verdict \[.*\]: ratio has no value there$});
fault('a verdict on rows without ratios', qr/step=03 case=D64 variant=tree clock=graph claim/,
    'file=ceilings name=copy_tbps claim', qr{^verdict \[.*\]: \S+ceilings\.tsv has no column ratio$});
fault('a claim that is no ratio', qr/claim=1\.02/, 'claim=2%',
    qr{^verdict \[.*\]: claim=2% is no ratio: write 1\.2 or 0\.042/0\.035$});
fault('rows of an unknown device', qr/col=wrong/, 'col=wrong device=none',
    qr{^figure .*none/step-03\.tsv does not exist});
fault('a table without rows', qr/where="clock=graph"/, 'where="clock=grape"',
    qr{^table of rows.*: no row of \S+ has clock=grape$});
fault('a table that goes on with no rows', qr/and_where="variant=dq:m16-n16"/, 'and_where="variant=dp"',
    qr{^table of rows.*: no row of \S+tuned-sum\.tsv has variant=dp$});
fault('a table that goes on in a file without its columns', qr/%.1f" caption="Each.* and_file=tuned-sum/,
    '%.2f" and_file=ceilings',
    qr{^table of rows.*ceilings\.tsv has no column variant$});
fault('recorded output that is not there', qr{recorded/sum\.txt}, 'recorded/mean.txt',
    qr{^recorded output: \S+/recorded/mean\.txt does not exist$});
fault('recorded output without its command', qr{cpu/recorded/sum\.txt}, 'cpu/step-03-counts.tsv',
    qr{^recorded output: \S+ does not begin with its command, "\$ command"$});
fault('an unexpected exit status', qr/args="--case D=64"/, 'args="--exit 3"',
    qr{^output of step 03 --exit 3: exit status 3, not 0: });
fault('a command that is none', qr/command=count/, 'command=bound',
    qr{^output of step 03 --case D=64: command=bound is not run, count or check$});
fault('lines that no output has', qr/command=count/, 'command=count only="counted|timed"', qr{^output of step 03 --case D=64: only="counted\|timed": no line has timed$});
fault('a quotient of a column that is not there', qr/wavefronts\/shared_ld_requests fmt/,
    'wavefronts/shared_ld_request fmt',
    qr{^figure .*cpu/step-03-counts\.tsv has no column shared_ld_request$});
fault('a count of no rows', qr/shared_ld_requests=0 col=count/,
    'shared_ld_requests=7 col=count', qr{^figure .*: 0 rows of \S+ match, not 1$});
fault('a table that counts by a column that is not there', qr/by=variant/, 'by=version',
    qr{^table of rows, .* has no column version$});
fault('a table that counts no condition', qr/cols="shared_ld_requests=0 /,
    'cols="shared_ld_requests ',
    qr{^table of rows, .*: shared_ld_requests is not column=value, and there is a by=$});
fault('a quotient that is none', qr/variant=tree col=shared_ld_wave/,
    'variant=shuffle col=shared_ld_wave',
    qr{^figure .*: shared_ld_wavefronts/shared_ld_requests has no value there$});
fault('a link to no chapter', qr/A block adds/, '[A](09-none.md) block adds',
    qr{^link 09-none\.md: no such chapter});
fault('a link to a step that no chapter shows', qr/A block adds/, '[A](step:09) block adds',
    qr{^link step:09: no chapter shows step 09$});
for my $typed ('1.66x', '3.1 us', '12 %', '12%', '3.1 µs', '3.1\\ ms', '4.2 TB/s', '60.5 TFLOP/s', '2 times', '0.5 s',
    '250 ns', '900 GB/s', '1.5 ×', '3 milliseconds', '1,024.5 us') {
    my $shown = $typed =~ s/\\//r;
    fault("$typed typed", qr/A block adds its numbers\./, "A block takes $typed.",
        qr{^\Q$shown\E is typed: look it up with});
}
fault('a row outside of its table', qr/A block adds its numbers\./, '| lane | 11 |',
    qr{^the row of lane stands outside of its table: delete the empty line above it});
fault('a figure typed into a table', qr/\| tree    \| 10  /, '| tree    | 2.97 us ',
    qr{^2\.97 us is typed});
fault('a figure typed into a caption', qr/!\[How much faster\./, '![1.61x faster.',
    qr{^1\.61x is typed});
fault('a figure typed across a line', qr/A block adds/, "A block takes 3.2\nus and adds",
    qr{^3\.2 us is typed});
fault('a figure typed into an exercise', qr/Give every warp/, 'In 3.3 us, give every warp',
    qr{^3\.3 us is typed});
fault('a recorded time typed', qr/A block adds/, 'It took 14.5 on our device. A block adds',
    qr{^14\.5 is typed and equals step-03 median_us: });
fault('cycles typed', qr/A block adds/, 'A block waits 40 cycles. A block adds', qr{^40 cycles is typed});
fault('a recorded time of a rival typed', qr/A block adds/, 'Theirs took 5.94 here. A block adds',
    qr{^5\.94 is typed and equals peers median_us: });
fault('a recorded count typed', qr/A block adds/, 'There were 24,576 wrong. A block adds',
    qr{^24,576 is typed and equals step-03 (wrong|nan): });
proved('faults of a chapter', \@small, @versions, \&weave_faults);

# Sentences that may be typed, each in a paragraph of its own in place of the chapter's first.
proved('what may be typed', \@small, @versions, sub {
    my @free = ('a 4 x 64 matrix', 'S x S', '32x32 tiles', '[3.1 us]{.given}', '[1.66x]{.claim by=E1}', '`3.2 us`',
        '$3.3 us$', 'sm_90 and step-03', 'E1, V6 and CUDA 13', 'in 2026', '16,384 keys', 'the 1990s');
    my $kept = edit("$bad/$md", qr/A block adds/, join("\n\n", map { "$_: a block adds" } @free));
    my ($code, $out) = book($bad, "$bad/$tree");
    spew("$bad/$md", $kept);
    ok(-e "$bad/$tree", 'a chapter with all that may be typed is written');
    unlink "$bad/$tree";
    is($code, 0, '  and built') or diag($out);
    my %said = map { m{/01-sum\.md:(\d+): } ? ($1 => $_) : () } split /\n/, $out;
    ok(!$said{3 + 2 * $_}, "may be typed: $free[$_]") or diag($said{3 + 2 * $_}) for 0 .. $#free;
});

plant('something further without a title', $md, qr/further title="More of <it>"/, 'further',
    qr{01-sum\.md:\d+: what is further needs a title: });
plant('a figure typed into what describes a chart', 'plots/03-time.gp', qr/# alt: /, '# alt: 1.66x as fast. ',
    qr{01-sum\.md:\d+: chart 03-time: its '# alt:' says 1\.66x is typed});
plant('a marker that no chapter uses', $md, qr/```\{\.cuda step=03 snippet=launch\}\n```/, '',
    ['book-lint'],
    qr{steps/03-sum/sum\.cu:30: no chapter uses snippet launch});
plant('a marker of a shared file that no chapter uses', 'common/cuda/add.cuh',
    qr/\A/, "// snippet: more\n// end snippet: more\n", ['book-lint'],
    qr{add\.cuh:1: no chapter uses snippet more});
plant('a term that only a heading has', $md, qr/# Step 02: the copy/, '# Step 02: a copy of ABC and the largest score', ['out/book/html/01-sum.html'],
    qr{01-sum: heading "[^"]*ABC and the largest score": its section does not use "largest-score"});
plant('an entry that does not exist', 'chapters/glossary.md', qr/\*barrier\*/, '*fence*', ['out/book/html/glossary.html'],
    qr{glossary, "warp": \*fence\* has no entry});
plant('a solution without an end', 'steps/03-sum/sum.cu', qr{    // end solution: shuffle\n}, '',
    ['book-lint'],
    qr{sum\.cu:\d+: end of snippet tree, but solution shuffle is open}, qr{}, qr{});

my $svg = ['out/charts/03-time.svg'];
my $gp = 'plots/03-time.gp';
plant('a chart without rows', $gp, qr/variant=tree/, 'variant=bush', $svg,
    qr{step-03\.tsv: no row has variant=bush});
plant('a chart of a column that is not there', $gp, qr/p5_us/, 'p6_us', $svg,
    qr{step-03\.tsv: no column p6_us});
plant('a chart of an empty column', $gp, qr/clock=graph', 'D median/, "clock=-', 'D median", $svg,
    qr{column median_us is empty});
plant('a chart whose ceiling is not there', $gp, qr/launch_graph_us/, 'launch_grape_us', $svg,
    qr{ceilings\.tsv: no row has name=launch_grape_us});
plant('a chart whose data is not there', $gp, qr/ceilings\.tsv\n/, "ceiling.tsv\n", $svg,
    qr{ceiling\.tsv does not exist});
plant('a chart without alt text', $gp, qr/# alt:/, '# all:', $svg,
    qr{03-time\.gp: has no '# alt:' line});
plant('a mistake in a chart script', $gp, qr/set logscale xy/, 'set logscale qy', $svg,
    qr{03-time\.gp});
plant('a chart that names no data', $gp, qr/# data:/, '# rows:', $svg,
    qr{03-time\.gp: has no '# data:' line .*: name the files it reads, or none$});
plant('a drawing that reads rows', $gp, qr/# data: .*/, '# data: none', $svg,
    qr{03-time\.gp: reads rows, but its '# data:' line says none});
plant('a chart from another device\'s rows', 'data/nvidia-h200/ceilings.tsv',
    qr/NVIDIA H200/, 'NVIDIA A100', $svg,
    qr{03-time\.gp: \S+ was recorded on});
plant('a chart that does not name its device', $gp, qr/set logscale xy/, 'unset title', $svg,
    qr{03-time\.gp: does not name the device});
plant('a chart of an empty file', 'data/nvidia-h200/step-03.tsv', qr/\nstep\t.*/s, "\n", $svg,
    qr{step-03\.tsv has no rows});

proved('fails: a cut row', \@small, @versions, sub {
    my $kept = edit("$bad/data/nvidia-h200/step-03.tsv", qr/\n\z/, "\n03\ttree\n");
    my ($code, $out) = book($bad, "$bad/$tree");
    spew("$bad/data/nvidia-h200/step-03.tsv", $kept);
    ok($code != 0 && $out =~ /step-03\.tsv: a row has 2 cells and the header \d+/, 'fails: a cut row')
        or diag("exit $code\n$out");
});
for my $plant (drawn_parts("plants", "all", @plants)) {
    proved("fails: $plant->[0]", \@small, @versions, sub { see_plant(@$plant) });
}
my @left = glob("$bad/out/*/*.tmp $bad/out/*/*/*.tmp");
is("@left", '', 'nothing half made is left of what fails');

# --- The real book --------------------------------------------------------------------------------
sub real_book {
    # `make test` makes the EPUB in some runs, by its seed; that of the small book is looked at above.
    my %r = tested_book(drawn("epub", "all") ? 'book' : 'book BOOK_EPUB=');
    is($r{code}, 0, 'the book builds') or diag($r{out}, $r{err});
    %r = tested_book('-f book/book.mk book-lint');
    is($r{code}, 0, 'the book uses every marker, and all are paired') or diag($r{out}, $r{err});
    # How long it takes says something on a machine that does nothing else.
    return if !$ENV{CI_TIMING};
    local $ENV{BOOK_OUT} = "$tmp/real/book";
    local $ENV{BOOK_CHARTS} = "$tmp/real/charts";
    system("rm -rf '$tmp/real'");
    my $t = time;
    system("$make --no-print-directory -s book >/dev/null 2>&1");
    my $full = time - $t;
    note(sprintf 'the book from nothing: %.1f s', $full);
    my ($chapter) = sort glob 'chapters/*.md';
    my $is = "$tmp/real/book/tree/" . ($chapter =~ s{.*/(.*)\.md}{$1}r) . '.json';
    utime 1, 1, $is;
    $t = time;
    system("$make --no-print-directory -s book >/dev/null 2>&1");
    my $again = time - $t;
    note(sprintf 'the book after one edited chapter: %.1f s', $again);
    cmp_ok($full, '<', 20, 'from nothing in 20 s');
    cmp_ok($again, '<', 3, 'after one edited chapter in 3 s');
}
my @woven = grep { m{^(?:book|chapters|steps|plots|common)/} } all_files();

# Of a book that is not there yet, the pages and charts that show these files: the whole takes a minute and a half.
sub pages_of {
    my ($book, %goals) = ('build/tested/book');
    my %r = tested_book("$book/rules.mk");
    is($r{code}, 0, 'what pages depend on is known') or diag($r{out}, $r{err});
    my $rules = slurp("$book/rules.mk") =~ s{[^/\s]+/\.\./}{}gr;
    for my $file (@_) {
        for my $shows ($rules =~ m{^(\S+): .*\Q$file\E\)?$}mg) {
            $goals{ $shows =~ s{/tree/(.*)\.json$}{/html/$1.html}r } = 1;
        }
        $goals{"$book/html/steps/$1.html"} = 1 if $file =~ m{^steps/([^/]+)/};
    }
    %r = tested_book(join ' ', sort keys %goals) if %goals;
    is($r{code}, 0, 'the pages that show what has changed: ' . keys %goals) or diag($r{out}, $r{err});
}
if (drawn('real', 'book')) {
    my @changed = grep { m{^(?:book|chapters|steps|plots|common)/} } changed_alone();
    if (@changed && !-e 'build/tested/book/html/index.html' && !grep { !m{^(?:steps|chapters|plots/data)/} } @changed) {
        pages_of(@changed);
    } else {
        proved('real book', \@woven, @versions, drawn('epub', 'all') ? 'with its EPUB' : '', \&real_book);
    }
}

done_testing();
