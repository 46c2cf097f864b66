# alt: Bars of the rotations of keys in one call with 4 heads of 64 queries and 64 keys, on a logarithmic axis. separate and v7 rotate 256 keys, v3 and v4 4096, and v1, v1-float4, v2, v5 and v6 16,384 each. A dashed line marks the least.
# data: ../cpu/step-05-counts.tsv ../cpu/step-06-counts.tsv ../cpu/step-07-counts.tsv ../cpu/step-08-counts.tsv ../cpu/step-09-counts.tsv ../cpu/step-10-counts.tsv ../cpu/step-11-counts.tsv ../cpu/step-13-counts.tsv
load 'plots/style.gp'
set xlabel 'K rotations per call at D = 128, 4 heads'
set logscale x
set xrange [64:131072]
set xtics (64, 256, 1024, 4096, '16,384' 16384, '65,536' 65536)
set lmargin 11
set bmargin 4.6
set key at screen 0.56, 0.02 bottom center samplen 2.2
set ytics () nomirror textcolor rgb INK font ',12' scale 0
steps = '05 05 06 07 08 09 10 11 13'
ways = 'separate v1 v1-float4 v2 v3 v4 v5 v6 v7'
set yrange [words(ways) - 0.4:-0.6]
# The file has one row per kernel: sums them for a variant.
got(i) = rows(sprintf('../cpu/step-%s-counts.tsv', word(steps, i)), \
    'case=D128 variant=' . word(ways, i), 'K_rotations') . ' | awk "{ n += \$1 } END { print n }"'
do for [i = 1:words(ways)] { set ytics add (word(ways, i) i - 1) }
set arrow 1 from 256, -0.6 to 256, words(ways) - 0.4 nohead ls LIMIT front
plot for [i = 1:words(ways)] got(i) \
         using (64):(i-1):(64):1:(i-1-0.32):(i-1+0.32) with boxxyerror lc rgb GOOD notitle, \
     for [i = 1:words(ways)] got(i) \
         using 1:(i-1):(commas($1)) with labels left offset 0.4, 0 textcolor rgb INK notitle, \
     keyentry with lines ls LIMIT title 'each key once'
