#!/usr/bin/env perl
# Figures that a reader moves: in a browser, with keys alone, on a phone's width and a desk's. Each state shows what
# recorded rows, the CPU backend, a step's source or a formula of this test says; nothing is wider than the page or too
# small to read. Without scripts, and in the EPUB, the figures stand still.
# Reads: book tests/book plots/style.gp plots/dress.awk plots/select.awk plots/draw.sh plots/data/cpu/step-00-counts.tsv plots/data/nvidia-h200 common/cpu common/cuda common/harness steps/28-flash-tma
use strict;
use warnings;
use Test::More;
use lib "tests/lib";
use Workbook;
use Browser;

my ($dir, $browser) = Browser->with_small_book("the figures moved", "");
my $page = "$dir/book/html/00-start.html";
my @names = map { m{([^/]+)\.lua$} } sort glob "book/figures/*.lua";

# --- What each state has to show --------------------------------------------------------------------
# The sectors and wavefronts of a load, by bytes and banks.
sub costs_of {
    my ($stride, $size, $start) = @_;
    my (%sector, $wavefronts, %of_part);
    # Of 8 bytes per lane half a warp goes at a time, of 16 a quarter; twice as many if all want one address.
    my $lanes = 128 / $size;
    $lanes = $lanes == 32 ? 32 : 2 * $lanes if $stride == 0;
    for my $lane (0 .. 31) {
        for my $byte (map { ($start + $lane * $stride) * $size + $_ } 0 .. $size - 1) {
            $sector{ $byte >> 5 } = 1;
            $of_part{ int($lane / $lanes) }{ $byte >> 2 & 31 }{ $byte >> 7 } = 1;
        }
    }
    for my $banks (values %of_part) {
        my ($most) = sort { $b <=> $a } map { scalar keys %$_ } values %$banks;
        $wavefronts += $most;
    }
    return (scalar keys %sector, $wavefronts);
}

# Lane, register and half of each element, as ldmatrix and mma of the CPU backend have them: a number in a register is
# 16 times its row and its column. B comes with its rows and columns exchanged, C is the identity times B.
my $source = <<'CUDA';
#include "cuda/tensor_cores.cuh"
#include <stdio.h>
__global__ void fragments(float *a_of, float *b_of, float *c_of)
{
    __shared__ __align__(16) __half a[16][16], b[16][8], one[16][16];
    const int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) {
        a[i / 16][i % 16] = __int2half_rn(i);
        one[i / 16][i % 16] = __int2half_rn(i / 16 == i % 16);
        if (i % 16 < 8)
            b[i / 16][i % 16] = __int2half_rn(i);
    }
    __syncwarp();
    uint32_t ra[4], rone[4], rb[4];
    const int row = lane % 16, column = lane / 16 * 8;
    warp_load_matrices(ra, shared_address(&a[row][column]));
    warp_load_matrices(rone, shared_address(&one[row][column]));
    warp_load_transposed(rb, shared_address(&b[row][0]));
    float c[4] = {};
    warp_mma(c, rone, rb);
    for (int i = 0; i < 4; i++) {
        c_of[lane * 4 + i] = c[i];
        for (int h = 0; h < 2; h++) {
            a_of[lane * 8 + i * 2 + h] = __half2float(((__half *)&ra[i])[h]);
            if (i < 2)
                b_of[lane * 4 + i * 2 + h] = __half2float(((__half *)&rb[i])[h]);
        }
    }
}
int main()
{
    float *d;
    cudaMalloc(&d, 512 * sizeof(float));
    fragments<<<1, 32>>>(d, d + 256, d + 384);
    float h[512];
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 8; i++)
            printf("%d a%d %d %d\n", lane, i / 2, (int)h[lane * 8 + i] / 16, (int)h[lane * 8 + i] % 16);
        for (int i = 0; i < 4; i++)
            printf("%d b%d %d %d\n", lane, i / 2, (int)h[256 + lane * 4 + i] / 16, (int)h[256 + lane * 4 + i] % 16);
        for (int i = 0; i < 4; i++)
            printf("%d c%d %d %d\n", lane, i, (int)h[384 + lane * 4 + i] / 16, (int)h[384 + lane * 4 + i] % 16);
    }
    cudaFree(d);
    return 0;
}
CUDA
spew("$dir/fragments.cu", $source);
my %r = run("common/cpu/cudacc -Icommon $dir/fragments.cu -o $dir/fragments && $dir/fragments");
is($r{code}, 0, "fragments on the CPU backend") or diag($r{out}, $r{err});
my %elements; # lane => its elements, "a0 1 2"
push @{ $elements{$1} }, $2 while $r{out} =~ /^(\d+) (.*)$/mg;

