# alt: How often a key is used, and how often it is rotated, against the length S, both axes logarithmic, with a causal mask and tiles of 128 queries. Used in a product: a line that rises with S. Rotated inside attention: a line that becomes parallel to it, far below. Rotated by a pass of its own: a flat dashed line at 1. Points that were counted lie on the lines at two small lengths.
# data: ../cpu/step-32-counts.tsv
load 'plots/style.gp'
# S must be a multiple of the tile: otherwise the last tile of queries is not full, and rotates keys for fewer queries.
cases = 'forward-small forward-S256'
lengths = '128 256'
heads = 2
counted(c, variant) = rows('../cpu/step-32-counts.tsv', sprintf('case=%s variant=%s', word(cases, c), variant), 'K_rotations') . \
    sprintf(' | awk "{ n += \$1 } END { print %s, n / %s / %d }"', word(lengths, c), word(lengths, c), heads)
set logscale x 2
set logscale y
set xlabel 'S, causal'
set ylabel 'times a key, on average'
set xrange [100:185000]
set yrange [0.4:200000]
set xtics ('128' 128, '512' 512, '2k' 2048, '8k' 8192, '32k' 32768, '128k' 131072)
set ytics (1, 10, 100, 1000, '10,000' 10000, '100,000' 100000)
set format y '%.0f'
unset key
note(text, x, y, side, colour) = sprintf("set label '%s' at %g, %g %s font ',12' textcolor rgb '%s'", text, x, y, side, colour)
eval note('used in a product', 4600, 5500, 'right', '#4a5a78')
eval note('rotated inside attention', 150000, 6, 'right', '#c2480a')
eval note('rotated by a pass of its own', 131072, 2.2, 'right', INK)
used(S) = (S + 1) / 2
rotated(S) = S < 128 ? NaN : (S / 128 + 1) / 2
plot used(x) with lines ls 6, \
     rotated(x) with lines ls 2, \
     1 with lines ls LIMIT, \
     for [c = 1:words(cases)] counted(c, 'fused') using 1:2 with points ls 2, \
     for [c = 1:words(cases)] counted(c, 'one-kernel') using 1:2 with points ls 1
