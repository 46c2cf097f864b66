# alt: Speed of five versions relative to the three separate launches, against D, on the graph clock, both axes logarithmic. A dashed line marks 1. v1-float4 stays above 1 at every D. v7 starts below 1 and is the highest at 512 and 2048. v1 starts above 1 and falls to half. v5, in red, is above 1 in the middle and falls to half at 2048. v4 starts far below and ends above 1 at 2048.
# data: step-05.tsv step-06.tsv step-09.tsv step-10.tsv step-13.tsv
load 'plots/style.gp'
set xlabel 'head dimension D (R = D)'
set ylabel 'times as fast as separate'
set logscale xy
set xtics (8, 32, 128, 512, 2048)
set yrange [0.12:2.6]
set ytics (0.125, 0.25, 0.5, 1, 2)
set xrange [6:2800]
set bmargin 5.2
set key at screen 0.53, 0.02 bottom center maxrows 2 samplen 2 width 0
steps = '05 06 09 13 10'
ways = 'v1 v1-float4 v4 v7 v5'
style(i) = word('2 3 4 1 8', i) + 0
full = " | awk '$1 == $2'"
got(i) = rows('step-' . word(steps, i) . '.tsv', 'H=4 D!=80 clock=graph l2=warm variant=' . word(ways, i), \
    'D R ratio ratio_p5 ratio_p95') . full
plot 1 with lines ls LIMIT title 'separate', \
     for [i = 1:words(ways)] got(i) using 1:3:4:5 with yerrorlines ls style(i) title word(ways, i)