# The ring's events: initialise, (R)equest, (K) and (V) are there, thread 0 (w)aits, (r)ead, (H)alf of the warps have
# read, (F) all have. A tile's number stands behind each.
my @ring = split " ", "i R0 K0 V0 w1 R1 r0 K1 V1 H0 w2 F0 R2 r1 K2 V2 H1 w3 F1 R3 r2 K3 V3 H2 w4 F2 R4 r3 K4 V4 H3 F3 r4";
my $bytes = 2 * 96 * 64 * 2;
sub commas { return $_[0] =~ s/(?<=\d)(?=\d{3}$)/,/r }
sub ring_after {
    my ($n) = @_;
    my @shown;
    for my $stage (0, 1) {
        my %seen = map { $_ => 0 } qw(R K V H F);
        my $holds = "empty";
        my %told = (R => "requested", K => "K is there", V => "both are there", r => "being read", H => "2 of 4 warps done",
            F => "4 of 4 warps done");
        for my $event (@ring[1 .. $n]) {
            my ($what, $tile) = $event =~ /(.)(\d)/;
            next if $tile % 2 != $stage || $what eq "w";
            $seen{$what}++;
            $holds = "tile $tile: $told{$what}";
        }
        my $wait = sub { map { "wait($_) " . ($_[0] % 2 == $_ ? "waits" : "passes") } 0, 1 };
        my $missing = ($seen{R} > $seen{K}) * $bytes / 2 + ($seen{R} > $seen{V}) * $bytes / 2;
        push @shown, $holds, "full $stage", "phase $seen{V}, parity " . $seen{V} % 2, "arrivals missing: " . ($seen{R} == $seen{V} ? 1 : 0),
            "bytes missing: " . commas($missing), $wait->($seen{V}),
            "free $stage", "phase $seen{F}, parity " . $seen{F} % 2, "arrivals missing: " . ($seen{H} > $seen{F} ? 64 : 128),
            $wait->($seen{F});
    }
    return \@shown;
}

# The parities that step 28's kernel waits for, with two stages.
my $kernel = slurp("steps/28-flash-tma/e-apart.cuh");
my ($of_full) = $kernel =~ /barrier_wait\(there \+ tile % STAGES \* 8, ([^()]*)\)/;
my ($of_free) = $kernel =~ /parity = (\(tile \+ AHEAD\)[^;]*);/;
ok($of_full && $of_free, "step 28's waits are found");
sub parity_of {
    my ($formula, $tile) = @_;
    my %is = (tile => $tile, AHEAD => 1, STAGES => 2);
    $formula =~ s/\b([A-Za-z]+)\b/$is{$1}/g;
    $formula =~ s{(\(.*?\)|\d+) / 2}{int($1 / 2)};
    return eval $formula;
}

