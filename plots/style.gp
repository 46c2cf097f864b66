# One style for all charts. A chart script is plots/NAME.gp; `make charts` draws
# build/charts/NAME.svg. An example:
#
#   # alt: Time of a call against D. The fused kernel is below the separate ones at every D.
#   # data: step-02.tsv ceilings.tsv
#   load 'plots/style.gp'
#   set xlabel 'head dimension D'
#   set ylabel 'time of a call, µs'
#   set logscale xy
#   f = 'step-02.tsv'
#   c = ' clock=graph l2=warm'
#   plot rows(f, 'variant=separate' . c, 'D median_us p5_us p95_us') using 1:2:3:4 \
#            with yerrorlines ls 1 title 'separate', \
#        rows(f, 'variant=fused' . c, 'D median_us') with linespoints ls 2 title 'fused', \
#        rows(f, 'variant=fused' . c, 'D limit_us') with lines ls LIMIT title 'limit'
#
# Set before this file is loaded (plots/draw.sh does): datadir, device, out.
#   rows(file, where, cols)  data for plot: the named columns of the rows that meet every condition
#                            (a=b or a!=b). Fails if no row does, or if a column has only "-".
#   cell(file, where, col)   one value as a string: use real(cell(...)) for a number. Fails unless
#                            exactly one row is found.
#   ceiling(name)            a measured ceiling as a number; name ceilings.tsv in "# data:".
#   names(file, where, col)  the distinct values of a column, in order, for `for [v in names(...)]`.
#   commas(v)                a number in the book's notation: 16,384.
# Lines and points: ls 1 to 6 (each its own colour, point and dash), ls LIMIT (the limit: dashed, in
# the text's colour), ls FAILED (a version that failed or lost: red crosses). Keep failed versions.
# Areas: GOOD, BAD, FAINT for `lc rgb GOOD`; as numbers GOODC, BADC, FAINTC for `lc rgb variable`.
# Other colours do not change in dark mode: choose colours that are legible on white and on black.
# For a picture of elements use `with boxxyerror`: dark mode cannot change `with image`.
# The chart's title is the device, so a script sets no title (`set title device offset ...` moves it;
# a title without the word device makes the build fail). In a multiplot, which drops titles: set label
# 99 device at screen 0.5, 0.965 center font ',12' textcolor rgb SOFT. The caption in the book says
# what the chart shows. Units go on the axes. Keep key entries few and short: the canvas is 400 x 312,
# shown 340 wide on a phone; `tall = HEIGHT` before the style is loaded gives room for more rows.
#
# A drawing shows no rows: it has "# data: none" and sets `drawing = HEIGHT` before this file is
# loaded. Then there are no axes and no device, and x and y are those of the canvas: from 0, 0 in the
# upper left to 400, HEIGHT. `eval` draws each part, and the script ends with `plot NaN notitle`:
#   box(x, y, w, h, fill, edge)              a rectangle from x, y, w wide and h high
#   arrow(x, y, x2, y2, colour)  line(...)   with a head at x2, y2; without
#   say(x, y, side, colour, text)            at the height y of its middle; side: left, center, right
# Colours of drawings: INK, SOFT, GRID, PANEL, FAINT, GOOD, BAD; ORANGE, GREEN and PURPLE of ls 2 to 4.
# Text is legible on PANEL and FAINT.

if (!exists('plotdir')) plotdir = 'plots'

INK = '#1f2328'
SOFT = '#5b626b'
GRID = '#d8d9d2'
PANEL = '#fcfcf9'
GOOD = '#0a5ea8'
BAD = '#c81e3a'
FAINT = '#dfe8f1'
GOODC = 0x0a5ea8
BADC = 0xc81e3a
FAINTC = 0xdfe8f1
LIMIT = 9
FAILED = 8

set encoding utf8
set terminal svg size 400,(exists('drawing') ? drawing : exists('tall') ? tall : 312) dynamic enhanced font 'sans-serif,14' background PANEL linewidth 1.2
set output out

set style line 1 lc rgb '#0a5ea8' lw 1.8 dt 1 pt 7 ps 0.7
set style line 2 lc rgb '#c2480a' lw 1.8 dt (9, 3) pt 5 ps 0.65
set style line 3 lc rgb '#007a5e' lw 1.8 dt (5, 3) pt 9 ps 0.8
set style line 4 lc rgb '#9c3f86' lw 1.8 dt (9, 3, 2, 3) pt 13 ps 0.8
set style line 5 lc rgb '#7a6200' lw 1.8 dt (2, 3) pt 4 ps 0.7
set style line 6 lc rgb '#4a5a78' lw 1.8 dt (9, 3, 2, 3, 2, 3) pt 6 ps 0.7
set style line 8 lc rgb '#c81e3a' lw 1.8 dt (2, 2) pt 2 ps 0.8
set style line 9 lc rgb '#1f2328' lw 1.6 dt (7, 5) pt 0

set title device font ',12' textcolor rgb SOFT offset 0,-0.7
set border 3 lc rgb SOFT lw 0.8
set tics nomirror textcolor rgb INK font ',12' scale 0.5
set grid back lc rgb GRID lw 0.7 dt 1
set xlabel textcolor rgb INK font ',13' offset 0,0.3
set ylabel textcolor rgb INK font ',13' offset 0.8,0
set key top left Left reverse textcolor rgb INK font ',12' \
    samplen 2.4 spacing 1.05 width -2
set tmargin 1.9
set rmargin 1.8
set bmargin 3.1
set style fill solid 1.0 noborder
set boxwidth 0.7 relative

selected(file, where, cols, one) = sprintf( \
    "awk -f '%s/select.awk' -v where='%s' -v cols='%s' -v one=%d '%s/%s'", \
    plotdir, where, cols, one, datadir, file)
rows(file, where, cols) = '< ' . selected(file, where, cols, 0)
cell(file, where, col) = system(selected(file, where, col, 1))
ceiling(name) = real(cell('ceilings.tsv', 'name=' . name, 'value'))
# The book writes numbers from 10,000 up with commas.
commas(v) = v < 1e4 ? sprintf('%.0f', v) : sprintf('%d,%03d', int(v) / 1000, int(v) % 1000)
names(file, where, col) = system(selected(file, where, col, 0) . \
    " | awk '!seen[$0]++ { printf \"%s \", $0 }'")

if (exists('drawing')) {
    ORANGE = '#c2480a'
    GREEN = '#007a5e'
    PURPLE = '#9c3f86'
    unset title
    unset border
    unset tics
    unset grid
    unset key
    set lmargin at screen 0
    set rmargin at screen 1
    set bmargin at screen 0
    set tmargin at screen 1
    set xrange [0:400]
    set yrange [drawing:0]
    from_to(x, y, x2, y2) = sprintf('from %g, %g to %g, %g ', x, y, x2, y2)
    box(x, y, w, h, fill, edge) = 'set object rectangle ' . from_to(x, y, x + w, y + h) . \
        sprintf("fc rgb '%s' fs solid border lc rgb '%s'", fill, edge)
    line(x, y, x2, y2, colour) = 'set arrow ' . from_to(x, y, x2, y2) . \
        sprintf("nohead front lw 1.4 lc rgb '%s'", colour)
    arrow(x, y, x2, y2, colour) = 'set arrow ' . from_to(x, y, x2, y2) . \
        sprintf("front filled size 7, 22 lw 1.4 lc rgb '%s'", colour)
    say(x, y, side, colour, text) = sprintf('set label "%s" at %g, %g %s front ', text, x, y, side) . \
        sprintf("font ',12' textcolor rgb '%s'", colour)
}
