# alt: Speed of each version relative to the three separate launches, against D, on the graph clock, both axes logarithmic. A dashed line marks 1. V7 and V6 rise with D and are the highest at 512 and 2048. V1 with float4 and V2 stay above 1 at every D. V1 starts above 1 and falls below it. V5, in red, is above 1 in the middle and falls to half at 2048. V3 is below 1 everywhere. V4 starts far below and ends above 1 at 2048.
# data: step-05.tsv step-06.tsv step-07.tsv step-08.tsv step-09.tsv step-10.tsv step-11.tsv step-13.tsv
load 'plots/style.gp'
set xlabel 'head dimension D (R = D)'
set ylabel 'time of separate / this'
set logscale xy
set xtics (8, 32, 128, 512, 2048)
set yrange [0.12:2.6]
set ytics (0.125, 0.25, 0.5, 1, 2)
set xrange [6:2800]
set bmargin 6.4
set key at screen 0.56, 0.02 bottom center maxrows 3 samplen 2.4 width 1
set style line 7 lc rgb '#c2480a' lw 1.2 dt (2, 3) pt 4 ps 0.7
steps = '05 06 07 08 09 11 13 10'
ways = 'v1 v1-float4 v2 v3 v4 v6 v7 v5'
style(i) = word('2 7 3 4 5 6 1 8', i) + 0
full = " | awk '$1 == $2'"
got(i) = rows('step-' . word(steps, i) . '.tsv', 'H=4 D!=80 clock=graph l2=warm variant=' . word(ways, i), \
    'D R ratio ratio_p5 ratio_p95') . full
plot 1 with lines ls LIMIT title 'separate', \
     for [i = 1:words(ways)] got(i) using 1:3:4:5 with yerrorlines ls style(i) title word(ways, i)