# --- Keys -------------------------------------------------------------------------------------------
# Tab leads to everything.
my @unseen; # on the way to these, something in a figure had the focus without showing it
sub focus {
    my ($selector) = @_;
    $browser->value("document.activeElement.blur()");
    for (1 .. 60) {
        $browser->press("Tab");
        my $seen = $browser->value("(e => { const s = getComputedStyle(e);"
            . " return !e.closest('.moving') || parseFloat(s.outlineWidth) >= 1 && s.outlineStyle !== 'none' })(document.activeElement)");
        push @unseen, $selector if !$seen && !grep { $_ eq $selector } @unseen;
        return 1 if $browser->value("document.activeElement.matches('$selector')");
    }
    return 0;
}

my $width;
sub shown {
    my ($name, $what) = @_;
    return $browser->value("(() => { const f = document.querySelector('[data-figure=$name]'); return $what })()");
}
sub said { return shown($_[0], "f.querySelector('.said').textContent") }

# Looks at every letter of a figure as it is now.
my %faults;
sub look_at {
    my ($name) = @_;
    my $found = shown($name, <<'JS');
(() => {
    const svg = f.querySelector("svg"), box = svg.getBoundingClientRect(), faults = [];
    if (document.documentElement.scrollWidth > innerWidth) faults.push("wider than the window");
    if (box.width < f.parentNode.getBoundingClientRect().width * (innerWidth < 500 ? 0.98 : 0.84)) faults.push("narrow");
    const scale = box.width / svg.viewBox.baseVal.width;
    for (const t of svg.querySelectorAll("text")) {
        const b = t.getBoundingClientRect(), size = parseFloat(getComputedStyle(t).fontSize) * scale;
        if (b.left < box.left - 1 || b.right > box.right + 1 || b.top < box.top - 1 || b.bottom > box.bottom + 1) faults.push("cut: " + t.textContent);
        if (size < 9) faults.push("small: " + t.textContent);
    }
    for (const e of f.querySelectorAll("input, button, p, label")) {
        const b = e.getBoundingClientRect();
        if (b.left < -1 || b.right > innerWidth + 1) faults.push("out: " + e.textContent);
    }
    return faults.join(", ");
})()
JS
    $faults{"$name at $width px: $found"} = 1 if $found;
}

# Moves a range to its n-th value.
sub move {
    my ($selector, $n) = @_;
    focus($selector) or return fail("Tab leads to $selector");
    $browser->press("Home");
    $browser->press("ArrowRight", $n);
}

# --- The figures ------------------------------------------------------------------------------------
my @strides = (0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 24, 31, 32, 33);
my @sizes = (4, 8, 16);
my @starts = (0, 1, 2, 4, 8);
sub costs_shown {
    my ($drawn) = shown("addresses", "f.querySelector('.moves').lastElementChild.textContent") =~ /^(\d+ sectors? . \d+ wavefronts?)$/;
    my ($sectors, $wavefronts) = said("addresses") =~ /From global memory: 1 request, (\d+) sectors?, .* shared memory: 1 request, (\d+) wave/;
    my @drawn = ($drawn // "") =~ /(\d+)/g;
    my $boxes = shown("addresses", "f.querySelector('.moves .sector').getAttribute('d').split('M').length - 1");
    return "@drawn, $boxes drawn" eq "$sectors $wavefronts, $sectors drawn" ? "$sectors $wavefronts" : "words and drawing differ";
}
sub index_of {
    my ($value, @list) = @_;
    return (grep { $list[$_] == $value } 0 .. $#list)[0];
}
sub set_addresses {
    my ($stride, $size, $start) = @_;
    move("#addresses-stride", index_of($stride, @strides));
    move("#addresses-size", index_of($size, @sizes));
    move("#addresses-start", index_of($start, @starts));
    look_at("addresses");
}

# Of step 00, the variants whose request is one of the figure: stride, size, start, global or shared.
my %variants = (coalesced => [1, 4, 0, "global"], shifted => [1, 4, 1, "global"], "stride-2" => [2, 4, 0, "global"],
    "stride-32" => [32, 4, 0, "global"], float4 => [1, 16, 0, "global"], "four-loads" => [1, 4, 0, "global"],
    "shared-1" => [1, 4, 0, "shared"], "shared-2" => [2, 4, 0, "shared"], "shared-4" => [4, 4, 0, "shared"],
    "shared-32" => [32, 4, 0, "shared"], "shared-padded" => [33, 4, 0, "shared"]);
my (@head, %row);
for (grep { !/^#/ } split /\n/, slurp("plots/data/cpu/step-00-counts.tsv")) {
    my @cells = split /\t/;
    if (!@head) { @head = @cells; next }
    my %cells; @cells{@head} = @cells;
    $row{ $cells{variant} } = \%cells if $cells{case} eq "exact";
}
sub addresses {
    for my $variant (sort keys %variants) {
        my ($stride, $size, $start, $where) = @{ $variants{$variant} };
        my $row = $row{$variant};
        set_addresses($stride, $size, $start);
        my ($sectors, $wavefronts) = split " ", costs_shown();
        my ($shown, $counted) = $where eq "global" ? ($sectors, "sectors") : ($wavefronts, "wavefronts");
        is($shown, $row->{"${where}_ld_$counted"} / $row->{"${where}_ld_requests"}, "$width px, addresses: $counted of $variant as recorded");
    }
    return if $width < 500;
    # Patterns of tests/banks/banks.cu that are strides.
    my %stride = (0 => 1, 1 => 0, 6 => 2, 7 => 4, 8 => 8, 19 => 3);
    my @recorded = grep { $_->[2] eq "ld" && defined $stride{ $_->[1] } }
        map { [split /\t/] } grep { /^\d/ } split /\n/, slurp("plots/data/nvidia-h200/banks.tsv");
    is(scalar(@recorded), 18, "addresses: rows of an H200 with a stride");
    my @unlike;
    for my $row (@recorded) {
        set_addresses($stride{ $row->[1] }, $row->[0], 0);
        my ($sectors, $wavefronts) = split " ", costs_shown();
        push @unlike, "$row->[0] bytes, stride $stride{$row->[1]}: $wavefronts, not $row->[3]" if $wavefronts ne $row->[3];
    }
    is("@unlike", "", "addresses: wavefronts as an H200 counted them");
    my $wrong = "";
    for my $size (@sizes) {
        for my $start (@starts) {
            set_addresses(0, $size, $start);
            focus("#addresses-stride");
            for my $stride (@strides) {
                $browser->press("ArrowRight") if $stride;
                my $shown = costs_shown();
                my $want = join " ", costs_of($stride, $size, $start);
                $wrong ||= "stride $stride, $size bytes, start $start: $shown, not $want" if $shown ne $want;
            }
        }
    }
    is($wrong, "", "addresses: all states as counted byte by byte");
}

sub fragments {
    move("#fragments-lane", 0);
    my $wrong = "";
    for my $lane (0 .. 31) {
        $browser->press("ArrowRight") if $lane;
        look_at("fragments") if $lane % 16 == 0;
        # Marked cells by their place among all: A's 16 rows, B's, C's.
        my $shown = shown("fragments", <<'JS');
(() => {
    const at = t => t.getAttribute("x") + " " + t.getAttribute("y"), cells = {}, list = [];
    [...f.querySelectorAll("text.cell")].forEach((t, i) => { cells[at(t)] = [i, t.textContent]; });
    for (const t of f.querySelectorAll(".moves text.middle")) list.push([t.textContent, ...cells[at(t)]].join(" "));
    list.push(f.querySelector(".moves .mark").getAttribute("d").split("M").length - 1);
    return list;
})()
JS
        my $marked = pop @$shown;
        my @elements = map {
            my ($register, $cell, $number) = split " ";
            my $matrix = $cell < 256 ? "a" : $cell < 384 ? "b" : "c";
            my ($columns, $first) = $matrix eq "a" ? (16, 0) : (8, $matrix eq "b" ? 256 : 384);
            my ($row, $column) = (int(($cell - $first) / $columns), ($cell - $first) % $columns);
            $number == $lane ? "$register $row $column" : "cell $cell has number $number";
        } @$shown;
        my ($is, $want) = map { join ", ", sort @$_ } \@elements, $elements{$lane};
        $wrong ||= "lane $lane, $marked marked: $is, not $want" if $is ne $want || $marked != @elements;
    }
    is($wrong, "", "$width px, fragments: each lane's elements as the CPU backend has them");
    my $lane = said("fragments");
    like($lane, qr/^Lane 31 has g = 7 and t = 3\. Of A it has rows 7 and 15 at columns 6, 7, 14 and 15, .*column 7 at rows 6, 7, 14 and 15/,
        "$width px, fragments: in words");
}

sub swizzle {
    my ($apart) = grep { /^ldmatrix\t1\t12\t/ } split /\n/, slurp("plots/data/nvidia-h200/banks-matrix.tsv");
    is((split /\t/, $apart)[3], 8, "eight rows 128 bytes apart took an H200 eight wavefronts");
    my $button = "[data-figure=swizzle] button";
    my @wrong;
    for my $on (1, 0, 1) {
        my $is = shown("swizzle", "f.querySelector('button').getAttribute('aria-pressed')") eq "true" ? 1 : 0;
        focus($button) or fail("Tab leads to the swizzle's button");
        $browser->press($on ? "Enter" : " ") if $is != $on;
        move("#swizzle-column", 0);
        for my $column (0 .. 7) {
            $browser->press("ArrowRight") if $column;
            look_at("swizzle") if $column == 0;
            my @places = map { $on ? $column ^ $_ & 7 : $column } 0 .. 7;
            my %words; # bank => words
            for my $row (0 .. 7) {
                $words{ ($row * 128 + $places[$row] * 16 >> 2) + $_ & 31 }{$row} = 1 for 0 .. 3;
            }
            my ($most) = sort { $b <=> $a } map { scalar keys %$_ } values %words;
            my $banks = keys(%words) == 32 ? "all 32 banks" : "banks " . 4 * $column . " to " . (4 * $column + 3);
            my $right = "On the right: $banks: $most wavefront" . ($most == 1 ? "" : "s") . ".";
            # The marks' corners on the right, by row.
            my $marks = shown("swizzle", "[...f.querySelectorAll('.moves .mark')].map(m => m.getAttribute('d'))");
            my @drawn = map { (/^([\d.]+)/)[0] } ((split /M/, $marks->[1])[1 .. 8]);
            my ($left_edge) = sort { $a <=> $b } map { $_->[0] - 18 * $places[ $_->[1] ] } map { [$drawn[$_], $_] } 0 .. 7;
            push @wrong, "column $column: marks" if grep { $drawn[$_] != $left_edge + 18 * $places[$_] } 0 .. 7;
            my $heads = shown("swizzle", "[...f.querySelectorAll('.moves .head')].map(t => t.textContent).filter(t => /wave/.test(t)).join()");
            push @wrong, "column $column: $heads" if $heads ne "8 wavefronts," . ($most == 1 ? "1 wavefront" : "$most wavefronts");
            my $said = said("swizzle");
            push @wrong, "column $column: $said" if index($said, $right) < 0
                || index($said, "Chunk $column of each row, on the left: banks " . 4 * $column . " to " . (4 * $column + 3) . ": 8 wavefronts.") < 0;
        }
    }
    is(join("\n", @wrong), "", "$width px, swizzle: places, banks and wavefronts, on and off");
}

sub ring {
    my $read = "[...f.querySelectorAll('.moves text')].map(t => t.textContent)";
    my (@wrong, @full, @free);
    my $compare = sub {
        my ($n) = @_;
        my ($head, @shown) = @{ shown("ring", $read) };
        my $want = ring_after($n);
        push @wrong, "event $n: @shown, not @$want" if "@shown" ne "@$want";
        push @wrong, "event $n: $head" if $head !~ /^@{[$n + 1]}\. /;
        return $head;
    };
    focus("[data-figure=ring] [data-by=\"1\"]") or fail("Tab leads to Forward");
    for my $n (0 .. $#ring) {
        $browser->press($n % 2 ? "Enter" : " ") if $n;
        my $head = $compare->($n);
        look_at("ring") if $n % 8 == 0;
        push @full, "$1 $2" if $head =~ /Warps wait at full (\d) for parity (\d)/;
        push @free, "$1 $2" if $head =~ /Thread 0 waits at free (\d) for parity (\d)/;
    }
    is("@full", join(" ", map { $_ % 2 . " " . parity_of($of_full, $_) } 0 .. 4), "$width px, ring: parities of full as in step 28");
    is("@free", join(" ", map { ($_ + 1) % 2 . " " . parity_of($of_free, $_) } 0 .. 3), "$width px, ring: parities of free as in step 28");
    $browser->press("Enter");
    $compare->($#ring);
    focus("[data-figure=ring] [data-by=\"-1\"]") or fail("Tab leads to Back");
    $browser->press("Enter", 3);
    $compare->($#ring - 3);
    move("#ring-event", 10);
    $compare->(10);
    is(join("\n", @wrong), "", "$width px, ring: stages and barriers after each event, forward and back");
    like(said("ring"), qr/^Event 11 of 33\. Thread 0 waits at free 0 for parity 0\. .* is not complete/, "$width px, ring: in words");
    is(shown("ring", "document.getElementById('ring-event').getAttribute('aria-valuetext')"), "11 of 33", "$width px, ring: the range as well");
}

my %figure = (addresses => \&addresses, fragments => \&fragments, swizzle => \&swizzle, ring => \&ring);
is(join(" ", sort keys %figure), "@names", "each figure has its test");
for (390, 1280) {
    $width = $_;
    $browser->open_page($page, $width);
    is($browser->value("innerWidth"), $width, "the page is $width px wide");
    for my $name (@names) {
        is(shown($name, "[f.querySelector('.controls').hidden, f.querySelector('.try').hidden, f.querySelector('.said').getAttribute('role')].join()"),
            "false,false,status", "$width px, $name: its controls are shown, and its words are announced");
        is(shown($name, "[...f.querySelectorAll('input')].filter(i => !i.labels.length).length + [...f.querySelectorAll('button')].filter(b => !b.textContent).length"),
            0, "$width px, $name: each control has a label");
        $figure{$name}->();
    }
}
is(join("\n", sort keys %faults), "", "nothing is cut, too small or wider than the page");
is("@unseen", "", "the focus is seen");

# --- Standing still ---------------------------------------------------------------------------------
$browser->scripts(0);
$browser->open_page($page, 390);
for my $name (@names) {
    is(shown($name, "[f.querySelector('.controls').hidden, f.querySelector('.try').hidden].join()"), "true,true",
        "without scripts $name has no controls");
    ok(shown($name, "f.querySelector('.moves').children.length > 3 && f.querySelector('.said').textContent.length > 40"), "and is a picture with words");
}
mkdir "$dir/epub";
%r = run("cd $dir/epub && pandoc -f epub -t html --extract-media=. $dir/book/kernel-fusion-workbook.epub -o book.html");
is($r{code}, 0, "the EPUB is read") or diag($r{err});
my %in_epub = map { slurp($_) => 1 } glob "$dir/epub/*/*/*.svg $dir/epub/*/*.svg";
for my $name (@names) {
    my $still = slurp("$dir/book/html/figures/$name.svg");
    ok($in_epub{$still}, "the EPUB has the picture of $name");
    like($still, qr{^<svg [^>]*xmlns="[^>]*aria-label="[^"]{80,}">.*--bg:.*<rect class="ground"}s, "with its words and colours");
}
unlike(slurp("$dir/epub/book.html"), qr/Try:|<input|<button/, "and nothing to move");
done_testing();
